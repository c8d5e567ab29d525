"""What samples say, against the truth. Pure: lists in, numbers out. README.md defines each figure."""

import collections
import math

# site and class_name: None where the sample is of no site of the workload. size: None where the tool does not tell.
Sample = collections.namedtuple("Sample", "time_ns site class_name weight size")

# A row of a tool's own table. ends: {figure: (low, high)}, its 95 % intervals of bytes, share, objects, mean_size, high None: unbounded.
Row = collections.namedtuple("Row", "points bytes ends")

# What a tool reports. sites, classes: {name: Row}, classes of the workload's sites alone; unseen: ends of any site without points;
# total: (low, high), bytes, from the points alone; counted: the bytes that it is of.
Told = collections.namedtuple("Told", "sites classes unseen total counted")

# Where all objects of a site have one size, the interval of the mean has no width.
ROUNDING = 1e-9
LEAST_SHARE = 0.002  # of the bytes, for a site whose intervals are judged


def mean_deviation(n, p):
    """E|X/n - p| for X binomial(n, p); exact. n = 0: the estimate is 0."""
    if n == 0:
        return p
    if p <= 0 or p >= 1:
        return 0.0
    # De Moivre: E|X - np| = 2 m C(n, m) p^m (1-p)^(n-m+1), m the first integer above np.
    m = math.floor(n * p) + 1
    log_choose = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    return 2 * m / n * math.exp(log_choose + m * math.log(p) + (n - m + 1) * math.log1p(-p))


def ideal_distance(n, shares):
    """Mean total-variation distance of n independent samples, each of a site with the chance of its share."""
    return sum(mean_deviation(n, p) for p in shares) / 2


def distance(shares, estimates):
    return sum(abs(p - q) for p, q in zip(shares, estimates)) / 2


def poisson_ends(count):
    """The exact 95 % interval of a Poisson variable's mean, of which `count` was seen (Garwood)."""
    def at_most(k, mean):
        return sum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(k + 1)) if mean > 0 else 1.0

    def mean_where(k, chance):  # at_most(k, mean) falls as the mean rises
        low, high = 0.0, 10.0 * (k + 10)
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if at_most(k, middle) > chance else (low, middle)
        return low

    return (mean_where(count - 1, 0.975) if count > 0 else 0.0), mean_where(count, 0.025)


def error_over_ideal(truth, estimates, n):
    """xCap: {name: bytes}, both; n independent samples are the ideal. None where there is nothing to estimate."""
    total, estimated = sum(truth.values()), sum(estimates.get(name, 0.0) for name in truth)
    shares = [b / total for b in truth.values()]
    ideal = ideal_distance(n, shares)
    if ideal == 0:
        return None
    return distance(shares, [estimates.get(name, 0.0) / estimated if estimated else 0.0 for name in truth]) / ideal


def bytes_by(truth, key):
    """The truth by "site" or "class"."""
    sums = collections.Counter()
    for site in truth["sites"]:
        sums[site[key]] += site["bytes"]
    return sums


def capped_count(bytes_of_seconds, rate):
    """As many independent samples as the least-variance choice of at most `rate` in each second is worth."""
    total = sum(bytes_of_seconds)
    return round(1 / sum((b / total) ** 2 / rate for b in bytes_of_seconds))


def effective_count(weights):
    squares = sum(w * w for w in weights)
    return sum(weights) ** 2 / squares if squares else 0.0


def most_in_interval(times, start, length):
    """Most times in any of the intervals [start + k length, start + (k + 1) length)."""
    return max(collections.Counter((t - start) // length for t in times).values(), default=0)


def most_in_sliding(times, length):
    """Most times within any half-open stretch of that length."""
    times = sorted(times)
    most = first = 0
    for last, time in enumerate(times):
        while time - times[first] >= length:
            first += 1
        most = max(most, last - first + 1)
    return most


def per_second(bins, bins_of_second):
    return [sum(bins[i:i + bins_of_second]) for i in range(0, len(bins), bins_of_second)]


def evaluate(truth, samples, recording_start, rate, told=None):
    """Figures of one run. truth: the workload's JSON. times in ns since 1970, weights in bytes, rate per second; told: Told, if it told."""
    keys = [(site["site"], site["class"]) for site in truth["sites"]]
    bytes_of = [site["bytes"] for site in truth["sites"]]
    total = sum(bytes_of)
    shares = [b / total for b in bytes_of]

    index = {key: i for i, key in enumerate(keys)}
    weights = [0.0] * len(keys)
    counts = [0] * len(keys)
    ours = []
    for sample in samples:
        i = index.get((sample.site, sample.class_name))
        if i is not None:
            weights[i] += sample.weight
            counts[i] += 1
            ours.append(sample)
    estimated = sum(weights)
    estimates = [w / estimated if estimated else 0.0 for w in weights]

    begin = truth["start_ns"]
    end = begin + truth["seconds"] * 1e9
    times = [s.time_ns for s in samples]
    seconds = per_second([b for b, _ in truth["bins"]], 10**9 // truth["bin_ns"])
    n_cap = capped_count(seconds, rate)
    tv = distance(shares, estimates)
    result = {
        "bytes": total,
        "jvm_ratio": truth["jvm_bytes"] / total,
        "n": len(ours),
        "n_eff": effective_count([s.weight for s in ours]),
        "n_cap": n_cap,
        "tv": tv,
        "tv_ideal": tv / ideal_distance(len(ours), shares),
        "xcap_samples": tv / ideal_distance(n_cap, shares),
        "total": estimated / total,
        "fill": sum(begin <= t < end for t in times) / (rate * truth["seconds"]),
        "most_in_interval": most_in_interval(times, recording_start, 10**9),
        "most_in_sliding": most_in_sliding(times, 10**9),
        "sites": [[*key, b, w, n] for key, b, w, n in zip(keys, bytes_of, weights, counts)],
    }
    if ours and all(s.size is not None for s in ours):
        result["objects"] = sum(s.weight / s.size for s in ours) / sum(site["objects"] for site in truth["sites"])
    # What a tool reports; the samples of one that reports nothing.
    result["xcap"], result["xcap_class"] = result["xcap_samples"], None
    if told is not None:
        result["xcap"], result["xcap_class"] = (
            error_over_ideal(bytes_by(truth, key), {name: row.bytes for name, row in rows.items()}, n_cap)
            for key, rows in (("site", told.sites), ("class", told.classes)))
        result["total"] = sum(told.sites[name].bytes for name in bytes_by(truth, "site") if name in told.sites) / total
        result["points"] = sum(row.points for name, row in told.sites.items() if name in bytes_by(truth, "site"))
        result["covered"] = covered(truth, told)
        result["widths"] = widths(told.sites, bytes_by(truth, "site"))
    return result


def widths(rows, truth):
    """[sum, rows] over the rows with 1 to 9 points: the width of their intervals of bytes over the exact Poisson interval's."""
    ratios = []
    for name, row in rows.items():
        if name in truth and 0 < row.points < 10:
            low, high = poisson_ends(row.points)
            ratios.append((row.ends["bytes"][1] - row.ends["bytes"][0]) / ((high - low) * row.bytes / row.points))
    return [sum(ratios), len(ratios)]


def rows_that_hold(rows, unseen, truth):
    """Of the intervals of bytes, {"few", "more", "all": [held, judged]}: rows shown with 1 to 9 points, with more, and all names, shown or not."""
    counts = {"few": [0, 0], "more": [0, 0], "all": [0, 0]}
    for name, bytes_of in truth.items():
        row = rows.get(name)
        low, high = (unseen if row is None else row.ends)["bytes"]
        for kind in ("all",) if row is None else ("all", "few" if row.points < 10 else "more"):
            counts[kind][0] += low <= bytes_of <= high
            counts[kind][1] += 1
    return counts


def covered(truth, told):
    """How many of a tool's own intervals hold the truth: {figure: [held, judged]}, over the methods that made LEAST_SHARE of the bytes, and rows_that_hold."""
    objects_of = collections.Counter()
    for site in truth["sites"]:
        objects_of[site["site"]] += site["objects"]
    by_site = bytes_by(truth, "site")
    total = sum(by_site.values())
    counts = {"bytes": [0, 0], "share": [0, 0], "objects": [0, 0], "mean_size": [0, 0], **rows_that_hold(told.sites, told.unseen, by_site)}
    for site, bytes_of in by_site.items():
        if bytes_of < LEAST_SHARE * total:
            continue
        objects = objects_of[site]
        true = {"bytes": bytes_of, "share": bytes_of / total, "objects": objects, "mean_size": bytes_of / objects}
        for figure, (low, high) in (told.sites[site].ends if site in told.sites else told.unseen).items():
            if high is not None:  # it tells something
                counts[figure][0] += low * (1 - ROUNDING) <= true[figure] <= high * (1 + ROUNDING)
                counts[figure][1] += 1
    low, high = told.total
    counts["total"] = [int(low <= told.counted <= high), 1]
    return counts


def student_quantile(p, degrees):
    """The t below which a share p > 1/2 of Student's distribution lies."""
    factor = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)

    def density(t):
        return factor * (1 + t * t / degrees) ** (-(degrees + 1) / 2)

    def below(t, steps=400):  # Simpson's rule from 0 to t
        h = t / steps
        inner = sum((4 if k % 2 else 2) * density(k * h) for k in range(1, steps))
        return 0.5 + h / 3 * (density(0) + inner + density(t))

    low, high = 0.0, 700.0 if degrees < 2 else 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return low


def summarise(values):
    """(mean, its standard error, the upper 95 % confidence bound of the mean); the latter two None for a single value."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return mean, None, None
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
    return mean, error, mean + student_quantile(0.95, n - 1) * error
