"""Streams and events that only note who waits for whom, in place of those of `torch.cuda`, for tests.

What is computed is computed at once, on the CPU. An operation is a number; `before` holds those that it follows
directly: the one before it in its stream, and those whose events its stream waits for.
"""

import contextlib
import types
from unittest import mock

import torch
import torch._dynamo

import gpu
import green
import places

KERNEL = 1_000
"""Nanoseconds that every noted operation takes."""


class Simulated:
    """All streams of a simulated machine, and the order of what they do."""

    def __init__(self, gpus: int = 1, driver: types.SimpleNamespace | None = None) -> None:
        self.gpus = gpus
        self.driver = driver
        self.before: list[set[int]] = []
        self.ends: list[int] = []
        self.slept = 0
        self.current: dict[torch.device, Stream] = {}
        self.selected = torch.device("cpu", 0)
        self.made = 0

    def operation(self, stream: "Stream", takes: int = KERNEL) -> int:
        """Another operation at the end of a stream."""
        self.before.append(stream.tail)
        self.ends.append(takes + max((self.ends[one] for one in stream.tail), default=0))
        stream.tail = {len(self.before) - 1}
        return len(self.before) - 1

    def follows(self, later: int, earlier: int) -> bool:
        """Whether an operation cannot begin before another one has ended."""
        seen, open_ = set(), [later]
        while open_:
            at = open_.pop()
            if at == earlier:
                return True
            fresh = {one for one in self.before[at] if one >= earlier} - seen
            seen |= fresh
            open_ += fresh
        return False

    def stream(self, stream: "Stream"):
        """A context in which a stream is the current one of its GPU, and its GPU the current one."""

        @contextlib.contextmanager
        def within():
            selected, was = self.selected, self.now(stream.device)
            self.selected, self.current[stream.device] = stream.device, stream
            try:
                yield
            finally:
                self.selected, self.current[stream.device] = selected, was

        return within()

    def now(self, device: torch.device) -> "Stream":
        if device not in self.current:
            self.current[device] = Stream(self, device)
        return self.current[device]

    def sleep(self, cycles: int) -> None:
        self.slept += cycles
        self.operation(self.now(self.selected), cycles)

    def installed(self) -> contextlib.ExitStack:
        """Puts all this in the place of `torch.cuda`."""
        stack = contextlib.ExitStack()
        replaced = {
            "Stream": lambda device: Stream(self, device),
            "ExternalStream": lambda handle, device: Stream(self, device, handle),
            "Event": lambda enable_timing: Event(self),
            "stream": self.stream,
            "current_stream": lambda: self.now(self.selected),
            "synchronize": lambda device: None,
            "memory_stats": lambda device: {"requested_bytes.all.current": 0},
            "empty_cache": lambda: None,
            "device_count": lambda: self.gpus,
            "get_device_name": lambda index: "a simulated GPU",
            "_sleep": self.sleep,
        }
        for name, value in replaced.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, value))
        stack.enter_context(mock.patch.object(gpu, "home", lambda index: torch.device("cpu", index)))
        stack.enter_context(mock.patch.object(places, "home", lambda index: torch.device("cpu", index)))
        stack.enter_context(mock.patch.object(green, "home", lambda index: torch.device("cpu", index)))
        # What is first imported within is forgotten behind it: PyTorch's compiler, which optimisers ask for, is not.
        bindings = types.SimpleNamespace(driver=self.driver)
        modules = {"cuda": types.SimpleNamespace(bindings=bindings), "cuda.bindings": bindings}
        if self.driver is None:
            modules = {"cuda": None, "cuda.bindings": None}
        stack.enter_context(mock.patch.dict("sys.modules", modules))
        return stack


class Stream:
    """A stream: the operations that its next one follows."""

    def __init__(self, machine: Simulated, device: torch.device, handle: int | None = None) -> None:
        self.machine = machine
        self.device = device
        self.handle = handle
        machine.made += 1
        self.tail: set[int] = set()

    def wait_event(self, event: "Event") -> None:
        self.tail = self.tail | {event.at}

    def wait_stream(self, other: "Stream") -> None:
        self.tail = self.tail | other.tail

    def synchronize(self) -> None:
        pass


class Event:
    """An event: an operation of the stream in which it was recorded."""

    def __init__(self, machine: Simulated) -> None:
        self.machine = machine
        self.at: int | None = None

    def record(self) -> None:
        self.at = self.machine.operation(self.machine.now(self.machine.selected))

    def elapsed_time(self, later: "Event") -> float:
        return (self.machine.ends[later.at] - self.machine.ends[self.at]) / 1e6


def absent(name: str):
    """A function that the bindings have and the driver lacks, as cuda-bindings tells it."""

    def call(*_):
        raise RuntimeError(f"Function {name} not found")

    return call


def driver(multiprocessors: int, granularity: int, **broken) -> types.SimpleNamespace:
    """A driver that splits multiprocessors in units, as CUDA does, and knows no queues, as before CUDA 13.1.

    `broken` replaces some of its functions; one that is None is missing.
    """

    def resource(count):
        return types.SimpleNamespace(sm=types.SimpleNamespace(smCount=count))

    def split(groups, whole, flags, least):
        size = -(-least // granularity) * granularity
        found = min(groups, whole.sm.smCount // size)
        return 0, [resource(size) for _ in range(found)], found, resource(whole.sm.smCount - found * size)

    functions = {
        "CUdevResourceType": types.SimpleNamespace(CU_DEV_RESOURCE_TYPE_SM=1),
        "CUgreenCtxCreate_flags": types.SimpleNamespace(CU_GREEN_CTX_DEFAULT_STREAM=1),
        "CUstream_flags": types.SimpleNamespace(CU_STREAM_NON_BLOCKING=1),
        "cuDeviceGet": lambda index: (0, index),
        "cuDeviceGetDevResource": lambda device, kind: (0, resource(multiprocessors)),
        "cuDevSmResourceSplitByCount": split,
        "cuDevResourceGenerateDesc": lambda resources, count: (0, resources[0]),
        "cuGreenCtxCreate": lambda description, device, flags: (0, description),
        "cuGreenCtxGetDevResource": lambda context, kind: (0, context),
        "cuGreenCtxStreamCreate": lambda context, flags, priority: (0, 7),
    }
    kept = {name: value for name, value in (functions | broken).items() if value is not None}
    return types.SimpleNamespace(**kept)


class Queues:
    """What a driver of CUDA 13.1 has beyond an older one, with the parts of every green context that was made."""

    def __init__(self, multiprocessors: int, granularity: int, **broken) -> None:
        self.made: list[list] = []
        older = driver(multiprocessors, granularity)

        def resource(device, kind):
            if kind != 1000:
                return older.cuDeviceGetDevResource(device, kind)
            return 0, types.SimpleNamespace(wqConfig=types.SimpleNamespace(sharingScope=0, wqConcurrencyLimit=32))

        def create(parts, device, flags):
            self.made.append(parts)
            return 0, parts[0]

        functions = {
            "CUdevResourceType": types.SimpleNamespace(
                CU_DEV_RESOURCE_TYPE_SM=1, CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG=1000
            ),
            "CUdevWorkqueueConfigScope": types.SimpleNamespace(CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED=1),
            "cuDeviceGetDevResource": resource,
            "cuDevResourceGenerateDesc": lambda parts, count: (0, parts[:count]),
            "cuGreenCtxCreate": create,
        }
        self.driver = driver(multiprocessors, granularity, **functions | broken)
