"""A small model cut into stages, run by PyTorch's pipeline runtime and by itself.

Every rank is a process of its own, forked after PyTorch was imported, with gloo between them. A rank runs its
jobs one after the other and reports each.
"""

import dataclasses
import logging
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import re
import sys
import tempfile
import time
import weakref
from datetime import timedelta
from typing import Any, Callable

import torch
import torch.distributed as dist
import torch.utils.checkpoint
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

WIDTH = 8
"""The width of every layer."""

ROWS = 2
"""The rows of a microbatch."""

EXACT = 1e-9
"""The relative error up to which a gradient is right: what rounding leaves is far below, what is wrong far above."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A file to run: its form, and the size of the pipeline that it is for."""

    path: pathlib.Path
    form: str
    ranks: int
    stages: int
    microbatches: int
    checkpointed: tuple[int, ...] = ()
    """The stages whose modules are wrapped in activation checkpointing."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a job: `ends`, `wrong gradients`, `refused` or `hangs`."""

    what: str
    error: float = 0.0
    """The largest difference of a gradient from the sequential model's, relative to the largest gradient."""
    wrong: tuple[int, ...] = ()
    """The stages whose gradients differ."""
    live: tuple[int, ...] = ()
    """By rank: the most stage activations that autograd kept at any time."""
    computed: tuple[int, ...] = ()
    """By stage: how often its module computed its output."""
    message: str = ""
    """Why it was refused."""


def job(path: pathlib.Path, form: str, checkpointed: tuple[int, ...] = ()) -> Job:
    """Reads off a file how large its pipeline is."""
    text = path.read_text()
    passes = [(int(stage), int(microbatch)) for stage, microbatch in re.findall(r"(\d+)F(\d+)", text)]
    ranks = len(text.splitlines())
    return Job(path, form, ranks, 1 + max(s for s, _ in passes), 1 + max(m for _, m in passes), checkpointed)


class Live:
    """Counts the activations of stages that autograd keeps, and remembers the most at a time.

    An activation lives from the forward that saves a first tensor for its backward until the last of those
    tensors is given back.
    """

    def __init__(self) -> None:
        self.saved: dict[tuple[int, int], int] = {}
        self.most = 0

    def hooks(self, key: tuple[int, int]) -> torch.autograd.graph.saved_tensors_hooks:
        """Counts what is saved while these hooks are in force as part of one activation."""

        def pack(tensor: torch.Tensor) -> "Saved":
            self.saved[key] = self.saved.get(key, 0) + 1
            self.most = max(self.most, len(self.saved))
            saved = Saved(tensor)
            weakref.finalize(saved, self.drop, key)
            return saved

        return torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor)

    def drop(self, key: tuple[int, int]) -> None:
        self.saved[key] -= 1
        if self.saved[key] == 0:
            del self.saved[key]


class Saved:
    """A tensor that autograd saved. It goes when the graph lets go of it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class Layer(nn.Module):
    """What a stage computes: its own weights, and something not linear."""

    def __init__(self, stage: int, live: Live | None = None, is_checkpointed: bool = False) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1000 + stage)
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH, generator=generator, dtype=torch.float64) / 3)
        self.stage = stage
        self.live = live
        self.is_checkpointed = is_checkpointed
        self.calls = 0
        self.computed = 0

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        self.computed += 1
        return torch.tanh(x @ self.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.live is None or not torch.is_grad_enabled() or x.device.type == "meta":
            return torch.tanh(x @ self.weight)
        if self.is_checkpointed:
            return torch.utils.checkpoint.checkpoint(self.compute, x, use_reentrant=False)
        self.calls += 1
        with self.live.hooks((self.stage, self.calls)):
            return self.compute(x)


def data(microbatches: int, seed: int = 7) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets, different for every microbatch."""
    generator = torch.Generator().manual_seed(seed)
    shape = (microbatches * ROWS, WIDTH)
    inputs = torch.randn(shape, generator=generator, dtype=torch.float64)
    return inputs, torch.randn(shape, generator=generator, dtype=torch.float64)


def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(output, target)


def sequential(stages: int, microbatches: int, seed: int = 7) -> list[torch.Tensor]:
    """The gradients of all stages, without any pipeline."""
    layers = [Layer(stage) for stage in range(stages)]
    inputs, targets = data(microbatches, seed)
    for x, target in zip(inputs.chunk(microbatches), targets.chunk(microbatches), strict=True):
        (loss(nn.Sequential(*layers)(x), target) / microbatches).backward()
    return [layer.weight.grad for layer in layers]


def stages_of(rank: int, job: Job, group: dist.ProcessGroup, live: Live | None = None) -> list[PipelineStage]:
    """The stages that a rank's row names, each with its own layer."""
    return [
        stage_of(Layer(stage, live, stage in job.checkpointed), stage, job, group) for stage in held(rank, job)
    ]


def held(rank: int, job: Job) -> list[int]:
    """The stages that a rank's row names."""
    row = job.path.read_text().splitlines()[rank]
    return sorted({int(stage) for stage in re.findall(r"(\d+)F\d+", row)})


def stage_of(module: nn.Module, stage: int, job: Job, group: dist.ProcessGroup) -> PipelineStage:
    """A module as a stage of the pipeline."""
    # Between stages gradients flow; into the first none does.
    flowing = torch.empty(ROWS, WIDTH, dtype=torch.float64, device="meta", requires_grad=True)
    return PipelineStage(
        module,
        stage,
        job.stages,
        torch.device("cpu"),
        input_args=(flowing if stage > 0 else flowing.detach(),),
        output_args=(flowing,),
        group=group,
    )


Report = tuple[list[tuple[int, float]], int, dict[int, int]]
"""Of a rank: the relative error of its stages' gradients, live activations, and how often its stages computed."""

Step = Callable[[int, Job, dist.ProcessGroup], Any]
"""What a rank does for a job, and what it reports: for one replica, `step`."""


def step(rank: int, job: Job, group: dist.ProcessGroup) -> Report:
    """One step of the pipeline on one rank."""
    live = Live()
    stages = stages_of(rank, job, group, live)
    layers = {stage.stage_index: stage.submod for stage in stages}
    schedule = _PipelineScheduleRuntime(stages, job.microbatches, loss_fn=loss, scale_grads=True)
    schedule._load_csv(str(job.path), format=job.form)
    inputs, targets = data(job.microbatches)
    arguments = (inputs,) if 0 in layers else ()
    keywords = {"target": targets, "losses": []} if job.stages - 1 in layers else {}
    live.most = 0
    for layer in layers.values():
        layer.computed = 0
    schedule.step(*arguments, return_outputs=False, **keywords)
    expected = sequential(job.stages, job.microbatches)
    errors = [(stage, error_of(layer.weight.grad, expected[stage])) for stage, layer in layers.items()]
    return errors, live.most, {stage: layer.computed for stage, layer in layers.items()}


def error_of(found: torch.Tensor | None, expected: torch.Tensor) -> float:
    """The largest difference of a gradient from the right one, relative to the largest gradient. Not a number if missing."""
    return torch.nan if found is None else float((found - expected).abs().max() / expected.abs().max())


def work(
    rank: int, ranks: int, jobs: list[Job], step: Step, store: str, results: multiprocessing.connection.Connection
) -> None:
    """A rank: joins the others, runs every job, reports each."""
    sys.stderr = open(os.devnull, "w")
    os.dup2(sys.stderr.fileno(), 2)
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks, timeout=timedelta(seconds=300)
    )
    for job in jobs:
        try:
            results.send(step(rank, job, dist.group.WORLD))
        except Exception as failure:
            results.send(describe(failure))
            return
    dist.barrier()
    dist.destroy_process_group()


def describe(error: BaseException) -> str:
    """An error and its first cause, in a line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def run(jobs: list[Job], limit: float) -> list[Outcome]:
    """Runs jobs of equally many ranks. After one that does not end well none is tried: the ranks are lost."""
    return [said if isinstance(said, Outcome) else judge(said) for said in reports(jobs, jobs[0].ranks, step, limit)]


def reports(jobs: list[Job], ranks: int, step: Step, limit: float) -> list[dict[int, Any] | Outcome]:
    """What so many ranks report of jobs that they run, up to the first that does not end well."""
    assert all(job.ranks == jobs[0].ranks for job in jobs)
    context = multiprocessing.get_context("fork")
    collected: list[dict[int, Any] | Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        pipes = [context.Pipe(duplex=False) for _ in range(ranks)]
        workers = [
            context.Process(
                target=work, args=(rank, ranks, jobs, step, f"{folder}/store", pipes[rank][1]), daemon=True
            )
            for rank in range(ranks)
        ]
        for worker in workers:
            worker.start()
        try:
            while len(collected) < len(jobs) and not (collected and isinstance(collected[-1], Outcome)):
                collected.append(collect([receiver for receiver, _ in pipes], limit))
        finally:
            if len(collected) == len(jobs) and not isinstance(collected[-1], Outcome):
                for worker in workers:
                    worker.join(10)
            for worker in workers:
                worker.kill()
                worker.join()
    return collected


def collect(receivers: list[multiprocessing.connection.Connection], limit: float) -> dict[int, Any] | Outcome:
    """What the ranks report of a job. A rank that refuses leaves the others waiting: the first word counts."""
    deadline = time.monotonic() + limit
    said: dict[int, Any] = {}
    waiting = dict(enumerate(receivers))
    while waiting:
        ready = multiprocessing.connection.wait(waiting.values(), max(0.0, deadline - time.monotonic()))
        if not ready:
            return Outcome("hangs", message=f"ranks {sorted(waiting)} are not done after {limit:.0f} s")
        for rank in [rank for rank, receiver in waiting.items() if receiver in ready]:
            try:
                report = waiting.pop(rank).recv()
            except EOFError:
                return Outcome("refused", message=f"rank {rank} ended")
            if isinstance(report, str):
                return Outcome("refused", message=f"rank {rank}: {report}")
            said[rank] = report
    return said


def judge(reports: dict[int, Report]) -> Outcome:
    """What became of a job that every rank ran to its end."""
    errors = sorted(error for rank in reports for error in reports[rank][0])
    # What is not a number is wrong too.
    wrong = tuple(stage for stage, error in errors if not error < EXACT)
    live = tuple(reports[rank][1] for rank in sorted(reports))
    worst = max(error for _, error in errors)
    counts = dict(entry for rank in reports for entry in reports[rank][2].items())
    computed = tuple(counts[stage] for stage in sorted(counts))
    return Outcome("wrong gradients" if wrong else "ends", worst, wrong, live, computed)
