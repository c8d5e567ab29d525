// Bytes, objects, share and mean size of a subset, each with its 95 % interval. A port of
// tools/analysis/estimate/estimator.h and confidence_interval.h, name for name. An estimate is [value, low, high].

const Z = 1.959963984540054;
const LEAST_OBJECT = 16;                          // bytes: no object of HotSpot is smaller
const UNKNOWN = [NaN, NaN, NaN];

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const scaled = ([value, low, high], factor) => [value * factor, low * factor, high * factor];
const around = (value, low, high) => [value, clamp(low, 0, value), Math.max(high, value)];

// The upper end of an amount beside `rest`, as odds of it to the rest; for an infinite rest, as an amount.
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

function totalWithin(value, variance, unit) {
  return around(value, lowerEnd(value, variance), upperEnd(value, Infinity, variance, unit));
}

function shareWithin(value, variance, unit) {
  const rest = 1 - value;
  return around(value, 1 - shareOfOdds(upperEnd(rest, value, variance, unit)),
    Math.min(shareOfOdds(upperEnd(value, rest, variance, unit)), 1));
}

function ratioWithin(value, variance, effective) {
  if (!(effective >= 2)) return [value, 0, Infinity];
  const freedom = effective - 1, second = (5 * Z ** 4 + 16 * Z * Z + 3) / (96 * freedom * freedom);
  const t = Z * (1 + (Z * Z + 1) / (4 * freedom) + second), half = t * Math.sqrt(Math.max(variance, 0) * (1 + 1 / freedom));
  return around(value, value - half, value + half);
}

// Student's t in place of z, as a factor on the variance.
function widening(sum, variance, fourth) {
  if (!(variance > 0) || !(sum > 0)) return 1;
  return 1 + (Z * Z + 1) / 4 * Math.max(fourth / (variance * variance) - variance / (sum * sum), 0);
}
const wideningOfBytes = of => widening(of.bytes, of.independent[0], of.bytesFourth);
const wideningOfObjects = of => widening(of.objects, of.independent[1], of.objectsFourth);

class Estimator {
  // `design`: of the header. `all`: all samples. `uncounted`: those of intervals that nobody counted.
  constructor(design, all, uncounted) {
    this.all = all;
    this.lost = design.lost;
    this.unwritten = design.unwritten;
    this.unit = all.bytes > 0 ? all.independent[0] / all.bytes : 0;
    const known = all.knownStrata();
    this.allCounted = known !== null;
    this.counted = known ? known.bytes : null;    // the counted whole of all
    this.calibrated = this.allCounted || design.calibrated;
    this.factor = this.allCounted ? 1 : design.factor;
    this.variance = design.variance_of_bytes;
    this.uncountedVariance = this.calibrated && !this.allCounted ? uncounted.bytesWithAll() : 0;
  }

  unitBytes(variance, bytes) {
    const all = bytes + this.unit;
    return all > 0 ? (Math.max(variance, 0) + this.unit * this.unit) / all : 0;
  }

  unitObjects(of) {
    const typical = of.bytes > 0 ? this.unit * of.objects / of.bytes : this.unit / LEAST_OBJECT;
    const all = of.objects + typical;
    return all > 0 ? (Math.max(of.chain[1], 0) + typical * typical) / all : 0;
  }

  total() {
    const known = this.all.knownStrata(), all = this.all.bytes;
    const variance = this.calibrated ? this.uncountedVariance : this.variance;
    let total = scaled(totalWithin(all, variance, this.unitBytes(variance, all)), this.factor);
    if (variance <= 0) total = [this.factor * all, this.factor * all, this.factor * all];
    if (known) total = [known.bytes, known.bytes, known.bytes];
    return total.map(x => x + (known ? this.unwritten : this.lost));
  }

  // What shares of `whole` are of; null: of all.
  whole(whole) { return whole === null && this.counted !== null ? this.counted : this.factor * (whole || this.all).bytes; }

  share(of, whole = null) {
    const counted = whole === null && this.counted !== null;
    const known = this.whole(whole), all = known + (this.allCounted ? this.unwritten : this.lost);
    if (counted && of.knownStrata()) {
      const [value, low, high] = this.bytes(of);
      return [value / known, low / all, Math.min(high / all, 1)];
    }
    const share = whole !== null ? this.shareOfAny(of, whole) : this.shareWith(of, this.all, 0);
    if (!(this.lost > 0) || !(all > 0)) return share;
    const inMemory = this.allCounted ? this.lost - this.unwritten : 0;
    return [share[0], Math.max(share[1] * known - inMemory, 0) / all, Math.min((share[2] * known + this.lost) / all, 1)];
  }

  // Of what filters left. Its total is estimated, too: the part and the rest of it vary on their own.
  shareOfAny(of, whole) {
    if (whole.bytes <= 0) return [0, 0, 1];
    const share = Math.min(of.bytes / whole.bytes, 1), chain = of.chain[0], rest = Math.max(whole.chain[0] - chain, 0);
    if (of.samples === whole.samples) return [share, share, share];
    const variance = Math.max((1 - 2 * share) * of.remaining()[0] + share * share * whole.remaining()[0], 0);
    const unit = (1 - share) * this.unitBytes(chain, of.bytes) + share * this.unitBytes(rest, Math.max(whole.bytes - of.bytes, 0));
    return shareWithin(share, wideningOfBytes(of) * variance / (whole.bytes * whole.bytes), unit / whole.bytes);
  }

  shareWith(of, whole, varianceOfWhole) {
    if (whole.bytes <= 0) return [0, 0, 1];
    const share = of.bytes / whole.bytes, chain = of.chain[0];
    const variance = of.remaining()[0] - 2 * share * of.bytesWith(whole) +
      share * share * (whole.bytesWith(whole) + varianceOfWhole);
    const others = chain + whole.first[0] - 2 * of.first[0];
    const unit = (1 - share) * this.unitBytes(chain, of.bytes) + share * this.unitBytes(others, whole.bytes - of.bytes);
    return shareWithin(share, wideningOfBytes(of) * variance / (whole.bytes * whole.bytes), unit / whole.bytes);
  }

  bytesWithin(strata, of) {
    if (strata.all !== null) return Array(3).fill(strata.all[0]);
    const share = Math.min(of.bytes / strata.bytes, 1), chain = of.chain[0], rest = Math.max(strata.bytes - of.bytes, 0);
    const others = chain + strata.sampled - 2 * of.first[0];
    const unit = (1 - share) * this.unitBytes(chain, of.bytes) + share * this.unitBytes(others, rest);
    const variance = wideningOfBytes(of) * of.remaining()[0];
    return scaled(shareWithin(share, variance / (strata.bytes * strata.bytes), unit / strata.bytes), strata.bytes);
  }

  // `perByte`: 1, or objects per byte for objects.
  allowForLost([value, low, high], of, perByte) {
    const lost = perByte * this.lost, unwritten = perByte * this.unwritten, strata = this.allCounted ? of.knownStrata() : null;
    if (strata && strata.all !== null) return [value, low, high + unwritten];
    const counted = strata ? strata.largestShare * (lost - unwritten) : 0;
    return [value, Math.max(low - counted, 0), high + lost];
  }

  bytes(of) {
    const [value, low, high] = this.allowForLost(this.knownBytes(of), of, 1);
    return [value, Math.max(low, Math.min(of.seen, value)), high];
  }

  knownBytes(of) {
    const strata = this.allCounted ? of.knownStrata() : null;
    if (strata) return this.bytesWithin(strata, of);
    if (this.calibrated) return scaled(this.shareWith(of, this.all, this.uncountedVariance), this.factor * this.all.bytes);
    const variance = wideningOfBytes(of) * of.remaining()[0];
    return totalWithin(of.bytes, variance, this.unitBytes(of.chain[0], of.bytes));
  }

  objects(of) {
    if (of.unsized > 0) return UNKNOWN;
    const perByte = of.bytes > 0 ? of.objects / of.bytes : 1 / LEAST_OBJECT;
    const [value, low, high] = this.allowForLost(this.knownObjects(of), of, perByte);
    return [value, Math.max(low, Math.min(of.samples, value)), high];
  }

  knownObjects(of) {
    const strata = this.allCounted ? of.knownStrata() : null;
    if (strata && strata.all !== null) return Array(3).fill(strata.all[1]);
    const raw = of.chain[1];
    let variance = of.remaining()[1], unit = this.unitObjects(of);
    if (this.calibrated) {
      const perByte = this.all.bytes > 0 ? of.objects / this.all.bytes : 0;
      variance += -2 * perByte * of.objectsWithAll() + perByte * perByte * (this.all.bytesWithAll() + this.uncountedVariance);
      if (raw > 0) unit *= clamp(variance / raw, 0, 1);
    }
    const objects = scaled(totalWithin(of.objects, wideningOfObjects(of) * variance, unit), this.factor);
    if (strata && of.bytes > 0) {
      const [, low, high] = scaled(this.bytesWithin(strata, of), objects[0] / of.bytes);
      objects[1] = Math.min(objects[1], low);
      objects[2] = Math.max(objects[2], high);
    }
    return objects;
  }

  meanSize(of) {
    if (of.unsized > 0) return UNKNOWN;
    if (of.objects <= 0) return ratioWithin(0, 0, 0);
    const mean = of.bytes / of.objects, strata = of.knownStrata();
    if (strata && strata.all !== null && strata.all[1] > 0) return scaled([1, 1, 1], strata.all[0] / strata.all[1]);
    const [bytes, objects, both] = of.remaining(), variance = bytes - 2 * mean * both + mean * mean * objects;
    const kish = of.objects * of.objects / of.independent[1];
    return ratioWithin(mean, variance / (of.objects * of.objects), Math.min(of.samples, kish));
  }
}
