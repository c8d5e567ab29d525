// The canvas: boxes of one tree between two limits, at a place of the scroll.

const kRow = 19, kGap = 1, kLeast = 0.35, kPadding = 5;
const kFont = '12px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
const kEllipsis = "…";
// As FrameKind of flame_graph.h.
const kKinds = ["all", "JDK", "application", "native", "truncated", "folded", "allocated class"];
const kKindTitles = ["", "Packages of the JDK; the shade is the package's", "All other packages; the shade is the package's",
                     "Native methods", "Frames that were not recorded", "Narrower boxes, in one", "What was allocated"];
const [kAll, kJdk, kApplication, kNative, kTruncated, kFolded, kClass] = kKinds.keys();
// As Verdict of difference.h.
const kVerdicts = ["same", "more", "less", "new", "gone"];
const kVerdictTexts = ["not shown to differ", "more", "less", "new: no sample before", "gone: no sample after"];

// `hue`: 0 to 1, of the package.
function kindColour(kind, hue, dark) {
  const hsl = (h, s, l) => `hsl(${h.toFixed(1)} ${s}% ${l}%)`;
  switch (kind) {
    case kJdk: return dark ? hsl(165 + 45 * hue, 38, 30 + 7 * hue) : hsl(165 + 45 * hue, 48, 70 + 9 * hue);
    case kApplication: return dark ? hsl(8 + 40 * hue, 62, 36 + 6 * hue) : hsl(12 + 36 * hue, 92, 70 + 7 * hue);
    case kNative: return dark ? hsl(262, 26, 42) : hsl(262, 46, 80);
    case kClass: return dark ? hsl(218, 45, 42) : hsl(214, 78, 80);
    case kAll: return dark ? hsl(40, 5, 30) : hsl(40, 12, 86);
    default: return dark ? hsl(40, 3, 23) : hsl(40, 9, 91);
  }
}

// How code ran, and the colours between which frames stand that ran in several ways.
const kCodes = ["interpreted", "compiled", "inlined"];
const kCodeTitles = ["Ran in the interpreter", "Ran as compiled code, by itself", "Ran within the compiled code of its caller"];
const kCodeColours = { light: [[238, 130, 104], [120, 196, 128], [112, 178, 232]], dark: [[164, 70, 48], [52, 122, 66], [48, 100, 156]] };

// `shares`: in %, as kCodes.
function codeColour(shares, dark) {
  const all = shares.reduce((sum, share) => sum + share, 0);
  const colours = kCodeColours[dark ? "dark" : "light"];
  const mixed = [0, 1, 2].map((part) => Math.round(colours.reduce((sum, colour, i) => sum + colour[part] * shares[i] / all, 0)));
  return `rgb(${mixed.join(" ")})`;
}

// `verdict`: index into kVerdicts; `strength`: 0 to 1.
function changeColour(verdict, strength, dark) {
  const hue = kVerdicts[verdict] === "more" || kVerdicts[verdict] === "new" ? 6 : 216;
  if (kVerdicts[verdict] === "same") return dark ? "hsl(40 4% 31%)" : "hsl(40 10% 88%)";
  return dark ? `hsl(${hue} ${45 + 30 * strength}% ${34 + 14 * strength}%)`
              : `hsl(${hue} ${70 + 15 * strength}% ${84 - 22 * strength}%)`;
}

// A doubling is half of what can be seen, a tenfold change nearly all of it.
function strengthOf(ratio) {
  const doublings = Math.abs(Math.log2(Math.max(ratio, 1e-9)));
  return 1 - Math.exp(-0.7 * doublings);
}

class Drawing {
  constructor(canvas, graph) {
    this.canvas = canvas;
    this.graph = graph;
    this.context = canvas.getContext("2d");
    this.widths = new Map();
    this.colours = new Map();
  }

  setTheme(dark) {
    if (this.dark !== dark) this.colours.clear();
    this.dark = dark;
    this.ink = dark ? "#f2f0ec" : "#26221c";
    this.match = dark ? "#a64be8" : "#8a2bd0";
  }

  fillOf(tree, i) {
    const name = tree.data.name[i];
    const changed = tree.data.verdict !== undefined;
    if (this.byCode && !changed) return tree.code(i) ? codeColour(tree.code(i), this.dark) : kindColour(kFolded, 0, this.dark);
    const key = changed ? `${tree.data.verdict[i]} ${tree.data.ratio.v[i]}` : name;
    let colour = this.colours.get(key);
    if (colour === undefined) {
      colour = changed ? changeColour(tree.data.verdict[i], strengthOf(tree.data.ratio.v[i]), this.dark)
                       : kindColour(tree.kind(i), tree.names.hue[name] / 255, this.dark);
      this.colours.set(key, colour);
    }
    return colour;
  }

  // `view`: {tree, layout, from, to, zoomed, flame, matches, hovered, focused, scroll, rows}. from, to: what is drawn of
  // the layout. Returns nothing; boxAt asks the same view.
  draw(view, width, height, ratio) {
    const { context, canvas } = this;
    canvas.width = Math.round(width * ratio), canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = kFont, context.textBaseline = "middle";
    const above = new Set(view.tree.path(view.zoomed).slice(0, -1));
    this.forEachBox(view, width, (i, x, wide) => {
      const y = this.top(view, i);
      if (y > height || y + kRow < 0) return;
      this.box(view, i, x, y, wide, above.has(i));
    });
    if (view.hovered >= 0) this.outline(view, view.hovered, width, 1);
  }

  top(view, i) {
    const row = view.tree.data.depth[i];
    return (view.flame ? view.rows - 1 - row : row) * kRow - view.scroll;
  }

  // In preorder, but for what is outside or too narrow to be seen. `visit`: (box, x, width in pixels).
  forEachBox({ tree, layout, from, to }, width, visit) {
    const scale = width / (to - from);
    for (let i = 0; i < tree.size;) {
      const left = (layout.start[i] - from) * scale, wide = layout.width[i] * scale;
      if (wide < kLeast || left >= width || left + wide <= 0) {
        i = tree.end[i];
        continue;
      }
      const x = Math.max(left, 0);
      visit(i, x, Math.min(left + wide, width) - x);
      ++i;
    }
  }

  place(view, i, width) {
    const scale = width / (view.to - view.from);
    const left = Math.max((view.layout.start[i] - view.from) * scale, 0);
    const right = Math.min((view.layout.start[i] + view.layout.width[i] - view.from) * scale, width);
    return { x: left, y: this.top(view, i), width: right - left, height: kRow };
  }

  box(view, i, x, y, wide, above) {
    const { context } = this;
    const found = view.matches?.has(i);
    const faded = (view.matches && !found) || (above && !found);
    context.globalAlpha = faded ? 0.42 : 1;
    context.fillStyle = found ? this.match : this.fillOf(view.tree, i);
    context.fillRect(x, y, Math.max(wide - (wide > 3 ? kGap : 0), kLeast), kRow - kGap);
    if (view.tree.more(i) > 0 && wide > 6) this.hatch(x, y, wide - kGap);
    context.globalAlpha = faded ? 0.75 : 1;
    if (wide > 24) this.write(view.tree, i, x, y, wide, found ? "#ffffff" : this.ink);
    context.globalAlpha = 1;
  }

  hatch(x, y, wide) {
    const { context } = this;
    context.save();
    context.beginPath(), context.rect(x, y, wide, kRow - kGap), context.clip();
    context.strokeStyle = this.dark ? "#ffffff24" : "#00000018";
    context.beginPath();
    for (let at = x - kRow; at < x + wide; at += 6) context.moveTo(at, y + kRow), context.lineTo(at + kRow, y);
    context.stroke();
    context.restore();
  }

  outline(view, i, width, line) {
    const { x, y, width: wide } = this.place(view, i, width);
    if (!(wide > 0)) return;
    const { context } = this;
    context.strokeStyle = this.dark ? "#ffffff" : "#000000";
    context.lineWidth = line;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(wide - 2, 1), kRow - 2);
  }

  write(tree, i, x, y, wide, ink) {
    const text = this.fit(tree.label(i), tree.kind(i), wide - 2 * kPadding);
    if (text === "") return;
    this.context.fillStyle = ink;
    this.context.fillText(text, x + kPadding, y + (kRow - kGap) / 2 + 0.5);
  }

  widthOf(text) {
    let width = this.widths.get(text);
    if (width === undefined) this.widths.set(text, width = this.context.measureText(text).width);
    return width;
  }

  // The name, or Class.method, or the method, or the beginning of that: what there is room for.
  fit(text, kind, room) {
    if (this.widthOf(text) <= room) return text;
    if (kind === kJdk || kind === kApplication || kind === kNative || kind === kClass) {
      const [line] = /:\d+$/.exec(text) ?? [""];
      const parts = text.slice(0, text.length - line.length).split(".");
      for (const last of kind === kClass ? [1] : [2, 1]) {
        text = parts.slice(-last).join(".") + line;
        if (this.widthOf(text) <= room) return text;
      }
    }
    const most = Math.floor(text.length * (room - this.widthOf(kEllipsis)) / this.widthOf(text));
    return most >= 2 ? text.slice(0, most) + kEllipsis : "";
  }

  // The box at a point of the canvas, or -1.
  boxAt(view, x, y, width) {
    let found = -1;
    this.forEachBox(view, width, (i, left, wide) => {
      const top = this.top(view, i);
      if (y >= top && y < top + kRow && x >= left && x < left + Math.max(wide, 1)) found = i;
    });
    return found;
  }
}
