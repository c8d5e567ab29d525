#!/usr/bin/env bash
# Installs what is missing, builds, records javac compiling the sources of the JDK's XML module, and shows the recording.
# Usage: ./demo.sh [DIRECTORY]     the directory (default: a new one under ${TMPDIR:-/tmp}) keeps the recording
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

./setup.sh demo
bazel --nohome_rc build --noshow_progress --ui_event_filters=-info //recorder:libheaprec.so //tools:heaprec-demo
bin=$(bazel info bazel-bin 2>/dev/null)
heaprec=$bin/tools/heaprec-demo

directory=${1:-$(mktemp -d "${TMPDIR:-/tmp}/heaprec-demo.XXXXXX")}
mkdir -p "$directory"
if [ ! -d "$directory/src/java.xml" ]; then
  unzip -q "$(dirname "$(readlink -f "$(command -v javac)")")/../lib/src.zip" 'java.xml/*' -d "$directory/src"
fi

# A recording never overwrites another: each run of the demo takes the next free name.
recording=$directory/javac-$(date +%H%M%S).hrec
echo "== Recording: javac compiles $(find "$directory/src" -name '*.java' | wc -l) files" >&2
time javac "-J-agentpath:$bin/recorder/libheaprec.so=file=$recording,rate=150" \
  -nowarn -XDignore.symbol.file -proc:none -d "$directory/classes" \
  --module-source-path "$directory/src" --module java.xml

printf '\n== heaprec summary %s\n' "$recording"
"$heaprec" summary "$recording"
printf '\n== heaprec top --limit 8 %s\n' "$recording"
"$heaprec" top --limit 8 "$recording"
printf '\n== heaprec print --limit 3 %s\n' "$recording"
"$heaprec" print --limit 3 --stack-depth 8 "$recording"
printf '\nThese commands were built: %s --help. All: ./setup.sh && bazel build //tools:heaprec\n' "$heaprec"
