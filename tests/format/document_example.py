#!/usr/bin/env python3
"""The example of docs/format/example.hex is a recording, and says what its notes say: document_example.py HEX TOOL DECODER."""
import json
import subprocess
import sys
import tempfile

SAMPLE = {"id": 1, "time": 64000, "kind": 0, "size": 16, "tlab": 65536, "window": 1, "thread": [1, 77, 0, "main"],
          "class": "p/A", "stack": [["p/A.run.()V", 5, 42]], "cut": 0}
BYTES_OF_HEX = 48  # what stands behind is a note


def main(document, tool, decoder):
    with open(document) as lines:
        data = b"".join(bytes.fromhex(line[:BYTES_OF_HEX]) for line in lines if not line.startswith("#"))
    with tempfile.NamedTemporaryFile(suffix=".hrec") as file:
        file.write(data)
        file.flush()
        for command in ([tool, "dump", file.name], [sys.executable, decoder, file.name]):
            decoded = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            assert decoded["whole"], command
            (only,) = decoded["blocks"]
            (sample,) = only["samples"]
            assert abs(float(sample.pop("weight")) - 1032.0208332485629) < 1e-9, command
            assert sample == SAMPLE, sample
            assert only["ending"] == [500000000, "stop"], only["ending"]
            assert only["counters"][:7] == [3, 2048, 1, 0, 1, 1, 0], only["counters"]
            assert only["intervals"][0][:5] == [0, 3, 2048, 1, 1], only["intervals"]
            assert decoded["header"]["1"] == "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", decoded["header"]
    print("the example of the document is a recording")


if __name__ == "__main__":
    main(*sys.argv[1:])
