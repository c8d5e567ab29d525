"""ship --follow with recordings that grow: each slice arrives once, and memory stays within its bound.

Usage: follow_test.py HEAPREC GENERATE
HEAPREC_FLEET_HOSTS (default 20): how many recordings.
"""

import json
import os
import shutil
import subprocess
import sys

from support import HEAPREC, ask, contents, generate, heaprec, local_shards, run, same, select, ship, side_by_side, wait_until

GENERATE = sys.argv[2]
HOSTS, SECONDS, SLICE = int(os.environ.get("HEAPREC_FLEET_HOSTS", "20")), 120, "1m"
FIRST = 0.7  # of the bytes: the first slice is over by then
MAX_MEMORY_KIB = 64 << 10


def count(url, what):
    return int(select(url, f"SELECT count() FROM (SELECT DISTINCT recording FROM heaprec.{what})")[0][0])


def writer_is_out_of_sight(root):
    """In a container: neither its ring nor its process can be seen. Nothing is over while the file grows."""
    place = root / "pod"
    place.mkdir()
    generate(GENERATE, root / "of_pod", 1, SECONDS, 2, "2147483647")  # no process has this id
    data = (root / "of_pod/host100.hrec").read_bytes()
    with local_shards.Cluster(root / "three") as three:
        url = three.shards[0].url()
        heaprec("fleet", "init", "--server", url, "--slice", "30s")
        for part in (FIRST, 1):
            (place / "one.hrec").write_bytes(data[:int(len(data) * part)])
            said = ship(place, "--server", url)
            assert said["running"] == 1 and count(url, "recordings WHERE ended = 1") == 0, said
        os.utime(place / "one.hrec", (0, 0))
        ship(place, "--server", url)
        assert count(url, "recordings WHERE ended = 1") == 1
        assert select(url, "SELECT count() FROM heaprec.shipped WHERE kind = 1") == [[str(SECONDS // 30)]]


def dumps_do_not_end_a_recording(root):
    """Copies of the running recording in its folder, one that is there first and one that is ahead of it."""
    place, alone = root / "dumped", root / "alone"
    place.mkdir()
    alone.mkdir()
    writer = subprocess.Popen(["sleep", "3600"])
    generate(GENERATE, root / "of_dump", 1, SECONDS, 3, str(writer.pid))
    data = (root / "of_dump/host100.hrec").read_bytes()

    def dump(name, part):
        (root / "part.hrec").write_bytes(data[:int(len(data) * part)])
        heaprec("recover", root / "part.hrec", "-o", root / "copy.hrec")
        assert "dump" in heaprec("summary", root / "copy.hrec")
        os.rename(root / "copy.hrec", place / name)

    (place / "one.hrec").write_bytes(data[:int(len(data) * FIRST)])
    dump("copy.hrec", FIRST)
    with local_shards.Cluster(root / "four") as four:
        url = four.shards[0].url()
        for database in (url, url + "/alone", url + "/copy"):
            heaprec("fleet", "init", "--server", database, "--slice", "30s")
        said = ship(place / "copy.hrec", "--server", url + "/copy")
        assert said["slices"] == 2 and said.get("copies") == 1, said  # the third slice is in no other file, and not over
        assert said["recordings"] == 1 and "running" not in said, said

        def slices():
            return int(select(url, "SELECT count() FROM heaprec.shipped WHERE kind = 1")[0][0])

        shipper = subprocess.Popen([HEAPREC, "ship", place, "--server", url, "--follow", "--json"], stdout=subprocess.PIPE)
        try:
            wait_until("the first slices were not sent", lambda: slices() == 2)
            dump("longer.hrec", 0.95)
            wait_until("the slice that only the longer copy has was not sent", lambda: slices() == 3)
            with open(place / "one.hrec", "ab") as file:
                file.write(data[int(len(data) * FIRST):])
            writer.kill()
            writer.wait()
            os.utime(place / "one.hrec", (0, 0))
            wait_until("the end was not sent", lambda: count(url, "recordings WHERE ended = 1") == 1)
        finally:
            shipper.terminate()
        said = json.loads(shipper.communicate()[0])
        assert shipper.returncode == 0 and said["recordings"] == 1, said
        shutil.copy2(place / "one.hrec", alone)
        ship(alone, "--server", url + "/alone")
        same(contents(url), contents(url, "alone"), "copies beside the recording")
    same(ask("services", "--from-dir", place, "--slice", "30s"), ask("services", "--from-dir", alone, "--slice", "30s"),
         "folder with copies")


def later_samples_have_stacks(root):
    """Samples of a slice whose stacks are those of an earlier one, which was sent without samples."""
    place = root / "sampled"
    place.mkdir()
    writer = subprocess.Popen(["sleep", "3600"])
    generate(GENERATE, root / "of_sampled", 1, SECONDS, 4, str(writer.pid))
    data = (root / "of_sampled/host100.hrec").read_bytes()
    with local_shards.Cluster(root / "five") as five:
        url = five.shards[0].url()
        heaprec("fleet", "init", "--server", url, "--slice", "30s")
        (place / "one.hrec").write_bytes(data[:int(len(data) * FIRST)])
        assert ship(place, "--server", url, "--samples", "0")["samples"] == 0
        (place / "one.hrec").write_bytes(data)
        writer.kill()
        writer.wait()
        os.utime(place / "one.hrec", (0, 0))
        assert ship(place, "--server", url)["samples"] > 0
        assert select(url, "SELECT count() FROM heaprec.samples WHERE stack NOT IN "
                           "(SELECT stack FROM heaprec.stacks)") == [["0"]]


def hours_are_not_of_a_cut_recording(root):
    """maxage drops the start of an hour before the hour is rolled up: its sum is that of its slices, or not there."""
    place = root / "hour"
    place.mkdir()
    generate(GENERATE, root / "hour_whole", 1, 3700, 5)
    generate(GENERATE, root / "hour_cut", 1, 3700, 5, "from=100")
    whole, cut = ((root / name / "host100.hrec").read_bytes() for name in ("hour_whole", "hour_cut"))
    with local_shards.Cluster(root / "six") as six:
        url = six.shards[0].url()
        heaprec("fleet", "init", "--server", url, "--slice", "10m")
        (place / "one.hrec").write_bytes(whole[:int(len(whole) * 0.9)])
        assert ship(place, "--server", url)["slices"] == 5
        (place / "one.hrec").write_bytes(cut)
        said = ship(place, "--server", url)
        assert said["slices"] == 2 and said["slices_there"] == 5, said
        hours = select(url, "SELECT toString(time), sum(bytes) FROM heaprec.hours GROUP BY time ORDER BY time")
        sums = dict(select(url, "SELECT toString(toStartOfHour(time)) AS hour, sum(bytes) FROM heaprec.sums "
                                "GROUP BY hour"))
        assert len(sums) == 2 and hours
        for hour, total in hours:
            same(float(total), float(sums[hour]), hour)


def hours_are_rolled_up_after_a_restart(root):
    """The file begins within an hour, as a later part does; the shipper is started again before the hour is over."""
    place = root / "part"
    place.mkdir()
    generate(GENERATE, root / "part_whole", 1, 3700, 6, "from=100")
    data = (root / "part_whole/host100.hrec").read_bytes()
    with local_shards.Cluster(root / "seven") as seven:
        url = seven.shards[0].url()
        heaprec("fleet", "init", "--server", url, "--slice", "10m")
        for part, sent in ((0.9, 5), (1, 2)):
            (place / "one.hrec").write_bytes(data[:int(len(data) * part)])
            said = ship(place, "--server", url)
            assert said["slices"] == sent, said
        hours, sums = (select(url, f"SELECT toString(toStartOfHour(time)) AS hour, sum(bytes) FROM heaprec.{table} "
                                   "GROUP BY hour ORDER BY hour") for table in ("hours", "sums"))
        assert len(hours) == len(sums) == 2, (hours, sums)
        for (hour, total), (of, of_slices) in zip(hours, sums):
            assert hour == of
            same(float(total), float(of_slices), hour)


def one_recording(root):
    hours_are_rolled_up_after_a_restart(root)
    hours_are_not_of_a_cut_recording(root)
    later_samples_have_stacks(root)
    writer_is_out_of_sight(root)


def many_recordings_grow(root):
    whole, growing = root / "whole", root / "growing"
    writer = subprocess.Popen(["sleep", "3600"])
    generate(GENERATE, whole, HOSTS, SECONDS, 1, str(writer.pid))
    growing.mkdir()
    recordings = {path.name: path.read_bytes() for path in whole.glob("*.hrec")}
    for name, data in recordings.items():
        (growing / name).write_bytes(data[:int(len(data) * FIRST)])
    with local_shards.Cluster(root / "one") as one, local_shards.Cluster(root / "two") as two:
        url = one.shards[0].url()
        for shard in (one.shards[0], two.shards[0]):
            heaprec("fleet", "init", "--server", shard.url(), "--slice", SLICE)
        shipper = subprocess.Popen([HEAPREC, "ship", growing, "--server", url, "--follow"], stdout=subprocess.PIPE)
        wait_until("the first slices were not sent", lambda: count(url, "shipped") == HOSTS)
        for name, data in recordings.items():
            with open(growing / name, "ab") as file:
                file.write(data[int(len(data) * FIRST):])
        writer.kill()
        writer.wait()
        for name in recordings:
            for folder in (growing, whole):
                os.utime(folder / name, (0, 0))  # without a ring it is over once it has not grown for a while
        wait_until("the end was not sent", lambda: count(url, "recordings WHERE ended = 1") == HOSTS)
        shipper.terminate()
        said = shipper.stdout.read().decode()
        _, status, usage = os.wait4(shipper.pid, 0)
        print(f"{usage.ru_maxrss} KiB; {said}")
        assert status == 0 and "already on the server" not in said, said
        ship(whole, "--server", two.shards[0].url())
        same(contents(url), contents(two.shards[0].url()), "growing")
        assert usage.ru_maxrss <= MAX_MEMORY_KIB, f"{usage.ru_maxrss} KiB"


def test(root):
    side_by_side((many_recordings_grow, root), (dumps_do_not_end_a_recording, root), (one_recording, root))


run(test)
