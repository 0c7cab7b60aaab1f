"""Schedules of ``torch.distributed.pipelining``. PyTorch is imported here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ._schedule import Schedule


def read(schedule: Any) -> Schedule:
    """The schedule that a pipeline schedule of PyTorch runs."""
    raise NotImplementedError


def load(
    schedule: Schedule,
    stages: Any,
    loss_fn: Callable[..., Any] | None,
    n_microbatches: int | None,
    options: Mapping[str, Any],
) -> Any:
    """A pipeline schedule of PyTorch that runs a schedule."""
    raise NotImplementedError
