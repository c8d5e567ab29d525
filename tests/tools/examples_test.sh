#!/usr/bin/env bash
# The examples of docs/reference/commands.md are what the command prints.
set -euo pipefail
heaprec=$(realpath "$1")
exec python3 "$(dirname "$(readlink -f WORKSPACE)")/docs/examples.py" "$heaprec" --check
