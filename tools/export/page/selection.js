// What is chosen: filters as bits of one byte per sample, and the sums of what passes. A view ignores its own filter.
//
// Rows answer what needs nothing of an allocation but class, path up to the site, and step of time. What needs callers is
// asked of samples calibrated to the rows, and the rest of samples as they are.

const FAILS = {time: 1, cls: 2, site: 4, thread: 8, focus: 16, alive: 32, given: 64};
const ALL_FILTERS = 127;
const FROM = {rows: 0, calibrated: 1, samples: 2};
// A range of time begins and ends with steps, unless an end would move by more than this part of it.
const MOST_ROUNDED = 0.2;

// A range of time, in seconds, as rows have it; null: it is too short for them.
function roundedTime({steps, n, kept}, [from, to]) {
  if (n === kept) return null;
  const nearest = t => steps.reduce((best, step) => Math.abs(step - t) < Math.abs(best - t) ? step : best) / 1e6;
  const range = [nearest(from * 1e6), nearest(to * 1e6)], most = MOST_ROUNDED * (to - from) + 1e-6;
  return range[1] > range[0] && Math.abs(range[0] - from) <= most && Math.abs(range[1] - to) <= most ? range : null;
}

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
    const {n, kept, header} = samples, {time, own} = filters, rounded = time && roundedTime(samples, time);
    this.filters = {...filters, given: header.is_part, ...(rounded && {time: rounded})};
    this.isRounded = !!rounded && Math.abs(rounded[0] - time[0]) + Math.abs(rounded[1] - time[1]) > 2e-6;
    // What filters need.
    this.needs = {time: rounded ? FROM.rows : FROM.samples, cls: FROM.rows, site: own ? FROM.calibrated : FROM.rows, thread: FROM.samples, focus: FROM.calibrated,
      alive: FROM.samples, given: FROM.rows};
    this.least = n > kept ? FROM.rows : FROM.samples;
    this.found = {};
    this.range = this.filters.time || [samples.begin, samples.end];
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
    return this;
  }

  isOn(filter) { return this.filters[filter] !== undefined && this.filters[filter] !== null && this.filters[filter] !== false; }

  // What answers a question that needs `need` under the filters that are on but `ignored`.
  by(need, ignored = 0) {
    return Math.max(this.least, need, ...Object.keys(FAILS).filter(filter => this.isOn(filter) && !(FAILS[filter] & ignored)).map(filter => this.needs[filter]));
  }
  estimator(by) { return this.samples.estimators[by]; }

  get calibration() {
    const [from, to] = (this.filters.time || [-Infinity, Infinity]).map(t => Math.round(t * 1e6));
    return this.found.calibration = this.found.calibration || calibrationOf(this.samples, from, to);
  }

  get chooses() { return Object.keys(FAILS).some(filter => this.isOn(filter)); }

  // Calls visit(i, factor) for all samples, or rows, that pass but for the ignored filters. Survivors do with `alive`.
  each(ignored, visit, by = FROM.samples) {
    this.apply();
    const {n, kept, fails, bytes} = this.samples, keep = ALL_FILTERS & ~ignored, factors = by === FROM.calibrated ? this.calibration : null;
    const end = by === FROM.samples ? kept : n, isLive = !!this.filters.alive;
    for (let i = by === FROM.rows ? kept : 0; i < end; ++i) {
      if (fails[i] & keep || (!isLive && bytes[i] === 0)) continue;
      if (!factors) visit(i, 1);
      else if (factors[i] > 0) visit(i, factors[i]);
    }
  }

  // All that passes, as a subset; found once.
  all(ignored = 0, need = FROM.rows) {
    const by = this.by(need, ignored), key = by + Object.keys(FAILS).filter(filter => this.isOn(filter) && !(FAILS[filter] & ignored)).join();
    return this.found[key] = this.found[key] || this.groups(null, 1, by, ignored).get(0);
  }

  // By key of each sample, or row: Subsets of `count` groups; null: all is one.
  groups(keys, count, by, ignored = 0) {
    const of = new Subsets(this.samples, count);
    this.each(ignored, keys ? (i, factor) => of.add(keys[i], i, factor) : (i, factor) => of.add(0, i, factor), by);
    return of;
  }

  amountOf(subset, by) { return this.filters.objects ? this.estimator(by).objects(subset) : this.estimator(by).bytes(subset); }

  // {samples, by, bytes, share} of all that passes; the share is of the recording.
  total(ignored = 0) {
    const s = this.samples;
    if (!this.filters.alive) {
      const all = this.all(ignored), by = this.by(FROM.rows, ignored), estimator = this.estimator(by);
      if (this.chooses) return {samples: all.samples, by, bytes: this.amountOf(all, by), share: estimator.share(all)};
      return {samples: all.samples, by, bytes: this.filters.objects ? this.amountOf(all, by) : estimator.total(), share: [1, 1, 1]};
    }
    const sums = new LiveSums(2);
    for (let i = 0; i < s.kept; ++i) if (s.alive[i] > 0) sums.add(0, s.alive[i], s.seen[i]);
    this.each(ignored, i => sums.add(1, s.alive[i], s.seen[i]));
    const whole = sums.total(0), one = sums.total(1), unit = whole.bytes > 0 ? whole.variance / whole.bytes : 0;
    return {samples: one.samples, by: FROM.samples, bytes: liveBytes(one, unit), share: liveShare(one, whole, unit)};
  }

  // The rows of a table: {key, samples, bytes, share} of each key that has samples; shares are of the selection without
  // the ignored filters.
  // Found once for each table, which is told by what it ignores.
  rows(keys, count, need, ignored = 0) {
    const {found, filters} = this, table = "rows " + ignored;
    return found[table] = found[table] || (filters.alive ? this.liveRows(keys, count, ignored) : this.allocatedRows(keys, count, need, ignored));
  }

  allocatedRows(keys, count, need, ignored) {
    const s = this.samples, by = this.by(need, ignored), of = this.groups(keys, count, by, ignored), rows = [], whole = this.wholeOf(ignored, need);
    const counted = keys === s.cls && whole === null ? s.counted : new Map();
    for (let key = 0; key < count; ++key) {
      if (!of.has(key)) continue;
      const subset = of.get(key, counted.get(key));
      rows.push({key, samples: subset.samples, bytes: this.amountOf(subset, by), share: this.estimator(by).share(subset, whole)});
    }
    return rows;
  }

  // What shares are of; null: of everything.
  wholeOf(ignored, need) { return this.choosesBut(ignored) ? this.all(ignored, need) : null; }
  choosesBut(ignored) { return Object.keys(FAILS).some(filter => this.isOn(filter) && !(FAILS[filter] & ignored)); }

  liveRows(keys, count, ignored) {
    const s = this.samples, sums = new LiveSums(count), all = new LiveSums(1), rows = [];
    this.each(ignored, i => {
      sums.add(keys[i], s.alive[i], s.seen[i]);
      all.add(0, s.alive[i], s.seen[i]);
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
  one(keeps, need, ignored = 0) {
    const {samples: s, filters} = this, none = () => ({samples: 0, bytes: this.unseen(need, ignored), share: [0, 0, 0]});
    if (filters.alive) {
      const keys = new Uint8Array(s.n).map((_, i) => keeps(i) ? 0 : 1);
      return this.liveRows(keys, 2, ignored).find(row => row.key === 0) || none();
    }
    const by = this.by(need, ignored), of = new Subsets(s, 1);
    this.each(ignored, (i, factor) => { if (keeps(i)) of.add(0, i, factor); }, by);
    if (!of.has(0)) return none();
    const subset = of.get(0), estimator = this.estimator(by);
    return {samples: subset.samples, bytes: this.amountOf(subset, by), share: estimator.share(subset, this.wholeOf(ignored, need)), objects: estimator.objects(subset)};
  }

  // What a key that has no samples may hold all the same: bytes [0, 0, high].
  unseen(need, ignored = 0) {
    return this.filters.alive ? [0, 0, 0] : this.amountOf(new Subsets(this.samples, 1).get(0), this.by(need, ignored));
  }

  // Adds to sums of boxes (BoxSums) what samples stand for: objects, or how many samples there are.
  addAmounts(sums, measure, ignored = 0) {
    const s = this.samples, {alive} = this.filters, isCount = measure === "samples", by = isCount ? FROM.samples : this.by(FROM.calibrated, ignored);
    const {factor: all} = this.estimator(by), valueOf = isCount ? () => 1 : alive ? i => s.alive[i] / s.size[i] : (i, factor) => s.objects[i] * factor * all;
    this.each(ignored, (i, factor) => sums.add(i, valueOf(i, factor)), by);
    return sums.close();
  }

  // Bytes and an upper estimate of their variance, which adds up.
  addBytes(bytes, variance, ignored = 0) {
    const s = this.samples, {alive, objects} = this.filters, by = this.by(FROM.calibrated, ignored), all = alive ? 1 : this.estimator(by).factor;
    const values = alive ? s.alive : objects ? s.objects : s.bytes, variances = objects ? s.objectsVariance : s.bytesVariance;
    this.each(ignored, (i, factor) => {
      bytes.add(i, values[i] * factor * all);
      variance.add(i, alive ? values[i] * (values[i] - s.seen[i]) : variances[i] * (factor * all) ** 2);
    }, by);
    return {bytes: bytes.close(), variance: variance.close()};
  }

  // To the sums of each of the recordings of which these samples are.
  addRuns(runs, ignored = 0) {
    const s = this.samples, {factor} = this.estimator(FROM.samples), values = this.filters.objects ? s.objects : s.bytes, {recording} = s.columns;
    this.each(ignored, i => runs[recording[i]].add(i, values[i] * factor));
    return runs.map(sums => sums.close());
  }

  // Bytes by step of time: `count` steps of `seconds` from `begin`.
  course(begin, seconds, count, ignored = 0) {
    const s = this.samples, course = new Float64Array(count), factor = this.filters.alive ? 1 : this.estimator(FROM.samples).factor;
    const values = this.filters.alive ? s.alive : s.bytes;
    this.each(ignored, i => {
      const step = Math.floor((s.time[i] - begin) / seconds);
      if (step >= 0 && step < count) course[step] += values[i] * factor;
    });
    return course;
  }
}
