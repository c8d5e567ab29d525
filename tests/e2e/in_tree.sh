#!/usr/bin/env bash
# Runs a command in an unpacked tree of another Debian release (fetch_trees.sh), which has the machine's /proc, /dev and
# /tmp. Nothing is left mounted. As root, or where the kernel lets users have namespaces of their own.
# Usage: in_tree.sh TREE COMMAND [ARGUMENT]...
set -euo pipefail

# chroot is there, which is not on everybody's PATH.
PATH=$PATH:/usr/sbin:/sbin

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(--map-root-user); fi
# shellcheck disable=SC2016  # for the inner shell
exec unshare --mount "${as_root[@]}" sh -c '
  tree=$1
  shift
  for folder in proc dev tmp; do mount --rbind "/$folder" "$tree/$folder" || exit 125; done
  exec chroot "$tree" "$@"
' sh "$@"
