"""Drives the page of heaprec diff --html in a real browser. usage: diff_browser.py PAGE [FOLDER for screenshots]

The page is that of diff_test.cc: App.main calls Text.of (as before), Cache.fill (three times as much), HashMap.newNode
(gone) and Rare.<init> (too few samples to tell).
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import ESCAPE, Browser  # noqa: E402
from flame_browser import boxes, colour, expect, middle, width, zoomed  # noqa: E402

MORE, LESS, SAME = "com.acme.Cache.fill", "java.util.HashMap.newNode", "com.acme.Text.of"


def holds(what, text, parts):
    for part in parts:
        if part not in text:
            raise AssertionError(f"{part!r} is not in {what}: {text!r}")


def told(browser, label):
    browser.point(*middle(browser, label))
    browser.wait("document.querySelector('#tooltip b').textContent === given[0]", label)
    return browser.run("return document.getElementById('tooltip').innerText")


def tooltips(browser):
    holds("what is more", told(browser, MORE), ("\nmore\n", "before\t48.8 KiB/s\t", "after\t146.5 KiB/s\t", "change\t+97.7 KiB/s\t+",
                                                "ratio\t× 3.00\t", "p-value\t", "samples before\t50", "samples after\t150"))
    holds("what is gone", told(browser, LESS), ("\ngone: no sample after\n", "change\t-39.1 KiB/s", "samples after\t0"))
    holds("what is the same", told(browser, SAME), ("\nnot shown to differ\n", "samples after\t205"))
    browser.point(5, 5)
    browser.wait("document.getElementById('tooltip').hidden")


def colours(browser, dark):
    """Red is more, blue is less, grey neither."""
    red, _, blue, _ = colour(browser, MORE)
    if red < blue + 40:
        raise AssertionError(f"more is not red: {red}, {blue}")
    red, _, blue, _ = colour(browser, LESS)
    if blue < red + 40:
        raise AssertionError(f"less is not blue: {red}, {blue}")
    red, green, blue, _ = colour(browser, SAME)
    if max(red, green, blue) - min(red, green, blue) > 16 or (red > 128) == dark:
        raise AssertionError(f"what is the same is not grey: {red}, {green}, {blue}")
    expect("legend", browser.run("return [...document.querySelectorAll('#legend > span')].map((one) => one.textContent)"),
           ["more, or new", "less, or gone", "not shown to differ"])


def searches(browser):
    browser.type("/")
    browser.type("hashmap")
    # Of both sides together: 40 of 648 samples, before alone.
    expect("share", browser.text("#matched"), "6.17 % in 2 boxes")
    browser.type(ESCAPE)
    expect("after Esc", browser.text("#matched"), "")


def zooms(browser):
    all_of_it = width(browser, "all")
    browser.point(*middle(browser, MORE), click=True)
    zoomed(browser, MORE)
    expect("width", width(browser, MORE), all_of_it)
    expect("others", boxes(browser, SAME), [])
    browser.type(ESCAPE)
    zoomed(browser, "all")


def sides(browser):
    """The width may be that of either side: what is gone is nowhere after."""
    both = width(browser, MORE)
    browser.click("[data-measure=after]")
    expect("gone after", boxes(browser, LESS), [])
    browser.click("[data-measure=before]")
    before = width(browser, MORE)
    if not 0 < before < both or not boxes(browser, LESS):
        raise AssertionError(f"before: {before} of {both} pixels, {boxes(browser, LESS)}")
    browser.click("[data-measure=both]")
    browser.click("[data-tree=callers]")
    expect("byte[]", len(boxes(browser, "byte[]")), 1)
    browser.click("[data-tree=callees]")


def main(page, folder=None):
    address = pathlib.Path(page).resolve().as_uri()
    for dark in (False, True):
        with Browser(dark=dark) as browser:
            browser.open(page)
            browser.wait("globalThis.flame && !flame.waiting")
            colours(browser, dark)
            for check in (tooltips, searches, zooms, sides):
                check(browser)
            if folder:
                told(browser, MORE)
                browser.screenshot(pathlib.Path(folder) / ("diff_dark.png" if dark else "diff_light.png"))
            expect("asked for", browser.requests(), [address])
            expect("complaints", [line for line in browser.complaints() if "willReadFrequently" not in line], [])


if __name__ == "__main__":
    main(*sys.argv[1:])
