"""Sums and intervals of the report page equal those of `heaprec top`: 200 random choices of time, class, thread and frame,
and pages that commands made with filters of their own. A page that was reduced has the same total, and intervals that hold
what the whole one says.

usage: exact_browser.py HEAPREC RECORDING [CHOICES]
       exact_browser.py HEAPREC RECORDING rows

The first compares samples, the second rows: tables of all times and of ranges that end with steps, and the flame graph.
Sums of samples agree within 1e-9, ends of intervals within 1e-6 of the value; those of rows, which the page has as floats,
within 1e-7 and 1e-4. 50 of the time ranges begin or end inside an interval or window of the recorder; the others at one of
its seconds. The choices are seeded: the same each time.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))

from browser import Browser  # noqa: E402

SUM, END = 1e-9, 1e-6
SUM_OF_ROWS, END_OF_ROWS = 1e-7, 1e-4
BY = {"class": "cls", "thread": "thread", "site": "site"}

# What the page says of a choice: the same classes as the views use.
FIGURES = """
const [choice] = arguments, {model, Side, FROM} = window.heaprec, s = model.main, filters = {}, need = choice.rows ? FROM.rows : FROM.samples;
if (choice.time) filters.time = choice.time;
if (choice.class !== null) filters.cls = model.classes.keys.indexOf(choice.class);
if (choice.thread !== null) filters.thread = model.threads.keys.indexOf(choice.thread);
if (choice.frame !== null) {
  const name = model.names.keys.indexOf(choice.frame), {parent, name: names} = model.nodes, has = new Uint8Array(parent.length);
  for (let i = 1; i < has.length; ++i) has[i] = names[i] === name || has[parent[i]] ? 1 : 0;
  filters.focus = {at: Uint32Array.from(s.node, node => has[node]), from: 1, to: 2};
}
const side = new Side(s, filters), by = side.by(need), all = side.all(0, need), estimator = side.estimator(by);
const [keys, names] = {class: [s.cls, model.classes.keys], thread: [s.thread, model.threads.keys], site: [s.site, model.siteNames]}[choice.by];
const rows = Object.fromEntries(side.rows(keys, names.length, need).map(row => [names[row.key], row]));
const bytes = side.chooses ? estimator.bytes(all) : estimator.total(), share = side.chooses ? estimator.share(all) : [1, 1, 1];
return {by, all: {samples: all.samples, bytes, objects: estimator.objects(all), share}, rows};
"""
# By site and by class what the boxes of the flame graph come to.
BOXES = """
const {page, model: {main: s, siteNames, classes}} = window.heaprec, {tree, sideA, flame} = page, sums = {};
sideA.each(0, (i, factor) => {
  for (const name of [siteNames[s.site[i]], classes.keys[s.cls[i]]]) sums[name] = (sums[name] || 0) + s.bytes[i] * factor * sideA.estimator(1).factor;
}, 1);
const notKept = [...tree.key.keys()].find(i => tree.label(i) === "[callers not kept]" && tree.depth[i] === 1);
return {sums, all: flame.w(0), notKept: flame.w(notKept), steps: Array.from(s.steps, t => t / 1e6)};
"""
FACTS = """
const {model} = window.heaprec, s = model.main;
return {begin: s.begin, end: s.end, classes: model.classes.keys, threads: model.threads.keys, names: model.names.keys,
        samples: Array.from({length: Math.min(s.n, 2000)}, (_, i) => {
          const j = Math.floor(i * s.n / Math.min(s.n, 2000)), path = [];
          for (let node = s.node[j]; node > 0; node = model.nodes.parent[node]) path.push(model.nodes.name[node]);
          return [s.cls[j], s.thread[j], path];
        })};
"""


def escaped(text):
    return "".join("\\" + c if c in "\\^$.|?*+()[]{}" else c for c in text)


def choices(facts, count):
    """Each: a range of time, and up to two of class, thread and frame, as one sample has them."""
    lot = random.Random(20261123)
    begin, end = facts["begin"], facts["end"]
    for k in range(count):
        if k % 4 == 0:
            time = sorted(round(lot.uniform(begin, end), 6) for _ in range(2))
        else:
            first = lot.randrange(int(begin), int(end) + 1)
            time = [first, lot.randrange(first, int(end) + 1) + 1]
        cls, thread, path = lot.choice(facts["samples"])
        on = lot.sample(["class", "thread", "frame"], lot.randrange(3))
        yield {
            "time": None if k % 50 == 49 else time,
            "class": facts["classes"][cls] if "class" in on else None,
            "thread": facts["threads"][thread] if "thread" in on else None,
            "frame": facts["names"][lot.choice(path)] if "frame" in on and path else None,
            "by": lot.choice(["class", "thread", "site"]),
        }


# Filters of the command that makes the page.
GIVEN = (("--class", "com.sun.tools.javac.*"), ("--thread", "main", "--ignore", "Gen"), ("--focus", "Attr", "--class", "/Scope/"),
         ("--kind", "tlab"), ("--lines", "--frame", "List"))


def command_line(heaprec, recording, choice, given=()):
    words = [heaprec, "top", "--json", "--by", choice["by"], *([] if choice.get("rows") else ["--no-rows"]), *given]
    if choice["time"]:
        words += ["--from", f"{choice['time'][0]:.6f}s", "--to", f"{choice['time'][1]:.6f}s"]
    if choice["class"] is not None:
        words += ["--class", f"/^{escaped(choice['class'])}$/"]
    if choice["thread"] is not None:
        words += ["--thread", f"^{escaped(choice['thread'])}$"]
    if choice["frame"] is not None:
        words += ["--focus", f"^{escaped(choice['frame'])}$"]
    document = json.loads(subprocess.run([*words, recording], check=True, capture_output=True).stdout)
    return document["matched"], document["tables"][0]["rows"]


def agree(what, page, tool, sums=SUM, ends=END):
    """How far sums and ends are apart, relative; raises if that is too far."""
    apart = [0.0, 0.0]
    for name in ("bytes", "objects", "share"):
        for i, key in enumerate(("value", "low", "high")):
            one, other = page[name][i], (tool[name] or {}).get(key)
            if one is None or other is None:
                continue
            distance = abs(one - other) / max(abs(other), abs(tool[name]["value"]), 1e-9)
            allowed = sums if i == 0 else ends
            apart[i > 0] = max(apart[i > 0], distance)
            if distance > allowed:
                raise AssertionError(f"{what}: {name}.{key} is {one} on the page, {other} in heaprec top")
    if page["samples"] != tool["points"]:
        raise AssertionError(f"{what}: {page['samples']} samples on the page, {tool['points']} in heaprec top")
    return apart


class Comparison:
    def __init__(self, browser, heaprec, recording):
        self.browser, self.heaprec, self.recording = browser, heaprec, recording
        self.worst, self.rows_seen = [0.0, 0.0], 0

    def open(self, command, *given):
        page = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-exact-")) / "page.html"
        subprocess.run([self.heaprec, command, "--quiet", "-o", str(page), *given, self.recording], check=True)
        self.browser.open(page)
        self.browser.wait("document.documentElement.dataset.ready === 'yes'")

    def check(self, choice, given=()):
        on_page = self.browser.run(FIGURES, choice)
        chosen, rows = command_line(self.heaprec, self.recording, choice, given)
        what = json.dumps([*given, choice])[:300]
        if (on_page["by"] == 0) != bool(choice.get("rows")):
            raise AssertionError(f"{what}: the page answers with {on_page['by']}")
        allowed = (SUM_OF_ROWS, END_OF_ROWS) if choice.get("rows") else (SUM, END)
        found = [agree(what, on_page["all"], chosen, *allowed)] if chosen else []
        if len(rows) != len(on_page["rows"]):
            raise AssertionError(f"{what}: {len(on_page['rows'])} rows on the page, {len(rows)} in heaprec top")
        found += [agree(f"{what}, {row['name'][:100]}", on_page["rows"][row["name"]], row, *allowed) for row in rows]
        self.rows_seen += len(rows)
        self.worst = [max(old, *(one[i] for one in found)) for i, old in enumerate(self.worst)]


# Of 95 in 100 rows the interval holds the value of all samples, which is nearer to it than the truth.
LEAST_HELD, LEAST_SHARE = 0.95, 0.005


def reduced(comparison, browser):
    """The recording's own thinning is always the same, so this is no matter of luck."""
    rows = {}
    for samples in ("1000000", "150"):
        comparison.open("report", "--max-samples", samples)
        for by in BY:
            figures = browser.run(FIGURES, {"time": None, "class": None, "thread": None, "frame": None, "by": by})
            rows[by, samples] = figures["rows"]
            rows["total", samples] = figures["all"]["bytes"][0]
    if "Reduced: 150 of 300 samples" not in browser.text("#sentences"):
        raise AssertionError(f"the page does not say that it was reduced: {browser.text('#sentences')}")
    whole, part = rows["total", "1000000"], rows["total", "150"]
    if abs(whole - part) > SUM * whole:
        raise AssertionError(f"the total is {part} of the reduced page, {whole} of all samples")
    held = []
    for by in BY:
        for name, row in rows[by, "1000000"].items():
            if row["share"][0] < LEAST_SHARE:
                continue
            low, high = rows[by, "150"].get(name, {"bytes": [0, 0, float("inf")]})["bytes"][1:]
            held.append(low <= row["bytes"][0] <= high)
    if len(held) < 50 or sum(held) < LEAST_HELD * len(held):
        raise AssertionError(f"{sum(held)} of {len(held)} intervals of the reduced page hold the value of all samples")
    print(f"reduced: {sum(held)} of {len(held)} intervals hold")


def of_rows(heaprec, recording):
    """Tables, and boxes that add up to them."""
    with Browser() as browser:
        comparison = Comparison(browser, heaprec, recording)
        comparison.open("report")
        boxes = browser.run(BOXES)
        if not 0 < boxes["notKept"] < boxes["all"]:
            raise AssertionError(f"{boxes['notKept']} bytes below [callers not kept]")
        steps = boxes["steps"]
        for by in ("class", "site"):
            choice = {"class": None, "thread": None, "frame": None, "by": by, "rows": True}
            for time in (None, steps[:2], [steps[1], steps[-2]]):
                comparison.check({**choice, "time": time})
            for row in command_line(heaprec, recording, {**choice, "time": None})[1]:
                if abs(boxes["sums"][row["name"]] - row["bytes"]["value"]) > SUM_OF_ROWS * row["bytes"]["value"]:
                    raise AssertionError(f"boxes of {row['name']} have {boxes['sums'][row['name']]} bytes, the table {row['bytes']}")
        if complaints := browser.complaints():
            raise AssertionError(f"the console says: {complaints}")
    print(f"{comparison.rows_seen} rows: sums within {comparison.worst[0]:.1e}, ends within {comparison.worst[1]:.1e}")


def main(heaprec, recording, count=200):
    with Browser() as browser:
        comparison = Comparison(browser, heaprec, recording)
        comparison.open("report")
        for choice in choices(browser.run(FACTS), count):
            comparison.check(choice)
        for given in GIVEN:
            comparison.open("flame", *given)
            for by in BY:
                comparison.check({"time": [0.5, 1.75], "class": None, "thread": None, "frame": None, "by": by}, given)
            comparison.check({"time": None, "class": None, "thread": None, "frame": None, "by": "class"}, given)
        reduced(comparison, browser)
        if complaints := browser.complaints():
            raise AssertionError(f"the console says: {complaints}")
    worst = comparison.worst
    print(f"{count} choices, {comparison.rows_seen} rows: sums within {worst[0]:.1e}, ends within {worst[1]:.1e}")


if __name__ == "__main__":
    if sys.argv[3:] == ["rows"]:
        of_rows(*sys.argv[1:3])
    else:
        main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
