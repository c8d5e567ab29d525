# shellcheck shell=bash
# To be sourced: packages of other Debian releases, with the machine's own mirror and apt's own signature checks, under a
# private apt root. Installs nothing.

# The address under which the machine gets its own release, or that release's security updates: mirror_of SUITE
mirror_of() {
  local wanted='[a-z]+'
  if [[ $1 == *-security ]]; then wanted='[a-z]+-security'; fi
  # shellcheck disable=SC2016  # apt's own format
  apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="^$wanted\$" '$1 == "Debian" && $2 ~ release { print $3; exit }'
}

# apt-get on a root of its own, for the machine's architecture or $architecture: apt FOLDER ARGUMENTS...
apt() {
  local root=$1 for_machine=${architecture:-$(dpkg --print-architecture)}
  shift
  apt-get -qq -o "APT::Architecture=$for_machine" -o "APT::Architectures=$for_machine" -o "Dir::Etc::sourcelist=$root/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o "Dir::State=$root/state" -o "Dir::State::status=$root/status" \
    -o "Dir::Cache=$root/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# Fetches the lists of packages: prepare_root FOLDER SUITE...
prepare_root() {
  local root=$1 suite mirror
  shift
  mkdir -p "$root"/state/lists/partial "$root"/cache/archives/partial
  : >"$root/status"
  : >"$root/sources.list"
  for suite in "$@"; do
    mirror=$(mirror_of "$suite")
    [ -n "$mirror" ] || { echo "no Debian mirror in the machine's apt sources for $suite" >&2; return 1; }
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >>"$root/sources.list"
  done
  apt "$root" update
}

# Links into /etc mean the unpacked /etc: link_into_root TREE
link_into_root() {
  local link target
  while IFS= read -r link; do
    target=$(readlink "$link")
    if [[ $target == /* && -e $1$target ]]; then ln -sfn "$1$target" "$link"; fi
  done < <(find "$1" -type l -lname '/*')
}
