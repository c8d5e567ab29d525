"""Looks at the page of heaprec timeline --html in a real browser. usage: timeline_browser.py PAGE [FOLDER for screenshots]

The page is that of timeline_test.cc: ten seconds, the fifth with nine times as much, a collection in the seventh.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import Browser, expect, holds, is_quiet, open_page, settled, state  # noqa: E402

STEPS = 10


def under_pointer(browser, second):
    """What the gutter says of a time that is pointed at."""
    plot = browser.run("const b = window.heaprec.page.brush.box(); return {x: b.x + b.left, y: b.y, width: b.width}")
    browser.point(plot["x"] + (second + 0.5) / STEPS * plot["width"], plot["y"] + 60)
    return browser.text("#g-alloc") + "\n" + browser.text("#g-heap")


def tells(browser):
    expect("opens with", (state(browser, "view"), state(browser, "tab")), ("timeline", "timeline"))
    expect("no flame graph", browser.run("return document.getElementById('flamepanel').offsetHeight"), 0)
    holds("the fifth second", under_pointer(browser, 4), ("4.50 s 197 KiB/s",))
    browser.run("""const {tracks} = window.heaprec.page, b = window.heaprec.page.brush.box(), view = window.heaprec.page.view();
        window.pauseAt = b.x + b.left + (tracks.pauses[0].begin - view.from) / (view.to - view.from) * b.width""")
    browser.point(browser.run("return window.pauseAt"), 300)
    holds("the collection", browser.text("#g-heap"), ("5.00 MiB", "3.00 ms"))


def lists_curves(browser):
    rows = browser.run("return [...document.querySelectorAll('#document tbody tr')].map(row => row.textContent)")
    holds("the curves", "|".join(rows), ("all, bytes/s197 KiB/s", "java.lang.String",  "[I<>&", "heap used", "GC pauses"))
    expect("drawn", browser.run("return document.querySelectorAll('#document tbody svg').length >= 5"), True)


def brushes(browser):
    browser.run("window.heaprec.page.change({a: [4, 5], tab: 'classes'})")
    settled(browser)
    holds("the total", browser.text("#total"), ("of the recording", "197 KiB/s"))
    expect("classes", browser.run("return document.querySelectorAll('#tbody tr').length"), 2)
    browser.click("#whole")
    settled(browser)
    expect("the whole report", browser.run("return document.getElementById('flamepanel').offsetHeight > 0"), True)


def main(page, folder=None):
    for dark in (False, True):
        with Browser(size=(1000, 760), dark=dark) as browser:
            open_page(browser, page)
            expect("theme", browser.run("return document.documentElement.dataset.theme"), "dark" if dark else "light")
            tells(browser)
            lists_curves(browser)
            expect("too wide", browser.run("return document.documentElement.scrollWidth > innerWidth"), False)
            if folder:
                browser.screenshot(pathlib.Path(folder) / ("timeline_dark.png" if dark else "timeline_light.png"))
            brushes(browser)
            is_quiet(browser)


if __name__ == "__main__":
    main(*sys.argv[1:])
