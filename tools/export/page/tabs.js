// The tabs of the table panel: the three dimensions of the samples, and what else the recording has, each shown only if
// it is there. Reports of other commands come as HTML (tools/report/page/page_tabs.h).

const REPORT_TITLES = {difference: "Difference", timeline: "Curves", live: "Live", leaks: "Leaks", census: "Census", native: "Native", exceptions: "Exceptions"};

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
  const hint = state.tab === "difference" ? ", as heaprec diff prints it" : state.tab in REPORT_TITLES ? ", whatever is selected; click a heading to sort" : "";
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

// Rows of a table of a report by the column that was clicked: numbers descending, names ascending; again: the other way.
function sortTable(heading) {
  const table = heading.closest("table"), column = heading.cellIndex, [head, ...rows] = table.rows;
  const flip = heading.getAttribute("aria-sort") === "descending" ? -1 : 1, isNumber = heading.classList.contains("number");
  const keyOf = row => isNumber ? Number(row.cells[column].dataset.value ?? -Infinity) : row.cells[column].textContent;
  const order = (x, y) => isNumber ? y - x : x < y ? -1 : x > y ? 1 : 0;
  rows.map(row => [keyOf(row), row]).sort(([x], [y]) => flip * order(x, y)).forEach(([, row]) => table.tBodies[0].append(row));
  for (const cell of head.cells) cell.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", flip > 0 ? "descending" : "ascending");
}
