#!/usr/bin/env python3
"""Measures what a damaged run of 512 bytes, or a flipped bit, costs a recording. Damages one place at a time, at evenly
spaced offsets of the file. Counts the events that `heaprec print` no longer shows, and those that lost a name. A file
that cannot be read has lost all events.

Usage: bench/size/damage.py [REC...] [--runs 100] [--record] [--agent PATH] [--heaprec PATH]

Without REC it records Maps.java: three times for 0.1, 2.5 and 6 s; once until it is killed after 20 s, without its
ring; and once at 6/min for 0.05 s, a chunk too small for parity. --record stores what the smallest of the three, the
killed and the tiny one lost (size.repair_*). That needs a JDK 17 and
`bazel build //recorder:libheaprec.so //tools:heaprec`.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from record import record as store  # noqa: E402
JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
RUN = 512
# Name, milliseconds, options of the agent.
RECORDED = [("100ms", 100, "rate=150"), ("2500ms", 2500, "rate=150"), ("6000ms", 6000, "rate=150"),
            ("killed", 20_000, "rate=150"), ("tiny", 50, "rate=6/min")]
NO_PARITY_YET = ("the blocks since the last parity record, up to 24 KiB or 10 s, have none when a JVM is killed: a record of "
                 "512 bytes of parity takes about 670 bytes, 5 % of 13.4 kB, so a smaller block cannot have its own. Damage there "
                 "costs the blocks that it hits")
NO_BIT_PARITY_YET = (
    "the blocks since the last parity record, up to 24 KiB or 10 s, have none when a JVM is killed. A record that repairs a "
    "bit takes 64 bytes, 5 % of 1,280 bytes: after each block it would use up the 5 % that records of 512 bytes need")
# Recording, damage, id, name, reason.
STORED = [
    ("100ms", "run", "repair_small", "Events lost to 512 damaged bytes, file of 6 kB",
     "a chunk of less than 13.5 kB has less than 512 bytes of parity, which is limited to 5 % of it. The run then costs the "
     "blocks that it hits, here the only one; by size: bench/size/README.md"),
    ("killed", "run", "repair_killed", "Events lost to 512 damaged bytes, killed JVM", NO_PARITY_YET),
    ("killed", "bit", "repair_killed_bit", "Events lost to a flipped bit, killed JVM", NO_BIT_PARITY_YET),
    ("tiny", "bit", "repair_tiny", "Events lost to a flipped bit, chunk below 1.3 kB",
     "the smallest parity record takes 64 bytes, which is 5 % of 1,280 bytes. Damage in a smaller chunk costs its block, "
     "here the only sample"),
]


def events(heaprec, path):
    """Returns the number of events in the file, and of those with all their names; 0, 0 if it cannot be read."""
    printed = subprocess.run([heaprec, "print", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = [event for event in json.loads(printed.stdout or '{"events": []}')["events"] if "weight_bytes" in event]
    return len(found), sum("[lost]" not in json.dumps(event) for event in found)


def record(agent, folder):
    """Records Maps.java; returns the files."""
    subprocess.run([JDK / "bin/javac", "-d", folder, HERE / "Maps.java"], check=True)
    files = []
    for name, ms, options in RECORDED:
        files.append(folder / f"{name}.hrec")
        jvm = subprocess.Popen([JDK / "bin/java", "-XX:+UseG1GC", "-Xmx512m", f"-agentpath:{agent}=file={files[-1]},{options}",
                                "-cp", folder, "Maps", str(10 * ms if name == "killed" else ms)])
        if name == "killed":
            try:
                jvm.wait(ms / 1000)
            except subprocess.TimeoutExpired:
                jvm.kill()
        jvm.wait()
        for ring in pathlib.Path("/dev/shm").glob(f"heaprec-{jvm.pid}-*.ring"):
            ring.unlink()
    return files


def damaged(whole, at, damage, chance):
    """The file with a run of other bytes, or one flipped bit, at this offset."""
    noise = bytes(byte ^ chance.randrange(1, 256) for byte in whole[at:at + RUN]) if damage == "run" else bytes(
        [whole[at] ^ 1 << chance.randrange(8)])
    return whole[:at] + noise + whole[at + len(noise):]


def measure(heaprec, path, damage, runs):
    """Prints what damage costs this recording; returns the fields of its record."""
    chance = random.Random(1)
    whole = pathlib.Path(path).read_bytes()
    count, _ = events(heaprec, path)
    lost, unnamed = [], []
    with tempfile.NamedTemporaryFile(suffix=".hrec") as copy:
        for run in range(runs):
            at = (len(whole) - (RUN if damage == "run" else 1)) * run // max(runs - 1, 1)
            pathlib.Path(copy.name).write_bytes(damaged(whole, at, damage, chance))
            left, named = events(heaprec, copy.name)
            lost.append(100 * (1 - left / count))
            unnamed.append(100 * (left - named) / count)
    costly = sum(share > 1 for share in lost)
    print(f"{path}: {len(whole)} bytes, {count} events; of {runs} {'runs of 512 bytes' if damage == 'run' else 'bits'} "
          f"{costly} cost more than 1 % of the events: {sum(lost) / len(lost):.1f} % on average, {max(lost):.1f} % at most; "
          f"{sum(unnamed) / len(unnamed):.1f} % lost a name", flush=True)
    return {"value": round(max(lost), 1), "mean": round(sum(lost) / len(lost), 1), "damaged": runs,
            "damaged_with_loss": costly, "bytes": len(whole), "events": count}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", metavar="REC")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--agent", default=ROOT / "bazel-bin/recorder/libheaprec.so")
    parser.add_argument("--heaprec", default=ROOT / "bazel-bin/tools/heaprec")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {(pathlib.Path(path).stem, damage): measure(args.heaprec, path, damage, args.runs)
                 for path in args.recordings or record(args.agent, pathlib.Path(folder)) for damage in ("run", "bit")}
    for name, damage, figure_id, figure, reason in STORED if args.record and not args.recordings else []:
        fields = found[name, damage]
        missed = {"reached": False, "reason": reason} if fields["value"] > 1 else {"reached": True}
        store("measurements", f"size.{figure_id}", area="Size and damage", figure=figure, goal="<= 1 %", unit="% at most",
              command=f"bench/size/damage.py --runs {args.runs} --record", notes="bench/size/README.md", **fields, **missed)


if __name__ == "__main__":
    main()
