// A recording's samples as typed arrays, in the order in which subsets take them, with the chances with which they were
// drawn: the counterpart of Drawn in tools/analysis/estimate/weighted_sample.h, name for name.
//
// Bytes; times in seconds since the start of the recording. `weight` is not calibrated.

const GRAIN = {kClass: 0, kMethod: 1, kStack: 2, kThread: 3, kSample: 4};
const NODES = 4;                                  // grains that have nodes: all but kSample
const CHOSEN = {no: 0, yes: 1, survivor: 2};
const CODE = {kFirstStage: 0, kRaised: 1, kExplicit: 2, kThinned: 3};
const LARGE_SIZE = 0xffffffff;

// format/model/weights.h
function inclusionProbability(x) {
  return x < 1e-3 ? x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4))) : -Math.expm1(-x);
}

function makeSamples({header, columns}) {
  const n = columns.second.length, f64 = () => new Float64Array(n);
  const s = {
    n, header, time: f64(), micros: f64(), cls: columns.class, node: columns.node, thread: columns.thread,
    size: f64(), weight: f64(), objects: f64(), notSure: f64(), loose: f64(), firstPart: f64(), perByte: f64(),
    line: new Uint32Array(n), rank: new Uint32Array(n), inLine: new Uint32Array(n), parted: columns.parted,
    rounding: new Float32Array(n * (NODES + 1)).fill(1), stratum: new Int32Array(n).fill(-1),
    strata: header.strata, countedOfClass: header.counted_of_class, uncounted: columns.uncounted, alive: f64(), age: f64(), trueSize: f64(), chosen: columns.chosen,
  };
  placeTimes(s, columns);
  placeLines(s, columns);
  placeWeights(s, columns);
  scaleToStrata(s, header.stratum_of_class);
  scaleToRecordings(s, columns.recording, header.factors);
  columns.alive.forEach((sample, i) => {
    s.alive[sample] = columns.alive_weight[i];
    s.age[sample] = columns.alive_age[i];
  });
  return s;
}

function placeTimes(s, {second, microsecond}) {
  for (let i = 0; i < s.n; ++i) {
    s.micros[i] = second[i] * 1e6 + microsecond[i];
    s.time[i] = s.micros[i] / 1e6;
  }
}

// Lines, and the roundings of their nodes: a node begins where a sample parts from the one before it.
function placeLines(s, columns) {
  const at = [0, 0, 0, 0], width = NODES + 1, lines = columns.line_begin.length;
  for (let line = 0; line < lines; ++line) {
    const begin = columns.line_begin[line], end = columns.line_end[line];
    for (let i = begin; i < end; ++i) {
      s.line[i] = line + 1;
      s.rank[i] = i - begin;
      s.inLine[i] = end - begin;
      const firstNew = i === begin ? 0 : s.parted[i - 1];
      for (let grain = 0; grain < NODES; ++grain) {
        const values = columns["rounding" + grain];
        if (grain >= firstNew) ++at[grain];
        s.rounding[i * width + grain] = values[at[grain] - 1];
      }
    }
  }
}

function placeWeights(s, columns) {
  let explicit = 0, large = 0;
  for (let i = 0; i < s.n; ++i) {
    const size = columns.size[i] === LARGE_SIZE ? columns.explicit_size[large++] : columns.size[i];
    const lambda = columns.lambda[columns.window[i]], code = columns.weight_code[i];
    let first = lambda > 0 && size > 0 ? s.header.counts_events ? 1 / lambda : size / inclusionProbability(lambda * size) : 0, weight = first;
    if (code === CODE.kRaised) weight = columns.line_weight[s.line[i] - 1];
    if (code === CODE.kThinned) weight = first = s.header.thinned_to;
    if (code === CODE.kExplicit) {
      weight = columns.explicit_weight[explicit];
      first = columns.explicit_first_weight[explicit++];
    }
    s.trueSize[i] = size;
    setChances(s, i, size, weight, first);
  }
}

function setChances(s, i, trueSize, weight, first) {
  const size = s.header.has_no_chances ? 0 : Math.min(trueSize, weight);
  s.size[i] = size;
  s.weight[i] = weight;
  s.objects[i] = trueSize > 0 ? weight / trueSize : 0;
  if (!(weight > 0)) return;
  s.notSure[i] = 1 - size / weight;
  s.loose[i] = (weight - first) / weight;
  s.firstPart[i] = (first - size) / weight;
  s.perByte[i] = s.objects[i] / weight;
}

// Weight and objects, but none of the chances.
function scaleToStrata(s, stratumOfClass) {
  if (s.strata.length === 0) return;
  for (let i = 0; i < s.n; ++i) {
    const stratum = stratumOfClass[s.cls[i]];
    s.stratum[i] = stratum;
    if (stratum < 0) continue;
    s.weight[i] *= s.strata[stratum].factor;
    s.objects[i] *= s.strata[stratum].factor;
  }
}

// Of several recordings, each to what it counted.
function scaleToRecordings(s, recording, factors) {
  for (let i = 0; i < recording.length; ++i) {
    s.weight[i] *= factors[recording[i]];
    s.objects[i] *= factors[recording[i]];
  }
}
