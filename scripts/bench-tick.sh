#!/bin/sh
# What sampling costs the work that is sampled: how much longer the same computation takes on a node, while
# nothing samples, while a bare clock ticks (perf, no stacks: what the machine charges for an interrupt),
# while rabbitscope records, and while perf records with frame pointers and with copies of the stack. All
# in turn on one broker, again and again. Prints medians, of a tick and in percent.
#
#   ROUNDS=15 FREQ=999 scripts/bench-tick.sh
#
# bench-overhead.sh measures a load instead, which is what one wants to know but scatters by ten times as
# much as the sampling costs.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
need_perf
start_broker
erlc -o "$work" scripts/bench_tick.erl
directory=$(broker_value directory)
ERL_EPMD_PORT=$(node -p "JSON.parse(require('fs').readFileSync('$directory/node.json', 'utf8')).ports.epmd")
export ERL_EPMD_PORT
HOME=$directory/home node scripts/bench-tick.mjs "$(realpath "$program")" "$work" "$(broker_value pid)" \
    "$(broker_value node-name)" "${ROUNDS:-15}" "${FREQ:-999}"
