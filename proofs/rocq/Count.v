(** * Count: which passes a device has, and in which order they come

    A complete schedule gives a device exactly the passes of its stages: F, I and W of every microbatch. So a sum over the order
    of a device is a sum over stages and microbatches, whatever the order is. This file proves that, and what every order and
    every execution owe to the chain of one microbatch: F of all stages, then I back through all of them, and W behind each I.
    It also defines how long this chain takes up to a pass (its _head_) and behind a pass (its _tail_), without waiting for any
    device. Lower bounds and verdicts count with these facts. Nothing here depends on capacities, and no two microbatches are
    compared: microbatches may overtake each other. *)

From Coq Require Import ZArith List Lia Bool Permutation.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Import ListNotations.
Open Scope Z_scope.

(** ** Lists *)

Section Lists.
  Context {A B : Type}.

  Lemma sum_filter : forall (f : A -> Z) (chosen : A -> bool) l,
    sum f (filter chosen l) = sum (fun u => if chosen u then f u else 0) l.
  Proof. intros f chosen l. induction l as [| u l IH]; cbn; [reflexivity |]. destruct (chosen u); cbn; lia. Qed.

  Lemma sum_constant : forall c (l : list A), sum (fun _ => c) l = Z.of_nat (length l) * c.
  Proof. intros c l. induction l as [| u l IH]; [reflexivity |]. cbn [sum length]. rewrite IH, Nat2Z.inj_succ. ring. Qed.

  Lemma sum_swap : forall (f : A -> B -> Z) l k,
    sum (fun a => sum (f a) k) l = sum (fun b => sum (fun a => f a b) l) k.
  Proof.
    intros f l k. induction l as [| a l IH]; cbn [sum].
    - induction k as [| b k IH]; cbn; lia.
    - rewrite IH. symmetry. apply (sum_add (f a)).
  Qed.

  Lemma sum_map : forall (g : B -> A) (f : A -> Z) l, sum f (map g l) = sum (fun b => f (g b)) l.
  Proof. intros g f l. induction l; cbn; lia. Qed.

  Lemma sum_member : forall (f : A -> Z) l u, (forall v, In v l -> 0 <= f v) -> In u l -> f u <= sum f l.
  Proof.
    intros f l u. induction l as [| v l IH]; cbn; intros each inside; [destruct inside |].
    assert (0 <= f v) by auto. assert (0 <= sum f l) by (apply sum_nonneg; auto).
    destruct inside as [same | inside]; [subst; lia |]. assert (f u <= sum f l) by auto. lia.
  Qed.

  Lemma no_dup_app : forall l k : list A, NoDup l -> NoDup k -> (forall u, In u l -> In u k -> False) -> NoDup (l ++ k).
  Proof.
    intros l k once. induction once as [| u l fresh once IH]; intros once_k apart; [exact once_k |]. cbn. constructor.
    - rewrite in_app_iff. intros [inside | inside]; [exact (fresh inside) |]. apply (apart u); [left; reflexivity | exact inside].
    - apply IH; [exact once_k |]. intros v inside. apply apart. right. exact inside.
  Qed.

  Lemma no_dup_suffix : forall l k : list A, NoDup (l ++ k) -> NoDup k.
  Proof. intros l k. induction l as [| u l IH]; cbn; intros once; [exact once |]. inversion once; subst. auto. Qed.

  Lemma no_dup_flat_map : forall (g : B -> list A) l, NoDup l -> (forall b, NoDup (g b)) ->
    (forall b c u, In u (g b) -> In u (g c) -> b = c) -> NoDup (flat_map g l).
  Proof.
    intros g l once each apart. induction once as [| b l fresh once IH]; cbn; [constructor |].
    apply no_dup_app; [apply each | exact IH |]. intros u here elsewhere. rewrite in_flat_map in elsewhere.
    destruct elsewhere as [c [inside there]]. rewrite (apart b c u here there) in fresh. exact (fresh inside).
  Qed.

  (** Where some members are chosen, a list is what comes before the first of them, and the rest. *)
  Lemma split_at_first : forall (chosen : A -> bool) l, exists front rest, l = front ++ rest /\
    (forall u, In u front -> chosen u = false) /\ (rest = [] \/ exists u behind, rest = u :: behind /\ chosen u = true).
  Proof.
    intros chosen l. induction l as [| u l IH].
    - exists [], []. split; [reflexivity |]. split; [intros u [] | left; reflexivity].
    - destruct (chosen u) eqn:choice.
      + exists [], (u :: l). split; [reflexivity |]. split; [intros v [] |]. right. exists u, l. auto.
      + destruct IH as [front [rest [shape [none first]]]]. exists (u :: front), rest. split; [cbn; rewrite shape; reflexivity |].
        split; [| exact first]. intros v [same | inside]; [subst; exact choice | auto].
  Qed.

  (** The same from the end. *)
  Lemma split_at_last : forall (chosen : A -> bool) l, exists front rest, l = front ++ rest /\
    (forall u, In u rest -> chosen u = false) /\ (front = [] \/ exists before u, front = before ++ [u] /\ chosen u = true).
  Proof.
    intros chosen l. destruct (split_at_first chosen (rev l)) as [behind [ahead [shape [none last]]]].
    exists (rev ahead), (rev behind). split; [rewrite <- rev_app_distr, <- shape; symmetry; apply rev_involutive |].
    split; [intros u inside; apply none; apply in_rev; exact inside |].
    destruct last as [nothing | [u [before [nonempty choice]]]]; [left; rewrite nothing; reflexivity |].
    right. exists (rev before), u. rewrite nonempty. split; [reflexivity | exact choice].
  Qed.
End Lists.

(** The least and the largest of some values; 0 if there is none. *)
Fixpoint least (l : list Z) : Z :=
  match l with
  | [] => 0
  | [x] => x
  | x :: rest => Z.min x (least rest)
  end.

Fixpoint largest (l : list Z) : Z :=
  match l with
  | [] => 0
  | [x] => x
  | x :: rest => Z.max x (largest rest)
  end.

Lemma least_below : forall l x, In x l -> least l <= x.
Proof.
  intros l x. induction l as [| y l IH]; intros inside; [destruct inside |].
  destruct l as [| z l]; [destruct inside as [same | []]; subst; cbn; lia |].
  cbn [least]. destruct inside as [same | inside]; [subst; apply Z.le_min_l |].
  eapply Z.le_trans; [apply Z.le_min_r | exact (IH inside)].
Qed.

Lemma least_in : forall l, l <> [] -> In (least l) l.
Proof.
  intros l. induction l as [| y l IH]; intros some; [contradiction |].
  destruct l as [| z l]; [left; reflexivity |]. cbn [least].
  destruct (Z.min_spec y (least (z :: l))) as [[_ same] | [_ same]]; cbn [least] in same; rewrite same; [left; reflexivity |].
  right. apply IH. discriminate.
Qed.

Lemma largest_above : forall l x, In x l -> x <= largest l.
Proof.
  intros l x. induction l as [| y l IH]; intros inside; [destruct inside |].
  destruct l as [| z l]; [destruct inside as [same | []]; subst; cbn; lia |].
  cbn [largest]. destruct inside as [same | inside]; [subst; apply Z.le_max_l |].
  eapply Z.le_trans; [exact (IH inside) | apply Z.le_max_r].
Qed.

Lemma largest_in : forall l, l <> [] -> In (largest l) l.
Proof.
  intros l. induction l as [| y l IH]; intros some; [contradiction |].
  destruct l as [| z l]; [left; reflexivity |]. cbn [largest].
  destruct (Z.max_spec y (largest (z :: l))) as [[_ same] | [_ same]]; cbn [largest] in same; rewrite same; [| left; reflexivity].
  right. apply IH. discriminate.
Qed.

(** ** Passes of a device *)

Definition kind_eq_dec (k l : kind) : {k = l} + {k <> l}.
Proof. decide equality. Defined.

Definition pass_eq_dec (p q : pass) : {p = q} + {p <> q}.
Proof. decide equality; solve [apply Nat.eq_dec | apply kind_eq_dec]. Defined.

Definition is_forward (p : pass) : bool := match kind_of p with F => true | _ => false end.

(** Whether a pass is in a list. *)
Definition listed (l : list pass) (p : pass) : bool := if in_dec pass_eq_dec p l then true else false.

Lemma listed_iff : forall l p, listed l p = true <-> In p l.
Proof. intros l p. unfold listed. destruct (in_dec pass_eq_dec p l); split; intros claim; congruence || auto. Qed.

(** The stages of a device, in ascending order. *)
Definition stages_on (M : model) (d : nat) : list nat := filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M)).

Definition passes_of_stage (M : model) (s : nat) : list pass :=
  flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M)).

Definition passes_on (M : model) (d : nat) : list pass := flat_map (passes_of_stage M) (stages_on M d).

Lemma in_stages_on : forall M d s, In s (stages_on M d) <-> (s < stages M)%nat /\ device_of M s = d.
Proof. intros M d s. unfold stages_on. rewrite filter_In, in_seq, Nat.eqb_eq. split; intros [inside on]; split; lia. Qed.

Lemma no_dup_stages_on : forall M d, NoDup (stages_on M d).
Proof. intros M d. apply NoDup_filter. apply seq_NoDup. Qed.

Lemma in_passes_of_stage : forall M s p, In p (passes_of_stage M s) <-> stage_of p = s /\ (microbatch_of p < microbatches M)%nat.
Proof.
  intros M s [k t m]. unfold passes_of_stage. rewrite in_flat_map. cbn [stage_of microbatch_of]. split.
  - intros [n [range [same | [same | [same | []]]]]]; apply in_seq in range; inversion same; subst; split; lia.
  - intros [same range]. subst t. exists m. split; [apply in_seq; lia |]. destruct k; cbn; auto.
Qed.

Lemma in_passes_on : forall M d p, In p (passes_on M d) <-> exists_in M p /\ device_of M (stage_of p) = d.
Proof.
  intros M d p. unfold passes_on, exists_in. rewrite in_flat_map. split.
  - intros [s [stage inside]]. apply in_stages_on in stage. apply in_passes_of_stage in inside.
    destruct inside as [same range]. subst s. tauto.
  - intros [[stage range] on]. exists (stage_of p). rewrite in_stages_on, in_passes_of_stage. auto.
Qed.

Lemma no_dup_passes_on : forall M d, NoDup (passes_on M d).
Proof.
  intros M d. apply no_dup_flat_map; [apply no_dup_stages_on | |].
  - intros s. apply no_dup_flat_map; [apply seq_NoDup | |].
    + intros m. repeat constructor; cbn; intuition discriminate.
    + intros m n p [here | [here | [here | []]]] [there | [there | [there | []]]]; congruence.
  - intros s t p here there. apply in_passes_of_stage in here. apply in_passes_of_stage in there.
    destruct here as [here _]. destruct there as [there _]. congruence.
Qed.

(** What a microbatch adds on a stage. *)
Definition of_microbatch (f : pass -> Z) (s m : nat) : Z := f (Pass F s m) + f (Pass I s m) + f (Pass W s m).

(** The work of a device for one microbatch, and for all of them. *)
Definition stage_work (M : model) (s : nat) : Z := time M F s + (time M I s + time M W s).
Definition device_work (M : model) (d : nat) : Z := sum (stage_work M) (stages_on M d) * Z.of_nat (microbatches M).

Section Device.
  Variable M : model.
  Variable order : schedule.
  Hypothesis Complete : complete M order.
  Variable d : nat.
  Hypothesis Device : (d < devices M)%nat.

  (** The order of a device is a permutation of the passes of its stages. *)
  Theorem order_permutation : Permutation (order d) (passes_on M d).
  Proof.
    destruct (Complete d Device) as [once members]. apply NoDup_Permutation; [exact once | apply no_dup_passes_on |].
    intros p. rewrite members. symmetry. apply in_passes_on.
  Qed.

  Lemma in_order : forall p, In p (order d) <-> exists_in M p /\ device_of M (stage_of p) = d.
  Proof. exact (proj2 (Complete d Device)). Qed.

  Lemma in_order_stage : forall k s m, In s (stages_on M d) -> (m < microbatches M)%nat -> In (Pass k s m) (order d).
  Proof. intros k s m stage range. apply in_stages_on in stage. apply in_order. unfold exists_in. cbn. tauto. Qed.

  Lemma stage_of_order : forall p, In p (order d) -> In (stage_of p) (stages_on M d) /\ (microbatch_of p < microbatches M)%nat.
  Proof. intros p inside. apply in_order in inside. unfold exists_in in inside. rewrite in_stages_on. tauto. Qed.

  (** A sum over the order of a device is a sum over its stages and all microbatches. *)
  Theorem sum_over_order : forall f : pass -> Z,
    sum f (order d) = sum (fun s => sum (of_microbatch f s) (seq 0 (microbatches M))) (stages_on M d).
  Proof.
    intros f. rewrite (sum_permutation f _ _ order_permutation). unfold passes_on. rewrite sum_flat_map.
    apply sum_ext. intros s _. unfold passes_of_stage. rewrite sum_flat_map. apply sum_ext. intros m _.
    unfold of_microbatch. cbn [sum]. ring.
  Qed.

  (** A sum over some passes of a device, once each. *)
  Lemma sum_over_some : forall (f : pass -> Z) l, NoDup l -> (forall p, In p l -> In p (order d)) ->
    sum f l = sum (fun s => sum (of_microbatch (fun p => if listed l p then f p else 0) s) (seq 0 (microbatches M)))
      (stages_on M d).
  Proof.
    intros f l once inside. rewrite <- sum_over_order, <- sum_filter. apply sum_permutation. apply NoDup_Permutation.
    - exact once.
    - apply NoDup_filter. apply Complete. exact Device.
    - intros p. rewrite filter_In, listed_iff. split; [auto | tauto].
  Qed.

  (** All passes of a device take its work, whatever their order is. *)
  Theorem order_takes_work : sum (duration (problem_of M)) (order d) = device_work M d.
  Proof.
    rewrite sum_over_order. unfold device_work. rewrite Z.mul_comm, <- sum_scale. apply sum_ext. intros s _.
    rewrite (sum_ext _ (fun _ => stage_work M s)).
    - rewrite sum_constant, seq_length. reflexivity.
    - intros m _. unfold of_microbatch, stage_work, duration, problem_of, time_of. cbn [kind_of stage_of]. ring.
  Qed.

  (** Behind all its passes, a device holds nothing. *)
  Theorem nothing_left : kept M (order d) = 0.
  Proof.
    unfold kept. rewrite sum_over_order. rewrite (sum_ext _ (fun _ => 0)).
    - rewrite sum_constant. ring.
    - intros s _. rewrite (sum_ext _ (fun _ => 0)).
      + rewrite sum_constant. ring.
      + intros m _. unfold of_microbatch, acquires, releases. cbn [kind_of stage_of]. ring.
  Qed.
End Device.

(** ** The chain of one microbatch *)

Definition last_stage (M : model) : nat := stages M - 1.

(** The earliest start of F of a stage: the Fs and messages before it. *)
Fixpoint forward_head (M : model) (s : nat) : Z :=
  match s with
  | O => 0
  | S before => forward_head M before + time M F before + latency M before
  end.

(** The earliest start of I of the stage that is n stages before the last one. *)
Fixpoint input_head_back (M : model) (n : nat) : Z :=
  match n with
  | O => forward_head M (last_stage M) + time M F (last_stage M)
  | S k => input_head_back M k + time M I (last_stage M - k) + latency M (last_stage M - n)
  end.

(** The earliest start of I of a stage. *)
Definition input_head (M : model) (s : nat) : Z := input_head_back M (last_stage M - s).

(** From the end of I of a stage to the last end of all that follows: the W of the stage, or an I below and what follows it. *)
Fixpoint input_tail (M : model) (s : nat) : Z :=
  match s with
  | O => time M W O
  | S below => Z.max (time M W s) (latency M below + time M I below + input_tail M below)
  end.

(** From the end of F of the stage that is n stages before the last one to the last end of all that follows. *)
Fixpoint forward_tail_back (M : model) (n : nat) : Z :=
  match n with
  | O => time M I (last_stage M) + input_tail M (last_stage M)
  | S k => latency M (last_stage M - n) + time M F (last_stage M - k) + forward_tail_back M k
  end.

(** From the end of F of a stage to the last end of all that follows. *)
Definition forward_tail (M : model) (s : nat) : Z := forward_tail_back M (last_stage M - s).

(** From the end of F of one stage to the end of W of another, through the last stage. *)
Definition forward_to_weight (M : model) (from to : nat) : Z :=
  input_head M to + (time M I to + time M W to) - (forward_head M from + time M F from).

Lemma input_head_last : forall M, input_head M (last_stage M) = forward_head M (last_stage M) + time M F (last_stage M).
Proof. intros M. unfold input_head. rewrite Nat.sub_diag. reflexivity. Qed.

Lemma input_head_step : forall M s, (S s < stages M)%nat ->
  input_head M s = input_head M (S s) + time M I (S s) + latency M s.
Proof.
  intros M s above. unfold input_head. assert (in_range : (S s <= last_stage M)%nat) by (unfold last_stage; lia).
  replace (last_stage M - s)%nat with (S (last_stage M - S s)) by lia. cbn [input_head_back].
  replace (last_stage M - (last_stage M - S s))%nat with (S s) by lia.
  replace (last_stage M - S (last_stage M - S s))%nat with s by lia. reflexivity.
Qed.

Lemma forward_tail_last : forall M, forward_tail M (last_stage M) = time M I (last_stage M) + input_tail M (last_stage M).
Proof. intros M. unfold forward_tail. rewrite Nat.sub_diag. reflexivity. Qed.

Lemma forward_tail_step : forall M s, (S s < stages M)%nat ->
  forward_tail M s = latency M s + time M F (S s) + forward_tail M (S s).
Proof.
  intros M s above. unfold forward_tail. assert (in_range : (S s <= last_stage M)%nat) by (unfold last_stage; lia).
  replace (last_stage M - s)%nat with (S (last_stage M - S s)) by lia. cbn [forward_tail_back].
  replace (last_stage M - (last_stage M - S s))%nat with (S s) by lia.
  replace (last_stage M - S (last_stage M - S s))%nat with s by lia. reflexivity.
Qed.

(** The same tails as differences: the latest end of the Ws of some stages, less the end of the pass. *)
Fixpoint latest (M : model) (s : nat) : Z :=
  let weight := input_head M s + (time M I s + time M W s) in
  match s with
  | O => weight
  | S below => Z.max (latest M below) weight
  end.

Lemma input_tail_is_latest : forall M s, (s < stages M)%nat ->
  input_tail M s = latest M s - (input_head M s + time M I s).
Proof.
  intros M s. induction s as [| s IH]; intros inside; cbn [input_tail latest]; [ring |].
  rewrite IH by lia. rewrite (input_head_step M s inside). lia.
Qed.

Lemma forward_tail_is_latest : forall M s, (s < stages M)%nat ->
  forward_tail M s = latest M (last_stage M) - (forward_head M s + time M F s).
Proof.
  intros M s inside. remember (last_stage M - s)%nat as n eqn:distance. revert s inside distance.
  induction n as [| n IH]; intros s inside distance.
  - assert (same : s = last_stage M) by (unfold last_stage in *; lia). subst s.
    rewrite forward_tail_last, input_tail_is_latest by exact inside.
    rewrite input_head_last. ring.
  - assert (above : (S s < stages M)%nat) by (unfold last_stage in *; lia).
    rewrite (forward_tail_step M s above), (IH (S s)) by lia. cbn [forward_head]. ring.
Qed.

(** ** What executions owe to the chain *)

Section Chains.
  Variable M : model.
  Variable order : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Runs : runs M order start.
  Variable m : nat.
  Hypothesis Range : (m < microbatches M)%nat.

  Local Notation needed := (need_respected M order start Well Runs).

  Lemma positive_stages : (0 < stages M)%nat.
  Proof. apply Well. Qed.

  Lemma last_stage_inside : (last_stage M < stages M)%nat.
  Proof. unfold last_stage. pose proof positive_stages. lia. Qed.

  Lemma forward_after_forward : forall s t, (s <= t)%nat -> (t < stages M)%nat ->
    start (Pass F s m) + (forward_head M t - forward_head M s) <= start (Pass F t m).
  Proof.
    intros s t below. induction below as [| t below IH]; intros inside; [lia |].
    assert (here := IH ltac:(lia)). assert (next := needed _ _ _ (F_needs_F M t m inside Range)).
    unfold time_of in next. cbn [kind_of stage_of] in next. cbn [forward_head]. lia.
  Qed.

  Lemma input_after_input : forall s t, (s <= t)%nat -> (t < stages M)%nat ->
    start (Pass I t m) + (input_head M s - input_head M t) <= start (Pass I s m).
  Proof.
    intros s t below. induction below as [| t below IH]; intros inside; [lia |].
    assert (here := IH ltac:(lia)). assert (next := needed _ _ _ (I_needs_I M t m inside Range)).
    unfold time_of in next. cbn [kind_of stage_of] in next. rewrite (input_head_step M t inside) in here. lia.
  Qed.

  (** From an F up to the last stage and back to an I, of any two stages. *)
  Theorem input_after_forward : forall s t, (s < stages M)%nat -> (t < stages M)%nat ->
    start (Pass F s m) + (input_head M t - forward_head M s) <= start (Pass I t m).
  Proof.
    intros s t inside_s inside_t. pose proof last_stage_inside as last.
    assert (up := forward_after_forward s (last_stage M) ltac:(unfold last_stage; lia) last).
    assert (down := input_after_input t (last_stage M) ltac:(unfold last_stage; lia) last).
    assert (turn := needed _ _ _ (I_needs_F M m Range)). unfold time_of in turn. cbn [kind_of stage_of] in turn.
    change (stages M - 1)%nat with (last_stage M) in turn. rewrite input_head_last in down. lia.
  Qed.

  Lemma weight_after_input : forall s, (s < stages M)%nat -> start (Pass I s m) + time M I s <= start (Pass W s m).
  Proof.
    intros s inside. assert (next := needed _ _ _ (W_needs_I M s m inside Range)).
    unfold time_of in next. cbn [kind_of stage_of] in next. lia.
  Qed.

  Lemma forward_not_before_head : forall s, (s < stages M)%nat -> forward_head M s <= start (Pass F s m).
  Proof.
    intros s inside. assert (chain := forward_after_forward O s ltac:(lia) inside). cbn [forward_head] in chain.
    assert (begin := start_nonneg M order start Runs (Pass F O m)). lia.
  Qed.

  Lemma input_not_before_head : forall s, (s < stages M)%nat -> input_head M s <= start (Pass I s m).
  Proof.
    intros s inside. assert (chain := input_after_forward O s positive_stages inside). cbn [forward_head] in chain.
    assert (begin := start_nonneg M order start Runs (Pass F O m)). lia.
  Qed.

  (** Whatever ends no earlier than all Ws of this microbatch ends no earlier than the tail behind an I ... *)
  Theorem input_tail_follows : forall x s, (forall t, (t < stages M)%nat -> start (Pass W t m) + time M W t <= x) ->
    (s < stages M)%nat -> start (Pass I s m) + time M I s + input_tail M s <= x.
  Proof.
    intros x s ended. induction s as [| s IH]; intros inside; cbn [input_tail].
    - assert (own := weight_after_input O inside). assert (last := ended O inside). lia.
    - assert (own := weight_after_input (S s) inside). assert (last := ended (S s) inside).
      assert (below := IH ltac:(lia)). assert (next := needed _ _ _ (I_needs_I M s m inside Range)).
      unfold time_of in next. cbn [kind_of stage_of] in next.
      destruct (Z.max_spec (time M W (S s)) (latency M s + time M I s + input_tail M s)) as [[_ same] | [_ same]];
        rewrite same; lia.
  Qed.

  (** ... and than the tail behind an F. *)
  Theorem forward_tail_follows : forall x s, (forall t, (t < stages M)%nat -> start (Pass W t m) + time M W t <= x) ->
    (s < stages M)%nat -> start (Pass F s m) + time M F s + forward_tail M s <= x.
  Proof.
    intros x s ended inside. remember (last_stage M - s)%nat as n eqn:distance. revert s inside distance.
    induction n as [| n IH]; intros s inside distance.
    - assert (same : s = last_stage M) by (unfold last_stage in *; lia). subst s. rewrite forward_tail_last.
      assert (behind := input_tail_follows x (last_stage M) ended inside).
      assert (turn := needed _ _ _ (I_needs_F M m Range)). unfold time_of in turn. cbn [kind_of stage_of] in turn.
      change (stages M - 1)%nat with (last_stage M) in turn. lia.
    - assert (above : (S s < stages M)%nat) by (unfold last_stage in *; lia).
      assert (behind := IH (S s) above ltac:(lia)). assert (next := needed _ _ _ (F_needs_F M s m above Range)).
      unfold time_of in next. cbn [kind_of stage_of] in next. rewrite (forward_tail_step M s above). lia.
  Qed.

  (** *** Places in the sequence *)

  Variable place : pass -> nat.
  Hypothesis Sequence : sequence (problem_of M) (orders_of M order) place.

  Lemma need_placed : forall u lag v, pass_needs M u lag v -> (place u < place v)%nat.
  Proof.
    intros u lag v need. apply (Sequence u (time_of M u + lag)). apply (waits_need (problem_of M)).
    apply needs_are_pass_needs; [apply positive_stages | exact need].
  Qed.

  Lemma forward_placed : forall s t, (s <= t)%nat -> (t < stages M)%nat -> (place (Pass F s m) <= place (Pass F t m))%nat.
  Proof.
    intros s t below. induction below as [| t below IH]; intros inside; [lia |].
    assert (here := IH ltac:(lia)). assert (next := need_placed _ _ _ (F_needs_F M t m inside Range)). lia.
  Qed.

  Lemma input_placed : forall s t, (s <= t)%nat -> (t < stages M)%nat -> (place (Pass I t m) <= place (Pass I s m))%nat.
  Proof.
    intros s t below. induction below as [| t below IH]; intros inside; [lia |].
    assert (here := IH ltac:(lia)). assert (next := need_placed _ _ _ (I_needs_I M t m inside Range)). lia.
  Qed.

  (** Every F of a microbatch comes before every I of it, and I before W on each stage. *)
  Theorem forward_before_input : forall s t, (s < stages M)%nat -> (t < stages M)%nat ->
    (place (Pass F s m) < place (Pass I t m))%nat.
  Proof.
    intros s t inside_s inside_t. pose proof last_stage_inside as last.
    assert (up := forward_placed s (last_stage M) ltac:(unfold last_stage; lia) last).
    assert (down := input_placed t (last_stage M) ltac:(unfold last_stage; lia) last).
    assert (turn := need_placed _ _ _ (I_needs_F M m Range)).
    change (stages M - 1)%nat with (last_stage M) in turn. lia.
  Qed.

  Theorem input_before_weight : forall s, (s < stages M)%nat -> (place (Pass I s m) < place (Pass W s m))%nat.
  Proof. intros s inside. exact (need_placed _ _ _ (W_needs_I M s m inside Range)). Qed.
End Chains.

(** ** Places in the order of a device *)

Section Places.
  Variable M : model.
  Variable order : schedule.
  Variable place : pass -> nat.
  Hypothesis Sequence : sequence (problem_of M) (orders_of M order) place.
  Variable d : nat.
  Hypothesis Device : (d < devices M)%nat.

  Lemma placed_in_order_from : forall rest front u behind v, order d = front ++ rest -> rest = u :: behind -> In v behind ->
    (place u < place v)%nat.
  Proof.
    intros rest. induction rest as [| w rest IH]; intros front u behind v shape first later; [discriminate |].
    injection first as same tail. subst w behind. destruct rest as [| w rest]; [destruct later |].
    assert (next : (place u < place w)%nat).
    { apply (Sequence u (duration (problem_of M) u)). apply (waits_order (problem_of M) _ (order d)).
      - apply in_map. apply in_seq. lia.
      - exists front, rest. exact shape. }
    destruct later as [same | later]; [subst; exact next |].
    assert (further : (place w < place v)%nat).
    { apply (IH (front ++ [u]) w rest v); [rewrite <- app_assoc; exact shape | reflexivity | exact later]. }
    lia.
  Qed.

  (** What comes earlier in the order of a device comes earlier in the sequence. *)
  Theorem placed_in_order : forall front rest u v, order d = front ++ rest -> In u front -> In v rest -> (place u < place v)%nat.
  Proof.
    intros front rest u v shape ahead behind. apply in_split in ahead. destruct ahead as [before [after same]]. subst front.
    apply (placed_in_order_from (u :: after ++ rest) before u (after ++ rest) v); [| reflexivity |].
    - rewrite shape, <- app_assoc. reflexivity.
    - rewrite in_app_iff. right. exact behind.
  Qed.

  (** What comes earlier in the sequence than a pass ahead is ahead too. *)
  Lemma ahead_of_place : forall front rest u v, order d = front ++ rest -> In v front -> In u (order d) ->
    (place u < place v)%nat -> In u front.
  Proof.
    intros front rest u v shape ahead inside earlier. rewrite shape, in_app_iff in inside.
    destruct inside as [here | there]; [exact here |].
    assert (later := placed_in_order front rest v u shape ahead there). lia.
  Qed.

  (** What comes later in the sequence than a pass behind is behind too. *)
  Lemma behind_place : forall front rest u v, order d = front ++ rest -> In u rest -> In v (order d) ->
    (place u < place v)%nat -> In v rest.
  Proof.
    intros front rest u v shape behind inside later. rewrite shape, in_app_iff in inside.
    destruct inside as [here | there]; [| exact there].
    assert (earlier := placed_in_order front rest v u shape here behind). lia.
  Qed.
End Places.
