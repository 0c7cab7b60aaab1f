#!/usr/bin/env bash
# Compiles the proofs of this folder elsewhere, and says what they rest on: proofs/rocq/build.sh FOLDER
#
# Four things must hold: Rocq accepts every file; its checker `coqchk` accepts what was compiled, and finds no axiom of ours; no
# theorem rests on an axiom; and no source has a word that would leave something unproved. Prints how long each file took, and the
# table of theorems. Then compiles the checker that Rocq extracts from them, to FOLDER/bubbleproof-checker. Needs Rocq 8.16 and
# OCaml, and installs Debian's if it may.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)

missing=()
command -v coqc > /dev/null || missing+=(coq)
command -v ocamlfind > /dev/null || missing+=(ocaml-nox ocaml-findlib)
for library in zarith sha; do
    ocamlfind query "$library" > /dev/null 2>&1 || missing+=("lib$library-ocaml-dev")
done
if ((${#missing[@]})); then
    if [[ $(id -u) != 0 ]] || ! command -v apt-get > /dev/null; then
        echo "the proofs need Rocq 8.16 and OCaml; on Debian, as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    echo "installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi
coqc --version | head -n 1

# What has not changed is not compiled again; what is gone here goes there.
find "$folder" -maxdepth 1 -name '*.v' | while read -r old; do
    [[ -e $here/$(basename "$old") ]] || rm "$old"
done
cp -u --preserve=timestamps "$here"/*.v "$here/_CoqProject" "$folder"
cd "$folder"
coq_makefile -f _CoqProject ./*.v -o Makefile.coq > /dev/null
make -f Makefile.coq -j 2 TIMED=1 2>&1 | grep -v '^\(COQC\|COQDEP\|make\)' || ((PIPESTATUS[0] == 0))
python3 "$here/theorems.py" "$here" "$folder"
"$here/checker/build.sh" "$folder"
