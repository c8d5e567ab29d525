#!/usr/bin/env bash
# Runs the fuzz targets of this folder under libFuzzer with ASan and UBSan.
# Usage: tests/fuzz/run.sh SECONDS [TARGET...]     all targets without names; JOBS of them at a time (2)
#
# SECONDS is CPU time of each target: on a busy machine it takes longer by the clock. An input that takes longer than
# FUZZ_TIMEOUT (20 s by the clock) is a finding.
# A crash is left in this folder as crash-TARGET-*: fix it, and keep the file in corpus/TARGET under the name of its case.
# Each target's corpus grows in $FUZZ_WORK/corpus-TARGET (default: below $TMPDIR or /tmp). After each run it is minimised, and
# the 40 inputs of at most 4,000 bytes that reach furthest are kept in corpus/TARGET. bench/results/fuzz.json adds up the
# CPU time, executions and findings of all runs: a later run continues from the corpus of the earlier ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:?CPU seconds for each target}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in tests/fuzz/*_fuzzer.cc; do targets+=("$(basename "$file" _fuzzer.cc)"); done
fi
export work=${FUZZ_WORK:-${TMPDIR:-/tmp}/heaprec-fuzz} seconds
clang=${CLANG:-clang++-14}
# shellcheck disable=SC2054  # the commas are the options' own
flags=(-std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -I.
  -DFMT_HEADER_ONLY)
# The sources of the targets on this machine. (`query` would also need other machines' libraries.)
sources=$(bazel cquery --ui_event_filters=-info --noshow_progress 'kind("source file", deps(//tests/fuzz:all))' |
  sed -nE 's#^//(.*):(.*\.cc) \(null\)$#\1/\2#p' | grep -v '^tests/fuzz/' | sort -u)
libraries=(-lzstd -lxxhash -lre2)
mkdir -p "$work"

# One archive of all that the targets use, instrumented; libFuzzer's main comes with the target. Objects compiled with
# older headers would disagree about the layout of shared types.
newest_header=$(find base format throttle tools recorder tests -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
# in_background COMMAND...: JOBS of them at a time; `finish` waits for all, and ends the script if one failed.
rm -f "$work/failed"
finish() {
  wait
  [ ! -e "$work/failed" ] || exit 1
}
in_background() {
  [ "$(jobs -rp | wc -l)" -lt "${JOBS:-2}" ] || wait -n
  { "$@" || touch "$work/failed"; } &
}
objects=()
for source in $sources; do
  object="$work/${source//\//_}.o"
  objects+=("$object")
  [ "$object" -nt "$source" ] && [ "$object" -nt "$newest_header" ] ||
    in_background "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link -c "$source" -o "$object"
done
finish
if [ ! -e "$work/all.a" ] || [ -n "$(find "${objects[@]}" -newer "$work/all.a")" ]; then
  rm -f "$work/all.a"
  ar rcs "$work/all.a" "${objects[@]}"
fi

fuzz() {
  local target=$1 corpus=$work/corpus-$1 log=$work/$1.log kept=tests/fuzz/corpus/$1 status=0 edges executions
  mkdir -p "$corpus" "$kept"
  "$work/$target-driver" --seeds "$corpus"
  # libFuzzer counts time by the clock; the shell's limit counts CPU, and ends it with a last line of statistics missing.
  local started=$SECONDS used=0
  : >"$log"
  while [ "$used" -lt "$seconds" ] && [ $((SECONDS - started)) -lt $((seconds * 20)) ]; do
    local left=$((seconds - used))
    local before after
    before=$(cpu_seconds)
    "$work/$target" -max_total_time="$((left < 600 ? left : 600))" -timeout="${FUZZ_TIMEOUT:-20}" -rss_limit_mb=2048 -max_len=20000 \
      -print_final_stats=1 -artifact_prefix=tests/fuzz/crash-"$target"- "$corpus" "$kept" >>"$log" 2>&1 || status=$?
    [ "$status" -ne 72 ] || { echo "$target: interrupted, not recorded"; return 1; }
    [ "$status" -eq 0 ] || break
    after=$(cpu_seconds)
    used=$((used + after - before > used ? used + after - before : used + 1))
  done
  edges=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2)
  executions=$(awk '/number_of_executed_units/ { sum += $2 } END { print sum + 0 }' "$log")
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$log" >&2
  else
    rm -rf "$work/merged-$target"
    mkdir "$work/merged-$target"
    "$work/$target" -merge=1 -max_len=4000 "$work/merged-$target" "$kept" "$corpus" >>"$log" 2>&1
    keep_best "$work/merged-$target" "$kept"
  fi
  echo "$target: $used s of CPU, $executions executions, $edges edges, $([ "$status" -eq 0 ] && echo 'no finding' || echo FINDING)"
  bench/record.py fuzz "fuzz.$target" goal=3600 value+="$used" unit='s of CPU' executions+="$executions" \
    edges="${edges:-0}" findings+="$((status != 0))" figure="Fuzzing: $target" area=Fuzzing \
    reason="runs add up: not yet an hour" command="tests/fuzz/run.sh 3600 $target"
  return "$status"
}

# CPU time of the ended children of the shell that runs fuzz, whole seconds. $$ is that shell, in a subshell too.
cpu_seconds() {
  awk '{ print int(($16 + $17) / 100) }' "/proc/$$/stat"
}

# A merge names its files by content and lists the further-reaching first by size; named cases stay.
keep_best() {
  local from=$1 into=$2 count
  count=$(find "$into" -type f | wc -l)
  while IFS= read -r file && [ "$count" -lt 40 ]; do
    local name
    name=$(basename "$file" | cut -c1-10)
    [ -e "$into/$name" ] || { cp "$file" "$into/$name"; count=$((count + 1)); }
  done < <(find "$from" -type f -size -4 -printf '%s %p\n' | sort -rn | cut -d' ' -f2-)
}

export -f fuzz keep_best cpu_seconds
for target in "${targets[@]}"; do
  program=$work/$target source=tests/fuzz/${target}_fuzzer.cc driver=tests/fuzz/mutation_driver.cc \
    entry=tests/fuzz/libfuzzer_entry.cc
  [ "$program" -nt "$work/all.a" ] && [ "$program" -nt "$source" ] ||
    in_background "$clang" "${flags[@]}" -fsanitize=fuzzer "$source" "$entry" "$work/all.a" "${libraries[@]}" -o "$program"
  [ "$program-driver" -nt "$work/all.a" ] && [ "$program-driver" -nt "$source" ] && [ "$program-driver" -nt "$driver" ] ||
    in_background "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link "$source" "$driver" "$work/all.a" "${libraries[@]}" \
      -o "$program-driver"
done
finish
printf '%s\n' "${targets[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'set -u; fuzz {}'
