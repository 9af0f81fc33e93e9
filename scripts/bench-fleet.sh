#!/bin/sh
# Loads of several processes on this machine, over a bus of their own. Compares the measurements of 1, 2 and 4 workers of
# one plan, in turns, and the times of their starts. With 8 workers, measures traffic on the bus and the controller's CPU.
#
#   ROUNDS=4 SECONDS_EACH=10 scripts/bench-fleet.sh
#   CONNECTIONS=10000 QUEUES=3000 NODES=3 scripts/bench-fleet.sh      only this many over 4 workers
#
# Needs Node.js and, as root, ss (iproute2). Prints tables; keeps the run records in target/bench-fleet.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
rounds=${ROUNDS:-4}
seconds=${SECONDS_EACH:-10}
results=target/bench-fleet
rm -rf "$results"
mkdir -p "$results"
# Many connections get a cluster of their own, which the run starts and measures.
[ -n "${CONNECTIONS:-}" ] || start_broker
bus=$("$program" broker start --json)
bus_value() { printf %s "$bus" | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8'))['$1']"; }
RABBITSCOPE_VIA=$(bus_value uri)
export RABBITSCOPE_VIA
bus_name=$(bus_value name)
trap '"$program" broker stop "$bus_name" >/dev/null || true; finish' EXIT

# WORKERS NAME OPTION...: makes a run, with its record in target/bench-fleet/NAME.
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
    [ "$workers" -lt 8 ] || watch_cost "$controller" "$results/$name" "$seconds_of_run"
    # If the run did not begin, its workers would wait for another.
    wait $controller || { echo "bench-fleet: $name ended with $?" >&2; kill -INT $started 2>/dev/null || true; }
    for child in $started; do
        wait "$child" || true
    done
    children=
}

# PID DIRECTORY SECONDS: CPU time of the controller and bytes of the workers on the bus, from the third second on.
watch_cost() {
    until [ -s "$2/series.jsonl" ] && [ "$(wc -l <"$2/series.jsonl")" -ge 3 ]; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.2
    done
    port=$(printf %s "$RABBITSCOPE_VIA" | sed 's/.*:\([0-9]*\).*/\1/')
    before=$(cut -d' ' -f14,15 "/proc/$1/stat") bytes=$(bus_bytes "$port") at=$(date +%s%N)
    sleep "$(($3 - 5))"
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

# SECONDS QUEUES PUBLISHERS RATE CONSUMERS [LINES of the broker]
write_scenario() {
    seconds_of_run=$1
    cat >"$work/scenario.toml" <<TOML
name = "fleet"
[run]
duration = "$1s"
warm-up = "2s"
self-check = false
[broker]
connect-parallel = 32
${6:-}
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

# FILE...: prints a line for each run, and for each number of workers the medians with the range over the rounds.
report() {
    node -e '
        const fs = require("fs");
        const records = process.argv.slice(1).map((file) => {
            const run = JSON.parse(fs.readFileSync(file, "utf8"));
            const of = (name) => run.latencies.find((it) => it.name === name) ?? {};
            const micros = [of("confirm").p50, of("confirm").p99, of("end-to-end").p50, of("end-to-end").p99,
                run.fleet["start-skew-nanos"]].map((nanos) => Math.round(nanos / 1000));
            return { run, micros, workers: run.fleet.workers.length };
        });
        const titles = ["confirm p50", "confirm p99", "end-to-end p50", "end-to-end p99", "start skew"];
        const line = (cells) => console.log(cells.map((cell, at) => String(cell).padStart(at < 3 ? 10 : 17)).join(""));
        console.log("microseconds");
        line(["workers", "published", "consumed", ...titles]);
        for (const { run, micros, workers } of records) {
            line([workers, run.load.published, run.load.consumed, ...micros, run.verdict.kind]);
            for (const doubt of run.doubts) console.log(`  ${doubt.kind}: ${doubt.reason}`);
        }
        const numbers = [...new Set(records.map((it) => it.workers))].sort((a, b) => a - b);
        if (records.length === numbers.length) process.exit();
        console.log("medians of the rounds, with their range");
        for (const workers of numbers) {
            const all = records.filter((it) => it.workers === workers).map((it) => it.micros);
            const cells = titles.map((_, at) => {
                const values = all.map((micros) => micros[at]).sort((a, b) => a - b);
                return `${values[values.length >> 1]} (${values[0]}-${values.at(-1)})`;
            });
            line([workers, "", "", ...cells]);
        }
    ' "$@"
}

if [ -n "${CONNECTIONS:-}" ]; then
    half=$((CONNECTIONS / 2))
    write_scenario "$seconds" "${QUEUES:-3000}" "$half" 0.2 "$half" "nodes = ${NODES:-3}"
    fleet 4 connections
    report "$results"/connections.json
    exit
fi
write_scenario "$seconds" 8 16 60 16
round=1
while [ $round -le "$rounds" ]; do
    # A broker is slower just after its start, so the first number of workers changes from round to round.
    [ $((round % 2)) = 1 ] && order="1 2 4" || order="4 2 1"
    for count in $order; do
        fleet "$count" "$count-$round"
    done
    round=$((round + 1))
done
# Long enough to make a hundredth of a core several ticks of the clock.
write_scenario 30 8 16 60 16
fleet 8 8-1
report "$results"/*.json
