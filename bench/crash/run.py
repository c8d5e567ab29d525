#!/usr/bin/env python3
"""Kills JVMs and fills their disks while heaprec, or JFR, records: what is left, side by side.

For each tool and JDK: `--kills` JVMs killed at a random moment of their fourth second, the share of the last second
before the kill that is missing (from the last event that can be read to the kill; 1 where the tool's own reader refuses
the file); and `--disks` JVMs whose tmpfs is filled up by another file in their third second. Needs root, or user
namespaces (it starts itself again with unshare).
"""
import argparse
import csv
import datetime
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RUN_MS = 8000


class Heaprec:
    name = "heaprec"

    def __init__(self, product):
        self.product = product

    def flags(self, folder):
        return [f"-agentpath:{self.product}/recorder/libheaprec.so=rate=150,file={folder}/rec.hrec"]

    def last_event_ns(self, java_home, folder):
        out = folder / "out.csv"
        read = subprocess.run([self.product / "tools/heaprec", "export", "--format", "csv", "-f", "-o", out, folder / "rec.hrec"],
                              capture_output=True)
        if read.returncode != 0:
            return None
        with open(out, newline="") as rows:
            return max((int(row["time_ns"]) for row in csv.DictReader(rows)), default=None)

    def clean(self, pid):
        for ring in pathlib.Path("/dev/shm").glob(f"heaprec-{pid}-*.ring"):
            ring.unlink()


class Jfr:
    name = "JFR"

    def flags(self, folder):
        return [f"-XX:StartFlightRecording=settings=default,filename={folder}/rec.jfr",
                f"-XX:FlightRecorderOptions=repository={folder}/repository", "-Xlog:jfr+startup=error"]

    def last_event_ns(self, java_home, folder):
        latest = None
        for chunk in sorted(folder.glob("repository/*/*.jfr")):
            read = subprocess.run([java_home / "bin/jfr", "print", "--events", "jdk.ObjectAllocationSample", chunk],
                                  capture_output=True, text=True)
            if read.returncode != 0:
                continue
            for clock, date in re.findall(r"startTime = ([0-9:.]+)(?: \(([0-9-]+)\))?", read.stdout):
                day = date or datetime.date.today().isoformat()
                moment = datetime.datetime.fromisoformat(f"{day} {clock}").timestamp()
                latest = max(latest or 0, int(moment * 1e9))
        return latest

    def clean(self, pid):
        pass


def start(tool, java_home, folder, err):
    command = [java_home / "bin/java", "-Xmx200m", *tool.flags(folder), HERE / "Steady.java", str(RUN_MS)]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=err, text=True)
    while process.stdout.readline().strip() not in ("running", ""):
        pass
    return process


def kill(tool, java_home, wait_s):
    """The share of the last second that is missing, and whether the file could be read."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-crash-"))
    process = start(tool, java_home, folder, subprocess.DEVNULL)
    time.sleep(wait_s)
    killed_ns = time.time_ns()
    process.send_signal(signal.SIGKILL)
    process.wait()
    last_ns = tool.last_event_ns(java_home, folder)
    tool.clean(process.pid)
    shutil.rmtree(folder)
    missing = 1.0 if last_ns is None else min(1.0, max(0.0, (killed_ns - last_ns) / 1e9))
    return missing, last_ns is not None


def fill(folder):
    with open(folder / "ballast", "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4096))
        except OSError:
            pass


def full_disk(tool, java_home):
    """What became of a JVM whose disk got full: in a word."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-crash-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], check=True)
    try:
        with tempfile.TemporaryFile() as err:
            process = start(tool, java_home, folder, err)
            time.sleep(2.5)
            fill(folder)
            out = process.stdout.read()
            process.wait()
            tool.clean(process.pid)
            return "survived" if process.returncode == 0 and "done" in out else f"exit {process.returncode}"
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


def row(tool, java_home, options):
    random.seed(1)
    kills = [kill(tool, java_home, random.uniform(3, 4)) for _ in range(options.kills)]
    missing = [share for share, _ in kills]
    disks = [full_disk(tool, java_home) for _ in range(options.disks)]
    fates = ", ".join(f"{disks.count(fate)} {fate}" for fate in sorted(set(disks)))
    refused = sum(not readable for _, readable in kills)
    return (f"{statistics.median(missing):.2f} ({min(missing):.2f} to {max(missing):.2f})", f"{refused} of {len(kills)}", fates)


def main():
    if os.geteuid() != 0:
        os.execvp("unshare", ["unshare", "-rm", sys.executable, *sys.argv])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--disks", type=int, default=3)
    parser.add_argument("--jdks", nargs="+", type=pathlib.Path, help="JAVA_HOMEs",
                        default=[pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64"),
                                 pathlib.Path.home() / ".cache/heaprec/jdks/25/home"])
    parser.add_argument("--product", type=pathlib.Path, default=HERE.parent.parent / "bazel-bin")
    options = parser.parse_args()
    print("| recorder | JDK | share of the last second missing after kill -9: median (range) | files that cannot be read | disk full: the JVM |")
    print("|---|---|---|---|---|", flush=True)
    for java_home in options.jdks:
        if not (java_home / "bin/java").exists():
            print(f"{java_home}: no JDK, left out", file=sys.stderr)
            continue
        version = re.search(r'"([^"]+)"', subprocess.run([java_home / "bin/java", "-version"], capture_output=True, text=True).stderr)
        for tool in (Heaprec(options.product), Jfr()):
            print(f"| {tool.name} | {version[1]} | " + " | ".join(row(tool, java_home, options)) + " |", flush=True)


if __name__ == "__main__":
    main()
