#!/usr/bin/env bash
# The C++ sources are as clang-format leaves them; the shell scripts pass shellcheck where it is installed.
set -euo pipefail
cd "$1"
git ls-files '*.h' '*.cc' | xargs clang-format --dry-run --Werror
