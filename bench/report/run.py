#!/usr/bin/env python3
"""Size and speed of the report page, in headless Chromium.

usage: bench/report/run.py HEAPREC REC.hrec [--samples N] [--id ID]

Makes the page of REC, reduced to N samples if it has more (default: as heaprec does), opens it seven times and does each
kind of interaction 15 times; and, after each opening, the flame graph from the other end once, which the page has built
meanwhile: how long it kept the page busy at a time is told, too. An interaction is measured from the change of the state to the end of the frame that draws
it: script, layout and paint of that frame. Writes bench/results/report.json, with the machine's load and the slowest
script of an interaction, which other programs disturb less; ID stands in front of the ids of the figures.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools/commands"))

sys.path.insert(0, str(ROOT / "bench"))

from browser import Browser  # noqa: E402
from record import record  # noqa: E402

OPENINGS, REPEATS = 7, 15
# Each makes the k-th change of its kind.
INTERACTIONS = {
    "brush": "page.change({a: [s.begin + (s.end - s.begin) * (0.1 + k / 40), s.begin + (s.end - s.begin) * (0.5 + k / 40)]}, true)",
    "class filter": "page.change({cls: model.classes.keys[k % model.classes.keys.length]})",
    "site filter": "page.change({cls: null, site: model.siteNames[s.site[k * 97 % s.n]]})",
    "frame": "page.change({site: null, focus: 1 + k * 37 % (page.tree.size - 1)})",
    "search": "page.change({focus: 0, q: ['map', 'get', 'put', 'byte', 'init'][k % 5]})",
    "tab": "page.change({q: '', tab: ['classes', 'threads', 'sites'][k % 3]})",
    "compare": "page.change({a: [s.begin, s.begin + (s.end - s.begin) * (0.3 + k / 100)], b: [s.begin + (s.end - s.begin) * 0.5, s.end]})",
}
MEASURE = """
const [change, repeats] = arguments, done = arguments[2], {page, model} = window.heaprec, s = model.main, act = new Function("page", "model", "s", "k", change);
const times = [];
const one = k => {
  if (k === repeats) return done(times);
  const start = performance.now();
  act(page, model, s, k);
  // The first frame draws; a message that it sends comes after layout and paint.
  requestAnimationFrame(() => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => { times.push([performance.now() - start, page.timings.last]); setTimeout(() => one(k + 1), 30); };
    port2.postMessage(0);
  });
};
one(0);
"""


# How long nothing else ran at most, until the graph from the other end is there.
BUSY = """
const done = arguments[0];
let last = performance.now(), longest = 0;
const look = () => {
  const now = performance.now();
  longest = Math.max(longest, now - last), last = now;
  window.heaprec.page.trees['100']?.order ? done(longest) : setTimeout(look, 0);
};
look();
"""


def measure(page):
    with Browser((1280, 900)) as browser:
        openings, reversals, busy = [], [], []
        for _ in range(OPENINGS):
            browser.call("POST", "/url", {"url": "about:blank"})
            browser.call("POST", "/url", {"url": page.resolve().as_uri()})
            openings.append(browser.wait("window.heaprec && window.heaprec.ready"))
            busy.append(browser.call("POST", "/execute/async", {"script": BUSY, "args": []}))
            reversed_in = browser.call("POST", "/execute/async", {"script": MEASURE, "args": ["page.change({reverse: true})", 1]})
            reversals.append(reversed_in[0][0])
        browser.run("window.heaprec.page.change({reverse: false})")
        interactions, scripts = {}, {}
        for name, change in INTERACTIONS.items():
            measured = browser.call("POST", "/execute/async", {"script": MEASURE, "args": [change, REPEATS]})
            interactions[name] = [time for time, _ in measured]
            scripts[name] = statistics.median(script for _, script in measured)
    return openings, interactions, scripts, statistics.median(reversals), statistics.median(busy)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("heaprec")
    options.add_argument("recording")
    options.add_argument("--samples", type=int)
    options.add_argument("--id", default="report")
    given = options.parse_args()
    page = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-bench-")) / "report.html"
    reduced = ["--max-samples", str(given.samples)] if given.samples else []
    said = subprocess.run([given.heaprec, "report", *reduced, "-o", str(page), given.recording], check=True, capture_output=True,
                          text=True).stderr
    openings, interactions, scripts, reversed_in, busy = measure(page)
    slowest = max(interactions, key=lambda name: statistics.median(interactions[name]))
    size, opened = page.stat().st_size / 2**20, statistics.median(openings) / 1000
    worst, load = statistics.median(interactions[slowest]), round(os.getloadavg()[0], 1)
    samples = re.search(r"([\d,]+) samples(?:, reduced from ([\d,]+))?", said)
    of = f"{samples[1]} samples" + (f" of {samples[2]}" if samples[2] else "")
    common = {"area": "Report page", "load": load,
              "command": " ".join(["bench/report/run.py HEAPREC REC", *(["--samples", str(given.samples)] if given.samples else [])])}
    record("report", f"{given.id}.size", figure=f"Page of {of}", goal="< 3 MiB", value=round(size, 2), unit="MiB", reached=size < 3, **common)
    record("report", f"{given.id}.open", figure=f"Opening {of}", goal="< 1 s", value=round(opened, 2), unit="s",
           reached=opened < 1, **common)
    record("report", f"{given.id}.interaction", figure=f"Slowest of {of}: {slowest}", goal="< 100 ms", value=round(worst),
           unit="ms", reached=worst < 100, script_ms=round(scripts[slowest]), **common)
    record("report", f"{given.id}.reverse", figure=f"Reversed first: {of}", goal="< 100 ms", value=round(reversed_in),
           unit="ms", reached=reversed_in < 100, longest_step_ms=round(busy), **common)
    print(said.strip())
    print(f"from the allocation: {reversed_in:.0f} ms, built in steps of {busy:.0f} ms at most")
    print("load", load, "opened:", ", ".join(f"{t:.0f}" for t in openings), "ms")
    for name, times in interactions.items():
        print(f"{name}: median {statistics.median(times):.0f} ms, {min(times):.0f} to {max(times):.0f}; script {scripts[name]:.0f}")


if __name__ == "__main__":
    main()
