// The state of the page, and the URL fragment with it: a link reproduces a view. Names and paths are written as text
// and hashes, so that a fragment also fits a page that was generated again. Unknown and invalid values are ignored.

const NO_STATE = {a: null, b: null, cls: null, site: null, thread: null, focus: 0, q: "", tab: "sites", mine: false,
  reverse: false, icicle: true, fold: false, live: false, age: 0, pools: true, zoom: null, zone: "offset", theme: "", all: false, sort: "bytes",
  view: "", measure: "bytes", colours: "package"};
const RANGES = ["a", "b", "zoom"], NAMES = ["cls", "site", "thread"], SWITCHES = ["mine", "reverse", "fold", "live"];
const WORDS = {tab: null, zone: ["offset", "local", "utc"], theme: ["", "dark", "light"], sort: ["bytes", "name", "samples"],
  view: ["", "flame", "timeline", "compare"], measure: ["bytes", "objects", "samples", "before", "after"], colours: ["package", "code"]};
const LONGEST = 4096;

const rangeText = range => range.map(t => String(+t.toFixed(6))).join("-");
function parseRange(text, begin, end) {
  const range = (text || "").split("-").map(Number);
  if (range.length !== 2 || !range.every(Number.isFinite) || !(range[1] > range[0])) return null;
  return [Math.max(begin, range[0]), Math.min(end, range[1])];
}

function stateToFragment(state, hashOfFocus) {
  const fragment = new URLSearchParams();
  for (const key of RANGES) if (state[key]) fragment.set(key, rangeText(state[key]));
  for (const key of NAMES) if (state[key] !== null) fragment.set(key, state[key].slice(0, LONGEST));
  for (const key of SWITCHES) if (state[key]) fragment.set(key, "1");
  for (const key of [...Object.keys(WORDS), "q"]) if (state[key] !== NO_STATE[key]) fragment.set(key, state[key]);
  if (state.live && state.age > 0) fragment.set("age", state.age);
  if (!state.pools) fragment.set("pools", "0");
  if (!state.icicle) fragment.set("icicle", "0");
  if (state.focus > 0) fragment.set("focus", hashOfFocus(state.focus));
  return fragment.toString();
}

// Without a fragment the page opens with the state from the command that generated it: `given`.
function stateOfUrl(url, given, begin, end, tabs) {
  const at = url.indexOf("#");
  return at < 0 ? {...NO_STATE, ...given, focusHash: ""} : stateOfFragment(url.slice(at + 1), begin, end, tabs);
}

// `begin`, `end`: of the recording; `tabs`: of the page. The hash of `focus` is stored in `focusHash`.
function stateOfFragment(text, begin, end, tabs) {
  const fragment = new URLSearchParams(text), state = {...NO_STATE};
  for (const key of RANGES) state[key] = parseRange(fragment.get(key), begin, end);
  for (const key of NAMES) if (fragment.has(key)) state[key] = fragment.get(key).slice(0, LONGEST);
  for (const key of SWITCHES) state[key] = fragment.get(key) === "1";
  for (const key of Object.keys(WORDS)) {
    const value = fragment.get(key), allowed = WORDS[key] || tabs;
    if (value !== null && allowed.includes(value)) state[key] = value;
  }
  state.q = (fragment.get("q") || "").slice(0, 200);
  state.age = Math.max(0, Number(fragment.get("age")) || 0);
  state.pools = fragment.get("pools") !== "0";
  state.icicle = fragment.get("icicle") !== "0";
  state.focusHash = fragment.get("focus") || "";
  return state;
}

// The shell command of heaprec that prints the shown table.

const BY = {sites: "site", classes: "class", threads: "thread"};
const plainRegex = text => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
const timeOption = t => t.toFixed(6).replace(/\.?0+$/, "") + "s";

// The options for the active filters, except that of the tab itself.
function filterOptions({state, model, tree}) {
  const options = [...model.header.given];
  if (state.cls !== null && state.tab !== "classes") options.push("--class", `/^${plainRegex(state.cls)}$/`);
  if (state.site !== null && state.tab !== "sites") options.push("--site", `/^${plainRegex(state.site)}$/`);
  if (state.thread !== null && state.tab !== "threads") options.push("--thread", `^${plainRegex(state.thread).replace(/\\\*$/, ".*")}$`);
  if (state.focus > 0) {
    const box = tree.key[state.focus], name = tree.full[box];
    if (box < tree.methods) options.push("--focus", `^${plainRegex(name)}$`);
    else if (box < tree.methods + tree.classes && state.cls === null) options.push("--class", `/^${plainRegex(name)}$/`);
  }
  return options;
}

const REPORT_COMMANDS = {timeline: ["timeline"], live: ["live"], leaks: ["leaks", "--all"], paths: ["paths"], census: ["census"], native: ["native"],
  exceptions: ["top", "--kind", "exception"], trust: ["doctor"], facts: ["summary", "--verbose"]};

function commandOf(page) {
  const {state, model, sideA, sideB} = page, [first, second] = model.recordings.map(s => s.header.files);
  if (state.tab in REPORT_COMMANDS) return ["heaprec", ...REPORT_COMMANDS[state.tab], ...first].map(quoted).join(" ");
  const words = ["heaprec"], range = side => `${timeOption(side.range[0])}..${timeOption(side.range[1])}`;
  if (sideB && !second) words.push("diff", "--window", range(sideA), range(sideB));
  else if (sideB) words.push("diff");
  else if (state.live) words.push("live", ...(model.header.live_given || []), ...(state.age ? ["--min-age", timeOption(state.age)] : []));
  else words.push("top", ...(state.a ? ["--from", timeOption(sideA.range[0]), "--to", timeOption(sideA.range[1])] : []));
  if (state.tab in BY) words.push("--by", BY[state.tab]);
  const others = !sideB || !second ? [] : first.length > 1 || second.length > 1 ? ["--", ...second] : second;
  return [...words, ...filterOptions(page), ...first, ...others].map(quoted).join(" ");
}

// Exports from the page: the clipboard, Markdown, PNG and SVG.

const MARKDOWN_ROWS = 20;
let toasting = 0;
function toast(text) {
  const element = $("toast");
  element.textContent = text;
  element.classList.add("on");
  clearTimeout(toasting);
  toasting = setTimeout(() => element.classList.remove("on"), 2200);
}

// In some browsers, pages from files cannot use the clipboard; copying selected text still works.
function copyText(text) {
  const done = () => toast("Copied: " + (text.length > 160 ? text.slice(0, 150) + "…" : text));
  const plainly = () => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  window.heaprec.copied = text;
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, plainly);
  else plainly();
}

const codeCell = text => "`" + text.replace(/[`|\n]/g, " ").slice(0, MOST_TEXT) + "`";
function markdownOf({state, sideB, rows, unit}) {
  const label = DIMENSIONS[state.tab].label, shown = rows.all.slice(0, MARKDOWN_ROWS);
  const head = sideB ? [label, `A ${unit.suffix}`, `B ${unit.suffix}`, `change ${unit.suffix}`, "95 %", "q"].map(text => text.trim()) : [label, state.live ? "live" : "bytes", "95 %", "share of selection", "95 %"];
  const body = shown.map(row => sideB
    ? [codeCell(row.name), unit.text(row.before[0]), unit.text(row.after[0]), unit.signed(row.change[0]), `${unit.signed(row.change[1])} to ${unit.signed(row.change[2])}`, row.q.toFixed(3)]
    : [codeCell(row.name), amountText(row.bytes[0]), amountRange(row.bytes), percentText(row.share[0]), percentRange(row.share)]);
  return [head, head.map((_, i) => i ? "---:" : "---"), ...body].map(cells => "| " + cells.join(" | ") + " |").join("\n") + "\n";
}

function saveAs(name, url) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}
const stemOf = ({model}) => model.header.file.replace(/\.\w+$/, "") + "-flame";
function savePng(page) { saveAs(stemOf(page) + ".png", $("flame").toDataURL("image/png")); }
function saveSvg(page) {
  const svg = page.flame.svg(`${titleOf(page)}: ${$("total").textContent}`), url = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
  window.heaprec.saved = svg;
  saveAs(stemOf(page) + ".svg", url);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
const titleOf = ({model}) => model.header.file;
