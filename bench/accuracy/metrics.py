"""What samples say, against the truth. Pure: lists in, numbers out. README.md defines each figure."""

import collections
import math

# site and class_name: None where the sample is of no site of the workload. size: None where the tool does not tell.
Sample = collections.namedtuple("Sample", "time_ns site class_name weight size")

# A tool's own 95 % intervals. sites: {site: {figure: (low, high)}}, of bytes, share, objects, mean_size, high None: unbounded; unseen:
# {figure: (low, high)} of any site without samples; total: (low, high), bytes, from the samples alone; counted: the bytes that it is of.
Told = collections.namedtuple("Told", "sites unseen total counted")

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
        "xcap": tv / ideal_distance(n_cap, shares),
        "total": estimated / total,
        "fill": sum(begin <= t < end for t in times) / (rate * truth["seconds"]),
        "most_in_interval": most_in_interval(times, recording_start, 10**9),
        "most_in_sliding": most_in_sliding(times, 10**9),
        "sites": [[*key, b, w, n] for key, b, w, n in zip(keys, bytes_of, weights, counts)],
    }
    if ours and all(s.size is not None for s in ours):
        result["objects"] = sum(s.weight / s.size for s in ours) / sum(site["objects"] for site in truth["sites"])
    if told is not None:
        samples_of = collections.Counter(sample.site for sample in ours)
        result["covered"] = covered(truth, told, samples_of)
    return result


def covered(truth, told, samples_of):
    """How many of a tool's own intervals hold the truth: {figure: [held, judged]}, over the methods that made LEAST_SHARE of the bytes.

    few, more: intervals of bytes of all methods with 1 to 9 samples, and with more.
    """
    of_site = collections.defaultdict(lambda: [0, 0])
    for site in truth["sites"]:
        of_site[site["site"]][0] += site["bytes"]
        of_site[site["site"]][1] += site["objects"]
    total = sum(b for b, _ in of_site.values())
    counts = {"bytes": [0, 0], "share": [0, 0], "objects": [0, 0], "mean_size": [0, 0], "few": [0, 0], "more": [0, 0]}
    for site, (bytes_of, objects) in of_site.items():
        if samples_of[site] > 0:
            low, high = told.sites[site]["bytes"]
            rows = counts["few" if samples_of[site] < 10 else "more"]
            rows[0] += low <= bytes_of <= high
            rows[1] += 1
        if bytes_of < LEAST_SHARE * total:
            continue
        true = {"bytes": bytes_of, "share": bytes_of / total, "objects": objects, "mean_size": bytes_of / objects}
        for figure, (low, high) in told.sites.get(site, told.unseen).items():
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
