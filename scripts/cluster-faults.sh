#!/bin/sh
# A node of three is killed every 20 seconds for ten minutes: was anything lost that had been confirmed, and for how long did
# publishers wait? Prints the summary of scenarios/cluster-faults.toml and leaves the run in target/cluster-faults.
#
#   DURATION=3m scripts/cluster-faults.sh
set -eu
cd "$(dirname "$0")/.."
out=$PWD/target/cluster-faults
rm -rf "$out"
target/release/rabbitscope run scenarios/cluster-faults.toml --set "run.duration=${DURATION:-10m}" --out "$out"
