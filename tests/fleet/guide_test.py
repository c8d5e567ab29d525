"""Executes the ten commands of docs/guide/fleet.md, as they stand there, with a real JVM and a real server.

Usage: guide_test.py HEAPREC GENERATE AGENT
"""

import os
import pathlib
import re
import subprocess
import sys

from support import HEAPREC, ROOT, page_data, run

COMMANDS = 10
APP = """
import java.util.ArrayList;
public class App {
  static ArrayList<byte[]> kept = new ArrayList<>();
  static void allocate() { for (int i = 0; i < 400000; i++) { kept.add(new byte[200]); if (i % 1000 == 0) kept.clear(); } }
  public static void main(String[] a) { for (int i = 0; i < 20; i++) allocate(); }
}
"""


def make_app(folder):
    java = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "bin")
    (folder / "App.java").write_text(APP)
    subprocess.run([java / "javac", "-d", folder / "classes", folder / "App.java"], check=True)
    subprocess.run([java / "jar", "cfe", folder / "app.jar", "App", "-C", folder / "classes", "."], check=True)
    return java


def test(root):
    page = (ROOT / "docs/guide/fleet.md").read_text()
    commands = re.search(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert len(commands) == COMMANDS, f"{len(commands)} commands, the page says {COMMANDS}"
    java = make_app(root)
    (root / "deploy").symlink_to(ROOT / "deploy")
    (root / "recordings").mkdir()
    (root / "bin").mkdir()
    # heaprec finds its agent beside itself.
    for name, path in (("heaprec", HEAPREC), ("libheaprec.so", sys.argv[3])):
        (root / "bin" / name).write_bytes(pathlib.Path(path).read_bytes())
        (root / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{root}/bin:{java}:{os.environ['PATH']}", "HOME": str(root)}
    script = "set -e\ntrap 'deploy/local_shards.py stop servers' EXIT\n" + "".join(
        f"echo '@{i}'\n{command}\n" for i, command in enumerate(commands))
    done = subprocess.run(["bash", "-c", script], cwd=root, env=environment, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    said = re.split(r"^@\d+\n", done.stdout, flags=re.MULTILINE)[1:]
    assert len(said) == COMMANDS
    assert "now has the tables" in said[2], said[2]
    assert "shipped 1 slice of 1 recording:" in said[4] or "shipped 2 slices of 1 recording:" in said[4], said[4]
    assert "shop 1.0" in said[5] and "App.allocate" in said[6], said[5] + said[6]
    assert "App.allocate" in page_data.header(root / "shop.html"), "the flame graph has no site"
    assert "App.allocate" in said[8], said[8]


run(test)
