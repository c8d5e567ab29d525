// Out of the page: the clipboard, Markdown, PNG and SVG.

const MARKDOWN_ROWS = 20;
let toasting = 0;
function toast(text) {
  const element = $("toast");
  element.textContent = text;
  element.classList.add("on");
  clearTimeout(toasting);
  toasting = setTimeout(() => element.classList.remove("on"), 2200);
}

// Pages of files have no clipboard in some browsers: a selected text then does it.
function copyText(text) {
  const done = () => toast("Copied: " + (text.length > 160 ? text.slice(0, 150) + "…" : text));
  const plainly = () => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  window.heaprec.copied = text;
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, plainly);
  else plainly();
}

const codeCell = text => "`" + text.replace(/[`|\n]/g, " ").slice(0, MOST_TEXT) + "`";
function markdownOf({state, sideB, rows, unit}) {
  const label = DIMENSIONS[state.tab].label, shown = rows.all.slice(0, MARKDOWN_ROWS);
  const head = sideB ? [label, `A ${unit.suffix}`, `B ${unit.suffix}`, `change ${unit.suffix}`, "95 %", "q"].map(text => text.trim()) : [label, state.live ? "live" : "bytes", "95 %", "share of selection", "95 %"];
  const body = shown.map(row => sideB
    ? [codeCell(row.name), unit.text(row.before[0]), unit.text(row.after[0]), unit.signed(row.change[0]), `${unit.signed(row.change[1])} to ${unit.signed(row.change[2])}`, row.q.toFixed(3)]
    : [codeCell(row.name), amountText(row.bytes[0]), amountRange(row.bytes), percentText(row.share[0]), percentRange(row.share)]);
  return [head, head.map((_, i) => i ? "---:" : "---"), ...body].map(cells => "| " + cells.join(" | ") + " |").join("\n") + "\n";
}

function saveAs(name, url) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}
const stemOf = ({model}) => model.header.file.replace(/\.\w+$/, "") + "-flame";
function savePng(page) { saveAs(stemOf(page) + ".png", $("flame").toDataURL("image/png")); }
function saveSvg(page) {
  const svg = page.flame.svg(`${titleOf(page)}: ${$("total").textContent}`), url = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
  window.heaprec.saved = svg;
  saveAs(stemOf(page) + ".svg", url);
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
const titleOf = ({model}) => model.header.file;
