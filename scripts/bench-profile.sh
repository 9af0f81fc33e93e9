#!/bin/sh
# Time from one recording of perf to folded stacks: this program, perf script with stackcollapse-perf.pl, and inferno.
# Prints every time and writes them into docs/measurements/performance.md.
#
#   SAMPLES=10000000 KEEP=1 scripts/bench-profile.sh
#
# The recording is a real one, of a broker with frame pointers under load, with its samples repeated.
# stackcollapse-perf.pl is in no package of Debian: STACKCOLLAPSE names a copy, otherwise it is fetched.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
samples=${SAMPLES:-10000000}
results=$PWD/target/bench-profile
# The long recording takes gigabytes. It is removed with the rest, unless KEEP is set.
long=$work/long
[ -z "${KEEP:-}" ] || long=$results/long
mkdir -p "$results"

say() { printf 'bench-profile: %s\n' "$*" >&2; }

# --- tools ----------------------------------------------------------------------------------------

need_perf
if [ ! -x "$results/inferno/bin/inferno-collapse-perf" ]; then
    say "installing inferno"
    cargo install --quiet --locked inferno --root "$results/inferno"
fi
# Pinned, so that all measurements use the same script.
commit=41fee1f99f9276008b7cd112fca19dc3ea84ac32
collapse=${STACKCOLLAPSE:-$results/stackcollapse-perf.pl}
if [ ! -e "$collapse" ]; then
    curl --silent --show-error --fail --location --output "$collapse" \
        "https://raw.githubusercontent.com/brendangregg/FlameGraph/$commit/stackcollapse-perf.pl" ||
        { rm -f "$collapse"; say "stackcollapse-perf.pl could not be fetched; give STACKCOLLAPSE=FILE"; exit 1; }
fi

# --- the recording --------------------------------------------------------------------------------

if [ ! -e "$results/real.data" ]; then
    start_broker --erl-args '+JPperf true'
    sed '/^\[profile\]/,/^freq/d; s/^duration = .*/duration = "25s"/' scenarios/stream-publish.toml \
        >"$results/load.toml"
    rm -rf "$results/run"
    "$program" run "$results/load.toml" --out "$results/run" >"$results/run.log" 2>&1 &
    children=$!
    sleep 5
    perf record --quiet -F 2999 -g -p "$(broker_value pid)" -o "$results/real.data" -- sleep 15
    wait "$children" || true
    children=
    stop_broker
fi
say "repeating it"
node scripts/repeat-perf-data.mjs "$results/real.data" "$long.data" "$samples" >"$results/size.txt"
cat "$results/size.txt"

# --- the race -------------------------------------------------------------------------------------

: >"$results/times.txt"
# NAME COMMAND: prints wall-clock seconds, and the peak memory of its largest process in KiB.
race() {
    sync
    /usr/bin/env bash -c 'TIMEFORMAT=%R; time "$@"' race \
        node scripts/most-memory.mjs "$results/memory.txt" sh -c "$2" 2>"$results/time.txt"
    printf '%s\t%s\t%s\n' "$1" "$(tail -1 "$results/time.txt")" "$(cat "$results/memory.txt")" |
        tee -a "$results/times.txt"
}
total() { awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"; }

cat "$long.data" >/dev/null # all begin with the file in memory, as far as it fits
race rabbitscope "'$program' flamegraph '$long.data' -o '$results/rabbitscope.folded'"
race inferno "perf script -i '$long.data' 2>/dev/null | '$results/inferno/bin/inferno-collapse-perf' >'$results/inferno.folded'"
race perl "perf script -i '$long.data' 2>/dev/null | perl '$collapse' >'$results/perl.folded'"
perf script -i "$long.data" >"$long.txt" 2>/dev/null
race inferno-text "'$results/inferno/bin/inferno-collapse-perf' '$long.txt' >'$results/inferno-text.folded'"
race rabbitscope-text "'$program' flamegraph '$long.txt' -o '$results/rabbitscope-text.folded'"

for name in rabbitscope inferno perl inferno-text rabbitscope-text; do
    printf '%s\t%s\n' "$name" "$(total "$results/$name.folded")"
done >"$results/totals.txt"
node scripts/bench-profile.mjs "$results" docs/measurements/performance.md
