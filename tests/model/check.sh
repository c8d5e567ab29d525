#!/usr/bin/env bash
# Checks lanes.pml exhaustively, then each of the mistakes that it knows: those it must find.
# Usage: tests/model/check.sh [RECORDS] [MISTAKE...]    samples of a writer, 1 by default; 0 is no mistake; b0, b1, ...: the
# same with definitions that samples bring along
set -euo pipefail
model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lanes.pml
records=${1:-${HEAPREC_MODEL_RECORDS:-1}}
shift $(($# > 0 ? 1 : 0))
mistakes=("$@")
if [ ${#mistakes[@]} -eq 0 ]; then mistakes=(0 1 2 3 4 5 b0 b1 b2 b6 b7); fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/heaprec-model.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

wrong=0
for name in "${mistakes[@]}"; do
  mistake=${name#b}
  brought=$([ "$name" = "$mistake" ] && echo 0 || echo 1)
  spin -a -DRECORDS="$records" -DMISTAKE="$mistake" -DBROUGHT="$brought" "$model" >spin.log
  gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM="${HEAPREC_MODEL_MB:-4000}" -o pan pan.c
  ./pan -m100000 >pan.log
  errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log)
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
  found=$(sed -n 's/^pan:1: *//p' pan.log)
  verdict=ok
  # A search that ran out of memory is not complete, and says so.
  if [ "$mistake" -eq 0 ] && { [ "$errors" != 0 ] || grep -q 'Search not completed' pan.log; }; then verdict=WRONG; fi
  if [ "$mistake" -ne 0 ] && [ "$errors" = 0 ]; then verdict=WRONG; fi
  echo "records $records, mistake $name: $states states, ${found:-no error}: $verdict"
  if [ "$verdict" != ok ]; then wrong=1; fi
done
exit "$wrong"
