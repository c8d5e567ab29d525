"""Stored results as a Markdown table."""

import math

from metrics import summarise

HEADER = "| workload | tool | runs | xCap | at most | of classes | of samples | points | TV/ideal | samples | effective | total | fill | in a 1 s interval | in any second | bytes/event | covered |"


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
    classes = [r["xcap_class"] for r in results if r["xcap_class"] is not None]
    cells = [workload, tool, str(len(results)), with_error(xcaps, 2), bound(xcaps), with_error(classes, 2) if classes else "",
             f"{mean_of(results, 'xcap_samples'):.2f}", f"{mean_of(results, 'points'):.0f}" if "points" in results[0] else "", f"{mean_of(results, 'tv_ideal'):.2f}",
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
    told = [(figure, *covered(results, figure)) for figure in ("bytes", "share", "objects", "mean_size", "few", "more", "all", "total")]
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


def program_line(name, results):
    held = {figure: covered(results, figure) for figure in ("few", "more", "all")}
    told = ", ".join(f"{figure} {share_with_error(*counts)}" for figure, counts in held.items() if counts[1])
    return (f"{name}: xCap of classes {with_error([r['xcap_class'] for r in results], 2)} over {len(results)} runs; "
            f"total {with_error([r['total'] for r in results], 4)}; its intervals hold the census: {told}")


def mean_width(results):
    """Of rows with 1 to 9 points, over the exact Poisson interval's; None where there are none."""
    widths = [r["widths"] for r in results if "widths" in r]
    rows = sum(count for _, count in widths)
    return sum(total for total, _ in widths) / rows if rows else None


def figures(runs, is_short):
    """(id, figure, goal, value, reached, reason) of each figure to keep. runs: {workload: results}, of heaprec, with programs."""
    mean_goal, most = (0.25, 0.35) if is_short else (0.20, 0.30)
    everything = [result for results in runs.values() for result in results]
    for key, what in (("xcap", "sites"), ("xcap_class", "classes")):
        means = {workload: mean_of(judged, key) for workload, results in runs.items()
                 if (judged := [r for r in results if r.get(key) is not None])}
        if not means:
            continue
        worst = max(means, key=means.get)
        mean = sum(means.values()) / len(means)
        above = ", ".join(f"{workload} {value:.2f}" for workload, value in means.items() if value > most)
        yield key, f"xCap of {what}, mean of {len(means)} workloads", f"<= {mean_goal:.2f}", f"{mean:.3f}", mean <= mean_goal, above
        yield f"{key}_worst", f"xCap of {what}, worst workload", f"<= {most:.2f}", f"{means[worst]:.2f} ({worst})", not above, above
    totals = {workload: mean_of(results, "total") for workload, results in runs.items()}
    low, high = min(totals.values()), max(totals.values())
    yield ("total", "Total over the truth, of each workload", "0.99 to 1.01", f"{low:.3f} to {high:.3f}", 0.99 <= low and high <= 1.01,
           ", ".join(f"{workload} {value:.3f}" for workload, value in totals.items() if not 0.99 <= value <= 1.01))
    for key, what, least, most_held in (("few", "rows of 1 to 9 points", 93, 100), ("more", "rows of 10 and more", 93, 97),
                                        ("all", "all, shown or not", 93, 100)):
        held, judged = covered(everything, key)
        if judged:
            goal = f">= {least} %" if most_held == 100 else f"{least} to {most_held} %"
            share = 100 * held / judged
            yield (f"coverage_{key}", f"Intervals that hold: {what}", goal, share_with_error(held, judged),
                   least <= share <= most_held, f"{share:.1f} %")
    width = mean_width(everything)
    if width is not None:
        yield "width", "Width over exact Poisson, 1 to 9 points", "<= 1.1", f"{width:.2f}", width <= 1.1, f"{width:.2f}"
