(** * PairStreams: one stream of messages for each pair of devices

    Where two devices post messages to each other in different orders, a plan with one stream for each pair of devices never ends
    ([crossing_messages_hang]). Where all post in the same order, it ends if it does with a stream for each direction
    ([agreeing_posts_need_no_more]). So this is exactly the condition ([pair_streams_exactly_when_posts_agree]). *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Import Bubbleproof.Lanes Bubbleproof.Plans Bubbleproof.Communication Bubbleproof.Execute Bubbleproof.Verdict.
Require Import Bubbleproof.Lowered.
Import ListNotations.

(** ** One stream for each pair of devices *)

(** Two devices post message k from a to b and message n from b to a in different orders. *)
Definition posts_cross (P : plan) (a b k n : nat) : Prop :=
  exists i j p q,
    nth_error (positions (sends_to b) (row P a)) k = Some i /\ nth_error (positions (receives_from a) (row P b)) k = Some j /\
    nth_error (positions (sends_to a) (row P b)) n = Some p /\ nth_error (positions (receives_from b) (row P a)) n = Some q /\
    ((i < q /\ p < j) \/ (q < i /\ j < p)).

Definition posts_agree (P : plan) : Prop := forall a b k n, ~ posts_cross P a b k n.

Lemma position_counts : forall f l k i q, nth_error (positions f l) k = Some i -> (i < q <-> k < count f (firstn q l)).
Proof.
  intros f l k i q found. split.
  - intros before. destruct (position_is_action f l k i found) as [a [there [holds counted]]]. subst k.
    assert (prefix : firstn i l = firstn i (firstn q l)) by (rewrite firstn_firstn; f_equal; lia). rewrite prefix.
    apply (count_before_is_less f (firstn q l) i a); [| exact holds].
    rewrite <- (firstn_skipn q l), nth_error_app1 in there; [exact there |].
    rewrite firstn_length. assert (i < length l) by (apply nth_error_Some; rewrite firstn_skipn in there; congruence). lia.
  - intros few. destruct (position_before f l q k 0 few) as [i' [same small]]. unfold positions in found. rewrite found in same.
    inversion same. subst. exact small.
Qed.

Lemma down_the_lane : forall (need : needing lane) k i j, j < i -> clos_trans _ (waits_for need) (k, i) (k, j).
Proof.
  intros need k i j less. induction less as [| i less IH]; [constructor; constructor |].
  apply (t_trans _ _ _ (k, i)); [constructor; constructor | exact IH].
Qed.

Lemma waits_for_all_before : forall (need : needing lane) k i needed j c n, need k i = Some needed -> In (j, c) needed -> n < c ->
  clos_trans _ (waits_for need) (k, i) (j, n).
Proof.
  intros need k i needed j c n can inside less. destruct c as [| c]; [lia |].
  assert (direct : waits_for need (k, i) (j, c)) by (apply (waits_for_need need k i needed); assumption).
  destruct (Nat.eq_dec n c) as [same | before]; [subst; constructor; exact direct |].
  apply (t_trans _ _ _ (j, c)); [constructor; exact direct | apply down_the_lane; lia].
Qed.

Lemma cross_is_cycle : forall P a b k n, posts_cross P a b k n ->
  clos_trans _ (waits_for (need PairStreams P)) (Channel a b, k) (Channel b a, n) /\
  clos_trans _ (waits_for (need PairStreams P)) (Channel b a, n) (Channel a b, k).
Proof.
  intros P a b k n [i [j [p [q [at_i [at_j [at_p [at_q crossed]]]]]]]].
  assert (one : need PairStreams P (Channel a b) k = Some (needs_of_message PairStreams P a b i j))
    by (cbn [need]; rewrite at_i, at_j; reflexivity).
  assert (two : need PairStreams P (Channel b a) n = Some (needs_of_message PairStreams P b a p q))
    by (cbn [need]; rewrite at_p, at_q; reflexivity).
  unfold needs_of_message, stream, earlier_between in one, two. cbn [app] in one, two.
  destruct crossed as [[first_a first_b] | [first_a first_b]]; split.
  - eapply waits_for_all_before; [exact one | do 4 right; left; reflexivity |].
    apply (position_counts _ _ _ _ j at_p). exact first_b.
  - eapply waits_for_all_before; [exact two | do 4 right; left; reflexivity |].
    apply (position_counts _ _ _ _ q at_i). exact first_a.
  - eapply waits_for_all_before; [exact one | do 3 right; left; reflexivity |].
    apply (position_counts _ _ _ _ i at_q). exact first_a.
  - eapply waits_for_all_before; [exact two | do 3 right; left; reflexivity |].
    apply (position_counts _ _ _ _ p at_j). exact first_b.
Qed.

(** Two messages between two devices that these post in different orders never go, in any plan. *)
Theorem crossing_messages_never_go : forall P a b k n, posts_cross P a b k n ->
  forall l s, run (need PairStreams P) l s -> s (Channel a b) <= k /\ s (Channel b a) <= n.
Proof.
  intros P a b k n crossed l s runs. destruct (cross_is_cycle P a b k n crossed) as [there back]. split.
  - destruct (le_lt_dec (s (Channel a b)) k) as [few | gone]; [exact few | exfalso].
    apply (cycles_never_run same_lane _ l s (Channel a b, k) runs); [apply (t_trans _ _ _ (Channel b a, n)); assumption |].
      exact gone.
  - destruct (le_lt_dec (s (Channel b a)) n) as [few | gone]; [exact few | exfalso].
    apply (cycles_never_run same_lane _ l s (Channel b a, n) runs); [apply (t_trans _ _ _ (Channel a b, k)); assumption |].
      exact gone.
Qed.

(** So no run ends when anything waits for one of them. *)
Corollary crossing_messages_hang : forall P a b k n, posts_cross P a b k n ->
  forall d w needed c, need PairStreams P (Device d) w = Some needed -> In (Channel a b, c) needed -> k < c ->
  forall l s, run (need PairStreams P) l s -> ~ finished P s.
Proof.
  intros P a b k n crossed d w needed c can inside more l s runs all.
  assert (before : w < s (Device d)).
  { rewrite all. apply (steps_are_known PairStreams P (Device d) w needed can). }
  destruct (taken_steps_had_needs same_lane _ l s runs (Device d) w before) as [had [found holds]].
  rewrite can in found. inversion found. subst had. specialize (holds _ _ inside).
  destruct (crossing_messages_never_go P a b k n crossed l s runs) as [few _]. lia.
Qed.

Lemma next_position : forall f l n c, n < count f (firstn c l) -> exists p, nth_error (positions f l) n = Some p /\ p < c.
Proof. intros f l n c few. destruct (position_before f l c n 0 few) as [p found]. exists p. exact found. Qed.

Lemma position_exists : forall f l n, n < count f l -> exists p, nth_error (positions f l) n = Some p.
Proof.
  intros f l n few. destruct (nth_error (positions f l) n) as [p |] eqn:found; [exists p; reflexivity |].
  apply nth_error_None in found. unfold positions in found. rewrite length_of_positions in found. lia.
Qed.

Section Agreeing.
  Variable P : plan.
  Hypothesis In_order : in_order P.
  Hypothesis Agree : posts_agree P.

  Lemma ends_differ : forall f g l k n i, (forall a, f a = true -> g a = true -> False) ->
    nth_error (positions f l) k = Some i -> nth_error (positions g l) n = Some i -> False.
  Proof.
    intros f g l k n i apart one two. apply position_is_action in one. apply position_is_action in two.
    destruct one as [x [at_x [is_f _]]]. destruct two as [y [at_y [is_g _]]]. rewrite at_x in at_y. inversion at_y. subst.
    apply (apart y); assumption.
  Qed.

  Lemma send_is_no_receive : forall b c x, sends_to b x = true -> receives_from c x = true -> False.
  Proof. intros b c [] one two; cbn in *; discriminate. Qed.

  Lemma message_waits_for_the_other_direction : forall s a b i j, stuck (need PairStreams P) s ->
    nth_error (positions (sends_to b) (row P a)) (s (Channel a b)) = Some i ->
    nth_error (positions (receives_from a) (row P b)) (s (Channel a b)) = Some j ->
    i < s (Device a) -> j < s (Device b) ->
    s (Channel b a) < count (receives_from b) (firstn i (row P a)) \/ s (Channel b a) < count (sends_to a) (firstn j (row P b)).
  Proof.
    intros s a b i j stops at_i at_j posted_a posted_b.
    destruct (le_lt_dec (count (receives_from b) (firstn i (row P a))) (s (Channel b a))) as [gone_a | missing];
      [| left; exact missing].
    destruct (le_lt_dec (count (sends_to a) (firstn j (row P b))) (s (Channel b a))) as [gone_b | missing];
      [| right; exact missing].
    exfalso. apply (stops (Channel a b) (needs_of_message PairStreams P a b i j)).
    - cbn [need]. rewrite at_i, at_j. reflexivity.
    - assert (own_a := position_is_action _ _ _ _ at_i). destruct own_a as [x [_ [_ count_a]]].
      assert (own_b := position_is_action _ _ _ _ at_j). destruct own_b as [y [_ [_ count_b]]].
      intros k n among. unfold needs_of_message, stream, earlier_between in among. cbn [app] in among.
      destruct among as [same | [same | [same | [same | [same | [same | []]]]]]]; inversion same; subst k n; lia.
  Qed.

  (** Where devices post messages in the same order, one stream for each pair delays nothing. *)
  Theorem agreeing_posts_need_no_more : ends Rendezvous P -> ends PairStreams P.
  Proof.
    intros good l s runs stops. apply (good l s).
    - apply (fewer_needs_run (need PairStreams P)); [apply stricter_needs_more; exact I | exact runs].
    - intros k needed can holds. destruct k as [d | a b].
      + apply (stops (Device d) needed); [| exact holds]. cbn [need] in can |- *.
        destruct (nth_error (row P d) (s (Device d))) as [x |]; [| discriminate]. rewrite <- can. destruct x; reflexivity.
      + cbn [need] in can.
        destruct (nth_error (positions (sends_to b) (row P a)) (s (Channel a b))) as [i |] eqn:at_i; [| discriminate].
        destruct (nth_error (positions (receives_from a) (row P b)) (s (Channel a b))) as [j |] eqn:at_j; [| discriminate].
        inversion can. subst needed.
        assert (posted_a : i < s (Device a)) by (apply (holds (Device a) (S i)); left; reflexivity).
        assert (posted_b : j < s (Device b)) by (apply (holds (Device b) (S j)); right; left; reflexivity).
        (* The message of the other direction comes before this one on both sides. *)
        assert (other : exists p q, nth_error (positions (sends_to a) (row P b)) (s (Channel b a)) = Some p /\
          nth_error (positions (receives_from b) (row P a)) (s (Channel b a)) = Some q /\ p < j /\ q < i).
        { destruct (message_waits_for_the_other_direction s a b i j stops at_i at_j posted_a posted_b) as [waits | waits].
          - destruct (next_position _ _ _ _ waits) as [q [at_q before]].
            destruct (position_exists (sends_to a) (row P b) (s (Channel b a))) as [p at_p].
            { rewrite (both_ends P In_order b a). specialize (count_grows (receives_from b) (row P a) i). lia. }
            exists p, q. repeat (split; [assumption |]). split; [| exact before].
            destruct (lt_eq_lt_dec p j) as [[less | same] | greater]; [exact less | exfalso | exfalso].
            + subst p. apply (ends_differ _ _ _ _ _ _ (send_is_no_receive a a) at_p at_j).
            + apply (Agree a b (s (Channel a b)) (s (Channel b a))). exists i, j, p, q. repeat (split; [assumption |]).
              right. split; assumption.
          - destruct (next_position _ _ _ _ waits) as [p [at_p before]].
            destruct (position_exists (receives_from b) (row P a) (s (Channel b a))) as [q at_q].
            { rewrite <- (both_ends P In_order b a). specialize (count_grows (sends_to a) (row P b) j). lia. }
            exists p, q. repeat (split; [assumption |]).
            destruct (lt_eq_lt_dec q i) as [[less | same] | greater]; [exact less | exfalso | exfalso].
            + subst q. apply (ends_differ _ _ _ _ _ _ (send_is_no_receive b b) at_i at_q).
            + apply (Agree a b (s (Channel a b)) (s (Channel b a))). exists i, j, p, q. repeat (split; [assumption |]).
              left. split; assumption. }
        destruct other as [p [q [at_p [at_q [first_b first_a]]]]].
        destruct (message_waits_for_the_other_direction s b a p q stops at_p at_q) as [waits | waits]; [lia | lia | |].
        * destruct (next_position _ _ _ _ waits) as [j' [at_j' before]]. rewrite at_j in at_j'. inversion at_j'. lia.
        * destruct (next_position _ _ _ _ waits) as [i' [at_i' before]]. rewrite at_i in at_i'. inversion at_i'. lia.
  Qed.
End Agreeing.

(** Some action waits for every message: a pass for what it needs, or a wait for a send. *)
Definition every_message_is_waited_for (P : plan) : Prop :=
  forall a b k, k < count (sends_to b) (row P a) ->
    exists d w needed c, need PairStreams P (Device d) w = Some needed /\ In (Channel a b, c) needed /\ k < c.

(** [duplicate-action], of sends. *)
Definition sent_once (P : plan) : Prop :=
  forall d n n' to to' m, nth_error (row P d) n = Some (Send to m) -> nth_error (row P d) n' = Some (Send to' m) -> n = n'.

(** [never-waited]. *)
Definition every_send_is_waited_for (P : plan) : Prop :=
  forall d n to m, nth_error (row P d) n = Some (Send to m) -> exists w, n < w /\ nth_error (row P d) w = Some (WaitSend m).

(** The rules of the code see to it that every message is waited for. *)
Lemma rules_of_the_code_wait_for_messages : forall P, sent_once P -> every_send_is_waited_for P -> every_message_is_waited_for P.
Proof.
  intros P once waited a b k few. destruct (position_exists _ _ _ few) as [i at_i].
  destruct (nth_sent b (row P a) 0 k i at_i) as [m [is_send _]]. rewrite Nat.sub_0_r in is_send.
  destruct (position_is_action _ _ _ _ at_i) as [x [_ [_ counted]]].
  destruct (waited a i b m is_send) as [w [later is_wait]].
  assert (long : w < length (row P a)) by (apply nth_error_Some; congruence).
  assert (prefix : forall j, j < w -> nth_error (firstn w (row P a)) j = nth_error (row P a) j).
  { intros j less. rewrite <- (firstn_skipn w (row P a)) at 2.
    rewrite nth_error_app1; [reflexivity |]. rewrite firstn_length. lia. }
  assert (found : sent m (firstn w (row P a)) = Some (b, k)).
  { destruct (sent m (firstn w (row P a))) as [[to n] |] eqn:sent_m.
    - destruct (sent_is_there _ _ _ _ sent_m) as [j [at_j number]].
      assert (less : j < w).
      { assert (j < length (firstn w (row P a))) by (apply nth_error_Some; congruence). rewrite firstn_length in *. lia. }
      rewrite prefix in at_j by exact less. assert (same := once a i j b to m is_send at_j). subst j.
      rewrite is_send in at_j. inversion at_j. subst to. rewrite firstn_firstn, Nat.min_l in number by lia. congruence.
    - exfalso. apply (sent_if_there m (firstn w (row P a)) b); [| exact sent_m].
      apply (nth_error_In _ i). rewrite prefix by exact later. exact is_send. }
  exists a, w, [(Channel a b, S k)], (S k). split; [cbn [need]; rewrite is_wait; cbn; rewrite found; reflexivity |].
  split; [left; reflexivity | lia].
Qed.

(** So for a plan that ends with rendezvous messages, one stream for each pair of devices is enough exactly when any two devices
    post their messages to each other in the same order. *)
Theorem pair_streams_exactly_when_posts_agree : forall P, in_order P -> every_message_is_waited_for P -> ends Rendezvous P ->
  (ends PairStreams P <-> posts_agree P).
Proof.
  intros P order waited good. split.
  - intros ending a b k n crossed.
    destruct (every_run_comes_to_an_end PairStreams P [] (fun _ => 0)) as [l [s [runs stops]]]; [apply run_starts; reflexivity |].
    assert (exists_k : k < count (sends_to b) (row P a)).
    { destruct crossed as [i [_ [_ [_ [at_i _]]]]]. rewrite <- (length_of_positions _ _ 0). apply nth_error_Some.
      unfold positions in at_i. congruence. }
    destruct (waited a b k exists_k) as [d [w [needed [c [can [inside more]]]]]].
    apply (crossing_messages_hang P a b k n crossed d w needed c can inside more _ s runs). apply (ending _ s runs stops).
  - intros agree. apply agreeing_posts_need_no_more; assumption.
Qed.

(** When such a plan has ended, every message has left, so its memory is free: with streams too. *)
Theorem every_message_has_left : forall X P, X <> Buffered -> sent_once P -> every_send_is_waited_for P ->
  forall l s, run (need X P) l s -> finished P s -> forall a b, count (sends_to b) (row P a) <= s (Channel a b).
Proof.
  intros X P unbuffered once waited l s runs all a b.
  destruct (le_lt_dec (count (sends_to b) (row P a)) (s (Channel a b))) as [gone | few]; [exact gone | exfalso].
  destruct (rules_of_the_code_wait_for_messages P once waited a b _ few) as [d [w [needed [c [can [inside more]]]]]].
  assert (before : w < s (Device d)) by (rewrite all; apply (steps_are_known PairStreams P (Device d) w needed can)).
  destruct (taken_steps_had_needs same_lane _ l s runs (Device d) w before) as [had [found holds]].
  assert (same : had = needed).
  { cbn [need] in can, found. destruct (nth_error (row P d) w) as [x |]; [| discriminate].
    destruct x as [ins outs | to m | from m | m |]; cbn in can, found; try congruence.
    destruct (sent m (firstn w (row P d))) as [[to i] |]; [| discriminate]. destruct X; congruence. }
  subst had. specialize (holds _ _ inside). lia.
Qed.
