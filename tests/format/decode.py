#!/usr/bin/env python3
"""A second decoder of recordings, written from docs/format/recording.md alone.

Prints one JSON document: the file header, the blocks with their names resolved, and what could not be read. Needs the
`zstd` command. Hashes are not looked at (Python has no XXH3), so it reads whole and truncated files, and of damaged ones those
that parity records repair.
"""
import json
import math
import struct
import subprocess
import sys
import zlib

from decode_values import COUNTERS, LOSSES, M64, Bytes, Stream, columns, rotate_left, text

FILE, CHUNK, BLOCK = b"\x89HRFILE\n", b"\x89HRCHNK\n", b"\x89HRBLCK\n"
PARITY, PARITY_TAIL = b"\x89HRPRTY\n", b"\x89HRPEND\n"
PARITY_HEAD, PIECE = 20, 512
ROLL_UP = 16  # a flag of a block


class Chunk:
    def __init__(self):
        self.streams = [Stream((0, 1)), Stream((2,)), Stream((3,)), Stream((4,))]
        self.strings, self.classes, self.methods = [], [], []
        self.frames, self.nodes, self.threads = [], [], []
        self.next_string = self.next_frame = 0
        self.next_method, self.follower = 0, {}
        self.java_tid = self.os_tid = 0
        self.lanes = []
        self.census_counters = []

    def string_of(self, code):
        if code == 0:
            self.next_string += 1
            return self.strings[self.next_string - 1]
        return self.strings[code - 1]

    def section_1(self, body, block):
        rows, (length, content), refused = columns(body, 2)
        self.strings += [text(content.take(length.varint())) for _ in range(rows)]
        return refused

    def section_2(self, body, block):
        rows, (name,), refused = columns(body, 1)
        self.classes += [self.string_of(name.varint()) for _ in range(rows)]
        return refused

    def section_3(self, body, block):
        rows, found, refused = columns(body, 3)
        self.next_method = len(self.methods)
        fields = [[self.string_of(column.varint()) for _ in range(rows)] for column in found]
        self.methods += zip(*fields)
        return refused

    def section_4(self, body, block):
        rows, (method, bci, line, kind_of), refused = columns(body, 4)
        class_of, of_method, of_class = {}, {}, {}  # the latest lines
        for _ in range(rows):
            of = method.varint() - 2
            if of == -1:
                of = self.next_method
                self.next_method += 1
                class_of[of] = self.methods[of][0]
                of_method.setdefault(of, of_class.get(class_of[of], 0))
            number = of_method[of] = of_method.get(of, 0) + line.signed()
            if of in class_of:
                of_class[class_of[of]] = number
            # How its code ran, where that was recorded.
            self.frames.append((max(of, -1), [bci.varint() - 1, number] + [kind for kind in [kind_of.varint()] if kind]))
        return refused

    def section_5(self, body, block):
        rows, (distance, frame, cut), refused = columns(body, 3)
        for _ in range(rows):
            back = distance.varint()
            parent = len(self.nodes) - back if back else -1
            caller = self.nodes[parent][1] if parent >= 0 else -1
            code = frame.varint()
            if code == 0:
                which = self.next_frame
                self.next_frame += 1
            else:
                which = self.follower[caller] if code == 1 else code - 2
            self.follower[caller] = which
            self.nodes.append((parent, which, cut.varint()))
        return refused

    def section_6(self, body, block):
        rows, (java, system, virtual, name), refused = columns(body, 4)
        for _ in range(rows):
            self.java_tid = java.delta(self.java_tid)
            self.os_tid = system.delta(self.os_tid)
            self.threads.append([self.java_tid, self.os_tid, virtual.varint(), self.string_of(name.varint())])
        return refused

    def section_7(self, body, rows_of, stream):
        rows, (number, start, lam, of_all), refused = columns(body, 4)
        for _ in range(rows):
            stream.window_id = number.delta(stream.window_id)
            stream.window_start = start.delta(stream.window_start)
            stream.lambdas[stream.window_id] = lam.f64()
            row = [stream.window_id, stream.window_start, repr(stream.lambdas[stream.window_id])]
            point_lambda = of_all.f64()
            rows_of["windows"].append(row + [repr(point_lambda)] if point_lambda else row)
        return refused

    def section_8(self, body, rows_of, stream):
        rows, found, refused = columns(body, 6)
        for _ in range(rows):
            stream.interval = found[0].delta(stream.interval)
            tau = found[5].f64()
            rows_of["taus"].append(tau)
            rows_of["intervals"].append([stream.interval] + [column.varint() for column in found[1:5]] + [repr(tau)])
        return refused

    def section_9(self, body, rows_of, stream):
        rows, c, refused = columns(body, 13)
        tick = raised_by = 0
        for _ in range(rows):
            tick += c[0].varint()
            stream.id = c[1].delta(stream.id)
            code = c[2].varint()
            if code == 1:
                stream.leaf = c[3].delta(stream.leaf)
                stream.stacks.append([stream.leaf, None, 0])
                stack = stream.stacks[-1]
            else:
                stack = stream.stacks[max(code - 1, 0)]
            thread = c[4].varint()
            code = c[5].varint()
            if code > 0:
                stack[1] = code - 2 if code > 1 else None
            stack[2] = c[6].delta(stack[2])
            size = rotate_left(stack[2], 3)
            kind = c[8].varint()
            tlab = stream.tlabs[thread, kind] = c[7].delta(stream.tlabs.get((thread, kind), 0))
            tlab = rotate_left(tlab, 3)
            stream.window = c[9].delta(stream.window)
            rule = c[10].varint()
            raised_by = c[11].delta(raised_by)
            if rule == 2:
                weight = c[12].f64()
            else:
                lam = stream.lambdas[stream.window]
                weight = size / -math.expm1(-lam * size) if rule == 0 else 1 / lam
                if raised_by:
                    weight = max(weight, rows_of["taus"][raised_by - 1])
            if kind not in stream.kinds:
                continue
            frames, cut = self.frames_of(stack[0])
            rows_of["samples"].append({
                "id": stream.id, "time": tick * 64, "kind": kind, "size": size, "tlab": tlab, "window": stream.window,
                "weight": repr(weight), "thread": self.threads[thread - 1] if thread else None,
                "class": self.classes[stack[1]] if stack[1] is not None else None, "stack": frames, "cut": cut})
        return refused

    def frames_of(self, node):
        frames, cut = [], 0
        while node is not None and node >= 0:
            parent, frame, cut = self.nodes[node]
            method, place = self.frames[frame]
            frames.append([".".join(self.methods[method]) if method >= 0 else "?", *place])
            node = parent
        return frames, cut

    def section_10(self, body, rows_of, stream):
        cursor = Bytes(body)
        stream.counters, stream.lost = [0] * COUNTERS, [0] * LOSSES
        for i in range(cursor.varint()):
            value = cursor.signed()
            if i < COUNTERS:
                stream.counters[i] = value & M64
        losses = cursor.varint()
        for i in range(losses):
            value = cursor.signed()
            if i < LOSSES:
                stream.lost[i] = value & M64
        for i in range(losses):
            weight = cursor.f64()
            if i < LOSSES:
                stream.lost_bytes[i] = weight

    def section_11(self, body, block):
        cursor = Bytes(body)
        self.lanes = [cursor.signed() & M64 for _ in range(cursor.varint())]

    def section_12(self, body, block):
        cursor = Bytes(body)
        block["ending"] = [cursor.varint(), text(cursor.string())]

    def section_17(self, body, block):
        cursor = Bytes(body)
        known = (self.strings, self.classes, self.methods, self.frames, self.nodes, self.threads)
        if [cursor.varint() for _ in known] != [len(entries) for entries in known]:
            raise ValueError("builds on blocks that are not there")

    def section_18(self, body, block):
        """A copy of the file's header."""

    def section_13(self, body, block):
        rows, c, refused = columns(body, 18)
        number = time = collections = old = 0
        of_kind, causes, amounts = {}, [], {}  # last values by kind; all that are not known count as one
        for _ in range(rows):
            number, time, kind = c[0].delta(number), c[1].delta(time), c[2].varint()
            last = of_kind.setdefault(min(kind, 15), [0, 0, 0, 0])
            last[0] = c[3].delta(last[0])
            last[1] = c[4].delta(last[1])
            pauses, paused = c[5].varint(), c[6].varint()
            last[2] = c[7].delta(last[2])
            last[3] = c[8].delta(last[3])
            code = c[9].varint()
            if code == 1:
                causes.append(text(c[11].take(c[10].varint())))
            cause = "" if code == 0 else causes[-1] if code == 1 else causes[code - 2]
            collections, old = c[12].delta(collections), c[13].delta(old)
            thread, node, klass = c[14].varint(), c[15].varint(), c[16].varint()
            account, item = [], 0
            for _ in range(c[17].varint() if kind == 0 else 0):
                item += c[17].varint()
                amounts[item] = c[17].delta(amounts.get(item, 0))
                if amounts[item] and item < 65:
                    account.append([item, amounts[item]])
                item += 1
            if kind < 15:
                frames, cut = self.frames_of(node - 1 if node else None)
                names = {"thread": self.threads[thread - 1] if thread else None,
                         "class": self.classes[klass - 1] if klass else None, "stack": frames, "cut": cut}
                block.setdefault("states", []).append(
                    [number, time, kind, last[0], last[1], pauses, paused, last[2], last[3], cause]
                    + [collections] * bool(collections or old) + [old - 1] * bool(old)
                    + [account] * bool(account) + [names] * (kind >= 6))
        return refused

    def section_14(self, body, block, stream):
        rows, c, refused = columns(body, 6)
        sample = time = collections = 0
        for _ in range(rows):
            sample, time, kind, collections = c[0].delta(sample), c[1].delta(time), c[2].varint(), c[3].delta(collections)
            threshold = repr(c[4].f64()) if kind == 1 else "0.0"
            left = [c[5].varint()] if kind == 3 else []
            if kind < 4:
                block.setdefault("fates", []).append([sample, time, kind, collections, threshold] + left)
        return refused

    def section_15(self, body, block, stream):
        rows, c, refused = columns(body, 12)
        number = tick = collections = 0
        for _ in range(rows):
            number, tick = c[0].delta(number), c[1].delta(tick)
            stack, thread, klass = c[2].varint(), c[3].varint(), c[4].varint()
            size, tlab, kind, weight, threshold = c[5].varint(), c[6].varint(), c[7].varint(), c[8].f64(), c[9].f64()
            collections, gone = c[10].delta(collections), c[11].varint()
            if kind not in stream.kinds:
                continue
            frames, cut = self.frames_of(stack - 1 if stack else None)
            block.setdefault("survivors", []).append({
                "id": number, "time": tick * 64, "kind": kind, "size": size, "tlab": tlab, "window": 0,
                "weight": repr(weight), "thread": self.threads[thread - 1] if thread else None,
                "class": self.classes[klass - 1] if klass else None, "stack": frames, "cut": cut,
                "threshold": repr(threshold), "collections": collections, **({"gone": gone} if gone else {})})
        return refused

    def census(self, body, block, name):
        rows, c, refused = columns(body, 12)
        slot = 0
        for _ in range(rows):
            slot = c[0].delta(slot)
            thread, klass = c[1].varint(), c[2].varint()
            block.setdefault(name, []).append(
                [slot * 10**9, self.threads[thread - 1] if thread else None, self.classes[klass - 1] if klass else None]
                + [c[i].varint() for i in (3, 4, 5)] + [repr(c[i].f64()) for i in range(6, 12)])
        return refused

    def section_19(self, body, block):
        return self.census(body, block, "census")

    def section_20(self, body, block):
        return self.census(body, block, "census_totals")

    def section_21(self, body, block):
        cursor = Bytes(body)
        self.census_counters = [cursor.varint() for _ in range(cursor.varint())]

    def section_22(self, body, block):
        block["census_page"] = Bytes(body).varint()

    def section_27(self, body, block, name="rows"):
        rows, c, refused = columns(body, 11)
        stack = code = 0
        means = {}
        for _ in range(rows):
            head = c[0].varint()
            stack += head >> 2
            klass = c[1].varint()
            points = c[2].varint() + 2 if head & 1 else 1
            expected = points * means.get(klass, 0)
            seen = rotate_left(c[3].delta(expected) if head & 2 else expected, 3)
            means[klass] = seen // points // 8
            sums = [float(seen), float(points), 0.0, 0.0, 0.0, 0.0, 0.0]
            beyond = c[4].varint()
            if beyond:
                code += (beyond - 1 >> 1) ^ -(beyond - 1 & 1)
                sums[0] += points * 2 ** (code / 512)
                excess = sums[0] - seen
                ratios = [2 ** (c[i].signed() / (512 if i == 5 else 16)) if head & 1 else 1 for i in range(5, 11)]
                sums[1] += ratios[0] * excess * points / seen
                sums[2] = ratios[1] * sums[0] * excess / points
                sums[3] = ratios[2] * sums[1] * (sums[1] - points) / points
                sums[4] = ratios[3] * sums[1] * excess / points
                sums[5] = ratios[4] * sums[2] ** 2 / points
                sums[6] = ratios[5] * sums[3] ** 2 / points
            frames, cut = self.frames_of(stack - 1 if stack else None)
            block.setdefault(name, []).append({
                "class": self.classes[klass - 1] if klass else None, "points": points, "seen": seen, "path": frames,
                "cut": cut, "sums": [repr(one) for one in sums]})
        return refused

    def section_28(self, body, block):
        return self.section_27(body, block, "outside")

    def section_29(self, body, block):
        code = Bytes(body).varint()
        block["row_interval"] = [code >> 1, code & 1]

    def apply(self, raw, block):
        """Returns whether the block must be refused."""
        cursor, refused = Bytes(raw), False
        self.java_tid, self.os_tid = 0, 0
        for stream in self.streams:
            stream.forget()
        rows = [block, {}, {}, {}]
        for one in rows:
            one.update(windows=[], intervals=[], taus=[], samples=[])
        while cursor.left():
            head = cursor.varint()
            body = cursor.string()
            which, stream = head >> 1, 0
            if 23 <= which <= 26:
                which, stream = which - 16, 1
            elif 39 <= which <= 42 or which in (46, 47):
                which, stream = which - 32, 2
            elif 55 <= which <= 58 or which in (62, 63):
                which, stream = which - 48, 3
            section = getattr(self, "section_%d" % which, None)
            if section and 7 <= which <= 10:
                refused = bool(section(body, rows[stream], self.streams[stream])) or refused
            elif section and which in (14, 15):
                refused = bool(section(body, rows[stream], self.streams[stream])) or refused
            elif section:
                refused = bool(section(body, block)) or refused
            elif head & 1:
                refused = True
        for stream, one in zip(self.streams, rows):
            stream.end_block(one)
        if self.streams[1].says_something(rows[1]):
            block["exceptions"] = rows[1]
        for stream, name in ((2, "native"), (3, "mapped")):
            if self.streams[stream].says_something(rows[stream]) or "fates" in rows[stream] or "survivors" in rows[stream]:
                block[name] = rows[stream]
        block["lanes"] = list(self.lanes)
        if any(self.census_counters):
            block["census_counters"] = list(self.census_counters)
        return refused


def decompress(payloads, sizes):
    """The raw bytes of each block: `payloads` are a frame each."""
    done = subprocess.run(["zstd", "-dcq"], input=b"".join(payloads), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    raw = Bytes(done.stdout)
    return [raw.take(size) for size in sizes]


def pieces(region, width):
    """Where the pieces of a codeword begin and end: those of the region and the head, then the parity."""
    covered = region + PARITY_HEAD
    borders = [*range(0, covered, PIECE), covered, covered + width]
    return list(zip(borders, borders[1:]))


def repaired_codeword(codeword, width, spans, checksums):
    """With one run of damage put right: nothing if that is not all there is."""
    def bad(word):
        return [span for span, checksum in zip(spans, checksums) if zlib.crc32(word[slice(*span)]) != checksum]

    damaged = bad(codeword)
    if not damaged:
        return None
    columns = [0] * width
    for i, byte in enumerate(codeword):
        columns[i % width] ^= byte
    begin, end = damaged[0][0], damaged[-1][1]
    for start in range(begin, max(begin, end - width) + 1):
        word = bytearray(codeword)
        for i in range(start, min(start + width, end)):
            word[i] ^= columns[i % width]
        if not bad(word):
            return word
    return None


def repaired(data):
    """The bytes as they were written, as far as parity records tell."""
    data, at = bytearray(data), 0
    while (at := data.find(PARITY_TAIL, at)) >= 0:
        region, width = struct.unpack_from("<II", data, at + 8)
        spans = pieces(region, width)
        tail = PARITY_HEAD + 4 * len(spans)
        begin = at - width - PARITY_HEAD - region
        whole = at + tail <= len(data) and struct.unpack_from("<I", data, at + tail - 4)[0] == zlib.crc32(data[at:at + tail - 4])
        if whole and begin >= 0:
            checksums = struct.unpack_from("<%dI" % len(spans), data, at + 16)
            word = repaired_codeword(data[begin:at], width, spans, checksums)
            if word:
                data[begin:at] = word
        at += 1
    return bytes(data)


def file_header(data):
    magic, version, size = data[:8], *struct.unpack_from("<II", data, 8)
    if magic != FILE or version != 1:
        raise ValueError("not a recording of version 1")
    fields, cursor = {}, Bytes(data[24:24 + size])
    while cursor.left():
        tag = cursor.varint()
        body = cursor.string()
        if tag in (2, 3, 4, 5, 7, 18, 19, 20, 21, 25, 26, 29, 30, 33, 34, 35, 37, 40):
            fields[tag] = Bytes(body).varint()
        elif tag in (6, 22, 27, 31, 36):
            fields[tag] = repr(Bytes(body).f64())
        elif tag == 1:
            fields[tag] = body.hex()
        elif tag == 38:
            labels = Bytes(body)
            fields[tag] = [[labels.string().decode(), labels.string().decode()] for _ in range(labels.varint())]
        else:
            fields[tag] = text(body)
    return fields, 24 + size


def chunks(data, at):
    """Yields (sequence, [(offset, flush time, raw size, payload)]) of whole blocks; then the offset of what is left."""
    current = None
    while at < len(data):
        magic = data[at:at + 8]
        if magic == CHUNK and len(data) - at >= 40:
            if current:
                yield current
            current = (struct.unpack_from("<I", data, at + 12)[0], [])
            at += 40
        elif magic == BLOCK and len(data) - at >= 72:
            payload, raw = struct.unpack_from("<II", data, at + 8)
            if at + 72 + payload > len(data):
                break
            flags, flushed = struct.unpack_from("<I", data, at + 16)[0], struct.unpack_from("<Q", data, at + 40)[0]
            if not flags & ROLL_UP:
                current[1].append((at, flushed, raw, data[at + 72:at + 72 + payload]))
            at += 72 + payload
        elif magic == PARITY and len(data) - at >= PARITY_HEAD:
            region, width = struct.unpack_from("<II", data, at + 8)
            end = at + 2 * PARITY_HEAD + width + 4 * len(pieces(region, width))
            if end > len(data):
                break
            at = end
        else:
            break
    if current:
        yield current
    yield at


def main(path):
    with open(path, "rb") as file:
        stored = file.read()
    data = repaired(stored)
    fields, at = file_header(data)
    document = {"header": fields, "blocks": [], "whole": False}
    for part in chunks(data, at):
        if isinstance(part, int):
            document["whole"] = part == len(data) and data == stored
            continue
        sequence, blocks = part
        chunk = Chunk()
        raws = decompress([block[3] for block in blocks], [block[2] for block in blocks])
        for (offset, flushed, _, _), raw in zip(blocks, raws):
            block = {"chunk": sequence, "offset": offset, "end": flushed, "ending": None}
            if not chunk.apply(raw, block):
                document["blocks"].append(block)
    json.dump(document, sys.stdout, indent=None)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
