"""Runs files on replicas of a pipeline whose weights are sharded, so that UNSHARD, RESHARD and REDUCE_GRAD really run.

Every stage is two layers, each an FSDP2 module, in a third: `fully_shard` over a mesh of replicas x ranks, on the CPU
with gloo. The replicas train on different data. FSDP2 divides the reduced gradients by the number of replicas, and the
pipeline by the number of microbatches: so what is right is the mean of the gradients that the model has, without any
pipeline, on the data of each replica.

Which stages are gathered is read off the memory that FSDP2 allocates, before every action and at the end.
"""

import dataclasses
import functools
import pathlib
import re
from typing import Any, Callable, Iterator

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

import dump
import pipeline
from pipeline import Job, Outcome
from suite import LIMIT, ROOT, Suite

REPLICAS = 2

STEPS = 2
"""Steps of a run: the second one finds what the first one leaves. The last one is watched."""

LAYERS = 2
"""The layers of a stage."""

UNIT = 1000
"""What a gathered stage weighs in our models: more than all activations, which weigh 1 each."""


ALIKE, REFUSED, MORE = "alike", "refused", "one more"
"""What PyTorch makes of the same passes: gathers as in our file, nothing, or at some moment one stage more than may be."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A schedule of the catalogue or of a file, and of how many stages a device may have the weights gathered at a time."""

    name: str
    shape: str
    chunks: int
    ranks: int
    microbatches: int
    stages: int
    theirs: str = ALIKE


CASES = [
    Case("1f1b", "linear", 1, 2, 4, 3),
    Case("1f1b", "linear", 1, 4, 8, 3),
    Case("zb-h1", "linear", 1, 4, 8, 3),
    Case("v-half", "v", 2, 2, 4, 3),
    Case("v-half", "v", 2, 4, 8, 3),
    Case("v-half", "v", 2, 4, 8, 1),
    Case("interleaved-1f1b", "looped", 3, 2, 4, 2),
    Case("interleaved-1f1b", "looped", 4, 2, 4, 3),
    Case("interleaved-1f1b", "looped", 4, 2, 4, 1),
    Case("interleaved-1f1b", "looped", 4, 4, 8, 3),
    # A pair of two stages has both, whatever may be.
    Case("dualpipe-v", "v", 2, 2, 6, 1, REFUSED),
    Case("pair-at-the-edge.csv", "looped", 3, 1, 2, 2, MORE),
]

CORPUS = ROOT / "tests/corpus/communication"

FAULTS = [
    (CORPUS / "never-unsharded.csv", "refused"),
    (CORPUS / "resharded-early.csv", "refused"),
    (CORPUS / "unsharded-twice.csv", "refused"),
    (CORPUS / "never-resharded.csv", "ends"),
    (CORPUS / "gathered-for-nothing.csv", "refused"),
]
"""What becomes of faults of gathers. REDUCE_GRAD lets go of the weights, so PyTorch does not miss a last RESHARD."""

DEFAULTS = [("1f1b", "ends"), ("zb-h1", "wrong gradients")]
"""What becomes of schedules if FSDP2 itself lets go of the weights after every forward, as it does unless told otherwise."""


@dataclasses.dataclass(frozen=True)
class Moment:
    """What a rank holds whole before an action of its row, or at the end."""

    action: str
    weights: frozenset[int]
    gradients: frozenset[int]

    def __str__(self) -> str:
        return f"{self.action}: weights of {sorted(self.weights)}, gradients of {sorted(self.gradients)}"


@dataclasses.dataclass(frozen=True)
class Report:
    """Of a rank: the relative error of the gradients of its stages, and its moments."""

    errors: list[tuple[int, float]]
    moments: list[Moment]


class Stage(nn.Sequential):
    """Layers, each sharded on its own."""

    def __init__(self, stage: int, mesh: DeviceMesh, keeps: bool) -> None:
        super().__init__(*(pipeline.Layer(stage * LAYERS + layer) for layer in range(LAYERS)))
        # With False, what is gathered stays so until the file says otherwise. None is FSDP2's default.
        for module in [*self, self]:
            fully_shard(module, mesh=mesh, reshard_after_forward=False if keeps else None)


class Watch:
    """Writes down what a rank holds, before each action that may change it."""

    def __init__(self, stages: list[PipelineStage]) -> None:
        self.stages = {stage.stage_index: stage.submod for stage in stages}
        self.moments: list[Moment] = []
        for stage in stages:
            number = stage.stage_index
            self.before(stage, "forward_one_chunk", lambda microbatch, *_, s=number, **__: f"{s}F{microbatch}")
            self.before(stage, "backward_weight_one_chunk", lambda microbatch, *_, s=number, **__: f"{s}W{microbatch}")
            self.before(
                stage,
                "backward_one_chunk",
                lambda microbatch, *_, s=number, full_backward, **__: f"{s}{'B' if full_backward else 'I'}{microbatch}",
            )
            self.before(stage, "start_gradient_reduction", lambda s=number: f"{s}REDUCE_GRAD")
            self.before(stage.submod, "unshard", lambda s=number, **_: f"{s}UNSHARD")
            self.before(stage.submod, "reshard", lambda s=number: f"{s}RESHARD")

    def before(self, target: Any, method: str, name: Callable[..., str]) -> None:
        """Has a method of an object note the moment at which it is called."""
        wrapped = getattr(target, method)

        @functools.wraps(wrapped)
        def noting(*arguments: Any, **keywords: Any) -> Any:
            self.note(name(*arguments, **keywords))
            return wrapped(*arguments, **keywords)

        setattr(target, method, noting)

    def note(self, action: str) -> None:
        weights = frozenset(stage for stage, module in self.stages.items() if whole_weights(module) > 0)
        gradients = frozenset(stage for stage, module in self.stages.items() if has_whole_gradients(module))
        self.moments.append(Moment(action, weights, gradients))


def groups(module: nn.Module) -> Iterator[Any]:
    """The groups of weights of a stage that FSDP2 gathers together."""
    for each in module.modules():
        if isinstance(each, FSDPModule):
            yield from each._get_fsdp_state()._fsdp_param_groups


def whole_weights(module: nn.Module) -> int:
    """The bytes that the gathered weights of a stage take, and those under way."""
    arrived = [tensor for group in groups(module) for each in group.fsdp_params for tensor in each.all_gather_outputs]
    coming = [group._all_gather_result.all_gather_output for group in groups(module) if group._all_gather_result]
    return sum(tensor.untyped_storage().size() for tensor in arrived + coming)


def has_whole_gradients(module: nn.Module) -> bool:
    """Whether a stage has gradients that are not reduced."""
    weights = [getattr(each, "_unsharded_param", None) for group in groups(module) for each in group.fsdp_params]
    return any(weight is not None and weight.grad is not None for weight in weights)


def said(row: str) -> list[Moment]:
    """What a row of a file says that a rank holds, in the same words as `Watch`."""
    weights: set[int] = set()
    gradients: set[int] = set()
    moments = []
    for cell in row.split(","):
        for action in re.findall(r"\d+[FIWB]\d+", cell) if cell.startswith("(") else [cell]:
            found = re.fullmatch(r"(\d+)([FIWB](?=\d)|UNSHARD|RESHARD|REDUCE_GRAD)\d*", action)
            if found is None:
                continue
            stage, kind = int(found[1]), found[2]
            # What REDUCE_GRAD has let go of stays so: PyTorch passes over the RESHARD that follows.
            if kind == "RESHARD" and stage not in weights:
                continue
            moments.append(Moment(action, frozenset(weights), frozenset(gradients)))
            if kind == "UNSHARD":
                weights.add(stage)
            elif kind in ("RESHARD", "REDUCE_GRAD"):
                weights.discard(stage)
            if kind in ("W", "B"):
                gradients.add(stage)
            elif kind == "REDUCE_GRAD":
                gradients.discard(stage)
    return [*moments, Moment("end", frozenset(weights), frozenset(gradients))]


@functools.cache
def mesh_of(ranks: int) -> DeviceMesh:
    """Replicas by ranks, made once in each process."""
    return init_device_mesh("cpu", (REPLICAS, ranks), mesh_dim_names=("replica", "rank"))


def step(rank: int, job: Job, world: dist.ProcessGroup, keeps: bool = True) -> Report:
    """Some steps of one rank of one replica, whose weights stay gathered after a forward or not."""
    mesh = mesh_of(job.ranks)
    replica, place = divmod(rank, job.ranks)
    stages = [
        pipeline.stage_of(Stage(stage, mesh["replica"], keeps), stage, job, mesh.get_group("rank"))
        for stage in pipeline.held(place, job)
    ]
    schedule = _PipelineScheduleRuntime(stages, job.microbatches, loss_fn=pipeline.loss, scale_grads=True)
    schedule._load_csv(str(job.path), format=job.form)
    numbers = [stage.stage_index for stage in stages]
    inputs, targets = pipeline.data(job.microbatches, seed=replica)
    arguments = (inputs,) if 0 in numbers else ()
    expected = mean_gradients(job)
    errors: list[tuple[int, float]] = []
    watch = Watch(stages)
    for _ in range(STEPS):
        keywords = {"target": targets, "losses": []} if job.stages - 1 in numbers else {}
        watch.moments.clear()
        schedule.step(*arguments, return_outputs=False, **keywords)
        for stage in stages:
            for layer in stage.submod:
                whole = None if layer.weight.grad is None else layer.weight.grad.full_tensor()
                errors.append((stage.stage_index, pipeline.error_of(whole, expected[layer.stage])))
                layer.weight.grad = None
    watch.note("end")
    return Report(errors, watch.moments)


def mean_gradients(job: Job) -> list[torch.Tensor]:
    """The gradients of all layers without any pipeline, on the data of all replicas."""
    each = [pipeline.sequential(job.stages * LAYERS, job.microbatches, seed=replica) for replica in range(REPLICAS)]
    return [torch.stack(layer).mean(0) for layer in zip(*each, strict=True)]


@dataclasses.dataclass(frozen=True)
class Sharded(Outcome):
    """What became of a job, and what was gathered."""

    most: tuple[int, ...] = ()
    """By rank: the most stages that were gathered at any time."""
    gathers: tuple[int, ...] = ()
    """By rank: how often stages were gathered."""
    differs: str = ""
    """Where first a rank holds something else than the file says."""


def run(jobs: list[Job], keeps: bool = True) -> Iterator[Sharded]:
    """Runs jobs of equally many ranks. After one that does not end well none is tried: the ranks are lost."""
    ran = pipeline.reports(jobs, REPLICAS * jobs[0].ranks, functools.partial(step, keeps=keeps), LIMIT)
    for job, reports in zip(jobs, ran):
        if isinstance(reports, Outcome):
            yield Sharded(**dataclasses.asdict(reports))
        else:
            yield judge(job, reports)


def judge(job: Job, reports: dict[int, Report]) -> Sharded:
    """What the ranks of all replicas saw, beside what the file says."""
    errors = [each for report in reports.values() for each in report.errors]
    wrong = tuple(sorted({stage for stage, error in errors if not error < pipeline.EXACT}))
    rows = [said(row) for row in job.path.read_text().splitlines()]
    differs = ""
    for rank, report in sorted(reports.items()):
        row = rows[rank % job.ranks]
        if report.moments != row and not differs:
            both = zip([*report.moments, None], [*row, None])
            seen, expected = next((seen, expected) for seen, expected in both if seen != expected)
            differs = f"rank {rank}, seen {seen}, in the file {expected}"
    # Replicas hold the same, or one of them differs from the file.
    first = [reports[rank].moments for rank in range(job.ranks)]
    return Sharded(
        "wrong gradients" if wrong else "ends",
        max(error for _, error in errors),
        wrong,
        most=most(first),
        gathers=tuple(sum("UNSHARD" in moment.action for moment in moments) for moments in first),
        differs=differs,
    )


def model_of(suite: Suite, case: Case) -> pathlib.Path:
    """A model with unit times that says of how many stages weights may be gathered."""
    text = (ROOT / f"models/profiles/unit-{case.shape}.toml").read_text()
    for key, value in [("devices", case.ranks), ("microbatches", case.microbatches), ("chunks", case.chunks)]:
        text = re.sub(rf"(?m)^{key} = \d+$", f"{key} = {value}", text)
    path = suite.folder / f"{case.shape}-{case.ranks}-{case.chunks}-{case.microbatches}-{case.stages}.toml"
    path.write_text(f"{text}\n[sharding]\ngather = 1\ngathered = {UNIT}\nstages = {case.stages}\n")
    return path


def written(suite: Suite, case: Case, model: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """The passes of a case, and the file that is run."""
    stem = f"{pathlib.Path(case.name).stem}-{model.stem}"
    lowering = ["--to", "pytorch-comms"]
    if case.name.endswith(".csv"):
        passes = ROOT / "tests/data/interop" / case.name
        return passes, suite.convert(passes, f"{stem}.comms.csv", *lowering, "--model", str(model))
    named = ["--schedule", case.name]
    passes = suite.convert(model, f"{stem}.csv", *named)
    return passes, suite.convert(model, f"{stem}.comms.csv", *lowering, *named)


def rows_of(path: pathlib.Path) -> list[list[Moment]]:
    """What a file says that its ranks hold."""
    return [said(row) for row in path.read_text().splitlines()]


def most(rows: list[list[Moment]]) -> tuple[int, ...]:
    """By rank: the most stages that are gathered at any time."""
    return tuple(max(len(moment.weights) for moment in row) for row in rows)


def lowered(passes: pathlib.Path, case: Case) -> list[list[Moment]] | None:
    """What PyTorch makes of the passes with as many active stages, row by row; none if it refuses."""
    schedule = _PipelineScheduleRuntime(
        dump.stages(0, case.ranks, case.chunks), case.microbatches, max_active_stages=case.stages
    )
    try:
        schedule._load_csv(str(passes), format="compute_only")
    except ValueError:
        return None
    return [said(",".join(map(str, schedule.pipeline_order_with_comms[rank]))) for rank in range(case.ranks)]


def compared(passes: pathlib.Path, comms: pathlib.Path, case: Case) -> str:
    """Our gathers beside those that PyTorch makes itself."""
    ours, theirs = rows_of(comms), lowered(passes, case)
    if theirs is None:
        return REFUSED
    if theirs == ours:
        return ALIKE
    return MORE if max(most(ours)) == case.stages and max(most(theirs)) == case.stages + 1 else "otherwise"


def schedules(suite: Suite) -> None:
    """Our files, with the gathers that a model allows."""
    print(f"\nour schedules on {REPLICAS} replicas, with weights sharded by FSDP2\n")
    print(
        f"{'schedule':<21}{'ranks':<7}{'chunks':<8}{'microbatches':<14}{'limit':<7}{'most gathered':<15}"
        f"{'gathers':<13}{'by PyTorch':<12}gradient error"
    )
    files = {}
    for case in CASES:
        model = model_of(suite, case)
        passes, comms = written(suite, case, model)
        files[case] = (model, passes, pipeline.job(comms, "compute_comms"))
    outcomes = run_all([job for _, _, job in files.values()])
    for case, (model, passes, job) in files.items():
        outcome = outcomes.get(job, Sharded("not run"))
        verdict = suite.verdict(job.path, "--model", str(model))
        replayed = tuple(peak // UNIT for peak in verdict["peak_memory"])
        theirs = compared(passes, job.path, case)
        limit = max(case.stages, 2 if "OVERLAP" in passes.read_text() else 1)
        holds = (
            verdict["valid"]
            and outcome.what == "ends"
            and not outcome.differs
            and outcome.most == replayed
            and max(replayed) <= limit
            and theirs == case.theirs
        )
        mark = suite.expect(holds, f"{case}: {outcome}, replay says {replayed}, PyTorch lowers it {theirs}")
        print(
            f"{case.name:<21}{case.ranks:<7}{case.chunks:<8}{case.microbatches:<14}{case.stages:<7}"
            f"{' '.join(map(str, outcome.most)):<15}{' '.join(map(str, outcome.gathers)):<13}{theirs:<12}"
            f"{told(outcome)}{mark}"
        )


def run_all(jobs: list[Job]) -> dict[Job, Sharded]:
    """Runs jobs, those of equally many ranks in the same processes."""
    outcomes: dict[Job, Sharded] = {}
    for ranks in sorted({job.ranks for job in jobs}):
        group = [job for job in jobs if job.ranks == ranks]
        outcomes |= dict(zip(group, run(group)))
    return outcomes


def told(outcome: Sharded) -> str:
    """What became of a job, in a few words."""
    return f"{outcome.error:.1e}" if outcome.what == "ends" else f"{outcome.what} {outcome.message[:70]}"


def faults(suite: Suite) -> None:
    """Files whose gathers are not right: we refuse them all, and PyTorch most of them."""
    print("\ngathers that are not right, in FSDP2\n")
    for path, expected in FAULTS:
        rules = ", ".join(sorted({violation["rule"] for violation in suite.verdict(path)["violations"]}))
        outcome = next(run([pipeline.job(path, "compute_comms")]))
        # What ends must end without weights that stay gathered.
        holds = outcome.what == expected and not outcome.differs and bool(rules)
        mark = suite.expect(holds, f"{path.name} in FSDP2: {outcome}, we say {rules}")
        print(f"{path.name:<28}{rules or 'accepted':<22}{told(outcome)}{mark}")


def defaults(suite: Suite) -> None:
    """Our files with FSDP2's default, which lets go of weights where no file says so."""
    print("\nweights that FSDP2 lets go of after every forward\n")
    for name, expected in DEFAULTS:
        case = Case(name, "linear", 1, 2, 4, 3)
        _, comms = written(suite, case, model_of(suite, case))
        outcome = next(run([pipeline.job(comms, "compute_comms")], keeps=False))
        holds = outcome.what == expected and bool(outcome.differs)
        mark = suite.expect(holds, f"{name} with FSDP2's default: {outcome}")
        print(f"{name:<28}{told(outcome)}, {outcome.differs}{mark}")
