"""Whoever is killed, every slice of every recording arrives once: rows and sums are those of an undisturbed run.

Usage: exactly_once_test.py HEAPREC GENERATE
HEAPREC_FLEET_KILLS of the shipper (default 6) and of connections (4), a tenth of it of the server;
bench/fleet/faults.py runs 200 and 20.
HEAPREC_FLEET_LEASES=1: a lease ends by itself, after two minutes.
"""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from support import (DEADLINE, HEAPREC, contents, generate, heaprec, local_shards, run, same, select, ship, side_by_side,
                     wait_until)

GENERATE = sys.argv[2]
KILLS = int(os.environ.get("HEAPREC_FLEET_KILLS", "6"))
CUTS = int(os.environ.get("HEAPREC_FLEET_KILLS", "4"))  # after each cut in a row the shipper waits twice as long
HOSTS, SECONDS, SLICE = 8, 240, "30s"


def start_shipping(folder, url, *more):
    return subprocess.Popen([HEAPREC, "ship", str(folder), "--server", url, *more], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def init(url, *more):
    heaprec("fleet", "init", "--server", url, "--slice", SLICE, *more)


def drop(shard, database):
    select(shard.url(), f"DROP DATABASE {database}")


def equal_to_the_first(shard, database, suffix=""):
    same(contents(shard.url(), database, suffix), contents(shard.url()), database)


class CuttingProxy:
    """Passes connections on, and cuts each after some bytes from the client: within requests, and within answers."""

    def __init__(self, port, seed, cuts):
        self.port, self.random, self.cuts_left, self.cuts = port, random.Random(seed), cuts, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.port))
            # Up to a few requests; half of the cuts are in an answer.
            limit = self.random.randrange(200, 60_000) if self.cuts_left > 0 else None
            upwards = self.random.random() < 0.5
            both = (client, server)
            threading.Thread(target=self.copy, args=(client, server, limit if upwards else None, both),
                             daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, limit // 20 if limit and not upwards else None,
                                                     both), daemon=True).start()

    def copy(self, source, target, limit, both):
        try:
            while chunk := source.recv(4096 if limit is None else min(4096, limit)):
                target.sendall(chunk)
                if limit is not None:
                    limit -= len(chunk)
                    if limit <= 0:
                        self.cuts_left -= 1
                        self.cuts += 1
                        break
        except OSError:
            pass
        for one in both:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def shipper_is_killed(folder, shard, kills):
    url = shard.url() + "/killed"
    init(url)
    moments = random.Random(1)
    killed = 0
    while killed < kills:
        shipper = start_shipping(folder, url)
        try:
            shipper.wait(0.01 + moments.random() * 0.4)
            # All has arrived: the rest of the kills are of another start from nothing.
            equal_to_the_first(shard, "killed")
            drop(shard, "killed")
            init(url)
        except subprocess.TimeoutExpired:
            shipper.send_signal(signal.SIGKILL)
            shipper.wait()
            killed += 1
    ship(folder, "--server", url)
    equal_to_the_first(shard, "killed")
    return killed


def server_is_killed(folder, one, root, kills):
    with local_shards.Cluster(root / "killed") as cluster:
        shard = cluster.shards[0]
        print("server killed:", ship_to_killed(folder, one, shard, kills), flush=True)


def ship_to_killed(folder, one, shard, kills):
    url = shard.url() + "/restarted"
    moments = random.Random(2)
    done = 0
    while done < kills:
        init(url)
        shipper = start_shipping(folder, url, "--tries", "100")
        while done < kills and shipper.poll() is None:
            time.sleep(0.1 + moments.random())
            shard.kill()
            shard.start()
            done += 1
        assert shipper.wait(DEADLINE) == 0
        same(contents(shard.url(), "restarted"), contents(one.url()), "restarted")
        if done < kills:
            drop(shard, "restarted")
    return done


def connections_are_cut(folder, shard, cuts):
    done = 0
    while done < cuts:
        # After each cut in a row the shipper waits twice as long.
        proxy = CuttingProxy(shard.http, 3 + done, min(cuts - done, 2))
        init(shard.url() + "/cut")
        ship(folder, "--server", proxy.url + "/cut", "--tries", "100")
        equal_to_the_first(shard, "cut")
        drop(shard, "cut")
        assert proxy.cuts > 0
        done += proxy.cuts
    return done


def one_shipper_a_folder(folder, shard):
    url = shard.url() + "/two"
    init(url)
    first = start_shipping(folder, url, "--follow")
    try:
        # The first one has the lock once it has sent something.
        wait_until("nothing is sent", lambda: any_rows(shard, "two"))
        assert "another heaprec ship" in heaprec("ship", folder, "--server", url, code=6)
    finally:
        first.send_signal(signal.SIGTERM)
        assert first.wait(DEADLINE) == 0
    ship(folder, "--server", url)
    equal_to_the_first(shard, "two")


def copies_in_two_folders(folder, root, shard):
    """Two shippers of copies of the same recordings at once: one of them sends each, the other one finds it there."""
    other = root / "copies"
    shutil.copytree(folder, other)
    url = shard.url() + "/copies"
    init(url)
    shippers = [start_shipping(one, url, "--tries", "100") for one in (folder, other)]
    if not os.environ.get("HEAPREC_FLEET_LEASES"):
        wait_until("neither ends", lambda: any(shipper.poll() is not None for shipper in shippers))
        select(shard.url(), "TRUNCATE TABLE copies.leases")
    assert [shipper.wait(DEADLINE) for shipper in shippers] == [0, 0]
    equal_to_the_first(shard, "copies")


def disk_of_the_server_is_full(folder, root, shard):
    """Its data folder is a file system of 64 MB, almost full: ship says so and gives up; with room all arrives."""
    with local_shards.Cluster(root / "full") as full:
        small = full.shards[0]
        small.stop()
        small.before = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64m none $0/data && exec \"$@\"",
                        str(small.folder)]
        small.start()
        init(small.url())
        # Of the server's own mount namespace.
        ballast = pathlib.Path(f"/proc/{small.process.pid}/root{small.folder}/data/ballast")
        try:
            with open(ballast, "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
        except OSError:
            pass
        said = heaprec("ship", folder, "--server", small.url(), "--tries", "2", code=6)
        assert "space" in said and "gave up" in said, said
        ballast.unlink()
        ship(folder, "--server", small.url())
        same(contents(small.url()), contents(shard.url()), "the disk was full")


def disk_of_the_shipper_is_full(folder, root, shard):
    """The shipper needs no room: recordings, home and temporary folder are on a file system without any."""
    place = root / "brim"
    place.mkdir()
    url = shard.url() + "/brim"
    init(url)
    script = ("mount -t tmpfs -o size=64m none $0 && cp $1/*.hrec $0 && { ! cat /dev/zero >$0/ballast; } 2>/dev/null && "
              "{ ! echo x >$0/more; } 2>/dev/null && HOME=$0 TMPDIR=$0 exec $2 ship $0 --server $3")
    subprocess.run(["unshare", "-m", "sh", "-c", script, str(place), str(folder), HEAPREC, url], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    equal_to_the_first(shard, "brim")


def any_rows(shard, database):
    return select(shard.url(), f"SELECT count() FROM {database}.shipped") != [["0"]]


def a_shard_is_down(folder, root, one):
    """Half of the recordings have nowhere to go for a while; then all arrive."""
    with local_shards.Cluster(root / "two", shards=2) as cluster:
        ship_to_shards(folder, one, cluster)


def ship_to_shards(folder, one, cluster):
    first, second = cluster.shards
    for shard in cluster.shards:
        init(shard.url(), "--cluster", "fleet")
    shipper = start_shipping(folder, first.url(), "--tries", "100")
    time.sleep(0.5)
    second.kill()
    time.sleep(2)
    assert shipper.poll() is None, "it must wait for the shard"
    second.start()
    assert shipper.wait(DEADLINE) == 0
    same(contents(first.url(), suffix="_all"), contents(one.url()), "a shard was down")


def a_shipper_is_disturbed(folder, root, shard, can_mount):
    print("shipper killed:", shipper_is_killed(folder, shard, KILLS), flush=True)
    print("connections cut:", connections_are_cut(folder, shard, CUTS), flush=True)
    if can_mount:
        disk_of_the_shipper_is_full(folder, root, shard)


def a_server_fails(folder, root, shard, can_mount):
    server_is_killed(folder, shard, root, max(KILLS // 10, 2))
    a_shard_is_down(folder, root, shard)
    if can_mount:
        disk_of_the_server_is_full(folder, root, shard)
    one_shipper_a_folder(folder, shard)
    copies_in_two_folders(folder, root, shard)


def test(root):
    folder = root / "recordings"
    generate(GENERATE, folder, HOSTS, SECONDS, 1)
    with local_shards.Cluster(root / "one") as one:
        shard = one.shards[0]
        init(shard.url())
        ship(folder, "--server", shard.url())
        can_mount = subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
        if not can_mount:
            print("full disks: skipped, mounting is not allowed here")
        other = root / "other"  # a folder has one shipper at a time
        shutil.copytree(folder, other)
        side_by_side((a_shipper_is_disturbed, folder, root, shard, can_mount),
                     (a_server_fails, other, root, shard, can_mount))


run(test)
