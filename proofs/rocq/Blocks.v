(** * Blocks: one microbatch, repeated every interval

    A building block gives every pass of one microbatch a time, its _offset_. Repeated every _interval_ T, it gives a schedule:
    pass k of stage s and microbatch m starts at the offset of k and s, plus m * T. This file is about blocks of one microbatch
    (period 1). Offsets may be negative: only differences count.

    - [is_valid] checks a block: offsets respect what passes need, durations and latencies included, and no two passes of a
      device overlap modulo T. Whatever the number of microbatches, each device can then run its passes by start time: this
      schedule is complete, and the repeated block is an execution of it ([repeated_complete], [repeated_runs]). So one check of
      a block proves the schedules of every number of microbatches, and bounds their makespan ([repeated_makespan]). Nothing
      less will do: if the repeated block runs in any order, with enough microbatches, it is valid ([runs_only_if_valid]).
    - [steady_peak] is the most that a device holds while copies follow each other, as a sum of differences of rounded
      quotients. No repetition of the block holds more, whatever the number of microbatches ([peak_at_most_steady]), and with
      enough microbatches the device holds exactly that ([peak_is_steady]). It is at most the sum of lifespans divided by T,
      each rounded up (arXiv 2405.15362, Eq. 1; [steady_at_most_lifespans]).
    - Fractions of a tick gain nothing: offsets in parts of a tick, rounded down to whole ticks, are still valid, and the device
      holds just as much ([whole_ticks_valid], [whole_ticks_live]).

    All of this asks that every pass takes time ([takes_time]). A pass without duration may start together with another one,
    and then a rule must say which goes first; what the program's rule does is _not_ proved here. *)

From Coq Require Import ZArith List Lia Bool Permutation Sorted Mergesort Orders.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count Bubbleproof.Memory.
Import ListNotations.
Open Scope Z_scope.

(** ** Blocks, and what makes them valid *)

Record block := Block {
  interval : Z;
  offset : kind -> nat -> Z    (** of a pass of a stage, in microbatch 0 *)
}.

Definition takes_time (M : model) : Prop := forall k s, (s < stages M)%nat -> 0 < time M k s.

(** The interval has room for each pass; passes wait for what they need; and seen from the start of any copy of a pass, every
    other pass of its device starts no earlier than its end, modulo the interval. *)
Record valid (M : model) (B : block) : Prop := Valid {
  interval_positive : 0 < interval B;
  each_has_room : forall k s, (s < stages M)%nat -> time M k s <= interval B;
  F_behind_F : forall s, (S s < stages M)%nat -> offset B F s + time M F s + latency M s <= offset B F (S s);
  I_behind_F : offset B F (stages M - 1) + time M F (stages M - 1) <= offset B I (stages M - 1);
  I_behind_I : forall s, (S s < stages M)%nat -> offset B I (S s) + time M I (S s) + latency M s <= offset B I s;
  W_behind_I : forall s, (s < stages M)%nat -> offset B I s + time M I s <= offset B W s;
  no_overlap : forall k s l r, (s < stages M)%nat -> (r < stages M)%nat -> device_of M s = device_of M r -> (k, s) <> (l, r) ->
    time M k s <= (offset B l r - offset B k s) mod interval B
}.

(** The same as a program. *)
Definition kinds : list kind := [F; I; W].

Definition kind_is (k l : kind) : bool := if kind_eq_dec k l then true else false.

Definition dependencies_hold (M : model) (B : block) : bool :=
  forallb (fun s => (offset B F s + time M F s + latency M s <=? offset B F (S s)) &&
                    (offset B I (S s) + time M I (S s) + latency M s <=? offset B I s)) (seq 0 (stages M - 1)) &&
  (offset B F (stages M - 1) + time M F (stages M - 1) <=? offset B I (stages M - 1)) &&
  forallb (fun s => offset B I s + time M I s <=? offset B W s) (seq 0 (stages M)).

Definition keeps_clear (M : model) (B : block) (s r : nat) (k l : kind) : bool :=
  (kind_is k l && Nat.eqb s r) || (time M k s <=? (offset B l r - offset B k s) mod interval B).

Definition no_collisions (M : model) (B : block) : bool :=
  forallb (fun s => forallb (fun k => time M k s <=? interval B) kinds &&
    forallb (fun r => negb (Nat.eqb (device_of M s) (device_of M r)) ||
                      forallb (fun k => forallb (keeps_clear M B s r k) kinds) kinds) (seq 0 (stages M))) (seq 0 (stages M)).

Definition is_valid (M : model) (B : block) : bool := (0 <? interval B) && dependencies_hold M B && no_collisions M B.

Lemma in_kinds : forall k, In k kinds.
Proof. intros []; cbn; auto. Qed.

(** The program decides validity. *)
Theorem is_valid_iff : forall M B, (0 < stages M)%nat -> is_valid M B = true <-> valid M B.
Proof.
  intros M B some. unfold is_valid, dependencies_hold, no_collisions.
  repeat rewrite andb_true_iff. repeat rewrite forallb_forall. rewrite Z.ltb_lt, Z.leb_le. split.
  - intros [[positive [[chain turn] weights]] apart].
    assert (clear : forall s, (s < stages M)%nat -> (forall k, time M k s <= interval B) /\
      forall r, (r < stages M)%nat -> device_of M s = device_of M r -> forall k l, keeps_clear M B s r k l = true).
    { intros s inside. assert (listed : In s (seq 0 (stages M))) by (apply in_seq; lia). specialize (apart s listed).
      rewrite andb_true_iff, !forallb_forall in apart. destruct apart as [room apart]. split.
      - intros k. apply Z.leb_le. apply room. apply in_kinds.
      - intros r inside_r same k l. assert (listed_r : In r (seq 0 (stages M))) by (apply in_seq; lia).
        specialize (apart r listed_r). rewrite same, Nat.eqb_refl in apart. cbn [negb orb] in apart.
        rewrite forallb_forall in apart. specialize (apart k (in_kinds k)). rewrite forallb_forall in apart.
        apply apart. apply in_kinds. }
    split; [exact positive | | | exact turn | | |].
    + intros k s inside. apply clear. exact inside.
    + intros s inside. assert (listed : In s (seq 0 (stages M - 1))) by (apply in_seq; lia). specialize (chain s listed).
      rewrite andb_true_iff, !Z.leb_le in chain. apply chain.
    + intros s inside. assert (listed : In s (seq 0 (stages M - 1))) by (apply in_seq; lia). specialize (chain s listed).
      rewrite andb_true_iff, !Z.leb_le in chain. apply chain.
    + intros s inside. apply Z.leb_le. apply weights. apply in_seq. lia.
    + intros k s l r inside inside_r same differ. destruct (clear s inside) as [_ each].
      specialize (each r inside_r same k l). unfold keeps_clear, kind_is in each. rewrite orb_true_iff, andb_true_iff in each.
      destruct each as [[kind stage] | each]; [| apply Z.leb_le; exact each].
      apply Nat.eqb_eq in stage. destruct (kind_eq_dec k l) as [equal | _]; [| discriminate]. congruence.
  - intros [positive room forward turn backward weights apart]. repeat split; try assumption.
    + intros s inside. apply in_seq in inside. rewrite andb_true_iff, !Z.leb_le. split; [apply forward | apply backward]; lia.
    + intros s inside. apply in_seq in inside. apply Z.leb_le. apply weights. lia.
    + intros s inside. apply in_seq in inside. rewrite andb_true_iff, !forallb_forall. split.
      * intros k _. apply Z.leb_le. apply room. lia.
      * intros r inside_r. apply in_seq in inside_r. apply orb_true_iff.
        destruct (Nat.eqb_spec (device_of M s) (device_of M r)) as [same | differ]; [right | left; reflexivity].
        rewrite forallb_forall. intros k _. rewrite forallb_forall. intros l _. unfold keeps_clear, kind_is.
        destruct (kind_eq_dec k l) as [equal | differ].
        -- destruct (Nat.eqb_spec s r) as [equal_stage | differ]; [reflexivity |]. cbn. apply Z.leb_le.
           apply apart; [lia | lia | exact same | congruence].
        -- cbn. apply Z.leb_le. apply apart; [lia | lia | exact same | congruence].
Qed.

(** ** The schedule of a repeated block *)

(** When a pass starts, up to a shift that is the same for all. *)
Definition stamp (B : block) (p : pass) : Z := offset B (kind_of p) (stage_of p) + Z.of_nat (microbatch_of p) * interval B.

(** Start times begin at 0, so blocks with negative offsets are put off. *)
Definition start_at (B : block) (shift : Z) (p : pass) : Z := Z.max 0 (stamp B p + shift).

(** The shift is enough for every offset. *)
Definition shift_enough (M : model) (B : block) (shift : Z) : Prop :=
  forall k s, (s < stages M)%nat -> 0 <= offset B k s + shift.

(** There is always one. *)
Definition least_shift (M : model) (B : block) : Z :=
  - least (flat_map (fun s => map (fun k => offset B k s) kinds) (seq 0 (stages M))).

Lemma least_shift_enough : forall M B, shift_enough M B (least_shift M B).
Proof.
  intros M B k s inside. unfold least_shift.
  assert (least (flat_map (fun s => map (fun k => offset B k s) kinds) (seq 0 (stages M))) <= offset B k s); [| lia].
  apply least_below. apply in_flat_map. exists s. split; [apply in_seq; lia |].
  apply (in_map (fun k => offset B k s)). apply in_kinds.
Qed.

Module Stamped <: TotalLeBool.
  Definition t := (Z * pass)%type.
  Definition leb (x y : t) := fst x <=? fst y.
  Theorem leb_total : forall x y, leb x y = true \/ leb y x = true.
  Proof. intros [x p] [y q]. unfold leb. cbn [fst]. rewrite !Z.leb_le. lia. Qed.
End Stamped.

Module ByStamp := Sort Stamped.

(** Each device runs its passes by start time. *)
Definition repeated (M : model) (B : block) : schedule :=
  fun d => map snd (ByStamp.sort (map (fun p => (stamp B p, p)) (passes_on M d))).

Lemma repeated_permutation : forall M B d, Permutation (passes_on M d) (repeated M B d).
Proof.
  intros M B d. unfold repeated.
  assert (same : passes_on M d = map snd (map (fun p => (stamp B p, p)) (passes_on M d))).
  { rewrite map_map. symmetry. apply map_id. }
  rewrite same at 1. apply Permutation_map. apply ByStamp.Permuted_sort.
Qed.

(** The schedule is complete, for any offsets. *)
Theorem repeated_complete : forall M B, complete M (repeated M B).
Proof.
  intros M B d _. pose proof (repeated_permutation M B d) as same. split.
  - apply (Permutation_NoDup same). apply no_dup_passes_on.
  - intros p. rewrite <- in_passes_on. split; apply Permutation_in; [apply Permutation_sym |]; exact same.
Qed.

(** A list in which no pass starts before an earlier one. *)
Definition by_stamp (B : block) (l : list pass) : Prop := StronglySorted (fun p q => stamp B p <= stamp B q) l.

Lemma repeated_by_stamp : forall M B d, by_stamp B (repeated M B d).
Proof.
  intros M B d. unfold by_stamp, repeated.
  assert (sorted : StronglySorted (fun x y => is_true (Stamped.leb x y))
    (ByStamp.sort (map (fun p => (stamp B p, p)) (passes_on M d)))).
  { apply ByStamp.StronglySorted_sort. intros x y z. unfold is_true, Stamped.leb. rewrite !Z.leb_le. lia. }
  assert (honest : forall x, In x (ByStamp.sort (map (fun p => (stamp B p, p)) (passes_on M d))) -> fst x = stamp B (snd x)).
  { intros x inside. apply (Permutation_in x (Permutation_sym (ByStamp.Permuted_sort _))) in inside.
    apply in_map_iff in inside. destruct inside as [p [same _]]. subst x. reflexivity. }
  induction sorted as [| x l sorted IH each]; cbn [map]; constructor.
  - apply IH. intros y inside. apply honest. right. exact inside.
  - apply Forall_forall. intros q inside. apply in_map_iff in inside. destruct inside as [y [same inside]]. subst q.
    rewrite Forall_forall in each. specialize (each y inside). unfold is_true, Stamped.leb in each. apply Z.leb_le in each.
    rewrite (honest x (or_introl eq_refl)), (honest y (or_intror inside)) in each. exact each.
Qed.

Lemma by_stamp_split : forall B before p after, by_stamp B (before ++ p :: after) ->
  (forall q, In q before -> stamp B q <= stamp B p) /\ (forall q, In q after -> stamp B p <= stamp B q).
Proof.
  intros B before p after. induction before as [| r before IH]; cbn [app]; intros sorted; inversion sorted as [| x l rest each];
    subst; rewrite Forall_forall in each.
  - split; [intros q [] | exact each].
  - destruct (IH rest) as [ahead behind]. split; [| exact behind]. intros q [same | inside]; [subst q | exact (ahead q inside)].
    apply each. rewrite in_app_iff. right. left. reflexivity.
Qed.

Section Valid.
  Variable M : model.
  Variable B : block.
  Hypothesis Well : well_formed M.
  Hypothesis Time : takes_time M.
  Hypothesis Good : valid M B.

  (** Of two passes of a device, the one that starts first ends before the other one starts. *)
  Lemma ends_before : forall p q, exists_in M p -> exists_in M q -> device_of M (stage_of p) = device_of M (stage_of q) ->
    p <> q -> stamp B p <= stamp B q -> stamp B p + time_of M p <= stamp B q.
  Proof.
    intros [k s m] [l r n] [inside _] [inside_r _] same differ first. unfold time_of. cbn [kind_of stage_of microbatch_of] in *.
    unfold stamp in *. cbn [kind_of stage_of microbatch_of] in *. pose proof (interval_positive _ _ Good) as positive.
    set (T := interval B) in *.
    assert (cases : (k, s) = (l, r) \/ (k, s) <> (l, r)).
    { destruct (kind_eq_dec k l); [| right; congruence]. destruct (Nat.eq_dec s r); [left | right]; congruence. }
    destruct cases as [equal | other].
    - inversion equal; subst. pose proof (each_has_room _ _ Good l r inside) as room. fold T in room.
      assert (m <> n) by congruence. assert (Z.of_nat m * T <= Z.of_nat n * T) by lia.
      assert (Z.of_nat m <= Z.of_nat n) by nia. assert (Z.of_nat m + 1 <= Z.of_nat n) by lia. nia.
    - pose proof (no_overlap _ _ Good k s l r inside inside_r same other) as apart. fold T in apart.
      set (gap := offset B l r + Z.of_nat n * T - (offset B k s + Z.of_nat m * T)).
      assert (away : (offset B l r - offset B k s) mod T <= gap).
      { replace (offset B l r - offset B k s) with (gap + (Z.of_nat m - Z.of_nat n) * T) by (unfold gap; ring).
        rewrite Z.mod_add by lia. apply Z.mod_le; unfold gap; lia. }
      unfold gap in away. lia.
  Qed.

  Lemma need_in_block : forall u lag v, pass_needs M u lag v -> stamp B u + time_of M u + lag <= stamp B v.
  Proof.
    intros u lag v need. unfold stamp, time_of.
    destruct need as [s m inside _ | m _ | s m inside _ | s m inside _]; cbn [kind_of stage_of microbatch_of].
    - pose proof (F_behind_F _ _ Good s inside). lia.
    - pose proof (I_behind_F _ _ Good). lia.
    - pose proof (I_behind_I _ _ Good s inside). lia.
    - pose proof (W_behind_I _ _ Good s inside). lia.
  Qed.

  Lemma stage_in_need : forall u lag v, pass_needs M u lag v -> exists_in M u /\ exists_in M v /\ 0 <= lag.
  Proof.
    intros u lag v need. destruct Well as [positive [_ [_ [latencies _]]]].
    destruct need as [s m | m | s m | s m]; unfold exists_in; cbn; pose proof (latencies 0%nat); try specialize (latencies s);
      repeat split; lia.
  Qed.

  (** The repeated block is an execution of its schedule, for every number of microbatches. *)
  Theorem repeated_runs : forall shift, shift_enough M B shift -> runs M (repeated M B) (start_at B shift).
  Proof.
    intros shift enough. pose proof (interval_positive _ _ Good) as positive.
    assert (exact : forall p, exists_in M p -> start_at B shift p = stamp B p + shift).
    { intros [k s m] [inside _]. unfold start_at, stamp. cbn [kind_of stage_of microbatch_of] in *.
      pose proof (enough k s inside). assert (0 <= Z.of_nat m * interval B) by (apply Z.mul_nonneg_nonneg; lia). lia. }
    assert (waiting : forall u w v, waits (problem_of M) (orders_of M (repeated M B)) u w v ->
      start_at B shift u + w <= start_at B shift v /\ 0 < w).
    { intros u w v wait. destruct wait as [u lag v need | l u v listed [before [after shape]]].
      - apply needs_are_pass_needs in need; [| apply Well]. destruct (stage_in_need u lag v need) as [here [there late]].
        rewrite (exact u here), (exact v there). pose proof (need_in_block u lag v need). destruct here as [here _].
        cbn [duration problem_of]. pose proof (Time (kind_of u) (stage_of u) here). unfold time_of in *. lia.
      - unfold orders_of in listed. apply in_map_iff in listed. destruct listed as [d [order device]]. subst l.
        apply in_seq in device. destruct (repeated_complete M B d) as [once members]; [lia |].
        pose proof (repeated_by_stamp M B d) as sorted. rewrite shape in once, members, sorted.
        destruct (by_stamp_split B before u (v :: after) sorted) as [_ behind].
        destruct (proj1 (members u)) as [here on]; [apply in_app_iff; right; left; reflexivity |].
        destruct (proj1 (members v)) as [there on_v]; [apply in_app_iff; right; right; left; reflexivity |].
        assert (u <> v).
        { intros equal. subst v. apply NoDup_remove_2 in once. apply once. apply in_app_iff. right. left. reflexivity. }
        pose proof (ends_before u v here there ltac:(congruence) ltac:(assumption) (behind v (or_introl eq_refl))).
        rewrite (exact u here), (exact v there). cbn [duration problem_of]. destruct here as [here _].
        pose proof (Time (kind_of u) (stage_of u) here). unfold time_of in *. lia. }
    split; [split |].
    - intros u. apply Z.le_max_l.
    - intros u w v wait. apply waiting. exact wait.
    - exists (fun p => Z.to_nat (start_at B shift p)). intros u w v wait. destruct (waiting u w v wait) as [later longer].
      assert (0 <= start_at B shift u) by apply Z.le_max_l. lia.
  Qed.

  (** On every stage, F starts before I, and I before W. *)
  Lemma F_to_I : forall s, (s < stages M)%nat -> offset B F s <= offset B I s.
  Proof.
    destruct Well as [positive [_ [_ [latencies _]]]].
    assert (back : forall n s, (s + n = stages M - 1)%nat -> (s < stages M)%nat -> offset B F s <= offset B I s).
    { intros n. induction n as [| n IH]; intros s away inside.
      - replace s with (stages M - 1)%nat by lia. pose proof (I_behind_F _ _ Good) as turn.
        pose proof (Time F (stages M - 1)%nat ltac:(lia)). lia.
      - assert (next : (S s < stages M)%nat) by lia. specialize (IH (S s) ltac:(lia) next).
        pose proof (F_behind_F _ _ Good s next). pose proof (I_behind_I _ _ Good s next). pose proof (latencies s).
        pose proof (Time F s inside). pose proof (Time I (S s) next). lia. }
    intros s inside. apply (back (stages M - 1 - s)%nat); lia.
  Qed.

  Lemma I_to_W : forall s, (s < stages M)%nat -> offset B I s <= offset B W s.
  Proof. intros s inside. pose proof (W_behind_I _ _ Good s inside). pose proof (Time I s inside). lia. Qed.
End Valid.

(** *** How long it takes *)

(** From the first start to the last end within a block. *)
Definition block_span (M : model) (B : block) : Z :=
  largest (flat_map (fun s => map (fun k => offset B k s + time M k s) kinds) (seq 0 (stages M))) + least_shift M B.

(** The schedule ends in time: each microbatch after the first one takes an interval more. *)
Theorem repeated_makespan : forall M B, 0 < interval B ->
  makespan_at_most M (repeated M B) (start_at B (least_shift M B))
    (block_span M B + (Z.of_nat (microbatches M) - 1) * interval B).
Proof.
  intros M B positive d device [k s m] listed. apply (repeated_complete M B d device) in listed.
  destruct listed as [[inside range] _]. cbn [stage_of microbatch_of] in inside, range. cbn [duration problem_of].
  unfold time_of, start_at, stamp, block_span. cbn [kind_of stage_of microbatch_of].
  pose proof (least_shift_enough M B k s inside) as enough.
  assert (longest : offset B k s + time M k s <=
    largest (flat_map (fun s => map (fun k => offset B k s + time M k s) kinds) (seq 0 (stages M)))).
  { apply largest_above. apply in_flat_map. exists s. split; [apply in_seq; lia |].
    apply (in_map (fun k => offset B k s + time M k s)). apply in_kinds. }
  assert (0 <= Z.of_nat m * interval B) by (apply Z.mul_nonneg_nonneg; lia).
  assert (Z.of_nat m * interval B <= (Z.of_nat (microbatches M) - 1) * interval B) by (apply Z.mul_le_mono_nonneg_r; lia).
  lia.
Qed.

(** *** Validity is needed *)

(** The microbatches start for longer than any two offsets lie apart. *)
Definition many_microbatches (M : model) (B : block) : Prop := (1 < microbatches M)%nat /\
  forall k s l r, (s < stages M)%nat -> (r < stages M)%nat ->
    offset B l r - offset B k s < (Z.of_nat (microbatches M) - 1) * interval B.

(** If the repeated block runs in some order, with enough microbatches for all passes to meet, then the block is valid. *)
Theorem runs_only_if_valid : forall M B S shift, well_formed M -> takes_time M -> 0 < interval B -> shift_enough M B shift ->
  many_microbatches M B -> complete M S -> runs M S (start_at B shift) -> valid M B.
Proof.
  intros M B S shift well time positive enough [two many] whole run. set (T := interval B) in *.
  assert (exact : forall k s m, (s < stages M)%nat -> start_at B shift (Pass k s m) = offset B k s + Z.of_nat m * T + shift).
  { intros k s m inside. unfold start_at, stamp. cbn [kind_of stage_of microbatch_of]. fold T. pose proof (enough k s inside).
    assert (0 <= Z.of_nat m * T) by (apply Z.mul_nonneg_nonneg; lia). lia. }
  assert (apart : forall k s m l r n, (s < stages M)%nat -> (r < stages M)%nat ->
    (m < microbatches M)%nat -> (n < microbatches M)%nat ->
    device_of M s = device_of M r -> Pass k s m <> Pass l r n ->
    offset B k s + Z.of_nat m * T <= offset B l r + Z.of_nat n * T ->
    offset B k s + Z.of_nat m * T + time_of M (Pass k s m) <= offset B l r + Z.of_nat n * T).
  { intros k s m l r n inside inside_r range range_r same differ first.
    assert (device : (device_of M s < devices M)%nat) by (apply well; exact inside).
    destruct (whole _ device) as [_ members].
    assert (here : In (Pass k s m) (S (device_of M s))) by (apply members; unfold exists_in; cbn; auto).
    assert (there : In (Pass l r n) (S (device_of M s))) by (apply members; unfold exists_in; cbn; auto).
    pose proof (device_one_at_a_time M S (start_at B shift) well run _ device) as ordered.
    apply in_split in here. destruct here as [before [after shape]].
    destruct (one_at_a_time_split _ _ _ _ _ _ ordered shape) as [behind ahead]. rewrite shape in there.
    apply in_app_iff in there. destruct there as [sooner | [equal | later]]; [| contradiction |].
    - specialize (ahead _ sooner). rewrite !exact in ahead by assumption. cbn [duration problem_of] in ahead.
      pose proof (time l r inside_r). unfold time_of in ahead. cbn [kind_of stage_of] in ahead. lia.
    - specialize (behind _ later). rewrite !exact in behind by assumption. cbn [duration problem_of] in behind. lia. }
  assert (needed : forall u lag v, pass_needs M u lag v -> start_at B shift u + time_of M u + lag <= start_at B shift v).
  { intros u lag v need. apply (need_respected M S _ well run). exact need. }
  assert (some : (0 < microbatches M)%nat) by lia. assert (stage : (0 < stages M)%nat) by apply well.
  split; fold T.
  - exact positive.
  - intros k s inside.
    pose proof (apart k s 0%nat k s 1%nat inside inside some two eq_refl ltac:(congruence) ltac:(lia)) as gap.
    unfold time_of in gap. cbn [kind_of stage_of] in gap. lia.
  - intros s inside. specialize (needed _ _ _ (F_needs_F M s 0 inside some)). rewrite !exact in needed by lia.
    unfold time_of in needed. cbn [kind_of stage_of] in needed. lia.
  - specialize (needed _ _ _ (I_needs_F M 0 some)). rewrite !exact in needed by lia.
    unfold time_of in needed. cbn [kind_of stage_of] in needed. lia.
  - intros s inside. specialize (needed _ _ _ (I_needs_I M s 0 inside some)). rewrite !exact in needed by lia.
    unfold time_of in needed. cbn [kind_of stage_of] in needed. lia.
  - intros s inside. specialize (needed _ _ _ (W_needs_I M s 0 inside some)). rewrite !exact in needed by lia.
    unfold time_of in needed. cbn [kind_of stage_of] in needed. lia.
  - intros k s l r inside inside_r same differ. set (D := offset B l r - offset B k s).
    pose proof (many k s l r inside inside_r) as near. pose proof (many l r k s inside_r inside) as near_back. fold D in near.
    pose proof (Z.div_mod D T ltac:(lia)) as split. pose proof (Z.mod_pos_bound D T positive) as bound.
    assert (- Z.of_nat (microbatches M) < D / T < Z.of_nat (microbatches M)) by (unfold D in *; nia).
    pose proof (apart k s (Z.to_nat (Z.max 0 (D / T))) l r (Z.to_nat (Z.max 0 (- (D / T)))) inside inside_r
      ltac:(lia) ltac:(lia) same ltac:(congruence)) as gap.
    rewrite !Z2Nat.id in gap by lia. unfold time_of in gap. cbn [kind_of stage_of] in gap.
    assert (offset B l r + Z.max 0 (- (D / T)) * T - (offset B k s + Z.max 0 (D / T) * T) = D mod T).
    { destruct (Z.max_spec 0 (D / T)) as [[_ up] | [_ up]]; rewrite up;
        destruct (Z.max_spec 0 (- (D / T))) as [[_ down] | [_ down]]; rewrite down; unfold D in *; lia. }
    lia.
Qed.

(** ** What a device holds while copies follow each other *)

(** The quotient, rounded up. *)
Definition ceiling (x T : Z) : Z := - ((- x) / T).

Lemma ceiling_spec : forall x T, 0 < T -> x <= ceiling x T * T < x + T.
Proof.
  intros x T positive. unfold ceiling. pose proof (Z.div_mod (- x) T ltac:(lia)) as split.
  pose proof (Z.mod_pos_bound (- x) T positive). lia.
Qed.

Lemma ceiling_unique : forall x T c, 0 < T -> x <= c * T < x + T -> ceiling x T = c.
Proof. intros x T c positive near. pose proof (ceiling_spec x T positive). nia. Qed.

Lemma ceiling_shift : forall x m T, 0 < T -> ceiling (x + m * T) T = m + ceiling x T.
Proof. intros x m T positive. apply ceiling_unique; [exact positive |]. pose proof (ceiling_spec x T positive). lia. Qed.

Lemma ceiling_monotone : forall x y T, 0 < T -> x <= y -> ceiling x T <= ceiling y T.
Proof. intros x y T positive less. pose proof (ceiling_spec x T positive). pose proof (ceiling_spec y T positive). nia. Qed.

Lemma ceiling_sum : forall x y T, 0 < T -> ceiling (x + y) T <= ceiling x T + ceiling y T.
Proof.
  intros x y T positive. pose proof (ceiling_spec x T positive). pose proof (ceiling_spec y T positive).
  pose proof (ceiling_spec (x + y) T positive). nia.
Qed.

(** How many copies of a pass start before x, counted from microbatch 0, and below 0 where that one starts later. *)
Definition copies_before (B : block) (x : Z) (k : kind) (s : nat) : Z := ceiling (x - offset B k s) (interval B).

(** What the copies of a stage hold by then. *)
Definition live_of_stage (M : model) (B : block) (x : Z) (s : nat) : Z :=
  activation M s * copies_before B x F s - (activation M s - retained M s) * copies_before B x I s -
  retained M s * copies_before B x W s.

(** What a device holds once an F of stage r has started. *)
Definition live_at_start (M : model) (B : block) (r : nat) : Z :=
  activation M r + sum (live_of_stage M B (offset B F r)) (stages_on M (device_of M r)).

(** The most that a device holds while copies follow each other: memory grows only where an F starts. *)
Definition steady_peak (M : model) (B : block) (d : nat) : Z := largest (map (live_at_start M B) (stages_on M d)).

(** From the start of F to the end of the last backward pass. *)
Definition lifespan (M : model) (B : block) (s : nat) : Z :=
  Z.max (offset B I s + time M I s) (offset B W s + time M W s) - offset B F s.

Definition lifespan_bound (M : model) (B : block) (d : nat) : Z :=
  sum (fun s => activation M s * Z.max 1 (ceiling (lifespan M B s) (interval B))) (stages_on M d).

(** Only microbatches from 0 to n - 1 exist. *)
Definition clamp (n : nat) (c : Z) : Z := Z.max 0 (Z.min (Z.of_nat n) c).

Lemma count_before : forall T o x n, 0 < T ->
  sum (fun m => if o + Z.of_nat m * T <? x then 1 else 0) (seq 0 n) = clamp n (ceiling (x - o) T).
Proof.
  intros T o x n positive. pose proof (ceiling_spec (x - o) T positive) as near. induction n as [| n IH].
  - cbn [seq sum]. unfold clamp. lia.
  - rewrite seq_S, sum_app, IH. cbn [sum plus]. unfold clamp. destruct (Z.ltb_spec (o + Z.of_nat n * T) x) as [before | behind].
    + assert (Z.of_nat n < ceiling (x - o) T) by nia. lia.
    + assert (ceiling (x - o) T <= Z.of_nat n) by nia. lia.
Qed.

Definition clamped_live (M : model) (B : block) (x : Z) (s : nat) : Z :=
  activation M s * clamp (microbatches M) (copies_before B x F s) -
  (activation M s - retained M s) * clamp (microbatches M) (copies_before B x I s) -
  retained M s * clamp (microbatches M) (copies_before B x W s).

(** What some passes have acquired and released if they start before x. *)
Definition kept_before (M : model) (B : block) (x : Z) (p : pass) : Z :=
  if stamp B p <? x then acquires M p - releases M p else 0.

Lemma kept_of_stage : forall M B x s, 0 < interval B ->
  sum (of_microbatch (kept_before M B x) s) (seq 0 (microbatches M)) = clamped_live M B x s.
Proof.
  intros M B x s positive. unfold clamped_live, copies_before. rewrite <- !count_before by exact positive.
  induction (seq 0 (microbatches M)) as [| m l IH]; [cbn [sum]; ring |]. cbn [sum]. rewrite IH.
  unfold of_microbatch, kept_before, stamp, acquires, releases. cbn [kind_of stage_of microbatch_of].
  destruct (offset B F s + Z.of_nat m * interval B <? x), (offset B I s + Z.of_nat m * interval B <? x),
    (offset B W s + Z.of_nat m * interval B <? x); ring.
Qed.

Lemma sum_indicator : forall (f : nat -> Z) l r, NoDup l -> In r l -> sum (fun s => if Nat.eqb s r then f s else 0) l = f r.
Proof.
  intros f l r once. induction once as [| s l fresh once IH]; intros inside; [destruct inside |]. cbn [sum].
  destruct inside as [same | inside].
  - subst s. rewrite Nat.eqb_refl. rewrite (sum_ext _ (fun _ => 0)).
    + rewrite sum_constant. ring.
    + intros s inside. destruct (Nat.eqb_spec s r); [subst; contradiction | reflexivity].
  - rewrite (IH inside). destruct (Nat.eqb_spec s r); [subst; contradiction | ring].
Qed.

Section Steady.
  Variable M : model.
  Variable B : block.
  Hypothesis Well : well_formed M.
  Hypothesis Time : takes_time M.
  Hypothesis Good : valid M B.

  Lemma positive_interval : 0 < interval B.
  Proof. exact (interval_positive _ _ Good). Qed.

  (** Copies of I are behind those of F, and copies of W behind those of I. *)
  Lemma copies_ordered : forall x s, (s < stages M)%nat ->
    copies_before B x W s <= copies_before B x I s <= copies_before B x F s.
  Proof.
    intros x s inside. pose proof (F_to_I M B Well Time Good s inside). pose proof (I_to_W M B Time Good s inside).
    unfold copies_before. split; apply ceiling_monotone; solve [apply positive_interval | lia].
  Qed.

  Lemma amounts : forall s, 0 <= retained M s <= activation M s.
  Proof. apply Well. Qed.

  Lemma live_of_stage_nonneg : forall x s, (s < stages M)%nat -> 0 <= live_of_stage M B x s.
  Proof. intros x s inside. pose proof (copies_ordered x s inside). pose proof (amounts s). unfold live_of_stage. nia. Qed.

  (** Microbatches that do not exist hold nothing. *)
  Lemma clamped_at_most : forall x s, (s < stages M)%nat -> clamped_live M B x s <= live_of_stage M B x s.
  Proof.
    intros x s inside. pose proof (copies_ordered x s inside) as chain. pose proof (amounts s) as units.
    unfold clamped_live, live_of_stage. set (f := copies_before B x F s) in *. set (i := copies_before B x I s) in *.
    set (w := copies_before B x W s) in *. set (n := microbatches M).
    assert (clamp n f - clamp n i <= f - i) by (unfold clamp; lia). assert (clamp n f - clamp n w <= f - w) by (unfold clamp; lia).
    assert ((activation M s - retained M s) * (clamp n f - clamp n i) <= (activation M s - retained M s) * (f - i)).
    { apply Z.mul_le_mono_nonneg_l; lia. }
    assert (retained M s * (clamp n f - clamp n w) <= retained M s * (f - w)) by (apply Z.mul_le_mono_nonneg_l; lia).
    lia.
  Qed.

  (** Each microbatch finds the same. *)
  Lemma live_repeats : forall x m s, live_of_stage M B (x + m * interval B) s = live_of_stage M B x s.
  Proof.
    intros x m s. unfold live_of_stage, copies_before.
    replace (x + m * interval B - offset B F s) with (x - offset B F s + m * interval B) by ring.
    replace (x + m * interval B - offset B I s) with (x - offset B I s + m * interval B) by ring.
    replace (x + m * interval B - offset B W s) with (x - offset B W s + m * interval B) by ring.
    rewrite !ceiling_shift by apply positive_interval. ring.
  Qed.

  (** What a device holds behind the passes before p is a matter of counting. *)
  Lemma kept_is_count : forall d done p rest, (d < devices M)%nat -> repeated M B d = done ++ p :: rest ->
    kept M done = sum (clamped_live M B (stamp B p)) (stages_on M d).
  Proof.
    intros d done p rest inside shape. pose proof (repeated_complete M B) as whole. destruct (whole d inside) as [once members].
    rewrite (sum_ext _ (fun s => sum (of_microbatch (kept_before M B (stamp B p)) s) (seq 0 (microbatches M)))).
    2: { intros s _. symmetry. apply kept_of_stage. apply positive_interval. }
    rewrite <- (sum_over_order M (repeated M B) whole d inside). pose proof (repeated_by_stamp M B d) as sorted.
    rewrite shape in *. destruct (by_stamp_split B done p rest sorted) as [ahead behind]. rewrite sum_app. cbn [sum].
    assert (self : kept_before M B (stamp B p) p = 0) by (unfold kept_before; rewrite Z.ltb_irrefl; reflexivity).
    rewrite self, (sum_ext (kept_before M B (stamp B p)) (fun _ => 0) rest), sum_constant.
    - unfold kept. rewrite (sum_ext (kept_before M B (stamp B p)) (fun q => acquires M q - releases M q) done); [ring |].
      intros q before. unfold kept_before. destruct (Z.ltb_spec (stamp B q) (stamp B p)) as [_ | late]; [reflexivity |].
      destruct (proj1 (members p)) as [here on]; [apply in_app_iff; right; left; reflexivity |].
      destruct (proj1 (members q)) as [there on_q]; [apply in_app_iff; left; exact before |].
      assert (q <> p).
      { intros same. subst q. apply NoDup_remove_2 in once. apply once. apply in_app_iff. left. exact before. }
      pose proof (ends_before M B Good q p there here ltac:(congruence) ltac:(assumption) (ahead q before)) as ends.
      pose proof (Time (kind_of q) (stage_of q) (proj1 there)). unfold time_of in ends. lia.
    - intros q later. unfold kept_before. specialize (behind q later).
      destruct (Z.ltb_spec (stamp B q) (stamp B p)); [lia | reflexivity].
  Qed.

  (** While an F starts, a device holds at most what it holds in the steady phase, whatever the number of microbatches. *)
  Theorem held_at_most_live : forall d done r m rest, (d < devices M)%nat -> repeated M B d = done ++ Pass F r m :: rest ->
    held M done (Pass F r m) <= live_at_start M B r.
  Proof.
    intros d done r m rest inside shape. unfold held. rewrite (kept_is_count d done _ rest inside shape).
    destruct (proj1 (proj2 (repeated_complete M B d inside) (Pass F r m))) as [_ on].
    { rewrite shape. apply in_app_iff. right. left. reflexivity. }
    cbn [stage_of] in on. unfold live_at_start, acquires, stamp. cbn [kind_of stage_of microbatch_of]. rewrite on.
    rewrite Z.add_comm. apply Z.add_le_mono_l. apply sum_le. intros s stage. rewrite <- (live_repeats _ (Z.of_nat m) s).
    apply clamped_at_most. apply in_stages_on in stage. apply stage.
  Qed.

  (** Where every count lies within the microbatches that exist, it holds exactly that. *)
  Theorem held_is_live : forall d done r m rest, (d < devices M)%nat -> repeated M B d = done ++ Pass F r m :: rest ->
    (forall k s, In s (stages_on M d) ->
      0 <= Z.of_nat m + copies_before B (offset B F r) k s <= Z.of_nat (microbatches M)) ->
    held M done (Pass F r m) = live_at_start M B r.
  Proof.
    intros d done r m rest inside shape steady. unfold held. rewrite (kept_is_count d done _ rest inside shape).
    destruct (proj1 (proj2 (repeated_complete M B d inside) (Pass F r m))) as [_ on].
    { rewrite shape. apply in_app_iff. right. left. reflexivity. }
    cbn [stage_of] in on. unfold live_at_start, acquires, stamp. cbn [kind_of stage_of microbatch_of]. rewrite on.
    rewrite Z.add_comm. f_equal. apply sum_ext. intros s stage. rewrite <- (live_repeats _ (Z.of_nat m)).
    assert (inner : forall k, clamp (microbatches M) (copies_before B (offset B F r + Z.of_nat m * interval B) k s) =
      copies_before B (offset B F r + Z.of_nat m * interval B) k s).
    { intros k. specialize (steady k s stage). unfold copies_before in *.
      replace (offset B F r + Z.of_nat m * interval B - offset B k s) with (offset B F r - offset B k s + Z.of_nat m * interval B)
        by ring.
      rewrite ceiling_shift by apply positive_interval. unfold clamp. lia. }
    unfold clamped_live, live_of_stage. rewrite !inner. reflexivity.
  Qed.

  Lemma live_nonneg : forall r, 0 <= live_at_start M B r.
  Proof.
    intros r. unfold live_at_start. pose proof (amounts r).
    assert (0 <= sum (live_of_stage M B (offset B F r)) (stages_on M (device_of M r))); [| lia].
    apply sum_nonneg. intros s stage. apply live_of_stage_nonneg. apply in_stages_on in stage. apply stage.
  Qed.

  Lemma steady_above : forall d r, In r (stages_on M d) -> live_at_start M B r <= steady_peak M B d.
  Proof. intros d r stage. apply largest_above. apply in_map. exact stage. Qed.

  (** The repeated block never holds more than its steady peak, whatever the number of microbatches. *)
  Theorem peak_at_most_steady : forall d, (d < devices M)%nat -> peak M (repeated M B d) <= steady_peak M B d.
  Proof.
    intros d inside. destruct (repeated_complete M B d inside) as [_ members].
    assert (enough : forall done p rest, repeated M B d = done ++ p :: rest -> held M done p <= steady_peak M B d).
    { assert (forward : forall done r m rest, repeated M B d = done ++ Pass F r m :: rest ->
        held M done (Pass F r m) <= steady_peak M B d).
      { intros done r m rest shape. eapply Z.le_trans; [apply (held_at_most_live d done r m rest inside shape) |].
        apply steady_above. destruct (proj1 (members (Pass F r m))) as [[here _] on].
        { rewrite shape. apply in_app_iff. right. left. reflexivity. }
        apply in_stages_on. split; [exact here | exact on]. }
      assert (floor : forall p rest, repeated M B d = p :: rest -> 0 <= steady_peak M B d).
      { intros p rest shape. destruct (proj1 (members p)) as [[here _] on]; [rewrite shape; left; reflexivity |].
        eapply Z.le_trans; [apply (live_nonneg (stage_of p)) |]. apply steady_above. apply in_stages_on. auto. }
      assert (behind : forall done rest, repeated M B d = done ++ rest -> done <> [] -> kept M done <= steady_peak M B d).
      { intros done. induction done as [| [k s m] done IH] using rev_ind; intros rest shape some; [contradiction |].
        rewrite <- app_assoc in shape. cbn [app] in shape. unfold kept. rewrite sum_app. cbn [sum]. fold (kept M done).
        pose proof (releases_nonneg M Well (Pass k s m)) as released.
        destruct k.
        - pose proof (forward done s m rest shape) as start. unfold held in start. lia.
        - destruct done as [| p done].
          + pose proof (floor _ _ shape). unfold kept. cbn [sum acquires kind_of] in *. lia.
          + pose proof (IH (Pass I s m :: rest) shape ltac:(discriminate)). cbn [acquires kind_of] in *. lia.
        - destruct done as [| p done].
          + pose proof (floor _ _ shape). unfold kept. cbn [sum acquires kind_of] in *. lia.
          + pose proof (IH (Pass W s m :: rest) shape ltac:(discriminate)). cbn [acquires kind_of] in *. lia. }
      intros done [k s m] rest shape. destruct k; [exact (forward done s m rest shape) | |]; unfold held;
        cbn [acquires kind_of]; rewrite Z.add_0_r;
        (destruct done as [| p done]; [exact (floor _ _ shape) | exact (behind (p :: done) _ shape ltac:(discriminate))]). }
    destruct (repeated M B d) as [| p l] eqn:shape.
    - unfold peak. cbn [peak_from]. unfold steady_peak. destruct (stages_on M d) as [| r l] eqn:stages; [cbn; lia |].
      eapply Z.le_trans; [apply (live_nonneg r) |]. apply largest_above. left. reflexivity.
    - destruct (peak_is_held M Well (p :: l) ltac:(discriminate)) as [done [q [rest [split_at reached]]]].
      rewrite reached. apply (enough done q rest). exact split_at.
  Qed.

  (** With so many microbatches, some microbatch finds all its neighbours. *)
  Definition farthest (d : nat) : Z :=
    largest (flat_map (fun r => flat_map (fun s => map (fun k => Z.abs (copies_before B (offset B F r) k s)) kinds)
      (stages_on M d)) (stages_on M d)).

  Definition enough_microbatches (d : nat) : Z := 2 * farthest d + 1.

  Lemma farthest_above : forall d r s k, In r (stages_on M d) -> In s (stages_on M d) ->
    Z.abs (copies_before B (offset B F r) k s) <= farthest d.
  Proof.
    intros d r s k here there. apply largest_above. apply in_flat_map. exists r. split; [exact here |].
    apply in_flat_map. exists s. split; [exact there |].
    apply (in_map (fun l => Z.abs (copies_before B (offset B F r) l s))). apply in_kinds.
  Qed.

  (** Then a device reaches its steady peak: so the steady peak is exact. *)
  Theorem peak_is_steady : forall d, (d < devices M)%nat -> enough_microbatches d <= Z.of_nat (microbatches M) ->
    peak M (repeated M B d) = steady_peak M B d.
  Proof.
    intros d inside enough. apply Z.le_antisymm; [apply peak_at_most_steady; exact inside |]. unfold enough_microbatches in enough.
    destruct (stages_on M d) as [| t others] eqn:stages.
    { unfold steady_peak. rewrite stages. cbn. apply peak_nonneg. exact Well. }
    assert (found : In (steady_peak M B d) (map (live_at_start M B) (stages_on M d))).
    { apply largest_in. rewrite stages. discriminate. }
    apply in_map_iff in found. destruct found as [r [same here]]. rewrite <- same.
    set (m := Z.to_nat (farthest d)).
    assert (0 <= farthest d) by (pose proof (farthest_above d r r F here here); lia).
    assert (listed : In (Pass F r m) (repeated M B d)).
    { apply (repeated_complete M B d inside). apply in_stages_on in here. unfold exists_in. cbn [stage_of microbatch_of].
      destruct here as [here on]. repeat split; [exact here | lia | exact on]. }
    apply in_split in listed. destruct listed as [done [rest shape]].
    rewrite <- (held_is_live d done r m rest inside shape).
    - apply (held_at_most_peak M _ done _ rest shape).
    - intros k s there. pose proof (farthest_above d r s k here there). lia.
  Qed.

  (** ** Lifespans *)

  Lemma stage_at_most_lifespan : forall r s, (r < stages M)%nat -> (s < stages M)%nat ->
    live_of_stage M B (offset B F r) s + (if Nat.eqb s r then activation M s else 0) <=
    activation M s * Z.max 1 (ceiling (lifespan M B s) (interval B)).
  Proof.
    intros r s inside_r inside. pose proof positive_interval as positive.
    pose proof (copies_ordered (offset B F r) s inside) as chain.
    pose proof (amounts s) as units. unfold live_of_stage.
    assert (longest : offset B W s + time M W s - offset B F s <= lifespan M B s) by (unfold lifespan; lia).
    pose proof (Time W s inside) as weight.
    assert (span : copies_before B (offset B F r) F s - copies_before B (offset B F r) W s + (if Nat.eqb s r then 1 else 0) <=
      ceiling (lifespan M B s) (interval B)).
    { destruct (Nat.eqb_spec s r) as [same | _].
      - subst r. unfold copies_before. rewrite Z.sub_diag.
        pose proof (ceiling_spec (offset B F s - offset B W s) (interval B) positive).
        pose proof (ceiling_spec (lifespan M B s) (interval B) positive).
        assert (ceiling 0 (interval B) = 0) by (apply ceiling_unique; lia). nia.
      - unfold copies_before. set (x := offset B F r).
        pose proof (ceiling_sum (x - offset B W s) (offset B W s - offset B F s) (interval B) positive) as parts.
        replace (x - offset B W s + (offset B W s - offset B F s)) with (x - offset B F s) in parts by ring.
        pose proof (ceiling_monotone (offset B W s - offset B F s) (lifespan M B s) (interval B) positive ltac:(lia)). lia. }
    set (f := copies_before B (offset B F r) F s) in *. set (i := copies_before B (offset B F r) I s) in *.
    set (w := copies_before B (offset B F r) W s) in *.
    assert ((activation M s - retained M s) * w <= (activation M s - retained M s) * i) by (apply Z.mul_le_mono_nonneg_l; lia).
    apply Z.le_trans with (activation M s * (f - w + (if Nat.eqb s r then 1 else 0))); [destruct (Nat.eqb s r); lia |].
    apply Z.mul_le_mono_nonneg_l; lia.
  Qed.

  (** Equation 1 of arXiv 2405.15362: a device holds at most the sum of its lifespans divided by T, each rounded up. *)
  Theorem steady_at_most_lifespans : forall d, steady_peak M B d <= lifespan_bound M B d.
  Proof.
    intros d. destruct (stages_on M d) as [| t others] eqn:stages.
    { unfold steady_peak, lifespan_bound. rewrite stages. cbn. lia. }
    assert (found : In (steady_peak M B d) (map (live_at_start M B) (stages_on M d))).
    { apply largest_in. rewrite stages. discriminate. }
    apply in_map_iff in found. destruct found as [r [same here]]. rewrite <- same. pose proof here as inside.
    apply in_stages_on in inside. destruct inside as [inside on]. unfold live_at_start, lifespan_bound. rewrite on.
    rewrite <- (sum_indicator (activation M) (stages_on M d) r (no_dup_stages_on M d) here) at 1.
    rewrite Z.add_comm, <- sum_add. apply sum_le. intros s stage. apply stage_at_most_lifespan; [exact inside |].
    apply in_stages_on in stage. apply stage.
  Qed.
End Steady.

(** ** Fractions of a tick *)

(** Rounded down, numbers keep every lower bound on a difference if the bound is a whole number. *)
Theorem floors_keep_differences : forall N c x y, 0 < N -> N * c <= y - x -> c <= y / N - x / N.
Proof.
  intros N c x y positive apart. assert (x / N + c <= y / N); [| lia]. rewrite <- Z.div_add by lia.
  apply Z.div_le_mono; lia.
Qed.

(** So whatever system of such bounds has a solution in parts of a unit has one in whole units. *)
Corollary whole_solution : forall (A : Type) (bounds : list (A * A * Z)) (N : Z) (x : A -> Z), 0 < N ->
  (forall u v c, In (u, v, c) bounds -> N * c <= x v - x u) ->
  exists y, forall u v c, In (u, v, c) bounds -> c <= y v - y u.
Proof.
  intros A bounds N x positive each. exists (fun u => x u / N). intros u v c inside.
  apply floors_keep_differences; [exact positive |]. apply each. exact inside.
Qed.

(** The same model, counted in N parts of a tick. *)
Definition in_parts (N : Z) (M : model) : model :=
  Model (devices M) (stages M) (microbatches M) (device_of M) (fun k s => N * time M k s) (fun s => N * latency M s)
    (activation M) (retained M) (capacity M).

(** A block in N parts of a tick, rounded down to whole ticks. *)
Definition whole_ticks (N : Z) (B : block) : block := Block (interval B / N) (fun k s => offset B k s / N).

Section Parts.
  Variable M : model.
  Variable B : block.
  Variable N T : Z.
  Hypothesis Time : takes_time M.
  Hypothesis Positive : 0 < N.
  Hypothesis Interval : interval B = N * T.
  Hypothesis Good : valid (in_parts N M) B.

  Lemma whole_interval : interval (whole_ticks N B) = T.
  Proof. cbn. rewrite Interval, Z.mul_comm. apply Z.div_mul. lia. Qed.

  Lemma interval_of_ticks : 0 < T.
  Proof. pose proof (interval_positive _ _ Good) as positive. rewrite Interval in positive. nia. Qed.

  (** Two passes of a device keep their distance in intervals, and the rest is room for both. *)
  Lemma whole_distance : forall k s l r, (s < stages M)%nat -> (r < stages M)%nat -> device_of M s = device_of M r ->
    (k, s) <> (l, r) ->
    let q := (offset B l r - offset B k s) / (N * T) in
    time M k s <= offset B l r / N - offset B k s / N - T * q <= T - time M l r.
  Proof.
    intros k s l r inside inside_r same differ q. pose proof interval_of_ticks as positive.
    pose proof (no_overlap _ _ Good k s l r inside inside_r same differ) as ahead.
    pose proof (no_overlap _ _ Good l r k s inside_r inside (eq_sym same) (not_eq_sym differ)) as behind.
    cbn [time in_parts] in ahead, behind. rewrite Interval in ahead, behind.
    pose proof (Time k s inside) as time_k. pose proof (Time l r inside_r) as time_l.
    set (D := offset B l r - offset B k s) in *. assert (whole : 0 < N * T) by nia.
    pose proof (Z.div_mod D (N * T) ltac:(lia)) as split. fold q in split.
    pose proof (Z.mod_pos_bound D (N * T) whole) as bound.
    assert (back : (offset B k s - offset B l r) mod (N * T) = N * T - D mod (N * T)).
    { replace (offset B k s - offset B l r) with (- D) by (unfold D; ring). apply Z.mod_opp_l_nz; [lia |]. nia. }
    rewrite back in behind.
    assert (T * q + time M k s <= offset B l r / N - offset B k s / N).
    { apply floors_keep_differences; [exact Positive |]. fold D. nia. }
    assert (time M l r - T - T * q <= offset B k s / N - offset B l r / N).
    { apply floors_keep_differences; [exact Positive |].
      replace (offset B k s - offset B l r) with (- D) by (unfold D; ring). nia. }
    lia.
  Qed.

  (** A valid block in parts of a tick gives a valid block in whole ticks. *)
  Theorem whole_ticks_valid : valid M (whole_ticks N B).
  Proof.
    pose proof interval_of_ticks as positive. destruct Good as [_ room forward turn backward weights _].
    cbn [stages time latency in_parts] in *. rewrite Interval in room.
    assert (keep : forall x y a, x + N * a <= y -> x / N + a <= y / N).
    { intros x y a apart. pose proof (floors_keep_differences N a x y Positive ltac:(lia)). lia. }
    split; rewrite ?whole_interval; cbn [offset whole_ticks].
    - exact positive.
    - intros k s inside. specialize (room k s inside). nia.
    - intros s inside. rewrite <- Z.add_assoc. apply keep. specialize (forward s inside). lia.
    - apply keep. exact turn.
    - intros s inside. rewrite <- Z.add_assoc. apply keep. specialize (backward s inside). lia.
    - intros s inside. apply keep. apply weights. exact inside.
    - intros k s l r inside inside_r same differ. pose proof (whole_distance k s l r inside inside_r same differ) as apart.
      cbn zeta in apart. set (q := (offset B l r - offset B k s) / (N * T)) in *. pose proof (Time k s inside).
      pose proof (Time l r inside_r).
      rewrite <- (Z.mod_unique (offset B l r / N - offset B k s / N) T q (offset B l r / N - offset B k s / N - T * q));
        [lia | left; lia | ring].
  Qed.

  Lemma whole_copies : forall r k s, (s < stages M)%nat -> (r < stages M)%nat -> device_of M s = device_of M r ->
    copies_before (whole_ticks N B) (offset (whole_ticks N B) F r) k s = copies_before B (offset B F r) k s.
  Proof.
    intros r k s inside inside_r same. unfold copies_before. rewrite whole_interval, Interval. cbn [offset whole_ticks].
    pose proof interval_of_ticks as positive. assert (0 < N * T) by nia.
    assert (cases : (F, r) = (k, s) \/ (F, r) <> (k, s)).
    { destruct (kind_eq_dec F k); [| right; congruence]. destruct (Nat.eq_dec r s); [left | right]; congruence. }
    destruct cases as [equal | differ].
    - inversion equal; subst. rewrite !Z.sub_diag. unfold ceiling. rewrite !Z.div_0_l by lia. reflexivity.
    - pose proof (whole_distance F r k s inside_r inside (eq_sym same) differ) as apart. cbn zeta in apart.
      pose proof (Time F r inside_r). pose proof (Time k s inside). unfold ceiling.
      rewrite !Z.opp_sub_distr, !Z.add_comm with (m := offset B k s).
      rewrite (Z.add_comm (- (offset B F r / N))). rewrite !Z.add_opp_r. f_equal.
      symmetry. apply Z.div_unique with (offset B k s / N - offset B F r / N - T * ((offset B k s - offset B F r) / (N * T)));
        [left; lia | ring].
  Qed.

  (** Every device holds as much as before at the start of each F. *)
  Theorem whole_ticks_live : forall r, (r < stages M)%nat -> live_at_start M (whole_ticks N B) r = live_at_start (in_parts N M) B r.
  Proof.
    intros r inside. unfold live_at_start. cbn [activation device_of in_parts]. f_equal.
    apply (sum_ext _ _ (stages_on M (device_of M r))). intros s stage. apply in_stages_on in stage. destruct stage as [here on].
    unfold live_of_stage. rewrite !whole_copies by assumption. reflexivity.
  Qed.

  Theorem whole_ticks_peak : forall d, steady_peak M (whole_ticks N B) d = steady_peak (in_parts N M) B d.
  Proof.
    intros d. unfold steady_peak. f_equal. apply map_ext_in. intros r stage. apply whole_ticks_live.
    apply in_stages_on in stage. apply stage.
  Qed.
End Parts.
