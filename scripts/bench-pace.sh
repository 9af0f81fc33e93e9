#!/bin/sh
# Is a constant rate held without bursts? Follows every message of an open-loop publisher and looks at
# every window of 10 ms, one from each message on. Prints a line for each round and writes
# target/bench-pace/rounds.csv; ends with 1 when a round missed its rate by more than 1 % or had a window above
# 1.2 times the rate.
#
#   ROUNDS=5 SECONDS_EACH=10 RATE=14000 scripts/bench-pace.sh
#
# What is late goes at once, so that a load generator that was kept from its CPU for 2 ms fills a window to 1.2
# times the rate by right. A round in which a message was sent more than STALL milliseconds late says nothing of
# the pacing: it is printed, not judged, and made again, three times as many rounds at most.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-10}
rate=${RATE:-14000}
stall=${STALL:-2}
results=target/bench-pace

start_broker

cat >"$work/pace.toml" <<EOF
name = "pace"
run = { duration = "${seconds}s", trace-every = 1, self-check = false }
queues = [{ name = "rabbitscope-pace" }]
[[publishers]]
queue = "rabbitscope-pace"
rate = $rate
[[consumers]]
queue = "rabbitscope-pace"
auto-ack = true
EOF

cat >"$work/judge.js" <<'EOF'
const fs = require("fs");
const [, , directory, rate, seconds, round, csv, stall] = process.argv;
const run = JSON.parse(fs.readFileSync(`${directory}/run.json`, "utf8"));
const lines = fs.readFileSync(`${directory}/trace.jsonl`, "utf8").trim().split("\n");
const messages = lines.map((line) => JSON.parse(line));
const sent = messages.map((message) => message["sent-nanos"]);
const isDuring = (time) => time < seconds * 1e9; // what is still behind at the end goes at once
const late = messages.map((message) => message["sent-nanos"] - message["intended-nanos"]);
late.sort((a, b) => a - b);
const expected = (rate * run["duration-nanos"]) / 1e9;
const miss = Math.abs(sent.length / expected - 1);
let most = 0, above = 0, end = 0;
sent.filter(isDuring).forEach((time, at, sent) => {
    while (end < sent.length && sent[end] < time + 1e7) end += 1;
    most = Math.max(most, end - at);
    if (end - at > (1.2 * rate) / 100) above += 1;
});
const worst = most / (rate / 100);
const milli = (nanos) => (nanos / 1e6).toFixed(2);
const p99 = late[Math.floor(late.length * 0.99)], max = late[late.length - 1];
const isStalled = max > Number(stall) * 1e6;
console.log(
    `round ${round}: ${sent.length} messages, ${(100 * miss).toFixed(3)} % off the rate; ` +
    `fullest 10 ms ${worst.toFixed(3)} times the rate, ${above} windows above 1.2; ` +
    `behind the schedule p99 ${milli(p99)} ms, at most ${milli(max)} ms` +
    (isStalled ? " (kept from its CPU: not judged)" : ""),
);
fs.appendFileSync(csv, `${round},${sent.length},${miss},${worst},${above},${p99},${max},${isStalled}\n`);
process.exit(isStalled ? 2 : miss > 0.01 || above > 0 ? 1 : 0);
EOF

mkdir -p "$results"
echo "round,messages,off-by,fullest-window,windows-above,late-p99-nanos,late-max-nanos,stalled" >"$results/rounds.csv"
failed=0 judged=0 made=0
while [ "$judged" -lt "$rounds" ] && [ "$made" -lt $((3 * rounds)) ]; do
    made=$((made + 1)) status=0
    rm -rf "$work/out"
    "$program" run "$work/pace.toml" --out "$work/out" >/dev/null
    node "$work/judge.js" "$work/out" "$rate" "$seconds" "$made" "$results/rounds.csv" "$stall" || status=$?
    case $status in
    0) judged=$((judged + 1)) ;;
    1) judged=$((judged + 1)) failed=1 ;;
    2) ;;
    *) exit "$status" ;;
    esac
done
echo "$judged of $made rounds judged"
[ "$judged" = "$rounds" ] || { echo "the machine is not quiet enough" >&2; failed=1; }
exit "$failed"
