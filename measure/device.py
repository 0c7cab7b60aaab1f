"""What every kind of device does for a pass: take, run, give; and what it does once for its stages."""

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


class Together(Protocol):
    """What a device does with its like in the other replicas. Reductions and gathers run beside its passes."""

    def begin(self) -> None:
        """Starts the gathers of all its stages, in the order of their first passes, if weights are gathered."""

    def gathered(self, stage: int) -> None:
        """What follows on this device waits until the weights of a stage are there."""

    def reduce(self, stage: int) -> None:
        """Starts the reduction of the gradients of a stage: on this device they are all there now."""

    def square(self, stage: int) -> None:
        """Adds up the squares of its share of the gradients of a stage, which are reduced."""

    def reduced(self, stage: int) -> None:
        """What follows on this device waits until the gradients of a stage are reduced."""

    def joined(self) -> None:
        """Its part of the norm is there."""

    def norm(self) -> None:
        """Waits for the parts of all devices of all replicas, and makes of them the norm of all gradients."""


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
        optimizers: dict[int, Optimizer],
        together: Together | None = None,
    ) -> None:
        self.index = index
        self.schedule = schedule
        self.stages = stages
        self.inputs = inputs
        self.links = links
        self.book = book
        self.stamp = stamp
        self.optimizers = optimizers
        self.together = together
        self.last = schedule.lasts(index)
        self.begin()

    def begin(self) -> None:
        """Forgets the notes of the last iteration."""
        self.book.begin()
        self.here: dict[Pass, Tensor] = {}
        self.notes: list[tuple[Pass, object, object]] = []
        self.squared: dict[int, object] = {}
        self.steps: list[tuple[str, int, object, object]] = []

    def run(self, p: Pass) -> None:
        """One pass, and the reduction of the gradients of its stage, if it was the last to add to them."""
        if self.together:
            self.together.gathered(p.stage)
        taken = self.take(p)
        start = self.stamp()
        result = self.stages[p.stage].run(p, taken, self.schedule.recomputes(p))
        self.notes.append((p, start, self.stamp()))
        del taken
        to = self.schedule.receiver(p)
        if to is not None:
            if self.schedule.device_of[to] == self.index:
                self.here[p] = result
            else:
                self.links.send(p, result)
        if self.together and p in self.last:
            self.together.reduce(p.stage)

    def square(self) -> None:
        """Behind all passes: its part of the norm of all gradients."""
        if self.together is None:
            return
        for stage in self.schedule.ends(self.index):
            self.together.reduced(stage)
            self.squared[stage] = self.stamp()
            self.together.square(stage)
        self.together.joined()

    def end(self) -> None:
        """The norm of all gradients, once all devices have done their parts, and the optimiser steps of its stages."""
        if self.together:
            self.together.norm()
            end = self.stamp()
            self.steps += [("norm", stage, start, end) for stage, start in self.squared.items()]
        for stage in self.schedule.ends(self.index):
            if stage in self.optimizers:
                start = self.stamp()
                self.optimizers[stage].step()
                self.steps.append(("optimizer", stage, start, self.stamp()))

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
