(** * Execution: what it means to run a schedule

    This file says what a problem is, what a schedule is, and what it means that given start times run it. It contains no
    algorithm. Everything else in this directory is about these definitions, so whoever believes the theorems must believe
    that these definitions describe a pipeline.

    - A _task_ takes time on one _resource_. The passes of a device are tasks; so are messages, copies and reductions.
    - A _problem_ says how long each task takes, and which tasks wait for the end of which others, and for how long after it
      (the latency of a message).
    - A _schedule_ gives each resource the order of its tasks.
    - An _execution_ is any assignment of start times that respects orders, needs and durations. It need not be the earliest
      one. Its tasks start one after the other in some _sequence_, in which each task comes after those that it waits for.
      Tasks that take no time make the sequence necessary: two of them could otherwise wait for each other at the same
      instant.

    Times are integers, in ticks. *)

From Coq Require Import ZArith List Lia Bool.
Import ListNotations.
Open Scope Z_scope.

(** ** Tasks and resources *)

Section Tasks.
  Context {task : Type}.

  Record problem := Problem {
    duration : task -> Z;                  (** ticks, not negative *)
    needs : list (task * Z * task)         (** (u, lag, v): v starts no earlier than lag after the end of u *)
  }.

  Definition sane (P : problem) : Prop :=
    (forall u, 0 <= duration P u) /\
    (forall u lag v, In (u, lag, v) (needs P) -> 0 <= lag).

  (** For each resource, its tasks in the order in which it runs them. *)
  Definition orders := list (list task).

  (** [follows l u v]: v comes right after u in the list l. *)
  Definition follows (l : list task) (u v : task) : Prop :=
    exists before after, l = before ++ u :: v :: after.

  (** [waits P O u w v]: v starts no earlier than w ticks after the start of u. *)
  Inductive waits (P : problem) (O : orders) : task -> Z -> task -> Prop :=
  | waits_need : forall u lag v,
      In (u, lag, v) (needs P) -> waits P O u (duration P u + lag) v
  | waits_order : forall l u v,
      In l O -> follows l u v -> waits P O u (duration P u) v.

  (** Start times that respect needs, orders and durations. *)
  Definition respects (P : problem) (O : orders) (start : task -> Z) : Prop :=
    (forall u, 0 <= start u) /\
    (forall u w v, waits P O u w v -> start u + w <= start v).

  (** A sequence in which tasks can start one after the other. *)
  Definition sequence (P : problem) (O : orders) (place : task -> nat) : Prop :=
    forall u w v, waits P O u w v -> (place u < place v)%nat.

  Definition execution (P : problem) (O : orders) (start : task -> Z) : Prop :=
    respects P O start /\ exists place, sequence P O place.

  (** All tasks of a list have ended by x. *)
  Definition ends_by (P : problem) (start : task -> Z) (l : list task) (x : Z) : Prop :=
    forall u, In u l -> start u + duration P u <= x.

  (** No task of a list starts before x. *)
  Definition begins_at (start : task -> Z) (l : list task) (x : Z) : Prop :=
    forall u, In u l -> x <= start u.

  (** The sum of some amount over a list. *)
  Fixpoint sum (f : task -> Z) (l : list task) : Z :=
    match l with
    | [] => 0
    | u :: rest => f u + sum f rest
    end.
End Tasks.
Arguments problem : clear implicits.
Arguments orders : clear implicits.

(** ** Pipelines *)

Inductive kind := F | I | W.

Record pass := Pass { kind_of : kind; stage_of : nat; microbatch_of : nat }.

(** A pipeline in one direction. A full backward B is an I that is followed by its W. *)
Record model := Model {
  devices : nat;
  stages : nat;
  microbatches : nat;
  device_of : nat -> nat;       (** the device of a stage *)
  time : kind -> nat -> Z;      (** the duration of a pass of a stage, in ticks *)
  latency : nat -> Z;           (** of messages between stage s and stage s + 1, in both directions, in ticks *)
  activation : nat -> Z;        (** what a stage holds from the start of F to the end of I, in units *)
  retained : nat -> Z;          (** what it holds from the end of I to the end of W, in units *)
  capacity : nat -> option Z    (** of a device, in units; none is unlimited *)
}.

Definition well_formed (M : model) : Prop :=
  (0 < stages M)%nat /\
  (forall s, (s < stages M)%nat -> (device_of M s < devices M)%nat) /\
  (forall k s, 0 <= time M k s) /\
  (forall s, 0 <= latency M s) /\
  (forall s, 0 <= retained M s <= activation M s).

Definition time_of (M : model) (p : pass) : Z := time M (kind_of p) (stage_of p).

Definition exists_in (M : model) (p : pass) : Prop :=
  (stage_of p < stages M)%nat /\ (microbatch_of p < microbatches M)%nat.

(** What a pass waits for, and for how long after its end. *)
Inductive pass_needs (M : model) : pass -> Z -> pass -> Prop :=
| F_needs_F : forall s m, (S s < stages M)%nat -> (m < microbatches M)%nat ->
    pass_needs M (Pass F s m) (latency M s) (Pass F (S s) m)
| I_needs_F : forall m, (m < microbatches M)%nat ->
    pass_needs M (Pass F (stages M - 1) m) 0 (Pass I (stages M - 1) m)
| I_needs_I : forall s m, (S s < stages M)%nat -> (m < microbatches M)%nat ->
    pass_needs M (Pass I (S s) m) (latency M s) (Pass I s m)
| W_needs_I : forall s m, (s < stages M)%nat -> (m < microbatches M)%nat ->
    pass_needs M (Pass I s m) 0 (Pass W s m).

(** The same as a list. *)
Definition needs_of_microbatch (M : model) (m : nat) : list (pass * Z * pass) :=
  flat_map (fun s => [(Pass F s m, latency M s, Pass F (S s) m); (Pass I (S s) m, latency M s, Pass I s m)])
    (seq 0 (stages M - 1)) ++
  (Pass F (stages M - 1) m, 0, Pass I (stages M - 1) m) ::
  map (fun s => (Pass I s m, 0, Pass W s m)) (seq 0 (stages M)).

Definition problem_of (M : model) : problem pass :=
  Problem (time_of M) (flat_map (needs_of_microbatch M) (seq 0 (microbatches M))).

Lemma needs_are_pass_needs : forall M u lag v, (0 < stages M)%nat ->
  In (u, lag, v) (needs (problem_of M)) <-> pass_needs M u lag v.
Proof.
  intros M u lag v positive. cbn [needs problem_of]. rewrite in_flat_map. split.
  - intros [m [in_range found]]. apply in_seq in in_range.
    unfold needs_of_microbatch in found. rewrite in_app_iff in found. cbn [In] in found.
    destruct found as [found | [found | found]].
    + rewrite in_flat_map in found. destruct found as [s [in_stages [same | [same | []]]]];
        apply in_seq in in_stages; inversion same; subst; constructor; lia.
    + inversion found; subst. constructor. lia.
    + rewrite in_map_iff in found. destruct found as [s [same in_stages]].
      apply in_seq in in_stages. inversion same; subst. constructor; lia.
  - intros need. destruct need as [s m | m | s m | s m]; exists m; split;
      try (apply in_seq; lia);
      unfold needs_of_microbatch; rewrite in_app_iff; cbn [In].
    + left. rewrite in_flat_map. exists s. split; [apply in_seq; lia | cbn; auto].
    + right. left. reflexivity.
    + left. rewrite in_flat_map. exists s. split; [apply in_seq; lia | cbn; auto].
    + right. right. rewrite in_map_iff. exists s. split; [reflexivity | apply in_seq; lia].
Qed.

(** ** Schedules of a pipeline *)

(** For each device, the order of its passes. *)
Definition schedule := nat -> list pass.

(** Each device runs each of its passes once, and nothing else. *)
Definition complete (M : model) (S : schedule) : Prop :=
  forall d, (d < devices M)%nat ->
    NoDup (S d) /\
    (forall p, In p (S d) <-> exists_in M p /\ device_of M (stage_of p) = d).

Definition orders_of (M : model) (S : schedule) : orders pass := map S (seq 0 (devices M)).

(** *** Memory: a function of the orders alone *)

(** What a pass acquires when it starts, and what it releases when it ends. *)
Definition acquires (M : model) (p : pass) : Z :=
  match kind_of p with
  | F => activation M (stage_of p)
  | _ => 0
  end.

Definition releases (M : model) (p : pass) : Z :=
  match kind_of p with
  | F => 0
  | I => activation M (stage_of p) - retained M (stage_of p)
  | W => retained M (stage_of p)
  end.

(** What a device holds behind some passes. *)
Definition kept (M : model) (done : list pass) : Z :=
  sum (fun p => acquires M p - releases M p) done.

(** What it holds while a pass runs behind some others. *)
Definition held (M : model) (done : list pass) (p : pass) : Z :=
  kept M done + acquires M p.

Definition within_capacity (M : model) (S : schedule) : Prop :=
  forall d limit, (d < devices M)%nat -> capacity M d = Some limit ->
    forall done p rest, S d = done ++ p :: rest -> held M done p <= limit.

(** The most that a device ever holds. *)
Fixpoint peak_from (M : model) (now : Z) (l : list pass) : Z :=
  match l with
  | [] => now
  | p :: rest => Z.max (now + acquires M p) (peak_from M (now + acquires M p - releases M p) rest)
  end.

Definition peak (M : model) (l : list pass) : Z := peak_from M 0 l.

(** *** Executions of a schedule, and how long they take *)

Definition runs (M : model) (S : schedule) (start : pass -> Z) : Prop :=
  execution (problem_of M) (orders_of M S) start.

(** No pass ends later. *)
Definition makespan_at_most (M : model) (S : schedule) (start : pass -> Z) (x : Z) : Prop :=
  forall d, (d < devices M)%nat -> ends_by (problem_of M) start (S d) x.

(** A device runs all its passes within x ticks, from the start of the first to the end of the last. *)
Definition span_at_most (M : model) (S : schedule) (start : pass -> Z) (d : nat) (x : Z) : Prop :=
  forall p q, In p (S d) -> In q (S d) -> start q + time_of M q - start p <= x.
