// A schedule in time: every pass with its start and end, what its device holds around it, and what it needs.
// Passes are numbered through, device after device, in the order in which they run.

/** The kinds of pass. */
const KINDS = ["F", "R", "I", "W", "B"];

/** Undoes runs: value, count, value, count, ... */
function unrolled(runs) {
  const values = [];
  for (let at = 0; at < runs.length; at += 2) {
    for (let times = runs[at + 1]; times > 0; times -= 1) values.push(runs[at]);
  }
  return values;
}

class Timeline {
  constructor(data) {
    this.title = data.title;
    this.timeUnit = data.time_unit;
    this.memoryUnit = data.memory_unit;
    this.memoryScale = data.memory_scale;
    this.makespan = data.makespan;
    this.microbatches = data.microbatches;
    this.stages = data.stages;
    this.mostMemory = data.most_memory;
    this.phases = data.phases;
    this.colours = data.colours;
    this.devices = data.devices.map(({ capacity, peak, resident }) => {
      return { capacity, peak, resident, peakAt: null, first: 0, last: 0 };
    });

    /** What passes have in common: stage, kind, chunk, ticks, what they take, give and need. */
    this.classes = [];
    this.offset = [0];
    for (const device of data.devices) this.offset.push(this.offset.at(-1) + device.passes.length);
    this.count = this.offset.at(-1);
    this.start = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    this.before = new Float64Array(this.count);
    this.during = new Float64Array(this.count);
    this.after = new Float64Array(this.count);
    this.microbatch = new Int32Array(this.count);
    this.class = new Int32Array(this.count);
    this.device = new Int32Array(this.count);
    /** By pass: the other one of its overlapped pair, or -1. */
    this.partner = new Int32Array(this.count).fill(-1);
    data.devices.forEach((device, index) => this.#unpack(device, index));

    this.#index();
    this.critical = data.critical.map(([device, position]) => this.offset[device] + position);
    this.isCritical = new Uint8Array(this.count);
    for (const id of this.critical) this.isCritical[id] = 1;
    this.#lanes((data.lanes ?? []).map((lane) => new Lane(lane)));
  }

  /** By device: the lanes below its passes, and what it runs behind them. */
  #lanes(lanes) {
    this.lanes = this.devices.map(() => []);
    this.behind = this.devices.map(() => null);
    for (const lane of lanes) {
      if (lane.label !== null) {
        this.lanes[lane.device].push(lane);
        continue;
      }
      this.behind[lane.device] = lane;
      const about = this.devices[lane.device];
      about.last = Math.max(about.last, lane.end[lane.count - 1]);
    }
  }

  #unpack({ classes, passes, steps, waits, pairs, resident }, device) {
    const base = this.classes.length;
    for (const [stage, kind, chunk, ticks, takes, gives, needs] of classes) {
      this.classes.push({ stage, kind, chunk, ticks, takes, gives, needs });
    }
    const [step, wait] = [unrolled(steps), unrolled(waits)];
    const last = classes.map(() => -1);
    let [now, live] = [0, resident];
    passes.forEach((which, position) => {
      const id = this.offset[device] + position;
      const { ticks, takes, gives } = this.classes[base + which];
      last[which] += step[position];
      this.class[id] = base + which;
      this.device[id] = device;
      this.microbatch[id] = last[which];
      this.start[id] = now + wait[position];
      now = this.start[id] + ticks;
      this.end[id] = now;
      this.before[id] = live;
      this.during[id] = live + takes;
      live = this.during[id] - gives;
      this.after[id] = live;
    });
    for (const position of pairs) {
      const first = this.offset[device] + position;
      [this.partner[first], this.partner[first + 1]] = [first + 1, first];
    }
    const about = this.devices[device];
    const [from, to] = this.span(device);
    if (from < to) {
      about.first = this.start[from];
      about.last = this.end[to - 1];
    }
    for (let id = from; id < to && about.peakAt === null; id += 1) {
      if (this.during[id] === about.peak) about.peakAt = this.start[id];
    }
  }

  /** By stage, kind and microbatch: the pass; by stage and kind: the classes that need it. */
  #index() {
    this.places = new Int32Array(this.stages * KINDS.length * this.microbatches).fill(-1);
    for (let id = 0; id < this.count; id += 1) {
      const { stage, kind } = this.classOf(id);
      this.places[this.#cell(stage, kind, this.microbatch[id])] = id;
    }
    this.needed = new Map();
    for (const { stage, kind, needs } of this.classes) {
      for (const [from, which, latency] of needs) {
        const key = `${from}${which}`;
        const list = this.needed.get(key) ?? [];
        if (!list.some((other) => other.stage === stage && other.kind === kind)) {
          list.push({ stage, kind, latency });
        }
        this.needed.set(key, list);
      }
    }
  }

  #cell(stage, kind, microbatch) {
    return (stage * KINDS.length + KINDS.indexOf(kind)) * this.microbatches + microbatch;
  }

  /** The first pass of a device, and the one behind its last. */
  span(device) {
    return [this.offset[device], this.offset[device + 1]];
  }

  /** What a device holds before a pass of its own; the one behind its last stands for the end. */
  heldBefore(device, id) {
    const [first] = this.span(device);
    return id > first ? this.after[id - 1] : this.devices[device].resident;
  }

  classOf(id) {
    return this.classes[this.class[id]];
  }

  name(id) {
    const { stage, kind } = this.classOf(id);
    return `${stage}${kind}${this.microbatch[id]}`;
  }

  find(stage, kind, microbatch) {
    const id = this.places[this.#cell(stage, kind, microbatch)];
    return id === undefined || id < 0 ? null : id;
  }

  /** When all that a pass needs must be there: at its start, or at that of its pair. */
  begins(id) {
    return this.partner[id] < 0 ? this.start[id] : Math.min(this.start[id], this.start[this.partner[id]]);
  }

  /** When what a pass yields is there: at its end, or at that of its pair. */
  yields(id) {
    return this.partner[id] < 0 ? this.end[id] : Math.max(this.end[id], this.end[this.partner[id]]);
  }

  /** What a pass waits for, with the latency of each. */
  needs(id) {
    const { needs } = this.classOf(id);
    const found = needs.map(([stage, kind, latency]) => ({
      id: this.find(stage, kind, this.microbatch[id]),
      latency,
    }));
    return found.filter((need) => need.id !== null);
  }

  /** What waits for a pass. */
  leadsTo(id) {
    const { stage, kind } = this.classOf(id);
    const found = (this.needed.get(`${stage}${kind}`) ?? []).map((other) => ({
      id: this.find(other.stage, other.kind, this.microbatch[id]),
      latency: other.latency,
    }));
    return found.filter((other) => other.id !== null);
  }

  /** The first pass of a range that ends after an instant. */
  #firstEndingAfter(instant, from, to) {
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.end[middle] > instant) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** The passes of a device that run within a time: the first, and the one behind the last. */
  within(device, from, to) {
    const [first, end] = this.span(device);
    const low = this.#firstEndingAfter(from, first, end);
    let [high, limit] = [low, end];
    while (high < limit) {
      const middle = (high + limit) >>> 1;
      if (this.start[middle] < to) high = middle + 1;
      else limit = middle;
    }
    return [low, high];
  }

  /** The pass of a device that runs at an instant, or the nearest within a distance. */
  at(device, instant, distance = Infinity) {
    const [first, end] = this.span(device);
    if (first === end) return null;
    const next = Math.min(this.#firstEndingAfter(instant, first, end), end - 1);
    const away = (id) => Math.max(this.start[id] - instant, instant - this.end[id], 0);
    const nearest = next > first && away(next - 1) < away(next) ? next - 1 : next;
    return away(nearest) <= distance ? nearest : null;
  }
}
