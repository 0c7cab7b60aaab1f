"""Executes notebooks, and compares what they print and draw with what is kept in their files.

    notebooks.py [--write] FOLDER

The interpreter that runs this script runs every notebook of the folder, from its first cell to its last. It does so in a temporary
folder: what a notebook saves stays out of the checkout.

Texts and SVG pictures must be equal to the kept ones. A PNG picture must be there and be one; its bytes depend on the fonts of the
machine. A cell that raises an exception is an error, unless it has the tag `raises-exception`.

With `--write`, the executed notebooks replace the kept ones. What is written says nothing about the machine or the time: a second
run writes the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import difflib
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

KERNEL = "python3"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": KERNEL},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
PNG = "image/png"
SECONDS_FOR_A_CELL = 300


class ProblemError(Exception):
    """What is wrong with a notebook, in a sentence or as a diff."""


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells, which the kernel numbers from 1."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed(kept: NotebookNode, folder: str) -> NotebookNode:
    """The notebook with the outputs of a run in this folder, normalised."""
    notebook = deepcopy(kept)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL,
        timeout=SECONDS_FOR_A_CELL,
        resources={"metadata": {"path": folder}},
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise ProblemError(f"cell {failed(notebook)}: {error.ename}: {error.evalue}") from error
    except (CellTimeoutError, DeadKernelError) as error:
        raise ProblemError(f"cell {failed(notebook)}: {error}") from error
    normalise(notebook)
    return notebook


def failed(notebook: NotebookNode) -> int:
    """The number of the cell at which a run has ended: the last one that has begun."""
    return max(number for number, cell in enumerate(code_cells(notebook), 1) if number == 1 or cell.execution_count)


def normalise(notebook: NotebookNode) -> None:
    """Leaves out all that depends on the machine, the time, or the editor."""
    notebook.metadata = METADATA
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for position, cell in enumerate(notebook.cells, 1):
        tags = cell.metadata.get("tags")
        cell.id, cell.metadata = f"cell-{position}", {"tags": tags} if tags else {}
    for number, cell in enumerate(code_cells(notebook), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "error":
                # The frames name the files of the machine.
                output.traceback = [f"{output.ename}: {output.evalue}"]
            if output.output_type == "execute_result":
                output.execution_count = number


def lines(output: NotebookNode) -> Iterator[str]:
    """What is compared of an output, line by line."""
    if output.output_type == "stream":
        yield f"[{output.name}]"
        yield from output.text.splitlines()
    elif output.output_type == "error":
        yield "[error]"
        yield from f"{output.ename}: {output.evalue}".splitlines()
    else:
        for kind, data in sorted(output.data.items()):
            yield f"[{kind}]"
            if kind == PNG:
                yield "a picture" if is_picture(data) else "no picture"
            else:
                yield from str(data).splitlines()


def is_picture(data: str) -> bool:
    """Whether this is a PNG with something in it."""
    content = base64.b64decode(data)
    return content.startswith(b"\x89PNG\r\n\x1a\n") and b"IDAT" in content


def differences(kept: NotebookNode, run: NotebookNode) -> Iterator[str]:
    """How the outputs of a run differ from the kept ones."""
    for number, (old, new) in enumerate(zip(code_cells(kept), code_cells(run), strict=True), 1):
        before, after = ([line for output in cell.outputs for line in lines(output)] for cell in (old, new))
        if before != after:
            yield from difflib.unified_diff(before, after, f"cell {number}, kept", f"cell {number}, run", lineterm="")
        elif "no picture" in after:
            yield f"cell {number}: an empty picture"


def tend(path: Path, write: bool) -> None:
    """Executes one notebook, and compares or replaces it."""
    kept = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        run = executed(kept, folder)
    if write:
        nbformat.write(run, path)  # type: ignore[no-untyped-call]
        return
    found = list(differences(kept, run))
    if found:
        raise ProblemError("\n".join(found))


def main() -> int:
    parser = argparse.ArgumentParser(description="Executes notebooks, and compares their outputs with the kept ones.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the notebooks")
    parser.add_argument("--write", action="store_true", help="replace the notebooks by the executed ones")
    given = parser.parse_args()
    notebooks = sorted(given.folder.glob("*.ipynb"))
    if not notebooks:
        parser.error(f"there is no notebook in {given.folder}")

    # Matplotlib says on standard error when it builds its cache of fonts, which it does once.
    with suppress(ImportError):
        importlib.import_module("matplotlib.font_manager")

    is_well = True
    with tempfile.TemporaryDirectory() as settings:
        # Settings and history of the user's own IPython have no part in this.
        os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = settings
        for path in notebooks:
            begun = time.monotonic()
            try:
                tend(path, given.write)
            except ProblemError as problem:
                is_well = False
                print(f"{path}: FAILED\n{problem}")
            else:
                print(f"{path}: {'written' if given.write else 'as kept'}, {time.monotonic() - begun:.1f} s")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
