// Draws a flame graph or icicle graph on a canvas, or as SVG, and finds the box at a point.

const CODE_INKS = ["jdk", "mine", "p3", "p0", "p2"]; // indexed by BOX
const LEAST_BOX = 0.7;                            // pixels: omits narrower boxes

class Flame {
  constructor(canvas) {
    this.canvas = canvas;
    this.widths = new Map();
    this.boxes = [];
    this.marked = this.lit = -1;
    this.row = 19;
    this.font = 11;
  }

  // w(box): bytes, or another measure; cut: omits boxes up to this value; byCode: coloured by how they were executed;
  // match(key) or null; shade(box): {shade -1..1, sure} of a comparison, or null; pale(box).
  set(picture) { Object.assign(this, picture); }

  layOut(width) {
    const {tree, w, root} = this, all = w(root), scale = all > 0 ? width / all : 0, base = tree.depth[root];
    const next = new Float64Array(tree.size), boxes = [];
    let deepest = 0;
    for (let i = root; i < tree.end[root];) {
      const own = w(i), wide = own * scale, x = i === root ? 0 : next[tree.parent[i]];
      if (i !== root) next[tree.parent[i]] = x + wide;
      if (wide < LEAST_BOX || own <= this.cut) {
        i = tree.end[i];
        continue;
      }
      next[i] = x;
      const depth = tree.depth[i] - base;
      boxes.push({i, x, y: depth, width: wide});
      deepest = Math.max(deepest, depth);
      ++i;
    }
    for (const box of boxes) box.y = (this.icicle ? box.y : deepest - box.y) * this.row;
    return {boxes, height: (deepest + 1) * this.row};
  }

  draw() {
    const [row, font] = COARSE.matches ? [24, 12] : innerWidth >= 1900 ? [21, 12] : [19, 11];
    if (font !== this.font) this.widths.clear();
    Object.assign(this, {row, font});
    const room = this.canvas.parentElement, width = Math.max(1, room.clientWidth - 16), {boxes, height} = this.layOut(width);
    const isSame = this.drawn === this.tree && this.drawnRoot === this.root;
    const above = this.stands && isSame ? room.scrollHeight - room.clientHeight - room.scrollTop : 0;
    this.boxes = boxes;
    const g = canvasOf(this.canvas, width, Math.max(height + 8, Math.min(room.clientHeight - 4, 120)), font);
    g.textBaseline = "middle";
    this.stand(room, above, isSame);
    if (!(this.w(this.root) > 0)) {
      g.fillStyle = ink.ink3;
      g.textAlign = "center";
      g.fillText("No samples in this selection.", width / 2, 60);
      return;
    }
    for (const box of boxes) this.drawBox(g, box);
    const marked = boxes.find(box => box.i === this.marked);
    if (!marked) return;
    g.strokeStyle = ink.ink;
    g.lineWidth = 1.5;
    g.strokeRect(marked.x + 0.75, marked.y + 0.75, Math.max(1, marked.width - 2), row - 2);
  }

  // Scrolls to the root at first, and again for another root. A graph that grows upwards keeps its distance from the
  // bottom.
  stand(room, above, isSame) {
    if (this.icicle && (this.stands || !isSame)) room.scrollTop = 0;
    Object.assign(this, {stands: !this.icicle, drawn: this.tree, drawnRoot: this.root});
    this.canvas.classList.toggle("up", this.stands);
    if (this.stands) room.scrollTop = room.scrollHeight - room.clientHeight - above;
  }

  fillOf(i) {
    if (this.byCode && i) return ink[CODE_INKS[this.tree.type[i]] || "class"];
    if (!this.shade) return ink[i ? this.tree.hue[this.tree.key[i]] : "sunk"];
    const {shade, sure} = this.shade(i);
    if (!sure) return ink.jdk;
    const s = Math.min(1, Math.abs(shade)), hue = shade > 0 ? 55 : 258;
    return ink.dark ? `oklch(${0.36 + 0.17 * s} ${0.02 + 0.1 * s} ${hue})` : `oklch(${0.93 - 0.16 * s} ${0.02 + 0.11 * s} ${hue})`;
  }

  // An inlined frame has no machine frame of its own: it touches its caller, with a hairline instead of a gap. The
  // bottom of an interpreted frame is dotted.
  drawBox(g, {i, x, y, width}) {
    const {tree, row} = this, type = tree.type[i], key = tree.key[i], gap = width > 3 ? 1 : 0;
    const hit = this.match && i > 0 && this.match(key), inlined = type === BOX.inlined, isClass = type === BOX.allocated;
    const joined = inlined && this.icicle, top = joined ? y - 1 : y, height = joined ? row : row - 1;
    const alpha = (this.match && !hit ? 0.38 : 1) * (this.pale(i) ? 0.45 : 1);
    g.globalAlpha = alpha;
    g.fillStyle = this.fillOf(i);
    g.fillRect(x, top, width - gap, height);
    if (isClass && width > 5 && !this.shade) {
      g.strokeStyle = ink.line;
      g.lineWidth = 1;
      g.strokeRect(x + 0.5, y + 0.5, width - gap - 1, row - 2);
    }
    g.fillStyle = ink["box-ink"];
    if (inlined && width > 4) {
      g.globalAlpha = alpha * 0.13;
      g.fillRect(x + 2, top, width - gap - 4, 1);
    }
    if (type === BOX.interpreted && width > 6) {
      g.globalAlpha = alpha * 0.22;
      for (let k = x + 2; k < x + width - 3; k += 4) g.fillRect(k, y + row - 3, 2, 1);
    }
    g.globalAlpha = alpha;
    if (key === this.lit && i) this.drawFoot(g, x, y + row - 4, width - gap, 3, ink.a);
    if (hit) this.drawFoot(g, x, y + row - 3, width - gap, 2, ink.match);
    if (width > 26) this.drawText(g, i, key, x, y, width, this.match && !hit ? 0.62 : 1, isClass);
    g.globalAlpha = 1;
  }

  drawFoot(g, x, y, width, height, colour) {
    g.fillStyle = colour;
    g.fillRect(x, y, width, height);
  }

  drawText(g, i, key, x, y, width, alpha, isClass) {
    const text = this.fit(g, i ? this.tree.short[key] : "all", width - 10);
    if (!text) return;
    g.globalAlpha = alpha;
    g.fillStyle = isClass ? ink.ink2 : ink["box-ink"];
    g.textAlign = "left";
    g.fillText(text, x + 5, y + this.row / 2);
  }

  fit(g, name, room) {
    if (name.length > MOST_TEXT) name = name.slice(0, MOST_TEXT);
    let full = this.widths.get(name);
    if (full === undefined) this.widths.set(name, full = g.measureText(name).width);
    if (full <= room) return name;
    for (let n = Math.floor(name.length * (room - 8) / full); n > 2; --n) {
      const cut = name.slice(0, n) + "…";
      if (g.measureText(cut).width <= room) return cut;
    }
    return "";
  }

  hit(event) {
    const at = this.canvas.getBoundingClientRect(), x = event.clientX - at.left, y = event.clientY - at.top;
    const box = this.boxes.find(b => y >= b.y && y < b.y + this.row && x >= b.x && x < b.x + b.width);
    return box ? box.i : -1;
  }

  // Returns the next matching box in the order of the tree; -1: none.
  nextMatch(step) {
    const hits = this.match ? this.boxes.filter(b => b.i > 0 && this.match(this.tree.key[b.i])).map(b => b.i) : [];
    if (hits.length === 0) return -1;
    return step > 0 ? hits.find(i => i > this.marked) ?? hits[0] : hits.findLast(i => i < this.marked) ?? hits[hits.length - 1];
  }

  // Returns the box to which an arrow key moves.
  beside(i, key) {
    const box = this.boxes.find(b => b.i === i);
    if (!box) return this.root;
    const inwards = this.icicle ? "ArrowDown" : "ArrowUp", outwards = this.icicle ? "ArrowUp" : "ArrowDown";
    if (key === outwards) return i === this.root ? i : this.tree.parent[i];
    if (key === inwards) {
      const children = this.boxes.filter(b => this.tree.parent[b.i] === i);
      return children.length > 0 ? children.reduce((p, q) => q.width > p.width ? q : p).i : i;
    }
    const row = this.boxes.filter(b => b.y === box.y), at = row.indexOf(box) + (key === "ArrowRight" ? 1 : -1);
    return row[clamp(at, 0, row.length - 1)].i;
  }

  // The picture as SVG, with its current width.
  svg(title) {
    const width = Math.max(1, this.canvas.parentElement.clientWidth - 16), {boxes, height} = this.layOut(width), {tree, row} = this;
    const g = this.canvas.getContext("2d"), parts = [];
    for (const {i, x, y, width: wide} of boxes) {
      const text = wide > 26 ? this.fit(g, i ? tree.short[tree.key[i]] : "all", wide - 10) : "";
      parts.push(`<g><title>${escapeText(tree.label(i))}: ${escapeText(amountText(this.w(i)))}</title>` +
        `<rect x="${x.toFixed(2)}" y="${y}" width="${Math.max(0.5, wide - 0.5).toFixed(2)}" height="${row - 1}" fill="${this.fillOf(i)}"/>` +
        (text ? `<text x="${(x + 5).toFixed(2)}" y="${y + row / 2 + 4}">${escapeText(text)}</text>` : "") + "</g>");
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + 24}" viewBox="0 -24 ${width} ${height + 24}">` +
      `<rect y="-24" width="100%" height="100%" fill="${ink.panel}"/><g font-family="sans-serif" font-size="${this.font}" fill="${ink["box-ink"]}">` +
      `<text x="5" y="-8">${escapeText(title)}</text>${parts.join("")}</g></svg>`;
  }
}

// The flame graph of the selection, the path to the zoomed box, its legend, and its tooltips.

// Index of the recording of a side in the model.
const recordingOf = ({model}, side) => model.recordings.indexOf(side.samples);

// Returns {bytes, variance} of boxes for one side.
function boxSums(page, side) {
  const k = recordingOf(page, side), {tree} = page;
  if (side.boxes?.tree !== tree) side.boxes = {tree, sums: side.addBytes(tree.sums(k), tree.sums(k), FAILS.focus)};
  return side.boxes.sums;
}

// For a box of a comparison: how much it changes, from -1 to 1, and whether that is shown (`sure`). A box of one site
// has the verdict of that row of the table; one of several sites needs a p-value up to `limit`, the largest one of the
// changed rows. The variances are upper estimates; the tooltip has the exact interval.
function shadeOf(one, two, {a, b, varies}, unit, runs, {rowOf, limit}) {
  return i => {
    const before = one.bytes.of(i) / a, after = two.bytes.of(i) / b;
    const variance = (one.variance.of(i) + unit * unit) / (a * a) + (two.variance.of(i) + unit * unit) / (b * b);
    const own = runs ? runs.reduce((sum, side) => sum + varianceOfMean(side.map(run => run.sums.of(i) / run.divisor)), 0) : 0;
    const p = pOfRuns([before, after], variance, varies, own), row = rowOf(i), shade = (after - before) / (before + after || 1) * 1.6;
    return {shade, p, row, sure: row ? row.verdict !== "same" && row.change[0] > 0 === shade > 0 : p <= limit};
  };
}

// The only site of each box's samples, or SEVERAL.
const UNSEEN_SITE = -2, SEVERAL_SITES = -1;
function sitesOfBoxes({tree, model, state}) {
  const sites = new Int32Array(tree.size).fill(UNSEEN_SITE);
  const note = (i, site) => { if (site !== UNSEEN_SITE) sites[i] = sites[i] === UNSEEN_SITE || sites[i] === site ? site : SEVERAL_SITES; };
  model.recordings.forEach((s, k) => {
    const keys = state.mine ? s.ownSite : s.site;
    for (let i = 0; i < s.n; ++i) note(tree.at[k][i], keys[i]);
  });
  for (let i = tree.size - 1; i > 0; --i) note(tree.parent[i], sites[i]);
  return sites;
}

// The table's verdicts for sites, for their boxes.
function verdictsOf(page) {
  const {tree, state} = page, rows = rowsOf(page, "sites"), of = new Map(rows.map(row => [row.key, row])), key = `sites ${!!state.mine}`;
  const sites = tree[key] = tree[key] || sitesOfBoxes(page);
  return {rowOf: i => i > 0 && sites[i] >= 0 ? of.get(sites[i]) : undefined,
    limit: Math.max(-1, ...rows.filter(row => row.verdict !== "same").slice(0, MOST_ROWS).map(row => row.p))};
}

// For each side with several runs: the sums by box per run, and the divisors.
function runsOf(page) {
  const {tree, sideA, sideB, unit} = page;
  if (!unit.runs) return null;
  return [sideA, sideB].map((side, k) => side.addRuns(unit.runs[k].map(() => tree.sums(recordingOf(page, side))), FAILS.focus)
    .map((sums, run) => ({sums, divisor: unit.varies.shares ? sums.of(0) || 1 : unit.runs[k][run]})));
}

function drawFlamePanel(page) {
  const {state, tree, flame, sideA, sideB, model} = page, one = boxSums(page, sideA), {measure} = state;
  let w = i => one.bytes.of(i), shade = null;
  if (sideB) {
    const two = boxSums(page, sideB), {a, b} = page.unit, {unit, factor} = sideA.estimator(sideA.by(FROM.calibrated, FAILS.focus));
    if (measure === "after") w = i => two.bytes.of(i);
    else if (measure !== "before") w = i => (one.bytes.of(i) / a + two.bytes.of(i) / b) * a / 2;
    page.shade = shade = shadeOf(one, two, page.unit, unit * factor, runsOf(page), verdictsOf(page));
  } else if (measure === "objects" || measure === "samples") {
    const sums = sideA.addAmounts(tree.sums(recordingOf(page, sideA)), measure, FAILS.focus);
    w = i => sums.of(i);
  }
  const {regex} = page, hits = regex && tree.full.map(name => regex.test(name.slice(0, LONGEST)));
  const pale = shade ? () => false : i => i > 0 && one.bytes.of(i) <= Z * Math.sqrt(one.variance.of(i));
  flame.set({tree, w, root: state.focus, match: hits && (key => hits[key]), shade, pale, icicle: state.icicle, cut: cutOf(model.header.boxes, w, tree.size),
    byCode: state.colours === "code" && !shade});
  drawCrumbs(page, hits);
  drawFlameLegend(page);
  flame.draw();                                   // last: its position depends on the legend
}

// Boxes that the command omits: below a share, or beyond the largest ones.
function cutOf({least_share: share, most}, w, size) {
  const cut = (share || 0) * w(0);
  return most > 0 && most < size ? Math.max(cut, Float64Array.from({length: size}, (_, i) => w(i)).sort()[size - most - 1]) : cut;
}

function drawCrumbs({state, tree, sideA, model}, hits) {
  const path = tree.path(state.focus), shown = path.length > 5 ? [path[0], -1, ...path.slice(-3)] : path;
  const crumb = i => i < 0 ? `<span title="${path.length - 4} frames">…</span><span>›</span>`
    : `<button data-node="${i}">${i ? escapeText(tree.short[tree.key[i]]) : "all frames"}</button>${i === state.focus ? "" : "<span>›</span>"}`;
  setHtml($("crumbs"), shown.map(crumb).join("") + (hits ? `<span class="found">${matchedText({tree, sideA, model}, hits)}</span>` : ""));
}

// The part of the selection with a matching frame; counts each sample once.
function matchedText({tree, sideA, model}, hits) {
  const matched = new Uint8Array(tree.size);
  for (let i = 1; i < tree.size; ++i) matched[i] = matched[tree.parent[i]] || hits[tree.key[i]] ? 1 : 0;
  const at = tree.at[model.recordings.indexOf(sideA.samples)];
  const row = sideA.one(i => matched[at[i]] === 1, FROM.calibrated, FAILS.focus);
  return row.samples > 0 ? `matches ${percentText(row.share[0])} (${percentRange(row.share)})` : "no match";
}

const CODE_TEXTS = ["not known", "interpreted", "compiled", "inlined", "native"];

function drawFlameLegend({state, model, sideB}) {
  const part = (colour, text) => `<span>${swatch(colour)}${text}</span>`;
  const line = (path, opacity, text) => `<span><svg width="16" height="9" aria-hidden="true"><path d="M0 0H16V9H0Z" fill="${ink.p0}"/><path d="${path}" stroke="${ink["box-ink"]}" stroke-opacity="${opacity}"/></svg>${text}</span>`;
  if (sideB) {
    setHtml($("legend"), part("oklch(.77 .13 258)", "less in B") + part("oklch(.77 .13 55)", "more in B") +
      part(ink.jdk, "may be noise") + `<span>width: ${state.measure === "before" ? "A" : state.measure === "after" ? "B" : "mean of both"}</span>`);
    return;
  }
  if (state.colours === "code") {
    setHtml($("legend"), CODE_INKS.map((name, i) => part(ink[name], CODE_TEXTS[i])).join("") + "<span>what ran most of the bytes</span>");
    return;
  }
  const own = model.hueOfName.includes("mine") ? part(ink.mine, `my code (${escapeText(model.own.join(", "))})`) : "";
  const packages = model.hues.map((hue, i) => part(ink["p" + i], escapeText(hue) + (model.ownHues.includes(hue) ? " (my code)" : "")));
  setHtml($("legend"), own + packages.join("") + part(ink.jdk, "JDK") +
    part(ink["p-1"], "other") + line("M2 4.5H14", ".45", "inlined") + line("M2 7H14\" stroke-dasharray=\"2 2", ".6", "interpreted") +
    "<span>pale: few samples, ±2 σ includes 0</span>");
}

const TYPE_NAMES = ["", "interpreted", "compiled", "inlined into its caller", "native", "allocated class"];

// The tooltip of a box, with the exact interval of its samples.
function boxTip({tree, sideA, sideB, model, flame, unit, shade}, i) {
  const figuresOf = side => {
    const at = tree.at[model.recordings.indexOf(side.samples)], end = tree.end[i];
    return side.one(sample => at[sample] >= i && at[sample] < end, FROM.calibrated, FAILS.focus);
  };
  const [pack, short] = i ? [splitName(tree.label(i))[0], tree.short[tree.key[i]]] : ["", "all"], type = TYPE_NAMES[tree.type[i]];
  const head = `<b><bdi>${escapeText(short)}</bdi></b><small><bdi>${escapeText(pack)}</bdi>${pack && type ? ", " : ""}${type}</small>`;
  const one = figuresOf(sideA);
  if (!sideB) {
    const picture = whisker(one.share, 0, clamp(one.share[2] * 1.25, 0.02, 1), 200);
    const objects = one.objects && Number.isFinite(one.objects[0]) && !model.header.counts_events ? `<small>${countText(one.objects[0])} (${countText(one.objects[1])} to ${countText(one.objects[2])}) objects</small>` : "";
    const above = i > 0 && flame.w(tree.parent[i]) > 0 ? `, ${percentText(flame.w(i) / flame.w(tree.parent[i]))} of its caller` : "";
    return head + picture + `${amountText(one.bytes[0])} (${amountRange(one.bytes)})${objects}<small>${percentText(one.share[0])} (${percentRange(one.share)}) ` +
      `of the selection${above}, ${samplesText(one.samples)}</small>`;
  }
  const {a, b, suffix, text, signed} = unit, two = figuresOf(sideB), d = compare(scaled(one.bytes, 1 / a), scaled(two.bytes, 1 / b));
  const {p, row, sure} = shade(i), chance = row ? `q ${qText(row.q)}` : `p ${p < 0.001 ? "&lt; 0.001" : `= ${p.toFixed(3)}`}`;
  return head + `A ${text(d.before[0])}${suffix}, B ${text(d.after[0])}${suffix}<small>change ${signed(d.change[0])}${suffix} (${signed(d.change[1])} to ${signed(d.change[2])}${suffix}), ` +
    `${ratioText(d.before[0] > 0 ? d.after[0] / d.before[0] : Infinity)}, ${chance}${sure ? "" : ", may be noise"}</small><small>${countText(one.samples)} and ${countText(two.samples)} samples</small>`;
}
