// The recordings of a page with common names, stacks, classes and threads, and the properties of each name: its
// package, whether it is the user's own code, its thread pool.

const SHARED_LIBRARY = /^(lib[\w.+-]*|[^.]+)\.so\./;
const JDK = /^(java|javax|jdk|sun|com\.sun)\./;
const packageText = (name, names) => JDK.test(name) ? "JDK" : splitMethod(name)[0].split(".").slice(0, names).join(".") || "(other)";
const libraryOf = name => packageText(name, 2), packageOf = name => packageText(name, 3);
// Servers, frameworks and languages: at the root of many stacks, and rarely the user's own code. Classes that a server
// generates from JSP are.
const FRAMEWORK = /^(org\.apache\.(?!jsp\.)|org\.(eclipse|springframework|hibernate|jboss|wildfly|glassfish|jetbrains|junit|mockito|gradle|codehaus|openjdk|scalatest|aspectj|quartz|mozilla|jruby|python)\.|(clojure|nrepl|cider|ring|scala|kotlinx?|groovy|akka|reactor|rx|cats|zio|sbt|play|jakarta|weblogic|oracle|okhttp3)\.|com\.(google\.(common|inject|protobuf)|fasterxml|zaxxer|ibm|netflix|typesafe|lmax|caucho|intellij)\.|io\.(netty|undertow|vertx|micronaut|quarkus|grpc|reactivex|projectreactor|opentelemetry|helidon|dropwizard|ktor)\.|ch\.qos\.|net\.bytebuddy\.)/;
const poolOf = name => name.replace(/([-_ #])\d+$/, "$1*");
const NOWHERE = "(no such frame)";

// Gives each new key the next number.
class Numbering {
  constructor() { this.numbers = new Map(); this.keys = []; }
  of(key) {
    let number = this.numbers.get(key);
    if (number === undefined) {
      this.numbers.set(key, number = this.keys.length);
      this.keys.push(key);
    }
    return number;
  }
}

class Model {
  // `parts`: results of unpack, one per recording.
  constructor(parts) {
    this.names = new Numbering();
    this.classes = new Numbering();
    this.threads = new Numbering();
    this.nodes = {parent: [-1], name: [-1], type: [0], of: new Map()};
    this.recordings = parts.map(part => this.join(part, parts.length === 1));
    this.main = this.recordings[0];
    this.header = this.main.header;
    this.primitives = new Set();
    for (const {header} of this.recordings) for (const id of header.primitives) this.primitives.add(this.names.of(header.names[id]));
    this.chooseOwn();
    this.choosePools();
    this.chooseHues();
  }

  // Adds one recording: converts its samples to the numbers of the model.
  join(part, isOne) {
    const {header, columns} = part, samples = makeSamples(part);
    const name = header.names.map(text => this.names.of(text));
    const cls = Array.from(columns.classes, id => this.classes.of(header.names[id]));
    const thread = Array.from(columns.threads, id => this.threads.of(header.names[id]));
    const node = isOne ? this.takeNodes(columns, name) : this.joinNodes(columns, name);
    const renumber = (values, to) => values.map(value => to[value]);
    Object.assign(samples, {cls: renumber(samples.cls, cls), thread: samples.thread.map(from => thread[from] ?? NO_THREAD),
      node: node ? renumber(samples.node, node) : samples.node,
      counted: new Map(header.counted_of_class.flatMap((counted, i) => counted?.length > 1 ? [[cls[i], counted.slice(1)]] : []))});
    samples.begin = header.begin_ns / 1e9;
    samples.end = Math.max(header.end_ns / 1e9, samples.begin + 1e-3);
    this.prepare(samples);
    return samples;
  }

  // With one recording the nodes are those of the model, because no two of them have the same path. There may be
  // millions.
  takeNodes({node_back: back, node_name: names, node_type: type}, name) {
    const parent = new Int32Array(back.length).fill(-1), own = new Int32Array(back.length).fill(-1);
    for (let i = 1; i < back.length; ++i) {
      parent[i] = i - back[i];
      own[i] = name[names[i]];
    }
    this.nodes = {parent, name: own, type};
  }

  joinNodes(columns, name) {
    const {parent, name: names, type, of} = this.nodes, to = new Uint32Array(columns.node_name.length);
    for (let i = 1; i < to.length; ++i) {
      const above = to[i - columns.node_back[i]], key = above * 4194304 + name[columns.node_name[i]];
      let node = of.get(key);
      if (node === undefined) {
        of.set(key, node = parent.length);
        parent.push(above);
        names.push(name[columns.node_name[i]]);
        type.push(columns.node_type[i]);
      }
      to[i] = node;
    }
    return to;
  }

  // Samples that are calibrated to rows are as coarse as samples, and add up to the rows.
  prepare(samples) {
    const {of_samples: ofSamples, of_rows: ofRows} = samples.header, more = ofRows.all.bytes / ofSamples.all.bytes || 1;
    const calibrated = {...ofRows, all: {...ofSamples.all, bytes: ofRows.all.bytes, bytesVariance: ofSamples.all.bytesVariance * more * more}};
    const live = new Subsets(samples.of[FROM.live], 1);
    for (let i = 0; i < samples.kept; ++i) live.add(0, i);
    const ofLive = {factor: 1, calibrated: false, lost: 0, unwritten: 0, uncountedVariance: 0, byClass: null, all: live.get(0)};
    samples.estimators = [ofRows, calibrated, ofSamples, ofLive].map(basis => new Estimator(basis));
    Object.assign(samples, {fails: new Uint8Array(samples.n), set: {}});
  }

  // The user's packages: as given; otherwise the package, by bytes, of the frame nearest to the root that is not of the
  // JDK, a framework or a shared library; none if there is no such frame.
  chooseOwn() {
    const given = this.header.own ? this.header.own.split(",").map(text => text.trim()).filter(Boolean) : [];
    this.own = given.length > 0 ? given : this.detectOwn();
    const prefixes = this.own.map(text => text + ".");
    this.isOwn = this.names.keys.map(name => prefixes.some(prefix => name.startsWith(prefix)));
  }

  detectOwn() {
    const {parent, name} = this.nodes, bytes = new Map(), first = new Int32Array(parent.length).fill(-1);
    const mayBeOwn = this.names.keys.map(text => splitMethod(text)[0] !== "" && !JDK.test(text) && !FRAMEWORK.test(text) && !SHARED_LIBRARY.test(text));
    for (let i = 1; i < parent.length; ++i) {
      const above = first[parent[i]];
      first[i] = above >= 0 ? above : mayBeOwn[name[i]] ? name[i] : -1;
    }
    for (let i = 0; i < this.main.kept; ++i) {
      const root = first[this.main.node[i]];
      if (root >= 0) bytes.set(root, (bytes.get(root) || 0) + this.main.bytes[i]);
    }
    const most = [...bytes].sort((a, b) => b[1] - a[1])[0];
    if (!most) return [];
    return [splitMethod(this.names.keys[most[0]])[0].split(".").slice(0, 3).join(".")];
  }

  choosePools() {
    const pools = new Numbering();
    this.poolOfThread = this.threads.keys.map(name => pools.of(poolOf(name)));
    this.pools = pools.keys;
    for (const s of this.recordings) s.pool = s.thread.map(thread => this.poolOfThread[thread] ?? NO_THREAD);
    this.chooseSites();
  }

  // The site of a stack: its first frame that is not an allocation primitive; for own code, its first own frame.
  chooseSites() {
    const {parent, name} = this.nodes, nowhere = this.names.keys.length;
    const site = new Int32Array(parent.length).fill(-1), own = new Uint32Array(parent.length).fill(nowhere);
    const isPrimitive = new Uint8Array(nowhere);
    for (const id of this.primitives) isPrimitive[id] = 1;
    const notKept = this.names.numbers.get(this.header.callers_not_kept), top = parent.findIndex((above, i) => above === 0 && name[i] === notKept);
    for (const s of this.recordings) groupSamples(s, this.nodes, isPrimitive, top);
    if (top >= 0) isPrimitive[notKept] = 1;       // it is not a site
    for (let i = 1; i < parent.length; ++i) {
      site[i] = isPrimitive[name[i]] ? site[parent[i]] : name[i];
      own[i] = this.isOwn[name[i]] ? name[i] : own[parent[i]];
    }
    for (let i = 0; i < parent.length; ++i) if (site[i] < 0) site[i] = i > 0 ? name[i] : nowhere;
    this.siteNames = [...this.names.keys, NOWHERE];
    for (const s of this.recordings) {
      s.site = Uint32Array.from(s.node, node => site[node]);
      s.ownSite = Uint32Array.from(s.node, node => own[node]);
    }
  }

  // The five packages with the largest area of the flame graph.
  chooseHues() {
    const {parent, name} = this.nodes, sum = new Float64Array(parent.length), area = new Float64Array(this.names.keys.length);
    for (let i = 0; i < this.main.kept; ++i) sum[this.main.node[i]] += this.main.bytes[i];
    for (let i = parent.length - 1; i > 0; --i) {
      sum[parent[i]] += sum[i];
      area[name[i]] += sum[i];
    }
    const packages = this.packagesToTell(area), isGiven = p => p !== "JDK" && p !== "(other)" && p !== "own", bytes = new Map();
    packages.forEach((p, id) => bytes.set(p, (bytes.get(p) || 0) + area[id]));
    this.hues = [...bytes].filter(([p]) => isGiven(p)).sort((a, b) => b[1] - a[1]).slice(0, 5).map(([p]) => p);
    this.hueOfName = packages.map((p, id) => {
      const hue = this.hues.indexOf(p);
      return hue >= 0 ? "p" + hue : this.isOwn[id] ? "mine" : JDK.test(this.names.keys[id]) ? "jdk" : "p-1";
    });
    this.ownHues = this.hues.filter(hue => packages.some((p, id) => p === hue && this.isOwn[id]));
  }

  // A kind that covers more than two thirds of the area (javac is all JDK) is divided by packages.
  packagesToTell(area) {
    const coarse = this.names.keys.map((text, id) => this.isOwn[id] ? "own" : packageOf(text)), of = {own: 0, JDK: 0};
    coarse.forEach((kind, id) => { if (kind in of) of[kind] += area[id]; });
    const all = area.reduce((a, b) => a + b, 0), wide = ["own", "JDK"].find(kind => of[kind] > all * 2 / 3);
    const fine = coarse.map((kind, id) => kind === wide ? splitMethod(this.names.keys[id])[0] || kind : kind);
    return new Set(fine.filter((_, id) => coarse[id] === wide)).size > 1 ? fine : coarse;
  }
}
