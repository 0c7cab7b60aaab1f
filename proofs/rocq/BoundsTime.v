(** * BoundsTime: lower bounds from times and work

    No schedule of a model beats its lower bounds. This file proves four of them for pipelines in one direction whose passes are
    F, I and W, each as a function that a program can compute:

    - [alone]: one microbatch takes this long, whatever else runs;
    - [work_bound]: a device runs all its passes behind the least time in which a microbatch can reach it;
    - [chain_bound]: a device runs all its Fs and Is, and something follows the last of its Is;
    - [windows_bound]: at the beginning and at the end of its span a device can do only some of its work, since a window is too
      short, or since its memory holds too little. This bound has a condition: the work of the device must be more than what fits
      into both windows. Without the condition the statement is false, as [condition_is_needed] shows
      ([BoundsTimeExamples]).

    [time_bound] is the best of all four. The theorems are about every execution of every complete schedule of at least one
    microbatch; only [windows_bound] asks that the schedule be within capacity. Microbatches may overtake each other. Each bound
    but the first has two forms: for the makespan, and for the device span, which is the time from the start of the first pass of
    a device to the end of its last pass. A bound on the device span is proved for the device that it names, so it also holds for
    the largest span of all devices.

    Other kinds of problems (overlapped pairs, messages that keep links busy, the end of the step, offloading, recomputation,
    sharded weights, workspaces) are not treated here. *)

From Coq Require Import ZArith List Lia Bool Permutation.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count.
Import ListNotations.
Open Scope Z_scope.

(** ** The bounds *)

(** What a schedule minimises. *)
Inductive objective := Makespan | Device_span.

(** The lowest and the highest stage of a device. *)
Definition lowest_stage (M : model) (d : nat) : nat := hd O (stages_on M d).
Definition highest_stage (M : model) (d : nat) : nat := list_max (stages_on M d).

(** *** How long the windows of a device are *)

(** Nothing reaches the device before. *)
Definition head (M : model) (goal : objective) (d : nat) : Z :=
  match goal with
  | Makespan => forward_head M (lowest_stage M d)
  | Device_span => 0
  end.

(** The device meets no backward before. *)
Definition to_first_input (M : model) (goal : objective) (d : nat) : Z :=
  match goal with
  | Makespan => input_head M (highest_stage M d)
  | Device_span => input_head M (highest_stage M d) - forward_head M (lowest_stage M d)
  end.

(** Before the end, from where on the device meets no forward. *)
Definition from_last_forward (M : model) (goal : objective) (d : nat) : Z :=
  match goal with
  | Makespan => forward_tail M (highest_stage M d)
  | Device_span => largest (map (forward_to_weight M (highest_stage M d)) (stages_on M d))
  end.

(** The least time that follows the last I of the device. *)
Definition after_last_input (M : model) (goal : objective) (d : nat) : Z :=
  match goal with
  | Makespan => least (map (input_tail M) (stages_on M d))
  | Device_span => least (map (time M W) (stages_on M d))
  end.

(** *** How much work fits into the memory of a device *)

(** Something that a device may do while it holds memory for it. *)
Record item := Item { item_work : Z; item_holds : Z }.

Definition is_free (i : item) : bool := item_holds i =? 0.
Definition is_heavy (i : item) : bool := 0 <? item_holds i.

(** Of items that the memory holds at once: no unit of memory carries more work than the densest item, there are no more items
    than of the lightest, and none has more work than the longest. *)
Definition heavy_fill (limit : Z) (heavy : list item) : Z :=
  match heavy with
  | [] => 0
  | _ =>
      let by_density := largest (map (fun i => limit * item_work i / item_holds i) heavy) in
      let lightest := least (map item_holds heavy) in
      let longest := largest (map item_work heavy) in
      Z.min by_density (Z.min (limit * longest) (limit / lightest * longest))
  end.

(** The most work of items that the memory of a device holds at once. Every microbatch does at most [all]. *)
Definition fill (M : model) (d : nat) (items : list item) (all : Z) : Z :=
  let microbatches := Z.of_nat (microbatches M) in
  let total := all * microbatches in
  match capacity M d with
  | None => total
  | Some limit =>
      let free := sum (fun i => item_work i * microbatches) (filter is_free items) in
      Z.min total (free + Z.min (heavy_fill limit (filter is_heavy items)) total)
  end.

Definition forward_item (M : model) (s : nat) : item := Item (time M F s) (activation M s).
Definition backward_item (M : model) (s : nat) : item := Item (time M I s + time M W s) (activation M s).
Definition weight_item (M : model) (s : nat) : item := Item (time M W s) (retained M s).

(** The most work of forwards before the first backward of a device. *)
Definition forward_fill (M : model) (d : nat) : Z :=
  fill M d (map (forward_item M) (stages_on M d)) (sum (time M F) (stages_on M d)).

(** The most work of backwards behind the last forward of a device. *)
Definition backward_fill (M : model) (d : nat) : Z :=
  fill M d (flat_map (fun s => [backward_item M s; weight_item M s]) (stages_on M d))
    (sum (fun s => time M I s + time M W s) (stages_on M d)).

(** *** Windows *)

(** A stretch of time at the beginning or at the end of the span, and the most work that fits into it. *)
Record window := Window { window_length : Z; window_work : Z }.

Definition window_idle (w : window) : Z := window_length w - window_work w.

Definition first_windows (M : model) (goal : objective) (d : nat) : list window :=
  let before := head M goal d in
  let until := to_first_input M goal d in
  [Window before 0; Window until (Z.min (forward_fill M d) (until - before))].

Definition last_windows (M : model) (goal : objective) (d : nat) : list window :=
  let from := from_last_forward M goal d in
  [Window 0 0; Window from (Z.min (backward_fill M d) from)].

(** The formula, and the condition under which it is a bound. *)
Definition windows_formula (work : Z) (first last : window) : Z := work + window_idle first + window_idle last.
Definition windows_apart (work : Z) (first last : window) : bool := window_work first + window_work last <? work.

(** The values for all choices of windows that satisfy the condition. *)
Definition windows_bounds (M : model) (goal : objective) (d : nat) : list Z :=
  let work := device_work M d in
  let lasts := last_windows M goal d in
  flat_map (fun first => map (windows_formula work first) (filter (windows_apart work first) lasts))
    (first_windows M goal d).

(** The best of them; 0 if there is none, or if the device holds no stage. *)
Definition windows_bound (M : model) (goal : objective) (d : nat) : Z :=
  match stages_on M d with
  | [] => 0
  | _ => largest (windows_bounds M goal d)
  end.

(** *** The others *)

Definition alone (M : model) : Z := time M F O + forward_tail M O.

Definition work_bound (M : model) (goal : objective) (d : nat) : Z := head M goal d + device_work M d.

Definition work_without_weights (M : model) (d : nat) : Z :=
  device_work M d - sum (time M W) (stages_on M d) * Z.of_nat (microbatches M).

Definition chain_bound (M : model) (goal : objective) (d : nat) : Z :=
  head M goal d + work_without_weights M d + after_last_input M goal d.

(** All of them, and the best. *)
Definition time_bounds (M : model) (goal : objective) : list Z :=
  match goal with Makespan => alone M | Device_span => 0 end ::
  flat_map (fun d => [work_bound M goal d; chain_bound M goal d; windows_bound M goal d]) (seq 0 (devices M)).

Definition time_bound (M : model) (goal : objective) : Z := largest (time_bounds M goal).

(** ** What the theorems are about *)

(** The span of every device is at most x. *)
Definition device_span_at_most (M : model) (order : schedule) (start : pass -> Z) (x : Z) : Prop :=
  forall d, (d < devices M)%nat -> span_at_most M order start d x.

Definition at_most (M : model) (order : schedule) (start : pass -> Z) (goal : objective) (x : Z) : Prop :=
  match goal with
  | Makespan => makespan_at_most M order start x
  | Device_span => device_span_at_most M order start x
  end.

(** The same, where the device span is that of one device. *)
Definition at_most_on (M : model) (order : schedule) (start : pass -> Z) (goal : objective) (d : nat) (x : Z) : Prop :=
  match goal with
  | Makespan => makespan_at_most M order start x
  | Device_span => span_at_most M order start d x
  end.

(** ** Windows in general *)

Section Windows.
  Context {A : Type} (P : problem A) (start : A -> Z).
  Hypothesis Durations : forall u, 0 <= duration P u.

  (** How much of a task runs between a and b. *)
  Definition part (a b : Z) (u : A) : Z := Z.max 0 (Z.min (start u + duration P u) b - Z.max (start u) a).

  Lemma part_nonneg : forall a b u, 0 <= part a b u.
  Proof. intros a b u. unfold part. lia. Qed.

  Lemma part_of_duration : forall a b u, part a b u <= duration P u.
  Proof. intros a b u. unfold part. pose proof (Durations u). lia. Qed.

  Lemma part_before : forall a b u, start u + duration P u <= a -> part a b u = 0.
  Proof. intros a b u early. unfold part. lia. Qed.

  Lemma part_behind : forall a b u, b <= start u -> part a b u = 0.
  Proof. intros a b u late. unfold part. pose proof (Durations u). lia. Qed.

  (** Tasks that run one at a time, none before c, fit between c and b. *)
  Lemma parts_fit : forall a b l c, one_at_a_time P start l -> (forall u, In u l -> c <= start u) ->
    sum (part a b) l <= Z.max 0 (b - Z.max a c).
  Proof.
    intros a b l. induction l as [| u l IH]; intros c ordered late; cbn [sum]; [lia |].
    destruct ordered as [each ordered]. specialize (IH (start u + duration P u) ordered each).
    assert (first := late u (or_introl eq_refl)). pose proof (Durations u). unfold part at 1. lia.
  Qed.

  (** Let the tasks of a resource run one at a time from [first] to [last]. If no more than u1 of them fits into the first t1 ticks,
      no more than u2 into the last t2, and together they take more than u1 + u2, then the windows do not overlap, and what is
      idle in both adds up. *)
  Theorem windows_add_up : forall l first last t1 t2 u1 u2, one_at_a_time P start l ->
    (forall u, In u l -> first <= start u /\ start u + duration P u <= last) ->
    sum (part first (first + t1)) l <= u1 -> sum (part (last - t2) last) l <= u2 -> u1 + u2 < sum (duration P) l ->
    sum (duration P) l + (t1 - u1) + (t2 - u2) <= last - first.
  Proof.
    intros l first last t1 t2 u1 u2 ordered inside in_first in_last more.
    destruct (Z_lt_le_dec (last - t2) (first + t1)) as [overlap | apart].
    - assert (covered : sum (duration P) l <= sum (fun u => part first (first + t1) u + part (last - t2) last u) l).
      { apply sum_le. intros u member. destruct (inside u member) as [begins ends]. pose proof (Durations u).
        unfold part. lia. }
      rewrite sum_add in covered. lia.
    - assert (split : sum (duration P) l <= sum (fun u => (part first (first + t1) u + part (last - t2) last u)
        + part (first + t1) (last - t2) u) l).
      { apply sum_le. intros u member. destruct (inside u member) as [begins ends]. pose proof (Durations u).
        unfold part. lia. }
      rewrite sum_add, sum_add in split.
      assert (between := parts_fit (first + t1) (last - t2) l first ordered (fun u member => proj1 (inside u member))).
      assert (0 <= sum (part (first + t1) (last - t2)) l) by (apply sum_nonneg; intros; apply part_nonneg).
      lia.
  Qed.
End Windows.

(** ** What memory holds at once *)

Lemma some_item_is_densest : forall l, l <> [] -> (forall i, In i l -> 0 < item_holds i) ->
  exists best, In best l /\ forall i, In i l -> item_work i * item_holds best <= item_work best * item_holds i.
Proof.
  intros l. induction l as [| x l IH]; intros some heavy; [contradiction |].
  destruct l as [| y l].
  { exists x. split; [left; reflexivity |]. intros i [same | []]. subst. lia. }
  destruct IH as [best [inside dense]]; [discriminate | intros i member; apply heavy; right; exact member |].
  assert (weight_best : 0 < item_holds best) by (apply heavy; right; exact inside).
  assert (weight_x : 0 < item_holds x) by (apply heavy; left; reflexivity).
  destruct (Z_lt_le_dec (item_work best * item_holds x) (item_work x * item_holds best)) as [denser | not_denser].
  - exists x. split; [left; reflexivity |]. intros i [same | member]; [subst; lia |].
    assert (weight_i : 0 < item_holds i) by (apply heavy; right; exact member).
    assert (below := dense i member). apply (Z.mul_le_mono_pos_r _ _ (item_holds best) weight_best).
    apply (Z.le_trans _ (item_work best * item_holds i * item_holds x)).
    + replace (item_work i * item_holds x * item_holds best) with (item_work i * item_holds best * item_holds x) by ring.
      apply Z.mul_le_mono_nonneg_r; [lia | exact below].
    + replace (item_work best * item_holds i * item_holds x) with (item_work best * item_holds x * item_holds i) by ring.
      replace (item_work x * item_holds i * item_holds best) with (item_work x * item_holds best * item_holds i) by ring.
      apply Z.mul_le_mono_nonneg_r; lia.
  - exists best. split; [right; exact inside |]. intros i [same | member]; [subst; exact not_denser | apply dense; exact member].
Qed.

(** Items that a memory holds at once carry no more work than [heavy_fill]. *)
Lemma heavy_fill_holds : forall limit heavy chosen, incl chosen heavy ->
  (forall i, In i heavy -> 0 <= item_work i /\ 0 < item_holds i) -> sum item_holds chosen <= limit ->
  sum item_work chosen <= heavy_fill limit heavy.
Proof.
  intros limit heavy chosen inside each room. unfold heavy_fill. destruct heavy as [| x heavy].
  { destruct chosen as [| i chosen]; [cbn; lia | destruct (inside i (or_introl eq_refl))]. }
  set (all := x :: heavy) in *. assert (some : all <> []) by discriminate.
  apply Z.min_glb; [| apply Z.min_glb].
  - destruct (some_item_is_densest all some) as [best [member dense]]; [intros i member; apply each; exact member |].
    destruct (each best member) as [work_best weight_best].
    apply (Z.le_trans _ (limit * item_work best / item_holds best)).
    + apply Z.div_le_lower_bound; [exact weight_best |]. rewrite <- sum_scale.
      apply (Z.le_trans _ (sum (fun i => item_work best * item_holds i) chosen)).
      * apply sum_le. intros i chosen_i. rewrite Z.mul_comm. apply dense. apply inside. exact chosen_i.
      * rewrite sum_scale, (Z.mul_comm limit). apply Z.mul_le_mono_nonneg_l; [exact work_best | exact room].
    + apply largest_above. exact (in_map (fun i => limit * item_work i / item_holds i) all best member).
  - set (longest := largest (map item_work all)).
    apply (Z.le_trans _ (longest * sum item_holds chosen)).
    + rewrite <- sum_scale. apply sum_le. intros i chosen_i. destruct (each i (inside i chosen_i)) as [work weight].
      assert (item_work i <= longest) by (apply largest_above; apply in_map; apply inside; exact chosen_i).
      apply (Z.le_trans _ (longest * 1)); [lia |]. apply Z.mul_le_mono_nonneg_l; lia.
    + rewrite (Z.mul_comm limit). apply Z.mul_le_mono_nonneg_l; [| exact room].
      destruct (each x (or_introl eq_refl)) as [work _].
      apply (Z.le_trans _ (item_work x)); [exact work |]. apply largest_above. apply in_map. left. reflexivity.
  - set (longest := largest (map item_work all)). set (lightest := least (map item_holds all)).
    assert (weight : 0 < lightest).
    { assert (found : In lightest (map item_holds all)) by (apply least_in; discriminate).
      apply in_map_iff in found. destruct found as [i [same member]]. rewrite <- same. apply each. exact member. }
    assert (0 <= longest).
    { destruct (each x (or_introl eq_refl)) as [work _].
      apply (Z.le_trans _ (item_work x)); [exact work |]. apply largest_above. apply in_map. left. reflexivity. }
    apply (Z.le_trans _ (Z.of_nat (length chosen) * longest)).
    + rewrite <- sum_constant. apply sum_le. intros i chosen_i. apply largest_above. apply in_map. apply inside. exact chosen_i.
    + apply Z.mul_le_mono_nonneg_r; [assumption |]. apply Z.div_le_lower_bound; [exact weight |].
      apply (Z.le_trans _ (sum item_holds chosen)); [| exact room].
      rewrite Z.mul_comm, <- sum_constant. apply sum_le. intros i chosen_i. apply least_below. apply in_map. apply inside.
      exact chosen_i.
Qed.

Lemma fill_holds : forall M d items all chosen, incl chosen items ->
  (forall i, In i items -> 0 <= item_work i /\ 0 <= item_holds i) ->
  (forall limit, capacity M d = Some limit -> sum item_holds chosen <= limit) ->
  sum item_work chosen <= all * Z.of_nat (microbatches M) ->
  sum item_work (filter is_free chosen) <= sum (fun i => item_work i * Z.of_nat (microbatches M)) (filter is_free items) ->
  sum item_work chosen <= fill M d items all.
Proof.
  intros M d items all chosen inside each room in_all free. unfold fill.
  destruct (capacity M d) as [limit |]; [| exact in_all]. apply Z.min_glb; [exact in_all |].
  specialize (room limit eq_refl).
  assert (parts : forall f, (forall i, In i chosen -> 0 <= f i) ->
    sum f chosen = sum f (filter is_free chosen) + sum f (filter is_heavy chosen)).
  { intros f _. rewrite !sum_filter, <- sum_add. apply sum_ext. intros i member.
    destruct (each i (inside i member)) as [_ weight]. unfold is_free, is_heavy.
    destruct (Z.eqb_spec (item_holds i) 0) as [zero | positive]; destruct (Z.ltb_spec 0 (item_holds i)); lia. }
  assert (works : forall l, incl l chosen -> 0 <= sum item_work l).
  { intros l part. apply sum_nonneg. intros i member. apply each. apply inside. apply part. exact member. }
  assert (split := parts item_work ltac:(intros i member; apply each; apply inside; exact member)).
  assert (weights := parts item_holds ltac:(intros i member; apply each; apply inside; exact member)).
  assert (0 <= sum item_work (filter is_free chosen)) by (apply works; apply incl_filter).
  assert (0 <= sum item_holds (filter is_free chosen)).
  { apply sum_nonneg. intros i member. apply filter_In in member. apply each. apply inside. apply member. }
  assert (heavy : sum item_work (filter is_heavy chosen) <= heavy_fill limit (filter is_heavy items)).
  { apply heavy_fill_holds; [| | lia].
    - intros i member. apply filter_In in member. apply filter_In. split; [apply inside |]; apply member.
    - intros i member. apply filter_In in member. destruct member as [member positive].
      split; [apply each; exact member | apply Z.ltb_lt; exact positive]. }
  lia.
Qed.

(** ** A device in a run *)

Section Device.
  Variable M : model.
  Variable order : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M order.
  Hypothesis Runs : runs M order start.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.
  Variable d : nat.
  Hypothesis Device : (d < devices M)%nat.
  Hypothesis Some_stage : stages_on M d <> [].

  Local Notation problem := (problem_of M).

  Lemma times_nonneg : forall k s, 0 <= time M k s.
  Proof. apply Well. Qed.

  Lemma durations_nonneg : forall p, 0 <= duration problem p.
  Proof. intros p. apply times_nonneg. Qed.

  Lemma ordered : one_at_a_time problem start (order d).
  Proof. exact (device_one_at_a_time M order start Well Runs d Device). Qed.

  Lemma latency_nonneg : forall s, 0 <= latency M s.
  Proof. apply Well. Qed.

  Lemma retained_within : forall s, 0 <= retained M s <= activation M s.
  Proof. apply Well. Qed.

  (** *** Its lowest and its highest stage *)

  Lemma head_of_filter : forall (chosen : nat -> bool) n a s, In s (filter chosen (seq a n)) ->
    (hd O (filter chosen (seq a n)) <= s)%nat.
  Proof.
    intros chosen n. induction n as [| n IH]; intros a s inside; [destruct inside |].
    cbn [seq filter] in *. destruct (chosen a); [| apply IH; exact inside]. cbn [hd].
    destruct inside as [same | inside]; [lia |]. apply filter_In in inside. destruct inside as [inside _].
    apply in_seq in inside. lia.
  Qed.

  Lemma lowest_on : In (lowest_stage M d) (stages_on M d).
  Proof. unfold lowest_stage. destruct (stages_on M d) as [| s rest]; [contradiction | left; reflexivity]. Qed.

  Lemma lowest_below : forall s, In s (stages_on M d) -> (lowest_stage M d <= s)%nat.
  Proof. intros s. apply head_of_filter. Qed.

  Lemma highest_above : forall s, In s (stages_on M d) -> (s <= highest_stage M d)%nat.
  Proof.
    intros s inside. unfold highest_stage. assert (all := proj1 (list_max_le (stages_on M d) _) (Nat.le_refl _)).
    rewrite Forall_forall in all. apply all. exact inside.
  Qed.

  Lemma list_max_in : forall l, l <> [] -> In (list_max l) l.
  Proof.
    intros l. induction l as [| x l IH]; intros some; [contradiction |]. cbn [list_max fold_right].
    fold (list_max l). destruct l as [| y l]; [left; cbn; lia |].
    destruct (Nat.max_dec x (list_max (y :: l))) as [same | same]; rewrite same; [left; reflexivity |].
    right. apply IH. discriminate.
  Qed.

  Lemma highest_on : In (highest_stage M d) (stages_on M d).
  Proof. apply list_max_in. exact Some_stage. Qed.

  Lemma inside_of_on : forall s, In s (stages_on M d) -> (s < stages M)%nat.
  Proof. intros s on. apply in_stages_on in on. apply on. Qed.

  (** *** Heads grow and tails shrink towards higher stages *)

  Lemma forward_head_grows : forall s t, (s <= t)%nat -> forward_head M s <= forward_head M t.
  Proof.
    intros s t below. induction below as [| t below IH]; [lia |]. cbn [forward_head].
    pose proof (times_nonneg F t). pose proof (latency_nonneg t). lia.
  Qed.

  Lemma forward_end_grows : forall s t, (s <= t)%nat ->
    forward_head M s + time M F s <= forward_head M t + time M F t.
  Proof.
    intros s t below. destruct (Nat.eq_dec s t) as [same | other]; [subst; lia |].
    assert (grows := forward_head_grows (S s) t ltac:(lia)). cbn [forward_head] in grows.
    pose proof (times_nonneg F t). pose proof (latency_nonneg s). lia.
  Qed.

  Lemma input_head_shrinks : forall s t, (s <= t)%nat -> (t < stages M)%nat -> input_head M t <= input_head M s.
  Proof.
    intros s t below. induction below as [| t below IH]; intros inside; [lia |].
    assert (here := IH ltac:(lia)). rewrite (input_head_step M t inside) in here.
    pose proof (times_nonneg I (S t)). pose proof (latency_nonneg t). lia.
  Qed.

  Lemma forward_tail_shrinks : forall s t, (s <= t)%nat -> (t < stages M)%nat -> forward_tail M t <= forward_tail M s.
  Proof.
    intros s t below. induction below as [| t below IH]; intros inside; [lia |].
    assert (here := IH ltac:(lia)). rewrite (forward_tail_step M t inside) in here.
    pose proof (times_nonneg F (S t)). pose proof (latency_nonneg t). lia.
  Qed.

  (** *** Its order *)

  Lemma forward_first : forall p, In p (order d) -> start (Pass F (stage_of p) (microbatch_of p)) <= start p.
  Proof.
    intros [k s m] member. cbn [stage_of microbatch_of].
    destruct (stage_of_order M order Complete d Device _ member) as [on range]. cbn [stage_of microbatch_of] in on, range.
    assert (inside := inside_of_on s on). assert (chain := input_after_forward M order start Well Runs m range s s inside inside).
    assert (chain_w := weight_after_input M order start Well Runs m range s inside).
    assert (ahead : forward_head M s <= input_head M s).
    { pose proof (positive_stages M Well). assert (last : (s <= last_stage M)%nat) by (unfold last_stage; lia).
      apply (Z.le_trans _ (forward_head M (last_stage M))); [apply forward_head_grows; exact last |].
      apply (Z.le_trans _ (input_head M (last_stage M))).
      - rewrite input_head_last. pose proof (times_nonneg F (last_stage M)). lia.
      - apply input_head_shrinks; [exact last | unfold last_stage; lia]. }
    pose proof (times_nonneg I s). destruct k; lia.
  Qed.

  Lemma some_pass : exists p rest, order d = p :: rest.
  Proof.
    assert (member := in_order_stage M order Complete d Device F _ O lowest_on Some_microbatch).
    destruct (order d) as [| p rest]; [destruct member | exists p, rest; reflexivity].
  Qed.

  Lemma first_pass_first : forall p rest, order d = p :: rest -> forall q, In q (order d) -> start p <= start q.
  Proof.
    intros p rest shape q member. assert (one := ordered). rewrite shape in member, one. destruct one as [each _].
    destruct member as [same | later]; [subst; lia |]. specialize (each q later). pose proof (durations_nonneg p). lia.
  Qed.

  (** What a device holds behind a forward, or at the beginning, fits into its memory. *)
  Lemma kept_fits : within_capacity M order -> forall front rest limit, capacity M d = Some limit -> order d = front ++ rest ->
    (front = [] \/ exists before p, front = before ++ [p] /\ is_forward p = true) -> kept M front <= limit.
  Proof.
    intros within front rest limit capacity_d shape [nothing | [before [p [last forward]]]].
    - subst front. destruct some_pass as [p [behind begins]].
      assert (fits := within d limit Device capacity_d [] p behind begins). unfold held, kept in *. cbn [sum] in *.
      assert (0 <= acquires M p).
      { unfold acquires. pose proof (retained_within (stage_of p)). destruct (kind_of p); lia. }
      lia.
    - subst front. rewrite <- app_assoc in shape. assert (fits := within d limit Device capacity_d before p rest shape).
      unfold held, kept in *. rewrite sum_app. cbn [sum]. unfold is_forward in forward.
      assert (releases M p = 0) by (unfold releases; destruct (kind_of p); congruence). lia.
  Qed.

  (** A sum over forwards that does not depend on the microbatch. *)
  Lemma sum_of_forwards : forall (f : nat -> Z) front rest, order d = front ++ rest -> (forall s, 0 <= f s) ->
    (forall p, In p front -> is_forward p = true) ->
    sum (fun p => f (stage_of p)) front <= sum f (stages_on M d) * Z.of_nat (microbatches M).
  Proof.
    intros f front rest shape nonneg forward. set (g := fun p => if is_forward p then f (stage_of p) else 0).
    assert (g_nonneg : forall p, 0 <= g p) by (intros p; unfold g; destruct (is_forward p); [apply nonneg | lia]).
    apply (Z.le_trans _ (sum g front)).
    { apply sum_le. intros p member. unfold g. rewrite (forward p member). lia. }
    apply (Z.le_trans _ (sum g (order d))).
    { rewrite shape, sum_app. assert (0 <= sum g rest) by (apply sum_nonneg; auto). lia. }
    rewrite (sum_over_order M order Complete d Device), Z.mul_comm, <- sum_scale. apply Z.eq_le_incl.
    apply sum_ext. intros s _. rewrite (sum_ext _ (fun _ => f s)); [rewrite sum_constant, seq_length; reflexivity |].
    intros m _. unfold of_microbatch, g. cbn [is_forward kind_of stage_of]. ring.
  Qed.

  (** The forwards before the first backward are no more than its memory holds. *)
  Theorem forwards_fit : within_capacity M order -> forall first t,
    (forall s m, In s (stages_on M d) -> (m < microbatches M)%nat -> first + t <= start (Pass I s m)) ->
    sum (part problem start first (first + t)) (order d) <= forward_fill M d.
  Proof.
    intros within first t late.
    destruct (split_at_first (fun p => negb (is_forward p)) (order d)) as [front [rest [shape [none begins]]]].
    assert (forward : forall p, In p front -> is_forward p = true).
    { intros p member. apply negb_false_iff. apply none. exact member. }
    assert (on_device : forall p, In p front -> In (stage_of p) (stages_on M d)).
    { intros p member. apply (stage_of_order M order Complete d Device). rewrite shape, in_app_iff. left. exact member. }
    rewrite shape, sum_app.
    assert (behind : sum (part problem start first (first + t)) rest = 0).
    { rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_constant; ring |].
      intros p member. apply part_behind; [apply durations_nonneg |].
      destruct begins as [nothing | [q [others [nonempty backward]]]]; [subst; destruct member |].
      assert (in_order_q : In q (order d)).
      { rewrite shape, in_app_iff. right. rewrite nonempty. left. reflexivity. }
      assert (late_q : first + t <= start q).
      { destruct (stage_of_order M order Complete d Device q in_order_q) as [on range].
        assert (input := late _ _ on range).
        assert (weight := weight_after_input M order start Well Runs _ range _ (inside_of_on _ on)).
        pose proof (times_nonneg I (stage_of q)). destruct q as [k s m]. cbn [stage_of microbatch_of] in *.
        destruct k; [discriminate backward | lia | lia]. }
      subst rest. destruct member as [same | later]; [subst; exact late_q |].
      destruct (one_at_a_time_split problem start (order d) front q others ordered shape) as [each _].
      specialize (each p later). pose proof (durations_nonneg q). lia. }
    rewrite behind, Z.add_0_r.
    apply (Z.le_trans _ (sum (duration problem) front)).
    { apply sum_le. intros p _. apply part_of_duration. apply durations_nonneg. }
    set (chosen := map (fun p => forward_item M (stage_of p)) front).
    assert (same : sum (duration problem) front = sum item_work chosen).
    { unfold chosen. rewrite sum_map. apply sum_ext. intros p member. specialize (forward p member).
      unfold is_forward in forward. cbn. unfold time_of. destruct (kind_of p); congruence. }
    rewrite same. unfold forward_fill. apply fill_holds.
    - intros i member. unfold chosen in member. apply in_map_iff in member. destruct member as [p [item_p member]].
      subst i. apply in_map. apply on_device. exact member.
    - intros i member. apply in_map_iff in member. destruct member as [s [item_s member]]. subst i. cbn.
      pose proof (times_nonneg F s). pose proof (retained_within s). lia.
    - intros limit capacity_d. apply (Z.le_trans _ (kept M front)).
      + unfold chosen, kept. rewrite sum_map. apply sum_le. intros p member. specialize (forward p member).
        unfold is_forward in forward. unfold acquires, releases. cbn. destruct (kind_of p); [lia | discriminate | discriminate].
      + apply (kept_fits within front rest limit capacity_d shape).
        destruct front as [| p others]; [left; reflexivity |]. right.
        destruct (exists_last (l := p :: others)) as [before [q last]]; [discriminate |].
        exists before, q. split; [exact last |]. apply forward. rewrite last, in_app_iff. right. left. reflexivity.
    - unfold chosen. rewrite sum_map. apply (sum_of_forwards (time M F) front rest shape (times_nonneg F) forward).
    - unfold chosen. rewrite !sum_filter, !sum_map.
      apply (Z.le_trans _ (sum (fun s => if is_free (forward_item M s) then time M F s else 0) (stages_on M d)
        * Z.of_nat (microbatches M))).
      + apply (sum_of_forwards (fun s => if is_free (forward_item M s) then time M F s else 0) front rest shape);
          [| exact forward].
        intros s. destruct (is_free (forward_item M s)); [apply times_nonneg | lia].
      + rewrite Z.mul_comm, <- sum_scale. apply sum_le. intros s _. destruct (is_free (forward_item M s)); cbn; lia.
  Qed.

  (** *** Behind the last forward *)

  (** What is left of a microbatch on a stage: its whole backward, its W alone, or nothing. *)
  Definition left_over (rest : list pass) (s m : nat) : list item :=
    if listed rest (Pass I s m) then [backward_item M s]
    else if listed rest (Pass W s m) then [weight_item M s]
    else [].

  (** The backwards behind the last forward are no more than its memory holds. *)
  Theorem backwards_fit : within_capacity M order -> forall last t,
    (forall s m, In s (stages_on M d) -> (m < microbatches M)%nat -> start (Pass F s m) + time M F s <= last - t) ->
    sum (part problem start (last - t) last) (order d) <= backward_fill M d.
  Proof.
    intros within last t early.
    destruct (split_at_last is_forward (order d)) as [front [rest [shape [none ends]]]].
    rewrite shape, sum_app.
    assert (before : sum (part problem start (last - t) last) front = 0).
    { rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_constant; ring |].
      intros p member. apply part_before.
      destruct ends as [nothing | [others [q [nonempty forward]]]]; [subst; destruct member |].
      assert (split : order d = others ++ q :: rest) by (rewrite shape, nonempty, <- app_assoc; reflexivity).
      assert (early_q : start q + duration problem q <= last - t).
      { assert (in_order_q : In q (order d)) by (rewrite split, in_app_iff; right; left; reflexivity).
        destruct (stage_of_order M order Complete d Device q in_order_q) as [on range].
        destruct q as [k s m]. cbn [stage_of microbatch_of] in *. destruct k; [| discriminate | discriminate].
        exact (early s m on range). }
      rewrite nonempty, in_app_iff in member. destruct member as [member | [same | []]]; [| subst; exact early_q].
      destruct (one_at_a_time_split problem start (order d) others q rest ordered split) as [_ each].
      specialize (each p member). pose proof (durations_nonneg q). lia. }
    rewrite before, Z.add_0_l.
    apply (Z.le_trans _ (sum (duration problem) rest)).
    { apply sum_le. intros p _. apply part_of_duration. apply durations_nonneg. }
    set (chosen := flat_map (fun s => flat_map (left_over rest s) (seq 0 (microbatches M))) (stages_on M d)).
    destruct (proj2 Runs) as [place sequence_place].
    assert (in_rest : forall p, In p rest -> In p (order d)) by (intros p member; rewrite shape, in_app_iff; right; exact member).
    assert (once : NoDup rest).
    { assert (all := proj1 (Complete d Device)). rewrite shape in all. exact (no_dup_suffix _ _ all). }
    assert (no_forward : forall s m, listed rest (Pass F s m) = false).
    { intros s m. destruct (listed rest (Pass F s m)) eqn:found; [| reflexivity].
      apply listed_iff in found. specialize (none _ found). discriminate none. }
    assert (with_weight : forall s m, In s (stages_on M d) -> (m < microbatches M)%nat ->
      listed rest (Pass I s m) = true -> listed rest (Pass W s m) = true).
    { intros s m on range found. apply listed_iff. apply listed_iff in found.
      apply (behind_place M order place sequence_place d Device front rest (Pass I s m) (Pass W s m) shape found).
      - exact (in_order_stage M order Complete d Device W s m on range).
      - apply (input_before_weight M order Well m range place sequence_place s (inside_of_on s on)). }
    (* A sum over what is left is a sum over its items. *)
    assert (sums : forall (f : pass -> Z) (g : item -> Z),
      (forall s m, f (Pass I s m) + f (Pass W s m) = g (backward_item M s)) ->
      (forall s m, f (Pass W s m) = g (weight_item M s)) -> sum f rest = sum g chosen).
    { intros f g whole part_only. rewrite (sum_over_some M order Complete d Device f rest once in_rest).
      unfold chosen. rewrite sum_flat_map. apply sum_ext. intros s on. rewrite sum_flat_map. apply sum_ext.
      intros m range. apply in_seq in range. unfold of_microbatch, left_over. rewrite no_forward.
      destruct (listed rest (Pass I s m)) eqn:found.
      - rewrite (with_weight s m on ltac:(lia) found). cbn [sum]. rewrite <- (whole s m). ring.
      - destruct (listed rest (Pass W s m)); cbn [sum]; [rewrite (part_only s m); ring | ring]. }
    (* A sum over items is at most a sum over stages. *)
    assert (bounded : forall (g : item -> Z) (h : nat -> Z),
      (forall s, g (backward_item M s) <= h s /\ g (weight_item M s) <= h s /\ 0 <= h s) ->
      sum g chosen <= sum h (stages_on M d) * Z.of_nat (microbatches M)).
    { intros g h each. unfold chosen. rewrite sum_flat_map, Z.mul_comm, <- sum_scale. apply sum_le. intros s _.
      rewrite sum_flat_map. apply (Z.le_trans _ (sum (fun _ : nat => h s) (seq 0 (microbatches M)))).
      - apply sum_le. intros m _. destruct (each s) as [whole [part_only nonneg]]. unfold left_over.
        destruct (listed rest (Pass I s m)); [cbn [sum]; lia |]. destruct (listed rest (Pass W s m)); cbn [sum]; lia.
      - rewrite sum_constant, seq_length. lia. }
    rewrite (sums (duration problem) item_work); [| intros s m; cbn; reflexivity | intros s m; cbn; reflexivity].
    unfold backward_fill. apply fill_holds.
    - intros i member. unfold chosen in member. apply in_flat_map in member. destruct member as [s [on member]].
      apply in_flat_map in member. destruct member as [m [range member]]. apply in_flat_map. exists s. split; [exact on |].
      unfold left_over in member. destruct (listed rest (Pass I s m)).
      + destruct member as [same | []]. left. exact same.
      + destruct (listed rest (Pass W s m)); [| destruct member]. destruct member as [same | []]. right. left. exact same.
    - intros i member. apply in_flat_map in member. destruct member as [s [on [same | [same | []]]]]; subst i; cbn;
        pose proof (times_nonneg I s); pose proof (times_nonneg W s); pose proof (retained_within s); lia.
    - intros limit capacity_d. apply (Z.le_trans _ (kept M front)).
      + assert (all := nothing_left M order Complete d Device). unfold kept in *. rewrite shape, sum_app in all.
        assert (rest_kept : sum (fun p => acquires M p - releases M p) rest = sum (fun i => - 1 * item_holds i) chosen).
        { apply sums; intros s m; unfold acquires, releases, backward_item, weight_item; cbn [kind_of stage_of item_holds]; ring. }
        rewrite sum_scale in rest_kept. lia.
      + exact (kept_fits within front rest limit capacity_d shape ends).
    - apply bounded. intros s. cbn. pose proof (times_nonneg I s). pose proof (times_nonneg W s). lia.
    - rewrite sum_filter. apply (Z.le_trans _ (sum (fun s => (if is_free (backward_item M s) then time M I s + time M W s else 0)
        + (if is_free (weight_item M s) then time M W s else 0)) (stages_on M d) * Z.of_nat (microbatches M))).
      + apply bounded. intros s. pose proof (times_nonneg I s). pose proof (times_nonneg W s).
        destruct (is_free (backward_item M s)), (is_free (weight_item M s)); cbn; lia.
      + rewrite sum_filter, sum_flat_map, Z.mul_comm, <- sum_scale. apply sum_le. intros s _. cbn [sum].
        destruct (is_free (backward_item M s)), (is_free (weight_item M s)); cbn; lia.
  Qed.

  (** *** What the heads and tails say about the span *)

  Lemma head_nonneg : forall goal, 0 <= head M goal d.
  Proof. intros [|]; cbn [head]; [exact (forward_head_grows O (lowest_stage M d) (Nat.le_0_l _)) | lia]. Qed.

  Lemma weights_end : forall x, makespan_at_most M order start x -> forall m, (m < microbatches M)%nat ->
    forall t, (t < stages M)%nat -> start (Pass W t m) + time M W t <= x.
  Proof.
    intros x ended m range t inside. assert (device_t : (device_of M t < devices M)%nat) by (apply Well; exact inside).
    apply (ended (device_of M t) device_t (Pass W t m)). apply Complete; [exact device_t |]. unfold exists_in. cbn. auto.
  Qed.

  (** The span, from [first] to [first + x], with all that the windows use. *)
  Lemma frame : forall goal x, at_most_on M order start goal d x -> exists first,
    (forall p, In p (order d) -> first + head M goal d <= start p /\ start p + duration problem p <= first + x) /\
    (forall s m, In s (stages_on M d) -> (m < microbatches M)%nat ->
      first + to_first_input M goal d <= start (Pass I s m) /\
      start (Pass F s m) + time M F s <= first + x - from_last_forward M goal d /\
      start (Pass I s m) + time M I s + after_last_input M goal d <= first + x).
  Proof.
    intros [|] x bounded; cbn [at_most_on head to_first_input from_last_forward after_last_input] in *.
    - exists 0. split.
      + intros p member. split; [| exact (bounded d Device p member)].
        destruct (stage_of_order M order Complete d Device p member) as [on range].
        assert (grows := forward_head_grows _ _ (lowest_below _ on)). assert (earlier := forward_first p member).
        assert (begins := forward_not_before_head M order start Well Runs _ range _ (inside_of_on _ on)). lia.
      + intros s m on range. assert (inside := inside_of_on s on). assert (ended := weights_end x bounded m range).
        assert (in_highest := inside_of_on _ highest_on). assert (above := highest_above s on).
        assert (begins := input_not_before_head M order start Well Runs m range s inside).
        assert (forward_ends := forward_tail_follows M order start Well Runs m range x s ended inside).
        assert (input_ends := input_tail_follows M order start Well Runs m range x s ended inside).
        assert (head_shrinks := input_head_shrinks s _ above in_highest).
        assert (tail_shrinks := forward_tail_shrinks s _ above in_highest).
        assert (below : least (map (input_tail M) (stages_on M d)) <= input_tail M s).
        { apply least_below. apply in_map. exact on. }
        repeat split; lia.
    - destruct some_pass as [p [rest shape]]. exists (start p).
      assert (all_after := first_pass_first p rest shape).
      assert (in_p : In p (order d)) by (rewrite shape; left; reflexivity).
      assert (all_before : forall q, In q (order d) -> start q + duration problem q <= start p + x).
      { intros q member. assert (span := bounded p q in_p member). change (time_of M q) with (duration problem q) in span. lia. }
      split.
      + intros q member. split; [specialize (all_after q member); lia | exact (all_before q member)].
      + intros s m on range. assert (inside := inside_of_on s on).
        assert (in_highest := inside_of_on _ highest_on). assert (above := highest_above s on).
        assert (in_lowest := inside_of_on _ lowest_on).
        assert (begins := all_after _ (in_order_stage M order Complete d Device F _ m lowest_on range)).
        assert (chain := input_after_forward M order start Well Runs m range _ s in_lowest inside).
        assert (head_shrinks := input_head_shrinks s _ above in_highest).
        split; [lia |]. split.
        * assert (found : In (largest (map (forward_to_weight M (highest_stage M d)) (stages_on M d)))
            (map (forward_to_weight M (highest_stage M d)) (stages_on M d))).
          { apply largest_in. intros nothing. apply map_eq_nil in nothing. exact (Some_stage nothing). }
          apply in_map_iff in found. destruct found as [to [same on_to]]. rewrite <- same. unfold forward_to_weight.
          assert (inside_to := inside_of_on to on_to).
          assert (up := input_after_forward M order start Well Runs m range s to inside inside_to).
          assert (weight := weight_after_input M order start Well Runs m range to inside_to).
          assert (ends := all_before _ (in_order_stage M order Complete d Device W to m on_to range)).
          change (duration problem (Pass W to m)) with (time M W to) in ends.
          assert (ends_grow := forward_end_grows s _ above). lia.
        * assert (weight := weight_after_input M order start Well Runs m range s inside).
          assert (ends := all_before _ (in_order_stage M order Complete d Device W s m on range)).
          change (duration problem (Pass W s m)) with (time M W s) in ends.
          assert (below : least (map (time M W) (stages_on M d)) <= time M W s).
          { apply least_below. apply in_map. exact on. }
          lia.
  Qed.

  (** *** Work *)

  Theorem work_on_device : forall goal x, at_most_on M order start goal d x -> work_bound M goal d <= x.
  Proof.
    intros goal x bounded. destruct (frame goal x bounded) as [first [inside _]].
    destruct some_pass as [p [rest shape]].
    assert (in_p : In p (order d)) by (rewrite shape; left; reflexivity).
    assert (fits := work_fits problem start (order d) (fun _ => true) (first + head M goal d) (first + x) ordered).
    assert (all : filter (fun _ : pass => true) (order d) = order d).
    { clear. induction (order d) as [| q l IH]; cbn; [reflexivity | rewrite IH; reflexivity]. }
    rewrite all, (order_takes_work M order Complete d Device) in fits. unfold work_bound.
    enough (first + head M goal d + device_work M d <= first + x) by lia. apply fits.
    - destruct (inside p in_p) as [begins ends]. pose proof (durations_nonneg p). lia.
    - intros q member _. exact (inside q member).
  Qed.

  (** *** Chain *)

  Definition is_weight (p : pass) : bool := match kind_of p with W => true | _ => false end.

  (** Behind the last I of a device come only Ws. *)
  Lemma last_input : exists s m, In s (stages_on M d) /\ (m < microbatches M)%nat /\
    forall p, In p (order d) -> is_weight p = false ->
      start p + duration problem p <= start (Pass I s m) + time M I s.
  Proof.
    destruct (split_at_last (fun p => negb (is_weight p)) (order d)) as [front [rest [shape [none ends]]]].
    assert (weights : forall p, In p rest -> is_weight p = true).
    { intros p member. apply negb_false_iff. apply none. exact member. }
    assert (member_f := in_order_stage M order Complete d Device F _ O lowest_on Some_microbatch).
    destruct ends as [nothing | [others [p [nonempty chosen]]]].
    { subst front. cbn in shape. rewrite shape in member_f. specialize (weights _ member_f). discriminate weights. }
    assert (split : order d = others ++ p :: rest) by (rewrite shape, nonempty, <- app_assoc; reflexivity).
    assert (in_p : In p (order d)) by (rewrite split, in_app_iff; right; left; reflexivity).
    destruct (stage_of_order M order Complete d Device p in_p) as [on range].
    assert (input : kind_of p = I).
    { destruct p as [k s m]. cbn [stage_of microbatch_of kind_of] in *. destruct k; [| reflexivity | discriminate chosen].
      destruct (proj2 Runs) as [place sequence_place].
      assert (earlier := forward_before_input M order Well m range place sequence_place s s
        (inside_of_on s on) (inside_of_on s on)).
      assert (in_front : In (Pass F s m) front) by (rewrite nonempty, in_app_iff; right; left; reflexivity).
      assert (in_i := in_order_stage M order Complete d Device I s m on range).
      rewrite split, in_app_iff in in_i. destruct in_i as [ahead | [same | behind]].
      - assert (later := placed_in_order M order place sequence_place d Device others (Pass F s m :: rest) (Pass I s m)
          (Pass F s m) split ahead (or_introl eq_refl)). lia.
      - discriminate same.
      - specialize (weights _ behind). discriminate weights. }
    exists (stage_of p), (microbatch_of p). split; [exact on |]. split; [exact range |].
    assert (last : Pass I (stage_of p) (microbatch_of p) = p) by (destruct p; cbn in *; subst; reflexivity).
    assert (end_p : start p + duration problem p = start (Pass I (stage_of p) (microbatch_of p)) + time M I (stage_of p)).
    { rewrite last. cbn. unfold time_of. rewrite input. reflexivity. }
    rewrite <- end_p. intros q member no_weight. rewrite split, in_app_iff in member.
    destruct member as [ahead | [same | behind]].
    - destruct (one_at_a_time_split problem start (order d) others p rest ordered split) as [_ each].
      specialize (each q ahead). pose proof (durations_nonneg p). lia.
    - subst q. lia.
    - rewrite (weights q behind) in no_weight. discriminate no_weight.
  Qed.

  Lemma takes_without_weights :
    sum (duration problem) (filter (fun p => negb (is_weight p)) (order d)) = work_without_weights M d.
  Proof.
    rewrite sum_filter, (sum_over_order M order Complete d Device). unfold work_without_weights, device_work.
    rewrite <- Z.mul_sub_distr_r.
    assert (less : sum (stage_work M) (stages_on M d) - sum (time M W) (stages_on M d)
      = sum (fun s => time M F s + time M I s) (stages_on M d)).
    { rewrite <- (Z.add_simpl_r (sum (fun s => time M F s + time M I s) (stages_on M d)) (sum (time M W) (stages_on M d))).
      f_equal. rewrite <- sum_add. apply sum_ext. intros s _. unfold stage_work. ring. }
    rewrite less, Z.mul_comm, <- sum_scale. apply sum_ext. intros s _.
    rewrite (sum_ext _ (fun _ => time M F s + time M I s)); [rewrite sum_constant, seq_length; reflexivity |].
    intros m _. unfold of_microbatch. cbn. unfold time_of. cbn. ring.
  Qed.

  Theorem chain_on_device : forall goal x, at_most_on M order start goal d x -> chain_bound M goal d <= x.
  Proof.
    intros goal x bounded. destruct (frame goal x bounded) as [first [inside stages_inside]].
    destruct last_input as [s [m [on [range last]]]]. destruct (stages_inside s m on range) as [_ [_ follows_last]].
    assert (in_i := in_order_stage M order Complete d Device I s m on range). destruct (inside _ in_i) as [begins _].
    pose proof (times_nonneg I s).
    assert (fits := work_fits problem start (order d) (fun p => negb (is_weight p)) (first + head M goal d)
      (start (Pass I s m) + time M I s) ordered).
    rewrite takes_without_weights in fits. unfold chain_bound.
    enough (first + head M goal d + work_without_weights M d <= start (Pass I s m) + time M I s) by lia. apply fits.
    - lia.
    - intros p member chosen. split; [apply inside; exact member |]. apply last; [exact member |].
      apply negb_true_iff. exact chosen.
  Qed.

  (** *** Windows *)

  Lemma first_window_holds : within_capacity M order -> forall goal x first w,
    (forall p, In p (order d) -> first + head M goal d <= start p /\ start p + duration problem p <= first + x) ->
    (forall s m, In s (stages_on M d) -> (m < microbatches M)%nat -> first + to_first_input M goal d <= start (Pass I s m)) ->
    In w (first_windows M goal d) -> sum (part problem start first (first + window_length w)) (order d) <= window_work w.
  Proof.
    intros within goal x first w inside late [same | [same | []]]; subst w; cbn [window_length window_work].
    - rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_constant; lia |]. intros p member.
      apply part_behind; [apply durations_nonneg | apply inside; exact member].
    - apply Z.min_glb; [apply forwards_fit; assumption |].
      assert (fits := parts_fit problem start durations_nonneg first (first + to_first_input M goal d) (order d)
        (first + head M goal d) ordered (fun p member => proj1 (inside p member))).
      assert (positive : head M goal d <= to_first_input M goal d).
      { assert (ahead : forward_head M (lowest_stage M d) <= input_head M (highest_stage M d)).
        { pose proof (inside_of_on _ highest_on) as in_highest. pose proof (lowest_below _ highest_on) as below.
          apply (Z.le_trans _ (input_head M (last_stage M))); [| apply input_head_shrinks; unfold last_stage; lia].
          rewrite input_head_last. pose proof (times_nonneg F (last_stage M)).
          assert (forward_head M (lowest_stage M d) <= forward_head M (last_stage M)); [| lia].
          apply forward_head_grows. unfold last_stage. lia. }
        destruct goal; cbn [head to_first_input]; lia. }
      pose proof (head_nonneg goal). lia.
  Qed.

  Lemma last_window_holds : within_capacity M order -> forall goal last w,
    (forall p, In p (order d) -> start p + duration problem p <= last) ->
    (forall s m, In s (stages_on M d) -> (m < microbatches M)%nat ->
      start (Pass F s m) + time M F s <= last - from_last_forward M goal d) ->
    In w (last_windows M goal d) -> sum (part problem start (last - window_length w) last) (order d) <= window_work w.
  Proof.
    intros within goal last w inside early [same | [same | []]]; subst w; cbn [window_length window_work].
    - rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_constant; lia |]. intros p member. unfold part. lia.
    - apply Z.min_glb; [apply backwards_fit; assumption |].
      destruct some_pass as [p [rest shape]].
      assert (fits := parts_fit problem start durations_nonneg (last - from_last_forward M goal d) last (order d)
        (start p) ordered (first_pass_first p rest shape)).
      assert (positive : 0 <= from_last_forward M goal d).
      { destruct goal; cbn [from_last_forward].
        - assert (tails : forall s, 0 <= input_tail M s).
          { intros s. pose proof (times_nonneg W s). destruct s; cbn [input_tail]; lia. }
          pose proof (inside_of_on _ highest_on) as in_highest.
          apply (Z.le_trans _ (forward_tail M (last_stage M))); [| apply forward_tail_shrinks; unfold last_stage; lia].
          rewrite forward_tail_last. pose proof (times_nonneg I (last_stage M)). pose proof (tails (last_stage M)). lia.
        - apply (Z.le_trans _ (forward_to_weight M (highest_stage M d) (highest_stage M d))).
          + unfold forward_to_weight. pose proof (inside_of_on _ highest_on) as in_highest.
            pose proof (times_nonneg I (highest_stage M d)). pose proof (times_nonneg W (highest_stage M d)).
            assert (grows := forward_end_grows (highest_stage M d) (last_stage M) ltac:(unfold last_stage; lia)).
            assert (shrinks := input_head_shrinks (highest_stage M d) (last_stage M) ltac:(unfold last_stage; lia)
              ltac:(unfold last_stage; lia)).
            rewrite input_head_last in shrinks. lia.
          + apply largest_above. apply in_map. exact highest_on. }
      lia.
  Qed.

  Theorem windows_on_device : within_capacity M order -> forall goal x value, at_most_on M order start goal d x ->
    In value (windows_bounds M goal d) -> value <= x.
  Proof.
    intros within goal x value bounded member. destruct (frame goal x bounded) as [first [inside stages_inside]].
    unfold windows_bounds in member. apply in_flat_map in member. destruct member as [w1 [in_first member]].
    apply in_map_iff in member. destruct member as [w2 [same member]]. apply filter_In in member.
    destruct member as [in_last apart]. apply Z.ltb_lt in apart. subst value. unfold windows_formula, window_idle.
    assert (work := order_takes_work M order Complete d Device). rewrite <- work in apart. rewrite <- work.
    enough (sum (duration problem) (order d) + (window_length w1 - window_work w1) + (window_length w2 - window_work w2)
      <= first + x - first) by lia.
    apply windows_add_up with (start := start).
    - exact durations_nonneg.
    - exact ordered.
    - intros p member. destruct (inside p member). pose proof (head_nonneg goal). lia.
    - apply (first_window_holds within goal x first w1 inside); [| exact in_first].
      intros s m on range. apply stages_inside; assumption.
    - apply (last_window_holds within goal (first + x) w2); [apply inside | | exact in_last].
      intros s m on range. apply stages_inside; assumption.
    - exact apart.
  Qed.
End Device.

(** ** The theorems *)

Section Bounds.
  Variable M : model.
  Variable order : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M order.
  Hypothesis Runs : runs M order start.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.

  Lemma first_stage_on_its_device : exists d, (d < devices M)%nat /\ In O (stages_on M d).
  Proof.
    destruct Well as [positive [placed _]]. exists (device_of M O). split; [apply placed; exact positive |].
    apply in_stages_on. auto.
  Qed.

  Lemma objective_nonneg : forall goal x, at_most M order start goal x -> 0 <= x.
  Proof.
    intros goal x bounded. destruct first_stage_on_its_device as [d [device on]].
    assert (member := in_order_stage M order Complete d device F O O on Some_microbatch).
    assert (length : 0 <= time M F O) by (apply Well). assert (begin := start_nonneg M order start Runs (Pass F O O)).
    destruct goal; cbn [at_most] in bounded.
    - assert (ends := bounded d device _ member). cbn in ends. unfold time_of in ends. cbn in ends. lia.
    - assert (span := bounded d device _ _ member member). unfold time_of in span. cbn in span. lia.
  Qed.

  Lemma at_most_each : forall goal x d, (d < devices M)%nat -> at_most M order start goal x ->
    at_most_on M order start goal d x.
  Proof. intros [|] x d device bounded; cbn in *; auto. Qed.

  (** A single microbatch takes this long to pass through all stages and back. *)
  Theorem alone_holds : forall x, makespan_at_most M order start x -> alone M <= x.
  Proof.
    intros x ended. assert (ended_w : forall t, (t < stages M)%nat -> start (Pass W t O) + time M W t <= x).
    { intros t inside. assert (device_t : (device_of M t < devices M)%nat) by (apply Well; exact inside).
      apply (ended _ device_t (Pass W t O)). apply Complete; [exact device_t |]. unfold exists_in. cbn. auto. }
    assert (chain := forward_tail_follows M order start Well Runs O Some_microbatch x O ended_w ltac:(apply Well)).
    assert (begin := start_nonneg M order start Runs (Pass F O O)). unfold alone. lia.
  Qed.

  (** A device runs all its passes, behind the least time in which a microbatch can reach it. *)
  Theorem work_holds : forall goal d x, (d < devices M)%nat -> at_most M order start goal x -> work_bound M goal d <= x.
  Proof.
    intros goal d x device bounded. destruct (stages_on M d) as [| s rest] eqn:found.
    - assert (nonneg := objective_nonneg goal x bounded). unfold work_bound, device_work, head, lowest_stage.
      rewrite found. destruct goal; cbn; lia.
    - apply (work_on_device M order start Well Complete Runs Some_microbatch d device); [congruence |].
      apply at_most_each; assumption.
  Qed.

  (** A device runs all its Fs and Is, and at least the shortest of all that can follow its last I comes after. *)
  Theorem chain_holds : forall goal d x, (d < devices M)%nat -> at_most M order start goal x -> chain_bound M goal d <= x.
  Proof.
    intros goal d x device bounded. destruct (stages_on M d) as [| s rest] eqn:found.
    - assert (nonneg := objective_nonneg goal x bounded).
      unfold chain_bound, work_without_weights, device_work, head, lowest_stage, after_last_input.
      rewrite found. destruct goal; cbn; lia.
    - apply (chain_on_device M order start Well Complete Runs Some_microbatch d device); [congruence |].
      apply at_most_each; assumption.
  Qed.

  (** Within its memory, a device does only so much in its first and in its last window. *)
  Theorem windows_hold : within_capacity M order -> forall goal d x, (d < devices M)%nat -> at_most M order start goal x ->
    windows_bound M goal d <= x.
  Proof.
    intros within goal d x device bounded. unfold windows_bound. destruct (stages_on M d) as [| s rest] eqn:found.
    - exact (objective_nonneg goal x bounded).
    - destruct (windows_bounds M goal d) as [| value values] eqn:shape; [exact (objective_nonneg goal x bounded) |].
      apply (windows_on_device M order start Well Complete Runs Some_microbatch d device ltac:(congruence) within goal);
        [apply at_most_each; assumption |].
      rewrite shape. apply largest_in. discriminate.
  Qed.

  (** The same for one choice of windows. *)
  Theorem windows_hold_each : within_capacity M order -> forall goal d x first last, (d < devices M)%nat ->
    stages_on M d <> [] -> at_most M order start goal x ->
    In first (first_windows M goal d) -> In last (last_windows M goal d) ->
    window_work first + window_work last < device_work M d -> windows_formula (device_work M d) first last <= x.
  Proof.
    intros within goal d x first last device some bounded in_first in_last apart.
    apply (windows_on_device M order start Well Complete Runs Some_microbatch d device some within goal);
      [apply at_most_each; assumption |].
    apply in_flat_map. exists first. split; [exact in_first |]. apply in_map. apply filter_In. split; [exact in_last |].
    apply Z.ltb_lt. exact apart.
  Qed.

  (** The best of all. *)
  Theorem time_bound_holds : within_capacity M order -> forall goal x, at_most M order start goal x -> time_bound M goal <= x.
  Proof.
    intros within goal x bounded. assert (found : In (time_bound M goal) (time_bounds M goal)) by (apply largest_in; discriminate).
    destruct found as [same | found].
    - rewrite <- same. destruct goal; [exact (alone_holds x bounded) | exact (objective_nonneg Device_span x bounded)].
    - apply in_flat_map in found. destruct found as [d [device [same | [same | [same | []]]]]]; apply in_seq in device;
        rewrite <- same; [apply work_holds | apply chain_holds | apply windows_hold]; solve [assumption | lia].
  Qed.

  (** *** The span of one device *)

  Theorem work_holds_on_device : forall d x, (d < devices M)%nat -> stages_on M d <> [] -> span_at_most M order start d x ->
    work_bound M Device_span d <= x.
  Proof.
    intros d x device some. exact (work_on_device M order start Well Complete Runs Some_microbatch d device some Device_span x).
  Qed.

  Theorem chain_holds_on_device : forall d x, (d < devices M)%nat -> stages_on M d <> [] -> span_at_most M order start d x ->
    chain_bound M Device_span d <= x.
  Proof.
    intros d x device some. exact (chain_on_device M order start Well Complete Runs Some_microbatch d device some Device_span x).
  Qed.

  Theorem windows_hold_on_device : within_capacity M order -> forall d x, (d < devices M)%nat -> stages_on M d <> [] ->
    span_at_most M order start d x -> windows_bound M Device_span d <= x.
  Proof.
    intros within d x device some bounded. unfold windows_bound.
    destruct (stages_on M d) as [| s rest] eqn:found; [contradiction |].
    destruct (windows_bounds M Device_span d) as [| value values] eqn:shape.
    - assert (member := in_order_stage M order Complete d device F s O ltac:(rewrite found; left; reflexivity) Some_microbatch).
      assert (span := bounded _ _ member member). assert (length : 0 <= time M F s) by (apply Well).
      unfold time_of in span. cbn in *. lia.
    - apply (windows_on_device M order start Well Complete Runs Some_microbatch d device ltac:(congruence) within Device_span);
        [exact bounded |]. rewrite shape. apply largest_in. discriminate.
  Qed.
End Bounds.

(** Where a device has work, the windows give as much as the work alone, or more. *)
Lemma windows_give_work : forall M goal d, 0 < device_work M d -> work_bound M goal d <= windows_bound M goal d.
Proof.
  intros M goal d some. unfold windows_bound. destruct (stages_on M d) as [| s rest] eqn:found.
  - unfold device_work in some. rewrite found in some. cbn in some. lia.
  - apply largest_above. apply in_flat_map. exists (Window (head M goal d) 0). split; [left; reflexivity |].
    apply in_map_iff. exists (Window 0 0). split.
    + unfold windows_formula, window_idle, work_bound. cbn [window_length window_work]. ring.
    + apply filter_In. split; [left; reflexivity |]. apply Z.ltb_lt. exact some.
Qed.

(** One microbatch ends when the last of its Ws can end. *)
Lemma alone_is_latest : forall M, (0 < stages M)%nat -> alone M = latest M (last_stage M).
Proof. intros M positive. unfold alone. rewrite forward_tail_is_latest by exact positive. cbn [forward_head]. ring. Qed.
