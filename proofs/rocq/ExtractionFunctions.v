(** * ExtractionFunctions: functions of the table in docs/trust.md, each on its own, as an OCaml program

    Makes [functions.ml]. Certificates do not reach all functions, nor all cases of those that they reach. The program
    bubbleproof-functions compares these with the functions beside them in Rust, on random inputs.

    Nothing is proved here. Each definition hands plain numbers and lists to a function of another file, and has a name that
    stays the same when it is extracted. What is believed of the extraction is in [Extraction]. *)

From Coq Require Import List Bool ZArith NArith FMapPositive.
Require Import Bubbleproof.Execution Bubbleproof.Count Bubbleproof.BoundsTime Bubbleproof.Checker Bubbleproof.Extraction.
Require Bubbleproof.Replay Bubbleproof.PipelineReplay Bubbleproof.Memory Bubbleproof.Span Bubbleproof.Occupancy.
Require Bubbleproof.Blocks Bubbleproof.Periodic Bubbleproof.Families Bubbleproof.Growing Bubbleproof.EveryMCheck.
Require Bubbleproof.Recurrence Bubbleproof.Plans Bubbleproof.Verdict Bubbleproof.Lowered.
Import ListNotations.
Open Scope Z_scope.

(** ** Numbers for constructors *)

Definition a_kind (k : nat) : kind := match k with 0 => F | 1 => I | _ => W end%nat.

Definition kind_number (k : kind) : nat := match k with F => 0 | I => 1 | W => 2 end%nat.

Definition a_pass (k s m : nat) : pass := Pass (a_kind k) s m.

Definition pass_numbers (p : pass) : nat * nat * nat := (kind_number (kind_of p), stage_of p, microbatch_of p).

(** The function that has these values: by kind and place. *)
Definition by_kind (values : list (list Z)) (k : kind) (s : nat) : Z := nth s (nth (kind_number k) values []) 0.

(** And back, for so many places. *)
Definition kind_values (f : kind -> nat -> Z) (n : nat) : list (list Z) := map (fun k => map (f k) (seq 0 n)) [F; I; W].

Definition of_devices {A : Type} (x : data) (f : nat -> A) : list A := map f (seq 0 (length (stage_lists x))).

(** ** Replay *)

Definition schedule_is_complete (x : data) (orders : list (list pass)) : bool :=
  PipelineReplay.is_complete (model_of x) (schedule_of orders).

Definition schedule_starts (x : data) (orders : list (list pass)) : option (list (list Z)) :=
  option_map (fun starts => map (map (PipelineReplay.start_of starts)) orders)
    (PipelineReplay.replay_model (model_of x) (schedule_of orders)).

Definition schedule_makespan (x : data) (orders : list (list pass)) : option Z :=
  PipelineReplay.makespan (model_of x) (schedule_of orders).

Definition schedule_span (x : data) (orders : list (list pass)) : option Z :=
  Span.device_span (model_of x) (schedule_of orders).

Definition schedule_fits (x : data) (orders : list (list pass)) : list bool :=
  of_devices x (fun d => Memory.device_fits (model_of x) d (schedule_of orders d)).

Definition schedule_peaks (x : data) (orders : list (list pass)) : list Z := measured_peaks x orders.

(** By device, for each pass: what the device holds while it runs, and once it has ended. *)
Definition schedule_held (x : data) (orders : list (list pass)) : list (list (Z * Z)) :=
  let M := model_of x in
  of_devices x (fun d =>
    let l := schedule_of orders d in
    let held_during i := resident x d + held M (firstn i l) (nth i l (a_pass 0 0 0)) in
    let held_after i := resident x d + kept M (firstn (S i) l) in
    map (fun i => (held_during i, held_after i)) (seq 0 (length l))).

(** Where every pass takes a time of its own. *)
Definition run_makespan (x : data) (lasts : pass -> Z) (orders : list (list pass)) : option Z :=
  Replay.replay_makespan PipelineReplay.pass_key (Problem lasts (needs (problem_of (model_of x))))
    (PipelineReplay.needed_passes (model_of x)) orders.

(** Start times and the last end of tasks, which have numbers. *)
Definition task_times (durations : list Z) (needed : list (list (nat * Z))) (orders : list (list nat)) : option (list Z * Z) :=
  let P := Problem (fun u => nth u durations 0) [] in
  option_map
    (fun starts => (map (Replay.start_in Pos.of_succ_nat starts) (seq 0 (length durations)),
      Replay.last_end Pos.of_succ_nat P orders starts))
    (Replay.replay Pos.of_succ_nat P (fun u => nth u needed []) orders).

(** ** Bounds *)

Definition a_goal (span : bool) : BoundsTime.objective := if span then Device_span else Makespan.

Definition bound_value (x : data) (span : bool) (why : reason) : option Z := value_of (model_of x) (a_goal span) why.

Definition windows_figures (x : data) (span : bool) (d : nat) : Z * list window * list window :=
  let M := model_of x in (device_work M d, first_windows M (a_goal span) d, last_windows M (a_goal span) d).

Definition chain_figures (x : data) (span : bool) (d : nat) : Z * Z * Z :=
  let M := model_of x in (work_without_weights M d, head M (a_goal span) d, after_last_input M (a_goal span) d).

Definition work_figures (x : data) (span : bool) (d : nat) : Z * Z :=
  let M := model_of x in (device_work M d, head M (a_goal span) d).

Definition turnover_figures (x : data) (d : nat) (until : nat) : option (Z * Z) :=
  Occupancy.turn (model_of x) d (a_kind until).

(** The best of all bounds that do not follow states. *)
Definition closed_forms (x : data) (span : bool) : Z :=
  let M := model_of x in
  let known (b : option Z) := match b with Some value => value | None => 0 end in
  fold_right Z.max (time_bound M (a_goal span)) (flat_map (fun d =>
    [known (Occupancy.turnover_bound M d (same_goal (a_goal span)) W);
     known (Occupancy.turnover_bound M d (same_goal (a_goal span)) I);
     known (Occupancy.area_bound M d (same_goal (a_goal span)))]) (seq 0 (devices M))).

(** ** Blocks, in so many parts of a tick *)

Definition a_block (every : Z) (offsets : list (list Z)) : Blocks.block := Blocks.Block every (by_kind offsets).

Definition block_is_valid (x : data) (parts : Z) (B : Blocks.block) : bool :=
  Blocks.is_valid (Blocks.in_parts parts (model_of x)) B.

Definition block_orders (x : data) (B : Blocks.block) : list (list pass) := of_devices x (Blocks.repeated (model_of x) B).

Definition block_peaks (x : data) (B : Blocks.block) : list Z := of_devices x (Blocks.steady_peak (model_of x) B).

Definition block_lifespans (x : data) (parts : Z) (B : Blocks.block) : list Z :=
  of_devices x (Blocks.lifespan_bound (Blocks.in_parts parts (model_of x)) B).

(** When a pass of the block starts. *)
Definition block_stamp (B : Blocks.block) (p : pass) : Z := Blocks.stamp B p.

(** ** Families *)

(** By number: the family, and its formula for the memory of a device. *)
Definition a_family (n : nat) : Periodic.family * (Z -> Z -> Z) :=
  nth n
    [(Families.v_min, Families.v_min_formula); (Families.v_half, Families.v_half_formula);
     (Families.v_zb, Families.v_zb_formula); (Families.one_f_one_b, Families.one_f_one_b_formula);
     (Families.eager_one_f_one_b, Families.eager_one_f_one_b_formula); (Families.zb_h1, Families.zb_h1_formula);
     (Families.zb_h2, Families.zb_h2_formula); (Families.linear_half, Families.linear_half_formula)]
    (Families.one_f_one_b_v, Families.one_f_one_b_v_formula).

Definition family_interval (n : nat) : Z := Periodic.every (fst (a_family n)).

Definition family_times (n : nat) : list Z := map (Periodic.lasts (fst (a_family n))) [F; I; W].

(** By stage: its device. *)
Definition family_holders (n d : nat) : list nat :=
  let l := Periodic.layout_of (fst (a_family n)) in map (Periodic.device_in l d) (seq 0 (Periodic.chunks l * d)).

Definition family_offsets (n d : nat) : list (list Z) :=
  let f := fst (a_family n) in
  kind_values (Blocks.offset (Periodic.family_block f d)) (Periodic.chunks (Periodic.layout_of f) * d).

(** By device: as the steady phase has it, and as the formula says. *)
Definition family_peaks (n d : nat) : list Z :=
  map (fun i => Periodic.peak_of (fst (a_family n)) (Z.of_nat d) (Z.of_nat i)) (seq 0 d).

Definition family_promises (n d : nat) : list Z :=
  map (fun i => snd (a_family n) (Z.of_nat d) (Z.of_nat i)) (seq 0 d).

(** Where the Ws of a device go whose offsets are left out, by chunk. *)
Definition weight_offsets (v : bool) (every : Z) (lasts : list Z) (offsets : list (list Z)) : list Z :=
  let l := if v then Periodic.V else Periodic.Linear in
  map (Periodic.weight_of l every (fun k => nth (kind_number k) lasts 0) (by_kind offsets))
    (seq 0 (Periodic.chunks l)).

(** ** Every number of microbatches *)

Definition a_growing (period base : nat) (heads bodies tails : list (list pass)) : Growing.growing :=
  Growing.Growing period base (schedule_of heads) (schedule_of bodies) (schedule_of tails).

Definition growing_orders (x : data) (G : Growing.growing) (q : nat) : list (list pass) := of_devices x (Growing.order G q).

Definition every_check (x : data) (G : Growing.growing) (r c : nat) (L : Z) : bool := EveryMCheck.every_m_check (model_of x) G r c L.

Definition every_makespan (x : data) (G : Growing.growing) (r c : nat) (L : Z) (q : nat) : Z :=
  EveryMCheck.every_m_makespan (model_of x) G r c L q.

Definition every_span_check (x : data) (G : Growing.growing) (r c : nat) : bool := EveryMCheck.every_m_span_check (model_of x) G r c.

Definition every_span (x : data) (G : Growing.growing) (r c : nat) (L : Z) (q : nat) : Z :=
  EveryMCheck.every_m_span (model_of x) G r c L q.

Definition every_peaks (x : data) (G : Growing.growing) : list Z := of_devices x (EveryMCheck.every_m_peak (model_of x) G).

Definition every_fits (x : data) (G : Growing.growing) : bool := EveryMCheck.every_m_memory_check (model_of x) G.

(** The first state that comes again within so many repetitions. *)
Definition every_first (x : data) (G : Growing.growing) (most : nat) : option (nat * nat * Z) :=
  Recurrence.first_repetition (model_of x) G most.

(** ** Communication *)

Definition a_semantics (n : nat) : Plans.semantics :=
  nth n [Plans.Buffered; Plans.Rendezvous; Plans.PairStreams] Plans.DeviceStreams.

Definition a_message (gradient : bool) (boundary number : nat) : Plans.message :=
  Plans.Message gradient (N.of_nat boundary) (N.of_nat number).

Definition passes_cell (l : list pass) : Lowered.cell := Lowered.Passes l.
Definition send_cell (m : Plans.message) : Lowered.cell := Lowered.SendCell m.
Definition receive_cell (m : Plans.message) : Lowered.cell := Lowered.ReceiveCell m.
Definition wait_cell (m : Plans.message) : Lowered.cell := Lowered.WaitCell m.
Definition other_cell : Lowered.cell := Lowered.OtherCell.

Definition plan_ends (x : data) (rows : list (list Lowered.cell)) (n : nat) : bool :=
  Verdict.ends_under (a_semantics n) (Lowered.plan_of_file (model_of x) rows).

Definition plan_is_verified (x : data) (rows : list (list Lowered.cell)) : bool :=
  Lowered.file_is_verified (model_of x) rows.

Definition plan_sends_what_is_made (x : data) (rows : list (list Lowered.cell)) : bool :=
  Verdict.is_made_before_sent (Lowered.plan_of_file (model_of x) rows).

Extraction "functions.ml"
  a_pass pass_numbers
  schedule_is_complete schedule_starts schedule_makespan schedule_span schedule_fits schedule_peaks schedule_held
  run_makespan task_times
  bound_value windows_figures chain_figures work_figures turnover_figures closed_forms
  a_block block_is_valid block_orders block_peaks block_lifespans block_stamp
  family_interval family_times family_holders family_offsets family_peaks family_promises weight_offsets
  a_growing growing_orders every_check every_makespan every_span_check every_span every_peaks every_fits every_first
  a_message passes_cell send_cell receive_cell wait_cell other_cell plan_ends plan_is_verified plan_sends_what_is_made.
