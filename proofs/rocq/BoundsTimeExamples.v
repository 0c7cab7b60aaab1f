(** * BoundsTimeExamples: a condition that is needed, and published figures

    Without its condition, the bound of windows would be false ([condition_is_needed]); the chain gives more than the windows
    where W is short ([chain_is_better]); and the windows give a published formula ([windows_as_published]). *)

From Coq Require Import ZArith List Lia Bool Permutation.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Count Bubbleproof.BoundsTime.
Import ListNotations.
Open Scope Z_scope.

(** ** The condition is needed *)

(** What two tasks next to each other in a list are. *)
Fixpoint neighbours {A : Type} (l : list A) : list (A * A) :=
  match l with
  | u :: (v :: _) as rest => (u, v) :: neighbours rest
  | _ => []
  end.

Lemma neighbours_follow : forall (A : Type) (l : list A) u v, follows l u v -> In (u, v) (neighbours l).
Proof.
  intros A l u v [before [after shape]]. subst l. induction before as [| w before IH]; [left; reflexivity |].
  destruct before as [| x before]; [right; left; reflexivity | right; exact IH].
Qed.

(** Whatever a list holds at its peak, it holds at some pass, and nowhere more. *)
Lemma held_below_peak : forall M l now done p rest, l = done ++ p :: rest ->
  now + held M done p <= peak_from M now l.
Proof.
  intros M l. induction l as [| q l IH]; intros now done p rest shape.
  - destruct done; discriminate shape.
  - cbn [peak_from]. destruct done as [| r done]; cbn in shape; injection shape as same tail.
    + subst q. unfold held, kept. cbn [sum]. lia.
    + subst r. specialize (IH (now + acquires M q - releases M q) done p rest tail).
      unfold held, kept in *. cbn [sum]. lia.
Qed.

(** V placement on two devices, one microbatch, memory for two activations, and passes of one tick each. *)
Definition small_v : model := Model 2 4 1 (fun s => match s with 0 | 3 => 0 | _ => 1 end)%nat
  (fun _ _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 1) (fun _ => Some 2).

Definition small_v_order : schedule := fun d =>
  match d with
  | O => [Pass F 0 0; Pass F 3 0; Pass I 3 0; Pass W 3 0; Pass I 0 0; Pass W 0 0]
  | _ => [Pass F 1 0; Pass F 2 0; Pass I 2 0; Pass I 1 0; Pass W 2 0; Pass W 1 0]
  end.

Definition small_v_start (p : pass) : Z :=
  match kind_of p, stage_of p with
  | F, s => Z.of_nat s
  | I, s => 7 - Z.of_nat (Nat.min s 3)
  | W, 0%nat => 8
  | W, 1%nat => 8
  | W, 2%nat => 7
  | W, _ => 5
  end.

Lemma small_v_well_formed : well_formed small_v.
Proof.
  unfold well_formed. cbn. split; [lia |]. split; [| repeat split; intros; lia].
  intros s inside. do 4 (destruct s as [| s]; [cbn; lia |]). lia.
Qed.

Lemma small_v_complete : complete small_v small_v_order.
Proof.
  intros d device. cbn in device. destruct d as [| [| d]]; [| | lia].
  - split; [repeat constructor; cbn; intuition discriminate |]. intros [k s m]. unfold exists_in. cbn. split.
    + intros listed. repeat (destruct listed as [same | listed]; [inversion same; subst; repeat split; lia |]). destruct listed.
    + intros [[stage range] on]. assert (m = 0)%nat by lia. subst m.
      do 4 (destruct s as [| s]; [try discriminate on; destruct k; auto 10 |]). lia.
  - split; [repeat constructor; cbn; intuition discriminate |]. intros [k s m]. unfold exists_in. cbn. split.
    + intros listed. repeat (destruct listed as [same | listed]; [inversion same; subst; repeat split; lia |]). destruct listed.
    + intros [[stage range] on]. assert (m = 0)%nat by lia. subst m.
      do 4 (destruct s as [| s]; [try discriminate on; destruct k; auto 10 |]). lia.
Qed.

Lemma small_v_within : within_capacity small_v small_v_order.
Proof.
  intros d limit device capacity_d done p rest shape. cbn in capacity_d. injection capacity_d as same. subst limit.
  assert (below := held_below_peak small_v _ 0 done p rest shape).
  assert (peak_from small_v 0 (small_v_order d) = 2) by (cbn in device; destruct d as [| [| d]]; [reflexivity | reflexivity | lia]).
  lia.
Qed.

Lemma small_v_waits : forall u w v, waits (problem_of small_v) (orders_of small_v small_v_order) u w v ->
  w = 1 /\ small_v_start u + 1 <= small_v_start v.
Proof.
  intros u w v wait. destruct wait as [u lag v need | l u v member next].
  - cbn in need. repeat (destruct need as [same | need]; [inversion same; subst; cbn; lia |]). destruct need.
  - split; [reflexivity |]. apply neighbours_follow in next. destruct member as [same | [same | []]]; subst l; cbn in next;
      repeat (destruct next as [same | next]; [inversion same; subst; cbn; lia |]); destruct next.
Qed.

Lemma small_v_runs : runs small_v small_v_order small_v_start.
Proof.
  assert (nonneg : forall u, 0 <= small_v_start u).
  { intros [k s m]. unfold small_v_start. cbn [kind_of stage_of]. destruct k; [lia | lia | destruct s as [| [| [| s]]]; lia]. }
  split; [split |].
  - exact nonneg.
  - intros u w v wait. destruct (small_v_waits u w v wait) as [same later]. subst w. exact later.
  - exists (fun p => Z.to_nat (small_v_start p)). intros u w v wait. destruct (small_v_waits u w v wait) as [_ later].
    specialize (nonneg u). lia.
Qed.

(** Nine ticks suffice, although the formula says eleven: on device 1, the windows hold as much work as there is. *)
Example condition_is_needed : exists M order start first last,
  well_formed M /\ complete M order /\ within_capacity M order /\ runs M order start /\
  In first (first_windows M Makespan 1) /\ In last (last_windows M Makespan 1) /\
  makespan_at_most M order start 9 /\ windows_formula (device_work M 1) first last = 11 /\
  window_work first + window_work last = device_work M 1.
Proof.
  exists small_v, small_v_order, small_v_start, (Window 5 2), (Window 6 4).
  split; [exact small_v_well_formed |]. split; [exact small_v_complete |]. split; [exact small_v_within |].
  split; [exact small_v_runs |]. split; [right; left; reflexivity |]. split; [right; left; reflexivity |].
  split; [| split; reflexivity].
  intros d device p member. cbn in device. destruct d as [| [| d]]; [| | lia];
    cbn in member; repeat (destruct member as [same | member]; [subst p; cbn; lia |]); destruct member.
Qed.

(** Nine is the least makespan: one microbatch alone takes as long. *)
Example small_v_alone : alone small_v = 9 /\ windows_bound small_v Makespan 1 <= 9.
Proof. split; [reflexivity | vm_compute; discriminate]. Qed.

(** ** Figures *)

(** Linear placement on six devices: F, I, W of 3, 4, 1 ticks, latency 2, twelve microbatches, no capacities. The chain through
    the last device gives 140, the windows only 121. *)
Definition short_weights : model := Model 6 6 12 (fun s => s)
  (fun k _ => match k with F => 3 | I => 4 | W => 1 end) (fun _ => 2) (fun _ => 1) (fun _ => 1) (fun _ => None).

Example chain_is_better :
  largest (map (chain_bound short_weights Makespan) (seq 0 6)) = 140 /\
  largest (map (windows_bound short_weights Makespan) (seq 0 6)) = 121.
Proof. split; vm_compute; reflexivity. Qed.

(** V placement on four devices with memory for four activations, passes of one tick, and eight microbatches: the windows of the
    last device give 6n + 6p - 3k - 1 for n microbatches, p devices and k activations (arXiv 2405.15362, Figure 13). *)
Definition larger_v : model := Model 4 8 8 (fun s => Nat.min s (7 - s))
  (fun _ _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 1) (fun _ => Some 4).

Example windows_as_published : windows_bound larger_v Makespan 3 = 6 * 8 + 6 * 4 - 3 * 4 - 1.
Proof. vm_compute. reflexivity. Qed.
