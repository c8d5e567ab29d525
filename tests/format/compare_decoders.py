#!/usr/bin/env python3
"""The reader and decode.py agree: compare_decoders.py RECORDING_TOOL DECODE_PY GOLDEN GOLDEN_JSON...

On the golden files, on what they are known to say ("-": nobody wrote that down), on freshly written recordings, and on truncated
and repaired ones.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

CHUNK, PARITY_TAIL = b"\x89HRCHNK\n", b"\x89HRPEND\n"
# Four random recordings together have all of these; one alone may lack some.
ROWS = ("states", "fates", "survivors", "census", "census_totals", "census_counters", "census_page", "rows", "row_interval")
TOLERANCE = 1e-9  # of weights and sums of rows; everything else is equal


def same(left, right, path=""):
    """Fails with the path of the first difference."""
    if isinstance(left, dict) and isinstance(right, dict):
        assert left.keys() == right.keys(), (path, left.keys() ^ right.keys())
        for key in left:
            same(left[key], right[key], path + "/" + str(key))
    elif isinstance(left, list) and isinstance(right, list):
        assert len(left) == len(right), (path, len(left), len(right))
        for i, (one, other) in enumerate(zip(left, right)):
            same(one, other, path + "/" + str(i))
    elif left != right:
        one, other = float(left), float(right)
        near = math.isclose(one, other, rel_tol=TOLERANCE if path.endswith("weight") or "/sums/" in path else 0)
        assert near or (math.isnan(one) and math.isnan(other)), (path, left, right)


def main(tool, decoder, *golden_files):
    def read(path):
        return json.loads(subprocess.run([tool, "dump", path], stdout=subprocess.PIPE, check=True).stdout)

    def decode(path):
        return json.loads(subprocess.run([sys.executable, decoder, path], stdout=subprocess.PIPE, check=True).stdout)

    def complete(document, known):
        """Missing fields of the header are zero or empty, unknown ones are not looked at."""
        for key, value in known["header"].items():
            document["header"].setdefault(key, "0" if key in ("6", "22") else 0 if isinstance(value, int) else "")
        document["header"] = {key: document["header"][key] for key in known["header"]}
        return document

    for golden, golden_json in zip(golden_files[::2], golden_files[1::2]):
        known = read(golden) if golden_json == "-" else json.load(open(golden_json))
        assert len(known["blocks"]) > 3 and known["whole"]
        same(read(golden), known)
        same(complete(decode(golden), known), known)
        rows_of = {rows: sum(len(block.get(rows, ())) for block in known["blocks"]) for rows in ROWS[:-3]}
        if "leak" in golden:
            assert rows_of["fates"] > 1000, rows_of
        if "random" in golden:
            assert all(rows_of.values()), rows_of
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fresh.hrec")
        seen = set()
        for seed in range(100, 104):
            subprocess.run([tool, "write", str(seed), path], check=True)
            fresh = read(path)
            assert sum(len(block["samples"]) for block in fresh["blocks"]) == 120
            assert any(block.get("exceptions", {}).get("samples") for block in fresh["blocks"])
            seen.update(rows for block in fresh["blocks"] for rows in ROWS if block.get(rows))
            same(fresh, complete(decode(path), fresh))
            whole = open(path, "rb").read()
            for size in range(1200, len(whole), len(whole) // 5):
                with open(path, "wb") as file:
                    file.write(whole[:size])
                same(read(path), complete(decode(path), fresh))
            # The first chunk is large enough for parity: what it covers, and itself.
            chunk = whole.index(CHUNK)
            end = whole.index(PARITY_TAIL, chunk)
            assert end < whole.index(CHUNK, chunk + 1)
            places = random.Random(seed)
            for run in (1, 1, 5, 20):
                at = places.randrange(chunk, end)
                damaged = bytearray(whole)
                damaged[at:at + run] = bytes(byte ^ 0x5a for byte in whole[at:min(at + run, end)])
                with open(path, "wb") as file:
                    file.write(damaged)
                repaired = read(path)
                assert not repaired["whole"], at
                same(repaired["blocks"], fresh["blocks"])
                same(repaired, complete(decode(path), fresh))
        assert seen == set(ROWS), set(ROWS) - seen
    print("the decoders agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
