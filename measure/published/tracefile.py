"""The trace file, as docs/traces.md describes it: one JSON object, with a line for each list of a device."""

import json
import pathlib
from dataclasses import dataclass, field

FORMAT = "bubbleproof-trace-1"
SCHEDULE_FORMAT = "bubbleproof-schedule-1"


@dataclass
class Iteration:
    """What ran in one iteration. Times are integer nanoseconds from its start."""

    passes: list[list[tuple[str, int, int]]]  # by device: pass, start, end
    messages: list[tuple[str, int, int, int]] = field(default_factory=list)  # pass, receiving device, start, end
    step: list[tuple[str, int, int, int]] = field(default_factory=list)  # work, stage, start, end
    clocks: list[tuple[int, int]] = field(default_factory=list)  # by device: least and most that its times may be off
    reserved: list[int] = field(default_factory=list)  # by device: bytes


def compact(value) -> str:
    return json.dumps(value, separators=(",", ":"))


def rows(name: str, lists: list, indent: str) -> str:
    lines = ",\n".join(f"{indent}  {compact(entry)}" for entry in lists)
    return f'{indent}"{name}": [\n{lines}\n{indent}]'


def iteration_text(one: Iteration) -> str:
    parts = [rows("passes", one.passes, "   ")]
    for name in ("messages", "step", "clocks", "reserved"):
        value = getattr(one, name)
        if value:
            parts.append(f'   "{name}": {compact(value)}')
    return "  {\n" + ",\n".join(parts) + "\n  }"


def schedule_text(name: str, placement: list[list[int]], microbatches: int, orders: list[list[str]]) -> str:
    parts = [f'  "format": "{SCHEDULE_FORMAT}"', f'  "name": {compact(name)}']
    parts += [f'  "placement": {compact(placement)}', f'  "microbatches": {microbatches}']
    parts.append(rows("orders", orders, "  "))
    return "{\n" + ",\n".join(parts) + "\n }"


def text(kind: str, machine: dict, schedule: str, iterations: list[Iteration]) -> str:
    """The file; `schedule` is the text of its schedule."""
    parts = [
        f' "format": "{FORMAT}"',
        f' "kind": "{kind}"',
        f' "machine": {compact(machine)}',
        f' "schedule": {schedule}',
        ' "iterations": [\n' + ",\n".join(iteration_text(one) for one in iterations) + "\n ]",
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(path: pathlib.Path, content: str) -> None:
    """Written aside and renamed, so that there is no half a trace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(content)
    aside.replace(path)
