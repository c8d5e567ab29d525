"""Every number in the text of a report is a number of its JSON, rounded.

rounding.py HEAPREC GOLDEN

Both forms are derived from one declaration (tools/render/report.h). This test reads both as a user does: a number in the
line of a table must be one of the row with that name; a number elsewhere must be one outside the rows.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SQL = "'select sum(weight_bytes) as bytes, count(*) as samples, class as name from samples group by 3'"
BUDGETS = "--budget total<100MiB --budget class:char[]<20% --budget 'site:com.sun.*<9MiB/s'"
COMMANDS = {
    "javac.hrec": [f"check {BUDGETS}", "check --by class --baseline REC --max-regression 3%", f"sql REC {SQL}",
                   "diff --window 0s..1s 1s..2s --by site --all --limit 8",
                   "top --limit 7", "top --by method --sort cumulative --limit 9", "top --by thread", "tree --min-share 4%",
                   "tree --callers --min-share 4%", "histogram", "summary --verbose", "doctor", "verify"],
    "leak.hrec": ["top", "summary --verbose", "doctor"],
}
# Of a folder with both.
FLEET = ["fleet services", "fleet top", "fleet top --by class", "fleet timeline", "fleet live",
         "fleet show java.util.HashMap.newNode"]
BYTES = {"B": 1, "KiB": 2**-10, "MiB": 2**-20, "GiB": 2**-30, "TiB": 2**-40}
TIMES = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1, "min": 1 / 60, "h": 1 / 3600}
SCALES = {**BYTES, **{unit: by for unit, by in TIMES.items()}, "%": 100, "k": 1e-3, "M": 1e-6, "G": 1e-9, "": 1}
NUMBER = re.compile(r"(?<![\w.])([+-]?\d[\d,]*(?:\.\d+)?)(?:(?: ?)(B|[KMGT]iB|ns|us|ms|s|min|h|%|k|M|G)(?![\w]))?")
NOT_NUMBERS = ("name", "children", "measured", "allowed")
CLOCK = re.compile(r"\d\d:\d\d:\d\d\.\d{6} \(\d{4}-\d\d-\d\d\)|95 %")


def run(heaprec, line, recording):
    words = [recording if word == "REC" else word for word in shlex.split(line)]
    if "REC" not in line.replace("--baseline REC", "") and "--from-dir" not in line:
        words.append(recording)
    environment = {"PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([heaprec, *words], env=environment, timeout=120, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def walk(value, strings, numbers, rows):
    """Puts what is outside of rows into `strings` and `numbers`, and rows with a name into `rows`."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, str):
        strings.add(value)
    elif isinstance(value, (int, float)):
        numbers.append(float(value))
    elif isinstance(value, list):
        for one in value:
            walk(one, strings, numbers, rows)
    elif "name" in value:
        own, others = [], {key: one for key, one in value.items() if key not in NOT_NUMBERS}
        walk(others, strings, own, rows)
        rows.setdefault(value["name"], []).extend(own)
        strings.add(value["name"])
        walk(value.get("children"), strings, numbers, rows)
    else:
        for one in value.values():
            walk(one, strings, numbers, rows)


def is_rounded(token, unit, numbers, near):
    """`near`: units that the line has: those of an interval's ends are its value's."""
    decimals = len(token.partition(".")[2])
    shown = float(token.replace(",", ""))
    scales = [SCALES[unit]] if unit else [1, *(SCALES[one] for one in near)]
    if unit in TIMES:
        scales.append(SCALES[unit] * 1e-9)  # of nanoseconds
    tolerance = 0.5000001 * 10**-decimals
    if unit == "%" or "%" in near:
        numbers = numbers + [number - 1 for number in numbers]  # a ratio as a change
    return any(abs(abs(number) * scale - abs(shown)) <= tolerance for number in numbers for scale in scales)


def wrong_in(line, numbers, strings):
    for text in sorted((one for one in strings if len(one) > 2), key=len, reverse=True):
        line = line.replace(text, " ")
    tokens = NUMBER.findall(CLOCK.sub(" ", line).replace("-", " ").replace("..", " "))
    near = {unit for _, unit in tokens if unit}
    return [f"{token} {unit}".strip() for token, unit in tokens if not is_rounded(token, unit, numbers, near)]


def check(heaprec, command, recording):
    document = json.loads(run(heaprec, f"{command} --json", recording))
    strings, numbers, rows = set(), [], {}
    walk(document, strings, numbers, rows)
    strings.add(recording)
    checked = 0
    for line in run(heaprec, command, recording).splitlines():
        if line.startswith("... ") or "generated names of classes" in line:
            continue  # rows that text leaves out and JSON has; how names were merged is in text alone
        name = next((name for name in sorted(rows, key=len, reverse=True) if line.endswith("  " + name) or
                     re.search(r"[─ ]" + re.escape(name) + r"( \(\+\d+\))?$", line)), None)
        if name is None and command.startswith("diff"):
            continue  # how small a change could be found with more runs is in text alone
        allowed = rows[name] + [0.0] if name else numbers
        found = wrong_in(re.sub(r" \(\+\d+\)$", "", line), allowed, strings)
        assert not found, f"heaprec {command}: not in its JSON: {', '.join(found)}\n{line}"
        checked += len(NUMBER.findall(line))
    assert checked > 1, f"heaprec {command}: hardly any numbers"
    print(f"heaprec {command}: {checked} numbers")


def test_of_the_test():
    assert wrong_in("9.66 MiB 8.12-11.5", [1.01e7, 8.51e6, 1.21e7], set()) == ["9.66 MiB"]
    assert not wrong_in("9.65 MiB 8.12-11.5", [1.012e7, 8.51e6, 1.21e7], set())
    assert wrong_in("3 of 2 budgets", [1.0, 2.0], set()) == ["3"]


def main():
    test_of_the_test()
    heaprec, golden = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    for recording, commands in COMMANDS.items():
        for command in commands:
            check(heaprec, command, f"{golden}/{recording}")
    with tempfile.TemporaryDirectory() as folder:
        for recording in COMMANDS:
            shutil.copy(f"{golden}/{recording}", folder)
        for command in FLEET:
            check(heaprec, f"{command} --from-dir {folder}", folder)


main()
