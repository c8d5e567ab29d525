// The tabs of the table panel: the three dimensions of the samples, and what else the recording has, each shown only if
// it is there. Tables of other streams come as the JSON documents of the commands and are shown as they are.

const DOCUMENT_TITLES = {live: "Live", leaks: "Leaks", census: "Census", native: "Native", exceptions: "Exceptions"};
const MOST_DOCUMENT_ROWS = 200;

function tabsOf(model) {
  const tabs = ["sites", "classes", "threads"], {header} = model;
  for (const name of Object.keys(DOCUMENT_TITLES)) if (header.documents && header.documents[name]) tabs.push(name);
  if (header.findings) tabs.push("trust");
  if (header.facts) tabs.push("facts");
  return tabs;
}

function drawTabs(page, title, count) {
  const {state, model} = page, titles = {...DOCUMENT_TITLES, trust: "Trust", facts: "Recording"};
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
  const html = state.tab === "trust" ? findingsHtml(header) : state.tab === "facts" ? factsHtml(model) : documentHtml(header.documents[state.tab]);
  setHtml($("document"), html);
  setHtml($("tablenote"), state.tab === "trust" ? "<span>what heaprec doctor says</span>" : "<span>of the whole recording</span>");
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

// ---- Documents

const isEstimate = value => value !== null && typeof value === "object" && "value" in value && "low" in value;
const unitOf = name => /bytes|size|weight|used|committed|reserved/.test(name) ? "bytes" : /share|fraction|probability/.test(name) ? "share"
  : /seconds|_s$/.test(name) ? "seconds" : "count";
function numberText(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  if (unit === "bytes") return bytesText(value);
  if (unit === "share") return percentText(value);
  if (unit === "seconds") return secondsText(value);
  return Number.isInteger(value) ? countText(value) : value.toPrecision(3);
}
function cellHtml(value, name) {
  const unit = unitOf(name);
  if (isEstimate(value)) {
    const range = value.low === null ? "" : `<small>${numberText(value.low, unit)} to ${value.high === null ? "unlimited" : numberText(value.high, unit)}</small>`;
    return `<td>${value.value === null ? "" : numberText(value.value, unit)} ${range}</td>`;
  }
  if (typeof value === "number") return `<td>${numberText(value, unit)}</td>`;
  if (typeof value === "boolean") return `<td>${value ? "yes" : "no"}</td>`;
  return `<td class="text"><bdi>${escapeText(value === null || typeof value === "object" ? "" : value)}</bdi></td>`;
}

// Curves: a list of {..., share or alive: estimate} is drawn as a line with its band.
function curveHtml(points) {
  const width = 160, height = 36, xs = points.map((p, i) => i), ys = points.map(p => isEstimate(p) ? p : Object.values(p).find(isEstimate));
  if (points.length < 2 || ys.some(y => !y || y.value === null)) return "";
  const high = Math.max(...ys.map(y => y.high === null ? y.value : y.high)) || 1;
  const x = i => (i / (xs.length - 1) * width).toFixed(1), y = v => (height - v / high * (height - 2) - 1).toFixed(1);
  const top = ys.map((e, i) => `${x(i)} ${y(e.high === null ? high : e.high)}`), bottom = ys.map((e, i) => `${x(i)} ${y(e.low || 0)}`).reverse();
  return `<svg class="curve" width="${width}" height="${height}" aria-hidden="true"><path class="band" d="M${[...top, ...bottom].join("L")}Z"/>` +
    `<path class="line" d="M${ys.map((e, i) => `${x(i)} ${y(e.value)}`).join("L")}"/></svg>`;
}

// The tables of a document: all its lists of objects that have a name.
function tablesOf(document, title = "") {
  const tables = [];
  for (const [key, value] of Object.entries(document || {})) {
    if (Array.isArray(value) && value.length > 0 && typeof value[0] === "object" && value[0] !== null) {
      if ("name" in value[0] || "class" in value[0]) tables.push({title: title || key, rows: value});
      else for (const one of value) tables.push(...tablesOf(one, one.by || key));
    }
  }
  return tables;
}

function documentHtml(document) {
  const tables = tablesOf(document);
  if (tables.length === 0) return '<p class="empty">Nothing of this kind was recorded.</p>';
  return tables.map(({title, rows}) => {
    const names = Object.keys(rows[0]).filter(name => rows.some(row => row[name] !== null && (typeof row[name] !== "object" || isEstimate(row[name]))));
    const curves = Object.keys(rows[0]).filter(name => Array.isArray(rows[0][name]) && rows[0][name].length > 1 && curveHtml(rows[0][name]));
    const ordered = [...names.filter(n => n === "name" || n === "class"), ...names.filter(n => n !== "name" && n !== "class")];
    const head = [...ordered, ...curves].map(name => `<th>${escapeText(name.replace(/_/g, " "))}</th>`).join("");
    const body = rows.slice(0, MOST_DOCUMENT_ROWS).map(row => "<tr>" + ordered.map(name => cellHtml(row[name], name)).join("") +
      curves.map(name => `<td>${curveHtml(row[name] || [])}</td>`).join("") + "</tr>").join("");
    const rest = rows.length > MOST_DOCUMENT_ROWS ? `<p class="rest">${rows.length - MOST_DOCUMENT_ROWS} more rows</p>` : "";
    return `<h3>${escapeText(title)}</h3><div class="wide-table"><table class="document"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>${rest}`;
  }).join("");
}
