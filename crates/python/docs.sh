#!/usr/bin/env bash
# Writes the reference of the package as pages for a browser: crates/python/docs.sh PYTHON WHEEL FOLDER
#
# PYTHON has pdoc. What pdoc warns of, such as a name that it cannot find, is an error.
set -euo pipefail
python=$1
wheel=$2
folder=$3

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m zipfile --extract "$wheel" "$place"
PYTHONPATH=$place "$python" -m pdoc --docformat google --output-directory "$folder" bubbleproof 2> "$place/warnings" ||
    { cat "$place/warnings" >&2; exit 1; }
if [[ -s $place/warnings ]]; then
    cat "$place/warnings" >&2
    exit 1
fi
echo "wrote $folder/index.html"
