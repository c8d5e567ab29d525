// The data of the page: base64 of a zlib stream with a JSON header and columns of numbers. Each column is stored in
// planes of bytes (all lowest bytes first), which compress better. Written by report_page.cc.

function bytesOfBase64(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const COLUMN_TYPES = {u8: Uint8Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array};

// The columns after the header: {name: typed array}.
function readColumns(bytes, offset, layout) {
  const columns = {};
  for (const [name, type, count] of layout) {
    const Type = COLUMN_TYPES[type], width = Type.BYTES_PER_ELEMENT, plain = new Uint8Array(count * width);
    for (let plane = 0; plane < width; ++plane) {
      const from = offset + plane * count;
      for (let i = 0, to = plane; i < count; ++i, to += width) plain[to] = bytes[from + i];
    }
    columns[name] = new Type(plain.buffer);
    offset += count * width;
  }
  return columns;
}

// Returns {header, columns} from the text of a data element.
async function unpack(base64) {
  const bytes = await inflate(bytesOfBase64(base64.trim()));
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return {header, columns: readColumns(bytes, 4 + length, header.columns)};
}

// The data of a recording as typed arrays: its kept samples, followed by its rows, each of which represents all points
// of a class and path in a step of time. Subsets add their sums. A port of WeightedSample in
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
  // Live bytes at the end, as represented by samples at that time.
  columns.alive.forEach((i, k) => {
    const size = columns.sizes[columns.size[i]], weight = columns.alive_weight[k];
    addSample(live, i, size, weight, size, 1);
    live.bytesFourth[i] = live.objectsFourth[i] = 0;
    s.age[i] = columns.alive_age[k];
  });
  return s;
}

// The probability of an object is factor * seen / weight.
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

// A row is placed in the middle of its step.
function placeRows(s, sums) {
  const {columns: c, kept, header} = s, begin = header.begin_ns / 1e3;
  s.steps = Float64Array.from([begin, ...c.step_end.map(ns => Math.min(ns, header.end_ns) / 1e3)]);  // microseconds
  c.row_step.forEach((step, i) => { s.micros[kept + i] = (s.steps[step] + s.steps[step + 1]) / 2; });
  sums.samples.set(c.row_points, kept);
  for (const name of SUMS) if (name !== "samples" && name !== "unsized") sums[name].set(c["row_" + name], kept);
}

// `groups`: samples and rows with the same class and path have the same number.
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

// Factors for the samples of a time range, so that those of a class and path add up to its rows. Rows without kept
// samples are used directly.
function calibrationOf(s, from, to) {
  const {n, kept, group, micros, bytes} = s, ofSamples = new Float64Array(s.groups), ofRows = new Float64Array(s.groups);
  const visit = (begin, end, sums) => {
    for (let i = begin; i < end; ++i) if (group[i] >= 0 && micros[i] >= from && micros[i] < to) sums[group[i]] += bytes[i];
  };
  visit(0, kept, ofSamples);
  visit(kept, n, ofRows);
  return Float64Array.from(group, (g, i) => g < 0 ? 1 : i >= kept ? ofSamples[g] > 0 ? 0 : 1 : ofSamples[g] > 0 ? ofRows[g] / ofSamples[g] : 1);
}

// Sums of many subsets at once (the rows of a table), for their estimates. A port of Subset in
// tools/analysis/estimate/weighted_sample.h. Maths: docs/estimates.md#variance

// The power with which a sum grows if all weights are multiplied.
const POWERS = {samples: 0, bytes: 1, objects: 1, unsized: 0, seen: 0, bytesVariance: 2, objectsVariance: 2, covariance: 2, bytesFourth: 4, objectsFourth: 4};
const POWER = SUMS.map(name => POWERS[name]);

class Subsets {
  // `of`: the terms of each sample.
  constructor(of, count) { Object.assign(this, {of: SUMS.map(name => of[name]), sums: new Float64Array(count * SUMS.length)}); }
  add(subset, i, factor = 1) {
    const {sums, of} = this, at = subset * SUMS.length;
    if (factor === 1) for (let k = 0; k < SUMS.length; ++k) sums[at + k] += of[k][i];
    else for (let k = 0; k < SUMS.length; ++k) sums[at + k] += of[k][i] * factor ** POWER[k];
  }
  has(subset) { return this.sums[subset * SUMS.length] > 0; }
  // `counted`: bytes and objects, if the subset is a complete class that a census counted.
  get(subset, counted = null) {
    const one = {counted};
    SUMS.forEach((name, k) => { one[name] = this.sums[subset * SUMS.length + k]; });
    return one;
  }
}
