// What a recording's page holds, as typed arrays: its kept samples, and behind them its rows, each of which represents all
// points of a class and path in a step of time. Both have sums that subsets add up. A port of WeightedSample in
// tools/analysis/estimate/weighted_sample.h.
//
// Bytes; times in seconds since the start of the recording. Nothing here is calibrated.

const NO_THREAD = 0xffffffff, NO_GROUP = -1;
const SUMS = ["samples", "bytes", "objects", "unsized", "seen", "bytesVariance", "objectsVariance", "covariance", "bytesFourth", "objectsFourth"];

const emptySums = n => Object.fromEntries(SUMS.map(name => [name, new Float64Array(n)]));

function makeSamples({header, columns}) {
  const kept = columns.second.length, n = kept + columns.row_step.length, f64 = () => new Float64Array(n), sums = emptySums(n), live = emptySums(kept);
  const joined = (samples, rows) => {
    const all = new Uint32Array(n).fill(NO_THREAD);
    all.set(samples);
    all.set(rows, kept);
    return all;
  };
  const s = {n, kept, header, columns, time: f64(), micros: f64(), cls: joined(columns.class, columns.row_class), node: joined(columns.node, columns.row_node),
    thread: joined(columns.thread, []), age: f64(), bytes: sums.bytes, alive: live.bytes, of: [sums, sums, sums, live]};
  for (let i = 0; i < kept; ++i) {
    s.micros[i] = columns.second[i] * 1e6 + columns.microsecond[i];
    const own = columns.weights[columns.weight[i]], size = columns.sizes[columns.size[i]], census = header.counted_of_class[columns.class[i]]?.[0] ?? 1;
    const factor = columns.recording.length > 0 ? header.factors[columns.recording[i]] : 1;
    addSample(sums, i, size, own * factor, header.has_no_chances ? 0 : Math.min(size, own / census), factor * census);
  }
  placeRows(s, sums);
  for (let i = 0; i < n; ++i) s.time[i] = s.micros[i] / 1e6;
  // What is alive at the end, by what samples represent then.
  columns.alive.forEach((i, k) => {
    const size = columns.sizes[columns.size[i]], weight = columns.alive_weight[k];
    addSample(live, i, size, weight, size, 1);
    live.bytesFourth[i] = live.objectsFourth[i] = 0;
    s.age[i] = columns.alive_age[k];
  });
  return s;
}

// The chance of an object is factor * seen / weight.
function addSample(sums, i, size, weight, seen, factor) {
  const objects = size > 0 ? weight / size : 0, exclusion = weight > 0 ? 1 - factor * seen / weight : 0;
  sums.samples[i] = 1;
  sums.bytes[i] = weight;
  sums.objects[i] = objects;
  sums.unsized[i] = objects > 0 ? 0 : 1;
  sums.seen[i] = seen;
  sums.bytesVariance[i] = exclusion * weight * weight;
  sums.objectsVariance[i] = exclusion * objects * objects;
  sums.covariance[i] = exclusion * weight * objects;
  sums.bytesFourth[i] = sums.bytesVariance[i] ** 2;
  sums.objectsFourth[i] = sums.objectsVariance[i] ** 2;
}

// A row is in the middle of its step.
function placeRows(s, sums) {
  const {columns: c, kept, header} = s, begin = header.begin_ns / 1e3;
  s.steps = Float64Array.from([begin, ...c.step_end.map(ns => Math.min(ns, header.end_ns) / 1e3)]);  // microseconds
  c.row_step.forEach((step, i) => { s.micros[kept + i] = (s.steps[step] + s.steps[step + 1]) / 2; });
  sums.samples.set(c.row_points, kept);
  for (const name of SUMS) if (name !== "samples" && name !== "unsized") sums[name].set(c["row_" + name], kept);
}

// `groups`: samples and rows of one class and path have one number.
function groupSamples(s, {parent, name}, isPrimitive, notKept) {
  const {header: {longest_path: longest}, kept, n} = s, children = new Map(), known = new Map(), numbers = new Numbering();
  s.group = new Int32Array(n).fill(NO_GROUP);
  if (n === kept) return;
  const pair = (one, other) => one * 4194304 + other;
  const isPath = new Uint8Array(parent.length);
  isPath[notKept] = 1;
  for (let node = notKept + 1; node < parent.length; ++node) {
    if (!isPath[parent[node]]) continue;
    isPath[node] = 1;
    children.set(pair(parent[node], name[node]), node);
  }
  for (let i = kept; i < n; ++i) s.group[i] = numbers.of(pair(s.node[i], s.cls[i]));
  const pathOf = leaf => {
    const frames = [];
    for (let at = leaf; at > 0 && frames.length < longest; at = parent[at]) {
      frames.push(name[at]);
      if (!isPrimitive[name[at]]) break;
    }
    return frames.reduceRight((node, frame) => children.get(pair(node, frame)) ?? NO_GROUP, notKept);
  };
  for (let i = 0; i < kept; ++i) {
    const node = s.node[i];
    if (!known.has(node)) known.set(node, pathOf(node));
    s.group[i] = numbers.numbers.get(pair(known.get(node), s.cls[i])) ?? NO_GROUP;
  }
  s.groups = numbers.keys.length;
}

// By which samples of a time are multiplied, so that those of a class and path add up to its rows; rows of which no
// sample was kept are drawn as they are.
function calibrationOf(s, from, to) {
  const {n, kept, group, micros, bytes} = s, ofSamples = new Float64Array(s.groups), ofRows = new Float64Array(s.groups);
  const visit = (begin, end, sums) => {
    for (let i = begin; i < end; ++i) if (group[i] >= 0 && micros[i] >= from && micros[i] < to) sums[group[i]] += bytes[i];
  };
  visit(0, kept, ofSamples);
  visit(kept, n, ofRows);
  return Float64Array.from(group, (g, i) => g < 0 ? 1 : i >= kept ? ofSamples[g] > 0 ? 0 : 1 : ofSamples[g] > 0 ? ofRows[g] / ofSamples[g] : 1);
}
