(** * Replay: whether orders run, and when everything starts at the earliest

    Each resource is given the order of its tasks. This file proves when such orders run at all, and how to compute the
    earliest start times.

    - Orders run exactly when no task waits for itself, directly or through others ([execution_iff_acyclic]). Tasks that take
      no time are why an execution has a sequence: without it, a cycle of them could start at one instant
      ([cycle_of_no_time]).
    - [replay] is a program. Where it gives start times, these are an execution, and no execution starts any task earlier
      ([replay_is_execution], [replay_is_least]). Where it gives none, some tasks wait for each other in a cycle
      ([replay_none_is_cycle]). So it gives start times exactly when there is an execution ([replay_iff_execution]).
    - The makespan that it finds is reached, and none is shorter ([replay_makespan_least]).
    - With shorter durations and lags, no task starts later, and none ends later ([least_monotone], [makespan_monotone]). So
      replay with the longest times gives the worst case, and replay with the shortest times the best.

    The theorems about the program hold where no task is in two places of the orders, and where every task that is needed or
    needs another one is in some order. [PipelineReplay] shows this for the passes of a pipeline.

    Why it matters: a checker replays a schedule to find its makespan. These theorems say that the figure which it finds is
    right, and that a schedule that it rejects for a deadlock has one.

    The program sweeps over the resources, and runs each of them as far as it goes, until a sweep runs nothing. Each sweep
    but the last runs a task at least, and fails at most once on each resource. So with n tasks on r resources it looks at
    the needs of a task at most n + (n + 1) * r times.

    What is not proved: anything about links, collectives or copies, beyond that they are resources and tasks too. *)

From Coq Require Import ZArith List Lia Bool FMapPositive Relation_Operators.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Import ListNotations.
Open Scope Z_scope.

(** ** Lists without duplicates, and cycles *)

Section Lists.
  Context {A : Type}.

  Lemma app_nodup : forall l k : list A, NoDup (l ++ k) -> NoDup l /\ NoDup k /\ (forall u, In u l -> ~ In u k).
  Proof.
    intros l k. induction l as [| v l IH]; cbn; intros distinct.
    - split; [constructor | split; [exact distinct | intros u []]].
    - inversion distinct as [| same other fresh rest]; subst. destruct (IH rest) as [left [right apart]].
      rewrite in_app_iff in fresh. split; [constructor; tauto |]. split; [exact right |].
      intros u [here | later] inside; [subst; tauto | apply (apart u); assumption].
  Qed.

  Lemma nodup_app : forall l k : list A, NoDup l -> NoDup k -> (forall u, In u l -> ~ In u k) -> NoDup (l ++ k).
  Proof.
    intros l k. induction l as [| v l IH]; cbn; intros left right apart; [exact right |].
    inversion left as [| same other fresh rest]; subst. constructor.
    - rewrite in_app_iff. intros [inside | inside]; [auto |]. apply (apart v); auto.
    - apply IH; auto.
  Qed.

  (** What is in front of an element of a list without duplicates is determined. *)
  Lemma nodup_front : forall (a b c d : list A) v, NoDup (a ++ v :: b) -> a ++ v :: b = c ++ v :: d -> a = c /\ b = d.
  Proof.
    intros a. induction a as [| x a IH]; intros b c d v distinct same.
    - destruct c as [| y c]; [inversion same; auto |]. cbn in same. inversion same; subst.
      inversion distinct as [| x1 l1 fresh rest]; subst. exfalso. apply fresh. rewrite in_app_iff. right. left. reflexivity.
    - cbn in distinct. inversion distinct as [| x1 l1 fresh rest]; subst. destruct c as [| y c].
      + cbn in same. inversion same; subst. exfalso. apply fresh. rewrite in_app_iff. right. left. reflexivity.
      + cbn in same. inversion same; subst. destruct (IH b c d v rest H1) as [one two]. subst. auto.
  Qed.

  Lemma concat_nodup_unique : forall (O : list (list A)) l k v,
    NoDup (concat O) -> In l O -> In k O -> In v l -> In v k -> l = k.
  Proof.
    intros O l k v. induction O as [| h O IH]; cbn; intros distinct in_l in_k of_l of_k; [destruct in_l |].
    apply app_nodup in distinct. destruct distinct as [_ [rest apart]].
    destruct in_l as [in_l | in_l]; destruct in_k as [in_k | in_k]; try congruence.
    - subst. exfalso. apply (apart v of_l). apply in_concat. exists k. auto.
    - subst. exfalso. apply (apart v of_k). apply in_concat. exists l. auto.
    - apply IH; assumption.
  Qed.

  Lemma concat_nodup_each : forall (O : list (list A)) l, NoDup (concat O) -> In l O -> NoDup l.
  Proof.
    intros O l. induction O as [| h O IH]; cbn; intros distinct inside; [destruct inside |].
    apply app_nodup in distinct. destruct distinct as [first [rest _]]. destruct inside; [subst; exact first | auto].
  Qed.

  (** Pairs of an element and the next one. *)
  Fixpoint pairs (l : list A) : list (A * A) :=
    match l with
    | u :: (v :: _) as rest => (u, v) :: pairs rest
    | _ => []
    end.

  Lemma follows_pairs : forall (l : list A) u v, follows l u v <-> In (u, v) (pairs l).
  Proof.
    intros l. induction l as [| x l IH]; intros u v; split.
    - intros [before [after same]]. destruct before; discriminate.
    - intros [].
    - intros [before [after same]]. destruct before as [| y before].
      + cbn in same. inversion same; subst. left. reflexivity.
      + cbn in same. inversion same; subst.
        assert (later : In (u, v) (pairs (before ++ u :: v :: after))) by (apply IH; exists before, after; reflexivity).
        destruct (before ++ u :: v :: after) eqn:shape; [destruct later | right; exact later].
    - intros inside. destruct l as [| y l]; [destruct inside |]. destruct inside as [same | later].
      + inversion same; subst. exists [], l. reflexivity.
      + apply IH in later. destruct later as [before [after same]]. exists (x :: before), after. cbn. rewrite <- same. reflexivity.
  Qed.

  Lemma follows_in : forall (l : list A) u v, follows l u v -> In u l /\ In v l.
  Proof.
    intros l u v [before [after same]]. subst. rewrite !in_app_iff. cbn. tauto.
  Qed.

  Variable R : A -> A -> Prop.
  Hypothesis dec : forall u v : A, {u = v} + {u <> v}.

  (** Each element of a chain is related to the next one. *)
  Fixpoint chain (l : list A) : Prop :=
    match l with
    | u :: (v :: _) as rest => R u v /\ chain rest
    | _ => True
    end.

  Lemma chain_related : forall l u v, chain (u :: l) -> In v l -> clos_trans A R u v.
  Proof.
    intros l. induction l as [| w l IH]; intros u v linked inside; [destruct inside |].
    destruct linked as [first linked]. destruct inside as [same | inside].
    - subst. apply t_step. exact first.
    - apply t_trans with w; [apply t_step; exact first | apply IH; assumption].
  Qed.

  Lemma chain_cycle : forall l, chain l -> ~ NoDup l -> exists u, clos_trans A R u u.
  Proof.
    intros l. induction l as [| u l IH]; intros linked repeats; [exfalso; apply repeats; constructor |].
    destruct (in_dec dec u l) as [inside | outside].
    - exists u. apply (chain_related l); assumption.
    - apply IH; [destruct l; [constructor | apply linked] |]. intros distinct. apply repeats. constructor; assumption.
  Qed.

  Lemma long_chain : forall l, (forall v, In v l -> exists u, In u l /\ R u v) -> forall v, In v l ->
    forall n, exists c, length c = S n /\ chain c /\ incl c l.
  Proof.
    intros l each v inside n. induction n as [| n [c [size [linked within]]]].
    - exists [v]. cbn. split; [reflexivity |]. split; [constructor |]. intros u [same | []]. subst. exact inside.
    - destruct c as [| u c]; [discriminate |].
      destruct (each u (within u (or_introl eq_refl))) as [t [in_l before]].
      exists (t :: u :: c). split; [cbn; cbn in size; lia |]. split; [split; assumption |].
      intros x [same | later]; [subst; exact in_l | apply within; exact later].
  Qed.

  (** Where each element has another one before it, some elements form a cycle. *)
  Lemma endless_has_cycle : forall l v, In v l -> (forall v, In v l -> exists u, In u l /\ R u v) -> exists u, clos_trans A R u u.
  Proof.
    intros l v inside each. destruct (long_chain l each v inside (length l)) as [c [size [linked within]]].
    apply (chain_cycle c linked). intros distinct. pose proof (NoDup_incl_length distinct within). lia.
  Qed.
End Lists.

(** ** Cycles of tasks *)

Section Graphs.
  Context {task : Type}.

  (** [depends P O u v]: v waits for u, directly or through other tasks. *)
  Definition depends (P : problem task) (O : orders task) : task -> task -> Prop :=
    clos_trans task (fun u v => exists w, waits P O u w v).

  Definition acyclic (P : problem task) (O : orders task) : Prop := forall u, ~ depends P O u u.

  (** No execution starts any task earlier. *)
  Definition least (P : problem task) (O : orders task) (start : task -> Z) : Prop :=
    execution P O start /\ forall other, execution P O other -> forall u, start u <= other u.

  (** Every task that is needed or needs another one is in some order. *)
  Definition covered (P : problem task) (O : orders task) : Prop :=
    forall u lag v, In (u, lag, v) (needs P) -> In u (concat O) /\ In v (concat O).

  Definition all_end_by (P : problem task) (O : orders task) (start : task -> Z) (x : Z) : Prop :=
    forall l, In l O -> ends_by P start l x.

  Lemma sequence_depends : forall P O place u v, sequence P O place -> depends P O u v -> (place u < place v)%nat.
  Proof.
    intros P O place u v ordered later. induction later as [u v [w direct] | u v w _ IH1 _ IH2].
    - exact (ordered u w v direct).
    - lia.
  Qed.

  Theorem execution_is_acyclic : forall P O start, execution P O start -> acyclic P O.
  Proof.
    intros P O start [_ [place ordered]] u circular. pose proof (sequence_depends P O place u u ordered circular). lia.
  Qed.
End Graphs.

(** Two tasks of no time that need each other: start times respect this, but there is no execution. So the sequence in the
    definition of an execution is necessary. *)
Definition two_of_no_time : problem bool := Problem (fun _ => 0) [(true, 0, false); (false, 0, true)].

Example cycle_of_no_time :
  respects two_of_no_time [[true]; [false]] (fun _ => 0) /\
  forall start, ~ execution two_of_no_time [[true]; [false]] start.
Proof.
  split; [split; [intros u; lia |] |].
  - intros u w v wait. destruct wait as [u lag v need | l u v inside behind]; [| cbn; lia].
    destruct need as [same | [same | []]]; inversion same; subst; cbn; lia.
  - intros start runs_. apply (execution_is_acyclic _ _ start runs_ true).
    apply t_trans with false; apply t_step; exists 0.
    + apply (waits_need two_of_no_time _ true 0 false). left. reflexivity.
    + apply (waits_need two_of_no_time _ false 0 true). right. left. reflexivity.
Qed.

(** ** The program *)

Section Replay.
  Context {task : Type}.
  Variable key : task -> positive.              (** a number for each task *)
  Variable P : problem task.
  Variable needs_of : task -> list (task * Z).  (** what a task needs, and for how long after its end *)
  Variable O : orders task.

  Definition start_in (starts : PositiveMap.t Z) (u : task) : Z :=
    match PositiveMap.find (key u) starts with
    | Some s => s
    | None => 0
    end.

  (** When a task can start from x on, if all that it needs has run. *)
  Fixpoint ready (starts : PositiveMap.t Z) (x : Z) (needed : list (task * Z)) : option Z :=
    match needed with
    | [] => Some x
    | (u, lag) :: rest =>
      match PositiveMap.find (key u) starts with
      | None => None
      | Some s => ready starts (Z.max x (s + (duration P u + lag))) rest
      end
    end.

  (** A resource: when it is free, and which tasks it has not run. *)
  Definition queue : Type := Z * list task.

  (** Runs a resource as far as it goes, and says whether anything has run. *)
  Fixpoint advance (moved : bool) (starts : PositiveMap.t Z) (free : Z) (l : list task) : bool * PositiveMap.t Z * queue :=
    match l with
    | [] => (moved, starts, (free, []))
    | v :: rest =>
      match ready starts free (needs_of v) with
      | None => (moved, starts, (free, l))
      | Some s => advance true (PositiveMap.add (key v) s starts) (Z.max 0 (s + duration P v)) rest
      end
    end.

  (** Runs each resource as far as it goes. *)
  Fixpoint sweep (moved : bool) (starts : PositiveMap.t Z) (queues : list queue) : bool * PositiveMap.t Z * list queue :=
    match queues with
    | [] => (moved, starts, [])
    | (free, l) :: rest =>
      let '(moved, starts, q) := advance moved starts free l in
      let '(moved, starts, rest) := sweep moved starts rest in
      (moved, starts, q :: rest)
    end.

  Definition has_run (q : queue) : bool :=
    match snd q with
    | [] => true
    | _ => false
    end.

  Fixpoint sweeps (fuel : nat) (starts : PositiveMap.t Z) (queues : list queue) : option (PositiveMap.t Z) :=
    match fuel with
    | 0%nat => None
    | S fuel =>
      if forallb has_run queues then Some starts
      else
        let '(moved, starts, queues) := sweep false starts queues in
        if moved then sweeps fuel starts queues else None
    end.

  (** The earliest start times; nothing where tasks wait for each other in a cycle. *)
  Definition replay : option (PositiveMap.t Z) :=
    sweeps (S (length (concat O))) (PositiveMap.empty Z) (map (fun l => (0, l)) O).

  (** When the last task ends. *)
  Definition last_end (starts : PositiveMap.t Z) : Z :=
    fold_left (fun x u => Z.max x (start_in starts u + duration P u)) (concat O) 0.

  Definition replay_makespan : option Z :=
    match replay with
    | Some starts => Some (last_end starts)
    | None => None
    end.

  (** ** What it does, one task at a time *)

  Hypothesis key_injective : forall u v, key u = key v -> u = v.
  Hypothesis Needs : forall v, In v (concat O) -> forall u lag, In (u, lag) (needs_of v) <-> In (u, lag, v) (needs P).
  Hypothesis Distinct : NoDup (concat O).

  Implicit Types starts : PositiveMap.t Z.

  Lemma same_task : forall u v : task, {u = v} + {u <> v}.
  Proof.
    intros u v. destruct (Pos.eq_dec (key u) (key v)) as [same | other].
    - left. apply key_injective. exact same.
    - right. intros same. apply other. rewrite same. reflexivity.
  Defined.

  Lemma find_other : forall starts u v s, u <> v ->
    PositiveMap.find (key u) (PositiveMap.add (key v) s starts) = PositiveMap.find (key u) starts.
  Proof. intros starts u v s other. apply PositiveMap.gso. intros same. apply other. apply key_injective. exact same. Qed.

  Lemma find_older : forall starts u v r s, PositiveMap.find (key v) starts = None ->
    PositiveMap.find (key u) starts = Some r -> PositiveMap.find (key u) (PositiveMap.add (key v) s starts) = Some r.
  Proof. intros starts u v r s fresh found. rewrite find_other; [exact found | intros same; subst; congruence]. Qed.

  Lemma ready_some : forall needed starts x s, ready starts x needed = Some s ->
    x <= s /\
    (forall u lag, In (u, lag) needed -> exists r, PositiveMap.find (key u) starts = Some r /\ r + (duration P u + lag) <= s) /\
    (forall y, x <= y -> (forall u lag r, In (u, lag) needed -> PositiveMap.find (key u) starts = Some r ->
      r + (duration P u + lag) <= y) -> s <= y).
  Proof.
    intros needed. induction needed as [| [u lag] needed IH]; cbn; intros starts x s found.
    - inversion found; subst. split; [lia |]. split; [intros u lag [] | intros y bound _; exact bound].
    - destruct (PositiveMap.find (key u) starts) as [r |] eqn:has; [| discriminate].
      destruct (IH starts _ s found) as [later [each smallest]]. split; [lia |]. split.
      + intros t gap [same | inside]; [| auto]. inversion same; subst. exists r. split; [exact has | lia].
      + intros y bound other. apply smallest.
        * apply Z.max_lub; [exact bound | apply other; auto].
        * intros t gap r' inside has'. apply other; auto.
  Qed.

  Lemma ready_none : forall needed starts x, ready starts x needed = None ->
    exists u lag, In (u, lag) needed /\ PositiveMap.find (key u) starts = None.
  Proof.
    intros needed. induction needed as [| [u lag] needed IH]; cbn; intros starts x found; [discriminate |].
    destruct (PositiveMap.find (key u) starts) as [r |] eqn:has.
    - destruct (IH starts _ found) as [t [gap [inside missing]]]. exists t, gap. auto.
    - exists u, lag. auto.
  Qed.

  Definition state : Type := PositiveMap.t Z * list queue.

  (** One resource runs one task. *)
  Inductive step : state -> state -> Prop :=
  | step_run : forall starts before free v rest after s,
      ready starts free (needs_of v) = Some s ->
      step (starts, before ++ (free, v :: rest) :: after)
        (PositiveMap.add (key v) s starts, before ++ (Z.max 0 (s + duration P v), rest) :: after).

  Definition steps : state -> state -> Prop := clos_refl_trans state step.

  Definition blocked (starts : PositiveMap.t Z) (q : queue) : Prop :=
    match snd q with
    | [] => True
    | v :: _ => ready starts (fst q) (needs_of v) = None
    end.

  Lemma advance_steps : forall l moved starts free moved' starts' q,
    advance moved starts free l = (moved', starts', q) ->
    (forall before after, steps (starts, before ++ (free, l) :: after) (starts', before ++ q :: after)) /\
    (length (snd q) <= length l)%nat /\
    (moved' = true -> moved = true \/ (length (snd q) < length l)%nat) /\
    (moved' = false -> moved = false /\ starts' = starts /\ q = (free, l) /\ blocked starts q).
  Proof.
    intros l. induction l as [| v l IH]; cbn [advance]; intros moved starts free moved' starts' q result.
    - inversion result; subst. split; [intros; apply rt_refl |]. split; [reflexivity |]. split; [auto |].
      intros still. repeat split. exact still.
    - destruct (ready starts free (needs_of v)) as [s |] eqn:can.
      + destruct (IH _ _ _ _ _ _ result) as [there [shorter [_ still]]]. split; [| split; [| split]].
        * intros before after. apply rt_trans with (2 := there before after). apply rt_step. apply step_run. exact can.
        * cbn. lia.
        * intros _. right. cbn. lia.
        * intros not_moved. destruct (still not_moved) as [absurd _]. discriminate.
      + inversion result; subst. split; [intros; apply rt_refl |]. split; [reflexivity |]. split; [auto |].
        intros still. repeat split; [exact still |]. exact can.
  Qed.

  Definition remaining (queues : list queue) : list task := concat (map snd queues).

  Lemma sweep_steps : forall queues moved starts moved' starts' queues',
    sweep moved starts queues = (moved', starts', queues') ->
    (forall before, steps (starts, before ++ queues) (starts', before ++ queues')) /\
    (length (remaining queues') <= length (remaining queues))%nat /\
    (moved' = true -> moved = true \/ (length (remaining queues') < length (remaining queues))%nat) /\
    (moved' = false -> moved = false /\ starts' = starts /\ queues' = queues /\ Forall (blocked starts) queues).
  Proof.
    unfold remaining. intros queues. induction queues as [| [free l] queues IH]; cbn [sweep];
      intros moved starts moved' starts' queues' result.
    - inversion result; subst. split; [intros; apply rt_refl |]. split; [reflexivity |]. split; [auto |].
      intros still. repeat split; [exact still | constructor].
    - destruct (advance moved starts free l) as [[moved1 starts1] q] eqn:first.
      destruct (sweep moved1 starts1 queues) as [[moved2 starts2] rest] eqn:second.
      inversion result; subst. apply advance_steps in first. apply IH in second.
      destruct first as [there1 [shorter1 [more1 still1]]]. destruct second as [there2 [shorter2 [more2 still2]]].
      cbn [map concat snd]. rewrite !app_length. split; [| split; [| split]].
      + intros before. apply rt_trans with (1 := there1 before queues).
        specialize (there2 (before ++ [q])). rewrite <- !app_assoc in there2. exact there2.
      + lia.
      + intros has_moved. destruct (more2 has_moved) as [early | fewer]; [| right; lia].
        destruct (more1 early) as [start | fewer]; [left; exact start | right; lia].
      + intros not_moved. destruct (still2 not_moved) as [early [same2 [same_rest stuck]]].
        destruct (still1 early) as [start [same1 [same_q here]]]. subst. repeat split.
        constructor; assumption.
  Qed.

  (** ** What holds while it runs *)

  (** The tasks that have run, the latest first, and their start times. *)
  Inductive built : list task -> PositiveMap.t Z -> Prop :=
  | built_nothing : built [] (PositiveMap.empty Z)
  | built_task : forall trace starts v s,
      built trace starts ->
      PositiveMap.find (key v) starts = None ->
      0 <= s ->
      (forall u w, waits P O u w v -> exists r, PositiveMap.find (key u) starts = Some r /\ r + w <= s) ->
      (forall start, respects P O start -> s <= start v) ->
      built (v :: trace) (PositiveMap.add (key v) s starts).

  Fixpoint place_in (trace : list task) (u : task) : nat :=
    match trace with
    | [] => 0
    | v :: rest => if same_task u v then S (length rest) else place_in rest u
    end.

  Lemma place_in_bound : forall trace u, (place_in trace u <= length trace)%nat.
  Proof.
    intros trace u. induction trace as [| v trace IH]; cbn; [lia |]. destruct (same_task u v); [lia |]. lia.
  Qed.

  Lemma built_found : forall trace starts, built trace starts -> forall v s, PositiveMap.find (key v) starts = Some s ->
    0 <= s /\
    (forall u w, waits P O u w v -> exists r, PositiveMap.find (key u) starts = Some r /\ r + w <= s /\
      (place_in trace u < place_in trace v)%nat) /\
    (forall start, respects P O start -> s <= start v).
  Proof.
    intros trace starts run. induction run as [| trace starts t r run IH fresh nonneg waited smallest]; intros v s found.
    - rewrite PositiveMap.gempty in found. discriminate.
    - cbn [place_in]. destruct (same_task v t) as [same | other].
      + subst v. rewrite PositiveMap.gss in found. inversion found; subst. split; [exact nonneg |]. split; [| exact smallest].
        intros u w needed. destruct (waited u w needed) as [q [has late]]. exists q. split; [| split].
        * apply find_older; assumption.
        * exact late.
        * destruct (same_task u t) as [same | different]; [subst; congruence |]. pose proof (place_in_bound trace u). lia.
      + rewrite find_other in found by exact other. destruct (IH v s found) as [positive [each bound]].
        split; [exact positive |]. split; [| exact bound].
        intros u w needed. destruct (each u w needed) as [q [has [late earlier]]]. exists q. split; [| split].
        * apply find_older; assumption.
        * exact late.
        * destruct (same_task u t) as [same | different]; [subst; congruence | exact earlier].
  Qed.

  (** A resource with an order l has run its first tasks, and is free once they have ended. *)
  Definition halfway (starts : PositiveMap.t Z) (l : list task) (q : queue) : Prop :=
    exists done,
      l = done ++ snd q /\ 0 <= fst q /\
      (forall u, In u done -> PositiveMap.find (key u) starts <> None) /\
      (forall u, In u (snd q) -> PositiveMap.find (key u) starts = None) /\
      (forall before u, done = before ++ [u] ->
        exists s, PositiveMap.find (key u) starts = Some s /\ s + duration P u <= fst q) /\
      (forall start v rest, respects P O start -> snd q = v :: rest -> fst q <= start v).

  Definition invariant (now : state) : Prop :=
    (exists trace, built trace (fst now)) /\ Forall2 (halfway (fst now)) O (snd now).

  Lemma halfway_other : forall starts l q v s, PositiveMap.find (key v) starts = None -> ~ In v l ->
    halfway starts l q -> halfway (PositiveMap.add (key v) s starts) l q.
  Proof.
    intros starts l q v s fresh outside [done [shape [positive [ran [waiting [last bound]]]]]].
    exists done. split; [exact shape |]. split; [exact positive |]. split; [| split; [| split]].
    - intros u inside. destruct (PositiveMap.find (key u) starts) as [r |] eqn:has.
      + rewrite (find_older starts u v r s fresh has). discriminate.
      + exfalso. apply (ran u inside). exact has.
    - intros u inside. rewrite find_other; [auto |]. intros same. subst u. apply outside. rewrite shape.
      apply in_app_iff. auto.
    - intros before u same. destruct (last before u same) as [r [has late]]. exists r. split; [| exact late].
      apply find_older; assumption.
    - exact bound.
  Qed.

  Lemma halfway_others : forall starts v s ls queues, PositiveMap.find (key v) starts = None -> ~ In v (concat ls) ->
    Forall2 (halfway starts) ls queues -> Forall2 (halfway (PositiveMap.add (key v) s starts)) ls queues.
  Proof.
    intros starts v s ls queues fresh outside each. induction each as [| l q ls queues first rest IH]; constructor.
    - apply halfway_other; [exact fresh | | exact first]. intros inside. apply outside. cbn. apply in_app_iff. auto.
    - apply IH. intros inside. apply outside. cbn. apply in_app_iff. auto.
  Qed.

  Lemma step_invariant : forall now next, step now next -> invariant now -> invariant next.
  Proof.
    intros now next [starts before free v rest after s can] [[trace run] each]. cbn [fst snd] in *.
    apply Forall2_app_inv_r in each. destruct each as [O1 [O2' [each1 [each2' split_O]]]].
    inversion each2' as [| l q O2 queues here each2 same1 same2]; subst.
    destruct here as [done [shape [positive [ran [waiting [last bound]]]]]]. cbn [fst snd] in *.
    assert (in_O : In l O) by (rewrite split_O; apply in_app_iff; right; left; reflexivity).
    assert (in_l : In v l) by (rewrite shape; apply in_app_iff; right; left; reflexivity).
    assert (in_all : In v (concat O)) by (apply in_concat; exists l; auto).
    assert (fresh : PositiveMap.find (key v) starts = None) by (apply waiting; left; reflexivity).
    assert (distinct_l : NoDup l) by (apply (concat_nodup_each O); assumption).
    destruct (ready_some _ _ _ _ can) as [later [needed smallest]].
    assert (waited : forall u w, waits P O u w v -> exists r, PositiveMap.find (key u) starts = Some r /\ r + w <= s).
    { intros u w wait. inversion wait as [u' lag v' need | l' u' v' inside behind]; subst u' v' w.
      - apply needed. apply Needs; assumption.
      - assert (l' = l).
        { apply (concat_nodup_unique O l' l v Distinct inside in_O); [apply (follows_in l' u v behind) | exact in_l]. }
        subst l'. destruct behind as [first [tail same]].
        assert (front : first ++ [u] = done).
        { apply (nodup_front (first ++ [u]) tail done rest v); rewrite <- app_assoc; cbn; [rewrite <- same; exact distinct_l |].
          rewrite <- same. exact shape. }
        destruct (last first u (eq_sym front)) as [r [has late]]. exists r. split; [exact has | lia]. }
    assert (early : forall start, respects P O start -> s <= start v).
    { intros start fine. apply smallest; [apply (bound start v rest); auto |].
      intros u lag r inside has. destruct (built_found trace starts run u r has) as [_ [_ least_u]].
      specialize (least_u start fine). apply Needs in inside; [| exact in_all].
      pose proof (proj2 fine u _ v (waits_need P O u lag v inside)). lia. }
    split.
    - exists (v :: trace). cbn [fst]. apply built_task; auto. lia.
    - cbn [fst snd]. rewrite split_O. rewrite split_O in Distinct. rewrite concat_app in Distinct. cbn in Distinct.
      apply app_nodup in Distinct. destruct Distinct as [_ [right_part apart1]].
      apply app_nodup in right_part. destruct right_part as [_ [_ apart2]].
      apply Forall2_app; [| constructor].
      + apply halfway_others; auto. intros inside. apply (apart1 v inside). apply in_app_iff. auto.
      + exists (done ++ [v]). cbn [fst snd]. rewrite shape in distinct_l. pose proof (NoDup_remove_2 _ _ _ distinct_l) as absent.
        split; [rewrite <- app_assoc; exact shape |]. split; [lia |]. split; [| split; [| split]].
        * intros u inside. destruct (same_task u v) as [same | other].
          -- subst. rewrite PositiveMap.gss. discriminate.
          -- rewrite find_other by exact other. apply in_app_iff in inside. cbn in inside.
             destruct inside as [inside | [same | []]]; [auto | congruence].
        * intros u inside. rewrite find_other; [apply waiting; right; exact inside |].
          intros same. subst. apply absent. apply in_app_iff. auto.
        * intros first u same. apply app_inj_tail in same. destruct same as [_ same]. subst u.
          exists s. rewrite PositiveMap.gss. split; [reflexivity | lia].
        * intros start u tail fine same. subst rest. apply Z.max_lub; [apply (proj1 fine) |].
          assert (behind : waits P O v (duration P v) u).
          { apply (waits_order P O l); [exact in_O |]. exists done, tail. exact shape. }
          pose proof (proj2 fine v _ u behind). specialize (early start fine). lia.
      + apply halfway_others; auto.
  Qed.

  Lemma steps_invariant : forall now next, steps now next -> invariant now -> invariant next.
  Proof. intros now next there. induction there; eauto using step_invariant. Qed.

  Lemma at_first : invariant (PositiveMap.empty Z, map (fun l => (0, l)) O).
  Proof.
    split; [exists []; apply built_nothing |]. cbn [fst snd].
    assert (each : forall ls, Forall2 (halfway (PositiveMap.empty Z)) ls (map (fun l => (0, l)) ls)).
    { intros ls. induction ls as [| l ls IH]; cbn; constructor; [| exact IH]. exists []. cbn [fst snd app].
      split; [reflexivity |]. split; [lia |]. split; [intros u [] |]. split; [intros u _; apply PositiveMap.gempty |].
      split; [intros before u same; destruct before; discriminate |]. intros start v rest fine _. apply (proj1 fine). }
    apply each.
  Qed.

  (** ** Where tasks are left, some wait for each other in a cycle *)

  Lemma halfway_in : forall starts ls queues, Forall2 (halfway starts) ls queues ->
    (forall u, In u (concat ls) -> PositiveMap.find (key u) starts <> None \/ In u (remaining queues)) /\
    (forall q, In q queues -> exists l, In l ls /\ halfway starts l q).
  Proof.
    intros starts ls queues each. induction each as [| l q ls queues here rest [IH1 IH2]]; split.
    - intros u [].
    - intros q [].
    - intros u inside. cbn in inside. unfold remaining in *. cbn [map concat]. rewrite in_app_iff in *.
      destruct here as [done [shape [_ [ran _]]]]. destruct inside as [inside | inside].
      + rewrite shape in inside. apply in_app_iff in inside. destruct inside as [inside | inside]; [left; auto | auto].
      + destruct (IH1 u inside); auto.
    - intros other [same | inside].
      + subst other. exists l. split; [left; reflexivity | exact here].
      + destruct (IH2 other inside) as [k [in_ls half]]. exists k. split; [right; exact in_ls | exact half].
  Qed.

  Lemma stuck_is_cycle : covered P O -> forall starts queues, invariant (starts, queues) ->
    Forall (blocked starts) queues -> forallb has_run queues = false -> exists u, depends P O u u.
  Proof.
    intros cover starts queues [_ each] stuck left. cbn [fst snd] in each.
    destruct (halfway_in _ _ _ each) as [where_ half]. rewrite Forall_forall in stuck.
    assert (some : exists v, In v (remaining queues)).
    { clear -left. induction queues as [| [free [| v l]] queues IH]; cbn in left; [discriminate | |].
      - destruct (IH left) as [v inside]. exists v. exact inside.
      - exists v. left. reflexivity. }
    destruct some as [v inside]. unfold depends. apply (endless_has_cycle _ same_task (remaining queues) v inside). clear v inside.
    intros v inside. unfold remaining in inside. apply in_concat in inside. destruct inside as [l [in_queues in_l]].
    apply in_map_iff in in_queues. destruct in_queues as [q [same in_queues]]. subst l.
    destruct (half q in_queues) as [l [in_O [done [shape [_ [_ [waiting _]]]]]]].
    apply in_split in in_l. destruct in_l as [before [after split_q]].
    destruct before as [| t before _] using rev_ind.
    - specialize (stuck q in_queues). unfold blocked in stuck. rewrite split_q in stuck. cbn in stuck.
      apply ready_none in stuck. destruct stuck as [u [lag [needed missing]]].
      assert (in_all : In v (concat O)).
      { apply in_concat. exists l. split; [exact in_O |]. rewrite shape, split_q. apply in_app_iff. right. left. reflexivity. }
      apply Needs in needed; [| exact in_all]. destruct (cover u lag v needed) as [in_u _].
      exists u. split; [destruct (where_ u in_u) as [ran | still]; [exfalso; apply ran; exact missing | exact still] |].
      exists (duration P u + lag). apply waits_need. exact needed.
    - exists t. rewrite <- app_assoc in split_q. cbn in split_q. split.
      + unfold remaining. apply in_concat. exists (snd q). split; [apply in_map; exact in_queues |].
        rewrite split_q. apply in_app_iff. right. left. reflexivity.
      + exists (duration P t). apply (waits_order P O l); [exact in_O |]. exists (done ++ before), after.
        rewrite shape, split_q. rewrite <- app_assoc. reflexivity.
  Qed.

  Lemma sweeps_some : forall fuel starts queues result, sweeps fuel starts queues = Some result ->
    exists queues', steps (starts, queues) (result, queues') /\ forallb has_run queues' = true.
  Proof.
    intros fuel. induction fuel as [| fuel IH]; cbn [sweeps]; intros starts queues result found; [discriminate |].
    destruct (forallb has_run queues) eqn:all; [inversion found; subst; exists queues; split; [apply rt_refl | exact all] |].
    destruct (sweep false starts queues) as [[moved starts'] queues'] eqn:once.
    destruct moved; [| discriminate]. destruct (IH _ _ _ found) as [last [there over]].
    exists last. split; [| exact over]. apply rt_trans with (2 := there).
    apply sweep_steps in once. destruct once as [here _]. apply (here []).
  Qed.

  Lemma sweeps_none : covered P O -> forall fuel starts queues, invariant (starts, queues) ->
    (length (remaining queues) < fuel)%nat -> sweeps fuel starts queues = None -> exists u, depends P O u u.
  Proof.
    intros cover fuel. induction fuel as [| fuel IH]; cbn [sweeps]; intros starts queues holds enough found; [lia |].
    destruct (forallb has_run queues) eqn:all; [discriminate |].
    destruct (sweep false starts queues) as [[moved starts'] queues'] eqn:once.
    apply sweep_steps in once. destruct once as [there [_ [more still]]]. destruct moved.
    - apply (IH starts' queues'); [| | exact found].
      + apply steps_invariant with (2 := holds). apply (there []).
      + destruct (more eq_refl); [discriminate | lia].
    - destruct (still eq_refl) as [_ [_ [_ stuck]]]. apply (stuck_is_cycle cover starts queues); assumption.
  Qed.

  Lemma replay_built : forall starts, replay = Some starts ->
    (exists trace, built trace starts) /\ (forall u, In u (concat O) -> PositiveMap.find (key u) starts <> None).
  Proof.
    intros starts found. apply sweeps_some in found. destruct found as [queues [there over]].
    destruct (steps_invariant _ _ there at_first) as [run each]. split; [exact run |].
    destruct (halfway_in _ _ _ each) as [where_ _]. intros u inside. destruct (where_ u inside) as [ran | left]; [exact ran |].
    exfalso. unfold remaining in left. apply in_concat in left. destruct left as [l [in_queues in_l]].
    apply in_map_iff in in_queues. destruct in_queues as [q [same in_queues]]. subst l.
    rewrite forallb_forall in over. specialize (over q in_queues). unfold has_run in over.
    destruct (snd q); [destruct in_l | discriminate].
  Qed.

  (** ** The theorems about the program *)

  Hypothesis Covered : covered P O.

  Lemma waits_in : forall u w v, waits P O u w v -> In u (concat O) /\ In v (concat O).
  Proof.
    intros u w v wait. destruct wait as [u lag v need | l u v inside next]; [apply (Covered u lag v need) |].
    apply follows_in in next. split; apply in_concat; exists l; tauto.
  Qed.

  (** Start times that [replay] gives are an execution. *)
  Theorem replay_is_execution : forall starts, replay = Some starts -> execution P O (start_in starts).
  Proof.
    intros starts found. destruct (replay_built starts found) as [[trace run] all].
    pose proof (built_found trace starts run) as each. split; [split |].
    - intros u. unfold start_in. destruct (PositiveMap.find (key u) starts) as [s |] eqn:has; [| lia]. apply (each u s has).
    - intros u w v wait. destruct (waits_in u w v wait) as [_ in_v]. unfold start_in.
      destruct (PositiveMap.find (key v) starts) as [s |] eqn:has; [| exfalso; apply (all v in_v); exact has].
      destruct (each v s has) as [_ [waited _]]. destruct (waited u w wait) as [r [has_u [late _]]]. rewrite has_u. exact late.
    - exists (place_in trace). intros u w v wait. destruct (waits_in u w v wait) as [_ in_v].
      destruct (PositiveMap.find (key v) starts) as [s |] eqn:has; [| exfalso; apply (all v in_v); exact has].
      destruct (each v s has) as [_ [waited _]]. destruct (waited u w wait) as [r [_ [_ earlier]]]. exact earlier.
  Qed.

  (** No start times that respect needs and orders are earlier, be they an execution or not. *)
  Theorem replay_before_all : forall starts start, replay = Some starts -> respects P O start ->
    forall u, start_in starts u <= start u.
  Proof.
    intros starts start found fine u. destruct (replay_built starts found) as [[trace run] _]. unfold start_in.
    destruct (PositiveMap.find (key u) starts) as [s |] eqn:has; [| apply (proj1 fine)].
    apply (built_found trace starts run u s has). exact fine.
  Qed.

  Theorem replay_is_least : forall starts, replay = Some starts -> least P O (start_in starts).
  Proof.
    intros starts found. split; [apply replay_is_execution; exact found |].
    intros other [fine _]. apply replay_before_all; assumption.
  Qed.

  (** Where [replay] gives no start times, tasks wait for each other in a cycle. *)
  Theorem replay_none_is_cycle : replay = None -> exists u, depends P O u u.
  Proof.
    apply sweeps_none; [exact Covered | apply at_first |].
    assert (same : remaining (map (fun l => (0, l)) O) = concat O).
    { unfold remaining. rewrite map_map. cbn [snd]. rewrite map_id. reflexivity. }
    rewrite same. lia.
  Qed.

  (** [replay] gives start times exactly where there is an execution. *)
  Theorem replay_iff_execution : (exists starts, replay = Some starts) <-> (exists start, execution P O start).
  Proof.
    split.
    - intros [starts found]. exists (start_in starts). apply replay_is_execution. exact found.
    - intros [start runs_]. destruct replay as [starts |] eqn:result; [exists starts; reflexivity |].
      destruct (replay_none_is_cycle result) as [u circular]. exfalso.
      apply (execution_is_acyclic P O start runs_ u). exact circular.
  Qed.

  Lemma last_end_spec : forall starts,
    0 <= last_end starts /\ all_end_by P O (start_in starts) (last_end starts) /\
    (forall x, 0 <= x -> all_end_by P O (start_in starts) x -> last_end starts <= x).
  Proof.
    intros starts.
    assert (fold : forall l y, let z := fold_left (fun x u => Z.max x (start_in starts u + duration P u)) l y in
      y <= z /\ (forall u, In u l -> start_in starts u + duration P u <= z) /\
      (forall x, y <= x -> (forall u, In u l -> start_in starts u + duration P u <= x) -> z <= x)).
    { intros l. induction l as [| v l IH]; cbn; intros y.
      - split; [lia |]. split; [intros u [] | auto].
      - destruct (IH (Z.max y (start_in starts v + duration P v))) as [above [each smallest]]. split; [lia |]. split.
        + intros u [same | inside]; [subst; lia | auto].
        + intros x over all. apply smallest; [apply Z.max_lub; auto | auto]. }
    destruct (fold (concat O) 0) as [above [each smallest]]. split; [exact above |]. split.
    - intros l inside u in_l. apply each. apply in_concat. exists l. auto.
    - intros x over all. apply smallest; [exact over |]. intros u inside. apply in_concat in inside.
      destruct inside as [l [in_O in_l]]. apply (all l in_O u in_l).
  Qed.

  (** The makespan is reached, and no execution ends earlier. *)
  Theorem replay_makespan_least : forall x, replay_makespan = Some x ->
    0 <= x /\
    (exists start, execution P O start /\ all_end_by P O start x) /\
    (forall start y, execution P O start -> 0 <= y -> all_end_by P O start y -> x <= y).
  Proof.
    intros x. unfold replay_makespan. destruct replay as [starts |] eqn:found; [| discriminate]. intros same. inversion same; subst.
    destruct (last_end_spec starts) as [above [each smallest]]. split; [exact above |]. split.
    - exists (start_in starts). split; [apply replay_is_execution; exact found | exact each].
    - intros start y runs_ over all. apply smallest; [exact over |]. intros l in_O u in_l.
      specialize (all l in_O u in_l). pose proof (proj2 (replay_is_least starts found) start runs_ u). lia.
  Qed.
End Replay.

(** ** When there is an execution *)

Section Existence.
  Context {task : Type}.
  Variable key : task -> positive.
  Hypothesis key_injective : forall u v, key u = key v -> u = v.
  Implicit Types (P : problem task) (O : orders task).

  Let dec : forall u v : task, {u = v} + {u <> v} := same_task key key_injective.

  (** The tasks that a task needs, found by going through all needs. *)
  Definition needs_into (P : problem task) (v : task) : list (task * Z) :=
    flat_map (fun '(u, lag, t) => if dec v t then [(u, lag)] else []) (needs P).

  Lemma needs_into_spec : forall P v u lag, In (u, lag) (needs_into P v) <-> In (u, lag, v) (needs P).
  Proof.
    intros P v u lag. unfold needs_into. rewrite in_flat_map. split.
    - intros [[[t gap] x] [inside found]]. destruct (dec v x); [| destruct found].
      destruct found as [same | []]. inversion same; subst. exact inside.
    - intros inside. exists (u, lag, v). split; [exact inside |]. destruct (dec v v); [left; reflexivity | contradiction].
  Qed.

  (** The same tasks, where orders are needs, and each task has a resource of its own. *)
  Definition freed (P : problem task) (O : orders task) : problem task :=
    Problem (duration P) (needs P ++ map (fun '(u, v) => (u, 0, v)) (flat_map pairs O)).

  Definition singles (all : list task) : orders task := map (fun u => [u]) (nodup dec all).

  Lemma concat_singles : forall all, concat (singles all) = nodup dec all.
  Proof.
    intros all. unfold singles. induction (nodup dec all) as [| u l IH]; cbn; [reflexivity |]. rewrite IH. reflexivity.
  Qed.

  Lemma freed_waits : forall P O all u w v, waits (freed P O) (singles all) u w v <-> waits P O u w v.
  Proof.
    intros P O all u w v. split; intros wait.
    - destruct wait as [u lag v need | l u v inside behind]; cbn [duration freed needs] in *.
      + apply in_app_iff in need. destruct need as [need | need]; [apply waits_need; exact need |].
        apply in_map_iff in need. destruct need as [[x y] [same inside]]. inversion same; subst.
        apply in_flat_map in inside. destruct inside as [l [in_O next]]. rewrite Z.add_0_r.
        apply (waits_order P O l); [exact in_O |]. apply follows_pairs. exact next.
      + apply in_map_iff in inside. destruct inside as [t [same _]]. subst l.
        destruct behind as [[| x [| y before]] [after same]]; discriminate.
    - destruct wait as [u lag v need | l u v inside behind].
      + apply (waits_need (freed P O)). cbn [needs freed]. apply in_app_iff. left. exact need.
      + rewrite <- (Z.add_0_r (duration P u)). apply (waits_need (freed P O) (singles all) u 0 v). cbn [needs freed].
        apply in_app_iff. right. apply in_map_iff. exists (u, v). split; [reflexivity |].
        apply in_flat_map. exists l. split; [exact inside |]. apply follows_pairs. exact behind.
  Qed.

  Lemma freed_depends : forall P O all u v, depends (freed P O) (singles all) u v -> depends P O u v.
  Proof.
    intros P O all u v later. induction later as [u v [w direct] | u v w _ IH1 _ IH2].
    - apply t_step. exists w. apply freed_waits in direct. exact direct.
    - apply t_trans with v; assumption.
  Qed.

  Lemma freed_execution : forall P O all start, execution (freed P O) (singles all) start <-> execution P O start.
  Proof.
    intros P O all start. split; intros [[nonneg each] [place ordered]]; (split; [split; [exact nonneg |] | exists place]);
      intros u w v wait; [apply (each u w v) | apply (ordered u w v) | apply (each u w v) | apply (ordered u w v)];
      apply (freed_waits P O all); exact wait.
  Qed.

  (** All tasks that need, are needed, or are in an order. *)
  Definition tasks_of (P : problem task) (O : orders task) : list task :=
    flat_map (fun '(u, _, v) => [u; v]) (needs P) ++ concat O.

  Lemma tasks_of_covers : forall P O, covered (freed P O) (singles (tasks_of P O)).
  Proof.
    intros P O u lag v need. rewrite concat_singles, !nodup_In. unfold tasks_of. rewrite !in_app_iff, !in_flat_map, !in_concat.
    cbn [needs freed] in need. apply in_app_iff in need. destruct need as [need | need].
    - split; left; exists (u, lag, v); cbn; auto.
    - apply in_map_iff in need. destruct need as [[x y] [same inside]]. inversion same; subst.
      apply in_flat_map in inside. destruct inside as [l [in_O next]].
      apply follows_pairs in next. apply follows_in in next. split; right; exists l; tauto.
  Qed.

  Lemma acyclic_least : forall P O, acyclic P O -> exists start, least P O start.
  Proof.
    intros P O none. pose (all := tasks_of P O). pose (Q := freed P O). pose (R := singles all).
    assert (distinct : NoDup (concat R)) by (unfold R; rewrite concat_singles; apply NoDup_nodup).
    pose proof (tasks_of_covers P O : covered Q R) as cover.
    assert (into : forall v, In v (concat R) -> forall u lag, In (u, lag) (needs_into Q v) <-> In (u, lag, v) (needs Q)).
    { intros v _ u lag. apply needs_into_spec. }
    destruct (replay key Q (needs_into Q) R) as [starts |] eqn:result.
    - destruct (replay_is_least key Q (needs_into Q) R key_injective into distinct cover starts result) as [runs_ earliest].
      exists (start_in key starts). split; [apply (freed_execution P O all); exact runs_ |].
      intros other others. apply earliest. apply freed_execution. exact others.
    - destruct (replay_none_is_cycle key Q (needs_into Q) R key_injective into distinct cover result) as [u circular].
      exfalso. apply (none u). apply (freed_depends P O all). exact circular.
  Qed.

  (** Orders run exactly when no task waits for itself, directly or through others. Durations and lags may be anything. *)
  Theorem execution_iff_acyclic : forall P O, (exists start, execution P O start) <-> acyclic P O.
  Proof.
    intros P O. split; [intros [start runs_]; apply (execution_is_acyclic P O start runs_) |].
    intros none. destruct (acyclic_least P O none) as [start [runs_ _]]. exists start. exact runs_.
  Qed.

  (** Where there is an execution, one of them is the least. *)
  Theorem least_exists : forall P O, (exists start, execution P O start) -> exists start, least P O start.
  Proof. intros P O some. apply acyclic_least. apply execution_iff_acyclic. exact some. Qed.
End Existence.

(** ** Shorter tasks *)

Section Shorter.
  Context {task : Type}.
  Implicit Types (P : problem task) (O : orders task).

  (** P has the needs of Q or fewer, and no duration or lag of P is longer. *)
  Definition no_longer (P Q : problem task) : Prop :=
    (forall u, duration P u <= duration Q u) /\
    (forall u lag v, In (u, lag, v) (needs P) -> exists more, lag <= more /\ In (u, more, v) (needs Q)).

  Lemma waits_no_longer : forall P Q O u w v, no_longer P Q -> waits P O u w v -> exists x, w <= x /\ waits Q O u x v.
  Proof.
    intros P Q O u w v [lengths lags] wait. destruct wait as [u lag v need | l u v inside behind]; specialize (lengths u).
    - destruct (lags u lag v need) as [more [longer other]]. exists (duration Q u + more). split; [lia |].
      apply waits_need. exact other.
    - exists (duration Q u). split; [exact lengths |]. apply (waits_order Q O l); assumption.
  Qed.

  (** Start times that leave room for longer tasks leave room for shorter ones, and then each task ends no later. *)
  Theorem execution_of_shorter : forall P Q O start, no_longer P Q -> execution Q O start ->
    execution P O start /\ forall u, start u + duration P u <= start u + duration Q u.
  Proof.
    intros P Q O start shorter [[nonneg each] [place ordered]]. split; [split; [split |] |].
    - exact nonneg.
    - intros u w v wait. destruct (waits_no_longer P Q O u w v shorter wait) as [x [longer other]].
      specialize (each u x v other). lia.
    - exists place. intros u w v wait. destruct (waits_no_longer P Q O u w v shorter wait) as [x [_ other]].
      exact (ordered u x v other).
    - intros u. pose proof (proj1 shorter u). lia.
  Qed.

  (** With shorter durations and lags, each task starts no later and ends no later. *)
  Theorem least_monotone : forall P Q O one two, no_longer P Q -> least P O one -> least Q O two ->
    forall u, one u <= two u /\ one u + duration P u <= two u + duration Q u.
  Proof.
    intros P Q O one two shorter [_ earliest] [runs_ _] u.
    destruct (execution_of_shorter P Q O two shorter runs_) as [other _].
    specialize (earliest two other u). pose proof (proj1 shorter u). lia.
  Qed.

  Variable key : task -> positive.
  Hypothesis key_injective : forall u v, key u = key v -> u = v.
  Variables P Q : problem task.
  Variables needs_P needs_Q : task -> list (task * Z).
  Variable O : orders task.
  Hypothesis Needs_P : forall v, In v (concat O) -> forall u lag, In (u, lag) (needs_P v) <-> In (u, lag, v) (needs P).
  Hypothesis Needs_Q : forall v, In v (concat O) -> forall u lag, In (u, lag) (needs_Q v) <-> In (u, lag, v) (needs Q).
  Hypothesis Distinct : NoDup (concat O).
  Hypothesis Covered_P : covered P O.
  Hypothesis Covered_Q : covered Q O.
  Hypothesis Shorter : no_longer P Q.

  (** The makespan of the same orders does not grow when durations and lags shrink. *)
  Theorem makespan_monotone : forall y, replay_makespan key Q needs_Q O = Some y ->
    exists x, replay_makespan key P needs_P O = Some x /\ x <= y.
  Proof.
    intros y found.
    destruct (replay_makespan_least key Q needs_Q O key_injective Needs_Q Distinct Covered_Q y found)
      as [above [[start [runs_ ends]] _]].
    destruct (execution_of_shorter P Q O start Shorter runs_) as [other earlier].
    destruct (proj2 (replay_iff_execution key P needs_P O key_injective Needs_P Distinct Covered_P)) as [starts result];
      [exists start; exact other |].
    assert (same : replay_makespan key P needs_P O = Some (last_end key P O starts)).
    { unfold replay_makespan. rewrite result. reflexivity. }
    exists (last_end key P O starts). split; [exact same |].
    apply (replay_makespan_least key P needs_P O key_injective Needs_P Distinct Covered_P _ same) with (start := start);
      [exact other | exact above |].
    intros l in_O u in_l. specialize (ends l in_O u in_l). specialize (earlier u). lia.
  Qed.
End Shorter.
