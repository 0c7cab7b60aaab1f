"""Searches: `optimize` and `plan`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from . import _native
from ._errors import InputError
from ._model import Model
from ._progress import watching
from ._replay import Replay
from ._schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from ._files import StrPath
    from ._job import Job
    from ._model import Limit
    from ._progress import Watch

    Objective: TypeAlias = Literal["makespan", "span"]


@dataclass(frozen=True)
class Settings:
    """How to search, as the extension module reads it."""

    objective: Objective
    time_limit: float | None
    seed: int
    threads: int | None

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise InputError(f"threads must be at least 1, but is {self.threads!r}", field="threads")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, but is {self.seed!r}", field="seed")


@dataclass(frozen=True)
class Solution:
    """A schedule that a search found, replayed, with a lower bound on all others."""

    model: Model
    """The model, with the limits under which was searched."""
    schedule: Schedule
    """The schedule, with a certificate of all this."""
    replay: Replay = field(repr=False)
    """What it does."""
    objective: Objective
    """What was minimised."""
    value: int
    """Its value, in ticks."""
    lower_bound: int
    """No schedule within the limits is below this, in ticks."""
    proof: str | None
    """What proves that no schedule is better: ``"bound"``, an exhaustive search, or nothing."""
    engine: str
    """What found the schedule."""
    is_cut_short: bool
    """Whether the search was ended by its time limit or by Ctrl-C."""

    @classmethod
    def _of(cls, native: _native.NativeSolution, model: Model) -> Solution:
        schedule = Schedule._of(native.schedule)
        return cls(
            model=model,
            schedule=schedule,
            replay=Replay(native.replayed, model, schedule),
            objective="span" if native.objective == "span" else "makespan",
            value=native.value,
            lower_bound=native.lower_bound,
            proof=native.proof,
            engine=native.engine,
            is_cut_short=native.is_cut_short,
        )

    @property
    def makespan(self) -> int:
        """The makespan of the schedule, in ticks."""
        return self.replay.makespan

    @property
    def gap(self) -> Fraction:
        """How much longer the schedule is than the best that is not excluded, as a share of that."""
        least = max(self.lower_bound, 1)
        return Fraction(self.value - self.lower_bound, least)

    @property
    def is_optimal(self) -> bool:
        """Whether it is proved that no schedule is better."""
        return self.proof is not None

    def _repr_svg_(self) -> str | None:
        return self.replay._repr_svg_()

    def _repr_html_(self) -> str | None:
        return self.replay._repr_html_()


def optimize(
    model: Model,
    *,
    memory: Limit | None = None,
    objective: Objective = "makespan",
    time_limit: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    known: Iterable[Schedule] = (),
    progress: Watch = None,
) -> Solution:
    """The shortest schedule that can be found under the memory limits of a model, with how far it is from the optimum.

    Other threads of Python run meanwhile. Ctrl-C ends the search and keeps the best: ``is_cut_short`` is then true. Without a
    ``time_limit`` the same arguments give the same answer.

    Args:
        model: What is to be scheduled.
        memory: A limit for every device in place of the model's, as for :meth:`Model.resized`.
        objective: What to minimise: ``"makespan"``, or the device ``"span"``.
        time_limit: How many seconds to search while a gap is open. By default as long as the usual effort takes, and at most 60.
        seed: Decides between choices that nothing else decides.
        threads: How many threads search; by default as many as there are processors.
        known: Schedules to start from; the result is not worse than those that are valid.
        progress: ``True`` for a line on standard error, or a function that is called with every :class:`Progress`. If it raises an
            exception, that ends the search.

    Raises:
        InfeasibleError: if no schedule keeps to the limits.
        InputError: if an argument is wrong.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=4, microbatches=8, placement="v", forward=1, backward_input=1, backward_weight=1,
        ...                  activation=1, retained_for_weight=1)
        >>> solution = bp.optimize(model, memory="75%")
        >>> solution.makespan, solution.lower_bound, max(solution.replay.peak_memory)
        (53, 53, 6)
    """
    if memory is not None:
        model = model.resized(memory=memory)
    settings = Settings(objective, time_limit, seed, threads)
    given = [schedule._native for schedule in known]
    with watching(progress, model.time_unit) as watch:
        native = _native.optimize_model(model._native, settings, given, watch)
    return Solution._of(native, model)


@dataclass(frozen=True)
class Alternative:
    """A choice that a job leaves open, and what has become of it."""

    name: str
    """Its name, such as ``"p8 t1 d1 b1 v"``."""
    pipeline: int
    """Pipeline-parallel degree."""
    tensor: int
    """Tensor-parallel degree."""
    data: int
    """Data-parallel degree."""
    microbatch_size: int
    """Samples in a microbatch."""
    microbatches: int
    """Microbatches of a training step."""
    placement: str
    """Placement of the stages."""
    recompute: bool
    """Whether passes may be recomputed."""
    offload: bool
    """Whether activations may be offloaded."""
    status: str
    """``"planned"``, ``"dropped"`` by its bound, ``"does-not-fit"``, ``"none-found"`` or ``"not-reached"``."""
    reason: str | None
    """Why it does not fit."""
    lower_bound: int | None
    """No plan with this choice is shorter, or none is shorter than the best plan; in ticks."""
    cut: tuple[int, ...] | None = None
    """How many layers each stage has."""
    makespan: int | None = None
    """The time of a training step, in ticks."""
    peak_memory: int | None = None
    """The most that a device holds, in units of memory."""
    samples_per_second: Fraction | None = None
    """Samples per second."""
    utilisation: Fraction | None = None
    """The share of the peak speed that the machine computes, where the job says what layers compute."""

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Alternative:
        exact = dict(values)
        if "cut" in values:
            exact["cut"] = tuple(values["cut"])
        for name in ("samples_per_second", "utilisation"):
            if values.get(name) is not None:
                exact[name] = Fraction(*values[name])
        return cls(**exact)


@dataclass(frozen=True)
class Plan:
    """The best plan of a job, and all that it was compared with."""

    job: Job
    """The job."""
    alternatives: tuple[Alternative, ...] = field(repr=False)
    """Every choice, the best plan first."""
    lower_bound: int
    """No plan of any choice, cut and schedule is shorter, in ticks."""
    model: Model | None
    """The model of the best plan's cut; nothing where no plan was found, as for what follows."""
    schedule: Schedule | None
    """Its schedule, with a certificate of all this."""
    from_store: tuple[int, int] | None
    """How many results came from the store, and how many were computed."""
    is_cut_short: bool
    """Whether the search was ended by its time limit or by Ctrl-C."""
    is_interrupted: bool
    """Whether it was Ctrl-C."""

    @property
    def best(self) -> Alternative | None:
        """The choice of the best plan."""
        first = self.alternatives[0] if self.alternatives else None
        return first if first is not None and first.status == "planned" else None

    @property
    def makespan(self) -> int | None:
        """The time of a training step with the best plan, in ticks."""
        return None if self.best is None else self.best.makespan

    @property
    def gap(self) -> Fraction | None:
        """How much longer it is than the best that is not excluded, as a share of that."""
        if self.makespan is None:
            return None
        return Fraction(self.makespan - self.lower_bound, max(self.lower_bound, 1))

    @property
    def replay(self) -> Replay | None:
        """What the schedule of the best plan does."""
        from ._replay import replay

        return None if self.schedule is None or self.model is None else replay(self.schedule, self.model)

    def _repr_svg_(self) -> str | None:
        return None if self.replay is None else self.replay._repr_svg_()

    def _repr_html_(self) -> str | None:
        return None if self.replay is None else self.replay._repr_html_()


def plan(
    job: Job,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    store: StrPath | None = None,
    shard: tuple[int, int] | None = None,
    progress: Watch = None,
) -> Plan:
    """The best plan of a job: parallel degrees, placement, cut of the layers into stages, and schedule.

    Args:
        job: Layers, machine, and what may be chosen.
        time_limit: How many seconds to search; by default as long as the usual effort takes, and at most 60.
        seed: Decides between choices that nothing else decides.
        threads: How many threads search.
        store: A file that keeps results, so that none is computed twice, by any process. What it says is checked.
        shard: ``(index, count)``, from 1: looks at this part of the choices only, to fill a store.
        progress: As for :func:`optimize`.

    Raises:
        InfeasibleError: if no plan fits.
        InputError: if an argument is wrong, or the store is not one.
    """
    return planned(job, Settings("makespan", time_limit, seed, threads), store, None, shard, progress)


def planned(
    job: Job,
    settings: Settings,
    store: StrPath | None,
    known: StrPath | None,
    shard: tuple[int, int] | None,
    progress: Watch,
) -> Plan:
    """The best plan of a job. Results are kept in ``store``, and also looked up in ``known``, where it is a file."""
    with watching(progress, job.time_unit) as watch:
        native = _native.plan_job(job._native, settings, store, known, shard, watch)
    found, schedule = native.model, native.schedule
    return Plan(
        job=job,
        alternatives=tuple(map(Alternative._of, native.alternatives())),
        lower_bound=native.lower_bound,
        model=None if found is None else Model._found(found),
        schedule=None if schedule is None else Schedule._of(schedule),
        from_store=native.from_store,
        is_cut_short=native.is_cut_short,
        is_interrupted=native.is_interrupted,
    )
