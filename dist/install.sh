#!/bin/sh
# Unpacks an archive of heaprec into a folder, or removes what it has unpacked there.
# Usage: install.sh [--prefix DIR] [ARCHIVE]     ARCHIVE: heaprec-VERSION-linux-MACHINE[-static].tar.gz, by default the one
#        install.sh --remove [--prefix DIR]      that lies beside this script. DIR: by default /usr/local.
# Exit code: 0; 1 when something is wrong, which is then said in one line, and nothing is left half unpacked.
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

usage() {
  sed -n '3,4s/^# //p' "$0" >&2
  exit 2
}

prefix=/usr/local archive='' remove=false
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || usage; prefix=$2; shift ;;
    --prefix=*) prefix=${1#*=} ;;
    --remove) remove=true ;;
    -*) usage ;;
    *) [ -z "$archive" ] || usage; archive=$1 ;;
  esac
  shift
done
list=$prefix/share/doc/heaprec/installed-files

remove_installed() {
  while IFS= read -r file; do
    rm -f "$prefix/$file"
  done <"$list"
  rm -f "$list"
  rmdir "$prefix/share/doc/heaprec" "$prefix/lib/heaprec" 2>/dev/null || true
}

if $remove; then
  [ -f "$list" ] || fail "nothing to remove: $list is missing; this script has not installed heaprec into $prefix"
  remove_installed
  echo "removed heaprec from $prefix"
  exit 0
fi

machine=$(uname -m)
if [ -z "$archive" ]; then
  for candidate in "$(dirname "$0")"/heaprec-*-linux-"$machine"*.tar.gz; do
    [ -f "$candidate" ] || fail "no heaprec-VERSION-linux-$machine.tar.gz beside this script; name the archive"
    [ -z "$archive" ] || fail "several archives beside this script; name one of them"
    archive=$candidate
  done
fi
[ -f "$archive" ] || fail "$archive does not exist"
case $archive in
  *"-linux-$machine"*) ;;
  *) fail "$archive is not for this machine, which is $machine" ;;
esac
mkdir -p "$prefix" || fail "cannot create $prefix"
[ -w "$prefix" ] || fail "cannot write to $prefix; run as root, or choose another folder with --prefix"

# Everything is unpacked before the first file of an earlier version goes.
staging=$(mktemp -d "$prefix/.heaprec-install.XXXXXX") || fail "cannot create a folder in $prefix"
trap 'rm -rf "$staging"' EXIT
tar -xzf "$archive" --no-same-owner -C "$staging" || fail "$archive cannot be unpacked into $prefix"
top=$(ls "$staging")
[ -f "$staging/$top/bin/heaprec" ] || fail "$archive is no archive of heaprec"
if ! "$staging/$top/bin/heaprec" --version >/dev/null 2>&1; then
  fail "its bin/heaprec does not run here (it needs glibc 2.17 or later); use the archive that ends in -static.tar.gz"
fi
if [ -f "$list" ]; then remove_installed; fi
(cd "$staging/$top" && find . -type f | sed 's#^\./##' | sort) >"$staging/list"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  mv -f "$staging/$top/$file" "$prefix/$file"
done <"$staging/list"
mv "$staging/list" "$list"
chmod 644 "$list"
echo "installed $("$prefix/bin/heaprec" --version) in $prefix"
