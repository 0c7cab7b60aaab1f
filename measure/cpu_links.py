"""How results travel between the devices of a CPU: into memory that all share, and a word through a pipe."""

import mmap
import multiprocessing
import queue
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

import torch
from torch import Tensor

from cpu_lane import TimedOut
from schedule import Pass, Schedule
from transformer import Sizes


def shared(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A tensor of zeros that processes forked later share."""
    count = torch.Size(shape).numel()
    return torch.frombuffer(mmap.mmap(-1, count * dtype.itemsize), dtype=dtype, count=count).view(shape)


@dataclass(frozen=True)
class Wiring:
    """What leads from device to device of a replica."""

    buffers: dict[Pass, Tensor]
    """Where the result of a pass is copied to."""
    receivers: dict[Pass, int]
    senders: dict[Pass, int]
    pipes: dict[tuple[int, int], tuple[Connection, Connection]]
    """By sending and receiving device: the ends to read from and to write to."""

    @classmethod
    def of(cls, schedule: Schedule, sizes: Sizes, dtype: torch.dtype) -> "Wiring":
        messages = schedule.messages()
        return cls(
            {p: shared(sizes.activation, dtype) for p, _, _ in messages},
            {p: receiver for p, _, receiver in messages},
            {p: sender for p, sender, _ in messages},
            {(a, b): multiprocessing.Pipe(duplex=False) for _, a, b in messages},
        )


class Copies:
    """The links of a device. A thread of its own makes the copies in the order in which results are there."""

    def __init__(self, name: str, index: int, wiring: Wiring, limit: float) -> None:
        self.name = name
        self.index = index
        self.wiring = wiring
        self.limit = limit
        self.jobs: queue.Queue[tuple[Pass, Tensor] | None] = queue.Queue()
        threading.Thread(target=self.copy, daemon=True).start()
        self.begin()

    def begin(self) -> None:
        self.arrived: set[str] = set()
        self.notes: list[tuple[Pass, int, int, int]] = []
        self.waited = 0
        self.deadline = time.monotonic() + self.limit

    def send(self, p: Pass, result: Tensor) -> None:
        self.jobs.put((p, result))

    def copy(self) -> None:
        torch.set_num_threads(1)
        while (job := self.jobs.get()) is not None:
            p, result = job
            del job
            to = self.wiring.receivers[p]
            start = time.perf_counter_ns()
            self.wiring.buffers[p].copy_(result)
            end = time.perf_counter_ns()
            del result
            self.notes.append((p, to, start, end))
            self.wiring.pipes[self.index, to][1].send_bytes(str(p).encode())
            self.jobs.task_done()

    def receive(self, source: Pass) -> Tensor:
        pipe, _ = self.wiring.pipes[self.wiring.senders[source], self.index]
        begun = time.perf_counter_ns()
        while str(source) not in self.arrived:
            if not pipe.poll(max(0.0, self.deadline - time.monotonic())):
                raise TimedOut(f"{self.name} has waited {self.limit:.0f} s for the result of `{source}`")
            self.arrived.add(pipe.recv_bytes().decode())
        self.arrived.remove(str(source))
        self.waited += time.perf_counter_ns() - begun
        return self.wiring.buffers[source]
