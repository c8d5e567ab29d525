"""heaprec view: what it answers, what it refuses, and its pages in a browser.

Usage: view_test.py HEAPREC RECORDING OTHER
"""

import contextlib
import html
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from browser import Browser  # noqa: E402

HEAPREC, RECORDING, OTHER = sys.argv[1:4]
HOSTILE = "<img src=x onerror=alert(1)> & 'quotes' %2e%2e #?.hrec"
SECRET = "outside-of-the-folder"


@contextlib.contextmanager
def served(folder, *options):
    """Runs heaprec view until the block ends, then by Ctrl-C; the address that it prints."""
    server = subprocess.Popen([HEAPREC, "view", *options, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\n", line), line + server.stderr.read()
        yield line.strip()
    finally:
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=60)
    assert (server.returncode, out) == (0, ""), (server.returncode, out, err)


def ask(url, path=None, method="GET", host=None, raw=None):
    """Status, headers and text. `path`: unchanged, in place of that of `url`."""
    where = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=120)
    connection.putrequest(method, where.path if path is None else path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or where.netloc)
    for name, value in raw or ():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode()


def rows(text):
    """Of the list: the cells of each row as text, and its addresses."""
    found = [(re.findall(r"<td[^>]*>(.*?)</td>", row), re.findall(r'href="([^"]*)"', row))
             for row in re.findall(r"<tr><td.*?</tr>", text, re.S)]
    return {html.unescape(re.sub(r"<[^>]*>", "", cells[0])): ([html.unescape(re.sub(r"<[^>]*>", "", c)) for c in cells], links)
            for cells, links in found}


def listed(url):
    """The list once all recordings have been read."""
    for _ in range(100):
        status, headers, text = ask(url)
        assert status == 200, text
        if "http-equiv" not in text:
            return headers, text, rows(text)
    raise AssertionError("the list is never complete")


def prepare(folder):
    shutil.copy(RECORDING, folder / "first.hrec")
    shutil.copy(OTHER, folder / "second.hrec")
    shutil.copy(OTHER, folder / HOSTILE)
    shutil.copy(OTHER, os.fsencode(folder) + b"/\xff.hrec")
    (folder / "host").mkdir()
    shutil.copy(RECORDING, folder / "host" / "third.hrec")
    data = bytearray(pathlib.Path(RECORDING).read_bytes())
    data[len(data) // 2: len(data) // 2 + 5000] = bytes(5000)
    (folder / "damaged.hrec").write_bytes(data)
    (folder / "text.hrec").write_text("no recording")
    (folder / "notes.txt").write_text(SECRET)
    outside = folder.parent / SECRET
    outside.mkdir()
    shutil.copy(RECORDING, outside / "x.hrec")
    (folder / "link.hrec").symlink_to(outside / "x.hrec")
    (folder / "linked").symlink_to(outside)


def each_request_without_the_token_gets_403_and_nothing_of_the_folder(url):
    token = urllib.parse.urlsplit(url).path.strip("/")
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    known = ask(url, "/")[2]
    for path in ("/", "/favicon.ico", f"/{wrong}/", f"/{token}", f"/{token[:-1]}/", f"/{token}0/", f"/{token.upper()}x/", "//",
                 f"/{wrong}/report/first.hrec", f"/x/../{token}/", f"/%2e/{token}/", f"/?{token}", f"{url}", "*"):
        for method in ("GET", "HEAD", "POST"):
            status, headers, text = ask(url, path, method)
            assert status == 403, (path, method, status)
            assert text == ("" if method == "HEAD" else known), text
            assert headers["Content-Security-Policy"].startswith("default-src 'none'"), headers
    assert ask(url, "/", raw=[("Cookie", f"token={token}"), ("Referer", url)])[0] == 403
    assert not any(name in known for name in ("hrec", "first", tempfile.gettempdir())), known


def another_host_name_gets_403(url):
    port = urllib.parse.urlsplit(url).port
    for host in (f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.1.evil.example:{port}", "",
                 f"localhost.:{port}", f"[::1]:{port}"):
        assert ask(url, host=host)[0] == 403, host
    assert ask(url, host=f"localhost:{port}")[0] == 200


def other_methods_get_405(url):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"):
        status, headers, _ = ask(url, method=method)
        assert (status, headers["Allow"]) == (405, "GET, HEAD"), (method, status)
    status, headers, text = ask(url, method="HEAD")
    assert (status, text) == (200, "") and int(headers["Content-Length"]) == len(ask(url)[2].encode())


def only_listed_names_are_opened(url):
    base = urllib.parse.urlsplit(url).path
    names = ("..", ".", "", "%2e%2e", "../first.hrec", "..%2f" + SECRET + "%2fx.hrec", "../" + SECRET + "/x.hrec", "/etc/passwd",
             "%2fetc%2fpasswd", "link.hrec", "linked", "linked%2Fx.hrec", "linked/x.hrec", "notes.txt", "first.hrec/",
             "first.hrec/..", "first.hrec%00", "FIRST.hrec", "%66irst.hrec", "first.hrec?x", "host", "host/third.hrec", "nowhere.hrec")
    for name in names:
        for what in ("report/", "compare/", "compare/first.hrec/", ""):
            status, _, text = ask(url, base + what + name)
            if what == "" and name == "":
                continue
            assert status == 404 and SECRET not in text, (what + name, status)
    for path in ("report", "compare", "report/first.hrec/second.hrec", "compare/first.hrec/second.hrec/first.hrec", "?", "delete/first.hrec"):
        assert ask(url, base + path)[0] == 404, path


def the_list_shows_each_recording_with_its_verdict_or_its_error(url):
    headers, text, found = listed(url)
    assert set(found) == {"first.hrec", "second.hrec", HOSTILE, "\ufffd.hrec", "host/third.hrec", "damaged.hrec", "text.hrec"}, set(found)
    summary = subprocess.run([HEAPREC, "summary", RECORDING], capture_output=True, text=True, check=True).stdout
    cells, links = found["first.hrec"]
    assert cells[1].startswith("Java " + re.search(r"^JVM: .* VM (.*), G1, PID \d+$", summary, re.M)[1] + ", PID "), cells
    assert re.search(r"^recording: +\S+ (.*) to ", summary, re.M)[1] == cells[2], cells
    assert summary.startswith(cells[5] + " allocated in " + cells[3].split(" (")[0]), (cells, summary[:80])
    assert cells[6] == "yes" and cells[4].endswith("iB"), cells
    assert len(links) == 2 and found["host/third.hrec"][1][0].endswith("/report/host%2Fthird.hrec"), links
    assert found["damaged.hrec"][0][6].startswith("no, because "), found["damaged.hrec"]
    assert "text.hrec" in found["text.hrec"][0][1] and not found["text.hrec"][1], found["text.hrec"]
    assert "<img" not in text and "onerror=alert(1)&gt;" in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src" not in policy, policy
    assert (headers["Referrer-Policy"], headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-referrer", "no-store", "nosniff")


def report_and_compare_are_the_pages_of_report(url):
    _, _, found = listed(url)
    for name, (_, links) in found.items():
        if not links:
            continue
        status, headers, text = ask(url, links[0])
        assert status == 200 and "@TITLE@" not in text and "heaprec report</title>" in text, (name, status)
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert "<img src=x" not in text
        choice = rows(ask(url, links[1])[2])
        assert choice[name][1] == [links[0]] and len(choice["second.hrec"][1]) == (1 if name == "second.hrec" else 2), choice[name]
    with tempfile.NamedTemporaryFile(suffix=".html") as page:
        subprocess.run([HEAPREC, "report", "-q", "-f", "-o", page.name, RECORDING, OTHER], check=True)
        wanted = pathlib.Path(page.name).read_text()
    compared = ask(url, rows(ask(url, found["first.hrec"][1][1])[2])["second.hrec"][1][1])
    assert compared[0] == 200 and len(compared[2]) > len(wanted) * 0.9, len(compared[2])
    base = urllib.parse.urlsplit(url).path
    status, _, text = ask(url, base + "report/text.hrec")
    assert status == 422 and "text.hrec" in text, (status, text)
    assert ask(url, base + "compare/first.hrec/text.hrec")[0] == 422


def a_new_and_a_growing_recording_are_shown(url, folder):
    whole = pathlib.Path(RECORDING).read_bytes()
    (folder / "new.hrec").write_bytes(whole[: len(whole) // 2])
    half = listed(url)[2]["new.hrec"][0]
    (folder / "new.hrec").write_bytes(whole)
    now = listed(url)[2]["new.hrec"][0]
    assert half != now and now[1:7] == listed(url)[2]["first.hrec"][0][1:7], (half, now)
    (folder / "new.hrec").unlink()
    assert "new.hrec" not in listed(url)[2]


def idle_connections_delay_nobody(url):
    where = urllib.parse.urlsplit(url)
    idle = [socket.create_connection((where.hostname, where.port)) for _ in range(8)]
    idle[0].sendall(b"GET / HTTP/1.1\r\nHost:")
    idle[1].sendall(b"\x00\xff" * 100)
    idle[2].sendall(b"GET /" + b"a" * 100_000)
    assert ask(url)[0] == 200
    for connection in idle:
        connection.close()


def works_in_a_browser(url):
    with Browser() as browser:
        browser.call("POST", "/url", {"url": url})
        browser.wait("document.querySelector('table') && !document.querySelector('[http-equiv]')")
        assert browser.run("return getComputedStyle(document.querySelector('.number')).textAlign") == "right", "the style is blocked"
        assert browser.run("return document.querySelectorAll('img').length") == 0
        browser.run("[...document.querySelectorAll('a')].find(a => a.textContent === arguments[0]).click()", HOSTILE)
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        assert browser.run("return window.heaprec.page.sideA.total().samples") > 0
        assert browser.run("return document.querySelectorAll('img').length") == 0
        browser.call("POST", "/back", {})
        browser.wait("document.querySelector('table')")
        for name in ("first.hrec", "second.hrec"):
            browser.run("[...document.querySelectorAll('tr')].find(row => row.cells[0].textContent === arguments[0])"
                        ".lastElementChild.querySelector('a').click()", name)
            browser.wait("document.querySelector(arguments[0])", "b bdi" if name == "first.hrec" else "#tab-difference")
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        asked = [one for one in browser.requests() if not one.startswith((url, "data:", "about:", "blob:"))]
        assert asked in ([], [urllib.parse.urljoin(url, "/favicon.ico")]), asked
        complaints = [one for one in browser.complaints() if "willReadFrequently" not in one and "favicon" not in one]
        assert not complaints, complaints


def bad_folders_and_ports_have_an_exit_code(url, folder):
    def fails(*words):
        done = subprocess.run([HEAPREC, "view", *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout == "", done.stdout
        return done.returncode, done.stderr
    port = str(urllib.parse.urlsplit(url).port)
    code, said = fails("--port", port, folder)
    assert code == 6 and f"127.0.0.1:{port}: Address already in use" in said, (code, said)
    code, said = fails(folder / "nowhere")
    assert code == 3 and "nowhere: No such file or directory" in said, (code, said)
    code, said = fails(folder / "first.hrec")
    assert code == 3 and "is not a folder" in said, (code, said)
    assert fails()[0] == 2 and fails("--port", "65536", folder)[0] == 2 and fails("--port", "x", folder)[0] == 2


def only_loopback_is_bound(url):
    port = urllib.parse.urlsplit(url).port
    listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert [one for one in listening if one.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"], listening
    v6 = pathlib.Path("/proc/net/tcp6")
    assert not v6.exists() or not re.search(rf":{port:04X} 0+:0+ 0A", v6.read_text())


def an_empty_folder_and_a_chosen_port_work(parent):
    (parent / "empty").mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with served(parent / "empty", "--port", str(port)) as url:
        assert f":{port}/" in url and "No recordings" in ask(url)[2]
        first = url
    with served(parent / "empty", "--port", str(port)) as url:  # at once again, with another token
        assert url != first and ask(url, urllib.parse.urlsplit(first).path)[0] == 403


def the_list_of_a_large_folder_comes_in_parts(parent):
    folder = parent / "large"
    folder.mkdir()
    for name in ("1", "2", "3"):
        shutil.copy(RECORDING, folder / f"{name}.hrec")
        os.truncate(folder / f"{name}.hrec", 200 << 20)  # sparse
    with served(folder) as url:
        first = ask(url)[2]
        assert "<p>Reading 1 more recording ...</p>" in first and rows(first)["3.hrec"][0][1] == "not read yet", first
        assert all(row[0][4] == "200 MiB" for row in listed(url)[2].values())


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "folder & more")
        folder.mkdir()
        prepare(folder)
        with served(folder) as url:
            for check in (each_request_without_the_token_gets_403_and_nothing_of_the_folder, another_host_name_gets_403,
                          other_methods_get_405, only_listed_names_are_opened, only_loopback_is_bound,
                          the_list_shows_each_recording_with_its_verdict_or_its_error, report_and_compare_are_the_pages_of_report,
                          idle_connections_delay_nobody, works_in_a_browser):
                check(url)
            a_new_and_a_growing_recording_are_shown(url, folder)
            bad_folders_and_ports_have_an_exit_code(url, folder)
        an_empty_folder_and_a_chosen_port_work(pathlib.Path(name))
        the_list_of_a_large_folder_comes_in_parts(pathlib.Path(name))


main()
