#!/bin/sh
# Cost of a look inside for a saturated broker: `trace`, `calltree` and `functions` on the most called function, with
# their default limits. Then the usual alternative: a trace of every process to one collector. Prints throughput
# before, during and after, and the node's memory.
#
#   RABBITSCOPE=target/release/rabbitscope scripts/bench-inside.sh
#
# The result also goes into docs/measurements/inside.md. MOST_BYTES and MOST_SECONDS bound the last attempt.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh

start_broker
node scripts/bench-inside.mjs "$program" "$work" docs/measurements/inside.md
