"""Disjoint groups of the multiprocessors of one GPU, as green contexts of CUDA.

Kernels of a stream that belongs to a green context run on the multiprocessors of that context only. The groups share
the second-level cache and the memory. Needs a driver of CUDA 12.4 or newer, and the package `cuda-bindings`, which
PyTorch's wheels for CUDA bring along. PyTorch's own wrapper splits only with newer drivers, and is not used.
"""

from dataclasses import dataclass

import torch


def home(index: int) -> torch.device:
    """A GPU, as PyTorch calls it."""
    return torch.device("cuda", index)


class Unavailable(Exception):
    """Why the multiprocessors cannot be split."""


@dataclass(frozen=True)
class Group:
    """A group of multiprocessors, with a stream on it."""

    stream: torch.cuda.Stream
    multiprocessors: int
    """How many there really are, as CUDA says."""
    context: object
    """The green context, which lives as long as the process: streams and tensors refer to it."""


def split(gpu: int, count: int) -> list[Group]:
    """Splits a GPU into equal groups, as large as CUDA can make them."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise Unavailable(f"the package cuda-bindings is missing ({error})") from error
    # The green contexts join the context that PyTorch uses, which must exist.
    torch.zeros(1, device=home(gpu))
    try:
        return groups(driver, gpu, count)
    except AttributeError as error:
        raise Unavailable(f"the package cuda-bindings is too old for green contexts ({error})") from error
    except RuntimeError as error:
        # So the bindings say that the driver lacks a function, and PyTorch that a stream or an event is of no use.
        raise Unavailable(f"green contexts do not work here ({error})") from error


def groups(driver, gpu: int, count: int) -> list[Group]:
    """The groups, each with a stream that was seen to work."""
    device = ask(driver.cuDeviceGet(gpu))
    kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
    whole = ask(driver.cuDeviceGetDevResource(device, kind))
    plain = torch.cuda.Stream(device=home(gpu))
    made = []
    for resource in resources(driver, whole, count):
        context = create(driver, device, resource)
        own = ask(driver.cuGreenCtxGetDevResource(context, kind))
        handle = ask(driver.cuGreenCtxStreamCreate(context, driver.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
        stream = torch.cuda.ExternalStream(int(handle), device=home(gpu))
        probe(stream, plain)
        made.append(Group(stream, own.sm.smCount, context))
    return made


def resources(driver, whole, count: int) -> list:
    """The largest equal parts. CUDA rounds their sizes up to what the GPU can separate, and then has too few."""
    for size in range(whole.sm.smCount // count, 0, -1):
        status, *answer = driver.cuDevSmResourceSplitByCount(count, whole, 0, size)
        if int(status) == 0 and answer[1] >= count:
            return answer[0][:count]
    raise Unavailable(f"CUDA does not split {whole.sm.smCount} multiprocessors into {count} groups")


def create(driver, device, multiprocessors):
    """A green context, with a hardware queue of its own where that can be asked for."""
    flags = driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM

    def of(parts: list):
        return ask(driver.cuGreenCtxCreate(ask(driver.cuDevResourceGenerateDesc(parts, len(parts))), device, flags))

    try:
        return of([multiprocessors, queues(driver, device)])
    except (Unavailable, AttributeError, RuntimeError):
        return of([multiprocessors])


def queues(driver, device):
    """Hardware queues that no other group uses, so that none waits for another where the schedule does not.

    Needs a driver and bindings of CUDA 13.1 or newer. A group has one stream; if each asked for as many queues as the
    driver offers, there would not be enough for all.
    """
    kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
    resource = ask(driver.cuDeviceGetDevResource(device, kind))
    resource.wqConfig.sharingScope = driver.CUdevWorkqueueConfigScope.CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED
    resource.wqConfig.wqConcurrencyLimit = 1
    return resource


def probe(stream: torch.cuda.Stream, plain: torch.cuda.Stream) -> None:
    """Uses the stream of a group as a device does: it and a plain one wait for each other, and a kernel is timed."""
    before, start, end = (torch.cuda.Event(enable_timing=True) for _ in range(3))
    with torch.cuda.stream(plain):
        before.record()
    stream.wait_event(before)
    with torch.cuda.stream(stream):
        start.record()
        torch.cuda._sleep(100_000)
        end.record()
    plain.wait_event(end)
    plain.synchronize()
    milliseconds = start.elapsed_time(end)
    if not milliseconds > 0:
        raise Unavailable(f"events say that a kernel on a group took {milliseconds} ms")


def ask(answer: tuple):
    """What a call of the driver returns, after its status."""
    status, *values = answer
    if int(status) != 0:
        raise Unavailable(f"the driver says {getattr(status, 'name', status)}")
    return values[0] if values else None
