#!/usr/bin/env python3
"""Checks the files of a release against what Maven Central demands, and the jar: classes for Java 8, native files, size.

check_release.py PREFIX [--signed]     PREFIX.jar, PREFIX.pom, PREFIX-sources.jar, PREFIX-javadoc.jar

--signed: also their signatures (.asc) and checksums (.md5, .sha1). Exit code 1 and one line for each thing that is wrong.
"""

import argparse
import hashlib
import io
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib

MAX_BYTES = 15 << 20
JAVA_8, JAVA_9 = 52, 53  # versions of class files
POM = "{http://maven.apache.org/POM/4.0.0}"
DEMANDED = ("groupId", "artifactId", "version", "name", "description", "url", "licenses/license/name",
            "licenses/license/url", "developers/developer/name", "scm/connection", "scm/developerConnection", "scm/url")
ELF = {"linux-x86_64": 62, "linux-aarch64": 183}
NATIVE = re.compile(r"heaprec/native/([\w-]+)/([\w.]+)$")
ENDS = (".jar", ".pom", "-sources.jar", "-javadoc.jar")


def pom_errors(path):
    root = ElementTree.parse(path).getroot()
    for name in DEMANDED:
        element = root.find("/".join(POM + part for part in name.split("/")))
        if element is None or not (element.text or "").strip():
            yield f"has no {name}"
    if root.find(POM + "dependencies") is not None:
        yield "has dependencies"
    artifact, version = (root.findtext(POM + name) for name in ("artifactId", "version"))
    if path.name != f"{artifact}-{version}.pom":
        yield f"is of {artifact} {version}"
    if version.endswith("SNAPSHOT"):
        yield "is a snapshot"


def archive_errors(jar):
    names = jar.namelist()
    if names[0] != "META-INF/MANIFEST.MF" or names[1:] != sorted(names[1:]):
        yield "its entries are not sorted"
    if len({entry.date_time for entry in jar.infolist()}) != 1:
        yield "its entries have different times"
    if "META-INF/LICENSE" not in names:
        yield "has no META-INF/LICENSE"


def class_errors(jar):
    for name in jar.namelist():
        if not name.endswith(".class"):
            continue
        version = int.from_bytes(jar.read(name)[6:8], "big")
        is_module = name == "META-INF/versions/9/module-info.class"
        if version != (JAVA_9 if is_module else JAVA_8):
            yield f"{name} is for Java {version - 44}"
        if not is_module and not name.startswith("heaprec/"):
            yield f"{name} is not heaprec's"
    if "META-INF/versions/9/module-info.class" not in jar.namelist():
        yield "has no module-info"


def native_errors(jar):
    platforms = {}
    for name in jar.namelist():
        match = NATIVE.match(name)
        if match:
            platforms.setdefault(match[1], {})[match[2]] = jar.read(name)
    if not platforms:
        yield "has no native files"
    for platform, files in platforms.items():
        lines = [line.split() for line in files.pop("FILES", b"").decode().splitlines()]
        sums = {name: (digest, int(crc, 16)) for digest, crc, name in lines}
        if set(sums) != set(files) or set(files) != {"heaprec", "libheaprec.so"}:
            yield f"{platform} has {sorted(files)} and sums of {sorted(sums)}"
        for name, data in files.items():
            if (hashlib.sha256(data).hexdigest(), zlib.crc32(data)) != sums.get(name):
                yield f"{platform}/{name}: its sums are not those in FILES"
            if data[:4] != b"\x7fELF" or int.from_bytes(data[18:20], "little") != ELF.get(platform):
                yield f"{platform}/{name} is for another machine"
        if "heaprec" in files and b"/ld-linux" in files["heaprec"][:4096]:
            yield f"{platform}/heaprec is not static"


def companion_errors(prefix, jar):
    classes = {name.split("$")[0].removesuffix(".class") for name in jar.namelist() if re.match(r"heaprec/.*\.class$", name)}
    with zipfile.ZipFile(prefix + "-sources.jar") as sources:
        missing = classes - {name.removesuffix(".java") for name in sources.namelist()}
        yield from (f"-sources.jar has no {name}.java" for name in sorted(missing))
        yield from (f"-sources.jar: {error}" for error in archive_errors(sources))
    with zipfile.ZipFile(prefix + "-javadoc.jar") as pages:
        if "index.html" not in pages.namelist():
            yield "-javadoc.jar has no index.html"
        yield from (f"-javadoc.jar: {error}" for error in archive_errors(pages))


def checksum_errors(path):
    if not pathlib.Path(f"{path}.asc").is_file():
        yield "is not signed (.asc)"
    for kind in ("md5", "sha1"):
        beside = pathlib.Path(f"{path}.{kind}")
        if not beside.is_file() or beside.read_text().split()[:1] != [hashlib.new(kind, path.read_bytes()).hexdigest()]:
            yield f"has no .{kind}, or another file's"


def errors(prefix, signed):
    paths = [pathlib.Path(prefix + end) for end in ENDS]
    missing = [path for path in paths if not path.is_file()]
    if missing:
        yield from (f"{path}: is missing" for path in missing)
        return
    yield from (f"{paths[1]}: {error}" for error in pom_errors(paths[1]))
    data = paths[0].read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as jar:
        for check in (archive_errors, class_errors, native_errors):
            yield from (f"{paths[0]}: {error}" for error in check(jar))
        if b"Multi-Release: true" not in jar.read("META-INF/MANIFEST.MF"):
            yield f"{paths[0]}: is not multi-release"
        yield from (f"{prefix}{error}" for error in companion_errors(prefix, jar))
    if len(data) > MAX_BYTES:
        yield f"{paths[0]}: {len(data) / (1 << 20):.1f} MiB, more than {MAX_BYTES >> 20}"
    if signed:
        yield from (f"{path}: {error}" for path in paths for error in checksum_errors(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--signed", action="store_true")
    options = parser.parse_args()
    found = list(errors(options.prefix, options.signed))
    for error in found:
        print(error, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
