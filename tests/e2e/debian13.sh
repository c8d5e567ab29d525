#!/usr/bin/env bash
# Builds the agent, the command and the tests of throttle/ in an unpacked tree of Debian 13, runs these tests, and
# records a program there: its GCC, its libraries, its JDK. Up to an hour on two cores; needs 3 GB in /tmp.
# Usage: tests/e2e/debian13.sh [--require]
#
# The tree is trixie of tests/e2e/fetch_trees.sh. Where it is not, or cannot be entered, this is skipped with the reason;
# --require makes that a failure. What is built are the files that git knows, as they are in the work tree.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

tree=${HEAPREC_TREES:-$HOME/.cache/heaprec/trees}/trixie
skip() {
  echo "skipped: $1"
  [ "${require:-}" != --require ]
  exit
}
require=${1:-}
[ -e "$tree/.complete" ] || skip "there is no $tree: tests/e2e/fetch_trees.sh trixie"
tests/e2e/in_tree.sh "$tree" /bin/true || skip "$tree cannot be entered"

work=$(mktemp -d /tmp/heaprec-debian13.XXXXXX)  # /tmp is the same folder inside of the tree
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir "$work/source"
git ls-files -z | tar --create --null --files-from=- | tar --extract -C "$work/source" || exit 1

# shellcheck disable=SC2016  # for the shell in the tree
tests/e2e/in_tree.sh "$tree" /usr/bin/env -i "HOME=$work" PATH=/usr/bin:/bin JAVA_HOME=/usr/lib/jvm/default-java LC_ALL=C.UTF-8 /bin/bash -euc '
  work=$1
  cd "$work/source"
  gcc --version | head -n 1
  bazel=(bazel "--output_user_root=$work/bazel")
  trap "\"\${bazel[@]}\" shutdown" EXIT
  options=(--spawn_strategy=local --noshow_progress)  # a tree that was entered by chroot has no sandbox
  "${bazel[@]}" build "${options[@]}" //recorder:libheaprec.so //recorder:libheaprec-native.so //tools:heaprec
  "${bazel[@]}" test "${options[@]}" --test_summary=short //tests/throttle/...
  bin=$("${bazel[@]}" info bazel-bin)
  echo "class Hello { public static void main(String[] a) { System.out.println(a.length); } }" >"$work/Hello.java"
  "$JAVA_HOME/bin/javac" "-J-agentpath:$bin/recorder/libheaprec.so=file=$work/javac.hrec" -d "$work" "$work/Hello.java"
  "$bin/tools/heaprec" summary "$work/javac.hrec" | tee "$work/summary"
  grep -q "trustworthy: yes" "$work/summary"
' bash "$work" && echo "1 passed, 0 failed" || { echo "0 passed, 1 failed"; exit 1; }
