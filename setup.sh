#!/usr/bin/env bash
# Installs what building, testing and the demo need and this machine lacks. Debian 12 and 13; as root, or with sudo.
# Usage: ./setup.sh [demo|build] [--print]
# Says nothing when nothing is missing. demo: what demo.sh needs; build: without what only the tests run.
# --print: names the packages and installs nothing.
set -euo pipefail

packages=(
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib build-essential
  libfmt-dev libzstd-dev libxxhash-dev libcli11-dev nlohmann-json3-dev libcapstone-dev zlib1g-dev libre2-dev
  libncurses-dev default-jdk-headless pkg-config zstd binutils python3
)
where_offered=()  # not in each release of Debian
# The demo shows a real program's recording. The other commands need more libraries; the tests ask programs that others
# wrote about what we export, and start servers of their own.
purpose=tests
if [ "${1:-}" = demo ] || [ "${1:-}" = build ]; then purpose=$1; shift; fi
if [ "$purpose" = demo ]; then
  packages+=(unzip)
else
  packages+=(libssl-dev libsqlite3-dev libprotozero-dev libjs-dygraphs libboost-dev catch2 junit5)
fi
if [ "$purpose" = tests ]; then
  packages+=(clang-format shellcheck spin sqlite3 golang-go chromium chromium-driver python3-jsonschema python3-yaml man-db zsh
             fish protobuf-compiler openssl tmux libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev
             gradle maven libexec-maven-plugin-java libmaven-clean-plugin-java libmaven-compiler-plugin-java
             libmaven-jar-plugin-java libmaven-resources-plugin-java libsurefire-java)
  where_offered+=(clickhouse-server)  # not in 13
fi
if [ "${1:-}" = --print ]; then echo "${packages[*]}"; exit 0; fi

is_missing() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" != installed ]; }
find_missing() {
  local package version
  missing=()
  for package in "${packages[@]}"; do
    if is_missing "$package"; then missing+=("$package"); fi
  done
  for package in "${where_offered[@]}"; do
    if is_missing "$package" && [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then missing+=("$package"); fi
  done
  if [ "$purpose" = demo ]; then
    version=$(apt-cache depends default-jdk-headless 2>/dev/null |
      sed -n 's/.*Depends: openjdk-\([0-9]*\)-jdk-headless$/\1/p') || version=VERSION  # until apt has its lists
    if is_missing "openjdk-$version-source"; then missing+=("openjdk-$version-source"); fi
  fi
}

find_missing
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: missing packages and neither root nor sudo: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get -o Acquire::Retries=3 update -qq >/dev/null
find_missing  # again: before the update apt may not have known what is offered
# A JDK that changes under a running Bazel server breaks the server.
if command -v bazel >/dev/null; then bazel shutdown >/dev/null 2>&1 || echo "setup.sh: no Bazel server to stop" >&2; fi
# Packages of servers start them, unless a policy says no; only the tests start servers here.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod +x "$policy"
fi
echo "setup.sh: installing ${missing[*]}" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
if [[ " ${missing[*]} " == *" clickhouse-server "* && -d /run/systemd/system ]]; then
  "${as_root[@]}" systemctl --quiet disable clickhouse-server
fi
