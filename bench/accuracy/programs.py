"""Real programs: classes as the command estimates them from points, against the census (every object counted) of the same recording."""

import json
import os
import pathlib
import subprocess
import sys

import metrics

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cost"))
import applications  # noqa: E402


def table_of(tool, recording, *question):
    return json.loads(subprocess.run([tool.command, *question, "--json", "--limit", "0", recording], stdout=subprocess.PIPE, check=True).stdout)


def run(name, options, tool, folder):
    """One JVM: result, or a RuntimeError that says what went wrong. SystemExit: the program is not there."""
    program, jdk, place = applications.APPLICATIONS[name], pathlib.Path(options.java), pathlib.Path(folder)
    program.prepare(jdk, place)
    recording = f"{folder}/rec.hrec"
    flags = [f"{flag},census=all" for flag in tool.flags(folder)]
    done = subprocess.run([*map(str, program.command(jdk, flags, place))], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {name}\n{done.stdout.decode(errors='replace')[-2000:]}")
    census = table_of(tool, recording, "census")
    if not census["exact"]:
        raise RuntimeError(f"{name}: the census is not exact")
    truth = {row["name"]: row["bytes"]["value"] for row in census["rows"]}
    seconds = [row["bytes"]["value"] for row in table_of(tool, recording, "census", "--by", "time")["rows"]]
    rows = tool.rows(recording, "--by", "class", "--no-census", "--names", "exact")  # as in the census
    summary = table_of(tool, recording, "top", "--by", "class", "--no-census")
    n_cap = metrics.capped_count(seconds, options.rate)
    estimates = {row: told.bytes for row, told in rows.items()}
    return {"xcap_class": metrics.error_over_ideal(truth, estimates, n_cap), "total": sum(estimates.values()) / sum(truth.values()),
            "covered": metrics.rows_that_hold(rows, tool.ends(summary["detection_limit"]), truth),
            "points": sum(row.points for row in rows.values()), "n_cap": n_cap, "classes": len(truth), "file_bytes": os.path.getsize(recording)}
