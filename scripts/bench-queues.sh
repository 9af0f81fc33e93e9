#!/bin/sh
# How long a list of queues takes: 3,000 queues on a throwaway broker; the `queues` command, the
# service of `queues --listen` over a warm connection, and the management interface, in turn.
# QUEUES and REQUESTS change the numbers; RABBITSCOPE names the program, CLIENT what asks.
set -eu
cd "$(dirname "$0")/.."
program=${RABBITSCOPE:-target/release/rabbitscope}
queues=${QUEUES:-3000}
requests=${REQUESTS:-200}

work=$(mktemp -d)
export TMPDIR="$work"
service=
stop() {
    [ -z "$service" ] || kill "$service" 2>/dev/null || true
    "$program" broker stop --all >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap stop EXIT

"$program" broker start --plugins rabbitmq_management --json >"$work/broker.json"
field() { sed -n "s/.*\"$1\": \"\\(.*\\)\".*/\\1/p" "$work/broker.json"; }
management=$(field management-url)

node scripts/bench-queues.mjs declare "$management" "$queues"
sleep 6 # until every queue has written its figures

echo "one-shot, connection and compilation included:"
for _ in 1 2 3 4 5; do
    start=$(date +%s%N)
    "$program" queues --json >"$work/queues.json"
    echo "  $((($(date +%s%N) - start) / 1000000)) ms"
done

"$program" queues --listen 127.0.0.1:0 2>"$work/service" &
service=$!
until grep -q http:// "$work/service"; do sleep 0.1; done
address=$(sed -n 's|.*\(http://[^/]*\)/.*|\1|p' "$work/service")
node scripts/bench-queues.mjs ask "$management" "$address" "$requests"
