// The table beside the flame graph: sites, classes or threads of the selection, or the changes between A and B.

const DIMENSIONS = {sites: {field: "site", bit: FAILS.site, label: "Site"}, classes: {field: "cls", bit: FAILS.cls, label: "Class"},
  threads: {field: "thread", bit: FAILS.thread, label: "Thread"}};
const ROWS = 40, ROWS_OF_DRAG = 20, ROWS_OF_SCALE = 30, MOST_ROWS = 5000, SPARK_STEPS = 36;

// Returns {keys(samples), names, need, title} of a tab.
function dimensionOf(page, tab) {
  const {state, model} = page;
  if (tab === "classes") return {keys: s => s.cls, names: model.classes.keys, need: FROM.rows, title: "Classes"};
  if (tab === "threads") {
    return {keys: s => state.pools ? s.pool : s.thread, names: state.pools ? model.pools : model.threads.keys, need: FROM.samples, title: "Threads"};
  }
  return {keys: s => state.mine ? s.ownSite : s.site, names: model.siteNames, need: state.mine ? FROM.calibrated : FROM.rows, title: state.mine ? "Own sites" : "Sites"};
}

// Rows of a tab in order. In a comparison each has {before, after, change, p, q, verdict}: bytes per second.
function rowsOf(page, tab) {
  const {keys, names, need} = dimensionOf(page, tab), {sideA, sideB, state} = page, {bit} = DIMENSIONS[tab];
  const one = sideA.rows(keys(sideA.samples), names.length, need, bit);
  for (const row of one) row.name = names[row.key];
  if (!sideB) return one.sort(orderOf(state.sort));
  const isAll = !sideA.isOn("cls") && !sideA.isOn("site") && !sideA.isOn("thread") && !sideA.isOn("focus") && !state.live && !state.mine;
  return comparedRows(one, sideB.rows(keys(sideB.samples), names.length, need, bit), names,
    [[sideA, page.unit.a], [sideB, page.unit.b]].map(([side, divisor]) => ({divisor, unseen: side.unseen(need, bit)})), state.sort,
    page.unit, isAll && page.unit.tables?.[tab]);
}

function orderOf(sort) {
  if (sort === "name") return (x, y) => x.name < y.name ? -1 : 1;
  if (sort === "samples") return (x, y) => y.samples - x.samples;
  return (x, y) => y.bytes[0] - x.bytes[0] || (x.name < y.name ? -1 : 1);
}

function comparedRows(one, two, names, [a, b], sort, unit, known) {
  const rows = new Map();
  for (const row of one) rows.set(row.key, {key: row.key, name: names[row.key], one: row.bytes, two: b.unseen, samples: row.samples});
  for (const row of two) {
    const known = rows.get(row.key);
    if (known) Object.assign(known, {two: row.bytes, samples: known.samples + row.samples});
    else rows.set(row.key, {key: row.key, name: names[row.key], one: a.unseen, two: row.bytes, samples: row.samples});
  }
  const all = [...rows.values()];
  for (const row of all) Object.assign(row, compareLazily(scaled(row.one, 1 / a.divisor), scaled(row.two, 1 / b.divisor)));
  judgeRows(all, unit, known);
  const size = row => Math.abs(row.change[0]);
  const differs = row => row.verdict === "same" ? 1 : 0;
  return all.sort(sort === "name" ? orderOf("name") : (x, y) => differs(x) - differs(y) || size(y) - size(x));
}

function drawTable(page) {
  const {state, regex} = page, {title} = dimensionOf(page, state.tab), rows = rowsOf(page, state.tab);
  drawTabs(page, title, rows.length);
  const seen = regex ? rows.filter(row => regex.test(row.name.slice(0, LONGEST))) : rows;
  const shown = seen.slice(0, page.dragging ? ROWS_OF_DRAG : state.all ? MOST_ROWS : ROWS);
  page.rows = {all: rows, shown};
  const width = pictureWidth(!!page.sideB), chosen = page.chosen[DIMENSIONS[state.tab].field];
  if (page.sideB) drawCompared(page, shown, width, chosen);
  else drawAllocated(page, shown, width, chosen);
  if (shown.length === 0) setHtml($("tbody"), `<tr><td class="empty" colspan="6">${emptyText(page)}</td></tr>`);
  drawTableNote(page, rows, seen.length - shown.length, seen.length);
}

function emptyText({regex, state}) {
  return regex ? `No ${DIMENSIONS[state.tab].label.toLowerCase()} matches; matching frames are marked in the flame graph.` : "No samples in this selection.";
}
function pictureWidth(compared) {
  if (innerWidth > 1900) return 168;
  if (innerWidth > 860) return 112;
  return innerWidth > 560 ? 84 : Math.max(100, innerWidth - (compared ? 250 : 206));
}
const headCell = (page, key, text) =>
  `<button data-sort="${key}" class="sort" aria-pressed="${page.state.sort === key}">${text}${page.state.sort === key ? " ▾" : ""}</button>`;

function drawAllocated(page, shown, width, chosen) {
  const far = clamp(Math.max(0.001, ...shown.slice(0, ROWS_OF_SCALE).map(row => row.share[2])), 0, 1), courses = coursesOf(page, shown);
  const {live, tab} = page.state, by = page.sideA.by(dimensionOf(page, tab).need, DIMENSIONS[tab].bit);
  setHtml($("thead"), `<tr><th>${headCell(page, "name", DIMENSIONS[tab].label)}</th><th class="number">${headCell(page, "bytes", live ? "Live" : STREAMS[page.model.header.stream].column)}</th>` +
    `<th class="share" title="Of the current selection">Share</th><th class="pic w${width}">${scaleOf(0, far, width, x => x ? percentText(x) : "0")}</th><th class="course wide">${live ? "Born" : "Over time"}</th></tr>`);
  setHtml($("tbody"), shown.map((row, i) => {
    const range = `${amountText(row.bytes[0])} (${amountRange(row.bytes)}), ${percentRange(row.share)} of the selection, ${observedText(row.samples, by)}`;
    return `<tr tabindex="${i ? -1 : 0}" data-key="${row.key}" aria-selected="${row.key === chosen}" title="${range}">${nameCell(page, row)}` +
      `<td>${amountText(row.bytes[0])}</td><td class="soft">${percentText(row.share[0])}</td>` +
      `<td class="pic" aria-label="${percentRange(row.share)}">${whisker(row.share, 0, far, width)}</td><td class="wide">${sparkline(courses[i], 72)}</td></tr>`;
  }).join(""));
}

function drawCompared(page, shown, width, chosen) {
  const {suffix, text, signed} = page.unit;
  const far = Math.max(1e-9, ...shown.slice(0, ROWS_OF_SCALE).map(row => Math.max(Math.abs(row.change[1]), Math.abs(row.change[2]))));
  setHtml($("thead"), `<tr class="compare"><th>${headCell(page, "name", DIMENSIONS[page.state.tab].label)}</th><th class="number">A ${suffix}</th><th class="number">B ${suffix}</th>` +
    `<th class="pic w${width}">${scaleOf(-far, far, width, signed)}</th><th class="share wide">Change</th><th class="share" title="Smallest false discovery rate at which the row counts as changed">q</th></tr>`);
  setHtml($("tbody"), shown.map((row, i) => {
    const sure = row.verdict !== "same", kind = sure ? row.change[0] > 0 ? "more" : "less" : "dim";
    const ratio = sure && i < ROWS_OF_SCALE && !page.dragging ? ratioOf(row) : [row.before[0] > 0 ? row.after[0] / row.before[0] : Infinity];
    const ratioTitle = ratio.length > 1 && Number.isFinite(ratio[0]) ? `×${ratio[1].toFixed(2)} to ×${ratio[2].toFixed(2)}` : "";
    return `<tr tabindex="${i ? -1 : 0}" data-key="${row.key}" aria-selected="${row.key === chosen}" class="compare ${kind}" title="${signed(row.change[1])}${suffix} to ${signed(row.change[2])}${suffix}">` +
      `${nameCell(page, row)}<td>${text(row.before[0])}</td><td>${text(row.after[0])}</td>` +
      `<td class="pic">${whisker(row.change, -far, far, width)}</td><td class="soft wide" title="${ratioTitle}">${ratioText(ratio[0])}</td><td class="soft">${qText(row.q)}</td></tr>`;
  }).join(""));
}
const qText = q => q < 0.001 ? "&lt;.001" : q > 0.9995 ? "1" : q.toFixed(3).slice(1);

function nameCell({state, model}, row) {
  const split = state.tab === "sites" ? splitMethod : splitName, [pack] = split(row.name), hue = state.tab === "sites" ? model.hueOfName[row.key] : "";
  const mark = hue ? `<span class="swatch">${swatch(ink[hue] || ink["p-1"])}</span>` : "";
  return `<td class="name" title="${escapeText(row.name)}">${mark}<b><bdi>${escapeText(shortName(row.name, split))}</bdi></b><small><bdi>${escapeText(pack)}</bdi></small></td>`;
}

// Bytes over time of the shown rows, for all times.
function coursesOf(page, shown) {
  const {sideA, state} = page, s = sideA.samples, {bit} = DIMENSIONS[state.tab], keys = dimensionOf(page, state.tab).keys(s);
  const place = new Int32Array(dimensionOf(page, state.tab).names.length).fill(-1), courses = shown.map(() => new Float32Array(SPARK_STEPS));
  const step = SPARK_STEPS / (s.end - s.begin), {timedBytes} = sideA;
  shown.forEach((row, k) => { place[row.key] = k; });
  sideA.each(FAILS.time | bit, i => {
    const at = place[keys[i]];
    if (at >= 0) courses[at][clamp(Math.floor((s.time[i] - s.begin) * step), 0, SPARK_STEPS - 1)] += timedBytes[i];
  });
  return courses;
}

// Says which data the table is estimated from.
function originText(page) {
  const {state: {tab}, sideA, sideB} = page, {need} = dimensionOf(page, tab), {bit} = DIMENSIONS[tab], sides = sideB ? [sideA, sideB] : [sideA];
  const observed = sides.map(side => observedText(side.all(bit, need).samples, side.by(need, bit)));
  const times = sides.filter(side => side.isRounded).map(({range}) => range.map(t => page.timeText(t, 1)).join(" – "));
  return `from ${observed.join(" and ")}${times.length > 0 ? `, time rounded to ${times.join(" and ")}` : ""}`;
}

function drawTableNote(page, rows, rest, count) {
  const changed = page.sideB ? rows.filter(row => row.verdict !== "same").length : 0;
  const note = page.sideB ? page.unit.varies.isJudged ? `${changed} of ${rows.length} changed; grey rows may be noise`
    : "no verdict: rates of one run per side also depend on the machine's speed" : "dot: share of the selection, whisker: its 95 % interval";
  setHtml($("tablenote"), `<span>${note}; ${originText(page)}</span>` + (rest > 0 ? `<button data-all>Show all ${count} rows</button>` : ""));
}

// The tabs of the table panel: the three dimensions of the samples, and other data of the recording, each shown only if
// it exists. Reports of other commands come as HTML (tools/report/page/page_parts.h).

const REPORT_TITLES = {difference: "Difference", timeline: "Curves", why: "Why", advice: "Advice", live: "Live", leaks: "Leaks", paths: "Paths", census: "Census", native: "Native", exceptions: "Exceptions"};

function tabsOf(model) {
  const tabs = ["sites", "classes", "threads"], {header} = model;
  for (const name of Object.keys(REPORT_TITLES)) if (header.tabs && header.tabs[name]) tabs.push(name);
  if (header.findings) tabs.push("trust");
  if (header.facts) tabs.push("facts");
  return tabs;
}

function drawTabs(page, title, count) {
  const {state, model} = page, titles = {...REPORT_TITLES, trust: "Trust", facts: "Recording"};
  const tab = name => `<button role="tab" id="tab-${name}" data-tab="${name}" aria-selected="${name === state.tab}" tabindex="${name === state.tab ? 0 : -1}">` +
    `${titles[name] || dimensionOf(page, name).title}${name === state.tab && count !== null ? `<small>${count}</small>` : ""}</button>`;
  setHtml($("tabs"), tabsOf(model).map(tab).join(""));
  $("pools").hidden = state.tab !== "threads";
  $("markdown").hidden = !(state.tab in DIMENSIONS);
}

function drawTab(page) {
  const {state, model} = page, isTable = state.tab in DIMENSIONS;
  $("table").hidden = !isTable;
  $("document").hidden = isTable;
  if (isTable) {
    drawTable(page);
    return;
  }
  drawTabs(page, "", null);
  const {header} = model;
  const html = state.tab === "trust" ? findingsHtml(header) : state.tab === "facts" ? factsHtml(model) : header.tabs[state.tab];
  setHtml($("document"), html);
  for (const heading of $("document").querySelectorAll("th")) heading.tabIndex = 0;
  const hint = state.tab === "difference" ? ", as heaprec diff prints it" : state.tab in REPORT_TITLES ? `, whatever is selected; click a ${state.tab === "paths" ? "row to open it" : "heading to sort"}` : "";
  setHtml($("tablenote"), state.tab === "trust" ? "<span>what heaprec doctor says</span>" : `<span>of the whole recording${hint}</span>`);
}

function findingsHtml({findings, losses}) {
  return '<dl class="findings">' + findings.map(f => `<dt class="${escapeText(f.level)}"><b>${escapeText(f.level)}</b> ${escapeText(f.id)}</dt>` +
    `<dd>${escapeText(f.what)}${f.means ? `<p>Means: ${escapeText(f.means)}</p>` : ""}${f.do ? `<p>Do: ${escapeText(f.do)}</p>` : ""}</dd>`).join("") + "</dl>";
}

function factsHtml({recordings}) {
  const table = ({header}) => `<h3><bdi>${escapeText(header.file)}</bdi></h3><dl class="facts">` +
    header.facts.map(([name, value]) => `<div><dt>${escapeText(name)}</dt><dd><bdi>${escapeText(value)}</bdi></dd></div>`).join("") + "</dl>";
  return recordings.map(table).join("");
}

// Sorts a report's table by the clicked column: numbers descending, names ascending; a second click reverses the order.
function sortTable(heading) {
  const table = heading.closest("table"), column = heading.cellIndex, [head, ...rows] = table.rows;
  const flip = heading.getAttribute("aria-sort") === "descending" ? -1 : 1, isNumber = heading.classList.contains("number");
  const keyOf = row => isNumber ? Number(row.cells[column].dataset.value ?? -Infinity) : row.cells[column].textContent;
  const order = (x, y) => isNumber ? y - x : x < y ? -1 : x > y ? 1 : 0;
  rows.map(row => [keyOf(row), row]).sort(([x], [y]) => flip * order(x, y)).forEach(([, row]) => table.tBodies[0].append(row));
  for (const cell of head.cells) cell.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", flip > 0 ? "descending" : "ascending");
}

// Arrows in a report's tree: right opens a row, left closes it or goes to the row that contains it, up and down go to
// the next row that can be opened.
function walkTree(event) {
  const row = event.target.closest("#document summary"), {key} = event;
  if (!row || !key.startsWith("Arrow")) return;
  const place = row.parentElement, isShown = one => !one.parentElement.parentElement.closest("details:not([open])");
  if (key === "ArrowRight") place.open = true;
  else if (key === "ArrowLeft" && place.open) place.open = false;
  else if (key === "ArrowLeft") place.parentElement.closest("details")?.firstElementChild.focus();
  else {
    const rows = [...row.closest(".tree").querySelectorAll("summary")].filter(isShown);
    rows[rows.indexOf(row) + (key === "ArrowDown" ? 1 : -1)]?.focus();
  }
  event.preventDefault();
}
