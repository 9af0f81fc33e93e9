#!/bin/sh
# Clicks and seconds in which a script in Chromium answers five questions of a reader: which queue costs most, is it
# waiting or computing, what changed between two spans, who calls this function, which second was bad. The pages are the
# report of a load with its CPU profile, and a profile of CPU and waiting beside the same load.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh

start_broker
load() {
    "$program" run scenarios/classic-confirm.toml --plain --set run.duration=20s "$@"
}
load --set profile.event=cpu --set profile.duration=18s --out "$work/run"
load --out "$work/beside" >"$work/load.log" 2>&1 &
children=$!
wait_for_lines "$children" "$work/load.log" "$work/beside/series.jsonl" 3 60
"$program" profile --event cpu,off-cpu --duration 8s --pid "$(broker_value pid)" --output "$work/profile.html"
wait "$children"
children=
[ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
node ui/bench/questions.mjs "$work/run/report.html" "$work/profile-cpu.html"
