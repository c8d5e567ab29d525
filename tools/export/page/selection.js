// The selection: filters as bits of one byte per sample, and the sums of what passes. A view ignores its own filter.
//
// Rows are used for what depends only on class, path up to the site, and step of time. Samples calibrated to the rows
// are used if callers matter, and uncalibrated samples for everything else.

const FAILS = {time: 1, cls: 2, site: 4, thread: 8, focus: 16, alive: 32, given: 64};
const ALL_FILTERS = 127;
const FROM = {rows: 0, calibrated: 1, samples: 2, live: 3};
// What each filter needs.
const NEEDS = {time: FROM.rows, cls: FROM.rows, site: FROM.rows, thread: FROM.samples, focus: FROM.calibrated, alive: FROM.live, given: FROM.rows};
// A time range is rounded to steps, unless an end would move by more than this fraction of it.
const MOST_ROUNDED = 0.2;

// A time range in seconds, rounded to the steps of rows; null: it is too short for them.
function roundedTime({steps, n, kept}, [from, to]) {
  if (n === kept) return null;
  const nearest = t => steps.reduce((best, step) => Math.abs(step - t) < Math.abs(best - t) ? step : best) / 1e6;
  const range = [nearest(from * 1e6), nearest(to * 1e6)], most = MOST_ROUNDED * (to - from) + 1e-6;
  return range[1] > range[0] && Math.abs(range[0] - from) <= most && Math.abs(range[1] - to) <= most ? range : null;
}

// `keeps`: null: all samples pass. `by`: what the filter depends on, so that an unchanged filter is not set again.
function setFilter(samples, bit, by, keeps) {
  const {fails, set} = samples, clear = ~bit, last = set[bit];
  if (last && last.length === by.length && last.every((x, k) => x === by[k])) return;
  set[bit] = by;
  if (!keeps) for (let i = 0; i < samples.n; ++i) fails[i] &= clear;
  else for (let i = 0; i < samples.n; ++i) fails[i] = keeps(i) ? fails[i] & clear : fails[i] | bit;
}

// One side of a comparison, or the only side: samples, active filters, a time range.
class Side {
  // `filters`: {time: [from, to], cls, site, own (of sites: nearest own frames), thread, pools, focus: {at, from, to},
  // alive: {age: at least}}; absent ones are off. With `objects`, "bytes" below means objects.
  constructor(samples, filters) {
    const {time, own} = filters, rounded = time && roundedTime(samples, time);
    this.samples = samples;
    this.filters = {...filters, given: samples.header.is_part, ...(rounded && {time: rounded})};
    this.isRounded = !!rounded && Math.abs(rounded[0] - time[0]) + Math.abs(rounded[1] - time[1]) > 2e-6;
    this.needs = {...NEEDS, ...(own && {site: FROM.calibrated}), ...(time && !rounded && {time: FROM.samples})};
    this.least = samples.n > samples.kept ? FROM.rows : FROM.samples;
    this.found = {};
    this.range = this.filters.time || [samples.begin, samples.end];
  }

  get seconds() { return Math.max(this.range[1] - this.range[0], 1e-9); }

  // Sets the bits of the samples. Two sides of one recording share them, so each calls this before it is used.
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

  on(ignored = 0) { return Object.keys(FAILS).filter(filter => this.isOn(filter) && !(FAILS[filter] & ignored)); }
  choosesBut(ignored) { return this.on(ignored).length > 0; }
  get chooses() { return this.choosesBut(0); }

  // Returns the data (rows or samples) for a question with `need`, given all active filters except `ignored`.
  by(need, ignored = 0) { return Math.max(this.least, need, ...this.on(ignored).map(filter => this.needs[filter])); }
  estimator(by) { return this.samples.estimators[by]; }

  get calibration() {
    const [from, to] = (this.filters.time || [-Infinity, Infinity]).map(t => Math.round(t * 1e6));
    return this.found.calibration = this.found.calibration || calibrationOf(this.samples, from, to);
  }

  // Calls visit(i, factor) for all samples, or rows, that pass all filters except the ignored ones.
  each(ignored, visit, by = this.by(FROM.samples)) {
    this.apply();
    const {n, kept, fails, of} = this.samples, keep = ALL_FILTERS & ~ignored, factors = by === FROM.calibrated ? this.calibration : null, {bytes} = of[by];
    const end = by >= FROM.samples ? kept : n;
    for (let i = by === FROM.rows ? kept : 0; i < end; ++i) {
      if (fails[i] & keep || bytes[i] === 0) continue;
      if (!factors) visit(i, 1);
      else if (factors[i] > 0) visit(i, factors[i]);
    }
  }

  // Everything that passes, as a subset; cached.
  all(ignored = 0, need = FROM.rows) {
    const by = this.by(need, ignored), key = by + this.on(ignored).join();
    return this.found[key] = this.found[key] || this.groups(() => 0, 1, by, ignored).get(0);
  }

  // Subsets of `count` groups, by keyOf(i).
  groups(keyOf, count, by, ignored = 0) {
    const of = new Subsets(this.samples.of[by], count);
    this.each(ignored, (i, factor) => of.add(keyOf(i), i, factor), by);
    return of;
  }

  amountOf(subset, by) { return this.filters.objects ? this.estimator(by).objects(subset) : this.estimator(by).bytes(subset); }

  // {samples, by, bytes, share} of everything that passes; the share is of the recording.
  total(ignored = 0) {
    const all = this.all(ignored), by = this.by(FROM.rows, ignored), estimator = this.estimator(by), {chooses, filters: {objects}} = this;
    return {samples: all.samples, by, bytes: chooses || objects ? this.amountOf(all, by) : estimator.total(), share: chooses ? estimator.share(all) : [1, 1, 1]};
  }

  // {samples, bytes, share, objects} of a subset; the share is of the selection without the ignored filters.
  figures(subset, by, need, ignored) {
    const estimator = this.estimator(by), whole = this.choosesBut(ignored) ? this.all(ignored, need) : null;
    return {samples: subset.samples, bytes: this.amountOf(subset, by), share: estimator.share(subset, whole), objects: estimator.objects(subset)};
  }

  // The rows of a table: `key` and estimates of each key that has samples. Cached per table, identified by what it
  // ignores.
  rows(keys, count, need, ignored = 0) {
    const {found} = this, table = "rows " + ignored;
    return found[table] = found[table] || this.findRows(keys, count, need, ignored);
  }

  findRows(keys, count, need, ignored) {
    const s = this.samples, by = this.by(need, ignored), of = this.groups(i => keys[i], count, by, ignored), rows = [];
    const counted = keys === s.cls && !this.choosesBut(ignored) ? s.counted : new Map();
    for (let key = 0; key < count; ++key) if (of.has(key)) rows.push({key, ...this.figures(of.get(key, counted.get(key)), by, need, ignored)});
    return rows;
  }

  // Estimates of the samples for which keeps(i) is true.
  one(keeps, need, ignored = 0) {
    const by = this.by(need, ignored), of = this.groups(i => keeps(i) ? 0 : 1, 2, by, ignored);
    return of.has(0) ? this.figures(of.get(0), by, need, ignored) : {samples: 0, bytes: this.unseen(need, ignored), share: [0, 0, 0]};
  }

  // The detection limit of a key without samples: bytes [0, 0, high].
  unseen(need, ignored = 0) {
    const by = this.by(need, ignored);
    return this.amountOf(new Subsets(this.samples.of[by], 1).get(0), by);
  }

  // Adds objects, or the number of samples, to sums of boxes (BoxSums).
  addAmounts(sums, measure, ignored = 0) {
    const isCount = measure === "samples", by = this.by(isCount ? FROM.samples : FROM.calibrated, ignored), {factor: all} = this.estimator(by), {objects} = this.samples.of[by];
    this.each(ignored, (i, factor) => sums.add(i, isCount ? 1 : objects[i] * factor * all), by);
    return sums.close();
  }

  // Adds bytes and an upper estimate of their variance.
  addBytes(bytes, variance, ignored = 0) {
    const by = this.by(FROM.calibrated, ignored), {factor: all} = this.estimator(by), of = this.samples.of[by];
    const [values, variances] = this.filters.objects ? [of.objects, of.objectsVariance] : [of.bytes, of.bytesVariance];
    this.each(ignored, (i, factor) => {
      bytes.add(i, values[i] * factor * all);
      variance.add(i, variances[i] * (factor * all) ** 2);
    }, by);
    return {bytes: bytes.close(), variance: variance.close()};
  }

  // Adds to the sums of the recordings to which these samples belong.
  addRuns(runs, ignored = 0) {
    const {of: {[FROM.samples]: of}, columns: {recording}} = this.samples, {factor} = this.estimator(FROM.samples), values = this.filters.objects ? of.objects : of.bytes;
    this.each(ignored, i => runs[recording[i]].add(i, values[i] * factor), FROM.samples);
    return runs.map(sums => sums.close());
  }

  // The bytes of samples, whose times are exact.
  get timedBytes() { return this.samples.of[this.by(FROM.samples)].bytes; }

  // Bytes over time: `count` steps of `seconds` from `begin`.
  course(begin, seconds, count, ignored = 0) {
    const {time} = this.samples, {timedBytes} = this, course = new Float64Array(count), {factor} = this.estimator(this.by(FROM.samples));
    this.each(ignored, i => {
      const step = Math.floor((time[i] - begin) / seconds);
      if (step >= 0 && step < count) course[step] += timedBytes[i] * factor;
    });
    return course;
  }
}
