#!/bin/sh
# Time for a list of 3,000 queues on a broker under load (3,000 publishers, 6,000 consumers, the
# management plugin on): the management interface, the service of `queues --listen` and the plugin
# rabbitmq_queue_info in turn, each over a warm connection; then the one-shot command. Prints quantiles
# and ratios, keeps every single measurement, writes docs/measurements/performance.md.
#
#   QUEUES=3000 ROUNDS=60 RATE=0.5 scripts/bench-queues.sh
#
# RATE is in messages a second for each publisher. DOCUMENT= (empty) leaves the document alone.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
queues=${QUEUES:-3000}
rounds=${ROUNDS:-60}
rate=${RATE:-0.5}
document=${DOCUMENT-docs/measurements/performance.md}
results=target/bench-queues
mkdir -p "$results"
plugin/rabbitmq_queue_info/build.sh "$work/plugins" >/dev/null
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); });')
echo "[{rabbitmq_queue_info, [{listener, [{ip, \"127.0.0.1\"}, {port, $port}]}]}]." >"$work/advanced.config"
start_broker --plugins rabbitmq_management,rabbitmq_queue_info --plugins-directory "$work/plugins" \
    --advanced-config "$work/advanced.config"
management=$(broker_value management-url)

# The load of the experiments without the poller, because here other clients ask.
start_queues_load "$queues" "$queues" "$((2 * queues))" "$rate"

"$program" queues --node "$broker" --listen 127.0.0.1:0 2>"$work/service" &
service=$!
children="$service $children"
until grep -q http:// "$work/service"; do
    kill -0 "$service" || {
        cat "$work/service" >&2
        exit 1
    }
    sleep 0.1
done
address=$(sed -n 's|.*\(http://[^/]*\)/.*|\1|p' "$work/service")

node scripts/bench-queues.mjs measure "$results/measurements.jsonl" "$rounds" "$queues" \
    "management=${management}api/queues" \
    "management-totals=${management}api/queues?disable_stats=true&enable_queue_totals=true" \
    "service=$address/queues" \
    "plugin=http://127.0.0.1:$port/queue-info" \
    -- "$program" queues --node "$broker" --json
node scripts/bench-queues.mjs report "$results/measurements.jsonl" "$work/load/series.jsonl" "$document"
