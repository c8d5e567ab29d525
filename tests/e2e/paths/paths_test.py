"""What the agent says holds an object, beside a heap dump of the same moment.

paths_test.py AGENT COMMAND PROGRAMS [-- TEST...]

Every reference of a path must be in the dump, from the object to a root of the kind that the path names; and no chain of the dump may be
shorter. The JDKs are those of this machine: 17, and what is in /usr/lib/jvm and $HEAPREC_JDKS (tests/e2e/fetch_jdks.sh).
"""
import collections
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import hprof

GIVEN = sys.argv[1:] + ["--"]
AGENT, COMMAND, PROGRAMS = (os.path.abspath(path) for path in GIVEN[:GIVEN.index("--")])
HOME = os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java")
FETCHED = os.environ.get("HEAPREC_JDKS", os.path.expanduser("~/.cache/heaprec/jdks"))
JDKS = [HOME] + sorted(glob.glob("/usr/lib/jvm/*25*/"))[:1] + sorted(glob.glob(FETCHED + "/*/home"))
COLLECTORS = ["G1", "Parallel", "Serial"]
EXPERIMENTAL = "-XX:+UnlockExperimentalVMOptions"
BY_JVMTI = {  # the heap is not read by the agent itself
    "Z": [EXPERIMENTAL, "-XX:+UseZGC"],
    "generational_Z": ["-XX:+UseZGC", "-XX:+ZGenerational"],
    "Shenandoah": [EXPERIMENTAL, "-XX:+UseShenandoahGC"],
    "wide_references": ["-XX:+UseG1GC", "-XX:-UseCompressedOops"],
}
SEARCHES = int(os.environ.get("HEAPREC_SEARCHES", "20"))  # of each stress test
COUNT = 20  # objects of each way
PATIENCE = 60
FIRST, MOST = 40_000, 1000  # as in Held.java
MAP, LOCAL, LISTENER, QUEUE, SOFT, WEAK, LIST, CYCLE, STACK, INNER, FINALIZED, LOADER, ELEMENT, VIRTUAL, TWICE = range(15)
STATIC, LOCAL_VARIABLE = 1, 2
ROOTS = {2: {"local"}, 3: {"jni local", "native stack"}, 4: {"jni global"}, 5: {"thread"}, 6: {"monitor"},
         7: {"unknown", "class", "jni global"}}
# What a person looks for in the path of each way.
SAYS = {
    MAP: ["e2e.Held.CACHE", "java.util.concurrent.ConcurrentHashMap$Node.val"],
    LOCAL: ["java.lang.ThreadLocal$ThreadLocalMap$Entry.value", "java.lang.Thread.threadLocals"],
    LISTENER: ["e2e.Held.LISTENERS"],
    QUEUE: ["e2e.Held.QUEUE", "java.util.concurrent.ConcurrentLinkedQueue$Node.item"],
    SOFT: ["e2e.Held.SOFT", "java.lang.ref.SoftReference.referent"],
    LIST: ["e2e.Held.list", "e2e.Held$Node.next"],
    CYCLE: ["e2e.Held.cycle", "e2e.Held$Node.value"],
    INNER: ["e2e.Held.INNER", "e2e.Held$Inner.value"],
    FINALIZED: ["e2e.Held$Finalized.value", "java.lang.ref.Finalizer.referent"],
    LOADER: ["e2e.Held.LOADERS", "e2e.Held$Kept.VALUES"],
    ELEMENT: ["e2e.Held.ELEMENTS", "byte[][].[]"],
}


def java_name(name):
    """ "[Ljava.lang.Object;" -> "java.lang.Object[]", and of a lambda's class what is not generated."""
    dimensions = len(name) - len(name.lstrip("["))
    name = name[dimensions:]
    if dimensions and name.startswith("L"):
        name = name[1:-1]
    elif dimensions:
        name = {"B": "byte", "C": "char", "I": "int", "J": "long", "Z": "boolean", "S": "short", "F": "float", "D": "double"}[name]
    return name.split("$$Lambda")[0] + "[]" * dimensions


class Graph:
    """The dump as who holds whom, and the length of the shortest chain to each object."""

    def __init__(self, dump):
        self.dump = dump
        self.holders = collections.defaultdict(list)
        permanent = {of for of, loader in dump.loaders.items() if not loader or self._is_permanent(loader)}
        self.static_roots = {of for of in permanent if "/0x" not in dump.class_name[of] and "+0x" not in dump.class_name[of]}
        self.length = self.lengths()
        everything = list(dump.statics) + list(dump.arrays) + list(dump.instances)
        for of in everything:
            for name, field, target in dump.references(of):
                self.holders[target].append((of, java_name(name), field))

    def lengths(self, without=None):
        """Of the shortest chain to each object that is reached without soft references, finalizers, and `without`."""
        length = {of: 0 for of in list(self.dump.roots) + list(self.static_roots) if of != without}
        queue = collections.deque(length)
        while queue:
            of = queue.popleft()
            for _, field, target in self.dump.references(of):
                if field == "referent" and self.dump.is_a(self.dump.instances[of][0], "java.lang.ref.Reference"):
                    continue
                if target not in length and target != without:
                    length[target] = length[of] + 1
                    queue.append(target)
        return length

    def _is_permanent(self, loader):
        klass = self.dump.class_name[self.dump.instances[loader][0]]
        return klass in ("jdk.internal.loader.ClassLoaders$AppClassLoader", "jdk.internal.loader.ClassLoaders$PlatformClassLoader")

    def behind(self, targets, step):
        name, _, field = step.rpartition(".")
        name = name.split("$$Lambda")[0]
        return {of for target in targets for of, holder, held_by in self.holders[target] if holder == name and held_by == field}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="heaprec-paths.")
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self, home, options, *flags, count=COUNT, deep=100_000):
        recording = self.file("held.hrec")
        with open(self.file("err"), "w") as errors:
            program = subprocess.Popen(
                [f"{home}/bin/java", f"-agentpath:{AGENT}=file={recording},rate=20000,{options}", *flags, "-cp", PROGRAMS, "e2e.Held", str(count), str(deep)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, universal_newlines=True)
        self.addCleanup(program.stdin.close)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        for line in program.stdout:
            if line == "ready\n":
                return program, recording
        self.fail(self.errors())

    def errors(self):
        with open(self.file("err")) as errors:
            return errors.read()

    def heaprec(self, *arguments, code=0):
        done = subprocess.run([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, universal_newlines=True)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout + (done.stderr if code else "")

    def events(self, recording, *kinds):
        events = json.loads(self.heaprec("print", "--json", "--stack-depth", "0", "--kind", ",".join(kinds), recording))
        return events["events"]

    def ways_of(self, recording):
        """The way and the number of bytes of each sampled array, by sample."""
        ways = {}
        for event in self.events(recording, "tlab", "outside"):
            length = event["size"] - 16
            if event["class"] == "byte[]" and length >= FIRST and (length - FIRST) % 8 == 0:
                ways[event["id"]] = ((length - FIRST) // 8 // MOST, length)
        return ways


class Dumps(Case):
    def check(self, home, flags):
        program, recording = self.start(home, "paths=on,paths.pause=2s,paths.retained=2s", *flags, "-Xmx512m", "-Xmn256m")  # no collection, so finalizers do not run
        copy, dump = self.file("copy.hrec"), self.file("held.hprof")
        self.heaprec("dump", "--flush", "-o", copy, str(program.pid))
        subprocess.run([f"{home}/bin/jcmd", str(program.pid), "GC.heap_dump", "-all", dump], stdout=subprocess.DEVNULL, check=True)
        program.kill()
        graph = Graph(hprof.Dump(dump))
        ways = self.ways_of(copy)
        (search,) = [event for event in self.events(copy, "event") if event["event"] == "heap searched"]
        events = self.events(copy, "path")
        paths = {event["sample"]: event for event in events if "sample" in event}
        self.assertEqual(search["paths"], len(paths))
        found, wrong, checked = collections.Counter(), [], 0
        for sample, (way, length) in ways.items():
            if sample not in paths:
                continue
            found[way] += 1
            checked += 1
            problem = self.judge(graph, paths[sample], way, length)
            if problem:
                wrong.append(f"way {way}: {problem}\n  {[(f['method'], f['bci']) for f in paths[sample]['stack']['frames']]}")
        self.assertLessEqual(len(wrong), checked // 100, "\n".join(wrong[:10]))
        for way in SAYS:
            self.assertGreaterEqual(found[way], COUNT // 2, f"way {way}: {found}")
        self.assertGreaterEqual(found[STACK], COUNT // 2)
        self.assertEqual(found[WEAK], 0)
        if "by_jvmti" not in json.loads(self.heaprec("paths", "--json", copy)):
            self.check_holders(graph, ways, paths, [event for event in events if "holder" in event])

    def check_holders(self, graph, ways, paths, holders):
        """What a holder retains is what cannot be reached in the dump without it."""
        static = {event["holder"]: event["stack"]["frames"][0]["method"] for event in holders if len(event["stack"]["frames"]) == 1 and event["stack"]["frames"][0]["bci"] == STATIC}
        for name in ("e2e.Held.ELEMENTS", "e2e.Held.ONE"):
            self.assertIn(name, static.values())
        wrong, checked = [], 0
        for holder, name in static.items():
            owner, _, field = name.rpartition(".")
            if field in ("<constants>", "<class>"):
                continue
            (of,) = (target for klass, values in graph.dump.statics.items() if graph.dump.class_name[klass] == owner for value, target in values if value == field)
            reached = graph.lengths(without=of)
            for sample, (way, length) in ways.items():
                if sample not in paths or way in (SOFT, FINALIZED, VIRTUAL):
                    continue
                checked += 1
                is_retained = all(array not in reached for array in graph.dump.bytes[length])
                if is_retained != (holder in paths[sample]["retained_by"]):
                    wrong.append(f"way {way} by {name}: {is_retained}")
        self.assertLessEqual(len(wrong), checked // 100, "\n".join(wrong[:10]))
        retained = {way for sample, (way, _) in ways.items() if sample in paths and paths[sample]["retained_by"]}
        self.assertIn(ELEMENT, retained)
        self.assertNotIn(TWICE, retained)

    def judge(self, graph, path, way, length):
        frames = path["stack"]["frames"]
        steps, root = frames[:-1], frames[-1]
        if root["bci"] == STATIC and not root["method"].endswith(".<class>"):
            steps = steps + [{"method": root["method"], "bci": 1}]
        held = set(graph.dump.bytes.get(length, []))
        references = 0
        for step in steps:
            for _ in range(step["bci"]):
                references += 1
                held = graph.behind(held, step["method"])
            if not held:
                return f"nothing holds it by {step['method']}"
        if root["bci"] == STATIC:
            is_root = held & graph.static_roots
        else:
            is_root = {of for of in held if graph.dump.roots.get(of) in ROOTS[root["bci"]]}
        if not is_root and way != VIRTUAL:  # a dump does not have the local variables of virtual threads
            return f"not a root of kind {root['bci']}: {[graph.dump.roots.get(of) for of in held]}"
        shortest = min(graph.length.get(of, sys.maxsize) for of in graph.dump.bytes[length])
        if way not in (SOFT, FINALIZED, VIRTUAL) and references != shortest:
            return f"{references} references, not {shortest}"
        names = [frame["method"] for frame in frames]
        for name in SAYS.get(way, []):
            if name not in names:
                return f"does not name {name}"
        if way == STACK and (root["bci"] != LOCAL_VARIABLE or root["method"] != "e2e.Held.main" or path["thread"]["name"] != "main"):
            return "is not a local variable of main"
        return ""


def add(home, collector, flags):
    version = re.search(r"(\d+)", os.path.basename(home.rstrip("/").removesuffix("/home"))) if home != HOME else None
    name = f"test_paths_are_those_of_a_heap_dump_{version.group(1) if version else 'default'}_{collector}"
    setattr(Dumps, name, lambda self: self.check(home, flags))


def has(home, flags):
    return subprocess.run([f"{home}/bin/java", *flags, "-version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def ways_by_jvmti(jdk, short):
    """In full with HEAPREC_ALL=1."""
    return {gc: options for gc, options in BY_JVMTI.items() if (gc in short or os.environ.get("HEAPREC_ALL")) and has(jdk, options)}


for jdk in JDKS:
    for gc in COLLECTORS:
        add(jdk, gc, [f"-XX:+Use{gc}GC"])
    for gc, options in ways_by_jvmti(jdk, ["generational_Z"] if jdk != HOME else list(BY_JVMTI)).items():
        add(jdk, gc, options)


class Searches(Case):
    def search_of(self, recording):
        return json.loads(self.heaprec("paths", "--json", recording))

    def end(self, program, line="\n"):
        program.stdin.write(line)
        program.stdin.flush()
        self.assertEqual(program.wait(PATIENCE), 0, self.errors())

    def test_a_search_at_the_end_is_in_the_recording_and_the_tree_names_each_holder(self):
        program, recording = self.start(HOME, "paths=on,paths.pause=2s")
        copy = self.file("copy.hrec")
        self.heaprec("dump", "--flush", "-o", copy, str(program.pid))
        self.assertRegex(self.heaprec("paths", copy), r"running thread holder( ->|.*\n.*└─) Thread\.threadLocals")
        self.end(program)
        report = self.search_of(recording)
        self.assertEqual(report["end"], "complete")
        names = " ".join(json.dumps(child) for child in report["children"])
        for name in ("e2e.Held.CACHE (static)", "e2e.Held.list (static)", "e2e.Held.ELEMENTS (static)"):
            self.assertIn(name, names)
        shares = sum(child["share"]["value"] for child in report["children"])
        self.assertLessEqual(shares, 1.0001)
        self.assertGreater(shares, 0.9)
        text = self.heaprec("paths", recording)
        self.assertRegex(text, r"Held\$Node\.next x [\d,]+-[\d,]+")
        self.assertIn(": ok", self.heaprec("verify", recording))

    def test_a_search_that_may_take_20_ms_ends_then_and_says_what_it_did_not_reach(self):
        program, recording = self.start(HOME, "paths=1s,paths.pause=20ms", "-Xmx1g", deep=6_000_000)
        time.sleep(2.5)
        self.end(program)
        report = self.search_of(recording)
        self.assertIn(report["end"], ("time", "roots"))  # roots: on a machine that is busy
        self.assertIn("Not reached: ", self.heaprec("paths", recording))

    def test_two_searches_differ_by_their_time(self):
        program, recording = self.start(HOME, "paths=1s,paths.pause=1s")
        time.sleep(2.5)
        self.end(program)
        searches = [event for event in self.events(recording, "event") if event["event"] == "heap searched"]
        self.assertGreaterEqual(len(searches), 3)
        first = json.loads(self.heaprec("paths", "--json", "--at", "1500ms", recording))
        self.assertLess(first["at_ns"], 1_500_000_000 * 2)
        self.assertIn("not searched until then", self.heaprec("paths", "--at", "1ms", recording, code=3))

    def test_the_report_says_that_jvmti_reported_the_references_and_why(self):
        for flags, why in ((["-XX:+UseZGC"], "the Z collector"), (["-XX:-UseCompressedOops"], "references are not compressed")):
            program, recording = self.start(HOME, "paths=on,paths.pause=2s", *flags, count=1)
            self.end(program)
            self.assertEqual(self.errors(), "")
            self.assertIn(f"JVMTI reported the references ({why})", self.heaprec("paths", recording))
            os.unlink(recording)

    def test_a_search_that_jvmti_would_make_too_long_is_refused_and_says_what_it_needs(self):
        program, recording = self.start(HOME, "paths=on,paths.pause=5ms", "-XX:+UseZGC", "-Xms512m", "-Xmx512m", deep=1_000_000)
        self.end(program)
        self.assertRegex(self.errors(), r"no paths: the Z collector; until JDK 17 JVMTI restores the heap: needs paths.pause=\d+ms or more\n")
        self.assertIn("needs paths.pause=", self.heaprec("paths", recording, code=3))

    def test_a_recording_without_searches_names_the_option(self):
        program, recording = self.start(HOME, "paths=off", count=1)
        self.end(program)
        self.assertIn("record with the agent option paths=on", self.heaprec("paths", recording, code=3))
        self.assertIn("only objects of the heap have paths", self.heaprec("paths", "--kind", "malloc", recording, code=2))

    def test_a_killed_process_keeps_the_paths_of_its_last_search(self):
        program, recording = self.start(HOME, "paths=1s,paths.pause=1s")
        time.sleep(1.5)
        program.send_signal(signal.SIGKILL)
        program.wait()
        self.assertIn("e2e.Held.CACHE (static)", self.heaprec("paths", recording))

    def test_copies_of_a_recording_have_its_paths(self):
        program, recording = self.start(HOME, "paths=on,paths.pause=2s")
        self.end(program)
        whole = self.search_of(recording)
        for command in ("trim", "redact", "recover", "merge"):
            copy = self.file(command + ".hrec")
            self.heaprec(command, recording, "-o", copy)
            copied = self.search_of(copy)
            self.assertEqual([child["bytes"] for child in copied["children"]], [child["bytes"] for child in whole["children"]], command)
            self.assertEqual("e2e.Held" in json.dumps(copied), command != "redact")


class Stress(Case):
    """Searches one after another, beside threads that change the heap, classes that are unloaded, and JFR."""

    def check(self, home, flags):
        recording = self.file("mutates.hrec")
        with open(self.file("err"), "w") as errors:
            program = subprocess.Popen(
                [f"{home}/bin/java", f"-agentpath:{AGENT}=file={recording},rate=2000,paths=on,paths.pause=1s", *flags, "-Xmx256m",
                 "-XX:StartFlightRecording=settings=profile", "-cp", PROGRAMS, "e2e.Mutates", "3"],
                cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, universal_newlines=True)
        self.addCleanup(program.kill)
        self.addCleanup(program.stdout.close)
        try:
            while program.stdout.readline() != "ready\n":
                self.assertIsNone(program.poll(), self.errors())
            for _ in range(SEARCHES):
                # Searches, and then refuses to copy, because copies take longer and longer.
                self.heaprec("dump", "--flush", "-o", recording, str(program.pid), code=6)
            said, _ = program.communicate(timeout=PATIENCE)
        except subprocess.SubprocessError:
            program.kill()
            raise
        self.assertEqual((program.returncode, said), (0, "right\n"), self.errors())
        self.assertNotRegex(self.errors(), "(?m)^heaprec: (no )?paths: ")
        searched = [event for event in self.events(recording, "event") if event["event"] == "heap searched"]
        self.assertEqual(len(searched), SEARCHES + 1)
        self.assertGreater(min(event["objects"] for event in searched), 1000)
        self.assertIn(": ok", self.heaprec("verify", recording))


for jdk in JDKS[:2]:
    ways = {gc: [f"-XX:+Use{gc}GC"] for gc in COLLECTORS}
    ways.update(ways_by_jvmti(jdk, ["Z"] if jdk == HOME else ["generational_Z"]))
    for gc, options in ways.items():
        setattr(Stress, f"test_the_heap_stays_right_on_{'default' if jdk == HOME else 'another'}_{gc}", lambda self, home=jdk, flags=options: self.check(home, flags))

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"] + GIVEN[GIVEN.index("--") + 1:-1])
