(** * Families: published blocks, valid for every number of devices

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

    What is not proved: anything about the looped families (interleaved 1F1B), about v-min-long-input, and about other durations
    than those of the families. [Periodic] has the method, and [OptimalFamilies] proves that V-Min and 1F1B
    need the least memory. *)

From Coq Require Import ZArith List Lia Bool.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count Bubbleproof.Blocks Bubbleproof.Periodic.
Import ListNotations.
Open Scope Z_scope.

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
