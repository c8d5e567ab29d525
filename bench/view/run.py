#!/usr/bin/env python3
"""CPU time of the live view beside the JVM that it shows.

usage: bench/view/run.py AGENT HEAPREC [SECONDS]

Starts javac in a loop, which allocates at thousands of sites, and `heaprec top --follow` on a terminal of 120x40, warms up
for 10 s and takes the viewer's CPU time of the next SECONDS (60) from /proc/PID/stat. Once as it starts (last 10 s) and
once since the start of the recording by site. Writes bench/results/view.json.
"""

import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from record import record  # noqa: E402

WARM_UP = 10
GOAL = 2.0  # % of a core


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def view(agent, heaprec, pid, seconds, keys):
    """Share of a core in %, bytes to the terminal per second."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", HEAPREC_LIB=agent)
        os.execv(heaprec, [heaprec, "top", "--follow", str(pid)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    drawn = [0]

    def drain():
        try:
            while data := os.read(terminal, 65536):
                drawn[0] += len(data)
        except OSError:
            return

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    time.sleep(WARM_UP)
    os.write(terminal, keys)
    time.sleep(1)
    begin, cpu, bytes_before = time.monotonic(), cpu_seconds(child), drawn[0]
    time.sleep(seconds)
    share = 100 * (cpu_seconds(child) - cpu) / (time.monotonic() - begin)
    rate = (drawn[0] - bytes_before) / seconds
    assert rate > 0 and os.waitpid(child, os.WNOHANG) == (0, 0), "the view has ended, or draws nothing"
    os.write(terminal, b"q")
    os.waitpid(child, 0)
    return share, rate


def main(agent, heaprec, seconds="60"):
    agent, heaprec = os.path.abspath(agent), os.path.abspath(heaprec)
    program = str(ROOT / "bench/view/Compiles.java")
    folder = tempfile.mkdtemp(prefix="heaprec-bench-")
    jvm = subprocess.Popen(["java", "-Xmx256m", program, program, folder], stdout=subprocess.DEVNULL)
    try:
        time.sleep(5)
        for name, what, keys in (("span", "last 10 s", b""), ("start", "since the start", b"ww")):
            share, rate = view(agent, heaprec, jvm.pid, int(seconds), keys)
            print(f"{what}: {share:.2f} % of a core, {rate:.0f} B/s to the terminal")
            record("view", f"view.{name}", area="Live view", figure=f"CPU of the live view, {what}", goal="< 2 % of a core",
                   value=round(share, 2), unit="%", reached=share < GOAL, command=f"bench/view/run.py AGENT HEAPREC {seconds}")
    finally:
        jvm.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
