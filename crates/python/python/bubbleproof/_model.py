"""Models: what a pipeline computes, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import InputError
from ._pickles import FORM, check
from ._plain import plain
from ._toml_file import TomlFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    import numpy as np
    import numpy.typing as npt

    from ._native import NativeModel

    Cost: TypeAlias = float | str | Sequence[float | str] | npt.NDArray[np.number[Any]]
    """A cost: one value for every stage, or a sequence with one for each; a number in the model's unit, or a text such as
    ``"9.26 ms"``."""
    Limit: TypeAlias = float | str
    """An amount of memory as a limit: a number in the unit that the model was made with, a text such as ``"60 GiB"``, or a share
    of what 1F1B needs such as ``"75%"``."""
    _Size: TypeAlias = tuple[int | None, int | None, str | None]


@dataclass(frozen=True)
class Bound:
    """What no schedule of a model can be shorter than."""

    value: int
    """The ticks."""
    reason: str
    """Why, in a sentence."""


class Model(TomlFile):
    """Stages on devices, with the durations of their passes, the latencies between them, and their memory.

    Amounts are numbers in ``unit`` and ``memory_unit``, or texts with units of their own. Where all times are integers, a tick is
    that unit; otherwise a tick is a nanosecond. Memory likewise: units, or bytes. Numbers are taken exactly as they are written;
    what is needed is rounded up to whole ticks and bytes.

    Args:
        devices: The number of devices.
        microbatches: The number of microbatches of a training step.
        placement: The stages of the devices: ``"linear"``, ``"v"``, ``"looped"`` (with ``chunks``), ``"bidirectional"``, or a
            list of the stages of each device.
        chunks: How many stages each device has, for ``"looped"``.
        forward: The duration of F.
        backward_input: The duration of I, the input gradient.
        backward_weight: The duration of W, the weight gradient.
        latency: How long a message takes from the end of a pass to the beginning of the next, on another device.
        unit: What numbers for times count: ``"s"``, ``"ms"``, ``"us"``, ``"ns"`` or ``"tick"``.
        activation: What a microbatch keeps on a stage from F to I.
        retained_for_weight: How much of it stays from I to W.
        weights: What a stage holds all the time: weights, gradients, optimiser state.
        capacity: The memory of a device.
        memory_unit: What numbers for memory count, such as ``"GiB"``.
        name: What to call it.
        tables: Further tables of a model file, as dictionaries: ``recompute``, ``overlap``, ``messages``, ``step``, ``offload``,
            ``sharding``.

    Raises:
        InputError: if an argument is wrong; ``field`` says which.

    Example:
        >>> import bubbleproof as bp
        >>> model = bp.Model(devices=4, microbatches=8, forward=9.26e-3, backward_input=10.2e-3, backward_weight=7.1e-3,
        ...                  unit="s", activation=1.7, memory_unit="GiB", capacity="12 GiB")
        >>> model.time_unit, model.forward
        ('ns', (9260000, 9260000, 9260000, 9260000))
        >>> model.resized(microbatches=16).microbatches
        16
    """

    __slots__ = ("_native", "_sizes", "_text")

    _native: NativeModel
    _text: str
    _sizes: tuple[_Size, ...]

    def __init__(
        self,
        *,
        devices: int,
        microbatches: int,
        forward: Cost,
        backward_input: Cost,
        backward_weight: Cost,
        placement: str | Sequence[Sequence[int]] = "linear",
        chunks: int | None = None,
        latency: Cost | None = None,
        unit: str | None = None,
        activation: Cost | None = None,
        retained_for_weight: Cost | None = None,
        weights: Cost | None = None,
        capacity: Cost | None = None,
        memory_unit: str | None = None,
        name: str = "model",
        **tables: Mapping[str, Any],
    ) -> None:
        pipeline = {"devices": devices, "placement": placement, "chunks": chunks, "microbatches": microbatches}
        time = {
            "unit": unit,
            "forward": forward,
            "backward_input": backward_input,
            "backward_weight": backward_weight,
            "communication": latency,
        }
        memory = {
            "unit": memory_unit,
            "activation": activation,
            "retained_for_weight": retained_for_weight,
            "weights": weights,
            "capacity": capacity,
        }
        file: dict[str, Any] = {"name": name, "pipeline": pipeline, "time": time}
        if any(value is not None for value in memory.values()):
            file["memory"] = memory
        made = Model.from_dict({**file, **tables})
        self._native, self._text, self._sizes = made._native, made._text, made._sizes

    @classmethod
    def _of(cls, native: NativeModel, text: str, sizes: tuple[_Size, ...] = ()) -> Model:
        self = object.__new__(cls)
        self._native, self._text, self._sizes = native, text, sizes
        return self

    @classmethod
    def _found(cls, native: NativeModel) -> Model:
        return cls._of(native, native.text())

    @classmethod
    def from_toml(cls, text: str, *, file: str | None = None) -> Model:
        """The model of the text of a model file. ``file`` names it in errors.

        Raises:
            FileError: with the place of what is wrong.
        """
        return cls._of(_native.NativeModel.parse(text, file), text)

    def to_toml(self) -> str:
        """The text of a model file that reads as this model, in whole ticks and units of memory."""
        return self._native.text()

    def resized(
        self, *, devices: int | None = None, microbatches: int | None = None, memory: Limit | None = None
    ) -> Model:
        """The same model at another size, or with the memory limit ``memory`` on every device.

        Raises:
            InputError: if it cannot have that size: other ``devices`` need stages that are all the same.
        """
        limit = None if memory is None else _limit(memory)
        native = self._native.resized(devices, microbatches, limit)
        return Model._of(native, self._text, (*self._sizes, (devices, microbatches, limit)))

    @property
    def name(self) -> str:
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
        """The stages of every device, from its first chunk to its last."""
        return tuple(map(tuple, self._native.stages_of))

    @property
    def placement_name(self) -> str:
        """The name of the placement, such as ``"v"``."""
        return self._native.shape

    @property
    def time_unit(self) -> str:
        """What a tick is."""
        return self._native.time_unit

    @property
    def memory_unit(self) -> str:
        """What a unit of memory is."""
        return self._native.memory_unit

    @property
    def seconds_per_tick(self) -> float | None:
        """How long a tick is, in seconds; ``None`` where ticks have no length."""
        nanoseconds = self._native.nanoseconds_per_tick
        return None if nanoseconds is None else nanoseconds / 10**9

    @property
    def forward(self) -> tuple[int, ...]:
        """The duration of F of every stage, in ticks."""
        return tuple(self._native.durations("F"))

    @property
    def backward_input(self) -> tuple[int, ...]:
        """The duration of I of every stage, in ticks."""
        return tuple(self._native.durations("I"))

    @property
    def backward_weight(self) -> tuple[int, ...]:
        """The duration of W of every stage, in ticks."""
        return tuple(self._native.durations("W"))

    @property
    def latency(self) -> tuple[int, ...]:
        """The latency of a message from each stage to the next, in ticks."""
        return tuple(self._native.latencies)

    @property
    def activation(self) -> tuple[int, ...]:
        """What a microbatch keeps on each stage from F to I, in units of memory."""
        return tuple(self._native.activation)

    @property
    def retained_for_weight(self) -> tuple[int, ...]:
        """How much of that stays from I to W."""
        return tuple(self._native.retained_for_weight)

    @property
    def weights(self) -> tuple[int, ...]:
        """What each stage holds all the time, in units of memory."""
        return tuple(self._native.weights)

    @property
    def capacity(self) -> tuple[int | None, ...]:
        """The memory of each device, in units; ``None`` where there is no limit."""
        return tuple(self._native.capacity)

    @property
    def memory_of_1f1b(self) -> int:
        """What 1F1B with equal stages holds at most: what a limit such as ``"75%"`` is a share of."""
        return self._native.memory_of_1f1b

    @property
    def digest(self) -> str:
        """The digest of everything that a result depends on. Models that are equal have the same, whatever they are called."""
        return self._native.digest()

    def lower_bound(self) -> Bound:
        """What no schedule within the memory limits can be shorter than, and why. It takes no search.

        Example:
            >>> import bubbleproof as bp
            >>> model = bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1)
            >>> model.lower_bound().value
            13
        """
        value, reason = self._native.lower_bound()
        return Bound(value, reason)

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Model) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native.digest())

    def __repr__(self) -> str:
        sizes = f"devices={self.devices}, stages={self.stages}, microbatches={self.microbatches}"
        return f"<Model {self.name!r}: {sizes}, placement={self.placement_name!r}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (FORM, self._text, self._sizes)


def _limit(memory: Limit) -> str:
    amount = plain(memory, "memory")
    if isinstance(amount, str):
        return amount
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise InputError(f"memory must be a number or a text, but is {memory!r}", field="memory")
    return format(Decimal(repr(amount)), "f")


def _restored(form: int, text: str, sizes: tuple[_Size, ...]) -> Model:
    """A model from its pickle."""
    check(form, "model")
    native = _native.NativeModel.parse(text, None)
    for devices, microbatches, memory in sizes:
        native = native.resized(devices, microbatches, memory)
    return Model._of(native, text, sizes)
