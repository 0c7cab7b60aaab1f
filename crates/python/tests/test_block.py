"""Blocks, frontiers, families and theorems."""

from __future__ import annotations

import pickle
from fractions import Fraction
from xml.etree import ElementTree

import pytest

import bubbleproof as bp


def model() -> bp.Model:
    return bp.Model(
        devices=4,
        microbatches=1,
        placement="v",
        forward=1,
        backward_input=1,
        backward_weight=1,
        activation=1,
        retained_for_weight=1,
    )


def test_the_best_block_within_a_limit_gives_a_schedule_that_keeps_to_it() -> None:
    for point in bp.frontier(model()).points:
        found = bp.block(model(), memory=point.peak_memory)
        assert found.is_optimal and found.block.interval == found.bound == point.interval
        assert max(found.block.peak_memory) <= point.peak_memory
        schedule = found.block.schedule(12)
        limited = model().resized(microbatches=12, memory=point.peak_memory)
        assert bp.verify(schedule, limited).interval in (None, found.block.interval)


def test_less_memory_at_an_interval() -> None:
    found = bp.block(model(), interval=6)
    assert found.bound == max(found.block.peak_memory) and found.is_optimal
    with pytest.raises(bp.InfeasibleError):
        bp.block(model(), interval=5)
    with pytest.raises(bp.InputError, match="engine"):
        bp.block(model(), engine="fast")


def test_families_are_what_their_files_say() -> None:
    assert "v-min" in bp.families()
    family = bp.Family.shipped("v-min")
    assert bp.Family.from_toml(family.to_toml()) == family == pickle.loads(pickle.dumps(family))
    block = family.block(devices=6)
    assert block.interval == Fraction(6) and not block.faults
    ElementTree.fromstring(block._repr_svg_())
    assert bp.verify(family.schedule(6, 12), family.model(6, 12)).is_valid
    with pytest.raises(bp.InputError, match="v-min"):
        bp.Family.shipped("v-mni")
    with pytest.raises(bp.FileError) as caught:
        bp.Family.from_toml(family.to_toml().replace("interval", "intervall"))
    assert caught.value.line > 1


def test_theorems_are_decided_for_every_number_of_devices() -> None:
    theorems = bp.prove(bp.Family.shipped("v-min"))
    assert len(theorems) > 5
    assert {theorem.status for theorem in theorems} == {"proved"}


def test_a_promise_that_does_not_hold_is_refuted_with_the_least_number_of_devices() -> None:
    text = bp.Family.shipped("1f1b").to_toml()
    false = text.replace('"peak = d - i"', '"peak <= d - i - 1"')
    assert false != text
    refuted = [theorem for theorem in bp.prove(bp.Family.from_toml(false)) if theorem.status == "refuted"]
    assert refuted and refuted[0].devices is not None and refuted[0].reason
