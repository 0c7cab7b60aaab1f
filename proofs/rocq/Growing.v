(** * Growing: schedules with a piece that is repeated

    A growing schedule has a warm-up, a piece of K microbatches that is repeated q times, and a cool-down. This file defines it,
    what must hold for it to be repeatable ([repeatable]), and its cuts behind each repetition, and proves that it is complete
    for every q if it is for one q >= 1 ([complete_for_every_m]). [EveryM] says what follows, and where. *)

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
