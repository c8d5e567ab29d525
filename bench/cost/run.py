#!/usr/bin/env python3
"""CPU cost of a recording: paired, interleaved runs without one, with heaprec's and with JFR's. README.md defines the figures.

usage: bench/cost/run.py [all | startup | candidate | kept | light | drain | applications | instructions | attributed ...] [--rounds N] [--only javac,H2] [--json FILE] [--record] [--async-profiler LIB]

all: everything, 15 minutes on two quiet cores. Needs `bench/cost/fetch_applications.sh` (for the applications), a JDK 17 and
`bazel build //recorder:libheaprec.so //tools:heaprec //bench/cost:libholder.so`. Not in all: instructions, which needs gdb,
and attributed, which needs perf.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import micro
from applications import APPLICATIONS
from attributed import attributed
from micro import Row
from paired import interleaved
from processes import Machine, cpu_seconds

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from record import record  # noqa: E402
ROOT = HERE.parents[1]
JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
ROUNDS = {"startup": 11, "candidate": 11, "kept": 7, "light": 4, "drain": 6, "applications": 10, "instructions": 11, "attributed": 6}


class Bench:
    """What all figures need: programs, a folder for classes and recordings, options that start a recording."""

    def __init__(self, options, folder):
        self.here, self.folder, self.holder = HERE, pathlib.Path(folder), options.holder
        self.agent, self.heaprec, self.async_profiler = options.agent, options.heaprec, options.async_profiler
        self.file = self.folder / "recording.hrec"

    def compile(self, source):
        subprocess.run([JDK / "bin/javac", "-d", self.folder, source], check=True)

    def java(self, options):
        return [JDK / "bin/java", *options, "-cp", self.folder]

    def recording(self, arm, more=""):
        if arm == "heaprec":
            return [f"-agentpath:{self.agent}=file={self.file}{',' if more else ''}{more}"]
        if arm == "async-profiler":
            return [f"-agentpath:{self.async_profiler}=start,event=alloc,alloc=512k,jfr,file={self.folder}/recording-ap.jfr"]
        if arm == "JFR":
            return [f"-XX:StartFlightRecording=filename={self.folder}/recording.jfr,settings=default"]
        return []

    def output(self, command):
        self.forget()
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def forget(self):
        self.file.unlink(missing_ok=True)

    def recorded(self):
        return self.file.exists()

    def summary(self, file=None):
        return json.loads(subprocess.run([self.heaprec, "summary", "--json", file or self.file], check=True, capture_output=True).stdout)


def applications(bench, rounds, names):
    """CPU of the whole process over that of the run without a recording in the same round, in %."""
    peers = ["JFR"] + (["async-profiler"] if bench.async_profiler else [])
    rows, logs = [], {arm: [[] for _ in range(rounds)] for arm in ["heaprec", *peers]}
    for name in names:
        folder = bench.folder / name
        folder.mkdir()
        APPLICATIONS[name].prepare(JDK, folder)

        def run(arm):
            bench.forget()
            return cpu_seconds(APPLICATIONS[name].command(JDK, bench.recording(arm), folder), folder, folder / "out")
        run("none")  # the disk's cache
        found = interleaved(["none", *logs], rounds, run)
        alone = f"alone: {statistics.median(found['none']):.2f} s"
        for arm in logs:
            for of_round, with_it, without in zip(logs[arm], found[arm], found["none"]):
                of_round.append(math.log(with_it / without))
            ratios = [percent(of_round[-1:]) for of_round in logs[arm]]
            ours = arm == "heaprec"
            rows.append(Row(f"{name} with {arm}", "%", ratios, 1 if ours else None, alone, 2,
                            f"cost.paired_{name.lower()}" if ours else None))
        print(f"{name} done", file=sys.stderr)
    if len(names) < 2:
        return rows
    means = {arm: [percent(of_round) for of_round in logs[arm]] for arm in logs}
    for arm in logs:
        ours = arm == "heaprec"
        rows.append(Row(f"all with {arm}", "%", means[arm], 1.5 if ours else None, "geometric mean", 2, "cost.paired_all" if ours else None))
    for peer in peers:
        rows.append(Row(f"all: heaprec less {peer}", "%", [a - b for a, b in zip(means["heaprec"], means[peer])], 0,
                        "geometric mean", 2, f"cost.paired_less_{peer.lower().replace('-', '_')}"))
    return rows


def percent(logs):
    """What the geometric mean of the ratios with these logarithms is above 1, in %."""
    return 100 * (math.exp(statistics.fmean(logs)) - 1)


def show(rows):
    print("| figure | measured (95 %) | goal | | rounds | beside |\n|---|---|---|---|---|---|")
    for row in rows:
        numbers = [f"{value:,.{row.decimals}f}" for value in (row.middle, row.low, row.high)]
        goal = f"at most {row.goal:,}" if row.goal is not None else ""
        print(f"| {row.figure} | {numbers[0]} {row.unit} ({numbers[1]} to {numbers[2]}) | {goal} | {row.verdict()} | "
              f"{len(row.values)} | {row.note} |")


def keep(row, others):
    record("measurements", row.id, area="Cost", figure=row.figure, value=round(row.middle, row.decimals), unit=row.unit,
           low=round(row.low, row.decimals), high=round(row.high, row.decimals), notes="bench/cost/README.md",
           command=f"bench/cost/run.py {' '.join(sys.argv[1:])}; other processes took {100 * others:.0f} % of the machine",
           **({} if row.goal is None else {"goal": f"<= {row.goal:,} {row.unit}", "reached": row.verdict() == "reached"}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*ROUNDS, "all"], default="all")
    parser.add_argument("--rounds", type=int, help="instead of each figure's own number; at least 6 for an interval")
    parser.add_argument("--only", default=",".join(APPLICATIONS), help="of the applications, by comma")
    parser.add_argument("--json", type=pathlib.Path, help="all rounds' values too")
    parser.add_argument("--record", action="store_true", help="keep the figures that have an id in bench/results")
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--heaprec", default=ROOT / "bazel-bin/tools/heaprec")
    parser.add_argument("--async-profiler", type=pathlib.Path, metavar="LIB", help="its libasyncProfiler.so: a peer of the applications")
    parser.add_argument("--holder", default=ROOT / "bazel-bin/bench/cost/libholder.so")
    options = parser.parse_args()
    wanted = [what for what in ROUNDS if what not in ("instructions", "attributed")] if "all" in options.what else options.what
    machine, rows = Machine(), []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for what in wanted:
            rounds = options.rounds or ROUNDS[what]
            if what == "applications":
                rows += applications(bench, rounds, options.only.split(","))
            elif what == "attributed":
                rows += attributed(bench, rounds, options.only.split(","), JDK)
            else:
                rows += getattr(micro, what)(bench, rounds)
            print(f"{what} done", file=sys.stderr)
    others = machine.taken_by_others()
    show(rows)
    print(f"\nOther processes took {100 * others:.0f} % of the machine's {os.cpu_count()} cores meanwhile"
          f"{': a busy machine, read the intervals with care' if others > 0.05 else ''}.")
    if options.record:
        for row in rows:
            if row.id is not None:
                keep(row, others)
    if options.json:
        figures = [{"figure": row.figure, "unit": row.unit, "low": row.low, "middle": row.middle, "high": row.high,
                    "goal": row.goal, "verdict": row.verdict(), "beside": row.note, "values": row.values} for row in rows]
        options.json.write_text(json.dumps({"taken_by_others": others, "figures": figures}, indent=1) + "\n")


main()
