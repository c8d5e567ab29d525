// The state of the page, and the URL fragment that holds it: a link reproduces a view. Names and paths are written as
// text and hashes, so that a fragment also fits a page made anew. Unknown and bad values are ignored.

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

// Without a fragment the page opens as the command that made it says: `given`.
function stateOfUrl(url, given, begin, end, tabs) {
  const at = url.indexOf("#");
  return at < 0 ? {...NO_STATE, ...given, focusHash: ""} : stateOfFragment(url.slice(at + 1), begin, end, tabs);
}

// `begin`, `end`: of the recording; `tabs`: those of the page. `focus` is left as a hash in `focusHash`.
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
