// Tracks on one time axis, drawn by dygraphs: exact bytes/s with the selected part, heap used with the GC pauses and
// OutOfMemoryErrors, memory and threads of the process if they are known, samples per MiB with losses. With two
// recordings, bytes/s and heap of the second one are lines. The brush and the heat map have the same axis (input.js).

const MOST_STEPS_SHOWN = 4000, LOSS_HEIGHT = 3;

// Exact bytes by step of time: intervals of the recorder, combined if there are many.
function stepsOf(samples) {
  const {columns, header} = samples, width = header.interval_ns / 1e9;
  const count = Math.max(1, Math.ceil((samples.end - samples.begin) / width - 1e-6)), each = Math.ceil(count / MOST_STEPS_SHOWN);
  const seconds = width * each, n = Math.ceil(count / each), bytes = new Float64Array(n);
  let estimated = samples.end;  // estimated from this time on
  columns.interval_begin.forEach((begin, i) => {
    const step = Math.floor((begin / 1e9 - samples.begin) / seconds + 1e-6);
    bytes[clamp(step, 0, n - 1)] += columns.interval_bytes[i];
    if (columns.interval_estimated[i]) estimated = Math.min(estimated, begin / 1e9);
  });
  if (!header.of_samples.calibrated || bytes.every(b => b === 0)) bytes.set(new Side(samples, {}).course(samples.begin, seconds, n));
  return {seconds, bytes, count: n, begin: samples.begin, end: samples.end, estimated};
}

function pausesOf({columns, header}) {
  return Array.from(columns.pause_begin, (begin, i) => ({begin: begin / 1e9, seconds: columns.pause_length[i] / 1e9,
    before: columns.pause_before[i], after: columns.pause_after[i], cause: header.pause_causes[i]}));
}

function heapOf({columns}, pauses) {
  const points = Array.from(columns.heap_time, (time, i) => [time / 1e9, columns.heap_used[i]]);
  for (const pause of pauses) {
    if (pause.before > 0) points.push([pause.begin, pause.before]);
    if (pause.after > 0) points.push([pause.begin + pause.seconds, pause.after]);
  }
  return points.sort((a, b) => a[0] - b[0]);
}

// A column of the process snapshots, without unknown values.
function statesOf({columns}, values, isKnown = value => value > 0) {
  return Array.from(columns.heap_time, (time, i) => [time / 1e9, values[i]]).filter(([, value]) => isKnown(value));
}
const nativeOf = ({header: {native_live: live}}) => live ? live.ns.map((time, i) => [time / 1e9, live.bytes[i]]) : [];

// Combines series with different times into rows of a chart.
function joined(begin, end, ...series) {
  const rows = series.flatMap((points, k) => points.map(([time, value]) => [time, ...series.map((_, other) => other === k ? value : null)]));
  return rows.length > 0 ? rows.sort((a, b) => a[0] - b[0]) : [[begin, ...series.map(() => null)], [end, ...series.map(() => null)]];
}

function ratesOf({seconds, count, begin, end}, bytes) {
  const rates = Array.from(bytes, b => b / seconds), last = end - begin - (count - 1) * seconds;
  // The last step may be short; a very short one is combined with the previous one.
  if (count > 1 && last < seconds / 4) rates[count - 1] = rates[count - 2] = (bytes[count - 1] + bytes[count - 2]) / (seconds + last);
  else rates[count - 1] = bytes[count - 1] / Math.max(last, 1e-3);
  return rates;
}

function windowsOf({columns, end, header}) {
  const points = [], unit = header.counts_events ? 1 : 1048576;
  columns.window_start.forEach((start, i) => {
    if (columns.window_lambda[i] > 0) points.push([start / 1e9, columns.window_lambda[i] * unit]);
  });
  points.sort((a, b) => a[0] - b[0]);
  if (points.length > 0) points.push([end, points[points.length - 1][1]]);
  return points;
}

function lossesOf({columns}) {
  return Array.from(columns.loss_from, (from, i) => ({from: from / 1e9, to: columns.loss_to[i] / 1e9,
    points: columns.loss_points[i], bytes: columns.loss_bytes[i]}));
}

// The labels of a logarithmic scale: its ends, if they differ enough.
const ratesOfScale = (low, high) => high > 2 * low ? [low, high] : [high];
function shortCount(x) {
  const steps = [["M", 1e6], ["k", 1e3], ["", 1]], [unit, size] = steps.find(([, least]) => x >= 0.9995 * least) || steps[2];
  return +(x / size).toPrecision(2) + unit;
}

// Its legend sets a style that the page's policy forbids, and is never visible.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter(plugin => plugin !== Dygraph.Plugins.Legend);

class Tracks {
  // view(): {from, to, zone}; `other`: the recording to compare with.
  constructor(samples, view, other = null) {
    this.samples = samples;
    this.view = view;
    this.steps = stepsOf(samples);
    this.rates = ratesOf(this.steps, this.steps.bytes);
    this.pauses = pausesOf(samples);
    this.heap = heapOf(samples, this.pauses);
    this.committed = statesOf(samples, samples.columns.heap_committed);
    this.rss = statesOf(samples, samples.columns.heap_rss);
    this.threads = statesOf(samples, samples.columns.heap_threads);
    this.native = nativeOf(samples);
    this.errors = Array.from(samples.columns.out_of_memory, time => time / 1e9);
    this.other = other && this.asOther(other);
    this.windows = windowsOf(samples);
    this.losses = lossesOf(samples);
    this.part = null;
    const {estimated, end} = this.steps;
    [this.exact, this.perUnit] = samples.header.counts_events ? ["exact events/s", "samples per event"] : ["exact bytes/s", "samples per MiB"];
    if (estimated < end) this.exact += ` (last ${secondsText(end - estimated)} estimated: the process died before they were counted)`;
  }

  // Shifted to the start of the first recording.
  asOther(samples) {
    const steps = stepsOf(samples), shift = this.samples.begin - samples.begin;
    return {steps: {...steps, begin: steps.begin + shift, end: steps.end + shift}, rates: ratesOf(steps, steps.bytes),
      heap: heapOf(samples, pausesOf(samples)).map(([time, used]) => [time + shift, used])};
  }

  options(element, labels, more) {
    const grid = {gridLineColor: ink.hair, gridLineWidth: 1}, view = this.view();
    const xTicks = (from, to) => {
      const {zone} = this.view(), shift = zone === "offset" ? 0 : this.samples.header.start_epoch_ns / 1e9;
      return timeTicks(from, to, element.clientWidth - AXIS - RIGHT, shift % 86400).map(v => ({v, label: ""}));
    };
    return {labels, interactionModel: {}, highlightCircleSize: 0,
      dateWindow: [view.from, view.to], rightGap: RIGHT, axisTickSize: 0, axisLineColor: "transparent", strokeWidth: 1,
      axisLabelWidth: AXIS, animatedZooms: false,
      axes: {x: {drawAxis: false, ticker: xTicks, ...grid}, y: {axisLabelWidth: AXIS, drawAxis: true, includeZero: true, ...grid, ...more.y}},
      ...more.options};
  }

  bytesAxis(element, most, text) {
    return {ticker: (low, high) => byteTicks(high / 1.04, most).map(v => ({v, label: v ? text(v).replace(/\.0+(?=\u00a0)/, "") : "0"}))};
  }

  build() {
    for (const chart of this.charts || []) chart.destroy();
    $("t-memory").hidden = this.rss.length === 0 && this.native.length === 0;
    $("t-threads").hidden = this.threads.length === 0;
    this.buildAllocation($("p-alloc"));
    this.buildHeap($("p-heap"));
    this.buildSampling($("p-sampling"));
    this.charts = [this.alloc, this.heapChart, this.sampling];
    if (!$("t-memory").hidden) this.charts.push(this.memory($("p-memory")));
    if (!$("t-threads").hidden) this.charts.push(this.threadsChart($("p-threads")));
  }

  buildAllocation(element) {
    const tall = element.clientHeight > 100 ? 4 : 3, high = Math.max(...this.rates, ...(this.other ? this.other.rates : []), 1);
    this.alloc = new Dygraph(element, this.allocation(), this.options(element, ["s", "all", "selected", "other"], {
      y: {...this.bytesAxis(element, tall, amountText), valueRange: [0, high * 1.06]},
      options: {stepPlot: true, fillGraph: true, underlayCallback: (g, area, chart) => this.drawLosses(g, area, chart),
        series: {all: {color: ink["area-line"], fillAlpha: 0.5}, selected: {color: ink.share, fillAlpha: 0.6},
          other: {color: ink.b, fillGraph: false, strokeWidth: 1.5}}}}));
  }

  buildHeap(element) {
    const {begin, end} = this.samples, other = this.other ? this.other.heap : [];
    const high = Math.max(1, ...[...this.heap, ...this.committed, ...other].map(p => p[1]));
    this.heapChart = new Dygraph(element, joined(begin, end, this.heap, this.committed, other), this.options(element, ["s", "heap used", "committed", "other"], {
      y: {...this.bytesAxis(element, 2, bytesText), valueRange: [0, high * 1.06]},
      options: {connectSeparatedPoints: true, underlayCallback: (g, area, chart) => this.drawPauses(g, area, chart),
        series: {"heap used": {color: ink.heap, strokeWidth: 1.5}, committed: {color: ink.ink3, strokePattern: [3, 3]}, other: {color: ink.b}}}}));
  }

  memory(element) {
    const {begin, end} = this.samples, high = Math.max(1, ...[...this.rss, ...this.native].map(p => p[1]));
    return new Dygraph(element, joined(begin, end, this.rss, this.native), this.options(element, ["s", "RSS", "native live"], {
      y: {...this.bytesAxis(element, 2, bytesText), valueRange: [0, high * 1.06]},
      options: {connectSeparatedPoints: true, strokeWidth: 1.5, series: {RSS: {color: ink.ink2}, "native live": {color: ink.warn}}}}));
  }

  threadsChart(element) {
    const high = Math.max(1, ...this.threads.map(p => p[1]));
    return new Dygraph(element, joined(this.samples.begin, this.samples.end, this.threads), this.options(element, ["s", "threads"], {
      y: {ticker: () => [0, high].map(v => ({v, label: shortCount(v)})), valueRange: [0, high * 1.1]}, options: {stepPlot: true, color: ink.ink3}}));
  }

  buildSampling(element) {
    const rates = this.windows.map(p => p[1]), high = Math.max(1e-9, ...rates), low = Math.min(high, ...rates);
    const points = this.windows.length > 0 ? this.windows : [[this.samples.begin, null], [this.samples.end, null]];
    this.sampling = new Dygraph(element, points, this.options(element, ["s", this.perUnit], {
      y: {logscale: true, includeZero: false, valueRange: [low / 1.5, high * 1.5], ticker: () => ratesOfScale(low, high).map(v => ({v, label: shortCount(v)}))},
      options: {stepPlot: true, color: ink.ink3}}));
  }

  allocation() {
    const edges = ({seconds, begin, end, count}) => [...Array.from({length: count}, (_, i) => begin + i * seconds), end], {other, part} = this;
    const at = ({seconds, begin, end, count}, values, time) => time > end + 1e-9 ? null : values[clamp(Math.floor((time - begin) / seconds + 1e-6), 0, count - 1)];
    const times = other ? [...new Set([...edges(this.steps), ...edges(other.steps)])].sort((a, b) => a - b) : edges(this.steps);
    return times.map(time => [time, at(this.steps, this.rates, time), part ? at(this.steps, part, time) : null, other ? at(other.steps, other.rates, time) : null]);
  }

  // Draws each pause: the width is its duration, at least a hairline; the height grows with it.
  drawPauses(g, area, chart) {
    g.save();
    g.beginPath();
    g.rect(area.x, area.y, area.w, area.h);
    g.clip();
    g.fillStyle = ink.bad;
    for (const {begin, seconds} of this.pauses) {
      const x = chart.toDomXCoord(begin), width = Math.max(1.5, chart.toDomXCoord(begin + seconds) - x);
      const height = 4 + 14 * Math.min(1, Math.sqrt(seconds / 0.1));
      g.fillRect(x - 0.75, area.y + area.h - height, width, height);
    }
    g.font = "10px " + ink.font;
    for (const time of this.errors) {               // full height, because they are important
      const x = chart.toDomXCoord(time);
      g.fillRect(x - 0.75, area.y, 1.5, area.h);
      g.fillText("OOM", x + 3, area.y + 10);
    }
    g.restore();
  }

  // A bar at the top marks lost samples, and a band estimated bytes.
  drawLosses(g, area, chart) {
    const estimated = chart.toDomXCoord(this.steps.estimated);
    g.fillStyle = ink.hair;
    if (estimated < area.x + area.w) g.fillRect(Math.max(area.x, estimated), area.y, area.x + area.w - Math.max(area.x, estimated), area.h);
    g.fillStyle = ink.bad;
    for (const {from, to} of this.losses) {
      const x = Math.max(area.x, chart.toDomXCoord(from)), end = Math.min(area.x + area.w, chart.toDomXCoord(to));
      if (end > area.x && x < area.x + area.w) g.fillRect(x, area.y, Math.max(2, end - x), LOSS_HEIGHT);
    }
  }

  // `part`: bytes of the selection by step, scaled to the exact counts; null: everything is selected.
  select(part) {
    this.part = part && ratesOf(this.steps, part);
    this.alloc.updateOptions({file: this.allocation()});
  }

  zoom() {
    const {from, to} = this.view();
    for (const chart of this.charts) chart.updateOptions({dateWindow: [from, to]});
  }
  resize() { for (const chart of this.charts) chart.resize(); }

  // The selected part of a step's exact count is the selected share of the sampled bytes.
  partOf(side, ignored) {
    const {begin, seconds, count, bytes} = this.steps, all = this.all = this.all || new Side(this.samples, {}).course(begin, seconds, count);
    return side.course(begin, seconds, count, ignored).map((x, i) => all[i] > 0 ? x / all[i] * bytes[i] : 0);
  }

  pausesIn(from, to) {
    let seconds = 0, count = 0;
    for (const pause of this.pauses) {
      if (pause.begin < from || pause.begin >= to) continue;
      seconds += pause.seconds;
      ++count;
    }
    return {count, seconds, share: seconds / Math.max(to - from, 1e-9)};
  }
  pauseNear(time, reach) {
    let best = null, least = reach;
    for (const pause of this.pauses) {
      const away = time < pause.begin ? pause.begin - time : Math.max(0, time - pause.begin - pause.seconds);
      if (away <= least) [best, least] = [pause, away];
    }
    return best;
  }
}

// The heat map: a column per second, a row per 20 ms, which shows bursts and periods. A time range in it looks like
// selected text: its first and last columns are partly covered.

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

  // Mixed by the canvas.
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

  // The cells without ranges; drawn again if they have changed.
  drawPicture(view, px, inner, width, height) {
    const of = JSON.stringify([this.version, view.from, view.to, width, height, devicePixelRatio, ink.heat0]);
    if (this.drawn === of) return;
    this.drawn = of;
    const g = canvasOf(this.picture, width, height);
    g.fillStyle = ink.heat0;
    g.fillRect(AXIS, HEAT_TOP, width, height);
    this.drawCells(g, view, px, inner, height);
  }

  // If a pixel covers several seconds, draws the largest value.
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
