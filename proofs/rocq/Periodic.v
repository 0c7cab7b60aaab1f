(** * Periodic: blocks whose offsets are formulas in the device and the number of devices

    What a family of blocks is ([family]), when W runs where it is left out, and why it suffices to check finitely many cases:
    with P more devices, or on the P-th next device, every offset moves by a multiple of the interval ([periodic]), so that a
    table of residues decides whether all blocks are valid ([clear_everywhere]) and what each device holds ([peak_everywhere]).
    *)

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
