#!/usr/bin/env bash
# Fetches what some tests of the fleet need; without it they skip.
# Usage: tests/fleet/fetch.sh kubernetes|chdb|zookeeper...     Writes into ~/.cache/heaprec.
#   kubernetes   from npm: the API's schemas (1.13; 0.2 MB), for manifests_test
#   chdb         from npm: ClickHouse 26.7 as a library (170 MB, 570 MB unpacked), for modern_server_test
#   zookeeper    Debian's ZooKeeper (2 MB), for replicas_test; nothing is installed
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/heaprec
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$cache"

# fetch PACKAGE FILE TARGET
fetch() {
  command -v npm >/dev/null || { echo "fetch.sh: no npm" >&2; exit 1; }
  (cd "$scratch" && rm -f ./*.tgz && npm pack --silent "$1" >/dev/null)
  tar -xzf "$scratch"/*.tgz -C "$scratch" "package/$2"
  mv "$scratch/package/$2" "$cache/$3"
  echo "$cache/$3"
}

# What its server loads, of Debian's packages.
fetch_zookeeper() {
  (cd "$scratch" && apt-get -qq download libzookeeper-java libslf4j-java libdropwizard-metrics-java libsnappy-java)
  mkdir -p "$cache/zookeeper"
  for package in "$scratch"/*.deb; do dpkg-deb -x "$package" "$scratch/unpacked"; done
  for jar in zookeeper zookeeper-jute slf4j-api slf4j-simple metrics-core snappy-java; do
    cp -L "$scratch/unpacked/usr/share/java/$jar.jar" "$cache/zookeeper/"
  done
  echo "$cache/zookeeper"
}

for what in "$@"; do
  case $what in
    kubernetes) fetch kubernetes-client@9.0.0 lib/specs/swagger-1.13.json.gz kubernetes.json.gz ;;
    chdb) fetch @chdb/lib-linux-x64-gnu@26.7.3-stable.1 libchdb.so libchdb.so ;;
    zookeeper) fetch_zookeeper ;;
    *) echo "fetch.sh: '$what' is none of kubernetes, chdb, zookeeper" >&2; exit 2 ;;
  esac
done
