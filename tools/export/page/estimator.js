// Bytes, objects and share of a subset, each with its 95 % interval. A port of
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

// Student's t in place of z, as a factor on the variance.
function widening(sum, variance, fourth) {
  if (!(variance > 0) || !(sum > 0)) return 1;
  return 1 + (Z * Z + 1) / 4 * Math.max(fourth / (variance * variance) - variance / (sum * sum), 0);
}
const wideningOfBytes = of => widening(of.bytes, of.bytesVariance, of.bytesFourth);
const wideningOfObjects = of => widening(of.objects, of.objectsVariance, of.objectsFourth);
const exactly = value => [value, value, value];

class Estimator {
  // `basis`: of the header, with the sums of everything (`all`).
  constructor(basis) {
    Object.assign(this, basis);
    this.allCounted = this.byClass !== null;
    this.unit = this.all.bytes > 0 ? this.all.bytesVariance / this.all.bytes : 0;
  }

  unitBytes(variance, bytes) {
    const all = bytes + this.unit;
    return all > 0 ? (Math.max(variance, 0) + this.unit * this.unit) / all : 0;
  }

  unitObjects(of) {
    const typical = of.bytes > 0 ? this.unit * of.objects / of.bytes : this.unit / LEAST_OBJECT;
    const all = of.objects + typical;
    return all > 0 ? (of.objectsVariance + typical * typical) / all : 0;
  }

  total() {
    const missing = this.allCounted ? this.unwritten : this.lost;
    return this.knownTotal().map(x => x + missing);
  }

  knownTotal() {
    if (this.allCounted) return exactly(this.byClass);
    const {bytes, bytesVariance} = this.all, variance = this.calibrated ? this.uncountedVariance : bytesVariance;
    if (variance <= 0) return exactly(this.factor * bytes);
    return scaled(totalWithin(bytes, variance, this.unitBytes(variance, bytes)), this.factor);
  }

  // Of `whole`, which holds `of`; null: of everything.
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

  // The part and the rest vary on their own, so the part contributes its own variance to the whole's.
  shareWith(of, whole, varianceOfWhole) {
    if (whole.bytes <= 0) return [0, 0, 1];
    const share = Math.min(of.bytes / whole.bytes, 1), part = of.bytesVariance, all = whole.bytesVariance;
    const variance = Math.max((1 - 2 * share) * part + share * share * (all + varianceOfWhole), 0);
    const unit = (1 - share) * this.unitBytes(part, of.bytes) + share * this.unitBytes(all - part, Math.max(whole.bytes - of.bytes, 0));
    return shareWithin(share, wideningOfBytes(of) * variance / (whole.bytes * whole.bytes), unit / whole.bytes);
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
    return totalWithin(of.bytes, wideningOfBytes(of) * of.bytesVariance, this.unitBytes(of.bytesVariance, of.bytes));
  }

  objects(of) {
    if (of.unsized > 0 || (this.all.samples === 0 && this.lost > 0)) return UNKNOWN;
    const perByte = of.bytes > 0 ? of.objects / of.bytes : 1 / LEAST_OBJECT;
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
    return scaled(totalWithin(of.objects, wideningOfObjects(of) * variance, unit), this.factor);
  }
}
