#!/usr/bin/env bash
# Installs a wheel into a fresh virtual environment and tests it there: crates/python/test.sh WHEEL PYTHON
#
# The tests are copied: nothing of this checkout is on a path, and no compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wheel=$1
python=$2

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp -r "$here/tests" "$here/pyproject.toml" "$place"
mkdir "$place/docs"
cp "$here"/../../docs/python*.md "$place/docs"
cp "$here"/../../README.md "$place"
rm -rf "$place/tests/torch" "$place/tests/ray"

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
"$python" -m venv "$place/plain"
"$place/plain/bin/python" -m pip install --quiet --no-index "$wheel"

# Only what the environment itself has is on the path, and nothing is inherited.
alone() {
    local environment=$1
    shift
    (cd "$place" && env -i HOME="$place" PATH="$place/$environment/bin" "$@")
}

printf '%s, %s\n' "$("$python" --version)" "$(basename "$wheel")"
alone plain bubbleproof --version
alone plain python -c 'import bubbleproof as bp; print(bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1))'
printf 'the wheel has %s bytes, installed %s KiB\n' "$(stat -c %s "$wheel")" \
    "$(du -sk "$place"/plain/lib/python*/site-packages/bubbleproof | cut -f 1)"
alone plain python - <<'END'
"""How long the import takes: the median of several fresh processes, less that of one which imports nothing."""
import statistics
import subprocess
import sys
import time


def milliseconds(code: str) -> float:
    spent = []
    for _ in range(11):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        spent.append(1000 * (time.perf_counter() - begun))
    return statistics.median(spent)


print(f"import bubbleproof takes {milliseconds('import bubbleproof') - milliseconds('pass'):.0f} ms")
END

"$python" -m venv "$place/tested"
"$place/tested/bin/python" -m pip install --quiet "$wheel" -r "$here/tests/requirements.txt"
alone tested python -m pytest --quiet --no-header --pyargs bubbleproof tests
