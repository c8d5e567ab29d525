#!/usr/bin/env bash
# Unpacks other Debian releases, each with its own glibc and JDKs, into folders to be entered with chroot.
# Usage: fetch_trees.sh [bullseye] [sid] [trixie] [aarch64] [aarch64-bullseye] [aarch64-trixie] [aarch64-sid]
#        the first two without arguments; 400 to 600 MB each, trixie 1.2 GB
# trixie has what setup.sh installs to build: debian13.sh builds there.
# aarch64 is Debian 12 for arm64: the libraries for --config=aarch64, and JDK 17 to be run by qemu-user. aarch64-bullseye
# has JDK 11, aarch64-trixie 21 and 25, aarch64-sid 26, 27 and 28.
#
# Folder:  $HEAPREC_TREES, or ~/.cache/heaprec/trees; then <folder>/<release> is a root file system. What is there is kept.
# Packages come as fetch_jdks.sh gets them; they are unpacked, not configured: no script of theirs runs.
# Exit code: 0 when every tree asked for is there; else 1, with a line for each that is not.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${HEAPREC_TREES:-$HOME/.cache/heaprec/trees}
# shellcheck source=tests/e2e/apt_root.sh
source "$here/apt_root.sh"
base=(base-files libc6 libc-bin libgcc-s1 libstdc++6 bash dash coreutils sed grep findutils tar gzip xz-utils dpkg passwd)
# What the products link statically: third_party/*.BUILD.
archives=(libncurses-dev libre2-dev libsqlite3-dev libssl-dev libxxhash-dev libzstd-dev zlib1g-dev)

suites_of() {
  case $1 in
    bullseye) echo bullseye bullseye-security ;;
    sid | trixie) echo "$1" ;;
    aarch64) echo bookworm bookworm-security ;;
    aarch64-bullseye) echo bullseye ;;
    aarch64-trixie) echo trixie ;;
    aarch64-sid) echo sid ;;
    *) return 1 ;;
  esac
}
packages_of() {
  case $1 in
    bullseye) echo openjdk-11-jdk-headless openjdk-17-jdk-headless ;;
    sid) echo openjdk-17-jdk-headless openjdk-25-jdk-headless ;;
    trixie) echo mawk "$("$here/../../setup.sh" build --print)" ;;
    aarch64-bullseye) echo openjdk-11-jre-headless ;;
    aarch64-trixie) echo openjdk-21-jre-headless openjdk-25-jre-headless ;;
    aarch64-sid) echo openjdk-26-jre-headless openjdk-27-jre-headless openjdk-28-jre-headless ;;
    aarch64) echo openjdk-17-jre-headless catch2 "${archives[@]}" ;;
  esac
}

# base-files first: where /bin is a link to /usr/bin, it says so.
unpack() {
  local debs=$1 tree=$2 deb
  dpkg-deb -x "$(find "$debs" -name 'base-files_*.deb' | head -n 1)" "$tree" || return 1
  for deb in "$debs"/*.deb; do
    # Through tar, which leaves a link to a folder in place.
    dpkg-deb -W --showformat='${Package}\t${Version}\t${source:Package}\t${source:Version}\n' "$deb" >>"$tree/.packages" || return 1
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$tree" || return 1
  done
}

fetch() {
  local release=$1 suites packages work tree
  read -ra suites <<<"$(suites_of "$release")"
  [ ${#suites[@]} -gt 0 ] || { echo "no Debian release $release is known here" >&2; return 1; }
  read -ra packages <<<"$(packages_of "$release")"
  architecture=
  if [[ $release == aarch64* ]]; then architecture=arm64; fi
  tree=$folder/$release
  work=$folder/.partial-$release
  if [ -e "$tree/.complete" ]; then return 0; fi
  rm -rf "$work" "$tree"
  mkdir -p "$work/tree"
  echo "fetching $release" >&2
  prepare_root "$work/apt" "${suites[@]}" || return 1
  apt "$work/apt" install --download-only --no-install-recommends -y "${base[@]}" "${packages[@]}" >/dev/null || return 1
  unpack "$work/apt/cache/archives" "$work/tree" || return 1
  # What the packages' scripts would have made.
  [ -e "$work/tree/bin/sh" ] || ln -s dash "$work/tree/bin/sh"
  [ -e "$work/tree/usr/bin/awk" ] || ln -s mawk "$work/tree/usr/bin/awk"
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n' >"$work/tree/etc/passwd"
  touch "$work/tree/.complete"
  mv "$work/tree" "$tree"
  # Not to be entered with chroot: qemu-user looks there first, but the kernel follows links.
  if [[ $release == aarch64* ]]; then link_into_root "$tree"; fi
  rm -rf "$work"
}

[ $# -gt 0 ] || set -- bullseye sid
status=0
for release in "$@"; do fetch "$release" || { echo "the tree of $release is not there" >&2; status=1; }; done
exit $status
