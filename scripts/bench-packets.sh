#!/bin/sh
# Speed of the analysis of a capture, in turn with tshark, and the cost of a live capture for the broker. As root.
#
#   ROUNDS=5 SECONDS_EACH=10 SMALL=40000 RATE=60000 scripts/bench-packets.sh
#
# Offline: both read packets of some 200 bytes, one after the other. tcpdump has captured them from SMALL messages a
# second in a write each (the kernel joins the writes of a faster client). tshark takes the fields for a count of AMQP's
# methods. Live: RATE messages a second with and without `packets`, in turn; dropped packets are counted. Prints a line
# for each round, and medians. Memory is the peak of each, for the whole capture and for its first half.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-10}
rate=${RATE:-60000}
small=${SMALL:-40000}
[ "$(id -u)" = 0 ] || {
    echo "captures need root" >&2
    exit 1
}
for tool in tcpdump tshark; do
    command -v $tool >/dev/null || {
        echo "$tool is missing: apt-get install $tool" >&2
        exit 1
    }
done

start_broker
port=$(node -p "new URL('$RABBITSCOPE_URI').port")

# Each message in a write of its own.
cat >"$work/small.toml" <<EOF
name = "small"
run = { duration = "${seconds}s", self-check = false }
queues = [{ name = "rabbitscope-small" }]
[[publishers]]
queue = "rabbitscope-small"
size = "70B"
rate = $small
write = "per-message"
[[consumers]]
queue = "rabbitscope-small"
auto-ack = true
EOF
sed -e "s/^rate = .*/rate = $rate/" -e '/write =/d' "$work/small.toml" >"$work/fixed.toml"

tcpdump -i lo -B 65536 -s 0 -w "$work/small.pcap" "tcp port $port" 2>"$work/tcpdump.log" &
capture=$!
children=$capture
sleep 1
"$program" run "$work/small.toml" --uri "$RABBITSCOPE_URI" --out "$work/small" >/dev/null
kill -INT "$capture"
wait "$capture" || true
children=
cat "$work/tcpdump.log" >&2

cat >"$work/timed.mjs" <<'EOF'
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { quantile } from "SCRIPTS/quantile.mjs";
const [, , program, capture, port, rounds] = process.argv;
const time = (command, ...options) => {
    const from = process.hrtime.bigint();
    const ended = spawnSync(command, options, { maxBuffer: 1 << 30 });
    if (ended.status !== 0) throw new Error(`${command}: ${ended.stderr}`);
    return [Number(process.hrtime.bigint() - from) / 1e9, ended.stdout];
};
const bits = statSync(capture).size * 8;
const ours = [], theirs = [];
for (let round = 1; round <= rounds; round += 1) {
    const [mine, out] = time(program, "packets", "--pcap", capture, "--port", port, "--json");
    const report = JSON.parse(out);
    const [other] = time("tshark", "-r", capture, "-d", `tcp.port==${port},amqp`, "-T", "fields",
        "-e", "amqp.type", "-e", "amqp.method.class", "-e", "amqp.method.method");
    ours.push(bits / mine / 1e9);
    theirs.push(bits / other / 1e9);
    const { packets, bytes } = report.capture;
    console.log(`round ${round}: ${packets} packets of ${(bytes / packets).toFixed(0)} bytes: rabbitscope ` +
        `${mine.toFixed(2)} s, ${ours.at(-1).toFixed(2)} Gbit/s; tshark ${other.toFixed(1)} s, ${theirs.at(-1).toFixed(3)} Gbit/s`);
}
const [mine, other] = [quantile(ours, 0.5), quantile(theirs, 0.5)];
console.log(`offline, medians: ${mine.toFixed(2)} Gbit/s, tshark ${other.toFixed(3)} Gbit/s, ${(mine / other).toFixed(1)} times`);
EOF
sed -i "s|SCRIPTS|$PWD/scripts|" "$work/timed.mjs"
node "$work/timed.mjs" "$program" "$work/small.pcap" "$port" "$rounds"

# COMMAND...: prints its peak memory in MiB.
memory() {
    node scripts/most-memory.mjs "$work/memory" "$@" >/dev/null 2>&1
    node -p "Math.round($(cat "$work/memory") / 1024)"
}
tcpdump -r "$work/small.pcap" -c "$(node -p "Math.round($(capinfos -rcMT "$work/small.pcap" | cut -f2) / 2)")" \
    -w "$work/half.pcap" 2>/dev/null
for capture in half small; do
    echo "memory, $capture: $(memory "$program" packets --pcap "$work/$capture.pcap" --port "$port" --json) MiB," \
        "tshark $(memory tshark -r "$work/$capture.pcap" -d "tcp.port==$port,amqp" -T fields -e amqp.type) MiB"
done

# NAME: prints the rate of consumed messages of a run.
consumed() {
    node -p "const rows = require('fs').readFileSync('$work/$1/series.jsonl', 'utf8').trim().split('\n').map(JSON.parse);
        const of = rows.slice(1, -1).map((row) => row.consumed ?? 0);
        Math.round(of.reduce((sum, next) => sum + next, 0) / of.length)"
}
for round in $(seq "$rounds"); do
    "$program" run "$work/fixed.toml" --uri "$RABBITSCOPE_URI" --out "$work/without-$round" >/dev/null || [ $? = 4 ]
    "$program" run "$work/fixed.toml" --uri "$RABBITSCOPE_URI" --set "packets.duration=${seconds}s" --out "$work/with-$round" >/dev/null || [ $? = 4 ]
    node -p "const { packets } = require('$work/with-$round/run.json');
        'live, round $round: $(consumed "without-$round") without, $(consumed "with-$round") messages/s with; '
        + packets.packets + ' packets, ' + packets.dropped + ' dropped'"
done
