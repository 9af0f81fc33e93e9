#!/bin/sh
# Cost of sampling for the sampled work: the time of the same computation on a node
# - without sampling;
# - with a bare clock (perf without stacks: the price of the interrupt);
# - while rabbitscope records;
# - while perf records, with frame pointers and with copies of the stack.
# All take turns on one broker, repeatedly. Prints medians, of a tick and in percent.
#
#   ROUNDS=15 FREQ=999 scripts/bench-tick.sh
#
# bench-overhead.sh measures a real load instead, but its scatter is ten times the cost of the sampling.
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
