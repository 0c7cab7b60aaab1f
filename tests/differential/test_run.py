"""That a run which compared nothing, or too little, is not taken for one in which nothing disagreed.

    python3 -m unittest discover -s tests/differential
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import case
import run

FIXED = len(list((run.HERE / "fixed").glob("*.toml")))
DECIDED = {f"optima of the {objective}": 1 for objective in run.OBJECTIVES}


def status(*options, compare=None, process=lambda path: path):
    """The exit status of a run, and what it prints. `compare` stands for what is compared of a problem."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        out = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        words = ["run.py", "/nonexistent/answers", "/nonexistent/brute", "--out", str(pathlib.Path(folder) / "out"), *options]
        stack.enter_context(mock.patch.object(sys, "argv", words))
        if compare:
            stack.enter_context(mock.patch.object(run.Case, "run", compare))
            stack.enter_context(mock.patch.object(run, "Process", process))
        try:
            run.main()
        except SystemExit as end:
            return end.code, out.getvalue()
        return None, out.getvalue()


def decides(case):
    case.counts.update(DECIDED)


class ExitStatus(unittest.TestCase):
    def test_all_compared_and_optima_decided(self):
        code, said = status("--cases", "3", compare=decides)
        self.assertEqual((code, "FAILED" in said), (0, False), said)

    def test_programs_that_cannot_be_started(self):
        code, said = status("--cases", "3")
        self.assertEqual(code, 1)
        self.assertIn(f"FAILED: 0 problems of {3 + FIXED} were compared", said)

    def test_programs_that_cannot_be_started_again(self):
        begun = []

        def process(path):
            begun.append(path)
            if len(begun) > 2:
                raise OSError("gone")
            return path

        def breaks(case):
            raise RuntimeError("no answer")

        code, said = status("--cases", "3", "--jobs", "1", compare=breaks, process=process)
        self.assertEqual(code, 1)
        self.assertIn("DISAGREEMENT", said)
        self.assertIn(f"FAILED: 1 problems of {3 + FIXED} were compared", said)

    def test_a_problem_that_cannot_be_read(self):
        with mock.patch.object(case.problems, "make_problem", side_effect=ValueError("a defect of the generator")):
            code, said = status("--cases", "1", compare=decides)
        self.assertEqual(code, 1)
        self.assertIn("FAILED: a thread ended early", said)

    def test_no_optimum_decided(self):
        for objective in run.OBJECTIVES:
            def decides_the_other(case, left_out=objective):
                case.counts.update({name: 1 for name in DECIDED if not name.endswith(left_out)})

            code, said = status("--cases", "3", compare=decides_the_other)
            self.assertEqual(code, 1)
            self.assertIn(f"FAILED: no optimum of the {objective} was decided", said)

    def test_no_time_for_any_case(self):
        self.assertEqual(status("--cases", "3", "--seconds", "0", compare=decides)[0], 1)

    def test_one_case_that_has_no_optimum(self):
        self.assertEqual(status("--case", "7", compare=lambda case: None)[0], 0)

    def test_a_disagreement(self):
        def disagrees(case):
            decides(case)
            case.expect(False, "made up")

        self.assertEqual(status("--cases", "1", compare=disagrees)[0], 1)


if __name__ == "__main__":
    unittest.main()
