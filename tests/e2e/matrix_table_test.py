#!/usr/bin/env python3
"""A row of the matrix has a few words for a verdict. What failed, of any length and form, is listed below the table."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from matrix import Cell, table  # noqa: E402
from verdict import FAILED, Result  # noqa: E402

CELL = Cell(17, "", "G1", "no TLABs")
OK = Result(CELL, "hooks", 1, "1 of 1", "1", "1", "-", "ok")
failed = Result(CELL, "?", 0, "-", "-", "-", "-", FAILED, "did not end: a | b\n  " + 50 * "main ")
lines = table([OK, failed]).splitlines()
assert lines[2].endswith("| ok |"), lines[2]
assert lines[3] == "| 17 | G1 no TLABs | ? | 0 | - | - | - | - | failed |", lines[3]
assert lines[4] == "" and lines[5].startswith("- 17 G1 no TLABs: failed: did not end: a | b main main "), lines[4:]
assert len(lines) > 6 and all(len(line) <= 118 for line in lines), lines
assert table([OK]).splitlines() == lines[:3]
