"""Proofs for every number of microbatches, held against replay of some."""

from __future__ import annotations

import pickle

import pytest

import bubbleproof as bp


def unit(devices: int, microbatches: int, **more: object) -> bp.Model:
    costs = {"forward": 1, "backward_input": 1, "backward_weight": 1, "activation": 1}
    return bp.Model(devices=devices, microbatches=microbatches, **costs, **more)


@pytest.mark.parametrize("name", ["v-min", "v-half", "v-zb", "1f1b"])
def test_the_formulas_of_a_block_are_what_replay_says(name: str) -> None:
    family = bp.Family.shipped(name)
    block = family.block(devices=4)
    proof = bp.prove_every_m(block)
    assert proof.is_proved and proof.makespan is not None and proof.peak_memory is not None
    for microbatches in (1, 2, 3, 7, 20, 33):
        replay = bp.replay(block.schedule(microbatches), family.model(4, microbatches))
        assert proof.makespan(microbatches) == replay.makespan
        if proof.device_span is not None:
            assert proof.device_span(microbatches) == replay.device_span
        if microbatches >= (proof.peak_from or 0):
            assert proof.peak_memory == replay.peak_memory
    assert proof.makespan.rate == block.interval
    assert pickle.loads(pickle.dumps(proof)) == proof


def test_a_schedule_is_extended_by_its_steady_phase() -> None:
    model = unit(4, 16)
    proof = bp.prove_every_m(bp.Schedule.named("1f1b", model), model)
    assert proof.is_proved and proof.makespan is not None and proof.first is not None
    for microbatches in (16, 17, 40):
        sized = model.resized(microbatches=microbatches)
        assert proof.makespan(microbatches) == bp.replay(bp.Schedule.named("1f1b", sized), sized).makespan
    with pytest.raises(bp.InputError, match="the formula is for") as caught:
        proof.makespan(0)
    assert caught.value.field == "microbatches"


def test_what_is_refuted_or_unknown_says_why() -> None:
    model = unit(4, 16)
    schedule = bp.Schedule.named("1f1b", model)
    refuted = bp.prove_every_m(schedule, model.resized(memory=3))
    assert refuted.status == "refuted" and refuted.makespan is None
    assert refuted.microbatches is not None and refuted.reason is not None and "memory" in refuted.reason
    measured = unit(4, 16, memory_unit="GiB")
    over = bp.prove_every_m(schedule, measured.resized(memory="3 GiB"))
    assert over.reason is not None and "over the limit of 3 GiB" in over.reason
    single = unit(2, 1)
    unknown = bp.prove_every_m(bp.Schedule.named("1f1b", single), single)
    assert (unknown.status, unknown.reason) == ("unknown", "a schedule of one microbatch has no steady phase")


def test_arguments_that_do_not_fit_are_refused() -> None:
    model = unit(4, 16)
    block = bp.Family.shipped("1f1b").block(devices=4)
    for subject, given in [(block, model), (bp.Schedule.named("1f1b", model), None)]:
        with pytest.raises(bp.InputError) as caught:
            bp.prove_every_m(subject, given)
        assert caught.value.field == "model"
    with pytest.raises(bp.InputError, match="other stages or devices"):
        bp.prove_every_m(bp.Schedule.named("1f1b", model), unit(3, 16))
    with_messages = bp.Schedule.from_text(bp.Schedule.named("1f1b", model).to_csv(communication=True))
    with pytest.raises(bp.InputError, match="only passes can be proved"):
        bp.prove_every_m(with_messages, model)
    with pytest.raises(bp.InputError) as caught:
        bp.prove_every_m(block, time_limit=0)
    assert caught.value.field == "time_limit"
