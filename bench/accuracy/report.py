"""Stored results as a Markdown table."""

from metrics import summarise

HEADER = "| workload | tool | runs | xCap | at most | TV/ideal | samples | effective | total | fill | in a 1 s interval | in any second | bytes/event |"


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
    cells = [workload, tool, str(len(results)), with_error(xcaps, 2), bound(xcaps), f"{mean_of(results, 'tv_ideal'):.2f}",
             f"{mean_of(results, 'n'):.0f}", f"{mean_of(results, 'n_eff'):.0f}", with_error([r["total"] for r in results], 3),
             f"{mean_of(results, 'fill'):.2f}", str(max(r["most_in_interval"] for r in results)),
             str(max(r["most_in_sliding"] for r in results)), f"{sum(sizes) / len(sizes):.1f}" if sizes else ""]
    return "| " + " | ".join(cells) + " |"


def overall(tool, results):
    """The whole of a tool: means over all runs, and what only many runs can tell."""
    lines = [f"{tool}: xCap {with_error([r['xcap'] for r in results], 3)} over {len(results)} runs, "
             f"total {with_error([r['total'] for r in results], 4)}"]
    judged = sum(r.get("intervals_judged", 0) for r in results)
    if judged:
        held = sum(r["intervals_held"] for r in results) / judged
        z2 = sum(r["total_z"] ** 2 for r in results) / len(results)
        z = sum(r["total_z"] for r in results) / len(results) ** 0.5
        lines.append(f"total's z: sum / sqrt(runs) {z:+.2f}, mean square {z2:.2f}; objects {with_error([r['objects'] for r in results], 4)}; "
                     f"95 % intervals of sites hold the truth in {100 * held:.1f} % of {judged}")
    return "; ".join(lines)


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
