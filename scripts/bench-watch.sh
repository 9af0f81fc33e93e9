#!/bin/sh
# What `watch` costs a machine, on an idle and on a saturated broker, at 19 and 99 Hz: CPU time of its process, and the
# time that its program takes at the ticks, as the kernel counts it (kernel.bpf_stats_enabled), so that a bare clock is
# not in it. In turn, the CPU time of the process of `perf record -a -g` at that frequency; what perf does at the ticks is
# counted by nobody. Medians of the rounds. Memory, and the largest window. With NODES=3 a cluster of three. As root.
#
#   SECONDS_EACH=20 ROUNDS=3 NODES=1 LOADS='idle busy' FREQUENCIES='19 99' scripts/bench-watch.sh
set -eu
cd "$(dirname "$0")/.."
. scripts/bench.sh
[ "$(id -u)" = 0 ] || {
    echo "bench-watch: counting the time of kernel programs needs root" >&2
    exit 1
}
need_perf
start_broker --nodes "${NODES:-1}"
before=$(cat /proc/sys/kernel/bpf_stats_enabled)
trap 'echo "$before" >/proc/sys/kernel/bpf_stats_enabled; finish' EXIT
echo 1 >/proc/sys/kernel/bpf_stats_enabled
printf '[nodes]\nonly = ["%s*"]\n' "$broker" >"$work/watch.toml"
node scripts/bench-watch.mjs "$(realpath "$program")" "$work" "${SECONDS_EACH:-20}" "${ROUNDS:-3}" "${LOADS:-idle busy}" \
    "${FREQUENCIES:-19 99}"
