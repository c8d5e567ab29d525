"""Holds every include to the table of rooms in docs/architecture.md, and the folders of a room to one direction."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
ROW = re.compile(r"^\| (?P<room>[a-z_/]+) \| [^|]* \| (?P<uses>[a-z_/, ]*) ?\|$")
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.M)
JVM_HEADERS = re.compile(r"^\s*#include <(jvmti|jni)\.h>", re.M)
# Tests for the architecture, instructions, registers, and relocations of one machine.
MACHINE = re.compile(
    r"__(x86_64|amd64|i386|aarch64|arm)(__)?\b|\b(__asm__|asm)\b|\bR_(X86_64|AARCH64)_|\bEM_(X86_64|AARCH64)\b"
    r"|\buc_mcontext\b|\b(immintrin|x86intrin|arm_neon)\.h|third_party/aarch64")
MACHINE_ROOM = "recorder/arch"
MACHINE_FREE = ("base", "format", "include", "recorder", "throttle", "tools")
JVM_ROOMS = {"recorder/agent", "recorder/hotspot", "recorder/sources"}
# Their folders use each other: api and streams the agent and it them, the machines' code what they share.
CIRCULAR = {"recorder/agent", "recorder/arch"}


def rooms():
    text = (ROOT / "docs/architecture.md").read_text()
    section = text.split("\n## Rooms\n", 1)[1].split("\n## ", 1)[0]
    rows = (ROW.match(line) for line in section.splitlines())
    table = {m["room"]: {u.strip() for u in m["uses"].split(",") if u.strip()} for m in rows if m and m["room"] != "room"}
    order = list(table)
    for uses in table.values():
        for use in [u for u in uses if u.endswith(" and below")]:  # that row and all behind it
            uses.remove(use)
            uses.update(order[order.index(use.removesuffix(" and below")):])
        for use in [u for u in uses if u not in table]:  # a folder of rooms
            inside = {room for room in order if room.startswith(use + "/")}
            assert inside, f"no room is called {use}"
            uses.remove(use)
            uses.update(inside)
    return table


def room_of(path, table):
    return next((room for room in table if path == room or path.startswith(room + "/")), None)


def violations(table):
    for source in sorted(p for p in ROOT.rglob("*") if p.suffix in (".h", ".cc")):
        name = str(source.relative_to(ROOT))
        room = room_of(name, table)
        if room is None:
            if name.startswith(("base/", "format/", "recorder/", "tools/")):
                yield f"{name}: lies in no room"
            continue
        text = source.read_text()
        for target in INCLUDE.findall(text):
            other = room_of(target, table)
            if other is None or (other != room and other not in table[room]):
                yield f"{name}: includes {target}, which {room} may not use"
        if JVM_HEADERS.search(text) and room not in JVM_ROOMS:
            yield f"{name}: includes a header of the JVM"


def machine_code():
    """The files that depend on the architecture; all of them lie in the one room for that."""
    for folder in MACHINE_FREE:
        for source in sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cc", ".c") or p.name == "BUILD"):
            code = re.sub(r"#.*" if source.name == "BUILD" else r"//.*", "", source.read_text())
            if MACHINE.search(code):
                yield str(source.relative_to(ROOT))


def in_order(uses):
    """Rooms, or folders, so that each uses only those in front of it; fails if two use each other."""
    placed = []
    while len(placed) < len(uses):
        ready = [name for name in uses if name not in placed and uses[name] <= set(placed)]
        assert ready, f"they use each other: {sorted(map(str, set(uses) - set(placed)))}"
        placed += ready
    return placed


def folders(room):
    """Of each folder below a room, the others whose headers it includes."""
    sources = [source for source in (ROOT / room).rglob("*") if source.suffix in (".h", ".cc")]
    uses = {source.parent: set() for source in sources}
    for source in sources:
        uses[source.parent] |= {(ROOT / target).parent for target in INCLUDE.findall(source.read_text())} & set(uses) - {source.parent}
    return uses


def main():
    table = rooms()
    in_order(table)
    for room in set(table) - CIRCULAR:
        in_order(folders(room))
    assert len(table) == 36, f"the table of rooms has {len(table)} rows that can be read"
    found = list(violations(table))
    of_machine = list(machine_code())
    inside = [name for name in of_machine if name.startswith(MACHINE_ROOM + "/")]
    assert len(inside) >= 10, f"only {inside} depend on the architecture: the pattern finds too little"
    found += [f"{name}: depends on the architecture, outside of {MACHINE_ROOM}" for name in of_machine if name not in inside]
    print("\n".join(found) or "every include obeys docs/architecture.md")
    return 1 if found else 0


sys.exit(main())
