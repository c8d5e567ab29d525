#!/usr/bin/env python3
"""Makes heaprec.jar, and the files of it that a Maven repository holds. The same bytes each time.

jar.py classes --java-home H --junit PATH:... --out JAR FOLDER
    Compiles FOLDER (java/): classes for Java 8, module-info for later ones. JMH is not needed: FOLDER/stubs declares
    what heaprec.jmh uses of it.
jar.py release --version V --java-home H --junit PATH:... --classes JAR --license FILE --out PREFIX FOLDER PLATFORM/NAME=FILE...
    Writes PREFIX.jar (the classes and native files, with their SHA-256), PREFIX-sources.jar, PREFIX-javadoc.jar and
    PREFIX.pom. PLATFORM is linux-x86_64 or linux-aarch64, NAME libheaprec.so or heaprec.

Times in the archives are those of $SOURCE_DATE_EPOCH, or 2000-01-01.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "946684800"))
MANIFEST = """\
Manifest-Version: 1.0
Multi-Release: true
Main-Class: heaprec.Main
Premain-Class: heaprec.Agent
Agent-Class: heaprec.Agent
"""
VERSION = "Implementation-Title: heaprec\nImplementation-Version: {}\n"
NATIVE = "heaprec/native"
STUB_MODULES = "org.junit.jupiter.api", "org.junit.platform.commons"  # Debian's jars name no modules


def tool(options, name, *arguments):
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("JAVA_TOOL_OPTIONS", None)
    once = "-J-XX:TieredStopAtLevel=1"  # half the time of a tool that runs for a second
    subprocess.run([f"{options.java_home}/bin/{name}", once, *map(str, arguments)], check=True, env=environment, timeout=300)


def sources(folder):
    return sorted(pathlib.Path(folder).rglob("*.java"))


def tree(folder):
    """{path below the folder: bytes}"""
    files = (path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write_jar(path, entries):
    """Sorted, the manifest first."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as jar:
        for name in sorted(entries, key=lambda name: (name != "META-INF/MANIFEST.MF", name)):
            info = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            jar.writestr(info, entries[name], compresslevel=9)


def make_classes(options):
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)
        own = sources(f"{options.folder}/heaprec")
        tool(options, "javac", "--release", 8, "-Xlint:all,-options,-path,-processing", "-Werror", "-encoding", "UTF-8", "-g",
             "-proc:none", "-implicit:none", "-sourcepath", f"{options.folder}/stubs", "-cp", options.junit, "-d", out / "classes", *own)
        modules = {module: f"module {module} {{}}\n" for module in STUB_MODULES}
        modules["heaprec"] = pathlib.Path(options.folder, "module/module-info.java").read_text()
        for module, text in modules.items():
            (out / "src" / module).mkdir(parents=True)
            (out / "src" / module / "module-info.java").write_text(text)
        tool(options, "javac", "--release", 9, "-Xlint:-options", "-d", out / "modules", "--module-source-path", out / "src",
             "--patch-module", f"heaprec={out}/classes", *sources(out / "src"))
        entries = tree(out / "classes")
        entries["META-INF/versions/9/module-info.class"] = (out / "modules/heaprec/module-info.class").read_bytes()
    entries["META-INF/MANIFEST.MF"] = MANIFEST.encode()
    entries["META-INF/services/org.openjdk.jmh.profile.Profiler"] = b"heaprec.jmh.HeaprecProfiler\n"
    write_jar(options.out, entries)


def stripped(path):
    """Without symbols for debuggers."""
    with tempfile.TemporaryDirectory() as name:
        with open(path, "rb") as file:
            machine = int.from_bytes(file.read(20)[18:20], "little")
        strip = {62: "x86_64-linux-gnu-strip", 183: "aarch64-linux-gnu-strip"}[machine]
        subprocess.run([strip, "-o", f"{name}/out", path], check=True, timeout=60)
        return pathlib.Path(name, "out").read_bytes()


def make_release(options):
    version = VERSION.format(options.version)
    manifest = {"META-INF/MANIFEST.MF": f"Manifest-Version: 1.0\n{version}".encode()}
    license_text = {"META-INF/LICENSE": pathlib.Path(options.license).read_bytes()}
    with zipfile.ZipFile(options.classes) as jar:
        entries = {name: jar.read(name) for name in jar.namelist()}
    sums = {}
    for given in options.native:
        name, path = given.split("=", 1)
        entries[f"{NATIVE}/{name}"] = stripped(path)
        platform, file = name.split("/")
        data = entries[f"{NATIVE}/{name}"]
        sums.setdefault(platform, []).append((file, hashlib.sha256(data).hexdigest(), zlib.crc32(data)))
    for platform, files in sums.items():
        text = "".join(f"{digest} {crc:08x} {file}\n" for file, digest, crc in sorted(files))
        entries[f"{NATIVE}/{platform}/FILES"] = text.encode()
    entries["META-INF/MANIFEST.MF"] += version.encode()
    write_jar(options.out + ".jar", {**entries, **license_text})

    own = sources(f"{options.folder}/heaprec") + [pathlib.Path(options.folder, "module/module-info.java")]
    texts = {path.relative_to(options.folder).as_posix().removeprefix("module/"): path.read_bytes() for path in own}
    write_jar(options.out + "-sources.jar", {**texts, **license_text, **manifest})

    with tempfile.TemporaryDirectory() as name:
        tool(options, "javadoc", "-quiet", "-notimestamp", "-Xdoclint:all,-missing", "-encoding", "UTF-8", "--release", 8,
             "-d", f"{name}/pages", "-cp", options.junit, "-sourcepath", f"{options.folder}/stubs",
             "-windowtitle", f"heaprec {options.version}", *sources(f"{options.folder}/heaprec"))
        write_jar(options.out + "-javadoc.jar", {**tree(f"{name}/pages"), **license_text, **manifest})

    pom = pathlib.Path(options.folder, "pom.xml").read_text()
    pathlib.Path(options.out + ".pom").write_text(pom.replace("@VERSION@", options.version))


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("classes", "release"))
    for option in ("java-home", "junit", "out"):
        parser.add_argument("--" + option, required=True)
    for option in ("version", "classes", "license"):
        parser.add_argument("--" + option)
    parser.add_argument("folder")
    parser.add_argument("native", nargs="*", metavar="PLATFORM/NAME=FILE")
    options = parser.parse_args(argv)
    make_classes(options) if options.what == "classes" else make_release(options)


if __name__ == "__main__":
    main(sys.argv[1:])
