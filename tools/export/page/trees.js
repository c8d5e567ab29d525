// The boxes of a flame graph: a tree in preorder. Siblings are ordered by the bytes of the whole recording, so that
// their order does not change with the selection. Sums are computed in one loop from the end, positions in one loop
// from the start. Compared recordings share one tree; each has the box of each of its samples.

const BOXES_AT_ONCE = 1 << 15;                    // a few milliseconds

const BOX = {interpreted: 1, compiled: 2, inlined: 3, native: 4, allocated: 5};

class TreeBuilder {
  constructor(model, {reverse, mine, fold}) {
    Object.assign(this, {model, reverse, mine, fold});
    this.noClasses = model.header.boxes.no_classes;
    this.methods = model.names.keys.length;
    this.classes = model.classes.keys.length;
    this.libraries = new Numbering();
    this.size = 1;                                // the first box is "all"
    this.keys = new Int32Array([-1]);
    this.up = new Int32Array([-1]);
    this.types = new Uint8Array(1);
    this.children = new Uint32Array(1024);        // hash table of boxes, by parent and key; 0: empty
    this.used = 0;
  }

  grow() {
    const larger = (Type, old) => { const grown = new Type(2 * this.size); grown.set(old); return grown; };
    Object.assign(this, {keys: larger(Int32Array, this.keys), up: larger(Int32Array, this.up), types: larger(Uint8Array, this.types)});
  }
  slotOf(from, key) {
    const {children, up, keys} = this, mask = children.length - 1, hash = Math.imul(from, 0x9e3779b1) ^ Math.imul(key + 1, 0x85ebca6b);
    let slot = (hash ^ hash >>> 15) & mask;
    for (let box; (box = children[slot]) !== 0 && (up[box] !== from || keys[box] !== key);) slot = slot + 1 & mask;
    return slot;
  }
  widen() {
    const boxes = this.children.filter(box => box !== 0);
    this.children = new Uint32Array(4 * this.children.length);
    for (const box of boxes) this.children[this.slotOf(this.up[box], this.keys[box])] = box;
  }

  step(from, key, type) {
    const slot = this.slotOf(from, key), known = this.children[slot];
    if (known !== 0) return known;
    if (this.size === this.keys.length) this.grow();
    const box = this.children[slot] = this.size++;
    this.keys[box] = key;
    this.up[box] = from;
    this.types[box] = type;
    if (2 * ++this.used > this.children.length) this.widen();
    return box;
  }

  // The key of a stack node: its method, or the library into which it is folded.
  keyOf(node) {
    const {model} = this, name = model.nodes.name[node];
    if (!this.mine || model.isOwn[name]) return name;
    return this.methods + this.classes + this.libraries.of(libraryOf(model.names.keys[name]));
  }
  joins(above, key) { return above === key && (this.fold || key >= this.methods); }
  typeOf(node, key) { return key < this.methods ? this.model.nodes.type[node] : 0; }

  // Top-down, a stack node has one box: that of its parent, and a step.
  forwards() {
    const {parent, name, type} = this.model.nodes, to = new Int32Array(parent.length);
    if (!this.mine && !this.fold) {               // each node is a separate box
      Object.assign(this, {size: parent.length, keys: name, up: parent, types: type});
      return to.map((_, node) => node);
    }
    for (let node = 1; node < parent.length; ++node) {
      const above = to[parent[node]], key = this.keyOf(node);
      to[node] = this.joins(this.keys[above], key) ? above : this.step(above, key, this.typeOf(node, key));
    }
    return to;
  }

  placeOfStack(node, to) { return this.reverse ? this.upwardsFrom(0, node) : to[node]; }
  backwards(node, cls) { return this.upwardsFrom(this.step(0, this.methods + cls, BOX.allocated), node); }
  upwardsFrom(box, node) {
    for (let last = -1; node > 0; node = this.model.nodes.parent[node]) {
      const key = this.keyOf(node);
      if (!this.joins(last, key)) box = this.step(box, key, this.typeOf(node, key));
      last = key;
    }
    return box;
  }

  // The box of each sample. Runs in steps, because it takes long.
  * place(samples, to) {
    const at = new Uint32Array(samples.n), {node, cls} = samples, known = new Map();
    for (let i = 0, next = BOXES_AT_ONCE; i < samples.n; ++i) {
      if (this.size > next) {
        next = this.size + BOXES_AT_ONCE;
        yield;
      }
      if (i % 1024 === 1023) yield;
      const pair = node[i] * this.classes + cls[i];
      let box = known.get(pair);
      if (box === undefined) {
        box = this.noClasses ? this.placeOfStack(node[i], to) : this.reverse ? this.backwards(node[i], cls[i])
          : this.step(to[node[i]], this.methods + cls[i], BOX.allocated);
        known.set(pair, box);
      }
      at[i] = box;
    }
    return at;
  }
}

// Bytes of each box itself, over all recordings.
function bytesOfBoxes(size, recordings, at) {
  const sum = new Float64Array(size);
  recordings.forEach((samples, k) => {
    const side = new Side(samples, {}), by = side.by(FROM.calibrated), {factor: all} = side.estimator(by);
    side.each(0, (i, factor) => { sum[at[k][i]] += samples.bytes[i] * factor * all; }, by);
  });
  return sum;
}

// Children of each box, the smallest first: those of box i are children[begin[i]] ... children[begin[i + 1] - 1].
// `sum`: of each box itself; afterwards including all boxes above it.
function* childrenOf({size, up}, sum) {
  const begin = new Uint32Array(size + 1), children = new Uint32Array(size);
  for (let i = size - 1; i > 0; --i) {
    sum[up[i]] += sum[i];
    ++begin[up[i]];
  }
  for (let i = 0, all = 0; i <= size; ++i) begin[i] = all += begin[i];
  for (let i = 1; i < size; ++i) children[--begin[up[i]]] = i;
  for (let i = 0; i < size; ++i) {
    if (i % BOXES_AT_ONCE === 0) yield;
    if (begin[i + 1] - begin[i] > 1) children.subarray(begin[i], begin[i + 1]).sort((a, b) => sum[a] - sum[b] || a - b);
  }
  return {begin, children};
}

// Samples in the order of their boxes, so that the sum of a box with all boxes above it is a difference of two running
// sums: only boxes that are used cost time.
class Order {
  constructor(boxes, size) {
    this.first = new Uint32Array(size + 1);       // position of the first sample whose box is i or later
    for (const box of boxes) ++this.first[box + 1];
    for (let i = 0; i < size; ++i) this.first[i + 1] += this.first[i];
    const next = this.first.slice(0, size);
    this.place = Uint32Array.from(boxes, box => next[box]++);
  }
}

// Sums of values of samples by box.
class BoxSums {
  constructor(order, end) { Object.assign(this, {order, end, until: new Float64Array(order.place.length + 1)}); }
  add(sample, value) { this.until[this.order.place[sample] + 1] += value; }
  close() {
    for (let k = 1; k < this.until.length; ++k) this.until[k] += this.until[k - 1];
    return this;
  }
  of(box) { return this.until[this.order.first[this.end[box]]] - this.until[this.order.first[box]]; }
}

class BoxTree {
  // Complete once `steps` has finished.
  constructor(model, shape) { this.steps = this.build(model, shape); }
  finish() {
    while (!this.steps.next().done);
    return this;
  }
  // Builds while the page is idle.
  buildAhead() {
    requestIdleCallback(idle => {
      do {
        if (this.steps.next().done) return;
      } while (idle.timeRemaining() > 8);
      this.buildAhead();
    });
  }

  * build(model, shape) {
    const builder = new TreeBuilder(model, shape), to = shape.reverse ? null : builder.forwards(), at = [];
    for (const samples of model.recordings) at.push(yield* builder.place(samples, to));
    this.size = builder.size;
    this.key = new Int32Array(this.size);
    this.type = new Uint8Array(this.size);
    this.parent = new Int32Array(this.size).fill(-1);
    this.depth = new Uint16Array(this.size);
    this.end = new Uint32Array(this.size);
    const place = yield* this.layOut(builder, bytesOfBoxes(this.size, model.recordings, at));
    this.at = at.map(boxes => boxes.map(box => place[box]));
    yield;
    this.order = this.at.map(boxes => new Order(boxes, this.size));
    yield;
    this.full = [...model.names.keys, ...model.classes.keys, ...builder.libraries.keys.map(name => name + " code")];
    this.methods = builder.methods;
    this.classes = builder.classes;
    this.nameKeys(model, builder);
  }

  * layOut(builder, bytes) {
    const {begin, children} = yield* childrenOf(builder, bytes), place = new Uint32Array(this.size), stack = [0];
    for (let count = 0; stack.length > 0;) {
      if (count % BOXES_AT_ONCE === 0) yield;
      const box = stack.pop(), p = count++;
      place[box] = p;
      this.key[p] = builder.keys[box];
      this.type[p] = builder.types[box];
      if (box > 0) this.parent[p] = place[builder.up[box]];
      this.depth[p] = box > 0 ? this.depth[this.parent[p]] + 1 : 0;
      for (let k = begin[box]; k < begin[box + 1]; ++k) stack.push(children[k]);
    }
    for (let i = this.size - 1; i >= 0; --i) {
      this.end[i] = Math.max(this.end[i], i + 1);
      if (i > 0) this.end[this.parent[i]] = Math.max(this.end[this.parent[i]], this.end[i]);
    }
    return place;
  }

  nameKeys(model, builder) {
    this.short = this.full.map((name, key) => shortName(name, key < this.methods ? splitMethod : splitName));
    this.hue = this.full.map((name, key) => {
      if (key < this.methods) return model.hueOfName[key];
      if (key < this.methods + this.classes) return "class";
      const library = builder.libraries.keys[key - this.methods - this.classes];
      return library === "JDK" ? "jdk" : "p" + model.hues.findIndex(hue => hue.startsWith(library));
    });
  }

  label(box) { return box === 0 ? "all" : this.full[this.key[box]]; }
  // Empty sums for the samples of the model's k-th recording.
  sums(k) { return new BoxSums(this.order[k], this.end); }
  path(box) {
    const path = [];
    for (; box >= 0; box = this.parent[box]) path.unshift(box);
    return path;
  }

  // A hash of the names on the path, the same for other shapes of the tree and later versions of the page: FNV-1a.
  hashOf(box) {
    let hash = 2166136261;
    for (const step of this.path(box).slice(1)) {
      for (const c of this.label(step).slice(0, 4096) + "\n") hash = Math.imul(hash ^ c.codePointAt(0), 16777619);
    }
    return (hash >>> 0).toString(36);
  }
  // Returns the box with that hash; 0: none. Hashes of children continue those of their parents.
  find(wanted) {
    const hashes = new Uint32Array(this.size);
    hashes[0] = 2166136261;
    for (let i = 1; i < this.size; ++i) {
      let hash = hashes[this.parent[i]];
      for (const c of this.label(i).slice(0, 4096) + "\n") hash = Math.imul(hash ^ c.codePointAt(0), 16777619);
      hashes[i] = hash >>> 0;
      if ((hash >>> 0).toString(36) === wanted) return i;
    }
    return 0;
  }
}
