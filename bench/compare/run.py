#!/usr/bin/env python3
"""Whether comparisons hold between runs: A/A comparisons of real programs, and how large a change is found.

Runs are stored in a folder and kept: a second call goes on where the first stopped, and adds runs until there are as many
as asked for. Comparisons are drawn from them with a seed. Nothing is recorded with --compare-only.

  bench/compare/run.py --heaprec bazel-bin/tools/heaprec --lib bazel-bin/recorder/libheaprec.so --runs 30 DIR
  bench/compare/run.py ... --programs injected-0,injected-10 --runs 6 --seconds 10 DIR     the short form of CI
  bench/compare/run.py ... --async-profiler $ASYNC_PROFILER_LIB DIR

Programs (bench/compare/programs.py): javac, h2, fop, saxon, tomcat; injected-0, -5, -10, -20 have one site whose bytes are
raised by so many percent. Settings: heaprec; jfr records the same programs by JFR's ObjectAllocationSample, async by
async-profiler. Their shares of a site are compared by Welch's test with Benjamini-Hochberg, because neither has a
comparison of its own. Of all settings: how much shares vary between runs, and how far they are from heaprec's.
Results: DIR/results.json, and with --record bench/results/compare.json. Exit code 1 with --check if a goal is missed
by the whole interval.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from programs import all_of
from draws import draw, interval
import peers

SEED = 20
GOALS = {1: 0.15, 3: 0.08}  # A/A comparisons that may name anything, by runs a side
# Percent, runs a side and seconds of a run: the part of comparisons that shall name the site that grew.
POWER_GOALS = {(20, 3, 3): 0.9, (10, 5, 10): 0.9}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--heaprec", type=pathlib.Path, required=True)
    parser.add_argument("--lib", type=pathlib.Path, required=True)
    parser.add_argument("--jdk", type=pathlib.Path, default=pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64")))
    parser.add_argument("--programs", default="javac,h2,fop,saxon,tomcat,injected-0,injected-5,injected-10,injected-20")
    parser.add_argument("--settings", default="heaprec,jfr")
    parser.add_argument("--async-profiler", type=pathlib.Path, default=os.environ.get("ASYNC_PROFILER_LIB"))
    parser.add_argument("--runs", type=int, default=30, help="of each program and setting")
    parser.add_argument("--seconds", type=float, default=60, help="that injected programs run")
    parser.add_argument("--options", default="points=max", help="of heaprec's agent; JFR has settings=profile, 300/s")
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=math.inf, help="record no longer than this; a later call goes on")
    parser.add_argument("--compare-only", action="store_true")
    parser.add_argument("--record-only", action="store_true", help="add runs, compare nothing")
    parser.add_argument("--record", action="store_true", help="write bench/results/compare.json")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


class Store:
    """DIR/PROGRAM/SETTING-N.EXT: a run is there once it is complete."""

    SUFFIX = {"heaprec": ".hrec", "jfr": ".jfr", "async": ".jfr"}

    def __init__(self, given):
        self.given = given

    def runs(self, program, setting):
        return sorted(str(path) for path in (self.given.folder / program).glob(f"{setting}-*{self.SUFFIX[setting]}"))

    def java_options(self, setting, path):
        if setting == "heaprec":
            return [f"-agentpath:{self.given.lib.resolve()}=file={path},{self.given.options}"]
        if setting == "jfr":
            return [f"-XX:StartFlightRecording=filename={path},settings=profile", "-Xlog:jfr*=off"]
        return [f"-agentpath:{self.given.async_profiler}=start,event=alloc,alloc=100k,jfr,file={path}"]

    def add(self, program, application, setting, number):
        folder = (self.given.folder / program).resolve()
        work = folder / "work"
        if not (work / "ready").exists():
            work.mkdir(parents=True, exist_ok=True)
            application.prepare(self.given.jdk, work)
            (work / "ready").touch()
        final = folder / f"{setting}-{number:03}{self.SUFFIX[setting]}"
        partial = folder / f"partial-{setting}-{number:03}{self.SUFFIX[setting]}"
        partial.unlink(missing_ok=True)
        command = [str(word) for word in application.command(self.given.jdk, self.java_options(setting, partial), work)]
        with open(folder / "last.log", "w") as log:
            done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=work)
        if done.returncode != 0 or not partial.exists():
            sys.exit(f"{program}: exit code {done.returncode}; see {folder / 'last.log'}")
        partial.rename(final)


def record_all(given, store, programs, settings):
    """Programs and settings in turns, so that what changes slowly on the machine meets all of them."""
    end = time.monotonic() + 60 * given.minutes
    for number in range(given.runs):
        for program, application in programs.items():
            for setting in settings:
                if number < len(store.runs(program, setting)) or time.monotonic() > end:
                    continue
                store.add(program, application, setting, number)
                print(f"{program} {setting} run {number + 1} of {given.runs}", file=sys.stderr, flush=True)


def compare(given, before, after, *options):
    command = [given.heaprec, "diff", "--json", "--limit", "0", *options, *before, "--", *after]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def names(document):
    return [row["name"] for table in document["tables"] for row in table["rows"]]


def together(compare_one, pairs):
    """Several comparisons at once, each a process."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [(before + after, named) for (before, after), named in zip(pairs, pool.map(lambda pair: compare_one(*pair), pairs))]


def same_program(given, store, program, per_side):
    pairs = draw(store.runs(program, "heaprec"), per_side, given.comparisons, SEED)
    return together(lambda before, after: bool(names(compare(given, before, after))), pairs)


def power(given, store, percent, per_side):
    """Of comparisons of injected-0 with injected-PERCENT: how often the grown site is named."""
    base, grown = store.runs("injected-0", "heaprec"), store.runs(f"injected-{percent}", "heaprec")
    befores, afters = draw(base, per_side, given.comparisons, SEED), draw(grown, per_side, given.comparisons, SEED + 1)
    pairs = [(before, after) for (before, _), (after, _) in zip(befores, afters)]
    return together(lambda before, after: "Injected.grown" in names(compare(given, before, after, "--by", "site")), pairs)


def report(kind, outcomes, **about):
    rate, low, high = interval(outcomes)
    runs = len({run for members, _ in outcomes for run in members})
    line = {"kind": kind, **about, "comparisons": len(outcomes), "runs": runs, "rate": rate, "low": low, "high": high}
    print(f"{kind:6} " + " ".join(f"{key}={value}" for key, value in about.items()) +
          f": {100 * rate:.1f} % ({100 * low:.1f} to {100 * high:.1f}) of {len(outcomes)} comparisons, {runs} runs", flush=True)
    return line


def compare_all(given, store, programs, settings):
    lines = []
    plain = [name for name in programs if name not in ("injected-5", "injected-10", "injected-20")]
    for per_side in (1, 3, 5):
        of_all = []
        for program in plain:
            outcomes = same_program(given, store, program, per_side)
            if outcomes:
                lines.append(report("A/A", outcomes, program=program, per_side=per_side))
                of_all += outcomes
        if of_all:
            lines.append(report("A/A", of_all, program="all", per_side=per_side))
        for percent in (5, 10, 20):
            if f"injected-{percent}" in programs and (outcomes := power(given, store, percent, per_side)):
                lines.append(report("power", outcomes, percent=percent, per_side=per_side,
                                    seconds=f"{given.seconds:g}"))
    for setting in [one for one in settings if one != "heaprec"]:
        for program in plain:
            runs = store.runs(program, setting)
            shares = {run: peers.shares(given.heaprec, run) for run in runs}
            for per_side in (1, 3, 5):
                outcomes = [(before + after, bool(peers.named(shares, before, after)))
                            for before, after in draw(runs, per_side, given.comparisons, SEED)]
                if outcomes:
                    lines.append(report(setting, outcomes, program=program, per_side=per_side))
    return lines + [line for program in plain for line in compare_shares(given, store, program, settings)]


def compare_shares(given, store, program, settings):
    """How shares of sites vary between runs, and how far they are from heaprec's, by as many runs of each setting."""
    recorded = {setting: store.runs(program, setting) for setting in settings if store.runs(program, setting)}
    least = min(map(len, recorded.values()))
    if len(recorded) < 2 or least < 2:
        return
    shares = {setting: [peers.shares(given.heaprec, run) for run in runs[:least]] for setting, runs in recorded.items()}
    for setting, runs in shares.items():
        line = {"kind": "shares", "program": program, "setting": setting, "runs": least, "rate": peers.spread(runs)}
        if setting != "heaprec" and "heaprec" in shares:
            line["distance"] = peers.distance(runs, shares["heaprec"])
        print(f"shares program={program} {setting}: vary by {100 * line['rate']:.1f} % between {least} runs" +
              (f", {100 * line['distance']:.1f} % of the bytes elsewhere than heaprec's" if "distance" in line else ""), flush=True)
        yield line


def write(given, lines):
    path = given.folder / "results.json"
    with tempfile.NamedTemporaryFile("w", dir=given.folder, delete=False) as file:
        json.dump(lines, file, indent=1)
    os.replace(file.name, path)
    if not given.record:
        return
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    from record import record
    for line in [line for line in lines if line["kind"] != "shares"]:
        about = "-".join(str(line[key]) for key in ("program", "percent", "seconds") if key in line)
        record("compare", f"compare.{line['kind'].replace('/', '').lower()}.{about}.{line['per_side']}", area="Comparisons",
               figure=title(line), **aim(line), value=round(100 * line["rate"], 1), low=round(100 * line["low"], 1),
               high=round(100 * line["high"], 1), unit="% of comparisons", runs=line["runs"], comparisons=line["comparisons"],
               command="bench/compare/run.py", notes="bench/compare/README.md")


def title(line):
    """The figure's name in bench/results/README.md."""
    sides = {1: "single pairs"}.get(line["per_side"], f"{line['per_side']} runs a side")
    if line["kind"] == "power":
        return f"+{line['percent']} % found, {sides} of {line['seconds']} s"
    return f"{line['kind']} named, {line['program']}, {sides}"


def aim(line):
    """Goal and whether it was reached, if the line has one."""
    if line["kind"] == "power":
        least = POWER_GOALS.get((line["percent"], line["per_side"], float(line["seconds"])))
        return {"goal": f">= {100 * least:g} %", "reached": line["rate"] >= least} if least else {}
    most = GOALS.get(line["per_side"]) if line["kind"] == "A/A" and line["program"] == "all" else None
    return {"goal": f"<= {100 * most:g} %", "reached": line["rate"] <= most} if most else {}


def main():
    given = arguments()
    known = all_of(given.seconds)
    programs = {name: known[name] for name in given.programs.split(",")}
    settings = given.settings.split(",") + (["async"] if given.async_profiler else [])
    store = Store(given)
    given.folder.mkdir(parents=True, exist_ok=True)
    if not given.compare_only:
        record_all(given, store, programs, settings)
    if given.record_only:
        return
    lines = compare_all(given, store, programs, settings)
    write(given, lines)
    missed = [line for line in lines if line["kind"] == "A/A" and line["low"] > GOALS.get(line["per_side"], 1)]
    if given.check and missed:
        sys.exit(f"more A/A comparisons name something than promised: {missed}")


if __name__ == "__main__":
    main()
