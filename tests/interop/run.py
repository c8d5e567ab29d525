"""What run.sh does: exports, asks each reader, compares, stores. See there."""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEAPREC = ROOT / "bazel-bin/tools/heaprec"
SAMPLE = "jdk.ObjectAllocationSample"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit code {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout.decode()


def jfrconv(class_path):
    """Collapsed stacks of bytes; it leaves out samples without a stack. It does not count events in bytes."""
    def totals(jfr, scratch):
        sums = {}
        for name, options in (("bytes", ["--total"]), ("events", [])):
            out = scratch / "collapsed.txt"
            run("java", "-cp", class_path, "one.convert.Main", "--alloc", *options, "-o", "collapsed", jfr, out)
            sums[name] = sum(int(line.rsplit(" ", 1)[1]) for line in out.read_text().splitlines())
        return sums
    return totals


def jmc(class_path):
    def totals(jfr, _):
        return json.loads(run("java", "-cp", class_path, HERE / "JmcTotals.java", jfr))
    return totals


def program(path):
    return lambda jfr, _: json.loads(run(path, jfr))


def jfr_print(home):
    def totals(jfr, _):
        sums = collections.Counter(events=0, bytes=0)
        for line in run(pathlib.Path(home) / "bin/jfr", "print", "--json", "--stack-depth", "1", "--events", SAMPLE, jfr).splitlines():
            if weight := re.match(r'\s*"weight": (\d+)', line):
                sums["events"] += 1
                sums["bytes"] += int(weight.group(1))
        return dict(sums)
    return totals


def jfr_summary(home):
    def totals(jfr, _):
        text = run(pathlib.Path(home) / "bin/jfr", "summary", jfr)
        found = re.search(rf"^ {SAMPLE} +(\d+) ", text, re.M)
        return {"events": int(found.group(1)) if found else 0}
    return totals


def java_home():
    return os.environ.get("JAVA_HOME") or os.path.dirname(os.path.dirname(os.path.realpath(run("which", "java").strip())))


def readers_of(options):
    readers = {}
    if options.jfrconv:
        readers["async-profiler jfrconv"] = jfrconv(options.jfrconv)
    if options.jmc:
        readers["JMC parser"] = jmc(options.jmc)
    if options.go_parser:
        readers["Grafana jfr-parser"] = program(options.go_parser)
    for home in options.jdk or [java_home()]:
        version = re.search(r'"(\d+)', subprocess.run([f"{home}/bin/java", "-version"], capture_output=True).stderr.decode()).group(1)
        readers[f"jfr print {version}"] = jfr_print(home)
        readers[f"jfr summary {version}"] = jfr_summary(home)
    return readers


def expected_of(recording, raw):
    """What all events have: with calibrated weights, what the rows of top have."""
    rows = [json.loads(line) for line in run(HEAPREC, "export", "--format", "jsonl", recording).splitlines()]
    table = json.loads(run(HEAPREC, "top", "--by", "class", "--limit", "0", "--json", recording))
    total = sum(row["weight_bytes"] for row in rows) if raw else sum(
        row["bytes"]["value"] for row in table["tables"][0]["rows"])
    without_stack = [row for row in rows if not row["stack"]]
    return {"events": len(rows), "bytes": total, "without_stack": len(without_stack),
            "bytes_without_stack": sum(row["weight_bytes" if raw else "calibrated_bytes"] for row in without_stack)}


def differences(name, got, expected):
    """Each event's weight is rounded to a byte. jfrconv leaves out what has no stack."""
    leaves_out = name == "async-profiler jfrconv"
    events = expected["events"] - (expected["without_stack"] if leaves_out else 0)
    total = expected["bytes"] - (expected["bytes_without_stack"] if leaves_out else 0)
    found = []
    if got["events"] != events:
        found.append(f"{got['events']} events, not {events}")
    if "bytes" in got and abs(got["bytes"] - total) > 0.5 * events + 1e-9 * total:
        found.append(f"{got['bytes']} bytes, not {total:.0f}")
    return found


def main():
    parser = argparse.ArgumentParser(usage="see tests/interop/run.sh")
    for name in ("--jfrconv", "--jmc", "--go-parser"):
        parser.add_argument(name)
    parser.add_argument("--jdk", action="append")
    parser.add_argument("--version", action="append", default=[])
    parser.add_argument("-o", default=str(ROOT / "bench/results/interop.json"))
    parser.add_argument("recordings", nargs="*")
    options = parser.parse_args()
    recordings = options.recordings or [ROOT / "tests/golden" / name for name in ("javac.hrec", "leak.hrec")]
    readers, results, failed = readers_of(options), [], 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for recording in recordings:
            for raw in (False, True):
                jfr = scratch / "out.jfr"
                run(HEAPREC, "export", "--format", "jfr", "-f", "-o", jfr, *(["--raw"] if raw else []), recording)
                expected = expected_of(recording, raw)
                for name, totals in readers.items():
                    try:
                        got = totals(jfr, scratch)
                        wrong = differences(name, got, expected)
                    except Exception as error:  # whatever a reader does is a result
                        got, wrong = {}, [str(error)]
                    failed += bool(wrong)
                    results.append({"recording": pathlib.Path(recording).name, "weights": "raw" if raw else "calibrated",
                                    "reader": name, "expected": expected, "read": got, "differences": wrong})
                    print(f"{results[-1]['recording']} {results[-1]['weights']} {name}: {got} {'; '.join(wrong) or 'equal'}")
    out = pathlib.Path(options.o)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({
        "command": "tests/interop/run.sh", "date": datetime.date.today().isoformat(),
        "heaprec": run(HEAPREC, "--version").strip(), "versions": dict(one.split("=", 1) for one in options.version),
        "results": results}, indent=1) + "\n")
    print(f"{len(results) - failed} passed, {failed} failed; {out}")
    sys.exit(1 if failed else 0)


main()
