#!/usr/bin/env python3
"""Measures what a damaged run of 512 bytes costs a recording. Overwrites one run at a time with random bytes, at evenly
spaced offsets of the file. Counts the events that `heaprec print` no longer shows, and those that lost a name. A file
that cannot be read has lost all events.

Usage: bench/size/damage.py [REC...] [--runs 100] [--agent PATH] [--heaprec PATH]

Without REC it records Maps.java three times, for 0.1, 2.5 and 6 s. That needs a JDK 17 and
`bazel build //recorder:libheaprec.so //tools:heaprec`.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
RUN = 512
RECORDED_MS = 100, 2500, 6000


def events(heaprec, path):
    """Returns the number of events in the file, and of those with all their names; 0, 0 if it cannot be read."""
    printed = subprocess.run([heaprec, "print", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = [event for event in json.loads(printed.stdout or '{"events": []}')["events"] if "weight_bytes" in event]
    return len(found), sum("[lost]" not in json.dumps(event) for event in found)


def record(agent, folder):
    """Records Maps.java; returns the files."""
    subprocess.run([JDK / "bin/javac", "-d", folder, HERE / "Maps.java"], check=True)
    files = [folder / f"{ms}ms.hrec" for ms in RECORDED_MS]
    for file, ms in zip(files, RECORDED_MS):
        subprocess.run([JDK / "bin/java", "-XX:+UseG1GC", "-Xmx512m", f"-agentpath:{agent}=file={file},rate=150", "-cp",
                        folder, "Maps", str(ms)], check=True)
    return files


def measure(heaprec, path, runs):
    """Prints what runs of damaged bytes cost this recording."""
    chance = random.Random(1)
    whole = pathlib.Path(path).read_bytes()
    count, _ = events(heaprec, path)
    lost, unnamed = [], []
    with tempfile.NamedTemporaryFile(suffix=".hrec") as damaged:
        for run in range(runs):
            at = (len(whole) - RUN) * run // max(runs - 1, 1)
            noise = bytes(byte ^ chance.randrange(1, 256) for byte in whole[at:at + RUN])
            pathlib.Path(damaged.name).write_bytes(whole[:at] + noise + whole[at + RUN:])
            left, named = events(heaprec, damaged.name)
            lost.append(100 * (1 - left / count))
            unnamed.append(100 * (left - named) / count)
    print(f"{path}: {len(whole)} bytes, {count} events; of {runs} runs of {RUN} bytes "
          f"{sum(share > 1 for share in lost)} cost more than 1 % of the events: {sum(lost) / len(lost):.1f} % on "
          f"average, {max(lost):.1f} % at most; {sum(unnamed) / len(unnamed):.1f} % lost a name", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", metavar="REC")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--heaprec", default=ROOT / "bazel-bin/tools/heaprec")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in args.recordings or record(args.agent, pathlib.Path(folder)):
            measure(args.heaprec, path, args.runs)


if __name__ == "__main__":
    main()
