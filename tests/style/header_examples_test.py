"""Compiles the examples in the comments of headers.

Usage: header_examples_test.py ROOT

An example is indented by three spaces and has statements; " ..." at the end of one is the reader's own code. What an
example uses and does not declare becomes a parameter of a function around it, of the type in TYPES, or of any type:
then the compiler checks names and members, but not the arguments of calls.
"""

import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("base", "format", "recorder", "throttle", "tools")
LINE = re.compile(r"^ *//   ( *\S.*)$")
STATEMENT = re.compile(r"(;|[{}]| \.\.\.)\s*(//.*)?$")
NAMESPACE = re.compile(r"^namespace (heaprec[\w:]*) \{", re.M)
NAME = re.compile(r"(?<![\w.:>])(?!k[A-Z])[a-z]\w*\b(?!::)")
DECLARED = re.compile(r"[\w>][*&]*\s+([a-z]\w*)\s*[;:({=,]")
WORDS = set("auto bool break char const constexpr continue double else false float for format if int jthread long nullptr render "
            "return short sizeof static std struct true uint32_t uint64_t unsigned void while".split())
TYPES = {
    "after": "const Estimate&",
    "before": "const Estimate&",
    "block": "const format::Block&",
    "counters": "const format::StreamCounters&",
    "design": "Design&",
    "estimator": "const Estimator&",
    "groups": "std::span<LiveGroup* const>",
    "header": "const format::FileHeader&",
    "lives": "const Lifetimes&",
    "output": "Output&",
    "recording": "Recording&",
    "sample": "const format::Sample&",
    "scan": "RecordingScan&",
    "tree": "CallTree&",
}


def examples(text):
    block = []
    for line in [*text.splitlines(), ""]:
        match = LINE.match(line)
        if match:
            block.append(match[1])
        elif block:
            if block[0][0] != " " and (STATEMENT.search(block[0]) or STATEMENT.search(block[-1])):
                yield [re.sub(r"\s*//.*", "", code).replace(" ...", ";") for code in block]
            block = []


def function(number, header, namespace, lines):
    code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', "\n".join(lines))
    known = WORDS | set(DECLARED.findall(code))
    unknown = dict.fromkeys(name for name in NAME.findall(code) if name not in known)
    parameters = ", ".join(f"{TYPES.get(name, 'auto&&')} {name}" for name in unknown)
    return [f"namespace {namespace} {{", f"// {header}", f"[[maybe_unused]] static auto Example{number}({parameters}) {{",
            *(f"  {line}" for line in lines), "}", f"}}  // namespace {namespace}", ""]


def main(root):
    headers = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.h"))]
    found = [(str(path.relative_to(root)), NAMESPACE.search(text)[1], lines) for path in headers
             for text in [path.read_text()] for lines in examples(text)]
    assert len(found) >= 30, f"only {len(found)} examples"
    includes = [f'#include "{header}"' for header in dict.fromkeys(header for header, _, _ in found)]
    functions = [line for number, one in enumerate(found) for line in function(number, *one)]
    jdk = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "include")
    compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", f"-I{root}", f"-I{jdk}", f"-I{jdk}/linux", "-xc++", "-"]
    return subprocess.run(compiler, input="\n".join([*includes, *functions, ""]), text=True).returncode


sys.exit(main(pathlib.Path(sys.argv[1])))
