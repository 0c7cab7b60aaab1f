(** * Repeats: from q repetitions to q + c

    The _state_ at a cut of a growing schedule is when each device is free, and when the messages are there that passes behind
    the cut need. If the state behind r + c repetitions is that behind r, only L later ([repeats]), an execution as soon as
    possible of q repetitions is extended to one of q + c, by cutting it behind r and moving what follows by L
    ([extended_as_soon_as_possible]). Each device then ends L later ([extended_ends]). Which cool-down follows does not matter
    ([repeats_with_every_tail]). *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Require Import Bubbleproof.Growing Bubbleproof.Earliest.
Import ListNotations.
Open Scope Z_scope.

(** ** From q repetitions to q + c *)

(** The same with another cool-down. *)
Definition with_tail (G : growing) (b : nat) (l : nat -> list pass) : growing := Growing (period G) b (head G) (body G) l.

(** The same state at cut r and, L later, at cut r + c: when each device is free; and for every pass before the cut that one
    behind it needs, when its message is there, or when the device that needs it is free if that is later. *)
Record repeats (M : model) (G : growing) (start : pass -> Z) (r c : nat) (L : Z) : Prop := {
  not_sooner : 0 <= L;
  free_repeats : forall d, (d < devices M)%nat -> last_end M start (front G d (r + c)) = last_end M start (front G d r) + L;
  pending_repeats : forall m u lag v, pass_needs (resized M m) u lag v -> before_cut M G r u -> ~ before_cut M G r v ->
    Z.max (start (later (c * period G) u) + time_of M u + lag) (last_end M start (front G (device_of M (stage_of v)) (r + c))) =
    Z.max (start u + time_of M u + lag) (last_end M start (front G (device_of M (stage_of v)) r)) + L
}.

Section Step.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Hypothesis Whole : forall q, complete (model_at M G q) (order G q).
  Notation K := (period G).
  Notation device p := (device_of M (stage_of p)).

  Definition waits_at (q : nat) := waits (problem_of (model_at M G q)) (orders_of (model_at M G q) (order G q)).
  Definition sequence_at (q : nat) := sequence (problem_of (model_at M G q)) (orders_of (model_at M G q) (order G q)).

  Lemma well_at : forall q, well_formed (model_at M G q).
  Proof. intros q. apply resized_well. exact Well. Qed.

  Lemma device_inside : forall p, (stage_of p < stages M)%nat -> (device p < devices M)%nat.
  Proof. intros p inside. destruct Well as [_ [owners _]]. apply owners. exact inside. Qed.

  Lemma in_order : forall q p, exists_in (model_at M G q) p -> In p (order G q (device p)).
  Proof. intros q p there. apply (Whole q (device p) (device_inside p (proj1 there))). auto. Qed.

  Lemma order_is : forall d k q, (k <= q)%nat -> order G q d = front G d k ++ map (later (k * K)) (back G d (q - k)).
  Proof. intros d k q less. rewrite <- order_cut. f_equal. lia. Qed.

  Lemma in_front : forall d k q p, (d < devices M)%nat -> (k <= q)%nat -> In p (order G q d) -> before_cut M G k p ->
    In p (front G d k).
  Proof.
    intros d k q p inside less there cut. rewrite (order_is d k q less), in_app_iff in there.
    destruct there as [there | there]; [exact there |].
    apply (back_behind M G Repeatable) in there; [contradiction | exact inside].
  Qed.

  Lemma front_in_order : forall d k q p, (k <= q)%nat -> In p (front G d k) -> In p (order G q d).
  Proof. intros d k q p less there. rewrite (order_is d k q less), in_app_iff. auto. Qed.

  Lemma front_exists : forall d k q p, (d < devices M)%nat -> (k <= q)%nat -> In p (front G d k) ->
    exists_in (model_at M G q) p /\ device p = d.
  Proof. intros d k q p inside less there. apply (Whole q d inside). apply (front_in_order d k); assumption. Qed.

  (** A pass before a cut is there whatever the number of repetitions behind it. *)
  Lemma exists_before : forall k q n p, (k <= q)%nat -> (k <= n)%nat -> exists_in (model_at M G q) p -> before_cut M G k p ->
    exists_in (model_at M G n) p /\ In p (front G (device p) k).
  Proof.
    intros k q n p one two there cut. pose proof (device_inside p (proj1 there)) as inside.
    pose proof (in_front _ k q p inside one (in_order q p there) cut) as placed. split; [| exact placed].
    apply (front_exists (device p) k n p inside two placed).
  Qed.

  Lemma behind_enough : forall r c p, ~ before_cut M G (r + c) p -> (c * K <= microbatch_of p)%nat.
  Proof. intros r c p behind. unfold before_cut in behind. lia. Qed.

  Lemma cut_earlier : forall r c p, (c * K <= microbatch_of p)%nat ->
    before_cut M G (r + c) p <-> before_cut M G r (earlier (c * K) p).
  Proof.
    intros r c p enough. rewrite <- (cut_later M G Repeatable r c (earlier (c * K) p)), later_earlier by exact enough. tauto.
  Qed.

  Lemma back_moved : forall d r c q, (r <= q)%nat ->
    map (later ((r + c) * K)) (back G d (q + c - (r + c))) = map (later (c * K)) (map (later (r * K)) (back G d (q - r))).
  Proof.
    intros d r c q less. rewrite map_map. replace (q + c - (r + c))%nat with (q - r)%nat by lia. apply map_ext.
    intros p. rewrite later_later. f_equal. lia.
  Qed.

  Section Cut.
    Variables r c q Q : nat.
    Hypothesis Less : (r <= q)%nat.
    Hypothesis Enough : (r + c <= Q)%nat.

    (** Whatever waits in the larger schedule waits alike in the one up to the cut, or in the smaller schedule. *)
    Lemma waits_classified : forall u w v, waits_at (q + c) u w v ->
      (before_cut M G (r + c) u /\ before_cut M G (r + c) v /\ waits_at Q u w v) \/
      (exists u0 v0, u = later (c * K) u0 /\ v = later (c * K) v0 /\ ~ before_cut M G r u0 /\ ~ before_cut M G r v0 /\
        waits_at q u0 w v0) \/
      (before_cut M G (r + c) u /\ ~ before_cut M G (r + c) v /\ In u (front G (device u) (r + c)) /\
        ((exists lag, w = time_of M u + lag /\ pass_needs (model_at M G (q + c)) u lag v) \/
         (exists d a b, (d < devices M)%nat /\ front G d (r + c) = a ++ [u] /\
            map (later (r * K)) (back G d (q - r)) = earlier (c * K) v :: b /\ w = time_of M u))).
    Proof.
      intros u w v waiting. apply waits_cases in waiting; [| apply well_at].
      destruct waiting as [[lag [need length_]] | [d [inside [next length_]]]]; subst w.
      - destruct (need_ends_exist _ _ _ _ (well_at _) need) as [there_u there_v].
        pose proof (need_same M _ _ _ _ need) as same.
        destruct (is_before_cut M G (r + c) v) eqn:cut_v; [| destruct (is_before_cut M G (r + c) u) eqn:cut_u].
        + apply cut_decided in cut_v. pose proof (cut_closed M G Repeatable _ (r + c) u lag v need cut_v) as cut_u. left.
          repeat split; [exact cut_u | exact cut_v |].
          destruct (exists_before (r + c) (q + c) Q v ltac:(lia) Enough there_v cut_v) as [there _].
          apply (waits_of_need (model_at M G Q) (order G Q)); [apply well_at |].
          apply (need_moved M _ (size G Q) u lag v u v need); try reflexivity; [exact same | apply there].
        + apply cut_decided in cut_u. right. right.
          assert (behind : ~ before_cut M G (r + c) v) by (rewrite <- cut_decided; congruence).
          destruct (exists_before (r + c) (q + c) Q u ltac:(lia) Enough there_u cut_u) as [_ placed].
          repeat split; [exact cut_u | exact behind | exact placed |]. left. exists lag. auto.
        + assert (behind_u : ~ before_cut M G (r + c) u) by (rewrite <- cut_decided; congruence).
          assert (behind_v : ~ before_cut M G (r + c) v) by (rewrite <- cut_decided; congruence).
          pose proof (behind_enough r c u behind_u) as enough_u. pose proof (behind_enough r c v behind_v) as enough_v.
          right. left. exists (earlier (c * K) u), (earlier (c * K) v). rewrite !later_earlier by assumption.
          rewrite <- !cut_earlier by assumption. repeat split; try assumption.
          apply (waits_of_need (model_at M G q) (order G q) (earlier (c * K) u) lag); [apply well_at |].
          apply (need_moved M _ (size G q) u lag v _ _ need); try reflexivity; cbn; [lia |].
          destruct there_v as [_ below]. cbn in below. unfold size in *. lia.
      - pose proof next as kept_. rewrite (order_is d (r + c) (q + c) ltac:(lia)) in next.
        apply follows_app in next. destruct next as [next | [next | [a [b [one two]]]]].
        + left. assert (both : In u (front G d (r + c)) /\ In v (front G d (r + c))).
          { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
          repeat split; [apply (front_before M G Repeatable d); tauto | apply (front_before M G Repeatable d); tauto |].
          apply (waits_of_order (model_at M G Q) (order G Q) d); [exact inside |].
          rewrite (order_is d (r + c) Q Enough). apply follows_left. exact next.
        + right. left. rewrite back_moved in next by exact Less. apply follows_map in next.
          destruct next as [u0 [v0 [next [one two]]]]. exists u0, v0.
          assert (both : In u0 (map (later (r * K)) (back G d (q - r))) /\ In v0 (map (later (r * K)) (back G d (q - r)))).
          { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
          repeat split; [exact one | exact two | apply (back_behind M G Repeatable d r (q - r)); tauto |
            apply (back_behind M G Repeatable d r (q - r)); tauto |]. subst u v.
          apply (waits_of_order (model_at M G q) (order G q) d); [exact inside |].
          rewrite (order_is d r q Less). apply follows_right. exact next.
        + right. right.
          assert (placed : In u (front G d (r + c))) by (rewrite one, in_app_iff; cbn; auto).
          assert (behind : ~ before_cut M G (r + c) v).
          { apply (back_behind M G Repeatable d (r + c) (q + c - (r + c))); [exact inside |]. rewrite two. left. reflexivity. }
          destruct (front_exists d (r + c) Q u inside Enough placed) as [_ mine].
          repeat split; [apply (front_before M G Repeatable d); assumption | exact behind | rewrite mine; exact placed |].
          right. clear mine. rewrite back_moved in two by exact Less.
          destruct (map (later (r * K)) (back G d (q - r))) as [| v0 b0] eqn:shape; [discriminate |].
          cbn in two. inversion two; subst. exists d, a, b0. rewrite earlier_later. repeat split; assumption.
    Qed.

    Lemma bounded : forall place : pass -> nat, exists most, forall d p, (d < devices M)%nat -> In p (front G d (r + c)) ->
      (place p < most)%nat.
    Proof.
      intros place. set (all := flat_map (fun d => front G d (r + c)) (seq 0 (devices M))).
      exists (S (list_max (map place all))). intros d p inside there.
      pose proof (proj1 (list_max_le (map place all) _) (Nat.le_refl _)) as each. rewrite Forall_forall in each.
      specialize (each (place p)). apply Nat.lt_succ_r. apply each. apply in_map. apply in_flat_map.
      exists d. split; [apply in_seq; lia | exact there].
    Qed.

    (** Free of deadlock with c more repetitions. *)
    Lemma sequence_step : (exists place, sequence_at q place) -> (exists place, sequence_at Q place) ->
      exists place, sequence_at (q + c) place.
    Proof.
      intros [small small_] [large large_]. destruct (bounded large) as [most low].
      exists (fun p => if is_before_cut M G (r + c) p then large p else (most + small (earlier (c * K) p))%nat).
      intros u w v waiting. destruct (waits_classified u w v waiting) as [[one [two same]] |
        [[u0 [v0 [one [two [three [four same]]]]]] | [one [two [placed _]]]]].
      - rewrite (proj2 (cut_decided M G _ _) one), (proj2 (cut_decided M G _ _) two). apply (large_ u w v). exact same.
      - subst. rewrite <- (cut_later M G Repeatable r c) in three, four. rewrite <- cut_decided in three, four.
        apply not_true_is_false in three. apply not_true_is_false in four. rewrite three, four, !earlier_later.
        specialize (small_ u0 w v0 same). lia.
      - rewrite (proj2 (cut_decided M G _ _) one). rewrite <- cut_decided in two. apply not_true_is_false in two. rewrite two.
        assert (inside : (device u < devices M)%nat).
        { apply device_inside. apply waits_cases in waiting; [| apply well_at].
          destruct waiting as [[lag [need _]] | [d [inside [[a [b shape]] _]]]].
          - apply (need_ends_exist _ _ _ _ (well_at _) need).
          - assert (there : In u (order G (q + c) d)) by (rewrite shape, in_app_iff; cbn; auto).
            apply (Whole (q + c) d inside) in there. apply there. }
        specialize (low (device u) u inside placed). lia.
    Qed.
  End Cut.

  (** Up to a cut, executions as soon as possible do not depend on what is behind it: neither on how many repetitions there are,
      nor on the cool-down. *)
  Lemma before_is_least_with : forall b l, repeatable M (with_tail G b l) ->
    (forall q, complete (model_at M (with_tail G b l) q) (order (with_tail G b l) q)) ->
    forall k q n s t, (k <= q)%nat -> (k <= n)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s -> runs (model_at M (with_tail G b l) n) (order (with_tail G b l) n) t ->
    forall d p, (d < devices M)%nat -> In p (front G d k) -> s p <= t p.
  Proof.
    intros b l again_ whole_ k q n s t less_q less_n [run tightly] again d p inside there.
    set (H := with_tail G b l) in *. destruct (proj2 run) as [place sooner].
    assert (order_H : forall d, order H n d = front G d k ++ map (later (k * K)) (back H d (n - k))).
    { intros e. replace n with (k + (n - k))%nat at 1 by lia. apply (order_cut H). }
    apply (least_on (fun p => exists_in (model_at M G q) p /\ before_cut M G k p) s t place).
    - apply again.
    - clear d p inside there. intros v [there cut].
      destruct (tightly v there) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
      + right. exists u, (time_of M u + lag).
        pose proof (waits_of_need _ (order G q) u lag v (well_at q) need) as waiting.
        split; [split; [apply (need_ends_exist _ _ _ _ (well_at q) need) |
          apply (cut_closed M G Repeatable _ k u lag v need cut)] |].
        split; [apply (sooner _ _ _ waiting) |]. split; [change (time_of (model_at M G q) u) with (time_of M u) in exact_; lia |].
        apply (proj2 (proj1 again)). apply (waits_of_need (model_at M H n) (order H n) u lag v (resized_well M _ Well)).
        destruct (exists_before k q q v less_q less_q there cut) as [_ placed].
        pose proof (device_inside v (proj1 there)) as home.
        assert (there_H : exists_in (model_at M H n) v).
        { apply (whole_ n (device v) home). rewrite order_H, in_app_iff. auto. }
        apply (need_moved M _ (size H n) u lag v u v need); try reflexivity; [apply (need_same M _ _ _ _ need) | apply there_H].
      + destruct (last_case _ done) as [none | [a [u same]]]; subst; [left; exact soon |]. right.
        rewrite last_end_snoc in soon. exists u, (time_of M u).
        assert (next : follows (order G q d) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
        pose proof (waits_of_order (model_at M G q) (order G q) d u v inside next) as waiting.
        assert (there_u : In u (order G q d)) by (rewrite shape, !in_app_iff; cbn; auto).
        assert (there_v : In v (front G d k)).
        { apply (in_front d k q); [exact inside | exact less_q | | exact cut]. rewrite shape, !in_app_iff. cbn. auto. }
        assert (front_next : follows (front G d k) u v).
        { apply in_split in there_v. destruct there_v as [x [y split_]].
          assert (both : order G q d = x ++ v :: (y ++ map (later (k * K)) (back G d (q - k)))).
          { rewrite (order_is d k q less_q), split_, <- app_assoc. reflexivity. }
          destruct (Whole q d inside) as [once _]. rewrite shape in both, once.
          destruct (NoDup_split _ _ _ _ _ _ once both) as [x_is _]. exists a, y. rewrite split_, <- x_is, <- app_assoc.
          reflexivity. }
        split; [split |].
        * apply (Whole q d inside). exact there_u.
        * apply (front_before M G Repeatable d); [exact inside |]. destruct front_next as [x [y split_]].
          rewrite split_, in_app_iff. cbn. auto.
        * split; [apply (sooner _ _ _ waiting) |]. split; [exact soon |]. apply (proj2 (proj1 again)).
          apply (waits_of_order (model_at M H n) (order H n) d u v inside). rewrite order_H. apply follows_left. exact front_next.
    - split; [apply (front_exists d k q p inside less_q there) | apply (front_before M G Repeatable d); assumption].
  Qed.

  Lemma before_is_least : forall k q n s t, (k <= q)%nat -> (k <= n)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s -> runs (model_at M G n) (order G n) t ->
    forall d p, (d < devices M)%nat -> In p (front G d k) -> s p <= t p.
  Proof.
    intros k q n s t less_q less_n soon run. assert (own : with_tail G (base G) (tail G) = G) by (destruct G; reflexivity).
    apply (before_is_least_with (base G) (tail G)) with (q := q) (n := n); rewrite ?own; assumption.
  Qed.

  Lemma before_is_same : forall k q n s t, (k <= q)%nat -> (k <= n)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s -> as_soon_as_possible (model_at M G n) (order G n) t ->
    forall d p, (d < devices M)%nat -> In p (front G d k) -> s p = t p.
  Proof.
    intros k q n s t less_q less_n one two d p inside there. apply Z.le_antisymm.
    - apply (before_is_least k q n s t less_q less_n one (proj1 two) d p inside there).
    - apply (before_is_least k n q t s less_n less_q two (proj1 one) d p inside there).
  Qed.

  Lemma all_in_front : forall k p, (stage_of p < stages M)%nat -> before_cut M G k p -> In p (front G (device p) k).
  Proof.
    intros k p stage_ cut. unfold before_cut in cut. unfold front. rewrite in_app_iff.
    pose proof (device_inside p stage_) as inside.
    destruct (Nat.lt_ge_cases (microbatch_of p) (begins M G p)) as [low | high].
    - left. apply (head_is M G Well Repeatable 1 (Nat.le_refl 1) (Whole 1%nat) (device p) p inside). auto.
    - right. apply (bodies_are M G Repeatable 1 (Nat.le_refl 1) (device p) k p inside). auto.
  Qed.

  (** Free of deadlock with fewer repetitions. *)
  Lemma sequence_down : forall q Q, (q <= Q)%nat -> (exists place, sequence_at Q place) -> exists place, sequence_at q place.
  Proof.
    intros q Q less [large sooner]. destruct (bounded q 0 q Q (Nat.le_refl q) ltac:(lia) large) as [most low].
    rewrite Nat.add_0_r in low.
    set (n := (Q - q)%nat). assert (sum_ : (Q * K = q * K + n * K)%nat) by (rewrite <- Nat.mul_add_distr_r; f_equal; unfold n; lia).
    exists (fun p => if is_before_cut M G q p then large p else (most + large (later (n * K) p))%nat).
    assert (in_front_yes : forall p, before_cut M G q p -> is_before_cut M G q p = true) by (intros p; apply cut_decided).
    assert (behind_no : forall p, ~ before_cut M G q p -> is_before_cut M G q p = false).
    { intros p behind. rewrite <- cut_decided in behind. apply not_true_is_false. exact behind. }
    intros u w v waiting. apply waits_cases in waiting; [| apply well_at].
    destruct waiting as [[lag [need length_]] | [d [inside [next length_]]]]; subst w.
    - destruct (need_ends_exist _ _ _ _ (well_at _) need) as [there_u there_v].
      pose proof (need_same M _ _ _ _ need) as same. destruct there_v as [stage_v below]. cbn in stage_v, below.
      unfold size in below.
      assert (moved : forall u' v', kind_of u' = kind_of u -> kind_of v' = kind_of v -> stage_of u' = stage_of u ->
        stage_of v' = stage_of v -> microbatch_of u' = microbatch_of v' -> (microbatch_of v' < size G Q)%nat ->
        (large u' < large v')%nat).
      { intros u' v' one two three four five six.
        apply (sooner u' (time_of M u' + lag) v'). apply (waits_of_need (model_at M G Q) (order G Q) u' lag v'); [apply well_at |].
        apply (need_moved M _ (size G Q) u lag v u' v' need); assumption. }
      destruct (is_before_cut M G q v) eqn:cut_v.
      + apply cut_decided in cut_v. rewrite (in_front_yes u (cut_closed M G Repeatable _ q u lag v need cut_v)).
        apply moved; try reflexivity; [exact same | unfold size; lia].
      + destruct (is_before_cut M G q u) eqn:cut_u.
        * apply cut_decided in cut_u. pose proof (all_in_front q u (proj1 there_u) cut_u) as placed.
          specialize (low (device u) u (device_inside u (proj1 there_u)) placed). lia.
        * apply Nat.add_lt_mono_l. apply moved; try reflexivity; cbn; [lia | unfold size; lia].
    - rewrite (order_is d q q (Nat.le_refl q)) in next. apply follows_app in next.
      destruct next as [next | [next | [a [b [one two]]]]].
      + assert (both : In u (front G d q) /\ In v (front G d q)).
        { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
        rewrite !in_front_yes by (apply (front_before M G Repeatable d); tauto).
        apply (sooner u (time_of M u) v). apply (waits_of_order (model_at M G Q) (order G Q) d); [exact inside |].
        rewrite (order_is d q Q less). apply follows_left. exact next.
      + assert (both : In u (map (later (q * K)) (back G d (q - q))) /\ In v (map (later (q * K)) (back G d (q - q)))).
        { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
        rewrite !behind_no by (apply (back_behind M G Repeatable d q (q - q)); tauto). apply Nat.add_lt_mono_l.
        apply (sooner _ (time_of M (later (n * K) u)) _). apply (waits_of_order (model_at M G Q) (order G Q) d); [exact inside |].
        rewrite (order_is d Q Q (Nat.le_refl Q)). apply follows_right.
        apply follows_map in next. destruct next as [u0 [v0 [next [is_u is_v]]]]. subst u v.
        rewrite !later_later, <- sum_. replace (Q - Q)%nat with (q - q)%nat by lia.
        destruct next as [a [b shape]]. exists (map (later (Q * K)) a), (map (later (Q * K)) b). rewrite shape, map_app.
        reflexivity.
      + assert (placed : In u (front G d q)) by (rewrite one, in_app_iff; cbn; auto).
        rewrite (in_front_yes u) by (apply (front_before M G Repeatable d); assumption).
        rewrite (behind_no v); [specialize (low d u inside placed); lia |].
        apply (back_behind M G Repeatable d q (q - q)); [exact inside |]. rewrite two. left. reflexivity.
  Qed.

  Section Times.
    Variables r c q Q : nat.
    Variable L : Z.
    Variables s ref : pass -> Z.
    Hypothesis Less : (r <= q)%nat.
    Hypothesis Some_more : (1 <= c)%nat.
    Hypothesis Enough : (r + c <= Q)%nat.
    Hypothesis Small : as_soon_as_possible (model_at M G q) (order G q) s.
    Hypothesis Reference : as_soon_as_possible (model_at M G Q) (order G Q) ref.
    Hypothesis Repeats : repeats M G ref r c L.

    (** The start times with c more repetitions. *)
    Definition extended (p : pass) : Z := if is_before_cut M G (r + c) p then ref p else s (earlier (c * K) p) + L.

    Lemma extended_before : forall p, before_cut M G (r + c) p -> extended p = ref p.
    Proof. intros p cut. unfold extended. rewrite (proj2 (cut_decided M G _ _) cut). reflexivity. Qed.

    Lemma extended_behind : forall p, ~ before_cut M G r p -> extended (later (c * K) p) = s p + L.
    Proof.
      intros p behind. unfold extended. rewrite <- (cut_later M G Repeatable r c), <- cut_decided in behind.
      apply not_true_is_false in behind. rewrite behind, earlier_later. reflexivity.
    Qed.

    Lemma same_front : forall d p, (d < devices M)%nat -> In p (front G d r) -> s p = ref p.
    Proof. intros d p. apply (before_is_same r q Q s ref Less); [lia | exact Small | exact Reference]. Qed.

    Lemma free_small : forall d, (d < devices M)%nat -> last_end M s (front G d r) = last_end M ref (front G d r).
    Proof. intros d inside. apply last_end_from_ext. intros p there. apply (same_front d); assumption. Qed.

    Lemma free_large : forall d, (d < devices M)%nat -> last_end M extended (front G d (r + c)) = last_end M s (front G d r) + L.
    Proof.
      intros d inside. rewrite free_small by exact inside. rewrite <- (free_repeats M G ref r c L Repeats d inside).
      apply last_end_from_ext. intros p there. apply extended_before. apply (front_before M G Repeatable d); assumption.
    Qed.

    (** When the device is free behind some passes behind the cut. *)
    Lemma free_moved : forall d x y, (d < devices M)%nat -> map (later (r * K)) (back G d (q - r)) = x ++ y ->
      last_end M extended (front G d (r + c) ++ map (later (c * K)) x) = last_end M s (front G d r ++ x) + L.
    Proof.
      intros d x y inside shape. unfold last_end. rewrite !last_end_from_app.
      change (last_end_from M extended 0 (front G d (r + c))) with (last_end M extended (front G d (r + c))).
      rewrite free_large by exact inside. apply last_end_from_moved. intros p there. apply extended_behind.
      apply (back_behind M G Repeatable d r (q - r)); [exact inside |]. rewrite shape, in_app_iff. auto.
    Qed.

    Lemma order_small : forall d x v y, map (later (r * K)) (back G d (q - r)) = x ++ v :: y ->
      order G q d = front G d r ++ x ++ v :: y.
    Proof. intros d x v y shape. rewrite (order_is d r q Less), shape. reflexivity. Qed.

    Lemma order_large : forall d x v y, map (later (r * K)) (back G d (q - r)) = x ++ v :: y ->
      order G (q + c) d = (front G d (r + c) ++ map (later (c * K)) x) ++ later (c * K) v :: map (later (c * K)) y.
    Proof.
      intros d x v y shape. rewrite (order_is d (r + c) (q + c) ltac:(lia)), (back_moved d r c q Less), shape, map_app,
        <- app_assoc.
      reflexivity.
    Qed.

    (** A pass behind the cut starts when its device is free at the cut, or later. *)
    Lemma behind_free : forall p, exists_in (model_at M G q) p -> ~ before_cut M G r p ->
      (device p < devices M)%nat /\ exists x y, map (later (r * K)) (back G (device p) (q - r)) = x ++ p :: y /\
        last_end M s (front G (device p) r) <= last_end M s (front G (device p) r ++ x) <= s p.
    Proof.
      intros p there behind. pose proof (device_inside p (proj1 there)) as inside. split; [exact inside |].
      pose proof (in_order q p there) as placed. rewrite (order_is _ r q Less), in_app_iff in placed.
      destruct placed as [placed | placed]; [apply (front_before M G Repeatable) in placed; [contradiction | exact inside] |].
      apply in_split in placed. destruct placed as [x [y shape]]. exists x, y. split; [exact shape |].
      pose proof (order_small _ x p y shape) as whole_. split.
      - apply (last_end_grows (model_at M G q) (order G q) s (well_at q) (proj1 Small) (device p) _ x (p :: y) inside whole_).
      - apply (last_end_before (model_at M G q) (order G q) s (well_at q) (proj1 Small) (device p) (front G (device p) r ++ x) []
          p y inside).
        rewrite whole_, <- app_assoc. reflexivity.
    Qed.

    (** What a pass behind the cut needs of before it, in the smaller schedule. *)
    Lemma need_across : forall u lag v, pass_needs (model_at M G (q + c)) u lag v -> before_cut M G (r + c) u ->
      ~ before_cut M G (r + c) v ->
      exists u0 v0, u = later (c * K) u0 /\ v = later (c * K) v0 /\ pass_needs (model_at M G q) u0 lag v0 /\
        before_cut M G r u0 /\ ~ before_cut M G r v0 /\ s u0 = ref u0.
    Proof.
      intros u lag v need cut behind. pose proof (behind_enough r c v behind) as enough.
      pose proof (need_same M _ _ _ _ need) as same. assert (enough_u : (c * K <= microbatch_of u)%nat) by lia.
      exists (earlier (c * K) u), (earlier (c * K) v). rewrite !later_earlier by assumption.
      rewrite <- !cut_earlier by assumption.
      assert (moved : pass_needs (model_at M G q) (earlier (c * K) u) lag (earlier (c * K) v)).
      { apply (need_moved M _ (size G q) u lag v _ _ need); try reflexivity; cbn; [lia |].
        destruct (need_ends_exist _ _ _ _ (well_at _) need) as [_ [_ below]]. cbn in below. unfold size in *. lia. }
      repeat split; try assumption.
      destruct (need_ends_exist _ _ _ _ (well_at _) moved) as [there _].
      destruct (exists_before r q q (earlier (c * K) u) Less Less there ltac:(rewrite <- cut_earlier; assumption)) as [_ placed].
      apply (same_front (device (earlier (c * K) u))); [apply device_inside; apply there | exact placed].
    Qed.

    Lemma extended_runs : runs (model_at M G (q + c)) (order G (q + c)) extended.
    Proof.
      split.
      2: { apply (sequence_step r c q Q Less Enough); [apply Small | apply Reference]. }
      split.
      - intros u. unfold extended. destruct (is_before_cut M G (r + c) u); [apply Reference |].
        pose proof (not_sooner M G ref r c L Repeats). pose proof (start_nonneg _ _ _ (proj1 Small) (earlier (c * K) u)). lia.
      - intros u w v waiting.
        destruct (waits_classified r c q Q Less Enough u w v waiting) as
          [[one [two same]] | [[u0 [v0 [one [two [three [four same]]]]]] | [one [two [placed [across | across]]]]]].
        + rewrite !extended_before by assumption. apply Reference. exact same.
        + subst. rewrite !extended_behind by assumption. pose proof (proj2 (proj1 (proj1 Small)) u0 w v0 same). lia.
        + destruct across as [lag [length_ need]]. subst w.
          destruct (need_across u lag v need one two) as [u0 [v0 [is_u [is_v [moved [cut [behind agree]]]]]]].
          rewrite (extended_before u one). subst u v. rewrite (extended_behind v0 behind).
          pose proof (pending_repeats M G ref r c L Repeats _ u0 lag v0 moved cut behind) as state.
          pose proof (need_respected _ _ _ (well_at q) (proj1 Small) u0 lag v0 moved) as late.
          destruct (need_ends_exist _ _ _ _ (well_at _) moved) as [_ there].
          destruct (behind_free v0 there behind) as [inside [x [y [_ [free1 free2]]]]].
          rewrite free_small in free1 by exact inside.
          change (time_of M (later (c * K) u0)) with (time_of M u0).
          change (time_of (model_at M G q) u0) with (time_of M u0) in late. lia.
        + destruct across as [d [a [b [inside [ends [begins_ length_]]]]]]. subst w. rewrite (extended_before u one).
          pose proof (free_repeats M G ref r c L Repeats d inside) as state. rewrite ends, last_end_snoc in state.
          pose proof (behind_enough r c v two) as enough. rewrite <- (later_earlier (c * K) v enough).
          rewrite extended_behind by (rewrite <- cut_earlier; assumption).
          pose proof (order_small d [] (earlier (c * K) v) b begins_) as whole_.
          pose proof (last_end_before _ _ s (well_at q) (proj1 Small) d (front G d r) [] _ b inside whole_) as late.
          change (last_end (model_at M G q) s (front G d r)) with (last_end M s (front G d r)) in late.
          rewrite free_small in late by exact inside. lia.
    Qed.

    Lemma body_nonempty : forall p, (stage_of p < stages M)%nat -> front G (device p) (r + c) <> [].
    Proof.
      intros p inside none. pose proof (body_of M G Repeatable p inside) as there.
      assert (run : In (later (0 * K) (Pass (kind_of p) (stage_of p) (begins M G p))) (front G (device p) (r + c))).
      { unfold front. rewrite in_app_iff. right. apply in_bodies. exists 0%nat. eexists. repeat split; [lia | exact there]. }
      rewrite none in run. destruct run.
    Qed.

    (** The start times with c more repetitions are as soon as possible. *)
    Theorem extended_as_soon_as_possible : as_soon_as_possible (model_at M G (q + c)) (order G (q + c)) extended.
    Proof.
      split; [exact extended_runs |]. intros v there.
      destruct (is_before_cut M G (r + c) v) eqn:cut_v.
      - apply cut_decided in cut_v.
        destruct (exists_before (r + c) (q + c) Q v ltac:(lia) Enough there cut_v) as [there_Q placed].
        destruct (proj2 Reference v there_Q) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
        + left. exists u, lag. split.
          * apply (need_moved M _ (size G (q + c)) u lag v u v need); try reflexivity; [apply (need_same M _ _ _ _ need) |
              apply there].
          * rewrite !extended_before; [exact exact_ | exact cut_v | apply (cut_closed M G Repeatable _ (r + c) u lag v need cut_v)].
        + right. assert (mine : device v = d).
          { apply (Whole Q d inside). rewrite shape, in_app_iff. cbn. auto. }
          rewrite mine in placed. apply in_split in placed. destruct placed as [x [y split_]].
          assert (both : order G Q d = x ++ v :: (y ++ map (later ((r + c) * K)) (back G d (Q - (r + c))))).
          { rewrite (order_is d (r + c) Q Enough), split_, <- app_assoc. reflexivity. }
          destruct (Whole Q d inside) as [once _]. rewrite shape in both, once.
          destruct (NoDup_split _ _ _ _ _ _ once both) as [is_x _]. subst x.
          exists d, done, (y ++ map (later ((r + c) * K)) (back G d (q + c - (r + c)))). split; [exact inside |]. split.
          * rewrite (order_is d (r + c) (q + c) ltac:(lia)), split_, <- app_assoc. reflexivity.
          * rewrite extended_before by exact cut_v.
            replace (last_end (model_at M G (q + c)) extended done) with (last_end (model_at M G Q) ref done); [exact soon |].
            symmetry. apply (last_end_from_ext M). intros p p_done. apply extended_before.
            apply (front_before M G Repeatable d); [exact inside |].
            rewrite split_, in_app_iff. auto.
      - assert (behind_v : ~ before_cut M G (r + c) v) by (rewrite <- cut_decided; congruence).
        pose proof (behind_enough r c v behind_v) as enough. remember (earlier (c * K) v) as v0 eqn:what.
        assert (is_v : v = later (c * K) v0) by (subst v0; rewrite later_earlier; auto).
        assert (behind : ~ before_cut M G r v0) by (subst v0; rewrite <- cut_earlier; assumption).
        assert (there_v : exists_in (model_at M G q) v0).
        { subst v0. destruct there as [one two]. split; [exact one |]. cbn in *. unfold size in *. lia. }
        destruct (behind_free v0 there_v behind) as [inside [x [y [shape [free1 free2]]]]].
        pose proof (order_small _ x v0 y shape) as small_is. pose proof (order_large _ x v0 y shape) as large_is.
        assert (by_order : s v0 <= last_end M s (front G (device v0) r ++ x) ->
          tight (model_at M G (q + c)) (order G (q + c)) extended v).
        { intros soon. right. exists (device v0), (front G (device v0) (r + c) ++ map (later (c * K)) x), (map (later (c * K)) y).
          split; [exact inside |]. split; [rewrite large_is, is_v; reflexivity |].
          rewrite is_v, extended_behind by exact behind.
          change (last_end (model_at M G (q + c))) with (last_end M).
          rewrite (free_moved (device v0) x (v0 :: y) inside shape). lia. }
        destruct (proj2 Small v0 there_v) as [[u0 [lag [need exact_]]] | [d [done [rest [inside_d [shape_d soon]]]]]].
        + change (time_of (model_at M G q) u0) with (time_of M u0) in exact_.
          assert (moved : pass_needs (model_at M G (q + c)) (later (c * K) u0) lag v).
          { apply (need_moved M _ (size G (q + c)) u0 lag v0 _ _ need); try (subst v; reflexivity).
            - pose proof (need_same M _ _ _ _ need). subst v. cbn. lia.
            - apply there. }
          destruct (is_before_cut M G r u0) eqn:cut_u.
          * apply cut_decided in cut_u.
            assert (cut_large : before_cut M G (r + c) (later (c * K) u0)) by (apply cut_later; assumption).
            destruct (need_across _ lag v moved cut_large behind_v) as [u1 [v1 [is_u1 [is_v1 [_ [_ [_ agree]]]]]]].
            apply later_injective in is_u1. subst u1.
            pose proof (pending_repeats M G ref r c L Repeats _ u0 lag v0 need cut_u behind) as state.
            rewrite (free_repeats M G ref r c L Repeats _ inside), <- free_small in state by exact inside.
            rewrite <- agree in state.
            destruct (Z.le_gt_cases (s v0) (last_end M s (front G (device v0) r ++ x))) as [soon | later_]; [auto |].
            left. exists (later (c * K) u0), lag. split; [exact moved |]. rewrite (extended_before _ cut_large).
            rewrite is_v, extended_behind by exact behind.
            change (time_of (model_at M G (q + c)) (later (c * K) u0)) with (time_of M u0). lia.
          * assert (behind_u : ~ before_cut M G r u0) by (rewrite <- cut_decided; congruence).
            left. exists (later (c * K) u0), lag. split; [exact moved |].
            rewrite is_v, !extended_behind by assumption.
            change (time_of (model_at M G (q + c)) (later (c * K) u0)) with (time_of M u0). lia.
        + apply by_order. assert (mine : device v0 = d).
          { apply (Whole q d inside_d). rewrite shape_d, in_app_iff. cbn. auto. }
          subst d. destruct (Whole q (device v0) inside_d) as [once _]. rewrite small_is, app_assoc in shape_d, once.
          destruct (NoDup_split _ _ _ _ _ _ once shape_d) as [same _]. rewrite same. exact soon.
    Qed.

    (** Every device ends L later. *)
    Theorem extended_ends : forall d, (d < devices M)%nat ->
      last_end M extended (order G (q + c) d) = last_end M s (order G q d) + L.
    Proof.
      intros d inside. rewrite (order_is d (r + c) (q + c) ltac:(lia)), (back_moved d r c q Less), (order_is d r q Less).
      apply (free_moved d _ []); [exact inside |]. rewrite app_nil_r. reflexivity.
    Qed.
  End Times.
End Step.

(** A block of K microbatches has K cool-downs, one for each remainder of m. The repetition is looked for with one of them, and is
    there with all. *)
Theorem repeats_with_every_tail : forall M G b l, let H := with_tail G b l in
  well_formed M -> repeatable M G -> repeatable M H ->
  (forall q, complete (model_at M G q) (order G q)) -> (forall q, complete (model_at M H q) (order H q)) ->
  forall r c L q n s t, (r + c <= q)%nat -> (r + c <= n)%nat ->
  as_soon_as_possible (model_at M G q) (order G q) s -> as_soon_as_possible (model_at M H n) (order H n) t ->
  repeats M G s r c L -> repeats M H t r c L.
Proof.
  intros M G b l H well again again_H whole whole_H r c L q n s t less_q less_n soon_s soon_t state.
  assert (back_ : with_tail H (base G) (tail G) = G) by (destruct G; reflexivity).
  assert (same : forall d p, (d < devices M)%nat -> In p (front G d (r + c)) -> s p = t p).
  { intros d p inside there. apply Z.le_antisymm.
    - apply (before_is_least_with M G well again whole b l again_H whole_H (r + c) q n s t less_q less_n soon_s (proj1 soon_t) d p
        inside there).
    - apply (before_is_least_with M H well again_H whole_H (base G) (tail G)) with (k := (r + c)%nat) (q := n) (n := q) (d := d);
        rewrite ?back_; try assumption; apply soon_s. }
  assert (smaller : forall d p, In p (front G d r) -> In p (front G d (r + c))).
  { intros d p there. unfold front in *. rewrite bodies_add, !in_app_iff in *. tauto. }
  assert (free_r : forall d, (d < devices M)%nat -> last_end M t (front G d r) = last_end M s (front G d r)).
  { intros d inside. symmetry. apply last_end_from_ext. intros p there. apply (same d); auto. }
  assert (free_c : forall d, (d < devices M)%nat -> last_end M t (front G d (r + c)) = last_end M s (front G d (r + c))).
  { intros d inside. symmetry. apply last_end_from_ext. intros p there. apply (same d); auto. }
  destruct state as [low free_ pending_]. constructor; [exact low | |].
  - intros d inside. change (front H) with (front G). rewrite free_r, free_c by exact inside. apply free_. exact inside.
  - intros m u lag v need cut behind. change (front H) with (front G). change (period H) with (period G).
    destruct (need_ends_exist (resized M m) u lag v well need) as [there_u there_v].
    assert (home_u : (device_of M (stage_of u) < devices M)%nat) by (apply well; apply there_u).
    assert (home_v : (device_of M (stage_of v) < devices M)%nat) by (apply well; apply there_v).
    rewrite free_r, free_c by exact home_v.
    rewrite <- (same _ u home_u), <- (same _ (later (c * period G) u) home_u).
    + apply (pending_ m); assumption.
    + apply (all_in_front M G well again whole (r + c) (later (c * period G) u)); [apply there_u |].
      apply (cut_later M G again). exact cut.
    + apply smaller. apply (all_in_front M G well again whole r u); [apply there_u | exact cut].
Qed.
