"""Schedules: reading, writing, names, certificates."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import bubbleproof as bp


@pytest.fixture
def model() -> bp.Model:
    return bp.Model(devices=2, microbatches=4, forward=1, backward_input=1, backward_weight=1, activation=1)


def test_files_of_both_forms_read_as_the_same_schedule(model: bp.Model, tmp_path: Path) -> None:
    schedule = bp.Schedule.named("zb-h1", model)
    schedule.save(tmp_path / "schedule.json")
    schedule.save(tmp_path / "schedule.csv")
    assert bp.Schedule.load(tmp_path / "schedule.json") == schedule
    assert bp.Schedule.load(tmp_path / "schedule.csv").orders == schedule.orders


def test_what_is_wrong_with_a_file_has_its_place() -> None:
    with pytest.raises(bp.FileError) as caught:
        bp.Schedule.from_text("0F0,0B0\r\n1F0,1Q0\r\n", file="mine.csv")
    assert (caught.value.file, caught.value.line, caught.value.column) == ("mine.csv", 2, 5)
    with pytest.raises(bp.FileError) as caught:
        bp.Schedule.from_text('{"format": "bubbleproof-schedule-9"}')
    assert caught.value.line == 1
    with pytest.raises(bp.FileError):
        bp.Schedule.from_text("")


def test_communication_is_written_only_for_what_can_run() -> None:
    good = bp.Schedule.from_text("0F0,0B0\r\n1F0,1B0\r\n")
    assert "1RECV_F0" in good.to_csv(communication=True)
    assert "RECV" not in good.to_csv()
    stuck = bp.Schedule.from_text("0F0,0B0\r\n1B0,1F0\r\n")
    with pytest.raises(bp.InputError, match="1B0"):
        stuck.to_csv(communication=True)


def test_names_that_nobody_knows_are_refused_with_the_nearest(model: bp.Model) -> None:
    with pytest.raises(bp.InputError, match="did you mean `1f1b`") as caught:
        bp.Schedule.named("1f1bb", model)
    assert caught.value.help is not None and "gpipe" in caught.value.help
    with pytest.raises(bp.InputError):
        bp.Schedule.named("v-min", model)


def test_the_catalogue_of_a_model_is_what_its_placement_can_have(model: bp.Model) -> None:
    names = bp.catalog(model)
    assert "1f1b" in names and "v-min" not in names and "v-min" in bp.catalog()
    assert set(bp.compare(model)) == set(names)


def test_schedules_are_pickled_compared_and_hashed(model: bp.Model) -> None:
    schedule = bp.Schedule.named("1f1b", model)
    again = pickle.loads(pickle.dumps(schedule))
    assert again == schedule and hash(again) == hash(schedule)
    assert again != bp.Schedule.named("gpipe", model)
    restore, (form, text) = schedule.__reduce__()
    with pytest.raises(bp.InputError, match="form 2"):
        restore(form + 1, text)


def test_a_schedule_is_made_by_name_or_read_and_not_out_of_nothing() -> None:
    with pytest.raises(TypeError, match="Schedule.load"):
        bp.Schedule()


def test_certificates_are_checked_and_forgeries_found(model: bp.Model) -> None:
    schedule = bp.optimize(model).schedule
    assert schedule.is_certified
    checked = bp.check(schedule, model)
    assert {claim.claim for claim in checked.claims if claim.is_checked} == {"runs", "lower-bound", "optimal"}
    assert checked.model == model and checked.replay.is_valid
    forged = json.loads(schedule.to_json())
    forged["certificate"]["statement"]["bound"]["value"] += 1
    with pytest.raises(bp.CertificateError):
        bp.check(bp.Schedule.from_text(json.dumps(forged)))
    with pytest.raises(bp.CertificateError):
        bp.check(schedule, model.resized(microbatches=5))
    with pytest.raises(bp.CertificateError, match="certificate"):
        bp.check(bp.Schedule.named("1f1b", model))
