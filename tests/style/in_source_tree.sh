#!/usr/bin/env bash
# Runs a command at the top of the source tree, which the WORKSPACE file among the runfiles leads to.
set -euo pipefail
cd "$(dirname "$(readlink -f WORKSPACE)")"
exec "$@"
