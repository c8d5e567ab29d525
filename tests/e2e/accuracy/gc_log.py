#!/usr/bin/env python3
"""Collections, heap and process of a recording, against what the JVM's own log and /proc say of the same run.

gc_log.py AGENT HEAPREC CLASSES [JAVA_HOME [COLLECTOR...]]       $HEAPREC_GC_MS: how long each works, default 1000
$HEAPREC_COLLECTORS: of G1 Serial Parallel Z Shenandoah, default G1 Parallel

Of each collector:
  pauses    each that the log has from the first recorded one on ended within a recorded one, and none of these is without one: Serial and
            Parallel may collect twice in one pause.
  length    no pause begins before the one before has ended; the middle one of the ratios recorded to logged is at least 1/2: the log's timer lies
            within the pause. How much longer a pause is than the log says is printed, not asserted: a busy machine makes it any
  heap      after each pause what the log says, to 1 MB of its rounding and one region's fill; the cause of the last is what it was
  kinds     print shows them only when asked for; the events of the allocations are the same with and without
  rss       between the least and the largest that /proc/PID/statm showed meanwhile, which is looked at every 50 ms, and 32 MB more
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

COLLECTORS = ["G1", "Parallel"]  # what every JDK has and CI runs
MB = 1 << 20
PAUSE = re.compile(r"^\[(?P<ended>\d+)ms\].*GC\((?P<gc>\d+)\).* (?P<what>Pause [A-Z].*?)(?: (?P<before>\d+)M->(?P<after>\d+)M\(\d+M\))? (?P<ms>[0-9.]+)ms$")
SLACK = {"heap": 3 * MB, "rss": 32 * MB}
CLOCKS = 4000000  # ns: the recording's time of day is that of its start, carried on by the monotonic clock
BEHIND = 0.1  # of the pauses: their begin was taken in behind their end, so the heap before is not known


def run_java(agent, classes, home, collector, recording, log):
    """(least RSS, largest RSS, output)."""
    selector = "gc+phases,gc" if collector == "Z" else "gc"
    process = subprocess.Popen(
        [f"{home}/bin/java", f"-agentpath:{agent}=file={recording}", "-XX:+UnlockExperimentalVMOptions", f"-XX:+Use{collector}GC", "-Xms96m",
         "-Xmx192m", f"-Xlog:{selector}:file={log}:timemillis", "-cp", classes, "e2e.Collects", os.environ.get("HEAPREC_GC_MS", "1000")], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, universal_newlines=True)
    seen = []
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/statm") as statm:
                fields = statm.read().split()
        except (OSError, ValueError):
            break
        if len(fields) > 1 and int(fields[1]) > 0:
            seen.append(int(fields[1]) * 4096)
        time.sleep(0.05)
    output, _ = process.communicate()
    assert process.returncode == 0 and output == "false\n", (process.returncode, output)
    return min(seen), max(seen)


def pauses_of(log):
    with open(log) as lines:
        found = [PAUSE.match(line.rstrip()) for line in lines]
    return [match for match in found if match]


def heaprec(command, *arguments):
    done = subprocess.run([command, *arguments], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def judge_pauses(collections, logged, collector):
    """(middle ratio of lengths, most that the heap after a pause is off)."""
    logged = [known for known in logged if int(known["ended"]) * 1000000 >= collections[0]["time_ns"] - CLOCKS]
    one_each = len(logged) == len(collections)
    for before, recorded in zip(collections, collections[1:]):
        assert before["time_ns"] + before["pause_ns"] <= recorded["time_ns"], (before, recorded)
    without = sum(1 for recorded in collections if not recorded.get("used_before"))
    assert collector == "Z" or without <= BEHIND * len(collections), (without, len(collections))
    ratios, off = [], 0
    for recorded in collections:
        # Z publishes no heap before the first of them has ended, on JDK 11 none at all.
        assert recorded["pauses"] == 1 and (collector == "Z" or recorded["cause"]), recorded
        end = recorded["time_ns"] + recorded["pause_ns"] + CLOCKS
        # As many as recorded: one each, in order. Short ones are nearer to each other than the log's milliseconds.
        within = [logged.pop(0)] if one_each else []
        while not one_each and logged and int(logged[0]["ended"]) * 1000000 <= end:
            within.append(logged.pop(0))
        assert within and all(int(known["ended"]) * 1000000 >= recorded["time_ns"] - CLOCKS for known in within), (recorded, within)
        ratios.append(recorded["pause_ns"] * 1e-6 / max(sum(float(known["ms"]) for known in within), 1e-3))
        if within[-1]["after"]:
            off = max(off, abs(recorded["used_after"] - int(within[-1]["after"]) * MB))
    assert not logged, logged
    assert any(c["cause"] == "System.gc()" for c in collections), {c["cause"] for c in collections}
    assert off <= SLACK["heap"], off
    return statistics.median(ratios), off


def judge(agent, command, classes, home, collector):
    with tempfile.TemporaryDirectory(prefix="heaprec-gc-") as folder:
        recording, log = f"{folder}/rec.bin", f"{folder}/gc.log"
        least, most = run_java(agent, classes, home, collector, recording, log)
        logged = pauses_of(log)
        events = heaprec(command, "print", "--json", "--kind", "gc,heap", recording)["events"]
        collections = [event for event in events if event["kind"] == "gc"]
        looks = [event for event in events if event["kind"] == "heap"]
        summary = heaprec(command, "summary", "--json", recording)["heap"]
        plain = heaprec(command, "print", "--json", recording)["events"]
    assert not any(event["kind"] in ("gc", "heap") for event in plain) and plain
    assert len(looks) >= 2 and all(look["committed"] and look["threads"] for look in looks), looks
    assert looks[-1]["used"], looks  # G1 and Z say it from the first filled region, or collection, on
    assert all(least - SLACK["rss"] <= look["rss"] <= most + SLACK["rss"] for look in looks), (least, most, looks)
    assert summary["rss_max"] == max(look["rss"] for look in looks)
    ratio, off = judge_pauses(collections, logged, collector)
    assert ratio >= 0.5, ratio
    recorded = sum(c["pauses"] for c in collections)
    assert summary["pauses"] == recorded and not summary["unfinished"]
    times = [event["time_ns"] for event in looks]
    assert times == sorted(times)
    return f"| {collector} | {recorded} | {len(logged)} | {ratio:.2f} | {off / MB:.2f} |"


def main(agent, command, classes, home="", *collectors):
    home = home or os.environ.get("JAVA_HOME") or "/usr/lib/jvm/default-java"
    failed = 0
    print("| collector | pauses recorded | logged | recorded / logged length | most off, heap after, MB |\n|---|---|---|---|---|")
    for collector in collectors or os.environ.get("HEAPREC_COLLECTORS", "").split() or COLLECTORS:
        try:
            print(judge(agent, command, classes, home, collector), flush=True)
        except AssertionError as error:
            failed = 1
            print(f"| {collector} | {error} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
