#!/usr/bin/env python3
"""Starts 200 JVMs at once and kills each at a random moment; stores how many problems were found
(crash.jvm_crowd).

    bench/crash/jvm_crowd.py [--jvms 200] [--seconds 90]

Each JVM is killed by SIGKILL within `--seconds` of its start, maybe before it records. Then another agent starts, which
moves the rings that are left. A recording is whole if `heaprec verify` passes, its ring or the copy of its ring was
found, and the ring's counters agree with the samples. No ring may be left, no JVM may lose its ring while it lives, and
no agent may report anything. One JVM records all the time.

It has a /dev/shm of its own, for which it needs root or user namespaces (it starts itself again with unshare): an agent
of a sandbox or a container that cannot write beside these recordings would remove their rings beyond 16 MiB. Needs 60 MB
of memory a JVM, `bazel build //recorder:libheaprec.so //tools:heaprec`, and a JDK 17.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
from record import record  # noqa: E402
JDK = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/java-17-openjdk-amd64"))
FLAGS = ["-Xmx16m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
RINGS = pathlib.Path("/dev/shm")
HEAPREC = ROOT / "bazel-bin/tools/heaprec"


class Jvm:
    def __init__(self, folder, name):
        self.folder = folder / name
        self.folder.mkdir()
        self.recording = self.folder / "rec.hrec"
        agent = f"-agentpath:{ROOT}/bazel-bin/recorder/libheaprec.so=file={self.recording},ring=auto"
        self.errors = open(self.folder / "stderr", "w")
        self.process = subprocess.Popen([JDK / "bin/java", *FLAGS, agent, "-cp", folder, "Steady", "3600000", "20"],
                                        stdout=subprocess.DEVNULL, stderr=self.errors)

    def rings(self):
        return list(RINGS.glob(f"heaprec-{self.process.pid}-*.ring"))

    def kill(self):
        """Returns what was wrong while it lived."""
        wrong = []
        if self.process.poll() is not None:
            wrong.append(f"ended by itself: {self.process.returncode}")
        elif ".ring (deleted)" in pathlib.Path(f"/proc/{self.process.pid}/maps").read_text():
            wrong.append("lost its ring while it lived")
        self.close()
        return [f"{self.folder.name}: {text}" for text in wrong + (self.folder / "stderr").read_text().splitlines()]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()

    def await_ring(self):
        while not self.rings():
            assert self.process.poll() is None, (self.folder / "stderr").read_text()
            time.sleep(0.1)
        return self.rings()

    def findings(self):
        """Samples in the recording, and what is wrong with it; None if the JVM was killed before it had one."""
        if not self.recording.exists() or self.recording.stat().st_size == 0:
            return None
        verified = subprocess.run([HEAPREC, "verify", self.recording], capture_output=True, text=True)
        wrong = [] if verified.returncode == 0 else [verified.stdout + verified.stderr]
        summary = subprocess.run([HEAPREC, "summary", "--json", self.recording], capture_output=True, text=True)
        if summary.returncode != 0:
            return 0, [*wrong, summary.stderr]
        losses = json.loads(summary.stdout)["losses"]
        salvage = losses["salvage"]
        if not salvage["ring_found"]:
            wrong.append("no ring")
        if salvage["unnamed"] or salvage["invalid"] or salvage["errors"]:
            wrong.append(f"ring: {salvage}")
        if abs(losses["committed"] - losses["written"] - losses["second_stage"]) > 1:  # of its thread, on its way
            wrong.append(f"{losses['committed']} committed, {losses['written']} written, {losses['second_stage']} left out")
        return losses["written"], wrong


def crowd(folder, count, seconds, chance):
    """Starts and kills the JVMs; returns what is wrong, and the findings of those that had a recording."""
    bystander = Jvm(folder, "bystander")
    bystander.await_ring()
    killed, wrong, late = [], [], None
    try:
        for i in range(count):
            killed.append((time.monotonic() + chance.uniform(0, seconds), i, Jvm(folder, str(i))))
        for moment, _, jvm in sorted(killed):
            time.sleep(max(0, moment - time.monotonic()))
            wrong += jvm.kill()
        late = Jvm(folder, "late")
        late.await_ring()
        deadline = time.monotonic() + 120
        while any(jvm.rings() for _, _, jvm in killed) and time.monotonic() < deadline:
            time.sleep(0.5)
        wrong += [f"left: {one}" for _, _, jvm in killed for one in jvm.rings()] + bystander.kill() + late.kill()
        found = {jvm.folder.name: jvm.findings() for jvm in [bystander, *(jvm for _, _, jvm in killed)]}
        recorded = {name: one for name, one in found.items() if one is not None}
        return wrong + [f"{name}: {text}" for name, one in recorded.items() for text in one[1]], recorded
    finally:
        for jvm in filter(None, [bystander, late, *(jvm for _, _, jvm in killed)]):
            jvm.close()


def main():
    if os.environ.get("HEAPREC_CROWD") is None:
        script = 'mount -t tmpfs tmpfs /dev/shm && exec "$@"'
        os.environ["HEAPREC_CROWD"] = "1"
        os.execvp("unshare", ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m", "sh", "-c", script, "sh",
                              sys.executable, *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jvms", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=90)
    options = parser.parse_args()
    available = int(re.search(r"MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)) // 1000
    if available < 60 * options.jvms:
        sys.exit(f"{available} MB of memory are available, {60 * options.jvms} needed")
    with tempfile.TemporaryDirectory(prefix="heaprec-crowd-") as name:
        folder = pathlib.Path(name)
        subprocess.run([JDK / "bin/javac", "-d", folder, HERE / "Steady.java"], check=True)
        wrong, recorded = crowd(folder, options.jvms, options.seconds, random.Random())
    print(f"{options.jvms} JVMs, {len(recorded) - 1} killed with a recording; {sum(one[0] for one in recorded.values())} "
          f"samples; wrong: {wrong or 'nothing'}")
    record("measurements", "crash.jvm_crowd", area="Crashes and disks",
           figure=f"{options.jvms} JVMs start and are killed: problems found", goal="0", value=len(wrong),
           recordings=len(recorded) - 1, samples=sum(one[0] for one in recorded.values()), reached=not wrong,
           **({"reason": "; ".join(wrong)[:400]} if wrong else {}), notes="bench/crash/README.md",
           command=f"bench/crash/jvm_crowd.py --jvms {options.jvms} --seconds {options.seconds:g}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
