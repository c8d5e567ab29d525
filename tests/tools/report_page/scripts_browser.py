"""The scripts of the report page on their own, in a real browser: arithmetic, formats, links, trees.

usage: scripts_browser.py SCRIPT...
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))

from browser import Browser  # noqa: E402

EXPORTS = """betaBelow betaQuantile lgamma erfc compare ratioOf judge totalInterval shareInterval Z Subsets FROM
  bytesText percentText clockText escapeText quoted splitName splitMethod shortName timeTicks byteTicks stateToFragment stateOfFragment NO_STATE
  BoxTree TreeBuilder Flame Model Side FAILS readColumns markdownOf flame stateOfUrl cutOf useUnits signedAmount commandOf
  roundedTime unitOf shadeOf studentTail varianceOfMean totalText judgeRows USUAL""".split()

# A model of four samples: main -> a -> (b, c); b twice on one path; one library. makeRows: with rows of b and c, and of d,
# of which no sample was kept, in two steps of a second.
MODEL = """
window.makeModel = (more = {}) => {
  const names = ["", "byte[]", "int[]", "main", "shop.App.main", "shop.App.a", "lib.x.B.b", "lib.x.C.c", "[callers not kept]", "lib.x.D.d"];
  const u32 = values => Uint32Array.from(values), none = u32([]), f64 = values => Float64Array.from(values);
  const columns = {second: u32([0, 0, 1, 1]), microsecond: u32([100000, 500000, 0, 999999]), class: u32([0, 1, 0, 0]),
    node: u32([3, 4, 4, 5]), thread: u32([0, 0, 0, 0]), size: u32([0, 1, 0, 2]), sizes: f64([100, 200, 50]), weight: u32([0, 1, 2, 3]),
    weights: f64([1000, 2000, 3000, 4000]), alive: none, alive_weight: f64([]), alive_age: f64([]), recording: Uint8Array.from([]),
    step_end: none, row_step: none, row_class: none, row_node: none, row_points: none, interval_estimated: none, classes: u32([1, 2]), threads: u32([3]),
    node_back: u32([0, 1, 1, 1, 2, 2]), node_name: u32([0, 4, 5, 6, 7, 6]), node_type: Uint8Array.from([0, 2, 2, 2, 3, 2])};
  for (const name of ["bytes", "objects", "seen", "bytesVariance", "objectsVariance", "covariance", "bytesFourth", "objectsFourth"]) columns["row_" + name] = f64([]);
  const basis = {factor: 2, calibrated: true, lost: 0, unwritten: 0, uncountedVariance: 0, byClass: null, all: {samples: 4, bytes: 10000, bytesVariance: 3e7}};
  const header = {names, counted_of_class: [null, null], has_no_chances: false, samples: 4, interval_ns: 1e9, is_part: false, longest_path: 24,
    begin_ns: 0, end_ns: 2e9, tracks_objects: false, pause_causes: [], primitives: [], of_samples: basis, of_rows: basis, own: "", file: "x.hrec",
    files: ["x.hrec"], given: [], boxes: {}, state: {}, factors: [], callers_not_kept: "[callers not kept]", counts_events: false, stream: "allocations"};
  Object.assign(header, more.header);
  return new page.Model([{header, columns: {...columns, ...more.columns}}]);
};
// Node 3 is the path of sample 0, node 4 of samples 1 and 2, node 5 of sample 3; 7, 8 and 9 are those of rows.
window.makeRows = (more = {}) => {
  const u32 = values => Uint32Array.from(values), f64 = values => Float64Array.from(values), row = bytes => bytes.map(b => b * b / 10);
  const bytes = f64([1500, 2500, 4000, 500, 700]);
  return makeModel({...more, columns: {node_back: u32([0, 1, 1, 1, 2, 2, 6, 1, 2, 3]), node_name: u32([0, 4, 5, 6, 7, 6, 8, 6, 7, 9]),
    node_type: new Uint8Array(10), step_end: f64([1e9, 2e9]), row_step: u32([0, 0, 1, 1, 1]), row_class: u32([0, 1, 0, 0, 0]), row_node: u32([7, 8, 8, 7, 9]),
    row_points: u32([10, 20, 30, 5, 1]), row_bytes: bytes, row_objects: bytes.map(b => b / 100), row_seen: u32([1000, 4000, 3000, 500, 16]), row_bytesVariance: row(bytes),
    row_objectsVariance: row(bytes.map(b => b / 100)), row_covariance: f64([0, 0, 0, 0, 0]), row_bytesFourth: f64([0, 0, 0, 0, 0]), row_objectsFourth: f64([0, 0, 0, 0, 0]), ...more.columns},
    header: {of_rows: {factor: 3, calibrated: true, lost: 0, unwritten: 0, uncountedVariance: 0, byClass: null, all: {samples: 66, bytes: 9200, bytesVariance: 1e6}}, ...more.header}});
};
window.boxesOf = m => { const t = new page.BoxTree(m, {reverse: false, mine: false, fold: false}).finish(), s = new page.Side(m.main, {}), {bytes} = s.addBytes(t.sums(0), t.sums(0));
  return Object.fromEntries([...t.key.keys()].filter(i => bytes.of(i) > 0).map(i => [t.path(i).slice(1).map(k => t.label(k)).join(";"), bytes.of(i)])); };
window.byChance = {rowOf: () => undefined, limit: 0.01};
window.sums = (bytes, variance) => ({bytes: {of: () => bytes}, variance: {of: () => variance}});
window.packagesOf = names => page.Model.prototype.packagesToTell.call({names: {keys: names}, isOwn: [true, true]}, [10, 10]);
"""

# Each: what, an expression, what it is. Numbers agree within 1e-9.
CASES = [
    ("lgamma", "page.lgamma(10.5)", 13.940625219403763),
    ("lgamma below 1", "page.lgamma(0.25)", 1.2880225246980774),
    ("erfc", "page.erfc(1.959963984540054 / Math.SQRT2)", 0.05),
    ("beta, symmetric", "page.betaBelow(0.5, 3, 3)", 0.5),
    ("beta(1, b) is a power", "page.betaBelow(0.2, 1, 4)", 1 - 0.8**4),
    ("the quantile inverts it", "page.betaBelow(page.betaQuantile(0.025, 12.5, 3.5), 12.5, 3.5)", 0.025),
    ("Clopper and Pearson's interval", "page.shareInterval(0.5, 0.25 / 10, 1 / 10).map(x => +x.toFixed(2))", [0.5, 0.19, 0.81]),
    ("a total of one sample", "page.totalInterval(1, 1, 1)[1] < 0.025 && page.totalInterval(1, 1, 1)[2] > 5.5", True),
    ("equal rates do not differ", "page.compare([10, 5, 20], [10, 5, 20]).p", 1),
    ("far ones do", "page.compare([10, 9, 11], [100, 90, 110]).p < 1e-6", True),
    ("a change adds up", "page.compare([10, 9, 11], [15, 14, 16]).change", [5, 5 - 2**0.5, 5 + 2**0.5]),
    ("a ratio holds its value", "(r => r[1] < 1.5 && r[0] === 1.5 && r[2] > 1.5)(page.ratioOf(page.compare([10, 9, 11], [15, 14, 16])))", True),
    ("false discoveries", "(rows => (page.judge(rows), rows.map(r => r.q)))([0.01, 0.02, 0.9].map(p => ({p, leastP: 0, before: [1], after: [2]})))", [0.03, 0.03, 0.9]),
    ("bytes", "[0, 999, 1024, 1536, 1048576, -2048].map(page.bytesText).map(t => t.replace('\\u00a0', ' '))", ["0 B", "999 B", "1.00 KiB", "1.50 KiB", "1.00 MiB", "\u22122.00 KiB"]),
    ("percent", "[0, 0.0001, 0.01234, 0.5, 1].map(page.percentText).map(t => t.replace('\\u00a0', ' '))", ["0 %", "<0.1 %", "1.23 %", "50.0 %", "100 %"]),
    ("markup is text", "page.escapeText('<img src=x onerror=\"alert(1)\">&')", "&#60;img src=x onerror=&#34;alert(1)&#34;&#62;&#38;"),
    ("64 kB are cut", "page.escapeText('x'.repeat(65536)).length", 600),
    ("shell", "[page.quoted('a.b'), page.quoted(\"it's $HOME\")]", ["a.b", "'it'\\''s $HOME'"]),
    ("packages", "[page.splitName('org.h2.Page$Leaf.copy'), page.splitName('byte[]'), page.splitName('java.lang.Object[]')]", [["org.h2", "Page$Leaf.copy"], ["", "byte[]"], ["java.lang", "Object[]"]]),
    ("lambdas keep what tells them apart", "page.shortName('shop.Orders$$Lambda[lambda$main$3].call')", "Orders$$Lambda[lambda$main$3].call"),
    ("lambdas lose their addresses", "page.shortName('shop.Orders$$Lambda$18/0x00007f3df40b9fe0.call')", "Orders$$Lambda.call"),
    ("a method keeps its class", "['org.apache.jsp.index_jsp._jspService', 'main.run', 'java.util.HashMap.<init>', 'libjvm.so.Node::clone'].map(page.splitMethod)",
     [["org.apache.jsp", "index_jsp._jspService"], ["", "main.run"], ["java.util", "HashMap.<init>"], ["libjvm.so", "Node::clone"]]),
    ("ticks", "page.timeTicks(0, 10, 500)", [0, 2, 4, 6, 8, 10]),
    ("ticks of a clock are round", "page.timeTicks(0, 10, 500, 0.5)", [1.5, 3.5, 5.5, 7.5, 9.5]),
    ("a link and back", """(s => { const t = page.stateOfFragment(page.stateToFragment(s, String), 0, 100, ["sites", "classes"]);
        return [t.a, t.cls, t.q, t.tab, t.mine, t.pools, t.focusHash]; })({...page.NO_STATE, a: [1.5, 2.25], cls: "a&b=c#", q: "x+y %", tab: "classes", mine: true, pools: false, focus: 7})""",
     [[1.5, 2.25], "a&b=c#", "x+y %", "classes", True, False, "7"]),
    ("planes", "Array.from(page.readColumns(Uint8Array.from([1, 2, 1, 0, 0, 0, 0, 0]), 0, [['x', 'u32', 2]]).x)", [257, 2]),
    ("own code is detected", "makeModel().own", ["shop"]),
    ("a shared library is not own code", "Object.assign(makeModel(), {names: {keys: ['', 'a', 'b', 'libjvm.so.thread_native_entry', 'libjvm.so.f', 'x.so.g', 'lib-1.2.so.h', 'i']}}).detectOwn()", []),
    ("a server's frame is not own code", """[['org.apache.tomcat.W.run', 'org.apache.jsp.index_jsp.x'], ['clojure.core.F.invoke', 'shop.web.App.x'], ['org.apache.tomcat.W.run', 'io.netty.A.x']]
        .map(([root, next]) => Object.assign(makeModel(), {names: {keys: ['', 'a', 'b', 'c', root, next, 'lib.so.b', 'lib.so.c']}}).detectOwn())""", [["org.apache.jsp"], ["shop.web"], []]),
    ("labels are as wide as their box at most", "(g => { const f = {widths: new Map()}; g.font = '11px sans-serif'; return [20, 30, 45, 60, 90].every(room => ['WWWWiiiiii', 'iiiiiiWWWW', 'Deoptimization::fetch'].every(name => g.measureText(page.Flame.prototype.fit.call(f, g, name, room)).width <= room)); })(document.createElement('canvas').getContext('2d'))", True),
    ("own code of one package is one colour", "packagesOf(['e2e.Leak.a', 'e2e.Leak.b'])", ["own", "own"]),
    ("a box has one child of each key, however many there are", """(builder => {
        const made = Array.from({length: 5000}, (_, i) => builder.step(i % 7, i % 500, 0));
        return [builder.size, made.every((box, i) => box === builder.step(i % 7, i % 500, 0) && builder.up[box] === i % 7)];
      })(new page.TreeBuilder(makeModel(), {}))""", [3501, True]),
    ("of several, it is told apart", "packagesOf(['e2e.Leak.a', 'e2e.other.Leak.b'])", ["e2e", "e2e.other"]),
    ("the boxes", "(m => { const t = new page.BoxTree(m, {reverse: false, mine: false, fold: false}).finish(); return [...t.key.keys()].map(i => t.depth[i] + t.label(i)); })(makeModel())",
     ["0all", "1shop.App.main", "2shop.App.a", "3lib.x.C.c", "4byte[]", "4int[]", "3lib.x.B.b", "4lib.x.B.b", "5byte[]", "4byte[]"]),
    ("folded", "(m => { const t = new page.BoxTree(m, {reverse: false, mine: false, fold: true}).finish(); return t.size; })(makeModel())", 8),
    ("libraries in one box", "(m => { const t = new page.BoxTree(m, {reverse: false, mine: true, fold: false}).finish(); return [...t.key.keys()].map(i => t.label(i)); })(makeModel())",
     ["all", "shop.App.main", "shop.App.a", "lib.x code", "byte[]", "int[]"]),
    ("backwards", "(m => { const t = new page.BoxTree(m, {reverse: true, mine: false, fold: false}).finish(); return t.label(1) + t.label(2); })(makeModel())", "byte[]lib.x.B.b"),
    ("filters that are set are not set again", """(m => { const one = new page.Side(m.main, {cls: 0, time: [0, 1]}).apply(), {set} = m.main, time = set[page.FAILS.time], cls = set[page.FAILS.cls];
        new page.Side(m.main, {cls: 0, time: [0, 2]}).apply(); return [set[page.FAILS.cls] === cls, set[page.FAILS.time] === time, new page.Side(m.main, {cls: 1}).all().samples]; })(makeModel())""", [True, False, 1]),
    ("a tree in steps is the same", "(m => { const of = finish => (t => { finish(t); return [t.key, t.parent, t.end].map(a => a.join()).join(); })(new page.BoxTree(m, {reverse: true, mine: false, fold: false})); return of(t => { let n = 0; while (!t.steps.next().done) ++n; if (n < 3) throw n; t.finish(); }) === of(t => t.finish()); })(makeModel())", True),
    ("a path has a number", "(m => { const t = new page.BoxTree(m, {reverse: false, mine: false, fold: false}).finish(); return [1, 4, 8].map(i => t.find(t.hashOf(i))); })(makeModel())", [1, 4, 8]),
    ("sums go up", "(m => { const t = new page.BoxTree(m, {reverse: false, mine: false, fold: false}).finish(); const s = new page.Side(m.main, {}); const {bytes} = s.addBytes(t.sums(0), t.sums(0)); return [0, 1, 2, 3].map(i => bytes.of(i)); })(makeModel())", [20000, 20000, 20000, 10000]),
    ("a range has its begin, not its end", "(m => [[0.1, 0.5], [0.5, 1], [1, 1.999999]].map(time => new page.Side(m.main, {time}).all().bytes))(makeModel())", [1000, 2000, 3000]),
    ("a view ignores its own filter", "(m => [new page.Side(m.main, {cls: 1}).all().bytes, new page.Side(m.main, {cls: 1}).all(page.FAILS.cls).bytes])(makeModel())", [2000, 10000]),
    ("all of a selection is all of it", "(m => { const [row] = new page.Side(m.main, {time: [0, 0.2]}).rows(m.main.cls, 2, page.FROM.rows); return [row.share[0], row.share[2]]; })(makeModel())", [1, 1]),
    ("without a fragment the page opens as its command says", "(s => [s.view, s.live, s.tab, s.icicle])(page.stateOfUrl('file:///x.html', {view: 'flame', icicle: false}, 0, 9, ['sites']))", ["flame", False, "sites", False]),
    ("a fragment says all", "(s => [s.view, s.a])(page.stateOfUrl('file:///x.html#a=1-2', {view: 'flame'}, 0, 9, ['sites']))", ["", [1, 2]]),
    ("a view has a link", "page.stateOfFragment(page.stateToFragment({...page.NO_STATE, view: 'timeline', measure: 'objects'}, String), 0, 9, []).view", "timeline"),
    ("of what a command left out shares are of everything", """(m => { const s = new page.Side(m.main, {});
        return [s.chooses, s.total().samples, s.total().share[0]]; })(makeModel({header: {is_part: true,
        of_samples: {factor: 1, calibrated: true, lost: 0, unwritten: 0, uncountedVariance: 0, byClass: null, all: {samples: 9, bytes: 40000, bytesVariance: 1e8}}}}))""", [True, 4, 0.25]),
    ("who was born before the file counts among the living only", """(m => [new page.Side(m.main, {}).total().samples, new page.Side(m.main, {alive: {age: 0}}).total().bytes[0],
        new page.Side(m.main, {alive: {age: 5}}).total().bytes[0]])(makeModel({columns: {weights: Float64Array.from([1000, 2000, 3000, 0]), alive: Uint32Array.from([0, 3]),
        alive_weight: Float64Array.from([100, 300]), alive_age: Float64Array.from([1, 9])}}))""", [3, 400, 300]),
    ("the rate of everything is that of the total", """(m => page.totalText({state: {}, sideA: new page.Side(m.main, {})})
        .includes(`, ${page.bytesText(20000 / 2)}/s`))(makeModel())""", True),
    ("each of several recordings is scaled to what it counted", """(m => Array.from(m.main.bytes).slice(0, 4))(makeModel({header: {factors: [1, 10]},
        columns: {recording: Uint8Array.from([0, 0, 1, 1])}}))""", [1000, 2000, 30000, 40000]),
    ("without classes a stack ends with its site", "(m => { const t = new page.BoxTree(m, {reverse: true, mine: false, fold: false}).finish(); return [t.size, t.label(1)]; })(makeModel({header: {boxes: {no_classes: true}}}))", [10, "lib.x.C.c"]),
    ("boxes below a share are cut", "page.cutOf({least_share: 0.25}, i => [100, 60, 25, 15][i], 4)", 25),
    ("all but the largest are cut", "page.cutOf({most: 2}, i => [100, 60, 25, 15][i], 4)", 25),
    ("by objects", "(m => (t => new page.Side(m.main, {}).addAmounts(t.sums(0), 'objects').of(0))(new page.BoxTree(m, {}).finish()))(makeModel())", 2 * (10 + 10 + 30 + 80)),
    ("by samples", "(m => (t => new page.Side(m.main, {}).addAmounts(t.sums(0), 'samples').of(3))(new page.BoxTree(m, {}).finish()))(makeModel())", 2),
    ("Student's t", "[page.studentTail(2.776445105, 4), page.studentTail(0, 4)].map(x => +x.toFixed(9))", [0.05, 1]),
    ("the variance of a mean", "page.varianceOfMean([1, 2, 3])", 1 / 3),
    ("sides compare per second", "(u => [u.a, u.b, u.suffix, u.varies.freedom])(page.unitOf({model: {header: {state: {}}}, state: {a: null, b: null}, sideA: {seconds: 2}, sideB: {seconds: 4}}))", [2, 4, "/s", 4]),
    ("or as diff does", "(u => [u.a, u.b, u.suffix, u.runs])(page.unitOf({model: {header: {state: {}, compare: {before: [1, 2], after: [4, 4], suffix: '/op'}}}, state: {a: null, b: null}}))", [3, 8, "/op", [[1, 2], [4, 4]]]),
    ("but of other times per second", "page.unitOf({model: {recordings: [0], header: {state: {a: [0, 1]}, compare: {before: [9], after: [9]}}}, state: {a: [0, 2], b: null}, sideA: {seconds: 2}, sideB: {seconds: 4}}).a", 2),
    ("a box that doubles is coloured", """(s => [s.sure, s.shade > 0])(page.shadeOf(sums(100, 4), sums(200, 4), {a: 1, b: 1, varies: {...page.USUAL, deviation: 0, freedom: 40}}, 1, null, byChance)(0))""", [True, True]),
    ("not if the row of its only site is the same", """page.shadeOf(sums(100, 4), sums(200, 4), {a: 1, b: 1, varies: {...page.USUAL, deviation: 0}}, 1, null,
        {limit: 1, rowOf: () => ({verdict: "same", change: [100]})})(0).sure""", False),
    ("but if that has changed", """page.shadeOf(sums(100, 4), sums(101, 4), {a: 1, b: 1, varies: page.USUAL}, 1, null,
        {limit: -1, rowOf: () => ({verdict: "more", change: [1]})})(0).sure""", True),
    ("and none where no row has changed", """page.shadeOf(sums(100, 0), sums(900, 0), {a: 1, b: 1, varies: {...page.USUAL, deviation: 0}}, 0, null,
        {limit: -1, rowOf: () => undefined})(0).sure""", False),
    ("rows have the verdicts of diff", """(rows => (page.judgeRows(rows, {varies: page.USUAL}, [["a", 0.001, 0.02, "more"]]), rows.map(r => r.verdict)))([{name: "a"}, {name: "b"}])""",
        ["more", "same"]),
    ("a single pair that differs by an eighth is not named", """(rows => (page.judgeRows(rows, {varies: page.USUAL}), rows.map(r => r.verdict)))(
        [page.compare([1000, 995, 1005], [1125, 1120, 1130]), page.compare([1000, 995, 1005], [1000, 995, 1005])])""", ["same", "same"]),
    ("one that grows tenfold is", """(rows => (page.judgeRows(rows, {varies: page.USUAL}), rows.map(r => r.verdict)))(
        [page.compare([1000, 995, 1005], [10000, 9950, 10050]), page.compare([1000, 995, 1005], [1000, 995, 1005])])""", ["more", "same"]),
    ("rates of single runs are not judged", """(rows => (page.judgeRows(rows, {varies: {...page.USUAL, isJudged: false}}), rows[0].verdict))(
        [page.compare([1000, 995, 1005], [10000, 9950, 10050])])""", "same"),
    ("not if runs vary by that", """page.shadeOf(sums(100, 4), sums(200, 4),
        {a: 1, b: 1, varies: {deviation: 0.5, freedom: 4, margin: 0, before: [1], after: [1]}}, 1, null, byChance)(0).sure""", False),
    ("nor within the margin", """page.shadeOf(sums(100, 4), sums(200, 4),
        {a: 1, b: 1, varies: {deviation: 0, freedom: 40, margin: 1, before: [1], after: [1]}}, 1, null, byChance)(0).p""", 1),
    ("nor if its own runs do", """page.shadeOf(sums(200, 0), sums(400, 0), {a: 2, b: 2,
        varies: {deviation: 0, freedom: 4, margin: 0, before: [1, 1], after: [1, 1]}}, 0,
        [[{sums: {of: () => 10}, divisor: 1}, {sums: {of: () => 190}, divisor: 1}], [{sums: {of: () => 100}, divisor: 1}, {sums: {of: () => 300}, divisor: 1}]], byChance)(0).sure""", False),
    ("a table is estimated from rows", """(m => { const s = new page.Side(m.main, {}), rows = s.rows(m.main.site, m.siteNames.length, page.FROM.rows);
        return rows.map(r => [m.siteNames[r.key], r.samples, r.bytes[0]]); })(makeRows())""", [["lib.x.B.b", 15, 6000], ["lib.x.C.c", 50, 19500], ["lib.x.D.d", 1, 2100]]),
    ("a time is rounded to steps", "(m => { const s = new page.Side(m.main, {time: [0.1, 1.05]}); return [s.range, s.isRounded, s.total().samples, s.total().by]; })(makeRows())", [[0, 1], True, 30, 0]),
    ("or samples answer, if it is short", "(m => { const s = new page.Side(m.main, {time: [0.1, 0.6]}); return [s.range, s.isRounded, s.total().samples, s.total().by]; })(makeRows())", [[0.1, 0.6], False, 2, 2]),
    ("the last step ends with the recording", "(m => page.roundedTime(m.main, [1, 1.5]))(makeRows({header: {end_ns: 1.5e9}}))", [1, 1.5]),
    ("threads need samples, frames samples calibrated to rows", """(m => [{thread: 0}, {focus: {at: m.main.node, from: 0, to: 99}}, {cls: 0, site: 6}, {own: true, site: 6}, {alive: {age: 0}}]
        .map(filters => new page.Side(m.main, filters).by(page.FROM.rows)))(makeRows())""", [2, 1, 0, 1, 3]),
    ("calibrated samples add up to rows, and rows without samples have their paths", "boxesOf(makeRows())", {
        "": 27600, "[callers not kept]": 2100, "[callers not kept];lib.x.D.d": 2100, "[callers not kept];lib.x.D.d;byte[]": 2100, "shop.App.main": 25500, "shop.App.main;shop.App.a": 25500,
        "shop.App.main;shop.App.a;lib.x.B.b": 6000, "shop.App.main;shop.App.a;lib.x.B.b;byte[]": 1200, "shop.App.main;shop.App.a;lib.x.B.b;lib.x.B.b": 4800,
        "shop.App.main;shop.App.a;lib.x.B.b;lib.x.B.b;byte[]": 4800, "shop.App.main;shop.App.a;lib.x.C.c": 19500,
        "shop.App.main;shop.App.a;lib.x.C.c;byte[]": 12000, "shop.App.main;shop.App.a;lib.x.C.c;int[]": 7500}),
    ("a census knows a whole class", """(m => [{}, {time: [0, 1]}].map(filters => new page.Side(m.main, filters).rows(m.main.cls, 2, page.FROM.rows).map(r => r.bytes[1] === r.bytes[2])))(
        makeRows({header: {counted_of_class: [[1, 20100, 201], [1]]}}))""", [[True, False], [False, False]]),
    ("events are counted", "(page.useUnits(true), (t => (page.useUnits(false), t))(page.signedAmount(1234)))", "+1,234"),
]


def close(got, wanted):
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(close, got, wanted))
    if isinstance(wanted, dict):
        return isinstance(got, dict) and got.keys() == wanted.keys() and all(close(got[key], wanted[key]) for key in wanted)
    if isinstance(wanted, float):
        return isinstance(got, (int, float)) and abs(got - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return got == wanted


def main(scripts):
    code = "".join(pathlib.Path(script).read_text() for script in scripts if not script.endswith("app.js"))
    with Browser() as browser:
        browser.run("""
            window.Dygraph = {PLUGINS: [], Plugins: {}};
            const names = arguments[1].map(name => `${name}: typeof ${name} === "undefined" ? undefined : ${name}`);
            window.page = new Function(arguments[0] + "; return {" + names.join(", ") + "};")();
        """, code, EXPORTS)
        browser.run(MODEL)
        wrong = []
        for what, expression, wanted in CASES:
            got = browser.run(f"return {expression}")
            if not close(got, wanted):
                wrong.append(f"{what}: {got!r}, not {wanted!r}")
        if wrong:
            raise AssertionError("\n".join(wrong))
        print(f"{len(CASES)} cases")


if __name__ == "__main__":
    main(sys.argv[1:])
