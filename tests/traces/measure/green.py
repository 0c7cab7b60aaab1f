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
    if not hasattr(driver, "cuDevSmResourceSplitByCount"):
        raise Unavailable("the package cuda-bindings is too old for green contexts")
    # The green contexts join the context that PyTorch uses, which must exist.
    torch.zeros(1, device=home(gpu))
    device = ask(driver.cuDeviceGet(gpu))
    kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
    whole = ask(driver.cuDeviceGetDevResource(device, kind))
    groups = []
    for resource in resources(driver, whole, count):
        context = ask(
            driver.cuGreenCtxCreate(
                ask(driver.cuDevResourceGenerateDesc([resource], 1)),
                device,
                driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM,
            )
        )
        own = ask(driver.cuGreenCtxGetDevResource(context, kind))
        stream = ask(driver.cuGreenCtxStreamCreate(context, driver.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
        handle = torch.cuda.ExternalStream(int(stream), device=home(gpu))
        groups.append(Group(handle, own.sm.smCount, context))
    return groups


def resources(driver, whole, count: int) -> list:
    """The largest equal parts. CUDA rounds their sizes up to what the GPU can separate, and then has too few."""
    for size in range(whole.sm.smCount // count, 0, -1):
        status, *answer = driver.cuDevSmResourceSplitByCount(count, whole, 0, size)
        if int(status) == 0 and answer[1] >= count:
            return answer[0][:count]
    raise Unavailable(f"CUDA does not split {whole.sm.smCount} multiprocessors into {count} groups")


def ask(answer: tuple):
    """What a call of the driver returns, after its status."""
    status, *values = answer
    if int(status) != 0:
        raise Unavailable(f"the driver says {getattr(status, 'name', status)}")
    return values[0] if values else None
