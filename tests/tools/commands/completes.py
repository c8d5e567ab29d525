"""What real shells complete: bash, zsh and fish are asked as by somebody who types and presses TAB.

usage: completes.py HEAPREC
"""

import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile

# What is typed, and words that must be offered, and must not.
CASES = [
    ("heaprec to", {"top"}, {"trim", "timeline"}),
    ("heaprec t", {"top", "tree", "timeline", "trim"}, {"summary"}),
    ("heaprec top --s", {"--sort", "--site"}, {"--limit", "--svg"}),
    ("heaprec top --by ", {"class", "site", "method", "label:"}, {"none", "--by"}),
    ("heaprec top --by cl", {"class"}, {"site"}),
    ("heaprec check --by n", {"none"}, {"name"}),
    ("heaprec top --sort m", {"mean-size"}, {"samples"}),
    ("heaprec diff --per ", {"second", "total", "op"}, {"bytes"}),
    ("heaprec print --kind ", {"tlab", "outside", "gc", "heap"}, {"class"}),
    ("heaprec export --format s", {"speedscope", "sqlite"}, {"pprof"}),
    ("heaprec completion ", {"bash", "zsh", "fish"}, {"top"}),
    ("heaprec top re", {"rec.bin"}, {"redact"}),
    ("heaprec flame -o re", {"rec.bin"}, {"redact"}),
]
SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "PS1='ready> '; bind 'set show-all-if-ambiguous on' 'set page-completions off' 2>/dev/null; "
             "bind 'set page-completions off'; bind 'set completion-query-items 0'; bind 'set enable-bracketed-paste off'; "
             "bind 'set bell-style none'; source ./completion"),
    "zsh": (["zsh", "-f", "-i"],
            "PS1='ready> '; PROMPT_EOL_MARK=; unsetopt prompt_cr prompt_sp always_last_prompt list_beep; setopt auto_list; "
            "LISTMAX=9999; autoload -Uz compinit; compinit -D -u; zstyle ':completion:*' menu no; source ./completion"),
}
QUIET = 60  # seconds until a shell that says nothing has hung


class Shell:
    """An interactive shell on a terminal of its own, in a folder with a file rec.bin."""

    def __init__(self, name, folder, heaprec):
        command, setup = SETUP[name]
        self.serial = 0
        script = subprocess.run([heaprec, "completion", name], capture_output=True, text=True, check=True).stdout
        (folder / "completion").write_text(script)
        environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": str(folder), "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.say(setup + "; stty cols 200\n")

    def say(self, keys):
        """Types, then empties the line and waits until the shell has run a command and is ready again: only then it
        reads key by key. What it wrote till then."""
        self.serial += 1
        os.write(self.terminal, keys.encode())
        # The mark is not what is typed, so that its echo is none.
        os.write(self.terminal, f"\x15echo mark-$(({self.serial} + 1000))-\n".encode())
        text = ""
        while "ready> " not in text.partition(f"mark-{self.serial + 1000}-")[2]:
            if not select.select([self.terminal], [], [], QUIET)[0]:
                raise AssertionError(f"no answer to {keys!r}; so far: {text!r}")
            text += os.read(self.terminal, 65536).decode(errors="replace")
        return text.split("echo mark")[0]

    def offers(self, line):
        said = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\x00-\x08\x15]", "", self.say(line + "\t"))
        words = set(re.findall(r"[^\s,]+", said.replace(line, " ")))
        # One that is left is put into the line.
        typed = line.rsplit(" ", 1)[-1]
        return words | {typed + word for word in words}

    def end(self):
        os.write(self.terminal, b"\x15exit\n")
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def fish_offers(folder, line):
    run = subprocess.run(["fish", "--no-config", "-c", f"source ./completion; complete -C '{line}'"], cwd=folder, text=True,
                         capture_output=True, env={"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb"}, check=True)
    return {one.split("\t")[0] for one in run.stdout.splitlines()}


def failures(name, offers):
    for line, wanted, unwanted in CASES:
        offered = offers(line)
        if not wanted <= offered or unwanted & offered:
            yield f"{name}: {line!r} offers {sorted(offered)}, not {sorted(wanted)} without {sorted(unwanted)}"


def main(heaprec):
    heaprec = pathlib.Path(heaprec).resolve()
    wrong = []
    for name in ("bash", "zsh", "fish"):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "rec.bin").touch()
            if name == "fish":
                script = subprocess.run([heaprec, "completion", name], capture_output=True, text=True, check=True).stdout
                (folder / "completion").write_text(script)
                wrong += failures(name, lambda line: fish_offers(folder, line))
                continue
            shell = Shell(name, folder, heaprec)
            wrong += failures(name, shell.offers)
            shell.end()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
