"""A program as its author writes it: type checkers read it in strict mode, and it runs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import bubbleproof as bp


def best(model: bp.Model, limits: list[str]) -> dict[str, bp.Solution]:
    return {limit: bp.optimize(model, memory=limit, objective="makespan", threads=1) for limit in limits}


def longest_pass(replay: bp.Replay) -> int:
    passes = replay.passes
    return int((passes["end"] - passes["start"]).max())


def test_a_typed_program_runs() -> None:
    costs = np.array([3.0, 4.0, 4.0, 5.0])
    model = bp.Model(
        devices=4,
        microbatches=8,
        forward=costs,
        backward_input=costs,
        backward_weight=[2, 2, 2, 2],
        latency=1,
        activation=2,
        capacity=8,
    )
    solutions = best(model, ["75%", "100%"])
    gaps: list[Fraction] = [solution.gap for solution in solutions.values()]
    assert all(gap >= 0 for gap in gaps)
    assert longest_pass(solutions["100%"].replay) == 5
    progress: list[bp.Progress] = []
    found: bp.BlockSolution = bp.block(model, memory=8)
    interval: Fraction = found.block.interval
    points: tuple[bp.FrontierPoint, ...] = bp.frontier(model, progress=progress.append).points
    assert interval in {point.interval for point in points}
    theorems: tuple[bp.Theorem, ...] = bp.prove(bp.Family.shipped("1f1b"))
    assert theorems[0].name.startswith("1f1b.")
    seconds: float | None = solutions["75%"].replay.makespan_seconds
    assert seconds is None
