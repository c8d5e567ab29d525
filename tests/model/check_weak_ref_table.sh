#!/usr/bin/env bash
# Checks weak_ref_table.pml exhaustively, then each of the mistakes that it knows: those it must find.
# Usage: tests/model/check_weak_ref_table.sh [SAMPLES PLACES]
# Without: a sample of each thread in one place and in two; each mistake with two samples and one place.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/search.sh"
folder=$(mktemp -d "${TMPDIR:-/tmp}/heaprec-model.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

try() { # SAMPLES PLACES MISTAKE
  search "$here/weak_ref_table.pml" "samples $1, places $2, mistake $3" "$3" -DSAMPLES="$1" -DPLACES="$2" -DMISTAKE="$3"
}

if [ $# -gt 0 ]; then
  try "$1" "$2" 0
  exit
fi
wrong=0
try 1 1 0 || wrong=1
try 1 2 0 || wrong=1
for mistake in 1 2 3 4 5 6 7; do try 2 1 "$mistake" || wrong=1; done
exit "$wrong"
