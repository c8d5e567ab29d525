"""`heaprec status --format prometheus` of a real JVM: every line is of the text format, and the values are the JSON's.

Usage: prometheus_test.py HEAPREC GENERATE AGENT
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from support import DEADLINE, HEAPREC, heaprec

AGENT = str(pathlib.Path(sys.argv[3]).resolve())
APP = """
public class Busy {
  static Object kept;
  public static void main(String[] a) throws Exception {
    while (true) { for (int i = 0; i < 1000; i++) kept = new byte[1000]; Thread.sleep(1); }
  }
}
"""
NAME, LABELS = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\}'
SAMPLE = re.compile(rf"^({NAME})({LABELS})? ([-+0-9.e]+|\+Inf)$")
COMMENT = re.compile(rf"^# (?:HELP {NAME} .+|TYPE {NAME} (?:counter|gauge))$")


def samples(text):
    """Values by metric; each with a type before it."""
    assert text.endswith("\n"), "the last line must end"
    values, typed = {}, set()
    for line in text.splitlines():
        if line.startswith("#"):
            assert COMMENT.match(line), line
            typed.add(line.split()[2])
            continue
        found = SAMPLE.match(line)
        assert found and found[1] in typed, line
        values.setdefault(found[1], []).append((found[2] or "", float(found[3])))
    return values


def test(root):
    java = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "bin")
    (root / "Busy.java").write_text(APP)
    subprocess.run([java / "javac", "-d", root, root / "Busy.java"], check=True)
    environment = {**os.environ, "OTEL_SERVICE_NAME": 'sh"op\\', "OTEL_RESOURCE_ATTRIBUTES": "service.version=1.0"}
    jvm = subprocess.Popen([java / "java", f"-agentpath:{AGENT}=file={root}/busy.hrec", "-cp", root, "Busy"],
                           env=environment)
    try:
        deadline = time.monotonic() + DEADLINE
        while True:
            # It fails as long as the JVM starts.
            asked = subprocess.run([HEAPREC, "status", str(jvm.pid), "--json"], capture_output=True, check=False)
            status = json.loads(asked.stdout) if asked.returncode == 0 else {"recording": None}
            if status["recording"] and status["recording"]["written"] > 0:
                break
            assert time.monotonic() < deadline and jvm.poll() is None, asked
            time.sleep(0.2)
        one = samples(heaprec("status", jvm.pid, "--format", "prometheus"))
        (labels, allocated), = one["heaprec_allocated_bytes_total"]
        assert allocated >= status["recording"]["allocated_bytes"] > 0
        assert f'pid="{jvm.pid}",main="Busy",service="sh\\"op\\\\",version="1.0"' in labels, labels
        assert one["heaprec_samples_lost_total"] == [(labels, 0)] and one["heaprec_rate_limit"] == [(labels, 150)]
        assert one["heaprec_full_seconds"] == [(labels, float("inf"))]  # it does not grow
        heaprec("status", "--format", "prometheus", "-o", root / "heaprec.prom")
        assert "exists" in heaprec("status", "--format", "prometheus", "-o", root / "heaprec.prom", code=6)
        heaprec("status", "--format", "prometheus", "-o", root / "heaprec.prom", "-f")
        every = samples((root / "heaprec.prom").read_text())
        assert labels in dict(every["heaprec_allocated_bytes_total"])
        assert sorted(path.name for path in root.glob("heaprec.prom*")) == ["heaprec.prom"]
        assert "needs a JVM" in heaprec("status", code=2)
    finally:
        jvm.kill()
        jvm.wait()


with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as name:
    test(pathlib.Path(name))
print("passed")
