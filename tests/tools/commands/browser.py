"""A headless Chromium for tests, driven through chromedriver's WebDriver protocol with nothing but the standard library."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.request

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
]
ENTER, ESCAPE, BACKSPACE = "\ue007", "\ue00c", "\ue003"
LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
READY = "document.documentElement.dataset.ready === 'yes' && !window.heaprec.page.waiting"


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def expect_true(what, value):
    if not value:
        raise AssertionError(what)
    return value


def holds(what, text, parts):
    text = text.replace("\u00a0", " ")
    for part in parts:
        if part not in text:
            raise AssertionError(f"{part!r} is not in {what}: {text!r}")


def settled(browser):
    """Once a page of heaprec has drawn the last change."""
    browser.wait(READY)


def open_page(browser, path, fragment=""):
    browser.call("POST", "/url", {"url": "about:blank"})
    browser.call("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri() + fragment})
    settled(browser)


def state(browser, key):
    return browser.run("return window.heaprec.page.state[arguments[0]]", key)


def is_quiet(browser, but="\0"):
    """The pages asked for nothing from elsewhere, and the console says nothing `but` lines with this."""
    expect("asked for", [url for url in browser.requests() if not url.startswith(("file:", "about:", "data:", "blob:"))], [])
    expect("complaints", [line for line in browser.complaints() if but not in line], [])


class Browser:
    """One window. Context manager: the browser ends with it."""

    def __init__(self, size=(1280, 800), dark=False):
        self.folder = tempfile.mkdtemp(prefix="heaprec-browser-")
        environment = dict(os.environ, HOME=self.folder, no_proxy="127.0.0.1")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, env=environment)
        port = next(m.group(1) for m in (re.search(r"successfully on port (\d+)", line) for line in self.driver.stdout) if m)
        self.url = f"http://127.0.0.1:{port}"
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        flags = [*FLAGS, f"--user-data-dir={self.folder}/profile", f"--window-size={size[0]},{size[1]}"]
        if dark:
            flags.append("--blink-settings=preferredColorScheme=0")
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": flags},
                  "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.url += f"/session/{session['sessionId']}"
        self.call("POST", "/url", {"url": "about:blank"})
        self.requests()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def open(self, path):
        self.call("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def resize(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})
        # The page hears of it in a frame that begins later.
        self.call("POST", "/execute/async", {"args": [], "script": """
            const done = arguments[0];
            requestAnimationFrame(() => requestAnimationFrame(() => done()));"""})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """Until the expression is true; what it is then."""
        return self.call("POST", "/execute/async", {"args": list(arguments), "script": f"""
            const done = arguments[arguments.length - 1], given = arguments;
            const look = () => {{ const is = (function() {{ return {script}; }}).apply(null, given);
                                  is ? done(is) : setTimeout(look, 10); }};
            look();"""})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def element(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})

    def click(self, selector):
        self.call("POST", f"/element/{self.element(selector)[ELEMENT]}/click", {})

    def type(self, keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, x, y, click=False):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.call("POST", "/actions", {"actions": [pointer]})

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def pdf(self, **options):
        return base64.b64decode(self.call("POST", "/print", options))

    def requests(self):
        """The addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        """What the console says since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]
