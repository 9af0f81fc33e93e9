#!/bin/sh
# Conducts experiments with an answer that is known, one after the other, and writes the table in
# docs/measurements/experiments.md: what is known, what was measured here, whether it was met. Results are in
# target/experiments/NAME; an experiment that was interrupted goes on there. Needs a quiet machine.
#
#   scripts/experiments.sh 15-prefetch 16-acknowledgements
set -eu
cd "$(dirname "$0")/.."
program=target/release/rabbitscope
results=target/experiments
mkdir -p "$results"
for name in "$@"; do
    # 3 is a result too: what is known was not met.
    "$program" experiment "experiments/$name.toml" --out "$results/$name" || [ $? = 3 ]
done
node scripts/experiments.mjs "$results" docs/measurements/experiments.md
