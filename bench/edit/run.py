#!/usr/bin/env python3
"""How long a developer waits: changes one source in a copy of the tree, builds and runs its test, and prints the seconds.

Usage: bench/edit/run.py [--copy FOLDER] [--rounds N] [--record]

FOLDER keeps the copy for the next time; without it the whole of what the tests need is built first, which takes half an
hour. Nothing else should run meanwhile. The slowest source counts. --record keeps the figures in bench/results.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402

GOALS = {"tools": 20, "throttle": 10}
CHANGES = [
    ("throttle/controller.cc", "//tests/throttle:controller_test"),
    ("throttle/varopt.cc", "//tests/throttle:sampler_test"),
    ("tools/commands/top.cc", "//tests/tools/commands:command_test"),
    ("tools/query/filter/name_pattern.cc", "//tests/tools/query:query_test"),
    ("tools/render/text_layout.cc", "//tests/tools/report:report_test"),
]


def bazel(copy, *words):
    subprocess.run(["bazel", *words, "--noshow_progress", "--ui_event_filters=-info"], cwd=copy, check=True,
                   stdout=subprocess.DEVNULL)


def update(copy):
    if not (copy / ".git").exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, copy], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "fetch", "--quiet", ROOT, head], cwd=copy, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", head], cwd=copy, check=True)


def seconds(copy, source, test, rounds):
    """How long each of `rounds` took. Not a comment: the same object would be built, and neither linked nor tested."""
    path = copy / source
    original = path.read_text()
    taken = []
    for number in range(rounds):
        path.write_text(f'{original}\nextern const char kEdit[];\nconst char kEdit[] = "{number} {time.time_ns()}";\n')
        start = time.monotonic()
        bazel(copy, "test", test)
        taken.append(time.monotonic() - start)
    path.write_text(original)
    bazel(copy, "test", test)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copy", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heaprec-edit-") as folder:
        copy = (options.copy or pathlib.Path(folder) / "copy").resolve()
        update(copy)
        absent = [source for source, _ in CHANGES if not (copy / source).exists()]
        if absent:
            sys.exit(f"run.py: CHANGES names {', '.join(absent)}, which the tree does not have: follow the move here")
        try:
            bazel(copy, "test", *[test for _, test in CHANGES])
            medians = {}
            for source, test in CHANGES:
                taken = seconds(copy, source, test, options.rounds)
                medians[source] = statistics.median(taken)
                print(f"{medians[source]:6.1f} s  {source}  ({min(taken):.1f} to {max(taken):.1f})", flush=True)
        finally:
            subprocess.run(["bazel", *(["shutdown"] if options.copy else ["clean", "--expunge"])], cwd=copy, check=True)
    for area, goal in GOALS.items():
        slowest, source = max((took, source) for source, took in medians.items() if source.startswith(area + "/"))
        print(f"{area}/: {slowest:.1f} s (goal < {goal} s)")
        if options.record:
            record("build", f"build.edit.{area}", area="Build", figure=f"One source of {area}/ changed, its test run",
                   goal=f"< {goal} s", value=round(slowest, 1), unit="s", reached=slowest < goal, source=source,
                   rounds=options.rounds, command="bench/edit/run.py --record")


if __name__ == "__main__":
    main()
