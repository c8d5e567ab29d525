"""Sums and intervals of the report page equal those of `heaprec top`: 200 random choices of time, class, thread and frame,
and pages that commands made with filters of their own. A page that was reduced has the same total, and intervals that hold
what the whole one says.

usage: exact_browser.py HEAPREC RECORDING [CHOICES]

Sums agree within 1e-9, ends of intervals within 1e-6, relative. 50 of the time ranges begin or end inside an interval or
window of the recorder; the others at one of its seconds. The choices are seeded: the same each time.
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
BY = {"class": "cls", "thread": "thread", "site": "site"}

# What the page says of a choice: the same classes as the views use.
FIGURES = """
const [choice] = arguments, {model, Side, GRAIN} = window.heaprec, s = model.main, filters = {};
if (choice.time) filters.time = choice.time;
if (choice.class !== null) filters.cls = model.classes.keys.indexOf(choice.class);
if (choice.thread !== null) filters.thread = model.threads.keys.indexOf(choice.thread);
if (choice.frame !== null) {
  const name = model.names.keys.indexOf(choice.frame), {parent, name: names} = model.nodes, has = new Uint8Array(parent.length);
  for (let i = 1; i < has.length; ++i) has[i] = names[i] === name || has[parent[i]] ? 1 : 0;
  filters.focus = {at: Uint32Array.from(s.node, node => has[node]), from: 1, to: 2};
}
const side = new Side(s, filters), all = side.all(), {estimator} = s;
const whole = side.chooses ? all : null;
const figures = (of, whole) => ({samples: of.samples, bytes: estimator.bytes(of), objects: estimator.objects(of), share: estimator.share(of, whole)});
const [keys, names, grain] = {class: [s.cls, model.classes.keys, GRAIN.kClass], thread: [s.thread, model.threads.keys, GRAIN.kThread],
  site: [s.site, model.siteNames, GRAIN.kStack]}[choice.by];
const groups = side.groups(keys, names.length, grain), rows = {};
for (let key = 0; key < names.length; ++key) {
  const of = groups.get(key);
  if (of.samples > 0) rows[names[key]] = figures(of, whole);
}
const {bytes, share} = side.total();
return {all: {...figures(all, null), bytes, share}, rows};
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
    words = [heaprec, "top", "--json", "--no-rows", "--by", choice["by"], *given]
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


def agree(what, page, tool):
    """How far sums and ends are apart, relative; raises if that is too far."""
    apart = [0.0, 0.0]
    for name in ("bytes", "objects", "share"):
        for i, key in enumerate(("value", "low", "high")):
            one, other = page[name][i], (tool[name] or {}).get(key)
            if one is None or other is None:
                continue
            distance = abs(one - other) / max(abs(other), 1e-9)
            allowed = SUM if i == 0 else END
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
        found = [agree(what, on_page["all"], chosen)] if chosen else []
        if len(rows) != len(on_page["rows"]):
            raise AssertionError(f"{what}: {len(on_page['rows'])} rows on the page, {len(rows)} in heaprec top")
        found += [agree(f"{what}, {row['name'][:100]}", on_page["rows"][row["name"]], row) for row in rows]
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
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
