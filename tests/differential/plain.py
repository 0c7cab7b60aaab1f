"""What a schedule amounts to, from the documentation alone: docs/guide.md, and the rules that the documentation of
`replay` states. Plain Python, nothing of the tool: a second reading of the rules, to compare the first with.

    python3 tests/differential/plain.py MODEL.toml SCHEDULE.json
"""

import json
import re
import sys
import tomllib


class Model:
    """A model file. `chain(j)` lists the stages that microbatch j goes through, in the order of its forwards."""

    def __init__(self, text):
        file = tomllib.loads(text)
        pipeline, time = file["pipeline"], file["time"]
        memory, recompute = file.get("memory", {}), file.get("recompute")
        name = pipeline["placement"]
        d = len(name) if isinstance(name, list) else pipeline["devices"]
        if isinstance(name, list):
            self.placement = name
        elif name == "linear":
            self.placement = [[i] for i in range(d)]
        elif name == "looped":
            self.placement = [[c * d + i for c in range(pipeline["chunks"])] for i in range(d)]
        else:
            self.placement = [[i, 2 * d - 1 - i] for i in range(d)]
        self.directions = 2 if name == "bidirectional" else 1
        self.m = pipeline["microbatches"]
        self.device = {stage: i for i, stages in enumerate(self.placement) for stage in stages}
        stages = len(self.device)

        def each(table, key, count, default):
            value = table.get(key, default)
            return value if isinstance(value, list) else [value] * count

        self.forward = each(time, "forward", stages, None)
        self.input = each(time, "backward_input", stages, None)
        self.weight = each(time, "backward_weight", stages, None)
        self.latency = each(time, "communication", stages - 1, 0)
        self.activation = each(memory, "activation", stages, 1)
        self.retained = each(memory, "retained_for_weight", stages, self.activation)
        self.weights = each(memory, "weights", stages, 0)
        self.capacity = [c if isinstance(c, int) else None for c in each(memory, "capacity", d, "none")]
        self.checkpoint = each(recompute, "checkpoint", stages, None) if recompute else None

    def chain(self, j):
        half = len(self.device) // self.directions
        return range(half * (j % self.directions), half * (j % self.directions) + half)

    def duration(self, stage, kind):
        f, i, w = self.forward[stage], self.input[stage], self.weight[stage]
        return {"F": f, "R": f, "I": i, "W": w, "B": i + w}[kind]


def read_pass(text):
    found = re.fullmatch(r"([0-9]+)([FRIWB])([0-9]+)", text)
    return (int(found[1]), found[2], int(found[3]))


def read_orders(schedule):
    """For every device a list of steps: tuples of one pass, or of the two of an overlapped pair."""
    return [[tuple(map(read_pass, step.strip("()").split(";"))) for step in order] for order in schedule["orders"]]


def replay(model, schedule):
    """A reason why the schedule is invalid, or None; and its figures, where it runs."""
    m, orders = schedule["microbatches"], read_orders(schedule)
    if schedule["placement"] != model.placement or schedule.get("directions", 1) != model.directions:
        return "another pipeline", None
    passes = [one for order in orders for step in order for one in step]
    wanted = {(s, j) for j in range(m) for s in model.chain(j)}
    there = set(passes)
    if len(there) != len(passes) or len(orders) != len(model.placement):
        return "a duplicate", None
    if any((s, j) not in wanted for s, _, j in there):
        return "an unknown pass", None
    for i, order in enumerate(orders):
        if any(model.device[s] != i for step in order for s, _, _ in step):
            return "a pass on another device", None
    for s, j in wanted:
        kinds = "".join(kind for kind in "FIWB" if (s, kind, j) in there)
        if kinds not in ("FIW", "FB"):
            return f"stage {s} has {kinds} of microbatch {j}", None
    if model.checkpoint is None and any(kind == "R" for _, kind, _ in there):
        return "recomputation without checkpoints", None

    # What every pass needs: the pass that has to end before, and the latency after that.
    def needs(one):
        s, kind, j = one
        chain = model.chain(j)
        back = lambda stage: (stage, "B" if (stage, "B", j) in there else "I", j)
        hop = lambda low: 0 if model.device[low] == model.device[low + 1] else model.latency[low]
        if kind == "F":
            return [((s - 1, "F", j), hop(s - 1))] if s > chain[0] else []
        if kind == "R":
            return [((s, "F", j), 0)]
        if kind == "W":
            return [((s, "I", j), 0)]
        own = [((s, "R" if (s, "R", j) in there else "F", j), 0)]
        return own + ([(back(s + 1), hop(s))] if s < chain[-1] else [])

    # As soon as possible, until nothing more can start. An overlapped pair is one step.
    start, end, at, free = {}, {}, [0] * len(orders), [0] * len(orders)
    waits, moved = [], True  # waits: (step, earlier step, ticks between their starts at the least)
    step_of = {one: (i, k) for i, order in enumerate(orders) for k, step in enumerate(order) for one in step}
    length = lambda step: sum(model.duration(s, kind) for s, kind, _ in step)
    while moved:
        moved = False
        for i, order in enumerate(orders):
            while at[i] < len(order):
                step = order[at[i]]
                before = [need for one in step for need in needs(one)]
                if any(need not in end for need, _ in before):
                    break
                here = (i, at[i])
                begin = max([free[i]] + [end[need] + latency for need, latency in before])
                if at[i]:
                    waits.append((here, (i, at[i] - 1), length(order[at[i] - 1])))
                for need, latency in before:
                    earlier = step_of[need]
                    waits.append((here, earlier, length(orders[earlier[0]][earlier[1]]) + latency))
                start[here], free[i] = begin, begin + length(step)
                end.update((one, free[i]) for one in step)
                at[i] += 1
                moved = True
    if any(at[i] < len(order) for i, order in enumerate(orders)):
        return "a deadlock", None

    peaks = []
    for i, order in enumerate(orders):
        live = peak = sum(model.weights[s] for s in model.placement[i])
        for step in order:
            for s, kind, j in step:
                whole = model.activation[s]
                kept = model.checkpoint[s] if (s, "R", j) in there else whole
                live += {"F": kept, "R": whole - kept}.get(kind, 0)
            peak = max(peak, live)
            for s, kind, _ in step:
                whole, retained = model.activation[s], model.retained[s]
                live -= {"I": whole - retained, "W": retained, "B": whole}.get(kind, 0)
        peaks.append(peak)
    figures = {
        # Of each pass. The second of an overlapped pair starts where the first ends.
        "starts": [[start[i, k] + length(step[:n]) for k, step in enumerate(order) for n in range(len(step))]
                   for i, order in enumerate(orders)],
        "makespan": max(free),
        "device_span": device_span(orders, waits, length),
        "peak_memory": peaks,
    }
    for i, capacity in enumerate(model.capacity):
        if capacity is not None and peaks[i] > capacity:
            return f"device {i} holds {peaks[i]} of {capacity}", figures
    return None, figures


def device_span(orders, waits, length):
    """The least T for which there are start times that respect every wait, with last end - first start <= T on
    every device. For one T that is a system of differences: Bellman and Ford; T by bisection."""
    steps = [(i, k) for i, order in enumerate(orders) for k in range(len(order))]

    def feasible(span):
        begin = dict.fromkeys(steps, 0)
        lasts = [((i, 0), (i, len(order) - 1), length(order[-1]) - span) for i, order in enumerate(orders)]
        for _ in range(len(steps) + 1):
            changed = False
            for later, earlier, ticks in waits + lasts:
                if begin[earlier] + ticks > begin[later]:
                    begin[later] = begin[earlier] + ticks
                    changed = True
            if not changed:
                return True
        return False

    low, high = 0, sum(length(step) for order in orders for step in order) + sum(ticks for _, _, ticks in waits)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if feasible(middle) else (middle + 1, high)
    return low


if __name__ == "__main__":
    with open(sys.argv[1]) as model_file, open(sys.argv[2]) as schedule_file:
        reason, figures = replay(Model(model_file.read()), json.load(schedule_file))
    print(json.dumps({"valid": reason is None, "reason": reason, **(figures or {})}))
