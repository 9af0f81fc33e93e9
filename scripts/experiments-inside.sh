#!/bin/sh
# Shows why the list of queues is slow: experiments 9 to 11 of docs/measurements/experiments.md in one go. The load is
# 3,000 queues and a poller of /api/queues (scenarios/many-queues.toml). Meanwhile, looks into the node: a trace of the
# handler, its call tree followed into the process that it waits for, and the functions of that process. Prints the
# output of each command; graphs are in target/experiments-inside.
#
#   QUEUES=3000 DURATION=60s scripts/experiments-inside.sh
#
# DURATION limits each look, which ends earlier after two whole calls. The management listener cuts off requests that
# take longer than a minute.
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

# Pages of a broker that the run did not start need a password.
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

# Messages go to standard error, and are kept too.
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
