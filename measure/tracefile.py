"""The trace file: one JSON object for a run, with a line for each list of a device."""

import json
import os
import pathlib
import platform
import statistics

import torch

from iteration import Iteration
from schedule import Schedule
from transformer import Sizes

FORMAT = "bubbleproof-trace-1"


def compact(value) -> str:
    return json.dumps(value, separators=(",", ":"))


def processor() -> str:
    """The model of the processor, as Linux names it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def machine(name: str | None, made: dict) -> dict:
    """The machine: its kind, never the name of a host, and how devices were made on it."""
    cores = len(os.sched_getaffinity(0))
    default = made["accelerator"] or f"{cores}-core {platform.machine().replace('_', '-')} machine"
    own = {"name": name or default, "cpu": processor(), "cores": cores}
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    first = {key: made[key] for key in ("accelerator", "driver")}
    last = {key: made[key] for key in ("devices", "multiprocessors", "threads_per_device")}
    return own | first | versions | last


def lines(name: str, lists: list, indent: str) -> str:
    """A key with a list that has a line for each of its entries."""
    rows = ",\n".join(f"{indent}  {compact(entry)}" for entry in lists)
    return f'{indent}"{name}": [\n{rows}\n{indent}]'


def iteration_text(one: Iteration) -> str:
    passes = [[[str(p), start, end] for p, start, end in device] for device in one.passes]
    parts = [lines("passes", passes, "   ")]
    messages = [[str(p), to, start, end] for p, to, start, end in one.messages]
    parts.append(f'   "messages": {compact(messages)}')
    if one.memory is not None:
        parts.append(lines("memory", one.memory, "   "))
    if one.step:
        parts.append(f'   "step": {compact(one.step)}')
    return "  {\n" + ",\n".join(parts) + "\n  }"


def schedule_text(schedule: Schedule) -> str:
    """The schedule, without a certificate: it is about a model that is not the measured one."""
    kept = {key: value for key, value in schedule.file.items() if key not in ("orders", "certificate")}
    parts = [f'  "{key}": {compact(value)}' for key, value in kept.items()]
    parts.append(lines("orders", schedule.file["orders"], "  "))
    return "{\n" + ",\n".join(parts) + "\n }"


def text(kind: str, machine: dict, sizes: Sizes, schedule: Schedule, error: float, iterations: list[Iteration]) -> str:
    """The file."""
    overheads = [overhead for one in iterations for overhead in one.overheads]
    model = {"layers": list(sizes.layers), "hidden": sizes.hidden, "heads": sizes.heads, "sequence": sizes.sequence}
    model |= {"microbatch_size": sizes.microbatch_size, "dtype": sizes.dtype}
    parts = [
        f' "format": "{FORMAT}"',
        f' "kind": "{kind}"',
        f' "machine": {compact(machine)}',
        f' "model": {compact(model)}',
        f' "schedule": {schedule_text(schedule)}',
        f' "gradient_error": "{error:.1e}"',
        f' "host_overhead": {max(0, int(statistics.median(overheads)))}',
        ' "iterations": [\n' + ",\n".join(iteration_text(one) for one in iterations) + "\n ]",
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(path: pathlib.Path, content: str) -> None:
    """Written aside and renamed, so that there is no half a trace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(content)
    aside.replace(path)
