# shellcheck shell=bash
# search MODEL LABEL IS_MISTAKE -Dname=value...: searches all states of the model, says what was found, and fails if a
# mistake was not, or anything else was. Sourced by check_*.sh, which stand in a folder of their own.
search() {
  local model=$1 label=$2 is_mistake=$3
  shift 3
  spin -a "$@" "$model" >spin.log
  # A mistake is found within a second: to compile for speed takes longer.
  gcc "$([ "$is_mistake" = 0 ] && echo -O1 || echo -O0)" -w -DSAFETY -DCOLLAPSE -DMEMLIM="${HEAPREC_MODEL_MB:-4000}" -o pan pan.c
  ./pan -m1000000 >pan.log
  local errors states found verdict=ok
  errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log)
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
  found=$(sed -n 's/^pan:1: *//p' pan.log)
  # A search that ran out of memory or depth is not complete, and says so.
  if [ "$is_mistake" = 0 ] && { [ "$errors" != 0 ] || grep -q 'Search not completed\|max search depth' pan.log; }; then verdict=WRONG; fi
  if [ "$is_mistake" != 0 ] && [ "$errors" = 0 ]; then verdict=WRONG; fi
  echo "$label: $states states, ${found:-no error}: $verdict"
  [ "$verdict" = ok ]
}
