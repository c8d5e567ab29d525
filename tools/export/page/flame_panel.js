// The flame graph of the selection, the path to what it is zoomed into, its legend, and its tooltips.

// Which of the model's recordings a side is of.
const recordingOf = ({model}, side) => model.recordings.indexOf(side.samples);

// {bytes, variance} of boxes, of one side.
function boxSums(page, side) {
  const k = recordingOf(page, side), {tree} = page;
  if (side.boxes?.tree !== tree) side.boxes = {tree, sums: side.addBytes(tree.sums(k), tree.sums(k), FAILS.focus)};
  return side.boxes.sums;
}

// A box of a comparison: how much it changes, from -1 to 1, and whether that is shown (`sure`). A box of one site has the
// verdict of that row of the table; one of several must be as unlikely as the rows that changed (`limit`: their largest
// p). The variances are upper estimates; the tooltip has the exact interval.
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

// What the table says of sites, for their boxes.
function verdictsOf(page) {
  const {tree, state} = page, rows = rowsOf(page, "sites"), of = new Map(rows.map(row => [row.key, row])), key = `sites ${!!state.mine}`;
  const sites = tree[key] = tree[key] || sitesOfBoxes(page);
  return {rowOf: i => i > 0 && sites[i] >= 0 ? of.get(sites[i]) : undefined,
    limit: Math.max(-1, ...rows.filter(row => row.verdict !== "same").slice(0, MOST_ROWS).map(row => row.p))};
}

// Of each side with several runs: sums by box of each, and what divides them.
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
  flame.draw();                                   // last: it stands on the legend
}

// What the command that made the page leaves out: boxes below a share, and all but the largest.
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

// The part of the selection that has a matching frame, each sample once.
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

// What a tooltip says of a box: with the exact interval of its samples.
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
