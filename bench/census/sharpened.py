#!/usr/bin/env python3
"""What a census does to the errors of class and site shares: the same recording read with it and without. README.md says more.

usage: bench/census/sharpened.py [--workloads steady,sizes] [--runs 5] [--seconds 10] [--census all]

Needs a JDK 17 and `bazel build //recorder:libheaprec.so //tools:heaprec`. The truth is counted, so a busy machine does no harm.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "accuracy"))
from metrics import LEAST_SHARE, ROUNDING, capped_count, distance, ideal_distance, per_second  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
SITES = "workloads.Sites."
KEYS = {"class": lambda site: site["class"], "site": lambda site: site["site"]}


def truth_by(truth, key):
    """Bytes by class or by site."""
    found = collections.Counter()
    for site in truth["sites"]:
        found[KEYS[key](site)] += site["bytes"]
    return found


def rows(options, recording, key, *more):
    told = subprocess.run([options.command, "top", "--by", key, "--json", "--kind", "tlab", "--kind", "outside", *more, recording],
                          check=True, capture_output=True, text=True).stdout
    document = json.loads(told)
    return document, {row["name"].split(":")[0]: row for row in document["tables"][0]["rows"]}


def judge(truth, found):
    """(total-variation distance of the shares, intervals that hold, intervals judged)"""
    total = sum(truth.values())
    told = [found.get(name, {}).get("bytes", {"value": 0}) for name in truth]
    estimated = sum(one["value"] for one in told)
    held = judged = 0
    for true, one in zip(truth.values(), told):
        if true < LEAST_SHARE * total or "low" not in one:
            continue
        judged += 1
        held += one["low"] * (1 - ROUNDING) <= true <= one["high"] * (1 + ROUNDING)
    return distance([b / total for b in truth.values()], [one["value"] / estimated for one in told]), held, judged


def run(options, classes, workload, seed):
    """{(key, with a census): (distance over the ideal of the cap, held, judged)}, and whether the census was used."""
    main_class, arguments, flags = WORKLOADS[workload]
    with tempfile.TemporaryDirectory() as folder:
        recording, census = f"{folder}/r.hrec", f",census={options.census}"
        subprocess.run([JDK / "bin/java", "-Xms1g", "-Xmx1g", "-XX:+UseG1GC", *flags,
                        f"-agentpath:{options.agent}=file={recording},rate={options.rate}/s{census}", "-cp", classes,
                        f"workloads.{main_class}", f"seconds={options.seconds}", f"seed={seed}", f"out={folder}/truth.json", *arguments],
                       check=True, stdout=subprocess.DEVNULL)
        truth = json.loads(pathlib.Path(f"{folder}/truth.json").read_text())
        n_cap = capped_count(per_second([b for b, _ in truth["bins"]], 10**9 // truth["bin_ns"]), options.rate)
        found, used = {}, ""
        for key in KEYS:
            true = truth_by(truth, key)
            ideal = ideal_distance(n_cap, [b / sum(true.values()) for b in true.values()]) if len(true) > 1 else 1
            for sharpened in (False, True):
                document, table = rows(options, recording, key, *([] if sharpened else ["--no-census"]))
                off, held, judged = judge(true, table)
                found[key, sharpened] = (off / ideal, held, judged)
            used = document["scan"]["recordings"][0]["census"]["reason"]
        return found, used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=int, default=150)
    parser.add_argument("--census", default="all")
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--command", default=ROOT / "bazel-bin/tools/heaprec")
    options = parser.parse_args()
    print("| workload | classes: error without, with | sites: without, with | sites covered without, with | not used |\n|---|---|---|---|---|---|")
    everything = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run([JDK / "bin/javac", "-d", classes, *sorted((HERE.parent / "accuracy/workloads").glob("*.java"))], check=True)
        for workload in options.workloads.split(","):
            all_runs, reasons = collections.defaultdict(list), []
            for seed in range(1, options.runs + 1):
                found, reason = run(options, classes, workload, seed)
                reasons += [reason] if reason else []
                for which, one in found.items():
                    all_runs[which].append(one)
                    everything[which].append(one)
            print(line(workload, all_runs, reasons), flush=True)
    print(line("**all**", everything, []))


def line(name, runs, reasons):
    def error(key, sharpened):
        return f"{statistics.mean(one[0] for one in runs[key, sharpened]):.3f}"

    def covered(sharpened):
        held, judged = (sum(one[i] for one in runs["site", sharpened]) for i in (1, 2))
        return f"{100 * held / max(1, judged):.1f} %"
    cells = [name, *(f"{error(key, False)}, {error(key, True)}" for key in KEYS), f"{covered(False)}, {covered(True)}",
             "; ".join(sorted(set(reasons)))]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
