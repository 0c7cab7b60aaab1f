(** * First in, first out: microbatches may be relabelled without loss

    All microbatches are alike. Take any complete schedule and any execution of it. Give the k-th pass of each kind and stage,
    in the order of its device, to microbatch k. This file proves that the result is again an execution of a complete schedule
    ([relabelled_complete], [relabelled_runs]), that it runs each kind of pass of a stage in the order of the microbatches
    ([relabelled_first_in_first_out]), and that each device runs the same kinds of passes of the same stages at the same times
    ([relabelled_alike]). So it has the same makespan, device spans and memory ([first_in_first_out_without_loss]).

    Dependencies hold by counting. The r + 1 first passes of a kind and stage belong to r + 1 different microbatches. Each of
    these waits for a pass of another kind or stage. At least one of the passes waited for is not among the r first of its own
    kind and stage, so the pass with number r of those is no later ([needs_carry_over]).

    Why it matters: a bound that is proved for first-in-first-out schedules alone holds for all schedules.

    The theorem is about all executions. For execution as soon as possible the same is *false* of the device span: the relabelled
    passes keep their times, but as soon as possible a device may begin earlier and so take longer. In [overtaking_helps], an
    order in which microbatches overtake each other takes 67 ticks as soon as possible, and every first-in-first-out one more
    than 71.

    What is not proved: anything about links, collectives, copies, overlapped pairs or recomputation. *)

From Coq Require Import ZArith List Lia Bool Permutation.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.PipelineReplay Bubbleproof.Span Bubbleproof.Count
  Bubbleproof.Restrict.
Import ListNotations.
Open Scope Z_scope.

(** ** Equal orders and times, apart from the microbatches *)

(** The passes p and q are of the same kind and stage, and start at the same time. *)
Definition same_but_microbatch (start other : pass -> Z) (p q : pass) : Prop :=
  kind_of p = kind_of q /\ stage_of p = stage_of q /\ start p = other q.

(** Each device runs the same kinds of passes of the same stages at the same times. *)
Definition alike (M : model) (S : schedule) (start : pass -> Z) (T : schedule) (other : pass -> Z) : Prop :=
  forall d, (d < devices M)%nat -> Forall2 (same_but_microbatch start other) (S d) (T d).

Lemma forall2_flip : forall (A B : Type) (R : A -> B -> Prop) l k, Forall2 R l k -> Forall2 (fun b a => R a b) k l.
Proof. intros A B R l k all. induction all; constructor; assumption. Qed.

Lemma forall2_in : forall (A B : Type) (R : A -> B -> Prop) l k, Forall2 R l k ->
  forall b, In b k -> exists a, In a l /\ R a b.
Proof.
  intros A B R l k all. induction all as [| x y l k related all IH]; intros b found; [destruct found |].
  destruct found as [same | found].
  - subst. exists x. split; [left; reflexivity | exact related].
  - destruct (IH b found) as [a [inside good]]. exists a. split; [right; exact inside | exact good].
Qed.

Section Alike.
  Variable M : model.
  Variables start other : pass -> Z.

  Lemma same_memory : forall p q, same_but_microbatch start other p q ->
    acquires M p = acquires M q /\ releases M p = releases M q /\ time_of M p = time_of M q.
  Proof. intros [k s m] [l t n] [kinds [same _]]. cbn in kinds, same. subst. repeat split. Qed.

  Lemma same_kept : forall l k, Forall2 (same_but_microbatch start other) l k -> kept M l = kept M k.
  Proof.
    intros l k all. unfold kept. induction all as [| p q l k related all IH]; cbn [sum]; [reflexivity |].
    destruct (same_memory p q related) as [one [two _]]. rewrite one, two, IH. reflexivity.
  Qed.

  (** The same passes hold the same memory. *)
  Theorem same_held : forall l k p q, Forall2 (same_but_microbatch start other) l k -> same_but_microbatch start other p q ->
    held M l p = held M k q.
  Proof.
    intros l k p q all related. unfold held. rewrite (same_kept l k all). destruct (same_memory p q related) as [one _].
    rewrite one. reflexivity.
  Qed.

  Lemma same_peak_from : forall l k, Forall2 (same_but_microbatch start other) l k ->
    forall now, peak_from M now l = peak_from M now k.
  Proof.
    intros l k all. induction all as [| p q l k related all IH]; intros now; cbn [peak_from]; [reflexivity |].
    destruct (same_memory p q related) as [one [two _]]. rewrite one, two, IH. reflexivity.
  Qed.

  Variables S T : schedule.
  Hypothesis Alike : alike M S start T other.

  Lemma alike_back : alike M T other S start.
  Proof.
    intros d inside. pose proof (forall2_flip _ _ _ _ _ (Alike d inside)) as flipped.
    clear - flipped. induction flipped as [| q p l k related all IH]; constructor; [| exact IH].
    destruct related as [one [two three]]. repeat split; symmetry; assumption.
  Qed.

  Theorem alike_peak : forall d, (d < devices M)%nat -> peak M (S d) = peak M (T d).
  Proof. intros d inside. apply same_peak_from. apply Alike. exact inside. Qed.

  (** So they do at each position. *)
  Theorem alike_held : forall d done p rest, (d < devices M)%nat -> S d = done ++ p :: rest ->
    exists before q after, T d = before ++ q :: after /\ length before = length done /\ held M before q = held M done p.
  Proof.
    intros d done p rest inside shape. pose proof (Alike d inside) as all. rewrite shape in all.
    apply Forall2_app_inv_l in all. destruct all as [before [behind [first [second split_T]]]].
    inversion second as [| r q l after related others]; subst. exists before, q, after. split; [exact split_T |].
    split; [| symmetry; exact (same_held done before p q first related)].
    clear - first. induction first as [| a b l k _ _ IH]; cbn [length]; [reflexivity | rewrite IH; reflexivity].
  Qed.

  Theorem alike_within_capacity : within_capacity M S -> within_capacity M T.
  Proof.
    intros fits d limit inside limited done p rest shape. pose proof (Alike d inside) as all. rewrite shape in all.
    apply Forall2_app_inv_r in all. destruct all as [before [behind [first [second split_S]]]].
    inversion second as [| q r l k related others]; subst. rewrite <- (same_held before done q p first related).
    apply (fits d limit inside limited before q l). exact split_S.
  Qed.

  Theorem alike_makespan : forall x, makespan_at_most M S start x -> makespan_at_most M T other x.
  Proof.
    intros x ends d inside q found. destruct (forall2_in _ _ _ _ _ (Alike d inside) q found) as [p [in_S related]].
    pose proof (ends d inside p in_S) as early. destruct (same_memory p q related) as [_ [_ lasts_]].
    destruct related as [_ [_ starts]]. cbn [duration problem_of] in *. rewrite <- starts, <- lasts_. exact early.
  Qed.

  Theorem alike_span : forall d x, (d < devices M)%nat -> span_at_most M S start d x -> span_at_most M T other d x.
  Proof.
    intros d x inside fits a b in_a in_b. destruct (forall2_in _ _ _ _ _ (Alike d inside) a in_a) as [p [in_p same_a]].
    destruct (forall2_in _ _ _ _ _ (Alike d inside) b in_b) as [q [in_q same_b]]. pose proof (fits p q in_p in_q) as early.
    destruct (same_memory q b same_b) as [_ [_ lasts_]]. destruct same_a as [_ [_ start_a]]. destruct same_b as [_ [_ start_b]].
    rewrite <- start_a, <- start_b, <- lasts_. exact early.
  Qed.
End Alike.

(** ** The passes of a kind and stage, and their numbers *)

Definition kind_eqb (k l : kind) : bool :=
  match k, l with
  | F, F | I, I | W, W => true
  | _, _ => false
  end.

Definition is_of (k : kind) (s : nat) (p : pass) : bool := kind_eqb (kind_of p) k && Nat.eqb (stage_of p) s.

Lemma is_of_spec : forall k s p, is_of k s p = true <-> kind_of p = k /\ stage_of p = s.
Proof.
  intros k s [l t m]. unfold is_of. cbn [kind_of stage_of]. rewrite andb_true_iff, Nat.eqb_eq.
  split; intros [kinds same]; (split; [| exact same]); destruct k, l; first [reflexivity | discriminate kinds].
Qed.

(** The passes of a kind and stage, in the order of the list. *)
Definition column (k : kind) (s : nat) (l : list pass) : list pass := filter (is_of k s) l.

(** The same passes, each with the number of those of its kind and stage before it as its microbatch. [done] comes before. *)
Fixpoint relabel_from (done l : list pass) : list pass :=
  match l with
  | [] => []
  | p :: rest =>
    Pass (kind_of p) (stage_of p) (length (column (kind_of p) (stage_of p) done)) :: relabel_from (done ++ [p]) rest
  end.

Definition relabelled (S : schedule) : schedule := fun d => relabel_from [] (S d).

(** Which pass a relabelled one was. *)
Definition original (M : model) (S : schedule) (p : pass) : pass :=
  nth (microbatch_of p) (column (kind_of p) (stage_of p) (S (device_of M (stage_of p)))) p.

Definition relabelled_start (M : model) (S : schedule) (start : pass -> Z) (p : pass) : Z := start (original M S p).

Lemma column_in : forall k s l p, In p (column k s l) <-> In p l /\ kind_of p = k /\ stage_of p = s.
Proof. intros k s l p. unfold column. rewrite filter_In, is_of_spec. reflexivity. Qed.

Lemma column_app : forall k s l r, column k s (l ++ r) = column k s l ++ column k s r.
Proof. intros k s l r. apply filter_app. Qed.

Lemma column_own : forall p l, column (kind_of p) (stage_of p) (p :: l) = p :: column (kind_of p) (stage_of p) l.
Proof.
  intros p l. unfold column. cbn [filter].
  replace (is_of (kind_of p) (stage_of p) p) with true; [reflexivity |]. symmetry. apply is_of_spec. split; reflexivity.
Qed.

(** What is split in a column is split in the list. *)
Lemma filter_split : forall (A : Type) (f : A -> bool) l before x after, filter f l = before ++ x :: after ->
  exists front rest, l = front ++ x :: rest /\ filter f front = before /\ filter f rest = after.
Proof.
  intros A f l. induction l as [| y l IH]; intros before x after shape; cbn [filter] in shape.
  - destruct before; discriminate shape.
  - destruct (f y) eqn:taken.
    + destruct before as [| z before]; cbn [app] in shape; injection shape as same shape.
      * subst. exists [], l. repeat split.
      * destruct (IH _ _ _ shape) as [front [rest [one [two three]]]]. subst. exists (z :: front), rest. cbn [filter app].
        rewrite taken. repeat split.
    + destruct (IH _ _ _ shape) as [front [rest [one [two three]]]]. subst. exists (y :: front), rest. cbn [filter app].
      rewrite taken. repeat split.
Qed.

(** A number is no less than the count of passes before. *)
Lemma number_at_least : forall l done q, In q (relabel_from done l) ->
  (length (column (kind_of q) (stage_of q) done) <= microbatch_of q)%nat.
Proof.
  intros l. induction l as [| p l IH]; intros done q found; cbn [relabel_from] in found; [destruct found |].
  destruct found as [same | found].
  - subst q. cbn [kind_of stage_of microbatch_of]. apply Nat.le_refl.
  - specialize (IH _ _ found). rewrite column_app, app_length in IH. lia.
Qed.

Lemma number_less : forall l done q, In q (relabel_from done l) ->
  (microbatch_of q < length (column (kind_of q) (stage_of q) (done ++ l)))%nat.
Proof.
  intros l. induction l as [| p l IH]; intros done q found; cbn [relabel_from] in found; [destruct found |].
  destruct found as [same | found].
  - subst q. cbn [kind_of stage_of microbatch_of]. rewrite column_app, column_own, app_length. cbn [length]. lia.
  - specialize (IH _ _ found). rewrite <- app_assoc in IH. exact IH.
Qed.

Lemma numbers_ascend : forall ahead l done p behind, relabel_from done l = ahead ++ p :: behind ->
  forall q, In q behind -> kind_of q = kind_of p -> stage_of q = stage_of p -> (microbatch_of p < microbatch_of q)%nat.
Proof.
  intros ahead. induction ahead as [| a ahead IH]; intros l done p behind shape q found kinds same;
    destruct l as [| x l]; cbn [relabel_from app] in shape; try discriminate shape; injection shape as first rest.
  - subst behind. pose proof (number_at_least l _ q found) as late. rewrite column_app, app_length, kinds, same in late.
    subst p. cbn [kind_of stage_of microbatch_of] in *. rewrite column_own in late. cbn [length] in late. lia.
  - apply (IH l (done ++ [x]) p behind rest q found kinds same).
Qed.

(** Of r + 1 different numbers that are all in another list, one is there behind the first r. *)
Lemma pigeonhole : forall (xs ys : list nat) r, NoDup ys -> incl ys xs -> (r < length ys)%nat ->
  exists m a b c e, ys = a ++ m :: b /\ (length a <= r)%nat /\ xs = c ++ m :: e /\ (r <= length c)%nat.
Proof.
  intros xs ys r distinct inside more. pose proof (NoDup_incl_length distinct inside) as sizes.
  assert (firsts : length (firstn (S r) ys) = S r) by (rewrite firstn_length; lia).
  assert (size_x : length (firstn r xs) = r) by (rewrite firstn_length; lia).
  destruct (Exists_dec (fun m => ~ In m (firstn r xs)) (firstn (S r) ys)) as [some | none].
  - intros m. destruct (in_dec Nat.eq_dec m (firstn r xs)) as [here | there]; [right; intros absent; exact (absent here) |].
    left. exact there.
  - apply Exists_exists in some. destruct some as [m [among absent]]. exists m.
    assert (in_ys : In m ys) by (rewrite <- (firstn_skipn (S r) ys), in_app_iff; left; exact among).
    pose proof (inside m in_ys) as in_xs. rewrite <- (firstn_skipn r xs), in_app_iff in in_xs.
    destruct in_xs as [wrong | in_xs]; [contradiction |].
    destruct (in_split _ _ in_xs) as [c [e split_x]]. destruct (in_split _ _ among) as [a [b split_y]].
    exists a, (b ++ skipn (S r) ys), (firstn r xs ++ c), e. repeat split.
    + rewrite <- (firstn_skipn (S r) ys) at 1. rewrite split_y, <- app_assoc. reflexivity.
    + rewrite split_y, app_length in firsts. cbn [length] in firsts. lia.
    + rewrite <- (firstn_skipn r xs) at 1. rewrite split_x, app_assoc. reflexivity.
    + rewrite app_length. lia.
  - exfalso. assert (all : incl (firstn (S r) ys) (firstn r xs)).
    { intros m among. destruct (in_dec Nat.eq_dec m (firstn r xs)) as [here | absent]; [exact here |]. exfalso. apply none.
      apply Exists_exists. exists m. split; assumption. }
    assert (distinct_y : NoDup (firstn (S r) ys)).
    { rewrite <- (firstn_skipn (S r) ys) in distinct. clear - distinct.
      induction (firstn (S r) ys) as [| y l IH]; [constructor |].
      inversion distinct as [| z k fresh rest]; subst. constructor; [| apply IH; exact rest].
      intros found. apply fresh. rewrite in_app_iff. left. exact found. }
    pose proof (NoDup_incl_length distinct_y all). lia.
Qed.

Lemma map_split : forall (A B : Type) (f : A -> B) l before y after, map f l = before ++ y :: after ->
  exists front x rest, l = front ++ x :: rest /\ map f front = before /\ f x = y /\ map f rest = after.
Proof.
  intros A B f l before y after shape. apply map_eq_app in shape. destruct shape as [front [rest [one [two three]]]].
  destruct rest as [| x rest]; [discriminate three |]. injection three as head_ tail_.
  exists front, x, rest. repeat split; assumption.
Qed.

(** ** The relabelled schedule *)

Section Relabelled.
  Variable M : model.
  Variable S : schedule.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.

  (** A pass keeps its kind and stage. *)
  Lemma original_same : forall p, kind_of (original M S p) = kind_of p /\ stage_of (original M S p) = stage_of p.
  Proof.
    intros p. unfold original.
    destruct (nth_in_or_default (microbatch_of p) (column (kind_of p) (stage_of p) (S (device_of M (stage_of p)))) p)
      as [found | same].
    - apply column_in in found. apply found.
    - rewrite same. split; reflexivity.
  Qed.

  Lemma back_from : forall d, (d < devices M)%nat -> forall l done, S d = done ++ l ->
    map (original M S) (relabel_from done l) = l.
  Proof.
    intros d inside l. induction l as [| p l IH]; intros done shape; cbn [relabel_from map]; [reflexivity |]. f_equal.
    - assert (found : In p (S d)) by (rewrite shape, in_app_iff; right; left; reflexivity).
      apply (proj2 (Complete d inside)) in found. destruct found as [_ on_d].
      unfold original. cbn [kind_of stage_of microbatch_of]. rewrite on_d, shape, column_app, column_own.
      apply nth_middle.
    - apply IH. rewrite <- app_assoc. exact shape.
  Qed.

  (** Each device runs what it ran before. *)
  Lemma relabelled_back : forall d, (d < devices M)%nat -> map (original M S) (relabelled S d) = S d.
  Proof. intros d inside. apply (back_from d inside (S d) []). reflexivity. Qed.

  Lemma column_distinct : forall k s, (s < stages M)%nat -> NoDup (column k s (S (device_of M s))).
  Proof. intros k s inside. apply NoDup_filter. apply (Complete (device_of M s)). apply Well. exact inside. Qed.

  Lemma column_members : forall k s p, (s < stages M)%nat ->
    (In p (column k s (S (device_of M s))) <-> p = Pass k s (microbatch_of p) /\ (microbatch_of p < microbatches M)%nat).
  Proof.
    intros k s [l t m] inside. pose proof (proj1 (proj2 Well) s inside) as device. rewrite column_in.
    rewrite (proj2 (Complete _ device)). unfold exists_in. cbn [kind_of stage_of microbatch_of]. split.
    - intros [[[_ within] _] [one two]]. subst. split; [reflexivity | exact within].
    - intros [same within]. injection same as one two. subst. repeat split; assumption.
  Qed.

  Lemma column_numbers : forall k s, (s < stages M)%nat ->
    Permutation (map microbatch_of (column k s (S (device_of M s)))) (seq 0 (microbatches M)).
  Proof.
    intros k s inside. apply NoDup_Permutation; [| apply seq_NoDup |].
    - apply nodup_map; [| apply column_distinct; exact inside]. intros p q in_p in_q same.
      apply column_members in in_p; [| exact inside]. apply column_members in in_q; [| exact inside].
      rewrite (proj1 in_p), (proj1 in_q), same. reflexivity.
    - intros m. rewrite in_map_iff, in_seq. split.
      + intros [p [same found]]. apply column_members in found; [| exact inside]. lia.
      + intros [_ less]. exists (Pass k s m). split; [reflexivity |]. apply column_members; [exact inside |].
        split; [reflexivity | exact less].
  Qed.

  Lemma column_length : forall k s, (s < stages M)%nat -> length (column k s (S (device_of M s))) = microbatches M.
  Proof.
    intros k s inside. rewrite <- (map_length microbatch_of), (Permutation_length (column_numbers k s inside)). apply seq_length.
  Qed.

  (** The relabelled schedule runs each of the passes once. *)
  Theorem relabelled_complete : complete M (relabelled S).
  Proof.
    intros d inside. pose proof (relabelled_back d inside) as back. destruct (Complete d inside) as [distinct members].
    assert (fresh : NoDup (relabelled S d)) by (apply (NoDup_map_inv (original M S)); rewrite back; exact distinct).
    assert (within : incl (relabelled S d) (passes_of M d)).
    { intros q found. apply passes_of_spec. destruct (original_same q) as [_ same].
      assert (in_S : In (original M S q) (S d)) by (rewrite <- back; apply in_map; exact found).
      apply members in in_S. rewrite same in in_S. destruct in_S as [[there _] on_d]. rewrite same in there. split; [split |].
      - exact there.
      - pose proof (number_less (S d) [] q found) as less. cbn [app] in less. rewrite <- on_d in less.
        rewrite column_length in less by exact there. exact less.
      - exact on_d. }
    split; [exact fresh |]. intros p. rewrite <- passes_of_spec. split; [apply within |].
    apply (NoDup_length_incl fresh); [| exact within].
    rewrite <- (map_length (original M S) (relabelled S d)), back. apply Nat.eq_le_incl. apply Permutation_length.
    apply NoDup_Permutation; [apply passes_of_distinct | exact distinct |]. intros q. rewrite passes_of_spec, members. reflexivity.
  Qed.

  (** It runs each kind of pass of a stage in the order of the microbatches. *)
  Theorem relabelled_first_in_first_out : first_in_first_out M (relabelled S).
  Proof. intros d ahead p behind _ shape. apply (numbers_ascend ahead (S d) [] p behind shape). Qed.

  (** *** Its execution *)

  Variable start : pass -> Z.

  (** Each device runs the same kinds of passes of the same stages at the same times. *)
  Theorem relabelled_alike : alike M S start (relabelled S) (relabelled_start M S start).
  Proof.
    intros d inside. rewrite <- (relabelled_back d inside) at 1. induction (relabelled S d) as [| p l IH]; cbn [map]; constructor.
    - destruct (original_same p) as [kinds same]. repeat split; assumption.
    - exact IH.
  Qed.

  Variable place : pass -> nat.
  Hypothesis Respects : respects (problem_of M) (orders_of M S) start.
  Hypothesis Sequence : sequence (problem_of M) (orders_of M S) place.

  Let Runs : runs M S start := conj Respects (ex_intro _ place Sequence).

  (** The passes of a kind and stage start in their order. *)
  Lemma column_ordered : forall k s before p after, (s < stages M)%nat ->
    column k s (S (device_of M s)) = before ++ p :: after ->
    (forall q, In q before -> start q <= start p /\ (place q < place p)%nat) /\
    (forall q, In q after -> start p <= start q /\ (place p < place q)%nat).
  Proof.
    intros k s before p after inside shape. pose proof (proj1 (proj2 Well) s inside) as device.
    destruct (filter_split _ _ _ _ _ _ shape) as [front [rest [split_S [ahead behind]]]].
    pose proof (device_one_at_a_time M S start Well Runs _ device) as ordered.
    destruct (one_at_a_time_split _ _ _ front p rest ordered split_S) as [later earlier].
    pose proof (proj1 (problem_sane M Well)) as lengths. split.
    - intros q found. rewrite <- ahead in found. apply filter_In in found. destruct found as [found _].
      specialize (earlier q found). specialize (lengths q). split; [lia |].
      apply (placed_in_order M S place Sequence _ device front (p :: rest)); [exact split_S | exact found | left; reflexivity].
    - intros q found. rewrite <- behind in found. apply filter_In in found. destruct found as [found _].
      specialize (later q found). specialize (lengths p). split; [lia |].
      apply (placed_in_order M S place Sequence _ device (front ++ [p]) rest); [| | exact found].
      + rewrite <- app_assoc. exact split_S.
      + rewrite in_app_iff. right. left. reflexivity.
  Qed.

  (** The pass with a number is no later than one behind which that number does not come ... *)
  Lemma number_before : forall k s before p after r x, (s < stages M)%nat ->
    column k s (S (device_of M s)) = before ++ p :: after -> (r <= length before)%nat ->
    start (nth r (column k s (S (device_of M s))) x) <= start p /\
    (place (nth r (column k s (S (device_of M s))) x) <= place p)%nat.
  Proof.
    intros k s before p after r x inside shape less. destruct (column_ordered k s before p after inside shape) as [ahead _].
    rewrite shape. destruct (Nat.eq_dec r (length before)) as [same | other].
    - subst r. rewrite nth_middle. lia.
    - rewrite app_nth1 by lia. assert (found : In (nth r before x) before) by (apply nth_In; lia).
      destruct (ahead _ found). lia.
  Qed.

  (** ... and no earlier than one before which it does not come. *)
  Lemma number_behind : forall k s before p after r x, (s < stages M)%nat ->
    column k s (S (device_of M s)) = before ++ p :: after -> (length before <= r)%nat -> (r < microbatches M)%nat ->
    start p <= start (nth r (column k s (S (device_of M s))) x) /\
    (place p <= place (nth r (column k s (S (device_of M s))) x))%nat.
  Proof.
    intros k s before p after r x inside shape more within.
    destruct (column_ordered k s before p after inside shape) as [_ behind].
    rewrite <- (column_length k s inside) in within. rewrite shape in *. rewrite app_length in within. cbn [length] in within.
    rewrite app_nth2 by exact more. destruct (r - length before)%nat as [| n] eqn:distance; cbn [nth]; [lia |].
    assert (found : In (nth n after x) after) by (apply nth_In; lia). destruct (behind _ found). lia.
  Qed.

  Lemma need_of_each : forall u lag v, pass_needs M u lag v ->
    (stage_of u < stages M)%nat /\ (stage_of v < stages M)%nat /\ microbatch_of u = microbatch_of v /\
    (microbatch_of u < microbatches M)%nat /\
    forall n, (n < microbatches M)%nat -> pass_needs M (Pass (kind_of u) (stage_of u) n) lag (Pass (kind_of v) (stage_of v) n).
  Proof.
    intros u lag v need. pose proof (proj1 Well) as positive. destruct need; cbn [kind_of stage_of microbatch_of];
      (repeat split; [lia | lia | assumption |]); intros n within; constructor; assumption.
  Qed.

  (** What a pass waits for under the new numbers has ended in time. *)
  Theorem needs_carry_over : forall u lag v, pass_needs M u lag v ->
    start (original M S u) + time_of M u + lag <= start (original M S v) /\
    (place (original M S u) < place (original M S v))%nat.
  Proof.
    intros u lag v need. destruct (need_of_each u lag v need) as [inside_u [inside_v [same [within each]]]].
    set (xs := column (kind_of u) (stage_of u) (S (device_of M (stage_of u)))).
    set (ys := column (kind_of v) (stage_of v) (S (device_of M (stage_of v)))).
    destruct (pigeonhole (map microbatch_of xs) (map microbatch_of ys) (microbatch_of u))
      as [m [a [b [c [e [split_y [few [split_x many]]]]]]]].
    - apply (Permutation_NoDup (Permutation_sym (column_numbers _ _ inside_v))). apply seq_NoDup.
    - intros m found. apply (Permutation_in m (column_numbers _ _ inside_v)) in found.
      apply (Permutation_in m (Permutation_sym (column_numbers (kind_of u) _ inside_u))). exact found.
    - unfold ys. rewrite map_length, column_length by exact inside_v. exact within.
    - apply map_split in split_x. destruct split_x as [c_ [p [e_ [shape_x [size_c [number_p _]]]]]].
      apply map_split in split_y. destruct split_y as [a_ [q [b_ [shape_y [size_a [number_q _]]]]]].
      subst a c. rewrite map_length in few, many.
      assert (in_x : In p xs) by (rewrite shape_x, in_app_iff; right; left; reflexivity).
      assert (in_y : In q ys) by (rewrite shape_y, in_app_iff; right; left; reflexivity).
      apply column_members in in_x; [| exact inside_u]. apply column_members in in_y; [| exact inside_v].
      destruct in_x as [p_is within_p]. destruct in_y as [q_is _]. rewrite number_p in *. rewrite number_q in q_is.
      pose proof (each m within_p) as own. rewrite <- p_is, <- q_is in own.
      pose proof (need_respected M S start Well Runs _ _ _ own) as late.
      pose proof (need_placed M S Well place Sequence _ _ _ own) as placed.
      destruct (number_before _ _ _ _ _ (microbatch_of u) u inside_u shape_x many) as [start_u place_u].
      rewrite same in few, within. destruct (number_behind _ _ _ _ _ _ v inside_v shape_y few within) as [start_v place_v].
      change (time_of M p) with (time M (kind_of p) (stage_of p)) in late. rewrite p_is in late. cbn [kind_of stage_of] in late.
      unfold original, time_of. fold xs in start_u, place_u |- *. fold ys in start_v, place_v |- *.
      rewrite p_is in start_u, place_u, placed. split; lia.
  Qed.

  Lemma waits_carry_over : forall u w v, waits (problem_of M) (orders_of M (relabelled S)) u w v ->
    start (original M S u) + w <= start (original M S v) /\ (place (original M S u) < place (original M S v))%nat.
  Proof.
    intros u w v wait. destruct wait as [u lag v need | l u v in_O next].
    - apply needs_are_pass_needs in need; [| apply Well]. destruct (needs_carry_over u lag v need) as [late placed].
      cbn [duration problem_of]. split; [lia | exact placed].
    - unfold orders_of in in_O. apply in_map_iff in in_O. destruct in_O as [d [same inside]]. subst l.
      assert (device : (d < devices M)%nat) by (apply in_seq in inside; lia). destruct next as [before [after shape]].
      assert (wait : waits (problem_of M) (orders_of M S) (original M S u) (duration (problem_of M) (original M S u))
        (original M S v)).
      { apply (waits_order (problem_of M) _ (S d)); [apply in_map; exact inside |].
        exists (map (original M S) before), (map (original M S) after). rewrite <- (relabelled_back d device), shape.
        rewrite map_app. reflexivity. }
      assert (lasts_ : duration (problem_of M) u = duration (problem_of M) (original M S u)).
      { destruct (original_same u) as [kinds stages_]. cbn [duration problem_of]. unfold time_of. rewrite kinds, stages_.
        reflexivity. }
      rewrite lasts_. split; [apply (proj2 Respects); exact wait | apply (Sequence _ _ _ wait)].
  Qed.
End Relabelled.

(** The same times run the relabelled schedule. *)
Theorem relabelled_runs : forall M S start, well_formed M -> complete M S -> runs M S start ->
  runs M (relabelled S) (relabelled_start M S start).
Proof.
  intros M S start well all [respected [place ordered]]. split; [split |].
  - intros u. apply respected.
  - intros u w v wait. apply (waits_carry_over M S well all start place respected ordered u w v wait).
  - exists (fun p => place (original M S p)). intros u w v wait.
    apply (waits_carry_over M S well all start place respected ordered u w v wait).
Qed.

(** Every run of a complete schedule has a first-in-first-out run in which each device runs, position by position, the same kinds
    of passes of the same stages at the same times; and so with the same makespan, device spans and memory. *)
Theorem first_in_first_out_without_loss : forall M S start, well_formed M -> complete M S -> runs M S start ->
  exists T other, complete M T /\ first_in_first_out M T /\ runs M T other /\ alike M S start T other /\
    (forall x, makespan_at_most M S start x <-> makespan_at_most M T other x) /\
    (forall d x, (d < devices M)%nat -> span_at_most M S start d x <-> span_at_most M T other d x) /\
    (forall d, (d < devices M)%nat -> peak M (S d) = peak M (T d)) /\
    (within_capacity M S <-> within_capacity M T).
Proof.
  intros M S start well all run. exists (relabelled S), (relabelled_start M S start).
  pose proof (relabelled_alike M S all start) as same. pose proof (alike_back M _ _ _ _ same) as back.
  split; [apply relabelled_complete; assumption |]. split; [apply relabelled_first_in_first_out |].
  split; [apply relabelled_runs; assumption |]. split; [exact same |]. split; [| split; [| split]].
  - intros x. split; [exact (alike_makespan M _ _ _ _ same x) | exact (alike_makespan M _ _ _ _ back x)].
  - intros d x inside. split; [exact (alike_span M _ _ _ _ same d x inside) | exact (alike_span M _ _ _ _ back d x inside)].
  - intros d inside. apply (alike_peak M _ _ _ _ same d inside).
  - split; [exact (alike_within_capacity M _ _ _ _ same) | exact (alike_within_capacity M _ _ _ _ back)].
Qed.

(** ** As soon as possible, overtaking may shorten device spans *)

(** Without microbatches that overtake each other, F of the first microbatch comes first of all passes of its stage. *)
Lemma forward_comes_first : forall M T place, well_formed M -> complete M T -> first_in_first_out M T ->
  sequence (problem_of M) (orders_of M T) place -> forall p, exists_in M p -> (place (Pass F (stage_of p) 0) <= place p)%nat.
Proof.
  intros M T place well all fifo ordered [k s m] [inside within]. cbn [stage_of microbatch_of] in *.
  assert (forward : (place (Pass F s 0) <= place (Pass F s m))%nat).
  { destruct m as [| m]; [apply Nat.le_refl |]. pose proof (proj1 (proj2 well) s inside) as device.
    destruct (all _ device) as [_ members].
    assert (first : In (Pass F s 0) (T (device_of M s))) by (apply members; repeat split; cbn; lia).
    assert (other : In (Pass F s (Datatypes.S m)) (T (device_of M s))) by (apply members; repeat split; cbn; lia).
    destruct (in_split _ _ other) as [ahead [behind shape]]. pose proof first as where_. rewrite shape, in_app_iff in where_.
    destruct where_ as [before_ | [same | after_]].
    - apply Nat.lt_le_incl. apply (placed_in_order M T place ordered _ device ahead (Pass F s (Datatypes.S m) :: behind) _ _ shape);
        [exact before_ | left; reflexivity].
    - discriminate same.
    - pose proof (fifo _ _ _ _ device shape _ after_ eq_refl eq_refl) as wrong. cbn in wrong. lia. }
  pose proof (forward_before_input M T well m within place ordered s s inside inside) as input.
  pose proof (input_before_weight M T well m within place ordered s inside) as weight.
  destruct k; lia.
Qed.

Lemma three_devices_well_formed : well_formed three_devices.
Proof.
  split; [cbn; lia |]. split; [intros s inside; exact inside |]. split; [| split].
  - intros k s. destruct k; destruct s as [| [| [| [| s]]]]; cbn; lia.
  - intros s. destruct s as [| [| [| s]]]; cbn; lia.
  - intros s. cbn. lia.
Qed.

(** As soon as possible, F of the first microbatch starts at 10 on the second device. *)
Lemma second_device_begins : forall T starts, complete three_devices T -> first_in_first_out three_devices T ->
  replay_model three_devices T = Some starts -> start_of starts (Pass F 1 0) <= 10.
Proof.
  intros T starts all fifo found. pose proof three_devices_well_formed as well.
  destruct (replay_runs _ _ well all starts found) as [[nonneg late] [place ordered]].
  set (start := start_of starts) in *.
  set (other := fun p : pass => match p with Pass F 0 0 => 0 | Pass F 1 0 => Z.min (start p) 10 | _ => start p end).
  assert (below : forall p, 0 <= other p <= start p).
  { intros [k s m]. pose proof (nonneg (Pass k s m)) as here.
    destruct k; destruct s as [| [| s]]; destruct m as [| m]; unfold other; lia. }
  assert (first_on : forall u w s, (s < 3)%nat -> waits (problem_of three_devices) (orders_of three_devices T) u w (Pass F s 0) ->
    exists lag, w = time_of three_devices u + lag /\ pass_needs three_devices u lag (Pass F s 0)).
  { intros u w s inside wait. pose proof (ordered _ _ _ wait) as before_.
    remember (Pass F s 0) as v eqn:is_v. destruct wait as [u lag v need | l u v in_O next].
    - exists lag. split; [reflexivity |]. apply needs_are_pass_needs in need; [exact need | exact (proj1 well)].
    - exfalso. unfold orders_of in in_O. apply in_map_iff in in_O. destruct in_O as [d [same in_d]]. subst l.
      assert (device : (d < devices three_devices)%nat) by (apply in_seq in in_d; lia). destruct next as [ahead [behind shape]].
      destruct (all d device) as [_ members].
      assert (in_u : In u (T d)) by (rewrite shape, in_app_iff; right; left; reflexivity).
      assert (in_v : In v (T d)) by (rewrite shape, in_app_iff; right; right; left; reflexivity).
      apply members in in_u. apply members in in_v. destruct in_u as [there_u on_u]. destruct in_v as [_ on_v].
      pose proof (forward_comes_first _ T place well all fifo ordered u there_u) as first.
      cbn in on_u, on_v. subst v. cbn in on_v. rewrite on_u, <- on_v in first. lia. }
  assert (run : runs three_devices T other).
  { split; [| exists place; exact ordered]. split; [apply below |]. intros u w v wait.
    pose proof (late u w v wait) as in_time. pose proof (below u) as early. destruct v as [k s m].
    destruct k; [| unfold other at 2; lia | unfold other at 2; lia].
    destruct m as [| m]; [| unfold other at 2; destruct s as [| [| s]]; lia].
    destruct s as [| [| s]]; [| | unfold other at 2; lia].
    - destruct (first_on u w 0%nat ltac:(lia) wait) as [lag [_ need]]. inversion need.
    - destruct (first_on u w 1%nat ltac:(lia) wait) as [lag [same need]]. inversion need; subst.
      cbn in in_time |- *. unfold start in *. lia. }
  pose proof (replay_earliest _ _ well all starts other found run (Pass F 1 0)) as least_. fold start in least_.
  unfold other in least_. lia.
Qed.

(** [crossed], where microbatches overtake each other, has device spans of at most 67 ticks as soon as possible. In every
    first-in-first-out order the second device takes more than 71. *)
Example overtaking_helps :
  (exists starts, replay_model three_devices crossed = Some starts /\
    forall d, (d < 3)%nat -> span_at_most three_devices crossed (start_of starts) d 67) /\
  (forall T starts, complete three_devices T -> first_in_first_out three_devices T -> replay_model three_devices T = Some starts ->
    ~ span_at_most three_devices T (start_of starts) 1 71).
Proof.
  pose proof three_devices_well_formed as well. split.
  - assert (all : complete three_devices crossed) by (apply is_complete_iff; vm_compute; reflexivity).
    assert (fits : match replay_model three_devices crossed with
      | Some starts => spans_within three_devices crossed (start_of starts) 67
      | None => false
      end = true) by (vm_compute; reflexivity).
    destruct (replay_model three_devices crossed) as [starts |] eqn:found; [| discriminate fits].
    exists starts. split; [reflexivity |]. apply (spans_within_at_most three_devices crossed well); [| exact fits].
    apply replay_runs; assumption.
  - intros T starts all fifo found span. pose proof (second_device_begins T starts all fifo found) as begins_.
    pose proof (replay_runs _ _ well all starts found) as run. pose proof run as [respected_ [place ordered]].
    set (start := start_of starts) in *.
    assert (member : forall k s m, (s < 3)%nat -> (m < 2)%nat -> In (Pass k s m) (T s)).
    { intros k s m inside within. apply (proj2 (all s inside)). repeat split; cbn; assumption. }
    assert (apart : forall k l s m n, (s < 3)%nat -> (m < 2)%nat -> (n < 2)%nat -> Pass k s m <> Pass l s n ->
      start (Pass k s m) + time three_devices k s <= start (Pass l s n) \/
      start (Pass l s n) + time three_devices l s <= start (Pass k s m)).
    { intros k l s m n inside in_m in_n other.
      destruct (device_cases three_devices T start place well respected_ ordered s (Pass k s m) (Pass l s n) inside
        (member k s m inside in_m) (member l s n inside in_n) other) as [[late _] | [late _]]; [left | right]; exact late. }
    assert (in_turn : forall k s, (s < 3)%nat -> start (Pass k s 0) + time three_devices k s <= start (Pass k s 1)).
    { intros k s inside. destruct (in_split _ _ (member k s 1%nat inside ltac:(lia))) as [ahead [behind shape]].
      pose proof (member k s 0%nat inside ltac:(lia)) as where_. rewrite shape, in_app_iff in where_.
      destruct where_ as [before_ | [same | after_]].
      - pose proof (device_one_at_a_time three_devices T start well run s inside) as one.
        destruct (one_at_a_time_split _ _ _ _ _ _ one shape) as [_ earlier_]. apply earlier_. exact before_.
      - discriminate same.
      - pose proof (fifo _ _ _ _ inside shape _ after_ eq_refl eq_refl) as wrong. cbn in wrong. lia. }
    assert (need : forall u lag v, pass_needs three_devices u lag v -> start u + time_of three_devices u + lag <= start v)
      by (intros u lag v needed; apply (need_respected three_devices T start well run u lag v needed)).
    pose proof (proj1 respected_ (Pass F 0 0)) as positive.
    pose proof (in_turn F 0%nat ltac:(lia)) as turn_F. pose proof (in_turn W 1%nat ltac:(lia)) as turn_W.
    assert (chain : forall m, (m < 2)%nat -> start (Pass F 0 m) + 10 <= start (Pass F 1 m) /\
      start (Pass F 1 m) + 5 <= start (Pass I 1 m) /\ start (Pass I 1 m) + 1 <= start (Pass W 1 m)).
    { intros m within.
      pose proof (need _ _ _ (F_needs_F three_devices 0 m ltac:(cbn; lia) within)) as a.
      pose proof (need _ _ _ (F_needs_F three_devices 1 m ltac:(cbn; lia) within)) as b.
      pose proof (need _ _ _ (I_needs_F three_devices m within)) as c.
      pose proof (need _ _ _ (I_needs_I three_devices 1 m ltac:(cbn; lia) within)) as e.
      pose proof (need _ _ _ (W_needs_I three_devices 1 m ltac:(cbn; lia) within)) as f.
      cbn in a, b, c, e, f. lia. }
    destruct (chain 0%nat ltac:(lia)) as [F_0 [I_0 W_0]]. destruct (chain 1%nat ltac:(lia)) as [F_1 [I_1 W_1]].
    pose proof (span (Pass F 1 0) (Pass W 1 1) (member F 1%nat 0%nat ltac:(lia) ltac:(lia))
      (member W 1%nat 1%nat ltac:(lia) ltac:(lia))) as ends. cbn in ends, turn_F, turn_W.
    destruct (apart F W 1%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(discriminate)) as [first | second];
    destruct (apart I W 1%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(discriminate)) as [third | fourth];
    cbn in *; lia.
Qed.
