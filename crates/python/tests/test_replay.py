"""Replay: figures, arrays, pictures, violations."""

from __future__ import annotations

import pickle
import sys
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest

import bubbleproof as bp


@pytest.fixture
def model() -> bp.Model:
    return bp.Model(
        devices=4,
        microbatches=8,
        placement="v",
        forward=2,
        backward_input=3,
        backward_weight=1,
        activation=2,
        retained_for_weight=1,
    )


@pytest.fixture
def replay(model: bp.Model) -> bp.Replay:
    return bp.verify(bp.Schedule.named("v-half", model), model)


def test_the_array_of_passes_agrees_with_the_orders_and_the_figures(replay: bp.Replay) -> None:
    passes = replay.passes
    names = [f"{row['stage']}{row['kind'].decode()}{row['microbatch']}" for row in passes]
    assert names == [name for order in replay.schedule.orders for name in order]
    assert int(passes["end"].max()) == replay.makespan
    assert int((passes["end"] - passes["start"]).sum()) == replay.busy
    durations = {b"F": 2, b"I": 3, b"W": 1, b"B": 4}
    assert all(row["end"] - row["start"] == durations[row["kind"]] for row in passes)
    for device in range(4):
        mine = passes[passes["device"] == device]
        assert (mine["start"][1:] >= mine["end"][:-1]).all()
    span = replay.device_span
    assert replay.bubble_rate == 1 - Fraction(replay.busy, 4 * span)


def test_the_passes_of_a_schedule_are_those_of_its_replay_without_times(replay: bp.Replay) -> None:
    passes, timed = replay.schedule.passes, replay.passes
    assert passes.dtype.names == timed.dtype.names[:4] == ("kind", "device", "stage", "microbatch")
    assert all((passes[name] == timed[name]).all() for name in passes.dtype.names)


def test_gains_are_what_bounds_of_changed_models_say(model: bp.Model, replay: bp.Replay) -> None:
    slow = bp.replay(
        replay.schedule, bp.Model.from_toml(model.to_toml().replace("communication = 0", "communication = 3"))
    )
    for found in (replay, slow):
        gains = {gain.change: gain for gain in found.gains()}
        assert gains["order"].lower_bound == found.lower_bound
        assert all(gain.at_most == found.makespan - gain.lower_bound for gain in gains.values())
        assert [gain.at_most for gain in found.gains()] == sorted((g.at_most for g in gains.values()), reverse=True)
    with pytest.raises(bp.InvalidScheduleError):
        bp.replay(replay.schedule, model.resized(memory=4)).gains()
    assert "messages" not in {gain.change for gain in replay.gains()}
    (messages,) = [gain for gain in slow.gains() if gain.change == "messages"]
    assert messages.lower_bound == replay.lower_bound, "the model without latency is the first one"


def test_the_curve_of_memory_has_the_peak_of_its_device(replay: bp.Replay) -> None:
    for device, peak in enumerate(replay.peak_memory):
        curve = replay.memory(device)
        assert int(curve["live"].max()) == peak
        assert int(curve["live"][-1]) == 0
        assert (np.diff(curve["time"]) >= 0).all()
    with pytest.raises(IndexError, match="device 4"):
        replay.memory(4)
    with pytest.raises(IndexError):
        replay.memory(-1)


def test_arrays_are_read_only(replay: bp.Replay) -> None:
    with pytest.raises(ValueError, match="read-only"):
        replay.passes["start"][0] = 1


def test_pictures_are_well_formed(replay: bp.Replay) -> None:
    svg = replay._repr_svg_()
    assert svg is not None
    ElementTree.fromstring(svg)
    assert replay._repr_html_() is None, "else a notebook would keep both"
    assert 'width="700"' in replay.to_svg(width=700)
    with pytest.raises(ValueError, match="width"):
        replay.to_svg(width=10)


def test_what_is_wrong_is_listed_and_verify_raises_it(model: bp.Model) -> None:
    tight = model.resized(memory=4)
    schedule = bp.Schedule.named("v-half", model)
    replay = bp.replay(schedule, tight)
    assert not replay.is_valid
    first = replay.violations[0]
    assert (first.rule, first.device) == ("over-capacity", 0) and first.position is not None
    assert replay.makespan > 0, "it runs, but for its memory"
    html = replay._repr_html_()
    assert html is not None and html.startswith("<ul><li>device 0") and "<svg" in html
    with pytest.raises(bp.InvalidScheduleError) as caught:
        bp.verify(schedule, tight)
    assert caught.value.violations == replay.violations
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.violations == replay.violations


def test_a_schedule_that_cannot_run_has_no_times_and_says_why() -> None:
    model = bp.Model(devices=2, microbatches=1, forward=1, backward_input=1, backward_weight=1)
    stuck = bp.replay(bp.Schedule.from_text("0F0,0B0\r\n1B0,1F0\r\n"), model)
    assert [violation.rule for violation in stuck.violations] == ["order"]
    for figure in ("makespan", "bubble_rate", "passes"):
        with pytest.raises(bp.InvalidScheduleError, match="1B0"):
            getattr(stuck, figure)
    html = stuck._repr_html_()
    assert stuck._repr_svg_() is None and html is not None and html.startswith("<ul><li>")


def test_replays_are_pickled_and_compared(replay: bp.Replay) -> None:
    again = pickle.loads(pickle.dumps(replay))
    assert again == replay and hash(again) == hash(replay)
    assert (again.passes == replay.passes).all()


def test_importing_the_package_imports_nothing_that_takes_long() -> None:
    import subprocess

    slow = {"numpy", "torch", "ray", "pandas", "polars", "tempfile", "gzip", "hashlib", "shutil", "concurrent.futures"}
    code = (
        f"import sys; begun = set(sys.modules); import bubbleproof; print(sorted({slow} & (set(sys.modules) - begun)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
