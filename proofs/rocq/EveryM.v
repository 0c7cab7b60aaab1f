(** * EveryM: one check for every number of microbatches

    [bubbleproof verify --every-m] lays out and replays finitely many schedules, and states what is true of infinitely many: a
    warm-up, a piece of K microbatches that is repeated q times, and a cool-down, for every q. This file proves that the step from
    the finitely many to all of them is right.

    Let q be the number of repetitions. A _slot_ is a kind and a stage, for one remainder of microbatches modulo K. What is checked:

    + the piece has every slot of its device once, the warm-up has only passes of earlier microbatches of their slot, the cool-down
      none of earlier ones, and a pass does not need one that the piece has for an earlier microbatch (conditions 1 to 3,
      [repeatable_check]);
    + the schedule is complete and runs with r + c repetitions, c being at least 1;
    + its _state_ at the cut behind r + c repetitions is that at the cut behind r, L ticks later ([repeats_check]). The state is
      when each device is free, and, for each pass before the cut that one behind it needs, when its message is there, unless the
      device that needs it is free later.

    What follows for every q:

    - the schedule is complete ([complete_for_every_m]), for every q at all;
    - it is free of deadlock ([runs_for_every_m]), again for every q; one valid schedule with a repetition is enough, and no times
      are needed ([every_m_valid_check_sound]);
    - every device holds at most what it holds with one repetition ([peak_for_every_m], [within_capacity_for_every_m]);
    - with c more repetitions, from r on, every device ends exactly L later in the execution as soon as possible, so the least
      makespan grows by exactly L ([makespan_for_every_m]), and so does the least device span where the device of stage 0 has the
      largest span as soon as possible ([device_span_for_every_m]);
    - a repetition that is found with one cool-down is there with every other ([repeats_with_every_tail]).

    [every_m_check] is all of it as a program, [every_m_makespan], [every_m_span] and [every_m_peak] are the formulas, and
    [every_m_check_sound] says that they are right. [first_repetition] looks for r, c and L; it is not trusted. Fewer than r
    repetitions are replayed one by one ([replay_check_sound]).

    Conditions 1 and 2 alone carry completeness from any one q >= 1 to all q. That no microbatch has passes both in the warm-up and
    in the cool-down of the schedule that is replayed (condition 4), which the tool also asks, is not needed for F, I and W. At
    least one repetition is ([one_repetition_needed]).

    A state always comes again, so the search for it ends, if every device has a stage ([a_repetition_always_comes]).

    Not covered: a full backward B that its neighbour waits for as a whole, and recomputation. That [simulated] always finds the
    start times where there are some is _open_ here; the check does not rest on it, for it checks what it found. *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Import ListNotations.
Open Scope Z_scope.

(** ** Schedules that grow *)

(** The same pipeline with another number of microbatches. *)
Definition resized (M : model) (m : nat) : model :=
  Model (devices M) (stages M) m (device_of M) (time M) (latency M) (activation M) (retained M) (capacity M).

(** The same pass of a later or an earlier microbatch. *)
Definition later (n : nat) (p : pass) : pass := Pass (kind_of p) (stage_of p) (microbatch_of p + n).
Definition earlier (n : nat) (p : pass) : pass := Pass (kind_of p) (stage_of p) (microbatch_of p - n).

(** For each device a warm-up, a piece that is repeated, and a cool-down in the numbers that it has without any repetition. *)
Record growing := Growing {
  period : nat;                 (** K: how many microbatches a repetition has *)
  base : nat;                   (** how many microbatches there are without any repetition *)
  head : nat -> list pass;
  body : nat -> list pass;
  tail : nat -> list pass
}.

(** The first n repetitions of a device. *)
Definition bodies (G : growing) (d n : nat) : list pass :=
  flat_map (fun i => map (later (i * period G)) (body G d)) (seq 0 n).

(** The schedule with q repetitions, and how many microbatches it has. *)
Definition order (G : growing) (q : nat) : schedule :=
  fun d => head G d ++ bodies G d q ++ map (later (q * period G)) (tail G d).
Definition size (G : growing) (q : nat) : nat := (base G + q * period G)%nat.
Definition model_at (M : model) (G : growing) (q : nat) : model := resized M (size G q).

(** Slots: kind, stage, and the remainder of the microbatch. *)
Definition kind_eqb (k l : kind) : bool :=
  match k, l with F, F => true | I, I => true | W, W => true | _, _ => false end.
Definition same_slot (K : nat) (p q : pass) : bool :=
  kind_eqb (kind_of p) (kind_of q) && Nat.eqb (stage_of p) (stage_of q) &&
  Nat.eqb (microbatch_of p mod K) (microbatch_of q mod K).

(** The microbatch that the slot of a pass has in the body. *)
Definition begins (M : model) (G : growing) (p : pass) : nat :=
  match find (same_slot (period G) p) (body G (device_of M (stage_of p))) with
  | Some b => microbatch_of b
  | None => 0%nat
  end.

(** A pass before and behind cut r. *)
Definition before_cut (M : model) (G : growing) (r : nat) (p : pass) : Prop :=
  (microbatch_of p < begins M G p + r * period G)%nat.
Definition is_before_cut (M : model) (G : growing) (r : nat) (p : pass) : bool :=
  Nat.ltb (microbatch_of p) (begins M G p + r * period G).

(** Conditions 1 to 3. *)
Record repeatable (M : model) (G : growing) : Prop := {
  some_period : (0 < period G)%nat;
  body_owned : forall d p, (d < devices M)%nat -> In p (body G d) -> (stage_of p < stages M)%nat /\ device_of M (stage_of p) = d;
  slot_there : forall k s m, (s < stages M)%nat ->
    exists b, In b (body G (device_of M s)) /\ same_slot (period G) (Pass k s m) b = true;
  slot_once : forall d b c, (d < devices M)%nat -> In b (body G d) -> In c (body G d) ->
    same_slot (period G) b c = true -> b = c;
  head_below : forall d p, (d < devices M)%nat -> In p (head G d) -> (microbatch_of p < begins M G p)%nat;
  tail_above : forall d p, (d < devices M)%nat -> In p (tail G d) -> (begins M G p <= microbatch_of p)%nat;
  needs_sooner : forall m u lag v, pass_needs (resized M m) u lag v -> (begins M G v <= begins M G u)%nat
}.

(** ** Lists and slots *)

Lemma NoDup_join : forall (A : Type) (l k : list A), NoDup l -> NoDup k -> (forall x, In x l -> In x k -> False) -> NoDup (l ++ k).
Proof.
  intros A l k first second apart. induction l as [| x l IH]; [exact second |].
  inversion first as [| y l' new rest]; subst. cbn. constructor.
  - rewrite in_app_iff. intros [inside | inside]; [auto | apply (apart x); [left; reflexivity | exact inside]].
  - apply IH; [exact rest |]. intros y one two. apply (apart y); [right; exact one | exact two].
Qed.

Lemma NoDup_parts : forall (A : Type) (l k : list A), NoDup (l ++ k) ->
  NoDup l /\ NoDup k /\ (forall x, In x l -> In x k -> False).
Proof.
  intros A l k. induction l as [| x l IH]; cbn; intros once.
  - repeat split; [constructor | exact once | intros x []].
  - inversion once as [| y l' new rest]; subst. destruct (IH rest) as [one [two apart]]. rewrite in_app_iff in new.
    repeat split; [constructor; tauto | exact two |]. intros y [same | inside] other; [subst; tauto | eauto].
Qed.

Lemma NoDup_split : forall (A : Type) (v : A) a b c d, NoDup (a ++ v :: b) -> a ++ v :: b = c ++ v :: d -> a = c /\ b = d.
Proof.
  intros A v a. induction a as [| x a IH]; intros b c d once same; destruct c as [| y c]; cbn in same.
  - inversion same. auto.
  - inversion same; subst. inversion once as [| z l new rest]; subst. exfalso. apply new. rewrite in_app_iff. right. left.
    reflexivity.
  - inversion same; subst. inversion once as [| z l new rest]; subst. exfalso. apply new. rewrite in_app_iff. right. left.
    reflexivity.
  - inversion same; subst. inversion once; subst. destruct (IH b c d) as [one two]; [assumption | assumption |]. subst. auto.
Qed.

Lemma follows_app : forall (A : Type) (a b : list A) u v, follows (a ++ b) u v ->
  follows a u v \/ follows b u v \/ (exists a' b', a = a' ++ [u] /\ b = v :: b').
Proof.
  intros A a. induction a as [| x a IH]; intros b u v [left_ [right_ shape]]; cbn in shape.
  - right. left. exists left_, right_. exact shape.
  - destruct left_ as [| y left_]; cbn in shape; inversion shape; subst.
    + destruct a as [| z a]; cbn in *.
      * right. right. exists [], right_. subst. auto.
      * inversion H1; subst. left. exists [], a. reflexivity.
    + destruct (IH b u v) as [inside | [inside | [a' [b' [one two]]]]].
      * exists left_, right_. exact H1.
      * left. destruct inside as [c [d same]]. exists (y :: c), d. cbn. rewrite same. reflexivity.
      * auto.
      * right. right. exists (y :: a'), b'. subst. auto.
Qed.

Lemma follows_left : forall (A : Type) (a b : list A) u v, follows a u v -> follows (a ++ b) u v.
Proof. intros A a b u v [c [d same]]. exists c, (d ++ b). rewrite same, <- app_assoc. reflexivity. Qed.

Lemma follows_right : forall (A : Type) (a b : list A) u v, follows b u v -> follows (a ++ b) u v.
Proof. intros A a b u v [c [d same]]. exists (a ++ c), d. rewrite same, <- app_assoc. reflexivity. Qed.

Lemma map_split : forall (A B : Type) (f : A -> B) l a x b, map f l = a ++ x :: b ->
  exists a' x' b', l = a' ++ x' :: b' /\ a = map f a' /\ x = f x' /\ b = map f b'.
Proof.
  intros A B f l. induction l as [| y l IH]; intros a x b same; [destruct a; discriminate |].
  destruct a as [| z a]; cbn in same; inversion same; subst.
  - exists [], y, l. auto.
  - destruct (IH a x b) as [a' [x' [b' [one [two [three four]]]]]]; [assumption |]. subst.
    exists (y :: a'), x', b'. auto.
Qed.

Lemma follows_map : forall (A B : Type) (f : A -> B) l u v, follows (map f l) u v ->
  exists u' v', follows l u' v' /\ u = f u' /\ v = f v'.
Proof.
  intros A B f l u v [a [b same]]. destruct (map_split _ _ _ _ _ _ _ same) as [a' [u' [b' [shape [_ [first rest]]]]]].
  destruct b' as [| v' b']; cbn in rest; inversion rest; subst. exists u', v'. split; [exists a', b'; reflexivity | auto].
Qed.

Lemma later_earlier : forall n p, (n <= microbatch_of p)%nat -> later n (earlier n p) = p.
Proof. intros n [k s m] enough. unfold later, earlier. cbn in *. f_equal. lia. Qed.

Lemma earlier_later : forall n p, earlier n (later n p) = p.
Proof. intros n [k s m]. unfold later, earlier. cbn. f_equal. lia. Qed.

Lemma later_later : forall n k p, later n (later k p) = later (k + n) p.
Proof. intros n k [l s m]. unfold later. cbn. f_equal. lia. Qed.

Lemma later_zero : forall p, later 0 p = p.
Proof. intros [k s m]. unfold later. cbn. f_equal. lia. Qed.

Lemma later_injective : forall n p q, later n p = later n q -> p = q.
Proof. intros n p q same. rewrite <- (earlier_later n p), same. apply earlier_later. Qed.

Lemma NoDup_later : forall n l, NoDup l -> NoDup (map (later n) l).
Proof. intros n l once. apply FinFun.Injective_map_NoDup; [intros p q; apply later_injective | exact once]. Qed.

Lemma time_later : forall M m n p, time_of (resized M m) (later n p) = time_of M p.
Proof. reflexivity. Qed.

Lemma kind_eqb_same : forall k l, kind_eqb k l = true <-> k = l.
Proof. intros [] []; cbn; split; congruence. Qed.

Lemma same_slot_iff : forall K p q, same_slot K p q = true <->
  kind_of p = kind_of q /\ stage_of p = stage_of q /\ (microbatch_of p mod K = microbatch_of q mod K)%nat.
Proof.
  intros K p q. unfold same_slot. rewrite !andb_true_iff, kind_eqb_same, !Nat.eqb_eq. tauto.
Qed.

Lemma mod_later : forall K p i, (0 < K)%nat -> (microbatch_of (later (i * K) p) mod K = microbatch_of p mod K)%nat.
Proof. intros K p i some. cbn. apply Nat.mod_add. lia. Qed.

(** Microbatches of one slot are whole repetitions apart. *)
Lemma mod_apart : forall K a b, (0 < K)%nat -> (a mod K = b mod K)%nat -> (a <= b)%nat ->
  b = (a + ((b - a) / K) * K)%nat.
Proof.
  intros K a b some same below.
  pose proof (Nat.div_mod a K ltac:(lia)) as one. pose proof (Nat.div_mod b K ltac:(lia)) as two.
  assert (order_ : (a / K <= b / K)%nat) by (apply Nat.div_le_mono; lia).
  assert (gap : (b - a = (b / K - a / K) * K)%nat).
  { rewrite Nat.mul_sub_distr_r. lia. }
  rewrite gap, Nat.div_mul by lia. lia.
Qed.

Lemma mod_below : forall K a b, (0 < K)%nat -> (a mod K = b mod K)%nat -> (a < b)%nat -> (a + K <= b)%nat.
Proof.
  intros K a b some same below. pose proof (mod_apart K a b some same ltac:(lia)) as shape.
  destruct ((b - a) / K)%nat as [| j] eqn:what; cbn in shape; lia.
Qed.

(** ** What conditions 1 to 3 say of cuts *)

Section Cuts.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Notation K := (period G).

  Lemma period_positive : (0 < K)%nat.
  Proof. apply Repeatable. Qed.

  Lemma begins_later : forall i p, begins M G (later (i * K) p) = begins M G p.
  Proof.
    intros i p. unfold begins. cbn [stage_of later].
    replace (find (same_slot K (later (i * K) p)) (body G (device_of M (stage_of p))))
      with (find (same_slot K p) (body G (device_of M (stage_of p)))); [reflexivity |].
    induction (body G (device_of M (stage_of p))) as [| b l IH]; [reflexivity |]. cbn [find].
    assert (same : same_slot K (later (i * K) p) b = same_slot K p b).
    { unfold same_slot. cbn [kind_of stage_of later microbatch_of].
      rewrite Nat.mod_add by (pose proof period_positive; lia). reflexivity. }
    rewrite same, IH. reflexivity.
  Qed.

  Lemma begins_is : forall p, (stage_of p < stages M)%nat ->
    exists b, In b (body G (device_of M (stage_of p))) /\ same_slot K p b = true /\ begins M G p = microbatch_of b.
  Proof.
    intros [k s m] inside. cbn in inside. unfold begins.
    destruct (find (same_slot K (Pass k s m)) (body G (device_of M (stage_of (Pass k s m))))) as [b |] eqn:found.
    - apply find_some in found. destruct found as [there same]. exists b. auto.
    - destruct (slot_there M G Repeatable k s m inside) as [b [there same]].
      pose proof (find_none _ _ found b there) as none. congruence.
  Qed.

  Lemma begins_body : forall d p, (d < devices M)%nat -> In p (body G d) -> begins M G p = microbatch_of p.
  Proof.
    intros d p inside there. destruct (body_owned M G Repeatable d p inside there) as [stage_ owner].
    destruct (begins_is p stage_) as [b [found [same what]]]. rewrite owner in found.
    rewrite what, (slot_once M G Repeatable d p b inside there found same). reflexivity.
  Qed.

  Lemma begins_mod : forall p, (stage_of p < stages M)%nat -> (microbatch_of p mod K = begins M G p mod K)%nat.
  Proof.
    intros p inside. destruct (begins_is p inside) as [b [_ [same what]]]. apply same_slot_iff in same. rewrite what. apply same.
  Qed.

  Lemma body_of : forall p, (stage_of p < stages M)%nat ->
    In (Pass (kind_of p) (stage_of p) (begins M G p)) (body G (device_of M (stage_of p))).
  Proof.
    intros p inside. destruct (begins_is p inside) as [b [found [same what]]]. apply same_slot_iff in same.
    destruct same as [one [two _]]. rewrite one, two, what. destruct b as [k s m]. cbn in *. subst. exact found.
  Qed.

  (** What a device runs before cut r, and behind it with n more repetitions. *)
  Definition front (d r : nat) : list pass := head G d ++ bodies G d r.
  Definition back (d n : nat) : list pass := bodies G d n ++ map (later (n * K)) (tail G d).

  Lemma bodies_next : forall d n, bodies G d (S n) = bodies G d n ++ map (later (n * K)) (body G d).
  Proof. intros d n. unfold bodies. rewrite seq_S, flat_map_app. cbn. rewrite app_nil_r. reflexivity. Qed.

  Lemma bodies_add : forall d r n, bodies G d (r + n) = bodies G d r ++ map (later (r * K)) (bodies G d n).
  Proof.
    intros d r n. induction n as [| n IH].
    - rewrite Nat.add_0_r. cbn. rewrite app_nil_r. reflexivity.
    - rewrite Nat.add_succ_r, !bodies_next, IH, map_app, map_map, <- app_assoc. do 2 f_equal.
      apply map_ext. intros p. rewrite later_later. f_equal. lia.
  Qed.

  Lemma order_cut : forall d r n, order G (r + n) d = front d r ++ map (later (r * K)) (back d n).
  Proof.
    intros d r n. unfold order, front, back. rewrite bodies_add, map_app, map_map, <- !app_assoc. do 3 f_equal.
    apply map_ext. intros p. rewrite later_later. f_equal. lia.
  Qed.

  Lemma in_bodies : forall d n p, In p (bodies G d n) <-> exists i b, (i < n)%nat /\ In b (body G d) /\ p = later (i * K) b.
  Proof.
    intros d n p. unfold bodies. rewrite in_flat_map. split.
    - intros [i [range there]]. apply in_seq in range. apply in_map_iff in there. destruct there as [b [same there]].
      exists i, b. repeat split; [lia | exact there | symmetry; exact same].
    - intros [i [b [range [there same]]]]. exists i. split; [apply in_seq; lia |]. subst. apply in_map. exact there.
  Qed.

  Lemma front_before : forall d r p, (d < devices M)%nat -> In p (front d r) -> before_cut M G r p.
  Proof.
    intros d r p inside there. unfold front in there. rewrite in_app_iff in there. unfold before_cut.
    destruct there as [there | there].
    - pose proof (head_below M G Repeatable d p inside there). lia.
    - apply in_bodies in there. destruct there as [i [b [range [there same]]]]. subst p.
      rewrite begins_later, (begins_body d b inside there). cbn. pose proof period_positive.
      apply Nat.add_lt_mono_l. apply Nat.mul_lt_mono_pos_r; lia.
  Qed.

  Lemma back_behind : forall d r n p, (d < devices M)%nat -> In p (map (later (r * K)) (back d n)) -> ~ before_cut M G r p.
  Proof.
    intros d r n p inside there. apply in_map_iff in there. destruct there as [p' [same there]]. subst p. unfold before_cut.
    rewrite begins_later. cbn. unfold back in there. rewrite in_app_iff in there. destruct there as [there | there].
    - apply in_bodies in there. destruct there as [i [b [range [there same]]]]. subst p'.
      rewrite begins_later, (begins_body d b inside there). cbn. lia.
    - apply in_map_iff in there. destruct there as [b [same there]]. subst p'. rewrite begins_later. cbn.
      pose proof (tail_above M G Repeatable d b inside there). lia.
  Qed.

  Lemma cut_later : forall r i p, before_cut M G (r + i) (later (i * K) p) <-> before_cut M G r p.
  Proof. intros r i p. unfold before_cut. rewrite begins_later. cbn. lia. Qed.

  Lemma cut_decided : forall r p, is_before_cut M G r p = true <-> before_cut M G r p.
  Proof. intros r p. unfold is_before_cut, before_cut. apply Nat.ltb_lt. Qed.

  (** A cut has with a pass everything that it needs. *)
  Lemma cut_closed : forall m r u lag v, pass_needs (resized M m) u lag v -> before_cut M G r v -> before_cut M G r u.
  Proof.
    intros m r u lag v need. pose proof (needs_sooner M G Repeatable m u lag v need) as sooner.
    assert (same : microbatch_of u = microbatch_of v) by (destruct need; reflexivity).
    unfold before_cut. lia.
  Qed.

  (** Needs are the same for every number of microbatches that has them. *)
  Lemma need_moved : forall m n u lag v u' v', pass_needs (resized M m) u lag v ->
    kind_of u' = kind_of u -> kind_of v' = kind_of v -> stage_of u' = stage_of u -> stage_of v' = stage_of v ->
    microbatch_of u' = microbatch_of v' -> (microbatch_of v' < n)%nat -> pass_needs (resized M n) u' lag v'.
  Proof.
    intros m n u lag v [ku su mu] [kv sv mv] need. cbn. intros. subst. cbn in *.
    destruct need; cbn in *.
    - apply (F_needs_F (resized M n)); cbn; assumption.
    - apply (I_needs_F (resized M n)); cbn; assumption.
    - apply (I_needs_I (resized M n)); cbn; assumption.
    - apply (W_needs_I (resized M n)); cbn; assumption.
  Qed.

  Lemma need_same : forall m u lag v, pass_needs (resized M m) u lag v -> microbatch_of u = microbatch_of v.
  Proof. intros m u lag v need. destruct need; reflexivity. Qed.

  Lemma need_ranges : forall m u lag v, pass_needs (resized M m) u lag v ->
    (stage_of u < stages M)%nat /\ (stage_of v < stages M)%nat /\ (microbatch_of v < m)%nat.
  Proof. intros m u lag v need. destruct Well as [positive _]. destruct need; cbn in *; lia. Qed.

  (** *** Complete for one number of repetitions, complete for all *)

  Section Complete.
    Variable Q : nat.
    Hypothesis Some_repetition : (1 <= Q)%nat.
    Hypothesis Whole : complete (model_at M G Q) (order G Q).

    Lemma owner : forall d p, (d < devices M)%nat -> In p (order G Q d) -> exists_in (model_at M G Q) p /\
      device_of M (stage_of p) = d.
    Proof. intros d p inside there. apply (proj2 (Whole d inside) p). exact there. Qed.

    Lemma order_Q : forall d, order G Q d = front d Q ++ map (later (Q * K)) (tail G d).
    Proof. intros d. unfold order, front. rewrite <- app_assoc. reflexivity. Qed.

    Lemma begins_small : forall p, (stage_of p < stages M)%nat -> (begins M G p < base G + K)%nat.
    Proof.
      intros p inside. pose proof (body_of p inside) as there. destruct Well as [_ [devices_ _]].
      specialize (devices_ (stage_of p) inside).
      assert (run : In (later ((Q - 1) * K) (Pass (kind_of p) (stage_of p) (begins M G p))) (order G Q (device_of M (stage_of p)))).
      { unfold order. rewrite !in_app_iff. right. left. apply in_bodies.
        exists (Q - 1)%nat, (Pass (kind_of p) (stage_of p) (begins M G p)). repeat split; [lia | exact there]. }
      apply owner in run; [| exact devices_]. destruct run as [[_ below] _]. cbn in below. unfold size in below.
      assert (Q * K = (Q - 1) * K + K)%nat by (rewrite Nat.mul_sub_distr_r; destruct Q; [lia | cbn; lia]). lia.
    Qed.

    Lemma head_is : forall d p, (d < devices M)%nat ->
      In p (head G d) <-> (stage_of p < stages M)%nat /\ device_of M (stage_of p) = d /\ (microbatch_of p < begins M G p)%nat.
    Proof.
      intros d p inside. split.
      - intros there. assert (run : In p (order G Q d)) by (unfold order; rewrite in_app_iff; auto).
        apply owner in run; [| exact inside]. destruct run as [[stage_ _] mine].
        repeat split; [exact stage_ | exact mine |]. apply (head_below M G Repeatable d); assumption.
      - intros [stage_ [mine below]].
        assert (small : (microbatch_of p < size G Q)%nat).
        { pose proof (begins_small p stage_). pose proof (mod_below K _ _ period_positive (begins_mod p stage_) below).
          unfold size. lia. }
        assert (run : In p (order G Q d)).
        { apply (proj2 (Whole d inside) p). split; [split; assumption | exact mine]. }
        assert (cut : order G Q d = front d 0 ++ map (later (0 * K)) (back d Q)) by (rewrite <- order_cut; reflexivity).
        rewrite cut, in_app_iff in run. destruct run as [run | run].
        + unfold front in run. cbn in run. rewrite app_nil_r in run. exact run.
        + apply back_behind in run; [| exact inside]. exfalso. apply run. unfold before_cut. lia.
    Qed.

    Lemma tail_is : forall d p, (d < devices M)%nat ->
      In p (tail G d) <-> (stage_of p < stages M)%nat /\ device_of M (stage_of p) = d /\
        (begins M G p <= microbatch_of p < base G)%nat.
    Proof.
      intros d p inside. split.
      - intros there. assert (run : In (later (Q * K) p) (order G Q d)).
        { unfold order. rewrite !in_app_iff. right. right. apply in_map. exact there. }
        apply owner in run; [| exact inside]. destruct run as [[stage_ below] mine]. cbn in *. unfold size in below.
        repeat split; [exact stage_ | exact mine | | lia]. apply (tail_above M G Repeatable d); assumption.
      - intros [stage_ [mine [above below]]].
        assert (run : In (later (Q * K) p) (order G Q d)).
        { apply (proj2 (Whole d inside)). split; [split; cbn; [exact stage_ | unfold size; lia] | exact mine]. }
        rewrite order_Q, in_app_iff in run. destruct run as [run | run].
        + apply front_before in run; [| exact inside]. unfold before_cut in run. rewrite begins_later in run. cbn in run. lia.
        + apply in_map_iff in run. destruct run as [p' [same there]]. apply later_injective in same. subst. exact there.
    Qed.

    Lemma bodies_are : forall d q p, (d < devices M)%nat ->
      In p (bodies G d q) <-> (stage_of p < stages M)%nat /\ device_of M (stage_of p) = d /\
        (begins M G p <= microbatch_of p < begins M G p + q * K)%nat.
    Proof.
      intros d q p inside. rewrite in_bodies. pose proof period_positive as some. split.
      - intros [i [b [range [there same]]]]. subst p. rewrite begins_later. rewrite (begins_body d b inside there). cbn.
        destruct (body_owned M G Repeatable d b inside there) as [one two]. repeat split; [exact one | exact two | lia |].
        apply Nat.add_lt_mono_l. apply Nat.mul_lt_mono_pos_r; lia.
      - intros [stage_ [mine [above below]]].
        pose proof (mod_apart K (begins M G p) (microbatch_of p) some (eq_sym (begins_mod p stage_)) above) as shape.
        exists ((microbatch_of p - begins M G p) / K)%nat, (Pass (kind_of p) (stage_of p) (begins M G p)). repeat split.
        + apply Nat.div_lt_upper_bound; lia.
        + rewrite <- mine. apply body_of. exact stage_.
        + destruct p as [k s m]. unfold later. cbn [kind_of stage_of microbatch_of] in *. f_equal. exact shape.
    Qed.

    Lemma NoDup_front : forall d r, (d < devices M)%nat -> NoDup (front d r).
    Proof.
      intros d r inside. destruct (Whole d inside) as [once _]. unfold order in once.
      destruct (NoDup_parts _ _ _ once) as [head_ [rest _]]. destruct (NoDup_parts _ _ _ rest) as [bodies_ _].
      assert (body_ : NoDup (body G d)).
      { destruct Q as [| n]; [lia |]. replace (S n) with (1 + n)%nat in bodies_ by lia. rewrite bodies_add in bodies_.
        destruct (NoDup_parts _ _ _ bodies_) as [one _]. unfold bodies in one. cbn in one. rewrite app_nil_r in one.
        rewrite (map_ext _ (fun p => p)), map_id in one by (intros p; apply later_zero). exact one. }
      unfold front. induction r as [| r IH]; [cbn; rewrite app_nil_r; exact head_ |].
      rewrite bodies_next, app_assoc. apply NoDup_join; [exact IH | apply NoDup_later; exact body_ |].
      intros p one two. apply (front_before d r p inside) in one. unfold before_cut in one.
      apply in_map_iff in two. destruct two as [b [same there]]. subst p.
      rewrite begins_later, (begins_body d b inside there) in one. cbn in one. lia.
    Qed.

    (** The schedule is complete for every number of repetitions if it is for one. *)
    Theorem complete_for_every_m : forall q, complete (model_at M G q) (order G q).
    Proof.
      intros q d inside. split.
      - assert (shape : order G q d = front d q ++ map (later (q * K)) (tail G d)).
        { unfold order, front. rewrite <- app_assoc. reflexivity. }
        rewrite shape. apply NoDup_join; [apply NoDup_front; exact inside | |].
        + apply NoDup_later. destruct (Whole d inside) as [once _]. rewrite order_Q in once.
          destruct (NoDup_parts _ _ _ once) as [_ [tail_ _]]. apply NoDup_map_inv in tail_. exact tail_.
        + intros p one two. apply (front_before d q p inside) in one. apply in_map_iff in two. destruct two as [b [same there]].
          subst p. unfold before_cut in one. rewrite begins_later in one. cbn in one.
          pose proof (tail_above M G Repeatable d b inside there). lia.
      - intros p. unfold order. rewrite !in_app_iff, (head_is d p inside), (bodies_are d q p inside). unfold exists_in. cbn.
        unfold size.
        pose proof period_positive as some. split.
        + intros [[stage_ [mine below]] | [[stage_ [mine below]] | there]].
          * pose proof (begins_small p stage_). pose proof (mod_below K _ _ some (begins_mod p stage_) below).
            repeat split; [exact stage_ | lia | exact mine].
          * pose proof (begins_small p stage_).
            destruct (Nat.lt_ge_cases (microbatch_of p) (base G + q * K)) as [fits | over]; [auto |].
            assert (same : (microbatch_of p mod K = (begins M G p + q * K) mod K)%nat).
            { rewrite Nat.mod_add by lia. apply begins_mod. exact stage_. }
            pose proof (mod_below K _ _ some same ltac:(lia)). lia.
          * apply in_map_iff in there. destruct there as [b [same there]]. subst p. cbn.
            apply (tail_is d b inside) in there. destruct there as [stage_ [mine below]].
            repeat split; [exact stage_ | lia | exact mine].
        + intros [[stage_ fits] mine].
          destruct (Nat.lt_ge_cases (microbatch_of p) (begins M G p)) as [low | above]; [auto |].
          destruct (Nat.lt_ge_cases (microbatch_of p) (begins M G p + q * K)) as [middle | high]; [auto 6 |].
          right. right. apply in_map_iff. exists (earlier (q * K) p). rewrite later_earlier by lia. split; [reflexivity |].
          apply (tail_is d _ inside). cbn. assert (same : begins M G (earlier (q * K) p) = begins M G p).
          { rewrite <- (begins_later q), later_earlier by lia. reflexivity. }
          rewrite same. repeat split; [exact stage_ | exact mine | lia | lia].
    Qed.
  End Complete.
End Cuts.

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

(** ** From q repetitions to q + c *)

(** The same with another cool-down. *)
Definition with_tail (G : growing) (b : nat) (l : nat -> list pass) : growing := Growing (period G) b (head G) (body G) l.

(** The same state at cut r and, L later, at cut r + c: when each device is free; and for every pass before the cut that one
    behind it needs, when its message is there, or when the device that needs it is free if that is later. *)
Record repeats (M : model) (G : growing) (start : pass -> Z) (r c : nat) (L : Z) : Prop := {
  not_sooner : 0 <= L;
  free_repeats : forall d, (d < devices M)%nat -> last_end M start (front G d (r + c)) = last_end M start (front G d r) + L;
  pending_repeats : forall m u lag v, pass_needs (resized M m) u lag v -> before_cut M G r u -> ~ before_cut M G r v ->
    Z.max (start (later (c * period G) u) + time_of M u + lag) (last_end M start (front G (device_of M (stage_of v)) (r + c))) =
    Z.max (start u + time_of M u + lag) (last_end M start (front G (device_of M (stage_of v)) r)) + L
}.

Section Step.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Hypothesis Whole : forall q, complete (model_at M G q) (order G q).
  Notation K := (period G).
  Notation device p := (device_of M (stage_of p)).

  Definition waits_at (q : nat) := waits (problem_of (model_at M G q)) (orders_of (model_at M G q) (order G q)).
  Definition sequence_at (q : nat) := sequence (problem_of (model_at M G q)) (orders_of (model_at M G q) (order G q)).

  Lemma well_at : forall q, well_formed (model_at M G q).
  Proof. intros q. apply resized_well. exact Well. Qed.

  Lemma device_inside : forall p, (stage_of p < stages M)%nat -> (device p < devices M)%nat.
  Proof. intros p inside. destruct Well as [_ [owners _]]. apply owners. exact inside. Qed.

  Lemma in_order : forall q p, exists_in (model_at M G q) p -> In p (order G q (device p)).
  Proof. intros q p there. apply (Whole q (device p) (device_inside p (proj1 there))). auto. Qed.

  Lemma order_is : forall d k q, (k <= q)%nat -> order G q d = front G d k ++ map (later (k * K)) (back G d (q - k)).
  Proof. intros d k q less. rewrite <- order_cut. f_equal. lia. Qed.

  Lemma in_front : forall d k q p, (d < devices M)%nat -> (k <= q)%nat -> In p (order G q d) -> before_cut M G k p ->
    In p (front G d k).
  Proof.
    intros d k q p inside less there cut. rewrite (order_is d k q less), in_app_iff in there.
    destruct there as [there | there]; [exact there |].
    apply (back_behind M G Repeatable) in there; [contradiction | exact inside].
  Qed.

  Lemma front_in_order : forall d k q p, (k <= q)%nat -> In p (front G d k) -> In p (order G q d).
  Proof. intros d k q p less there. rewrite (order_is d k q less), in_app_iff. auto. Qed.

  Lemma front_exists : forall d k q p, (d < devices M)%nat -> (k <= q)%nat -> In p (front G d k) ->
    exists_in (model_at M G q) p /\ device p = d.
  Proof. intros d k q p inside less there. apply (Whole q d inside). apply (front_in_order d k); assumption. Qed.

  (** A pass before a cut is there whatever the number of repetitions behind it. *)
  Lemma exists_before : forall k q n p, (k <= q)%nat -> (k <= n)%nat -> exists_in (model_at M G q) p -> before_cut M G k p ->
    exists_in (model_at M G n) p /\ In p (front G (device p) k).
  Proof.
    intros k q n p one two there cut. pose proof (device_inside p (proj1 there)) as inside.
    pose proof (in_front _ k q p inside one (in_order q p there) cut) as placed. split; [| exact placed].
    apply (front_exists (device p) k n p inside two placed).
  Qed.

  Lemma behind_enough : forall r c p, ~ before_cut M G (r + c) p -> (c * K <= microbatch_of p)%nat.
  Proof. intros r c p behind. unfold before_cut in behind. lia. Qed.

  Lemma cut_earlier : forall r c p, (c * K <= microbatch_of p)%nat ->
    before_cut M G (r + c) p <-> before_cut M G r (earlier (c * K) p).
  Proof.
    intros r c p enough. rewrite <- (cut_later M G Repeatable r c (earlier (c * K) p)), later_earlier by exact enough. tauto.
  Qed.

  Lemma back_moved : forall d r c q, (r <= q)%nat ->
    map (later ((r + c) * K)) (back G d (q + c - (r + c))) = map (later (c * K)) (map (later (r * K)) (back G d (q - r))).
  Proof.
    intros d r c q less. rewrite map_map. replace (q + c - (r + c))%nat with (q - r)%nat by lia. apply map_ext.
    intros p. rewrite later_later. f_equal. lia.
  Qed.

  Section Cut.
    Variables r c q Q : nat.
    Hypothesis Less : (r <= q)%nat.
    Hypothesis Enough : (r + c <= Q)%nat.

    (** Whatever waits in the larger schedule waits alike in the one up to the cut, or in the smaller schedule. *)
    Lemma waits_classified : forall u w v, waits_at (q + c) u w v ->
      (before_cut M G (r + c) u /\ before_cut M G (r + c) v /\ waits_at Q u w v) \/
      (exists u0 v0, u = later (c * K) u0 /\ v = later (c * K) v0 /\ ~ before_cut M G r u0 /\ ~ before_cut M G r v0 /\
        waits_at q u0 w v0) \/
      (before_cut M G (r + c) u /\ ~ before_cut M G (r + c) v /\ In u (front G (device u) (r + c)) /\
        ((exists lag, w = time_of M u + lag /\ pass_needs (model_at M G (q + c)) u lag v) \/
         (exists d a b, (d < devices M)%nat /\ front G d (r + c) = a ++ [u] /\
            map (later (r * K)) (back G d (q - r)) = earlier (c * K) v :: b /\ w = time_of M u))).
    Proof.
      intros u w v waiting. apply waits_cases in waiting; [| apply well_at].
      destruct waiting as [[lag [need length_]] | [d [inside [next length_]]]]; subst w.
      - destruct (need_ends_exist _ _ _ _ (well_at _) need) as [there_u there_v].
        pose proof (need_same M _ _ _ _ need) as same.
        destruct (is_before_cut M G (r + c) v) eqn:cut_v; [| destruct (is_before_cut M G (r + c) u) eqn:cut_u].
        + apply cut_decided in cut_v. pose proof (cut_closed M G Repeatable _ (r + c) u lag v need cut_v) as cut_u. left.
          repeat split; [exact cut_u | exact cut_v |].
          destruct (exists_before (r + c) (q + c) Q v ltac:(lia) Enough there_v cut_v) as [there _].
          apply (waits_of_need (model_at M G Q) (order G Q)); [apply well_at |].
          apply (need_moved M _ (size G Q) u lag v u v need); try reflexivity; [exact same | apply there].
        + apply cut_decided in cut_u. right. right.
          assert (behind : ~ before_cut M G (r + c) v) by (rewrite <- cut_decided; congruence).
          destruct (exists_before (r + c) (q + c) Q u ltac:(lia) Enough there_u cut_u) as [_ placed].
          repeat split; [exact cut_u | exact behind | exact placed |]. left. exists lag. auto.
        + assert (behind_u : ~ before_cut M G (r + c) u) by (rewrite <- cut_decided; congruence).
          assert (behind_v : ~ before_cut M G (r + c) v) by (rewrite <- cut_decided; congruence).
          pose proof (behind_enough r c u behind_u) as enough_u. pose proof (behind_enough r c v behind_v) as enough_v.
          right. left. exists (earlier (c * K) u), (earlier (c * K) v). rewrite !later_earlier by assumption.
          rewrite <- !cut_earlier by assumption. repeat split; try assumption.
          apply (waits_of_need (model_at M G q) (order G q) (earlier (c * K) u) lag); [apply well_at |].
          apply (need_moved M _ (size G q) u lag v _ _ need); try reflexivity; cbn; [lia |].
          destruct there_v as [_ below]. cbn in below. unfold size in *. lia.
      - pose proof next as kept_. rewrite (order_is d (r + c) (q + c) ltac:(lia)) in next.
        apply follows_app in next. destruct next as [next | [next | [a [b [one two]]]]].
        + left. assert (both : In u (front G d (r + c)) /\ In v (front G d (r + c))).
          { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
          repeat split; [apply (front_before M G Repeatable d); tauto | apply (front_before M G Repeatable d); tauto |].
          apply (waits_of_order (model_at M G Q) (order G Q) d); [exact inside |].
          rewrite (order_is d (r + c) Q Enough). apply follows_left. exact next.
        + right. left. rewrite back_moved in next by exact Less. apply follows_map in next.
          destruct next as [u0 [v0 [next [one two]]]]. exists u0, v0.
          assert (both : In u0 (map (later (r * K)) (back G d (q - r))) /\ In v0 (map (later (r * K)) (back G d (q - r)))).
          { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
          repeat split; [exact one | exact two | apply (back_behind M G Repeatable d r (q - r)); tauto |
            apply (back_behind M G Repeatable d r (q - r)); tauto |]. subst u v.
          apply (waits_of_order (model_at M G q) (order G q) d); [exact inside |].
          rewrite (order_is d r q Less). apply follows_right. exact next.
        + right. right.
          assert (placed : In u (front G d (r + c))) by (rewrite one, in_app_iff; cbn; auto).
          assert (behind : ~ before_cut M G (r + c) v).
          { apply (back_behind M G Repeatable d (r + c) (q + c - (r + c))); [exact inside |]. rewrite two. left. reflexivity. }
          destruct (front_exists d (r + c) Q u inside Enough placed) as [_ mine].
          repeat split; [apply (front_before M G Repeatable d); assumption | exact behind | rewrite mine; exact placed |].
          right. clear mine. rewrite back_moved in two by exact Less.
          destruct (map (later (r * K)) (back G d (q - r))) as [| v0 b0] eqn:shape; [discriminate |].
          cbn in two. inversion two; subst. exists d, a, b0. rewrite earlier_later. repeat split; assumption.
    Qed.

    Lemma bounded : forall place : pass -> nat, exists most, forall d p, (d < devices M)%nat -> In p (front G d (r + c)) ->
      (place p < most)%nat.
    Proof.
      intros place. set (all := flat_map (fun d => front G d (r + c)) (seq 0 (devices M))).
      exists (S (list_max (map place all))). intros d p inside there.
      pose proof (proj1 (list_max_le (map place all) _) (Nat.le_refl _)) as each. rewrite Forall_forall in each.
      specialize (each (place p)). apply Nat.lt_succ_r. apply each. apply in_map. apply in_flat_map.
      exists d. split; [apply in_seq; lia | exact there].
    Qed.

    (** Free of deadlock with c more repetitions. *)
    Lemma sequence_step : (exists place, sequence_at q place) -> (exists place, sequence_at Q place) ->
      exists place, sequence_at (q + c) place.
    Proof.
      intros [small small_] [large large_]. destruct (bounded large) as [most low].
      exists (fun p => if is_before_cut M G (r + c) p then large p else (most + small (earlier (c * K) p))%nat).
      intros u w v waiting. destruct (waits_classified u w v waiting) as [[one [two same]] |
        [[u0 [v0 [one [two [three [four same]]]]]] | [one [two [placed _]]]]].
      - rewrite (proj2 (cut_decided M G _ _) one), (proj2 (cut_decided M G _ _) two). apply (large_ u w v). exact same.
      - subst. rewrite <- (cut_later M G Repeatable r c) in three, four. rewrite <- cut_decided in three, four.
        apply not_true_is_false in three. apply not_true_is_false in four. rewrite three, four, !earlier_later.
        specialize (small_ u0 w v0 same). lia.
      - rewrite (proj2 (cut_decided M G _ _) one). rewrite <- cut_decided in two. apply not_true_is_false in two. rewrite two.
        assert (inside : (device u < devices M)%nat).
        { apply device_inside. apply waits_cases in waiting; [| apply well_at].
          destruct waiting as [[lag [need _]] | [d [inside [[a [b shape]] _]]]].
          - apply (need_ends_exist _ _ _ _ (well_at _) need).
          - assert (there : In u (order G (q + c) d)) by (rewrite shape, in_app_iff; cbn; auto).
            apply (Whole (q + c) d inside) in there. apply there. }
        specialize (low (device u) u inside placed). lia.
    Qed.
  End Cut.

  (** Up to a cut, executions as soon as possible do not depend on what is behind it: neither on how many repetitions there are,
      nor on the cool-down. *)
  Lemma before_is_least_with : forall b l, repeatable M (with_tail G b l) ->
    (forall q, complete (model_at M (with_tail G b l) q) (order (with_tail G b l) q)) ->
    forall k q n s t, (k <= q)%nat -> (k <= n)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s -> runs (model_at M (with_tail G b l) n) (order (with_tail G b l) n) t ->
    forall d p, (d < devices M)%nat -> In p (front G d k) -> s p <= t p.
  Proof.
    intros b l again_ whole_ k q n s t less_q less_n [run tightly] again d p inside there.
    set (H := with_tail G b l) in *. destruct (proj2 run) as [place sooner].
    assert (order_H : forall d, order H n d = front G d k ++ map (later (k * K)) (back H d (n - k))).
    { intros e. replace n with (k + (n - k))%nat at 1 by lia. apply (order_cut H). }
    apply (least_on (fun p => exists_in (model_at M G q) p /\ before_cut M G k p) s t place).
    - apply again.
    - clear d p inside there. intros v [there cut].
      destruct (tightly v there) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
      + right. exists u, (time_of M u + lag).
        pose proof (waits_of_need _ (order G q) u lag v (well_at q) need) as waiting.
        split; [split; [apply (need_ends_exist _ _ _ _ (well_at q) need) |
          apply (cut_closed M G Repeatable _ k u lag v need cut)] |].
        split; [apply (sooner _ _ _ waiting) |]. split; [change (time_of (model_at M G q) u) with (time_of M u) in exact_; lia |].
        apply (proj2 (proj1 again)). apply (waits_of_need (model_at M H n) (order H n) u lag v (resized_well M _ Well)).
        destruct (exists_before k q q v less_q less_q there cut) as [_ placed].
        pose proof (device_inside v (proj1 there)) as home.
        assert (there_H : exists_in (model_at M H n) v).
        { apply (whole_ n (device v) home). rewrite order_H, in_app_iff. auto. }
        apply (need_moved M _ (size H n) u lag v u v need); try reflexivity; [apply (need_same M _ _ _ _ need) | apply there_H].
      + destruct (last_case _ done) as [none | [a [u same]]]; subst; [left; exact soon |]. right.
        rewrite last_end_snoc in soon. exists u, (time_of M u).
        assert (next : follows (order G q d) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
        pose proof (waits_of_order (model_at M G q) (order G q) d u v inside next) as waiting.
        assert (there_u : In u (order G q d)) by (rewrite shape, !in_app_iff; cbn; auto).
        assert (there_v : In v (front G d k)).
        { apply (in_front d k q); [exact inside | exact less_q | | exact cut]. rewrite shape, !in_app_iff. cbn. auto. }
        assert (front_next : follows (front G d k) u v).
        { apply in_split in there_v. destruct there_v as [x [y split_]].
          assert (both : order G q d = x ++ v :: (y ++ map (later (k * K)) (back G d (q - k)))).
          { rewrite (order_is d k q less_q), split_, <- app_assoc. reflexivity. }
          destruct (Whole q d inside) as [once _]. rewrite shape in both, once.
          destruct (NoDup_split _ _ _ _ _ _ once both) as [x_is _]. exists a, y. rewrite split_, <- x_is, <- app_assoc.
          reflexivity. }
        split; [split |].
        * apply (Whole q d inside). exact there_u.
        * apply (front_before M G Repeatable d); [exact inside |]. destruct front_next as [x [y split_]].
          rewrite split_, in_app_iff. cbn. auto.
        * split; [apply (sooner _ _ _ waiting) |]. split; [exact soon |]. apply (proj2 (proj1 again)).
          apply (waits_of_order (model_at M H n) (order H n) d u v inside). rewrite order_H. apply follows_left. exact front_next.
    - split; [apply (front_exists d k q p inside less_q there) | apply (front_before M G Repeatable d); assumption].
  Qed.

  Lemma before_is_least : forall k q n s t, (k <= q)%nat -> (k <= n)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s -> runs (model_at M G n) (order G n) t ->
    forall d p, (d < devices M)%nat -> In p (front G d k) -> s p <= t p.
  Proof.
    intros k q n s t less_q less_n soon run. assert (own : with_tail G (base G) (tail G) = G) by (destruct G; reflexivity).
    apply (before_is_least_with (base G) (tail G)) with (q := q) (n := n); rewrite ?own; assumption.
  Qed.

  Lemma before_is_same : forall k q n s t, (k <= q)%nat -> (k <= n)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s -> as_soon_as_possible (model_at M G n) (order G n) t ->
    forall d p, (d < devices M)%nat -> In p (front G d k) -> s p = t p.
  Proof.
    intros k q n s t less_q less_n one two d p inside there. apply Z.le_antisymm.
    - apply (before_is_least k q n s t less_q less_n one (proj1 two) d p inside there).
    - apply (before_is_least k n q t s less_n less_q two (proj1 one) d p inside there).
  Qed.

  Lemma all_in_front : forall k p, (stage_of p < stages M)%nat -> before_cut M G k p -> In p (front G (device p) k).
  Proof.
    intros k p stage_ cut. unfold before_cut in cut. unfold front. rewrite in_app_iff.
    pose proof (device_inside p stage_) as inside.
    destruct (Nat.lt_ge_cases (microbatch_of p) (begins M G p)) as [low | high].
    - left. apply (head_is M G Well Repeatable 1 (Nat.le_refl 1) (Whole 1%nat) (device p) p inside). auto.
    - right. apply (bodies_are M G Repeatable 1 (Nat.le_refl 1) (device p) k p inside). auto.
  Qed.

  (** Free of deadlock with fewer repetitions. *)
  Lemma sequence_down : forall q Q, (q <= Q)%nat -> (exists place, sequence_at Q place) -> exists place, sequence_at q place.
  Proof.
    intros q Q less [large sooner]. destruct (bounded q 0 q Q (Nat.le_refl q) ltac:(lia) large) as [most low].
    rewrite Nat.add_0_r in low.
    set (n := (Q - q)%nat). assert (sum_ : (Q * K = q * K + n * K)%nat) by (rewrite <- Nat.mul_add_distr_r; f_equal; unfold n; lia).
    exists (fun p => if is_before_cut M G q p then large p else (most + large (later (n * K) p))%nat).
    assert (in_front_yes : forall p, before_cut M G q p -> is_before_cut M G q p = true) by (intros p; apply cut_decided).
    assert (behind_no : forall p, ~ before_cut M G q p -> is_before_cut M G q p = false).
    { intros p behind. rewrite <- cut_decided in behind. apply not_true_is_false. exact behind. }
    intros u w v waiting. apply waits_cases in waiting; [| apply well_at].
    destruct waiting as [[lag [need length_]] | [d [inside [next length_]]]]; subst w.
    - destruct (need_ends_exist _ _ _ _ (well_at _) need) as [there_u there_v].
      pose proof (need_same M _ _ _ _ need) as same. destruct there_v as [stage_v below]. cbn in stage_v, below.
      unfold size in below.
      assert (moved : forall u' v', kind_of u' = kind_of u -> kind_of v' = kind_of v -> stage_of u' = stage_of u ->
        stage_of v' = stage_of v -> microbatch_of u' = microbatch_of v' -> (microbatch_of v' < size G Q)%nat ->
        (large u' < large v')%nat).
      { intros u' v' one two three four five six.
        apply (sooner u' (time_of M u' + lag) v'). apply (waits_of_need (model_at M G Q) (order G Q) u' lag v'); [apply well_at |].
        apply (need_moved M _ (size G Q) u lag v u' v' need); assumption. }
      destruct (is_before_cut M G q v) eqn:cut_v.
      + apply cut_decided in cut_v. rewrite (in_front_yes u (cut_closed M G Repeatable _ q u lag v need cut_v)).
        apply moved; try reflexivity; [exact same | unfold size; lia].
      + destruct (is_before_cut M G q u) eqn:cut_u.
        * apply cut_decided in cut_u. pose proof (all_in_front q u (proj1 there_u) cut_u) as placed.
          specialize (low (device u) u (device_inside u (proj1 there_u)) placed). lia.
        * apply Nat.add_lt_mono_l. apply moved; try reflexivity; cbn; [lia | unfold size; lia].
    - rewrite (order_is d q q (Nat.le_refl q)) in next. apply follows_app in next.
      destruct next as [next | [next | [a [b [one two]]]]].
      + assert (both : In u (front G d q) /\ In v (front G d q)).
        { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
        rewrite !in_front_yes by (apply (front_before M G Repeatable d); tauto).
        apply (sooner u (time_of M u) v). apply (waits_of_order (model_at M G Q) (order G Q) d); [exact inside |].
        rewrite (order_is d q Q less). apply follows_left. exact next.
      + assert (both : In u (map (later (q * K)) (back G d (q - q))) /\ In v (map (later (q * K)) (back G d (q - q)))).
        { destruct next as [a [b shape]]. rewrite shape, !in_app_iff. cbn. auto 6. }
        rewrite !behind_no by (apply (back_behind M G Repeatable d q (q - q)); tauto). apply Nat.add_lt_mono_l.
        apply (sooner _ (time_of M (later (n * K) u)) _). apply (waits_of_order (model_at M G Q) (order G Q) d); [exact inside |].
        rewrite (order_is d Q Q (Nat.le_refl Q)). apply follows_right.
        apply follows_map in next. destruct next as [u0 [v0 [next [is_u is_v]]]]. subst u v.
        rewrite !later_later, <- sum_. replace (Q - Q)%nat with (q - q)%nat by lia.
        destruct next as [a [b shape]]. exists (map (later (Q * K)) a), (map (later (Q * K)) b). rewrite shape, map_app.
        reflexivity.
      + assert (placed : In u (front G d q)) by (rewrite one, in_app_iff; cbn; auto).
        rewrite (in_front_yes u) by (apply (front_before M G Repeatable d); assumption).
        rewrite (behind_no v); [specialize (low d u inside placed); lia |].
        apply (back_behind M G Repeatable d q (q - q)); [exact inside |]. rewrite two. left. reflexivity.
  Qed.

  Section Times.
    Variables r c q Q : nat.
    Variable L : Z.
    Variables s ref : pass -> Z.
    Hypothesis Less : (r <= q)%nat.
    Hypothesis Some_more : (1 <= c)%nat.
    Hypothesis Enough : (r + c <= Q)%nat.
    Hypothesis Small : as_soon_as_possible (model_at M G q) (order G q) s.
    Hypothesis Reference : as_soon_as_possible (model_at M G Q) (order G Q) ref.
    Hypothesis Repeats : repeats M G ref r c L.

    (** The start times with c more repetitions. *)
    Definition extended (p : pass) : Z := if is_before_cut M G (r + c) p then ref p else s (earlier (c * K) p) + L.

    Lemma extended_before : forall p, before_cut M G (r + c) p -> extended p = ref p.
    Proof. intros p cut. unfold extended. rewrite (proj2 (cut_decided M G _ _) cut). reflexivity. Qed.

    Lemma extended_behind : forall p, ~ before_cut M G r p -> extended (later (c * K) p) = s p + L.
    Proof.
      intros p behind. unfold extended. rewrite <- (cut_later M G Repeatable r c), <- cut_decided in behind.
      apply not_true_is_false in behind. rewrite behind, earlier_later. reflexivity.
    Qed.

    Lemma same_front : forall d p, (d < devices M)%nat -> In p (front G d r) -> s p = ref p.
    Proof. intros d p. apply (before_is_same r q Q s ref Less); [lia | exact Small | exact Reference]. Qed.

    Lemma free_small : forall d, (d < devices M)%nat -> last_end M s (front G d r) = last_end M ref (front G d r).
    Proof. intros d inside. apply last_end_from_ext. intros p there. apply (same_front d); assumption. Qed.

    Lemma free_large : forall d, (d < devices M)%nat -> last_end M extended (front G d (r + c)) = last_end M s (front G d r) + L.
    Proof.
      intros d inside. rewrite free_small by exact inside. rewrite <- (free_repeats M G ref r c L Repeats d inside).
      apply last_end_from_ext. intros p there. apply extended_before. apply (front_before M G Repeatable d); assumption.
    Qed.

    (** When the device is free behind some passes behind the cut. *)
    Lemma free_moved : forall d x y, (d < devices M)%nat -> map (later (r * K)) (back G d (q - r)) = x ++ y ->
      last_end M extended (front G d (r + c) ++ map (later (c * K)) x) = last_end M s (front G d r ++ x) + L.
    Proof.
      intros d x y inside shape. unfold last_end. rewrite !last_end_from_app.
      change (last_end_from M extended 0 (front G d (r + c))) with (last_end M extended (front G d (r + c))).
      rewrite free_large by exact inside. apply last_end_from_moved. intros p there. apply extended_behind.
      apply (back_behind M G Repeatable d r (q - r)); [exact inside |]. rewrite shape, in_app_iff. auto.
    Qed.

    Lemma order_small : forall d x v y, map (later (r * K)) (back G d (q - r)) = x ++ v :: y ->
      order G q d = front G d r ++ x ++ v :: y.
    Proof. intros d x v y shape. rewrite (order_is d r q Less), shape. reflexivity. Qed.

    Lemma order_large : forall d x v y, map (later (r * K)) (back G d (q - r)) = x ++ v :: y ->
      order G (q + c) d = (front G d (r + c) ++ map (later (c * K)) x) ++ later (c * K) v :: map (later (c * K)) y.
    Proof.
      intros d x v y shape. rewrite (order_is d (r + c) (q + c) ltac:(lia)), (back_moved d r c q Less), shape, map_app,
        <- app_assoc.
      reflexivity.
    Qed.

    (** A pass behind the cut starts when its device is free at the cut, or later. *)
    Lemma behind_free : forall p, exists_in (model_at M G q) p -> ~ before_cut M G r p ->
      (device p < devices M)%nat /\ exists x y, map (later (r * K)) (back G (device p) (q - r)) = x ++ p :: y /\
        last_end M s (front G (device p) r) <= last_end M s (front G (device p) r ++ x) <= s p.
    Proof.
      intros p there behind. pose proof (device_inside p (proj1 there)) as inside. split; [exact inside |].
      pose proof (in_order q p there) as placed. rewrite (order_is _ r q Less), in_app_iff in placed.
      destruct placed as [placed | placed]; [apply (front_before M G Repeatable) in placed; [contradiction | exact inside] |].
      apply in_split in placed. destruct placed as [x [y shape]]. exists x, y. split; [exact shape |].
      pose proof (order_small _ x p y shape) as whole_. split.
      - apply (last_end_grows (model_at M G q) (order G q) s (well_at q) (proj1 Small) (device p) _ x (p :: y) inside whole_).
      - apply (last_end_before (model_at M G q) (order G q) s (well_at q) (proj1 Small) (device p) (front G (device p) r ++ x) []
          p y inside).
        rewrite whole_, <- app_assoc. reflexivity.
    Qed.

    (** What a pass behind the cut needs of before it, in the smaller schedule. *)
    Lemma need_across : forall u lag v, pass_needs (model_at M G (q + c)) u lag v -> before_cut M G (r + c) u ->
      ~ before_cut M G (r + c) v ->
      exists u0 v0, u = later (c * K) u0 /\ v = later (c * K) v0 /\ pass_needs (model_at M G q) u0 lag v0 /\
        before_cut M G r u0 /\ ~ before_cut M G r v0 /\ s u0 = ref u0.
    Proof.
      intros u lag v need cut behind. pose proof (behind_enough r c v behind) as enough.
      pose proof (need_same M _ _ _ _ need) as same. assert (enough_u : (c * K <= microbatch_of u)%nat) by lia.
      exists (earlier (c * K) u), (earlier (c * K) v). rewrite !later_earlier by assumption.
      rewrite <- !cut_earlier by assumption.
      assert (moved : pass_needs (model_at M G q) (earlier (c * K) u) lag (earlier (c * K) v)).
      { apply (need_moved M _ (size G q) u lag v _ _ need); try reflexivity; cbn; [lia |].
        destruct (need_ends_exist _ _ _ _ (well_at _) need) as [_ [_ below]]. cbn in below. unfold size in *. lia. }
      repeat split; try assumption.
      destruct (need_ends_exist _ _ _ _ (well_at _) moved) as [there _].
      destruct (exists_before r q q (earlier (c * K) u) Less Less there ltac:(rewrite <- cut_earlier; assumption)) as [_ placed].
      apply (same_front (device (earlier (c * K) u))); [apply device_inside; apply there | exact placed].
    Qed.

    Lemma extended_runs : runs (model_at M G (q + c)) (order G (q + c)) extended.
    Proof.
      split.
      2: { apply (sequence_step r c q Q Less Enough); [apply Small | apply Reference]. }
      split.
      - intros u. unfold extended. destruct (is_before_cut M G (r + c) u); [apply Reference |].
        pose proof (not_sooner M G ref r c L Repeats). pose proof (start_nonneg _ _ _ (proj1 Small) (earlier (c * K) u)). lia.
      - intros u w v waiting.
        destruct (waits_classified r c q Q Less Enough u w v waiting) as
          [[one [two same]] | [[u0 [v0 [one [two [three [four same]]]]]] | [one [two [placed [across | across]]]]]].
        + rewrite !extended_before by assumption. apply Reference. exact same.
        + subst. rewrite !extended_behind by assumption. pose proof (proj2 (proj1 (proj1 Small)) u0 w v0 same). lia.
        + destruct across as [lag [length_ need]]. subst w.
          destruct (need_across u lag v need one two) as [u0 [v0 [is_u [is_v [moved [cut [behind agree]]]]]]].
          rewrite (extended_before u one). subst u v. rewrite (extended_behind v0 behind).
          pose proof (pending_repeats M G ref r c L Repeats _ u0 lag v0 moved cut behind) as state.
          pose proof (need_respected _ _ _ (well_at q) (proj1 Small) u0 lag v0 moved) as late.
          destruct (need_ends_exist _ _ _ _ (well_at _) moved) as [_ there].
          destruct (behind_free v0 there behind) as [inside [x [y [_ [free1 free2]]]]].
          rewrite free_small in free1 by exact inside.
          change (time_of M (later (c * K) u0)) with (time_of M u0).
          change (time_of (model_at M G q) u0) with (time_of M u0) in late. lia.
        + destruct across as [d [a [b [inside [ends [begins_ length_]]]]]]. subst w. rewrite (extended_before u one).
          pose proof (free_repeats M G ref r c L Repeats d inside) as state. rewrite ends, last_end_snoc in state.
          pose proof (behind_enough r c v two) as enough. rewrite <- (later_earlier (c * K) v enough).
          rewrite extended_behind by (rewrite <- cut_earlier; assumption).
          pose proof (order_small d [] (earlier (c * K) v) b begins_) as whole_.
          pose proof (last_end_before _ _ s (well_at q) (proj1 Small) d (front G d r) [] _ b inside whole_) as late.
          change (last_end (model_at M G q) s (front G d r)) with (last_end M s (front G d r)) in late.
          rewrite free_small in late by exact inside. lia.
    Qed.

    Lemma body_nonempty : forall p, (stage_of p < stages M)%nat -> front G (device p) (r + c) <> [].
    Proof.
      intros p inside none. pose proof (body_of M G Repeatable p inside) as there.
      assert (run : In (later (0 * K) (Pass (kind_of p) (stage_of p) (begins M G p))) (front G (device p) (r + c))).
      { unfold front. rewrite in_app_iff. right. apply in_bodies. exists 0%nat. eexists. repeat split; [lia | exact there]. }
      rewrite none in run. destruct run.
    Qed.

    (** The start times with c more repetitions are as soon as possible. *)
    Theorem extended_as_soon_as_possible : as_soon_as_possible (model_at M G (q + c)) (order G (q + c)) extended.
    Proof.
      split; [exact extended_runs |]. intros v there.
      destruct (is_before_cut M G (r + c) v) eqn:cut_v.
      - apply cut_decided in cut_v.
        destruct (exists_before (r + c) (q + c) Q v ltac:(lia) Enough there cut_v) as [there_Q placed].
        destruct (proj2 Reference v there_Q) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
        + left. exists u, lag. split.
          * apply (need_moved M _ (size G (q + c)) u lag v u v need); try reflexivity; [apply (need_same M _ _ _ _ need) |
              apply there].
          * rewrite !extended_before; [exact exact_ | exact cut_v | apply (cut_closed M G Repeatable _ (r + c) u lag v need cut_v)].
        + right. assert (mine : device v = d).
          { apply (Whole Q d inside). rewrite shape, in_app_iff. cbn. auto. }
          rewrite mine in placed. apply in_split in placed. destruct placed as [x [y split_]].
          assert (both : order G Q d = x ++ v :: (y ++ map (later ((r + c) * K)) (back G d (Q - (r + c))))).
          { rewrite (order_is d (r + c) Q Enough), split_, <- app_assoc. reflexivity. }
          destruct (Whole Q d inside) as [once _]. rewrite shape in both, once.
          destruct (NoDup_split _ _ _ _ _ _ once both) as [is_x _]. subst x.
          exists d, done, (y ++ map (later ((r + c) * K)) (back G d (q + c - (r + c)))). split; [exact inside |]. split.
          * rewrite (order_is d (r + c) (q + c) ltac:(lia)), split_, <- app_assoc. reflexivity.
          * rewrite extended_before by exact cut_v.
            replace (last_end (model_at M G (q + c)) extended done) with (last_end (model_at M G Q) ref done); [exact soon |].
            symmetry. apply (last_end_from_ext M). intros p p_done. apply extended_before.
            apply (front_before M G Repeatable d); [exact inside |].
            rewrite split_, in_app_iff. auto.
      - assert (behind_v : ~ before_cut M G (r + c) v) by (rewrite <- cut_decided; congruence).
        pose proof (behind_enough r c v behind_v) as enough. remember (earlier (c * K) v) as v0 eqn:what.
        assert (is_v : v = later (c * K) v0) by (subst v0; rewrite later_earlier; auto).
        assert (behind : ~ before_cut M G r v0) by (subst v0; rewrite <- cut_earlier; assumption).
        assert (there_v : exists_in (model_at M G q) v0).
        { subst v0. destruct there as [one two]. split; [exact one |]. cbn in *. unfold size in *. lia. }
        destruct (behind_free v0 there_v behind) as [inside [x [y [shape [free1 free2]]]]].
        pose proof (order_small _ x v0 y shape) as small_is. pose proof (order_large _ x v0 y shape) as large_is.
        assert (by_order : s v0 <= last_end M s (front G (device v0) r ++ x) ->
          tight (model_at M G (q + c)) (order G (q + c)) extended v).
        { intros soon. right. exists (device v0), (front G (device v0) (r + c) ++ map (later (c * K)) x), (map (later (c * K)) y).
          split; [exact inside |]. split; [rewrite large_is, is_v; reflexivity |].
          rewrite is_v, extended_behind by exact behind.
          change (last_end (model_at M G (q + c))) with (last_end M).
          rewrite (free_moved (device v0) x (v0 :: y) inside shape). lia. }
        destruct (proj2 Small v0 there_v) as [[u0 [lag [need exact_]]] | [d [done [rest [inside_d [shape_d soon]]]]]].
        + change (time_of (model_at M G q) u0) with (time_of M u0) in exact_.
          assert (moved : pass_needs (model_at M G (q + c)) (later (c * K) u0) lag v).
          { apply (need_moved M _ (size G (q + c)) u0 lag v0 _ _ need); try (subst v; reflexivity).
            - pose proof (need_same M _ _ _ _ need). subst v. cbn. lia.
            - apply there. }
          destruct (is_before_cut M G r u0) eqn:cut_u.
          * apply cut_decided in cut_u.
            assert (cut_large : before_cut M G (r + c) (later (c * K) u0)) by (apply cut_later; assumption).
            destruct (need_across _ lag v moved cut_large behind_v) as [u1 [v1 [is_u1 [is_v1 [_ [_ [_ agree]]]]]]].
            apply later_injective in is_u1. subst u1.
            pose proof (pending_repeats M G ref r c L Repeats _ u0 lag v0 need cut_u behind) as state.
            rewrite (free_repeats M G ref r c L Repeats _ inside), <- free_small in state by exact inside.
            rewrite <- agree in state.
            destruct (Z.le_gt_cases (s v0) (last_end M s (front G (device v0) r ++ x))) as [soon | later_]; [auto |].
            left. exists (later (c * K) u0), lag. split; [exact moved |]. rewrite (extended_before _ cut_large).
            rewrite is_v, extended_behind by exact behind.
            change (time_of (model_at M G (q + c)) (later (c * K) u0)) with (time_of M u0). lia.
          * assert (behind_u : ~ before_cut M G r u0) by (rewrite <- cut_decided; congruence).
            left. exists (later (c * K) u0), lag. split; [exact moved |].
            rewrite is_v, !extended_behind by assumption.
            change (time_of (model_at M G (q + c)) (later (c * K) u0)) with (time_of M u0). lia.
        + apply by_order. assert (mine : device v0 = d).
          { apply (Whole q d inside_d). rewrite shape_d, in_app_iff. cbn. auto. }
          subst d. destruct (Whole q (device v0) inside_d) as [once _]. rewrite small_is, app_assoc in shape_d, once.
          destruct (NoDup_split _ _ _ _ _ _ once shape_d) as [same _]. rewrite same. exact soon.
    Qed.

    (** Every device ends L later. *)
    Theorem extended_ends : forall d, (d < devices M)%nat ->
      last_end M extended (order G (q + c) d) = last_end M s (order G q d) + L.
    Proof.
      intros d inside. rewrite (order_is d (r + c) (q + c) ltac:(lia)), (back_moved d r c q Less), (order_is d r q Less).
      apply (free_moved d _ []); [exact inside |]. rewrite app_nil_r. reflexivity.
    Qed.
  End Times.
End Step.

(** A block of K microbatches has K cool-downs, one for each remainder of m. The repetition is looked for with one of them, and is
    there with all. *)
Theorem repeats_with_every_tail : forall M G b l, let H := with_tail G b l in
  well_formed M -> repeatable M G -> repeatable M H ->
  (forall q, complete (model_at M G q) (order G q)) -> (forall q, complete (model_at M H q) (order H q)) ->
  forall r c L q n s t, (r + c <= q)%nat -> (r + c <= n)%nat ->
  as_soon_as_possible (model_at M G q) (order G q) s -> as_soon_as_possible (model_at M H n) (order H n) t ->
  repeats M G s r c L -> repeats M H t r c L.
Proof.
  intros M G b l H well again again_H whole whole_H r c L q n s t less_q less_n soon_s soon_t state.
  assert (back_ : with_tail H (base G) (tail G) = G) by (destruct G; reflexivity).
  assert (same : forall d p, (d < devices M)%nat -> In p (front G d (r + c)) -> s p = t p).
  { intros d p inside there. apply Z.le_antisymm.
    - apply (before_is_least_with M G well again whole b l again_H whole_H (r + c) q n s t less_q less_n soon_s (proj1 soon_t) d p
        inside there).
    - apply (before_is_least_with M H well again_H whole_H (base G) (tail G)) with (k := (r + c)%nat) (q := n) (n := q) (d := d);
        rewrite ?back_; try assumption; apply soon_s. }
  assert (smaller : forall d p, In p (front G d r) -> In p (front G d (r + c))).
  { intros d p there. unfold front in *. rewrite bodies_add, !in_app_iff in *. tauto. }
  assert (free_r : forall d, (d < devices M)%nat -> last_end M t (front G d r) = last_end M s (front G d r)).
  { intros d inside. symmetry. apply last_end_from_ext. intros p there. apply (same d); auto. }
  assert (free_c : forall d, (d < devices M)%nat -> last_end M t (front G d (r + c)) = last_end M s (front G d (r + c))).
  { intros d inside. symmetry. apply last_end_from_ext. intros p there. apply (same d); auto. }
  destruct state as [low free_ pending_]. constructor; [exact low | |].
  - intros d inside. change (front H) with (front G). rewrite free_r, free_c by exact inside. apply free_. exact inside.
  - intros m u lag v need cut behind. change (front H) with (front G). change (period H) with (period G).
    destruct (need_ends_exist (resized M m) u lag v well need) as [there_u there_v].
    assert (home_u : (device_of M (stage_of u) < devices M)%nat) by (apply well; apply there_u).
    assert (home_v : (device_of M (stage_of v) < devices M)%nat) by (apply well; apply there_v).
    rewrite free_r, free_c by exact home_v.
    rewrite <- (same _ u home_u), <- (same _ (later (c * period G) u) home_u).
    + apply (pending_ m); assumption.
    + apply (all_in_front M G well again whole (r + c) (later (c * period G) u)); [apply there_u |].
      apply (cut_later M G again). exact cut.
    + apply smaller. apply (all_in_front M G well again whole r u); [apply there_u | exact cut].
Qed.

(** ** Makespan, device span and peak for every number of microbatches *)

Definition makespan_of (M : model) (S : schedule) (start : pass -> Z) : Z :=
  fold_right Z.max 0 (map (fun d => last_end M start (S d)) (seq 0 (devices M))).

(** x is the least makespan of a schedule: an execution has it, and none has less. *)
Definition least_makespan (M : model) (S : schedule) (x : Z) : Prop :=
  (exists start, runs M S start /\ makespan_at_most M S start x) /\
  (forall start y, runs M S start -> makespan_at_most M S start y -> x <= y).

Definition spans_at_most (M : model) (S : schedule) (start : pass -> Z) (x : Z) : Prop :=
  forall d, (d < devices M)%nat -> span_at_most M S start d x.

(** x is the device span of a schedule: an execution keeps every device within it, and none does with less. *)
Definition least_device_span (M : model) (S : schedule) (x : Z) : Prop :=
  (exists start, runs M S start /\ spans_at_most M S start x) /\
  (forall start y, runs M S start -> spans_at_most M S start y -> x <= y).

Definition first_start (start : pass -> Z) (l : list pass) : Z :=
  match l with
  | [] => 0
  | p :: _ => start p
  end.

(** From the start of the first pass of a device to the end of its last. *)
Definition span_of (M : model) (S : schedule) (start : pass -> Z) (d : nat) : Z :=
  last_end M start (S d) - first_start start (S d).

Lemma max_above : forall l x, In x l -> x <= fold_right Z.max 0 l.
Proof. intros l. induction l as [| y l IH]; intros x []; cbn; [lia |]. specialize (IH x H). lia. Qed.

Lemma max_nonneg : forall l, 0 <= fold_right Z.max 0 l.
Proof. intros l. induction l as [| y l IH]; cbn; lia. Qed.

Lemma max_below : forall l y, 0 <= y -> (forall x, In x l -> x <= y) -> fold_right Z.max 0 l <= y.
Proof.
  intros l. induction l as [| x l IH]; intros y some each; cbn; [exact some |].
  assert (x <= y) by (apply each; left; reflexivity).
  assert (fold_right Z.max 0 l <= y) by (apply IH; [exact some |]; intros z there; apply each; right; exact there).
  lia.
Qed.

Lemma max_moved : forall (A : Type) (f g : A -> Z) L l, 0 <= L -> l <> [] -> (forall a, In a l -> 0 <= f a /\ g a = f a + L) ->
  fold_right Z.max 0 (map g l) = fold_right Z.max 0 (map f l) + L.
Proof.
  intros A f g L l some. induction l as [| a l IH]; intros any each; [congruence |].
  destruct (each a (or_introl eq_refl)) as [low moved]. cbn. destruct l as [| b l]; [cbn; lia |].
  rewrite IH; [lia | discriminate |]. intros x there. apply each. right. exact there.
Qed.

Section Figures.
  Variable M : model.
  Variable S : schedule.
  Hypothesis Well : well_formed M.
  Hypothesis Complete : complete M S.
  Hypothesis Some_microbatch : (0 < microbatches M)%nat.

  Lemma at_home : forall p, exists_in M p -> (device_of M (stage_of p) < devices M)%nat /\ In p (S (device_of M (stage_of p))).
  Proof.
    intros p there. assert (inside : (device_of M (stage_of p) < devices M)%nat) by (apply Well; apply there).
    split; [exact inside |]. apply (Complete _ inside). auto.
  Qed.

  (** The last end as soon as possible is the least makespan. *)
  Theorem least_makespan_is : forall start, as_soon_as_possible M S start -> least_makespan M S (makespan_of M S start).
  Proof.
    intros start soon. split.
    - exists start. split; [apply soon |]. intros d inside p there.
      pose proof (last_end_covers M S start Well (proj1 soon) d p inside there) as covered.
      assert (last_end M start (S d) <= makespan_of M S start).
      { apply max_above. apply (in_map (fun d => last_end M start (S d))). apply in_seq. lia. }
      change (duration (problem_of M) p) with (time_of M p). lia.
    - intros other y run ends. assert (times : forall p, 0 <= time_of M p) by (intros [k s m]; apply Well).
      apply max_below.
      + destruct Well as [positive _]. destruct (at_home (Pass F 0 0)) as [inside there]; [split; cbn; assumption |].
        specialize (ends _ inside _ there). pose proof (start_nonneg M S other run (Pass F 0 0)). specialize (times (Pass F 0 0)).
        change (duration (problem_of M) (Pass F 0 0)) with (time_of M (Pass F 0 0)) in ends. lia.
      + intros x there. apply in_map_iff in there. destruct there as [d [same range]]. apply in_seq in range. subst x.
        assert (inside : (d < devices M)%nat) by lia.
        destruct (last_case _ (S d)) as [none | [a [u shape]]].
        * rewrite none. cbn. destruct Well as [positive _].
          destruct (at_home (Pass F 0 0)) as [inside_0 there]; [split; cbn; assumption |].
          specialize (ends _ inside_0 _ there). pose proof (start_nonneg M S other run (Pass F 0 0)).
          specialize (times (Pass F 0 0)).
          change (duration (problem_of M) (Pass F 0 0)) with (time_of M (Pass F 0 0)) in ends. lia.
        * rewrite shape, last_end_snoc. assert (there : In u (S d)) by (rewrite shape, in_app_iff; cbn; auto).
          specialize (ends d inside u there). change (duration (problem_of M) u) with (time_of M u) in ends.
          assert (start u <= other u); [| lia].
          apply (as_soon_as_possible_is_least M S start other Well Complete soon run). apply (Complete d inside). exact there.
  Qed.

  Notation first_device := (device_of M 0).

  (** No pass starts before the first pass of the device of stage 0. *)
  Lemma all_after_first : forall t, runs M S t -> forall p, exists_in M p -> first_start t (S first_device) <= t p.
  Proof.
    intros t run. destruct Well as [positive [_ [times [latencies _]]]].
    assert (later_ : forall u lag v, pass_needs M u lag v -> t u <= t v).
    { intros u lag v need. pose proof (need_respected M S t Well run u lag v need). specialize (times (kind_of u) (stage_of u)).
      unfold time_of in *.
      assert (0 <= lag) by (destruct need; auto; lia). lia. }
    assert (forward : forall s m, (s < stages M)%nat -> (m < microbatches M)%nat ->
      first_start t (S first_device) <= t (Pass F s m)).
    { intros s. induction s as [| s IH]; intros m one two.
      - destruct (at_home (Pass F 0 m)) as [inside there]; [split; assumption |]. cbn in inside, there.
        pose proof (device_one_at_a_time M S t Well run first_device inside) as ordered.
        destruct (S first_device) as [| f rest]; [destruct there |]. cbn in ordered |- *.
        destruct there as [same | there]; [subst; lia |]. destruct ordered as [each _]. specialize (each _ there).
        specialize (times (kind_of f) (stage_of f)). change (time_of M f) with (time M (kind_of f) (stage_of f)) in each. lia.
      - specialize (IH m ltac:(lia) two). pose proof (later_ _ _ _ (F_needs_F M s m one two)). lia. }
    assert (backward : forall n s m, (stages M - 1 - s = n)%nat -> (s < stages M)%nat -> (m < microbatches M)%nat ->
      first_start t (S first_device) <= t (Pass I s m)).
    { intros n. induction n as [| n IH]; intros s m far one two.
      - assert (s = stages M - 1)%nat by lia. subst s. pose proof (later_ _ _ _ (I_needs_F M m two)).
        specialize (forward (stages M - 1)%nat m one two). lia.
      - specialize (IH (1 + s)%nat m ltac:(lia) ltac:(lia) two). pose proof (later_ _ _ _ (I_needs_I M s m ltac:(lia) two)).
        cbn in IH. lia. }
    intros [[] s m] [one two]; cbn in one, two.
    - apply forward; assumption.
    - apply (backward (stages M - 1 - s)%nat); [reflexivity | exact one | exact two].
    - pose proof (backward (stages M - 1 - s)%nat s m eq_refl one two). pose proof (later_ _ _ _ (W_needs_I M s m one two)). lia.
  Qed.

  (** Counted from the first start of the device of stage 0, no execution has a pass earlier than the one as soon as possible. *)
  Lemma least_after_first : forall s t, as_soon_as_possible M S s -> runs M S t ->
    forall p, exists_in M p -> s p + first_start t (S first_device) <= t p.
  Proof.
    intros s t [run tightly] again p there. destruct (proj2 run) as [place sooner].
    set (z := first_start t (S first_device)).
    assert (claim : s p <= Z.max 0 (t p - z)).
    { apply (least_on (exists_in M) s (fun p => Z.max 0 (t p - z)) place); [intros v; lia | | exact there].
      intros v there_v. destruct (tightly v there_v) as [[u [lag [need exact_]]] | [d [done [rest [inside [shape soon]]]]]].
      - right. exists u, (time_of M u + lag). pose proof (waits_of_need M S u lag v Well need) as waiting.
        destruct (need_ends_exist M u lag v Well need) as [there_u _].
        split; [exact there_u |]. split; [apply (sooner _ _ _ waiting) |]. split; [lia |].
        pose proof (proj2 (proj1 again) _ _ _ waiting). pose proof (all_after_first t again u there_u). unfold z. lia.
      - destruct (last_case _ done) as [none | [a [u same]]]; subst; [left; exact soon |]. right.
        rewrite last_end_snoc in soon. exists u, (time_of M u).
        assert (next : follows (S d) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
        pose proof (waits_of_order M S d u v inside next) as waiting.
        assert (there_u : exists_in M u) by (apply (Complete d inside); rewrite shape, !in_app_iff; cbn; auto).
        split; [exact there_u |]. split; [apply (sooner _ _ _ waiting) |]. split; [exact soon |].
        pose proof (proj2 (proj1 again) _ _ _ waiting). pose proof (all_after_first t again u there_u). unfold z. lia. }
    pose proof (all_after_first t again p there). unfold z in claim. lia.
  Qed.

  Lemma first_start_least : forall t d p, runs M S t -> (d < devices M)%nat -> In p (S d) -> first_start t (S d) <= t p.
  Proof.
    intros t d p run inside there. pose proof (device_one_at_a_time M S t Well run d inside) as ordered.
    destruct (S d) as [| f rest]; [destruct there |]. cbn in *. destruct there as [same | there]; [subst; lia |].
    destruct ordered as [each _]. specialize (each _ there). destruct Well as [_ [_ [times _]]].
    specialize (times (kind_of f) (stage_of f)). unfold time_of in each. lia.
  Qed.

  (** Where the device of stage 0 has the largest span as soon as possible, that is the device span. *)
  Theorem least_device_span_is : forall s, as_soon_as_possible M S s ->
    (forall d, (d < devices M)%nat -> span_of M S s d <= span_of M S s first_device) ->
    least_device_span M S (span_of M S s first_device).
  Proof.
    intros s soon longest. split.
    - exists s. split; [apply soon |]. intros d inside p q there_p there_q. specialize (longest d inside).
      unfold span_of in longest at 1.
      pose proof (last_end_covers M S s Well (proj1 soon) d q inside there_q).
      pose proof (first_start_least s d p (proj1 soon) inside there_p). lia.
    - intros t y run within. destruct (at_home (Pass F 0 0)) as [inside there]; [split; cbn; [apply Well | assumption] |].
      cbn in inside, there. specialize (within first_device inside).
      destruct (last_case _ (S first_device)) as [none | [a [v shape]]]; [rewrite none in there; destruct there |].
      unfold span_of. assert (ends : last_end M s (S first_device) = s v + time_of M v) by (rewrite shape; apply last_end_snoc).
      rewrite ends. clear ends.
      assert (there_v : In v (S first_device)) by (rewrite shape, in_app_iff; cbn; auto).
      destruct (S first_device) as [| f rest] eqn:order_; [destruct there |].
      assert (there_f : In f (S first_device)) by (rewrite order_; left; reflexivity).
      rewrite <- order_ in there_v. specialize (within f v there_f there_v).
      pose proof (least_after_first s t soon run v) as late. rewrite order_ in late. cbn [first_start] in late |- *.
      assert (exists_v : exists_in M v) by (apply (Complete first_device inside); exact there_v). specialize (late exists_v).
      pose proof (start_nonneg M S s (proj1 soon) f). lia.
  Qed.
End Figures.

Lemma peak_from_app : forall M, well_formed M -> forall a b now,
  peak_from M now (a ++ b) = Z.max (peak_from M now a) (peak_from M (now + kept M a) b).
Proof.
  intros M well a. assert (some : forall l now, now <= peak_from M now l).
  { assert (acquired : forall p, 0 <= acquires M p).
    { intros [[] s m]; cbn; try lia. destruct well as [_ [_ [_ [_ holds]]]]. specialize (holds s). unfold acquires. cbn. lia. }
    intros l now. destruct l as [| p l]; cbn; [lia |]. specialize (acquired p). lia. }
  induction a as [| p a IH]; intros b now; cbn.
  - unfold kept. cbn. rewrite Z.add_0_r. pose proof (some b now). lia.
  - rewrite IH. unfold kept. cbn. fold (kept M a).
    replace (now + acquires M p - releases M p + kept M a) with (now + (acquires M p - releases M p + kept M a)) by lia.
    unfold kept. rewrite Z.max_assoc. reflexivity.
Qed.

Lemma peak_from_later : forall M n l now, peak_from M now (map (later n) l) = peak_from M now l.
Proof. intros M n l. induction l as [| p l IH]; intros now; [reflexivity |]. cbn. rewrite IH. reflexivity. Qed.

Lemma kept_later : forall M n l, kept M (map (later n) l) = kept M l.
Proof. intros M n l. unfold kept. induction l as [| p l IH]; [reflexivity |]. cbn. rewrite IH. reflexivity. Qed.

Lemma kept_app : forall M a b, kept M (a ++ b) = kept M a + kept M b.
Proof. intros M a b. apply sum_app. Qed.

Lemma kept_resized : forall M m l, kept (resized M m) l = kept M l.
Proof. reflexivity. Qed.

Lemma peak_from_resized : forall M m l now, peak_from (resized M m) now l = peak_from M now l.
Proof. intros M m l. induction l as [| p l IH]; intros now; [reflexivity |]. cbn. rewrite IH. reflexivity. Qed.

(** A peak within the capacity is all that memory asks. *)
Lemma peak_covers : forall M, well_formed M -> forall done p rest, held M done p <= peak M (done ++ p :: rest).
Proof.
  intros M well done p rest. unfold peak, held. rewrite (peak_from_app M well). cbn. lia.
Qed.

(** All passes of a device. *)
Definition all_passes (M : model) (d : nat) : list pass :=
  flat_map (fun s => flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M)))
    (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M))).

Lemma in_all_passes : forall M d p, In p (all_passes M d) <-> exists_in M p /\ device_of M (stage_of p) = d.
Proof.
  intros M d [k s m]. unfold all_passes, exists_in. rewrite in_flat_map. cbn [stage_of microbatch_of]. split.
  - intros [s' [range there]]. apply filter_In in range. destruct range as [range mine]. apply in_seq in range.
    apply Nat.eqb_eq in mine.
    apply in_flat_map in there. destruct there as [m' [range' there]]. apply in_seq in range'.
    cbn in there. destruct there as [same | [same | [same | []]]]; inversion same; subst; lia.
  - intros [[one two] mine]. exists s. split; [apply filter_In; split; [apply in_seq; lia | apply Nat.eqb_eq; exact mine] |].
    apply in_flat_map. exists m. split; [apply in_seq; lia |]. destruct k; cbn; auto.
Qed.

Lemma NoDup_all_passes : forall M d, NoDup (all_passes M d).
Proof.
  intros M d. unfold all_passes.
  assert (stages_ : NoDup (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M)))) by (apply NoDup_filter;
    apply seq_NoDup).
  assert (stage_ : forall s, NoDup (flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M)))).
  { intros s. pose proof (seq_NoDup (microbatches M) 0) as all. induction all as [| m k fresh others IHm]; [constructor |].
    cbn [flat_map].
    apply NoDup_join; [repeat constructor; cbn; intuition discriminate | exact IHm |].
    intros p one two. apply in_flat_map in two. destruct two as [m' [there two]].
    assert (microbatch_of p = m) by (cbn in one; intuition (subst; reflexivity)).
    assert (microbatch_of p = m') by (cbn in two; intuition (subst; reflexivity)). subst. contradiction. }
  induction stages_ as [| s l new rest IH]; [constructor |]. cbn [flat_map]. apply NoDup_join; [apply stage_ | exact IH |].
  - intros p one two. apply in_flat_map in one. destruct one as [m [_ one]]. apply in_flat_map in two.
    destruct two as [s' [there two]].
    apply in_flat_map in two. destruct two as [m' [_ two]].
    assert (stage_of p = s) by (cbn in one; intuition (subst; reflexivity)).
    assert (stage_of p = s') by (cbn in two; intuition (subst; reflexivity)). subst. contradiction.
Qed.

(** At its end a device holds nothing. *)
Lemma kept_complete : forall M S d, complete M S -> (d < devices M)%nat -> kept M (S d) = 0.
Proof.
  intros M S d whole inside. destruct (whole d inside) as [once members].
  assert (same : Permutation (S d) (all_passes M d)).
  { apply NoDup_Permutation; [exact once | apply NoDup_all_passes |]. intros p. rewrite in_all_passes. apply members. }
  unfold kept. rewrite (sum_permutation _ _ _ same). unfold all_passes. rewrite sum_flat_map.
  assert (none : forall s, sum (fun p => acquires M p - releases M p)
    (flat_map (fun m => [Pass F s m; Pass I s m; Pass W s m]) (seq 0 (microbatches M))) = 0).
  { intros s. induction (seq 0 (microbatches M)) as [| m l IH]; [reflexivity |].
    cbn [flat_map]. rewrite sum_app, IH. cbn. lia. }
  induction (filter (fun s => Nat.eqb (device_of M s) d) (seq 0 (stages M))) as [| s l IH]; [reflexivity |].
  change (sum (fun b => sum (fun p => acquires M p - releases M p)
    (flat_map (fun m => [Pass F b m; Pass I b m; Pass W b m]) (seq 0 (microbatches M)))) (s :: l) = 0).
  simpl sum at 1. rewrite none. exact IH.
Qed.

Section Every.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Variable Q : nat.
  Hypothesis Some_repetition : (1 <= Q)%nat.
  Hypothesis Whole : complete (model_at M G Q) (order G Q).

  (** Free of deadlock with every number of repetitions. *)
  Theorem runs_for_every_m : (exists start, runs (model_at M G Q) (order G Q) start) ->
    forall q, exists start, runs (model_at M G q) (order G q) start.
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros [start run] q. assert (placed : exists place, sequence_at M G q place).
    { destruct (Nat.le_gt_cases Q q) as [less | fewer].
      2: { apply (sequence_down M G Well Repeatable all q Q); [lia | apply run]. }
      replace q with (Q + (q - Q))%nat by lia. induction (q - Q)%nat as [| n IH].
      - rewrite Nat.add_0_r. apply run.
      - replace (Q + S n)%nat with (Q + n + 1)%nat by lia.
        apply (sequence_step M G Well Repeatable all 0 1 (Q + n) (Q + n)); [lia | lia | exact IH | exact IH]. }
    destruct placed as [place sooner].
    set (P := problem_of (model_at M G q)).
    set (longest := fold_right Z.max 0 (map (fun n => duration P (fst (fst n)) + snd (fst n)) (needs P)
      ++ map (duration P) (flat_map (order G q) (seq 0 (devices M))))).
    exists (fun p => longest * Z.of_nat (place p)). split; [| exists place; exact sooner].
    assert (some : 0 <= longest) by apply max_nonneg. split.
    - intros u. apply Z.mul_nonneg_nonneg; lia.
    - intros u w v waiting. pose proof (sooner u w v waiting) as next. assert (w <= longest); [| nia].
      destruct waiting as [u lag v need | l u v there shape]; apply max_above; apply in_app_iff.
      + left. apply (in_map (fun n => duration P (fst (fst n)) + snd (fst n)) (needs P) (u, lag, v)). exact need.
      + right. apply in_map. apply in_map_iff in there. destruct there as [d [same range]]. apply in_flat_map. exists d.
        split; [exact range |]. rewrite same. destruct shape as [a [b shape]]. rewrite shape, in_app_iff. cbn. auto.
  Qed.

  Lemma kept_body : forall d, (d < devices M)%nat -> kept M (body G d) = 0.
  Proof.
    intros d inside. pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    pose proof (kept_complete _ _ d (all 0%nat) inside) as without. pose proof (kept_complete _ _ d (all 1%nat) inside) as with_.
    unfold order, bodies in without, with_. cbn [seq flat_map] in without, with_.
    rewrite !kept_app, !kept_later in without, with_. unfold model_at in without, with_. rewrite !kept_resized in without, with_.
    change (kept M []) with 0 in *. rewrite app_nil_r, kept_later in with_. lia.
  Qed.

  Lemma peak_of_order : forall d q, (d < devices M)%nat ->
    peak M (order G (S q) d) = peak M (order G 1 d) /\ peak M (order G 0 d) <= peak M (order G 1 d).
  Proof.
    intros d q inside. pose proof (kept_body d inside) as none.
    assert (bodies_ : forall n now, kept M (bodies G d n) = 0 /\
      peak_from M now (bodies G d (S n)) = peak_from M now (body G d)).
    { intros n now. induction n as [| n [IH1 IH2]].
      - split; [reflexivity |]. unfold bodies. cbn [seq flat_map]. rewrite app_nil_r. apply peak_from_later.
      - assert (zero : kept M (bodies G d (S n)) = 0) by (rewrite bodies_next, kept_app, kept_later; lia).
        split; [exact zero |]. rewrite bodies_next, (peak_from_app M Well), IH2, zero, peak_from_later, Z.add_0_r. lia. }
    assert (shape : forall n, peak M (order G (S n) d) =
      Z.max (peak M (head G d)) (Z.max (peak_from M (kept M (head G d)) (body G d)) (peak_from M (kept M (head G d)) (tail G d)))).
    { intros n. unfold order, peak. rewrite !(peak_from_app M Well), peak_from_later. cbn [Z.add].
      rewrite (proj2 (bodies_ n _)), (proj1 (bodies_ (S n) 0)), Z.add_0_r. reflexivity. }
    split; [rewrite !shape; reflexivity |]. rewrite shape. unfold order, peak, bodies. cbn [seq flat_map app].
    rewrite (peak_from_app M Well), peak_from_later. cbn [Z.add]. lia.
  Qed.

  (** The peak of every device is that of one repetition. *)
  Theorem peak_for_every_m : forall d q, (d < devices M)%nat -> (1 <= q)%nat ->
    peak (model_at M G q) (order G q d) = peak M (order G 1 d).
  Proof.
    intros d q inside some. unfold peak. unfold model_at. rewrite peak_from_resized. destruct q as [| q]; [lia |].
    apply (peak_of_order d q inside).
  Qed.

  (** Within the capacities with one repetition, within them with any number. *)
  Theorem within_capacity_for_every_m :
    (forall d limit, (d < devices M)%nat -> capacity M d = Some limit -> peak M (order G 1 d) <= limit) ->
    forall q, within_capacity (model_at M G q) (order G q).
  Proof.
    intros fits q d limit inside bounded_ done p rest shape. cbn in inside, bounded_. specialize (fits d limit inside bounded_).
    pose proof (peak_covers (model_at M G q) (resized_well M _ Well) done p rest) as covered. rewrite <- shape in covered.
    unfold peak, model_at in covered. rewrite peak_from_resized in covered. fold (peak M (order G q d)) in covered.
    apply (Z.le_trans _ _ _ covered). destruct q as [| q].
    - pose proof (proj2 (peak_of_order d 0 inside)). lia.
    - pose proof (proj1 (peak_of_order d q inside)). lia.
  Qed.

  (** *** The formula of the makespan *)

  Variable ref : pass -> Z.
  Variables r c : nat.
  Variable L : Z.
  Hypothesis Enough : (r + c <= Q)%nat.
  Hypothesis Some_more : (1 <= c)%nat.
  Hypothesis Reference : as_soon_as_possible (model_at M G Q) (order G Q) ref.
  Hypothesis Repeats : repeats M G ref r c L.

  (** After n times c more repetitions, an execution as soon as possible ends n times L later on every device. *)
  Theorem ends_for_every_m : forall q s, (r <= q)%nat -> as_soon_as_possible (model_at M G q) (order G q) s ->
    forall n, exists t, as_soon_as_possible (model_at M G (q + n * c)) (order G (q + n * c)) t /\
      (forall d, (d < devices M)%nat -> last_end M t (order G (q + n * c) d) = last_end M s (order G q d) + Z.of_nat n * L) /\
      (forall d, (d < devices M)%nat -> front G d r <> [] -> first_start t (order G (q + n * c) d) = first_start s (order G q d)).
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros q s less soon n. induction n as [| n [t [soon_t [ends firsts]]]].
    - exists s. rewrite Nat.mul_0_l, Nat.add_0_r. split; [exact soon |]. split; intros; [lia | reflexivity].
    - replace (q + S n * c)%nat with (q + n * c + c)%nat by lia. assert (more : (r <= q + n * c)%nat) by lia.
      exists (extended M G r c L t ref).
      assert (next : as_soon_as_possible (model_at M G (q + n * c + c)) (order G (q + n * c + c)) (extended M G r c L t ref))
        by (apply (extended_as_soon_as_possible M G Well Repeatable all r c (q + n * c) Q); assumption).
      split; [exact next |]. split.
      + intros d inside. rewrite (extended_ends M G Well Repeatable all r c (q + n * c) Q L t ref) by assumption.
        rewrite ends by exact inside. lia.
      + intros d inside some. rewrite <- (firsts d inside some).
        rewrite (order_is G d r (q + n * c) more). rewrite (order_is G d r (q + n * c + c)) by lia.
        destruct (front G d r) as [| f l] eqn:front_; [congruence |]. cbn.
        apply (before_is_same M G Well Repeatable all r (q + n * c + c) (q + n * c) _ _ ltac:(lia) more next soon_t d f inside).
        rewrite front_. left. reflexivity.
  Qed.

  Theorem makespan_for_every_m : forall q s, (r <= q)%nat -> (0 < size G q)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s ->
    forall n, least_makespan (model_at M G (q + n * c)) (order G (q + n * c)) (makespan_of M (order G q) s + Z.of_nat n * L).
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros q s less some soon n. destruct (ends_for_every_m q s less soon n) as [t [soon_t [ends _]]].
    replace (makespan_of M (order G q) s + Z.of_nat n * L) with (makespan_of (model_at M G (q + n * c)) (order G (q + n * c)) t).
    - apply least_makespan_is; [apply resized_well; exact Well | apply all | cbn; unfold size in *; lia | exact soon_t].
    - unfold makespan_of. cbn [devices model_at resized]. apply max_moved.
      + pose proof (not_sooner M G ref r c L Repeats). lia.
      + destruct Well as [positive [owners _]]. specialize (owners 0%nat positive). destruct (devices M); [lia | discriminate].
      + intros d range. apply in_seq in range. split.
        * apply (last_end_nonneg (model_at M G q) (order G q) s (resized_well M _ Well) (proj1 soon)).
        * apply ends. lia.
  Qed.

  (** The same of the device span, where the device of stage 0 has the largest span as soon as possible. *)
  Theorem device_span_for_every_m : forall q s, (r <= q)%nat -> (0 < size G q)%nat ->
    as_soon_as_possible (model_at M G q) (order G q) s ->
    (forall d, (d < devices M)%nat -> front G d r <> []) ->
    (forall d, (d < devices M)%nat -> span_of M (order G q) s d <= span_of M (order G q) s (device_of M 0)) ->
    forall n, least_device_span (model_at M G (q + n * c)) (order G (q + n * c)) (span_of M (order G q) s (device_of M 0) +
      Z.of_nat n * L).
  Proof.
    pose proof (complete_for_every_m M G Well Repeatable Q Some_repetition Whole) as all.
    intros q s less some soon begun longest n. destruct (ends_for_every_m q s less soon n) as [t [soon_t [ends firsts]]].
    assert (first_inside : (device_of M 0 < devices M)%nat) by (destruct Well as [positive [owners _]]; apply owners;
      exact positive).
    assert (moved : forall d, (d < devices M)%nat ->
      span_of (model_at M G (q + n * c)) (order G (q + n * c)) t d = span_of M (order G q) s d + Z.of_nat n * L).
    { intros d inside. unfold span_of. change (last_end (model_at M G (q + n * c))) with (last_end M).
      rewrite ends, firsts by auto. lia. }
    rewrite <- moved by exact first_inside.
    apply (least_device_span_is (model_at M G (q + n * c)) (order G (q + n * c)) (resized_well M _ Well) (all _)).
    - cbn. unfold size in *. lia.
    - exact soon_t.
    - intros d inside. cbn in inside. change (device_of (model_at M G (q + n * c)) 0) with (device_of M 0).
      rewrite !moved by assumption. specialize (longest d inside). lia.
  Qed.
End Every.

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

(** ** A state always comes again *)

(** *** Every schedule without a deadlock has an execution as soon as possible *)

Fixpoint run_before (l : list pass) (v : pass) : option pass :=
  match l with
  | a :: rest =>
    match rest with
    | b :: _ => if same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v) then Some a else run_before rest v
    | [] => None
    end
  | [] => None
  end.

Lemma same_pass : forall b v, same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v) = true <-> b = v.
Proof.
  intros [k s m] [k' s' m']. rewrite andb_true_iff, same_slot_iff, Nat.eqb_eq. cbn. split.
  - intros [[one [two _]] three]. congruence.
  - intros same. inversion same. auto.
Qed.

Lemma run_before_follows : forall l u v, run_before l v = Some u -> follows l u v.
Proof.
  intros l. induction l as [| a l IH]; intros u v found; [discriminate |]. cbn [run_before] in found.
  destruct l as [| b l]; [discriminate |].
  destruct (same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v)) eqn:same.
  - apply same_pass in same. inversion found; subst. exists [], l. reflexivity.
  - destruct (IH u v found) as [x [y shape]]. exists (a :: x), y. rewrite shape. reflexivity.
Qed.

Lemma follows_run_before : forall l u v, NoDup l -> follows l u v -> run_before l v = Some u.
Proof.
  intros l. induction l as [| a l IH]; intros u v once [x [y shape]]; [destruct x; discriminate |].
  inversion once as [| z k new rest]; subst. cbn [run_before]. destruct x as [| c x]; cbn in shape; inversion shape; subst.
  - rewrite (proj2 (same_pass v v) eq_refl). reflexivity.
  - destruct (x ++ u :: v :: y) as [| b k] eqn:what; [destruct x; discriminate |].
    destruct (same_slot 0 b v && Nat.eqb (microbatch_of b) (microbatch_of v)) eqn:same.
    + apply same_pass in same. subst b. exfalso. destruct x as [| e x]; cbn in what; inversion what; subst.
      * inversion rest as [| z l fresh others]; subst. apply fresh. left. reflexivity.
      * inversion rest as [| z l fresh others]; subst. apply fresh. rewrite in_app_iff. cbn. auto.
    + apply IH; [exact rest |]. exists x, y. symmetry. exact what.
Qed.

(** What a pass waits for, and how long after the start of that. *)
Definition waits_for (M : model) (S : schedule) (v : pass) : list (pass * Z) :=
  if Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M) then
    map (fun n => (fst n, time_of M (fst n) + snd n)) (needs_into M v) ++
    match run_before (S (device_of M (stage_of v))) v with Some u => [(u, time_of M u)] | None => [] end
  else [].

Fixpoint earliest (M : model) (S : schedule) (fuel : nat) (v : pass) : Z :=
  match fuel with
  | O => 0
  | S fuel => fold_right Z.max 0 (map (fun n => earliest M S fuel (fst n) + snd n) (waits_for M S v))
  end.

Lemma max_reached : forall l, fold_right Z.max 0 l = 0 \/ In (fold_right Z.max 0 l) l.
Proof.
  intros l. induction l as [| x l IH]; [left; reflexivity |]. cbn.
  destruct (Z.le_gt_cases x (fold_right Z.max 0 l)) as [low | high].
  - rewrite Z.max_r by exact low. destruct IH as [zero | there]; auto.
  - rewrite Z.max_l by lia. auto.
Qed.

Lemma exists_decided : forall M v, Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M) = true <->
  exists_in M v.
Proof. intros M v. rewrite andb_true_iff, !Nat.ltb_lt. reflexivity. Qed.

Theorem as_soon_as_possible_exists : forall M S, well_formed M -> complete M S ->
  (exists place, sequence (problem_of M) (orders_of M S) place) -> exists start, as_soon_as_possible M S start.
Proof.
  intros M S well whole [place sooner].
  assert (waiting : forall u w v, In (u, w) (waits_for M S v) ->
    exists_in M v /\ ((exists lag, pass_needs M u lag v /\ w = time_of M u + lag) \/
      (follows (S (device_of M (stage_of v))) u v /\ w = time_of M u))).
  { intros u w v there. unfold waits_for in there.
    destruct (Nat.ltb (stage_of v) (stages M) && Nat.ltb (microbatch_of v) (microbatches M)) eqn:inside; [| destruct there].
    apply exists_decided in inside. split; [exact inside |]. rewrite in_app_iff in there. destruct there as [there | there].
    - left. apply in_map_iff in there. destruct there as [[x lag] [same there]]. cbn in same. inversion same; subst.
      exists lag. split; [apply needs_into_iff; assumption | reflexivity].
    - right. destruct (run_before (S (device_of M (stage_of v))) v) as [x |] eqn:found; [| destruct there].
      destruct there as [same | []]. inversion same; subst. split; [apply run_before_follows; exact found | reflexivity]. }
  assert (really : forall u w v, In (u, w) (waits_for M S v) -> waits (problem_of M) (orders_of M S) u w v).
  { intros u w v there. destruct (waiting u w v there) as [inside [[lag [need same]] | [next same]]]; subst w.
    - apply waits_of_need; assumption.
    - apply (waits_of_order M S (device_of M (stage_of v))); [apply well; apply inside | exact next]. }
  assert (stable : forall bound v n, (place v < bound)%nat -> (place v < n)%nat ->
    earliest M S n v = earliest M S (Datatypes.S (place v)) v).
  { intros bound. induction bound as [| bound IH]; intros v n low enough; [lia |]. destruct n as [| n]; [lia |]. cbn [earliest].
    f_equal.
    apply map_ext_in. intros [u w] there. cbn [fst snd]. pose proof (sooner u w v (really u w v there)) as less.
    rewrite (IH u n) by lia. rewrite (IH u (place v)) by lia. reflexivity. }
  set (start := fun v => earliest M S (Datatypes.S (place v)) v).
  assert (start_is : forall v, start v = fold_right Z.max 0 (map (fun n => start (fst n) + snd n) (waits_for M S v))).
  { intros v. unfold start at 1. cbn [earliest]. f_equal. apply map_ext_in. intros [u w] there. cbn [fst snd].
    pose proof (sooner u w v (really u w v there)) as less. rewrite (stable (place v) u (place v)) by lia. reflexivity. }
  assert (low : forall v, 0 <= start v) by (intros v; rewrite start_is; apply max_nonneg).
  assert (run : runs M S start).
  { split; [split; [exact low |] | exists place; exact sooner]. intros u w v wait. rewrite (start_is v). apply max_above.
    apply (in_map (fun n => start (fst n) + snd n) _ (u, w)). apply waits_cases in wait; [| exact well]. unfold waits_for.
    destruct wait as [[lag [need same]] | [d [inside [next same]]]]; subst w.
    - destruct (need_ends_exist M u lag v well need) as [_ there]. rewrite (proj2 (exists_decided M v) there), in_app_iff. left.
      apply (in_map (fun n => (fst n, time_of M (fst n) + snd n)) _ (u, lag)). apply needs_into_iff; assumption.
    - assert (there : In v (S d)) by (destruct next as [a [b shape]]; rewrite shape, in_app_iff; cbn; auto).
      apply (whole d inside) in there. destruct there as [there mine]. rewrite (proj2 (exists_decided M v) there), in_app_iff.
      right.
      rewrite mine, (follows_run_before (S d) u v) by (try exact next; apply (whole d inside)). left. reflexivity. }
  exists start. split; [exact run |]. intros v there.
  assert (inside : (device_of M (stage_of v) < devices M)%nat) by (apply well; apply there).
  destruct (max_reached (map (fun n => start (fst n) + snd n) (waits_for M S v))) as [zero | reached]; rewrite <- start_is in *.
  - right. assert (placed : In v (S (device_of M (stage_of v)))) by (apply (whole _ inside); auto).
    apply in_split in placed. destruct placed as [a [b shape]]. exists (device_of M (stage_of v)), a, b.
    repeat split; [exact inside | exact shape |].
    pose proof (last_end_nonneg M S start well run a). lia.
  - apply in_map_iff in reached. destruct reached as [[u w] [same found]]. cbn [fst snd] in same.
    destruct (waiting u w v found) as [_ [[lag [need length_]] | [[a [b shape]] length_]]]; subst w.
    + left. exists u, lag. split; [exact need | lia].
    + right. exists (device_of M (stage_of v)), (a ++ [u]), b. split; [exact inside |].
      split; [rewrite shape, <- app_assoc; reflexivity |]. rewrite last_end_snoc. lia.
Qed.

(** *** Devices cannot drift apart *)

(** The passes before a cut that one behind it needs, in the numbers of cut 0, each with who needs it and the latency. *)
Definition pending (M : model) (G : growing) : list (nat * pass * Z) :=
  flat_map (fun d => flat_map (fun v => flat_map (fun n =>
    map (fun j => (d, later (j * period G) (Pass (kind_of (fst n)) (stage_of (fst n)) (begins M G v)), snd n))
      (seq 0 ((begins M G (fst n) - begins M G v + period G - 1) / period G))) (needs_into M v)) (body G d)) (seq 0 (devices M)).

Definition lateness (M : model) (G : growing) (start : pass -> Z) (cut : nat) (x : nat * pass * Z) : Z :=
  let '(d, u, lag) := x in
  Z.max 0 (start (later (cut * period G) u) + time_of M u + lag - last_end M start (front G d cut)).

(** The state at a cut, counted from when device 0 is free. *)
Definition state_at (M : model) (G : growing) (start : pass -> Z) (cut : nat) : list Z :=
  map (fun d => last_end M start (front G d cut) - last_end M start (front G 0 cut)) (seq 0 (devices M)) ++
  map (lateness M G start cut) (pending M G).

Lemma filter_shorter : forall (A : Type) (f g : A -> bool) l x, (forall y, f y = true -> g y = true) -> In x l -> f x = false ->
  g x = true -> (length (filter f l) < length (filter g l))%nat.
Proof.
  intros A f g l x less. assert (weak : forall k, (length (filter f k) <= length (filter g k))%nat).
  { intros k. induction k as [| y k IH]; cbn; [lia |]. destruct (f y) eqn:one; [rewrite (less y one); cbn; lia |].
    destruct (g y); cbn; lia. }
  induction l as [| y l IH]; intros there no yes; [destruct there |]. cbn. destruct there as [same | there].
  - subst. rewrite no, yes. cbn. specialize (weak l). lia.
  - specialize (IH there no yes). destruct (f y) eqn:one; [rewrite (less y one); cbn; lia |]. destruct (g y); cbn; lia.
Qed.

Lemma filter_no_longer : forall (A : Type) (f : A -> bool) l, (length (filter f l) <= length l)%nat.
Proof. intros A f l. induction l as [| y l IH]; cbn; [lia |]. destruct (f y); cbn; lia. Qed.

(** There are finitely many lists of so many numbers within a range. *)
Fixpoint all_lists (values : list Z) (n : nat) : list (list Z) :=
  match n with
  | O => [[]]
  | S n => flat_map (fun x => map (cons x) (all_lists values n)) values
  end.

Lemma in_all_lists : forall values l, (forall x, In x l -> In x values) -> In l (all_lists values (length l)).
Proof.
  intros values l. induction l as [| x l IH]; intros each; cbn; [auto |]. apply in_flat_map. exists x.
  split; [apply each; left; reflexivity |].
  apply in_map. apply IH. intros y there. apply each. right. exact there.
Qed.

Lemma in_range : forall B x, (- B <= x <= B) -> In x (map (fun n => Z.of_nat n - B) (seq 0 (Z.to_nat (2 * B + 1)))).
Proof. intros B x within. apply in_map_iff. exists (Z.to_nat (x + B)). split; [lia | apply in_seq; lia]. Qed.

(** Among more values than there are, two are the same. *)
Lemma two_are_same : forall (f : nat -> list Z) (values : list (list Z)) n, (length values < n)%nat ->
  (forall i, (i < n)%nat -> In (f i) values) -> exists i j, (i < j < n)%nat /\ f i = f j.
Proof.
  intros f values n many each.
  assert (search : forall k, (exists i j, (i < j < k)%nat /\ f i = f j) \/ NoDup (map f (seq 0 k))).
  { intros k. induction k as [| k [[i [j [range same]]] | once]]; [right; constructor | left; exists i, j; split; [lia |
      exact same] |].
    destruct (in_dec (list_eq_dec Z.eq_dec) (f k) (map f (seq 0 k))) as [there | not].
    - left. apply in_map_iff in there. destruct there as [i [same range]]. apply in_seq in range. exists i, k.
      split; [lia | exact same].
    - right. rewrite seq_S, map_app. cbn. apply NoDup_join; [exact once | repeat constructor; intros [] |].
      intros x one [two | []]. subst. contradiction. }
  destruct (search n) as [found | once]; [exact found |]. exfalso.
  assert (length (map f (seq 0 n)) <= length values)%nat.
  { apply NoDup_incl_length; [exact once |]. intros x there. apply in_map_iff in there. destruct there as [i [same range]].
    apply in_seq in range. subst. apply each. lia. }
  rewrite map_length, seq_length in H. lia.
Qed.

Lemma map_same : forall (A B : Type) (f g : A -> B) l, map f l = map g l -> forall x, In x l -> f x = g x.
Proof. intros A B f g l same. apply ext_in_map. exact same. Qed.

Lemma app_same : forall (A : Type) (a b c d : list A), length a = length c -> a ++ b = c ++ d -> a = c /\ b = d.
Proof.
  intros A a. induction a as [| x a IH]; intros b [| y c] d long same; cbn in *; try lia; [auto |].
  inversion same; subst. destruct (IH b c d) as [one two]; [lia | assumption |]. subst. auto.
Qed.

Section Always.
  Variable M : model.
  Variable G : growing.
  Hypothesis Well : well_formed M.
  Hypothesis Repeatable : repeatable M G.
  Hypothesis Whole : forall q, complete (model_at M G q) (order G q).
  Hypothesis Used : forall d, (d < devices M)%nat -> exists s, (s < stages M)%nat /\ device_of M s = d.
  Notation K := (period G).
  Notation device p := (device_of M (stage_of p)).

  (** More than any pass takes, and than any latency. *)
  Definition longest : Z := fold_right Z.max 0 (map (fun s => time M F s + time M I s + time M W s + latency M s) (seq 0 (stages
    M))).

  Lemma longest_stage : forall s, (s < stages M)%nat -> (forall k, 0 <= time M k s <= longest) /\ 0 <= latency M s <= longest.
  Proof.
    intros s inside. destruct Well as [_ [_ [times [latencies _]]]].
    assert (time M F s + time M I s + time M W s + latency M s <= longest).
    { apply max_above. apply (in_map (fun s => time M F s + time M I s + time M W s + latency M s)). apply in_seq. lia. }
    pose proof (times F s). pose proof (times I s). pose proof (times W s). pose proof (latencies s).
    split; [intros [] |]; lia.
  Qed.

  Lemma longest_pass : forall p, (stage_of p < stages M)%nat -> 0 <= time_of M p <= longest.
  Proof. intros [k s m] inside. apply longest_stage. exact inside. Qed.

  Lemma longest_lag : forall m u lag v, pass_needs (resized M m) u lag v -> 0 <= lag <= longest.
  Proof.
    intros m u lag v need. assert (0 <= longest) by apply max_nonneg. destruct need; cbn in *; try lia; apply longest_stage; lia.
  Qed.

  Section Bounds.
    Variable Q : nat.
    Variable s : pass -> Z.
    Hypothesis Soon : as_soon_as_possible (model_at M G Q) (order G Q) s.

    Definition end_at (d k : nat) : Z := last_end M s (front G d k).
    Definition latest (k : nat) : Z := fold_right Z.max 0 (map (fun d => end_at d k) (seq 0 (devices M))).
    Definition in_body : nat := length (flat_map (fun d => body G d) (seq 0 (devices M))).
    Definition growth : Z := 2 * longest * (1 + Z.of_nat in_body) + longest.

    Lemma latest_above : forall d k, (d < devices M)%nat -> end_at d k <= latest k.
    Proof. intros d k inside. apply max_above. apply (in_map (fun d => end_at d k)). apply in_seq. lia. Qed.

    Lemma latest_nonneg : forall k, 0 <= latest k.
    Proof. intros k. apply max_nonneg. Qed.

    Lemma end_covers : forall d k p, (d < devices M)%nat -> (k <= Q)%nat -> In p (front G d k) -> s p + time_of M p <= end_at d k.
    Proof.
      intros d k p inside less there. apply in_split in there. destruct there as [a [b shape]]. unfold end_at.
      assert (whole : order G Q d = (a ++ [p]) ++ b ++ map (later (k * K)) (back G d (Q - k))).
      { rewrite (order_is G d k Q less), shape, <- !app_assoc. reflexivity. }
      pose proof (last_end_grows (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon) d (a ++ [p]) b _ inside
        whole) as grows.
      change (last_end (model_at M G Q)) with (last_end M) in grows. rewrite last_end_snoc in grows.
      rewrite shape. replace (a ++ p :: b) with ((a ++ [p]) ++ b) by (rewrite <- app_assoc; reflexivity). exact grows.
    Qed.

    Lemma end_grows : forall d k n, (d < devices M)%nat -> (k + n <= Q)%nat -> end_at d k <= end_at d (k + n).
    Proof.
      intros d k n inside less. unfold end_at.
      assert (shape : front G d (k + n) = front G d k ++ map (later (k * K)) (bodies G d n)).
      { unfold front. rewrite bodies_add, app_assoc. reflexivity. }
      rewrite shape. apply (last_end_grows (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon) d _ _
        (map (later ((k + n) * K)) (back G d (Q - (k + n)))) inside).
      rewrite (order_is G d (k + n) Q less), shape, <- app_assoc. reflexivity.
    Qed.

    (** A repetition takes a bounded time. *)
    Lemma latest_next : forall k, (S k <= Q)%nat -> latest (S k) <= latest k + growth.
    Proof.
      intros k less. destruct (proj2 (proj1 Soon)) as [place sooner].
      assert (some : 0 <= longest) by apply max_nonneg.
      set (L := flat_map (fun d => map (later (k * K)) (body G d)) (seq 0 (devices M))).
      set (rank := fun v => length (filter (fun u => Nat.ltb (place u) (place v)) L)).
      assert (size_ : length L = in_body).
      { unfold L, in_body. induction (seq 0 (devices M)) as [| d l IH]; [reflexivity |]. cbn. rewrite !app_length, map_length, IH.
        reflexivity. }
      assert (rank_less : forall u v, In u L -> (place u < place v)%nat -> (rank u < rank v)%nat).
      { intros u v there less_. apply (filter_shorter _ _ _ L u).
        - intros y low. apply Nat.ltb_lt in low. apply Nat.ltb_lt. lia.
        - exact there.
        - apply Nat.ltb_irrefl.
        - apply Nat.ltb_lt. exact less_. }
      assert (split_ : forall d p, (d < devices M)%nat -> In p (front G d (S k)) -> In p (front G d k) \/ In p L).
      { intros d p inside there. unfold front in there. rewrite bodies_next, app_assoc, in_app_iff in there.
        destruct there as [there | there]; [auto |].
        right. apply in_flat_map. exists d. split; [apply in_seq; lia | exact there]. }
      assert (stage_in : forall d p, (d < devices M)%nat -> In p (front G d (S k)) -> (stage_of p < stages M)%nat).
      { intros d p inside there. apply (front_exists M G Whole d (S k) Q p inside less there). }
      assert (bound : forall n d v, (place v < n)%nat -> (d < devices M)%nat -> In v (front G d (S k)) ->
        s v <= latest k + 2 * longest * (1 + Z.of_nat (rank v))).
      { intros n. induction n as [| n IH]; intros d v low inside there; [lia |].
        pose proof (longest_pass v (stage_in d v inside there)) as time_v.
        assert (room : forall r, 0 <= 2 * longest * Z.of_nat r) by (intros r; apply Z.mul_nonneg_nonneg; lia).
        destruct (front_exists M G Whole d (S k) Q v inside less there) as [there_v mine].
        destruct (split_ d v inside there) as [early | late].
        { pose proof (end_covers d k v inside ltac:(lia) early). pose proof (latest_above d k inside). specialize (room (rank v)).
          lia. }
        (* What ended before v, w ticks after it started and at most [longest] ticks later. *)
        assert (through : forall e u, (e < devices M)%nat -> In u (front G e (S k)) -> (place u < place v)%nat ->
          s v <= s u + time_of M u + longest -> s v <= latest k + 2 * longest * (1 + Z.of_nat (rank v))).
        { intros e u inside_e there_u less_u close. pose proof (longest_pass u (stage_in e u inside_e there_u)) as time_u.
          destruct (split_ e u inside_e there_u) as [early | in_L].
          - pose proof (end_covers e k u inside_e ltac:(lia) early). pose proof (latest_above e k inside_e).
            specialize (room (rank v)). lia.
          - pose proof (IH e u ltac:(lia) inside_e there_u) as before. pose proof (rank_less u v in_L less_u) as more.
            assert (2 * longest * (1 + Z.of_nat (rank u)) + 2 * longest <= 2 * longest * (1 + Z.of_nat (rank v))).
            { replace (2 * longest * (1 + Z.of_nat (rank u)) + 2 * longest) with (2 * longest * (2 + Z.of_nat (rank u))) by ring.
              apply Z.mul_le_mono_nonneg_l; lia. }
            lia. }
        destruct (proj2 Soon v there_v) as [[u [lag [need exact_]]] | [e [done [rest [inside_e [shape soon]]]]]].
        - destruct (need_ends_exist _ _ _ _ (resized_well M _ Well) need) as [there_u _].
          assert (home : (device u < devices M)%nat) by (apply Well; apply there_u).
          pose proof (cut_closed M G Repeatable _ (S k) u lag v need (front_before M G Repeatable d (S k) v inside there)) as cut.
          apply (through (device u) u home).
          + apply (all_in_front M G Well Repeatable Whole (S k) u); [apply there_u | exact cut].
          + apply (sooner u _ v (waits_of_need (model_at M G Q) (order G Q) u lag v (resized_well M _ Well) need)).
          + pose proof (longest_lag _ _ _ _ need). change (time_of (model_at M G Q) u) with (time_of M u) in exact_. lia.
        - destruct (last_case _ done) as [none | [a [u same]]]; subst done.
          + cbn in soon. pose proof (latest_nonneg k). specialize (room (rank v)). lia.
          + rewrite last_end_snoc in soon. change (time_of (model_at M G Q) u) with (time_of M u) in soon.
            assert (next : follows (order G Q e) u v) by (exists a, rest; rewrite shape, <- app_assoc; reflexivity).
            assert (same : d = e).
            { rewrite <- mine. apply (Whole Q e inside_e). rewrite shape, !in_app_iff. cbn. auto. }
            subst e. apply (through d u inside).
            * pose proof there as split_v. apply in_split in split_v. destruct split_v as [x [y split_v]].
              assert (both : order G Q d = x ++ v :: (y ++ map (later (S k * K)) (back G d (Q - S k)))).
              { rewrite (order_is G d (S k) Q less), split_v, <- app_assoc. reflexivity. }
              destruct (Whole Q d inside) as [once _]. rewrite shape in both, once.
              destruct (NoDup_split _ _ _ _ _ _ once both) as [x_is _]. rewrite split_v, <- x_is, !in_app_iff. cbn. auto.
            * apply (sooner u _ v (waits_of_order (model_at M G Q) (order G Q) d u v inside next)).
            * lia. }
      unfold latest at 1. apply max_below.
      - pose proof (latest_nonneg k). unfold growth.
        assert (0 <= 2 * longest * (1 + Z.of_nat in_body)) by (apply Z.mul_nonneg_nonneg; lia). lia.
      - intros x there. apply in_map_iff in there. destruct there as [d [same range]]. apply in_seq in range. subst x.
        assert (inside : (d < devices M)%nat) by lia. unfold end_at.
        destruct (last_case _ (front G d (S k))) as [none | [a [v shape]]].
        + rewrite none. cbn. pose proof (latest_nonneg k). unfold growth.
          assert (0 <= 2 * longest * (1 + Z.of_nat in_body)) by (apply Z.mul_nonneg_nonneg; lia). lia.
        + rewrite shape, last_end_snoc. assert (there : In v (front G d (S k))) by (rewrite shape, in_app_iff; cbn; auto).
          pose proof (bound (S (place v)) d v ltac:(lia) inside there) as low.
          pose proof (longest_pass v (stage_in d v inside there)) as time_v.
          pose proof (filter_no_longer _ (fun u => Nat.ltb (place u) (place v)) L) as few. fold (rank v) in few.
          rewrite size_ in few.
          assert (2 * longest * (1 + Z.of_nat (rank v)) <= 2 * longest * (1 + Z.of_nat in_body)) by (apply Z.mul_le_mono_nonneg_l;
            lia).
          unfold growth. lia.
    Qed.

    Lemma latest_later : forall n k, (k + n <= Q)%nat -> latest (k + n) <= latest k + Z.of_nat n * growth.
    Proof.
      intros n k. induction n as [| n IH]; intros less; [rewrite Nat.add_0_r; lia |].
      rewrite Nat.add_succ_r. pose proof (latest_next (k + n) ltac:(lia)). specialize (IH ltac:(lia)). lia.
    Qed.

    (** How many repetitions later a neighbour has had what a device has run. *)
    Definition spread : nat := S (list_max (map microbatch_of (flat_map (fun d => body G d) (seq 0 (devices M))))).

    Lemma begins_spread : forall p, (stage_of p < stages M)%nat -> (begins M G p < spread)%nat.
    Proof.
      intros p inside. unfold spread. apply Nat.lt_succ_r.
      pose proof (proj1 (list_max_le (map microbatch_of (flat_map (fun d => body G d) (seq 0 (devices M)))) _) (Nat.le_refl _))
        as each.
      rewrite Forall_forall in each. apply each.
      apply (in_map microbatch_of _ (Pass (kind_of p) (stage_of p) (begins M G p))). apply in_flat_map. exists (device p).
      split; [apply in_seq; pose proof (proj1 (proj2 Well) (stage_of p) inside); lia | apply (body_of M G Repeatable p inside)].
    Qed.

    (** A pass of body k starts when what its device has run before has ended; what needs it is run soon. *)
    Lemma neighbour : forall k u lag v, (k + spread <= Q)%nat -> microbatch_of u = (begins M G u + k * K)%nat ->
      (forall m, (microbatch_of u < m)%nat -> pass_needs (resized M m) u lag v) ->
      end_at (device u) k <= end_at (device v) (k + spread).
    Proof.
      intros k u lag v less which need. pose proof (need (S (microbatch_of u)) ltac:(lia)) as one.
      pose proof (need_same M _ _ _ _ one) as same.
      destruct (need_ends_exist _ _ _ _ (resized_well M _ Well) one) as [[stage_u _] [stage_v _]]. cbn in stage_u, stage_v.
      pose proof (period_positive M G Repeatable) as some. pose proof (begins_spread u stage_u) as low.
      assert (home_u : (device u < devices M)%nat) by (apply Well; exact stage_u).
      assert (home_v : (device v < devices M)%nat) by (apply Well; exact stage_v).
      assert (cut_v : before_cut M G (k + spread) v).
      { unfold before_cut. rewrite <- same, which. assert (spread <= spread * K)%nat by (destruct K; [lia |
          rewrite Nat.mul_succ_r; lia]). lia. }
      pose proof (all_in_front M G Well Repeatable Whole (k + spread) v stage_v cut_v) as there_v.
      destruct (front_exists M G Whole (device v) (k + spread) Q v home_v less there_v) as [exists_v _].
      assert (real : pass_needs (model_at M G Q) u lag v) by (apply need; rewrite same; apply exists_v).
      pose proof (need_respected _ _ _ (resized_well M _ Well) (proj1 Soon) u lag v real) as late.
      change (time_of (resized M (size G Q)) u) with (time_of M u) in late.
      pose proof (longest_lag _ _ _ _ real). pose proof (longest_pass u stage_u). pose proof (longest_pass v stage_v).
      pose proof (end_covers (device v) (k + spread) v home_v less there_v).
      assert (first : end_at (device u) k <= s u).
      { assert (placed : In u (order G Q (device u))).
        { apply (Whole Q (device u) home_u). split; [| reflexivity]. apply (need_ends_exist _ _ _ _ (resized_well M _ Well) real). }
        rewrite (order_is G (device u) k Q ltac:(lia)), in_app_iff in placed. destruct placed as [placed | placed].
        - apply (front_before M G Repeatable (device u)) in placed; [| exact home_u]. unfold before_cut in placed. lia.
        - apply in_split in placed. destruct placed as [x [y shape]]. unfold end_at.
          apply (last_end_before (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon) (device u) _ x u y home_u).
          rewrite (order_is G (device u) k Q ltac:(lia)), shape. reflexivity. }
      lia.
    Qed.

    Lemma forward_chain : forall n a k, (a + n < stages M)%nat -> (k + n * spread <= Q)%nat ->
      end_at (device_of M a) k <= end_at (device_of M (a + n)) (k + n * spread).
    Proof.
      intros n a k. induction n as [| n IH]; intros inside less; [rewrite !Nat.add_0_r; lia |].
      specialize (IH ltac:(lia) ltac:(lia)).
      set (at_ := (k + n * spread)%nat) in *.
      set (m := (begins M G (Pass F (a + n) (begins M G (Pass F (a + n) 0))) + at_ * K)%nat).
      assert (same : begins M G (Pass F (a + n) m) = begins M G (Pass F (a + n) (begins M G (Pass F (a + n) 0)))).
      { change (Pass F (a + n) m) with (later (at_ * K) (Pass F (a + n) (begins M G (Pass F (a + n) (begins M G (Pass F (a + n)
          0)))))).
        rewrite (begins_later M G Repeatable). apply begins_slot; cbn; [reflexivity | reflexivity |].
        symmetry. apply (begins_mod M G Repeatable (Pass F (a + n) (begins M G (Pass F (a + n) 0)))). cbn. lia. }
      pose proof (neighbour at_ (Pass F (a + n) m) (latency M (a + n)) (Pass F (S (a + n)) m)) as next. cbn [stage_of] in next.
      replace (a + S n)%nat with (S (a + n)) by lia. replace (k + S n * spread)%nat with (at_ + spread)%nat by (unfold at_; lia).
      apply (Z.le_trans _ _ _ IH). apply next.
      - unfold at_. lia.
      - rewrite same. reflexivity.
      - intros z low. apply (F_needs_F (resized M z)); cbn in *; lia.
    Qed.

    Lemma backward_chain : forall n a k, (a + n < stages M)%nat -> (k + n * spread <= Q)%nat ->
      end_at (device_of M (a + n)) k <= end_at (device_of M a) (k + n * spread).
    Proof.
      intros n. induction n as [| n IH]; intros a k inside less; [rewrite !Nat.add_0_r; lia |].
      specialize (IH (S a) k ltac:(lia) ltac:(lia)).
      set (at_ := (k + n * spread)%nat) in *.
      set (m := (begins M G (Pass I (S a) (begins M G (Pass I (S a) 0))) + at_ * K)%nat).
      assert (same : begins M G (Pass I (S a) m) = begins M G (Pass I (S a) (begins M G (Pass I (S a) 0)))).
      { change (Pass I (S a) m) with (later (at_ * K) (Pass I (S a) (begins M G (Pass I (S a) (begins M G (Pass I (S a) 0)))))).
        rewrite (begins_later M G Repeatable). apply begins_slot; cbn; [reflexivity | reflexivity |].
        symmetry. apply (begins_mod M G Repeatable (Pass I (S a) (begins M G (Pass I (S a) 0)))). cbn. lia. }
      pose proof (neighbour at_ (Pass I (S a) m) (latency M a) (Pass I a m)) as next. cbn [stage_of] in next.
      replace (a + S n)%nat with (S a + n)%nat by lia. replace (k + S n * spread)%nat with (at_ + spread)%nat by (unfold at_; lia).
      apply (Z.le_trans _ _ _ IH). apply next.
      - unfold at_. lia.
      - rewrite same. reflexivity.
      - intros z low. apply (I_needs_I (resized M z)); cbn in *; lia.
    Qed.

    Definition reach : nat := (stages M * spread)%nat.

    (** No device is ahead of another by more than some repetitions. *)
    Lemma together : forall d e k, (d < devices M)%nat -> (e < devices M)%nat -> (k + reach <= Q)%nat ->
      end_at d k <= end_at e (k + reach).
    Proof.
      intros d e k inside_d inside_e less. destruct (Used d inside_d) as [a [low_a is_a]].
      destruct (Used e inside_e) as [b [low_b is_b]].
      subst d e. assert (enough : forall n, (n < stages M)%nat -> (n * spread + (reach - n * spread) = reach)%nat).
      { intros n low. assert (n * spread <= reach)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
      destruct (Nat.le_gt_cases a b) as [up | down].
      - specialize (enough (b - a)%nat ltac:(lia)).
        pose proof (forward_chain (b - a) a k ltac:(lia) ltac:(lia)) as one. replace (a + (b - a))%nat with b in one by lia.
        pose proof (end_grows (device_of M b) (k + (b - a) * spread) (reach - (b - a) * spread) inside_e ltac:(lia)) as two.
        replace (k + (b - a) * spread + (reach - (b - a) * spread))%nat with (k + reach)%nat in two by lia. lia.
      - specialize (enough (a - b)%nat ltac:(lia)).
        pose proof (backward_chain (a - b) b k ltac:(lia) ltac:(lia)) as one. replace (b + (a - b))%nat with a in one by lia.
        pose proof (end_grows (device_of M b) (k + (a - b) * spread) (reach - (a - b) * spread) inside_e ltac:(lia)) as two.
        replace (k + (a - b) * spread + (reach - (a - b) * spread))%nat with (k + reach)%nat in two by lia. lia.
    Qed.

    Definition drift : Z := Z.of_nat reach * growth.

    Lemma latest_below : forall e k, (e < devices M)%nat -> (k + reach <= Q)%nat ->
      latest (k + reach) <= end_at e (k + reach) + drift.
    Proof.
      intros e k inside less. pose proof (latest_later reach k less) as grown.
      assert (low : latest k <= end_at e (k + reach)).
      { apply max_below; [apply (last_end_nonneg (model_at M G Q) (order G Q) s (resized_well M _ Well) (proj1 Soon)) |].
        intros x there. apply in_map_iff in there. destruct there as [d [same range]]. apply in_seq in range. subst x.
        apply together; [lia | exact inside | exact less]. }
      unfold drift. lia.
    Qed.
  End Bounds.

  Lemma pending_sound : forall d u lag, In (d, u, lag) (pending M G) ->
    (d < devices M)%nat /\ (stage_of u < stages M)%nat /\ before_cut M G 0 u /\ 0 <= lag <= longest.
  Proof.
    intros d u lag there. unfold pending in there. apply in_flat_map in there. destruct there as [e [inside there]].
    apply in_seq in inside.
    apply in_flat_map in there. destruct there as [v [in_body_ there]]. apply in_flat_map in there.
    destruct there as [[w l] [needed there]].
    cbn [fst snd] in there. apply in_map_iff in there. destruct there as [j [same range]]. apply in_seq in range.
    inversion same; subst.
    assert (home : (d < devices M)%nat) by lia. clear inside.
    destruct (body_owned M G Repeatable d v home in_body_) as [stage_v mine].
    assert (need : pass_needs (resized M (S (microbatch_of v))) w lag v).
    { apply (needs_into_iff (resized M (S (microbatch_of v)))); [exact Well | split; cbn; [exact stage_v | lia] | exact needed]. }
    destruct (need_ends_exist _ _ _ _ (resized_well M _ Well) need) as [[stage_w _] _]. cbn in stage_w.
    split; [exact home |]. split; [exact stage_w |]. split; [| apply (longest_lag _ _ _ _ need)].
    pose proof (period_positive M G Repeatable) as some. pose proof (need_same M _ _ _ _ need) as equal.
    pose proof (begins_body M G Repeatable d v home in_body_) as is_v.
    unfold before_cut. rewrite (begins_later M G Repeatable). cbn [later microbatch_of].
    assert (is_w : begins M G (Pass (kind_of w) (stage_of w) (begins M G v)) = begins M G w).
    { apply begins_slot; cbn; [reflexivity | reflexivity | congruence]. }
    rewrite is_w. assert (low : (S j * K <= begins M G w - begins M G v + K - 1)%nat).
    { apply Nat.le_trans with (((begins M G w - begins M G v + K - 1) / K) * K)%nat.
      - apply Nat.mul_le_mono_r. lia.
      - rewrite Nat.mul_comm. apply Nat.mul_div_le. lia. }
    rewrite Nat.mul_succ_l in low. lia.
  Qed.

  Lemma pending_has : forall m r u lag v, pass_needs (resized M m) u lag v -> before_cut M G r u -> ~ before_cut M G r v ->
    exists u0, u = later (r * K) u0 /\ In (device v, u0, lag) (pending M G).
  Proof.
    intros m r u lag v need cut behind. destruct (need_ends_exist (resized M m) u lag v Well need) as [there_u there_v].
    assert (inside : (device v < devices M)%nat) by (apply Well; apply there_v).
    pose proof (body_of M G Repeatable v (proj1 there_v)) as there. set (v0 := Pass (kind_of v) (stage_of v) (begins M G v)) in *.
    set (w := Pass (kind_of u) (stage_of u) (begins M G v)).
    assert (moved : pass_needs (resized M (S (begins M G v))) w lag v0).
    { apply (need_moved M m _ u lag v w v0 need); try reflexivity. cbn. lia. }
    apply needs_into_has in moved; [| exact Well].
    pose proof (period_positive M G Repeatable) as some.
    pose proof (need_same M m _ _ _ need) as same. unfold before_cut in cut, behind.
    pose proof (begins_mod M G Repeatable v (proj1 there_v)) as mod_v.
    assert (begins_v : begins M G v0 = begins M G v) by (apply begins_slot; cbn; auto).
    assert (begins_w : begins M G w = begins M G u) by (apply begins_slot; cbn; [reflexivity | reflexivity | congruence]).
    assert (shape : exists j, (microbatch_of u = begins M G v + r * K + j * K)%nat).
    { exists ((microbatch_of v - (begins M G v + r * K)) / K)%nat. rewrite same. apply mod_apart; [exact some | | lia].
      rewrite Nat.mod_add by lia. congruence. }
    destruct shape as [j shape]. exists (later (j * K) w). split.
    - unfold later, w. destruct u as [ku su mu]. cbn in *. f_equal. lia.
    - unfold pending. apply in_flat_map. exists (device v). split; [apply in_seq; lia |].
      apply in_flat_map. exists v0. split; [exact there |]. apply in_flat_map. exists (w, lag). split; [exact moved |].
      cbn [fst snd]. rewrite begins_v, begins_w. apply in_map_iff. exists j. split; [reflexivity |].
      apply in_seq. split; [lia |]. cbn. apply Nat.div_le_lower_bound; lia.
  Qed.

  (** Two cuts of the same state are a repetition. *)
  Lemma same_state_repeats : forall Q s r c, as_soon_as_possible (model_at M G Q) (order G Q) s -> (r + c <= Q)%nat ->
    state_at M G s r = state_at M G s (r + c) -> repeats M G s r c (end_at s 0 (r + c) - end_at s 0 r).
  Proof.
    intros Q s r c soon less same. unfold state_at in same. apply app_same in same; [| rewrite !map_length; reflexivity].
    destruct same as [free late].
    assert (some : (0 < devices M)%nat).
    { destruct Well as [positive [owners _]]. specialize (owners 0%nat positive). lia. }
    assert (free_ : forall d, (d < devices M)%nat ->
      last_end M s (front G d (r + c)) = last_end M s (front G d r) + (end_at s 0 (r + c) - end_at s 0 r)).
    { intros d inside. pose proof (map_same _ _ _ _ _ free d ltac:(apply in_seq; lia)) as equal. cbv beta in equal. unfold end_at.
      lia. }
    constructor; [| exact free_ |].
    - pose proof (end_grows Q s soon 0 r c some less). lia.
    - intros m u lag v need cut behind. destruct (pending_has m r u lag v need cut behind) as [u0 [is_u there]].
      pose proof (map_same _ _ _ _ _ late _ there) as equal. unfold lateness in equal.
      destruct (need_ends_exist (resized M m) u lag v Well need) as [_ there_v].
      assert (inside : (device v < devices M)%nat) by (apply Well; apply there_v). specialize (free_ (device v) inside).
      subst u. rewrite later_later. replace (r * K + c * K)%nat with ((r + c) * K)%nat by lia.
      change (time_of M (later (r * K) u0)) with (time_of M u0). lia.
  Qed.

  Lemma state_within : forall Q s k, as_soon_as_possible (model_at M G Q) (order G Q) s -> (k + reach <= Q)%nat ->
    forall x, In x (state_at M G s (k + reach)) -> - (drift + longest) <= x <= drift + longest.
  Proof.
    intros Q s k soon less x there. assert (low : 0 <= longest) by apply max_nonneg.
    assert (some : (0 < devices M)%nat).
    { destruct Well as [positive [owners _]]. specialize (owners 0%nat positive). lia. }
    unfold state_at in there. rewrite in_app_iff in there. destruct there as [there | there]; apply in_map_iff in there.
    - destruct there as [d [same range]]. apply in_seq in range. subst x.
      pose proof (latest_below Q s soon 0 k some less). pose proof (latest_below Q s soon d k ltac:(lia) less).
      pose proof (latest_above s 0 (k + reach) some). pose proof (latest_above s d (k + reach) ltac:(lia)). unfold end_at in *. lia.
    - destruct there as [[[d u] lag] [same found]]. subst x. unfold lateness.
      destruct (pending_sound d u lag found) as [inside [stage_u [cut small]]].
      assert (placed : In (later ((k + reach) * K) u) (front G (device u) (k + reach))).
      { apply (all_in_front M G Well Repeatable Whole (k + reach) (later ((k + reach) * K) u)); [exact stage_u |].
        apply (cut_later M G Repeatable 0). exact cut. }
      assert (home : (device u < devices M)%nat) by (apply Well; exact stage_u).
      pose proof (end_covers Q s soon (device u) (k + reach) _ home less placed) as early.
      change (time_of M (later ((k + reach) * K) u)) with (time_of M u) in early.
      pose proof (latest_above s (device u) (k + reach) home). pose proof (latest_below Q s soon d k inside less).
      pose proof (latest_below Q s soon (device u) k home less). unfold end_at in *. lia.
  Qed.

  (** With enough repetitions, one state of the execution as soon as possible comes again: the search for a repetition ends. *)
  Theorem a_state_comes_again : (forall q, exists start, runs (model_at M G q) (order G q) start) ->
    exists q s r c L, as_soon_as_possible (model_at M G q) (order G q) s /\ (1 <= c)%nat /\ (r + c <= q)%nat /\ repeats M G s r c L.
  Proof.
    intros all_run. set (B := drift + longest).
    set (n := length (seq 0 (devices M) ++ map (fun _ => 0%nat) (pending M G))).
    set (values := all_lists (map (fun i => Z.of_nat i - B) (seq 0 (Z.to_nat (2 * B + 1)))) n).
    set (N := S (length values)). set (Q := (N + reach)%nat).
    destruct (all_run Q) as [start run].
    destruct (as_soon_as_possible_exists (model_at M G Q) (order G Q) (resized_well M _ Well) (Whole Q) (proj2 run)) as [s soon].
    destruct (two_are_same (fun i => state_at M G s (i + reach)) values N) as [i [j [range same]]].
    - unfold N. lia.
    - intros i low. assert (long : length (state_at M G s (i + reach)) = n).
      { unfold state_at, n. rewrite !app_length, !map_length. reflexivity. }
      unfold values. rewrite <- long. apply in_all_lists. intros x there. apply in_range.
      apply (state_within Q s i soon); [unfold Q; lia | exact there].
    - exists Q, s, (i + reach)%nat, (j - i)%nat. eexists. split; [exact soon |]. split; [lia |]. split; [unfold Q; lia |].
      apply (same_state_repeats Q); [exact soon | unfold Q; lia |]. replace (i + reach + (j - i))%nat with (j + reach)%nat by lia.
      exact same.
  Qed.
End Always.

(** One valid schedule with a repetition is enough for it. Every device has a stage. *)
Corollary a_repetition_always_comes : forall M G, well_formed M -> repeatable M G ->
  (forall d, (d < devices M)%nat -> exists s, (s < stages M)%nat /\ device_of M s = d) ->
  forall Q, (1 <= Q)%nat -> complete (model_at M G Q) (order G Q) -> (exists start, runs (model_at M G Q) (order G Q) start) ->
  exists q s r c L, as_soon_as_possible (model_at M G q) (order G q) s /\ (1 <= c)%nat /\ (r + c <= q)%nat /\ repeats M G s r c L.
Proof.
  intros M G well again used Q some whole run. apply a_state_comes_again; try assumption.
  - apply (complete_for_every_m M G well again Q some whole).
  - apply (runs_for_every_m M G well again Q some whole run).
Qed.

(** ** Looking for a repetition *)

(** What [every_m_check] is to be asked: the state at each cut of one schedule, and the first that comes again. Nothing here needs a
    proof, for the check decides. *)

Fixpoint first_again (states : list (nat * list Z * Z)) (met : list (nat * list Z * Z)) : option (nat * nat * Z) :=
  match states with
  | [] => None
  | (cut, state, at_) :: rest =>
    match find (fun m => let '(_, known, _) := m in if list_eq_dec Z.eq_dec known state then true else false) met with
    | Some (from, _, then_) => Some (from, (cut - from)%nat, at_ - then_)
    | None => first_again rest (met ++ [(cut, state, at_)])
    end
  end.

(** The cut of a state that comes again within so many repetitions, after how many of them, and how much later. *)
Definition first_repetition (M : model) (G : growing) (most : nat) : option (nat * nat * Z) :=
  let last := model_at M G most in
  let start := start_in last (simulated last (order G most)) in
  first_again (map (fun cut => (cut, state_at M G start cut, last_end M start (front G 0%nat cut))) (seq 0 (S most))) [].

(** ** Examples *)

(** 1F1B on two devices, two microbatches at a time; the first device is four microbatches ahead, a message takes 9 ticks. *)
Definition far_ahead : growing :=
  let f := fun s m => Pass F s m in
  let b := fun s m => [Pass I s m; Pass W s m] in
  Growing 2 4
    (fun d => match d with 0%nat => [f 0 0; f 0 1; f 0 2; f 0 3] | 1%nat => [f 1 0] | _ => [] end)%nat
    (fun d => match d with
      | 0%nat => b 0 0 ++ [f 0 4] ++ b 0 1 ++ [f 0 5]
      | 1%nat => b 1 0 ++ [f 1 1] ++ b 1 1 ++ [f 1 2]
      | _ => []
      end)%nat
    (fun d => match d with
      | 0%nat => b 0 0 ++ b 0 1 ++ b 0 2 ++ b 0 3
      | 1%nat => b 1 0 ++ [f 1 1] ++ b 1 1 ++ [f 1 2] ++ b 1 2 ++ [f 1 3] ++ b 1 3
      | _ => []
      end)%nat.

Definition slow_second : model :=
  Model 2 2 4 (fun s => s)
    (fun k s => match k, s with F, 0%nat => 1 | F, _ => 4 | I, 0%nat => 1 | I, _ => 3 | W, _ => 0 end)
    (fun _ => 9) (fun _ => 1) (fun _ => 1) (fun _ => Some 5).

Lemma slow_second_well : well_formed slow_second.
Proof.
  split; [| split; [| split; [| split]]]; cbn; try lia.
  intros [] [| s]; lia.
Qed.

(** The state comes again after one repetition, 14 ticks later, and first at cut 2. *)
Example far_ahead_repeats : first_repetition slow_second far_ahead 6 = Some (2%nat, 1%nat, 14).
Proof. vm_compute. reflexivity. Qed.

(** It does not at cut 1, where the free times of both devices do: what is on its way counts. *)
Example far_ahead_not_sooner : every_m_check slow_second far_ahead 1 1 14 = false.
Proof. vm_compute. reflexivity. Qed.

Example far_ahead_passes : every_m_check slow_second far_ahead 2 1 14 = true.
Proof. vm_compute. reflexivity. Qed.

Example far_ahead_figures :
  map (every_m_makespan slow_second far_ahead 2 1 14) [2%nat; 3%nat; 1000%nat] = [76; 90; 14048] /\
  map (every_m_peak slow_second far_ahead) [0%nat; 1%nat] = [4; 1] /\
  every_m_memory_check slow_second far_ahead = true /\ every_m_span_check slow_second far_ahead 2 1 = true.
Proof. vm_compute. auto. Qed.

(** 1F1B on d devices with each W right after its I, at one tick a pass: the family [steady] of docs/families.md. *)
Definition steady (d : nat) : growing :=
  Growing 1 d
    (fun i => map (Pass F i) (seq 0 (d - i)))
    (fun i => [Pass I i 0; Pass W i 0; Pass F i (d - i)])
    (fun i => flat_map (fun j => [Pass I i j; Pass W i j] ++ if Nat.ltb (d - i + j) d then [Pass F i (d - i + j)] else []) (seq 0
      d)).

Definition unit_times (d : nat) : model :=
  Model d d d (fun s => s) (fun _ _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 1) (fun i => Some (Z.of_nat (d - i))).

Example steady_repeats : first_repetition (unit_times 4) (steady 4) 8 = Some (1%nat, 1%nat, 3).
Proof. vm_compute. reflexivity. Qed.

Example steady_passes : every_m_check (unit_times 4) (steady 4) 1 1 3 = true.
Proof. vm_compute. reflexivity. Qed.

(** On 4 devices it is complete, within its capacities of 4, 3, 2 and 1, and takes 3 m + 6 ticks, for every m >= 4. *)
Example steady_for_every_m : forall q, let N := model_at (unit_times 4) (steady 4) q in
  complete N (order (steady 4) q) /\
  within_capacity N (order (steady 4) q) /\
  least_makespan N (order (steady 4) q) (3 * Z.of_nat (microbatches N) + 6).
Proof.
  assert (well : well_formed (unit_times 4)).
  { split; [| split; [| split; [| split]]]; cbn; try lia; intros; lia. }
  intros q N. split; [apply (every_m_complete _ _ 1 1 3 well steady_passes) |].
  split; [apply (every_m_memory_sound _ _ 1 1 3 well steady_passes); vm_compute; reflexivity |].
  destruct q as [| q].
  - assert (one : replay_check N (order (steady 4) 0) = true) by (vm_compute; reflexivity).
    destruct (replay_check_sound N (order (steady 4) 0) well ltac:(cbn; lia) one) as [_ least].
    replace (3 * Z.of_nat (microbatches N) + 6) with 18 by reflexivity.
    replace (makespan_of N _ _) with 18 in least by (vm_compute; reflexivity). exact least.
  - pose proof (every_m_makespan_sound _ _ 1 1 3 well steady_passes (S q) ltac:(lia)) as least.
    unfold every_m_makespan in least. replace (S q - 1)%nat with q in least by lia. rewrite Nat.mod_1_r, Nat.div_1_r in least.
    replace (makespan_of _ _ _) with 21 in least by (vm_compute; reflexivity).
    replace (3 * Z.of_nat (microbatches N) + 6) with (21 + Z.of_nat q * 3); [exact least |].
    unfold N. cbn [microbatches model_at resized]. unfold size. cbn [base period steady]. lia.
Qed.

(** One valid repetition is needed: without any, nothing is known of what is inside of the body. Here all of conditions 1 to 3
    hold, and the schedule without a repetition runs, but none with one. *)
Definition backwards : growing :=
  let f := Pass F 0 0 in let i := Pass I 0 0 in let w := Pass W 0 0 in
  Growing 1 1 (fun _ => []) (fun d => match d with O => [i; f; w] | _ => [] end) (fun d => match d with O => [f; i; w] |
    _ => [] end).

Definition one_device : model :=
  Model 1 1 1 (fun _ => 0%nat) (fun _ _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 1) (fun _ => None).

Example one_repetition_needed :
  repeatable_check one_device backwards = true /\
  replay_check (model_at one_device backwards 0) (order backwards 0) = true /\
  forall start, ~ runs (model_at one_device backwards 1) (order backwards 1) start.
Proof.
  split; [vm_compute; reflexivity |]. split; [vm_compute; reflexivity |]. intros start [_ [place sooner]].
  assert (first : (place (Pass F 0 0) < place (Pass I 0 0))%nat).
  { apply (sooner _ (1 + 0)). apply (waits_need (problem_of (model_at one_device backwards 1)) _ (Pass F 0 0) 0 (Pass I 0 0)).
    cbn. auto. }
  assert (second : (place (Pass I 0 0) < place (Pass F 0 0))%nat).
  { apply (sooner _ 1). apply (waits_order (problem_of (model_at one_device backwards 1)) _ (order backwards 1 0%nat)); [left;
      reflexivity |].
    exists [], [Pass W 0 0; Pass F 0 1; Pass I 0 1; Pass W 0 1]. reflexivity. }
  lia.
Qed.
