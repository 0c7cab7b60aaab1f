// Drawing one timeline on its canvas.

const GUTTER = 78;
const RIGHT = 10;
const AXIS = 40;
/** Passes narrower than this, in pixels, are drawn as strips. */
const NARROW = 6;

/** Where a row lies within the height of a device. */
function rowShape(pitch, memory) {
  if (!memory) return { cell: Math.max(pitch - 3, 4), curve: null };
  const cell = Math.max(Math.round(pitch * 0.46), 4);
  const at = cell + (pitch < 20 ? 2 : 4);
  return { cell, curve: { at, height: Math.max(pitch - at - Math.max(Math.round(pitch * 0.12), 2), 3) } };
}

class Painter {
  constructor(panel) {
    this.panel = panel;
    this.ctx = panel.canvas.getContext("2d", { alpha: false });
    this.strips = new Strips();
    this.stats = {};
  }

  get plot() {
    return this.panel.width - GUTTER - RIGHT;
  }

  x(instant) {
    const { view } = this.panel.page;
    return GUTTER + ((instant - view.from) / view.span) * this.plot;
  }

  instant(x) {
    const { view } = this.panel.page;
    return view.from + ((x - GUTTER) / this.plot) * view.span;
  }

  y(device) {
    return AXIS + this.panel.tops[device] - this.panel.scroll;
  }

  /** Where a lane of a device begins. */
  laneTop(device, at) {
    const { cell, curve } = rowShape(this.panel.pitch, this.panel.page.shows.memory);
    return this.y(device) + (curve ? curve.at : cell + 3) + at * this.panel.lane;
  }

  deviceAt(y) {
    const device = this.panel.tops.findLastIndex((top) => AXIS + top - this.panel.scroll <= y);
    return y >= AXIS && device >= 0 && device < this.panel.timeline.devices.length ? device : null;
  }

  paint() {
    if (this.plot < 1) return;
    const began = performance.now();
    const { panel, ctx } = this;
    const { timeline, page } = panel;
    const { colours } = page;
    this.stats = { rectangles: 0, labels: 0, visited: 0, pixels: 0, dense: false, milliseconds: 0 };
    const ratio = panel.ratio;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = colours.ground;
    ctx.fillRect(0, 0, panel.width, panel.height);
    const shape = rowShape(panel.pitch, page.shows.memory);
    const rows = [];
    for (let device = 0; device < timeline.devices.length; device += 1) {
      const top = this.y(device);
      if (top + panel.heightOf(device) < AXIS || top > panel.height) continue;
      const [from, to] = timeline.within(device, page.view.from, page.view.to);
      const lower = timeline.lanes[device].length * panel.lane;
      const curve = shape.curve && { ...shape.curve, at: shape.curve.at + lower };
      rows.push({ device, top, from, to, cell: shape.cell, curve });
    }
    const widest = Math.max(0, ...rows.map(({ from, to }) => to - from));
    this.stats.dense = widest * NARROW > this.plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, AXIS, this.plot, panel.height - AXIS);
    ctx.clip();
    if (this.stats.dense) this.#strips(rows);
    else this.#passes(rows);
    for (const row of rows) paintLanes(this, row);
    if (page.shows.memory) this.#marks(rows);
    this.#borders();
    if (page.shows.critical) this.#critical();
    this.#related();
    ctx.restore();
    this.#gutter(rows);
    this.#axis();
    this.stats.milliseconds = performance.now() - began;
  }

  #palette() {
    const { timeline, page } = this.panel;
    return timeline.classes.map(({ kind, chunk }) => {
      const [fill, ink] = timeline.colours[page.theme][kind][chunk];
      return { fill, ink, rgb: rgb(fill) };
    });
  }

  #strips(rows) {
    const { panel, ctx } = this;
    const { ratio, timeline, page } = panel;
    const area = {
      x: Math.round(GUTTER * ratio),
      y: Math.round(AXIS * ratio),
      width: Math.floor(this.plot * ratio),
      height: Math.floor((panel.height - AXIS) * ratio),
    };
    const scaled = rows.map(({ device, top, from, to, cell, curve }) => ({
      device,
      from,
      to,
      top: Math.round((top - AXIS) * ratio),
      cell: Math.round(cell * ratio),
      curve: curve && { at: Math.round(curve.at * ratio), height: Math.round(curve.height * ratio) },
    }));
    const { colours } = page;
    const base = { ground: rgb(colours.ground), bubble: rgb(colours.bubble), curve: rgb(colours.curve) };
    if (!page.shows.bubbles) base.bubble = base.ground;
    const passes = this.#palette();
    this.strips.paint(ctx, area, timeline, page.view, scaled, { ...base, passes }, this.stats);
  }

  #passes(rows) {
    const { panel, ctx, stats } = this;
    const { timeline, page } = panel;
    const palette = this.#palette();
    const shapes = new Map();
    const labels = [];
    const gap = 0.6;
    for (const { device, top, from, to, cell, curve } of rows) {
      const { first, last } = timeline.devices[device];
      if (page.shows.bubbles && first < last) {
        ctx.fillStyle = page.colours.bubble;
        const left = Math.max(this.x(first), GUTTER);
        ctx.fillRect(left, top, Math.min(this.x(last), panel.width) - left, cell);
        stats.rectangles += 1;
      }
      for (let id = from; id < to; id += 1) {
        const left = Math.max(this.x(timeline.start[id]), GUTTER - 2);
        const right = Math.min(this.x(timeline.end[id]), panel.width);
        const which = timeline.class[id];
        const { fill, ink } = palette[which];
        if (!shapes.has(fill)) shapes.set(fill, []);
        shapes.get(fill).push(left, top, Math.max(right - left - gap, gap), cell);
        stats.rectangles += 1;
        if (right - left > 9 && cell >= 10) labels.push({ id, ink, left, right, top, cell });
      }
      stats.visited += to - from;
      if (curve) this.#curve(device, top, from, to, curve);
    }
    for (const [fill, list] of shapes) {
      ctx.fillStyle = fill;
      for (let at = 0; at < list.length; at += 4) ctx.fillRect(list[at], list[at + 1], list[at + 2], list[at + 3]);
    }
    ctx.strokeStyle = page.colours.ink;
    ctx.lineWidth = 1.2;
    for (const { top, from, to, cell } of rows) {
      for (let id = from; id < to; id += 1) {
        if (timeline.partner[id] !== id + 1) continue;
        const left = this.x(timeline.start[id]);
        ctx.strokeRect(left, top, this.x(timeline.end[id + 1]) - left, cell);
      }
    }
    this.#labels(labels);
  }

  #labels(labels) {
    const { ctx, stats } = this;
    const { timeline } = this.panel;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const { id, ink, left, right, top, cell } of labels) {
      const room = right - left - 3;
      const number = String(timeline.microbatch[id]);
      const [most, name] = [Math.min(12, cell - 2), timeline.name(id)];
      const text = name.length * most * 0.64 <= room ? name : number;
      // Numbers that are a little too wide are written smaller.
      const size = Math.min(most, Math.floor(room / (text.length * 0.64)));
      if (size < 8) continue;
      ctx.font = `${size}px ${FONT}`;
      ctx.fillStyle = ink;
      ctx.fillText(text, (left + right) / 2, top + cell / 2 + 0.5);
      stats.labels += 1;
    }
  }

  #curve(device, top, from, to, { at, height }) {
    const { ctx } = this;
    const { timeline, page } = this.panel;
    const ground = top + at + height;
    const y = (live) => ground - (live / Math.max(timeline.mostMemory, 1)) * height;
    ctx.beginPath();
    ctx.moveTo(GUTTER, ground);
    ctx.lineTo(GUTTER, y(timeline.heldBefore(device, from)));
    for (let id = from; id < to; id += 1) {
      const [left, right] = [this.x(timeline.start[id]), this.x(timeline.end[id])];
      ctx.lineTo(left, y(timeline.before[id]));
      ctx.lineTo(left, y(timeline.during[id]));
      ctx.lineTo(right, y(timeline.during[id]));
      ctx.lineTo(right, y(timeline.after[id]));
    }
    const last = timeline.heldBefore(device, to);
    const right = Math.min(this.x(timeline.makespan), GUTTER + this.plot);
    ctx.lineTo(right, y(last));
    ctx.lineTo(right, ground);
    ctx.fillStyle = page.colours.curve;
    ctx.fill();
  }

  /** The capacities and the peaks. */
  #marks(rows) {
    const { ctx } = this;
    const { timeline, page } = this.panel;
    for (const { device, top, curve } of rows) {
      const { capacity, peak, peakAt } = timeline.devices[device];
      const y = (live) => top + curve.at + curve.height * (1 - live / Math.max(timeline.mostMemory, 1));
      if (capacity !== null) {
        ctx.strokeStyle = page.colours.capacity;
        ctx.lineWidth = 1.2;
        ctx.setLineDash([4, 2]);
        line(ctx, GUTTER, y(capacity), GUTTER + this.plot, y(capacity));
        ctx.setLineDash([]);
      }
      if (peakAt !== null && peak > 0) {
        ctx.fillStyle = page.colours.ink;
        ctx.beginPath();
        ctx.arc(this.x(peakAt), y(peak), Math.min(2.5, curve.height / 4), 0, 2 * Math.PI);
        ctx.fill();
      }
    }
  }

  /** The instants at which a phase ends, and the one that the pointer is at. */
  #borders() {
    const { ctx, panel } = this;
    const { colours, cursor } = panel.page;
    ctx.strokeStyle = colours.muted;
    ctx.lineWidth = 1;
    ctx.setLineDash([2, 3]);
    for (const [, , to] of panel.timeline.phases.slice(0, -1)) {
      line(ctx, this.x(to), AXIS, this.x(to), panel.height);
    }
    ctx.setLineDash([]);
    if (cursor !== null) line(ctx, this.x(cursor), AXIS, this.x(cursor), panel.height);
  }

  #critical() {
    const { ctx } = this;
    const { timeline, page } = this.panel;
    const { cell, curve } = rowShape(this.panel.pitch, page.shows.memory);
    const foot = (id) => this.y(timeline.device[id]) + (cell + (curve ? curve.at : this.panel.pitch)) / 2;
    ctx.beginPath();
    let drawn = false;
    for (const id of timeline.critical) {
      if (timeline.end[id] < page.view.from || timeline.start[id] > page.view.to) {
        drawn = false;
        continue;
      }
      const [left, right, y] = [this.x(timeline.start[id]), this.x(timeline.end[id]), foot(id)];
      if (drawn) ctx.lineTo(left, y);
      else ctx.moveTo(left, y);
      ctx.lineTo(right, y);
      drawn = true;
    }
    for (const [colour, width] of [[page.colours.ground, 3.5], [page.colours.ink, 1.8]]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.stroke();
    }
  }

  /** The pass that is looked at, what it needs and what needs it. */
  #related() {
    const { panel, ctx } = this;
    const { page, timeline } = panel;
    if (page.looked?.panel !== panel) return;
    const { id, lane, at } = page.looked;
    if (lane) {
      outlineJob(this, lane, at);
      return;
    }
    for (const need of timeline.needs(id)) this.#arrow(need.id, id, page.colours.needs, []);
    for (const other of timeline.leadsTo(id)) this.#arrow(id, other.id, page.colours.leads, [5, 3]);
    ctx.setLineDash([]);
    this.#outline(id, page.colours.ground, 5);
    this.#outline(id, page.colours.ink, 2.5);
  }

  #outline(id, colour, width) {
    const { ctx, panel } = this;
    if (colour === panel.page.colours.ground) ctx.setLineDash([]);
    const { timeline, page } = panel;
    const { cell } = rowShape(panel.pitch, page.shows.memory);
    const [left, right] = [this.x(timeline.start[id]), this.x(timeline.end[id])];
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.strokeRect(left, this.y(timeline.device[id]), Math.max(right - left, 2), cell);
  }

  #arrow(from, to, colour, dash) {
    const { ctx, panel } = this;
    const { timeline, page } = panel;
    const { cell } = rowShape(panel.pitch, page.shows.memory);
    for (const id of [from, to]) {
      if (id === page.looked.id) continue;
      this.#outline(id, page.colours.ground, 5);
      ctx.setLineDash(dash);
      this.#outline(id, colour, 2.5);
    }
    const middle = (id) => this.y(timeline.device[id]) + cell / 2;
    const [x0, y0, x1, y1] = [this.x(timeline.end[from]), middle(from), this.x(timeline.start[to]), middle(to)];
    if (timeline.device[from] === timeline.device[to] && x1 - x0 < 12) return;
    const bend = Math.max(Math.abs(x1 - x0) / 2, 14);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    for (const [stroke, width] of [[page.colours.ground, 4.5], [colour, 2]]) {
      ctx.setLineDash(stroke === colour ? dash : []);
      ctx.strokeStyle = stroke;
      ctx.lineWidth = width;
      ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x1 - 7, y1 - 4);
    ctx.lineTo(x1 - 7, y1 + 4);
    ctx.fill();
  }

  #gutter(rows) {
    const { ctx, panel } = this;
    ctx.fillStyle = panel.page.colours.ground;
    ctx.fillRect(0, AXIS, GUTTER, panel.height);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.font = `${Math.min(12, Math.max(panel.pitch - 3, 7))}px ${FONT}`;
    ctx.fillStyle = panel.page.colours.ink;
    for (const { device, top, cell } of rows) ctx.fillText(`device ${device}`, GUTTER - 8, top + cell / 2);
    labelLanes(this, rows);
  }

  #axis() {
    const { ctx, panel } = this;
    const { view, colours, shows } = panel.page;
    ctx.fillStyle = colours.ground;
    ctx.fillRect(0, 0, panel.width, AXIS - 2);
    ctx.font = `11px ${FONT}`;
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "right";
    ctx.fillStyle = colours.muted;
    const step = roundStep((view.span / this.plot) * (String(Math.round(view.to)).length * 8 + 30));
    const { unit, times } = readable(panel.timeline.timeUnit, step);
    ctx.fillText(unit.slice(0, 10), GUTTER - 8, AXIS - 8);
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER - 8, 0, this.plot + RIGHT + 8, AXIS);
    ctx.clip();
    ctx.strokeStyle = colours.muted;
    ctx.lineWidth = 1;
    ctx.textAlign = "center";
    for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
      const text = grouped(at / times);
      const edge = panel.width - ctx.measureText(text).width / 2 - 2;
      ctx.fillText(text, Math.min(this.x(at), edge), AXIS - 8);
      line(ctx, this.x(at), AXIS - 5, this.x(at), AXIS - 1);
    }
    if (shows.phases) this.#phases();
    ctx.restore();
  }

  #phases() {
    const { ctx, panel } = this;
    ctx.textBaseline = "middle";
    for (const [name, from, to] of panel.timeline.phases) {
      const left = Math.max(this.x(from) + 1, GUTTER);
      const right = Math.min(this.x(to) - 1, GUTTER + this.plot);
      if (right <= left) continue;
      const text = ctx.measureText(name).width;
      const middle = (left + right) / 2;
      const fits = text + 12 < right - left;
      line(ctx, left, 9, fits ? middle - text / 2 - 4 : right, 9);
      line(ctx, fits ? middle + text / 2 + 4 : right, 9, right, 9);
      if (this.x(from) >= GUTTER) line(ctx, left, 5, left, 13);
      if (this.x(to) <= GUTTER + this.plot + 1) line(ctx, right, 5, right, 13);
      if (fits) ctx.fillText(name, middle, 9.5);
    }
  }
}

function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** The parts of a colour such as #2145c0. */
function rgb(hex) {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}
