"""CPU that a recording takes from an application, by profile: which share of it was spent in the agent's behalf.

Two runs of one application differ by 5 to 15 % whatever is measured, for its compilers decide otherwise each time. What a
profiler attributes within one run does not.
"""
import subprocess

from applications import APPLICATIONS, Application, prepare_h2, run_h2
from micro import Row

# A run of minutes: by STEADY_S most stacks are known and most code is compiled.
LONG_H2 = Application(lambda jdk, folder: prepare_h2(jdk, folder, rounds=30), run_h2)
STEADY_S = 30
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


def measure(bench, rounds, name, application, jdk, after_s=0):
    folder = bench.folder / f"{name}-attributed"
    folder.mkdir()
    application.prepare(jdk, folder)
    data, shares = folder / "perf.data", []
    for _ in range(rounds):
        bench.forget()
        command = application.command(jdk, bench.recording("heaprec"), folder)
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-g",
                        *(["-D", str(after_s * 1000)] if after_s else []), "-o", data, "--", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shares.append(share(subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip,sym,dso"], check=True,
                                           capture_output=True, text=True, errors="replace").stdout))
    return shares


def attributed(bench, rounds, names, jdk):
    """Of the CPU of the whole process, start-up of the agent included, in %; of the long run without its beginning."""
    rows = [Row(f"{name}: spent for the recording", "% CPU", measure(bench, rounds, name, APPLICATIONS[name], jdk), 1,
                "by profile", 2, f"cost.attributed_{name.lower()}") for name in names]
    if "H2" in names:
        rows.append(Row("H2, long run: spent for the recording", "% CPU", measure(bench, rounds, "long", LONG_H2, jdk, STEADY_S), 0.5,
                        f"by profile, from {STEADY_S} s on", 2, "cost.steady_h2"))
    return rows
