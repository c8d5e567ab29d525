#!/usr/bin/env python3
"""What counting every object costs: ns for each in the loop in which that weighs most. README.md says what is compared.

usage: bench/census/run.py [--runs N] [--collectors Serial,Parallel,G1] [--applications javac,H2]

Needs a JDK 17 and `bazel build //recorder:libheaprec.so //tools:heaprec`.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "cost"))
from applications import APPLICATIONS  # noqa: E402
from paired import estimate, interleaved  # noqa: E402
from processes import cpu_seconds  # noqa: E402

JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
# What an object costs in the loop in which it costs most, beside other programs (measured below): walking is memory.
WORST_NS = 4.34
ARMS = {"plain": None, "off": "", "all": ",census=all", "20/s": ",census=20/s"}


def run(options, folder, collector, arm):
    """The median round of one JVM, in ns of the thread's CPU an object."""
    agent = [] if ARMS[arm] is None else [f"-agentpath:{options.agent}=file={folder / 'r.hrec'},ring=off{ARMS[arm]}"]
    (folder / "r.hrec").unlink(missing_ok=True)
    command = [JDK / "bin/java", f"-XX:+Use{collector}GC", "-Xmx512m", "-Xms512m", *agent, "-cp", folder, "Worst",
               str(options.rounds), str(options.millions)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return statistics.median(float(line) for line in told.split())


def objects_walked(options, file):
    told = subprocess.run([options.command, "census", "--json", file], check=True, capture_output=True, text=True).stdout
    census = json.loads(told)
    total = census["total"]
    return census["recordings"][0]["walked_bytes"] * total["objects"]["value"] / max(total["bytes"]["value"], 1)


def application(options, name):
    """CPU of the whole process with a census over that of the same recording without one, in %; what the objects that were walked cost at
    the worst; and what the file is."""
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        APPLICATIONS[name].prepare(JDK, folder)
        sizes, walked = {}, {}

        def once(arm):
            file = folder / "r.hrec"
            file.unlink(missing_ok=True)
            agent = f"-agentpath:{options.agent}=file={file}{ARMS[arm]}"
            seconds = cpu_seconds(APPLICATIONS[name].command(JDK, [agent], folder), folder, folder / "out")
            sizes.setdefault(arm, []).append(file.stat().st_size)
            if arm != "off":
                walked.setdefault(arm, []).append(100e-9 * WORST_NS * objects_walked(options, file) / seconds)
            return seconds
        once("off")
        found = interleaved(["off", "20/s", "all"], options.runs, once)
    cells = [f"{name} | {statistics.median(found['off']):.2f} s, {statistics.median(sizes['off']) / 1024:.0f} KiB"]
    for arm in ("20/s", "all"):
        low, middle, high = estimate([100 * (one / off - 1) for one, off in zip(found[arm], found["off"])])
        cells.append(f"{middle:+.2f} % ({low:+.2f} to {high:+.2f}); walks {statistics.median(walked[arm]):.3f} % at the worst, "
                     f"{statistics.median(sizes[arm]) / 1024:.0f} KiB")
    print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--millions", type=int, default=50)
    parser.add_argument("--collectors", default="Serial,Parallel,G1")
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--command", default=ROOT / "bazel-bin/tools/heaprec")
    parser.add_argument("--applications", default="")
    options = parser.parse_args()
    if options.applications:
        print("| application | a recording without: CPU, file | census=20/s | census=all |\n|---|---|---|---|")
        for name in options.applications.split(","):
            application(options, name)
        return
    print("| collector | ns per object | census off | census=all | census=20/s |\n|---|---|---|---|---|")
    for collector in options.collectors.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([JDK / "bin/javac", "--release", "11", "-d", folder, HERE / "Worst.java"], check=True)
            found = interleaved(list(ARMS), options.runs, lambda arm: run(options, folder, collector, arm))
        cells = []
        for arm in ("off", "all", "20/s"):
            low, middle, high = estimate([one - plain for one, plain in zip(found[arm], found["plain"])])
            cells.append(f"{middle:+.2f} ({low:+.2f} to {high:+.2f})")
        print(f"| {collector} | {statistics.median(found['plain']):.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
