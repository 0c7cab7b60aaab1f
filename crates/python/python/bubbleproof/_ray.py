"""Sweeps on a cluster of Ray, which is imported here and nowhere else."""

from __future__ import annotations

import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ._sweep import Answer, Ledger, Piece

TASKS_PER_CPU = 8
"""Into how many tasks the pieces are divided for each CPU that the cluster begins with: enough that a node which joins has work to
take, and that little is lost with one that leaves."""

MOST = 32
"""How many pieces a task has at the most."""

ENOUGH = 1.0
"""After how many seconds a task ends, and leaves what it has not begun to another: so much is lost with a worker at the most, and
the piece that it was planning."""


def planned(pieces: list[Piece], ledger: Ledger) -> Iterator[tuple[Piece, Answer]]:
    """Plans pieces as tasks of Ray, and finishes each piece as its task ends.

    A task has some pieces, each planned with a store of its own; their bytes are the result of the task. So nodes need not share a
    file system. What the store of the sweep has goes to every node once, and every task looks there. Ray runs a task again whose
    worker or node is lost, elsewhere; its pieces were not finished.
    """
    if not pieces:
        return
    from ._sweep import TRIES

    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise InputError(
            f"Ray is not installed: {error}", "pip install 'bubbleproof[ray]', or use another executor", "executor"
        ) from error
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    task = ray.remote(num_cpus=1, max_retries=TRIES - 1)(_planned_apart)
    cpus = int(ray.cluster_resources().get("CPU", 1)) or 1
    size = max(1, min(MOST, len(pieces) // (TASKS_PER_CPU * cpus)))
    batches = [pieces[begin : begin + size] for begin in range(0, len(pieces), size)]
    known = ray.put(ledger.known())
    running = {task.remote(batch, known): batch for batch in batches}
    try:
        while running:
            (done,), _ = ray.wait(list(running), num_returns=1)
            batch = running.pop(done)
            answers = ray.get(done)
            if rest := batch[len(answers) :]:
                running[task.remote(rest, known)] = rest
            for piece, (answer, results) in zip(batch, answers, strict=False):
                ledger.take_in(results)
                ledger.finish(piece, answer)
                yield piece, answer
    finally:
        for each in running:
            ray.cancel(each, force=True)


def _planned_apart(batch: Sequence[Piece], known: bytes) -> list[tuple[Answer, bytes]]:
    """Plans the first pieces of a batch: at least one."""
    begun = time.monotonic()
    answers: list[tuple[Answer, bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "known.sqlite"
        store.write_bytes(known)
        for piece in batch:
            answers.append(piece.plan_apart(store))
            if time.monotonic() - begun > ENOUGH:
                break
    return answers
