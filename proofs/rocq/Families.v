(** * Families: published blocks, valid for every number of devices, and two that need the least memory

    A family gives the offsets of a block by formulas in the device i and the number of devices d. This file proves, for every d
    and every device, that the blocks of these families are valid, and what each device holds at most in the steady phase:

    - V-Min, V-Half and V-ZB, where device i holds stages i and 2d - 1 - i;
    - 1F1B, eager 1F1B, ZB-H1 and ZB-H2, where device i holds stage i;
    - 1F1B-V, with the full backward as I and W;
    - linear-half, where W takes as long as F and I together.

    So, by [Blocks], each of these schedules runs for every number of devices and microbatches, no device has a bubble in the
    steady phase, no device ever holds more than its formula says, and with enough microbatches it holds just that
    ([families_sound]).

    Why it matters: a test can try some numbers of devices only. Where W is left out, it starts as early behind its I as the
    device has room for it ([first_room]), and later chunks choose first.

    How: with P more devices, or on the P-th next device, every offset moves by a multiple of the interval ([periodic]). So what
    must be checked depends on the residues of i and d modulo P alone, up to a linear term. A table of P * P residues is checked
    by computation ([clear_everywhere], [peak_everywhere]).

    V-Min and 1F1B need the least memory in their place:

    - With V placement, unit times and T = 6, every block on three devices or more needs as much memory as V-Min on some device,
      whatever its offsets are, fractions of a tick included ([v_min_optimal], [v_min_optimal_in_parts]). For d mod 3 = 2 it is
      the third device, otherwise the first one: no other device needs to be looked at. With two devices the claim is false
      ([two_devices_hold_less]).
    - With linear placement, every block in which each two neighbouring devices work longer on F and I of a microbatch than the
      interval takes needs as much memory as 1F1B, on every device at once ([one_f_one_b_optimal]). This asks neither that the
      devices are alike, nor that the block has no bubble. Linear-half shows that the condition is needed.

    What is not proved: anything about the looped families (interleaved 1F1B), about v-min-long-input, and about other durations
    than those of the families. *)

From Coq Require Import ZArith List Lia Bool.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count Bubbleproof.Blocks.
Import ListNotations.
Open Scope Z_scope.

(** ** Families *)

(** Linear: stage i on device i. V: chunk 0 of device i is stage i, chunk 1 is stage 2d - 1 - i. *)
Inductive layout := Linear | V.

Definition chunks (l : layout) : nat := match l with Linear => 1 | V => 2 end.

Definition stage_in (l : layout) (d c i : nat) : nat :=
  match l, c with V, S _ => (2 * d - 1 - i)%nat | _, _ => i end.

Definition device_in (l : layout) (d s : nat) : nat :=
  match l with Linear => s | V => if Nat.ltb s d then s else (2 * d - 1 - s)%nat end.

Definition chunk_in (l : layout) (d s : nat) : nat :=
  match l with Linear => 0%nat | V => if Nat.ltb s d then 0%nat else 1%nat end.

Record family := Family {
  layout_of : layout;
  every : Z;                                  (** the interval *)
  lasts : kind -> Z;
  at_device : kind -> nat -> Z -> Z -> Z      (** the offset of a pass of a chunk, for d devices, on device i *)
}.

(** A stage holds one unit from the start of F to the end of W. *)
Definition family_model (f : family) (d m : nat) : model :=
  Model d (chunks (layout_of f) * d) m (device_in (layout_of f) d) (fun k _ => lasts f k) (fun _ => 0) (fun _ => 1) (fun _ => 1)
    (fun _ => None).

Definition family_block (f : family) (d : nat) : block :=
  Block (every f)
    (fun k s => at_device f k (chunk_in (layout_of f) d s) (Z.of_nat d) (Z.of_nat (device_in (layout_of f) d s))).

(** ** Where W goes if it is left out *)

(** [free T length taken x]: a pass of this length that starts at x overlaps none of those taken, given as start and length. *)
Definition free (T length : Z) (taken : list (Z * Z)) (x : Z) : bool :=
  forallb (fun t => (snd t <=? (x - fst t) mod T) && (length <=? (fst t - x) mod T)) taken.

(** The first start from x on that is free, among so many. *)
Fixpoint first_room (T length : Z) (taken : list (Z * Z)) (x : Z) (tries : nat) : Z :=
  match tries with
  | O => x
  | S n => if free T length taken x then x else first_room T length taken (x + 1) n
  end.

Lemma first_room_later : forall T length taken tries x, x <= first_room T length taken x tries.
Proof.
  intros T length taken tries. induction tries as [| n IH]; intros x; cbn [first_room]; [lia |].
  destruct (free T length taken x); [lia |]. specialize (IH (x + 1)). lia.
Qed.

Definition moved (T : Z) (t u : Z * Z) : Prop := snd u = snd t /\ exists n, fst u = fst t + T * n.

Lemma mod_moved : forall T x y m n, 0 < T -> (x + T * m - (y + T * n)) mod T = (x - y) mod T.
Proof.
  intros T x y m n positive. replace (x + T * m - (y + T * n)) with (x - y + (m - n) * T) by ring. apply Z.mod_add. lia.
Qed.

Lemma free_moved : forall T length taken taken' x m, 0 < T -> Forall2 (moved T) taken taken' ->
  free T length taken' (x + T * m) = free T length taken x.
Proof.
  intros T length taken taken' x m positive each.
  induction each as [| [y a] [z b] l k [same [n far]] each IH]; [reflexivity |]. cbn [fst snd] in *. subst z b.
  unfold free in *. cbn [forallb fst snd]. rewrite IH, !mod_moved by exact positive. reflexivity.
Qed.

Lemma first_room_moved : forall T length taken taken' m tries x, 0 < T -> Forall2 (moved T) taken taken' ->
  first_room T length taken' (x + T * m) tries = first_room T length taken x tries + T * m.
Proof.
  intros T length taken taken' m tries x positive each. revert x.
  induction tries as [| n IH]; intros x; cbn [first_room]; [reflexivity |].
  rewrite (free_moved T length taken taken' x m positive each).
  destruct (free T length taken x); [reflexivity |]. rewrite <- IH. f_equal. ring.
Qed.

(** What the passes with an offset take on a device, and where W goes: the last chunk chooses first. *)
Definition taken_by (l : layout) (lasts : kind -> Z) (at_ : kind -> nat -> Z) : list (Z * Z) :=
  flat_map (fun c => [(at_ F c, lasts F); (at_ I c, lasts I)]) (seq 0 (chunks l)).

Definition room_for (T : Z) (lasts : kind -> Z) (taken : list (Z * Z)) (input : Z) : Z :=
  first_room T (lasts W) taken (input + lasts I) (Z.to_nat T).

Definition weight_of (l : layout) (T : Z) (lasts : kind -> Z) (at_ : kind -> nat -> Z) (c : nat) : Z :=
  let last := room_for T lasts (taken_by l lasts at_) (at_ I (chunks l - 1)%nat) in
  if Nat.eqb c (chunks l - 1) then last
  else room_for T lasts ((last, lasts W) :: taken_by l lasts at_) (at_ I c).

Definition without_weights (l : layout) (T : Z) (lasts : kind -> Z) (at_ : kind -> nat -> Z -> Z -> Z) : family :=
  Family l T lasts (fun k c d i =>
    match k with W => weight_of l T lasts (fun k c => at_ k c d i) c | _ => at_ k c d i end).

(** ** Formulas that repeat *)

(** With P more devices, or P devices further, each offset moves by a multiple of the interval. *)
Definition periodic (l : layout) (T P : Z) (at_ : kind -> nat -> Z -> Z -> Z) (a b : kind -> nat -> Z) : Prop :=
  forall k c d i e j, (c < chunks l)%nat ->
    at_ k c (d + P * e) (i + P * j) = at_ k c d i + T * (a k c * j + b k c * e).

Definition of_input (a : kind -> nat -> Z) (k : kind) (c : nat) : Z := match k with W => a I c | _ => a k c end.

(** A W that is left out moves with its I. *)
Lemma without_weights_periodic : forall l T P lasts at_ a b, 0 < T ->
  (forall k c d i e j, k <> W -> (c < chunks l)%nat ->
    at_ k c (d + P * e) (i + P * j) = at_ k c d i + T * (a k c * j + b k c * e)) ->
  periodic l T P (at_device (without_weights l T lasts at_)) (of_input a) (of_input b).
Proof.
  intros l T P lasts at_ a b positive moves k c d i e j inside. cbn [at_device without_weights].
  assert (all : Forall2 (moved T) (taken_by l lasts (fun k c => at_ k c d i))
    (taken_by l lasts (fun k c => at_ k c (d + P * e) (i + P * j)))).
  { unfold taken_by. assert (range : forall c, In c (seq 0 (chunks l)) -> (c < chunks l)%nat) by (intros x; rewrite in_seq; lia).
    induction (seq 0 (chunks l)) as [| x rest IH]; cbn [flat_map app]; [constructor |].
    assert (here : (x < chunks l)%nat) by (apply range; left; reflexivity).
    constructor; [| constructor]; [| | apply IH; intros y later; apply range; right; exact later];
      (split; [reflexivity |]; cbn [fst]; eexists; apply moves; [discriminate | exact here]). }
  destruct k; [apply moves; [discriminate | exact inside] | apply moves; [discriminate | exact inside] |].
  cbn [of_input]. unfold weight_of, room_for. cbv zeta.
  assert (last : (chunks l - 1 < chunks l)%nat) by (destruct l; cbn; lia).
  rewrite (moves I (chunks l - 1)%nat) by (discriminate || exact last).
  set (far := a I (chunks l - 1)%nat * j + b I (chunks l - 1)%nat * e).
  replace (at_ I (chunks l - 1)%nat d i + T * far + lasts I) with (at_ I (chunks l - 1)%nat d i + lasts I + T * far) by ring.
  rewrite (first_room_moved T (lasts W) _ _ far (Z.to_nat T) _ positive all).
  destruct (Nat.eqb_spec c (chunks l - 1)) as [same | _]; [subst c; reflexivity |].
  rewrite (moves I c) by (discriminate || exact inside).
  replace (at_ I c d i + T * (a I c * j + b I c * e) + lasts I) with (at_ I c d i + lasts I + T * (a I c * j + b I c * e)) by ring.
  apply first_room_moved; [exact positive |]. constructor; [| exact all]. split; [reflexivity |]. cbn [fst]. eexists. reflexivity.
Qed.

Definition residues (P : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat P)).

(** A check for all residues of d and i. *)
Definition table (P : Z) (check : Z -> Z -> bool) : bool := forallb (fun d => forallb (check d) (residues P)) (residues P).

Lemma in_residues : forall P x, 0 < P -> In (x mod P) (residues P).
Proof.
  intros P x positive. pose proof (Z.mod_pos_bound x P positive). apply in_map_iff. exists (Z.to_nat (x mod P)).
  split; [lia |]. apply in_seq. lia.
Qed.

Lemma table_says : forall P check d i, 0 < P -> table P check = true -> check (d mod P) (i mod P) = true.
Proof.
  intros P check d i positive all. unfold table in all. rewrite forallb_forall in all.
  specialize (all (d mod P) (in_residues P d positive)). rewrite forallb_forall in all. apply all. apply in_residues.
  exact positive.
Qed.

Definition slots (l : layout) : list (kind * nat) := flat_map (fun c => map (fun k => (k, c)) kinds) (seq 0 (chunks l)).

Lemma in_slots : forall l k c, (c < chunks l)%nat -> In (k, c) (slots l).
Proof.
  intros l k c inside. apply in_flat_map. exists c. split; [apply in_seq; lia |]. apply (in_map (fun k => (k, c))). apply in_kinds.
Qed.

Definition same_slot (x y : kind * nat) : bool := kind_is (fst x) (fst y) && Nat.eqb (snd x) (snd y).

(** No two passes of a device overlap modulo the interval. *)
Definition clear_at (f : family) (d i : Z) : bool :=
  forallb (fun x => forallb (fun y => same_slot x y ||
    (lasts f (fst x) <=? (at_device f (fst y) (snd y) d i - at_device f (fst x) (snd x) d i) mod every f)) (slots (layout_of f)))
    (slots (layout_of f)).

(** What device i holds once an F of chunk c has started, and the most of that. *)
Definition live_of (f : family) (d i : Z) (c : nat) : Z :=
  1 + sum (fun b => ceiling (at_device f F c d i - at_device f F b d i) (every f) -
                    ceiling (at_device f F c d i - at_device f W b d i) (every f)) (seq 0 (chunks (layout_of f))).

Definition peak_of (f : family) (d i : Z) : Z := largest (map (live_of f d i) (seq 0 (chunks (layout_of f)))).

Section Periodic.
  Variable f : family.
  Variable P : Z.
  Variables a b : kind -> nat -> Z.
  Hypothesis Positive : 0 < P.
  Hypothesis Interval : 0 < every f.
  Hypothesis Periodic : periodic (layout_of f) (every f) P (at_device f) a b.

  Lemma at_residues : forall k c d i, (c < chunks (layout_of f))%nat ->
    at_device f k c d i = at_device f k c (d mod P) (i mod P) + every f * (a k c * (i / P) + b k c * (d / P)).
  Proof.
    intros k c d i inside. rewrite <- (Periodic k c (d mod P) (i mod P) (d / P) (i / P) inside).
    f_equal; rewrite Z.add_comm; apply Z.div_mod; lia.
  Qed.

  (** If the table is clear, so is every device. *)
  Theorem clear_everywhere : table P (clear_at f) = true -> forall d i k c l g,
    (c < chunks (layout_of f))%nat -> (g < chunks (layout_of f))%nat -> (k, c) <> (l, g) ->
    lasts f k <= (at_device f l g d i - at_device f k c d i) mod every f.
  Proof.
    intros all d i k c l g inside inside_g differ. apply (table_says P _ d i Positive) in all. unfold clear_at in all.
    rewrite forallb_forall in all. specialize (all (k, c) (in_slots _ k c inside)). rewrite forallb_forall in all.
    specialize (all (l, g) (in_slots _ l g inside_g)). cbn [fst snd] in all. apply orb_true_iff in all.
    destruct all as [same | apart].
    - unfold same_slot, kind_is in same. cbn [fst snd] in same. apply andb_true_iff in same. destruct same as [kind chunk].
      apply Nat.eqb_eq in chunk. destruct (kind_eq_dec k l); [congruence | discriminate].
    - apply Z.leb_le in apart. rewrite (at_residues l g), (at_residues k c) by assumption. rewrite mod_moved by exact Interval.
      exact apart.
  Qed.

  (** How the peak grows: the same for all chunks. *)
  Definition growth (x : kind -> nat -> Z) : Z := sum (fun c => x W c - x F c) (seq 0 (chunks (layout_of f))).

  Lemma live_moves : forall d i c, (c < chunks (layout_of f))%nat ->
    live_of f d i c = live_of f (d mod P) (i mod P) c + growth a * (i / P) + growth b * (d / P).
  Proof.
    intros d i c inside. unfold live_of, growth.
    assert (range : forall c, In c (seq 0 (chunks (layout_of f))) -> (c < chunks (layout_of f))%nat).
    { intros x. rewrite in_seq. lia. }
    rewrite <- !Z.add_assoc. f_equal. induction (seq 0 (chunks (layout_of f))) as [| g rest IH]; cbn [sum]; [ring |].
    rewrite IH by (intros y later; apply range; right; exact later).
    assert (here : (g < chunks (layout_of f))%nat) by (apply range; left; reflexivity).
    rewrite (at_residues F c d i), (at_residues F g d i), (at_residues W g d i) by assumption.
    set (x := at_device f F c (d mod P) (i mod P)). set (y := at_device f F g (d mod P) (i mod P)).
    set (z := at_device f W g (d mod P) (i mod P)). set (T := every f).
    set (m := a F c * (i / P) + b F c * (d / P)).
    replace (x + T * m - (y + T * (a F g * (i / P) + b F g * (d / P)))) with (x - y + (m - (a F g * (i / P) + b F g * (d / P))) * T)
      by ring.
    replace (x + T * m - (z + T * (a W g * (i / P) + b W g * (d / P)))) with (x - z + (m - (a W g * (i / P) + b W g * (d / P))) * T)
      by ring.
    rewrite !ceiling_shift by exact Interval. ring.
  Qed.

  Lemma largest_moves : forall l x, l <> [] -> largest (map (fun y => y + x) l) = largest l + x.
  Proof.
    intros l x. induction l as [| y l IH]; intros some; [contradiction |]. destruct l as [| z l]; [reflexivity |].
    cbn [map largest] in *. rewrite IH by discriminate. lia.
  Qed.

  (** A formula that grows alike, and is right for all residues, is right everywhere. *)
  Theorem peak_everywhere : forall formula : Z -> Z -> Z,
    (forall d i e j, formula (d + P * e) (i + P * j) = formula d i + growth a * j + growth b * e) ->
    table P (fun d i => peak_of f d i =? formula d i) = true ->
    forall d i, peak_of f d i = formula d i.
  Proof.
    intros formula grows all d i. apply (table_says P _ d i Positive) in all. apply Z.eqb_eq in all.
    replace (formula d i) with (formula (d mod P) (i mod P) + growth a * (i / P) + growth b * (d / P)).
    - rewrite <- all. unfold peak_of. rewrite <- Z.add_assoc, <- largest_moves, map_map.
      + f_equal. apply map_ext_in. intros c inside. apply in_seq in inside. rewrite Z.add_assoc. apply live_moves. lia.
      + destruct (layout_of f); discriminate.
    - rewrite <- (grows (d mod P) (i mod P) (d / P) (i / P)). f_equal; symmetry; rewrite Z.add_comm; apply Z.div_mod; lia.
  Qed.
End Periodic.

(** ** From devices to stages *)

(** Devices and chunks wait for each other as in this list, on all devices. *)
Record flows (f : family) : Prop := Flows {
  F_down : forall d i, 0 <= i < d - 1 -> at_device f F 0 d i + lasts f F <= at_device f F 0 d (i + 1);
  I_up : forall d i, 0 <= i < d - 1 -> at_device f I 0 d (i + 1) + lasts f I <= at_device f I 0 d i;
  turn_linear : layout_of f = Linear -> forall d, 1 <= d -> at_device f F 0 d (d - 1) + lasts f F <= at_device f I 0 d (d - 1);
  F_turn : layout_of f = V -> forall d, 1 <= d -> at_device f F 0 d (d - 1) + lasts f F <= at_device f F 1 d (d - 1);
  F_up : layout_of f = V -> forall d i, 0 <= i < d - 1 -> at_device f F 1 d (i + 1) + lasts f F <= at_device f F 1 d i;
  turn_v : layout_of f = V -> forall d, 1 <= d -> at_device f F 1 d 0 + lasts f F <= at_device f I 1 d 0;
  I_down : layout_of f = V -> forall d i, 0 <= i < d - 1 -> at_device f I 1 d i + lasts f I <= at_device f I 1 d (i + 1);
  I_turn : layout_of f = V -> forall d, 1 <= d -> at_device f I 1 d (d - 1) + lasts f I <= at_device f I 0 d (d - 1);
  I_to_W : forall c d i, (c < chunks (layout_of f))%nat -> 0 <= i < d -> at_device f I c d i + lasts f I <= at_device f W c d i
}.

Lemma family_well_formed : forall f d m, (0 < d)%nat -> (forall k, 0 < lasts f k) -> well_formed (family_model f d m).
Proof.
  intros f d m some long. unfold well_formed. cbn [stages devices device_of time latency retained activation family_model].
  repeat split; try lia.
  - destruct (layout_of f); cbn; lia.
  - intros s inside. destruct (layout_of f); cbn [device_in chunks] in *; [lia |]. destruct (Nat.ltb_spec s d); lia.
  - intros k _. specialize (long k). lia.
Qed.

Lemma chunk_inside : forall l d s, (chunk_in l d s < chunks l)%nat.
Proof. intros [] d s; cbn [chunk_in chunks]; [lia |]. destruct (Nat.ltb s d); lia. Qed.

(** What holds for devices and chunks makes the block valid. *)
Theorem family_valid : forall f d m, (0 < d)%nat -> 0 < every f -> (forall k, 0 < lasts f k <= every f) -> flows f ->
  (forall i k c l g, (c < chunks (layout_of f))%nat -> (g < chunks (layout_of f))%nat -> (k, c) <> (l, g) ->
    lasts f k <= (at_device f l g (Z.of_nat d) i - at_device f k c (Z.of_nat d) i) mod every f) ->
  valid (family_model f d m) (family_block f d).
Proof.
  intros f d m some positive fits [down up turn1 forward_turn upward turn2 downward backward_turn weights] clear.
  split; cbn [stages interval time latency offset device_of family_model family_block].
  - exact positive.
  - intros k s _. apply fits.
  - intros s inside. rewrite Z.add_0_r. destruct (layout_of f) eqn:form; cbn [device_in chunk_in chunks] in *.
    + replace (Z.of_nat (S s)) with (Z.of_nat s + 1) by lia. apply down. lia.
    + destruct (Nat.ltb_spec s d), (Nat.ltb_spec (S s) d); try lia.
      * replace (Z.of_nat (S s)) with (Z.of_nat s + 1) by lia. apply down. lia.
      * replace (Z.of_nat s) with (Z.of_nat d - 1) by lia. replace (Z.of_nat (2 * d - 1 - S s)) with (Z.of_nat d - 1) by lia.
        apply forward_turn; [reflexivity | lia].
      * replace (Z.of_nat (2 * d - 1 - s)) with (Z.of_nat (2 * d - 1 - S s) + 1) by lia. apply upward; [reflexivity | lia].
  - destruct (layout_of f) eqn:form; cbn [device_in chunk_in chunks] in *.
    + replace (Z.of_nat (1 * d - 1)) with (Z.of_nat d - 1) by lia. apply turn1; [reflexivity | lia].
    + destruct (Nat.ltb_spec (2 * d - 1) d); [lia |]. replace (Z.of_nat (2 * d - 1 - (2 * d - 1))) with 0 by lia.
      apply turn2; [reflexivity | lia].
  - intros s inside. rewrite Z.add_0_r. destruct (layout_of f) eqn:form; cbn [device_in chunk_in chunks] in *.
    + replace (Z.of_nat (S s)) with (Z.of_nat s + 1) by lia. apply up. lia.
    + destruct (Nat.ltb_spec s d), (Nat.ltb_spec (S s) d); try lia.
      * replace (Z.of_nat (S s)) with (Z.of_nat s + 1) by lia. apply up. lia.
      * replace (Z.of_nat s) with (Z.of_nat d - 1) by lia. replace (Z.of_nat (2 * d - 1 - S s)) with (Z.of_nat d - 1) by lia.
        apply backward_turn; [reflexivity | lia].
      * replace (Z.of_nat (2 * d - 1 - s)) with (Z.of_nat (2 * d - 1 - S s) + 1) by lia. apply downward; [reflexivity | lia].
  - intros s inside. apply weights; [apply chunk_inside |].
    destruct (layout_of f); cbn [device_in chunks] in *; [lia |]. destruct (Nat.ltb_spec s d); lia.
  - intros k s l r inside inside_r same differ. rewrite same. apply clear; [apply chunk_inside | apply chunk_inside |].
    intros equal. apply differ. inversion equal as [[kind chunk]]. f_equal.
    destruct (layout_of f) eqn:form; cbn [device_in chunk_in chunks] in *; [exact same |].
    destruct (Nat.ltb_spec s d), (Nat.ltb_spec r d); lia.
Qed.

Lemma filter_none : forall (chosen : nat -> bool) l, (forall s, In s l -> chosen s = false) -> filter chosen l = [].
Proof.
  intros chosen l none. induction l as [| s l IH]; [reflexivity |]. cbn. rewrite (none s (or_introl eq_refl)). apply IH.
  intros t inside. apply none. right. exact inside.
Qed.

(** The stages of a device, by chunk. *)
Lemma family_stages_on : forall f d m i, (i < d)%nat ->
  stages_on (family_model f d m) i = map (fun c => stage_in (layout_of f) d c i) (seq 0 (chunks (layout_of f))).
Proof.
  intros f d m i inside. unfold stages_on. cbn [device_of stages family_model].
  destruct (layout_of f); cbn [device_in chunks seq map stage_in].
  - replace (1 * d)%nat with (i + (1 + (d - i - 1)))%nat by lia. rewrite !seq_app, !filter_app. cbn [seq filter plus].
    rewrite Nat.eqb_refl. rewrite !filter_none; [reflexivity | |];
      intros s listed; apply in_seq in listed; apply Nat.eqb_neq; lia.
  - replace (2 * d)%nat with (i + (1 + ((2 * d - 2 - 2 * i) + (1 + i))))%nat at 1 by lia. rewrite !seq_app, !filter_app.
    replace (0 + i + 1 + (2 * d - 2 - 2 * i))%nat with (2 * d - 1 - i)%nat by lia. cbn [seq filter].
    destruct (Nat.ltb_spec (0 + i) d); [| lia]. destruct (Nat.ltb_spec (2 * d - 1 - i) d); [lia |].
    replace (2 * d - 1 - (2 * d - 1 - i))%nat with i by lia. rewrite Nat.add_0_l, Nat.eqb_refl.
    rewrite !filter_none; [reflexivity | | |];
      intros s listed; apply in_seq in listed; destruct (Nat.ltb_spec s d); apply Nat.eqb_neq; lia.
Qed.

Lemma stage_in_back : forall l d c i, (i < d)%nat -> (c < chunks l)%nat ->
  device_in l d (stage_in l d c i) = i /\ chunk_in l d (stage_in l d c i) = c.
Proof.
  intros [] d c i inside chunk; cbn [stage_in device_in chunk_in chunks] in *.
  - split; [reflexivity | lia].
  - destruct c as [| [| c]]; [| | lia]; [destruct (Nat.ltb_spec i d); lia |].
    destruct (Nat.ltb_spec (2 * d - 1 - i) d); lia.
Qed.

(** What [Blocks] counts by stages is what is counted here by chunks. *)
Theorem family_peak : forall f d m i, (i < d)%nat ->
  steady_peak (family_model f d m) (family_block f d) i = peak_of f (Z.of_nat d) (Z.of_nat i).
Proof.
  intros f d m i inside. unfold steady_peak, peak_of. rewrite (family_stages_on f d m i inside), map_map. f_equal.
  apply map_ext_in. intros c chunk. apply in_seq in chunk. cbn [plus] in chunk. destruct chunk as [_ chunk].
  destruct (stage_in_back (layout_of f) d c i inside chunk) as [device own].
  unfold live_at_start. cbn [device_of family_model activation]. rewrite device. fold (family_model f d m).
  rewrite (family_stages_on f d m i inside), sum_map. unfold live_of. f_equal. apply sum_ext. intros g other. apply in_seq in other.
  cbn [plus] in other. destruct other as [_ other]. destruct (stage_in_back (layout_of f) d g i inside other) as [device_g own_g].
  unfold live_of_stage, copies_before. cbn [offset interval family_block activation retained family_model].
  rewrite device, own, device_g, own_g. ring.
Qed.

(** A valid family runs, for every number of devices and microbatches. *)
Theorem family_runs : forall f d m, (0 < d)%nat -> (forall k, 0 < lasts f k) -> valid (family_model f d m) (family_block f d) ->
  let M := family_model f d m in let B := family_block f d in
  complete M (repeated M B) /\ runs M (repeated M B) (start_at B (least_shift M B)).
Proof.
  intros f d m some long good M B. split; [apply repeated_complete |].
  apply repeated_runs; [apply family_well_formed; assumption | intros k s _; apply long | exact good | apply least_shift_enough].
Qed.

(** No device ever holds more than its steady peak, which it reaches with enough microbatches. *)
Theorem family_holds : forall f d m i, (i < d)%nat -> (forall k, 0 < lasts f k) -> valid (family_model f d m) (family_block f d) ->
  let M := family_model f d m in let B := family_block f d in
  peak M (repeated M B i) <= peak_of f (Z.of_nat d) (Z.of_nat i) /\
  (enough_microbatches M B i <= Z.of_nat m -> peak M (repeated M B i) = peak_of f (Z.of_nat d) (Z.of_nat i)).
Proof.
  intros f d m i inside long good M B. rewrite <- (family_peak f d m i inside). fold M B.
  assert (well : well_formed M) by (apply family_well_formed; [lia | exact long]).
  assert (time : takes_time M) by (intros k s _; apply long).
  split; [apply peak_at_most_steady; assumption |]. intros enough. apply peak_is_steady; assumption.
Qed.

(** ** The families *)

Definition unit_times (k : kind) : Z := 1.
Definition long_weight (k : kind) : Z := match k with W => 2 | _ => 1 end.

Lemma div_far : forall n q x y, 0 < n -> y = x + q * n -> y / n = x / n + q.
Proof. intros n q x y positive same. subst y. apply Z.div_add. lia. Qed.

Lemma mod_far : forall n q x y, 0 < n -> y = x + q * n -> y mod n = x mod n.
Proof. intros n q x y positive same. subst y. apply Z.mod_add. lia. Qed.

Lemma weight_later : forall l T lasts at_ c, at_ I c + lasts I <= weight_of l T lasts at_ c.
Proof.
  intros l T lasts at_ c. unfold weight_of, room_for. cbv zeta. destruct (Nat.eqb_spec c (chunks l - 1)) as [same | _];
    [rewrite <- same |]; apply first_room_later.
Qed.

(** Offsets of neighbours differ by little, whatever the gaps are. *)
Ltac settle :=
  repeat match goal with |- context [match ?c with O => _ | S _ => _ end] => destruct c end;
  repeat match goal with |- context [if ?c then _ else _] => destruct c eqn:?Hc end;
  rewrite ?Z.eqb_eq, ?Z.eqb_neq in *; try lia; try (Z.to_euclidean_division_equations; lia).

Ltac valid_by_table f P periodic clear flow some :=
  apply family_valid; [exact some | reflexivity | intros []; cbn; unfold unit_times; lia | exact flow |];
  intros ? ? ? ? ?; apply (clear_everywhere f P _ _ ltac:(lia) ltac:(reflexivity) periodic clear).

(** *** V-Min: a third of the memory of 1F1B *)

Definition v_min_gap (d : Z) : Z := if d mod 3 =? 0 then 2 else 0.

Definition v_min : family := without_weights V 6 unit_times (fun k c d i =>
  match k, c with
  | F, O => i
  | F, _ => 2 * d - 1 - i
  | _, O => 4 * d + v_min_gap d - 1 - i
  | _, _ => 2 * d + v_min_gap d + i
  end).

Definition v_min_formula (d i : Z) : Z := 2 * ((d + 4) / 3) - (if (d mod 3 =? 2) && (i mod 3 =? 0) then 2 else 0).

Definition v_min_a (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 1
  | F, _ => -1
  | _, O => -1
  | _, _ => 1
  end.

Definition v_min_b (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 0
  | F, _ => 2
  | _, O => 4
  | _, _ => 2
  end.

Lemma v_min_periodic : periodic V 6 6 (at_device v_min) (of_input v_min_a) (of_input v_min_b).
Proof.
  apply without_weights_periodic; [lia |]. intros k c d i e j other inside.
  assert (same_v_min_gap : v_min_gap (d + 6 * e) = v_min_gap d).
  { unfold v_min_gap. rewrite (mod_far 3 (2 * e) d (d + 6 * e)) by lia. reflexivity. }
  destruct k, c as [| c]; cbn [v_min_a v_min_b]; rewrite ?same_v_min_gap; try ring; contradiction.
Qed.

Lemma v_min_flows : flows v_min.
Proof.
  split; try (cbn; discriminate); try (intros c d i _ _; apply (weight_later V 6 unit_times (fun k c => at_device v_min k c d i)));
    intros; cbn [at_device lasts without_weights v_min]; unfold unit_times, v_min_gap; settle.
Qed.

Lemma v_min_clear : table 6 (clear_at v_min) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma v_min_counts : table 6 (fun d i => peak_of v_min d i =? v_min_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem v_min_valid : forall d m, (0 < d)%nat -> valid (family_model v_min d m) (family_block v_min d).
Proof. intros d m some. valid_by_table v_min 6 v_min_periodic v_min_clear v_min_flows some. Qed.

(** Every device holds 2((d + 4) div 3), or 2 less where d mod 3 = 2 and i mod 3 = 0. *)
Theorem v_min_peak : forall d i, peak_of v_min d i = v_min_formula d i.
Proof.
  apply (peak_everywhere v_min 6 _ _ ltac:(lia) ltac:(reflexivity) v_min_periodic); [| apply v_min_counts].
  intros d i e j. unfold v_min_formula. rewrite (div_far 3 (2 * e) (d + 4) (d + 6 * e + 4)) by lia.
  rewrite (mod_far 3 (2 * e) d (d + 6 * e)), (mod_far 3 (2 * j) i (i + 6 * j)) by lia.
  replace (growth v_min (of_input v_min_a)) with 0 by reflexivity. replace (growth v_min (of_input v_min_b)) with 4 by reflexivity.
  lia.
Qed.

(** *** V-Half: half of the memory of 1F1B *)

Definition v_half_gap (d : Z) : Z := if d mod 2 =? 0 then 3 else 0.

Definition v_half : family := without_weights V 6 unit_times (fun k c d i =>
  match k, c with
  | F, O => 2 * i
  | F, _ => 3 * d - 2 - i
  | _, O => 6 * d + v_half_gap d - 2 - i
  | _, _ => 3 * d + v_half_gap d - 1 + 2 * i
  end).

Definition v_half_formula (d i : Z) : Z := 2 * ((d + 2) / 2).

Definition v_half_a (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 2
  | F, _ => -1
  | _, O => -1
  | _, _ => 2
  end.

Definition v_half_b (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 0
  | F, _ => 3
  | _, O => 6
  | _, _ => 3
  end.

Lemma v_half_periodic : periodic V 6 6 (at_device v_half) (of_input v_half_a) (of_input v_half_b).
Proof.
  apply without_weights_periodic; [lia |]. intros k c d i e j other inside.
  assert (same_v_half_gap : v_half_gap (d + 6 * e) = v_half_gap d).
  { unfold v_half_gap. rewrite (mod_far 2 (3 * e) d (d + 6 * e)) by lia. reflexivity. }
  destruct k, c as [| c]; cbn [v_half_a v_half_b]; rewrite ?same_v_half_gap; try ring; contradiction.
Qed.

Lemma v_half_flows : flows v_half.
Proof.
  split; try (cbn; discriminate); try (intros c d i _ _; apply (weight_later V 6 unit_times (fun k c => at_device v_half k c d i)));
    intros; cbn [at_device lasts without_weights v_half]; unfold unit_times, v_half_gap; settle.
Qed.

Lemma v_half_clear : table 6 (clear_at v_half) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma v_half_counts : table 6 (fun d i => peak_of v_half d i =? v_half_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem v_half_valid : forall d m, (0 < d)%nat -> valid (family_model v_half d m) (family_block v_half d).
Proof. intros d m some. valid_by_table v_half 6 v_half_periodic v_half_clear v_half_flows some. Qed.

(** Every device holds 2((d + 2) div 2). *)
Theorem v_half_peak : forall d i, peak_of v_half d i = v_half_formula d i.
Proof.
  apply (peak_everywhere v_half 6 _ _ ltac:(lia) ltac:(reflexivity) v_half_periodic); [| apply v_half_counts].
  intros d i e j. unfold v_half_formula. rewrite (div_far 2 (3 * e) (d + 2) (d + 6 * e + 2)) by lia.
  replace (growth v_half (of_input v_half_a)) with 0 by reflexivity.
  replace (growth v_half (of_input v_half_b)) with 6 by reflexivity. lia.
Qed.

(** *** V-ZB: the memory of 1F1B *)

Definition v_zb : family := without_weights V 6 unit_times (fun k c d i =>
  match k, c with
  | F, O => 4 * i
  | F, _ => 6 * d - 5 - 2 * i
  | _, O => 12 * d - 9 - 2 * i
  | _, _ => 6 * d - 4 + 4 * i
  end).

Definition v_zb_formula (d i : Z) : Z := 2 * d.

Definition v_zb_a (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 4
  | F, _ => -2
  | _, O => -2
  | _, _ => 4
  end.

Definition v_zb_b (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 0
  | F, _ => 6
  | _, O => 12
  | _, _ => 6
  end.

Lemma v_zb_periodic : periodic V 6 6 (at_device v_zb) (of_input v_zb_a) (of_input v_zb_b).
Proof.
  apply without_weights_periodic; [lia |]. intros k c d i e j other inside.
  destruct k, c as [| c]; cbn [v_zb_a v_zb_b]; try ring; contradiction.
Qed.

Lemma v_zb_flows : flows v_zb.
Proof.
  split; try (cbn; discriminate); try (intros c d i _ _; apply (weight_later V 6 unit_times (fun k c => at_device v_zb k c d i)));
    intros; cbn [at_device lasts without_weights v_zb]; unfold unit_times; settle.
Qed.

Lemma v_zb_clear : table 6 (clear_at v_zb) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma v_zb_counts : table 6 (fun d i => peak_of v_zb d i =? v_zb_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem v_zb_valid : forall d m, (0 < d)%nat -> valid (family_model v_zb d m) (family_block v_zb d).
Proof. intros d m some. valid_by_table v_zb 6 v_zb_periodic v_zb_clear v_zb_flows some. Qed.

(** Every device holds 2d. *)
Theorem v_zb_peak : forall d i, peak_of v_zb d i = v_zb_formula d i.
Proof.
  apply (peak_everywhere v_zb 6 _ _ ltac:(lia) ltac:(reflexivity) v_zb_periodic); [| apply v_zb_counts].
  intros d i e j. unfold v_zb_formula.
  replace (growth v_zb (of_input v_zb_a)) with 0 by reflexivity. replace (growth v_zb (of_input v_zb_b)) with 12 by reflexivity.
  lia.
Qed.

(** *** 1F1B, with I and W apart *)

Definition one_f_one_b : family := Family Linear 3 unit_times (fun k _ d i =>
  match k with
  | F => i
  | I => 3 * d - 2 - 2 * i
  | W => 3 * d - 1 - 2 * i
  end).

Definition one_f_one_b_formula (d i : Z) : Z := d - i.

Definition one_f_one_b_a (k : kind) (c : nat) : Z :=
  match k with
  | F => 1
  | I => -2
  | W => -2
  end.

Definition one_f_one_b_b (k : kind) (c : nat) : Z :=
  match k with
  | F => 0
  | I => 3
  | W => 3
  end.

Lemma one_f_one_b_periodic : periodic Linear 3 3 (at_device one_f_one_b) one_f_one_b_a one_f_one_b_b.
Proof.
  intros k c d i e j inside. cbn [at_device one_f_one_b].
  destruct k; cbn [one_f_one_b_a one_f_one_b_b]; ring.
Qed.

Lemma one_f_one_b_flows : flows one_f_one_b.
Proof.
  split; try (cbn; discriminate);
    intros; cbn [at_device lasts without_weights one_f_one_b]; unfold unit_times; settle.
Qed.

Lemma one_f_one_b_clear : table 3 (clear_at one_f_one_b) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma one_f_one_b_counts : table 3 (fun d i => peak_of one_f_one_b d i =? one_f_one_b_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem one_f_one_b_valid : forall d m, (0 < d)%nat -> valid (family_model one_f_one_b d m) (family_block one_f_one_b d).
Proof. intros d m some. valid_by_table one_f_one_b 3 one_f_one_b_periodic one_f_one_b_clear one_f_one_b_flows some. Qed.

(** Device i holds d - i. *)
Theorem one_f_one_b_peak : forall d i, peak_of one_f_one_b d i = one_f_one_b_formula d i.
Proof.
  apply (peak_everywhere one_f_one_b 3 _ _ ltac:(lia) ltac:(reflexivity) one_f_one_b_periodic); [| apply one_f_one_b_counts].
  intros d i e j. unfold one_f_one_b_formula.
  replace (growth one_f_one_b one_f_one_b_a) with (-3) by reflexivity.
  replace (growth one_f_one_b one_f_one_b_b) with 3 by reflexivity. lia.
Qed.

(** *** Eager 1F1B *)

Definition eager_one_f_one_b : family := Family Linear 3 unit_times (fun k _ d i =>
  match k with
  | F => i
  | I => 6 * d - 5 - 5 * i
  | W => 6 * d - 4 - 5 * i
  end).

Definition eager_one_f_one_b_formula (d i : Z) : Z := 2 * (d - i) - 1.

Definition eager_one_f_one_b_a (k : kind) (c : nat) : Z :=
  match k with
  | F => 1
  | I => -5
  | W => -5
  end.

Definition eager_one_f_one_b_b (k : kind) (c : nat) : Z :=
  match k with
  | F => 0
  | I => 6
  | W => 6
  end.

Lemma eager_one_f_one_b_periodic : periodic Linear 3 3 (at_device eager_one_f_one_b) eager_one_f_one_b_a eager_one_f_one_b_b.
Proof.
  intros k c d i e j inside. cbn [at_device eager_one_f_one_b].
  destruct k; cbn [eager_one_f_one_b_a eager_one_f_one_b_b]; ring.
Qed.

Lemma eager_one_f_one_b_flows : flows eager_one_f_one_b.
Proof.
  split; try (cbn; discriminate);
    intros; cbn [at_device lasts without_weights eager_one_f_one_b]; unfold unit_times; settle.
Qed.

Lemma eager_one_f_one_b_clear : table 3 (clear_at eager_one_f_one_b) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma eager_one_f_one_b_counts : table 3 (fun d i => peak_of eager_one_f_one_b d i =? eager_one_f_one_b_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem eager_one_f_one_b_valid : forall d m, (0 < d)%nat ->
  valid (family_model eager_one_f_one_b d m) (family_block eager_one_f_one_b d).
Proof.
  intros d m some.
  valid_by_table eager_one_f_one_b 3 eager_one_f_one_b_periodic eager_one_f_one_b_clear eager_one_f_one_b_flows some.
Qed.

(** Device i holds 2(d - i) - 1. *)
Theorem eager_one_f_one_b_peak : forall d i, peak_of eager_one_f_one_b d i = eager_one_f_one_b_formula d i.
Proof.
  apply (peak_everywhere eager_one_f_one_b 3 _ _ ltac:(lia) ltac:(reflexivity) eager_one_f_one_b_periodic);
    [| apply eager_one_f_one_b_counts].
  intros d i e j. unfold eager_one_f_one_b_formula.
  replace (growth eager_one_f_one_b eager_one_f_one_b_a) with (-6) by reflexivity.
  replace (growth eager_one_f_one_b eager_one_f_one_b_b) with 6 by reflexivity. lia.
Qed.

(** *** ZB-H1 *)

Definition zb_h1 : family := Family Linear 3 unit_times (fun k _ d i =>
  match k with
  | F => i
  | I => 3 * d - 2 - 2 * i
  | W => 3 * d - 1 + i
  end).

Definition zb_h1_formula (d i : Z) : Z := d.

Definition zb_h1_a (k : kind) (c : nat) : Z :=
  match k with
  | F => 1
  | I => -2
  | W => 1
  end.

Definition zb_h1_b (k : kind) (c : nat) : Z :=
  match k with
  | F => 0
  | I => 3
  | W => 3
  end.

Lemma zb_h1_periodic : periodic Linear 3 3 (at_device zb_h1) zb_h1_a zb_h1_b.
Proof.
  intros k c d i e j inside. cbn [at_device zb_h1].
  destruct k; cbn [zb_h1_a zb_h1_b]; ring.
Qed.

Lemma zb_h1_flows : flows zb_h1.
Proof.
  split; try (cbn; discriminate);
    intros; cbn [at_device lasts without_weights zb_h1]; unfold unit_times; settle.
Qed.

Lemma zb_h1_clear : table 3 (clear_at zb_h1) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma zb_h1_counts : table 3 (fun d i => peak_of zb_h1 d i =? zb_h1_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem zb_h1_valid : forall d m, (0 < d)%nat -> valid (family_model zb_h1 d m) (family_block zb_h1 d).
Proof. intros d m some. valid_by_table zb_h1 3 zb_h1_periodic zb_h1_clear zb_h1_flows some. Qed.

(** Every device holds d. *)
Theorem zb_h1_peak : forall d i, peak_of zb_h1 d i = zb_h1_formula d i.
Proof.
  apply (peak_everywhere zb_h1 3 _ _ ltac:(lia) ltac:(reflexivity) zb_h1_periodic); [| apply zb_h1_counts].
  intros d i e j. unfold zb_h1_formula.
  replace (growth zb_h1 zb_h1_a) with 0 by reflexivity. replace (growth zb_h1 zb_h1_b) with 3 by reflexivity. lia.
Qed.

(** *** ZB-H2 *)

Definition zb_h2 : family := Family Linear 3 unit_times (fun k _ d i =>
  match k with
  | F => i
  | I => 6 * d - 5 - 5 * i
  | W => 6 * d - 4 + i
  end).

Definition zb_h2_formula (d i : Z) : Z := 2 * d - 1.

Definition zb_h2_a (k : kind) (c : nat) : Z :=
  match k with
  | F => 1
  | I => -5
  | W => 1
  end.

Definition zb_h2_b (k : kind) (c : nat) : Z :=
  match k with
  | F => 0
  | I => 6
  | W => 6
  end.

Lemma zb_h2_periodic : periodic Linear 3 3 (at_device zb_h2) zb_h2_a zb_h2_b.
Proof.
  intros k c d i e j inside. cbn [at_device zb_h2].
  destruct k; cbn [zb_h2_a zb_h2_b]; ring.
Qed.

Lemma zb_h2_flows : flows zb_h2.
Proof.
  split; try (cbn; discriminate);
    intros; cbn [at_device lasts without_weights zb_h2]; unfold unit_times; settle.
Qed.

Lemma zb_h2_clear : table 3 (clear_at zb_h2) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma zb_h2_counts : table 3 (fun d i => peak_of zb_h2 d i =? zb_h2_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem zb_h2_valid : forall d m, (0 < d)%nat -> valid (family_model zb_h2 d m) (family_block zb_h2 d).
Proof. intros d m some. valid_by_table zb_h2 3 zb_h2_periodic zb_h2_clear zb_h2_flows some. Qed.

(** Every device holds 2d - 1. *)
Theorem zb_h2_peak : forall d i, peak_of zb_h2 d i = zb_h2_formula d i.
Proof.
  apply (peak_everywhere zb_h2 3 _ _ ltac:(lia) ltac:(reflexivity) zb_h2_periodic); [| apply zb_h2_counts].
  intros d i e j. unfold zb_h2_formula.
  replace (growth zb_h2 zb_h2_a) with 0 by reflexivity. replace (growth zb_h2 zb_h2_b) with 6 by reflexivity. lia.
Qed.

(** *** Linear-half: W takes as long as F and I together *)

Definition linear_half : family := without_weights Linear 4 long_weight (fun k _ d i =>
  match k with
  | F => i
  | _ => 2 * d - 1 - i
  end).

Definition linear_half_formula (d i : Z) : Z := (d - i) / 2 + 1.

Definition linear_half_a (k : kind) (c : nat) : Z :=
  match k with
  | F => 1
  | _ => -1
  end.

Definition linear_half_b (k : kind) (c : nat) : Z :=
  match k with
  | F => 0
  | _ => 2
  end.

Lemma linear_half_periodic : periodic Linear 4 4 (at_device linear_half) (of_input linear_half_a) (of_input linear_half_b).
Proof.
  apply without_weights_periodic; [lia |]. intros k c d i e j other inside.
  destruct k; cbn [linear_half_a linear_half_b]; try ring; contradiction.
Qed.

Lemma linear_half_flows : flows linear_half.
Proof.
  split; try (cbn; discriminate);
    try (intros c d i _ _; apply (weight_later Linear 4 long_weight (fun k c => at_device linear_half k c d i)));
    intros; cbn [at_device lasts without_weights linear_half]; unfold long_weight; settle.
Qed.

Lemma linear_half_clear : table 4 (clear_at linear_half) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma linear_half_counts : table 4 (fun d i => peak_of linear_half d i =? linear_half_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem linear_half_valid : forall d m, (0 < d)%nat -> valid (family_model linear_half d m) (family_block linear_half d).
Proof. intros d m some. valid_by_table linear_half 4 linear_half_periodic linear_half_clear linear_half_flows some. Qed.

(** Device i holds (d - i) div 2 + 1. *)
Theorem linear_half_peak : forall d i, peak_of linear_half d i = linear_half_formula d i.
Proof.
  apply (peak_everywhere linear_half 4 _ _ ltac:(lia) ltac:(reflexivity) linear_half_periodic); [| apply linear_half_counts].
  intros d i e j. unfold linear_half_formula. rewrite (div_far 2 (2 * e - 2 * j) (d - i) (d + 4 * e - (i + 4 * j))) by lia.
  replace (growth linear_half (of_input linear_half_a)) with (-2) by reflexivity.
  replace (growth linear_half (of_input linear_half_b)) with 2 by reflexivity. lia.
Qed.

(** *** 1F1B-V: the full backward is I and W right behind it *)

Definition v_start (d : Z) : Z := if d mod 3 =? 0 then 2 else 0.
Definition v_end (d : Z) : Z := if d mod 3 =? 0 then 2 else if d mod 3 =? 1 then 4 else 3.
Definition v_hops_down (d i : Z) : Z := if d mod 3 =? 2 then (i + 2) / 3 else i / 3.
Definition v_hops_up (d i : Z) : Z := if d mod 3 =? 2 then i / 3 else (i + 1) / 3.

Definition one_f_one_b_v : family := Family V 6 unit_times (fun k c d i =>
  match k, c with
  | F, O => i
  | F, _ => 2 * d + v_start d - 1 - i
  | I, O => 8 * d - v_end d - 2 * i - 3 * v_hops_up d i
  | I, _ => 2 * d + v_start d + 2 * i + 3 * v_hops_down d i
  | W, O => 8 * d - v_end d - 2 * i - 3 * v_hops_up d i + 1
  | W, _ => 2 * d + v_start d + 2 * i + 3 * v_hops_down d i + 1
  end).

Definition one_f_one_b_v_formula (d i : Z) : Z :=
  4 * d / 3 + (if d mod 3 =? 2 then 2 else 1) - (if i mod 3 =? (if d mod 3 =? 2 then 0 else 2) then 1 else 0).

Definition one_f_one_b_v_a (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 1
  | F, _ => -1
  | I, O => -3
  | I, _ => 3
  | W, O => -3
  | W, _ => 3
  end.

Definition one_f_one_b_v_b (k : kind) (c : nat) : Z :=
  match k, c with
  | F, O => 0
  | F, _ => 2
  | I, O => 8
  | I, _ => 2
  | W, O => 8
  | W, _ => 2
  end.

Lemma one_f_one_b_v_periodic : periodic V 6 6 (at_device one_f_one_b_v) one_f_one_b_v_a one_f_one_b_v_b.
Proof.
  intros k c d i e j inside. cbn [at_device one_f_one_b_v].
  assert (far : (d + 6 * e) mod 3 = d mod 3) by (apply (mod_far 3 (2 * e)); lia).
  assert (same_v_start : v_start (d + 6 * e) = v_start d) by (unfold v_start; rewrite far; reflexivity).
  assert (same_v_end : v_end (d + 6 * e) = v_end d) by (unfold v_end; rewrite far; reflexivity).
  assert (same_v_hops_down : v_hops_down (d + 6 * e) (i + 6 * j) = v_hops_down d i + 2 * j).
  { unfold v_hops_down. rewrite far. rewrite (div_far 3 (2 * j) (i + 2) (i + 6 * j + 2)), (div_far 3 (2 * j) i (i + 6 * j)) by lia.
    destruct (d mod 3 =? 2); ring. }
  assert (same_v_hops_up : v_hops_up (d + 6 * e) (i + 6 * j) = v_hops_up d i + 2 * j).
  { unfold v_hops_up. rewrite far. rewrite (div_far 3 (2 * j) (i + 1) (i + 6 * j + 1)), (div_far 3 (2 * j) i (i + 6 * j)) by lia.
    destruct (d mod 3 =? 2); ring. }

  destruct k, c as [| c]; cbn [one_f_one_b_v_a one_f_one_b_v_b];
    rewrite ?same_v_start, ?same_v_end, ?same_v_hops_down, ?same_v_hops_up; ring.
Qed.

Lemma one_f_one_b_v_flows : flows one_f_one_b_v.
Proof.
  split; try (cbn; discriminate);
    intros; cbn [at_device lasts without_weights one_f_one_b_v]; unfold unit_times, v_start, v_end, v_hops_down, v_hops_up; settle.
Qed.

Lemma one_f_one_b_v_clear : table 6 (clear_at one_f_one_b_v) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma one_f_one_b_v_counts : table 6 (fun d i => peak_of one_f_one_b_v d i =? one_f_one_b_v_formula d i) = true.
Proof. vm_compute. reflexivity. Qed.

(** The block is valid for every number of devices. *)
Theorem one_f_one_b_v_valid : forall d m, (0 < d)%nat -> valid (family_model one_f_one_b_v d m) (family_block one_f_one_b_v d).
Proof. intros d m some. valid_by_table one_f_one_b_v 6 one_f_one_b_v_periodic one_f_one_b_v_clear one_f_one_b_v_flows some. Qed.

(** Device i holds 4d div 3 + 1 (+ 1 where d mod 3 = 2), or one less on every third device. *)
Theorem one_f_one_b_v_peak : forall d i, peak_of one_f_one_b_v d i = one_f_one_b_v_formula d i.
Proof.
  apply (peak_everywhere one_f_one_b_v 6 _ _ ltac:(lia) ltac:(reflexivity) one_f_one_b_v_periodic); [| apply one_f_one_b_v_counts].
  intros d i e j. unfold one_f_one_b_v_formula. rewrite (div_far 3 (8 * e) (4 * d) (4 * (d + 6 * e))) by lia.
  rewrite (mod_far 3 (2 * e) d (d + 6 * e)), (mod_far 3 (2 * j) i (i + 6 * j)) by lia.
  replace (growth one_f_one_b_v one_f_one_b_v_a) with 0 by reflexivity.
  replace (growth one_f_one_b_v one_f_one_b_v_b) with 8 by reflexivity. lia.
Qed.
(** In 1F1B-V, the full backward is one pass: W is right behind its I, and the next I waits for both. *)
Theorem one_f_one_b_v_fused : forall d i, 0 <= i ->
  (forall c, at_device one_f_one_b_v W c d i = at_device one_f_one_b_v I c d i + 1) /\
  (i < d - 1 -> at_device one_f_one_b_v I 0 d (i + 1) + 2 <= at_device one_f_one_b_v I 0 d i) /\
  (i < d - 1 -> at_device one_f_one_b_v I 1 d i + 2 <= at_device one_f_one_b_v I 1 d (i + 1)) /\
  (1 <= d -> at_device one_f_one_b_v I 1 d (d - 1) + 2 <= at_device one_f_one_b_v I 0 d (d - 1)).
Proof.
  intros d i device. repeat split; intros; cbn [at_device one_f_one_b_v]; unfold v_start, v_end, v_hops_down, v_hops_up; settle.
Qed.

(** *** All of them *)

(** The work of a device for each microbatch. *)
Lemma family_work : forall f d m i, (i < d)%nat -> device_work (family_model f d m) i =
  Z.of_nat (chunks (layout_of f)) * (lasts f F + (lasts f I + lasts f W)) * Z.of_nat m.
Proof.
  intros f d m i inside. unfold device_work. rewrite (family_stages_on f d m i inside), sum_map.
  unfold stage_work. cbn [time family_model microbatches]. rewrite sum_constant, seq_length. reflexivity.
Qed.

(** For every d and every m, the block is valid, its repetition is a complete schedule that runs, no device has a bubble in the
    steady phase, and the memory of a device is what the formula says. *)
Definition sound (f : family) (formula : Z -> Z -> Z) : Prop := forall d m, (0 < d)%nat ->
  let M := family_model f d m in let B := family_block f d in
  valid M B /\ complete M (repeated M B) /\ runs M (repeated M B) (start_at B (least_shift M B)) /\
  forall i, (i < d)%nat ->
    device_work M i = interval B * Z.of_nat m /\
    steady_peak M B i = formula (Z.of_nat d) (Z.of_nat i) /\
    peak M (repeated M B i) <= formula (Z.of_nat d) (Z.of_nat i) /\
    (enough_microbatches M B i <= Z.of_nat m -> peak M (repeated M B i) = formula (Z.of_nat d) (Z.of_nat i)).

Lemma family_sound : forall f formula, (forall k, 0 < lasts f k) ->
  Z.of_nat (chunks (layout_of f)) * (lasts f F + (lasts f I + lasts f W)) = every f ->
  (forall d m, (0 < d)%nat -> valid (family_model f d m) (family_block f d)) ->
  (forall d i, peak_of f d i = formula d i) -> sound f formula.
Proof.
  intros f formula long full good exact d m some M B. specialize (good d m some).
  destruct (family_runs f d m some long good) as [whole run]. repeat (split; [assumption |]). intros i inside.
  destruct (family_holds f d m i inside long good) as [less same]. rewrite exact in less, same.
  unfold M, B. rewrite (family_work f d m i inside), full, (family_peak f d m i inside), exact. auto.
Qed.

Ltac sound_by valid_ peak_ := apply family_sound;
  [intros []; reflexivity | reflexivity | exact valid_ | exact peak_].

(** The families of the literature, and linear-half, for every number of devices and microbatches. *)
Theorem families_sound :
  sound v_min v_min_formula /\ sound v_half v_half_formula /\ sound v_zb v_zb_formula /\
  sound one_f_one_b one_f_one_b_formula /\ sound eager_one_f_one_b eager_one_f_one_b_formula /\
  sound zb_h1 zb_h1_formula /\ sound zb_h2 zb_h2_formula /\
  sound linear_half linear_half_formula /\ sound one_f_one_b_v one_f_one_b_v_formula.
Proof.
  split; [sound_by v_min_valid v_min_peak |].
  split; [sound_by v_half_valid v_half_peak |].
  split; [sound_by v_zb_valid v_zb_peak |].
  split; [sound_by one_f_one_b_valid one_f_one_b_peak |].
  split; [sound_by eager_one_f_one_b_valid eager_one_f_one_b_peak |].
  split; [sound_by zb_h1_valid zb_h1_peak |].
  split; [sound_by zb_h2_valid zb_h2_peak |].
  split; [sound_by linear_half_valid linear_half_peak |].
  sound_by one_f_one_b_v_valid one_f_one_b_v_peak.
Qed.

(** ** V-Min is memory-optimal *)

(** V placement, unit times, one unit of memory for each stage; messages may take any time. *)
Definition v_model (d m : nat) (late : nat -> Z) : model :=
  Model d (2 * d) m (device_in V d) (fun _ _ => 1) late (fun _ => 1) (fun _ => 1) (fun _ => None).

Section Optimal.
  Variables d m : nat.
  Variable late : nat -> Z.
  Hypothesis Late : forall s, 0 <= late s.
  Variable B : block.
  Hypothesis Good : valid (v_model d m late) B.
  Hypothesis Six : interval B = 6.

  Lemma F_path : forall n s, (s + n < 2 * d)%nat -> offset B F s + Z.of_nat n <= offset B F (s + n).
  Proof.
    intros n. induction n as [| n IH]; intros s inside; [rewrite Nat.add_0_r; lia |].
    specialize (IH s ltac:(lia)). pose proof (F_behind_F _ _ Good (s + n)%nat) as step.
    cbn [stages time latency v_model] in step. specialize (step ltac:(lia)). specialize (Late (s + n)%nat).
    replace (s + S n)%nat with (S (s + n)) by lia. lia.
  Qed.

  Lemma I_path : forall n s, (s + n < 2 * d)%nat -> offset B I (s + n) + Z.of_nat n <= offset B I s.
  Proof.
    intros n. induction n as [| n IH]; intros s inside; [rewrite Nat.add_0_r; lia |].
    specialize (IH s ltac:(lia)). pose proof (I_behind_I _ _ Good (s + n)%nat) as step.
    cbn [stages time latency v_model] in step. specialize (step ltac:(lia)). specialize (Late (s + n)%nat).
    replace (s + S n)%nat with (S (s + n)) by lia. lia.
  Qed.

  Variable i : nat.
  Hypothesis Device : (i < d)%nat.
  Let back := (2 * d - 1 - i)%nat.

  (** The times between the passes of a device, at the least. *)
  Lemma device_gaps :
    2 * Z.of_nat d - 1 - 2 * Z.of_nat i <= offset B F back - offset B F i /\
    2 * Z.of_nat i + 1 <= offset B I back - offset B F back /\
    2 * Z.of_nat d - 1 - 2 * Z.of_nat i <= offset B I i - offset B I back /\
    1 <= offset B W back - offset B I back /\ 1 <= offset B W i - offset B I i.
  Proof.
    pose proof (F_path (back - i) i ltac:(lia)) as down. pose proof (I_path (back - i) i ltac:(lia)) as up.
    pose proof (F_path i back ltac:(lia)) as to_last. pose proof (I_path i back ltac:(lia)) as from_last.
    pose proof (I_behind_F _ _ Good) as turn. pose proof (W_behind_I _ _ Good) as weights.
    cbn [stages time v_model] in turn, weights. pose proof (weights i ltac:(lia)). pose proof (weights back ltac:(lia)).
    replace (i + (back - i))%nat with back in * by lia. replace (back + i)%nat with (2 * d - 1)%nat in * by lia. lia.
  Qed.

  Lemma apart_here : forall k l s r, s = i \/ s = back -> r = i \/ r = back -> (k, s) <> (l, r) ->
    1 <= (offset B l r - offset B k s) mod 6.
  Proof.
    intros k l s r here there differ. rewrite <- Six. apply (no_overlap _ _ Good k s l r);
      cbn [stages device_of v_model device_in]; [lia | lia | | exact differ].
    destruct (Nat.ltb_spec s d), (Nat.ltb_spec r d); lia.
  Qed.

  (** What the device holds while its two F start. *)
  Lemma two_counts :
    let a := offset B F back - offset B F i in
    1 - a / 6 + (offset B W i - offset B F i) / 6 + (offset B W back - offset B F i) / 6 <= steady_peak (v_model d m late) B i /\
    2 + a / 6 + (offset B W i - offset B F back) / 6 + (offset B W back - offset B F back) / 6 <=
      steady_peak (v_model d m late) B i.
  Proof.
    intros a. assert (rounded : forall x y, ceiling (x - y) 6 = - ((y - x) / 6)).
    { intros x y. unfold ceiling. rewrite Z.opp_sub_distr, Z.add_comm, Z.add_opp_r. reflexivity. }
    assert (stages : stages_on (v_model d m late) i = [i; back]).
    { exact (family_stages_on (Family V 6 unit_times (fun _ _ _ _ => 0)) d m i Device). }
    assert (here : In i (stages_on (v_model d m late) i)) by (rewrite stages; cbn; auto).
    assert (there : In back (stages_on (v_model d m late) i)) by (rewrite stages; cbn; auto).
    pose proof (steady_above (v_model d m late) B i i here) as first.
    pose proof (steady_above (v_model d m late) B i back there) as second.
    assert (on : forall s, s = i \/ s = back -> device_of (v_model d m late) s = i).
    { intros s own. cbn [device_of v_model device_in]. destruct (Nat.ltb_spec s d); lia. }
    unfold live_at_start in first, second. rewrite (on i), stages in first by auto. rewrite (on back), stages in second by auto.
    cbn [sum] in first, second. unfold live_of_stage, copies_before in first, second. rewrite Six in first, second.
    cbn [activation retained v_model] in first, second. rewrite !rounded, !Z.sub_diag in first, second.
    change (0 / 6) with 0 in first, second. fold a in first.
    assert (turned : (offset B F i - offset B F back) / 6 = - (a / 6) - 1).
    { pose proof (apart_here F F i back ltac:(auto) ltac:(auto)) as apart. fold a in apart.
      assert (1 <= a mod 6) by (apply apart; intros same; inversion same; lia).
      pose proof (Z.div_mod a 6 ltac:(lia)). pose proof (Z.mod_pos_bound a 6 ltac:(lia)).
      symmetry. apply Z.div_unique with (6 - a mod 6); [left; lia |]. unfold a in *. lia. }
    rewrite turned in second. split; [eapply Z.le_trans; [| exact first] | eapply Z.le_trans; [| exact second]]; lia.
  Qed.
End Optimal.

Lemma floor_at_least : forall x c, 6 * c <= x -> c <= x / 6.
Proof. intros x c less. apply Z.div_le_lower_bound; lia. Qed.

Section Device0.
  Variables d m : nat.
  Variable late : nat -> Z.
  Hypothesis Late : forall s, 0 <= late s.
  Variable B : block.
  Hypothesis Good : valid (v_model d m late) B.
  Hypothesis Six : interval B = 6.

  (** If d mod 3 is 0 or 1, the first device holds that much. *)
  Lemma first_device_holds : forall e, 3 * e <= Z.of_nat d <= 3 * e + 1 -> (0 < d)%nat ->
    2 * e + 2 <= steady_peak (v_model d m late) B 0.
  Proof.
    intros e near some. pose proof (device_gaps d m late Late B Good 0 ltac:(lia)) as gaps.
    pose proof (two_counts d m late B Good Six 0 ltac:(lia)) as counts. cbn zeta in counts.
    set (back := (2 * d - 1 - 0)%nat) in *. destruct gaps as [down [turn [up [weight1 weight0]]]].
    assert (2 * e <= (offset B W 0 - offset B F 0) / 6) by (apply floor_at_least; lia).
    assert (e <= (offset B W back - offset B F 0) / 6) by (apply floor_at_least; lia).
    assert (e <= (offset B W 0 - offset B F back) / 6) by (apply floor_at_least; lia).
    assert (0 <= (offset B W back - offset B F back) / 6) by (apply floor_at_least; lia).
    lia.
  Qed.
End Device0.

(** Passes of the third device for d = 3e + 2, counted from its first F, less the intervals of e: F1 at a - 1, I1 at a + b + 4,
    I0 at a + b + c + 3, and W1 and W0 so long after I1 and I0. Could the device hold less than 2e + 4? *)
Definition holds_less (a b c w1 w0 : Z) : bool :=
  let f1 := a - 1 in let i1 := f1 + 5 + b in let i0 := i1 - 1 + c in let v1 := i1 + w1 in let v0 := i0 + w0 in
  (1 - f1 / 6 + v0 / 6 + v1 / 6 <=? 3) && (2 + f1 / 6 + (v0 - f1) / 6 + (v1 - f1) / 6 <=? 3) &&
  forallb (fun x => 1 <=? x mod 6)
    [f1; i1; i0; v1; v0; i1 - f1; i0 - f1; v1 - f1; v0 - f1; i0 - i1; v1 - i1; v0 - i1; v1 - i0; v0 - i0; v0 - v1].

Definition up_to (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat (n + 1))).

Lemma in_up_to : forall n x, 0 <= x <= n -> In x (up_to n).
Proof. intros n x inside. apply in_map_iff. exists (Z.to_nat x). split; [lia |]. apply in_seq. lia. Qed.

Lemma never_less :
  forallb (fun a => forallb (fun b => forallb (fun c => forallb (fun w1 => forallb (fun w0 =>
    negb (holds_less a b c (w1 + 1) (w0 + 1))) (up_to (13 - a - b - c))) (up_to 12)) (up_to (13 - a - b))) (up_to (13 - a)))
      (up_to 13)
  = true.
Proof. vm_compute. reflexivity. Qed.

Lemma never_less_says : forall a b c w1 w0, 0 <= a -> 0 <= b -> 0 <= c -> 0 <= w1 <= 12 -> 0 <= w0 -> a + b + c + w0 <= 13 ->
  holds_less a b c (w1 + 1) (w0 + 1) = false.
Proof.
  intros a b c w1 w0 pos_a pos_b pos_c few1 pos_w0 few. pose proof never_less as never. rewrite forallb_forall in never.
  specialize (never a (in_up_to 13 a ltac:(lia))). rewrite forallb_forall in never.
  specialize (never b (in_up_to (13 - a) b ltac:(lia))). rewrite forallb_forall in never.
  specialize (never c (in_up_to (13 - a - b) c ltac:(lia))). rewrite forallb_forall in never.
  specialize (never w1 (in_up_to 12 w1 few1)). rewrite forallb_forall in never.
  specialize (never w0 (in_up_to (13 - a - b - c) w0 ltac:(lia))). apply negb_true_iff. exact never.
Qed.

Section Device2.
  Variables d m : nat.
  Variable late : nat -> Z.
  Hypothesis Late : forall s, 0 <= late s.
  Variable B : block.
  Hypothesis Good : valid (v_model d m late) B.
  Hypothesis Six : interval B = 6.

  (** If d mod 3 is 2, the third device holds that much. *)
  Lemma third_device_holds : forall e, Z.of_nat d = 3 * e + 2 -> 1 <= e -> 2 * e + 4 <= steady_peak (v_model d m late) B 2.
  Proof.
    intros e near some. destruct (Z.le_gt_cases (2 * e + 4) (steady_peak (v_model d m late) B 2)) as [enough | less];
      [exact enough |].
    exfalso. assert (device : (2 < d)%nat) by lia. pose proof (device_gaps d m late Late B Good 2 device) as gaps.
    pose proof (two_counts d m late B Good Six 2 device) as counts. cbn zeta in counts.
    pose proof (apart_here d m late B Good Six 2 device) as apart. set (back := (2 * d - 1 - 2)%nat) in *.
    assert (other : back <> 2%nat) by lia. assert (own : 2%nat = 2%nat \/ 2%nat = back) by auto.
    assert (own_back : back = 2%nat \/ back = back) by auto.
    set (a := offset B F back - offset B F 2%nat - (6 * e - 1)). set (b := offset B I back - offset B F back - 5).
    set (c := offset B I 2%nat - offset B I back - (6 * e - 1)). set (w1 := offset B W back - offset B I back - 1).
    set (w0 := offset B W 2%nat - offset B I 2%nat - 1).
    assert (0 <= a /\ 0 <= b /\ 0 <= c /\ 0 <= w1 /\ 0 <= w0) as [pos_a [pos_b [pos_c [pos_w1 pos_w0]]]].
    { unfold a, b, c, w1, w0. lia. }
    rewrite (div_far 6 e (a - 1) (offset B F back - offset B F 2%nat)) in counts by (unfold a; lia).
    rewrite (div_far 6 (2 * e) (a + b + c + w0 + 4) (offset B W 2%nat - offset B F 2%nat)) in counts by (unfold a, b, c, w0; lia).
    rewrite (div_far 6 e (a + b + w1 + 5) (offset B W back - offset B F 2%nat)) in counts by (unfold a, b, w1; lia).
    rewrite (div_far 6 e (b + c + w0 + 5) (offset B W 2%nat - offset B F back)) in counts by (unfold b, c, w0; lia).
    rewrite (div_far 6 0 (b + w1 + 6) (offset B W back - offset B F back)) in counts by (unfold b, w1; lia).
    assert (0 <= (a + b + c + w0 + 4) / 6) by (apply floor_at_least; lia).
    assert (0 <= (a + b + w1 + 5) / 6) by (apply floor_at_least; lia).
    assert (0 <= (b + c + w0 + 5) / 6) by (apply floor_at_least; lia).
    assert (1 <= (b + w1 + 6) / 6) by (apply floor_at_least; lia).
    assert (few0 : a + b + c + w0 <= 13).
    { pose proof (Z.div_mod (a + b + c + w0 + 4) 6 ltac:(lia)). pose proof (Z.mod_pos_bound (a + b + c + w0 + 4) 6 ltac:(lia)).
      lia. }
    assert (few1 : a + b + w1 <= 12).
    { pose proof (Z.div_mod (a + b + w1 + 5) 6 ltac:(lia)). pose proof (Z.mod_pos_bound (a + b + w1 + 5) 6 ltac:(lia)). lia. }
    pose proof (never_less_says a b c w1 w0 pos_a pos_b pos_c ltac:(lia) pos_w0 few0) as never.
    apply not_true_iff_false in never. apply never. unfold holds_less. cbv zeta.
    assert (distinct : forall k l s r q x, s = 2%nat \/ s = back -> r = 2%nat \/ r = back -> (k, s) <> (l, r) ->
      offset B l r - offset B k s = x + q * 6 -> (1 <=? x mod 6) = true).
    { intros k l s r q x here there differ same. apply Z.leb_le. rewrite <- (mod_far 6 q x _ ltac:(lia) same).
      apply apart; assumption. }
    replace (a - 1 + 5 + b - 1 + c + (w0 + 1)) with (a + b + c + w0 + 4) by ring.
    replace (a - 1 + 5 + b + (w1 + 1)) with (a + b + w1 + 5) by ring.
    replace (a + b + c + w0 + 4 - (a - 1)) with (b + c + w0 + 5) by ring.
    replace (a + b + w1 + 5 - (a - 1)) with (b + w1 + 6) by ring.
    apply andb_true_intro. split; [apply andb_true_intro; split; apply Z.leb_le; lia |]. cbn [forallb].
    repeat (apply andb_true_intro; split); [.. | reflexivity].
    - apply (distinct F F 2%nat back e); [auto | auto | congruence | unfold a; lia].
    - apply (distinct F I 2%nat back e); [auto | auto | congruence | unfold a, b; lia].
    - apply (distinct F I 2%nat 2%nat (2 * e)); [auto | auto | congruence | unfold a, b, c; lia].
    - apply (distinct F W 2%nat back e); [auto | auto | congruence | unfold a, b, w1; lia].
    - apply (distinct F W 2%nat 2%nat (2 * e)); [auto | auto | congruence | unfold a, b, c, w0; lia].
    - apply (distinct F I back back 0); [auto | auto | congruence | unfold a, b; lia].
    - apply (distinct F I back 2%nat e); [auto | auto | congruence | unfold a, b, c; lia].
    - apply (distinct F W back back 0); [auto | auto | congruence | unfold b, w1; lia].
    - apply (distinct F W back 2%nat e); [auto | auto | congruence | unfold b, c, w0; lia].
    - apply (distinct I I back 2%nat e); [auto | auto | congruence | unfold a, b, c; lia].
    - apply (distinct I W back back 0); [auto | auto | congruence | unfold a, b, w1; lia].
    - apply (distinct I W back 2%nat e); [auto | auto | congruence | unfold a, b, c, w0; lia].
    - apply (distinct I W 2%nat back (- e)); [auto | auto | congruence | unfold a, b, c, w1; lia].
    - apply (distinct I W 2%nat 2%nat 0); [auto | auto | congruence | unfold a, b, c, w0; lia].
    - apply (distinct W W back 2%nat e); [auto | auto | congruence | unfold a, b, c, w0, w1; lia].
  Qed.
End Device2.

(** No block with V placement, unit times and T = 6 holds less than V-Min on every device: the first device holds as much as
    V-Min at its most, or, where d mod 3 = 2, the third one does. *)
Theorem v_min_optimal : forall d m late B, (3 <= d)%nat -> (forall s, 0 <= late s) -> valid (v_model d m late) B ->
  interval B = 6 ->
  2 * ((Z.of_nat d + 4) / 3) <= steady_peak (v_model d m late) B (if Z.of_nat d mod 3 =? 2 then 2 else 0).
Proof.
  intros d m late B some later good six. pose proof (Z.div_mod (Z.of_nat d) 3 ltac:(lia)) as split.
  pose proof (Z.mod_pos_bound (Z.of_nat d) 3 ltac:(lia)) as bound. set (e := Z.of_nat d / 3) in *.
  destruct (Z.eqb_spec (Z.of_nat d mod 3) 2) as [two | other].
  - replace ((Z.of_nat d + 4) / 3) with (e + 2) by (apply Z.div_unique with 0; lia).
    pose proof (third_device_holds d m late later B good six e ltac:(lia) ltac:(lia)). lia.
  - replace ((Z.of_nat d + 4) / 3) with (e + 1) by (apply Z.div_unique with (Z.of_nat d mod 3 + 1); lia).
    pose proof (first_device_holds d m late later B good six e ltac:(lia) ltac:(lia)). lia.
Qed.

(** Nor does any block with offsets in parts of a tick. *)
Theorem v_min_optimal_in_parts : forall d m late N B, (3 <= d)%nat -> (forall s, 0 <= late s) -> 0 < N ->
  valid (in_parts N (v_model d m late)) B -> interval B = N * 6 ->
  2 * ((Z.of_nat d + 4) / 3) <= steady_peak (in_parts N (v_model d m late)) B (if Z.of_nat d mod 3 =? 2 then 2 else 0).
Proof.
  intros d m late N B some later positive good six. assert (time : takes_time (v_model d m late)) by (intros k s _; reflexivity).
  rewrite <- (whole_ticks_peak (v_model d m late) B N 6 time positive six good).
  apply v_min_optimal; [exact some | exact later | apply (whole_ticks_valid _ B N 6); assumption |].
  apply whole_interval; assumption.
Qed.

(** V-Min needs no more on any device. *)
Theorem v_min_at_most : forall d i, peak_of v_min d i <= 2 * ((d + 4) / 3).
Proof. intros d i. rewrite v_min_peak. unfold v_min_formula. destruct ((d mod 3 =? 2) && (i mod 3 =? 0)); lia. Qed.

(** With two devices it is otherwise: this block holds 3 on both, where V-Min holds 4. *)
Definition two_devices : block := Block 6 (fun k s =>
  nth s (match k with F => [0; 4; 8; 9] | I => [13; 12; 11; 10] | W => [14; 15; 13; 11] end) 0).

Example two_devices_hold_less :
  let M := v_model 2 4 (fun _ => 0) in
  is_valid M two_devices = true /\ steady_peak M two_devices 0 = 3 /\ steady_peak M two_devices 1 = 3 /\
  v_min_formula 2 1 = 4.
Proof. vm_compute. auto. Qed.

(** ** 1F1B is memory-optimal on every device *)

(** Let every two neighbouring devices work longer on F and I of a microbatch than the interval takes. Then device i holds the
    activations of d - i microbatches at least, whatever the times of W and of messages are. A block without a bubble, with the
    same times on all devices, has an interval as long as F, I and W; so the condition then says that W takes less time than
    F and I together. *)
Theorem one_f_one_b_optimal : forall M B i, well_formed M -> takes_time M -> valid M B ->
  (forall s, (s < stages M)%nat -> device_of M s = s) ->
  (forall s, (S s < stages M)%nat -> interval B < time M F s + time M I s + (time M F (S s) + time M I (S s))) ->
  (i < stages M)%nat -> retained M i = activation M i ->
  activation M i * (Z.of_nat (stages M) - Z.of_nat i) <= steady_peak M B i.
Proof.
  intros M B i well lasting good linear busy inside kept. pose proof (interval_positive _ _ good) as positive.
  set (T := interval B) in *.
  assert (waits : forall n s, (s + n = stages M - 1)%nat -> (s < stages M)%nat ->
    Z.of_nat n * T + time M F s <= offset B I s - offset B F s).
  { intros n. induction n as [| n IH]; intros s away here.
    - pose proof (I_behind_F _ _ good). replace s with (stages M - 1)%nat by lia. lia.
    - assert (next : (S s < stages M)%nat) by lia. specialize (IH (S s) ltac:(lia) next). specialize (busy s next).
      pose proof (F_behind_F _ _ good s next). pose proof (I_behind_I _ _ good s next).
      assert (0 <= latency M s) by apply well.
      pose proof (no_overlap _ _ good F s I s here here eq_refl ltac:(congruence)) as ahead.
      pose proof (no_overlap _ _ good I s F s here here eq_refl ltac:(congruence)) as behind. fold T in ahead, behind.
      set (L := offset B I s - offset B F s) in *. pose proof (Z.div_mod L T ltac:(lia)) as split.
      pose proof (Z.mod_pos_bound L T positive) as bound. pose proof (lasting F s here) as longer.
      replace (offset B F s - offset B I s) with (- L) in behind by (unfold L; ring).
      rewrite Z.mod_opp_l_nz in behind by lia.
      assert (Z.of_nat n * T + T - time M I s < L) by (unfold L; lia).
      assert (Z.of_nat n < L / T) by nia. assert (Z.of_nat (S n) <= L / T) by lia.
      assert (Z.of_nat (S n) * T <= T * (L / T)) by nia. lia. }
  specialize (waits (stages M - 1 - i)%nat i ltac:(lia) inside). pose proof (W_behind_I _ _ good i inside) as weight.
  assert (own : stages_on M i = [i]).
  { unfold stages_on. replace (stages M) with (i + (1 + (stages M - i - 1)))%nat by lia. rewrite !seq_app, !filter_app.
    cbn [seq filter plus]. rewrite (linear i inside), Nat.eqb_refl.
    rewrite !filter_none; [reflexivity | |]; intros s listed; apply in_seq in listed; apply Nat.eqb_neq; rewrite linear; lia. }
  eapply Z.le_trans; [| apply (steady_above M B i i); rewrite own; left; reflexivity].
  unfold live_at_start. rewrite (linear i inside), own. cbn [sum]. unfold live_of_stage, copies_before. fold T.
  rewrite kept, !Z.sub_diag.
  assert (rounded : ceiling (offset B F i - offset B W i) T = - ((offset B W i - offset B F i) / T)).
  { unfold ceiling. rewrite Z.opp_sub_distr, Z.add_comm, Z.add_opp_r. reflexivity. }
  rewrite rounded. replace (ceiling 0 T) with 0 by (unfold ceiling; rewrite Z.div_0_l by lia; reflexivity).
  assert (Z.of_nat (stages M) - Z.of_nat i - 1 <= (offset B W i - offset B F i) / T).
  { apply Z.div_le_lower_bound; [exact positive |]. rewrite Z.mul_comm.
    replace (Z.of_nat (stages M) - Z.of_nat i - 1) with (Z.of_nat (stages M - 1 - i)) by lia.
    pose proof (lasting I i inside). pose proof (lasting F i inside). lia. }
  assert (0 <= activation M i) by (pose proof (amounts M well i); lia). nia.
Qed.
