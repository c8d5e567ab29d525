#!/usr/bin/env bash
# A thread that runs is told from one that waits, and the whole story is in the file that the line names.
set -eu
python3 -c 'while True: pass' &
running=$!
sleep 600 &
waiting=$!
trap 'kill $running $waiting' EXIT

line=$(tests/support/hang_report.py $running "$TEST_TMPDIR")
echo "$line"
grep -qE '^python3 runs, [0-9]+ %, in ' <<<"$line"
path=$(sed -E 's/.*\((.*)\)$/\1/' <<<"$line")
grep -q "^$running python3: R, " "$path"

line=$(tests/support/hang_report.py $waiting "$TEST_TMPDIR")
echo "$line"
grep -q '^none of 1 threads runs ' <<<"$line"
