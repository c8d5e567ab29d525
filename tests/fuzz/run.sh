#!/usr/bin/env bash
# libFuzzer on the targets of this folder, with ASan and UBSan. Usage: tests/fuzz/run.sh SECONDS [TARGET...]
# What crashes is left in this folder as crash-*: give it a name of its case in corpus/TARGET, and mend what it found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:?seconds for each target}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(header reader dictionaries events lane recover options replies jfr)
work=${FUZZ_WORK:-${TMPDIR:-/tmp}/heaprec-fuzz}
clang=${CLANG:-clang++-14}
flags=(-std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -I.
  -DFMT_HEADER_ONLY)
sources=(format/*.cc tests/format/recordings.cc throttle/*.cc
  tools/input/*.cc tools/rewriter.cc tools/render/output.cc tools/render/text.cc tools/complain.cc tools/import/jfr/*.cc tools/control/replies.cc
  recorder/agent/options.cc recorder/agent/option_list.cc recorder/agent/command.cc recorder/writer/recording_file.cc)
mkdir -p "$work"

# One archive of all that the targets use, instrumented; libFuzzer's main comes with the target. Objects of other headers
# than now would disagree about the layout of what they share.
newest_header=$(find format throttle tools recorder tests -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
objects=()
for source in "${sources[@]}"; do
  object="$work/${source//\//_}.o"
  objects+=("$object")
  { [ "$object" -nt "$source" ] && [ "$object" -nt "$newest_header" ]; } || "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link -c "$source" -o "$object"
done
rm -f "$work/all.a"
ar rcs "$work/all.a" "${objects[@]}"
for target in "${targets[@]}"; do
  "$clang" "${flags[@]}" -fsanitize=fuzzer "tests/fuzz/${target}_fuzzer.cc" "$work/all.a" -lzstd -lxxhash -o "$work/$target"
  "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link "tests/fuzz/${target}_fuzzer.cc" tests/fuzz/mutation_driver.cc \
    "$work/all.a" -lzstd -lxxhash -o "$work/$target-driver"
  mkdir -p "$work/corpus-$target" "tests/fuzz/corpus/$target"
  "$work/$target-driver" --seeds "$work/corpus-$target"
  "$work/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=20000 -print_final_stats=1 \
    -artifact_prefix=tests/fuzz/crash-"$target"- "$work/corpus-$target" "tests/fuzz/corpus/$target" 2>"$work/$target.log" ||
    { tail -n 40 "$work/$target.log"; exit 1; }
  grep -E 'cov:' "$work/$target.log" | tail -n 1 | sed "s/^/$target: /"
  grep -E 'number_of_executed_units' "$work/$target.log" | sed "s/^/$target: /"
done
