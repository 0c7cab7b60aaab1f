(* Schedule files and their certificates, read as the tool in Rust reads them. *)

open Answer

type schedule = {
  lists : int list list;                    (* by device: its stages *)
  microbatches : int;
  texts : string list list;                 (* by device: its passes, as the digest has them *)
  orders : Checked.pass list list;
  unusual : string option;                  (* something in the orders that is not covered *)
  certificate : Json.t option;
}

(* Fields of an object that has these keys and no others; missing and null are the same for those that may be missing. *)
let fields complain what ~required ~optional = function
  | Json.Object found ->
    let known key = List.mem key required || List.mem key optional in
    List.iter (fun (key, _) -> if not (known key) then raise (complain (what ^ ": the key " ^ key))) found;
    List.iter (fun key -> if not (List.mem_assoc key found) then raise (complain (what ^ ": no " ^ key))) required;
    fun key -> (match List.assoc_opt key found with None | Some Json.Null -> None | Some value -> Some value)
  | Json.List _ -> beyond "a list in place of an object: %s" what
  | _ -> raise (complain (what ^ " is no object"))

let most_u32 = Z.of_string "4294967295"

let text complain what = function Some (Json.Text text) -> text | _ -> raise (complain (what ^ " is no text"))
let u32 complain what = function
  | Some (Json.Int value) when Z.sign value >= 0 && Z.leq value most_u32 -> Z.to_int value
  | _ -> raise (complain (what ^ " is no count"))
let i64 complain what = function
  | Some (Json.Int value) when Z.lt value (Z.shift_left Z.one 63) -> value
  | _ -> raise (complain (what ^ " is no integer"))
let list complain what read = function
  | Some (Json.List values) -> List.map (function Json.Null -> read None | value -> read (Some value)) values
  | _ -> raise (complain (what ^ " is no list"))

(* Texts with control characters are refused everywhere but in texts of their own with lines. *)
let rec plain path value =
  match value with
  | Json.Text text ->
    let own = [ [ "problem"; "statement"; "certificate" ]; [ "job"; "job"; "statement"; "certificate" ] ] in
    if Json.has_control text && not (List.mem path own) then wrong "a text with a control character"
  | Json.List values -> List.iter (plain ("" :: path)) values
  | Json.Object fields ->
    List.iter (fun (key, value) ->
      if Json.has_control key then wrong "a key with a control character";
      plain (key :: path) value) fields
  | _ -> ()

let pass text =
  let size = String.length text in
  let rec letter i = if i < size && text.[i] >= '0' && text.[i] <= '9' then letter (i + 1) else i in
  let at = letter 0 in
  let number digits =
    let plain = digits <> "" && String.for_all (function '0' .. '9' -> true | _ -> false) digits in
    if not plain then wrong "%s is no pass" text;
    let value = Z.of_string_base 10 digits in
    if Z.gt value most_u32 then wrong "%s is no pass" text;
    Z.to_int value in
  if at = size then wrong "%s is no pass" text;
  let stage = number (String.sub text 0 at) in
  let kind = match text.[at] with
    | 'F' -> Some Checked.F | 'I' -> Some Checked.I | 'W' -> Some Checked.W | 'B' | 'R' -> None
    | _ -> wrong "%s is no pass" text in
  let microbatch = number (String.sub text (at + 1) (size - at - 1)) in
  (Printf.sprintf "%d%c%d" stage text.[at] microbatch,
   Option.map (fun kind_of -> { Checked.kind_of; stage_of = stage; microbatch_of = microbatch }) kind,
   text.[at])

let read json : schedule =
  let complain what = Wrong what in
  plain [] json;
  let get = fields complain "the file" json ~required:[ "format"; "placement"; "microbatches"; "orders" ]
      ~optional:[ "name"; "model"; "provenance"; "directions"; "offload"; "levels"; "certificate" ] in
  let optional_text key = Option.iter (fun value -> ignore (text complain key (Some value))) (get key) in
  if text complain "format" (get "format") <> "bubbleproof-schedule-1" then wrong "another format";
  optional_text "name";
  optional_text "model";
  Option.iter (fun value ->
    let of_it = fields complain "provenance" value ~required:[ "tool"; "engine" ]
        ~optional:[ "devices"; "microbatches"; "memory"; "settings" ] in
    ignore (text complain "tool" (of_it "tool"));
    ignore (text complain "engine" (of_it "engine"));
    List.iter (fun key -> if of_it key <> None then ignore (u32 complain key (of_it key))) [ "devices"; "microbatches" ];
    if of_it "memory" <> None then ignore (i64 complain "memory" (of_it "memory"));
    match value, of_it "settings" with
    | _, Some (Json.Object settings) -> List.iter (fun (key, value) -> ignore (text complain key (Some value))) settings
    | Json.Object all, None when not (List.mem_assoc "settings" all) -> ()
    | _ -> raise (complain "settings is no object")) (get "provenance");
  let lists = list complain "placement" (list complain "placement" (u32 complain "placement")) (get "placement") in
  let microbatches = u32 complain "microbatches" (get "microbatches") in
  let unusual = ref None in
  let entry value =
    let entry = text complain "a pass" value in
    let size = String.length entry in
    match String.index_opt entry ';' with
    | Some at when entry.[0] = '(' && entry.[size - 1] = ')' ->
      ignore (pass (String.sub entry 1 (at - 1)));
      ignore (pass (String.sub entry (at + 1) (size - at - 2)));
      beyond "overlapped pairs"
    | _ -> pass entry in
  let entries = list complain "orders" (list complain "orders" entry) (get "orders") in
  let orders = List.map (List.filter_map (fun (_, pass, letter) ->
    if pass = None then unusual := Some (Printf.sprintf "passes %c" letter);
    pass)) entries in
  let stages = List.length (List.concat lists) in
  if lists = [] || List.mem [] lists || stages > Problem.most_stages
     || List.sort compare (List.concat lists) <> List.init stages Fun.id then wrong "the placement is none";
  (match get "directions" with
   | None -> ()
   | found -> (match u32 complain "directions" found with 1 -> () | 2 -> beyond "two directions" | _ -> wrong "directions"));
  if List.length entries <> List.length lists then wrong "there is not one order for each device";
  if microbatches = 0 || stages * microbatches > 1 lsl 28 then wrong "the number of microbatches";
  (match get "offload" with
   | None -> ()
   | Some (Json.List lists) when List.for_all (( = ) (Json.List [])) lists && List.length lists = List.length orders -> ()
   | Some _ -> beyond "offloading");
  (match json, get "levels" with
   | _, Some (Json.Object []) -> ()
   | Json.Object all, None when not (List.mem_assoc "levels" all) -> ()
   | _, Some (Json.Object _) -> beyond "levels of recomputation"
   | _ -> wrong "levels");
  { lists; microbatches; texts = List.map (List.map (fun (text, _, _) -> text)) entries; orders; unusual = !unusual;
    certificate = get "certificate" }

(* The order in which the tool in Rust writes the keys of a statement and of what is in it. *)
let keys = [
  "format"; "problem_sha256"; "problem"; "schedule_sha256"; "objective"; "metrics"; "makespan"; "device_span"; "bubble_rate";
  "idle_rate"; "peak_memory"; "bound"; "value"; "reason"; "device"; "devices"; "repetition"; "after"; "period"; "growth"; "link";
  "length"; "end"; "work"; "idle"; "span"; "first"; "last"; "head"; "tail"; "held"; "turn"; "optimality"; "engine"; "none_below"; "job";
  "choice"; "pipeline"; "tensor"; "microbatch_size"; "placement"; "saving"; "recompute"; "offload"; "data"; "microbatches"; "cut";
  "no_cut_below"; "searched"; "no_plan_below" ]

let rec without_null = function
  | Json.Object fields ->
    let optional = [ "job"; "searched"; "no_plan_below" ] in
    let kept = List.filter (fun (key, value) -> not (value = Json.Null && List.mem key optional)) fields in
    Json.Object (List.map (fun (key, value) -> (key, without_null value)) kept)
  | value -> value

let digest text = Sha256.to_hex (Sha256.string text)

let digest_of_schedule file =
  let numbers list = Json.list (List.map string_of_int list) in
  digest (Json.list [
    Json.list (List.map numbers file.lists); string_of_int file.microbatches;
    Json.list (List.map (fun order -> Json.list (List.map Json.quoted order)) file.texts) ])

type statement = {
  problem_digest : string;
  problem : string;
  schedule_digest : string;
  objective : Checked.objective;
  claim : Checked.claim;
  has_job : bool;
  whole : Json.t;
}

(* The one field of an object with one, or a text. *)
let variant what = function
  | Some (Json.Text name) -> (name, None)
  | Some (Json.Object [ (name, value) ]) -> (name, Some value)
  | _ -> refused "the certificate is malformed: %s" what

let rate text =
  let plain digits =
    digits = "0" || (digits <> "" && digits.[0] <> '0' && String.for_all (fun c -> c >= '0' && c <= '9') digits) in
  match String.split_on_char '/' text with
  | [ above; below ] when plain above && plain below -> (Z.of_string above, Z.of_string below)
  | _ -> (Z.zero, Z.zero)    (* no rate has this denominator *)

let statement json =
  let complain what = Refused ("the certificate is malformed: " ^ what) in
  let fields = fields complain and i64 = i64 complain and text = text complain and u32 = u32 complain in
  let get = fields "statement" json ~optional:[ "job" ]
      ~required:[ "format"; "problem_sha256"; "problem"; "schedule_sha256"; "objective"; "metrics"; "bound"; "optimality" ] in
  let metrics = fields "metrics" (Option.value (get "metrics") ~default:Json.Null) ~optional:[]
      ~required:[ "makespan"; "device_span"; "bubble_rate"; "idle_rate"; "peak_memory" ] in
  let bound = fields "bound" (Option.value (get "bound") ~default:Json.Null) ~required:[ "value"; "reason" ] ~optional:[] in
  let objective = match variant "objective" (get "objective") with
    | "makespan", None -> Checked.Makespan
    | "device_span", None -> Checked.Device_span
    | _, Some _ -> beyond "an objective with fields"
    | _ -> raise (complain "objective") in
  let window = function
    | None -> raise (complain "a window")
    | Some value ->
      let get = fields "a window" value ~required:[ "length"; "work" ] ~optional:[] in
      { Checked.window_length = i64 "length" (get "length"); window_work = i64 "work" (get "work") } in
  let because = match variant "reason" (bound "reason") with
    | "alone", None -> Checked.By_alone
    | "alone", Some _ -> beyond "a reason in an unusual form"
    | "windows", Some value ->
      let get = fields "windows" value ~required:[ "device"; "work"; "first"; "last" ] ~optional:[] in
      Checked.By_windows (u32 "device" (get "device"), i64 "work" (get "work"), window (get "first"), window (get "last"))
    | ("chain" | "work" as name), Some value ->
      let get = fields name value ~required:[ "device"; "work"; "head"; "tail" ] ~optional:[] in
      let device, work = u32 "device" (get "device"), i64 "work" (get "work") in
      let head, tail = i64 "head" (get "head"), i64 "tail" (get "tail") in
      if name = "chain" then Checked.By_chain (device, work, head, tail) else Checked.By_work (device, work, head, tail)
    | "turnover", Some value ->
      let get = fields "turnover" value ~required:[ "device"; "held"; "turn" ] ~optional:[] in
      Checked.By_turnover (u32 "device" (get "device"), i64 "held" (get "held"), i64 "turn" (get "turn"))
    | "area", Some value ->
      Checked.By_area (u32 "device" (fields "area" value ~required:[ "device" ] ~optional:[] "device"))
    | "subset", Some value ->
      let get = fields "subset" value ~required:[ "devices" ] ~optional:[ "repetition" ] in
      if (match value with Json.Object all -> not (List.mem_assoc "repetition" all) | _ -> true) then
        beyond "a reason in an unusual form";
      let repetition = Option.map (fun value ->
        let get = fields "repetition" value ~required:[ "after"; "period"; "growth" ] ~optional:[] in
        ((u32 "after" (get "after"), u32 "period" (get "period")), i64 "growth" (get "growth"))) (get "repetition") in
      Checked.By_subset (list complain "devices" (u32 "devices") (get "devices"), repetition)
    | ("offload" | "recomputation" | "ramps" | "weighed" | "link" | "horizon" | "pace"), Some _ -> Checked.By_other
    | _ -> raise (complain "reason") in
  let optimal = match variant "optimality" (get "optimality") with
    | "open", None -> Checked.Open
    | "bound", None -> Checked.By_bound
    | "search", Some value ->
      let get = fields "search" value ~required:[ "engine"; "none_below" ] ~optional:[] in
      let engine = match text "engine" (get "engine") with
        | "lcg" -> Checked.Clause_generation
        | "branch and bound" -> Checked.Branch_and_bound
        | _ -> raise (complain "engine") in
      Checked.By_search (engine, i64 "none_below" (get "none_below"))
    | ("open" | "bound"), Some _ -> beyond "optimality in an unusual form"
    | _ -> raise (complain "optimality") in
  let format = text "format" (get "format") in
  if format <> "bubbleproof-certificate-1" then refused "another format of certificates";
  let figures_of = {
    Checked.claimed_makespan = i64 "makespan" (metrics "makespan");
    claimed_span = i64 "device_span" (metrics "device_span");
    bubble_rate = rate (text "bubble_rate" (metrics "bubble_rate"));
    idle_rate = rate (text "idle_rate" (metrics "idle_rate"));
    peaks = list complain "peak_memory" (i64 "peak_memory") (metrics "peak_memory") } in
  { problem_digest = text "problem_sha256" (get "problem_sha256"); problem = text "problem" (get "problem");
    schedule_digest = text "schedule_sha256" (get "schedule_sha256"); objective;
    claim = { figures_of; bound = i64 "value" (bound "value"); because; optimal };
    has_job = get "job" <> None; whole = json }
