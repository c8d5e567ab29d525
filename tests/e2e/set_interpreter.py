#!/usr/bin/env python3
"""Gives an ELF program another dynamic loader: set_interpreter.py PROGRAM LOADER

The name goes to the end of the file, where the kernel finds it by the program header PT_INTERP. A DT_RUNPATH becomes a DT_RPATH:
what the program's libraries need in their turn is then looked for there too.
"""

import struct
import sys

PT_DYNAMIC, PT_INTERP = 2, 3
DT_NULL, DT_RPATH, DT_RUNPATH = 0, 15, 29
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr
SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr
ENTRY = struct.Struct("<qQ")  # Elf64_Dyn


def segments(image):
    """(offset of the program header, its fields)"""
    header = HEADER.unpack_from(image)
    first, size, count = header[5], header[9], header[10]
    for at in range(first, first + size * count, size):
        yield at, list(SEGMENT.unpack_from(image, at))


def set_loader(image, loader):
    """False if the program names none."""
    for at, segment in segments(image):
        if segment[0] == PT_INTERP:
            name = loader.encode() + b"\0"
            segment[2], segment[5] = len(image), len(name)  # p_offset, p_filesz; p_vaddr is the old name, which stays
            image += name
            SEGMENT.pack_into(image, at, *segment)
            return True
    return False


def search_for_libraries_too(image):
    for _, segment in segments(image):
        at = segment[2]
        while segment[0] == PT_DYNAMIC and ENTRY.unpack_from(image, at)[0] != DT_NULL:
            tag, value = ENTRY.unpack_from(image, at)
            if tag == DT_RUNPATH:
                ENTRY.pack_into(image, at, DT_RPATH, value)
            at += ENTRY.size


def main(program, loader):
    with open(program, "r+b") as file:
        image = bytearray(file.read())
        if image[:4] != b"\x7fELF" or not set_loader(image, loader):
            return f"{program}: no ELF program with a loader"
        search_for_libraries_too(image)
        file.seek(0)
        file.write(image)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
