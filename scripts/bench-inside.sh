#!/bin/sh
# What a look inside costs a saturated broker: `trace`, `calltree` and `functions` on the function that
# is called most, with their default limits; then the same attempt as others make it, a trace of every
# process to one collector. Prints throughput before, during and after, and the node's memory.
#
#   RABBITSCOPE=target/release/rabbitscope scripts/bench-inside.sh
#
# The result also goes into docs/measurements/inside.md. MOST_BYTES and MOST_SECONDS bound the last attempt.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh

start_broker
node scripts/bench-inside.mjs "$program" "$work" docs/measurements/inside.md
