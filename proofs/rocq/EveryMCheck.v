(** * EveryMCheck: the check for every number of microbatches as a program

    [every_m_check] replays one schedule and compares its state at two cuts; [every_m_makespan], [every_m_span] and
    [every_m_peak] are the formulas. [every_m_check_sound] says that they are right for every number of repetitions,
    [every_m_valid_check_sound] that validity needs no state that comes again, and [replay_check_sound] that one schedule takes
    the least time. *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Require Import Bubbleproof.Growing Bubbleproof.Earliest Bubbleproof.Repeats Bubbleproof.EveryM.
Import ListNotations.
Open Scope Z_scope.

(** ** The check, as a program *)

Definition kinds := [F; I; W].

(** What a pass needs, and how long after the end of that. *)
Definition needs_into (M : model) (p : pass) : list (pass * Z) :=
  match p with
  | Pass F 0 m => []
  | Pass F (S s) m => [(Pass F s m, latency M s)]
  | Pass I s m => if Nat.eqb (S s) (stages M) then [(Pass F s m, 0)] else [(Pass I (S s) m, latency M s)]
  | Pass W s m => [(Pass I s m, 0)]
  end.

(** Conditions 1 to 3. *)
Definition repeatable_check (M : model) (G : growing) : bool :=
  let K := period G in
  let all := seq 0 (devices M) in
  Nat.ltb 0 K &&
  forallb (fun d => forallb (fun p => Nat.ltb (stage_of p) (stages M) && Nat.eqb (device_of M (stage_of p)) d) (body G d)) all &&
  forallb (fun s => forallb (fun k => forallb (fun m =>
    Nat.eqb (length (filter (same_slot K (Pass k s m)) (body G (device_of M s)))) 1) (seq 0 K)) kinds) (seq 0 (stages M)) &&
  forallb (fun d => forallb (fun p => Nat.ltb (microbatch_of p) (begins M G p)) (head G d)) all &&
  forallb (fun d => forallb (fun p => Nat.leb (begins M G p) (microbatch_of p)) (tail G d)) all &&
  forallb (fun d => forallb (fun v =>
    forallb (fun n => Nat.leb (begins M G v) (begins M G (fst n))) (needs_into M v)) (body G d)) all.

(** Whether given start times, and given places in a sequence, are those as soon as possible on a device: [free] is when the
    device is free, [low] the least place that is left. *)
Fixpoint device_check (M : model) (start : pass -> Z) (place : pass -> N) (d : nat) (free : Z) (low : N) (l : list pass) : bool :=
  match l with
  | [] => true
  | v :: rest =>
    Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M) && Nat.eqb (device_of M (stage_of v)) d &&
    N.leb low (place v) && Z.leb free (start v) &&
    forallb (fun n => Z.leb (start (fst n) + time_of M (fst n) + snd n) (start v) && N.ltb (place (fst n)) (place v)) (needs_into
      M v) &&
    (Z.leb (start v) free || existsb (fun n => Z.eqb (start (fst n) + time_of M (fst n) + snd n) (start v)) (needs_into M v)) &&
    device_check M start place d (start v + time_of M v) (N.succ (place v)) rest
  end.

Definition execution_check (M : model) (S : schedule) (start : pass -> Z) (place : pass -> N) : bool :=
  forallb (fun d => Nat.eqb (length (S d)) (length (all_passes M d)) && device_check M start place d 0 0 (S d)) (seq 0 (devices M)).

(** The same state at both cuts. *)
Definition repeats_check (M : model) (G : growing) (start : pass -> Z) (r c : nat) (L : Z) : bool :=
  let K := period G in
  let free d n := last_end M start (front G d n) in
  Z.leb 0 L &&
  forallb (fun d =>
    let early := free d r in
    let late := free d (r + c)%nat in
    Z.eqb late (early + L) &&
    forallb (fun v => forallb (fun n =>
      let u := fst n in
      forallb (fun j =>
        let at_ := later (r * K + j * K) u in
        let waits_ p := start p + time_of M u + snd n in
        Z.eqb (Z.max (waits_ (later (c * K) at_)) late) (Z.max (waits_ at_) early + L))
        (seq 0 ((begins M G u - begins M G v + K - 1) / K))) (needs_into M v)) (body G d)) (seq 0 (devices M)).

(** *** The start times, by running whatever can run *)

Definition key (M : model) (p : pass) : positive :=
  N.succ_pos ((N.of_nat (stage_of p) * N.of_nat (microbatches M) + N.of_nat (microbatch_of p)) * 3 +
    match kind_of p with F => 0 | I => 1 | W => 2 end).

(** Start, end and place of each pass that has run. *)
Definition table := PositiveMap.t (Z * N).

Definition start_in (M : model) (T : table) (p : pass) : Z :=
  match PositiveMap.find (key M p) T with Some (t, _) => Z.max 0 t | None => 0 end.
Definition place_in (M : model) (T : table) (p : pass) : N :=
  match PositiveMap.find (key M p) T with Some (_, n) => n | None => 0%N end.

(** When everything that a pass needs is there; nothing if it is not. *)
Definition ready (M : model) (T : table) (p : pass) (free : Z) : option Z :=
  fold_left (fun x n => match x, PositiveMap.find (key M (fst n)) T with
    | Some t, Some (begun, _) => Some (Z.max t (begun + time_of M (fst n) + snd n))
    | _, _ => None
    end) (needs_into M p) (Some free).

Fixpoint run_device (M : model) (l : list pass) (free : Z) (T : table) (next : N) : list pass * Z * table * N :=
  match l with
  | [] => ([], free, T, next)
  | p :: rest =>
    match ready M T p free with
    | None => (l, free, T, next)
    | Some t => run_device M rest (t + time_of M p) (PositiveMap.add (key M p) (t, next) T) (N.succ next)
    end
  end.

Definition one_round (M : model) (state : list (list pass * Z) * table * N) : list (list pass * Z) * table * N :=
  let '(devices_, T, next) := state in
  fold_left (fun '(done, T, next) '(l, free) =>
    let '(l', free', T', next') := run_device M l free T next in (done ++ [(l', free')], T', next')) devices_ ([], T, next).

Fixpoint rounds (M : model) (fuel : nat) (state : list (list pass * Z) * table * N) : table :=
  match fuel with
  | O => snd (fst state)
  | S fuel =>
    let '(devices_, T, next) := state in
    if forallb (fun '(l, _) => match l with [] => true | _ => false end) devices_ then T else
    let '(devices', T', next') := one_round M state in
    if N.eqb next next' then T else rounds M fuel (devices', T', next')
  end.

(** Each round runs at least one pass, or nothing ever runs again. *)
Definition simulated (M : model) (S : schedule) : table :=
  rounds M (length (flat_map S (seq 0 (devices M)))) (map (fun d => (S d, 0)) (seq 0 (devices M)), PositiveMap.empty _, 0%N).

(** Checks q repetitions: complete, free of deadlock, and the start times are as soon as possible. *)
Definition replay_check (M : model) (S : schedule) : bool :=
  let T := simulated M S in execution_check M S (start_in M T) (place_in M T).

(** *** All of it *)

(** For a state at cut r that comes again at cut r + c, L later. *)
Definition every_m_check (M : model) (G : growing) (r c : nat) (L : Z) : bool :=
  repeatable_check M G && Nat.ltb 0 c && Nat.ltb 0 (size G r) &&
  forallb (fun q => replay_check (model_at M G q) (order G q)) (seq r c) &&
  let last := model_at M G (r + c) in
  let T := simulated last (order G (r + c)) in
  execution_check last (order G (r + c)) (start_in last T) (place_in last T) &&
  repeats_check M G (start_in last T) r c L.

(** The formula: given one by one for q from r to r + c - 1, and from then on L more with every c more repetitions. *)
Definition every_m_makespan (M : model) (G : growing) (r c : nat) (L : Z) (q : nat) : Z :=
  let first := (r + (q - r) mod c)%nat in
  let N := model_at M G first in
  makespan_of N (order G first) (start_in N (simulated N (order G first))) + Z.of_nat ((q - r) / c) * L.

Definition every_m_span (M : model) (G : growing) (r c : nat) (L : Z) (q : nat) : Z :=
  let first := (r + (q - r) mod c)%nat in
  let N := model_at M G first in
  span_of N (order G first) (start_in N (simulated N (order G first))) (device_of M 0) + Z.of_nat ((q - r) / c) * L.

(** Whether the device of stage 0 has the largest span in each of those, and no first start changes. *)
Definition every_m_span_check (M : model) (G : growing) (r c : nat) : bool :=
  forallb (fun d => match front G d r with [] => false | _ => true end) (seq 0 (devices M)) &&
  forallb (fun q =>
    let N := model_at M G q in
    let start := start_in N (simulated N (order G q)) in
    let first := span_of N (order G q) start (device_of M 0) in
    forallb (fun d => Z.leb (span_of N (order G q) start d) first) (seq 0 (devices M))) (seq r c).

Definition every_m_peak (M : model) (G : growing) (d : nat) : Z := peak M (order G 1 d).

Definition every_m_memory_check (M : model) (G : growing) : bool :=
  forallb (fun d => match capacity M d with Some limit => Z.leb (every_m_peak M G d) limit | None => true end) (seq 0 (devices M)).

(** ** The check is sound *)

Lemma needs_into_iff : forall M u lag v, well_formed M -> exists_in M v ->
  In (u, lag) (needs_into M v) <-> pass_needs M u lag v.
Proof.
  intros M u lag [k s m] [positive _] [one two]. cbn in one, two. split.
  - destruct k; cbn [needs_into].
    + destruct s as [| s]; [intros [] |]. intros [same | []]. inversion same; subst. constructor; assumption.
    + destruct (Nat.eqb (S s) (stages M)) eqn:last.
      * apply Nat.eqb_eq in last. intros [same | []]. inversion same; subst.
        replace s with (stages M - 1)%nat by lia. constructor. exact two.
      * apply Nat.eqb_neq in last. intros [same | []]. inversion same; subst. constructor; [lia | exact two].
    + intros [same | []]. inversion same; subst. constructor; assumption.
  - intros need. inversion need; subst; cbn [needs_into].
    + left. reflexivity.
    + replace (Nat.eqb (S (stages M - 1)) (stages M)) with true by (symmetry; apply Nat.eqb_eq; lia). left. reflexivity.
    + replace (Nat.eqb (S s) (stages M)) with false by (symmetry; apply Nat.eqb_neq; lia). left. reflexivity.
    + left. reflexivity.
Qed.

Lemma needs_into_has : forall M m u lag v, well_formed M -> pass_needs (resized M m) u lag v -> In (u, lag) (needs_into M v).
Proof.
  intros M m u lag v well need.
  exact (proj2 (needs_into_iff (resized M m) u lag v well (proj2 (need_ends_exist _ _ _ _ (resized_well M m well) need))) need).
Qed.

Lemma for_all : forall (A : Type) (f : A -> bool) l, forallb f l = true -> forall x, In x l -> f x = true.
Proof. intros A f l. apply (proj1 (forallb_forall f l)). Qed.

Lemma for_devices : forall (f : nat -> bool) n, forallb f (seq 0 n) = true -> forall d, (d < n)%nat -> f d = true.
Proof. intros f n each d inside. apply (for_all _ f _ each). apply in_seq. lia. Qed.

Lemma slot_only : forall K k s m p, (0 < K)%nat -> same_slot K (Pass k s m) p = same_slot K (Pass k s (m mod K)) p.
Proof. intros K k s m p some. unfold same_slot. cbn. rewrite Nat.mod_mod by lia. reflexivity. Qed.

Lemma begins_slot : forall M G p q, kind_of p = kind_of q -> stage_of p = stage_of q ->
  (microbatch_of p mod period G = microbatch_of q mod period G)%nat -> begins M G p = begins M G q.
Proof.
  intros M G p q one two three. unfold begins. rewrite two.
  replace (find (same_slot (period G) p)) with (find (same_slot (period G) q)); [reflexivity |].
  unfold same_slot. rewrite one, two, three. reflexivity.
Qed.

Theorem repeatable_check_sound : forall M G, well_formed M -> repeatable_check M G = true -> repeatable M G.
Proof.
  intros M G well passed. unfold repeatable_check in passed. rewrite !andb_true_iff in passed.
  destruct passed as [[[[[some owned] slots] heads] tails] closed_]. apply Nat.ltb_lt in some.
  assert (owned' : forall d p, (d < devices M)%nat -> In p (body G d) -> (stage_of p < stages M)%nat /\
    device_of M (stage_of p) = d).
  { intros d p inside there. pose proof (for_all _ _ _ (for_devices _ _ owned d inside) p there) as both. cbv beta in both.
    rewrite andb_true_iff, Nat.ltb_lt, Nat.eqb_eq in both. exact both. }
  assert (count : forall k s m, (s < stages M)%nat ->
    exists b, filter (same_slot (period G) (Pass k s m)) (body G (device_of M s)) = [b]).
  { intros k s m inside. pose proof (for_devices _ _ slots s inside) as of_stage. cbv beta in of_stage.
    assert (known : In k kinds) by (destruct k; cbn; auto).
    pose proof (for_all _ _ _ (for_all _ _ _ of_stage k known) (m mod period G)%nat) as one.
    cbv beta in one. rewrite Nat.eqb_eq in one. specialize (one ltac:(apply in_seq; pose proof (Nat.mod_upper_bound m (period G));
      lia)).
    replace (filter (same_slot (period G) (Pass k s m)) (body G (device_of M s)))
      with (filter (same_slot (period G) (Pass k s (m mod period G))) (body G (device_of M s))).
    - destruct (filter _ _) as [| b [| c l]]; try discriminate. exists b. reflexivity.
    - apply filter_ext. intros p. symmetry. apply slot_only. exact some. }
  assert (there_ : forall k s m, (s < stages M)%nat ->
    exists b, In b (body G (device_of M s)) /\ same_slot (period G) (Pass k s m) b = true).
  { intros k s m inside. destruct (count k s m inside) as [b one]. exists b.
    apply filter_In. rewrite one. left. reflexivity. }
  constructor; auto.
  - intros d b c inside there_b there_c same. destruct (owned' d b inside there_b) as [stage_ mine].
    destruct b as [k s m]. cbn in stage_, mine. destruct (count k s m stage_) as [x one]. rewrite mine in one.
    assert (is_b : In (Pass k s m) [x]).
    { rewrite <- one. apply filter_In. split; [exact there_b |]. apply same_slot_iff. auto. }
    assert (is_c : In c [x]) by (rewrite <- one; apply filter_In; auto).
    destruct is_b as [is_b | []], is_c as [is_c | []]. congruence.
  - intros d p inside there. pose proof (for_all _ _ _ (for_devices _ _ heads d inside) p there) as low. apply Nat.ltb_lt.
    exact low.
  - intros d p inside there. pose proof (for_all _ _ _ (for_devices _ _ tails d inside) p there) as high. apply Nat.leb_le.
    exact high.
  - intros m u lag v need.
    destruct (need_ends_exist (resized M m) u lag v well need) as [there_u there_v].
    destruct v as [k s n]. destruct (there_ k s n (proj1 there_v)) as [b [there same]].
    apply same_slot_iff in same. cbn in same. destruct b as [k' s' n']. cbn in same. destruct same as [is_k [is_s is_n]].
    subst k' s'.
    assert (inside : (device_of M s < devices M)%nat) by (apply well; apply there_v).
    pose proof (for_all _ _ _ (for_devices _ _ closed_ _ inside) _ there) as needs_. cbv beta in needs_.
    assert (moved : pass_needs (resized M (S n')) (Pass (kind_of u) (stage_of u) n') lag (Pass k s n')).
    { apply (need_moved M m (S n') u lag (Pass k s n) _ _ need); try reflexivity. cbn. lia. }
    apply needs_into_has in moved; [| exact well].
    pose proof (for_all _ _ _ needs_ _ moved) as low. cbn [fst] in low. apply Nat.leb_le in low.
    pose proof (need_same M m _ _ _ need) as equal. cbn in equal.
    rewrite (begins_slot M G (Pass k s n) (Pass k s n')) by (cbn; auto).
    rewrite (begins_slot M G u (Pass (kind_of u) (stage_of u) n')) by (cbn; congruence). exact low.
Qed.

Section Checked.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Variable place : pass -> N.
  Hypothesis Well : well_formed M.
  Hypothesis Nonneg : forall p, 0 <= start p.
  Hypothesis Passed : execution_check M S start place = true.

  Lemma device_check_at : forall d l free low before v after, device_check M start place d free low l = true ->
    l = before ++ v :: after ->
    exists_in M v /\ device_of M (stage_of v) = d /\ (low <= place v)%N /\ last_end_from M start free before <= start v /\
    (forall u, In u before -> (place u < place v)%N) /\
    (forall u lag, In (u, lag) (needs_into M v) -> start u + time_of M u + lag <= start v /\ (place u < place v)%N) /\
    (start v <= last_end_from M start free before \/
      exists u lag, In (u, lag) (needs_into M v) /\ start u + time_of M u + lag = start v).
  Proof.
    intros d l. induction l as [| p l IH]; intros free low before v after passed shape; [destruct before; discriminate |].
    cbn [device_check] in passed. rewrite !andb_true_iff in passed.
    destruct passed as [[[[[[[stage_ microbatch_] mine] above] late] needs_] soon] rest].
    destruct before as [| q before]; cbn in shape; inversion shape; subst.
    - apply Nat.ltb_lt in stage_, microbatch_. apply Nat.eqb_eq in mine. apply N.leb_le in above. apply Z.leb_le in late.
      split; [split; assumption |]. split; [exact mine |]. split; [exact above |]. split; [exact late |]. split; [intros u [] |].
      split.
      + intros u lag there. pose proof (for_all _ _ _ needs_ _ there) as both. cbn [fst snd] in both.
        rewrite andb_true_iff, Z.leb_le, N.ltb_lt in both. exact both.
      + apply orb_true_iff in soon. destruct soon as [soon | soon]; [left; apply Z.leb_le; exact soon |].
        right. apply existsb_exists in soon. destruct soon as [[u lag] [there same]]. exists u, lag. split; [exact there |].
        apply Z.eqb_eq. exact same.
    - destruct (IH _ _ before v after rest eq_refl) as [one [two [three [four [five [six seven]]]]]].
      apply N.leb_le in above. apply N.le_succ_l in three.
      split; [exact one |]. split; [exact two |]. split; [lia |]. split; [exact four |].
      split; [| split; [exact six | exact seven]].
      intros u [same | there]; [subst; exact three | apply five; exact there].
  Qed.

  Lemma device_checked : forall d, (d < devices M)%nat ->
    length (S d) = length (all_passes M d) /\ device_check M start place d 0 0 (S d) = true.
  Proof.
    intros d inside. pose proof (for_devices _ _ Passed d inside) as both. cbv beta in both.
    rewrite andb_true_iff, Nat.eqb_eq in both. exact both.
  Qed.

  Lemma checked_once : forall d l free low, device_check M start place d free low l = true -> NoDup l.
  Proof.
    intros d l. induction l as [| p l IH]; intros free low passed; [constructor |]. constructor.
    - intros there. apply in_split in there. destruct there as [a [b shape]].
      destruct (device_check_at d (p :: l) free low (p :: a) p b passed) as [_ [_ [_ [_ [each _]]]]]; [rewrite shape;
        reflexivity |].
      specialize (each p (or_introl eq_refl)). lia.
    - cbn [device_check] in passed. apply andb_true_iff in passed. apply (IH _ _ (proj2 passed)).
  Qed.

  Theorem checked_complete : complete M S.
  Proof.
    intros d inside. destruct (device_checked d inside) as [equal passed].
    pose proof (checked_once d _ _ _ passed) as once. split; [exact once |].
    assert (some : forall p, In p (S d) -> exists_in M p /\ device_of M (stage_of p) = d).
    { intros p there. apply in_split in there. destruct there as [a [b shape]].
      destruct (device_check_at d (S d) 0 0%N a p b passed shape) as [one [two _]]. auto. }
    intros p. split; [apply some |]. intros there.
    apply (NoDup_length_incl once (l' := all_passes M d)); [lia | | apply in_all_passes; exact there].
    intros q there_q. apply in_all_passes. apply some. exact there_q.
  Qed.

  Theorem checked_as_soon_as_possible : as_soon_as_possible M S start.
  Proof.
    assert (at_ : forall v, exists_in M v -> (device_of M (stage_of v) < devices M)%nat /\ exists a b,
      S (device_of M (stage_of v)) = a ++ v :: b /\
        device_check M start place (device_of M (stage_of v)) 0 0 (S (device_of M (stage_of v))) = true).
    { intros v there. assert (inside : (device_of M (stage_of v) < devices M)%nat) by (apply Well; apply there).
      split; [exact inside |].
      assert (placed : In v (S (device_of M (stage_of v)))) by (apply (checked_complete _ inside); auto).
      apply in_split in placed. destruct placed as [a [b shape]]. exists a, b. split; [exact shape |]. apply device_checked.
      exact inside. }
    assert (each : forall u w v, waits (problem_of M) (orders_of M S) u w v -> start u + w <= start v /\
      (N.to_nat (place u) < N.to_nat (place v))%nat).
    { intros u w v waiting. apply waits_cases in waiting; [| exact Well].
      destruct waiting as [[lag [need length_]] | [d [inside [[a [b shape]] length_]]]]; subst w.
      - destruct (need_ends_exist M u lag v Well need) as [_ there]. destruct (at_ v there) as [inside [a [b [shape passed]]]].
        destruct (device_check_at _ _ _ _ a v b passed shape) as [_ [_ [_ [_ [_ [needs_ _]]]]]].
        destruct (needs_ u lag) as [one two]; [apply needs_into_iff; assumption |]. split; lia.
      - destruct (device_checked d inside) as [_ passed].
        destruct (device_check_at _ _ _ _ (a ++ [u]) v b passed) as [_ [_ [_ [late [sooner _]]]]]; [rewrite shape, <- app_assoc;
          reflexivity |].
        change (last_end_from M start 0 (a ++ [u])) with (last_end M start (a ++ [u])) in late. rewrite last_end_snoc in late.
        split; [exact late |]. specialize (sooner u ltac:(rewrite in_app_iff; cbn; auto)). lia. }
    split; [split; [split |] |].
    - exact Nonneg.
    - intros u w v waiting. apply each. exact waiting.
    - exists (fun p => N.to_nat (place p)). intros u w v waiting. apply (each u w v). exact waiting.
    - intros v there. destruct (at_ v there) as [inside [a [b [shape passed]]]].
      destruct (device_check_at _ _ _ _ a v b passed shape) as [_ [_ [_ [_ [_ [_ [soon | [u [lag [need exact_]]]]]]]]]].
      + right. exists (device_of M (stage_of v)), a, b. auto.
      + left. exists u, lag. split; [apply needs_into_iff; assumption | exact exact_].
  Qed.
End Checked.

Theorem repeats_check_sound : forall M G start r c L, well_formed M -> repeatable M G ->
  repeats_check M G start r c L = true -> repeats M G start r c L.
Proof.
  intros M G start r c L well again passed. unfold repeats_check in passed. rewrite andb_true_iff in passed.
  destruct passed as [low each]. apply Z.leb_le in low. constructor; [exact low | |].
  - intros d inside. pose proof (for_devices _ _ each d inside) as both. cbv beta zeta in both. rewrite andb_true_iff in both.
    apply Z.eqb_eq. apply both.
  - intros m u lag v need cut behind. destruct (need_ends_exist (resized M m) u lag v well need) as [there_u there_v].
    assert (inside : (device_of M (stage_of v) < devices M)%nat) by (apply well; apply there_v).
    pose proof (for_devices _ _ each _ inside) as both. cbv beta zeta in both. rewrite andb_true_iff in both.
    destruct both as [_ both].
    pose proof (body_of M G again v (proj1 there_v)) as there. set (v0 := Pass (kind_of v) (stage_of v) (begins M G v)) in *.
    pose proof (for_all _ _ _ both v0 there) as of_v. cbv beta in of_v.
    set (u0 := Pass (kind_of u) (stage_of u) (begins M G v)).
    assert (moved : pass_needs (resized M (S (begins M G v))) u0 lag v0).
    { apply (need_moved M m _ u lag v u0 v0 need); try reflexivity. cbn. lia. }
    apply needs_into_has in moved; [| exact well].
    pose proof (for_all _ _ _ of_v _ moved) as of_u. cbv beta in of_u. cbn [fst snd] in of_u.
    pose proof (period_positive M G again) as some. set (K := period G) in *.
    pose proof (need_same M m _ _ _ need) as same. unfold before_cut in cut, behind. fold K in cut, behind.
    pose proof (begins_mod M G again v (proj1 there_v)) as mod_v. fold K in mod_v.
    assert (begins_v : begins M G v0 = begins M G v) by (apply begins_slot; cbn; auto).
    assert (begins_u : begins M G u0 = begins M G u) by (apply begins_slot; cbn; [reflexivity | reflexivity | fold K; congruence]).
    rewrite begins_v, begins_u in of_u.
    assert (shape : exists j, (microbatch_of u = begins M G v + r * K + j * K)%nat).
    { exists ((microbatch_of v - (begins M G v + r * K)) / K)%nat. rewrite same. apply mod_apart; [exact some | | lia].
      rewrite Nat.mod_add by lia. congruence. }
    destruct shape as [j shape].
    assert (range : In j (seq 0 ((begins M G u - begins M G v + K - 1) / K))).
    { apply in_seq. split; [lia |]. cbn. apply Nat.div_le_lower_bound; lia. }
    pose proof (for_all _ _ _ of_u j range) as equal. cbv beta zeta in equal. apply Z.eqb_eq in equal.
    assert (is_u : later (r * K + j * K) u0 = u).
    { unfold later, u0. destruct u as [ku su mu]. cbn in *. f_equal. lia. }
    rewrite is_u in equal. exact equal.
Qed.

Lemma start_in_nonneg : forall M T p, 0 <= start_in M T p.
Proof. intros M T p. unfold start_in. destruct (PositiveMap.find _ _) as [[t n] |]; lia. Qed.

Section Sound.
  Variable M : model.
  Variable G : growing.
  Variables r c : nat.
  Variable L : Z.
  Hypothesis Well : well_formed M.
  Hypothesis Passed : every_m_check M G r c L = true.

  Notation starts n := (start_in (model_at M G n) (simulated (model_at M G n) (order G n))).

  Lemma checked_parts : repeatable M G /\ (1 <= c)%nat /\ (0 < size G r)%nat /\
    (forall q, (r <= q < r + c)%nat -> as_soon_as_possible (model_at M G q) (order G q) (starts q)) /\
    complete (model_at M G (r + c)) (order G (r + c)) /\
    as_soon_as_possible (model_at M G (r + c)) (order G (r + c)) (starts (r + c)) /\
    repeats M G (starts (r + c)) r c L.
  Proof.
    unfold every_m_check in Passed. rewrite !andb_true_iff in Passed.
    destruct Passed as [[[[again more] some] each] [large state]]. apply Nat.ltb_lt in more, some.
    pose proof (repeatable_check_sound M G Well again) as ok.
    split; [exact ok |]. split; [exact more |]. split; [exact some |]. split.
    - intros q range. pose proof (for_all _ _ _ each q ltac:(apply in_seq; lia)) as one.
      apply (checked_as_soon_as_possible _ _ _ _ (resized_well M _ Well) (start_in_nonneg _ _) one).
    - split; [apply (checked_complete _ _ _ _ large) |].
      split; [apply (checked_as_soon_as_possible _ _ _ _ (resized_well M _ Well) (start_in_nonneg _ _) large) |].
      apply repeats_check_sound; assumption.
  Qed.

  Lemma repetitions_split : forall q, (r <= q)%nat ->
    exists n, (n < c)%nat /\ ((q - r) mod c = n)%nat /\ q = (r + n + ((q - r) / c) * c)%nat.
  Proof.
    intros q less. destruct checked_parts as [_ [more _]]. exists ((q - r) mod c)%nat.
    split; [apply Nat.mod_upper_bound; lia |]. split; [reflexivity |].
    pose proof (Nat.div_mod (q - r) c ltac:(lia)). lia.
  Qed.

  (** Complete, with every number of repetitions. *)
  Theorem every_m_complete : forall q, complete (model_at M G q) (order G q).
  Proof.
    destruct checked_parts as [again [more [_ [_ [whole _]]]]].
    apply (complete_for_every_m M G Well again (r + c)); [lia | exact whole].
  Qed.

  (** Free of deadlock, and the makespan is that of the formula: an execution has it, and none has less. *)
  Theorem every_m_makespan_sound : forall q, (r <= q)%nat ->
    least_makespan (model_at M G q) (order G q) (every_m_makespan M G r c L q).
  Proof.
    intros q less. destruct checked_parts as [again [more [some [each [whole [reference state]]]]]].
    destruct (repetitions_split q less) as [n [low [is_n shape]]].
    unfold every_m_makespan. rewrite is_n. rewrite shape at 1 2.
    apply (makespan_for_every_m M G Well again (r + c) ltac:(lia) whole (starts (r + c)) r c L (Nat.le_refl _) more reference
      state).
    - lia.
    - unfold size in *. lia.
    - apply each. lia.
  Qed.

  (** So is the device span, if the check of it passes too. *)
  Theorem every_m_span_sound : every_m_span_check M G r c = true -> forall q, (r <= q)%nat ->
    least_device_span (model_at M G q) (order G q) (every_m_span M G r c L q).
  Proof.
    intros longest q less. destruct checked_parts as [again [more [some [each [whole [reference state]]]]]].
    destruct (repetitions_split q less) as [n [low [is_n shape]]].
    unfold every_m_span_check in longest. apply andb_true_iff in longest. destruct longest as [begun longest].
    unfold every_m_span. rewrite is_n. rewrite shape at 1 2.
    apply (device_span_for_every_m M G Well again (r + c) ltac:(lia) whole (starts (r + c)) r c L (Nat.le_refl _) more reference
      state).
    - lia.
    - unfold size in *. lia.
    - apply each. lia.
    - intros d inside none. pose proof (for_devices _ _ begun d inside) as some_. cbv beta in some_. rewrite none in some_.
      discriminate.
    - intros d inside. pose proof (for_all _ _ _ longest (r + n)%nat ltac:(apply in_seq; lia)) as one. cbv beta zeta in one.
      pose proof (for_devices _ _ one d inside) as less_. apply Z.leb_le in less_. exact less_.
  Qed.

  (** The peak of every device is that of one repetition, with every number of them from one on. *)
  Theorem every_m_peak_sound : forall d q, (d < devices M)%nat -> (1 <= q)%nat ->
    peak (model_at M G q) (order G q d) = every_m_peak M G d.
  Proof.
    destruct checked_parts as [again [more [_ [_ [whole _]]]]]. intros d q inside some.
    apply (peak_for_every_m M G Well again (r + c)); [lia | exact whole | exact inside | exact some].
  Qed.

  (** Within the capacities, with every number of repetitions. *)
  Theorem every_m_memory_sound : every_m_memory_check M G = true -> forall q, within_capacity (model_at M G q) (order G q).
  Proof.
    destruct checked_parts as [again [more [_ [_ [whole _]]]]]. intros fits.
    apply (within_capacity_for_every_m M G Well again (r + c)); [lia | exact whole |].
    intros d limit inside bounded_. pose proof (for_devices _ _ fits d inside) as low. cbv beta in low. rewrite bounded_ in low.
    apply Z.leb_le. exact low.
  Qed.
End Sound.

(** What the check says. Validity is known for every q at all, the figures from r repetitions on. *)
Theorem every_m_check_sound : forall M G r c L, well_formed M -> every_m_check M G r c L = true ->
  (forall q,
    complete (model_at M G q) (order G q) /\
    (exists start, runs (model_at M G q) (order G q) start) /\
    (every_m_memory_check M G = true -> within_capacity (model_at M G q) (order G q))) /\
  (forall q d, (1 <= q)%nat -> (d < devices M)%nat -> peak (model_at M G q) (order G q d) = every_m_peak M G d) /\
  (forall q, (r <= q)%nat ->
    least_makespan (model_at M G q) (order G q) (every_m_makespan M G r c L q) /\
    (every_m_span_check M G r c = true -> least_device_span (model_at M G q) (order G q) (every_m_span M G r c L q))).
Proof.
  intros M G r c L well passed. split; [| split].
  - intros q. split; [apply (every_m_complete M G r c L well passed) |].
    split; [| intros fits; apply (every_m_memory_sound M G r c L well passed fits q)].
    destruct (checked_parts M G r c L well passed) as [again [more [_ [_ [whole [reference _]]]]]].
    apply (runs_for_every_m M G well again (r + c) ltac:(lia) whole). eexists. apply reference.
  - intros q d some inside. apply (every_m_peak_sound M G r c L well passed d q inside some).
  - intros q less. split; [apply (every_m_makespan_sound M G r c L well passed q less) |].
    intros longest. apply (every_m_span_sound M G r c L well passed longest q less).
Qed.

(** Where no state comes again within the limits, there is no formula, but validity needs none. *)
Definition every_m_valid_check (M : model) (G : growing) : bool :=
  repeatable_check M G && replay_check (model_at M G 1) (order G 1).

Theorem every_m_valid_check_sound : forall M G, well_formed M -> every_m_valid_check M G = true ->
  forall q,
    complete (model_at M G q) (order G q) /\
    (exists start, runs (model_at M G q) (order G q) start) /\
    (every_m_memory_check M G = true -> within_capacity (model_at M G q) (order G q)).
Proof.
  intros M G well passed q. apply andb_true_iff in passed. destruct passed as [again one].
  apply (repeatable_check_sound M G well) in again. unfold replay_check in one.
  pose proof (checked_complete _ _ _ _ one) as whole.
  pose proof (checked_as_soon_as_possible _ _ _ _ (resized_well M _ well) (start_in_nonneg _ _) one) as soon.
  split; [apply (complete_for_every_m M G well again 1 (Nat.le_refl 1) whole) |]. split.
  - apply (runs_for_every_m M G well again 1 (Nat.le_refl 1) whole). eexists. apply soon.
  - intros fits. apply (within_capacity_for_every_m M G well again 1 (Nat.le_refl 1) whole).
    intros d limit inside bounded_. pose proof (for_devices _ _ fits d inside) as low. cbv beta in low. rewrite bounded_ in low.
    apply Z.leb_le. exact low.
Qed.

(** There is one least makespan. *)
Lemma least_makespan_unique : forall M S x y, least_makespan M S x -> least_makespan M S y -> x = y.
Proof.
  intros M S x y [[s [run_s ends_s]] low_x] [[t [run_t ends_t]] low_y]. apply Z.le_antisymm.
  - apply (low_x t y run_t ends_t).
  - apply (low_y s x run_s ends_s).
Qed.

(** One schedule: complete, and as soon as possible it takes its least makespan. *)
Theorem replay_check_sound : forall M S, well_formed M -> (0 < microbatches M)%nat -> replay_check M S = true ->
  complete M S /\ least_makespan M S (makespan_of M S (start_in M (simulated M S))).
Proof.
  intros M S well some passed. unfold replay_check in passed. pose proof (checked_complete M S _ _ passed) as whole.
  split; [exact whole |]. apply least_makespan_is; [exact well | exact whole | exact some |].
  apply (checked_as_soon_as_possible M S _ _ well (start_in_nonneg M _) passed).
Qed.
