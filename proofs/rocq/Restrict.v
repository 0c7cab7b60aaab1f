(** * Restrict: the passes of some devices alone (Theorem A)

    Keep the passes of some devices. Of all other passes keep only the time that they take: a chain of passes elsewhere between
    two kept ones becomes a lag, a chain before the first kept pass a head, and what must follow a kept pass a tail. This file
    defines the reduced problem that is left, computes it from the model as the bound of some devices does ([chain_of]), and
    proves that every execution of a complete schedule within capacity, restricted to the kept devices, is a run of the reduced
    problem: it respects lags, the order of each device and capacities, and head and tails lie within the makespan
    ([restriction_makespan]). So no schedule is shorter than the reduced problem. The same holds for the span of the kept device
    that begins first, without head and tails ([restriction_span]).

    A _job_ is a kept pass of every microbatch: an F or I (a _link_ of the chain along which each microbatch goes) or a W. Each
    job but the first waits for one other job of its microbatch.

    The theorems assume that the schedule runs each kind of pass of a stage in the order of the microbatches
    ([first_in_first_out]). Every other schedule has such a one with the same times and memory, as [Fifo] proves, and [SubsetFifo]
    draws the conclusion. *)

From Coq Require Import ZArith List Lia Bool Permutation.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Import ListNotations.
Open Scope Z_scope.

(** ** The reduced problem *)

(** A kept pass of every microbatch: F, I or W of a kept stage. *)
Record job := Job {
  at_device : nat;   (** its device, as a position among the kept ones *)
  lasts : Z;         (** its duration *)
  before : nat;      (** the job of the same microbatch that it waits for; job 0 waits for none *)
  lag : Z;           (** from the end of that job to the start of this one: messages, and passes that were left out *)
  takes : Z;         (** what it acquires when it starts *)
  gives : Z;         (** what it releases when it ends *)
  tail : option Z    (** from its end to what is measured, at the least; none if that need not lie behind it *)
}.

Record chain := Chain {
  jobs : list job;
  limits : list (option Z)   (** the capacities of the kept devices *)
}.

Definition no_job : job := Job 0 0 0 0 0 0 None.
Definition job_at (C : chain) (j : nat) : job := nth j (jobs C) no_job.
Definition limit_of (C : chain) (d : nat) : option Z := nth d (limits C) None.
Definition size (C : chain) : nat := length (jobs C).
Definition kept_devices (C : chain) : nat := length (limits C).

Definition chain_well_formed (C : chain) : Prop :=
  forall j, (j < size C)%nat ->
    (at_device (job_at C j) < kept_devices C)%nat /\ 0 <= lasts (job_at C j) /\ 0 <= gives (job_at C j) /\
    ((0 < j)%nat -> (before (job_at C j) < j)%nat).

(** If a job ends at e, what is measured reaches no further than T because of it. *)
Definition ends_within (C : chain) (j : nat) (e T : Z) : Prop :=
  match tail (job_at C j) with
  | None => True
  | Some t => e + t <= T
  end.

(** The job j of microbatch k is the pair (j, k). *)
Definition effect (C : chain) (d : nat) (p : nat * nat) : Z :=
  if Nat.eqb (at_device (job_at C (fst p))) d then takes (job_at C (fst p)) - gives (job_at C (fst p)) else 0.

(** What a kept device holds behind some jobs. *)
Definition holds_after (C : chain) (done : list (nat * nat)) (d : nat) : Z := sum (effect C d) done.

(** How often a job is in a list. *)
Definition times_run (j : nat) (done : list (nat * nat)) : nat := length (filter (fun p => Nat.eqb (fst p) j) done).

(** All jobs of m microbatches. *)
Definition all_jobs (C : chain) (m : nat) : list (nat * nat) := list_prod (seq 0 (size C)) (seq 0 m).

(** A run of the reduced problem: all jobs in the order of their starts, first in, first out. *)
Record reduced_run (C : chain) (m : nat) (start : nat -> nat -> Z) (order : list (nat * nat)) (T : Z) : Prop := {
  run_all : Permutation order (all_jobs C m);
  run_nonneg : forall j k, In (j, k) order -> 0 <= start j k;
  run_sorted : forall done j k rest, order = done ++ (j, k) :: rest ->
    forall i n, In (i, n) done -> start i n <= start j k;
  run_device : forall done j k rest, order = done ++ (j, k) :: rest ->
    forall i n, In (i, n) done -> at_device (job_at C i) = at_device (job_at C j) ->
      start i n + lasts (job_at C i) <= start j k;
  run_fifo : forall done j k rest, order = done ++ (j, k) :: rest -> times_run j done = k;
  run_before : forall done j k rest, order = done ++ (j, k) :: rest -> (0 < j)%nat -> In (before (job_at C j), k) done;
  run_lag : forall j k, In (j, k) order -> (0 < j)%nat ->
    start (before (job_at C j)) k + lasts (job_at C (before (job_at C j))) + lag (job_at C j) <= start j k;
  run_room : forall done j k rest c, order = done ++ (j, k) :: rest -> limit_of C (at_device (job_at C j)) = Some c ->
    0 < takes (job_at C j) -> holds_after C done (at_device (job_at C j)) + takes (job_at C j) <= c;
  run_end : forall j k, In (j, k) order -> ends_within C j (start j k + lasts (job_at C j)) T
}.

(** ** The reduced problem of some devices *)

(** The links of a pipeline: F of all stages, then I of all stages from the last to the first. *)
Definition link_kind (M : model) (t : nat) : kind := if Nat.ltb t (stages M) then F else I.
Definition link_stage (M : model) (t : nat) : nat := if Nat.ltb t (stages M) then t else (2 * stages M - 1 - t)%nat.
Definition link_lasts (M : model) (t : nat) : Z := time M (link_kind M t) (link_stage M t).

(** From the end of a link to the start of the next one, at the least. *)
Definition link_gap (M : model) (t : nat) : Z :=
  if Nat.ltb (S t) (stages M) then latency M t
  else if Nat.eqb (S t) (stages M) then 0
  else latency M (2 * stages M - 2 - t).

(** The earliest start of a link. *)
Fixpoint link_head (M : model) (t : nat) : Z :=
  match t with
  | O => 0
  | S u => link_head M u + link_lasts M u + link_gap M u
  end.

(** The last end of what follows a link: of W of its stage and of those before it, or of all stages if it is an F. *)
Definition link_latest (M : model) (t : nat) : Z :=
  fold_right Z.max (link_head M t + link_lasts M t)
    (map (fun u => link_head M u + link_lasts M u + time M W (link_stage M u))
      (filter (fun u => Nat.leb t u) (seq (stages M) (stages M)))).

(** A kept pass: a link, or the W that follows a link. *)
Inductive spot := Link (t : nat) | Weight (t : nat).

Definition spot_kind (M : model) (a : spot) : kind :=
  match a with Link t => link_kind M t | Weight _ => W end.
Definition spot_stage (M : model) (a : spot) : nat :=
  match a with Link t => link_stage M t | Weight t => link_stage M t end.
Definition spot_pass (M : model) (a : spot) (m : nat) : pass := Pass (spot_kind M a) (spot_stage M a) m.
Definition spot_lasts (M : model) (a : spot) : Z := time M (spot_kind M a) (spot_stage M a).
Definition spot_head (M : model) (a : spot) : Z :=
  match a with Link t => link_head M t | Weight t => link_head M t + link_lasts M t end.
Definition spot_tail (M : model) (a : spot) : Z :=
  match a with Link t => link_latest M t - link_head M t - link_lasts M t | Weight _ => 0 end.

Definition is_kept (M : model) (ks : list nat) (s : nat) : bool := existsb (Nat.eqb (device_of M s)) ks.

(** The links of the kept stages. *)
Definition kept_links (M : model) (ks : list nat) : list nat :=
  filter (fun t => is_kept M ks (link_stage M t)) (seq 0 (2 * stages M)).

(** The positions of the Is among them. *)
Definition kept_inputs (M : model) (ks : list nat) : list nat :=
  filter (fun i => Nat.leb (stages M) (nth i (kept_links M ks) 0%nat)) (seq 0 (length (kept_links M ks))).

(** All kept passes of a microbatch, each with the position of what it waits for. *)
Definition kept_spots (M : model) (ks : list nat) : list (spot * nat) :=
  map (fun i => (Link (nth i (kept_links M ks) 0%nat), (i - 1)%nat)) (seq 0 (length (kept_links M ks))) ++
  map (fun i => (Weight (nth i (kept_links M ks) 0%nat), i)) (kept_inputs M ks).

Definition spot_at (M : model) (ks : list nat) (j : nat) : spot * nat := nth j (kept_spots M ks) (Link 0, 0%nat).

Fixpoint position (d : nat) (ks : list nat) : nat :=
  match ks with
  | [] => 0
  | k :: rest => if Nat.eqb k d then 0 else S (position d rest)
  end.

Definition kept_job (M : model) (ks : list nat) (tails : spot -> option Z) (at_spot : spot * nat) : job :=
  let (a, b) := at_spot in
  let earlier := fst (spot_at M ks b) in
  Job (position (device_of M (spot_stage M a)) ks) (spot_lasts M a) b
    (spot_head M a - spot_head M earlier - spot_lasts M earlier)
    (acquires M (spot_pass M a 0)) (releases M (spot_pass M a 0)) (tails a).

Definition chain_with (M : model) (ks : list nat) (tails : spot -> option Z) : chain :=
  Chain (map (kept_job M ks tails) (kept_spots M ks)) (map (capacity M) ks).

(** What is left of a pipeline when only some devices are kept, to measure the makespan. *)
Definition chain_of (M : model) (ks : list nat) : chain := chain_with M ks (fun a => Some (spot_tail M a)).

(** The kept device that begins first. *)
Definition first_device (M : model) (ks : list nat) : nat := device_of M (spot_stage M (fst (spot_at M ks 0))).

(** The same, to measure the span of that device, without what lies before it or behind it. *)
Definition span_chain_of (M : model) (ks : list nat) : chain :=
  chain_with M ks (fun a => if Nat.eqb (device_of M (spot_stage M a)) (first_device M ks) then Some 0 else None).

(** The earliest start of the first kept pass. *)
Definition chain_head (M : model) (ks : list nat) : Z := spot_head M (fst (spot_at M ks 0)).

(** ** Lists *)

Lemma nodup_app : forall (A : Type) (p q : list A), NoDup p -> NoDup q -> (forall x, In x p -> ~ In x q) -> NoDup (p ++ q).
Proof.
  intros A p q one two apart. induction one as [| x p fresh one IH]; [exact two |]. cbn. constructor.
  - rewrite in_app_iff. intros [found | found]; [contradiction | apply (apart x); [left; reflexivity | exact found]].
  - apply IH. intros y found. apply apart. right. exact found.
Qed.

Lemma nodup_map : forall (A B : Type) (f : A -> B) l, (forall x y, In x l -> In y l -> f x = f y -> x = y) -> NoDup l ->
  NoDup (map f l).
Proof.
  intros A B f l injective one. induction one as [| x l fresh one IH]; [constructor |]. cbn. constructor.
  - rewrite in_map_iff. intros [y [same found]]. apply fresh. rewrite (injective x y); auto; [left | right]; auto.
  - apply IH. intros y z found_y found_z. apply injective; right; assumption.
Qed.

Lemma nodup_prod : forall (A B : Type) (p : list A) (q : list B), NoDup p -> NoDup q -> NoDup (list_prod p q).
Proof.
  intros A B p q one two. induction one as [| x p fresh one IH]; [constructor |]. cbn. apply nodup_app.
  - apply nodup_map; [| exact two]. intros y z _ _ same. injection same as same. exact same.
  - exact IH.
  - intros [a b] found there. apply in_map_iff in found. destruct found as [c [same _]]. injection same as same _. subst a.
    apply in_prod_iff in there. apply fresh. apply there.
Qed.

Lemma position_spec : forall d ks x, In d ks -> (position d ks < length ks)%nat /\ nth (position d ks) ks x = d.
Proof.
  intros d ks x. induction ks as [| k ks IH]; intros found; [destruct found |]. cbn. destruct (Nat.eqb k d) eqn:same.
  - apply Nat.eqb_eq in same. split; [lia | exact same].
  - destruct found as [equal | found]; [apply Nat.eqb_neq in same; contradiction |]. destruct (IH found). split; [lia | assumption].
Qed.

Lemma filter_ascends : forall (keep : nat -> bool) n from i j, (i < j)%nat -> (j < length (filter keep (seq from n)))%nat ->
  (nth i (filter keep (seq from n)) 0 < nth j (filter keep (seq from n)) 0)%nat.
Proof.
  intros keep n. induction n as [| n IH]; intros from i j less inside; cbn [seq filter] in *; [cbn in inside; lia |].
  destruct (keep from); [| apply IH; assumption].
  destruct j as [| j]; [lia |]. cbn [length] in inside. destruct i as [| i]; cbn [nth]; [| apply IH; lia].
  assert (found : In (nth j (filter keep (seq (S from) n)) 0%nat) (filter keep (seq (S from) n))) by (apply nth_In; lia).
  apply filter_In in found. destruct found as [found _]. apply in_seq in found. lia.
Qed.

(** Insertion sort. *)
Section Sorting.
  Context {A : Type}.
  Variable not_later : A -> A -> bool.
  Hypothesis total : forall x y, not_later x y = true \/ not_later y x = true.
  Hypothesis transitive : forall x y z, not_later x y = true -> not_later y z = true -> not_later x z = true.

  Fixpoint put (x : A) (l : list A) : list A :=
    match l with
    | [] => [x]
    | y :: rest => if not_later x y then x :: y :: rest else y :: put x rest
    end.

  Definition sort (l : list A) : list A := fold_right put [] l.

  Fixpoint sorted (l : list A) : Prop :=
    match l with
    | [] => True
    | x :: rest => (forall y, In y rest -> not_later x y = true) /\ sorted rest
    end.

  Lemma put_permutation : forall x l, Permutation (put x l) (x :: l).
  Proof.
    intros x l. induction l as [| y l IH]; cbn; [apply Permutation_refl |]. destruct (not_later x y); [apply Permutation_refl |].
    apply perm_trans with (y :: x :: l); [apply perm_skip; exact IH | apply perm_swap].
  Qed.

  Lemma sort_permutation : forall l, Permutation (sort l) l.
  Proof.
    intros l. induction l as [| x l IH]; cbn; [apply perm_nil |].
    apply perm_trans with (x :: sort l); [apply put_permutation | apply perm_skip; exact IH].
  Qed.

  Lemma put_sorted : forall x l, sorted l -> sorted (put x l).
  Proof.
    intros x l. induction l as [| y l IH]; cbn; [intros _; split; [intros z [] | trivial] |]. intros [first rest].
    destruct (not_later x y) eqn:less; cbn.
    - split; [| split; assumption]. intros z [same | found]; [subst; exact less |]. apply (transitive x y); [exact less | auto].
    - split; [| apply IH; exact rest]. intros z found. apply (Permutation_in z (put_permutation x l)) in found.
      destruct found as [same | found]; [subst z | auto]. destruct (total x y) as [wrong | right]; [congruence | exact right].
  Qed.

  Lemma sort_sorted : forall l, sorted (sort l).
  Proof. intros l. induction l; cbn; [trivial | apply put_sorted; assumption]. Qed.

  Lemma sorted_split : forall p x q, sorted (p ++ x :: q) -> forall y, In y p -> not_later y x = true.
  Proof.
    intros p. induction p as [| a p IH]; intros x q; cbn; [intros _ y [] |]. intros [first rest] y [same | found].
    - subst. apply first. rewrite in_app_iff. right. left. reflexivity.
    - apply (IH x q rest). exact found.
  Qed.

  Lemma sorted_behind : forall p x q, sorted (p ++ x :: q) -> forall y, In y q -> not_later x y = true.
  Proof.
    intros p. induction p as [| a p IH]; intros x q; cbn; intros [first rest]; [exact first | apply IH; exact rest].
  Qed.
End Sorting.

(** ** Facts about the kept passes *)

Section Kept.
  Variable M : model.
  Variable ks : list nat.
  Hypothesis Well : well_formed M.
  Variable tails : spot -> option Z.

  Notation C := (chain_with M ks tails).
  Notation spot_of j := (fst (spot_at M ks j)).

  Lemma size_spots : size C = length (kept_spots M ks).
  Proof. unfold size, chain_with. cbn [jobs]. apply map_length. Qed.

  Lemma job_spot : forall j, (j < size C)%nat -> job_at C j = kept_job M ks tails (spot_at M ks j).
  Proof.
    intros j inside. rewrite size_spots in inside. unfold job_at, spot_at, chain_with. cbn [jobs].
    rewrite (nth_indep _ no_job (kept_job M ks tails (Link 0, 0%nat))) by (rewrite map_length; exact inside). apply map_nth.
  Qed.

  (** A valid spot: a link of a kept stage, or a W behind an I of a kept stage. *)
  Definition valid (a : spot) : Prop :=
    match a with
    | Link t => (t < 2 * stages M)%nat /\ is_kept M ks (link_stage M t) = true
    | Weight t => (stages M <= t < 2 * stages M)%nat /\ is_kept M ks (link_stage M t) = true
    end.

  Lemma links_valid : forall t, In t (kept_links M ks) <-> (t < 2 * stages M)%nat /\ is_kept M ks (link_stage M t) = true.
  Proof. intros t. unfold kept_links. rewrite filter_In, in_seq. intuition lia. Qed.

  Lemma inputs_valid : forall i, In i (kept_inputs M ks) <->
    (i < length (kept_links M ks))%nat /\ (stages M <= nth i (kept_links M ks) 0)%nat.
  Proof. intros i. unfold kept_inputs. rewrite filter_In, in_seq, Nat.leb_le. intuition lia. Qed.

  (** The first jobs are the links, in order; the others are Ws. *)
  Lemma spot_cases : forall j, (j < size C)%nat ->
    ((j < length (kept_links M ks))%nat /\ spot_at M ks j = (Link (nth j (kept_links M ks) 0%nat), (j - 1)%nat)) \/
    ((length (kept_links M ks) <= j)%nat /\ exists i, In i (kept_inputs M ks) /\
      nth_error (kept_inputs M ks) (j - length (kept_links M ks)) = Some i /\
      spot_at M ks j = (Weight (nth i (kept_links M ks) 0%nat), i)).
  Proof.
    intros j inside. rewrite size_spots in inside. unfold spot_at. unfold kept_spots in *.
    set (N := length (kept_links M ks)) in *. rewrite app_length, !map_length, seq_length in inside.
    destruct (Nat.lt_ge_cases j N) as [less | more]; [left | right]; (split; [assumption |]).
    - rewrite app_nth1 by (rewrite map_length, seq_length; exact less).
      rewrite (nth_indep _ _ (Link (nth 0 (kept_links M ks) 0%nat), (0 - 1)%nat)) by (rewrite map_length, seq_length; exact less).
      rewrite (map_nth (fun i => (Link (nth i (kept_links M ks) 0%nat), (i - 1)%nat))). rewrite seq_nth by exact less. reflexivity.
    - exists (nth (j - N) (kept_inputs M ks) 0%nat). split; [apply nth_In; lia |]. split; [apply nth_error_nth'; lia |].
      rewrite app_nth2 by (rewrite map_length, seq_length; exact more). rewrite map_length, seq_length.
      rewrite (nth_indep _ _ (Weight (nth 0 (kept_links M ks) 0%nat), 0%nat)) by (rewrite map_length; lia).
      apply (map_nth (fun i => (Weight (nth i (kept_links M ks) 0%nat), i))).
  Qed.

  Lemma spot_valid : forall j, (j < size C)%nat -> valid (spot_of j).
  Proof.
    intros j inside. destruct (spot_cases j inside) as [[less same] | [more [i [found [_ same]]]]]; rewrite same; cbn.
    - apply links_valid. apply nth_In. exact less.
    - apply inputs_valid in found. destruct found as [less above].
      destruct (proj1 (links_valid (nth i (kept_links M ks) 0%nat)) (nth_In _ _ less)). intuition.
  Qed.

  Lemma links_ascend : forall i j, (i < j)%nat -> (j < length (kept_links M ks))%nat ->
    (nth i (kept_links M ks) 0 < nth j (kept_links M ks) 0)%nat.
  Proof. intros i j. apply filter_ascends. Qed.

  (** What a job waits for is a link before it. *)
  Lemma spot_before : forall j, (j < size C)%nat -> (0 < j)%nat ->
    (snd (spot_at M ks j) < j)%nat /\ exists u, spot_of (snd (spot_at M ks j)) = Link u /\ (u < 2 * stages M)%nat /\
      ((exists t, spot_of j = Link t /\ (u < t)%nat) \/ spot_of j = Weight u).
  Proof.
    intros j inside positive.
    assert (link : forall i, (i < length (kept_links M ks))%nat -> spot_of i = Link (nth i (kept_links M ks) 0%nat)).
    { intros i less. destruct (spot_cases i) as [[_ same] | [more _]]; [| rewrite same; reflexivity | lia].
      rewrite size_spots. unfold kept_spots. rewrite app_length, map_length, seq_length. lia. }
    assert (short : forall i, (i < length (kept_links M ks))%nat -> (nth i (kept_links M ks) 0 < 2 * stages M)%nat).
    { intros i less. apply links_valid. apply nth_In. exact less. }
    destruct (spot_cases j inside) as [[less same] | [more [i [found [_ same]]]]]; rewrite same; cbn [fst snd].
    - split; [lia |]. exists (nth (j - 1) (kept_links M ks) 0%nat). split; [apply link; lia |]. split; [apply short; lia |]. left.
      exists (nth j (kept_links M ks) 0%nat). split; [reflexivity |]. apply links_ascend; lia.
    - apply inputs_valid in found. destruct found as [less _]. split; [lia |].
      exists (nth i (kept_links M ks) 0%nat). split; [apply link; exact less |]. split; [apply short; exact less |]. right.
        reflexivity.
  Qed.

  Lemma spot_found : forall a, valid a -> exists j, (j < size C)%nat /\ spot_of j = a.
  Proof.
    intros a good. assert (listed : exists b, In (a, b) (kept_spots M ks)).
    { destruct a as [t | t]; cbn in good.
      - apply links_valid in good. destruct (In_nth _ _ 0%nat good) as [i [less same]]. exists (i - 1)%nat.
        unfold kept_spots. rewrite in_app_iff. left. apply in_map_iff. exists i. rewrite same.
        split; [reflexivity | apply in_seq; lia].
      - destruct good as [range keeps]. assert (found : In t (kept_links M ks)) by (apply links_valid; split; [lia | exact keeps]).
        destruct (In_nth _ _ 0%nat found) as [i [less same]]. exists i. unfold kept_spots. rewrite in_app_iff. right.
        apply in_map_iff. exists i. rewrite same. split; [reflexivity |]. apply inputs_valid. split; [exact less |].
        rewrite same. lia. }
    destruct listed as [b found]. destruct (In_nth _ _ (Link 0, 0%nat) found) as [j [less same]].
    exists j. rewrite size_spots. split; [exact less |]. unfold spot_at. rewrite same. reflexivity.
  Qed.

  Lemma links_injective : forall i j, (i < length (kept_links M ks))%nat -> (j < length (kept_links M ks))%nat ->
    nth i (kept_links M ks) 0%nat = nth j (kept_links M ks) 0%nat -> i = j.
  Proof.
    intros i j less_i less_j same. destruct (Nat.lt_trichotomy i j) as [less | [equal | less]]; [| exact equal |].
    - pose proof (links_ascend i j less less_j). lia.
    - pose proof (links_ascend j i less less_i). lia.
  Qed.

  Lemma spot_injective : forall i j, (i < size C)%nat -> (j < size C)%nat -> spot_of i = spot_of j -> i = j.
  Proof.
    intros i j inside_i inside_j same.
    destruct (spot_cases i inside_i) as [[less_i same_i] | [more_i [a [found_a [nth_a same_i]]]]];
      destruct (spot_cases j inside_j) as [[less_j same_j] | [more_j [b [found_b [nth_b same_j]]]]];
      rewrite same_i, same_j in same; cbn [fst] in same; try discriminate same; injection same as same.
    - apply links_injective; assumption.
    - apply inputs_valid in found_a. apply inputs_valid in found_b.
      assert (a = b) by (apply links_injective; tauto). subst b.
      assert (fresh : NoDup (kept_inputs M ks)) by (apply NoDup_filter; apply seq_NoDup).
      assert (equal : (i - length (kept_links M ks) = j - length (kept_links M ks))%nat); [| lia].
      apply (proj1 (NoDup_nth_error (kept_inputs M ks)) fresh); [| rewrite nth_a, nth_b; reflexivity].
      apply nth_error_Some. rewrite nth_a. discriminate.
  Qed.

  (** Kind and stage say which spot it is. *)
  Lemma pass_injective : forall i j n k, (i < size C)%nat -> (j < size C)%nat ->
    spot_pass M (spot_of i) n = spot_pass M (spot_of j) k -> i = j /\ n = k.
  Proof.
    intros i j n k inside_i inside_j same. unfold spot_pass in same. injection same as kinds stages_same numbers.
    split; [| exact numbers]. apply spot_injective; [exact inside_i | exact inside_j |].
    pose proof (spot_valid i inside_i) as valid_i. pose proof (spot_valid j inside_j) as valid_j.
    destruct (spot_of i) as [t | t]; destruct (spot_of j) as [u | u]; cbn in *; unfold link_kind, link_stage in *;
      destruct (Nat.ltb_spec t (stages M)); destruct (Nat.ltb_spec u (stages M)); try discriminate kinds; f_equal; lia.
  Qed.

  Lemma kept_device : forall s, is_kept M ks s = true <-> In (device_of M s) ks.
  Proof.
    intros s. unfold is_kept. rewrite existsb_exists. split.
    - intros [d [found same]]. apply Nat.eqb_eq in same. rewrite same. exact found.
    - intros found. exists (device_of M s). split; [exact found | apply Nat.eqb_refl].
  Qed.

  Lemma valid_stage : forall a, valid a -> (spot_stage M a < stages M)%nat /\ In (device_of M (spot_stage M a)) ks.
  Proof.
    intros [t | t]; cbn; intros [range keeps]; apply kept_device in keeps; (split; [| exact keeps]);
      unfold link_stage; destruct (Nat.ltb_spec t (stages M)); lia.
  Qed.

  (** Every pass of a kept device is a job of some microbatch. *)
  Lemma pass_found : forall p, exists_in M p -> In (device_of M (stage_of p)) ks -> exists j, (j < size C)%nat /\
    spot_pass M (spot_of j) (microbatch_of p) = p.
  Proof.
    intros [k s m] [inside within] keeps. cbn [stage_of microbatch_of] in *. apply kept_device in keeps.
    assert (back : link_stage M (2 * stages M - 1 - s) = s).
    { unfold link_stage. destruct (Nat.ltb_spec (2 * stages M - 1 - s) (stages M)); lia. }
    assert (ahead : link_stage M s = s).
    { unfold link_stage. destruct (Nat.ltb_spec s (stages M)); lia. }
    destruct k.
    - destruct (spot_found (Link s)) as [j [there same]]; [cbn; rewrite ahead; split; [lia | exact keeps] |].
      exists j. split; [exact there |]. rewrite same. unfold spot_pass. cbn. rewrite ahead. unfold link_kind.
      destruct (Nat.ltb_spec s (stages M)); [reflexivity | lia].
    - destruct (spot_found (Link (2 * stages M - 1 - s))) as [j [there same]]; [cbn; cbn in back; rewrite back; split;
      [lia | exact keeps] |].
      exists j. split; [exact there |]. rewrite same. unfold spot_pass. cbn [spot_kind spot_stage]. rewrite back. unfold link_kind.
      destruct (Nat.ltb_spec (2 * stages M - 1 - s) (stages M)); [lia | reflexivity].
    - destruct (spot_found (Weight (2 * stages M - 1 - s))) as [j [there same]]; [cbn; cbn in back; rewrite back; split;
      [lia | exact keeps] |].
      exists j. split; [exact there |]. rewrite same. unfold spot_pass. cbn [spot_kind spot_stage]. rewrite back. reflexivity.
  Qed.

  Lemma kept_chain_well_formed : chain_well_formed C.
  Proof.
    destruct Well as [_ [_ [times [_ memory]]]]. intros j inside. rewrite job_spot by exact inside.
    pose proof (spot_before j inside) as earlier. pose proof (spot_valid j inside) as good.
    destruct (spot_at M ks j) as [a b]. cbn [fst snd] in *. cbn [kept_job at_device lasts gives before].
    destruct (valid_stage a good) as [_ keeps]. destruct (position_spec _ ks 0%nat keeps) as [less _].
    repeat split.
    - unfold kept_devices, chain_with. cbn [limits]. rewrite map_length. exact less.
    - apply times.
    - unfold releases, spot_pass. cbn [kind_of stage_of]. destruct (spot_kind M a); [lia | |];
      specialize (memory (spot_stage M a)); lia.
    - intros positive. apply earlier. exact positive.
  Qed.
End Kept.

(** ** Theorem A *)

(** Every stage runs every kind of pass in the order of the microbatches. *)
Definition first_in_first_out (M : model) (S : schedule) : Prop :=
  forall d ahead p behind, (d < devices M)%nat -> S d = ahead ++ p :: behind ->
    forall q, In q behind -> kind_of q = kind_of p -> stage_of q = stage_of p -> (microbatch_of p < microbatch_of q)%nat.

Section TheoremA.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Variable place : pass -> nat.
  Variable ks : list nat.
  Variable tails : spot -> option Z.
  Variable x : Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Memory : within_capacity M S.
  Hypothesis Fifo : first_in_first_out M S.
  Hypothesis Respects : respects (problem_of M) (orders_of M S) start.
  Hypothesis Sequence : sequence (problem_of M) (orders_of M S) place.
  Hypothesis Makespan : makespan_at_most M S start x.
  Hypothesis Inside : forall d, In d ks -> (d < devices M)%nat.

  Notation C := (chain_with M ks tails).
  Notation spot_of j := (fst (spot_at M ks j)).

  Let positive : (0 < stages M)%nat := proj1 Well.
  Let Runs : runs M S start := conj Respects (ex_intro _ place Sequence).

  (** p starts before q, or at the same time but before it in the sequence. *)
  Definition earlier (p q : pass) : Prop := start p < start q \/ (start p = start q /\ (place p < place q)%nat).
  Definition not_later (p q : pass) : bool := (start p <? start q) || ((start p =? start q) && Nat.leb (place p) (place q)).

  Lemma not_later_spec : forall p q, not_later p q = true <-> ~ earlier q p.
  Proof.
    intros p q. unfold not_later, earlier. rewrite orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq, Nat.leb_le. lia.
  Qed.

  Lemma time_nonneg : forall k s, 0 <= time M k s.
  Proof. apply Well. Qed.

  Lemma latency_nonneg : forall s, 0 <= latency M s.
  Proof. apply Well. Qed.

  Lemma need_earlier : forall u g v, pass_needs M u g v -> start u + time_of M u + g <= start v /\ earlier u v.
  Proof.
    intros u g v need. pose proof (need_respected M S start Well Runs u g v need) as late. split; [exact late |].
    assert (0 <= g) by (clear late; destruct need; try apply latency_nonneg; lia).
    assert (0 <= time_of M u) by apply time_nonneg.
    assert (place u < place v)%nat.
    { apply (Sequence u (time_of M u + g) v). apply (waits_need (problem_of M)).
      apply needs_are_pass_needs; [exact positive | exact need]. }
    unfold earlier. lia.
  Qed.

  (** Passes of a device. *)
  Lemma device_earlier : forall d, (d < devices M)%nat -> forall behind ahead p, S d = ahead ++ p :: behind ->
    forall q, In q behind -> start p + time_of M p <= start q /\ earlier p q.
  Proof.
    intros d inside behind. induction behind as [| a behind IH]; intros ahead p shape q found; [destruct found |].
    assert (wait : waits (problem_of M) (orders_of M S) p (time_of M p) a).
    { apply (waits_order (problem_of M) _ (S d)); [apply in_map; apply in_seq; lia |]. exists ahead, behind. exact shape. }
    pose proof (proj2 Respects _ _ _ wait) as late. pose proof (Sequence _ _ _ wait) as order.
    assert (0 <= time_of M p) by apply time_nonneg.
    destruct found as [same | found].
    - subst a. split; [exact late | unfold earlier; lia].
    - destruct (IH (ahead ++ [p]) a) with (q := q) as [late_q order_q]; [rewrite <- app_assoc; exact shape | exact found |].
      assert (0 <= time_of M a) by apply time_nonneg. split; [lia |]. unfold earlier in *. lia.
  Qed.

  Lemma earlier_trans : forall p q r, earlier p q -> earlier q r -> earlier p r.
  Proof. intros p q r. unfold earlier. lia. Qed.

  (** Two passes of a device. *)
  Lemma device_cases : forall d p q, (d < devices M)%nat -> In p (S d) -> In q (S d) -> p <> q ->
    (start p + time_of M p <= start q /\ earlier p q) \/ (start q + time_of M q <= start p /\ earlier q p).
  Proof.
    intros d p q inside in_p in_q other. destruct (in_split _ _ in_p) as [ahead [behind shape]].
    rewrite shape in in_q. apply in_app_iff in in_q. destruct in_q as [before_p | [same | after_p]].
    - right. destruct (in_split _ _ before_p) as [one [two split_ahead]].
      apply (device_earlier d inside (two ++ p :: behind) one q); [| rewrite in_app_iff; right; left; reflexivity].
      rewrite shape, split_ahead, <- app_assoc. reflexivity.
    - contradiction.
    - left. apply (device_earlier d inside behind ahead p shape q after_p).
  Qed.

  (** Along the links of a microbatch the slack does not shrink. *)
  Definition slack (a : spot) (m : nat) : Z := start (spot_pass M a m) - spot_head M a.

  Lemma link_step : forall t m, (Datatypes.S t < 2 * stages M)%nat -> (m < microbatches M)%nat ->
    slack (Link t) m <= slack (Link (Datatypes.S t)) m /\
    earlier (spot_pass M (Link t) m) (spot_pass M (Link (Datatypes.S t)) m).
  Proof.
    intros t m inside within.
    assert (need : pass_needs M (spot_pass M (Link t) m) (link_gap M t) (spot_pass M (Link (Datatypes.S t)) m)).
    { unfold spot_pass, link_gap. cbn [spot_kind spot_stage]. unfold link_kind, link_stage.
      destruct (Nat.ltb_spec (Datatypes.S t) (stages M)) as [less | more].
      - destruct (Nat.ltb_spec t (stages M)); [| lia]. apply F_needs_F; lia.
      - destruct (Nat.eqb_spec (Datatypes.S t) (stages M)) as [equal | other].
        + destruct (Nat.ltb_spec t (stages M)); [| lia].
          replace t with (stages M - 1)%nat by lia. replace (2 * stages M - 1 - Datatypes.S (stages M - 1))%nat with
            (stages M - 1)%nat by lia.
          apply I_needs_F. exact within.
        + destruct (Nat.ltb_spec t (stages M)); [lia |].
          replace (2 * stages M - 1 - t)%nat with (Datatypes.S (2 * stages M - 2 - t)) by lia.
          replace (2 * stages M - 1 - Datatypes.S t)%nat with (2 * stages M - 2 - t)%nat by lia. apply I_needs_I; lia. }
    destruct (need_earlier _ _ _ need) as [late order]. split; [| exact order].
    unfold slack. cbn [spot_head link_head]. unfold time_of in late. cbn [spot_pass kind_of stage_of spot_kind spot_stage] in late.
    unfold link_lasts. cbn [spot_pass spot_kind spot_stage] in *. lia.
  Qed.

  Lemma link_chain : forall u t m, (t < u)%nat -> (u < 2 * stages M)%nat -> (m < microbatches M)%nat ->
    slack (Link t) m <= slack (Link u) m /\ earlier (spot_pass M (Link t) m) (spot_pass M (Link u) m).
  Proof.
    intros u. induction u as [| u IH]; intros t m less inside within; [lia |].
    destruct (link_step u m inside within) as [grows order].
    destruct (Nat.eq_dec t u) as [same | other]; [subst t; split; assumption |].
    destruct (IH t m) as [grows_t order_t]; [lia | lia | exact within |].
    split; [lia |]. apply (earlier_trans _ (spot_pass M (Link u) m)); assumption.
  Qed.

  Lemma weight_step : forall t m, (stages M <= t < 2 * stages M)%nat -> (m < microbatches M)%nat ->
    slack (Link t) m <= slack (Weight t) m /\ earlier (spot_pass M (Link t) m) (spot_pass M (Weight t) m).
  Proof.
    intros t m inside within.
    assert (need : pass_needs M (spot_pass M (Link t) m) 0 (spot_pass M (Weight t) m)).
    { unfold spot_pass. cbn [spot_kind spot_stage]. unfold link_kind. destruct (Nat.ltb_spec t (stages M)); [lia |].
      apply W_needs_I; [| exact within]. unfold link_stage. destruct (Nat.ltb_spec t (stages M)); lia. }
    destruct (need_earlier _ _ _ need) as [late order]. split; [| exact order].
    unfold slack. cbn [spot_head]. unfold time_of in late. cbn [spot_pass kind_of stage_of spot_kind spot_stage] in late.
    unfold link_lasts. cbn [spot_pass spot_kind spot_stage] in *. lia.
  Qed.

  Lemma gap_nonneg : forall t, 0 <= link_gap M t.
  Proof.
    intros t. unfold link_gap.
    destruct (Nat.ltb _ _); [apply latency_nonneg |]. destruct (Nat.eqb _ _); [lia | apply latency_nonneg].
  Qed.

  Lemma head_grows : forall t u, (t <= u)%nat -> link_head M t <= link_head M u.
  Proof.
    intros t u less. induction less as [| u less IH]; [lia |]. cbn [link_head]. pose proof (gap_nonneg u).
    assert (0 <= link_lasts M u) by apply time_nonneg. lia.
  Qed.

  (** Every pass ends in time. *)
  Lemma pass_ends : forall p, exists_in M p -> start p + time_of M p <= x.
  Proof.
    intros p there. assert (inside : (device_of M (stage_of p) < devices M)%nat) by (apply Well; apply there).
    apply (Makespan _ inside). apply (Complete _ inside). split; [exact there | reflexivity].
  Qed.

  Lemma slack_nonneg : forall t m, (t < 2 * stages M)%nat -> (m < microbatches M)%nat -> 0 <= slack (Link t) m.
  Proof.
    intros t m inside within. assert (0 <= slack (Link 0) m).
    { unfold slack. cbn [spot_head link_head]. pose proof (proj1 Respects (spot_pass M (Link 0) m)). lia. }
    destruct t as [| t]; [assumption |]. destruct (link_chain (Datatypes.S t) 0 m) as [grows _]; lia.
  Qed.

  (** What follows a link ends in time. *)
  Lemma link_latest_ends : forall t m, (t < 2 * stages M)%nat -> (m < microbatches M)%nat ->
    slack (Link t) m + link_latest M t <= x.
  Proof.
    intros t m inside within. unfold link_latest.
    assert (own : slack (Link t) m + (link_head M t + link_lasts M t) <= x).
    { assert (exists_in M (spot_pass M (Link t) m)) as there.
      { split; [| exact within]. cbn. unfold link_stage. destruct (Nat.ltb_spec t (stages M)); lia. }
      pose proof (pass_ends _ there) as ends. unfold slack. cbn [spot_head]. unfold time_of in ends.
      cbn [spot_pass kind_of stage_of spot_kind spot_stage] in ends. unfold link_lasts.
        cbn [spot_pass spot_kind spot_stage] in *. lia. }
    assert (each : forall u, In u (filter (fun u => Nat.leb t u) (seq (stages M) (stages M))) ->
      slack (Link t) m + (link_head M u + link_lasts M u + time M W (link_stage M u)) <= x).
    { intros u found. apply filter_In in found. destruct found as [range above]. apply in_seq in range. apply Nat.leb_le in above.
      assert (slack (Link t) m <= slack (Link u) m).
      { destruct (Nat.eq_dec t u) as [same | other]; [subst; lia |]. apply link_chain; lia. }
      destruct (weight_step u m) as [grows _]; [lia | exact within |].
      assert (exists_in M (spot_pass M (Weight u) m)) as there.
      { split; [| exact within]. cbn. unfold link_stage. destruct (Nat.ltb_spec u (stages M)); lia. }
      pose proof (pass_ends _ there) as ends. unfold time_of in ends. cbn [spot_pass kind_of stage_of spot_kind spot_stage] in ends.
      unfold slack in grows at 2. cbn [spot_head spot_pass spot_kind spot_stage] in *. lia. }
    revert each. generalize (filter (fun u => Nat.leb t u) (seq (stages M) (stages M))). intros l.
    induction l as [| u l IH]; intros each; cbn [map fold_right]; [exact own |].
    pose proof (each u (or_introl eq_refl)). assert (slack (Link t) m + fold_right Z.max (link_head M t + link_lasts M t)
      (map (fun v => link_head M v + link_lasts M v + time M W (link_stage M v)) l) <= x).
    { apply IH. intros v found. apply each. right. exact found. }
    lia.
  Qed.

  (** *** The kept passes in the order of their starts *)

  Definition pass_at (p : nat * nat) : pass := spot_pass M (spot_of (fst p)) (snd p).

  Definition kept_order : list (nat * nat) :=
    sort (fun p q => not_later (pass_at p) (pass_at q)) (all_jobs C (microbatches M)).

  Definition kept_start (base : Z) (j k : nat) : Z := start (spot_pass M (spot_of j) k) - base.

  Lemma in_kept_order : forall j k, In (j, k) kept_order <-> (j < size C)%nat /\ (k < microbatches M)%nat.
  Proof.
    intros j k. transitivity (In (j, k) (all_jobs C (microbatches M))).
    - split; apply Permutation_in; [| apply Permutation_sym]; apply sort_permutation.
    - unfold all_jobs. rewrite in_prod_iff, !in_seq. split; lia.
  Qed.

  Lemma kept_order_nodup : NoDup kept_order.
  Proof.
    apply (Permutation_NoDup (Permutation_sym (sort_permutation _ _))). apply nodup_prod; apply seq_NoDup.
  Qed.

  Lemma kept_sorted : sorted (fun p q => not_later (pass_at p) (pass_at q)) kept_order.
  Proof.
    apply sort_sorted.
    - intros p q. unfold not_later. rewrite !orb_true_iff, !andb_true_iff, !Z.ltb_lt, !Z.eqb_eq, !Nat.leb_le. lia.
    - intros p q r. rewrite !not_later_spec. unfold earlier. lia.
  Qed.

  (** What starts earlier lies ahead. *)
  Lemma earlier_is_ahead : forall done j k rest i n, kept_order = done ++ (j, k) :: rest -> In (i, n) kept_order ->
    earlier (pass_at (i, n)) (pass_at (j, k)) -> In (i, n) done.
  Proof.
    intros done j k rest i n shape found order. rewrite shape in found. apply in_app_iff in found.
    destruct found as [ahead | [same | behind]]; [exact ahead | |].
    - injection same as same_i same_n. subst. unfold earlier in order. lia.
    - pose proof kept_sorted as ordered. rewrite shape in ordered. pose proof (sorted_behind _ _ _ _ ordered _ behind) as wrong.
      apply not_later_spec in wrong. contradiction.
  Qed.

  Lemma ahead_not_later : forall done j k rest i n, kept_order = done ++ (j, k) :: rest -> In (i, n) done ->
    ~ earlier (pass_at (j, k)) (pass_at (i, n)).
  Proof.
    intros done j k rest i n shape found. apply not_later_spec. pose proof kept_sorted as ordered. rewrite shape in ordered.
    apply (sorted_split _ _ _ _ ordered (i, n) found).
  Qed.

  Lemma ahead_differs : forall done j k rest, kept_order = done ++ (j, k) :: rest -> ~ In (j, k) done.
  Proof.
    intros done j k rest shape found. pose proof kept_order_nodup as fresh. rewrite shape in fresh.
    apply NoDup_remove_2 in fresh. apply fresh. rewrite in_app_iff. left. exact found.
  Qed.

  Lemma in_done : forall done j k rest i n, kept_order = done ++ (j, k) :: rest -> In (i, n) done ->
    (i < size C)%nat /\ (n < microbatches M)%nat.
  Proof. intros done j k rest i n shape found. apply in_kept_order. rewrite shape, in_app_iff. left. exact found. Qed.

  Lemma in_turn : forall done j k rest, kept_order = done ++ (j, k) :: rest -> (j < size C)%nat /\ (k < microbatches M)%nat.
  Proof. intros done j k rest shape. apply in_kept_order. rewrite shape, in_app_iff. right. left. reflexivity. Qed.

  Lemma job_device : forall j, (j < size C)%nat -> exists d, (d < devices M)%nat /\ In d ks /\
    device_of M (spot_stage M (spot_of j)) = d /\ at_device (job_at C j) = position d ks /\
    nth (position d ks) ks 0%nat = d /\ (position d ks < length ks)%nat.
  Proof.
    intros j inside. destruct (valid_stage M ks _ (spot_valid M ks tails j inside)) as [_ keeps].
    exists (device_of M (spot_stage M (spot_of j))). destruct (position_spec _ ks 0%nat keeps) as [less same].
    rewrite job_spot by exact inside. destruct (spot_at M ks j) as [a b]. cbn [fst] in *.
    repeat split; try assumption. apply Inside. exact keeps.
  Qed.

  Lemma job_exists : forall j k, (j < size C)%nat -> (k < microbatches M)%nat -> exists_in M (pass_at (j, k)).
  Proof.
    intros j k inside within. split; [| exact within]. apply (valid_stage M ks _ (spot_valid M ks tails j inside)).
  Qed.

  Lemma job_in_device : forall j k d, (j < size C)%nat -> (k < microbatches M)%nat ->
    device_of M (spot_stage M (spot_of j)) = d -> (d < devices M)%nat -> In (pass_at (j, k)) (S d).
  Proof.
    intros j k d inside within same device. apply (Complete d device). split; [apply job_exists; assumption | exact same].
  Qed.

  Lemma job_lasts : forall j k, (j < size C)%nat -> lasts (job_at C j) = time_of M (pass_at (j, k)).
  Proof.
    intros j k inside. rewrite job_spot by exact inside. unfold pass_at. cbn [fst]. destruct (spot_at M ks j) as [a b]. reflexivity.
  Qed.

  Lemma job_memory : forall j k, (j < size C)%nat ->
    takes (job_at C j) = acquires M (pass_at (j, k)) /\ gives (job_at C j) = releases M (pass_at (j, k)).
  Proof.
    intros j k inside. rewrite job_spot by exact inside. unfold pass_at. cbn [fst snd]. destruct (spot_at M ks j) as [a b].
    split; reflexivity.
  Qed.

  Lemma same_job_earlier : forall j n k, (j < size C)%nat -> (n < k)%nat -> (k < microbatches M)%nat ->
    earlier (pass_at (j, n)) (pass_at (j, k)).
  Proof.
    intros j n k inside less within. destruct (job_device j inside) as [d [device [_ [same _]]]].
    assert (in_n : In (pass_at (j, n)) (S d)) by (apply job_in_device; [exact inside | lia | exact same | exact device]).
    assert (in_k : In (pass_at (j, k)) (S d)) by (apply job_in_device; assumption).
    destruct (in_split _ _ in_k) as [ahead [behind shape]]. rewrite shape in in_n. apply in_app_iff in in_n.
    destruct in_n as [found | [equal | found]].
    - destruct (in_split _ _ found) as [one [two split_ahead]].
      apply (device_earlier d device (two ++ pass_at (j, k) :: behind) one); [| rewrite in_app_iff; right; left; reflexivity].
      rewrite shape, split_ahead, <- app_assoc. reflexivity.
    - injection equal as equal. lia.
    - exfalso. pose proof (Fifo d ahead _ behind device shape _ found eq_refl eq_refl) as wrong. cbn in wrong. lia.
  Qed.

  Lemma job_before : forall j, (j < size C)%nat -> (0 < j)%nat -> (before (job_at C j) < j)%nat /\
    forall k, (k < microbatches M)%nat ->
      slack (spot_of (before (job_at C j))) k <= slack (spot_of j) k /\
      earlier (pass_at (before (job_at C j), k)) (pass_at (j, k)).
  Proof.
    intros j inside above. destruct (spot_before M ks tails j inside above) as [less [u [link [range cases]]]].
    rewrite job_spot by exact inside. unfold pass_at. cbn [fst snd].
    pose proof (spot_valid M ks tails j inside) as good. destruct (spot_at M ks j) as [a b]. cbn [fst snd kept_job before] in *.
    split; [exact less |]. intros k within. rewrite link. destruct cases as [[t [same grows]] | same]; subst a; cbn in good.
    - apply link_chain; [exact grows | apply good | exact within].
    - apply weight_step; [apply good | exact within].
  Qed.

  Lemma job_lag : forall j, (j < size C)%nat -> (0 < j)%nat ->
    lag (job_at C j) = spot_head M (spot_of j) - spot_head M (spot_of (before (job_at C j))) -
      lasts (job_at C (before (job_at C j))).
  Proof.
    intros j inside above. destruct (job_before j inside above) as [less _]. rewrite (job_spot M ks tails j inside) in *.
    destruct (spot_at M ks j) as [a b]. cbn [kept_job before lag fst] in *.
    rewrite (job_spot M ks tails b) by lia. destruct (spot_at M ks b) as [c e]. cbn [fst kept_job lasts]. reflexivity.
  Qed.

  Lemma order_count : forall done j k rest, kept_order = done ++ (j, k) :: rest -> times_run j done = k.
  Proof.
    intros done j k rest shape. destruct (in_turn _ _ _ _ shape) as [inside within]. unfold times_run.
    rewrite <- (seq_length k 0). rewrite <- (map_length snd (filter _ done)). apply Permutation_length. apply NoDup_Permutation.
    - apply nodup_map.
      + intros [a b] [c e]. rewrite !filter_In. cbn. rewrite !Nat.eqb_eq. intros [_ one] [_ two] same. subst. reflexivity.
      + apply NoDup_filter. pose proof kept_order_nodup as fresh. rewrite shape in fresh.
        clear - fresh. induction done as [| y done IH]; [constructor |]. inversion fresh as [| z l fresh_y rest_fresh]; subst.
        constructor; [intros found; apply fresh_y; rewrite in_app_iff; left; exact found | apply IH; exact rest_fresh].
    - apply seq_NoDup.
    - intros n. rewrite in_map_iff, in_seq. split.
      + intros [[i m] [same found]]. cbn in same. subst m. apply filter_In in found. destruct found as [found equal].
        cbn in equal. apply Nat.eqb_eq in equal. subst i. destruct (in_done _ _ _ _ _ _ shape found) as [_ within_n].
        destruct (Nat.lt_trichotomy n k) as [less | [equal | more]]; [lia | |].
        * subst n. exfalso. apply (ahead_differs _ _ _ _ shape found).
        * exfalso. apply (ahead_not_later _ _ _ _ _ _ shape found). apply same_job_earlier; assumption.
      + intros less. exists (j, n). split; [reflexivity |]. apply filter_In. split; [| cbn; apply Nat.eqb_refl].
        apply (earlier_is_ahead _ _ _ _ _ _ shape); [apply in_kept_order; lia |]. apply same_job_earlier;
          [exact inside | lia | exact within].
  Qed.

  (** What the device holds in the reduced problem is what it holds in the schedule. *)
  Lemma order_holds : forall done j k rest d ahead behind, kept_order = done ++ (j, k) :: rest -> (d < devices M)%nat -> In d ks ->
    device_of M (spot_stage M (spot_of j)) = d -> S d = ahead ++ pass_at (j, k) :: behind ->
    holds_after C done (position d ks) = kept M ahead.
  Proof.
    intros done j k rest d ahead behind shape device in_ks on_d shape_d. destruct (in_turn _ _ _ _ shape) as [inside within].
    set (own := fun p : nat * nat => Nat.eqb (device_of M (spot_stage M (spot_of (fst p)))) d).
    assert (as_passes : holds_after C done (position d ks) =
      sum (fun p => acquires M p - releases M p) (map pass_at (filter own done))).
    { assert (each : forall i n, In (i, n) done -> (i < size C)%nat) by (intros i n found; apply (in_done _ _ _ _ _ _ shape found)).
      clear - each in_ks Inside. unfold holds_after. induction done as [| [i n] done IH]; [reflexivity |].
      cbn [sum filter]. rewrite IH by (intros a b found; apply (each a b); right; exact found).
      assert (inside : (i < size C)%nat) by (apply (each i n); left; reflexivity).
      destruct (job_device i inside) as [e [_ [keeps [on_e [at_e [back _]]]]]].
      assert (same : Nat.eqb (at_device (job_at C i)) (position d ks) = own (i, n)).
      { unfold own. cbn [fst]. rewrite at_e, on_e. destruct (Nat.eqb_spec e d) as [equal | other].
        - subst. apply Nat.eqb_refl.
        - apply Nat.eqb_neq. intros equal. apply other. rewrite <- back, equal.
          destruct (position_spec d ks 0%nat in_ks) as [_ back_d]. exact back_d. }
      unfold effect. cbn [fst]. rewrite same. destruct (own (i, n)); cbn [map sum]; [| lia].
      destruct (job_memory i n inside) as [acquired released]. rewrite acquired, released. reflexivity. }
    rewrite as_passes. unfold kept. apply sum_permutation. apply NoDup_Permutation.
    - apply nodup_map.
      + intros [a b] [c e]. rewrite !filter_In. intros [one _] [two _] same. unfold pass_at in same. cbn [fst snd] in same.
        apply (pass_injective M ks tails) in same;
          [| apply (in_done _ _ _ _ _ _ shape one) | apply (in_done _ _ _ _ _ _ shape two)].
        destruct same. subst. reflexivity.
      + apply NoDup_filter. pose proof kept_order_nodup as fresh. rewrite shape in fresh.
        clear - fresh. induction done as [| y done IH]; [constructor |]. inversion fresh as [| z l fresh_y rest_fresh]; subst.
        constructor; [intros found; apply fresh_y; rewrite in_app_iff; left; exact found | apply IH; exact rest_fresh].
    - pose proof (proj1 (Complete d device)) as fresh. rewrite shape_d in fresh.
      clear - fresh. induction ahead as [| y ahead IH]; [constructor |]. inversion fresh as [| z l fresh_y rest_fresh]; subst.
      constructor; [intros found; apply fresh_y; rewrite in_app_iff; left; exact found | apply IH; exact rest_fresh].
    - intros p. rewrite in_map_iff. split.
      + intros [[i n] [same found]]. apply filter_In in found. destruct found as [found own_i]. unfold own in own_i.
        cbn [fst] in own_i.
        apply Nat.eqb_eq in own_i. destruct (in_done _ _ _ _ _ _ shape found) as [inside_i within_n]. subst p.
        assert (in_d : In (pass_at (i, n)) (S d)) by (apply job_in_device; assumption).
        rewrite shape_d in in_d. apply in_app_iff in in_d. destruct in_d as [good | [equal | wrong]]; [exact good | |]; exfalso.
        * unfold pass_at in equal. cbn [fst snd] in equal. apply (pass_injective M ks tails) in equal;
          [| exact inside | exact inside_i].
          destruct equal. subst. apply (ahead_differs _ _ _ _ shape found).
        * apply (ahead_not_later _ _ _ _ _ _ shape found). apply (device_earlier d device behind ahead _ shape_d _ wrong).
      + intros found. assert (in_d : In p (S d)) by (rewrite shape_d, in_app_iff; left; exact found).
        destruct (proj1 (proj2 (Complete d device) p) in_d) as [there on_d_p].
        destruct (pass_found M ks tails p there) as [i [inside_i same]]; [rewrite on_d_p; exact in_ks |].
        exists (i, microbatch_of p). split; [exact same |]. apply filter_In. split.
        * apply (earlier_is_ahead _ _ _ _ _ _ shape); [apply in_kept_order; split; [exact inside_i | apply there] |].
          unfold pass_at at 1. cbn [fst snd]. rewrite same. destruct (in_split _ _ found) as [one [two split_ahead]].
          apply (device_earlier d device (two ++ pass_at (j, k) :: behind) one); [| rewrite in_app_iff; right; left; reflexivity].
          rewrite shape_d, split_ahead, <- app_assoc. reflexivity.
        * unfold own. cbn [fst]. apply Nat.eqb_eq. rewrite <- on_d_p.
          change (spot_stage M (spot_of i)) with (stage_of (spot_pass M (spot_of i) (microbatch_of p))). rewrite same. reflexivity.
  Qed.

  Lemma spot_slack_nonneg : forall j k, (j < size C)%nat -> (k < microbatches M)%nat -> 0 <= slack (spot_of j) k.
  Proof.
    intros j k inside within. pose proof (spot_valid M ks tails j inside) as good. destruct (spot_of j) as [t | t]; cbn in good.
    - apply slack_nonneg; [apply good | exact within].
    - destruct good as [range _]. destruct (weight_step t k range within) as [grows _].
      assert (0 <= slack (Link t) k) by (apply slack_nonneg; [apply range | exact within]). lia.
  Qed.

  Lemma head_is_first : forall j, (j < size C)%nat -> chain_head M ks <= spot_head M (spot_of j).
  Proof.
    intros j. unfold chain_head. induction j as [j IH] using lt_wf_ind. intros inside.
    destruct (Nat.eq_dec j 0) as [zero | other]; [subst; lia |]. assert (above : (0 < j)%nat) by lia.
    destruct (spot_before M ks tails j inside above) as [less [u [link [range cases]]]].
    assert (head_u : chain_head M ks <= link_head M u).
    { unfold chain_head. pose proof (IH _ less) as base. rewrite link in base. cbn [spot_head] in base. apply base. lia. }
    unfold chain_head in head_u. destruct cases as [[t [same grows]] | same]; rewrite same; cbn [spot_head].
    - pose proof (head_grows u t). lia.
    - assert (0 <= link_lasts M u) by apply time_nonneg. lia.
  Qed.

  (** The kept passes of a run, in the order of their starts, are a run of the reduced problem. *)
  Theorem restriction_is_reduced_run : forall base T,
    (forall j k, (j < size C)%nat -> (k < microbatches M)%nat -> base <= start (pass_at (j, k))) ->
    (forall j k, (j < size C)%nat -> (k < microbatches M)%nat ->
      ends_within C j (start (pass_at (j, k)) - base + time_of M (pass_at (j, k))) T) ->
    reduced_run C (microbatches M) (kept_start base) kept_order T.
  Proof.
    intros base T begins_late ends_early. split.
    - apply sort_permutation.
    - intros j k found. apply in_kept_order in found. destruct found as [inside within]. unfold kept_start.
      specialize (begins_late j k inside within). unfold pass_at in begins_late. cbn [fst snd] in begins_late. lia.
    - intros done j k rest shape i n found. pose proof (ahead_not_later _ _ _ _ _ _ shape found) as order. unfold kept_start.
      unfold earlier, pass_at in order. cbn [fst snd] in order. lia.
    - intros done j k rest shape i n found same. destruct (in_turn _ _ _ _ shape) as [inside within].
      destruct (in_done _ _ _ _ _ _ shape found) as [inside_i within_n].
      destruct (job_device j inside) as [d [device [in_ks [on_d [at_d [back _]]]]]].
      destruct (job_device i inside_i) as [e [_ [_ [on_e [at_e [back_e _]]]]]].
      assert (equal : e = d) by (rewrite <- back, <- back_e, <- at_d, <- at_e, same; reflexivity). subst e.
      assert (other : pass_at (i, n) <> pass_at (j, k)).
      { intros one. unfold pass_at in one. cbn [fst snd] in one. apply (pass_injective M ks tails) in one;
        [| assumption | assumption].
        destruct one. subst. apply (ahead_differs _ _ _ _ shape found). }
      rewrite (job_lasts i n inside_i). unfold kept_start.
      destruct (device_cases d (pass_at (i, n)) (pass_at (j, k)) device) as [[late _] | [_ wrong]]; try assumption.
      + apply job_in_device; assumption.
      + apply job_in_device; assumption.
      + unfold pass_at at 1 3 in late. cbn [fst snd] in late. lia.
      + exfalso. apply (ahead_not_later _ _ _ _ _ _ shape found wrong).
    - apply order_count.
    - intros done j k rest shape above. destruct (in_turn _ _ _ _ shape) as [inside within].
      destruct (job_before j inside above) as [less each]. apply (earlier_is_ahead _ _ _ _ _ _ shape).
      + apply in_kept_order. split; [lia | exact within].
      + apply each. exact within.
    - intros j k found above. apply in_kept_order in found. destruct found as [inside within].
      destruct (job_before j inside above) as [less each]. destruct (each k within) as [grows _].
      rewrite (job_lag j inside above). unfold kept_start. unfold slack in grows. lia.
    - intros done j k rest limit shape limited _. destruct (in_turn _ _ _ _ shape) as [inside within].
      destruct (job_device j inside) as [d [device [in_ks [on_d [at_d [back short]]]]]]. rewrite at_d in *.
      assert (capacity_d : capacity M d = Some limit).
      { unfold limit_of, chain_with in limited. cbn [limits] in limited.
        rewrite (nth_indep _ None (capacity M 0%nat)) in limited by (rewrite map_length; exact short).
        rewrite map_nth, back in limited. exact limited. }
      assert (in_d : In (pass_at (j, k)) (S d)) by (apply job_in_device; assumption).
      destruct (in_split _ _ in_d) as [ahead [behind shape_d]].
      rewrite (order_holds _ _ _ _ d ahead behind shape device in_ks on_d shape_d).
      pose proof (Memory d limit device capacity_d ahead _ behind shape_d) as room. unfold held in room.
      destruct (job_memory j k inside) as [acquired _]. rewrite acquired. exact room.
    - intros j k found. apply in_kept_order in found. destruct found as [inside within]. rewrite (job_lasts j k inside).
      apply (ends_early j k inside within).
  Qed.

  Lemma job_tail : forall j, (j < size C)%nat -> tail (job_at C j) = tails (spot_of j).
  Proof. intros j inside. rewrite job_spot by exact inside. destruct (spot_at M ks j) as [a b]. reflexivity. Qed.

  (** No kept pass starts before the head. *)
  Lemma starts_after_head : forall j k, (j < size C)%nat -> (k < microbatches M)%nat -> chain_head M ks <= start (pass_at (j, k)).
  Proof.
    intros j k inside within. pose proof (spot_slack_nonneg j k inside within) as positive_slack. unfold slack in positive_slack.
    pose proof (head_is_first j inside). unfold pass_at. cbn [fst snd]. lia.
  Qed.

  (** None starts before the first job of the first microbatch. *)
  Lemma starts_after_first : forall j k, (j < size C)%nat -> (k < microbatches M)%nat ->
    start (pass_at (0, 0)%nat) <= start (pass_at (j, k)).
  Proof.
    intros j k inside within. assert (first : start (pass_at (0, 0)%nat) <= start (pass_at (0, k)%nat)).
    { destruct (Nat.eq_dec k 0) as [zero | other]; [subst; lia |].
      assert (order : earlier (pass_at (0, 0)%nat) (pass_at (0, k)%nat)) by (apply same_job_earlier; lia).
      unfold earlier in order. lia. }
    assert (rest : start (pass_at (0, k)%nat) <= start (pass_at (j, k))); [| lia]. clear first.
    induction j as [j IH] using lt_wf_ind. destruct (Nat.eq_dec j 0) as [zero | other]; [subst; lia |].
    assert (above : (0 < j)%nat) by lia. destruct (job_before j inside above) as [less each]. destruct (each k within) as [_ order].
    assert (start (pass_at (0, k)%nat) <= start (pass_at (before (job_at C j), k))) by (apply IH; [exact less | lia]).
    unfold earlier in order. lia.
  Qed.

  (** A kept pass and what must follow it end in time. *)
  Lemma spot_ends : forall j k, (j < size C)%nat -> (k < microbatches M)%nat ->
    start (pass_at (j, k)) + time_of M (pass_at (j, k)) + spot_tail M (spot_of j) <= x.
  Proof.
    intros j k inside within.
    pose proof (spot_valid M ks tails j inside) as good. pose proof (pass_ends _ (job_exists j k inside within)) as ends.
    unfold pass_at in *. cbn [fst snd] in *. destruct (spot_of j) as [t | t]; cbn [spot_tail]; [| lia]. cbn in good.
    pose proof (link_latest_ends t k (proj1 good) within) as latest. unfold slack in latest. cbn [spot_head] in latest.
    unfold time_of in *. cbn [spot_pass kind_of stage_of spot_kind spot_stage] in *. unfold link_lasts. lia.
  Qed.
End TheoremA.

(** Theorem A: every execution of a complete schedule within capacity, restricted to the kept devices, is a run of the reduced
    problem. The head lies before it within the makespan, and the tails behind it. *)
Theorem restriction_makespan : forall M S start ks x, well_formed M -> complete M S -> within_capacity M S ->
  first_in_first_out M S -> runs M S start -> makespan_at_most M S start x -> (forall d, In d ks -> (d < devices M)%nat) ->
  exists order, reduced_run (chain_of M ks) (microbatches M) (kept_start M start ks (chain_head M ks)) order (x - chain_head M ks).
Proof.
  intros M S start ks x well all memory fifo [respected [place ordered]] ends inside.
  exists (kept_order M start place ks (fun a => Some (spot_tail M a))). unfold chain_of.
  apply (restriction_is_reduced_run M S); try assumption.
  - intros j k there within. apply (starts_after_head M S start place) with (tails := fun a => Some (spot_tail M a)); assumption.
  - intros j k there within. unfold ends_within. rewrite job_tail by exact there.
    pose proof (spot_ends M S start place ks (fun a => Some (spot_tail M a)) x) as late.
    assert (start (pass_at M ks (j, k)) + time_of M (pass_at M ks (j, k)) + spot_tail M (fst (spot_at M ks j)) <= x);
      [apply late; assumption | lia].
Qed.

(** The same for the span of the kept device that begins first, without head and tails. *)
Theorem restriction_span : forall M S start ks x, well_formed M -> complete M S -> within_capacity M S ->
  first_in_first_out M S -> runs M S start -> (forall d, In d ks -> (d < devices M)%nat) ->
  (0 < size (span_chain_of M ks))%nat -> (0 < microbatches M)%nat ->
  span_at_most M S start (first_device M ks) x ->
  exists base order, reduced_run (span_chain_of M ks) (microbatches M) (kept_start M start ks base) order x.
Proof.
  intros M S start ks x well all memory fifo [respected [place ordered]] inside some_job some_microbatch span.
  unfold span_chain_of in *.
  set (tails := fun a => if Nat.eqb (device_of M (spot_stage M a)) (first_device M ks) then Some 0 else None) in *.
  exists (start (pass_at M ks (0, 0)%nat)), (kept_order M start place ks tails).
  apply (restriction_is_reduced_run M S); try assumption.
  - intros j k there within. apply (starts_after_first M S start place) with (tails := tails); assumption.
  - intros j k there within. unfold ends_within. rewrite job_tail by exact there. unfold tails at 1.
    destruct (Nat.eqb_spec (device_of M (spot_stage M (fst (spot_at M ks j)))) (first_device M ks)) as [same | other];
      [| exact Logic.I].
    assert (device : (first_device M ks < devices M)%nat).
    { apply well. apply (valid_stage M ks _ (spot_valid M ks tails 0 some_job)). }
    assert (late : start (pass_at M ks (j, k)) + time_of M (pass_at M ks (j, k)) - start (pass_at M ks (0, 0)%nat) <= x); [| lia].
    apply span.
    + apply (job_in_device M S ks tails); try assumption. reflexivity.
    + apply (job_in_device M S ks tails); assumption.
Qed.
