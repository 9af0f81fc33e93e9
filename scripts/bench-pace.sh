#!/bin/sh
# Tests whether a constant rate is held without bursts. Follows every message of an open-loop publisher and counts the
# messages in every window of 10 ms, one from each message on. Prints a line for each round and writes
# target/bench-pace/rounds.csv. Ends with 1 if a round missed its rate by more than 1 % or had a window above 1.2 times
# the rate.
#
#   ROUNDS=5 SECONDS_EACH=10 RATE=14000 scripts/bench-pace.sh
#
# Late messages are sent at once. So a load generator that was 2 ms without a CPU rightly fills a window to 1.2 times
# the rate. Windows with a message sent more than a millisecond late are counted, but not judged. A round with more
# than 5 % of such windows proves too little, and fails.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-10}
rate=${RATE:-14000}
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
const [, , directory, rate, seconds, round, csv] = process.argv;
const run = JSON.parse(fs.readFileSync(`${directory}/run.json`, "utf8"));
const lines = fs.readFileSync(`${directory}/trace.jsonl`, "utf8").trim().split("\n");
const messages = lines.map((line) => JSON.parse(line));
const lateness = (message) => message["sent-nanos"] - message["intended-nanos"];
const expected = (rate * run["duration-nanos"]) / 1e9;
const miss = Math.abs(messages.length / expected - 1);
// Messages still behind at the end are sent at once.
const during = messages.filter((message) => message["sent-nanos"] < seconds * 1e9);
let most = 0, mostJudged = 0, above = 0, judged = 0, end = 0, late = 0;
during.forEach((message, at) => {
    while (end < during.length && during[end]["sent-nanos"] < message["sent-nanos"] + 1e7) {
        late += lateness(during[end]) > 1e6 ? 1 : 0;
        end += 1;
    }
    most = Math.max(most, end - at);
    if (late === 0) {
        judged += 1;
        mostJudged = Math.max(mostJudged, end - at);
        if (end - at > (1.2 * rate) / 100) above += 1;
    }
    late -= lateness(message) > 1e6 ? 1 : 0;
});
const delays = messages.map(lateness).sort((a, b) => a - b);
const p99 = delays[Math.floor(delays.length * 0.99)], max = delays[delays.length - 1];
const share = judged / during.length;
const milli = (nanos) => (nanos / 1e6).toFixed(2);
const times = (count) => (count / (rate / 100)).toFixed(3);
console.log(
    `round ${round}: ${messages.length} messages, ${(100 * miss).toFixed(3)} % off the rate; ` +
    `${(100 * share).toFixed(1)} % of the windows judged, the fullest ${times(mostJudged)} times the rate, ` +
    `${above} above 1.2; with late messages ${times(most)}; ` +
    `behind the schedule p99 ${milli(p99)} ms, at most ${milli(max)} ms` +
    (share < 0.95 ? " (kept from its CPU: the machine is not quiet)" : ""),
);
fs.appendFileSync(csv, `${round},${messages.length},${miss},${share},${times(mostJudged)},${above},${p99},${max}\n`);
process.exit(miss > 0.01 || above > 0 || share < 0.95 ? 1 : 0);
EOF

mkdir -p "$results"
echo "round,messages,off-by,judged-share,fullest-judged,above,late-p99-nanos,late-max-nanos" >"$results/rounds.csv"
failed=0
for round in $(seq "$rounds"); do
    rm -rf "$work/out"
    "$program" run "$work/pace.toml" --out "$work/out" >/dev/null
    node "$work/judge.js" "$work/out" "$rate" "$seconds" "$round" "$results/rounds.csv" || failed=1
done
exit "$failed"
