// The search, and the way from match to match.

Page.prototype.search = function () {
  const query = byId("search").value.trim(), { view } = this;
  byId("search").ariaInvalid = "false";
  view.matches = null;
  byId("matched").textContent = "";
  if (query !== "") {
    try {
      const { boxes, sum } = this.tree.search(matcher(query), view.layout);
      view.matches = boxes;
      const share = inUnit(sum / (view.layout.width[0] || 1), { unit: "share" });
      byId("matched").textContent = `${share} in ${count(boxes.size)} ${boxes.size === 1 ? "box" : "boxes"}`;
    } catch (error) {
      byId("search").ariaInvalid = "true";
      byId("matched").textContent = "no regular expression";
    }
  }
  this.redraw();
};

Page.prototype.searchKey = function (event) {
  event.stopPropagation();
  if (event.key === "Escape") {
    byId("search").value = "";
    this.search();
    byId("canvas").focus();
  } else if (event.key === "Enter") {
    byId("canvas").focus();
    this.nextMatch(1);
  }
};

Page.prototype.nextMatch = function (step) {
  const boxes = [...this.view.matches ?? []].filter((i) => this.view.layout.width[i] > 0);
  if (boxes.length === 0) return;
  const after = step > 0 ? boxes.find((i) => i > this.view.focused) : boxes.findLast((i) => i < this.view.focused);
  const next = after ?? (step > 0 ? boxes[0] : boxes.at(-1));
  const { zoomed } = this.view;
  if (next < zoomed || next >= this.tree.end[zoomed]) this.zoom(0);
  this.focus(next);
};
