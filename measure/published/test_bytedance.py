"""The converter of ByteDance's tables: what it makes of a run that is small enough to follow, and what it refuses."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from bytedance import TableError, by_replica, convert, nanoseconds

COLUMNS = ["dp_rank", "stage", "step", "optype", "seq_id", "mb_id", "mc", "start_ts", "duration"]

# Two stages, one microbatch. Stage 1 is ready to receive from 0.5 on, and receives until 1.25.
ROWS = [
    (0, 0, 7, "params-all-gather", 0, -1, -1, 0.0, 0.25),
    (0, 0, 7, "forward-compute", 0, 0, 0, 0.25, 0.75),
    (0, 0, 7, "forward-send", 0, -1, -1, 1.0, 0.25),
    (0, 0, 7, "backward-recv", 0, -1, -1, 1.25, 1.5),
    (0, 0, 7, "backward-compute", 0, 0, 0, 2.75, 1.0),
    (0, 0, 7, "gc", 0, 0, -1, 3.75, 0.0),
    (0, 0, 7, "optimizer", 0, -1, -1, 3.75, 0.5),
    (0, 1, 7, "forward-recv", 0, -1, -1, 0.5, 0.75),
    (0, 1, 7, "forward-compute", 0, 0, 0, 1.25, 0.5),
    (0, 1, 7, "backward-compute", 0, 0, 0, 1.75, 0.5),
    (0, 1, 7, "backward-send", 0, -1, -1, 2.25, 0.5),
]


def rows(table=None) -> list[dict]:
    return [dict(zip(COLUMNS, row)) for row in table or ROWS]


def converted(table=None) -> tuple[dict, list[str]]:
    content, notes = convert(by_replica(rows(table))[0], {"name": "a test"}, "1f1b")
    return json.loads(content), notes


class Conversion(unittest.TestCase):
    def test_passes_messages_and_the_step_are_those_of_the_table(self):
        trace, notes = converted()
        self.assertEqual(trace["kind"], "gpu")
        self.assertEqual(trace["schedule"]["placement"], [[0], [1]])
        self.assertEqual(trace["schedule"]["orders"], [["0F0", "0B0"], ["1F0", "1B0"]])
        (only,) = trace["iterations"]
        second = 1_000_000_000
        self.assertEqual(only["passes"][0], [["0F0", second // 4, second], ["0B0", 11 * second // 4, 15 * second // 4]])
        # The send began at 1, the receive at 0.5; the gradient's at 2.25 and 1.25.
        expected = [["0F0", 1, second, 5 * second // 4], ["1B0", 0, 9 * second // 4, 11 * second // 4]]
        self.assertEqual(only["messages"], expected)
        self.assertEqual([part[:2] for part in only["step"]], [["gather", 0], ["optimizer", 0]])
        self.assertEqual(notes, ["1 operations `gc` left out"])

    def test_seconds_are_read_as_they_are_written(self):
        cases = [("0.848672", 848_672_000), (0.1, 100_000_000), ("1e-9", 1), ("0.0000000005", 1), ("0.00000000049", 0)]
        for seconds, expected in cases:
            with self.subTest(seconds):
                self.assertEqual(nanoseconds(seconds), expected)

    def test_a_transfer_without_its_other_end_is_counted_and_is_no_message(self):
        trace, notes = converted([row for row in ROWS if row[3] != "forward-recv"])
        self.assertEqual([message[0] for message in trace["iterations"][0]["messages"]], ["1B0"])
        self.assertIn("1 transfers without their other end left out", notes)


class Refusals(unittest.TestCase):
    def test_a_table_that_is_no_run_is_refused_with_its_place(self):
        def changed(at: int, **cells) -> list[dict]:
            table = rows()
            table[at].update(cells)
            return table

        without = [{key: value for key, value in row.items() if key != "optype"} for row in rows()]
        cases = [
            ([], "the table has no rows"),
            (without, "it has no column `optype`"),
            (changed(1, optype="forward"), "row 2: `forward` is no operation of these tables"),
            (changed(1, duration=-0.5), "row 2: `forward-compute` starts at 250000000 ns and takes -500000000 ns"),
            (changed(1, start_ts=""), "row 2: a number is missing or is none"),
            (changed(1, start_ts="NaN"), "row 2: a number is missing or is none"),
            (changed(1, mc=1), "row 2: chunk 1 of a stage"),
            (rows()[:4] + rows()[5:], "step 7: stage 0: B of microbatch 0 is there 0 times"),
            (rows() + rows()[8:9], "step 7: stage 1: F of microbatch 0 is there 2 times"),
            (rows() + rows()[7:8], "step 7: two transfers of a stage have the same type and `seq_id`"),
            (rows()[:1], "there are no passes"),
        ]
        for table, message in cases:
            with self.subTest(message), self.assertRaises(TableError) as raised:
                convert(by_replica(table)[0], {"name": "a test"}, "1f1b")
            self.assertIn(message, str(raised.exception))


class Command(unittest.TestCase):
    def run_on(self, path: pathlib.Path, *more: str) -> subprocess.CompletedProcess:
        script = pathlib.Path(__file__).with_name("bytedance.py")
        command = [sys.executable, script, path, "-o", path.with_name("out"), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_each_replica_becomes_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.csv"
            with path.open("w", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(COLUMNS)
                writer.writerows(ROWS + [(1, *row[1:]) for row in ROWS])
            ran = self.run_on(path, "--steps", "7")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            first, second = (json.loads(path.with_name(f"out-dp{rank}.json").read_text()) for rank in range(2))
            self.assertEqual(first, second)
            ran = self.run_on(path, "--steps", "8")
            self.assertEqual(ran.returncode, 2)
            self.assertIn("data-parallel rank 0 has no step 8", ran.stderr)

    def test_parquet_is_read_as_the_same_table(self):
        # Of all tests this one alone needs it; `make measure-test` installs it.
        import pyarrow
        import pyarrow.parquet

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.parquet"
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows()), path)
            ran = self.run_on(path)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(json.loads(path.with_name("out-dp0.json").read_text())["iterations"], converted()[0]["iterations"])
            path.write_bytes(b"PAR1 and no more")
            ran = self.run_on(path)
            self.assertEqual(ran.returncode, 2)
            self.assertIn("this is not Parquet", ran.stderr)


if __name__ == "__main__":
    unittest.main()
