#!/bin/sh
# Do identical searches for the highest rate agree? All on one throwaway broker, which has the first half of
# the CPUs, while the load generator has the other half: otherwise they take each other's time, and the limit
# that is found is the machine's. Needs a quiet machine. Prints a line for each search and writes target/bench-find-rate/searches.csv; ends with 1 when
# a search found nothing or the highest result is more than 10 % above the lowest.
#
#   SEARCHES=9 STEP=4s CROSSINGS=11 LIMIT='confirm.p50 < 50ms' MIN=8000 scripts/bench-find-rate.sh
#
# The limit is at the median, because above it single hiccups decide; with more crossings searches agree better and take
# longer.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
searches=${SEARCHES:-9}
step=${STEP:-4s}
crossings=${CROSSINGS:-11}
limit=${LIMIT:-confirm.p50 < 50ms}
min=${MIN:-8000}
results=target/bench-find-rate
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

echo "search,outcome,rate,low,high,steps,not-valid,seconds" >"$results/searches.csv"
for search in $(seq "$searches"); do
    begin=$(date +%s)
    rm -rf "$work/out"
    # 4 is a result too: the load generator was the limit, or the limit moved.
    "$program" find-rate "$work/searched.toml" --slo "$limit" --min "$min" --step-time "$step" --crossings "$crossings" --warm-up 1s \
        --out "$work/out" >"$work/text" 2>&1 || [ $? = 4 ] || {
        cat "$work/text" >&2
        exit 1
    }
    grep -A1 '^$' "$work/text" | tail -1
    node -e '
        const found = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
        const { outcome, rate, spread, steps } = found;
        const cells = [outcome, rate, spread?.low, spread?.high, steps.length, found["not-valid"]];
        console.log([process.argv[2], ...cells, process.argv[3]].join(","));
    ' "$work/out/find-rate.json" "$search" "$(($(date +%s) - begin))" >>"$results/searches.csv"
done

node -e '
    const lines = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").slice(1);
    const rows = lines.map((line) => line.split(","));
    const rates = rows.filter((row) => row[1] === "found").map((row) => Number(row[2]));
    rates.sort((a, b) => a - b);
    const spread = rates.length ? rates[rates.length - 1] / rates[0] - 1 : NaN;
    const median = rates[Math.floor(rates.length / 2)];
    console.log(
        `${rates.length} of ${rows.length} searches found the limit: median ${median} messages/s, ` +
        `the highest ${(100 * spread).toFixed(1)} % above the lowest`,
    );
    process.exit(rates.length === rows.length && spread <= 0.1 ? 0 : 1);
' "$results/searches.csv"
