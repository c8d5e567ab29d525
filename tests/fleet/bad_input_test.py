"""Servers that refuse, lie, stop or are none, and names that break out of SQL: a sentence and an exit code, nothing else.

Usage: bad_input_test.py HEAPREC GENERATE
"""

import http.server
import random
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time

from support import ask, generate, heaprec, local_shards, run, same, select, ship

GENERATE = sys.argv[2]
HOSTS, SECONDS, SLICE = 14, 60, "30s"


def native(columns):
    """A block of ClickHouse's Native format with one row: (name, type, bytes)."""
    block = bytes([len(columns), 1])
    for name, kind, value in columns:
        block += bytes([len(name)]) + name.encode() + bytes([len(kind)]) + kind.encode() + value
    return block


def answer(body, status="200 OK", length=None):
    return (f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nConnection: close\r\n"
            f"Content-Length: {len(body) if length is None else length}\r\n\r\n").encode() + body


# What a server answers to everything, and a part of what the user is told.
ANSWERS = {
    "a page": (answer(b"<html><body>It works!</body></html>"), "?"),
    "a page of an error": (answer(b"<html>Bad gateway</html>", "502 Bad Gateway"), "not from ClickHouse"),
    "a redirection": (answer(b"", "302 Found"), "not from ClickHouse"),
    "nothing": (b"", "closed the connection"),
    "half of a head": (b"HTTP/1.1 200 O", "closed the connection"),
    "half of a body": (answer(native([("n", "UInt64", struct.pack("<Q", 1))])[:9], length=17), "closed the connection"),
    "an empty body": (answer(b""), "is it ClickHouse?"),
    "other columns": (answer(native([("n", "String", b"\x04word")])), "is it ClickHouse?"),
    "an unknown type": (answer(native([("n", "Tuple(UInt8)", b"\0")])), "does not read"),
    "too many rows": (answer(b"\x01\xff\xff\xff\xff\xff\xff\xff\x7f\x01n\x06UInt64"), "cut off"),
    "a body of 8 EiB": (answer(b"x", length=1 << 63), ""),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", ""),
    "bytes": (bytes(range(256)) * 64, ""),
}


DRIPS = b"a byte at a time"


class Listener:
    """Answers every request with the same bytes, or never, or so slowly that it never ends."""

    def __init__(self, sent):
        self.sent = sent
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client = self.socket.accept()[0]
            threading.Thread(target=self.reply, args=(client,), daemon=True).start()

    def reply(self, client):
        try:
            client.recv(65536)
            if self.sent is None:
                client.recv(1 << 20)  # until the client gives up
            elif self.sent == DRIPS:
                client.sendall(answer(b"", length=1 << 20))
                while not client.send(b"\0") == 0:
                    time.sleep(0.1)
            else:
                client.sendall(self.sent)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
        except OSError:
            pass
        client.close()


def servers_that_are_none(folder):
    for name, (sent, sentence) in ANSWERS.items():
        url = Listener(sent).url
        for arguments, code in ((("fleet", "services", "--server", url), 3), (("fleet", "init", "--server", url), 6),
                                (("ship", folder, "--server", url, "--tries", "1"), 6)):
            said = heaprec(*arguments, code=code)
            assert sentence in said and said.count("\n") <= 2 and url.removeprefix("http://") in said, f"{name}: {said}"
            assert said.isprintable() or said.rstrip("\n").isprintable(), f"{name}: {said!r}"
    for slow in (None, DRIPS):
        url = Listener(slow).url
        assert "no answer within 1 s" in heaprec("fleet", "services", "--server", url, "--timeout", "1", code=3)
        assert "no answer within 1 s" in heaprec("ship", folder, "--server", url, "--tries", "1", "--timeout", "1", code=6)


def random_answers():
    """Bytes of a good answer, changed: any sentence will do."""
    good = native([("n", "UInt64", struct.pack("<Q", 1))])
    source = random.Random(1)
    for _ in range(40):
        body = bytearray(good)
        for _ in range(source.randrange(1, 4)):
            body[source.randrange(len(body))] = source.randrange(256)
        heaprec("fleet", "services", "--server", Listener(answer(bytes(body))).url, "--timeout", "20", code=3)


def wrong_addresses(folder, url):
    assert "cannot connect" in heaprec("ship", folder, "--server", "http://127.0.0.1:1", "--tries", "1", code=6)
    assert "must begin with http" in heaprec("ship", folder, "--server", "localhost:8123", code=2)
    for address in ("http://me:s3cret@127.0.0.1:8123", "http://127.0.0.1:8123/?user=me&password=s3cret"):
        said = heaprec("ship", folder, "--server", address, code=2) + heaprec("fleet", "services", code=2,
                                                                          HEAPREC_FLEET_URL=address)
        assert "--password-file" in said and "s3cret" not in said, said
    assert "not a database name" in heaprec("fleet", "init", "--server", url + "/a;DROP", code=2)
    assert "no server" in heaprec("fleet", "services", code=2)
    assert "rejects the user or password" in heaprec("fleet", "services", "--server", url, "--user", "nobody", code=3)


def certificates(tls, root):
    secure, certificate = tls.url(True), tls.folder / "server.crt"
    assert "certificate verify failed" in heaprec("fleet", "init", "--server", secure, code=6)
    other = secure.replace("localhost", "127.1")  # the same server, by a name that is not in the certificate
    assert "no secure connection" in heaprec("fleet", "init", "--server", other, "--ca", certificate, code=6)
    assert "rejects the user or password" in heaprec("fleet", "init", "--server", secure, "--ca", certificate, code=6,
                                                 HEAPREC_FLEET_PASSWORD="not the word")
    heaprec("fleet", "init", "--server", secure, "--ca", certificate, HEAPREC_FLEET_PASSWORD="word")
    (root / "word").write_text("word\n")
    heaprec("fleet", "init", "--server", secure, "--ca", certificate, "--password-file", root / "word")
    plain = Listener(ANSWERS["a page"][0]).url.replace("http:", "https:")
    assert "no secure connection" in heaprec("fleet", "services", "--server", plain, code=3)
    assert "no secure connection" in heaprec("fleet", "init", "--server", tls.url(False).replace("http:", "https:"), code=6)


class Heard(http.server.BaseHTTPRequestHandler):
    """Keeps what clients say of themselves."""
    tokens = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Heard.tokens.append(self.headers["Authorization"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def tokens(tls, root):
    """From a file or the environment, over TLS only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.folder / "server.crt", tls.folder / "server.key")
    (root / "token").write_text("of a file\n")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Heard) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        to = ("--server", f"https://localhost:{server.server_address[1]}", "--ca", tls.folder / "server.crt")
        heaprec("fleet", "services", *to, "--token-file", root / "token", code=3)
        heaprec("fleet", "services", *to, code=3, HEAPREC_FLEET_TOKEN="of the environment")
        heaprec("fleet", "services", *to, code=3)
        server.shutdown()
    said = list(dict.fromkeys(Heard.tokens))
    assert said == ["Bearer of a file", "Bearer of the environment", None], said
    assert "over https" in heaprec("fleet", "services", "--server", "http://127.0.0.1:1", "--token-file", root / "token",
                                   code=2)


class Proxy(http.server.BaseHTTPRequestHandler):
    """An HTTP proxy that passes CONNECT and POST on."""
    used = 0

    def do_CONNECT(self):
        Proxy.used += 1
        host, port = self.path.split(":")
        server = socket.create_connection((host, int(port)))
        self.send_response(200)
        self.end_headers()
        threads = [threading.Thread(target=self.copy, args=pair, daemon=True)
                   for pair in ((self.connection, server), (server, self.connection))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @staticmethod
    def copy(source, target):
        try:
            while chunk := source.recv(65536):
                target.sendall(chunk)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the other direction has ended

    def log_message(self, *_):
        pass


def proxies(tls):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        proxy = f"http://127.0.0.1:{server.server_address[1]}"
        heaprec("fleet", "init", "--server", tls.url(True), "--ca", tls.folder / "server.crt", "--proxy", proxy,
                HEAPREC_FLEET_PASSWORD="word")
        server.shutdown()
    assert Proxy.used == 1


def hostile_names(root, url):
    """Names with quotes, NUL, escapes and 64 kB arrive as they are, and ask for nothing but themselves."""
    folder = root / "hostile"
    generate(GENERATE, folder, HOSTS, SECONDS, 1, "hostile")
    heaprec("fleet", "init", "--server", url, "--slice", SLICE)
    ship(folder, "--server", url)
    questions = [["services"], ["top", "--by", "class-site"], ["diff", "1.0", "1.1"], ["outliers"]]
    for text in ("it's", "'; DROP TABLE heaprec.sums; --", "a\\", "a\\'", "\x1b[31mred\x07", "{a:UInt8} %s $1 ${x} \" `",
                 "line\nbreak\ttab\rreturn", "\u202eoverride \U0001F600", "x" * 65536):
        questions += [["top", "--service", text.replace("\\", "\\\\")], ["top", "--site", "com.acme.Work." + text]]
    for question in questions:
        by_server = ask(*question, "--server", url)
        same(by_server, ask(*question, "--from-dir", folder, "--slice", SLICE), str(question)[:80])
    names = {row["name"] for row in ask("top", "--server", url)["rows"]}
    assert "com.acme.Work.nul\0inside" in names and "com.acme.Work." + "x" * 65536 in names
    for text in ("x' OR 1=1 --", "'); DROP DATABASE heaprec; --", "\\", "*' UNION ALL SELECT 1"):
        assert "none of" in heaprec("fleet", "top", "--server", url, "--service", text, code=3)
        assert "matches" in heaprec("fleet", "top", "--server", url, "--site", text, code=3)
    assert int(select(url, "SELECT count() FROM heaprec.sums")[0][0]) > 0


def labels_are_data(root, url):
    """Labels of any bytes, as options of ship: they come back, and nothing else happens."""
    source = random.Random(1)
    labels = ["'", "\\'", "'||'", "\\", "`", "\"", "--", "/*", ";"]
    for i in range(8):
        text = "".join(source.choice(labels + ["a", "\u00e9", "\U0001F600", "\n", "\x01"]) for _ in range(6))
        folder = root / f"label{i}"
        generate(GENERATE, folder, 1, 30, 100 + i)
        ship(folder, "--server", url, "--service", f"s{i}{text}", "--host", text, "--version", text, "--env", text)
        rows = [row for row in ask("services", "--server", url)["services"] if row["service"] == f"s{i}{text}"]
        assert len(rows) == 1 and rows[0]["version"] == rows[0]["environment"] == text, f"{text!r}: {rows}"


def broken_recordings(root, url):
    """What is no recording is named and left out; the others are sent."""
    folder = root / "broken"
    generate(GENERATE, folder, 3, SECONDS, 7)
    (folder / "none.hrec").write_bytes(b"no recording")
    (folder / "empty.hrec").write_bytes(b"")
    whole = (folder / "host101.hrec").read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xff
    (folder / "host101.hrec").write_bytes(damaged)
    said = heaprec("ship", folder, "--server", url, code=3)
    assert "none.hrec" in said and "empty.hrec" in said and "host101.hrec: damaged" in said, said
    hosts = {host for host, in select(url, "SELECT DISTINCT file FROM heaprec.recordings")}
    assert all(any(name in host for host in hosts) for name in ("broken/host100", "broken/host101", "broken/host102"))


def test(root):
    folder = root / "recordings"
    generate(GENERATE, folder, 1, 30, 1)
    servers_that_are_none(folder)
    random_answers()
    with local_shards.Cluster(root / "one") as one:
        url = one.shards[0].url()
        wrong_addresses(folder, url)
        hostile_names(root, url)
        labels_are_data(root, url)
        broken_recordings(root, url)
    with local_shards.Cluster(root / "tls", password="word", tls=True) as secure:
        certificates(secure.shards[0], root)
        tokens(secure.shards[0], root)
        proxies(secure.shards[0])


run(test)
