"""What holds devices on GPUs back while the host enqueues, and what gives them up."""

import contextlib
import os
import statistics
import sys
import threading

import torch

LONGEST_GATE = 0.25
"""Seconds. Streams hold a limited number of kernels, and the host has to wait for the gate when they are full."""


def stamp() -> torch.cuda.Event:
    """An event that will have the time at this place of the current stream."""
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


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
