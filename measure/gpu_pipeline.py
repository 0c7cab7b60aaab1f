"""One replica on GPUs: its devices, how results travel between them, and what their events say."""

import torch
from torch import Tensor

from device import Device
from gate import stamp
from gpu_lane import Collectives, Lane
from iteration import Raw, lateness
from ledger import Ledger
from places import Places
from replicas import Replicas
from schedule import Pass, Schedule
from transformer import Sizes


class Copies:
    """The links of all devices of a replica.

    A copy between GPUs runs on the current stream of the sending one, and PyTorch makes the current stream of the
    receiving one wait for it: that must not be the stream that computes.
    """

    def __init__(self, schedule: Schedule, sizes: Sizes, dtype: torch.dtype, places: Places, first: int) -> None:
        """`first` is the place of the first device of the replica."""
        self.places = places
        self.first = first
        self.ends = {p: (sender, receiver) for p, sender, receiver in schedule.messages()}
        homes = [stream.device for stream in places.streams[first:]]
        self.buffers = {
            p: torch.empty(sizes.activation, dtype=dtype, device=homes[b]) for p, (_, b) in self.ends.items()
        }
        self.begin()

    def begin(self) -> None:
        self.arrived: dict[Pass, torch.cuda.Event] = {}
        self.notes: list[tuple[Pass, torch.cuda.Event, torch.cuda.Event]] = []
        # The allocator hands memory on in the order of the stream it came from, which does not wait for a copy.
        self.sent: list[Tensor] = []

    def send(self, p: Pass, result: Tensor) -> None:
        sender, receiver = self.ends[p]
        out, into = self.places.link(self.first + sender, self.first + receiver)
        out.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(into), torch.cuda.stream(out):
            start = stamp()
            self.buffers[p].copy_(result, non_blocking=True)
            self.arrived[p] = stamp()
        self.sent.append(result)
        self.notes.append((p, start, self.arrived[p]))

    def receive(self, source: Pass) -> Tensor:
        torch.cuda.current_stream().wait_event(self.arrived[source])
        return self.buffers[source]


class Pipeline:
    """The devices of one replica."""

    def __init__(
        self,
        schedule: Schedule,
        replicas: Replicas,
        rank: int,
        places: Places,
        optimizer: str | None,
        collectives: Collectives | None,
    ) -> None:
        self.schedule = schedule
        model, count = replicas.models[rank], len(schedule.orders)
        self.streams = places.streams[places.replica(count, rank)]
        self.links = Copies(schedule, model.sizes, model.inputs[0].dtype, places, rank * count)
        self.lanes: list[Lane] = []
        self.devices = []
        for index in range(count):
            book = Ledger(stamp)
            stages = model.stages(schedule, index, book)
            optimizers = replicas.optimizers(optimizer, schedule, index, rank)
            lane = None
            if collectives:
                lane = Lane(collectives, schedule, index, rank)
                self.lanes.append(lane)
            one = Device(index, schedule, stages, model.inputs, self.links, book, stamp, optimizers, lane)
            self.devices.append(one)

    def begin(self) -> None:
        """Forgets the last iteration."""
        self.links.begin()
        for device in self.devices:
            device.begin()

    def run(self, p: Pass) -> None:
        """Enqueues a pass."""
        index = self.schedule.device_of[p.stage]
        with torch.cuda.stream(self.streams[index]):
            self.devices[index].run(p)

    def steps(self) -> list[list[tuple[str, int, torch.cuda.Event, torch.cuda.Event]]]:
        """By device, what it did once for its stages."""
        lanes = [lane.notes for lane in self.lanes] or [[] for _ in self.devices]
        return [device.steps + notes for device, notes in zip(self.devices, lanes, strict=True)]

    def collect(
        self, bases: dict[torch.device, torch.cuda.Event], enqueued: dict[Pass, int], ended: int, last: int
    ) -> list[Raw]:
        """Turns events into times. `ended` is the host's time at the `last` of them."""
        homes = [stream.device for stream in self.streams]

        def at(device: int, event: torch.cuda.Event) -> int:
            return since(bases[homes[device]], event)

        passes = [[(p, at(d.index, start), at(d.index, end)) for p, start, end in d.notes] for d in self.devices]
        messages: list[list[tuple[Pass, int, int, int]]] = [[] for _ in self.devices]
        for p, start, end in self.links.notes:
            sender, receiver = self.links.ends[p]
            messages[sender].append((p, receiver, at(sender, start), at(sender, end)))
        steps = [
            [(what, stage, at(index, start), at(index, end)) for what, stage, start, end in step]
            for index, step in enumerate(self.steps())
        ]
        known = {p: when - ended + last for p, when in enqueued.items()}
        gathers = {stage: end for step in steps for what, stage, _, end in step if what == "gather"}
        sent = {p: end for device in messages for p, _, _, end in device}
        arrivals = {p: max(sent.get(self.schedule.source(p), 0), gathers.get(p.stage, 0)) for p in known}
        raws = []
        for d in self.devices:
            memory = [(at(d.index, event), size) for event, size in d.book.notes]
            late = lateness(passes[d.index], arrivals, known)
            raws.append(Raw(passes[d.index], messages[d.index], memory, steps[d.index], late))
        return raws


def since(base: torch.cuda.Event, event: torch.cuda.Event) -> int:
    """Nanoseconds from one event to another one."""
    return round(1e6 * base.elapsed_time(event))
