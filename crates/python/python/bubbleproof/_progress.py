"""The progress of a search: a function of the caller's, or a line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from ._errors import InputError


@dataclass(frozen=True)
class Progress:
    """How far a search has got."""

    step: str
    """What is being tried."""
    best: int | None
    """The best value so far, in ticks."""
    bound: int | None
    """None is below this, in ticks."""

    @property
    def gap(self) -> float | None:
        """How much longer the best is than the bound, as a share of that."""
        if self.best is None or self.bound is None:
            return None
        return (self.best - self.bound) / max(self.bound, 1)


Watch: TypeAlias = bool | Callable[[Progress], object] | None
"""What a caller gives to see progress."""


@contextmanager
def watching(
    progress: Watch, unit: str
) -> Generator[Callable[[str, int | None, int | None], object] | None, None, None]:
    """What the extension module calls with every report, while a search runs."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        line = _Line(sys.stderr, unit)
        try:
            yield lambda step, best, bound: line.show(Progress(step, best, bound))
        finally:
            line.clear()
    elif callable(progress):
        yield lambda step, best, bound: progress(Progress(step, best, bound))
    else:
        raise InputError("progress must be True, False, None or a function", field="progress")


class _Line:
    """A line that is written over and over."""

    PAUSE = 0.1
    """How often it is written at the most, in seconds."""

    def __init__(self, out: TextIO, unit: str) -> None:
        self._out, self._unit = out, unit
        self._begun = self._shown = time.monotonic()
        self._width = 0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._shown < self.PAUSE:
            return
        self._shown = now
        text = f"{now - self._begun:5.0f} s  {progress.step}"
        if progress.best is not None:
            text += f", best {progress.best} {self._unit}"
        if progress.gap is not None:
            text += f", gap {progress.gap:.2%}"
        self._write(text)

    def clear(self) -> None:
        if self._width:
            self._write("")
            self._out.write("\r")
            self._out.flush()

    def _write(self, text: str) -> None:
        self._out.write("\r" + text.ljust(self._width))
        self._out.flush()
        self._width = len(text)
