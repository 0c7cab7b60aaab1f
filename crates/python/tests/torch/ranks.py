"""Ranks as processes on this machine, and a small model cut into stages."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

WIDTH, ROWS = 8, 2


class Layer(nn.Module):
    """A stage: its own weights, and something that is not linear."""

    def __init__(self, stage: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(100 + stage)
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH, generator=generator, dtype=torch.float64) / 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x @ self.weight)


def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(output, target)


def data(microbatches: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    shape = (microbatches * ROWS, WIDTH)
    return (
        torch.randn(shape, generator=generator, dtype=torch.float64),
        torch.randn(shape, generator=generator, dtype=torch.float64),
    )


def gradients(stages: int, microbatches: int) -> list[torch.Tensor]:
    """The gradients of every stage without any pipeline."""
    layers = [Layer(stage) for stage in range(stages)]
    inputs, targets = data(microbatches)
    for x, target in zip(inputs.chunk(microbatches), targets.chunk(microbatches), strict=True):
        (loss(nn.Sequential(*layers)(x), target) / microbatches).backward()
    return [layer.weight.grad for layer in layers]


def stage(index: int, stages: int, group: dist.ProcessGroup) -> PipelineStage:
    flowing = torch.empty(ROWS, WIDTH, dtype=torch.float64, device="meta", requires_grad=True)
    return PipelineStage(
        Layer(index),
        index,
        stages,
        torch.device("cpu"),
        input_args=(flowing if index > 0 else flowing.detach(),),
        output_args=(flowing,),
        group=group,
    )


def step(pipeline: Any, held: list[PipelineStage], microbatches: int) -> None:
    """One training step, as every rank writes it."""
    inputs, targets = data(microbatches)
    indices = {each.stage_index for each in held}
    arguments = (inputs,) if 0 in indices else ()
    keywords = {"target": targets, "losses": []} if held[0].num_stages - 1 in indices else {}
    pipeline.step(*arguments, return_outputs=False, **keywords)


def run(ranks: int, work: Callable[[int], Any]) -> list[Any]:
    """What every rank returns of the work, with gloo between them. An error of one is raised here."""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        pipes = [context.Pipe(duplex=False) for _ in range(ranks)]
        workers = [
            context.Process(target=_rank, args=(rank, ranks, work, f"{folder}/store", pipes[rank][1]), daemon=True)
            for rank in range(ranks)
        ]
        for worker in workers:
            worker.start()
        try:
            answers = []
            for rank, (receiver, _) in enumerate(pipes):
                assert receiver.poll(120), f"rank {rank} hangs"
                is_well, answer = receiver.recv()
                assert is_well, f"rank {rank}:\n{answer}"
                answers.append(answer)
            return answers
        finally:
            for worker in workers:
                worker.kill()
                worker.join()


def _rank(rank: int, ranks: int, work: Callable[[int], Any], store: str, results: Connection) -> None:
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks, timeout=timedelta(seconds=100)
    )
    try:
        answer = (True, work(rank))
    except Exception:
        answer = (False, traceback.format_exc())
    results.send(answer)
    # Until everybody has what it needs of this rank.
    results.close()
    dist.barrier()
