#!/usr/bin/env python3
"""Runs the examples in README.md and docs/ and writes their output below them: no output there is typed by hand.

    docs/examples.py HEAPREC            updates the pages
    docs/examples.py HEAPREC --check    prints what differs, and exits with 1

An example is a line `$ heaprec ...` in a block fenced as console; the lines up to the next such line, or the end of the
block, are its output. Examples run in a folder with javac.hrec, leak.hrec and paths.hrec of tests/golden, 120 columns
wide, in UTC.
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
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RECORDINGS = [ROOT / "tests/golden" / name for name in ("javac.hrec", "leak.hrec", "paths.hrec")]
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


def differences(pages, folder):
    """Pages whose examples print something else now: path, text before, text after."""
    for page in pages:
        before = page.read_text()
        after = BLOCK.sub(lambda match: match[1] + renewed(match[2], folder) + match[3], before)
        if after != before:
            yield page, before, after


def report(page, before, after):
    name = str(page.relative_to(ROOT))
    print("\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), name, "what the command prints",
                                         lineterm="")))


def main():
    heaprec = pathlib.Path(sys.argv[1]).resolve()
    assert sum(len(BLOCK.findall(page.read_text())) for page in PAGES) >= 10, "no examples found: wrong folder?"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/heaprec").symlink_to(heaprec)
        for recording in RECORDINGS:
            shutil.copy(recording, folder)
        found = list(differences(PAGES, folder))
    if "--check" not in sys.argv[2:]:
        for page, _, after in found:
            page.write_text(after)
        return 0
    for difference in found:
        report(*difference)
    if found:
        print("If the new output is right: docs/examples.py HEAPREC")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
