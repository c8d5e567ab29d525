// What is alive: bytes of many groups with their intervals, from the samples that the recorder still tracked at the end
// of the recording. A port of tools/analysis/live/live_sum.h.

class LiveSums {
  constructor(count) {
    this.count = count;
    for (const name of ["samples", "bytes", "variance", "seen"]) this[name] = new Float64Array(count);
  }
  add(group, weight, size) {
    ++this.samples[group];
    this.bytes[group] += weight;
    this.variance[group] += weight * (weight - size);
    this.seen[group] += size;
  }
  total(group) {
    return {samples: this.samples[group], bytes: this.bytes[group], variance: this.variance[group], seen: this.seen[group]};
  }
}

function liveUnit(variance, total, typical) {
  const all = total + typical;
  return all > 0 ? (variance + typical * typical) / all : 0;
}

// `unit`: bytes that a live sample of the recording stands for.
function liveBytes(of, unit) {
  const [value, low, high] = totalWithin(of.bytes, of.variance, liveUnit(of.variance, of.bytes, unit));
  return [value, Math.max(low, Math.min(of.seen, value)), high];
}

function liveShare(of, whole, unit) {
  if (!(whole.bytes > 0)) return [0, 0, 1];
  const share = of.bytes / whole.bytes, others = Math.max(whole.variance - of.variance, 0);
  const variance = of.variance * (1 - 2 * share) + share * share * whole.variance;
  const one = (1 - share) * liveUnit(of.variance, of.bytes, unit) + share * liveUnit(others, whole.bytes - of.bytes, unit);
  return shareWithin(share, variance / (whole.bytes * whole.bytes), one / whole.bytes);
}
