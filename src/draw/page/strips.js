// Passes narrower than a few pixels: every pixel gets the mean colour of what runs there, so that the work of a
// frame is bounded by pixels and by the passes within the time shown, and nothing flickers while zooming.

class Strips {
  constructor() {
    this.width = 0;
    this.height = 0;
  }

  /** Makes room for an image of so many device pixels. */
  #resize(ctx, width, height) {
    if (this.width === width && this.height === height) return;
    [this.width, this.height] = [width, height];
    this.image = ctx.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.red = new Float32Array(width);
    this.green = new Float32Array(width);
    this.blue = new Float32Array(width);
    this.busy = new Float32Array(width);
    this.high = new Float64Array(width);
  }

  /** Draws rows of passes, and of memory below them, into a rectangle of device pixels. */
  paint(ctx, area, timeline, view, rows, colours, stats) {
    const { x, y, width, height } = area;
    if (width < 1 || height < 1) return;
    this.#resize(ctx, width, height);
    this.pixels.fill(packed(colours.ground));
    const scale = width / view.span;
    for (const row of rows) {
      this.#gather(timeline, view, row, scale, colours.passes);
      stats.visited += row.to - row.from;
      const about = timeline.devices[row.device];
      this.#passes(row, (about.first - view.from) * scale, (about.last - view.from) * scale, colours);
      if (row.curve) this.#curve(row, timeline.mostMemory, packed(colours.curve));
    }
    stats.pixels += width * height;
    ctx.putImageData(this.image, x, y);
  }

  /** Sums up colours, busy time and the highest memory of every column. */
  #gather(timeline, view, row, scale, passes) {
    const { red, green, blue, busy, high, width } = this;
    for (const sums of [red, green, blue, busy, high]) sums.fill(0);
    const add = (column, share, [r, g, b]) => {
      red[column] += share * r;
      green[column] += share * g;
      blue[column] += share * b;
      busy[column] += share;
    };
    const raise = (from, to, live) => {
      const end = Math.min(Math.ceil(to), width);
      for (let column = Math.max(Math.floor(from), 0); column < end; column += 1) {
        if (high[column] < live) high[column] = live;
      }
    };
    let live = timeline.heldBefore(row.device, row.from);
    let free = 0;
    for (let id = row.from; id < row.to; id += 1) {
      const a = Math.max((timeline.start[id] - view.from) * scale, 0);
      const end = (timeline.end[id] - view.from) * scale;
      // A seam parts passes that are wide enough to have one.
      const b = Math.min(end - a > 2 ? end - 0.5 : end, width);
      const colour = passes[timeline.class[id]].rgb;
      const [i, j] = [Math.floor(a), Math.floor(b)];
      if (i === j) {
        if (i < width) add(i, b - a, colour);
      } else {
        add(i, i + 1 - a, colour);
        for (let column = i + 1; column < j; column += 1) add(column, 1, colour);
        if (j < width) add(j, b - j, colour);
      }
      if (a > free) raise(free, a, live);
      raise(a, end, timeline.during[id]);
      live = timeline.after[id];
      free = end;
    }
    raise(free, width, live);
  }

  #passes(row, first, last, { ground, bubble }) {
    const { red, green, blue, busy, pixels, width } = this;
    const top = Math.max(row.top, 0);
    const bottom = Math.min(row.top + row.cell, this.height);
    if (top >= bottom) return;
    const line = top * width;
    for (let column = 0; column < width; column += 1) {
      const idle = Math.max(1 - busy[column], 0);
      const [r, g, b] = column + 0.5 >= first && column + 0.5 < last ? bubble : ground;
      pixels[line + column] = packed([
        red[column] + idle * r,
        green[column] + idle * g,
        blue[column] + idle * b,
      ]);
    }
    for (let y = top + 1; y < bottom; y += 1) pixels.copyWithin(y * width, line, line + width);
  }

  #curve(row, most, colour) {
    const { high, pixels, width } = this;
    const ground = row.top + row.curve.at + row.curve.height;
    for (let column = 0; column < width; column += 1) {
      const rise = Math.round((high[column] / Math.max(most, 1)) * row.curve.height);
      const top = Math.max(ground - rise, 0);
      for (let y = Math.min(ground, this.height) - 1; y >= top; y -= 1) pixels[y * width + column] = colour;
    }
  }
}

/** A colour as a pixel of an image. */
function packed([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
