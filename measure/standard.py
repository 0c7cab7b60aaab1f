"""The standard set: every schedule of a folder, two sizes of the model, several runs of each."""

import pathlib
import sys
import time

import schedule as schedules
from run import Bench, Refused
from transformer import Sizes

LAYERS = 8
"""Blocks of the model, whatever the number of stages: all schedules compute the same. With more than half as many
devices, there are two for each device."""

SIZES = {
    "cpu": {
        "small": {"hidden": 128, "heads": 8, "sequence": 128, "microbatch_size": 2, "dtype": "float32"},
        "large": {"hidden": 256, "heads": 8, "sequence": 256, "microbatch_size": 1, "dtype": "float32"},
    },
    "cuda": {
        "small": {"hidden": 2048, "heads": 16, "sequence": 1024, "microbatch_size": 2, "dtype": "bfloat16"},
        "large": {"hidden": 4096, "heads": 32, "sequence": 1024, "microbatch_size": 2, "dtype": "bfloat16"},
    },
}
"""Sequences are at least four times as long as a head is wide: what W needs is then less than what F keeps."""

ITERATIONS = {"cpu": (1, 2), "cuda": (2, 3)}
"""Of the warm-up, and written."""


def measure(bench: Bench, given, save) -> None:
    """Measures the set. Runs of one schedule are as far apart in time as can be, so that a slow spell shows."""
    begun = time.monotonic()
    kind = bench.machine.kind
    warmup, iterations = ITERATIONS[kind]
    warmup = warmup if given.warmup is None else given.warmup
    iterations = iterations if given.iterations is None else given.iterations
    files = sorted(given.standard_set.glob(f"{given.only}.json"))
    if not files:
        raise schedules.ScheduleError(f"{given.standard_set}: no schedule files")
    sizes_of_kind = {size: options for size, options in SIZES[kind].items() if given.size in (None, size)}
    for size, options in sizes_of_kind.items():
        for run in range(1, given.runs + 1):
            for file in files:
                schedule = schedules.read(file)
                layers = cut(file, schedule)
                sizes = Sizes(layers, **options, seed=given.seed)
                path = given.output / kind / f"{file.stem}-{size}-{run}.json"
                try:
                    done = bench.run(schedule, sizes, warmup, iterations)
                except Refused as error:
                    # The others are worth having; the command fails in the end.
                    bench.complete = False
                    print(f"{path.name}: {error}", file=sys.stderr, flush=True)
                    continue
                print(save(bench, given, schedule, sizes, done, path), flush=True)
    print(f"{given.runs * len(files) * len(sizes_of_kind)} runs in {time.monotonic() - begun:.0f} s")


def cut(file: pathlib.Path, schedule: schedules.Schedule) -> tuple[int, ...]:
    """The blocks of every stage."""
    blocks = max(LAYERS, 2 * len(schedule.orders))
    if blocks % schedule.stages != 0:
        raise schedules.ScheduleError(f"{file}: {blocks} blocks are not cut evenly into {schedule.stages} stages")
    return (blocks // schedule.stages,) * schedule.stages
