"""Records what torch.profiler writes for PyTorch's own pipeline runtime: one file for each rank.

    PYTHONPATH=.deps/torch-2.15.0 python3 tests/interop/record.py TOOL FOLDER

TOOL is the bubbleproof to ask for schedules, such as target/debug/bubbleproof. The pipeline is the small one of
tests/interop, with wider layers, on the CPU: every rank is a process, with gloo between them. The files are cut
down to what a reader of them needs: the ranges that the runtime names `PP:...`, the steps, and within those
ranges the outermost operators; everything else that the profiler writes (threads, shapes, kernels) is left out.
"""

import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
from datetime import timedelta

import pipeline
import torch
import torch.distributed as dist
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime
from torch.profiler import ProfilerActivity, profile, schedule

ROOT = pathlib.Path(__file__).resolve().parents[2]

WIDTH, ROWS = 192, 1024
"""The width of a layer and the rows of a microbatch: a forward takes about a millisecond."""

WARM, STEPS = 2, 3
"""Steps before anything is recorded, and steps that are."""

CASES = [("1f1b", "models/profiles/unit-linear.toml", 2, 4), ("v-half", "models/profiles/unit-v.toml", 2, 4)]
"""Name, model, ranks, microbatches."""


def work(rank: int, job: pipeline.Job, folder: str, target: str) -> None:
    """A rank: runs the steps and writes what the profiler saw."""
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=job.ranks,
        timeout=timedelta(seconds=300),
    )
    stages = pipeline.stages_of(rank, job, dist.group.WORLD)
    held = {stage.stage_index for stage in stages}
    runtime = _PipelineScheduleRuntime(stages, job.microbatches, loss_fn=pipeline.loss, scale_grads=True)
    runtime._load_csv(str(job.path), format=job.form)
    inputs, targets = pipeline.data(job.microbatches)
    arguments = (inputs,) if 0 in held else ()
    with profile(
        activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=WARM, active=STEPS, repeat=1)
    ) as profiler:
        for _ in range(WARM + STEPS):
            keywords = {"target": targets, "losses": []} if job.stages - 1 in held else {}
            dist.barrier()
            runtime.step(*arguments, return_outputs=False, **keywords)
            profiler.step()
    profiler.export_chrome_trace(f"{folder}/{rank}.json")
    pathlib.Path(target).write_text(trimmed(pathlib.Path(f"{folder}/{rank}.json").read_text()))
    dist.barrier()
    dist.destroy_process_group()


def trimmed(text: str) -> str:
    """The events that matter, one a line. Numbers stay as the profiler wrote them."""
    # Numbers are kept as text: times have more digits than a float should be trusted with.
    whole = json.loads(text, parse_float=Number, parse_int=Number)
    events = [event for event in whole["traceEvents"] if event.get("ph") == "X"]
    ranges = [event for event in events if event["name"].startswith(("PP:", "ProfilerStep#"))]
    inside = []
    for outer in ranges:
        if not outer["name"].startswith("PP:"):
            continue
        begin, end = float(outer["ts"]), float(outer["ts"]) + float(outer["dur"])
        nested = [
            event
            for event in events
            if event.get("cat") == "cpu_op"
            and event["tid"] == outer["tid"]
            and begin <= float(event["ts"])
            and float(event["ts"]) + float(event["dur"]) <= end
        ]
        last = begin
        for event in sorted(nested, key=lambda event: (float(event["ts"]), -float(event["dur"]))):
            if float(event["ts"]) >= last:
                inside.append(event)
                last = float(event["ts"]) + float(event["dur"])
    kept = sorted(ranges + inside, key=lambda event: float(event["ts"]))
    keys = ("ph", "cat", "name", "pid", "tid", "ts", "dur")
    lines = [
        "{" + ", ".join(f'"{key}": {written(event[key])}' for key in keys if key in event) + "}" for event in kept
    ]
    head = [f'"schemaVersion": {whole["schemaVersion"]}']
    if "distributedInfo" in whole:
        info = whole["distributedInfo"]
        named = ", ".join(f'"{key}": {written(info[key])}' for key in ("backend", "rank", "world_size"))
        head.append(f'"distributedInfo": {{{named}}}')
    head.append(f'"baseTimeNanoseconds": {whole["baseTimeNanoseconds"]}')
    return "{" + ",\n".join(head) + ',\n"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n"


class Number(str):
    """A number as it was written."""


def written(value: object) -> str:
    """A value as JSON; a number as it was."""
    return str(value) if isinstance(value, Number) else json.dumps(value)


def main() -> None:
    tool, target = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    pipeline.WIDTH, pipeline.ROWS = WIDTH, ROWS
    context = multiprocessing.get_context("fork")
    for name, model, ranks, microbatches in CASES:
        path = target / f"{name}.csv"
        size = ["--devices", str(ranks), "--microbatches", str(microbatches)]
        subprocess.run([tool, "convert", model, "--schedule", name, *size, "-o", path], cwd=ROOT, check=True)
        job = pipeline.job(path, "compute_only")
        with tempfile.TemporaryDirectory() as folder:
            workers = [
                context.Process(target=work, args=(rank, job, folder, str(target / f"{name}-rank{rank}.json")))
                for rank in range(ranks)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert all(worker.exitcode == 0 for worker in workers)


if __name__ == "__main__":
    main()
