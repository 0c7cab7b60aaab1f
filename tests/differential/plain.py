"""What a schedule amounts to, from the documentation alone: docs/guide.md, and the rules that the documentation of
`replay` states. Plain Python, nothing of the tool: a second reading of the rules, to compare the first with.
machine.py has the times, memory.py the memory.

    python3 tests/differential/plain.py MODEL.toml SCHEDULE.json
"""

import json
import re
import sys
import tomllib

import machine
import memory


WORKSPACES = {"F": "forward", "I": "backward_input", "W": "backward_weight"}


class Model:
    """A model file. `chain(j)` lists the stages that microbatch j goes through, in the order of its forwards. Ranges are
    read at their "high" ends, at their "low" ends, or as a function of both ends says."""

    def __init__(self, text, end="high"):
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

        def times(key, count, default):
            values = each(time, key, count, default)
            self.has_ranges |= any(isinstance(value, dict) and value["low"] < value["high"] for value in values)
            at = end if callable(end) else lambda low, high: {"low": low, "high": high}[end]
            return [at(**value) if isinstance(value, dict) else value for value in values]

        self.has_ranges = False
        self.forward = times("forward", stages, None)
        self.input = times("backward_input", stages, None)
        self.weight = times("backward_weight", stages, None)
        self.latency = times("communication", stages - 1, 0)
        self.activation = each(memory, "activation", stages, 1)
        self.retained = each(memory, "retained_for_weight", stages, self.activation)
        self.weights = each(memory, "weights", stages, 0)
        self.capacity = [c if isinstance(c, int) else None for c in each(memory, "capacity", d, "none")]
        self.checkpoint = each(recompute, "checkpoint", stages, None) if recompute else None

        # What passes need while they run; B and R by default what their parts need.
        table = memory.get("workspace", {})
        self.workspace = {letter: each(table, key, stages, 0) for letter, key in WORKSPACES.items()}
        split = list(map(max, self.workspace["I"], self.workspace["W"]))
        self.workspace["B"] = each(table, "backward", stages, split)
        self.workspace["R"] = each(table, "recompute", stages, self.workspace["F"])
        self.receive = each(memory, "receive", stages - 1, 0)

        self.pairs = {}
        for letter, key in {"B": "forward_backward", "I": "forward_input"}.items():
            value = file.get("overlap", {}).get(key, [])
            listed = value if isinstance(value, list) else [
                {"forward": f, "backward": b, "duration": value} for on in self.placement for f in on for b in on]
            self.pairs |= {(pair["forward"], letter, pair["backward"]): pair["duration"] for pair in listed}

        messages, step = file.get("messages", {}), file.get("step")
        occupied = each(messages, "occupancy", stages - 1, 0)
        # Nothing is occupied between stages of one device.
        self.occupancy = [0 if self.device[s] == self.device[s + 1] else ticks for s, ticks in enumerate(occupied)]
        self.node = {device: node for node, devices in enumerate(messages.get("nodes", [])) for device in devices}
        self.reduce, self.optimizer = ((each(step, key, stages, 0) for key in ("reduce", "optimizer")) if step
                                       else (None, None))

    @property
    def beyond(self):
        """What changes something beyond passes, latencies and plain memory: the tables, as far as they do."""
        saves = any(ticks < self.duration(f, "F") + self.duration(b, kind) for (f, kind, b), ticks in self.pairs.items())
        needs = any(map(any, self.workspace.values())) or any(
            amount for s, amount in enumerate(self.receive) if self.device[s] != self.device[s + 1])
        grows = any(kept > whole for kept, whole in zip(self.retained, self.activation))
        said = {"[overlap]": saves, "[messages]": any(self.occupancy), "[step]": any((self.reduce or []) + (self.optimizer or [])),
                "memory": needs or grows}
        return [name for name, holds in said.items() if holds]

    def chain(self, j):
        half = len(self.device) // self.directions
        return range(half * (j % self.directions), half * (j % self.directions) + half)

    def duration(self, stage, kind):
        f, i, w = self.forward[stage], self.input[stage], self.weight[stage]
        return {"F": f, "R": f, "I": i, "W": w, "B": i + w}[kind]

    def step_duration(self, step):
        """Of one pass, or of the two of an overlapped pair."""
        both = sum(self.duration(s, kind) for s, kind, _ in step)
        if len(step) == 1:
            return both
        (f, _, _), (b, kind, _) = sorted(step, key=lambda one: one[1] != "F")
        return self.pairs.get((f, kind, b), both)

    def hop(self, low):
        """The latency between a stage and the next one."""
        return 0 if self.device[low] == self.device[low + 1] else self.latency[low]

    def link(self, sender, receiver):
        """What carries messages: the network card of a node, by its number, or a link of two devices."""
        if self.node and self.node[sender] != self.node[receiver]:
            return self.node[sender]
        return sender, receiver


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

    # What every pass needs: the pass that has to end before, and the boundary between, where there is one.
    def needs(one):
        s, kind, j = one
        chain = model.chain(j)
        if kind == "F":
            return [((s - 1, "F", j), s - 1)] if s > chain[0] else []
        if kind == "R":
            return [((s, "F", j), None)]
        if kind == "W":
            return [((s, "I", j), None)]
        own = [((s, "R" if (s, "R", j) in there else "F", j), None)]
        return own + ([((s + 1, "B" if (s + 1, "B", j) in there else "I", j), s)] if s < chain[-1] else [])

    times = machine.run(model, orders, needs)
    if times is None:
        return "a deadlock", None
    peaks = memory.peaks(model, orders, needs)
    figures = {**times, "peak_memory": peaks}
    for i, capacity in enumerate(model.capacity):
        if capacity is not None and peaks[i] > capacity:
            return f"device {i} holds {peaks[i]} of {capacity}", figures
    return None, figures


if __name__ == "__main__":
    with open(sys.argv[1]) as model_file, open(sys.argv[2]) as schedule_file:
        reason, figures = replay(Model(model_file.read()), json.load(schedule_file))
    print(json.dumps({"valid": reason is None, "reason": reason, **(figures or {})}))
