#!/usr/bin/env python3
"""The live view in a real terminal: tmux, a JVM, and keys.

follow_tmux.py AGENT HEAPREC CLASSES

Of each way to leave (q, Ctrl-C, SIGTERM, a terminal that is closed): the terminal's modes are as before, the JVM is no longer recorded if the view
began the recording and still recorded if it did not, and nothing stays in /tmp.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

AGENT, HEAPREC, CLASSES = (os.path.abspath(path) for path in sys.argv[1:4])
ENVIRONMENT = dict(os.environ, HEAPREC_LIB=AGENT, LC_ALL="C.UTF-8")
PATIENCE = 120  # s: a busy machine


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"waited in vain for {what}")


class Terminal:
    """A tmux server of its own, with one window that runs a shell."""

    def __init__(self, folder, width=80, height=24, term=None):
        # Of its own: a server that was told to end may still hold its socket.
        self.socket = os.path.join(tempfile.mkdtemp(dir=folder), "tmux")
        self.folder = folder
        environment = dict(ENVIRONMENT)
        environment.pop("TMUX", None)
        if term:
            environment["VIEW_TERM"] = term
        subprocess.run(["tmux", "-S", self.socket, "-u", "-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                        "env PS1='ready> ' bash --norc --noprofile"], check=True, env=environment)
        self.wait("ready>")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], check=True, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, pattern):
        try:
            return wait_for(pattern, lambda: re.search(pattern, self.text()))
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen:\n{self.text()}") from None

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def run(self, command):
        self.tmux("send-keys", "-l", command)
        self.keys("Enter")

    def modes(self):
        path = os.path.join(self.folder, "modes")
        if os.path.exists(path):
            os.unlink(path)
        self.run(f"clear; stty -a > {path}.part; mv {path}.part {path}")
        wait_for("stty", lambda: os.path.exists(path))
        with open(path) as modes:
            return re.sub(r"rows \d+; columns \d+;", "", modes.read())

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, stderr=subprocess.DEVNULL)


def heaprec(*args):
    return subprocess.run([HEAPREC, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=PATIENCE)


def is_recorded(pid):
    status = heaprec("status", "--json", str(pid))
    assert status.returncode == 0, status.stderr
    return json.loads(status.stdout)["recording"] is not None


def views():
    """Processes that run the command under test with --follow."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].decode(errors="replace") == HEAPREC and b"--follow" in words:
            found.append(int(entry))
    return found


def recordings_left(pid):
    """Private folders with a recording of this JVM; other tests have theirs."""
    left = []
    for name in os.listdir("/tmp"):
        path = f"/tmp/{name}/rec.hrec"
        if not name.startswith("heaprec-") or name.startswith("heaprec-test-") or not os.path.isfile(path):
            continue
        summary = heaprec("summary", "--json", path)
        if summary.returncode == 0 and json.loads(summary.stdout)["recording"]["pid"] == pid:
            left.append(path)
    return left


def keys_do_what_help_says(terminal, pid, folder):
    command = f"{HEAPREC} top --follow {pid}; echo left $?"
    before = terminal.modes()
    terminal.run(command)
    terminal.wait(r"e2e\.Load\$Worker\.phase")
    terminal.wait(r"allocated +[0-9.]+ .iB/s")
    terminal.wait(r"heap used +[0-9.]+ .iB")
    terminal.wait(r"in GC +[0-9.e-]+ %")
    terminal.wait(r"allocates most: ")
    assert is_recorded(pid)
    first = terminal.wait(r"recording, (\d+) s").group(1)
    wait_for("the next second", lambda: (found := re.search(r"recording, (\d+) s", terminal.text())) and found.group(1) != first)
    terminal.wait("last 10 s: ")
    terminal.keys("w")
    terminal.wait("(all|last) [0-9]+ s: ")
    terminal.keys("w", "g")
    terminal.wait(r"by class, bytes: ")
    terminal.wait(r"byte\[\]")
    terminal.keys("s")
    terminal.wait(r"by class, objects: ")
    terminal.keys("g", "g")
    terminal.wait(r"load-0(?s:.*)load-1|load-1(?s:.*)load-0")
    terminal.keys("/")
    terminal.wait("filter: ")
    terminal.keys("-l", "thread:load-1")
    terminal.keys("Enter")
    terminal.wait(r"; thread:load-1: [0-9.]+ .iB")
    wait_for("one thread", lambda: "load-1" in terminal.text() and not re.search(r"^.*% .*load-0", terminal.text(), re.M))
    terminal.keys("c")
    terminal.wait(r": [2-9] rows")
    terminal.keys("g", "g", "Down", "Enter")
    terminal.wait(r"▾ e2e\.Load\$Worker\.phase")
    terminal.wait(r"    +e2e\.Load\$Worker\.run")
    terminal.keys("Left")
    terminal.wait(r"▸ e2e\.Load\$Worker\.phase")
    terminal.keys("Space")
    terminal.wait("paused")
    terminal.keys("Space")
    terminal.wait("recording")
    terminal.keys("?")
    terminal.wait("this help")
    terminal.keys("x")
    wait_for("the end of help", lambda: "this help" not in terminal.text())
    terminal.keys("/")
    terminal.keys("-l", "/(")
    terminal.keys("Enter")
    terminal.wait(r"--focus|regular expression|missing")
    terminal.keys("c")
    saved = os.path.join(folder, "saved.hrec")
    terminal.keys("S")
    terminal.wait("save as: heaprec-")
    terminal.keys(*["BSpace"] * 40)
    terminal.keys("-l", saved)
    terminal.keys("Enter")
    terminal.wait(r": [0-9,]+ samples")
    verified = heaprec("verify", saved)
    assert verified.returncode == 0, verified.stderr
    terminal.tmux("resize-window", "-x", "130", "-y", "45")
    terminal.wait("Trustworthy")
    terminal.wait("objects(?s:.*)mean size")
    terminal.tmux("resize-window", "-x", "80", "-y", "24")
    wait_for("the small screen", lambda: "Trustworthy" not in terminal.text())
    terminal.keys("q")
    terminal.wait("left 0")
    after = terminal.modes()
    assert after == before, (before, after)
    assert not is_recorded(pid)


def ways_to_leave(terminal, pid):
    def leave_by_signal():
        for one in views():
            os.kill(one, signal.SIGTERM)

    for leave in (lambda: terminal.keys("C-c"), leave_by_signal):
        before = terminal.modes()
        terminal.run(f"{HEAPREC} top --follow {pid}; echo left $?")
        terminal.wait(r"Load\$Worker\.phase")
        assert is_recorded(pid)
        leave()
        terminal.wait("left 0")
        assert terminal.modes() == before
        assert not is_recorded(pid)
    terminal.run(f"TERM=xterm-nowhere {HEAPREC} top --follow {pid}; echo left $?")
    terminal.wait(r"Load\$Worker\.phase")
    terminal.keys("q")
    terminal.wait("left 0")
    terminal.run(f"{HEAPREC} top --follow {pid}")
    terminal.wait(r"Load\$Worker\.phase")
    terminal.close()
    wait_for("the end of the view", lambda: not views())
    assert not is_recorded(pid)


def a_pipe_that_closes(pid):
    shell = subprocess.run(["bash", "-c", f"set -o pipefail; '{HEAPREC}' top --follow {pid} | head -30"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert shell.returncode == 0, shell
    assert shell.stdout.count("\n") == 30 and "allocated" in shell.stdout, shell.stdout
    assert not is_recorded(pid)


def a_recording_of_others_goes_on(folder, pid):
    path = os.path.join(folder, "other.hrec")
    assert heaprec("attach", str(pid), "-o", path).returncode == 0
    terminal = Terminal(folder)
    try:
        for what in (pid, path):
            terminal.run(f"clear; {HEAPREC} top --follow {what}; echo left $?")
            terminal.wait(r"Load\$Worker\.phase")
            terminal.keys("q")
            terminal.wait("left 0")
            assert is_recorded(pid)
        terminal.run(f"clear; {HEAPREC} top --follow {path}")
        terminal.wait("recording")
        assert heaprec("stop", str(pid)).returncode == 0
        terminal.wait("ended: ")
        terminal.keys("q")
    finally:
        terminal.close()


def a_recording_in_several_files_goes_on(folder, pid):
    path = os.path.join(folder, "parts.hrec")
    assert heaprec("attach", str(pid), "-o", path).returncode == 0
    terminal = Terminal(folder)
    try:
        terminal.run(f"clear; {HEAPREC} top --follow {pid}; echo left $?")
        terminal.wait(r"Load\$Worker\.phase")
        # Moved away: the agent ends this file as it does when it rotates, and begins the next.
        os.rename(path, path + ".moved")
        first = int(terminal.wait(r"recording, file 2, (\d+) s").group(1))
        wait_for("the next second", lambda: (found := re.search(r"recording, file 2, (\d+) s", terminal.text())) and int(found.group(1)) > first)
        assert os.path.exists(path)
        terminal.keys("q")
        terminal.wait("left 0")
        assert is_recorded(pid)
        assert heaprec("stop", str(pid)).returncode == 0
    finally:
        terminal.close()


def attach_counts_down(folder, pid):
    terminal = Terminal(folder, width=120)
    try:
        page = os.path.join(folder, "page.html")
        terminal.run(f"clear; {HEAPREC} attach {pid} --duration 600s --report {page}; echo left $?")
        first = int(terminal.wait(r"(\d+) s left; Ctrl-C ends it").group(1))
        wait_for("the next second", lambda: (found := re.search(r"(\d+) s left", terminal.text())) and int(found.group(1)) < first)
        terminal.keys("C-c")
        terminal.wait("left 0")
        assert "s left" not in terminal.text()
        assert os.path.getsize(page) > 100_000
        assert not is_recorded(pid)
    finally:
        terminal.close()


def main():
    java = os.path.join(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "bin/java")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        jvm = subprocess.Popen([java, "-Xmx128m", "-XX:+EnableDynamicAgentLoading", "-cp", CLASSES, "e2e.Load", "2", "600000", "50"], stdout=said, stderr=said)
        terminal = None
        try:
            terminal = Terminal(folder)
            keys_do_what_help_says(terminal, jvm.pid, folder)
            ways_to_leave(terminal, jvm.pid)
            a_pipe_that_closes(jvm.pid)
            a_recording_of_others_goes_on(folder, jvm.pid)
            a_recording_in_several_files_goes_on(folder, jvm.pid)
            attach_counts_down(folder, jvm.pid)
            assert jvm.poll() is None
        finally:
            if terminal:
                terminal.close()
            jvm.kill()
            jvm.wait()
        said.seek(0)
        # Any agent of the machine says that of rings that other tests have left.
        lines = [line for line in said if "removed the ring of a killed process" not in line]
        assert lines == ["running\n"], lines
        left = recordings_left(jvm.pid)
        assert not left, left
    print("keys, signals, a closed terminal and a closed pipe: the JVM is as it was")


main()
