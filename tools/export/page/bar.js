// The bar with the selection, and the headlines above it.

const STREAMS = {allocations: {track: "Allocation", column: "Bytes"}, exceptions: {track: "Exceptions", column: "Thrown"},
  malloc: {track: "malloc", column: "Bytes"}, mmap: {track: "mmap", column: "Bytes"}};

function drawBar(page) {
  const {state, tree, sideA, sideB} = page;
  const chip = (kind, text, key) => `<span class="chip ${kind}"><span title="${escapeText(text)}"><bdi>${escapeText(text)}</bdi></span>` +
    `<button data-clear="${key}" aria-label="Clear ${escapeText(text)}">×</button></span>`;
  const time = t => page.timeText(t, 1), range = r => `${time(r[0])} – ${time(r[1])}`, chips = [];
  if (state.a) chips.push(chip("a", (sideB ? "A  " : "") + range(sideA.range), "a"));
  if (state.b) chips.push(chip("b", "B  " + range(sideB.range), "b"));
  if (sideB && !state.b) chips.push(`<span class="chip b none"><bdi>B  ${escapeText(sideB.samples.header.file)}</bdi></span>`);
  if (state.cls !== null) chips.push(chip("", "class " + shortName(state.cls), "cls"));
  if (state.site !== null) chips.push(chip("", "site " + shortName(state.site, splitMethod), "site"));
  if (state.thread !== null) chips.push(chip("", "thread " + state.thread, "thread"));
  if (state.live && state.age > 0) chips.push(chip("", secondsText(state.age) + " old or more", "age"));
  if (state.focus > 0) chips.push(chip("", "under " + tree.short[tree.key[state.focus]], "focus"));
  const clear = [...chips];
  if (page.model.header.given.length > 0) chips.push(`<span class="chip none" title="Of the command that made the page"><bdi>${escapeText(page.model.header.given.join(" "))}</bdi></span>`);
  setHtml($("chips"), chips.join("") || '<span class="chip none">Whole recording</span>');
  $("reset").hidden = clear.length === 0 && !state.zoom && !state.q && !state.live && !state.mine;
  setHtml($("total"), sideB ? changeText(page) : totalText(page));
  const pressed = {mine: state.mine, fold: state.fold, "f-up": state.reverse, "f-down": !state.reverse, "m-live": state.live,
    "m-all": !state.live, pools: state.pools, compare: page.picking || !!sideB, icicle: !state.icicle};
  for (const [id, on] of Object.entries(pressed)) $(id).setAttribute("aria-pressed", on);
  if (document.activeElement !== $("search")) $("search").value = state.q;
  $("zone").value = state.zone;
  $("whole").hidden = state.view === "";
  $("wide").hidden = state.view !== "";
  for (const key of ["measure", "colours"]) $(key).value = state[key];
  for (const option of $("measure").options) option.hidden = option.dataset.of !== undefined && (option.dataset.of === "two") !== !!sideB;
  $("age").hidden = !state.live;
  $("age").value = state.age;
}

function totalText({state, sideA}) {
  const {samples, by, bytes, share} = sideA.total(), [whole] = sideA.estimator(by).total(), isCounted = sideA.estimator(by).calibrated && !sideA.samples.columns.interval_estimated.includes(1);
  const amount = sideA.chooses ? bytes[0] : whole, count = `, ${observedText(samples, by)}`;
  const rate = state.live ? "" : `, ${amountText(amount / sideA.seconds)}/s`;
  if (!sideA.chooses) return `<b>${amountText(whole)}</b>${isCounted ? " counted" : ""}${rate}${count}`;
  return `<b>${amountText(bytes[0])}</b>${state.live ? " live" : ""} (${amountRange(bytes)}), ${percentText(share[0])} of ${state.live ? "what is live" : "the recording"}${rate}${count}`;
}

function changeText({sideA, sideB, unit: {a, b, suffix, text, signed}}) {
  const one = scaled(sideA.total().bytes, 1 / a), two = scaled(sideB.total().bytes, 1 / b), {change} = compare(one, two);
  return `<b>${signed(change[0])}${suffix}</b> (${signed(change[1])} to ${signed(change[2])}${suffix}), A ${text(one[0])}${suffix}, B ${text(two[0])}${suffix}`;
}

function drawHeadlines({model}) {
  const {header} = model, [first, ...others] = header.headlines || [];
  $("file").textContent = header.title || header.file;
  $("stream").textContent = STREAMS[header.stream].track;
  $("measure").options[0].textContent = header.compare?.objects ? "Objects" : STREAMS[header.stream].column;
  const other = model.recordings[1] ? ` and ${model.recordings[1].header.file}` : "";
  $("about").textContent = `${secondsText(header.seconds || 0)} of ${header.jvm}, ${header.gc}, ${new Date(header.start_epoch_ns / 1e6).toISOString().slice(0, 16).replace("T", " ")} UTC${other}`;
  $("headline").textContent = first ? first.text : "Nothing was allocated.";
  const range = header.is_range ? '<li class="warning">What no major collection has seen yet counts as live, but may be garbage.</li>' : "";
  setHtml($("sentences"), others.map(one => `<li class="${escapeText(one.mood)}">${escapeText(one.text)}</li>`).join("") + range + reducedText(model));
  const command = header.next ? header.next.command : "";
  $("next").hidden = !command;
  $("next").dataset.copy = command || "";
  setHtml($("next"), `<span>Next</span><code>${escapeText(command || "")}</code><span class="copy">Copy</span>`);
}

function reducedText({recordings}) {
  return recordings.filter(s => s.kept < s.header.samples).map(s =>
    `<li class="warning">Reduced: ${countText(s.kept)} of ${countText(s.header.samples)} samples of ${escapeText(s.header.file)} are shown, with larger weights; intervals are wider.</li>`).join("");
}

// The text beside the tracks: about the time under the cursor, or the selection.
function drawReadout(page, time) {
  const {tracks, state, sideA} = page, {steps, rates} = tracks, [from, to] = sideA.filters.time || [steps.begin, steps.end];
  const pauses = tracks.pausesIn(from, to);
  if (time === null) {
    const both = tracks.other ? '\n<i class="b">line: B</i>' : "";
    setHtml($("g-alloc"), state.cls !== null || state.site !== null || state.thread !== null || state.focus || state.live ? "<i>selected part</i> of the exact count" : tracks.exact + both);
    const last = tracks.pausesIn(to - (to - from) / 10, to), errors = tracks.errors.filter(t => t >= from && t < to).length;
    setHtml($("g-heap"), (errors ? `<i class="gc">${countText(errors)} OutOfMemoryError${errors === 1 ? "" : "s"}</i>\n` : "") +
      `<i class="gc">${countText(pauses.count)} GC pause${pauses.count === 1 ? "" : "s"}</i>\n${percentText(pauses.share)} of the time,\nlast tenth ${percentText(last.share)}`);
    setHtml($("g-memory"), '<i class="rss">RSS</i>, <i class="native">native live</i>');
    setHtml($("g-threads"), tracks.threads.length > 0 ? "Java threads" : "");
    setHtml($("g-sampling"), tracks.losses.length > 0 ? `<i class="gc">${countText(tracks.losses.reduce((sum, l) => sum + l.points, 0))} lost</i>` : tracks.perUnit);
    setHtml($("g-heat"), "20 ms rows, estimated" + (tracks.other ? ", A" : ""));
    return;
  }
  const shown = (points, text) => { const value = lastBefore(points, time); return value === null ? "" : text(value); };
  setHtml($("g-memory"), `<i class="rss">${shown(tracks.rss, bytesText)}</i>\n<i class="native">${shown(tracks.native, bytesText)}</i>`);
  setHtml($("g-threads"), shown(tracks.threads, countText));
  const step = clamp(Math.floor((time - steps.begin) / steps.seconds), 0, steps.count - 1), part = tracks.part ? `<i>${amountText(tracks.part[step])}/s selected</i>` : "";
  setHtml($("g-alloc"), `${page.timeText(time, 2)} ${amountText(rates[step])}/s\n${part}`);
  const near = tracks.pauseNear(time, (page.view().to - page.view().from) / 120), heap = lastBefore(tracks.heap, time);
  setHtml($("g-heap"), (heap !== null ? bytesText(heap) + "\n" : "") + (near ? `<i class="gc">${secondsText(near.seconds)} ${escapeText(near.cause)}</i>` : ""));
  const lost = tracks.losses.find(l => time >= l.from && time < l.to), rate = lastBefore(tracks.windows, time);
  setHtml($("g-sampling"), lost ? `<i class="gc">${countText(lost.points)} lost, ${amountText(lost.bytes)}</i>` : rate !== null ? `${rate.toPrecision(3)} ${tracks.perUnit}` : "");
}
function lastBefore(points, time) {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= time) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? points[low - 1][1] : null;
}
