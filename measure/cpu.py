"""Pipeline devices on a machine without a GPU: processes, or threads of one process.

Processes are forked after PyTorch was imported. Weights, gradients and the buffers into which results are copied lie
in memory that all share. A copy is made by a second thread of the device that sends, so that the device goes on
with its next pass meanwhile; a word through a pipe then tells the receiving device.
"""

import ctypes
import mmap
import multiprocessing
import multiprocessing.connection
import os
import queue
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection

import torch
from torch import Tensor

from device import Device
from iteration import Iteration, Raw
from ledger import Ledger
from schedule import Pass, Schedule
from transformer import Reference, Sizes, Transformer


class TimedOut(Exception):
    """What did not come within the time limit."""


def shared(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A tensor of zeros that processes forked later share."""
    count = torch.Size(shape).numel()
    return torch.frombuffer(mmap.mmap(-1, count * dtype.itemsize), dtype=dtype, count=count).view(shape)


@dataclass(frozen=True)
class Wiring:
    """What leads from device to device."""

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

    def __init__(self, index: int, wiring: Wiring, limit: float) -> None:
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
                raise TimedOut(f"device {self.index} has waited {self.limit:.0f} s for the result of `{source}`")
            self.arrived.add(pipe.recv_bytes().decode())
        self.arrived.remove(str(source))
        self.waited += time.perf_counter_ns() - begun
        return self.wiring.buffers[source]


def work(device: int, schedule: Schedule, model: Transformer, wiring: Wiring, settings: "Settings", control) -> None:
    """A device: runs its passes once whenever it is told to, and reports what it has noted."""
    if settings.cores is not None:
        os.sched_setaffinity(0, settings.cores[device])
    torch.set_num_threads(settings.threads)
    keep_memory()
    links = Copies(device, wiring, settings.limit)
    book = Ledger(time.perf_counter_ns)
    stages = model.stages(schedule, device, book)
    optimizers = model.optimizers(settings.optimizer, schedule, device)
    one = Device(device, schedule, stages, model.inputs, links, book, time.perf_counter_ns, optimizers)
    with torch.inference_mode():
        while control.recv() == "run":
            try:
                control.send(iterate(one, links))
            except TimedOut as error:
                control.send(error)
            except Exception:
                control.send(RuntimeError(f"device {device}: {traceback.format_exc()}"))
    links.jobs.put(None)


def keep_memory() -> None:
    """Lets the process keep memory that it frees, as the allocators for GPUs do, instead of giving it back to Linux.

    Else every pass would pay for page faults. The numbers are those of glibc's malloc.h.
    """
    trim_threshold, mmap_max = -1, -4
    libc = ctypes.CDLL(None)
    libc.mallopt(trim_threshold, 2**31 - 1)
    libc.mallopt(mmap_max, 0)


def iterate(device: Device, links: Copies) -> Raw:
    """One iteration of a device."""
    device.begin()
    links.begin()
    begun = time.perf_counter_ns()
    for p in device.schedule.orders[device.index]:
        device.run(p)
    spent = time.perf_counter_ns() - begun
    device.end()
    links.jobs.join()
    device.check_done()
    busy = sum(end - start for _, start, end in device.notes)
    return Raw(device.notes, links.notes, device.book.notes, device.steps, spent - busy - links.waited)


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
    """The processor cores of every device, where there are enough of them."""
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

    def describe(self, devices: int) -> dict:
        """What the trace says of how devices were made."""
        return {
            "accelerator": None,
            "driver": None,
            "devices": self.devices_from,
            "multiprocessors": None,
            "threads_per_device": self.threads,
        }

    def homes(self, sizes: Sizes, schedule: Schedule) -> list[torch.device]:
        """Where the blocks live."""
        return [torch.device("cpu")] * sum(sizes.layers)

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return shared(shape, dtype)

    def reference(self, model: Transformer) -> Reference:
        """Computed by a process of its own, with one thread.

        Several would be faster, but MKL may spin for ever in a process forked from one in which threads have used it.
        """
        reference = Reference(model, shared)
        child = multiprocessing.get_context("fork").Process(target=reference.compute)
        child.start()
        child.join()
        if child.exitcode != 0:
            raise RuntimeError("the reference gradients could not be computed")
        return reference

    def executor(self, schedule: Schedule, model: Transformer, optimizer: str | None = None) -> "Executor":
        count = len(schedule.orders)
        settings = Settings(self.devices_from, self.threads, self.limit, cores(count, self.threads), optimizer)
        return Executor(schedule, model, settings)


class Executor:
    """The devices of one schedule, ready to run it again and again."""

    def __init__(self, schedule: Schedule, model: Transformer, settings: Settings) -> None:
        self.settings = settings
        self.remarks: list[str] = []
        wiring = Wiring.of(schedule, model.sizes, model.inputs[0].dtype)
        pipes = [multiprocessing.Pipe() for _ in schedule.orders]
        self.controls = [ours for ours, _ in pipes]
        self.workers = []
        fork = multiprocessing.get_context("fork").Process
        make = fork if settings.kind == "processes" else threading.Thread
        for device, (_, theirs) in enumerate(pipes):
            arguments = (device, schedule, model, wiring, settings, theirs)
            self.workers.append(make(target=work, args=arguments, daemon=True))
        for worker in self.workers:
            worker.start()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        """Ends the devices. Threads that wait end at their own time limit."""
        for control in self.controls:
            try:
                control.send("stop")
            except OSError:
                pass
        for worker in self.workers:
            worker.join(1.0)
            if isinstance(worker, multiprocessing.process.BaseProcess):
                worker.kill()
                worker.join()

    def iterate(self) -> Iteration:
        """Runs the schedule once."""
        for control in reversed(self.controls):
            control.send("run")
        # A device that waits gives up first, and says for what.
        deadline = time.monotonic() + self.settings.limit + 1.0
        processes = [worker for worker in self.workers if isinstance(worker, multiprocessing.process.BaseProcess)]
        reports: dict[int, Raw] = {}
        while len(reports) < len(self.controls):
            waiting = {control: d for d, control in enumerate(self.controls) if d not in reports}
            ended = {worker.sentinel: device for device, worker in enumerate(processes)}
            ready = multiprocessing.connection.wait([*waiting, *ended], max(0.0, deadline - time.monotonic()))
            if not ready:
                late = ", ".join(map(str, sorted(waiting.values())))
                raise TimedOut(f"devices {late} are not done after {self.settings.limit:.0f} s")
            for control in ready:
                if control in ended:
                    raise RuntimeError(f"device {ended[control]} has died")
                try:
                    report = control.recv()
                except EOFError as error:
                    raise RuntimeError(f"device {waiting[control]} has died") from error
                if isinstance(report, Exception):
                    raise report
                reports[waiting[control]] = report
        return Iteration.of([reports[device] for device in sorted(reports)])
