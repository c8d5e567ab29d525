#!/usr/bin/env bash
# docs/reference/ is what the command and the agent's options say, bench/results/README.md what the files beside it hold.
set -euo pipefail
heaprec=$(realpath "$1")
exec python3 "$(dirname "$(readlink -f WORKSPACE)")/docs/generate.py" "$heaprec" --check
