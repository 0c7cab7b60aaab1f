// The part of time that is shown. All timelines of a page show the same.

class View {
  /** The least time that is shown, in ticks. */
  static LEAST = 2;

  constructor(makespan) {
    this.makespan = Math.max(makespan, View.LEAST);
    this.changed = () => {};
    this.from = 0;
    this.to = this.makespan;
  }

  get span() {
    return this.to - this.from;
  }

  #set(from, span) {
    span = Math.min(Math.max(span, View.LEAST), this.makespan);
    this.from = Math.min(Math.max(from, 0), this.makespan - span);
    this.to = this.from + span;
    this.changed();
  }

  fit() {
    this.#set(0, this.makespan);
  }

  /** Shows all of a time that ends there. */
  reach(makespan) {
    this.makespan = Math.max(makespan, View.LEAST);
    this.fit();
  }

  /** Shows less time by a factor (or more, below 1), leaving an instant where it is. */
  zoom(factor, at = this.from + this.span / 2) {
    const span = Math.min(Math.max(this.span / factor, View.LEAST), this.makespan);
    this.#set(at - ((at - this.from) / this.span) * span, span);
  }

  pan(ticks) {
    this.#set(this.from + ticks, this.span);
  }

  show(from, to) {
    this.#set(from, to - from);
  }

  /** Moves as little as shows a time, with something around it. */
  reveal(from, to) {
    const margin = Math.min(this.span / 10, Math.max(to - from, 1) * 2);
    if (to - from + 2 * margin > this.span) this.zoom(this.span / (4 * Math.max(to - from, 1)), from);
    if (from - margin < this.from) this.#set(from - margin, this.span);
    else if (to + margin > this.to) this.#set(to + margin - this.span, this.span);
  }
}

/** The least step of 1, 2 or 5 and zeros that is at least so long. */
function roundStep(least) {
  for (let power = 1; ; power *= 10) {
    for (const step of [1, 2, 5]) if (step * power >= least) return step * power;
  }
}

const TIMES = ["ns", "us", "ms", "s"];

/** The largest unit of which all steps of this length are whole numbers, and how many of the given unit it is. */
function readable(unit, step) {
  let times = 1;
  for (let at = TIMES.indexOf(unit); at >= 0 && at < 3 && step % (1000 * times) === 0; at += 1) {
    times *= 1000;
    unit = TIMES[at + 1];
  }
  return { unit, times };
}

/** A time with all its digits, in the largest unit of which it is at least one. */
function timeInFull(ticks, unit) {
  let times = 1;
  for (let at = TIMES.indexOf(unit); at >= 0 && at < 3 && ticks >= 1000 * times; at += 1) {
    times *= 1000;
    unit = TIMES[at + 1];
  }
  const parts = String(ticks % times).padStart(String(times).length - 1, "0").replace(/0+$/, "");
  return `${grouped(Math.floor(ticks / times))}${parts && `.${parts}`} ${unit}`;
}

/** An amount of memory with four digits, in the largest of its units of which it is at least one. */
function memoryShown(amount, unit, scale) {
  const [name, size] = scale.findLast(([, size]) => amount >= size) ?? scale[0];
  const number = amount / size;
  const decimals = Number.isInteger(number) ? 0 : Math.max(0, 4 - String(Math.trunc(number)).length);
  return `${decimals === 0 ? grouped(Math.round(number)) : number.toFixed(decimals)} ${name || unit}`;
}

/** A whole number in groups of three digits. */
function grouped(number) {
  const digits = String(number);
  return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
