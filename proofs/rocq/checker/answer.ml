(* What the program answers, beside "accepted": each ends the reading of a file. *)

exception Wrong of string      (* the file is no schedule file *)
exception Refused of string    (* the certificate is rejected *)
exception Beyond of string     (* not covered *)

let wrong format = Printf.ksprintf (fun text -> raise (Wrong text)) format
let refused format = Printf.ksprintf (fun text -> raise (Refused text)) format
let beyond format = Printf.ksprintf (fun text -> raise (Beyond text)) format
