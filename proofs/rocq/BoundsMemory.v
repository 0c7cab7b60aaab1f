(** * BoundsMemory: bounds that follow from the capacity of a device

    A device with little memory must wait until what it holds is free again. This file proves the two bounds of
    docs/bounds.md that say for how long, for every execution of every complete schedule within the capacities.

    - _Area_: each microbatch holds its memory at least as long as its longest chain takes from F to W. All of it together fits
      into the capacity times the span of the device.
    - _Turnover_: the forward of the highest stage of a device waits until enough of what is out has come back. So it starts at
      least P after the forward of the same stage that comes q microbatches before it.

    The functions compute what the checker of certificates computes, and a schedule that beats one of these figures does not
    exist. The proof of the turnover bound numbers the microbatches by the forwards of the highest stage, in the order of the
    device, and lets all other passes run in any order. So neither theorem assumes that microbatches are run first in, first
    out; where they are, [turnover_in_order] is the statement of docs/bounds.md. [longer_turn_is_false] shows that a longer P
    would be wrong. Recomputation, offloading and pairs are not covered.

    [Occupancy] has the functions, and what every execution respects on one device; [BoundsMemoryExamples] has the example. *)

From Coq Require Import ZArith List Lia Bool Permutation Sorted.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Occupancy.
Import ListNotations.
Open Scope Z_scope.

(** ** The bounds *)

Section Bounds.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Fits : within_capacity M S.
  Hypothesis Runs : runs M S start.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.
  Variable d : nat.
  Hypothesis In_range : (d < devices M)%nat.

  Lemma round_up_le : forall a b x, 0 < b -> a <= b * x -> round_up a b <= x.
  Proof.
    intros a b x positive below. unfold round_up.
    assert (- x <= - a / b) by (apply Z.div_le_lower_bound; [exact positive |]; rewrite Z.mul_opp_r; lia). lia.
  Qed.

  Lemma some_pass : stages_of M d <> [] -> exists p rest, S d = p :: rest.
  Proof.
    intros some. destruct (S d) as [| p rest] eqn:shape; [exfalso | eauto].
    assert (inside : In (Pass F (highest (stages_of M d)) 0) (S d)).
    { apply (on_device M S Complete d In_range). split; [apply highest_inside; exact some | exact Some_microbatch]. }
    rewrite shape in inside. destruct inside.
  Qed.

  Lemma head_first : forall p rest, S d = p :: rest -> forall r, In r (S d) -> start p <= start r.
  Proof.
    intros p rest shape r inside. rewrite shape in inside. destruct inside as [same | later]; [subst; lia |].
    pose proof (later_starts M S start Well Runs d In_range [] p rest r shape later).
    pose proof (time_nonneg M Well (kind_of p) (stage_of p)). unfold time_of in *. lia.
  Qed.

  (** Each pass of the device comes after the forward of its stage, and so after the head of the lowest stage. *)
  Lemma after_lowest_head : forall p, In p (S d) -> forward_head M (lowest (stages_of M d)) <= start p.
  Proof.
    intros [k s m] inside. apply (on_device M S Complete d In_range) in inside. destruct inside as [in_s in_m].
    pose proof (forward_head_grows M Well _ _ (lowest_below _ s in_s)) as head.
    apply (stages_of_spec M d) in in_s. destruct in_s as [in_s _].
    pose proof (forward_start M S start Well Runs s m in_m in_s) as first.
    pose proof (input_after_forward M S start Well Runs s s m in_m in_s in_s) as second.
    pose proof (weight_after_input M S start Well Runs s m in_m in_s) as third.
    pose proof (forward_before_input M Well s in_s). pose proof (time_nonneg M Well F s). pose proof (time_nonneg M Well I s).
    destruct k; lia.
  Qed.

  (** *** Area *)

  (** In the long run, a microbatch takes the area over the capacity. *)
  Theorem area_pace : forall limit x, capacity M d = Some limit -> 0 <= limit -> stages_of M d <> [] ->
    span_at_most M S start d x -> Z.of_nat (microbatches M) * area M d <= limit * x.
  Proof.
    intros limit x known room some span. destruct (some_pass some) as [p [rest shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (span p p in_p in_p) as own. pose proof (time_nonneg M Well (kind_of p) (stage_of p)).
    replace (limit * x) with (limit * ((start p + x) - start p)) by ring.
    apply (areas_fit M S start Well Complete Fits Runs d In_range limit known (start p) (start p + x) room).
    - unfold time_of in own. lia.
    - intros r in_r. split; [apply (head_first p rest shape r in_r) |]. specialize (span p r in_p in_r). lia.
  Qed.

  (** The passes of a device with capacity C have a span of at least m*A/C. *)
  Theorem area_bounds_span : forall bound x, area_bound M d device_span = Some bound ->
    span_at_most M S start d x -> bound <= x.
  Proof.
    intros bound x computed span. unfold area_bound in computed.
    destruct (capacity M d) as [limit |] eqn:known; [| discriminate].
    destruct (stages_of M d) as [| s rest] eqn:list; [discriminate |].
    destruct (0 <? limit) eqn:positive; [| discriminate]. apply Z.ltb_lt in positive. injection computed as <-. cbn [Z.add].
    apply round_up_le; [exact positive |]. apply area_pace; [exact known | lia | rewrite list; discriminate | exact span].
  Qed.

  (** The makespan is at least the head of the lowest stage of the device and m*A/C. *)
  Theorem area_bounds_makespan : forall bound x, area_bound M d makespan = Some bound ->
    makespan_at_most M S start x -> bound <= x.
  Proof.
    intros bound x computed ends. unfold area_bound in computed.
    destruct (capacity M d) as [limit |] eqn:known; [| discriminate].
    destruct (stages_of M d) as [| s rest] eqn:list; [discriminate |].
    destruct (0 <? limit) eqn:positive; [| discriminate]. apply Z.ltb_lt in positive.
    assert (same : forward_head M (lowest (s :: rest)) + round_up (Z.of_nat (microbatches M) * area M d) limit = bound)
      by congruence.
    rewrite <- same, <- list. assert (some : stages_of M d <> []) by (rewrite list; discriminate).
    destruct (some_pass some) as [p [later shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (after_lowest_head p in_p) as head. pose proof (ends d In_range p in_p) as own. cbn in own.
    pose proof (time_nonneg M Well (kind_of p) (stage_of p)). unfold time_of in own.
    assert (span : round_up (Z.of_nat (microbatches M) * area M d) limit <= x - forward_head M (lowest (stages_of M d))); [| lia].
    apply round_up_le; [exact positive |].
    apply (areas_fit M S start Well Complete Fits Runs d In_range limit known); [lia | lia |].
    intros r in_r. split; [apply after_lowest_head; exact in_r | apply (ends d In_range r in_r)].
  Qed.

  (** *** Turnover *)

  Variable e : kind.
  Hypothesis Backward : e <> F.

  Lemma turn_facts : forall q P, turn M d e = Some (q, P) ->
    exists limit, capacity M d = Some limit /\ stages_of M d <> [] /\ 0 < least (held_until M e) (stages_of M d) /\ 0 <= limit /\
    q = limit / least (held_until M e) (stages_of M d) / Z.of_nat (length (stages_of M d)) /\ 0 < q /\
    P = time M F (highest (stages_of M d)) + Z.max
      (lag M (highest (stages_of M d)) (highest (stages_of M d))
       + least (backward_time M e) (stages_of M d)
         * (Z.of_nat (length (stages_of M d))
            - (limit / least (held_until M e) (stages_of M d)) mod Z.of_nat (length (stages_of M d)))
       + least (time M F) (stages_of M d)
         * (Z.of_nat (length (stages_of M d))
            - (limit / least (held_until M e) (stages_of M d)) mod Z.of_nat (length (stages_of M d)) - 1))
      (least (fun to => lag M (highest (stages_of M d)) to + backward_time M e to) (stages_of M d)).
  Proof.
    intros q P computed. unfold turn in computed. destruct (capacity M d) as [limit |]; [| discriminate].
    destruct (0 <? least (held_until M e) (stages_of M d)) eqn:unit; [| discriminate]. apply Z.ltb_lt in unit.
    destruct (0 <? limit / least (held_until M e) (stages_of M d) / Z.of_nat (length (stages_of M d))) eqn:fits; [| discriminate].
    apply Z.ltb_lt in fits. injection computed as <- <-. exists limit. split; [reflexivity |].
    assert (some : stages_of M d <> []) by (intros none; rewrite none in unit; cbn in unit; lia).
    split; [exact some |]. split; [exact unit |]. split; [| auto].
    destruct (Z_lt_le_dec limit 0) as [negative | room]; [exfalso | exact room].
    assert (chunks : 0 < Z.of_nat (length (stages_of M d))) by (destruct (stages_of M d); [congruence | cbn; lia]).
    assert (none : limit / least (held_until M e) (stages_of M d) < 0) by (apply Z.div_lt_upper_bound; lia).
    assert (limit / least (held_until M e) (stages_of M d) / Z.of_nat (length (stages_of M d)) < 0)
      by (apply Z.div_lt_upper_bound; lia).
    lia.
  Qed.

  (** The forward of the highest stage starts at least P after the one that comes q forwards of this stage before it. *)
  Theorem turnover : forall q P, turn M d e = Some (q, P) -> forall A a B b R,
    S d = A ++ Pass F (highest (stages_of M d)) a :: B ++ Pass F (highest (stages_of M d)) b :: R ->
    tops M d (Pass F (highest (stages_of M d)) a :: B) = q ->
    start (Pass F (highest (stages_of M d)) a) + P <= start (Pass F (highest (stages_of M d)) b).
  Proof.
    intros q P computed A a B b R shape apart. destruct (turn_facts q P computed)
      as [limit [known [some [unit [room [held [positive shape_P]]]]]]]. rewrite shape_P. rewrite held in apart.
    exact (turn_waits M S start Well Complete Fits Runs d In_range limit known e Backward some unit room A B R a b shape apart).
  Qed.

  (** Each forward of the highest stage comes before those of later microbatches, as in a schedule that is first in, first out. *)
  Definition forwards_in_order : Prop :=
    forall m n, (m < n)%nat -> (n < microbatches M)%nat -> exists b c r,
      S d = b ++ Pass F (highest (stages_of M d)) m :: c ++ Pass F (highest (stages_of M d)) n :: r.

  Lemma count_below : forall a n, (a <= n)%nat -> sum (fun m => if (m <? a)%nat then 1 else 0) (seq 0 n) = Z.of_nat a.
  Proof.
    intros a n. induction n as [| n IH]; intros below; [replace a with O by lia; reflexivity |].
    rewrite seq_S, sum_app. cbn [sum Nat.add].
    destruct (Nat.eq_dec a (Datatypes.S n)) as [-> | other].
    - rewrite (proj2 (Nat.ltb_lt n (Datatypes.S n))) by lia.
      rewrite (sum_ext _ (fun _ : nat => 1)); [rewrite sum_constant, seq_length; lia |].
      intros m in_m. apply in_seq in in_m. rewrite (proj2 (Nat.ltb_lt m (Datatypes.S n))); lia.
    - rewrite (proj2 (Nat.ltb_ge n a)) by lia. rewrite IH; lia.
  Qed.

  Lemma tops_in_order : stages_of M d <> [] -> forwards_in_order -> forall A a R,
    S d = A ++ Pass F (highest (stages_of M d)) a :: R -> tops M d A = Z.of_nat a.
  Proof.
    intros some in_order A a R shape. set (h := highest (stages_of M d)) in *.
    assert (in_a : (a < microbatches M)%nat).
    { apply (on_device M S Complete d In_range F h a). rewrite shape, in_app_iff. right. left. reflexivity. }
    rewrite (tops_sum M S Complete d In_range A (part_prefix M S Complete d In_range A _ shape)). fold h.
    rewrite <- (count_below a (microbatches M)) by lia. apply sum_ext. intros m in_m. apply in_seq in in_m.
    destruct Runs as [_ [place placed]].
    pose proof (order_placed M S d In_range place placed) as before.
    assert (precede : forall m n, (m < n)%nat -> (n < microbatches M)%nat -> (place (Pass F h m) < place (Pass F h n))%nat).
    { intros i j below in_j. destruct (in_order i j below in_j) as [b [c [r split]]].
      apply (before (b ++ [Pass F h i]) (c ++ Pass F h j :: r)).
      - rewrite split, <- app_assoc. reflexivity.
      - apply in_app_iff. right. left. reflexivity.
      - apply in_app_iff. right. left. reflexivity. }
    unfold has. destruct (in_dec pass_dec (Pass F h m) A) as [inside | outside].
    - pose proof (before A _ shape (Pass F h m) (Pass F h a) inside (or_introl eq_refl)) as first.
      rewrite (proj2 (Nat.ltb_lt m a)); [reflexivity |].
      destruct (Nat.lt_trichotomy m a) as [below | [same | above]]; [exact below | subst; lia |].
      pose proof (precede a m above ltac:(lia)). lia.
    - rewrite (proj2 (Nat.ltb_ge m a)); [reflexivity |].
      destruct (Nat.le_gt_cases a m) as [above | below]; [exact above | exfalso].
      pose proof (precede m a below in_a) as first.
      assert (there : In (Pass F h m) (S d)).
      { apply (on_device M S Complete d In_range). split; [apply highest_inside; exact some | lia]. }
      rewrite shape, in_app_iff in there. destruct there as [inside | [same | later]]; [contradiction | |].
      + rewrite same in first. lia.
      + pose proof (before (A ++ [Pass F h a]) R ltac:(rewrite <- app_assoc; exact shape) (Pass F h a) (Pass F h m)
          ltac:(apply in_app_iff; right; left; reflexivity) later). lia.
  Qed.

  (** Where these forwards run in the order of their microbatches, that of k + q starts at least P after that of k. *)
  Theorem turnover_in_order : forall q P, turn M d e = Some (q, P) -> forwards_in_order ->
    forall k n, Z.of_nat n = Z.of_nat k + q -> (n < microbatches M)%nat ->
    start (Pass F (highest (stages_of M d)) k) + P <= start (Pass F (highest (stages_of M d)) n).
  Proof.
    intros q P computed in_order k n apart in_n. destruct (turn_facts q P computed) as [_ [_ [some [_ [_ [_ [positive _]]]]]]].
    set (h := highest (stages_of M d)) in *. destruct (in_order k n ltac:(lia) in_n) as [A [B [R shape]]]. fold h in shape.
    apply (turnover q P computed A k B n R shape). fold h.
    pose proof (tops_in_order some in_order A k _ shape) as one.
    assert (shape' : S d = (A ++ Pass F h k :: B) ++ Pass F h n :: R) by (rewrite <- app_assoc; exact shape).
    pose proof (tops_in_order some in_order _ n R shape') as two. rewrite tops_app in two. lia.
  Qed.

  (** The last of the forwards of the highest stage starts that late. *)
  Lemma last_forward : forall q P, turn M d e = Some (q, P) ->
    0 < q /\ 0 <= P /\ stages_of M d <> [] /\ exists a, (a < microbatches M)%nat /\
    forall base, (forall m, (m < microbatches M)%nat -> base <= start (Pass F (highest (stages_of M d)) m)) ->
    base + P * ((Z.of_nat (microbatches M) - 1) / q)
    + time M F (highest (stages_of M d)) * ((Z.of_nat (microbatches M) - 1) mod q)
    <= start (Pass F (highest (stages_of M d)) a).
  Proof.
    intros q P computed. destruct (turn_facts q P computed)
      as [limit [known [some [unit [room [held [positive shape_P]]]]]]]. rewrite held in positive.
    split; [rewrite held; exact positive |].
    split; [rewrite shape_P; apply (turn_nonneg M Well d In_range limit e Backward some); assumption |].
    split; [exact some |]. rewrite shape_P, held.
    exact (last_top M S start Well Complete Fits Runs d In_range limit known e Backward some unit room positive Some_microbatch).
  Qed.

  (** No schedule has a makespan below the bound. *)
  Theorem turnover_bounds_makespan : forall bound x, turnover_bound M d makespan e = Some bound ->
    makespan_at_most M S start x -> bound <= x.
  Proof.
    intros bound x computed ends. unfold turnover_bound in computed.
    destruct (turn M d e) as [[q P] |] eqn:found; [| discriminate]. injection computed as <-.
    destruct (last_forward q P found) as [positive [_ [some [a [in_a last]]]]].
    pose proof (highest_inside _ some) as top. unfold turnover_value.
    set (h := highest (stages_of M d)) in *. apply (stages_of_spec M d) in top. destruct top as [in_h _].
    specialize (last (forward_head M h) (fun m in_m => forward_start M S start Well Runs h m in_m in_h)).
    assert (tail : most (fun to => input_head M to + (time M I to + time M W to)) (seq 0 (stages M))
                   <= x - start (Pass F h a) + forward_head M h).
    { assert (each : forall s, (s < stages M)%nat ->
        input_head M s + (time M I s + time M W s) <= x - start (Pass F h a) + forward_head M h).
      { intros s in_s. pose proof (input_after_forward M S start Well Runs h s a in_a in_h in_s).
        pose proof (weight_after_input M S start Well Runs s a in_a in_s).
        destruct Well as [_ [there _]]. specialize (there s in_s).
        assert (inside : In (Pass W s a) (S (device_of M s))).
        { apply (Complete _ there). split; [split; assumption | reflexivity]. }
        pose proof (ends _ there _ inside) as ended. cbn in ended. unfold time_of in ended. cbn in ended. lia. }
      apply most_le; [| intros s in_s; apply each; apply in_seq in in_s; lia].
      pose proof (each h in_h). pose proof (forward_before_input M Well h in_h).
      pose proof (forward_head_grows M Well 0 h ltac:(lia)) as zero.
      cbn [forward_head] in zero. pose proof (time_nonneg M Well F h). pose proof (time_nonneg M Well I h).
      pose proof (time_nonneg M Well W h). lia. }
    unfold forward_tail. rewrite Z.mul_add_distr_l. lia.
  Qed.

  (** The span of the device is no less than the bound. *)
  Theorem turnover_bounds_span : forall bound x, turnover_bound M d device_span e = Some bound ->
    span_at_most M S start d x -> bound <= x.
  Proof.
    intros bound x computed span. unfold turnover_bound in computed.
    destruct (turn M d e) as [[q P] |] eqn:found; [| discriminate]. injection computed as <-.
    destruct (last_forward q P found) as [positive [_ [some [a [in_a last]]]]].
    pose proof (highest_inside _ some) as top. pose proof (lowest_inside _ some) as bottom. unfold turnover_value.
    destruct (some_pass some) as [p [rest shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (lowest_below _ _ top) as between.
    set (h := highest (stages_of M d)) in *. set (b := lowest (stages_of M d)) in *.
    pose proof (proj1 (stages_of_spec M d h) top) as [in_h _].
    specialize (last (start p + (forward_head M h - forward_head M b))).
    assert (first : forall m, (m < microbatches M)%nat ->
      start p + (forward_head M h - forward_head M b) <= start (Pass F h m)).
    { intros m in_m.
      assert (inside : In (Pass F b m) (S d)) by (apply (on_device M S Complete d In_range); auto).
      pose proof (head_first p rest shape _ inside).
      pose proof (forward_after_forward M S start Well Runs b m (h - b) in_m ltac:(lia)) as chain.
      replace (b + (h - b))%nat with h in chain by lia. lia. }
    specialize (last first).
    assert (tail : most (forward_to_weight M h) (stages_of M d) <= x + start p - start (Pass F h a) - time M F h).
    { assert (each : forall s, In s (stages_of M d) ->
        forward_to_weight M h s <= x + start p - start (Pass F h a) - time M F h).
      { intros s in_l. assert (inside : In (Pass W s a) (S d)) by (apply (on_device M S Complete d In_range); auto).
        pose proof (proj1 (stages_of_spec M d s) in_l) as [in_s _].
        pose proof (input_after_forward M S start Well Runs h s a in_a in_h in_s).
        pose proof (weight_after_input M S start Well Runs s a in_a in_s).
        pose proof (span p _ in_p inside) as whole. unfold time_of in whole. cbn in whole. unfold forward_to_weight. lia. }
      apply most_le; [| exact each].
      pose proof (each h top) as own. pose proof (forward_before_input M Well h in_h). unfold forward_to_weight in own.
      pose proof (time_nonneg M Well I h). pose proof (time_nonneg M Well W h). lia. }
    rewrite Z.mul_add_distr_l. lia.
  Qed.

  (** In the long run, q microbatches take P. *)
  Theorem turnover_pace : forall q P x, turn M d e = Some (q, P) -> span_at_most M S start d x ->
    (Z.of_nat (microbatches M) - q) * P <= q * x.
  Proof.
    intros q P x found span. destruct (last_forward q P found) as [positive [nonneg [some [a [in_a last]]]]].
    destruct (some_pass some) as [p [rest shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (highest_inside _ some) as top. set (h := highest (stages_of M d)) in *.
    assert (inside : forall m, (m < microbatches M)%nat -> In (Pass F h m) (S d))
      by (intros m in_m; apply (on_device M S Complete d In_range); auto).
    specialize (last (start p) (fun m in_m => head_first p rest shape _ (inside m in_m))).
    pose proof (span p _ in_p (inside a in_a)) as whole. unfold time_of in whole. cbn in whole.
    set (n := Z.of_nat (microbatches M) - 1) in *.
    pose proof (Z.div_mod n q ltac:(lia)). pose proof (Z.mod_pos_bound n q positive). pose proof (time_nonneg M Well F h).
    pose proof (Z.mul_nonneg_nonneg (time M F h) (n mod q) ltac:(lia) ltac:(lia)).
    transitivity (q * (P * (n / q))); [| apply Z.mul_le_mono_nonneg_l; lia].
    replace (q * (P * (n / q))) with (q * (n / q) * P) by ring. apply Z.mul_le_mono_nonneg_r; lia.
  Qed.
End Bounds.
