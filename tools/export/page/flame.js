// Draws a flame graph or icicle on a canvas, or as SVG, and finds the box under a point.

const CODE_INKS = ["jdk", "mine", "p3", "p0", "p2"]; // by BOX
const LEAST_BOX = 0.7;                            // pixels: narrower boxes are left out

class Flame {
  constructor(canvas) {
    this.canvas = canvas;
    this.widths = new Map();
    this.boxes = [];
    this.marked = this.lit = -1;
    this.row = 19;
    this.font = 11;
  }

  // w(box): bytes, or what else is measured; cut: boxes of no more are left out; byCode: coloured by how they ran;
  // match(key) or null; shade(box): {shade -1..1, sure} of a comparison, or null; pale(box).
  set(picture) { Object.assign(this, picture); }

  layOut(width) {
    const {tree, w, root} = this, all = w(root), scale = all > 0 ? width / all : 0, base = tree.depth[root];
    const next = new Float64Array(tree.size), boxes = [];
    let deepest = 0;
    for (let i = root; i < tree.end[root];) {
      const own = w(i), wide = own * scale, x = i === root ? 0 : next[tree.parent[i]];
      if (i !== root) next[tree.parent[i]] = x + wide;
      if (wide < LEAST_BOX || own <= this.cut) {
        i = tree.end[i];
        continue;
      }
      next[i] = x;
      const depth = tree.depth[i] - base;
      boxes.push({i, x, y: depth, width: wide});
      deepest = Math.max(deepest, depth);
      ++i;
    }
    for (const box of boxes) box.y = (this.icicle ? box.y : deepest - box.y) * this.row;
    return {boxes, height: (deepest + 1) * this.row};
  }

  draw() {
    const [row, font] = COARSE.matches ? [24, 12] : innerWidth >= 1900 ? [21, 12] : [19, 11];
    if (font !== this.font) this.widths.clear();
    Object.assign(this, {row, font});
    const room = this.canvas.parentElement, width = Math.max(1, room.clientWidth - 16), {boxes, height} = this.layOut(width);
    const isSame = this.drawn === this.tree && this.drawnRoot === this.root;
    const above = this.stands && isSame ? room.scrollHeight - room.clientHeight - room.scrollTop : 0;
    this.boxes = boxes;
    const g = canvasOf(this.canvas, width, Math.max(height + 8, Math.min(room.clientHeight - 4, 120)), font);
    g.textBaseline = "middle";
    this.stand(room, above, isSame);
    if (!(this.w(this.root) > 0)) {
      g.fillStyle = ink.ink3;
      g.textAlign = "center";
      g.fillText("No samples in this selection.", width / 2, 60);
      return;
    }
    for (const box of boxes) this.drawBox(g, box);
    const marked = boxes.find(box => box.i === this.marked);
    if (!marked) return;
    g.strokeStyle = ink.ink;
    g.lineWidth = 1.5;
    g.strokeRect(marked.x + 0.75, marked.y + 0.75, Math.max(1, marked.width - 2), row - 2);
  }

  // A graph is seen from its root at first, and again when that is another one. What grows upwards keeps its place above
  // the ground.
  stand(room, above, isSame) {
    if (this.icicle && (this.stands || !isSame)) room.scrollTop = 0;
    Object.assign(this, {stands: !this.icicle, drawn: this.tree, drawnRoot: this.root});
    this.canvas.classList.toggle("up", this.stands);
    if (this.stands) room.scrollTop = room.scrollHeight - room.clientHeight - above;
  }

  fillOf(i) {
    if (this.byCode && i) return ink[CODE_INKS[this.tree.type[i]] || "class"];
    if (!this.shade) return ink[i ? this.tree.hue[this.tree.key[i]] : "sunk"];
    const {shade, sure} = this.shade(i);
    if (!sure) return ink.jdk;
    const s = Math.min(1, Math.abs(shade)), hue = shade > 0 ? 55 : 258;
    return ink.dark ? `oklch(${0.36 + 0.17 * s} ${0.02 + 0.1 * s} ${hue})` : `oklch(${0.93 - 0.16 * s} ${0.02 + 0.11 * s} ${hue})`;
  }

  // An inlined frame has no machine frame of its own: it touches its caller, with a hair line instead of a gap. The
  // foot of an interpreted frame is dotted.
  drawBox(g, {i, x, y, width}) {
    const {tree, row} = this, type = tree.type[i], key = tree.key[i], gap = width > 3 ? 1 : 0;
    const hit = this.match && i > 0 && this.match(key), inlined = type === BOX.inlined, isClass = type === BOX.allocated;
    const joined = inlined && this.icicle, top = joined ? y - 1 : y, height = joined ? row : row - 1;
    const alpha = (this.match && !hit ? 0.38 : 1) * (this.pale(i) ? 0.45 : 1);
    g.globalAlpha = alpha;
    g.fillStyle = this.fillOf(i);
    g.fillRect(x, top, width - gap, height);
    if (isClass && width > 5 && !this.shade) {
      g.strokeStyle = ink.line;
      g.lineWidth = 1;
      g.strokeRect(x + 0.5, y + 0.5, width - gap - 1, row - 2);
    }
    g.fillStyle = ink["box-ink"];
    if (inlined && width > 4) {
      g.globalAlpha = alpha * 0.13;
      g.fillRect(x + 2, top, width - gap - 4, 1);
    }
    if (type === BOX.interpreted && width > 6) {
      g.globalAlpha = alpha * 0.22;
      for (let k = x + 2; k < x + width - 3; k += 4) g.fillRect(k, y + row - 3, 2, 1);
    }
    g.globalAlpha = alpha;
    if (key === this.lit && i) this.drawFoot(g, x, y + row - 4, width - gap, 3, ink.a);
    if (hit) this.drawFoot(g, x, y + row - 3, width - gap, 2, ink.match);
    if (width > 26) this.drawText(g, i, key, x, y, width, this.match && !hit ? 0.62 : 1, isClass);
    g.globalAlpha = 1;
  }

  drawFoot(g, x, y, width, height, colour) {
    g.fillStyle = colour;
    g.fillRect(x, y, width, height);
  }

  drawText(g, i, key, x, y, width, alpha, isClass) {
    const text = this.fit(g, i ? this.tree.short[key] : "all", width - 10);
    if (!text) return;
    g.globalAlpha = alpha;
    g.fillStyle = isClass ? ink.ink2 : ink["box-ink"];
    g.textAlign = "left";
    g.fillText(text, x + 5, y + this.row / 2);
  }

  fit(g, name, room) {
    if (name.length > MOST_TEXT) name = name.slice(0, MOST_TEXT);
    let full = this.widths.get(name);
    if (full === undefined) this.widths.set(name, full = g.measureText(name).width);
    if (full <= room) return name;
    for (let n = Math.floor(name.length * (room - 8) / full); n > 2; --n) {
      const cut = name.slice(0, n) + "…";
      if (g.measureText(cut).width <= room) return cut;
    }
    return "";
  }

  hit(event) {
    const at = this.canvas.getBoundingClientRect(), x = event.clientX - at.left, y = event.clientY - at.top;
    const box = this.boxes.find(b => y >= b.y && y < b.y + this.row && x >= b.x && x < b.x + b.width);
    return box ? box.i : -1;
  }

  // The next box that matches, in the order of the tree; -1: none does.
  nextMatch(step) {
    const hits = this.match ? this.boxes.filter(b => b.i > 0 && this.match(this.tree.key[b.i])).map(b => b.i) : [];
    if (hits.length === 0) return -1;
    return step > 0 ? hits.find(i => i > this.marked) ?? hits[0] : hits.findLast(i => i < this.marked) ?? hits[hits.length - 1];
  }

  // The box to which an arrow key leads.
  beside(i, key) {
    const box = this.boxes.find(b => b.i === i);
    if (!box) return this.root;
    const inwards = this.icicle ? "ArrowDown" : "ArrowUp", outwards = this.icicle ? "ArrowUp" : "ArrowDown";
    if (key === outwards) return i === this.root ? i : this.tree.parent[i];
    if (key === inwards) {
      const children = this.boxes.filter(b => this.tree.parent[b.i] === i);
      return children.length > 0 ? children.reduce((p, q) => q.width > p.width ? q : p).i : i;
    }
    const row = this.boxes.filter(b => b.y === box.y), at = row.indexOf(box) + (key === "ArrowRight" ? 1 : -1);
    return row[clamp(at, 0, row.length - 1)].i;
  }

  // The picture as SVG, as wide as it is shown.
  svg(title) {
    const width = Math.max(1, this.canvas.parentElement.clientWidth - 16), {boxes, height} = this.layOut(width), {tree, row} = this;
    const g = this.canvas.getContext("2d"), parts = [];
    for (const {i, x, y, width: wide} of boxes) {
      const text = wide > 26 ? this.fit(g, i ? tree.short[tree.key[i]] : "all", wide - 10) : "";
      parts.push(`<g><title>${escapeText(tree.label(i))}: ${escapeText(amountText(this.w(i)))}</title>` +
        `<rect x="${x.toFixed(2)}" y="${y}" width="${Math.max(0.5, wide - 0.5).toFixed(2)}" height="${row - 1}" fill="${this.fillOf(i)}"/>` +
        (text ? `<text x="${(x + 5).toFixed(2)}" y="${y + row / 2 + 4}">${escapeText(text)}</text>` : "") + "</g>");
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + 24}" viewBox="0 -24 ${width} ${height + 24}">` +
      `<rect y="-24" width="100%" height="100%" fill="${ink.panel}"/><g font-family="sans-serif" font-size="${this.font}" fill="${ink["box-ink"]}">` +
      `<text x="5" y="-8">${escapeText(title)}</text>${parts.join("")}</g></svg>`;
  }
}
