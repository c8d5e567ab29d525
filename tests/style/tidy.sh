#!/usr/bin/env bash
# clang-tidy over all of the project's sources, or those given. Minutes: by hand, before a change lands.
# Usage: tests/style/tidy.sh [FILE.cc...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
jdk=${JAVA_HOME:-/usr/lib/jvm/default-java}
if [ $# -eq 0 ]; then mapfile -t files < <(git ls-files 'base/*.cc' 'recorder/*.cc' 'throttle/*.cc' 'format/*.cc' 'tools/*.cc'); else files=("$@"); fi
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I{} \
  clang-tidy --quiet {} -- -std=c++20 -I. -DFMT_HEADER_ONLY "-I$jdk/include" "-I$jdk/include/linux"
