"""Converts the operation tables that ByteDance published (StragglerAnalysis, OSDI '25) to trace files.

    python3 measure/published/bytedance.py trace-ST.parquet -o st

writes a file for each data-parallel rank, `st-dp0.json` and so on; every step in the table is an iteration. It needs
pyarrow for Parquet; a CSV with the same columns needs nothing.

A row is an operation: dp_rank, stage, step, optype, start_ts and duration in seconds, seq_id (its place among the
operations of its type), mb_id (the microbatch of a pass) and mc (the chunk of the stage). All ranks have one clock.
"""

import argparse
import csv
import pathlib
import sys
from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from tracefile import Iteration, schedule_text, text, write

COLUMNS = ("dp_rank", "stage", "step", "optype", "start_ts", "duration", "seq_id", "mb_id")
PASSES = {"forward-compute": "F", "backward-compute": "B"}
TRANSFERS = {"forward-send": ("F", True), "forward-recv": ("F", False), "backward-send": ("B", True), "backward-recv": ("B", False)}
STEP = {
    "params-all-gather": "gather",
    "layernorm-grads-all-reduce": "tensor",
    "embedding-grads-all-reduce": "embedding",
    "grads-reduce-scatter": "reduce",
    "optimizer-clip-main-grad": "norm",
    "optimizer": "optimizer",
}
LEFT_OUT = ("gc",)  # takes no time


class TableError(Exception):
    """Why a table is no run of a pipeline."""


@dataclass(frozen=True)
class Operation:
    stage: int
    kind: str
    place: int  # among those of its type
    microbatch: int
    start: int  # nanoseconds
    end: int


def nanoseconds(seconds) -> int:
    """Seconds as written, or as the shortest decimal of a float, in nanoseconds."""
    return int((Decimal(str(seconds)) * 10**9).to_integral_value(ROUND_HALF_UP))


def operation(row: dict, number: int) -> Operation:
    try:
        start, duration = nanoseconds(row["start_ts"]), nanoseconds(row["duration"])
        stage, place, microbatch = (int(row[key]) for key in ("stage", "seq_id", "mb_id"))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise TableError(f"row {number}: a number is missing or is none: {error}") from error
    kind = str(row["optype"])
    if kind not in PASSES and kind not in TRANSFERS and kind not in STEP and kind not in LEFT_OUT:
        raise TableError(f"row {number}: `{kind}` is no operation of these tables")
    if start < 0 or duration < 0:
        raise TableError(f"row {number}: `{kind}` starts at {start} ns and takes {duration} ns: neither may be negative")
    if int(row.get("mc") or 0) > 0:  # -1 where it is no pass
        raise TableError(f"row {number}: chunk {row['mc']} of a stage: only one chunk for each stage is known here")
    return Operation(stage, kind, place, microbatch, start, start + duration)


def by_replica(rows: list[dict]) -> dict[int, dict[int, list[Operation]]]:
    """The operations by data-parallel rank and step."""
    found: dict[int, dict[int, list[Operation]]] = {}
    for number, row in enumerate(rows, 1):
        missing = [name for name in COLUMNS if name not in row]
        if missing:
            raise TableError(f"this is no table of operations: it has no column `{missing[0]}`")
        one = operation(row, number)
        found.setdefault(int(row["dp_rank"]), {}).setdefault(int(row["step"]), []).append(one)
    if not found:
        raise TableError("the table has no rows")
    return found


def passes_of(operations: list[Operation], stages: int, microbatches: int) -> list[list[Operation]]:
    """By stage its passes, in the order in which they started. Each must be there once."""
    rows: list[list[Operation]] = [[] for _ in range(stages)]
    for one in operations:
        if one.kind in PASSES:
            rows[one.stage].append(one)
    for stage, row in enumerate(rows):
        there = Counter((PASSES[one.kind], one.microbatch) for one in row)
        for kind in "FB":
            for microbatch in range(microbatches):
                times = there[kind, microbatch]
                if times != 1:
                    raise TableError(f"stage {stage}: {kind} of microbatch {microbatch} is there {times} times")
        row.sort(key=lambda one: (one.start, one.end))
    return rows


def messages_of(operations: list[Operation], rows: list[list[Operation]]) -> tuple[list, int]:
    """The messages, and how many transfers have no other end.

    The k-th send of a stage is of its k-th pass of that direction, and meets the k-th receive of the neighbour. Each
    end waits for the other, so that the message is under way from when both were there until the receive is done.
    """
    ends = {(one.stage, one.kind, one.place): one for one in operations if one.kind in TRANSFERS}
    if len(ends) != sum(one.kind in TRANSFERS for one in operations):
        raise TableError("two transfers of a stage have the same type and `seq_id`")
    messages, alone = [], 0
    for (stage, kind, place), sent in sorted(ends.items()):
        letter, sends = TRANSFERS[kind]
        if not sends:
            continue
        to = stage + (1 if letter == "F" else -1)
        received = ends.pop((to, kind.replace("send", "recv"), place), None)
        made = [one for one in rows[stage] if PASSES[one.kind] == letter]
        if received is None or place >= len(made):
            alone += 1
            continue
        start = max(sent.start, received.start)
        messages.append((f"{stage}{letter}{made[place].microbatch}", to, start, max(start, received.end)))
    alone += sum(not TRANSFERS[kind][1] for _, kind, _ in ends)
    messages.sort(key=lambda message: (message[2], message[0]))
    return messages, alone


def step_of(operations: list[Operation]) -> list[tuple[str, int, int, int]]:
    parts = [(STEP[one.kind], one.stage, one.start, one.end) for one in operations if one.kind in STEP]
    return sorted(parts, key=lambda part: (part[2], part[1], part[0]))


def convert(steps: dict[int, list[Operation]], machine: dict, name: str) -> tuple[str, list[str]]:
    """The text of the trace of one replica, and what is to be said about it."""
    every = [one for operations in steps.values() for one in operations]
    passes = [one for one in every if one.kind in PASSES]
    if not passes:
        raise TableError("there are no passes: no `forward-compute` and no `backward-compute`")
    stages = 1 + max(one.stage for one in every)
    microbatches = 1 + max(one.microbatch for one in passes)
    iterations, orders, notes = [], None, Counter()
    for step, operations in sorted(steps.items()):
        try:
            rows = passes_of(operations, stages, microbatches)
            messages, alone = messages_of(operations, rows)
        except TableError as error:
            raise TableError(f"step {step}: {error}") from error
        named = [[(f"{one.stage}{PASSES[one.kind]}{one.microbatch}", one.start, one.end) for one in row] for row in rows]
        orders = orders or [[one for one, _, _ in row] for row in named]
        iterations.append(Iteration(named, messages, step_of(operations)))
        notes["transfers without their other end"] += alone
        notes.update(f"operations `{one.kind}`" for one in operations if one.kind in LEFT_OUT)
    schedule = schedule_text(name, [[stage] for stage in range(stages)], microbatches, orders)
    said = [f"{count} {what} left out" for what, count in sorted(notes.items()) if count]
    return text("gpu", machine, schedule, iterations), said


def read(path: pathlib.Path) -> list[dict]:
    if path.suffix == ".csv":
        with path.open(newline="") as lines:
            return list(csv.DictReader(line for line in lines if not line.startswith("#")))
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise TableError("reading Parquet needs pyarrow: `pip install pyarrow`") from error
    try:
        return pyarrow.parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise TableError(f"this is not Parquet: {error}") from error


def main() -> int:
    parser = argparse.ArgumentParser(description="operation tables of ByteDance's StragglerAnalysis to trace files")
    parser.add_argument("table", type=pathlib.Path, help="trace-ST.parquet, or a CSV with the same columns")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the files become OUTPUT-dp0.json and so on")
    parser.add_argument("--steps", default="", help="only these steps, such as 23,25")
    parser.add_argument("--schedule-name", default="1f1b", help="what the schedule is called")
    parser.add_argument("--machine", default="a cluster of ByteDance, GPU not named", help="what kind of machine")
    args = parser.parse_args()
    try:
        replicas = by_replica(read(args.table))
        wanted = {int(step) for step in args.steps.split(",") if step}
        for rank, steps in sorted(replicas.items()):
            absent = wanted - steps.keys()
            if absent:
                raise TableError(f"data-parallel rank {rank} has no step {min(absent)}")
            kept = {step: steps[step] for step in wanted or steps}
            content, notes = convert(kept, {"name": args.machine, "devices": "gpus"}, args.schedule_name)
            path = args.output.with_name(f"{args.output.name}-dp{rank}.json")
            write(path, content)
            print(f"wrote {path}: steps {', '.join(map(str, sorted(kept)))}")
            for note in notes:
                print(f"note: {note}", file=sys.stderr)
    except (OSError, TableError, ValueError) as error:
        print(f"error: {args.table}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
