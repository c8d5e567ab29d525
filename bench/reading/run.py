#!/usr/bin/env python3
"""How fast recordings are read, and in how much memory: heaprec's commands on a generated recording whose sums are known.

Writes (once) a recording of --events events with bench/reading:generate, and for each command prints events/s, CPU seconds
and the most memory resident, of `top` also what one core does. What `top`, `summary` and the exports say is compared
with the generator's sums: another sum is an error. With --jfr the JDK's own `jfr print --json` and `jfr summary` read the same events, exported by
`heaprec export --format jfr`, in the same run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUM_TOLERANCE = 1e-9


def measured(command, out, cores=None):
    """Runs it with its output in `out`: (wall seconds, CPU seconds, most resident MiB). `cores`: at most so many."""
    own = sorted(os.sched_getaffinity(0))
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=out, preexec_fn=lambda: os.sched_setaffinity(0, own[:cores]))
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def row(name, events, cost):
    wall, cpu, resident = cost
    print(f"{name:34} {events / wall / 1e6:10.3f} M events/s {wall:9.2f} s {cpu:9.2f} s CPU {resident:8.0f} MiB", flush=True)


def same(name, found, expected):
    if abs(found - expected) > SUM_TOLERANCE * abs(expected):
        sys.exit(f"{name}: {found!r}, but the generator wrote {expected!r}")


def generated(binaries, events, folder):
    recording, sums = folder / f"{events}.hrec", folder / f"{events}.json"
    if not sums.exists():
        recording.unlink(missing_ok=True)
        with open(folder / "new.json", "w") as out:
            measured([binaries / "bench/reading/generate", str(events), recording], out)
        os.rename(folder / "new.json", sums)
    print(f"{recording}: {events:,} events, {recording.stat().st_size:,} bytes", flush=True)
    return recording, json.loads(sums.read_text())


def check_summary(out, sums):
    summary = json.load(out)
    same("summary: events", summary["samples"], sums["events"])
    same("summary: bytes", summary["estimates"]["bytes_uncalibrated"]["value"], sums["bytes"])
    same("summary: objects", summary["estimates"]["objects"]["value"], sums["objects"])


def check_top(out, sums):
    document = json.load(out)
    same("top: events", document["scan"]["samples"], sums["events"])
    rows = document["tables"][0]["rows"]
    # Calibrated to what was counted: the sum of the weights but for its fractions.
    for one in rows:
        same(f"top: {one['name']}", one["bytes"]["value"], sums["classes"][one["name"]])
    same("top: classes", len(rows), len(sums["classes"]))


def check_collapsed(out, sums):
    same("collapsed: bytes", sum(int(line.rpartition(" ")[2]) for line in out), sums["bytes"])


# Commands, with what checks their output against the generator's sums.
RUNS = (
    (["summary", "--json"], check_summary),
    (["top", "--json"], check_top),
    (["top", "--by", "class"], None),
    (["top", "--by", "site"], None),
    (["tree"], None),
    (["diff"], None),
    (["verify"], None),
    (["print"], None),
    (["export", "--format", "collapsed"], check_collapsed),
    (["export", "--format", "pprof"], None),
    (["export", "--format", "csv"], None),
)


def heaprec_rows(heaprec, recording, sums, only, folder):
    for verb, check in RUNS:
        if only and verb[0] not in only:
            continue
        name = "heaprec " + " ".join(verb)
        command = [heaprec, *verb, recording] + ([recording] if verb == ["diff"] else [])
        if check is None:
            row(name, sums["events"], measured(command, subprocess.DEVNULL))
        else:
            with open(folder / "out", "w+") as out:
                row(name, sums["events"], measured(command, out))
                out.seek(0)
                check(out, sums)
        if verb[0] == "top":
            row(name + ", one core", sums["events"], measured(command, subprocess.DEVNULL, 1))


def jfr_rows(heaprec, jfr, recording, events, folder):
    exported = folder / f"{events}.jfr"
    row("heaprec export --format jfr", events,
        measured([heaprec, "export", "-f", "--format", "jfr", "-o", exported, recording], subprocess.DEVNULL))
    row("jfr summary", events, measured([jfr, "summary", exported], subprocess.DEVNULL))
    row("jfr print --json", events, measured([jfr, "print", "--json", exported], subprocess.DEVNULL))
    exported.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--jfr", type=int, default=0, metavar="EVENTS", help="also the peers, on so many events")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="COMMAND,...", help="not all commands")
    parser.add_argument("--binaries", type=pathlib.Path, default=ROOT / "bazel-bin")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "heaprec-reading",
                        help="keeps the generated recordings")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    heaprec = arguments.binaries / "tools/heaprec"
    recording, sums = generated(arguments.binaries, arguments.events, arguments.folder)
    heaprec_rows(heaprec, recording, sums, arguments.only, arguments.folder)
    if arguments.jfr > 0:
        recording, _ = generated(arguments.binaries, arguments.jfr, arguments.folder)
        jfr_rows(heaprec, "jfr", recording, arguments.jfr, arguments.folder)


if __name__ == "__main__":
    main()
