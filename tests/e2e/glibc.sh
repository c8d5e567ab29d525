#!/usr/bin/env bash
# The products in trees of other Debian releases, with their glibc and JDKs: bullseye has glibc 2.31, sid the newest.
# Usage: tests/e2e/glibc.sh [--require-all] AGENT NATIVE HEAPREC STATIC PROGRAMS_JAR [bullseye|sid]...
#
# The five files: libheaprec.so, libheaprec-native.so, heaprec, heaprec-static, programs.jar (bazel-bin/...).
# Trees are in $HEAPREC_TREES or ~/.cache/heaprec/trees (tests/e2e/fetch_trees.sh). A tree that is not there, or cannot
# be entered, is skipped with the reason; --require-all makes that a failure.
# Checked in each tree and JDK: everything that matrix.py asks of a recording (source, stacks, weights, counters), attach,
# native memory by preload library and by sampling, and both commands. The last line counts.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
require_all=false
if [ "${1:-}" = --require-all ]; then require_all=true; shift; fi
[ $# -ge 5 ] || { sed -n '3,9s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
folder=${HEAPREC_TREES:-$(eval echo ~"$(id -un)")/.cache/heaprec/trees}
work=$(mktemp -d /tmp/heaprec-glibc.XXXXXX)  # /tmp is the same folder inside of a tree
trap 'rm -rf "$work"' EXIT
for file in "${@:1:5}"; do cp -L "$file" "$work/"; done
shift 5
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bullseye sid)
passed=0 failed=0 skipped=0

# check NAME COMMAND...: one test. What it printed is shown if it fails.
check() {
  local name=$1 out
  shift
  if out=$("$@" 2>&1); then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$name" "$out"
  fi
}

skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

# in_tree COMMAND...: in the tree of `release`.
in_tree() { "$here/in_tree.sh" "$folder/$release" "$@"; }

# Two commands of different linking say the same of one recording.
same_summary() {
  local dynamic static
  dynamic=$(in_tree "$work/heaprec" summary --json "$1") && static=$(in_tree "$work/heaprec-static" summary --json "$1") &&
    [ -n "$dynamic" ] && [ "$dynamic" = "$static" ]
}

# A JVM that runs already is recorded for two seconds, by the command, both inside of the tree.
attach() {
  # shellcheck disable=SC2016  # for the shell in the tree
  in_tree /bin/sh -c '
    java=$1 work=$2
    "$java" -cp "$work/programs.jar" e2e.Load 2 600000 1000 >"$work/out" 2>&1 &
    while ! grep -qs running "$work/out" && kill -0 $!; do sleep 0.1; done
    "$work/heaprec" attach $! --duration 2s -o "$work/attached-%t.hrec"
    status=$?
    while "$work/heaprec" status $! | grep -q "heaprec: *recording"; do sleep 0.1; done
    kill $!
    exit $status' sh "$1/bin/java" "$work" && same_summary "$work"/attached-*.hrec && rm "$work"/attached-*.hrec
}

# Every block of a program is counted, with stacks that go through libraries.
counted() {
  rm -f "$work"/native-*.bin
  in_tree /usr/bin/env HEAPREC_NATIVE_EXACT="file=$work/native-%p.bin,depth=4" LD_PRELOAD="$work/libheaprec-native.so" "$@" >/dev/null &&
    in_tree "$work/heaprec" native "$work"/native-*.bin
}

for release in "${releases[@]}"; do
  if [ ! -d "$folder/$release" ]; then
    skip "$release: no tree at $folder/$release; run tests/e2e/fetch_trees.sh $release"
    continue
  fi
  if ! reason=$(in_tree /bin/true 2>&1); then
    skip "$release: the tree cannot be entered: $reason"
    continue
  fi
  printf '#!/bin/sh\nexec %q %q %q "$@"\n' "$here/in_tree.sh" "$folder/$release" "$work/heaprec" >"$work/command"
  chmod +x "$work/command"
  check "$release: heaprec starts" in_tree "$work/heaprec" --version
  check "$release: heaprec-static starts" in_tree "$work/heaprec-static" --version
  check "$release: a program's blocks are counted" counted /usr/bin/sort /etc/passwd
  for home in "$folder/$release"/usr/lib/jvm/java-*-openjdk-amd64; do
    if [ -L "$home" ] || [ ! -x "$home/bin/java" ]; then continue; fi
    version=${home##*/java-} version=${version%%-*} home=${home#"$folder/$release"}
    check "$release, JDK $version: as matrix.py asks" python3 "$here/matrix.py" --short --only Serial --jdk "$version=$home" \
      --under "$here/in_tree.sh $folder/$release" --agent "$work/libheaprec.so" --command "$work/command" \
      --classes "$work/programs.jar" --agent-options ,native=on,live=on,exceptions=on
    check "$release, JDK $version: attach" attach "$home"
    check "$release, JDK $version: a JVM's blocks are counted" counted "$home/bin/java" -version
  done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && { [ "$skipped" -eq 0 ] || ! $require_all; }
