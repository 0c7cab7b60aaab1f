"""Pipeline devices on a machine without a GPU: processes, or threads of one process.

Processes are forked after PyTorch was imported. Weights, gradients and the buffers into which results are copied lie
in memory that all share. A copy is made by a second thread of the device that sends, so that the device goes on
with its next pass meanwhile; a word through a pipe then tells the receiving device. Every replica has devices of its
own.
"""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection

import torch
from torch import Tensor

from cpu_lane import Lane, Meetings, TimedOut
from cpu_links import Copies, Wiring, shared
from device import Device
from iteration import Iteration, Raw
from ledger import Ledger
from replicas import Member, Replicas
from schedule import Schedule
from transformer import Reference, Sizes, Transformer


@dataclass(frozen=True)
class Place:
    """A device of a replica, and what leads to it."""

    rank: int
    device: int
    name: str
    wiring: Wiring
    meetings: Meetings | None
    """Where there are several replicas."""
    control: Connection


def host(places: list[Place], schedule: Schedule, replicas: Replicas, settings: "Settings") -> None:
    """A process with so many devices: by itself one, or threads."""
    if len(places) == 1:
        work(places[0], schedule, replicas, settings)
        return
    devices = [threading.Thread(target=work, args=(place, schedule, replicas, settings)) for place in places]
    for device in devices:
        device.start()
    for device in devices:
        device.join()


def work(place: Place, schedule: Schedule, replicas: Replicas, settings: "Settings") -> None:
    """A device: runs its passes once whenever it is told to, and reports what it has noted."""
    rank, device, control = place.rank, place.device, place.control
    if settings.cores is not None:
        os.sched_setaffinity(0, settings.cores[rank * len(schedule.orders) + device])
    torch.set_num_threads(settings.threads)
    keep_memory()
    model = replicas.models[rank]
    links = Copies(place.name, device, place.wiring, settings.limit)
    lane = None
    if place.meetings:
        member = Member(replicas, rank)
        lane = Lane(place.name, device, schedule, member, place.meetings, settings.threads, settings.limit)
    book = Ledger(time.perf_counter_ns)
    stages = model.stages(schedule, device, book)
    optimizers = replicas.optimizers(settings.optimizer, schedule, device, rank)
    one = Device(device, schedule, stages, model.inputs, links, book, time.perf_counter_ns, optimizers, lane)
    with torch.inference_mode():
        while control.recv() == "run":
            try:
                report = iterate(one, links, lane)
            except TimedOut as error:
                report = error
            except Exception:
                report = RuntimeError(f"{place.name}: {traceback.format_exc()}")
            try:
                control.send(report)
            except BrokenPipeError:
                # Another device failed first, and nobody listens any more.
                break
    links.jobs.put(None)


def keep_memory() -> None:
    """Lets the process keep memory that it frees, as the allocators for GPUs do, instead of giving it back to Linux.

    Else every pass would pay for page faults. The numbers are those of glibc's malloc.h.
    """
    trim_threshold, mmap_max = -1, -4
    libc = ctypes.CDLL(None)
    libc.mallopt(trim_threshold, 2**31 - 1)
    libc.mallopt(mmap_max, 0)


def iterate(device: Device, links: Copies, lane: Lane | None) -> Raw:
    """One iteration of a device."""
    device.begin()
    links.begin()
    if lane:
        lane.begin()
    begun = time.perf_counter_ns()
    for p in device.schedule.orders[device.index]:
        device.run(p)
    spent = time.perf_counter_ns() - begun - links.waited - (lane.waited if lane else 0)
    device.square()
    device.end()
    links.jobs.join()
    device.check_done()
    busy = sum(end - start for _, start, end in device.notes)
    step = device.steps + (lane.notes if lane else [])
    return Raw(device.notes, links.notes, device.book.notes, step, spent - busy)


@dataclass(frozen=True)
class Settings:
    """How devices are made."""

    kind: str
    """`processes` or `threads`."""
    threads: int
    """Threads with which a device computes."""
    limit: float
    """Seconds after which a device that waits, or an iteration, is given up."""
    cores: list[set[int]] | None
    """The processor cores of every device, replica by replica, where there are enough of them."""
    optimizer: str | None
    """The optimiser whose steps end an iteration."""


def cores(devices: int, threads: int) -> list[set[int]] | None:
    """Disjoint groups of the cores that this process may use, one for each device; none if they do not suffice."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < devices * threads:
        return None
    return [set(allowed[threads * device : threads * (device + 1)]) for device in range(devices)]


class Machine:
    """A machine without a GPU."""

    kind = "cpu"

    def __init__(self, devices_from: str, threads: int, limit: float) -> None:
        """Makes devices of `processes` or of `threads`."""
        self.devices_from = devices_from
        self.threads = threads
        self.limit = limit
        # Forked processes cannot use a pool of threads that this one has begun.
        torch.set_num_threads(1)

    def describe(self, devices: int, replicas: int = 1, rank: int = 0) -> dict:
        """What the trace of a replica says of how devices were made."""
        return {
            "accelerator": None,
            "driver": None,
            "devices": self.devices_from,
            "multiprocessors": None,
            "threads_per_device": self.threads,
        }

    def homes(self, sizes: Sizes, schedule: Schedule, replicas: int = 1) -> list[list[torch.device]]:
        """Where the blocks of each replica live."""
        return [[torch.device("cpu")] * sum(sizes.layers)] * replicas

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return shared(shape, dtype)

    def reference(self, models: list[Transformer]) -> Reference:
        """Computed by a process of its own, with one thread.

        Several would be faster, but MKL may spin for ever in a process forked from one in which threads have used it.
        """
        reference = Reference(models, shared)
        child = multiprocessing.get_context("fork").Process(target=reference.compute)
        child.start()
        child.join()
        if child.exitcode != 0:
            raise RuntimeError("the reference gradients could not be computed")
        return reference

    def executor(self, schedule: Schedule, replicas: Replicas, optimizer: str | None = None) -> "Executor":
        count = len(schedule.orders) * replicas.count
        settings = Settings(self.devices_from, self.threads, self.limit, cores(count, self.threads), optimizer)
        return Executor(schedule, replicas, settings)


class Executor:
    """The devices of one schedule in all replicas, ready to run it again and again."""

    def __init__(self, schedule: Schedule, replicas: Replicas, settings: Settings) -> None:
        self.settings = settings
        self.remarks: list[str] = []
        devices, several = len(schedule.orders), replicas.count > 1
        room = shared((2, replicas.count, devices), torch.float64)
        self.meetings = Meetings.of(replicas.count, devices, room) if several else None
        places = []
        self.controls: list[Connection] = []
        for rank, model in enumerate(replicas.models):
            wiring = Wiring.of(schedule, model.sizes, model.inputs[0].dtype)
            for device in range(devices):
                ours, theirs = multiprocessing.Pipe()
                self.controls.append(ours)
                name = f"device {device} of replica {rank}" if several else f"device {device}"
                places.append(Place(rank, device, name, wiring, self.meetings, theirs))
        self.devices = devices
        self.names = [place.name for place in places]
        # Threads too are those of a forked process: one in which threads have used MKL cannot be forked any more.
        groups = [[place] for place in places] if settings.kind == "processes" else [places]
        fork = multiprocessing.get_context("fork").Process
        self.workers = [fork(target=host, args=(group, schedule, replicas, settings), daemon=True) for group in groups]
        for worker in self.workers:
            worker.start()

    @property
    def norms(self) -> list[Tensor]:
        """The norm of all gradients as each device has found it."""
        return list(self.meetings.norms.flatten()) if self.meetings else []

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        """Ends the devices."""
        for control in self.controls:
            try:
                control.send("stop")
            except OSError:
                pass
        for worker in self.workers:
            worker.join(1.0)
            worker.kill()
            worker.join()

    def iterate(self) -> list[Iteration]:
        """Runs the schedule once in every replica."""
        for control in sorted(self.controls, key=lambda one: -(self.controls.index(one) % self.devices)):
            control.send("run")
        # A device that waits gives up first, and says for what.
        deadline = time.monotonic() + self.settings.limit + 1.0
        reports: dict[int, Raw] = {}
        while len(reports) < len(self.controls):
            waiting = {control: d for d, control in enumerate(self.controls) if d not in reports}
            ended = {worker.sentinel: device for device, worker in enumerate(self.workers)}
            ready = multiprocessing.connection.wait([*waiting, *ended], max(0.0, deadline - time.monotonic()))
            if not ready:
                late = ", ".join(self.names[place] for place in sorted(waiting.values()))
                raise TimedOut(f"not done after {self.settings.limit:.0f} s: {late}")
            for control in ready:
                if control in ended:
                    names = self.names if len(self.workers) == 1 else [self.names[ended[control]]]
                    raise RuntimeError(f"{', '.join(names)} has died")
                try:
                    report = control.recv()
                except EOFError as error:
                    raise RuntimeError(f"{self.names[waiting[control]]} has died") from error
                if isinstance(report, Exception):
                    raise report
                reports[waiting[control]] = report
        raws = [reports[place] for place in sorted(reports)]
        return Iteration.of([raws[at : at + self.devices] for at in range(0, len(raws), self.devices)])
