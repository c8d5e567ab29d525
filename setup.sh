#!/usr/bin/env bash
# Installs what building, testing and the demo need and this machine lacks. Debian 12; as root, or with sudo.
# Usage: ./setup.sh [demo]     Says nothing when nothing is missing.
set -euo pipefail

packages=(
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib build-essential
  libfmt-dev libzstd-dev libxxhash-dev libcli11-dev nlohmann-json3-dev libcapstone-dev zlib1g-dev libre2-dev
  libncurses-dev openjdk-17-jdk-headless zstd binutils python3
)
# The demo shows a real program's recording. The other commands need more libraries; the tests ask programs that others
# wrote about what we export, and start servers of their own.
if [ "${1:-}" = demo ]; then
  packages+=(openjdk-17-source unzip)
else
  packages+=(libssl-dev libsqlite3-dev libprotozero-dev libjs-dygraphs libboost-dev catch2
             clang-format spin sqlite3 golang-go chromium chromium-driver python3-jsonschema python3-yaml man-db zsh fish
             protobuf-compiler clickhouse-server openssl tmux libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev)
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || echo absent)
  if [ "$status" != installed ]; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup.sh: missing packages and neither root nor sudo: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
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
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c \
  'apt-get -o Acquire::Retries=3 update -qq && apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends "$@"' apt "${missing[@]}" >/dev/null
if [[ " ${missing[*]} " == *" clickhouse-server "* && -d /run/systemd/system ]]; then
  "${as_root[@]}" systemctl --quiet disable clickhouse-server
fi
