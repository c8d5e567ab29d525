// Running sums over the samples of many subsets at once (the rows of a table): what their estimates need. A port of
// Subset in tools/analysis/estimate/subset.h, name for name; the sums of a subset lie side by side in one array.
//
// Samples must come in their order. Maths: docs/estimates.md#variance

const SHORT_GAP = 2;                              // a gap of so few samples is a rare node itself, and rounds like one
const SAME = 1e-9;                                // sums of the same samples in another order may differ by rounding

// Places of the sums of one subset. A Spread is three: bytes, objects, both. An end (of a run on the line) is END long.
const AT = {
  samples: 0, unknown: 1, unsized: 2, bytes: 3, objects: 4, seen: 5, squares: 6, bytesFourth: 7, objectsFourth: 8,
  independent: 9, first: 12, second: 15, rounded: 18, whole: 21, cut: 22, line: 23, inLine: 24, runs: 25,
  firstProduct: 26, begin: 29, run: 38, last: 47, stride: 56,
};
const NOTHING = [[0, 0, 0], [0, 0, 0]];
const END = {weight: 0, objects: 1, loose: 2, rounding: 3, next: 4, perByte: 5, earlier: 6, rank: 7, parted: 8, size: 9};

const NO_CLASS = -1, SEVERAL = -2;

class Subsets {
  // `grain`: the finest grain that has a say in what belongs to a subset. `oneClass`: each holds one class, whole.
  constructor(samples, count, grain, oneClass = false) {
    this.s = samples;
    this.count = count;
    this.grain = grain;
    this.oneClass = oneClass && grain === GRAIN.kClass;
    this.sums = new Float64Array(count * AT.stride);
    this.next = new Float64Array(END.size);       // scratch: the end that begins a run
    this.product = new Float64Array(3);           // scratch
    this.pieces = samples.strata.length > 0 ? Array.from({length: count}, () => new Map()) : null;
    this.classes = this.pieces && this.oneClass ? new Int32Array(count).fill(NO_CLASS) : null;
  }

  add(subset, i) {
    const s = this.s, a = this.sums, at = subset * AT.stride, w = s.weight[i], o = s.objects[i];
    ++a[at + AT.samples];
    a[at + AT.bytes] += w;
    a[at + AT.objects] += o;
    if (!(o > 0)) ++a[at + AT.unsized];
    a[at + AT.seen] += s.size[i];
    a[at + AT.squares] += w * w;
    const notSure = s.notSure[i], bytes = notSure * w * w, objects = notSure * o * o, first = s.firstPart[i];
    a[at + AT.independent] += bytes;
    a[at + AT.independent + 1] += objects;
    a[at + AT.independent + 2] += notSure * w * o;
    a[at + AT.bytesFourth] += bytes * bytes;
    a[at + AT.objectsFourth] += objects * objects;
    a[at + AT.first] += first * w * w;
    a[at + AT.first + 1] += first * o * o;
    a[at + AT.first + 2] += first * w * o;
    if (s.stratum[i] < 0) ++a[at + AT.unknown];
    else this.addPiece(subset, i, w, o, first);
    if (s.line[i] === 0) return;
    const loose = s.loose[i];
    a[at + AT.second] += loose * w * w;
    a[at + AT.second + 1] += loose * o * o;
    a[at + AT.second + 2] += loose * w * o;
    this.addToLine(at, i);
  }

  addPiece(subset, i, w, o, first) {
    if (this.classes) {
      const known = this.classes[subset], cls = this.s.cls[i];
      this.classes[subset] = known === NO_CLASS || known === cls ? cls : SEVERAL;
    }
    const pieces = this.pieces[subset], stratum = this.s.stratum[i];
    let piece = pieces.get(stratum);
    if (!piece) pieces.set(stratum, piece = {stratum: this.s.strata[stratum], bytes: 0, objects: 0, first: [0, 0, 0]});
    piece.bytes += w;
    piece.objects += o;
    piece.first[0] += first * w * w;
    piece.first[1] += first * o * o;
    piece.first[2] += first * w * o;
  }

  addToLine(at, i) {
    const a = this.sums, s = this.s, last = at + AT.last, rank = s.rank[i];
    const before = rank > 0 ? i - 1 : i + s.inLine[i] - 1;
    if (s.line[i] === a[at + AT.line] && rank === a[last + END.rank] + 1) {
      const loose = -(a[last + END.loose] + s.loose[i]) / 2, w = a[last + END.weight], o = a[last + END.objects];
      a[at + AT.second] += loose * w * s.weight[i];
      a[at + AT.second + 1] += loose * o * s.objects[i];
      a[at + AT.second + 2] += loose * (w * s.objects[i] + o * s.weight[i]) / 2;
      if (s.parted[before] > this.grain) ++a[at + AT.whole];
    } else {
      this.beginRun(at, i, before);
    }
    this.setEnd(a, last, at, i, s.parted[i], this.roundingOf(rank + 1 < s.inLine[i] ? i + 1 : i - rank, s.parted[i]));
  }

  roundingOf(i, grain) { return this.s.rounding[i * (NODES + 1) + grain]; }

  setEnd(into, end, at, i, parted, next) {
    const s = this.s, a = this.sums;
    const earlier = a[at + AT.line] > 0 ? a[at + AT.last + END.perByte] : s.perByte[i];
    into[end + END.weight] = s.weight[i];
    into[end + END.objects] = s.objects[i];
    into[end + END.loose] = s.loose[i];
    into[end + END.rounding] = this.roundingOf(i, Math.max(this.grain, parted));
    into[end + END.next] = next;
    into[end + END.perByte] = s.perByte[i];
    into[end + END.earlier] = earlier;
    into[end + END.rank] = s.rank[i];
    into[end + END.parted] = parted;
  }

  beginRun(at, i, before) {
    const a = this.sums, parted = this.s.parted[before];
    this.setEnd(this.next, 0, at, i, parted, this.roundingOf(before, parted));
    if (this.s.line[i] === a[at + AT.line]) {
      this.endRun(at);
      a.set(this.next, at + AT.run);
      return;
    }
    const [circle, rounded] = this.pending(at);
    for (let k = 0; k < 3; ++k) {
      a[at + AT.second + k] += circle[k];
      a[at + AT.rounded + k] += rounded[k];
    }
    a[at + AT.line] = this.s.line[i];
    a[at + AT.inLine] = this.s.inLine[i];
    a[at + AT.runs] = 1;
    a.set(this.next, at + AT.begin);
    a.set(this.next, at + AT.run);
  }

  // The latest run is over, and one begins with this.next.
  endRun(at) {
    const a = this.sums, last = at + AT.last, run = at + AT.run, next = this.next;
    a[at + AT.cut] += (a[last + END.parted] > this.grain) + (next[END.parted] > this.grain);
    if (next[END.rank] - a[last + END.rank] - 1 <= SHORT_GAP) {
      a[last + END.rounding] = Math.max(a[last + END.rounding], a[last + END.next]);
      next[END.rounding] = Math.max(next[END.rounding], next[END.next]);
    }
    const product = this.productOfEnds(run, last);
    const isFirst = a[at + AT.runs] === 1;
    for (let k = 0; k < 3; ++k) {
      a[at + AT.rounded + k] += (a[last + END.rounding] - 1) / 2 * product[k];
      if (isFirst) a[at + AT.firstProduct + k] = product[k];
      else a[at + AT.rounded + k] += (a[run + END.rounding] - 1) / 2 * product[k];
    }
    ++a[at + AT.runs];
  }

  // An estimate of the square of what is the same in the whole run, so of two samples.
  productOfEnds(first, last) {
    const a = this.sums, product = this.product, w = a[first + END.weight], o = a[first + END.objects];
    const otherWeight = a[last + END.weight], loose = (a[first + END.loose] + a[last + END.loose]) / 2;
    const otherObjects =
      a[first + END.rank] === a[last + END.rank] ? otherWeight * a[first + END.earlier] : a[last + END.objects];
    product[0] = loose * w * otherWeight;
    product[1] = loose * o * otherObjects;
    product[2] = loose * (w * otherObjects + o * otherWeight) / 2;
    return product;
  }

  // What the interval at hand still adds: to the second stage, and to what rounding takes off.
  pending(at) {
    const a = this.sums;
    if (a[at + AT.runs] === 0) return NOTHING;
    const circle = [0, 0, 0], rounded = [0, 0, 0];
    const last = at + AT.last, begin = at + AT.begin, run = at + AT.run, many = a[at + AT.runs] > 1;
    const product = Array.from(this.productOfEnds(run, last));
    if (many) for (let k = 0; k < 3; ++k) rounded[k] += (a[run + END.rounding] - 1) / 2 * product[k];
    const gap = a[begin + END.rank] + a[at + AT.inLine] - a[last + END.rank] - 1;
    if (gap === 0) {
      const loose = -(a[last + END.loose] + a[begin + END.loose]) / 2;
      const [w, o, v, p] = [a[last + END.weight], a[last + END.objects], a[begin + END.weight], a[begin + END.objects]];
      return [[loose * w * v, loose * o * p, loose * (w * p + o * v) / 2], rounded];
    }
    let ofLast = a[last + END.rounding], ofBegin = a[begin + END.rounding];
    if (gap <= SHORT_GAP) {
      ofLast = Math.max(ofLast, a[last + END.next]);
      ofBegin = Math.max(ofBegin, a[begin + END.next]);
    }
    for (let k = 0; k < 3; ++k) {
      rounded[k] += (ofLast - 1) / 2 * product[k];
      rounded[k] += (ofBegin - 1) / 2 * (many ? a[at + AT.firstProduct + k] : product[k]);
    }
    return [circle, rounded];
  }

  get(subset) { return new Subset(this, subset); }
}

// One of them, once all its samples were added.
class Subset {
  constructor(subsets, index) {
    const a = subsets.sums, at = index * AT.stride, spread = place => [a[at + place], a[at + place + 1], a[at + place + 2]];
    this.samples = a[at + AT.samples];
    this.bytes = a[at + AT.bytes];
    this.objects = a[at + AT.objects];
    this.unsized = a[at + AT.unsized];
    this.seen = a[at + AT.seen];
    this.squares = a[at + AT.squares];
    this.bytesFourth = a[at + AT.bytesFourth];
    this.objectsFourth = a[at + AT.objectsFourth];
    this.independent = spread(AT.independent);
    this.first = spread(AT.first);
    this.unknown = a[at + AT.unknown];
    const cls = subsets.classes ? subsets.classes[index] : NO_CLASS;
    this.counted = cls >= 0 ? subsets.s.countedOfClass[cls] : null;  // of its class
    this.pieces = subsets.pieces ? [...subsets.pieces[index].values()] : [];
    this.chain = this.wholeChain(subsets, at, spread);
  }

  wholeChain(subsets, at, spread) {
    const a = subsets.sums, [circle, pending] = subsets.pending(at), rounded = spread(AT.rounded), second = spread(AT.second);
    const whole = 2 * a[at + AT.whole], cut = a[at + AT.cut], share = whole + cut > 0 ? whole / (whole + cut) : 1;
    return [0, 1, 2].map(k => share * (rounded[k] + pending[k]) + this.first[k] + second[k] + circle[k]);
  }

  // Of the totals as they are, with what a census knows of the strata.
  remaining() {
    const known = this.knownStrata();
    if (known && known.all !== null) return [0, 0, 0];
    const spread = [...this.chain];
    for (const piece of this.pieces) explained(piece).forEach((part, k) => { spread[k] -= part; });
    return [Math.max(spread[0], 0), Math.max(spread[1], 0), spread[2]];
  }

  bytesWithAll() {
    let covariance = this.first[0];
    for (const p of this.pieces) covariance -= p.stratum.known * p.first[0] + p.bytes / p.stratum.bytes * shiftOf(p.stratum);
    return Math.max(covariance, 0);
  }

  objectsWithAll() {
    let covariance = this.first[2];
    for (const p of this.pieces) {
      covariance -= p.stratum.known * p.first[2] + p.objects / p.stratum.bytes * shiftOf(p.stratum);
    }
    return covariance;
  }

  // Covariance of the bytes of this with those of a subset that holds it.
  bytesWith(whole) {
    let covariance = this.first[0];
    for (const piece of this.pieces) {
      const other = whole.pieces.find(p => p.stratum === piece.stratum);
      if (!other) continue;
      const one = piece.bytes / piece.stratum.bytes, all = other.bytes / piece.stratum.bytes;
      covariance -= piece.stratum.known * (one * other.first[0] + all * piece.first[0]) - one * all * sharedOf(piece.stratum);
    }
    return covariance;
  }

  // {bytes, sampled, all}: the strata of this, if all was counted in each of them; else null.
  knownStrata() {
    if (this.pieces.length === 0 || this.unknown > 0) return null;
    const known = {bytes: 0, sampled: 0, largestShare: 0, all: null};
    for (const {stratum, bytes} of this.pieces) {
      if (stratum.known !== 1) return null;
      known.bytes += stratum.bytes;
      known.sampled += stratum.sampled;
      known.largestShare = Math.max(known.largestShare, bytes / stratum.bytes);
    }
    // [bytes, objects]; not if a filter left out some of the class's samples.
    if (this.counted && this.bytes >= this.counted[2] * (1 - SAME)) known.all = this.counted;
    return known;
  }
}

const sharedOf = stratum => stratum.known * stratum.known * (stratum.sampled + stratum.counted);
const shiftOf = stratum => stratum.known * stratum.sampled - sharedOf(stratum);

// How much of the variance the census takes away.
function explained({stratum, bytes, objects, first}) {
  const b = bytes / stratum.bytes, o = objects / stratum.bytes, k = stratum.known, shared = sharedOf(stratum);
  return [2 * k * b * first[0] - b * b * shared, 2 * k * o * first[2] - o * o * shared,
    k * (o * first[0] + b * first[2]) - b * o * shared];
}
