// Bytes, objects and share of a subset, each with its 95 % interval. A port of tools/analysis/estimate/estimator.h and
// confidence_interval.h. An estimate is [value, low, high].

const Z = 1.959963984540054;
const MIN_OBJECT = 16;                          // bytes: the smallest object of HotSpot
const UNKNOWN = [NaN, NaN, NaN];

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const scaled = ([value, low, high], factor) => [value * factor, low * factor, high * factor];
const around = (value, low, high) => [value, clamp(low, 0, value), Math.max(high, value)];

// The upper end of an amount next to `rest`, as odds of the amount to the rest; for an infinite rest, as an amount.
function upperEnd(value, rest, variance, unit) {
  const isTotal = rest === Infinity, part = isTotal ? 1 : rest / (value + rest), more = value + unit;
  const weight = more > 0 && part > 0 ? (Math.max(variance, 0) / part + unit * unit) / more : 0;
  if (!(weight > 0)) return isTotal ? value : value / rest;
  const a = weight / (9 * more), b = isTotal ? 0 : weight / (9 * rest), one = 1 - a, other = 1 - b;
  const denominator = other * other - Z * Z * b;
  if (!(denominator > 0)) return Infinity;
  const root = Math.sqrt(a * other * other + b * one * one - Z * Z * a * b);
  return ((one * other + Z * root) / denominator) ** 3 * (isTotal ? more : more / rest);
}

function lowerEnd(value, variance) {
  if (!(value > 0) || !(variance > 0)) return value;
  const a = variance / (9 * value * value);
  return value * Math.max(1 - a - Z * Math.sqrt(a), 0) ** 3;
}

const shareOfOdds = odds => odds === Infinity ? 1 : odds / (1 + odds);

function totalInterval(value, variance, unit) {
  return around(value, lowerEnd(value, variance), upperEnd(value, Infinity, variance, unit));
}

function shareInterval(value, variance, unit) {
  const rest = 1 - value;
  return around(value, 1 - shareOfOdds(upperEnd(rest, value, variance, unit)),
    Math.min(shareOfOdds(upperEnd(value, rest, variance, unit)), 1));
}

// What one sample represents on average, with one typical sample added.
function meanUnit(sum, variance, typical) {
  const all = sum + typical;
  return all > 0 ? (Math.max(variance, 0) + typical * typical) / all : 0;
}

// Student's t instead of z, as a factor on the variance.
function widening(sum, variance, fourth) {
  if (!(variance > 0) || !(sum > 0)) return 1;
  return 1 + (Z * Z + 1) / 4 * Math.max(fourth / (variance * variance) - variance / (sum * sum), 0);
}
const wideningOfBytes = of => widening(of.bytes, of.bytesVariance, of.bytesFourth);
const wideningOfObjects = of => widening(of.objects, of.objectsVariance, of.objectsFourth);
const exactly = value => [value, value, value];

class Estimator {
  // `basis`: from the header, with the sums of everything (`all`).
  constructor(basis) {
    Object.assign(this, basis);
    this.allCounted = this.byClass !== null;
    this.unit = this.all.bytes > 0 ? this.all.bytesVariance / this.all.bytes : 0;
  }

  unitBytes(variance, bytes) { return meanUnit(bytes, variance, this.unit); }
  unitObjects(of) {
    return meanUnit(of.objects, of.objectsVariance, of.bytes > 0 ? this.unit * of.objects / of.bytes : this.unit / MIN_OBJECT);
  }

  total() {
    const missing = this.allCounted ? this.unwritten : this.lost;
    return this.knownTotal().map(x => x + missing);
  }

  knownTotal() {
    if (this.allCounted) return exactly(this.byClass);
    const {bytes, bytesVariance} = this.all, variance = this.calibrated ? this.uncountedVariance : bytesVariance;
    if (variance <= 0) return exactly(this.factor * bytes);
    return scaled(totalInterval(bytes, variance, this.unitBytes(variance, bytes)), this.factor);
  }

  // Share of `whole`, which contains `of`; null: of everything.
  share(of, whole = null) {
    const isCounted = this.allCounted && whole === null, known = isCounted ? this.byClass : this.factor * (whole || this.all).bytes;
    const all = known + (this.allCounted ? this.unwritten : this.lost);
    if (isCounted) {
      const [value, low, high] = this.bytes(of);
      return [value / known, low / all, Math.min(high / all, 1)];
    }
    const isWhole = whole !== null && whole.samples > 0 && of.samples === whole.samples;
    const share = isWhole ? exactly(1) : this.shareWith(of, whole || this.all, 0);
    if (!(this.lost > 0) || !(all > 0)) return share;
    const inMemory = this.allCounted ? this.lost - this.unwritten : 0;
    return [share[0], Math.max(share[1] * known - inMemory, 0) / all, Math.min((share[2] * known + this.lost) / all, 1)];
  }

  // The part and the rest vary independently, so the part contributes its own variance to the whole's.
  shareWith(of, whole, varianceOfWhole) {
    if (whole.bytes <= 0) return [0, 0, 1];
    const share = Math.min(of.bytes / whole.bytes, 1), part = of.bytesVariance, all = whole.bytesVariance;
    const variance = Math.max((1 - 2 * share) * part + share * share * (all + varianceOfWhole), 0);
    const unit = (1 - share) * this.unitBytes(part, of.bytes) + share * this.unitBytes(all - part, Math.max(whole.bytes - of.bytes, 0));
    return shareInterval(share, wideningOfBytes(of) * variance / (whole.bytes * whole.bytes), unit / whole.bytes);
  }

  // `perByte`: 1, or objects per byte for objects.
  allowForLost([value, low, high], of, perByte) {
    const lost = perByte * this.lost, unwritten = perByte * this.unwritten;
    if (of.counted) return [value, low, high + unwritten];
    return [value, Math.max(low - (this.allCounted ? lost - unwritten : 0), 0), high + lost];
  }

  bytes(of) {
    const [value, low, high] = this.allowForLost(this.knownBytes(of), of, 1);
    return [value, Math.max(low, Math.min(of.seen, value)), high];
  }

  knownBytes(of) {
    if (of.counted) return exactly(of.counted[0]);
    if (this.calibrated) return scaled(this.shareWith(of, this.all, this.uncountedVariance), this.factor * this.all.bytes);
    return totalInterval(of.bytes, wideningOfBytes(of) * of.bytesVariance, this.unitBytes(of.bytesVariance, of.bytes));
  }

  objects(of) {
    if (of.unsized > 0 || (this.all.samples === 0 && this.lost > 0)) return UNKNOWN;
    const perByte = of.bytes > 0 ? of.objects / of.bytes : 1 / MIN_OBJECT;
    const [value, low, high] = this.allowForLost(this.knownObjects(of), of, perByte);
    return [value, Math.max(low, Math.min(of.samples, value)), high];
  }

  knownObjects(of) {
    if (of.counted) return exactly(of.counted[1]);
    const raw = of.objectsVariance;
    let variance = raw, unit = this.unitObjects(of);
    if (this.calibrated) {
      const perByte = this.all.bytes > 0 ? of.objects / this.all.bytes : 0;
      variance += -2 * perByte * of.covariance + perByte * perByte * (this.all.bytesVariance + this.uncountedVariance);
      if (raw > 0) unit *= clamp(variance / raw, 0, 1);
    }
    return scaled(totalInterval(of.objects, wideningOfObjects(of) * variance, unit), this.factor);
  }
}

// The beta distribution: tools/analysis/estimate/confidence_interval.h.

const MANY_COUNTS = 1e6, TINY = 1e-300, MOST_STEPS = 20000;

// Lanczos' approximation with g = 7 and nine terms: relative error below 1e-14.
const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
function lgamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - lgamma(1 - x);
  const t = x + 6.5, sum = LANCZOS.reduce((all, c, i) => i === 0 ? c : all + c / (x - 1 + i), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// For the standard normal: P(|N| > x sqrt 2). Uses the continued fraction where it converges fast, otherwise the
// series.
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2) {
    let term = x, sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); ++n) {
      term *= -x * x / n;
      sum += term / (2 * n + 1);
    }
    return 1 - 2 / Math.sqrt(Math.PI) * sum;
  }
  let fraction = 0;
  for (let n = 60; n > 0; --n) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

// The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22).
function betaFraction(x, a, b) {
  const bounded = v => Math.abs(v) < TINY ? TINY : v;
  let c = 1, d = 1 / bounded(1 - (a + b) * x / (a + 1)), product = d;
  for (let m = 1; m < MOST_STEPS; ++m) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    let step = 1;
    for (const term of [even, odd]) {
      d = 1 / bounded(1 + term * d);
      c = bounded(1 + term / c);
      step = c * d;
      product *= step;
    }
    if (Math.abs(step - 1) < 1e-13) break;
  }
  return product;
}

function betaTail(x, a, b) {
  const front = a * Math.log(x) + b * Math.log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b);
  return Math.exp(front) * betaFraction(x, a, b) / a;
}

function betaNormal(x, a, b) {
  const angle = Math.asin(Math.sqrt(x)) - Math.asin(Math.sqrt(a / (a + b)));
  return 0.5 * erfc(-angle * 2 * Math.sqrt(a + b) / Math.SQRT2);
}

// P(X <= x) of Beta(a, b).
function betaBelow(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (a + b > MANY_COUNTS) return betaNormal(x, a, b);
  return x < (a + 1) / (a + b + 2) ? betaTail(x, a, b) : 1 - betaTail(1 - x, b, a);
}

function betaQuantile(probability, a, b) {
  if (probability > 0.5) return 1 - betaQuantile(1 - probability, b, a);
  let low = 0, high = 1;
  while (high - low > 1e-12 * high && high > Number.MIN_VALUE) {
    const middle = (low + high) / 2;
    if (betaBelow(middle, a, b) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// Compares two independent estimates. A port of tools/analysis/estimate/difference.h. Estimates are [value, low, high].
// Ratios are computed on demand, because they take most of the time.

const JEFFREYS = 0.5, TAIL = 0.025, CERTAIN = 1e7;
// Default for a single pair, when nothing else is known: replicates.cc.
const USUAL = {deviation: 0.035, freedom: 4, margin: 0, fdr: 0.05, isJudged: true, before: [1], after: [1]};
const UNSEEN_OUTLIER = 0.003, OUTLIER_SIZE = 0.35, OUTLIER_FREEDOM = 2, LEAST_SHARE = 0.005;

const weightByEnd = (reach, end) => reach > 0 ? reach * reach / (Z * Z * Math.max(end, reach * 1e-9)) : 0;

// The number of samples of equal weight that give the same interval as the estimate, on the side of the true value.
function countsOf([value, low, high], truthAbove) {
  const below = value - low, above = high - value;
  const variance = below * above / (Z * Z), unit = Math.max(above - below, 0) / (Z * Z), all = value + unit;
  let weight = all > 0 ? (variance + unit * unit) / all : 0;
  if (truthAbove) weight = Math.max(weight, weightByEnd(above, high));
  else if (below > above) weight = Math.max(weight, weightByEnd(below, low));
  weight = Math.max(weight, value / CERTAIN);
  return weight > 0 ? {count: value / weight, perUnit: 1 / weight} : {count: 0, perUnit: 0};
}

const pairOf = (before, after, more) => ({before: countsOf(before, more), after: countsOf(after, !more)});
const countOf = pair => pair.before.count + pair.after.count;
const shareAt = (ratio, {before, after}) => ratio * after.perUnit / (before.perUnit + ratio * after.perUnit);

function atLeast(after, all, share) {
  const at = after > 0 ? betaBelow(share, after, all - after + 1) : 1;
  const above = after < all ? betaBelow(share, after + 1, all - after) : 0;
  return (at + above) / 2;
}
const atMost = (after, all, share) => atLeast(all - after, all, 1 - share);

function changeOf(before, after) {
  const change = after[0] - before[0];
  return [change, change - Math.hypot(after[0] - after[1], before[2] - before[0]),
    change + Math.hypot(after[2] - after[0], before[0] - before[1])];
}

const ratioAt = (share, {before, after}) => share < 1 ? share / (1 - share) * before.perUnit / after.perUnit : Infinity;
const ratioOfValues = (before, after) => before > 0 ? after / before : after > 0 ? Infinity : 1;

// Returns {before, after, change, p, leastP}; judge sets q and verdict. p takes most of the time: if it is NaN, pOf
// computes it.
function compareLazily(before, after) {
  const of = {before, after, change: changeOf(before, after), p: 1, leastP: 1, q: 1, verdict: "same"};
  if ([...before, ...after].some(Number.isNaN) || before[2] === Infinity || after[2] === Infinity) return of;
  const isExact = e => e[1] === e[2];
  if (before[2] <= 0 || after[2] <= 0 || (isExact(before) && isExact(after))) {
    of.p = of.leastP = after[1] > before[2] || after[2] < before[1] ? 0 : 1;
    return of;
  }
  const more = pairOf(before, after, true), less = pairOf(before, after, false);
  if (!(countOf(more) > 0) || !(countOf(less) > 0)) return of;
  of.leastP = Math.min(1, 2 * Math.min(atLeast(countOf(more), countOf(more), shareAt(1, more)), atMost(0, countOf(less), shareAt(1, less))));
  of.p = NaN;
  return of;
}

function pOf({before, after, p}) {
  if (!Number.isNaN(p)) return p;
  const more = pairOf(before, after, true), less = pairOf(before, after, false);
  return Math.min(1, 2 * Math.min(atLeast(more.after.count, countOf(more), shareAt(1, more)), atMost(less.after.count, countOf(less), shareAt(1, less))));
}

function compare(before, after) {
  const of = compareLazily(before, after);
  of.p = pOf(of);
  return of;
}

// Returns Jeffreys' interval of after / before.
function ratioOf({before, after}) {
  const value = ratioOfValues(before[0], after[0]);
  if (before[2] <= 0 || after[2] <= 0 || (before[1] === before[2] && after[1] === after[2])) {
    return [value, ratioOfValues(before[2], after[1]), ratioOfValues(before[1], after[2])];
  }
  const more = pairOf(before, after, true), less = pairOf(before, after, false);
  const low = more.after.count > 0
    ? ratioAt(betaQuantile(TAIL, more.after.count + JEFFREYS, more.before.count + JEFFREYS), more) : 0;
  const high = less.before.count > 0
    ? ratioAt(1 - betaQuantile(TAIL, less.before.count + JEFFREYS, less.after.count + JEFFREYS), less) : Infinity;
  return [value, Math.min(low, value), Math.max(high, value)];
}

// Benjamini and Hochberg's procedure: of the rows reported as different, on average at most `rate` are not.
function judge(rows, rate = 0.05) {
  for (const row of rows) row.q = 1, row.verdict = "same";
  const asked = rows.filter(row => row.leastP <= rate);
  for (const row of asked) row.p = pOf(row);
  asked.sort((a, b) => b.p - a.p);
  let q = 1;
  asked.forEach((row, i) => {
    row.q = q = Math.min(q, row.p * asked.length / (asked.length - i));
    if (q > rate) return;
    const more = row.after[0] > row.before[0];
    row.verdict = more ? row.before[0] > 0 ? "more" : "new" : row.after[0] > 0 ? "less" : "gone";
  });
}

// The unit of a comparison: {a, b} divide the amounts of the sides, {text, signed} format them. While diff's own spans
// are compared, uses diff's unit, with its verdicts by table and name (`tables`). Otherwise two spans of one recording
// are compared per second, and two recordings by shares, because rates of single runs also depend on the speed of the
// machine. `varies`: how runs of the program vary. `runs`: for several runs per side, the divisor of each run.
function unitOf({model, state, sideA, sideB}) {
  const {compare: given, state: opened} = model.header, isSame = ["a", "b"].every(key => JSON.stringify(state[key]) === JSON.stringify(opened[key] ?? null));
  if (!given || (!isSame && model.recordings.length === 1)) {
    return {a: sideA.seconds, b: sideB.seconds, suffix: "/s", text: amountText, signed: signedAmount, runs: null, varies: USUAL, tables: null};
  }
  const sum = values => values.reduce((all, x) => all + x, 0), {before, after} = given;
  const runs = isSame && before.length > 1 && after.length > 1 ? [before, after] : null;
  const varies = isSame ? given : {...given, isJudged: true}, tables = isSame ? given.tables : null;
  if (isSame && !given.shares) return {a: sum(before), b: sum(after), suffix: given.suffix, text: amountText, signed: signedAmount, runs, varies, tables};
  const [a, b] = [sideA, sideB].map(side => new Side(side.samples, {time: side.filters.time}).total().bytes[0] || 1);
  return {a, b, suffix: "", text: percentText, signed: signedPercent, runs, varies, tables};
}

// The variance of the mean of several runs' values.
function varianceOfMean(values) {
  const n = values.length, mean = values.reduce((sum, x) => sum + x, 0) / n;
  return values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1) / n;
}

// P(|t| > x) for Student's t.
const studentTail = (x, freedom) => betaBelow(freedom / (freedom + x * x), freedom / 2, 0.5);

// The p-value of a change, given sampling error and variation between runs: CompareRuns of replicates.h, with its
// summary of all rows. `own`: the variance from the row's own runs.
function pOfRuns([before, after], variance, {deviation, freedom, margin, before: {length: n}, after: {length: m}}, own = 0) {
  const beyond = Math.abs(after - before) - margin * before, squares = before * before / n + after * after / m;
  if (!(beyond > 0)) return 1;
  const tail = (size, degrees) => studentTail(beyond / Math.sqrt(Math.max(variance + size * size * squares, own)), degrees);
  const p = tail(deviation, freedom + n + m - 2);
  return n + m > 2 ? p : (1 - UNSEEN_OUTLIER) * p + UNSEEN_OUTLIER * tail(OUTLIER_SIZE, OUTLIER_FREEDOM);
}

// From its interval, with one more sample.
function varianceOf([value, low, high]) {
  const below = value - low, above = high - value;
  return Math.max(below * above, 0) / (Z * Z) + (Math.max(above - below, 0) / (Z * Z)) ** 2;
}

// Sets p, q and verdict of a table's rows with the same rule as diff. `known`: diff's results for the whole recording,
// as [name, p, q, verdict], without rows that it did not test.
function judgeRows(rows, {varies}, known) {
  if (known) {
    const found = new Map(known.map(row => [row[0], row]));
    for (const row of rows) [, row.p, row.q, row.verdict] = found.get(row.name) || ["", 1, 1, "same"];
    return;
  }
  const sum = rows.reduce((all, {before, after}) => all + before[0] + after[0], 0);
  for (const row of rows) {
    const {before, after} = row, isAsked = varies.isJudged && row.leastP <= varies.fdr && before[0] + after[0] >= LEAST_SHARE * sum;
    if (!isAsked) row.p = row.leastP = 1;
    else row.p = Math.max(pOf(row), pOfRuns([before[0], after[0]], varianceOf(before) + varianceOf(after), varies));
  }
  judge(rows, varies.fdr);
}
