"""Writes the schedules that PyTorch itself makes, in both of its CSV forms.

    python3 dump.py DIR [--every]

A modest set by default: what tests/data/pytorch holds. With --every, a grid of ranks and microbatches. Nothing
is run: PyTorch's schedule classes need no more of a stage than its place in the pipeline. What PyTorch refuses
to lower is said on standard output, with its reason.
"""

import argparse
import csv
import itertools
import pathlib
import types
from typing import Any, Iterator

import torch
from torch.distributed.pipelining import schedules as pp

Case = tuple[str, int, int, int]
"""A name of PyTorch's, ranks, stages of each rank, microbatches."""

MODEST: list[Case] = [
    ("GPipe", 4, 1, 8),
    ("1F1B", 4, 1, 8),
    ("LoopedBFS", 2, 2, 4),
    ("Interleaved1F1B", 4, 2, 8),
    ("Interleaved1F1B", 2, 4, 4),
    ("InterleavedZeroBubble", 4, 2, 8),
    ("InterleavedZeroBubble", 4, 1, 6),
    ("ZBVZeroBubble", 4, 2, 8),
    ("ZBVZeroBubble", 3, 2, 2),
    ("DualPipeV", 2, 2, 6),
    ("DualPipeV", 4, 2, 10),
]

NAMES = ["GPipe", "1F1B", "LoopedBFS", "Interleaved1F1B", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV"]


def every() -> Iterator[Case]:
    """A grid of cases. PyTorch refuses some of them."""
    for name, ranks, microbatches in itertools.product(NAMES, [1, 2, 3, 4, 6, 8], [1, 2, 3, 4, 8, 12, 16, 24]):
        chunks = {"GPipe": [1], "1F1B": [1], "ZBVZeroBubble": [2], "DualPipeV": [2]}.get(name, [1, 2, 3])
        yield from ((name, ranks, chunk, microbatches) for chunk in chunks)


def stages(rank: int, ranks: int, chunks: int) -> list[Any]:
    """Stand-ins for the stages of a rank."""
    return [
        types.SimpleNamespace(
            stage_index=chunk * ranks + rank,
            num_stages=ranks * chunks,
            group_size=ranks,
            group_rank=rank,
            is_last=chunk * ranks + rank == ranks * chunks - 1,
            submod=torch.nn.Identity(),
        )
        for chunk in range(chunks)
    ]


def runtime(case: Case) -> pp._PipelineScheduleRuntime:
    """The schedule as PyTorch makes it. Those of one stage per rank are lowered like the others."""
    name, ranks, chunks, microbatches = case
    made = pp.get_schedule_class(name)
    if not issubclass(made, pp.PipelineScheduleSingle):
        return made(stages(0, ranks, chunks), microbatches)
    single = types.SimpleNamespace(_num_stages=ranks, _n_microbatches=microbatches)
    reductions = (pp.REDUCE_GRAD, pp.WAIT_REDUCE_GRAD)
    order = {
        rank: [action for action in actions if action is None or action.computation_type not in reductions]
        for rank, actions in made._get_pipeline_order(single).items()
    }
    lowered = pp._PipelineScheduleRuntime(stages(0, ranks, chunks), microbatches)
    lowered.pipeline_order = order
    lowered.pipeline_order_with_comms = {}
    try:
        lowered._prepare_schedule_with_comms(order)
    except AssertionError as error:
        print(f"{slug(case)}: not lowered: {str(error).splitlines()[0]}")
    return lowered


def slug(case: Case) -> str:
    """The name of a case's files."""
    name, ranks, chunks, microbatches = case
    return f"{name.lower()}-{ranks}x{chunks}-{microbatches}"


def write(path: pathlib.Path, rows: dict[int, list[Any]]) -> None:
    """Writes rows as PyTorch's own `_dump_csv` does."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows[rank] for rank in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for case in every() if options.every else MODEST:
        try:
            schedule = runtime(case)
        except (ValueError, AssertionError, KeyError, IndexError) as error:
            print(f"{slug(case)}: refused: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        write(options.folder / f"{slug(case)}.csv", schedule.pipeline_order)
        if schedule.pipeline_order_with_comms:
            write(options.folder / f"{slug(case)}.comms.csv", schedule.pipeline_order_with_comms)


if __name__ == "__main__":
    main()
