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


SWAPPED = (
    "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0WAIT_SEND_F0,0RECV_B1,0B1,0WAIT_SEND_F1,0REDUCE_GRAD,0WAIT_REDUCE_GRAD\r\n"
    "1RECV_F1,1RECV_F0,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1WAIT_REDUCE_GRAD,1WAIT_SEND_B0,1WAIT_SEND_B1\r\n"
)
"""A file whose second device takes one message for the other."""


def test_sends_and_receives_of_a_file_are_verified() -> None:
    unit = bp.Model(devices=2, microbatches=2, forward=1, backward_input=1, backward_weight=1)
    swapped = bp.Schedule.from_text(SWAPPED)
    assert swapped.has_communication
    with pytest.raises(bp.InvalidScheduleError, match="the weight gradients of stages 0 to 1 would be wrong") as caught:
        bp.verify(swapped, unit)
    (violation,) = caught.value.violations
    assert (violation.rule, violation.device, violation.action) == ("swapped-messages", 1, 0)
    replay = bp.replay(swapped, unit)
    assert not replay.is_valid and replay.makespan > 0, "the passes run"
    assert replay.communication is not None and replay.communication.messages == 4

    mended = bp.Schedule.from_text(swapped.to_csv(communication=True))
    assert mended.orders == swapped.orders and mended != swapped
    communication = bp.verify(mended, unit).communication
    assert communication is not None and communication.ends_everywhere
    assert list(communication.waits) == ["buffered", "rendezvous", "pair-streams", "device-streams"]

    for schedule in (swapped, mended):
        again = pickle.loads(pickle.dumps(schedule))
        assert again == schedule and again.has_communication
    passes = bp.Schedule.from_text(swapped.to_csv())
    assert not passes.has_communication and passes != swapped
    assert bp.verify(passes, unit).communication is None


def test_messages_that_hang_with_nccl_alone_are_shown() -> None:
    unit = bp.Model(devices=2, microbatches=2, forward=1, backward_input=1, backward_weight=1)
    mended = bp.Schedule.from_text(SWAPPED).to_csv(communication=True)
    crossing = mended.replace("0F0,0SEND_F0,0F1", "0RECV_B0,0F0,0SEND_F0,0F1").replace("0RECV_B0,0B0", "0B0")
    replay = bp.verify(bp.Schedule.from_text(crossing), unit)
    assert replay.communication is not None and not replay.communication.ends_everywhere
    assert replay.communication.waits["rendezvous"] is None and replay.communication.waits["pair-streams"] is not None
    html = replay._repr_html_()
    assert (
        "hangs with some runtimes" in repr(replay)
        and html is not None
        and "never ends with pair-streams messages" in html
    )


def test_passes_that_wait_for_each_other_are_mended_by_the_fewest_moves() -> None:
    stuck = bp.Schedule.from_text("0F0,0B0,0F1,0B1\r\n1F0,1F1,1B0,1B1\r\n")
    nearest = stuck.nearest()
    assert nearest.moves == (bp.Move(0, "0F1", "0F0", 2, 1),)
    assert str(nearest.moves[0]) == "device 0: 0F1 moves after 0F0"
    assert str(bp.Move(1, "1F0", None, 3, 0)) == "device 1: 1F0 moves to the front"
    unit = bp.Model(devices=2, microbatches=2, forward=1, backward_input=1, backward_weight=1)
    assert bp.verify(nearest.schedule, unit).makespan == 9
    assert nearest.schedule.nearest(unit).moves == ()
    with pytest.raises(bp.InputError, match="missing or duplicated"):
        bp.Schedule.from_text("0F0,0B0\r\n1F0,1W0\r\n").nearest()


def test_microbatches_are_numbered_as_pytorch_looks_losses_up() -> None:
    schedule = bp.Schedule.from_text("0F1,0F0,0B1,0B0\r\n1F1,1F0,1B1,1B0\r\n")
    assert schedule.to_csv() == "0F0,0F1,0B0,0B1\r\n1F0,1F1,1B0,1B1\r\n"
    written = bp.Schedule.from_text(schedule.to_csv(communication=True))
    unit = bp.Model(devices=2, microbatches=2, forward=1, backward_input=1, backward_weight=1)
    assert bp.verify(written, unit).makespan == bp.verify(schedule, unit).makespan


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


def test_a_named_schedule_that_does_not_fit_is_compared_as_not_valid() -> None:
    model = bp.Model(
        devices=4, microbatches=8, forward=1, backward_input=1, backward_weight=1, activation="2 GiB", capacity="9 GiB"
    )
    compared = bp.compare(model, ["1f1b", "zb-h2"])
    assert {name: replay.is_valid for name, replay in compared.items()} == {"1f1b": True, "zb-h2": False}
    assert "zb-h2" not in bp.compare(model)
    with pytest.raises(bp.InputError, match=r"holds 14 GiB on device 0"):
        bp.Schedule.named("zb-h2", model)


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
