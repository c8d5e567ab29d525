"""Shares of sites by recordings of JFR and of async-profiler, and a comparison of them that their users could make.

Neither has a comparison of its own that says what is noise. The shares are heaprec's reading of their files
(`heaprec import`), which takes their weights as they are.
"""
import json
import math
import pathlib
import subprocess
import tempfile


def shares(heaprec, recording):
    """Site -> share of the bytes."""
    with tempfile.TemporaryDirectory() as folder:
        imported = pathlib.Path(folder) / "imported.hrec"
        subprocess.run([heaprec, "import", "-o", imported, recording], check=True, capture_output=True)
        text = subprocess.run([heaprec, "top", "--by", "site", "--limit", "0", "--json", imported], capture_output=True, text=True)
    document = json.loads(text.stdout)
    rows = document["rows"] if "rows" in document else document["tables"][0]["rows"]
    return {row["name"]: row["share"]["value"] for row in rows}


def mean(values):
    return sum(values) / len(values)


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
