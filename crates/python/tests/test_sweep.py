"""Sweeps: the same plans wherever they are made; nothing lost and nothing computed twice, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import bubbleproof as bp

BLOCK = {
    "forward": "3 ms",
    "backward_input": "3 ms",
    "backward_weight": "2 ms",
    "activation": "1 GiB",
    "weights": "2 GiB",
}


def job(layers: int, memory: int = 40) -> bp.Job:
    return bp.Job(
        name=f"of {layers}",
        layers=[f"{layers} block", "head"],
        layer={"block": BLOCK, "head": {**BLOCK, "forward": "5 ms"}},
        machine={"devices": 4, "memory": f"{memory} GiB", "latency": "0.1 ms"},
        choices={"global_batch": 8, "pipeline": [2, 4], "placement": ["linear", "v"]},
    )


def jobs(count: int = 4) -> list[bp.Job]:
    return [job(7 + number) for number in range(count)]


def texts(answers: list[bp.Plan | bp.InfeasibleError]) -> list[str]:
    """What is asked of all executors alike: every plan with its schedule, every alternative, every error."""
    return [
        str(answer)
        if isinstance(answer, bp.InfeasibleError)
        else repr(answer.alternatives) + ("" if answer.schedule is None else answer.schedule.to_json())
        for answer in answers
    ]


@pytest.fixture(scope="module")
def alone() -> list[str]:
    return texts([bp.plan(each, threads=1) for each in jobs()])


class Elsewhere(Executor):
    """An executor of somebody else's, whose workers get everything as bytes."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(2)

    def submit(self, work, /, *arguments, **keywords) -> Future:
        import pickle

        packed = pickle.dumps((work, arguments, keywords))

        def run() -> object:
            work, arguments, keywords = pickle.loads(packed)
            return pickle.loads(pickle.dumps(work(*arguments, **keywords)))

        return self._pool.submit(run)


@pytest.mark.parametrize("executor", ["threads", "processes", Elsewhere()])
@pytest.mark.parametrize("shards", [1, 3])
def test_plans_are_the_same_wherever_they_are_made(
    executor: str | Executor, shards: int, alone: list[str], tmp_path: Path
) -> None:
    store = tmp_path / "results.sqlite"
    assert texts(bp.sweep(jobs(), executor=executor, shards=shards, store=store)) == alone
    # Again, everything is there.
    again = bp.sweep(jobs(), executor=executor, shards=shards, store=store)
    assert texts(again) == alone
    assert all(isinstance(plan, bp.Plan) and plan.from_store is not None and plan.from_store[1] == 0 for plan in again)


def test_a_job_that_has_no_plan_stops_no_other(alone: list[str]) -> None:
    answers = bp.sweep([job(7), job(8, memory=3), job(8)], executor="threads")
    assert texts([answers[0], answers[2]]) == alone[:2]
    assert isinstance(answers[1], bp.InfeasibleError) and "no cut of 9 layers fits" in str(answers[1])


def test_an_empty_sweep_has_no_plans() -> None:
    assert bp.sweep([]) == []


@pytest.mark.parametrize(
    ("wrong", "field"), [({"shards": 0}, "shards"), ({"workers": 0}, "workers"), ({"executor": "slurm"}, "executor")]
)
def test_wrong_options_are_value_errors_that_name_the_field(wrong: dict[str, object], field: str) -> None:
    with pytest.raises(bp.InputError) as caught:
        bp.sweep(jobs(1), **wrong)
    assert caught.value.field == field


def test_progress_counts_pieces_and_its_errors_end_the_sweep(tmp_path: Path) -> None:
    seen: list[bp.SweepProgress] = []
    bp.sweep(jobs(), executor="threads", store=tmp_path / "one.sqlite", progress=seen.append)
    assert [(progress.finished, progress.pieces, progress.resumed) for progress in seen] == [
        (number, 4, 0) for number in (1, 2, 3, 4)
    ]

    class Enough(Exception):
        pass

    def stop(_: bp.SweepProgress) -> None:
        raise Enough

    for executor in ("threads", "processes"):
        store = tmp_path / f"{executor}.sqlite"
        with pytest.raises(Enough):
            bp.sweep(jobs(), executor=executor, workers=1, store=store, progress=stop)
        resumed: list[bp.SweepProgress] = []
        bp.sweep(jobs(), executor=executor, store=store, progress=resumed.append)
        assert 1 <= resumed[-1].resumed < 4, "what was finished is not tried again"


def test_a_killed_worker_loses_only_the_piece_that_it_was_planning(tmp_path: Path, alone: list[str]) -> None:
    store = tmp_path / "results.sqlite"
    seen: list[bp.SweepProgress] = []

    def kill_one(progress: bp.SweepProgress) -> None:
        seen.append(progress)
        if len(seen) == 1:
            children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
            found = [int(child) for each in children for child in each.read_text().split()]
            workers = [
                child for child in found if b"multiprocessing.spawn" in Path(f"/proc/{child}/cmdline").read_bytes()
            ]
            assert workers
            os.kill(workers[0], signal.SIGKILL)

    assert texts(bp.sweep(jobs(), executor="processes", workers=2, store=store, progress=kill_one)) == alone
    assert [progress.finished for progress in seen] == [1, 2, 3, 4], "every piece is finished once"


def test_a_sweep_that_was_killed_goes_on_where_it_was(tmp_path: Path, alone: list[str]) -> None:
    code = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import bubbleproof as bp
        from test_sweep import jobs
        bp.sweep(jobs(), executor="threads", workers=1, store={str(tmp_path / "results.sqlite")!r},
                 progress=lambda progress: print(progress.finished, flush=True))
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None and killed.stdout.readline() == "1\n"
        killed.kill()
    # The journal may end in the middle of a line.
    with (tmp_path / "results.sqlite.finished").open("a") as journal:
        journal.write("0123")
    seen: list[bp.SweepProgress] = []
    answers = bp.sweep(jobs(), executor="threads", store=tmp_path / "results.sqlite", progress=seen.append)
    assert texts(answers) == alone
    assert 1 <= seen[-1].resumed < 4
    seen.clear()
    bp.sweep(jobs(), executor="threads", store=tmp_path / "results.sqlite", progress=seen.append)
    assert seen == [], "the line after the torn one counts"


def test_a_journal_whose_store_is_gone_says_nothing(tmp_path: Path, alone: list[str]) -> None:
    store = tmp_path / "results.sqlite"
    bp.sweep(jobs(2), executor="threads", store=store)
    store.unlink()
    seen: list[bp.SweepProgress] = []
    assert texts(bp.sweep(jobs(2), executor="threads", store=store, progress=seen.append)) == alone[:2]
    assert [progress.resumed for progress in seen] == [0, 0]


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_equal_jobs_are_planned_once(executor: str, alone: list[str]) -> None:
    seen: list[bp.SweepProgress] = []
    assert texts(bp.sweep([job(7)] * 3, executor=executor, progress=seen.append)) == alone[:1] * 3
    assert [(progress.finished, progress.pieces) for progress in seen] == [(1, 1)]


def test_a_script_without_its_guard_is_told_what_it_lacks(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nimport bubbleproof as bp\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_sweep import jobs\nbp.sweep(jobs(2), executor='processes')\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "lost their processes 4 times in a row" in ended.stderr and "guard" in ended.stderr


def test_sweeps_run_in_threads_at_the_same_time(alone: list[str]) -> None:
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(texts(bp.sweep(jobs(2), executor="threads")))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone[:2]] * 2


def test_a_forked_process_sweeps(alone: list[str]) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if texts(bp.sweep(jobs(1), executor="threads")) == alone[:1] else 1)
    deadline = time.monotonic() + 60
    try:
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            assert time.monotonic() < deadline, "the child hangs"
            time.sleep(0.05)
    except AssertionError:
        os.kill(child, signal.SIGKILL)
        raise
    assert os.waitstatus_to_exitcode(ended[1]) == 0
