"""Pipeline devices on GPUs: a stream for each, on a GPU of its own, on a group of multiprocessors, or on all of them.

One host thread starts every pass of every device in an order in which none waits for a later one. Devices wait for
each other by events only, so the host runs far ahead; at first they are all held back by a gate until most is
enqueued. Results are copied into buffers of the receiving device by streams of their own.
"""

import contextlib
import functools
import os
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import torch
from torch import Tensor

import green
from device import Device
from green import home
from iteration import Iteration, Raw, lateness
from ledger import Ledger
from schedule import Pass, Schedule, start_order
from transformer import Reference, Sizes, Transformer

# Streams that share a hardware queue would wait for each other where the schedule does not. CUDA reads this when it
# starts, and has only eight queues otherwise.
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")

LONGEST_GATE = 0.25
"""Seconds. Streams hold a limited number of kernels, and the host has to wait for the gate when they are full."""

AGREEMENT = 1e-5
"""How far the ledger and the allocator may differ, relative to the most that was asked of the allocator.

What is asked for is known to the byte, and the two should be equal. A library may keep a few scalars that it first
needs after the rehearsal's first run. One activation that is not counted is at least ten times as much in a model of
the standard sizes, and so is what the norms keep, a mean and a deviation for each token, if it is never counted.
"""


def stamp() -> torch.cuda.Event:
    """An event that will have the time at this place of the current stream."""
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


@dataclass(frozen=True)
class Places:
    """Where the pipeline devices are. Made once for all runs: PyTorch has 32 streams, and then gives them out again."""

    how: str
    streams: list[torch.cuda.Stream]
    multiprocessors: list[int] | None
    groups: list[green.Group] | None = None
    links: dict[tuple[int, int], tuple[torch.cuda.Stream, torch.cuda.Stream]] = field(default_factory=dict)

    def link(self, a: int, b: int) -> tuple[torch.cuda.Stream, torch.cuda.Stream]:
        """The streams on which device a copies to device b, at either end; on one GPU the two are the same."""
        if (a, b) not in self.links:
            source, target = self.streams[a].device, self.streams[b].device
            out = torch.cuda.Stream(device=source)
            self.links[a, b] = out, out if source == target else torch.cuda.Stream(device=target)
        return self.links[a, b]

    @functools.cached_property
    def gate(self) -> "Gate":
        return Gate(self.streams)


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


class Machine:
    """A machine with GPUs."""

    kind = "cuda"

    def __init__(self, devices_from: str, limit: float) -> None:
        """Makes devices as told; `auto` takes the first way of `PLACES` that works."""
        self.devices_from = devices_from
        self.limit = limit
        self.made: dict[int, Places] = {}
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    def places(self, count: int) -> Places:
        """Where so many devices are; made once."""
        if count not in self.made:
            self.made[count] = self.make(count)
        return self.made[count]

    def make(self, count: int) -> Places:
        if self.devices_from != "auto":
            return PLACES[self.devices_from](count)
        for how, make in PLACES.items():
            try:
                return make(count)
            except green.Unavailable as error:
                print(f"devices are not {how}: {error}", file=sys.stderr)
        raise green.Unavailable("there is no way to make devices")

    def describe(self, devices: int) -> dict:
        """What the trace says of how devices were made."""
        places = self.places(devices)
        return {
            "accelerator": torch.cuda.get_device_name(0),
            "driver": driver(),
            "devices": places.how,
            "multiprocessors": places.multiprocessors,
            "threads_per_device": None,
        }

    def homes(self, sizes: Sizes, schedule: Schedule) -> list[torch.device]:
        """Where the blocks live."""
        streams = self.places(len(schedule.orders)).streams
        stages = [stage for stage, layers in enumerate(sizes.layers) for _ in range(layers)]
        return [streams[schedule.device_of[stage]].device for stage in stages]

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=home(0))

    def reference(self, model: Transformer) -> Reference:
        reference = Reference(model, self.allocate)
        reference.compute()
        torch.cuda.empty_cache()
        return reference

    def executor(self, schedule: Schedule, model: Transformer, optimizer: str | None = None) -> "Executor":
        return Executor(schedule, model, self.places(len(schedule.orders)), self.limit, optimizer)


def driver() -> str | None:
    """The version of the driver."""
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(ask, check=True, capture_output=True, text=True, timeout=30).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


class Copies:
    """The links of all devices.

    A copy between GPUs runs on the current stream of the sending one, and PyTorch makes the current stream of the
    receiving one wait for it: that must not be the stream that computes.
    """

    def __init__(self, schedule: Schedule, sizes: Sizes, dtype: torch.dtype, places: Places) -> None:
        self.places = places
        self.ends = {p: (sender, receiver) for p, sender, receiver in schedule.messages()}
        homes = [stream.device for stream in places.streams]
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
        out, into = self.places.link(*self.ends[p])
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


class Executor:
    """The devices of one schedule, ready to run it again and again."""

    def __init__(
        self, schedule: Schedule, model: Transformer, places: Places, limit: float, optimizer: str | None
    ) -> None:
        self.schedule = schedule
        self.order = start_order(schedule)
        self.streams = places.streams
        self.gpus = sorted({stream.device for stream in self.streams}, key=str)
        self.limit = limit
        self.links = Copies(schedule, model.sizes, model.inputs[0].dtype, places)
        self.devices = []
        for index in range(len(schedule.orders)):
            book = Ledger(stamp)
            stages = model.stages(schedule, index, book)
            optimizers = model.optimizers(optimizer, schedule, index)
            self.devices.append(Device(index, schedule, stages, model.inputs, self.links, book, stamp, optimizers))
        self.gate = places.gate
        self.remarks: list[str] = []
        self.agrees = True
        static = [*self.links.buffers.values(), *model.inputs]
        self.static = {tensor.untyped_storage().data_ptr() for tensor in static}
        self.rehearse()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        self.synchronize()

    def synchronize(self) -> None:
        for one in self.gpus:
            torch.cuda.synchronize(one)

    def rehearse(self) -> None:
        """Runs twice: libraries take memory of their own in the first run, which the allocator counts too."""
        self.iterate()
        most, apart = 0, 0

        def compare() -> None:
            nonlocal most, apart
            expected, allocated = self.expected(), self.allocated() - before
            most, apart = max(most, allocated), max(apart, abs(allocated - expected))

        self.begin()
        before = self.allocated()
        self.iterate(compare)
        self.agrees = apart <= AGREEMENT * most
        verdict = "" if self.agrees else ": too much, and the trace has no memory"
        self.remarks.append(
            f"memory by the allocator: {most / 1e6:.1f} MB at most, the ledger is {apart / 1e6:.2f} MB apart{verdict}"
        )

    def expected(self) -> int:
        """What should be allocated beside buffers and data: activations, and results that were sent or handed on."""
        made = {pointer: size for device in self.devices for pointer, (_, size) in device.book.held.items()}
        for tensor in [*self.links.sent, *(result for device in self.devices for result in device.here.values())]:
            storage = tensor.untyped_storage()
            made[storage.data_ptr()] = storage.nbytes()
        return sum(size for pointer, size in made.items() if pointer not in self.static)

    def allocated(self) -> int:
        """The bytes that tensors asked for. `memory_allocated` counts their blocks, which may be 1 MiB larger each."""
        return sum(torch.cuda.memory_stats(one)["requested_bytes.all.current"] for one in self.gpus)

    def begin(self) -> None:
        """Forgets the last iteration."""
        self.synchronize()
        self.links.begin()
        for device in self.devices:
            device.begin()

    @torch.inference_mode()
    def iterate(self, after=lambda: None) -> Iteration:
        """Runs the schedule once. `after` is called whenever a pass was enqueued."""
        self.begin()
        enqueued, took = {}, []
        with watchdog(self.limit):
            bases = self.gate.close()
            for p in self.order:
                index = self.schedule.device_of[p.stage]
                begun = time.perf_counter_ns()
                with torch.cuda.stream(self.streams[index]):
                    self.devices[index].run(p)
                enqueued[p] = time.perf_counter_ns()
                took.append(enqueued[p] - begun)
                after()
            for one in self.devices:
                with torch.cuda.stream(self.streams[one.index]):
                    one.end()
            self.gate.seconds = gate_time(took)
            self.synchronize()
            ended = time.perf_counter_ns()
        for device in self.devices:
            device.check_done()
        return self.collect(bases, enqueued, ended)

    def collect(self, bases: dict[torch.device, torch.cuda.Event], enqueued: dict[Pass, int], ended: int) -> Iteration:
        """Turns events into times. `ended` is the host's time at the end of the last of them."""
        homes = [stream.device for stream in self.streams]

        def at(device: int, event: torch.cuda.Event) -> int:
            return round(1e6 * bases[homes[device]].elapsed_time(event))

        passes = [[(p, at(d.index, start), at(d.index, end)) for p, start, end in d.notes] for d in self.devices]
        messages: list[list[tuple[Pass, int, int, int]]] = [[] for _ in self.devices]
        for p, start, end in self.links.notes:
            sender, receiver = self.links.ends[p]
            messages[sender].append((p, receiver, at(sender, start), at(sender, end)))
        arrivals = {p: end for sent in messages for p, _, _, end in sent}
        steps = [[(stage, at(d.index, start), at(d.index, end)) for stage, start, end in d.steps] for d in self.devices]
        opened = ended - max(end for order in [*passes, *steps] for _, _, end in order)
        known = {p: when - opened for p, when in enqueued.items()}
        raws = []
        for d in self.devices:
            memory = [(at(d.index, event), size) for event, size in d.book.notes]
            late = lateness(passes[d.index], {p: arrivals.get(self.schedule.source(p), 0) for p in known}, known)
            raws.append(Raw(passes[d.index], messages[d.index], memory, steps[d.index], late))
        iteration = Iteration.of(raws)
        return iteration if self.agrees else iteration.without_memory()


class Gate:
    """Holds all devices back while the host enqueues, for about as long as it took the last time.

    A kernel spins: a gate that the host opened could never open when the host itself waits, with streams that are
    full.
    """

    def __init__(self, streams: list[torch.cuda.Stream]) -> None:
        self.streams = streams
        self.own = torch.cuda.Stream(device=streams[0].device)
        self.seconds = 0.0
        self.rate = self.cycles_per_second()

    def cycles_per_second(self) -> float:
        """How fast the spinning kernel counts; the first one warms up."""
        cycles = 20_000_000
        for _ in range(2):
            with torch.cuda.stream(self.own):
                start = stamp()
                torch.cuda._sleep(cycles)
                end = stamp()
            self.own.synchronize()
        return 1e3 * cycles / start.elapsed_time(end)

    def close(self) -> dict[torch.device, torch.cuda.Event]:
        """Closes it. Returns, by GPU, the event from which its times count: the opening, as that GPU sees it."""
        with torch.cuda.stream(self.own):
            torch.cuda._sleep(max(1, int(self.rate * self.seconds)))
            opened = stamp()
        bases = {self.own.device: opened}
        for stream in self.streams:
            stream.wait_event(opened)
            if stream.device not in bases:
                with torch.cuda.stream(stream):
                    bases[stream.device] = stamp()
        return bases


def gate_time(took: list[int]) -> float:
    """How many seconds the gate should last, by the nanoseconds that it took to enqueue each pass.

    Enough for all at the pace of the first quarter: later the host may have waited because streams were full, and a
    longer gate would make it wait longer.
    """
    first = took[: max(1, len(took) // 4)]
    return min(LONGEST_GATE, 1.2e-9 * statistics.median(first) * len(took))


@contextlib.contextmanager
def watchdog(limit: float):
    """Ends the process when what it guards takes too long: nothing can take kernels back."""

    def end() -> None:
        print(f"the devices are not done after {limit:.0f} s", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(limit, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
