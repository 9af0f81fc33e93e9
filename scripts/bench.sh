# What the benches have in common: a throwaway broker that goes away with the script, and what is read of
# it. To be sourced by a script that stands in the root of the checkout. Whatever is in $children (pids) is
# interrupted at the end, in that order; $work is a directory for the time of the script.
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

# KEY: a value from what `broker start` said.
# Of several nodes the first.
broker_value() { node -p "[].concat(JSON.parse(require('fs').readFileSync('$work/broker.json', 'utf8')))[0]['$1']"; }

# [OPTION...]: leaves its name in $broker and its URI where rabbitscope looks for it.
start_broker() {
    "$program" broker start --json "$@" >"$work/broker.json"
    broker=$(broker_value name)
    RABBITSCOPE_URI=$(broker_value uri)
    export RABBITSCOPE_URI
}

# QUEUES PUBLISHERS CONSUMERS RATE: the load of many-queues.toml without its poller, RATE messages a second of each
# publisher; returns when it has gone on for a while. It is in $children.
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

# PID LOG FILE LINES SECONDS: until the process has written so many lines into the file.
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
