#!/usr/bin/env bash
# Every JDK x collector x mode: docs/jdks.md says what is asked of each.
# Usage: tests/e2e/jdks.sh [--short] [--cached] [--suite] [--jobs=N] [--write] [--require-all] [8|11|17|21|25|26|27|28]...
#
# --short   every collector and mode once instead of all pairs: about 20 s a JDK
# --cached  fetches nothing: what is not in the folder of JDKs is skipped, and counted
# --suite   the tests that start JVMs too, on each JDK from 11 on: two minutes each
# --write   the tables go into bench/results/jdks.txt, with commit and date, instead of to stdout
# --require-all  what is skipped is a failure
# The folder of JDKs is $HEAPREC_JDKS or ~/.cache/heaprec/jdks (tests/e2e/fetch_jdks.sh); 17 is $JAVA_HOME or Debian's. $BAZEL: the
# command for Bazel, with startup options.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

read -ra bazel <<<"${BAZEL:-bazel}"
folder=${HEAPREC_JDKS:-$HOME/.cache/heaprec/jdks}
fetch=true suite=false jobs=1
arguments=() versions=()
for argument in "$@"; do
  case $argument in
    --short | --require-all) arguments+=("$argument") ;;
    --cached) fetch=false ;;
    --suite) suite=true ;;
    --jobs=*) jobs=${argument#*=} ;;
    --write) arguments+=(--out bench/results/jdks.txt) ;;
    8 | 11 | 17 | 21 | 25 | 26 | 27 | 28) versions+=("$argument") ;;
    *) sed -n '3,11s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done
[ ${#versions[@]} -gt 0 ] || versions=(8 11 17 21 25 26 27 28)

home_of() {
  if [ "$1" = 17 ]; then echo "${JAVA_HOME:-/usr/lib/jvm/java-17-openjdk-amd64}"; else echo "$folder/$1/home"; fi
}

# The end-to-end tests on one JDK: a row for the second table. suite_row VERSION
suite_row() {
  local log passed failed
  log=$(mktemp)
  "${bazel[@]}" test --keep_going --noshow_progress --test_summary=short --test_env="JAVA_HOME=$(home_of "$1")" --jobs="$jobs" \
    //tests/e2e/... //tests/hotspot:jvm_test //tests/hotspot:stacks_test >"$log" 2>&1
  passed=$(grep -cE '^//[^ ]+ +(\(cached\) )?PASSED' "$log")
  failed=$(sed -nE 's#^(//[^ ]+) +(FAILED|TIMEOUT|NO STATUS).*#\1#p' "$log" | tr '\n' ' ')
  rm -f "$log"
  echo "JDK $1: $passed targets of the suite passed, failed: ${failed:-none}"
}

"${bazel[@]}" build --noshow_progress //recorder:libheaprec.so //tools:heaprec //tests/e2e:programs.jar || exit 1
products=$("${bazel[@]}" info bazel-bin 2>/dev/null)
status=0
for version in "${versions[@]}"; do
  if [ "$version" != 17 ] && $fetch; then tests/e2e/fetch_jdks.sh "$version" || status=1; fi
  if [ -x "$(home_of "$version")/bin/java" ]; then
    arguments+=(--jdk "$version=$(home_of "$version")")
    if $suite && [ "$version" -gt 8 ]; then arguments+=(--suite "$(suite_row "$version")"); fi
  else
    arguments+=(--missing "$version")
  fi
done
commit=$(git describe --always --dirty 2>/dev/null)
python3 tests/e2e/matrix.py --agent "$products/recorder/libheaprec.so" --command "$products/tools/heaprec" --jobs "$jobs" \
  --classes "$products/tests/e2e/programs.jar" --commit "$commit" "${arguments[@]}" || status=1
exit $status
