#!/usr/bin/env bash
# Makes a release of the commit that is checked out: runs all tests, builds the files, writes their checksums, and tags.
# Usage: dist/release.sh FOLDER     FOLDER is new; nothing is published. Debian 12, up to an hour on two cores.
# With Debian's cross compiler and tests/e2e/fetch_trees.sh aarch64 the files for aarch64 are made, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "release.sh: $*" >&2; exit 1; }
[ $# -eq 1 ] || { sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
version=$(sed -n 's/.*kVersion\[\] = "\(.*\)";/\1/p' format/model/version.h)
[ -n "$version" ] || fail "format/model/version.h names no version"
grep -qx "VERSION = \"$version\"" dist/BUILD || fail "dist/BUILD has another version than $version"
grep -qx "## $version" CHANGELOG.md || fail "CHANGELOG.md has no heading '## $version'"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
[ -z "$(git tag --list "v$version")" ] || fail "v$version exists: raise the version"
[ ! -e "$1" ] || fail "$1 exists"

./test.sh
bazel build //dist
mkdir -p "$1"
cp bazel-bin/dist/heaprec[-_]"$version"* dist/install.sh "$1/"
java/check_release.py "$1/heaprec-$version"
if command -v aarch64-linux-gnu-g++ >/dev/null; then
  bazel build --config=aarch64 //dist
  cp bazel-aarch64-bin/dist/heaprec_"$version"_arm64.deb bazel-aarch64-bin/dist/heaprec-"$version"-linux-* "$1/"
  cp "bazel-aarch64-bin/dist/heaprec-$version.jar" "$1/heaprec-$version-linux-aarch64.jar" # a classifier
else
  echo "release.sh: no cross compiler: no files for aarch64" >&2
fi
(cd "$1" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
git tag --annotate --message "heaprec $version" "v$version"
echo "tagged v$version. To publish: git push origin v$version, and upload what is in $1"
