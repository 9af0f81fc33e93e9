#!/bin/sh
# Memory of a live page over time: Chromium follows a throwaway node under load (30 queues, 900 messages a second) for
# MINUTES (40). The page keeps half an hour, so that memory may grow until then, and must be flat afterwards. As root.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh

minutes=${MINUTES:-40}
start_broker
start_queues_load 30 30 60 30
"$program" serve --pid "$(broker_value pid)" >"$work/serve.log" 2>&1 &
serving=$!
children="$serving $children"
wait_for_lines "$serving" "$work/serve.log" "$work/serve.log" 1 60
address=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/serve.log" | head -n 1)
[ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
node ui/bench/follow.mjs "$address" "$minutes" "$serving"
