#!/usr/bin/env python3
"""Records one program with exact ground truth under every JDK, collector and mode, judges each recording, prints a table.

A cell runs Matrix.java twice, without and with the agent, and asks of the second run:
  unchanged   the same output and exit code as the first
  source      the hooks, with no word of another; in the mode "portable", and on an unknown JDK, JVMTI alone, in those words
  stacks      every sample has the size, class and frames of its site
  counted     bytes counted by the agent over those of ThreadMXBean: within 0.5 % (the recording begins after VMInit and the agent's
              self-test, megabytes later, and ends at VMDeath)
  weights     bytes of each site and of all within Bernstein's bound of the truth: 5.5 standard errors and the term for few samples,
              2.8 times a 95 % interval; a true one is refused with probability 6e-7, in the whole table with less than 1e-3
  counters    points = committed + thinned + lost, committed = written + second stage; nothing lost but `missed`, under 0.1 % of bytes
  rate        no interval holds more than the cap
A JVM that does not end in time is looked at before it is killed: tests/support/hang_report.py.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))

import hang_report  # noqa: E402
from verdict import FAILED, Result, judge, read_truth  # noqa: E402

COLLECTORS = ["G1", "Serial", "Parallel", "Z", "Shenandoah"]
MODES = collections.OrderedDict([
    ("", []),
    ("compact headers", ["-XX:+UseCompactObjectHeaders"]),
    ("wide class pointers", ["-XX:-UseCompressedClassPointers"]),
    ("no TLABs", ["-XX:-UseTLAB"]),
    ("interpreter", ["-Xint"]),
    ("virtual threads", []),
    ("portable", []),
])
ALWAYS = ["-XX:+UnlockExperimentalVMOptions", "-Xmx400m"]
# Of malloc, whose threads then reuse each other's memory: what the JVM does not set is not zero. JDK 11 does not set the words of a
# TLAB where it has none.
REUSED_MEMORY = {"MALLOC_ARENA_MAX": "1"}
RATE = 4000
# Agent options of a mode.
AGENT_OPTIONS = {"portable": ",source=portable"}
PATIENCE = 120  # seconds by default; a cell takes 1 to 11, the machine's load being 2 to 20

Cell = collections.namedtuple("Cell", "version home collector mode")


class Absent(Exception):
    """The JVM has no such mode."""


class Skipped(Exception):
    """Cannot be tested on this machine."""


class NeverEnded(Exception):
    """With what the JVM was doing."""


def cells_of(version, home, short):
    """A short form has every collector and every mode once, the long one all pairs."""
    for collector in COLLECTORS:
        for mode in MODES:
            if short and mode and collector != "G1":
                continue
            yield Cell(version, home, collector, mode)


def flags_of(cell):
    if cell.mode == "virtual threads" and cell.version < 21:
        raise Absent("virtual threads: from JDK 21 on")
    return ALWAYS + [f"-XX:+Use{cell.collector}GC"] + MODES[cell.mode]


def run_java(cell, flags, options, truth):
    kind = "virtual" if cell.mode == "virtual threads" else "platform"
    command = [*options.under, f"{cell.home}/bin/java", *flags, "-cp", options.classes, "e2e.Matrix", "2", str(options.rounds), kind, truth]
    environment = {**os.environ, **(REUSED_MEMORY if cell.mode == "no TLABs" else {})}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env=environment) as java:
        try:
            out, err = java.communicate(timeout=options.patience)
        except subprocess.TimeoutExpired:
            stands = hang_report.take(java.pid)
            java.kill()
            raise NeverEnded(f"did not end within {options.patience} s: {stands}") from None
    # The JVM's own warnings begin with a time.
    return java.returncode, re.sub(r"\[[0-9.]+s\]", "[]", out), err


def run_heaprec(options, *arguments):
    done = subprocess.run([options.command, *arguments], stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
    return json.loads(done.stdout)


def run_cell(cell, options):
    flags = flags_of(cell)
    with tempfile.TemporaryDirectory(prefix="heaprec-matrix-") as folder:
        truth, recording = f"{folder}/truth", f"{folder}/rec.hrec"
        without = run_java(cell, flags, options, truth)
        if without[0] != 0:
            reason = re.search(r"(Unrecognized VM option|not supported)[^\n]*", without[1] + without[2])
            raise Absent(reason.group(0)) if reason else Skipped(f"{' '.join(flags)}: does not start: {without[2][-200:]!r}")
        agent = f"-agentpath:{options.agent}=file={recording},rate={options.rate}{AGENT_OPTIONS.get(cell.mode, '')}{options.agent_options}"
        within = run_java(cell, [agent, *flags], options, truth)
        if not os.path.exists(recording):
            return Result(cell, "none", 0, "-", "-", "-", "-", FAILED, f"no recording; exit {within[0]}: {within[2][-300:]!r}")
        summary = run_heaprec(options, "summary", "--json", recording)
        printed = run_heaprec(options, "print", "--json", recording)
        return judge(cell, without, within, read_truth(truth), summary, printed, cell.mode == "portable")


def run_refusal(version, home, options):
    """A JDK that cannot be recorded: one line says so, everything else is as without the agent."""
    with tempfile.TemporaryDirectory(prefix="heaprec-matrix-") as folder:
        command = [f"{home}/bin/java", f"-agentpath:{options.agent}=file={folder}/rec.hrec", "-version"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE)
        plain = subprocess.run([command[0], "-version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        line, _, rest = done.stderr.partition("\n")
        strict = subprocess.run([command[0], command[1] + ",strict", "-version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        good = (line.startswith("heaprec: not recording: ") and rest == plain.stderr and done.stdout == plain.stdout
                and done.returncode == 0 and strict.returncode != 0 and not os.listdir(folder))
        verdict = ("ok, refused: " + line.partition("recording: ")[2], "") if good else (FAILED, f"not refused cleanly: {done.stderr!r}")
        return Result(Cell(version, home, "", "any"), "none", 0, "-", "-", "-", "-", *verdict)


def attempt(cell, options):
    """A Result, or the exception that says why there is none."""
    began = time.monotonic()
    try:
        result = run_cell(cell, options)
        if not result.verdict.startswith("ok"):
            # A starved machine can break a deadline; a defect fails twice, and what passes then is named.
            first, result = result.detail, run_cell(cell, options)
            details = [text for text in (result.detail, f"the first attempt: {first}") if text]
            result = result._replace(verdict=f"{result.verdict}, at the second attempt", detail="; ".join(details))
        print(f"{said(result)} ({time.monotonic() - began:.0f} s)", file=sys.stderr)
        return result
    except (Absent, Skipped) as reason:
        return reason
    except (NeverEnded, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        result = Result(cell, "?", 0, "-", "-", "-", "-", FAILED, f"{type(error).__name__}: {error}")
        print(said(result), file=sys.stderr)
        return result


def journal_of(options):
    """{version, collector, mode: what attempt said} of an earlier run that did not come to its end."""
    if not options.journal or not os.path.exists(options.journal):
        return {}
    with open(options.journal) as lines:
        entries = [json.loads(line) for line in lines]
    return {tuple(entry["cell"]): Absent(entry["absent"]) if "absent" in entry else entry["result"] for entry in entries}


def attempt_once(cell, options, journal):
    """As attempt, but for a cell of which the journal has it."""
    key = (cell.version, cell.collector, cell.mode)
    if key in journal:
        return journal[key] if isinstance(journal[key], Absent) else Result(cell, *journal[key])
    outcome = attempt(cell, options)
    if options.journal and (isinstance(outcome, Absent) or isinstance(outcome, Result) and outcome.verdict.startswith("ok")):
        entry = {"absent": str(outcome)} if isinstance(outcome, Absent) else {"result": outcome[1:]}
        with open(options.journal, "a") as file:
            file.write(json.dumps({"cell": key, **entry}) + "\n")
    return outcome


def name_of(cell):
    return " ".join(part for part in (cell.collector, cell.mode) if part)


def said(result):
    """A line of its own for a result, whatever its detail holds."""
    text = " ".join(f"{result.verdict}: {result.detail}".split()) if result.detail else result.verdict
    return f"{result.cell.version} {name_of(result.cell)}: {text}"


def table(results):
    """Verdicts in the rows; what failed, which may be long, in a list below."""
    lines = ["| JDK | flags | source | samples | stacks | counted | weights | lost | verdict |", "|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        lines.append(f"| {r.cell.version} | {name_of(r.cell)} | {r.source} | {r.samples} | {r.stacks} | {r.counted} | {r.weights} | {r.lost} "
                     f"| {r.verdict} |")
    lines += [""] + [textwrap.fill(f"- {said(r)}", 118, subsequent_indent="  ", break_on_hyphens=False) for r in results if r.detail] if any(r.detail for r in results) else []
    return "\n".join(lines)


def closing(results, absent, skipped):
    """The last line: what was not tried, by reason."""
    def counted(word, reasons):
        by_reason = collections.Counter(map(str, reasons))
        text = "; ".join(f"{count} x {reason}" for reason, count in sorted(by_reason.items()))
        return f"; {word} {len(reasons)}{': ' + text if text else ''}"

    good = sum(r.verdict.startswith("ok") for r in results)
    text = f"{len(results)} cells, {good} ok{counted('not in that JDK', absent)}{counted('skipped', skipped)}"
    return textwrap.fill(text, 118, break_on_hyphens=False)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", action="append", default=[], metavar="VERSION=JAVA_HOME", help="repeatable")
    parser.add_argument("--missing", action="append", default=[], metavar="VERSION", help="a JDK that is not there: counted as skipped")
    parser.add_argument("--require-all", action="store_true", help="what is skipped is a failure")
    parser.add_argument("--agent", required=True)
    parser.add_argument("--command", required=True)
    parser.add_argument("--classes", required=True, help="class path of e2e.Matrix")
    parser.add_argument("--short", action="store_true", help="every collector and mode once, a third of the work")
    parser.add_argument("--journal", help="a file of cells that are done: one that is in it is not run again")
    parser.add_argument("--only", default="", metavar="TEXT", help="cells whose version and name hold it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--agent-options", default="", help="more of them, with a leading comma")
    parser.add_argument("--out", help="a Markdown file: what is between its marks is replaced")
    parser.add_argument("--rate", type=int, default=RATE, help="samples per second")
    parser.add_argument("--mark", default="table", help="names the marks in that file")
    parser.add_argument("--figure", default="x86-64", help="with --out: names the figure of bench/results/jdks.json")
    parser.add_argument("--patience", type=int, default=PATIENCE, help="seconds that a JVM may take")
    parser.add_argument("--under", type=str.split, default=[], metavar="COMMAND", help="starts the JVMs, for instance `refuse membarrier`")
    parser.add_argument("--suite", action="append", default=[], metavar="LINE", help="what the tests said on a JDK, for the file")
    parser.add_argument("--commit", default="", help="for the file")
    options = parser.parse_args(argv)
    options.rounds = 5000 if options.short else 15000
    return options


def write(options, text):
    """Puts the text between the two marks of the file."""
    with open(options.out) as f:
        before, start, rest = f.read().partition(f"<!-- {options.mark} -->\n")
        _, end, after = rest.partition(f"<!-- end of {options.mark} -->")
    assert start and end, f"{options.out}: the marks are not there"
    with open(options.out, "w") as f:
        f.write(before + start + text + "\n" + end + after)


def store(options, results, absent, skipped):
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench"))
    import record
    bad = [said(r) for r in results if not r.verdict.startswith("ok")]
    reasons = bad + [str(reason) for reason in skipped]
    command = "tests/e2e/aarch64.sh --write" if "aarch64" in options.figure else "tests/e2e/jdks.sh --write"
    record.record("jdks", f"jdks.{options.figure}", figure=f"Cells that are ok, {options.figure}", area="JDKs",
                  goal=len(results) + len(skipped), value=len(results) - len(bad), unit="cells", reached=not reasons, skipped=len(skipped),
                  absent=len(absent), built_at=options.commit, command=command,
                  notes="docs/jdks.md", **({"reason": "; ".join(reasons)} if reasons else {}))


def main(argv):
    options = parse(argv)
    jdks = [(int(version), home) for version, _, home in (jdk.partition("=") for jdk in options.jdk)]
    cells = [cell for version, home in jdks if version > 8 for cell in cells_of(version, home, options.short)
             if options.only in f"{cell.version} {name_of(cell)}"]
    results = [run_refusal(version, home, options) for version, home in jdks if version <= 8]
    journal = journal_of(options)
    absent, skipped = [], [Skipped(f"JDK {version} is not there") for version in options.missing]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda cell: attempt_once(cell, options, journal), cells):
            (absent if isinstance(outcome, Absent) else skipped if isinstance(outcome, Skipped) else results).append(outcome)
    last = closing(results, absent, skipped)
    not_tested = [Result(Cell(version, "", "", ""), "-", "-", "-", "-", "-", "-", "not tested") for version in options.missing]
    text = (f"Commit {options.commit}, {datetime.date.today()}.\n\n{table(results + not_tested)}\n\n"
            + "".join(f"{line}\n\n" for line in options.suite) + last)
    if options.out:
        write(options, text)
        store(options, results, absent, skipped)
    else:
        print(text)
    print(last, file=sys.stderr)
    return 0 if all(r.verdict.startswith("ok") for r in results) and not (options.require_all and skipped) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
