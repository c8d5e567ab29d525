#!/usr/bin/env bash
# The examples in README.md and docs/ are what the command prints.
set -euo pipefail
heaprec=$(realpath "$1")
exec python3 "$(dirname "$(readlink -f WORKSPACE)")/docs/examples.py" "$heaprec" --check
