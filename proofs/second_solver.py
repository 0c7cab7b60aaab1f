"""Asks cvc5 every question of this folder, and compares its answers with those that the files expect.

    python3 proofs/second_solver.py [FILE...]

Needs the package `cvc5` of PyPI, which carries no program; `make proofs-cvc5` installs it and runs this.
Ends with status 1 when an answer is not the one expected, or there is none within the time limit.
"""

import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cvc5

FOLDER = Path(__file__).resolve().parent
LIMIT_MS = 300_000
STATUS = re.compile(r"^\(set-info :status (sat|unsat)\)$", re.MULTILINE)


def ask(path):
    """The expected answer, that of cvc5, and the seconds it took."""
    text = path.read_text(encoding="utf-8")
    found = STATUS.search(text)
    expected = found.group(1) if found else "no status"
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", str(LIMIT_MS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, path.name)
    symbols = parser.getSymbolManager()
    start = time.monotonic()
    answers = []
    try:
        while not (command := parser.nextCommand()).isNull():
            said = command.invoke(solver, symbols).strip()
            if said:
                answers.append(said)
    except RuntimeError as error:
        answers.append(str(error))
    # A file has one question, and nothing else in it is answered.
    return expected, " ".join(answers) or "nothing", time.monotonic() - start


def main():
    paths = [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.rglob("*.smt2"))
    start = time.monotonic()
    wrong, times = 0, []
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        for path, (expected, answer, seconds) in zip(paths, workers.map(ask, paths)):
            times.append((seconds, path))
            if answer != expected:
                wrong += 1
                print(f"{path}: {answer}, where {expected} is expected", flush=True)
    for seconds, path in sorted(times, reverse=True)[:10]:
        print(f"{seconds:7.2f} s  {path.relative_to(FOLDER) if path.is_relative_to(FOLDER) else path}")
    total = time.monotonic() - start
    print(f"cvc5 {cvc5.__version__}: {len(paths)} files, {wrong} disagreements, {total:.1f} s")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
