#!/usr/bin/env bash
# Completions in a real bash, man pages by a real man, and suggestions: generated, so checked against --help.
# Colours and width are those of a real terminal, which script makes.
# Usage: habits_test.sh HEAPREC RECORDING
set -euo pipefail
heaprec=$(readlink -f "$1") recording=$(readlink -f "$2")
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# shellcheck disable=SC1090
source <("$heaprec" completion bash)
complete -p heaprec | grep -q -- '-F _heaprec' || fail "complete does not know heaprec"
# The words that bash would offer for the last of the given ones.
offered() {
  COMP_WORDS=(heaprec "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _heaprec
  printf '%s\n' "${COMPREPLY[@]}" | sort
}
verbs=$("$heaprec" --help | sed '1d; /^Start/d' | cut -c11-22 | sort | xargs -n 1)
[ "$(wc -l <<<"$verbs")" -gt 15 ] || fail "commands of --help: $verbs"
wide=$("$heaprec" --help | awk 'length > 80 || NR > 40')
[ -z "$wide" ] || fail "--help is more than 40 lines of 80 columns: $wide"
for verb in $verbs; do
  # Examples are not broken, so that they can be copied.
  wide=$("$heaprec" "$verb" --help | sed '/^Examples:/,/^$/d' | awk 'length > 80')
  [ -z "$wide" ] || fail "$verb --help is wider than 80 columns: $wide"
  offered "$verb" | grep -qx "$verb" || fail "bash does not complete the command $verb"
  options=$("$heaprec" "$verb" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)
  missing=$(comm -23 <(echo "$options") <(offered "$verb" --))
  [ -z "$missing" ] || fail "bash does not complete of $verb: $missing"
  # As man shows it: every option, and no line that roff complains of.
  page=$("$heaprec" man "$verb" | MANWIDTH=100 man --warnings -E UTF-8 -l - 2>/tmp/habits.$$ | sed 's/.\x08//g')
  [ -s /tmp/habits.$$ ] && fail "man of $verb: $(head -3 /tmp/habits.$$)"
  for option in $options; do
    grep -q -- "$option\\b" <<<"$page" || fail "the man page of $verb lacks $option"
  done
  grep -q "EXIT STATUS" <<<"$page" || fail "the man page of $verb has no exit status"
  for shell in zsh fish; do
    "$heaprec" completion "$shell" | grep -q "$verb" || fail "$shell does not know $verb"
  done
done
rm -f /tmp/habits.$$
[ "$(offered su)" = summary ] || fail "su completes to $(offered su)"
offered top --sort '' | grep -qx objects || fail "values of top --sort: $(offered top --sort '')"
offered print --kind t | grep -qx tlab || fail "values of print --kind: $(offered print --kind t)"
[ "$(offered completion '' | tr '\n' ' ')" = "bash fish zsh " ] || fail "shells: $(offered completion '')"
"$heaprec" man | MANWIDTH=100 man --warnings -E UTF-8 -l - | grep -q "COMMANDS" || fail "the man page of heaprec"

on_terminal() { env LC_ALL=C TERM=xterm "${@:2}" script -qec "stty cols 70; $heaprec $1 $recording" /dev/null </dev/null | tr -d '\r'; }
on_terminal top | grep -q $'\x1b\\[1m' || fail "no colour on a terminal"
for without in NO_COLOR=1 TERM=dumb; do
  if on_terminal top "$without" | grep -q $'\x1b'; then fail "colour with $without"; fi
done
far=$(script -qec "$heaprec print --json $recording | { sleep 1.5; cat >/dev/null; }" /dev/null </dev/null)
grep -q 'javac.hrec.* %' <<<"$far" || fail "a reading of more than a second does not say how far it is: $far"
longest=$(on_terminal "top --by method" | sed 's/\x1b\[[0-9]*m//g' | sed -n '3,/^$/p' | awk '{ if (length > m) m = length } END { print m }')
[ "$longest" -le 70 ] && [ "$longest" -gt 40 ] || fail "a table of $longest columns on a terminal of 70"

says() {
  local said
  said=$("$heaprec" "${@:2}" 2>&1) && fail "heaprec ${*:2} ends with 0"
  grep -qF -- "$1" <<<"$said" || fail "heaprec ${*:2} says: $said"
}
says "unknown command 'summry'; did you mean 'summary'?" summry x
says "unknown command 'tpo'; did you mean 'top'?" tpo
says "did you mean '--limit'?" top --limt 3 x
says "did you mean '--min-share'?" top --minshare=3 x
says "did you mean 'top'?" man topp
says "--by: 'clas' is not valid; did you mean 'class'? Valid values: class, site," top --by clas x
says "--sort: 'byts' is not valid; did you mean 'bytes'?" top --sort byts x
says "--per: 'secnd' is not valid; did you mean 'second'?" diff --per secnd x y
says "--by: 'nonne' is not valid; did you mean 'none'?" check --by nonne x
says "--format: 'jnuit' is not valid; did you mean 'junit'?" check --format jnuit x
says "--kind: 'outsid' is not valid; did you mean 'outside'?" print --kind outsid x
says "--by: 'label:' is not valid; valid values: class" top --by label: x
says "unknown command 'frobnicate'; commands:" frobnicate
exit $failed
