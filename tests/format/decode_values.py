"""Numbers, texts and columns of docs/format.md, for decode.py."""
import struct

M64 = (1 << 64) - 1


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
