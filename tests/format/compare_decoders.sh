#!/bin/sh
# compare_decoders.py with the arguments that Bazel gives.
exec python3 "$@"
