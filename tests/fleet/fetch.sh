#!/usr/bin/env bash
# Fetches from npm what two tests of the fleet compare with; without it they skip.
# Usage: tests/fleet/fetch.sh kubernetes|chdb...     Writes into ~/.cache/heaprec; needs npm.
#   kubernetes   the API's schemas (1.13; 0.2 MB), for manifests_test
#   chdb         ClickHouse 26.7 as a library (170 MB, 570 MB unpacked), for modern_server_test
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/heaprec
command -v npm >/dev/null || { echo "fetch.sh: no npm" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$cache"

# fetch PACKAGE FILE TARGET
fetch() {
  (cd "$scratch" && rm -f ./*.tgz && npm pack --silent "$1" >/dev/null)
  tar -xzf "$scratch"/*.tgz -C "$scratch" "package/$2"
  mv "$scratch/package/$2" "$cache/$3"
  echo "$cache/$3"
}

for what in "$@"; do
  case $what in
    kubernetes) fetch kubernetes-client@9.0.0 lib/specs/swagger-1.13.json.gz kubernetes.json.gz ;;
    chdb) fetch @chdb/lib-linux-x64-gnu@26.7.3-stable.1 libchdb.so libchdb.so ;;
    *) echo "fetch.sh: '$what' is neither kubernetes nor chdb" >&2; exit 2 ;;
  esac
done
