"""Schedules of ``torch.distributed.pipelining``. PyTorch is imported when a function here is called.

Most of what is used of PyTorch is private to it and changes from version to version, so that only the versions are supported
with which this was tested.
"""

from __future__ import annotations

from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any

from ._errors import InputError, UnsupportedTorchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import ModuleType

    from ._schedule import Schedule

TESTED = ("2.14", "2.15")
"""The releases with which this is tested."""

_PASSES = ("F", "I", "W", "B", "OVERLAP_F_B")
"""What PyTorch calls the actions that compute."""

_OMISSIBLE = ("WAIT_SEND_F", "WAIT_SEND_B", "WAIT_REDUCE_GRAD")
"""Actions that older releases do not know: they wait for all sends at the end of a step, and for a reduction at once."""


def schedules() -> ModuleType:
    """The module of PyTorch that has its pipeline schedules.

    Raises:
        UnsupportedTorchError: if there is no PyTorch, or one of a release that was not tested.
    """
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise UnsupportedTorchError(f"PyTorch is not installed: {error}") from error
    version = str(torch.__version__)
    if ".".join(version.split(".")[:2]) not in TESTED:
        raise UnsupportedTorchError(
            f"PyTorch {version} is installed, but what is used of it was tested with {' and '.join(TESTED)} only; "
            "Schedule.to_csv(communication=True) writes a file that its runtime may load"
        )
    return import_module("torch.distributed.pipelining.schedules")


def load(
    schedule: Schedule,
    stages: Any,
    loss_fn: Callable[..., Any] | None,
    n_microbatches: int | None,
    options: Mapping[str, Any],
) -> Any:
    """A pipeline schedule of PyTorch that runs a schedule."""
    pipelining = schedules()
    # What PyTorch cannot run is refused here, before anything else.
    actions = _actions(pipelining, schedule.to_csv(communication=True))
    held: list[Any] = [*stages] if isinstance(stages, (list, tuple)) else [stages]
    _check(schedule, held, n_microbatches)
    runtime = pipelining._PipelineScheduleRuntime(held, schedule.microbatches, loss_fn=loss_fn, **options)
    runtime._prepare_schedule_with_comms(actions, format="compute_comms")
    runtime.pipeline_order = _actions(pipelining, schedule.to_csv())
    return runtime


def _check(schedule: Schedule, held: list[Any], n_microbatches: int | None) -> None:
    """Checks that stages are those of one device of a schedule.

    Raises:
        InputError: if they are not.
    """
    if n_microbatches is not None and n_microbatches != schedule.microbatches:
        raise InputError(
            f"n_microbatches is {n_microbatches}, but the schedule has {schedule.microbatches}",
            "optimise a model with that number of microbatches: Model.resized(microbatches=...)",
            "n_microbatches",
        )
    if not held:
        raise InputError("there are no stages", field="stages")
    first = held[0]
    if first.num_stages != schedule.stages:
        raise InputError(
            f"the stages are of {first.num_stages}, but the schedule has {schedule.stages}", field="stages"
        )
    if first.group_size != schedule.devices:
        raise InputError(
            f"the process group has {first.group_size} ranks, but the schedule has {schedule.devices} devices",
            field="stages",
        )
    rank: int = first.group_rank
    given = sorted(int(stage.stage_index) for stage in held)
    wanted = sorted(schedule.placement[rank])
    if given != wanted:
        raise InputError(
            f"rank {rank} has the stages {given}, but the schedule places {wanted} there",
            "Schedule.placement lists the stages of every rank",
            "stages",
        )


def _actions(pipelining: ModuleType, csv: str) -> dict[int, list[Any]]:
    """The rows of a CSV as actions of PyTorch, without those that this release does not know and need not."""
    known = {kind.value for kind in pipelining._ComputationType}
    unknown = tuple(name for name in _OMISSIBLE if name not in known)

    def is_known(cell: str) -> bool:
        return not any(name in cell for name in unknown)

    return {
        rank: [pipelining._Action.from_str(cell) for cell in row.split(",") if is_known(cell)]
        for rank, row in enumerate(csv.splitlines())
    }


def read(schedule: Any) -> Schedule:
    """The schedule that a pipeline schedule of PyTorch runs."""
    from ._schedule import Schedule

    pipelining = schedules()
    if not isinstance(schedule, pipelining._PipelineSchedule):
        kind = type(schedule).__name__
        raise InputError(f"this is no pipeline schedule of PyTorch, but a {kind}", field="schedule")
    orders: Mapping[int, Iterable[Any]] | None = schedule.pipeline_order
    # A runtime that has loaded a file with communication has that alone.
    orders = orders or getattr(schedule, "pipeline_order_with_comms", None)
    if not orders:
        raise InputError(
            f"{type(schedule).__name__} does not say in which order its passes run",
            "a _PipelineScheduleRuntime must have loaded a file",
            "schedule",
        )
    computing = {rank: _computing(pipelining, orders[rank]) for rank in sorted(orders)}
    if isinstance(schedule, pipelining.PipelineScheduleSingle):
        computing = {rank: _in_order(pipelining, actions) for rank, actions in computing.items()}
    rows = (",".join(map(str, actions)) for actions in computing.values())
    return Schedule.from_text("".join(f"{row}\r\n" for row in rows), file=type(schedule).__name__)


def _computing(pipelining: ModuleType, actions: Iterable[Any]) -> list[Any]:
    """The actions that compute."""
    computing = {kind for kind in pipelining._ComputationType if kind.value in _PASSES}
    return [action for action in actions if action is not None and action.computation_type in computing]


def _in_order(pipelining: ModuleType, actions: Iterable[Any]) -> list[Any]:
    """The actions with forwards counted from 0, as schedules of one stage per rank run them.

    What ``Schedule1F1B`` says of itself begins with microbatch 1 on the last rank, in PyTorch 2.14 and 2.15.
    """
    forwards = count()
    return [
        action._replace(microbatch_index=next(forwards)) if action.computation_type == pipelining.FORWARD else action
        for action in actions
    ]
