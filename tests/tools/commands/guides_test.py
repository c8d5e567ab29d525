"""Runs the commands of the tutorial and the guides: every block fenced as sh, with a real JVM.

Usage: guides_test.py HEAPREC AGENT NATIVE_AGENT JAR

A block behind a comment `<!-- Not run: REASON -->` is skipped. Times and amounts of work are shortened (SHORTER), and a
running JVM takes the place of PID 12345. Each command must exit with 0; `check` also with 1, its verdict on this
program.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
JAVA = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "bin")
BLOCK = re.compile(r"(?P<skip><!-- Not run: [^>]+ -->\n+)?^```(?P<kind>sh|java)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
SHORTER = (
    (r"(?m)^((?!sudo).*--duration) \S+", r"\1 500ms"),
    (r"(--min-age|--from) \S+", r"\1 0.1s"),
    (r"--to \S+", "--to 5s"),
    (r"-n \d ", "-n 1 "),
    ("300[_]?000", "9000"),
    (r"(?m)^(heaprec view )", r"timeout --preserve-status -s INT 2 \1"),
    ("--set census=all", "--duration 1s --set census=all"),
)
LEAST = 50  # commands
APP = """
package com.x;
import java.util.ArrayList;
import java.util.HashMap;
public class Parser {
  static HashMap<Integer, byte[]> kept = new HashMap<>();
  static Object next() { return new int[2]; }
  static void work(long seconds) {
    for (long end = System.nanoTime() + seconds * 1_000_000_000L; System.nanoTime() < end;) {
      for (int i = 0; i < 1000; i++) kept.put(i, new byte[200]);
      new ArrayList<>(kept.values()).forEach(bytes -> String.valueOf(bytes.length));
      java.nio.ByteBuffer.allocateDirect(1000);
    }
  }
  public static void main(String[] a) throws Exception {
    Thread worker = new Thread(() -> work(a.length > 0 ? 300 : 1), "worker");
    worker.start();
    worker.join();
  }
}
"""
# What a page opens or pipes into, if it is not a part of heaprec: it reads what it is given.
STAND_INS = {
    "xdg-open": 'test -s "$1"',
    "go": 'for last; do :; done; test -s "$last"',
    "flamegraph.pl": "cat",
    "sudo": '"$@"',
}
COPIES = "before after new main a1 a2 a3 b1 b2 b3 a b killed node-1 node-2 rec"


def program(path, text):
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def shell(text, folder, codes=(0,)):
    environment = {**os.environ, "PATH": f"{folder}/bin:{JAVA}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, env=environment, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode in codes, f"exit code {done.returncode}\n{done.stdout.decode(errors='replace')[-3000:]}"


def prepare(folder, heaprec, agent, native, jar):
    (folder / "bin").mkdir()
    names = "heaprec", "libheaprec.so", "libheaprec-native.so", "heaprec.jar"
    for name, source in zip(names, (heaprec, agent, native, jar)):
        shutil.copy(source, folder / "bin" / name)
        (folder / "bin" / name).chmod(0o755)
    for name, text in STAND_INS.items():
        program(folder / "bin" / name, text)
    program(folder / "server", 'for i in {1..20000}; do x="$x $i"; x=${x: -1000}; done')
    (folder / "Parser.java").write_text(APP)
    (folder / ".heaprec.key").write_text("0123456789abcdef")
    shell("javac -d classes Parser.java; jar cfe app.jar com.x.Parser -C classes .", folder)
    shell("for name in old new benchmarks; do cp app.jar $name.jar; done", folder)
    shell("heaprec record -q --set native=on,nmt=1s -o app.hrec -- java -jar app.jar; zstd -q app.hrec", folder)
    shell(f"for name in {COPIES}; do cp app.hrec $name.hrec; done; heaprec export -o theirs.jfr app.hrec", folder)
    shell("heaprec record -q --native=exact -o exact.hrec -- java -jar app.jar", folder)
    shell("cp exact-native-*.hnt n-4711.hnt; cp n-4711.hnt n-4712.hnt", folder)


def commands(page, pid, folder):
    """The commands of a page, a line that ends in a backslash with the next one. Java programs are saved by name."""
    for match in BLOCK.finditer(page.read_text()):
        text = match["text"]
        for pattern, shorter in SHORTER:
            text = re.sub(pattern, shorter, text)
        name = re.search(r"^public class (\w+)", text, re.MULTILINE)
        if match["kind"] == "java":
            if name:
                (folder / f"{name[1]}.java").write_text(text)
        elif not match["skip"]:
            text = text.replace("\\\n", " ").replace("12345", str(pid)).replace("/path/", f"{folder}/bin/")
            yield from (line for line in text.splitlines() if line.strip())


def run_page(page, prepared):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "page")
        shutil.copytree(prepared, folder)
        for part in ("heaprec", "heaprec.jar", "libheaprec.so"):  # the jar uses what lies beside it
            os.link(folder / "bin" / part, folder / part)
        jvm = subprocess.Popen([JAVA / "java", "-jar", "app.jar", "on"], cwd=folder)
        try:
            done = 0
            for command in commands(page, jvm.pid, folder):
                for written in re.findall(r" -o (\w[\w.-]*)", command):
                    (folder / written).unlink(missing_ok=True)
                try:
                    # A recording that nothing waits for has ended before the next command.
                    shell(re.sub("^(heaprec attach (?!.*--report)[^#]*).*", r"\1; sleep 1", command), folder, (0, 1)
                          if command.startswith("heaprec check") else (0,))
                except AssertionError as error:
                    raise AssertionError(f"{page.name}: {command}: {error}") from None
                done += 1
            return done
        finally:
            jvm.kill()
            jvm.wait()


def main():
    pages = sorted((ROOT / "docs/guide").glob("*.md"))
    with tempfile.TemporaryDirectory() as name:
        prepare(pathlib.Path(name), *sys.argv[1:5])
        count = sum(run_page(page, name) for page in pages if "```sh\n" in page.read_text())
    assert count >= LEAST, f"only {count} commands were found"
    print(f"{count} commands ran")


main()
