// Keys of the page, of the flame graph and of the table.

function keysOf(page) {
  const {change} = page, flip = key => () => change({[key]: !page.state[key]});
  return [["/", "search", () => $("search").focus()], ["1 to 9", "tabs", null], ["m", "my code only", flip("mine")],
    ["v", "flame graph from the allocation up", flip("reverse")], ["i", "flame graph or icicle", flip("icicle")],
    ["f", "fold recursion", flip("fold")], ["l", "allocated or live", () => page.model.header.tracks_objects && change({live: !page.state.live})],
    ["z", "zoom into the time range, and out", () => change({zoom: page.state.zoom ? null : page.state.a})],
    ["t", "focus the time range: arrows move it, Shift resizes, Ctrl: range B", () => $("brush").focus()],
    ["s", "swap A and B", () => page.state.b && change({a: page.state.b, b: page.state.a || [page.view().begin, page.view().end]})],
    ["w", "flame graph alone", () => change({view: page.state.view ? "" : "flame"})],
    ["n, N", "next match, and back", null], ["y, Y", "copy the name of the marked box, or its stack", null],
    ["c", "copy the command", () => copyText(commandOf(page))], ["d", "dark or light", () => page.theme(true)],
    ["Esc", "clear the last part of the selection", () => clearOne(page)], ["r", "reset", () => page.reset()],
    ["?", "these keys", () => $("keys").showModal()]];
}

function clearOne(page) {
  if ($("keys").open) return;
  for (const key of ["q", "focus", "age", "thread", "cls", "site", "b", "a", "zoom"]) {
    if (page.state[key] !== NO_STATE[key]) return page.change({[key]: NO_STATE[key]});
  }
}

function listenToKeys(page) {
  const keys = keysOf(page);
  document.addEventListener("keydown", event => {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && typing) {
      event.target.blur();
      $("search").value = "";
      if (page.state.q) page.change({q: ""});
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const tab = tabsOf(page.model)[Number(event.key) - 1];
    if (tab) page.change({tab, all: false});
    const key = keys.find(([name]) => name === event.key || (name === "Esc" && event.key === "Escape"));
    if (key && key[2]) {
      key[2]();
      event.preventDefault();
    }
  });
  setHtml($("keylist"), keys.map(([key, what]) => `<dt><kbd>${escapeText(key)}</kbd></dt><dd>${escapeText(what)}</dd>`).join("") +
    "<dt>Flame graph</dt><dd>arrows, Enter, Backspace</dd><dt>Table</dt><dd>up, down, Enter</dd>" +
    "<dt>Drag, Shift-drag</dt><dd>range A, range B; Ctrl-wheel zooms time</dd>");
}

function listenToFlame(page) {
  const canvas = $("flame"), {flame} = page;
  let waiting = 0;
  const mark = i => {
    if (flame.marked === i) return;
    flame.marked = i;
    flame.draw();
  };
  const hide = () => {
    cancelAnimationFrame(waiting);
    $("tip").style.visibility = "hidden";
  };
  // One frame may pass between two boxes: their intervals are computed when the picture stands still.
  const show = (i, x, y) => {
    cancelAnimationFrame(waiting);
    if (i < 0) return hide();
    waiting = requestAnimationFrame(() => showTip(boxTip(page, i), x, y));
  };
  canvas.addEventListener("pointermove", event => {
    const i = flame.hit(event);
    if (i === flame.marked && $("tip").style.visibility === "visible") return placeTip(event.clientX, event.clientY);
    mark(i);
    show(i, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => { mark(-1); hide(); });
  canvas.addEventListener("click", event => {
    const i = flame.hit(event);
    hide();
    if (i >= 0) page.change({focus: i === page.state.focus && i ? page.tree.parent[i] : i});
  });
  canvas.addEventListener("keydown", event => {
    const at = canvas.getBoundingClientRect();
    if (event.key.startsWith("Arrow")) {
      const i = flame.marked < 0 ? flame.root : flame.beside(flame.marked, event.key), box = flame.boxes.find(b => b.i === i);
      mark(i);
      if (box) show(i, at.left + box.x + Math.min(box.width / 2, 60), at.top + box.y + flame.row);
    } else if (event.key === "Enter" && flame.marked >= 0) {
      hide();
      page.change({focus: flame.marked});
    } else if (event.key === "Backspace") {
      page.change({focus: Math.max(0, page.tree.parent[page.state.focus])});
    } else {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const names = flame.marked < 0 ? [] : page.tree.path(flame.marked).slice(1).map(i => page.tree.label(i));
    if ((event.key === "y" || event.key === "Y") && names.length > 0) copyText(event.key === "y" ? names[names.length - 1] : names.join(";"));
    if (event.key !== "n" && event.key !== "N") return;
    const i = flame.nextMatch(event.key === "n" ? 1 : -1), box = flame.boxes.find(b => b.i === i);
    if (!box) return;
    mark(i);
    const at = canvas.getBoundingClientRect();
    show(i, at.left + box.x + Math.min(box.width / 2, 60), at.top + box.y + flame.row);
  });
  canvas.addEventListener("blur", () => { mark(-1); hide(); });
}

function showTip(html, x, y) {
  setHtml($("tip"), html);
  placeTip(x, y);
  $("tip").style.visibility = "visible";
}
function placeTip(x, y) {
  const box = $("tip").getBoundingClientRect();
  $("tip").style.left = clamp(x + 14, 8, Math.max(8, innerWidth - box.width - 8)) + "px";
  $("tip").style.top = (y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18) + "px";
}

function listenToTable(page) {
  const body = $("tbody"), rowAt = event => event.target.closest("tr[data-key]");
  const pick = row => {
    const {field} = DIMENSIONS[page.state.tab], name = dimensionOf(page, page.state.tab).names[Number(row.dataset.key)];
    page.change({[field]: page.state[field] === name ? null : name});
  };
  const light = row => {
    const {flame, state, model} = page, key = row && state.tab !== "threads" ? Number(row.dataset.key) : -1;
    const lit = key < 0 ? -1 : state.tab === "classes" ? model.names.keys.length + key : key;
    if (flame.lit === lit) return;
    flame.lit = lit;
    flame.draw();
  };
  body.addEventListener("click", event => { const row = rowAt(event); if (row) pick(row); });
  body.addEventListener("pointerover", event => light(rowAt(event)));
  body.addEventListener("pointerleave", () => light(null));
  body.addEventListener("keydown", event => {
    const row = rowAt(event), to = row && {ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling}[event.key];
    if (to) to.focus();
    else if (row && (event.key === "Enter" || event.key === " ")) {
      page.refocus = row.dataset.key;
      pick(row);
    } else return;
    event.preventDefault();
  });
}
