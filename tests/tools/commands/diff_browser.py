"""Drives the page of heaprec diff --html in a real browser, or prints how its boxes are coloured.

usage: diff_browser.py PAGE [FOLDER for screenshots]
       diff_browser.py --verdicts PAGE

The page is that of diff_test.cc: App.main calls Text.of (as before), Cache.fill (three times as much), HashMap.newNode
(gone) and Rare.<init> (too few samples to tell).
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import Browser, expect, holds, is_quiet, open_page, settled, state  # noqa: E402
from flame_browser import boxes, tip  # noqa: E402

MORE, LESS, SAME = "com.acme.Cache.fill", "java.util.HashMap.newNode", "com.acme.Text.of"
VERDICTS = """
const {page} = window.heaprec, {flame, tree} = page;
return flame.boxes.map(({i}) => [i, flame.shade(i)]).map(([i, {shade, sure}]) => [tree.label(i), !sure ? "same" : shade > 0 ? "more" : "less"]);
"""
HUE = """
const {flame, tree} = window.heaprec.page, i = flame.boxes.find(b => tree.label(b.i) === arguments[0]).i;
const g = document.createElement("canvas").getContext("2d");
g.fillStyle = flame.fillOf(i);
g.fillRect(0, 0, 1, 1);
return [...g.getImageData(0, 0, 1, 1).data];
"""


def tooltips(browser):
    holds("what is more", tip(browser, MORE), ("A 488 KiB, B 1.43 MiB", "change +977 KiB (+", "×3.00, q ", "50 and 150 samples"))
    holds("what is gone", tip(browser, LESS), ("B 0 B", "change −391 KiB", "gone, q ", "40 and 0 samples"))
    holds("what is the same", tip(browser, SAME), ("and 205 samples",))


def colours(browser):
    """Orange is more, blue is less, grey neither."""
    red, _, blue, _ = browser.run(HUE, MORE)
    expect("more is orange", red > blue + 40, True)
    red, _, blue, _ = browser.run(HUE, LESS)
    expect("less is blue", blue > red + 40, True)
    red, green, blue, _ = browser.run(HUE, SAME)
    expect("the same is grey", max(red, green, blue) - min(red, green, blue) <= 16, True)
    holds("the legend", browser.text("#legend"), ("less in B", "more in B", "may be noise"))


def tabs(browser):
    expect("opens with", (state(browser, "tab"), browser.text("#tab-difference")), ("difference", "Difference"))
    holds("the tab", browser.text("#document"), ("compared in total: as set by --per", "by class: 2 of 4 changed"))
    holds("the headline", browser.text("#headline"), ("+21.9 %",))
    browser.click("#tab-sites")
    settled(browser)
    holds("the heading", browser.text("#thead"), ("A", "B", "Change"))
    holds("the note", browser.text("#tablenote"), ("2 of 4 changed", "grey rows may be noise"))
    holds("the command", browser.run("return window.heaprec.commandOf(window.heaprec.page)"), ("heaprec diff --by site a.bin b.bin",))


def sides(browser):
    """The width may be that of either side: what is gone is nowhere after."""
    both = boxes(browser, MORE)[0]["width"]
    browser.run("window.heaprec.page.change({measure: 'after'})")
    settled(browser)
    expect("gone after", boxes(browser, LESS), [])
    browser.run("window.heaprec.page.change({measure: 'before'})")
    settled(browser)
    expect("before", 0 < boxes(browser, MORE)[0]["width"] < both and len(boxes(browser, LESS)), 1)
    browser.run("window.heaprec.page.change({measure: 'bytes', reverse: true})")
    settled(browser)
    expect("byte[]", len(boxes(browser, "byte[]")), 1)
    browser.run("window.heaprec.page.change({reverse: false})")
    settled(browser)


def main(page, folder=None):
    for dark in (False, True):
        with Browser(dark=dark) as browser:
            open_page(browser, page)
            for check in (tabs, colours, tooltips, sides):
                check(browser)
            if folder:
                tip(browser, MORE)
                browser.screenshot(pathlib.Path(folder) / ("diff_dark.png" if dark else "diff_light.png"))
            is_quiet(browser, but="willReadFrequently")


def verdicts(page):
    with Browser() as browser:
        open_page(browser, page)
        print("".join(f"{label} {verdict}; " for label, verdict in browser.run(VERDICTS)))


if __name__ == "__main__":
    verdicts(sys.argv[2]) if sys.argv[1] == "--verdicts" else main(*sys.argv[1:])
