"""Schedules: orders of passes, one for each device."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _arrays, _files, _native
from ._errors import InputError
from ._model import Model
from ._pickles import FORM
from ._pickles import check as check_form
from ._replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ._files import StrPath
    from ._native import NativeSchedule


class Schedule:
    """The order of passes on every device, and nothing else: replay computes the times.

    Example:
        >>> import bubbleproof as bp
        >>> schedule = bp.Schedule.from_text("0F0,0F1,0B0,0B1\\r\\n1F0,1B0,1F1,1B1\\r\\n")
        >>> schedule.devices, schedule.microbatches, schedule.orders[1]
        (2, 2, ('1F0', '1B0', '1F1', '1B1'))
    """

    __slots__ = ("_native",)

    _native: NativeSchedule

    def __init__(self) -> None:
        raise TypeError("use Schedule.load, Schedule.from_text, Schedule.named, Schedule.from_torch or optimize")

    @classmethod
    def _of(cls, native: NativeSchedule) -> Schedule:
        self = object.__new__(cls)
        self._native = native
        return self

    @classmethod
    def load(cls, path: StrPath) -> Schedule:
        """The schedule of a file: our own JSON, or PyTorch's CSV.

        Raises:
            OSError: if it cannot be read.
            FileError: if it is wrong, with the place.
        """
        return cls.from_text(_files.read(path), file=str(path))

    @classmethod
    def from_text(cls, text: str, *, file: str | None = None) -> Schedule:
        """The schedule of the text of such a file. ``file`` names it in errors."""
        return cls._of(_native.NativeSchedule.parse(text, file))

    @classmethod
    def named(cls, name: str, model: Model) -> Schedule:
        """The schedule of the literature with this name, for the placement and the durations of a model.

        Raises:
            InputError: if there is none of this name, none for this placement, or none within the memory limits.
                :func:`bubbleproof.catalog` has the names.
        """
        return cls._of(_native.named_schedule(name, model._native, False))

    @classmethod
    def from_torch(cls, schedule: Any) -> Schedule:
        """The schedule that a pipeline schedule of ``torch.distributed.pipelining`` runs."""
        from ._torch import read

        return read(schedule)

    def to_torch(
        self,
        stages: Any,
        loss_fn: Callable[..., Any] | None = None,
        *,
        n_microbatches: int | None = None,
        **options: Any,
    ) -> Any:
        """A pipeline schedule of ``torch.distributed.pipelining`` that runs this schedule, with verified communication.

        Args:
            stages: The stages of this rank, in the order of their indices: ``PipelineStage`` objects, or one of them.
            loss_fn: What is called with the output of the last stage and the target.
            n_microbatches: The number of microbatches; that of the schedule, which it must be if it is given.
            options: Further options of PyTorch's schedule, such as ``scale_grads``.
        """
        from ._torch import load

        return load(self, stages, loss_fn, n_microbatches, options)

    def save(self, path: StrPath) -> None:
        """Writes the schedule: as PyTorch's CSV of passes if the name ends in ``.csv``, and as JSON otherwise."""
        text = self.to_csv() if str(path).endswith(".csv") else self.to_json()
        _files.write(path, text)

    def to_json(self) -> str:
        """The text of the schedule file."""
        return self._native.text()

    def to_csv(self, *, communication: bool = False) -> str:
        """PyTorch's CSV: the passes alone (``compute_only``), or with all ``communication`` (``compute_comms``), which is generated
        anew and has been verified.

        Raises:
            InputError: if the schedule cannot run, or PyTorch's format cannot say it.
        """
        return self._native.csv(communication)

    @property
    def name(self) -> str | None:
        """What it is called."""
        return self._native.name

    @property
    def devices(self) -> int:
        """The number of devices."""
        return self._native.devices

    @property
    def stages(self) -> int:
        """The number of stages."""
        return self._native.stages

    @property
    def microbatches(self) -> int:
        """The number of microbatches."""
        return self._native.microbatches

    @property
    def placement(self) -> tuple[tuple[int, ...], ...]:
        """The stages of every device."""
        return tuple(map(tuple, self._native.stages_of))

    @property
    def orders(self) -> tuple[tuple[str, ...], ...]:
        """The passes of every device in order, such as ``"3F0"``: stage, kind, microbatch."""
        return tuple(map(tuple, self._native.orders))

    @property
    def passes(self) -> npt.NDArray[np.void]:
        """All passes as a structured array, device by device in order: ``kind`` (``b"F"``, ``b"I"``, ``b"W"``, ``b"B"``, ``b"R"``),
        ``device``, ``stage``, ``microbatch``. :attr:`Replay.passes` has their times, too. Needs NumPy.

        Example:
            >>> import bubbleproof as bp
            >>> schedule = bp.Schedule.from_text("0F0,0F1,0B0,0B1\\r\\n1F0,1B0,1F1,1B1\\r\\n")
            >>> [int(microbatch) for microbatch in schedule.passes["microbatch"][:4]]
            [0, 1, 0, 1]
        """
        return _arrays.passes(*self._native.passes())

    @property
    def has_communication(self) -> bool:
        """Whether it was read with sends and receives, from a CSV or from a runtime of PyTorch.

        :func:`bubbleproof.verify` verifies them. ``to_csv(communication=True)`` and ``to_torch`` generate new ones; ``save``,
        ``to_json``, ``to_csv()`` and ``nearest`` keep the passes alone.
        """
        return self._native.plan_text() is not None

    def nearest(self, model: Model | None = None) -> Nearest:
        """The nearest orders that can run: those of the schedule itself if they can, or else with as few moves as possible.

        Args:
            model: Decides between equally few moves by the makespan; by default, the one with unit times.

        Raises:
            InputError: if no order can run, because passes are missing or duplicated.

        Example:
            >>> import bubbleproof as bp
            >>> stuck = bp.Schedule.from_text("0F0,0B0,0F1,0B1\\r\\n1F0,1F1,1B0,1B1\\r\\n")
            >>> nearest = stuck.nearest()
            >>> print(*nearest.moves)
            device 0: 0F1 moves after 0F0
            >>> nearest.schedule.orders[0]
            ('0F0', '0F1', '0B0', '0B1')
        """
        native, moves, parted = self._native.nearest(None if model is None else model._native)
        return Nearest(Schedule._of(native), tuple(Move(*move) for move in moves), tuple(parted))

    @property
    def is_certified(self) -> bool:
        """Whether it carries a certificate, which :func:`bubbleproof.check` checks."""
        return self._native.is_certified

    def __len__(self) -> int:
        """The number of passes."""
        return len(self._native)

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Schedule) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.devices, self.microbatches, len(self)))

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<Schedule{name}: devices={self.devices}, stages={self.stages}, microbatches={self.microbatches}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (FORM, self._native.plan_text() or self.to_json())


@dataclass(frozen=True)
class Move:
    """A pass that changes its place among those of its device."""

    device: int
    """The device, from 0."""
    pass_: str
    """The pass, such as ``"0F1"``."""
    after: str | None
    """The pass that it comes right after; ``None`` if it comes first."""
    before: int
    """Its old position, from 0."""
    now: int
    """Its new position, from 0."""

    def __str__(self) -> str:
        where = "to the front" if self.after is None else f"after {self.after}"
        return f"device {self.device}: {self.pass_} moves {where}"


@dataclass(frozen=True)
class Nearest:
    """Orders that can run, and what was changed to come to them."""

    schedule: Schedule
    """The schedule that can run. Whether it keeps to memory limits, :func:`bubbleproof.verify` says."""
    moves: tuple[Move, ...]
    """The passes that have moved."""
    parted: tuple[str, ...]
    """The overlapped pairs that were taken apart, each by a pass of it."""


def _restored(form: int, text: str) -> Schedule:
    check_form(form, "schedule")
    return Schedule.from_text(text)


def catalog(model: Model | None = None) -> dict[str, str]:
    """The named schedules of the literature with their summaries; with a ``model``, those that it can have.

    Example:
        >>> import bubbleproof as bp
        >>> "zb-h1" in bp.catalog()
        True
    """
    return dict(_native.named_schedules(None if model is None else model._native))


@dataclass(frozen=True)
class Claim:
    """Something that a certificate claims."""

    claim: str
    """What: ``runs``, ``lower-bound``, ``optimal``, ``over-cuts``, ``over-plans``, ``searched`` or ``searched-cuts``."""
    value: int | None
    """The ticks that it is about."""
    is_checked: bool
    """Whether it was derived again, and not only read: nobody can check that a search found nothing without searching."""
    is_machine_checked: bool
    """Whether Rocq has checked the proofs of the theorems by which it was derived."""


@dataclass(frozen=True)
class Checked:
    """What a certificate claims, all of it true as far as it is checked."""

    claims: tuple[Claim, ...]
    """Its claims."""
    model: Model
    """The problem that it is about."""
    replay: Replay
    """What the schedule does under that."""


def check(schedule: Schedule, model: Model | None = None) -> Checked:
    """Checks the certificate of a schedule, and with a ``model`` that it is about this one.

    Everything is derived again from the model and the orders, without a search.

    Raises:
        CertificateError: if there is none, or one that does not hold.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1)
        >>> [claim.claim for claim in bp.check(bp.optimize(model).schedule, model).claims]
        ['runs', 'lower-bound', 'optimal']
    """
    claims, problem, replayed = _native.check_schedule(schedule._native, None if model is None else model._native)
    found = tuple(Claim(**each) for each in claims)
    about = Model._found(problem)
    return Checked(found, about, Replay(replayed, about, schedule))


def compare(model: Model, schedules: Sequence[str | Schedule] | None = None) -> dict[str, Replay]:
    """Replays named schedules under a model: all that it can have within its memory limits, or these. Schedules of one's own count
    by name. One of these that takes more memory than there is has a replay that is not valid.

    Raises:
        InputError: if a name is not known, or the placement of the model cannot have that schedule.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=4, microbatches=16, forward=1, backward_input=1, backward_weight=1)
        >>> {name: replay.makespan for name, replay in bp.compare(model, ["1f1b", "zb-h1"]).items()}
        {'1f1b': 57, 'zb-h1': 51}
    """
    from ._replay import replay

    found: dict[str, Replay] = {}
    given: Sequence[str | Schedule] = () if schedules is None else schedules
    for each in given:
        if isinstance(each, str):
            found[each] = replay(Schedule._of(_native.named_schedule(each, model._native, True)), model)
        else:
            found[each.name or f"schedule {len(found)}"] = replay(each, model)
    for name in catalog(model) if schedules is None else ():
        # One that needs more memory than there is raises it.
        with suppress(InputError):
            found[name] = replay(Schedule.named(name, model), model)
    return found
