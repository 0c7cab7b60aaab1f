(* The problem of a certificate: the text of a model file, as the tool in Rust prints it. What differs from that form is not
   covered, even where another reader of TOML would know what it means. *)

open Answer

let words separator text = if text = "" then [] else Str.split_delim (Str.regexp_string separator) text

let integer key text =
  let digits = if text <> "" && text.[0] = '-' then String.sub text 1 (String.length text - 1) else text in
  let plain = digits <> "" && String.for_all (function '0' .. '9' -> true | _ -> false) digits
    && (digits = "0" || digits.[0] <> '0') in
  if not plain || text = "-0" then beyond "the amount %s of %s in the problem" text key;
  if digits <> text then refused "the problem is wrong: %s is negative" key;
  let value = Z.of_string text in
  if Z.geq value (Z.shift_left Z.one 63) then
    refused "the problem is wrong: %s is too large" key;
  value

let bracketed text = String.length text >= 2 && text.[0] = '[' && text.[String.length text - 1] = ']'
let inside text = String.sub text 1 (String.length text - 2)

(* One value for each of so many things: a list of them, or one for all. *)
let each size key ~one ~listed text =
  let found =
    if bracketed text then List.map (listed key) (words ", " (inside text))
    else let value = one key text in List.init size (fun _ -> value) in
  if List.length found <> size then refused "the problem is wrong: %s has %d values" key (List.length found);
  found

let amounts size key text = each size key ~one:integer ~listed:integer text

let limits size key text =
  let limit key text = Some (integer key text) in
  each size key ~one:limit ~listed:(fun key text -> if text = "\"none\"" then None else limit key text) text

let count least key text =
  let value = integer key text in
  if Z.lt value (Z.of_int least) || Z.gt value (Z.of_string "4294967295") then refused "the problem is wrong: %s" key;
  Z.to_int value

let most_stages = 1 lsl 20

let placement devices chunks text =
  let named chunks of_device =
    if devices * chunks > most_stages then refused "the problem is wrong: too many stages";
    List.init devices of_device in
  match text, chunks with
  | "\"linear\"", None -> named 1 (fun d -> [ d ])
  | "\"v\"", None -> named 2 (fun d -> [ d; (2 * devices) - 1 - d ])
  | "\"looped\"", Some chunks -> named chunks (fun d -> List.init chunks (fun chunk -> (chunk * devices) + d))
  | "\"bidirectional\"", _ -> beyond "two directions"
  | text, None when bracketed text && bracketed (inside text) ->
    let lists = Str.split_delim (Str.regexp_string "], [") (inside (inside text)) in
    if List.length lists <> devices then refused "the problem is wrong: its devices";
    List.map (fun list -> List.map (count 0 "placement") (words ", " list)) lists
  | _ -> beyond "the placement of the problem"

let read text : Checked.data =
  let lines = ref (String.split_on_char '\n' text) in
  let optional key =
    let start = key ^ " = " in
    match !lines with
    | line :: rest when String.length line > String.length start && String.sub line 0 (String.length start) = start ->
      lines := rest;
      Some (String.sub line (String.length start) (String.length line - String.length start))
    | _ -> None in
  let required key = match optional key with Some value -> value | None -> beyond "a problem without %s at its usual place" key in
  let line expected = match !lines with
    | found :: rest when found = expected -> lines := rest
    | _ -> beyond "a problem without %s at its usual place" (if expected = "" then "an empty line" else expected) in
  let name text =
    let plain = String.length text >= 2 && text.[0] = '"' && text.[String.length text - 1] = '"'
      && not (String.exists (fun c -> c = '"' || c = '\\') (inside text)) && not (Json.has_control text) in
    if not plain then beyond "the quoted text %s in the problem" text in
  name (required "name");
  Option.iter name (optional "source");
  line ""; line "[pipeline]";
  let devices = count 1 "devices" (required "devices") in
  let shape = required "placement" in
  let chunks = Option.map (count 1 "chunks") (optional "chunks") in
  let stage_lists = placement devices chunks shape in
  let microbatches = count 1 "microbatches" (required "microbatches") in
  let stages = List.length (List.concat stage_lists) in
  let held = List.sort compare (List.concat stage_lists) in
  if stages > most_stages || List.mem [] stage_lists || held <> List.init stages Fun.id then
    refused "the problem is wrong: its placement";
  if stages * microbatches > 1 lsl 28 then refused "the problem is wrong: too many passes";
  line ""; line "[time]";
  name (required "unit");
  let forwards = amounts stages "forward" (required "forward") in
  let inputs = amounts stages "backward_input" (required "backward_input") in
  let weights = amounts stages "backward_weight" (required "backward_weight") in
  let none = List.init stages (fun _ -> Z.zero) in
  let latencies = match optional "communication" with
    | Some text -> amounts (stages - 1) "communication" text
    | None -> if stages = 1 then [] else List.tl none in
  line ""; line "[memory]";
  name (required "unit");
  let activations = amounts stages "activation" (required "activation") in
  let retaineds = amounts stages "retained_for_weight" (required "retained_for_weight") in
  let residents = match optional "weights" with Some text -> amounts stages "weights" text | None -> none in
  let limits = match optional "capacity" with
    | Some text -> limits devices "capacity" text
    | None -> List.init devices (fun _ -> None) in
  (match !lines with
   | [ "" ] -> ()
   | "" :: table :: _ when table <> "" && table.[0] = '[' -> beyond "%s of the problem" table
   | line :: _ -> beyond "%s of the problem" (List.hd (String.split_on_char ' ' (line ^ " ")))
   | [] -> beyond "a problem without a last line");
  { stage_lists; count = microbatches; forwards; inputs; weights; latencies; activations; retaineds; residents;
    capacities = limits }
