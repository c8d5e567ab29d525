#!/usr/bin/env python3
"""Measures what a damaged run of 512 bytes costs a recording. Overwrites one run at a time with random bytes, at evenly
spaced offsets of the file. Counts the events that `heaprec print` no longer shows, and those that lost a name. A file
that cannot be read has lost all events.

Usage: bench/size/damage.py REC... [--runs 100] [--heaprec PATH]
"""
import argparse
import json
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = 512


def events(heaprec, path):
    """Returns the number of events in the file, and of those with all their names; 0, 0 if it cannot be read."""
    printed = subprocess.run([heaprec, "print", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = [event for event in json.loads(printed.stdout or '{"events": []}')["events"] if "weight_bytes" in event]
    return len(found), sum("[lost]" not in json.dumps(event) for event in found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="+", metavar="REC")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--heaprec", default=ROOT / "bazel-bin/tools/heaprec")
    args = parser.parse_args()
    chance = random.Random(1)
    for path in args.recordings:
        whole = pathlib.Path(path).read_bytes()
        count, _ = events(args.heaprec, path)
        lost, unnamed = [], []
        with tempfile.NamedTemporaryFile(suffix=".hrec") as damaged:
            for run in range(args.runs):
                at = (len(whole) - RUN) * run // max(args.runs - 1, 1)
                noise = bytes(byte ^ chance.randrange(1, 256) for byte in whole[at:at + RUN])
                pathlib.Path(damaged.name).write_bytes(whole[:at] + noise + whole[at + RUN:])
                left, named = events(args.heaprec, damaged.name)
                lost.append(100 * (1 - left / count))
                unnamed.append(100 * (left - named) / count)
        print(f"{path}: {len(whole)} bytes, {count} events; of {args.runs} runs of {RUN} bytes "
              f"{sum(share > 1 for share in lost)} cost more than 1 % of the events: {sum(lost) / len(lost):.1f} % on "
              f"average, {max(lost):.1f} % at most; {sum(unnamed) / len(unnamed):.1f} % lost a name")


if __name__ == "__main__":
    main()
