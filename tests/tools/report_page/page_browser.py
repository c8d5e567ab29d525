"""Drives a page of heaprec report in a real browser: brush, zoom, search, filters, compare, keys, links, and no network.

usage: page_browser.py HEAPREC RECORDING LIVE_RECORDING PATHS_RECORDING [FOLDER for screenshots]

LIVE_RECORDING has live objects, PATHS_RECORDING also what holds them.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))

from browser import (  # noqa: E402
    BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, UP, Browser, expect, expect_true, is_quiet, open_page, settled)

SHIFT, CONTROL = "\ue008", "\ue009"


class Report:
    def __init__(self, browser, page):
        self.browser = browser
        self.page = pathlib.Path(page)

    def open(self, fragment=""):
        open_page(self.browser, self.page, "#" + fragment if fragment else "")

    def state(self, key):
        return self.browser.run("return window.heaprec.page.state[arguments[0]]", key)

    def settled(self):
        settled(self.browser)

    def act(self, script, *arguments):
        self.browser.run(script, *arguments)
        self.settled()

    def click(self, selector):
        self.browser.click(selector)
        self.settled()

    def type(self, keys):
        self.browser.type(keys)
        self.settled()

    def plot(self):
        return self.browser.run("const b = window.heaprec.page.brush.box(); return {x: b.x + b.left, y: b.y, width: b.width, heat: b.y + b.heat + 40}")

    def drag(self, begin, end, y=30, shift=False):
        """Over the tracks, in parts of their width."""
        plot = self.plot()
        x = [round(plot["x"] + part * plot["width"]) for part in (begin, (begin + end) / 2, end)]
        y = round(plot["y"] + y)
        moves = [{"type": "pointerMove", "x": place, "y": y, "duration": 0} for place in x]
        mouse = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        pause = {"type": "pause", "duration": 0}
        keys = [{"type": "keyDown", "value": SHIFT}, *[pause] * len(mouse), {"type": "keyUp", "value": SHIFT}]
        actions = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [pause, *mouse, pause] if shift else mouse}]
        if shift:
            actions.append({"type": "key", "id": "keys", "actions": keys})
        self.browser.call("POST", "/actions", {"actions": actions})
        self.settled()

    def rows(self):
        return self.browser.run("return [...document.querySelectorAll('#tbody tr[data-key] .name')].map(cell => cell.title)")

    def box(self, place=0):
        """The middle of a box of the flame graph: the `place`-th by width, without the root."""
        return self.browser.run("""
            const {flame} = window.heaprec.page, at = flame.canvas.getBoundingClientRect();
            const box = flame.boxes.filter(b => b.i > 0).sort((a, b) => b.width - a.width || a.i - b.i)[arguments[0]];
            return {i: box.i, x: at.left + box.x + box.width / 2, y: at.top + box.y + flame.row / 2, name: flame.tree.label(box.i)};
        """, place)


def brushes(report):
    expect("no range", report.state("a"), None)
    before = report.browser.text("#total")
    report.drag(0.25, 0.5)
    begin, end = report.state("a")
    expect_true("the range is where it was drawn", 0 < begin < end)
    expect_true("the total follows", report.browser.text("#total") != before)
    expect_true("a chip says so", "–" in report.browser.text("#chips"))
    report.drag(0.3, 0.4)  # from within: it moves
    moved = report.state("a")
    expect_true("the inside moves the range", moved[0] > begin and abs((moved[1] - moved[0]) - (end - begin)) < 1e-3)
    report.drag(0.8, 0.8)  # a click outside
    expect("cleared", report.state("a"), None)
    report.drag(0.1, 0.6, y=report.plot()["heat"] - report.plot()["y"])
    expect_true("the heat map can be brushed", report.state("a"))
    report.type("z")
    expect_true("z zooms", report.state("zoom"))
    report.type("z")
    expect("z zooms out", report.state("zoom"), None)
    report.type("r")
    expect("r resets", report.state("a"), None)


def filters(report):
    rows = report.rows()
    report.click("#tbody tr[data-key]")
    expect("a click filters", report.state("site"), rows[0])
    expect("its own table keeps its rows", report.rows(), rows)
    report.click("#tab-classes")
    of_site = report.rows()
    expect_true("other tables are filtered", 0 < len(of_site))
    report.click("#chips [data-clear=site]")
    expect("a chip clears", report.state("site"), None)
    expect_true("more classes without the filter", len(report.rows()) >= len(of_site))
    report.click("#tab-classes")
    report.click("#tbody tr[data-key]")
    expect_true("classes filter", report.state("cls"))
    report.click("#tbody tr[data-key]")
    expect("and a second click clears", report.state("cls"), None)
    report.click("#tab-threads")
    report.click("#tbody tr[data-key]")
    expect_true("threads filter", report.state("thread"))
    report.click("#pools")
    expect("without pools", report.state("pools"), False)
    report.click("#tbody tr[data-key]")
    expect_true("single threads filter", report.state("thread"))
    report.click("#reset")
    expect("reset", report.state("thread"), None)


def flame(report):
    browser = report.browser
    report.click("#tab-sites")
    box = report.box(5)
    browser.point(box["x"], box["y"])
    browser.wait("document.getElementById('tip').style.visibility === 'visible'")
    tip = browser.run("return document.getElementById('tip').innerText")
    expect_true(f"the tooltip has an interval: {tip!r}", " to " in tip and "%" in tip)
    browser.point(box["x"], box["y"], click=True)
    report.settled()
    expect("a click zooms", report.state("focus"), box["i"])
    expect_true("and filters", report.browser.text("#chips").startswith("under "))
    browser.run("document.getElementById('flame').focus()")
    report.type(BACKSPACE)
    expect_true("Backspace zooms out", report.state("focus") < box["i"])
    report.click("#crumbs button")
    expect("the path leads back", report.state("focus"), 0)
    # Built while nothing else was to be done.
    browser.wait("(tree => tree && tree.order !== undefined)(window.heaprec.page.trees['100'])")
    for key, name in (("v", "reverse"), ("f", "fold"), ("m", "mine"), ("i", "icicle")):
        was = report.state(name)
        report.type(key)
        expect(f"{key} switches {name}", report.state(name), not was)
        report.type(key)
        expect(f"{key} switches {name} back", report.state(name), was)
    browser.run("document.getElementById('flame').focus()")
    report.type([DOWN, DOWN, RIGHT, ENTER])
    expect_true("arrows and Enter zoom", report.state("focus") > 0)
    report.type("r")


def search(report):
    report.type("/")
    report.type("(")
    expect("a bad expression", report.browser.run("return document.getElementById('search').className"), "bad")
    report.type(ESCAPE)


def compares(report):
    report.drag(0.05, 0.45)
    report.drag(0.5, 0.95, shift=True)
    expect_true("a second range", report.state("b"))
    expect_true("the bar has the change", "/s" in report.browser.text("#total"))
    expect("columns", report.browser.run("return [...document.querySelectorAll('#thead th')].map(th => th.innerText.trim().split(' ▾')[0]).filter(Boolean)[1]"), "A /s")
    expect_true("what may be noise", "grey rows may be noise" in report.browser.text("#tablenote"))
    expect_true("q-values", report.browser.run("return window.heaprec.page.rows.all.every(row => row.q >= 0 && row.q <= 1)"))
    a, b = report.state("a"), report.state("b")
    report.type("s")
    expect("s swaps", [report.state("a"), report.state("b")], [b, a])
    report.click("#command")
    expect_true("the command compares", report.browser.run("return window.heaprec.copied").startswith("heaprec diff --window "))
    report.click("#markdown")
    expect_true("Markdown", report.browser.run("return window.heaprec.copied").startswith("| Site | A /s |"))
    report.type([ESCAPE, ESCAPE])
    expect("Esc clears one after the other", [report.state("a"), report.state("b")], [None, None])


def links(report):
    report.drag(0.2, 0.7)
    report.click("#tab-classes")
    report.click("#tbody tr[data-key]")
    box = report.box(3)
    report.browser.point(box["x"], box["y"], click=True)
    report.settled()
    report.type("d")
    fragment = report.browser.run("return location.hash.slice(1)")
    view = "return [document.getElementById('total').textContent, document.getElementById('chips').textContent, document.getElementById('tbody').textContent]"
    before = report.browser.run(view)
    report.open(fragment)
    expect("a link reproduces the view", report.browser.run(view), before)
    expect_true("with its theme", report.browser.run("return document.documentElement.dataset.theme") in ("dark", "light"))
    report.open("a=9-1&cls=nothing&tab=../../x&focus=zzz&zoom=a-b&q=%ff&theme=pink&b=")
    expect("bad fragments are ignored", [report.state(key) for key in ("a", "b", "cls", "focus", "zoom", "tab")], [None, None, None, 0, None, "sites"])


def commands(report, heaprec, recording):
    """The copied command prints the table that is shown."""
    report.open()
    report.drag(0.2, 0.7)
    report.click("#tab-classes")
    report.type("c")
    copied = report.browser.run("return window.heaprec.copied")
    expect_true(copied, copied.startswith("heaprec top --from "))
    words = copied.split()[1:-1]
    document = json.loads(subprocess.run([heaprec, *words, "--json", recording], check=True, capture_output=True).stdout)
    expect("the same rows", report.rows(), [row["name"] for row in document["tables"][0]["rows"]][:40])


def switches(report):
    """Every button and key that switches something, on and off again."""
    buttons = [("#mine", "mine", True), ("#fold", "fold", True), ("#icicle", "icicle", False), ("#f-up", "reverse", True),
               ("#f-down", "reverse", False)]
    for selector, key, wanted in buttons:
        report.click(selector)
        expect(f"{selector} sets {key}", report.state(key), wanted)
        expect(f"{selector} is in the link", f"{key}={int(wanted)}" in report.browser.run("return location.hash"),
               key == "icicle" or wanted)
        expect(f"{selector} is pressed", report.browser.run("return document.querySelector(arguments[0]).ariaPressed", selector), "true")
    report.click("#reset")
    expect("reset", [report.state(key) for key in ("mine", "fold", "reverse")], [False] * 3)
    tabs = report.browser.run("return [...document.querySelectorAll('#tabs button')].map(tab => tab.dataset.tab)")
    for place, tab in enumerate(tabs):
        report.type(str(place + 1))
        expect(f"key {place + 1}", report.state("tab"), tab)
        report.click(f"#tab-{tab}")
        expect(f"a click on {tab}", report.browser.run("return document.getElementById(arguments[0]).ariaSelected", f"tab-{tab}"), "true")
    report.type("1")
    theme = report.browser.run("return document.documentElement.dataset.theme")
    report.click("#theme")
    expect_true("the button switches the theme", report.browser.run("return document.documentElement.dataset.theme") != theme)
    report.type("d")
    expect("d switches it back", report.browser.run("return document.documentElement.dataset.theme"), theme)
    for zone in ("utc", "local", "offset"):
        report.act("const zone = document.getElementById('zone'); zone.value = arguments[0]; zone.dispatchEvent(new Event('change'))", zone)
        expect("the zone", report.state("zone"), zone)
    report.click("#help")
    expect("help", report.browser.run("return document.getElementById('keys').open"), True)
    listed = report.browser.run("return [...document.querySelectorAll('#keylist kbd')].map(key => key.textContent)")
    expect_true("all keys are listed", {"/", "m", "v", "i", "f", "l", "z", "t", "s", "c", "d", "Esc", "r", "?"} <= set(listed))
    report.browser.run("document.getElementById('keys').close()")


def tables(report):
    report.click("#tab-sites")
    by_bytes = report.rows()
    report.click("[data-sort=name]")
    expect("sorted by name", report.rows(), sorted(report.rows()))
    report.click("[data-sort=bytes]")
    expect("sorted by bytes", report.rows(), by_bytes)
    report.click("[data-all]")
    expect_true("all rows", len(report.rows()) > len(by_bytes))
    report.browser.run("document.querySelector('#tbody tr').focus()")
    report.type([DOWN, ENTER])
    expect("keys choose a row", report.state("site"), by_bytes[1])
    report.type(ENTER)
    expect("and let go of it", report.state("site"), None)
    row = report.browser.run("const at = document.querySelector('#tbody tr').getBoundingClientRect(); return [at.x + 20, at.y + 8]")
    report.browser.point(*row)
    expect_true("boxes of the row under the pointer are marked", report.browser.run("return window.heaprec.page.flame.lit >= 0"))
    report.click("#next")
    expect("the next command", report.browser.run("return window.heaprec.copied"), report.browser.run("return document.getElementById('next').dataset.copy"))


def chips(report):
    """Each part of a selection has a chip that clears it, and only it."""
    names = report.browser.run("const {model} = window.heaprec; return [model.classes.keys[0], model.siteNames[model.main.site[0]], model.pools[0]]")
    report.act("window.heaprec.page.change({a: [0.1, 0.6], b: [0.7, 1.2], cls: arguments[0][0], site: arguments[0][1], thread: arguments[0][2], focus: 1})", names)
    parts = ["a", "b", "cls", "site", "thread", "focus"]
    expect("chips", report.browser.run("return [...document.querySelectorAll('#chips [data-clear]')].map(chip => chip.dataset.clear)"), parts)
    while parts:
        cleared = parts.pop()
        report.click(f"#chips [data-clear={cleared}]")
        expect("the others stay", report.browser.run("return [...document.querySelectorAll('#chips [data-clear]')].map(chip => chip.dataset.clear)"), parts)
    expect("all is shown", report.browser.text("#chips"), "Whole recording")


def ranges(report):
    """The compare button, the edges of a range, the keys that move it, and zooming with the wheel."""
    report.click("#compare")
    report.drag(0.6, 0.9)
    b = expect_true("Compare and drag chooses B", report.state("b"))
    report.click("#compare")
    expect("and lets go of it", report.state("b"), None)
    report.drag(0.3, 0.6)
    begin, end = report.state("a")
    report.drag(0.6, 0.8)  # from its edge
    expect_true("an edge resizes", report.state("a")[0] == begin and report.state("a")[1] > end)
    report.type("t")
    before = report.state("a")
    report.type(RIGHT)
    expect_true("an arrow moves the range", report.state("a")[0] > before[0])
    plot = report.plot()
    wheel = {"type": "scroll", "x": round(plot["x"] + plot["width"] / 2), "y": round(plot["y"] + 30), "deltaX": 0, "deltaY": -240, "duration": 0}
    pause = {"type": "pause", "duration": 0}
    report.browser.call("POST", "/actions", {"actions": [
        {"type": "wheel", "id": "wheel", "actions": [pause, wheel]},
        {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": CONTROL}, pause, {"type": "keyUp", "value": CONTROL}]}]})
    report.settled()
    expect_true("Ctrl and the wheel zoom", report.browser.wait("window.heaprec.page.state.zoom"))
    report.act("document.getElementById('brush').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))")
    expect("a double click shows all", report.state("zoom"), None)
    report.type("r")


def saves(report):
    report.act("window.saved = []; HTMLAnchorElement.prototype.click = function() { window.saved.push([this.download, this.href.slice(0, 40)]); }")
    report.click("#svg")
    report.click("#png")
    (svg, at), (png, data) = report.browser.run("return window.saved")
    expect_true("names", svg.endswith("-flame.svg") and png.endswith("-flame.png"))
    expect_true("a PNG", data.startswith("data:image/png;base64,iVBORw0KGgo") and at.startswith("blob:"))
    boxes = report.browser.run("""
        const picture = new DOMParser().parseFromString(window.heaprec.saved, "image/svg+xml");
        return picture.querySelector("parsererror") ? -1 : picture.querySelectorAll("rect").length - 1;""")
    expect("boxes of the SVG", boxes, report.browser.run("const {flame} = window.heaprec.page; return flame.boxes.length"))


def lives(report):
    """What is alive, by age; and the tabs that are reports of other commands."""
    report.open()
    report.type("l")
    expect("l shows what is alive", report.state("live"), True)
    all_of_it = report.browser.run("return window.heaprec.page.sideA.total().samples")
    report.act("const age = document.getElementById('age'); age.value = age.options[1].value; age.dispatchEvent(new Event('change'))")
    age = expect_true("an age", report.state("age"))
    some = report.browser.run("return window.heaprec.page.sideA.total().samples")
    report.act("window.heaprec.page.change({a: [1, 6]})")
    for width in (1280, 2560, 500):
        report.browser.resize(width, 900)
        report.settled()
        cut = report.browser.run("const t = document.getElementById('total'); return t.scrollWidth - t.clientWidth || document.documentElement.scrollWidth - innerWidth")
        expect(f"pixels of the total that are cut at {width}", cut, 0)
        cut = report.browser.run("return [...document.querySelectorAll('.head')].map(head => head.scrollWidth - head.clientWidth)")
        expect(f"pixels of the headings that are cut at {width}", cut, [0, 0])
    report.browser.resize(1280, 900)
    report.act("window.heaprec.page.change({a: null})")
    known = report.browser.run("const s = window.heaprec.model.main; return Array.from(s.time).filter((t, i) => s.alive[i] > 0 && t <= s.end - arguments[0]).length", age)
    expect("samples of that age", some, known)
    expect_true("fewer than all", 0 < some < all_of_it)
    expect_true("in the link", f"age={age}" in report.browser.run("return location.hash"))
    report.type("c")
    expect_true("in the command", f"heaprec live --min-age {age}s" in report.browser.run("return window.heaprec.copied"))
    report.click("#chips [data-clear=age]")
    expect("a chip clears it", report.state("age"), 0)
    report.click("#m-all")
    expect("all that was allocated", report.state("live"), False)
    report.click("#tab-live")
    expect_true("survival curves", report.browser.run("return document.querySelectorAll('#document svg.curve polyline').length") > 1)
    column = "return [...document.querySelectorAll('#document table')[0].rows].slice(1).map(row => Number(row.querySelector('.number').dataset.value))"
    values = report.browser.run(column)
    report.click("#document th.number")
    expect("descending", report.browser.run(column), sorted(values, reverse=True))
    report.click("#document th.number")
    expect("ascending", report.browser.run(column), sorted(values))
    report.type("c")
    expect_true("the command of a tab", report.browser.run("return window.heaprec.copied").startswith("heaprec live "))


def paths(report):
    """The tree of what holds live objects: the heaviest path is open; clicks and arrows open and close rows."""
    opened = "return [...document.querySelectorAll('#document details')].map(one => one.open)"
    report.open("tab=paths")
    first = report.browser.run("return document.querySelector('#document .row:not(.heading) .name').textContent")
    expect("the heaviest place is first", first, "e2e.Held.sink[] (static)")
    was = report.browser.run(opened)
    expect_true(f"a row has rows below it: {was}", len(was) > 0)
    # A second one, so that there is somewhere to go.
    report.browser.run("const one = document.querySelector('#document details'); one.after(one.cloneNode(true))")
    bars = report.browser.run("return [...document.querySelectorAll('#document .tree > * .rail')].slice(1, 4).map(rail => rail.getBoundingClientRect().width)")
    expect_true(f"bars of the heaviest: {bars}", bars[0] >= bars[1] >= bars[2] > 10)
    intervals = report.browser.run("return document.querySelectorAll('#document .tree .number small').length")
    expect_true(f"intervals: {intervals}", intervals > 10)
    report.browser.run("document.querySelector('#document summary').focus()")
    report.type(RIGHT)
    expect("right opens", report.browser.run(opened)[0], True)
    report.type(LEFT)
    expect("left closes", report.browser.run(opened)[0], False)
    report.type(DOWN)
    expect("down goes to the next row", report.browser.run("return document.activeElement === document.querySelectorAll('#document summary')[1]"), True)
    inside = report.browser.run("return document.activeElement.parentElement.parentElement.matches('.tree')")
    expect("rows of a closed one are passed over", inside, True)
    report.type(UP)
    expect("up goes back", report.browser.run("return document.activeElement === document.querySelector('#document summary')"), True)
    report.type(ENTER)
    expect("Enter opens", report.browser.run(opened)[0], True)
    report.browser.click("#document summary")
    expect("a click closes", report.browser.run(opened)[0], False)
    report.type("c")
    expect_true("the command", report.browser.run("return window.heaprec.copied").startswith("heaprec paths "))
    for width in (1280, 360):
        report.browser.resize(width, 900)
        report.browser.run("for (const one of document.querySelectorAll('#document details')) one.open = true")
        report.settled()
        cut = report.browser.run("const room = document.getElementById('document').parentElement; return [room.scrollWidth - room.clientWidth,"
                                 "...[...document.querySelectorAll('#document .row')].map(row => row.scrollWidth - row.clientWidth)].filter(cut => cut > 0)")
        expect(f"what is cut at {width}", cut, [])
    report.browser.resize(1280, 1120)


def prints(report):
    """Dark pages, too, are printed in dark ink."""
    report.open()
    report.act("window.heaprec.page.theme(true)")
    theme = "document.documentElement.dataset.theme"
    expect("on the screen", report.browser.run("return " + theme), "dark")
    report.browser.run(f"addEventListener('beforeprint', () => {{ window.printed = [{theme}, getComputedStyle(document.body).color]; }})")
    report.browser.call("POST", "/print", {})
    expect("on paper", report.browser.run("return window.printed"), ["light", "rgb(26, 30, 37)"])
    expect("and then", report.browser.run("return " + theme), "dark")
    report.act("window.heaprec.page.theme(true)")


def is_sealed(report):
    is_quiet(report.browser)
    policy = report.browser.run("return document.querySelector('meta[http-equiv]').content")
    expect_true(policy, policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy)


def pictures(report, folder):
    for width, height in ((1280, 900), (2560, 1300), (400, 900)):
        report.browser.resize(width, height)
        report.open()
        report.browser.screenshot(pathlib.Path(folder) / f"report-{width}.png")


def page_of(heaprec, recording):
    page = pathlib.Path(tempfile.mkdtemp(prefix="heaprec-page-")) / "report.html"
    subprocess.run([heaprec, "report", "--quiet", "-o", str(page), recording], check=True)
    return page


def main(heaprec, recording, live_recording, paths_recording, folder=None):
    with Browser((1280, 1120)) as browser:
        report = Report(browser, page_of(heaprec, recording))
        report.open()
        for test in (brushes, filters, flame, search, compares, switches, tables, chips, ranges, saves, prints, links):
            test(report)
        commands(report, heaprec, recording)
        is_sealed(report)
        lives(Report(browser, page_of(heaprec, live_recording)))
        expect("no tab without a search", browser.run("return document.getElementById('tab-paths')"), None)
        paths(Report(browser, page_of(heaprec, paths_recording)))
        is_sealed(report)
        if folder:
            pictures(report, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
