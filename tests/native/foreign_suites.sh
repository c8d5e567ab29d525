#!/usr/bin/env bash
# Runs other programs' test suites with their native memory counted (libheaprec-native.so) and sampled (libheaprec.so),
# and compares each test's outcome with that without either, unless all of it passed in both. Known to differ:
# docs/testing.md.
#
# usage: tests/native/foreign_suites.sh [--seconds N] [SUITE...]   SUITE: coreutils git python perl; default: all
#        tests/native/foreign_suites.sh --test SUITE TEST          one test; nothing is kept
#
# --seconds N: of each suite as many tests as begin within that time, in a random order that is the same in each run. The
# next run continues with the remaining tests if both libraries are unchanged; result and exit code are those of all
# these runs. After a complete run the next one starts again.
# Needs `bazel build //recorder:libheaprec.so //recorder:libheaprec-native.so`, libpython3.11-testsuite, and for the other
# suites network and dpkg-dev: sources come by `apt-get source` and stay in HEAPREC_FOREIGN_SOURCES
# (~/.cache/heaprec/foreign). HEAPREC_FOREIGN_JOBS tests run at a time (one per core). The result is printed and kept in
# bench/results/foreign_suites.txt; what a test that differs printed is in differences/ beside the sources.
# Exit code: 0 no test differs; 1 some do; 2 a suite could not be prepared.
set -uo pipefail

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
SOURCES=${HEAPREC_FOREIGN_SOURCES:-$HOME/.cache/heaprec/foreign}
JOBS=${HEAPREC_FOREIGN_JOBS:-$(nproc)}
RESULT=$ROOT/bench/results/foreign_suites.txt
SECONDS_PER_TEST=900
MODES="exact sampled"
LIMIT=
ONLY=
case ${1:-} in
  --seconds) LIMIT=$2 && shift 2 ;;
  --test) ONLY=$3 && set -- "$2" ;;
esac
SUITES=${*:-coreutils git python perl}
SCRATCH=$(mktemp -d)
mkdir -p "$SOURCES/differences" "$SCRATCH/tables" "$(dirname "$RESULT")"
cp "$ROOT/bazel-bin/recorder/libheaprec.so" "$ROOT/bazel-bin/recorder/libheaprec-native.so" "$SCRATCH" || exit 2
# Some tests run programs as another user.
chmod 755 "$SCRATCH" && chmod 1777 "$SCRATCH/tables" || exit 2

# Every program leaves a table (n-PID) or a recording (s-PID). They are counted, and removed when nobody writes them.
count_and_remove() { find "$SCRATCH/tables" -type f "$@" -printf '%f\n' -delete >> "$SCRATCH/processes" 2>/dev/null; }
(while sleep 5; do count_and_remove -mmin +1; done) &
CLEANER=$!
disown # not one of the tests that are waited for
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

# Of each suite: prepare it, list its tests, run one in the environment that is there and with a folder of its own, JOB,
# and say what its output tells beside the exit code.
prepare_coreutils() {
  fetch coreutils coreutils && (
    cd "$SOURCES/coreutils" || exit 1
    [ -e src/ls ] || { FORCE_UNSAFE_CONFIGURE=1 ./configure -q && make -s "-j$JOBS" SUBDIRS=.; } || exit 1
    [ -e heaprec.tests ] && exit 0
    # The environment of its tests, as `make check` has it: a `make check` for each test takes longer than the test.
    # shellcheck disable=SC2016
    printf 'export -p > "$abs_top_builddir/heaprec.environment"\n' > tests/heaprec.sh
    # shellcheck disable=SC2016
    printf 'include Makefile\nheaprec: $(TESTS)\n\t@printf "%%s\\n" $(TESTS) > heaprec.tests\n' > heaprec.mk
    make -s check TESTS=tests/heaprec.sh SUBDIRS=. && make -s -f heaprec.mk heaprec
  ) > "$SCRATCH/coreutils.log" 2>&1
}
list_coreutils() { cat "$SOURCES/coreutils/heaprec.tests"; }
run_coreutils() {
  cd "$SOURCES/coreutils" && . ./heaprec.environment
  export CU_TEST_NAME="coreutils,${1//\//-}"
  local perl=(-w -Itests -MCuSkip -MCoreutils "-MCuTmpdir qw($1)")
  case $1 in
    *.sh) exec bash "$1" 9>&2 ;;
    *.pl) exec perl "${perl[@]}" "$1" 9>&2 ;;
    *.xpl) exec perl -T "${perl[@]}" "$1" 9>&2 ;;
  esac
}
details_coreutils() { :; }

prepare_git() {
  fetch git git && { [ -e "$SOURCES/git/t/helper/test-tool" ] || make -s -C "$SOURCES/git" "-j$JOBS" NO_CURL=1 NO_TCLTK=1 \
    NO_GETTEXT=1 all > "$SCRATCH/git.log" 2>&1; }
}
list_git() { (cd "$SOURCES/git/t" && ls t[0-9]*.sh); }
run_git() { cd "$SOURCES/git/t" && exec sh "./$1" "--root=$JOB"; }
details_git() { tap; }

prepare_python() { [ -e /usr/lib/python3.11/test/test_dict.py ]; }
list_python() { /usr/bin/python3.11 -m test --list-tests 2>/dev/null | grep -vxF "$(awk '{ print $1 }' <<< "$LEFT_OUT_python")"; }
LEFT_OUT_python="test_peg_generator compiles C parsers, for minutes; nothing of python's memory is in it"
run_python() { cd "$JOB" && exec /usr/bin/python3.11 -m test -v "--timeout=$SECONDS_PER_TEST" "$1"; }
details_python() {
  sed -nE 's/^(Ran [0-9]+ tests?) in .*/\1/p; s/^((OK|FAILED)( \(.*\))?)$/\1/p; s/^((FAIL|ERROR): [^ ]+) \(.*/\1/p' | tr '\n' ' '
}

# With the system's perl, of the same version, and its library, where the tests look for theirs.
prepare_perl() {
  fetch perl perl || return 1
  local t=$SOURCES/perl/t lib=$SOURCES/perl/lib arch
  [ -e "$t/perl" ] && return 0
  arch=$(perl -MConfig -e 'print "$Config{privlibexp} $Config{archlibexp}"')
  mv "$lib" "$lib.src" && mkdir "$lib" && for from in $arch /usr/lib/*/perl-base; do cp -rL "$from/." "$lib/"; done
  ln -s "$(command -v perl)" "$t/perl"
}
list_perl() { (cd "$SOURCES/perl/t" && ls {base,cmd,comp,io,op,opbasic,re,mro,uni,lib}/*.t); }
run_perl() { cd "$SOURCES/perl/t" && exec ./perl "$1"; }
details_perl() { tap; }

# How many of the tests passed and were skipped, and which failed; TAP marks those that may fail.
tap() {
  awk '/^ok / { ok++; if (toupper($0) ~ /# SKIP/) skipped++ } /^not ok/ && !/# [T]ODO/ { failed = failed " " $3 }
       END { printf "%d ok, %d skipped%s", ok, skipped, failed == "" ? "" : ", not ok:" failed }'
}

environment() { # environment MODE
  case $1 in
    exact) echo "LD_PRELOAD=$SCRATCH/libheaprec-native.so HEAPREC_NATIVE_EXACT=file=$SCRATCH/tables/n-%p.bin" ;;
    sampled) echo "LD_PRELOAD=$SCRATCH/libheaprec.so HEAPREC_NATIVE_SAMPLED=file=$SCRATCH/tables/s-%p.bin" ;;
  esac
}

outcome() { # outcome SUITE TEST MODE: exit code and details; the output is $JOB/output.MODE
  mkdir -p "$JOB/scratch"
  # shellcheck disable=SC2046
  (cd "$JOB/scratch" && JOB=$JOB/scratch exec env $(environment "$3") timeout -k 5 "$SECONDS_PER_TEST" bash -c "run_$1 '$2'") \
    > "$JOB/output.$3" 2>&1 < /dev/null
  echo "exit $? $("details_$1" < "$JOB/output.$3")"
  rm -rf "$JOB/scratch"
}

# All of a test passed and nothing was skipped, as outcome says it. If that is so in both modes, and of as many parts, it
# could not have done better without heaprec.
CLEAN='^exit 0 ((Ran [0-9]+ tests? OK )*|[0-9]+ ok, 0 skipped)$'

# A line for each mode in which the test differs: `differs` always, `wavers` in some attempts.
compare() { # compare SUITE TEST
  local JOB without='' clean='' with mode again first kept
  JOB=$(mktemp -d "$SCRATCH/job.XXXXXX")
  export -f "run_$1"
  export SOURCES SECONDS_PER_TEST
  for mode in $MODES; do
    first=
    for again in 1 2 3; do # a test that fails by chance does so with and without
      with=$(outcome "$1" "$2" "$mode")
      [[ -z $without && $with =~ $CLEAN && $with = "${clean:=$with}" ]] && break
      if [ -z "$without" ]; then
        without=$(outcome "$1" "$2" without)
        [[ $without == "exit 0"* ]] || echo "$2 fails without"
      fi
      [ "$with" = "$without" ] && break
      first=${first:-$with; without: $without}
      kept=$SOURCES/differences/$1-${2//\//-}
      cp "$JOB/output.$mode" "$kept.$mode.$again" && cp "$JOB/output.without" "$kept.without.$again"
      [ $again = 3 ] || without=$(outcome "$1" "$2" without)
    done
    [ -z "$first" ] || echo "$2 $mode $([ "$with" = "$without" ] && echo wavers || echo differs): $first"
  done
  rm -rf "$JOB"
}

run_suite() { # run_suite SUITE: the lines of all its tests that are left, and `TEST ran SECONDS` for each
  local test begin=$SECONDS
  while read -r test; do
    [ -z "$LIMIT" ] || [ $((SECONDS - begin)) -lt "$LIMIT" ] || break
    while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
    (
      began=$SECONDS
      compare "$1" "$test" > "$SCRATCH/lines.$BASHPID" < /dev/null
      echo "$test ran $((SECONDS - began))" >> "$SCRATCH/lines.$BASHPID"
      cat "$SCRATCH/lines.$BASHPID" && rm "$SCRATCH/lines.$BASHPID"
    ) &
  done < <("list_$1" | shuf --random-source=<(yes) | grep -vxFf <(sed -n 's/ ran [0-9]*$//p' "$RUNS"))
  wait
}

crashes() { # crashes SECONDS: in our libraries in that time, as the kernel reports them
  dmesg --since "$1 seconds ago" > "$SCRATCH/dmesg" 2>/dev/null || { echo unknown; return; }
  grep -c 'segfault.* in libheaprec' "$SCRATCH/dmesg"
}

# begin SUITE: where the lines of its runs are, of these libraries. What has run in full begins again.
begin() {
  local version
  version=$(cat "$SCRATCH"/libheaprec*.so | sha256sum | cut -c1-12)
  RUNS=$SOURCES/$1.$version.lines
  touch "$RUNS"
  [ "$(ran)" -lt "$("list_$1" | wc -l)" ] || : > "$RUNS"
}
ran() { grep -c ' ran [0-9]*$' "$RUNS"; }
# sum FIELD: over the suite's runs; a run's line is `run: EXACT SAMPLED CRASHES SECONDS`.
sum() {
  awk -v field="$1" '$1 == "run:" { if ($field == "unknown") unknown = 1; sum += $field } END { print unknown ? "unknown" : sum + 0 }' "$RUNS"
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

result() { # result SUITE: its section, of the lines of its tests
  local all mode
  all=$("list_$1" | wc -l)
  echo "# $1 $([ "$(ran)" = "$all" ] && echo 'in full' || echo "in part, $(ran) of $all tests"): $(date -u +%F)," \
    "$(git -C "$ROOT" rev-parse --short HEAD), $(uname -r | cut -d- -f1), $(($(sum 5) / 60)) minutes"
  local left_out=LEFT_OUT_$1
  [ -z "${!left_out:-}" ] || sed 's/^/left out: /' <<< "${!left_out}"
  grep -E ' (differs|wavers): ' "$RUNS" | sort
  for mode in $MODES; do
    echo "$mode: $(ran) tests, $(grep -c " $mode differs: " "$RUNS") differ, $(grep -c " $mode wavers: " "$RUNS")" \
      "waver; of those run without heaprec $(grep -c ' fails without$' "$RUNS") fail"
  done
  echo "programs: $(sum 2) exact, $(sum 3) sampled; crashes in heaprec: $(sum 4)"
}

# Why tests differ, as far as that is known; the record's reason.
declare -A WHY=(
  [tests/misc/cut-huge-range.sh]="its ulimit -v leaves no room for heaprec's tables"
  [tests/misc/printf-surprise.sh]="its ulimit -v leaves no room for heaprec's tables"
  [tests/misc/sort-continue.sh]="its limit of descriptors leaves none for heaprec's table"
  [tests/misc/sort-merge-fdlimit.sh]="its limit of descriptors leaves none for heaprec's table"
  [tests/mv/sticky-to-xpart.sh]="compares stderr, where a program of another user reports that it cannot replace the first one's table"
  [tests/rm/fail-2eperm.sh]="compares stderr, where a program of another user reports that it cannot replace the first one's table"
  [test_subprocess]="test_pass_fds_redirected: a child lists its descriptors, and heaprec's (900 or above) is among them"
)
reasons() { # of the tests that differ: each with its modes
  local test modes
  while read -r test; do
    modes=$(grep -F "$test " "$RUNS" | sed -nE 's/.* (exact|sampled) differs: .*/\1/p' | sort -u | paste -sd+)
    echo "${test##*/} ($modes): ${WHY[$test]:-not explained yet}"
  done < <(grep ' differs: ' "$RUNS" | cut -d' ' -f1 | sort -u)
}

# The same for bench/results/README.md.
record() { # record SUITE
  local all differ reached=false reason=
  all=$("list_$1" | wc -l) differ=$(grep ' differs: ' "$RUNS" | cut -d' ' -f1 | sort -u | wc -l)
  [ "$(ran)" = "$all" ] || reason="$(ran) of $all tests ran in the time that there was"
  [ "$differ" = 0 ] || reason+="${reason:+; }$(reasons | paste -sd';' | sed 's/;/; /g')"
  [ -n "$reason" ] || reached=true
  "$ROOT/bench/record.py" foreign "foreign.$1" area="Other programs' tests" figure="$1: tests that differ, exact and sampled" \
    goal=0 value="$differ" unit=tests tests="$(ran)" programs="$(($(sum 2) + $(sum 3)))" crashes="$(sum 4)" \
    reached=$reached reason="$reason" command="tests/native/foreign_suites.sh $1" notes=docs/testing.md
}

if [ -n "$ONLY" ]; then
  "prepare_$SUITES" && compare "$SUITES" "$ONLY"
  exit
fi
differing=0 unprepared=0
for suite in $SUITES; do
  if ! "prepare_$suite"; then
    echo "# $suite: could not be prepared"
    unprepared=1
    continue
  fi
  SECONDS=0
  count_and_remove
  : > "$SCRATCH/processes"
  begin "$suite"
  run_suite "$suite" >> "$RUNS"
  count_and_remove
  echo "run: $(grep -c '^n-' "$SCRATCH/processes") $(grep -c '^s-' "$SCRATCH/processes") $(crashes "$SECONDS") $SECONDS" >> "$RUNS"
  result "$suite" | tee "$SCRATCH/result"
  keep "$suite" < "$SCRATCH/result"
  record "$suite"
  ! grep -q ' differs: ' "$RUNS" || differing=1
done
[ $unprepared = 0 ] || exit 2
exit $differing
