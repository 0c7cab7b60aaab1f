"""Runs a schedule as a real pipeline and writes what it measures of it as a trace.

    python3 measure.py SCHEDULE.json -o TRACE.json [options]
    python3 measure.py --standard-set FOLDER -o FOLDER [options]

README.md beside this file says what is measured, and how. Ends with status 1 when a run gives no trace, and with 2
when the options or the schedule are wrong.
"""

import argparse
import pathlib
import sys

import torch

import cpu
import gpu
import schedule as schedules
import standard
import tracefile
from green import Unavailable
from run import Bench, Refused, Run
from transformer import DTYPES, Sizes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="measure.py", description=__doc__.splitlines()[0])
    parser.add_argument("schedule", type=pathlib.Path, nargs="?", help="a schedule file (bubbleproof-schedule-1)")
    parser.add_argument("--standard-set", type=pathlib.Path, metavar="FOLDER", help="run every schedule of a folder")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the trace, or their folder")
    parser.add_argument("--layers", default="2", help="blocks of every stage: a number, or one for each, as in 3,2,2,1")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=256)
    parser.add_argument("--microbatch-size", type=int, default=1)
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--warmup", type=int, default=None, help="iterations before those that are written")
    parser.add_argument("--iterations", type=int, default=None, help="iterations that are written, all of them")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="files of the standard set, as in '*-d4-*'")
    parser.add_argument("--runs", type=int, default=3, help="runs of each schedule and size of the standard set")
    parser.add_argument(
        "--devices-from",
        choices=["auto", "gpus", "green-contexts", "streams", "processes", "threads"],
        default="auto",
        help="what a pipeline device is",
    )
    parser.add_argument("--kind", choices=["auto", "cpu", "cuda"], default="auto", help="what must be at hand")
    parser.add_argument("--threads", type=int, default=1, help="threads of each device, on a CPU")
    parser.add_argument("--time-limit", type=float, default=120.0, metavar="S", help="seconds an iteration may take")
    parser.add_argument("--tolerance", type=float, help="the relative error of a gradient that is taken for rounding")
    parser.add_argument("--machine-name", help="what to call the machine: its kind, not the name of a host")
    given = parser.parse_args()
    if (given.schedule is None) == (given.standard_set is None):
        parser.error("give either a schedule or --standard-set")
    return given


def machine_of(given: argparse.Namespace):
    """The machine at hand, with what stands for a pipeline device."""
    on_cpu = given.devices_from in ("processes", "threads")
    has_gpu = torch.cuda.is_available()
    if given.kind == "cuda" and (on_cpu or not has_gpu):
        raise Refused("no GPU is at hand" if not has_gpu else f"{given.devices_from} are devices of a CPU")
    if on_cpu or given.kind == "cpu" or (given.devices_from == "auto" and not has_gpu):
        if given.devices_from not in ("auto", "processes", "threads"):
            raise Refused(f"{given.devices_from} are devices of a GPU")
        kind = "processes" if given.devices_from == "auto" else given.devices_from
        return cpu.Machine(kind, given.threads, given.time_limit)
    if not has_gpu:
        raise Refused(f"{given.devices_from} need a GPU, and none is at hand")
    return gpu.Machine(given.devices_from, given.time_limit)


def layers_of(text: str, stages: int) -> tuple[int, ...]:
    """The option `--layers` for a number of stages."""
    try:
        counts = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise Refused(f"--layers {text}: not a number, nor numbers with commas between them") from error
    return counts * stages if len(counts) == 1 else counts


def one(bench: Bench, given: argparse.Namespace) -> None:
    """One schedule."""
    schedule = schedules.read(given.schedule)
    try:
        layers = layers_of(given.layers, schedule.stages)
        sizes = Sizes(layers, given.hidden, given.heads, given.sequence, given.microbatch_size, given.dtype, given.seed)
    except ValueError as error:
        raise Refused(str(error)) from error
    warmup = 2 if given.warmup is None else given.warmup
    run = bench.run(schedule, sizes, warmup, 5 if given.iterations is None else given.iterations)
    print(save(bench, given, schedule, sizes, run, given.output))


def save(bench: Bench, given, schedule: schedules.Schedule, sizes: Sizes, run: Run, path: pathlib.Path) -> str:
    """Writes a trace, and says in a line what it holds. One without memory makes the command fail in the end."""
    bench.complete = bench.complete and run.iterations[0].memory is not None
    made = bench.machine.describe(len(schedule.orders))
    described = tracefile.machine(given.machine_name, made)
    content = tracefile.text(bench.machine.kind, described, sizes, schedule, run.error, run.iterations)
    tracefile.write(path, content)
    spans = " ".join(f"{iteration.makespan / 1e6:.1f}" for iteration in run.iterations)
    peaks = "no memory" if run.iterations[0].memory is None else peak_text(run)
    return (
        f"{path.name}: {made['devices']}, makespan {spans} ms, peak {peaks}, "
        f"gradient error {run.error:.1e}, {len(content) / 1e3:.0f} kB"
        + "".join(f"\n  {remark}" for remark in run.remarks)
    )


def peak_text(run: Run) -> str:
    peaks = [max(size for _, size in held) for held in run.iterations[0].memory]
    return " ".join(f"{peak / 1e6:.1f}" for peak in peaks) + " MB"


def main() -> None:
    given = arguments()
    try:
        bench = Bench(machine_of(given), given.tolerance)
        if given.standard_set is None:
            one(bench, given)
        else:
            standard.measure(bench, given, save)
        sys.exit(0 if bench.complete else 1)
    except schedules.ScheduleError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except (Refused, Unavailable, cpu.TimedOut) as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
