"""Executes every query of deploy/grafana/fleet.json, on one server and on two shards, and compares with the command.

Usage: dashboard_test.py HEAPREC GENERATE
"""

import json
import math
import pathlib
import re
import sys

from support import ask, generate, heaprec, local_shards, run, select, ship

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GENERATE = sys.argv[2]
HOSTS, SECONDS, FROM, TO = 6, 120, 1795168000, 1795172000


def panels():
    dashboard = json.loads((ROOT / "deploy/grafana/fleet.json").read_text())
    return {panel["title"]: panel["targets"][0]["rawSql"] for panel in dashboard["panels"]}


def as_grafana_sends_it(sql, suffix, service="%"):
    sql = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 >= toDateTime({FROM}) AND \1 <= toDateTime({TO})", sql)
    sql = sql.replace("${suffix}", suffix).replace("${service}", service)
    assert "$" not in sql, sql
    return sql


def queries_agree(url, suffix):
    rows = {title: select(url, as_grafana_sends_it(sql, suffix)) for title, sql in panels().items()}
    assert len(rows) >= 6 and all(rows.values()), {title: len(of) for title, of in rows.items()}
    total = ask("services", "--server", url)["scope"]["bytes"]["value"]
    by_minute = sum(float(row[2]) * 60 for row in rows["Bytes per second, by service and version"])
    assert math.isclose(by_minute, total, rel_tol=1e-9), f"{by_minute} and {total}"
    assert math.isclose(sum(float(row[3]) for row in rows["Hosts that allocate most"]), total, rel_tol=1e-9)
    sites = [row["name"] for row in ask("top", "--server", url)["rows"]][:5]
    assert [row[0] for row in rows["Sites that allocate most"]][:5] == sites
    assert rows["Recordings that arrive"][0][1] == str(HOSTS)
    chosen = select(url, as_grafana_sends_it(panels()["Hosts that allocate most"], suffix, "search"))
    assert {row[1] for row in chosen} == {"search"}


def test(root):
    folder = root / "recordings"
    generate(GENERATE, folder, HOSTS, SECONDS, 1)
    with local_shards.Cluster(root / "servers", shards=2) as cluster:
        url = cluster.shards[0].url()
        for shard in cluster.shards:
            heaprec("fleet", "init", "--server", shard.url(), "--slice", "1m", "--cluster", "fleet")
        ship(folder, "--server", url)
        queries_agree(url, "_all")
    with local_shards.Cluster(root / "one") as one:
        url = one.shards[0].url()
        heaprec("fleet", "init", "--server", url, "--slice", "1m")
        ship(folder, "--server", url)
        queries_agree(url, "")


run(test)
