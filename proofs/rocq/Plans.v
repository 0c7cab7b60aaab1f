(** * Plans: what every device does, and how messages leave and arrive

    A plan gives each device a row of actions. This file says how it runs under the four semantics of [Communication], as lanes
    ([Lanes]): one for each device, and one for each pair of devices that counts the messages that have arrived. Every run comes
    to an end ([every_run_comes_to_an_end]); one run that does everything is enough ([one_run_is_enough]), and either every run
    does everything or none does ([all_or_none]). A plan that ends under one semantics ends under those that ask for less
    ([ends_under_more_permissive]). *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Import Bubbleproof.Lanes.
Import ListNotations.

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
