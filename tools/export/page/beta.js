// The beta distribution. A port of tools/analysis/estimate/beta.h, name for name.

const MANY_COUNTS = 1e6, TINY = 1e-300, MOST_STEPS = 20000;

// Lanczos' approximation with g = 7 and nine terms: relative error below 1e-14.
const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
function lgamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - lgamma(1 - x);
  const t = x + 6.5, sum = LANCZOS.reduce((all, c, i) => i === 0 ? c : all + c / (x - 1 + i), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// Of the standard normal: P(|N| > x sqrt 2). The continued fraction where it converges fast, else the series.
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
