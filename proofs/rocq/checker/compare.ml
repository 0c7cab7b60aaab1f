(* bubbleproof-functions CASES CLAIMS: answers again, with the functions that Rocq extracts, what the example rocq_functions has
   answered in Rust, and compares.

   CASES has a JSON object on each line: the name of the function, the input, and under "rust" the answers. Here the same object
   of answers is made; the two must be equal. CLAIMS is written: for each problem of the bounds, reasons with right and with
   wrong figures, and the value that follows from each here. The example says whether it agrees. The program ends with 1 where
   an answer differs, or where a sort of answer that is named below never came. *)

(* Numbers of Zarith, which the extracted module of this name would hide. *)
module Number = Z
open Functions
module Z = Number

let bad format = Printf.ksprintf failwith format

(* Reading *)

let get key = function
  | Json.Object fields -> (match List.assoc_opt key fields with Some value -> value | None -> bad "no %s" key)
  | _ -> bad "no object with %s" key

let number = function Json.Int value -> value | _ -> bad "no number"
let count value = Z.to_int (number value)
let text = function Json.Text text -> text | _ -> bad "no text"
let flag = function Json.Bool value -> value | _ -> bad "not true or false"
let list read = function Json.List values -> List.map read values | _ -> bad "no list"
let optional read = function Json.Null -> None | value -> Some (read value)

let pass value =
  Scanf.sscanf (text value) "%d%c%d%!" (fun stage letter microbatch ->
    let kind = match letter with 'F' -> 0 | 'I' -> 1 | 'W' -> 2 | _ -> bad "no pass: %c" letter in
    a_pass kind stage microbatch)

let orders = list (list pass)

let problem value : data =
  let numbers key = list number (get key value) in
  { stage_lists = list (list count) (get "placement" value);
    count = count (get "microbatches" value);
    forwards = numbers "forward"; inputs = numbers "input"; weights = numbers "weight";
    latencies = numbers "latency"; activations = numbers "activation"; retaineds = numbers "retained";
    residents = numbers "resident"; capacities = list (optional number) (get "capacity" value) }

(* Writing *)

let int value = Json.Int (Z.of_int value)
let z value = Json.Int value
let all write values = Json.List (List.map write values)
let maybe write = function None -> Json.Null | Some value -> write value
let yes value = Json.Bool value

let written p =
  let (kind, stage), microbatch = pass_numbers p in
  Json.Text (Printf.sprintf "%d%c%d" stage "FIW".[kind] microbatch)

let written_orders = all (all written)

(* Functions: each gives the sorts of its answer, and the answers *)

let times x orders =
  match schedule_starts x orders with
  | None -> Json.Null
  | Some starts ->
    Json.Object [ ("starts", all (all z) starts); ("makespan", maybe z (schedule_makespan x orders));
                  ("span", maybe z (schedule_span x orders)) ]

(* Whether some device takes longer as soon as possible than the device span, so that it has to begin later. *)
let begins_later x orders =
  let lasts p =
    let (kind, stage), _ = pass_numbers p in
    List.nth (List.nth [ x.forwards; x.inputs; x.weights ] kind) stage in
  let takes_longer span order starts =
    match List.rev order, starts, List.rev starts with
    | last :: _, begun :: _, ends :: _ -> Z.gt (Z.sub (Z.add ends (lasts last)) begun) span
    | _ -> false in
  match schedule_starts x orders, schedule_span x orders with
  | Some starts, Some span -> List.exists2 (takes_longer span) orders starts
  | _ -> false

(* Passes that are not there have no place in the orders that are replayed. *)
let replay case =
  let x = problem (get "problem" case) and low = problem (get "low" case) and orders = orders (get "orders" case) in
  let complete = schedule_is_complete x orders in
  let if_complete value = if complete then value () else Json.Null in
  let own = list (list (list number)) (get "lasts" case) in
  let lasts p = let (kind, stage), microbatch = pass_numbers p in List.nth (List.nth (List.nth own stage) microbatch) kind in
  let found = if_complete (fun () -> times x orders) in
  let fits = schedule_fits x orders in
  ([ (if not complete then "incomplete" else if found = Json.Null then "deadlock" else "runs") ]
   @ (if complete then [ (if List.mem false fits then "over capacity" else "within capacity") ] else [])
   @ (if complete && begins_later x orders then [ "a device begins later" ] else []),
   [ ("complete", yes complete);
     ("times", found);
     ("fits", if_complete (fun () -> all yes fits));
     ("peaks", if_complete (fun () -> all z (schedule_peaks x orders)));
     ("held", if_complete (fun () ->
        let held (during, after) = Json.List [ z during; z after ] in all (all held) (schedule_held x orders)));
     ("best", if_complete (fun () -> times low orders));
     ("run", if_complete (fun () -> maybe z (run_makespan x lasts orders))) ])

let tasks case =
  let need = function Json.List [ task; lag ] -> (count task, number lag) | _ -> bad "no need" in
  let found = task_times (list number (get "durations" case)) (list (list need) (get "needs" case))
      (list (list count) (get "orders" case)) in
  let write (starts, makespan) = Json.Object [ ("starts", all z starts); ("makespan", z makespan) ] in
  ([ (if found = None then "deadlock" else "runs") ], [ ("times", maybe write found) ])

let rec rising = function a :: (b :: _ as rest) -> Z.lt a b && rising rest | _ -> true

let block case =
  let x = problem (get "problem" case) and parts = number (get "parts" case) in
  let block = a_block (number (get "interval" case)) (list (list number) (get "offsets" case)) in
  let valid = block_is_valid x parts block and orders = block_orders x block in
  let clear = valid || List.for_all (fun order -> rising (List.map (block_stamp block) order)) orders in
  ([ (if valid then "valid" else if clear then "invalid" else "invalid, and passes start together") ],
   [ ("valid", yes valid);
     ("orders", if clear then written_orders orders else Json.Null);
     ("peaks", if valid then all z (block_peaks x block) else Json.Null);
     ("lifespans", all z (block_lifespans x parts block)) ])

let family case =
  let n = count (get "family" case) and d = count (get "devices" case) in
  ([ text (get "name" case) ],
   [ ("interval", z (family_interval n));
     ("times", all z (family_times n));
     ("holders", all int (family_holders n d));
     ("offsets", all (all z) (family_offsets n d));
     ("promised", all z (family_promises n d));
     ("peaks", all z (family_peaks n d)) ])

let weights case =
  let lasts = list number (get "lasts" case) and interval = number (get "interval" case) in
  let offsets = list (list number) (get "offsets" case) in
  let found = weight_offsets (flag (get "v" case)) interval lasts offsets in
  (* The search gives what it did not come to where an interval has no room. *)
  let has_room input weight = Z.lt weight Z.(input + List.nth lasts 1 + interval) in
  let room = List.for_all2 has_room (List.nth offsets 1) found in
  ([ (if room then "room" else "no room") ], [ ("weights", if room then all z found else Json.Null) ])

(* The same problem with another number of microbatches. *)
let resized x microbatches = { x with count = microbatches }

let every case =
  let x = problem (get "problem" case) and period = count (get "period" case) and base = count (get "base" case) in
  let block = a_block (number (get "interval" case)) (list (list number) (get "offsets" case)) in
  let heads = orders (get "heads" case) and bodies = orders (get "bodies" case) in
  (* By remainder of microbatches. *)
  let growing = List.mapi (fun more tails -> a_growing period (base + more) heads bodies tails) (list orders (get "tails" case)) in
  List.iter2 (fun g unrolled -> if growing_orders x g 3 <> unrolled then bad "another schedule with 3 repetitions")
    growing (list orders (get "unrolled" case));
  (* The growing schedule of so many microbatches, with how many repetitions. *)
  let grown m = (List.nth growing ((m - base) mod period), (m - base) / period) in
  let unrolled m =
    if m < base then block_orders (resized x m) block
    else
      let g, q = grown m in
      let orders = growing_orders x g q in
      if period = 1 && orders <> block_orders (resized x m) block then bad "another schedule of %d microbatches" m;
      orders in
  match get "cycle" case with
  | Json.Null ->
    (match get "rust" case with
     | Json.Object [ ("refuted", m) ] ->
       let m = count m in
       if List.for_all (every_fits x) growing then bad "the memory suffices for every m";
       let fits m = not (List.mem false (schedule_fits (resized x m) (unrolled m))) in
       let rec first n = if not (fits n) then n else if n > m then bad "no m is refuted" else first (n + 1) in
       ([ "refuted" ], [ ("refuted", int (first 1)) ])
     | Json.Object [ ("unknown", why) ] -> ([ "unknown" ], [ ("unknown", why) ])
     | _ -> bad "Rust refuses the question")
  | cycle ->
    let r, c, later = match cycle with Json.List [ r; c; later ] -> (count r, count c, number later) | _ -> bad "no cycle" in
    let of_all what holds = if not (List.for_all holds growing) then bad "%s" what in
    of_all "the check fails" (fun g -> every_check x g r c later);
    of_all "the check allows another growth" (fun g -> not (every_check x g r c (Z.succ later)));
    of_all "the memory does not suffice for every m" (every_fits x);
    (match every_first x (List.hd growing) (r + c) with
     | Some ((from, again), growth) when (max from r, again, growth) = (r, c, later) -> ()
     | _ -> bad "another repetition is found");
    let spans = List.for_all (fun g -> every_span_check x g r c) growing in
    let numbers = list count (get "numbers" (get "rust" case)) in
    (* The formulas are about r repetitions and more; fewer are replayed. *)
    let figure formula replayed m =
      if m >= base && snd (grown m) >= r then let g, q = grown m in z (formula x g r c later q)
      else maybe z (replayed (resized x m) (unrolled m)) in
    let residents = schedule_peaks x (List.map (fun _ -> []) x.stage_lists) in
    let peaks m =
      if m >= base && snd (grown m) > 0 then all z (List.map2 Z.add residents (every_peaks x (fst (grown m))))
      else all z (schedule_peaks (resized x m) (unrolled m)) in
    ([ "proved"; Printf.sprintf "period %d" period;
       (if spans then "device span proved" else "device span not proved") ],
     [ ("numbers", all int numbers);
       ("makespans", all (figure every_makespan schedule_makespan) numbers);
       ("spans", if spans then all (figure every_span schedule_span) numbers else Json.Null);
       ("peaks", all peaks numbers) ])

(* Of messages alone: whether stages and devices are right, and what is there twice *)

let messages case =
  let x = problem (get "problem" case) in
  let stages = List.length x.forwards in
  let holder stage =
    let rec find d = function [] -> -1 | l :: rest -> if List.mem stage l then d else find (d + 1) rest in
    find 0 x.stage_lists in
  let possible = ref true and met = Hashtbl.create 16 and twice = ref false in
  let cell device value =
    let once () = if Hashtbl.mem met value then twice := true else Hashtbl.add met value () in
    match value with
    | Json.List (Json.Text "passes" :: passes) -> passes_cell (List.map pass passes)
    | Json.List [ Json.Text "other" ] -> other_cell
    | Json.List [ Json.Text name; gradient; boundary; microbatch ] ->
      once ();
      let gradient = flag gradient and boundary = count boundary in
      let before = holder boundary and behind = holder (boundary + 1) in
      let from, into = if gradient then (behind, before) else (before, behind) in
      let own = if name = "receive" then into else from in
      if boundary + 1 >= stages || before = behind || own <> device then possible := false;
      let message = a_message gradient boundary (count microbatch) in
      (match name with
       | "send" -> send_cell message
       | "receive" -> receive_cell message
       | "wait" -> wait_cell message
       | _ -> bad "no action %s" name)
    | _ -> bad "no action" in
  let rows = List.mapi (fun d row -> List.map (cell d) row) (list (list Fun.id) (get "rows" case)) in
  let right = plan_is_verified x rows and made = plan_sends_what_is_made x rows in
  let flows = List.init 4 (plan_ends x rows) in
  (* No device does what cannot be done, and so no plan with such an action ends: here that is another theorem's matter. *)
  let can = !possible && not !twice && made in
  let ends = List.map (( && ) can) flows in
  let name = function
    | [ false; false; false; false ] -> "never ends"
    | [ true; false; false; false ] -> "ends buffered"
    | [ true; true; false; false ] -> "ends rendezvous"
    | [ true; true; true; false ] -> "ends with pair streams"
    | [ true; true; true; true ] -> "ends with device streams"
    | _ -> bad "a stricter semantics ends where another does not" in
  ([ name ends; (if !twice then "twice" else if right then "right" else "wrong") ]
   @ (if right && not (List.nth flows 3) then [ "right, and never ends with some streams" ] else []),
   [ ("ends", all yes ends);
     ("twice", yes !twice);
     ("right", if !twice then Json.Null else yes right) ])

(* Bounds, and claims about them *)

let goals = [ false; true ]

let repetition value : (int * int) * Z.t =
  ((count (get "after" value), count (get "period" value)), number (get "growth" value))

let closed case =
  let x = problem (get "problem" case) in
  let devices = list count (get "devices" case) and found = list (optional repetition) (get "repetitions" case) in
  let of_devices = List.map2 (fun span again -> bound_value x span (By_subset (devices, again))) goals found in
  ((if List.mem None of_devices then [ "no schedule" ] else [ "some schedule" ])
   @ (if List.exists (( <> ) None) found then [ "repeating" ] else []),
   [ ("closed", all (fun span -> z (closed_forms x span)) goals);
     ("alone", maybe z (bound_value x false By_alone));
     ("of_devices", all (maybe z) of_devices) ])

let reason_text (why : reason) =
  let named name fields = Json.Object [ (name, Json.Object fields) ] in
  let window (w : window) = Json.Object [ ("length", z w.window_length); ("work", z w.window_work) ] in
  let figures d work before after = [ ("device", int d); ("work", z work); ("head", z before); ("tail", z after) ] in
  match why with
  | By_alone -> Json.Text "alone"
  | By_windows (d, work, first, last) ->
    named "windows" [ ("device", int d); ("work", z work); ("first", window first); ("last", window last) ]
  | By_chain (d, work, before, after) -> named "chain" (figures d work before after)
  | By_work (d, work, before, after) -> named "work" (figures d work before after)
  | By_turnover (d, held, turn) -> named "turnover" [ ("device", int d); ("held", z held); ("turn", z turn) ]
  | By_area d -> named "area" [ ("device", int d) ]
  | By_subset (devices, again) ->
    let write ((after, period), growth) =
      Json.Object [ ("after", int after); ("period", int period); ("growth", z growth) ] in
    named "subset" [ ("devices", all int devices); ("repetition", maybe write again) ]
  | By_other -> bad "no reason"

(* Reasons with the figures that they have here, and the same with one figure changed. *)
let reasons x span devices found : reason list =
  let near value = if Random.int 4 > 0 then value else Z.add value (Z.of_int (Random.int 5 - 2)) in
  let of_device d =
    let (work, firsts), lasts = windows_figures x span d in
    let windows = List.concat_map (fun first -> List.map (fun last -> By_windows (d, work, first, last)) lasts) firsts in
    let first = List.nth firsts (Random.int 2) and last = List.nth lasts (Random.int 2) in
    let other = { first with window_work = near first.window_work } in
    let (chain, before), after = chain_figures x span d in
    let all_work, start = work_figures x span d in
    let turns = List.filter_map (turnover_figures x d) [ 2; 1 ] in
    windows
    @ [ By_windows (d, near work, other, { last with window_length = near last.window_length });
        By_chain (d, chain, before, after); By_chain (d, near chain, near before, near after);
        By_work (d, all_work, start, Z.zero); By_work (d, near all_work, near start, near Z.zero);
        By_area d ]
    @ List.concat_map (fun (held, turn) -> [ By_turnover (d, held, turn); By_turnover (d, near held, near turn) ]) turns in
  let count = List.length x.stage_lists in
  let again = match found with
    | Some ((after, period), growth) ->
      let before = max 1 (after - period) in
      List.map Option.some
        [ ((after, period), growth); ((after, period), Z.succ growth); ((after, period), Z.pred growth);
          ((after, 1), near growth); ((before, period), growth); ((after + 1, period), near growth) ]
    | None -> [ Some ((1 + Random.int 3, Random.int 3), Z.of_int (Random.int 8)) ] in
  let subsets = List.map (fun again -> By_subset (devices, again)) (None :: again) in
  (By_alone :: List.concat_map of_device (List.init count Fun.id))
  @ subsets
  @ [ By_area count; By_subset ([], None); By_subset (List.rev devices, None); By_subset ([ count ], None) ]

let claims out case =
  let x = problem (get "problem" case) and devices = list count (get "devices" case) in
  List.iter2 (fun span found ->
    List.iter (fun why ->
      let claim = Json.Object [ ("problem", get "problem" case); ("span", yes span); ("reason", reason_text why);
                                ("value", maybe z (bound_value x span why)) ] in
      output_string out (Json.print [] claim ^ "\n")) (reasons x span devices found))
    goals (list (optional repetition) (get "repetitions" case))

(* Comparing. Each function with the sorts of answers that must come. *)

let functions = [
  ("replay", replay, [ "runs"; "deadlock"; "incomplete"; "over capacity"; "within capacity"; "a device begins later" ]);
  ("tasks", tasks, [ "runs"; "deadlock" ]);
  ("block", block, [ "valid"; "invalid" ]);
  ("family", family,
   [ "v-min"; "v-half"; "v-zb"; "1f1b"; "eager-1f1b"; "zb-h1"; "zb-h2"; "linear-half"; "1f1b-v" ]);
  ("weights", weights, [ "room"; "no room" ]);
  ("every m", every, [ "proved"; "refuted"; "period 1"; "period 2"; "device span proved"; "device span not proved" ]);
  ("messages", messages,
   [ "right"; "wrong"; "twice"; "never ends"; "ends buffered"; "ends rendezvous"; "ends with pair streams";
     "ends with device streams"; "right, and never ends with some streams" ]);
  ("bounds", closed, [ "some schedule"; "no schedule"; "repeating" ]) ]

let read_lines path =
  let channel = open_in path in
  let rec go lines = match input_line channel with line -> go (line :: lines) | exception End_of_file -> List.rev lines in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () -> go [])

let sorted = function
  | Json.Object fields -> Json.Object (List.sort compare fields)
  | value -> value

(* What differs between two objects of answers. *)
let rec difference ours theirs =
  match sorted ours, sorted theirs with
  | Json.Object ours, Json.Object theirs when List.map fst ours = List.map fst theirs ->
    List.concat (List.map2 (fun (key, here) (_, there) -> List.map (fun what -> key ^ " " ^ what) (difference here there))
      ours theirs)
  | ours, theirs when ours = theirs -> []
  | ours, theirs -> [ Printf.sprintf "Rocq %s Rust %s" (Json.print [] ours) (Json.print [] theirs) ]

let () =
  Random.init 1;
  let cases, claimed = match Sys.argv with
    | [| _; cases; claimed |] -> (cases, claimed)
    | _ -> prerr_endline "usage: bubbleproof-functions CASES CLAIMS"; exit 2 in
  let out = open_out claimed in
  let agree = Hashtbl.create 8 and disagree = Hashtbl.create 8 and sorts = Hashtbl.create 32 in
  let add table key = Hashtbl.replace table key (1 + Option.value (Hashtbl.find_opt table key) ~default:0) in
  let found table key = Option.value (Hashtbl.find_opt table key) ~default:0 in
  List.iter (fun line ->
    let case = Json.parse line in
    let name = text (get "case" case) in
    let _, answer, _ = List.find (fun (one, _, _) -> one = name) functions in
    let differs = match answer case with
      | named, answers ->
        List.iter (fun sort -> add sorts (name, sort)) named;
        difference (Json.Object answers) (get "rust" case)
      | exception Failure text -> [ text ] in
    if differs = [] then add agree name
    else begin
      add disagree name;
      Printf.printf "disagree: %s: %s: %s\n" name (String.concat "; " differs) line
    end;
    if name = "bounds" then claims out case) (read_lines cases);
  close_out out;
  let good = ref true in
  List.iter (fun (name, _, needed) ->
    let kinds = Hashtbl.fold (fun (of_, sort) count l -> if of_ = name then (sort, count) :: l else l) sorts [] in
    let kinds = List.map (fun (sort, count) -> Printf.sprintf "%d %s" count sort) (List.sort compare kinds) in
    Printf.printf "%s: %d agree (%s), %d disagree\n" name (found agree name) (String.concat ", " kinds) (found disagree name);
    if found disagree name > 0 then good := false;
    List.iter (fun sort ->
      if found sorts (name, sort) = 0 then begin
        good := false;
        Printf.printf "%s: no case of this sort: %s\n" name sort
      end) needed) functions;
  exit (if !good then 0 else 1)
