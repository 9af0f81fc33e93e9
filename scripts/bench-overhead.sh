#!/bin/sh
# What profiling costs the broker: throughput of the same load with and without a profile, on one
# broker, in pairs whose order alternates. Prints every pair and the median loss; then what the recorder
# itself takes of a core while it records the same load.
#
#   PAIRS=10 SECONDS_EACH=8 FREQ=999 scripts/bench-overhead.sh
#
# The rate of an arm is the median of its seconds 2 and later, all of which lie inside the profile.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
pairs=${PAIRS:-10}
seconds=${SECONDS_EACH:-8}
freq=${FREQ:-999}

start_broker

cat >"$work/without.toml" <<EOF
name = "overhead"
[run]
duration = "${seconds}s"
[[queues]]
name = "rabbitscope-overhead"
type = "stream"
arguments = { x-max-length-bytes = 500000000 }
[[publishers]]
queue = "rabbitscope-overhead"
size = "12B"
persistent = true
confirm-window = 2000
EOF
{
    cat "$work/without.toml"
    printf '[profile]\ndelay = "1s"\nduration = "%ss"\nfreq = %s\n' "$((seconds - 1))" "$freq"
} >"$work/with.toml"

# Confirmed messages a second.
rate() {
    rm -rf "$work/out"
    "$program" run "$work/$1.toml" --out "$work/out" >/dev/null
    node -e '
        const fs = require("fs");
        const rows = fs.readFileSync(process.argv[1], "utf8").trim().split("\n").map((line) => JSON.parse(line));
        const rates = rows.filter((row) => row.second >= 2 && !row.draining && row["interval-nanos"] > 5e8)
            .map((row) => (row.confirmed * 1e9) / row["interval-nanos"]).sort((a, b) => a - b);
        console.log(Math.round(rates[Math.floor(rates.length / 2)]));
    ' "$work/out/series.jsonl"
}

rate without >/dev/null # warms the broker up
printf '%4s  %12s  %12s  %7s\n' pair "without/s" "with/s" "loss %"
pair=1
while [ "$pair" -le "$pairs" ]; do
    if [ $((pair % 2)) = 1 ]; then
        without=$(rate without) with=$(rate with)
    else
        with=$(rate with) without=$(rate without)
    fi
    loss=$(node -p "(100 * (1 - $with / $without)).toFixed(2)")
    printf '%4s  %12s  %12s  %7s\n' "$pair" "$without" "$with" "$loss"
    echo "$loss" >>"$work/losses"
    pair=$((pair + 1))
done
node -e '
    const losses = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map(Number).sort((a, b) => a - b);
    const at = (share) => losses[Math.round(share * (losses.length - 1))];
    const middle = losses.length / 2;
    const median = losses.length % 2 ? losses[Math.floor(middle)] : (losses[middle - 1] + losses[middle]) / 2;
    console.log(`median loss at '"$freq"' Hz: ${median.toFixed(2)} % (quartiles ${at(0.25)} and ${at(0.75)}, ${losses.length} pairs)`);
' "$work/losses"

# Clock ticks of a process so far, in user and system mode.
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

sed "s/^duration = .*/duration = \"40s\"/" "$work/without.toml" >"$work/load.toml"
rm -rf "$work/out"
"$program" run "$work/load.toml" --out "$work/out" >"$work/run.log" &
load=$!
children=$load
wait_for_lines "$load" "$work/run.log" "$work/out/series.jsonl" 2 60
"$program" profile --pid "$(broker_value pid)" --freq "$freq" --duration 30s -o "$work/profile.pb.gz" >/dev/null &
recorder=$!
children="$recorder $load"
# Not its start and not its end, when the page is made.
sleep 5
before=$(ticks "$recorder")
sleep 20
after=$(ticks "$recorder")
echo "the recorder: $(node -p "(($after - $before) / 20 / $(getconf CLK_TCK) * 100).toFixed(2)") % of one core"
