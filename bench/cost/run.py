#!/usr/bin/env python3
"""CPU cost of a recording, paired and interleaved: none, heaprec, JFR (allocation events of its default settings).

usage: bench/cost/run.py [--runs 15] [--source-tree DIR] [startup|javac|kept ...]

startup: a program that prints one line. javac: javac compiles DIR (a module source path; ./demo.sh DIRECTORY leaves one in
DIRECTORY/src). Each run's CPU is user + system time of the whole process; the figure is the median of the differences within
a round, with the interquartile range. Needs `bazel build //recorder:libheaprec.so //tools:heaprec` and a JDK 17.

kept: what one sample costs the thread that allocates, all in: the CPU time that Kept.java's thread needs more than without a
recording, over the samples committed (at 200000/s, each with the same stack of 50 frames, none of them inlined). Once with
walked stacks, once with GetStackTrace's.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))


def cpu_seconds(command):
    """User + system time of one process, children included."""
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{command}: status {status}")
    return usage.ru_utime + usage.ru_stime


def flags(tool, agent, folder, prefix):
    out = f"{folder}/{tool}"
    if tool == "heaprec":
        return [f"{prefix}-agentpath:{agent}=file={out}.hrec"]
    if tool == "jfr":
        return [f"{prefix}-XX:StartFlightRecording=filename={out}.jfr,settings=default"]
    return []


def startup(tool, agent, folder, _):
    return [str(JDK / "bin/java"), *flags(tool, agent, folder, ""), "-cp", folder, "Hello"]


def javac(tool, agent, folder, tree):
    shutil.rmtree(f"{folder}/classes", ignore_errors=True)
    return [str(JDK / "bin/javac"), *flags(tool, agent, folder, "-J"), "-nowarn", "-XDignore.symbol.file", "-proc:none",
            "-d", f"{folder}/classes", "--module-source-path", tree, "--module", "java.xml"]


def measure(name, command, runs, agent, tree):
    tools = ["none", "heaprec", "jfr"]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "Hello.java").write_text(
            'class Hello { public static void main(String[] args) { System.out.println("hello"); } }')
        subprocess.run([JDK / "bin/javac", "-d", folder, f"{folder}/Hello.java"], check=True)
        rounds = [[cpu_seconds(command(tool, agent, folder, tree)) for tool in tools] for _ in range(runs + 1)][1:]
    plain = statistics.median(r[0] for r in rounds)
    print(f"{name}: {runs} rounds, none {plain * 1000:.0f} ms CPU")
    for index, tool in enumerate(tools[1:], 1):
        extra = sorted(r[index] - r[0] for r in rounds)
        low, middle, high = (extra[len(extra) * q // 4] for q in (1, 2, 3))
        print(f"  {tool:8s} {middle * 1000:+.0f} ms ({low * 1000:+.0f} to {high * 1000:+.0f}), {100 * middle / plain:+.1f} %")


KEPT_ARRAYS, KEPT_BEGINS_MS = 2_000_000, 3000


def kept_run(stacks, agent, heaprec, folder):
    """CPU ns of the allocating thread, samples committed, samples whose place was lost."""
    recording = pathlib.Path(folder, "kept.hrec")
    recording.unlink(missing_ok=True)
    flags = [f"-agentpath:{agent}=file={recording},rate=200000,delay=2s,stacks={stacks}"] if stacks else []
    out = subprocess.run([JDK / "bin/java", "-Xmx1g", "-Xms1g", "-XX:+UseParallelGC", "-XX:CompileCommand=quiet",
                          "-XX:CompileCommand=dontinline,Kept::*", *flags, "-cp", folder, "Kept", str(KEPT_ARRAYS),
                          str(KEPT_BEGINS_MS)], check=True, capture_output=True, text=True)
    if not stacks:
        return int(out.stdout), 0, 0
    summary = json.loads(subprocess.run([heaprec, "summary", "--json", recording], check=True, capture_output=True).stdout)
    books = summary["losses"]
    return int(out.stdout), books["committed"], books["points"] - books["committed"]


def kept(runs, agent, heaprec):
    ways = {"walked": "auto", "GetStackTrace": "jvmti"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([JDK / "bin/javac", "-d", folder, ROOT / "bench/cost/Kept.java"], check=True)
        costs = {way: [] for way in ways}
        for _ in range(runs):
            plain = kept_run("", agent, heaprec, folder)[0]
            for way, stacks in ways.items():
                cpu, samples, lost = kept_run(stacks, agent, heaprec, folder)
                costs[way].append(((cpu - plain) / samples, samples, lost, cpu, plain))
    print(f"kept: {runs} rounds, depth 50")
    for way, found in costs.items():
        found.sort()
        low, middle, high = (found[len(found) * q // 4] for q in (1, 2, 3))
        print(f"  {way:14s} {middle[0]:,.0f} ns per sample ({low[0]:,.0f} to {high[0]:,.0f}); {middle[1]:,} samples, "
              f"{middle[2]:,} points not committed; {middle[3] / 1e9:.2f} s CPU instead of {middle[4] / 1e9:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["startup", "javac", "kept"], default=["startup"])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--source-tree", default="")
    parser.add_argument("--agent", default=str(ROOT / "bazel-bin/recorder/libheaprec.so"))
    parser.add_argument("--heaprec", default=str(ROOT / "bazel-bin/tools/heaprec"))
    options = parser.parse_args()
    for what in options.what:
        if what == "kept":
            kept(options.runs, options.agent, options.heaprec)
            continue
        if what == "javac" and not options.source_tree:
            parser.error("javac needs --source-tree")
        measure(what, {"startup": startup, "javac": javac}[what], options.runs, options.agent, options.source_tree)


main()
