"""Shards with replicas: any server takes rows and answers, one of each shard may be down, and what was down catches up.

Usage: replicas_test.py HEAPREC GENERATE
Needs ZooKeeper, which tests/fleet/fetch.sh zookeeper gets; skips without.
"""

import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time

from chdb_server import LIBRARY, Chdb
from support import DEADLINE, HEAPREC, QUESTIONS, ask, contents, generate, heaprec, local_shards, run, same, select, ship

GENERATE = sys.argv[2]
HOSTS, SECONDS, SLICE, KILLS = 8, 240, "30s", 6
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
JARS = pathlib.Path(CACHE, "heaprec/zookeeper")
TABLES = ("recordings", "names", "stacks", "totals", "sums", "hours", "samples", "live", "shipped", "leases")


class ZooKeeper:
    """A server on a loopback port, with its data in a folder. A context manager."""

    def __init__(self, folder):
        folder.mkdir()
        (self.port,) = local_shards.free_ports(1)
        self.folder = folder
        (folder / "zoo.cfg").write_text(f"tickTime=1000\ndataDir={folder}/data\nclientPort={self.port}\n"
                                        "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n")

    def __enter__(self):
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(["java", "-Xmx256m", "-cp", f"{JARS}/*",
                                             "org.apache.zookeeper.server.ZooKeeperServerMain", self.folder / "zoo.cfg"],
                                            stdout=log, stderr=log)
        deadline = time.monotonic() + DEADLINE
        while True:
            assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.2)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def init(shard, *more):
    return heaprec("fleet", "init", "--server", shard.url(), "--cluster", "fleet", "--slice", SLICE, *more)


def tables_are_made_once(cluster):
    for shard in cluster.shards:
        said = json.loads(init(shard, "--json"))
        assert said["replicated"] and said["created"], said
    for shard in cluster.shards:
        assert not json.loads(init(shard, "--json"))["created"]
        engines = dict(select(shard.url(), "SELECT name, engine FROM system.tables WHERE database = 'heaprec'"))
        for table in TABLES:
            assert engines[table] == "ReplicatedReplacingMergeTree", (table, engines[table])
            assert engines[table + "_all"] == "Distributed", table


def anyone_is_killed(folder, cluster):
    """The shipper, and in turns one server of each shard; the shipper writes to the other ones meanwhile."""
    moments = random.Random(1)
    killed, down = 0, None
    while killed < KILLS or down:
        asked = cluster.shards[0 if down is None or cluster.shards[0] not in down else 1]
        shipper = subprocess.Popen([HEAPREC, "ship", str(folder), "--server", asked.url(), "--tries", "100"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.2 + moments.random())
        if down is None:
            # Those of the other replica's number: of each shard one stays.
            down = [shard for shard in cluster.shards if shard.replica == 2 - killed % 2]
            for shard in down:
                shard.kill()
        else:
            for shard in down:
                shard.start()
            down = None
        shipper.kill()
        shipper.wait()
        killed += 1


def wait_for(what, is_done):
    deadline = time.monotonic() + DEADLINE
    while not is_done():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def is_merged(shard):
    """A ledger row written twice, because a replica that lags did not show it, differs in its time of writing."""
    try:
        select(shard.url(), "OPTIMIZE TABLE heaprec.shipped FINAL")
        return True
    except RuntimeError:  # ZooKeeper still takes the server that was killed for the one that merges
        return False


def replicas_agree(cluster):
    """Waits until each server has got and merged what the others of its shard wrote."""
    waiting = "SELECT sum(queue_size) + sum(log_max_index - log_pointer >= 0) FROM system.replicas WHERE database = 'heaprec'"
    for shard in cluster.shards:
        wait_for("no merge", lambda shard=shard: is_merged(shard))
        wait_for("a replica did not catch up", lambda shard=shard: select(shard.url(), waiting) == [["0"]])
    for one, other in zip(cluster.shards[::2], cluster.shards[1::2]):
        assert one.number == other.number
        same(contents(one.url()), contents(other.url()), "replicas of a shard")


def new_servers_take_the_tables(root, zookeeper, cluster):
    """ClickHouse 26.7 creates them, too. As a library it has no port for other replicas: its tables stay empty."""
    (root / "chdb").mkdir()
    (root / "chdb/config.xml").write_text(f"""<clickhouse>
        <zookeeper><node><host>127.0.0.1</host><port>{zookeeper.port}</port></node></zookeeper>
        <macros><shard>new</shard><replica>1</replica></macros></clickhouse>""")
    chdb = Chdb(root / "chdb", root / "chdb/config.xml")
    chdb.run("CREATE DATABASE heaprec")
    for table in TABLES:
        sql = select(cluster.shards[0].url(), "SELECT create_table_query FROM system.tables WHERE database = 'heaprec' AND "
                                              f"name = '{table}' FORMAT TSVRaw")[0][0]
        assert "{shard}" in sql and "{replica}" in sql and "replicated_deduplication_window = 10000" in sql, sql
        chdb.run(sql)
    paths = chdb.run("SELECT zookeeper_path FROM system.replicas WHERE database = 'heaprec'").decode().split()
    assert sorted(paths) == sorted(f"/heaprec/fleet/new/heaprec/{table}" for table in TABLES), paths


def no_replicas_without_zookeeper(root):
    """A shard's servers would each have a part of the rows."""
    with local_shards.Cluster(root / "bare", replicas=2) as bare:
        said = heaprec("fleet", "init", "--server", bare.shards[0].url(), "--cluster", "fleet", code=6)
        assert "have replicas, but this server has no ZooKeeper" in said, said


def test(root):
    folder = root / "recordings"
    generate(GENERATE, folder, HOSTS, SECONDS, 1)
    with local_shards.Cluster(root / "one") as one:
        heaprec("fleet", "init", "--server", one.shards[0].url(), "--slice", SLICE)
        ship(folder, "--server", one.shards[0].url())
        expected = contents(one.shards[0].url())
    no_replicas_without_zookeeper(root)
    with ZooKeeper(root / "zookeeper") as zookeeper, local_shards.Cluster(root / "replicas", shards=2, replicas=2,
                                                                          zookeeper=zookeeper.port) as cluster:
        tables_are_made_once(cluster)
        if LIBRARY.exists():
            new_servers_take_the_tables(root, zookeeper, cluster)
        anyone_is_killed(folder, cluster)
        ship(folder, "--server", cluster.shards[-1].url(), "--tries", "100")
        replicas_agree(cluster)
        for shard in cluster.shards:
            same(contents(shard.url(), suffix="_all"), expected, "replicas")
        for question in QUESTIONS:
            for shard in cluster.shards[::2]:
                same(ask(*question, "--server", shard.url()), ask(*question, "--from-dir", folder, "--slice", SLICE),
                     " ".join(question))


if JARS.is_dir() and shutil.which("java"):
    run(test)
    sys.stdout.flush()
    os._exit(0)  # the library's ZooKeeper threads crash while Python ends
else:
    print(f"skipped: no {JARS} (tests/fleet/fetch.sh zookeeper), or no java")
