#!/usr/bin/env bash
# The products for aarch64, run by qemu-user with Debian's JDKs for arm64: docs/jdks.md#aarch64.
# Usage: tests/e2e/aarch64.sh [--require-all] [--write] [tests] [matrix]
#
# tests          our end-to-end tests; matrix: JDKs, collectors and modes. Both without arguments
# --jobs=N       JVMs of the matrix at the same time
# --require-all  a check that is skipped is a failure
# --write        the table goes into bench/results/jdks.txt, with commit and date, instead of to stdout
# Needs g++-aarch64-linux-gnu, qemu-user and the trees of tests/e2e/fetch_trees.sh aarch64 aarch64-bullseye
# aarch64-trixie aarch64-sid. What is missing is skipped, with the reason; the last line counts. $BAZEL: the command for
# Bazel.
#
# Our own end-to-end tests run as they are: they start what stands for the programs (tests/support/under_qemu.c), with
# the products for aarch64 in the place of the machine's own. Left out are cases that forbid system calls, which qemu
# needs itself, and those that need the program to start within a second.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

require_all=false write=() parts="" jobs=1
for argument in "$@"; do
  case $argument in
    --require-all) require_all=true ;;
    --write) write=(--out bench/results/jdks.txt --mark "table of aarch64" --figure "aarch64") ;;
    --jobs=*) jobs=${argument#*=} ;;
    tests | matrix) parts+=" $argument" ;;
    *) sed -n '3,12s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done
parts=${parts:- tests matrix}
read -ra bazel <<<"${BAZEL:-bazel}"
trees=${HEAPREC_TREES:-$HOME/.cache/heaprec/trees}
work=$(mktemp -d /tmp/heaprec-aarch64.XXXXXX)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# check NAME COMMAND...: one test. What it printed last is shown if it fails.
check() {
  local name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$name" "$(tail -n 60 "$work/out")"
  fi
}

skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] && { [ "$skipped" -eq 0 ] || ! $require_all; }
  exit
}

for program in aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v "$program" >/dev/null || { skip "all of aarch64: $program is not installed (g++-aarch64-linux-gnu, qemu-user)"; finish; }
done
[ -e "$trees/aarch64/.complete" ] || { skip "all of aarch64: no tree at $trees/aarch64; run tests/e2e/fetch_trees.sh aarch64"; finish; }

labels() { sed -E 's#^(.*)/([^/]*)$#//\1:\2#' <<<"${1// /$'\n'}"; }
build() { "${bazel[@]}" build --noshow_progress --ui_event_filters=-info "$@" || exit 1; }

jcmd=${JAVA_HOME:-/usr/lib/jvm/default-java}/bin/jcmd

# What both parts need of the machine's own, and for aarch64.
tests=(tests/e2e/attach/attach_test tests/e2e/streams/census_test tests/e2e/streams/exceptions_test
  tests/e2e/safety/hooks_test tests/e2e/streams/live_test tests/e2e/api/java_test tests/e2e/accuracy/truth_test
  tests/hotspot/stacks_test tests/native/exact_test tests/native/sampled_jvm_test)
own_labels=(//tests/e2e:programs.jar //tools:heaprec) their_labels=(//recorder:libheaprec.so)
if [[ $parts == *tests* ]]; then
  mapfile -t -O "${#own_labels[@]}" own_labels < <(labels "${tests[*]}")
  their_labels+=(//dist //recorder:libheaprec-native.so //tests/hotspot:aarch64_detour_test //tests/hotspot:libsquatter.so
    //tests/hotspot:libstack_agent.so //tests/native:allocations //tests/native:libnative_jni.so //tests/native:libplugin.so
    //java:jar)
fi
build "${own_labels[@]}"
own=$(readlink -f bazel-bin)
build --config=aarch64 "${their_labels[@]}"
theirs=$(readlink -f bazel-aarch64-bin)
gcc -O1 -static -o "$work/under_qemu" tests/support/under_qemu.c || exit 1

# What is started in the place of PROGRAM: stand_in PROGRAM PLACE TREE
stand_in() {
  mkdir -p "$(dirname "$2")"
  cp "$work/under_qemu" "$2"
  ln -sfn "$1" "$2.aarch64"
  ln -sfn "$3" "$2.tree"
}

# One of our tests with the products for aarch64: run_test TEST [CASE]...
run_test() {
  local place=$work/run file
  rm -rf "$place"
  mkdir -p "$place/tmp"
  cp -rL "$own/$1.runfiles/heaprec" "$place/files"
  chmod -R u+w "$place/files"
  while IFS= read -r file; do
    case $file in
      tools/heaprec | *_test) ;;  # they read; the machine's own are ten times as fast
      *.so) if [ -e "$theirs/$file" ]; then cp -f "$theirs/$file" "$place/files/$file"; fi ;;
      tests/native/allocations) rm "$place/files/$file"; stand_in "$theirs/$file" "$place/files/$file" "$trees/aarch64" ;;
    esac
  done < <(cd "$place/files" && find . -type f -printf '%P\n')
  stand_in "$trees/aarch64/usr/lib/jvm/java-17-openjdk-arm64/bin/java" "$place/jdk/bin/java" "$trees/aarch64"
  ln -s "$jcmd" "$place/jdk/bin/jcmd"  # the machine's own: a JVM under qemu answers it
  (cd "$place/files" && JAVA_HOME=$place/jdk TEST_TMPDIR=$place/tmp timeout 1800 "./$1" "${@:2}")
}

under() { qemu-aarch64 -L "$trees/aarch64" "$@"; }

# The newest glibc that a product asks for is 2.17.
loads_with_2_17() {
  aarch64-linux-gnu-objdump -T "$1" >"$work/symbols" &&
    [ "$(grep -oE 'GLIBC_[0-9.]+' "$work/symbols" | sort -Vu | tail -n 1)" = GLIBC_2.17 ]
}

# Each command reads a recording of the other machine as its own: the same report.
same_reports() {
  local one other static
  under "$trees/aarch64/usr/lib/jvm/java-17-openjdk-arm64/bin/java" "-agentpath:$theirs/recorder/libheaprec.so=file=$work/rec.hrec" \
    -cp "$own/tests/e2e/programs.jar" e2e.Churn 20 5376000 &&
    one=$("$own/tools/heaprec" summary "$work/rec.hrec") && other=$(under "$theirs/tools/heaprec" summary "$work/rec.hrec") &&
    static=$(qemu-aarch64 "$theirs/tools/heaprec-static" summary "$work/rec.hrec") &&
    [ -n "$one" ] && [ "$one" = "$other" ] && [ "$one" = "$static" ]
}

run_tests() {
  local product version
  version=$("$own/tools/heaprec" --version | cut -d ' ' -f 2)
  for product in recorder/libheaprec.so recorder/libheaprec-native.so tools/heaprec; do
    check "$product loads with glibc 2.17" loads_with_2_17 "$theirs/$product"
  done
  check "both commands read a recording as the machine's own does" same_reports
  check "detours: entries, refusals, threads that run meanwhile" under "$theirs/tests/hotspot/aarch64_detour_test"
  check "60,000 walked stacks are those of GetStackTrace" run_test tests/hotspot/stacks_test
  check "native memory, exact: every block of a program, by caller" run_test tests/native/exact_test 'Every block*'
  check "native memory, sampled: a JVM with JNI" run_test tests/native/sampled_jvm_test '~The recording says why native memory*'
  check "exceptions" run_test tests/e2e/streams/exceptions_test
  check "totals" run_test tests/e2e/accuracy/truth_test "A recording from the start*,Recordings of a running JVM*"
  check "hooks by vtables, where another agent has taken the functions" run_test tests/e2e/safety/hooks_test "Another agent's*,If another agent uses both*"
  check "census: each object of each class" run_test tests/e2e/streams/census_test 'A census counts each object*,A random census*'
  check "probes: each object of a thread" run_test tests/e2e/api/java_test "A probe*,Without the agent, creating*"
  check "live objects" run_test tests/e2e/streams/live_test
  check "attach, status, dump, stop" run_test tests/e2e/attach/attach_test 'attach, status, dump, stop*'
  sources=(CHANGELOG.md=CHANGELOG.md LICENSE=LICENSE heaprec.h=include/heaprec.h heaprec_sampling.h=include/heaprec_sampling.h
    "heaprec=$theirs/tools/heaprec" "heaprec-static=$theirs/tools/heaprec-static" "heaprec.jar=$theirs/java/heaprec.jar"
    "libheaprec.so=$theirs/recorder/libheaprec.so" "libheaprec-native.so=$theirs/recorder/libheaprec-native.so"
    "arm64-packages=$trees/aarch64/.packages")
  check "release files" python3 dist/package_test.py --archive "$theirs/dist/heaprec-$version-linux-aarch64.tar.gz" --machine aarch64 \
    --in-tree tests/e2e/in_tree.sh --jar "$own/tests/e2e/programs.jar" --third-party third_party --version "$version" "${sources[@]}"
}

run_matrix() {
  local pair version tree commit matrix=()
  for pair in 11:aarch64-bullseye 17:aarch64 21:aarch64-trixie 25:aarch64-trixie 26:aarch64-sid 27:aarch64-sid \
    28:aarch64-sid; do
    version=${pair%%:*} tree=$trees/${pair#*:}
    if [ -e "$tree/.complete" ]; then
      stand_in "$tree/usr/lib/jvm/java-$version-openjdk-arm64/bin/java" "$work/jdk-$version/bin/java" "$tree"
      matrix+=(--jdk "$version=$work/jdk-$version")
    else
      matrix+=(--missing "$version")
      skip "JDK $version: no tree at $tree; run tests/e2e/fetch_trees.sh ${pair#*:}"
    fi
  done
  # It may take an hour or more: what is done is kept for the next run of the same commit.
  commit=$(git describe --always --dirty 2>/dev/null)
  [[ $commit == *-dirty ]] || matrix+=(--journal "$trees/matrix-$commit.jsonl")
  # A sample takes ten times as long as on a core, and on a busy machine the program gets little of it: at the usual rate
  # the samples would take all.
  check "JDKs, collectors, modes" python3 tests/e2e/matrix.py --short --rate 100 --patience 900 --agent "$theirs/recorder/libheaprec.so" \
    --command "$own/tools/heaprec" --classes "$own/tests/e2e/programs.jar" --agent-options ,native=on,live=on,exceptions=on \
    --commit "$commit" --jobs "$jobs" "${matrix[@]}" "${write[@]}"
  [ ${#write[@]} -gt 0 ] || cat "$work/out"
}

for part in $parts; do "run_$part"; done
finish
