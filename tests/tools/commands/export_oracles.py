"""Exports as the tools see them that they are made for: go tool pprof, speedscope's schema, sqlite3; OTLP field by field.

Usage: export_oracles.py HEAPREC GENERATE LIVE RECORDING...     with the numbers of --format jsonl as the truth.
"""
import atexit
import collections
import functools
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEAPREC = sys.argv[1]
SCRATCH = tempfile.mkdtemp()
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
# go wants a home for its cache, whatever it does.
ENVIRONMENT = os.environ | {"HOME": SCRATCH, "TZ": "UTC"}
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
SCHEMA = pathlib.Path(CACHE) / "heaprec/speedscope-schema.json"


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True)
    assert done.returncode == 0, f"{command}: {done.returncode}, {done.stderr.decode(errors='replace')}"
    return done.stdout.decode()


def export(form, recording, *options):
    path = f"{SCRATCH}/out.{form}"
    run(HEAPREC, "export", "--format", form, *options, "-f", "-o", path, recording)
    return path


def rows_of(recording, *options):
    with open(export("jsonl", recording, *options)) as lines:
        return [json.loads(line) for line in lines]


def sums_by(rows, key, column):
    sums = collections.defaultdict(float)
    for row in rows:
        sums[key(row)] += row[column] if column else 1
    return sums


def methods(row):
    """The stack without lines, as collapsed has it by default."""
    return without_lines(row["stack"])


@functools.cache
def without_lines(stack):
    return re.sub(r":\d+(?=;|$)", "", stack) or "[unknown]"


def close(a, b, what, off=1e-9):
    assert abs(a - b) <= off * max(abs(a), abs(b)) + 1e-9, f"{what}: {a}, but the rows say {b}"


# Each number of a format that has only whole ones is off by less than 1, and their sum by 1/2.
def whole(got, expected, what):
    for key in got.keys() | expected.keys():
        assert abs(got.get(key, 0) - expected.get(key, 0)) < 1 + 1e-3, f"{what} {key}: {got.get(key)}, {expected.get(key)}"
    off = abs(sum(got.values()) - sum(expected.values()))
    assert off <= 0.5 + 1e-6 * abs(sum(expected.values())) ** 0.5, f"{what}: the sum is off by {off}"


def kept(choice):
    """Which weights a file holds, as it says it."""
    return "raw" if "--raw" in choice else "calibrated"


def check_collapsed(recording, rows, choice, columns):
    for weights, column in columns:
        path = export("collapsed", recording, "--weights", weights, *choice)
        got = collections.Counter()
        names = []
        for line in open(path):
            stack, weight = re.fullmatch(r"(.+) ([1-9]\d*)\n", line).groups()
            got[stack] += int(weight)
            names.append(stack.split(";"))
        assert names == sorted(names), f"{weights}: not sorted"
        assert len(got) == len(names), f"{weights}: a stack twice"
        whole(got, sums_by(rows, methods, column), f"collapsed {weights}")


def number(text):
    return float(re.match(r"-?[\d.]+", text).group())


def top(profile, index):
    """Flat values by function, in bytes or as they are."""
    text = run("go", "tool", "pprof", "-top", "-flat", f"-sample_index={index}", "-unit=B", "-nodecount=1000000",
               "-nodefraction=0", "-edgefraction=0", profile)
    lines = text[text.index("cum%\n") + 5:].splitlines()
    values = collections.Counter()
    for line in lines:
        flat, _, _, _, _, name = line.split(None, 5)
        values[name] += number(flat)
    return +values


def tags(profile, index):
    text = run("go", "tool", "pprof", "-tags", f"-sample_index={index}", "-unit=B", profile)
    values, key = collections.defaultdict(dict), None
    for line in text.splitlines():
        head = re.match(r"\s*(\S+): Total ", line)
        entry = re.match(r"\s*([\d.]+)\S* \(\s*[\d.e-]+%\): (.*)", line)
        if head:
            key = head.group(1)
        elif entry:
            values[key][entry.group(2)] = float(entry.group(1))
    return values


def check_pprof(recording, rows, choice, columns):
    profile = export("pprof", recording, *choice)
    raw = run("go", "tool", "pprof", "-raw", profile)
    assert re.search(r"^Comment: heaprec .*: recording [0-9a-f]{32}", raw, re.M), "no comment says where it is from"
    assert re.search(rf"^Comment: weights: {kept(choice)}$", raw, re.M), "no comment says which weights these are"
    assert "\nPeriodType: space bytes\n" in raw
    types = re.search(r"^Samples:\n(.*)\n", raw, re.M).group(1).split()
    assert [t.split("[")[0] for t in types] == [name for name, _ in columns], types
    table = [[int(value) for value in line.split()] for line in re.findall(
        r"^((?: *\d+)+):", raw[raw.index("Samples:\n"):raw.index("Locations\n")], re.M)]
    for at, (name, column) in enumerate(columns):
        index = name.split("/")[0]
        expected = sum(row[column] if column else 1 for row in rows)
        got = sum(line[at] for line in table)
        assert abs(got - expected) <= 0.5 + 1e-9 * expected, f"pprof {name}: {got}, but the rows say {expected}"
        flat = top(profile, index)
        leaves = sums_by(rows, lambda row: methods(row).split(";")[-1], column)
        for leaf in flat.keys() | leaves.keys():
            assert abs(flat[leaf] - leaves[leaf]) <= 2 + 1e-3 * leaves[leaf], f"-top {index} {leaf}: {flat[leaf]}, {leaves[leaf]}"
    by_tag = tags(profile, columns[-1][0].split("/")[0])
    for label in ("thread", "class", "kind"):
        assert by_tag[label] == dict(sums_by(rows, lambda row: row[label], None)), f"-tags {label}"
    if any(row["size"] for row in rows):
        assert sum(by_tag["bytes"].values()) > 0, "no sizes"
    for row in rows:
        for key, value in row["labels"].items():
            assert value in by_tag[key], f"label {key}={value}"


def check_structure(document):
    """What of the schema matters most, for whoever has not fetched it."""
    frames = len(document["shared"]["frames"])
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    for profile in document["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] in ("bytes", "none")
        assert isinstance(profile["name"], str) and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= frame < frames for stack in profile["samples"] for frame in stack)


def check_schema(document):
    if not SCHEMA.exists():
        return print(f"no {SCHEMA} (tests/tools/commands/fetch_speedscope_schema.sh): only the structure was checked")
    import jsonschema
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))


def check_speedscope(recording, rows, choice, columns):
    document = json.load(open(export("speedscope", recording, *choice)))
    check_structure(document)
    check_schema(document)
    assert document["name"] == f"heaprec, {kept(choice)} weights"
    names = [frame["name"].replace(";", ",") for frame in document["shared"]["frames"]]
    for profile, (name, column) in zip(document["profiles"], columns, strict=True):
        got = collections.defaultdict(float)
        for stack, weight in zip(profile["samples"], profile["weights"]):
            got[";".join(names[frame] for frame in stack)] += weight
        expected = sums_by(rows, methods, column)
        assert got.keys() == {stack for stack, weight in expected.items() if weight > 0}, name
        for stack, weight in got.items():
            close(weight, expected[stack], f"speedscope {name} {stack}")
        close(profile["endValue"], sum(expected.values()), f"speedscope {name}")


def fields(message):
    """Of a protobuf message: number -> list of integers or bytes."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            found[tag >> 3].append(varint())
        elif tag & 7 == 1:
            found[tag >> 3].append(int.from_bytes(message[at:at + 8], "little"))
            at += 8
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            size = varint()
            assert at + size <= len(message)
            found[tag >> 3].append(message[at:at + size])
            at += size
    return found


def packed(content):
    """A repeated varint in one piece."""
    return fields(b"".join(b"\x08" + one for one in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", content, re.S)))[1]


def otlp_samples(path):
    """Of each sample type: (frames, root first; attributes; value) of each sample."""
    with open(path, "rb") as file:
        data = fields(file.read())
    tables = fields(data[2][0])
    mapping, locations, functions, links, strings, attributes, stacks = (tables[number] for number in range(1, 8))
    assert mapping == [b""] and locations[0] == functions[0] == attributes[0] == stacks[0] == strings[0] == b""
    assert len(links) == 1
    text = [string.decode() for string in strings]
    names = [text[fields(function)[1][0]] if function else "" for function in functions]
    frames = [names[fields(fields(location)[3][0])[1][0]] if location else "" for location in locations]
    pairs = [(text[fields(one)[1][0]], fields(fields(one)[2][0])[1][0].decode()) if one else None for one in attributes]
    samples = collections.defaultdict(list)
    for resource in data[1]:
        for profile in map(fields, fields(fields(resource)[2][0])[2]):
            kind = fields(profile[1][0])
            name = f"{text[kind[1][0]]}/{text[kind[2][0]]}"
            for sample in map(fields, profile[2]):
                stack = [frames[at].replace(";", ",") for at in packed(fields(stacks[sample[1][0]])[1][0])]
                value, = packed(sample[4][0])
                samples[name].append((stack[::-1], dict(pairs[at] for at in packed(sample[2][0])), value))
    return samples


def check_otlp(recording, rows, choice, columns):
    got = collections.defaultdict(collections.Counter)
    by_class = collections.defaultdict(collections.Counter)
    for name, samples in otlp_samples(export("otlp", recording, *choice)).items():
        for stack, labels, value in samples:
            got[name][";".join(stack)] += value
            by_class[name][labels["heaprec.class"]] += value
    for name, column in columns:
        # Several samples of a stack: each is off by less than 1.
        expected = sums_by(rows, methods, column)
        assert abs(sum(got[name].values()) - sum(expected.values())) <= 0.5 + 1e-9 * sum(expected.values()), name
        for sums, key in ((got[name], methods), (by_class[name], lambda row: row["class"])):
            counts = sums_by(rows, key, None) if column else {}
            for which, weight in sums_by(rows, key, column).items():
                assert abs(sums[which] - weight) <= counts.get(which, 0) + 1e-6, f"otlp {name} {which}: {sums[which]}, {weight}"


def query(database, sql):
    text = run("sqlite3", "-json", database, sql)
    return json.loads(text) if text else []


def check_sqlite(recording, rows, choice):
    database = export("sqlite", recording, *choice)
    assert query(database, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    got = query(database, "SELECT * FROM samples ORDER BY id")
    assert len(got) == len(rows)
    for one, row in zip(got, rows):
        for column in ("time_ns", "kind", "thread", "class", "weight_bytes", "weight_objects", "probability",
                       "calibrated_bytes", "calibrated_objects"):
            assert one[column] == row[column] or abs(one[column] / row[column] - 1) < 1e-12, f"{column}: {one}, {row}"
        assert (one["stack"] or "").replace(",", ";") == row["stack"].replace(",", ";"), f"{one}, {row}"
        labels = dict(label.split("=", 1) for label in one["labels"].split(";")) if one["labels"] else {}
        assert labels == row["labels"]
    for weights in ("weight_bytes", "calibrated_bytes"):
        for view, column in (("by_class", "class"), ("by_thread", "thread")):
            sums = sums_by(rows, lambda row: row[column], weights)
            of_view = {one[column]: one[weights] for one in query(database, f"SELECT * FROM {view}")}
            assert of_view.keys() == sums.keys()
            for name, weight in sums.items():
                close(of_view[name], weight, f"{view} {name}")
        in_any_frame = collections.defaultdict(float)
        for row in rows:
            for method in set(methods(row).split(";")) if row["stack"] else ():
                in_any_frame[method] += row[weights]
        for one in query(database, "SELECT * FROM by_method"):
            close(one[weights], in_any_frame[one["method"].replace(";", ",")], f"by_method {one['method']}")


def check_tables(recording, rows, choice):
    """What `top` shows of the same events: group by group, and all of it."""
    table = json.loads(run(HEAPREC, "top", "--by", "class", "--no-rows", "--names", "exact", "--limit", "0", "--json", *choice, recording))
    for what, column in (("bytes", "calibrated_bytes"), ("objects", "calibrated_objects")):
        expected = sum(row[column] for row in rows)
        if what == "bytes" and not choice:  # with what was lost
            expected = json.loads(run(HEAPREC, "summary", "--json", recording))["allocated_bytes"]
        close(table["matched"][what]["value"], expected, f"top: {what} in all", 1e-6)
        sums = sums_by(rows, lambda row: row["class"], column)
        groups = {row["name"]: row[what]["value"] for row in table["tables"][0]["rows"]}
        assert groups.keys() == sums.keys()
        for name, weight in sums.items():
            close(groups[name], weight, f"top: {what} of {name}", 1e-6)


def check(recording, choice=()):
    rows = rows_of(recording, *choice)
    assert rows, recording
    check_tables(recording, rows, choice)
    calibrated = any(abs(row["calibrated_bytes"] / row["weight_bytes"] - 1) > 1e-6 for row in rows)
    for options, weights in ((choice, "calibrated"), ((*choice, "--raw"), "weight")):
        allocations = [("alloc_objects/count", f"{weights}_objects"), ("alloc_space/bytes", f"{weights}_bytes")]
        check_collapsed(recording, rows, options,
                        [("bytes", f"{weights}_bytes"), ("objects", f"{weights}_objects"), ("samples", None)])
        check_pprof(recording, rows, options, allocations + [("samples/count", None)])
        check_otlp(recording, rows, options, allocations + [("samples/count", None)])
        check_speedscope(recording, rows, options, list(reversed(allocations)))
    check_sqlite(recording, rows, choice)
    print(f"{os.path.basename(recording)} {' '.join(choice)}: {len(rows)} events")
    return calibrated


def check_live(recording):
    """What is alive, in the profiles that have it beside what was allocated, by leaf; pprof's -top reads the one."""
    for choice in ((), ("--at", "10s")):
        rows = rows_of(recording, "--live", *choice)
        leaves = {name: sums_by(rows, lambda row: methods(row).split(";")[-1], column)
                  for name, column in (("inuse_space", "weight_bytes"), ("inuse_objects", "weight_objects"))}
        profile = export("pprof", recording, *choice)
        in_otlp = otlp_samples(export("otlp", recording, *choice))
        for name, expected in leaves.items():
            got = top(profile, name)
            total = sum(expected.values())
            assert total > 0
            assert abs(sum(got.values()) - total) <= 0.5 + 1e-3 * total, f"pprof {name}: {sum(got.values())}, {total}"
            of_otlp = collections.Counter()
            for unit in ("bytes", "count"):
                for stack, _, value in in_otlp.get(f"{name}/{unit}", ()):
                    of_otlp[stack[-1]] += value
            assert abs(sum(of_otlp.values()) - total) <= 0.5 + 1e-9 * total, f"otlp {name}: {of_otlp}"
            counts = sums_by(rows, lambda row: methods(row).split(";")[-1], None)
            for leaf in expected.keys() | got.keys() | of_otlp.keys():
                # -top rounds to four digits.
                assert abs(got[leaf] - expected[leaf]) <= counts[leaf] + 1e-3 * expected[leaf], f"{name} {leaf}"
                assert abs(of_otlp[leaf] - expected[leaf]) <= counts[leaf], f"otlp {name} {leaf}"
        print(f"{os.path.basename(recording)} {' '.join(choice)}: {len(rows)} alive")


def check_time(recording, start, end):
    """The profiles say of which time they are: that of --from and --to, as `top` has it."""
    choice = ("--from", start, "--to", end)
    scan = json.loads(run(HEAPREC, "top", "--json", *choice, recording))["scan"]
    expected = (scan["recordings"][0]["start_ns"] + int(start[:-1]) * 10**9, round(scan["seconds"] * 1e9))
    assert expected[1] == (int(end[:-1]) - int(start[:-1])) * 10**9
    with gzip.open(export("pprof", recording, *choice)) as file:
        profile = fields(file.read())
    assert (profile[9][0], profile[10][0]) == expected, f"pprof: {profile[9]}, {profile[10]}, {expected}"
    with open(export("otlp", recording, *choice), "rb") as file:
        resources = fields(file.read())[1]
    profiles = [fields(one) for of in resources for scope in fields(of)[2] for one in fields(scope)[2]]
    assert profiles
    for profile in profiles:
        assert (profile[3][0], profile[4][0]) == expected, f"otlp: {profile[3]}, {profile[4]}, {expected}"
    print(f"{os.path.basename(recording)} {' '.join(choice)}: {expected}")


def check_period(recording, column, unit, *choice):
    """The mean distance between samples, in what they count."""
    raw = run("go", "tool", "pprof", "-raw", export("pprof", recording, *choice))
    rows = rows_of(recording, *choice)
    mean = sum(row[column] for row in rows) / len(rows)
    named, period = re.search(r"^PeriodType: (.*)\nPeriod: (\d+)$", raw, re.M).groups()
    assert named == unit, named
    assert abs(int(period) - max(mean, 1)) <= 1, f"period {period}, but the rows say {mean}"


def check_opens(recording, *choice):
    """Random recordings, whose names and weights are beyond what any JVM has."""
    rows = rows_of(recording, *choice)
    run("go", "tool", "pprof", "-raw", export("pprof", recording, *choice))
    document = json.load(open(export("speedscope", recording, *choice)))
    check_structure(document)
    check_schema(document)
    database = export("sqlite", recording, *choice)
    assert query(database, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    assert query(database, "SELECT count(*) AS n FROM samples") == [{"n": len(rows)}]
    print(f"{os.path.basename(recording)} {' '.join(choice)}: {len(rows)} events, opens")


def main():
    generated = f"{SCRATCH}/generated.hrec"
    run(sys.argv[2], "3000", generated)
    check(generated)
    assert check(sys.argv[4]), "its calibrated weights are the raw ones: nothing was compared"
    check(generated, ("--from", "50ms", "--class", "*Entity1*"))
    check_live(sys.argv[3])
    check_time(sys.argv[3], "2s", "5s")
    check_period(sys.argv[4], "calibrated_bytes", "space bytes")
    check_period(sys.argv[5], "calibrated_objects", "exceptions count", "--kind", "exception")
    for recording in sys.argv[5:]:
        check_opens(recording)
        check_opens(recording, "--kind", "exception")


main()
