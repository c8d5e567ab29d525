"""Numbers, texts, columns and streams of docs/format/recording.md, for decode.py."""
import struct

M64 = (1 << 64) - 1
COUNTERS = 11  # the last is shown where it says something
LOSSES = 9  # the last two likewise


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        if n > self.left():
            raise ValueError("short")
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        z = self.varint()
        return (z >> 1) ^ -(z & 1)

    def delta(self, base):
        return (base + self.signed()) & M64

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def string(self):
        return self.take(self.varint())


class Zeros:
    """A column that is absent."""

    def varint(self):
        return 0

    signed = varint

    def delta(self, base):
        return base

    def f64(self):
        return 0.0

    def take(self, n):
        if n:
            raise ValueError("short")
        return b""


def columns(body, count):
    cursor = Bytes(body)
    rows = cursor.varint()
    found = [Zeros() for _ in range(count)]
    refused = False
    while cursor.left():
        head = cursor.varint()
        content = cursor.string()
        if head >> 1 < count:
            found[head >> 1] = Bytes(content)
        elif head & 1:
            refused = True
    return rows, found, refused


def rotate_left(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & M64


def text(raw):
    return raw.decode("latin-1")


class Stream:
    """What a chunk knows of the rows of one stream."""

    def __init__(self, kinds):
        self.kinds = kinds
        self.forget()
        self.counters, self.lost, self.lost_bytes = [0] * COUNTERS, [0] * LOSSES, [0.0] * LOSSES

    def forget(self):
        """What deltas are taken against in a block."""
        self.window_id = self.window_start = self.interval = 0
        self.lambdas = {}
        self.id = self.leaf = self.window = 0
        self.stacks = [[None, None, 0]]  # leaf, class, rotated size
        self.tlabs = {}

    def end_block(self, rows):
        del rows["taus"]
        losses = max([7] + [i + 1 for i in range(LOSSES) if self.lost[i] or self.lost_bytes[i]])
        rows["counters"], rows["lost"] = self.counters[:10 + bool(self.counters[10])], self.lost[:losses]
        rows["lost_bytes"] = [repr(weight) for weight in self.lost_bytes[:losses]]

    def says_something(self, rows):
        return bool(rows["windows"] or rows["intervals"] or rows["samples"] or any(self.counters + self.lost)
                    or any(self.lost_bytes))
