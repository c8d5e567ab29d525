#!/usr/bin/env python3
"""Makes the release files: archives of heaprec for Linux on one machine, and a Debian package. The same bytes each time.

package.py --version V --machine x86_64|aarch64 --tar OUT --static-tar OUT --deb OUT NAME=FILE...

NAME=FILE: the sources that contents.py names, and `heaprec-static`, the command that the static archive has in place of
`heaprec`. Man pages and completions are the command's own (for another machine qemu-user runs it); what is in the bill
of materials is asked of dpkg, and of `arm64-packages`, the list that tests/e2e/fetch_trees.sh makes.
Times in the archives are those of $SOURCE_DATE_EPOCH, or 2000-01-01: the bytes depend on the sources alone.
"""

import argparse
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
import time

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

import contents  # noqa: E402

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "946684800"))
COMMAND = re.compile(r"(?<![-\w])([a-z]+) {2,}[A-Z]")  # in `heaprec --help`: a name, then what the command does
CONTROL = """\
Package: heaprec
Version: {version}
Architecture: {architecture}
Maintainer: The heaprec authors <heaprec@localhost>
Installed-Size: {kilobytes}
Depends: libc6 (>= 2.17)
Section: devel
Priority: optional
Description: allocation flight recorder for HotSpot JVMs
 heaprec samples the allocations of a running JVM, of Java objects and of
 native memory, and shows what allocates, with 95 % intervals.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: heaprec

Files: *
Copyright: The heaprec authors
License: Apache-2.0
 The full text is in /usr/share/common-licenses/Apache-2.0. heaprec.spdx.json beside
 this file lists the libraries of which the programs contain code.
"""


def output_of(*command):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=60).stdout


def compressed(data):
    return gzip.compress(data, 9, mtime=0)


def command_of(named, machine):
    """How the command is run here. The static one needs no other machine's libraries."""
    if machine == os.uname().machine:
        return [os.path.abspath(named["heaprec"])]
    return [f"qemu-{machine}", os.path.abspath(named["heaprec-static"])]


def check_machine(named, machine):
    for name, path in named.items():
        with open(path, "rb") as file:
            header = file.read(20)
        if header[:4] == b"\x7fELF" and int.from_bytes(header[18:20], "little") != contents.MACHINES[machine].elf:
            sys.exit(f"package.py: {name} is not for {machine}; build with --config={machine}")


def sources_of(named, version, machine):
    """({name of a source: bytes}, names of the commands)."""
    check_machine(named, machine)
    heaprec = command_of(named, machine)
    found = output_of(*heaprec, "--version").decode().split()
    if version not in found:
        sys.exit(f"package.py: {heaprec[-1]} is version {' '.join(found)}, dist/BUILD says {version}")
    commands = COMMAND.findall(output_of(*heaprec, "--help").decode())
    sources = {}
    for name, path in named.items():
        with open(path, "rb") as file:
            sources[name] = file.read()
    for shell in ("bash", "zsh", "fish"):
        sources[shell] = output_of(*heaprec, "completion", shell)
    sources["man:heaprec"] = compressed(output_of(*heaprec, "man"))
    for command in commands:
        sources[f"man:heaprec-{command}"] = compressed(output_of(*heaprec, "man", command))
    sources["copyright"] = COPYRIGHT.encode()
    sources["sbom"] = bill_of_materials(version, sources, machine)
    return sources, commands


def installed(package):
    text = output_of("dpkg-query", "-W", "-f=${Version}\t${source:Package}\t${source:Version}", package).decode()
    return text.split("\t")


def materials(sources, machine):
    """(name, version, source package, its version, Debian's architecture) of each package of which there is code inside."""
    unpacked = {line.split("\t")[0]: line.split("\t")[1:] for line in sources.get("arm64-packages", b"").decode().splitlines()}
    libraries = sorted(contents.libraries(machine)) + [name + contents.MACHINES[machine].compiler_suffix for name in contents.COMPILERS]
    for name in libraries:
        of_machine = name in unpacked and name not in contents.INDEPENDENT
        architecture = contents.MACHINES[machine].debian if of_machine else contents.MACHINES[os.uname().machine].debian
        yield (name, *(unpacked[name] if of_machine else installed(name)), architecture)


def spdx_package(name, version, source, url):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "sourceInfo": source,
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": url,
        }],
    }


def bill_of_materials(version, sources, machine):
    """SPDX 2.3: heaprec, and each Debian package of which its programs contain code."""
    packages = []
    for name, binary, source, source_version, architecture in materials(sources, machine):
        url = f"pkg:deb/debian/{name}@{binary.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"
        packages.append(spdx_package(name, binary, f"built from Debian's source package {source} {source_version}", url))
    products = hashlib.sha256(b"".join(sources[name] for name in ("heaprec", "libheaprec.so", "libheaprec-native.so")))
    own = {
        "SPDXID": "SPDXRef-heaprec",
        "name": "heaprec",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"heaprec-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/heaprec-{version}-{products.hexdigest()}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH)),
            "creators": [f"Tool: heaprec-package-{version}"],
        },
        "packages": [own] + packages,
        "relationships": [{
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-heaprec",
        }] + [{
            "spdxElementId": "SPDXRef-heaprec",
            "relationshipType": "STATIC_LINK",
            "relatedSpdxElement": package["SPDXID"],
        } for package in packages],
    }
    return (json.dumps(document, indent=2) + "\n").encode()


def tar_of(entries, top):
    """A tar file of (path, mode, bytes), with the folders they lie in."""
    out = io.BytesIO()
    folders = set()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:

        def add(name, mode, data):
            info = tarfile.TarInfo(name)
            info.mode, info.mtime, info.uname, info.gname = mode, EPOCH, "root", "root"
            if data is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))

        if top == ".":
            add("./", 0o755, None)
        for path, mode, data in sorted(entries):
            parts = f"{top}/{path}".split("/")
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                if folder not in folders and folder != ".":
                    folders.add(folder)
                    add(folder + "/", 0o755, None)
            add("/".join(parts), mode, data)
    return out.getvalue()


def ar_of(members):
    """An archive as ar makes it, which is what a Debian package is."""
    out = [b"!<arch>\n"]
    for name, data in members:
        out.append(f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
        out.append(data + b"\n" * (len(data) % 2))
    return b"".join(out)


def deb_of(entries, version, machine):
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  usr/{path}\n" for path, _, data in sorted(entries))
    kilobytes = sum((len(data) + 1023) // 1024 for _, _, data in entries)
    control = CONTROL.format(version=version, architecture=contents.MACHINES[machine].debian, kilobytes=kilobytes)
    members = [("control", 0o644, control.encode()), ("md5sums", 0o644, sums.encode())]
    return ar_of([
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", lzma.compress(tar_of(members, "."), preset=6)),
        ("data.tar.xz", lzma.compress(tar_of([(f"usr/{path}", mode, data) for path, mode, data in entries], "."), preset=6)),
    ])


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", required=True, choices=contents.MACHINES)
    for option in ("version", "tar", "static-tar", "deb"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("sources", nargs="+", metavar="NAME=FILE")
    options = parser.parse_args(argv)
    sources, commands = sources_of(dict(pair.split("=", 1) for pair in options.sources), options.version, options.machine)

    def entries(files):
        return [(file.path, file.mode, sources[file.source]) for file in files]

    top = f"heaprec-{options.version}-linux-{options.machine}"
    write(options.tar, compressed(tar_of(entries(contents.files(commands)), top)))
    write(options.deb, deb_of(entries(contents.files(commands) + contents.DEB_FILES), options.version, options.machine))
    sources["heaprec"] = sources["heaprec-static"]
    write(options.static_tar, compressed(tar_of(entries(contents.files(commands)), top + "-static")))


if __name__ == "__main__":
    main(sys.argv[1:])
