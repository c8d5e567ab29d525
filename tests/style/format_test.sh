#!/usr/bin/env bash
# The C++ sources are as clang-format leaves them; the shell scripts pass shellcheck where it is installed.
# Usage: format_test.sh ROOT [--fix]     --fix: clang-format rewrites the sources, buildifier (if installed) the BUILD files
set -euo pipefail
cd "$1"
mode=(--dry-run --Werror)
if [ "${2:-}" = --fix ]; then mode=(-i); fi
git ls-files -z '*.h' '*.cc' | xargs -0 -P "$(nproc)" -n 100 clang-format "${mode[@]}"
if command -v buildifier >/dev/null && [ "${2:-}" = --fix ]; then
  git ls-files -z '*BUILD' '*.bzl' WORKSPACE | xargs -0 buildifier
fi
if command -v shellcheck >/dev/null; then
  git ls-files -z '*.sh' .ci/run .githooks | xargs -0 shellcheck --external-sources --severity=warning
fi
