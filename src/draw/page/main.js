// The page: its timelines, what they show, and which pass is looked at.

const FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

class Page {
  constructor(data) {
    this.shows = { critical: true, memory: true, bubbles: true, phases: true };
    this.card = new Card();
    /** The pass or the task under the pointer, and the one that was chosen by key or click; the first is looked at. */
    this.hovered = null;
    this.chosen = null;
    /** The instant that the pointer is at. */
    this.cursor = null;
    this.frames = 0;
    this.pending = false;
    this.view = new View(Math.max(...data.schedules.map(({ makespan }) => makespan)));
    const sections = [...document.querySelectorAll(".panel")];
    this.panels = sections.map((section, at) => new Panel(section, data.schedules[at], this));
    this.view.changed = () => this.draw();
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.#theme());
    addEventListener("resize", () => this.#resize());
    listenToKeys(this);
    this.#resize();
    this.#theme();
  }

  get looked() {
    return this.hovered ?? this.chosen;
  }

  /** Draws everything with the next frame, once. */
  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }

  drawNow() {
    for (const panel of this.panels) if (!panel.section.hidden) panel.painter.paint();
    this.frames += 1;
  }

  /** Shows another schedule in a panel. */
  replace(panel, data) {
    panel.timeline = new Timeline(data);
    this.hovered = this.chosen = this.cursor = null;
    this.view.reach(Math.max(...this.panels.map(({ timeline }) => timeline.makespan)));
    this.#theme();
    this.#resize();
  }

  hover(panel, thing, instant) {
    this.cursor = instant;
    this.hovered = thing && { panel, ...thing };
    this.card.show(this.looked, false);
    this.draw();
  }

  leave() {
    this.cursor = null;
    this.hovered = null;
    this.card.show(this.looked, false);
    this.draw();
  }

  /** Looks at what was clicked, until something else is chosen. */
  pick(panel, thing) {
    this.chosen = thing && { panel, ...thing };
    this.card.show(this.looked, false);
    this.draw();
  }

  /** Looks at a pass until another is chosen. */
  choose(panel, id, byKey) {
    this.chosen = id === null || panel === null ? null : { panel, id };
    if (byKey && this.chosen) {
      this.hovered = null;
      this.cursor = null;
      panel.reveal(panel.timeline.device[id]);
      this.view.reveal(panel.timeline.start[id], panel.timeline.end[id]);
    }
    this.card.show(this.looked, byKey);
    this.draw();
  }

  /** The focus has come to a timeline by key. */
  arrive(panel) {
    if (this.chosen?.panel === panel) return;
    const id = this.firstInSight(panel);
    if (id !== null) this.choose(panel, id, true);
  }

  firstInSight({ timeline, painter }) {
    const device = painter.deviceAt(AXIS) ?? 0;
    return timeline.at(device, this.view.from);
  }

  /** Where keys zoom in: at what is looked at, if that is in sight, else in the middle. */
  middle() {
    const { from, to } = this.view;
    if (this.looked) {
      const [start, end] = during(this.looked);
      const at = (start + end) / 2;
      if (at >= from && at <= to) return at;
    }
    return (from + to) / 2;
  }

  toggle(part) {
    this.shows[part] = !this.shows[part];
    this.#press(part, this.shows[part]);
    this.draw();
  }

  stretch(factor) {
    for (const panel of this.panels) panel.stretch(factor);
    this.#resize();
  }

  switchTheme() {
    document.documentElement.dataset.theme = this.theme === "dark" ? "light" : "dark";
    this.#theme();
  }

  #press(name, pressed) {
    document.querySelector(`button[data-do=${name}]`).setAttribute("aria-pressed", String(pressed));
  }

  #theme() {
    this.theme = document.documentElement.dataset.theme ?? (this.dark.matches ? "dark" : "light");
    const style = getComputedStyle(document.documentElement);
    const names = ["ground", "bubble", "curve", "capacity", "ink", "muted", "needs", "leads"];
    this.colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.#press("theme", this.theme === "dark");
    this.panels.forEach(({ section, timeline }) => {
      for (const sample of section.querySelectorAll("[data-colour]")) {
        const [kind, chunk] = sample.dataset.colour.split(" ");
        [sample.style.background] = timeline.colours[this.theme][kind][chunk];
      }
    });
    this.draw();
  }

  /** The height that there is for each timeline, in pixels. */
  rooms() {
    // All timelines are in sight at once, if the window allows: they share the height that the rest leaves.
    const frames = this.panels.reduce((sum, { frame }) => sum + frame.offsetHeight, 0);
    const rest = document.body.scrollHeight - frames;
    return this.panels.map(() => Math.max((innerHeight - rest) / this.panels.length, 170));
  }

  /** Whether the wheel scrolls the page, unless Ctrl is held. */
  get scrolls() {
    return false;
  }

  #resize() {
    const rooms = this.rooms();
    this.panels.forEach((panel, at) => panel.resize(rooms[at]));
    this.card.show(this.looked, false);
    this.draw();
  }
}

/** When a pass, or a task of a lane, starts and ends. */
function during({ panel: { timeline }, id, lane, at }) {
  return lane ? [lane.start[at], lane.end[at]] : [timeline.start[id], timeline.end[id]];
}
