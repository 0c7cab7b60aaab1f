"""Trains a small model with a schedule file, once in PyTorch's pipeline runtime and once without any pipeline.

    python3 train.py FILE.csv

FILE.csv is what `bubbleproof convert --to pytorch` or `--to pytorch-comms` writes. One process for each rank, gloo
between them, on this machine. Prints the loss of both after some steps, and ends with status 1 if they differ.
"""

import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

import pipeline

STEPS = 30
SHOWN = (1, 10, 20, 30)
RATE = 0.5


def alone(job: pipeline.Job) -> list[float]:
    """The loss of every step without any pipeline."""
    model = nn.Sequential(*(pipeline.Layer(stage) for stage in range(job.stages)))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    inputs, targets = pipeline.data(job.microbatches)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = pipeline.loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def rank_main(rank: int, job: pipeline.Job, folder: str) -> None:
    """What every rank does: its stages, its optimiser, and the schedule from the file."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=job.ranks)
    stages = pipeline.stages_of(rank, job, dist.group.WORLD)
    schedule = _PipelineScheduleRuntime(stages, job.microbatches, loss_fn=pipeline.loss, scale_grads=True)
    schedule._load_csv(str(job.path), format=job.form)
    optimizer = torch.optim.SGD([weight for stage in stages for weight in stage.submod.parameters()], lr=RATE)
    inputs, targets = pipeline.data(job.microbatches)
    held = {stage.stage_index for stage in stages}
    kept = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        losses: list[torch.Tensor] = []
        arguments = (inputs,) if 0 in held else ()
        keywords = {"target": targets, "losses": losses} if job.stages - 1 in held else {}
        schedule.step(*arguments, return_outputs=False, **keywords)
        optimizer.step()
        if losses:
            kept.append(sum(loss.item() for loss in losses) / job.microbatches)
    if kept:
        torch.save(kept, f"{folder}/losses")
    dist.destroy_process_group()


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    form = "compute_comms" if "SEND_" in path.read_text() else "compute_only"
    job = pipeline.job(path, form)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.start_processes(rank_main, args=(job, folder), nprocs=job.ranks, start_method="fork")
        piped = torch.load(f"{folder}/losses")
    expected = alone(job)
    print(f"{job.ranks} ranks, {job.stages} stages, {job.microbatches} microbatches, {form}")
    print("step  loss in the pipeline  loss without")
    for step in SHOWN:
        print(f"{step:<6}{piped[step - 1]:<22.12f}{expected[step - 1]:.12f}")
    if not torch.allclose(torch.tensor(piped), torch.tensor(expected), rtol=1e-9):
        sys.exit("they differ")


if __name__ == "__main__":
    main()
