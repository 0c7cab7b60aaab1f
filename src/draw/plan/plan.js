// The page of a plan: timelines of the plan that was chosen and of the naive one, and how one is chosen.

class PlanPage extends Page {
  constructor(schedules) {
    const timelines = new Map();
    for (const { dataset } of document.querySelectorAll(".detail")) {
      if ("timeline" in dataset) timelines.set(dataset.plan, schedules[Number(dataset.timeline)]);
    }
    // The best plan and the naive one, which have timelines always.
    super({ schedules: ["1", "naive"].filter((key) => timelines.has(key)).map((key) => timelines.get(key)) });
    this.timelines = timelines;
    this.details = new Map(this.#all(".detail"));
    this.rows = new Map(this.#all(".plans tbody tr"));
    this.points = new Map(this.#all(".point"));
    this.plan = null;
    this.#listen();
    this.select("1");
  }

  #all(selector) {
    return [...document.querySelectorAll(selector)].map((element) => [element.dataset.plan, element]);
  }

  /** A timeline has room for its devices, up to a part of the window. */
  rooms() {
    return this.panels.map(({ timeline: { devices, lanes } }) => {
      const rows = devices.length + LANE * lanes.reduce((sum, { length }) => sum + length, 0);
      return Math.min(AXIS + 4 + 34 * rows, Math.max(innerHeight * 0.6, 170));
    });
  }

  get scrolls() {
    return true;
  }

  /** Shows a plan: its figures, its bars and its timeline. */
  select(key) {
    if (key === this.plan || !this.details.has(key)) return;
    const isFirst = this.plan === null;
    this.plan = key;
    for (const [plan, detail] of this.details) detail.hidden = plan !== key;
    for (const [plan, row] of this.rows) {
      row.classList.toggle("chosen", plan === key);
      row.querySelector("button").setAttribute("aria-pressed", String(plan === key));
    }
    for (const [plan, point] of this.points) {
      point.setAttribute("aria-checked", String(plan === key));
      point.setAttribute("tabindex", plan === key ? "0" : "-1");
    }
    const [panel] = this.panels;
    const title = this.details.get(key).querySelector("h3").textContent;
    panel.section.querySelector("h3").textContent = title;
    panel.canvas.setAttribute("aria-label", `Timeline of ${title}. Arrow keys go from pass to pass, a question mark lists all keys.`);
    // The naive plan has its timeline below already.
    panel.section.hidden = key === "naive" || !this.timelines.has(key);
    if (!panel.section.hidden) this.replace(panel, this.timelines.get(key));
    if (!isFirst) this.card.spoken.textContent = this.points.get(key).querySelector("title").textContent;
  }

  #listen() {
    const group = document.getElementById("points");
    group.setAttribute("role", "radiogroup");
    for (const [key, point] of this.points) {
      point.setAttribute("role", "radio");
      point.addEventListener("click", () => this.select(key));
      point.addEventListener("keydown", (event) => this.#move(event, key));
    }
    for (const [key, row] of this.rows) {
      const button = row.querySelector("button");
      button.disabled = false;
      row.addEventListener("click", () => this.select(key));
    }
  }

  /** Goes to the next plan by growing memory, or the one before. */
  #move(event, key) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in steps)) return;
    const place = ([, { dataset }]) => Number(dataset.memory);
    const order = [...this.points].sort((a, b) => place(a) - place(b)).map(([plan]) => plan);
    const next = order[(order.indexOf(key) + steps[event.key] + order.length) % order.length];
    this.select(next);
    this.points.get(next).focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

document.documentElement.classList.add("scripted");
// Named, so that the console and tests can look at what is drawn.
window.bubbleproof = new PlanPage(JSON.parse(document.getElementById("data").textContent).schedules);
