#!/usr/bin/env bash
# Fetches the JDKs that this Debian release does not have and unpacks them into a folder; installs nothing.
# Usage: fetch_jdks.sh [8] [11] [21] [25] [26] [27] [28]     all of them without arguments
#
# Folder:  $HEAPREC_JDKS, or ~/.cache/heaprec/jdks; then <folder>/<version>/home is a JAVA_HOME. What is there is kept.
# Mirror:  the one the machine's own apt sources name, with apt's own signature checks, under a private apt root.
# A JDK that needs a newer glibc than the machine's gets that glibc beside it: its launchers are told to use that loader,
# and find the libraries where they look for their own. libjvm.so stays untouched.
# Exit code: 0 when every JDK asked for is there; else 1, with a line for each that is not.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${HEAPREC_JDKS:-$HOME/.cache/heaprec/jdks}
# shellcheck source=tests/e2e/apt_root.sh
source "$here/apt_root.sh"
runtime=(libc6 libgcc-s1 libstdc++6 zlib1g)  # what a JDK links against

suite_of() {
  case $1 in
    8 | 26 | 27 | 28) echo sid ;;
    11) echo bullseye-security ;;
    21 | 25) echo trixie ;;
    *) return 1 ;;
  esac
}

# Whether a JDK runs here, and the helper through which it starts other programs: starts HOME
starts() {
  "$1/bin/java" -version >/dev/null 2>&1 || return 1
  [ ! -x "$1/lib/jspawnhelper" ] || ! "$1/lib/jspawnhelper" 2>&1 | grep -q 'GLIBC_.* not found'
}

# Where the programs of a JDK look for libraries, as far as that exists: library_folders PROGRAM
library_folders() {
  local folder
  while IFS= read -r folder; do
    folder=${folder//\$ORIGIN/$(dirname "$1")}
    if [ -d "$folder" ]; then echo "$folder"; fi
  done < <(readelf -d "$1" | sed -nE 's/.*R(UN)?PATH.*\[(.*)\]/\2/p' | tr ':' '\n')
}

# A program that looks nowhere for libraries is told by a script in its place: lead PROGRAM LIBRARIES
lead() {
  mv "$1" "$2/"
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$2/ld-linux-x86-64.so.2" "$2" "$2/$(basename "$1")" >"$1"
  chmod +x "$1"
}

# Starts every program of the JDK with the loader and the libraries beside it: modernise HOME LIBRARIES
modernise() {
  local program folder
  while IFS= read -r program; do
    if readelf -h "$program" >/dev/null 2>&1 && [ -z "$(library_folders "$program")" ]; then
      lead "$program" "$2"
      continue
    fi
    python3 "$here/set_interpreter.py" "$program" "$2/ld-linux-x86-64.so.2" 2>/dev/null || continue
    while IFS= read -r folder; do
      ln -sf "$2"/lib*.so* "$folder/"
    done < <(library_folders "$program")
  done < <(find "$1/bin" "$1/jre/bin" "$1/lib" -type f -perm -u+x ! -name '*.so' ! -name '*.so.*' 2>/dev/null)
}

fetch() {
  local version=$1 suite work tree home deb
  suite=$(suite_of "$version") || { echo "no suite is known for JDK $version" >&2; return 1; }
  if [ -e "$folder/$version/home" ] && starts "$folder/$version/home"; then return 0; fi
  work=$folder/.partial-$version
  tree=$folder/$version
  rm -rf "$work" "$tree"
  mkdir -p "$work/debs" "$tree"
  echo "fetching JDK $version from $suite" >&2
  prepare_root "$work/apt" "$suite" || return 1
  (cd "$work/debs" && apt "$work/apt" download "openjdk-$version-jdk-headless" "openjdk-$version-jre-headless") || return 1
  for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$tree" || return 1; done
  link_into_root "$tree"
  home=usr/lib/jvm/java-$version-openjdk-amd64
  ln -sfn "$home" "$tree/home"
  if ! starts "$tree/home"; then
    mkdir -p "$work/runtime"
    (cd "$work/runtime" && apt "$work/apt" download "${runtime[@]}") || return 1
    for deb in "$work"/runtime/*.deb; do dpkg-deb -x "$deb" "$tree/runtime" || return 1; done
    mkdir -p "$tree/libraries"
    find "$tree/runtime" -name 'lib*.so.*' ! -name '*.py' ! -type d -path '*x86_64-linux-gnu*' ! -path '*/gconv/*' -exec cp -a {} "$tree/libraries" \;
    cp "$(find "$tree/runtime" -name 'ld-linux-x86-64.so.2' | head -n 1)" "$tree/libraries"
    rm -rf "$tree/runtime"
    modernise "$tree/$home" "$tree/libraries"
  fi
  rm -rf "$work"
  starts "$tree/home" || { echo "JDK $version is unpacked but does not start" >&2; return 1; }
}

[ $# -gt 0 ] || set -- 8 11 21 25 26 27 28
status=0
for version in "$@"; do fetch "$version" || { echo "JDK $version is not there" >&2; status=1; }; done
exit $status
