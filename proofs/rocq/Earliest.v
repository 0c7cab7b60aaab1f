(** * Earliest: executions as soon as possible

    An execution is as soon as possible if each pass starts when its device is free and all that it needs is there
    ([as_soon_as_possible]). No execution of the same schedule starts any pass earlier ([as_soon_as_possible_is_least]), so
    there is one such execution at most. *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Growing.
Import ListNotations.
Open Scope Z_scope.

(** ** Executions as soon as possible *)

Section Ends.
  Variable M : model.
  Variable start : pass -> Z.

  (** When the last pass of a list has ended; x if there is none. *)
  Fixpoint last_end_from (x : Z) (l : list pass) : Z :=
    match l with
    | [] => x
    | p :: rest => last_end_from (start p + time_of M p) rest
    end.

  Definition last_end (l : list pass) : Z := last_end_from 0 l.
End Ends.

(** A pass starts as soon as something that it waits for lets it. *)
Definition tight (M : model) (S : schedule) (start : pass -> Z) (v : pass) : Prop :=
  (exists u lag, pass_needs M u lag v /\ start u + time_of M u + lag = start v) \/
  (exists d done rest, (d < devices M)%nat /\ S d = done ++ v :: rest /\ start v <= last_end M start done).

Definition as_soon_as_possible (M : model) (S : schedule) (start : pass -> Z) : Prop :=
  runs M S start /\ forall v, exists_in M v -> tight M S start v.

Lemma last_end_from_app : forall M start a b x,
  last_end_from M start x (a ++ b) = last_end_from M start (last_end_from M start x a) b.
Proof. intros M start a. induction a as [| p a IH]; intros b x; cbn; [reflexivity | apply IH]. Qed.

Lemma last_end_snoc : forall M start a u, last_end M start (a ++ [u]) = start u + time_of M u.
Proof. intros. unfold last_end. rewrite last_end_from_app. reflexivity. Qed.

Lemma last_end_from_ext : forall M s t l x, (forall p, In p l -> s p = t p) -> last_end_from M s x l = last_end_from M t x l.
Proof.
  intros M s t l. induction l as [| p l IH]; intros x same; [reflexivity |]. cbn. rewrite same by (left; reflexivity).
  apply IH. intros q there. apply same. right. exact there.
Qed.

Lemma last_end_from_moved : forall M s t n L l x, (forall p, In p l -> t (later n p) = s p + L) ->
  last_end_from M t (x + L) (map (later n) l) = last_end_from M s x l + L.
Proof.
  intros M s t n L l. induction l as [| p l IH]; intros x moved; [reflexivity |]. cbn.
  rewrite moved by (left; reflexivity). rewrite <- IH by (intros q there; apply moved; right; exact there).
  f_equal. unfold time_of, later. cbn. lia.
Qed.

Lemma last_case : forall (A : Type) (l : list A), l = [] \/ exists a u, l = a ++ [u].
Proof. intros A l. destruct l as [| x l] using rev_ind; [auto | right; exists l, x; reflexivity]. Qed.

Lemma resized_well : forall M m, well_formed M -> well_formed (resized M m).
Proof. intros M m well. exact well. Qed.

Lemma need_ends_exist : forall M u lag v, well_formed M -> pass_needs M u lag v -> exists_in M u /\ exists_in M v.
Proof. intros M u lag v [positive _] need. unfold exists_in. destruct need; cbn; lia. Qed.

Section Runs.
  Variable M : model.
  Variable S : schedule.
  Variable start : pass -> Z.
  Hypothesis Well : well_formed M.
  Hypothesis Run : runs M S start.

  Lemma last_end_before : forall d a b v rest, (d < devices M)%nat -> S d = a ++ b ++ v :: rest ->
    last_end M start a <= start v.
  Proof.
    intros d a b v rest inside shape. destruct (last_case _ a) as [none | [a' [u same]]]; subst.
    - apply (start_nonneg M S start Run).
    - rewrite last_end_snoc. pose proof (device_one_at_a_time M S start Well Run d inside) as one.
      rewrite <- app_assoc in shape. cbn in shape.
      destruct (one_at_a_time_split _ _ (S d) a' u (b ++ v :: rest) one shape) as [after _].
      apply after. rewrite in_app_iff. right. left. reflexivity.
  Qed.

  Lemma last_end_grows : forall d a b rest, (d < devices M)%nat -> S d = a ++ b ++ rest ->
    last_end M start a <= last_end M start (a ++ b).
  Proof.
    intros d a b rest inside shape. destruct (last_case _ b) as [none | [b' [u same]]]; subst; [rewrite app_nil_r; lia |].
    rewrite app_assoc, last_end_snoc. rewrite <- (app_assoc b') in shape. cbn in shape.
    pose proof (last_end_before d a b' u rest inside shape). destruct Well as [_ [_ [times _]]].
    specialize (times (kind_of u) (stage_of u)). unfold time_of. lia.
  Qed.

  Lemma last_end_covers : forall d p, (d < devices M)%nat -> In p (S d) -> start p + time_of M p <= last_end M start (S d).
  Proof.
    intros d p inside there. apply in_split in there. destruct there as [a [b shape]].
    replace (a ++ p :: b) with ((a ++ [p]) ++ b ++ []) in shape by (rewrite app_nil_r, <- app_assoc; reflexivity).
    pose proof (last_end_grows d _ _ _ inside shape) as grows. rewrite last_end_snoc in grows. rewrite shape, app_nil_r.
    exact grows.
  Qed.

  Lemma last_end_nonneg : forall l, 0 <= last_end M start l.
  Proof.
    intros l. destruct (last_case _ l) as [none | [a [u same]]]; subst; [cbn; lia |]. rewrite last_end_snoc.
    pose proof (start_nonneg M S start Run u). destruct Well as [_ [_ [times _]]].
    specialize (times (kind_of u) (stage_of u)). unfold time_of. lia.
  Qed.
End Runs.

(** What is no later than something that is no later. *)
Lemma least_on : forall (chosen : pass -> Prop) (s t : pass -> Z) (place : pass -> nat), (forall v, 0 <= t v) ->
  (forall v, chosen v -> s v <= 0 \/
    exists u w, chosen u /\ (place u < place v)%nat /\ s v <= s u + w /\ t u + w <= t v) ->
  forall v, chosen v -> s v <= t v.
Proof.
  intros chosen s t place some why.
  assert (by_place : forall n v, (place v < n)%nat -> chosen v -> s v <= t v).
  { induction n as [| n IH]; intros v low mine; [lia |]. destruct (why v mine) as [zero | [u [w [yours [sooner [one two]]]]]].
    - specialize (some v). lia.
    - assert (s u <= t u) by (apply IH; [lia | exact yours]). lia. }
  intros v mine. apply (by_place (S (place v))); [lia | exact mine].
Qed.

Lemma waits_of_need : forall M S u lag v, well_formed M -> pass_needs M u lag v ->
  waits (problem_of M) (orders_of M S) u (time_of M u + lag) v.
Proof.
  intros M S u lag v well need. apply (waits_need (problem_of M)). apply needs_are_pass_needs; [apply well | exact need].
Qed.

Lemma waits_of_order : forall M S d u v, (d < devices M)%nat -> follows (S d) u v ->
  waits (problem_of M) (orders_of M S) u (time_of M u) v.
Proof.
  intros M S d u v inside next. apply (waits_order (problem_of M) _ (S d)); [| exact next].
  apply in_map. apply in_seq. lia.
Qed.

Lemma waits_cases : forall M S u w v, well_formed M -> waits (problem_of M) (orders_of M S) u w v ->
  (exists lag, pass_needs M u lag v /\ w = time_of M u + lag) \/
  (exists d, (d < devices M)%nat /\ follows (S d) u v /\ w = time_of M u).
Proof.
  intros M S u w v well waiting. destruct waiting as [u lag v need | l u v there next].
  - left. exists lag. split; [apply needs_are_pass_needs; [apply well | exact need] | reflexivity].
  - right. unfold orders_of in there. apply in_map_iff in there. destruct there as [d [same there]]. apply in_seq in there.
    exists d. subst. repeat split; [lia | exact next].
Qed.

(** An execution as soon as possible starts every pass no later than any other execution. *)
Theorem as_soon_as_possible_is_least : forall M S start other, well_formed M -> complete M S ->
  as_soon_as_possible M S start -> runs M S other -> forall v, exists_in M v -> start v <= other v.
Proof.
  intros M S start other well whole [run tightly] again.
  destruct (proj2 run) as [place sooner].
  apply (least_on (exists_in M) start other place); [apply again |].
  intros v there. destruct (tightly v there) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
  - right. exists u, (time_of M u + lag). pose proof (waits_of_need M S u lag v well need) as waiting.
    split; [apply (need_ends_exist M u lag v well need) |]. split; [apply (sooner _ _ _ waiting) |]. split; [lia |].
    apply again. exact waiting.
  - destruct (last_case _ done) as [none | [a [u same]]]; subst; [left; exact soon |]. right.
    rewrite last_end_snoc in soon. exists u, (time_of M u).
    assert (next : follows (S d) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
    pose proof (waits_of_order M S d u v inside next) as waiting.
    split; [apply (whole d inside); rewrite shape, !in_app_iff; cbn; auto |]. split; [apply (sooner _ _ _ waiting) |].
    split; [exact soon | apply again; exact waiting].
Qed.
