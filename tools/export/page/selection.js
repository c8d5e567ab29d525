// What is chosen: filters as bits of one byte per sample, and the sums of what passes. A view ignores its own filter.
//
// Grains: a filter by class cuts the second stage's lines at classes, one by site or stack at stacks, one by time or
// thread within threads (tools/query/filter/event_filter.h).

const FAILS = {time: 1, cls: 2, site: 4, thread: 8, focus: 16, alive: 32, given: 64};
const ALL_FILTERS = 127;
const GRAIN_OF_FILTER = {time: GRAIN.kThread, cls: GRAIN.kClass, site: GRAIN.kStack, thread: GRAIN.kThread,
  focus: GRAIN.kStack, alive: GRAIN.kThread};

// `keeps`: null: all samples pass.
function setFilter(samples, bit, keeps) {
  const fails = samples.fails, clear = ~bit;
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
    this.range = filters.time || [samples.begin, samples.end];
  }

  get seconds() { return Math.max(this.range[1] - this.range[0], 1e-9); }

  // Sets the bits of the samples. Two sides of one recording do so in turn, each before it is asked.
  apply() {
    const s = this.samples, f = this.filters;
    if (s.appliedBy === this) return this;
    s.appliedBy = this;
    const [from, to] = f.time ? f.time.map(t => Math.round(t * 1e6)) : [];
    setFilter(s, FAILS.time, f.time && (i => s.micros[i] >= from && s.micros[i] < to));
    const equal = (keys, value) => value === undefined ? null : i => keys[i] === value;
    setFilter(s, FAILS.cls, equal(s.cls, f.cls));
    setFilter(s, FAILS.site, equal(f.own ? s.ownSite : s.site, f.site));
    setFilter(s, FAILS.thread, equal(f.pools ? s.pool : s.thread, f.thread));
    setFilter(s, FAILS.focus, f.focus && (i => f.focus.at[i] >= f.focus.from && f.focus.at[i] < f.focus.to));
    setFilter(s, FAILS.alive, f.alive && (i => s.alive[i] > 0 && s.age[i] >= f.alive.age));
    setFilter(s, FAILS.given, f.alive ? i => s.chosen[i] > 0 : i => s.chosen[i] === CHOSEN.yes);
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

  // All that passes, as a Subset.
  all(ignored = 0) {
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
      return {samples: all.samples, bytes: this.amountOf(all), share: s.estimator.share(all)};
    }
    const sums = new LiveSums(2);
    for (let i = 0; i < s.n; ++i) if (s.alive[i] > 0) sums.add(0, s.alive[i], s.size[i]);
    this.each(ignored, i => sums.add(1, s.alive[i], s.size[i]));
    const whole = sums.total(0), one = sums.total(1), unit = whole.bytes > 0 ? whole.variance / whole.bytes : 0;
    return {samples: one.samples, bytes: liveBytes(one, unit), share: liveShare(one, whole, unit)};
  }

  // The rows of a table: {key, samples, bytes, share} of each key that has samples; shares are of the selection without
  // the ignored filters.
  rows(keys, count, grain, ignored = 0) {
    return this.filters.alive ? this.liveRows(keys, count, ignored) : this.allocatedRows(keys, count, grain, ignored);
  }

  allocatedRows(keys, count, grain, ignored) {
    const of = this.groups(keys, count, grain, ignored), {estimator} = this.samples, rows = [];
    const whole = this.grain(0, ignored) === 0 && !this.choosesBut(ignored) ? null : this.all(ignored);
    for (let key = 0; key < count; ++key) {
      if (of.sums[key * AT.stride] === 0) continue;
      const subset = of.get(key);
      rows.push({key, samples: subset.samples, bytes: this.amountOf(subset), share: estimator.share(subset, whole)});
    }
    return rows;
  }

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
    const keys = new Uint8Array(this.samples.n);
    for (let i = 0; i < keys.length; ++i) keys[i] = keeps(i) ? 0 : 1;
    const row = this.rows(keys, 2, grain, ignored).find(r => r.key === 0);
    if (row && !this.filters.alive) row.objects = this.samples.estimator.objects(this.groups(keys, 2, grain, ignored).get(0));
    return row || {samples: 0, bytes: this.unseen(grain, ignored), share: [0, 0, 0]};
  }

  // What a key that has no samples may hold all the same: bytes [0, 0, high].
  unseen(grain, ignored = 0) {
    const none = new Subsets(this.samples, 1, this.grain(grain, ignored));
    return this.filters.alive ? [0, 0, 0] : this.amountOf(none.get(0));
  }

  // What samples stand for by key: objects, or how many samples there are.
  amounts(keys, count, measure, ignored = 0) {
    const s = this.samples, amounts = new Float64Array(count), {alive} = this.filters, {factor} = s.estimator;
    const valueOf = measure === "samples" ? () => 1 : alive ? i => s.alive[i] / s.trueSize[i] : i => s.objects[i] * factor;
    this.each(ignored, i => { amounts[keys[i]] += valueOf(i); });
    return amounts;
  }

  // Bytes and an upper estimate of their variance by key: fast, and those of groups of groups are sums of them.
  sums(keys, count, ignored = 0) {
    const s = this.samples, bytes = new Float64Array(count), variance = new Float64Array(count);
    const {alive, objects} = this.filters, factor = alive ? 1 : s.estimator.factor, values = alive ? s.alive : objects ? s.objects : s.weight;
    this.each(ignored, i => {
      bytes[keys[i]] += values[i] * factor;
      variance[keys[i]] += alive ? values[i] * (values[i] - s.size[i]) : s.notSure[i] * values[i] * values[i] * factor * factor;
    });
    return {bytes, variance};
  }

  // Of each of the recordings of which these samples are: bytes by key.
  sumsOfRuns(keys, count, ignored = 0) {
    const s = this.samples, {factor} = s.estimator, values = this.filters.objects ? s.objects : s.weight;
    const runs = s.header.factors.map(() => new Float64Array(count)), {recording} = s.columns;
    this.each(ignored, i => { runs[recording[i]][keys[i]] += values[i] * factor; });
    return runs;
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
