#!/usr/bin/env python3
"""Renews the pictures of report pages in docs/images.

usage: docs/screenshots.py HEAPREC NAME=REC.hrec[#FRAGMENT]...

For example: docs/screenshots.py bazel-bin/tools/heaprec javac=javac.hrec h2=h2.hrec#a=14-23\\&b=25-34 leak=leak.hrec#live=1
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/tools/commands"))

from browser import Browser  # noqa: E402

SIZE = (1280, 1000)


def take(heaprec, name, recording, fragment):
    page = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-pictures-")) / "report.html"
    subprocess.run([heaprec, "report", "--quiet", "-o", str(page), recording], check=True)
    with Browser(SIZE) as browser:
        browser.call("POST", "/url", {"url": page.as_uri() + ("#" + fragment if fragment else "")})
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        browser.screenshot(ROOT / f"docs/images/report-{name}.png")


def main(heaprec, wanted):
    for one in wanted:
        name, _, rest = one.partition("=")
        recording, _, fragment = rest.partition("#")
        take(heaprec, name, recording, fragment)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
