"""The layout of a JFR export, event by event: what the JDK's readers, async-profiler's converter, JMC's parser and Grafana's parser rely on.

Usage: layout_test.py HEAPREC GENERATE RECORDING...      with $JAVA_HOME, or the JDK of `java`, as the model of the layout.
"""
import atexit
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import jfr_file

HEAPREC, GENERATE = sys.argv[1:3]
SCRATCH = tempfile.mkdtemp()
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)

# The fields of JDK 25, in its order; *: by the key of a constant.
LAYOUT = {
    "jdk.ObjectAllocationSample": "startTime:long eventThread:java.lang.Thread* stackTrace:jdk.types.StackTrace* "
                                  "objectClass:java.lang.Class* weight:long",
    "jdk.OldObjectSample": "startTime:long duration:long eventThread:java.lang.Thread* stackTrace:jdk.types.StackTrace* "
                           "allocationTime:long objectSize:long objectAge:long lastKnownHeapUsage:long "
                           "object:jdk.types.OldObject* arrayElements:int root:jdk.types.OldObjectGcRoot*",
    "jdk.JavaExceptionThrow": "startTime:long eventThread:java.lang.Thread* stackTrace:jdk.types.StackTrace* "
                              "message:java.lang.String thrownClass:java.lang.Class*",
    "jdk.JavaErrorThrow": "startTime:long eventThread:java.lang.Thread* stackTrace:jdk.types.StackTrace* "
                          "message:java.lang.String thrownClass:java.lang.Class*",
    "jdk.ExceptionStatistics": "startTime:long throwables:long",
    "jdk.ActiveRecording": "startTime:long id:long name:java.lang.String destination:java.lang.String disk:boolean "
                           "maxAge:long flushInterval:long maxSize:long recordingStart:long recordingDuration:long",
    "jdk.JVMInformation": "startTime:long jvmName:java.lang.String jvmVersion:java.lang.String "
                          "jvmArguments:java.lang.String jvmFlags:java.lang.String javaArguments:java.lang.String "
                          "jvmStartTime:long pid:long",
    "java.lang.Class": "classLoader:jdk.types.ClassLoader* name:jdk.types.Symbol* package:jdk.types.Package* "
                       "modifiers:int hidden:boolean",
    "java.lang.Thread": "osName:java.lang.String osThreadId:long javaName:java.lang.String javaThreadId:long "
                        "group:jdk.types.ThreadGroup* virtual:boolean",
    "jdk.types.ClassLoader": "type:java.lang.Class* name:jdk.types.Symbol*",
    "jdk.types.FrameType": "description:java.lang.String",
    "jdk.types.Method": "type:java.lang.Class* name:jdk.types.Symbol* descriptor:jdk.types.Symbol* modifiers:int "
                        "hidden:boolean",
    "jdk.types.Module": "name:jdk.types.Symbol* version:jdk.types.Symbol* location:jdk.types.Symbol* "
                        "classLoader:jdk.types.ClassLoader*",
    "jdk.types.OldObject": "address:long type:java.lang.Class* description:java.lang.String referrer:jdk.types.Reference*",
    "jdk.types.OldObjectArray": "size:int index:int",
    "jdk.types.OldObjectField": "name:java.lang.String modifiers:short",
    "jdk.types.OldObjectGcRoot": "description:java.lang.String system:jdk.types.OldObjectRootSystem* "
                                 "type:jdk.types.OldObjectRootType*",
    "jdk.types.OldObjectRootSystem": "system:java.lang.String",
    "jdk.types.OldObjectRootType": "type:java.lang.String",
    "jdk.types.Package": "name:jdk.types.Symbol* module:jdk.types.Module* exported:boolean",
    "jdk.types.Reference": "array:jdk.types.OldObjectArray* field:jdk.types.OldObjectField* object:jdk.types.OldObject* "
                           "skip:int",
    "jdk.types.StackFrame": "method:jdk.types.Method* lineNumber:int bytecodeIndex:int type:jdk.types.FrameType*",
    "jdk.types.StackTrace": "truncated:boolean frames:jdk.types.StackFrame[]",
    "jdk.types.Symbol": "string:java.lang.String",
    "jdk.types.ThreadGroup": "parent:jdk.types.ThreadGroup* name:java.lang.String",
    "jdk.types.ThreadState": "name:java.lang.String",
}
PRIMITIVES = {"boolean", "byte", "char", "short", "int", "long", "float", "double", "java.lang.String"}
# Of the constants that readers keep in tables of their own, or skip one field at a time.
SIMPLE = {name for name, fields in LAYOUT.items() if name.startswith("jdk.types.") and " " not in fields}
FRAME_TYPES = {0: "Interpreted", 1: "JIT compiled", 2: "Inlined", 3: "Native", 6: "Java"}
# Behind the JDK's, in events that all readers take by name. One reader takes jdk.ObjectAllocationSample by place, and
# expects the next event behind its last field.
OWN_FIELDS = {"jdk.OldObjectSample": ["weight", "survivedCollections", "labels"],
              "jdk.JavaExceptionThrow": ["weight", "labels"]}
COMMON = ("startTime", "eventThread", "stackTrace", "objectClass")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, **options)
    assert done.returncode == 0, f"{command}: {done.returncode}, {done.stderr.decode(errors='replace')}"
    return done.stdout.decode()


def exported(recordings, *options):
    path = f"{SCRATCH}/out.jfr"
    run(HEAPREC, "export", "--format", "jfr", "-f", "-o", path, *options, *recordings)
    return list(jfr_file.chunks(pathlib.Path(path).read_bytes()))


def fields_of(chunk, type_):
    return [field.name + ":" + chunk.types[field.type_id].name + ("*" if field.pooled else "") + ("[]" if field.array else "")
            for field in type_.fields]


def check_types(chunk):
    assert PRIMITIVES <= chunk.by_name.keys(), PRIMITIVES - chunk.by_name.keys()
    for name, layout in LAYOUT.items():
        type_, expected = chunk.by_name[name], layout.split()
        got = fields_of(chunk, type_)
        assert got[:len(expected)] == expected, f"{name}: {got}"
        assert [one.split(":")[0] for one in got[len(expected):]] == OWN_FIELDS.get(name, []), f"{name}: {got}"
        assert type_.simple == (name in SIMPLE), f"{name}: simpleType is {type_.simple}"
    for type_ in chunk.types.values():
        # "L", by which some readers tell that a chunk begins.
        assert type_.id != 76 and type_.super_name in ("", "jdk.jfr.Event", "java.lang.annotation.Annotation"), type_
        if type_.super_name != "jdk.jfr.Event":
            continue
        assert type_.fields[0].name == "startTime" and type_.fields[0].annotations["jdk.jfr.Timestamp"]["value"] == "TICKS"
    names = [child.name for child in chunk.root.children]
    assert names == ["metadata", "region"], names


def check_header(chunk, before):
    assert (chunk.major, chunk.minor) == (2, 1) and chunk.flags & 1, "version, or integers that are not compressed"
    assert chunk.ticks_per_second == 1_000_000_000
    assert chunk.metadata_at > 0 and chunk.pools_at > chunk.metadata_at
    if before is not None:
        assert chunk.metadata_bytes == before.metadata_bytes, "chunks of one file have other types"


def check_constants(chunk):
    (mask, pools), = chunk.pools  # one event: no reader has to look for more
    assert len({name for name, _ in pools}) == len(pools), "a type of constants twice"
    for name, count in pools:
        assert chunk.by_name[name].super_name == "", f"constants of {name}"
        assert len(chunk.constants[name]) == count, f"{name}: a key twice"
        if name != "jdk.types.FrameType":
            assert 0 not in chunk.constants[name], f"{name}: key 0 means none"
        for field in chunk.by_name[name].fields:
            # Readers that do not know a type pass over its fields as numbers and strings.
            assert name in ("jdk.types.StackTrace",) or not field.array, f"{name}.{field.name}"
    for symbol in chunk.constants["jdk.types.Symbol"].values():
        assert symbol["string"].encoding == 3, f"symbol {symbol}: some readers know UTF-8 only"
    types = chunk.constants.get("jdk.types.FrameType", {})
    assert {key: one["description"].value for key, one in types.items()} in ({}, FRAME_TYPES), types
    resolved = collections.Counter()
    for name, pool in chunk.constants.items():
        for one in pool.values():
            for key in keys_in(one):
                resolved[key.type_name] += chunk.constant(key) is not None
    for stack in chunk.constants.get("jdk.types.StackTrace", {}).values():
        assert stack["frames"], "a stack without frames"
        for frame in stack["frames"]:
            method = chunk.constant(frame["method"])
            assert method and chunk.constant(method["name"]) and chunk.constant(chunk.constant(method["type"])["name"])
            assert chunk.constant(method["descriptor"])["string"].value.startswith("(")
            assert frame["type"].value in FRAME_TYPES, "a frame type that is no single small byte"
    return resolved


def keys_in(value):
    if isinstance(value, jfr_file.Key):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from keys_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from keys_in(one)


def check_events(chunk):
    own = None
    for event in chunk.events:
        for key in keys_in(event.values):
            chunk.constant(key)
        for value in event.values.values():
            assert not isinstance(value, jfr_file.Text) or value.encoding in (0, 1, 3), f"{event.type.name}: {value}"
        if event.type.name == "jdk.ObjectAllocationSample":
            assert chunk.start_ticks <= event.values["startTime"], "an event before its chunk"
            assert event.values["startTime"] - chunk.start_ticks <= chunk.duration_ns, "an event behind its chunk"
            assert own is not None, "no heaprec.AllocationSample before it"
            assert all(event.values[name] == own.values[name] for name in COMMON), "another sample before it"
        own = event if event.type.name == "heaprec.AllocationSample" else None


def check_file(recordings, *options):
    before, counts = None, collections.Counter()
    for chunk in exported(recordings, *options):
        check_header(chunk, before)
        check_types(chunk)
        resolved = check_constants(chunk)
        check_events(chunk)
        counts.update(event.type.name for event in chunk.events)
        counts["resolved"] += sum(resolved.values())
        before = chunk
    return counts


def weights_of(chunks):
    """By class, in Java's internal spelling, and of all."""
    sums = collections.Counter()
    for chunk in chunks:
        for event in chunk.events:
            if event.type.name != "jdk.ObjectAllocationSample":
                continue
            type_ = chunk.constant(event.values["objectClass"])
            sums[chunk.constant(type_["name"])["string"].value if type_ else None] += event.values["weight"]
    return sums


def kept(chunks):
    """What the file says of its weights."""
    return {event.values["weights"].value for chunk in chunks for event in chunk.events if event.type.name == "heaprec.Recording"}


def check_totals(recording):
    rows = [json.loads(line) for line in run(HEAPREC, "export", "--format", "jsonl", recording).splitlines()]
    table = json.loads(run(HEAPREC, "top", "--by", "class", "--no-rows", "--limit", "0", "--json", recording))
    total = sum(row["bytes"]["value"] for row in table["tables"][0]["rows"])
    for options, column, name in (((), "calibrated_bytes", "calibrated"), (("--raw",), "weight_bytes", "raw")):
        chunks = exported([recording], *options)
        weights = weights_of(chunks)
        expected = sum(row[column] for row in rows)
        if expected >= 2**63:
            return len(rows)  # a random recording: no JVM reaches what a long does not hold
        # Each weight is rounded to a whole byte.
        off = abs(sum(weights.values()) - expected)
        assert off <= 0.5 * len(rows) + 1e-15 * expected, f"{recording} {name}: {sum(weights.values())}, {expected}"
        assert kept(chunks) == {name}
    calibrated = sum(row["calibrated_bytes"] for row in rows)
    assert abs(calibrated - total) <= 1e-6 * total, f"{recording}: {calibrated}, but top says {total}"
    return len(rows)


def java_home():
    if os.environ.get("JAVA_HOME"):
        return pathlib.Path(os.environ["JAVA_HOME"])
    return pathlib.Path(os.path.realpath(shutil.which("java"))).parent.parent


def check_against_jdk(ours):
    """The JDK's own file: the fields that both have come in the same order and are of the same types."""
    path = f"{SCRATCH}/jdk.jfr"
    run(java_home() / "bin/java", f"-XX:StartFlightRecording:filename={path}", "-version")
    theirs = next(jfr_file.chunks(pathlib.Path(path).read_bytes()))
    compared = 0
    for name, type_ in ours.by_name.items():
        if name not in theirs.by_name:
            continue
        mine, other = fields_of(ours, type_), fields_of(theirs, theirs.by_name[name])
        names = {one.split(":")[0] for one in mine} & {one.split(":")[0] for one in other}
        common = [[one for one in fields if one.split(":")[0] in names] for fields in (mine, other)]
        assert common[0] == common[1], f"{name}: {common[0]}, the JDK's: {common[1]}"
        assert type_.super_name == theirs.by_name[name].super_name, name
        compared += 1
    assert compared >= len(LAYOUT), f"{compared} types"
    for key, name in list(FRAME_TYPES.items())[:4]:
        assert theirs.constants["jdk.types.FrameType"][key]["description"].value == name
    return compared


def main():
    generated = f"{SCRATCH}/generated.hrec"
    run(GENERATE, "3000", generated)
    recordings = [generated, *sys.argv[3:]]
    everything = collections.Counter()
    for recording in recordings:
        everything += check_file([recording], "--kind", "tlab,outside,exception")
    everything += check_file(recordings)
    for name in ("jdk.ObjectAllocationSample", *OWN_FIELDS):
        assert everything[name] > 0, f"no {name} in any of the recordings"
    assert everything["resolved"] > 0
    totals = [check_totals(recording) for recording in recordings]
    compared = check_against_jdk(exported([generated])[0])
    print(f"{dict(everything)}; totals of {totals} events; {compared} types as the JDK has them")


main()
