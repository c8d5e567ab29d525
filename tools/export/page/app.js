// The state of the page. All views depend on it; each frame draws what has changed.

const AGES = [0, 1, 10, 60, 600, 3600, 36000];     // seconds

const darkMedia = matchMedia("(prefers-color-scheme: dark)");

class Page {
  constructor(model) {
    this.model = model;
    this.trees = {};
    this.timings = {};
    this.sides = {};
    this.waiting = 0;
    this.picking = this.dragging = false;
    this.change = this.change.bind(this);
    this.state = this.stateOfUrl();
  }

  stateOfUrl() {
    const {header, main} = this.model, state = stateOfUrl(location.href, header.state, main.begin, main.end, tabsOf(this.model));
    if (!header.tracks_objects) state.live = false;
    return state;
  }

  start() {
    const view = () => this.view();
    this.tracks = new Tracks(this.model.main, view, this.model.recordings[1]);
    this.heat = new HeatMap($("heat"), this.model.main, view);
    this.flame = new Flame($("flame"));
    drawHeadlines(this);
    this.theme(false);
    this.brush = new Brush(this);
    listenToKeys(this);
    listenToFlame(this);
    listenToTable(this);
    this.wire();
    this.update();
  }

  // The only function that changes the state. `gesture`: a range is being dragged.
  change(patch, gesture = false) {
    const {state} = this, reshapes = ["mine", "reverse", "fold"].some(key => key in patch && patch[key] !== state[key]);
    if (reshapes) Object.assign(state, {focus: 0, focusHash: state.focus > 0 && !("reverse" in patch) ? this.tree.hashOf(state.focus) : ""});
    if ("mine" in patch && patch.mine !== state.mine) patch.site = null;
    if ("pools" in patch) patch.thread = null;
    Object.assign(state, patch);
    this.dragging = gesture;
    this.waiting = this.waiting || requestAnimationFrame(() => {
      this.waiting = 0;
      this.update();
    });
  }

  view() {
    const {begin, end} = this.model.main, {zoom, zone} = this.state;
    return {from: zoom ? zoom[0] : begin, to: zoom ? zoom[1] : end, begin, end, zone};
  }
  timeText(t, digits) { return clockText(t, this.state.zone, this.model.header.start_epoch_ns / 1e6, digits); }

  treeOf({reverse, mine, fold}) {
    const shape = `${+reverse}${+mine}${+fold}`;
    return this.trees[shape] = this.trees[shape] || new BoxTree(this.model, {reverse, mine, fold});
  }

  // Converts names in the state to numbers; ignores names that the recordings do not have.
  choose() {
    const {state, model} = this, numberOf = (names, name) => name === null ? undefined : names.indexOf(name);
    const chosen = {cls: numberOf(model.classes.keys, state.cls), site: numberOf(model.siteNames, state.site),
      thread: numberOf(state.pools ? model.pools : model.threads.keys, state.thread)};
    for (const key of NAMES) {
      if (chosen[key] !== -1) continue;
      chosen[key] = undefined;
      state[key] = null;
    }
    this.chosen = chosen;
  }

  // Reuses a side that has not changed, with its cached results. `which`: a or b.
  sideOf(which, recording) {
    const {state, chosen} = this, {focus, mine, reverse, fold, pools, live, age} = state, time = state[which];
    const key = JSON.stringify([recording, time, chosen, focus, mine, reverse, fold, pools, live, age]);
    if (this.sides[which]?.key !== key) this.sides[which] = {key, side: this.newSide(recording, time)};
    return this.sides[which].side;
  }

  newSide(recording, time) {
    const {state, tree, chosen} = this, filters = {...chosen, objects: !!this.model.header.compare?.objects, own: state.mine, pools: state.pools, alive: state.live && {age: state.age}};
    if (time) filters.time = time;
    if (state.focus > 0) filters.focus = {at: tree.at[recording], from: state.focus, to: tree.end[state.focus]};
    return new Side(this.model.recordings[recording], filters);
  }

  update() {
    const start = performance.now(), {state, model} = this;
    this.tree = this.treeOf(state).finish();
    if (state.focusHash) Object.assign(state, {focus: this.tree.find(state.focusHash), focusHash: ""});
    if (state.focus >= this.tree.size) state.focus = 0;
    this.choose();
    this.sideA = this.sideOf("a", 0);
    this.sideB = model.recordings.length > 1 ? this.sideOf("b", 1) : state.b ? this.sideOf("b", 0) : null;
    this.unit = this.sideB ? unitOf(this) : null;
    this.parseSearch();
    this.chooseView();
    drawBar(this);                                  // first: an additional chip may leave less space below
    if (state.view === "" || state.view === "timeline") this.drawTracks();
    if (state.view !== "timeline") drawFlamePanel(this);
    if (state.view !== "flame") drawTab(this);
    if (!this.dragging) this.note("#" + stateToFragment(state, box => this.tree.hashOf(box)));
    this.refocusRow();
    this.timings.last = performance.now() - start;
    window.heaprec.updates = (window.heaprec.updates || 0) + 1;
  }

  note(fragment) {
    if (location.hash !== fragment || fragment === "#") history.replaceState(null, "", fragment);
  }

  // Does not draw hidden views.
  chooseView() {
    const {view, tab} = this.state;
    document.body.dataset.report = tab in DIMENSIONS ? "no" : "yes";
    if (document.body.dataset.view === view) return;
    document.body.dataset.view = view;
    if (view === "" || view === "timeline") this.tracks.resize();
    this.drawnFilters = this.drawnZoom = "";
  }

  parseSearch() {
    try {
      this.regex = this.state.q ? new RegExp(this.state.q, "i") : null;
      $("search").classList.remove("bad");
    } catch {
      this.regex = null;
      $("search").classList.add("bad");
    }
  }

  // Tracks and heat map show all times, so they depend only on the other filters.
  drawTracks() {
    const {state, tracks, heat, sideA} = this, filters = JSON.stringify([this.chosen, state.focus, state.live, state.age, state.mine, state.pools, state.fold, state.reverse]);
    if (this.drawnFilters !== filters) {
      this.drawnFilters = filters;
      heat.select(sideA, FAILS.time);
      const isWhole = !sideA.choosesBut(FAILS.time);
      tracks.select(isWhole ? null : tracks.partOf(sideA, FAILS.time));
    }
    const zoom = JSON.stringify([state.zoom, state.zone]);
    if (this.drawnZoom !== zoom) {
      this.drawnZoom = zoom;
      tracks.zoom();
    }
    const b = this.model.recordings.length > 1 ? null : state.b;
    heat.draw([[b, ink.b, ink["b-wash"]], [state.a, ink.a, ink["a-wash"]]]);
    placeRanges(this);
    if (!this.brush.drag) drawReadout(this, null);
  }

  refocusRow() {
    if (this.refocus === undefined) return;
    const row = $("tbody").querySelector(`[data-key="${this.refocus}"]`);
    this.refocus = undefined;
    if (row) row.focus();
  }

  pick(on) {
    this.picking = on;
    $("compare").setAttribute("aria-pressed", on || !!this.sideB);
    if (on) toast("Drag over the time to compare with");
  }
  reset() {
    const {theme, zone, tab, view, icicle, measure, colours} = this.state;
    this.change({...NO_STATE, theme, zone, tab, view, icicle, measure, colours});
  }

  theme(flip) {
    const {state} = this, dark = !this.prints && (state.theme ? state.theme === "dark" : darkMedia.matches);
    if (flip) this.change({theme: dark ? "light" : "dark"});
    const now = flip ? !dark : dark;
    document.documentElement.dataset.theme = now ? "dark" : "light";
    document.documentElement.style.colorScheme = now ? "dark" : "light";
    $("theme").textContent = now ? "Light" : "Dark";
    readInk();
    this.tracks.build();
    this.drawnFilters = this.drawnZoom = "";
  }

  offerAges() {
    const {begin, end} = this.model.main, ages = [...AGES.filter(age => age < end - begin), this.state.age].sort((x, y) => x - y);
    setHtml($("age"), [...new Set(ages)].map(age => `<option value="${age}">${age ? `${secondsText(age)} old or more` : "Of any age"}</option>`).join(""));
  }

  wire() {
    const click = (id, act) => $(id).addEventListener("click", act), {change} = this;
    for (const key of ["mine", "fold", "icicle", "pools"]) click(key, () => change({[key]: !this.state[key]}));
    click("f-up", () => change({reverse: true}));
    click("f-down", () => change({reverse: false}));
    click("whole", () => change({view: ""}));
    click("wide", () => change({view: "flame"}));
    for (const key of ["measure", "colours"]) $(key).addEventListener("change", event => change({[key]: event.target.value}));
    click("m-live", () => change({live: true}));
    click("m-all", () => change({live: false}));
    $("age").addEventListener("change", event => change({age: Number(event.target.value)}));
    click("compare", () => this.state.b ? change({b: null}) : this.pick(!this.picking));
    click("reset", () => this.reset());
    click("theme", () => this.theme(true));
    click("command", () => copyText(commandOf(this)));
    click("help", () => $("keys").showModal());
    click("markdown", () => copyText(markdownOf(this)));
    click("png", () => savePng(this));
    click("svg", () => saveSvg(this));
    click("next", () => copyText($("next").dataset.copy));
    click("chips", event => { const key = event.target.dataset.clear; if (key) change({[key]: NO_STATE[key]}); });
    click("crumbs", event => { const button = event.target.closest("button"); if (button) change({focus: Number(button.dataset.node)}); });
    click("tabs", event => { const button = event.target.closest("button"); if (button) change({tab: button.dataset.tab, all: false}); });
    click("thead", event => { const {sort} = event.target.dataset; if (sort) change({sort}); });
    click("document", event => { if (event.target.matches("th")) sortTable(event.target); });
    $("document").addEventListener("keydown", event => { if (event.key === "Enter" && event.target.matches("th")) sortTable(event.target); });
    $("document").addEventListener("keydown", walkTree);
    click("tablenote", event => { if ("all" in event.target.dataset) change({all: true}); });
    $("search").addEventListener("input", event => change({q: event.target.value, all: false}));
    $("zone").addEventListener("change", event => change({zone: event.target.value}));
    $("live-group").hidden = !this.model.header.tracks_objects;
    this.offerAges();
    darkMedia.addEventListener("change", () => { this.theme(false); change({}); });
    const print = prints => () => {               // paper is white
      this.prints = prints;
      this.theme(false);
      this.update();
    };
    addEventListener("beforeprint", print(true));
    addEventListener("afterprint", print(false));
    addEventListener("hashchange", () => {
      this.state = this.stateOfUrl();
      this.theme(false);
      this.offerAges();
      change({});
    });
    this.watchSize();
  }

  watchSize() {
    let frame = 0, last = "";
    new ResizeObserver(() => {
      const size = innerWidth + "x" + innerHeight + "x" + document.body.clientWidth;
      if (size === last) return;
      const isFirst = last === "";
      last = size;
      if (isFirst) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        this.tracks.resize();
        this.update();
      });
    }).observe(document.body);
  }
}

async function start() {
  const parts = [await unpack($("data").textContent)], other = $("other").textContent.trim();
  if (other) parts.push(await unpack(other));
  window.heaprec = {updates: 0, parts};
  const {counts_events: events, compare} = parts[0].header;
  useUnits(events || !!compare?.objects);
  const model = new Model(parts), page = new Page(model);
  Object.assign(window.heaprec, {model, page, Side, FROM, FAILS, commandOf, markdownOf, rowsOf, compare, ratioOf});
  page.start();
  document.documentElement.dataset.ready = "yes";
  window.heaprec.ready = performance.now();
  // Building the first tree from the other end takes seconds if stacks are deep.
  page.treeOf({...page.state, reverse: !page.state.reverse}).buildAhead();
}
start();
