#!/usr/bin/env python3
"""Keeps measured figures in bench/results/NAME.json, one record per id; a new value replaces the old one.

Usage: bench/record.py NAME ID KEY=VALUE...     for instance
  bench/record.py fuzz fuzz.reader goal=3600 value=3600 unit='s of CPU' command='tests/fuzz/run.sh 3600 reader'

KEY+=VALUE adds to the value that the earlier record has, for runs that go on where others stopped.
Keys: goal, value, low, high, unit, peer, command, reached, reason, and whatever else describes the figure. VALUE is
JSON where it parses as JSON, else a string. Date, commit and machine are added. docs/generate.py makes
bench/results/README.md of the records: `figure` is the name in its table (at most 50 characters; else the id), `area` its
heading (else the file's name), `notes` the page with conditions and details. Then run `docs/generate.py measurements`.
"""
import datetime
import fcntl
import json
import os
import pathlib
import platform
import subprocess
import sys

RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def machine():
    return f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}"


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=RESULTS.parent, capture_output=True,
                          text=True, check=True).stdout.strip()


def record(name, figure_id, added=None, **fields):
    """Writes one figure: `name` is the file's, `fields` its values, `added` what earlier values of a field are raised
    by. Benchmarks may run at the same time. Raises ValueError if the file is not JSON."""
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / f"{name}.json", "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        figures = json.loads(file.read() or "[]")
        earlier = next((figure for figure in figures if figure["id"] == figure_id), {})
        for key, value in (added or {}).items():
            fields[key] = earlier.get(key, 0) + value
        if "value" in (added or {}) and "goal" in fields:
            fields["reached"] = fields["value"] >= fields["goal"]
            if fields["reached"]:
                fields.pop("reason", None)
        figures = [figure for figure in figures if figure["id"] != figure_id]
        figures.append({"id": figure_id, **fields, "date": datetime.date.today().isoformat(), "commit": commit(),
                        "machine": machine()})
        file.truncate(0)
        file.write(json.dumps(sorted(figures, key=lambda figure: figure["id"]), indent=1, ensure_ascii=False) + "\n")


def value_of(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def main(arguments):
    if len(arguments) < 3 or any("=" not in pair for pair in arguments[2:]):
        sys.exit(__doc__)
    pairs = [pair.split("=", 1) for pair in arguments[2:]]
    added = {key[:-1]: value_of(value) for key, value in pairs if key.endswith("+")}
    record(arguments[0], arguments[1], added, **{key: value_of(value) for key, value in pairs if key[-1] != "+"})


if __name__ == "__main__":
    main(sys.argv[1:])
