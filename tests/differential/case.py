"""One problem, and everything that is compared about it."""

import itertools
import json
import pathlib
import random
import shutil
import subprocess
from collections import Counter
from fractions import Fraction

import plain
import problems

HERE = pathlib.Path(__file__).parent
OBJECTIVES = ("makespan", "device_span")
FIGURES = ("makespan", "peak_memory", "starts", "busy", "useful", "links", "step")


class Process:
    """A program that answers a line with a line."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"no answer to: {line}")
        return answer


def of_tool(said):
    """What `replay --json` says, in the form of plain.replay. How long devices are busy follows from the rates."""
    of_device = lambda device: [one["start"] for one in said["passes"] if one["device"] == device]
    whole = said["devices"] * said["device_span"]
    rate = lambda key: Fraction(said[key]) * whole
    return {
        **{key: said[key] for key in ("makespan", "device_span", "peak_memory")},
        "starts": [of_device(device) for device in range(said["devices"])],
        "busy": whole - rate("bubble_rate_exact"),
        "useful": rate("useful_rate_exact"),
        "links": [[[one["pass"], one["start"], one["end"]] for one in link["messages"]] for link in said.get("links") or []],
        "step": [[stage["reduce"], stage["optimizer"]] for stage in said.get("step") or []],
    }


class Case:
    """One problem, and everything that is compared about it."""

    def __init__(self, args, library, brute, name, text, kinds=None):
        self.args, self.library, self.brute, self.name, self.text = args, library, brute, name, text
        self.random = random.Random(f"{args.seed}/{name}")
        self.kinds = kinds
        self.counts, self.faults = Counter(), []
        if text is None:
            self.text = problems.make_problem(self.random)
        self.model = plain.Model(self.text)

    def expect(self, holds, what, **files):
        if not holds:
            self.faults.append((what, {"model": self.text, **files}))

    def ask(self, **question):
        return json.loads(self.library.ask(json.dumps(question)))

    def run(self):
        whole = self.args.objectives
        for said in self.model.beyond + ["ranges"] * self.model.has_ranges:
            self.counts[f"problems with {said}"] += 1
        for objective in whole:
            self.optimum(objective)
        for _ in range(3):
            self.replays(problems.random_schedule(self.random, self.model))
        if self.random.random() < 0.3:
            self.large()
        if self.random.random() < 0.1:
            self.every_m()
        if self.args.tool and self.random.random() < 0.01:
            self.tool()

    # The optimum, and what the tool claims of it.

    def best(self, objective, known=None):
        """(value, orders) of the best schedule; None where there is none; "unfinished"."""
        stages = len(self.model.device)
        # Full backwards help where they are cheaper in pairs, hold less, or change the order of messages on a card.
        fused = stages * self.model.m <= 4 or bool(self.model.beyond)
        # Without a value to be better than, little is left out.
        budget = self.args.budget // (1 if known is not None else 5)
        line = problems.for_brute(self.model, objective, fused, known, budget)
        words = self.brute.ask(line).split(maxsplit=3)
        self.counts["choices of the exhaustive search"] += int(words[-2] if words[0] == "best" else words[1])
        if words[0] == "best":
            # A pair is one step.
            return int(words[1]), [order.replace("+", ";").split() for order in words[3].split(";")]
        return None if words[0] == "none" else "unfinished"

    def optimum(self, objective):
        answer = self.ask(ask="optimize", model=self.text, objective=objective, effort=self.args.effort,
                          exact_effort=self.args.exact_effort)
        name = f"optima of the {objective}"
        if "refused" in answer:
            return self.expect(False, f"optimize refuses: {answer['refused']}")
        value = None
        if answer["feasible"]:
            value = answer["value"]
            files = {"schedule": answer["schedule"], "answer": answer}
            reason, figures = plain.replay(self.model, answer["schedule"])
            self.expect(reason is None, f"the schedule found is invalid: {reason}", **files)
            if reason is None:
                self.same_figures(answer, figures, files)
                self.expect(figures[objective] == value, f"the {objective} is {figures[objective]}, not {value}", **files)
        else:
            files = {"answer": answer}
        best = self.best(objective)
        if best == "unfinished" and value is not None:
            best = self.best(objective, value)
            best = (value, None) if best is None else best
        if best == "unfinished":
            self.counts[f"{name}: too large for the exhaustive search"] += 1
            return None
        if best is None or value is None:
            self.expect(best is None, "said to be infeasible, but it is not", best=best, **files)
            self.expect(value is None, "the exhaustive search finds no schedule at all", **files)
            self.counts[f"{name}: infeasible"] += 1
            return None
        least, orders = best
        files["least"] = least
        self.counts[name] += 1
        if self.model.beyond:
            self.counts[f"{name}: beyond passes and latencies"] += 1
        if orders is not None:
            # A better schedule is a witness: both readings of the rules must accept it.
            witness = problems.schedule_of(self.model, orders)
            files["witness"] = witness
            reason, figures = plain.replay(self.model, witness)
            seen = reason or figures[objective]
            self.expect(seen == least, f"the exhaustive search says {least}, plain replay {seen}", **files)
            replayed = self.ask(ask="replay", model=self.text, schedule=json.dumps(witness))
            self.expect(replayed.get("valid") and replayed[objective] == least,
                        f"replay says {replayed.get(objective)} of the best orders, of {least}", **files)
            if self.model.checkpoint and any("R" in one for order in orders for one in order):
                self.counts[f"{name}: with recomputation"] += 1
        self.expect(least <= value, f"the tool has {value}, the exhaustive search only {least}", **files)
        for key in ("lower_bound", "certified_bound"):
            self.expect(answer[key] <= least, f"{key} {answer[key]} is above the optimum {least}", **files)
        bound = answer["bounds"][OBJECTIVES.index(objective)]
        self.expect(bound["value"] <= least, f"the bound {bound['value']} is above the optimum {least}", **files)
        self.expect(bound["holds"], "the derived bound is not derived again", **files)
        self.counts[f"{name}: bounds at the optimum" if bound["value"] == least else f"{name}: bounds below it"] += 1
        if answer["optimal"]:
            self.expect(value == least, f"said to be optimal with {value}, but {least} is possible", **files)
        claims = answer["claims"]
        self.expect(isinstance(claims, list), f"check refuses what optimize certifies: {claims}", **files)
        for claim in claims if isinstance(claims, list) else []:
            said = claim.get("value", value)
            if claim["kind"] == "runs":
                self.expect(said == value, f"certified to run in {said}, not {value}", **files)
            else:
                self.expect(said <= least, f"certified that none is below {said}, but {least} is possible", **files)
        how = ("proved by a bound" if answer["certified_bound"] == value else "proved by search") if answer["optimal"] \
            else ("found, not proved" if value == least else "not found, not claimed")
        self.counts[f"{name}: {how}"] += 1
        self.engines(objective, least)
        if self.naive(objective, least, files):
            self.counts[f"{name}: enumerated without any pruning"] += 1
        return None

    def engines(self, objective, least):
        """Each engine for whole schedules alone, from a schedule that is valid but poor."""
        for _ in range(20):
            start = problems.random_schedule(self.random, self.model)
            reason, figures = plain.replay(self.model, start)
            if reason is None:
                break
        else:
            return
        answers = self.ask(ask="exact", model=self.text, objective=objective, schedule=json.dumps(start),
                           effort=self.args.exact_effort)
        files = {"schedule": start, "answer": answers, "least": least}
        if isinstance(answers, dict):
            return self.expect(False, f"engines: {answers}", **files)
        for answer in answers:
            name = f"optima of the {objective}: engine {answer['engine']}"
            self.expect("none" in answer or not self.model.beyond, f"{name}: takes tables that it does not know", **files)
            if "none" in answer:
                self.counts[f"{name}: does not take it"] += 1
                continue
            reason, figures = plain.replay(self.model, answer["schedule"])
            seen = reason or figures[objective]
            self.expect(seen == answer["value"], f"{name}: {answer['value']}, plain replay says {seen}", **files)
            self.expect(answer["lower_bound"] <= least, f"{name}: lower bound above the optimum", **files)
            if answer["proved"]:
                self.expect(answer["value"] == least, f"{name}: proves {answer['value']}, not {least}", **files)
            met = "meets the bound" if answer["value"] == answer["lower_bound"] else "not proved"
            self.counts[f"{name}: {'proved' if answer['proved'] else met}"] += 1

    def naive(self, objective, least, files):
        """The exhaustive search itself, against every permutation of every device, where there are few."""
        if self.model.checkpoint or self.random.random() > 0.2:
            return False
        m, values = self.model.m, []
        cells = [(s, j) for stages in self.model.placement for s in stages for j in range(m)]
        # Full backward passes and pairs may only do worse, but for what goes beyond passes and latencies.
        whole = itertools.product((False, True), repeat=len(cells)) if self.model.beyond else [[False] * len(cells)]
        sizes = [3 * len(stages) * m for stages in self.model.placement]
        # 6! for one device, 3!^3 for three: what takes a moment.
        if max(sizes) > 6 or sum(size > 3 for size in sizes) > 1:
            return False
        for fused in whole:
            kinds = {cell: "FB" if one else "FIW" for cell, one in zip(cells, fused)}
            passes = [[f"{s}{kind}{j}" for s in stages for j in range(m) for kind in kinds[s, j]]
                      for stages in self.model.placement]
            for orders in itertools.product(*map(itertools.permutations, passes)):
                for steps in itertools.product(*(problems.tilings(order, bool(self.model.pairs)) for order in orders)):
                    reason, figures = plain.replay(self.model, problems.schedule_of(self.model, steps))
                    if reason is None:
                        values.append(figures[objective])
        fewest = min(values, default=None)
        self.expect(fewest == least, f"permutations give {fewest}, the exhaustive search {least}", **files)
        return True

    # Schedules, good and bad.

    def same_figures(self, theirs, ours, files):
        theirs = {**theirs, "links": sorted(theirs["links"])}
        for key in FIGURES + (("device_span",) if self.args.span else ()):
            self.expect(theirs[key] == ours[key], f"{key}: the tool {theirs[key]}, plain replay {ours[key]}", **files)

    def replays(self, schedule):
        self.replay(schedule)
        for _ in range(2):
            schedule = problems.damage(self.random, schedule)
            self.replay(schedule)

    def large(self):
        """Schedules of a problem that is too large to search."""
        kept = self.text, self.model
        self.text = problems.make_problem(self.random, large=True)
        self.model = plain.Model(self.text)
        self.replays(problems.random_schedule(self.random, self.model))
        self.text, self.model = kept

    def replay(self, schedule):
        answer = self.ask(ask="replay", model=self.text, schedule=json.dumps(schedule))
        files = {"schedule": schedule, "answer": answer}
        try:
            reason, figures = plain.replay(self.model, schedule)
        except ValueError as error:
            reason, figures = str(error), None
        valid = answer.get("valid", False)
        self.expect(valid == (reason is None), f"valid: the tool {valid}, plain replay {reason or True}", **files)
        if figures and answer.get("starts"):
            self.same_figures(answer, figures, files)
        self.expect((figures is None) == (answer.get("starts") is None), f"runs: {reason}", **files)
        if reason is None:
            self.best_case(schedule, answer, figures, files)
        why = reason.split(" ")[0:2] if reason else None
        self.counts["replays: valid" if valid else "replays: refused"] += 1
        if why:
            word = {"a": reason, "an": reason}.get(why[0], "another set of kinds" if why[0] == "stage" else
                    "over a capacity" if "holds" in reason else "another form" if figures is None else reason)
            self.counts[f"replays: refused: {word}"] += 1

    def best_case(self, schedule, answer, worst, files):
        """Ranges: the low ends alone, and some run between them and the high ends."""
        best = answer.get("best_case")
        self.expect((best is not None) == self.model.has_ranges, "a best case without ranges, or none with them", **files)
        if not best:
            return
        _, figures = plain.replay(plain.Model(self.text, end="low"), schedule)
        self.same_figures(best, figures, files)
        draw = lambda low, high: self.random.randint(low, high)
        _, between = plain.replay(plain.Model(self.text, end=draw), schedule)
        for objective in self.args.objectives:
            within = figures[objective] <= between[objective] <= worst[objective]
            self.expect(within, f"{objective}: {between[objective]} is possible", figures=between, **files)
        self.counts["replays: best cases"] += 1

    # Every number of microbatches.

    def every_m(self):
        if self.random.random() < 0.4:
            return self.family()
        # The steady phase of a schedule of more microbatches.
        m = self.random.randint(5, 8)
        text = "\n".join(f"microbatches = {m}" if line.startswith("microbatches") else line for line in self.text.split("\n"))
        answer = self.ask(ask="optimize", model=text, objective="makespan", effort=200_000, exact_effort=0)
        if "schedule" not in answer:
            return None
        schedule = answer["schedule"]
        model = plain.Model(text)
        at = list(range(1, 31))
        said = self.ask(ask="every_m", model=text, schedule=json.dumps(schedule), at=at)
        pairs = any(len(step) > 1 for order in plain.read_orders(schedule) for step in order)
        if pairs or set(model.beyond) - {"[overlap]"}:
            self.expect(said.get("status") == "unknown", "every m: proved beyond passes and latencies", model=text,
                        schedule=schedule, answer=said)
        if said.get("status") != "proved":
            self.counts[f"every m of a schedule: {said.get('status', 'refused')}"] += 1
            return self.expect(said.get("status") != "refuted", "every m: a valid schedule is refuted", model=text,
                               schedule=schedule, answer=said)
        files = {"model": text, "schedule": schedule, "answer": said}
        self.expect(said["first"] == m, f"first is {said['first']}", **files)
        for times in range(0, 6):
            longer = problems.extended(schedule, said["step"], times)
            if longer is None:
                self.counts["every m of a schedule: steady phase not unique"] += 1
                return None
            self.formula(model, longer, said, at, files)
        self.counts["every m of a schedule: proved"] += 1
        return None

    def formula(self, model, schedule, said, at, files):
        m = schedule["microbatches"]
        if m not in at:
            return
        reason, figures = plain.replay(model, schedule)
        files = {**files, "extended": schedule}
        self.expect(reason is None, f"every m is proved, but m = {m} is invalid: {reason}", **files)
        for key in ("makespan", "peak_memory") + (("device_span",) if self.args.span else ()):
            if said[key] is None:
                self.counts[f"every m: {key} not proved"] += 1
                continue
            value = said[key][at.index(m)]
            if figures:
                self.expect(value == figures[key], f"every m: {key} of {m} is {figures[key]}, not {value}", **files)
        self.counts["every m: formulas at a number of microbatches"] += 1

    def family(self):
        path = self.random.choice(sorted((HERE.parent.parent / "models/blocks").glob("*.toml")))
        family = path.read_text()
        d = self.random.randint(1, 4)
        file = plain.tomllib.loads(family)
        chunks = max(each.get("chunk", 0) for each in file["pass"]) + 1
        text = self.text
        for _ in range(1000):
            pipeline = plain.tomllib.loads(text)["pipeline"]
            same = pipeline["placement"] == file["placement"] or (
                {pipeline["placement"], file["placement"]} == {"looped", "linear"} and chunks == 1) \
                if isinstance(pipeline["placement"], str) else False
            if same and len(plain.Model(text).device) == chunks * len(plain.Model(text).placement):
                break
            text = problems.make_problem(self.random)
        else:
            return self.counts.update(["every m of a family: no model"])
        model = plain.Model(text)
        at = [1, 2, 3, 4, 5, 7, 8, 11, 16, 23]
        said = self.ask(ask="family", model=text, family=family, at=at)
        status = said.get("status", "refused")
        self.counts[f"every m of a family: {status}"] += 1
        files = {"model": text, "family": family, "answer": said}
        if status == "proved":
            self.expect(said["first"] == 1 and said["step"] == 1, "a family not from one microbatch on", **files)
            for schedule in said["schedules"]:
                self.formula(model, schedule, said, at, files)
        if status == "refuted":
            for m, schedule in zip(at, said["schedules"]):
                if m <= said["m"]:
                    reason, _ = plain.replay(model, schedule)
                    self.expect((reason is None) == (m < said["m"]), f"refuted at {said['m']}, but at {m}: {reason}", **files)
        return None

    # The tool itself, on files.

    def tool(self):
        folder = pathlib.Path(self.args.out) / "files" / str(self.name)
        folder.mkdir(parents=True, exist_ok=True)
        model, schedule = folder / "model.toml", folder / "schedule.json"
        model.write_text(self.text)

        def run(*words):
            done = subprocess.run([self.args.tool, *words, "--json"], capture_output=True, text=True)
            return done.returncode, json.loads(done.stdout or "null")

        objective = self.random.choice(self.args.objectives)
        short = {"makespan": "makespan", "device_span": "span"}[objective]
        status, answer = run("optimize", str(model), "--minimize", short, "-o", str(schedule))
        self.counts["commands of the tool"] += 1
        if status != 1:
            self.expect(status == 0, f"optimize ends with {status}")
            best = self.best(objective)
            if isinstance(best, tuple):
                self.expect(answer["lower_bound"] <= best[0], "the tool: lower_bound above the optimum", answer=answer)
                self.expect(not answer["optimal"] or answer[objective] == best[0], "the tool: no optimum", answer=answer)
            written = json.loads(schedule.read_text())
            reason, figures = plain.replay(self.model, written)
            for words in (["verify", str(schedule), "--model", str(model)], ["replay", str(schedule), "--model", str(model)],
                          ["check", str(schedule), "--model", str(model)]):
                status, said = run(*words)
                self.counts["commands of the tool"] += 1
                self.expect(status == 0 and reason is None, f"{words[0]} ends with {status}; plain replay: {reason}",
                            schedule=written, answer=said)
                if words[0] == "replay" and figures:
                    self.same_figures(of_tool(said), figures, {"schedule": written, "answer": said})
                lucky = plain.replay(plain.Model(self.text, end="low"), written)[1] if self.model.has_ranges else None
                for key, ours in (("makespan", figures), ("best_case_makespan", lucky)):
                    if figures and "makespan" in said:
                        self.expect(said.get(key) == (ours and ours["makespan"]), f"{words[0]}: another {key}", answer=said)
        shutil.rmtree(folder)
