"""What the commands print of real recordings, word for word: two seconds of javac (tests/golden/javac.hrec), and a
process that was killed (tests/golden/killed.hrec), and what holds its objects (tests/golden/paths.hrec).

outputs.py HEAPREC GOLDEN            compares with GOLDEN/outputs
outputs.py HEAPREC GOLDEN --update   writes them anew; look at the difference before it is committed:
    python3 tests/golden/outputs.py bazel-bin/tools/heaprec tests/golden --update
"""
import difflib
import os
import pathlib
import subprocess
import sys

CASES = {
    "top.txt": "top",
    "top_narrow.txt": "top --limit 4 --width-of 80",
    "top_method.txt": "top --by method --sort cumulative --limit 12",
    "top_stack.txt": "top --by stack --limit 3 --lines",
    "top_package.txt": "top --by package --hide ^java\\.",
    "top_size.txt": "top --by size --sort name",
    "top_thread.txt": "top --by thread --focus Attr --ignore Lower",
    "top_filter.txt": "top --class byte[] --to 6s --limit 3",
    "top.json": "top --by class --limit 2 --json",
    "tree.txt": "tree --min-share 5% --depth 30",
    "tree_ascii.txt": "tree --min-share 10% --depth 12 --ascii",
    "tree_narrow.txt": "tree --min-share 20% --depth 8 --width-of 80",
    "tree_callers.txt": "tree --callers --class char[] --depth 5 --min-share 1%",
    "histogram.txt": "histogram",
    "histogram.json": "histogram --class char[] --json",
    "timeline.txt": "timeline --by class",
    "timeline_ascii.txt": "timeline --by site --limit 3 --ascii --width-of 90",
    "timeline.json": "timeline --by class --limit 1 --json",
    "summary.txt": "summary",
    "print.txt": "print --limit 2 --stack-depth 6",
    "verify.txt": "verify",
    "diff.txt": "diff --window 0s..1s 1s..2s --by site --limit 8",
    "diff.json": "diff --window 0s..1s 1s..2s --by class --limit 2 --json",
    "check.txt": "check --budget total<200MB --budget class:char[]<20%",
    "check.md": "check --format markdown --budget total<200MB --budget class:char[]<20%",
    "sql.txt": "sql",
    "collapsed.txt": "export --format collapsed --class char[] -o -",
    "export.csv": "export --format csv --class char[] -o -",
    "tree.json": "tree --min-share 20% --depth 3 --json",
}
OF_KILLED = {
    "why.txt": "why --width-of 80",
    "why.md": "why --format markdown",
    "why.json": "why --json",
}
OF_PATHS = {
    "paths.txt": "paths --min-share 8%",
    "paths.json": "paths --min-share 11% --json",
    "print_path.txt": "print --kind path,event --limit 3",
}


def run(heaprec, recording, line):
    words = line.split()
    environment = {"PATH": os.environ["PATH"], "TZ": "UTC", "COLUMNS": "120", "LC_ALL": "C.UTF-8"}
    if "--width-of" in words:
        at = words.index("--width-of")
        environment["COLUMNS"] = words[at + 1]
        del words[at : at + 2]
    if "--ascii" in words:
        words.remove("--ascii")
        environment["LC_ALL"] = "C"
    return subprocess.run([heaprec, *words, recording], env=environment, check=True, timeout=60, capture_output=True,
                          text=True).stdout


def main():
    heaprec, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    heaprec = str(pathlib.Path(heaprec).resolve())
    failed = 0
    cases = [(recording, *case)
             for recording, of in (("javac.hrec", CASES), ("killed.hrec", OF_KILLED), ("paths.hrec", OF_PATHS)) for case in of.items()]
    for recording, name, line in cases:
        said, expected = run(heaprec, str(golden / recording), line), golden / "outputs" / name
        said = said.replace(str(golden / recording), recording)
        if sys.argv[3:] == ["--update"]:
            expected.parent.mkdir(exist_ok=True)
            expected.write_text(said)
            continue
        before = expected.read_text() if expected.exists() else ""
        if said != before:
            failed += 1
            print(f"heaprec {line}")
            print("".join(difflib.unified_diff(before.splitlines(True), said.splitlines(True), str(expected), "now")))
    if failed:
        sys.exit(f"{failed} of {len(cases)} outputs differ")


main()
