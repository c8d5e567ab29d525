"""Stored results as a Markdown table."""

import math

from metrics import summarise

HEADER = "| workload | tool | runs | xCap | at most | TV/ideal | samples | effective | total | fill | in a 1 s interval | in any second | bytes/event | covered |"


def mean_of(results, key):
    return sum(r[key] for r in results) / len(results)


def with_error(values, digits):
    mean, error, _ = summarise(values)
    return f"{mean:.{digits}f}" if error is None else f"{mean:.{digits}f} ± {error:.{digits}f}"


def bound(values):
    upper = summarise(values)[2]
    return "" if upper is None else f"{upper:.2f}"


def row(workload, tool, results):
    xcaps = [r["xcap"] for r in results]
    sizes = [r["file_bytes"] / r["events"] for r in results if r["events"]]
    held, judged = covered(results, "bytes")
    cells = [workload, tool, str(len(results)), with_error(xcaps, 2), bound(xcaps), f"{mean_of(results, 'tv_ideal'):.2f}",
             f"{mean_of(results, 'n'):.0f}", f"{mean_of(results, 'n_eff'):.0f}", with_error([r["total"] for r in results], 3),
             f"{mean_of(results, 'fill'):.2f}", str(max(r["most_in_interval"] for r in results)),
             str(max(r["most_in_sliding"] for r in results)), f"{sum(sizes) / len(sizes):.1f}" if sizes else "",
             f"{100 * held / judged:.1f} % of {judged}" if judged else ""]
    return "| " + " | ".join(cells) + " |"


def covered(results, figure):
    """(held, judged) of all runs."""
    counts = [r["covered"][figure] for r in results if "covered" in r]
    return sum(held for held, _ in counts), sum(judged for _, judged in counts)


def share_with_error(held, judged):
    """In per cent, with the binomial standard error."""
    share = held / judged
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / judged):.1f} % of {judged}"


def overall(tool, results):
    """The whole of a tool: means over all runs, and what only many runs can tell."""
    parts = [f"{tool}: xCap {with_error([r['xcap'] for r in results], 3)} over {len(results)} runs",
             f"total {with_error([r['total'] for r in results], 4)}"]
    objects = [r["objects"] for r in results if "objects" in r]
    if objects:
        parts.append(f"objects {with_error(objects, 4)}")
    told = [(figure, *covered(results, figure)) for figure in ("bytes", "share", "objects", "mean_size", "few", "more", "total")]
    told = [f"{figure} {share_with_error(held, judged)}" for figure, held, judged in told if judged]
    if told:
        parts.append(f"its own 95 % intervals hold the truth: {', '.join(told)}")
    return "; ".join(parts)


def table(runs):
    """runs: (workload, tool, result), in the order of the rows."""
    groups = {}
    for workload, tool, result in runs:
        groups.setdefault((workload, tool), []).append(result)
    lines = [HEADER, "|" + "---|" * HEADER.count(" | ") + "---|"]
    lines += [row(workload, tool, results) for (workload, tool), results in groups.items()]
    lines.append("")
    for name in dict.fromkeys(tool for _, tool in groups):
        lines.append(overall(name, [result for _, tool, result in runs if tool == name]))
    return "\n".join(lines)
