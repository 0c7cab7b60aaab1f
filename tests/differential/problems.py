"""Random small problems and random schedules for them, good and bad."""

import json

import tables
from plain import Model, read_orders


def make_problem(random, large=False):
    """The text of a model file, small enough for the exhaustive search, or large."""
    shape = random.choices(["linear", "v", "looped", "lists"], [40, 25, 25, 10])[0]
    chunks = 1
    if large:
        shape = random.choice([shape, shape, "bidirectional"])
        d, chunks = random.randint(2, 6), 1 if shape == "linear" else 2
    elif shape == "linear":
        d = random.choice([1, 2, 2, 3, 3])
    else:
        d, chunks = random.choice([1, 2, 2, 3]), 2
        if shape == "looped" and d < 3 and random.random() < 0.2:
            chunks = 3
    stages = d * chunks
    placement = f'"{shape}"'
    if shape == "lists":
        order = random.sample(range(stages), stages)
        cuts = sorted(random.sample(range(1, stages), d - 1))
        lists = [order[a:b] for a, b in zip([0] + cuts, cuts + [stages])]
        placement = json.dumps(lists)
    # Mostly up to 12 passes of F, I and W, at most 36.
    most = random.choices([4, 6, 9, 12], [50, 20, 20, 10])[0]
    m = random.randint(1, 6 if large else max(1, min(4 if stages <= 3 else 3, most // stages)))

    def values(count, draw):
        return [draw()] * count if random.random() < 0.3 else [draw() for _ in range(count)]

    top = random.choice([1, 3, 5, 12])
    outlier = random.choice([0, 0, 0.15, 0.4])
    zero = random.choice([0, 0, 0, 0.15])

    def ticks():
        if random.random() < outlier:
            return random.randint(10, 40)
        return 0 if random.random() < zero else random.randint(1, top)

    forward, back, weight = (values(stages, ticks) for _ in range(3))
    latency = values(stages - 1, lambda: random.choice([0, 0, 1, 2, top, 3 * top])) if random.random() < 0.6 else None
    lists = Model(f'pipeline = {{placement={placement}, devices={d}, chunks={chunks}, microbatches={m}}}\n'
                  'time = {forward=1, backward_input=1, backward_weight=1}').placement
    for device in lists:
        # A device has to do something.
        if all(forward[s] + back[s] + weight[s] == 0 for s in device):
            forward[device[0]] = 1
    lines = ['name = "random"', "[pipeline]", f"placement = {placement}", f"microbatches = {m}"]
    lines += [f"devices = {d}"] + ([f"chunks = {chunks}"] if shape == "looped" else [])
    lines += ["[time]", f"forward = {forward}", f"backward_input = {back}", f"backward_weight = {weight}"]
    lines += [f"communication = {latency}"] if latency else []

    activation = values(stages, lambda: random.randint(1, random.choice([1, 4])))
    retained = [random.choice([a, random.randint(0, a)]) for a in activation]
    weights = values(stages, lambda: random.randint(0, 5)) if random.random() < 0.3 else [0] * stages
    lines += ["[memory]", f"activation = {activation}", f"retained_for_weight = {retained}", f"weights = {weights}"]
    if random.random() < 0.6:
        capacity = []
        for device in lists:
            whole = sum(activation[s] for s in device)
            # From too little for one microbatch to enough for all.
            room = random.randint(max(0, whole - random.choice([0, 0, 0, 1])), max(whole, whole * m))
            held = sum(weights[s] for s in device)
            capacity.append("none" if random.random() < 0.15 else held + room)
        lines += [f"capacity = {json.dumps(capacity)}"]
    if random.random() < 0.25:
        lines += ["[recompute]", f"checkpoint = {[random.randint(0, a) for a in activation]}"]
    text = "\n".join(lines) + "\n"
    sorts = tables.choose(random)
    return tables.beyond(random, text, sorts) if sorts else text


def for_brute(model, objective, fused, known, budget):
    """The problem as a line for brute.rs."""
    stages, d = len(model.device), len(model.placement)
    numbers = [objective == "device_span", d, stages, model.m] + [model.device[s] for s in range(stages)]
    numbers += model.forward + model.input + model.weight + model.latency[: stages - 1]
    numbers += model.activation + model.retained + model.weights + (model.checkpoint or [-1] * stages)
    numbers += [-1 if c is None else c for c in model.capacity]
    numbers += model.occupancy + [model.node.get(i, -1) for i in range(d)]
    numbers += (model.reduce or [0] * stages) + (model.optimizer or [0] * stages)
    numbers += [amount for kind in "FRIWB" for amount in model.workspace[kind]] + model.receive[: stages - 1]
    numbers += [len(model.pairs)] + [n for (f, kind, b), ticks in model.pairs.items() for n in (f, kind == "B", b, ticks)]
    numbers += [fused, -1 if known is None else known, budget]
    return " ".join(str(int(number)) for number in numbers)


def schedule_of(model, orders, m=None):
    directions = {"directions": 2} if model.directions == 2 else {}
    return {"format": "bubbleproof-schedule-1", "placement": model.placement, **directions,
            "microbatches": m or model.m, "orders": orders}


def random_schedule(random, model):
    """Orders that run, if no capacity is exceeded: passes in any order in which each comes after what it needs."""
    m = model.m
    orders = [[] for _ in model.placement]
    fuse, again = random.choice([0, 0, 0.5, 1]), random.choice([0, 0.5, 1])
    recompute = model.checkpoint is not None or random.random() < 0.02
    rest = []
    for j in range(m):
        rest.append([(s, "F", j) for s in model.chain(j)])
        for s in reversed(model.chain(j)):
            if recompute and random.random() < again:
                rest[-1].append((s, "R", j))
            rest[-1].append((s, "B" if random.random() < fuse else "I", j))
    free = []
    # Now and then depth first, which needs the least memory.
    greed = random.choice([0, 0.5, 0.9])
    while any(rest) or free:
        ready = [chain for chain in rest if chain]
        if ready and (not free or random.random() < 0.6):
            one = (ready[-1] if random.random() < greed else random.choice(ready)).pop(0)
            if one[1] == "I":
                free.append((one[0], "W", one[2]))
        else:
            one = free.pop(random.randrange(len(free)))
        orders[model.device[one[0]]].append("{}{}{}".format(*one))
    likely = random.choice([0.3, 0.8]) if model.pairs else 0.05
    for order in orders:
        k = 0
        while k < len(order) - 1:
            kinds = "".join(c for c in order[k] + order[k + 1] if c.isalpha())
            if kinds in ("FB", "FI", "BF", "IF") and random.random() < likely:
                order[k : k + 2] = [f"({order[k]};{order[k + 1]})"]
                if not model.pairs:
                    break
            k += 1
    return schedule_of(model, orders)


def tilings(order, pairs):
    """The order as steps: with every choice of neighbours as overlapped pairs, if there may be any."""
    if len(order) < 2 or not pairs:
        return [list(order)]
    found = [[order[0], *rest] for rest in tilings(order[1:], pairs)]
    if "".join(c for c in order[0] + order[1] if c.isalpha()) in ("FB", "FI", "BF", "IF"):
        found += [[f"({order[0]};{order[1]})", *rest] for rest in tilings(order[2:], pairs)]
    return found


def damage(random, schedule):
    """One change, which may or may not make it invalid."""
    schedule = json.loads(json.dumps(schedule))
    orders = schedule["orders"]
    if not any(orders):
        return schedule
    order = random.choice([order for order in orders if order])
    k = random.randrange(len(order))
    kind = random.randrange(9)
    if kind <= 2 and len(order) > 1:
        other = random.choice([k - 1, random.randrange(len(order))])
        order[k], order[other] = order[other], order[k]
    elif kind == 3:
        del order[k]
    elif kind == 4:
        order.insert(random.randrange(len(order) + 1), order[k])
    elif kind == 5:
        target = random.choice(orders)
        one = order.pop(k)
        target.insert(random.randrange(len(target) + 1), one)
    elif kind == 6:
        letter = random.choice("FRIWB")
        order[k] = "".join(letter if c.isalpha() else c for c in order[k])
    elif kind == 7:
        schedule["microbatches"] += random.choice([-1, 1]) if schedule["microbatches"] > 1 else 1
    else:
        order[k] = order[k].replace("0", "1") if random.random() < 0.5 else order[k].replace("1", "0")
    return schedule


def extended(schedule, step, times):
    """The schedule with its steady phase `times` times more often: on each device the longest stretch in which the
    order repeats after `step` microbatches is made longer. None where that is not one stretch."""
    def later(step_of_order, by):
        return tuple((s, kind, j + by) for s, kind, j in step_of_order)

    m, orders = schedule["microbatches"], []
    for order in read_orders(schedule):
        if len(order) * step % m:
            return None
        period = len(order) * step // m
        repeats = [later(order[k], step) == order[k + period] for k in range(len(order) - period)]
        stretches, k = [], 0
        while k < len(repeats):
            end = k
            while end < len(repeats) and repeats[end]:
                end += 1
            stretches.append((end - k, k))
            k = end + 1
        longest = max((length for length, _ in stretches), default=0)
        if longest < period or sum(length == longest for length, _ in stretches) != 1:
            return None
        start = next(k for length, k in stretches if length == longest)
        body = order[start : start + period]
        longer = order[: start + period]
        for again in range(1, times + 1):
            longer += [later(one, again * step) for one in body]
        longer += [later(one, times * step) for one in order[start + period :]]
        orders.append([";".join("{}{}{}".format(*one) for one in both) for both in longer])
        orders[-1] = [f"({text})" if ";" in text else text for text in orders[-1]]
    return {**schedule, "microbatches": m + times * step, "orders": orders, "certificate": None}
