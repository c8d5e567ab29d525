#!/usr/bin/python3
"""Turns a recording's rows into an arrival trace for //bench/throttle:compare.

    heaprec export --format csv --from 10s --to 20s -o rows.csv rec.hrec
    bench/throttle/trace.py rows.csv 25000 > bench/throttle/traces/NAME.txt

The recording should be a dense one (rate=6000). More rows than the second argument are thinned to about so many, each of the others
standing for more. One line per sample: microseconds since the one before, site, weight in units of 64 bytes. A site is a method that allocates; the 60
largest have a number of their own, the rest share one.
"""

import collections
import csv
import random
import sys

LARGEST = 60


def site_of(row):
    return row["stack"].rsplit(";", 1)[-1].rsplit(":", 1)[0]


def main():
    rows = list(csv.DictReader(open(sys.argv[1], newline="")))
    wanted = min(1.0, float(sys.argv[2]) / len(rows)) if len(sys.argv) > 2 else 1.0
    chance = random.Random(1)
    rows = [row for row in rows if chance.random() < wanted]
    rows.sort(key=lambda row: int(row["time_ns"]))
    weights = collections.Counter()
    for row in rows:
        weights[site_of(row)] += float(row["weight_bytes"])
    number = {site: i for i, (site, _) in enumerate(weights.most_common(LARGEST))}
    print(f"# {len(rows)} samples of {len(weights)} sites: dt_us site weight_64B")
    last = int(rows[0]["time_ns"]) // 1000
    for row in rows:
        now = int(row["time_ns"]) // 1000
        print(now - last, number.get(site_of(row), LARGEST), max(1, round(float(row["weight_bytes"]) / wanted / 64)))
        last = now


if __name__ == "__main__":
    main()
