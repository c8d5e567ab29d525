"""Tests that are a script of Python."""

def python_test(name, script, files = [], words = [], data = [], **kwargs):
    """`script` with the paths of `files` and then `words` as its arguments. `data`: what else it reads."""
    native.sh_test(
        name = name,
        srcs = ["//tests/tools:run_python.sh"],
        args = ["$(locations %s)" % file for file in [script] + files] + words,
        data = [script] + files + data,
        **kwargs
    )
