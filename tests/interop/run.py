"""Runs our schedules in PyTorch's own pipeline runtime, and shows that those which we refuse fail there.

    python3 run.py TOOL    TOOL is the bubbleproof to ask, such as target/debug/bubbleproof

1. Every schedule of a list, as a file of passes (compute_only) and with our sends and receives (compute_comms):
   its gradients must be those of the model run without a pipeline, and the most activations that are live on
   any rank, as autograd keeps them, must be the peak that replay finds.
   A schedule with recomputation runs with its stages in activation checkpointing: the same gradients, and these stages
   compute their forwards again for every backward.
2. The same with the schedules that PyTorch makes itself (tests/data/pytorch).
3. The communication corpus: what is refused there must fail here, in the way its index says.
4. PyTorch's own lowering with late receives, which swaps messages: refused by us, and wrong here.
5. What PyTorch cannot run: not written, for a reason that is named.
6. Files on two replicas whose weights are sharded by FSDP2 (`sharded.py`): the gradients must be the mean of those of the
   model on the data of each replica, and at every moment those weights must be gathered that the file says. Faults of
   sharding in the corpus must fail, where PyTorch notices them.
7. The walk of the guide, from the dimensions of a transformer to a run: every command must do what it is for.

Ends with status 1 when anything disagrees.
"""

import json
import pathlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass

import dump
import pipeline
import sharded
from pipeline import Job, Outcome
from suite import LIMIT, ROOT, Suite

PATIENCE = 5.0
"""Seconds after which a job that should hang is taken to. One of its size that ends takes about one."""


@dataclass(frozen=True)
class Named:
    """A schedule of the catalogue, made for a number of ranks and microbatches."""

    name: str
    model: str
    ranks: int
    microbatches: int


@dataclass(frozen=True)
class Stored:
    """A schedule that the optimiser found, in a file, with the model that it is for."""

    name: str
    path: pathlib.Path


LINEAR, LOOPED, V = (f"models/profiles/unit-{shape}.toml" for shape in ("linear", "looped", "v"))

SCHEDULES: list[Named | Stored] = [
    Named("gpipe", LINEAR, 2, 4),
    Named("1f1b", LINEAR, 2, 4),
    Named("1f1b", LINEAR, 4, 8),
    Named("1f1b", LINEAR, 8, 12),
    Named("interleaved-1f1b", LOOPED, 2, 4),
    Named("interleaved-1f1b", LOOPED, 4, 8),
    Named("zb-h1", LINEAR, 4, 8),
    Named("zb-h1", LINEAR, 8, 12),
    Named("v-min", V, 2, 4),
    Named("v-min", V, 4, 8),
    Named("v-min", V, 8, 12),
    Named("v-half", V, 2, 4),
    Named("v-half", V, 4, 8),
    Named("v-half", V, 8, 12),
    Named("v-zb", V, 2, 4),
    Named("v-zb", V, 4, 8),
    Named("v-zb", V, 8, 12),
    Named("dualpipe-v", V, 2, 6),
    Named("dualpipe-v", V, 4, 10),
    Named("dualpipe-v", V, 8, 18),
    Stored("optimised, capacity 5", ROOT / "tests/data/interop/optimised.json"),
    Stored("uneven stages", ROOT / "tests/data/interop/uneven.json"),
    Stored("overlapped pairs", ROOT / "tests/data/interop/pairs.json"),
    Stored("overlapped pairs of F and I", ROOT / "tests/data/interop/pairs-of-inputs.json"),
]

RECOMPUTED = Stored("recomputed", ROOT / "tests/data/interop/recomputed.json")


def run_all(jobs: list[Job]) -> dict[Job, Outcome]:
    """Runs jobs, those of equally many ranks in the same processes."""
    outcomes: dict[Job, Outcome] = {}
    for ranks in sorted({job.ranks for job in jobs}):
        group = [job for job in jobs if job.ranks == ranks]
        # After a job that does not end well the next ones need ranks of their own.
        while group:
            done = pipeline.run(group, LIMIT)
            outcomes |= dict(zip(group, done))
            group = group[len(done) :]
    return outcomes


def table(suite: Suite, title: str, rows: list[tuple[str, pathlib.Path, pathlib.Path | None]]) -> None:
    """Runs schedules in both forms and prints how they compare with replay."""
    jobs = {}
    for name, passes, comms in rows:
        jobs[name] = [pipeline.job(passes, "compute_only")]
        jobs[name] += [] if comms is None else [pipeline.job(comms, "compute_comms")]
    outcomes = run_all([job for both in jobs.values() for job in both])
    print(f"\n{title}\n")
    print(f"{'schedule':<32}ranks  microbatches  form           gradient error  live activations per rank")
    for name, passes, _ in rows:
        peaks = tuple(suite.verdict(passes)["peak_memory"])
        for job in jobs[name]:
            outcome = outcomes[job]
            holds = outcome.what == "ends" and outcome.live == peaks
            said = f"{outcome.error:.1e}" if outcome.what == "ends" else f"{outcome.what} {outcome.message}"
            agreed = " ".join(map(str, outcome.live)) + (" = replay" if outcome.live == peaks else f", replay {peaks}")
            mark = suite.expect(holds, f"{name}, {job.form}: {outcome}, replay says {peaks}")
            sizes = f"{job.ranks:<7}{job.microbatches:<14}"
            print(f"{name:<32}{sizes}{job.form:<15}{said:<16}{agreed}{mark}")


def ours(suite: Suite) -> None:
    """Our schedules."""
    rows = []
    for number, schedule in enumerate(SCHEDULES):
        source, options, name = "", [], schedule.name
        if isinstance(schedule, Named):
            source = schedule.model
            options = ["--schedule", schedule.name, "--devices", str(schedule.ranks)]
            options += ["--microbatches", str(schedule.microbatches)]
        else:
            source = schedule.path
        passes = suite.convert(source, f"{number}.csv", *options)
        comms = suite.convert(source, f"{number}.comms.csv", "--to", "pytorch-comms", *options)
        size = f" {schedule.ranks}" if isinstance(schedule, Named) else ""
        rows.append((f"{name}{size}", passes, comms))
    table(suite, "our schedules in PyTorch's runtime", rows)


def recomputed(suite: Suite) -> None:
    """A schedule that recomputes: with its stages checkpointed, and with all of them."""
    print("\nstages in activation checkpointing, in PyTorch's runtime\n")
    orders = json.loads(RECOMPUTED.path.read_text())["orders"]
    passes = [one for order in orders for one in order]
    again = tuple(sorted({int(one.split("R")[0]) for one in passes if "R" in one}))
    suite.expect(bool(again), f"{RECOMPUTED.path.name} recomputes nothing")
    stages = 1 + max(int(re.match(r"\d+", one)[0]) for one in passes)
    for form, options in [("compute_only", []), ("compute_comms", ["--to", "pytorch-comms"])]:
        written = suite.convert(RECOMPUTED.path, f"recomputed.{form}.csv", *options)
        suite.expect("R" not in re.sub(r"RECV|RESHARD|REDUCE_GRAD|UNSHARD", "", written.read_text()), f"{form} has R")
        for checkpointed in [again, tuple(range(stages))]:
            job = pipeline.job(written, form, checkpointed)
            outcome = pipeline.run([job], LIMIT)[0]
            # Once forwards; and again for every backward, I and W each. The I of the first stage does nothing there.
            parts = [
                sum(one.startswith((f"{stage}W", f"{stage}B") + (f"{stage}I",) * (stage > 0)) for one in passes)
                for stage in range(stages)
            ]
            expected = tuple(job.microbatches + (parts[s] if s in checkpointed else 0) for s in range(stages))
            holds = outcome.what == "ends" and outcome.computed == expected
            mark = suite.expect(holds, f"recomputed, {form}, {checkpointed}: {outcome}, forwards {expected} expected")
            which = " ".join(map(str, checkpointed))
            print(f"{form:<15}stages {which:<8}{outcome.error:<10.1e}forwards {' '.join(map(str, outcome.computed))}{mark}")


def refused(suite: Suite) -> None:
    """What PyTorch cannot run is not written, and the reason is named."""
    print("\nwhat is not written for PyTorch\n")
    two_way = suite.folder / "two-way.toml"
    text = (ROOT / V).read_text()
    two_way.write_text(text.replace('placement = "v"', 'placement = "bidirectional"'))
    suite.expect("bidirectional" in two_way.read_text(), f"{V} has another placement")
    broken = ROOT / "tests/data/cli/broken.json"
    both = ["pytorch", "pytorch-comms"]
    dualpipe = [two_way, "--schedule", "dualpipe", "--devices", "4", "--microbatches", "8"]
    for name, words, reason, forms in [
        ("two directions", dualpipe, "two directions", both),
        ("missing passes", [broken], "passes", both[:1]),
        ("orders that cannot run", [broken], "deadlock", both[1:]),
    ]:
        for form in forms:
            target = suite.folder / "refused.csv"
            done = suite.ask("convert", *words, "-o", target, "--to", form)
            said = " ".join(done.stderr.split())
            holds = done.returncode != 0 and reason in said and not target.exists()
            mark = suite.expect(holds, f"{name}, {form}: status {done.returncode}, {said}")
            print(f"{name:<26}{form:<15}{said[:100]}{mark}")


def pytorchs(suite: Suite) -> None:
    """PyTorch's schedules, with our sends and receives. Those that it does not accept itself are left out."""
    rows = []
    for comms in sorted((ROOT / "tests/data/pytorch").glob("*.comms.csv")):
        stem = comms.name.removesuffix(".comms.csv")
        passes = comms.parent / f"{stem}.csv"
        lowered = suite.convert(passes, comms.name, "--to", "pytorch-comms")
        rows.append((stem, passes, lowered))
    table(suite, "PyTorch's schedules in its runtime", rows)


def corpus(suite: Suite) -> None:
    """What we refuse."""
    folder = ROOT / "tests/corpus/communication"
    print("\nwhat we refuse, in PyTorch's runtime\n")
    for entry in tomllib.loads((folder / "INDEX.toml").read_text())["file"]:
        if "pytorch" not in entry:
            continue
        status = suite.ask("verify", folder / entry["file"]).returncode
        outcome = alone(folder / entry["file"], PATIENCE if entry["pytorch"] == "hangs" else LIMIT)
        holds = status == entry["status"] and outcome.what == entry["pytorch"]
        if entry.get("rules") == ["swapped-messages"]:
            holds = holds and outcome.wrong == suite.said_to_be_wrong(folder / entry["file"])
        mark = suite.expect(holds, f"{entry['file']}: {outcome}, the index says {entry['pytorch']}")
        rules = ", ".join(entry.get("rules", [])) or ("cannot be read" if entry["status"] == 2 else "accepted")
        print(f"{entry['file']:<40}{rules:<40}{describe(outcome)}{mark}")


def alone(path: pathlib.Path, limit: float) -> Outcome:
    """What becomes of one file, on ranks of its own."""
    return pipeline.run([pipeline.job(path, "compute_comms")], limit)[0]


def describe(outcome: Outcome) -> str:
    """An outcome in a few words."""
    stages = "".join(f" {stage}" for stage in outcome.wrong)
    reason = outcome.message[:70]
    return outcome.what + (f" of stages{stages}" if stages else "") + (f": {reason}" if reason else "")


def late_receives(suite: Suite) -> None:
    """PyTorch's option to receive as late as it can: which of its schedules it corrupts, by us and by gloo."""
    print("\nPyTorch's own lowering with defer_pp_recv=True\n")
    for case in [("ZBVZeroBubble", 2, 2, 4), ("InterleavedZeroBubble", 2, 2, 4), ("Interleaved1F1B", 2, 2, 4)]:
        path = suite.folder / f"late-{dump.slug(case)}.csv"
        schedule = dump.runtime(case)
        late = dump.pp._defer_recv_ops(
            schedule.pipeline_order_with_comms, stage_to_rank=schedule.stage_index_to_group_rank.__getitem__
        )
        dump.write(path, late)
        verdict = suite.verdict(path)
        outcome = alone(path, LIMIT)
        rules = ", ".join(sorted({violation["rule"] for violation in verdict["violations"]})) or "accepted"
        holds = verdict["valid"] == (outcome.what == "ends")
        mark = suite.expect(holds, f"{path.name}: {outcome}, but we say {rules}")
        print(f"{dump.slug(case):<40}{rules:<40}{describe(outcome)}{mark}")


def walk(suite: Suite) -> None:
    """The commands of the guide, from layers to a run, as they are written there."""
    print("\nfrom layers to a run, as in the guide\n")
    section = (ROOT / "docs/guide.md").read_text().split("## From layers to a run in PyTorch\n")[1].split("\n## ")[0]
    commands = re.findall(r"^\$ (.+)$", section, re.MULTILINE)
    suite.expect(len(commands) == 5, f"the guide has {len(commands)} commands")
    for command in commands:
        words = shlex.split(command.replace("target/", f"{suite.folder}/"))
        while "=" in words[0]:
            del words[0]
        words[0] = {"bubbleproof": suite.tool, "python3": sys.executable}[words[0]]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env=os.environ)
        mark = suite.expect(done.returncode == 0, f"{command}: status {done.returncode}, {done.stderr.strip()}")
        print(f"{command}{mark}")
    print(done.stdout, end="")


def main() -> None:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(folder))
        ours(suite)
        recomputed(suite)
        refused(suite)
        pytorchs(suite)
        corpus(suite)
        late_receives(suite)
        sharded.schedules(suite)
        sharded.faults(suite)
        sharded.defaults(suite)
        walk(suite)
    took = time.monotonic() - begun
    print(f"\n{len(suite.disagreements)} disagreements, {took:.0f} s, PyTorch {pipeline.torch.__version__}")
    for disagreement in suite.disagreements:
        print(f"  {disagreement}")
    sys.exit(1 if suite.disagreements else 0)


if __name__ == "__main__":
    main()
