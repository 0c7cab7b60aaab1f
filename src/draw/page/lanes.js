// Lanes: links, copy engines and collective streams below the passes of a device, each with its tasks in time; and
// what a device runs behind its passes, which is drawn in their row.

/** The height of a lane as a part of that of a device. */
const LANE = 0.26;
/** What is left between two lanes, in pixels. */
const GAP = 3;

class Lane {
  constructor({ device, name, label, classes, jobs }) {
    this.device = device;
    this.name = name;
    /** What stands at the edge; null where the tasks are in the row of the passes. */
    this.label = label;
    this.classes = classes.map(([work, colour, chunk, stage, kind, ticks]) => ({ work, colour, chunk, stage, kind, ticks }));
    this.count = jobs.length;
    this.start = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    this.microbatch = new Int32Array(this.count);
    this.class = new Int32Array(this.count);
    let now = 0;
    jobs.forEach(([which, microbatch, wait], at) => {
      this.class[at] = which;
      this.microbatch[at] = microbatch;
      this.start[at] = now + wait;
      now = this.start[at] + this.classes[which].ticks;
      this.end[at] = now;
    });
  }

  classOf(at) {
    return this.classes[this.class[at]];
  }

  /** What a task is for: a pass, or a stage. */
  subject(at) {
    const { stage, kind } = this.classOf(at);
    return kind === null ? `stage ${stage}` : `${stage}${kind}${this.microbatch[at]}`;
  }

  /** What fits into a task: the microbatch, or the stage. */
  number(at) {
    const { stage, kind } = this.classOf(at);
    return kind === null ? stage : this.microbatch[at];
  }

  /** The first task that ends after an instant; the count, if none does. */
  #firstEndingAfter(instant) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.end[middle] > instant) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The tasks that run within a time: the first, and the one behind the last. */
  within(from, to) {
    const first = this.#firstEndingAfter(from);
    let [low, high] = [first, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.start[middle] < to) low = middle + 1;
      else high = middle;
    }
    return [first, low];
  }

  /** The task that runs at an instant, or the nearest within a distance. */
  at(instant, distance) {
    const next = this.#firstEndingAfter(instant);
    const away = (at) => Math.max(this.start[at] - instant, instant - this.end[at], 0);
    const near = [next - 1, next].filter((at) => at >= 0 && at < this.count && away(at) <= distance);
    return near.reduce((best, at) => (best === null || away(at) < away(best) ? at : best), null);
  }
}

/** Draws what a device runs behind its passes, and its lanes. */
function paintLanes(painter, { device, top, cell }) {
  const { timeline, lane: pitch } = painter.panel;
  if (timeline.behind[device]) paintLane(painter, timeline.behind[device], top, cell);
  timeline.lanes[device].forEach((lane, at) => paintLane(painter, lane, painter.laneTop(device, at), pitch - GAP));
}

/** Draws the tasks of a lane that are in sight. Narrow ones that touch run together, so that pixels bound the work. */
function paintLane(painter, lane, top, height) {
  const { ctx, stats, panel } = painter;
  const { timeline, page } = panel;
  const [from, to] = lane.within(page.view.from, page.view.to);
  const palette = lane.classes.map(({ colour, chunk }) => timeline.colours[page.theme][colour][chunk]);
  stats.visited += to - from;
  let run = null;
  const fill = () => {
    if (run === null) return;
    ctx.fillStyle = run.colour;
    ctx.fillRect(run.left, top, run.right - run.left, height);
    stats.rectangles += 1;
  };
  const labels = [];
  for (let at = from; at < to; at += 1) {
    const left = Math.max(painter.x(lane.start[at]), GUTTER - 2);
    const end = Math.min(painter.x(lane.end[at]), panel.width);
    const right = Math.max(end - (end - left > 2 ? 0.6 : 0), left + 0.6);
    const [colour, ink] = palette[lane.class[at]];
    if (run !== null && run.colour === colour && left - run.right < 0.3) {
      run.right = right;
    } else {
      fill();
      run = { colour, left, right };
    }
    if (right - left > 9 && height >= 9) labels.push({ at, ink, left, right });
  }
  fill();
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const { at, ink, left, right } of labels) {
    const text = String(lane.number(at));
    const size = Math.min(12, height - 2, Math.floor((right - left - 3) / (text.length * 0.64)));
    if (size < 7) continue;
    ctx.font = `${size}px ${FONT}`;
    ctx.fillStyle = ink;
    ctx.fillText(text, (left + right) / 2, top + height / 2 + 0.5);
    stats.labels += 1;
  }
}

/** The names of lanes at the edge, where there is room for text. */
function labelLanes(painter, rows) {
  const { ctx, panel } = painter;
  const size = Math.min(10, panel.lane - GAP);
  if (size < 6) return;
  ctx.font = `${size}px ${FONT}`;
  ctx.fillStyle = panel.page.colours.muted;
  for (const { device } of rows) {
    panel.timeline.lanes[device].forEach(({ label }, at) => {
      ctx.fillText(label, GUTTER - 8, painter.laneTop(device, at) + (panel.lane - GAP) / 2, GUTTER - 10);
    });
  }
}

/** Marks the task that is looked at. */
function outlineJob(painter, lane, at) {
  const { ctx, panel } = painter;
  const { colours, shows } = panel.page;
  const index = panel.timeline.lanes[lane.device].indexOf(lane);
  const [top, height] = index < 0
    ? [painter.y(lane.device), rowShape(panel.pitch, shows.memory).cell]
    : [painter.laneTop(lane.device, index), panel.lane - GAP];
  const [left, right] = [painter.x(lane.start[at]), painter.x(lane.end[at])];
  ctx.setLineDash([]);
  for (const [colour, width] of [[colours.ground, 5], [colours.ink, 2.5]]) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(left, top, Math.max(right - left, 2), height);
  }
}
