// Shared by the views: elements, colours of the theme, canvases, and small pictures in table cells.

// of the tracks, in pixels: width of the labels, and margin at the end
const AXIS = 56, RIGHT = 10;
const COARSE = matchMedia("(pointer: coarse)");
const $ = id => document.getElementById(id);
const ink = {};
const INKS = ["bg", "panel", "sunk", "line", "hair", "ink", "ink2", "ink3", "a", "b", "a-wash", "b-wash", "bad", "warn", "area",
  "area-line", "share", "heap", "mine", "p0", "p1", "p2", "p3", "p4", "p-1", "jdk", "class", "box-ink", "match", "heat0",
  "heat1", "heat2", "heat3"];
function readInk() {
  const style = getComputedStyle(document.documentElement);
  for (const name of INKS) ink[name] = style.getPropertyValue("--" + name).trim();
  ink.font = getComputedStyle(document.body).fontFamily;
  ink.dark = document.documentElement.dataset.theme === "dark";
}

// Returns a cleared canvas of this size, in pixels of the page.
function canvasOf(canvas, width, height, size = 11) {
  const ratio = devicePixelRatio || 1, w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = size + "px " + ink.font;
  return g;
}

// A dot with a whisker on a scale from..to, and a bar from 0 to the dot.
function whisker([value, low, high], from, to, width) {
  const x = v => (3 + (clamp(v, from, to) - from) / ((to - from) || 1) * (width - 6)).toFixed(1);
  const left = Math.min(x(0), x(value)), length = Math.abs(x(value) - x(0)).toFixed(1);
  const zero = from < 0 ? `<path class="zero" d="M${x(0)} 0V16"/>` : "";
  return `<svg width="${width}" height="16" aria-hidden="true"><rect class="rail" x="${left}" y="5" width="${length}" height="6"/>${zero}` +
    `<path class="whisker" d="M${x(low)} 8H${x(high)}M${x(low)} 5V11M${x(high)} 5V11"/><circle class="dot" cx="${x(value)}" cy="8" r="2.5"/></svg>`;
}
function scaleOf(from, to, width, format) {
  return `<svg width="${width}" height="16" aria-hidden="true"><text x="3" y="12">${format(from)}</text>` +
    `<text x="${width - 3}" y="12" text-anchor="end">${format(to)}</text></svg>`;
}
function sparkline(values, width) {
  const high = Math.max(...values) || 1, step = width / values.length;
  const line = Array.from(values, (v, i) => `L${(i * step).toFixed(1)} ${(16 - v / high * 14).toFixed(1)}H${((i + 1) * step).toFixed(1)}`);
  return `<svg width="${width}" height="16" aria-hidden="true"><path class="spark" d="M0 16${line.join("")}V16Z"/></svg>`;
}
const swatch = colour => `<svg width="9" height="9" aria-hidden="true"><rect width="9" height="9" rx="2" fill="${colour}"/></svg>`;

// Writes HTML only if it differs from the last one, so that unchanged parts keep their focus.
const written = new WeakMap();
function setHtml(element, html) {
  if (written.get(element) === html) return;
  written.set(element, html);
  element.innerHTML = html;
}
