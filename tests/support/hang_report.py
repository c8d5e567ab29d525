#!/usr/bin/env python3
"""Where a process that does not end stands: hang_report.py PID [FOLDER]

Prints one line: which threads run, in which functions, and which wait in ours. All of it (each thread's state, CPU
time, wait channel and stack, by gdb or else by the JDK's own jcmd) goes into a file, whose name ends the line: in FOLDER, or
$TEST_UNDECLARED_OUTPUTS_DIR, or the folder for temporary files. The process goes on afterwards.
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS_WATCHED = 2
OURS = "heaprec"
FRAMES = 4

Task = collections.namedtuple("Task", "tid name state cpu_seconds waits_in")


def read(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return "?"  # the thread has ended, or it is not ours to ask


def task_of(folder):
    # The name, in brackets, may hold spaces and brackets.
    name, _, rest = read(f"{folder}/stat").partition("(")[2].rpartition(")")
    fields = rest.split()
    if len(fields) < 13:
        return None
    ticks = int(fields[11]) + int(fields[12])
    return Task(int(os.path.basename(folder)), name, fields[0], ticks / os.sysconf("SC_CLK_TCK"), read(f"{folder}/wchan"))


def tasks_of(pid):
    tasks = map(task_of, sorted(glob.glob(f"/proc/{pid}/task/*")))
    return {task.tid: task for task in tasks if task}


def output_of(command, patience):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=patience,
                              env={**os.environ, "DEBUGINFOD_URLS": ""})  # nothing is fetched
        return done.stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command[0]}: {error}\n"


def native_stacks(pid):
    """(text, {tid: functions from the innermost on})"""
    if shutil.which("gdb") is None:
        return "no gdb here\n", {}
    text = output_of(["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "thread apply all bt 40"], 90)
    stacks = {}
    for block in re.split(r"^Thread ", text, flags=re.M)[1:]:
        tid = re.search(r"\(LWP (\d+)\)", block)
        if tid:
            stacks[int(tid[1])] = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?([^( ][^(]*?) ?\(", block, flags=re.M)
    return text, stacks


def java_stacks(pid):
    """Answered by the JVM itself, if it can still stop its threads."""
    program = read_link(f"/proc/{pid}/exe")
    jcmd = os.path.join(os.path.dirname(program), "jcmd")
    # Another program would be ended by the signal with which jcmd knocks.
    if os.path.basename(program) != "java" or not os.access(jcmd, os.X_OK):
        return f"no jcmd for {program}\n"
    return output_of([jcmd, str(pid), "Thread.print"], 20)


def read_link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def short(functions):
    return " < ".join(functions[:FRAMES]) or "?"


def sum_up(before, after, seconds, stacks):
    parts = []
    for tid, task in sorted(after.items()):
        spent = task.cpu_seconds - before[tid].cpu_seconds if tid in before else 0
        functions = stacks.get(tid, [])
        ours = next((function for function in functions if OURS in function), None)
        if task.state == "R":  # whatever share of a busy machine it has
            parts.append(f"{task.name} runs, {100 * spent / seconds:.0f} %, in {short(functions)}")
        elif ours:
            parts.append(f"{task.name} waits in {functions[0]} .. {ours}")
    return "; ".join(parts) or f"none of {len(after)} threads runs"


def take(pid, folder=None):
    """The line. Never raises: it is asked for while something else has failed."""
    try:
        before, began = tasks_of(pid), time.monotonic()
        time.sleep(SECONDS_WATCHED)
        after, seconds = tasks_of(pid), time.monotonic() - began
        text, stacks = native_stacks(pid)
        line = sum_up(before, after, seconds, stacks)
        rows = [f"{t.tid} {t.name}: {t.state}, {t.cpu_seconds:.2f} s, {t.waits_in}" for t in after.values()]
        folder = folder or os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR") or tempfile.gettempdir()
        path = f"{folder}/stands-{pid}-{int(time.time())}.txt"
        with open(path, "w") as f:
            f.write("\n".join([line, f"load {os.getloadavg()}", *rows, text, java_stacks(pid)]))
        return f"{line} ({path})"
    except (OSError, ValueError) as error:
        return f"no evidence: {error}"


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    print(take(int(sys.argv[1]), *sys.argv[2:]))
