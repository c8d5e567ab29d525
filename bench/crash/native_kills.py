#!/usr/bin/env python3
"""Kills recorders of native memory, and stores how many sample points of malloc were lost (crash.native_kills).

    bench/crash/native_kills.py [--kills 1000]

The kills and the witness are those of //tests/crash:native_kill_test.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402
TEST = "//tests/crash:native_kill_test"
TOTALS = re.compile(r"(\d+) kills: (\d+) points seen, (\d+) lost; (\d+) of (\d+) samples read from rings")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kills", type=int, default=1000)
    arguments.add_argument("--bazel", default="bazel")
    given = arguments.parse_args()
    command = ["test", TEST, f"--test_env=HEAPREC_KILLS={given.kills}", "--test_timeout=3600", "--test_output=all",
               "--cache_test_results=no"]
    run = subprocess.run([given.bazel, *command], cwd=ROOT, capture_output=True, text=True)
    totals = TOTALS.findall(" ".join(run.stdout.split()))  # the test breaks its lines
    if run.returncode != 0 or not totals:
        sys.stderr.write(run.stdout + run.stderr)
        return 1
    kills, seen, lost, from_ring, samples = (sum(column) for column in zip(*(map(int, row) for row in totals)))
    record("measurements", "crash.native_kills", area="Crashes and disks",
           figure=f"{kills:,} kills: malloc sample points lost", goal="0", value=lost, points=seen, samples=samples,
           samples_from_ring=from_ring, command=f"bench/crash/native_kills.py --kills {given.kills}", reached=lost == 0,
           **({"reason": "a committed sample point is missing after a kill"} if lost else {}),
           notes="bench/crash/README.md")
    print(f"{kills} kills: {seen} points seen, {lost} lost; {from_ring} of {samples} samples read from rings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
