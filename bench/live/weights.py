#!/usr/bin/env python3
"""How often the intervals of `heaprec paths` hold the share that is held in a known way, in a JVM that counts its bytes.

usage: bench/live/weights.py AGENT HEAPREC [--runs 40] [--jdk HOME] [--record]

Holders.java keeps 256 MiB in ten ways and prints how many bytes each holds; about 1,000 of its arrays are tracked.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

PATIENCE = 120  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402

STATICS = ("ARRAY", "MAP", "TREE", "CONCURRENT", "LINKED", "QUEUE", "LISTENERS")
# By way: steps of its place, from the root.
PLACES = {**{name: [f"Holders.{name} (static)"] for name in STATICS}, "holder": ["running thread holder", "java.lang.Thread.threadLocals"],
          "carts": ["Holders.SHOP (static)", "Holders$Shop.carts"], "pages": ["Holders.SHOP (static)", "Holders$Shop.pages"]}


def share_at(rows, place):
    for row in rows:
        if row["steps"][0] != place[0]:
            continue
        left = place[len([step for step in row["steps"] if step in place]):]
        return share_at(row["children"], left) if left else row["share"]
    return {"value": 0, "low": 0, "high": 0}


def run(options, folder, seed):
    """By way: the true share, and the interval. And the number of samples."""
    recording = pathlib.Path(folder, f"{seed}.hrec")
    program = subprocess.Popen([options.jdk / "bin/java", "-Xmx1g", f"-agentpath:{options.agent}=file={folder}/held.hrec,rate=1000,paths=on,paths.pause=60s",
                                "-cp", folder, "Holders", "256", str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
    truth = {}
    try:
        for line in program.stdout:
            if line == "ready\n":
                break
            way, count = line.split()
            truth[way] = int(count)
        subprocess.run([options.heaprec, "dump", "--flush", "-q", "-o", recording, str(program.pid)], check=True)
        program.communicate("\n", timeout=PATIENCE)
    finally:
        program.kill()
    pathlib.Path(folder, "held.hrec").unlink()
    shown = json.loads(subprocess.run([options.heaprec, "paths", "--json", "--min-share", "0", "--site", "Holders.make", recording], check=True,
                                      stdout=subprocess.PIPE).stdout)
    assert shown["end"] == "complete", shown["end"]
    return {way: (count / sum(truth.values()), share_at(shown["children"], PLACES[way])) for way, count in truth.items()}, shown["samples"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("heaprec", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jdk", type=pathlib.Path, default=pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64"))
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    options = parser.parse_args()
    held, errors, samples = {way: [] for way in PLACES}, {way: [] for way in PLACES}, []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.jdk / "bin/javac", "-d", folder, ROOT / "bench/live/Holders.java"], check=True)
        for seed in range(options.runs):
            shares, count = run(options, folder, seed)
            samples.append(count)
            for way, (true, share) in shares.items():
                held[way].append(share["low"] <= true <= share["high"])
                errors[way].append(share["value"] / true - 1)
    for way, of in held.items():
        error = errors[way]
        print(f"{way:12} {sum(of)} of {len(of)}, mean error {100 * sum(error) / len(error):+.1f} %, root of mean square "
              f"{100 * (sum(one * one for one in error) / len(error)) ** 0.5:.1f} %")
    pairs = [one for of in held.values() for one in of]
    value = sum(pairs) / len(pairs)
    print(f"{100 * value:.1f} % of {len(pairs)} intervals hold the truth; {min(samples)} to {max(samples)} samples")
    if options.record:
        record("measurements", "paths.weights", area="Live objects", figure="95 % intervals of shares of holders that hold the truth", goal="0.93 to 0.97",
               value=round(value, 3), unit="share", reached=0.93 <= value <= 0.97, command=f"bench/live/weights.py --runs {options.runs}: {len(pairs)} intervals",
               notes="bench/live/README.md")


if __name__ == "__main__":
    main()
