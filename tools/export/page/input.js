// The brush over the tracks: drag selects a range, Shift-drag the range to compare with; edges resize, the inside
// moves.

const LEAST_RANGE = 0.02;                         // seconds
const SLACK = 7;                                  // pixels around an edge

class Brush {
  constructor(page) {
    this.page = page;
    this.element = $("brush");
    this.drag = null;
    const on = (type, act, options) => this.element.addEventListener(type, act, options);
    on("pointerdown", event => this.begin(event));
    on("pointermove", event => this.move(event));
    on("pointerup", () => this.end());
    on("pointercancel", () => this.end());
    on("pointerleave", () => { if (!this.drag) this.leave(); });
    on("dblclick", () => page.change({zoom: null}));
    on("wheel", event => this.zoom(event), {passive: false});
    on("keydown", event => this.key(event));
  }

  // The position of the plots in the brush.
  box() {
    const heat = $("p-heat").getBoundingClientRect(), brush = this.element.getBoundingClientRect();
    return {left: heat.left - brush.left + AXIS, width: heat.width - AXIS - RIGHT, heat: heat.top - brush.top,
      heatTop: heat.top - brush.top + HEAT_TOP, heatHeight: heat.height - HEAT_TOP - HEAT_BOTTOM, x: brush.left, y: brush.top};
  }
  isInHeat(event) { const box = this.box(); return event.clientY - box.y > box.heat; }

  timeAt(event, inHeat) {
    const box = this.box(), view = this.page.view(), t = view.from + (event.clientX - box.x - box.left) / box.width * (view.to - view.from);
    if (!inHeat) return clamp(t, view.from, view.to);
    const row = clamp(Math.floor((1 - (event.clientY - box.y - box.heatTop) / box.heatHeight) * HEAT_ROWS), 0, HEAT_ROWS - 1);
    return clamp(Math.floor(t) + row / HEAT_ROWS, view.begin, view.end);
  }

  begin(event) {
    if (event.button) return;
    const {page} = this, {state} = page, heat = this.isInHeat(event), which = event.shiftKey || page.picking ? "b" : "a";
    const t = this.timeAt(event, heat), view = page.view(), slack = SLACK / this.box().width * (view.to - view.from);
    this.drag = {which, heat, from: t, moved: false, x: event.clientX, last: null};
    for (const key of heat ? [] : ["b", "a"]) {
      if (!state[key]) continue;
      const [t0, t1] = state[key];
      if (Math.abs(t - t0) < slack) Object.assign(this.drag, {which: key, from: t1});
      else if (Math.abs(t - t1) < slack) Object.assign(this.drag, {which: key, from: t0});
      else if (t > t0 && t < t1 && !event.shiftKey && !page.picking) Object.assign(this.drag, {which: key, inside: [t0, t1], grip: t});
    }
    this.element.setPointerCapture(event.pointerId);
    this.element.focus({preventScroll: true});
  }

  move(event) {
    const {page, drag} = this, box = this.box(), t = this.timeAt(event, drag ? drag.heat : this.isInHeat(event)), cross = $("cross");
    cross.style.display = "block";
    cross.style.left = clamp(event.clientX - box.x, box.left, box.left + box.width) + "px";
    drawReadout(page, t);
    if (!drag) return;
    if (!drag.moved && Math.abs(event.clientX - drag.x) < 4 && !(drag.heat && Math.abs(t - drag.from) > 0.05)) return;
    drag.moved = true;
    const view = page.view(), step = drag.heat ? LEAST_RANGE : 0;
    if (drag.inside) {
      const by = clamp(t - drag.grip, view.begin - drag.inside[0], view.end - drag.inside[1]);
      page.change({[drag.which]: drag.inside.map(x => x + by)}, true);
    } else {
      page.change({[drag.which]: [Math.min(drag.from, t), Math.min(view.end, Math.max(drag.from, t) + step)]}, true);
    }
  }

  // A click outside clears the range; its ends are rounded to microseconds, like times of samples.
  end() {
    const {page, drag} = this;
    this.drag = null;
    if (!drag) return;
    if (!drag.moved) {
      page.change(drag.which === "b" ? {b: null} : drag.inside ? {} : {a: null, b: null});
      return;
    }
    const range = page.state[drag.which], isRange = range && range[1] - range[0] >= LEAST_RANGE / 2;
    page.change({[drag.which]: isRange ? range.map(x => Math.round(x * 1e6) / 1e6) : null});
    if (page.picking && page.state.b) page.pick(false);
  }

  leave() {
    $("cross").style.display = "none";
    drawReadout(this.page, null);
  }

  // The plain wheel scrolls the page; Ctrl with the wheel, or a pinch, zooms.
  zoom(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const t = this.timeAt(event, false), view = this.page.view(), factor = Math.exp(event.deltaY / 300);
    const from = Math.max(view.begin, t - (t - view.from) * factor), to = Math.min(view.end, t + (view.to - t) * factor);
    if (to - from > 0.2) this.page.change({zoom: to - from > (view.end - view.begin) * 0.995 ? null : [from, to]});
  }

  key(event) {
    const {page} = this, view = page.view(), step = (view.to - view.from) / 60 * (event.altKey ? 0.1 : 1);
    const by = {ArrowLeft: -step, ArrowRight: step}[event.key], field = event.ctrlKey ? "b" : "a";
    if (!by) return;
    event.preventDefault();
    const [from, to] = page.state[field] || [view.from, view.from + step * 6];
    if (!page.state[field]) page.change({[field]: [from, to]});
    else if (event.shiftKey) page.change({[field]: [from, clamp(to + by, from + LEAST_RANGE, view.end)]});
    else {
      const shift = clamp(by, view.begin - from, view.end - to);
      page.change({[field]: [from + shift, to + shift]});
    }
  }
}

// The coloured ranges over the tracks.
function placeRanges(page) {
  const box = page.brush.box(), view = page.view(), x = t => box.left + (t - view.from) / (view.to - view.from) * box.width;
  for (const key of ["a", "b"]) {
    const element = $("r" + key), range = key === "b" && page.model.recordings.length > 1 ? null : page.state[key];
    const fills = range && range[0] <= view.from && range[1] >= view.to;
    const left = range ? Math.max(box.left, x(range[0])) : 0, right = range ? Math.min(box.left + box.width, x(range[1])) : 0;
    element.style.display = range && !fills && right > left ? "block" : "none";
    element.style.left = left + "px";
    element.style.width = Math.max(1, right - left) + "px";
    element.style.height = box.heat + "px";
  }
  $("brush").setAttribute("aria-valuetext", page.state.a ? `${page.timeText(page.state.a[0], 1)} to ${page.timeText(page.state.a[1], 1)}` : "all time");
}

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
  // Intervals are computed when the pointer rests: it may pass one frame between two boxes.
  const show = (i, x, y) => {
    cancelAnimationFrame(waiting);
    if (i < 0) return hide();
    waiting = requestAnimationFrame(() => showTip(boxTip(page, i), x, y));
  };
  const markAndShow = i => {
    const box = flame.boxes.find(b => b.i === i), at = canvas.getBoundingClientRect();
    mark(i);
    if (box) show(i, at.left + box.x + Math.min(box.width / 2, 60), at.top + box.y + flame.row);
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
    if (event.key.startsWith("Arrow")) {
      markAndShow(flame.marked < 0 ? flame.root : flame.beside(flame.marked, event.key));
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
    const i = flame.nextMatch(event.key === "n" ? 1 : -1);
    if (i >= 0) markAndShow(i);
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
