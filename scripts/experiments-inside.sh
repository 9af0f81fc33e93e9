#!/bin/sh
# Why is the list of queues slow? Experiments 9 to 11 of docs/experiments.md in one go: 3,000 queues under
# load with somebody who polls /api/queues (scenarios/many-queues.toml), and meanwhile, in the node, a trace
# of the handler, its call tree followed into the process that it waits for, and the functions of that
# process. Prints what each command prints; graphs are in target/experiments-inside.
#
#   QUEUES=3000 scripts/experiments-inside.sh
set -eu
cd "$(dirname "$0")/.."
program=${RABBITSCOPE:-target/release/rabbitscope}
queues=${QUEUES:-3000}
results=target/experiments-inside
handler=rabbit_mgmt_wm_queues:to_json/2
cache=rabbit_mgmt_db_cache_queues

rm -rf "$results"
mkdir -p "$results"
run=
finish() {
    [ -z "$run" ] || { kill -INT "$run" 2>/dev/null && wait "$run"; } || true
}
trap finish EXIT
trap 'exit 130' INT TERM

# The run has a broker of its own; it is the one whose log is in the run directory.
"$program" run scenarios/many-queues.toml --out "$results/run" --set run.duration=1h --set run.self-check=false \
    --set queues.0.to="$queues" --set publishers.0.count="$queues" --set consumers.0.count="$((2 * queues))" \
    >"$results/run.log" 2>&1 &
run=$!
waited=0
until [ "$(wc -l 2>/dev/null <"$results/run/series.jsonl" || echo 0)" -ge 20 ]; do
    kill -0 "$run" 2>/dev/null || {
        cat "$results/run.log" >&2
        exit 1
    }
    [ "$((waited += 1))" -le 300 ] || {
        echo "the load does not begin" >&2
        exit 1
    }
    sleep 1
done
node=$("$program" broker status --json | node -e '
    const own = require("path").resolve(process.argv[1]);
    const all = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log(all.find((one) => one.log.startsWith(own))?.name ?? "");
' "$results/run")
[ -n "$node" ] || {
    echo "the broker of the run is not listed" >&2
    exit 1
}

say() {
    printf '\n$ rabbitscope %s\n' "$*"
    "$program" "$@" --node "$node" 2>&1 || echo "(exit code $?)"
}
{
    say trace "$handler" --limit 3 --duration 30s
    say calltree "$handler" --follow --duration 20s -o "$results/handler.html" --slowest "$results/slowest.html"
    say calltree "$handler" --follow --duration 20s -o "$results/handler.folded"
    say functions --process "$cache" --duration 10s --rows 15
    printf '\nMicroseconds, by what the handler does or waits for, ten frames from the bottom:\n'
    awk '{ weight = $NF; sub(/ [0-9]+$/, ""); n = split($0, frames, ";"); key = frames[1]
           for (i = 2; i <= n && i <= 10; i++) key = key ";" frames[i]
           sum[key] += weight }
         END { for (key in sum) print sum[key], key }' "$results/handler.folded" | sort -rn | head -12
} | tee "$results/said.txt"
