"""Models of measured runs: of traces, and of a few steps of a pipeline under ``torch.profiler``, on every rank."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _files, _native, _torch
from ._errors import InputError
from ._model import Model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from ._files import StrPath
    from ._schedule import Schedule


@dataclass(frozen=True)
class TraceProfile:
    """A model fitted to traces."""

    model: Model
    """The model: medians of every stage and kind of pass, latencies between devices, and memory where the traces have it."""
    notes: tuple[str, ...]
    """What the traces leave open, and how the model was completed."""


def profile_traces(traces: StrPath | Sequence[StrPath], *, name: str = "measured", skip: int = 0) -> TraceProfile:
    """Fits a model to trace files, one for each run. They may be packed with gzip. ``docs/traces.md`` describes their format.

    Args:
        traces: The file, or the files.
        name: What to call the model.
        skip: How many iterations at the beginning of each trace to leave out.

    Raises:
        OSError: if a file cannot be read.
        FileError: if a file is wrong, with the place.
        InputError: if the traces make no model.
    """
    if skip < 0:
        raise InputError(f"skip must not be negative, but is {skip}", field="skip")
    paths = [traces] if isinstance(traces, (str, PathLike)) else traces
    texts = [(str(path), _files.read(path)) for path in paths]
    native, notes = _native.fit_traces(name, texts, skip)
    return TraceProfile(Model._found(native), tuple(notes))


class profile_torch:
    """Records the steps in its block, and fits a model to them.

    Every rank of the pipeline enters it with its own schedule object, runs the same number of steps, and has the model afterwards.
    On GPUs, passes are timed by their kernels; on CPUs, from their first operator to the end of their range.

    ``torch.profiler`` does not say what passes keep in memory: the model counts microbatches in place of bytes.

    Args:
        pipeline: The schedule of ``torch.distributed.pipelining`` that runs in the block: of :meth:`Schedule.to_torch`, or another
            that PyTorch's runtime runs action by action.
        skip: How many steps at the beginning to leave out.
        name: What to call the model.
        group: The process group of the pipeline; by default that of its stages.

    Raises:
        InputError: if no steps were recorded, or the recordings of the ranks are not of one run.

    Example:
        .. code-block:: python

            with bp.profile_torch(pipeline) as profile:
                for _ in range(5):
                    pipeline.step(*inputs, target=targets)
            model = profile.model
    """

    def __init__(self, pipeline: Any, *, skip: int = 1, name: str = "measured", group: Any = None) -> None:
        pipelining = _torch.schedules()
        if not isinstance(pipeline, pipelining._PipelineScheduleRuntime):
            raise InputError(
                f"a {type(pipeline).__name__} does not run action by action, so that its passes cannot be told apart",
                "run it as Schedule.from_torch(pipeline).to_torch(stages, loss_fn)",
                "pipeline",
            )
        if skip < 0:
            raise InputError(f"skip must not be negative, but is {skip}", field="skip")
        self._schedule: Schedule = _torch.read(pipeline)
        self._skip, self._name = skip, name
        self._group = pipeline._stages[0].group if group is None else group
        self._model: Model | None = None
        self._notes: tuple[str, ...] = ()
        profiler = import_module("torch.profiler")
        cuda = import_module("torch").cuda.is_available()
        activities = [profiler.ProfilerActivity.CPU, *([profiler.ProfilerActivity.CUDA] if cuda else [])]
        self._profiler: Any = profiler.profile(activities=activities)

    def __enter__(self) -> profile_torch:
        self._profiler.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._profiler.__exit__(kind, error, traceback)
        # All ranks wait for each other here, so that one that has failed has to say so.
        recording = None if error is not None else self._recorded()
        recordings = self._gathered(recording)
        if error is not None:
            return
        failed = [rank for rank, each in enumerate(recordings) if each is None]
        if failed:
            raise InputError(f"the steps of rank {failed[0]} failed, so that there is nothing to fit a model to")
        import gzip

        texts = [gzip.decompress(each).decode() for each in recordings if each is not None]
        native, notes = _native.fit_recordings(self._name, texts, self._schedule._native, self._skip)
        self._model, self._notes = Model._found(native), tuple(notes)

    def _recorded(self) -> bytes | None:
        """What this rank has recorded, packed; nothing if it cannot be written."""
        import gzip

        with _files.folder() as folder:
            path = Path(folder) / "recording.json"
            try:
                self._profiler.export_chrome_trace(str(path))
                return gzip.compress(path.read_bytes(), compresslevel=1)
            except (OSError, RuntimeError):
                return None

    def _gathered(self, recording: bytes | None) -> list[bytes | None]:
        """What all ranks have recorded, in their order."""
        distributed = import_module("torch.distributed")
        everyone: list[Any] = [None] * distributed.get_world_size(self._group)
        distributed.all_gather_object(everyone, recording, group=self._group)
        return everyone

    @property
    def model(self) -> Model:
        """The model, in nanoseconds: the medians of every stage and kind of pass, and the latencies between devices."""
        if self._model is None:
            raise InputError("there is no model before the block has ended")
        return self._model

    @property
    def notes(self) -> tuple[str, ...]:
        """What the recordings leave open, and how the model was completed."""
        return self._notes
