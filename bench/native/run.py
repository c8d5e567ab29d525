#!/usr/bin/env python3
"""What counting every malloc costs, beside nothing and beside others, in one run. README.md says what is compared.

usage: bench/native/run.py [--rounds N] [--pairs N] [--jemalloc LIB]

Needs `bazel build //bench/native:pairs //recorder:libheaprec-native.so`; heaptrack is measured where it is installed.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ways(options, folder):
    """Name, environment, command in front."""
    preload = str(ROOT / "bazel-bin/recorder/libheaprec-native.so")
    yield "plain", {}, []
    yield "exact", {"LD_PRELOAD": preload, "HEAPREC_NATIVE": f"file={folder}/n-%p.bin"}, []
    yield "exact, depth 8", {"LD_PRELOAD": preload, "HEAPREC_NATIVE": f"file={folder}/n-%p.bin,depth=8"}, []
    if options.jemalloc:
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
    parser.add_argument("--jemalloc", help="a libjemalloc.so that was built with profiling")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_ways = list(ways(options, folder))
        print("| ns per pair, best of the rounds, by live blocks | 1,000 | 100,000 | 1,000,000 | Mpairs/s, 16 threads |\n|---|---|---|---|---|", flush=True)
        found = {name: [[], [], [], []] for name, _, _ in all_ways}
        for _ in range(options.rounds):
            for way in all_ways:
                if way[0] == "heaptrack" and found["heaptrack"][0]:
                    continue  # minutes and gigabytes
                pairs = options.pairs // (10 if way[0] == "heaptrack" else 1)
                for i, live in enumerate((1000, 100_000, 1_000_000)):
                    found[way[0]][i].append(measured(way, [live, pairs]))
                found[way[0]][3].append(measured(way, [1000, pairs, 16]))
        for name, rounds in found.items():
            plain = found["plain"]
            cells = [f"{min(of):.1f} ({min(of) - min(plain[i]):+.1f})" for i, of in enumerate(rounds[:3])]
            threads = statistics.median(rounds[3])
            print(f"| {name} | {' | '.join(cells)} | {threads:.1f} ({100 * threads / statistics.median(plain[3]):.0f} %) |")


main()
