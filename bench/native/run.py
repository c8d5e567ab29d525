#!/usr/bin/env python3
"""What counting every malloc costs, beside nothing and beside others, in one run. README.md says what is compared.

usage: bench/native/run.py [--rounds N] [--pairs N] [--only NAME] [--jemalloc LIB] [--async-profiler LIB [--interval BYTES]]

Needs `bazel build //bench/native:all //recorder:libheaprec-native.so //recorder:libheaprec.so`; heaptrack and jemalloc are measured where they are installed.
"""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ways(options, folder):
    """Name, environment, command in front."""
    preload = str(ROOT / "bazel-bin/recorder/libheaprec-native.so")
    yield "plain", {}, []
    yield "forwarded", {"LD_PRELOAD": str(ROOT / "bazel-bin/bench/native/libforward0.so")}, []
    yield "forwarded, 16 bytes more", {"LD_PRELOAD": str(ROOT / "bazel-bin/bench/native/libforward16.so")}, []
    yield "forwarded, and a word in them", {"LD_PRELOAD": str(ROOT / "bazel-bin/bench/native/libforward16_word.so")}, []
    yield "exact", {"LD_PRELOAD": preload, "HEAPREC_NATIVE_EXACT": f"file={folder}/n-%p.bin"}, []
    yield "exact, depth 8", {"LD_PRELOAD": preload, "HEAPREC_NATIVE_EXACT": f"file={folder}/n-%p.bin,depth=8"}, []
    agent = str(ROOT / "bazel-bin/recorder/libheaprec.so")
    yield "sampled", {"LD_PRELOAD": agent, "HEAPREC_NATIVE_SAMPLED": f"file={folder}/s-%p.bin"}, []
    if options.async_profiler:
        command = f"start,nativemem={options.interval},file={folder}/async-%p.jfr"
        yield "async-profiler", {"LD_PRELOAD": options.async_profiler, "ASPROF_COMMAND": command}, []
    if pathlib.Path(options.jemalloc).exists():
        yield "jemalloc", {"LD_PRELOAD": options.jemalloc}, []
        yield "jemalloc, prof", {"LD_PRELOAD": options.jemalloc, "MALLOC_CONF": f"prof:true,prof_prefix:{folder}/je"}, []
    if shutil.which("heaptrack"):
        yield "heaptrack", {}, ["heaptrack", "-o", f"{folder}/heaptrack"]


def measured(way, arguments):
    _, environment, front = way
    out = subprocess.run([*front, ROOT / "bazel-bin/bench/native/pairs", *map(str, arguments)], check=True, capture_output=True,
                         text=True, env={**os.environ, **environment}).stdout
    return next(float(line) for line in out.splitlines() if line.replace(".", "").isdigit())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--only", action="append", help="these ways, beside plain")
    parser.add_argument("--jemalloc", default="/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", help="one that was built with profiling")
    parser.add_argument("--async-profiler", metavar="LIB", help="libasyncProfiler.so, 4.0 or later")
    parser.add_argument("--interval", default="1m", help="of async-profiler: bytes of a thread for a sample")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_ways = [way for way in ways(options, folder) if not options.only or way[0] in ("plain", *options.only)]
        print("| ns per pair by live blocks: best of the rounds; median | 1,000 | 100,000 | 1,000,000 | Mpairs/s, 16 threads |")
        print("|---|---|---|---|---|", flush=True)
        found = {name: [[], [], [], []] for name, _, _ in all_ways}
        for _ in range(options.rounds):
            for way in random.sample(all_ways, len(all_ways)):  # whatever else the machine does is nobody's alone
                if way[0] == "heaptrack" and found["heaptrack"][0]:
                    continue  # minutes and gigabytes
                pairs = options.pairs // (10 if way[0] == "heaptrack" else 1)
                for i, live in enumerate((1000, 100_000, 1_000_000)):
                    found[way[0]][i].append(measured(way, [live, pairs]))
                found[way[0]][3].append(measured(way, [1000, pairs, 16]))
        for name, rounds in found.items():
            plain = found["plain"]
            cells = [f"{best(of):.1f} ({best(of) - best(plain[i]):+.1f}); {median(of):.1f} ({median(of) - median(plain[i]):+.1f})"
                     for i, of in enumerate(rounds[:3]) for best, median in [(min, statistics.median)]]
            threads = statistics.median(rounds[3])
            print(f"| {name} | {' | '.join(cells)} | {threads:.1f} ({100 * threads / statistics.median(plain[3]):.0f} %) |")
        print(f"\nload {os.getloadavg()[0]:.1f} at the end")


main()
