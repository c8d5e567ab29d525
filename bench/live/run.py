#!/usr/bin/env python3
"""A leak of known size among garbage: what `heaprec live` says of it. README.md says what is compared.

usage: bench/live/run.py [--runs N] [--leak MB] [--garbage MB] [--only G1,Z-25] [--jdk25 HOME]

Needs a JDK 17, for Z-25 a JDK 25, and `bazel build //recorder:libheaprec.so //tools:heaprec`.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
COLLECTORS = {"G1": ["-XX:+UseG1GC"], "Parallel": ["-XX:+UseParallelGC"], "Serial": ["-XX:+UseSerialGC"],
              "Z": ["-XX:+UseZGC"], "Shenandoah": ["-XX:+UseShenandoahGC"], "Z-25": ["-XX:+UseZGC"]}


def leak_of(options, folder, collector):
    """Bytes that the program keeps; what is told of the method that keeps them: value, low, high; the file's bytes."""
    file = folder / "r.hrec"
    file.unlink(missing_ok=True)
    home = options.jdk25 if collector == "Z-25" else JDK
    agent = f"-agentpath:{options.agent}=file={file},rate={options.rate},live={options.live}"
    kept = int(subprocess.run([pathlib.Path(home) / "bin/java", "-Xmx2g", *COLLECTORS[collector], agent, "-cp", folder, "Leak",
                               str(options.leak), str(options.garbage)], check=True, capture_output=True, text=True).stdout)
    told = json.loads(subprocess.run([options.heaprec, "live", "--json", "--by", "method", file], check=True,
                                     capture_output=True).stdout)
    rows = next(table["rows"] for table in told["tables"] if table["by"] == "method")
    row = next((row for row in rows if row["name"].endswith("Leak.leak")), None)
    found = row["bytes"] if row else {"value": 0, "low": 0, "high": 0}
    return kept, found, file.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--leak", type=int, default=512, help="MiB")
    parser.add_argument("--garbage", type=int, default=20_000, help="MiB")
    parser.add_argument("--rate", type=int, default=3000, help="samples a second")
    parser.add_argument("--live", default="on", help="maximum objects tracked; on: as the rate needs")
    parser.add_argument("--only", default=",".join(COLLECTORS))
    parser.add_argument("--jdk25", default=os.environ.get("HEAPREC_JDK25"))
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--heaprec", default=ROOT / "bazel-bin/tools/heaprec")
    options = parser.parse_args()
    print("| collector | runs | within its interval | within 15 % | estimate over truth, mean | worst | interval, mean half width |\n"
          "|---|---|---|---|---|---|---|")
    for collector in options.only.split(","):
        if collector == "Z-25" and not options.jdk25:
            print("| Z-25 | 0 | no JDK 25: --jdk25 | | | | |")
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([JDK / "bin/javac", "--release", "11", "-d", folder, HERE / "Leak.java"], check=True)
            runs = [leak_of(options, folder, collector) for _ in range(options.runs)]
        ratios = [found["value"] / kept for kept, found, _ in runs]
        inside = sum(found["low"] <= kept <= found["high"] for kept, found, _ in runs)
        near = sum(abs(ratio - 1) <= 0.15 for ratio in ratios)
        width = statistics.mean((found["high"] - found["low"]) / 2 / kept for kept, found, _ in runs)
        worst = max(ratios, key=lambda ratio: abs(ratio - 1))
        print(f"| {collector} | {len(runs)} | {inside} | {near} | {statistics.mean(ratios):.3f} | {worst:.3f} | {100 * width:.1f} % |",
              flush=True)


main()
