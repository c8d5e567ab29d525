#!/usr/bin/env python3
"""How fast heaprec ship sends, what it needs, and how many bytes a day of 1,000 hosts takes on a server's disk.

Usage: bench/fleet/ingest.py HEAPREC GENERATE [HOSTS] [SECONDS] [--record]     defaults: 40 3600

Simulated recordings (README.md): 20 samples a second, 40 sites, of which ship keeps 5 a second by default; slices of 10
minutes. On one shard, then on two. Prints rows per second, the shipper's peak memory, bytes a row and bytes a host
and day by table, after the server has merged. Sums and roll-ups of a host grow with its sites, samples do not.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "bench")]
import local_shards  # noqa: E402
import record  # noqa: E402

TABLES = ("samples", "sums", "hours", "totals", "live", "names", "stacks", "recordings", "shipped", "leases")
DAY, THOUSAND_HOSTS = 86400, 1000


def run(url, sql):
    with urllib.request.urlopen(url, data=sql.encode(), timeout=1800) as answer:
        return answer.read().decode()


def measure(heaprec, folder, shards):
    """Rows by table, bytes by table, seconds, and peak memory of the shipper in MiB."""
    with tempfile.TemporaryDirectory() as place, local_shards.Cluster(place, shards) as cluster:
        for shard in cluster.shards:
            subprocess.run([heaprec, "fleet", "init", "--server", shard.url(),
                            *(["--cluster", "fleet"] if shards > 1 else [])], check=True, stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        shipper = subprocess.Popen([heaprec, "ship", folder, "--to", cluster.shards[0].url()], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(shipper.pid, 0)
        seconds = time.monotonic() - begin
        assert status == 0, status
        rows, size = dict.fromkeys(TABLES, 0), dict.fromkeys(TABLES, 0)
        for shard in cluster.shards:
            for table in TABLES:
                run(shard.url(), f"OPTIMIZE TABLE heaprec.{table}")
                told = run(shard.url(), "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database "
                                        f"= 'heaprec' AND table = '{table}'").split()
                rows[table] += int(told[0])
                size[table] += int(told[1])
        return rows, size, seconds, usage.ru_maxrss / 1024


def main():
    arguments = [one for one in sys.argv[1:] if one != "--record"]
    heaprec, generate = arguments[:2]
    hosts, length = (int(word) for word in (arguments + ["40", "3600"][len(arguments) - 2:])[2:4])
    is_kept = "--record" in sys.argv
    command = f"bench/fleet/ingest.py HEAPREC GENERATE {hosts} {length} --record"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([generate, folder, str(hosts), str(length), "1"], check=True)
        files = sum(path.stat().st_size for path in pathlib.Path(folder).glob("*.hrec")) / 1e6
        for shards in (1, 2):
            rows, size, seconds, memory = measure(heaprec, folder, shards)
            rate, load = sum(rows.values()) / seconds, os.getloadavg()[0]
            print(f"{shards} shard(s): {files:.0f} MB of recordings, {sum(rows.values())} rows in {seconds:.1f} s: {rate:.0f} "
                  f"rows/s, {hosts * length / seconds:.0f} host-seconds/s; peak memory {memory:.0f} MiB; load {load:.0f}")
            if is_kept:
                record.record("fleet", f"fleet.ingest_{shards}", area="Fleet", figure=f"heaprec ship, {shards} shard(s)",
                              value=round(rate), unit="rows/s", command=command, load=round(load, 1),
                              hosts_at_once=round(hosts * length / seconds), notes="bench/fleet/README.md")
            if shards > 1:
                continue
            a_day = THOUSAND_HOSTS * DAY / (hosts * length) / 1e9
            for table in TABLES:
                print(f"  {table}: {rows[table]} rows, {size[table] / max(rows[table], 1):.1f} bytes a row, "
                      f"{size[table] * a_day:.2f} GB a day of 1,000 hosts")
            total = sum(size.values()) * a_day
            print(f"  in all {total:.2f} GB a day of 1,000 hosts")
            if is_kept:
                record.record("fleet", "fleet.bytes_a_day", area="Fleet", figure="A day of 1,000 hosts on disk",
                              goal="< 15 GB", value=round(total, 2), unit="GB", reached=total < 15, command=command,
                              bytes_a_row={table: round(size[table] / max(rows[table], 1), 1) for table in TABLES},
                              notes="bench/fleet/README.md")
                record.record("fleet", "fleet.ship_memory", area="Fleet", figure="Peak memory of heaprec ship",
                              goal="<= 64 MiB", value=round(memory), unit="MiB", reached=memory <= 64, command=command,
                              recordings_mb=round(files), notes="bench/fleet/README.md")


main()
