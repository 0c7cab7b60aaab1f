"""Schedules for every number of microbatches at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._block import Block
from ._errors import InputError

if TYPE_CHECKING:
    from ._model import Model
    from ._schedule import Schedule


@dataclass(frozen=True)
class Formula:
    """A time in ticks as a formula in the number of microbatches m."""

    text: str
    """The formula in words."""
    first: int
    """The least m that has a value."""
    step: int
    """What m grows by."""
    start: int
    """The m from which on the values repeat, each time larger by the same amount."""
    period: int
    """After how many microbatches they repeat."""
    increase: int
    """How much larger they are then."""
    values: tuple[int, ...]
    """The values of m from ``first`` on, up to the end of the first period."""

    @property
    def rate(self) -> Fraction:
        """What each microbatch adds in the long run."""
        return Fraction(self.increase, self.period)

    def __call__(self, microbatches: int) -> int:
        """The value for a number of microbatches.

        Raises:
            InputError: if there is none for it.
        """
        place, rest = divmod(index(microbatches) - self.first, self.step)
        if place < 0 or rest:
            numbers = f"m >= {self.first}" if self.step == 1 else f"m = {self.first}, {self.first + self.step}, ..."
            raise InputError(f"the formula is for {numbers}, but m is {microbatches}", field="microbatches")
        early, cycle = (self.start - self.first) // self.step, self.period // self.step
        if place < early:
            return self.values[place]
        cycles, within = divmod(place - early, cycle)
        return self.values[early + within] + cycles * self.increase

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class EveryM:
    """What is known of a schedule for every number of microbatches m."""

    status: Literal["proved", "refuted", "unknown"]
    """``"proved"``: every one is valid within the memory limits. ``"refuted"``: one is not. ``"unknown"``: neither is known."""
    first: int | None = None
    """If proved: the least m."""
    step: int | None = None
    """If proved: what m grows by."""
    makespan: Formula | None = None
    """If proved: the makespan."""
    device_span: Formula | None = None
    """If proved: the device span; ``None`` where it is not proved."""
    peak_memory: tuple[int, ...] | None = None
    """If proved: the peak memory of every device for ``peak_from`` microbatches and more, weights included."""
    peak_from: int | None = None
    """If proved: from which m on every device has its peak."""
    replayed_to: int | None = None
    """If proved: up to which m every schedule was replayed too."""
    microbatches: int | None = None
    """If refuted: the least m that is not valid."""
    reason: str | None = None
    """If refuted, what is wrong there; if unknown, why."""

    @property
    def is_proved(self) -> bool:
        """Whether every one is valid."""
        return self.status == "proved"


def prove_every_m(subject: Schedule | Block, model: Model | None = None, *, time_limit: float | None = None) -> EveryM:
    """Proves that a schedule is valid and keeps to the memory limits for every number of microbatches, and gives its makespan.

    Of a block, the schedules are those of its repetition. Of a schedule, its steady phase is found, and the schedules are those
    that repeat it more often.

    Args:
        subject: The block, or the schedule.
        model: The model of a schedule. A block has its own.
        time_limit: How many seconds to take at the most.

    Raises:
        InputError: if the model is missing or of another pipeline, or the schedule has sends and receives, of which nothing is
            proved.

    Example:
        >>> import bubbleproof as bp
        >>> proof = bp.prove_every_m(bp.Family.shipped("v-half").block(devices=4))
        >>> print(proof.status, proof.peak_memory, "makespan", proof.makespan)
        proved (6, 6, 6, 6) makespan 6 m + 12 for every m >= 3; 18, 25 for m = 1, 2
        >>> proof.makespan(100)
        612
    """
    if isinstance(subject, Block):
        if model is not None:
            raise InputError("a block has its own model", "leave `model` out", "model")
        found = _native.every_m_of_copies(subject._native, time_limit)
    elif model is None:
        raise InputError("a schedule needs a model", field="model")
    elif model.placement != subject.placement:
        raise InputError("the model has other stages or devices than the schedule", field="model")
    elif subject.has_communication:
        raise InputError(
            "the schedule has sends and receives, and only passes can be proved for every number of microbatches",
            "prove its passes alone: Schedule.from_text(schedule.to_csv())",
            "subject",
        )
    else:
        found = _native.every_m_of_orders(subject._native, model._native, time_limit)
    if found["status"] != "proved":
        return EveryM(found["status"], microbatches=found.get("microbatches"), reason=found["reason"])
    first, step = found["first"], found["step"]

    def formula(parts: Any) -> Formula | None:
        if parts is None:
            return None
        text, (start, period, increase), before, cycle = parts
        return Formula(text, first, step, start, period, increase, (*before, *cycle))

    return EveryM(
        "proved",
        first,
        step,
        formula(found["makespan"]),
        formula(found["device_span"]),
        tuple(found["peak_memory"]),
        found["peak_from"],
        found["replayed_to"],
    )
