"""Building blocks: one microbatch's passes with their offsets, repeated every interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from . import _files, _native
from ._errors import InfeasibleError, InputError, NoAnswerError
from ._model import Model
from ._pickles import FORM, check
from ._progress import watching
from ._schedule import Schedule
from ._solver import look_beside_python
from ._toml_file import TomlFile

if TYPE_CHECKING:
    from typing import TypeAlias

    from ._files import StrPath
    from ._model import Limit
    from ._native import NativeBlock, NativeFamily
    from ._progress import Watch

    Engine: TypeAlias = Literal["exact", "lcg", "smt", "milp", "search"]


class Block:
    """A building block under the durations of a model. :func:`bubbleproof.block` finds one, :meth:`Family.block` makes one.

    Example:
        >>> import bubbleproof as bp
        >>> block = bp.Family.shipped("v-min").block(devices=4)
        >>> block.interval, block.peak_memory, block.faults
        (Fraction(6, 1), (4, 4, 4, 4), ())
    """

    def __init__(self, native: NativeBlock, name: str) -> None:
        self._native = native
        self.name = name
        """What it is called."""

    @property
    def interval(self) -> Fraction:
        """The time of the steady phase per microbatch, in ticks."""
        return Fraction(*self._native.interval)

    @property
    def period(self) -> int:
        """How many microbatches an interval has."""
        return self._native.period

    @property
    def offsets(self) -> dict[str, Fraction]:
        """The offset of every pass, such as ``"3F0"``, in ticks."""
        return {name: Fraction(*offset) for name, offset in self._native.offsets}

    @property
    def peak_memory(self) -> tuple[int, ...]:
        """The most activation memory that each device holds in the steady phase, exactly."""
        return tuple(self._native.peak_memory)

    @property
    def lifespans(self) -> tuple[int, ...]:
        """How long an activation of each stage lives, in ticks."""
        return tuple(self._native.lifespans)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong: dependencies that are not met, and passes of a device that collide modulo the interval."""
        return tuple(self._native.faults)

    def schedule(self, microbatches: int) -> Schedule:
        """The order of its copies, one interval apart.

        Raises:
            InputError: if there are too many microbatches to count.
        """
        return Schedule._of(self._native.schedule(microbatches))

    def to_svg(self, width: int | None = None) -> str:
        """The drawing of its offsets, of its pattern modulo the interval, and of its repetition."""
        return self._native.svg(self.name, width)

    def save_svg(self, path: StrPath, width: int | None = None) -> None:
        """Writes that drawing."""
        _files.write(path, self.to_svg(width))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        peak = max(self.peak_memory, default=0)
        return f"<Block {self.name!r}: interval {self.interval}, peak activation memory {peak}>"


@dataclass(frozen=True)
class BlockSolution:
    """The best block that was found, and what is known of better ones."""

    block: Block
    """The block."""
    is_optimal: bool
    """Whether it is proved that none is better."""
    bound: Fraction
    """None is better than this: ticks per interval, or units of memory where the memory was minimised."""
    engine: str
    """What found it."""
    claimed_by: str | None
    """A solver that says, in floating point, that none is better. That is no proof."""

    def _repr_svg_(self) -> str:
        return self.block._repr_svg_()


def block(
    model: Model,
    *,
    memory: Limit | None = None,
    interval: int | None = None,
    period: int = 1,
    engine: Engine | None = None,
    time_limit: float | None = None,
) -> BlockSolution:
    """The best building block of a model: with the least interval within its memory limits, or the least memory at an ``interval``.

    Args:
        model: Placement, durations, activations. Weights are subtracted from the limits.
        memory: A limit for every device in place of the model's, as for :meth:`Model.resized`.
        interval: The interval, in ticks, at which memory is to be minimised.
        period: How many microbatches an interval has.
        engine: What searches: ``"exact"``, ``"lcg"``, ``"smt"``, ``"milp"`` or ``"search"``; by default the best for the placement.
        time_limit: How many seconds to search at the most.

    Raises:
        InfeasibleError: if there is no such block.
        NoAnswerError: if none was found in time.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=4, microbatches=1, placement="v", forward=3, backward_input=4, backward_weight=2,
        ...                  activation=1, retained_for_weight=1)
        >>> found = bp.block(model, memory=4)
        >>> found.block.interval, found.is_optimal
        (Fraction(21, 1), True)
    """
    if memory is not None:
        model = model.resized(memory=memory)
    look_beside_python()
    found = _native.best_block(model._native, interval, period, engine, time_limit)
    if found.status == "infeasible":
        raise InfeasibleError("there is no such block")
    if found.block is None or found.bound is None:
        raise NoAnswerError("no block was found in time", "a longer time_limit may give one")
    return BlockSolution(
        block=Block(found.block, model.name),
        is_optimal=found.status == "optimal",
        bound=Fraction(*found.bound),
        engine=found.engine,
        claimed_by=found.claimed_by,
    )


@dataclass(frozen=True)
class FrontierPoint:
    """A block that is the best for its memory."""

    block: Block
    """The block."""
    peak_memory: int
    """The most activation memory of a device, in units."""
    interval: Fraction
    """The interval, in ticks."""
    bound: Fraction
    """No block that holds no more has a shorter interval."""
    is_proved: bool
    """Whether it is proved that no block is better in one respect and as good in the other."""


@dataclass(frozen=True)
class Frontier:
    """The trade of a model between memory and throughput."""

    points: tuple[FrontierPoint, ...] = field(repr=False)
    """Its points, from the least memory to the least interval."""
    is_complete: bool
    """Whether these are all: the search was not cut short."""


def frontier(model: Model, *, time_limit: float | None = None, progress: Watch = None) -> Frontier:
    """The blocks of a model, each the best for its memory. The model's own limits play no part.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=4, microbatches=1, placement="v", forward=1, backward_input=1, backward_weight=1,
        ...                  activation=1, retained_for_weight=1)
        >>> [(point.peak_memory, int(point.interval)) for point in bp.frontier(model).points]
        [(2, 12), (3, 10), (4, 6)]
    """
    with watching(progress, model.time_unit) as watch:
        points, is_complete = _native.block_frontier(model._native, time_limit, watch)
    made = (
        FrontierPoint(Block(block, model.name), peak, Fraction(*interval), Fraction(*bound), is_proved)
        for block, peak, interval, bound, is_proved in points
    )
    return Frontier(tuple(made), is_complete)


@dataclass(frozen=True)
class Theorem:
    """A statement about a family for every number of devices, and what is known of it."""

    name: str
    """Its name, such as ``"v-min.collisions"``."""
    statement: str
    """The statement, in a sentence."""
    status: Literal["proved", "refuted", "unknown"]
    """``"proved"``, ``"refuted"`` or ``"unknown"``."""
    devices: int | None
    """The least number of devices that refutes it."""
    reason: str | None
    """What is wrong there, or why it is unknown."""

    @property
    def is_proved(self) -> bool:
        """Whether it holds for every number of devices in its domain."""
        return self.status == "proved"


class Family(TomlFile):
    """A block for every number of devices: offsets as formulas in the number of devices d and the device i.

    Example:
        >>> import bubbleproof as bp
        >>> family = bp.Family.shipped("1f1b")
        >>> family.name, family.schedule(devices=2, microbatches=2).orders[1]
        ('1f1b', ('1F0', '1I0', '1W0', '1F1', '1I1', '1W1'))
    """

    def __init__(self) -> None:
        raise TypeError("use Family.load, Family.from_toml, Family.from_dict or Family.shipped")

    _native: NativeFamily

    @classmethod
    def _of(cls, native: NativeFamily) -> Family:
        self = object.__new__(cls)
        self._native = native
        return self

    @classmethod
    def from_toml(cls, text: str, *, file: str | None = None) -> Family:
        """The family of the text of a family file. ``file`` names it in errors."""
        return cls._of(_native.NativeFamily.parse(text, file))

    @classmethod
    def shipped(cls, name: str) -> Family:
        """The family of this name that comes with the package.

        Raises:
            InputError: if there is none.
        """
        families = dict(_native.NativeFamily.shipped())
        if name not in families:
            raise InputError(f"no family called {name!r} is shipped", f"known families: {', '.join(families)}")
        return cls.from_toml(families[name])

    @property
    def name(self) -> str:
        """What it is called."""
        return self._native.name

    @property
    def domain(self) -> str:
        """For which numbers of devices d there is a block."""
        return self._native.domain

    @property
    def promises(self) -> tuple[str, ...]:
        """What its file promises, which :func:`bubbleproof.prove` decides."""
        return tuple(self._native.promises)

    def to_toml(self) -> str:
        """The text of its file."""
        return self._native.text

    def block(self, devices: int) -> Block:
        """The block for a number of devices.

        Raises:
            InputError: if there is none.
        """
        return Block(self._native.block(devices), self.name)

    def model(self, devices: int, microbatches: int) -> Model:
        """The model with the durations of the family."""
        return Model._found(self._native.model(devices, microbatches))

    def schedule(self, devices: int, microbatches: int) -> Schedule:
        """The schedule of its block, repeated."""
        return self.block(devices).schedule(microbatches)

    def __eq__(self, other: object) -> bool:
        return self._native.text == other._native.text if isinstance(other, Family) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native.text)

    def __repr__(self) -> str:
        return f"<Family {self.name!r}: {self.domain}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (FORM, self.to_toml())


def _restored(form: int, text: str) -> Family:
    check(form, "family")
    return Family.from_toml(text)


def families() -> tuple[str, ...]:
    """The names of the families that come with the package."""
    return tuple(name for name, _ in _native.NativeFamily.shipped())


def prove(family: Family, *, time_limit: float | None = None, progress: Watch = None) -> tuple[Theorem, ...]:
    """Proves or refutes, for every number of devices, that a family is valid and that its promises hold.

    What the algebra of blocks cannot refute is asked of an SMT solver: the program ``z3`` or ``cvc5``, which
    ``pip install bubbleproof[smt]`` brings. Where there is none, the status of these theorems is ``"unknown"``.

    Args:
        family: The family.
        time_limit: How many seconds to take at the most; by default up to 60 for each theorem.
        progress: As for :func:`bubbleproof.optimize`.

    Example:
        >>> import bubbleproof as bp
        >>> theorems = bp.prove(bp.Family.shipped("v-min"))
        >>> {theorem.status for theorem in theorems if theorem.name.startswith("v-min.")} <= {"proved", "unknown"}
        True
    """
    look_beside_python()
    with watching(progress, "ticks") as watch:
        found = family._native.prove(time_limit, watch)
    return tuple(
        Theorem(each["name"], each["statement"], each["status"], each["devices"], each["reason"]) for each in found
    )
