// One timeline on the page: its canvas, the rows in sight, and what the pointer does there.

class Panel {
  constructor(section, data, page) {
    this.page = page;
    this.section = section;
    this.canvas = section.querySelector("canvas");
    this.frame = section.querySelector(".frame");
    this.sheet = section.querySelector(".sheet");
    this.timeline = new Timeline(data);
    this.painter = new Painter(this);
    /** The height of a device without its lanes, that of a lane, and where each device begins, with the end of all. */
    this.pitch = 0;
    this.lane = 0;
    this.tops = [];
    this.tallness = 1;
    this.pointers = new Map();
    this.dragged = false;
    this.frame.addEventListener("scroll", () => page.draw());
    this.#listen();
  }

  get scroll() {
    return this.frame.scrollTop;
  }

  /** Fits the canvas to the window, in which there is room for so many pixels of height. */
  resize(room) {
    // What is not shown, as on paper, keeps its size.
    if (this.sheet.clientWidth === 0) return;
    const { devices, lanes } = this.timeline;
    const count = lanes.reduce((sum, { length }) => sum + length, 0);
    const natural = Math.min(Math.max(Math.floor((room - AXIS - 4) / (devices.length + count * LANE)), 13), 56);
    this.pitch = Math.min(Math.max(Math.round(natural * this.tallness), 8), 90);
    this.lane = Math.max(Math.round(this.pitch * LANE), 6);
    this.tops = [0];
    for (const { length } of lanes) this.tops.push(this.tops.at(-1) + this.pitch + length * this.lane);
    const tall = AXIS + this.tops.at(-1) + 4;
    this.height = Math.round(Math.min(tall, room));
    this.frame.style.height = `${this.height}px`;
    this.sheet.style.height = `${tall}px`;
    this.width = this.sheet.clientWidth;
    this.ratio = devicePixelRatio || 1;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
  }

  /** Makes the rows taller, or flatter, by a factor. */
  stretch(factor) {
    this.tallness = Math.min(Math.max(this.tallness * factor, 0.3), 6);
  }

  heightOf(device) {
    return this.tops[device + 1] - this.tops[device];
  }

  /** What is at a place of the canvas: a pass (id), or a task of a lane (lane and at); null if there is neither. */
  thingAt(x, y) {
    const device = this.painter.deviceAt(y);
    if (device === null || x < GUTTER) return null;
    const instant = this.painter.instant(x);
    const near = (3 / this.painter.plot) * this.page.view.span;
    const job = (lane) => {
      const at = lane.at(instant, near);
      return at === null ? null : { lane, at };
    };
    const lanes = this.timeline.lanes[device];
    const index = Math.floor((y - this.painter.laneTop(device, 0)) / this.lane);
    if (index >= 0 && index < lanes.length) return job(lanes[index]);
    const behind = this.timeline.behind[device];
    if (behind && instant >= behind.start[0]) return job(behind);
    const id = this.timeline.at(device, instant, near);
    return id === null ? null : { id };
  }

  /** Scrolls until a device is in sight. */
  reveal(device) {
    const top = this.tops[device];
    const room = this.height - AXIS - this.heightOf(device);
    if (top < this.scroll) this.frame.scrollTop = top;
    else if (top > this.scroll + room) this.frame.scrollTop = top - room;
  }

  #place(event) {
    const frame = this.canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#up(event));
    canvas.addEventListener("pointerleave", () => this.page.leave());
    canvas.addEventListener("dblclick", (event) => {
      this.page.view.zoom(2, this.painter.instant(this.#place(event)[0]));
    });
    canvas.addEventListener("keydown", (event) => moveByKey(event, this));
    canvas.addEventListener("focus", () => {
      if (canvas.matches(":focus-visible")) this.page.arrive(this);
    });
  }

  #wheel(event) {
    const { view, scrolls } = this.page;
    if (scrolls && !event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : 16;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      view.pan(((dx || dy) / this.painter.plot) * view.span);
    } else {
      const steepness = event.ctrlKey ? 0.01 : 0.0015;
      view.zoom(Math.exp(-dy * steepness), this.painter.instant(this.#place(event)[0]));
    }
  }

  #down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.#place(event));
    if (this.pointers.size === 1) this.dragged = false;
  }

  #move(event) {
    const [x, y] = this.#place(event);
    const held = this.pointers.get(event.pointerId);
    if (!held) {
      this.page.hover(this, this.thingAt(x, y), this.painter.instant(Math.max(x, GUTTER)));
      return;
    }
    const { view } = this.page;
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const [apart, before] = [Math.abs(x - other[0]), Math.abs(held[0] - other[0])];
      const middle = this.painter.instant((x + other[0]) / 2);
      view.zoom(Math.max(apart, 10) / Math.max(before, 10), middle);
      this.dragged = true;
    } else if (this.dragged || Math.hypot(x - held[0], y - held[1]) > 3) {
      this.dragged = true;
      view.pan(((held[0] - x) / this.painter.plot) * view.span);
      this.frame.scrollTop += held[1] - y;
    } else {
      return;
    }
    this.pointers.set(event.pointerId, [x, y]);
  }

  #up(event) {
    const wasHeld = this.pointers.delete(event.pointerId);
    if (wasHeld && !this.dragged && event.type === "pointerup") {
      this.page.pick(this, this.thingAt(...this.#place(event)));
    }
  }
}
