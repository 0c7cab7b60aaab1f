(* bubbleproof-checker [--seconds N] FILE...: checks the certificates of schedule files by functions that are proved right in Rocq.

   Prints one line for each file: the status, the file, and why. Statuses are those of `bubbleproof check`: 0 accepted, 1
   rejected, 2 no schedule file; and 5, which it never has, where something is not covered here, or takes more than so many
   seconds (60). With several files, the program ends with the largest status. *)

open Answer

let why : Checked.fault -> string = function
  | Bad_problem -> "the problem is wrong"
  | Incomplete -> "a device does not run each of its passes once"
  | Over_capacity -> "a device holds more than its capacity"
  | Deadlock -> "the schedule deadlocks"
  | Wrong_makespan -> "the makespan is another"
  | Wrong_span -> "the device span is another"
  | Wrong_rate -> "a rate is another"
  | Wrong_peaks -> "the peak memory is another"
  | Wrong_bound -> "the bound does not follow from its reason"
  | Contradiction -> "a bound is above the value that is reached"
  | Not_optimal -> "the bound is not reached"
  | Wrong_engine -> "the search does not minimise that"

let reason_of (statement : File.statement) =
  match statement.whole with
  | Json.Object fields ->
    (match List.assoc "bound" fields with
     | Json.Object bound -> (match List.assoc "reason" bound with Json.Object [ (name, _) ] -> name | _ -> "?")
     | _ -> "?")
  | _ -> "?"

let by_device lists = List.map (List.sort compare) lists

let check text =
  let first = String.trim text in
  if first = "" || first.[0] <> '{' then beyond "what is no JSON object";
  let json = try Json.parse text with Json.Error error -> wrong "%s" error in
  (match json with
   | Json.Object fields when (match List.assoc_opt "format" fields with
       | Some (Json.Text format) -> format <> "bubbleproof-schedule-1" | _ -> false) -> beyond "another format of files"
   | _ -> ());
  let file = File.read json in
  let complain what = Refused ("the certificate is malformed: " ^ what) in
  let certificate = match file.certificate with Some value -> value | None -> refused "there is no certificate" in
  let get = File.fields complain "certificate" certificate ~required:[ "sha256"; "statement" ] ~optional:[] in
  let stated = File.text complain "sha256" (get "sha256") in
  let statement = File.statement (Option.value (get "statement") ~default:Json.Null) in
  let found = File.digest (Json.print File.keys (File.without_null statement.whole)) in
  if stated <> found then refused "the certificate was altered: its digest is %s" found;
  if statement.problem_digest <> File.digest statement.problem then refused "the problem was altered";
  let data = Problem.read statement.problem in
  if statement.schedule_digest <> File.digest_of_schedule file then refused "the schedule was altered";
  if file.microbatches <> data.count then refused "another number of microbatches";
  if by_device file.lists <> by_device data.stage_lists then refused "another placement";
  Option.iter (beyond "%s") file.unusual;
  match Checked.accepts data statement.objective file.orders statement.claim with
  | Rejected fault -> refused "%s" (why fault)
  | Undecided Retains_more -> beyond "a stage that retains more for W than F kept"
  | Undecided No_span -> beyond "the device span, for which none was found"
  | Undecided Other_reason -> beyond "the reason %s" (reason_of statement)
  | Accepted when statement.has_job -> beyond "claims about the plans of a job"
  | Accepted ->
    (match statement.claim.optimal with
     | Open -> "accepted"
     | By_bound -> "accepted, optimal"
     | By_search (_, none_below) ->
       Printf.sprintf "accepted; not checked: that a search found nothing below %s" (Z.to_string none_below))

let read path =
  let channel = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () -> really_input_string channel (in_channel_length channel))

exception Late

let most_seconds = ref 60

let timer seconds =
  ignore (Unix.setitimer Unix.ITIMER_VIRTUAL { it_interval = 0.; it_value = float_of_int seconds })

let status_of path =
  let status, text =
    match timer !most_seconds; check (read path) with
    | text -> (0, text)
    | exception Refused text -> (1, "rejected: " ^ text)
    | exception Wrong text -> (2, "no schedule file: " ^ text)
    | exception Sys_error text -> (2, text)
    | exception Beyond text -> (5, "not covered: " ^ text)
    | exception Stack_overflow -> (5, "not covered: a file of this size")
    | exception Late -> (5, Printf.sprintf "not covered: what takes more than %d s" !most_seconds) in
  timer 0;
  Printf.printf "%d %s %s\n%!" status path text;
  status

let () =
  Sys.set_signal Sys.sigvtalrm (Sys.Signal_handle (fun _ -> raise Late));
  let paths = match List.tl (Array.to_list Sys.argv) with
    | "--seconds" :: seconds :: paths when int_of_string_opt seconds <> None -> most_seconds := int_of_string seconds; paths
    | paths -> paths in
  match paths with
  | [] -> prerr_endline "usage: bubbleproof-checker [--seconds N] FILE..."; exit 2
  | paths -> exit (List.fold_left max 0 (List.map status_of paths))
