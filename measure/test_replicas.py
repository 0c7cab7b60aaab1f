"""Replicas that really run: what they do together comes in the order in which it must."""

import contextlib
import gc
import io
import json
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

import cpu
import gpu
import green
import measure
from replicas import Member, Replicas
from run import Bench
from schedule import Schedule
from simulated import Simulated, driver
from test_cpu import LINEAR, LOOPED, V
from test_layers import living, schedule_of, small
from transformer import Transformer

CASES = [(LINEAR, (1, 1)), (V, (1, 2, 1, 1))]


def bench(kind: str = "threads", count: int = 2, sharded: bool = False, limit: float = 30.0) -> Bench:
    return Bench(cpu.Machine(kind, 1, limit), optimizer="adamw", replicas=count, sharded=sharded)


class Spans(unittest.TestCase):
    """What every trace of replicas must hold, whatever ran it."""

    def check(self, iterations: list, schedule: Schedule, sharded: bool) -> None:
        kinds = (["gather"] if sharded else []) + ["reduce", "norm", "optimizer"]
        every = [{(what, stage): span for what, stage, *span in one.step} for one in iterations]
        stages = range(schedule.stages)
        for one, spans in zip(iterations, every, strict=True):
            self.assertEqual(len(one.step), len(spans))
            self.assertEqual(set(spans), {(kind, stage) for kind in kinds for stage in stages})
            self.assertEqual([[p for p, _, _ in order] for order in one.passes], schedule.orders)
            for start, end in spans.values():
                self.assertLessEqual(0, start)
                self.assertLessEqual(start, end)
            for stage in stages:
                self.check_stage(one.passes[schedule.device_of[stage]], spans, stage, sharded)
        starts = [start for one in iterations for order in one.passes for _, start, _ in order]
        self.assertEqual(min(starts + [start for spans in every for start, _ in spans.values()]), 0)
        # A replica that is done with a stage has waited until all had come.
        for kind in kinds[:-2]:
            for stage in stages:
                begun, ended = zip(*(spans[kind, stage] for spans in every), strict=True)
                self.assertLessEqual(max(begun), min(ended), f"{kind} of stage {stage}")
        # The norm waits for all devices of all replicas.
        norms = [spans["norm", stage] for spans in every for stage in stages]
        self.assertLessEqual(max(start for start, _ in norms), min(end for _, end in norms))
        reductions = [spans["reduce", stage][1] for spans in every for stage in stages]
        self.assertLessEqual(max(reductions), min(end for _, end in norms))

    def check_stage(self, order: list, spans: dict, stage: int, sharded: bool) -> None:
        own = [(p.kind, start, end) for p, start, end in order if p.stage == stage]
        if sharded:
            self.assertLessEqual(spans["gather", stage][1], own[0][1])
        self.assertLessEqual(max(end for kind, _, end in own if kind in "WB"), spans["reduce", stage][0])
        self.assertLessEqual(spans["reduce", stage][1], spans["norm", stage][0])
        self.assertLessEqual(order[-1][2], spans["norm", stage][0])
        self.assertLessEqual(spans["norm", stage][1], spans["optimizer", stage][0])


class OnCpu(Spans):
    def test_two_replicas_of_two_devices(self):
        for kind in ("processes", "threads"):
            for schedule, layers in CASES:
                for sharded in (False, True):
                    with self.subTest(kind=kind, layers=layers, sharded=sharded):
                        run = bench(kind, sharded=sharded).run(schedule, small(layer_counts=layers), 1, 2)
                        self.assertEqual([len(one) for one in run.replicas], [2, 2])
                        for together in zip(*run.replicas, strict=True):
                            self.check(list(together), schedule, sharded)

    def test_three_replicas(self):
        for sharded in (False, True):
            run = bench(count=3, sharded=sharded).run(LOOPED, small(layer_counts=(2, 1, 1, 1)), 0, 1)
            self.check([one for (one,) in run.replicas], LOOPED, sharded)

    def test_without_an_optimiser_gradients_are_reduced_all_the_same(self):
        run = Bench(cpu.Machine("threads", 1, 30.0), replicas=2).run(LINEAR, small(), 0, 1)
        for (one,) in run.replicas:
            self.assertEqual({what for what, *_ in one.step}, {"reduce", "norm"})

    def test_one_replica_reduces_nothing(self):
        run = bench(count=1).run(LINEAR, small(), 0, 1)
        self.assertEqual({what for what, *_ in run.iterations[0].step}, {"optimizer"})

    def test_a_replica_that_does_not_come_is_waited_for_no_longer_than_the_limit(self):
        right = Member.mean

        def late(member, tensors, stage):
            if member.rank == 1:
                time.sleep(3.0)
            right(member, tensors, stage)

        for kind in ("processes", "threads"):
            with self.subTest(kind), mock.patch.object(Member, "mean", late), self.assertRaises(cpu.TimedOut) as raised:
                bench(kind, limit=1.0).run(LINEAR, small(), 0, 1)
            self.assertRegex(
                str(raised.exception),
                r"device [01] of replica [01] has waited 1 s for other replicas: the (reduce of stage [01]|norm)",
            )

    def test_an_error_in_a_reduction_is_reported(self):
        def fail(member, tensors, stage):
            raise ValueError("out of luck")

        for kind in ("processes", "threads"):
            with self.subTest(kind), mock.patch.object(Member, "mean", fail), self.assertRaises(RuntimeError) as raised:
                bench(kind).run(LINEAR, small(), 0, 1)
            self.assertRegex(str(raised.exception), r"device [01] of replica [01]: (?s:.)*ValueError: out of luck")


class OnGpus(Spans):
    """On simulated streams: what must wait does."""

    def executor(self, how: str, schedule, layers, sharded: bool) -> gpu.Executor:
        machine = gpu.Machine(how, 60.0)
        sizes = small(layer_counts=layers)
        made: list[Transformer] = []
        for homes in machine.homes(sizes, schedule, 2):
            made.append(Transformer(sizes, schedule.microbatches, machine.allocate, homes, made[0] if made else None))
        return machine.executor(schedule, Replicas(made, sharded), "sgd")

    def test_runs_have_right_gradients_and_spans(self):
        for how, gpus in (("streams", 1), ("gpus", 4), ("green-contexts", 1)):
            for schedule, layers in CASES:
                for sharded in (False, True):
                    with self.subTest(how=how, layers=layers, sharded=sharded):
                        with Simulated(gpus, driver(132, 8)).installed():
                            one = Bench(gpu.Machine(how, 60.0), optimizer="adamw", replicas=2, sharded=sharded)
                            run = one.run(schedule, small(layer_counts=layers), 1, 2)
                            self.assertEqual(one.machine.describe(2, 2, 1)["devices"], how)
                        for together in zip(*run.replicas, strict=True):
                            self.check(list(together), schedule, sharded)

    def test_every_wait_is_a_wait_of_the_streams(self):
        for how, gpus in (("streams", 1), ("gpus", 4)):
            for schedule, layers in CASES:
                for sharded in (False, True):
                    with self.subTest(how=how, layers=layers, sharded=sharded):
                        machine = Simulated(gpus)
                        with machine.installed():
                            executor = self.executor(how, schedule, layers, sharded)
                            executor.iterate()
                        self.check_waits(machine, executor, schedule, sharded)

    def check_waits(self, machine: Simulated, executor: gpu.Executor, schedule, sharded: bool) -> None:
        pipelines, stages = executor.pipelines, range(schedule.stages)
        passes = [{p: (a.at, b.at) for d in one.devices for p, a, b in d.notes} for one in pipelines]
        steps = [{(what, k): (a.at, b.at) for d in one.steps() for what, k, a, b in d} for one in pipelines]
        norms = [span for one in steps for (what, _), span in one.items() if what == "norm"]
        for ran, step in zip(passes, steps, strict=True):
            for stage in stages:
                device = schedule.device_of[stage]
                first = next(p for p in schedule.orders[device] if p.stage == stage)
                last = next(p for p in schedule.lasts(device) if p.stage == stage)
                begun, ended = step["reduce", stage]
                self.assertTrue(machine.follows(begun, ran[last][1]))
                self.assertTrue(machine.follows(step["norm", stage][0], ended))
                self.assertTrue(machine.follows(step["optimizer", stage][0], step["norm", stage][1]))
                for other in steps:
                    self.assertTrue(machine.follows(ended, other["reduce", stage][0]))
                    if sharded:
                        self.assertTrue(machine.follows(ran[first][0], other["gather", stage][0]))
                for _, end in norms:
                    self.assertTrue(machine.follows(end, ended))
        for start, _ in norms:
            for _, end in norms:
                self.assertTrue(machine.follows(end, start))
        # Passes wait for no reduction, and not for another replica but where weights are gathered.
        for ran in passes:
            for start, _ in ran.values():
                self.assertFalse(any(machine.follows(start, step["reduce", k][0]) for step in steps for k in stages))
        ours, theirs = (one[schedule.orders[0][-1]] for one in passes)
        self.assertFalse(machine.follows(ours[0], theirs[0]) or machine.follows(theirs[0], ours[0]))

    def test_what_is_expected_in_memory_is_what_all_tensors_asked_for(self):
        for sharded in (False, True):
            with self.subTest(sharded=sharded), Simulated().installed():
                executor = self.executor("streams", V, (1, 1, 1, 1), sharded)
                executor.begin()
                gc.collect()
                gc.freeze()
                self.addCleanup(gc.unfreeze)
                seen = []

                def compare(executor=executor, seen=seen):
                    gc.collect()
                    seen.append((executor.expected(), sum(dict(living()).values())))

                executor.iterate(compare)
                self.assertEqual(len(seen), 2 * sum(map(len, V.orders)))
                self.assertEqual([expected for expected, _ in seen], [made for _, made in seen])

    def test_more_streams_than_pytorch_has_are_refused(self):
        wide = schedule_of([[k] for k in range(6)], 1, *(f"{k}F0 {k}B0" for k in range(6)))
        with Simulated().installed(), self.assertRaises(green.Unavailable) as raised:
            Bench(gpu.Machine("streams", 60.0), replicas=2).run(wide, small(layer_counts=(1,) * 6), 0, 1)
        self.assertEqual(str(raised.exception), "45 streams of one GPU are needed, and PyTorch has 32")

    def test_the_gpus_of_all_replicas_are_needed(self):
        with Simulated(2).installed(), self.assertRaises(green.Unavailable) as raised:
            Bench(gpu.Machine("gpus", 60.0), replicas=2).run(LINEAR, small(), 0, 1)
        self.assertEqual(str(raised.exception), "4 GPUs are needed, 2 at hand")


class Command(unittest.TestCase):
    def call(self, folder: pathlib.Path, *options: str) -> tuple[int, str]:
        source = folder / "schedule.json"
        source.write_text(json.dumps(LINEAR.file))
        command = ["measure.py", str(source), "-o", str(folder / "run.json"), "--kind", "cpu", *options]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(io.StringIO()) as said:
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(said):
                measure.main()
        return ended.exception.code, said.getvalue()

    def test_every_replica_has_a_trace(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            sizes = "--hidden 32 --heads 2 --sequence 8 --iterations 2 --warmup 0".split()
            options = ["--replicas", "2", "--shard-optimizer", "--optimizer", "sgd", *sizes]
            code, said = self.call(folder, *options)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"^run-dp0.json: .*\nrun-dp1.json: .*\n$")
            self.assertEqual(sorted(path.name for path in folder.glob("run*")), ["run-dp0.json", "run-dp1.json"])
            traces = [json.loads((folder / f"run-dp{rank}.json").read_text()) for rank in (0, 1)]
            works = [[work, stage] for stage in (0, 1) for work in ("gather", "reduce", "norm", "optimizer")]
            for trace in traces:
                self.assertEqual(trace["schedule"], LINEAR.file)
                self.assertEqual(len(trace["iterations"]), 2)
                for iteration in trace["iterations"]:
                    self.assertEqual(list(iteration), ["passes", "messages", "memory", "step"])
                    self.assertEqual([entry[:2] for entry in iteration["step"]], works)
                    self.assertEqual(len(iteration["messages"]), len(LINEAR.messages()))
            same = [key for key in traces[0] if key not in ("iterations", "host_overhead")]
            self.assertEqual(*([trace[key] for key in same] for trace in traces))
            self.assertNotEqual(traces[0]["iterations"], traces[1]["iterations"])

    def test_options_that_do_not_fit_are_refused(self):
        reason = "--shard-optimizer needs --optimizer, and --replicas of at least 2\n"
        cases = [
            (["--shard-optimizer"], reason),
            (["--shard-optimizer", "--replicas", "2"], reason),
            (["--shard-optimizer", "--optimizer", "adamw"], reason),
            (["--replicas", "0"], "argument --replicas: `0` is not a whole number of at least 1\n"),
        ]
        with tempfile.TemporaryDirectory() as name:
            for options, message in cases:
                with self.subTest(options):
                    code, said = self.call(pathlib.Path(name), *options)
                    self.assertEqual((code, said.split("measure.py: error: ")[-1]), (2, message))

    def test_a_standard_set_has_optimiser_steps_unless_told_otherwise(self):
        for options, expected in (([], "adamw"), (["--optimizer", "none"], "none"), (["--optimizer", "sgd"], "sgd")):
            with mock.patch.object(sys, "argv", ["measure.py", "--standard-set", "x", "-o", "y", *options]):
                self.assertEqual(measure.arguments().optimizer, expected)
        with mock.patch.object(sys, "argv", ["measure.py", "x.json", "-o", "y"]):
            self.assertEqual(measure.arguments().optimizer, "none")


if __name__ == "__main__":
    unittest.main()
