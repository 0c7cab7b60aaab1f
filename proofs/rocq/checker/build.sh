#!/usr/bin/env bash
# Builds two programs from what Rocq extracted: proofs/rocq/checker/build.sh FOLDER, where FOLDER holds checked.ml and
# functions.ml. The programs are to be there: bubbleproof-checker, and bubbleproof-functions, which compares single functions.
# Needs OCaml with Debian's libzarith-ocaml-dev and libsha-ocaml-dev.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/*.ml "$1"
cd "$1"
ocamlfind ocamlopt -w -a -c checked.mli checked.ml -package zarith
ocamlfind ocamlopt -w -a -c functions.mli functions.ml -package zarith
warnings=+a-4-9-40-41-42-44-45-70
ocamlfind ocamlopt -w $warnings -package zarith,sha,str,unix -linkpkg -o bubbleproof-checker \
    checked.cmx answer.ml json.ml problem.ml file.ml main.ml
ocamlfind ocamlopt -w $warnings -package zarith -linkpkg -o bubbleproof-functions functions.cmx json.ml compare.ml
