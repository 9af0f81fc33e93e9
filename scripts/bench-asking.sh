#!/bin/sh
# What `[inside] ask = true` costs a node with 3,000 queues under a light load: CPU time of the node and of `watch`, in turn
# with the same `watch` that does not ask (told by SIGHUP). Medians of the rounds, and all of them. As root. A round has two
# minutes, because every two minutes a node looks through its metrics, which takes more than to be asked.
#
#   QUEUES=3000 USED=300 RATE=0.5 SECONDS_EACH=120 ROUNDS=3 FREQUENCY=19 scripts/bench-asking.sh
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
[ "$(id -u)" = 0 ] || {
    echo "bench-asking: what a node's threads take is read as root" >&2
    exit 1
}
start_broker
# A tenth of the queues is used, with RATE messages a second each.
used=${USED:-$((${QUEUES:-3000} / 10))}
sed '/^\[\[pollers\]\]/,$d; /^plugins = /d' scenarios/many-queues.toml >"$work/load.toml"
"$program" run "$work/load.toml" --out "$work/load" --set run.duration=2h --set queues.0.to="${QUEUES:-3000}" \
    --set publishers.0.count="$used" --set consumers.0.count="$used" --set publishers.0.rate="${RATE:-0.5}" \
    --set run.self-check=false >"$work/load.log" 2>&1 &
children=$!
wait_for_lines "$children" "$work/load.log" "$work/load/series.jsonl" 12 240
node scripts/bench-asking.mjs "$(realpath "$program")" "$work" "$broker" "$(broker_value pid)" \
    "${SECONDS_EACH:-120}" "${ROUNDS:-3}" "${FREQUENCY:-19}"
