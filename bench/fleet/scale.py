#!/usr/bin/env python3
"""How long questions to a fleet of 1,000 hosts over a day take, and how many bytes a row has on disk.

Usage: bench/fleet/scale.py HEAPREC [HOSTS] [SHARDS] [--record]     defaults: 1000 1

Rows of `totals`, `sums`, `hours` and `live` are made on the servers by INSERT ... SELECT, as heaprec ship would send them: 24
hours, slices of 10 minutes, of each 20 classes, 40 sites and 40 pairs. That takes no recordings, so ingest is measured
apart (ingest.py). Prints seconds, statements, rows and bytes read of each question, and bytes on disk by table; --record
keeps them, with the slowest one in front. There are no samples: `flame`, `report` and `pull` are not measured.
"""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "bench")]
import local_shards  # noqa: E402
import record  # noqa: E402

DAY, SLICE, HOUR = 1795132800, 600, 3600  # 2026-11-20
ROWS = 100  # of a slice
KEYS = ("toUInt8(if(row < 20, 1, if(row < 60, 2, 3))) AS grain, "
        "toUInt64(if(grain = 1, row + 1, if(grain = 2, 0, intDiv(row - 60, 2) + 1))) AS class, "
        "toUInt64(if(grain = 1, 0, if(grain = 2, row - 19, row - 59))) AS site")
VALUES = ("1e9 / (site + class + 1) * (1 + rand() / 4294967296. / 10) AS bytes, bytes / 100 AS objects, "
          "bytes / 50 AS seen, toFloat32(50) AS samples, toFloat32(bytes * 2e7) AS variance, "
          "toFloat32(bytes * 2e3) AS variance_objects, toFloat32(bytes * 1e6) AS with_all, "
          "toFloat32(bytes * 1e3) AS objects_with_all, toFloat32(bytes * 2e7) AS apart, "
          "toFloat32(bytes * 2e3) AS apart_objects, bytes * 1e20 AS fourth, bytes * 1e12 AS fourth_objects")
COLUMNS = ("bytes, objects, seen, samples, variance, variance_objects, with_all, objects_with_all, apart, apart_objects, "
           "fourth, fourth_objects")
QUESTIONS = (["services"], ["top"], ["top", "--by", "class-site"], ["timeline"], ["diff", "1.0", "1.1"], ["outliers"],
             ["show", "p.C.site7"], ["diff", "--deploy", "2026-11-20T12:00:00Z"], ["timeline", "--site", "p.C.site7"],
             ["top", "--class", "p.T3", "--by", "site"], ["live"], ["live", "--by", "class-site"])
LIVE = ("bytes, objects, seen, samples, variance, variance_objects, toFloat32(bytes * 1e3) AS squares, bytes * 60 AS aged, "
        "bytes * 40 AS aged_once, bytes * 4e3 AS aged_twice")


def run(url, sql):
    with urllib.request.urlopen(url + "/?max_memory_usage=4000000000", data=sql.encode(), timeout=1800) as answer:
        return answer.read().decode()


class Recorder(http.server.BaseHTTPRequestHandler):
    """Passes what heaprec asks on to a server, and keeps the questions."""
    protocol_version = "HTTP/1.1"
    target, statements = "", []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Recorder.statements.append(body.decode())
        request = urllib.request.Request(Recorder.target + self.path, data=body)
        with urllib.request.urlopen(request, timeout=1800) as answer:
            told = answer.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_):
        pass


def what_it_reads(heaprec, url, question):
    """Statements of a question, and what the server says of each: seconds, rows and bytes read."""
    Recorder.target, Recorder.statements = url, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ask(heaprec, f"http://127.0.0.1:{server.server_port}", question)
        server.shutdown()
    told = []
    for sql in Recorder.statements:
        settings = "max_query_size=67108864&max_ast_elements=5000000&max_expanded_ast_elements=5000000"
        request = urllib.request.Request(f"{url}/?{settings}", data=sql.replace(" FORMAT Native", " FORMAT JSON").encode())
        with urllib.request.urlopen(request, timeout=1800) as answer:
            told.append(json.load(answer)["statistics"])
    return told


def ask(heaprec, url, question):
    subprocess.run([heaprec, "fleet", *question, "--service", "checkout", "--server", url], check=True,
                   stdout=subprocess.DEVNULL)


def fill(shards, hosts):
    """Hosts of each shard: those whose number is its own modulo the shards."""
    for index, shard in enumerate(shards):
        url, mine = shard.url(), f"number % {len(shards)} = {index}"
        run(url, "INSERT INTO heaprec.recordings SELECT number + 1, toDateTime(%d), toDateTime(%d), 1, "
                 "if(number %% 3 = 2, 'search', 'checkout'), if(number %% 3 = 0, '1.0', '1.1'), 'prod', "
                 "concat('host', toString(number)), '', '17', 'G1', '', 150., [], [], 1, '' FROM system.numbers "
                 "WHERE %s AND number < %d LIMIT %d" % (DAY, DAY + 86400, mine, hosts, (hosts + len(shards) - 1 - index) // len(shards)))
        run(url, "INSERT INTO heaprec.names SELECT number + 1, toUInt8(1), concat('p.T', toString(number)), now() FROM "
                 "(SELECT number FROM system.numbers LIMIT 20)")
        run(url, "INSERT INTO heaprec.names SELECT number + 1, toUInt8(2), concat('p.C.site', toString(number)), now() FROM "
                 "(SELECT number FROM system.numbers LIMIT 40)")
        for table, step in (("sums", SLICE), ("hours", HOUR)):
            for hour in range(0, 86400, HOUR):
                times = HOUR // step
                run(url, f"INSERT INTO heaprec.{table} (time, recording, grain, class, site, {COLUMNS}) SELECT "
                         f"toDateTime({DAY + hour} + (intDiv(number, {ROWS}) % {times}) * {step}), "
                         f"toUInt64(intDiv(number, {ROWS * times}) * {len(shards)} + {index} + 1), grain, class, site, {COLUMNS} FROM "
                         f"(SELECT number, number % {ROWS} AS row, {KEYS}, {VALUES} FROM "
                         f"(SELECT number FROM system.numbers LIMIT {ROWS * times * (hosts // len(shards))}))")
        for hour in range(0, 86400, HOUR):        # of each slice one row for all, and those of `sums`
            run(url, "INSERT INTO heaprec.live (time, at, recording, process, grain, state, class, site, bytes, objects, seen, "
                     "samples, variance, variance_objects, squares, aged, aged_once, aged_twice) SELECT "
                     f"toDateTime({DAY + hour} + (intDiv(number, {ROWS + 1}) % 6) * {SLICE}) AS time, time + {SLICE}, "
                     f"toUInt64(intDiv(number, {(ROWS + 1) * 6}) * {len(shards)} + {index} + 1) AS recording, recording, "
                     f"if(row = {ROWS}, toUInt8(0), grain), toUInt8(1), if(row = {ROWS}, toUInt64(0), class), "
                     f"if(row = {ROWS}, toUInt64(0), site), {LIVE} FROM "
                     f"(SELECT number, number % {ROWS + 1} AS row, {KEYS}, {VALUES} FROM "
                     f"(SELECT number FROM system.numbers LIMIT {(ROWS + 1) * 6 * (hosts // len(shards))}))")
        minutes = 1440
        run(url, f"INSERT INTO heaprec.totals (time, slice, recording, seconds, counted, weighed, lost, {COLUMNS}) SELECT "
                 f"toDateTime({DAY} + (number % {minutes}) * 60), toDateTime({DAY} + intDiv(number % {minutes}, 10) * 600), "
                 f"toUInt64(intDiv(number, {minutes}) * {len(shards)} + {index} + 1), 60., 3e9, 3.1e9, 0., {COLUMNS} FROM "
                 f"(SELECT number, toUInt64(1) AS class, toUInt64(1) AS site, {VALUES} FROM "
                 f"(SELECT number FROM system.numbers LIMIT {minutes * (hosts // len(shards))}))")
        run(url, f"INSERT INTO heaprec.shipped SELECT intDiv(number, 24) * {len(shards)} + {index} + 1, "
                 f"toDateTime({DAY} + (number % 24) * 3600), toUInt8(2), toUInt32(0), toUInt32({ROWS}), toUInt32(0), now() FROM "
                 f"(SELECT number FROM system.numbers LIMIT {24 * (hosts // len(shards))})")


def main():
    arguments = [one for one in sys.argv[1:] if one != "--record"]
    heaprec, hosts = arguments[0], int(arguments[1]) if len(arguments) > 1 else 1000
    shards = int(arguments[2]) if len(arguments) > 2 else 1
    with tempfile.TemporaryDirectory() as folder, local_shards.Cluster(pathlib.Path(folder, "s"), shards) as cluster:
        cluster_name = ["--cluster", "fleet"] if shards > 1 else []
        for shard in cluster.shards:
            subprocess.run([heaprec, "fleet", "init", "--server", shard.url(), *cluster_name], check=True,
                           stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        fill(cluster.shards, hosts)
        rows = sum(int(run(shard.url(), "SELECT count() FROM heaprec.sums")) for shard in cluster.shards)
        print(f"{rows} rows of sums on {shards} shards in {time.monotonic() - begin:.0f} s; load {os.getloadavg()[0]:.0f}",
              flush=True)
        for table in ("sums", "hours", "totals", "live"):
            found = [json.loads(run(shard.url(), f"SELECT sum(bytes_on_disk) / sum(rows) AS of FROM system.parts WHERE active "
                                                 f"AND table = '{table}' FORMAT JSON"))["data"][0]["of"]
                     for shard in cluster.shards]
            print(f"{table}: {found[0]:.1f} bytes a row", flush=True)
        slowest, kept = ("", 0.0), {}
        for question in QUESTIONS:
            times = []
            for _ in range(3):
                begin = time.monotonic()
                ask(heaprec, cluster.shards[0].url(), question)
                times.append(time.monotonic() - begin)
            name, seconds = " ".join(question), sorted(times)[1]
            slowest = max(slowest, (name, seconds), key=lambda one: one[1])
            told = what_it_reads(heaprec, cluster.shards[0].url(), question)
            print(f"{name}: {seconds:.2f} s ({min(times):.2f} to {max(times):.2f}); {len(told)} statements read "
                  f"{sum(one['rows_read'] for one in told) / 1e6:.2f} million rows, "
                  f"{sum(one['bytes_read'] for one in told) / 1e6:.0f} MB; seconds of each: "
                  f"{' '.join(format(one['elapsed'], '.2f') for one in told)}", flush=True)
            kept[name] = {"s": round(seconds, 2), "statements": len(told), "rows": sum(one["rows_read"] for one in told),
                          "bytes": sum(one["bytes_read"] for one in told)}
        if "--record" in sys.argv:
            of_hosts = "" if hosts == 1000 else f"_{hosts}_hosts"
            record.record("fleet", f"fleet.slowest_question_{shards}{of_hosts}", area="Fleet",
                          figure=f"Slowest question, {hosts} hosts, a day, {shards} shards"[:50], goal="< 2 s",
                          value=round(slowest[1], 2), unit="s", question=slowest[0], reached=slowest[1] < 2,
                          reason=f"{slowest[0]}; load of the machine {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores",
                          command=f"bench/fleet/scale.py HEAPREC {hosts} {shards} --record", rows=rows,
                          load=round(os.getloadavg()[0], 1), questions=kept, notes="bench/fleet/README.md")


main()
