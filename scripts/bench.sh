# Common parts of the benches: a throwaway broker that ends with the script, and readings of it. A script sources this
# from the root of the checkout. At the end, the processes in $children (pids) are interrupted in that order. $work is a
# directory for the time of the script.
# shellcheck shell=sh
program=${RABBITSCOPE:-target/release/rabbitscope}
mkdir -p target
work=$(mktemp -d -p "$PWD/target")
broker=
children=

finish() {
    for child in $children; do
        kill -INT "$child" 2>/dev/null && wait "$child" || true
    done
    stop_broker
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# KEY: prints a value from the output of `broker start`.
# The first of several nodes.
broker_value() { node -p "[].concat(JSON.parse(require('fs').readFileSync('$work/broker.json', 'utf8')))[0]['$1']"; }

# [OPTION...]: starts a broker. Leaves its name in $broker, and its URI in the variable that rabbitscope reads.
start_broker() {
    "$program" broker start --json "$@" >"$work/broker.json"
    broker=$(broker_value name)
    RABBITSCOPE_URI=$(broker_value uri)
    export RABBITSCOPE_URI
}

# QUEUES PUBLISHERS CONSUMERS RATE: starts the load of many-queues.toml without its poller, RATE messages a second from
# each publisher. Returns after it has run for a while. Its pid is in $children.
start_queues_load() {
    sed '/^\[\[pollers\]\]/,$d; /^plugins = /d' scenarios/many-queues.toml >"$work/load.toml"
    "$program" run "$work/load.toml" --out "$work/load" --set run.duration=2h --set queues.0.to="$1" \
        --set publishers.0.count="$2" --set consumers.0.count="$3" --set publishers.0.rate="$4" \
        --set run.self-check=false >"$work/load.log" 2>&1 &
    children=$!
    wait_for_lines "$children" "$work/load.log" "$work/load/series.jsonl" 12 240
}

stop_broker() {
    [ -z "$broker" ] || "$program" broker stop "$broker" >/dev/null || true
    broker=
}

need_perf() {
    command -v perf >/dev/null || {
        [ "$(id -u)" = 0 ] || {
            echo "perf is missing: install linux-perf" >&2
            exit 1
        }
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends linux-perf
    }
}

# PID LOG FILE LINES SECONDS: waits until the process has written this many lines into the file.
wait_for_lines() {
    waited=0
    until [ "$(wc -l 2>/dev/null <"$3" || echo 0)" -ge "$4" ]; do
        kill -0 "$1" 2>/dev/null || {
            cat "$2" >&2
            exit 1
        }
        [ "$((waited += 1))" -le "$5" ] || {
            echo "$3 has fewer than $4 lines after $5 s" >&2
            exit 1
        }
        sleep 1
    done
}
