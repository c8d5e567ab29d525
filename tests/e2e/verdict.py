"""What one cell of the matrix is asked: matrix.py runs it, docs/jdks.md explains it.

Statistic: the sum of weights of a site, or of all, against the program's own count, by Bernstein's bound (tests/support/estimates.h):
           a true one is refused with probability 6e-7.
"""

import collections
import json
import math
import re

SIGMAS = 5.5
# Of the bytes counted, relative: by the JVM, or estimated from some thousand samples of 1.6 % standard error in all.
COUNTED, ESTIMATED = 0.005, 0.1
WALKED = 0.99  # of the stacks, at least
STACK = ["e2e.Matrix$Worker.round", "e2e.Matrix$Worker.run"]
# verdict: a few words, for a row of a table: ok, perhaps with what is special, or FAILED. detail: what failed, of any length.
Result = collections.namedtuple("Result", "cell source samples stacks counted weights lost verdict detail", defaults=("",))
FAILED = "failed"


def read_truth(file):
    """{site: (size, count)}; "threads" are bytes."""
    with open(file) as lines:
        return {name: (int(size), int(count)) for name, size, count in map(str.split, lines)}


def frames_of(event):
    return [frame["method"] for frame in event["stack"]["frames"]] if event["stack"] else []


def by_site(events, truth):
    """({site: weights}, samples whose size, class or frames are not their site's)."""
    weights = collections.defaultdict(list)
    wrong = 0
    for event in events:
        frames = frames_of(event)
        site = frames[0].rpartition(".")[2] if frames and frames[0].startswith("e2e.Matrix$Worker.") else None
        if site in truth:
            weights[site].append(event["weight_bytes"])
            wrong += frames[1:3] != STACK or event["size"] != truth[site][0] or event["class"] != "byte[]"
        else:
            # A worker makes arrays in its sites only.
            wrong += any(frame in STACK for frame in frames) and event["class"] == "byte[]" and event["size"] >= 48
    return weights, wrong


def deviation(weights, truth):
    """(standard errors off, allowed)."""
    error = math.sqrt(truth * sum(w * w for w in weights) / max(sum(weights), 1))
    return (sum(weights) - truth) / max(error, 1), SIGMAS + SIGMAS**2 / 3 * max(weights, default=0) / max(error, 1)


def judge_weights(weights, truth, problems):
    """Largest deviation of any site and of all, in standard errors."""
    sites = {site: size * count for site, (size, count) in truth.items() if site != "threads"}
    groups = [(site, weights[site], sites[site]) for site in sites]
    groups.append(("all", [w for of_site in weights.values() for w in of_site], sum(sites.values())))
    worst = 0
    for name, of_group, bytes_of_group in groups:
        z, allowed = deviation(of_group, bytes_of_group)
        if not of_group or abs(z) > allowed:
            problems.append(f"{name}: {sum(of_group):.0f} of {bytes_of_group} bytes, z {z:.1f}")
        worst = max(worst, z, key=abs)
    return worst, sum(map(sum, weights.values())) / sum(sites.values())


def judge_counters(summary, events, problems):
    """Text of what was lost."""
    counters = summary["losses"]
    lost = {name: loss for name, loss in counters["lost"].items() if loss["points"]}
    points = sum(counters["lost"][name]["points"] for name in ("missed", "ring_full", "lanes_busy", "oversized"))
    if counters["points"] != counters["committed"] + counters["thinned"] + points:
        problems.append("points do not add up")
    if counters["committed"] != counters["written"] + counters["second_stage"] or counters["written"] != events:
        problems.append("committed does not add up")
    if any(lost.get(name) for name in ("ring_full", "lanes_busy", "oversized", "write_failed", "no_clock")):
        problems.append("lost " + ", ".join(lost))
    if counters["lost"]["missed"]["bytes"] > 1e-3 * counters["candidate_bytes"]:
        problems.append("missed bytes")
    return ", ".join(f"{name} {loss['points']}" for name, loss in lost.items()) or "0"


def judge_intervals(summary, events, problems):
    recording = summary["recording"]
    counts = collections.Counter((event["time_ns"] - recording["start_ns"]) // recording["interval_ns"] for event in events)
    if max(counts.values(), default=0) > recording["interval_cap"]:
        problems.append("an interval holds more than the cap")


def judge_source(recording, portable, problems):
    """Of a JVM that is not looked into: JVMTI alone, in words that say so."""
    source, reason = recording["source"], recording["source_reason"]
    as_wanted = source == "jvmti" and reason.startswith("portable, ") if portable else source == "hooks"
    if not as_wanted:
        problems.append(f"source {source}: {reason}")
    return "portable" if portable and as_wanted else source


def judge_counted(counted, recording, problems):
    allowed = ESTIMATED if "bytes are estimated" in recording["source_reason"] else COUNTED
    if abs(counted - 1) > allowed:
        problems.append("counted bytes")


def judge_walked(cell, summary, problems):
    """Most frames of a virtual thread may be in the heap: JVMTI is asked for those."""
    stacks = summary["losses"]["stacks"]
    if cell.mode != "virtual threads" and stacks["walked"] <= WALKED * (stacks["walked"] + stacks["from_jvmti"]):
        problems.append(f"stacks walked {stacks['walked']}, asked of JVMTI {stacks['from_jvmti']}")
    if stacks["mismatches"]:
        problems.append(f"{stacks['mismatches']} walks differed")


def judge_biased(cell, summary, events, problems):
    """The JVM's own sampler is biased outside TLABs there: the recording has to say so."""
    if not any("outside TLABs" in reason for reason in summary["reasons"]):
        problems.append("biased, and trusted")
    return Result(cell, "portable", len(events), "-", "-", "-", "-", FAILED if problems else "ok: says that it is biased", "; ".join(problems))


def judge(cell, without, within, truth, summary, printed, portable=False):
    problems = []
    if portable:
        within = (*within[:2], re.sub(r"^heaprec: source=portable( instead of auto)?: [^\n]*\n", "", within[2], flags=re.MULTILINE))
    if within != without:
        problems.append(f"exit {within[0]}, output changed: {within[1][-200:]!r} {within[2][-200:]!r}")
    events = [event for event in printed["events"] if event["kind"] in ("tlab", "outside")]
    source = judge_source(summary["recording"], portable, problems)
    if portable and (cell.version == 11 or cell.version < 25 and cell.collector == "Shenandoah"):
        return judge_biased(cell, summary, events, problems)
    weights, wrong = by_site(events, truth)
    if wrong:
        problems.append(f"{wrong} stacks")
    counted = summary["allocated_bytes"] / truth["threads"][1]
    worst, ratio = judge_weights(weights, truth, problems)
    lost = judge_counters(summary, len(events), problems)
    judge_intervals(summary, events, problems)
    judge_counted(counted, summary["recording"], problems)
    if not portable:
        judge_walked(cell, summary, problems)
    if not summary["trustworthy"]:
        problems.append("trustworthy: " + json.dumps(summary["reasons"]))
    verdict = FAILED if problems else "ok"
    ours = sum(map(len, weights.values()))
    return Result(cell, source, len(events), f"{ours - wrong} of {ours}", f"{counted:.4f}", f"{ratio:.3f} (z {worst:+.1f})", lost, verdict,
                  "; ".join(problems))
