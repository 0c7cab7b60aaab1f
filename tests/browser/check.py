"""Looks at pages of `bubbleproof render` and `plan` in a real browser: python3 check.py FOLDER_OF_PROGRAMS OUT

What a page shows is compared with what `replay --json` says. Speed is asserted as work per frame (shapes and
pixels drawn, passes visited), which no busy machine changes; the milliseconds are reported.
"""

import json
import pathlib
import re
import subprocess
import sys

import plan
from scripts import CARD, COLOURS, CONTRAST, JOB_COLOURS, JOB_PLACE, JOBS, JOURNEY, PLACE, TIMES
from webdriver import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
LINEAR = "models/profiles/zb-1.5b-p8-m24.toml"
V = "models/profiles/zb-1.5b-p8-m24-v.toml"
MACHINE = "tests/data/cli/machine.toml"
JOB = ROOT / "tests" / "data" / "cli" / "job.toml"
MANY = ROOT / "models" / "jobs" / "llama-3-8b.toml"


def tool(*arguments):
    done = subprocess.run(
        [PROGRAMS / "bubbleproof", *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def named(name, model, devices, microbatches):
    path = OUT / f"{name}-{devices}-{microbatches}.json"
    program = PROGRAMS / "examples" / "named_schedule"
    subprocess.run([program, name, model, str(devices), str(microbatches), path], cwd=ROOT, check=True)
    return path


def replayed(schedule, model):
    return json.loads(tool("replay", schedule, *(["--model", model] if model else []), "--json"))


def check(what, holds, found=""):
    if not holds:
        raise SystemExit(f"FAILED  {what}: {found}")
    print(f"ok      {what}")


def equal(what, found, expected):
    check(what, found == expected, f"{found!r} instead of {expected!r}")


def open_page(browser, path):
    browser.log("browser")
    browser.log("performance")
    browser.open(path.as_uri())
    browser.run("bubbleproof.drawNow()")


def is_quiet(browser, path):
    """No message on the console, and nothing asked for but the page itself."""
    equal(f"{path.name}: nothing on the console", browser.log("browser"), [])
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    foreign = [url for url in asked if url != path.as_uri() and not url.startswith("data:")]
    equal(f"{path.name}: nothing is loaded but the page", foreign, [])


def ticks(text):
    """The whole numbers of microseconds, or of ticks without a length, in a text of times with their units."""
    times = re.findall(r"([\d\u202f]+)(?:\.(\d+))? (ns|us|ms|s|ticks?)\b", text)
    digits = {"us": 0, "ms": 3, "s": 6}
    return [int(whole.replace("\u202f", "") + parts.ljust(digits.get(unit, 0), "0")) for whole, parts, unit in times]


def right_passes(browser, panel, schedule, model, units=1):
    """Compares with replay; a tick of the model is so many units of the page's axis."""
    truth = replayed(schedule, model)
    expected = sorted((p["device"], p["pass"], p["start"] * units, p["end"] * units) for p in truth["passes"])
    found = sorted(tuple(found) for found in browser.run(TIMES, panel))
    equal(f"{schedule.name}: passes on the page", len(found), len(expected))
    check(f"{schedule.name}: every start and end is that of replay", found == expected)
    most = browser.run(
        "const { timeline } = bubbleproof.panels[arguments[0]];"
        "return timeline.devices.map((_, device) => Math.max(...timeline.during.slice(...timeline.span(device))));",
        panel,
    )
    equal(f"{schedule.name}: the curves of memory rise to the peaks of replay", most, truth["peak_memory"])
    return truth


def drawing(browser, count):
    browser.resize(3000, 800)
    browser.run("bubbleproof.view.fit(); bubbleproof.drawNow()")
    stats = browser.run("return bubbleproof.panels[0].painter.stats")
    devices = browser.run("return bubbleproof.panels[0].timeline.devices.length")
    equal("every pass and every device's bubble is a rectangle", stats["rectangles"], count + devices)
    seen, right = browser.run(COLOURS)
    equal("every pass that is wide enough has its colour on the canvas", (right, seen > count / 2), (seen, True))
    browser.resize(1200, 800)


def hovering(browser, truth):
    times = {p["pass"]: p for p in truth["passes"]}
    for name in ["0F0", "3I7", "7W11", "0W23"]:
        browser.point(*browser.run(PLACE, 0, name))
        card = browser.run(CARD)
        equal(f"hovering over {name} shows it", card and card["name"], name)
        shown = [ticks(card[key])[0] for key in ["start", "end", "duration"]]
        start, end = times[name]["start"], times[name]["end"]
        equal(f"with its times, {start} to {end}", shown, [start, end, end - start])
    browser.point(*browser.run(PLACE, 0, "3I7"))
    card = browser.run(CARD)
    needs = re.findall(r"\d+[FRIWB]\d+", card["needs"])
    leads = re.findall(r"\d+[FRIWB]\d+", card["leads"])
    equal("3I7 needs and is needed by", (needs, leads), (["3F7", "4I7"], ["2I7", "3W7"]))
    late = times["3I7"]["start"] - times["4I7"]["end"] - 601
    early = ticks(card["needs"].split("4I7")[1])[-1] if "early" in card["needs"].split("4I7")[1] else 0
    equal("and the message from 4I7 was there as early as the times say", early, late)
    browser.point(5, 5)
    equal("off the timeline the card is gone", browser.run(CARD), None)


def zooming(browser):
    span = "return [bubbleproof.view.from, bubbleproof.view.to]"
    x, y = browser.run(PLACE, 0, "3I7")
    at = "return bubbleproof.panels[0].painter.instant(arguments[0] - arguments[1])"
    left = browser.run("return bubbleproof.panels[0].canvas.getBoundingClientRect().left")
    before, instant = browser.run(span), browser.run(at, round(x), left)
    browser.wheel(x, y, 0, -400)
    after = browser.run(span)
    check("the wheel zooms in", after[1] - after[0] < 0.7 * (before[1] - before[0]), after)
    moved = abs(browser.run(at, round(x), left) - instant)
    check("and leaves the instant under the pointer where it is", moved < (after[1] - after[0]) / 500, moved)
    browser.drag(x, y, -150, 0)
    check("dragging pans", browser.run(span)[0] > after[0], after)
    equal("and does not zoom", round(browser.run(span)[1] - browser.run(span)[0]), round(after[1] - after[0]))
    browser.run("bubbleproof.view.fit()")
    for kind, points in [
        ("touchStart", [(500, 200), (600, 200)]),
        ("touchMove", [(450, 200), (650, 200)]),
        ("touchMove", [(400, 200), (700, 200)]),
        ("touchEnd", []),
    ]:
        touches = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        browser.devtools("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
    pinched = browser.run(span)
    check("a pinch zooms in", pinched[1] - pinched[0] < 0.5 * (before[1] - before[0]), pinched)
    browser.run("bubbleproof.view.fit(); bubbleproof.leave()")


def keyboard(browser, truth):
    times = {p["pass"]: p for p in truth["passes"]}
    stops = []
    for _ in range(40):
        browser.press("Tab")
        stop = browser.run(
            "const at = document.activeElement; const { outlineStyle, outlineWidth } = getComputedStyle(at);"
            "return [at.tagName, at.getAttribute('aria-label') || at.textContent, outlineStyle, parseFloat(outlineWidth)]"
        )
        if stop[0] == "BODY":
            break
        stops.append(stop)
        if stop[0] == "CANVAS":
            break
    equal("Tab reaches ten buttons and then the timeline", [s[0] for s in stops], ["BUTTON"] * 10 + ["CANVAS"])
    check("each has a name", all(name.strip() for _, name, *_ in stops), stops)
    check("and a visible focus", all(style == "solid" and width >= 2 for *_, style, width in stops), stops)
    equal("the timeline shows its first pass", browser.run(CARD)["name"], "0F0")
    browser.press("ArrowRight", "ArrowRight")
    equal("the right arrow goes to the next pass", browser.run(CARD)["name"], "0F2")
    browser.press("n")
    equal("a pass that needs nothing stays", browser.run(CARD)["name"], "0F2")
    browser.press("d")
    equal("d goes to what depends on it", browser.run(CARD)["name"], "1F2")
    browser.press("n")
    equal("n goes back to what it needed", browser.run(CARD)["name"], "0F2")
    browser.press("ArrowDown")
    device = browser.run("return bubbleproof.chosen.panel.timeline.device[bubbleproof.chosen.id]")
    equal("the down arrow goes to the next device", device, 1)
    browser.press("End")
    last = max((p for p in truth["passes"] if p["device"] == 1), key=lambda p: p["start"])
    card = browser.run(CARD)
    equal("End goes to its last pass", card["name"], last["pass"])
    equal("with its times", ticks(card["start"])[0], last["start"])
    spoken = browser.run("return document.getElementById('spoken').textContent")
    equal("it is spoken", ticks(spoken.split(" Memory")[0]), [last["start"], last["end"]])
    span = "return bubbleproof.view.span"
    whole = browser.run(span)
    browser.press("+", "+")
    near = browser.run(span)
    check("plus zooms in", near < whole / 2, near)
    seen = browser.run(
        "const { panel: { timeline }, id } = bubbleproof.chosen, { view } = bubbleproof;"
        "return timeline.start[id] >= view.from && timeline.end[id] <= view.to"
    )
    check("and the pass stays in sight", seen)
    start = browser.run("return bubbleproof.view.from")
    browser.press("Shift+ArrowLeft")
    check("Shift and an arrow pan", browser.run("return bubbleproof.view.from") < start)
    browser.press("0")
    equal("0 shows all", browser.run(span), whole)
    for key, part in [("c", "critical"), ("m", "memory"), ("b", "bubbles")]:
        pressed = f"return document.querySelector('[data-do={part}]').getAttribute('aria-pressed')"
        before = browser.run(pressed)
        browser.press(key)
        equal(f"{key} toggles {part}", (before, browser.run(pressed)), ("true", "false"))
        browser.press(key)
    browser.press("?")
    check("the question mark opens the help", browser.run("return document.getElementById('help').open"))
    browser.press("Escape")
    check("Escape closes it", not browser.run("return document.getElementById('help').open"))
    browser.press("Escape")
    equal("Escape looks at no pass", browser.run(CARD), None)


def themes(browser):
    browser.point(*browser.run(PLACE, 0, "3I7"))
    for theme in ["light", "dark"]:
        browser.prefer(theme)
        browser.run("bubbleproof.drawNow()")
        found, worst, drawn, labels = browser.run(CONTRAST)
        equal(f"the page follows a preference for {theme}", found, theme)
        check(f"{theme}: text has a contrast of at least 4.5 (worst {worst[0]:.1f})", worst[0] >= 4.5, worst)
        text = min(drawn["ink"], drawn["muted"], labels)
        check(f"{theme}: so has text on the canvas (worst {text:.1f})", text >= 4.5, drawn)
        lines = min(drawn.values())
        check(f"{theme}: lines have at least 3 (worst {lines:.1f})", lines >= 3, drawn)
        seen, right = browser.run(COLOURS)
        equal(f"{theme}: passes have the colours of the theme", right, seen)
        browser.screenshot(OUT / f"page-{theme}.png")
    browser.press("t")
    equal("t switches to light all the same", browser.run("return bubbleproof.theme"), "light")
    browser.press("t")
    browser.prefer()


def narrow(browser, path):
    browser.resize(380, 700)
    wide = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    check(f"{path.name}: a narrow window needs no scrolling sideways", wide[0] <= wide[1], wide)
    browser.screenshot(OUT / f"page-narrow-{path.stem}.png")
    browser.resize(1200, 800)


def side_by_side(browser, path, pairs):
    open_page(browser, path)
    for panel, (schedule, model, units) in enumerate(pairs):
        right_passes(browser, panel, schedule, model, units)
    browser.run("bubbleproof.view.zoom(3); bubbleproof.drawNow()")
    same = browser.run(
        "const [a, b] = bubbleproof.panels; const at = bubbleproof.view.from + bubbleproof.view.span / 3;"
        "return a.painter.x(at) + a.canvas.getBoundingClientRect().left"
        " === b.painter.x(at) + b.canvas.getBoundingClientRect().left"
    )
    check("both timelines have one axis of time, zoomed too", same)
    browser.run("bubbleproof.view.fit(); bubbleproof.drawNow()")
    browser.point(*browser.run(PLACE, 1, "9I3"))
    equal("hovering works on the second", browser.run(CARD)["name"], "9I3")
    browser.prefer("dark")
    browser.run("bubbleproof.drawNow()")
    browser.screenshot(OUT / "page-two-dark.png")
    browser.prefer()
    is_quiet(browser, path)


def overlapped(browser, path, schedule):
    """Pairs that PyTorch runs as one pass."""
    open_page(browser, path)
    truth = right_passes(browser, 0, schedule, None)
    pairs = schedule.read_text().count("OVERLAP_F_B")
    partners = browser.run("return [...bubbleproof.panels[0].timeline.partner].filter((other) => other >= 0).length")
    equal(f"{schedule.name}: the passes of {pairs} overlapped pairs know each other", partners, 2 * pairs)
    first, second = re.search(r"\((\w+);(\w+)\)OVERLAP", schedule.read_text()).groups()
    browser.point(*browser.run(PLACE, 0, first))
    card = browser.run(CARD)
    equal(f"hovering over {first} shows it", card["name"], first)
    check(f"with {second}, which it is overlapped with", second in card["pair"], card)
    # Nothing is said to be there before it is: every need is there at the start, or early.
    late = browser.run(
        "const { timeline } = bubbleproof.panels[0];"
        "return Array.from({ length: timeline.count }, (_, id) => id).filter((id) => timeline.needs(id).some("
        "  (need) => timeline.yields(need.id) + need.latency > timeline.begins(id)))"
        "  .map((id) => timeline.name(id));"
    )
    equal(f"every need of the {len(truth['passes'])} passes is there in time", late, [])
    is_quiet(browser, path)


def jobs_of(truth):
    """What replay says of messages, copies, reductions and optimiser steps, as the page does."""
    jobs = []
    for link in truth["links"]:
        sender, receiver = link["link"]["pair"]["from"], link["link"]["pair"]["to"]
        name = f"device {sender} to device {receiver}"
        jobs += [[sender, name, sent["pass"], sent["start"], sent["end"]] for sent in link["messages"]]
    for engines in truth["copies"]:
        for engine, name in [("to_host", "copies to the host"), ("from_host", "copies from the host")]:
            copies = engines[engine]["copies"]
            jobs += [[engines["device"], name, copy["pass"], copy["start"], copy["end"]] for copy in copies]
    for end in truth["step"]:
        # One stage on each device.
        device, name = end["stage"], f"stage {end['stage']}"
        jobs.append([device, "collective stream", name, *end["reduce"]])
        jobs.append([device, "optimizer", name, *end["optimizer"]])
    return sorted(jobs)


def beside(browser, path, schedule):
    """What runs beside and behind the passes."""
    browser.resize(1200, 800)
    open_page(browser, path)
    truth = right_passes(browser, 0, schedule, MACHINE)
    jobs = jobs_of(truth)
    found = sorted(browser.run(JOBS, 0))
    equal(f"{schedule.name}: {len(jobs)} tasks beside the passes are those of replay", found, jobs)
    for theme in ["dark", "light"]:
        browser.prefer(theme)
        browser.run("bubbleproof.drawNow()")
        equal(f"{theme}: each of them has its colour on the canvas", browser.run(JOB_COLOURS), [len(jobs)] * 2)
        browser.screenshot(OUT / f"page-machine-{theme}.png")
    browser.prefer()
    for zoom in [1, 3]:
        browser.run("bubbleproof.view.zoom(arguments[0], 20); bubbleproof.drawNow()", zoom)
        for device, name, subject, start, end in jobs:
            if zoom > 1 and not 17 < (start + end) / 2 < 23:
                continue
            browser.point(*browser.run(JOB_PLACE, device, name, subject))
            card = browser.run(CARD)
            equal(f"zoom {zoom}: hovering over {subject} of {name} shows it", card and card["name"], subject)
            shown = [ticks(card[key])[0] for key in ["start", "end", "duration"]]
            equal(f"with its times, {start} to {end}", shown, [start, end, end - start])
    browser.screenshot(OUT / "page-machine-zoomed.png")
    browser.run("bubbleproof.view.fit(); bubbleproof.leave(); bubbleproof.drawNow()")
    browser.point(*browser.run(PLACE, 0, "0B0"))
    equal("a pass above lanes is found", browser.run(CARD)["name"], "0B0")
    browser.press("m")
    device, name, subject, *_ = jobs[0]
    browser.point(*browser.run(JOB_PLACE, device, name, subject))
    equal(f"without memory, {subject} is found too", browser.run(CARD)["name"], subject)
    browser.press("m")
    narrow(browser, path)
    is_quiet(browser, path)


def spread(times):
    times = sorted(times)
    return f"median {times[len(times) // 2]:.1f}, nine of ten below {times[len(times) * 9 // 10]:.1f}, longest {times[-1]:.1f} ms"


def large(browser, path, schedule, model):
    open_page(browser, path)
    size = path.stat().st_size
    check(f"{path.name}: 98304 passes in {size // 1000} kB", size < 500_000, size)
    right_passes(browser, 0, schedule, model)
    for height, name in [(800, "as many rows as fit"), (1200, "all rows")]:
        browser.resize(1600, height)
        browser.run("bubbleproof.drawNow()")
        journey = browser.run_async(JOURNEY)
        frames = journey["frames"]
        most_rectangles = journey["rows"] * (journey["plot"] / 6 + 2)
        work = [frame["rectangles"] for frame in frames]
        check(
            f"{name}: {len(frames)} frames draw at most {max(work)} rectangles, bound {round(most_rectangles)}",
            max(work) <= most_rectangles,
        )
        most_pixels = journey["plot"] * journey["height"]
        check(f"{name}: and at most every pixel once", max(f["pixels"] for f in frames) <= most_pixels)
        check(
            f"{name}: no frame visits a pass outside the time shown",
            all(frame["visited"] <= frame["within"] for frame in frames),
        )
        zoomed = [frame["visited"] for frame in frames if frame["span"] < journey["frames"][0]["span"] / 50]
        check(f"{name}: zoomed in fifty times, at most {max(zoomed)} passes are visited", max(zoomed) < 98304 / 20)
        print(f"        drawing: {spread([frame['milliseconds'] for frame in frames])}")
        print(f"        frame to frame: {spread([frame['shown'] for frame in frames])}")
    device, name = 40, browser.run("const { timeline } = bubbleproof.panels[0]; return timeline.name(timeline.span(40)[0] + 700)")
    browser.resize(1200, 800)
    browser.run("bubbleproof.panels[0].reveal(arguments[0]); bubbleproof.view.zoom(40, bubbleproof.panels[0].timeline.start[bubbleproof.panels[0].timeline.span(40)[0] + 700]); bubbleproof.drawNow()", device)
    browser.point(*browser.run(PLACE, 0, name))
    equal(f"hovering finds {name} among them", browser.run(CARD)["name"], name)
    browser.screenshot(OUT / "page-large-zoomed.png")
    browser.run("bubbleproof.leave(); bubbleproof.view.fit(); bubbleproof.drawNow()")
    browser.screenshot(OUT / "page-large.png")
    is_quiet(browser, path)


def render(out, *arguments):
    path = OUT / out
    tool("render", *arguments, "-o", path)
    return path


def reports(browser):
    """The reports of plans: of a small job, and of a model with many alternatives."""
    for job in [JOB, MANY]:
        page = OUT / f"plan-{job.stem}.html"
        answer = plan.planned(tool, job, page)
        plan.report(browser, page, answer, plan.devices_of(answer), OUT, check, equal, is_quiet)
    named = OUT / "hostile.toml"
    named.write_text(JOB.read_text().replace("small-job", "</script><script>window.hacked = 1</script>"))
    page = OUT / "plan-hostile.html"
    plan.planned(tool, named, page)
    plan.hostile(browser, page, check, equal, is_quiet)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    if sys.argv[3:] == ["plan"]:
        with Browser() as browser:
            reports(browser)
        return
    first, second = named("zb-h1", LINEAR, 8, 24), named("v-half", V, 8, 24)
    huge = named("v-half", V, 64, 256)
    one = render("one.html", first, "--model", LINEAR, "--memory", "100%")
    two = render("two.html", first, second, "--model", LINEAR, "--more-model", V)
    many = render("many.html", huge, "--model", V)
    paired = ROOT / "tests" / "data" / "pytorch" / "dualpipev-4x2-10.csv"
    pairs = render("pairs.html", paired)
    engines = ROOT / "tests" / "data" / "cli" / "machine.json"
    machine = render("machine.html", engines, "--model", MACHINE)
    lanes = render("machine.svg", engines, "--model", MACHINE)
    svg = render("one.svg", first, "--model", LINEAR, "--memory", "100%", "--width", "1100")
    with Browser() as browser:
        print(f"        Chromium {browser.version}")
        browser.resize(1200, 800)
        open_page(browser, one)
        truth = right_passes(browser, 0, first, LINEAR)
        drawing(browser, len(truth["passes"]))
        hovering(browser, truth)
        zooming(browser)
        is_quiet(browser, one)
        open_page(browser, one)
        keyboard(browser, truth)
        themes(browser)
        narrow(browser, one)
        is_quiet(browser, one)
        side_by_side(browser, two, [(first, LINEAR, 1000), (second, V, 1)])
        overlapped(browser, pairs, paired)
        beside(browser, machine, engines)
        large(browser, many, huge, V)
        reports(browser)
        browser.resize(1200, 800)
        browser.open(svg.as_uri())
        browser.screenshot(OUT / "drawing.png")
        browser.open(lanes.as_uri())
        browser.screenshot(OUT / "drawing-machine.png")
    print(f"all checks hold; screenshots lie in {OUT}")


main()
