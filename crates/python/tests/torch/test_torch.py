"""Schedules of PyTorch: made, read, run and profiled."""

from __future__ import annotations

import types
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import Layer, gradients, run, stage, step
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining import schedules as pipelining

import bubbleproof as bp


def model(devices: int, placement: str, microbatches: int = 6) -> bp.Model:
    chunks = {"chunks": 2} if placement == "looped" else {}
    return bp.Model(
        devices=devices,
        microbatches=microbatches,
        placement=placement,
        forward=2,
        backward_input=2,
        backward_weight=1,
        latency=1,
        activation=1,
        **chunks,
    )


def made(name: str, devices: int, placement: str) -> bp.Schedule:
    problem = model(devices, placement)
    return bp.optimize(problem, memory="75%").schedule if name == "optimised" else bp.Schedule.named(name, problem)


def mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.mse_loss(output, target)


def held(schedule: bp.Schedule, rank: int) -> list[Any]:
    return [stage(index, schedule.stages, dist.group.WORLD) for index in schedule.placement[rank]]


def errors(schedule: bp.Schedule, rank: int) -> list[float]:
    """By how much the gradients of a rank are off after a step."""
    mine = held(schedule, rank)
    pipeline = schedule.to_torch(mine, mse)
    assert bp.Schedule.from_torch(pipeline).orders == schedule.orders
    step(pipeline, mine, schedule.microbatches)
    expected = gradients(schedule.stages, schedule.microbatches)
    return [float((each.submod.weight.grad - expected[each.stage_index]).abs().max()) for each in mine]


@pytest.mark.parametrize(
    ("name", "devices", "placement"),
    [
        ("1f1b", 2, "linear"),
        ("zb-h1", 4, "linear"),
        ("interleaved-1f1b", 2, "looped"),
        ("v-half", 4, "v"),
        ("optimised", 2, "linear"),
        ("optimised", 4, "v"),
    ],
)
def test_a_schedule_trains_as_one_device_does(name: str, devices: int, placement: str) -> None:
    schedule = made(name, devices, placement)
    found = run(devices, lambda rank: errors(schedule, rank))
    assert all(error < 1e-12 for mine in found for error in mine)


def stand_ins(rank: int, ranks: int, chunks: int = 1) -> list[Any]:
    """What PyTorch's schedules need of stages, to be made."""
    return [
        types.SimpleNamespace(
            stage_index=chunk * ranks + rank,
            num_stages=ranks * chunks,
            group_size=ranks,
            group_rank=rank,
            is_first=chunk * ranks + rank == 0,
            is_last=chunk * ranks + rank == ranks * chunks - 1,
            has_backward=True,
            submod=torch.nn.Identity(),
        )
        for chunk in range(chunks)
    ]


@pytest.mark.parametrize(
    ("name", "chunks", "ours"),
    [
        ("GPipe", 1, "gpipe"),
        ("1F1B", 1, "1f1b"),
        ("LoopedBFS", 2, None),
        ("Interleaved1F1B", 2, "interleaved-1f1b"),
        ("InterleavedZeroBubble", 2, None),
        ("ZBVZeroBubble", 2, None),
        ("DualPipeV", 2, None),
    ],
)
def test_what_pytorch_makes_is_read_and_measured(name: str, chunks: int, ours: str | None) -> None:
    ranks, microbatches = 4, 8
    kind = pipelining.get_schedule_class(name)
    stages = stand_ins(0, ranks, chunks)
    is_single = issubclass(kind, pipelining.PipelineScheduleSingle)
    schedule = bp.Schedule.from_torch(kind(stages[0] if is_single else stages, microbatches))
    assert (schedule.devices, schedule.stages, schedule.microbatches) == (ranks, ranks * chunks, microbatches)
    problem = bp.Model(
        devices=ranks,
        microbatches=microbatches,
        placement=schedule.placement,
        forward=1,
        backward_input=1,
        backward_weight=1,
    )
    replay = bp.verify(schedule, problem)
    assert replay.gap >= 0
    if ours is not None:
        placed = model(ranks, "looped" if chunks == 2 else "linear", microbatches)
        named = bp.replay(bp.Schedule.named(ours, placed), placed)
        assert replay.schedule.orders == named.schedule.orders


def test_a_schedule_that_pytorch_made_runs_in_another_runtime() -> None:
    """The order is read from one schedule object and loaded into another, with verified communication."""
    schedule = bp.Schedule.from_torch(pipelining.Schedule1F1B(stand_ins(0, 2)[0], 4))
    assert all(error < 1e-12 for mine in run(2, lambda rank: errors(schedule, rank)) for error in mine)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"n_microbatches": 7}, "n_microbatches", "n_microbatches is 7, but the schedule has 6"),
        ({"stages": []}, "stages", "there are no stages"),
        ({"stages": stand_ins(0, 3)}, "stages", "a stage is of 3, but the schedule has 4"),
        ({"stages": stand_ins(0, 2, 2)}, "stages", "the process group has 2 ranks, but the schedule has 4 devices"),
        ({"stages": stand_ins(1, 4) + stand_ins(1, 4)}, "stages", "rank 1 has the stages [1, 1]"),
    ],
)
def test_stages_that_do_not_fit_are_refused(change: dict[str, Any], field: str, message: str) -> None:
    schedule = made("1f1b", 4, "linear")
    arguments = {"stages": stand_ins(0, 4), **change}
    with pytest.raises(bp.InputError) as caught:
        schedule.to_torch(**arguments)
    assert caught.value.field == field and message in str(caught.value)


def refused(schedule: bp.Schedule, wrap: Any) -> str:
    """What is said of a schedule whose stages are wrapped."""
    mine = held(schedule, dist.get_rank())
    for each in mine:
        each.submod = wrap(each.submod)
    try:
        schedule.to_torch(mine, mse)
    except bp.InputError as error:
        return error.message
    return ""


def sharded(**options: bool) -> Any:
    mesh = torch.distributed.device_mesh.DeviceMesh("cpu", [dist.get_rank()])
    return lambda module: torch.distributed.fsdp.fully_shard(module, mesh=mesh, **options)


def replicated(module: torch.nn.Module) -> torch.nn.Module:
    alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
    return torch.nn.parallel.DistributedDataParallel(module, process_group=alone)


def test_wrappers_that_lose_gradients_of_a_split_backward_are_refused() -> None:
    split, whole = made("zb-h1", 2, "linear"), bp.Schedule.from_text("0F0,0B0\r\n1F0,1B0\r\n")

    def answers(_: int) -> list[str]:
        return [
            refused(split, sharded()),
            refused(split, sharded(reshard_after_forward=False)),
            refused(split, replicated),
            refused(whole, sharded()),
            refused(whole, replicated),
        ]

    for resharding, kept, ddp, *fused in run(2, answers):
        assert "frees its weights after every forward" in resharding
        assert "is a DistributedDataParallel" in ddp
        assert [kept, *fused] == ["", "", ""]


def test_forwards_of_the_last_stage_out_of_order_give_the_right_gradients() -> None:
    schedule = bp.Schedule.from_text("0F1,0F0,0I1,0W1,0I0,0W0\r\n1F1,1F0,1I1,1W1,1I0,1W0\r\n")

    def found(rank: int) -> list[float]:
        mine = held(schedule, rank)
        step(schedule.to_torch(mine, mse), mine, schedule.microbatches)
        expected = gradients(schedule.stages, schedule.microbatches)
        return [float((each.submod.weight.grad - expected[each.stage_index]).abs().max()) for each in mine]

    assert all(error < 1e-12 for mine in run(2, found) for error in mine)


def test_options_without_effect_are_refused() -> None:
    schedule = made("1f1b", 2, "linear")
    assert schedule.to_torch(stand_ins(0, 2), scale_grads=False).scale_grads is False
    with pytest.raises(bp.InputError, match="defer_pp_recv has no effect") as caught:
        schedule.to_torch(stand_ins(0, 2), defer_pp_recv=True)
    assert caught.value.field == "defer_pp_recv"


def test_a_runtime_is_read_as_it_runs_whatever_its_class_made(tmp_path: Any) -> None:
    schedule = made("v-half", 2, "v")
    runtime = pipelining.ScheduleZBVZeroBubble(stand_ins(0, 2, 2), 6)
    path = tmp_path / "schedule.csv"
    path.write_text(schedule.to_csv())
    runtime._load_csv(str(path))
    assert bp.Schedule.from_torch(runtime).orders == schedule.orders


def test_the_messages_of_a_runtime_are_verified() -> None:
    schedule, problem = made("interleaved-1f1b", 2, "looped"), model(2, "looped")
    runtime = schedule.to_torch(stand_ins(0, 2, 2), mse)
    executed = bp.Schedule.from_torch(runtime)
    assert executed.has_communication and executed.to_csv() == schedule.to_csv()
    communication = bp.verify(executed, problem).communication
    assert communication is not None and communication.ends_everywhere

    row = runtime.pipeline_order_with_comms[0]
    first, second = [at for at, action in enumerate(row) if action.computation_type == pipelining.RECV_B][:2]
    row[first], row[second] = row[second], row[first]
    with pytest.raises(bp.InvalidScheduleError) as caught:
        bp.verify(bp.Schedule.from_torch(runtime), problem)
    assert "swapped-messages" in {violation.rule for violation in caught.value.violations}


def test_stages_may_come_in_any_order() -> None:
    schedule = made("v-half", 2, "v")

    def found(rank: int) -> list[float]:
        mine = [
            PipelineStage(Layer(index), index, schedule.stages, torch.device("cpu"))
            for index in sorted(schedule.placement[rank], reverse=True)
        ]
        step(schedule.to_torch(iter(mine), mse), mine, schedule.microbatches)
        expected = gradients(schedule.stages, schedule.microbatches)
        return [float((each.submod.weight.grad - expected[each.stage_index]).abs().max()) for each in mine]

    assert all(error < 1e-12 for mine in run(2, found) for error in mine)


def test_one_stage_need_not_be_in_a_list() -> None:
    assert made("1f1b", 4, "linear").to_torch(stand_ins(1, 4)[0]).rank == 1


def test_what_the_runtime_cannot_do_is_refused_and_not_left_out() -> None:
    problem = model(2, "linear")
    recomputing = bp.Model.from_toml(problem.to_toml() + "\n[recompute]\ncheckpoint = 0\n")
    schedule = bp.Schedule.named("1f1b-r", recomputing)
    with pytest.raises(bp.InputError, match="recomputes, for which PyTorch has no action"):
        schedule.to_torch(stand_ins(0, 2))
    two_ways = bp.Schedule.named(
        "dualpipe",
        bp.Model(devices=2, microbatches=4, placement="bidirectional", forward=1, backward_input=1, backward_weight=1),
    )
    with pytest.raises(bp.InputError, match="two directions"):
        two_ways.to_torch(stand_ins(0, 2))


def test_what_is_no_schedule_of_pytorch_is_refused() -> None:
    with pytest.raises(bp.InputError, match="this is no pipeline schedule of PyTorch, but a str"):
        bp.Schedule.from_torch("1f1b")
    empty = pipelining._PipelineScheduleRuntime(stand_ins(0, 2), 4)
    with pytest.raises(bp.InputError, match="must have loaded a file"):
        bp.Schedule.from_torch(empty)


@pytest.mark.parametrize("version", ["2.13.0", "1.0", "3.0.0a1"])
def test_other_releases_are_refused_by_name(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    with pytest.raises(bp.UnsupportedTorchError, match=f"PyTorch {version} is installed.*2.14 and 2.15") as caught:
        bp.Schedule.from_torch(None)
    assert isinstance(caught.value, ImportError)


def profiled(schedule: bp.Schedule, rank: int) -> tuple[bp.Model, tuple[str, ...]]:
    mine = held(schedule, rank)
    pipeline = schedule.to_torch(mine, mse)
    with bp.profile_torch(pipeline, skip=1) as profile:
        for _ in range(3):
            step(pipeline, mine, schedule.microbatches)
    return profile.model, profile.notes


def test_every_rank_gets_the_same_model_of_the_steps_that_ran() -> None:
    schedule = made("1f1b", 2, "linear")
    answers = run(2, lambda rank: profiled(schedule, rank))
    assert answers[0] == answers[1]
    measured, notes = answers[0]
    assert (measured.devices, measured.stages, measured.microbatches, measured.time_unit) == (2, 2, 6, "ns")
    assert all(ticks > 0 for ticks in measured.forward)
    assert notes
    assert bp.replay(schedule, measured).is_valid


def test_replicas_profile_each_their_own_pipeline() -> None:
    """Ranks of a pipeline are not those of all processes."""
    schedule = made("zb-h1", 2, "linear")

    def profiled_in_groups(rank: int) -> bp.Model:
        group = [dist.new_group([0, 2]), dist.new_group([1, 3])][rank % 2]
        mine = [stage(rank // 2, 2, group)]
        pipeline = schedule.to_torch(mine, mse)
        with bp.profile_torch(pipeline) as profile:
            for _ in range(3):
                step(pipeline, mine, schedule.microbatches)
        return profile.model

    models = run(4, profiled_in_groups)
    assert models[0] == models[2] and models[1] == models[3]


def test_a_rank_that_fails_lets_no_other_wait() -> None:
    schedule = made("1f1b", 2, "linear")

    def said(rank: int) -> str:
        mine = held(schedule, rank)
        pipeline = schedule.to_torch(mine, mse)
        try:
            with bp.profile_torch(pipeline):
                for _ in range(2):
                    step(pipeline, mine, schedule.microbatches)
                if rank == 1:
                    raise ValueError("the data ended")
        except ValueError as error:
            return str(error)
        return ""

    assert run(2, said) == [
        "the steps of rank 1 failed, so that there is nothing to fit a model to",
        "the data ended",
    ]


def test_only_what_runs_action_by_action_is_profiled() -> None:
    with pytest.raises(bp.InputError, match=r"Schedule\.from_torch\(pipeline\)\.to_torch"):
        bp.profile_torch(pipelining.Schedule1F1B(stand_ins(0, 2)[0], 4))
