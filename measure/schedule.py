"""Schedule files: reading, what a pass needs and whom it serves, and an order in which one host can start them all."""

import json
import pathlib
import re
from dataclasses import dataclass, field

FORMAT = "bubbleproof-schedule-1"

TICKS = {"F": 1, "I": 1, "W": 1, "R": 1, "B": 2}
"""How long passes are taken to be where only their order is wanted."""


class ScheduleError(Exception):
    """Why a schedule cannot be run."""


@dataclass(frozen=True)
class Pass:
    """A computation of one stage for one microbatch: F, I, W, B (I and W in one) or R (F once more)."""

    stage: int
    kind: str
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"

    @property
    def backward(self) -> bool:
        """Whether it computes an input gradient."""
        return self.kind in "IB"


@dataclass(frozen=True)
class Schedule:
    """For every device its stages and the order of its passes."""

    placement: list[list[int]]
    microbatches: int
    orders: list[list[Pass]]
    file: dict
    """The file it was read from."""
    device_of: dict[int, int] = field(init=False)
    passes: dict[tuple[int, str, int], Pass] = field(init=False)

    def __post_init__(self) -> None:
        stages = {stage: device for device, held in enumerate(self.placement) for stage in held}
        object.__setattr__(self, "device_of", stages)
        every = {(p.stage, p.kind, p.microbatch): p for order in self.orders for p in order}
        object.__setattr__(self, "passes", every)

    @property
    def stages(self) -> int:
        return len(self.device_of)

    def ends(self, device: int) -> list[int]:
        """The stages of a device in the order of their last W or B, which is that of their optimiser steps."""
        last = {p.stage: place for place, p in enumerate(self.orders[device]) if p.kind in "WB"}
        return sorted(last, key=last.__getitem__)

    def begins(self, device: int) -> list[int]:
        """The stages of a device in the order of their first passes."""
        return list(dict.fromkeys(p.stage for p in self.orders[device]))

    def lasts(self, device: int) -> set[Pass]:
        """The last W or B of every stage of a device: its gradients are then there."""
        return set({p.stage: p for p in self.orders[device] if p.kind in "WB"}.values())

    def backward(self, stage: int, microbatch: int) -> Pass | None:
        """The pass that computes the input gradient of a stage: its I or its B."""
        return self.passes.get((stage, "I", microbatch)) or self.passes.get((stage, "B", microbatch))

    def recomputes(self, p: Pass) -> bool:
        """Whether the stage is recomputed for the microbatch, so that its F keeps nothing but its input."""
        return (p.stage, "R", p.microbatch) in self.passes

    def source(self, p: Pass) -> Pass | None:
        """The pass of a neighbouring stage whose result a pass takes."""
        if p.kind == "F":
            return self.passes.get((p.stage - 1, "F", p.microbatch))
        return self.backward(p.stage + 1, p.microbatch) if p.backward else None

    def receiver(self, p: Pass) -> int | None:
        """The stage that takes the result of a pass, if another one does."""
        if p.kind == "F" and p.stage + 1 < self.stages:
            return p.stage + 1
        return p.stage - 1 if p.backward and p.stage > 0 else None

    def messages(self) -> list[tuple[Pass, int, int]]:
        """Every result that goes to another device: its pass, the device that makes it and the one that takes it."""
        found = []
        for device, order in enumerate(self.orders):
            for p in order:
                to = self.receiver(p)
                if to is not None and self.device_of[to] != device:
                    found.append((p, device, self.device_of[to]))
        return found


def read(path: pathlib.Path) -> Schedule:
    """Reads a schedule file and checks that it can run, as far as one device alone can tell."""
    try:
        file = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ScheduleError(f"{path}: {error}") from error
    try:
        schedule = of(file)
        check(schedule)
    except ScheduleError as error:
        raise ScheduleError(f"{path}: {error}") from error
    return schedule


def of(file: dict) -> Schedule:
    """A schedule as its file gives it."""
    if not isinstance(file, dict) or file.get("format") != FORMAT:
        raise ScheduleError(f"not a schedule file: `format` is not {FORMAT}")
    if file.get("directions", 1) != 1:
        raise ScheduleError("microbatches that go in two directions cannot be measured: the pipeline runs in one")
    missing = [key for key in ("placement", "microbatches", "orders") if key not in file]
    if missing:
        raise ScheduleError(f"the key `{missing[0]}` is missing")
    orders = []
    for order in file["orders"]:
        orders.append([])
        for text in order:
            if text.startswith("("):
                raise ScheduleError(f"overlapped pairs such as `{text}` cannot be measured: passes run one at a time")
            found = re.fullmatch(r"(\d+)([FIWBR])(\d+)", text)
            if found is None:
                raise ScheduleError(f"`{text}` is no pass")
            orders[-1].append(Pass(int(found[1]), found[2], int(found[3])))
    return Schedule(file["placement"], file["microbatches"], orders, file)


def check(schedule: Schedule) -> None:
    """Every stage runs every microbatch once, where it is placed, and F, R, I or B, W in this order."""
    stages = sorted(stage for held in schedule.placement for stage in held)
    if stages != list(range(len(stages))) or len(schedule.orders) != len(schedule.placement):
        raise ScheduleError("the placement does not name every stage once, or has not one list for every order")
    at: dict[Pass, int] = {}
    for device, order in enumerate(schedule.orders):
        for position, p in enumerate(order):
            if schedule.device_of.get(p.stage) != device or p.microbatch >= schedule.microbatches:
                raise ScheduleError(f"device {device}, position {position}: `{p}` does not belong here")
            if p in at:
                raise ScheduleError(f"device {device}, position {position}: `{p}` runs a second time")
            at[p] = position
    for stage in stages:
        for microbatch in range(schedule.microbatches):
            here = [p for kind in "FRIBW" if (p := schedule.passes.get((stage, kind, microbatch)))]
            kinds = "".join(p.kind for p in here)
            if kinds.replace("R", "") not in ("FIW", "FB"):
                raise ScheduleError(
                    f"stage {stage} runs `{kinds}` for microbatch {microbatch}, not F and then I, W or B"
                )
            for before, after in zip(here, here[1:]):
                if at[before] > at[after]:
                    raise ScheduleError(f"device {schedule.device_of[stage]}: `{after}` comes before `{before}`")


def start_order(schedule: Schedule) -> list[Pass]:
    """All passes in an order in which none has to wait for one that comes later.

    They come as they would start if every pass took one tick (B two), so that a host that starts them in this order
    serves all devices at about the same pace. A schedule that has no such order is a deadlock.
    """
    order: list[Pass] = []
    ends: dict[Pass, int] = {}
    free = [0] * len(schedule.orders)
    position = [0] * len(schedule.orders)
    total = sum(map(len, schedule.orders))
    while len(order) < total:
        ready = []
        for device, passes in enumerate(schedule.orders):
            if position[device] < len(passes):
                p = passes[position[device]]
                source = schedule.source(p)
                if source is None or source in ends:
                    ready.append((max(free[device], ends.get(source, 0)), device, p))
        if not ready:
            raise ScheduleError(f"deadlock: {waiting(schedule, position)}")
        start, device, p = min(ready, key=lambda entry: entry[:2])
        ends[p] = free[device] = start + TICKS[p.kind]
        position[device] += 1
        order.append(p)
    return order


def waiting(schedule: Schedule, position: list[int]) -> str:
    """Which pass every device that is not done waits for."""
    parts = []
    for device, passes in enumerate(schedule.orders):
        if position[device] < len(passes):
            p = passes[position[device]]
            parts.append(f"device {device} waits with `{p}` for `{schedule.source(p)}`")
    return ", ".join(parts)
