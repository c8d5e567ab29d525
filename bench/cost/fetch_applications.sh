#!/usr/bin/env bash
# Fetches the applications that bench/cost and bench/compare measure from the machine's own Debian mirror and unpacks them into a folder;
# installs nothing, needs no root.
#
# Folder: $HEAPREC_APPLICATIONS, or ~/.cache/heaprec/applications. What is there is kept, as long as the list below is
# the same.
set -euo pipefail

folder=${HEAPREC_APPLICATIONS:-$HOME/.cache/heaprec/applications}
applications=(clojure fop libh2-java libsaxonhe-java libtomcat9-java openjdk-17-source)
if [ "$(cat "$folder/complete" 2> /dev/null)" = "${applications[*]}" ]; then exit 0; fi

mkdir -p "$folder/packages"
cd "$folder/packages"
# With what they depend on, as far as the machine lacks it.
mapfile -t packages < <(apt-get install --simulate --no-install-recommends "${applications[@]}" | awk '/^Inst/ { print $2 }')
if [ ${#packages[@]} -gt 0 ]; then apt-get download -qq "${packages[@]}"; fi
for package in ./*.deb; do
  if [ -e "$package" ]; then dpkg-deb -x "$package" ..; fi
done
rm -rf ../packages
echo "${applications[@]}" > ../complete
