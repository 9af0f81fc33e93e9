#!/bin/sh
# What `[inside] ask = true` costs a node with 3,000 queues under a light load: CPU time of the node and of `watch`, in turn
# with the same `watch` that does not ask (told by SIGHUP). Medians of the rounds, and all of them. As root. A round has two
# minutes, because once in two minutes such a node takes half a second for something else (docs/measurements/watch.md).
#
#   QUEUES=3000 USED=300 RATE=0.5 SECONDS_EACH=120 ROUNDS=3 FREQUENCY=19 scripts/bench-asking.sh
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
[ "$(id -u)" = 0 ] || {
    echo "bench-asking: what a node's threads take is read as root" >&2
    exit 1
}
# As the management plugin has it: without statistics there is nothing to read of queues.
echo '[{rabbit, [{collect_statistics, coarse}]}].' >"$work/advanced.config"
start_broker --advanced-config "$work/advanced.config"
# A tenth of the queues is used, with RATE messages a second each.
used=${USED:-$((${QUEUES:-3000} / 10))}
start_queues_load "${QUEUES:-3000}" "$used" "$used" "${RATE:-0.5}"
node scripts/bench-asking.mjs "$(realpath "$program")" "$work" "$broker" "$(broker_value pid)" \
    "$(broker_value directory)" "${SECONDS_EACH:-120}" "${ROUNDS:-3}" "${FREQUENCY:-19}"
