#!/usr/bin/env bash
# Checks lanes.pml exhaustively, then each of the mistakes that it knows: those it must find.
# Usage: tests/model/check_lanes.sh [RECORDS] [MISTAKE...]    samples of a writer, 1 by default; 0 is no mistake; b0, b1, ...:
# the same with definitions that samples bring along
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/search.sh"
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
  search "$here/lanes.pml" "records $records, mistake $name" "$mistake" \
    -DRECORDS="$records" -DMISTAKE="$mistake" -DBROUGHT="$brought" || wrong=1
done
exit "$wrong"
