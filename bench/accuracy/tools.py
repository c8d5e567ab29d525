"""The tools that are compared: how each is switched on, and what it says afterwards."""

import collections
import csv
import hashlib
import json
import os
import subprocess

from metrics import Row, Sample, Told

SITES = "workloads.Sites"

# start_ns: begin of the recording, since 1970. notes: what else is worth keeping. told: the tool's own intervals, if it tells any.
Recording = collections.namedtuple("Recording", "start_ns samples file_bytes notes told", defaults=[None])

JFC = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="accuracy" description="allocation samples and nothing else" provider="bench">
  <event name="jdk.ObjectAllocationSample">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
    <setting name="throttle">{rate}/s</setting>
  </event>
  <event name="jdk.ActiveRecording"><setting name="enabled">true</setting></event>
</configuration>
"""


def output_of(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout


class Nothing:
    """No tool: the workload checks itself."""

    name = key = "none"

    def flags(self, folder):
        return []

    def read(self, folder):
        return Recording(0, [], 0, {})


class Heaprec:
    name = "heaprec"

    def __init__(self, agent, command, rate):
        self.agent, self.command, self.rate = agent, command, rate
        with open(agent, "rb") as f:
            self.key = "heaprec-" + hashlib.sha256(f.read()).hexdigest()[:8]

    def flags(self, folder):
        return [f"-agentpath:{self.agent}=file={folder}/rec.hrec,rate={self.rate}/s"]

    def read(self, folder):
        recording = f"{folder}/rec.hrec"
        summary = json.loads(output_of([self.command, "summary", "--json", recording]))
        rows = output_of([self.command, "export", "--format", "csv", recording]).splitlines()
        samples = [self.sample(row) for row in csv.DictReader(rows)]
        notes = {k: summary[k] for k in ("trustworthy", "reasons", "losses", "allocated_bytes", "max_in_interval")}
        notes["estimated_bytes"] = summary["estimates"]["bytes_uncalibrated"]["value"]
        notes["source"] = summary["recording"]["source"]
        return Recording(summary["recording"]["start_ns"], samples, os.path.getsize(recording), notes, self.told(recording, summary))

    def told(self, recording, summary):
        unseen = self.ends(summary["detection_limit"])
        total = summary["estimates"]["bytes_uncalibrated"]
        classes = self.rows(recording, "--by", "class", "--site", f"{SITES}*")
        return Told(self.rows(recording, "--by", "site"), classes, unseen, (total["low"], total["high"]), summary["allocated_bytes"])

    def rows(self, recording, *question):
        """Of the command's table, whole: {name: Row}."""
        answer = json.loads(output_of([self.command, "top", "--json", "--limit", "0", *question, recording]))
        return {row["name"]: Row(row["points"], row["bytes"]["value"], self.ends(row)) for row in answer["tables"][0]["rows"]}

    @staticmethod
    def ends(row):
        # The detection limit has no mean size.
        return {figure: (row[figure]["low"], row[figure]["high"]) for figure in ("bytes", "share", "objects", "mean_size") if figure in row}

    @staticmethod
    def sample(row):
        frames = (f for f in reversed(row["stack"].split(";")) if f.startswith(SITES))
        site = next(frames, "").split(":")[0] or None
        return Sample(int(row["time_ns"]), site, row["class"], float(row["weight_bytes"]), int(row["size"]))


class JfrFile:
    """Tools that write JFR files, read by readers/JfrSamples.java."""

    def __init__(self, java, classes):
        self.java, self.classes = java, classes

    def read(self, folder):
        recording = f"{folder}/rec.jfr"
        lines = output_of([f"{self.java}/bin/java", "-Xmx2g", "-cp", self.classes, "readers.JfrSamples", recording, SITES]).splitlines()
        starts = [int(line[6:]) for line in lines if line.startswith("start,")]
        samples = []
        for line in lines:
            if not line.startswith("start,"):
                time, site, name, weight = line.split(",")
                samples.append(Sample(int(time), site or None, name, float(weight), None))
        start = min(starts or [s.time_ns for s in samples], default=0)
        return Recording(start, samples, os.path.getsize(recording), {})


class Jfr(JfrFile):
    name = key = "jfr"

    def __init__(self, java, classes, rate):
        super().__init__(java, classes)
        self.rate = rate

    def flags(self, folder):
        with open(f"{folder}/rate.jfc", "w") as f:
            f.write(JFC.format(rate=self.rate))
        return [f"-XX:StartFlightRecording=settings={folder}/rate.jfc,filename={folder}/rec.jfr,dumponexit=true",
                f"-XX:FlightRecorderOptions=repository={folder}/repository", "-Xlog:jfr*=error", "-Xlog:jfr+startup=error"]


class Async(JfrFile):
    """async-profiler. It has no rate: an interval in bytes, by default its own."""

    name = key = "async"

    def __init__(self, java, classes, library, interval):
        super().__init__(java, classes)
        self.shared_object, self.interval = library, interval

    def flags(self, folder):
        return [f"-agentpath:{self.shared_object}=start,event=alloc,alloc={self.interval},jfr,file={folder}/rec.jfr"]
