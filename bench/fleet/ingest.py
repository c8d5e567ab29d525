#!/usr/bin/env python3
"""How fast heaprec ship sends, what it needs, and how many bytes a day of 1,000 hosts takes on a server's disk.

Usage: bench/fleet/ingest.py HEAPREC GENERATE [HOSTS] [SECONDS] [--record]     defaults: 40 3600
       bench/fleet/ingest.py HEAPREC RECORDING [--record]

Simulated recordings (README.md): 20 samples a second, 40 sites, of which ship keeps 5 a second by default; slices of 10
minutes. On one shard, then on two. Prints rows per second, the shipper's peak memory, bytes a row and bytes a host
and day by table, after the server has merged. Sums and roll-ups of a host grow with its sites, samples do not.

With RECORDING (*.hrec, of a real program that ran for 10 minutes or more): a day of 1,000 such hosts, each slice like the
fullest one, by default and with slices of an hour and 2 samples a second. All hosts share names and stacks.
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
TIMES = {"samples": "slice", "sums": "time", "hours": "time", "totals": "slice", "live": "time"}
DAY, THOUSAND_HOSTS = 86400, 1000


def run(url, sql):
    with urllib.request.urlopen(url, data=sql.encode(), timeout=1800) as answer:
        return answer.read().decode()


def measure(heaprec, folder, shards, slice_length="10m", samples="5"):
    """Rows by table, bytes by table, seconds, peak memory of the shipper in MiB, and rows of the fullest slice."""
    with tempfile.TemporaryDirectory() as place, local_shards.Cluster(place, shards) as cluster:
        for shard in cluster.shards:
            subprocess.run([heaprec, "fleet", "init", "--server", shard.url(),
                            "--slice", slice_length,
                            *(["--cluster", "fleet"] if shards > 1 else [])], check=True, stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        shipper = subprocess.Popen([heaprec, "ship", folder, "--server", cluster.shards[0].url(), "--samples", samples],
                                   stdout=subprocess.DEVNULL)
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
        fullest = {table: int(run(cluster.shards[0].url(), "SELECT max(n) FROM (SELECT count() AS n FROM heaprec."
                                  f"{table} GROUP BY {time})")) for table, time in TIMES.items()}
        return rows, size, seconds, usage.ru_maxrss / 1024, fullest


def measure_real(heaprec, recording, is_kept):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "one.hrec").symlink_to(pathlib.Path(recording).resolve())
        for length, seconds, samples in (("10m", 600, "5"), ("1h", 3600, "2")):
            rows, size, _, memory, fullest = measure(heaprec, folder, 1, length, samples)
            total = 0
            for table, most in fullest.items():
                times = DAY / (3600 if table == "hours" else seconds)
                gigabytes = size[table] / max(rows[table], 1) * most * times * THOUSAND_HOSTS / 1e9
                total += gigabytes
                print(f"  {table}: {most} rows a slice, {size[table] / max(rows[table], 1):.1f} bytes a row, {gigabytes:.2f} GB "
                      "a day of 1,000 hosts")
            print(f"slices of {length}, {samples} samples/s: {total:.1f} GB a day of 1,000 hosts; peak memory {memory:.0f} MiB")
            if is_kept:
                record.record("fleet", f"fleet.bytes_a_day_real_{length}", area="Fleet",
                              figure=f"javac on 1,000 hosts for a day, --slice {length}", goal="< 15 GB",
                              value=round(total, 1), unit="GB", reached=total < 15, rows_a_slice=fullest,
                              samples_per_second=int(samples), peak_mib=round(memory), notes="bench/fleet/README.md",
                              bytes_a_row={table: round(size[table] / max(rows[table], 1), 1) for table in TIMES},
                              command="bench/fleet/ingest.py HEAPREC javac.hrec --record",
                              **({"reason": f"{fullest['sums']:,} classes, sites and pairs in a slice"} if total >= 15 else {}))


def main():
    arguments = [one for one in sys.argv[1:] if one != "--record"]
    heaprec, generate = arguments[:2]
    if generate.endswith(".hrec"):
        measure_real(heaprec, generate, "--record" in sys.argv)
        return
    hosts, length = (int(word) for word in (arguments + ["40", "3600"][len(arguments) - 2:])[2:4])
    is_kept = "--record" in sys.argv
    command = f"bench/fleet/ingest.py HEAPREC GENERATE {hosts} {length} --record"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([generate, folder, str(hosts), str(length), "1"], check=True)
        files = sum(path.stat().st_size for path in pathlib.Path(folder).glob("*.hrec")) / 1e6
        for shards in (1, 2):
            rows, size, seconds, memory, _ = measure(heaprec, folder, shards)
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
