(** * OptimalFamilies: V-Min and 1F1B need the least memory in their place

    - With V placement, unit times and T = 6, every block on three devices or more needs as much memory as V-Min on some device,
      whatever its offsets are, fractions of a tick included ([v_min_optimal], [v_min_optimal_in_parts]). For d mod 3 = 2 it is
      the third device, otherwise the first one: no other device needs to be looked at. With two devices the claim is false
      ([two_devices_hold_less]).
    - With linear placement, every block in which each two neighbouring devices work longer on F and I of a microbatch than the
      interval takes needs as much memory as 1F1B, on every device at once ([one_f_one_b_optimal]). This asks neither that the
      devices are alike, nor that the block has no bubble. Linear-half shows that the condition is needed. *)

From Coq Require Import ZArith List Lia Bool.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count Bubbleproof.Blocks Bubbleproof.Periodic.
Require Import Bubbleproof.Families.
Import ListNotations.
Open Scope Z_scope.

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
