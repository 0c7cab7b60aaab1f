"""What every kind of device does for a pass: take, run, give."""

from collections.abc import Callable
from typing import Protocol

from torch import Tensor
from torch.optim import Optimizer

from ledger import Ledger
from schedule import Pass, Schedule
from stage import Stage


class Links(Protocol):
    """How results reach other devices."""

    def receive(self, source: Pass) -> Tensor:
        """The result of a pass of another device; what follows on this device waits until it is there."""

    def send(self, p: Pass, result: Tensor) -> None:
        """Sends the result of a pass to the device that takes it. What follows on this device does not wait."""


class Device:
    """Runs passes of its stages, in the order in which it is asked to, and notes when.

    `stamp` reads the device's clock at this place in its work: a time, or an event that will have one.
    """

    def __init__(
        self,
        index: int,
        schedule: Schedule,
        stages: dict[int, Stage],
        inputs: Tensor,
        links: Links,
        book: Ledger,
        stamp: Callable[[], object],
        optimizers: dict[int, Optimizer] | None = None,
    ) -> None:
        self.index = index
        self.schedule = schedule
        self.stages = stages
        self.inputs = inputs
        self.links = links
        self.book = book
        self.stamp = stamp
        self.optimizers = optimizers or {}
        self.begin()

    def begin(self) -> None:
        """Forgets the notes of the last iteration."""
        self.book.begin()
        self.here: dict[Pass, Tensor] = {}
        self.notes: list[tuple[Pass, object, object]] = []
        self.steps: list[tuple[int, object, object]] = []

    def run(self, p: Pass) -> None:
        """One pass."""
        taken = self.take(p)
        start = self.stamp()
        result = self.stages[p.stage].run(p, taken, self.schedule.recomputes(p))
        self.notes.append((p, start, self.stamp()))
        del taken
        to = self.schedule.receiver(p)
        if to is None:
            return
        if self.schedule.device_of[to] == self.index:
            self.here[p] = result
        else:
            self.links.send(p, result)

    def end(self) -> None:
        """The optimiser steps of its stages, behind all passes."""
        for stage in self.schedule.ends(self.index):
            if stage in self.optimizers:
                start = self.stamp()
                self.optimizers[stage].step()
                self.steps.append((stage, start, self.stamp()))

    def take(self, p: Pass) -> Tensor | None:
        """What the pass takes from a neighbouring stage, or the input of the model."""
        source = self.schedule.source(p)
        if source is None:
            return self.inputs[p.microbatch] if p.kind == "F" else None
        if self.schedule.device_of[source.stage] == self.index:
            return self.here.pop(source)
        return self.links.receive(source)

    def check_done(self) -> None:
        """After an iteration nothing may be left over."""
        left = [stage for stage, held in self.stages.items() if not held.idle()]
        if left or self.book.bytes or self.here:
            raise RuntimeError(f"device {self.index} still holds {self.book.bytes} bytes of stages {left}")
