(** * Checker: what an accepted certificate proves

    A schedule file may carry a certificate: the problem it was made for, its figures, and a lower bound with a reason. This
    file says when such a claim is accepted, and proves what then holds. The program [accepts] believes nothing that the
    certificate says: it derives each figure again, by functions that the other files prove right, and compares.

  - [accepted_holds]: an accepted schedule is complete and within its memory. It runs: its least makespan, its least device
      span and its peaks are the claimed ones. And for _every_ complete schedule within the same memory and every execution of
      it, the objective is at least the claimed bound. Where optimality by the bound is claimed, the schedule reaches the bound,
      so it is optimal.

    Why it matters: [Extraction] makes a program of [accepts] that people can run beside the checker in Rust. Whoever trusts
    the definitions of [Execution], Rocq and its extraction need not trust any other algorithm.

    A problem is given by lists, as a model file gives it ([data]), and [model_of] makes the pipeline of [Execution] of them.
    Weights that stay on a device lower its room, and messages between stages of one device take no time. The reasons that are
    covered are Alone, Work, Chain, Windows, Turnover, Area and Subset.

    What is not proved: that a true claim is accepted. [accepts] leaves undecided what it does not cover: a stage that retains
    more for W than F kept, a device span for which [Span] finds no figure, and other reasons. That an exhaustive search found
    nothing better is read, but cannot be checked, and nothing follows from it. *)

From Coq Require Import ZArith List Lia Bool.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count Bubbleproof.Memory Bubbleproof.PipelineReplay.
Require Import Bubbleproof.Span Bubbleproof.BoundsTime.
Require Bubbleproof.Occupancy Bubbleproof.BoundsMemory Bubbleproof.Restrict Bubbleproof.SubsetBounds Bubbleproof.SubsetFifo.
Import ListNotations.
Open Scope Z_scope.

(** ** Problems *)

(** What a model file says, without names and units. *)
Record data := Data {
  stage_lists : list (list nat);   (** by device: its stages *)
  count : nat;                     (** the number of microbatches *)
  forwards : list Z;               (** by stage: the durations of F, I and W *)
  inputs : list Z;
  weights : list Z;
  latencies : list Z;              (** between each stage and the next, where they are on different devices *)
  activations : list Z;            (** by stage *)
  retaineds : list Z;
  residents : list Z;              (** by stage: the weights themselves, which stay *)
  capacities : list (option Z)     (** by device *)
}.

Definition stage_count (x : data) : nat := length (concat (stage_lists x)).

(** The device that holds a stage; one that does not exist if none does. *)
Fixpoint holder (lists : list (list nat)) (s : nat) : nat :=
  match lists with
  | [] => O
  | l :: rest => if existsb (Nat.eqb s) l then O else S (holder rest s)
  end.

Definition resident (x : data) (d : nat) : Z := sum (fun s => nth s (residents x) 0) (nth d (stage_lists x) []).

(** What a device has left for activations. *)
Definition room (x : data) (d : nat) : option Z :=
  match nth d (capacities x) None with
  | Some limit => Some (limit - resident x d)
  | None => None
  end.

Definition model_of (x : data) : model :=
  let holders := map (holder (stage_lists x)) (seq 0 (stage_count x)) in
  let rooms := map (room x) (seq 0 (length (stage_lists x))) in
  {|
    devices := length (stage_lists x);
    stages := stage_count x;
    microbatches := count x;
    device_of := fun s => nth s holders O;
    time := fun k s => nth s (match k with F => forwards x | I => inputs x | W => weights x end) 0;
    latency := fun s =>
      if (nth s holders O =? nth (Datatypes.S s) holders O)%nat then 0 else nth s (latencies x) 0;
    activation := fun s => nth s (activations x) 0;
    retained := fun s => nth s (retaineds x) 0;
    capacity := fun d => nth d rooms None
  |}.

(** *** Which problems are covered *)

Definition nonneg (l : list Z) : bool := forallb (Z.leb 0) l.

(** No stage retains more for W than F kept. *)
Definition retains_part (x : data) : bool :=
  forallb (fun s => nth s (retaineds x) 0 <=? nth s (activations x) 0) (seq 0 (stage_count x)).

Definition largest_total : Z := 2 ^ 58.

Definition total (l : list Z) : Z := sum (fun v => v) l.

(** Lists of the right lengths, no negative amount, each stage on one device, and at least one microbatch. *)
Definition has_shape (x : data) : bool :=
  let n := stage_count x in
  (0 <? n)%nat && (0 <? count x)%nat &&
  forallb (fun s => (holder (stage_lists x) s <? length (stage_lists x))%nat) (seq 0 n) &&
  forallb (fun l => (length l =? n)%nat && nonneg l)
    [forwards x; inputs x; weights x; activations x; retaineds x; residents x] &&
  (length (latencies x) =? n - 1)%nat && nonneg (latencies x) &&
  (length (capacities x) =? length (stage_lists x))%nat.

(** What the checker in Rust asks besides, so that its 64 bits suffice. No theorem needs it. *)
Definition has_size (x : data) : bool :=
  let m := Z.of_nat (count x) in
  let small l := total l * m <=? largest_total in
  small (forwards x ++ inputs x ++ weights x ++ latencies x ++ latencies x) &&
  small (activations x ++ residents x) &&
  small (map (fun '(a, r) => Z.max a r) (combine (activations x) (retaineds x)) ++ residents x) &&
  forallb (fun d =>
    match nth d (capacities x) None with
    | Some limit => (0 <=? limit) && (limit <=? largest_total) && (resident x d <=? limit)
    | None => true
    end &&
    match nth d (stage_lists x) [] with [] => false | _ => true end &&
    (0 <? sum (stage_work (model_of x)) (nth d (stage_lists x) []))) (seq 0 (length (stage_lists x))).

Lemma nonneg_nth : forall l s, nonneg l = true -> 0 <= nth s l 0.
Proof.
  intros l s good. unfold nonneg in good. rewrite forallb_forall in good.
  destruct (nth_in_or_default s l 0) as [inside | none]; [apply Z.leb_le; apply good; exact inside | lia].
Qed.

Theorem shape_well_formed : forall x, has_shape x = true -> retains_part x = true ->
  well_formed (model_of x) /\ (0 < microbatches (model_of x))%nat.
Proof.
  intros x shape part. unfold has_shape in shape. cbn [forallb] in shape.
  rewrite !andb_true_iff, !Nat.eqb_eq, !Nat.ltb_lt, forallb_forall in shape.
  destruct shape as [[[[[[some microbatch] held] lists] _] latency_nonneg] _].
  destruct lists as [[_ nonneg_f] [[_ nonneg_i] [[_ nonneg_w] [[act_length _] [[ret_length nonneg_r] [_ _]]]]]].
  unfold retains_part in part. rewrite forallb_forall in part.
  split; [| exact microbatch]. split; [exact some |]. split; [| split; [| split]].
  - intros s in_range. cbn [devices device_of model_of stages] in *.
    rewrite (nth_indep _ O (holder (stage_lists x) O)) by (rewrite map_length, seq_length; exact in_range).
    rewrite map_nth, seq_nth by exact in_range. apply Nat.ltb_lt. apply held. apply in_seq. cbn. lia.
  - intros [] s; apply nonneg_nth; assumption.
  - intros s. cbn [latency model_of]. destruct (_ =? _)%nat; [lia | apply nonneg_nth; assumption].
  - intros s. cbn [retained activation model_of]. split; [apply nonneg_nth; assumption |].
    destruct (Nat.lt_ge_cases s (stage_count x)) as [inside | outside].
    + apply Z.leb_le. apply part. apply in_seq. lia.
    + rewrite !nth_overflow by lia. lia.
Qed.

(** ** Claims *)

(** What is claimed of a schedule; rates as fractions. *)
Record figures := Figures {
  claimed_makespan : Z;
  claimed_span : Z;
  bubble_rate : Z * Z;
  idle_rate : Z * Z;
  peaks : list Z
}.

(** What a bound rests on: the figures that its section in docs/bounds.md names. *)
Inductive reason :=
  | By_alone
  | By_windows (d : nat) (work : Z) (first last : window)
  | By_chain (d : nat) (work before after : Z)
  | By_work (d : nat) (work before after : Z)
  | By_turnover (d : nat) (held turn : Z)
  | By_area (d : nat)
  | By_subset (kept : list nat) (repetition : option (nat * nat * Z))   (** after, period, growth *)
  | By_other.                      (** any that is not covered *)

Inductive engine := Clause_generation | Branch_and_bound.

Inductive optimality :=
  | Open
  | By_bound
  | By_search (searched : engine) (none_below : Z).

Record claim := Claim {
  figures_of : figures;
  bound : Z;
  because : reason;
  optimal : optimality
}.

Inductive fault :=
  | Bad_problem
  | Incomplete
  | Over_capacity
  | Deadlock
  | Wrong_makespan
  | Wrong_span
  | Wrong_rate
  | Wrong_peaks
  | Wrong_bound
  | Contradiction
  | Not_optimal
  | Wrong_engine.

Inductive gap := Retains_more | No_span | Other_reason.

Inductive verdict := Accepted | Rejected (why : fault) | Undecided (what : gap).

(** ** Bounds *)

Definition window_eqb (v w : window) : bool :=
  (window_length v =? window_length w) && (window_work v =? window_work w).

Lemma window_eqb_eq : forall v w, window_eqb v w = true -> v = w.
Proof.
  intros [a b] [c e] same. unfold window_eqb in same. cbn in same. apply andb_true_iff in same.
  destruct same as [one two]. apply Z.eqb_eq in one, two. congruence.
Qed.

Definition same_goal (goal : objective) : Occupancy.objective :=
  match goal with
  | Makespan => Occupancy.makespan
  | Device_span => Occupancy.device_span
  end.

Definition turns_so (M : model) (d : nat) (held turn : Z) (e : kind) : bool :=
  match Occupancy.turn M d e with
  | Some (q, P) => (q =? held) && (P =? turn)
  | None => false
  end.

Fixpoint ascending (l : list nat) : bool :=
  match l with
  | i :: (j :: _) as rest => (i <? j)%nat && ascending rest
  | _ => true
  end.

Definition subset_value (M : model) (goal : objective) (kept : list nat) (repetition : option (nat * nat * Z)) : option Z :=
  match goal, repetition with
  | Makespan, None => SubsetBounds.subset_bound M kept
  | Makespan, Some (after, period, growth) => SubsetBounds.subset_bound_repeating M kept after period growth
  | Device_span, None => SubsetBounds.subset_span_bound M kept
  | Device_span, Some (after, period, growth) => SubsetBounds.subset_span_bound_repeating M kept after period growth
  end.

(** The value that a reason gives; nothing where its figures are not those of the problem. *)
Definition value_of (M : model) (goal : objective) (why : reason) : option Z :=
  let when (d : nat) (holds : bool) (value : Z) :=
    if (d <? devices M)%nat && match stages_on M d with [] => false | _ => true end && holds then Some value else None in
  match why with
  | By_alone => Some (match goal with Makespan => alone M | Device_span => 0 end)
  | By_windows d work first last =>
      when d ((work =? device_work M d) && existsb (window_eqb first) (first_windows M goal d) &&
        existsb (window_eqb last) (last_windows M goal d) && windows_apart work first last)
        (windows_formula work first last)
  | By_chain d work before after =>
      when d ((work =? work_without_weights M d) && (before =? head M goal d) && (after =? after_last_input M goal d))
        (chain_bound M goal d)
  | By_work d work before after =>
      when d ((work =? device_work M d) && (before =? head M goal d) && (after =? 0)) (work_bound M goal d)
  | By_turnover d held turn =>
      when d (turns_so M d held turn W || turns_so M d held turn I)
        (Occupancy.turnover_value M d (same_goal goal) held turn)
  | By_area d =>
      match Occupancy.area_bound M d (same_goal goal) with
      | Some value => when d true value
      | None => None
      end
  | By_subset kept repetition =>
      if negb (match kept with [] => true | _ => false end) && ascending kept && forallb (fun d => (d <? devices M)%nat) kept &&
        (Restrict.first_device M kept <? devices M)%nat
      then subset_value M goal kept repetition
      else None
  | By_other => None
  end.

Section Bounds.
  Variable M : model.
  Variable order : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M order.
  Hypothesis Fits : within_capacity M order.
  Hypothesis Runs : runs M order start.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.

  (** Whatever value a covered reason gives, no execution takes less. *)
  Theorem value_holds : forall goal why value x, value_of M goal why = Some value ->
    at_most M order start goal x -> value <= x.
  Proof.
    intros goal why value x given bounded. unfold value_of in given. cbv zeta in given.
    assert (guard : forall d b v, (if (d <? devices M)%nat && match stages_on M d with [] => false | _ => true end && b
      then Some v else None) = Some value -> (d < devices M)%nat /\ stages_on M d <> [] /\ b = true /\ v = value).
    { intros d b v. destruct (d <? devices M)%nat eqn:device; cbn [andb]; [| discriminate]. apply Nat.ltb_lt in device.
      destruct (stages_on M d) as [| s rest]; cbn [andb]; [discriminate |]. destruct b; [| discriminate].
      intros same. inversion same. split; [exact device |]. split; [discriminate |]. split; reflexivity. }
    destruct why as [| d work first last | d work before after | d work before after | d held turn | d | kept repetition |];
      [.. | discriminate].
    - inversion given; subst value. destruct goal.
      + apply (alone_holds M order start Well Complete Runs Some_microbatch x bounded).
      + apply (objective_nonneg M order start Well Complete Runs Some_microbatch Device_span x bounded).
    - apply guard in given. destruct given as [device [some [facts same]]]. subst value.
      rewrite !andb_true_iff in facts. destruct facts as [[[work_same in_first] in_last] apart].
      apply Z.eqb_eq in work_same. subst work. apply existsb_exists in in_first, in_last.
      destruct in_first as [w1 [in_first same1]]. destruct in_last as [w2 [in_last same2]].
      apply window_eqb_eq in same1, same2. subst w1 w2. unfold windows_apart in apart. apply Z.ltb_lt in apart.
      apply (windows_hold_each M order start Well Complete Runs Some_microbatch Fits goal d x first last device some bounded);
        assumption.
    - apply guard in given. destruct given as [device [_ [_ same]]]. subst value.
      apply (chain_holds M order start Well Complete Runs Some_microbatch goal d x device bounded).
    - apply guard in given. destruct given as [device [_ [_ same]]]. subst value.
      apply (work_holds M order start Well Complete Runs Some_microbatch goal d x device bounded).
    - apply guard in given. destruct given as [device [_ [facts same]]]. subst value.
      assert (found : exists e, e <> F /\ Occupancy.turn M d e = Some (held, turn)).
      { assert (turns : forall e, turns_so M d held turn e = true -> Occupancy.turn M d e = Some (held, turn)).
        { intros e so. unfold turns_so in so. destruct (Occupancy.turn M d e) as [[q P] |]; [| discriminate].
          apply andb_true_iff in so. destruct so as [one two]. apply Z.eqb_eq in one, two. subst. reflexivity. }
        apply orb_true_iff in facts. destruct facts as [facts | facts]; [exists W | exists I];
          (split; [discriminate | apply turns; exact facts]). }
      destruct found as [e [backward found]].
      assert (computed : Occupancy.turnover_bound M d (same_goal goal) e
        = Some (Occupancy.turnover_value M d (same_goal goal) held turn)).
      { unfold Occupancy.turnover_bound. rewrite found. reflexivity. }
      destruct goal; cbn [same_goal at_most] in *.
      + refine (BoundsMemory.turnover_bounds_makespan M order start Well Complete Fits Runs Some_microbatch d device e backward
          _ x computed bounded).
      + refine (BoundsMemory.turnover_bounds_span M order start Well Complete Fits Runs Some_microbatch d device e backward
          _ x computed (bounded d device)).
    - destruct (Occupancy.area_bound M d (same_goal goal)) as [area |] eqn:computed; [| discriminate].
      apply guard in given. destruct given as [device [_ [_ same]]]. subst value.
      destruct goal; cbn [same_goal at_most] in *.
      + refine (BoundsMemory.area_bounds_makespan M order start Well Complete Fits Runs Some_microbatch d device area x computed
          bounded).
      + refine (BoundsMemory.area_bounds_span M order start Well Complete Fits Runs Some_microbatch d device area x computed
          (bounded d device)).
    - match type of given with (if ?checks then _ else _) = _ => destruct checks eqn:facts; [| discriminate] end.
      apply andb_true_iff in facts. destruct facts as [_ device]. apply Nat.ltb_lt in device.
      unfold subset_value in given.
      destruct goal, repetition as [[[after period] growth] |]; cbn [at_most] in bounded.
      + apply (SubsetFifo.subset_bound_repeating_holds M kept order start x Well Complete Fits Runs _ _ _ _ given bounded).
      + apply (SubsetFifo.subset_bound_holds M kept order start x Well Complete Fits Runs _ given bounded).
      + apply (SubsetFifo.subset_span_bound_repeating_holds M kept order start x Well Complete Fits Runs _ _ _ _ given
          (bounded _ device)).
      + apply (SubsetFifo.subset_span_bound_holds M kept order start x Well Complete Fits Runs _ given (bounded _ device)).
  Qed.
End Bounds.

(** ** The program *)

Definition schedule_of (orders : list (list pass)) : schedule := fun d => nth d orders [].

(** The share of a span, over all devices, that is not worked in: a fraction in lowest terms, 0 of a span of 0. *)
Definition idle_share (M : model) (order : schedule) (span : Z) : Z * Z :=
  let whole := Z.of_nat (devices M) * span in
  if whole =? 0 then (0, 1)
  else
    let busy := sum (fun d => sum (time_of M) (order d)) (seq 0 (devices M)) in
    let common := Z.gcd (whole - busy) whole in
    ((whole - busy) / common, whole / common).

Definition same_rate (a b : Z * Z) : bool := (fst a =? fst b) && (snd a =? snd b).

Definition same_list (a b : list Z) : bool :=
  (length a =? length b)%nat && forallb (fun '(x, y) => x =? y) (combine a b).

Definition measured_peaks (x : data) (orders : list (list pass)) : list Z :=
  map (fun d => resident x d + peak (model_of x) (schedule_of orders d)) (seq 0 (length (stage_lists x))).

Definition claimed_value (goal : objective) (c : claim) : Z :=
  match goal with
  | Makespan => claimed_makespan (figures_of c)
  | Device_span => claimed_span (figures_of c)
  end.

(** Branch and bound lets every device begin at once, which is not always best for the device span. *)
Definition minimises (searched : engine) (goal : objective) : bool :=
  match searched, goal with
  | Branch_and_bound, Device_span => false
  | _, _ => true
  end.

Definition optimality_fault (goal : objective) (c : claim) : option fault :=
  match optimal c with
  | Open => None
  | By_bound => if claimed_value goal c =? bound c then None else Some Not_optimal
  | By_search searched none_below =>
      if negb (minimises searched goal) then Some Wrong_engine
      else if none_below <=? claimed_value goal c then None else Some Contradiction
  end.

Definition judge_bound (M : model) (goal : objective) (c : claim) : verdict :=
  match because c, value_of M goal (because c) with
  | By_other, _ => Undecided Other_reason
  | _, Some value =>
      if negb (value =? bound c) then Rejected Wrong_bound
      else if bound c <=? claimed_value goal c then
        match optimality_fault goal c with
        | Some why => Rejected why
        | None => Accepted
        end
      else Rejected Contradiction
  | _, None => Rejected Wrong_bound
  end.

Definition accepts (x : data) (goal : objective) (orders : list (list pass)) (c : claim) : verdict :=
  let M := model_of x in
  let order := schedule_of orders in
  let f := figures_of c in
  if negb (has_shape x && has_size x) then Rejected Bad_problem
  else if negb (retains_part x) then Undecided Retains_more
  else if negb (is_complete M order) then Rejected Incomplete
  else if negb (fits M order) then Rejected Over_capacity
  else
    match makespan M order with
    | None => Rejected Deadlock
    | Some least_makespan =>
        if negb (least_makespan =? claimed_makespan f) then Rejected Wrong_makespan
        else if negb (same_rate (idle_share M order least_makespan) (idle_rate f)) then Rejected Wrong_rate
        else if negb (same_list (measured_peaks x orders) (peaks f)) then Rejected Wrong_peaks
        else
          match device_span M order with
          | None => Undecided No_span
          | Some least_span =>
              if negb (least_span =? claimed_span f) then Rejected Wrong_span
              else if negb (same_rate (idle_share M order least_span) (bubble_rate f)) then Rejected Wrong_rate
              else judge_bound M goal c
          end
    end.

(** ** What follows *)

Lemma same_list_eq : forall a b, same_list a b = true -> a = b.
Proof.
  intros a. induction a as [| x a IH]; intros [| y b] same; try discriminate; [reflexivity |].
  unfold same_list in *. cbn in same. rewrite !andb_true_iff in same. destruct same as [sizes [first rest]].
  apply Z.eqb_eq in first. subst y. f_equal. apply IH. rewrite andb_true_iff. split; [exact sizes | exact rest].
Qed.

Lemma judged : forall M goal c, judge_bound M goal c = Accepted ->
  value_of M goal (because c) = Some (bound c) /\ (optimal c = By_bound -> claimed_value goal c = bound c).
Proof.
  intros M goal c judgement. unfold judge_bound in judgement.
  destruct (value_of M goal (because c)) as [value |] eqn:given; [| destruct (because c); discriminate].
  destruct (value =? bound c) eqn:same; [| destruct (because c); discriminate].
  apply Z.eqb_eq in same. subst value. split; [reflexivity |]. intros by_bound.
  destruct (bound c <=? claimed_value goal c); [| destruct (because c); discriminate].
  unfold optimality_fault in judgement. rewrite by_bound in judgement.
  destruct (claimed_value goal c =? bound c) eqn:equal; [apply Z.eqb_eq; exact equal |].
  destruct (because c); discriminate.
Qed.

(** What is claimed of the schedule itself: it is complete, keeps to its memory, and its least makespan, its least device span
    and its peaks are the claimed figures. *)
Definition schedule_is_as_claimed (x : data) (order : schedule) (f : figures) : Prop :=
  let M := model_of x in
  complete M order /\ within_capacity M order /\
  (exists start, runs M order start /\ makespan_at_most M order start (claimed_makespan f)) /\
  (forall start y, runs M order start -> makespan_at_most M order start y -> claimed_makespan f <= y) /\
  (exists start, runs M order start /\ device_span_at_most M order start (claimed_span f)) /\
  (forall start y, runs M order start -> device_span_at_most M order start y -> claimed_span f <= y) /\
  (forall d, (d < devices M)%nat -> nth d (peaks f) 0 = resident x d + peak M (order d)).

(** No schedule of the problem has an execution in which the objective is less than some value. *)
Definition no_schedule_below (M : model) (goal : objective) (value : Z) : Prop :=
  forall order start y, complete M order -> within_capacity M order -> runs M order start ->
    at_most M order start goal y -> value <= y.

(** Some execution of the schedule reaches a value. *)
Definition reaches (M : model) (goal : objective) (order : schedule) (value : Z) : Prop :=
  exists start, runs M order start /\ at_most M order start goal value.

(** An accepted claim is true: the schedule is what it is said to be, no schedule is below the bound, and where the schedule is
    claimed to reach the bound, it does. *)
Theorem accepted_holds : forall x goal orders c, accepts x goal orders c = Accepted ->
  let M := model_of x in
  let order := schedule_of orders in
  well_formed M /\ schedule_is_as_claimed x order (figures_of c) /\ no_schedule_below M goal (bound c) /\
  (optimal c = By_bound -> reaches M goal order (bound c)).
Proof.
  intros x goal orders c. unfold accepts. cbv zeta. set (M := model_of x). set (order := schedule_of orders).
  destruct (has_shape x && has_size x) eqn:shape; cbn [negb]; [| discriminate]. apply andb_true_iff in shape.
  destruct shape as [shape _]. destruct (retains_part x) eqn:part; cbn [negb]; [| discriminate].
  destruct (shape_well_formed x shape part) as [well some]. fold M in well, some.
  destruct (is_complete M order) eqn:all; cbn [negb]; [| discriminate]. apply is_complete_iff in all.
  destruct (fits M order) eqn:fit; cbn [negb]; [| discriminate].
  apply (proj1 (fits_iff_within_capacity M well order)) in fit.
  destruct (makespan M order) as [least_makespan |] eqn:found; [| discriminate].
  destruct (least_makespan =? claimed_makespan (figures_of c)) eqn:same_makespan; cbn [negb]; [| discriminate].
  apply Z.eqb_eq in same_makespan. destruct (same_rate _ (idle_rate _)); cbn [negb]; [| discriminate].
  destruct (same_list (measured_peaks x orders) (peaks (figures_of c))) eqn:same_peaks; cbn [negb]; [| discriminate].
  apply same_list_eq in same_peaks. destruct (device_span M order) as [least_span |] eqn:spans; [| discriminate].
  destruct (least_span =? claimed_span (figures_of c)) eqn:same_span; cbn [negb]; [| discriminate].
  apply Z.eqb_eq in same_span. destruct (same_rate _ (bubble_rate _)); cbn [negb]; [| discriminate].
  intros judgement. apply judged in judgement. destruct judgement as [given equal].
  destruct (makespan_is_least M order well all least_makespan found) as [_ [reached least_of_all]].
  destruct (device_span_is_least M order well all least_span spans) as [span_reached least_span_of_all].
  rewrite same_makespan in reached, least_of_all. rewrite same_span in span_reached, least_span_of_all.
  split; [exact well |]. split; [| split].
  - split; [exact all |]. split; [exact fit |]. split; [exact reached |].
    split; [intros start y runs_y ends; apply (least_of_all start y runs_y ends); right; exact some |].
    split; [exact span_reached |]. split; [exact least_span_of_all |].
    intros d inside. rewrite <- same_peaks. unfold measured_peaks.
    set (measure := fun d => resident x d + peak (model_of x) (schedule_of orders d)).
    rewrite (nth_indep _ 0 (measure O)) by (rewrite map_length, seq_length; exact inside).
    rewrite map_nth, seq_nth by exact inside. reflexivity.
  - intros other start y complete_other fits_other runs_other ends.
    exact (value_holds M other start well complete_other fits_other runs_other some goal (because c) (bound c) y given ends).
  - intros by_bound. specialize (equal by_bound). rewrite <- equal. destruct goal; [exact reached | exact span_reached].
Qed.

(** ** An example *)

(** Two devices and two microbatches; every pass takes a tick, and devices have room for two activations. *)
Definition small : data :=
  Data [[0%nat]; [1%nat]] 2 [1; 1] [1; 1] [1; 1] [0] [2; 2] [1; 1] [0; 0] [Some 4; Some 4].

Definition quick : list (list pass) :=
  [[Pass F 0 0; Pass F 0 1; Pass I 0 0; Pass W 0 0; Pass I 0 1; Pass W 0 1];
   [Pass F 1 0; Pass I 1 0; Pass F 1 1; Pass I 1 1; Pass W 1 0; Pass W 1 1]].

(** Device 1 works 6 ticks, behind the tick in which nothing reaches it. *)
Definition seven (value : Z) : claim :=
  Claim (Figures 7 7 (1, 7) (1, 7) [4; 3]) value (By_work 1 6 1 0) By_bound.

Example quick_is_accepted : accepts small Makespan quick (seven 7) = Accepted.
Proof. vm_compute. reflexivity. Qed.

Example eight_is_rejected : accepts small Makespan quick (seven 8) = Rejected Wrong_bound.
Proof. vm_compute. reflexivity. Qed.

(** So no execution of any schedule of this problem takes less than 7 ticks. *)
Example seven_is_least : forall order start y, complete (model_of small) order -> within_capacity (model_of small) order ->
  runs (model_of small) order start -> makespan_at_most (model_of small) order start y -> 7 <= y.
Proof. exact (proj1 (proj2 (proj2 (accepted_holds small Makespan quick (seven 7) quick_is_accepted)))). Qed.
