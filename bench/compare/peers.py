"""Shares of sites by recordings of heaprec, JFR and async-profiler, and comparisons of them that users could make.

JFR and async-profiler have no comparison of their own that says what is noise. The shares are heaprec's reading of their files
(`heaprec import`), which takes their weights as they are.
"""
import json
import math
import pathlib
import statistics
import subprocess
import tempfile


def shares(heaprec, recording):
    """Site -> share of the bytes."""
    with tempfile.TemporaryDirectory() as folder:
        imported = pathlib.Path(folder) / "imported.hrec"
        if recording.endswith(".jfr"):
            subprocess.run([heaprec, "import", "-o", imported, recording], check=True, capture_output=True)
        else:
            imported = recording
        text = subprocess.run([heaprec, "top", "--by", "site", "--limit", "0", "--json", imported], capture_output=True, text=True)
    document = json.loads(text.stdout)
    rows = document["rows"] if "rows" in document else document["tables"][0]["rows"]
    return {row["name"]: row["share"]["value"] for row in rows}


def mean(values):
    return sum(values) / len(values)


def mean_shares(runs):
    """Site -> mean share, of several runs' shares."""
    return {site: mean([run.get(site, 0.0) for run in runs]) for site in {site for run in runs for site in run}}


def spread(runs, least=0.01):
    """Median over the sites above `least` of the relative standard deviation of their shares between runs."""
    return statistics.median(statistics.stdev([run.get(site, 0.0) for run in runs]) / share
                             for site, share in mean_shares(runs).items() if share >= least)


def distance(one, other):
    """The part of the bytes that two sets of runs attribute to different sites: 0 to 1."""
    one, other = mean_shares(one), mean_shares(other)
    return sum(abs(one.get(site, 0.0) - other.get(site, 0.0)) for site in one.keys() | other.keys()) / 2


def p_value(before, after):
    """Of Welch's test, two-sided; of one run a side what differs at all: a share is all that these tools give."""
    if len(before) < 2:
        return 0.0 if before != after else 1.0
    variances = [sum((x - mean(side)) ** 2 for x in side) / (len(side) - 1) / len(side) for side in (before, after)]
    if sum(variances) == 0:
        return 1.0 if before == after else 0.0
    t = abs(mean(after) - mean(before)) / math.sqrt(sum(variances))
    freedom = sum(variances) ** 2 / sum(v * v / (len(side) - 1) for v, side in zip(variances, (before, after)) if v > 0)
    return student_tail(t, freedom)


def student_tail(t, freedom, steps=2000):
    """P(|T| > t) by Simpson's rule in the angle: t = sqrt(freedom) tan(angle)."""
    start, end = math.atan(t / math.sqrt(freedom)), math.pi / 2

    def density(angle):
        return math.cos(angle) ** (freedom - 1) if freedom > 1 or angle < end else 0.0

    def integral(low, high):
        h = (high - low) / steps
        return h / 3 * sum((1 if i in (0, steps) else 4 if i % 2 else 2) * density(low + i * h) for i in range(steps + 1))

    return integral(start, end - 1e-9) / integral(0, end - 1e-9)


def named(shares_of, before, after, rate=0.05, least=0.001):
    """Sites that a test with Benjamini and Hochberg's procedure names; sites below a thousandth of the bytes are left out."""
    sites = {site for run in before + after for site in shares_of[run]}
    tests = []
    for site in sites:
        sides = [[shares_of[run].get(site, 0.0) for run in side] for side in (before, after)]
        if mean(sides[0] + sides[1]) >= least:
            tests.append((p_value(*sides), site))
    tests.sort()
    last = max((i for i, (p, _) in enumerate(tests) if p <= rate * (i + 1) / len(tests)), default=-1)
    return [site for _, site in tests[:last + 1]]
