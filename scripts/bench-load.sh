#!/bin/sh
# Cost of a load generator: rabbitscope and PerfTest in turn, one publisher and one consumer of 12-byte messages, on
# one throwaway broker. Then the load generator by itself, into a byte sink. Prints medians, keeps every single
# measurement, writes docs/measurements/performance.md.
#
#   ROUNDS=5 WARM_UP=5 SECONDS_EACH=10 scripts/bench-load.sh
#   PROTOCOL=mqtt scripts/bench-load.sh     only the load generator by itself, by this protocol, onto the terminal
#   PROTOCOL=all scripts/bench-load.sh      by all protocols, and into the document
#   BODIES="12 100 1000"                    bytes of the bodies there
#
# Each round of a workload runs both programs at full speed, then both at 95 % of PerfTest's rate, rabbitscope also
# with steps of a millisecond. The order changes from round to round. CPU is that of the whole process, user and
# system, from /proc/PID/stat: the difference between the end of the warm-up and the end of the window.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
rounds=${ROUNDS:-5}
warm_up=${WARM_UP:-5}
window=${SECONDS_EACH:-10}
perf_test_version=2.22.1
results=target/bench-load

bodies=${BODIES:-12 100 1000}
sink_seconds=${SINK_SECONDS:-5}
document=docs/measurements/performance.md

sinks() { # PROTOCOLS
    cargo build --locked --quiet --release --package rabbitscope-load --example sink
    cargo build --locked --quiet --release --package rabbitscope-amqp --example codec
    mkdir -p "$results"
    rm -f "$results"/sink-*.jsonl
    for protocol in $1; do
        for body in $bodies; do
            of_protocol=$results/sink-$protocol.jsonl
            target/release/examples/sink "$rounds" "$sink_seconds" "$protocol" "$body" | tee -a "$of_protocol"
        done
    done
    target/release/examples/codec >"$results/codec.txt"
}
protocols="amqp-0-9-1 amqp-1.0 mqtt stream"
if [ "${PROTOCOL:-all}" != all ]; then
    sinks "$PROTOCOL"
    exit
fi
if [ -n "${PROTOCOL:-}" ]; then
    sinks "$protocols"
    node scripts/bench-load.mjs sinks "$results" "$document" "$rounds" "$sink_seconds"
    exit
fi

for tool in java mvn node; do
    command -v "$tool" >/dev/null 2>&1 && continue
    echo "bench-load compares with PerfTest and needs $tool: install a Java runtime, Maven and Node.js" \
        "(Debian: default-jre-headless maven nodejs)" >&2
    exit 1
done

rm -rf "$results"
mkdir -p "$results"

# --- workloads: the same for both -----------------------------------------------------------------

scenario() { # WORKLOAD RATE STEP; empty: as fast as it goes, steps as they come
    printf 'name = "bench-load"\n[run]\nduration = "%ss"\n' "$((warm_up + window + 3))"
    [ -z "$3" ] || printf 'step = "%s"\n' "$3"
    rate=${2:+"rate = $2"}
    case $1 in
    classic-autoack) cat <<TOML ;;
[[queues]]
name = "bench-rabbitscope"
auto-delete = true
durable = false
[[publishers]]
queue = "bench-rabbitscope"
$rate
[[consumers]]
queue = "bench-rabbitscope"
auto-ack = true
TOML
    classic-confirm) cat <<TOML ;;
[[queues]]
name = "bench-rabbitscope"
auto-delete = true
durable = false
[[publishers]]
queue = "bench-rabbitscope"
confirm-window = 1000
$rate
[[consumers]]
queue = "bench-rabbitscope"
prefetch = 500
multi-ack-every = 100
TOML
    stream-publish) cat <<TOML ;;
[[queues]]
name = "bench-rabbitscope"
type = "stream"
arguments = { x-max-length-bytes = 500000000 }
[[publishers]]
queue = "bench-rabbitscope"
persistent = true
confirm-window = 2000
$rate
TOML
    esac
}

perf_test_options() { # WORKLOAD
    case $1 in
    classic-autoack) echo "-x 1 -y 1 -s 12 -u bench-perf-test -a" ;;
    classic-confirm) echo "-x 1 -y 1 -s 12 -u bench-perf-test -c 1000 -q 500 -A 100" ;;
    stream-publish)
        echo "-x 1 -y 0 -s 12 -u bench-perf-test-stream -sq -qa x-max-length-bytes=500000000" \
            "-f persistent -c 2000"
        ;;
    esac
}

# --- one measurement ------------------------------------------------------------------------------

cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
now_nanos() { date +%s%N; }

start() { # TOOL WORKLOAD RATE; leaves the process in $children and its seconds in $seconds
    out=$results/last
    rm -rf "$out"
    mkdir "$out"
    if [ "$1" != perf-test ]; then
        step=${1#rabbitscope}
        scenario "$2" "$3" "${step#-}" >"$out/scenario.toml"
        "$program" run "$out/scenario.toml" --out "$out/run" >"$out/log" 2>&1 &
        seconds=$out/run/series.jsonl
    else
        # shellcheck disable=SC2046 # a list of words
        java -cp "$jars/*" com.rabbitmq.perf.PerfTest -h "$RABBITSCOPE_URI" \
            $(perf_test_options "$2") ${3:+--rate "$3"} -z "$((warm_up + window + 3))" >"$out/log" 2>&1 &
        seconds=$out/log
    fi
    children=$!
}

measure() { # TOOL WORKLOAD KIND ROUND RATE
    start "$1" "$2" "$5"
    until grep -q published "$seconds" 2>/dev/null || grep -q 'sent:' "$seconds" 2>/dev/null; do
        kill -0 "$children" 2>/dev/null || {
            echo "$1 ended before it sent anything:" >&2
            cat "$results/last/log" >&2
            exit 1
        }
        sleep 0.1
    done
    sleep "$warm_up"
    ticks=$(cpu_ticks "$children") from=$(now_nanos)
    sleep "$window"
    ticks=$(($(cpu_ticks "$children") - ticks)) nanos=$(($(now_nanos) - from))
    wait "$children" || true
    children=
    node scripts/bench-load.mjs measured "$results/measurements.jsonl" \
        "$1" "$2" "$3" "$4" "$seconds" "$warm_up" "$window" "$ticks" "$(getconf CLK_TCK)" "$nanos"
}

both() { # WORKLOAD KIND ROUND RATE
    if [ $(($3 % 2)) = 1 ]; then first=rabbitscope second=perf-test; else first=perf-test second=rabbitscope; fi
    measure "$first" "$1" "$2" "$3" "$4"
    measure "$second" "$1" "$2" "$3" "$4"
}

all() { # WORKLOAD KIND ROUND RATE
    both "$@"
    measure rabbitscope-1ms "$@"
}

# --- all of them ----------------------------------------------------------------------------------

jars=$(scripts/perf-test.sh)
start_broker

for workload in ${WORKLOADS:-classic-autoack classic-confirm stream-publish}; do
    round=1
    while [ "$round" -le "$rounds" ]; do
        both "$workload" saturation "$round" ""
        rate=$(node scripts/bench-load.mjs limit "$results/measurements.jsonl" "$workload" "$round")
        all "$workload" same-rate "$round" "$rate"
        round=$((round + 1))
    done
done
stop_broker

sinks "$protocols" >/dev/null
node scripts/bench-load.mjs report "$results" "$document" "$perf_test_version" "$warm_up" "$window"
node scripts/bench-load.mjs sinks "$results" "$document" "$rounds" "$sink_seconds"
