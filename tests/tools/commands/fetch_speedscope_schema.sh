#!/usr/bin/env bash
# Fetches the schema of speedscope's files, which its npm package has, for export_oracles_test.
# Usage: tests/tools/commands/fetch_speedscope_schema.sh     Writes ~/.cache/heaprec/speedscope-schema.json; needs npm.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/heaprec
command -v npm >/dev/null || { echo "no npm: export_oracles_test checks the structure only" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && npm pack --silent speedscope@1.25.0 >/dev/null)
tar -xzf "$scratch"/speedscope-*.tgz -C "$scratch" package/dist/release/file-format-schema.json
mkdir -p "$cache"
mv "$scratch/package/dist/release/file-format-schema.json" "$cache/speedscope-schema.json"
echo "$cache/speedscope-schema.json"
