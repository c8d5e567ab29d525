// The graph as the page's data has it: a tree in columns, its boxes in preorder, so that a subtree is [i, end[i]).

class Tree {
  // `data`: {depth, name, more: {box: folded boxes}, COLUMN: {v, l, h}}; l and h: how far the interval goes below and
  // above v.
  constructor(data, names) {
    this.data = data;
    this.names = names;
    this.size = data.depth.length;
    this.parent = new Int32Array(this.size).fill(-1);
    this.end = new Int32Array(this.size);
    this.height = 0;
    const open = [];
    for (let i = 0; i < this.size; ++i) {
      const depth = data.depth[i];
      while (open.length > depth) this.end[open.pop()] = i;
      if (depth > 0) this.parent[i] = open[depth - 1];
      open.push(i);
      this.height = Math.max(this.height, depth + 1);
    }
    for (const i of open) this.end[i] = this.size;
  }

  text(i) { return this.names.text[this.data.name[i]]; }
  kind(i) { return this.names.kind[this.data.name[i]]; }
  // [interpreted, compiled, inlined] in %; undefined if it is not known.
  code(i) {
    const shares = this.data.code?.map((of) => of[i]);
    return shares?.some((share) => share > 0) ? shares : undefined;
  }
  more(i) { return this.data.more[i] ?? 0; }
  value(column, i) { return this.data[column].v[i]; }
  // undefined if the column has no intervals, or the value is unknown.
  interval(column, i) {
    const { v, l, h } = this.data[column];
    return v[i] !== null && l && [v[i] - l[i], h[i] === null ? Infinity : v[i] + h[i]];
  }

  // The name of a box that stands for folded ones says how many.
  label(i) {
    const more = this.more(i);
    return more > 0 ? `… ${count(more)} more` : this.text(i);
  }

  children(i) {
    const of = [];
    for (let child = i + 1; child < this.end[i]; child = this.end[child]) of.push(child);
    return of;
  }

  path(i) {
    const boxes = [];
    for (; i >= 0; i = this.parent[i]) boxes.unshift(i);
    return boxes;
  }

  // Where each box begins and how wide it is, in units of the measure.
  layout(measure) {
    const columns = (measure.sum ?? [measure.id]).map((id) => this.data[id].v);
    const width = Float64Array.from({ length: this.size }, (_, i) => columns.reduce((sum, v) => sum + v[i], 0));
    const start = new Float64Array(this.size), used = new Float64Array(this.size);
    for (let i = 1; i < this.size; ++i) {
      const parent = this.parent[i];
      start[i] = start[parent] + used[parent];
      used[parent] += width[i];
    }
    return { width, start, self: width.map((all, i) => Math.max(0, all - used[i])) };
  }

  // Boxes whose name passes the test, and what they hold, each byte once: a match within a match adds nothing.
  search(test, layout) {
    const verdicts = this.names.text.map((text) => test(text));
    const boxes = new Set();
    let sum = 0, outside = 0;  // the end of the outermost match
    for (let i = 0; i < this.size; ++i) {
      if (this.more(i) > 0 || !verdicts[this.data.name[i]]) continue;
      boxes.add(i);
      if (i < outside) continue;
      sum += layout.width[i];
      outside = this.end[i];
    }
    return { boxes, sum };
  }

  // The box of `other`'s path in this tree, or its nearest ancestor that is here.
  find(other, i) {
    let at = 0;
    for (const step of other.path(i).slice(1)) {
      const next = this.children(at).find((child) => !this.more(child) && this.text(child) === other.text(step));
      if (next === undefined) break;
      at = next;
    }
    return at;
  }
}

// Plain text is found in any case; between slashes is a regular expression. Throws what the expression does wrong.
function matcher(query) {
  const regex = /^\/(.+?)\/?$/.exec(query);
  if (regex) {
    const expression = new RegExp(regex[1], "i");
    return (text) => expression.test(text);
  }
  const plain = query.toLowerCase();
  return (text) => text.toLowerCase().includes(plain);
}

function count(number) { return Math.round(number).toLocaleString("en-US"); }

function digits(number) {
  const size = Math.abs(number);
  return number.toFixed(size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.995 ? 2 : 3);
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; Math.abs(number) >= 1023.5 && unit < units.length - 1; ++unit) number /= 1024;
  return `${unit === 0 ? digits(number) : number.toFixed(1)} ${units[unit]}`;
}

// Three digits of an end of an interval, outwards.
function rounded(number, round) {
  const unit = Math.max(1, 10 ** (Math.floor(Math.log10(Math.max(Math.abs(number), 1))) - 2));
  return round(number / unit) * unit;
}

// As `unit` of a column says; `suffix`: "/s", "/op". `round`: of an end of an interval.
function inUnit(number, { unit, suffix = "", signed = false }, round = undefined) {
  if (number === null) return "unknown";
  if (number === Infinity) return "∞";
  const sign = signed && number > 0 ? "+" : "";
  switch (unit) {
    case "bytes": return sign + bytes(number) + suffix;
    case "share": return `${sign}${digits(100 * number)} %`;
    case "ratio": return `× ${digits(number)}`;
    case "probability": return number < 1e-12 ? "< 1e-12" : number < 1e-4 ? number.toExponential(1) : number.toFixed(4);
    default: return sign + (suffix ? digits(number) + suffix : count(round ? rounded(number, round) : number));
  }
}
