#!/bin/sh
# Conducts experiments with a known answer, one after the other, and writes the table in
# docs/measurements/experiments.md: the known answer, the measurement here, and whether they agree. Results are in
# target/experiments/NAME; an interrupted experiment resumes there. Needs a quiet machine.
#
#   scripts/experiments.sh 15-prefetch 16-acknowledgements
set -eu
cd "$(dirname "$0")/.."
program=target/release/rabbitscope
results=target/experiments
mkdir -p "$results"
for name in "$@"; do
    # 3 is a result too: the known answer was not met.
    "$program" experiment "experiments/$name.toml" --out "$results/$name" || [ $? = 3 ]
done
node scripts/experiments.mjs "$results" docs/measurements/experiments.md
