"""Drives a page of heaprec flame in a real browser. usage: flame_browser.py PAGE [FOLDER for screenshots]

The page is that of flame_test.cc: App.main calls App.work, which calls Step0 ... Step9, which call HashMap.put (Step3 by
way of HashMap.resize) for byte[] or String; in place of Step7 stands a name with markup in it.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import BACKSPACE, DOWN, ENTER, ESCAPE, RIGHT, UP, Browser  # noqa: E402

HOSTILE = "p.Evil.</script><img src=x onerror=alert(1)>"


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def boxes(browser, label):
    return browser.run("return flame.locate(arguments[0])", label)


def middle(browser, label):
    box = boxes(browser, label)[0]
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def width(browser, label):
    return browser.wait("!flame.waiting && (flame.locate(given[0])[0] || {width: -1}).width + 1", label) - 1


def zoomed(browser, label):
    """Once the boxes have stopped to glide."""
    return browser.wait("flame.view.from === flame.view.layout.start[flame.view.zoomed] && "
                        "flame.view.to === flame.view.from + flame.view.layout.width[flame.view.zoomed] && "
                        "flame.tree.label(flame.view.zoomed) === given[0]", label)


def colour(browser, label):
    """Of the pixel at the right end of a box, where no text is."""
    return browser.wait("""(() => {
        const box = flame.locate(given[0])[0], canvas = document.getElementById("canvas");
        const ratio = canvas.width / canvas.clientWidth, at = canvas.getBoundingClientRect();
        return [...canvas.getContext("2d").getImageData((box.x + box.width - 5 - at.x) * ratio, (box.y + 9 - at.y) * ratio,
                                                        1, 1).data];
    })()""", label)


def tooltips(browser):
    browser.point(*middle(browser, "com.acme.Step0.run"))
    browser.wait("!document.getElementById('tooltip').hidden")
    text = browser.run("return document.getElementById('tooltip').innerText")
    for part in ("com.acme.Step0.run", "application", "bytes\t537.1 KiB\t", "share\t55.0 %\t", "samples\t55", " to "):
        if part not in text:
            raise AssertionError(f"{part!r} is not in the tooltip: {text!r}")
    browser.point(5, 5)
    browser.wait("document.getElementById('tooltip').hidden")


def searches(browser):
    plain = colour(browser, "com.acme.Step3.run")
    browser.type("/")
    browser.type("hashmap")
    # Step3 has a match within a match: counted once. The hostile twentieth is not matched.
    expect("share", browser.text("#matched"), "95.0 % in 10 boxes")
    browser.type(ESCAPE)
    expect("after Esc", browser.text("#matched"), "")
    browser.type("/")
    browser.type("/Step[03]\\.run$/")
    expect("by expression", browser.text("#matched"), "60.0 % in 2 boxes")
    browser.wait("!flame.waiting")
    if colour(browser, "com.acme.Step3.run") == plain:
        raise AssertionError("a match is not highlighted")
    browser.type(ENTER)
    browser.type("n")
    if "com.acme.Step" not in browser.text("#status"):
        raise AssertionError("n does not go to a match: " + browser.text("#status"))
    browser.type("/")
    browser.type("/(/")
    expect("bad expression", browser.text("#matched"), "no regular expression")
    browser.type(ESCAPE)


def zooms(browser):
    all_of_it = width(browser, "all")
    browser.point(*middle(browser, "com.acme.Step3.run"), click=True)
    zoomed(browser, "com.acme.Step3.run")
    expect("width", width(browser, "com.acme.Step3.run"), all_of_it)
    expect("others", boxes(browser, "com.acme.Step0.run"), [])
    expect("callers stay", width(browser, "com.acme.App.main"), all_of_it)
    browser.point(*middle(browser, "java.util.HashMap.resize"), click=True)
    zoomed(browser, "java.util.HashMap.resize")
    browser.type(BACKSPACE)
    zoomed(browser, "com.acme.Step3.run")
    browser.click("#back")
    zoomed(browser, "all")
    browser.point(*middle(browser, "com.acme.Step0.run"), click=True)
    zoomed(browser, "com.acme.Step0.run")
    browser.click("#reset")
    zoomed(browser, "all")
    browser.point(*middle(browser, "com.acme.Step0.run"), click=True)
    zoomed(browser, "com.acme.Step0.run")
    browser.type(ESCAPE)
    zoomed(browser, "all")


def orders(browser):
    expect("callees", boxes(browser, "java.util.HashMap.resize") != [], True)
    top = boxes(browser, "byte[]")[0]["y"]
    browser.click("[data-tree=callers]")
    expect("pressed", browser.run("return document.querySelector('[data-tree=callers]').ariaPressed"), "true")
    # Classes first: byte[] once, at the ground, not once for each step.
    expect("byte[]", len(boxes(browser, "byte[]")), 1)
    if boxes(browser, "byte[]")[0]["y"] <= top:
        raise AssertionError("byte[] is not below what called for it")
    browser.type("r")
    ground = boxes(browser, "all")[0]["y"]
    browser.type("i")
    browser.wait("!flame.waiting")
    if boxes(browser, "all")[0]["y"] >= ground:
        raise AssertionError("the root of an icicle is not at the top")
    browser.type("i")
    browser.wait("!flame.waiting")
    by_bytes = width(browser, "com.acme.Step0.run")
    browser.type("3")
    browser.wait("document.querySelector('[data-measure=samples]').ariaPressed === 'true'")
    expect("samples", round(width(browser, "com.acme.Step0.run")), round(by_bytes))
    browser.type("1")


def keys(browser):
    browser.type(UP)
    browser.type(UP + UP)
    status = browser.text("#status")
    if not status.startswith("com.acme.App.work"):
        raise AssertionError(f"two boxes above the root is {status!r}")
    browser.type(UP)
    browser.type(RIGHT)
    if "com.acme.Step0" in browser.text("#status") or "all" in browser.text("#status")[:4]:
        raise AssertionError("right of the largest step is " + browser.text("#status"))
    browser.type(DOWN)
    browser.type("c")
    browser.wait("document.getElementById('status').textContent.startsWith('copied: ')")
    expect("copied", browser.text("#status"), "copied: com.acme.App.work")
    browser.type("?")
    expect("help", browser.run("return document.getElementById('keys').open"), True)
    browser.type(ESCAPE)
    browser.run("document.getElementById('keys').close()")


def resizes(browser):
    """A window that was low, high and low again shows the same rows: those above the ground of the flame."""
    def settled(inside):
        return browser.wait("!flame.waiting && innerHeight === given[0] && document.getElementById('canvas').clientHeight === "
                            "document.getElementById('frames').clientHeight", inside)

    def above_ground():
        return browser.run("return document.getElementById('frames').getBoundingClientRect().bottom") - boxes(browser, "all")[0]["y"]
    browser.resize(1280, 800)
    high = browser.run("return innerHeight")
    settled(high)
    root = above_ground()
    browser.resize(1280, 380)
    low = browser.run("return innerHeight")
    settled(low)
    room = browser.run("const frames = document.getElementById('frames'); return frames.scrollHeight - frames.clientHeight")
    expect("room to scroll", room > 0, True)
    expect("root in a low window", round(above_ground()), round(root))
    browser.run("document.getElementById('frames').scrollTop -= arguments[0]", room / 2)
    browser.wait("!flame.waiting && Math.abs(flame.ground - given[0]) < 1", room / 2)
    lifted = above_ground()
    browser.resize(1200, 370)
    settled(browser.run("return innerHeight"))
    expect("after scrolling", abs(above_ground() - lifted) <= 1, True)
    browser.resize(1280, 800)
    settled(high)
    expect("root in a high window", round(above_ground()), round(root))


def codes(browser):
    def pressed():
        return browser.run("return document.querySelector('[data-colours=code]').ariaPressed")
    plain = colour(browser, "com.acme.App.main")
    browser.type("k")
    browser.wait("!flame.waiting")
    expect("by code", pressed(), "true")
    expect("legend", browser.text("#legend"), "interpretedcompiledinlinednot known")
    expect("interpreted", colour(browser, "com.acme.App.main")[:3], [238, 130, 104])
    browser.point(*middle(browser, "com.acme.Step0.run"))
    browser.wait("!document.getElementById('tooltip').hidden")
    if "interpreted 45 %, compiled 55 %" not in browser.text("#tooltip"):
        raise AssertionError(f"how it ran is not in the tooltip: {browser.text('#tooltip')!r}")
    browser.click("[data-colours=package]")
    browser.wait("!flame.waiting")
    expect("by package", (pressed(), colour(browser, "com.acme.App.main")), ("false", plain))


def is_harmless(browser):
    expect("hostile name", len(boxes(browser, HOSTILE)), 1)
    browser.point(*middle(browser, HOSTILE))
    browser.wait("!document.getElementById('tooltip').hidden")
    expect("as text", browser.text("#tooltip b"), HOSTILE)
    expect("elements", browser.run("return document.querySelectorAll('img, #tooltip b *').length"), 0)
    expect("scripts", browser.run("return document.scripts.length"), 2)


def themes(browser, folder):
    def ground():
        return browser.run("return getComputedStyle(document.body).backgroundColor")
    light = ground()
    if folder:
        browser.point(*middle(browser, "com.acme.Step0.run"))
        browser.screenshot(folder / "light.png")
    browser.type("t")
    if ground() == light:
        raise AssertionError("t does not change the theme")
    browser.wait("!flame.waiting")
    if folder:
        browser.screenshot(folder / "dark.png")
    browser.type("t")
    expect("light again", ground(), light)
    if not browser.pdf().startswith(b"%PDF"):
        raise AssertionError("the page cannot be printed")


def main(page, folder=None):
    with Browser() as browser:
        browser.open(page)
        browser.wait("globalThis.flame && !flame.waiting")
        for check in (tooltips, searches, zooms, orders, keys, codes, is_harmless, resizes):
            check(browser)
        themes(browser, folder and pathlib.Path(folder))
        expect("asked for", browser.requests(), [pathlib.Path(page).resolve().as_uri()])
        # Of reading pixels, which the page itself never does.
        expect("complaints", [line for line in browser.complaints() if "willReadFrequently" not in line], [])
    with Browser(dark=True) as browser:
        browser.open(page)
        browser.wait("globalThis.flame && !flame.waiting")
        expect("theme", browser.run("return document.documentElement.dataset.theme"), "dark")


if __name__ == "__main__":
    main(*sys.argv[1:])
