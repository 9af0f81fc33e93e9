#!/bin/sh
# Cost of `[inside] ask = true` for a node with 3,000 queues under a light load: CPU time of the node and of `watch`, in
# turn with the same `watch` that does not ask (SIGHUP switches). Prints all rounds and their medians. As root. A round
# takes two minutes, because once in two minutes such a node takes half a second for something else
# (docs/measurements/watch.md).
#
#   QUEUES=3000 USED=300 RATE=0.5 SECONDS_EACH=120 ROUNDS=3 FREQUENCY=19 scripts/bench-asking.sh
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
[ "$(id -u)" = 0 ] || {
    echo "bench-asking: reading the CPU time of a node's threads needs root" >&2
    exit 1
}
# The setting of the management plugin: without statistics the tables of queues are empty.
echo '[{rabbit, [{collect_statistics, coarse}]}].' >"$work/advanced.config"
start_broker --advanced-config "$work/advanced.config"
# A tenth of the queues gets messages, RATE a second each.
used=${USED:-$((${QUEUES:-3000} / 10))}
start_queues_load "${QUEUES:-3000}" "$used" "$used" "${RATE:-0.5}"
node scripts/bench-asking.mjs "$(realpath "$program")" "$work" "$broker" "$(broker_value pid)" \
    "$(broker_value directory)" "${SECONDS_EACH:-120}" "${ROUNDS:-3}" "${FREQUENCY:-19}"
