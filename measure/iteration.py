"""What is measured of one iteration, on one clock that all devices of all replicas share."""

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
    step: list[tuple[str, int, int, int]]
    """What its stages did once: what, the stage, start and end."""
    overhead: int
    """Time that the host spent for the device outside passes, waits and copies, while the device could not go on."""


@dataclass(frozen=True)
class Iteration:
    """One iteration of all devices of a replica, in nanoseconds from the first start in any replica."""

    passes: list[list[tuple[Pass, int, int]]]
    messages: list[tuple[Pass, int, int, int]]
    memory: list[list[tuple[int, int]]] | None
    step: list[tuple[str, int, int, int]]
    """What, the stage, start and end, stage by stage."""
    overheads: list[int]

    @classmethod
    def of(cls, replicas: list[list[Raw]]) -> list["Iteration"]:
        """Puts the notes of all devices of each replica together. Every device begins with nothing held."""
        raws = [raw for devices in replicas for raw in devices]
        starts = [start for raw in raws for _, start, _ in raw.passes]
        zero = min(starts + [start for raw in raws for _, _, start, _ in raw.step])
        return [cls.since(zero, devices) for devices in replicas]

    @classmethod
    def since(cls, zero: int, devices: list[Raw]) -> "Iteration":
        """The notes of all devices of one replica, in nanoseconds from an instant."""
        messages = [(p, to, start - zero, end - zero) for raw in devices for p, to, start, end in raw.messages]
        step = [(what, stage, start - zero, end - zero) for raw in devices for what, stage, start, end in raw.step]
        return cls(
            [[(p, start - zero, end - zero) for p, start, end in raw.passes] for raw in devices],
            sorted(messages, key=lambda message: message[2:]),
            [[(0, 0), *((max(at - zero, 0), size) for at, size in raw.memory)] for raw in devices],
            sorted(step, key=lambda span: span[1:]),
            [raw.overhead for raw in devices],
        )

    def without_memory(self) -> "Iteration":
        return dataclasses.replace(self, memory=None)

    @property
    def makespan(self) -> int:
        """From the first start of a pass to the last end of one."""
        spans = [span for passes in self.passes for span in passes]
        return max(end for _, _, end in spans) - min(start for _, start, _ in spans)


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
