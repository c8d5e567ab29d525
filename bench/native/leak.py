#!/usr/bin/env python3
"""A leak of 64 MB among 500 MB of churn in a JVM, sampled: how often it, and the churn, are within 15 % and in their interval.

usage: bench/native/leak.py [--runs N] [--seconds S] [--rate R] [--at-once N]

Needs `bazel build //tests/native:libnative_jni.so //recorder:libheaprec.so //tools:heaprec` and a JDK (JAVA_HOME, or java on the path).
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRUTH = {"keep": 64e6, "churn": 500e6}


def java(name):
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/{name}" if home else shutil.which(name)


def measured(options, folder, run):
    """For each site: estimate, low, high; samples."""
    file = f"{folder}/{run}.bin"
    agent = f"-agentpath:{ROOT}/bazel-bin/recorder/libheaprec.so=file={file},native=on,native.rate={options.rate}"
    seconds = options.seconds
    library = ROOT / "bazel-bin/tests/native/libnative_jni.so"
    subprocess.run([java("java"), "-Xmx64m", agent, "-cp", folder, "Native", library, str(seconds)], check=True, capture_output=True)
    out = subprocess.run([ROOT / "bazel-bin/tools/heaprec", "native", "--json", file], check=True, capture_output=True, text=True).stdout
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    found = {}
    for site, figure in (("keep", "live"), ("churn", "allocated")):
        row = next(row for name, row in rows.items() if name.endswith(f"Java_Native_{site}"))
        found[site] = row[figure]["bytes"], row["allocated"]["samples"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([java("javac"), "-d", folder, ROOT / "tests/native/Native.java"], check=True)
        with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
            runs = list(pool.map(lambda run: measured(options, folder, run), range(options.runs)))
    print(f"{options.runs} runs of {options.seconds} s at {options.rate} samples a second")
    for site, truth in TRUTH.items():
        estimates = [run[site][0] for run in runs]
        ratios = [estimate["value"] / truth for estimate in estimates]
        held = sum(estimate["low"] <= truth <= estimate["high"] for estimate in estimates)
        within = sum(abs(ratio - 1) <= 0.15 for ratio in ratios)
        print(f"{site:6} {truth / 1e6:5.0f} MB: within 15 % in {within}, in its interval in {held}; mean {statistics.mean(ratios):.3f}, "
              f"from {min(ratios):.3f} to {max(ratios):.3f}; {statistics.mean(run[site][1] for run in runs):.0f} samples")


main()
