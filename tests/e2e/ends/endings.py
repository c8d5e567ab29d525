#!/usr/bin/env python3
"""Ends JVMs in every way there is, each with a known cause, and asks `heaprec why` for it.

Usage: tests/e2e/ends/endings.py [--full] [--write] [--jobs N] [--jdk 17=HOME]... [--only TEXT]

By default each ending is tried once, on one JDK, the collectors in turn. --full: every ending with every collector, on JDK
17 and 25 (about 3 minutes). --write: the table goes into bench/results/ends.txt and its figures into ends.json.

An ending is right if it happened (exit code, signal, output, the kernel's count of kills), and the first line of `why` names
it, and how certain that is. The kernel's kills are asked for twice: from the recording alone, where they are only probable,
and with the cgroup, whose count makes them certain. What is not certain must say what is missing.

A cgroup needs root and the controllers memory and pids (version 1 or 2); a tmpfs needs root. What cannot be tried is skipped,
and counted. 17 is $JAVA_HOME or Debian's, others are in $HEAPREC_JDKS or ~/.cache/heaprec/jdks (tests/e2e/fetch_jdks.sh).
"""
import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

COLLECTORS = ["G1", "Parallel", "Serial", "Z"]
PATIENCE = 90  # seconds; an ending takes 1 to 6
REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
LIMIT_MIB, MOST_TASKS = 192, 60
SMALL = ["-Xmx32m"]
ROOM = ["-Xms16m", "-Xmx1g"]  # more than the cgroup allows
MAIN = "main ended with an uncaught "

# way: the argument of Endings.java. exit: its code, or minus the signal. says: what the first line of `why` begins with,
# where {pid} is the JVM's and {own} this program's. err: what the JVM printed. kind: "" or what limits it.
Ending = collections.namedtuple("Ending", "name way flags exit verdict certainty says err kind")


def ending(name, way, flags, exit_code, verdict, certainty, says, err="", kind=""):
    return Ending(name, way, flags, exit_code, verdict, certainty, says, err, kind)


KILLED = r"probably killed by the kernel's OOM killer, at \d+ % of the cgroup's memory limit"
DIRECT = r"(Cannot reserve 1048576 bytes of direct buffer memory|Direct buffer memory)"
ENDINGS = [
    ending("cgroup, heap", "heap", ROOM, -9, "oom_kill", "probable", KILLED, kind="memory"),
    ending("cgroup, malloc", "malloc", SMALL, -9, "oom_kill", "probable", KILLED, kind="memory"),
    ending("cgroup, direct buffers", "buffers", SMALL + ["-XX:MaxDirectMemorySize=1g"], -9, "oom_kill", "probable", KILLED,
           kind="memory"),
    ending("cgroup, thread stacks", "stacks", SMALL + ["-XX:CompileCommand=exclude,e2e.Endings::descend"], -9, "oom_kill", "probable", KILLED, kind="memory"),
    ending("cgroup, tmpfs", "tmpfs", SMALL, -9, "oom_kill", "probable", KILLED, kind="tmpfs"),
    ending("SIGKILL", "wait", SMALL, -9, "killed", "probable", r"killed from outside \(SIGKILL\), or ended unseen", kind="signal"),
    ending("SIGKILL, in a cgroup", "wait", SMALL, -9, "killed", "probable",
           r"killed from outside \(SIGKILL\), or ended unseen, at [1-5]\d % of the cgroup's memory limit", kind="signal, memory"),
    ending("heap, caught", "caught", SMALL, 0, "normal", "certain",
           r"the JVM shut down when its last non-daemon thread ended; .* before: OutOfMemoryError: Java heap space"),
    # Without heap left the JVM may not write its end marker.
    ending("heap, uncaught", "fill", SMALL, 1, "out_of_memory", "certain|probable",
           MAIN + "OutOfMemoryError: Java heap space$", "OutOfMemoryError"),
    ending("heap, ExitOnOutOfMemoryError", "fill", SMALL + ["-XX:+ExitOnOutOfMemoryError"], 3, "out_of_memory", "certain",
           r"OutOfMemoryError: Java heap space; the JVM exited at once \(-XX:\+ExitOnOutOfMemoryError\)"),
    ending("heap, CrashOnOutOfMemoryError", "fill", SMALL + ["-XX:+CrashOnOutOfMemoryError"], -6, "out_of_memory", "certain",
           r"OutOfMemoryError: Java heap space; the JVM crashed itself \(-XX:\+CrashOnOutOfMemoryError\)"),
    ending("GC overhead limit", "overhead", SMALL + ["-XX:GCTimeLimit=10", "-XX:GCHeapFreeLimit=100"], 1, "out_of_memory",
           "certain|probable", MAIN + "OutOfMemoryError: GC overhead limit exceeded", "OutOfMemoryError", "Parallel"),
    ending("metaspace", "metaspace", ["-Xmx64m", "-XX:MaxMetaspaceSize=16m"], 1, "out_of_memory", "certain|probable",
           MAIN + "OutOfMemoryError: Metaspace", "OutOfMemoryError"),
    ending("direct buffer limit", "direct", SMALL + ["-XX:MaxDirectMemorySize=8m"], 1, "out_of_memory", "certain",
           MAIN + "OutOfMemoryError: " + DIRECT, DIRECT),
    ending("no more threads", "threads", SMALL, 1, "out_of_memory", "certain",
           MAIN + "OutOfMemoryError: unable to create native thread", "unable to create native thread", "pids"),
    ending("SIGSEGV in native code", "crash", SMALL + ["--add-opens=java.base/java.util.zip=ALL-UNNAMED"], -6, "crash", "certain",
           r"SIGSEGV \(0xb\) at pc=0x[0-9a-f]+ in C  \[lib"),
    ending("System.exit in a handler", "handler", SMALL, 3, "exit", "certain",
           r"System\.exit\(3\) called by e2e\.Endings\.handle:\d+ in thread http-1"),
    ending("Runtime.halt", "halt", SMALL, 4, "exit", "certain",
           r"Runtime\.halt\(4\) called by e2e\.Endings\.main:\d+ in thread main"),
    ending("SIGTERM", "wait", SMALL, 143, "signal", "certain", r"SIGTERM, sent by PID {own} \(", kind="signal"),
    ending("uncaught exception", "throw", SMALL, 1, "uncaught", "certain",
           MAIN + "IllegalStateException: no configuration$", "IllegalStateException: no configuration"),
    ending("uncaught stack overflow", "overflow", SMALL, 1, "uncaught", "certain", MAIN + "StackOverflowError$",
           "StackOverflowError"),
]

Cell = collections.namedtuple("Cell", "ending version home collector")
Outcome = collections.namedtuple("Outcome", "cell state text second", defaults=[False])
# state: "right", "WRONG" or "skipped"; second: only at the second attempt


class Skipped(Exception):
    """Cannot be tried on this machine."""


class Wrong(Exception):
    """What is not as it must be."""


@contextlib.contextmanager
def cgroup(controller, file_v1, file_v2, most):
    """A cgroup of its own: its folder."""
    for root, file in ((f"/sys/fs/cgroup/{controller}", file_v1), ("/sys/fs/cgroup", file_v2)):
        folder = tempfile.mktemp(prefix="heaprec-ends-", dir=root)
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(os.path.join(folder, file), "w") as f:
                f.write(str(most))
        except OSError:
            os.rmdir(folder)
            continue
        try:
            yield folder
        finally:
            for attempt in range(50):  # a killed process leaves it later than its parent learns of it
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.1)
        return
    raise Skipped(f"no cgroup of one's own with the controller {controller}")


@contextlib.contextmanager
def tmpfs():
    with tempfile.TemporaryDirectory(prefix="heaprec-ends-") as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={2 * LIMIT_MIB}m", "tmpfs", folder],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if mounted.returncode != 0:
            raise Skipped("no tmpfs may be mounted")
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)


def kills_in(folder):
    for name in ("memory.events", "memory.oom_control"):
        with contextlib.suppress(OSError), open(os.path.join(folder, name)) as f:
            found = re.search(r"^oom_kill (\d+)", f.read(), re.M)
            if found:
                return int(found.group(1))
    raise Skipped("the kernel does not count its kills")


def why(options, recording, *more):
    done = subprocess.run([options.command, "why", "--json", *more, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise Wrong(f"why ends with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["why"]


def check(verdict, certainty, says, answer):
    if answer["verdict"] != verdict or not re.match(says, answer["text"]):
        raise Wrong(f"is {answer['verdict']}: {answer['text']}")
    if answer["certainty"] not in certainty.split("|"):
        raise Wrong(f"is {answer['certainty']}, not {certainty}: {answer['text']}")
    if answer["certainty"] != "certain" and not answer["missing"]:
        raise Wrong(f"is {certainty}, and does not say what is missing: {answer['text']}")


def join(folder):
    with open(os.path.join(folder, "cgroup.procs"), "w") as f:
        f.write(str(os.getpid()))


def run_java(cell, options, folder, group, arguments):
    """Its id, exit code (a signal is negative) and output."""
    command = [os.path.join(cell.home, "bin/java"), f"-agentpath:{options.agent}=file={folder}/app.hrec",
               "-XX:+UnlockExperimentalVMOptions",
               f"-XX:+Use{cell.collector}GC", "-XX:-CreateCoredumpOnCrash", *cell.ending.flags, "-cp", options.classes,
               "e2e.Endings", cell.ending.way, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=(lambda: join(group)) if group else None) as java:
        try:
            if "signal" in cell.ending.kind:
                if java.stdout.readline() != "running\n":
                    raise Wrong("does not run")
                if group:
                    time.sleep(1.5)  # an account of the memory comes once a second
                java.send_signal(signal.SIGTERM if cell.ending.exit > 0 else signal.SIGKILL)
            out = java.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            raise Wrong("does not end") from None
        finally:
            java.kill()
    return java.pid, java.returncode, out


def exit_codes(ending):
    # Without a core file the JVM exits instead of aborting.
    return {ending.exit, 1} if ending.exit == -6 else {ending.exit}


def try_in(cell, options, folder, group="", arguments=()):
    before = kills_in(group) if group and cell.ending.verdict == "oom_kill" else 0
    pid, code, out = run_java(cell, options, folder, group, arguments)
    try:
        if code not in exit_codes(cell.ending) or not re.search(cell.ending.err, out):
            raise Wrong(f"has not ended in this way: {code}, {out[-300:]!r}")
        recording = f"{folder}/app.hrec"
        elsewhere = os.path.join(folder, "no-cgroup")  # as on a host without the cgroup
        os.mkdir(elsewhere)
        answer = why(options, recording, "--cgroup", elsewhere)
        check(cell.ending.verdict, cell.ending.certainty, cell.ending.says.replace("{own}", str(os.getpid())), answer)
        if cell.ending.verdict == "oom_kill":
            after = kills_in(group)
            if after <= before:
                raise Wrong("was not killed by the kernel")
            seen = why(options, recording)
            check("oom_kill", "certain", f"killed by the kernel's OOM killer: the cgroup's oom_kill rose from {before} to {after}", seen)
        return answer["text"]
    finally:
        for ring in glob.glob(f"/dev/shm/heaprec-{pid}-*"):
            os.unlink(ring)


def try_cell(cell, options):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heaprec-ends-"))
        if cell.ending.kind == "pids":
            group = stack.enter_context(cgroup("pids", "pids.max", "pids.max", MOST_TASKS))
            return try_in(cell, options, folder, group)
        if not any(kind in cell.ending.kind for kind in ("memory", "tmpfs")):
            return try_in(cell, options, folder)
        arguments = [stack.enter_context(tmpfs())] if cell.ending.kind == "tmpfs" else []
        group = stack.enter_context(cgroup("memory", "memory.limit_in_bytes", "memory.max", LIMIT_MIB << 20))
        return try_in(cell, options, folder, group, arguments)


def attempt(cell, options):
    began = time.monotonic()
    first = ""
    try:
        try:
            outcome = Outcome(cell, "right", try_cell(cell, options))
        except Wrong as reason:
            # On a starved machine the last account may be too old. A defect fails twice, and what passes then is named.
            first = f"; the first attempt {reason}"
            outcome = Outcome(cell, "right", try_cell(cell, options), second=True)
    except Skipped as reason:
        outcome = Outcome(cell, "skipped", str(reason))
    except (Wrong, OSError, ValueError, KeyError, subprocess.SubprocessError) as reason:
        outcome = Outcome(cell, "WRONG", f"{type(reason).__name__}: {reason}")
    print(f"{outcome.state:7} {cell.ending.name}, JDK {cell.version} {cell.collector}: {outcome.text} "
          f"({time.monotonic() - began:.1f} s{first})", file=sys.stderr, flush=True)
    return outcome


def exists_with(ending, collector):
    return ending.kind != "Parallel" or collector == "Parallel"


def cells_of(jdks, full):
    if full:
        return [Cell(one, version, home, collector) for version, home in jdks for one in ENDINGS for collector in COLLECTORS
                if exists_with(one, collector)]
    version, home = jdks[0]
    return [Cell(one, version, home, "Parallel" if one.kind == "Parallel" else COLLECTORS[i % len(COLLECTORS)])
            for i, one in enumerate(ENDINGS)]


def table(outcomes):
    """A line for each ending: where it was right, and what `why` says, of the first cell."""
    lines = ["| ending | right with | first line of `why` |", "|---|---|---|"]
    for one in ENDINGS:
        of = [outcome for outcome in outcomes if outcome.cell.ending is one]
        right = collections.OrderedDict()
        for outcome in of:
            if outcome.state == "right":
                right.setdefault(outcome.cell.version, []).append(outcome.cell.collector)
        where = "; ".join(f"{version}: {', '.join(collectors)}" for version, collectors in right.items())
        text = next((outcome.text for outcome in of if outcome.state == "right"), "-")
        lines.append(f"| {one.name} | {where or '-'} | {text} |")
    return "\n".join(lines)


def commit():
    return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True).stdout.strip()


def store(outcomes):
    at = commit()  # before a file of it changes
    sys.path.append(os.path.join(REPOSITORY, "bench"))
    import record
    tried = [outcome for outcome in outcomes if outcome.state != "skipped"]
    wrong = [outcome for outcome in outcomes if outcome.state != "right"]
    reason = "; ".join(f"{o.cell.ending.name}, JDK {o.cell.version} {o.cell.collector}: {o.state}: {o.text}" for o in wrong)
    record.record("ends", "ends.first_line", figure="Ways to end: first line of `why` is right", area="Ends of a JVM",
                  goal=len(outcomes), value=len(outcomes) - len(wrong), unit="JVMs", reached=not wrong, tried=len(tried),
                  command="tests/e2e/ends/endings.py --full --write", notes="bench/results/ends.txt",
                  **({"reason": reason} if reason else {}))
    machine = f"{os.cpu_count()} shared x86-64 cores, Debian 12"
    with open(os.path.join(REPOSITORY, "bench/results/ends.txt"), "w") as f:
        f.write(f"""JVMs that ended in every way there is, and the first line of `heaprec why`, written by
tests/e2e/ends/endings.py --full --write, which says what is checked. The text is that of the first JVM.
Commit {at}, {datetime.date.today()}, {machine}.

{table(outcomes)}

{closing(outcomes)}
""")


def closing(outcomes):
    of = collections.Counter(outcome.state for outcome in outcomes)
    second = sum(outcome.second for outcome in outcomes)
    return (f"{of['right']} of {len(outcomes)} right ({second} at the second attempt), {of['WRONG']} wrong, "
            f"{of['skipped']} skipped")


def home_of(version):
    if version == 17:
        return os.environ.get("JAVA_HOME") or "/usr/lib/jvm/java-17-openjdk-amd64"
    return os.path.join(os.environ.get("HEAPREC_JDKS") or os.path.expanduser("~/.cache/heaprec/jdks"), str(version), "home")


def version_of(home):
    with open(f"{home}/release") as f:
        return int(re.search(r'^JAVA_VERSION="(\d+)', f.read(), re.M).group(1))


def parse(argv):
    products = os.path.join(REPOSITORY, "bazel-bin")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default=f"{products}/recorder/libheaprec.so")
    parser.add_argument("--command", default=f"{products}/tools/heaprec")
    parser.add_argument("--classes", default=f"{products}/tests/e2e/programs.jar")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", help="part of 'heap, caught, JDK 17 G1'")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--jdk", action="append", default=[], metavar="17=HOME")
    options = parser.parse_args(argv)
    for name in ("agent", "command", "classes"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    return options


def main(argv):
    options = parse(argv)
    homes = {17: home_of(17), **({25: home_of(25)} if options.full else {})}
    for jdk in options.jdk:
        version, _, home = jdk.partition("=")
        homes[int(version)] = home
    missing = [f"no JDK at {home}" for home in homes.values() if not os.path.exists(f"{home}/bin/java")]
    if missing:
        sys.exit("; ".join(missing))
    jdks = [(version_of(home), home) for home in homes.values()]  # $JAVA_HOME may be another
    cells = [cell for cell in cells_of(jdks, options.full)
             if options.only in f"{cell.ending.name}, JDK {cell.version} {cell.collector}"]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda cell: attempt(cell, options), cells))
    if options.write:
        store(outcomes)
    print(closing(outcomes))
    return 0 if all(outcome.state != "WRONG" for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
