"""What the host enqueues for GPUs, on simulated streams: all that must wait does, and nothing else."""

import contextlib
import gc
import io
import types
import unittest
from unittest import mock

import torch

import gate
import gpu
import green
import simulated
from iteration import lateness
from replicas import Replicas
from run import Bench
from schedule import Pass, ScheduleError, start_order
from simulated import Queues, Simulated, absent, driver
from test_layers import living, schedule_of, small
from transformer import Transformer

LINEAR = schedule_of([[0], [1]], 2, "0F0 0F1 0I0 0W0 0I1 0W1", "1F0 1I0 1F1 1I1 1W0 1W1")
V = schedule_of([[0, 3], [1, 2]], 2, "0F0 0F1 3F0 3B0 3F1 3B1 0B0 0B1", "1F0 2F0 1F1 2F1 2B0 1B0 2B1 1B1")


def quietly(machine: gpu.Machine, schedule, sizes, count=1):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        return Bench(machine).run(schedule, sizes, 1, count), said.getvalue()


class Enqueued(unittest.TestCase):
    def executor(self, simulated: Simulated, how: str, schedule, layers, optimizer=None) -> gpu.Executor:
        machine = gpu.Machine(how, 60.0)
        sizes = small(layer_counts=layers)
        (homes,) = machine.homes(sizes, schedule)
        model = Transformer(sizes, schedule.microbatches, machine.allocate, homes)
        return machine.executor(schedule, Replicas([model]), optimizer)

    def test_every_wait_of_the_schedule_is_a_wait_of_the_streams(self):
        for how, gpus in (("streams", 1), ("gpus", 2), ("green-contexts", 1)):
            for schedule, layers in ((LINEAR, (1, 1)), (V, (1, 1, 1, 1))):
                with self.subTest(how=how, stages=len(layers)):
                    simulated = Simulated(gpus, driver(132, 8))
                    with simulated.installed():
                        executor = self.executor(simulated, how, schedule, layers)
                        executor.iterate()
                        self.check(simulated, executor, schedule)

    def check(self, simulated: Simulated, executor: gpu.Executor, schedule) -> None:
        start = {p: begun.at for device in executor.devices for p, begun, _ in device.notes}
        end = {p: ended.at for device in executor.devices for p, _, ended in device.notes}
        copies = {p: (begun.at, ended.at) for p, begun, ended in executor.pipelines[0].links.notes}
        self.assertEqual(set(start), {p for order in schedule.orders for p in order})
        self.assertEqual(set(copies), {p for p, _, _ in schedule.messages()})
        for order in schedule.orders:
            for before, after in zip(order, order[1:]):
                self.assertTrue(simulated.follows(start[after], end[before]), f"{before} {after}")
        for p in start:
            source = schedule.source(p)
            if source in copies:
                begun, ended = copies[source]
                self.assertLess(begun, ended)
                self.assertTrue(simulated.follows(begun, end[source]), f"the copy of {source}")
                self.assertTrue(simulated.follows(start[p], ended), f"{p} after the copy of {source}")
            elif source is not None:
                self.assertTrue(simulated.follows(start[p], end[source]))
        # Nothing else waits: passes of different devices that no chain joins are free of each other.
        first, second = schedule.orders[0][1], schedule.orders[1][0]
        self.assertFalse(simulated.follows(start[first], end[second]))

    def test_optimiser_steps_follow_the_passes_of_their_device(self):
        simulated = Simulated()
        with simulated.installed():
            executor = self.executor(simulated, "streams", V, (1, 1, 1, 1), "sgd")
            (iteration,) = executor.iterate()
            steps = {stage: (begun.at, ended.at) for d in executor.devices for _, stage, begun, ended in d.steps}
            last = [device.notes[-1][2].at for device in executor.devices]
        self.assertEqual([entry[:2] for entry in iteration.step], [("optimizer", stage) for stage in range(4)])
        for device, stages in enumerate(([3, 0], [2, 1])):
            before = last[device]
            for stage in stages:
                begun, ended = steps[stage]
                self.assertTrue(simulated.follows(begun, before))
                self.assertTrue(simulated.follows(ended, begun))
                before = ended

    def test_a_copy_does_not_hold_up_the_device_that_sends(self):
        simulated = Simulated()
        with simulated.installed():
            executor = self.executor(simulated, "streams", LINEAR, (1, 1))
            executor.iterate()
            starts = {p: begun.at for p, begun, _ in executor.devices[0].notes}
            copied = {p: ended.at for p, _, ended in executor.pipelines[0].links.notes}
        self.assertFalse(simulated.follows(starts[Pass(0, "F", 1)], copied[Pass(0, "F", 0)]))

    def test_the_gate_holds_every_device_and_lasts_as_long_as_the_host_took(self):
        simulated = Simulated()
        with simulated.installed():
            executor = self.executor(simulated, "streams", LINEAR, (1, 1))
            executor.iterate()
            self.assertTrue(0 < executor.gate.seconds <= gate.LONGEST_GATE)
            executor.gate.seconds = 0.25
            slept = simulated.slept
            bases = executor.gate.close()
            (opened,) = bases.values()
            self.assertEqual(simulated.slept - slept, int(0.25 * executor.gate.rate))
            for stream in executor.streams:
                self.assertIn(opened.at, stream.tail)

    def test_the_gate_is_not_longer_because_the_host_waited_for_it(self):
        ahead = [1_000_000] * 100
        waited = [1_000_000] * 60 + [9_000_000] * 40
        self.assertEqual(gate.gate_time(ahead), gate.gate_time(waited))
        self.assertAlmostEqual(gate.gate_time(ahead), 0.12)
        self.assertEqual(gate.gate_time([9_000_000] * 100), gate.LONGEST_GATE)

    def test_runs_share_their_streams(self):
        simulated = Simulated()
        with simulated.installed():
            machine = gpu.Machine("streams", 60.0)
            bench = Bench(machine)
            for _ in range(3):
                bench.run(LINEAR, small(), 1, 1)
                # Those of two devices, of a link in each direction, of the gate, and PyTorch's own.
                self.assertEqual(simulated.made, 2 + 2 + 1 + 1)

    def test_results_stay_in_memory_until_the_iteration_has_ended(self):
        simulated = Simulated()
        with simulated.installed():
            executor = self.executor(simulated, "streams", LINEAR, (1, 1))
            executor.iterate()
            self.assertEqual(len(executor.pipelines[0].links.sent), len(LINEAR.messages()))
            executor.begin()
            self.assertEqual(executor.pipelines[0].links.sent, [])


class Traces(unittest.TestCase):
    def test_a_run_gives_right_gradients_and_times_that_respect_the_schedule(self):
        for how, gpus in (("streams", 1), ("gpus", 2)):
            with self.subTest(how=how), Simulated(gpus).installed():
                run, _ = quietly(gpu.Machine(how, 60.0), LINEAR, small(), 2)
                for iteration in run.iterations:
                    self.assertEqual([[p for p, _, _ in order] for order in iteration.passes], LINEAR.orders)
                    self.assertEqual(len(iteration.messages), len(LINEAR.messages()))

    def test_memory_that_the_allocator_does_not_confirm_is_left_out(self):
        """The bytes that all tensors asked for confirm it; a scalar more does not, nor the blocks they lie in."""

        def blocks(made):
            return sum(2**20 + size for size in made)

        def scalars(made):
            return sum(made) + 4 * len(made)

        for requested, agrees in ((sum, True), (scalars, False), (blocks, False), (lambda made: 0, False)):

            def stats(device, requested=requested):
                made = dict(living()).values()
                return {"requested_bytes.all.current": requested(made), "allocated_bytes.all.current": blocks(made)}

            with Simulated().installed(), mock.patch.object(torch.cuda, "memory_stats", stats):
                run, _ = quietly(gpu.Machine("streams", 60.0), LINEAR, small())
            self.assertEqual(run.iterations[0].memory is not None, agrees)
            self.assertIn("apart", run.remarks[0])

    def test_what_is_expected_is_what_all_tensors_asked_for(self):
        """To the byte, after every pass: what exists beyond the model and what was made beforehand."""
        for how, gpus in (("streams", 1), ("gpus", 2)):
            for schedule, layers in ((LINEAR, (1, 1)), (V, (1, 1, 1, 1))):
                with self.subTest(how=how, stages=len(layers)), Simulated(gpus).installed():
                    machine = gpu.Machine(how, 60.0)
                    sizes = small(layer_counts=layers)
                    (homes,) = machine.homes(sizes, schedule)
                    model = Transformer(sizes, schedule.microbatches, machine.allocate, homes)
                    executor = machine.executor(schedule, Replicas([model]))
                    executor.begin()
                    # What is frozen is left out from then on.
                    gc.collect()
                    gc.freeze()
                    self.addCleanup(gc.unfreeze)
                    seen = []

                    def compare(executor=executor, seen=seen):
                        gc.collect()
                        seen.append((executor.expected(), sum(dict(living()).values())))

                    executor.iterate(compare)
                    self.assertEqual(len(seen), sum(map(len, schedule.orders)))
                    self.assertEqual([expected for expected, _ in seen], [made for _, made in seen])
                    self.assertGreater(max(seen), (0, 0))

    def test_a_deadlock_is_refused_before_anything_is_enqueued(self):
        stuck = schedule_of([[0], [1]], 2, "0F0 0I0 0F1 0I1 0W0 0W1", "1F0 1F1 1I0 1I1 1W0 1W1")
        with Simulated().installed(), self.assertRaises(ScheduleError) as raised:
            quietly(gpu.Machine("streams", 60.0), stuck, small())
        self.assertEqual(
            str(raised.exception), "deadlock: device 0 waits with `0I0` for `1I0`, device 1 waits with `1F1` for `0F1`"
        )


class Groups(unittest.TestCase):
    def test_groups_are_as_large_as_the_gpu_can_separate(self):
        for multiprocessors, granularity, count, expected in ((132, 8, 4, 32), (132, 2, 4, 32), (108, 2, 2, 54)):
            with Simulated(1, driver(multiprocessors, granularity)).installed():
                groups = green.split(0, count)
            self.assertEqual([group.multiprocessors for group in groups], [expected] * count)

    def test_what_cannot_be_split_is_said_and_the_next_way_is_taken(self):
        lacking = "cuDevSmResourceSplitByCount"
        cases = [
            (None, "the package cuda-bindings is missing"),
            (driver(132, 8, **{lacking: None}), "the package cuda-bindings is too old for green contexts ("),
            (driver(132, 8, **{lacking: absent(lacking)}), f"do not work here (Function {lacking} not found)"),
            (driver(16, 8), "CUDA does not split 16 multiprocessors into 4 groups"),
            (driver(132, 8, cuGreenCtxCreate=lambda *_: (801, None)), "the driver says 801"),
        ]
        for broken, message in cases:
            with self.subTest(message=message), Simulated(1, broken).installed():
                self.check_refused(message)

    def test_a_stream_of_a_group_that_cannot_be_used_is_refused(self):
        """Where events and streams of a group do not go with plain ones, or kernels cannot be timed."""

        def fail(*_):
            raise RuntimeError("invalid resource handle")

        cases = [
            (simulated.Event, "record", fail, "do not work here (invalid resource handle)"),
            (simulated.Stream, "wait_event", fail, "do not work here (invalid resource handle)"),
            (simulated.Event, "elapsed_time", fail, "do not work here (invalid resource handle)"),
            (simulated.Event, "elapsed_time", lambda *_: 0.0, "events say that a kernel on a group took 0.0 ms"),
        ]
        for kind, name, broken, message in cases:
            with self.subTest(name), Simulated(1, driver(132, 8)).installed(), mock.patch.object(kind, name, broken):
                self.check_refused(message)

    def check_refused(self, message: str) -> None:
        with self.assertRaises(green.Unavailable) as raised:
            green.split(0, 4)
        self.assertIn(message, str(raised.exception))
        machine = gpu.Machine("auto", 60.0)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(machine.places(4).how, "streams")
        self.assertIn("devices are not gpus: 4 GPUs are needed, 1 at hand", said.getvalue())
        self.assertIn(message, said.getvalue())

    def test_the_stream_of_a_group_and_a_plain_one_are_seen_to_wait_for_each_other(self):
        machine = Simulated(1, driver(132, 8))
        with machine.installed():
            groups = green.split(0, 4)
            self.assertEqual(machine.slept, 4 * 100_000)
            for earlier, later in zip(groups, groups[1:]):
                (before,), (after,) = earlier.stream.tail, later.stream.tail
                self.assertTrue(machine.follows(after, before))

    def test_groups_share_no_hardware_queues_where_that_can_be_asked_for(self):
        queues = Queues(132, 8)
        with Simulated(1, queues.driver).installed():
            groups = green.split(0, 4)
        self.assertEqual([group.multiprocessors for group in groups], [32] * 4)
        self.assertEqual([len(parts) for parts in queues.made], [2] * 4)
        asked = [(own.wqConfig.sharingScope, own.wqConfig.wqConcurrencyLimit) for _, own in queues.made]
        self.assertEqual(asked, [(1, 1)] * 4)

    def test_groups_are_made_without_queues_of_their_own_where_these_cannot_be_had(self):
        kinds = types.SimpleNamespace(CU_DEV_RESOURCE_TYPE_SM=1)
        sms = driver(132, 8).cuDeviceGetDevResource
        cases = [
            ("old bindings", {"CUdevResourceType": kinds}),
            ("no scopes", {"CUdevWorkqueueConfigScope": None}),
            ("old driver", {"cuDeviceGetDevResource": lambda gpu, kind: sms(gpu, 1) if kind == 1 else (1, None)}),
            ("no description", {"cuDevResourceGenerateDesc": lambda parts, n: (0, parts) if n == 1 else (801, None)}),
        ]
        for name, broken in cases:
            queues = Queues(132, 8, **broken)
            with self.subTest(name), Simulated(1, queues.driver).installed():
                groups = green.split(0, 4)
                self.assertEqual([group.multiprocessors for group in groups], [32] * 4)
                self.assertEqual([len(parts) for parts in queues.made], [1] * 4)

    def test_a_way_that_was_asked_for_is_not_replaced(self):
        with Simulated(1).installed(), self.assertRaises(green.Unavailable):
            gpu.Machine("green-contexts", 60.0).places(2)


class Lateness(unittest.TestCase):
    def test_the_host_is_late_for_as_long_as_a_device_could_have_worked(self):
        a, b = Pass(0, "F", 0), Pass(0, "F", 1)
        passes = [(a, 0, 10), (b, 20, 30)]
        cases = [
            ("far ahead", {a: -50, b: -40}, {a: 0, b: 0}, 0),
            ("ahead of a message", {a: -50, b: 15}, {a: 0, b: 20}, 0),
            ("late for the second", {a: -50, b: 19}, {a: 0, b: 0}, 9),
            ("late while a pass runs", {a: 4, b: 5}, {a: 0, b: 0}, 4),
            ("never later than the end of the pass", {a: 99, b: 99}, {a: 0, b: 0}, 10 + 20),
        ]
        for name, enqueued, arrivals, late in cases:
            with self.subTest(name):
                self.assertEqual(lateness(passes, arrivals, enqueued), late)


class Order(unittest.TestCase):
    def test_the_host_serves_devices_at_one_pace(self):
        """The position of a pass is about its start on devices that take one tick for each."""
        self.assertEqual(" ".join(map(str, start_order(LINEAR))), "0F0 0F1 1F0 1I0 0I0 1F1 0W0 1I1 0I1 1W0 0W1 1W1")


if __name__ == "__main__":
    unittest.main()
