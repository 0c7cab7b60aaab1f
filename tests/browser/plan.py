"""Looks at the report of `bubbleproof plan` in a real browser."""

import base64
import json

from scripts import CARD, COLOURED, PLACE

SHOWN = """
const detail = [...document.querySelectorAll(".detail")].filter((detail) => !detail.hidden);
const { panels: [panel] } = bubbleproof;
const bars = detail.length === 1 ? [...detail[0].querySelectorAll("tr[data-work]")] : [];
return {
  details: detail.map(({ dataset }) => dataset.plan),
  rows: [...document.querySelectorAll(".plans tr.chosen")].map(({ dataset }) => dataset.plan),
  pressed: [...document.querySelectorAll(".plans [aria-pressed=true]")].map((button) => button.textContent),
  points: [...document.querySelectorAll(".point[aria-checked=true]")].map(({ dataset }) => dataset.plan),
  stops: [...document.querySelectorAll(".point[tabindex='0']")].map(({ dataset }) => dataset.plan),
  makespan: panel.section.hidden ? null : panel.timeline.makespan,
  title: panel.section.querySelector("h3").textContent,
  peaks: bars.map(({ dataset }) => Number(dataset.peak)),
  works: bars.map(({ dataset }) => Number(dataset.work)),
  widths: bars.map((row) => [...row.querySelectorAll(".bar:nth-child(3) i")]
    .reduce((sum, bar) => sum + bar.getBoundingClientRect().width, 0)),
};
"""

ROWS = """
return [...document.querySelectorAll(".plans tbody tr")].map(({ dataset }) => ({
  plan: dataset.plan, makespan: Number(dataset.makespan), peak: Number(dataset.peak), cut: dataset.cut,
  bound: dataset.bound === undefined ? null : Number(dataset.bound),
}));
"""

# Where points lie, in the window.
POINTS = """
return Object.fromEntries([...document.querySelectorAll(".point")].map((point) => {
  const { left, top, width, height } = point.querySelector(".ring").getBoundingClientRect();
  return [point.dataset.plan, [left + width / 2, top + height / 2, Number(point.dataset.memory), Number(point.dataset.time)]];
}));
"""

# Pairs of texts of the diagram that overlap, and texts that are not wholly inside it.
TEXTS = """
const chart = document.querySelector(".chart");
const frame = chart.getBoundingClientRect();
const texts = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
const found = [];
texts.forEach(([name, a], at) => {
  if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) {
    found.push(`${name} sticks out`);
  }
  for (const [other, b] of texts.slice(at + 1)) {
    if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom) found.push(`${name} / ${other}`);
  }
});
return found;
"""

CONTRAST = COLOURED + """
let worst = [Infinity, ""];
const look = (at, colour, name) => {
  const found = contrast(parts(colour), ground(at));
  if (found < worst[0]) worst = [found, name];
};
for (const at of document.querySelectorAll("h1,h2,h3,p,button,li,summary,span,strong,th,td,text,figcaption")) {
  if (at.closest(".still") || at.closest("[hidden]") || at.closest("dialog")) continue;
  if (![...at.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
  const style = getComputedStyle(at);
  look(at, at.tagName === "text" ? style.fill : style.color, `${at.tagName} ${at.textContent.slice(0, 30)}`);
}
let faint = [Infinity, ""];
for (const at of document.querySelectorAll(".chart path.capacity,.chart path.bound,.chart path.frontier,.point > :last-child")) {
  const { fill, stroke } = getComputedStyle(at);
  const found = contrast(parts(stroke === "none" ? fill : stroke), ground(at.closest("svg")));
  if (found < faint[0]) faint = [found, at.outerHTML.slice(0, 60)];
}
return [worst, faint];
"""


class Report:
    """A page, the answer that it must show, and what to do with what is found."""

    def __init__(self, browser, path, answer, out, check, equal):
        self.browser, self.path, self.answer, self.out, self.check, self.equal = browser, path, answer, out, check, equal
        self.plans = [one for one in answer["alternatives"] if one["status"] == "planned"]

    def open(self, width=1280, height=900):
        self.browser.resize(width, height)
        self.browser.log("browser")
        self.browser.log("performance")
        self.browser.open(self.path.as_uri())

    def shot(self, name):
        """A picture of the whole page."""
        size = self.browser.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        before = self.browser.run("return [innerWidth, innerHeight]")
        self.browser.resize(size[0], min(size[1], 6000))
        self.browser.run("bubbleproof.drawNow()")
        self.browser.screenshot(self.out / name)
        self.browser.resize(*before)

    def shows(self, what, key, devices):
        """The plan with this key is the one that is shown, everywhere."""
        shown = self.browser.run(SHOWN)
        found = [shown[part] for part in ["details", "rows", "pressed", "points", "stops"]]
        self.equal(f"{what} shows plan {key}", found, [[key]] * 5)
        row = next(row for row in self.browser.run(ROWS) if row["plan"] == key)
        if key != "naive":
            self.equal(f"with its timeline of {row['makespan']}", shown["makespan"], row["makespan"])
        self.equal("its fullest device", max(shown["peaks"]), row["peak"])
        self.equal("and a bar for each device", len(shown["works"]), devices)
        longest = max(shown["widths"])
        right = all(
            abs(width / longest - work / max(shown["works"])) < 0.01 for width, work in zip(shown["widths"], shown["works"])
        )
        self.check("whose lengths are as its work", right and longest > 20, shown)
        return shown

    def figures(self):
        rows = self.browser.run(ROWS)
        found = [[row["makespan"], row["peak"], row["bound"], row["cut"]] for row in rows if row["plan"] != "naive"]
        expected = [
            [one["makespan"], one["peak_memory_max"], one["lower_bound"], ",".join(map(str, one["cut"]))] for one in self.plans
        ]
        self.equal(f"{self.path.name}: the {len(expected)} plans have the figures of the answer", found, expected)
        bound = self.browser.run("return Number(document.querySelector('main').dataset.lowerBound)")
        self.equal("and so has the bound", bound, self.answer["lower_bound"])

    def chart(self):
        points = self.browser.run(POINTS)
        for (key, one), (other, two) in [(a, b) for a in points.items() for b in points.items() if a[0] < b[0]]:
            right = (one[0] - two[0]) * (one[2] - two[2]) >= -1e-6 and (one[1] - two[1]) * (one[3] - two[3]) <= 1e-6
            if not right:
                self.check(f"points {key} and {other} lie as their figures", False, (one, two))
        self.check(f"the {len(points)} points lie as their figures", True)
        self.equal("no text of the diagram covers another or sticks out", self.browser.run(TEXTS), [])

    def choosing(self, devices):
        best = self.shows("the page", "1", devices("1"))
        keys = [row["plan"] for row in self.browser.run(ROWS)]
        for key in keys[1:][:6]:
            # Points may lie on top of each other: the click has to meet the one that is asked for.
            x, y, *_ = self.browser.run(POINTS)[key]
            hit = self.browser.run("return document.elementFromPoint(...arguments).closest('.point')?.dataset.plan", x, y)
            if hit != key:
                continue
            self.browser.click(x, y)
            shown = self.shows(f"a click on point {key}", key, devices(key))
            self.check("something else than before", shown != best)
        self.browser.run("document.querySelector('.plans tr[data-plan=\"1\"] button').click()")
        self.shows("a click in the table", "1", devices("1"))
        # Plans may need the same memory, in either order.
        memory = {key: point[2] for key, point in self.browser.run(POINTS).items()}
        more = [other for other in memory.values() if other > memory["1"]]
        self.browser.run("document.querySelector('.point[tabindex=\"0\"]').focus()")
        ring = "const { stroke, strokeWidth } = getComputedStyle(document.querySelector('.point:focus .ring')); return [stroke, parseFloat(strokeWidth)]"
        self.browser.press("ArrowRight")
        at = self.browser.run("return document.activeElement.dataset.plan")
        equal = [key for key, other in memory.items() if other == memory["1"] and key != "1"]
        expected = [memory["1"]] * bool(equal) + [min(more) if more else min(memory.values())]
        self.check("the right arrow goes to a plan with the next more memory", at != "1" and memory[at] in expected, memory)
        self.shows("the right arrow", at, devices(at))
        stroke, width = self.browser.run(ring)
        self.check("and the focus is seen", stroke != "none" and width >= 2, (stroke, width))
        self.browser.press("ArrowLeft")
        self.shows("the left arrow", "1", devices("1"))
        spoken = self.browser.run("return document.getElementById('spoken').textContent")
        self.check("it is spoken", "Best plan" in spoken, spoken)
        for _ in range(60):
            self.browser.press("Tab")
            if self.browser.run("return document.activeElement.matches('.plans button')"):
                break
        self.browser.press("Tab")
        self.browser.press("Enter")
        key = self.browser.run("return document.activeElement.textContent")
        self.shows("Tab and Enter in the table", key, devices(key))
        self.browser.run("bubbleproof.select('1')")

    def timelines(self):
        """The timelines are those of every page: they can be zoomed, and passes looked at."""
        self.browser.run("bubbleproof.panels[0].section.scrollIntoView()")
        x, y = self.browser.run(PLACE, 0, "1F0")
        self.browser.point(x, y)
        self.equal("hovering over a pass shows it", (self.browser.run(CARD) or {}).get("name"), "1F0")
        span = "return bubbleproof.view.span"
        whole = self.browser.run(span)
        self.browser.wheel(x, y, 0, 40)
        self.equal("the wheel scrolls the page", self.browser.run(span), whole)
        self.browser.press("+")
        self.check("plus zooms in", self.browser.run(span) < whole)
        self.browser.press("0")
        self.browser.point(2, 2)
        longest = self.browser.run("return [bubbleproof.view.makespan, Math.max(...bubbleproof.panels.map((p) => p.timeline.makespan))]")
        self.equal("both timelines have one axis, as long as the longer one", longest[0], longest[1])

    def themes(self, name):
        for theme in ["light", "dark"]:
            self.browser.prefer(theme)
            text, lines = self.browser.run(CONTRAST)
            self.check(f"{theme}: text has a contrast of at least 4.5 (worst {text[0]:.1f})", text[0] >= 4.5, text)
            self.check(f"{theme}: lines have at least 3 (worst {lines[0]:.1f})", lines[0] >= 3, lines)
            self.shot(f"{name}-{theme}.png")
        self.browser.prefer()

    def printed(self, name):
        """Paper has the best plan and the naive one, whatever is chosen on the screen, in a dark window too."""
        self.browser.run("bubbleproof.select(document.querySelector('.plans tbody tr:nth-child(2)').dataset.plan)")
        self.browser.prefer("dark", media="print")
        seen = self.browser.run(
            "const seen = (at) => at.getClientRects().length > 0;"
            "return [[...document.querySelectorAll('.detail')].filter(seen).map(({ dataset }) => dataset.plan),"
            " [...document.querySelectorAll('canvas, [role=toolbar]')].filter(seen).length,"
            " [...document.querySelectorAll('.still svg')].filter(seen).length]"
        )
        naive = ["naive"] if self.browser.run("return document.querySelector('.detail.naive') !== null") else []
        self.equal("printed are the best plan and the naive one, as drawings", seen, [["1", *naive], 0, 1 + len(naive)])
        ground = self.browser.run("return getComputedStyle(document.body).backgroundColor")
        self.equal("on white paper", ground, "rgb(255, 255, 255)")
        text, _ = self.browser.run(CONTRAST)
        self.check(f"print: text has a contrast of at least 4.5 (worst {text[0]:.1f})", text[0] >= 4.5, text)
        self.browser.resize(1040, 720)
        size = self.browser.run("return document.documentElement.scrollHeight")
        wide = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
        self.check("print: nothing is wider than the paper", wide[0] <= wide[1], wide)
        self.browser.resize(1040, min(size, 6000))
        self.browser.screenshot(self.out / f"{name}-print.png")
        pdf = self.browser.devtools("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": False})
        (self.out / f"{name}.pdf").write_bytes(base64.b64decode(pdf["data"]))
        self.browser.prefer()
        self.browser.run("bubbleproof.select('1')")

    def narrow(self, name):
        for width in [380, 800]:
            self.browser.resize(width, 800)
            wide = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
            self.check(f"{width} pixels need no scrolling sideways", wide[0] <= wide[1], wide)
            self.shot(f"{name}-{width}.png")
        self.browser.resize(1280, 900)

    def without_script(self, name):
        self.browser.devtools("Emulation.setScriptExecutionDisabled", {"value": True})
        self.browser.open(self.path.as_uri())
        self.browser.screenshot(self.out / f"{name}-without-script.png")
        self.browser.devtools("Emulation.setScriptExecutionDisabled", {"value": False})
        # Chromium runs what WebDriver sends, though not what the page has.
        seen = self.browser.run(
            "const seen = (at) => at.getClientRects().length > 0;"
            "return [document.documentElement.className, [...document.querySelectorAll('.detail')].filter(seen).map(({ dataset }) => dataset.plan),"
            " [...document.querySelectorAll('canvas')].filter(seen).length]"
        )
        naive = ["naive"] if self.browser.run("return document.querySelector('.detail.naive') !== null") else []
        self.equal("without a script there are the best plan, the naive one, and no empty canvas", seen, ["", ["1", *naive], 0])


def report(browser, path, answer, devices, out, check, equal, is_quiet):
    """All checks of a report; `devices` says how many devices a plan has."""
    page = Report(browser, path, answer, out, check, equal)
    page.open()
    size = path.stat().st_size
    check(f"{path.name}: {len(page.plans)} plans in {size // 1000} kB", size < 3_000_000, size)
    page.figures()
    page.chart()
    page.choosing(devices)
    page.timelines()
    page.themes(path.stem)
    page.narrow(path.stem)
    page.printed(path.stem)
    is_quiet(browser, path)
    page.without_script(path.stem)


def hostile(browser, path, check, equal, is_quiet):
    """A job whose name is a script runs none."""
    browser.log("browser")
    browser.log("performance")
    browser.open(path.as_uri())
    title = browser.run("return document.querySelector('h1').textContent")
    check("a hostile name is text", "<script>" in title, title)
    equal("and no script", browser.run("return [document.scripts.length, typeof window.hacked]"), [2, "undefined"])
    is_quiet(browser, path)


def planned(tool, job, path):
    """The answer of `plan` for a job, with its report in a file."""
    return json.loads(tool("plan", job, "--report", path, "--json"))


def devices_of(answer):
    plans = [one for one in answer["alternatives"] if one["status"] == "planned"]
    degrees = {str(at + 1): one["choice"]["pipeline"] for at, one in enumerate(plans)}
    return lambda key: degrees["1"] if key == "naive" else degrees[key]
