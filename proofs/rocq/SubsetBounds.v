(** * SubsetBounds: no run is shorter than what the search of some devices finds

    Every run of the reduced problem is a continuation of the state in which nothing has begun ([reduced_run_leads]). So the
    bounds that [Subset] computes hold for every run of a complete first-in-first-out schedule within capacity
    ([subset_bound_sound], [subset_bound_repeating_sound], and the same for the device span). [SubsetFifo] extends them to all
    schedules. [subset_span_bounds_may_fall] shows that a further device may lower the bound on the device span. *)

From Coq Require Import ZArith List Lia Bool Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Restrict Bubbleproof.Repetition Bubbleproof.Subset.
Import ListNotations.
Open Scope Z_scope.

(** ** Runs of the reduced problem are among the sequences that are searched *)

Lemma times_run_app : forall j p q, times_run j (p ++ q) = (times_run j p + times_run j q)%nat.
Proof. intros j p q. unfold times_run. rewrite filter_app, app_length. reflexivity. Qed.

Lemma times_run_one : forall j i k, times_run j [(i, k)] = if Nat.eqb i j then 1%nat else 0%nat.
Proof. intros j i k. unfold times_run. cbn. destruct (Nat.eqb i j); reflexivity. Qed.

(** A job that is run often enough is run for the k-th time somewhere. *)
Lemma times_run_reaches : forall j l k, (k < times_run j l)%nat ->
  exists done n rest, l = done ++ (j, n) :: rest /\ times_run j done = k.
Proof.
  intros j l. induction l as [| [i n] l IH] using rev_ind; intros k less; [cbn in less; lia |].
  rewrite times_run_app, times_run_one in less. destruct (Nat.eqb i j) eqn:same.
  - apply Nat.eqb_eq in same. subst i. destruct (Nat.eq_dec k (times_run j l)) as [equal | other].
    + exists l, n, []. split; [reflexivity | symmetry; exact equal].
    + destruct (IH k) as [done [o [rest [shape count]]]]; [lia |]. exists done, o, (rest ++ [(j, n)]).
      split; [rewrite shape, <- app_assoc; reflexivity | exact count].
  - destruct (IH k) as [done [o [rest [shape count]]]]; [lia |]. exists done, o, (rest ++ [(i, n)]).
    split; [rewrite shape, <- app_assoc; reflexivity | exact count].
Qed.

Section Simulation.
  Variable C : chain.
  Variable m : nat.
  Variable start : nat -> nat -> Z.
  Variable order : list (nat * nat).
  Variable T : Z.
  Hypothesis Well : chain_well_formed C.
  Hypothesis Not_empty : (0 < size C)%nat.
  Hypothesis Some_microbatch : (0 < m)%nat.
  Hypothesis Run : reduced_run C m start order T.

  Lemma in_order : forall j k, In (j, k) order <-> (j < size C)%nat /\ (k < m)%nat.
  Proof.
    intros j k. transitivity (In (j, k) (all_jobs C m)).
    - split; apply Permutation_in; [| apply Permutation_sym]; apply (run_all _ _ _ _ _ Run).
    - unfold all_jobs. rewrite in_prod_iff, !in_seq. split; lia.
  Qed.

  Lemma in_place : forall done rest j k, order = done ++ rest -> In (j, k) done -> (k < times_run j done)%nat.
  Proof.
    intros done rest j k shape found. destruct (in_split _ _ found) as [one [two same]]. subst done.
    assert (count : times_run j one = k).
    { apply (run_fifo _ _ _ _ _ Run one j k (two ++ rest)). rewrite shape, <- app_assoc. reflexivity. }
    rewrite times_run_app. change ((j, k) :: two) with ([(j, k)] ++ two). rewrite times_run_app, times_run_one, Nat.eqb_refl. lia.
  Qed.

  Lemma run_count : forall j, (j < size C)%nat -> times_run j order = m.
  Proof.
    intros j inside. apply Nat.le_antisymm.
    - apply Nat.nlt_ge. intros more. destruct (times_run_reaches j order m more) as [done [n [rest [shape count]]]].
      pose proof (run_fifo _ _ _ _ _ Run _ _ _ _ shape) as same.
      assert (In (j, n) order) as found by (rewrite shape, in_app_iff; right; left; reflexivity).
      apply in_order in found. lia.
    - assert (In (j, m - 1)%nat order) as found by (apply in_order; lia).
      pose proof (in_place order [] j (m - 1) (eq_sym (app_nil_r order)) found). lia.
  Qed.

  (** The state behind some jobs: its times are no later than those of the jobs that follow. *)
  Record matches (done rest : list (nat * nat)) (st : state) : Prop := {
    matches_free : forall d j k, (d < kept_devices C)%nat -> In (j, k) rest -> at_device (job_at C j) = d ->
      free_of st d <= start j k;
    matches_first : queue_of st 0 = [];
    matches_count : forall j, (j < size C)%nat -> (0 < j)%nat ->
      (times_run j done + length (queue_of st j) = times_run (before (job_at C j)) done)%nat;
    matches_times : forall j i, (j < size C)%nat -> (0 < j)%nat -> (i < length (queue_of st j))%nat ->
      nth i (queue_of st j) 0 <= start j (times_run j done + i)%nat;
    matches_live : forall d, (d < kept_devices C)%nat -> live_of st d = holds_after C done d
  }.

  Definition starts_of (l : list (nat * nat)) : list (nat * Z) := map (fun p => (fst p, start (fst p) (snd p))) l.

  Lemma matches_next : forall done j k rest st, order = done ++ (j, k) :: rest -> matches done ((j, k) :: rest) st ->
    waiting st j = true \/ j = 0%nat -> matches (done ++ [(j, k)]) rest (after C st j (start j k)).
  Proof.
    intros done j k rest st shape same turn.
    assert (in_j : In (j, k) order) by (rewrite shape, in_app_iff; right; left; reflexivity).
    destruct (proj1 (in_order j k) in_j) as [inside within].
    assert (count_j : times_run j done = k) by (apply (run_fifo _ _ _ _ _ Run done j k rest shape)).
    split.
    - intros d i n device later on_d. destruct (in_split _ _ later) as [one [two split_rest]].
      assert (shape_i : order = (done ++ (j, k) :: one) ++ (i, n) :: two).
      { rewrite shape, split_rest, <- app_assoc. reflexivity. }
      assert (before_i : In (j, k) (done ++ (j, k) :: one)) by (rewrite in_app_iff; right; left; reflexivity).
      rewrite free_after by exact device. destruct (Nat.eqb d (at_device (job_at C j))) eqn:own.
      + apply Nat.eqb_eq in own. apply (run_device _ _ _ _ _ Run _ _ _ _ shape_i j k before_i). rewrite on_d, own. reflexivity.
      + pose proof (run_sorted _ _ _ _ _ Run _ _ _ _ shape_i j k before_i).
        pose proof (matches_free _ _ _ same d i n device (or_intror later) on_d). lia.
    - rewrite queue_after by exact Not_empty. rewrite (matches_first _ _ _ same). destruct (0 =? j)%nat; reflexivity.
    - intros i there positive. rewrite queue_after by exact there. rewrite !times_run_app, !times_run_one, app_length.
      pose proof (matches_count _ _ _ same i there positive) as old. pose proof (before_smaller C Well i there positive) as less.
      rewrite (proj2 (Nat.ltb_lt 0 i) positive). cbn [andb]. rewrite (Nat.eqb_sym i j), (Nat.eqb_sym (before (job_at C i)) j).
      destruct (Nat.eqb j i) eqn:own.
      + apply Nat.eqb_eq in own. subst i. rewrite (proj2 (Nat.eqb_neq j (before (job_at C j)))) by lia. cbn [length].
        destruct turn as [turn | zero]; [| lia]. unfold waiting in turn. destruct (queue_of st j); [discriminate turn |].
        cbn [tl length] in *. lia.
      + destruct (Nat.eqb j (before (job_at C i))); cbn [length]; lia.
    - intros i n there positive. rewrite queue_after by exact there. rewrite times_run_app, times_run_one.
      pose proof (matches_count _ _ _ same i there positive) as old. pose proof (before_smaller C Well i there positive) as less.
      pose proof (fun x => matches_times _ _ _ same i x there positive) as times.
      rewrite (proj2 (Nat.ltb_lt 0 i) positive). cbn [andb]. rewrite (Nat.eqb_sym i j).
      destruct (Nat.eqb j i) eqn:own.
      + apply Nat.eqb_eq in own. subst i. rewrite (proj2 (Nat.eqb_neq (before (job_at C j)) j)) by lia. rewrite app_nil_r.
        intros less_n. destruct (queue_of st j) as [| x q]; [cbn in less_n; lia |]. cbn [tl length] in *.
        specialize (times (S n)). cbn [nth] in times. replace (times_run j done + 1 + n)%nat with
          (times_run j done + S n)%nat by lia.
        apply times. lia.
      + rewrite Nat.add_0_r. destruct (Nat.eqb (before (job_at C i)) j) eqn:arrives.
        * apply Nat.eqb_eq in arrives. rewrite app_length. cbn [length]. intros less_n.
          destruct (Nat.lt_ge_cases n (length (queue_of st i))) as [among | behind].
          -- rewrite app_nth1 by exact among. apply times. exact among.
          -- assert (n = length (queue_of st i)) by lia. subst n. rewrite app_nth2 by lia. rewrite Nat.sub_diag. cbn [nth].
             rewrite old, arrives, count_j. pose proof (run_lag _ _ _ _ _ Run i k) as lags. rewrite arrives in lags.
             apply lags; [apply in_order; split; assumption | exact positive].
        * rewrite app_nil_r. apply times.
    - intros d device. rewrite live_after_job by exact device. rewrite (matches_live _ _ _ same d device).
      unfold holds_after. rewrite sum_app. cbn [sum]. unfold effect at 3. cbn [fst]. lia.
  Qed.

  Lemma matches_admits : forall rest done st, order = done ++ rest -> matches done rest st -> admits C st (starts_of rest) T.
  Proof.
    intros rest. induction rest as [| [j k] rest IH]; intros done st shape same.
    - cbn. intros j inside. destruct (Nat.eq_dec j 0) as [zero | other]; [subst j; apply (matches_first _ _ _ same) |].
      assert (positive : (0 < j)%nat) by lia. pose proof (matches_count _ _ _ same j inside positive) as count.
      pose proof (before_smaller C Well j inside positive). rewrite app_nil_r in shape. subst done.
      rewrite !run_count in count by lia. destruct (queue_of st j); [reflexivity | cbn in count; lia].
    - assert (in_j : In (j, k) order) by (rewrite shape, in_app_iff; right; left; reflexivity).
      destruct (proj1 (in_order j k) in_j) as [inside within].
      assert (count_j : times_run j done = k) by (apply (run_fifo _ _ _ _ _ Run done j k rest shape)).
      assert (turn : j = 0%nat \/ (0 < j)%nat /\ waiting st j = true).
      { destruct (Nat.eq_dec j 0) as [zero | other]; [left; exact zero | right]. assert (positive : (0 < j)%nat) by lia.
        split; [exact positive |]. pose proof (matches_count _ _ _ same j inside positive) as count.
        pose proof (in_place done _ _ _ shape (run_before _ _ _ _ _ Run _ _ _ _ shape positive)) as ran.
        unfold waiting. destruct (queue_of st j); [cbn in count; lia | reflexivity]. }
      cbn [starts_of map fst snd admits]. repeat split.
      + exact inside.
      + exact turn.
      + pose proof (matches_free _ _ _ same _ j k (device_inside C Well j inside) (or_introl eq_refl) eq_refl) as frees.
        unfold early. destruct turn as [zero | [positive _]].
        * subst j. rewrite (matches_first _ _ _ same). exact frees.
        * pose proof (matches_times _ _ _ same j 0 inside positive) as times.
          destruct (queue_of st j) as [| x q]; [exact frees |]. cbn [nth length] in times. rewrite Nat.add_0_r, count_j in times.
          assert (x <= start j k) by (apply times; lia). lia.
      + unfold fits. apply orb_true_iff. destruct (takes (job_at C j) <=? 0) eqn:none; [left; reflexivity | right].
        apply Z.leb_gt in none. destruct (limit_of C (at_device (job_at C j))) as [limit |] eqn:limited; [| reflexivity].
        apply Z.leb_le. rewrite (matches_live _ _ _ same) by (apply device_inside; assumption).
        apply (run_room _ _ _ _ _ Run done j k rest limit shape limited none).
      + apply (run_end _ _ _ _ _ Run j k in_j).
      + apply (IH (done ++ [(j, k)])); [rewrite shape, <- app_assoc; reflexivity |].
        apply matches_next; [exact shape | exact same |]. destruct turn as [zero | [_ waits_j]]; auto.
  Qed.

  Lemma nothing_queue : forall j, queue_of (nothing C) j = [].
  Proof.
    intros j. unfold queue_of. cbn [queues nothing]. destruct (Nat.lt_ge_cases j (size C)) as [inside | outside].
    - apply (repeat_spec (size C) []). apply nth_In. rewrite repeat_length. exact inside.
    - apply nth_overflow. rewrite repeat_length. exact outside.
  Qed.

  Lemma nth_zeros : forall n d, nth d (repeat 0 n) 0 = 0.
  Proof. intros n. induction n as [| n IH]; intros [| d]; cbn; auto. Qed.

  (** The search begins with a state that every run can follow. *)
  Theorem reduced_run_leads : leads_from C [nothing C] T m.
  Proof.
    exists (nothing C). split; [left; reflexivity |]. split; [apply nothing_shaped |]. split.
    - unfold free_of. cbn [free nothing]. rewrite nth_zeros. assert (first : In (0, 0)%nat order) by (apply in_order; lia).
      pose proof (run_nonneg _ _ _ _ _ Run _ _ first). pose proof (lasts_nonneg C Well 0 Not_empty).
      apply (ends_no_later C 0 (start 0%nat 0%nat + lasts (job_at C 0))); [apply (run_end _ _ _ _ _ Run _ _ first) | lia].
    - exists (starts_of order). split.
      + apply (matches_admits order [] (nothing C) eq_refl). split.
        * intros d j k _ found _. unfold free_of. cbn [free nothing]. rewrite nth_zeros. apply (run_nonneg _ _ _ _ _ Run _ _ found).
        * apply nothing_queue.
        * intros j _ _. rewrite nothing_queue. reflexivity.
        * intros j i _ _. rewrite nothing_queue. cbn. lia.
        * intros d _. unfold live_of. cbn [live nothing]. apply nth_zeros.
      + rewrite <- (run_count 0 Not_empty). unfold begins, starts_of, times_run. generalize order. intros l.
        induction l as [| [j k] l IH]; [reflexivity |]. cbn. destruct (j =? 0)%nat; cbn; rewrite IH; reflexivity.
  Qed.
End Simulation.

(** ** The bounds *)

Section Bounds.
  Variable M : model.
  Variable ks : list nat.

  (** The devices are there and have stages. *)
  Definition may_be_kept : bool :=
    forallb (fun d => Nat.ltb d (devices M)) ks && Nat.ltb 0 (size (chain_of M ks)) && Nat.ltb 0 (microbatches M).

  (** The bound on the makespan that these devices give when all microbatches are followed. *)
  Definition subset_bound : option Z :=
    if may_be_kept then option_map (Z.add (chain_head M ks)) (least_end (chain_of M ks) (microbatches M)) else None.

  (** The same with the help of a repetition. *)
  Definition subset_bound_repeating (after_n period : nat) (growth : Z) : option Z :=
    if may_be_kept && (0 <=? growth) then
      option_map (Z.add (chain_head M ks)) (least_end_repeating (chain_of M ks) (microbatches M) after_n period growth)
    else None.

  (** Bounds on the span of the kept device that begins first. *)
  Definition subset_span_bound : option Z :=
    if may_be_kept then least_end (span_chain_of M ks) (microbatches M) else None.

  Definition subset_span_bound_repeating (after_n period : nat) (growth : Z) : option Z :=
    if may_be_kept && (0 <=? growth) then
      least_end_repeating (span_chain_of M ks) (microbatches M) after_n period growth
    else None.

  Lemma may_be_kept_spec : may_be_kept = true -> (forall d, In d ks -> (d < devices M)%nat) /\
    (0 < size (chain_of M ks))%nat /\ (0 < microbatches M)%nat.
  Proof.
    unfold may_be_kept. rewrite !andb_true_iff, forallb_forall, !Nat.ltb_lt. intros [[inside some_job] some_microbatch].
    split; [| split; assumption]. intros d found. apply Nat.ltb_lt. apply inside. exact found.
  Qed.

  Lemma same_size : size (span_chain_of M ks) = size (chain_of M ks).
  Proof. unfold span_chain_of, chain_of. rewrite !size_spots. reflexivity. Qed.

  Variable S : schedule.
  Variable start : pass -> Z.
  Variable x : Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Memory : within_capacity M S.
  Hypothesis Fifo : first_in_first_out M S.
  Hypothesis Runs : runs M S start.

  Lemma makespan_leads : may_be_kept = true -> makespan_at_most M S start x ->
    leads_from (chain_of M ks) [nothing (chain_of M ks)] (x - chain_head M ks) (microbatches M).
  Proof.
    intros kept ends. apply may_be_kept_spec in kept. destruct kept as [inside [some_job some_microbatch]].
    destruct (restriction_makespan M S start ks x Well Complete Memory Fifo Runs ends inside) as [order run].
    apply (reduced_run_leads _ _ (kept_start M start ks (chain_head M ks)) order); try assumption.
    apply kept_chain_well_formed. exact Well.
  Qed.

  Lemma span_leads : may_be_kept = true -> span_at_most M S start (first_device M ks) x ->
    leads_from (span_chain_of M ks) [nothing (span_chain_of M ks)] x (microbatches M).
  Proof.
    intros kept span. apply may_be_kept_spec in kept. destruct kept as [inside [some_job some_microbatch]].
    rewrite <- same_size in some_job.
    destruct (restriction_span M S start ks x Well Complete Memory Fifo Runs inside some_job some_microbatch span)
      as [base [order run]].
    apply (reduced_run_leads _ _ (kept_start M start ks base) order); try assumption.
    apply kept_chain_well_formed. exact Well.
  Qed.

  Lemma chain_facts : may_be_kept = true -> chain_well_formed (chain_of M ks) /\ (0 < size (chain_of M ks))%nat /\
    chain_well_formed (span_chain_of M ks) /\ (0 < size (span_chain_of M ks))%nat.
  Proof.
    intros kept. apply may_be_kept_spec in kept. destruct kept as [_ [some_job _]]. rewrite same_size.
    repeat split; try apply kept_chain_well_formed; assumption.
  Qed.

  (** No run of a complete first-in-first-out schedule within capacity is shorter than the bound of some devices. *)
  Theorem subset_bound_sound : forall v, subset_bound = Some v -> makespan_at_most M S start x -> v <= x.
  Proof.
    intros v found ends. unfold subset_bound in found. destruct may_be_kept eqn:kept; [| discriminate found].
    destruct (chain_facts kept) as [well [some_job _]]. pose proof (makespan_leads kept ends) as leads_x.
    destruct (least_end (chain_of M ks) (microbatches M)) as [y |] eqn:searched; [| discriminate found].
    pose proof (least_end_sound _ well some_job _ _ _ searched leads_x). cbn in found. injection found as found. lia.
  Qed.

  (** Nor than the bound that follows from a repetition. *)
  Theorem subset_bound_repeating_sound : forall after_n period growth v,
    subset_bound_repeating after_n period growth = Some v -> makespan_at_most M S start x -> v <= x.
  Proof.
    intros after_n period growth v found ends. unfold subset_bound_repeating in found.
    destruct may_be_kept eqn:kept; [| discriminate found]. destruct (0 <=? growth); [| discriminate found]. cbn [andb] in found.
    destruct (chain_facts kept) as [well [some_job _]]. pose proof (makespan_leads kept ends) as leads_x.
    destruct (least_end_repeating (chain_of M ks) (microbatches M) after_n period growth) as [y |] eqn:searched;
      [| discriminate found].
    pose proof (least_end_repeating_sound _ well some_job _ _ _ _ _ _ searched leads_x). cbn in found. injection found as found.
      lia.
  Qed.

  (** The first kept device takes no less than the bound on its span. *)
  Theorem subset_span_bound_sound : forall v, subset_span_bound = Some v -> span_at_most M S start (first_device M ks) x -> v <= x.
  Proof.
    intros v found span. unfold subset_span_bound in found. destruct may_be_kept eqn:kept; [| discriminate found].
    destruct (chain_facts kept) as [_ [_ [well some_job]]]. pose proof (span_leads kept span) as leads_x.
    apply (least_end_sound _ well some_job _ _ _ found leads_x).
  Qed.

  Theorem subset_span_bound_repeating_sound : forall after_n period growth v,
    subset_span_bound_repeating after_n period growth = Some v -> span_at_most M S start (first_device M ks) x -> v <= x.
  Proof.
    intros after_n period growth v found span. unfold subset_span_bound_repeating in found.
    destruct may_be_kept eqn:kept; [| discriminate found]. destruct (0 <=? growth); [| discriminate found]. cbn [andb] in found.
    destruct (chain_facts kept) as [_ [_ [well some_job]]]. pose proof (span_leads kept span) as leads_x.
    apply (least_end_repeating_sound _ well some_job _ _ _ _ _ _ found leads_x).
  Qed.
End Bounds.

(** Two devices, four microbatches, all passes take 1, but W of the last device 50. The span of that device alone is at least 208.
    With both devices the first one is measured, whose span is at least 12. So the bound on the device span may fall when a
    device is added, and with all devices it need not be the optimum. *)
Definition long_weight : model :=
  Model 2 2 4 (fun s => s) (fun k s => match k, s with W, 1%nat => 50 | _, _ => 1 end) (fun _ => 0) (fun _ => 1) (fun _ => 1)
    (fun _ => Some 4).

Example subset_span_bounds_may_fall :
  subset_span_bound long_weight [1%nat] = Some 208 /\ subset_span_bound long_weight [0%nat; 1%nat] = Some 12.
Proof. split; vm_compute; reflexivity. Qed.
