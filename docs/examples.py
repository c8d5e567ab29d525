#!/usr/bin/env python3
"""Runs the examples of docs/cli.md and writes what they print below them: nothing there is typed by hand.

    docs/examples.py HEAPREC            brings docs/cli.md up to date
    docs/examples.py HEAPREC --check    says what differs, and exits with 1

An example is a line `$ heaprec ...` in a block fenced as console; what follows up to the next such line, or the end of
the block, is its output. They run in a folder with javac.hrec and leak.hrec of tests/golden, 120 columns wide, in UTC.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/cli.md"
RECORDINGS = [ROOT / "tests/golden" / name for name in ("javac.hrec", "leak.hrec")]
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
PROMPT = "$ "


def output_of(line, folder):
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "TZ": "UTC", "COLUMNS": "120", "LC_ALL": "C.UTF-8",
                   "HOME": str(folder)}
    run = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    text = run.stdout.rstrip("\n")
    return (text + "\n" if text else "") + (f"[exit code {run.returncode}]\n" if run.returncode else "")


def renewed(block, folder):
    lines = [line for line in block.splitlines() if line.startswith(PROMPT)]
    return "".join(f"{line}\n{output_of(line[len(PROMPT):], folder)}" for line in lines)


def main():
    heaprec = pathlib.Path(sys.argv[1]).resolve()
    before = PAGE.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/heaprec").symlink_to(heaprec)
        for recording in RECORDINGS:
            shutil.copy(recording, folder)
        after = BLOCK.sub(lambda match: match[1] + renewed(match[2], folder) + match[3], before)
    if "--check" not in sys.argv[2:]:
        PAGE.write_text(after)
        return 0
    difference = difflib.unified_diff(before.splitlines(), after.splitlines(), "docs/cli.md", "what the command prints",
                                      lineterm="")
    text = "\n".join(difference)
    if text:
        print(text + "\nIf that is as it should be: docs/examples.py HEAPREC")
    return 1 if text else 0


if __name__ == "__main__":
    sys.exit(main())
