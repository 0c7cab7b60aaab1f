(** * Replay of a pipeline: the earliest start of every pass, and the makespan

    [Replay] proves that its program finds the earliest start times of any tasks. This file applies the program to the passes
    of a pipeline.

    - [is_complete] says whether a schedule is complete ([is_complete_iff]). The rest is about complete schedules.
    - [replay_model] gives start times exactly when the schedule has an execution ([replay_decides]). They are an execution
      ([replay_runs]), and no execution starts any pass earlier ([replay_earliest]). Where it gives none, passes wait for
      each other in a cycle: the schedule deadlocks ([replay_deadlock]).
    - [makespan] is reached by an execution, and none is shorter ([makespan_is_least]).
    - Let each single pass and each single message take any time within a range. Then no pass starts or ends later than in
      the replay where all take the longest, nor earlier than in the one where all take the shortest ([ranges]). So these
      two replays are the exact worst case and the exact best case.

    Why it matters: these are the figures that a verdict on a schedule consists of, apart from memory.

    The number of a pass costs as many steps as its microbatch, since it is counted from zero. Besides this, the program is
    as fast as that of [Replay].

    What is not proved: anything about models with links, collectives, copies, overlapped pairs or recomputation. The device
    span is the subject of [Span]. *)

From Coq Require Import ZArith List Lia Bool FMapPositive Permutation Relation_Operators.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Replay.
Import ListNotations.
Open Scope Z_scope.

(** ** Numbers for passes *)

(** One number for two: the digits of the first, each behind a 0, then a 1, then the second. *)
Fixpoint paired (p q : positive) : positive :=
  match p with
  | xH => q~1
  | p~0 => (paired p q)~0~0
  | p~1 => (paired p q)~1~0
  end%positive.

Lemma paired_injective : forall p q r s, paired p q = paired r s -> p = r /\ q = s.
Proof.
  intros p. induction p as [p IH | p IH |]; intros q [r | r |] s same; cbn in same; inversion same as [inner].
  - destruct (IH _ _ _ inner) as [one two]. subst. auto.
  - destruct (IH _ _ _ inner) as [one two]. subst. auto.
  - auto.
Qed.

Definition pass_key (p : pass) : positive :=
  let code := paired (Pos.of_succ_nat (stage_of p)) (Pos.of_succ_nat (microbatch_of p)) in
  match kind_of p with
  | F => code~0
  | I => code~0~1
  | W => code~1~1
  end%positive.

Lemma pass_key_injective : forall p q, pass_key p = pass_key q -> p = q.
Proof.
  intros [k s m] [l t n] same. unfold pass_key in same. cbn [kind_of stage_of microbatch_of] in same.
  destruct k, l; inversion same as [inner]; apply paired_injective in inner; destruct inner as [one two];
    apply SuccNat2Pos.inj in one; apply SuccNat2Pos.inj in two; subst; reflexivity.
Qed.

(** ** Whether a schedule is complete *)

(** No pass is there twice, nor among those that were met before. *)
Fixpoint all_new (met : PositiveMap.t unit) (l : list pass) : bool :=
  match l with
  | [] => true
  | p :: rest =>
    match PositiveMap.find (pass_key p) met with
    | Some _ => false
    | None => all_new (PositiveMap.add (pass_key p) tt met) rest
    end
  end.

(** How many passes a device has. *)
Definition pass_count (M : model) (d : nat) : nat :=
  length (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M))) * (3 * microbatches M).

Definition belongs (M : model) (d : nat) (p : pass) : bool :=
  Nat.ltb (stage_of p) (stages M) && Nat.ltb (microbatch_of p) (microbatches M) && Nat.eqb (device_of M (stage_of p)) d.

Definition is_complete_on (M : model) (d : nat) (l : list pass) : bool :=
  forallb (belongs M d) l && Nat.eqb (length l) (pass_count M d) && all_new (PositiveMap.empty unit) l.

Definition is_complete (M : model) (S : schedule) : bool :=
  forallb (fun d => is_complete_on M d (S d)) (seq 0 (devices M)).

Lemma all_new_spec : forall l met, all_new met l = true <->
  NoDup l /\ (forall p, In p l -> PositiveMap.find (pass_key p) met = None).
Proof.
  intros l. induction l as [| q l IH]; intros met; cbn [all_new].
  - split; [intros _; split; [constructor | intros p []] | reflexivity].
  - destruct (PositiveMap.find (pass_key q) met) as [[] |] eqn:known.
    + split; [discriminate |]. intros [_ fresh]. rewrite (fresh q (or_introl eq_refl)) in known. discriminate.
    + rewrite IH. split.
      * intros [distinct fresh]. split.
        -- constructor; [| exact distinct]. intros inside. specialize (fresh q inside).
           rewrite PositiveMap.gss in fresh. discriminate.
        -- intros p [same | inside]; [subst; exact known |]. specialize (fresh p inside).
           destruct (Pos.eq_dec (pass_key p) (pass_key q)) as [same | other]; [rewrite same; exact known |].
           rewrite PositiveMap.gso in fresh by exact other. exact fresh.
      * intros [distinct fresh]. inversion distinct as [| x y absent rest]; subst. split; [exact rest |].
        intros p inside. rewrite PositiveMap.gso; [apply fresh; right; exact inside |].
        intros same. apply pass_key_injective in same. subst. contradiction.
Qed.

Lemma belongs_spec : forall M d p, belongs M d p = true <-> exists_in M p /\ device_of M (stage_of p) = d.
Proof.
  intros M d p. unfold belongs, exists_in. rewrite !andb_true_iff, !Nat.ltb_lt, Nat.eqb_eq. tauto.
Qed.

(** The passes of a device, in some order. *)
Definition passes_of (M : model) (d : nat) : list pass :=
  flat_map (fun s => flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M)))
    (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M))).

Lemma passes_of_spec : forall M d p, In p (passes_of M d) <-> exists_in M p /\ device_of M (stage_of p) = d.
Proof.
  intros M d [k s m]. unfold passes_of, exists_in. cbn [stage_of microbatch_of]. rewrite in_flat_map. split.
  - intros [t [in_t inside]]. apply filter_In in in_t. destruct in_t as [in_t on]. apply in_seq in in_t.
    apply Nat.eqb_eq in on. apply in_flat_map in inside. destruct inside as [n [in_n inside]]. apply in_seq in in_n.
    destruct inside as [same | [same | [same | []]]]; inversion same; subst; lia.
  - intros [[in_s in_m] on]. exists s. split.
    + apply filter_In. split; [apply in_seq; lia | apply Nat.eqb_eq; exact on].
    + apply in_flat_map. exists m. split; [apply in_seq; lia |]. destruct k; cbn; auto.
Qed.

Lemma nodup_flat_map : forall (A B : Type) (g : A -> list B) (back : B -> A) l,
  NoDup l -> (forall a, NoDup (g a)) -> (forall a b, In b (g a) -> back b = a) -> NoDup (flat_map g l).
Proof.
  intros A B g back l distinct each origin. induction distinct as [| a l absent distinct IH]; cbn; [constructor |].
  apply nodup_app; [apply each | exact IH |]. intros b here later. apply in_flat_map in later.
  destruct later as [c [in_l there]]. apply origin in here. apply origin in there. subst. contradiction.
Qed.

Lemma passes_of_distinct : forall M d, NoDup (passes_of M d).
Proof.
  intros M d. unfold passes_of. apply nodup_flat_map with (back := stage_of).
  - apply NoDup_filter. apply seq_NoDup.
  - intros s. apply nodup_flat_map with (back := microbatch_of).
    + apply seq_NoDup.
    + intros m. repeat constructor; cbn; intuition discriminate.
    + intros m p [same | [same | [same | []]]]; subst; reflexivity.
  - intros s p inside. apply in_flat_map in inside. destruct inside as [m [_ [same | [same | [same | []]]]]]; subst; reflexivity.
Qed.

Lemma length_flat_map : forall (A B : Type) (g : A -> list B) n l, (forall a, length (g a) = n) ->
  length (flat_map g l) = (length l * n)%nat.
Proof. intros A B g n l each. induction l as [| a l IH]; cbn; [reflexivity |]. rewrite app_length, IH, each. reflexivity. Qed.

Lemma passes_of_length : forall M d, length (passes_of M d) = pass_count M d.
Proof.
  intros M d. unfold passes_of, pass_count. apply length_flat_map. intros s.
  rewrite (length_flat_map _ _ _ 3) by reflexivity. rewrite seq_length. lia.
Qed.

(** The program says whether each device runs each of its passes once, and nothing else. *)
Theorem is_complete_iff : forall M S, is_complete M S = true <-> complete M S.
Proof.
  intros M S. unfold is_complete, complete. rewrite forallb_forall.
  assert (each : forall d, is_complete_on M d (S d) = true <->
    NoDup (S d) /\ (forall p, In p (S d) <-> exists_in M p /\ device_of M (stage_of p) = d)).
  { intros d. unfold is_complete_on. rewrite !andb_true_iff, forallb_forall, Nat.eqb_eq, all_new_spec, <- passes_of_length. split.
    - intros [[within size] [distinct _]]. split; [exact distinct |].
      assert (included : incl (S d) (passes_of M d)).
      { intros p inside. apply passes_of_spec. apply belongs_spec. apply within. exact inside. }
      assert (all : incl (passes_of M d) (S d)).
      { apply NoDup_length_incl; [exact distinct | rewrite size; reflexivity | exact included]. }
      intros p. rewrite <- passes_of_spec. split; [apply included | apply all].
    - intros [distinct same]. split; [split | split].
      + intros p inside. apply belongs_spec. apply same. exact inside.
      + apply Permutation_length. apply NoDup_Permutation; [exact distinct | apply passes_of_distinct |].
        intros p. rewrite passes_of_spec. apply same.
      + exact distinct.
      + intros p _. apply PositiveMap.gempty. }
  split.
  - intros every d inside. apply each. apply every. apply in_seq. lia.
  - intros every d inside. apply each. apply every. apply in_seq in inside. lia.
Qed.

(** ** What a pass needs *)

Definition needed_passes (M : model) (p : pass) : list (pass * Z) :=
  let s := stage_of p in
  let m := microbatch_of p in
  match kind_of p with
  | F =>
    match s with
    | 0%nat => []
    | S before => [(Pass F before m, latency M before)]
    end
  | I => if Nat.eqb (S s) (stages M) then [(Pass F s m, 0)] else [(Pass I (S s) m, latency M s)]
  | W => [(Pass I s m, 0)]
  end.

Lemma needed_passes_spec : forall M v, exists_in M v -> forall u lag,
  In (u, lag) (needed_passes M v) <-> pass_needs M u lag v.
Proof.
  intros M [k s m] [in_stages in_microbatches] u lag. cbn [stage_of microbatch_of] in *.
  unfold needed_passes. cbn [kind_of stage_of microbatch_of]. split.
  - intros inside. destruct k.
    + destruct s as [| s]; [destruct inside |]. destruct inside as [same | []]. inversion same; subst. constructor; assumption.
    + destruct (Nat.eqb_spec (S s) (stages M)) as [last | other]; destruct inside as [same | []]; inversion same; subst.
      * replace s with (stages M - 1)%nat by lia. constructor. exact in_microbatches.
      * constructor; [lia | exact in_microbatches].
    + destruct inside as [same | []]. inversion same; subst. constructor; assumption.
  - intros need. inversion need as [t n before in_m | n in_m | t n before in_m | t n before in_m]; subst.
    + left. reflexivity.
    + destruct (Nat.eqb_spec (S (stages M - 1)) (stages M)) as [last | other]; [left; reflexivity | lia].
    + destruct (Nat.eqb_spec (S s) (stages M)) as [last | other]; [lia | left; reflexivity].
    + left. reflexivity.
Qed.

Lemma pass_needs_exist : forall M u lag v, (0 < stages M)%nat -> pass_needs M u lag v -> exists_in M u /\ exists_in M v.
Proof.
  intros M u lag v some need. destruct need; unfold exists_in; cbn [stage_of microbatch_of]; lia.
Qed.

(** ** Replay *)

Definition replay_model (M : model) (S : schedule) : option (PositiveMap.t Z) :=
  replay pass_key (problem_of M) (needed_passes M) (orders_of M S).

Definition start_of (starts : PositiveMap.t Z) (p : pass) : Z := start_in pass_key starts p.

(** The earliest end of the last pass; nothing for a schedule that deadlocks. *)
Definition makespan (M : model) (S : schedule) : option Z :=
  replay_makespan pass_key (problem_of M) (needed_passes M) (orders_of M S).

Section Pipeline.
  Variable M : model.
  Variable S : schedule.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.

  Lemma in_orders : forall p, In p (concat (orders_of M S)) <-> exists_in M p.
  Proof.
    intros p. unfold orders_of. rewrite in_concat. split.
    - intros [l [in_O in_l]]. apply in_map_iff in in_O. destruct in_O as [d [same inside]]. subst l.
      apply in_seq in inside. apply (proj2 (Complete d (proj2 inside))) in in_l. apply in_l.
    - intros exists_p. pose proof (proj1 (proj2 Well) _ (proj1 exists_p)) as in_devices.
      exists (S (device_of M (stage_of p))). split; [apply in_map; apply in_seq; lia |].
      apply (proj2 (Complete _ in_devices)). split; [exact exists_p | reflexivity].
  Qed.

  Lemma orders_distinct : NoDup (concat (orders_of M S)).
  Proof.
    unfold orders_of.
    assert (each : forall n k, (n + k <= devices M)%nat -> NoDup (concat (map S (seq n k)))).
    { intros n k. revert n. induction k as [| k IH]; intros n room; cbn; [constructor |].
      assert (here : (n < devices M)%nat) by lia.
      apply nodup_app; [apply (Complete n here) | apply IH; lia |].
      intros p in_n elsewhere. apply in_concat in elsewhere. destruct elsewhere as [l [in_map_ in_l]].
      apply in_map_iff in in_map_. destruct in_map_ as [d [same inside]]. subst l. apply in_seq in inside.
      assert (there : (d < devices M)%nat) by lia.
      apply (proj2 (Complete n here)) in in_n. apply (proj2 (Complete d there)) in in_l. lia. }
    apply each. lia.
  Qed.

  Lemma orders_needs : forall v, In v (concat (orders_of M S)) -> forall u lag,
    In (u, lag) (needed_passes M v) <-> In (u, lag, v) (needs (problem_of M)).
  Proof.
    intros v inside u lag. apply in_orders in inside. rewrite needs_are_pass_needs by apply Well.
    apply needed_passes_spec. exact inside.
  Qed.

  Lemma orders_covered : covered (problem_of M) (orders_of M S).
  Proof.
    intros u lag v need. apply needs_are_pass_needs in need; [| apply Well]. rewrite !in_orders.
    apply pass_needs_exist with lag; [apply Well | exact need].
  Qed.

  (** Start times that replay gives run the schedule. *)
  Theorem replay_runs : forall starts, replay_model M S = Some starts -> runs M S (start_of starts).
  Proof.
    apply (replay_is_execution pass_key _ _ _ pass_key_injective orders_needs orders_distinct orders_covered).
  Qed.

  (** No execution starts any pass earlier. *)
  Theorem replay_earliest : forall starts start, replay_model M S = Some starts -> runs M S start ->
    forall p, start_of starts p <= start p.
  Proof.
    intros starts start found runs_.
    apply (replay_is_least pass_key _ _ _ pass_key_injective orders_needs orders_distinct orders_covered starts found).
    exact runs_.
  Qed.

  (** Replay gives start times exactly when the schedule has an execution. *)
  Theorem replay_decides : (exists starts, replay_model M S = Some starts) <-> (exists start, runs M S start).
  Proof.
    apply (replay_iff_execution pass_key _ _ _ pass_key_injective orders_needs orders_distinct orders_covered).
  Qed.

  (** Where it gives none, the schedule deadlocks: it has no execution, since passes wait for each other in a cycle. *)
  Theorem replay_deadlock : replay_model M S = None ->
    (exists p, depends (problem_of M) (orders_of M S) p p) /\ (forall start, ~ runs M S start).
  Proof.
    intros none.
    destruct (replay_none_is_cycle pass_key _ _ _ pass_key_injective orders_needs orders_distinct orders_covered none)
      as [p circular].
    split; [exists p; exact circular |]. intros start runs_. apply (execution_is_acyclic _ _ start runs_ p). exact circular.
  Qed.

  Lemma all_end_by_makespan : forall start x, all_end_by (problem_of M) (orders_of M S) start x <-> makespan_at_most M S start x.
  Proof.
    intros start x. unfold all_end_by, makespan_at_most, orders_of. split.
    - intros each d inside. apply each. apply in_map. apply in_seq. lia.
    - intros each l inside. apply in_map_iff in inside. destruct inside as [d [same inside]]. subst l.
      apply in_seq in inside. apply each. lia.
  Qed.

  Lemma makespan_nonneg : forall start y, (0 < microbatches M)%nat -> runs M S start -> makespan_at_most M S start y -> 0 <= y.
  Proof.
    intros start y some runs_ ends. pose (p := Pass F 0 0).
    assert (exists_p : exists_in M p) by (split; [apply Well | exact some]).
    apply in_orders in exists_p. apply in_concat in exists_p. destruct exists_p as [l [in_O in_l]].
    apply all_end_by_makespan in ends. specialize (ends l in_O p in_l). pose proof (proj1 (proj1 runs_) p).
    pose proof (proj1 (problem_sane M Well) p). lia.
  Qed.

  (** An execution takes the makespan, and none takes less. Without a microbatch there is no pass, and the makespan is 0. *)
  Theorem makespan_is_least : forall x, makespan M S = Some x ->
    0 <= x /\
    (exists start, runs M S start /\ makespan_at_most M S start x) /\
    (forall start y, runs M S start -> makespan_at_most M S start y -> 0 <= y \/ (0 < microbatches M)%nat -> x <= y).
  Proof.
    intros x found.
    destruct (replay_makespan_least pass_key _ _ _ pass_key_injective orders_needs orders_distinct orders_covered x found)
      as [above [[start [runs_ ends]] smallest]].
    split; [exact above |]. split.
    - exists start. split; [exact runs_ | apply all_end_by_makespan; exact ends].
    - intros other y others in_time some. apply (smallest other y others); [| apply all_end_by_makespan; exact in_time].
      destruct some as [positive | some]; [exact positive | apply (makespan_nonneg other); assumption].
  Qed.

  (** A schedule has a makespan exactly when it has an execution. *)
  Theorem makespan_exists : (exists x, makespan M S = Some x) <-> (exists start, runs M S start).
  Proof.
    rewrite <- replay_decides. unfold makespan, replay_makespan. fold (replay_model M S).
    destruct (replay_model M S) as [starts |]; split; intros [x found]; try discriminate; eexists; reflexivity.
  Qed.
End Pipeline.

(** ** Ranges *)

(** [low] and [high] are the same pipeline with its shortest and its longest times. P says how long every single pass and
    message takes: anything between. *)
Section Ranges.
  Variables low high : model.
  Variable S : schedule.
  Variable P : problem pass.
  Hypothesis Well_low : well_formed low.
  Hypothesis Well_high : well_formed high.
  Hypothesis Complete_low : complete low S.
  Hypothesis Complete_high : complete high S.
  Hypothesis Devices : devices low = devices high.
  Hypothesis At_least : no_longer (problem_of low) P.
  Hypothesis At_most : no_longer P (problem_of high).

  Lemma same_orders : orders_of low S = orders_of high S.
  Proof. unfold orders_of. rewrite Devices. reflexivity. Qed.

  (** Replay with the longest times is the worst case, and replay with the shortest times the best. *)
  Theorem ranges : forall best worst, replay_model low S = Some best -> replay_model high S = Some worst ->
    exists start, least P (orders_of high S) start /\ forall p,
      start_of best p <= start p <= start_of worst p /\
      start_of best p + time_of low p <= start p + duration P p <= start_of worst p + time_of high p.
  Proof.
    intros best worst found_low found_high.
    pose proof (replay_is_least pass_key _ _ _ pass_key_injective (orders_needs low S Well_low Complete_low)
      (orders_distinct low S Complete_low) (orders_covered low S Well_low Complete_low) best found_low) as least_low.
    pose proof (replay_is_least pass_key _ _ _ pass_key_injective (orders_needs high S Well_high Complete_high)
      (orders_distinct high S Complete_high) (orders_covered high S Well_high Complete_high) worst found_high) as least_high.
    rewrite same_orders in least_low.
    destruct (execution_of_shorter _ _ _ _ At_most (proj1 least_high)) as [runs_ _].
    destruct (least_exists pass_key pass_key_injective P (orders_of high S)) as [start least_P]; [eexists; exact runs_ |].
    exists start. split; [exact least_P |]. intros p.
    destruct (least_monotone _ _ _ _ _ At_least least_low least_P p) as [start_low end_low].
    destruct (least_monotone _ _ _ _ _ At_most least_P least_high p) as [start_high end_high].
    cbn [duration problem_of] in *. unfold start_of. lia.
  Qed.

  (** So the makespan lies between those of the two replays: y is enough, and less than x is not. *)
  Theorem makespan_ranges : forall x y, makespan low S = Some x -> makespan high S = Some y ->
    exists start, least P (orders_of high S) start /\ all_end_by P (orders_of high S) start y /\
      forall other z, execution P (orders_of high S) other -> 0 <= z -> all_end_by P (orders_of high S) other z -> x <= z.
  Proof.
    intros x y found_low found_high.
    destruct (makespan_is_least low S Well_low Complete_low x found_low) as [_ [_ smallest]].
    destruct (makespan_is_least high S Well_high Complete_high y found_high) as [_ [[slow [runs_ ends]] _]].
    destruct (execution_of_shorter _ _ _ _ At_most runs_) as [runs_P earlier].
    destruct (least_exists pass_key pass_key_injective P (orders_of high S)) as [start [runs_start least_P]];
      [eexists; exact runs_P |].
    exists start. split; [split; assumption |]. split.
    - apply all_end_by_makespan in ends. intros l in_O p in_l. specialize (ends l in_O p in_l). specialize (earlier p).
      pose proof (least_P slow runs_P p). lia.
    - intros other z others positive in_time. rewrite <- same_orders in others, in_time.
      destruct (execution_of_shorter _ _ _ _ At_least others) as [runs_low sooner].
      apply (smallest other z runs_low); [| left; exact positive].
      apply all_end_by_makespan. intros l in_O p in_l. specialize (in_time l in_O p in_l). specialize (sooner p). lia.
  Qed.

  (** The span of a device is no longer than in the worst case either: start times that run the schedule with the longest
      times run it with these, and each pass ends no later. *)
  Theorem span_ranges : forall start, runs high S start ->
    execution P (orders_of high S) start /\
    forall d x, span_at_most high S start d x -> forall p q, In p (S d) -> In q (S d) -> start q + duration P q - start p <= x.
  Proof.
    intros start runs_. destruct (execution_of_shorter _ _ _ _ At_most runs_) as [runs_P earlier]. split; [exact runs_P |].
    intros d x fits p q in_p in_q. specialize (fits p q in_p in_q). specialize (earlier q).
    cbn [duration problem_of] in earlier. lia.
  Qed.
End Ranges.

(** ** Two examples *)

(** Two devices with a stage each, two microbatches, passes of one tick. *)
Definition two_devices : model :=
  Model 2 2 2 (fun s => s) (fun _ _ => 1) (fun _ => 0) (fun _ => 2) (fun _ => 1) (fun _ => None).

Definition one_F_one_B : schedule := fun d =>
  match d with
  | 0%nat => [Pass F 0 0; Pass F 0 1; Pass I 0 0; Pass W 0 0; Pass I 0 1; Pass W 0 1]
  | _ => [Pass F 1 0; Pass I 1 0; Pass W 1 0; Pass F 1 1; Pass I 1 1; Pass W 1 1]
  end.

Example one_F_one_B_takes_8 : makespan two_devices one_F_one_B = Some 8.
Proof. vm_compute. reflexivity. Qed.

(** Device 0 wants the gradient of microbatch 0 before it runs F of microbatch 1, and device 1 wants F of both first. *)
Definition impatient : schedule := fun d =>
  match d with
  | 0%nat => [Pass F 0 0; Pass I 0 0; Pass W 0 0; Pass F 0 1; Pass I 0 1; Pass W 0 1]
  | _ => [Pass F 1 0; Pass F 1 1; Pass I 1 0; Pass W 1 0; Pass I 1 1; Pass W 1 1]
  end.

Example impatient_deadlocks : makespan two_devices impatient = None.
Proof. vm_compute. reflexivity. Qed.
