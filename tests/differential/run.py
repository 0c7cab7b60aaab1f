"""Compares the tool with programs that share no statement of the problem with it, on random small problems.

    python3 tests/differential/run.py ANSWERS BRUTE --cases 1000 --seed 1 [--tool BUBBLEPROOF]

ANSWERS is examples/differential.rs, built: the library, as its users call it. BRUTE is brute.rs, built: the best of
all orders. plain.py replays. Prints how much of what was compared; what disagrees is written to OUT, with the files
to repeat it. The exit status is 0 only if nothing disagrees and everything that was asked for was compared.
"""

import argparse
import json
import pathlib
import shutil
import sys
import threading
import time
import traceback
from collections import Counter

from case import HERE, OBJECTIVES, Case, Process


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("answers")
    parser.add_argument("brute")
    parser.add_argument("--tool", help="the tool, of which commands are run on files for one problem in a hundred")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--case", help="this one alone: its number, or a file of fixed/")
    parser.add_argument("--out", default="target/differential")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=int, default=300_000, help="choices of the exhaustive search")
    parser.add_argument("--effort", type=int, default=1_000_000)
    parser.add_argument("--exact-effort", type=int, default=1_000_000)
    parser.add_argument("--no-span", dest="span", action="store_false")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case later")
    args = parser.parse_args()
    args.objectives = OBJECTIVES if args.span else OBJECTIVES[:1]

    fixed = [(path.stem, path.read_text()) for path in sorted((HERE / "fixed").glob("*.toml"))]
    cases = fixed + [(str(number), None) for number in range(args.cases)]
    if args.case:
        cases = [each for each in fixed if each[0] == args.case] or [(args.case, None)]
    shutil.rmtree(args.out, ignore_errors=True)
    pathlib.Path(args.out).mkdir(parents=True)
    counts, faults, failures = Counter(), [], []
    begun, lock = time.monotonic(), threading.Lock()
    waiting = iter(cases)

    def record(case):
        counts.update(case.counts)
        counts["problems"] += 1
        for what, files in case.faults:
            faults.append((case.name, what))
            folder = pathlib.Path(args.out) / f"{args.seed}-{case.name}" / str(len(faults))
            folder.mkdir(parents=True)
            (folder / "model.toml").write_text(files.pop("model"))
            for key, content in files.items():
                (folder / f"{key}.json").write_text(json.dumps(content, indent=1))
            (folder / "why.txt").write_text(what + "\n")
            print(f"DISAGREEMENT in case {case.name}: {what} ({folder})", flush=True)

    def work():
        programs = None
        while True:
            with lock:
                name, text = next(waiting, (None, None))
            if name is None or time.monotonic() - begun > args.seconds:
                return
            programs = programs or (Process(args.answers), Process(args.brute))
            case = Case(args, *programs, name, text)
            try:
                case.run()
            except Exception:  # Whatever it is, it is said with the case that caused it.
                case.expect(False, traceback.format_exc())
                programs = None
            with lock:
                record(case)

    def work_or_say():
        """A thread that ends by an exception leaves the status of its program as it is."""
        try:
            work()
        except Exception:
            with lock:
                failures.append("a thread ended early")
                traceback.print_exc()

    threads = [threading.Thread(target=work_or_say) for _ in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for what, count in sorted(counts.items()):
        print(f"{count:>12,}  {what}")
    print(f"{len(faults):>12,}  disagreements (seed {args.seed}, {time.monotonic() - begun:.0f} s)")
    # That nothing disagrees says nothing where nothing was compared.
    if args.seconds == float("inf") and counts["problems"] != len(cases):
        failures.append(f"{counts['problems']} problems of {len(cases)} were compared")
    if not args.case:
        failures += [f"no optimum of the {objective} was decided" for objective in args.objectives
                     if not counts[f"optima of the {objective}"]]
    for failure in failures:
        print(f"FAILED: {failure}")
    sys.exit(1 if faults or failures else 0)


if __name__ == "__main__":
    main()
