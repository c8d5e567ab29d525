#!/usr/bin/env python3
"""Searches for what holds live objects, one after another, of a heap that changes: does it stay right, on each JDK and collector?

usage: bench/live/stress.py AGENT HEAPREC PROGRAMS [--jdks HOME,...] [--searches 1000] [--record]    PROGRAMS: //tests/e2e:programs.jar

Runs the Stress tests of tests/e2e/paths/paths_test.py, and counts the searches of those that pass.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402

COLLECTORS = ("G1", "Parallel", "Serial")
SECONDS_A_SEARCH = 3  # at most


def passes(options, jdk, collector):
    test = f"Stress.test_the_heap_stays_right_on_default_{collector}"
    try:
        done = subprocess.run([sys.executable, ROOT / "tests/e2e/paths/paths_test.py", options.agent, options.heaprec, options.programs, "--", test],
                              env={**os.environ, "JAVA_HOME": jdk, "HEAPREC_SEARCHES": str(options.searches)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=60 + SECONDS_A_SEARCH * options.searches)
    except subprocess.TimeoutExpired as late:
        print(f"{jdk} {collector}: {late}")
        return False
    if done.returncode != 0:
        print(done.stdout)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("heaprec")
    parser.add_argument("programs")
    parser.add_argument("--jdks", default=os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"))
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    options = parser.parse_args()
    for jdk in options.jdks.split(","):
        with open(f"{jdk}/release") as release:
            version = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', release.read()).group(1)
        passed = {}
        for collector in COLLECTORS:
            passed[collector] = options.searches if passes(options, jdk, collector) else 0
            print(f"JDK {version}, {collector}: {passed[collector]} of {options.searches} searches", flush=True)
        if options.record:
            value, goal = sum(passed.values()), options.searches * len(COLLECTORS)
            record("measurements", f"paths.stress.{version}", area="Live objects", figure=f"JDK {version}: searches of a heap that stays right",
                   goal=f">= {goal}", value=value, unit="searches", **passed, reached=value >= goal,
                   command=f"bench/live/stress.py --searches {options.searches}", notes="bench/live/README.md")


if __name__ == "__main__":
    main()
