#!/usr/bin/env bash
# Prints terminal_entries.h: terminfo entries in the form in which TERMINFO can hold them (infocmp -Q2).
set -euo pipefail
export LC_ALL=C

cat <<'HEAD'
// Terminfo entries for machines that lack them, made at build time of those of Debian's ncurses-base.
#pragma once

#include <array>

namespace heaprec::tools {

struct TerminalEntry {
  const char* prefix;  // of the terminals that it serves; the first entry serves all others
  const char* name;
  const char* entry;  // for TERMINFO
};

HEAD
terminals=(xterm screen tmux)
echo "inline constexpr std::array<TerminalEntry, ${#terminals[@]}> kTerminalEntries{{"
for terminal in "${terminals[@]}"; do
  entry=$(infocmp -x -Q2 "$terminal-256color" | grep -v '^#' | tr -d '\n')
  echo "    {\"$terminal\", \"$terminal-256color\", \"$entry\"},"
done
echo "}};"
echo
echo "}  // namespace heaprec::tools"
