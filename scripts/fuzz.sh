#!/bin/sh
# Runs every fuzz target, or those named after the first argument, one at a time. The first argument is the time of each
# in seconds (600). Prints the progress of each. Ends with an error at the first crash, at an input that takes longer
# than 10 s, or at 2 GiB of memory, and leaves the input in fuzz/artifacts.
#
# The output of libFuzzer is in fuzz/artifacts/TARGET.log. Inputs with new coverage stay in fuzz/corpus, for the next
# run.
set -eu
cd "$(dirname "$0")/../fuzz"
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- frames stream_frames mqtt_packets amqp10_frames tables uris erlang_term \
    erlang_frames symbol_blob memory_image eh_frame perf_data perf_script folded pprof pages dissectors \
    captures reassembly analysis worker_updates fleet_messages likeness

host=$(rustc -vV | sed -n 's/^host: //p')
# Coverage for libFuzzer. The explicit target leaves build scripts without it.
coverage='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing'
RUSTFLAGS=$(echo $coverage) cargo build --locked --quiet --release --target "$host" \
    $(printf -- '--bin %s ' "$@")

# Unwind tables: those of programs of this machine.
elf_seeds() {
    mkdir -p corpus/eh_frame
    { printf '\377'; cat /bin/true; } >corpus/eh_frame/elf
    section=$(mktemp)
    objcopy --dump-section .eh_frame="$section" /bin/true /dev/null
    { printf '\000'; cat "$section"; } >corpus/eh_frame/section
    rm -f "$section"
}

# A recording of perf, if make bench-profile has left one.
perf_seed() {
    real=../target/bench-profile/real.data
    [ ! -e $real ] || node ../scripts/repeat-perf-data.mjs $real corpus/perf_data/real 50 >/dev/null
}

# Pages of runs, which the tests and the demonstration leave, and the elements of each.
page_seeds() {
    find ../runs ../target -maxdepth 4 -name '*.html' -size -400k 2>/dev/null | head -n 40 |
        xargs -r node ../scripts/page-seeds.mjs corpus/pages
}

node ../scripts/fuzz-seeds.mjs
page_seeds
elf_seeds
perf_seed

for target in "$@"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    log=artifacts/$target.log
    if ! "target/$host/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=65536 -print_final_stats=1 -artifact_prefix="artifacts/$target/" \
        "corpus/$target" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "$target: failed; its input is in fuzz/artifacts/$target" >&2
        exit 1
    fi
    # Inputs run; edges reached, and edges with counts; inputs kept.
    sed -n "s|^#\([0-9]*\)[[:space:]]*DONE *cov: \([0-9]*\) ft: \([0-9]*\) corp: \([0-9]*\).*|$target: \
\1 inputs, \2 edges, \3 features, \4 kept|p" "$log"
done
