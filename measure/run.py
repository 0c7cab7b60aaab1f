"""One run: a schedule as a real pipeline, checked against autograd, and what was measured of it."""

import contextlib
import dataclasses
import gc
from dataclasses import dataclass

from iteration import Iteration
from replicas import Replicas
from schedule import Schedule, start_order
from transformer import TOLERANCE, Reference, Sizes, Transformer, load


class Refused(Exception):
    """Why a run gives no trace."""


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    error: float
    """The largest relative error of a gradient in any iteration."""
    replicas: list[list[Iteration]]
    """For each replica all iterations but the warm-up."""
    remarks: list[str]
    """What else the executor has to say."""

    @property
    def iterations(self) -> list[Iteration]:
        """Those of the first replica, which is the only one unless more were asked for."""
        return self.replicas[0]


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

    def __init__(
        self,
        machine,
        tolerance: float | None = None,
        optimizer: str | None = None,
        replicas: int = 1,
        sharded: bool = False,
    ) -> None:
        """A `tolerance` takes the place of the one that `TOLERANCE` gives for the dtype.

        With an `optimizer`, a step of it for every stage ends an iteration. It is `sharded` over the replicas or not.
        """
        if optimizer:
            load(optimizer)
        self.machine = machine
        self.tolerance = tolerance
        self.optimizer = optimizer
        self.replicas = replicas
        self.sharded = sharded
        self.complete = True
        """Whether no trace lacks anything."""
        self.models: dict[object, tuple[Replicas, Reference]] = {}

    def model(self, sizes: Sizes, schedule: Schedule) -> tuple[Replicas, Reference]:
        """The models of all replicas cut into the stages of the schedule, and the gradients they must get."""
        homes = self.machine.homes(sizes, schedule, self.replicas)
        layers = (sum(sizes.layers),)
        key = (dataclasses.replace(sizes, layers=layers), schedule.microbatches, tuple(map(tuple, homes)))
        if key not in self.models:
            # Only one is kept: those of large models would not fit beside each other.
            self.models.clear()
            made: list[Transformer] = []
            for own in homes:
                first = made[0] if made else None
                made.append(Transformer(sizes, schedule.microbatches, self.machine.allocate, own, first))
            self.models[key] = Replicas(made, self.sharded), self.machine.reference(made)
        replicas, reference = self.models[key]
        return replicas.cut(sizes), reference

    def run(self, schedule: Schedule, sizes: Sizes, warmup: int, count: int) -> Run:
        """Runs all iterations, checks the gradients of every one, and keeps those after the warm-up: all of them."""
        if len(sizes.layers) != schedule.stages:
            raise Refused(f"{len(sizes.layers)} numbers of layers were given for {schedule.stages} stages")
        start_order(schedule)
        replicas, reference = self.model(sizes, schedule)
        tolerance = TOLERANCE[sizes.dtype] if self.tolerance is None else self.tolerance
        worst, kept = 0.0, []
        with without_collection(), self.machine.executor(schedule, replicas, self.optimizer) as executor:
            for number in range(warmup + count):
                replicas.begin()
                iterations = executor.iterate()
                worst = max(worst, replicas.error(reference, executor.norms))
                if not worst <= tolerance:
                    raise Refused(
                        f"the gradients are wrong: relative error {worst:.1e}, at most {tolerance:.0e} is taken for "
                        f"rounding in {sizes.dtype}"
                    )
                if number >= warmup:
                    kept.append(iterations)
            return Run(worst, [list(replica) for replica in zip(*kept, strict=True)], executor.remarks)
