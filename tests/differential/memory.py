"""What devices hold, which depends on the orders alone."""


def peaks(model, orders, needs):
    """By device, the most that it holds at any instant, weights included."""
    there = {one for order in orders for step in order for one in step}
    posted, free = buffers(model, orders, needs)
    peaks = []
    for i, order in enumerate(orders):
        live = peak = sum(model.weights[s] for s in model.placement[i])
        for k, step in enumerate(order):
            for s, kind, j in step:
                whole = model.activation[s]
                kept = model.checkpoint[s] if (s, "R", j) in there else whole
                more = max(0, model.retained[s] - whole)
                live += {"F": kept, "R": whole - kept, "I": more}.get(kind, 0)
            live += posted.get((i, k), 0)
            peak = max(peak, live + sum(model.workspace[kind][s] for s, kind, _ in step))
            for s, kind, _ in step:
                whole, retained = model.activation[s], model.retained[s]
                live -= {"I": max(0, whole - retained), "W": retained, "B": whole}.get(kind, 0)
            live -= free.get((i, k), 0)
        peaks.append(peak)
    return peaks


def buffers(model, orders, needs):
    """By step: what the receives take that are posted before it, and what is free at its end.

    Devices take turns, by their number, round after round. In its turn a device takes its next step if all that this
    needs has run. Right after a pass whose result goes to another device its receive is posted there, behind all that
    the receiving device has run by then."""
    uses = {earlier: (one, boundary, i, k) for i, order in enumerate(orders) for k, step in enumerate(order)
            for one in step for earlier, boundary in needs(one) if boundary is not None}
    posted, free = {}, {}
    at, ran, moved = [0] * len(orders), set(), True
    while moved:
        moved = False
        for i, order in enumerate(orders):
            if at[i] == len(order) or any(need not in ran for one in order[at[i]] for need, _ in needs(one)):
                continue
            step = order[at[i]]
            at[i] += 1
            moved = True
            ran.update(step)
            for one in step:
                if one in uses and uses[one][2] != i:
                    _, boundary, receiver, k = uses[one]
                    amount = model.receive[boundary]
                    posted[receiver, at[receiver]] = posted.get((receiver, at[receiver]), 0) + amount
                    free[receiver, k] = free.get((receiver, k), 0) + amount
    return posted, free
