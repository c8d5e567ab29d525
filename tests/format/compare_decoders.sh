#!/bin/sh
# A script with the arguments that Bazel gives.
exec python3 "$@"
