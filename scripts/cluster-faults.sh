#!/bin/sh
# Kills a node of three every 20 seconds for ten minutes, and checks for lost confirmed messages and waiting publishers.
# Prints the summary of scenarios/cluster-faults.toml and leaves the run in target/cluster-faults.
#
#   DURATION=3m scripts/cluster-faults.sh
set -eu
cd "$(dirname "$0")/.."
out=$PWD/target/cluster-faults
rm -rf "$out"
target/release/rabbitscope run scenarios/cluster-faults.toml --set "run.duration=${DURATION:-10m}" --out "$out"
