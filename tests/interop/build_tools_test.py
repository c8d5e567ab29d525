"""examples/java with Maven and with Gradle, as the guide says, offline with Debian's packages.

build_tools_test.py HEAPREC RELEASE... [-- TEST...]     RELEASE: files of //dist:maven
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

GIVEN = sys.argv[1:] + ["--"]
HEAPREC, *RELEASE = (os.path.abspath(path) for path in GIVEN[:GIVEN.index("--")])
(JAR,) = (path.removesuffix(".pom") + ".jar" for path in RELEASE if path.endswith(".pom"))
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GUIDE = ROOT / "docs/guide/build-tools.md"
DEBIAN = pathlib.Path("/usr/share/maven-repo")
PATIENCE = 300  # seconds for a build
WASTE = 'text.split(" ")', 'String.join(" ", text.split(" ")).split(" ")'  # the same words, allocated twice


def commands(tool):
    """The guide's block of commands for a tool."""
    (block,) = re.findall(rf"^```sh\n((?:(?!```).*\n)*?{tool} (?:.*\n)*?)```$", GUIDE.read_text(), re.MULTILINE)
    return block


def newest(group, artifact):
    """The version that Debian has of an artifact."""
    versions = [path.name for path in (DEBIAN / group.replace(".", "/") / artifact).iterdir() if path.name[0].isdigit()]
    return max(versions, key=lambda version: [int(part) for part in re.findall(r"\d+", version)])


def with_versions_of_debian(pom):
    def replaced(match):
        return f"{match[0][:match.start('version') - match.start()]}{newest(match['group'] or 'org.apache.maven.plugins', match['artifact'])}<"
    return re.sub(r"(?:<groupId>(?P<group>[^<]+)</groupId>\s*)?<artifactId>(?P<artifact>(?!words)[^<]+)</artifactId>\s*<version>(?P<version>[^<]+)<", replaced, pom)


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="heaprec build.")  # a space
        self.addCleanup(shutil.rmtree, folder)
        self.folder = pathlib.Path(folder)
        self.project = self.folder / "examples/java"
        shutil.copytree(ROOT / "examples/java", self.project)
        shutil.copy(JAR, self.folder / "heaprec.jar")
        (self.folder / "bin").mkdir()
        self.environment = {**os.environ, "HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache", "LC_ALL": "C.UTF-8", "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        for name in ("JAVA_TOOL_OPTIONS", "MAVEN_OPTS", "MAVEN_ARGS", "GRADLE_OPTS", "HEAPREC_LIB", "HEAPREC_JAR"):
            self.environment.pop(name, None)

    def wrap(self, tool, *options):
        """A command of this name that works without a network."""
        path = self.folder / "bin" / tool
        path.write_text(f'#!/bin/sh\nexec /usr/bin/{tool} {shlex.join(options)} "$@"\n')
        path.chmod(0o755)

    def run_shell(self, text, folder, code=0):
        done = subprocess.run(["bash", "-e", "-c", text], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=2 * PATIENCE, universal_newlines=True)
        self.assertEqual(done.returncode, code, done.stdout[-6000:])
        return done.stdout

    def check_build(self, tool, build, output):
        """The guide's commands; then the same program, which allocates twice as much."""
        out = self.run_shell(commands(tool), self.folder)
        for judged in ("0 of 1", "0 of 2"):  # the first build has no baseline
            self.assertEqual(out.count(f"{judged} budgets exceeded"), 1, out)
        self.assertIn("total against the baseline", out)
        self.check_files(output)

        source = self.project / "src/main/java/com/example/Words.java"
        text = source.read_text()
        self.assertEqual(text.count(WASTE[0]), 1)
        source.write_text(text.replace(*WASTE))
        out = self.run_shell(build, self.project, code=1)
        self.assertRegex(out, r"EXCEEDED +\d+ MiB [\d-]+ +100 MiB  total<100MiB")
        self.assertRegex(out, r"EXCEEDED +\+\d+\.\d % .* total against the baseline")
        self.check_files(output)
        return out

    def misspell(self, file, build):
        """A build with a wrong option of the agent."""
        path = self.project / file
        path.write_text(path.read_text().replace("rate=300", "rat=300"))
        out = self.run_shell(build, self.project, code=1)
        self.assertIn("tests.hrec: No such file or directory", out)
        return out

    def check_files(self, output):
        summary = json.loads(subprocess.run([HEAPREC, "summary", "--json", self.project / output / "tests.hrec"], stdout=subprocess.PIPE, check=True).stdout)
        self.assertGreater(summary["allocated_bytes"], 60 << 20)
        page = (self.project / output / "tests.html").read_text()
        self.assertTrue("<title>tests.hrec " in page and page.endswith("</html>\n"), page[:2000])
        self.assertEqual([path.name for path in (self.project / output).glob("*.hrec")], ["tests.hrec"])

    def test_maven(self):
        repository = self.folder / "repository"
        shutil.copytree(DEBIAN, repository, copy_function=os.symlink)
        # Maven adds version 1.1 to plugins that name none; Debian has later ones only.
        utils = repository / "org/codehaus/plexus/plexus-utils"
        (utils / "1.1").mkdir()
        for end in ("jar", "pom"):
            (utils / f"1.1/plexus-utils-1.1.{end}").symlink_to(utils / f"debian/plexus-utils-debian.{end}")
        pom = self.project / "pom.xml"
        pom.write_text(with_versions_of_debian(pom.read_text()))
        self.wrap("mvn", "--offline", "--batch-mode", "--no-transfer-progress", f"-Dmaven.repo.local={repository}")
        out = self.check_build("mvn", "mvn verify", "target")
        self.assertIn("Failed to execute goal org.codehaus.mojo:exec-maven-plugin", out)
        self.assertIn("(check) on project words: Command execution failed. Process exited with an error: 1", out)
        self.misspell("pom.xml", "mvn verify")
        newest_dump = max((self.project / "target/surefire-reports").glob("*.dumpstream"), key=lambda path: path.stat().st_mtime_ns)
        self.assertIn("heaprec: not recording: unknown option `rat`", newest_dump.read_text())

    def test_gradle(self):
        self.wrap("gradle", "--offline", "--no-daemon", "--gradle-user-home", f"{self.folder}/gradle", "--init-script", f"{HERE}/debian.gradle")
        out = self.check_build("gradle", "gradle check", "build")
        self.assertIn("Execution failed for task ':heaprecCheck'.\n> Process 'command 'java'' finished with non-zero exit value 1", out)
        self.assertIn("heaprec: not recording: unknown option `rat`", self.misspell("build.gradle", "gradle check"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *GIVEN[GIVEN.index("--") + 1:-1]])
