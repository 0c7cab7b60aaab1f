"""Plans of many jobs: in threads, in processes, on a cluster.

A sweep is a list of *pieces*: a job, or a part of the choices of a job. A piece is planned by a worker, and its results come into
the store of the sweep: at once, where workers share the file, or with the answer of the worker, where they do not. A piece is
*finished* once its results are in the store and the journal beside the store says so, in this order. Hence, whoever is killed and
whenever: what is finished is not searched for again, and nothing else is taken for finished. Workers that share the file look there
first, so that they compute no result that it has; workers on a cluster of Ray know what it had when the sweep began, and those of
other executors begin with an empty store. What a store says is checked before it is used.

Which worker plans which piece, how often a piece is tried, and when, is left to the executor.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from . import _files, _native
from ._errors import InfeasibleError, InputError, NoAnswerError
from ._job import Job
from ._search import Plan, Settings, planned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from ._files import StrPath
    from ._progress import Progress

Answer: TypeAlias = Plan | InfeasibleError
"""What a sweep has for a job: its plan, or why there is none."""

TRIES = 4
"""How often pieces are begun while none is finished. One that kills its worker every time must not be tried for ever."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep has got."""

    finished: int
    """How many pieces are finished."""
    pieces: int
    """How many there are."""
    resumed: int
    """How many of them were finished by an earlier run."""


@dataclass(frozen=True)
class Piece:
    """A part of a sweep that is planned by itself. It is sent to workers."""

    text: str
    """The text of the job."""
    shard: tuple[int, int] | None
    """The part of its choices: all, where this is nothing."""
    time_limit: float | None
    seed: int

    @property
    def key(self) -> str:
        """What the journal calls it: a digest of all that its results depend on."""
        import hashlib

        parts = [_native.build(), self.text, self.shard, self.time_limit, self.seed]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def plan(
        self,
        store: StrPath | None,
        progress: Callable[[Progress], object] | None = None,
        *,
        known: StrPath | None = None,
    ) -> Answer:
        """Plans it on one thread. Results are kept in ``store``, and also looked up in ``known``."""
        job = Job.from_toml(self.text)
        settings = Settings("makespan", self.time_limit, self.seed, 1)
        try:
            return planned(job, settings, store, known, self.shard, progress)
        except InfeasibleError as error:
            return error

    def plan_apart(self, known: StrPath | None = None) -> tuple[Answer, bytes]:
        """Plans it with a store of its own, whose bytes go with the answer: what is not in ``known``."""
        with _files.folder() as folder:
            store = Path(folder) / "results.sqlite"
            answer = self.plan(store, known=known)
            return answer, store.read_bytes() if store.exists() else b""


class Ledger:
    """The store of a sweep, and the journal that says which pieces are finished."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self._path = store.with_name(store.name + ".finished")
        self._lock = threading.Lock()
        # A line that was not written to its end is of no piece.
        if not store.exists():
            # What it says is of another store, which is gone.
            self._path.unlink(missing_ok=True)
        lines = self._path.read_text(encoding="ascii").split("\n") if self._path.exists() else [""]
        self._finished = set(lines[:-1])
        if lines[-1]:
            with self._path.open("a", encoding="ascii") as journal:
                journal.write("\n")

    def has(self, piece: Piece) -> bool:
        """Whether a piece is finished."""
        return piece.key in self._finished

    def known(self) -> bytes:
        """The bytes of a store with all that is in this one; none where there is none."""
        if not self.store.exists():
            return b""
        with _files.folder() as folder:
            copy = Path(folder) / "results.sqlite"
            _native.merge_stores(copy, self.store)
            return copy.read_bytes()

    def take_in(self, results: bytes) -> None:
        """Takes in the store of a worker."""
        if not results:
            return
        with _files.folder() as folder:
            other = Path(folder) / "results.sqlite"
            other.write_bytes(results)
            _native.merge_stores(self.store, other)

    def finish(self, piece: Piece, answer: Answer) -> None:
        """Enters a piece whose results are in the store. A search that was interrupted, or has no answer, may get further."""
        if isinstance(answer, NoAnswerError) or (isinstance(answer, Plan) and answer.is_interrupted):
            return
        with self._lock, self._path.open("a", encoding="ascii") as journal:
            journal.write(piece.key + "\n")
            journal.flush()
            os.fsync(journal.fileno())
        self._finished.add(piece.key)


def sweep(
    jobs: Iterable[Job],
    *,
    executor: Literal["threads", "processes", "ray"] | Executor = "processes",
    store: StrPath | None = None,
    shards: int = 1,
    workers: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    progress: Callable[[SweepProgress], object] | None = None,
) -> list[Answer]:
    """Plans of many jobs, each as :func:`bubbleproof.plan` finds it on one thread.

    A worker that is lost loses the piece that it was planning, which is tried again elsewhere. With a ``store``, a sweep that is
    killed goes on where it was when it is started again: nothing that is finished is searched for again.

    Args:
        jobs: The jobs.
        executor: Where to plan: in ``"threads"`` or ``"processes"`` of this machine, on the cluster that ``"ray"`` is connected
            to, or by any executor of ``concurrent.futures``, such as that of a Dask client. A script that uses
            ``"processes"`` needs the guard ``if __name__ == "__main__"``.
        store: The file that keeps results, as for :func:`bubbleproof.plan`; beside it, a journal is kept in ``STORE.finished``.
        shards: Into how many parts to divide the choices of each job, for few jobs with many choices.
        workers: How many threads or processes; by default as many as there are processors.
        time_limit: How many seconds to search for each piece; by default as long as the usual effort takes, and at most 60.
        seed: Decides between choices that nothing else decides.
        progress: Is called with a :class:`SweepProgress` after every piece. If it raises an exception, that ends the sweep.

    Returns:
        For each job in order, its plan; or the :class:`InfeasibleError` that says why there is none.

    Raises:
        InputError: if an argument is wrong.
        RuntimeError: if pieces have lost their workers again and again.

    Example:
        >>> import bubbleproof as bp
        >>> block = {"forward": "3 ms", "backward_input": "3 ms", "backward_weight": "2 ms", "activation": "1 GiB"}
        >>> jobs = [
        ...     bp.Job(layers=[f"{count} block"], layer={"block": block}, machine={"devices": 2},
        ...            choices={"global_batch": 4, "pipeline": [2]})
        ...     for count in (2, 4, 6)
        ... ]
        >>> [plan.best.cut for plan in bp.sweep(jobs, executor="threads")]
        [(1, 1), (2, 2), (3, 3)]
    """
    if shards < 1:
        raise InputError(f"shards must be at least 1, but is {shards}", field="shards")
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, but is {workers}", field="workers")
    if isinstance(executor, str) and executor not in ("threads", "processes", "ray"):
        raise InputError(
            f"executor must be 'threads', 'processes', 'ray' or an executor, but is {executor!r}", field="executor"
        )
    texts = [job.to_toml() for job in jobs]
    whole = [Piece(text, None, time_limit, seed) for text in texts]
    # Equal jobs are planned once.
    pieces = {piece.key: piece for each in dict.fromkeys(whole) for piece in _parts(each, shards)}
    with _files.folder() as folder:
        ledger = Ledger(Path(folder) / "results.sqlite" if store is None else Path(store))
        left = [piece for piece in pieces.values() if not ledger.has(piece)]
        resumed = finished = len(pieces) - len(left)
        found: dict[str, Answer] = {}
        for piece, answer in _planned(left, executor, ledger, workers):
            found[piece.key] = answer
            finished += 1
            if progress is not None:
                progress(SweepProgress(finished, len(pieces), resumed))
        for piece in whole:
            if piece.key not in found:
                # The parts of a job, or an earlier run, have left little to search for.
                found[piece.key] = answer = piece.plan(ledger.store)
                if isinstance(answer, Plan) and answer.is_interrupted:
                    raise KeyboardInterrupt
        return [found[piece.key] for piece in whole]


def _parts(whole: Piece, shards: int) -> Iterator[Piece]:
    """The pieces of a job. No part is without a choice."""
    parts = min(shards, len(Job.from_toml(whole.text).choices()))
    if parts <= 1:
        yield whole
    else:
        for index in range(1, parts + 1):
            yield replace(whole, shard=(index, parts))


def _planned(
    pieces: list[Piece], executor: str | Executor, ledger: Ledger, workers: int | None
) -> Iterator[tuple[Piece, Answer]]:
    """Plans pieces, and finishes each: those that are done first come first."""
    if executor == "ray":
        from ._ray import planned

        yield from planned(pieces, ledger)
    elif executor == "threads":
        yield from _in_threads(pieces, ledger, workers)
    elif executor == "processes":
        yield from _in_processes(pieces, ledger, workers)
    elif not isinstance(executor, str):
        yield from _by_executor(pieces, ledger, executor)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Ended(Exception):
    """Ends the search of a thread whose sweep has ended."""


def _in_threads(pieces: list[Piece], ledger: Ledger, workers: int | None) -> Iterator[tuple[Piece, Answer]]:
    """In threads of this process, which share the store."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    ended = threading.Event()

    def watch(_: Progress) -> None:
        if ended.is_set():
            raise _Ended

    with ThreadPoolExecutor(workers or _processors()) as pool:
        futures = {pool.submit(piece.plan, ledger.store, watch): piece for piece in pieces}
        try:
            for future in as_completed(futures):
                piece, answer = futures[future], future.result()
                ledger.finish(piece, answer)
                yield piece, answer
        except BaseException:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_processes(pieces: list[Piece], ledger: Ledger, workers: int | None) -> Iterator[tuple[Piece, Answer]]:
    """In processes of this machine, which share the store. Those of a pool in which one is killed are begun anew."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    left = {piece.key: piece for piece in pieces}
    tries = 0
    while left:
        before = len(left)
        # Ctrl-C reaches all processes of a terminal. This one ends the others.
        pool = ProcessPoolExecutor(
            min(workers or _processors(), before),
            get_context("spawn"),
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        )
        try:
            futures = {pool.submit(piece.plan, ledger.store): piece for piece in left.values()}
            for future in as_completed(futures):
                if isinstance(future.exception(), BrokenProcessPool):
                    continue
                piece, answer = futures[future], future.result()
                ledger.finish(piece, answer)
                del left[piece.key]
                yield piece, answer
            pool.shutdown()
        except BrokenProcessPool:
            # It broke while pieces were handed over.
            pool.shutdown(wait=False)
        except BaseException:
            for process in list(pool._processes.values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        tries = tries + 1 if len(left) == before else 0
        if tries == TRIES:
            raise RuntimeError(
                f"{before} pieces have lost their processes {TRIES} times in a row. Does the script have the guard "
                '`if __name__ == "__main__"`, which processes need?'
            )


def _by_executor(pieces: list[Piece], ledger: Ledger, executor: Executor) -> Iterator[tuple[Piece, Answer]]:
    """By an executor of the caller's, whose workers need not share a file system."""
    from concurrent.futures import as_completed

    futures: dict[Future[tuple[Answer, bytes]], Piece] = {}
    try:
        futures.update((executor.submit(piece.plan_apart), piece) for piece in pieces)
        for future in as_completed(futures):
            piece, (answer, results) = futures[future], future.result()
            ledger.take_in(results)
            ledger.finish(piece, answer)
            yield piece, answer
    finally:
        for future in futures:
            future.cancel()
