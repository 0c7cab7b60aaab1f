// What the keyboard does. Arrows and the keys of passes act on the timeline that has the focus, the others
// everywhere.

/** From a pass to another one, by key. */
const STEPS = {
  ArrowLeft: ({ timeline }, id) => step(timeline, id, -1),
  ArrowRight: ({ timeline }, id) => step(timeline, id, 1),
  ArrowUp: ({ timeline }, id) => beside(timeline, id, -1),
  ArrowDown: ({ timeline }, id) => beside(timeline, id, 1),
  Home: ({ timeline }, id) => timeline.span(timeline.device[id])[0],
  End: ({ timeline }, id) => timeline.span(timeline.device[id])[1] - 1,
  n: ({ timeline }, id) => latest(timeline, timeline.needs(id)) ?? id,
  d: ({ timeline }, id) => earliest(timeline, timeline.leadsTo(id)) ?? id,
};

function step(timeline, id, by) {
  const [first, end] = timeline.span(timeline.device[id]);
  return Math.min(Math.max(id + by, first), end - 1);
}

/** The pass of the next device up or down that runs at the same time. */
function beside(timeline, id, by) {
  const middle = (timeline.start[id] + timeline.end[id]) / 2;
  for (let device = timeline.device[id] + by; device >= 0 && device < timeline.devices.length; device += by) {
    const found = timeline.at(device, middle);
    if (found !== null) return found;
  }
  return id;
}

function latest(timeline, related) {
  return related.reduce((best, { id }) => (best === null || timeline.end[id] > timeline.end[best] ? id : best), null);
}

function earliest(timeline, related) {
  return related.reduce((best, { id }) => (best === null || timeline.start[id] < timeline.start[best] ? id : best), null);
}

function moveByKey(event, panel) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { page } = panel;
  const { view } = page;
  const pans = { ArrowLeft: -0.1, ArrowRight: 0.1, PageUp: -0.9, PageDown: 0.9 };
  if (event.key in pans && (event.shiftKey || event.key.startsWith("Page"))) {
    view.pan(pans[event.key] * view.span);
  } else if (event.key in STEPS) {
    const chosen = page.chosen?.panel === panel ? (page.chosen.id ?? null) : null;
    const id = chosen === null ? page.firstInSight(panel) : STEPS[event.key](panel, chosen);
    if (id !== null) page.choose(panel, id, true);
  } else {
    return;
  }
  event.preventDefault();
}

/** What the keys everywhere do; the buttons do the same. */
const ACTIONS = {
  "zoom-in": (page) => page.view.zoom(1.5, page.middle()),
  "zoom-out": (page) => page.view.zoom(1 / 1.5, page.middle()),
  fit: (page) => page.view.fit(),
  taller: (page) => page.stretch(1.25),
  flatter: (page) => page.stretch(0.8),
  critical: (page) => page.toggle("critical"),
  memory: (page) => page.toggle("memory"),
  bubbles: (page) => page.toggle("bubbles"),
  theme: (page) => page.switchTheme(),
  help: () => document.getElementById("help").showModal(),
};

const KEYS = {
  "+": "zoom-in",
  "=": "zoom-in",
  "-": "zoom-out",
  0: "fit",
  ".": "taller",
  ",": "flatter",
  c: "critical",
  m: "memory",
  b: "bubbles",
  t: "theme",
  "?": "help",
};

function listenToKeys(page) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") page.choose(null, null, false);
    else if (event.key in KEYS) ACTIONS[KEYS[event.key]](page);
    else return;
    event.preventDefault();
  });
  for (const button of document.querySelectorAll("button[data-do]")) {
    button.addEventListener("click", () => ACTIONS[button.dataset.do](page));
  }
}
