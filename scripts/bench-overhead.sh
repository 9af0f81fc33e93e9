#!/bin/sh
# Cost of profiling for the broker. One load floods a stream the whole time. Each sampler in turn records every other
# stretch of it. The neighbouring stretches are the comparison, so that other work of the machine does not count as the
# sampler's. Prints every pair (messages a second, CPU time a message, time taken by the host) and the medians. Also
# prints the recorder's share of a core, and each sampler's cost above the bare clock of the same round.
#
#   PAIRS=10 SECONDS_EACH=6 FREQ=999 SAMPLERS="rabbitscope clock perf" scripts/bench-overhead.sh
#
# The clock is that of perf without any sampling: the price of the rate alone. perf is perf record -g. Ten pairs of all
# three take nine minutes. RATE=15000 publishes at this rate instead of flooding; then the CPU time of a message is the
# measure. The start and the end of a recording lie outside of the stretches.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh

samplers=${SAMPLERS:-rabbitscope clock perf}
[ "$samplers" = rabbitscope ] || need_perf
start_broker
rate=${RATE:+rate = $RATE}
cat >"$work/load.toml" <<EOF
name = "overhead"
[run]
duration = "2h"
self-check = false
[[queues]]
name = "rabbitscope-overhead"
type = "stream"
arguments = { x-max-length-bytes = 500000000 }
[[publishers]]
queue = "rabbitscope-overhead"
size = "12B"
persistent = true
$rate
confirm-window = 2000
EOF
node scripts/bench-overhead.mjs "$program" "$work" "$(broker_value pid)" \
    "$samplers" "${PAIRS:-10}" "${SECONDS_EACH:-6}" "${FREQ:-999}"
