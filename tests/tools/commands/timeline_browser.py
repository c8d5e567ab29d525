"""Looks at the page of heaprec timeline --html in a real browser. usage: timeline_browser.py PAGE [FOLDER for screenshots]

The page is that of timeline_test.cc: ten seconds, the fifth with nine times as much, a collection in the seventh.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import Browser  # noqa: E402
from flame_browser import expect  # noqa: E402

STEPS = 10
GROUND = {False: "rgb(255, 255, 255)", True: "rgb(23, 24, 27)"}


def under_pointer(browser, step):
    """What the step that is pointed at says, and whether it shows itself."""
    box = browser.run("return document.querySelectorAll('.s')[arguments[0]].getBoundingClientRect().toJSON()", step)
    browser.point(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
    return browser.run("""const at = document.elementFromPoint(arguments[0], arguments[1]);
        return [at.querySelector("title").textContent, getComputedStyle(at).fillOpacity];""",
                       box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)


def tooltips(browser):
    expect("steps", browser.run("return document.querySelectorAll('.s').length"), STEPS)
    for step, parts in ((4, ("after 4.000 s\nallocated: 197 KiB/s (", "\njava.lang.String: ", "\n[I<>&: ", "\nsampler: fill ")),
                        (6, ("after 6.000 s\n", "\nheap used: 5.0 MiB", "\ncollections: 1, 0.003 s"))):
        text, opacity = under_pointer(browser, step)
        expect("shows itself", float(opacity), 0.08)
        for part in parts:
            if part not in text:
                raise AssertionError(f"{part!r} is not in {text!r}")


def fits(browser):
    """Nothing is cut off: all text lies within the picture."""
    outside = browser.run("""const picture = document.querySelector("svg").getBoundingClientRect();
        return [...document.querySelectorAll("text")].filter((text) => {
          const box = text.getBoundingClientRect();
          return box.left < picture.left || box.right > picture.right || box.bottom > picture.bottom;
        }).map((text) => text.textContent);""")
    expect("outside", outside, [])


def main(page, folder=None):
    for dark in (False, True):
        with Browser(size=(1000, 760), dark=dark) as browser:
            browser.open(page)
            for part in ("document.body", "document.querySelector('.g')"):
                name = "backgroundColor" if part == "document.body" else "fill"
                expect(part, browser.run(f"return getComputedStyle({part}).{name}"), GROUND[dark])
            tooltips(browser)
            fits(browser)
            if folder:
                browser.screenshot(pathlib.Path(folder) / ("timeline_dark.png" if dark else "timeline_light.png"))
            expect("asked for", browser.requests(), [pathlib.Path(page).resolve().as_uri()])
            expect("complaints", browser.complaints(), [])


if __name__ == "__main__":
    main(*sys.argv[1:])
