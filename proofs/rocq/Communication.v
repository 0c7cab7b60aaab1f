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

    Not treated here: the order of losses, reductions, sharded weights, and messages that a runtime posts as one group. Passes of
    one device that need each other are the matter of replay. *open*: that every file which the rules of the code accept is
    [verified]; [rules_of_the_code_give_the_order] proves it for the order of messages, provided that no message is left over. *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Bubbleproof.Execution.
Import ListNotations.

(** ** Lanes that wait for each other *)

Section Lanes.
  Context {lane : Type}.
  Variable same_lane : forall a b : lane, {a = b} + {a <> b}.

  (** How many steps every lane has taken. *)
  Definition state := lane -> nat.

  (** What a lane needs to take its step number i (from 0): pairs (k, n) say that lane k must have taken n steps. [None]: the lane
      has no such step, or can never take it. *)
  Definition needing := lane -> nat -> option (list (lane * nat)).

  Definition met (s : state) (needed : list (lane * nat)) : Prop :=
    forall k n, In (k, n) needed -> n <= s k.

  (** [run need l s]: lanes can take steps in the order of l, the latest one first, and s is the state then. *)
  Inductive run (need : needing) : list lane -> state -> Prop :=
  | run_starts : forall s, (forall k, s k = 0) -> run need [] s
  | run_goes_on : forall l s t k needed,
      run need l s -> need k (s k) = Some needed -> met s needed ->
      t k = S (s k) -> (forall j, j <> k -> t j = s j) -> run need (k :: l) t.

  (** No lane can take a step. *)
  Definition stuck (need : needing) (s : state) : Prop :=
    forall k needed, need k (s k) = Some needed -> ~ met s needed.

  Lemma met_grows : forall s t needed, (forall k, s k <= t k) -> met s needed -> met t needed.
  Proof. intros s t needed grows holds k n inside. specialize (holds k n inside). specialize (grows k). lia. Qed.

  (** No run goes beyond a run that is stuck: a step that can be taken is never stopped by another one. *)
  Theorem no_run_goes_beyond : forall need l s k t, run need l s -> run need k t -> stuck need t -> forall j, s j <= t j.
  Proof.
    intros need l s k t runs. revert k t. induction runs as [s zero | l s s' i needed runs IH can holds steps rest];
      intros k t other stops j.
    - rewrite zero. lia.
    - assert (below : forall j, s j <= t j) by (apply (IH k t); assumption).
      destruct (same_lane j i) as [same | differs]; [| rewrite rest by exact differs; apply below].
      subst j. rewrite steps. specialize (below i) as at_i.
      assert (s i <> t i); [| lia]. intros equal. apply (stops i needed).
      + rewrite <- equal. exact can.
      + apply (met_grows s); assumption.
  Qed.

  (** So all runs that are stuck are in the same state: the order makes no difference. *)
  Theorem stuck_states_agree : forall need l s k t,
    run need l s -> stuck need s -> run need k t -> stuck need t -> forall j, s j = t j.
  Proof.
    intros need l s k t runs stops other others j. apply Nat.le_antisymm.
    - apply (no_run_goes_beyond need l s k t); assumption.
    - apply (no_run_goes_beyond need k t l s); assumption.
  Qed.

  (** What a lane needed for a step that it has taken is so ever after. *)
  Lemma taken_steps_had_needs : forall need l s, run need l s -> forall k i, i < s k ->
    exists needed, need k i = Some needed /\ met s needed.
  Proof.
    intros need l s runs. induction runs as [s zero | l s t j needed runs IH can holds steps rest]; intros k i before.
    - rewrite zero in before. lia.
    - assert (grows : forall k, s k <= t k).
      { intros h. destruct (same_lane h j) as [same | differs]; [subst; lia | rewrite rest by exact differs; lia]. }
      destruct (same_lane k j) as [same | differs].
      + subst k. destruct (Nat.eq_dec i (s j)) as [now | earlier].
        * subst i. exists needed. split; [exact can | apply (met_grows s); assumption].
        * destruct (IH j i) as [others [found had]]; [lia |]. exists others. split; [exact found | apply (met_grows s); assumption].
      + rewrite rest in before by exact differs. destruct (IH k i before) as [others [found had]].
        exists others. split; [exact found | apply (met_grows s); assumption].
  Qed.

  (** Whoever needs less can do everything that others can do. *)
  Lemma fewer_needs_run : forall strict loose,
    (forall k i needed, strict k i = Some needed -> exists fewer, loose k i = Some fewer /\ incl fewer needed) ->
    forall l s, run strict l s -> run loose l s.
  Proof.
    intros strict loose fewer l s runs. induction runs as [s zero | l s t k needed runs IH can holds steps rest].
    - apply run_starts. exact zero.
    - destruct (fewer k (s k) needed can) as [less [found inside]].
      apply (run_goes_on loose l s t k less); try assumption. intros j n among. apply holds. apply inside. exact among.
  Qed.

  (** *** Every run comes to an end *)

  Section Finite.
    Variable need : needing.
    Variable lanes : list lane.
    Variable size : lane -> nat.
    Hypothesis All : forall k i needed, need k i = Some needed -> In k lanes /\ i < size k.

    Lemma never_more_than_size : forall l s, run need l s -> forall k, s k <= size k.
    Proof.
      intros l s runs k. destruct (s k) as [| i] eqn:steps; [lia |].
      destruct (taken_steps_had_needs need l s runs k i) as [needed [found _]]; [lia |]. apply All in found. lia.
    Qed.

    Lemma state_counts_steps : forall l s, run need l s -> forall k, s k = count_occ same_lane l k.
    Proof.
      intros l s runs. induction runs as [s zero | l s t j needed runs IH can holds steps rest]; intros k; cbn.
      - apply zero.
      - destruct (same_lane j k) as [same | differs].
        + subst. rewrite steps, IH. reflexivity.
        + rewrite rest by congruence. apply IH.
    Qed.

    Definition total (f : lane -> nat) : nat := fold_right (fun k n => f k + n) 0 (nodup same_lane lanes).

    Lemma sum_le : forall (f g : lane -> nat) l, (forall k, In k l -> f k <= g k) ->
      fold_right (fun k n => f k + n) 0 l <= fold_right (fun k n => g k + n) 0 l.
    Proof.
      intros f g l. induction l as [| k l IH]; cbn; intros each; [lia |].
      assert (f k <= g k) by auto. assert (below := IH (fun j inside => each j (or_intror inside))). lia.
    Qed.

    Lemma sum_adds_one : forall (f g : lane -> nat) l k, NoDup l -> In k l -> g k = S (f k) -> (forall j, j <> k -> g j = f j) ->
      fold_right (fun k n => g k + n) 0 l = S (fold_right (fun k n => f k + n) 0 l).
    Proof.
      intros f g l k single. induction single as [| j l fresh single IH]; intros inside more rest; [destruct inside |].
      cbn. destruct inside as [same | inside].
      - subst j. rewrite more. cbn. f_equal. f_equal. clear IH single.
        induction l as [| h l IH]; cbn; [reflexivity |]. rewrite rest, IH; [reflexivity | |].
        + intros inside. apply fresh. right. exact inside.
        + intros same. apply fresh. left. exact same.
      - rewrite IH by assumption. rewrite rest; [lia |]. intros same. subst. contradiction.
    Qed.

    Lemma length_is_total : forall l s, run need l s -> length l = total s.
    Proof.
      intros l s runs. induction runs as [s zero | l s t j needed runs IH can holds steps rest]; cbn.
      - unfold total. induction (nodup same_lane lanes) as [| k l IH]; cbn; [reflexivity |]. rewrite zero. exact IH.
      - rewrite IH. unfold total. symmetry. apply (sum_adds_one s t _ j).
        + apply NoDup_nodup.
        + apply nodup_In. apply All in can. apply can.
        + exact steps.
        + exact rest.
    Qed.

    (** No run has more steps than the lanes have together. *)
    Theorem runs_are_bounded : forall l s, run need l s -> length l <= total size.
    Proof.
      intros l s runs. rewrite (length_is_total l s runs). apply sum_le. intros k _.
      apply (never_more_than_size l s runs).
    Qed.

    Lemma met_or_not : forall (s : state) needed, {met s needed} + {~ met s needed}.
    Proof.
      intros s needed. induction needed as [| [k n] needed IH].
      - left. intros k n [].
      - destruct (le_dec n (s k)) as [enough | missing].
        + destruct IH as [holds | fails].
          * left. intros j i [same | inside]; [inversion same; subst; exact enough | apply holds; exact inside].
          * right. intros holds. apply fails. intros j i inside. apply holds. right. exact inside.
        + right. intros holds. apply missing. apply holds. left. reflexivity.
    Qed.

    (** Either no lane can take a step, or some lane can. *)
    Lemma stuck_or_not : forall s : state, stuck need s \/ exists k needed, need k (s k) = Some needed /\ met s needed.
    Proof.
      intros s.
      assert (search : forall l : list lane, (forall k needed, In k l -> need k (s k) = Some needed -> ~ met s needed) \/
        exists k needed, need k (s k) = Some needed /\ met s needed).
      { intros l. induction l as [| k l [none | some]]; [left; intros k needed [] | | right; exact some].
        destruct (need k (s k)) as [needed |] eqn:found.
        - destruct (met_or_not s needed) as [holds | fails]; [right; exists k, needed; split; assumption |].
          left. intros j others [same | inside] can; [| apply (none j); assumption].
          subst j. rewrite found in can. inversion can. subst. exact fails.
        - left. intros j others [same | inside] can; [subst; congruence | apply (none j); assumption]. }
      destruct (search lanes) as [none | some]; [left | right; exact some].
      intros k needed can. apply (none k); [apply All in can; apply can | exact can].
    Qed.

    (** Every run can go on until no lane can take a step. *)
    Theorem runs_come_to_an_end : forall l s, run need l s -> exists more t, run need (more ++ l) t /\ stuck need t.
    Proof.
      intros l s runs. remember (total size - length l) as left_over eqn:measure. revert l s runs measure.
      induction left_over as [left_over IH] using lt_wf_ind. intros l s runs measure.
      destruct (stuck_or_not s) as [stops | [k [needed [can holds]]]].
      - exists [], s. split; assumption.
      - set (t := fun j => if same_lane j k then S (s j) else s j).
        assert (next : run need (k :: l) t).
        { apply (run_goes_on need l s t k needed); try assumption; unfold t.
          - destruct (same_lane k k); [reflexivity | congruence].
          - intros j differs. destruct (same_lane j k); [congruence | reflexivity]. }
        assert (bound := runs_are_bounded _ _ next). cbn in bound.
        destruct (IH (total size - length (k :: l))) with (l := k :: l) (s := t) as [more [u [further stops]]];
          [cbn; lia | exact next | reflexivity |].
        exists (more ++ [k]), u. rewrite <- app_assoc. split; assumption.
    Qed.
  End Finite.

  (** *** Cycles *)

  Definition step_of := (lane * nat)%type.

  Definition done (s : state) (e : step_of) : Prop := snd e < s (fst e).

  (** [waits_for need e f]: step e comes after step f, since f is the step before it in its lane, or what e needs. *)
  Inductive waits_for (need : needing) : step_of -> step_of -> Prop :=
  | waits_in_lane : forall k i, waits_for need (k, S i) (k, i)
  | waits_for_need : forall k i needed j n,
      need k i = Some needed -> In (j, S n) needed -> waits_for need (k, i) (j, n).

  Lemma done_means_waited : forall need l s, run need l s -> forall e f, waits_for need e f -> done s e -> done s f.
  Proof.
    intros need l s runs e f waits. unfold done. destruct waits as [k i | k i needed j n can inside]; cbn; intros before.
    - lia.
    - destruct (taken_steps_had_needs need l s runs k i before) as [others [found holds]].
      rewrite can in found. inversion found. subst. specialize (holds j (S n) inside). lia.
  Qed.

  Lemma done_means_all_waited : forall need l s, run need l s -> forall e f,
    clos_trans _ (waits_for need) e f -> done s e -> done s f.
  Proof.
    intros need l s runs e f waits. induction waits as [e f waits | e f g _ one _ two]; intros before; auto.
    apply (done_means_waited need l s runs e f); assumption.
  Qed.

  Lemma waited_before : forall need l s k needed, run need l s -> need k (s k) = Some needed -> met s needed ->
    forall f, waits_for need (k, s k) f -> done s f.
  Proof.
    intros need l s k needed runs can holds f waits. unfold done.
    inversion waits as [j i same | j i others h n found inside same]; subst; cbn.
    - lia.
    - rewrite can in found. inversion found. subst. specialize (holds h (S n) inside). lia.
  Qed.

  (** A step on a cycle of waits is never taken, in any run. *)
  Theorem cycles_never_run : forall need l s e, run need l s -> clos_trans _ (waits_for need) e e -> ~ done s e.
  Proof.
    intros need l s e runs cycle. induction runs as [s zero | l s t k needed runs IH can holds steps rest].
    - unfold done. rewrite zero. lia.
    - intros now. destruct e as [j i]. unfold done in *. cbn in *.
      assert (new : j = k /\ i = s k).
      { destruct (same_lane j k) as [same | differs]; [subst; split; [reflexivity | lia] |].
        rewrite rest in now by exact differs. lia. }
      destruct new as [same_one same_step]. subst j i.
      apply IH. apply clos_trans_t1n in cycle.
      assert (first : forall f, waits_for need (k, s k) f -> done s f) by (apply (waited_before need l s k needed); assumption).
      inversion cycle as [f direct | f g direct further]; subst.
      + apply first in direct. exact direct.
      + apply clos_t1n_trans in further.
        apply (done_means_all_waited need l s runs f (k, s k) further). apply first. exact direct.
  Qed.

  (** If some steps are not taken though all that they wait for exists, some of them wait for each other in a cycle. *)
  Theorem stuck_means_cycle : forall need lanes size,
    (forall k i needed, need k i = Some needed -> In k lanes /\ i < size k) ->
    (forall k i needed j n, need k i = Some needed -> In (j, S n) needed -> need j n <> None) ->
    (forall k i, need k (S i) <> None -> need k i <> None) ->
    forall l s e, run need l s -> stuck need s -> need (fst e) (snd e) <> None -> ~ done s e ->
    exists f, clos_trans _ (waits_for need) f f /\ need (fst f) (snd f) <> None.
  Proof.
    intros need lanes size all closed filled l s e runs stops known waiting.
    set (open := fun f : step_of => need (fst f) (snd f) <> None /\ ~ done s f).
    (* An open step waits for an open step. *)
    assert (prefix : forall k i j, need k i <> None -> j <= i -> need k j <> None).
    { intros k i j some below. induction below as [| i below IH]; [exact some | apply IH, filled, some]. }
    assert (onwards : forall f, open f -> exists g, open g /\ waits_for need f g).
    { intros [k i] [some missing]. unfold done in missing. cbn in some, missing.
      destruct (Nat.eq_dec i (s k)) as [next | later].
      - subst i. destruct (need k (s k)) as [needed |] eqn:can; [| congruence].
        assert (blocked := stops k needed can).
        assert (unmet : exists j n, In (j, n) needed /\ ~ n <= s j).
        { clear - blocked. induction needed as [| [j n] needed IH].
          - exfalso. apply blocked. intros j n [].
          - destruct (le_dec n (s j)) as [enough | short].
            + destruct IH as [j' [n' [inside short]]].
              * intros holds. apply blocked. intros j' n' [same | inside]; [inversion same; subst; exact enough | auto].
              * exists j', n'. split; [right; exact inside | exact short].
            + exists j, n. split; [left; reflexivity | exact short]. }
        destruct unmet as [j [n [inside short]]]. destruct n as [| n]; [lia |].
        exists (j, n). split; [split; cbn; [apply (closed k (s k) needed); assumption | unfold done; cbn; lia] |].
        apply (waits_for_need need k (s k) needed); assumption.
      - destruct i as [| i]; [lia |]. exists (k, i). split; [| constructor].
        split; cbn; [apply filled; exact some | unfold done; cbn; lia]. }
    (* Open steps are finitely many. *)
    set (steps := flat_map (fun k => map (fun i => (k, i)) (seq 0 (size k))) lanes).
    assert (listed : forall f, open f -> In f steps).
    { intros [k i] [some _]. cbn in some. destruct (need k i) as [needed |] eqn:can; [| congruence]. apply all in can.
      apply in_flat_map. exists k. split; [apply can |]. apply in_map. apply in_seq. lia. }
    assert (same_step : forall f g : step_of, {f = g} + {f <> g}) by (decide equality; apply Nat.eq_dec).
    (* Follow the waits until a step comes again. *)
    assert (chain : forall fuel path f, open f -> (forall g, In g path -> open g) -> NoDup path ->
      (forall g, In g path -> clos_trans _ (waits_for need) g f) -> length steps < fuel + length path ->
      exists g, clos_trans _ (waits_for need) g g /\ need (fst g) (snd g) <> None).
    { intros fuel. induction fuel as [| fuel IH]; intros path f is_open opens single leads enough.
      - exfalso. assert (length path <= length steps); [| lia].
        apply NoDup_incl_length; [exact single |]. intros g inside. auto.
      - destruct (in_dec same_step f path) as [again | fresh].
        + exists f. split; [apply leads; exact again | apply is_open].
        + destruct (onwards f is_open) as [g [g_open waits]].
          apply (IH (f :: path) g).
          * exact g_open.
          * intros h [same | inside]; [subst; exact is_open | auto].
          * constructor; assumption.
          * intros h [same | inside]; [subst; constructor; exact waits |].
            apply (t_trans _ _ h f g); [apply leads; exact inside | constructor; exact waits].
          * cbn. lia. }
    apply (chain (S (length steps)) [] e).
    - split; assumption.
    - intros g [].
    - constructor.
    - intros g [].
    - cbn. lia.
  Qed.
End Lanes.
Arguments needing : clear implicits.
Arguments state : clear implicits.

(** ** Plans: what every device does *)

(** What a message carries: an activation, or the gradient of an input; the earlier of the two stages that it goes between; its
    microbatch. *)
Record message := Message { is_gradient : bool; boundary : N; number : N }.

Definition same_message (m k : message) : {m = k} + {m <> k}.
Proof. decide equality; [apply N.eq_dec | apply N.eq_dec | apply bool_dec]. Defined.

Inductive action :=
| Run (inputs outputs : list message)      (** a pass or a pair of passes: the messages that it waits for, those that it makes *)
| Send (to : nat) (m : message)            (** posts a send *)
| Receive (from : nat) (m : message)       (** posts a receive *)
| WaitSend (m : message)                   (** waits until the message has left *)
| Other.                                   (** waits for nothing *)

(** A row of actions for each device. *)
Definition plan := list (list action).

Definition row (P : plan) (d : nat) : list action := nth d P [].

Inductive semantics := Buffered | Rendezvous | PairStreams | DeviceStreams.

(** Messages of one direction between two devices have a lane of their own. Its steps are the messages, in the order in which
    they are posted: no names are looked at. A step of it means that the message arrives, and has left. *)
Inductive lane :=
| Device (d : nat)
| Channel (from to : nat).

Definition same_lane (a b : lane) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.

Definition sends_to (b : nat) (a : action) : bool :=
  match a with Send to _ => to =? b | _ => false end.

Definition receives_from (b : nat) (a : action) : bool :=
  match a with Receive from _ => from =? b | _ => false end.

Definition count (f : action -> bool) (l : list action) : nat := length (filter f l).

(** The positions in a row of the actions with a property. *)
Fixpoint positions_from (start : nat) (f : action -> bool) (l : list action) : list nat :=
  match l with
  | [] => []
  | a :: rest => if f a then start :: positions_from (S start) f rest else positions_from (S start) f rest
  end.

Definition positions := positions_from 0.

(** The first receive of a message: its peer, and its number among the receives from there. *)
Fixpoint received (m : message) (l : list action) : option (nat * nat) :=
  match l with
  | [] => None
  | Receive from k :: rest =>
      if same_message m k then Some (from, 0)
      else match received m rest with
           | Some (peer, i) => Some (peer, if from =? peer then S i else i)
           | None => None
           end
  | _ :: rest => received m rest
  end.

(** The first send of a message likewise. *)
Fixpoint sent (m : message) (l : list action) : option (nat * nat) :=
  match l with
  | [] => None
  | Send to k :: rest =>
      if same_message m k then Some (to, 0)
      else match sent m rest with
           | Some (peer, i) => Some (peer, if to =? peer then S i else i)
           | None => None
           end
  | _ :: rest => sent m rest
  end.

(** What a device needs for an action: [before] are the actions that it has done, which have posted their messages. A pass
    whose message has not been asked for is never possible, nor is a wait for what has not been sent. *)
Fixpoint arrivals (d : nat) (before : list action) (inputs : list message) : option (list (lane * nat)) :=
  match inputs with
  | [] => Some []
  | m :: rest =>
      match received m before, arrivals d before rest with
      | Some (from, i), Some needed => Some ((Channel from d, S i) :: needed)
      | _, _ => None
      end
  end.

Definition needs_of_action (X : semantics) (d : nat) (before : list action) (a : action) : option (list (lane * nat)) :=
  match a with
  | Run inputs _ => arrivals d before inputs
  | WaitSend m =>
      match sent m before with
      | Some (to, i) => Some (match X with Buffered => [] | _ => [(Channel d to, S i)] end)
      | None => None
      end
  | _ => Some []
  end.

(** Every message between a and b that a posts before position i, in either direction, has gone. *)
Definition earlier_between (P : plan) (a b i : nat) : list (lane * nat) :=
  let before := firstn i (row P a) in
  [(Channel a b, count (sends_to b) before); (Channel b a, count (receives_from b) before)].

(** What keeps back the end of a message that a posts at position i to or from b. *)
Definition stream (X : semantics) (P : plan) (a b i : nat) : list (lane * nat) :=
  match X with
  | Buffered | Rendezvous => []
  | PairStreams => earlier_between P a b i
  | DeviceStreams => flat_map (fun peer => earlier_between P a peer i) (seq 0 (length P))
  end.

(** A message goes when both ends are posted and the streams of both devices have come to it. *)
Definition needs_of_message (X : semantics) (P : plan) (a b i j : nat) : list (lane * nat) :=
  (Device a, S i) :: (Device b, S j) :: stream X P a b i ++ stream X P b a j.

Definition need (X : semantics) (P : plan) : needing lane := fun k n =>
  match k with
  | Device d =>
      match nth_error (row P d) n with
      | Some a => needs_of_action X d (firstn n (row P d)) a
      | None => None
      end
  | Channel a b =>
      match nth_error (positions (sends_to b) (row P a)) n, nth_error (positions (receives_from a) (row P b)) n with
      | Some i, Some j => Some (needs_of_message X P a b i j)
      | _, _ => None
      end
  end.

(** Every device has done its whole row. *)
Definition finished (P : plan) (s : state lane) : Prop := forall d, s (Device d) = length (row P d).

(** Every run that cannot go on has done everything. (Every run comes to its end: see [every_run_comes_to_an_end].) *)
Definition ends (X : semantics) (P : plan) : Prop :=
  forall l s, run (need X P) l s -> stuck (need X P) s -> finished P s.

(** *** Finitely many steps *)

Definition device_lanes (P : plan) : list lane := map Device (seq 0 (length P)).
Definition peers (l : list action) : list nat :=
  nodup Nat.eq_dec (flat_map (fun a => match a with Send to _ => [to] | _ => [] end) l).
Definition channel_lanes (P : plan) : list lane :=
  flat_map (fun a => map (Channel a) (peers (row P a))) (seq 0 (length P)).
Definition lanes_of (P : plan) : list lane := device_lanes P ++ channel_lanes P.

Definition size_of (P : plan) (k : lane) : nat :=
  match k with
  | Device d => length (row P d)
  | Channel a b => length (positions (sends_to b) (row P a))
  end.

Lemma row_inside : forall P d n, nth_error (row P d) n <> None -> d < length P.
Proof.
  intros P d n some. destruct (le_lt_dec (length P) d) as [out | inside]; [| exact inside].
  exfalso. apply some. unfold row. rewrite nth_overflow by exact out. destruct n; reflexivity.
Qed.

Lemma positions_are_actions : forall f l start k i, nth_error (positions_from start f l) k = Some i ->
  start <= i /\ exists a, nth_error l (i - start) = Some a /\ f a = true /\ count f (firstn (i - start) l) = k.
Proof.
  intros f l. induction l as [| a l IH]; intros start k i found; cbn in found.
  - destruct k; discriminate.
  - destruct (f a) eqn:has.
    + destruct k as [| k]; cbn in found.
      * inversion found. subst i. split; [lia |]. exists a. rewrite Nat.sub_diag. cbn. repeat split. exact has.
      * apply IH in found. destruct found as [later [b [there [holds counted]]]]. split; [lia |].
        exists b. replace (i - start) with (S (i - S start)) by lia. cbn [nth_error firstn]. split; [exact there |].
        split; [exact holds |]. unfold count in *. cbn. rewrite has. cbn. rewrite counted. reflexivity.
    + apply IH in found. destruct found as [later [b [there [holds counted]]]]. split; [lia |].
      exists b. replace (i - start) with (S (i - S start)) by lia. cbn [nth_error firstn]. split; [exact there |].
      split; [exact holds |]. unfold count in *. cbn. rewrite has. exact counted.
Qed.

Lemma position_is_action : forall f l k i, nth_error (positions f l) k = Some i ->
  exists a, nth_error l i = Some a /\ f a = true /\ count f (firstn i l) = k.
Proof.
  intros f l k i found. apply positions_are_actions in found. rewrite Nat.sub_0_r in found. apply found.
Qed.

Lemma steps_are_known : forall X P k n needed, need X P k n = Some needed -> In k (lanes_of P) /\ n < size_of P k.
Proof.
  intros X P k n needed can. unfold lanes_of. rewrite in_app_iff. destruct k as [d | a b]; cbn in can |- *.
  - destruct (nth_error (row P d) n) as [x |] eqn:there; [| discriminate]. split.
    + left. apply in_map. apply in_seq. assert (d < length P); [| lia]. apply (row_inside P d n). congruence.
    + apply nth_error_Some. congruence.
  - destruct (nth_error (positions (sends_to b) (row P a)) n) as [i |] eqn:at_a; [| discriminate]. split.
    + right. destruct (position_is_action _ _ _ _ at_a) as [x [there [holds _]]].
      apply in_flat_map. exists a. split.
      * apply in_seq. assert (a < length P); [| lia]. apply (row_inside P a i). congruence.
      * apply in_map. apply nodup_In. apply in_flat_map. exists x. split; [apply (nth_error_In _ _ there) |].
        destruct x as [ins outs | to m | from m | m |]; cbn in holds; try discriminate.
        apply Nat.eqb_eq in holds. subst. left. reflexivity.
    + apply nth_error_Some. congruence.
Qed.

(** Every run has at most as many steps as the plan has actions and messages, and comes to an end. *)
Theorem every_run_comes_to_an_end : forall X P l s, run (need X P) l s ->
  exists more t, run (need X P) (more ++ l) t /\ stuck (need X P) t.
Proof. intros X P. apply (runs_come_to_an_end same_lane (need X P) (lanes_of P) (size_of P)). apply steps_are_known. Qed.

Theorem every_run_is_bounded : forall X P l s, run (need X P) l s ->
  length l <= total same_lane (lanes_of P) (size_of P).
Proof. intros X P. apply (runs_are_bounded same_lane (need X P) (lanes_of P) (size_of P)). apply steps_are_known. Qed.

Lemma never_beyond_row : forall X P l s, run (need X P) l s -> forall d, s (Device d) <= length (row P d).
Proof.
  intros X P l s runs d.
  apply (never_more_than_size same_lane (need X P) (lanes_of P) (size_of P) (steps_are_known X P) l s runs (Device d)).
Qed.

(** One run that has done everything is proof that every run does. *)
Theorem one_run_is_enough : forall X P l s, run (need X P) l s -> finished P s -> ends X P.
Proof.
  intros X P l s runs all k t other stops d. apply Nat.le_antisymm; [apply (never_beyond_row X P k t other) |].
  rewrite <- (all d). apply (no_run_goes_beyond same_lane (need X P) l s k t); assumption.
Qed.

(** Either every run ends, or none does. *)
Theorem all_or_none : forall X P l s, run (need X P) l s -> stuck (need X P) s -> ~ finished P s ->
  forall k t, run (need X P) k t -> ~ finished P t.
Proof.
  intros X P l s runs stops missing k t other all. apply missing. apply (one_run_is_enough X P k t other all l s runs stops).
Qed.

(** *** Stricter semantics *)

Definition stricter (X Y : semantics) : Prop :=
  match X, Y with
  | _, Buffered => True
  | Buffered, _ => False
  | _, Rendezvous => True
  | Rendezvous, _ => False
  | _, PairStreams => True
  | PairStreams, _ => False
  | DeviceStreams, DeviceStreams => True
  end.

Lemma stream_grows : forall X Y P a b i, stricter X Y -> b < length P -> incl (stream Y P a b i) (stream X P a b i).
Proof.
  intros X Y P a b i order inside e among.
  assert (all : forall f, In e (earlier_between P a b f) ->
    In e (flat_map (fun peer => earlier_between P a peer f) (seq 0 (length P)))).
  { intros f found. apply in_flat_map. exists b. split; [apply in_seq; lia | exact found]. }
  destruct X, Y; cbn [stricter] in order; try contradiction; cbn [stream] in *;
    try exact among; try (destruct among; fail); apply all; exact among.
Qed.

Lemma stricter_needs_more : forall X Y P, stricter X Y -> forall k n needed, need X P k n = Some needed ->
  exists fewer, need Y P k n = Some fewer /\ incl fewer needed.
Proof.
  intros X Y P order k n needed can. destruct k as [d | a b]; cbn in can |- *.
  - destruct (nth_error (row P d) n) as [x |]; [| discriminate].
    destruct x as [ins outs | to m | from m | m |]; cbn in can |- *;
      try (exists needed; split; [exact can | apply incl_refl]).
    destruct (sent m (firstn n (row P d))) as [[to i] |]; [| discriminate]. inversion can. subst.
    eexists. split; [reflexivity |]. destruct X, Y; cbn in order; try contradiction;
      try apply incl_refl; apply incl_nil_l.
  - destruct (nth_error (positions (sends_to b) (row P a)) n) as [i |] eqn:at_a; [| discriminate].
    destruct (nth_error (positions (receives_from a) (row P b)) n) as [j |] eqn:at_b; [| discriminate].
    inversion can. subst. eexists. split; [reflexivity |]. unfold needs_of_message.
    assert (a < length P).
    { apply position_is_action in at_a. destruct at_a as [x [there _]]. apply (row_inside P a i). congruence. }
    assert (b < length P).
    { apply position_is_action in at_b. destruct at_b as [x [there _]]. apply (row_inside P b j). congruence. }
    intros e [same | [same | among]]; [left; exact same | right; left; exact same | right; right].
    apply in_app_iff in among. apply in_app_iff.
    destruct among as [among | among]; [left | right]; revert e among; apply stream_grows; assumption.
Qed.

(** A plan that ends under one semantics ends under all that are more permissive. *)
Theorem ends_under_more_permissive : forall X Y P, stricter X Y -> ends X P -> ends Y P.
Proof.
  intros X Y P order good.
  assert (start : run (need X P) [] (fun _ => 0)) by (apply run_starts; reflexivity).
  destruct (every_run_comes_to_an_end X P [] _ start) as [l [s [runs stops]]].
  rewrite app_nil_r in runs. apply (one_run_is_enough Y P l s).
  - apply (fewer_needs_run (need X P)); [apply stricter_needs_more; exact order | exact runs].
  - apply (good l s runs stops).
Qed.

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

(** ** Carrying out lanes one after the other *)

Definition counts := PositiveMap.t nat.

Definition get (c : counts) (p : positive) : nat :=
  match PositiveMap.find p c with Some n => n | None => 0 end.

Lemma get_same : forall c p n, get (PositiveMap.add p n c) p = n.
Proof. intros c p n. unfold get. rewrite PositiveMap.gss. reflexivity. Qed.

Lemma get_other : forall c p q n, q <> p -> get (PositiveMap.add p n c) q = get c q.
Proof. intros c p q n differs. unfold get. rewrite PositiveMap.gso by exact differs. reflexivity. Qed.

Lemma get_empty : forall p, get (PositiveMap.empty nat) p = 0.
Proof. intros p. unfold get. rewrite PositiveMap.gempty. reflexivity. Qed.

(** A step, with lanes as numbers; [None] is one that is never possible. *)
Definition item := option (list (positive * nat)).

Definition ready (c : counts) (needed : list (positive * nat)) : bool :=
  forallb (fun '(p, n) => n <=? get c p) needed.

(** Lets a lane take as many steps as it can; whether it has taken any. *)
Fixpoint drain (c : counts) (p : positive) (taken : nat) (items : list item) : counts * list item * bool :=
  match items with
  | Some needed :: rest =>
      if ready c needed then
        let '(c, later, _) := drain (PositiveMap.add p (S taken) c) p (S taken) rest in (c, later, true)
      else (c, items, false)
  | _ => (c, items, false)
  end.

(** Likewise all lanes, one after the other. *)
Fixpoint sweep (c : counts) (lanes : list (positive * list item)) : counts * list (positive * list item) * bool :=
  match lanes with
  | [] => (c, [], false)
  | (p, items) :: others =>
      let '(c, later, moved) := drain c p (get c p) items in
      let '(c, rest, moved_too) := sweep c others in
      (c, (p, later) :: rest, (moved || moved_too)%bool)
  end.

(** Again and again, until nothing moves. *)
Fixpoint execute (fuel : nat) (c : counts) (lanes : list (positive * list item)) : counts :=
  match fuel with
  | 0 => c
  | S fuel => let '(c, lanes, moved) := sweep c lanes in if moved then execute fuel c lanes else c
  end.

Definition remaining (lanes : list (positive * list item)) : nat :=
  fold_right (fun '(_, items) n => length items + n) 0 lanes.

Definition outcome (lanes : list (positive * list item)) : counts :=
  execute (S (remaining lanes)) (PositiveMap.empty nat) lanes.

Section Executing.
  Context {lane : Type}.
  Variable same_lane : forall a b : lane, {a = b} + {a <> b}.
  Variable code : lane -> positive.
  Hypothesis Codes : forall j k, code j = code k -> j = k.

  Definition encode (needed : list (lane * nat)) : list (positive * nat) := map (fun '(k, n) => (code k, n)) needed.

  Variable need : needing lane.
  Variable items : lane -> list item.

  (** The items of a lane say what it needs. *)
  Definition right_items (k : lane) : Prop :=
    forall n, match nth_error (items k) n with
              | Some (Some needed) => exists known, need k n = Some known /\ needed = encode known
              | _ => need k n = None
              end.

  Variable lanes : list lane.
  Hypothesis Right : forall k, In k lanes -> right_items k.
  Hypothesis Known : forall k n needed, need k n = Some needed -> In k lanes.

  Definition agrees (c : counts) (s : state lane) : Prop := forall k, get c (code k) = s k.

  Definition blocked (s : state lane) (k : lane) : Prop := forall needed, need k (s k) = Some needed -> ~ met s needed.

  Lemma ready_means_met : forall c s needed, agrees c s -> (ready c (encode needed) = true <-> met s needed).
  Proof.
    intros c s needed agree. unfold ready, encode. rewrite forallb_forall. split.
    - intros all k n inside. specialize (all (code k, n)). rewrite <- agree. apply Nat.leb_le. apply all.
      apply in_map_iff. exists (k, n). split; [reflexivity | exact inside].
    - intros holds [p n] inside. apply in_map_iff in inside. destruct inside as [[k i] [same inside]]. inversion same. subst.
      apply Nat.leb_le. rewrite agree. apply holds. exact inside.
  Qed.

  Lemma skipn_head : forall (A : Type) n (l : list A),
    skipn n l = match nth_error l n with Some x => x :: skipn (S n) l | None => [] end.
  Proof.
    intros A n. induction n as [| n IH]; intros [| x l]; try reflexivity.
    cbn [skipn nth_error]. rewrite IH. reflexivity.
  Qed.

  Lemma drained : forall left c k l s, In k lanes -> run need l s -> agrees c s -> skipn (s k) (items k) = left ->
    exists c' left' moved l' s', drain c (code k) (s k) left = (c', left', moved) /\ run need l' s' /\ agrees c' s' /\
      left' = skipn (s' k) (items k) /\ (forall j, j <> k -> s' j = s j) /\ length left' <= length left /\
      if moved then length left' < length left else (forall j, s' j = s j) /\ blocked s k.
  Proof.
    intros left. induction left as [| head left IH]; intros c k l s inside runs agree shape.
    - exists c, [], false, l, s. split; [reflexivity |]. split; [exact runs |]. split; [exact agree |].
      split; [symmetry; exact shape |]. split; [reflexivity |]. split; [lia |]. split; [reflexivity |].
      intros needed can. specialize (Right k inside (s k)).
      rewrite skipn_head in shape. destruct (nth_error (items k) (s k)); [discriminate | congruence].
    - specialize (Right k inside (s k)) as here. pose proof shape as unfolded. rewrite skipn_head in unfolded.
      destruct (nth_error (items k) (s k)) as [first |] eqn:there; [| discriminate].
      inversion unfolded as [[same rest_is]]. subst first. cbn [drain].
      assert (stays : forall moved_not, (forall needed, need k (s k) = Some needed -> ~ met s needed) -> moved_not = false ->
        exists c' left' moved l' s', (c, head :: left, moved_not) = (c', left', moved) /\ run need l' s' /\ agrees c' s' /\
          left' = skipn (s' k) (items k) /\ (forall j, j <> k -> s' j = s j) /\ length left' <= length (head :: left) /\
          if moved then length left' < length (head :: left) else (forall j, s' j = s j) /\ blocked s k).
      { intros moved_not blocks is_false. subst moved_not. exists c, (head :: left), false, l, s.
        split; [reflexivity |]. split; [exact runs |]. split; [exact agree |]. split; [symmetry; exact shape |].
        split; [reflexivity |]. split; [lia |]. split; [reflexivity | exact blocks]. }
      destruct head as [needed |]; [| rewrite rest_is; apply stays; [intros needed can; congruence | reflexivity]].
      destruct here as [known [can same]]. subst needed.
      destruct (ready c (encode known)) eqn:is_ready.
      + apply (ready_means_met c s known agree) in is_ready.
        set (t := fun j => if same_lane j k then S (s j) else s j).
        assert (t_k : t k = S (s k)) by (unfold t; destruct (same_lane k k); [reflexivity | congruence]).
        assert (t_j : forall j, j <> k -> t j = s j).
        { intros j differs. unfold t. destruct (same_lane j k); [congruence | reflexivity]. }
        assert (next : run need (k :: l) t) by (apply (run_goes_on need l s t k known); assumption).
        destruct (IH (PositiveMap.add (code k) (S (s k)) c) k (k :: l) t inside next)
          as [c' [left' [moved [l' [s' [does [further [agree' [shape' [rest' [shorter _]]]]]]]]]]].
        * intros j. destruct (same_lane j k) as [same | differs].
          -- subst j. rewrite get_same. symmetry. exact t_k.
          -- rewrite get_other by (intros same; apply differs; apply Codes; exact same). rewrite t_j by exact differs. apply agree.
        * rewrite t_k. exact rest_is.
        * rewrite t_k in does. cbn [skipn] in rest_is. exists c', left', true, l', s'. rewrite rest_is.
          rewrite does. split; [reflexivity |].
          split; [exact further |]. split; [exact agree' |]. split; [exact shape' |].
          split; [intros j differs; rewrite rest' by exact differs; apply t_j; exact differs |]. cbn. split; lia.
      + rewrite rest_is. apply stays; [| reflexivity].
        intros others found holds. rewrite can in found. inversion found. subst others.
        apply (ready_means_met c s known agree) in holds. congruence.
  Qed.

  Definition entry (s : state lane) (k : lane) : positive * list item := (code k, skipn (s k) (items k)).

  Lemma swept : forall some c l s, incl some lanes -> NoDup some -> run need l s -> agrees c s ->
    exists c' moved l' s', sweep c (map (entry s) some) = (c', map (entry s') some, moved) /\ run need l' s' /\ agrees c' s' /\
      (forall j, ~ In j some -> s' j = s j) /\ remaining (map (entry s') some) <= remaining (map (entry s) some) /\
      if moved then remaining (map (entry s') some) < remaining (map (entry s) some)
      else (forall j, s' j = s j) /\ forall k, In k some -> blocked s k.
  Proof.
    intros some. induction some as [| k some IH]; intros c l s inside single runs agree.
    - exists c, false, l, s. split; [reflexivity |]. split; [exact runs |]. split; [exact agree |].
      split; [reflexivity |]. split; [lia |]. split; [reflexivity |]. intros k [].
    - inversion single as [| head tail fresh single_rest]. subst head tail.
      change (map (entry s) (k :: some)) with ((code k, skipn (s k) (items k)) :: map (entry s) some).
      cbn [sweep]. rewrite agree.
      destruct (drained (skipn (s k) (items k)) c k l s (inside k (or_introl eq_refl)) runs agree eq_refl)
        as [c1 [left [moved [l1 [s1 [does [runs1 [agree1 [shape1 [rest1 [shorter1 how1]]]]]]]]]]].
      rewrite does.
      assert (same_rest : map (entry s) some = map (entry s1) some).
      { apply map_ext_in. intros j among. unfold entry. rewrite rest1; [reflexivity |]. intros same. subst. contradiction. }
      rewrite same_rest.
      destruct (IH c1 l1 s1 (fun j among => inside j (or_intror among)) single_rest runs1 agree1)
        as [c2 [moved2 [l2 [s2 [does2 [runs2 [agree2 [rest2 [shorter2 how2]]]]]]]]].
      rewrite does2.
      assert (same_k : s2 k = s1 k) by (apply rest2; exact fresh).
      exists c2, (moved || moved2)%bool, l2, s2.
      assert (entry_k : entry s2 k = (code k, left)) by (unfold entry; rewrite same_k, shape1; reflexivity).
      change (map (entry s2) (k :: some)) with (entry s2 k :: map (entry s2) some).
      rewrite entry_k. split; [reflexivity |]. split; [exact runs2 |]. split; [exact agree2 |].
      split.
      { intros j out. rewrite rest2 by (intros among; apply out; right; exact among).
        apply rest1. intros same. apply out. left. symmetry. exact same. }
      cbn [remaining fold_right]. fold (remaining (map (entry s2) some)). fold (remaining (map (entry s1) some)).
      split; [lia |].
      destruct moved; cbn [orb]; [lia |]. destruct how1 as [same1 blocked1].
      destruct moved2; [lia |]. destruct how2 as [same2 blocked2]. split.
      + intros j. rewrite same2. apply same1.
      + intros j [same | among]; [subst; exact blocked1 |]. intros needed can holds.
        apply (blocked2 j among needed); [rewrite same1; exact can |].
        intros i n inside_needed. rewrite same1. apply holds. exact inside_needed.
  Qed.

  Lemma executed : NoDup lanes -> forall fuel c l s, run need l s -> agrees c s -> remaining (map (entry s) lanes) < fuel ->
    exists l' s', run need l' s' /\ stuck need s' /\ agrees (execute fuel c (map (entry s) lanes)) s'.
  Proof.
    intros single fuel. induction fuel as [| fuel IH]; intros c l s runs agree enough; [lia |].
    destruct (swept lanes c l s (incl_refl lanes) single runs agree)
      as [c' [moved [l' [s' [does [runs' [agree' [_ [_ how]]]]]]]]].
    cbn [execute]. rewrite does. destruct moved.
    - apply (IH c' l' s'); [exact runs' | exact agree' | lia].
    - exists l', s'. split; [exact runs' |]. split; [| exact agree'].
      destruct how as [same blocks]. intros k needed can holds.
      apply (blocks k (Known k (s' k) needed can) needed); [rewrite <- same; exact can |].
      intros j n inside. rewrite <- same. apply holds. exact inside.
  Qed.

  (** The outcome is the state in which every run ends. *)
  Theorem outcome_is_the_end : NoDup lanes ->
    exists l s, run need l s /\ stuck need s /\ agrees (outcome (map (fun k => (code k, items k)) lanes)) s.
  Proof.
    intros single. unfold outcome.
    assert (start : map (fun k => (code k, items k)) lanes = map (entry (fun _ => 0)) lanes) by reflexivity.
    rewrite start. apply (executed single _ _ [] (fun _ => 0)).
    - apply run_starts. reflexivity.
    - intros k. apply get_empty.
    - lia.
  Qed.
End Executing.

(** ** The verdict of a plan *)

(** *** Numbers for lanes and messages *)

(** Two numbers in one: a bit more for every bit of the first one. *)
Fixpoint pair_code (p q : positive) : positive :=
  match p with
  | xH => xO q
  | xO p => xI (xO (pair_code p q))
  | xI p => xI (xI (pair_code p q))
  end.

Lemma pair_code_injective : forall p q p' q', pair_code p q = pair_code p' q' -> p = p' /\ q = q'.
Proof.
  intros p. induction p as [p IH | p IH |]; intros q [p' | p' |] q' same; cbn in same; try discriminate; inversion same as [inner].
  - apply IH in inner. destruct inner. subst. split; reflexivity.
  - apply IH in inner. destruct inner. subst. split; reflexivity.
  - split; reflexivity.
Qed.

Definition lane_code (k : lane) : positive :=
  match k with
  | Device d => xO (Pos.of_succ_nat d)
  | Channel a b => xI (pair_code (Pos.of_succ_nat a) (Pos.of_succ_nat b))
  end.

Lemma lane_codes : forall j k, lane_code j = lane_code k -> j = k.
Proof.
  intros [d | a b] [d' | a' b'] same; cbn in same; try discriminate; inversion same as [inner].
  - apply SuccNat2Pos.inj in inner. subst. reflexivity.
  - apply pair_code_injective in inner. destruct inner as [left right].
    apply SuccNat2Pos.inj in left. apply SuccNat2Pos.inj in right. subst. reflexivity.
Qed.

Definition message_code (m : message) : positive :=
  let inner := pair_code (N.succ_pos (boundary m)) (N.succ_pos (number m)) in
  if is_gradient m then xI inner else xO inner.

Lemma succ_pos_injective : forall n k, N.succ_pos n = N.succ_pos k -> n = k.
Proof. intros n k same. apply N.succ_inj. rewrite <- !N.succ_pos_spec, same. reflexivity. Qed.

Lemma message_codes : forall m k, message_code m = message_code k -> m = k.
Proof.
  intros [g b n] [g' b' n'] same. unfold message_code in same. cbn in same.
  destruct g, g'; try discriminate; inversion same as [inner]; apply pair_code_injective in inner;
    destruct inner as [left right]; apply succ_pos_injective in left; apply succ_pos_injective in right; subst; reflexivity.
Qed.

(** *** Walking along a row *)

(** What a device has posted: how many messages to and from each peer, and for each message its peer and number. *)
Record posted := Posted {
  sends_so_far : counts;
  receives_so_far : counts;
  sent_so_far : PositiveMap.t (nat * nat);
  received_so_far : PositiveMap.t (nat * nat)
}.

Definition nothing_posted : posted :=
  Posted (PositiveMap.empty nat) (PositiveMap.empty nat) (PositiveMap.empty (nat * nat)) (PositiveMap.empty (nat * nat)).

Definition peer_code (d : nat) : positive := Pos.of_succ_nat d.

(** Only the first end of a message counts. *)
Definition add_first (m : message) (x : nat * nat) (t : PositiveMap.t (nat * nat)) : PositiveMap.t (nat * nat) :=
  match PositiveMap.find (message_code m) t with
  | Some _ => t
  | None => PositiveMap.add (message_code m) x t
  end.

Definition post (t : posted) (a : action) : posted :=
  match a with
  | Send to m =>
      let n := get (sends_so_far t) (peer_code to) in
      Posted (PositiveMap.add (peer_code to) (S n) (sends_so_far t)) (receives_so_far t)
        (add_first m (to, n) (sent_so_far t)) (received_so_far t)
  | Receive from m =>
      let n := get (receives_so_far t) (peer_code from) in
      Posted (sends_so_far t) (PositiveMap.add (peer_code from) (S n) (receives_so_far t))
        (sent_so_far t) (add_first m (from, n) (received_so_far t))
  | _ => t
  end.

Record right_tables (t : posted) (l : list action) : Prop := {
  right_sends : forall b, get (sends_so_far t) (peer_code b) = count (sends_to b) l;
  right_receives : forall b, get (receives_so_far t) (peer_code b) = count (receives_from b) l;
  right_sent : forall m, PositiveMap.find (message_code m) (sent_so_far t) = sent m l;
  right_received : forall m, PositiveMap.find (message_code m) (received_so_far t) = received m l
}.

Lemma nothing_is_right : right_tables nothing_posted [].
Proof. split; intros x; cbn; try apply get_empty; apply PositiveMap.gempty. Qed.

Lemma received_app : forall m l a, received m (l ++ [a]) =
  match received m l with
  | Some x => Some x
  | None => match a with
            | Receive from k => if same_message m k then Some (from, count (receives_from from) l) else None
            | _ => None
            end
  end.
Proof.
  intros m l a. induction l as [| x l IH]; cbn [app received].
  - destruct a; reflexivity.
  - destruct x as [ins outs | to k | p k | k |]; try (rewrite IH; destruct (received m l); [reflexivity |];
      destruct a; try reflexivity; destruct (same_message m m0); reflexivity).
    destruct (same_message m k); [reflexivity |]. rewrite IH. destruct (received m l) as [[q i] |]; [reflexivity |].
    destruct a as [ins outs | to h | from h | h |]; try reflexivity. destruct (same_message m h); [| reflexivity].
    unfold count. cbn. destruct (p =? from); reflexivity.
Qed.

Lemma sent_app : forall m l a, sent m (l ++ [a]) =
  match sent m l with
  | Some x => Some x
  | None => match a with
            | Send to k => if same_message m k then Some (to, count (sends_to to) l) else None
            | _ => None
            end
  end.
Proof.
  intros m l a. induction l as [| x l IH]; cbn [app sent].
  - destruct a; reflexivity.
  - destruct x as [ins outs | p k | from k | k |]; try (rewrite IH; destruct (sent m l); [reflexivity |];
      destruct a; try reflexivity; destruct (same_message m m0); reflexivity).
    destruct (same_message m k); [reflexivity |]. rewrite IH. destruct (sent m l) as [[q i] |]; [reflexivity |].
    destruct a as [ins outs | to h | from h | h |]; try reflexivity. destruct (same_message m h); [| reflexivity].
    unfold count. cbn. destruct (p =? to); reflexivity.
Qed.

Lemma count_app : forall f l a, count f (l ++ [a]) = if f a then S (count f l) else count f l.
Proof.
  intros f l a. unfold count. rewrite filter_app, app_length. cbn. destruct (f a); cbn; lia.
Qed.

Lemma count_added : forall t (f : nat -> list action -> nat) l p b, (forall b, get t (peer_code b) = f b l) ->
  get (PositiveMap.add (peer_code p) (S (get t (peer_code p))) t) (peer_code b) = if p =? b then S (f b l) else f b l.
Proof.
  intros t f l p b right. destruct (Nat.eqb_spec p b) as [same | differs].
  - subst. rewrite get_same, right. reflexivity.
  - rewrite get_other; [apply right |]. unfold peer_code. intros same. apply SuccNat2Pos.inj in same. congruence.
Qed.

Lemma first_added : forall t m k x (f : message -> option (nat * nat)),
  (forall m, PositiveMap.find (message_code m) t = f m) ->
  PositiveMap.find (message_code m) (add_first k x t) =
  match f m with Some y => Some y | None => if same_message m k then Some x else None end.
Proof.
  intros t m k x f right. unfold add_first. rewrite right. destruct (same_message m k) as [same | differs].
  - subst k. destruct (f m) eqn:known; [rewrite right; exact known | apply PositiveMap.gss].
  - assert (old : PositiveMap.find (message_code m) (PositiveMap.add (message_code k) x t) = f m).
    { rewrite PositiveMap.gso; [apply right |]. intros same. apply message_codes in same. congruence. }
    destruct (f k); [rewrite right | rewrite old]; destruct (f m); reflexivity.
Qed.

Lemma post_is_right : forall t l a, right_tables t l -> right_tables (post t a) (l ++ [a]).
Proof.
  intros t l a [sends receives sents receiveds].
  assert (no_first : forall (f : option (nat * nat)), match f with Some x => Some x | None => None end = f)
    by (intros [x |]; reflexivity).
  split; intros x; rewrite ?count_app, ?received_app, ?sent_app;
    destruct a as [ins outs | to m | from m | m |]; cbn [post sends_so_far receives_so_far sent_so_far received_so_far
      sends_to receives_from]; rewrite ?no_first; auto.
  - apply (count_added _ (fun b => count (sends_to b))). exact sends.
  - apply (count_added _ (fun b => count (receives_from b))). exact receives.
  - rewrite (first_added _ _ _ _ (fun m => sent m l) sents). rewrite sends. reflexivity.
  - rewrite (first_added _ _ _ _ (fun m => received m l) receiveds). rewrite receives. reflexivity.
Qed.

(** An action with its position and what was posted before it. *)
Record place := Place { position : nat; so_far : posted; what : action }.

Fixpoint walk (i : nat) (t : posted) (l : list action) : list place :=
  match l with
  | [] => []
  | a :: rest => Place i t a :: walk (S i) (post t a) rest
  end.

Definition places (l : list action) : list place := walk 0 nothing_posted l.

Lemma walk_nth : forall l i t before n, right_tables t before ->
  match nth_error (walk i t l) n with
  | Some x => position x = i + n /\ nth_error l n = Some (what x) /\ right_tables (so_far x) (before ++ firstn n l)
  | None => nth_error l n = None
  end.
Proof.
  intros l. induction l as [| a l IH]; intros i t before n right; cbn [walk].
  - destruct n; reflexivity.
  - destruct n as [| n]; cbn [nth_error firstn].
    + cbn. rewrite app_nil_r, Nat.add_0_r. repeat split; apply right.
    + specialize (IH (S i) (post t a) (before ++ [a]) n (post_is_right t before a right)).
      destruct (nth_error (walk (S i) (post t a) l) n) as [x |]; [| exact IH].
      rewrite <- app_assoc in IH. cbn in IH. destruct IH as [at_n [there tables]]. split; [lia |]. split; assumption.
Qed.

Lemma places_nth : forall l n,
  match nth_error (places l) n with
  | Some x => position x = n /\ nth_error l n = Some (what x) /\ right_tables (so_far x) (firstn n l)
  | None => nth_error l n = None
  end.
Proof. intros l n. apply (walk_nth l 0 nothing_posted [] n). apply nothing_is_right. Qed.

Lemma filtered_walk : forall f l i t,
  map position (filter (fun x => f (what x)) (walk i t l)) = positions_from i f l.
Proof.
  intros f l. induction l as [| a l IH]; intros i t; cbn; [reflexivity |].
  destruct (f a); cbn; rewrite IH; reflexivity.
Qed.

(** *** The items of all lanes *)

Fixpoint arrivals_of (d : nat) (t : posted) (inputs : list message) : option (list (lane * nat)) :=
  match inputs with
  | [] => Some []
  | m :: rest =>
      match PositiveMap.find (message_code m) (received_so_far t), arrivals_of d t rest with
      | Some (from, i), Some needed => Some ((Channel from d, S i) :: needed)
      | _, _ => None
      end
  end.

Definition action_item (X : semantics) (d : nat) (x : place) : option (list (lane * nat)) :=
  match what x with
  | Run inputs _ => arrivals_of d (so_far x) inputs
  | WaitSend m =>
      match PositiveMap.find (message_code m) (sent_so_far (so_far x)) with
      | Some (to, i) => Some (match X with Buffered => [] | _ => [(Channel d to, S i)] end)
      | None => None
      end
  | _ => Some []
  end.

Definition between_of (a b : nat) (t : posted) : list (lane * nat) :=
  [(Channel a b, get (sends_so_far t) (peer_code b)); (Channel b a, get (receives_so_far t) (peer_code b))].

Definition stream_of (X : semantics) (devices : nat) (a b : nat) (t : posted) : list (lane * nat) :=
  match X with
  | Buffered | Rendezvous => []
  | PairStreams => between_of a b t
  | DeviceStreams => flat_map (fun peer => between_of a peer t) (seq 0 devices)
  end.

Definition message_item (X : semantics) (devices a b : nat) (ends : place * place) : list (lane * nat) :=
  let (x, y) := ends in
  (Device a, S (position x)) :: (Device b, S (position y)) ::
  stream_of X devices a b (so_far x) ++ stream_of X devices b a (so_far y).

Definition lane_items (X : semantics) (walked : list (list place)) (k : lane) : list item :=
  match k with
  | Device d => map (fun x => option_map (encode lane_code) (action_item X d x)) (nth d walked [])
  | Channel a b =>
      map (fun ends => Some (encode lane_code (message_item X (length walked) a b ends)))
        (combine (filter (fun x => sends_to b (what x)) (nth a walked []))
                 (filter (fun x => receives_from a (what x)) (nth b walked [])))
  end.

(** How far every lane comes. *)
Definition end_of (X : semantics) (P : plan) : counts :=
  let walked := map places P in
  outcome (map (fun k => (lane_code k, lane_items X walked k)) (lanes_of P)).

(** Whether every run of a plan ends. *)
Definition ends_under (X : semantics) (P : plan) : bool :=
  let c := end_of X P in
  forallb (fun '(d, l) => get c (lane_code (Device d)) =? length l) (combine (seq 0 (length P)) P).

Definition ends_buffered : plan -> bool := ends_under Buffered.
Definition ends_rendezvous : plan -> bool := ends_under Rendezvous.
Definition ends_with_pair_streams : plan -> bool := ends_under PairStreams.
Definition ends_with_device_streams : plan -> bool := ends_under DeviceStreams.

Lemma walked_row : forall P d, nth d (map places P) [] = places (row P d).
Proof. intros P d. change ([] : list place) with (places []) at 1. apply map_nth. Qed.

Lemma arrivals_are_right : forall d t before inputs, right_tables t before -> arrivals_of d t inputs = arrivals d before inputs.
Proof.
  intros d t before inputs right. induction inputs as [| m inputs IH]; cbn; [reflexivity |].
  rewrite (right_received t before right), IH. reflexivity.
Qed.

Lemma nth_error_combine : forall (A B : Type) (l : list A) (k : list B) n,
  nth_error (combine l k) n =
  match nth_error l n, nth_error k n with Some x, Some y => Some (x, y) | _, _ => None end.
Proof.
  intros A B l. induction l as [| x l IH]; intros k n; cbn.
  - destruct n; reflexivity.
  - destruct k as [| y k], n as [| n]; cbn; try reflexivity.
    + destruct (nth_error l n); reflexivity.
    + apply IH.
Qed.

Lemma filtered_place : forall f l n,
  match nth_error (filter (fun x => f (what x)) (places l)) n with
  | Some x => nth_error (positions f l) n = Some (position x) /\ right_tables (so_far x) (firstn (position x) l)
  | None => nth_error (positions f l) n = None
  end.
Proof.
  intros f l n. unfold positions. rewrite <- (filtered_walk f l 0 nothing_posted). fold (places l). rewrite nth_error_map.
  destruct (nth_error (filter (fun x => f (what x)) (places l)) n) as [x |] eqn:found; [| reflexivity].
  split; [reflexivity |]. apply nth_error_In in found. apply filter_In in found. destruct found as [inside _].
  destruct (In_nth_error _ _ inside) as [i there]. specialize (places_nth l i) as right. rewrite there in right.
  destruct right as [at_i [_ tables]]. rewrite at_i. exact tables.
Qed.

Lemma between_is_right : forall P a b i t, right_tables t (firstn i (row P a)) -> between_of a b t = earlier_between P a b i.
Proof.
  intros P a b i t right. unfold between_of, earlier_between.
  rewrite (right_sends _ _ right), (right_receives _ _ right). reflexivity.
Qed.

Lemma stream_is_right : forall X P a b i t, right_tables t (firstn i (row P a)) ->
  stream_of X (length P) a b t = stream X P a b i.
Proof.
  intros X P a b i t right. destruct X; cbn [stream_of stream]; try reflexivity.
  - apply between_is_right. exact right.
  - induction (seq 0 (length P)) as [| c l IH]; cbn [flat_map]; [reflexivity |].
    rewrite IH, (between_is_right P a c i t right). reflexivity.
Qed.

Lemma items_are_right : forall X P k, right_items lane_code (need X P) (lane_items X (map places P)) k.
Proof.
  intros X P k n. destruct k as [d | a b]; cbn [lane_items need].
  - rewrite walked_row, nth_error_map. specialize (places_nth (row P d) n) as right.
    destruct (nth_error (places (row P d)) n) as [x |]; cbn [option_map]; [| rewrite right; reflexivity].
    destruct right as [_ [there tables]]. rewrite there.
    assert (same : action_item X d x = needs_of_action X d (firstn n (row P d)) (what x)).
    { unfold action_item. destruct (what x) as [ins outs | to m | from m | m |]; cbn; try reflexivity.
      - apply arrivals_are_right. exact tables.
      - rewrite (right_sent _ _ tables). reflexivity. }
    rewrite same. destruct (needs_of_action X d (firstn n (row P d)) (what x)) as [needed |]; cbn; [| reflexivity].
    exists needed. split; reflexivity.
  - rewrite !walked_row, map_length, nth_error_map, nth_error_combine.
    specialize (filtered_place (sends_to b) (row P a) n) as at_a.
    specialize (filtered_place (receives_from a) (row P b) n) as at_b.
    destruct (nth_error (filter (fun x => sends_to b (what x)) (places (row P a))) n) as [x |]; [| rewrite at_a; reflexivity].
    destruct at_a as [at_a tables_a]. rewrite at_a.
    destruct (nth_error (filter (fun x => receives_from a (what x)) (places (row P b))) n) as [y |]; [| rewrite at_b; reflexivity].
    destruct at_b as [at_b tables_b]. rewrite at_b. cbn [option_map].
    exists (needs_of_message X P a b (position x) (position y)). split; [reflexivity |]. unfold message_item, needs_of_message.
    rewrite (stream_is_right X P a b _ _ tables_a), (stream_is_right X P b a _ _ tables_b). reflexivity.
Qed.

Lemma NoDup_app_disjoint : forall (A : Type) (l k : list A), NoDup l -> NoDup k -> (forall x, In x l -> ~ In x k) -> NoDup (l ++ k).
Proof.
  intros A l k single. induction single as [| x l fresh single IH]; intros other apart; cbn; [exact other |].
  constructor.
  - rewrite in_app_iff. intros [inside | inside]; [contradiction | apply (apart x); [left; reflexivity | exact inside]].
  - apply IH; [exact other |]. intros y inside. apply apart. right. exact inside.
Qed.

Lemma lanes_are_distinct : forall P, NoDup (lanes_of P).
Proof.
  intros P. unfold lanes_of. apply NoDup_app_disjoint.
  - unfold device_lanes. apply FinFun.Injective_map_NoDup; [| apply seq_NoDup]. intros a b same. inversion same. reflexivity.
  - unfold channel_lanes. assert (single := seq_NoDup (length P) 0).
    induction single as [| a l fresh single IH]; cbn; [constructor |]. apply NoDup_app_disjoint.
    + apply FinFun.Injective_map_NoDup; [| apply NoDup_nodup]. intros b c same. inversion same. reflexivity.
    + exact IH.
    + intros k here there. apply in_map_iff in here. destruct here as [b [shape _]]. subst k.
      apply in_flat_map in there. destruct there as [c [among inside]]. apply in_map_iff in inside.
      destruct inside as [b' [shape _]]. inversion shape. subst. contradiction.
  - intros k here there. apply in_map_iff in here. destruct here as [d [shape _]]. subst k.
    apply in_flat_map in there. destruct there as [a [_ inside]]. apply in_map_iff in inside.
    destruct inside as [b [shape _]]. discriminate.
Qed.

Lemma end_of_is_the_end : forall X P, exists l s, run (need X P) l s /\ stuck (need X P) s /\
  forall k, get (end_of X P) (lane_code k) = s k.
Proof.
  intros X P. apply (outcome_is_the_end same_lane lane_code lane_codes (need X P) (lane_items X (map places P)) (lanes_of P)).
  - intros k _. apply items_are_right.
  - intros k n needed can. apply (steps_are_known X P k n needed can).
  - apply lanes_are_distinct.
Qed.

Lemma in_numbered : forall (A : Type) (l : list (list A)) d x, In (d, x) (combine (seq 0 (length l)) l) ->
  d < length l /\ x = nth d l [].
Proof.
  intros A l d x inside. destruct (In_nth_error _ _ inside) as [n there]. rewrite nth_error_combine in there.
  destruct (nth_error (seq 0 (length l)) n) as [e |] eqn:at_seq; [| discriminate].
  destruct (nth_error l n) as [y |] eqn:at_l; [| discriminate]. inversion there. subst.
  assert (small : n < length l) by (apply nth_error_Some; congruence).
  rewrite (nth_error_nth' (seq 0 (length l)) 0) in at_seq by (rewrite seq_length; exact small).
  rewrite seq_nth in at_seq by exact small. inversion at_seq. subst d.
  split; [exact small |]. symmetry. apply nth_error_nth. exact at_l.
Qed.

Lemma numbered_in : forall (A : Type) (l : list (list A)) d, d < length l -> In (d, nth d l []) (combine (seq 0 (length l)) l).
Proof.
  intros A l d small. apply (nth_error_In _ d). rewrite nth_error_combine.
  rewrite (nth_error_nth' (seq 0 (length l)) 0) by (rewrite seq_length; exact small).
  rewrite seq_nth by exact small. rewrite (nth_error_nth' l []) by exact small. reflexivity.
Qed.

(** The verdict is right: it says true exactly when every run ends. *)
Theorem verdict_is_right : forall X P, ends_under X P = true <-> ends X P.
Proof.
  intros X P. destruct (end_of_is_the_end X P) as [l [s [runs [stops is_end]]]]. unfold ends_under. rewrite forallb_forall. split.
  - intros all. apply (one_run_is_enough X P l s runs). intros d. destruct (le_lt_dec (length P) d) as [out | inside].
    + assert (empty : row P d = []) by (unfold row; apply nth_overflow; exact out).
      specialize (never_beyond_row X P l s runs d) as bound. rewrite empty in *. cbn in *. lia.
    + specialize (all (d, row P d) (numbered_in _ P d inside)). cbn beta iota in all. rewrite is_end in all.
      apply Nat.eqb_eq. exact all.
  - intros good [d x] inside. apply in_numbered in inside. destruct inside as [small shape]. subst x.
    apply Nat.eqb_eq. rewrite is_end. apply (good l s runs stops).
Qed.

(** Where it says false, no run ends. *)
Theorem verdict_false_means_never : forall X P, ends_under X P = false -> forall l s, run (need X P) l s -> ~ finished P s.
Proof.
  intros X P is_false l s runs all. assert (is_true : ends_under X P = true); [| congruence].
  apply verdict_is_right. apply (one_run_is_enough X P l s runs all).
Qed.

(** *** Messages do arrive *)

Lemma position_before : forall f l k n start, n < count f (firstn k l) ->
  exists i, nth_error (positions_from start f l) n = Some i /\ i < start + k.
Proof.
  intros f l. induction l as [| a l IH]; intros k n start few.
  - rewrite firstn_nil in few. cbn in few. lia.
  - destruct k as [| k]; [cbn in few; lia |]. unfold count in few. cbn in few |- *. destruct (f a) eqn:has.
    + destruct n as [| n]; [exists start; split; [reflexivity | lia] |]. cbn in few |- *.
      destruct (IH k n (S start)) as [i [there small]]; [unfold count; lia |]. exists i. split; [exact there | lia].
    + destruct (IH k n (S start) few) as [i [there small]]. exists i. split; [exact there | lia].
Qed.

(** Without streams, the order of the messages of a direction delays nothing: when no more can happen, every message has gone that
    is posted on both sides. *)
Theorem posted_messages_arrive : forall X P, X = Buffered \/ X = Rendezvous -> forall l s, run (need X P) l s ->
  stuck (need X P) s -> forall a b,
  count (sends_to b) (firstn (s (Device a)) (row P a)) <= s (Channel a b) \/
  count (receives_from a) (firstn (s (Device b)) (row P b)) <= s (Channel a b).
Proof.
  intros X P no_streams l s runs stops a b.
  destruct (le_lt_dec (count (sends_to b) (firstn (s (Device a)) (row P a))) (s (Channel a b))) as [all | more_a];
    [left; exact all |].
  destruct (le_lt_dec (count (receives_from a) (firstn (s (Device b)) (row P b))) (s (Channel a b))) as [all | more_b];
    [right; exact all | exfalso].
  destruct (position_before _ _ _ _ 0 more_a) as [i [at_a before_a]].
  destruct (position_before _ _ _ _ 0 more_b) as [j [at_b before_b]].
  apply (stops (Channel a b) (needs_of_message X P a b i j)).
  - cbn [need]. unfold positions. rewrite at_a, at_b. reflexivity.
  - intros k n inside. unfold needs_of_message in inside.
    assert (none : stream X P a b i ++ stream X P b a j = []) by (destruct no_streams; subst X; reflexivity).
    rewrite none in inside. destruct inside as [same | [same | []]]; inversion same; subst; lia.
Qed.

(** So in the end all messages of a plan in order have gone. *)
Corollary all_messages_arrive : forall X P, X = Buffered \/ X = Rendezvous -> in_order P -> forall l s, run (need X P) l s ->
  stuck (need X P) s -> finished P s -> forall a b, s (Channel a b) = count (sends_to b) (row P a).
Proof.
  intros X P no_streams order l s runs stops all a b. apply Nat.le_antisymm.
  - rewrite <- (length_of_positions _ _ 0).
    apply (never_more_than_size same_lane (need X P) (lanes_of P) (size_of P) (steps_are_known X P) l s runs (Channel a b)).
  - destruct (posted_messages_arrive X P no_streams l s runs stops a b) as [enough | enough].
    + rewrite (all a), firstn_all in enough. exact enough.
    + rewrite (all b), firstn_all in enough. rewrite (both_ends P order a b). exact enough.
Qed.

(** *** The rules, checked *)

Fixpoint same_messages (l k : list message) : bool :=
  match l, k with
  | [], [] => true
  | m :: l, n :: k => if same_message m n then same_messages l k else false
  | _, _ => false
  end.

(** Peers exist. *)
Definition peer_exists (devices : nat) (a : action) : bool :=
  match a with Send d _ | Receive d _ => d <? devices | _ => true end.

Definition is_in_order (P : plan) : bool :=
  forallb (forallb (peer_exists (length P))) P &&
  forallb (fun '(a, sender) => forallb (fun '(b, receiver) =>
    same_messages (sent_messages b sender) (received_messages a receiver)) (combine (seq 0 (length P)) P))
    (combine (seq 0 (length P)) P).

Definition made := PositiveMap.t unit.

Definition add_made (t : made) (m : message) : made := PositiveMap.add (message_code m) tt t.

(** [t] are the messages that passes have made so far. *)
Fixpoint sends_what_is_made (t : made) (l : list action) : bool :=
  match l with
  | [] => true
  | Run _ outputs :: rest => sends_what_is_made (fold_left add_made outputs t) rest
  | Send _ m :: rest => PositiveMap.mem (message_code m) t && sends_what_is_made t rest
  | _ :: rest => sends_what_is_made t rest
  end.

Definition is_made_before_sent (P : plan) : bool := forallb (sends_what_is_made (PositiveMap.empty unit)) P.

(** What verify accepts, as far as messages go. A plan that ends with rendezvous messages ends with buffered ones. *)
Definition verified (P : plan) : bool := is_in_order P && is_made_before_sent P && ends_rendezvous P.

Lemma same_messages_are_equal : forall l k, same_messages l k = true <-> l = k.
Proof.
  intros l. induction l as [| m l IH]; intros [| n k]; cbn; try (split; [discriminate | discriminate]); [tauto |].
  destruct (same_message m n) as [same | differs].
  - rewrite IH. subst. split; intros equal; [subst; reflexivity | inversion equal; reflexivity].
  - split; [discriminate | intros equal; inversion equal; contradiction].
Qed.

Lemma no_peer_no_messages : forall devices l, forallb (peer_exists devices) l = true -> forall d, devices <= d ->
  sent_messages d l = [] /\ received_messages d l = [].
Proof.
  intros devices l all d out. unfold sent_messages, received_messages. induction l as [| a l IH]; cbn; [split; reflexivity |].
  cbn in all. apply andb_true_iff in all. destruct all as [here all]. destruct (IH all) as [sends receives].
  rewrite sends, receives. split; destruct a as [ins outs | to m | from m | m |]; cbn in here |- *; try reflexivity;
    apply Nat.ltb_lt in here; [destruct (Nat.eqb_spec to d) | destruct (Nat.eqb_spec from d)]; try reflexivity; lia.
Qed.

Lemma in_order_is_checked : forall P, is_in_order P = true -> in_order P.
Proof.
  intros P good a b. unfold is_in_order in good. apply andb_true_iff in good. destruct good as [peers all].
  assert (outside : forall c d, length P <= d -> sent_messages d (row P c) = [] /\ received_messages d (row P c) = []).
  { intros c d out. destruct (le_lt_dec (length P) c) as [none | inside].
    - assert (empty : row P c = []) by (unfold row; apply nth_overflow; exact none). rewrite empty. split; reflexivity.
    - apply (no_peer_no_messages (length P)); [| exact out].
      rewrite forallb_forall in peers. apply peers. apply nth_In. exact inside. }
  destruct (le_lt_dec (length P) a) as [out_a | in_a].
  - assert (empty : row P a = []) by (unfold row; apply nth_overflow; exact out_a). rewrite empty.
    rewrite (proj2 (outside b a out_a)). reflexivity.
  - destruct (le_lt_dec (length P) b) as [out_b | in_b].
    + assert (empty : row P b = []) by (unfold row; apply nth_overflow; exact out_b). rewrite empty.
      rewrite (proj1 (outside a b out_b)). reflexivity.
    + rewrite forallb_forall in all. specialize (all (a, row P a) (numbered_in _ P a in_a)). cbn beta iota in all.
      rewrite forallb_forall in all. specialize (all (b, row P b) (numbered_in _ P b in_b)). cbn beta iota in all.
      apply same_messages_are_equal. exact all.
Qed.

Lemma made_are_made : forall outputs t m, PositiveMap.mem (message_code m) (fold_left add_made outputs t) = true ->
  PositiveMap.mem (message_code m) t = true \/ In m outputs.
Proof.
  intros outputs. induction outputs as [| k outputs IH]; intros t m found; cbn in found; [left; exact found |].
  apply IH in found. destruct found as [found | inside]; [| right; right; exact inside].
  destruct (same_message m k) as [same | differs]; [subst; right; left; reflexivity | left].
  unfold add_made in found. rewrite PositiveMap.mem_find in found |- *.
  rewrite PositiveMap.gso in found; [exact found |]. intros same. apply message_codes in same. contradiction.
Qed.

Lemma made_is_checked : forall P, is_made_before_sent P = true -> made_before_sent P.
Proof.
  intros P good d n to m there.
  assert (walked : forall l t before, sends_what_is_made t l = true ->
    (forall m, PositiveMap.mem (message_code m) t = true ->
      exists i ins outs, i < length before /\ nth_error before i = Some (Run ins outs) /\ In m outs) ->
    forall n, nth_error l n = Some (Send to m) ->
    exists i ins outs, i < length before + n /\ nth_error (before ++ l) i = Some (Run ins outs) /\ In m outs).
  { intros l. induction l as [| a l IH]; intros t before checked known i at_i; [destruct i; discriminate |].
    assert (grown : forall t', sends_what_is_made t' l = true ->
      (forall m, PositiveMap.mem (message_code m) t' = true -> PositiveMap.mem (message_code m) t = true \/
        exists ins outs, a = Run ins outs /\ In m outs) ->
      forall i, nth_error l i = Some (Send to m) ->
      exists j ins outs, j < length before + S i /\ nth_error (before ++ a :: l) j = Some (Run ins outs) /\ In m outs).
    { intros t' checked' sources j at_j. destruct (IH t' (before ++ [a]) checked') with (n := j) as [p [ins [outs [small rest]]]].
      - intros k found. destruct (sources k found) as [old | [ins [outs [is_run inside]]]].
        + destruct (known k old) as [p [ins [outs [small [is_run inside]]]]]. exists p, ins, outs. rewrite app_length.
          split; [lia |]. rewrite nth_error_app1 by exact small. split; assumption.
        + exists (length before), ins, outs. rewrite app_length. cbn. split; [lia |].
          rewrite nth_error_app2, Nat.sub_diag by lia. subst a. split; [reflexivity | exact inside].
      - exact at_j.
      - exists p, ins, outs. rewrite app_length in small. cbn in small. split; [lia |].
        rewrite <- app_assoc in rest. exact rest. }
    destruct i as [| i].
    - cbn in at_i. inversion at_i. subst a. cbn in checked. apply andb_true_iff in checked. destruct checked as [found _].
      destruct (known m found) as [p [ins [outs [small [is_run inside]]]]]. exists p, ins, outs. split; [lia |].
      rewrite nth_error_app1 by exact small. split; assumption.
    - cbn in at_i. destruct a as [ins outs | p k | p k | k |]; cbn in checked.
      + apply (grown (fold_left add_made outs t)); [exact checked | | exact at_i].
        intros k found. apply made_are_made in found. destruct found as [old | inside]; [left; exact old | right].
        exists ins, outs. split; [reflexivity | exact inside].
      + apply andb_true_iff in checked. apply (grown t); [apply checked | intros; left; assumption | exact at_i].
      + apply (grown t); [exact checked | intros; left; assumption | exact at_i].
      + apply (grown t); [exact checked | intros; left; assumption | exact at_i].
      + apply (grown t); [exact checked | intros; left; assumption | exact at_i]. }
  assert (inside : d < length P) by (apply (row_inside P d n); congruence).
  unfold is_made_before_sent in good. rewrite forallb_forall in good.
  specialize (good (row P d) (nth_In P [] inside)).
  destruct (walked (row P d) (PositiveMap.empty unit) [] good) with (n := n) as [i found].
  - intros k found. rewrite PositiveMap.mem_find, PositiveMap.gempty in found. discriminate.
  - exact there.
  - exists i. exact found.
Qed.

(** The theorem of verify: every run of a verified plan ends, with buffered and with rendezvous messages. In every run, all that a
    pass needs was made by a pass that has run, and was sent under the number under which it is received. *)
Theorem verified_plans_are_safe : forall P, verified P = true ->
  ends Buffered P /\ ends Rendezvous P /\ in_order P /\ made_before_sent P.
Proof.
  intros P good. unfold verified in good. apply andb_true_iff in good. destruct good as [good ending].
  apply andb_true_iff in good. destruct good as [order makes].
  apply verdict_is_right in ending. split; [apply (ends_under_more_permissive Rendezvous); [exact I | exact ending] |].
  split; [exact ending |]. split; [apply in_order_is_checked; exact order | apply made_is_checked; exact makes].
Qed.

(** ** Plans that are written: sends and receives side by side *)

(** The devices take turns. Each appends an action to its row, or a send to its row and the receive to that of the receiver. *)
Inductive move :=
| Act (d : nat) (a : action)
| Exchange (from to : nat) (m : message).

Definition appends (x : move) (d : nat) : list action :=
  match x with
  | Act c a => if c =? d then [a] else []
  | Exchange a b m => (if a =? d then [Send b m] else []) ++ (if b =? d then [Receive a m] else [])
  end.

Definition row_of (moves : list move) (d : nat) : list action := flat_map (fun x => appends x d) moves.

Definition plan_of (devices : nat) (moves : list move) : plan := map (row_of moves) (seq 0 devices).

(** A device runs a pass only when what it needs is in its row, and waits only for what it has sent. *)
Definition allowed (devices : nat) (before : list move) (x : move) : Prop :=
  match x with
  | Act d a =>
      d < devices /\
      match a with
      | Run inputs _ => forall m, In m inputs -> received m (row_of before d) <> None
      | WaitSend m => sent m (row_of before d) <> None
      | Other => True
      | Send _ _ | Receive _ _ => False
      end
  | Exchange a b _ => a < devices /\ b < devices /\ a <> b
  end.

Definition lowered (devices : nat) (moves : list move) : Prop :=
  forall before x behind, moves = before ++ x :: behind -> allowed devices before x.

Lemma row_of_app : forall l k d, row_of (l ++ k) d = row_of l d ++ row_of k d.
Proof. intros l k d. apply flat_map_app. Qed.

Lemma position_at : forall f l a r start, f a = true ->
  nth_error (positions_from start f (l ++ a :: r)) (count f l) = Some (start + length l).
Proof.
  intros f l. induction l as [| x l IH]; intros a r start has; cbn.
  - rewrite has. cbn. f_equal. lia.
  - unfold count in *. cbn. destruct (f x); cbn; rewrite IH by exact has; f_equal; lia.
Qed.

Section Lowered.
  Variable devices : nat.
  Variable moves : list move.
  Hypothesis Lowered : lowered devices moves.

  Let P := plan_of devices moves.

  Lemma row_is : forall d, d < devices -> row P d = row_of moves d.
  Proof.
    intros d inside. unfold row, P, plan_of.
    rewrite (nth_indep _ [] (row_of moves devices)) by (rewrite map_length, seq_length; exact inside).
    rewrite map_nth with (d := devices). rewrite seq_nth by exact inside. reflexivity.
  Qed.

  Lemma row_outside : forall before behind, moves = before ++ behind -> forall d, devices <= d -> row_of before d = [].
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape d out; [reflexivity |].
    rewrite <- app_assoc in shape. cbn in shape. rewrite row_of_app, (IH _ shape d out). cbn.
    specialize (Lowered before x behind shape). destruct x as [c a | a b m]; cbn in Lowered |- *.
    - destruct (Nat.eqb_spec c d); [lia | reflexivity].
    - destruct (Nat.eqb_spec a d); [lia |]. destruct (Nat.eqb_spec b d); [lia | reflexivity].
  Qed.

  Lemma both_rows : forall before behind, moves = before ++ behind -> forall a b,
    count (sends_to b) (row_of before a) = count (receives_from a) (row_of before b).
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape a b; [reflexivity |].
    rewrite <- app_assoc in shape. cbn in shape. specialize (IH _ shape a b).
    specialize (Lowered before x behind shape). rewrite !row_of_app. unfold count in *. rewrite !filter_app, !app_length, IH.
    f_equal. unfold row_of. cbn [flat_map]. rewrite !app_nil_r. destruct x as [c y | c e m]; cbn in Lowered |- *.
    - destruct Lowered as [_ kind]. destruct (c =? a), (c =? b), y; cbn; try reflexivity; contradiction.
    - destruct Lowered as [_ [_ apart]].
      destruct (Nat.eqb_spec c a), (Nat.eqb_spec e a), (Nat.eqb_spec c b), (Nat.eqb_spec e b); cbn; subst;
        rewrite ?Nat.eqb_refl; cbn; try reflexivity; try congruence;
        repeat match goal with |- context [?p =? ?q] => destruct (Nat.eqb_spec p q); cbn end; try reflexivity; congruence.
  Qed.

  (** The state after some moves, when all messages that were appended have gone. *)
  Definition after_moves (before : list move) (s : state lane) : Prop :=
    (forall d, s (Device d) = length (row_of before d)) /\
    (forall a b, s (Channel a b) = count (sends_to b) (row_of before a)).

  Lemma earlier_have_gone : forall before behind s a b, moves = before ++ behind -> after_moves before s -> a < devices ->
    met s (earlier_between P a b (length (row_of before a))).
  Proof.
    intros before behind s a b shape [_ gone] inside k n among. unfold earlier_between in among.
    assert (prefix : firstn (length (row_of before a)) (row P a) = row_of before a).
    { rewrite row_is by exact inside. rewrite shape, row_of_app, firstn_app, firstn_all, Nat.sub_diag. cbn. apply app_nil_r. }
    rewrite prefix in among. destruct among as [same | [same | []]]; inversion same; subst k n; rewrite gone; [lia |].
    rewrite (both_rows before behind shape). lia.
  Qed.

  Lemma all_earlier_have_gone : forall before behind s a b, moves = before ++ behind -> after_moves before s -> a < devices ->
    met s (stream DeviceStreams P a b (length (row_of before a))).
  Proof.
    intros before behind s a b shape state_is inside k n among. cbn in among. apply in_flat_map in among.
    destruct among as [c [_ among]]. apply (earlier_have_gone before behind s a c shape state_is inside). exact among.
  Qed.

  Definition one_more (s : state lane) (k : lane) : state lane := fun j => if same_lane j k then S (s j) else s j.

  Lemma one_more_same : forall s k, one_more s k k = S (s k).
  Proof. intros s k. unfold one_more. destruct (same_lane k k); [reflexivity | congruence]. Qed.

  Lemma one_more_other : forall s k j, j <> k -> one_more s k j = s j.
  Proof. intros s k j differs. unfold one_more. destruct (same_lane j k); [congruence | reflexivity]. Qed.

  Lemma one_more_runs : forall X l s k needed, run (need X P) l s -> need X P k (s k) = Some needed -> met s needed ->
    run (need X P) (k :: l) (one_more s k).
  Proof.
    intros X l s k needed runs can holds. apply (run_goes_on _ l s _ k needed); try assumption.
    - apply one_more_same.
    - intros j differs. apply one_more_other. exact differs.
  Qed.

  Lemma next_action : forall before x behind d a, moves = before ++ x :: behind -> d < devices ->
    (exists rest, appends x d = a :: rest) ->
    nth_error (row P d) (length (row_of before d)) = Some a /\
    firstn (length (row_of before d)) (row P d) = row_of before d.
  Proof.
    intros before x behind d a shape inside [rest head]. rewrite row_is by exact inside. rewrite shape, row_of_app. split.
    - rewrite nth_error_app2, Nat.sub_diag by lia. unfold row_of. cbn. rewrite head. reflexivity.
    - rewrite firstn_app, firstn_all, Nat.sub_diag. cbn. apply app_nil_r.
  Qed.

  Lemma arrivals_have_come : forall s d before inputs, (forall m, In m inputs -> received m before <> None) ->
    (forall a, count (receives_from a) before <= s (Channel a d)) ->
    exists needed, arrivals d before inputs = Some needed /\ met s needed.
  Proof.
    intros s d before inputs posted_all gone. destruct (arrivals d before inputs) as [needed |] eqn:found.
    - exists needed. split; [reflexivity |]. intros k n inside.
      destruct (arrivals_need _ _ _ _ _ _ found inside) as [m [from [i [_ [there [is_k is_n]]]]]]. subst k n.
      apply received_number in there. specialize (gone from). lia.
    - exfalso. apply (arrivals_are_some d before inputs posted_all). exact found.
  Qed.

  Lemma moves_run : forall before behind, moves = before ++ behind ->
    exists l s, run (need DeviceStreams P) l s /\ after_moves before s.
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape.
    - exists [], (fun _ => 0). split; [apply run_starts; reflexivity | split; reflexivity].
    - rewrite <- app_assoc in shape. cbn in shape. destruct (IH _ shape) as [l [s [runs state_is]]].
      specialize (Lowered before x behind shape) as fine. destruct state_is as [at_row gone].
      destruct x as [d y | a b m]; cbn in fine.
      + destruct fine as [inside kind].
        assert (head : exists rest, appends (Act d y) d = y :: rest) by (cbn; rewrite Nat.eqb_refl; exists []; reflexivity).
        destruct (next_action before _ behind d y shape inside head) as [there prefix].
        assert (can : exists needed, need DeviceStreams P (Device d) (s (Device d)) = Some needed /\ met s needed).
        { cbn [need]. rewrite at_row, there, prefix. destruct y as [ins outs | to m | from m | m |]; cbn [needs_of_action];
            try contradiction.
          - apply arrivals_have_come; [exact kind |]. intros c. rewrite gone, (both_rows before _ shape). lia.
          - destruct (sent m (row_of before d)) as [[to i] |] eqn:found; [| congruence].
            eexists. split; [reflexivity |]. intros k n [same | []]. inversion same. subst k n. rewrite gone.
            apply sent_number in found. lia.
          - exists []. split; [reflexivity | intros k n []]. }
        destruct can as [needed [can holds]].
        exists (Device d :: l), (one_more s (Device d)). split; [apply (one_more_runs _ l s (Device d) needed); assumption |].
        split.
        * intros c. rewrite row_of_app, app_length. unfold row_of at 2. cbn. destruct (Nat.eqb_spec d c) as [same | differs].
          -- subst c. rewrite one_more_same, at_row. cbn. lia.
          -- rewrite one_more_other by congruence. rewrite at_row. cbn. lia.
        * intros c e. rewrite one_more_other by discriminate. rewrite gone, row_of_app. unfold row_of at 3, count.
          rewrite filter_app, app_length. cbn. destruct (d =? c); destruct y; cbn; try contradiction; lia.
      + destruct fine as [in_a [in_b apart]].
        assert (head_a : exists rest, appends (Exchange a b m) a = Send b m :: rest)
          by (cbn; rewrite Nat.eqb_refl; eexists; reflexivity).
        assert (head_b : exists rest, appends (Exchange a b m) b = Receive a m :: rest).
        { cbn. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec a b); [contradiction | eexists; reflexivity]. }
        destruct (next_action before _ behind a _ shape in_a head_a) as [there_a prefix_a].
        destruct (next_action before _ behind b _ shape in_b head_b) as [there_b prefix_b].
        set (s1 := one_more s (Device a)). set (s2 := one_more s1 (Device b)). set (s3 := one_more s2 (Channel a b)).
        assert (step1 : run (need DeviceStreams P) (Device a :: l) s1).
        { apply (one_more_runs _ l s (Device a) []); [exact runs | | intros k n []].
          cbn [need]. rewrite at_row, there_a. reflexivity. }
        assert (step2 : run (need DeviceStreams P) (Device b :: Device a :: l) s2).
        { apply (one_more_runs _ _ s1 (Device b) []); [exact step1 | | intros k n []].
          unfold s1. rewrite one_more_other by congruence. cbn [need]. rewrite at_row, there_b. reflexivity. }
        assert (grows : forall k, s k <= s2 k).
        { intros k. unfold s2, s1, one_more. destruct (same_lane k (Device b)), (same_lane k (Device a)); lia. }
        assert (s2_channel : s2 (Channel a b) = s (Channel a b)) by reflexivity.
        assert (s2_a : s2 (Device a) = S (length (row_of before a))).
        { unfold s2. rewrite one_more_other by congruence. unfold s1. rewrite one_more_same, at_row. reflexivity. }
        assert (s2_b : s2 (Device b) = S (length (row_of before b))).
        { unfold s2. rewrite one_more_same. unfold s1. rewrite one_more_other by congruence. rewrite at_row. reflexivity. }
        assert (step3 : run (need DeviceStreams P) (Channel a b :: Device b :: Device a :: l) s3).
        { apply (one_more_runs _ _ s2 (Channel a b)
            (needs_of_message DeviceStreams P a b (length (row_of before a)) (length (row_of before b)))); [exact step2 | |].
          - rewrite s2_channel, gone. cbn [need].
            assert (at_a : nth_error (positions (sends_to b) (row P a)) (count (sends_to b) (row_of before a)) =
              Some (length (row_of before a))).
            { destruct head_a as [rest head_a]. rewrite row_is by exact in_a. rewrite shape, row_of_app.
              unfold row_of at 2. cbn [flat_map]. rewrite head_a. cbn [app].
              apply (position_at (sends_to b) (row_of before a) (Send b m) _ 0). cbn. apply Nat.eqb_refl. }
            assert (at_b : nth_error (positions (receives_from a) (row P b)) (count (sends_to b) (row_of before a)) =
              Some (length (row_of before b))).
            { rewrite (both_rows before _ shape). destruct head_b as [rest head_b]. rewrite row_is by exact in_b.
              rewrite shape, row_of_app. unfold row_of at 2. cbn [flat_map]. rewrite head_b. cbn [app].
              apply (position_at (receives_from a) (row_of before b) (Receive a m) _ 0). cbn. apply Nat.eqb_refl. }
            rewrite at_a, at_b. reflexivity.
          - intros k n [same | [same | among]].
            + inversion same. subst k n. lia.
            + inversion same. subst k n. lia.
            + apply in_app_iff in among. assert (holds : n <= s k); [| specialize (grows k); lia].
              destruct among as [among | among].
              * apply (all_earlier_have_gone before _ s a b shape (conj at_row gone) in_a). exact among.
              * apply (all_earlier_have_gone before _ s b a shape (conj at_row gone) in_b). exact among. }
        exists (Channel a b :: Device b :: Device a :: l), s3. split; [exact step3 |]. split.
        * intros c. unfold s3. rewrite one_more_other by discriminate. rewrite row_of_app, app_length. unfold row_of at 2.
          cbn [flat_map appends]. rewrite app_nil_r, app_length.
          destruct (Nat.eqb_spec a c) as [same_a | other_a]; destruct (Nat.eqb_spec b c) as [same_b | other_b]; cbn [length].
          -- congruence.
          -- subst c. rewrite s2_a. lia.
          -- subst c. rewrite s2_b. lia.
          -- unfold s2, s1. rewrite !one_more_other by congruence. rewrite at_row. lia.
        * intros c e. rewrite row_of_app. unfold row_of at 2, count.
          rewrite filter_app, app_length. fold (count (sends_to e) (row_of before c)).
          cbn [flat_map appends]. rewrite app_nil_r, filter_app, app_length.
          assert (old : s2 (Channel c e) = count (sends_to e) (row_of before c)) by apply gone.
          destruct (same_lane (Channel c e) (Channel a b)) as [same | differs].
          -- inversion same. subst c e. unfold s3. rewrite one_more_same, s2_channel, gone, !Nat.eqb_refl.
             destruct (Nat.eqb_spec b a); cbn; rewrite Nat.eqb_refl; cbn; lia.
          -- unfold s3. rewrite one_more_other by exact differs. rewrite old.
             destruct (Nat.eqb_spec a c) as [same_a | other_a]; destruct (Nat.eqb_spec b c) as [same_b | other_b]; cbn;
               try (destruct (Nat.eqb_spec b e); [congruence |]); cbn; lia.
  Qed.

  (** A plan that is written in this way ends under all four semantics. *)
  Theorem lowered_plans_end : forall X, ends X P.
  Proof.
    intros X. apply (ends_under_more_permissive DeviceStreams); [destruct X; exact I |].
    destruct (moves_run moves []) as [l [s [runs [at_row _]]]]; [symmetry; apply app_nil_r |].
    apply (one_run_is_enough DeviceStreams P l s runs). intros d. rewrite at_row.
    destruct (le_lt_dec devices d) as [out | inside].
    - rewrite (row_outside moves []); [| symmetry; apply app_nil_r | exact out].
      assert (empty : row P d = []); [| rewrite empty; reflexivity].
      unfold row, P, plan_of. apply nth_overflow. rewrite map_length, seq_length. exact out.
    - rewrite row_is by exact inside. reflexivity.
  Qed.

  Lemma same_messages_appended : forall before behind, moves = before ++ behind -> forall a b,
    sent_messages b (row_of before a) = received_messages a (row_of before b).
  Proof.
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape a b; [reflexivity |].
    rewrite <- app_assoc in shape. cbn in shape. specialize (IH _ shape a b).
    specialize (Lowered before x behind shape). rewrite !row_of_app. unfold sent_messages, received_messages in *.
    rewrite !flat_map_app, IH. f_equal. unfold row_of. cbn [flat_map]. rewrite !app_nil_r.
    destruct x as [c y | c e m]; cbn in Lowered |- *.
    - destruct Lowered as [_ kind]. destruct (c =? a), (c =? b), y; cbn; try reflexivity; contradiction.
    - destruct Lowered as [_ [_ apart]].
      destruct (Nat.eqb_spec c a), (Nat.eqb_spec e a), (Nat.eqb_spec c b), (Nat.eqb_spec e b); cbn; subst;
        rewrite ?Nat.eqb_refl; cbn; try reflexivity; try congruence;
        repeat match goal with |- context [?p =? ?q] => destruct (Nat.eqb_spec p q); cbn end; try reflexivity; congruence.
  Qed.

  (** And receives its messages in the order in which they are sent. *)
  Theorem lowered_plans_are_in_order : in_order P.
  Proof.
    intros a b.
    assert (rows : forall d, row P d = row_of moves d).
    { intros d. destruct (le_lt_dec devices d) as [out | inside]; [| apply row_is; exact inside].
      rewrite (row_outside moves []); [| symmetry; apply app_nil_r | exact out].
      unfold row, P, plan_of. apply nth_overflow. rewrite map_length, seq_length. exact out. }
    rewrite !rows. apply (same_messages_appended moves []). symmetry. apply app_nil_r.
  Qed.

  (** If passes make the messages before they are exchanged, they are made before they are sent. *)
  Theorem lowered_plans_make_before_they_send :
    (forall before a b m behind, moves = before ++ Exchange a b m :: behind ->
      exists inputs outputs, In (Run inputs outputs) (row_of before a) /\ In m outputs) ->
    made_before_sent P.
  Proof.
    intros makes d n to m there.
    assert (inside : d < devices).
    { assert (small : d < length P) by (apply (row_inside P d n); congruence).
      unfold P, plan_of in small. rewrite map_length, seq_length in small. exact small. }
    rewrite row_is in there |- * by exact inside. revert n to m there.
    assert (each : forall before behind, moves = before ++ behind -> forall n to m,
      nth_error (row_of before d) n = Some (Send to m) ->
      exists i inputs outputs, i < n /\ nth_error (row_of before d) i = Some (Run inputs outputs) /\ In m outputs);
      [| apply (each moves []); symmetry; apply app_nil_r].
    intros before. induction before as [| x before IH] using rev_ind; intros behind shape n to m there;
      [destruct n; discriminate |].
    rewrite <- app_assoc in shape. cbn in shape. rewrite row_of_app in there |- *.
    destruct (le_lt_dec (length (row_of before d)) n) as [new | old].
    - rewrite nth_error_app2 in there by exact new.
      unfold row_of at 1 in there. cbn [flat_map] in there. rewrite app_nil_r in there.
      specialize (Lowered before x behind shape). apply nth_error_In in there.
      destruct x as [c y | a b k]; cbn in Lowered, there.
      + destruct (c =? d); [| destruct there]. destruct there as [same | []]. subst y. destruct Lowered as [_ []].
      + assert (found : a = d /\ k = m).
        { destruct (Nat.eqb_spec a d) as [same | differs]; destruct (b =? d); cbn in there;
            repeat (destruct there as [there | there]; try discriminate there);
            try contradiction; inversion there; split; assumption || reflexivity. }
        destruct found. subst a k. destruct (makes before d b m behind shape) as [ins [outs [is_run output]]].
        destruct (In_nth_error _ _ is_run) as [i at_i]. exists i, ins, outs.
        assert (i < length (row_of before d)) by (apply nth_error_Some; congruence).
        split; [lia |]. rewrite nth_error_app1 by assumption. split; assumption.
    - rewrite nth_error_app1 in there by exact old. destruct (IH _ shape n to m there) as [i [ins [outs [less [is_run output]]]]].
      exists i, ins, outs. split; [exact less |]. rewrite nth_error_app1 by lia. split; assumption.
  Qed.
End Lowered.

(** *** Exactly when a plan ends *)

(** Some step of every chain of waits is of an action or a message that exists, except where all of it is in one lane. *)
Lemma chain_has_a_step : forall need e f, clos_trans _ (waits_for need) e f ->
  (fst e = fst f /\ snd f < snd e) \/
  exists g : step_of (lane := lane), need (fst g) (snd g) <> None /\ (e = g \/ clos_trans _ (waits_for need) e g) /\
    clos_trans _ (waits_for need) g f.
Proof.
  intros need e f chain. apply clos_trans_t1n in chain. induction chain as [e f direct | e x f direct chain IH].
  - inversion direct as [k i | k i needed j n can inside]; subst.
    + left. cbn. split; [reflexivity | lia].
    + right. exists (k, i). split; [cbn; congruence |]. split; [left; reflexivity | constructor; exact direct].
  - apply clos_t1n_trans in chain. inversion direct as [k i | k i needed j n can inside]; subst.
    + destruct IH as [[same less] | [g [some [reaches leads]]]].
      * left. cbn in *. split; [exact same | lia].
      * right. exists g. split; [exact some |]. split; [| exact leads]. right. destruct reaches as [same | reaches].
        -- subst g. constructor. exact direct.
        -- apply (t_trans _ _ _ (k, i)); [constructor; exact direct | exact reaches].
    + right. exists (k, i). split; [cbn; congruence |]. split; [left; reflexivity |].
      apply (t_trans _ _ _ (j, n)); [constructor; exact direct | exact chain].
Qed.

Lemma ending_plans_are_possible : forall X P, ends X P -> received_before_used P /\ sent_before_waited P.
Proof.
  intros X P good.
  destruct (every_run_comes_to_an_end X P [] (fun _ => 0)) as [l [s [runs stops]]]; [apply run_starts; reflexivity |].
  assert (all := good _ s runs stops).
  assert (possible : forall d n a, nth_error (row P d) n = Some a -> needs_of_action X d (firstn n (row P d)) a <> None).
  { intros d n a there. assert (before : n < s (Device d)) by (rewrite all; apply nth_error_Some; congruence).
    destruct (taken_steps_had_needs same_lane (need X P) _ s runs (Device d) n before) as [needed [can _]].
    cbn [need] in can. rewrite there in can. congruence. }
  split.
  - intros d n ins outs m there inside. specialize (possible d n _ there). cbn in possible.
    destruct (arrivals d (firstn n (row P d)) ins) as [needed |] eqn:found; [| congruence].
    destruct (arrivals_needed _ _ _ _ _ found inside) as [from [i [is_there _]]]. exists from.
    destruct (received_is_there _ _ _ _ is_there) as [j [at_j _]]. apply (nth_error_In _ j). exact at_j.
  - intros d n m there. specialize (possible d n _ there). cbn in possible.
    destruct (sent m (firstn n (row P d))) as [[to i] |] eqn:found; [| congruence]. exists to.
    destruct (sent_is_there _ _ _ _ found) as [j [at_j _]]. apply (nth_error_In _ j). exact at_j.
Qed.

(** A plan in order ends exactly when it receives before it uses, sends before it waits, and nothing waits for itself. *)
Theorem ends_exactly_when_acyclic : forall X P, X = Buffered \/ X = Rendezvous -> in_order P ->
  (ends X P <-> received_before_used P /\ sent_before_waited P /\ acyclic X P).
Proof.
  intros X P no_streams order. split.
  - intros good. destruct (ending_plans_are_possible X P good) as [used waited].
    split; [exact used |]. split; [exact waited |]. intros e cycle.
    destruct (every_run_comes_to_an_end X P [] (fun _ => 0)) as [l [s [runs stops]]]; [apply run_starts; reflexivity |].
    assert (all := good _ s runs stops).
    assert (on_cycle : exists g : step_of, need X P (fst g) (snd g) <> None /\ clos_trans _ (waits_for (need X P)) g g).
    { destruct (chain_has_a_step _ e e cycle) as [[_ less] | [g [some [reaches leads]]]]; [lia |]. exists g. split; [exact some |].
      destruct reaches as [same | reaches]; [subst; exact leads | apply (t_trans _ _ _ e); assumption]. }
    destruct on_cycle as [[k n] [some around]]. cbn in some.
    apply (cycles_never_run same_lane (need X P) _ s (k, n) runs around). unfold done. cbn.
    destruct (need X P k n) as [needed |] eqn:can; [| congruence]. apply steps_are_known in can. destruct can as [_ small].
    destruct k as [d | a b]; cbn in small.
    + rewrite all. exact small.
    + rewrite (all_messages_arrive X P no_streams order _ s runs stops all a b).
      unfold positions in small. rewrite length_of_positions in small. exact small.
  - intros [used [waited no_cycle]]. apply acyclic_plans_end; assumption.
Qed.

(** *** From the rules of the code to the order of messages *)

(** [swapped-messages] compares both sides only as far as both go. No message occurs twice ([duplicate-action]), and each that is
    sent is received and the other way round ([never-sent], [never-received], where a pass needs it), so they are the same. *)
Lemma compared_lists_are_equal : forall l k : list message, NoDup l -> NoDup k -> (forall m, In m l <-> In m k) ->
  (forall n m m', nth_error l n = Some m -> nth_error k n = Some m' -> m = m') -> l = k.
Proof.
  intros l k single single' same compared.
  assert (long : length l = length k).
  { apply Nat.le_antisymm; apply NoDup_incl_length; try assumption; intros m inside; apply same; exact inside. }
  clear single single' same. revert k compared long. induction l as [| m l IH]; intros [| m' k] compared long; try discriminate.
  - reflexivity.
  - f_equal; [apply (compared 0); reflexivity |]. apply IH; [| inversion long; reflexivity].
    intros n x y. apply (compared (S n)).
Qed.

Theorem rules_of_the_code_give_the_order : forall P,
  (forall a b, NoDup (sent_messages b (row P a)) /\ NoDup (received_messages a (row P b))) ->
  (forall a b m, In m (sent_messages b (row P a)) <-> In m (received_messages a (row P b))) ->
  (forall a b n m m', nth_error (sent_messages b (row P a)) n = Some m ->
    nth_error (received_messages a (row P b)) n = Some m' -> m = m') ->
  in_order P.
Proof.
  intros P single same compared a b. apply compared_lists_are_equal; [apply single | apply single | apply same | apply compared].
Qed.

(** *** Messages and passes *)

(** What a device does, in terms of the passes of a model. A backward is an input gradient and a weight gradient in one. *)
Inductive cell :=
| Passes (l : list Execution.pass)
| SendCell (m : message)
| ReceiveCell (m : message)
| WaitCell (m : message)
| OtherCell.

Section Files.
  Variable M : Execution.model.

  Definition sender (m : message) : nat := (if is_gradient m then S else id) (N.to_nat (boundary m)).
  Definition receiver (m : message) : nat := (if is_gradient m then id else S) (N.to_nat (boundary m)).

  (** A message is needed only between devices. *)
  Definition if_crossing (m : message) : list message :=
    if Execution.device_of M (sender m) =? Execution.device_of M (receiver m) then [] else [m].

  Definition into_pass (p : Execution.pass) : list message :=
    let s := Execution.stage_of p in
    let m := N.of_nat (Execution.microbatch_of p) in
    match Execution.kind_of p with
    | Execution.F => match s with 0 => [] | S b => if_crossing (Message false (N.of_nat b) m) end
    | Execution.I => if S s <? Execution.stages M then if_crossing (Message true (N.of_nat s) m) else []
    | Execution.W => []
    end.

  Definition out_of_pass (p : Execution.pass) : list message :=
    let s := Execution.stage_of p in
    let m := N.of_nat (Execution.microbatch_of p) in
    match Execution.kind_of p with
    | Execution.F => if S s <? Execution.stages M then if_crossing (Message false (N.of_nat s) m) else []
    | Execution.I => match s with 0 => [] | S b => if_crossing (Message true (N.of_nat b) m) end
    | Execution.W => []
    end.

  Definition action_of (c : cell) : action :=
    match c with
    | Passes l => Run (flat_map into_pass l) (flat_map out_of_pass l)
    | SendCell m => Send (Execution.device_of M (receiver m)) m
    | ReceiveCell m => Receive (Execution.device_of M (sender m)) m
    | WaitCell m => WaitSend m
    | OtherCell => Other
    end.

  Definition plan_of_file (rows : list (list cell)) : plan := map (map action_of) rows.

  (** What verify says of the sends and receives of a file. *)
  Definition file_is_verified (rows : list (list cell)) : bool := verified (plan_of_file rows).

  Lemma row_of_file : forall rows d, row (plan_of_file rows) d = map action_of (nth d rows []).
  Proof. intros rows d. unfold row, plan_of_file. change ([] : list action) with (map action_of []) at 1. apply map_nth. Qed.

  Lemma runs_are_passes : forall rows d n inputs outputs, nth_error (row (plan_of_file rows) d) n = Some (Run inputs outputs) ->
    exists l, nth_error (nth d rows []) n = Some (Passes l) /\ inputs = flat_map into_pass l /\ outputs = flat_map out_of_pass l.
  Proof.
    intros rows d n inputs outputs there. rewrite row_of_file, nth_error_map in there.
    destruct (nth_error (nth d rows []) n) as [[l | m | m | m |] |]; cbn in there; try discriminate.
    inversion there. exists l. repeat split.
  Qed.

  Lemma only_maker : forall p q m, In m (out_of_pass p) -> In m (out_of_pass q) -> p = q.
  Proof.
    assert (inside : forall m k, In m (if_crossing k) -> m = k).
    { intros m k found. unfold if_crossing in found. destruct (_ =? _); [destruct found | destruct found as [same | []]; auto]. }
    assert (makes : forall p m, In m (out_of_pass p) ->
      m = Message false (N.of_nat (Execution.stage_of p)) (N.of_nat (Execution.microbatch_of p)) /\
      Execution.kind_of p = Execution.F \/
      exists b, Execution.stage_of p = S b /\ m = Message true (N.of_nat b) (N.of_nat (Execution.microbatch_of p)) /\
        Execution.kind_of p = Execution.I).
    { intros [k s i] m found. unfold out_of_pass in found.
      cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of] in found |- *. destruct k.
      - left. destruct (S s <? Execution.stages M); [apply inside in found; split; [exact found | reflexivity] | destruct found].
      - right. destruct s as [| b]; [destruct found |]. apply inside in found. exists b. repeat split. exact found.
      - destruct found. }
    intros [k s i] [k' s' i'] m one two. apply makes in one. apply makes in two.
    cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of] in one, two.
    destruct one as [[one kind] | [b [stage [one kind]]]]; destruct two as [[two kind'] | [b' [stage' [two kind']]]]; subst;
      inversion two as [[stages_agree microbatches_agree]];
      apply Nnat.Nat2N.inj in stages_agree; apply Nnat.Nat2N.inj in microbatches_agree; subst; reflexivity.
  Qed.

  (** What a pass needs from another device has been run there before it, in every run of a verified file. *)
  Theorem passes_of_other_devices_come_first : forall rows X, file_is_verified rows = true ->
    forall l s, run (need X (plan_of_file rows)) l s ->
    forall d n together p q lag, n < s (Device d) -> nth_error (nth d rows []) n = Some (Passes together) -> In p together ->
    Execution.pass_needs M q lag p ->
    Execution.device_of M (Execution.stage_of q) <> Execution.device_of M (Execution.stage_of p) ->
    exists e i others, i < s (Device e) /\ nth_error (nth e rows []) i = Some (Passes others) /\ In q others.
  Proof.
    intros rows X good l s runs d n together p q lag before there inside needed apart.
    destruct (verified_plans_are_safe _ good) as [_ [_ [order makes]]].
    assert (is_run : nth_error (row (plan_of_file rows) d) n =
      Some (Run (flat_map into_pass together) (flat_map out_of_pass together))).
    { rewrite row_of_file, nth_error_map, there. reflexivity. }
    assert (crossing_message : exists m, In m (into_pass p) /\ In m (out_of_pass q)).
    { assert (cross : forall m, Execution.device_of M (sender m) <> Execution.device_of M (receiver m) -> In m (if_crossing m)).
      { intros m differs. unfold if_crossing. destruct (Nat.eqb_spec (Execution.device_of M (sender m))
          (Execution.device_of M (receiver m))); [contradiction | left; reflexivity]. }
      destruct needed as [b i small known | i known | b i small known | b i small known]; cbn in apart; try congruence.
      - exists (Message false (N.of_nat b) (N.of_nat i)). unfold into_pass, out_of_pass.
        cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of].
        assert (is_less : S b <? Execution.stages M = true) by (apply Nat.ltb_lt; exact small). rewrite is_less.
        assert (held : In (Message false (N.of_nat b) (N.of_nat i)) (if_crossing (Message false (N.of_nat b) (N.of_nat i)))).
        { apply cross. unfold sender, receiver, id. cbn. rewrite Nnat.Nat2N.id. exact apart. }
        split; exact held.
      - exists (Message true (N.of_nat b) (N.of_nat i)). unfold into_pass, out_of_pass.
        cbn [Execution.kind_of Execution.stage_of Execution.microbatch_of].
        assert (is_less : S b <? Execution.stages M = true) by (apply Nat.ltb_lt; exact small). rewrite is_less.
        assert (held : In (Message true (N.of_nat b) (N.of_nat i)) (if_crossing (Message true (N.of_nat b) (N.of_nat i)))).
        { apply cross. unfold sender, receiver, id. cbn. rewrite Nnat.Nat2N.id. exact apart. }
        split; exact held. }
    destruct crossing_message as [m [into_p out_of_q]].
    assert (input : In m (flat_map into_pass together)) by (apply in_flat_map; exists p; split; assumption).
    destruct (every_message_was_made X _ order makes l s runs d n _ _ m before is_run input)
      as [e [i [ins [outs [ran [is_pass output]]]]]].
    destruct (runs_are_passes rows e i ins outs is_pass) as [others [at_i [_ outs_are]]]. subst outs.
    exists e, i, others. split; [exact ran |]. split; [exact at_i |].
    apply in_flat_map in output. destruct output as [r [among made_by]]. rewrite (only_maker q r m out_of_q made_by). exact among.
  Qed.
End Files.

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

(** ** Examples *)

Section Examples.
  Local Open Scope N_scope.
  Let activation (i : N) := Message false 0 i.
  Let gradient (i : N) := Message true 0 i.

  (** 1F1B with two devices and two microbatches, in which each device posts its messages right when its passes make or need them.
      Device 0 posts the send of activation 1 before the receive of gradient 0; device 1 posts gradient 0 before the receive of
      activation 1. *)
  Definition crossing : plan :=
    [[Run [] [activation 0]; Send 1 (activation 0); Run [] [activation 1]; Send 1 (activation 1);
      Receive 1 (gradient 0); Run [gradient 0] []; WaitSend (activation 0);
      Receive 1 (gradient 1); Run [gradient 1] []; WaitSend (activation 1)];
     [Receive 0 (activation 0); Run [activation 0] []; Run [] [gradient 0]; Send 0 (gradient 0);
      Receive 0 (activation 1); Run [activation 1] []; Run [] [gradient 1]; Send 0 (gradient 1);
      WaitSend (gradient 0); WaitSend (gradient 1)]].

  (** verify accepts it: with a stream for each direction every run ends, *)
  Example crossing_is_verified : verified crossing = true.
  Proof. vm_compute. reflexivity. Qed.

  (** but with one stream for each pair of devices no run ends. *)
  Example crossing_never_ends_with_pair_streams :
    forall l s, run (need PairStreams crossing) l s -> ~ finished crossing s.
  Proof. apply verdict_false_means_never. vm_compute. reflexivity. Qed.

  (** The reason: activation 1 and gradient 0 cross. *)
  Example crossing_posts_cross : posts_cross crossing 0 1 1 0.
  Proof. exists 3%nat, 4%nat, 3%nat, 4%nat. repeat (split; [reflexivity |]). left. split; apply Nat.lt_succ_diag_r. Qed.

  (** The order of posts that convert writes ends everywhere: both ends of a message are appended at the same moment. *)
  Definition side_by_side : list move :=
    [Act 0 (Run [] [activation 0]); Exchange 0 1 (activation 0); Act 1 (Run [activation 0] []);
     Act 0 (Run [] [activation 1]); Exchange 0 1 (activation 1);
     Act 1 (Run [] [gradient 0]); Exchange 1 0 (gradient 0); Act 0 (Run [gradient 0] []); Act 0 (WaitSend (activation 0));
     Act 1 (Run [activation 1] []); Act 1 (Run [] [gradient 1]); Exchange 1 0 (gradient 1);
     Act 0 (Run [gradient 1] []); Act 0 (WaitSend (activation 1)); Act 1 (WaitSend (gradient 0)); Act 1 (WaitSend (gradient 1))].

  Example side_by_side_ends : forall X, ends X (plan_of 2 side_by_side).
  Proof. intros X. apply verdict_is_right. destruct X; vm_compute; reflexivity. Qed.

  Example side_by_side_is_verified : verified (plan_of 2 side_by_side) = true.
  Proof. vm_compute. reflexivity. Qed.

  (** Each device waits for its send before it receives: this ends with buffered messages, but never without buffers. *)
  Definition waits_across : plan :=
    [[Run [] [activation 0]; Send 1 (activation 0); Run [] [activation 1]; Send 1 (activation 1); WaitSend (activation 1);
      Receive 1 (gradient 0); Run [gradient 0] []; WaitSend (activation 0); Receive 1 (gradient 1); Run [gradient 1] []];
     [Receive 0 (activation 0); Run [activation 0] []; Run [] [gradient 0]; Send 0 (gradient 0); WaitSend (gradient 0);
      Receive 0 (activation 1); Run [activation 1] []; Run [] [gradient 1]; Send 0 (gradient 1); WaitSend (gradient 1)]].

  Example waits_across_ends_with_buffers : ends Buffered waits_across.
  Proof. apply verdict_is_right. vm_compute. reflexivity. Qed.

  Example waits_across_never_ends_without : forall l s, run (need Rendezvous waits_across) l s -> ~ finished waits_across s.
  Proof. apply verdict_false_means_never. vm_compute. reflexivity. Qed.

  (** Three devices send onwards in a circle: this ends with one stream for each pair of devices, since every pair has one message
      only, but never with one stream for each device. *)
  Definition circle : plan :=
    [[Run [] [Message false 0 0]; Send 1 (Message false 0 0); Receive 2 (Message false 2 0); Run [Message false 2 0] []];
     [Run [] [Message false 1 0]; Send 2 (Message false 1 0); Receive 0 (Message false 0 0); Run [Message false 0 0] []];
     [Run [] [Message false 2 0]; Send 0 (Message false 2 0); Receive 1 (Message false 1 0); Run [Message false 1 0] []]].

  Example circle_ends_with_pair_streams : ends PairStreams circle.
  Proof. apply verdict_is_right. vm_compute. reflexivity. Qed.

  Example circle_never_ends_with_device_streams : forall l s, run (need DeviceStreams circle) l s -> ~ finished circle s.
  Proof. apply verdict_false_means_never. vm_compute. reflexivity. Qed.

  (** So each semantics is strictly more permissive than the next one. *)

  (** Two receives in the wrong order: every run ends, under all semantics, but each pass gets the message of the other. *)
  Definition swapped : plan :=
    [[Run [] [activation 0]; Send 1 (activation 0); Run [] [activation 1]; Send 1 (activation 1);
      WaitSend (activation 0); WaitSend (activation 1)];
     [Receive 0 (activation 1); Receive 0 (activation 0); Run [activation 0] []; Run [activation 1] []]].

  Example swapped_ends : forall X, ends X swapped.
  Proof. intros X. apply verdict_is_right. destruct X; vm_compute; reflexivity. Qed.

  Example swapped_is_not_verified : verified swapped = false.
  Proof. vm_compute. reflexivity. Qed.

  (** What a send takes is here the name of its message: the pass that needs activation 0 gets activation 1. *)
  Example swapped_gets_the_wrong_message :
    arrived (memory := unit) (fun _ m => m) (gradient 9) swapped (fun _ _ => tt) 1 2 (activation 0) = activation 1.
  Proof. reflexivity. Qed.

  (** A receive at the end that nobody sends and no pass needs. No message that is compared differs, so every rule of messages
      holds but equality of both sides, and every run ends without streams, since nothing waits for it. Messages of the other
      direction that came behind it in one stream would never go. *)
  Definition unmatched : plan :=
    [[Run [] [activation 0]; Send 1 (activation 0); WaitSend (activation 0)];
     [Receive 0 (activation 0); Run [activation 0] []; Receive 0 (activation 7)]].

  Example unmatched_ends_but_is_not_verified : ends Rendezvous unmatched /\ verified unmatched = false.
  Proof. split; [apply verdict_is_right |]; vm_compute; reflexivity. Qed.
End Examples.
