#!/bin/sh
# Loads of several processes on this machine, over a bus of their own: whether 1, 2 and 4 workers of one plan measure the
# same, in turns; how far apart they start; what they send over the bus and what the controller costs with 8 workers.
#
#   ROUNDS=3 SECONDS_EACH=10 scripts/bench-fleet.sh
#   CONNECTIONS=10000 QUEUES=3000 NODES=3 scripts/bench-fleet.sh      that many over 4 workers, and nothing else
#
# Needs Node.js and ss (iproute2). Prints tables; keeps the run records in target/bench-fleet.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-10}
results=target/bench-fleet
rm -rf "$results"
mkdir -p "$results"
start_broker --nodes "${NODES:-1}"
bus=$("$program" broker start --json)
bus_value() { printf %s "$bus" | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8'))['$1']"; }
RABBITSCOPE_VIA=$(bus_value uri)
export RABBITSCOPE_VIA
bus_name=$(bus_value name)
trap '"$program" broker stop "$bus_name" >/dev/null || true; finish' EXIT

# WORKERS NAME OPTION...: a run, whose record is in target/bench-fleet/NAME.
fleet() {
    workers=$1 name=$2
    shift 2
    number=0
    started=
    while [ $number -lt "$workers" ]; do
        "$program" worker 2>/dev/null &
        started="$started $!"
        number=$((number + 1))
    done
    children=$started
    "$program" run "$work/scenario.toml" --workers "$workers" --plain --json --out "$results/$name" "$@" \
        >"$results/$name.json" &
    controller=$!
    [ "$workers" != 8 ] || watch_cost "$controller" "$results/$name"
    wait $controller || echo "bench-fleet: $name ended with $?" >&2
    for child in $started; do
        wait "$child" || true
    done
    children=
}

# CPU time of the controller and bytes of the workers on the bus, from the third second on.
watch_cost() {
    until [ -s "$2/series.jsonl" ] && [ "$(wc -l <"$2/series.jsonl")" -ge 3 ]; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.2
    done
    port=$(printf %s "$RABBITSCOPE_VIA" | sed 's/.*:\([0-9]*\).*/\1/')
    before=$(cut -d' ' -f14,15 "/proc/$1/stat") bytes=$(bus_bytes "$port") at=$(date +%s%N)
    sleep "$((seconds - 5))"
    after=$(cut -d' ' -f14,15 "/proc/$1/stat") more=$(bus_bytes "$port") now=$(date +%s%N)
    node -e '
        const [before, after, bytes, more, nanos, ticks] = process.argv.slice(1);
        const sum = (text) => text.trim().split(/\s+/).reduce((all, one) => all + Number(one), 0);
        const seconds = nanos / 1e9;
        const cores = (sum(after) - sum(before)) / ticks / seconds;
        console.log(`8 workers: controller ${(100 * cores).toFixed(2)} % of a core; bus ` +
            `${((more - bytes) / 8 / seconds / 1000).toFixed(2)} KB/s a worker, both directions`);
    ' "$before" "$after" "$bytes" "$more" "$((now - at))" "$(getconf CLK_TCK)"
}

# Bytes sent and received over all connections of the workers to the bus.
bus_bytes() {
    ss -tinpH "dport = :$1" | paste -d' ' - - | grep -v "pid=$controller," |
        grep -o 'bytes_\(sent\|received\):[0-9]*' | cut -d: -f2 | awk '{ sum += $1 } END { printf "%d", sum }'
}

write_scenario() {
    cat >"$work/scenario.toml" <<TOML
name = "fleet"
[run]
duration = "$1"
self-check = false
[broker]
connect-parallel = 32
[[queues]]
name = "bench-{}"
from = 1
to = $2
durable = true
[[publishers]]
queue = "bench-{}"
count = $3
connections = $3
rate = $4
confirm-window = 100
[[consumers]]
queue = "bench-{}"
count = $5
connections = $5
prefetch = 20
TOML
}

report() {
    node -e '
        const fs = require("fs");
        const micros = (nanos) => (nanos / 1000).toFixed(0).padStart(8);
        console.log("run              published  consumed  confirm p50 p99 end-to-end p50 p99 (µs)  start skew (µs)");
        for (const file of process.argv.slice(1)) {
            const run = JSON.parse(fs.readFileSync(file, "utf8"));
            const of = (name) => run.latencies.find((it) => it.name === name) ?? {};
            const [confirm, delivery] = [of("confirm"), of("end-to-end")];
            console.log(run.fleet.workers.length + " workers " + file.split("/").pop().padEnd(14),
                run.load.published, run.load.consumed, micros(confirm.p50), micros(confirm.p99),
                micros(delivery.p50), micros(delivery.p99), micros(run.fleet["start-skew-nanos"]),
                run.verdict.kind, run.doubts.map((it) => it.kind).join(" "));
        }
    ' "$@"
}

if [ -n "${CONNECTIONS:-}" ]; then
    half=$((CONNECTIONS / 2))
    write_scenario "${seconds}s" "${QUEUES:-3000}" "$half" 0.2 "$half"
    fleet 4 connections
    report "$results"/connections.json
    exit
fi
write_scenario "${seconds}s" 8 16 60 16
round=1
while [ $round -le "$rounds" ]; do
    for workers in 1 2 4; do
        fleet $workers "$workers-$round"
    done
    round=$((round + 1))
done
fleet 8 8-1
report "$results"/*.json
