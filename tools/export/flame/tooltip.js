// What is said of a box: the tooltip at the pointer, the line below for the keyboard, the text that is copied.
// Names come from recordings: they are only ever set as text.

function element(tag, text, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) made.textContent = text;
  return made;
}

class Teller {
  constructor(graph) {
    this.graph = graph;
    this.tooltip = document.getElementById("tooltip");
  }

  kindText(tree, i) {
    if (tree.more(i) > 0) return `${count(tree.more(i))} narrower boxes, with what is above them, in one`;
    if (tree.data.verdict) return kVerdictTexts[tree.data.verdict[i]];
    return i === 0 ? "" : kKinds[tree.kind(i)];
  }

  codeText(tree, i) {
    const parts = tree.code(i).map((share, at) => share > 0 ? `${kCodes[at]} ${share} %` : "");
    return parts.filter((part) => part).join(", ");
  }

  // [label, value, interval], the last empty if it says the same.
  rows(tree, i) {
    return this.graph.rows.filter((row) => tree.data[row.column]).map((row) => {
      const limits = tree.interval(row.column, i), value = inUnit(tree.value(row.column, i), row);
      const [low, high] = limits ? [inUnit(limits[0], row, Math.floor), inUnit(limits[1], row, Math.ceil)] : [value, value];
      return [row.label, value, low === value && high === value ? "" : `${low} to ${high}`];
    });
  }

  show(tree, layout, i, x, y) {
    const table = element("table");
    for (const [label, value, interval] of this.rows(tree, i)) {
      const row = table.insertRow();
      row.append(element("th", label, { scope: "row" }), element("td", value), element("td", interval));
    }
    if (tree.code(i)) {
      const row = table.insertRow();
      row.append(element("th", "ran", { scope: "row" }), element("td", this.codeText(tree, i), { colSpan: 2 }));
    }
    if (layout.width[i] > 0 && i > 0) {
      const parts = [["of its parent", layout.width[i] / layout.width[tree.parent[i]]], ["itself", layout.self[i] / layout.width[i]]];
      for (const [label, part] of parts) {
        const row = table.insertRow();
        row.append(element("th", label, { scope: "row" }), element("td", inUnit(part, { unit: "share" })));
      }
    }
    this.tooltip.replaceChildren(element("b", tree.label(i)), element("small", this.kindText(tree, i)), table);
    this.tooltip.hidden = false;
    this.place(x, y);
  }

  // Beside the pointer, within the window.
  place(x, y) {
    const box = this.tooltip.getBoundingClientRect();
    const left = x + 16 + box.width < innerWidth ? x + 16 : Math.max(4, x - 12 - box.width);
    const top = y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - 12 - box.height);
    this.tooltip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide() { this.tooltip.hidden = true; }

  line(tree, i) {
    const figures = this.rows(tree, i).map(([label, value, interval]) => `${label} ${value}${interval ? ` (${interval})` : ""}`);
    return [tree.label(i), this.kindText(tree, i), ...figures].filter((part) => part).join(" · ");
  }

  // As collapsed stacks have it, from the root.
  stack(tree, i) { return tree.path(i).slice(1).map((box) => tree.label(box)).join(";"); }
}

// Where the clipboard's interface is refused, as on some pages from a file, an old way is left.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", undefined, { value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
