"""Searches: answers, progress, threads, interrupts."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

import bubbleproof as bp


def model(microbatches: int = 4, devices: int = 4) -> bp.Model:
    """By default one whose optimum within most limits is found and proved in less than a second."""
    return bp.Model(
        devices=devices,
        microbatches=microbatches,
        placement="v",
        forward=[3 + stage % 3 for stage in range(2 * devices)],
        backward_input=4,
        backward_weight=2,
        latency=1,
        activation=2,
        retained_for_weight=1,
    )


def test_a_solution_is_replayed_bounded_and_certified() -> None:
    solution = bp.optimize(model(), memory="60%")
    assert solution.value == solution.makespan == solution.replay.makespan >= solution.lower_bound
    assert solution.gap == Fraction(solution.value - solution.lower_bound, solution.lower_bound)
    limit = solution.model.capacity[0]
    assert limit is not None and max(solution.replay.peak_memory) <= limit
    assert bp.check(solution.schedule, solution.model).replay.makespan == solution.value


def test_the_same_arguments_give_the_same_answer_with_any_number_of_threads() -> None:
    one, two = (bp.optimize(model(8), memory="60%", threads=threads) for threads in (1, 2))
    assert one.schedule.to_json() == two.schedule.to_json()
    assert one == two


def test_known_schedules_are_not_beaten_by_the_answer() -> None:
    known = bp.Schedule.named("1f1b-v", model())
    assert bp.optimize(model(), known=[known]).value <= bp.replay(known, model()).makespan


def test_limits_that_nothing_keeps_to_are_an_error() -> None:
    with pytest.raises(bp.InfeasibleError, match="device 0 may hold 1, but a single microbatch needs 4"):
        bp.optimize(model(), memory=1)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"objective": "speed"}, "objective"),
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"threads": 0}, "threads"),
        ({"seed": -1}, "seed"),
        ({"progress": 3}, "progress"),
    ],
)
def test_wrong_options_are_value_errors_that_name_the_field(wrong: dict[str, object], field: str) -> None:
    with pytest.raises(bp.InputError) as caught:
        bp.optimize(model(), **wrong)
    assert caught.value.field == field


def test_progress_is_reported_and_its_errors_end_the_search() -> None:
    seen: list[bp.Progress] = []
    bp.optimize(model(64, 8), memory="60%", time_limit=3, progress=seen.append)
    assert seen and all(progress.bound is not None for progress in seen)
    gaps = [progress.gap for progress in seen if progress.gap is not None]
    assert gaps and all(gap >= 0 for gap in gaps)

    class Enough(Exception):
        pass

    def stop(progress: bp.Progress) -> None:
        raise Enough(progress.step)

    with pytest.raises(Enough):
        bp.optimize(model(64, 8), memory="60%", time_limit=30, progress=stop)


def test_a_line_of_progress_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    bp.optimize(model(64, 8), memory="60%", time_limit=1, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "best" in err and "gap" in err
    assert err.endswith("\r"), "the line is cleared in the end"


def test_other_threads_run_while_a_search_does() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    begun = time.monotonic()
    bp.optimize(model(64, 8), memory="60%", time_limit=1)
    spent = time.monotonic() - begun
    done.set()
    counter.join()
    assert counted > 20 * spent, "a search that has the lock would let nothing count"


def test_threads_search_at_the_same_time_with_the_same_answers() -> None:
    alone = bp.optimize(model(), memory="60%", threads=1).schedule
    found: list[bp.Schedule] = []
    threads = [
        threading.Thread(target=lambda: found.append(bp.optimize(model(), memory="60%", threads=1).schedule))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4


def interrupted(code: str, after: float, signals: int = 1) -> subprocess.CompletedProcess[str]:
    """Runs a program and sends it signals once it says that it is ready."""
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    for _ in range(signals):
        time.sleep(after)
        program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    return subprocess.CompletedProcess(program.args, program.returncode, out, err)


def test_ctrl_c_ends_a_search_and_keeps_the_best() -> None:
    ended = interrupted(
        """
        import bubbleproof as bp
        from test_search import model
        problem = model(64, 16).resized(memory="50%")
        print("ready", flush=True)
        solution = bp.optimize(problem, time_limit=300)
        assert bp.check(solution.schedule, problem).replay.is_valid
        print(solution.is_cut_short, solution.replay.is_valid)
        """,
        after=1.5,
    )
    assert (ended.returncode, ended.stdout) == (0, "True True\n"), ended.stderr


def test_ctrl_c_reaches_python_where_no_search_is_running() -> None:
    ended = interrupted(
        """
        import time
        import bubbleproof as bp
        from test_search import model
        bp.optimize(model())
        print("ready", flush=True)
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            print("as always")
        """,
        after=0.3,
    )
    assert ended.stdout == "as always\n", ended.stderr


def test_solutions_are_pickled() -> None:
    solution = bp.optimize(model(), memory="60%")
    again = pickle.loads(pickle.dumps(solution))
    assert again == solution
    assert again.schedule.to_json() == solution.schedule.to_json()


BLOCK = {
    "forward": "3 ms",
    "backward_input": "3 ms",
    "backward_weight": "2 ms",
    "activation": "1 GiB",
    "weights": "2 GiB",
}


def job(devices: int = 4) -> bp.Job:
    return bp.Job(
        layers=["8 block", "head"],
        layer={"block": BLOCK, "head": {**BLOCK, "forward": "5 ms"}},
        machine={"devices": devices, "memory": "40 GiB", "latency": "0.1 ms"},
        choices={"global_batch": 8, "pipeline": [2, 4], "placement": ["linear", "v"]},
    )


def test_a_plan_is_the_best_of_its_alternatives_and_certified() -> None:
    plan = bp.plan(job())
    best = plan.best
    assert best is not None and plan.model is not None and plan.schedule is not None and plan.replay is not None
    assert sum(best.cut or ()) == 9
    assert best.makespan == plan.makespan == plan.replay.makespan
    assert all(other.makespan is None or other.makespan >= best.makespan for other in plan.alternatives)
    assert {claim.claim for claim in bp.check(plan.schedule, plan.model).claims} >= {"runs", "over-cuts", "over-plans"}
    assert best.samples_per_second == Fraction(8 * 10**9, best.makespan)
    assert len(plan.alternatives) == len(plan.job.choices())


def test_plans_are_pickled_compared_and_hashed() -> None:
    plan = bp.plan(job())
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan and hash(again) == hash(plan) and again.replay == plan.replay
    assert again != bp.plan(job(2))


def test_a_store_saves_searches_and_changes_no_answer(tmp_path: Path) -> None:
    store = tmp_path / "results.sqlite"
    first, second = bp.plan(job(), store=store), bp.plan(job(), store=store)
    assert first.from_store is not None and first.from_store[1] > 0
    assert second.from_store is not None and second.from_store[1] == 0 < second.from_store[0]
    assert first.schedule == second.schedule and first.alternatives == second.alternatives
    wrong = tmp_path / "wrong.sqlite"
    wrong.write_text("this is no store")
    with pytest.raises(bp.InputError, match="store"):
        bp.plan(job(), store=wrong)


def test_parts_of_a_plan_are_from_1_to_their_number() -> None:
    parts = [bp.plan(job(), shard=(index, 2)) for index in (1, 2)]
    assert sum(len(part.alternatives) for part in parts) == len(job().choices())
    for shard in ((0, 2), (3, 2), (1, 0)):
        with pytest.raises((bp.InputError, OverflowError)):
            bp.plan(job(), shard=shard)


def test_a_job_that_fits_nowhere_is_infeasible() -> None:
    small = bp.Job.from_toml(job().to_toml().replace("40 GiB", "3 GiB"))
    with pytest.raises(bp.InfeasibleError, match="no cut of 9 layers fits"):
        bp.plan(small)


def test_wrong_jobs_are_value_errors_that_name_the_field() -> None:
    with pytest.raises(bp.InputError) as caught:
        bp.Job(
            layers=["8 block"],
            layer={"block": {**BLOCK, "forward": float("nan")}},
            machine={"devices": 4},
            choices={"global_batch": 8},
        )
    assert caught.value.field == "layer.block.forward"
    with pytest.raises(bp.InputError, match="devces"):
        bp.Job(layers=["8 block"], layer={"block": BLOCK}, machine={"devces": 4}, choices={"global_batch": 8})


def test_jobs_are_pickled_compared_and_hashed() -> None:
    one, again = job(), pickle.loads(pickle.dumps(job()))
    assert one == again and hash(one) == hash(again) and one != job(8)
