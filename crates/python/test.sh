#!/usr/bin/env bash
# Installs a wheel into fresh virtual environments and tests it there: crates/python/test.sh WHEEL PYTHON [torch FOLDER | ray | notebooks [--write]]
#
# The tests are copied: nothing of this checkout is on a path, and no compiler. With `torch`, those of PyTorch are run, with the one
# that is installed in a folder; with `ray`, those of Ray and Dask, which are installed from PyPI; with `notebooks`, the notebooks are executed.
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
mkdir -p "$place/tests/data/traces" "$place/examples"
cp -r "$here/../../examples/python" "$place/examples"
cp -r "$here/../../tests/data/traces/cpu" "$place/tests/data/traces"

subject=${3:-}
NOTEBOOKS_NEED=(nbclient==0.11.0 nbformat==5.11.1 ipykernel==7.4.0 matplotlib==3.11.2 numpy==2.4.6)

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# Only what the environment itself has is on the path, and nothing is inherited.
alone() {
    local environment=$1
    shift
    (cd "$place" && env -i HOME="$place" PATH="$place/$environment/bin" "$@")
}

case $subject in
    torch)
        "$python" -m venv "$place/tested"
        "$place/tested/bin/python" -m pip install --quiet "$wheel" numpy pytest
        # The profiler says on standard error when it begins and ends.
        alone tested PYTHONPATH="$4:$place/tests/torch" KINETO_LOG_LEVEL=9 \
            python -m pytest --quiet --no-header tests/torch
        alone tested PYTHONPATH="$4" KINETO_LOG_LEVEL=9 python -W ignore examples/python/train.py 2> "$place/errors" ||
            { cat "$place/errors"; exit 1; }
        alone tested PYTHONPATH="$4" GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 \
            python -W ignore -m torch.distributed.run --nproc-per-node 4 --master-addr 127.0.0.1 \
            examples/python/ten_lines.py
        exit
        ;;
    ray)
        "$python" -m venv "$place/tested"
        "$place/tested/bin/python" -m pip install --quiet "$wheel" "ray==2.60.0" "distributed==2026.8.0" pytest
        # Ray looks for its processes with `ps`, and for the machine's properties.
        (cd "$place" && env -i HOME="$place" PATH="$place/tested/bin:/usr/bin:/bin" RAY_USAGE_STATS_ENABLED=0 \
            python -W ignore -m pytest --quiet --no-header -s tests/ray)
        exit
        ;;
    notebooks)
        "$python" -m venv "$place/tested"
        "$place/tested/bin/python" -m pip install --quiet "$wheel[smt]" "${NOTEBOOKS_NEED[@]}"
        alone tested python "$here/notebooks.py" "${@:4}" "$here/../../docs/notebooks"
        exit
        ;;
esac
rm -rf "$place/tests/torch" "$place/tests/ray"

"$python" -m venv "$place/plain"
"$place/plain/bin/python" -m pip install --quiet --no-index "$wheel"

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
