"""What is refused before anything runs, and the order in which a host starts passes."""

import json
import pathlib
import tempfile
import unittest

import schedule as schedules
from schedule import ScheduleError, check, of, read, start_order
from test_layers import schedule_of


class Refusals(unittest.TestCase):
    def test_a_schedule_that_cannot_be_run_is_refused_with_its_reason(self):
        cases = [
            ("0F0 0I0 1F0 1I0 1W0", "stage 0 runs `FI` for microbatch 0, not F and then I, W or B"),
            ("0F0 1F0 1I0 0I0 0B0 1W0 0W0", "stage 0 runs `FIBW` for microbatch 0, not F and then I, W or B"),
            ("0F0 1F0 1B0", "stage 0 runs `F` for microbatch 0, not F and then I, W or B"),
            ("0F0 1F0 1I0 0W0 0I0 1W0", "device 0: `0W0` comes before `0I0`"),
            ("0F0 1F0 1B0 0B0 0R0", "device 0: `0B0` comes before `0R0`"),
            ("0F0 0F0 1F0 1B0 0B0", "device 0, position 1: `0F0` runs a second time"),
            ("0F0 1F0 1B0 0B0 2F0", "device 0, position 4: `2F0` does not belong here"),
            ("0F0 1F0 1B0 0B0 0F1", "device 0, position 4: `0F1` does not belong here"),
            ("0F0 (1F0;1B0) 0B0", "overlapped pairs such as `(1F0;1B0)` cannot be measured: passes run one at a time"),
            ("0F0 1X0", "`1X0` is no pass"),
        ]
        for order, message in cases:
            with self.subTest(order), self.assertRaises(ScheduleError) as raised:
                check(schedule_of([[0, 1]], 1, order))
            self.assertEqual(str(raised.exception), message)

    def test_two_directions_are_refused(self):
        with self.assertRaises(ScheduleError) as raised:
            schedule_of([[0]], 1, "0F0 0B0", directions=2)
        self.assertIn("two directions", str(raised.exception))

    def test_a_placement_that_is_none_is_refused(self):
        for placement in ([[0, 2]], [[0], [1]], [[0, 0]]):
            with self.subTest(placement), self.assertRaises(ScheduleError):
                check(schedule_of(placement, 1, "0F0 0B0"))

    def test_files_that_are_no_schedules_are_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "file.json"
            for text in ("[]", "{", '{"format": "bubbleproof-schedule-2"}', json.dumps({"format": schedules.FORMAT})):
                path.write_text(text)
                with self.subTest(text), self.assertRaises(ScheduleError) as raised:
                    read(path)
                self.assertIn("file.json", str(raised.exception))

    def test_a_deadlock_names_who_waits_for_whom(self):
        stuck = schedule_of([[0, 3], [1, 2]], 1, "0F0 3F0 3B0 0B0", "2F0 1F0 2B0 1B0")
        check(stuck)
        with self.assertRaises(ScheduleError) as raised:
            start_order(stuck)
        message = "deadlock: device 0 waits with `3F0` for `2F0`, device 1 waits with `2F0` for `1F0`"
        self.assertEqual(str(raised.exception), message)


class Orders(unittest.TestCase):
    def test_every_pass_comes_once_after_the_one_it_takes_from_and_in_the_order_of_its_device(self):
        for schedule in STANDARD:
            order = start_order(schedule)
            self.assertEqual(len(order), len(set(order)))
            at = {p: position for position, p in enumerate(order)}
            for passes in schedule.orders:
                self.assertEqual(sorted(passes, key=at.get), passes)
            for p in order:
                source = schedule.source(p)
                self.assertTrue(source is None or at[source] < at[p])

    def test_a_message_for_every_result_that_leaves_its_device(self):
        looped = of(
            {
                "format": schedules.FORMAT,
                "placement": [[0, 2], [1, 3]],
                "microbatches": 1,
                "orders": [["0F0", "2F0", "2I0", "2W0", "0B0"], ["1F0", "3F0", "3B0", "1B0"]],
            }
        )
        found = [(str(p), sender, receiver) for p, sender, receiver in looped.messages()]
        self.assertEqual(
            found, [("0F0", 0, 1), ("2F0", 0, 1), ("2I0", 0, 1), ("1F0", 1, 0), ("3B0", 1, 0), ("1B0", 1, 0)]
        )


FOLDER = pathlib.Path(__file__).parent / "schedules"

STANDARD = [read(path) for path in sorted(FOLDER.glob("*.json"))]


class Standard(unittest.TestCase):
    def test_the_standard_set_has_six_schedules_for_each_number_of_devices(self):
        for devices in (2, 4):
            found = [s for s in STANDARD if len(s.orders) == devices]
            names = {path.stem for path in FOLDER.glob(f"*-d{devices}-*.json")}
            expected = {"1f1b", "zb-h1", "v-min", "v-half", "v-zb", "optimised"}
            self.assertEqual(names, {f"{name}-d{devices}-m16" for name in expected})
            self.assertEqual({s.microbatches for s in found}, {16})


if __name__ == "__main__":
    unittest.main()
