// The heat map: a column per second, a row per 20 ms, so that bursts and periods show. A range of time in it is like
// selected text: its first and last columns are covered in part.

const HEAT_ROWS = 50, HEAT_TOP = 6, HEAT_BOTTOM = 22;
const HEAT_COLOURS = 64, HEAT_POWER = 0.8, HEAT_CAP = 0.995;

class HeatMap {
  constructor(canvas, samples, view) {
    Object.assign(this, {canvas, samples, view});
    this.colours = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    this.first = Math.floor(samples.begin);
    this.columns = Math.max(1, Math.ceil(samples.end) - this.first);
    this.cells = new Float32Array(this.columns * HEAT_ROWS);
    this.picture = document.createElement("canvas");
    this.version = 0;                             // of the cells
  }

  select(side, ignored) {
    const {samples, cells, first} = this, {timedBytes} = side;
    cells.fill(0);
    side.each(ignored, i => { cells[clamp(Math.floor((samples.time[i] - first) * HEAT_ROWS), 0, cells.length - 1)] += timedBytes[i]; });
    ++this.version;
    const sorted = cells.filter(x => x > 0).sort();
    this.high = sorted[Math.floor(sorted.length * HEAT_CAP)] || 1;
  }

  // Mixed by the canvas itself.
  ramp() {
    if (this.inks === ink.heat3) return this.colourOf;
    this.inks = ink.heat3;
    const g = this.colours, line = g.createLinearGradient(0, 0, HEAT_COLOURS, 0);
    ["heat0", "heat1", "heat2", "heat3"].forEach((name, i) => line.addColorStop([0, 0.22, 0.62, 1][i], ink[name]));
    g.fillStyle = line;
    g.fillRect(0, 0, HEAT_COLOURS, 1);
    const p = g.getImageData(0, 0, HEAT_COLOURS, 1).data;
    return this.colourOf = Array.from({length: HEAT_COLOURS}, (_, i) => `rgb(${p[i * 4]},${p[i * 4 + 1]},${p[i * 4 + 2]})`);
  }

  draw(ranges) {
    const box = this.canvas.parentElement, width = box.clientWidth, height = box.clientHeight, view = this.view();
    const g = canvasOf(this.canvas, width, height), px = (width - AXIS - RIGHT) / (view.to - view.from);
    const inner = height - HEAT_TOP - HEAT_BOTTOM;
    g.save();
    g.beginPath();
    g.rect(AXIS, HEAT_TOP, width - AXIS - RIGHT, inner);
    g.clip();
    this.drawPicture(view, px, inner, width, height);
    g.drawImage(this.picture, 0, 0, width, height);
    for (const [range, colour, wash] of ranges) {
      if (range && (range[0] > view.from || range[1] < view.to)) this.drawRange(g, range, colour, wash, view, px, inner, height);
    }
    g.restore();
    this.drawLabels(g, view, px, inner, width, height);
  }

  // The cells without ranges: drawn again if anything of them has changed.
  drawPicture(view, px, inner, width, height) {
    const of = JSON.stringify([this.version, view.from, view.to, width, height, devicePixelRatio, ink.heat0]);
    if (this.drawn === of) return;
    this.drawn = of;
    const g = canvasOf(this.picture, width, height);
    g.fillStyle = ink.heat0;
    g.fillRect(AXIS, HEAT_TOP, width, height);
    this.drawCells(g, view, px, inner, height);
  }

  // Many seconds in a pixel: the largest of them is drawn.
  drawCells(g, view, px, inner, height) {
    const {cells, first, columns, high} = this, ramp = this.ramp(), row = inner / HEAT_ROWS;
    const each = Math.max(1, Math.floor(1 / px)), width = Math.max(1, px * each - (px > 7 ? 1 : 0));
    for (let s = Math.floor(view.from) - first; s < columns && s + first < view.to; s += each) {
      if (s < 0) continue;
      const x = AXIS + (s + first - view.from) * px;
      for (let r = 0; r < HEAT_ROWS; ++r) {
        let cell = 0;
        for (let k = s; k < Math.min(s + each, columns); ++k) cell = Math.max(cell, cells[k * HEAT_ROWS + r]);
        if (cell === 0) continue;
        g.fillStyle = ramp[Math.min(HEAT_COLOURS - 1, Math.floor(Math.pow(cell / high, HEAT_POWER) * (HEAT_COLOURS - 1)))];
        g.fillRect(x, height - HEAT_BOTTOM - (r + 1) * row, width, row + 0.4);
      }
    }
  }

  drawRange(g, [t0, t1], colour, wash, view, px, inner, height) {
    const y = part => height - HEAT_BOTTOM - part * inner, x = s => AXIS + (s - view.from) * px;
    const s0 = Math.floor(t0), s1 = Math.floor(t1 - 1e-9), f0 = t0 - s0, f1 = t1 - s1;
    g.beginPath();
    if (s0 === s1) {
      g.rect(x(s0), y(f1), px, (f1 - f0) * inner);
    } else {
      const corners = [[s0, 1], [s1, 1], [s1, f1], [s1 + 1, f1], [s1 + 1, 0], [s0 + 1, 0], [s0 + 1, f0], [s0, f0]];
      corners.forEach(([s, part], i) => i ? g.lineTo(x(s), y(part)) : g.moveTo(x(s), y(part)));
      g.closePath();
    }
    g.fillStyle = wash;
    g.fill();
    g.strokeStyle = colour;
    g.lineWidth = 1.5;
    g.stroke();
  }

  drawLabels(g, view, px, inner, width, height) {
    g.fillStyle = ink.ink3;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const [part, text, shift] of [[0, "0 ms", -5], [0.5, "500", 0], [1, "980", 5]]) {
      g.fillText(text, AXIS - 8, height - HEAT_BOTTOM - part * inner + shift);
    }
    g.textAlign = "center";
    g.textBaseline = "alphabetic";
    const begin = this.samples.header.start_epoch_ns / 1e6, shift = view.zone === "offset" ? 0 : begin / 1e3 % 86400;
    const ticks = timeTicks(view.from, view.to, width - AXIS - RIGHT, shift), step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
    const digits = step < 0.095 ? 2 : step < 0.95 ? 1 : 0;
    for (const t of ticks) {
      const text = clockText(t, view.zone, begin, digits);
      g.fillText(text, Math.min(AXIS + (t - view.from) * px, width - g.measureText(text).width / 2 - 2), height - 6);
    }
  }
}
