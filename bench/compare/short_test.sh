#!/usr/bin/env bash
# Few short runs, compared: that each step works, and that A/A comparisons do not name more than promised by the whole
# interval. Times and power are not asserted: the machine may be busy.
set -euo pipefail
run=$(readlink -f "$1") heaprec=$(readlink -f "$2") library=$(readlink -f "$3")
folder=${TEST_TMPDIR:-$(mktemp -d)}/compare
exec python3 -B "$run" --heaprec "$heaprec" --lib "$library" --programs injected-0,injected-20 --settings heaprec \
  --runs 6 --seconds 2 --comparisons 15 --check "$folder"
