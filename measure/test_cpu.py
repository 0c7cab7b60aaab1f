"""Real pipelines of processes and threads: what their traces hold, and what becomes of those that go wrong."""

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import torch

import cpu
import measure
import stage
import transformer
from iteration import Iteration
from replicas import Replicas
from run import Bench, Refused
from schedule import Schedule, ScheduleError
from test_layers import schedule_of, small

HERE = pathlib.Path(__file__).parent

LINEAR = schedule_of([[0], [1]], 3, "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0B2", "1F0 1I0 1F1 1I1 1W0 1W1 1F2 1B2")
V = schedule_of([[0, 3], [1, 2]], 2, "0F0 0F1 3F0 3B0 3F1 3B1 0B0 0B1", "1F0 2F0 1F1 2F1 2B0 1B0 2B1 1B1")
LOOPED = schedule_of([[0, 2], [1, 3]], 2, "0F0 0F1 2F0 2F1 2I0 2I1 2W0 0B0 2W1 0B1", "1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1")
RECOMPUTED = schedule_of([[0], [1]], 2, "0F0 0F1 0R0 0I0 0W0 0R1 0B1", "1F0 1R0 1B0 1F1 1B1")
ONE = schedule_of([[0]], 2, "0F0 0F1 0I1 0B0 0W1")

CASES = [
    ("processes", LINEAR, (1, 1)),
    ("threads", LINEAR, (1, 1)),
    ("processes", V, (1, 2, 1, 1)),
    ("threads", LOOPED, (2, 1, 1, 1)),
    ("processes", RECOMPUTED, (1, 3)),
    ("processes", ONE, (2,)),
]


def iterations(kind: str, schedule: Schedule, layers: tuple[int, ...], dtype: str = "float32") -> list[Iteration]:
    return Bench(cpu.Machine(kind, 1, 30.0)).run(schedule, small(dtype, layers), 1, 2).iterations


class Pipelines(unittest.TestCase):
    def test_what_is_measured_respects_the_schedule(self):
        for kind, schedule, layers in CASES:
            with self.subTest(kind=kind, layers=layers):
                for iteration in iterations(kind, schedule, layers):
                    self.check(iteration, schedule)

    def check(self, iteration: Iteration, schedule: Schedule) -> None:
        self.assertEqual([[p for p, _, _ in order] for order in iteration.passes], schedule.orders)
        self.assertEqual(min(start for order in iteration.passes for _, start, _ in order), 0)
        span = {p: (start, end) for order in iteration.passes for p, start, end in order}
        copies = {p: (start, end, to) for p, to, start, end in iteration.messages}
        self.assertEqual({(p, to) for p, (_, _, to) in copies.items()}, {(p, to) for p, _, to in schedule.messages()})
        for order in iteration.passes:
            for (_, start, end), (_, following, _) in zip(order, order[1:]):
                self.assertLess(start, end)
                self.assertLessEqual(end, following)
        for p, (start, _) in span.items():
            source = schedule.source(p)
            if source in copies:
                begun, ended, _ = copies[source]
                self.assertLessEqual(span[source][1], begun)
                self.assertLess(begun, ended)
                self.assertLessEqual(ended, start)
            elif source is not None:
                self.assertLessEqual(span[source][1], start)
        for held, order in zip(iteration.memory, iteration.passes, strict=True):
            self.assertEqual((held[0], held[-1][1]), ((0, 0), 0))
            self.assertEqual(sorted(held, key=lambda entry: entry[0]), held)
            self.assertGreater(max(size for _, size in held), 0)
            # Bytes change while passes run only.
            for at, _ in held[1:]:
                self.assertTrue(any(start <= at <= end for _, start, end in order))
        for overhead in iteration.overheads:
            self.assertGreaterEqual(overhead, 0)

    def test_memory_is_the_same_in_every_iteration_and_for_every_kind_of_device(self):
        runs = [iterations(kind, LINEAR, (1, 1)) for kind in ("processes", "threads")]
        sizes = [[[size for _, size in held] for held in one.memory] for run in runs for one in run]
        self.assertEqual(len(sizes), 4)
        self.assertTrue(all(one == sizes[0] for one in sizes))

    def test_optimiser_steps_follow_the_passes_and_change_no_gradient(self):
        for kind, schedule, layers in CASES:
            with self.subTest(kind=kind, layers=layers):
                bench = Bench(cpu.Machine(kind, 1, 30.0), optimizer="adamw")
                for iteration in bench.run(schedule, small(layer_counts=layers), 1, 2).iterations:
                    self.check(iteration, schedule)
                    self.assertEqual(
                        [entry[:2] for entry in iteration.step], [("optimizer", k) for k in range(schedule.stages)]
                    )
                    for device, order in enumerate(iteration.passes):
                        # One after the other on the device, behind its passes.
                        free = order[-1][2]
                        spans = {stage: (start, end) for _, stage, start, end in iteration.step}
                        for start, end in (spans[stage] for stage in schedule.ends(device)):
                            self.assertLessEqual(free, start)
                            self.assertLess(start, end)
                            free = end

    def test_without_an_optimiser_there_are_no_steps(self):
        self.assertEqual([one.step for one in iterations("threads", LINEAR, (1, 1))], [[], []])

    def test_bfloat16_runs_too(self):
        self.assertEqual(len(iterations("threads", V, (1, 1, 1, 1), "bfloat16")), 2)


class Failures(unittest.TestCase):
    def test_devices_that_wait_for_each_other_are_given_up(self):
        """The executor on its own: a run would refuse the schedule before it begins."""
        stuck = schedule_of([[0], [1]], 2, "0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1")
        for kind in ("processes", "threads"):
            machine = cpu.Machine(kind, 1, 1.0)
            sizes = small(layer_counts=(1, 1))
            model = transformer.Transformer(sizes, 2, machine.allocate, *machine.homes(sizes, stuck))
            with (
                self.subTest(kind),
                self.assertRaises(cpu.TimedOut) as raised,
                machine.executor(stuck, Replicas([model])) as executor,
            ):
                executor.iterate()
            self.assertRegex(
                str(raised.exception), r"device (0 has waited 1 s for the result of `1B0`|1 has .* of `0F1`)"
            )

    def test_wrong_gradients_give_no_trace(self):
        def forgetful(held, microbatch):
            held.book.drop([at for pending in held.pending.pop(microbatch) for at in stage.ledger.storages(pending)])
            held.book.note()

        with mock.patch.object(stage.Stage, "weight_gradient", forgetful), self.assertRaises(Refused) as raised:
            iterations("processes", LINEAR, (1, 1))
        self.assertRegex(
            str(raised.exception), "the gradients are wrong: relative error .*, at most 1e-04 is taken for"
        )

    def test_a_result_that_reaches_the_wrong_pass_gives_no_trace(self):
        right = cpu.Copies.receive

        def swapped(links, source):
            right(links, source)
            return links.wiring.buffers[dataclasses.replace(source, microbatch=0)]

        with mock.patch.object(cpu.Copies, "receive", swapped), self.assertRaises(Refused) as raised:
            iterations("processes", V, (1, 1, 1, 1))
        self.assertIn("the gradients are wrong", str(raised.exception))

    def test_a_device_that_dies_is_named(self):
        def die(held, microbatch):
            os._exit(1)

        with mock.patch.object(stage.Stage, "weight_gradient", die), self.assertRaises(RuntimeError) as raised:
            iterations("processes", LINEAR, (1, 1))
        self.assertRegex(str(raised.exception), "device [01] has died")

    def test_an_error_on_a_device_is_reported(self):
        def fail(held, microbatch):
            raise ValueError("out of luck")

        for kind in ("processes", "threads"):
            with mock.patch.object(stage.Stage, "weight_gradient", fail), self.assertRaises(RuntimeError) as raised:
                iterations(kind, LINEAR, (1, 1))
            self.assertRegex(str(raised.exception), r"device [01]: (?s:.)*ValueError: out of luck")

    def test_what_is_left_over_is_an_error(self):
        def keep(held, microbatch):
            pass

        with mock.patch.object(stage.Stage, "weight_gradient", keep), self.assertRaises(RuntimeError) as raised:
            iterations("threads", LINEAR, (1, 1))
        self.assertRegex(str(raised.exception), r"device [01] still holds \d+ bytes of stages \[[01]\]")


class Cores(unittest.TestCase):
    def test_devices_get_cores_of_their_own_where_there_are_enough(self):
        cases = [
            (4, 1, {0, 1}, None),
            (2, 1, {3, 5}, [{3}, {5}]),
            (2, 2, {0, 1, 2, 3, 4}, [{0, 1}, {2, 3}]),
            (2, 2, {0, 1, 2}, None),
        ]
        for devices, threads, allowed, expected in cases:
            with mock.patch.object(os, "sched_getaffinity", lambda _, allowed=allowed: allowed):
                self.assertEqual(cpu.cores(devices, threads), expected)


class Command(unittest.TestCase):
    def test_one_command_writes_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder) / "schedule.json", pathlib.Path(folder) / "new" / "trace.json"
            certified = LINEAR.file | {"certificate": {"sha256": "..."}}
            source.write_text(json.dumps(certified))
            options = "--kind cpu --layers 1,2 --hidden 32 --heads 2 --sequence 8 --iterations 2 --warmup 1".split()
            options += ["--optimizer", "sgd"]
            command = [sys.executable, HERE / "measure.py", source, "-o", target, *options]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^trace.json: processes, makespan [\d.]+ [\d.]+ ms, peak .* MB, gradient")
            trace = json.loads(target.read_text())
            keys = "format kind machine model schedule gradient_error host_overhead iterations"
            self.assertEqual(list(trace), keys.split())
            self.assertEqual(trace["format"], "bubbleproof-trace-1")
            self.assertEqual(trace["kind"], "cpu")
            keys = "name cpu cores accelerator driver python torch devices multiprocessors threads_per_device"
            self.assertEqual(list(trace["machine"]), keys.split())
            model = {"layers": [1, 2], "hidden": 32, "heads": 2, "sequence": 8, "microbatch_size": 1}
            self.assertEqual(trace["model"], model | {"dtype": "float32"})
            self.assertEqual(trace["schedule"], LINEAR.file)
            self.assertEqual(len(trace["iterations"]), 2)
            for iteration in trace["iterations"]:
                self.assertEqual(list(iteration), ["passes", "messages", "memory", "step"])
                self.assertEqual([entry[:2] for entry in iteration["step"]], [["optimizer", 0], ["optimizer", 1]])
                self.assertEqual([[p for p, _, _ in order] for order in iteration["passes"]], LINEAR.file["orders"])
                for start in (entry[1] for order in iteration["passes"] for entry in order):
                    self.assertIsInstance(start, int)

    def test_a_standard_set_has_a_trace_for_every_schedule_size_and_run(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder) / "schedules", pathlib.Path(folder) / "traces"
            source.mkdir()
            for name, schedule in (("one-d1-m2", ONE), ("two-d2-m3", LINEAR), ("left-out", V)):
                (source / f"{name}.json").write_text(json.dumps(schedule.file))
            tiny = {"hidden": 16, "heads": 2, "sequence": 4, "microbatch_size": 1, "dtype": "float32"}
            sizes = {"cpu": {"small": tiny, "large": tiny | {"hidden": 32}}}
            command = ["measure.py", "--standard-set", str(source), "-o", str(target), "--kind", "cpu"]
            command += ["--only", "*-m?", "--runs", "2"]
            said = io.StringIO()
            with mock.patch.object(sys, "argv", command), mock.patch.object(measure.standard, "SIZES", sizes):
                with self.assertRaises(SystemExit) as ended, contextlib.redirect_stdout(said):
                    measure.main()
            self.assertEqual(ended.exception.code, 0)
            self.assertRegex(said.getvalue(), r"8 runs in \d+ s\n$")
            found = sorted(path.name for path in (target / "cpu").iterdir())
            names = [f"{n}-{s}-{run}.json" for n in ("one-d1-m2", "two-d2-m3") for s in sizes["cpu"] for run in (1, 2)]
            self.assertEqual(found, sorted(names))
            traces = [json.loads((target / "cpu" / name).read_text()) for name in found]
            self.assertEqual({sum(trace["model"]["layers"]) for trace in traces}, {measure.standard.LAYERS})
            self.assertEqual({len(trace["iterations"]) for trace in traces}, {measure.standard.ITERATIONS["cpu"][1]})

    def test_every_device_of_the_standard_set_has_at_least_two_blocks(self):
        path = pathlib.Path("v.json")
        for devices, stages, expected in ((2, 4, (2,) * 4), (4, 4, (2,) * 4), (8, 8, (2,) * 8), (8, 16, (1,) * 16)):
            placement = [list(range(device, stages, devices)) for device in range(devices)]
            schedule = mock.Mock(stages=stages, orders=placement)
            self.assertEqual(measure.standard.cut(path, schedule), expected)
        with self.assertRaisesRegex(ScheduleError, "v.json: 8 blocks are not cut evenly into 3 stages"):
            measure.standard.cut(path, mock.Mock(stages=3, orders=[[0], [1], [2]]))

    def test_refusals_have_a_status_and_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            good, stuck = pathlib.Path(folder) / "good.json", pathlib.Path(folder) / "stuck.json"
            good.write_text(json.dumps(LINEAR.file))
            stuck.write_text(json.dumps(schedule_of([[0], [1]], 1, "0B0 0F0", "1F0 1B0").file))
            target = str(pathlib.Path(folder) / "trace.json")
            number = "is not a whole number of at least"
            cases = [
                ([str(stuck)], 2, "stuck.json: device 0: `0B0` comes before `0F0`\n"),
                ([str(good), "--layers", "1,2,3"], 2, "--layers has 3 numbers, and the schedule 2 stages\n"),
                ([str(good), "--heads", "3"], 2, "3 heads do not divide the hidden size 256\n"),
                ([str(good), "--kind", "cpu", "--devices-from", "gpus"], 2, "gpus are devices of a GPU\n"),
                ([str(good), "--kind", "cuda", "--devices-from", "threads"], 2, "threads are devices of a CPU\n"),
                ([str(good), "--layers", "x"], 2, f"argument --layers: `x` {number} 1\n"),
                ([str(good), "--layers", "1,0"], 2, f"argument --layers: `0` {number} 1\n"),
                ([str(good), "--warmup", "-1"], 2, f"argument --warmup: `-1` {number} 0\n"),
            ]
            message = f"argument --seed: `-1` is not a whole number from 0 to {2**64 - 1}\n"
            cases.append(([str(good), "--seed", "-1"], 2, message))
            for option in ("hidden", "heads", "sequence", "microbatch-size", "iterations", "runs", "threads"):
                cases.append(([str(good), f"--{option}", "0"], 2, f"argument --{option}: `0` {number} 1\n"))
            for option, text in (("time-limit", "0"), ("time-limit", "inf"), ("tolerance", "nan"), ("tolerance", "x")):
                message = f"argument --{option}: `{text}` is not a number above 0\n"
                cases.append(([str(good), f"--{option}", text], 2, message))
            for arguments, status, message in cases:
                with self.subTest(arguments):
                    said = io.StringIO()
                    command = ["measure.py", *arguments, "-o", target]
                    with mock.patch.object(sys, "argv", command), contextlib.redirect_stderr(said):
                        with self.assertRaises(SystemExit) as ended:
                            measure.main()
                    # Before what it says of an option argparse shows how the command is used.
                    reason = said.getvalue().replace(f"{folder}/", "").split("measure.py: error: ")[-1]
                    self.assertEqual((ended.exception.code, reason), (status, message))
                    self.assertFalse(pathlib.Path(target).exists())

    def test_a_gpu_that_is_not_at_hand_is_refused_with_the_reason(self):
        old = "The NVIDIA driver on your system is too old\n(found version 11040)."
        for options in (["--kind", "cuda"], ["--devices-from", "streams"]):
            said = io.StringIO()
            with (
                mock.patch.object(sys, "argv", ["measure.py", "schedule.json", "-o", "trace.json", *options]),
                mock.patch.object(torch.cuda, "is_available", lambda: False),
                mock.patch.object(torch.cuda, "init", mock.Mock(side_effect=RuntimeError(old))),
                contextlib.redirect_stderr(said),
                self.assertRaises(SystemExit) as ended,
            ):
                measure.main()
            self.assertEqual(ended.exception.code, 1)
            self.assertEqual(said.getvalue(), f"no GPU is at hand: {old}\n".replace("old\n", "old "))


if __name__ == "__main__":
    unittest.main()
