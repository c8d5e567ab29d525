#!/usr/bin/env bash
# Runs other programs' test suites with their native memory counted (libheaprec-native.so) and sampled (libheaprec.so),
# and compares each test's outcome with that without either. Known to differ: docs/testing.md.
#
# usage: tests/native/foreign_suites.sh [--part] [SUITE...]      SUITE: python perl git coreutils; default: all
#
# --part: a part of each suite, minutes instead of hours.
# Needs `bazel build //recorder:libheaprec.so //recorder:libheaprec-native.so`, libpython3.11-testsuite, and for the other
# suites network and dpkg-dev: sources come by `apt-get source` and stay in HEAPREC_FOREIGN_SOURCES
# (~/.cache/heaprec/foreign). The result is printed and kept in bench/results/foreign_suites.txt.
# Exit code: 0 no test differs; 1 some do; 2 a suite could not be prepared.
set -uo pipefail

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
SOURCES=${HEAPREC_FOREIGN_SOURCES:-$HOME/.cache/heaprec/foreign}
RESULT=$ROOT/bench/results/foreign_suites.txt
SECONDS_PER_TEST=300
MODES="exact sampled"
PART=no
[ "${1:-}" = --part ] && { PART=yes; shift; }
SUITES=${*:-python perl git coreutils}
SCRATCH=$(mktemp -d)
mkdir -p "$SOURCES" "$SCRATCH/tables" "$(dirname "$RESULT")"
cp "$ROOT/bazel-bin/recorder/libheaprec.so" "$ROOT/bazel-bin/recorder/libheaprec-native.so" "$SCRATCH" || exit 2

# Every process leaves a table or a recording.
(while sleep 2; do find "$SCRATCH/tables" -type f -mmin +0.05 -delete 2>/dev/null; done) &
CLEANER=$!
# The next agent of this machine would report the rings of programs that a test killed: their folder is gone by then.
remove_rings() {
  local rings
  rings=$(grep -ls "$SCRATCH/" /dev/shm/heaprec-*.ring) && xargs -d '\n' rm -f -- <<< "$rings"
}
trap 'kill $CLEANER; rm -rf "$SCRATCH"; remove_rings' EXIT

fetch() { # fetch PACKAGE FOLDER: its source, of the release that is installed
  [ -e "$SOURCES/$2" ] && return 0
  local apt=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$SOURCES/apt" -o "Dir::State::lists=$SOURCES/lists")
  mkdir -p "$SOURCES/apt" "$SOURCES/lists/partial"
  sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > "$SOURCES/apt/source.sources" || return 1
  (cd "$SOURCES" && apt-get "${apt[@]}" -qq update && apt-get "${apt[@]}" -qq source --download-only \
    "$1/$(. /etc/os-release; echo "$VERSION_CODENAME")" && mkdir "$2.new" && tar xf "$(ls "$1"_*.orig.tar.xz)" -C "$2.new" \
    --strip-components=1 && mv "$2.new" "$2")
}

# Of each suite: prepare it, list its tests, run one in the environment that is there.
prepare_python() { [ -e /usr/lib/python3.11/test/test_dict.py ]; }
list_python() {
  if [ $PART = yes ]; then
    printf '%s\n' test_bytes test_cmd_line test_compile test_ctypes test_deque test_dict test_exceptions test_fileio test_fork1 \
      test_functools test_gc test_json test_list test_mmap test_pickle test_popen test_posix test_pty test_queue test_re \
      test_select test_set test_sqlite3 test_struct test_subprocess test_sys test_tempfile test_thread test_threading \
      test_tracemalloc test_unicode test_wait4 test_weakref test_zlib
  else
    /usr/bin/python3.11 -m test --list-tests 2>/dev/null
  fi
}
run_python() { (cd "$SCRATCH" && exec /usr/bin/python3.11 -m test --timeout=$SECONDS_PER_TEST "$1"); }

# With the system's perl, of the same version, and its library, where the tests look for theirs.
prepare_perl() {
  fetch perl perl || return 1
  local t=$SOURCES/perl/t lib=$SOURCES/perl/lib arch
  [ -e "$t/perl" ] && return 0
  arch=$(perl -MConfig -e 'print "$Config{privlibexp} $Config{archlibexp}"')
  mv "$lib" "$lib.src" && mkdir "$lib" && for from in $arch /usr/lib/*/perl-base; do cp -rL "$from/." "$lib/"; done
  ln -s "$(command -v perl)" "$t/perl"
}
list_perl() {
  local folders="base cmd comp io op opbasic re mro uni lib"
  [ $PART = yes ] && folders="base cmd comp io op"
  (cd "$SOURCES/perl/t" && for folder in $folders; do ls "$folder"/*.t; done)
}
run_perl() { (cd "$SOURCES/perl/t" && exec ./perl "$1"); }

prepare_git() {
  fetch git git && { [ -e "$SOURCES/git/t/helper/test-tool" ] || make -s -C "$SOURCES/git" -j2 NO_CURL=1 NO_TCLTK=1 NO_GETTEXT=1 all \
    > "$SCRATCH/git.log" 2>&1; }
}
list_git() { (cd "$SOURCES/git/t" && if [ $PART = yes ]; then ls t0[0-2]*.sh t1[0-4]*.sh; else ls t[0-9]*.sh; fi); }
run_git() { (cd "$SOURCES/git/t" && exec sh "./$1"); }

prepare_coreutils() {
  fetch coreutils coreutils && { [ -e "$SOURCES/coreutils/src/ls" ] || (cd "$SOURCES/coreutils" && FORCE_UNSAFE_CONFIGURE=1 ./configure -q \
    && make -s -j2) > "$SCRATCH/coreutils.log" 2>&1; }
}
list_coreutils() {
  (cd "$SOURCES/coreutils" && if [ $PART = yes ]; then ls tests/{ls,misc,cp}/*.sh; else ls tests/*/*.sh tests/*/*.pl tests/*/*.xpl; fi)
}
run_coreutils() { (cd "$SOURCES/coreutils" && rm -f "${1%.*}.log" "${1%.*}.trs" && exec make -s check TESTS="$1" SUBDIRS=.); }

environment() { # environment MODE
  case $1 in
    exact) echo "LD_PRELOAD=$SCRATCH/libheaprec-native.so HEAPREC_NATIVE_EXACT=file=$SCRATCH/tables/n-%p.bin" ;;
    sampled) echo "LD_PRELOAD=$SCRATCH/libheaprec.so HEAPREC_NATIVE_SAMPLED=file=$SCRATCH/tables/s-%p.bin" ;;
  esac
}

# outcome SUITE TEST MODE: its exit code, and the tests of a TAP stream that failed
outcome() {
  export -f "run_$1"
  export SOURCES SCRATCH SECONDS_PER_TEST
  # shellcheck disable=SC2046
  env $(environment "$3") timeout -k 5 $((SECONDS_PER_TEST + 60)) bash -c "run_$1 '$2'" > "$SCRATCH/out" 2>&1 < /dev/null
  echo "exit $? $(grep -a '^not ok' "$SCRATCH/out" | grep -av '# TODO' | awk '{print $3}' | tr '\n' ' ')"
}

# keep SUITE: stdin, the suite's section, replaces the one of an earlier run; the other suites' stay.
keep() {
  cat > "$SCRATCH/section-$1"
  (
    flock 9
    awk -v suite="$1" '/^# / { mine = $2 == suite } !mine' "$RESULT" 2>/dev/null > "$SCRATCH/others-$1"
    cat "$SCRATCH/others-$1" "$SCRATCH/section-$1" > "$RESULT"
  ) 9>> "$SOURCES/lock"
}

differing=0 unprepared=0
for suite in $SUITES; do
  section=$(
    echo "# $suite $([ $PART = yes ] && echo 'in part' || echo 'in full'): $(date -u +%F), $(git -C "$ROOT" rev-parse --short HEAD), $(uname -r)"
    if ! "prepare_$suite"; then
      echo "could not be prepared"
      exit 2
    fi
    declare -A ran=([exact]=0 [sampled]=0) differ=([exact]=0 [sampled]=0)
    failed=0 different=0
    for test in $("list_$suite"); do
      without=$(outcome "$suite" "$test" without)
      [ "$without" = "exit 0 " ] || failed=$((failed + 1))
      for mode in $MODES; do
        ran[$mode]=$((ran[$mode] + 1))
        for again in 1 2 3; do # a test that fails by chance does so with and without
          with=$(outcome "$suite" "$test" "$mode")
          [ "$with" = "$without" ] && continue 2
          [ "$again" = 3 ] || without=$(outcome "$suite" "$test" without)
        done
        differ[$mode]=$((differ[$mode] + 1)) different=1
        echo "$test $mode: $with; without: $without; $(tail -n 1 "$SCRATCH/out" | cut -c1-200)"
      done
    done
    for mode in $MODES; do echo "$mode: ${ran[$mode]} tests, ${differ[$mode]} differ; without: $failed fail"; done
    exit $different
  )
  case $? in
    1) differing=1 ;;
    2) unprepared=1 ;;
  esac
  echo "$section"
  echo "$section" | keep "$suite"
done
[ $unprepared = 0 ] || exit 2
exit $differing
