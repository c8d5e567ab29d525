#!/usr/bin/env python3
"""How much later `java -jar heaprec.jar top` has printed its table than the command that the jar holds, side by side.

usage: bench/cost/jar_start.py [--rounds 40] [--jar JAR] [--record]      after `bazel build //dist:maven`
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

from paired import estimate, interleaved
from processes import Machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402
JAVA = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "bin/java")
GOAL = 0.3  # seconds
TOP = ["top", "--by", "class", ROOT / "tests/golden/javac.hrec"]


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40, help="at least 6, for an interval")
    parser.add_argument("--jar", type=pathlib.Path, help="default: the one in bazel-bin/dist")
    parser.add_argument("--record", action="store_true", help="keep the figure in bench/results")
    options = parser.parse_args()
    jar = options.jar or next((ROOT / "bazel-bin/dist").glob("heaprec-[0-9]*[0-9].jar"), None)
    if jar is None:
        parser.error("no heaprec-VERSION.jar in bazel-bin/dist: bazel build //dist:maven")
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(jar) as archive:
            command = archive.extract(f"heaprec/native/linux-{os.uname().machine}/heaprec", folder)
        os.chmod(command, 0o700)
        by_jar = [JAVA, f"-Dheaprec.cache={folder}/cache", "-jar", jar, *TOP]
        first = seconds(by_jar)  # extracts the command
        commands = {"jar": by_jar, "command": [command, *TOP]}
        found = interleaved(list(commands), options.rounds, lambda arm: seconds(commands[arm]))
    low, middle, high = estimate([jar - own for jar, own in zip(found["jar"], found["command"])])
    others = 100 * machine.taken_by_others()
    _, own, _ = estimate(found["command"])
    print(f"{middle:.3f} s ({low:.3f} to {high:.3f}) beyond the command's {own:.3f} s, {options.rounds} rounds; the first run, "
          f"which extracts the command: {first:.3f} s; other processes took {others:.0f} % of the machine")
    if options.record:
        record("measurements", "cost.jar_start", area="Cost", figure="java -jar heaprec.jar top, beyond the command",
               goal=f"<= {GOAL} s", value=round(middle, 3), low=round(low, 3), high=round(high, 3), unit="s", reached=high <= GOAL,
               command=f"bench/cost/jar_start.py --rounds {options.rounds}; other processes took {others:.0f} % of the machine",
               notes="bench/cost/README.md")


if __name__ == "__main__":
    main()
