"""When everything runs: every task as soon as all that it waits for allows, and the device span.

A task is the step (i, k) of device i, the message of a pass, or what ends the step on a stage. A wait is (later, earlier,
ticks): `later` starts so many ticks or more after `earlier` starts.
"""


def run(model, orders, needs):
    """The times of orders of steps, and what they amount to; nothing where tasks wait for each other."""
    graph = Graph(model, orders, needs)
    alone = asap(graph.tasks, graph.waits(with_links=False))
    if alone is None:
        return None
    graph.order_messages(alone)
    waits = graph.waits(with_links=True)
    start = asap(graph.tasks, waits)
    ends = [start[task] + ticks for task, ticks in graph.lasts()]
    steps = [step for order in orders for step in order]
    passes = sum(map(model.step_duration, steps))
    again = sum(model.duration(s, kind) for step in steps for s, kind, _ in step if kind == "R")
    optimizer = sum(model.optimizer or [])
    return {
        # Of each pass. The second of an overlapped pair ends with it.
        "starts": [[start[i, k] + (model.step_duration(step) - model.duration(*one[:2]) if n else 0)
                    for k, step in enumerate(order) for n, one in enumerate(step)] for i, order in enumerate(orders)],
        "makespan": max(ends),
        "device_span": device_span(graph, waits),
        "busy": passes + optimizer,
        "useful": passes + optimizer - again,
        "links": sorted([[name(one), start["message", one], start["message", one] + model.occupancy[boundary]]
                         for one, boundary in link] for link in graph.links),
        "step": [[[start[what, s], start[what, s] + ticks[s]]
                  for what, ticks in (("reduce", model.reduce), ("optimizer", model.optimizer))]
                 for s in sorted(model.device)] if graph.has_step else [],
    }


def name(one):
    return "{}{}{}".format(*one)


class Graph:
    """The tasks of orders, and what they wait for."""

    def __init__(self, model, orders, needs):
        self.model, self.orders, self.needs = model, orders, needs
        self.step_of = {one: (i, k) for i, order in enumerate(orders) for k, step in enumerate(order) for one in step}
        self.tasks = [(i, k) for i, order in enumerate(orders) for k in range(len(order))]
        self.has_links, self.has_step = any(model.occupancy), model.reduce is not None
        self.links = []
        # By device, the stages in the order of their last backwards.
        self.stages = []
        for order, stages in zip(orders, model.placement):
            # A stage that no microbatch goes through is the first.
            last = {s: (-1, None) for s in stages}
            for at, one in enumerate(one for step in order for one in step):
                if one[1] in "WB":
                    last[one[0]] = at, one
            self.stages.append([(s, one) for s, (at, one) in sorted(last.items(), key=lambda entry: entry[1][0])])
        if self.has_step:
            self.tasks += [(what, s) for what in ("reduce", "optimizer") for s in model.device]

    def length(self, task):
        return self.model.step_duration(self.orders[task[0]][task[1]])

    def crosses_link(self, boundary):
        """Whether messages over a boundary use a link. Those that occupy nothing do not."""
        return boundary is not None and self.model.occupancy[boundary] > 0

    def sent(self):
        """Of every message on a link: the pass that makes it, the boundary, and the pass that needs it."""
        for later in self.step_of:
            for earlier, boundary in self.needs(later):
                if self.crosses_link(boundary):
                    yield earlier, boundary, later

    def order_messages(self, start):
        """On a link of two devices in the order of the passes; on a card in the order in which they are made where each
        has a link of its own, of those made at once that of the lower device, then of the earlier pass."""
        if not self.has_links:
            return
        links = {}
        for one, boundary, later in self.sent():
            task = self.step_of[one]
            at = task[1], self.orders[task[0]][task[1]].index(one)
            link = self.model.link(task[0], self.step_of[later][0])
            made = start[task] + self.length(task), task[0]
            links.setdefault(link, []).append(((made if isinstance(link, int) else ()) + at, one, boundary))
        self.links = [[(one, boundary) for _, one, boundary in sorted(messages)] for messages in links.values()]
        self.tasks += [("message", one) for link in self.links for one, _ in link]

    def waits(self, with_links):
        model, waits = self.model, []
        for i, order in enumerate(self.orders):
            waits += [((i, k + 1), (i, k), self.length((i, k))) for k in range(len(order) - 1)]
        for later, task in self.step_of.items():
            for earlier, boundary in self.needs(later):
                from_task = self.step_of[earlier]
                latency = 0 if boundary is None else model.hop(boundary)
                if not self.crosses_link(boundary):
                    waits.append((task, from_task, self.length(from_task) + latency))
                elif with_links:
                    waits.append((("message", earlier), from_task, self.length(from_task)))
                    waits.append((task, ("message", earlier), model.occupancy[boundary] + latency))
                else:
                    waits.append((task, from_task, self.length(from_task) + model.occupancy[boundary] + latency))
        for link in self.links if with_links else []:
            waits += [(("message", later), ("message", one), model.occupancy[boundary])
                      for (one, boundary), (later, _) in zip(link, link[1:])]
        for i, stages in enumerate(self.stages if self.has_step else []):
            before = (i, len(self.orders[i]) - 1), self.length((i, len(self.orders[i]) - 1))
            for n, (s, last) in enumerate(stages):
                if last:
                    waits.append((("reduce", s), self.step_of[last], self.length(self.step_of[last])))
                if n:
                    waits.append((("reduce", s), ("reduce", stages[n - 1][0]), model.reduce[stages[n - 1][0]]))
                waits.append((("optimizer", s), ("reduce", s), model.reduce[s]))
                waits.append((("optimizer", s), *before))
                before = ("optimizer", s), model.optimizer[s]
        return waits

    def lasts(self):
        """Of every device the last task, and how long it takes."""
        if self.has_step:
            return [(("optimizer", stages[-1][0]), self.model.optimizer[stages[-1][0]]) for stages in self.stages]
        return [((i, len(order) - 1), self.length((i, len(order) - 1))) for i, order in enumerate(self.orders)]


def asap(tasks, waits):
    """The least start times; nothing where tasks wait for each other."""
    later, missing, start = {task: [] for task in tasks}, dict.fromkeys(tasks, 0), dict.fromkeys(tasks, 0)
    for task, earlier, ticks in waits:
        later[earlier].append((task, ticks))
        missing[task] += 1
    ready = [task for task in tasks if not missing[task]]
    for task in ready:
        for after, ticks in later[task]:
            start[after] = max(start[after], start[task] + ticks)
            missing[after] -= 1
            if not missing[after]:
                ready.append(after)
    return start if len(ready) == len(tasks) else None


def device_span(graph, waits):
    """The least T for which there are start times that respect every wait, with last end - first start <= T on
    every device. For one T that is a system of differences: Bellman and Ford; T by bisection."""
    number = {task: n for n, task in enumerate(graph.tasks)}
    waits = [(number[later], number[earlier], ticks) for later, earlier, ticks in waits]
    lasts = [(number[i, 0], number[task], ticks) for i, (task, ticks) in enumerate(graph.lasts())]

    def feasible(span):
        begin, all_waits = [0] * len(number), waits + [(later, earlier, ticks - span) for later, earlier, ticks in lasts]
        for _ in range(len(number) + 1):
            changed = False
            for later, earlier, ticks in all_waits:
                if begin[earlier] + ticks > begin[later]:
                    begin[later] = begin[earlier] + ticks
                    changed = True
            if not changed:
                return True
        return False

    low, high = 0, sum(ticks for _, _, ticks in waits + lasts)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if feasible(middle) else (middle + 1, high)
    return low
