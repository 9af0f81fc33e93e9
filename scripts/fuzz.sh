#!/bin/sh
# Runs every fuzz target for so many seconds (the first argument, 600) or those that are named after
# it. Ends with an error at the first crash and leaves its input in fuzz/artifacts.
set -eu
cd "$(dirname "$0")/../fuzz"
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- frames tables uris erlang_term erlang_frames \
    symbol_blob eh_frame perf_data perf_script folded pprof

host=$(rustc -vV | sed -n 's/^host: //p')
# Coverage as libFuzzer wants it. With a target of its own, build scripts go without.
coverage='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing'
RUSTFLAGS=$(echo $coverage) cargo build --quiet --release --target "$host" \
    $(printf -- '--bin %s ' "$@")

for target in "$@"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    if [ "$target" = frames ]; then
        for recorded in ../crates/amqp/tests/it/recorded/*.bin; do
            { printf '\000\377'; cat "$recorded"; } >"corpus/frames/$(basename "$recorded")"
        done
    fi
    # Real ones to begin with.
    case $target in
    eh_frame) { printf '\377'; cat /bin/true; } >"corpus/eh_frame/true" ;;
    perf_script) printf 'x 1/2 1.5: 1 cycles: \n\t7f $m:f/1+0x2 (/tmp/perf-1.map)\n\n' >corpus/perf_script/one ;;
    perf_data)
        real=../target/bench-profile/real.data
        [ ! -e $real ] || node ../scripts/repeat-perf-data.mjs $real corpus/perf_data/real 50 >/dev/null
        ;;
    esac
    echo "fuzzing $target for $seconds s"
    "target/$host/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=65536 -print_final_stats=1 -verbosity=0 -artifact_prefix="artifacts/$target/" \
        "corpus/$target"
done
