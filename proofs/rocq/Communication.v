(** * Communication: plans of sends and receives end, and give every pass the right message

    A plan gives each device a row of actions: passes, sends, receives, waits. Messages between two devices carry no names: the
    first one sent is the first one received. So a plan can deadlock, and it can silently train on wrong gradients. This file
    proves that [bubbleproof verify] rules out both.

    How a plan runs (crates/core/src/comm). A device does one action after the other. A send or a receive posts its end of a
    message and returns at once. A pass, or a pair of passes, waits until the messages that it needs have arrived. A wait for a
    send waits until the message has left. When that is depends on the runtime:

    - [Buffered]: a message has left when its send is posted, and arrives when both ends are posted;
    - [Rendezvous]: it has left, and arrives, when both ends are posted (gloo; NCCL with a communicator for each direction);
    - [PairStreams]: besides, all earlier messages between the two devices, of both directions, have gone, on each side in the
      order in which this side posts them (NCCL with a communicator for each pair of devices);
    - [DeviceStreams]: besides, all earlier messages of both devices (NCCL with one communicator).

    A step of a run is an action of a device or the arrival of a message; a run is any sequence of steps that are possible one
    after the other. What is proved:

    - Every run comes to an end, all runs of a plan stop in the same state, and so either every run does all actions or none does
      ([every_run_comes_to_an_end], [stuck_states_agree], [all_or_none]).
    - A plan that receives messages in the order in which they are sent ends exactly when it receives before it uses, sends
      before it waits, and nothing waits for itself ([ends_exactly_when_acyclic]; with streams, [acyclic_plans_end] and
      [plans_with_cycles_never_end] are the two directions).
    - Every pass gets the message that it needs, and every memory is that of a run in which messages are handed over by name
      ([every_pass_gets_its_message], [every_run_computes_the_same]). What a pass needs of another device has been run there
      ([passes_of_other_devices_come_first], about the passes of a model).
    - [ends_under] carries a plan out once and says, for all four semantics, whether every run ends ([verdict_is_right]) or none
      does ([verdict_false_means_never]). [verified] does this for rendezvous messages, and compares the order of messages and
      where they are made ([verified_plans_are_safe]). Both are meant to be extracted. Each step is done once; besides, each sweep
      looks at every lane until a sweep moves nothing.
    - A plan that ends under one semantics ends under all those before it ([ends_under_more_permissive]). One stream for each
      pair of devices is enough exactly when any two devices post their messages to each other in the same order
      ([pair_streams_exactly_when_posts_agree]). When a plan that waits for its sends has ended, all have left
      ([every_message_has_left]).
    - A plan whose sends and receives are appended side by side, as [convert] writes them, ends under all four and is in order
      ([lowered_plans_end], [lowered_plans_are_in_order]).
    - Examples show that each semantics is stricter than the one before it. [crossing] is 1F1B on two devices: it ends with a
      stream for each direction, and never with one for each pair of devices.

    The parts: [Lanes] and [Plans] say what a run is. This file has the rules of a plan and what follows from them. [Execute]
    carries lanes out as a program, [Verdict] carries out plans and checks the rules, [Lowered] is about plans as they are
    written and about passes, [PairStreams] about one stream for each pair of devices, and [CommunicationExamples] has examples.

    Not treated here: the order of losses, reductions, sharded weights, and messages that a runtime posts as one group. Passes of
    one device that need each other are the matter of replay. *open*: that every file which the rules of the code accept is
    [verified]; [rules_of_the_code_give_the_order] proves it for the order of messages, provided that no message is left over. *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Import Bubbleproof.Lanes Bubbleproof.Plans.
Import ListNotations.

(** ** The rules, and why a plan that breaks none of them ends *)

(** The messages that a sends to b, and those that b receives from a, in order. *)
Definition sent_messages (b : nat) (l : list action) : list message :=
  flat_map (fun x => match x with Send to m => if to =? b then [m] else [] | _ => [] end) l.

Definition received_messages (a : nat) (l : list action) : list message :=
  flat_map (fun x => match x with Receive from m => if from =? a then [m] else [] | _ => [] end) l.

(** On both sides the messages are the same ones, in the same order: [swapped-messages], [never-sent], [never-received]. *)
Definition in_order (P : plan) : Prop :=
  forall a b, sent_messages b (row P a) = received_messages a (row P b).

(** [used-before-received]. *)
Definition received_before_used (P : plan) : Prop :=
  forall d n inputs outputs m, nth_error (row P d) n = Some (Run inputs outputs) -> In m inputs ->
    exists from, In (Receive from m) (firstn n (row P d)).

(** [waited-before-sent]. *)
Definition sent_before_waited (P : plan) : Prop :=
  forall d n m, nth_error (row P d) n = Some (WaitSend m) -> exists to, In (Send to m) (firstn n (row P d)).

(** [sent-before-made]. *)
Definition made_before_sent (P : plan) : Prop :=
  forall d n to m, nth_error (row P d) n = Some (Send to m) ->
    exists i inputs outputs, i < n /\ nth_error (row P d) i = Some (Run inputs outputs) /\ In m outputs.

(** No step waits for itself, directly or not: [communication-deadlock]. *)
Definition acyclic (X : semantics) (P : plan) : Prop :=
  forall e, ~ clos_trans _ (waits_for (need X P)) e e.

Lemma length_of_positions : forall f l start, length (positions_from start f l) = count f l.
Proof.
  intros f l. unfold count. induction l as [| a l IH]; intros start; cbn; [reflexivity |].
  destruct (f a); cbn; rewrite IH; reflexivity.
Qed.

Lemma length_of_sent : forall b l, length (sent_messages b l) = count (sends_to b) l.
Proof.
  intros b l. unfold count, sent_messages. induction l as [| a l IH]; cbn; [reflexivity |].
  rewrite app_length, IH. destruct a; cbn; try reflexivity. destruct (to =? b); reflexivity.
Qed.

Lemma length_of_received : forall a l, length (received_messages a l) = count (receives_from a) l.
Proof.
  intros a l. unfold count, received_messages. induction l as [| x l IH]; cbn; [reflexivity |].
  rewrite app_length, IH. destruct x; cbn; try reflexivity. destruct (from =? a); reflexivity.
Qed.

Lemma count_grows : forall f l i, count f (firstn i l) <= count f l.
Proof.
  intros f l i. rewrite <- (firstn_skipn i l) at 2. unfold count. rewrite filter_app, app_length. lia.
Qed.

(** A receive that is found is there, and its number is the number of receives from the same peer before it. *)
Lemma received_is_there : forall m l from i, received m l = Some (from, i) ->
  exists j, nth_error l j = Some (Receive from m) /\ count (receives_from from) (firstn j l) = i.
Proof.
  intros m l. induction l as [| a l IH]; intros from i found; cbn in found; [discriminate |].
  assert (skip : forall from i, received m l = Some (from, i) -> (forall p k, a <> Receive p k) ->
    exists j, nth_error (a :: l) j = Some (Receive from m) /\ count (receives_from from) (firstn j (a :: l)) = i).
  { intros p k at_rest no_receive. destruct (IH p k at_rest) as [j [there counted]]. exists (S j). split; [exact there |].
    unfold count in *. cbn [firstn filter]. replace (receives_from p a) with false; [exact counted |].
    destruct a; try reflexivity. exfalso. apply (no_receive from0 m0). reflexivity. }
  destruct a as [ins outs | to k | p k | k |]; try (apply skip; [exact found | intros; discriminate]).
  destruct (same_message m k) as [same | differs].
  - inversion found. subst. exists 0. split; reflexivity.
  - destruct (received m l) as [[peer n] |] eqn:at_rest; [| discriminate]. inversion found. subst peer.
    destruct (IH from n eq_refl) as [j [there counted]]. exists (S j). split; [exact there |].
    unfold count in *. cbn [firstn filter receives_from]. destruct (p =? from); cbn; rewrite counted; reflexivity.
Qed.

Lemma sent_is_there : forall m l to i, sent m l = Some (to, i) ->
  exists j, nth_error l j = Some (Send to m) /\ count (sends_to to) (firstn j l) = i.
Proof.
  intros m l. induction l as [| a l IH]; intros to i found; cbn in found; [discriminate |].
  assert (skip : forall to i, sent m l = Some (to, i) -> (forall p k, a <> Send p k) ->
    exists j, nth_error (a :: l) j = Some (Send to m) /\ count (sends_to to) (firstn j (a :: l)) = i).
  { intros p k at_rest no_send. destruct (IH p k at_rest) as [j [there counted]]. exists (S j). split; [exact there |].
    unfold count in *. cbn [firstn filter]. replace (sends_to p a) with false; [exact counted |].
    destruct a; try reflexivity. exfalso. apply (no_send to0 m0). reflexivity. }
  destruct a as [ins outs | p k | from k | k |]; try (apply skip; [exact found | intros; discriminate]).
  destruct (same_message m k) as [same | differs].
  - inversion found. subst. exists 0. split; reflexivity.
  - destruct (sent m l) as [[peer n] |] eqn:at_rest; [| discriminate]. inversion found. subst peer.
    destruct (IH to n eq_refl) as [j [there counted]]. exists (S j). split; [exact there |].
    unfold count in *. cbn [firstn filter sends_to]. destruct (p =? to); cbn; rewrite counted; reflexivity.
Qed.

Lemma received_if_there : forall m l from, In (Receive from m) l -> received m l <> None.
Proof.
  intros m l from. induction l as [| a l IH]; intros inside; [destruct inside |]. cbn.
  destruct inside as [same | inside].
  - subst a. destruct (same_message m m); [discriminate | congruence].
  - destruct a; try (apply IH; exact inside). destruct (same_message m m0); [discriminate |].
    destruct (received m l) as [[p k] |]; [discriminate | apply IH; exact inside].
Qed.

Lemma sent_if_there : forall m l to, In (Send to m) l -> sent m l <> None.
Proof.
  intros m l to. induction l as [| a l IH]; intros inside; [destruct inside |]. cbn.
  destruct inside as [same | inside].
  - subst a. destruct (same_message m m); [discriminate | congruence].
  - destruct a; try (apply IH; exact inside). destruct (same_message m m0); [discriminate |].
    destruct (sent m l) as [[p k] |]; [discriminate | apply IH; exact inside].
Qed.

Lemma count_before_is_less : forall f l j a, nth_error l j = Some a -> f a = true -> count f (firstn j l) < count f l.
Proof.
  intros f l j a there holds. destruct (nth_error_split l j there) as [before [after [shape long]]].
  subst l j. rewrite firstn_app, Nat.sub_diag, firstn_all. cbn. rewrite app_nil_r.
  unfold count. rewrite filter_app. cbn. rewrite holds, app_length. cbn. lia.
Qed.

Lemma received_number : forall m l from i, received m l = Some (from, i) -> i < count (receives_from from) l.
Proof.
  intros m l from i found. destruct (received_is_there m l from i found) as [j [there counted]]. subst i.
  apply (count_before_is_less _ _ _ _ there). cbn. apply Nat.eqb_refl.
Qed.

Lemma sent_number : forall m l to i, sent m l = Some (to, i) -> i < count (sends_to to) l.
Proof.
  intros m l to i found. destruct (sent_is_there m l to i found) as [j [there counted]]. subst i.
  apply (count_before_is_less _ _ _ _ there). cbn. apply Nat.eqb_refl.
Qed.

Lemma arrivals_are_some : forall d before inputs, (forall m, In m inputs -> received m before <> None) ->
  arrivals d before inputs <> None.
Proof.
  intros d before inputs. induction inputs as [| m inputs IH]; intros each; cbn; [discriminate |].
  destruct (received m before) as [[from i] |] eqn:found; [| exfalso; apply (each m (or_introl eq_refl)); exact found].
  destruct (arrivals d before inputs) eqn:rest; [discriminate |].
  exfalso. apply IH; [intros k inside; apply each; right; exact inside | reflexivity].
Qed.

Lemma arrivals_need : forall d before inputs needed k n, arrivals d before inputs = Some needed -> In (k, n) needed ->
  exists m from i, In m inputs /\ received m before = Some (from, i) /\ k = Channel from d /\ n = S i.
Proof.
  intros d before inputs. induction inputs as [| m inputs IH]; intros needed k n found inside; cbn in found.
  - inversion found. subst. destruct inside.
  - destruct (received m before) as [[from i] |] eqn:here; [| discriminate].
    destruct (arrivals d before inputs) as [rest |] eqn:others; [| discriminate]. inversion found. subst needed.
    destruct inside as [same | inside].
    + inversion same. subst. exists m, from, i. split; [left; reflexivity |]. repeat split. exact here.
    + destruct (IH rest k n eq_refl inside) as [m' [from' [i' [among details]]]].
      exists m', from', i'. split; [right; exact among | exact details].
Qed.

Lemma arrivals_needed : forall d before inputs needed m, arrivals d before inputs = Some needed -> In m inputs ->
  exists from i, received m before = Some (from, i) /\ In (Channel from d, S i) needed.
Proof.
  intros d before inputs. induction inputs as [| k inputs IH]; intros needed m found inside; cbn in found; [destruct inside |].
  destruct (received k before) as [[from i] |] eqn:here; [| discriminate].
  destruct (arrivals d before inputs) as [rest |] eqn:others; [| discriminate]. inversion found. subst needed.
  destruct inside as [same | inside].
  - subst k. exists from, i. split; [exact here | left; reflexivity].
  - destruct (IH rest m eq_refl inside) as [p [n [there among]]]. exists p, n. split; [exact there | right; exact among].
Qed.

Section Rules.
  Variable X : semantics.
  Variable P : plan.
  Hypothesis In_order : in_order P.
  Hypothesis Received : received_before_used P.
  Hypothesis Sent : sent_before_waited P.

  Lemma both_ends : forall a b, count (sends_to b) (row P a) = count (receives_from a) (row P b).
  Proof. intros a b. rewrite <- length_of_sent, <- length_of_received, In_order. reflexivity. Qed.

  Lemma message_exists : forall a b n, n < count (sends_to b) (row P a) -> need X P (Channel a b) n <> None.
  Proof.
    intros a b n few. cbn. specialize (both_ends a b) as same.
    destruct (nth_error (positions (sends_to b) (row P a)) n) as [i |] eqn:at_a.
    - destruct (nth_error (positions (receives_from a) (row P b)) n) as [j |] eqn:at_b; [discriminate |].
      apply nth_error_None in at_b. unfold positions in at_b. rewrite length_of_positions in at_b. lia.
    - apply nth_error_None in at_a. unfold positions in at_a. rewrite length_of_positions in at_a. lia.
  Qed.

  Lemma message_exists_only : forall a b n, need X P (Channel a b) n <> None -> n < count (sends_to b) (row P a).
  Proof.
    intros a b n some. cbn in some. destruct (nth_error (positions (sends_to b) (row P a)) n) as [i |] eqn:at_a; [| congruence].
    assert (inside : n < length (positions (sends_to b) (row P a))) by (apply nth_error_Some; congruence).
    unfold positions in inside. rewrite length_of_positions in inside. exact inside.
  Qed.

  Lemma action_exists : forall d n, n < length (row P d) -> need X P (Device d) n <> None.
  Proof.
    intros d n inside. cbn. destruct (nth_error (row P d) n) as [a |] eqn:there.
    - destruct a as [ins outs | to m | from m | m |]; cbn; try discriminate.
      + apply arrivals_are_some. intros m among. destruct (Received d n ins outs m there among) as [from posted].
        apply (received_if_there m _ from posted).
      + destruct (Sent d n m there) as [to posted]. specialize (sent_if_there m _ to posted) as some.
        destruct (sent m (firstn n (row P d))) as [[p i] |]; [discriminate | congruence].
    - apply nth_error_None in there. lia.
  Qed.

  Lemma stream_exists : forall a b i k n, a < length P -> In (k, S n) (stream X P a b i) -> need X P k n <> None.
  Proof.
    intros a b i k n inside among.
    assert (between : forall c, In (k, S n) (earlier_between P a c i) -> need X P k n <> None).
    { intros c [same | [same | []]]; inversion same; subst; apply message_exists.
      - specialize (count_grows (sends_to c) (row P a) i). lia.
      - rewrite both_ends. specialize (count_grows (receives_from c) (row P a) i). lia. }
    destruct X; cbn [stream] in among; try (destruct among; fail).
    - apply (between b). exact among.
    - apply in_flat_map in among. destruct among as [c [_ among]]. apply (between c). exact among.
  Qed.

  Lemma what_is_needed_exists : forall k i needed j n,
    need X P k i = Some needed -> In (j, S n) needed -> need X P j n <> None.
  Proof.
    intros k i needed j n can inside. destruct k as [d | a b]; cbn in can.
    - destruct (nth_error (row P d) i) as [x |] eqn:there; [| discriminate].
      destruct x as [ins outs | to m | from m | m |]; cbn in can; try (inversion can; subst; destruct inside; fail).
      + destruct (arrivals_need _ _ _ _ _ _ can inside) as [m [from [k [_ [found [lane_is number]]]]]].
        inversion number. subst. apply message_exists. rewrite both_ends.
        apply received_number in found. specialize (count_grows (receives_from from) (row P d) i). lia.
      + destruct (sent m (firstn i (row P d))) as [[to k] |] eqn:found; [| discriminate]. inversion can. subst needed.
        assert (at_channel : j = Channel d to /\ n = k).
        { destruct X; [destruct inside | | |]; destruct inside as [same | []]; inversion same; split; reflexivity. }
        destruct at_channel. subst. apply message_exists.
        apply sent_number in found. specialize (count_grows (sends_to to) (row P d) i). lia.
    - destruct (nth_error (positions (sends_to b) (row P a)) i) as [p |] eqn:at_a; [| discriminate].
      destruct (nth_error (positions (receives_from a) (row P b)) i) as [q |] eqn:at_b; [| discriminate].
      inversion can. subst needed. apply position_is_action in at_a. apply position_is_action in at_b.
      destruct at_a as [x [there_a _]]. destruct at_b as [y [there_b _]].
      assert (a < length P) by (apply (row_inside P a p); congruence).
      assert (b < length P) by (apply (row_inside P b q); congruence).
      destruct inside as [same | [same | among]].
      + inversion same. subst. apply action_exists. apply nth_error_Some. congruence.
      + inversion same. subst. apply action_exists. apply nth_error_Some. congruence.
      + apply in_app_iff in among. destruct among as [among | among];
        [apply (stream_exists a b p j n) | apply (stream_exists b a q j n)]; assumption.
  Qed.

  (** What verify's theorem says of ends: when no rule is broken and nothing waits for itself, every run ends. *)
  Theorem acyclic_plans_end : acyclic X P -> ends X P.
  Proof.
    intros no_cycle l s runs stops d.
    apply Nat.le_antisymm; [apply (never_beyond_row X P l s runs) |].
    destruct (le_lt_dec (length (row P d)) (s (Device d))) as [all | missing]; [exact all | exfalso].
    destruct (stuck_means_cycle same_lane (need X P) (lanes_of P) (size_of P))
      with (l := l) (s := s) (e := (Device d, s (Device d))) as [f [cycle _]].
    - apply steps_are_known.
    - apply what_is_needed_exists.
    - intros k i some. destruct k as [c | a b].
      + apply action_exists. assert (S i < length (row P c)); [| lia]. apply nth_error_Some. intros none. apply some.
        cbn [need]. rewrite none. reflexivity.
      + apply message_exists. apply message_exists_only in some. lia.
    - exact runs.
    - exact stops.
    - cbn. apply action_exists. exact missing.
    - unfold done. cbn. lia.
    - apply (no_cycle f). exact cycle.
  Qed.
End Rules.

(** Conversely, when an action of a device waits for itself, no run ends. *)
Theorem plans_with_cycles_never_end : forall X P d n, n < length (row P d) ->
  clos_trans _ (waits_for (need X P)) (Device d, n) (Device d, n) ->
  forall l s, run (need X P) l s -> ~ finished P s.
Proof.
  intros X P d n inside cycle l s runs all.
  apply (cycles_never_run same_lane (need X P) l s (Device d, n) runs cycle).
  unfold done. cbn. rewrite all. exact inside.
Qed.

(** ** Every pass gets the message that it needs *)

Lemma nth_sent : forall b l start k i, nth_error (positions_from start (sends_to b) l) k = Some i ->
  exists m, nth_error l (i - start) = Some (Send b m) /\ nth_error (sent_messages b l) k = Some m.
Proof.
  intros b l. induction l as [| a l IH]; intros start k i found; cbn in found.
  - destruct k; discriminate.
  - assert (skip : forall k, nth_error (positions_from (S start) (sends_to b) l) k = Some i ->
      exists m, nth_error (a :: l) (i - start) = Some (Send b m) /\ nth_error (sent_messages b l) k = Some m).
    { intros n at_rest. destruct (IH (S start) n i at_rest) as [m [there named]]. exists m.
      apply positions_are_actions in at_rest. replace (i - start) with (S (i - S start)) by lia. split; assumption. }
    unfold sent_messages in *. cbn [flat_map]. destruct (sends_to b a) eqn:is_send.
    + destruct a as [ins outs | to m | from m | m |]; cbn in is_send; try discriminate. rewrite is_send.
      apply Nat.eqb_eq in is_send. subst to. destruct k as [| k]; cbn in found.
      * inversion found. subst. rewrite Nat.sub_diag. exists m. split; reflexivity.
      * apply skip in found. exact found.
    + apply skip in found. destruct a as [ins outs | to m | from m | m |]; cbn in is_send |- *; try exact found.
      rewrite is_send. exact found.
Qed.

Lemma nth_received : forall a l j m, nth_error l j = Some (Receive a m) ->
  nth_error (received_messages a l) (count (receives_from a) (firstn j l)) = Some m.
Proof.
  intros a l. induction l as [| x l IH]; intros j m there; [destruct j; discriminate |].
  destruct j as [| j]; cbn in there.
  - inversion there. subst. unfold received_messages. cbn. rewrite Nat.eqb_refl. reflexivity.
  - specialize (IH j m there). unfold received_messages, count in *. cbn [firstn flat_map filter].
    destruct x as [ins outs | to k | from k | k |]; cbn [receives_from]; try exact IH.
    destruct (from =? a); exact IH.
Qed.

Lemma nth_received_in_prefix : forall a l n k m, nth_error (received_messages a (firstn n l)) k = Some m ->
  nth_error (received_messages a l) k = Some m.
Proof.
  intros a l n k m found. rewrite <- (firstn_skipn n l). unfold received_messages in *. rewrite flat_map_app.
  rewrite nth_error_app1; [exact found |]. apply nth_error_Some. congruence.
Qed.

(** In a plan that receives messages in the order in which they are sent, a pass that has run has waited for its receive, this
    receive has taken a message, and the send of that message, which was posted, is the one of the message that the pass needs. *)
Theorem every_pass_gets_its_message : forall X P, in_order P -> forall l s, run (need X P) l s ->
  forall d n inputs outputs m, n < s (Device d) -> nth_error (row P d) n = Some (Run inputs outputs) -> In m inputs ->
  exists from k i, received m (firstn n (row P d)) = Some (from, k) /\ k < s (Channel from d) /\
    nth_error (positions (sends_to d) (row P from)) k = Some i /\
    i < s (Device from) /\ nth_error (row P from) i = Some (Send d m).
Proof.
  intros X P order l s runs d n inputs outputs m before there inside.
  destruct (taken_steps_had_needs same_lane (need X P) l s runs (Device d) n before) as [needed [can holds]].
  cbn [need] in can. rewrite there in can. cbn in can.
  destruct (arrivals_needed _ _ _ _ _ can inside) as [from [k [found among]]].
  assert (gone : k < s (Channel from d)) by (apply holds in among; lia).
  destruct (taken_steps_had_needs same_lane (need X P) l s runs (Channel from d) k gone) as [posted [can_go ends_posted]].
  cbn [need] in can_go.
  destruct (nth_error (positions (sends_to d) (row P from)) k) as [i |] eqn:at_from; [| discriminate].
  destruct (nth_error (positions (receives_from from) (row P d)) k) as [j |]; [| discriminate].
  inversion can_go. subst posted.
  exists from, k, i. split; [exact found |]. split; [exact gone |]. split; [exact at_from |].
  split; [apply (ends_posted (Device from) (S i)); left; reflexivity |].
  destruct (nth_sent d (row P from) 0 k i at_from) as [m' [is_send named]]. rewrite Nat.sub_0_r in is_send.
  destruct (received_is_there _ _ _ _ found) as [p [is_receive counted]]. apply nth_received in is_receive.
  rewrite counted in is_receive. apply nth_received_in_prefix in is_receive. rewrite order in named. congruence.
Qed.

(** The pass that makes this message has run. *)
Corollary every_message_was_made : forall X P, in_order P -> made_before_sent P -> forall l s, run (need X P) l s ->
  forall d n inputs outputs m, n < s (Device d) -> nth_error (row P d) n = Some (Run inputs outputs) -> In m inputs ->
  exists from i ins outs, i < s (Device from) /\ nth_error (row P from) i = Some (Run ins outs) /\ In m outs.
Proof.
  intros X P order made l s runs d n inputs outputs m before there inside.
  destruct (every_pass_gets_its_message X P order l s runs d n inputs outputs m before there inside)
    as [from [k [i [_ [_ [_ [posted is_send]]]]]]].
  destruct (made from i d m is_send) as [j [ins [outs [earlier [is_pass output]]]]].
  exists from, j, ins, outs. split; [lia |]. split; assumption.
Qed.

(** *** Values *)

Section Values.
  Context {memory value : Type}.
  Variable initially : nat -> memory.                              (** the memory of a device before its first action *)
  Variable after : nat -> nat -> memory -> list value -> memory.   (** after its action number n, which got these inputs *)
  Variable content : memory -> message -> value.                   (** what a send of a message takes out of the memory *)
  Variable nothing : value.
  Variable P : plan.

  Definition inputs_of (a : action) : list message := match a with Run inputs _ => inputs | _ => [] end.

  (** What a pass finds in the buffer of its receive: what the send took that is at the same place in the order, whatever the
      name of its message. [now d n] is the memory of device d after n actions. *)
  Definition arrived (now : nat -> nat -> memory) (d n : nat) (m : message) : value :=
    match received m (firstn n (row P d)) with
    | Some (from, k) =>
        match nth_error (positions (sends_to d) (row P from)) k with
        | Some i =>
            match nth_error (row P from) i with
            | Some (Send _ posted) => content (now from i) posted
            | _ => nothing
            end
        | None => nothing
        end
    | None => nothing
    end.

  (** The memories of a run, as far as it has come. *)
  Definition memories_of_run (s : state lane) (now : nat -> nat -> memory) : Prop :=
    forall d, now d 0 = initially d /\
      forall n a, n < s (Device d) -> nth_error (row P d) n = Some a ->
        now d (S n) = after d n (now d n) (map (arrived now d n) (inputs_of a)).

  (** The memories when every message is handed over by its name, as if there were one device, and [right] are the contents. *)
  Definition memories_by_name (right : message -> value) (should : nat -> nat -> memory) : Prop :=
    (forall d, should d 0 = initially d /\
      forall n a, nth_error (row P d) n = Some a -> should d (S n) = after d n (should d n) (map right (inputs_of a))) /\
    (forall d n to m, nth_error (row P d) n = Some (Send to m) -> content (should d n) m = right m).

  (** In every run, every device has the memory that it should have. So every pass computes what it should. *)
  Theorem every_run_computes_the_same : forall X, in_order P -> forall right should, memories_by_name right should ->
    forall l s, run (need X P) l s -> forall now, memories_of_run s now ->
    forall d n, n <= s (Device d) -> now d n = should d n.
  Proof.
    intros X order right should [should_be contents] l s runs.
    induction runs as [s zero | l s t k needed runs IH can holds steps rest]; intros now memories d n before.
    - rewrite zero in before. assert (n = 0) by lia. subst n.
      rewrite (proj1 (memories d)), (proj1 (should_be d)). reflexivity.
    - assert (all : run (need X P) (k :: l) t) by (apply (run_goes_on _ l s t k needed); assumption).
      assert (grows : forall j, s j <= t j).
      { intros j. destruct (same_lane j k) as [same | differs]; [subst; lia | rewrite rest by exact differs; lia]. }
      assert (same : forall d n, n <= s (Device d) -> now d n = should d n).
      { apply IH. intros c. split; [apply memories |]. intros i a earlier. apply memories. specialize (grows (Device c)). lia. }
      destruct (le_lt_dec n (s (Device d))) as [old | new]; [apply same; exact old |].
      assert (next : k = Device d).
      { destruct (same_lane (Device d) k) as [equal | differs]; [congruence |]. rewrite rest in before by exact differs. lia. }
      subst k. assert (n = S (s (Device d))) by lia. subst n. clear before new.
      set (i := s (Device d)) in *.
      cbn [need] in can. destruct (nth_error (row P d) i) as [a |] eqn:there; [| discriminate].
      rewrite (proj2 (memories d) i a) by (rewrite ?steps; try exact there; lia).
      rewrite (proj2 (should_be d) i a there). rewrite (same d i) by lia. f_equal.
      apply map_ext_in. intros m inside. destruct a as [ins outs | | | |]; try (destruct inside; fail). cbn in inside.
      assert (now_done : i < t (Device d)) by lia.
      destruct (every_pass_gets_its_message X P order (Device d :: l) t all d i ins outs m now_done there inside)
        as [from [p [q [found [gone [at_from [posted is_send]]]]]]].
      unfold arrived. rewrite found, at_from, is_send.
      assert (known : q < s (Device from)).
      { destruct (same_lane (Channel from d) (Device d)) as [equal | differs]; [discriminate |].
        assert (went : p < s (Channel from d)) by (rewrite rest in gone by exact differs; exact gone).
        destruct (taken_steps_had_needs same_lane (need X P) l s runs (Channel from d) p went) as [ends_of [can_go had]].
        cbn [need] in can_go. rewrite at_from in can_go.
        destruct (nth_error (positions (receives_from from) (row P d)) p) as [j |]; [| discriminate].
        inversion can_go. subst ends_of. apply (had (Device from) (S q)). left. reflexivity. }
      rewrite (same from q) by lia. apply (contents from q d m is_send).
  Qed.
End Values.
