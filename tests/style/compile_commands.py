"""Writes compile_commands.json at the top of the tree: how Bazel compiles each source, for editors and clangd.

Usage: python3 tests/style/compile_commands.py     Bazel analyses the tree and builds nothing.
"""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# An option of GCC alone, a file that nobody reads here, and warnings are no errors in an editor.
NOT_FOR_CLANG = {"-fno-canonical-system-headers", "-MD", "-Werror"}
OUTPUTS = {"-o", "-MF"}


def bazel(*words):
    return subprocess.run(["bazel", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def command(arguments, external):
    """The arguments as they are at the top of the tree: other repositories are below Bazel's output base."""
    words = (f"{external}/{word.removeprefix('external/')}" if word.startswith("external/") else word for word in arguments)
    for word in words:
        if word in OUTPUTS:
            next(words)
        elif word not in NOT_FOR_CLANG and not word.startswith("-frandom-seed="):
            yield word


def main():
    external = bazel("info", "output_base").strip() + "/external"
    actions = json.loads(bazel("aquery", 'mnemonic("CppCompile", //...)', "--output=jsonproto", "--include_artifacts=false"))
    commands = {}
    for action in actions["actions"]:
        arguments = action["arguments"]
        source = arguments[arguments.index("-c") + 1]
        # A source that is compiled more than once: with or without -fPIC, or for a tool of the build. One is enough.
        if (ROOT / source).exists():
            commands[source] = list(command(arguments, external))
    assert len(commands) >= 200, f"Bazel compiles only {len(commands)} sources"
    entries = [{"directory": str(ROOT), "file": file, "arguments": words} for file, words in sorted(commands.items())]
    (ROOT / "compile_commands.json").write_text(json.dumps(entries, indent=1) + "\n")
    print(f"compile_commands.json: {len(entries)} sources")


main()
