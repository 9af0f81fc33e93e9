#!/bin/sh
# Cost of `watch` for a machine, on an idle and on a saturated broker, at 19 and 99 Hz. Measures CPU time of its process,
# and the time of its kernel program at the ticks, counted by the kernel (kernel.bpf_stats_enabled) without the bare
# clock. In turn, CPU time of the process of `perf record -a -g` at that frequency; perf's work at the ticks is not
# counted. Prints medians of the rounds, memory, and the largest window. NODES=3 makes a cluster of three. As root.
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
