"""Replay: when every pass of a schedule runs under a model, what is in memory, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from . import _arrays, _files, _native
from ._errors import InvalidScheduleError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._files import StrPath
    from ._model import Model
    from ._schedule import Schedule


@dataclass(frozen=True)
class Violation:
    """A rule that a schedule breaks."""

    rule: str
    """The name of the rule, such as ``"deadlock"``."""
    message: str
    """What is wrong, in a sentence."""
    device: int | None
    """The device that it is about, from 0."""
    position: int | None
    """The position in its order, from 0."""
    pass_: str | None
    """The pass there, such as ``"3F0"``."""
    action: int | None = None
    """Of a violation of sends and receives, the position among all actions of the device, from 0."""


@dataclass(frozen=True)
class Communication:
    """The sends and receives that come with a schedule of PyTorch."""

    messages: int
    """How many messages are sent."""
    waits: dict[str, str | None]
    """By semantics of messages (``"buffered"``, ``"rendezvous"``, ``"pair-streams"``, ``"device-streams"``): ``None`` if every run
    ends, or else who waits for what for ever. ``docs/pytorch.md`` says which of them PyTorch has."""

    @property
    def ends_everywhere(self) -> bool:
        """Whether every run ends, with gloo, and with NCCL in every set-up."""
        return not any(self.waits.values())


@dataclass(frozen=True)
class Gain:
    """What a change could gain at most."""

    change: Literal["order", "memory", "messages", "balance"]
    """Another order of the passes, no memory limits, messages that take no time, or the same work divided evenly among devices."""
    lower_bound: int
    """After the change, no schedule has a shorter makespan, in ticks."""
    at_most: int
    """After the change, a schedule can be so many ticks shorter than this one, and not more."""


class Replay:
    """What a schedule does under a model: every pass runs as soon as its device is free and all that it needs has arrived.

    All times are in ticks of the model, all memory in its units, and both are exact. :func:`bubbleproof.replay` makes it.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1)
        >>> replay = bp.replay(bp.Schedule.named("1f1b", model), model)
        >>> replay.makespan, replay.is_valid, str(replay.bubble_rate)
        (15, True, '1/5')
    """

    def __init__(self, native: _native.NativeReplayed, model: Model, schedule: Schedule) -> None:
        self._native = native
        self.model = model
        """The model."""
        self.schedule = schedule
        """The schedule."""

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong and every pass runs; see :func:`bubbleproof.verify` for what that says of messages."""
        return self._native.is_valid

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Everything that is wrong, by device and position."""
        found = self._native.violations()
        return tuple(
            Violation(each["rule"], each["message"], each["device"], each["position"], each["pass"], each["action"])
            for each in found
        )

    @cached_property
    def communication(self) -> Communication | None:
        """How the sends and receives of the schedule end, if it came with any: see :attr:`Schedule.has_communication`."""
        found = self._native.communication
        if found is None:
            return None
        messages, behaviours = found
        return Communication(messages, dict(behaviours))

    def gains(self) -> tuple[Gain, ...]:
        """What would help: what each change could gain at most over this schedule, the largest gain first.

        Raises:
            InvalidScheduleError: if the schedule is not valid.

        Example:
            >>> import bubbleproof as bp
            >>> model = bp.Model(devices=2, microbatches=4, forward=[3, 1], backward_input=1, backward_weight=1)
            >>> replay = bp.replay(bp.Schedule.named("1f1b", model), model)
            >>> [(gain.change, gain.at_most) for gain in replay.gains()]
            [('balance', 5), ('order', 1)]
        """
        found = self._native.gains(self.lower_bound) if self.is_valid else None
        if found is None:
            raise InvalidScheduleError(self.violations)
        return tuple(Gain(change, bound, most) for change, bound, most in found)

    def _times(self) -> tuple[int, int, int]:
        times = self._native.times
        if times is None:
            raise InvalidScheduleError(self.violations)
        return times

    def _rates(self) -> tuple[Fraction, Fraction, Fraction]:
        rates = self._native.rates
        if rates is None:
            raise InvalidScheduleError(self.violations)
        bubble, idle, useful = rates
        return Fraction(*bubble), Fraction(*idle), Fraction(*useful)

    @property
    def makespan(self) -> int:
        """The time from the first start to the last end.

        Raises:
            InvalidScheduleError: if the schedule cannot run, as for all other times.
        """
        return self._times()[0]

    @property
    def makespan_seconds(self) -> float | None:
        """The same in seconds; ``None`` where ticks have no length."""
        tick = self.model._native.nanoseconds_per_tick
        return None if tick is None else self.makespan * tick / 10**9

    @property
    def device_span(self) -> int:
        """The longest time from the start of a device's first pass to the end of its last, where a device may begin later than
        as soon as possible."""
        return self._times()[1]

    @property
    def busy(self) -> int:
        """The time that all devices together compute."""
        return self._times()[2]

    @property
    def bubble_rate(self) -> Fraction:
        """The share of the device span that devices are idle."""
        return self._rates()[0]

    @property
    def idle_rate(self) -> Fraction:
        """The share of the makespan that devices are idle."""
        return self._rates()[1]

    @property
    def useful_rate(self) -> Fraction:
        """The share of the device span that devices compute what is not recomputed."""
        return self._rates()[2]

    @cached_property
    def lower_bound(self) -> int:
        """No schedule with as many microbatches has a shorter makespan under the model, in ticks."""
        model, microbatches = self.model, self.schedule.microbatches
        return (
            (model if model.microbatches == microbatches else model.resized(microbatches=microbatches))
            .lower_bound()
            .value
        )

    @property
    def gap(self) -> Fraction:
        """How much longer the makespan is than the lower bound, as a share of that: the most that any schedule could gain.

        Example:
            >>> import bubbleproof as bp
            >>> model = bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1)
            >>> bp.replay(bp.Schedule.named("1f1b", model), model).gap
            Fraction(2, 13)
        """
        return Fraction(self.makespan - self.lower_bound, max(self.lower_bound, 1))

    @property
    def interval(self) -> Fraction | None:
        """The time per microbatch in the steady phase, if there is one."""
        interval = self._native.interval
        return None if interval is None else Fraction(*interval)

    @property
    def peak_memory(self) -> tuple[int, ...]:
        """The most that each device holds, weights included."""
        return tuple(self._native.peak_memory)

    @cached_property
    def passes(self) -> npt.NDArray[np.void]:
        """The timeline: all passes as a structured array, device by device in order. Its columns are ``kind`` (``b"F"``, ``b"I"``,
        ``b"W"``, ``b"B"``, ``b"R"``), ``device``, ``stage``, ``microbatch``, ``start``, ``end``. Needs NumPy.

        Example:
            >>> import bubbleproof as bp
            >>> model = bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1)
            >>> passes = bp.replay(bp.Schedule.named("1f1b", model), model).passes
            >>> [int(end) for end in passes["end"][passes["device"] == 1][:3]]
            [2, 4, 5]
        """
        times = self._native.starts_and_ends()
        if times is None:
            raise InvalidScheduleError(self.violations)
        return _arrays.passes(*self.schedule._native.passes(), times)

    def to_pandas(self) -> Any:
        """The same as a DataFrame of pandas."""
        from importlib import import_module

        return import_module("pandas").DataFrame(_arrays.columns(self.passes))

    def to_polars(self) -> Any:
        """The same as a DataFrame of Polars."""
        from importlib import import_module

        return import_module("polars").DataFrame(_arrays.columns(self.passes))

    def memory(self, device: int) -> npt.NDArray[np.void]:
        """What a device holds over time, as a structured array of ``time`` and ``live``, for a plot with steps. Needs NumPy.

        Example:
            >>> import bubbleproof as bp
            >>> model = bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1, activation=1)
            >>> int(bp.replay(bp.Schedule.named("1f1b", model), model).memory(0)["live"].max())
            2
        """
        if not 0 <= device < self.schedule.devices:
            raise IndexError(f"device {device}: the schedule has {self.schedule.devices}")
        during, after = self._native.memory()[device]
        passes = self.passes
        return _arrays.steps(passes[passes["device"] == device], during, after)

    def to_svg(self, width: int | None = None) -> str:
        """The timeline as an SVG, ``width`` pixels wide."""
        svg = self._native.svg(width)
        if svg is None:
            raise InvalidScheduleError(self.violations)
        return svg

    def save_svg(self, path: StrPath, width: int | None = None) -> None:
        """Writes the timeline as an SVG."""
        _files.write(path, self.to_svg(width))

    def save_html(self, path: StrPath) -> None:
        """Writes the timeline as a page for a browser, in which one can move and zoom."""
        html = self._native.html()
        if html is None:
            raise InvalidScheduleError(self.violations)
        _files.write(path, html)

    def _repr_svg_(self) -> str | None:
        return self._native.svg(None)

    def _repr_html_(self) -> str | None:
        """What is wrong, and the timeline where there is one. A notebook that gets nothing here asks for the SVG alone."""
        waits = {} if self.communication is None else self.communication.waits
        hangs = [f"never ends with {name} messages: {who}" for name, who in waits.items() if who is not None]
        if self.is_valid and not hangs:
            return None
        wrong = [violation.message for violation in self.violations[:20]] or hangs
        items = "".join(f"<li>{_escaped(each)}</li>" for each in wrong)
        more = len(self.violations) - 20
        return f"<ul>{items}</ul>" + (f"<p>and {more} more</p>" if more > 0 else "") + (self._native.svg(None) or "")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Replay):
            return NotImplemented
        return self.model == other.model and self.schedule == other.schedule

    def __hash__(self) -> int:
        return hash((self.model, self.schedule))

    def __repr__(self) -> str:
        if not self.is_valid:
            return f"<Replay: {len(self.violations)} violations>"
        if self.communication is not None and not self.communication.ends_everywhere:
            return f"<Replay: makespan {self.makespan}, peak memory {max(self.peak_memory)}, hangs with some runtimes>"
        return f"<Replay: makespan {self.makespan}, peak memory {max(self.peak_memory)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return replay, (self.schedule, self.model)


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)


def replay(schedule: Schedule, model: Model) -> Replay:
    """Runs a schedule under a model.

    The schedule says how many microbatches there are; the model must have its stages and devices. Sends and receives that come with
    the schedule are verified too. What is wrong is in :attr:`Replay.violations`; :func:`verify` raises it.
    """
    return Replay(_native.replay_schedule(model._native, schedule._native), model, schedule)


def verify(schedule: Schedule, model: Model) -> Replay:
    """Runs a schedule under a model, within its memory limits.

    Sends and receives that come with the schedule must end with buffered and with rendezvous messages, as gloo has them.
    :attr:`Communication.ends_everywhere` says whether they also end with every set-up of NCCL.

    Raises:
        InvalidScheduleError: if it breaks a rule: a pass is missing, devices wait for each other, memory is exceeded,
            a message is taken for another one.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=4, microbatches=8, forward=1, backward_input=1, backward_weight=1, activation=1)
        >>> schedule = bp.Schedule.named("1f1b", model)
        >>> max(bp.verify(schedule, model).peak_memory)
        4
        >>> bp.verify(schedule, model.resized(memory=2))
        Traceback (most recent call last):
        bubbleproof.InvalidScheduleError: device 0, position 2: `0F2` raises the memory in use to 3, 1 over the limit of 2; ...
    """
    found = replay(schedule, model)
    if not found.is_valid:
        raise InvalidScheduleError(found.violations)
    return found
