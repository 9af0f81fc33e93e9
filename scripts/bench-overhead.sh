#!/bin/sh
# What profiling costs the broker. One load floods a stream the whole time; a profile is taken of every
# other stretch of it and compared with the stretches before and after, so that what the machine does meanwhile
# does not count as the profile's. Prints every pair (messages a second, CPU time a message, time that the
# host took away from this machine), the medians, and what the recorder took of a core.
#
#   PAIRS=10 SECONDS_EACH=6 FREQ=999 scripts/bench-overhead.sh
#
# SAMPLER=clock has perf's clock tick instead and nothing looked at, which is what the machine charges for
# the rate alone; SAMPLER=perf has perf record -g.
# RATE=15000 publishes so many messages a second instead of as many as the broker takes: then the CPU time
# of a message is what tells. The start and the end of a recording lie outside of the stretches.
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh

sampler=${SAMPLER:-rabbitscope}
[ "$sampler" = rabbitscope ] || need_perf
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
    "$sampler" "${PAIRS:-10}" "${SECONDS_EACH:-6}" "${FREQ:-999}"
