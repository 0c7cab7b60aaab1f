#!/usr/bin/env python3
"""Compares the checker extracted from Rocq with `bubbleproof check`: agree.py --checker PROGRAM --bubbleproof PROGRAM

Three kinds of files are given to both: every file of the repository that has a certificate; with --grid N, certificates of N
small random problems that `bubbleproof optimize` solves; and --cases copies of all these, each altered in one or two places at
random. Most altered copies get new digests, so that deeper checks are reached. Both programs must end with the same status,
unless the extracted checker says that something is not covered; and what it accepts, `bubbleproof check` must call
machine-checked, every claim that it derives again. Ends with status 1 when they disagree anywhere, and keeps the files in
question in the folder of --keep."""

import argparse
import collections
import concurrent.futures
import copy
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ["tests/corpus", "tests/data", "tests/traces", "models/plans", "measure/schedules"]
NOT_COVERED = 5
KEYS = {key: place for place, key in enumerate(
    """format problem_sha256 problem schedule_sha256 objective metrics makespan device_span bubble_rate idle_rate peak_memory
    bound value reason device devices repetition after period growth link length end work idle span first last head tail held turn
    optimality engine none_below job choice pipeline tensor microbatch_size placement saving recompute offload data microbatches
    cut no_cut_below searched no_plan_below""".split())}


# Digests


def in_order(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: KEYS.get(key, 999))
        return {key: in_order(value[key]) for key in keys}
    return [in_order(one) for one in value] if isinstance(value, list) else value


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def redigest(file):
    """New digests of an altered file, as far as it still has the form of one."""
    try:
        certificate = file["certificate"]
        statement = certificate["statement"]
        statement["problem_sha256"] = digest(statement["problem"])
        essence = [file["placement"], file["microbatches"], file["orders"]]
        statement["schedule_sha256"] = digest(compact(essence))
        certificate["sha256"] = digest(compact(in_order(statement)))
    except (KeyError, TypeError, AttributeError):
        pass


# A problem read back, for reasons with the right figures


class Problem:
    def __init__(self, file):
        text = file["certificate"]["statement"]["problem"]
        if re.search(r"\[(overlap|messages|step|offload|recompute|sharding)\]|workspace|receive|low =", text):
            raise ValueError("not plain")
        self.lists, self.m = file["placement"], file["microbatches"]
        stages = sum(map(len, self.lists))
        self.on = {stage: device for device, held in enumerate(self.lists) for stage in held}

        def values(key, size, otherwise):
            found = re.search(rf"^{key} = (.*)$", text, re.M)
            read = json.loads(found[1].replace('"none"', "null")) if found else otherwise
            return read if isinstance(read, list) else [read] * size

        self.f, self.i, self.w = (values(key, stages, 0) for key in ("forward", "backward_input", "backward_weight"))
        between = values("communication", stages - 1, 0)
        self.between = [0 if self.on[s] == self.on[s + 1] else between[s] for s in range(stages - 1)]
        self.activation = values("activation", stages, 1)
        self.retained = values("retained_for_weight", stages, 1)
        weights = values("weights", stages, 0)
        limits = values("capacity", len(self.lists), None)
        self.room = [None if limit is None else limit - sum(weights[s] for s in held) for limit, held in zip(limits, self.lists)]
        self.head = [0]
        for s in range(stages - 1):
            self.head.append(self.head[s] + self.f[s] + self.between[s])
        self.input = [0] * (stages - 1) + [self.head[-1] + self.f[-1]]
        for s in reversed(range(stages - 1)):
            self.input[s] = self.input[s + 1] + self.i[s + 1] + self.between[s]
        ends = [self.input[s] + self.i[s] + self.w[s] for s in range(stages)]
        self.latest = [max(ends[: s + 1]) for s in range(stages)]

    def reason(self, chance, objective):
        """A reason that is none of those that are best, with its value."""
        device = chance.randrange(len(self.lists))
        held, m = sorted(self.lists[device]), self.m
        low, high = held[0], held[-1]
        span = objective == "device_span"
        work = sum(self.f[s] + self.i[s] + self.w[s] for s in held) * m
        head = 0 if span else self.head[low]
        end = [self.input[s] + self.i[s] for s in range(len(self.f))]
        lag = [self.input[s] - self.head[high] - self.f[high] for s in range(len(self.f))]
        to_weight = max(lag[s] + self.i[s] + self.w[s] for s in held)
        tail = to_weight if span else self.latest[-1] - self.head[high] - self.f[high]
        kind = chance.choice(["alone", "work", "chain", "windows", "area", "turnover"])
        if kind == "alone":
            return "alone", 0 if span else self.latest[-1]
        if kind == "work":
            return {"work": {"device": device, "work": work, "head": head, "tail": 0}}, head + work
        if kind == "chain":
            without = work - sum(self.w[s] for s in held) * m
            after = min(self.w[s] if span else self.latest[s] - end[s] for s in held)
            figures = {"device": device, "work": without, "head": head, "tail": after}
            return {"chain": figures}, head + without + after
        room = self.room[device]
        if kind == "area" and room:
            area = sum(self.activation[s] * (end[s] - self.head[s]) + self.retained[s] * self.w[s] for s in held) * m
            return {"area": {"device": device}}, head - (-area // room)
        if kind == "turnover" and room is not None:
            until_weight = chance.random() < 0.5
            unit = min(min(self.activation[s], self.retained[s]) if until_weight else self.activation[s] for s in held)
            if unit > 0:
                q, over = divmod(room // unit, len(held))
                ended = len(held) - over
                back = [self.i[s] + (self.w[s] if until_weight else 0) for s in held]
                several = lag[high] + min(back) * ended + min(self.f[s] for s in held) * (ended - 1)
                turn = self.f[high] + max(several, min(lag[s] + b for s, b in zip(held, back)))
                if q > 0:
                    start = self.head[high] - (self.head[low] if span else 0)
                    value = start + turn * ((m - 1) // q) + self.f[high] * ((m - 1) % q + 1) + tail
                    return {"turnover": {"device": device, "held": q, "turn": turn}}, value
        first = chance.choice([(head, 0), (self.input[high] - (self.head[low] if span else 0), None)])
        last = chance.choice([(0, 0), (tail, None)])
        if first[1] is None:
            first = (first[0], self.fill(device, [(self.f[s], self.activation[s]) for s in held],
                                         sum(self.f[s] for s in held), first[0] - head))
        if last[1] is None:
            items = [(self.i[s] + self.w[s], self.activation[s]) for s in held]
            items += [(self.w[s], self.retained[s]) for s in held]
            last = (last[0], self.fill(device, items, sum(self.i[s] + self.w[s] for s in held), last[0]))
        windows = [{"length": length, "work": done} for length, done in (first, last)]
        reason = {"windows": {"device": device, "work": work, "first": windows[0], "last": windows[1]}}
        return reason, work + first[0] - first[1] + last[0] - last[1]

    def fill(self, device, items, each, time):
        total, room = each * self.m, self.room[device]
        if room is None:
            return min(total, time)
        heavy = [(work, holds) for work, holds in items if holds > 0]
        bound = 0
        if heavy:
            longest = max(work for work, _ in heavy)
            by_density = max(room * work // holds for work, holds in heavy)
            bound = min(by_density, room * longest, room // min(holds for _, holds in heavy) * longest)
        free = sum(work * self.m for work, holds in items if holds == 0)
        return min(total, free + min(bound, total), time)


# Alterations


def other_number(chance, value):
    return chance.choice([value + 1, value - 1, value + chance.randint(-20, 20), value * 2, 0, -value, 1 << 63, 1 << 40])


def alter_number(chance, value):
    """Another number somewhere in a value; whether there was one."""
    places = []

    def visit(value):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(below, int) and not isinstance(below, bool):
                places.append((value, key))
            elif isinstance(below, (dict, list)):
                visit(below)

    visit(value)
    if places:
        where, key = chance.choice(places)
        where[key] = other_number(chance, where[key])


def statement_of(file):
    return file["certificate"]["statement"]


def metrics(chance, file):
    alter_number(chance, statement_of(file)["metrics"])


def bound(chance, file):
    alter_number(chance, statement_of(file)["bound"])


def rate(chance, file):
    figures = statement_of(file)["metrics"]
    key = chance.choice(["bubble_rate", "idle_rate"])
    above, below = map(int, figures[key].split("/"))
    figures[key] = chance.choice([f"{above + 1}/{below}", f"{above * 2}/{below * 2}", f"{above}/{below} ", "1/2", "0/1",
                                  f"+{above}/{below}", f"0{above}/{below}"])


def peaks(chance, file):
    values = statement_of(file)["metrics"]["peak_memory"]
    chance.choice([values.reverse, lambda: values.append(0), values.pop])()


def device(chance, file):
    reason = statement_of(file)["bound"]["reason"]
    if isinstance(reason, dict):
        figures = next(iter(reason.values()))
        devices = len(file["placement"])
        if "device" in figures:
            figures["device"] = chance.randrange(devices + 1)
        elif "devices" in figures:
            figures["devices"] = sorted(chance.sample(range(devices + 1), chance.randint(0, devices)))
            if chance.random() < 0.2:
                figures["devices"].reverse()


def repetition(chance, file):
    reason = statement_of(file)["bound"]["reason"]
    if isinstance(reason, dict) and "subset" in reason:
        reason["subset"]["repetition"] = chance.choice([
            None, {"after": chance.randint(1, 8), "period": chance.randint(0, 3), "growth": chance.randint(-1, 20)}])


def other_reason(chance, file):
    statement = statement_of(file)
    reason, value = Problem(file).reason(chance, statement["objective"])
    statement["bound"] = {"value": value, "reason": reason}
    if statement["optimality"] == "bound" and chance.random() < 0.8:
        statement["optimality"] = "open"


def subset(chance, file):
    devices = len(file["placement"])
    chosen = sorted(chance.sample(range(devices), chance.randint(1, min(devices, 3))))
    again = None if chance.random() < 0.6 else {"after": chance.randint(2, 5), "period": 1, "growth": chance.randint(0, 12)}
    statement_of(file)["bound"]["reason"] = {"subset": {"devices": chosen, "repetition": again}}


def optimality(chance, file):
    statement = statement_of(file)
    value = statement["metrics"][statement["objective"]]
    engine = chance.choice(["lcg", "branch and bound", "branch", "lcg"])
    search = {"search": {"engine": engine, "none_below": value + chance.randint(-3, 1)}}
    statement["optimality"] = chance.choice(["open", "bound", search, search, "sure"])


def objective(chance, file):
    statement = statement_of(file)
    statement["objective"] = "makespan" if statement["objective"] == "device_span" else "device_span"


def swap(chance, file):
    order = chance.choice(file["orders"])
    i = chance.randrange(len(order))
    j = chance.choice([min(i + 1, len(order) - 1), chance.randrange(len(order))])
    order[i], order[j] = order[j], order[i]


def drop(chance, file):
    order = chance.choice(file["orders"])
    order.pop(chance.randrange(len(order)))


def double(chance, file):
    order = chance.choice(file["orders"])
    order.insert(chance.randrange(len(order)), chance.choice(order))


def move(chance, file):
    one, other = chance.choice(file["orders"]), chance.choice(file["orders"])
    other.insert(chance.randint(0, len(other) - 1), one.pop(chance.randrange(len(one))))


def rename(chance, file):
    order = chance.choice(file["orders"])
    i = chance.randrange(len(order))
    stage, kind, microbatch = re.fullmatch(r"(\d+)([A-Z])(\d+)", order[i]).groups()
    order[i] = chance.choice([
        f"{int(stage) + chance.randint(0, 2)}{kind}{microbatch}", f"{stage}{chance.choice('FIWBRX')}{microbatch}",
        f"{stage}{kind}{int(microbatch) + chance.randint(0, 2)}", f"{stage}{kind}", f"{stage}{kind}-1",
        f"{stage}{kind}{1 << 32}"])


def microbatches(chance, file):
    file["microbatches"] = max(0, file["microbatches"] + chance.choice([-1, 1, 1 << 31, 1 << 32]))


def placement(chance, file):
    lists = file["placement"]
    chance.choice([lists.reverse, chance.choice(lists).reverse, lists.pop, chance.choice(lists).pop,
                   lambda: lists.append([sum(map(len, lists))]), lambda: alter_number(chance, lists)])()


def problem(chance, file):
    statement = statement_of(file)
    found = list(re.finditer(r"\b\d+\b", statement["problem"][statement["problem"].index("[pipeline]"):]))
    at = chance.choice(found)
    start = statement["problem"].index("[pipeline]")
    text, value = statement["problem"], int(at[0])
    value = chance.choice([value + 1, value + 1, max(0, value - 1), max(0, value - 1), 0, value * 2, -1, 1 << 59, 1 << 64])
    statement["problem"] = text[: start + at.start()] + str(value) + text[start + at.end():]


def capacity(chance, file):
    statement = statement_of(file)
    text = re.sub(r"^capacity = .*\n", "", statement["problem"], flags=re.M)
    largest = max(statement["metrics"]["peak_memory"])
    value = chance.choice([largest, largest, largest - 1, largest + 1, 0, 1 << 58, (1 << 58) + 1])
    lists = [chance.choice([f"{value}", '"none"']) for _ in file["placement"]]
    line = chance.choice([f"capacity = {value}", f"capacity = [{', '.join(lists)}]"])
    if text.endswith("\n") and re.search(r"^\[memory\]", text, re.M) and text.rindex("[") == text.index("[memory]"):
        text += line + "\n"
    statement["problem"] = text


def weigh(chance, file):
    """Weights that stay, with capacities and peaks to match."""
    statement = statement_of(file)
    if "weights =" in statement["problem"]:
        return
    more = chance.randint(0, 3)
    stages = [len(held) for held in file["placement"]]
    text = re.sub(r"^(retained_for_weight = .*)$", rf"\1\nweights = {more}", statement["problem"], flags=re.M)
    if chance.random() < 0.8 and len(set(stages)) == 1:
        text = re.sub(r"^capacity = (\d+)$", lambda found: f"capacity = {int(found[1]) + more * stages[0]}", text, flags=re.M)
    statement["problem"] = text
    figures = statement["metrics"]
    figures["peak_memory"] = [peak + more * count for peak, count in zip(figures["peak_memory"], stages)]


def word(chance, file):
    statement = statement_of(file)
    lines = statement["problem"].split("\n")
    chance.choice([
        lambda: lines.pop(chance.randrange(len(lines))), lambda: lines.insert(chance.randrange(len(lines)), "# remark"),
        lambda: lines.insert(chance.randrange(len(lines)), "more = 1"), lambda: lines.append("[step]\nreduce = 1"),
        lambda: chance.shuffle(lines)])()
    statement["problem"] = "\n".join(lines)


def form(chance, file):
    """A key that is missing, unknown or of another type, anywhere."""
    objects = []

    def visit(value):
        if isinstance(value, dict):
            objects.append(value)
        for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
            visit(below)

    visit(file)
    where = chance.choice([one for one in objects if one] or [file])
    key = chance.choice(list(where))
    chance.choice([
        lambda: where.pop(key), lambda: where.update(more=1), lambda: where.update({key: None}),
        lambda: where.update({key: "text"}), lambda: where.update({key: 7}), lambda: where.update({key: -1}),
        lambda: where.update({key: []}), lambda: where.update({key: {}})])()


def digit(chance, file):
    statement = statement_of(file)
    where, key = chance.choice([(file["certificate"], "sha256"), (statement, "problem_sha256"), (statement, "schedule_sha256")])
    at = chance.randrange(len(where[key]))
    where[key] = where[key][:at] + chance.choice("0123456789abcdefA") + where[key][at + 1:]


ALTERATIONS = [metrics, metrics, bound, bound, rate, peaks, device, repetition, other_reason, other_reason, other_reason,
               other_reason, subset, optimality, optimality, objective, swap, swap, swap, drop, double, move, rename, rename,
               microbatches, placement, problem, problem, problem, capacity, capacity, weigh, weigh, word, form]


def altered(chance, text):
    """An altered copy of the text of a file, and what was done."""
    file, done = copy.deepcopy(json.loads(text)), []
    for _ in range(chance.choice([1, 1, 1, 2])):
        alteration = chance.choice(ALTERATIONS)
        try:
            alteration(chance, file)
            done.append(alteration.__name__)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, StopIteration):
            pass
    if chance.random() < 0.9:
        redigest(file)
    if chance.random() < 0.05:
        try:
            digit(chance, file)
            done.append("digit")
        except (KeyError, TypeError, ValueError):
            pass
    written = json.dumps(file, ensure_ascii=chance.random() < 0.1)
    if chance.random() < 0.03:
        at = chance.randrange(1, len(written))
        written = chance.choice([
            written[:at], written[:at] + chance.choice("{}[],:\"\\0e.-n \t") + written[at:], written[:at] + written[at + 1:]])
        done.append("letter")
    return written, "+".join(done)


# Problems of our own


def model(chance):
    """The text of a small model file."""
    devices = chance.randint(1, 4)
    placement = chance.choice(['"linear"', '"linear"', '"v"', "looped", "lists"])
    chunks = 1 if placement == '"linear"' else 2
    if placement == "lists":
        stages = list(range(devices * 2))
        chance.shuffle(stages)
        placement = json.dumps([stages[d * 2: d * 2 + 2] for d in range(devices)])
    lines = ['name = "grid"', "[pipeline]", f"devices = {devices}",
             *(['placement = "looped"', "chunks = 2"] if placement == "looped" else [f"placement = {placement}"]),
             f"microbatches = {chance.randint(1, 6)}", "[time]"]
    stages = devices * chunks

    def values(least, most, count):
        one = chance.randint(least, most)
        return one if chance.random() < 0.6 else [chance.randint(least, most) for _ in range(count)]

    lines += [f"forward = {values(1, 5, stages)}", f"backward_input = {values(0, 6, stages)}",
              f"backward_weight = {values(0, 5, stages)}"]
    if stages > 1:
        lines.append(f"communication = {values(0, 3, stages - 1)}")
    activation = [chance.randint(0, 3) for _ in range(stages)] if chance.random() < 0.3 else [chance.randint(1, 3)] * stages
    retained = [chance.randint(0, one) for one in activation]
    lines += ["[memory]", f"activation = {activation}", f"retained_for_weight = {retained}"]
    heavy = chance.random() < 0.2
    if heavy:
        lines.append("weights = 2")
    if chance.random() < 0.7:
        least = max(activation) * chunks
        lines.append(f"capacity = {least * chance.randint(1, 3) + chance.randint(0, 2) + (2 * chunks if heavy else 0)}")
    return "\n".join(lines) + "\n"


def solved(program, chance, folder, count, jobs):
    """Certificates of small problems, as files."""
    folder.mkdir()
    tasks = []
    for number in range(count):
        source = folder / f"{number}.toml"
        source.write_text(model(chance))
        tasks.append([program, "optimize", source, "--time-limit", "2", "--threads", "1", "--seed", str(number),
                      "--minimize", chance.choice(["makespan", "span"]), "-o", folder / f"{number}.json"])
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda task: subprocess.run(["nice", *task], capture_output=True), tasks))
    return sorted(folder.glob("*.json"), key=lambda path: int(path.stem))


# Comparison


class Tally:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.agree, self.gaps, self.disagree, self.example = collections.Counter(), collections.Counter(), [], {}

    def compare(self, files):
        """Gives files, with what is special about each, to both programs."""
        files = list(files)
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            theirs = pool.map(self.rust, [path for path, _ in files])
            ours = self.rocq([path for path, _ in files])
            for (path, about), (status, text), (other, is_machine_checked) in zip(files, ours, theirs):
                if status == NOT_COVERED:
                    reason = re.sub(r"\d+", "N", re.sub(r"the amount .* of", "the amount of", text.partition(": ")[2]))
                    self.gaps[reason, other] += 1
                    self.example.setdefault((reason, other), about)
                    continue
                if status == other and (status != 0 or is_machine_checked):
                    self.agree[status] += 1
                    continue
                if status == other:
                    text += ", but not every claim is called machine-checked"
                self.disagree.append((path, about, status, text, other))
                if self.args.keep:
                    kept = self.args.keep / f"{len(self.disagree)}.json"
                    kept.write_bytes(path.read_bytes())
                print(f"disagree: {path.name} ({about}): extracted {status} ({text}), bubbleproof {other}", flush=True)

    def rust(self, path):
        """The status, and whether every claim that was checked is machine-checked."""
        answer = subprocess.run(["nice", self.args.bubbleproof, "check", "--json", path], capture_output=True)
        claims = json.loads(answer.stdout)["claims"] if answer.returncode == 0 else []
        return answer.returncode, all(claim["machine_checked"] for claim in claims if claim["checked"])

    def rocq(self, paths):
        answer = subprocess.run(["nice", self.args.checker, "--seconds", "2", *paths], capture_output=True, text=True)
        lines = [line.split(" ", 2) for line in answer.stdout.splitlines()]
        if [line[1] for line in lines] != [str(path) for path in paths]:
            sys.exit(f"the extracted checker did not answer for every file: {answer.stderr}")
        return [(int(status), text) for status, _, text in lines]

    def report(self, what):
        names = {0: "accepted", 1: "rejected", 2: "no schedule file"}
        both = ", ".join(f"{count} {names.get(status, status)}" for status, count in sorted(self.agree.items()))
        beyond = sum(self.gaps.values())
        print(f"{what}: {sum(self.agree.values())} agree ({both}), {beyond} not covered, {len(self.disagree)} disagree")
        for (reason, other), count in self.gaps.most_common():
            first = self.example[reason, other]
            print(f"  {count:6}  not covered: {reason}; bubbleproof: {names.get(other, other)}; first {first}")
        sys.stdout.flush()
        return len(self.disagree)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checker", required=True, help="the program bubbleproof-checker")
    parser.add_argument("--bubbleproof", required=True, help="the program bubbleproof")
    parser.add_argument("--cases", type=int, default=10000, help="how many altered copies")
    parser.add_argument("--grid", type=int, default=0, help="how many small problems to solve")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="how many runs of bubbleproof at a time")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for files about which the programs disagree")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    paths = []
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.json")):
        try:
            file = json.loads(path.read_text())
        except (ValueError, RecursionError):
            continue
        if isinstance(file, dict) and isinstance(file.get("certificate"), dict):
            paths.append(path)
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tally = Tally(args, folder)
        tally.compare((path, "repository") for path in paths)
        failures += tally.report(f"{len(paths)} files of the repository")
        if args.grid:
            grid = solved(args.bubbleproof, chance, folder / "grid", args.grid, args.jobs)
            tally = Tally(args, folder)
            tally.compare((path, "grid") for path in grid)
            failures += tally.report(f"{len(grid)} solved problems")
            # A large plan takes long to alter and says no more than a small one.
            paths = [path for path in paths if path.stat().st_size < 40_000]
        else:
            grid = paths
        tally = Tally(args, folder)
        for first in range(0, args.cases, 200):
            batch = []
            for number in range(first, min(first + 200, args.cases)):
                source = chance.choice(grid if chance.random() < 0.8 else paths)
                text, about = altered(chance, source.read_text())
                path = folder / f"case-{number}.json"
                path.write_text(text)
                batch.append((path, f"{source.stem}: {about}"))
            tally.compare(batch)
            print(f"{first + len(batch)} of {args.cases} altered copies", file=sys.stderr, flush=True)
            for path, _ in batch:
                path.unlink()
        failures += tally.report(f"{args.cases} altered copies")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
