(** * Subset: the search over the states of some devices (dominance, gaps, layers, Theorem B2)

    The bound of some devices is the least end of their reduced problem ([Restrict]), found by a search over states. A state says
    how many microbatches wait for each job, from when on they and the devices may go on, and what each device holds. The search
    places jobs in the order of their starts, each as early as its device, its lag and that order allow. This file defines the
    search ([subset_bound], [subset_bound_repeating], and the same for the device span) and proves that no run of a complete
    first-in-first-out schedule within capacity is shorter than what it finds. The parts of the proof:

    - [dominance]: a state that is nowhere later, with equal counts, admits every continuation of the other, so the other may be
      dropped; it ends earlier by as much as the state is earlier.
    - [gaps_are_not_needed]: a continuation that leaves a gap on a device, into which a job fits that waits and takes no memory
      from any other, can be exchanged for one with a smaller sum of starts and no later end. So such continuations are dropped.
    - [reduced_run_leads]: every run of the reduced problem is a continuation of the first state, and with the two theorems
      above some state of each layer still admits such a continuation.
    - [repetition_leads] (Theorem B2): if every state of a layer is later by g than some state of an earlier layer with equal
      counts, each further period of microbatches costs at least g. [repetition_adds_up] is the same for any monotone and
      homogeneous map on sets of states.

    [Repetition] is about layers in general. [SubsetBounds] shows that every run of the reduced problem is a continuation of the
    first state, and states the bounds.

    A W waits here like any other job; its times say no more than when its device is free, so that states compare as if only
    their numbers were kept.

    [subset_span_bounds_may_fall] (in [SubsetBounds]) shows that a further device may lower the bound on the device span,
    because another device then begins first and is the one that is measured.

    The bounds are proved for schedules in first-in-first-out order; [SubsetFifo] extends them to all. *Open*: the converse, that
    the search with all devices kept finds the optimum and not merely a lower bound (the other half of Theorem B1). *)

From Coq Require Import ZArith List Lia Bool Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Restrict Bubbleproof.Repetition.
Import ListNotations.
Open Scope Z_scope.

(** ** States *)

Record state := State {
  free : list Z;          (** by device: from when on it is free, no earlier than the last start anywhere *)
  queues : list (list Z); (** by job: from when on the microbatches that wait for it may run it *)
  live : list Z;          (** by device: what it holds *)
  under_way : nat;        (** how many jobs the microbatches that have begun have still to run *)
  latest_end : Z          (** after the last microbatch has begun: the last end so far, with what must follow *)
}.

Definition free_of (st : state) (d : nat) : Z := nth d (free st) 0.
Definition queue_of (st : state) (j : nat) : list Z := nth j (queues st) [].
Definition live_of (st : state) (d : nat) : Z := nth d (live st) 0.

Definition tabulate {A : Type} (f : nat -> A) (n : nat) : list A := map f (seq 0 n).

Lemma nth_tabulate : forall (A : Type) (f : nat -> A) n i x, (i < n)%nat -> nth i (tabulate f n) x = f i.
Proof.
  intros A f n i x inside. unfold tabulate. rewrite (nth_indep _ x (f 0%nat)) by (rewrite map_length, seq_length; exact inside).
  rewrite map_nth. rewrite seq_nth by exact inside. reflexivity.
Qed.

Section Search.
  Variable C : chain.

  Notation job_of j := (job_at C j).

  (** When a job can start, at the earliest. *)
  Definition early (st : state) (j : nat) : Z :=
    let now := free_of st (at_device (job_of j)) in
    match queue_of st j with
    | [] => now
    | x :: _ => Z.max now x
    end.

  (** A job whose turn it is: the first one of a further microbatch, or one that a microbatch waits for. *)
  Definition waiting (st : state) (j : nat) : bool :=
    match queue_of st j with
    | [] => false
    | _ => true
    end.

  (** The device may hold what the job acquires. *)
  Definition fits (st : state) (j : nat) : bool :=
    (takes (job_of j) <=? 0) ||
    match limit_of C (at_device (job_of j)) with
    | None => true
    | Some limit => live_of st (at_device (job_of j)) + takes (job_of j) <=? limit
    end.

  (** The state after the job starts at s. *)
  Definition after (st : state) (j : nat) (s : Z) : state :=
    let stop := s + lasts (job_of j) in
    State
      (tabulate (fun d => if Nat.eqb d (at_device (job_of j)) then stop else Z.max (free_of st d) s) (kept_devices C))
      (tabulate (fun i =>
         (if Nat.eqb i j then tl (queue_of st i) else queue_of st i) ++
         (if Nat.ltb 0 i && Nat.eqb (before (job_of i)) j then [stop + lag (job_of i)] else [])) (size C))
      (tabulate (fun d => live_of st d +
         (if Nat.eqb (at_device (job_of j)) d then takes (job_of j) - gives (job_of j) else 0)) (kept_devices C))
      (if Nat.eqb j 0 then under_way st + (size C - 1) else under_way st - 1)%nat
      (latest_end st).

  (** No microbatch starts before its device is free, nor before those in front of it have run. *)
  Fixpoint raise_queue (from length : Z) (q : list Z) : list Z :=
    match q with
    | [] => []
    | x :: rest => Z.max from x :: raise_queue (Z.max from x + length) length rest
    end.

  Definition raise (st : state) : state :=
    State (free st)
      (tabulate (fun j => raise_queue (free_of st (at_device (job_of j))) (lasts (job_of j)) (queue_of st j)) (size C))
      (live st) (under_way st) (latest_end st).

  (** *** Continuations *)

  (** The jobs in the order of their starts, with these, can follow the state and end by T. *)
  Fixpoint admits (st : state) (l : list (nat * Z)) (T : Z) : Prop :=
    match l with
    | [] => forall j, (j < size C)%nat -> queue_of st j = []
    | (j, s) :: rest =>
        (j < size C)%nat /\ (j = 0%nat \/ ((0 < j)%nat /\ waiting st j = true)) /\ early st j <= s /\ fits st j = true /\
        ends_within C j (s + lasts (job_of j)) T /\ admits (after st j s) rest T
    end.

  (** How many microbatches it begins. *)
  Definition begins (l : list (nat * Z)) : nat := length (filter (fun p => Nat.eqb (fst p) 0) l).

  Definition shift_starts (g : Z) (l : list (nat * Z)) : list (nat * Z) := map (fun p => (fst p, snd p - g)) l.

  (** [as_good g A B]: the state B is earlier than A by at least g, or will be once the times of A are raised. *)
  Definition as_good (g : Z) (A B : state) : Prop :=
    (forall d, (d < kept_devices C)%nat -> free_of B d + g <= free_of A d) /\
    (forall j, (j < size C)%nat -> Forall2 (fun x y => x + g <= y) (queue_of B j)
      (raise_queue (free_of A (at_device (job_of j))) (lasts (job_of j)) (queue_of A j))) /\
    (forall d limit, (d < kept_devices C)%nat -> limit_of C d = Some limit -> live_of B d <= live_of A d).

  Hypothesis Well : chain_well_formed C.

  Lemma device_inside : forall j, (j < size C)%nat -> (at_device (job_of j) < kept_devices C)%nat.
  Proof. intros j inside. apply (Well j inside). Qed.

  Lemma lasts_nonneg : forall j, (j < size C)%nat -> 0 <= lasts (job_of j).
  Proof. intros j inside. apply (Well j inside). Qed.

  Lemma gives_nonneg : forall j, (j < size C)%nat -> 0 <= gives (job_of j).
  Proof. intros j inside. apply (Well j inside). Qed.

  Lemma before_smaller : forall j, (j < size C)%nat -> (0 < j)%nat -> (before (job_of j) < j)%nat.
  Proof. intros j inside. apply (Well j inside). Qed.

  Lemma free_after : forall st j s d, (d < kept_devices C)%nat ->
    free_of (after st j s) d =
    if Nat.eqb d (at_device (job_of j)) then s + lasts (job_of j) else Z.max (free_of st d) s.
  Proof. intros st j s d inside. unfold free_of at 1. cbn [free after]. apply nth_tabulate. exact inside. Qed.

  Lemma queue_after : forall st j s i, (i < size C)%nat ->
    queue_of (after st j s) i =
    (if Nat.eqb i j then tl (queue_of st i) else queue_of st i) ++
    (if Nat.ltb 0 i && Nat.eqb (before (job_of i)) j then [s + lasts (job_of j) + lag (job_of i)] else []).
  Proof. intros st j s i inside. unfold queue_of at 1. cbn [queues after]. apply nth_tabulate. exact inside. Qed.

  Lemma live_after_job : forall st j s d, (d < kept_devices C)%nat ->
    live_of (after st j s) d =
    live_of st d + (if Nat.eqb (at_device (job_of j)) d then takes (job_of j) - gives (job_of j) else 0).
  Proof. intros st j s d inside. unfold live_of at 1. cbn [live after]. apply nth_tabulate. exact inside. Qed.

  Lemma queue_raise : forall st j, (j < size C)%nat -> queue_of (raise st) j =
    raise_queue (free_of st (at_device (job_of j))) (lasts (job_of j)) (queue_of st j).
  Proof. intros st j inside. unfold queue_of at 1. cbn [queues raise]. apply nth_tabulate. exact inside. Qed.

  (** A device is free no earlier after a job than before it, nor before the job starts. *)
  Lemma free_grows : forall st j s d, (j < size C)%nat -> (d < kept_devices C)%nat -> early st j <= s ->
    free_of st d <= free_of (after st j s) d /\ s <= free_of (after st j s) d.
  Proof.
    intros st j s d job inside begins_late. rewrite free_after by exact inside.
    assert (0 <= lasts (job_of j)) by (apply lasts_nonneg; exact job).
    destruct (Nat.eqb d (at_device (job_of j))) eqn:same; [| lia].
    apply Nat.eqb_eq in same. subst d. unfold early in begins_late.
    destruct (queue_of st j); lia.
  Qed.

  (** *** Raising *)

  Lemma raise_queue_le : forall g length q k from until, until + g <= from -> Forall2 (fun x y => x + g <= y) k q ->
    Forall2 (fun x y => x + g <= y) (raise_queue until length k) (raise_queue from length q).
  Proof.
    intros g length q. induction q as [| y q IH]; intros k from until order below; inversion below; subst; cbn; [constructor |].
    constructor; [lia |]. apply IH; [lia | assumption].
  Qed.

  Lemma raise_queue_above : forall length q from, Forall2 Z.le q (raise_queue from length q).
  Proof.
    intros length q. induction q as [| y q IH]; intros from; cbn; [constructor |]. constructor; [lia | apply IH].
  Qed.

  Lemma forall2_shift_trans : forall g p q r, Forall2 (fun x y => x + g <= y) p q -> Forall2 Z.le q r ->
    Forall2 (fun x y => x + g <= y) p r.
  Proof.
    intros g p q r one. revert r. induction one; intros r two; inversion two; subst; constructor; auto. lia.
  Qed.

  Lemma raise_queue_mono : forall length q from until, from <= until ->
    Forall2 Z.le (raise_queue from length q) (raise_queue until length q).
  Proof.
    intros length q. induction q as [| y q IH]; intros from until order; cbn; [constructor |].
    constructor; [lia |]. apply IH. lia.
  Qed.

  Lemma raise_queue_app : forall length x q from, exists y, x <= y /\
    raise_queue from length (q ++ [x]) = raise_queue from length q ++ [y].
  Proof.
    intros length x q. induction q as [| z q IH]; intros from; cbn [raise_queue app].
    - exists (Z.max from x). split; [lia | reflexivity].
    - destruct (IH (Z.max from z + length)) as [y [above same]]. exists y. split; [exact above |]. rewrite same. reflexivity.
  Qed.

  (** *** Dominance *)

  Lemma as_good_early : forall g A B j, (j < size C)%nat -> as_good g A B -> early B j + g <= early A j.
  Proof.
    intros g A B j inside [frees [waits_less _]]. specialize (waits_less j inside). unfold early.
    specialize (frees _ (device_inside j inside)).
    destruct (queue_of A j) as [| y q]; cbn [raise_queue] in waits_less; inversion waits_less; subst; lia.
  Qed.

  Lemma as_good_waiting : forall g A B j, (j < size C)%nat -> as_good g A B -> waiting B j = waiting A j.
  Proof.
    intros g A B j inside [_ [waits_less _]]. specialize (waits_less j inside). unfold waiting.
    destruct (queue_of A j) as [| y q]; cbn [raise_queue] in waits_less; inversion waits_less; subst; reflexivity.
  Qed.

  Lemma as_good_fits : forall g A B j, (j < size C)%nat -> as_good g A B -> fits A j = true -> fits B j = true.
  Proof.
    intros g A B j inside [_ [_ less]] room. unfold fits in *. apply orb_true_iff in room. apply orb_true_iff.
    destruct room as [none | room]; [left; exact none | right].
    destruct (limit_of C (at_device (job_of j))) as [limit |] eqn:limited; [| reflexivity].
    specialize (less _ limit (device_inside j inside) limited). apply Z.leb_le in room. apply Z.leb_le. lia.
  Qed.

  (** Both states run the same job; B runs it no later than at s - g. *)
  Lemma as_good_after : forall g A B j s t, (j < size C)%nat -> as_good g A B -> early A j <= s -> t + g <= s ->
    early B j <= t -> (j = 0%nat \/ waiting A j = true) -> as_good g (after A j s) (after B j t).
  Proof.
    intros g A B j s t inside good late sooner _ turn. destruct good as [frees [waits_less less]].
    assert (positive : 0 <= lasts (job_of j)) by (apply lasts_nonneg; exact inside).
    split; [| split].
    - intros d within. rewrite !free_after by exact within. specialize (frees d within).
      destruct (Nat.eqb d (at_device (job_of j))); lia.
    - intros i there. rewrite !queue_after by exact there. specialize (waits_less i there).
      assert (grows : free_of A (at_device (job_of i)) <= free_of (after A j s) (at_device (job_of i))).
      { apply free_grows; [exact inside | apply device_inside; exact there | exact late]. }
      assert (own : i = j -> free_of (after A j s) (at_device (job_of i)) = s + lasts (job_of j)).
      { intros same. subst i. rewrite free_after by (apply device_inside; exact inside). rewrite Nat.eqb_refl. reflexivity. }
      set (from := free_of (after A j s) (at_device (job_of i))) in *.
      assert (old : Forall2 (fun x y => x + g <= y) (if Nat.eqb i j then tl (queue_of B i) else queue_of B i)
        (raise_queue from (lasts (job_of i)) (if Nat.eqb i j then tl (queue_of A i) else queue_of A i))).
      { destruct (Nat.eqb i j) eqn:same.
        - apply Nat.eqb_eq in same. rewrite (own same). subst i. unfold early in late.
          destruct (queue_of A j) as [| y q]; cbn [raise_queue] in waits_less; inversion waits_less; subst; cbn; [constructor |].
          eapply forall2_shift_trans; [eassumption |]. apply raise_queue_mono. lia.
        - eapply forall2_shift_trans; [exact waits_less |]. apply raise_queue_mono. exact grows. }
      destruct (Nat.ltb 0 i && Nat.eqb (before (job_of i)) j); [| rewrite !app_nil_r; exact old].
      destruct (raise_queue_app (lasts (job_of i)) (s + lasts (job_of j) + lag (job_of i))
        (if Nat.eqb i j then tl (queue_of A i) else queue_of A i) from) as [y [above same]].
      rewrite same. apply Forall2_app; [exact old |]. constructor; [lia | constructor].
    - intros d limit within limited. rewrite !live_after_job by exact within. specialize (less d limit within limited).
      lia.
  Qed.

  Lemma ends_sooner : forall j g e e' T, ends_within C j e T -> e' + g <= e -> ends_within C j e' (T - g).
  Proof. intros j g e e' T. unfold ends_within. destruct (tail (job_of j)); [lia | trivial]. Qed.

  Lemma ends_no_later : forall j e e' T, ends_within C j e T -> e' <= e -> ends_within C j e' T.
  Proof. intros j e e' T. unfold ends_within. destruct (tail (job_of j)); [lia | trivial]. Qed.

  (** A state that is nowhere later admits every continuation of the other, earlier by the same amount. *)
  Theorem dominance : forall l g A B T, as_good g A B -> admits A l T -> admits B (shift_starts g l) (T - g).
  Proof.
    intros l. induction l as [| [j s] l IH]; intros g A B T good.
    - cbn. intros done j inside. destruct good as [_ [waits_less _]]. specialize (waits_less j inside).
      rewrite (done j inside) in waits_less. cbn in waits_less. inversion waits_less. reflexivity.
    - cbn [shift_starts map fst snd admits]. intros [inside [turn [late [room [ends continues]]]]].
      assert (sooner : early B j <= s - g).
      { pose proof (as_good_early g A B j inside good). lia. }
      repeat split.
      + exact inside.
      + rewrite (as_good_waiting g A B j inside good). exact turn.
      + exact sooner.
      + apply (as_good_fits g A); assumption.
      + apply (ends_sooner j g (s + lasts (job_of j))); [exact ends | lia].
      + apply (IH g (after A j s)); [| exact continues]. apply as_good_after; try assumption; try lia. intuition.
  Qed.

  Lemma shift_by_none : forall l, shift_starts 0 l = l.
  Proof.
    intros l. induction l as [| [j s] l IH]; [reflexivity |]. cbn. unfold shift_starts in IH. rewrite IH.
    rewrite Z.sub_0_r. reflexivity.
  Qed.

  Lemma begins_shift : forall g l, begins (shift_starts g l) = begins l.
  Proof.
    intros g l. unfold begins, shift_starts. induction l as [| [j s] l IH]; [reflexivity |]. cbn.
    destruct (Nat.eqb j 0); cbn; rewrite IH; reflexivity.
  Qed.

  (** With equal counts, a state whose times are all no later admits every continuation of the other. *)
  Corollary dominance_same : forall l A B T, as_good 0 A B -> admits A l T -> admits B l T.
  Proof.
    intros l A B T good follows_a. rewrite <- (shift_by_none l). replace T with (T - 0) by ring.
    apply (dominance l 0 A); assumption.
  Qed.

  Lemma as_good_refl : forall A, as_good 0 A A.
  Proof.
    intros A. repeat split; intros; try lia. apply (forall2_shift_trans 0 _ (queue_of A j)); [| apply raise_queue_above].
    generalize (queue_of A j). intros q. induction q; constructor; [lia | assumption].
  Qed.

  Lemma as_good_raise : forall g A B, as_good g A B ->
    (forall j, (j < size C)%nat -> Forall2 (fun x y => x + g <= y) (queue_of B j) (queue_of A j)) -> as_good g A (raise B).
  Proof.
    intros g A B [frees [_ less]] waits_less. split; [exact frees |]. split; [| exact less].
    intros j inside. rewrite queue_raise by exact inside. apply raise_queue_le; [| apply waits_less; exact inside].
    apply frees. apply device_inside. exact inside.
  Qed.

  (** Starting as early as possible, and raising, loses nothing. *)
  Lemma after_early : forall st j s l T, (j < size C)%nat -> (j = 0%nat \/ waiting st j = true) -> early st j <= s ->
    admits (after st j s) l T -> admits (raise (after st j (early st j))) l T.
  Proof.
    intros st j s l T inside turn late continues. apply (dominance_same l (after st j s)); [| exact continues].
    apply as_good_raise.
    - apply as_good_after; try assumption; try lia. apply as_good_refl.
    - intros i there. rewrite !queue_after by exact there. apply Forall2_app.
      + generalize (if Nat.eqb i j then tl (queue_of st i) else queue_of st i). intros q.
        induction q; constructor; [lia | assumption].
      + destruct (Nat.ltb 0 i && Nat.eqb (before (job_of i)) j); constructor; [lia | constructor].
  Qed.

  (** *** Gaps *)

  (** Whether a job may run as early as it can without taking memory from any other. *)
  Definition harmless (j : nat) : bool :=
    (takes (job_of j) <=? 0) || match limit_of C (at_device (job_of j)) with None => true | Some _ => false end.

  (** Whether another job that waits could run before j starts and end by then. *)
  Definition leaves_gap (st : state) (j : nat) : bool :=
    existsb (fun i => negb (Nat.eqb i j) && waiting st i && harmless i && (early st i <? early st j) &&
      (early st i + lasts (job_of i) <=? early st j)) (seq 1 (size C - 1)).

  (** [ahead o b A B]: B is A after the job o has run for the first microbatch that waits for it, at b. *)
  Definition ahead (o : nat) (b : Z) (A B : state) : Prop :=
    (forall d, (d < kept_devices C)%nat -> free_of B d <= free_of A d) /\
    b < free_of A (at_device (job_of o)) /\
    (forall i, (i < size C)%nat -> i <> o -> exists q, Forall2 Z.le q (queue_of A i) /\
      queue_of B i = q ++ (if Nat.ltb 0 i && Nat.eqb (before (job_of i)) o then [b + lasts (job_of o) + lag (job_of i)] else [])) /\
    (exists x q, queue_of A o = x :: q /\ Forall2 Z.le (queue_of B o) q) /\
    (forall d, (d < kept_devices C)%nat ->
      live_of B d = live_of A d + (if Nat.eqb (at_device (job_of o)) d then takes (job_of o) - gives (job_of o) else 0)).

  Lemma le_tl : forall p q, Forall2 Z.le p q -> Forall2 Z.le (tl p) (tl q).
  Proof. intros p q below. destruct below; [constructor | assumption]. Qed.

  Section Ahead.
    Variable o : nat.
    Variable b : Z.
    Hypothesis inside_o : (o < size C)%nat.
    Hypothesis after_first : (0 < o)%nat.
    Hypothesis harmless_o : harmless o = true.

    Lemma not_before_itself : (before (job_of o) =? o)%nat = false.
    Proof. apply Nat.eqb_neq. pose proof (before_smaller o inside_o after_first). lia. Qed.

    Lemma ahead_fits : forall A B j, (j < size C)%nat ->
      (forall d, (d < kept_devices C)%nat -> live_of B d =
        live_of A d + (if Nat.eqb (at_device (job_of o)) d then takes (job_of o) - gives (job_of o) else 0)) ->
      fits A j = true -> fits B j = true.
    Proof.
      intros A B j inside same room. unfold fits in *. apply orb_true_iff in room. apply orb_true_iff.
      destruct room as [none | room]; [left; exact none | right].
      destruct (limit_of C (at_device (job_of j))) as [limit |] eqn:limited; [| reflexivity].
      rewrite same by (apply device_inside; exact inside). apply Z.leb_le in room. apply Z.leb_le.
      destruct (at_device (job_of o) =? at_device (job_of j))%nat eqn:one; [| lia]. apply Nat.eqb_eq in one.
      pose proof (gives_nonneg o inside_o). unfold harmless in harmless_o. rewrite one, limited in harmless_o.
      rewrite orb_false_r in harmless_o. apply Z.leb_le in harmless_o. lia.
    Qed.

    (** Both run another job at the same time. *)
    Lemma ahead_after : forall A B j s, (j < size C)%nat -> j <> o -> ahead o b A B -> early A j <= s ->
      (j = 0%nat \/ waiting A j = true) -> ahead o b (after A j s) (after B j s).
    Proof.
      intros A B j s inside other [frees [past [queues_j [queue_o lives]]]] late turn.
      split; [| split; [| split; [| split]]].
      - intros d within. rewrite !free_after by exact within. specialize (frees d within).
        destruct (Nat.eqb d (at_device (job_of j))); lia.
      - pose proof (proj1 (free_grows A j s _ inside (device_inside o inside_o) late)). lia.
      - intros i there not_o. rewrite !queue_after by exact there. destruct (queues_j i there not_o) as [q [below same]].
        destruct (Nat.eqb i j) eqn:own.
        + apply Nat.eqb_eq in own. subst i.
          assert (not_own : (before (job_of j) =? j)%nat && (0 <? j)%nat = false).
          { destruct (0 <? j)%nat eqn:positive; [| apply andb_false_r]. apply Nat.ltb_lt in positive.
            rewrite (proj2 (Nat.eqb_neq _ _)); [reflexivity |]. pose proof (before_smaller j inside positive). lia. }
          rewrite andb_comm in not_own. rewrite not_own. rewrite !app_nil_r.
          exists (tl q). split; [apply le_tl; exact below |]. rewrite same. destruct q as [| x q]; [| reflexivity].
          inversion below as [none |]. destruct turn as [first | turn].
          * subst j. reflexivity.
          * unfold waiting in turn. rewrite <- H in turn. discriminate turn.
        + destruct (Nat.ltb 0 i && Nat.eqb (before (job_of i)) j) eqn:arrives.
          * apply andb_true_iff in arrives. destruct arrives as [_ from]. apply Nat.eqb_eq in from.
            exists (q ++ [s + lasts (job_of j) + lag (job_of i)]). split.
            -- apply Forall2_app; [exact below |]. constructor; [lia | constructor].
            -- rewrite same. rewrite from. rewrite (proj2 (Nat.eqb_neq j o) other). rewrite andb_false_r.
               rewrite !app_nil_r. reflexivity.
          * exists q. split; [rewrite app_nil_r; exact below |]. rewrite app_nil_r. exact same.
      - destruct queue_o as [x [q [same below]]]. rewrite !queue_after by exact inside_o.
        rewrite (proj2 (Nat.eqb_neq o j)) by (intros equal; apply other; symmetry; exact equal). rewrite same.
        exists x, (q ++ if (0 <? o)%nat && (before (job_of o) =? j)%nat then [s + lasts (job_of j) + lag (job_of o)] else []).
        split; [reflexivity |]. apply Forall2_app; [exact below |].
        destruct ((0 <? o)%nat && (before (job_of o) =? j)%nat); constructor; [lia | constructor].
      - intros d within. rewrite !live_after_job by exact within. rewrite (lives d within). lia.
    Qed.

    Lemma ahead_early : forall A B j, (j < size C)%nat -> j <> o -> ahead o b A B -> (j = 0%nat \/ waiting A j = true) ->
      early B j <= early A j.
    Proof.
      intros A B j inside other [frees [_ [queues_j _]]] turn. specialize (frees _ (device_inside j inside)).
      destruct (queues_j j inside other) as [q [below same]]. unfold waiting in turn. unfold early. rewrite same.
      destruct (queue_of A j) as [| y k]; inversion below; subst; cbn [app]; [| lia].
      destruct turn as [zero | turn]; [subst j; cbn; lia | discriminate turn].
    Qed.

    Lemma ahead_waiting : forall A B j, (j < size C)%nat -> j <> o -> ahead o b A B -> waiting A j = true ->
      waiting B j = true.
    Proof.
      intros A B j inside other [_ [_ [queues_j _]]] turn. destruct (queues_j j inside other) as [q [below same]].
      unfold waiting in *. rewrite same. destruct (queue_of A j); [discriminate turn |]. inversion below. reflexivity.
    Qed.

    (** Once A runs o as well, B is as good. *)
    Lemma ahead_meets : forall A B s, ahead o b A B -> early A o <= s -> as_good 0 (after A o s) B.
    Proof.
      intros A B s [frees [past [queues_j [queue_o lives]]]] late.
      assert (s_late : b < s).
      { unfold early in late. destruct (queue_of A o); lia. }
      split; [| split].
      - intros d within. pose proof (proj1 (free_grows A o s d inside_o within late)). specialize (frees d within). lia.
      - intros i there. eapply forall2_shift_trans; [| apply raise_queue_above].
        assert (plain : Forall2 Z.le (queue_of B i) (queue_of (after A o s) i)).
        { rewrite queue_after by exact there. destruct (Nat.eqb i o) eqn:own.
          - apply Nat.eqb_eq in own. subst i. destruct queue_o as [x [q [same below]]]. rewrite same. cbn [tl].
            rewrite not_before_itself, andb_false_r, app_nil_r. exact below.
          - apply Nat.eqb_neq in own. destruct (queues_j i there own) as [q [below same]]. rewrite same.
            apply Forall2_app; [exact below |]. destruct ((0 <? i)%nat && (before (job_of i) =? o)%nat); constructor;
              [lia | constructor]. }
        clear - plain. induction plain; constructor; [lia | assumption].
      - intros d limit within limited. rewrite live_after_job by exact within. rewrite (lives d within). lia.
    Qed.

    Lemma ahead_admits : forall l A B T, ahead o b A B -> admits A l T -> exists l', admits B l' T /\
      begins l' = begins l /\ S (length l') = length l /\ sum snd l' + b < sum snd l /\
      ends_within C o (b + lasts (job_of o)) T.
    Proof.
      intros l. induction l as [| [j s] l IH]; intros A B T near.
      - cbn. intros done. destruct near as [_ [_ [_ [[x [q [same _]]] _]]]]. rewrite (done o inside_o) in same. discriminate same.
      - cbn [admits]. intros [inside [turn [late [room [ends continues]]]]].
        assert (turn_a : j = 0%nat \/ waiting A j = true) by (destruct turn as [zero | [_ waits_j]]; auto).
        destruct (Nat.eq_dec j o) as [same | other].
        + subst j. exists l.
          assert (b < s). { destruct near as [_ [past _]]. unfold early in late. destruct (queue_of A o); lia. }
          split; [apply (dominance_same l (after A o s)); [apply ahead_meets; assumption | exact continues] |].
          split; [unfold begins; cbn; rewrite (proj2 (Nat.eqb_neq o 0)) by lia; reflexivity |].
          cbn [length sum snd]. split; [lia |]. split; [lia |].
          apply (ends_no_later o (s + lasts (job_of o))); [exact ends | lia].
        + destruct (IH (after A j s) (after B j s) T) as [l' [continues_b [same_begins [same_length [less ends_o]]]]];
            [apply ahead_after; assumption | exact continues |].
          exists ((j, s) :: l'). split; [| split; [| split; [| split]]].
          * cbn [admits]. repeat split; try assumption.
            -- destruct turn as [zero | [positive waits_j]]; [left; exact zero | right]. split; [exact positive |].
               apply (ahead_waiting A); assumption.
            -- pose proof (ahead_early A B j inside other near turn_a). lia.
            -- apply (ahead_fits A); [exact inside | | exact room]. apply near.
          * unfold begins in *. cbn. destruct (j =? 0)%nat; cbn; rewrite same_begins; reflexivity.
          * cbn. rewrite same_length. reflexivity.
          * cbn [sum snd]. lia.
          * exact ends_o.
    Qed.
  End Ahead.

  (** A job that waits may be run first where nothing of its device is lost by it. *)
  Lemma ahead_at_once : forall st o j s, (o < size C)%nat -> (0 < o)%nat -> (j < size C)%nat -> o <> j ->
    waiting st o = true -> (j = 0%nat \/ waiting st j = true) -> early st o < s -> early st o + lasts (job_of o) <= s ->
    early st j <= s ->
    ahead o (early st o) (after st j s) (after (after st o (early st o)) j s).
  Proof.
    intros st o j s inside_o positive inside other waits_o turn less fits_gap late. set (b := early st o) in *.
    assert (long : 0 <= lasts (job_of o)) by (apply lasts_nonneg; exact inside_o).
    assert (j_long : 0 <= lasts (job_of j)) by (apply lasts_nonneg; exact inside).
    split; [| split; [| split; [| split]]].
    - intros d within. rewrite !free_after by exact within.
      destruct (d =? at_device (job_of j))%nat; [lia |]. destruct (d =? at_device (job_of o))%nat; lia.
    - pose proof (proj2 (free_grows st j s _ inside (device_inside o inside_o) late)). lia.
    - intros i there not_o. rewrite !queue_after by exact there. rewrite (proj2 (Nat.eqb_neq i o) not_o).
      destruct (Nat.eqb i j) eqn:own.
      + apply Nat.eqb_eq in own. subst i.
        assert (not_own : (0 <? j)%nat && (before (job_of j) =? j)%nat = false).
        { destruct (0 <? j)%nat eqn:above; [| reflexivity]. apply Nat.ltb_lt in above.
          apply Nat.eqb_neq. pose proof (before_smaller j inside above). lia. }
        rewrite not_own, !app_nil_r. exists (tl (queue_of st j)). split.
        * generalize (tl (queue_of st j)). intros q. induction q; constructor; [lia | assumption].
        * destruct turn as [zero | turn]; [subst j; cbn; rewrite !app_nil_r; reflexivity |].
          unfold waiting in turn. destruct (queue_of st j); [discriminate turn | reflexivity].
      + destruct ((0 <? i)%nat && (before (job_of i) =? j)%nat) eqn:arrives.
        * apply andb_true_iff in arrives. destruct arrives as [_ from]. apply Nat.eqb_eq in from.
          exists (queue_of st i ++ [s + lasts (job_of j) + lag (job_of i)]). split.
          -- generalize (queue_of st i ++ [s + lasts (job_of j) + lag (job_of i)]). intros q.
             induction q; constructor; [lia | assumption].
          -- rewrite from, (proj2 (Nat.eqb_neq j o)) by (intros same; apply other; symmetry; exact same).
             rewrite andb_false_r, !app_nil_r. reflexivity.
        * exists (queue_of st i). rewrite !app_nil_r. split; [| reflexivity].
          generalize (queue_of st i). intros q. induction q; constructor; [lia | assumption].
    - unfold waiting in waits_o. destruct (queue_of st o) as [| x q] eqn:queue_o; [discriminate waits_o |].
      rewrite !queue_after by exact inside_o. rewrite queue_o. rewrite (proj2 (Nat.eqb_neq o j) other).
      rewrite Nat.eqb_refl. rewrite not_before_itself by assumption. rewrite andb_false_r, app_nil_r. cbn [tl].
      exists x, (q ++ if (0 <? o)%nat && (before (job_of o) =? j)%nat then [s + lasts (job_of j) + lag (job_of o)] else []).
      split; [reflexivity |].
      generalize (q ++ if (0 <? o)%nat && (before (job_of o) =? j)%nat then [s + lasts (job_of j) + lag (job_of o)] else []).
      intros k. induction k; constructor; [lia | assumption].
    - intros d within. rewrite !live_after_job by exact within. lia.
  Qed.

  (** A continuation that leaves a gap can be exchanged for one with a smaller sum of starts. *)
  Lemma fill_gap : forall st j s l T, leaves_gap st j = true -> admits st ((j, s) :: l) T -> exists l',
    admits st l' T /\ begins l' = begins ((j, s) :: l) /\ length l' = length ((j, s) :: l) /\ sum snd l' < sum snd ((j, s) :: l).
  Proof.
    intros st j s l T gap continues. unfold leaves_gap in gap. apply existsb_exists in gap.
    destruct gap as [o [among found]]. apply in_seq in among. rewrite !andb_true_iff in found.
    destruct found as [[[[other waits_o] safe] less] fits_gap]. apply negb_true_iff in other. apply Nat.eqb_neq in other.
    apply Z.ltb_lt in less. apply Z.leb_le in fits_gap.
    assert (inside_o : (o < size C)%nat) by lia. assert (positive : (0 < o)%nat) by lia.
    cbn [admits] in continues. destruct continues as [inside [turn [late [room [ends continues]]]]].
    assert (turn_a : j = 0%nat \/ waiting st j = true) by (destruct turn as [zero | [_ waits_j]]; auto).
    set (b := early st o) in *.
    assert (near : ahead o b (after st j s) (after (after st o b) j s)).
    { apply ahead_at_once; try assumption; unfold b in *; lia. }
    destruct (ahead_admits o b inside_o positive safe l _ _ T near continues)
      as [l' [continues_b [same_begins [same_length [smaller ends_o]]]]].
    exists ((o, b) :: (j, s) :: l').
    assert (long : 0 <= lasts (job_of o)) by (apply lasts_nonneg; exact inside_o).
    split; [| split; [| split]].
    - cbn [admits]. repeat split; try assumption.
      + right. split; assumption.
      + unfold b. lia.
      + unfold fits. unfold harmless in safe. apply orb_true_iff in safe. apply orb_true_iff.
        destruct safe as [none | none]; [left; exact none | right].
        destruct (limit_of C (at_device (job_of o))); [discriminate none | reflexivity].
      + destruct turn as [zero | [above waits_j]]; [left; exact zero | right; split; [exact above |]].
        unfold waiting in *. rewrite queue_after by exact inside. rewrite (proj2 (Nat.eqb_neq j o)) by auto.
        destruct (queue_of st j); [discriminate waits_j | reflexivity].
      + assert (frees : free_of (after st o b) (at_device (job_of j)) <= s).
        { rewrite free_after by (apply device_inside; exact inside).
          assert (free_of st (at_device (job_of j)) <= early st j) by (unfold early; destruct (queue_of st j); lia).
          destruct (at_device (job_of j) =? at_device (job_of o))%nat; lia. }
        assert (front : queue_of (after st o b) j = queue_of st j ++
          (if Nat.ltb 0 j && Nat.eqb (before (job_of j)) o then [b + lasts (job_of o) + lag (job_of j)] else [])).
        { rewrite queue_after by exact inside. rewrite (proj2 (Nat.eqb_neq j o)) by auto. reflexivity. }
        unfold early. rewrite front. unfold early in late. destruct turn as [zero | [above waits_j]].
        * subst j. cbn [Nat.ltb Nat.leb andb]. rewrite app_nil_r. destruct (queue_of st 0); lia.
        * unfold waiting in waits_j. destruct (queue_of st j); [discriminate waits_j |]. cbn [app]. lia.
      + apply (ahead_fits o inside_o positive safe st); [exact inside | | exact room].
        intros d within. rewrite live_after_job by exact within. reflexivity.
    - unfold begins in *. cbn. rewrite (proj2 (Nat.eqb_neq o 0)) by lia. destruct (j =? 0)%nat; cbn; rewrite same_begins;
      reflexivity.
    - cbn. rewrite same_length. reflexivity.
    - cbn [sum snd] in *. lia.
  Qed.

  (** All devices are free by no earlier than this. *)
  Lemma floor_exists : forall st, exists base, forall d, (d < kept_devices C)%nat -> base <= free_of st d.
  Proof.
    intros st. induction (kept_devices C) as [| n [base IH]]; [exists 0; lia |].
    exists (Z.min base (free_of st n)). intros d within.
    destruct (Nat.eq_dec d n) as [same | other]; [subst; lia |]. assert (base <= free_of st d) by (apply IH; lia). lia.
  Qed.

  Lemma starts_above : forall l st T base, (forall d, (d < kept_devices C)%nat -> base <= free_of st d) -> admits st l T ->
    base * Z.of_nat (length l) <= sum snd l.
  Proof.
    intros l. induction l as [| [j s] l IH]; intros st T base low; [cbn; lia |].
    cbn [admits]. intros [inside [_ [late [_ [_ continues]]]]]. cbn [length sum snd].
    assert (base * Z.of_nat (length l) <= sum snd l).
    { apply (IH (after st j s) T); [| exact continues]. intros d within.
      pose proof (proj1 (free_grows st j s d inside within late)). specialize (low d within). lia. }
    assert (base <= s).
    { specialize (low _ (device_inside j inside)). unfold early in late. destruct (queue_of st j); lia. }
    rewrite Nat2Z.inj_succ. lia.
  Qed.

  (** Some continuation leaves no gap before its first job. *)
  Theorem gaps_are_not_needed : forall st l T, admits st l T -> exists l', admits st l' T /\ begins l' = begins l /\
    match l' with
    | [] => True
    | (j, _) :: _ => leaves_gap st j = false
    end.
  Proof.
    intros st l T. destruct (floor_exists st) as [base low].
    remember (Z.to_nat (sum snd l - base * Z.of_nat (length l))) as measure eqn:measured.
    revert l measured. induction measure as [measure IH] using lt_wf_ind. intros l measured continues.
    destruct l as [| [j s] l]; [exists []; split; [exact continues | split; [reflexivity | exact Logic.I]] |].
    destruct (leaves_gap st j) eqn:gap; [| exists ((j, s) :: l); split; [exact continues | split; [reflexivity | exact gap]]].
    destruct (fill_gap st j s l T gap continues) as [l' [continues' [same_begins [same_length smaller]]]].
    pose proof (starts_above l' st T base low continues') as above.
    destruct (IH (Z.to_nat (sum snd l' - base * Z.of_nat (length l')))) with (l := l')
      as [l'' [continues'' [same_begins' no_gap]]]; [| reflexivity | exact continues' |].
    - subst measure. rewrite same_length in *. apply Z2Nat.inj_lt; lia.
    - exists l''. split; [exact continues'' |]. split; [rewrite same_begins'; exact same_begins | exact no_gap].
  Qed.

  (** *** The search *)

  (** Everywhere no later, pairwise, and as many. *)
  Fixpoint below (p q : list Z) : bool :=
    match p, q with
    | [], [] => true
    | x :: p, y :: q => (x <=? y) && below p q
    | _, _ => false
    end.

  Fixpoint all_below (p q : list (list Z)) : bool :=
    match p, q with
    | [], [] => true
    | x :: p, y :: q => below x y && all_below p q
    | _, _ => false
    end.

  (** Equal counts, and times that are all no later. *)
  Definition dominates (a b : state) : bool :=
    Nat.eqb (under_way a) (under_way b) && below (live a) (live b) && below (free a) (free b) &&
    all_below (queues a) (queues b).

  (** The same, and no later end. *)
  Definition dominates_end (a b : state) : bool := dominates a b && (latest_end a <=? latest_end b).

  Definition insert (better : state -> state -> bool) (st : state) (kept : list state) : list state :=
    if existsb (fun other => better other st) kept then kept
    else st :: filter (fun other => negb (better st other)) kept.

  (** A key for how many microbatches wait where. *)
  Fixpoint key_of (counts : list nat) : positive :=
    match counts with
    | [] => xH
    | n :: rest => Nat.iter n xI (xO (key_of rest))
    end.

  Definition bucket (st : state) (buckets : PositiveMap.t (list state)) : list state :=
    match PositiveMap.find (key_of (map (@length Z) (queues st))) buckets with
    | None => []
    | Some kept => kept
    end.

  Definition insert_into (better : state -> state -> bool) (st : state) (buckets : PositiveMap.t (list state)) :
    PositiveMap.t (list state) :=
    PositiveMap.add (key_of (map (@length Z) (queues st))) (insert better st (bucket st buckets)) buckets.

  (** The states without those that others dominate. *)
  Definition prune (better : state -> state -> bool) (l : list state) : list state :=
    flat_map snd (PositiveMap.elements (fold_right (insert_into better) (PositiveMap.empty _) l)).

  Lemma insert_keeps : forall better (P : state -> Prop), (forall a b, better a b = true -> P b -> P a) ->
    forall a kept, (P a \/ exists st, In st kept /\ P st) -> exists st, In st (insert better a kept) /\ P st.
  Proof.
    intros better P closed a kept start. unfold insert.
    destruct (existsb (fun other => better other a) kept) eqn:beaten.
    - destruct start as [good | there]; [| exact there]. apply existsb_exists in beaten. destruct beaten as [b [inside wins]].
      exists b. split; [exact inside | apply (closed b a); assumption].
    - destruct start as [good | [b [inside good]]]; [exists a; split; [left; reflexivity | exact good] |].
      destruct (better a b) eqn:wins.
      + exists a. split; [left; reflexivity | apply (closed a b); assumption].
      + exists b. split; [right; apply filter_In; rewrite wins; split; [exact inside | reflexivity] | exact good].
  Qed.

  Lemma prune_keeps : forall better (P : state -> Prop), (forall a b, better a b = true -> P b -> P a) ->
    forall l, (exists st, In st l /\ P st) -> exists st, In st (prune better l) /\ P st.
  Proof.
    intros better P closed l start.
    assert (found : exists key kept st,
      PositiveMap.find key (fold_right (insert_into better) (PositiveMap.empty _) l) = Some kept /\ In st kept /\ P st).
    { induction l as [| a l IH]; [destruct start as [st [[] _]] |]. cbn [fold_right].
      set (buckets := fold_right (insert_into better) (PositiveMap.empty _) l) in *. unfold insert_into.
      set (own := key_of (map (@length Z) (queues a))).
      assert (old : P a \/ exists st, In st l /\ P st).
      { destruct start as [st [[same | inside] good]]; [left; subst; exact good | right; exists st; split; assumption]. }
      assert (here : (P a \/ exists st, In st (bucket a buckets) /\ P st) ->
        exists key kept st, PositiveMap.find key (PositiveMap.add own (insert better a (bucket a buckets)) buckets) = Some kept /\
          In st kept /\ P st).
      { intros some. destruct (insert_keeps better P closed a _ some) as [st [inside good]].
        exists own, (insert better a (bucket a buckets)), st. rewrite PositiveMap.gss. split; [reflexivity | split; assumption]. }
      destruct old as [good | there]; [apply here; left; exact good |].
      destruct (IH there) as [key [kept [st [is_there [inside good]]]]].
      destruct (Pos.eq_dec key own) as [same | other].
      - apply here. right. exists st. split; [| exact good]. unfold bucket. fold own. rewrite <- same, is_there. exact inside.
      - exists key, kept, st. rewrite PositiveMap.gso by exact other. split; [exact is_there | split; assumption]. }
    destruct found as [key [kept [st [is_there [inside good]]]]]. exists st. split; [| exact good].
    unfold prune. apply in_flat_map. exists (key, kept). split; [apply PositiveMap.elements_correct; exact is_there | exact inside].
  Qed.

  (** All states that follow from some seeds, those with most jobs left first; what each of them yields. None if the
      count of jobs that are left were wrong. *)
  Section Sweep.
    Context {A : Type}.
    Variable better : state -> state -> bool.
    Variable step : state -> list state.
    Variable yields : state -> list A.

    Fixpoint sweep (fuel : nat) (seeds current : list state) : option (list A) :=
      match fuel with
      | O => match current with [] => Some [] | _ => None end
      | S few =>
          let now := prune better (filter (fun st => Nat.eqb (under_way st) few) seeds ++ current) in
          match sweep few seeds (flat_map step now) with
          | None => None
          | Some rest => Some (flat_map yields now ++ rest)
          end
      end.

    Definition fuel_for (seeds : list state) : nat := S (fold_right (fun st most => Nat.max (under_way st) most) 0%nat seeds).

    Lemma fuel_is_enough : forall seeds st, In st seeds -> (under_way st < fuel_for seeds)%nat.
    Proof.
      intros seeds st. unfold fuel_for. induction seeds as [| a seeds IH]; cbn; intros found; [destruct found |].
      destruct found as [same | found]; [subst; lia | specialize (IH found); lia].
    Qed.

    (** What holds of some seed, survives dominance, and either yields or continues, leads to a yield. *)
    Lemma sweep_finds : forall (P : state -> Prop) (Q : A -> Prop),
      (forall a b, better a b = true -> P b -> P a) ->
      (forall st, P st -> (exists y, In y (yields st) /\ Q y) \/ (exists st', In st' (step st) /\ P st')) ->
      forall seeds fuel current all, sweep fuel seeds current = Some all ->
      (exists st, In st current /\ P st) \/ (exists st, In st seeds /\ (under_way st < fuel)%nat /\ P st) ->
      exists y, In y all /\ Q y.
    Proof.
      intros P Q closed progress seeds fuel. induction fuel as [| few IH]; intros current all swept start.
      - cbn in swept. destruct current; [| discriminate swept].
        destruct start as [[st [[] _]] | [st [_ [less _]]]]. lia.
      - cbn [sweep] in swept.
        set (now := prune better (filter (fun st => Nat.eqb (under_way st) few) seeds ++ current)) in *.
        destruct (sweep few seeds (flat_map step now)) as [rest |] eqn:later_part; [| discriminate swept].
        injection swept as swept. subst all.
        assert (here : (exists st, In st now /\ P st) \/ (exists st, In st seeds /\ (under_way st < few)%nat /\ P st)).
        { destruct start as [[st [found good]] | [st [found [less good]]]].
          - left. apply prune_keeps; [exact closed |]. exists st. rewrite in_app_iff. split; [right; exact found | exact good].
          - destruct (Nat.eq_dec (under_way st) few) as [same | other].
            + left. apply prune_keeps; [exact closed |]. exists st. rewrite in_app_iff, filter_In. split; [| exact good].
              left. split; [exact found | apply Nat.eqb_eq; exact same].
            + right. exists st. split; [exact found |]. split; [lia | exact good]. }
        destruct here as [[st [found good]] | more].
        + destruct (progress st good) as [[y [yielded good_y]] | [st' [next good']]].
          * exists y. rewrite in_app_iff, in_flat_map. split; [left; exists st; split; assumption | exact good_y].
          * destruct (IH _ rest later_part) as [y [yielded good_y]].
            -- left. exists st'. rewrite in_flat_map. split; [exists st; split; assumption | exact good'].
            -- exists y. rewrite in_app_iff. split; [right; exact yielded | exact good_y].
        + destruct (IH _ rest later_part (or_intror more)) as [y [yielded good_y]].
          exists y. rewrite in_app_iff. split; [right; exact yielded | exact good_y].
    Qed.
  End Sweep.

  (** The state after a job starts as early as it can. *)
  Definition placed (st : state) (j : nat) : state := raise (after st j (early st j)).

  Definition possible (st : state) (j : nat) : bool := fits st j && negb (leaves_gap st j).

  (** Every state to which one more job of the microbatches under way leads. *)
  Definition continued (st : state) : list state :=
    map (placed st) (filter (fun j => waiting st j && possible st j) (seq 1 (size C - 1))).

  (** The state after the next microbatch begins. *)
  Definition begun (st : state) : list state :=
    if Nat.ltb 0 (size C) && possible st 0 then [placed st 0] else [].

  (** The next layer: all states right after the next microbatch has begun. *)
  Definition next_layer (layer : list state) : option (list state) :=
    match sweep dominates continued begun (fuel_for layer) layer [] with
    | None => None
    | Some all => Some (prune dominates all)
    end.

  Definition with_end (st : state) (x : Z) : state := State (free st) (queues st) (live st) (under_way st) x.

  (** What is measured so far, and because of a job that ends at e. *)
  Definition reach (j : nat) (e now : Z) : Z :=
    match tail (job_of j) with
    | None => now
    | Some t => Z.max now (e + t)
    end.

  (** The first job of the last microbatch has just run. *)
  Definition last_begun (t : Z) (st : state) : state := with_end st (free_of st (at_device (job_of 0)) + t).

  Definition drained_step (st : state) : list state :=
    map (fun j => with_end (placed st j) (reach j (early st j + lasts (job_of j)) (latest_end st)))
      (filter (fun j => waiting st j && possible st j) (seq 1 (size C - 1))).

  Definition finished (st : state) : list Z :=
    if forallb (fun q => match q with [] => true | _ => false end) (queues st) then [latest_end st] else [].

  Fixpoint least (l : list Z) : option Z :=
    match l with
    | [] => None
    | x :: rest => match least rest with None => Some x | Some y => Some (Z.min x y) end
    end.

  (** The least end of all that is under way. *)
  Definition drained (layer : list state) : option Z :=
    match tail (job_of 0) with
    | None => None
    | Some t =>
        let seeds := map (last_begun t) layer in
        match sweep dominates_end drained_step finished (fuel_for seeds) seeds [] with
        | None => None
        | Some ends => least ends
        end
    end.

  Fixpoint advance (n : nat) (layer : list state) : option (list state) :=
    match n with
    | O => Some layer
    | S n => match next_layer layer with None => None | Some next => advance n next end
    end.

  (** Nothing has begun. *)
  Definition nothing : state :=
    State (repeat 0 (kept_devices C)) (repeat [] (size C)) (repeat 0 (kept_devices C)) 0 0.

  (** All times are later by g. *)
  Definition delayed (g : Z) (st : state) : state :=
    State (map (Z.add g) (free st)) (map (map (Z.add g)) (queues st)) (live st) (under_way st) (latest_end st).

  (** Every state of a layer is later by at least g than some state of an earlier one with the same counts. *)
  Definition repeats (g : Z) (layer earlier : list state) : bool :=
    forallb (fun st => existsb (fun other => dominates (delayed g other) st) earlier) layer.

  (** The least end with m microbatches: from all layers, or with a repetition (after, period, growth). *)
  Definition least_end (m : nat) : option Z :=
    match advance m [nothing] with
    | None => None
    | Some layer => drained layer
    end.

  Definition least_end_repeating (m after_n period : nat) (growth : Z) : option Z :=
    if Nat.ltb 0 period && Nat.ltb period after_n && Nat.leb after_n m then
      match advance (after_n - period) [nothing] with
      | None => None
      | Some earlier =>
          match advance period earlier, advance ((m - after_n) mod period) earlier with
          | Some layer, Some rest =>
              if repeats growth layer earlier then
                match drained rest with
                | None => None
                | Some x => Some (x + growth * (Z.of_nat ((m - after_n) / period) + 1))
                end
              else None
          | _, _ => None
          end
      end
    else None.

  (** *** The search is right *)

  Lemma below_spec : forall p q, below p q = true -> Forall2 Z.le p q.
  Proof.
    intros p. induction p as [| x p IH]; intros [| y q] less; try discriminate less; [constructor |].
    cbn in less. apply andb_true_iff in less. destruct less as [one rest]. constructor; [apply Z.leb_le; exact one | auto].
  Qed.

  Lemma below_nth : forall p q i, below p q = true -> nth i p 0 <= nth i q 0.
  Proof.
    intros p q i less. apply below_spec in less. revert i. induction less; intros [| i]; cbn; try lia; auto.
  Qed.

  Lemma all_below_nth : forall p q i, all_below p q = true -> Forall2 Z.le (nth i p []) (nth i q []).
  Proof.
    intros p. induction p as [| x p IH]; intros [| y q] i less; try discriminate less; [destruct i; constructor |].
    cbn in less. apply andb_true_iff in less. destruct less as [one rest].
    destruct i; cbn; [apply below_spec; exact one | auto].
  Qed.

  Lemma dominates_as_good : forall a b, dominates a b = true -> as_good 0 b a.
  Proof.
    intros a b wins. unfold dominates in wins. rewrite !andb_true_iff in wins. destruct wins as [[[_ lives] frees] waits_less].
    split; [| split].
    - intros d _. pose proof (below_nth _ _ d frees). unfold free_of. lia.
    - intros j _. eapply forall2_shift_trans; [| apply raise_queue_above].
      pose proof (all_below_nth _ _ j waits_less) as less. unfold queue_of.
      induction less; constructor; [lia | assumption].
    - intros d limit _ _. apply below_nth. exact lives.
  Qed.

  (** States have a time for each device and a queue for each job. *)
  Definition shaped (st : state) : Prop := length (free st) = kept_devices C /\ length (queues st) = size C.

  Lemma below_length : forall p q, below p q = true -> length p = length q.
  Proof.
    intros p. induction p as [| x p IH]; intros [| y q] less; try discriminate less; [reflexivity |].
    cbn in less. apply andb_true_iff in less. cbn. f_equal. apply IH. apply less.
  Qed.

  Lemma all_below_length : forall p q, all_below p q = true -> length p = length q.
  Proof.
    intros p. induction p as [| x p IH]; intros [| y q] less; try discriminate less; [reflexivity |].
    cbn in less. apply andb_true_iff in less. cbn. f_equal. apply IH. apply less.
  Qed.

  Lemma dominates_shaped : forall a b, dominates a b = true -> shaped b -> shaped a.
  Proof.
    intros a b wins [one two]. unfold dominates in wins. rewrite !andb_true_iff in wins. destruct wins as [[_ frees] waits_less].
    split; [rewrite (below_length _ _ frees); exact one | rewrite (all_below_length _ _ waits_less); exact two].
  Qed.

  Lemma placed_shaped : forall st j, shaped (placed st j).
  Proof. intros st j. split; cbn; unfold tabulate; rewrite map_length, seq_length; reflexivity. Qed.

  Lemma nothing_shaped : shaped nothing.
  Proof. split; cbn; apply repeat_length. Qed.

  Lemma nth_add : forall g l i, (i < length l)%nat -> nth i (map (Z.add g) l) 0 = g + nth i l 0.
  Proof.
    intros g l i inside. rewrite (nth_indep _ 0 (g + 0)) by (rewrite map_length; exact inside). apply (map_nth (Z.add g)).
  Qed.

  Lemma delayed_as_good : forall g a b, shaped b -> dominates (delayed g a) b = true -> as_good g b a.
  Proof.
    intros g a b shape wins. pose proof (dominates_shaped _ _ wins shape) as [same _]. cbn [free delayed] in same.
    rewrite map_length in same. unfold dominates in wins. rewrite !andb_true_iff in wins.
    destruct wins as [[[_ lives] frees] waits_less]. cbn [live free queues delayed] in *.
    split; [| split].
    - intros d within. pose proof (below_nth _ _ d frees) as less. rewrite nth_add in less by lia. unfold free_of. lia.
    - intros j _. eapply forall2_shift_trans; [| apply raise_queue_above].
      pose proof (all_below_nth _ _ j waits_less) as less. change (@nil Z) with (map (Z.add g) []) in less at 1.
      rewrite map_nth in less. unfold queue_of. revert less.
      generalize (nth j (queues b) []). generalize (nth j (queues a) []).
      intros p. induction p as [| x p IH]; intros q less; inversion less; subst; constructor; [lia | auto].
    - intros d limit _ _. apply below_nth. exact lives.
  Qed.

  (** The state admits a continuation that begins b microbatches, and that ends by T with what follows the last one begun. *)
  Definition leads (T : Z) (b : nat) (st : state) : Prop :=
    shaped st /\ ends_within C 0 (free_of st (at_device (job_of 0))) T /\ exists l, admits st l T /\ begins l = b.

  Definition leads_from (layer : list state) (T : Z) (b : nat) : Prop := exists st, In st layer /\ leads T b st.

  Lemma head_possible : forall st j s l T, admits st ((j, s) :: l) T -> leaves_gap st j = false ->
    (j < size C)%nat /\ possible st j = true /\ admits (placed st j) l T /\
    ends_within C j (early st j + lasts (job_of j)) T /\
    ((0 < j)%nat -> In j (filter (fun j => waiting st j && possible st j) (seq 1 (size C - 1)))).
  Proof.
    intros st j s l T continues no_gap. cbn [admits] in continues.
    destruct continues as [inside [turn [late [room [ends continues]]]]].
    assert (turn_a : j = 0%nat \/ waiting st j = true) by (destruct turn as [zero | [_ waits_j]]; auto).
    assert (can : possible st j = true) by (unfold possible; rewrite room, no_gap; reflexivity).
    split; [exact inside |]. split; [exact can |]. split; [apply (after_early st j s); assumption |].
    split; [apply (ends_no_later j (s + lasts (job_of j))); [exact ends | lia] |].
    intros positive. apply filter_In. split; [apply in_seq; lia |]. rewrite can.
    destruct turn as [zero | [_ waits_j]]; [lia | rewrite waits_j; reflexivity].
  Qed.

  Hypothesis Not_empty : (0 < size C)%nat.

  Lemma leads_as_good : forall g b a T n, shaped a -> as_good g b a -> leads T n b -> leads (T - g) n a.
  Proof.
    intros g b a T n shape good [_ [ends [l [continues count]]]]. split; [exact shape |]. split.
    - destruct good as [frees _]. specialize (frees _ (device_inside 0 Not_empty)).
      apply (ends_sooner 0 g (free_of b (at_device (job_of 0)))); [exact ends | lia].
    - exists (shift_starts g l). split; [apply (dominance l g b); assumption | rewrite begins_shift; exact count].
  Qed.

  Lemma leads_dominated : forall a b T n, dominates a b = true -> leads T n b -> leads T n a.
  Proof.
    intros a b T n wins good. replace T with (T - 0) by ring. apply (leads_as_good 0 b); [| | exact good].
    - apply (dominates_shaped a b); [exact wins | apply good].
    - apply dominates_as_good. exact wins.
  Qed.

  (** A microbatch has just begun. *)
  Lemma leads_placed : forall st s l T n, admits st ((0%nat, s) :: l) T -> leaves_gap st 0 = false -> begins l = n ->
    leads T n (placed st 0).
  Proof.
    intros st s l T n continues no_gap count. destruct (head_possible st 0 s l T continues no_gap) as [_ [_ [admitted [ends _]]]].
    split; [apply placed_shaped |]. split; [| exists l; split; assumption].
    change (free_of (placed st 0) (at_device (job_of 0))) with (free_of (after st 0 (early st 0)) (at_device (job_of 0))).
    rewrite free_after by (apply device_inside; exact Not_empty). rewrite Nat.eqb_refl. exact ends.
  Qed.

  (** The layer after: whatever schedule a state of this layer can follow, some state of the next layer can follow. *)
  Theorem next_layer_leads : forall layer next T b, next_layer layer = Some next -> leads_from layer T (S b) ->
    leads_from next T b.
  Proof.
    intros layer next T b found [st [inside [_ [_ [l [continues count]]]]]]. unfold next_layer in found.
    destruct (sweep dominates continued begun (fuel_for layer) layer []) as [all |] eqn:swept; [| discriminate found].
    injection found as found. subst next. unfold leads_from. apply prune_keeps.
    { intros a c wins. apply leads_dominated. exact wins. }
    eapply (sweep_finds dominates continued begun (fun st => exists l, admits st l T /\ begins l = S b) (leads T b));
      [| | exact swept |].
    - intros a c wins [k [continues_c count_c]]. exists k. split; [| exact count_c].
      apply (dominance_same k c); [apply dominates_as_good; exact wins | exact continues_c].
    - intros a [k [continues_a count_a]]. destruct (gaps_are_not_needed a k T continues_a) as [k' [continues' [same no_gap]]].
      rewrite <- same in count_a. destruct k' as [| [j s] k']; [discriminate count_a |].
      destruct (head_possible a j s k' T continues' no_gap) as [there [can [next_admits [_ listed]]]].
      destruct (Nat.eq_dec j 0) as [zero | positive].
      + left. subst j. exists (placed a 0). unfold begun. rewrite can, (proj2 (Nat.ltb_lt 0 (size C)) there).
        split; [left; reflexivity |]. apply (leads_placed a s k'); [exact continues' | exact no_gap |].
        unfold begins in *. cbn in count_a. lia.
      + right. exists (placed a j). split; [apply in_map; apply listed; lia |]. exists k'. split; [exact next_admits |].
        unfold begins in *. cbn in count_a. rewrite (proj2 (Nat.eqb_neq j 0) positive) in count_a. exact count_a.
    - right. exists st. split; [exact inside |]. split; [apply fuel_is_enough; exact inside |]. exists l. split; assumption.
  Qed.

  Lemma advance_leads : forall n layer next T b, advance n layer = Some next -> leads_from layer T (n + b) ->
    leads_from next T b.
  Proof.
    intros n. induction n as [| n IH]; intros layer next T b found start; cbn in found.
    - injection found as found. subst next. exact start.
    - destruct (next_layer layer) as [middle |] eqn:one; [| discriminate found].
      apply (IH middle); [exact found |]. apply (next_layer_leads layer); [exact one | exact start].
  Qed.

  Lemma least_spec : forall l x, In x l -> exists y, least l = Some y /\ y <= x.
  Proof.
    intros l. induction l as [| a l IH]; intros x found; [destruct found |]. cbn. destruct found as [same | found].
    - subst a. destruct (least l) as [y |]; [exists (Z.min x y) | exists x]; split; try reflexivity; lia.
    - destruct (IH x found) as [y [same less]]. rewrite same. exists (Z.min a y). split; [reflexivity | lia].
  Qed.

  Lemma admits_with_end : forall l st x T, admits st l T -> admits (with_end st x) l T.
  Proof. intros l st x T continues. apply (dominance_same l st); [| exact continues]. apply (as_good_refl st). Qed.

  Lemma queues_empty : forall st, length (queues st) = size C -> (forall j, (j < size C)%nat -> queue_of st j = []) ->
    forallb (fun q => match q with [] => true | _ => false end) (queues st) = true.
  Proof.
    intros st shape empty. apply forallb_forall. intros q found. destruct (In_nth _ _ [] found) as [j [inside same]].
    rewrite <- same. change (nth j (queues st) []) with (queue_of st j). rewrite empty by lia. reflexivity.
  Qed.


  Lemma as_good_with_end : forall g a b x y, as_good g a b -> as_good g (with_end a x) (with_end b y).
  Proof. intros g a b x y good. exact good. Qed.

  (** From a layer behind the last microbatch, the least end found is at most any end that can be reached. *)
  Theorem drained_least : forall layer T x, drained layer = Some x -> leads_from layer T 0 -> x <= T.
  Proof.
    intros layer T x found [st [inside [shape [first_end [l [continues count]]]]]]. unfold drained in found.
    unfold ends_within in first_end. destruct (tail (job_of 0)) as [t |] eqn:measured; [| discriminate found].
    set (seeds := map (last_begun t) layer) in *.
    destruct (sweep dominates_end drained_step finished (fuel_for seeds) seeds []) as [all |] eqn:swept; [| discriminate found].
    assert (some : exists y, In y all /\ y <= T).
    { eapply (sweep_finds dominates_end drained_step finished
        (fun st => shaped st /\ latest_end st <= T /\ exists l, admits st l T /\ begins l = 0%nat) (fun y => y <= T));
        [| | exact swept |].
      - intros a b wins [shape_b [ends_b [k [continues_b count_b]]]]. unfold dominates_end in wins.
        apply andb_true_iff in wins. destruct wins as [wins ends_less]. apply Z.leb_le in ends_less.
        split; [apply (dominates_shaped a b); assumption |]. split; [lia |]. exists k. split; [| exact count_b].
        apply (dominance_same k b); [apply dominates_as_good; exact wins | exact continues_b].
      - intros a [shape_a [ends_a [k [continues_a count_a]]]].
        destruct (gaps_are_not_needed a k T continues_a) as [k' [continues' [same no_gap]]].
        rewrite <- same in count_a. destruct k' as [| [j s] k'].
        + left. exists (latest_end a). split; [| exact ends_a]. unfold finished.
          rewrite (queues_empty a); [left; reflexivity | apply shape_a |]. exact continues'.
        + right. destruct (head_possible a j s k' T continues' no_gap) as [there [can [next_admits [ends_j listed]]]].
          destruct (Nat.eq_dec j 0) as [zero | positive]; [subst j; discriminate count_a |].
          eexists. split; [unfold drained_step; apply in_map; apply listed; lia |].
          split; [apply placed_shaped |]. split; [cbn [latest_end with_end]; unfold reach, ends_within in *;
            destruct (tail (job_of j)); lia |].
          exists k'. split; [apply admits_with_end; exact next_admits |].
          unfold begins in *. cbn in count_a. rewrite (proj2 (Nat.eqb_neq j 0) positive) in count_a. exact count_a.
      - right. exists (last_begun t st). assert (seed : In (last_begun t st) seeds) by (apply in_map; exact inside).
        split; [exact seed |]. split; [apply fuel_is_enough; exact seed |]. split; [exact shape |].
        split; [exact first_end |]. exists l. split; [apply admits_with_end; exact continues | exact count]. }
    destruct some as [y [listed less]]. destruct (least_spec all y listed) as [z [same least_z]].
    rewrite same in found. injection found as found. lia.
  Qed.

  (** Where the states repeat later by g, so do the continuations, earlier by g. *)
  Lemma repeats_leads : forall g layer earlier T b, repeats g layer earlier = true -> leads_from layer T b ->
    leads_from earlier (T - g) b.
  Proof.
    intros g layer earlier T b again [st [inside good]]. unfold repeats in again. rewrite forallb_forall in again.
    specialize (again st inside). apply existsb_exists in again. destruct again as [other [there wins]].
    assert (shape : shaped st) by apply good.
    exists other. split; [exact there |]. apply (leads_as_good g st); [| apply delayed_as_good; assumption | exact good].
    pose proof (dominates_shaped _ _ wins shape) as [one two]. cbn [free queues delayed] in *. rewrite map_length in one, two.
    split; assumption.
  Qed.

  (** Theorem B2 for the layers of the search. *)
  Theorem repetition_leads : forall g period earlier layer, advance period earlier = Some layer ->
    repeats g layer earlier = true -> forall a r T, leads_from layer T (a * period + r) ->
    leads_from earlier (T - g * (Z.of_nat a + 1)) r.
  Proof.
    intros g period earlier layer steps again a r. induction a as [| a IH]; intros T good.
    - replace (T - g * (Z.of_nat 0 + 1)) with (T - g) by (cbn [Z.of_nat]; ring).
      apply (repeats_leads g layer); [exact again | exact good].
    - replace (T - g * (Z.of_nat (S a) + 1)) with (T - g - g * (Z.of_nat a + 1)) by (rewrite Nat2Z.inj_succ; ring).
      apply IH. apply (advance_leads period earlier); [exact steps |].
      replace (period + (a * period + r))%nat with (S a * period + r)%nat by (cbn; lia).
      apply (repeats_leads g layer); [exact again | exact good].
  Qed.

  Theorem least_end_sound : forall m x T, least_end m = Some x -> leads_from [nothing] T m -> x <= T.
  Proof.
    intros m x T found good. unfold least_end in found.
    destruct (advance m [nothing]) as [layer |] eqn:steps; [| discriminate found].
    apply (drained_least layer); [exact found |]. apply (advance_leads m [nothing]); [exact steps |].
    rewrite Nat.add_0_r. exact good.
  Qed.

  Theorem least_end_repeating_sound : forall m after_n period growth x T,
    least_end_repeating m after_n period growth = Some x -> leads_from [nothing] T m -> x <= T.
  Proof.
    intros m after_n period growth x T found good. unfold least_end_repeating in found.
    destruct ((0 <? period)%nat && (period <? after_n)%nat && (after_n <=? m)%nat) eqn:figures; [| discriminate found].
    rewrite !andb_true_iff in figures. destruct figures as [[positive less] within].
    apply Nat.ltb_lt in positive. apply Nat.ltb_lt in less. apply Nat.leb_le in within.
    destruct (advance (after_n - period) [nothing]) as [earlier |] eqn:first; [| discriminate found].
    destruct (advance period earlier) as [layer |] eqn:second; [| discriminate found].
    destruct (advance ((m - after_n) mod period) earlier) as [rest |] eqn:third; [| discriminate found].
    destruct (repeats growth layer earlier) eqn:again; [| discriminate found].
    destruct (drained rest) as [end_rest |] eqn:ends; [| discriminate found]. injection found as found.
    assert (split_m : (m = (after_n - period) + (period + ((m - after_n) / period * period + (m - after_n) mod period)))%nat).
    { pose proof (Nat.div_mod (m - after_n) period). lia. }
    rewrite split_m in good. apply (advance_leads _ _ _ _ _ first) in good. apply (advance_leads _ _ _ _ _ second) in good.
    apply (repetition_leads growth period earlier layer second again) in good.
    rewrite <- (Nat.add_0_r ((m - after_n) mod period)) in good. apply (advance_leads _ _ _ _ _ third) in good.
    apply (drained_least _ _ _ ends) in good. lia.
  Qed.
End Search.
