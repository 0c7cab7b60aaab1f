"""Where pipeline devices on GPUs are: streams of GPUs, of groups of multiprocessors, or of one GPU."""

import functools
from dataclasses import dataclass, field

import torch

import green
from gate import Gate
from green import home

STREAMS = 32
"""How many streams PyTorch has on a GPU. It then gives them out again, and what shares one waits for each other."""


@dataclass(frozen=True)
class Places:
    """Where the devices of all replicas are, replica by replica. Made once for all runs, as streams are few."""

    how: str
    streams: list[torch.cuda.Stream]
    multiprocessors: list[int] | None
    groups: list[green.Group] | None = None
    lanes: list[torch.cuda.Stream] = field(default_factory=list)
    """Where there are several replicas: for each device a stream that gathers and reduces."""
    links: dict[tuple[int, int], tuple[torch.cuda.Stream, torch.cuda.Stream]] = field(default_factory=dict)

    def link(self, a: int, b: int) -> tuple[torch.cuda.Stream, torch.cuda.Stream]:
        """The streams on which device a copies to device b, at either end; on one GPU the two are the same."""
        if (a, b) not in self.links:
            source, target = self.streams[a].device, self.streams[b].device
            out = torch.cuda.Stream(device=source)
            self.links[a, b] = out, out if source == target else torch.cuda.Stream(device=target)
        return self.links[a, b]

    @functools.cached_property
    def gate(self) -> Gate:
        return Gate([*self.streams, *self.lanes])

    def replica(self, devices: int, rank: int) -> slice:
        """Which of the devices are those of a replica."""
        return slice(rank * devices, (rank + 1) * devices)

    def check(self, pairs: int) -> None:
        """Refuses more streams on a GPU than PyTorch has; so many pairs of devices exchange results."""
        if len({stream.device for stream in self.streams}) > 1:
            return
        own = 0 if self.groups else len(self.streams)
        needed = own + len(self.lanes) + pairs + 1
        if needed > STREAMS:
            raise green.Unavailable(f"{needed} streams of one GPU are needed, and PyTorch has {STREAMS}")


def on_gpus(count: int) -> Places:
    """A GPU for each."""
    if torch.cuda.device_count() < count:
        raise green.Unavailable(f"{count} GPUs are needed, {torch.cuda.device_count()} at hand")
    streams = [torch.cuda.Stream(device=home(index)) for index in range(count)]
    return Places("gpus", streams, None)


def on_groups(count: int) -> Places:
    """Groups of the multiprocessors of the first GPU."""
    groups = green.split(0, count)
    return Places("green-contexts", [g.stream for g in groups], [g.multiprocessors for g in groups], groups)


def on_streams(count: int) -> Places:
    """Streams of the first GPU, which compete for its multiprocessors."""
    return Places("streams", [torch.cuda.Stream(device=home(0)) for _ in range(count)], None)


PLACES = {"gpus": on_gpus, "green-contexts": on_groups, "streams": on_streams}
