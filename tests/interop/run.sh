#!/usr/bin/env bash
# JFR exports as other programs' readers see them: the same events and the same bytes as `heaprec top` shows, in each.
#
# Usage: tests/interop/run.sh [OPTION]... [RECORDING]...       RECORDING: default: those of tests/golden
#   --jfrconv CLASSPATH   async-profiler's converter (jar, or folder of classes)
#   --jmc CLASSPATH       JDK Mission Control's parser and what it needs
#   --go-parser PROGRAM   prints {"events": N, "bytes": N, "unresolved": N} of the jdk.ObjectAllocationSample events of the
#                         file that is its argument, as Grafana's jfr-parser reads them
#   --jdk HOME            `jfr summary`, `jfr print` and jdk.jfr.consumer of a JDK, from 21 on `jfr view`; may be repeated.
#                         Default: $JAVA_HOME, or that of `java`
#   --version NAME=TEXT   the version of a reader that does not tell it: async-profiler jfrconv, JMC parser, Grafana jfr-parser
# A reader that is not named is not asked, and keeps its record in bench/results/interop.json. Exit code 1: a reader
# failed, or its totals differ.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x bazel-bin/tools/heaprec ] || bazel build //tools:heaprec >&2
exec python3 tests/interop/run.py "$@"
