"""Draws of comparisons from stored runs, and what they say: pure functions, tested by draws_test.py."""
import math
import random


def draw(runs, per_side, count, seed):
    """`count` pairs of disjoint sets of `per_side` runs each: seeded, without the same comparison twice while there are others."""
    if len(runs) < 2 * per_side:
        return []
    generator = random.Random(seed)
    seen, pairs = set(), []
    for _ in range(50 * count):
        chosen = generator.sample(sorted(runs), 2 * per_side)
        sides = (tuple(sorted(chosen[:per_side])), tuple(sorted(chosen[per_side:])))
        key = tuple(sorted(sides))
        if key in seen:
            continue
        seen.add(key)
        pairs.append(sides)
        if len(pairs) == count:
            break
    return pairs


def interval(outcomes):
    """A rate and its 95 % interval from (runs, named) of comparisons that share runs: a jackknife over runs.

    Comparisons that share a run are not independent, so the binomial interval would be too narrow. Leaving one run after
    the other out, with all comparisons that it is in, shows how much the rate hangs on single runs. Each comparison has
    several runs, so the spread is that of a statistic of the runs (a U-statistic): the jackknife's variance is right for
    these. Where no comparison, or each, names something, Wilson's interval for as many comparisons as are disjoint.
    Returns (rate, low, high).
    """
    if not outcomes:
        return math.nan, 0.0, 1.0
    rate = sum(named for _, named in outcomes) / len(outcomes)
    runs = sorted({run for members, _ in outcomes for run in members})
    width = max(len(members) for members, _ in outcomes)
    low, high = wilson(rate, max(len(runs) // width, 1))
    left_out = []
    for run in runs:
        rest = [named for members, named in outcomes if run not in members]
        if rest:
            left_out.append(sum(rest) / len(rest))
    if rate in (0.0, 1.0) or len(left_out) < 3:
        return rate, low, high
    mean = sum(left_out) / len(left_out)
    error = math.sqrt((len(left_out) - 1) / len(left_out) * sum((value - mean) ** 2 for value in left_out))
    return rate, max(rate - 1.96 * error, 0.0), min(rate + 1.96 * error, 1.0)


def wilson(rate, count, z=1.96):
    centre = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return max(centre - half, 0.0), min(centre + half, 1.0)
