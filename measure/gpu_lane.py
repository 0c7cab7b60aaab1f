"""What the devices of several replicas on GPUs do together: kernels on streams of their own, which wait by events."""

import contextlib

import torch

from gate import stamp
from places import Places
from replicas import Member, Replicas
from schedule import Schedule


class Collectives:
    """Gathers and reductions of all devices of all replicas, and the norm of all gradients."""

    def __init__(self, replicas: Replicas, places: Places, devices: int) -> None:
        self.replicas = replicas
        self.places = places
        self.devices = devices
        homes = [stream.device for stream in places.streams]
        self.parts = [torch.zeros((), dtype=torch.float64, device=home) for home in homes]
        self.norms = [torch.zeros((), dtype=torch.float64, device=home) for home in homes]
        self.begin()

    def begin(self) -> None:
        """Forgets the last iteration."""
        self.ready: dict[tuple[str, int], dict[int, torch.cuda.Event]] = {}
        self.spans: dict[tuple[str, int], list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {}
        self.joined: list[torch.cuda.Event] = []

    @contextlib.contextmanager
    def reading(self, own: int, other: int):
        """Where a device reads what another one holds, on another GPU perhaps.

        Such a copy runs on the current stream of that GPU, which must not be one that computes.
        """
        if self.places.streams[own].device == self.places.streams[other].device:
            yield
            return
        here, (out, _) = torch.cuda.current_stream(), self.places.link(other, own)
        with torch.cuda.stream(out), torch.cuda.stream(here):
            yield

    def start(self, work: str, stage: int, device: int, rank: int) -> None:
        """A replica is ready. Once the last one is, all are enqueued."""
        ready = self.ready.setdefault((work, stage), {})
        ready[rank] = stamp()
        if len(ready) == self.replicas.count:
            self.enqueue(work, stage, device, ready)

    def enqueue(self, work: str, stage: int, device: int, ready: dict[int, torch.cuda.Event]) -> None:
        """On the lanes of a device of all replicas, phase by phase."""
        own = [rank * self.devices + device for rank in range(self.replicas.count)]
        lanes = [self.places.lanes[index] for index in own]

        def reading(rank: int):
            return lambda other: self.reading(own[rank], own[other])

        phases = [Member(self.replicas, rank, reading(rank)).phases(work, stage) for rank in range(self.replicas.count)]
        for rank, lane in enumerate(lanes):
            lane.wait_event(ready[rank])
        begun = ended = [self.on(lane) for lane in lanes]
        for together in zip(*phases, strict=True):
            ended = [self.on(lane, ended, phase) for lane, phase in zip(lanes, together, strict=True)]
        self.spans[work, stage] = list(zip(begun, ended, strict=True))

    def on(self, lane: torch.cuda.Stream, after=(), phase=lambda: None) -> torch.cuda.Event:
        """Does something on a lane, after some events, and gives the one behind it."""
        with torch.cuda.stream(lane):
            for event in after:
                lane.wait_event(event)
            phase()
            return stamp()


class Lane:
    """What one device of a replica has to do with that."""

    def __init__(self, collectives: Collectives, schedule: Schedule, device: int, rank: int) -> None:
        self.collectives = collectives
        self.schedule = schedule
        self.device = device
        self.rank = rank
        self.index = rank * collectives.devices + device
        self.member = Member(collectives.replicas, rank)

    def begin(self) -> None:
        self.collectives.parts[self.index].zero_()
        if self.collectives.replicas.sharded:
            for stage in self.schedule.begins(self.device):
                self.collectives.start("gather", stage, self.device, self.rank)

    @property
    def notes(self) -> list[tuple[str, int, torch.cuda.Event, torch.cuda.Event]]:
        """What ran on the lane: what, the stage, start and end."""
        own = self.schedule.placement[self.device]
        spans = self.collectives.spans.items()
        return [(work, stage, *replicas[self.rank]) for (work, stage), replicas in spans if stage in own]

    def wait(self, work: str, stage: int) -> None:
        if (work, stage) in self.collectives.spans:
            _, end = self.collectives.spans[work, stage][self.rank]
            torch.cuda.current_stream().wait_event(end)

    def gathered(self, stage: int) -> None:
        self.wait("gather", stage)

    def reduce(self, stage: int) -> None:
        self.collectives.start("reduce", stage, self.device, self.rank)

    def reduced(self, stage: int) -> None:
        self.wait("reduce", stage)

    def square(self, stage: int) -> None:
        for square in self.member.squares(stage):
            self.collectives.parts[self.index].add_(square)

    def joined(self) -> None:
        self.collectives.joined.append(stamp())

    def norm(self) -> None:
        for event in self.collectives.joined:
            torch.cuda.current_stream().wait_event(event)
        parts = []
        for other, part in enumerate(self.collectives.parts):
            with self.collectives.reading(self.index, other):
                parts.append(part.to(self.collectives.norms[self.index].device, non_blocking=True))
        self.collectives.norms[self.index].copy_(torch.stack(parts).sum().sqrt())
