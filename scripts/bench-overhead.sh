#!/bin/sh
# What profiling costs the broker. One load floods a stream the whole time; of every other stretch of it a
# sample is taken, by each sampler in turn, and compared with the stretches before and after, so that what the
# machine does meanwhile does not count as the sampler's. Prints every pair (messages a second, CPU time a
# message, time that the host took away from this machine), the medians, what the recorder took of a core, and
# how much more each sampler cost than the bare clock in the same round.
#
#   PAIRS=10 SECONDS_EACH=6 FREQ=999 SAMPLERS="rabbitscope clock perf" scripts/bench-overhead.sh
#
# The clock is perf's, with nothing looked at: what the machine charges for the rate alone. perf is perf
# record -g. Ten pairs of all three take nine minutes.
# RATE=15000 publishes so many messages a second instead of as many as the broker takes: then the CPU time
# of a message is what tells. The start and the end of a recording lie outside of the stretches.
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
