// The page: what is shown, and what buttons, keys and the pointer change of it.

const kGlide = 220;  // ms
const kOrders = {
  callees: ["Callees", "From the root to what allocates (r)"],
  callers: ["Callers", "From what allocates to the root (r)"],
};
const byId = (id) => document.getElementById(id);

class Page {
  constructor(graph) {
    this.graph = graph;
    this.trees = Object.fromEntries(Object.entries(graph.trees).map(([name, data]) => [name, new Tree(data, graph.names)]));
    this.drawing = new Drawing(byId("canvas"), graph);
    this.teller = new Teller(graph);
    this.past = [];
    this.view = { scroll: 0, zoomed: 0, hovered: -1, focused: -1, matches: null, flame: !graph.icicle };
    this.head();
    this.buttons();
    this.listen();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
    this.setTree(graph.first);
  }

  head() {
    document.title = byId("title").textContent = this.graph.title;
    byId("headline").textContent = this.graph.headline;
    byId("facts").replaceChildren(...this.graph.facts.map(([name, value]) => {
      const fact = element("div");
      fact.append(element("dt", name), element("dd", value));
      return fact;
    }));
    byId("notes").replaceChildren(...this.graph.notes.map((note) => element("li", note)));
  }

  buttons() {
    const button = (data, text, title, press) => {
      const made = element("button", text, { type: "button", title, onclick: press });
      Object.assign(made.dataset, data);
      return made;
    };
    byId("measures").append(...this.graph.measures.map((measure, at) =>
      button({ measure: measure.id }, measure.label, `${measure.title} (${at + 1})`, () => this.setMeasure(at))));
    byId("directions").append(...Object.keys(kOrders).filter((name) => this.trees[name]).map((name) =>
      button({ tree: name }, ...kOrders[name], () => this.setTree(name))));
    byId("directions").hidden = Object.keys(this.trees).length < 2;
    for (const one of byId("shapes").children) one.onclick = () => this.setShape(one.dataset.shape === "flame");
    for (const one of byId("colours").children) one.onclick = () => this.setColours(one.dataset.colours === "code");
    byId("back").onclick = () => this.back();
    byId("reset").onclick = () => this.zoom(0);
    byId("theme").onclick = () => this.setTheme(!this.dark);
    byId("help").onclick = () => byId("keys").showModal();
  }

  listen() {
    const canvas = byId("canvas"), frames = byId("frames");
    canvas.onpointermove = (event) => this.point(event);
    canvas.onpointerleave = () => this.unpoint();
    canvas.onclick = (event) => {
      const i = this.at(event);
      if (i < 0) return;
      this.focus(i);
      this.zoom(i);
    };
    canvas.onblur = () => this.redraw();
    frames.onscroll = () => {
      this.noteGround();
      this.redraw();
    };
    byId("search").oninput = () => this.search();
    byId("search").onkeydown = (event) => this.searchKey(event);
    addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(frames);
    matchMedia("(prefers-color-scheme: dark)").onchange = (event) => this.setTheme(event.matches);
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  get tree() { return this.view.tree; }
  press(group, is) { for (const one of byId(group).children) one.ariaPressed = String(is(one.dataset)); }

  setTheme(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.drawing.setTheme(dark);
    if (this.tree) this.legend(), this.redraw();
  }

  setTree(name) {
    const { view } = this;
    view.tree = this.trees[name];
    Object.assign(view, { zoomed: 0, hovered: -1, focused: -1 });
    this.past = [];
    this.teller.hide();
    this.press("directions", (data) => data.tree === name);
    this.name = name;
    this.setMeasure(this.measure ?? 0);
    this.setColours(this.drawing.byCode ?? false);
  }

  setMeasure(at) {
    if (at >= this.graph.measures.length) return;
    this.measure = at;
    this.press("measures", (data) => data.measure === this.graph.measures[at].id);
    this.view.layout = this.tree.layout(this.graph.measures[at]);
    this.show(this.view.zoomed);
    this.legend();
    this.search();
  }

  setShape(flame) {
    this.view.flame = flame;
    this.press("shapes", (data) => (data.shape === "flame") === flame);
    this.show(this.view.zoomed);
  }

  setColours(byCode) {
    const known = this.tree.data.code !== undefined;
    byId("colours").hidden = !known;
    this.drawing.byCode = byCode && known;
    this.press("colours", (data) => (data.colours === "code") === this.drawing.byCode);
    this.legend();
    this.redraw();
  }

  // Without gliding: the layout has changed.
  show(zoomed) {
    const { view } = this, { layout } = view;
    if (!(layout.width[zoomed] > 0)) zoomed = 0;
    Object.assign(view, { zoomed, from: layout.start[zoomed], to: layout.start[zoomed] + (layout.width[zoomed] || 1) });
    this.settle();
    this.press("shapes", (data) => (data.shape === "flame") === view.flame);
  }

  // Rows as the zoomed box needs them, and the scroll at the root.
  settle() {
    const { view } = this;
    let deepest = 0;
    for (let i = view.zoomed; i < this.tree.end[view.zoomed]; ++i) deepest = Math.max(deepest, this.tree.data.depth[i]);
    view.rows = deepest + 1;
    byId("back").disabled = this.past.length === 0;
    byId("reset").disabled = view.zoomed === 0;
    this.fitRows();
    const frames = byId("frames");
    const row = this.tree.data.depth[view.zoomed] * kRow;
    frames.scrollTop = view.flame ? frames.scrollHeight - frames.clientHeight - row + kRow : row - kRow;
    if (view.zoomed === 0) frames.scrollTop = view.flame ? frames.scrollHeight : 0;
    this.noteGround();
    this.redraw();
  }

  // How far below the window the ground of the flame is.
  noteGround() {
    const frames = byId("frames");
    this.ground = Math.max(0, frames.scrollHeight - frames.clientHeight - frames.scrollTop);
  }

  // The window keeps its place above the ground; that of an icicle hangs from the top by itself.
  resize() {
    if (this.printing) return;
    const frames = byId("frames");
    this.fitRows();
    if (this.view.flame) frames.scrollTop = frames.scrollHeight - frames.clientHeight - this.ground;
    this.redraw();
  }

  fitRows() {
    const frames = byId("frames");
    const inside = Math.max(this.view.rows * kRow, frames.clientHeight);
    byId("spacer").style.height = `${inside - frames.clientHeight}px`;
    byId("canvas").style.height = `${frames.clientHeight}px`;
    // A flame that is lower than the window stands on its ground.
    this.lift = this.view.flame ? inside - this.view.rows * kRow : 0;
  }

  zoom(i, backwards = false) {
    const { view } = this;
    if (i === view.zoomed || !(view.layout.width[i] > 0)) return;
    if (!backwards) this.past.push(view.zoomed);
    const { from, to } = view, { start, width } = view.layout;
    view.zoomed = i;
    this.settle();
    this.teller.hide();
    this.glide(from, to, start[i], start[i] + width[i]);
  }

  glide(from0, to0, from1, to1) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const begin = performance.now(), turn = this.turn = {};
    const step = (now) => {
      if (this.turn !== turn) return;
      const part = still ? 1 : Math.min(1, Math.max(0, now - begin) / kGlide);
      const eased = 1 - (1 - part) ** 3;
      this.view.from = from0 + (from1 - from0) * eased, this.view.to = to0 + (to1 - to0) * eased;
      this.redraw();
      if (part < 1) requestAnimationFrame(step);
    };
    step(begin);
  }

  back() {
    if (this.past.length > 0) this.zoom(this.past.pop(), true);
    byId("back").disabled = this.past.length === 0;
  }

  // Many changes, one drawing.
  redraw() {
    if (this.waiting || this.printing) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const frames = byId("frames");
      this.fitRows();
      this.drawAt(frames.scrollTop - this.lift, frames.clientWidth, frames.clientHeight, devicePixelRatio || 1);
    });
  }

  drawAt(scroll, width, height, ratio) {
    const focused = document.activeElement === byId("canvas") ? this.view.focused : -1;
    byId("canvas").style.height = `${height}px`;
    this.drawing.draw(Object.assign(this.view, { scroll }), width, height, ratio);
    if (focused >= 0) this.drawing.outline(this.view, focused, width, 2);
  }

  print(begins) {
    this.printing = begins;
    const dark = this.dark;
    if (begins) {
      this.screenDark = dark;
      this.setTheme(false);
      this.drawAt(0, byId("frames").clientWidth, Math.min(this.view.rows * kRow, 12000), 2);
    } else {
      this.setTheme(this.screenDark);
    }
  }

  at({ offsetX, offsetY }) { return this.drawing.boxAt(this.view, offsetX, offsetY, byId("frames").clientWidth); }

  point(event) {
    const i = this.at(event);
    byId("canvas").style.cursor = i >= 0 ? "pointer" : "default";
    if (i < 0) return this.unpoint();
    if (i !== this.view.hovered) {
      this.view.hovered = i;
      this.redraw();
    }
    if (event.pointerType !== "touch") this.teller.show(this.tree, this.view.layout, i, event.clientX, event.clientY);
  }

  unpoint() {
    this.teller.hide();
    if (this.view.hovered < 0) return;
    this.view.hovered = -1;
    this.redraw();
  }

  focus(i) {
    this.view.focused = i;
    this.teller.hide();
    byId("status").textContent = this.teller.line(this.tree, i);
    const frames = byId("frames"), top = this.drawing.top(this.view, i);
    if (top < 0) frames.scrollTop += top;
    if (top + kRow > frames.clientHeight) frames.scrollTop += top + kRow - frames.clientHeight;
    this.redraw();
  }
}
