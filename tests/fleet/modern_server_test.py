"""Schema, settings of new servers, shipping and every question on ClickHouse 26.7 (chDB), compared with a folder.

Usage: modern_server_test.py HEAPREC GENERATE
Needs the library, which tests/fleet/fetch.sh chdb gets; skips without.
"""

import json
import pathlib
import sys
import tempfile

from chdb_server import LIBRARY, Chdb
from support import QUESTIONS, ask, contents, generate, heaprec, same, ship

GENERATE = sys.argv[2]
HOSTS, SECONDS, SLICE = 12, 120, "60s"


def settings_are_there(chdb):
    """Retention of every table with rows by time, codecs, on the tables themselves."""
    created = {table: sql for table, sql in (line.split("\t", 1) for line in chdb.run(
        "SELECT name, create_table_query FROM system.tables WHERE database = 'heaprec'").decode().splitlines())}
    for table, days in (("samples", 3000), ("sums", 3000), ("live", 3000), ("hours", 5000), ("totals", 5000)):
        assert f"toIntervalDay({days})" in created[table], created[table]
    codecs = dict(line.split("\t") for line in chdb.run(
        "SELECT concat(table, '.', name), compression_codec FROM system.columns WHERE database = 'heaprec' AND "
        "compression_codec != ''").decode().splitlines())
    assert "Gorilla" in codecs["sums.bytes"] and "ZSTD" in codecs["samples.time_ns"], codecs


def test(root):
    folder = root / "recordings"
    generate(GENERATE, folder, HOSTS, SECONDS, 1)
    chdb = Chdb(root)
    version = chdb.run("SELECT version()").decode().strip()
    url = chdb.serve()
    for _ in range(2):
        init = heaprec("fleet", "init", "--server", url, "--slice", SLICE, "--sample-days", "3000", "--sum-days", "5000")
        assert version in init and "keeps all rows" not in init, init
    settings_are_there(chdb)
    assert ship(folder, "--server", url)["slices"] == HOSTS * 2
    before = contents(url)
    assert ship(folder, "--server", url)["slices"] == 0 and contents(url) == before
    for question in QUESTIONS:
        same(ask(*question, "--server", url), ask(*question, "--from-dir", folder, "--slice", SLICE), " ".join(question))
    pulled = []
    for source in (("--server", url), ("--from-dir", folder, "--slice", SLICE)):
        path = root / f"{len(pulled)}.hrec"
        heaprec("fleet", "pull", *source, "--samples", 3000, "-o", path)
        pulled.append(json.loads(heaprec("top", "--by", "site", "--json", path)))
        pulled[-1].pop("scan")  # it names the file
    same(*pulled, "pull")
    chdb.run("OPTIMIZE TABLE heaprec.sums FINAL")
    assert ask("prune", "--server", url, "--sample-days", "100000")["partitions"] == []
    print(f"ClickHouse {version}: schema, retention, codecs, ship, {len(QUESTIONS)} questions, pull and prune")


def main():
    if not LIBRARY.exists():
        print(f"skipped: no {LIBRARY} (tests/fleet/fetch.sh chdb)")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        test(pathlib.Path(name))
    print("passed")


main()
