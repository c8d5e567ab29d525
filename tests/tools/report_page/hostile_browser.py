"""Names with markup, quotes, 64 kB and right-to-left text are harmless in pages of heaprec report and flame.

usage: hostile_browser.py HEAPREC RECORDING

The recording is that of report_page_test.cc.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))

from browser import Browser, is_quiet, open_page, settled  # noqa: E402

NAME = "alert(1)"
REPORTS = ("why", "advice", "live", "leaks", "paths", "census", "native", "exceptions")
TABS = ("sites", "classes", "threads", *REPORTS, "trust", "facts")


def main(heaprec, recording):
    page = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-hostile-")) / "report.html"
    subprocess.run([heaprec, "report", "--quiet", "--title", "</title><script>alert(1)</script>", "-o", str(page), recording], check=True)
    with Browser() as browser:
        tabs = [f"tab={tab}" for tab in TABS]
        for fragment in ("", *tabs, "mine=1&reverse=1", "live=1&age=0.2", "q=<script>", "cls=<img src=x>&site='%22"):
            open_page(browser, page, "#" + fragment)
            planted = browser.run("return document.querySelectorAll('img, iframe, object, body script:not([id]) ~ b script').length")
            if planted:
                raise AssertionError(f"#{fragment}: {planted} elements came out of names")
            if fragment in tabs:
                tab = browser.run("return window.heaprec.page.state.tab")
                if tab != fragment[4:]:
                    raise AssertionError(f"{fragment} is not there; the page shows {tab}")
                shown = browser.run("return document.querySelector('#tablepanel .scroll').innerText")
                drawn = browser.run("return ['polygon', '.m-limit', '.m-error', '.m-end'].map(of => "
                                    "document.querySelectorAll(`svg.memory svg ${of}`).length)")
                if fragment == "tab=why" and drawn != [1, 1, 1, 1]:
                    raise AssertionError(f"the picture of memory has layers, limits, errors and ends: {drawn}")
                if fragment[4:] in REPORTS and NAME not in shown:
                    raise AssertionError(f"#{fragment}: the name is not shown as it is: {shown[:300]}")
            width = browser.run("return document.documentElement.scrollWidth - innerWidth")
            if width > 0:
                raise AssertionError(f"#{fragment}: a long name makes the page {width} pixels too wide")
        for options, samples in ((("--kind", "exception"), 20), (("--kind", "malloc"), 20), (("--live", "--min-age", "0s"), 400),
                                 (("--class", "/Quotes/", "--lines"), 80)):
            flame = page.with_name("flame.html")
            subprocess.run([heaprec, "flame", "--quiet", "-f", "-o", str(flame), *options, recording], check=True)
            for fragment in ("", "#tab=sites"):
                open_page(browser, flame, fragment)
                shown = browser.run("return [window.heaprec.page.sideA.total().samples, document.querySelectorAll('img, iframe').length]")
                if shown != [samples, 0]:
                    raise AssertionError(f"flame {options}{fragment}: samples and planted elements: {shown}")
        browser.run("for (const box of window.heaprec.page.flame.boxes) window.heaprec.page.change({focus: box.i})")
        settled(browser)
        is_quiet(browser)


if __name__ == "__main__":
    main(*sys.argv[1:])
