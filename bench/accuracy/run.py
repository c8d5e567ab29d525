#!/usr/bin/env python3
"""Runs allocation workloads with exact ground truth under heaprec, JFR and async-profiler, and prints a table. README.md explains it.

Results are kept in the scratch folder: a run that is there is not repeated, so an interrupted comparison goes on where it was.
"""

import argparse
import collections
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import metrics
import report
import tools
from workloads import WORKLOADS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = ("javac", "H2", "Clojure")
SHORT_SECONDS = 2  # runs up to this long have goals and ids of their own
# What a workload counts and what the JVM counts for its threads may differ by this share: classes loaded on the way, no more.
SELF_CHECK = 0.002

Job = collections.namedtuple("Job", "workload tool rep file")


def comma_separated(text):
    return text.split(",")


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=comma_separated, default=list(WORKLOADS), metavar="A,B", help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--tools", type=comma_separated, default=["heaprec", "jfr"], metavar="A,B", help="of heaprec, jfr, async, none")
    parser.add_argument("--programs", type=comma_separated, default=[], metavar="A,B",
                        help=f"real programs under heaprec, judged by a census, of {', '.join(PROGRAMS)} (default: none)")
    parser.add_argument("--rate", type=int, default=150, help="samples per second (default: 150)")
    parser.add_argument("--reps", type=int, default=5, help="runs of each workload with each tool (default: 5)")
    parser.add_argument("--seconds", type=float, default=10, help="of each run (default: 10)")
    parser.add_argument("--java", default=default_java(), metavar="JAVA_HOME")
    parser.add_argument("--collector", default="G1", help="G1, Parallel, Serial, Z, Shenandoah (default: G1)")
    parser.add_argument("--heap", default="1g", help="of the workload's JVM (default: 1g)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default: 1)")
    parser.add_argument("--agent", default=str(ROOT / "bazel-bin/recorder/libheaprec.so"))
    parser.add_argument("--command", default=str(ROOT / "bazel-bin/tools/heaprec"))
    parser.add_argument("--async-interval", default="512k", help="async-profiler's bytes between samples (default: 512k)")
    parser.add_argument("--scratch", default=os.path.join(tempfile.gettempdir(), "heaprec-accuracy"))
    parser.add_argument("--keep", action="store_true", help="keep recordings")
    parser.add_argument("--record", action="store_true", help="keep heaprec's figures in bench/results/accuracy.json")
    options = parser.parse_args(argv)
    for chosen, known in ((options.workloads, WORKLOADS), (options.programs, PROGRAMS), (options.tools, ("heaprec", "jfr", "async", "none"))):
        unknown = [name for name in chosen if name not in known]
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)}; valid: {', '.join(known)}")
    if "async" in options.tools and not os.environ.get("ASYNC_PROFILER"):
        parser.error("async needs the path of its library in ASYNC_PROFILER")
    return options


def default_java():
    javac = shutil.which("javac")
    return os.environ.get("JAVA_HOME") or (str(pathlib.Path(javac).resolve().parent.parent) if javac else "")


def tail_sites(classes=40, methods=50):
    """SitesTail.java: a method for each site of a long tail. Few in a class, because HotSpot does not compile huge methods."""
    def make(at, results):
        cases = " ".join(f"case {i}: return {result};" for i, result in enumerate(results[:-1]))
        return f"static Object make(int site, int size) {{ switch ({at}) {{ {cases} default: return {results[-1]}; }} }}"
    lines = ["package workloads;", "final class SitesTail {",
             make(f"site / {methods}", [f"SitesTail{i}.make(site % {methods}, size)" for i in range(classes)]),
             f'static String method(int site) {{ return "workloads.SitesTail" + site / {methods} + ".s" + site % {methods}; }}', "}"]
    for number in range(classes):
        lines += [f"final class SitesTail{number} {{", make("site", [f"s{i}(size)" for i in range(methods)])]
        lines += [f"static Object s{i}(int size) {{ return new byte[size - 16]; }}" for i in range(methods)] + ["}"]
    return "\n".join(lines)


def compile_java(options):
    """Folder of the compiled workloads and readers."""
    tail = pathlib.Path(options.scratch) / "SitesTail.java"
    tail.write_text(tail_sites())
    sources = sorted([*HERE.glob("workloads/*.java"), *HERE.glob("readers/*.java"), tail])
    key = hashlib.sha256(b"".join(s.read_bytes() for s in sources) + options.java.encode()).hexdigest()[:8]
    classes = pathlib.Path(options.scratch) / f"classes-{key}"
    if not classes.exists():
        building = tempfile.mkdtemp(dir=options.scratch)
        subprocess.run([f"{options.java}/bin/javac", "-d", building, *map(str, sources)], check=True)
        os.rename(building, classes)
    return str(classes)


def java_version(options):
    text = subprocess.run([f"{options.java}/bin/java", "-version"], stderr=subprocess.PIPE, check=True, universal_newlines=True).stderr
    return re.search(r'version "([^"]+)"', text).group(1)


def make_tool(name, options, classes):
    if name == "heaprec":
        for product in (options.agent, options.command):
            if not os.path.exists(product):
                sys.exit(f"run.py: no {product}: bazel build //recorder:libheaprec.so //tools:heaprec, or --agent and --command")
        return tools.Heaprec(options.agent, options.command, options.rate)
    if name == "jfr":
        return tools.Jfr(options.java, classes, options.rate)
    if name == "async":
        return tools.Async(options.java, classes, os.environ["ASYNC_PROFILER"], options.async_interval)
    return tools.Nothing()


def run_program(job, options):
    import programs  # what it needs may not be there

    with tempfile.TemporaryDirectory(prefix=f"{job.workload}-", dir=options.scratch) as folder:
        result = programs.run(job.workload, options, job.tool, folder)
    return {**result, "date": datetime.datetime.now().isoformat(timespec="seconds")}


def run_once(job, options, classes):
    """One JVM: result, or an exception that says what went wrong."""
    if job.workload in PROGRAMS:
        return run_program(job, options)
    main_class, arguments, flags = WORKLOADS[job.workload]
    folder = tempfile.mkdtemp(prefix=f"{job.workload}-{job.tool.name}-", dir=options.scratch)
    command = [f"{options.java}/bin/java", f"-Xms{options.heap}", f"-Xmx{options.heap}", f"-XX:+Use{options.collector}GC", *flags,
               *job.tool.flags(folder), "-cp", classes, f"workloads.{main_class}", f"seconds={options.seconds}", f"seed={job.rep}",
               f"out={folder}/truth.json", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {' '.join(command)}\n{done.stdout}")
    with open(f"{folder}/truth.json") as f:
        truth = json.load(f)
    recording = job.tool.read(folder)
    result = metrics.evaluate(truth, recording.samples, recording.start_ns, options.rate, recording.told)
    if abs(result["jvm_ratio"] - 1) > SELF_CHECK:
        raise RuntimeError(f"the workload counted wrongly: the JVM says {result['jvm_ratio']:.5f} of its bytes")
    result.update(file_bytes=recording.file_bytes, events=len(recording.samples), notes=recording.notes, output=done.stdout,
                  date=datetime.datetime.now().isoformat(timespec="seconds"), command=command)
    if not options.keep:
        shutil.rmtree(folder)
    return result


def run_all(jobs, options, classes):
    """Runs what has no result yet. Number of failures."""
    missing = [job for job in jobs if not job.file.exists()]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(run_once, job, options, classes): job for job in missing}
        for done, future in enumerate(concurrent.futures.as_completed(running), 1):
            job = running[future]
            where = f"[{done}/{len(missing)}] {job.workload} {job.tool.name} {job.rep}"
            try:
                result = future.result()
            except SystemExit as missing:
                print(f"{where}: skipped: {missing}", file=sys.stderr)
                continue
            except (RuntimeError, OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
                failures += 1
                print(f"{where}: {error}", file=sys.stderr)
                continue
            partial = job.file.with_suffix(".partial")
            partial.write_text(json.dumps(result))
            partial.rename(job.file)
            xcap = result.get("xcap", result["xcap_class"])
            print(f"{where}: xCap {xcap:.2f}, total {result['total']:.3f}", file=sys.stderr)
    return failures


def record(runs, jfr, options, argv):
    """Keeps heaprec's figures, beside JFR's of the same workloads. Both: {workload: results}."""
    sys.path.append(str(ROOT / "bench"))
    import record as records

    is_short = options.seconds <= SHORT_SECONDS
    command = " ".join(["bench/accuracy/run.py", *argv])
    peers = {key: value for key, _, _, value, _, _ in report.figures(jfr, is_short)} if jfr else {}
    for key, figure, goal, value, reached, reason in report.figures(runs, is_short):
        fields = {"figure": f"{figure}, {options.seconds:g} s", "area": "Accuracy", "goal": goal, "value": value, "reached": reached,
                  "command": command, "notes": "bench/accuracy/README.md"}
        if key in peers:
            fields["peer"] = peers[key]
        if not reached:
            fields["reason"] = f"beyond the goal: {reason}"
        records.record("accuracy", f"accuracy.rows_{key}" + (f"_{options.seconds:g}s" if is_short else ""), **fields)


def main(argv):
    options = parse(argv)
    os.makedirs(options.scratch, exist_ok=True)
    classes = compile_java(options)
    version = java_version(options)
    setting = f"{version}-{options.collector}-{options.heap}-{options.rate}-{options.seconds:g}s-{os.path.basename(classes)}"
    results = pathlib.Path(options.scratch) / "results" / setting
    results.mkdir(parents=True, exist_ok=True)
    chosen = [make_tool(name, options, classes) for name in options.tools]
    # Repetitions outermost: an interrupted comparison has all workloads with all tools.
    jobs = [Job(workload, tool, rep, results / f"{workload}.{tool.key}.{rep}.json")
            for rep in range(1, options.reps + 1) for workload in options.workloads for tool in chosen]
    jobs += [Job(program, tool, rep, results / f"{program}.{tool.key}.{rep}.json")
             for rep in range(1, options.reps + 1) for program in options.programs for tool in chosen if tool.name == "heaprec"]
    failures = run_all(jobs, options, classes)
    order = options.workloads + options.programs
    ordered = sorted((job for job in jobs if job.file.exists()),
                     key=lambda job: (order.index(job.workload), options.tools.index(job.tool.name), job.rep))
    done = [(job.workload, job.tool.name, json.loads(job.file.read_text())) for job in ordered]
    if done and options.tools != ["none"]:
        print(f"JDK {version}, {options.collector}, {options.rate}/s, {options.seconds:g} s, {datetime.date.today()}\n")
        print(report.table([run for run in done if run[0] not in PROGRAMS]))
    by_tool = {"heaprec": collections.defaultdict(list), "jfr": collections.defaultdict(list)}
    for workload, tool, result in done:
        if tool in by_tool:
            by_tool[tool][workload].append(result)
    ours = by_tool["heaprec"]
    for program in options.programs:
        if program in ours:
            print(report.program_line(program, ours[program]))
    if options.record:
        record(ours, by_tool["jfr"], options, argv)
    if failures:
        print(f"run.py: {failures} runs failed", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
