"""Measures a pipeline, finds a better schedule for it, and trains with that.

    python train.py [RANKS]

Four ranks, or as many as are given, run on this machine, with gloo between them. They profile some steps of ZB-H1, whose backward is
split, so that its parts are measured; fit a model to that; and optimise a schedule that needs no more memory than 1F1B. Then they
train with both. The weights must be those of the same training on one device, without a pipeline; otherwise the program ends with
status 1.

Each rank stands for a device of its own. So that they do not compete for the cores of this machine, layers compute little, and then
sleep for as long as the kernel of a larger layer would take.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.distributed.pipelining import PipelineStage

import bubbleproof as bp

RANKS = int(os.environ.setdefault("RANKS", (sys.argv[1:] or ["4"])[0]))
MICROBATCHES, ROWS, WIDTH, STEPS = 8, 4, 32, 5
KERNEL = 0.008
"""How many seconds each of the three products of a layer takes."""


class Product(torch.autograd.Function):
    """The product of inputs and weights, and that of the gradient of the inputs."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, seconds: float) -> torch.Tensor:
        ctx.save_for_backward(weight)
        ctx.seconds = seconds
        return taking(seconds, inputs @ weight.T)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (weight,) = ctx.saved_tensors
        return taking(ctx.seconds, gradients[0] @ weight), None, None


class OfWeight(torch.autograd.Function):
    """Nothing, and the product of the gradient of the weights: a node of its own, so that I can leave it to W."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, seconds: float) -> torch.Tensor:
        ctx.save_for_backward(inputs)
        ctx.seconds = seconds
        return inputs.new_zeros(len(inputs), len(weight))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor, None]:
        (inputs,) = ctx.saved_tensors
        return None, taking(ctx.seconds, gradients[0].T @ inputs), None


def taking(seconds: float, result: torch.Tensor) -> torch.Tensor:
    """The result, after some time."""
    time.sleep(seconds)
    return result


class Layer(nn.Module):
    """A linear layer of a device."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH, WIDTH, dtype=torch.float64) / WIDTH**0.5)
        self.seconds = seconds

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        product = Product.apply(inputs, self.weight.detach(), self.seconds)
        return nn.functional.gelu(product + OfWeight.apply(inputs.detach(), self.weight, self.seconds))


def layers(stage: int, seconds: float = KERNEL) -> nn.Module:
    """A stage: a layer, and a second one on the last stage, which takes half as long, as where a model has a heavy head."""
    torch.manual_seed(stage)
    head = [Layer(seconds / 2)] if stage == RANKS - 1 else []
    return nn.Sequential(Layer(seconds), *head)


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets of a step."""
    generator = torch.Generator().manual_seed(step)
    shape = (MICROBATCHES * ROWS, WIDTH)
    inputs, targets = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(2))
    return inputs, targets


def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """What is minimised."""
    return nn.functional.mse_loss(output, target)


class Rank:
    """The stage of a rank with its optimiser, and a schedule that runs it."""

    def __init__(self, rank: int, schedule: bp.Schedule) -> None:
        self.rank, self.module = rank, layers(rank)
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=0.1)
        stage = PipelineStage(self.module, rank, RANKS, torch.device("cpu"))
        self.pipeline = schedule.to_torch(stage, loss, n_microbatches=MICROBATCHES)

    def train(self) -> float:
        """Trains for some steps, and returns the seconds of the quickest one."""
        seconds = []
        for step in range(STEPS):
            inputs, targets = batch(step)
            first = (inputs,) if self.rank == 0 else ()
            last = {"target": targets, "losses": []} if self.rank == RANKS - 1 else {}
            self.optimizer.zero_grad()
            dist.barrier()
            begun = time.perf_counter()
            self.pipeline.step(*first, **last, return_outputs=False)
            dist.barrier()
            seconds.append(time.perf_counter() - begun)
            self.optimizer.step()
        return min(seconds)


def alone() -> list[nn.Module]:
    """The same training on one device: all stages."""
    modules = [layers(stage, seconds=0) for stage in range(RANKS)]
    model = nn.Sequential(*modules)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(STEPS):
        inputs, targets = batch(step)
        optimizer.zero_grad()
        for x, target in zip(inputs.chunk(MICROBATCHES), targets.chunk(MICROBATCHES), strict=True):
            (loss(model(x), target) / MICROBATCHES).backward()
        optimizer.step()
    return modules


def difference(module: nn.Module, other: nn.Module) -> float:
    """How far the weights of two modules are apart at the most."""
    pairs = zip(module.parameters(), other.parameters(), strict=True)
    return max((one.detach() - same.detach()).abs().max().item() for one, same in pairs)


def rank_main(rank: int, folder: str) -> None:
    """What every rank does."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    unit = bp.Model(devices=RANKS, microbatches=MICROBATCHES, forward=1, backward_input=1, backward_weight=1)
    profiled = Rank(rank, bp.Schedule.named("zb-h1", unit))
    with bp.profile_torch(profiled.pipeline, skip=1) as profile:
        profiled.train()

    # All ranks need the same schedule: one finds it, and the others get it.
    found = [bp.optimize(profile.model, memory="100%") if rank == 0 else None]
    dist.broadcast_object_list(found)
    (solution,) = found
    usual = bp.verify(bp.Schedule.named("1f1b", solution.model), solution.model)
    before, after = Rank(rank, usual.schedule), Rank(rank, solution.schedule)
    seconds = before.train(), after.train()

    errors: list[float] = [0.0] * RANKS
    dist.all_gather_object(errors, difference(after.module, alone()[rank]))
    if rank == 0:
        for name, replay, measured in zip(("1f1b", "found"), (usual, solution.replay), seconds, strict=True):
            predicted = f"predicted {1000 * (replay.makespan_seconds or 0):.1f} ms, at most {float(replay.gap):.1%} from the best"
            print(f"{name:6} {predicted}; measured {1000 * measured:.1f} ms")
        print(f"the weights differ by {max(errors):.1e} from those of training on one device")
    dist.destroy_process_group()
    if not all(error <= 1e-9 for error in errors):
        sys.exit("they differ")


def main() -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.start_processes(rank_main, args=(folder,), nprocs=RANKS, start_method="spawn")


if __name__ == "__main__":
    main()
