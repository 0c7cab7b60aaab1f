"""Models: from arguments, from arrays, from files; what is refused, and how."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import bubbleproof as bp

UNIT = {"devices": 4, "microbatches": 8, "forward": 1, "backward_input": 1, "backward_weight": 1}


def test_arguments_make_the_model_that_a_file_says() -> None:
    text = """
        name = "model"
        [pipeline]
        devices = 2
        placement = "linear"
        microbatches = 4
        [time]
        unit = "ms"
        forward = [13.08, 12.4]
        backward_input = 12.9
        backward_weight = "9.4 ms"
        communication = "210 us"
        [memory]
        activation = "3.4 GiB"
        weights = "19.5 GiB"
        capacity = "40 GiB"
    """
    made = bp.Model(
        devices=2,
        microbatches=4,
        forward=[13.08, 12.4],
        backward_input=12.9,
        backward_weight="9.4 ms",
        latency="210 us",
        unit="ms",
        activation="3.4 GiB",
        weights="19.5 GiB",
        capacity="40 GiB",
    )
    assert made == bp.Model.from_toml(text)
    assert made.forward == (13_080_000, 12_400_000)
    assert made.time_unit == "ns"
    assert made.seconds_per_tick == pytest.approx(1e-9)
    assert made.capacity == (40 << 30, 40 << 30)


@pytest.mark.parametrize(
    "forward",
    [
        np.array([3, 4, 5, 6]),
        np.array([3, 4, 5, 6], dtype=np.float64),
        [np.int32(3), 4, Decimal(5), Fraction(6)],
        (3, 4, 5, 6),
    ],
)
def test_costs_may_be_arrays_and_numbers_of_any_kind(forward: object) -> None:
    assert bp.Model(**{**UNIT, "forward": forward}).forward == (3, 4, 5, 6)


def test_decimals_are_taken_exactly_as_they_are_written() -> None:
    model = bp.Model(**{**UNIT, "forward": 0.1, "unit": "s"})
    assert model.forward == (100_000_000,) * 4
    model = bp.Model(**{**UNIT, "forward": 9.26e-3, "unit": "s"})
    assert model.forward == (9_260_000,) * 4
    # As floating-point numbers come: what is needed is rounded up to whole nanoseconds.
    model = bp.Model(**{**UNIT, "forward": [0.1 + 0.2, 1 / 810, 1e-3 / 3, 1e-20], "unit": "s"})
    assert model.forward == (300_000_001, 1_234_568, 333_334, 0)


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"forward": float("nan")}, "time.forward", "time.forward is nan, but must be a finite number"),
        ({"forward": [1, 1, 1, float("inf")]}, "time.forward[3]", "time.forward[3] is inf"),
        ({"forward": -1}, "time.forward", "`time.forward` must not be negative, but is -1"),
        ({"forward": [1, 2, 3]}, "time.forward", "`time.forward` has 3 values, but there are 4 stages"),
        ({"forward": np.zeros((4, 2))}, "time.forward[0]", "`time.forward[0]` must be a time"),
        ({"forward": 2.5}, "time.forward", "no whole number of tick"),
        ({"forward": 10**30}, "time.forward", "does not fit 64 bits"),
        ({"forward": 2**62}, None, "choose a coarser unit"),
        ({"forward": "3 bananas"}, "time.forward", "bananas"),
        ({"forward": None}, "time.forward", "missing key `time.forward`"),
        ({"forward": object()}, "time.forward", "is of type object"),
        ({"devices": 0}, "pipeline.devices", "`pipeline.devices` must be"),
        ({"devices": 2.5}, "pipeline.devices", "`pipeline.devices` must be an integer"),
        ({"devices": True}, "pipeline.devices", "`pipeline.devices` must be an integer"),
        ({"placement": "vee"}, "pipeline.placement", "`pipeline.placement` must be one of"),
        ({"placement": [[0], [0]]}, "pipeline.placement", "placement"),
        ({"unit": "fortnight"}, "time.unit", "fortnight"),
        ({"recompute": {"forwards": 1}}, "recompute.forwards", "unknown key `recompute.forwards`"),
        ({"name": "a\x1b[31mb"}, "name", "control character"),
    ],
)
def test_what_is_wrong_is_a_value_error_that_names_the_field(
    wrong: dict[str, object], field: str | None, message: str
) -> None:
    with pytest.raises(bp.InputError) as caught:
        bp.Model(**{**UNIT, **wrong})
    assert isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, bp.FileError), "a place in a text that nobody has written"
    assert message in str(caught.value)
    assert caught.value.field == field


def test_what_is_wrong_with_a_file_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text('name = "x"\n[pipeline]\ndevices = 2\nplacment = "v"\n')
    with pytest.raises(bp.FileError) as caught:
        bp.Model.load(path)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 4, 1)
    assert error.field == "pipeline.placment"
    assert error.help is not None and "did you mean `placement`?" in error.help
    assert str(error).startswith(f"{path}:4:1: unknown key `pipeline.placment`")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.field) == (str(error), 4, "pipeline.placment")


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bp.Model.load(tmp_path / "none.toml")


def test_models_are_compared_and_hashed_by_what_they_say() -> None:
    one, same = bp.Model(**UNIT), bp.Model.from_toml(bp.Model(**UNIT).to_toml())
    other = one.resized(microbatches=9)
    assert one == same and hash(one) == hash(same)
    assert one != other and one != "model"
    assert len({one, same, other}) == 2


def test_a_file_that_is_written_reads_as_the_same_model(tmp_path: Path) -> None:
    model = bp.Model(**UNIT, activation=1.5, memory_unit="GiB", recompute={"checkpoint": 0.5})
    path = tmp_path / "model.toml"
    model.save(path)
    assert bp.Model.load(path) == model
    assert [each.name for each in tmp_path.iterdir()] == ["model.toml"], "nothing else is left behind"


def test_limits_mean_what_they_mean_in_the_model_also_after_pickling() -> None:
    model = bp.Model(**UNIT, activation=1.5, memory_unit="GiB")
    for same in (model, pickle.loads(pickle.dumps(model))):
        assert same.resized(memory=60).capacity == (60 << 30,) * 4
        assert same.resized(memory=60.5).capacity == (121 << 29,) * 4
        assert same.resized(memory="61440 MiB").capacity == (60 << 30,) * 4
        assert same.resized(memory="50%").capacity == (same.memory_of_1f1b // 2,) * 4
    halved = model.resized(memory="50%", microbatches=4)
    assert pickle.loads(pickle.dumps(halved)) == halved


@pytest.mark.parametrize("memory", ["60 GIB", "-5", "half", -1, float("nan"), True, [1]])
def test_limits_that_are_none_are_refused(memory: object) -> None:
    with pytest.raises(bp.InputError):
        bp.Model(**UNIT).resized(memory=memory)


def test_sizes_that_cannot_be_are_refused() -> None:
    uneven = bp.Model(**{**UNIT, "forward": [1, 2, 3, 4]})
    with pytest.raises(bp.InputError, match="stage"):
        uneven.resized(devices=8)
    with pytest.raises((bp.InputError, OverflowError)):
        uneven.resized(microbatches=-1)
    with pytest.raises((bp.InputError, OverflowError)):
        uneven.resized(microbatches=2**40)


def test_a_pickle_of_another_form_is_refused() -> None:
    restore, (form, *rest) = bp.Model(**UNIT).__reduce__()
    with pytest.raises(bp.InputError, match=f"form {form + 1}"):
        restore(form + 1, *rest)


def test_tables_of_a_file_are_taken_as_dictionaries() -> None:
    model = bp.Model(**UNIT, step={"optimizer": 2})
    schedule = bp.Schedule.named("1f1b", model)
    plain = bp.replay(schedule, bp.Model(**UNIT)).makespan
    assert bp.replay(schedule, model).makespan > plain
