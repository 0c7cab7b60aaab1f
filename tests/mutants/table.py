"""Counts what became of mutants, and compares those that survived with docs/mutants.md: table.py REPORT...

Each report is one of cargo-gamma (gamma-report.json). The status is 1 if a mutant survived that the document does not
list.
"""

import collections
import json
import pathlib
import re
import sys

LISTED = pathlib.Path(__file__).parent.parent.parent / "docs" / "mutants.md"
COLUMNS = ["killed", "timeout", "unviable", "equivalent", "survived"]


def part(path):
    """The row of the table that a source file is counted in."""
    pieces = pathlib.PurePosixPath(path).parts
    if pieces[0] == "crates":
        return "core: " + (pieces[3] if len(pieces) > 4 else pathlib.PurePosixPath(pieces[3]).stem)
    return "/".join(pieces[1:3])


def fate(mutant):
    """What became of a mutant. One that keeps the tests from ending is noticed."""
    reason = mutant.get("statusReason", "")
    if mutant["status"] == "Killed":
        return "killed"
    if mutant["status"] == "CompileError":
        return "unviable"
    if mutant["status"] == "Timeout" or reason.startswith("timed out"):
        return "timeout"
    if mutant["status"] in ("Survived", "NoCoverage"):
        return "survived"
    sys.exit(f"{mutant['description']}: {mutant['status']} {reason}")


def listed():
    """The mutants that the document lists: name and number."""
    entries = collections.Counter()
    for line in LISTED.read_text().splitlines():
        found = re.match(r"- `(.+?)`(?: \(×(\d+)\))?:(?: |$)", line)
        if found:
            entries[found[1]] += int(found[2] or 1)
    return entries


def main():
    table = collections.defaultdict(collections.Counter)
    survivors = collections.defaultdict(list)
    for report in sys.argv[1:]:
        for path, file in json.loads(pathlib.Path(report).read_text())["files"].items():
            for mutant in file["mutants"]:
                became = fate(mutant)
                table[part(path)][became] += 1
                if became == "survived":
                    # Without line and column, which move.
                    place = mutant["location"]["start"]
                    survivors[f"{path}: {mutant['description']}"].append(f"{place['line']}:{place['column']}")
    reasons = listed()
    unknown = []
    for name, places in survivors.items():
        row = table[part(name.split(":")[0])]
        known = min(reasons[name], len(places))
        row["equivalent"] += known
        row["survived"] -= known
        if known < len(places):
            unknown.append(f"survived: {name} ({', '.join(places)})")
    print("| part | made | " + " | ".join(COLUMNS) + " |")
    print("| --- |" + " ---: |" * (len(COLUMNS) + 1))
    total = collections.Counter()
    for name in sorted(table):
        total.update(table[name])
        print(f"| {name} | {table[name].total()} | " + " | ".join(str(table[name][column]) for column in COLUMNS) + " |")
    print(f"| all | {total.total()} | " + " | ".join(str(total[column]) for column in COLUMNS) + " |")
    print("\n".join(sorted(unknown)))
    sys.exit(1 if unknown else 0)


main()
