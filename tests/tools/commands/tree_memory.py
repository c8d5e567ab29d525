"""A tree of 50,000 stacks, about 40 deep, takes little memory: nodes below --min-share are pruned while reading.

usage: tree_memory.py HEAPREC GENERATE
"""

import os
import subprocess
import sys
import tempfile

EVENTS, MOST_MIB = "300000", 200


def main(heaprec, generate):
    with tempfile.TemporaryDirectory(prefix="heaprec-tree-") as folder:
        recording = f"{folder}/many.hrec"
        subprocess.run([generate, EVENTS, recording], check=True, stdout=subprocess.DEVNULL)
        for options in ([], ["--callers"], ["--callers", "--depth", "3", "--min-share", "0.2%"]):
            with open(f"{folder}/out", "wb") as out:
                process = subprocess.Popen([heaprec, "tree", *options, recording], stdout=out)
                _, status, usage = os.wait4(process.pid, 0)
            print(f"tree {' '.join(options)}: {usage.ru_maxrss / 1024:.0f} MiB")
            assert status == 0, f"tree {options}: status {status}"
            assert usage.ru_maxrss / 1024 <= MOST_MIB, f"tree {options} took {usage.ru_maxrss / 1024:.0f} MiB"


if __name__ == "__main__":
    main(*sys.argv[1:])
