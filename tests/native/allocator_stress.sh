#!/usr/bin/env bash
# Threads that start all at once, on jemalloc, tcmalloc and mimalloc: a JVM and a program in C, with native memory sampled
# and counted, from the start and attached, free and under seccomp filters. Each run must end as without heaprec.
#
# usage: tests/native/allocator_stress.sh [THREADS]     default: 1500
#
# Needs `bazel build //tools:heaprec //recorder:libheaprec.so //recorder:libheaprec-native.so //tests/support:refuse
# //tests/native:many_threads //tests/native:libthread_text.so`, or HEAPREC_BIN: the folder of what they build. The result
# is printed and kept in bench/results/allocators.txt. Exit code: 0 all ended well; 1 some did not.
set -uo pipefail

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${HEAPREC_BIN:-$ROOT/bazel-bin}
THREADS=${1:-1500}
JAVA_HOME=${JAVA_HOME:-/usr/lib/jvm/default-java}
RESULT=$ROOT/bench/results/allocators.txt
PATIENCE=240  # seconds for a run that takes five alone
AGENT=$BIN/recorder/libheaprec.so EXACT=$BIN/recorder/libheaprec-native.so
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
"$JAVA_HOME/bin/javac" -d "$SCRATCH" "$ROOT/tests/native/Many.java" || exit 2
runs=0 failures=0 lines=()

# check NAME OUTPUT EXIT_CODE
check() {
  runs=$((runs + 1))
  if [ "$3" -eq 0 ] && [ "$(tail -1 "$2")" = "done" ]; then return; fi
  failures=$((failures + 1))
  lines+=("$1: exit $3, $(tail -c 200 "$2" | tr '\n' ' ')")
}

# run NAME PRELOADED COMMAND...     Variables of heaprec are in the environment.
run() {
  local name=$1 preloaded=$2 out="$SCRATCH/out"
  shift 2
  # The outer commands must not be recorded.
  timeout -k 5 "$PATIENCE" "${FILTER[@]}" env LD_PRELOAD="$preloaded" "$@" > "$out" 2> "$SCRATCH/err"
  check "$name" "$out" $?
  rm -f "$SCRATCH"/*.hrec "$SCRATCH"/*.hnt "$SCRATCH"/*.bin
}

java_many=("$JAVA_HOME/bin/java" -Xmx512m -Xss256k -cp "$SCRATCH" Many "$THREADS" 3)
c_many=("$BIN/tests/native/many_threads" "$THREADS" "$BIN/tests/native/libthread_text.so")
started=$SECONDS
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
  for filter in none membarrier process_vm_readv close_range sealed-slots; do
    FILTER=()
    [ "$filter" = none ] || FILTER=("$BIN/tests/support/refuse" "$filter")
    of="$allocator, filter $filter"
    run "$of, JVM, sampled" "$allocator" "${java_many[0]}" \
      "-agentpath:$AGENT=native=on,loglevel=error,file=$SCRATCH/r.hrec" "${java_many[@]:1}"
    run "$of, C, sampled" "$AGENT:$allocator" \
      "HEAPREC_NATIVE_SAMPLED=only=many_threads,file=$SCRATCH/c.hrec" "${c_many[@]}"
    [ "$filter" = none ] || [ "$filter" = membarrier ] || continue
    run "$of, JVM, counted" "$EXACT:$allocator" "HEAPREC_NATIVE_EXACT=only=java,file=$SCRATCH/j.hnt" "${java_many[@]}"
    run "$of, C, counted" "$EXACT:$allocator" \
      "HEAPREC_NATIVE_EXACT=only=many_threads,file=$SCRATCH/c.hnt" "${c_many[@]}"
  done
  # Attached while its threads start, and run.
  for round in 1 2 3; do
    env LD_PRELOAD="$allocator" "${java_many[@]:0:${#java_many[@]}-1}" 30 > "$SCRATCH/attached" 2>&1 &
    pid=$!
    sleep "0.$((round * 3))"
    "$BIN/tools/heaprec" attach --lib "$AGENT" --timeout 60 --set native=on -o "$SCRATCH/a.hrec" "$pid" > "$SCRATCH/said" 2>&1
    said=$?
    timeout "$PATIENCE" tail --pid="$pid" -f /dev/null || kill -9 "$pid"
    wait "$pid"
    check "$allocator, JVM, attached in round $round" "$SCRATCH/attached" $?
    echo "done" >> "$SCRATCH/said"
    check "$allocator, attach in round $round: $(head -1 "$SCRATCH/said")" "$SCRATCH/said" "$said"
    rm -f "$SCRATCH/a.hrec"
  done
done

{
  echo "# $(date -u +%F), $(git -C "$ROOT" rev-parse --short=8 HEAD): tests/native/allocator_stress.sh $THREADS," \
    "$(((SECONDS - started + 59) / 60)) minutes"
  for line in "${lines[@]}"; do echo "$line"; done
  echo "jemalloc, tcmalloc, mimalloc: $runs runs with $THREADS threads, $failures failed"
} | tee "$RESULT"
[ "$failures" -eq 0 ]
