(* JSON without numbers that are no integers, as schedule files have it. An object with a key twice is no JSON here. *)

type t =
  | Null
  | Bool of bool
  | Int of Z.t
  | Text of string
  | List of t list
  | Object of (string * t) list

exception Error of string

(* Whether a text in UTF-8 has a character that moves the cursor or changes what others look like. *)
let has_control text =
  let at i = if i < String.length text then Char.code text.[i] else 0 in
  let is_control i =
    match at i, at (i + 1), at (i + 2) with
    | (0x7f, _, _) | (0xd8, 0x9c, _) -> true
    | 0xc2, second, _ -> second < 0xa0
    | 0xe2, 0x80, third -> third = 0x8e || third = 0x8f || (third >= 0xa8 && third <= 0xae)
    | 0xe2, 0x81, third -> third >= 0xa6 && third <= 0xa9
    | first, _, _ -> first < 0x20
  in
  let rec from i = i < String.length text && (is_control i || from (i + 1)) in
  from 0

let parse text =
  let position = ref 0 in
  let fail what = raise (Error (Printf.sprintf "byte %d: %s" !position what)) in
  let peek () = if !position < String.length text then text.[!position] else '\000' in
  let next () = let letter = peek () in incr position; letter in
  let rec space () = match peek () with ' ' | '\t' | '\n' | '\r' -> incr position; space () | _ -> () in
  let expect word =
    let size = String.length word in
    if !position + size <= String.length text && String.sub text !position size = word then position := !position + size
    else fail ("expected " ^ word)
  in
  let number () =
    let from = !position in
    if peek () = '-' then incr position;
    let first = !position in
    while (match peek () with '0' .. '9' -> true | _ -> false) do incr position done;
    let digits = !position - first in
    if digits = 0 || (digits > 1 && text.[first] = '0') then fail "no number";
    (match peek () with '.' | 'e' | 'E' -> fail "a number that is no integer" | _ -> ());
    let value = String.sub text from (!position - from) in
    if value = "-0" then fail "a number that is no integer";
    let value = Z.of_string value in
    if Z.lt value (Z.neg (Z.shift_left Z.one 63)) || Z.geq value (Z.shift_left Z.one 64) then fail "too large a number";
    value
  in
  let code () =
    let value = ref 0 in
    for _ = 1 to 4 do
      let digit = match next () with
        | '0' .. '9' as c -> Char.code c - 48
        | 'a' .. 'f' as c -> Char.code c - 87
        | 'A' .. 'F' as c -> Char.code c - 55
        | _ -> fail "no hexadecimal digit" in
      value := (!value * 16) + digit
    done;
    !value
  in
  let string () =
    expect "\"";
    let out = Buffer.create 16 in
    let rec go () =
      if !position >= String.length text then fail "a text does not end";
      match next () with
      | '"' -> ()
      | '\\' ->
        (match next () with
         | ('"' | '\\' | '/') as c -> Buffer.add_char out c
         | 'b' -> Buffer.add_char out '\b'
         | 'f' -> Buffer.add_char out '\012'
         | 'n' -> Buffer.add_char out '\n'
         | 'r' -> Buffer.add_char out '\r'
         | 't' -> Buffer.add_char out '\t'
         | 'u' ->
           let first = code () in
           let scalar =
             if first land 0xfc00 = 0xd800 then begin
               expect "\\u";
               let second = code () in
               if second land 0xfc00 <> 0xdc00 then fail "half a character";
               0x10000 + ((first land 0x3ff) lsl 10) + (second land 0x3ff)
             end
             else first
           in
           if scalar land 0xfffffc00 = 0xdc00 then fail "half a character";
           Buffer.add_utf_8_uchar out (Uchar.of_int scalar)
         | _ -> fail "an unknown escape");
        go ()
      | c when c < ' ' -> fail "a control character"
      | c -> Buffer.add_char out c; go ()
    in
    go ();
    Buffer.contents out
  in
  let rec value depth =
    if depth > 127 then fail "too deep";
    space ();
    let read = match peek () with
      | '{' -> incr position; Object (items depth '}' (fun () ->
          space ();
          let key = string () in
          space (); expect ":";
          (key, value (depth + 1))))
      | '[' -> incr position; List (items depth ']' (fun () -> value (depth + 1)))
      | '"' -> Text (string ())
      | 'n' -> expect "null"; Null
      | 't' -> expect "true"; Bool true
      | 'f' -> expect "false"; Bool false
      | _ -> Int (number ()) in
    space ();
    (match read with
     | Object fields ->
       let keys = List.sort compare (List.map fst fields) in
       let rec twice = function a :: (b :: _ as rest) -> a = b || twice rest | _ -> false in
       if twice keys then fail "a key that is there twice"
     | _ -> ());
    read
  and items : 'a. int -> char -> (unit -> 'a) -> 'a list = fun _ close item ->
    space ();
    if peek () = close then (incr position; [])
    else
      let rec more found =
        let found = item () :: found in
        space ();
        match next () with
        | ',' -> more found
        | c when c = close -> List.rev found
        | _ -> fail "expected , or the end" in
      more []
  in
  let read = value 0 in
  if !position < String.length text then fail "something behind the end";
  read

(* As serde_json writes texts. *)
let quoted text =
  let out = Buffer.create (String.length text + 2) in
  Buffer.add_char out '"';
  String.iter (function
    | '"' -> Buffer.add_string out "\\\""
    | '\\' -> Buffer.add_string out "\\\\"
    | '\n' -> Buffer.add_string out "\\n"
    | '\r' -> Buffer.add_string out "\\r"
    | '\t' -> Buffer.add_string out "\\t"
    | '\b' -> Buffer.add_string out "\\b"
    | '\012' -> Buffer.add_string out "\\f"
    | c when c < ' ' -> Buffer.add_string out (Printf.sprintf "\\u%04x" (Char.code c))
    | c -> Buffer.add_char out c) text;
  Buffer.add_char out '"';
  Buffer.contents out

let list texts = "[" ^ String.concat "," texts ^ "]"

(* Without spaces; the keys of an object by their places in a list of keys. *)
let rec print keys = function
  | Null -> "null"
  | Bool value -> string_of_bool value
  | Int value -> Z.to_string value
  | Text text -> quoted text
  | List values -> list (List.map (print keys) values)
  | Object fields ->
    let place (key, _) =
      let rec find i = function [] -> max_int | k :: rest -> if k = key then i else find (i + 1) rest in
      find 0 keys in
    let fields = List.stable_sort (fun a b -> compare (place a) (place b)) fields in
    "{" ^ String.concat "," (List.map (fun (key, value) -> quoted key ^ ":" ^ print keys value) fields) ^ "}"
