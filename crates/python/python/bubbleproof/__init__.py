"""Optimises and formally verifies pipeline-parallel training schedules.

>>> import bubbleproof as bp
>>> model = bp.Model(devices=4, microbatches=16, placement="v", forward=9.26e-3, backward_input=10.2e-3, backward_weight=7.1e-3,
...                  unit="s", activation=1.7, memory_unit="GiB")
>>> solution = bp.optimize(model, memory="75%")
>>> solution.replay.is_valid, solution.gap == 0
(True, True)
>>> csv = solution.schedule.to_csv(communication=True)

The command-line tool comes with the package: ``bubbleproof --help``, or ``python -m bubbleproof``.
"""

from ._block import Block, BlockSolution, Family, Frontier, FrontierPoint, Theorem, block, families, frontier, prove
from ._errors import (
    BubbleproofError,
    CertificateError,
    DefectError,
    FileError,
    InfeasibleError,
    InputError,
    InvalidScheduleError,
    NoAnswerError,
    UnsupportedTorchError,
)
from ._every_m import EveryM, Formula, prove_every_m
from ._job import Job
from ._model import Bound, Model
from ._native import VERSION as __version__
from ._profile import TraceProfile, profile_torch, profile_traces
from ._progress import Progress
from ._replay import Communication, Gain, Replay, Violation, replay, verify
from ._schedule import Checked, Claim, Move, Nearest, Schedule, catalog, check, compare
from ._search import Alternative, Plan, Solution, optimize, plan
from ._sweep import SweepProgress, sweep

__all__ = [
    "Alternative",
    "Block",
    "BlockSolution",
    "Bound",
    "BubbleproofError",
    "CertificateError",
    "Checked",
    "Claim",
    "Communication",
    "DefectError",
    "EveryM",
    "Family",
    "FileError",
    "Formula",
    "Frontier",
    "FrontierPoint",
    "Gain",
    "InfeasibleError",
    "InputError",
    "InvalidScheduleError",
    "Job",
    "Model",
    "Move",
    "Nearest",
    "NoAnswerError",
    "Plan",
    "Progress",
    "Replay",
    "Schedule",
    "Solution",
    "SweepProgress",
    "Theorem",
    "TraceProfile",
    "UnsupportedTorchError",
    "Violation",
    "__version__",
    "block",
    "catalog",
    "check",
    "compare",
    "families",
    "frontier",
    "optimize",
    "plan",
    "profile_torch",
    "profile_traces",
    "prove",
    "prove_every_m",
    "replay",
    "sweep",
    "verify",
]
