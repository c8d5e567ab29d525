#!/usr/bin/env python3
"""Bytes per event, all in, of heaprec and of JFR: README.md says what is counted.

usage: bench/size/run.py [synthetic | javac ...] [--rounds N] [--rate N]

Needs a JDK 17 with its src.zip and `bazel build //recorder:libheaprec.so //tools:heaprec`.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "bench/cost"))
from applications import compile_module, unpack_module  # noqa: E402

JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
SYNTHETIC_MS = 30_000
MODULE = "jdk.compiler"  # some 400 files
SETTINGS = """<configuration version="2.0"><event name="jdk.ObjectAllocationSample"><setting name="enabled">true</setting>
<setting name="stackTrace">true</setting><setting name="throttle">{rate}/s</setting></event></configuration>"""


def heaprec(options, folder):
    """The flags of a recording; how to count it: its bytes and its events."""
    file = folder / "r.hrec"

    def count():
        told = subprocess.run([options.heaprec, "summary", "--json", file], check=True, capture_output=True).stdout
        return file.stat().st_size, json.loads(told)["losses"]["written"]
    return [f"-agentpath:{options.agent}=file={file},rate={options.rate}"], count


def jfr(options, folder):
    file, settings = folder / "r.jfr", folder / "allocations.jfc"
    settings.write_text(SETTINGS.format(rate=options.rate))

    def count():
        told = subprocess.run([JDK / "bin/jfr", "summary", file], check=True, capture_output=True, text=True).stdout
        return file.stat().st_size, int(re.search(r"jdk\.ObjectAllocationSample\s+(\d+)", told).group(1))
    return ["-Xlog:jfr+startup=error", f"-XX:StartFlightRecording=filename={file},settings={settings}"], count


def synthetic(flags, folder):
    return [JDK / "bin/java", "-Xmx512m", *flags, "-cp", folder, "Depths", str(SYNTHETIC_MS)]


def javac(flags, folder):
    return compile_module(JDK, MODULE, ["-Xms512m", "-Xmx1g", *flags], folder)


def prepare(program, folder):
    if program == "javac":
        unpack_module(JDK, MODULE, folder)
    else:
        subprocess.run([JDK / "bin/javac", "-d", folder, HERE / "Depths.java"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    programs = {"synthetic": synthetic, "javac": javac}
    parser.add_argument("programs", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=150)
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--heaprec", default=ROOT / "bazel-bin/tools/heaprec")
    options = parser.parse_args()
    print("| program | tool | bytes per event, median (all rounds) | events |\n|---|---|---|---|")
    for program in options.programs or programs:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            prepare(program, folder)
            found = {tool.__name__: [] for tool in (heaprec, jfr)}
            for _ in range(options.rounds):
                for tool in (heaprec, jfr):
                    flags, count = tool(options, folder)
                    for old in folder.glob("r.*"):
                        old.unlink()
                    subprocess.run(programs[program](flags, folder), check=True, stdout=subprocess.DEVNULL)
                    found[tool.__name__].append(count())
            for tool, counts in found.items():
                each = [size / events for size, events in counts]
                print(f"| {program} | {tool} | {statistics.median(each):.1f} ({', '.join(f'{one:.1f}' for one in each)}) | "
                      f"{', '.join(str(events) for _, events in counts)} |", flush=True)


main()
