"""What is measured of one iteration, on one clock that all devices share."""

import dataclasses
from dataclasses import dataclass

from schedule import Pass


@dataclass(frozen=True)
class Raw:
    """What one device has noted, in nanoseconds from any instant common to all devices."""

    passes: list[tuple[Pass, int, int]]
    """Start and end, in the order in which they ran."""
    messages: list[tuple[Pass, int, int, int]]
    """What it sent: the pass, the receiving device, start and end of the copy."""
    memory: list[tuple[int, int]]
    """The bytes of activations after every change."""
    step: list[tuple[int, int, int]]
    """Optimiser steps: the stage, start and end."""
    overhead: int
    """Time that the host spent for the device outside passes, waits and copies, while the device could not go on."""


@dataclass(frozen=True)
class Iteration:
    """One iteration of all devices, in nanoseconds from its first start."""

    passes: list[list[tuple[Pass, int, int]]]
    messages: list[tuple[Pass, int, int, int]]
    memory: list[list[tuple[int, int]]] | None
    step: list[tuple[int, int, int]]
    overheads: list[int]

    @classmethod
    def of(cls, devices: list[Raw]) -> "Iteration":
        """Puts the notes of all devices together. Every device begins with nothing held."""
        zero = min(start for raw in devices for _, start, _ in raw.passes)
        messages = [(p, to, start - zero, end - zero) for raw in devices for p, to, start, end in raw.messages]
        return cls(
            [[(p, start - zero, end - zero) for p, start, end in raw.passes] for raw in devices],
            sorted(messages, key=lambda message: message[2:]),
            [[(0, 0), *((max(at - zero, 0), size) for at, size in raw.memory)] for raw in devices],
            sorted((stage, start - zero, end - zero) for raw in devices for stage, start, end in raw.step),
            [raw.overhead for raw in devices],
        )

    def without_memory(self) -> "Iteration":
        return dataclasses.replace(self, memory=None)

    @property
    def makespan(self) -> int:
        """The last end of a pass."""
        return max(end for passes in self.passes for _, _, end in passes)


def lateness(passes: list[tuple[Pass, int, int]], arrivals: dict[Pass, int], enqueued: dict[Pass, int]) -> int:
    """For how long at most a device had to wait for the host that enqueues its passes, in nanoseconds.

    A pass could start when the one before it has ended and what it takes has arrived. Until the host has enqueued
    all of it, the device may be waiting for more. All times are on the device's clock.
    """
    late, free = 0, 0
    for p, _, end in passes:
        ready = max(free, arrivals[p])
        late += min(max(enqueued[p] - ready, 0), max(end - ready, 0))
        free = end
    return late
