#!/usr/bin/env python3
"""The long form of //tests/fleet:exactly_once_test, and what it did as records in bench/results/fleet.json.

Usage: bench/fleet/faults.py [KILLS]      of the shipper (default 200); a tenth as many of the server
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import record  # noqa: E402

FIGURES = {"shipper killed": ("fleet.shipper_kills", "kill -9 of the shipper, each slice once", 200),
           "server killed": ("fleet.server_kills", "kill -9 of a server, each slice once", 20),
           "connections cut": ("fleet.cuts", "Connections cut, each slice once", 200)}


def main():
    kills = sys.argv[1] if len(sys.argv) > 1 else "200"
    subprocess.run(["bazel", "build", "--noshow_progress", "--ui_event_filters=-info", "//tools:heaprec",
                    "//bench/fleet:generate"], cwd=ROOT, check=True)
    done = subprocess.run([sys.executable, "tests/fleet/exactly_once_test.py", "bazel-bin/tools/heaprec",
                           "bazel-bin/bench/fleet/generate"], cwd=ROOT, env={**os.environ, "HEAPREC_FLEET_KILLS": kills},
                          stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout, end="")
    assert "passed" in done.stdout, "the test was skipped"
    for what, count in re.findall(r"^([a-z ]+): (\d+)$", done.stdout, re.MULTILINE):
        figure, name, goal = FIGURES[what]
        record.record("fleet", figure, area="Fleet", figure=name, goal=f">= {goal}, none lost or twice",
                      value=int(count), reached=int(count) >= goal, command=f"bench/fleet/faults.py {kills}",
                      notes="bench/fleet/README.md")


main()
