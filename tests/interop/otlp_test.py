"""An OTLP export as protoc decodes it, with a schema that has the specification's field numbers.

Usage: otlp_test.py HEAPREC SCHEMA RECORDING EXCEPTIONS
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HEAPREC, SCHEMA, RECORDING, EXCEPTIONS = sys.argv[1:5]
SCRATCH = tempfile.mkdtemp()


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    assert done.returncode == 0, f"{command}: {done.returncode}, {done.stderr.decode(errors='replace')}"
    return done.stdout


def parsed(lines):
    """Text as protoc prints a message: {field: [value, ...]}."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        name, opens = re.fullmatch(r"(\w+)(?:: (.*)| \{)", line).groups()
        assert not name.isdigit(), f"field {name} is not in the schema"
        if opens is None:
            value = parsed(lines)
        else:
            value = json.loads(opens) if "\\" not in opens else opens
        message.setdefault(name, []).append(value)
    return message


def decoded(recording, *options):
    path = f"{SCRATCH}/out.otlp"
    run(HEAPREC, "export", "--format", "otlp", "-f", "-o", path, *options, recording)
    schema = pathlib.Path(SCHEMA)
    text = run("protoc", f"--proto_path={schema.parent}", "--decode=heaprec.otlp.ProfilesData", str(schema),
               stdin=open(path, "rb")).decode()
    return parsed(iter(text.splitlines()))


def attributes(resource_profiles):
    # process.pid is an int by OpenTelemetry's conventions, all others are strings.
    return {one["key"][0]: one["value"][0]["int_value" if one["key"][0] == "process.pid" else "string_value"][0]
            for one in resource_profiles["resource"][0]["attributes"]}


def name_of(message, strings):
    # A number that is 0 is not written.
    return tuple(strings[message[field][0] if field in message else 0] for field in ("type_strindex", "unit_strindex"))


def check_conformance(data):
    """What OpenTelemetry's own checker asks of a message: zero entries, no duplicates, no orphans, no empty profile."""
    dictionary = data["dictionary"][0]
    tables = {name: dictionary[f"{name}_table"]
              for name in ("mapping", "location", "function", "link", "string", "attribute", "stack")}
    used = {name: {0} for name in tables}
    for name, table in tables.items():
        zero = "" if name == "string" else {}
        assert table[0] == zero, f"{name}_table[0] is {table[0]}"
        texts = [json.dumps(entry) for entry in table]
        assert len(set(texts)) == len(texts), f"{name}_table has duplicates: {[t for t in texts if texts.count(t) > 1]}"
    for resource in data["resource_profiles"]:
        for profile in (one for scope in resource["scope_profiles"] for one in scope["profiles"]):
            assert profile.get("samples"), f"a profile without samples: {profile}"
            for of in ("sample_type", "period_type"):
                used["string"].update(profile[of][0].get("type_strindex", []) + profile[of][0].get("unit_strindex", []))
            for sample in profile["samples"]:
                used["stack"].update(sample.get("stack_index", []))
                used["attribute"].update(sample.get("attribute_indices", []))
    references = {"stack": [("location", lambda one: one.get("location_indices", []))],
                  "location": [("function", lambda one: [line["function_index"][0] for line in one.get("lines", [])])],
                  "function": [("string", lambda one: one.get("name_strindex", []) + one.get("filename_strindex", []))],
                  "attribute": [("string", lambda one: one.get("key_strindex", []))]}
    for name in ("stack", "location", "function", "attribute"):
        for number in used[name]:
            for other, of in references[name]:
                used[other].update(of(tables[name][number]))
    for name, table in tables.items():
        orphans = set(range(len(table))) - used[name]
        assert not orphans, f"{name}_table has orphans: {[table[at] for at in sorted(orphans)][:9]}"


def check(recording, options, expected, service, weights):
    """`expected`: sample type -> (type of the period, column of the rows, of which kind)."""
    data = decoded(recording, *options)
    rows = [json.loads(line) for line in run(HEAPREC, "export", "--format", "jsonl", *[
        word for word in options if word not in ("--raw", "--no-rows", "--service", service)], recording).splitlines()]
    dictionary = data["dictionary"][0]
    strings = dictionary["string_table"]
    assert strings[0] == ""
    check_conformance(data)
    seen = set()
    for resource in data["resource_profiles"]:
        of_process = attributes(resource)
        assert of_process["service.name"] == service, of_process
        assert "process.pid" in of_process, of_process
        assert of_process["heaprec.weights"] == weights, of_process
        for scope in resource["scope_profiles"]:
            assert scope["scope"][0]["name"] == ["heaprec"]
            for profile in scope["profiles"]:
                name = name_of(profile["sample_type"][0], strings)
                period_type, column, exceptions = expected[name]
                assert name_of(profile["period_type"][0], strings) == period_type, name
                chosen = [row for row in rows if (row["kind"] == "exception") == exceptions]
                mean = sum(row[column] for row in chosen) / len(chosen)
                assert abs(profile["period"][0] - max(mean, 1)) <= 1, f"{name}: {profile['period']}, {mean}"
                assert profile["time_unix_nano"][0] > 0 and profile["duration_nano"][0] > 0
                values = [sample["values"] for sample in profile["samples"]]
                assert values and all(len(value) == 1 and value[0] > 0 for value in values)
                seen.add(name)
    assert seen == expected.keys(), seen
    return len(rows)


SPACE, COUNT = ("alloc_space", "bytes"), ("exceptions", "count")


def types(column, exceptions=False):
    if exceptions:
        return {COUNT: (COUNT, column, True), ("samples", "count"): (COUNT, column, True)}
    names = [("alloc_objects", "count"), SPACE, ("samples", "count")]
    return {name: (SPACE, column, False) for name in names}


def main():
    counts = [
        check(RECORDING, ("--no-rows",), types("calibrated_bytes"), "unknown_service:java", "calibrated"),
        check(RECORDING, ("--raw", "--no-rows", "--service", "shop"), types("weight_bytes"), "shop", "raw"),
        check(EXCEPTIONS, ("--kind", "exception"), types("calibrated_objects", True), "unknown_service:java", "calibrated"),
    ]
    assert all(counts)
    print(f"{counts} events")


main()
