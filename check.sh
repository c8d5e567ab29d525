#!/usr/bin/env bash
# The checks of tests/style without Bazel: format, shell scripts, rooms, docs, reports. Seconds; nothing is built.
# Usage: ./check.sh [--fix] [--lint]
#        ./check.sh --compile-commands
# --fix: repairs what clang-format and buildifier can. --lint: clang-tidy as well, which takes minutes.
# --compile-commands: writes compile_commands.json, for editors; Bazel analyses the tree for it, but builds nothing.
# What is skipped, because its tool is missing, is named. Exit code: 1 if a check failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

fix=() lint=false
for option in "$@"; do
  case $option in
    --fix) fix=(--fix) ;;
    --lint) lint=true ;;
    --compile-commands) exec python3 tests/style/compile_commands.py ;;
    *) sed -n '3,7s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done

failed=0
# check TOOL COMMAND...: TOOL is what the command cannot do without.
check() {
  local tool=$1
  shift
  if ! command -v "$tool" >/dev/null; then
    echo "skipped, $tool is not installed: $*"
  elif ! "$@"; then
    failed=$((failed + 1))
    echo "failed: $*"
  fi
}

check clang-format tests/style/format_test.sh . "${fix[@]}"
for tool in shellcheck buildifier; do
  command -v "$tool" >/dev/null || echo "skipped, $tool is not installed: its part of tests/style/format_test.sh"
done
for test in tests/style/*_test.py; do check python3 python3 "$test" .; done
if $lint; then check clang-tidy tests/style/tidy.sh; fi
if [ "$failed" -ne 0 ]; then echo "$failed checks failed"; exit 1; fi
