"""Writes the source of a shared library that has the names of one of glibc's, each at its greatest version that is not
above a given one, and nothing in it. A product that is linked with it asks for no later glibc.

stub.py LIBRARY GREATEST OUT   (LIBRARY: /lib/x86_64-linux-gnu/libc.so.6, GREATEST: 2.17; writes OUT.S and OUT.lds)
"""

import re
import subprocess
import sys

# They are in libc_nonshared.a, which passes on the library that asks.
NOT_SHARED = {"atexit", "at_quick_exit", "pthread_atfork"}
SYMBOL = re.compile(r"(?P<name>[^@]+)@+(?P<version>GLIBC_[0-9.]+)$")


def number(version):
    return tuple(int(part) for part in version.removeprefix("GLIBC_").split("."))


def symbols(library, greatest):
    """(version, kind, size) by name."""
    listing = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    best = {}
    for line in listing.splitlines():
        fields = line.split()
        match = SYMBOL.match(fields[7]) if len(fields) >= 8 and fields[6] != "UND" else None
        if not match or match["name"] in NOT_SHARED or number(match["version"]) > number(greatest):
            continue
        known = best.get(match["name"])
        if known is None or number(match["version"]) > number(known[0]):
            best[match["name"]] = (match["version"], fields[3], int(fields[2], 0))
    return best


def write_source(best, path):
    with open(path, "w", encoding="ascii") as source:
        for position, (name, (version, kind, size)) in enumerate(sorted(best.items())):
            section, type_, bytes_ = {
                "OBJECT": (".data", "object", max(size, 1)),
                "TLS": ('.tbss,"awT",%nobits', "tls_object", max(size, 1)),
            }.get(kind, (".text", "function", 1))
            source.write(f".section {section}\n.globl stub_{position}\n.type stub_{position},%{type_}\n"
                         f".size stub_{position},{bytes_}\nstub_{position}: .zero {bytes_}\n"
                         f".symver stub_{position},{name}@@@{version}\n")
        source.write('.section .note.GNU-stack,"",%progbits\n')


def write_versions(best, path):
    """Without "local: *", which would hide the names."""
    with open(path, "w", encoding="ascii") as script:
        below = ""
        for version in sorted({entry[0] for entry in best.values()}, key=number):
            script.write(f"{version} {{ }}{below};\n")
            below = " " + version


def main(library, greatest, out):
    best = symbols(library, greatest)
    assert best, f"{library}: no symbol of glibc {greatest} or earlier"
    write_source(best, out + ".S")
    write_versions(best, out + ".lds")


main(*sys.argv[1:])
