(** * EveryM: one check for every number of microbatches

    [bubbleproof verify --every-m] lays out and replays finitely many schedules, and states what is true of infinitely many: a
    warm-up, a piece of K microbatches that is repeated q times, and a cool-down, for every q. This file proves that the step from
    the finitely many to all of them is right.

    Let q be the number of repetitions. A _slot_ is a kind and a stage, for one remainder of microbatches modulo K. What is
    checked:

    + the piece has every slot of its device once, the warm-up has only passes of earlier microbatches of their slot, the cool-down
      none of earlier ones, and a pass does not need one that the piece has for an earlier microbatch (conditions 1 to 3,
      [repeatable_check]);
    + the schedule is complete and runs with r + c repetitions, c being at least 1;
    + its _state_ at the cut behind r + c repetitions is that at the cut behind r, L ticks later ([repeats_check]). The state is
      when each device is free, and, for each pass before the cut that one behind it needs, when its message is there, unless the
      device that needs it is free later.

    What follows for every q:

    - the schedule is complete ([complete_for_every_m]), for every q at all;
    - it is free of deadlock ([runs_for_every_m]), again for every q; one valid schedule with a repetition is enough, and no times
      are needed ([every_m_valid_check_sound]);
    - every device holds at most what it holds with one repetition ([peak_for_every_m], [within_capacity_for_every_m]);
    - with c more repetitions, from r on, every device ends exactly L later in the execution as soon as possible, so the least
      makespan grows by exactly L ([makespan_for_every_m]), and so does the least device span where the device of stage 0 has the
      largest span as soon as possible ([device_span_for_every_m]);
    - a repetition that is found with one cool-down is there with every other ([repeats_with_every_tail]).

    [every_m_check] is all of it as a program, [every_m_makespan], [every_m_span] and [every_m_peak] are the formulas, and
    [every_m_check_sound] says that they are right. [first_repetition] looks for r, c and L; it is not trusted. Fewer than r
    repetitions are replayed one by one ([replay_check_sound]).

    Conditions 1 and 2 alone carry completeness from any one q >= 1 to all q. That no microbatch has passes both in the warm-up
    and in the cool-down of the schedule that is replayed (condition 4), which the tool also asks, is not needed for F, I and W.
    At least one repetition is ([one_repetition_needed]).

    A state always comes again, so the search for it ends, if every device has a stage ([a_repetition_always_comes]).

    The parts: [Growing] has the schedules, [Earliest] executions as soon as possible, [Repeats] the step from q repetitions to
    q + c. This file draws the conclusions for every q. [EveryMCheck] has the programs and proves them right, [Recurrence] that
    a state always comes again, [EveryMExamples] examples.

    Not covered: a full backward B that its neighbour waits for as a whole, and recomputation. That [simulated] always finds the
    start times where there are some is _open_ here; the check does not rest on it, for it checks what it found. *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Require Import Bubbleproof.Growing Bubbleproof.Earliest Bubbleproof.Repeats.
Import ListNotations.
Open Scope Z_scope.

(** ** Makespan, device span and peak for every number of microbatches *)

Definition makespan_of (M : model) (S : schedule) (start : pass -> Z) : Z :=
  fold_right Z.max 0 (map (fun d => last_end M start (S d)) (seq 0 (devices M))).

(** x is the least makespan of a schedule: an execution has it, and none has less. *)
Definition least_makespan (M : model) (S : schedule) (x : Z) : Prop :=
  (exists start, runs M S start /\ makespan_at_most M S start x) /\
  (forall start y, runs M S start -> makespan_at_most M S start y -> x <= y).

Definition spans_at_most (M : model) (S : schedule) (start : pass -> Z) (x : Z) : Prop :=
  forall d, (d < devices M)%nat -> span_at_most M S start d x.

(** x is the device span of a schedule: an execution keeps every device within it, and none does with less. *)
Definition least_device_span (M : model) (S : schedule) (x : Z) : Prop :=
  (exists start, runs M S start /\ spans_at_most M S start x) /\
  (forall start y, runs M S start -> spans_at_most M S start y -> x <= y).

Definition first_start (start : pass -> Z) (l : list pass) : Z :=
  match l with
  | [] => 0
  | p :: _ => start p
  end.

(** From the start of the first pass of a device to the end of its last. *)
Definition span_of (M : model) (S : schedule) (start : pass -> Z) (d : nat) : Z :=
  last_end M start (S d) - first_start start (S d).

Lemma max_above : forall l x, In x l -> x <= fold_right Z.max 0 l.
Proof. intros l. induction l as [| y l IH]; intros x []; cbn; [lia |]. specialize (IH x H). lia. Qed.

Lemma max_nonneg : forall l, 0 <= fold_right Z.max 0 l.
Proof. intros l. induction l as [| y l IH]; cbn; lia. Qed.

Lemma max_below : forall l y, 0 <= y -> (forall x, In x l -> x <= y) -> fold_right Z.max 0 l <= y.
Proof.
  intros l. induction l as [| x l IH]; intros y some each; cbn; [exact some |].
  assert (x <= y) by (apply each; left; reflexivity).
  assert (fold_right Z.max 0 l <= y) by (apply IH; [exact some |]; intros z there; apply each; right; exact there).
  lia.
Qed.

Lemma max_moved : forall (A : Type) (f g : A -> Z) L l, 0 <= L -> l <> [] -> (forall a, In a l -> 0 <= f a /\ g a = f a + L) ->
  fold_right Z.max 0 (map g l) = fold_right Z.max 0 (map f l) + L.
Proof.
  intros A f g L l some. induction l as [| a l IH]; intros any each; [congruence |].
  destruct (each a (or_introl eq_refl)) as [low moved]. cbn. destruct l as [| b l]; [cbn; lia |].
  rewrite IH; [lia | discriminate |]. intros x there. apply each. right. exact there.
Qed.

Section Figures.
  Variable M : model.
  Variable S : schedule.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.

  Lemma at_home : forall p, exists_in M p -> (device_of M (stage_of p) < devices M)%nat /\ In p (S (device_of M (stage_of p))).
  Proof.
    intros p there. assert (inside : (device_of M (stage_of p) < devices M)%nat) by (apply Well; apply there).
    split; [exact inside |]. apply (Complete _ inside). auto.
  Qed.

  (** The last end as soon as possible is the least makespan. *)
  Theorem least_makespan_is : forall start, as_soon_as_possible M S start -> least_makespan M S (makespan_of M S start).
  Proof.
    intros start soon. split.
    - exists start. split; [apply soon |]. intros d inside p there.
      pose proof (last_end_covers M S start Well (proj1 soon) d p inside there) as covered.
      assert (last_end M start (S d) <= makespan_of M S start).
      { apply max_above. apply (in_map (fun d => last_end M start (S d))). apply in_seq. lia. }
      change (duration (problem_of M) p) with (time_of M p). lia.
    - intros other y run ends. assert (times : forall p, 0 <= time_of M p) by (intros [k s m]; apply Well).
      apply max_below.
      + destruct Well as [positive _]. destruct (at_home (Pass F 0 0)) as [inside there]; [split; cbn; assumption |].
        specialize (ends _ inside _ there). pose proof (start_nonneg M S other run (Pass F 0 0)). specialize (times (Pass F 0 0)).
        change (duration (problem_of M) (Pass F 0 0)) with (time_of M (Pass F 0 0)) in ends. lia.
      + intros x there. apply in_map_iff in there. destruct there as [d [same range]]. apply in_seq in range. subst x.
        assert (inside : (d < devices M)%nat) by lia.
        destruct (last_case _ (S d)) as [none | [a [u shape]]].
        * rewrite none. cbn. destruct Well as [positive _].
          destruct (at_home (Pass F 0 0)) as [inside_0 there]; [split; cbn; assumption |].
          specialize (ends _ inside_0 _ there). pose proof (start_nonneg M S other run (Pass F 0 0)).
          specialize (times (Pass F 0 0)).
          change (duration (problem_of M) (Pass F 0 0)) with (time_of M (Pass F 0 0)) in ends. lia.
        * rewrite shape, last_end_snoc. assert (there : In u (S d)) by (rewrite shape, in_app_iff; cbn; auto).
          specialize (ends d inside u there). change (duration (problem_of M) u) with (time_of M u) in ends.
          assert (start u <= other u); [| lia].
          apply (as_soon_as_possible_is_least M S start other Well Complete soon run). apply (Complete d inside). exact there.
  Qed.

  Notation first_device := (device_of M 0).

  (** No pass starts before the first pass of the device of stage 0. *)
  Lemma all_after_first : forall t, runs M S t -> forall p, exists_in M p -> first_start t (S first_device) <= t p.
  Proof.
    intros t run. destruct Well as [positive [_ [times [latencies _]]]].
    assert (later_ : forall u lag v, pass_needs M u lag v -> t u <= t v).
    { intros u lag v need. pose proof (need_respected M S t Well run u lag v need). specialize (times (kind_of u) (stage_of u)).
      unfold time_of in *.
      assert (0 <= lag) by (destruct need; auto; lia). lia. }
    assert (forward : forall s m, (s < stages M)%nat -> (m < microbatches M)%nat ->
      first_start t (S first_device) <= t (Pass F s m)).
    { intros s. induction s as [| s IH]; intros m one two.
      - destruct (at_home (Pass F 0 m)) as [inside there]; [split; assumption |]. cbn in inside, there.
        pose proof (device_one_at_a_time M S t Well run first_device inside) as ordered.
        destruct (S first_device) as [| f rest]; [destruct there |]. cbn in ordered |- *.
        destruct there as [same | there]; [subst; lia |]. destruct ordered as [each _]. specialize (each _ there).
        specialize (times (kind_of f) (stage_of f)). change (time_of M f) with (time M (kind_of f) (stage_of f)) in each. lia.
      - specialize (IH m ltac:(lia) two). pose proof (later_ _ _ _ (F_needs_F M s m one two)). lia. }
    assert (backward : forall n s m, (stages M - 1 - s = n)%nat -> (s < stages M)%nat -> (m < microbatches M)%nat ->
      first_start t (S first_device) <= t (Pass I s m)).
    { intros n. induction n as [| n IH]; intros s m far one two.
      - assert (s = stages M - 1)%nat by lia. subst s. pose proof (later_ _ _ _ (I_needs_F M m two)).
        specialize (forward (stages M - 1)%nat m one two). lia.
      - specialize (IH (1 + s)%nat m ltac:(lia) ltac:(lia) two). pose proof (later_ _ _ _ (I_needs_I M s m ltac:(lia) two)).
        cbn in IH. lia. }
    intros [[] s m] [one two]; cbn in one, two.
    - apply forward; assumption.
    - apply (backward (stages M - 1 - s)%nat); [reflexivity | exact one | exact two].
    - pose proof (backward (stages M - 1 - s)%nat s m eq_refl one two). pose proof (later_ _ _ _ (W_needs_I M s m one two)). lia.
  Qed.

  (** Counted from the first start of the device of stage 0, no execution has a pass earlier than the one as soon as possible. *)
  Lemma least_after_first : forall s t, as_soon_as_possible M S s -> runs M S t ->
    forall p, exists_in M p -> s p + first_start t (S first_device) <= t p.
  Proof.
    intros s t [run tightly] again p there. destruct (proj2 run) as [place sooner].
    set (z := first_start t (S first_device)).
    assert (claim : s p <= Z.max 0 (t p - z)).
    { apply (least_on (exists_in M) s (fun p => Z.max 0 (t p - z)) place); [intros v; lia | | exact there].
      intros v there_v. destruct (tightly v there_v) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
      - right. exists u, (time_of M u + lag). pose proof (waits_of_need M S u lag v Well need) as waiting.
        destruct (need_ends_exist M u lag v Well need) as [there_u _].
        split; [exact there_u |]. split; [apply (sooner _ _ _ waiting) |]. split; [lia |].
        pose proof (proj2 (proj1 again) _ _ _ waiting). pose proof (all_after_first t again u there_u). unfold z. lia.
      - destruct (last_case _ done) as [none | [a [u same]]]; subst; [left; exact soon |]. right.
        rewrite last_end_snoc in soon. exists u, (time_of M u).
        assert (next : follows (S d) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
        pose proof (waits_of_order M S d u v inside next) as waiting.
        assert (there_u : exists_in M u) by (apply (Complete d inside); rewrite shape, !in_app_iff; cbn; auto).
        split; [exact there_u |]. split; [apply (sooner _ _ _ waiting) |]. split; [exact soon |].
        pose proof (proj2 (proj1 again) _ _ _ waiting). pose proof (all_after_first t again u there_u). unfold z. lia. }
    pose proof (all_after_first t again p there). unfold z in claim. lia.
  Qed.

  Lemma first_start_least : forall t d p, runs M S t -> (d < devices M)%nat -> In p (S d) -> first_start t (S d) <= t p.
  Proof.
    intros t d p run inside there. pose proof (device_one_at_a_time M S t Well run d inside) as ordered.
    destruct (S d) as [| f rest]; [destruct there |]. cbn in *. destruct there as [same | there]; [subst; lia |].
    destruct ordered as [each _]. specialize (each _ there). destruct Well as [_ [_ [times _]]].
    specialize (times (kind_of f) (stage_of f)). unfold time_of in each. lia.
  Qed.

  (** Where the device of stage 0 has the largest span as soon as possible, that is the device span. *)
  Theorem least_device_span_is : forall s, as_soon_as_possible M S s ->
    (forall d, (d < devices M)%nat -> span_of M S s d <= span_of M S s first_device) ->
    least_device_span M S (span_of M S s first_device).
  Proof.
    intros s soon longest. split.
    - exists s. split; [apply soon |]. intros d inside p q there_p there_q. specialize (longest d inside).
      unfold span_of in longest at 1.
      pose proof (last_end_covers M S s Well (proj1 soon) d q inside there_q).
      pose proof (first_start_least s d p (proj1 soon) inside there_p). lia.
    - intros t y run within. destruct (at_home (Pass F 0 0)) as [inside there]; [split; cbn; [apply Well | assumption] |].
      cbn in inside, there. specialize (within first_device inside).
      destruct (last_case _ (S first_device)) as [none | [a [v shape]]]; [rewrite none in there; destruct there |].
      unfold span_of. assert (ends : last_end M s (S first_device) = s v + time_of M v) by (rewrite shape; apply last_end_snoc).
      rewrite ends. clear ends.
      assert (there_v : In v (S first_device)) by (rewrite shape, in_app_iff; cbn; auto).
      destruct (S first_device) as [| f rest] eqn:order_; [destruct there |].
      assert (there_f : In f (S first_device)) by (rewrite order_; left; reflexivity).
      rewrite <- order_ in there_v. specialize (within f v there_f there_v).
      pose proof (least_after_first s t soon run v) as late. rewrite order_ in late. cbn [first_start] in late |- *.
      assert (exists_v : exists_in M v) by (apply (Complete first_device inside); exact there_v). specialize (late exists_v).
      pose proof (start_nonneg M S s (proj1 soon) f). lia.
  Qed.
End Figures.

Lemma peak_from_app : forall M, well_formed M -> forall a b now,
  peak_from M now (a ++ b) = Z.max (peak_from M now a) (peak_from M (now + kept M a) b).
Proof.
  intros M well a. assert (some : forall l now, now <= peak_from M now l).
  { assert (acquired : forall p, 0 <= acquires M p).
    { intros [[] s m]; cbn; try lia. destruct well as [_ [_ [_ [_ holds]]]]. specialize (holds s). unfold acquires. cbn. lia. }
    intros l now. destruct l as [| p l]; cbn; [lia |]. specialize (acquired p). lia. }
  induction a as [| p a IH]; intros b now; cbn.
  - unfold kept. cbn. rewrite Z.add_0_r. pose proof (some b now). lia.
  - rewrite IH. unfold kept. cbn. fold (kept M a).
    replace (now + acquires M p - releases M p + kept M a) with (now + (acquires M p - releases M p + kept M a)) by lia.
    unfold kept. rewrite Z.max_assoc. reflexivity.
Qed.

Lemma peak_from_later : forall M n l now, peak_from M now (map (later n) l) = peak_from M now l.
Proof. intros M n l. induction l as [| p l IH]; intros now; [reflexivity |]. cbn. rewrite IH. reflexivity. Qed.

Lemma kept_later : forall M n l, kept M (map (later n) l) = kept M l.
Proof. intros M n l. unfold kept. induction l as [| p l IH]; [reflexivity |]. cbn. rewrite IH. reflexivity. Qed.

Lemma kept_app : forall M a b, kept M (a ++ b) = kept M a + kept M b.
Proof. intros M a b. apply sum_app. Qed.

Lemma kept_resized : forall M m l, kept (resized M m) l = kept M l.
Proof. reflexivity. Qed.

Lemma peak_from_resized : forall M m l now, peak_from (resized M m) now l = peak_from M now l.
Proof. intros M m l. induction l as [| p l IH]; intros now; [reflexivity |]. cbn. rewrite IH. reflexivity. Qed.

(** A peak within the capacity is all that memory asks. *)
Lemma peak_covers : forall M, well_formed M -> forall done p rest, held M done p <= peak M (done ++ p :: rest).
Proof.
  intros M well done p rest. unfold peak, held. rewrite (peak_from_app M well). cbn. lia.
Qed.

(** All passes of a device. *)
Definition all_passes (M : model) (d : nat) : list pass :=
  flat_map (fun s => flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M)))
    (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M))).

Lemma in_all_passes : forall M d p, In p (all_passes M d) <-> exists_in M p /\ device_of M (stage_of p) = d.
Proof.
  intros M d [k s m]. unfold all_passes, exists_in. rewrite in_flat_map. cbn [stage_of microbatch_of]. split.
  - intros [s' [range there]]. apply filter_In in range. destruct range as [range mine]. apply in_seq in range.
    apply Nat.eqb_eq in mine.
    apply in_flat_map in there. destruct there as [m' [range' there]]. apply in_seq in range'.
    cbn in there. destruct there as [same | [same | [same | []]]]; inversion same; subst; lia.
  - intros [[one two] mine]. exists s. split; [apply filter_In; split; [apply in_seq; lia | apply Nat.eqb_eq; exact mine] |].
    apply in_flat_map. exists m. split; [apply in_seq; lia |]. destruct k; cbn; auto.
Qed.

Lemma NoDup_all_passes : forall M d, NoDup (all_passes M d).
Proof.
  intros M d. unfold all_passes.
  assert (stages_ : NoDup (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M)))) by (apply NoDup_filter;
    apply seq_NoDup).
  assert (stage_ : forall s, NoDup (flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M)))).
  { intros s. pose proof (seq_NoDup (microbatches M) 0) as all. induction all as [| m k fresh others IHm]; [constructor |].
    cbn [flat_map].
    apply NoDup_join; [repeat constructor; cbn; intuition discriminate | exact IHm |].
    intros p one two. apply in_flat_map in two. destruct two as [m' [there two]].
    assert (microbatch_of p = m) by (cbn in one; intuition (subst; reflexivity)).
    assert (microbatch_of p = m') by (cbn in two; intuition (subst; reflexivity)). subst. contradiction. }
  induction stages_ as [| s l new rest IH]; [constructor |]. cbn [flat_map]. apply NoDup_join; [apply stage_ | exact IH |].
  - intros p one two. apply in_flat_map in one. destruct one as [m [_ one]]. apply in_flat_map in two.
    destruct two as [s' [there two]].
    apply in_flat_map in two. destruct two as [m' [_ two]].
    assert (stage_of p = s) by (cbn in one; intuition (subst; reflexivity)).
    assert (stage_of p = s') by (cbn in two; intuition (subst; reflexivity)). subst. contradiction.
Qed.

(** At its end a device holds nothing. *)
Lemma kept_complete : forall M S d, complete M S -> (d < devices M)%nat -> kept M (S d) = 0.
Proof.
  intros M S d whole inside. destruct (whole d inside) as [once members].
  assert (same : Permutation (S d) (all_passes M d)).
  { apply NoDup_Permutation; [exact once | apply NoDup_all_passes |]. intros p. rewrite in_all_passes. apply members. }
  unfold kept. rewrite (sum_permutation _ _ _ same). unfold all_passes. rewrite sum_flat_map.
  assert (none : forall s, sum (fun p => acquires M p - releases M p)
    (flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M))) = 0).
  { intros s. induction (seq 0 (microbatches M)) as [| m l IH]; [reflexivity |].
    cbn [flat_map]. rewrite sum_app, IH. cbn. lia. }
  induction (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M))) as [| s l IH]; [reflexivity |].
  change (sum (fun b => sum (fun p => acquires M p - releases M p)
    (flat_map (fun m => [Pass F b m; Pass I b m; Pass W b m]) (seq 0 (microbatches M)))) (s :: l) = 0).
  simpl sum at 1. rewrite none. exact IH.
Qed.

Section Every.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Variable Q : nat.
  Hypothesis Some_repetition : (1 <= Q)%nat.
  Hypothesis Whole : complete (model_at M G Q) (order G Q).

  (** Free of deadlock with every number of repetitions. *)
  Theorem runs_for_every_m : (exists start, runs (model_at M G Q) (order G Q) start) ->
    forall q, exists start, runs (model_at M G q) (order G q) start.
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros [start run] q. assert (placed : exists place, sequence_at M G q place).
    { destruct (Nat.le_gt_cases Q q) as [less | fewer].
      2: { apply (sequence_down M G Well Repeatable all q Q); [lia | apply run]. }
      replace q with (Q + (q - Q))%nat by lia. induction (q - Q)%nat as [| n IH].
      - rewrite Nat.add_0_r. apply run.
      - replace (Q + S n)%nat with (Q + n + 1)%nat by lia.
        apply (sequence_step M G Well Repeatable all 0 1 (Q + n) (Q + n)); [lia | lia | exact IH | exact IH]. }
    destruct placed as [place sooner].
    set (P := problem_of (model_at M G q)).
    set (longest := fold_right Z.max 0 (map (fun n => duration P (fst (fst n)) + snd (fst n)) (needs P)
      ++ map (duration P) (flat_map (order G q) (seq 0 (devices M))))).
    exists (fun p => longest * Z.of_nat (place p)). split; [| exists place; exact sooner].
    assert (some : 0 <= longest) by apply max_nonneg. split.
    - intros u. apply Z.mul_nonneg_nonneg; lia.
    - intros u w v waiting. pose proof (sooner u w v waiting) as next. assert (w <= longest); [| nia].
      destruct waiting as [u lag v need | l u v there shape]; apply max_above; apply in_app_iff.
      + left. apply (in_map (fun n => duration P (fst (fst n)) + snd (fst n)) (needs P) (u, lag, v)). exact need.
      + right. apply in_map. apply in_map_iff in there. destruct there as [d [same range]]. apply in_flat_map. exists d.
        split; [exact range |]. rewrite same. destruct shape as [a [b shape]]. rewrite shape, in_app_iff. cbn. auto.
  Qed.

  Lemma kept_body : forall d, (d < devices M)%nat -> kept M (body G d) = 0.
  Proof.
    intros d inside. pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    pose proof (kept_complete _ _ d (all 0%nat) inside) as without. pose proof (kept_complete _ _ d (all 1%nat) inside) as with_.
    unfold order, bodies in without, with_. cbn [seq flat_map] in without, with_.
    rewrite !kept_app, !kept_later in without, with_. unfold model_at in without, with_. rewrite !kept_resized in without, with_.
    change (kept M []) with 0 in *. rewrite app_nil_r, kept_later in with_. lia.
  Qed.

  Lemma peak_of_order : forall d q, (d < devices M)%nat ->
    peak M (order G (S q) d) = peak M (order G 1 d) /\ peak M (order G 0 d) <= peak M (order G 1 d).
  Proof.
    intros d q inside. pose proof (kept_body d inside) as none.
    assert (bodies_ : forall n now, kept M (bodies G d n) = 0 /\
      peak_from M now (bodies G d (S n)) = peak_from M now (body G d)).
    { intros n now. induction n as [| n [IH1 IH2]].
      - split; [reflexivity |]. unfold bodies. cbn [seq flat_map]. rewrite app_nil_r. apply peak_from_later.
      - assert (zero : kept M (bodies G d (S n)) = 0) by (rewrite bodies_next, kept_app, kept_later; lia).
        split; [exact zero |]. rewrite bodies_next, (peak_from_app M Well), IH2, zero, peak_from_later, Z.add_0_r. lia. }
    assert (shape : forall n, peak M (order G (S n) d) =
      Z.max (peak M (head G d)) (Z.max (peak_from M (kept M (head G d)) (body G d)) (peak_from M (kept M (head G d)) (tail G d)))).
    { intros n. unfold order, peak. rewrite !(peak_from_app M Well), peak_from_later. cbn [Z.add].
      rewrite (proj2 (bodies_ n _)), (proj1 (bodies_ (S n) 0)), Z.add_0_r. reflexivity. }
    split; [rewrite !shape; reflexivity |]. rewrite shape. unfold order, peak, bodies. cbn [seq flat_map app].
    rewrite (peak_from_app M Well), peak_from_later. cbn [Z.add]. lia.
  Qed.

  (** The peak of every device is that of one repetition. *)
  Theorem peak_for_every_m : forall d q, (d < devices M)%nat -> (1 <= q)%nat ->
    peak (model_at M G q) (order G q d) = peak M (order G 1 d).
  Proof.
    intros d q inside some. unfold peak. unfold model_at. rewrite peak_from_resized. destruct q as [| q]; [lia |].
    apply (peak_of_order d q inside).
  Qed.

  (** Within the capacities with one repetition, within them with any number. *)
  Theorem within_capacity_for_every_m :
    (forall d limit, (d < devices M)%nat -> capacity M d = Some limit -> peak M (order G 1 d) <= limit) ->
    forall q, within_capacity (model_at M G q) (order G q).
  Proof.
    intros fits q d limit inside bounded_ done p rest shape. cbn in inside, bounded_. specialize (fits d limit inside bounded_).
    pose proof (peak_covers (model_at M G q) (resized_well M _ Well) done p rest) as covered. rewrite <- shape in covered.
    unfold peak, model_at in covered. rewrite peak_from_resized in covered. fold (peak M (order G q d)) in covered.
    apply (Z.le_trans _ _ _ covered). destruct q as [| q].
    - pose proof (proj2 (peak_of_order d 0 inside)). lia.
    - pose proof (proj1 (peak_of_order d q inside)). lia.
  Qed.

  (** *** The formula of the makespan *)

  Variable ref : pass -> Z.
  Variables r c : nat.
  Variable L : Z.
  Hypothesis Enough : (r + c <= Q)%nat.
  Hypothesis Some_more : (1 <= c)%nat.
  Hypothesis Reference : as_soon_as_possible (model_at M G Q) (order G Q) ref.
  Hypothesis Repeats : repeats M G ref r c L.

  (** After n times c more repetitions, an execution as soon as possible ends n times L later on every device. *)
  Theorem ends_for_every_m : forall q s, (r <= q)%nat -> as_soon_as_possible (model_at M G q) (order G q) s ->
    forall n, exists t, as_soon_as_possible (model_at M G (q + n * c)) (order G (q + n * c)) t /\
      (forall d, (d < devices M)%nat -> last_end M t (order G (q + n * c) d) = last_end M s (order G q d) + Z.of_nat n * L) /\
      (forall d, (d < devices M)%nat -> front G d r <> [] -> first_start t (order G (q + n * c) d) = first_start s (order G q d)).
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros q s less soon n. induction n as [| n [t [soon_t [ends firsts]]]].
    - exists s. rewrite Nat.mul_0_l, Nat.add_0_r. split; [exact soon |]. split; intros; [lia | reflexivity].
    - replace (q + S n * c)%nat with (q + n * c + c)%nat by lia. assert (more : (r <= q + n * c)%nat) by lia.
      exists (extended M G r c L t ref).
      assert (next : as_soon_as_possible (model_at M G (q + n * c + c)) (order G (q + n * c + c)) (extended M G r c L t ref))
        by (apply (extended_as_soon_as_possible M G Well Repeatable all r c (q + n * c) Q); assumption).
      split; [exact next |]. split.
      + intros d inside. rewrite (extended_ends M G Well Repeatable all r c (q + n * c) Q L t ref) by assumption.
        rewrite ends by exact inside. lia.
      + intros d inside some. rewrite <- (firsts d inside some).
        rewrite (order_is G d r (q + n * c) more). rewrite (order_is G d r (q + n * c + c)) by lia.
        destruct (front G d r) as [| f l] eqn:front_; [congruence |]. cbn.
        apply (before_is_same M G Well Repeatable all r (q + n * c + c) (q + n * c) _ _ ltac:(lia) more next soon_t d f inside).
        rewrite front_. left. reflexivity.
  Qed.

  Theorem makespan_for_every_m : forall q s, (r <= q)%nat -> (0 < size G q)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s ->
    forall n, least_makespan (model_at M G (q + n * c)) (order G (q + n * c)) (makespan_of M (order G q) s + Z.of_nat n * L).
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros q s less some soon n. destruct (ends_for_every_m q s less soon n) as [t [soon_t [ends _]]].
    replace (makespan_of M (order G q) s + Z.of_nat n * L) with (makespan_of (model_at M G (q + n * c)) (order G (q + n * c)) t).
    - apply least_makespan_is; [apply resized_well; exact Well | apply all | cbn; unfold size in *; lia | exact soon_t].
    - unfold makespan_of. cbn [devices model_at resized]. apply max_moved.
      + pose proof (not_sooner M G ref r c L Repeats). lia.
      + destruct Well as [positive [owners _]]. specialize (owners 0%nat positive). destruct (devices M); [lia | discriminate].
      + intros d range. apply in_seq in range. split.
        * apply (last_end_nonneg (model_at M G q) (order G q) s (resized_well M _ Well) (proj1 soon)).
        * apply ends. lia.
  Qed.

  (** The same of the device span, where the device of stage 0 has the largest span as soon as possible. *)
  Theorem device_span_for_every_m : forall q s, (r <= q)%nat -> (0 < size G q)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s ->
    (forall d, (d < devices M)%nat -> front G d r <> []) ->
    (forall d, (d < devices M)%nat -> span_of M (order G q) s d <= span_of M (order G q) s (device_of M 0)) ->
    forall n, least_device_span (model_at M G (q + n * c)) (order G (q + n * c)) (span_of M (order G q) s (device_of M 0) +
      Z.of_nat n * L).
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros q s less some soon begun longest n. destruct (ends_for_every_m q s less soon n) as [t [soon_t [ends firsts]]].
    assert (first_inside : (device_of M 0 < devices M)%nat) by (destruct Well as [positive [owners _]]; apply owners;
      exact positive).
    assert (moved : forall d, (d < devices M)%nat ->
      span_of (model_at M G (q + n * c)) (order G (q + n * c)) t d = span_of M (order G q) s d + Z.of_nat n * L).
    { intros d inside. unfold span_of. change (last_end (model_at M G (q + n * c))) with (last_end M).
      rewrite ends, firsts by auto. lia. }
    rewrite <- moved by exact first_inside.
    apply (least_device_span_is (model_at M G (q + n * c)) (order G (q + n * c)) (resized_well M _ Well) (all _)).
    - cbn. unfold size in *. lia.
    - exact soon_t.
    - intros d inside. cbn in inside. change (device_of (model_at M G (q + n * c)) 0) with (device_of M 0).
      rewrite !moved by assumption. specialize (longest d inside). lia.
  Qed.
End Every.
