"""What the tests of the fleet share: running the command, asking a server, comparing answers."""

import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "tests/tools/commands")]
import local_shards  # noqa: E402
import page_data  # noqa: E402

HEAPREC = str(pathlib.Path(sys.argv[1]).resolve())
DEADLINE = 300
# All questions, with each kind of choice.
QUESTIONS = (["services"], ["top", "--by", "site"], ["top", "--by", "class"], ["top", "--by", "class-site"],
             ["timeline", "--step", "1m"], ["timeline", "--step", "2m", "--class", "*.Type3"],
             ["diff", "1.0", "1.1", "--service", "checkout"], ["outliers", "--service", "search"],
             ["diff", "1.0", "1.1", "--by", "class"], ["outliers", "--by", "class-site"],
             ["diff", "--deploy", "2026-11-20T10:01:00Z", "--service", "checkout"],
             ["show", "*.site7"], ["top", "--host", "host10[0-3]", "--from", "2026-11-20T10:01:00Z"],
             ["top", "--class", "*.Type4", "--by", "site", "--to", "2026-11-20T10:01:00Z"],
             ["live"], ["live", "--by", "class-site", "--site", "*.site1*"], ["live", "--class", "*.Type1"],
             ["live", "--by", "class", "--service", "search", "--to", "2026-11-20T10:01:00Z"])


def heaprec(*arguments, code=0, **environment):
    """Runs the command; what it printed, or its errors if `code` is not 0. A tuple: any of these codes."""
    done = subprocess.run([HEAPREC, *map(str, arguments)], capture_output=True, timeout=DEADLINE,
                          env={**os.environ, **environment}, check=False)
    out, errors = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    codes = code if isinstance(code, tuple) else (code,)
    assert done.returncode in codes, f"{arguments}: code {done.returncode}, not {code}\n{out[-2000:]}\n{errors[-2000:]}"
    return out if 0 in codes else errors


def ask(*arguments):
    """The answer of `heaprec fleet` as JSON."""
    return json.loads(heaprec("fleet", *arguments, "--json"))


def ship(*arguments):
    """The report of `heaprec ship` as JSON."""
    return json.loads(heaprec("ship", *arguments, "--json"))


def select(url, sql):
    """Rows of a server's answer, as lists of texts."""
    try:
        with urllib.request.urlopen(url, data=sql.encode(), timeout=DEADLINE) as answer:
            return [line.split("\t") for line in answer.read().decode("utf-8", "replace").splitlines()]
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{sql}: {error.read().decode('utf-8', 'replace')[:1000]}") from error


def same(one, other, path="answer"):
    """Fails where two JSON values differ by more than 1e-6 of themselves."""
    assert type(one) is type(other) or all(isinstance(x, (int, float)) for x in (one, other)), path
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one:
            same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), f"{path}: {len(one)} and {len(other)}"
        for i, (a, b) in enumerate(zip(one, other)):
            same(a, b, f"{path}[{i}]")
    elif isinstance(one, float) or isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6), f"{path}: {one} and {other}"
    else:
        assert one == other, f"{path}: {one} and {other}"


def contents(url, database="heaprec", suffix=""):
    """How many rows each slice of each recording has, by table, and the sum of what it says."""
    sums = {"totals": ("slice", "sum(counted)"), "sums": ("time", "sum(bytes)"), "hours": ("time", "sum(bytes)"),
            "samples": ("slice", "sum(weight)"), "live": ("time", "sum(bytes)"), "shipped": ("time", "sum(samples)")}
    rows = {}
    for table, (time, value) in sums.items():
        found = select(url, f"SELECT recording, {time}, count(), {value} FROM {database}.{table}{suffix} "
                            f"GROUP BY recording, {time} ORDER BY recording, {time}")
        rows[table] = [[recording, when, int(count), float(total)] for recording, when, count, total in found]
        assert rows[table], f"{table} is empty"
    return rows


def wait_until(what, is_so):
    """Waits for a condition, and fails with `what` if it does not come."""
    deadline = time.monotonic() + DEADLINE
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def side_by_side(*cases):
    """Runs cases that wait most of the time: each is a function and its arguments. Fails as the first that fails."""
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        for running in [pool.submit(*case) for case in cases]:
            running.result()


def generate(program, folder, hosts, seconds, seed, *more):
    """Recordings of a simulated fleet; what is true of them."""
    pathlib.Path(folder).mkdir(parents=True)
    subprocess.run([program, str(folder), str(hosts), str(seconds), str(seed), *more], check=True)
    return json.loads((pathlib.Path(folder) / "truth.json").read_text())


def temporary_parent():
    """Returns the parent folder of test servers: in memory if there is room, because a disk takes minutes."""
    memory = pathlib.Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 4 << 30
    return memory if has_room else os.environ.get("TEST_TMPDIR")


def run(test):
    """Calls test(folder), unless there is no server to test with."""
    if local_shards.server_program() is None:
        print("skipped: there is no clickhouse-server (setup.sh installs it)")
        return
    with tempfile.TemporaryDirectory(prefix="heaprec-fleet-", dir=temporary_parent()) as name:
        test(pathlib.Path(name))
    print("passed")
