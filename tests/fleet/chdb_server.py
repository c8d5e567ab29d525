"""ClickHouse of today behind HTTP: chDB (a library; tests/fleet/fetch.sh chdb), which runs one statement at a time.

For tests on a loopback port. It answers what heaprec sends: statements and inserts of Native blocks.
"""

import ctypes
import gzip
import http.server
import os
import pathlib
import re
import tempfile
import threading
import urllib.parse

CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
LIBRARY = pathlib.Path(CACHE, "heaprec/libchdb.so")


class Chdb:
    """The library with its data in a folder. One a process."""

    def __init__(self, folder, config=None):
        self.lock, self.folder = threading.Lock(), pathlib.Path(folder)
        self.rows_read = self.bytes_read = 0  # of the last statement
        self.functions = ctypes.CDLL(str(LIBRARY))
        for name, result, arguments in (
                ("connect", ctypes.POINTER(ctypes.c_void_p), (ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))),
                ("query_n", ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                              ctypes.c_size_t)),
                ("destroy_query_result", None, (ctypes.c_void_p,)), ("result_buffer", ctypes.c_void_p, (ctypes.c_void_p,)),
                ("result_length", ctypes.c_size_t, (ctypes.c_void_p,)), ("result_error", ctypes.c_char_p, (ctypes.c_void_p,)),
                ("result_storage_rows_read", ctypes.c_uint64, (ctypes.c_void_p,)),
                ("result_storage_bytes_read", ctypes.c_uint64, (ctypes.c_void_p,))):
            function = getattr(self.functions, "chdb_" + name)
            function.restype, function.argtypes = result, arguments
        words = ["chdb", f"--path={self.folder / 'data'}", *([f"--config-file={config}"] if config else [])]
        arguments = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        self.connection = self.functions.chdb_connect(len(words), arguments)[0]

    def run(self, sql, data=None):
        """The answer's bytes. `data`: of an INSERT ... FORMAT Native. Raises RuntimeError with the server's sentence."""
        with self.lock:
            if data is None:
                return self.query(sql)
            with tempfile.NamedTemporaryFile(dir=self.folder) as file:
                file.write(data)
                file.flush()
                into, columns = re.fullmatch(r"(INSERT INTO \S+ \((.*)\)) FORMAT Native", sql, re.DOTALL).groups()
                return self.query(f"{into} SELECT {columns} FROM file('{file.name}', 'Native')")

    def query(self, sql):
        text = sql.encode()
        result = self.functions.chdb_query_n(self.connection, text, len(text), b"TSV", 3)
        try:
            if error := self.functions.chdb_result_error(result):
                raise RuntimeError(error.decode("utf-8", "replace"))
            self.rows_read = self.functions.chdb_result_storage_rows_read(result)
            self.bytes_read = self.functions.chdb_result_storage_bytes_read(result)
            length = self.functions.chdb_result_length(result)
            return ctypes.string_at(self.functions.chdb_result_buffer(result), length) if length else b""
        finally:
            self.functions.chdb_destroy_query_result(result)

    def serve(self):
        """Starts to answer; the address."""
        chdb = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                insert = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("query")
                try:
                    status, answer = 200, chdb.run(insert[0], body) if insert else chdb.run(body.decode())
                except RuntimeError as error:
                    status, answer = 500, str(error).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"
