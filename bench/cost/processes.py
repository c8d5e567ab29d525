"""CPU time of processes, and how busy others kept the machine meanwhile."""
import os
import pathlib
import time


def cpu_seconds(command, folder=None, out=os.devnull):
    """User + system time of one process, its threads and the children that it waited for included. Both of its outputs
    go to the file `out`; a process that fails ends the measurement."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, str(out), flags, 0o600), (os.POSIX_SPAWN_DUP2, 1, 2)]
    before = os.getcwd()
    if folder is not None:
        os.chdir(folder)
    try:
        pid = os.posix_spawnp(command[0], [str(part) for part in command], os.environ, file_actions=actions)
    finally:
        os.chdir(before)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        text = "" if out == os.devnull else pathlib.Path(out).read_text(errors="replace")[-2000:]
        raise SystemExit(f"{' '.join(map(str, command))}: status {status}\n{text}")
    return usage.ru_utime + usage.ru_stime


class Machine:
    """From its making on, the share of the machine's CPU time that others took."""

    def __init__(self):
        self.began, self.busy, self.own = time.monotonic(), self._busy(), self._own()

    @staticmethod
    def _busy():
        user, nice, system, _, _, interrupts, soft, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
        return (user + nice + system + interrupts + soft + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _own():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def taken_by_others(self):
        possible = (time.monotonic() - self.began) * os.cpu_count()
        return max(0.0, (self._busy() - self.busy - (self._own() - self.own)) / possible)
