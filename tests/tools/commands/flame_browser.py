"""Drives the pages of heaprec flame in a real browser: what they hold with each option, and what a reader does with them.

usage: flame_browser.py HEAPREC RECORDING EMPTY [FOLDER for screenshots]

RECORDING is that of flame_test.cc: App.main calls App.work, which calls Step0 ... Step9, which call HashMap.put (Step3 by
way of HashMap.resize) for byte[] or String; in place of Step7 stands a name with markup in it. EMPTY has no sample.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import (  # noqa: E402
    BACKSPACE, DOWN, ENTER, ESCAPE, READY, RIGHT, UP, Browser, expect, holds, is_quiet, open_page, settled, state)

HOSTILE = "p.Evil.</script><img src=x onerror=alert(1)>"
MAIN, WORK, STEP, RESIZE, PUT = ("com.acme.App.main", "com.acme.App.work", "com.acme.Step{}.run", "java.util.HashMap.resize",
                                 "java.util.HashMap.put")
BOXES = """
const {page} = window.heaprec, {flame, tree} = page, at = flame.canvas.getBoundingClientRect();
return flame.boxes.filter(b => arguments[0] === null || tree.label(b.i) === arguments[0]).map(b => ({label: tree.label(b.i),
  depth: tree.depth[b.i], value: flame.w(b.i), x: at.left + b.x, y: at.top + b.y, width: b.width}));
"""


def boxes(browser, label=None):
    return browser.run(BOXES, label)


def labels(browser):
    return [(box["depth"], box["label"], round(box["value"])) for box in boxes(browser)]


def point(browser, label, click=False):
    box = boxes(browser, label)[0]
    browser.point(box["x"] + min(box["width"] / 2, 40), box["y"] + 8, click=click)
    settled(browser)


def tip(browser, label):
    point(browser, label)
    browser.wait("document.getElementById('tip').style.visibility === 'visible' && document.querySelector('#tip b').textContent !== ''")
    return browser.run("return document.getElementById('tip').innerText")


def press(browser, keys):
    browser.type(keys)
    settled(browser)


class Pages:
    """Of the recording, each made once."""

    def __init__(self, heaprec, recording):
        self.heaprec, self.recording = heaprec, recording
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-flame-"))

    def of(self, *options, recordings=None, standard_input=None):
        page = self.folder / f"{len(list(self.folder.iterdir()))}.html"
        subprocess.run([self.heaprec, "flame", "-q", "-o", str(page), *options, *(recordings or [self.recording])], check=True,
                       stdin=standard_input)
        return page


def holds_all_boxes(browser, pages):
    open_page(browser, pages.of("--title", "My app"))
    expect("view", (state(browser, "view"), browser.text("#file")), ("flame", "My app"))
    shown = labels(browser)
    for box in ((0, "all", 1_000_000), (1, MAIN, 1_000_000), (2, WORK, 1_000_000), (3, STEP.format(0), 550_000), (4, PUT, 550_000),
                (5, "byte[]", 550_000), (4, RESIZE, 50_000), (3, HOSTILE, 50_000)):
        if box not in shown:
            raise AssertionError(f"{box} is not in {shown}")
    holds("the headline", browser.text("#headline"), ("HashMap.put allocates most: 95.0 %",))
    browser.run("window.heaprec.page.change({view: ''})")
    settled(browser)
    expect("the whole report is behind it", browser.run("return document.getElementById('tracks').offsetHeight > 0"), True)


def takes_options(browser, pages):
    """Filters, hidden frames, orders, bounds, several recordings, standard input."""
    open_page(browser, pages.of("--focus", "resize", "--hide", "App", "--no-classes"))
    expect("filtered", labels(browser), [(0, "all", 50_000), (1, STEP.format(3), 50_000), (2, RESIZE, 50_000), (3, PUT, 50_000)])
    holds("the chip", browser.text("#chips"), ("--focus resize --hide App",))
    holds("the command", browser.run("return window.heaprec.commandOf(window.heaprec.page)"), ("--focus resize --hide App",))
    open_page(browser, pages.of("--reverse", "--lines", "--icicle"))
    expect("reversed", [label for depth, label, _ in labels(browser) if depth == 1], ["byte[]", "java.lang.String", "p.<b>Evil<.b>"])
    expect("with lines", len(boxes(browser, STEP.format(0) + ":12")), 1)
    expect("root at the top", boxes(browser, "all")[0]["y"] < boxes(browser, "byte[]")[0]["y"], True)
    open_page(browser, pages.of("--min-share", "40%", "--no-classes"))
    expect("large ones", [label for _, label, _ in labels(browser)], ["all", MAIN, WORK, STEP.format(0), PUT])
    open_page(browser, pages.of("--limit", "3"))
    expect("the three largest", [label for _, label, _ in labels(browser)], ["all", MAIN, WORK])
    open_page(browser, pages.of("--class", "byte[]", "--from", "0.5s"))
    expect("opens with the span", state(browser, "a")[0], 0.5)
    expect("of one class", {label for depth, label, _ in labels(browser) if depth == 5}, {"byte[]"})
    open_page(browser, pages.of(recordings=[pages.recording, pages.recording]))
    expect("added up", labels(browser)[0], (0, "all", 2_000_000))
    expect("one after the other", browser.run("return window.heaprec.model.main.end"), 4)
    with open(pages.recording, "rb") as recording:
        open_page(browser, pages.of(recordings=["-"], standard_input=recording))
    expect("of standard input", labels(browser)[0], (0, "all", 1_000_000))


def tells(browser):
    holds("the tooltip", tip(browser, STEP.format(0)), ("Step0.run", "com.acme, compiled", "537 KiB (", "55.0 % (", " to ", "objects", "of its caller, 55 samples"))
    holds("an inlined frame", tip(browser, PUT), ("java.util, inlined into its caller",))
    holds("an interpreted frame", tip(browser, MAIN), ("interpreted",))
    expect("a hostile name", (tip(browser, HOSTILE).split("\n")[0], browser.run("return document.querySelectorAll('img, #tip b img').length")),
           ("Evil.</script><img src=x onerror=alert(1)>", 0))
    browser.point(5, 5)
    browser.wait("document.getElementById('tip').style.visibility === 'hidden'")


def searches(browser):
    browser.type("/")
    press(browser, "hashmap")
    # Step3 has a match within a match: counted once. The hostile twentieth is not matched.
    holds("the share", browser.text(".found"), ("matches 95.0 %",))
    press(browser, ENTER + ESCAPE)
    expect("after Esc", browser.run("return document.querySelector('.found')"), None)
    browser.type("/")
    press(browser, "Step[03].run")
    holds("by expression", browser.text(".found"), ("matches 60.0 %",))
    browser.run("document.activeElement.blur()")
    press(browser, "n")
    first = browser.run("return window.heaprec.page.flame.marked")
    press(browser, "y")
    expect("the first match", browser.run("return window.heaprec.copied"), STEP.format(0))
    press(browser, "n")
    expect("the next", browser.run("return window.heaprec.page.flame.marked") > first, True)
    press(browser, "N")
    expect("and back", browser.run("return window.heaprec.page.flame.marked"), first)
    press(browser, "Y")
    expect("its stack", browser.run("return window.heaprec.copied"), ";".join((MAIN, WORK, STEP.format(0))))
    press(browser, ESCAPE)


def zooms(browser):
    whole = boxes(browser, "all")[0]["width"]
    point(browser, STEP.format(3), click=True)
    expect("width", boxes(browser, STEP.format(3))[0]["width"], whole)
    expect("others", boxes(browser, STEP.format(0)), [])
    point(browser, RESIZE, click=True)
    browser.run("document.getElementById('flame').focus()")
    press(browser, BACKSPACE)
    expect("back", boxes(browser, STEP.format(3))[0]["width"], whole)
    press(browser, ESCAPE)
    expect("out", len(boxes(browser, STEP.format(0))), 1)


def walks(browser):
    """The root of a flame is at the bottom: up is towards the leaves."""
    browser.run("document.getElementById('flame').focus()")
    press(browser, UP + UP + UP)
    expect("two above the root", browser.run("const {page} = window.heaprec; return page.tree.label(page.flame.marked)"), WORK)
    press(browser, UP + RIGHT)
    expect("beside the largest", browser.run("const {page} = window.heaprec; return page.tree.label(page.flame.marked)") != STEP.format(0), True)
    press(browser, DOWN + "y")
    expect("copied", browser.run("return window.heaprec.copied"), WORK)


def measures(browser):
    browser.run("window.heaprec.page.change({measure: 'samples'})")
    settled(browser)
    expect("samples", boxes(browser, STEP.format(0))[0]["value"], 55)
    browser.run("window.heaprec.page.change({measure: 'objects'})")
    settled(browser)
    expect("objects", boxes(browser, "all")[0]["value"] > 100, True)
    browser.run("window.heaprec.page.change({measure: 'bytes', colours: 'code'})")
    settled(browser)
    expect("legend", browser.text("#legend"), "not knowninterpretedcompiledinlinednativewhat ran most of the bytes")
    ink = browser.run("const {flame, tree} = window.heaprec.page; return flame.boxes.map(b => [tree.label(b.i), flame.fillOf(b.i)])")
    expect("three colours", len({dict(ink)[label] for label in (MAIN, STEP.format(0), PUT)}), 3)
    browser.run("window.heaprec.page.change({colours: 'package'})")
    settled(browser)


def stands(browser):
    """The ground of a flame is seen in a low window, too, and stays when the window grows."""
    def from_ground():
        return browser.run("return document.getElementById('flamescroll').getBoundingClientRect().bottom") - boxes(browser, "all")[0]["y"]
    root = from_ground()
    for height in (430, 800):
        browser.resize(1280, height)
        browser.wait("document.documentElement.clientHeight > 0 && " + READY)
        expect(f"root at {height}", abs(from_ground() - root) <= 1, True)


def main(heaprec, recording, empty, folder=None):
    pages = Pages(heaprec, recording)
    with Browser() as browser:
        holds_all_boxes(browser, pages)
        takes_options(browser, pages)
        open_page(browser, pages.of(recordings=[empty]))
        expect("nothing", labels(browser), [])
        page = pages.of()
        open_page(browser, page)
        for check in (tells, searches, zooms, walks, measures, stands):
            check(browser)
            browser.point(5, 5)
        if folder:
            browser.screenshot(pathlib.Path(folder) / "flame.png")
        is_quiet(browser)


if __name__ == "__main__":
    main(*sys.argv[1:])
