#!/usr/bin/env bash
# Runs a Python program given with its arguments. Its output folder, if any, is the test's own.
set -euo pipefail
program=$(readlink -f "$1")
shift
cd "${TEST_TMPDIR:-.}"
exec python3 -B "$program" "$@"
