"""Runs a schedule as a real pipeline and writes what it measures of it as a trace.

    python3 measure.py SCHEDULE.json -o TRACE.json [options]
    python3 measure.py --standard-set FOLDER -o FOLDER [options]

README.md beside this file says what is measured, and how. Ends with status 1 when a run gives no trace, and with 2
when the options or the schedule are wrong.
"""

import argparse
import math
import pathlib
import sys
from collections.abc import Callable

import torch

import cpu
import gpu
import schedule as schedules
import standard
import tracefile
from green import Unavailable
from iteration import Iteration
from run import Bench, Refused, Run
from transformer import DTYPES, OPTIMIZERS, Sizes


class WrongOptions(Exception):
    """Why options do not fit each other or the schedule."""


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """The type of an option that takes whole numbers in a range."""
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"`{text}` is not {wanted}") from error
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"`{text}` is not {wanted}")
        return value

    return parse


def layers(text: str) -> tuple[int, ...]:
    """The type of `--layers`."""
    return tuple(map(whole(1), text.split(",")))


def positive(text: str) -> float:
    """The type of an option that takes numbers above zero."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number above 0")
    return value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="measure.py", description=__doc__.splitlines()[0])
    parser.add_argument("schedule", type=pathlib.Path, nargs="?", help="a schedule file (bubbleproof-schedule-1)")
    parser.add_argument("--standard-set", type=pathlib.Path, metavar="FOLDER", help="run every schedule of a folder")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="the trace, or their folder")
    parser.add_argument(
        "--layers", type=layers, default=(2,), help="blocks of every stage: a number, or one for each, as in 3,2,2,1"
    )
    parser.add_argument("--hidden", type=whole(1), default=256)
    parser.add_argument("--heads", type=whole(1), default=8)
    parser.add_argument("--sequence", type=whole(1), default=256)
    parser.add_argument("--microbatch-size", type=whole(1), default=1)
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    parser.add_argument("--seed", type=whole(0, 2**64 - 1), default=0)
    parser.add_argument("--warmup", type=whole(0), default=None, help="iterations before those that are written")
    parser.add_argument("--iterations", type=whole(1), default=None, help="iterations that are written, all of them")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="files of the standard set, as in '*-d4-*'")
    parser.add_argument("--size", choices=["small", "large"], help="of the standard set (default: both)")
    parser.add_argument("--runs", type=whole(1), default=3, help="runs of each schedule and size of the standard set")
    parser.add_argument(
        "--devices-from",
        choices=["auto", "gpus", "green-contexts", "streams", "processes", "threads"],
        default="auto",
        help="what a pipeline device is",
    )
    parser.add_argument("--kind", choices=["auto", "cpu", "cuda"], default="auto", help="what must be at hand")
    parser.add_argument("--threads", type=whole(1), default=1, help="threads of each device, on a CPU")
    parser.add_argument("--time-limit", type=positive, default=120.0, metavar="S", help="seconds an iteration may take")
    parser.add_argument(
        "--tolerance", type=positive, help="the relative error of a gradient that is taken for rounding"
    )
    parser.add_argument(
        "--optimizer",
        choices=["none", *sorted(OPTIMIZERS)],
        help="end every iteration with a step of it for each stage (default: none; adamw for the standard set)",
    )
    parser.add_argument(
        "--replicas", type=whole(1), default=1, help="run so many pipelines on different data, and reduce gradients"
    )
    parser.add_argument(
        "--shard-optimizer",
        action="store_true",
        help="each replica updates its share of the weights, which are gathered before the next iteration (ZeRO-1)",
    )
    parser.add_argument("--machine-name", help="what to call the machine: its kind, not the name of a host")
    given = parser.parse_args()
    if (given.schedule is None) == (given.standard_set is None):
        parser.error("give either a schedule or --standard-set")
    if given.optimizer is None:
        given.optimizer = "adamw" if given.standard_set else "none"
    if given.shard_optimizer and (given.replicas == 1 or given.optimizer == "none"):
        parser.error("--shard-optimizer needs --optimizer, and --replicas of at least 2")
    return given


def machine_of(given: argparse.Namespace):
    """The machine at hand, with what stands for a pipeline device."""
    of_cpu = given.devices_from in ("processes", "threads")
    of_gpu = not of_cpu and given.devices_from != "auto"
    if given.kind == "cuda" and of_cpu:
        raise WrongOptions(f"{given.devices_from} are devices of a CPU")
    if given.kind == "cpu" and of_gpu:
        raise WrongOptions(f"{given.devices_from} are devices of a GPU")
    wants_gpu = given.kind == "cuda" or of_gpu
    if wants_gpu and not torch.cuda.is_available():
        raise Refused(f"no GPU is at hand: {why_no_gpu()}")
    if wants_gpu or (given.kind == "auto" and not of_cpu and torch.cuda.is_available()):
        return gpu.Machine(given.devices_from, given.time_limit)
    kind = "processes" if given.devices_from == "auto" else given.devices_from
    return cpu.Machine(kind, given.threads, given.time_limit)


def why_no_gpu() -> str:
    """What PyTorch says when it is made to look for a GPU: there may be one, and the driver too old for it."""
    try:
        torch.cuda.init()
    except (AssertionError, RuntimeError) as error:
        return " ".join(str(error).split())
    return "PyTorch finds none"


def one(bench: Bench, given: argparse.Namespace) -> None:
    """One schedule."""
    schedule = schedules.read(given.schedule)
    blocks = given.layers * schedule.stages if len(given.layers) == 1 else given.layers
    if len(blocks) != schedule.stages:
        raise WrongOptions(f"--layers has {len(blocks)} numbers, and the schedule {schedule.stages} stages")
    if given.hidden % given.heads != 0:
        raise WrongOptions(f"{given.heads} heads do not divide the hidden size {given.hidden}")
    sizes = Sizes(blocks, given.hidden, given.heads, given.sequence, given.microbatch_size, given.dtype, given.seed)
    warmup = 2 if given.warmup is None else given.warmup
    run = bench.run(schedule, sizes, warmup, 5 if given.iterations is None else given.iterations)
    print(save(bench, given, schedule, sizes, run, given.output))


def save(bench: Bench, given, schedule: schedules.Schedule, sizes: Sizes, run: Run, path: pathlib.Path) -> str:
    """Writes the traces, and says in a line what each holds. One without memory makes the command fail in the end."""
    said = []
    for rank, iterations in enumerate(run.replicas):
        bench.complete = bench.complete and iterations[0].memory is not None
        made = bench.machine.describe(len(schedule.orders), bench.replicas, rank)
        described = tracefile.machine(given.machine_name, made)
        content = tracefile.text(bench.machine.kind, described, sizes, schedule, run.error, iterations)
        one = path if bench.replicas == 1 else path.with_name(f"{path.stem}-dp{rank}{path.suffix}")
        tracefile.write(one, content)
        spans = " ".join(f"{iteration.makespan / 1e6:.1f}" for iteration in iterations)
        peaks = "no memory" if iterations[0].memory is None else peak_text(iterations[0])
        said.append(
            f"{one.name}: {made['devices']}, makespan {spans} ms, peak {peaks}, "
            f"gradient error {run.error:.1e}, {len(content) / 1e3:.0f} kB"
        )
    return "\n  ".join(["\n".join(said), *run.remarks])


def peak_text(iteration: Iteration) -> str:
    peaks = [max(size for _, size in held) for held in iteration.memory]
    return " ".join(f"{peak / 1e6:.1f}" for peak in peaks) + " MB"


def main() -> None:
    given = arguments()
    try:
        optimizer = None if given.optimizer == "none" else given.optimizer
        bench = Bench(machine_of(given), given.tolerance, optimizer, given.replicas, given.shard_optimizer)
        if given.standard_set is None:
            one(bench, given)
        else:
            standard.measure(bench, given, save)
        sys.exit(0 if bench.complete else 1)
    except (schedules.ScheduleError, WrongOptions) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except (Refused, Unavailable, cpu.TimedOut) as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
