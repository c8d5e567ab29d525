#!/usr/bin/env python3
"""Renews the pictures of report pages in docs/images: records javac, H2 and a leak, and takes a picture of each page.

usage: docs/screenshots.py HEAPREC AGENT [--only NAME] [--look FOLDER]

Needs Debian's libh2-java and chromium-driver. --look puts the pages in 1280, 2560 and 400 pixels width, light and dark,
into FOLDER instead, for a look at them.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/tools/commands"))
sys.path.insert(0, str(ROOT / "bench/cost"))

from applications import class_path, prepare_h2  # noqa: E402
from browser import Browser  # noqa: E402

SIZES = ((1280, 1150), (2560, 1440), (400, 1600))


def javac(folder):
    program = ROOT / "bench/view/Compiles.java"
    return ["timeout", "25", "java", "-Xmx128m", program, program, folder]


def h2(folder):
    prepare_h2(None, folder, rounds=4)
    return ["java", "-Xmx512m", "-cp", class_path("h2"), "org.h2.tools.RunScript", "-url", "jdbc:h2:mem:bench", "-user", "sa",
            "-script", folder / "script.sql"]


def leak(folder):
    subprocess.run(["javac", "-d", folder, ROOT / "tests/e2e/programs/Leak.java"], check=True)
    return ["java", "-Xmx512m", "-cp", folder, "e2e.Leak", "2000000", "10000", "20"]


# The program, the agent's options, and what of its page is shown.
PICTURES = {
    "javac": (javac, "rate=1000", ""),
    "h2": (h2, "rate=1000", "tab=classes"),
    "leak": (leak, "rate=500,live=on", "live=1&age=1&tab=live"),
}


def record(heaprec, agent, name, folder):
    program, options, _ = PICTURES[name]
    recording = folder / f"{name}.hrec"
    subprocess.run([heaprec, "record", "--child-jvms", "--set", options, "-o", recording, "--", *program(folder)],
                   env=dict(os.environ, HEAPREC_LIB=agent), stdout=subprocess.DEVNULL)
    return recording


def take(page, fragment, size, dark, picture):
    with Browser(size, dark) as browser:
        browser.call("POST", "/url", {"url": page.as_uri() + ("#" + fragment if fragment else "")})
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        browser.screenshot(picture)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("heaprec", type=os.path.abspath)
    options.add_argument("agent", type=os.path.abspath)
    options.add_argument("--only", choices=PICTURES)
    options.add_argument("--look", type=pathlib.Path)
    given = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-pictures-"))
    for name in [given.only] if given.only else PICTURES:
        page = folder / f"{name}.html"
        recording = record(given.heaprec, given.agent, name, folder)
        subprocess.run([given.heaprec, "report", "--quiet", "-f", "-o", str(page), recording], check=True)
        if not given.look:
            take(page, PICTURES[name][2], SIZES[0], False, ROOT / f"docs/images/report-{name}.png")
            continue
        for size in SIZES:
            for dark in (False, True):
                theme = "dark" if dark else "light"
                take(page, PICTURES[name][2], size, dark, given.look / f"{name}-{size[0]}-{theme}.png")


if __name__ == "__main__":
    main()
