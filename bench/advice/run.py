#!/usr/bin/env python3
"""What the rules of advice find in real programs, and how many of the findings are right.

usage: bench/advice/run.py AGENT HEAPREC [ROUNDS]

Records the programs of bench/compare and bench/cost (bench/cost/fetch_applications.sh), and javadoc and jdeps of the
JDK, ROUNDS times (3) with rate=1000, and prints what `heaprec summary` finds in any round. Each finding has a line in
bench/results/advice.txt, judged by hand: "right", or "wrong" if it is not so or not worth a developer's time. Findings
that were not judged are printed and count as wrong. Writes bench/results/advice.json: the right ones in the five
programs of the goal, and in all.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/compare")]

import programs  # noqa: E402
from record import record  # noqa: E402

JUDGED = ROOT / "bench/results/advice.txt"
JDK = pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64")
GOAL = ("javac", "h2", "tomcat", "clojure", "saxon")


def tool(name, *arguments):
    """A program of the JDK that reads what javac compiles, or the jars of Debian."""
    return programs.applications.Application(
        lambda jdk, folder: programs.applications.prepare_javac(jdk, folder, "jdk.compiler"),
        lambda jdk, options, folder: [jdk / "bin" / name, *(f"-J{one}" for one in options),
                                      *(one.format(folder=folder) for one in arguments)])


def all_programs():
    every = programs.all_of(0)
    found = {name: every[name] for name in ("javac", "h2", "tomcat", "saxon", "fop")}
    found["clojure"] = programs.applications.APPLICATIONS["Clojure"]
    found["javadoc"] = tool("javadoc", "-quiet", "-Xdoclint:none", "-d", "{folder}/doc", "--module-source-path", "{folder}/src",
                            "--module", "jdk.compiler")
    found["jdeps"] = tool("jdeps", "-q", "-v", "--multi-release", "base", *programs.applications.class_path("h2", "Saxon-HE").split(":"))
    return found


def findings(program, agent, heaprec):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program.prepare(JDK, folder)
        recording = folder / "rec.hrec"
        command = [str(word) for word in program.command(JDK, [f"-agentpath:{agent}=rate=1000,file={recording}"], folder)]
        subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out = subprocess.run([heaprec, "summary", "--json", recording], check=True, capture_output=True).stdout
        return {(one["rule"], one["frame"]): one for one in json.loads(out)["advice"]}


def judged():
    """By program, rule and frame: whether it is right."""
    rows = [line.split(None, 4) for line in JUDGED.read_text().splitlines() if line[:1] not in ("", "#")]
    return {(program, rule, frame.rstrip(":")): verdict == "right" for verdict, program, rule, frame, _ in rows}


def main(agent, heaprec, rounds="3"):
    known, found = judged(), {}
    for program, of in all_programs().items():
        for _ in range(int(rounds)):
            for (rule, frame), one in findings(of, pathlib.Path(agent).resolve(), heaprec).items():
                found[program, rule, frame] = one
    for key, one in sorted(found.items()):
        verdict = {True: "right", False: "wrong", None: "not judged"}[known.get(key)]
        print(verdict, *key, f"line {one['line']}, {one['share']['value']:.1%} of {one['class']}")
    command = f"bench/advice/run.py AGENT HEAPREC {rounds}"
    for name, figure, of in (("five", "Advice in five programs that is right", GOAL), ("all", "Advice in eight programs that is right", None)):
        keys = [key for key in found if of is None or key[0] in of]
        right = sum(known.get(key, False) for key in keys)
        record("advice", f"advice.{name}", area="Advice", figure=figure, goal=">= 80 %", value=f"{right} of {len(keys)}",
               reached=right >= 0.8 * len(keys), command=command, notes="bench/results/advice.txt")


if __name__ == "__main__":
    main(*sys.argv[1:])
