// The keyboard.

// The box beside, above (nearer to the leaves) or below the focused one.
function neighbour(tree, layout, i, key, flame) {
  const seen = (of) => of.filter((box) => layout.width[box] > 0);
  const out = flame ? "ArrowUp" : "ArrowDown", home = flame ? "ArrowDown" : "ArrowUp";
  if (i < 0) return 0;
  if (key === home) return tree.parent[i];
  if (key === out) return seen(tree.children(i)).reduce((best, box) => best < 0 || layout.width[box] > layout.width[best] ? box : best, -1);
  const row = i === 0 ? [0] : seen(tree.children(tree.parent[i]));
  return row[row.indexOf(i) + (key === "ArrowRight" ? 1 : -1)] ?? -1;
}

Page.prototype.key = function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.target instanceof HTMLButtonElement && (event.key === "Enter" || event.key === " ")) return;
  const act = this.actions()[event.key];
  if (!act) return;
  event.preventDefault();
  act();
};

Page.prototype.actions = function () {
  const { view } = this, name = (i) => this.tree.label(i);
  const move = (key) => () => {
    byId("canvas").focus();
    const next = neighbour(this.tree, view.layout, view.focused, key, view.flame);
    if (next < 0) return;
    if (next < view.zoomed || next >= this.tree.end[view.zoomed]) this.zoom(next);
    this.focus(next);
  };
  const current = () => (view.hovered >= 0 ? view.hovered : view.focused);
  const copy = (of) => async () => {
    if (current() < 0) return;
    const text = of(current());
    byId("status").textContent = (await copyText(text)) ? `copied: ${text}` : "the browser does not let this page copy";
  };
  return {
    "/": () => byId("search").select(),
    "Escape": () => { view.focused = -1, this.zoom(0), this.redraw(); },
    "0": () => this.zoom(0),
    "Home": () => this.zoom(0),
    "Backspace": () => this.back(),
    "Enter": () => view.focused >= 0 && this.zoom(view.focused),
    "ArrowUp": move("ArrowUp"), "ArrowDown": move("ArrowDown"),
    "ArrowLeft": move("ArrowLeft"), "ArrowRight": move("ArrowRight"),
    "1": () => this.setMeasure(0), "2": () => this.setMeasure(1), "3": () => this.setMeasure(2),
    "r": () => this.setTree(Object.keys(this.trees).find((other) => other !== this.name) ?? this.name),
    "i": () => this.setShape(!view.flame),
    "k": () => this.setColours(!this.drawing.byCode),
    "n": () => this.nextMatch(1), "N": () => this.nextMatch(-1),
    "c": copy(name), "C": copy((i) => this.teller.stack(this.tree, i)),
    "t": () => this.setTheme(!this.dark),
    "?": () => byId("keys").showModal(),
  };
};

// For scripts and tests: where a frame is drawn, in pixels of the window.
Page.prototype.locate = function (text) {
  const canvas = byId("canvas").getBoundingClientRect();
  const boxes = [];
  this.drawing.forEachBox(this.view, byId("frames").clientWidth, (i) => {
    if (this.tree.label(i) !== text) return;
    const { x, y, width, height } = this.drawing.place(this.view, i, byId("frames").clientWidth);
    boxes.push({ box: i, x: canvas.x + x, y: canvas.y + y, width, height });
  });
  return boxes;
};

globalThis.flame = new Page(JSON.parse(byId("data").textContent));
