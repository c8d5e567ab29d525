"""Holds the documentation to what it refers to: links, anchors, names of files, targets, options and classes;
and to 120 columns.

Usage: docs_test.py ROOT. Checked are all Markdown pages, every mention of a page of docs/ in the sources, every mention
of a file of C++ in its comments, and the tests that reproduce the figures of bench/results.
"""

import ast
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
FOLDERS = ("base", "bench", "docs", "format", "include", "java", "recorder", "tests", "throttle", "tools")
SOURCES = {".h", ".cc", ".c", ".py", ".sh", ".java", ".js", ".html", ".pml"}
WIDTH = 120
LINK = re.compile(r"\]\(([^)\s]+)\)")
MENTION = re.compile(r"\b((?:docs|bench)/[\w./-]*\.md)((?:,? ?#[a-z][\w-]*)*)")
FILE_NAME = re.compile(r"`((?:base|bench|docs|format|include|recorder|tests|throttle|tools)/[\w./-]+)`")
COMMENT = re.compile(r"(?:^|\s)//(.*)$")
CPP_FILE = re.compile(r"(?<![\w./*-])[\w/-]*\w\.(?:h|cc)\b")
OTHERS_FILES = {"jni.h", "jvmti.h"}  # the JDK's
# With or without slashes, and as a shell has it: //tests/native:{got_patcher,sampled}_test.
LABEL = re.compile(r"(?<![\w:/.-])(?://([a-z][\w/]*)|((?:%s)/[\w/]*)):([\w.{},-]*[\w}])" % "|".join(FOLDERS))
NO_TARGETS = {"load", "package", "package_group", "exports_files"}
# What a macro of a .bzl file makes of the names it is given; the name itself in all others.
MACROS = {"jvm_tests": "{}_test", "wrapped_agent": "lib{}.so"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OTHERS_OPTIONS = {"--enable-native-access", "--no-zygote"}  # the JVM's, Chromium's
CLASS = re.compile(r"`([A-Z]+[a-z]\w*)(?:::(\w+))?`")
OTHERS_CLASSES = {"StringBuffer", "GenericShorthandParser", "ListBuffer", "GCId", "_next_id"}  # not of heaprec
NOT_YET = "**Not part of the command yet**"  # a page that says so has options that no command has
FENCE = re.compile(r"^\s*(```|~~~)")


def files():
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.is_file())
    yield from sorted(path for path in ROOT.iterdir() if path.is_file())


def prose(text):
    """Numbered lines outside of fenced blocks."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def slug(heading):
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def anchors(path, known={}):
    """The anchors that a Markdown renderer gives to the headings of a page."""
    if path not in known:
        seen = {}
        for _, line in prose(path.read_text()):
            match = re.match(r"#+ (.*)", line)
            if match:
                name = slug(match[1])
                seen[name] = seen.get(name, 0) + 1
                if seen[name] > 1:
                    seen[f"{name}-{seen[name] - 1}"] = 1
        known[path] = set(seen)
    return known[path]


def missing(page, target):
    """Why a link from `page` leads nowhere; None if it does."""
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return f"{target}: there is no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"{target}: the page has no such heading"
    return None


def value_of(expression, variables):
    """What an expression of a BUILD file is; empty if it needs what the file loads."""
    try:
        return eval(compile(ast.Expression(expression), "BUILD", "eval"), dict(variables))
    except NameError:
        return ()


def names_in(call, variables):
    """The names that a call gives to targets."""
    made = MACROS.get(call.func.id, "{}")
    for value in [keyword.value for keyword in call.keywords if keyword.arg in ("name", "names")] + call.args[:1]:
        names = value_of(value, variables)
        yield from (made.format(name) for name in ([names] if isinstance(names, str) else names))


def targets(package, known={}):
    """The targets that a BUILD file declares by itself, in a comprehension or by a macro."""
    if package not in known:
        path = ROOT / package / "BUILD"
        known[package], constants = set(), {}
        for statement in ast.parse(path.read_text() if path.exists() else "").body:
            if isinstance(statement, ast.Assign):
                constants[statement.targets[0].id] = value_of(statement.value, constants)
            call, rounds = getattr(statement, "value", None), [{}]
            if isinstance(call, ast.ListComp):
                [loop] = call.generators
                several = getattr(loop.target, "elts", None)
                names = [target.id for target in several or [loop.target]]
                rounds = [dict(zip(names, value if several else [value])) for value in value_of(loop.iter, constants)]
                call = call.elt
            if isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and call.func.id not in NO_TARGETS:
                known[package].update(name for variables in rounds for name in names_in(call, variables))
    return known[package]


def spelled_out(pattern):
    """{a,b}_test as a shell spells it out."""
    parts = re.findall(r"{[^}]*}|[^{]+", pattern)
    return map("".join, itertools.product(*(part.strip("{}").split(",") for part in parts)))


def has_target(package, target):
    """Whether a package has a target or a file of this name."""
    return target == "all" or target in targets(package) or (ROOT / package / target).is_file()


def reference_options(known=[]):
    if not known:
        known.append(set(OPTION.findall((ROOT / "docs/reference/commands.md").read_text())))
    return known[0]


def words_of_sources(known=[]):
    """All identifiers in the sources; a page that names another one has not followed a rename."""
    if not known:
        known.append(set())
        for path in files():
            if path.suffix in SOURCES:
                known[0].update(re.findall(r"\w+", path.read_text(errors="replace")))
    return known[0]


def has_cpp_file(name, known={}):
    """Whether a file has this name, or a path that ends with it."""
    if not known:
        for path in itertools.chain(files(), (ROOT / "third_party").rglob("*")):
            known.setdefault(path.name, []).append(f"/{path.relative_to(ROOT)}")
    return name in OTHERS_FILES or any(path.endswith(f"/{name}") for path in known.get(name.rpartition("/")[2], []))


def wide_rows(page, line):
    """Tables that are read from a terminal's output, or by another test."""
    name = str(page.relative_to(ROOT))
    return name.startswith("bench/") or name == "docs/jdks.md" or line.startswith(("| recorder/", "| tools/"))


def labels_in(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for absolute, relative, pattern in LABEL.findall(line):
            for target in spelled_out(pattern):
                if not has_target(absolute or relative, target):
                    yield number, f"//{absolute or relative}:{target}: there is no such target"


def in_page(page):
    yield from labels_in(page)
    text = page.read_text()
    for number, line in prose(text):
        for target in LINK.findall(line):
            reason = None if re.match(r"[a-z]+:", target) else missing(page, target)
            if reason:
                yield number, reason
        for name in FILE_NAME.findall(line):
            if "NAME" not in name and not (ROOT / name).exists():
                yield number, f"`{name}`: there is no such file"
        for name in CPP_FILE.findall(line):
            if "NAME" not in name and not has_cpp_file(name):
                yield number, f"{name}: there is no such file"
        if page.name != "CHANGELOG.md":
            for names in CLASS.findall(line):
                for name in set(names) - {""} - OTHERS_CLASSES - words_of_sources():
                    yield number, f"`{name}`: no source has this name"
        if "guide" in page.parts and NOT_YET not in text:
            for option in set(OPTION.findall(line)) - OTHERS_OPTIONS - reference_options():
                yield number, f"{option}: no command has this option"
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            yield number, "a merge left its conflict"
        if len(line) > WIDTH and not (line.startswith("|") and wide_rows(page, line)):
            yield number, f"{len(line)} characters"


def in_source(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        for name, anchors_after in MENTION.findall(line):
            for anchor in re.findall(r"#[\w-]+", anchors_after) or [""]:
                reason = missing(ROOT / "WORKSPACE", name + anchor)
                if reason:
                    yield number, reason
        comment = COMMENT.search(line) if path.suffix in (".h", ".cc") else None
        for name in CPP_FILE.findall(comment[1]) if comment else ():
            if "NAME" not in name and not has_cpp_file(name):
                yield number, f"{name}: there is no such file"


def main():
    pages = sources = 0
    found = []
    for path in files():
        if path.suffix == ".md" and "golden" not in path.parts:
            pages += 1
            problems = in_page(path)
        elif path.suffix in SOURCES or path.name == "BUILD":
            sources += 1
            problems = in_source(path)
        elif path.parent == ROOT / "bench/results":
            problems = labels_in(path)
        else:
            continue
        found += [f"{path.relative_to(ROOT)}:{number}: {problem}" for number, problem in problems]
    assert pages >= 30 and sources >= 300, f"only {pages} pages and {sources} sources were found"
    print("\n".join(found) or f"{pages} pages and the mentions in {sources} sources lead somewhere")
    return 1 if found else 0


sys.exit(main())
