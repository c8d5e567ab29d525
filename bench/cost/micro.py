"""What the agent does in small programs: at the JVM's start, to a candidate, to a sample that is kept."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from paired import estimate, interleaved
from processes import cpu_seconds

HELLO = 'class Hello { public static void main(String[] args) { System.out.println("hello"); } }'
# Every array a refill of the TLAB, or every array outside of one.
CANDIDATES = {
    "refill": (["-XX:+UseSerialGC", "-XX:TLABSize=2k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB", "-XX:TLABRefillWasteFraction=1",
                "-XX:TLABWasteIncrement=0"], 2200),
    "outside": (["-XX:+UseG1GC", "-XX:-UseTLAB"], 16),
}
CANDIDATE_HEAP = ["-Xms64m", "-Xmx64m", "-Xmn4m"]
ARRAYS, BATCHES = 50_000, 100
DRAIN_SECONDS = 20
LIGHT_PAIRS, LIGHT_MS = 6, 2500
KEPT_ARRAYS, NEW_STACKS, KEPT_BEGINS_MS = 1_000_000, 10_000, 3000


class Row:
    """One figure: `values` of all rounds, in `unit`; goal: the most that it may be, None where none is set; figure_id: in
    bench/results, None where only --json has it."""

    def __init__(self, figure, unit, values, goal=None, note="", decimals=1, figure_id=None):
        self.figure, self.unit, self.values, self.goal, self.note, self.decimals = figure, unit, values, goal, note, decimals
        self.id = figure_id
        self.low, self.middle, self.high = estimate(values)

    def verdict(self):
        if self.goal is None:
            return ""
        return "reached" if self.high <= self.goal else "not reached" if self.low > self.goal else "open"


def differences(found, arm, base, scale=1):
    return [scale * (a - b) for a, b in zip(found[arm], found[base])]


def startup(bench, rounds):
    (bench.folder / "Hello.java").write_text(HELLO)
    bench.compile(bench.folder / "Hello.java")
    found = interleaved(["none", "heaprec", "JFR"], rounds,
                        lambda arm: cpu_seconds([*bench.java(bench.recording(arm)), "Hello"]))
    none = f"hello alone: {1000 * statistics.median(found['none']):.0f} ms"
    return [Row("start-up of the agent, hello", "ms CPU", differences(found, "heaprec", "none", 1000), 30, none),
            Row("start-up of JFR, hello", "ms CPU", differences(found, "JFR", "none", 1000), None, none)]


def candidate(bench, rounds):
    """CPU ns per array of a quarter of the batches or fewer: what others do to the machine only adds."""
    bench.compile(bench.here / "Candidates.java")
    rows = []
    for way, (options, length) in CANDIDATES.items():
        def run(arm):
            extra = [f"-agentpath:{bench.holder}"] if arm == "held" else bench.recording(arm, "rate=1")
            program = ["Candidates", str(length), str(ARRAYS), str(BATCHES)]
            output = bench.output([*bench.java([*options, *CANDIDATE_HEAP, *extra]), *program])
            if arm == "heaprec":
                seen = bench.summary()["losses"]["candidates"]
                if seen < ARRAYS * BATCHES:
                    raise SystemExit(f"candidate, {way}: only {seen} candidates of {ARRAYS * BATCHES} arrays")
            return statistics.quantiles(json.loads(output), n=4)[0]
        found = interleaved(["none", "held", "heaprec"], rounds, run)
        held = f"slow path with the capability held: {statistics.median(found['held']):.0f} ns"
        rows.append(Row(f"candidate not kept, {way}", "ns", differences(found, "heaprec", "held"), 5, held))
        rows.append(Row(f"capability held, {way}", "ns", differences(found, "held", "none"), None, "HotSpot's own"))
    return rows


def instructions(bench, rounds):
    """What the agent executes for a candidate, stepped through by gdb: exact, however busy the machine."""
    bench.compile(bench.here / "Candidates.java")
    rows, agent = [], pathlib.Path(bench.agent).resolve()
    symbols = subprocess.run(["nm", "-C", agent], check=True, capture_output=True, text=True).stdout.splitlines()
    for way, hook in (("refill", "::OnInNewTlab("), ("outside", "::OnOutsideTlab(")):
        options, length = CANDIDATES[way]
        bench.forget()
        command = [*bench.java([*options, *CANDIDATE_HEAP, *bench.recording("heaprec", "rate=1")]), "Candidates", str(length),
                   str(ARRAYS), "1000000"]
        program = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(5)  # compiled, and the rate's forecast has settled
            maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text().splitlines()
            base = int(next(line for line in maps if line.endswith(agent.name)).split("-")[0], 16)
            offset = int(next(line for line in symbols if hook in line).split()[0], 16)
            steps = subprocess.run(["gdb", "-q", "-batch", "-p", str(program.pid), "-x", bench.here / "steps.py"], check=True,
                                   capture_output=True, text=True,
                                   env={**os.environ, "HEAPREC_ADDRESS": hex(base + offset), "HEAPREC_CALLS": str(rounds)})
        finally:
            program.kill()
            program.wait()
        calls = json.loads(next(line for line in steps.stdout.splitlines() if line.startswith("[{")))
        before = 2  # the jump into the thunk, and the thunk's into the agent
        counts = [before + call.get(agent.name, 0) + call.get("thunk", 0) for call in calls]
        rows.append(Row(f"instructions of the agent per candidate, {way}", "instructions", counts, None,
                        "the original function's not counted", 0))
    return rows


def kept(bench, rounds):
    bench.compile(bench.here / "Kept.java")
    arms = {  # what is recorded, arrays, how
        "none": ([], KEPT_ARRAYS, []),
        "delivered": ([f"-agentpath:{bench.holder}=0"], KEPT_ARRAYS, []),
        "walked": (bench.recording("heaprec", "rate=200000,delay=2s"), KEPT_ARRAYS, []),
        "none, new": ([], NEW_STACKS, ["new"]),
        "walked, new": (bench.recording("heaprec", "rate=200000,delay=2s"), NEW_STACKS, ["new"]),
        "GetStackTrace": (bench.recording("heaprec", "rate=200000,delay=2s,stacks=jvmti"), KEPT_ARRAYS // 10, []),
    }

    def run(arm):
        """CPU seconds of the allocating thread; samples committed; CPU seconds of the process."""
        options, arrays, how = arms[arm]
        bench.forget()
        out = bench.folder / "out"
        whole = cpu_seconds([*bench.java(["-Xmx1g", "-Xms1g", "-XX:+UseParallelGC", "-XX:CompileCommand=quiet",
                                          "-XX:CompileCommand=dontinline,Kept::*", *options]),
                             "Kept", str(arrays), str(KEPT_BEGINS_MS), *how], out=out)
        samples = bench.summary()["losses"]["committed"] if bench.recorded() else arrays
        return int(out.read_text()) * 1e-9, samples, whole

    found = interleaved(list(arms), rounds, run)
    plain = statistics.median(thread / samples for thread, samples, _ in found["none"])
    plain_new = statistics.median(thread / samples for thread, samples, _ in found["none, new"])

    def per_sample(arm, without):
        return [1e9 * (thread - without * arms[arm][1]) / samples for thread, samples, _ in found[arm]]
    processes = [1e9 * (with_us[2] - without[2]) / with_us[1] for with_us, without in zip(found["walked"], found["none"])]
    samples = statistics.median(samples for _, samples, _ in found["walked"])
    return [Row("sample kept, known stack of depth 50", "ns", per_sample("walked", plain), 1500,
                f"{samples:,.0f} samples a run", 0),
            Row("the same, the whole process", "ns", processes, None, "with the agent's own thread and the interval's end", 0),
            Row("of that, HotSpot's delivery to an empty callback", "ns", per_sample("delivered", plain), None, "HotSpot's own", 0),
            Row("sample kept, stack seen for the first time", "ns", per_sample("walked, new", plain_new), None, "depth 50", 0),
            Row("sample kept, stack from GetStackTrace", "ns", per_sample("GetStackTrace", plain), None, "stacks=jvmti", 0)]


# What copies memory without an end, four times the size of usual caches, and so keeps them full.
STREAM = "to, of = memoryview(bytearray(1 << 27)), bytearray(1 << 27)\nwhile True: to[:] = of"


def light(bench, rounds):
    """A point of the allocating thread at 20,000 a second, nearly all of them light; alone, and beside two processes that
    stream through memory. One JVM a round: pairs of windows with and without."""
    bench.compile(bench.here / "Points.java")
    arms = {"heaprec": (bench.agent, f"start,file:{bench.folder}/%n.hrec,points:20000,live:off", "stop"),
            "empty callback": (bench.holder, "%d", "off")}

    def events_of(arm, output):
        """Of each pair, in their order."""
        if arm != "heaprec":
            return [int(line.split()[1]) for line in output if line.startswith("events")][1:]
        files = [bench.folder / f"{pair}.hrec" for pair in range(1, LIGHT_PAIRS + 1)]
        return [bench.summary(file)["losses"]["points"] for file in files]

    def run(arm):
        """ns of each pair's difference, per event."""
        for file in bench.folder.glob("*.hrec"):
            file.unlink()
        agent, on, off = arms[arm]
        options = ["-Xmx512m", "-Xms512m", "-XX:+UseSerialGC", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Points::*"]
        output = bench.output([*bench.java(options), "Points", agent, on, off, str(LIGHT_PAIRS), str(LIGHT_MS)]).splitlines()
        pairs = [list(map(int, line.split()[1:])) for line in output if line.startswith("pair")]
        return [(with_it - without) / events for (without, with_it), events in zip(pairs, events_of(arm, output), strict=True)]

    rows = []
    for where, streams, goal, name in (("quiet", 0, 800, "quiet"), ("beside two streams", 2, 2000, "busy")):
        others = [subprocess.Popen([sys.executable, "-c", STREAM]) for _ in range(streams)]
        try:
            found = interleaved(list(arms), rounds, run)
        finally:
            for other in others:
                other.kill()
                other.wait()
        for arm in arms:
            values = [value for pairs in found[arm] for value in pairs]
            is_ours = arm == "heaprec"
            rows.append(Row(f"Light point, {where}" if is_ours else f"SampledObjectAlloc, {arm}, {where}", "ns", values,
                            goal if is_ours else None, f"{LIGHT_PAIRS} pairs of windows a JVM", 0,
                            f"cost.light_{name}" if is_ours else f"cost.empty_callback_{name}"))
    return rows


def thread_cpu_ns(pid, name):
    """On a CPU so far; the thread has to be there."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    task = next(task for task in tasks.iterdir() if (task / "comm").read_text().strip() == name)
    return int((task / "schedstat").read_text().split()[0])


def drain(bench, rounds):
    """The agent's own thread at 300 samples a second, all of them kept, once it runs."""
    bench.compile(bench.here.parent / "crash/Steady.java")
    values = []
    for _ in range(rounds):
        bench.forget()
        options = bench.java(["-Xmx256m", *bench.recording("heaprec", "rate=300")])
        program = subprocess.Popen([*options, "Steady", str(1000 * (DRAIN_SECONDS + 8))], stdout=subprocess.DEVNULL)
        try:
            time.sleep(4)
            began, before = time.monotonic(), thread_cpu_ns(program.pid, "heaprec-drain")
            time.sleep(DRAIN_SECONDS)
            used, passed = thread_cpu_ns(program.pid, "heaprec-drain") - before, time.monotonic() - began
        finally:
            program.wait()
        kept = bench.summary()["losses"]["written"]
        if kept < 250 * DRAIN_SECONDS:
            raise SystemExit(f"drain: only {kept} samples in {DRAIN_SECONDS} s")
        values.append(100 * used * 1e-9 / passed)
    return [Row("the agent's thread at 300 samples a second", "% of a core", values, 0.3, decimals=2)]
