#!/usr/bin/env python3
"""What `live` costs: applications recorded with and without it, in turn. README.md defines the figures.

usage: bench/live/overhead.py [--rounds 20] [--only javac,H2] [--collector G1] [--rate 150] [--live on] [--json FILE]

Needs bench/cost/fetch_applications.sh, a JDK 17 (or $JAVA_HOME) and `bazel build //recorder:libheaprec.so`.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench/cost"))
from applications import APPLICATIONS  # noqa: E402
from micro import Row  # noqa: E402
from paired import interleaved  # noqa: E402
from processes import Machine, cpu_seconds  # noqa: E402

JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
GOALS = {"CPU": 0.5, "GC pauses": 2}
PAUSE = re.compile(r"Pause .*?([\d.]+)ms$")


def paused_ms(log):
    """In all pauses of the JVM's own log."""
    return sum(float(found.group(1)) for line in log.read_text().splitlines() if (found := PAUSE.search(line)))


def rows_of(name, options, folder):
    folder.mkdir()
    application = APPLICATIONS[name]
    application.prepare(JDK, folder)
    log, file = folder / "gc.log", folder / "recording.hrec"

    def run(arm):
        """(seconds of CPU, ms of pauses)"""
        file.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        live = f",live={options.live if arm == 'live' else 'off'}"
        flags = [f"-agentpath:{options.agent}=file={file},rate={options.rate}{live}", f"-Xlog:gc,gc+phases:file={log}:none:filecount=0",
                 *([f"-XX:+Use{options.collector}GC"] if options.collector != "G1" else [])]
        command = application.command(JDK, flags, folder)
        if options.collector != "G1":  # which the applications ask for themselves
            command = [part for part in command if not str(part).endswith("-XX:+UseG1GC")]
        return cpu_seconds(command, folder, folder / "out"), paused_ms(log)

    run("off")  # the disk's cache
    found = interleaved(["off", "live"], options.rounds, run)
    rows = []
    for at, (what, unit) in enumerate((("CPU", "s"), ("GC pauses", "ms"))):
        off, live = ([times[at] for times in found[arm]] for arm in ("off", "live"))
        if not all(off):
            continue  # no pause in some round: no ratio
        ratios = [100 * (with_it / without - 1) for with_it, without in zip(live, off)]
        rows.append(Row(f"{name}, {what}", "%", ratios, GOALS[what], f"without: {statistics.median(off):.2f} {unit}", 2))
    print(f"{name} done", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="at least 6 for an interval")
    parser.add_argument("--only", default="javac,H2", help=f"of {','.join(APPLICATIONS)}")
    parser.add_argument("--collector", default="G1", help="G1, Parallel, Serial, Z, Shenandoah")
    parser.add_argument("--rate", type=int, default=150)
    parser.add_argument("--live", default="on", help="maximum objects tracked; on: as the rate needs")
    parser.add_argument("--json", type=pathlib.Path, help="all rounds' values too")
    parser.add_argument("--agent", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "bazel-bin/recorder/libheaprec.so")
    options = parser.parse_args()
    machine, rows = Machine(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only.split(","):
            rows += rows_of(name, options, pathlib.Path(folder) / name)
    others = machine.taken_by_others()
    print("| live over none | measured (95 %) | goal | | rounds | beside |\n|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row.figure} | {row.middle:+.2f} % ({row.low:+.2f} to {row.high:+.2f}) | at most {row.goal} % | {row.verdict()} | "
              f"{len(row.values)} | {row.note} |")
    print(f"\nOther processes took {100 * others:.0f} % of the machine's {os.cpu_count()} cores meanwhile"
          f"{': a busy machine, read the intervals with care' if others > 0.05 else ''}.")
    if options.json:
        figures = [{"figure": row.figure, "low": row.low, "middle": row.middle, "high": row.high, "goal": row.goal,
                    "verdict": row.verdict(), "beside": row.note, "values": row.values} for row in rows]
        options.json.write_text(json.dumps({"taken_by_others": others, "figures": figures}, indent=1) + "\n")


main()
