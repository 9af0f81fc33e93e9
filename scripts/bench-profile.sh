#!/bin/sh
# How long folded stacks take from one recording of perf: this program, perf script with
# stackcollapse-perf.pl, and inferno. Prints every time and writes them into docs/performance.md.
#
#   SAMPLES=10000000 KEEP=1 scripts/bench-profile.sh
#
# The recording is a real one, of a broker with frame pointers under load, whose samples are repeated.
# stackcollapse-perf.pl is in no package of Debian: STACKCOLLAPSE names a copy, else it is fetched.
set -eu
cd "$(dirname "$0")/.."
samples=${SAMPLES:-10000000}
program=$PWD/target/release/rabbitscope
work=$PWD/target/bench-profile
broker=
load=
mkdir -p "$work"

say() { printf 'bench-profile: %s\n' "$*" >&2; }
finish() {
    [ -z "$load" ] || kill "$load" 2>/dev/null || true
    [ -z "$broker" ] || "$program" broker stop "$broker" >/dev/null || true
    [ -n "${KEEP:-}" ] || rm -f "$work/long.data" "$work/long.txt"
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- tools ----------------------------------------------------------------------------------------

if ! command -v perf >/dev/null; then
    [ "$(id -u)" = 0 ] || { say "perf is missing: install linux-perf"; exit 1; }
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends linux-perf
fi
if [ ! -x "$work/inferno/bin/inferno-collapse-perf" ]; then
    say "installing inferno"
    cargo install --quiet --locked inferno --root "$work/inferno"
fi
# Pinned, so that everybody measures the same script.
commit=41fee1f99f9276008b7cd112fca19dc3ea84ac32
collapse=${STACKCOLLAPSE:-$work/stackcollapse-perf.pl}
if [ ! -e "$collapse" ]; then
    curl --silent --show-error --fail --location --output "$collapse" \
        "https://raw.githubusercontent.com/brendangregg/FlameGraph/$commit/stackcollapse-perf.pl" ||
        { rm -f "$collapse"; say "stackcollapse-perf.pl could not be fetched; give STACKCOLLAPSE=FILE"; exit 1; }
fi

# --- the recording --------------------------------------------------------------------------------

value() { node -p "JSON.parse(require('fs').readFileSync('$work/broker.json', 'utf8'))['$1']"; }
if [ ! -e "$work/real.data" ]; then
    "$program" broker start --erl-args '+JPperf true' --json >"$work/broker.json"
    broker=$(value name)
    RABBITSCOPE_URI=$(value uri)
    export RABBITSCOPE_URI
    sed '/^\[profile\]/,/^freq/d; s/^duration = .*/duration = "25s"/' scenarios/stream-publish.toml \
        >"$work/load.toml"
    rm -rf "$work/run"
    "$program" run "$work/load.toml" --out "$work/run" >"$work/run.log" 2>&1 &
    load=$!
    sleep 5
    perf record --quiet -F 2999 -g -p "$(value pid)" -o "$work/real.data" -- sleep 15
    wait "$load" || true
    load=
    "$program" broker stop "$broker" >/dev/null
    broker=
fi
say "repeating it"
node scripts/repeat-perf-data.mjs "$work/real.data" "$work/long.data" "$samples" >"$work/size.txt"
cat "$work/size.txt"

# --- the race -------------------------------------------------------------------------------------

: >"$work/times.txt"
# NAME COMMAND: wall-clock seconds, and the most memory of a process of it in KiB.
race() {
    sync
    /usr/bin/env bash -c 'TIMEFORMAT=%R; time "$@"' race \
        node scripts/most-memory.mjs "$work/memory.txt" sh -c "$2" 2>"$work/time.txt"
    printf '%s\t%s\t%s\n' "$1" "$(tail -1 "$work/time.txt")" "$(cat "$work/memory.txt")" |
        tee -a "$work/times.txt"
}
total() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"; }

cat "$work/long.data" >/dev/null # all begin with the file in memory, as far as it fits
race rabbitscope "'$program' flamegraph '$work/long.data' -o '$work/rabbitscope.folded'"
race inferno "perf script -i '$work/long.data' 2>/dev/null | '$work/inferno/bin/inferno-collapse-perf' >'$work/inferno.folded'"
race perl "perf script -i '$work/long.data' 2>/dev/null | perl '$collapse' >'$work/perl.folded'"
perf script -i "$work/long.data" >"$work/long.txt" 2>/dev/null
race inferno-text "'$work/inferno/bin/inferno-collapse-perf' '$work/long.txt' >'$work/inferno-text.folded'"
race rabbitscope-text "'$program' flamegraph '$work/long.txt' -o '$work/rabbitscope-text.folded'"

for name in rabbitscope inferno perl inferno-text rabbitscope-text; do
    printf '%s\t%s\n' "$name" "$(total "$work/$name.folded")"
done >"$work/totals.txt"
node scripts/bench-profile.mjs "$work" docs/performance.md
