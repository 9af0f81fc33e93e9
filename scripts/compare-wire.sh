#!/bin/sh
# Compares the dissectors of crates/wire with tshark, in captures of real clients with a broker of their own: frames by
# kind, and the publish of each confirm. AMQP 0-9-1: rabbitscope, pika, Java (PerfTest); AMQP 1.0: Qpid Proton; MQTT:
# Paho. tshark does not know the stream protocol; for rstream, lists the frames and the number of confirmed publishes.
#
#   CLIENTS="ours pika java proton rstream paho" KEEP=DIRECTORY scripts/compare-wire.sh
#
# Needs root for tcpdump, Python's venv for the clients in it, Java and Maven for PerfTest. Prints a table. Ends with an
# error if anything differs. KEEP: directory for captures and tshark's counts.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
clients=${CLIENTS:-ours pika java proton rstream paho}

for tool in tcpdump tshark node python3; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "compare-wire needs $tool: install it (Debian: tcpdump tshark nodejs python3-venv)" >&2
        exit 1
    }
done

python=$work/python/bin/python
case $clients in *pika* | *proton* | *rstream* | *paho*)
    if [ -n "${WIRE_PYTHON:-}" ]; then
        python=$WIRE_PYTHON
    else
        python3 -m venv "$work/python"
        "$work/python/bin/pip" install --quiet pika python-qpid-proton rstream paho-mqtt
    fi
    ;;
esac
case $clients in *java*) jars=$(scripts/perf-test.sh) ;; esac

cargo build --locked --quiet --release --package rabbitscope-wire --example frames
# Small frames, so that messages take several.
echo "frame_max = 8192" >"$work/broker.conf"
start_broker --config "$work/broker.conf" --plugins rabbitmq_stream,rabbitmq_mqtt,rabbitmq_amqp1_0

port() { # PROTOCOL
    node -p "JSON.parse(require('fs').readFileSync('$work/broker.json', 'utf8')).listeners.find((it) => it.protocol === '$1').port"
}
amqp=$(port amqp) stream=$(port stream) mqtt=$(port mqtt)

ours() {
    cat >"$work/ours.toml" <<'TOML'
name = "compare-wire"
[run]
duration = "4s"
[[queues]]
name = "wire-ours"
auto-delete = true
durable = false
[[queues]]
name = "wire-ours-requests"
auto-delete = true
durable = false
[[publishers]]
queue = "wire-ours"
rate = 2000
confirm-window = 100
[[consumers]]
queue = "wire-ours"
prefetch = 50
multi-ack-every = 10
[[requests]]
queue = "wire-ours-requests"
count = 5
messages = 200
reply = "queue"
[[responders]]
queue = "wire-ours-requests"
prefetch = 5
TOML
    "$program" run "$work/ours.toml" --out "$work/ours-run" >"$work/ours.log" 2>&1
}

java_client() {
    java -cp "$jars/*" com.rabbitmq.perf.PerfTest -h "$RABBITSCOPE_URI" -u wire-java -x 1 -y 1 -c 100 -q 50 -A 10 \
        --size 2000 -C 2000 -D 2000 >"$work/java.log" 2>&1
}

python_client() { # CLIENT PORT
    timeout 60 "$python" scripts/wire-clients.py "$1" RABBITSCOPE_URI "$2" >"$work/$1.log" 2>&1
}

failed=no
for client in $clients; do
    case $client in
    rstream) port=$stream dissector=none ;;
    paho) port=$mqtt dissector=mqtt ;;
    *) port=$amqp dissector=amqp ;;
    esac
    capture=$work/$client.pcap
    tcpdump -i lo -B 16384 -U -w "$capture" "tcp port $port" 2>"$work/tcpdump.log" &
    children=$!
    until grep -q 'listening on' "$work/tcpdump.log"; do sleep 0.1; done
    case $client in
    ours) run=ours ;;
    java) run=java_client ;;
    *) run="python_client $client $port" ;;
    esac
    $run || {
        echo "$client failed:" >&2
        tail -n 20 "$work/$client.log" >&2
        exit 1
    }
    sleep 1
    kill -INT "$children"
    wait "$children" || true
    children=
    ! grep -E '^[1-9][0-9]* packets dropped by kernel' "$work/tcpdump.log" || exit 1
    target/release/examples/frames "$capture" "$port" kinds >"$work/$client.ours"
    for what in settled messages latencies; do
        target/release/examples/frames "$capture" "$port" "$what" >"$work/$client.$what"
    done
    [ "$dissector" = none ] || tshark -r "$capture" -d "tcp.port==$port,$dissector" -T fields -e frame.number \
        -e amqp.type -e amqp.method.class -e amqp.method.method -e amqp.performative -e amqp.sasl.method \
        -e mqtt.msgtype -e amqp.message_in >"$work/$client.tshark" 2>/dev/null
    node scripts/compare-wire.mjs "$work" "$client" "$dissector" || failed=yes
done
# The constants of the crate's tests in tests/it/recorded. The broker and its password no longer exist.
if [ -n "${KEEP:-}" ]; then
    cp "$work"/*.pcap "$work"/*.kinds "$KEEP"
    {
        echo "pub(super) const AMQP: u16 = $amqp;"
        echo "pub(super) const STREAM: u16 = $stream;"
        echo "pub(super) const MQTT: u16 = $mqtt;"
        echo "pub(super) const PASSWORD: &[u8] = b\"$(broker_value uri | sed 's/.*:\(.*\)@.*/\1/')\";"
    } >"$KEEP/broker.rs"
fi
[ "$failed" = no ]
