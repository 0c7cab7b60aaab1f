"""Jobs: layers, a machine, and what may be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._pickles import FORM, check
from ._toml_file import TomlFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._native import NativeJob


class Job(TomlFile):
    """A training job: the layers of a model with their costs, the machine, and the choices that :func:`bubbleproof.plan` may make.

    The arguments are the tables of a job file; ``docs/jobs.md`` describes every key.

    Args:
        layers: The layers in order, such as ``["embedding", "32 block", "head"]``.
        layer: The costs of each kind of layer, by its name.
        machine: Devices, memory, latency.
        choices: Global batch, and what may be chosen.
        name: What to call it.
        tables: Further keys and tables of the file.

    Raises:
        InputError: if one is wrong; ``field`` names the key.

    Example:
        >>> import bubbleproof as bp
        >>> block = {"forward": "3 ms", "backward_input": "3 ms", "backward_weight": "2 ms", "activation": "1 GiB",
        ...          "weights": "2 GiB"}
        >>> job = bp.Job(layers=["8 block"], layer={"block": block}, machine={"devices": 4, "memory": "40 GiB"},
        ...              choices={"global_batch": 8, "pipeline": [4], "placement": ["linear"]})
        >>> plan = bp.plan(job)
        >>> plan.best.cut, plan.gap < 0.1
        ((2, 2, 2, 2), True)
    """

    __slots__ = ("_native",)

    _native: NativeJob

    def __init__(
        self,
        *,
        layers: Sequence[str],
        layer: Mapping[str, Any] | None = None,
        machine: Mapping[str, Any],
        choices: Mapping[str, Any],
        name: str = "job",
        **tables: Any,
    ) -> None:
        file = {"name": name, "layers": list(layers), **tables, "layer": layer, "machine": machine, "choices": choices}
        self._native = Job.from_dict(file)._native

    @classmethod
    def _of(cls, native: NativeJob) -> Job:
        self = object.__new__(cls)
        self._native = native
        return self

    @classmethod
    def from_toml(cls, text: str, *, file: str | None = None) -> Job:
        """The job of the text of a job file. ``file`` names it in errors.

        Raises:
            FileError: with the place of what is wrong.
        """
        return cls._of(_native.NativeJob.parse(text, file))

    def to_toml(self) -> str:
        """The text of its file."""
        return self._native.text

    @property
    def name(self) -> str:
        """What it is called."""
        return self._native.name

    @property
    def layers(self) -> tuple[str, ...]:
        """The kind of every layer, in order."""
        return tuple(self._native.layers)

    @property
    def devices(self) -> int:
        """The devices of the machine."""
        return self._native.devices

    @property
    def global_batch(self) -> int:
        """The samples of a training step."""
        return self._native.global_batch

    @property
    def is_estimate(self) -> bool:
        """Whether its costs are an estimate, and not measured."""
        return self._native.is_estimate

    @property
    def time_unit(self) -> str:
        """What a tick is."""
        return self._native.time_unit

    @property
    def memory_unit(self) -> str:
        """What a unit of memory is."""
        return self._native.memory_unit

    def choices(self) -> tuple[str, ...]:
        """The choices that it leaves open, by name."""
        return tuple(self._native.choices())

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Job) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native.text)

    def __repr__(self) -> str:
        return (
            f"<Job {self.name!r}: layers={len(self.layers)}, devices={self.devices}, global_batch={self.global_batch}>"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (FORM, self.to_toml())


def _restored(form: int, text: str) -> Job:
    check(form, "job")
    return Job.from_toml(text)
