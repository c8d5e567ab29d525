// What is chosen: filters as bits of one byte per sample, and the sums of what passes. A view ignores its own filter.
//
// Grains: a filter by class cuts the second stage's lines at classes, one by site or stack at stacks, one by time or
// thread within threads (tools/query/filter/event_filter.h).

const FAILS = {time: 1, cls: 2, site: 4, thread: 8, focus: 16, alive: 32, given: 64};
const ALL_FILTERS = 127;
const GRAIN_OF_FILTER = {time: GRAIN.kThread, cls: GRAIN.kClass, site: GRAIN.kStack, thread: GRAIN.kThread,
  focus: GRAIN.kStack, alive: GRAIN.kThread};

// `keeps`: null: all samples pass. `by`: what it depends on: a filter that is set already is not set again.
function setFilter(samples, bit, by, keeps) {
  const {fails, set} = samples, clear = ~bit, last = set[bit];
  if (last && last.length === by.length && last.every((x, k) => x === by[k])) return;
  set[bit] = by;
  if (!keeps) for (let i = 0; i < samples.n; ++i) fails[i] &= clear;
  else for (let i = 0; i < samples.n; ++i) fails[i] = keeps(i) ? fails[i] & clear : fails[i] | bit;
}

// One side of a comparison, or the only one: samples, the filters that are on, a range of time.
class Side {
  // `filters`: {time: [from, to], cls, site, own (of sites: nearest own frames), thread, pools, focus: {at, from, to},
  // alive: {age: at least}}; what is missing is off. With `objects` these are what "bytes" are below. What the command that made the page left out is so always.
  constructor(samples, filters) {
    this.samples = samples;
    this.filters = samples.header.chosen_by >= 0 ? {...filters, given: true} : filters;
    this.found = {};
    this.range = filters.time || [samples.begin, samples.end];
  }

  get seconds() { return Math.max(this.range[1] - this.range[0], 1e-9); }

  // Sets the bits of the samples. Two sides of one recording do so in turn, each before it is asked.
  apply() {
    const s = this.samples, f = this.filters;
    if (s.appliedBy === this) return this;
    s.appliedBy = this;
    const [from, to] = f.time ? f.time.map(t => Math.round(t * 1e6)) : [];
    setFilter(s, FAILS.time, [from, to], f.time && (i => s.micros[i] >= from && s.micros[i] < to));
    const sites = f.own ? s.ownSite : s.site, threads = f.pools ? s.pool : s.thread;
    for (const [bit, keys, value] of [[FAILS.cls, s.cls, f.cls], [FAILS.site, sites, f.site], [FAILS.thread, threads, f.thread]]) {
      setFilter(s, bit, value === undefined ? [] : [keys, value], value === undefined ? null : i => keys[i] === value);
    }
    const {at, from: first, to: end} = f.focus || {};
    setFilter(s, FAILS.focus, [at, first, end], f.focus && (i => at[i] >= first && at[i] < end));
    setFilter(s, FAILS.alive, [f.alive && f.alive.age], f.alive && (i => s.alive[i] > 0 && s.age[i] >= f.alive.age));
    setFilter(s, FAILS.given, [!!f.alive], f.alive ? i => s.chosen[i] > 0 : i => s.chosen[i] === CHOSEN.yes);
    return this;
  }

  isOn(filter) { return this.filters[filter] !== undefined && this.filters[filter] !== null && this.filters[filter] !== false; }

  // The finest grain of the filters that are on but `ignored`, and of `own`.
  grain(own, ignored = 0) {
    let grain = own;
    for (const filter of Object.keys(FAILS)) {
      if (!this.isOn(filter) || FAILS[filter] & ignored) continue;
      grain = Math.max(grain, filter === "given" ? this.samples.header.chosen_by : GRAIN_OF_FILTER[filter]);
    }
    return grain;
  }

  get chooses() { return Object.keys(FAILS).some(filter => this.isOn(filter)); }

  // Calls visit(i) for all samples that pass but for the ignored filters.
  each(ignored, visit) {
    this.apply();
    const {n, fails} = this.samples, keep = ALL_FILTERS & ~ignored;
    for (let i = 0; i < n; ++i) if (!(fails[i] & keep)) visit(i);
  }

  // All that passes, as a Subset; found once.
  all(ignored = 0) {
    const key = Object.keys(FAILS).filter(filter => this.isOn(filter) && !(FAILS[filter] & ignored)).join();
    return this.found[key] = this.found[key] || this.findAll(ignored);
  }

  findAll(ignored) {
    const one = new Subsets(this.samples, 1, this.grain(this.chooses ? 0 : GRAIN.kThread, ignored));
    this.each(ignored, i => one.add(0, i));
    return one.get(0);
  }

  // By key of each sample: Subsets of `count` groups. `grain`: the finest that has a say in a sample's key.
  groups(keys, count, grain, ignored = 0) {
    const of = new Subsets(this.samples, count, this.grain(grain, ignored), grain === GRAIN.kClass);
    this.each(ignored, i => of.add(keys[i], i));
    return of;
  }

  amountOf(subset) {
    const {estimator} = this.samples;
    return this.filters.objects ? estimator.objects(subset) : estimator.bytes(subset);
  }

  // {samples, bytes, share} of all that passes; the share is of the recording, or of what `whole` lets pass.
  total(ignored = 0) {
    const s = this.samples;
    if (!this.filters.alive) {
      const all = this.all(ignored);
      if (this.chooses) return {samples: all.samples, bytes: this.amountOf(all), share: s.estimator.share(all)};
      const bytes = this.filters.objects ? this.amountOf(all) : s.estimator.total();
      return {samples: all.samples, bytes, share: [1, 1, 1]};
    }
    const sums = new LiveSums(2);
    for (let i = 0; i < s.n; ++i) if (s.alive[i] > 0) sums.add(0, s.alive[i], s.size[i]);
    this.each(ignored, i => sums.add(1, s.alive[i], s.size[i]));
    const whole = sums.total(0), one = sums.total(1), unit = whole.bytes > 0 ? whole.variance / whole.bytes : 0;
    return {samples: one.samples, bytes: liveBytes(one, unit), share: liveShare(one, whole, unit)};
  }

  // The rows of a table: {key, samples, bytes, share} of each key that has samples; shares are of the selection without
  // the ignored filters.
  // Found once for each table, which is told by what it ignores.
  rows(keys, count, grain, ignored = 0) {
    const {found, filters} = this, table = "rows " + ignored;
    return found[table] = found[table] || (filters.alive ? this.liveRows(keys, count, ignored) : this.allocatedRows(keys, count, grain, ignored));
  }

  allocatedRows(keys, count, grain, ignored) {
    const of = this.groups(keys, count, grain, ignored), {estimator} = this.samples, rows = [];
    const whole = this.wholeOf(ignored);
    for (let key = 0; key < count; ++key) {
      if (of.sums[key * AT.stride] === 0) continue;
      const subset = of.get(key);
      rows.push({key, samples: subset.samples, bytes: this.amountOf(subset), share: estimator.share(subset, whole)});
    }
    return rows;
  }

  // What shares are of; null: of everything.
  wholeOf(ignored) { return this.choosesBut(ignored) ? this.all(ignored) : null; }
  choosesBut(ignored) { return Object.keys(FAILS).some(filter => this.isOn(filter) && !(FAILS[filter] & ignored)); }

  liveRows(keys, count, ignored) {
    const s = this.samples, sums = new LiveSums(count), all = new LiveSums(1), rows = [];
    this.each(ignored, i => {
      sums.add(keys[i], s.alive[i], s.size[i]);
      all.add(0, s.alive[i], s.size[i]);
    });
    const whole = all.total(0), unit = whole.bytes > 0 ? whole.variance / whole.bytes : 0;
    for (let key = 0; key < count; ++key) {
      if (sums.samples[key] === 0) continue;
      const one = sums.total(key);
      rows.push({key, samples: one.samples, bytes: liveBytes(one, unit), share: liveShare(one, whole, unit)});
    }
    return rows;
  }

  // {samples, bytes, share} of the samples for which keeps(i), and objects of what was allocated; the share is of the
  // selection.
  one(keeps, grain, ignored = 0) {
    const {samples: s, filters} = this, none = () => ({samples: 0, bytes: this.unseen(grain, ignored), share: [0, 0, 0]});
    if (filters.alive) {
      const keys = new Uint8Array(s.n).map((_, i) => keeps(i) ? 0 : 1);
      return this.liveRows(keys, 2, ignored).find(row => row.key === 0) || none();
    }
    const of = new Subsets(s, 1, this.grain(grain, ignored));
    this.each(ignored, i => { if (keeps(i)) of.add(0, i); });
    const subset = of.get(0);
    if (subset.samples === 0) return none();
    return {samples: subset.samples, bytes: this.amountOf(subset), share: s.estimator.share(subset, this.wholeOf(ignored)), objects: s.estimator.objects(subset)};
  }

  // What a key that has no samples may hold all the same: bytes [0, 0, high].
  unseen(grain, ignored = 0) {
    const none = new Subsets(this.samples, 1, this.grain(grain, ignored));
    return this.filters.alive ? [0, 0, 0] : this.amountOf(none.get(0));
  }

  // Adds to sums of boxes (BoxSums) what samples stand for: objects, or how many samples there are.
  addAmounts(sums, measure, ignored = 0) {
    const s = this.samples, {alive} = this.filters, {factor} = s.estimator;
    const valueOf = measure === "samples" ? () => 1 : alive ? i => s.alive[i] / s.trueSize[i] : i => s.objects[i] * factor;
    this.each(ignored, i => sums.add(i, valueOf(i)));
    return sums.close();
  }

  // Bytes and an upper estimate of their variance, which adds up.
  addBytes(bytes, variance, ignored = 0) {
    const s = this.samples, {alive, objects} = this.filters, factor = alive ? 1 : s.estimator.factor;
    const values = alive ? s.alive : objects ? s.objects : s.weight;
    this.each(ignored, i => {
      bytes.add(i, values[i] * factor);
      variance.add(i, alive ? values[i] * (values[i] - s.size[i]) : s.notSure[i] * values[i] * values[i] * factor * factor);
    });
    return {bytes: bytes.close(), variance: variance.close()};
  }

  // To the sums of each of the recordings of which these samples are.
  addRuns(runs, ignored = 0) {
    const s = this.samples, {factor} = s.estimator, values = this.filters.objects ? s.objects : s.weight, {recording} = s.columns;
    this.each(ignored, i => runs[recording[i]].add(i, values[i] * factor));
    return runs.map(sums => sums.close());
  }

  // Bytes by step of time: `count` steps of `seconds` from `begin`.
  course(begin, seconds, count, ignored = 0) {
    const s = this.samples, course = new Float64Array(count), factor = this.filters.alive ? 1 : s.estimator.factor;
    const values = this.filters.alive ? s.alive : s.weight;
    this.each(ignored, i => {
      const step = Math.floor((s.time[i] - begin) / seconds);
      if (step >= 0 && step < count) course[step] += values[i] * factor;
    });
    return course;
  }
}
