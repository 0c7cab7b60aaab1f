(** * Occupancy: how long a device holds memory, and when it has room again

    The functions that compute the bounds of [BoundsMemory], and what every execution of a complete schedule within the capacities
    respects on one device: all areas fit under the capacity ([areas_fit]), and a forward of the highest stage waits for its turn
    ([turn_waits]). *)

From Coq Require Import ZArith List Lia Bool Permutation Sorted.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Import ListNotations.
Open Scope Z_scope.

(** ** What is computed *)

(** The earliest start of F of a stage. *)
Fixpoint forward_head (M : model) (s : nat) : Z :=
  match s with
  | O => 0
  | Datatypes.S before => forward_head M before + time M F before + latency M before
  end.

(** The earliest start of I, n stages before the last one. *)
Fixpoint input_from_last (M : model) (n : nat) : Z :=
  match n with
  | O => forward_head M (stages M - 1) + time M F (stages M - 1)
  | Datatypes.S above =>
      input_from_last M above + time M I (stages M - 1 - above) + latency M (stages M - 1 - Datatypes.S above)
  end.

(** The earliest start of I of a stage. *)
Definition input_head (M : model) (s : nat) : Z := input_from_last M (stages M - 1 - s).

(** From the end of F of one stage to the end of W of another, through the last stage. *)
Definition forward_to_weight (M : model) (from to : nat) : Z :=
  input_head M to + (time M I to + time M W to) - (forward_head M from + time M F from).

Definition least (f : nat -> Z) (l : list nat) : Z :=
  match l with
  | [] => 0
  | s :: rest => fold_right (fun t now => Z.min (f t) now) (f s) rest
  end.

Definition most (f : nat -> Z) (l : list nat) : Z := fold_right (fun t now => Z.max (f t) now) 0 l.

(** From the end of F of a stage to the end of the last W of the microbatch. *)
Definition forward_tail (M : model) (from : nat) : Z :=
  most (fun to => input_head M to + (time M I to + time M W to)) (seq 0 (stages M))
  - (forward_head M from + time M F from).

Definition stages_of (M : model) (d : nat) : list nat :=
  filter (fun s => (device_of M s =? d)%nat) (seq 0 (stages M)).

Definition lowest (l : list nat) : nat :=
  match l with
  | [] => O
  | s :: rest => fold_right Nat.min s rest
  end.

Definition highest (l : list nat) : nat := fold_right Nat.max O l.

Inductive objective := makespan | device_span.

(** *** Area *)

(** What one microbatch holds on a device, times the least time for which it holds it. *)
Definition area (M : model) (d : nat) : Z :=
  sum (fun s => activation M s * (input_head M s + time M I s - forward_head M s) + retained M s * time M W s) (stages_of M d).

Definition round_up (a b : Z) : Z := - ((- a) / b).

(** No bound if the device holds no stage, or has no capacity or none that is positive. *)
Definition area_bound (M : model) (d : nat) (o : objective) : option Z :=
  match capacity M d, stages_of M d with
  | Some limit, s :: rest =>
      if 0 <? limit then
        let span := round_up (Z.of_nat (microbatches M) * area M d) limit in
        Some (match o with makespan => forward_head M (lowest (s :: rest)) | device_span => 0 end + span)
      else None
  | _, _ => None
  end.

(** *** Turnover *)

(** What is counted as out: until W or until I. *)
Definition backward_time (M : model) (e : kind) (s : nat) : Z :=
  match e with
  | W => time M I s + time M W s
  | _ => time M I s
  end.

(** What a stage holds at least while it is out. *)
Definition held_until (M : model) (e : kind) (s : nat) : Z :=
  match e with
  | W => Z.min (activation M s) (retained M s)
  | _ => activation M s
  end.

(** From the end of F of one stage to the start of I of another. *)
Definition lag (M : model) (from to : nat) : Z := input_head M to - (forward_head M from + time M F from).

(** q and P of a device; none where memory does not limit it, and none if no microbatch fits. *)
Definition turn (M : model) (d : nat) (e : kind) : option (Z * Z) :=
  let l := stages_of M d in
  let unit := least (held_until M e) l in
  match capacity M d with
  | Some limit =>
      if 0 <? unit then
        let chunks := Z.of_nat (length l) in
        let fit := limit / unit in
        let ended := chunks - fit mod chunks in
        let several := lag M (highest l) (highest l) + least (backward_time M e) l * ended + least (time M F) l * (ended - 1) in
        let one := least (fun to => lag M (highest l) to + backward_time M e to) l in
        if 0 <? fit / chunks then Some (fit / chunks, time M F (highest l) + Z.max several one) else None
      else None
  | None => None
  end.

(** The bound that follows from q and P. *)
Definition turnover_value (M : model) (d : nat) (o : objective) (q P : Z) : Z :=
  let l := stages_of M d in
  let later := Z.of_nat (microbatches M) - 1 in
  let head := match o with
              | makespan => forward_head M (highest l)
              | device_span => forward_head M (highest l) - forward_head M (lowest l)
              end in
  let tail := match o with
              | makespan => forward_tail M (highest l)
              | device_span => most (forward_to_weight M (highest l)) l
              end in
  head + P * (later / q) + time M F (highest l) * (later mod q + 1) + tail.

Definition turnover_bound (M : model) (d : nat) (o : objective) (e : kind) : option Z :=
  match turn M d e with
  | Some (q, P) => Some (turnover_value M d o q P)
  | None => None
  end.

(** ** Lists *)

Lemma least_le : forall f l s, In s l -> least f l <= f s.
Proof.
  intros f [| t l] s inside; [destruct inside |]. cbn.
  assert (below : forall start l, fold_right (fun t now => Z.min (f t) now) start l <= start /\
    (forall s, In s l -> fold_right (fun t now => Z.min (f t) now) start l <= f s)).
  { clear. intros start l. induction l as [| t l [IH1 IH2]]; cbn; [split; [lia | intros s []] |].
    split; [lia |]. intros s [same | inside]; [subst; lia |]. specialize (IH2 s inside). lia. }
  destruct inside as [same | inside]; [rewrite <- same; exact (proj1 (below (f t) l)) |].
  apply (proj2 (below (f t) l)). exact inside.
Qed.

Lemma least_nonneg : forall f l, (forall s, 0 <= f s) -> 0 <= least f l.
Proof.
  intros f [| t l] each; cbn; [lia |]. induction l as [| u l IH]; cbn; [apply each |]. specialize (each u). lia.
Qed.

Lemma most_le : forall f l x, 0 <= x -> (forall s, In s l -> f s <= x) -> most f l <= x.
Proof.
  intros f l x positive. induction l as [| t l IH]; intros each; cbn; [exact positive |].
  assert (f t <= x) by (apply each; left; reflexivity).
  assert (most f l <= x) by (apply IH; intros s inside; apply each; right; exact inside).
  unfold most in *. lia.
Qed.

Lemma highest_above : forall l s, In s l -> (s <= highest l)%nat.
Proof.
  intros l. induction l as [| t l IH]; intros s inside; [destruct inside |]. cbn.
  destruct inside as [same | inside]; [subst; lia |]. specialize (IH s inside). unfold highest in IH. lia.
Qed.

Lemma highest_inside : forall l, l <> [] -> In (highest l) l.
Proof.
  intros l. induction l as [| t l IH]; intros some; [destruct (some eq_refl) |]. cbn.
  destruct l as [| u l]; [left; cbn; lia |].
  assert (inside : In (highest (u :: l)) (u :: l)) by (apply IH; discriminate).
  fold (highest (u :: l)). destruct (Nat.max_dec t (highest (u :: l))) as [same | same]; rewrite same; auto.
Qed.

Lemma lowest_below : forall l s, In s l -> (lowest l <= s)%nat.
Proof.
  intros [| t l] s inside; [destruct inside |]. cbn.
  assert (below : (fold_right Nat.min t l <= t)%nat /\ (forall s, In s l -> (fold_right Nat.min t l <= s)%nat)).
  { clear. induction l as [| u l [IH1 IH2]]; cbn; [split; [lia | intros s []] |].
    split; [lia |]. intros s [same | inside]; [subst; lia |]. specialize (IH2 s inside). lia. }
  destruct inside as [same | inside]; [rewrite <- same; exact (proj1 below) |].
  apply (proj2 below). exact inside.
Qed.

Lemma lowest_inside : forall l, l <> [] -> In (lowest l) l.
Proof.
  intros [| t l] some; [destruct (some eq_refl) |]. clear some. cbn.
  induction l as [| u l IH]; cbn; [auto |].
  destruct (Nat.min_dec u (fold_right Nat.min t l)) as [same | same]; rewrite same; [auto |].
  destruct IH as [same' | inside]; auto.
Qed.

Definition pass_dec : forall p q : pass, {p = q} + {p <> q}.
Proof. repeat decide equality. Defined.

(** One if a pass is in a list, or else zero. *)
Definition has (l : list pass) (p : pass) : Z := if in_dec pass_dec p l then 1 else 0.

Lemma has_range : forall l p, 0 <= has l p <= 1.
Proof. intros l p. unfold has. destruct (in_dec pass_dec p l); lia. Qed.

Lemma has_true : forall l p, In p l -> has l p = 1.
Proof. intros l p inside. unfold has. destruct (in_dec pass_dec p l); [reflexivity | contradiction]. Qed.

Lemma has_le : forall l k p q, (In p l -> In q k) -> has l p <= has k q.
Proof.
  intros l k p q implied. unfold has.
  destruct (in_dec pass_dec p l) as [inside | outside]; destruct (in_dec pass_dec q k); try lia. exfalso. auto.
Qed.

Lemma has_one : forall l p, 1 <= has l p -> In p l.
Proof. intros l p some. unfold has in some. destruct (in_dec pass_dec p l); [assumption | lia]. Qed.

Lemma sum_filter : forall {A : Type} (f : A -> Z) chosen l,
  sum f (filter chosen l) = sum (fun u => if chosen u then f u else 0) l.
Proof. intros A f chosen l. induction l as [| u l IH]; cbn; [reflexivity |]. destruct (chosen u); cbn; lia. Qed.

Lemma sum_map : forall {A B : Type} (g : B -> A) (f : A -> Z) l, sum f (map g l) = sum (fun b => f (g b)) l.
Proof. intros A B g f l. induction l; cbn; lia. Qed.

Lemma sum_constant : forall {A : Type} c (l : list A), sum (fun _ => c) l = Z.of_nat (length l) * c.
Proof. intros A c l. induction l; cbn [sum length]; [reflexivity |]. lia. Qed.

Lemma NoDup_flat_map : forall {A B : Type} (key : A -> B) (g : B -> list A) l,
  NoDup l -> (forall b, In b l -> NoDup (g b)) -> (forall b a, In a (g b) -> key a = b) -> NoDup (flat_map g l).
Proof.
  intros A B key g l unique each keys. induction unique as [| b l outside unique IH]; cbn; [constructor |].
  assert (rest : NoDup (flat_map g l)) by (apply IH; intros c inside; apply each; right; exact inside).
  assert (first : NoDup (g b)) by (apply each; left; reflexivity).
  assert (apart : forall a, In a (g b) -> ~ In a (flat_map g l)).
  { intros a here there. apply in_flat_map in there. destruct there as [c [inside found]].
    apply keys in here. apply keys in found. congruence. }
  clear each IH. induction first as [| a k new first IH]; cbn; [exact rest |].
  constructor.
  - rewrite in_app_iff. intros [same | there]; [contradiction |]. apply (apart a); [left; reflexivity | exact there].
  - apply IH. intros c inside. apply apart. right. exact inside.
Qed.

(** A sum over some passes is a sum over all passes that count. *)
Lemma sum_over : forall (f : pass -> Z) l all, NoDup l -> NoDup all -> (forall p, In p l -> f p <> 0 -> In p all) ->
  sum f l = sum (fun p => has l p * f p) all.
Proof.
  intros f l all unique_l unique_all covered.
  transitivity (sum f (filter (fun p => negb (f p =? 0)) l)).
  { rewrite sum_filter. apply sum_ext. intros p _. destruct (f p =? 0) eqn:zero; cbn; [| reflexivity].
    apply Z.eqb_eq in zero. exact zero. }
  transitivity (sum f (filter (fun p => negb (f p =? 0) && if in_dec pass_dec p l then true else false) all)).
  { apply sum_permutation. apply NoDup_Permutation; [apply NoDup_filter; exact unique_l | apply NoDup_filter; exact unique_all |].
    intros p. rewrite !filter_In, andb_true_iff, negb_true_iff, Z.eqb_neq.
    destruct (in_dec pass_dec p l); split; intros; intuition (try discriminate); auto. }
  rewrite sum_filter. apply sum_ext. intros p _. unfold has.
  destruct (f p =? 0) eqn:zero; destruct (in_dec pass_dec p l); cbn [negb andb]; lia.
Qed.

(** The first of a list that satisfies a condition. *)
Lemma first_split : forall {A : Type} (chosen : A -> bool) l a, In a l -> chosen a = true ->
  exists before b after, l = before ++ b :: after /\ chosen b = true /\ (forall c, In c before -> chosen c = false).
Proof.
  intros A chosen l. induction l as [| b l IH]; intros a inside true; [destruct inside |].
  destruct (chosen b) eqn:here.
  - exists [], b, l. split; [reflexivity |]. split; [exact here |]. intros c [].
  - destruct inside as [same | inside]; [congruence |].
    destruct (IH a inside true) as [before [c [after [shape [good none]]]]].
    exists (b :: before), c, after. split; [subst; reflexivity |]. split; [exact good |].
    intros e [same | there]; [subst; exact here | auto].
Qed.

(** The chosen one that has t chosen ones before it. *)
Lemma counted_split : forall {A : Type} (chosen : A -> bool) l t,
  0 <= t < sum (fun a => if chosen a then 1 else 0) l ->
  exists before a after, l = before ++ a :: after /\ chosen a = true /\ sum (fun a => if chosen a then 1 else 0) before = t.
Proof.
  intros A chosen l. induction l as [| a l IH]; cbn; intros t range; [lia |].
  destruct (chosen a) eqn:here.
  - destruct (Z.eq_dec t 0) as [zero | more]; [exists [], a, l; subst; auto |].
    destruct (IH (t - 1)) as [before [b [after [shape [good counted]]]]]; [lia |].
    exists (a :: before), b, after. cbn. rewrite here. subst. split; [reflexivity |]. split; [exact good | lia].
  - destruct (IH t) as [before [b [after [shape [good counted]]]]]; [lia |].
    exists (a :: before), b, after. cbn. rewrite here. subst. split; [reflexivity |]. split; [exact good | lia].
Qed.

(** ** What every execution respects *)

Section Device.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Fits : within_capacity M S.
  Hypothesis Runs : runs M S start.

  Lemma time_nonneg : forall k s, 0 <= time M k s.
  Proof. apply Well. Qed.

  Lemma latency_nonneg : forall s, 0 <= latency M s.
  Proof. apply Well. Qed.

  (** *** Chains of one microbatch *)

  Lemma forward_head_step : forall s n, forward_head M s <= forward_head M (s + n).
  Proof.
    intros s n. induction n as [| n IH]; [rewrite Nat.add_0_r; lia |]. rewrite Nat.add_succ_r. cbn [forward_head].
    pose proof (time_nonneg F (s + n)). pose proof (latency_nonneg (s + n)). lia.
  Qed.

  Lemma forward_head_grows : forall s t, (s <= t)%nat -> forward_head M s <= forward_head M t.
  Proof. intros s t above. replace t with (s + (t - s))%nat by lia. apply forward_head_step. Qed.

  Lemma input_from_last_grows : forall n k, input_from_last M n <= input_from_last M (n + k).
  Proof.
    intros n k. induction k as [| k IH]; [rewrite Nat.add_0_r; lia |]. rewrite Nat.add_succ_r. cbn [input_from_last].
    pose proof (time_nonneg I (stages M - 1 - (n + k))).
    pose proof (latency_nonneg (stages M - 1 - Datatypes.S (n + k))). lia.
  Qed.

  Lemma input_head_falls : forall s t, (s <= t)%nat -> input_head M t <= input_head M s.
  Proof.
    intros s t above. unfold input_head.
    replace (stages M - 1 - s)%nat with ((stages M - 1 - t) + ((stages M - 1 - s) - (stages M - 1 - t)))%nat by lia.
    apply input_from_last_grows.
  Qed.

  Lemma forward_after_forward : forall s m n, (m < microbatches M)%nat -> (s + n < stages M)%nat ->
    start (Pass F s m) + (forward_head M (s + n) - forward_head M s) <= start (Pass F (s + n) m).
  Proof.
    intros s m n in_m. induction n as [| n IH]; intros in_s; [rewrite Nat.add_0_r; lia |].
    rewrite Nat.add_succ_r in *. specialize (IH ltac:(lia)).
    pose proof (need_respected M S start Well Runs _ _ _ (F_needs_F M (s + n) m in_s in_m)) as next.
    cbn [forward_head]. unfold time_of in next. cbn in next. lia.
  Qed.

  Lemma forward_start : forall s m, (m < microbatches M)%nat -> (s < stages M)%nat ->
    forward_head M s <= start (Pass F s m).
  Proof.
    intros s m in_m in_s. pose proof (forward_after_forward 0 m s in_m in_s) as chain. cbn in chain.
    pose proof (start_nonneg M S start Runs (Pass F 0 m)). lia.
  Qed.

  Lemma input_after_last : forall m n, (m < microbatches M)%nat -> (n <= stages M - 1)%nat ->
    start (Pass F (stages M - 1) m) + (input_from_last M n - forward_head M (stages M - 1))
    <= start (Pass I (stages M - 1 - n) m).
  Proof.
    intros m n in_m. destruct Well as [positive _]. induction n as [| n IH]; intros in_s.
    - pose proof (need_respected M S start Well Runs _ _ _ (I_needs_F M m in_m)) as next.
      unfold time_of in next. cbn in next. rewrite Nat.sub_0_r. cbn [input_from_last]. lia.
    - specialize (IH ltac:(lia)).
      pose proof (need_respected M S start Well Runs _ _ _ (I_needs_I M (stages M - 1 - Datatypes.S n) m ltac:(lia) in_m)) as next.
      replace (Datatypes.S (stages M - 1 - Datatypes.S n)) with (stages M - 1 - n)%nat in next by lia.
      unfold time_of in next. cbn [kind_of stage_of] in next. cbn [input_from_last]. lia.
  Qed.

  (** The time from the start of F of one stage to the start of I of another one, through the last stage. *)
  Lemma input_after_forward : forall s t m, (m < microbatches M)%nat -> (s < stages M)%nat -> (t < stages M)%nat ->
    start (Pass F s m) + (input_head M t - forward_head M s) <= start (Pass I t m).
  Proof.
    intros s t m in_m in_s in_t.
    pose proof (forward_after_forward s m (stages M - 1 - s) in_m ltac:(lia)) as up.
    replace (s + (stages M - 1 - s))%nat with (stages M - 1)%nat in up by lia.
    pose proof (input_after_last m (stages M - 1 - t) in_m ltac:(lia)) as down.
    replace (stages M - 1 - (stages M - 1 - t))%nat with t in down by lia.
    unfold input_head. lia.
  Qed.

  Lemma weight_after_input : forall s m, (m < microbatches M)%nat -> (s < stages M)%nat ->
    start (Pass I s m) + time M I s <= start (Pass W s m).
  Proof.
    intros s m in_m in_s. pose proof (need_respected M S start Well Runs _ _ _ (W_needs_I M s m in_s in_m)) as next.
    unfold time_of in next. cbn in next. lia.
  Qed.

  Lemma forward_before_input : forall s, (s < stages M)%nat -> forward_head M s + time M F s <= input_head M s.
  Proof.
    intros s in_s. transitivity (input_head M (stages M - 1)); [| apply input_head_falls; lia].
    unfold input_head. rewrite Nat.sub_diag. cbn [input_from_last].
    destruct (Nat.eq_dec s (stages M - 1)) as [same | below]; [subst; lia |].
    transitivity (forward_head M (Datatypes.S s)).
    - cbn [forward_head]. pose proof (latency_nonneg s). lia.
    - pose proof (forward_head_grows (Datatypes.S s) (stages M - 1) ltac:(lia)). pose proof (time_nonneg F (stages M - 1)). lia.
  Qed.

  (** *** The order of a device *)

  Variable d : nat.
  Hypothesis In_range : (d < devices M)%nat.

  Lemma stages_of_spec : forall s, In s (stages_of M d) <-> (s < stages M)%nat /\ device_of M s = d.
  Proof.
    intros s. unfold stages_of. rewrite filter_In, in_seq, Nat.eqb_eq. split; intros [inside same]; split; auto; [apply inside |].
    split; [apply Nat.le_0_l | exact inside].
  Qed.

  Lemma on_device : forall k s m, In (Pass k s m) (S d) <-> In s (stages_of M d) /\ (m < microbatches M)%nat.
  Proof.
    intros k s m. rewrite stages_of_spec. destruct (Complete d In_range) as [_ all]. rewrite all. unfold exists_in. cbn.
    intuition.
  Qed.

  Lemma device_unique : NoDup (S d).
  Proof. apply Complete. exact In_range. Qed.

  Lemma sorted_suffix : forall place, sequence (problem_of M) (orders_of M S) place ->
    forall l before, In (before ++ l) (orders_of M S) -> StronglySorted (fun p q => (place p < place q)%nat) l.
  Proof.
    intros place ordered l. induction l as [| p l IH]; intros before inside; [constructor |].
    assert (rest : StronglySorted (fun p q => (place p < place q)%nat) l).
    { apply (IH (before ++ [p])). rewrite <- app_assoc. exact inside. }
    constructor; [exact rest |]. destruct l as [| q l]; [constructor |].
    assert (next : (place p < place q)%nat).
    { apply (ordered p (duration (problem_of M) p) q). apply (waits_order _ _ (before ++ p :: q :: l)); [exact inside |].
      exists before, l. reflexivity. }
    constructor; [exact next |]. inversion rest as [| ? ? _ each]; subst.
    eapply Forall_impl; [| exact each]. intros r later. cbn in later. lia.
  Qed.

  (** In each sequence, the passes of the device come in its order. *)
  Lemma order_placed : forall place, sequence (problem_of M) (orders_of M S) place ->
    forall l r, S d = l ++ r -> forall p q, In p l -> In q r -> (place p < place q)%nat.
  Proof.
    intros place ordered l r shape p q in_l in_r.
    assert (inside : In (S d) (orders_of M S)) by (apply in_map, in_seq; lia).
    pose proof (sorted_suffix place ordered (S d) [] inside) as sorted. rewrite shape in sorted. clear shape inside.
    induction l as [| u l IH]; [destruct in_l |]. cbn in sorted. inversion sorted as [| ? ? rest each]; subst.
    destruct in_l as [same | in_l]; [| auto]. subst. rewrite Forall_forall in each. apply each.
    rewrite in_app_iff. right. exact in_r.
  Qed.

  Lemma need_placed : forall place, sequence (problem_of M) (orders_of M S) place ->
    forall u g v, pass_needs M u g v -> (place u < place v)%nat.
  Proof.
    intros place ordered u g v need. apply (ordered u (duration (problem_of M) u + g) v). apply waits_need.
    apply needs_are_pass_needs; [apply Well | exact need].
  Qed.

  Lemma forward_placed : forall place, sequence (problem_of M) (orders_of M S) place ->
    forall s m n, (m < microbatches M)%nat -> (s + n < stages M)%nat ->
    (place (Pass F s m) <= place (Pass F (s + n) m))%nat.
  Proof.
    intros place ordered s m n in_m. induction n as [| n IH]; intros in_s; [rewrite Nat.add_0_r; lia |].
    rewrite Nat.add_succ_r in *. specialize (IH ltac:(lia)).
    pose proof (need_placed place ordered _ _ _ (F_needs_F M (s + n) m in_s in_m)). lia.
  Qed.

  Lemma input_placed : forall place, sequence (problem_of M) (orders_of M S) place ->
    forall m n, (m < microbatches M)%nat -> (n <= stages M - 1)%nat ->
    (place (Pass F (stages M - 1) m) < place (Pass I (stages M - 1 - n) m))%nat.
  Proof.
    intros place ordered m n in_m. destruct Well as [positive _]. induction n as [| n IH]; intros in_s.
    - rewrite Nat.sub_0_r. apply (need_placed place ordered _ _ _ (I_needs_F M m in_m)).
    - specialize (IH ltac:(lia)).
      pose proof (need_placed place ordered _ _ _ (I_needs_I M (stages M - 1 - Datatypes.S n) m ltac:(lia) in_m)) as next.
      replace (Datatypes.S (stages M - 1 - Datatypes.S n)) with (stages M - 1 - n)%nat in next by lia. lia.
  Qed.

  (** Beginnings of the order are closed: with a pass, they contain what it waits for. *)
  Lemma closed : forall l r p q, S d = l ++ r -> In q l -> In p (S d) ->
    (forall place, sequence (problem_of M) (orders_of M S) place -> (place p <= place q)%nat) -> In p l.
  Proof.
    intros l r p q shape in_l inside before. destruct Runs as [_ [place ordered]]. specialize (before place ordered).
    rewrite shape, in_app_iff in inside. destruct inside as [here | there]; [exact here |].
    pose proof (order_placed place ordered l r shape q p in_l there). lia.
  Qed.

  Lemma with_forward : forall l r s t m, S d = l ++ r -> In (Pass F t m) l -> In s (stages_of M d) -> (s <= t)%nat ->
    In (Pass F s m) l.
  Proof.
    intros l r s t m shape inside in_s below.
    assert (all : In (Pass F t m) (S d)) by (rewrite shape, in_app_iff; left; exact inside).
    apply on_device in all. destruct all as [in_t in_m]. apply stages_of_spec in in_t.
    apply (closed l r _ (Pass F t m) shape inside); [apply on_device; auto |].
    intros place ordered. replace t with (s + (t - s))%nat by lia. apply forward_placed; [exact ordered | exact in_m |]. lia.
  Qed.

  Lemma with_input : forall l r s m, S d = l ++ r -> In (Pass I s m) l -> In (Pass F s m) l.
  Proof.
    intros l r s m shape inside.
    assert (all : In (Pass I s m) (S d)) by (rewrite shape, in_app_iff; left; exact inside).
    apply on_device in all. destruct all as [in_s in_m].
    apply (closed l r _ (Pass I s m) shape inside); [apply on_device; auto |].
    apply stages_of_spec in in_s. intros place ordered.
    pose proof (forward_placed place ordered s m (stages M - 1 - s) in_m ltac:(lia)) as up.
    replace (s + (stages M - 1 - s))%nat with (stages M - 1)%nat in up by lia.
    pose proof (input_placed place ordered m (stages M - 1 - s) in_m ltac:(lia)) as down.
    replace (stages M - 1 - (stages M - 1 - s))%nat with s in down by lia. lia.
  Qed.

  Lemma with_weight : forall l r s m, S d = l ++ r -> In (Pass W s m) l -> In (Pass I s m) l.
  Proof.
    intros l r s m shape inside.
    assert (all : In (Pass W s m) (S d)) by (rewrite shape, in_app_iff; left; exact inside).
    apply on_device in all. destruct all as [in_s in_m].
    apply (closed l r _ (Pass W s m) shape inside); [apply on_device; auto |].
    apply stages_of_spec in in_s. intros place ordered.
    pose proof (need_placed place ordered _ _ _ (W_needs_I M s m (proj1 in_s) in_m)). lia.
  Qed.

  Lemma one_by_one : one_at_a_time (problem_of M) start (S d).
  Proof. apply (device_one_at_a_time M S start Well Runs). exact In_range. Qed.

  Lemma earlier_ends : forall l p r q, S d = l ++ p :: r -> In q l -> start q + time_of M q <= start p.
  Proof.
    intros l p r q shape inside.
    destruct (one_at_a_time_split (problem_of M) start (S d) l p r one_by_one shape) as [_ ahead]. apply (ahead q inside).
  Qed.

  Lemma later_starts : forall l p r q, S d = l ++ p :: r -> In q r -> start p + time_of M p <= start q.
  Proof.
    intros l p r q shape inside.
    destruct (one_at_a_time_split (problem_of M) start (S d) l p r one_by_one shape) as [behind _]. apply (behind q inside).
  Qed.

  (** *** Sums over stages and microbatches *)

  (** The sum over all stages and microbatches of the device. *)
  Definition grid (g : nat -> nat -> Z) : Z :=
    sum (fun s => sum (fun m => g s m) (seq 0 (microbatches M))) (stages_of M d).

  Lemma grid_le : forall g g', (forall s m, In s (stages_of M d) -> (m < microbatches M)%nat -> g s m <= g' s m) ->
    grid g <= grid g'.
  Proof.
    intros g g' each. apply sum_le. intros s in_s. apply sum_le. intros m in_m. apply each; [exact in_s |].
    apply in_seq in in_m. lia.
  Qed.

  Lemma grid_ext : forall g g', (forall s m, In s (stages_of M d) -> (m < microbatches M)%nat -> g s m = g' s m) ->
    grid g = grid g'.
  Proof.
    intros g g' each. apply sum_ext. intros s in_s. apply sum_ext. intros m in_m. apply each; [exact in_s |].
    apply in_seq in in_m. lia.
  Qed.

  Lemma grid_add : forall g g', grid (fun s m => g s m + g' s m) = grid g + grid g'.
  Proof.
    intros g g'. unfold grid. rewrite <- sum_add. apply sum_ext. intros s _. apply sum_add.
  Qed.

  Lemma grid_scale : forall c g, grid (fun s m => c * g s m) = c * grid g.
  Proof.
    intros c g. unfold grid. rewrite <- sum_scale. apply sum_ext. intros s _. apply sum_scale.
  Qed.

  Definition all_passes : list pass :=
    flat_map (fun s => flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M))) (stages_of M d).

  Lemma all_passes_unique : NoDup all_passes.
  Proof.
    apply (NoDup_flat_map stage_of); [apply NoDup_filter, seq_NoDup | |].
    - intros s _. apply (NoDup_flat_map microbatch_of); [apply seq_NoDup | |].
      + intros m _. repeat constructor; cbn; intuition discriminate.
      + intros m p inside. cbn in inside. destruct inside as [same | [same | [same | []]]]; subst; reflexivity.
    - intros s p inside. apply in_flat_map in inside. destruct inside as [m [_ inside]]. cbn in inside.
      destruct inside as [same | [same | [same | []]]]; subst; reflexivity.
  Qed.

  Lemma all_passes_all : forall p, In p (S d) -> In p all_passes.
  Proof.
    intros [k s m] inside. apply on_device in inside. destruct inside as [in_s in_m].
    apply in_flat_map. exists s. split; [exact in_s |]. apply in_flat_map. exists m. split; [apply in_seq; lia |].
    cbn. destruct k; auto.
  Qed.

  (** Some passes of the device, each once. *)
  Definition part (l : list pass) : Prop := NoDup l /\ incl l (S d).

  Lemma part_sum : forall f l, part l ->
    sum f l = grid (fun s m => has l (Pass F s m) * f (Pass F s m) + has l (Pass I s m) * f (Pass I s m)
                              + has l (Pass W s m) * f (Pass W s m)).
  Proof.
    intros f l [unique inside].
    rewrite (sum_over f l all_passes unique all_passes_unique) by (intros p in_l _; apply all_passes_all, inside, in_l).
    unfold all_passes. rewrite sum_flat_map. apply sum_ext. intros s _. rewrite sum_flat_map. apply sum_ext. intros m _.
    cbn [sum]. lia.
  Qed.

  Lemma part_prefix : forall l r, S d = l ++ r -> part l.
  Proof.
    intros l r shape. split.
    - pose proof device_unique as unique. rewrite shape in unique. clear shape. induction l as [| p l IH]; [constructor |].
      cbn in unique. inversion unique as [| ? ? new rest]; subst. constructor; [| auto].
      intros inside. apply new. rewrite in_app_iff. left. exact inside.
    - intros p inside. rewrite shape, in_app_iff. left. exact inside.
  Qed.

  Lemma part_suffix : forall l r, part (l ++ r) -> part r.
  Proof.
    intros l r [unique inside]. split.
    - clear inside. induction l as [| p l IH]; [exact unique |]. cbn in unique. inversion unique; auto.
    - intros p in_r. apply inside. rewrite in_app_iff. right. exact in_r.
  Qed.

  Definition kind_is (k : kind) (p : pass) : bool :=
    match k, kind_of p with
    | F, F | I, I | W, W => true
    | _, _ => false
    end.

  (** How many passes of a kind are in a list. *)
  Definition count (k : kind) (l : list pass) : Z := sum (fun p => if kind_is k p then 1 else 0) l.

  Lemma count_app : forall k l r, count k (l ++ r) = count k l + count k r.
  Proof. intros k l r. apply sum_app. Qed.

  Lemma count_grid : forall k l, part l -> count k l = grid (fun s m => has l (Pass k s m)).
  Proof.
    intros k l some. unfold count. rewrite (part_sum _ l some). apply grid_ext. intros s m _ _.
    destruct k; cbn; lia.
  Qed.

  (** *** Memory *)

  Variable limit : Z.
  Hypothesis Limit : capacity M d = Some limit.

  Lemma acquires_nonneg : forall p, 0 <= acquires M p.
  Proof.
    intros [k s m]. unfold acquires. cbn. destruct k; try lia. destruct Well as [_ [_ [_ [_ amounts]]]].
    specialize (amounts s). lia.
  Qed.

  Lemma releases_nonneg : forall p, 0 <= releases M p.
  Proof.
    intros [k s m]. unfold releases. cbn. destruct Well as [_ [_ [_ [_ amounts]]]]. specialize (amounts s). destruct k; lia.
  Qed.

  Lemma kept_fits : forall l r, S d = l ++ r -> 0 <= limit -> kept M l <= limit.
  Proof.
    intros l r shape room. destruct l as [| p l] using rev_ind; [exact room |].
    rewrite <- app_assoc in shape. cbn in shape. pose proof (Fits d limit In_range Limit l p r shape) as fits.
    unfold held in fits. unfold kept in *. rewrite sum_app. cbn. pose proof (releases_nonneg p). lia.
  Qed.

  (** *** Area: what the device holds, summed over time *)

  (** What passes acquire, from then until y, less what they release, from then until y. *)
  Definition held_until_end (y : Z) (l : list pass) : Z :=
    sum (fun p => acquires M p * (y - start p) - releases M p * (y - (start p + time_of M p))) l.

  Lemma held_from : forall rest done x y, S d = done ++ rest -> 0 <= limit -> x <= y ->
    (forall p, In p rest -> x <= start p /\ start p + time_of M p <= y) ->
    kept M done * (y - x) + held_until_end y rest <= limit * (y - x).
  Proof.
    intros rest. induction rest as [| p rest IH]; intros done x y shape room order inside.
    - cbn. rewrite app_nil_r in shape. pose proof (kept_fits done [] ltac:(rewrite app_nil_r; exact shape) room) as fits.
      pose proof (Z.mul_le_mono_nonneg_r _ _ (y - x) ltac:(lia) fits). lia.
    - destruct (inside p (or_introl eq_refl)) as [begins ends].
      pose proof (kept_fits done (p :: rest) shape room) as before.
      pose proof (Fits d limit In_range Limit done p rest shape) as during. unfold held in during.
      assert (behind : kept M (done ++ [p]) * (y - (start p + time_of M p)) + held_until_end y rest
                       <= limit * (y - (start p + time_of M p))).
      { apply IH; [rewrite <- app_assoc; exact shape | exact room | exact ends |].
        intros q in_rest. split; [apply (later_starts done p rest q shape in_rest) |]. apply inside. right. exact in_rest. }
      replace (kept M (done ++ [p])) with (kept M done + acquires M p - releases M p) in behind
        by (unfold kept; rewrite sum_app; cbn; lia).
      pose proof (Z.mul_le_mono_nonneg_r _ _ (start p - x) ltac:(lia) before).
      pose proof (Z.mul_le_mono_nonneg_r _ _ (time_of M p) (time_nonneg (kind_of p) (stage_of p)) during).
      unfold held_until_end in *. cbn [sum].
      replace (kept M done * (y - x) + (acquires M p * (y - start p) - releases M p * (y - (start p + time_of M p))
               + sum (fun p => acquires M p * (y - start p) - releases M p * (y - (start p + time_of M p))) rest))
        with (kept M done * (start p - x) + (kept M done + acquires M p) * time_of M p
              + ((kept M done + acquires M p - releases M p) * (y - (start p + time_of M p))
                 + sum (fun p => acquires M p * (y - start p) - releases M p * (y - (start p + time_of M p))) rest)) by ring.
      replace (limit * (y - x))
        with (limit * (start p - x) + limit * time_of M p + limit * (y - (start p + time_of M p))) by ring.
      lia.
  Qed.

  Lemma whole : part (S d).
  Proof. apply (part_prefix (S d) []). rewrite app_nil_r. reflexivity. Qed.

  (** All areas of all microbatches fit into the capacity times any time that contains all passes of the device. *)
  Theorem areas_fit : forall x y, 0 <= limit -> x <= y ->
    (forall p, In p (S d) -> x <= start p /\ start p + time_of M p <= y) ->
    Z.of_nat (microbatches M) * area M d <= limit * (y - x).
  Proof.
    intros x y room order inside.
    pose proof (held_from (S d) [] x y eq_refl room order inside) as fits. cbn [kept sum] in fits.
    transitivity (held_until_end y (S d)); [| lia].
    unfold held_until_end. rewrite (part_sum _ _ whole).
    transitivity (grid (fun s _ =>
      activation M s * (input_head M s + time M I s - forward_head M s) + retained M s * time M W s)).
    { unfold grid, area. rewrite <- sum_scale. apply Z.eq_le_incl. apply sum_ext. intros s _.
      rewrite sum_constant, seq_length. reflexivity. }
    apply grid_le. intros s m in_s in_m.
    rewrite !has_true by (apply on_device; auto).
    apply stages_of_spec in in_s. destruct in_s as [in_s _].
    unfold acquires, releases, time_of. cbn [kind_of stage_of].
    pose proof (input_after_forward s s m in_m in_s in_s) as first. pose proof (weight_after_input s m in_m in_s) as second.
    destruct Well as [_ [_ [_ [_ amounts]]]]. specialize (amounts s).
    assert (to_input : activation M s * (input_head M s + time M I s - forward_head M s)
                       <= activation M s * (start (Pass I s m) + time M I s - start (Pass F s m)))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (to_weight : retained M s * time M W s
                        <= retained M s * (start (Pass W s m) + time M W s - start (Pass I s m) - time M I s))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    replace (1 * (activation M s * (y - start (Pass F s m)) - 0 * (y - (start (Pass F s m) + time M F s))) +
             1 * (0 * (y - start (Pass I s m)) - (activation M s - retained M s) * (y - (start (Pass I s m) + time M I s))) +
             1 * (0 * (y - start (Pass W s m)) - retained M s * (y - (start (Pass W s m) + time M W s))))
      with (activation M s * (start (Pass I s m) + time M I s - start (Pass F s m)) +
            retained M s * (start (Pass W s m) + time M W s - start (Pass I s m) - time M I s)) by ring.
    lia.
  Qed.

  (** *** Turnover: how long a forward waits *)

  Variable e : kind.
  Hypothesis Backward : e <> F.

  Let l := stages_of M d.
  Let h := highest l.
  Let v := Z.of_nat (length l).
  Let unit := least (held_until M e) l.
  Let fit := limit / unit.
  Let q := fit / v.
  Let ended := v - fit mod v.

  Hypothesis Some_stage : l <> [].
  Hypothesis Unit : 0 < unit.
  Hypothesis Room : 0 <= limit.

  Lemma chunks_positive : 0 < v.
  Proof. unfold v. destruct l; [destruct (Some_stage eq_refl) | cbn; lia]. Qed.

  Lemma fit_split : fit + ended = v * (q + 1).
  Proof.
    unfold ended, q. pose proof chunks_positive. pose proof (Z.div_mod fit v ltac:(lia)). lia.
  Qed.

  Lemma ended_positive : 1 <= ended.
  Proof. unfold ended. pose proof chunks_positive. pose proof (Z.mod_pos_bound fit v ltac:(lia)). lia. Qed.

  (** At most fit chunks are out, behind each beginning of the order. *)
  Lemma out_fits : forall b r, S d = b ++ r -> count F b - count e b <= fit.
  Proof.
    intros b r shape. apply Z.div_le_lower_bound; [exact Unit |].
    pose proof (kept_fits b r shape Room) as fits. pose proof (part_prefix b r shape) as some.
    transitivity (kept M b); [| exact fits]. unfold kept. rewrite (part_sum _ b some).
    rewrite !(count_grid _ b some).
    replace (grid (fun s m => has b (Pass F s m)) - grid (fun s m => has b (Pass e s m)))
      with (grid (fun s m => has b (Pass F s m) + -1 * has b (Pass e s m)))
      by (rewrite grid_add, (grid_scale (-1)); lia).
    rewrite <- grid_scale. apply grid_le. intros s m in_s in_m.
    assert (below : unit <= held_until M e s) by (apply least_le; exact in_s).
    unfold acquires, releases. cbn [kind_of stage_of].
    pose proof (has_le b b (Pass I s m) (Pass F s m) (with_input b r s m shape)) as first.
    pose proof (has_le b b (Pass W s m) (Pass I s m) (with_weight b r s m shape)) as second.
    destruct Well as [_ [_ [_ [_ amounts]]]]. specialize (amounts s).
    pose proof (has_range b (Pass F s m)). pose proof (has_range b (Pass I s m)). pose proof (has_range b (Pass W s m)).
    remember (has b (Pass F s m)) as f. remember (has b (Pass I s m)) as i. remember (has b (Pass W s m)) as w.
    assert (cases : (f = 0 /\ i = 0 /\ w = 0) \/ (f = 1 /\ i = 0 /\ w = 0) \/ (f = 1 /\ i = 1 /\ w = 0) \/
                    (f = 1 /\ i = 1 /\ w = 1)) by lia.
    destruct e; [destruct (Backward eq_refl) | |]; cbn [held_until] in below; rewrite <- ?Heqf, <- ?Heqi, <- ?Heqw;
      destruct cases as [[-> [-> ->]] | [[-> [-> ->]] | [[-> [-> ->]] | [-> [-> ->]]]]]; lia.
  Qed.

  Definition is_top (p : pass) : bool := kind_is F p && (stage_of p =? h)%nat.

  (** How many forwards of the highest stage are in a list. *)
  Definition tops (b : list pass) : Z := sum (fun p => if is_top p then 1 else 0) b.

  Lemma is_top_spec : forall p, is_top p = true -> p = Pass F h (microbatch_of p).
  Proof.
    intros [k s m]. unfold is_top. cbn. destruct k; cbn; try discriminate. intros same. apply Nat.eqb_eq in same.
    subst. reflexivity.
  Qed.

  Lemma h_inside : In h (stages_of M d).
  Proof. apply highest_inside. exact Some_stage. Qed.

  Lemma h_in_range : (h < stages M)%nat.
  Proof. apply (stages_of_spec h). exact h_inside. Qed.

  Lemma tops_sum : forall b, part b -> tops b = sum (fun m => has b (Pass F h m)) (seq 0 (microbatches M)).
  Proof.
    intros b [unique inside]. unfold tops.
    rewrite (sum_over _ b (map (Pass F h) (seq 0 (microbatches M)))); [| exact unique | |].
    - rewrite sum_map. apply sum_ext. intros m _. unfold is_top. cbn. rewrite Nat.eqb_refl. apply Z.mul_1_r.
    - apply FinFun.Injective_map_NoDup; [| apply seq_NoDup]. intros m m' same. injection same as same. exact same.
    - intros p in_b. destruct (is_top p) eqn:top; [intros _ | intros no; destruct (no eq_refl)]. apply is_top_spec in top.
      apply inside in in_b. rewrite top in *. apply on_device in in_b. apply in_map. apply in_seq.
      split; [apply Nat.le_0_l | apply in_b].
  Qed.

  Lemma grid_rows : forall (c : nat -> Z), grid (fun _ m => c m) = v * sum c (seq 0 (microbatches M)).
  Proof. intros c. unfold grid. rewrite sum_constant. reflexivity. Qed.

  (** The forwards of the device that come with the forwards of its highest stage. *)
  Lemma forwards_with_tops : forall b r, S d = b ++ r -> v * tops b <= count F b.
  Proof.
    intros b r shape. pose proof (part_prefix b r shape) as some.
    rewrite (tops_sum b some), (count_grid F b some), <- grid_rows. apply grid_le. intros s m in_s _.
    apply has_le. intros inside. apply (with_forward b r s h m shape inside in_s). apply highest_above. exact in_s.
  Qed.

  Lemma tops_app : forall b c, tops (b ++ c) = tops b + tops c.
  Proof. intros b c. apply sum_app. Qed.

  Lemma tops_one : forall m, tops [Pass F h m] = 1.
  Proof. intros m. unfold tops, is_top. cbn. rewrite Nat.eqb_refl. reflexivity. Qed.

  Section Turn.
    Variables (A B R : list pass) (a b : nat).
    Hypothesis Shape : S d = A ++ Pass F h a :: B ++ Pass F h b :: R.
    Hypothesis Apart : tops (Pass F h a :: B) = q.

    Let D := A ++ Pass F h a :: B.
    Let from := start (Pass F h a) + time M F h.

    Lemma shape_D : S d = D ++ Pass F h b :: R.
    Proof. unfold D. rewrite Shape, <- app_assoc. reflexivity. Qed.

    Lemma shape_A : S d = A ++ Pass F h a :: (B ++ Pass F h b :: R).
    Proof. exact Shape. Qed.

    (** The microbatch comes to the highest stage no earlier than a. *)
    Definition late (m : nat) : bool := if in_dec pass_dec (Pass F h m) A then false else true.

    Lemma late_has : forall m, (if late m then 1 else 0) = 1 - has A (Pass F h m).
    Proof. intros m. unfold late, has. destruct (in_dec pass_dec (Pass F h m) A); reflexivity. Qed.

    Lemma late_start : forall m, (m < microbatches M)%nat -> late m = true -> start (Pass F h a) <= start (Pass F h m).
    Proof.
      intros m in_m is_late.
      assert (inside : In (Pass F h m) (S d)) by (apply on_device; split; [exact h_inside | exact in_m]).
      unfold late in is_late. destruct (in_dec pass_dec (Pass F h m) A) as [_ | outside]; [discriminate |].
      rewrite shape_A, in_app_iff in inside. cbn in inside. destruct inside as [inside | [same | inside]].
      - contradiction.
      - rewrite same. lia.
      - pose proof (later_starts _ _ _ _ shape_A inside) as later. pose proof (time_nonneg F h). cbn in later.
        unfold time_of in later. cbn in later. lia.
    Qed.

    Lemma late_input : forall s m, In (Pass I s m) (S d) -> late m = true -> from + lag M h s <= start (Pass I s m).
    Proof.
      intros s m inside is_late. apply on_device in inside. destruct inside as [in_s in_m].
      pose proof (late_start m in_m is_late). apply stages_of_spec in in_s. destruct in_s as [in_s _].
      pose proof (input_after_forward h s m in_m h_in_range in_s). unfold from, lag. lia.
    Qed.

    Lemma late_weight : forall s m, In (Pass W s m) (S d) -> late m = true ->
      from + lag M h s + time M I s <= start (Pass W s m).
    Proof.
      intros s m inside is_late. assert (also : In (Pass I s m) (S d)).
      { apply (with_weight (S d) [] s m); [rewrite app_nil_r; reflexivity | exact inside]. }
      pose proof (late_input s m also is_late). apply on_device in inside. destruct inside as [in_s in_m].
      apply stages_of_spec in in_s. pose proof (weight_after_input s m in_m (proj1 in_s)). lia.
    Qed.

    Definition is_back (p : pass) : bool := kind_is e p && late (microbatch_of p).

    Lemma is_back_spec : forall p, is_back p = true -> p = Pass e (stage_of p) (microbatch_of p) /\ late (microbatch_of p) = true.
    Proof.
      intros [k s m]. unfold is_back. cbn. intros both. apply andb_true_iff in both. destruct both as [same is_late].
      split; [| exact is_late]. destruct e, k; try discriminate; reflexivity.
    Qed.

    Lemma late_back : forall s m, In (Pass e s m) (S d) -> late m = true ->
      from + lag M h s + backward_time M e s <= start (Pass e s m) + time M e s.
    Proof.
      intros s m inside is_late. pose proof (late_input s m) as input. pose proof (late_weight s m) as weight.
      destruct e; [destruct (Backward eq_refl) | |]; cbn [backward_time].
      - specialize (input inside is_late). lia.
      - specialize (weight inside is_late). lia.
    Qed.

    Lemma tops_D : tops (D ++ [Pass F h b]) = tops A + q + 1.
    Proof. unfold D. rewrite !tops_app, Apart, tops_one. lia. Qed.

    (** Enough of what is out has come back. *)
    Lemma enough_back : ended <= grid (fun s m => (if late m then 1 else 0) * has D (Pass e s m)).
    Proof.
      assert (shape : S d = (D ++ [Pass F h b]) ++ R) by (rewrite <- app_assoc; exact shape_D).
      pose proof (part_prefix _ _ shape_D) as some. pose proof (part_prefix _ _ shape_A) as some_A.
      pose proof (forwards_with_tops _ _ shape) as begun.
      rewrite tops_D in begun.
      pose proof (out_fits _ _ shape) as out. rewrite (count_app e) in out.
      assert (none : count e [Pass F h b] = 0) by (destruct e; [destruct (Backward eq_refl) | |]; reflexivity).
      rewrite none in out. rewrite (count_grid e D some) in out.
      assert (early : grid (fun s m => has D (Pass e s m)) <=
                      grid (fun s m => (if late m then 1 else 0) * has D (Pass e s m)) + v * tops A).
      { rewrite (tops_sum A some_A), <- grid_rows, <- grid_add. apply grid_le. intros s m _ _. rewrite late_has.
        pose proof (has_range A (Pass F h m)). pose proof (has_range D (Pass e s m)).
        assert (cases : has A (Pass F h m) = 0 \/ has A (Pass F h m) = 1) by lia.
        destruct cases as [-> | ->]; lia. }
      pose proof fit_split. lia.
    Qed.

    Lemma some_back : exists p, In p D /\ is_back p = true.
    Proof.
      destruct (existsb is_back D) eqn:found; [apply existsb_exists in found; exact found |]. exfalso.
      pose proof enough_back as enough. pose proof ended_positive.
      assert (none : grid (fun s m => (if late m then 1 else 0) * has D (Pass e s m)) <= grid (fun _ _ => 0 * 0)).
      { apply grid_le. intros s m _ _. destruct (late m) eqn:is_late; [| lia].
        unfold has. destruct (in_dec pass_dec (Pass e s m) D) as [inside | _]; [| lia]. exfalso.
        assert (true : existsb is_back D = true); [| congruence].
        apply existsb_exists. exists (Pass e s m). split; [exact inside |]. unfold is_back. cbn. rewrite is_late.
        destruct e; reflexivity. }
      rewrite grid_scale in none. lia.
    Qed.

    (** The forward waits for one of the backwards that come after a. *)
    Lemma turn_one : from + least (fun to => lag M h to + backward_time M e to) l <= start (Pass F h b).
    Proof.
      destruct some_back as [p [inside back]]. apply is_back_spec in back. destruct back as [same is_late].
      assert (all : In p (S d)) by (rewrite shape_D, in_app_iff; left; exact inside).
      pose proof (earlier_ends _ _ _ _ shape_D inside) as ends. rewrite same in all, ends.
      pose proof (late_back _ _ all is_late) as back. apply on_device in all. destruct all as [in_s _].
      pose proof (least_le (fun to => lag M h to + backward_time M e to) l _ in_s) as below. cbn in below.
      unfold time_of in ends. cbn [kind_of stage_of] in ends. lia.
    Qed.

    (** Between the lag and the forward, the device runs what comes back and the forwards that wait for it. *)
    Lemma turn_several :
      from + (lag M h h + least (backward_time M e) l * ended + least (time M F) l * (ended - 1)) <= start (Pass F h b).
    Proof.
      destruct some_back as [some_p [some_in some_is]].
      destruct (first_split is_back D some_p some_in some_is) as [D1 [w [D2 [split [back none]]]]].
      apply is_back_spec in back. destruct back as [same is_late].
      assert (shape1 : S d = D1 ++ w :: D2 ++ Pass F h b :: R).
      { rewrite shape_D, split, <- app_assoc. reflexivity. }
      pose proof (part_prefix _ _ shape_D) as part_D. pose proof (part_prefix _ _ shape_A) as part_A.
      assert (part_2 : part D2) by (apply (part_suffix (D1 ++ [w])); rewrite <- app_assoc; cbn; rewrite <- split; exact part_D).
      pose proof (part_prefix _ _ shape1) as part_1.
      assert (w_in : In (Pass e (stage_of w) (microbatch_of w)) (S d)).
      { rewrite <- same, shape_D, split, !in_app_iff. left. right. left. reflexivity. }
      assert (lag_h : forall s, In s l -> lag M h h <= lag M h s).
      { intros s in_s. unfold lag. pose proof (input_head_falls s h (highest_above l s in_s)). lia. }
      assert (back_nonneg : forall s, 0 <= backward_time M e s).
      { intros s. pose proof (time_nonneg I s). pose proof (time_nonneg W s). unfold backward_time. destruct e; lia. }
      assert (w_end : from + lag M h h <= start w + time_of M w).
      { rewrite same. pose proof (late_back _ _ w_in is_late) as late_w. unfold time_of. cbn [kind_of stage_of].
        pose proof (back_nonneg (stage_of w)). apply on_device in w_in. pose proof (lag_h _ (proj1 w_in)). lia. }
      (* Few forwards come before w, so enough of them come behind it. *)
      assert (forwards : ended - 1 <= count F D2).
      { assert (shape : S d = (D ++ [Pass F h b]) ++ R) by (rewrite <- app_assoc; exact shape_D).
        pose proof (forwards_with_tops _ _ shape) as begun.
        rewrite tops_D, count_app in begun. rewrite split in begun at 1.
        replace (D1 ++ w :: D2) with (D1 ++ [w] ++ D2) in begun by reflexivity. rewrite !count_app in begun.
        assert (not_w : count F [w] = 0) by (rewrite same; destruct e; [destruct (Backward eq_refl) | |]; reflexivity).
        assert (one : count F [Pass F h b] = 1) by reflexivity.
        pose proof (out_fits _ _ shape1) as out.
        assert (early : count e D1 <= v * tops A).
        { rewrite (count_grid e D1 part_1), (tops_sum A part_A), <- grid_rows. apply grid_le. intros s m _ _.
          apply has_le. intros inside. specialize (none _ inside). unfold is_back in none. cbn in none.
          unfold late in none. destruct (in_dec pass_dec (Pass F h m) A) as [here | _]; [exact here |].
          exfalso. destruct e; discriminate. }
        pose proof fit_split. lia. }
      (* What runs between the lag and the forward. *)
      pose (chosen := fun p : pass =>
        match kind_of p with
        | F => if in_dec pass_dec p D2 then true else false
        | I => late (microbatch_of p) && if in_dec pass_dec p D then true else false
        | W => kind_is e p && late (microbatch_of p) && if in_dec pass_dec p D then true else false
        end).
      assert (chosen_in : forall p, chosen p = true -> In p D).
      { intros p taken. unfold chosen in taken. destruct (kind_of p).
        - destruct (in_dec pass_dec p D2) as [inside | _]; [| discriminate]. rewrite split, in_app_iff. right. right. exact inside.
        - destruct (in_dec pass_dec p D) as [inside | _]; [exact inside |]. rewrite andb_false_r in taken. discriminate.
        - destruct (in_dec pass_dec p D) as [inside | _]; [exact inside |]. rewrite andb_false_r in taken. discriminate. }
      assert (fits : from + lag M h h + sum (duration (problem_of M)) (filter chosen (S d)) <= start (Pass F h b)).
      { apply (work_fits (problem_of M) start).
        - exact one_by_one.
        - rewrite same in w_end. pose proof (earlier_ends _ _ _ w shape_D) as before.
          rewrite same in before. assert (In (Pass e (stage_of w) (microbatch_of w)) D).
          { rewrite <- same, split, in_app_iff. right. left. reflexivity. }
          specialize (before H). lia.
        - intros p inside taken. split; [| apply (earlier_ends _ _ _ _ shape_D), chosen_in, taken].
          unfold chosen in taken. destruct p as [k s m]. cbn [kind_of microbatch_of] in taken.
          pose proof inside as there. apply on_device in there. pose proof (lag_h s (proj1 there)).
          destruct k.
          + destruct (in_dec pass_dec (Pass F s m) D2) as [in_2 | _]; [| discriminate].
            pose proof (later_starts D1 w (D2 ++ Pass F h b :: R) (Pass F s m) shape1
              ltac:(apply in_app_iff; left; exact in_2)). lia.
          + apply andb_true_iff in taken. pose proof (late_input s m inside (proj1 taken)). lia.
          + rewrite !andb_true_iff in taken. destruct taken as [[_ is_late'] _].
            pose proof (late_weight s m inside is_late'). pose proof (time_nonneg I s). lia. }
      assert (work : least (time M F) l * (ended - 1) + least (backward_time M e) l * ended <=
                     sum (duration (problem_of M)) (filter chosen (S d))).
      { rewrite sum_filter, (part_sum _ _ whole).
        transitivity (least (time M F) l * grid (fun s m => has D2 (Pass F s m)) +
          least (backward_time M e) l * grid (fun s m => (if late m then 1 else 0) * has D (Pass e s m))).
        { rewrite <- (count_grid F D2 part_2).
          apply Z.add_le_mono; apply Z.mul_le_mono_nonneg_l;
            [apply least_nonneg; intros t; apply time_nonneg | exact forwards | apply least_nonneg, back_nonneg |].
          exact enough_back. }
        rewrite <- !grid_scale, <- grid_add. apply grid_le. intros s m in_s in_m.
        rewrite !(has_true (S d)) by (apply on_device; auto). unfold chosen. cbn [kind_of microbatch_of duration problem_of].
        unfold time_of. cbn [kind_of stage_of].
        pose proof (least_le (time M F) l s in_s) as least_f. pose proof (least_le (backward_time M e) l s in_s) as least_b.
        pose proof (time_nonneg F s). pose proof (time_nonneg I s). pose proof (time_nonneg W s).
        assert (first : least (time M F) l * has D2 (Pass F s m) <=
                        1 * (if if in_dec pass_dec (Pass F s m) D2 then true else false then time M F s else 0)).
        { unfold has. destruct (in_dec pass_dec (Pass F s m) D2); lia. }
        pose proof (with_weight D _ s m shape_D) as with_w.
        assert (second : least (backward_time M e) l * ((if late m then 1 else 0) * has D (Pass e s m)) <=
                         1 * (if late m && (if in_dec pass_dec (Pass I s m) D then true else false) then time M I s else 0) +
                         1 * (if kind_is e (Pass W s m) && late m && (if in_dec pass_dec (Pass W s m) D then true else false)
                              then time M W s else 0)).
        { unfold has. destruct (late m); cbn [andb]; [| rewrite andb_false_r; cbn; lia].
          destruct e; [destruct (Backward eq_refl) | |]; cbn [kind_is kind_of andb backward_time] in *.
          - destruct (in_dec pass_dec (Pass I s m) D); lia.
          - destruct (in_dec pass_dec (Pass W s m) D) as [in_w | _]; destruct (in_dec pass_dec (Pass I s m) D) as [_ | out_i];
              try lia. exfalso. auto. }
        lia. }
      lia.
    Qed.

    (** A forward of the highest stage starts at least P after the one that is q forwards before it. *)
    Theorem turn_waits :
      start (Pass F h a) + (time M F h + Z.max
        (lag M h h + least (backward_time M e) l * ended + least (time M F) l * (ended - 1))
        (least (fun to => lag M h to + backward_time M e to) l)) <= start (Pass F h b).
    Proof. pose proof turn_one as one. pose proof turn_several as several. unfold from in *. lia. Qed.
  End Turn.

  Hypothesis Held : 0 < q.

  Let P := time M F h + Z.max
    (lag M h h + least (backward_time M e) l * ended + least (time M F) l * (ended - 1))
    (least (fun to => lag M h to + backward_time M e to) l).

  (** When the forward with j others before it starts. *)
  Lemma tops_paced : forall base, (forall m, (m < microbatches M)%nat -> base <= start (Pass F h m)) ->
    forall j, 0 <= j -> forall A a R, S d = A ++ Pass F h a :: R -> tops A = j ->
    base + P * (j / q) + time M F h * (j mod q) <= start (Pass F h a).
  Proof.
    intros base first. apply (Zlt_0_ind (fun j => forall A a R, S d = A ++ Pass F h a :: R -> tops A = j ->
      base + P * (j / q) + time M F h * (j mod q) <= start (Pass F h a))).
    intros j IH nonneg A a R shape counted.
    destruct (Z.eq_dec j 0) as [zero | some].
    { subst j. rewrite zero, Z.div_0_l, Z.mod_0_l by lia.
      assert (inside : In (Pass F h a) (S d)) by (rewrite shape, in_app_iff; right; left; reflexivity).
      apply on_device in inside. pose proof (first a (proj2 inside)). lia. }
    destruct (Z_lt_ge_dec j q) as [few | many].
    - destruct (counted_split is_top A (j - 1)) as [A' [p [B [split [top before]]]]];
        [change (0 <= j - 1 < tops A); lia |].
      apply is_top_spec in top.
      assert (shape' : S d = A' ++ Pass F h (microbatch_of p) :: (B ++ Pass F h a :: R)).
      { rewrite shape, split, <- app_assoc, <- top. reflexivity. }
      specialize (IH (j - 1) ltac:(lia) A' (microbatch_of p) _ shape' before).
      pose proof (later_starts A' _ _ (Pass F h a) shape' ltac:(apply in_app_iff; right; left; reflexivity)) as next.
      unfold time_of in next. cbn [kind_of stage_of] in next.
      rewrite Z.div_small, Z.mod_small in IH by lia. rewrite Z.div_small, Z.mod_small by lia. lia.
    - destruct (counted_split is_top A (j - q)) as [A' [p [B [split [top before]]]]];
        [change (0 <= j - q < tops A); lia |].
      apply is_top_spec in top. fold (tops A') in before.
      assert (shape' : S d = A' ++ Pass F h (microbatch_of p) :: B ++ Pass F h a :: R).
      { rewrite shape, split, <- app_assoc, <- top. reflexivity. }
      specialize (IH (j - q) ltac:(lia) A' (microbatch_of p) _ shape' before).
      assert (apart : tops (Pass F h (microbatch_of p) :: B) = q).
      { rewrite <- top. rewrite split, tops_app in counted. lia. }
      pose proof (turn_waits A' B R (microbatch_of p) a shape' apart) as waits. fold P in waits.
      replace j with (j - q + 1 * q) by lia. rewrite Z.div_add, Z.mod_add by lia. lia.
  Qed.

  Lemma tops_all : tops (S d) = Z.of_nat (microbatches M).
  Proof.
    rewrite (tops_sum _ whole). transitivity (sum (fun _ : nat => 1) (seq 0 (microbatches M))).
    - apply sum_ext. intros m in_m. apply in_seq in in_m. apply has_true, on_device. split; [exact h_inside | lia].
    - rewrite sum_constant, seq_length. lia.
  Qed.

  Lemma last_top : (0 < microbatches M)%nat -> exists a, (a < microbatches M)%nat /\
    forall base, (forall m, (m < microbatches M)%nat -> base <= start (Pass F h m)) ->
    base + P * ((Z.of_nat (microbatches M) - 1) / q) + time M F h * ((Z.of_nat (microbatches M) - 1) mod q)
    <= start (Pass F h a).
  Proof.
    intros some. pose proof tops_all as all.
    destruct (counted_split is_top (S d) (Z.of_nat (microbatches M) - 1)) as [A [p [R [shape [top before]]]]];
      [change (0 <= Z.of_nat (microbatches M) - 1 < tops (S d)); lia |].
    apply is_top_spec in top. exists (microbatch_of p). rewrite top in shape. split.
    - assert (inside : In (Pass F h (microbatch_of p)) (S d)) by (rewrite shape, in_app_iff; right; left; reflexivity).
      apply on_device in inside. apply inside.
    - intros base first.
      apply (tops_paced base first (Z.of_nat (microbatches M) - 1) ltac:(lia) A _ R); [exact shape | exact before].
  Qed.

  Lemma turn_nonneg : 0 <= P.
  Proof.
    unfold P. pose proof (time_nonneg F h). pose proof (forward_before_input h h_in_range).
    assert (0 <= lag M h h) by (unfold lag; lia).
    assert (0 <= least (backward_time M e) l * ended).
    { pose proof ended_positive. apply Z.mul_nonneg_nonneg; [| lia]. apply least_nonneg. intros s.
      pose proof (time_nonneg I s). pose proof (time_nonneg W s). unfold backward_time. destruct e; lia. }
    assert (0 <= least (time M F) l * (ended - 1)).
    { pose proof ended_positive. apply Z.mul_nonneg_nonneg; [| lia]. apply least_nonneg, time_nonneg. }
    lia.
  Qed.
End Device.
