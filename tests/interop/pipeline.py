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


def data(microbatches: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets, different for every microbatch."""
    generator = torch.Generator().manual_seed(7)
    shape = (microbatches * ROWS, WIDTH)
    inputs = torch.randn(shape, generator=generator, dtype=torch.float64)
    return inputs, torch.randn(shape, generator=generator, dtype=torch.float64)


def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(output, target)


def sequential(stages: int, microbatches: int) -> list[torch.Tensor]:
    """The gradients of all stages, without any pipeline."""
    layers = [Layer(stage) for stage in range(stages)]
    inputs, targets = data(microbatches)
    for x, target in zip(inputs.chunk(microbatches), targets.chunk(microbatches), strict=True):
        (loss(nn.Sequential(*layers)(x), target) / microbatches).backward()
    return [layer.weight.grad for layer in layers]


def stages_of(rank: int, job: Job, group: dist.ProcessGroup, live: Live | None = None) -> list[PipelineStage]:
    """The stages that a rank's row names, each with its own layer."""
    row = job.path.read_text().splitlines()[rank]
    held = sorted({int(stage) for stage in re.findall(r"(\d+)F\d+", row)})
    # Between stages gradients flow; into the first none does.
    flowing = torch.empty(ROWS, WIDTH, dtype=torch.float64, device="meta", requires_grad=True)
    return [
        PipelineStage(
            Layer(stage, live, stage in job.checkpointed),
            stage,
            job.stages,
            torch.device("cpu"),
            input_args=(flowing if stage > 0 else flowing.detach(),),
            output_args=(flowing,),
            group=group,
        )
        for stage in held
    ]


Report = tuple[list[tuple[int, float]], int, dict[int, int]]
"""Of a rank: the relative error of its stages' gradients, live activations, and how often its stages computed."""


def step(rank: int, job: Job, group: dist.ProcessGroup) -> Report:
    """One step of the pipeline on one rank."""
    live = Live()
    stages = stages_of(rank, job, group, live)
    held = {stage.stage_index: stage.submod for stage in stages}
    schedule = _PipelineScheduleRuntime(stages, job.microbatches, loss_fn=loss, scale_grads=True)
    schedule._load_csv(str(job.path), format=job.form)
    inputs, targets = data(job.microbatches)
    arguments = (inputs,) if 0 in held else ()
    keywords = {"target": targets, "losses": []} if job.stages - 1 in held else {}
    live.most = 0
    for layer in held.values():
        layer.computed = 0
    schedule.step(*arguments, return_outputs=False, **keywords)
    expected = sequential(job.stages, job.microbatches)
    errors = []
    for stage, layer in held.items():
        found = torch.full_like(expected[stage], torch.nan) if layer.weight.grad is None else layer.weight.grad
        difference = (found - expected[stage]).abs().max() / expected[stage].abs().max()
        errors.append((stage, float(difference)))
    return errors, live.most, {stage: layer.computed for stage, layer in held.items()}


def work(rank: int, ranks: int, jobs: list[Job], store: str, results: multiprocessing.connection.Connection) -> None:
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
        except Exception as error:
            results.send(describe(error))
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
    ranks = jobs[0].ranks
    assert all(job.ranks == ranks for job in jobs)
    context = multiprocessing.get_context("fork")
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        pipes = [context.Pipe(duplex=False) for _ in range(ranks)]
        workers = [
            context.Process(target=work, args=(rank, ranks, jobs, f"{folder}/store", pipes[rank][1]), daemon=True)
            for rank in range(ranks)
        ]
        for worker in workers:
            worker.start()
        try:
            for job in jobs:
                outcomes.append(collect(job, [receiver for receiver, _ in pipes], limit))
                if outcomes[-1].what in ("hangs", "refused"):
                    break
        finally:
            if len(outcomes) == len(jobs) and outcomes[-1].what not in ("hangs", "refused"):
                for worker in workers:
                    worker.join(10)
            for worker in workers:
                worker.kill()
                worker.join()
    return outcomes


def collect(job: Job, receivers: list[multiprocessing.connection.Connection], limit: float) -> Outcome:
    """What the ranks report of a job. A rank that refuses leaves the others waiting: the first word counts."""
    deadline = time.monotonic() + limit
    reports: dict[int, Report] = {}
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
            reports[rank] = report
    errors = sorted(error for rank in reports for error in reports[rank][0])
    # What is not a number is wrong too.
    wrong = tuple(stage for stage, error in errors if not error < 1e-9)
    live = tuple(reports[rank][1] for rank in sorted(reports))
    worst = max(error for _, error in errors)
    counts = dict(entry for rank in reports for entry in reports[rank][2].items())
    computed = tuple(counts[stage] for stage in sorted(counts))
    return Outcome("wrong gradients" if wrong else "ends", worst, wrong, live, computed)
