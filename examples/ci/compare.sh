#!/bin/sh
# Compares what two commands allocate, for a pull request: records them in turns, and checks the second against the first.
# Usage: compare.sh OUT -- COMMAND_BEFORE... -- COMMAND_AFTER...     OUT: a new folder. The commands start java.
# Writes into OUT: the recordings, summary.md, heaprec.sarif, heaprec.xml (JUnit) and report.html. Prints annotations for
# GitHub Actions. Exit code: that of `heaprec check`, 1 if more is allocated.
# $HEAPREC: how to run heaprec (default: heaprec), such as "java -jar heaprec.jar"; $RUNS: of each command (3);
# $MAX_REGRESSION: 5%; $PER: what is compared (total: both do the same work)
set -eu
[ $# -ge 4 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
heaprec=${HEAPREC:-heaprec} out=$1
shift

# shellcheck disable=SC2086 # $heaprec is several words
run() { $heaprec "$@"; }
run bench -n "${RUNS:-3}" --all-runs -o "$out" "$@" >&2

set -- --per "${PER:-total}" --max-regression "${MAX_REGRESSION:-5%}"
for recording in "$out"/a-*.hrec; do set -- "$@" --baseline "$recording"; done
set -- "$@" "$out"/b-*.hrec
# Each of these exits with 1 if more is allocated; the last one decides.
run check --format markdown "$@" >"$out/summary.md" || [ $? -eq 1 ]
run check --format sarif "$@" >"$out/heaprec.sarif" || [ $? -eq 1 ]
run check --format junit "$@" >"$out/heaprec.xml" || [ $? -eq 1 ]
run report -q -o "$out/report.html" "$out/a-1.hrec" "$out/b-1.hrec"
run check --format github "$@"
