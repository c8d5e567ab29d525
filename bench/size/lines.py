#!/usr/bin/env python3
"""Counts the lines of tools/, and says which belong to what the command could do at commit 0630695.

Usage: bench/size/lines.py [--record]     --record keeps the figure in bench/results

ADDED names the files that serve only what was added since; every other file counts whole, also where it does more now.
"""
import fnmatch
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402

GOAL = 28_050  # three quarters of the 37,400 lines of .cc, .h and BUILD at 0630695
ADDED = {
    "ship and fleet": "fleet/* commands/fleet.cc commands/ship.cc",
    "the report page but for its flame graph": """
        commands/report_page.cc export/page/ba*.js export/page/beta.js export/page/commands.js
        export/page/difference.js export/page/estimator.js export/page/gestures.js
        export/page/heat.js export/page/report_data.* export/page/s*.js export/page/t[ar]*.js
        export/page/unpack.js query/samples/sample_columns.* query/samples/sample_thinning.* query/samples/step_rows.*
        report/page/page_* report/page/recording_page.*""",
    "bench, and comparisons of several runs a side": """
        analysis/cpu_time.* analysis/estimate/replicates.* analysis/progress_blocks.*
        commands/bench.cc commands/diff_options.h control/recorded_runs.*""",
    "top --follow, status for Prometheus": """
        query/summary/follow_query.* report/recording/prometheus_text.cc screen/*""",
    "attach places the agent itself, follows no links, signals no other process": """
        control/filesystem_user.* control/private_folder.* control/recording_relay.*
        control/staging.* control/temporary_recording.* input/confined_open.*""",
    "headlines": "query/summary/headlines.*",
    "collections and old objects of JFR files": "import/jfr/heap_events.*",
    "sites behind allocation primitives": "analysis/allocation_primitives.*",
    "generational ZGC": "analysis/live/collection_clock.*",
    "native points of a killed process": "input/native_points.*",
    "declared Markdown, CSV and HTML": "render/csv_renderer.cc render/markup_renderers.cc",
}


def reason(path):
    return next((why for why, names in ADDED.items() if any(fnmatch.fnmatch(path, name) for name in names.split())), "")


def main(arguments):
    listed = subprocess.run(["git", "ls-files", "tools"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = [path.removeprefix("tools/") for path in listed.splitlines()]
    for name in " ".join(ADDED.values()).split():
        if not fnmatch.filter(tracked, name):
            sys.exit(f"lines.py: ADDED names {name}, and no file has this name: a move must be followed here")
    lines = dict.fromkeys(["", *ADDED], 0)
    folders = {}
    for path in map(pathlib.Path, listed.splitlines()):
        if path.name == "BUILD" or path.suffix in (".cc", ".h", ".js", ".css", ".html"):
            count = len((ROOT / path).read_bytes().splitlines())
            lines[reason(str(path.relative_to("tools")))] += count
            folders[path.parent] = folders.get(path.parent, 0) + count
    for why, count in lines.items():
        print(f"{count:6} {why or 'what there was at 0630695'}")
    print(f"{sum(lines.values()):6} in all\n")
    print("\n".join(f"{count:6} {folder}" for folder, count in sorted(folders.items())))
    if "--record" in arguments:
        record("build", "build.lines", area="Build", figure="Lines of tools/ for what it could do at 0630695",
               goal=f"<= {GOAL}", value=lines[""], unit="lines", reached=lines[""] <= GOAL,
               command="bench/size/lines.py --record", all=sum(lines.values()),
               declared_outputs=lines["declared Markdown, CSV and HTML"],
               reason="files that existed do more now (declared reports, several runs, unknown values, more JDKs and"
                      " collectors) and count whole")


if __name__ == "__main__":
    main(sys.argv[1:])
