#!/bin/sh
# Tests whether identical searches for the highest rate agree. They take turns, step by step, on one throwaway broker,
# because the limit drifts with the machine. The broker has the first half of the CPUs and the load generator the
# other half. Otherwise they take each other's time, and the limit is that of the machine. Needs a quiet machine.
# Prints the result of each search and leaves target/bench-find-rate/searches.csv. Ends with 1 if a search found
# nothing or the highest result is more than 10 % above the lowest.
#
#   SEARCHES=9 STEP=4s CROSSINGS=11 LIMIT='confirm.p50 < 50ms' MIN=8000 scripts/bench-find-rate.sh
#
# The limit is at the median, because single hiccups decide higher percentiles. With more crossings searches agree
# better and take longer.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
searches=${SEARCHES:-9}
step=${STEP:-4s}
crossings=${CROSSINGS:-11}
limit=${LIMIT:-confirm.p50 < 50ms}
min=${MIN:-8000}
results=target/bench-find-rate
rm -rf "$results"
mkdir -p "$results"
cpus=$(nproc)
half=$((cpus / 2))
[ "$half" -ge 1 ] || {
    echo "bench-find-rate needs two CPUs" >&2
    exit 1
}
taskset -p -c "0-$((half - 1))" $$ >/dev/null
start_broker
taskset -p -c "$half-$((cpus - 1))" $$ >/dev/null

cat >"$work/searched.toml" <<'EOF'
name = "searched"
run = { duration = "1s" }
queues = [{ name = "rabbitscope-find-rate" }]
[[publishers]]
queue = "rabbitscope-find-rate"
confirm-window = 1000
[[consumers]]
queue = "rabbitscope-find-rate"
prefetch = 500
multi-ack-every = 100
EOF

# 4 is a result too: the load generator was the limit, or the limit moved.
"$program" find-rate "$work/searched.toml" --searches "$searches" --slo "$limit" --min "$min" --step-time "$step" \
    --crossings "$crossings" --warm-up 1s --out "$results/search" >"$results/text" || [ $? = 4 ]

node -e '
    const [, from, to] = process.argv;
    const fs = require("fs");
    const result = JSON.parse(fs.readFileSync(from, "utf8"));
    const all = result.searches ?? [result];
    fs.writeFileSync(to, ["search,outcome,rate", ...all.map((it, at) => `${at + 1},${it.outcome},${it.rate}`), ""].join("\n"));
    const rates = all.filter((it) => it.outcome === "found").map((it) => it.rate).sort((one, other) => one - other);
    const spread = rates.length ? rates[rates.length - 1] / rates[0] - 1 : NaN;
    console.log(all.map((search) => search.rate ?? search.outcome).join(" "));
    console.log(result.sentence);
    process.exit(rates.length === all.length && spread <= 0.1 ? 0 : 1);
' "$results/search/find-rate.json" "$results/searches.csv"
