"""Pipeline devices on GPUs: a stream for each, on a GPU of its own, on a group of multiprocessors, or on all of them.

One host thread starts every pass of every device in an order in which none waits for a later one. Devices wait for
each other by events only, so the host runs far ahead; at first they are all held back by a gate until most is
enqueued. Results are copied into buffers of the receiving device by streams of their own.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

import green
from device import Device
from gate import gate_time, watchdog
from gpu_lane import Collectives
from gpu_pipeline import Pipeline, since
from green import home
from iteration import Iteration
from places import PLACES, Places
from replicas import Replicas
from schedule import Pass, Schedule, start_order
from transformer import Reference, Sizes, Transformer

# Streams that share a hardware queue would wait for each other where the schedule does not. CUDA reads this when it
# starts, and has only eight queues otherwise.
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")

AGREEMENT = 1e-5
"""How far the ledger and the allocator may differ, relative to the most that was asked of the allocator.

What is asked for is known to the byte, and the two should be equal. A library may keep a few scalars that it first
needs after the rehearsal's first run. One activation that is not counted is at least ten times as much in a model of
the standard sizes, and so is what the norms keep, a mean and a deviation for each token, if it is never counted.
"""


class Machine:
    """A machine with GPUs."""

    kind = "cuda"

    def __init__(self, devices_from: str, limit: float) -> None:
        """Makes devices as told; `auto` takes the first way of `PLACES` that works."""
        self.devices_from = devices_from
        self.limit = limit
        self.made: dict[tuple[int, int], Places] = {}
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    def places(self, devices: int, replicas: int = 1) -> Places:
        """Where so many devices of so many replicas are; made once."""
        key = devices, replicas
        if key not in self.made:
            self.made[key] = made = self.make(devices * replicas)
            if replicas > 1:
                made.lanes.extend(torch.cuda.Stream(device=stream.device) for stream in made.streams)
        return self.made[key]

    def make(self, count: int) -> Places:
        if self.devices_from != "auto":
            return PLACES[self.devices_from](count)
        for how, make in PLACES.items():
            try:
                return make(count)
            except green.Unavailable as error:
                print(f"devices are not {how}: {error}", file=sys.stderr)
        raise green.Unavailable("there is no way to make devices")

    def describe(self, devices: int, replicas: int = 1, rank: int = 0) -> dict:
        """What the trace of a replica says of how devices were made."""
        places = self.places(devices, replicas)
        multiprocessors = places.multiprocessors
        return {
            "accelerator": torch.cuda.get_device_name(0),
            "driver": driver(),
            "devices": places.how,
            "multiprocessors": multiprocessors and multiprocessors[places.replica(devices, rank)],
            "threads_per_device": None,
        }

    def homes(self, sizes: Sizes, schedule: Schedule, replicas: int = 1) -> list[list[torch.device]]:
        """Where the blocks of each replica live."""
        devices = len(schedule.orders)
        places = self.places(devices, replicas)
        stages = [stage for stage, layers in enumerate(sizes.layers) for _ in range(layers)]
        every = [places.streams[places.replica(devices, rank)] for rank in range(replicas)]
        return [[streams[schedule.device_of[stage]].device for stage in stages] for streams in every]

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=home(0))

    def reference(self, models: list[Transformer]) -> Reference:
        reference = Reference(models, self.allocate)
        reference.compute()
        torch.cuda.empty_cache()
        return reference

    def executor(self, schedule: Schedule, replicas: Replicas, optimizer: str | None = None) -> "Executor":
        places = self.places(len(schedule.orders), replicas.count)
        places.check(replicas.count * len({(a, b) for _, a, b in schedule.messages()}))
        return Executor(schedule, replicas, places, self.limit, optimizer)


def driver() -> str | None:
    """The version of the driver."""
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(ask, check=True, capture_output=True, text=True, timeout=30).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


class Executor:
    """The devices of one schedule in all replicas, ready to run it again and again."""

    def __init__(
        self, schedule: Schedule, replicas: Replicas, places: Places, limit: float, optimizer: str | None
    ) -> None:
        self.order = start_order(schedule)
        self.streams = places.streams
        self.gpus = sorted({stream.device for stream in self.streams}, key=str)
        self.limit = limit
        self.collectives = Collectives(replicas, places, len(schedule.orders)) if replicas.count > 1 else None
        self.pipelines = [
            Pipeline(schedule, replicas, rank, places, optimizer, self.collectives) for rank in range(replicas.count)
        ]
        self.gate = places.gate
        self.remarks: list[str] = []
        self.agrees = True
        buffers = [buffer for one in self.pipelines for buffer in one.links.buffers.values()]
        static = [*buffers, *(x for model in replicas.models for x in model.inputs)]
        self.static = {tensor.untyped_storage().data_ptr() for tensor in static}
        self.rehearse()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        self.synchronize()

    @property
    def devices(self) -> list[Device]:
        """Those of all replicas, replica by replica."""
        return [device for one in self.pipelines for device in one.devices]

    @property
    def norms(self) -> list[Tensor]:
        """The norm of all gradients as each device has found it."""
        return self.collectives.norms if self.collectives else []

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
        sent = [result for one in self.pipelines for result in one.links.sent]
        for tensor in [*sent, *(result for device in self.devices for result in device.here.values())]:
            storage = tensor.untyped_storage()
            made[storage.data_ptr()] = storage.nbytes()
        return sum(size for pointer, size in made.items() if pointer not in self.static)

    def allocated(self) -> int:
        """The bytes that tensors asked for. `memory_allocated` counts their blocks, which may be 1 MiB larger each."""
        return sum(torch.cuda.memory_stats(one)["requested_bytes.all.current"] for one in self.gpus)

    def begin(self) -> None:
        """Forgets the last iteration."""
        self.synchronize()
        if self.collectives:
            self.collectives.begin()
        for one in self.pipelines:
            one.begin()

    def on_each(self, do: Callable[[Device], None]) -> None:
        """Lets every device enqueue something."""
        for device, stream in zip(self.devices, self.streams, strict=True):
            with torch.cuda.stream(stream):
                do(device)

    @torch.inference_mode()
    def iterate(self, after=lambda: None) -> list[Iteration]:
        """Runs the schedule once in every replica. `after` is called whenever a pass was enqueued."""
        self.begin()
        enqueued: list[dict[Pass, int]] = [{} for _ in self.pipelines]
        took = []
        with watchdog(self.limit):
            bases = self.gate.close()
            if self.collectives:
                self.on_each(lambda device: device.together.begin())
            for p in self.order:
                for one, known in zip(self.pipelines, enqueued, strict=True):
                    begun = time.perf_counter_ns()
                    one.run(p)
                    known[p] = time.perf_counter_ns()
                    took.append(known[p] - begun)
                    after()
            self.on_each(Device.square)
            self.on_each(Device.end)
            self.gate.seconds = gate_time(took)
            self.synchronize()
            ended = time.perf_counter_ns()
        for device in self.devices:
            device.check_done()
        last = max(self.last(one, bases) for one in self.pipelines)
        raws = [
            one.collect(bases, known, ended, last) for one, known in zip(self.pipelines, enqueued, strict=True)
        ]
        iterations = Iteration.of(raws)
        return iterations if self.agrees else [iteration.without_memory() for iteration in iterations]

    def last(self, one: Pipeline, bases: dict[torch.device, torch.cuda.Event]) -> int:
        """When the last pass or step of a replica ended."""
        ends = []
        for device, stream, steps in zip(one.devices, one.streams, one.steps(), strict=True):
            events = [*(end for _, _, end in device.notes), *(end for *_, end in steps)]
            ends += [since(bases[stream.device], event) for event in events]
        return max(ends)
