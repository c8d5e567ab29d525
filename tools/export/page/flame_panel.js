// The flame graph of the selection, the path to what it is zoomed into, its legend, and its tooltips.

const LIKELY_NOISE = 0.01;                        // boxes of a comparison are grey above this p-value

// Bytes and variances by box, of one side.
function boxSums(side, tree, at) {
  const {bytes, variance} = side.sums(at, tree.size, FAILS.focus);
  return {bytes: tree.upwards(bytes), variance: tree.upwards(variance)};
}

// A box of a comparison: how much the rate changes, from -1 to 1, and whether that is more than noise. The variances are
// upper estimates, so fewer boxes are coloured than could be; the tooltip has the exact interval.
function shadeOf(one, two, secondsA, secondsB, unit) {
  return i => {
    const a = one.bytes[i] / secondsA, b = two.bytes[i] / secondsB, all = a + b;
    const deviation = Math.sqrt((one.variance[i] + unit * unit) / (secondsA * secondsA) + (two.variance[i] + unit * unit) / (secondsB * secondsB));
    return {shade: (b - a) / (all || 1) * 1.6, sure: erfc(Math.abs(b - a) / deviation / Math.SQRT2) < LIKELY_NOISE};
  };
}

function drawFlamePanel(page) {
  const {state, tree, flame, sideA, sideB, model} = page, one = boxSums(sideA, tree, tree.at[model.recordings.indexOf(sideA.samples)]);
  let w = one.bytes, shade = null;
  page.boxes = {one, two: null};
  if (sideB) {
    const two = boxSums(sideB, tree, tree.at[model.recordings.indexOf(sideB.samples)]);
    const [a, b] = [sideA.seconds, sideB.seconds], {estimator} = sideA.samples;
    w = one.bytes.map((x, i) => (x / a + two.bytes[i] / b) * a / 2);
    shade = shadeOf(one, two, a, b, estimator.unit * estimator.factor);
    page.boxes.two = two;
  }
  if (state.measure !== "bytes" && !sideB) {
    w = tree.upwards(sideA.amounts(tree.at[model.recordings.indexOf(sideA.samples)], tree.size, state.measure, FAILS.focus));
  }
  const {regex} = page, hits = regex && tree.full.map(name => regex.test(name.slice(0, LONGEST)));
  const pale = shade ? () => false : i => i > 0 && one.bytes[i] <= Z * Math.sqrt(one.variance[i]);
  flame.set({tree, w, root: state.focus, match: hits && (key => hits[key]), shade, pale, icicle: state.icicle, cut: cutOf(model.header.boxes, w),
    byCode: state.colours === "code" && !shade});
  drawCrumbs(page, hits);
  drawFlameLegend(page);
  flame.draw();                                   // last: it stands on the legend
}

// What the command that made the page leaves out: boxes below a share, and all but the largest.
function cutOf({least_share: share, most}, w) {
  const cut = (share || 0) * w[0];
  return most > 0 && most < w.length ? Math.max(cut, Float64Array.from(w).sort()[w.length - most - 1]) : cut;
}

function drawCrumbs({state, tree, sideA, boxes, model}, hits) {
  const path = tree.path(state.focus), shown = path.length > 5 ? [path[0], -1, ...path.slice(-3)] : path;
  const crumb = i => i < 0 ? `<span title="${path.length - 4} frames">…</span><span>›</span>`
    : `<button data-node="${i}">${i ? escapeText(tree.short[tree.key[i]]) : "all frames"}</button>${i === state.focus ? "" : "<span>›</span>"}`;
  setHtml($("crumbs"), shown.map(crumb).join("") + (hits ? `<span class="found">${matchedText({tree, sideA, boxes, model}, hits)}</span>` : ""));
}

// The part of the selection that has a matching frame, each sample once.
function matchedText({tree, sideA, model}, hits) {
  const matched = new Uint8Array(tree.size);
  for (let i = 1; i < tree.size; ++i) matched[i] = matched[tree.parent[i]] || hits[tree.key[i]] ? 1 : 0;
  const at = tree.at[model.recordings.indexOf(sideA.samples)];
  const row = sideA.one(i => matched[at[i]] === 1, GRAIN.kStack, FAILS.focus);
  return row.samples > 0 ? `matches ${percentText(row.share[0])} (${percentRange(row.share)})` : "no match";
}

const CODE_TEXTS = ["not known", "interpreted", "compiled", "inlined", "native"];

function drawFlameLegend({state, model, sideB}) {
  const part = (colour, text) => `<span>${swatch(colour)}${text}</span>`;
  const line = (path, opacity, text) => `<span><svg width="16" height="9" aria-hidden="true"><path d="M0 0H16V9H0Z" fill="${ink.p0}"/><path d="${path}" stroke="${ink["box-ink"]}" stroke-opacity="${opacity}"/></svg>${text}</span>`;
  if (sideB) {
    setHtml($("legend"), part("oklch(.77 .13 258)", "less in B") + part("oklch(.77 .13 55)", "more in B") +
      part(ink.jdk, "may be noise (p ≥ 1 %)") + "<span>width: mean of both rates</span>");
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
function boxTip({tree, sideA, sideB, model, flame}, i) {
  const figuresOf = side => {
    const at = tree.at[model.recordings.indexOf(side.samples)], end = tree.end[i];
    return side.one(sample => at[sample] >= i && at[sample] < end, GRAIN.kStack, FAILS.focus);
  };
  const [pack, short] = i ? [splitName(tree.label(i))[0], tree.short[tree.key[i]]] : ["", "all"], type = TYPE_NAMES[tree.type[i]];
  const head = `<b><bdi>${escapeText(short)}</bdi></b><small><bdi>${escapeText(pack)}</bdi>${pack && type ? ", " : ""}${type}</small>`;
  const one = figuresOf(sideA);
  if (!sideB) {
    const picture = whisker(one.share, 0, clamp(one.share[2] * 1.25, 0.02, 1), 200);
    const objects = one.objects && Number.isFinite(one.objects[0]) && !model.header.counts_events ? `<small>${countText(one.objects[0])} (${countText(one.objects[1])} to ${countText(one.objects[2])}) objects</small>` : "";
    const above = i > 0 && flame.w[tree.parent[i]] > 0 ? `, ${percentText(flame.w[i] / flame.w[tree.parent[i]])} of its caller` : "";
    return head + picture + `${amountText(one.bytes[0])} (${amountRange(one.bytes)})${objects}<small>${percentText(one.share[0])} (${percentRange(one.share)}) ` +
      `of the selection${above}, ${countText(one.samples)} samples</small>`;
  }
  const two = figuresOf(sideB), d = compare(scaled(one.bytes, 1 / sideA.seconds), scaled(two.bytes, 1 / sideB.seconds));
  return head + `A ${amountText(d.before[0])}/s, B ${amountText(d.after[0])}/s<small>change ${signedAmount(d.change[0])}/s (${amountRange(d.change)}/s), ` +
    `p = ${d.p < 0.001 ? "&lt; 0.001" : d.p.toFixed(3)}</small>`;
}
