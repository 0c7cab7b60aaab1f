"""Adds to a random problem what goes beyond passes and latencies: tables of the model file, each alone or together."""

import json

import plain

SORTS = ("overlap", "messages", "step", "workspace", "receive", "retained", "ranges")


def choose(random):
    """Half of the problems have none of it, three in ten have one sort, the others several."""
    draw = random.random()
    if draw < 0.5:
        return ()
    if draw < 0.8:
        return (random.choice(SORTS),)
    chosen = [sort for sort in SORTS if random.random() < 0.45]
    return tuple(chosen) or (random.choice(SORTS),)


def beyond(random, text, sorts):
    """The model file with these tables."""
    file = plain.tomllib.loads(text)
    for sort in sorts:
        ADD[sort](random, file, plain.Model(dump(file)))
    if not {"workspace", "receive", "retained"}.isdisjoint(sorts):
        room(random, file, plain.Model(dump(file)))
    text = dump(file)
    if "ranges" in sorts and "overlap" in file:
        # What the low ends leave.
        trim_pairs(file, plain.Model(text), plain.Model(text, end="low"))
    return dump(file)


def one_or_each(random, count, draw):
    return draw() if random.random() < 0.4 else [draw() for _ in range(count)]


def top(model):
    return max(model.forward + model.input + model.weight)


def overlap(random, file, model):
    table = {}
    for key, letter in (("forward_backward", "B"), ("forward_input", "I")):
        if random.random() < 0.2:
            continue
        pairs = []
        for stages in model.placement:
            for f in stages:
                for b in stages:
                    two = model.duration(f, "F"), model.duration(b, letter)
                    duration = random.choice([max(two), random.randint(max(two), sum(two))])
                    pairs.append({"forward": f, "backward": b, "duration": duration})
        same = max(max(model.duration(p["forward"], "F"), model.duration(p["backward"], letter)) for p in pairs)
        most = min(model.duration(p["forward"], "F") + model.duration(p["backward"], letter) for p in pairs)
        if same <= most and random.random() < 0.5:
            table[key] = random.randint(same, most)
        else:
            table[key] = [pair for pair in pairs if random.random() < 0.8]
    file["overlap"] = table


def trim_pairs(file, high, low):
    """Leaves pairs out, or lengthens them, so that they suit both ends of ranges."""
    for key, letter in (("forward_backward", "B"), ("forward_input", "I")):
        value = file["overlap"].get(key, [])
        listed = value if isinstance(value, list) else [
            {"forward": f, "backward": b, "duration": value} for on in high.placement for f in on for b in on]
        kept = []
        for pair in listed:
            two = [[model.duration(pair["forward"], "F"), model.duration(pair["backward"], letter)] for model in (high, low)]
            duration = max(pair["duration"], *two[0])
            if duration <= sum(two[1]):
                kept.append({**pair, "duration": duration})
        if key in file["overlap"]:
            file["overlap"][key] = kept


def messages(random, file, model):
    most = random.choice([1, 3, top(model)])
    table = {"occupancy": one_or_each(random, len(model.latency), lambda: random.randint(0, most))}
    devices = list(range(len(model.placement)))
    if not model.has_ranges and random.random() < 0.5:
        random.shuffle(devices)
        cuts = sorted(random.sample(range(1, len(devices)), random.randint(0, min(2, len(devices) - 1))))
        table["nodes"] = [devices[a:b] for a, b in zip([0] + cuts, cuts + [len(devices)])]
    file["messages"] = table


def step(random, file, model):
    most = random.choice([2, 2 * top(model)])
    keys = random.choice([("reduce", "optimizer"), ("reduce", "optimizer"), ("reduce",), ("optimizer",)])
    file["step"] = {key: one_or_each(random, len(model.device), lambda: random.randint(0, most)) for key in keys}


def workspace(random, file, model):
    keys = ["forward", "backward_input", "backward_weight", "backward"] + (["recompute"] if model.checkpoint else [])
    table = {key: one_or_each(random, len(model.device), lambda: random.randint(0, 3))
             for key in keys if random.random() < 0.6}
    file["memory"]["workspace"] = table


def receive(random, file, model):
    file["memory"]["receive"] = one_or_each(random, len(model.latency), lambda: random.randint(0, 2))


def retained(random, file, model):
    file["memory"]["retained_for_weight"] = [random.randint(0, whole + 3) for whole in model.activation]


def ranges(random, file, model):
    if "nodes" in file.get("messages", {}):
        return
    for key in ("forward", "backward_input", "backward_weight", "communication"):
        value = file["time"].get(key)
        if value is None or random.random() < 0.3:
            continue
        value = value if isinstance(value, list) else [value] * len(model.device)

        def ends(high):
            return {"low": random.randint(min(1, high), high), "high": high}

        if len(set(value)) == 1 and random.random() < 0.5:
            file["time"][key] = ends(value[0])
        else:
            file["time"][key] = [ends(high) if random.random() < 0.6 else high for high in value]


def room(random, file, model):
    """Capacities with some or all of the room that this takes."""
    if "capacity" not in file["memory"]:
        return
    capacity = []
    for device, limit in zip(model.placement, model.capacity):
        held = [max(model.workspace[kind][s] for kind in "FIWBR") for s in device]
        held += [sum(model.receive[b] for b in (s - 1, s) if 0 <= b < len(model.receive)) for s in device]
        held += [max(0, model.retained[s] - model.activation[s]) for s in device]
        capacity.append("none" if limit is None else limit + random.randint(0, sum(held)))
    file["memory"]["capacity"] = capacity


ADD = {"overlap": overlap, "messages": messages, "step": step, "workspace": workspace, "receive": receive,
       "retained": retained, "ranges": ranges}


def dump(file):
    """The text of a model file."""
    def value(of):
        if isinstance(of, dict):
            return "{ " + ", ".join(f"{key} = {value(of[key])}" for key in of) + " }"
        return "[" + ", ".join(map(value, of)) + "]" if isinstance(of, list) else json.dumps(of)

    lines = [f"{key} = {value(of)}" for key, of in file.items() if not isinstance(of, dict)]
    for name, table in file.items():
        if isinstance(table, dict):
            lines += [f"[{name}]"] + [f"{key} = {value(of)}" for key, of in table.items()]
    return "\n".join(lines) + "\n"
