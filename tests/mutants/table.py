"""Counts what became of mutants, and compares those that survived with docs/mutants.md: table.py FOLDER...

Each folder is the output of one run of cargo-mutants. The status is 1 if a mutant survived that the document does not
list.
"""

import collections
import json
import pathlib
import re
import sys

LISTED = pathlib.Path(__file__).parent.parent.parent / "docs" / "mutants.md"
FATES = {
    "CaughtMutant": "killed",
    "Timeout": "timeout",
    "Unviable": "unviable",
    "MissedMutant": "survived",
}


def part(path):
    """The row of the table that a source file is counted in."""
    pieces = pathlib.PurePosixPath(path).parts
    if pieces[0] == "crates":
        return "core: " + (pieces[3] if len(pieces) > 4 else pathlib.PurePosixPath(pieces[3]).stem)
    return "/".join(pieces[1:3])


def without_place(name):
    """The name of a mutant without line and column, which move."""
    return re.sub(r"^([^:]+):\d+:\d+: ", r"\1: ", name)


def listed():
    """The mutants that the document lists: name and number."""
    entries = collections.Counter()
    if LISTED.exists():
        for line in LISTED.read_text().splitlines():
            found = re.match(r"- `(.+?)`(?: \(×(\d+)\))?: ", line)
            if found:
                entries[found[1]] += int(found[2] or 1)
    return entries


def main():
    table = collections.defaultdict(collections.Counter)
    survivors = collections.Counter()
    where = collections.defaultdict(list)
    for folder in sys.argv[1:]:
        outcomes = pathlib.Path(folder) / "mutants.out" / "outcomes.json"
        if not outcomes.exists():
            continue
        for outcome in json.loads(outcomes.read_text())["outcomes"]:
            if outcome["scenario"] == "Baseline":
                continue
            mutant = outcome["scenario"]["Mutant"]
            fate = FATES[outcome["summary"]]
            table[part(mutant["file"])][fate] += 1
            if fate == "survived":
                name = without_place(mutant["name"])
                survivors[name] += 1
                where[name].append(mutant["name"])
    reasons = listed()
    unknown = survivors - reasons
    equivalent = survivors & reasons
    columns = ["killed", "timeout", "unviable", "equivalent", "survived"]
    print("| part | made | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * (len(columns) + 1))
    total = collections.Counter()
    rows = sorted(table)
    for row in rows:
        counts = table[row]
        made = sum(counts.values())
        here = sum(count for name, count in equivalent.items() if part(name.split(":")[0]) == row)
        counts["equivalent"] = here
        counts["survived"] -= here
        total.update(counts)
        total["made"] += made
        print(f"| {row} | {made} | " + " | ".join(str(counts[column]) for column in columns) + " |")
    print(f"| all | {total['made']} | " + " | ".join(str(total[column]) for column in columns) + " |")
    for name in sorted(unknown):
        print(f"survived: {', '.join(where[name])}")
    sys.exit(1 if unknown else 0)


main()
