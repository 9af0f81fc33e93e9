#!/bin/sh
# What `watch` costs a machine, at 19 and 99 Hz, on an idle and on a saturated broker: CPU time of its process, and the
# time that its program takes at the ticks, as the kernel counts it (kernel.bpf_stats_enabled), so that a bare clock is
# not in it. In the same run CPU time of the process of `perf record -a -g` at that frequency. Memory, and the largest
# window. As root.
#
#   SECONDS_EACH=30 scripts/bench-watch.sh
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
[ "$(id -u)" = 0 ] || {
    echo "bench-watch: counting the time of kernel programs needs root" >&2
    exit 1
}
need_perf
start_broker
before=$(cat /proc/sys/kernel/bpf_stats_enabled)
trap 'echo "$before" >/proc/sys/kernel/bpf_stats_enabled; finish' EXIT
echo 1 >/proc/sys/kernel/bpf_stats_enabled
node scripts/bench-watch.mjs "$(realpath "$program")" "$work" "${SECONDS_EACH:-30}"
