"""What the devices of a CPU do together with those of other replicas: through memory that all share, and barriers."""

import multiprocessing
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from replicas import Member
from schedule import Schedule


class TimedOut(Exception):
    """What did not come within the time limit."""


@dataclass(frozen=True)
class Meetings:
    """Where the devices of all replicas wait for each other."""

    peers: list[threading.Barrier]
    """By device of the pipeline: for this device of every replica."""
    everyone: threading.Barrier
    """For all devices of all replicas."""
    parts: Tensor
    """By replica and device the sum of squares of the gradients that it has to add up."""
    norms: Tensor
    """By replica and device the norm of all gradients, as it has found it."""

    @classmethod
    def of(cls, replicas: int, devices: int, room: Tensor) -> "Meetings":
        """`room` is for two numbers by replica and device, in memory that all share."""
        context = multiprocessing.get_context("fork")
        peers = [context.Barrier(replicas) for _ in range(devices)]
        return cls(peers, context.Barrier(replicas * devices), room[0], room[1])


class Lane:
    """Gathers and reduces for a device by a thread of its own, a stage at a time."""

    def __init__(
        self, name: str, device: int, schedule: Schedule, member: Member, meetings: Meetings, threads: int, limit: float
    ) -> None:
        self.name = name
        self.device = device
        self.stages = schedule.begins(device)
        self.member = member
        self.meetings = meetings
        self.limit = limit
        self.thread = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(threads,))
        self.part = meetings.parts[member.rank, device]

    def begin(self) -> None:
        self.under_way: dict[tuple[str, int], Future] = {}
        self.notes: list[tuple[str, int, int, int]] = []
        self.waited = 0
        self.deadline = time.monotonic() + self.limit
        self.part.zero_()
        if self.member.replicas.sharded:
            for stage in self.stages:
                self.start("gather", stage)

    def start(self, work: str, stage: int) -> None:
        self.under_way[work, stage] = self.thread.submit(self.carry_out, work, stage)

    @torch.inference_mode()
    def carry_out(self, work: str, stage: int) -> None:
        start = time.perf_counter_ns()
        for phase in self.member.phases(work, stage):
            self.meet(self.meetings.peers[self.device], f"the {work} of stage {stage}")
            phase()
        self.notes.append((work, stage, start, time.perf_counter_ns()))

    def meet(self, barrier: threading.Barrier, what: str) -> None:
        try:
            barrier.wait(max(0.0, self.deadline - time.monotonic()))
        except threading.BrokenBarrierError as error:
            raise TimedOut(f"{self.name} has waited {self.limit:.0f} s for other replicas: {what}") from error

    def done(self, work: str, stage: int) -> None:
        begun = time.perf_counter_ns()
        self.under_way.pop((work, stage)).result()
        self.waited += time.perf_counter_ns() - begun

    def gathered(self, stage: int) -> None:
        if ("gather", stage) in self.under_way:
            self.done("gather", stage)

    def reduce(self, stage: int) -> None:
        self.start("reduce", stage)

    def reduced(self, stage: int) -> None:
        self.done("reduce", stage)

    def square(self, stage: int) -> None:
        for square in self.member.squares(stage):
            self.part.add_(square)

    def joined(self) -> None:
        """Nothing to do: the barrier of `norm` says it."""

    def norm(self) -> None:
        self.meet(self.meetings.everyone, "the norm of all gradients")
        self.meetings.norms[self.member.rank, self.device].copy_(self.meetings.parts.sum().sqrt())
