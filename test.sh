#!/usr/bin/env bash
# Installs what is missing, builds everything, runs all tests. The last line says how many targets passed and failed.
# Usage: ./test.sh [BAZEL TEST OPTIONS]     for instance ./test.sh --config=asan
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

./setup.sh || exit 1
log=$(mktemp "${TMPDIR:-/tmp}/heaprec-test.XXXXXX")
trap 'rm -f "$log"' EXIT
bazel test --keep_going --noshow_progress --test_summary=short "$@" //... 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# Bazel's summary has one line a target: "//tests/x:y_test  PASSED in 0.1s", "(cached) PASSED", "FAILED", "NO STATUS", ...
passed=$(grep -cE '^//[^ ]+ +(\(cached\) )?PASSED' "$log")
failed=$(grep -cE '^//[^ ]+ +(\(cached\) )?(FAILED|TIMEOUT|FLAKY|NO STATUS|FAILED TO BUILD|INCOMPLETE)' "$log")
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
exit "$status"
