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
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    from ._schedule import Schedule

TESTED = ("2.14", "2.15")
"""The releases with which this is tested."""

_PASSES = ("F", "I", "W", "B", "OVERLAP_F_B")
"""What PyTorch calls the actions that compute."""

_OPTIONS = ("args_chunk_spec", "kwargs_chunk_spec", "output_merge_spec", "scale_grads", "backward_requires_autograd")
"""The options of PyTorch's runtime that have an effect on what is loaded; the others are about how it makes communication."""

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
    held: list[Any] = [stages] if hasattr(stages, "stage_index") else [*stages]
    for name in options:
        if name not in _OPTIONS:
            raise InputError(
                f"{name} has no effect on a schedule that is loaded", f"known: {', '.join(_OPTIONS)}", name
            )
    _check(schedule, held, n_microbatches)
    if any("I" in each or "W" in each for order in schedule.orders for each in order):
        _check_split(held)
    # PyTorch finds out the shapes of messages in the order of this list.
    held.sort(key=lambda stage: int(stage.stage_index))
    runtime = pipelining._PipelineScheduleRuntime(held, schedule.microbatches, loss_fn=loss_fn, **options)
    runtime._prepare_schedule_with_comms(actions, format="compute_comms")
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
    for stage in held:
        if stage.num_stages != schedule.stages:
            raise InputError(
                f"a stage is of {stage.num_stages}, but the schedule has {schedule.stages}", field="stages"
            )
        if stage.group_size != schedule.devices:
            raise InputError(
                f"the process group has {stage.group_size} ranks, but the schedule has {schedule.devices} devices",
                field="stages",
            )
    rank: int = held[0].group_rank
    given = sorted(int(stage.stage_index) for stage in held)
    wanted = sorted(schedule.placement[rank])
    if given != wanted:
        raise InputError(
            f"rank {rank} has the stages {given}, but the schedule places {wanted} there",
            "Schedule.placement lists the stages of every rank",
            "stages",
        )


def _check_split(held: list[Any]) -> None:
    """Checks that what wraps the stages survives a backward in two parts.

    Raises:
        InputError: if some gradients would be missing.
    """
    parallel = import_module("torch.nn.parallel")
    fsdp = import_module("torch.distributed.fsdp")
    for stage in held:
        if isinstance(stage.submod, parallel.DistributedDataParallel):
            raise InputError(
                f"stage {stage.stage_index} is a DistributedDataParallel, which does not reduce gradients where the backward "
                "is split into I and W",
                "reduce them after the step, use fully_shard, or a schedule that does not split the backward",
                "stages",
            )
        for module in stage.submod.modules():
            if isinstance(module, fsdp.FSDPModule) and _reshards(module):
                raise InputError(
                    f"stage {stage.stage_index} frees its weights after every forward, and PyTorch gathers none for I",
                    "fully_shard(..., reshard_after_forward=False)",
                    "stages",
                )


def _reshards(module: Any) -> bool:
    """Whether an FSDP module frees its weights after its forward."""
    group = module._get_fsdp_state()._fsdp_param_group
    return group is not None and group.post_forward_mesh_info is not None


def _omitted(pipelining: ModuleType) -> tuple[str, ...]:
    """The actions that this release does not know."""
    known = {kind.value for kind in pipelining._ComputationType}
    return tuple(name for name in _OMISSIBLE if name not in known)


def _actions(pipelining: ModuleType, csv: str) -> dict[int, list[Any]]:
    """The rows of a CSV as actions of PyTorch, without those that this release does not know and need not."""
    omitted = _omitted(pipelining)

    def is_known(cell: str) -> bool:
        return not any(name in cell for name in omitted)

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
    # What a runtime executes has communication. Its class may have made another order before it loaded a file.
    executed: Mapping[int, Iterable[object]] | None = getattr(schedule, "pipeline_order_with_comms", None)
    if executed:
        omitted = _omitted(pipelining)
        rows = (",".join(_with_waits(map(str, filter(None, executed[rank])), omitted)) for rank in sorted(executed))
        return Schedule.from_text("".join(f"{row}\r\n" for row in rows), file=type(schedule).__name__)
    orders: Mapping[int, Iterable[Any]] | None = schedule.pipeline_order
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


def _with_waits(actions: Iterable[str], omitted: tuple[str, ...]) -> Iterator[str]:
    """The actions of a rank, and those that its release omits because it waits without being told."""
    sent: list[str] = []
    for action in actions:
        yield action
        if "WAIT_REDUCE_GRAD" in omitted and action.endswith("REDUCE_GRAD"):
            yield action.replace("REDUCE_GRAD", "WAIT_REDUCE_GRAD")
        if "WAIT_SEND_F" in omitted and "SEND_" in action:
            sent.append(action.replace("SEND_", "WAIT_SEND_"))
    yield from sent


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
