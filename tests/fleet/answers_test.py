"""A fleet of which the truth is known, on real servers: every answer of `heaprec fleet`, by server and by folder.

Usage: answers_test.py HEAPREC GENERATE
"""

import functools
import json
import math
import os
import sys
import time

from support import QUESTIONS, ask, contents, generate, heaprec, local_shards, page_data, run, same, select, ship

GENERATE = sys.argv[2]
HOSTS, SECONDS, SLICE, SEED = 60, 120, 60, 1
SLICES = SECONDS // SLICE
END_OF_DAY = 1795219200  # of the day that is simulated


def init_says_what_it_does(url):
    assert "no heaprec tables" in heaprec("fleet", "services", "--server", url, code=3)
    assert "now has the tables" in heaprec("fleet", "init", "--server", url, "--slice", f"{SLICE}s")
    assert "has the tables" in heaprec("fleet", "init", "--server", url, "--slice", f"{SLICE}s")
    assert f"slices of {SLICE} s" in heaprec("fleet", "init", "--server", url, "--slice", "10m", code=6)


def slices_are_sent_once(folder, url):
    dry = ship(folder, "--dry-run")
    assert dry["recordings"] == HOSTS and dry["slices"] > 0, dry
    shipped = ship(folder, "--server", url)
    assert shipped["recordings"] == HOSTS and shipped["slices"] == HOSTS * SLICES, shipped
    before = contents(url)
    # 40 sites, 20 classes and pairs of them by the minute, 5 samples a second: rows by their measured sizes, within 20 %.
    rows = sum(count for table in ("sums", "totals") for _, _, count, _ in before[table])
    others = 27 * shipped["samples"] + 43 * sum(count for _, _, count, _ in before["live"])
    a_day = 86400 / SLICE / shipped["slices"] * (56 * rows + others) + 24 * 56 * rows / shipped["slices"]
    assert math.isclose(shipped["bytes_a_day"], a_day, rel_tol=0.2), (shipped, a_day)
    again = ship(folder, "--server", url)
    assert again["slices"] == 0 and contents(url) == before, again


@functools.cache
def answer_of_folder(folder, question):
    return ask(*question, "--from-dir", folder, "--slice", f"{SLICE}s")


def server_and_folder_agree(folder, url):
    for question in QUESTIONS:
        same(ask(*question, "--server", url), answer_of_folder(folder, tuple(question)), " ".join(question))


def pulled_recordings_agree(folder, url, root):
    """The same samples by server and by folder; about the same totals as sums of all samples."""
    for most in (300_000, 3_000):
        pulled = []
        for name, source in (("server", ("--server", url)), ("folder", ("--from-dir", folder, "--slice", f"{SLICE}s"))):
            path = root / f"{name}{most}.hrec"
            heaprec("fleet", "pull", *source, "--samples", most, "-o", path)
            pulled.append(json.loads(heaprec("top", "--by", "site", "--json", "--limit", "0", path)))
            pulled[-1].pop("scan")  # it names the file
        same(*pulled, f"pull --samples {most}")
        total, known = pulled[0]["total"], ask("services", "--server", url)["scope"]["bytes"]["value"]
        # 3,000 samples: 4 standard errors are 8 %.
        assert abs(total["value"] - known) < 0.08 * known, f"{total} and {known}"
    hosts = json.loads(heaprec("top", "--by", "thread", "--json", "--limit", "0", path))["tables"][0]["rows"]
    assert len(hosts) == HOSTS, len(hosts)
    heaprec("fleet", "flame", "--server", url, "-o", root / "fleet.html", "--site", "*.site7")
    page = page_data.header(root / "fleet.html")
    assert "site7" in page and "site9" not in page
    heaprec("fleet", "report", "--server", url, "-o", root / "report.html")
    assert (root / "report.html").stat().st_size > 100_000
    assert "exists" in heaprec("fleet", "report", "--server", url, "-o", root / "report.html", code=6)


def later_slices_have_names(folder, url):
    """Names that only slices before --since had first are sent, too."""
    heaprec("fleet", "init", "--server", url + "/later", "--slice", f"{SLICE}s")
    shipped = ship(folder, "--server", url + "/later", "--since", "2026-11-20T10:01:00Z")
    assert shipped["slices"] == HOSTS and shipped["slices_too_old"] == HOSTS, shipped
    names = {row["name"] for row in ask("top", "--server", url + "/later")["rows"]}
    assert names == {f"com.acme.Work.site{site}" for site in range(40)}, names


def old_days_are_pruned(url):
    """Listed, then dropped: samples and slices of the day, not the sums by hour."""
    database = url + "/later"
    listed = ask("prune", "--server", database, "--sample-days", "100000")
    assert {row["table"] for row in listed["partitions"]} == set() and not listed["dropped"], listed
    listed = ask("prune", "--server", database, "--sample-days", "1")
    expected = {"samples", "sums", "live"} if time.time() > END_OF_DAY + 2 * 86400 else set()
    assert {row["table"] for row in listed["partitions"]} == expected and not listed["dropped"], listed
    before = ask("prune", "--server", database, "--sample-days", "1")
    assert before == listed, "listing drops nothing"
    assert ask("prune", "--server", database, "--sample-days", "1", "--yes")["dropped"]
    left = {table: int(select(url, f"SELECT count() FROM later.{table}")[0][0]) for table in ("samples", "sums", "totals")}
    assert left["totals"] > 0 and (left["samples"] == left["sums"] == 0) == bool(expected), left


def thinned_samples_are_unbiased(truth, url):
    """Of the samples that were sent, about 5 a second of 20: what they say of each site of all hosts.

    z over 40 sites; each is the sum of hundreds of draws. Mean within 4.9 / sqrt(40), squares within 4.9 standard
    deviations of chi-squared: false alarms once in 500,000.
    """
    rows = select(url, "SELECT name, sum(weight), sum(weight * weight), count() FROM heaprec.samples AS s ANY INNER JOIN "
                       "(SELECT id AS site, name FROM heaprec.names WHERE kind = 2) AS n USING site GROUP BY name")
    true = {}
    for host in truth:
        for site in host["sites"]:
            true[site["site"]] = true.get(site["site"], 0) + site["bytes"]
    z = [(float(weights) - true[name]) / math.sqrt(float(squares)) for name, weights, squares, _ in rows]
    kept = sum(int(count) for _, _, _, count in rows) / (HOSTS * SECONDS)
    mean, spread = sum(z) / len(z), sum(value * value for value in z) / len(z)
    print(f"{kept:.2f} samples a second and host are left; z of {len(z)} sites: mean {mean:.2f}, mean square {spread:.2f}")
    assert len(z) == 40 and 4.5 < kept < 5.5
    assert abs(mean) < 4.9 / math.sqrt(40) and spread < 1 + 4.9 * math.sqrt(2 / 40), z


def totals_are_exact(truth, url):
    """Bytes are counted, not sampled: of all hosts, and of each one in each slice."""
    total = sum(site["bytes"] for host in truth for site in host["sites"])
    assert math.isclose(ask("services", "--server", url)["scope"]["bytes"]["value"], total, rel_tol=1e-9)
    counted = {host: float(of) for host, of in select(
        url, "SELECT host, sum(counted) FROM heaprec.totals AS t ANY LEFT JOIN heaprec.recordings AS r "
             "USING recording GROUP BY host")}
    for host in truth:
        assert math.isclose(counted[host["host"]], sum(site["bytes"] for site in host["sites"]), rel_tol=1e-9), host


def intervals_hold_the_truth(truth, url):
    """95 % intervals of the bytes of sites by host: 2,400 cells, of which 93 to 97 % hold the truth.

    Seeded. At 95 % the limits are 4.5 standard errors away; cells of a host share its total, which makes little of it.
    """
    held = cells = 0
    for host in truth:
        rows = {row["name"]: row["bytes"] for row in ask("top", "--host", host["host"], "--server", url)["rows"]}
        for site in host["sites"]:
            cells += 1
            interval = rows.get(site["site"])
            # Without a sample there is no row: the interval is that of nothing seen, which must not be missed often.
            held += interval is not None and interval["low"] <= site["bytes"] <= interval["high"]
    share = held / cells
    print(f"{held} of {cells} intervals hold the truth: {share:.4f}")
    assert cells >= 1000 and 0.93 <= share <= 0.97, f"{held} of {cells}"


def live_objects_are_known(truth, url):
    """Of the whole fleet, of each host and site, and at an earlier time. 95 %: as above, with half as many cells."""
    total = ask("live", "--server", url)["live"]
    true = sum(site["live"] for host in truth for site in host["sites"])
    # 1e-6: 2.5 times the sides of the interval.
    low = total["bytes"]["value"] - 2.5 * (total["bytes"]["value"] - total["bytes"]["low"])
    assert low <= true <= 2 * total["bytes"]["value"] - low, f"{total} and {true}"
    held = cells = 0
    for host in truth:
        answer = ask("live", "--host", host["host"], "--server", url)
        rows = {row["name"]: row["bytes"] for row in answer["rows"]}
        for site in host["sites"]:
            cells += 1
            # What has no sample is in no row.
            interval = rows.get(site["site"], {"low": 0, "high": answer["detection_limit"]})
            held += interval["low"] <= site["live"] <= interval["high"]
    share = held / cells
    print(f"{held} of {cells} intervals hold what is live: {share:.4f}")
    assert cells >= 1000 and 0.92 <= share <= 0.98, f"{held} of {cells}"


def live_is_of_running_processes(url, root):
    """What ended more than two slices before the others is not live any more."""
    database = url + "/ended"
    heaprec("fleet", "init", "--server", database, "--slice", "10s")
    for hosts, seconds in ((4, 120), (3, 60)):
        generate(GENERATE, root / f"of{seconds}", hosts, seconds, seconds)
        ship(root / f"of{seconds}", "--server", database)
    answer = ask("live", "--server", database)
    assert answer["gone"] == 3 and answer["processes"] == 4, answer
    before = ask("live", "--server", database, "--to", "2026-11-20T10:01:00Z")
    assert before.get("gone", 0) == 0 and before["processes"] == 7, before


def answer_of(*arguments):
    """The answer as JSON; damaged recordings make the exit code 1 or 4."""
    return json.loads(heaprec(*arguments, "--json", code=(0, 1, 4)))


def untrustworthy_recordings_are_counted(url, root):
    """By server and by folder, each recording counts for what `check` says of its file, as far as it was written."""
    database, folder = url + "/trust", root / "trust"
    heaprec("fleet", "init", "--server", database, "--slice", f"{SLICE}s")
    late = f"lossy={SLICE + 30}"
    for name, seed, *mode in (("good", 11), ("lossy", 12, late), ("damaged", 13), ("cut", 14)):
        generate(GENERATE, folder / name, 1, SECONDS, seed, *mode)
    files = {name: folder / name / "host100.hrec" for name in ("good", "lossy", "damaged", "cut")}
    data = files["damaged"].read_bytes()
    files["damaged"].write_bytes(data[:len(data) // 2] + bytes(8192) + data[len(data) // 2 + 8192:])
    files["cut"].write_bytes(files["cut"].read_bytes()[:-100])
    os.utime(files["cut"], (0, 0))  # it does not grow any more
    files["imported"] = folder / "imported/one.hrec"
    files["imported"].parent.mkdir()
    heaprec("export", "--format", "jfr", "-o", root / "lossy.jfr", files["lossy"])
    heaprec("import", root / "lossy.jfr", "-o", files["imported"])

    doubted = {}
    for name, file in files.items():
        said = answer_of("check", file, "--budget", "total<1TiB")
        doubted[name] = not said["trustworthy"]
        for source in (("--server", database), ("--from-dir", file, "--slice", f"{SLICE}s")):
            if source[0] == "--server":
                answer_of("ship", file, "--server", database)
            scope = answer_of("fleet", "services", *source)["scope"]
            expected = sum(doubted.values()) if source[0] == "--server" else doubted[name]
            assert scope["untrustworthy"] == expected, (name, source, scope, said)
    assert doubted == {"good": False, "lossy": True, "damaged": True, "cut": False, "imported": True}, doubted
    folder_says = answer_of("fleet", "services", "--from-dir", folder, "--slice", f"{SLICE}s")["scope"]
    assert folder_says["untrustworthy"] == 3 and folder_says["recordings"] == 5, folder_says
    for doubts, source in ((3, ("--server", database)), (0, ("--from-dir", files["good"], "--slice", f"{SLICE}s"))):
        pulled = root / f"pulled{doubts}.hrec"
        heaprec("fleet", "pull", *source, "-o", pulled)
        assert answer_of("check", pulled, "--budget", "total<1TiB")["trustworthy"] == (doubts == 0), pulled
    reasons = dict(select(url, "SELECT file, why_not FROM trust.recordings FINAL WHERE trustworthy = 0"))
    assert "were lost" in reasons[str(files["lossy"])] and len(reasons) == 3, reasons


def a_recording_loses_trust_while_it_runs(url, root):
    """It lost nothing in its first slice; what was said then does not count any more."""
    database, place = url + "/later_lossy", root / "later_lossy"
    heaprec("fleet", "init", "--server", database, "--slice", f"{SLICE}s")
    generate(GENERATE, place, 1, SECONDS, 12, f"lossy={SLICE + 30}")
    file = place / "host100.hrec"
    data = file.read_bytes()
    for part, slices, untrustworthy in ((0.7, 1, 0), (1, SLICES - 1, 1)):
        file.write_bytes(data[:int(len(data) * part)])
        said = ship(place, "--server", database)
        assert said["slices"] == slices, said
        scope = ask("services", "--server", database)["scope"]
        assert scope["untrustworthy"] == untrustworthy, scope


def changes_are_found(url):
    rows = ask("diff", "1.0", "1.1", "--service", "checkout", "--server", url)["rows"]
    named = {row["name"]: row["verdict"] for row in rows if row["verdict"] != "same"}
    true = {"com.acme.Work.site7": "more", "com.acme.Work.site12": "less", "com.acme.Work.site20": "more"}
    print(f"changes named: {named}")
    assert {name: verdict for name, verdict in named.items() if name in true} == true, named
    # All sites whose share changed have changed: bytes of the others are the same.
    false = set(named) - set(true)
    assert len(false) <= 0.05 * len(named), f"not real: {false}"


def outlier_is_first(url):
    first = ask("outliers", "--service", "search", "--server", url)["rows"][0]
    assert first["host"] == f"host{100 + HOSTS - 1}" and first["name"] == "com.acme.Work.site9", first


def shards_answer_alike(folder, cluster):
    first, second = (shard.url() for shard in cluster.shards)
    tables = ("--slice", f"{SLICE}s", "--cluster", "fleet")
    made = answer_of("fleet", "init", "--server", first, *tables)
    assert len(made["without_tables"]) == 1, f"the second shard has no tables yet: {made}"
    for said in (heaprec("ship", folder, "--server", first, "--tries", "1", code=6),
                 heaprec("fleet", "top", "--server", first, code=3)):
        assert "There is no table heaprec." in said or "doesn't exist" in said, f"the cause is not said: {said}"
    assert heaprec("fleet", "init", "--server", second, *tables, "-q") == ""
    again = answer_of("fleet", "init", "--server", first, *tables)
    assert again["without_tables"] == [], again
    ship(folder, "--server", cluster.shards[0].url())
    for shard in cluster.shards:
        assert int(select(shard.url(), "SELECT count() FROM heaprec.sums")[0][0]) > 0
    server_and_folder_agree(folder, cluster.shards[1].url())


def test(root):
    folder = root / "recordings"
    truth = generate(GENERATE, folder, HOSTS, SECONDS, SEED)
    with local_shards.Cluster(root / "one") as one:
        url = one.shards[0].url()
        init_says_what_it_does(url)
        slices_are_sent_once(folder, url)
        server_and_folder_agree(folder, url)
        pulled_recordings_agree(folder, url, root)
        later_slices_have_names(folder, url)
        old_days_are_pruned(url)
        totals_are_exact(truth, url)
        thinned_samples_are_unbiased(truth, url)
        intervals_hold_the_truth(truth, url)
        live_objects_are_known(truth, url)
        live_is_of_running_processes(url, root)
        untrustworthy_recordings_are_counted(url, root)
        a_recording_loses_trust_while_it_runs(url, root)
        changes_are_found(url)
        outlier_is_first(url)
    with local_shards.Cluster(root / "two", shards=2) as two:
        shards_answer_alike(folder, two)


run(test)
