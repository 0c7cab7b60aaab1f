"""One run: a schedule as a real pipeline, checked against autograd, and what was measured of it."""

import contextlib
import dataclasses
import gc
from dataclasses import dataclass

from iteration import Iteration
from schedule import Schedule, start_order
from transformer import TOLERANCE, Reference, Sizes, Transformer


class Refused(Exception):
    """Why a run gives no trace."""


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    error: float
    """The largest relative error of a gradient in any iteration."""
    iterations: list[Iteration]
    """All but the warm-up."""
    remarks: list[str]
    """What else the executor has to say."""


@contextlib.contextmanager
def without_collection():
    """Python looks for garbage beforehand, not while devices or the host are timed; forked devices inherit that."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Bench:
    """Runs schedules on a machine. Models and their reference gradients are made once and kept for further runs."""

    def __init__(self, machine, tolerance: float | None = None, optimizer: str | None = None) -> None:
        """A `tolerance` takes the place of the one that `TOLERANCE` gives for the dtype.

        With an `optimizer`, a step of it for every stage ends an iteration.
        """
        self.machine = machine
        self.tolerance = tolerance
        self.optimizer = optimizer
        self.complete = True
        """Whether no trace lacks anything."""
        self.models: dict[object, tuple[Transformer, Reference]] = {}

    def model(self, sizes: Sizes, schedule: Schedule) -> tuple[Transformer, Reference]:
        """The model cut into the stages of the schedule, and the gradients it must get."""
        homes = self.machine.homes(sizes, schedule)
        key = (dataclasses.replace(sizes, layers=(len(homes),)), schedule.microbatches, tuple(homes))
        if key not in self.models:
            # Only one is kept: those of large models would not fit beside each other.
            self.models.clear()
            model = Transformer(sizes, schedule.microbatches, self.machine.allocate, homes)
            self.models[key] = model, self.machine.reference(model)
        model, reference = self.models[key]
        return model.cut(sizes), reference

    def run(self, schedule: Schedule, sizes: Sizes, warmup: int, count: int) -> Run:
        """Runs all iterations, checks the gradients of every one, and keeps those after the warm-up: all of them."""
        if len(sizes.layers) != schedule.stages:
            raise Refused(f"{len(sizes.layers)} numbers of layers were given for {schedule.stages} stages")
        start_order(schedule)
        model, reference = self.model(sizes, schedule)
        tolerance = TOLERANCE[sizes.dtype] if self.tolerance is None else self.tolerance
        worst, kept = 0.0, []
        with without_collection(), self.machine.executor(schedule, model, self.optimizer) as executor:
            for number in range(warmup + count):
                model.begin()
                iteration = executor.iterate()
                worst = max(worst, model.error(reference))
                if not worst <= tolerance:
                    raise Refused(
                        f"the gradients are wrong: relative error {worst:.1e}, at most {tolerance:.0e} is taken for "
                        f"rounding in {sizes.dtype}"
                    )
                if number >= warmup:
                    kept.append(iteration)
            return Run(worst, kept, executor.remarks)
