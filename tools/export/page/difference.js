// What two estimates that were drawn apart say of each other. A port of tools/analysis/estimate/difference.h, name for
// name. Estimates are [value, low, high]. Ratios are computed only when they are asked for: they cost the most.

const JEFFREYS = 0.5, TAIL = 0.025, CERTAIN = 1e7;
// Of a single pair, where nothing more is known: replicates.cc.
const USUAL = {deviation: 0.035, freedom: 4, margin: 0, fdr: 0.05, isJudged: true, before: [1], after: [1]};
const UNSEEN_OUTLIER = 0.003, OUTLIER_SIZE = 0.35, OUTLIER_FREEDOM = 2, LEAST_SHARE = 0.005;

const weightByEnd = (reach, end) => reach > 0 ? reach * reach / (Z * Z * Math.max(end, reach * 1e-9)) : 0;

// As many samples of one weight as tell what an estimate tells, on the side where the truth would be.
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

// {before, after, change, p, leastP}; q and verdict are for judge. p costs the most: pOf finds it where it is NaN.
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

// Jeffreys' interval of after / before.
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

// Benjamini and Hochberg's procedure: of the rows that are said to differ, on average at most `rate` do not.
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

// In what the sides of a comparison are measured: {a, b} divide their amounts, {text, signed} write them. As diff does
// while its own spans are compared, with its verdicts by table and name (`tables`). Else two spans of one recording
// compare per second, two recordings by shares: rates of single runs also show how fast the machine was. `varies`: how
// runs of the program vary. `runs`: of several runs of each side what divides the amounts of each.
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

// The variance of the mean of values that runs have.
function varianceOfMean(values) {
  const n = values.length, mean = values.reduce((sum, x) => sum + x, 0) / n;
  return values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1) / n;
}

// P(|t| > x) of Student's t.
const studentTail = (x, freedom) => betaBelow(freedom / (freedom + x * x), freedom / 2, 0.5);

// The p-value of a change beside sampling error and what runs vary by: CompareRuns of replicates.h, with the summary of
// what it found in all rows. `own`: the variance that the row's own runs show.
function pOfRuns([before, after], variance, {deviation, freedom, margin, before: {length: n}, after: {length: m}}, own = 0) {
  const beyond = Math.abs(after - before) - margin * before, squares = before * before / n + after * after / m;
  if (!(beyond > 0)) return 1;
  const tail = (size, degrees) => studentTail(beyond / Math.sqrt(Math.max(variance + size * size * squares, own)), degrees);
  const p = tail(deviation, freedom + n + m - 2);
  return n + m > 2 ? p : (1 - UNSEEN_OUTLIER) * p + UNSEEN_OUTLIER * tail(OUTLIER_SIZE, OUTLIER_FREEDOM);
}

// By its interval, with one sample more.
function varianceOf([value, low, high]) {
  const below = value - low, above = high - value;
  return Math.max(below * above, 0) / (Z * Z) + (Math.max(above - below, 0) / (Z * Z)) ** 2;
}

// Sets p, q and verdict of a table's rows, by one rule with diff. `known`: what diff said of all that was recorded, as
// [name, p, q, verdict]: it does not name rows that it did not test.
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
