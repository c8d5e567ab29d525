"""Rounds in which every arm runs once, and what their differences say."""
import statistics


def interleaved(arms, rounds, run):
    """{arm: [run(arm) of each round]}. Each round begins with another arm, so that nobody is always the first."""
    found = {arm: [] for arm in arms}
    for round_number in range(rounds):
        first = round_number % len(arms)
        for arm in arms[first:] + arms[:first]:
            found[arm].append(run(arm))
    return found


def signed_rank_tail(count, level):
    """The largest k such that the sum of `count` signed ranks is below k with probability `level` at most."""
    ways = [1]
    for rank in range(1, count + 1):
        ways = [(ways[i] if i < len(ways) else 0) + (ways[i - rank] if i >= rank else 0) for i in range(len(ways) + rank)]
    allowed, below = level * 2 ** count, 0
    for k, way in enumerate(ways):
        below += way
        if below > allowed:
            return k
    return len(ways)


def estimate(values, confidence=0.95):
    """(low, middle, high) of the values' centre: the median of the means of all pairs (Hodges and Lehmann), and the
    interval that goes with it, exact for values that scatter symmetrically, whatever their distribution. With too few
    values for the confidence (fewer than 6 for 95 %) the interval is (-inf, inf)."""
    pairs = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
    outside = signed_rank_tail(len(values), (1 - confidence) / 2)
    middle = statistics.median(pairs)
    if outside == 0:
        return float("-inf"), middle, float("inf")
    return pairs[outside - 1], middle, pairs[-outside]
