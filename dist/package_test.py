#!/usr/bin/env python3
"""The release files: what is in them, that they are the same bytes when made again, and that each, installed, records.

package_test.py --archive TAR_GZ [--machine M] --in-tree SCRIPT --jar PROGRAMS_JAR --third-party FOLDER --version V NAME=FILE...

Installed are they into a folder of this machine, and, where they are unpacked (tests/e2e/fetch_trees.sh), within trees
of other Debian releases with their own glibc and JDK; another machine's are run by qemu-user. The last line says what
was skipped, and why.
"""

import argparse
import glob
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)

import contents  # noqa: E402
import package  # noqa: E402

PATIENCE = 300  # seconds
options = argparse.Namespace()
skipped = []


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, universal_newlines=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def built(name):
    return os.path.join(os.path.dirname(options.archive), name)


def archive(static=False):
    return built(f"heaprec-{options.version}-linux-{options.machine}{'-static' if static else ''}.tar.gz")


def deb():
    return built(f"heaprec_{options.version}_{contents.MACHINES[options.machine].debian}.deb")


def commands():
    return package.COMMAND.findall(run(*package.command_of(options.sources, options.machine), "--help"))


def tree_of(release):
    folder = os.environ.get("HEAPREC_TREES") or os.path.expanduser("~/.cache/heaprec/trees")
    return os.path.join(folder, release)


def trees():
    for release in ("bullseye", "sid"):
        tree = tree_of(release)
        if not os.path.isdir(tree):
            skipped.append(f"{release}: no tree at {tree}; run tests/e2e/fetch_trees.sh {release}")
            continue
        entered = subprocess.run([options.in_tree, tree, "/bin/true"], stderr=subprocess.PIPE, universal_newlines=True)
        if entered.returncode != 0:
            skipped.append(f"{release}: the tree cannot be entered: {entered.stderr.strip()}")
            continue
        for home in sorted(glob.glob(tree + "/usr/lib/jvm/java-*-openjdk-amd64")):
            yield release, [options.in_tree, tree], home.removeprefix(tree)


class Contents(unittest.TestCase):
    def check(self, data, top, files):
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as tar:
            members = tar.getmembers()
        wanted = {f"{top}/{file.path}": file.mode for file in files}
        self.assertEqual({m.name: m.mode for m in members if m.isfile()}, wanted)
        for member in members:
            self.assertTrue(member.isfile() or member.isdir(), member.name)
            self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, package.EPOCH), member.name)
            self.assertGreater(member.size + member.isdir(), 0, f"{member.name} is empty")

    def test_archives(self):
        for static in (False, True):
            path = archive(static)
            self.check(pathlib.Path(path).read_bytes(), os.path.basename(path).removesuffix(".tar.gz"), contents.files(commands()))

    def test_debian_package(self):
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb()], stdout=subprocess.PIPE, check=True).stdout
        files = [file._replace(path="usr/" + file.path) for file in contents.files(commands()) + contents.DEB_FILES]
        self.check(data, ".", files)
        fields = {name: run("dpkg-deb", "--field", deb(), name).strip() for name in ("Version", "Architecture", "Depends")}
        self.assertEqual(fields, {"Version": options.version, "Architecture": contents.MACHINES[options.machine].debian, "Depends": "libc6 (>= 2.17)"})
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "--extract", deb(), folder)
            run("dpkg-deb", "--control", deb(), folder + "/control")
            run("md5sum", "--check", "--quiet", "control/md5sums", cwd=folder)

    def test_same_bytes_again(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.basename(path) for path in (archive(), archive(True), deb())]
            arguments = [f"{name}={os.path.abspath(path)}" for name, path in options.sources.items()]
            outputs = [f"--{kind}={folder}/{name}" for kind, name in zip(("tar", "static-tar", "deb"), names)]
            environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "COLUMNS": "60", "HOME": folder}
            run(sys.executable, f"{HERE}/package.py", "--version", options.version, "--machine", options.machine, *outputs, *arguments, cwd=folder, env=environment,
                umask=0o077)
            for name in names:
                self.assertEqual(pathlib.Path(built(name)).read_bytes(), pathlib.Path(folder, name).read_bytes(), name)

    def test_bill_of_materials(self):
        with tarfile.open(archive()) as tar:
            top = os.path.basename(archive()).removesuffix(".tar.gz")
            bill = json.load(tar.extractfile(f"{top}/share/doc/heaprec/heaprec.spdx.json"))
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        packages = {entry["name"]: entry for entry in bill["packages"]}
        overlays = {path.stem for path in pathlib.Path(options.third_party).glob("*.BUILD")}
        self.assertEqual(overlays, set(contents.THIRD_PARTY) | contents.NOT_CONTAINED)
        compilers = {name + contents.MACHINES[options.machine].compiler_suffix for name in contents.COMPILERS}
        contained = {*contents.libraries(options.machine), *compilers}
        self.assertEqual(set(packages), {"heaprec", *contained})
        for name, entry in packages.items():
            self.assertTrue(entry["versionInfo"], name)
        ids = {entry["SPDXID"] for entry in bill["packages"]} | {"SPDXRef-DOCUMENT"}
        self.assertEqual(len(ids), len(packages) + 1)
        for relation in bill["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, ids)


class Emulated(unittest.TestCase):
    """Of another machine: qemu-user runs a JVM with the agent of each package, and the command that lies beside it."""

    def test_each_package_records(self):
        tree = tree_of(options.machine)
        homes = sorted(glob.glob(f"{tree}/usr/lib/jvm/java-*-openjdk-{contents.MACHINES[options.machine].debian}"))
        self.assertTrue(homes, f"no JDK in {tree}; run tests/e2e/fetch_trees.sh {options.machine}")
        under = [f"qemu-{options.machine}", "-L", tree]
        for path in (archive(), archive(True), deb()):
            with self.subTest(package=path), tempfile.TemporaryDirectory() as folder:
                if path.endswith(".deb"):
                    run("dpkg-deb", "--extract", path, folder)
                    prefix = f"{folder}/usr"
                else:
                    run("tar", "-xzf", path, "-C", folder)
                    prefix = f"{folder}/{os.path.basename(path).removesuffix('.tar.gz')}"
                recording = f"{folder}/rec.hrec"
                run(*under, f"{homes[-1]}/bin/java", f"-agentpath:{prefix}/lib/heaprec/libheaprec.so=file={recording}", "-cp", options.jar,
                    "e2e.Churn", "20", "5376000")
                check_recording(self, json.loads(run(*under, f"{prefix}/bin/heaprec", "summary", "--json", recording)))


def check_recording(test, summary):
    test.assertTrue(summary["trustworthy"], summary["reasons"])
    test.assertEqual(summary["recording"]["source"], "hooks", summary["recording"])
    test.assertGreater(summary["allocated_bytes"], 2 * 20 * 5376000)


class Installed(unittest.TestCase):
    def setUp(self):
        # In /tmp, which is the same folder within a tree.
        self.folder = tempfile.mkdtemp(prefix="heaprec-dist.", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder)
        for path in (archive(), archive(True), deb(), options.jar, f"{HERE}/install.sh"):
            shutil.copy(path, self.folder)
        self.jar = f"{self.folder}/{os.path.basename(options.jar)}"

    def install(self, under, prefix, source):
        run(*under, "/bin/sh", f"{self.folder}/install.sh", "--prefix", prefix, f"{self.folder}/{os.path.basename(source)}")

    def records(self, under, prefix, java):
        recording = f"{self.folder}/rec.hrec"
        heaprec = f"{prefix}/bin/heaprec"
        run(*under, heaprec, "record", "-q", "-o", recording, "--", f"{java}/bin/java", "-cp", self.jar, "e2e.Churn", "20", "5376000")
        check_recording(self, json.loads(run(*under, heaprec, "summary", "--json", recording)))
        os.unlink(recording)

    def check_all(self, under, java):
        for number, source in enumerate((archive(), archive(True))):
            prefix = f"{self.folder}/prefix{number}"
            self.install(under, prefix, source)
            self.install(under, prefix, source)  # over itself
            self.records(under, prefix, java)
            run(*under, "/bin/sh", f"{self.folder}/install.sh", "--remove", "--prefix", prefix)
            left = [os.path.join(base, file) for base, _, files in os.walk(prefix) for file in files]
            self.assertEqual(left, [])
        root = f"{self.folder}/root"
        run(*under, "dpkg-deb", "--extract", f"{self.folder}/{os.path.basename(deb())}", root)
        self.records(under, f"{root}/usr", java)

    def test_here(self):
        self.check_all([], os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"))

    def test_in_trees(self):
        for release, under, java in trees():
            with self.subTest(release=release, java=java):
                self.check_all(under, java)
                shutil.rmtree(f"{self.folder}/root")

    def test_static_command_needs_no_libc(self):
        """As on Alpine: in a tree that has nothing else."""
        run("tar", "-xzf", archive(True), "-C", self.folder)
        bare = f"{self.folder}/bare"
        for name in ("proc", "dev", "tmp"):
            os.makedirs(f"{bare}/{name}")
        shutil.copy(f"{self.folder}/{os.path.basename(archive(True)).removesuffix('.tar.gz')}/bin/heaprec", bare)
        entered = subprocess.run([options.in_tree, bare, "/heaprec", "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 universal_newlines=True)
        if entered.returncode == 1 and "unshare" in entered.stderr:
            skipped.append(f"an empty tree cannot be entered: {entered.stderr.strip()}")
            return
        self.assertEqual((entered.returncode, entered.stderr), (0, ""))
        self.assertIn(options.version, entered.stdout)

    def test_refusals_leave_nothing(self):
        other = f"{self.folder}/heaprec-{options.version}-linux-riscv64.tar.gz"
        broken = f"{self.folder}/heaprec-0-linux-{os.uname().machine}.tar.gz"
        shutil.copy(archive(), other)
        pathlib.Path(broken).write_bytes(pathlib.Path(archive()).read_bytes()[:100000])
        for path, reason in ((other, "is not for this machine"), (broken, "cannot be unpacked"), ("/nowhere-linux.tar.gz", "does not exist")):
            prefix = f"{self.folder}/prefix"
            done = subprocess.run(["/bin/sh", f"{HERE}/install.sh", "--prefix", prefix, path], stderr=subprocess.PIPE,
                                  stdout=subprocess.PIPE, universal_newlines=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)
            self.assertEqual(os.listdir(prefix) if os.path.isdir(prefix) else [], [])


def main(argv):
    parser = argparse.ArgumentParser()
    for name in ("archive", "in-tree", "jar", "third-party", "version"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--machine", default=os.uname().machine, choices=contents.MACHINES)
    parser.add_argument("sources", nargs="+")
    parser.parse_args(argv, namespace=options)
    options.sources = dict(pair.split("=", 1) for pair in options.sources)
    for name in ("archive", "in_tree", "jar", "third_party"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    installed = "Installed" if options.machine == os.uname().machine else "Emulated"
    result = unittest.main(argv=[sys.argv[0]], defaultTest=["Contents", installed], exit=False, verbosity=2).result
    print(f"skipped {len(skipped)}: {'; '.join(skipped)}" if skipped else "skipped 0")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
