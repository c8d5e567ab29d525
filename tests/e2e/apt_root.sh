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

# apt-get on a root of its own: apt FOLDER ARGUMENTS...
apt() {
  local root=$1
  shift
  apt-get -qq -o "Dir::Etc::sourcelist=$root/sources.list" -o Dir::Etc::sourceparts=/dev/null \
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
