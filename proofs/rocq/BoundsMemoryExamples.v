(** * BoundsMemoryExamples: a longer turn would be false

    A schedule of 286 ticks on a device with short memory, which a turn of 39 ticks in place of 30 would forbid
    ([longer_turn_is_false]). *)

From Coq Require Import ZArith List Lia Bool Permutation Sorted.
Require Import Bubbleproof.Execution Bubbleproof.Basics Bubbleproof.Occupancy Bubbleproof.BoundsMemory.
Import ListNotations.
Open Scope Z_scope.

(** ** The bound cannot be longer

    Take V placement on four devices, equal stages whose F, I and W take 3, 4 and 2 ticks (S = 9), no latencies, eight
    microbatches, and room for three chunks on each device. From the F of the highest stage of the last device to its I, L = 21
    ticks pass. On this device q is 1, and P is L + S = 30. For even numbers of chunks P is L + 2S. For three chunks that would
    be 39, and the makespan would be at least 331. But 286 is possible. *)

(** *** A check that start times run a schedule *)

Definition pass_eqb (p q : pass) : bool := if pass_dec p q then true else false.

Fixpoint ordered (M : model) (start : pass -> Z) (l : list pass) : bool :=
  match l with
  | p :: (q :: _) as rest => (start p + time_of M p <=? start q) && ordered M start rest
  | _ => true
  end.

Definition device_runs (M : model) (S : schedule) (start : pass -> Z) (x : Z) (d : nat) : bool :=
  (length (S d) =? length (all_passes M d))%nat &&
  forallb (fun p => existsb (pass_eqb p) (S d)) (all_passes M d) &&
  ordered M start (S d) &&
  (match capacity M d with Some limit => peak M (S d) <=? limit | None => true end) &&
  forallb (fun p => start p + time_of M p <=? x) (S d).

Definition runs_within (M : model) (S : schedule) (start : pass -> Z) (x : Z) : bool :=
  forallb (device_runs M S start x) (seq 0 (devices M)) &&
  forallb (fun need => match need with (u, g, v) => start u + (time_of M u + g) <=? start v end) (needs (problem_of M)).

Lemma ordered_follows : forall M start l u v, ordered M start l = true -> follows l u v -> start u + time_of M u <= start v.
Proof.
  intros M start l u v good [before [after shape]]. revert l good shape.
  induction before as [| p before IH]; intros l good shape; subst l.
  - cbn in good. apply andb_true_iff in good. apply Z.leb_le. apply good.
  - apply (IH (before ++ u :: v :: after)); [| reflexivity].
    cbn [app ordered] in good. destruct (before ++ u :: v :: after) as [| q rest] eqn:list; [destruct before; discriminate |].
    apply andb_true_iff in good. apply good.
Qed.

Lemma peak_holds : forall M limit l now done p rest, peak_from M now l <= limit -> l = done ++ p :: rest ->
  now + kept M done + acquires M p <= limit.
Proof.
  intros M limit l now done. revert l now. induction done as [| q done IH]; intros l now p rest below shape; subst l.
  - cbn in *. lia.
  - cbn [app peak_from] in below. specialize (IH (done ++ p :: rest) (now + acquires M q - releases M q) p rest ltac:(lia) eq_refl).
    unfold kept in *. cbn [sum]. lia.
Qed.

(** What passes the check is an execution, if every pass takes some time. *)
Theorem runs_within_sound : forall M S start x, well_formed M -> (forall k s, 0 < time M k s) -> (forall p, 0 <= start p) ->
  runs_within M S start x = true ->
  complete M S /\ within_capacity M S /\ runs M S start /\ makespan_at_most M S start x.
Proof.
  intros M S start x well positive nonneg good. unfold runs_within in good. apply andb_true_iff in good.
  destruct good as [devices_good needs_good]. rewrite forallb_forall in devices_good, needs_good.
  assert (facts : forall d, (d < devices M)%nat ->
    length (S d) = length (all_passes M d) /\ incl (all_passes M d) (S d) /\ ordered M start (S d) = true /\
    (forall limit, capacity M d = Some limit -> peak M (S d) <= limit) /\
    (forall p, In p (S d) -> start p + time_of M p <= x)).
  { intros d in_range. specialize (devices_good d ltac:(apply in_seq; lia)). unfold device_runs in devices_good.
    rewrite !andb_true_iff, Nat.eqb_eq, !forallb_forall in devices_good.
    destruct devices_good as [[[[same all] good] memory] ends]. split; [exact same |]. split.
    { intros p inside. specialize (all p inside). apply existsb_exists in all. destruct all as [q [in_q equal]].
      unfold pass_eqb in equal. destruct (pass_dec p q) as [-> | _]; [exact in_q | discriminate]. }
    split; [exact good |]. split.
    - intros limit known. rewrite known in memory. apply Z.leb_le. exact memory.
    - intros p inside. apply Z.leb_le. apply ends. exact inside. }
  assert (waiting : forall u w v, waits (problem_of M) (orders_of M S) u w v -> start u + w <= start v /\ 0 < w).
  { intros u w v [u' g v' need | l u' v' inside next].
    - specialize (needs_good _ need). cbn in needs_good. apply Z.leb_le in needs_good. split; [exact needs_good |].
      apply needs_are_pass_needs in need; [| apply well]. destruct well as [_ [_ [_ [latencies _]]]].
      cbn. unfold time_of. destruct need as [s m | m | s m | s m]; cbn [kind_of stage_of]; try specialize (latencies s);
        match goal with |- 0 < time M ?k ?s + _ => specialize (positive k s) end; lia.
    - apply in_map_iff in inside. destruct inside as [d [same inside]]. subst l. apply in_seq in inside.
      destruct (facts d ltac:(lia)) as [_ [_ [good _]]]. split; [| apply positive].
      apply (ordered_follows M start (S d)); [exact good | exact next]. }
  split; [| split; [| split]].
  - intros d in_range. destruct (facts d in_range) as [same [all _]].
    pose proof (all_passes_unique M d) as unique. split.
    + apply (NoDup_incl_NoDup unique); [lia | exact all].
    + assert (both : forall p, In p (S d) <-> In p (all_passes M d)).
      { intros p. split; [| apply all]. apply (NoDup_length_incl unique); [lia | exact all]. }
      intros [k s m]. rewrite both. unfold all_passes, exists_in. cbn [stage_of microbatch_of]. rewrite in_flat_map. split.
      * intros [t [in_t inside]]. apply in_flat_map in inside. destruct inside as [n [in_n inside]].
        unfold stages_of in in_t. apply filter_In in in_t. destruct in_t as [in_t same_d]. apply Nat.eqb_eq in same_d.
        apply in_seq in in_t. apply in_seq in in_n. cbn in inside.
        destruct inside as [equal | [equal | [equal | []]]]; injection equal as <- <- <-; lia.
      * intros [[in_s in_m] same_d]. exists s. split.
        { unfold stages_of. apply filter_In. split; [apply in_seq; lia | apply Nat.eqb_eq; exact same_d]. }
        apply in_flat_map. exists m. split; [apply in_seq; lia |]. cbn. destruct k; auto.
  - intros d limit in_range known done p rest shape. destruct (facts d in_range) as [_ [_ [_ [memory _]]]].
    pose proof (peak_holds M limit (S d) 0 done p rest (memory limit known) shape) as holds. unfold held. lia.
  - split; [split; [exact nonneg | intros u w v wait; apply waiting; exact wait] |].
    exists (fun p => Z.to_nat (start p)). intros u w v wait. destruct (waiting u w v wait) as [later some].
    specialize (nonneg u). lia.
  - intros d in_range p inside. apply (facts d in_range). exact inside.
Qed.

(** *** The schedule *)

Definition short_memory : model := {|
  devices := 4;
  stages := 8;
  microbatches := 8;
  device_of := fun s => Nat.min s (7 - s);
  time := fun k _ => match k with F => 3 | I => 4 | W => 2 end;
  latency := fun _ => 0;
  activation := fun _ => 1;
  retained := fun _ => 1;
  capacity := fun _ => Some 3
|}.

(** By kind, stage and microbatch. *)
Definition short_memory_times (k : kind) : list (list Z) :=
  match k with
  | F =>
    [[0; 3; 60; 93; 126; 159; 192; 225];
     [3; 6; 64; 97; 130; 163; 196; 229];
     [6; 9; 67; 100; 133; 166; 199; 232];
     [9; 15; 70; 103; 136; 169; 202; 235];
     [12; 42; 75; 108; 141; 174; 207; 240];
     [15; 45; 78; 111; 144; 177; 210; 243];
     [18; 48; 81; 114; 147; 180; 213; 246];
     [21; 51; 84; 117; 150; 183; 216; 249]]
  | I =>
    [[63; 96; 129; 162; 195; 228; 266; 280];
     [53; 86; 119; 152; 185; 218; 262; 276];
     [49; 82; 115; 148; 181; 214; 247; 272];
     [45; 78; 111; 144; 177; 210; 243; 268];
     [36; 66; 99; 132; 165; 198; 231; 264];
     [32; 62; 95; 128; 161; 194; 227; 260];
     [28; 58; 91; 124; 157; 190; 223; 256];
     [24; 54; 87; 120; 153; 186; 219; 252]]
  | W =>
    [[67; 100; 133; 166; 199; 232; 270; 284];
     [62; 95; 128; 161; 194; 227; 266; 280];
     [53; 86; 119; 152; 185; 218; 251; 276];
     [49; 82; 115; 148; 181; 214; 247; 272];
     [40; 73; 106; 139; 172; 205; 238; 274];
     [36; 70; 103; 136; 169; 202; 235; 264];
     [32; 67; 100; 133; 166; 199; 232; 260];
     [28; 58; 91; 124; 157; 190; 223; 256]]
  end.

Definition short_memory_start (p : pass) : Z :=
  Z.max 0 (nth (microbatch_of p) (nth (stage_of p) (short_memory_times (kind_of p)) []) 0).

Fixpoint insert (start : pass -> Z) (p : pass) (l : list pass) : list pass :=
  match l with
  | [] => [p]
  | q :: rest => if start p <=? start q then p :: l else q :: insert start p rest
  end.

(** The passes of a device by their starts. *)
Definition short_memory_schedule (d : nat) : list pass :=
  fold_right (insert short_memory_start) [] (all_passes short_memory d).

Lemma short_memory_well_formed : well_formed short_memory.
Proof.
  split; [cbn; lia |]. split.
  - intros s in_range. cbn [short_memory stages devices device_of] in *. lia.
  - split; [intros [] s; cbn; lia |]. split; intros s; cbn; lia.
Qed.

(** q and P of the last device: 1 and L + S. *)
Example short_memory_turn : turn short_memory 3 W = Some (1, 21 + 9).
Proof. reflexivity. Qed.

(** What is proved for three chunks, and what P = L + 2S would give. *)
Example short_memory_bound : turnover_bound short_memory 3 makespan W = Some 268 /\
  turnover_value short_memory 3 makespan 1 (21 + 2 * 9) = 331.
Proof. split; reflexivity. Qed.

(** A makespan of 286 is possible: P = L + 2S is false. *)
Example longer_turn_is_false :
  complete short_memory short_memory_schedule /\ within_capacity short_memory short_memory_schedule /\
  runs short_memory short_memory_schedule short_memory_start /\
  makespan_at_most short_memory short_memory_schedule short_memory_start 286.
Proof.
  apply runs_within_sound.
  - exact short_memory_well_formed.
  - intros [] s; cbn; lia.
  - intros p. unfold short_memory_start. lia.
  - vm_compute. reflexivity.
Qed.
