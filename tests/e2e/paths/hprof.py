"""Reads a heap dump (hprof 1.0.2), as far as references need it: objects, their classes and references, and roots."""
import struct


class Dump:
    """Objects by id. A reference is (holder's class, field, target); an element of an array has the field "[]"."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.names, self.class_name, self.supers, self.loaders = {}, {}, {}, {}
        self.fields = {}  # by class: [(name, type)], without inherited ones
        self.statics = {}  # by class: [(name, target)]
        self.instances = {}  # id: (class, offset of its values)
        self.arrays = {}  # id: (class, offset, length)
        self.bytes = {}  # length: [id], of byte arrays
        self.roots = {}  # id: kind
        self._read()

    def _read(self):
        data = self.data
        at = data.index(b"\0") + 1
        self.size = struct.unpack_from(">I", data, at)[0]
        assert self.size == 8
        at += 12
        while at < len(data):
            tag, _, length = struct.unpack_from(">BII", data, at)
            at += 9
            if tag == 0x01:
                self.names[self._id(at)] = data[at + 8:at + length].decode("utf-8", "replace")
            elif tag == 0x02:
                self.class_name[self._id(at + 4)] = self._id(at + 16)
            elif tag in (0x0C, 0x1C):
                self._segment(at, at + length)
            at += length
        self.class_name = {of: self.names[name].replace("/", ".") for of, name in self.class_name.items()}

    def _id(self, at):
        return struct.unpack_from(">Q", self.data, at)[0]

    WIDTH = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
    # Tag: what follows the id of a root.
    ROOTS = {0xFF: ("unknown", 0), 0x01: ("jni global", 8), 0x02: ("jni local", 8), 0x03: ("local", 8), 0x04: ("native stack", 4),
             0x05: ("class", 0), 0x06: ("thread block", 4), 0x07: ("monitor", 0), 0x08: ("thread", 8)}

    def _segment(self, at, end):
        data = self.data
        while at < end:
            tag = data[at]
            at += 1
            if tag in self.ROOTS:
                kind, more = self.ROOTS[tag]
                self.roots.setdefault(self._id(at), kind)
                at += 8 + more
            elif tag == 0x20:
                at = self._class(at)
            elif tag == 0x21:
                of, _, klass, length = struct.unpack_from(">QIQI", data, at)
                self.instances[of] = (klass, at + 24)
                at += 24 + length
            elif tag == 0x22:
                of, _, length, klass = struct.unpack_from(">QIIQ", data, at)
                self.arrays[of] = (klass, at + 24, length)
                at += 24 + 8 * length
            elif tag == 0x23:
                of, _, length, kind = struct.unpack_from(">QIIB", data, at)
                if kind == 8:
                    self.bytes.setdefault(length, []).append(of)
                at += 17 + self.WIDTH[kind] * length
            else:
                raise ValueError(f"tag {tag} at {at}")

    def _class(self, at):
        data = self.data
        of, _, parent, loader = struct.unpack_from(">QIQQ", data, at)
        self.supers[of], self.loaders[of] = parent, loader
        at += 8 + 4 + 6 * 8 + 4
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        for _ in range(count):
            at += 3 + self.WIDTH[data[at + 2]]
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        statics = self.statics[of] = []
        for _ in range(count):
            name, kind = struct.unpack_from(">QB", data, at)
            if kind == 2 and self._id(at + 9):
                statics.append((self.names[name], self._id(at + 9)))
            at += 9 + self.WIDTH[kind]
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        fields = self.fields[of] = []
        for _ in range(count):
            name, kind = struct.unpack_from(">QB", data, at)
            fields.append((self.names[name], kind))
            at += 9
        return at

    def references(self, of):
        """Yields (class, field, target) of an object; of a class its static fields and its loader."""
        if of in self.statics:
            name = self.class_name[of]
            for field, target in self.statics[of]:
                yield name, field, target
            if self.loaders[of]:
                yield "java.lang.Class", "classLoader", self.loaders[of]
        elif of in self.arrays:
            klass, at, length = self.arrays[of]
            for target in struct.unpack_from(f">{length}Q", self.data, at):
                if target:
                    yield self.class_name[klass], "[]", target
        elif of in self.instances:
            klass, at = self.instances[of]
            name, where = self.class_name[klass], klass
            while where:
                for field, kind in self.fields[where]:
                    if kind == 2 and self._id(at):
                        yield name, field, self._id(at)
                    at += self.WIDTH[kind]
                where = self.supers[where]
            yield name, "<class>", klass

    def is_a(self, klass, name):
        while klass:
            if self.class_name[klass] == name:
                return True
            klass = self.supers[klass]
        return False
