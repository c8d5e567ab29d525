"""heaprec.jar: what is in it, that it is the same bytes again, and each way into it, on the JDKs of this machine.

jar_test.py CLASSES PROGRAMS LICENSE AGENT COMMAND RELEASE... [-- TEST...]
CLASSES: the jar without native files; AGENT and COMMAND: what the files of the RELEASE were made of
"""

import csv
import glob
import io
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

import yaml

GIVEN = sys.argv[1:] + ["--"]
CLASSES, PROGRAMS, LICENSE, AGENT, COMMAND, *RELEASE = (os.path.abspath(path) for path in GIVEN[:GIVEN.index("--")])
(PREFIX,) = (path.removesuffix(".pom") for path in RELEASE if path.endswith(".pom"))
JAR = PREFIX + ".jar"
ROOT = pathlib.Path(__file__).resolve().parents[3]
HOME = os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java")
JDKS = [HOME] + sorted(
    glob.glob("/usr/lib/jvm/*25*/") + glob.glob(os.environ.get("HEAPREC_JDKS", os.path.expanduser("~/.cache/heaprec/jdks")) + "/25/home"))[:1]
JUNIT = [f"/usr/share/java/{name}.jar" for name in (
    "junit-jupiter-api", "junit-jupiter-engine", "junit-platform-commons", "junit-platform-engine", "junit-platform-launcher",
    "junit-platform-console", "junit-platform-reporting", "apiguardian-api", "opentest4j", "opentest4j-reporting-events", "opentest4j-reporting-schema", "picocli")]
PATIENCE = 120  # seconds
EXTRACTED = tempfile.mkdtemp(prefix="heaprec-jar.")  # native files for tests that are about something else
skipped = []


if len(JDKS) == 1:
    skipped.append("JDK 25: not on this machine")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="heaprec-jar.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "HOME": self.folder, "LC_ALL": "C.UTF-8"}
        for name in ("XDG_CACHE_HOME", "HEAPREC_LIB", "HEAPREC_JAR", "JAVA_TOOL_OPTIONS"):
            self.environment.pop(name, None)

    def command(self, *arguments, home=HOME):
        """A java command whose caches are in this test's folder."""
        return [f"{home}/bin/java", f"-Duser.home={self.folder}", "-XX:TieredStopAtLevel=1", *arguments]

    def java(self, *arguments, home=HOME, code=0, stdin=None):
        done = subprocess.run(self.command(*arguments, home=home), cwd=self.folder, env=self.environment, input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, universal_newlines=True)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def heaprec(self, *arguments, **more):
        return self.java(f"-Dheaprec.cache={EXTRACTED}", "-jar", JAR, *arguments, **more)

    def allocated(self, recording):
        return json.loads(subprocess.run([COMMAND, "summary", "--json", recording], stdout=subprocess.PIPE, check=True).stdout)["allocated_bytes"]

    def cache(self):
        (found,) = pathlib.Path(self.folder, ".cache/heaprec").iterdir()
        return found


class Files(Case):
    def check_release(self, prefix):
        return subprocess.run([sys.executable, ROOT / "java/check_release.py", prefix], stderr=subprocess.PIPE, universal_newlines=True)

    def test_release_is_complete(self):
        done = self.check_release(PREFIX)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_is_missing_is_said(self):
        copy = f"{self.folder}/heaprec-0.1.0"
        for end in (".jar", ".pom", "-sources.jar", "-javadoc.jar"):
            shutil.copy(PREFIX + end, copy + end)
            os.chmod(copy + end, 0o644)
        pom = pathlib.Path(copy + ".pom")
        pom.write_text(pom.read_text().replace("<url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>", ""))
        with zipfile.ZipFile(copy + ".jar", "a") as jar:
            jar.writestr("a/other/Thing.class", b"\xca\xfe\xba\xbe\0\0\0\x37")
        done = self.check_release(copy)
        self.assertEqual(done.returncode, 1)
        for error in ("has no licenses/license/url", "a/other/Thing.class is for Java 11", "Thing.class is not heaprec's", "not sorted", "different times"):
            self.assertIn(error, done.stderr)

    def test_same_bytes_again(self):
        junit = ":".join(JUNIT)
        environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": self.folder}
        common = ["--java-home", HOME, "--junit", junit]
        again = f"{self.folder}/{os.path.basename(PREFIX)}"
        for arguments in (["classes", *common, "--out", f"{self.folder}/classes.jar", ROOT / "java"],
                          ["release", *common, "--version", re.search(r"-(\d[\d.]*)$", PREFIX)[1], "--license", LICENSE,
                           "--classes", f"{self.folder}/classes.jar", "--out", again, ROOT / "java",
                           f"linux-x86_64/libheaprec.so={AGENT}", f"linux-x86_64/heaprec={COMMAND}"]):
            subprocess.run([sys.executable, ROOT / "java/jar.py", *arguments], cwd=self.folder, env=environment, umask=0o077, check=True, timeout=PATIENCE)
        self.assertEqual(pathlib.Path(f"{self.folder}/classes.jar").read_bytes(), pathlib.Path(CLASSES).read_bytes())
        for end in (".jar", ".pom", "-sources.jar", "-javadoc.jar"):
            self.assertEqual(pathlib.Path(again + end).read_bytes(), pathlib.Path(PREFIX + end).read_bytes(), end)


class Ways(Case):
    def test_java_agent(self):
        for home in JDKS:
            with self.subTest(home=home):
                recording = f"{self.folder}/agent-{len(home)}.hrec"
                done = self.java(f"-javaagent:{JAR}=file={recording}", "-cp", PROGRAMS, "ways.Work", "100000", home=home)
                self.assertEqual(done.stdout, "worked\n")
                if home == HOME:
                    self.assertEqual(done.stderr, "")
                # The JVM's start, and where the agent's own time is not counted, differ.
                self.assertGreater(self.allocated(recording), 100_000 * 1016 * 0.95)
        folder = self.cache()
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(folder.parent.stat().st_mode), 0o700)
        self.assertEqual([path.name for path in folder.iterdir()], ["libheaprec.so"])
        before = folder.joinpath("libheaprec.so").stat()
        self.java("-cp", f"{PROGRAMS}:{JAR}", "ways.Started", "file=reused.hrec")
        after = folder.joinpath("libheaprec.so").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        folder.joinpath("libheaprec.so").write_bytes(b"changed")
        self.java("-cp", f"{PROGRAMS}:{JAR}", "ways.Started", "file=repaired.hrec")
        self.assertEqual(folder.joinpath("libheaprec.so").stat().st_size, after.st_size)

    def test_options_of_the_agent_are_checked(self):
        done = self.java(f"-javaagent:{JAR}=rat=1", "-cp", PROGRAMS, "ways.Work", "1")
        self.assertIn("heaprec: not recording: unknown option `rat`", done.stderr)
        self.java(f"-javaagent:{JAR}=rat=1,strict", "-cp", PROGRAMS, "ways.Work", "1", code=1)
        done = self.java(f"-javaagent:{JAR}=file=no.hrec,only=some.Other", "-cp", PROGRAMS, "ways.Work", "1")
        self.assertEqual((done.stdout, done.stderr), ("worked\n", ""))
        self.assertFalse(os.path.exists(f"{self.folder}/no.hrec"))

    def test_class_loaders_share_one_agent(self):
        for home in JDKS:
            with self.subTest(home=home):
                recording = f"{self.folder}/shared-{len(home)}.hrec"
                done = self.java("-cp", PROGRAMS, "ways.Loaders", JAR, recording, home=home)
                self.assertEqual(done.stdout, f"recording {recording}\n{recording}\nidle\n1\n", done.stderr)

    def test_bean(self):
        recording = f"{self.folder}/managed.hrec"
        done = self.java(f"-Dheaprec.cache={EXTRACTED}", "-cp", f"{PROGRAMS}:{JAR}", "ways.Managed", recording)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:3] + lines[4:], ["not loaded", f"recording {recording}", f"{recording}.copy", recording, "idle"])
        name, low, high = lines[3].split(" ")
        self.assertEqual(name, "ways.Work.run")
        # 200,000 arrays of 1,016 B; an interval of 95 % misses them at times, one that is wrong by a factor always
        self.assertTrue(float(low) / 1.5 < 200_000 * 1016 < float(high) * 1.5, lines[3])

    def test_command(self):
        recording = f"{self.folder}/command.hrec"
        done = self.heaprec("record", "-q", "-o", recording, "--", f"{HOME}/bin/java", "-cp", PROGRAMS, "ways.Work", "20000")
        self.assertEqual((done.stdout, done.stderr), ("worked\n", ""))
        with open(recording, "rb") as file:
            piped = subprocess.run(self.command(f"-Dheaprec.cache={EXTRACTED}", "-jar", JAR, "top", "--by", "site", "--format", "csv", "-"), stdin=file, stdout=subprocess.PIPE, env=self.environment, timeout=PATIENCE)
        rows = list(csv.DictReader(io.StringIO(piped.stdout.decode())))
        self.assertEqual(rows[0]["name"], "ways.Work.run")
        self.assertIn("nonsense", self.heaprec("nonsense", code=2).stderr)
        # escape finds heaprec.jar, whose classes it runs.
        self.heaprec("escape", "--calls", "100", "--probes", "20", "ways.Escaped.none", "--", f"{HOME}/bin/java", "-cp", PROGRAMS)

    def test_signals_reach_the_command(self):
        command = self.command(f"-Dheaprec.cache={EXTRACTED}", "-jar", JAR, "record", "-q", "-o", f"{self.folder}/signal.hrec", "--", f"{HOME}/bin/java", "-cp", PROGRAMS, "ways.Work", "1", "60000")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment) as process:
            self.assertEqual(process.stdout.readline(), b"worked\n")
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertGreater(self.allocated(f"{self.folder}/signal.hrec"), 0)

    def test_attach(self):
        recording = f"{self.folder}/attached.hrec"
        with subprocess.Popen(self.command("-cp", PROGRAMS, "ways.Work", "1", "60000"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                process.stdout.readline()
                self.heaprec(str(process.pid), "-o", recording)
                self.heaprec("stop", str(process.pid))
                self.assertTrue(os.path.exists(recording))
            finally:
                process.kill()


class Refusals(Case):
    def started(self, *flags, jar=JAR):
        return self.java(*flags, "-cp", f"{PROGRAMS}:{jar}", "ways.Started", "file=x.hrec").stdout

    def test_elsewhere_nothing_happens_but_one_line(self):
        for name, value, reason in (("java.specification.version", "1.8", "JDK 1.8: heaprec needs JDK 11 or later"),
                                    ("os.name", "Mac OS X", "Mac OS X on"),
                                    ("java.vm.name", "Eclipse OpenJ9 VM", "Eclipse OpenJ9 VM: heaprec needs HotSpot")):
            done = self.java("-cp", f"{PROGRAMS}:{JAR}", "ways.Elsewhere", name, value)
            self.assertEqual(done.stdout, "false null null null null\n[] []\nfalse\n")
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("heaprec: not recording: " + reason, done.stderr)

    def test_folders_that_are_not_private(self):
        shared = pathlib.Path(self.folder, "shared")
        target = pathlib.Path(self.folder, "target")
        target.mkdir()
        shared.mkdir()
        self.started(f"-Dheaprec.cache={shared}")
        (name,) = (path.name for path in shared.iterdir())
        shutil.rmtree(shared)
        for make, reason in ((lambda path: (path.mkdir(), path.chmod(0o777)), "other users can write to it"),
                             (lambda path: path.symlink_to(target), "is not a folder"),
                             (lambda path: path.write_text(""), "is not a folder")):
            shared.mkdir()
            make(shared / name)
            said = self.started(f"-Dheaprec.cache={shared}")
            self.assertRegex(said, f"heaprec: cannot load the agent: {shared}/.*{reason}.*; name a private folder with -Dheaprec.cache=DIR")
            shutil.rmtree(shared)

    def test_folder_of_another_user(self):
        if os.geteuid() != 0:
            skipped.append("folders of other users: this is not root")
            return
        cache = pathlib.Path(self.folder, "cache")
        self.started(f"-Dheaprec.cache={cache}")
        (found,) = cache.iterdir()
        os.chown(found, 12345, 12345)
        self.assertRegex(self.started(f"-Dheaprec.cache={cache}"), "belongs to user 12345, not to 0")

    def test_folder_that_cannot_be_written(self):
        self.assertRegex(self.started("-Dheaprec.cache=/proc/heaprec"), "heaprec: cannot load the agent: /proc/heaprec: cannot be created; name a private folder")
        # Without a home the temporary folder takes its place, and is removed.
        temporary = pathlib.Path(self.folder, "tmp")
        temporary.mkdir()
        self.assertEqual(self.started("-Duser.home=/proc/none", f"-Djava.io.tmpdir={temporary}"), "x.hrec\n")
        self.assertEqual(list(temporary.iterdir()), [])

    def test_noexec(self):
        place = pathlib.Path(self.folder, "noexec")
        place.mkdir()
        mounted = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o noexec none "$0" && exec "$@"', place]
        if subprocess.run([*mounted, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            skipped.append("noexec: nothing can be mounted")
            return
        for arguments in (["-cp", f"{PROGRAMS}:{JAR}", "ways.Started", ""], ["-jar", JAR, "--version"]):
            done = subprocess.run([*mounted, *self.command(f"-Dheaprec.cache={place}/in", *arguments)], cwd=self.folder, env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, universal_newlines=True)
            self.assertIn("the file system is mounted noexec", done.stdout)

    def test_ready_files(self):
        ready = pathlib.Path(self.folder, "ready")
        ready.mkdir()
        self.assertIn(f"{ready}/libheaprec.so: no such file (named by -Dheaprec.native)", self.started(f"-Dheaprec.native={ready}"))
        shutil.copy(AGENT, ready)
        self.assertEqual(self.started(f"-Dheaprec.native={ready}"), "x.hrec\n")
        self.assertEqual(self.started(f"-Dheaprec.native={ready}/libheaprec.so"), "x-1.hrec\n")
        (ready / "libheaprec.so").write_text("not a library")
        self.assertIn("cannot load the agent: ", self.started(f"-Dheaprec.native={ready}"))

    def test_damaged_and_wrong_jars(self):
        damaged, empty = f"{self.folder}/damaged.jar", f"{self.folder}/empty.jar"
        with zipfile.ZipFile(JAR) as old, zipfile.ZipFile(damaged, "w") as new, zipfile.ZipFile(empty, "w") as other:
            for name in old.namelist():
                data = old.read(name)
                if name.endswith("libheaprec.so"):
                    data = data[:-1] + b"?"
                new.writestr(name, data)
                if "/native/" not in name:
                    other.writestr(name, data)
        self.assertRegex(self.started(jar=damaged), f"{damaged} is damaged: the SHA-256 of its libheaprec.so is [0-9a-f]{{64}}, not [0-9a-f]{{64}}")
        self.assertIn(f"there is no libheaprec.so for linux-x86_64 in {empty} or beside it", self.started(jar=empty))

    def test_jar_of_an_installation(self):
        lib = pathlib.Path(self.folder, "prefix/lib/heaprec")
        lib.mkdir(parents=True)
        (lib / "../../bin").mkdir()
        shutil.copy(CLASSES, lib / "heaprec.jar")
        shutil.copy(AGENT, lib)
        shutil.copy(COMMAND, lib / "../../bin/heaprec")
        self.assertEqual(self.started(jar=lib / "heaprec.jar"), "x.hrec\n")
        self.assertIn("0.1.0", self.java("-jar", lib / "heaprec.jar", "--version").stdout)
        self.assertFalse(os.path.exists(f"{self.folder}/.cache"))


class JUnit(Case):
    def run_tests(self, flag, *selected):
        """What a run that fails prints."""
        return self.java(f"-Dheaprec.cache={EXTRACTED}", flag, "-cp", ":".join([PROGRAMS, JAR, *JUNIT]), "org.junit.platform.console.ConsoleLauncher",
                         *selected, "--details", "tree", "--disable-banner", "--disable-ansi-colors", code=1).stdout

    def test_what_allocates_without_c2(self):
        for flag, code in (("-XX:TieredStopAtLevel=1", "C1"), ("-Xint", "the interpreter")):
            out = self.run_tests(flag, "--select-method", "ways.LimitedTest#tooManyFails")
            self.assertIn(f"32 B in 1 object: int[], allocated by {code}\n", out)

    def test_junit(self):
        out = self.run_tests("-XX:TieredStopAtLevel=4", "--select-class", "ways.LimitedTest")
        failed = set(re.findall(r"MethodSource \[className = 'ways.LimitedTest', methodName = '(\w+)'", out))
        self.assertEqual(failed, {"tooManyFails", "withoutLimitFails", "recordedFails"}, out)
        self.assertIn("LimitedTest.tooManyFails: a call allocates 72 B in 3 objects: 1 java.lang.Object[] (24 B), 1 int[] (32 B), 1 java.lang.Object (16 B); "
                      "allowed: 40 B, 2 objects", out)
        self.assertRegex(out, r"32 B in 1 object: int\[\], allocated by C2\n *at ways.LimitedTest.pair\(LimitedTest.java:\d+\)\n *at ways.LimitedTest.tooManyFails\(")
        self.assertIn("give bytes or objects", out)
        self.assertIn("not recorded: heaprec: unknown option `no`", out)
        names = sorted(path.name for path in pathlib.Path(self.folder, "recordings").iterdir())
        self.assertEqual(names, ["LimitedTest.recordedFails.hrec", "LimitedTest.recordedFails.html", "LimitedTest.recordedIsKept.hrec"])
        self.assertGreater(self.allocated(f"{self.folder}/recordings/LimitedTest.recordedFails.hrec"), 50_000 * 1016)


class Jmh(Case):
    def run_benchmark(self, options, home=HOME):
        return self.java(f"-Dheaprec.cache={EXTRACTED}", "-cp", f"{PROGRAMS}:{JAR}", "ways.Benchmark", options, home=home).stdout

    def test_jmh(self):
        for home, exact in ((HOME, ";exact=true"), (JDKS[-1], "")):
            with self.subTest(home=home, exact=exact):
                folder = f"jmh-{len(home)}{len(exact)}"
                out = self.run_benchmark(f"dir={folder};sites=3{exact}", home)
                self.assertTrue(out.startswith("found heaprec.jmh.HeaprecProfiler\n"), out)
                rates = re.findall(r"^(\d) heaprec.alloc.rate.norm (\S+) B/op own (\S+)$", out, re.MULTILINE)
                self.assertEqual([rate[0] for rate in rates], ["2", "3", "4"])
                for _, measured, own in rates:
                    self.assertLess(abs(float(measured) - float(own)), 1, out)
                (objects,) = re.findall(r"^4 heaprec.objects.norm (\S+) objects/op", out, re.MULTILINE)
                self.assertLess(abs(float(objects) - 2), 0.02 if exact else 0.5, out)
                self.assertRegex(out, r"10[34]\d\.\d +10\d\d\.\d-10\d\d\.\d +\d+\.\d % +[12]\.\d\d  ways.Benchmark.operation")
                names = sorted(path.name for path in pathlib.Path(self.folder, folder).iterdir())
                self.assertRegex(" ".join(names), r"^ways.Benchmark.operation-\d+.hrec ways.Benchmark.operation-\d+.html$")

    def test_options_are_checked(self):
        self.assertIn("unknown option `sits=3`", self.run_benchmark("sits=3"))
        self.assertIn("sites=x is not a number", self.run_benchmark("sites=x"))


class Ci(Case):
    def test_a_pull_request_that_allocates_more(self):
        java = [f"{HOME}/bin/java", "-cp", PROGRAMS, "ways.Work"]
        environment = {**self.environment, "HEAPREC": COMMAND, "HEAPREC_LIB": AGENT, "RUNS": "2"}
        done = subprocess.run([ROOT / "examples/ci/compare.sh", "out", "--", *java, "30000", "--", *java, "90000"], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(done.stdout.startswith("::error title=heaprec%3A total"), done.stdout)
        self.assertIn("ways.Work.run", done.stdout)
        out = pathlib.Path(self.folder, "out")
        self.assertIn("| EXCEEDED |", (out / "summary.md").read_text())
        self.assertEqual(json.loads((out / "heaprec.sarif").read_text())["version"], "2.1.0")
        self.assertIn("<failure", (out / "heaprec.xml").read_text())
        self.assertIn("</html>", (out / "report.html").read_text())

    def test_workflow(self):
        steps = yaml.safe_load((ROOT / "examples/ci/github.yml").read_text())["jobs"]["compare"]["steps"]
        self.assertEqual([step["uses"].split("@")[0] for step in steps if "uses" in step],
                         ["actions/checkout", "actions/setup-java", "github/codeql-action/upload-sarif", "actions/upload-artifact"])
        (compare,) = (step["run"] for step in steps if step.get("name") == "Compare")
        out = compare.split()[1]
        used = " ".join(str(step) for step in steps)
        for name in ("summary.md", "heaprec.sarif"):
            self.assertIn(f"{out}/{name}", used)
            self.assertIn(f"$out/{name}", (ROOT / "examples/ci/compare.sh").read_text())


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *GIVEN[GIVEN.index("--") + 1:-1]], exit=False).result
    shutil.rmtree(EXTRACTED)
    print(f"skipped {len(skipped)}: {'; '.join(skipped)}" if skipped else "skipped 0")
    sys.exit(0 if result.wasSuccessful() else 1)
