(** * Repetition: what comes back later adds up (Theorem B2)

    For any monotone and homogeneous map on sets of states: if layer n is later by g than layer n - K, so is every later layer
    ([repetition_persists]), and each further period costs at least g ([repetition_adds_up]). *)

From Coq Require Import ZArith List Lia.
Require Import Bubbleproof.Execution.
Import ListNotations.
Open Scope Z_scope.

(** ** Repetition in general (Theorem B2)

    A set of states is a predicate. [later g X Y]: every state of X is later, by at least g, than some state of Y. *)

Section Repetition.
  Context {point : Type}.
  Variable later_by : Z -> point -> point -> Prop.
  Variable next : (point -> Prop) -> (point -> Prop).
  Variable finishes : (point -> Prop) -> Z -> Prop.   (** from some state of the set, all can end by then *)

  Definition later (g : Z) (X Y : point -> Prop) : Prop := forall x, X x -> exists y, Y y /\ later_by g x y.

  Hypothesis next_later : forall g X Y, later g X Y -> later g (next X) (next Y).
  Hypothesis finishes_later : forall g X Y T, later g X Y -> finishes X T -> finishes Y (T - g).

  Fixpoint further (j : nat) (X : point -> Prop) : point -> Prop :=
    match j with
    | O => X
    | S j => next (further j X)
    end.

  Lemma further_add : forall i j X, further (i + j) X = further i (further j X).
  Proof. intros i j X. induction i as [| i IH]; cbn; [reflexivity | rewrite IH; reflexivity]. Qed.

  (** If layer n is later by g than layer n - K, so is every later layer. *)
  Theorem repetition_persists : forall g X K, later g (further K X) X ->
    forall j, later g (further (K + j) X) (further j X).
  Proof.
    intros g X K repeats j. rewrite Nat.add_comm. rewrite further_add.
    induction j as [| j IH]; cbn; [exact repeats | apply next_later; exact IH].
  Qed.

  (** The same over any number of periods. *)
  Theorem repetition_adds_up : forall g X K, later g (further K X) X ->
    forall a r T, finishes (further (K + (a * K + r)) X) T -> finishes (further r X) (T - (Z.of_nat a + 1) * g).
  Proof.
    intros g X K repeats a r. induction a as [| a IH]; intros T ends.
    - cbn [Nat.mul Nat.add] in ends. replace (T - (Z.of_nat 0 + 1) * g) with (T - g) by (cbn [Z.of_nat]; ring).
      apply (finishes_later g (further (K + r) X)); [apply repetition_persists; exact repeats | exact ends].
    - assert (one : finishes (further (K + (a * K + r)) X) (T - g)).
      { apply (finishes_later g (further (K + (S a * K + r)) X)); [| exact ends].
        replace (K + (a * K + r))%nat with (S a * K + r)%nat by (cbn; lia). apply repetition_persists. exact repeats. }
      apply IH in one. replace (T - (Z.of_nat (S a) + 1) * g) with (T - g - (Z.of_nat a + 1) * g); [exact one |].
      rewrite Nat2Z.inj_succ. ring.
  Qed.
End Repetition.
