"""What run.sh does: exports, asks each reader, compares, stores. See there."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402
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


def java_program(java, source, *options):
    return lambda jfr, _: json.loads(run(java, *options, HERE / source, jfr))


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


def jfr_view(home):
    """The count of the events, and the shares of the classes with the most bytes, as percentages in falling order."""
    def totals(jfr, _):
        view = [pathlib.Path(home) / "bin/jfr", "view", "--width", "200"]
        count = re.search(r"^Object Allocation Sample +([\d,]+)$", run(*view, "events-by-count", jfr), re.M)
        shares = re.findall(r" ([\d.]+)%$", run(*view, "allocation-by-class", jfr), re.M)
        return {"events": int(count.group(1).replace(",", "")) if count else 0, "shares": [float(share) for share in shares]}
    return totals


def java_home():
    return os.environ.get("JAVA_HOME") or os.path.dirname(os.path.dirname(os.path.realpath(run("which", "java").strip())))


def readers_of(options):
    """Name -> what reads, and which version that is if the program tells."""
    readers = {}
    if options.jfrconv:
        readers["async-profiler jfrconv"] = jfrconv(options.jfrconv), ""
    if options.jmc:
        readers["JMC parser"] = java_program("java", "JmcTotals.java", "-cp", options.jmc), ""
    if options.go_parser:
        readers["Grafana jfr-parser"] = program(options.go_parser), ""
    for home in options.jdk or [java_home()]:
        told = subprocess.run([f"{home}/bin/java", "-version"], capture_output=True).stderr.decode()
        full, major = re.search(r'"((\d+)[^"]*)"', told).groups()
        readers[f"jfr print {major}"] = jfr_print(home), full
        readers[f"jfr summary {major}"] = jfr_summary(home), full
        readers[f"jdk.jfr.consumer {major}"] = java_program(f"{home}/bin/java", "ConsumerTotals.java"), full
        if int(major) >= 21:
            readers[f"jfr view {major}"] = jfr_view(home), full
    return readers


def expected_of(recording, raw):
    """What all events have: with calibrated weights, what the rows of top have."""
    rows = [json.loads(line) for line in run(HEAPREC, "export", "--format", "jsonl", recording).splitlines()]
    table = json.loads(run(HEAPREC, "top", "--by", "class", "--no-rows", "--limit", "0", "--json", recording))
    total = sum(row["weight_bytes"] for row in rows) if raw else sum(
        row["bytes"]["value"] for row in table["tables"][0]["rows"])
    weight = "weight_bytes" if raw else "calibrated_bytes"
    without_stack = [row for row in rows if not row["stack"]]
    classes = collections.Counter()
    for row in rows:
        classes[row["class"]] += 100 * row[weight] / total
    return {"events": len(rows), "bytes": total, "without_stack": len(without_stack),
            "bytes_without_stack": sum(row[weight] for row in without_stack),
            "shares": sorted(classes.values(), reverse=True)}


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
    if "shares" in got:
        expected_shares = expected["shares"][:25]  # the view has no more rows
        if len(got["shares"]) != len(expected_shares) or any(
                abs(one - other) > 0.0051 for one, other in zip(got["shares"], expected_shares)):
            found.append(f"shares of classes {got['shares']}, not {expected_shares}")
    return found


def asked(totals, jfr, scratch, name, expected):
    """What a reader makes of an export, and how that differs."""
    try:
        got = totals(jfr, scratch)
        wrong = differences(name, got, expected)
        return {**got, **({"shares": len(got["shares"])} if "shares" in got else {})}, wrong
    except Exception as error:  # whatever a reader does is a result
        return {}, [str(error)]


def store(name, results, version):
    """A record for each reader: those that were not asked keep theirs."""
    wrong = [result for result in results if result["differences"]]
    reason = "; ".join(f"{result['recording']} {result['weights']}: {', '.join(result['differences'])}" for result in wrong)
    record("interop", "interop." + re.sub(r"\W+", "_", name.lower()), area="Interoperability",
           figure=f"JFR exports that differ: {name}", goal=0, value=len(wrong), unit=f"of {len(results)} exports",
           reached=not wrong, **({"reason": reason} if wrong else {}), command="tests/interop/run.sh",
           notes="docs/testing.md", reader=version, results=results)


def main():
    parser = argparse.ArgumentParser(usage="see tests/interop/run.sh")
    for name in ("--jfrconv", "--jmc", "--go-parser"):
        parser.add_argument(name)
    parser.add_argument("--jdk", action="append")
    parser.add_argument("--version", action="append", default=[])
    parser.add_argument("recordings", nargs="*")
    options = parser.parse_args()
    recordings = options.recordings or [ROOT / "tests/golden" / name for name in ("javac.hrec", "leak.hrec")]
    versions = dict(one.split("=", 1) for one in options.version)
    readers, results = readers_of(options), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for recording in recordings:
            for raw in (False, True):
                jfr = scratch / "out.jfr"
                run(HEAPREC, "export", "--format", "jfr", "-f", "-o", jfr, *(["--raw"] if raw else []), recording)
                expected = expected_of(recording, raw)
                for name, (totals, _) in readers.items():
                    got, wrong = asked(totals, jfr, scratch, name, expected)
                    result = {"recording": pathlib.Path(recording).name, "weights": "raw" if raw else "calibrated",
                              "events": expected["events"], "bytes": expected["bytes"], "read": got, "differences": wrong}
                    results[name].append(result)
                    print(f"{result['recording']} {result['weights']} {name}: {got} {'; '.join(wrong) or 'equal'}")
    for name, (_, version) in readers.items():
        store(name, results[name], versions.get(name, version))
    failed = sum(bool(result["differences"]) for all_of_one in results.values() for result in all_of_one)
    print(f"{sum(map(len, results.values())) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
