// The legend: what the colours mean, of those that are there.

Page.prototype.legend = function () {
  const parts = this.tree.data.verdict ? this.changes() : this.drawing.byCode ? this.codes() : this.kinds();
  byId("legend").replaceChildren(...parts.map(([text, colour, title]) => {
    const part = element("span", undefined, { title });
    const swatch = element("i");
    swatch.style.background = colour;
    part.append(swatch, element("span", text));
    return part;
  }));
};

// Kinds that are there.
Page.prototype.kinds = function () {
  const there = new Set();
  for (let i = 1; i < this.tree.size; ++i) there.add(this.tree.more(i) > 0 ? kFolded : this.tree.kind(i));
  return [...there].sort().map((kind) => [kKinds[kind], kindColour(kind, 0.4, this.dark), kKindTitles[kind]]);
};

Page.prototype.codes = function () {
  const alone = (at) => kCodes.map((_, i) => (i === at ? 100 : 0));
  return [...kCodes.map((code, at) => [code, codeColour(alone(at), this.dark), kCodeTitles[at]]),
          ["not known", kindColour(kFolded, 0, this.dark), "Classes, native methods, and what the recording does not tell"]];
};

Page.prototype.changes = function () {
  const swatch = (verdict, strength) => changeColour(kVerdicts.indexOf(verdict), strength, this.dark);
  return [["more, or new", swatch("more", 0.8), "The stronger, the larger the change"],
          ["less, or gone", swatch("less", 0.8), "The stronger, the larger the change"],
          ["not shown to differ", swatch("same", 0), "The difference may be noise"]];
};
