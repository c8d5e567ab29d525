#!/usr/bin/env python3
"""Whether the first line of `heaprec paths`, and the first path of `heaprec leaks`, say what holds the objects of five leaks.

usage: bench/live/cases.py AGENT HEAPREC [--only sessions,cache,...] [--seconds 20] [--jdk HOME] [--record] [--show]

The programs are in Cases.java: sessions of Tomcat that do not end, H2's cache of pages, web applications that a shutdown
hook keeps after they were redeployed, a ThreadLocal in a pool of 100 threads, and listeners that are never removed.
Needs bench/cost/fetch_applications.sh. All words of a case must stand in the line: those are what a person would look for.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

PATIENCE = 120  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/compare")]
import programs  # noqa: E402
from record import record  # noqa: E402

HEAP = ["-Xmx512m", "-Xmn32m"]  # collections are frequent
WORDS = {"sessions": ["StandardManager.sessions", "StandardSession.attributes"],
         "cache": ["MVStore.cache", "CacheLongKeyLIRS"],
         "redeploy": ["ApplicationShutdownHooks.hooks", "WebappClassLoader", "PRICES"],
         "pool": ["pool-1-thread-*", "Thread.threadLocals"],
         "listener": ["Model.SHARED", "Model.changes", "View"]}


def first_lines(options, case):
    """The text of the first row of paths and, of leaks, the first path of the first leak."""
    with tempfile.TemporaryDirectory() as folder:
        path = programs.applications.class_path("h2", "eclipse-jdt-core", *programs.Tomcat.JARS)
        subprocess.run([options.jdk / "bin/javac", "-cp", path, "-d", folder, ROOT / "bench/live/Cases.java"], check=True)
        recording = pathlib.Path(folder, "copy.hrec")
        with open(f"{folder}/err", "w") as err:
            program = subprocess.Popen([options.jdk / "bin/java", *HEAP, f"-agentpath:{options.agent}=file={folder}/case.hrec,rate=1000,paths=on,paths.pause=2s",
                                        "-cp", f"{folder}:{path}", "Cases", case, str(options.seconds), folder],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, universal_newlines=True)
        try:
            for line in program.stdout:
                if line == "ready\n":
                    break
            subprocess.run([options.heaprec, "dump", "--flush", "-q", "-o", recording, str(program.pid)], check=True)
            program.communicate("\n", timeout=PATIENCE)
        finally:
            program.kill()

        def heaprec(*arguments):
            return subprocess.run([options.heaprec, *arguments, recording], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout

        if options.show:
            print(heaprec("paths"), heaprec("leaks"), sep="\n", flush=True)
        rows = json.loads(heaprec("paths", "--json"))["children"]
        leaks = [row for row in json.loads(heaprec("leaks", "--json"))["rows"] if row["leaks"]]
        return rows[0]["name"] if rows else "", leaks[0]["held_by"][0] if leaks and leaks[0]["held_by"] else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("heaprec", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("--only", default=",".join(WORDS))
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jdk", type=pathlib.Path, default=pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64"))
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    parser.add_argument("--show", action="store_true", help="print what paths and leaks say")
    options = parser.parse_args()
    right = {"paths": 0, "leaks": 0}
    cases = options.only.split(",")
    for case in cases:
        for command, line in zip(right, first_lines(options, case)):
            missing = [word for word in WORDS[case] if word not in line]
            right[command] += not missing
            print(f"{case}, {command}: {'right' if not missing else 'without ' + ', '.join(missing)}\n    {line}", flush=True)
    for command, count in right.items():
        print(f"{command}: {count} of {len(cases)} are right")
        if options.record:
            record("measurements", f"paths.cases.{command}", area="Live objects", figure=f"leaks whose holder is the first that {command} names", goal=">= 5",
                   value=count, unit="cases", reached=count >= len(WORDS), command=f"bench/live/cases.py --seconds {options.seconds}",
                   notes="bench/live/README.md")


if __name__ == "__main__":
    main()
