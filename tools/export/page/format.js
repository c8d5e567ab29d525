// Formats numbers, times and names. 1 KiB is 1,024 bytes; units follow a no-break space.

const NBSP = "\u00a0", MINUS = "\u2212";
const three = x => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);

function bytesText(x) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], sign = x < 0 ? MINUS : "";
  let unit = 0;
  for (x = Math.abs(x); x >= 999.5 && unit < 5; ++unit) x /= 1024;
  return Number.isFinite(x) ? sign + (unit ? three(x) : x.toFixed(0)) + NBSP + units[unit] : "unlimited";
}
// What samples represent: bytes, or events for a stream of events.
let amountText = bytesText;
function useUnits(countsEvents) { amountText = countsEvents ? countText : bytesText; }
const signedAmount = x => (x < 0 ? "" : "+") + amountText(x);
const amountRange = ([, low, high]) => `${amountText(low)} to ${amountText(high)}`;
function percentText(x) {
  if (x >= 0.9995) return "100" + NBSP + "%";
  if (x >= 0.1) return (x * 100).toFixed(1) + NBSP + "%";
  return x >= 0.001 || !x ? (x * 100).toFixed(x ? 2 : 0) + NBSP + "%" : "<0.1" + NBSP + "%";
}
const signedPercent = x => (x < 0 ? MINUS : "+") + percentText(Math.abs(x));
const countFormat = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});
const countText = x => countFormat.format(x);
const samplesText = x => `${countText(x)} sample${x === 1 ? "" : "s"}`;
const observedText = (x, by) => by === FROM.rows ? `${countText(x)} counted point${x === 1 ? "" : "s"}` : samplesText(x);
const percentRange = ([, low, high]) => `${percentText(low)} to ${percentText(high)}`;
function ratioText(ratio) {
  if (ratio === Infinity) return "new";
  if (ratio < 0.005) return "gone";
  return "×" + (ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2));
}
function secondsText(x) {
  if (x < 1) return (x * 1000).toPrecision(3) + NBSP + "ms";
  return x < 120 ? x.toPrecision(3) + NBSP + "s" : x < 7200 ? (x / 60).toPrecision(3) + NBSP + "min" : (x / 3600).toPrecision(3) + NBSP + "h";
}

// Returns text that is safe in HTML, truncated: names may have 64 kB and may contain markup.
const MOST_TEXT = 600;
const escapeText = text => String(text).slice(0, MOST_TEXT).replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");
const quoted = word => /^[\w./:=@%+,-]+$/.test(word) ? word : "'" + String(word).replace(/'/g, "'\\''") + "'";

// A time since the recording's start, or of the clock. `begin`: ms since 1970.
function clockText(seconds, zone, begin, digits = 0) {
  if (zone === "offset") {
    const minutes = Math.floor(seconds / 60), rest = (seconds - minutes * 60).toFixed(digits);
    return minutes ? minutes + ":" + rest.padStart(digits ? digits + 3 : 2, "0") : rest + NBSP + "s";
  }
  const date = new Date(begin + Math.round(seconds * 1000)), two = x => String(x).padStart(2, "0");
  const parts = zone === "utc" ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds()];
  return parts.map(two).join(":") + (digits ? "." + String(date.getMilliseconds()).padStart(3, "0").slice(0, digits) : "");
}

const STEPS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400];
// Times of the marks on an axis from..to; `shift`: makes marks of a clock round (seconds).
function timeTicks(from, to, width, shift = 0, least = 84) {
  const fit = (to - from) / Math.max(1, width / least), step = STEPS.find(s => s >= fit) || 604800, ticks = [];
  for (let t = Math.ceil((from + shift) / step) * step - shift; t <= to + 1e-9; t += step) ticks.push(+t.toFixed(3));
  return ticks;
}
function byteTicks(high, most) {
  let step = 1;
  while (high / step > most) step *= 2;
  if (step > 1024 && high / (step * 0.75) <= most) step *= 0.75;
  const ticks = [];
  for (let x = 0; x <= high; x += step) ticks.push(x);
  return ticks;
}

// "org.h2.Page$Leaf.copy" -> ["org.h2", "Page$Leaf.copy"]
const PACKAGE = /^((?:[a-z_][\w]*\.)+)(?=[^.]*[A-Z$[(<]|[a-z]+\[)/;
function splitName(name) {
  const match = name.length < 4096 ? PACKAGE.exec(name) : null;
  return match ? [match[1].slice(0, -1), name.slice(match[1].length)] : ["", name];
}
// The class of a method is the last name but one, in any spelling: "org.apache.jsp.index_jsp._jspService" ->
// ["org.apache.jsp", "index_jsp._jspService"]
function splitMethod(name) {
  if (name.length >= 4096 || SHARED_LIBRARY.test(name)) return splitName(name);
  const end = name.lastIndexOf(".", name.lastIndexOf(".") - 1);
  return end > 0 ? [name.slice(0, end), name.slice(end + 1)] : ["", name];
}
// Lambdas and hidden classes without addresses.
const shortName = (name, split = splitName) => split(name)[1].replace(/(\$\$Lambda)(?:\$\d+)?(?:\/0x[0-9a-f]+)?|\/0x[0-9a-f]+/g, "$1");
