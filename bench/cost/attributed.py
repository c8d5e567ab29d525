"""CPU that a recording takes from an application, by profile: which share of it was spent in the agent's behalf.

Two runs of one application differ by 5 to 15 % whatever is measured, for its compilers decide otherwise each time. What a
profiler attributes within one run does not.
"""
import subprocess

from applications import APPLICATIONS
from micro import Row

FREQUENCY = 4000  # samples per second of CPU
# HotSpot's own functions that run because of us: delivering the object of an armed point.
DELIVERY = ("post_sampled_object_alloc", "JvmtiSampledObjectAllocEventCollector", "notify_allocation_jvmti_sampler")
THREAD = "heaprec-drain"


def is_ours(stack):
    """A stack of `perf script`: the thread's name, then a line for each frame."""
    return stack[0].startswith(THREAD) or any(
        "libheaprec" in frame or any(name in frame for name in DELIVERY) for frame in stack[1:])


def share(script):
    """Of the stacks in `perf script`'s output, in %."""
    stacks = [text.splitlines() for text in script.split("\n\n") if text.strip()]
    return 100 * sum(map(is_ours, stacks)) / len(stacks)


def attributed(bench, rounds, names, jdk):
    """Of the CPU of the whole process, start-up of the agent included, in %."""
    rows = []
    for name in names:
        folder = bench.folder / f"{name}-attributed"
        folder.mkdir()
        APPLICATIONS[name].prepare(jdk, folder)
        data, shares = folder / "perf.data", []
        for _ in range(rounds):
            bench.forget()
            command = APPLICATIONS[name].command(jdk, bench.recording("heaprec"), folder)
            subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-g", "-o", data, "--", *command],
                           cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            shares.append(share(subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip,sym,dso"], check=True,
                                               capture_output=True, text=True, errors="replace").stdout))
        rows.append(Row(f"{name}: spent for the recording", "% CPU", shares, 1, "by profile", 2, f"cost.attributed_{name.lower()}"))
    return rows
