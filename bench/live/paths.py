#!/usr/bin/env python3
"""How long a search for what holds live objects stops a program, beside the JVM's own ways to ask, in one JVM.

usage: bench/live/paths.py [--heaps 40,256,1024,2048] [--searches 100] [--jdk HOME] [--record]    after `bazel build //recorder:libheaprec.so //tools:heaprec`

In each heap (MiB of records that refer to each other at random, in a heap of 4 GiB or more; G1): searches with
paths.pause=50ms; a search of the whole heap; JFR's path-to-gc-roots; and jcmd GC.heap_dump. Pauses are those of the
JVM's log of safepoints.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "bench/cost"))
from processes import Machine  # noqa: E402
from record import record  # noqa: E402

AGENT, COMMAND = ROOT / "bazel-bin/recorder/libheaprec.so", ROOT / "bazel-bin/tools/heaprec"
BOUND_MS, SLACK_MS = 50, 5
SEARCH = "HeapWalkOperation"  # as HotSpot calls JVMTI's
HEAP_MIB = 4096
PATIENCE = 120  # seconds; where JFR's queue is full it searches depth first, which may not end


class Program:
    """The program with a recording whose searches may pause it for `pause`."""

    def __init__(self, jdk, folder, heap, pause, *flags):
        self.jdk, self.log, self.recording = jdk, f"{folder}/{heap}-{pause}.log", f"{folder}/{heap}-{pause}.hrec"
        room = max(HEAP_MIB, 2 * heap)
        self.process = subprocess.Popen(
            [f"{jdk}/bin/java", f"-agentpath:{AGENT}=file={self.recording},paths=on,paths.pause={pause}", f"-Xlog:safepoint:file={self.log}", "-XX:+UseG1GC",
             f"-Xms{room}m", f"-Xmx{room}m", "-XX:FlightRecorderOptions:old-object-queue-size=256", *flags, "-cp", folder, "Paths", str(heap)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        while self.process.stdout.readline() != "ready\n":
            assert self.process.poll() is None

    def search(self):
        """The command gives up before a long search has ended; the search does not."""
        before, until = len(self.pauses_ms(SEARCH)), time.monotonic() + PATIENCE
        subprocess.run([COMMAND, "dump", "--flush", "-q", "-f", "-o", "/dev/null", str(self.process.pid)], check=False, stderr=subprocess.DEVNULL)
        while len(self.pauses_ms(SEARCH)) == before:
            assert self.process.poll() is None and time.monotonic() < until
            time.sleep(0.1)

    def jcmd(self, *command):
        """Whether it was done within PATIENCE."""
        try:
            subprocess.run([f"{self.jdk}/bin/jcmd", str(self.process.pid), *command], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False
        return True

    def pauses_ms(self, operation):
        with open(self.log) as log:
            return [int(ns) / 1e6 for ns in re.findall(rf'Safepoint "{operation}".*?At safepoint: +(\d+) ns', log.read())]

    def end(self):
        self.process.communicate("\n")


def measure(jdk, folder, heap, searches):
    bounded = Program(jdk, folder, heap, f"{BOUND_MS}ms")
    for _ in range(searches):
        bounded.search()
    # The first is the agent's test of itself, the last one is at the end.
    within = bounded.pauses_ms(SEARCH)[1:]
    bounded.end()
    whole = Program(jdk, folder, heap, "60s", "-XX:StartFlightRecording:settings=profile")
    for _ in range(3):
        whole.search()
    whole.jcmd("GC.heap_dump", "-all", f"{folder}/paths.hprof")
    os.unlink(f"{folder}/paths.hprof")
    for _ in range(2):
        if not whole.jcmd("JFR.dump", "path-to-gc-roots=true", f"filename={folder}/paths.jfr"):
            print(f"{heap} MiB: JFR's search did not end within {PATIENCE} s, which counts as its pause")
            break
    pauses = {"search": whole.pauses_ms(SEARCH)[1:], "jfr": whole.pauses_ms("JFROldObject")[1:3], "dump": whole.pauses_ms("HeapDumper")}
    if whole.process.poll() is None:
        whole.end()
    shown = subprocess.run([COMMAND, "print", "--kind", "event", whole.recording], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    objects = max(map(int, re.findall(r"objects = (\d+)", shown)))
    return within, pauses, objects


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heaps", default="40,256,1024,2048")
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--jdk", default=os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"))
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    options = parser.parse_args()
    machine = Machine()
    all_within, ratios = [], []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{options.jdk}/bin/javac", "-d", folder, ROOT / "bench/live/Paths.java"], check=True)
        for heap in map(int, options.heaps.split(",")):
            within, pauses, objects = measure(options.jdk, folder, heap, options.searches)
            all_within += within
            late = sum(ms > BOUND_MS + SLACK_MS for ms in within)
            search, jfr, dump = (min(pauses[way], default=PATIENCE * 1000) for way in ("search", "jfr", "dump"))
            ratios.append((search / jfr, search / dump))
            print(f"{heap} MiB of {max(HEAP_MIB, 2 * heap)}, {objects / 1e6:.1f} M objects: {len(within)} searches of at most {BOUND_MS} ms took {min(within):.1f} to {max(within):.1f} ms, "
                  f"{late} more than {BOUND_MS + SLACK_MS}; of the whole heap {search:.0f} ms, JFR {jfr:.0f} ms, heap dump {dump:.0f} ms "
                  f"(the shortest of {len(pauses['search'])}, {len(pauses['jfr'])}, {len(pauses['dump'])})", flush=True)
    kept = sum(ms <= BOUND_MS + SLACK_MS for ms in all_within) / len(all_within)
    others = 100 * machine.taken_by_others()
    command = f"bench/live/paths.py --heaps {options.heaps} --searches {options.searches}; other processes took {others:.0f} % of the machine"
    print(f"{100 * kept:.1f} % within {BOUND_MS + SLACK_MS} ms; of the JVM's pauses {max(jfr for jfr, _ in ratios):.2f} (JFR), "
          f"{max(dump for _, dump in ratios):.2f} (heap dump) at most; other processes took {others:.0f} % of the machine")
    if options.record:
        record("measurements", "paths.pause", area="Live objects", figure="searches with paths.pause=50ms that end within 55 ms", goal=">= 0.99",
               value=round(kept, 3), unit="share", reached=kept >= 0.99, command=command, notes="bench/results/README.md")
        record("measurements", "paths.whole", area="Live objects", figure="pause of a search of the whole heap, of JFR's path-to-gc-roots", goal="<= 1",
               value=round(max(jfr for jfr, _ in ratios), 2), unit="ratio", reached=max(jfr for jfr, _ in ratios) <= 1, command=command,
               notes="bench/results/README.md")


if __name__ == "__main__":
    main()
