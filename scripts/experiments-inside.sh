#!/bin/sh
# Why is the list of queues slow? Experiments 9 to 11 of docs/measurements/experiments.md in one go: 3,000 queues under
# load with somebody who polls /api/queues (scenarios/many-queues.toml), and meanwhile, in the node, a trace
# of the handler, its call tree followed into the process that it waits for, and the functions of that
# process. Prints what each command prints; graphs are in target/experiments-inside.
#
#   QUEUES=3000 DURATION=60s scripts/experiments-inside.sh
#
# DURATION is that of each look, unless it has seen two whole calls before; the management listener cuts off
# requests that take longer than a minute.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
queues=${QUEUES:-3000}
duration=${DURATION:-60s}
results=target/experiments-inside
handler=rabbit_mgmt_wm_queues:to_json/2
cache=rabbit_mgmt_db_cache_queues
rm -rf "$results"
mkdir -p "$results"
start_broker --plugins rabbitmq_management
management=$(broker_value management-url)

# A broker that is not the run's own is asked for pages with a password.
{
    sed '/^plugins = /d' scenarios/many-queues.toml
    printf 'user = "guest"\npassword-env = "MANAGEMENT_PASSWORD"\n'
} >"$work/load.toml"
MANAGEMENT_PASSWORD=$(broker_value uri | sed 's|^amqp://guest:\([^@]*\)@.*|\1|')
export MANAGEMENT_PASSWORD
"$program" run "$work/load.toml" --out "$results/run" --set run.duration=1h --set queues.0.to="$queues" \
    --set publishers.0.count="$queues" --set consumers.0.count="$((2 * queues))" --set run.self-check=false \
    --set pollers.0.url="${management}api/queues" --set pollers.0.timeout=55s >"$work/load.log" 2>&1 &
children=$!
wait_for_lines "$children" "$work/load.log" "$results/run/series.jsonl" 20 300

# What it says goes to standard error and is kept all the same.
say() {
    printf '\n$ rabbitscope %s\n' "$*"
    "$program" "$@" --node "$broker" 2>&1 || echo "(exit code $?)"
}
{
    say trace "$handler" --limit 3 --duration "$duration"
    say calltree "$handler" --follow --limit 2 --duration "$duration" -o "$results/handler.pb.gz" --slowest "$results/slowest.html"
    say functions --process "$cache" --duration "$duration" --rows 15 -o "$results/cache.html"
} | tee "$results/said.txt"

# The same tree as a picture and as text.
"$program" flamegraph "$results/handler.pb.gz" -o "$results/handler.html" >/dev/null
"$program" flamegraph "$results/handler.pb.gz" -o "$results/handler.folded" >/dev/null
{
    printf '\nMicroseconds, by what the handler does or waits for, ten frames from the bottom:\n'
    awk '{ weight = $NF; sub(/ [0-9]+$/, ""); n = split($0, frames, ";"); key = frames[1]
           for (i = 2; i <= n && i <= 10; i++) key = key ";" frames[i]
           sum[key] += weight }
         END { for (key in sum) print sum[key], key }' "$results/handler.folded" | sort -rn | head -12
} | tee -a "$results/said.txt"
