// Running sums over many subsets at once (the rows of a table): what their estimates need. A port of Subset in
// tools/analysis/estimate/subset.h, name for name. Maths: docs/estimates.md#variance

// How a sum grows if all weights are multiplied.
const POWERS = {samples: 0, bytes: 1, objects: 1, unsized: 0, seen: 0, bytesVariance: 2, objectsVariance: 2, covariance: 2, bytesFourth: 4, objectsFourth: 4};
const POWER = SUMS.map(name => POWERS[name]);

class Subsets {
  // `of`: sums of each sample.
  constructor(of, count) { Object.assign(this, {of: SUMS.map(name => of[name]), sums: new Float64Array(count * SUMS.length)}); }
  add(subset, i, factor = 1) {
    const {sums, of} = this, at = subset * SUMS.length;
    if (factor === 1) for (let k = 0; k < SUMS.length; ++k) sums[at + k] += of[k][i];
    else for (let k = 0; k < SUMS.length; ++k) sums[at + k] += of[k][i] * factor ** POWER[k];
  }
  has(subset) { return this.sums[subset * SUMS.length] > 0; }
  // `counted`: bytes and objects, if it is one complete class that a census counted.
  get(subset, counted = null) {
    const one = {counted};
    SUMS.forEach((name, k) => { one[name] = this.sums[subset * SUMS.length + k]; });
    return one;
  }
}
