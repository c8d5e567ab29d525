#!/usr/bin/env python3
"""Counts the product's lines, files and libraries by folder, the lines of the tests, and the words of the documentation.

Usage: bench/size/lines.py [--record]     --record keeps lines and words in bench/results

Lines are those of .cc, .h, .js, .java and BUILD, and for tests .py and .sh, as git has them in this tree; words those of *.md outside of bench/
and tests/, without signs that stand alone, such as the bars of tables.
"""
import collections
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402

LINES_GOAL, TESTS_GOAL, WORDS_GOAL = 87_000, 50_000, 50_000
NOT_PRODUCT = {"bench", "deploy", "dist", "docs", "tests", "third_party"}
SUFFIXES = {".cc", ".h", ".js", ".java"}


def is_counted(path, suffixes=SUFFIXES):
    return path.name == "BUILD" or path.suffix in suffixes


def lines_of(path):
    return len((ROOT / path).read_bytes().splitlines())


def main(arguments):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = [path for path in map(pathlib.Path, listed.splitlines()) if (ROOT / path).is_file()]
    product = [path for path in tracked if len(path.parts) > 1 and path.parts[0] not in NOT_PRODUCT and is_counted(path)]
    counts = collections.Counter()
    for path in product:
        # recorder/agent/options counts for recorder/agent, and that for recorder.
        for folder in {path.parts[0], "/".join(path.parts[:-1][:2])}:
            counts[folder] += lines_of(path)
    lines = sum(lines_of(path) for path in product)
    tests = sum(lines_of(path) for path in tracked if path.parts[0] == "tests" and is_counted(path, SUFFIXES | {".py", ".sh"}))
    pages = [path for path in tracked if path.suffix == ".md" and path.parts[0] not in {"bench", "tests"}]
    words = sum(any(map(str.isalnum, word)) for page in pages for word in (ROOT / page).read_text().split())
    files = sum(path.suffix in {".cc", ".h"} for path in product)
    libraries = sum((ROOT / path).read_text().count("cc_library(") for path in product if path.name == "BUILD")
    for folder in sorted(counts):
        print(f"{counts[folder]:7} {folder}")
    print(f"\n{lines:7} product lines (goal {LINES_GOAL}), {files} files of C++, {libraries} libraries\n"
          f"{tests:7} lines of tests (goal {TESTS_GOAL})\n{words:7} words of documentation (goal {WORDS_GOAL})")
    if "--record" in arguments:
        command = "bench/size/lines.py --record"
        record("build", "build.lines", area="Build", figure="Product lines: .cc, .h, .js, .java, BUILD",
               goal=f"<= {LINES_GOAL}", value=lines, unit="lines", reached=lines <= LINES_GOAL, command=command,
               files=files, libraries=libraries, tests=tests)
        record("build", "build.words", area="Build", figure="Words of documentation",
               goal=f"<= {WORDS_GOAL}", value=words, unit="words", reached=words <= WORDS_GOAL, command=command)


if __name__ == "__main__":
    main(sys.argv[1:])
