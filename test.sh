#!/usr/bin/env bash
# Installs what is missing, builds everything, runs all tests. The last line says how many targets passed and failed.
# A test that starts real JVMs, servers or browsers may try twice, because a starved machine can break its deadlines.
# Those that needed the second attempt are named: each is a defect to look into.
# Usage: ./test.sh [BAZEL TEST OPTIONS]     for instance ./test.sh --config=asan
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

./setup.sh || exit 1
log=$(mktemp "${TMPDIR:-/tmp}/heaprec-test.XXXXXX")
trap 'rm -f "$log"' EXIT
# Many tests wait for a JVM or a server: one more than there are cores keeps these busy.
jobs=$(($(nproc) + 1))
bazel test --keep_going --noshow_progress --test_summary=short --jobs="$jobs" --local_test_jobs="$jobs" \
  --flaky_test_attempts='//tests/(agent|crash|e2e|fleet|native|sources|tools).*@2' "$@" //... 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

# Bazel's summary has one line a target: "//tests/x:y_test  PASSED in 0.1s", "(cached) PASSED", "FAILED", "NO STATUS", ...
passed=$(grep -cE '^//[^ ]+ +(\([^)]*cached\) )?(PASSED|FLAKY)' "$log")
failed=$(grep -cE '^//[^ ]+ +(\([^)]*cached\) )?(FAILED|TIMEOUT|NO STATUS|FAILED TO BUILD|INCOMPLETE)' "$log")
sed -nE 's|^(//[^ ]+) +(\([^)]*cached\) )?FLAKY.*|passed at the second attempt: \1|p' "$log"
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
exit "$status"
