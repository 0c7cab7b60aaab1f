(** * CommunicationExamples: each semantics is stricter than the one before it

    [crossing] is 1F1B on two devices: it ends with a stream for each direction, and never with one for each pair of devices.
    [waits_across] ends with buffers alone, [circle] with all but one stream for each device, and [swapped] ends and trains on
    wrong gradients. *)

From Coq Require Import List Arith Lia Bool PeanoNat NArith FMapPositive PArith Relations FinFun.
Require Import Bubbleproof.Lanes Bubbleproof.Plans Bubbleproof.Communication Bubbleproof.Execute Bubbleproof.Verdict.
Require Import Bubbleproof.Lowered Bubbleproof.PairStreams.
Import ListNotations.

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
