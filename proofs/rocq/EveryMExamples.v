(** * EveryMExamples: schedules that repeat, and one that does not

    1F1B with devices that are far ahead, 1F1B in a steady phase for every number of microbatches, and a schedule which shows that
    one repetition is needed ([one_repetition_needed]). *)

From Coq Require Import ZArith NArith List Lia Bool Arith Permutation FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Basics.
Require Import Bubbleproof.Growing Bubbleproof.Earliest Bubbleproof.Repeats Bubbleproof.EveryM Bubbleproof.EveryMCheck.
Require Import Bubbleproof.Recurrence.
Import ListNotations.
Open Scope Z_scope.

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
