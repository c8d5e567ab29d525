#!/usr/bin/env python3
"""Short runs of what once gave wrong results; prints a line of JSON for each.

    bench/regressions/run.py --agent libheaprec.so --command heaprec --classes programs.jar --java HOME [--runs N] NAME...

  crash_loop      JVMs that are killed one after another, then one that lives: recordings that are whole
  leak            e2e.Leak under Shenandoah: runs in which the leak is found and its growth is within the interval
  major           e2e.Settled under generational ZGC (JDK 24 and later): runs whose range holds what is alive
  stack_chunks    e2e.Yields (JDK 21 and later): trustworthy runs in which a class is within its interval
  no_tlabs        e2e.Matrix with -XX:-UseTLAB, --flag for the collector, --option for the source: bytes sampled over bytes allocated
Intervals of 95 %: one in twenty runs is expected to miss.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time


class Bench:
    def __init__(self, options):
        self.options = options

    def start(self, recording, main, *arguments, flags=(), extra=""):
        agent = f"-agentpath:{self.options.agent}=file={recording}{extra}"
        command = [f"{self.options.java}/bin/java", *flags, agent, "-cp", self.options.classes, main, *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, universal_newlines=True)

    def run(self, *arguments, **named):
        out, _ = self.start(*arguments, **named).communicate(timeout=300)
        return out

    def ask(self, *arguments):
        done = subprocess.run([self.options.command, *arguments], stdout=subprocess.PIPE, check=False, timeout=300)
        return json.loads(done.stdout)


def row_of(rows, name):
    return next((row for row in rows if row["name"] == name), None)


def holds(estimate, truth):
    return estimate is not None and estimate["low"] <= truth <= estimate["high"]


def is_whole(summary, threads):
    losses = summary["losses"]
    known = losses["committed"] + losses["thinned"] + losses["lost"]["missed"]["points"]
    written = losses["written"] + losses["second_stage"]
    salvage = losses["salvage"]
    return (abs(losses["points"] - known) <= threads and abs(losses["committed"] - written) <= threads
            and salvage["ring_found"] and salvage["unnamed"] == 0)


def crash_loop(bench, folder):
    pids = []
    for i in range(bench.options.runs):
        process = bench.start(f"{folder}/{i}", "e2e.Load", 2, 20000, 0, extra=",rate=3000")
        process.stdout.readline()
        time.sleep(0.15)
        process.kill()
        process.wait()
        pids.append(process.pid)
    last = bench.start(f"{folder}/last", "e2e.Ends", "wait")
    for _ in range(240):
        left = [ring for ring in glob.glob("/dev/shm/heaprec-*") if any(f"-{pid}-" in ring for pid in pids)]
        if not left:
            break
        time.sleep(0.5)
    last.kill()
    last.wait()
    return sum(is_whole(bench.ask("summary", "--json", f"{folder}/{i}"), 3) for i in range(bench.options.runs))


def repeated(run):
    def all_runs(bench, folder):
        return sum(run(bench, f"{folder}/{i}") for i in range(bench.options.runs))
    return all_runs


@repeated
def leak(bench, recording):
    flags = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC", "-Xmx128m"]
    bench.run(recording, "e2e.Leak", 400000, 2000, 6, flags=flags, extra=",rate=1000,live=8000,loglevel=error")
    document = bench.ask("leaks", "--by", "site", "--all", "--to", "5s", "--json", recording)
    row = row_of(document["rows"], "e2e.Leak.keep")
    return row is not None and row["leaks"] and holds(row["growth"], 64 * 400000 / 6)


@repeated
def major(bench, recording):
    bench.run(recording, "e2e.Settled", 200000, 100, 3, flags=["-XX:+UseZGC", "-Xmx1g"], extra=",rate=1000,live=8000,loglevel=error")
    document = bench.ask("live", "--by", "class", "--json", recording)
    row = row_of(document["tables"][0]["rows"], "e2e.Settled$Kept")
    return row is not None and row["objects"]["value"] is None and holds(row["objects"], 200000)


@repeated
def stack_chunks(bench, recording):
    out = bench.run(recording, "e2e.Yields", 200000, flags=["-Xmx300m"], extra=",rate=2000")
    made = float(out.split()[1])
    document = bench.ask("top", "--by", "class", "--limit", "0", "--json", recording)
    row = row_of(document["tables"][0]["rows"], "e2e.Counted$Small")
    return bench.ask("summary", "--json", recording)["trustworthy"] and holds(row["objects"], made)


def no_tlabs(bench, folder):
    sampled = allocated = 0
    for i in range(bench.options.runs):
        flags = ["-XX:-UseTLAB", "-Xmx400m", *bench.options.flag]
        extra = ",rate=4000" + "".join(f",{option}" for option in bench.options.option)
        bench.run(f"{folder}/{i}", "e2e.Matrix", 2, 5000, "platform", f"{folder}/truth", flags=flags, extra=extra)
        with open(f"{folder}/truth") as lines:
            sites = {name: int(size) * int(count) for name, size, count in map(str.split, lines) if name != "threads"}
        allocated += sum(sites.values())
        for event in bench.ask("print", "--json", f"{folder}/{i}")["events"]:
            frames = event.get("stack") and event["stack"]["frames"]
            if frames and frames[0]["method"].rpartition(".")[2] in sites:
                sampled += event["weight_bytes"]
    return round(sampled / allocated, 3)


CASES = {name: case
         for name, case in [("crash_loop", crash_loop), ("leak", leak), ("major", major), ("stack_chunks", stack_chunks),
                            ("no_tlabs", no_tlabs)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("agent", "command", "classes", "java"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("names", nargs="+", choices=CASES)
    options = parser.parse_args()
    options.agent = os.path.abspath(options.agent)
    for name in options.names:
        with tempfile.TemporaryDirectory(prefix="heaprec-regressions-") as folder:
            print(json.dumps({"case": name, "runs": options.runs, "value": CASES[name](Bench(options), folder)}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
