"""Tracks of the process, marks of OutOfMemoryErrors, both sides of a comparison, and what fits into the window.

usage: tracks_browser.py HEAPREC ONE TWO     recordings with states, exceptions, live objects and native memory
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))

from browser import Browser, expect, expect_true, is_quiet, open_page, settled  # noqa: E402


def written(name, *command):
    page = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-tracks-")) / name
    subprocess.run([word.replace("PAGE", str(page)) for word in command], check=True, capture_output=True)
    return page


def change(browser, patch):
    browser.run("window.heaprec.page.change(arguments[0])", patch)
    settled(browser)


def one_recording(browser, page):
    open_page(browser, page)
    counts = browser.run("const {rss, threads, native, committed, errors} = window.heaprec.page.tracks;"
                         "return [rss, threads, native, committed].map(s => s.length > 1).concat(errors.length)")
    expect("RSS, threads, native live, committed heap; OutOfMemoryErrors", counts, [True] * 4 + [2])
    expect("their tracks are shown", browser.run("return ['t-memory', 't-threads'].map(id => document.getElementById(id).hidden)"), [False, False])
    said = browser.text("#g-heap")
    expect_true(f"the heap's gutter: {said!r}", "2 OutOfMemoryErrors" in said and "last tenth" in said)
    expect("a method keeps its class", browser.run("return window.heaprec.page.tree.short.includes('index_jsp._jspService')"), True)
    expect("own code is none of the server's", browser.run("return window.heaprec.model.own"), ["org.apache.jsp"])


def tables_fit(browser, page):
    for width in (1440, 1000):
        browser.resize(width, 1000)
        for tab in ("leaks", "native", "live"):
            open_page(browser, page, f"#tab={tab}")
            sizes = browser.run("const room = document.getElementById('document').parentElement; return [room.scrollWidth, room.clientWidth]")
            expect_true(f"{tab} at {width} px: {sizes[0]} px of content in {sizes[1]} px", sizes[0] <= sizes[1])


def stands_on_its_root(browser, page):
    browser.resize(1280, 800)
    open_page(browser, page, "#view=flame&icicle=0")
    away = "const room = document.getElementById('flamescroll'); return [room.scrollHeight - room.clientHeight, room.scrollHeight - room.clientHeight - room.scrollTop]"
    high, above = browser.run(away)
    expect_true(f"the graph is higher than its room: {high}", high > 100)
    expect("it opens at its root", above < 2, True)
    browser.run("document.getElementById('flamescroll').scrollTop = 0")
    change(browser, {"focus": browser.run("const {tree} = window.heaprec.page; return tree.path(tree.depth.indexOf(20))[20]")})
    expect("a zoomed frame is seen from its root", browser.run(away)[1] < 2, True)


def two_recordings(browser, page):
    open_page(browser, page)
    headline, rest = browser.text("#headline"), browser.text("#sentences")
    expect_true(f"both sides have their headline: {headline!r}, {rest!r}", all(of in headline for of in (" before", " after")) and all(f"{side} trustworthy: " in rest for side in "AB"))
    rows = browser.run("return window.heaprec.page.tracks.allocation().filter(row => row[3] > 0 && row[1] > 0).length")
    expect_true(f"rows with the rates of both sides: {rows}", rows > 1)
    expect("the heap of the other", browser.run("return window.heaprec.page.tracks.other.heap.length > 1"), True)


def difference(browser, page):
    open_page(browser, page, "#tab=difference")
    said = browser.text("#document")
    expect_true(f"no options in a page: {said!r}", "more" in said and "--" not in said)


def main(heaprec, one, two):
    single = written("one.html", heaprec, "report", "-q", "-o", "PAGE", one)
    with Browser((1440, 1000)) as browser:
        one_recording(browser, single)
        tables_fit(browser, single)
        stands_on_its_root(browser, single)
        two_recordings(browser, written("two.html", heaprec, "report", "-q", "-o", "PAGE", one, two))
        difference(browser, written("diff.html", heaprec, "diff", "--html", "PAGE", one, two))
        is_quiet(browser)


if __name__ == "__main__":
    main(*sys.argv[1:])
