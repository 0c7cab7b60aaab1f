"""What the checks ask of a page: bodies of functions that run in it."""

TIMES = """
const { timeline } = bubbleproof.panels[arguments[0]];
return Array.from({ length: timeline.count }, (_, id) =>
  [timeline.device[id], timeline.name(id), timeline.start[id], timeline.end[id]]);
"""

PLACE = """
const [panel, name] = [bubbleproof.panels[arguments[0]], arguments[1]];
const { timeline, painter, canvas } = panel;
const id = timeline.places.find((id) => id >= 0 && timeline.name(id) === name);
const frame = canvas.getBoundingClientRect();
const middle = (timeline.start[id] + timeline.end[id]) / 2;
return [frame.left + painter.x(middle), frame.top + painter.y(timeline.device[id]) + 4];
"""

# Every task beside and behind the passes: device, where it runs, what it is for, start and end.
JOBS = """
const { timeline } = bubbleproof.panels[arguments[0]];
const lanes = [...timeline.lanes.flat(), ...timeline.behind.filter((lane) => lane !== null)];
return lanes.flatMap((lane) => Array.from({ length: lane.count }, (_, at) =>
  [lane.device, lane.label === null ? "optimizer" : lane.name, lane.subject(at), lane.start[at], lane.end[at]]));
"""

JOB_PLACE = """
const [panel, device, name, subject] = [bubbleproof.panels[0], ...arguments];
const { timeline, painter, canvas } = panel;
const index = timeline.lanes[device].findIndex((lane) => lane.name === name);
const lane = index < 0 ? timeline.behind[device] : timeline.lanes[device][index];
const at = Array.from({ length: lane.count }, (_, at) => at).find((at) => lane.subject(at) === subject);
const frame = canvas.getBoundingClientRect();
const top = index < 0 ? painter.y(device) : painter.laneTop(device, index);
return [frame.left + painter.x((lane.start[at] + lane.end[at]) / 2), frame.top + top + 3];
"""

# The share of tasks beside and behind the passes near whose left end the canvas has their colour.
JOB_COLOURS = """
const { timeline, painter, canvas } = bubbleproof.panels[0];
const { shows } = bubbleproof;
bubbleproof.shows = { ...shows, critical: false };
bubbleproof.leave();
bubbleproof.drawNow();
const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
const context = copy.getContext("2d", { willReadFrequently: true });
context.drawImage(canvas, 0, 0);
let [seen, right] = [0, 0];
const look = (lane, top) => {
  for (let at = 0; at < lane.count; at += 1) {
    const { colour, chunk } = lane.classOf(at);
    const hex = timeline.colours[bubbleproof.theme][colour][chunk][0];
    const wanted = [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));
    const found = context.getImageData(Math.round(painter.x(lane.start[at]) + 2), Math.round(top + 2), 1, 1).data;
    seen += 1;
    right += wanted.every((part, index) => Math.abs(part - found[index]) < 8);
  }
};
timeline.devices.forEach((_, device) => {
  timeline.lanes[device].forEach((lane, index) => look(lane, painter.laneTop(device, index)));
  if (timeline.behind[device]) look(timeline.behind[device], painter.y(device));
});
bubbleproof.shows = shows;
bubbleproof.drawNow();
return [seen, right];
"""

CARD = """
const card = document.getElementById("card");
if (card.hidden) return null;
const facts = Object.fromEntries([...card.querySelectorAll("dd")].map((dd) => [dd.dataset.key, dd.textContent]));
return { name: card.querySelector("strong").textContent, ...facts };
"""

# The share of passes in whose middle the canvas has the colour of the pass, where it is wide enough to tell.
COLOURS = """
const panel = bubbleproof.panels[0];
const { timeline, painter, canvas } = panel;
// What is drawn over passes is left out.
const { shows, hovered, cursor } = bubbleproof;
bubbleproof.shows = { ...shows, critical: false, memory: false };
bubbleproof.hovered = bubbleproof.cursor = null;
bubbleproof.drawNow();
const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
const context = copy.getContext("2d", { willReadFrequently: true });
context.drawImage(canvas, 0, 0);
const image = context.getImageData(0, 0, canvas.width, canvas.height);
let [seen, right] = [0, 0];
for (let id = 0; id < timeline.count; id += 1) {
  const [left, end] = [painter.x(timeline.start[id]), painter.x(timeline.end[id])];
  if (end - left < 5) continue;
  const [x, y] = [Math.round(left + 2), Math.round(painter.y(timeline.device[id]) + 2)];
  const { kind, chunk } = timeline.classOf(id);
  const wanted = rgb(timeline.colours[bubbleproof.theme][kind][chunk][0]);
  const at = 4 * (y * image.width + x);
  seen += 1;
  right += wanted.every((part, index) => Math.abs(part - image.data[at + index]) < 8);
}
Object.assign(bubbleproof, { shows, hovered, cursor });
bubbleproof.drawNow();
return [seen, right];
function rgb(hex) { return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)); }
"""

# What the scripts about contrast begin with: the ratio of two colours, and the colour behind an element.
COLOURED = """
const linear = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const luminance = (c) => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const parts = (css) => css.match(/[\\d.]+/g).map(Number);
const ground = (at) => {
  for (; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
"""

CONTRAST = COLOURED + """
let worst = [Infinity, ""];
for (const at of document.querySelectorAll("h1,h2,p,button,li,summary,dt,dd,span,strong,th,td,kbd")) {
  if (![...at.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
  const found = contrast(parts(getComputedStyle(at).color), ground(at));
  if (found < worst[0]) worst = [found, `${at.tagName} ${at.textContent.slice(0, 30)}`];
}
const hex = (name) => [1, 3, 5].map((i) => parseInt(bubbleproof.colours[name].slice(i, i + 2), 16));
const drawn = Object.fromEntries(
  ["ink", "muted", "needs", "leads", "capacity"].map((name) => [name, contrast(hex(name), hex("ground"))]));
const { colours } = bubbleproof.panels[0].timeline;
const labels = Object.values(colours[bubbleproof.theme]).flat().map(([fill, ink]) => {
  const of = (css) => (css.length === 4 ? [1, 2, 3].map((i) => parseInt(css[i] + css[i], 16))
    : [1, 3, 5].map((i) => parseInt(css.slice(i, i + 2), 16)));
  return contrast(of(fill), of(ink));
});
return [bubbleproof.theme, worst, drawn, Math.min(...labels)];
"""

# A journey through a timeline: in, along, out, and the work of every frame on the way. A frame lasts until the
# next one is asked for, which includes what the browser does to show it.
JOURNEY = """
const { view, panels: [panel] } = bubbleproof;
const frames = [];
let before = await new Promise(requestAnimationFrame);
const draw = async () => {
  bubbleproof.drawNow();
  const within = panel.timeline.devices.reduce((sum, _, device) => {
    const [from, to] = panel.timeline.within(device, view.from, view.to);
    return sum + to - from;
  }, 0);
  const now = await new Promise(requestAnimationFrame);
  frames.push({ ...panel.painter.stats, span: view.span, within, shown: now - before });
  before = now;
};
view.fit();
await draw();
const at = view.makespan / 3;
for (let step = 0; step < 60; step += 1) { view.zoom(1.15, at); await draw(); }
for (let step = 0; step < 30; step += 1) { view.pan(view.span / 7); await draw(); }
for (let step = 0; step < 60; step += 1) { view.zoom(1 / 1.15, at); await draw(); }
for (let step = 0; step < 30; step += 1) { view.pan((step % 2 ? 1 : -1) * view.span / 5); await draw(); }
view.fit();
return { frames, plot: panel.painter.plot, height: panel.height, pitch: panel.pitch,
  rows: Math.ceil(panel.height / panel.pitch) + 1 };
"""
