(** * Extraction: the checker as an OCaml program

    Makes [checked.ml] of [Checker.accepts] and all that it uses. The program in the folder checker reads files and prints
    answers around it.

    Four things are believed beside Rocq and its extraction.

    - Integers ([Z]) and positive numbers become those of the library Zarith, which have no limit. Their sums, products,
      divisions and comparisons become those of the library.
    - Natural numbers ([nat]) become the 63-bit integers of OCaml. They count devices, stages, microbatches and passes of the
      file, and steps of a program; the reader refuses files with more than 2^28 passes of a kind. So none overflows.
    - Natural numbers turn into integers by the conversion of the library, where Rocq counts from zero.
    - [bool], [option], [list] and pairs become those of OCaml. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatInt.
From Coq Require Import Arith Bool ZArith.
Require Import Bubbleproof.Execution Bubbleproof.BoundsTime Bubbleproof.Checker.

Extraction Language OCaml.

(** Comparisons of natural numbers in one step. *)
Extract Inlined Constant Nat.ltb => "(<)".
Extract Inlined Constant Nat.leb => "(<=)".
Extract Inlined Constant Nat.add => "(+)".
Extract Inlined Constant Nat.mul => "( * )".

(** Numbers for numbers, without counting from zero. *)
Extract Constant Z.of_nat => "Big_int_Z.big_int_of_int".
Extract Constant Pos.of_succ_nat => "(fun n -> Big_int_Z.big_int_of_int (n + 1))".

Extraction "checked.ml" accepts.
