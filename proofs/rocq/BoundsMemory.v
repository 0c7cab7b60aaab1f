(** * BoundsMemory: bounds that follow from the capacity of a device

    A device with little memory must wait until what it holds is free again. This file proves the two bounds of
    docs/bounds.md that say for how long, for every execution of every complete schedule within the capacities.

    - _Area_: each microbatch holds its memory at least as long as its longest chain takes from F to W. All of it together fits
      into the capacity times the span of the device.
    - _Turnover_: the forward of the highest stage of a device waits until enough of what is out has come back. So it starts at
      least P after the forward of the same stage that comes q microbatches before it.

    The functions compute what the checker of certificates computes, and a schedule that beats one of these figures does not
    exist. The proof of the turnover bound numbers the microbatches by the forwards of the highest stage, in the order of the
    device, and lets all other passes run in any order. So neither theorem assumes that microbatches are run first in, first
    out; where they are, [turnover_in_order] is the statement of docs/bounds.md. The last example shows that a longer P would be
    wrong. Recomputation, offloading and pairs are not covered. *)

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

(** ** The bounds *)

Section Bounds.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Fits : within_capacity M S.
  Hypothesis Runs : runs M S start.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.
  Variable d : nat.
  Hypothesis In_range : (d < devices M)%nat.

  Lemma round_up_le : forall a b x, 0 < b -> a <= b * x -> round_up a b <= x.
  Proof.
    intros a b x positive below. unfold round_up.
    assert (- x <= - a / b) by (apply Z.div_le_lower_bound; [exact positive |]; rewrite Z.mul_opp_r; lia). lia.
  Qed.

  Lemma some_pass : stages_of M d <> [] -> exists p rest, S d = p :: rest.
  Proof.
    intros some. destruct (S d) as [| p rest] eqn:shape; [exfalso | eauto].
    assert (inside : In (Pass F (highest (stages_of M d)) 0) (S d)).
    { apply (on_device M S Complete d In_range). split; [apply highest_inside; exact some | exact Some_microbatch]. }
    rewrite shape in inside. destruct inside.
  Qed.

  Lemma head_first : forall p rest, S d = p :: rest -> forall r, In r (S d) -> start p <= start r.
  Proof.
    intros p rest shape r inside. rewrite shape in inside. destruct inside as [same | later]; [subst; lia |].
    pose proof (later_starts M S start Well Runs d In_range [] p rest r shape later).
    pose proof (time_nonneg M Well (kind_of p) (stage_of p)). unfold time_of in *. lia.
  Qed.

  (** Each pass of the device comes after the forward of its stage, and so after the head of the lowest stage. *)
  Lemma after_lowest_head : forall p, In p (S d) -> forward_head M (lowest (stages_of M d)) <= start p.
  Proof.
    intros [k s m] inside. apply (on_device M S Complete d In_range) in inside. destruct inside as [in_s in_m].
    pose proof (forward_head_grows M Well _ _ (lowest_below _ s in_s)) as head.
    apply (stages_of_spec M d) in in_s. destruct in_s as [in_s _].
    pose proof (forward_start M S start Well Runs s m in_m in_s) as first.
    pose proof (input_after_forward M S start Well Runs s s m in_m in_s in_s) as second.
    pose proof (weight_after_input M S start Well Runs s m in_m in_s) as third.
    pose proof (forward_before_input M Well s in_s). pose proof (time_nonneg M Well F s). pose proof (time_nonneg M Well I s).
    destruct k; lia.
  Qed.

  (** *** Area *)

  (** In the long run, a microbatch takes the area over the capacity. *)
  Theorem area_pace : forall limit x, capacity M d = Some limit -> 0 <= limit -> stages_of M d <> [] ->
    span_at_most M S start d x -> Z.of_nat (microbatches M) * area M d <= limit * x.
  Proof.
    intros limit x known room some span. destruct (some_pass some) as [p [rest shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (span p p in_p in_p) as own. pose proof (time_nonneg M Well (kind_of p) (stage_of p)).
    replace (limit * x) with (limit * ((start p + x) - start p)) by ring.
    apply (areas_fit M S start Well Complete Fits Runs d In_range limit known (start p) (start p + x) room).
    - unfold time_of in own. lia.
    - intros r in_r. split; [apply (head_first p rest shape r in_r) |]. specialize (span p r in_p in_r). lia.
  Qed.

  (** The passes of a device with capacity C have a span of at least m*A/C. *)
  Theorem area_bounds_span : forall bound x, area_bound M d device_span = Some bound ->
    span_at_most M S start d x -> bound <= x.
  Proof.
    intros bound x computed span. unfold area_bound in computed.
    destruct (capacity M d) as [limit |] eqn:known; [| discriminate].
    destruct (stages_of M d) as [| s rest] eqn:list; [discriminate |].
    destruct (0 <? limit) eqn:positive; [| discriminate]. apply Z.ltb_lt in positive. injection computed as <-. cbn [Z.add].
    apply round_up_le; [exact positive |]. apply area_pace; [exact known | lia | rewrite list; discriminate | exact span].
  Qed.

  (** The makespan is at least the head of the lowest stage of the device and m*A/C. *)
  Theorem area_bounds_makespan : forall bound x, area_bound M d makespan = Some bound ->
    makespan_at_most M S start x -> bound <= x.
  Proof.
    intros bound x computed ends. unfold area_bound in computed.
    destruct (capacity M d) as [limit |] eqn:known; [| discriminate].
    destruct (stages_of M d) as [| s rest] eqn:list; [discriminate |].
    destruct (0 <? limit) eqn:positive; [| discriminate]. apply Z.ltb_lt in positive.
    assert (same : forward_head M (lowest (s :: rest)) + round_up (Z.of_nat (microbatches M) * area M d) limit = bound)
      by congruence.
    rewrite <- same, <- list. assert (some : stages_of M d <> []) by (rewrite list; discriminate).
    destruct (some_pass some) as [p [later shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (after_lowest_head p in_p) as head. pose proof (ends d In_range p in_p) as own. cbn in own.
    pose proof (time_nonneg M Well (kind_of p) (stage_of p)). unfold time_of in own.
    assert (span : round_up (Z.of_nat (microbatches M) * area M d) limit <= x - forward_head M (lowest (stages_of M d))); [| lia].
    apply round_up_le; [exact positive |].
    apply (areas_fit M S start Well Complete Fits Runs d In_range limit known); [lia | lia |].
    intros r in_r. split; [apply after_lowest_head; exact in_r | apply (ends d In_range r in_r)].
  Qed.

  (** *** Turnover *)

  Variable e : kind.
  Hypothesis Backward : e <> F.

  Lemma turn_facts : forall q P, turn M d e = Some (q, P) ->
    exists limit, capacity M d = Some limit /\ stages_of M d <> [] /\ 0 < least (held_until M e) (stages_of M d) /\ 0 <= limit /\
    q = limit / least (held_until M e) (stages_of M d) / Z.of_nat (length (stages_of M d)) /\ 0 < q /\
    P = time M F (highest (stages_of M d)) + Z.max
      (lag M (highest (stages_of M d)) (highest (stages_of M d))
       + least (backward_time M e) (stages_of M d)
         * (Z.of_nat (length (stages_of M d))
            - (limit / least (held_until M e) (stages_of M d)) mod Z.of_nat (length (stages_of M d)))
       + least (time M F) (stages_of M d)
         * (Z.of_nat (length (stages_of M d))
            - (limit / least (held_until M e) (stages_of M d)) mod Z.of_nat (length (stages_of M d)) - 1))
      (least (fun to => lag M (highest (stages_of M d)) to + backward_time M e to) (stages_of M d)).
  Proof.
    intros q P computed. unfold turn in computed. destruct (capacity M d) as [limit |]; [| discriminate].
    destruct (0 <? least (held_until M e) (stages_of M d)) eqn:unit; [| discriminate]. apply Z.ltb_lt in unit.
    destruct (0 <? limit / least (held_until M e) (stages_of M d) / Z.of_nat (length (stages_of M d))) eqn:fits; [| discriminate].
    apply Z.ltb_lt in fits. injection computed as <- <-. exists limit. split; [reflexivity |].
    assert (some : stages_of M d <> []) by (intros none; rewrite none in unit; cbn in unit; lia).
    split; [exact some |]. split; [exact unit |]. split; [| auto].
    destruct (Z_lt_le_dec limit 0) as [negative | room]; [exfalso | exact room].
    assert (chunks : 0 < Z.of_nat (length (stages_of M d))) by (destruct (stages_of M d); [congruence | cbn; lia]).
    assert (none : limit / least (held_until M e) (stages_of M d) < 0) by (apply Z.div_lt_upper_bound; lia).
    assert (limit / least (held_until M e) (stages_of M d) / Z.of_nat (length (stages_of M d)) < 0)
      by (apply Z.div_lt_upper_bound; lia).
    lia.
  Qed.

  (** The forward of the highest stage starts at least P after the one that comes q forwards of this stage before it. *)
  Theorem turnover : forall q P, turn M d e = Some (q, P) -> forall A a B b R,
    S d = A ++ Pass F (highest (stages_of M d)) a :: B ++ Pass F (highest (stages_of M d)) b :: R ->
    tops M d (Pass F (highest (stages_of M d)) a :: B) = q ->
    start (Pass F (highest (stages_of M d)) a) + P <= start (Pass F (highest (stages_of M d)) b).
  Proof.
    intros q P computed A a B b R shape apart. destruct (turn_facts q P computed)
      as [limit [known [some [unit [room [held [positive shape_P]]]]]]]. rewrite shape_P. rewrite held in apart.
    exact (turn_waits M S start Well Complete Fits Runs d In_range limit known e Backward some unit room A B R a b shape apart).
  Qed.

  (** Each forward of the highest stage comes before those of later microbatches, as in a schedule that is first in, first out. *)
  Definition forwards_in_order : Prop :=
    forall m n, (m < n)%nat -> (n < microbatches M)%nat -> exists b c r,
      S d = b ++ Pass F (highest (stages_of M d)) m :: c ++ Pass F (highest (stages_of M d)) n :: r.

  Lemma count_below : forall a n, (a <= n)%nat -> sum (fun m => if (m <? a)%nat then 1 else 0) (seq 0 n) = Z.of_nat a.
  Proof.
    intros a n. induction n as [| n IH]; intros below; [replace a with O by lia; reflexivity |].
    rewrite seq_S, sum_app. cbn [sum Nat.add].
    destruct (Nat.eq_dec a (Datatypes.S n)) as [-> | other].
    - rewrite (proj2 (Nat.ltb_lt n (Datatypes.S n))) by lia.
      rewrite (sum_ext _ (fun _ : nat => 1)); [rewrite sum_constant, seq_length; lia |].
      intros m in_m. apply in_seq in in_m. rewrite (proj2 (Nat.ltb_lt m (Datatypes.S n))); lia.
    - rewrite (proj2 (Nat.ltb_ge n a)) by lia. rewrite IH; lia.
  Qed.

  Lemma tops_in_order : stages_of M d <> [] -> forwards_in_order -> forall A a R,
    S d = A ++ Pass F (highest (stages_of M d)) a :: R -> tops M d A = Z.of_nat a.
  Proof.
    intros some in_order A a R shape. set (h := highest (stages_of M d)) in *.
    assert (in_a : (a < microbatches M)%nat).
    { apply (on_device M S Complete d In_range F h a). rewrite shape, in_app_iff. right. left. reflexivity. }
    rewrite (tops_sum M S Complete d In_range A (part_prefix M S Complete d In_range A _ shape)). fold h.
    rewrite <- (count_below a (microbatches M)) by lia. apply sum_ext. intros m in_m. apply in_seq in in_m.
    destruct Runs as [_ [place placed]].
    pose proof (order_placed M S d In_range place placed) as before.
    assert (precede : forall m n, (m < n)%nat -> (n < microbatches M)%nat -> (place (Pass F h m) < place (Pass F h n))%nat).
    { intros i j below in_j. destruct (in_order i j below in_j) as [b [c [r split]]].
      apply (before (b ++ [Pass F h i]) (c ++ Pass F h j :: r)).
      - rewrite split, <- app_assoc. reflexivity.
      - apply in_app_iff. right. left. reflexivity.
      - apply in_app_iff. right. left. reflexivity. }
    unfold has. destruct (in_dec pass_dec (Pass F h m) A) as [inside | outside].
    - pose proof (before A _ shape (Pass F h m) (Pass F h a) inside (or_introl eq_refl)) as first.
      rewrite (proj2 (Nat.ltb_lt m a)); [reflexivity |].
      destruct (Nat.lt_trichotomy m a) as [below | [same | above]]; [exact below | subst; lia |].
      pose proof (precede a m above ltac:(lia)). lia.
    - rewrite (proj2 (Nat.ltb_ge m a)); [reflexivity |].
      destruct (Nat.le_gt_cases a m) as [above | below]; [exact above | exfalso].
      pose proof (precede m a below in_a) as first.
      assert (there : In (Pass F h m) (S d)).
      { apply (on_device M S Complete d In_range). split; [apply highest_inside; exact some | lia]. }
      rewrite shape, in_app_iff in there. destruct there as [inside | [same | later]]; [contradiction | |].
      + rewrite same in first. lia.
      + pose proof (before (A ++ [Pass F h a]) R ltac:(rewrite <- app_assoc; exact shape) (Pass F h a) (Pass F h m)
          ltac:(apply in_app_iff; right; left; reflexivity) later). lia.
  Qed.

  (** Where these forwards run in the order of their microbatches, that of k + q starts at least P after that of k. *)
  Theorem turnover_in_order : forall q P, turn M d e = Some (q, P) -> forwards_in_order ->
    forall k n, Z.of_nat n = Z.of_nat k + q -> (n < microbatches M)%nat ->
    start (Pass F (highest (stages_of M d)) k) + P <= start (Pass F (highest (stages_of M d)) n).
  Proof.
    intros q P computed in_order k n apart in_n. destruct (turn_facts q P computed) as [_ [_ [some [_ [_ [_ [positive _]]]]]]].
    set (h := highest (stages_of M d)) in *. destruct (in_order k n ltac:(lia) in_n) as [A [B [R shape]]]. fold h in shape.
    apply (turnover q P computed A k B n R shape). fold h.
    pose proof (tops_in_order some in_order A k _ shape) as one.
    assert (shape' : S d = (A ++ Pass F h k :: B) ++ Pass F h n :: R) by (rewrite <- app_assoc; exact shape).
    pose proof (tops_in_order some in_order _ n R shape') as two. rewrite tops_app in two. lia.
  Qed.

  (** The last of the forwards of the highest stage starts that late. *)
  Lemma last_forward : forall q P, turn M d e = Some (q, P) ->
    0 < q /\ 0 <= P /\ stages_of M d <> [] /\ exists a, (a < microbatches M)%nat /\
    forall base, (forall m, (m < microbatches M)%nat -> base <= start (Pass F (highest (stages_of M d)) m)) ->
    base + P * ((Z.of_nat (microbatches M) - 1) / q)
    + time M F (highest (stages_of M d)) * ((Z.of_nat (microbatches M) - 1) mod q)
    <= start (Pass F (highest (stages_of M d)) a).
  Proof.
    intros q P computed. destruct (turn_facts q P computed)
      as [limit [known [some [unit [room [held [positive shape_P]]]]]]]. rewrite held in positive.
    split; [rewrite held; exact positive |].
    split; [rewrite shape_P; apply (turn_nonneg M Well d In_range limit e Backward some); assumption |].
    split; [exact some |]. rewrite shape_P, held.
    exact (last_top M S start Well Complete Fits Runs d In_range limit known e Backward some unit room positive Some_microbatch).
  Qed.

  (** No schedule has a makespan below the bound. *)
  Theorem turnover_bounds_makespan : forall bound x, turnover_bound M d makespan e = Some bound ->
    makespan_at_most M S start x -> bound <= x.
  Proof.
    intros bound x computed ends. unfold turnover_bound in computed.
    destruct (turn M d e) as [[q P] |] eqn:found; [| discriminate]. injection computed as <-.
    destruct (last_forward q P found) as [positive [_ [some [a [in_a last]]]]].
    pose proof (highest_inside _ some) as top. unfold turnover_value.
    set (h := highest (stages_of M d)) in *. apply (stages_of_spec M d) in top. destruct top as [in_h _].
    specialize (last (forward_head M h) (fun m in_m => forward_start M S start Well Runs h m in_m in_h)).
    assert (tail : most (fun to => input_head M to + (time M I to + time M W to)) (seq 0 (stages M))
                   <= x - start (Pass F h a) + forward_head M h).
    { assert (each : forall s, (s < stages M)%nat ->
        input_head M s + (time M I s + time M W s) <= x - start (Pass F h a) + forward_head M h).
      { intros s in_s. pose proof (input_after_forward M S start Well Runs h s a in_a in_h in_s).
        pose proof (weight_after_input M S start Well Runs s a in_a in_s).
        destruct Well as [_ [there _]]. specialize (there s in_s).
        assert (inside : In (Pass W s a) (S (device_of M s))).
        { apply (Complete _ there). split; [split; assumption | reflexivity]. }
        pose proof (ends _ there _ inside) as ended. cbn in ended. unfold time_of in ended. cbn in ended. lia. }
      apply most_le; [| intros s in_s; apply each; apply in_seq in in_s; lia].
      pose proof (each h in_h). pose proof (forward_before_input M Well h in_h).
      pose proof (forward_head_grows M Well 0 h ltac:(lia)) as zero.
      cbn [forward_head] in zero. pose proof (time_nonneg M Well F h). pose proof (time_nonneg M Well I h).
      pose proof (time_nonneg M Well W h). lia. }
    unfold forward_tail. rewrite Z.mul_add_distr_l. lia.
  Qed.

  (** The span of the device is no less than the bound. *)
  Theorem turnover_bounds_span : forall bound x, turnover_bound M d device_span e = Some bound ->
    span_at_most M S start d x -> bound <= x.
  Proof.
    intros bound x computed span. unfold turnover_bound in computed.
    destruct (turn M d e) as [[q P] |] eqn:found; [| discriminate]. injection computed as <-.
    destruct (last_forward q P found) as [positive [_ [some [a [in_a last]]]]].
    pose proof (highest_inside _ some) as top. pose proof (lowest_inside _ some) as bottom. unfold turnover_value.
    destruct (some_pass some) as [p [rest shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (lowest_below _ _ top) as between.
    set (h := highest (stages_of M d)) in *. set (b := lowest (stages_of M d)) in *.
    pose proof (proj1 (stages_of_spec M d h) top) as [in_h _].
    specialize (last (start p + (forward_head M h - forward_head M b))).
    assert (first : forall m, (m < microbatches M)%nat ->
      start p + (forward_head M h - forward_head M b) <= start (Pass F h m)).
    { intros m in_m.
      assert (inside : In (Pass F b m) (S d)) by (apply (on_device M S Complete d In_range); auto).
      pose proof (head_first p rest shape _ inside).
      pose proof (forward_after_forward M S start Well Runs b m (h - b) in_m ltac:(lia)) as chain.
      replace (b + (h - b))%nat with h in chain by lia. lia. }
    specialize (last first).
    assert (tail : most (forward_to_weight M h) (stages_of M d) <= x + start p - start (Pass F h a) - time M F h).
    { assert (each : forall s, In s (stages_of M d) ->
        forward_to_weight M h s <= x + start p - start (Pass F h a) - time M F h).
      { intros s in_l. assert (inside : In (Pass W s a) (S d)) by (apply (on_device M S Complete d In_range); auto).
        pose proof (proj1 (stages_of_spec M d s) in_l) as [in_s _].
        pose proof (input_after_forward M S start Well Runs h s a in_a in_h in_s).
        pose proof (weight_after_input M S start Well Runs s a in_a in_s).
        pose proof (span p _ in_p inside) as whole. unfold time_of in whole. cbn in whole. unfold forward_to_weight. lia. }
      apply most_le; [| exact each].
      pose proof (each h top) as own. pose proof (forward_before_input M Well h in_h). unfold forward_to_weight in own.
      pose proof (time_nonneg M Well I h). pose proof (time_nonneg M Well W h). lia. }
    rewrite Z.mul_add_distr_l. lia.
  Qed.

  (** In the long run, q microbatches take P. *)
  Theorem turnover_pace : forall q P x, turn M d e = Some (q, P) -> span_at_most M S start d x ->
    (Z.of_nat (microbatches M) - q) * P <= q * x.
  Proof.
    intros q P x found span. destruct (last_forward q P found) as [positive [nonneg [some [a [in_a last]]]]].
    destruct (some_pass some) as [p [rest shape]].
    assert (in_p : In p (S d)) by (rewrite shape; left; reflexivity).
    pose proof (highest_inside _ some) as top. set (h := highest (stages_of M d)) in *.
    assert (inside : forall m, (m < microbatches M)%nat -> In (Pass F h m) (S d))
      by (intros m in_m; apply (on_device M S Complete d In_range); auto).
    specialize (last (start p) (fun m in_m => head_first p rest shape _ (inside m in_m))).
    pose proof (span p _ in_p (inside a in_a)) as whole. unfold time_of in whole. cbn in whole.
    set (n := Z.of_nat (microbatches M) - 1) in *.
    pose proof (Z.div_mod n q ltac:(lia)). pose proof (Z.mod_pos_bound n q positive). pose proof (time_nonneg M Well F h).
    pose proof (Z.mul_nonneg_nonneg (time M F h) (n mod q) ltac:(lia) ltac:(lia)).
    transitivity (q * (P * (n / q))); [| apply Z.mul_le_mono_nonneg_l; lia].
    replace (q * (P * (n / q))) with (q * (n / q) * P) by ring. apply Z.mul_le_mono_nonneg_r; lia.
  Qed.
End Bounds.

(** ** The bound cannot be longer

    Take V placement on four devices, equal stages whose F, I and W take 3, 4 and 2 ticks (S = 9), no latencies, eight
    microbatches, and room for three chunks on each device. From the F of the highest stage of the last device to its I, L = 21
    ticks pass. On this device q is 1, and P is L + S = 30. For even numbers of chunks P is L + 2S. For three chunks that would
    be 39, and the makespan would be at least 331. But 286 is possible. *)

(** *** A check that start times run a schedule *)

Definition pass_eqb (p q : pass) : bool := if pass_dec p q then true else false.

Fixpoint ordered (M : model) (start : pass -> Z) (l : list pass) : bool :=
  match l with
  | p :: (q :: _) as rest => (start p + time_of M p <=? start q) && ordered M start rest
  | _ => true
  end.

Definition device_runs (M : model) (S : schedule) (start : pass -> Z) (x : Z) (d : nat) : bool :=
  (length (S d) =? length (all_passes M d))%nat &&
  forallb (fun p => existsb (pass_eqb p) (S d)) (all_passes M d) &&
  ordered M start (S d) &&
  (match capacity M d with Some limit => peak M (S d) <=? limit | None => true end) &&
  forallb (fun p => start p + time_of M p <=? x) (S d).

Definition runs_within (M : model) (S : schedule) (start : pass -> Z) (x : Z) : bool :=
  forallb (device_runs M S start x) (seq 0 (devices M)) &&
  forallb (fun need => match need with (u, g, v) => start u + (time_of M u + g) <=? start v end) (needs (problem_of M)).

Lemma ordered_follows : forall M start l u v, ordered M start l = true -> follows l u v -> start u + time_of M u <= start v.
Proof.
  intros M start l u v good [before [after shape]]. revert l good shape.
  induction before as [| p before IH]; intros l good shape; subst l.
  - cbn in good. apply andb_true_iff in good. apply Z.leb_le. apply good.
  - apply (IH (before ++ u :: v :: after)); [| reflexivity].
    cbn [app ordered] in good. destruct (before ++ u :: v :: after) as [| q rest] eqn:list; [destruct before; discriminate |].
    apply andb_true_iff in good. apply good.
Qed.

Lemma peak_holds : forall M limit l now done p rest, peak_from M now l <= limit -> l = done ++ p :: rest ->
  now + kept M done + acquires M p <= limit.
Proof.
  intros M limit l now done. revert l now. induction done as [| q done IH]; intros l now p rest below shape; subst l.
  - cbn in *. lia.
  - cbn [app peak_from] in below. specialize (IH (done ++ p :: rest) (now + acquires M q - releases M q) p rest ltac:(lia) eq_refl).
    unfold kept in *. cbn [sum]. lia.
Qed.

(** What passes the check is an execution, if every pass takes some time. *)
Theorem runs_within_sound : forall M S start x, well_formed M -> (forall k s, 0 < time M k s) -> (forall p, 0 <= start p) ->
  runs_within M S start x = true ->
  complete M S /\ within_capacity M S /\ runs M S start /\ makespan_at_most M S start x.
Proof.
  intros M S start x well positive nonneg good. unfold runs_within in good. apply andb_true_iff in good.
  destruct good as [devices_good needs_good]. rewrite forallb_forall in devices_good, needs_good.
  assert (facts : forall d, (d < devices M)%nat ->
    length (S d) = length (all_passes M d) /\ incl (all_passes M d) (S d) /\ ordered M start (S d) = true /\
    (forall limit, capacity M d = Some limit -> peak M (S d) <= limit) /\
    (forall p, In p (S d) -> start p + time_of M p <= x)).
  { intros d in_range. specialize (devices_good d ltac:(apply in_seq; lia)). unfold device_runs in devices_good.
    rewrite !andb_true_iff, Nat.eqb_eq, !forallb_forall in devices_good.
    destruct devices_good as [[[[same all] good] memory] ends]. split; [exact same |]. split.
    { intros p inside. specialize (all p inside). apply existsb_exists in all. destruct all as [q [in_q equal]].
      unfold pass_eqb in equal. destruct (pass_dec p q) as [-> | _]; [exact in_q | discriminate]. }
    split; [exact good |]. split.
    - intros limit known. rewrite known in memory. apply Z.leb_le. exact memory.
    - intros p inside. apply Z.leb_le. apply ends. exact inside. }
  assert (waiting : forall u w v, waits (problem_of M) (orders_of M S) u w v -> start u + w <= start v /\ 0 < w).
  { intros u w v [u' g v' need | l u' v' inside next].
    - specialize (needs_good _ need). cbn in needs_good. apply Z.leb_le in needs_good. split; [exact needs_good |].
      apply needs_are_pass_needs in need; [| apply well]. destruct well as [_ [_ [_ [latencies _]]]].
      cbn. unfold time_of. destruct need as [s m | m | s m | s m]; cbn [kind_of stage_of]; try specialize (latencies s);
        match goal with |- 0 < time M ?k ?s + _ => specialize (positive k s) end; lia.
    - apply in_map_iff in inside. destruct inside as [d [same inside]]. subst l. apply in_seq in inside.
      destruct (facts d ltac:(lia)) as [_ [_ [good _]]]. split; [| apply positive].
      apply (ordered_follows M start (S d)); [exact good | exact next]. }
  split; [| split; [| split]].
  - intros d in_range. destruct (facts d in_range) as [same [all _]].
    pose proof (all_passes_unique M d) as unique. split.
    + apply (NoDup_incl_NoDup unique); [lia | exact all].
    + assert (both : forall p, In p (S d) <-> In p (all_passes M d)).
      { intros p. split; [| apply all]. apply (NoDup_length_incl unique); [lia | exact all]. }
      intros [k s m]. rewrite both. unfold all_passes, exists_in. cbn [stage_of microbatch_of]. rewrite in_flat_map. split.
      * intros [t [in_t inside]]. apply in_flat_map in inside. destruct inside as [n [in_n inside]].
        unfold stages_of in in_t. apply filter_In in in_t. destruct in_t as [in_t same_d]. apply Nat.eqb_eq in same_d.
        apply in_seq in in_t. apply in_seq in in_n. cbn in inside.
        destruct inside as [equal | [equal | [equal | []]]]; injection equal as <- <- <-; lia.
      * intros [[in_s in_m] same_d]. exists s. split.
        { unfold stages_of. apply filter_In. split; [apply in_seq; lia | apply Nat.eqb_eq; exact same_d]. }
        apply in_flat_map. exists m. split; [apply in_seq; lia |]. cbn. destruct k; auto.
  - intros d limit in_range known done p rest shape. destruct (facts d in_range) as [_ [_ [_ [memory _]]]].
    pose proof (peak_holds M limit (S d) 0 done p rest (memory limit known) shape) as holds. unfold held. lia.
  - split; [split; [exact nonneg | intros u w v wait; apply waiting; exact wait] |].
    exists (fun p => Z.to_nat (start p)). intros u w v wait. destruct (waiting u w v wait) as [later some].
    specialize (nonneg u). lia.
  - intros d in_range p inside. apply (facts d in_range). exact inside.
Qed.

(** *** The schedule *)

Definition short_memory : model := {|
  devices := 4;
  stages := 8;
  microbatches := 8;
  device_of := fun s => Nat.min s (7 - s);
  time := fun k _ => match k with F => 3 | I => 4 | W => 2 end;
  latency := fun _ => 0;
  activation := fun _ => 1;
  retained := fun _ => 1;
  capacity := fun _ => Some 3
|}.

(** By kind, stage and microbatch. *)
Definition short_memory_times (k : kind) : list (list Z) :=
  match k with
  | F =>
    [[0; 3; 60; 93; 126; 159; 192; 225];
     [3; 6; 64; 97; 130; 163; 196; 229];
     [6; 9; 67; 100; 133; 166; 199; 232];
     [9; 15; 70; 103; 136; 169; 202; 235];
     [12; 42; 75; 108; 141; 174; 207; 240];
     [15; 45; 78; 111; 144; 177; 210; 243];
     [18; 48; 81; 114; 147; 180; 213; 246];
     [21; 51; 84; 117; 150; 183; 216; 249]]
  | I =>
    [[63; 96; 129; 162; 195; 228; 266; 280];
     [53; 86; 119; 152; 185; 218; 262; 276];
     [49; 82; 115; 148; 181; 214; 247; 272];
     [45; 78; 111; 144; 177; 210; 243; 268];
     [36; 66; 99; 132; 165; 198; 231; 264];
     [32; 62; 95; 128; 161; 194; 227; 260];
     [28; 58; 91; 124; 157; 190; 223; 256];
     [24; 54; 87; 120; 153; 186; 219; 252]]
  | W =>
    [[67; 100; 133; 166; 199; 232; 270; 284];
     [62; 95; 128; 161; 194; 227; 266; 280];
     [53; 86; 119; 152; 185; 218; 251; 276];
     [49; 82; 115; 148; 181; 214; 247; 272];
     [40; 73; 106; 139; 172; 205; 238; 274];
     [36; 70; 103; 136; 169; 202; 235; 264];
     [32; 67; 100; 133; 166; 199; 232; 260];
     [28; 58; 91; 124; 157; 190; 223; 256]]
  end.

Definition short_memory_start (p : pass) : Z :=
  Z.max 0 (nth (microbatch_of p) (nth (stage_of p) (short_memory_times (kind_of p)) []) 0).

Fixpoint insert (start : pass -> Z) (p : pass) (l : list pass) : list pass :=
  match l with
  | [] => [p]
  | q :: rest => if start p <=? start q then p :: l else q :: insert start p rest
  end.

(** The passes of a device by their starts. *)
Definition short_memory_schedule (d : nat) : list pass :=
  fold_right (insert short_memory_start) [] (all_passes short_memory d).

Lemma short_memory_well_formed : well_formed short_memory.
Proof.
  split; [cbn; lia |]. split.
  - intros s in_range. cbn [short_memory stages devices device_of] in *. lia.
  - split; [intros [] s; cbn; lia |]. split; intros s; cbn; lia.
Qed.

(** q and P of the last device: 1 and L + S. *)
Example short_memory_turn : turn short_memory 3 W = Some (1, 21 + 9).
Proof. reflexivity. Qed.

(** What is proved for three chunks, and what P = L + 2S would give. *)
Example short_memory_bound : turnover_bound short_memory 3 makespan W = Some 268 /\
  turnover_value short_memory 3 makespan 1 (21 + 2 * 9) = 331.
Proof. split; reflexivity. Qed.

(** A makespan of 286 is possible: P = L + 2S is false. *)
Example longer_turn_is_false :
  complete short_memory short_memory_schedule /\ within_capacity short_memory short_memory_schedule /\
  runs short_memory short_memory_schedule short_memory_start /\
  makespan_at_most short_memory short_memory_schedule short_memory_start 286.
Proof.
  apply runs_within_sound.
  - exact short_memory_well_formed.
  - intros [] s; cbn; lia.
  - intros p. unfold short_memory_start. lia.
  - vm_compute. reflexivity.
Qed.
