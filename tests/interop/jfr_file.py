"""Reads JFR files by their own metadata: chunks, types, constant pools and events, each value as it is stored.

Strict: raises Malformed where a size, a reference or a string does not fit, so that a test can rely on what it returns.
The format as the JDK writes it (version 2.x); compressed integers only.
"""
import dataclasses
import struct

MAGIC = b"FLR\0"
HEADER_BYTES = 68
METADATA, CONSTANT_POOLS = 0, 1
INTEGERS = {"short", "char", "int", "long"}


class Malformed(Exception):
    pass


@dataclasses.dataclass
class Text:
    """A string with the encoding that the file chose: 0 null, 1 empty, 2 constant, 3 UTF-8, 4 chars, 5 Latin-1."""

    encoding: int
    value: object  # str; None of encoding 0; the key of encoding 2


@dataclasses.dataclass
class Key:
    """Stands for a constant of `type_name`; 0: none."""

    type_name: str
    value: int


@dataclasses.dataclass
class Field:
    name: str
    type_id: int
    pooled: bool
    array: bool
    annotations: dict


@dataclasses.dataclass
class Type:
    id: int
    name: str
    super_name: str
    simple: bool
    fields: list
    annotations: dict


@dataclasses.dataclass
class Event:
    type: Type
    offset: int
    size: int
    values: dict


@dataclasses.dataclass
class Element:
    name: str
    attributes: dict
    children: list


class Cursor:
    def __init__(self, bytes_, at, end):
        self.bytes, self.at, self.end = bytes_, at, end

    def take(self, count):
        if count < 0 or self.at + count > self.end:
            raise Malformed(f"offset {self.at}: {count} bytes wanted, {self.end - self.at} left")
        self.at += count
        return self.bytes[self.at - count : self.at]

    def byte(self):
        return self.take(1)[0]

    def long(self):
        value = 0
        for shift in range(0, 56, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        return value | self.byte() << 56

    def text(self):
        encoding = self.byte()
        if encoding in (0, 1):
            return Text(encoding, None if encoding == 0 else "")
        if encoding == 2:
            return Text(encoding, self.long())
        if encoding == 3:
            return Text(encoding, self.take(self.long()).decode("utf-8"))
        if encoding == 4:
            return Text(encoding, "".join(chr(self.long()) for _ in range(self.long())))
        if encoding == 5:
            return Text(encoding, self.take(self.long()).decode("latin-1"))
        raise Malformed(f"offset {self.at - 1}: string encoding {encoding}")


class Chunk:
    """One chunk; `events`: in the file's order. Constants by type name and key: {field: value}."""

    def __init__(self, bytes_, offset):
        header = bytes_[offset : offset + HEADER_BYTES]
        if len(header) < HEADER_BYTES or header[:4] != MAGIC:
            raise Malformed(f"offset {offset}: no chunk header")
        (self.major, self.minor, self.size, self.pools_at, self.metadata_at, self.start_ns, self.duration_ns,
         self.start_ticks, self.ticks_per_second, self.flags) = struct.unpack(">HHqqqqqqqI", header[4:])
        if self.size < HEADER_BYTES or offset + self.size > len(bytes_):
            raise Malformed(f"offset {offset}: a chunk of {self.size} bytes, {len(bytes_) - offset} are left")
        self.bytes, self.offset, self.end = bytes_, offset, offset + self.size
        self.metadata_bytes = b""
        self.types, self.constants, self.pools, self.events = {}, {}, [], []
        self._read_metadata()
        self.by_name = {one.name: one for one in self.types.values()}
        self._read_pools()
        self._read_events()

    def _event(self, at):
        cursor = Cursor(self.bytes, at, self.end)
        size = cursor.long()
        if size <= 0 or at + size > self.end:
            raise Malformed(f"offset {at}: an event of {size} bytes, {self.end - at} are left in the chunk")
        return size, Cursor(self.bytes, cursor.at, at + size)

    def _read_metadata(self):
        size, cursor = self._event(self.offset + self.metadata_at)
        self.metadata_bytes = self.bytes[cursor.end - size : cursor.end]
        if cursor.long() != METADATA:
            raise Malformed("the header's metadata offset names another event")
        self.metadata_start, self.metadata_duration, self.metadata_id = cursor.long(), cursor.long(), cursor.long()
        texts = [cursor.text() for _ in range(cursor.long())]
        root = self._element(cursor, [text.value for text in texts])
        if cursor.at != cursor.end:
            raise Malformed(f"metadata: {cursor.end - cursor.at} bytes behind the tree")
        metadata = next(child for child in root.children if child.name == "metadata")
        elements = {int(child.attributes["id"]): child for child in metadata.children}
        if len(elements) != len(metadata.children):
            raise Malformed("metadata: two types of one id")
        names = {id_: element.attributes["name"] for id_, element in elements.items()}
        self.root = root
        for id_, element in elements.items():
            fields = [
                Field(child.attributes["name"], int(child.attributes["class"]),
                      child.attributes.get("constantPool") == "true", child.attributes.get("dimension", "0") != "0",
                      self._annotations(child, names))
                for child in element.children if child.name == "field"]
            self.types[id_] = Type(id_, names[id_], element.attributes.get("superType", ""),
                                   element.attributes.get("simpleType") == "true", fields,
                                   self._annotations(element, names))
        for one in self.types.values():
            for field in one.fields:
                if field.type_id not in self.types:
                    raise Malformed(f"metadata: {one.name}.{field.name} is of type {field.type_id}, which is nowhere")

    def _element(self, cursor, texts):
        name = texts[cursor.long()]
        attributes = {texts[cursor.long()]: texts[cursor.long()] for _ in range(cursor.long())}
        return Element(name, attributes, [self._element(cursor, texts) for _ in range(cursor.long())])

    @staticmethod
    def _annotations(element, names):
        return {names[int(child.attributes["class"])]:
                {key: value for key, value in child.attributes.items() if key != "class"}
                for child in element.children if child.name == "annotation"}

    def _value(self, cursor, field, as_element=False):
        if field.array and not as_element:
            return [self._value(cursor, field, True) for _ in range(cursor.long())]
        type_ = self.types[field.type_id]
        if field.pooled:
            return Key(type_.name, cursor.long())
        if type_.name in INTEGERS:
            return cursor.long()
        if type_.name == "byte":
            return cursor.byte()
        if type_.name == "boolean":
            value = cursor.byte()
            if value > 1:
                raise Malformed(f"offset {cursor.at - 1}: a boolean of {value}")
            return value == 1
        if type_.name == "float":
            return struct.unpack(">f", cursor.take(4))[0]
        if type_.name == "double":
            return struct.unpack(">d", cursor.take(8))[0]
        if type_.name == "java.lang.String":
            return cursor.text()
        return self._fields(cursor, type_)

    def _fields(self, cursor, type_):
        return {field.name: self._value(cursor, field) for field in type_.fields}

    def _read_pools(self):
        at = self.offset + self.pools_at
        while True:
            size, cursor = self._event(at)
            if cursor.long() != CONSTANT_POOLS:
                raise Malformed(f"offset {at}: not an event of constant pools")
            cursor.long(), cursor.long()  # time, duration
            delta = cursor.long()
            delta -= 1 << 64 if delta >= 1 << 63 else 0
            mask, count = cursor.byte(), cursor.long()
            pools = [self._pool(cursor) for _ in range(count)]
            if cursor.at != cursor.end:
                raise Malformed(f"offset {at}: {cursor.end - cursor.at} bytes behind the constants")
            self.pools.append((mask, pools))
            if delta == 0:
                return
            at += delta

    def _pool(self, cursor):
        type_id, count = cursor.long(), cursor.long()
        if type_id not in self.types:
            raise Malformed(f"offset {cursor.at}: constants of type {type_id}, which is nowhere")
        type_ = self.types[type_id]
        pool = self.constants.setdefault(type_.name, {})
        for _ in range(count):
            key = cursor.long()
            if type_.name == "java.lang.String" or not type_.fields:
                pool[key] = self._value(cursor, Field("", type_id, False, False, {}))
            else:
                pool[key] = self._fields(cursor, type_)
        return type_.name, count

    def _read_events(self):
        at = self.offset + HEADER_BYTES
        while at < self.end:
            size, cursor = self._event(at)
            type_id = cursor.long()
            if type_id > CONSTANT_POOLS:
                if type_id not in self.types:
                    raise Malformed(f"offset {at}: an event of type {type_id}, which is nowhere")
                type_ = self.types[type_id]
                values = self._fields(cursor, type_)
                if cursor.at != cursor.end:
                    raise Malformed(f"offset {at}: {type_.name} has {cursor.end - cursor.at} bytes behind its fields")
                self.events.append(Event(type_, at, size, values))
            at += size

    def constant(self, key):
        """The constant that a Key stands for; None: none. A dangling one is an error."""
        if key.value == 0 and 0 not in self.constants.get(key.type_name, {}):
            return None
        try:
            return self.constants[key.type_name][key.value]
        except KeyError:
            raise Malformed(f"{key.type_name} {key.value} is in no constant pool of its chunk") from None


def chunks(bytes_):
    at = 0
    while at < len(bytes_):
        chunk = Chunk(bytes_, at)
        yield chunk
        at += chunk.size
