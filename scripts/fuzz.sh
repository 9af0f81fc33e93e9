#!/bin/sh
# Runs every fuzz target for so many seconds (the first argument, 600) or those that are named after
# it. Ends with an error at the first crash and leaves its input in fuzz/artifacts.
set -eu
cd "$(dirname "$0")/../fuzz"
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- frames tables uris erlang_term erlang_frames

host=$(rustc -vV | sed -n 's/^host: //p')
# Coverage as libFuzzer wants it. With a target of its own, build scripts go without.
coverage='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing'
RUSTFLAGS=$(echo $coverage) cargo build --quiet --release --target "$host" --bins

for target in "$@"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    if [ "$target" = frames ]; then
        for recorded in ../crates/amqp/tests/it/recorded/*.bin; do
            { printf '\000\377'; cat "$recorded"; } >"corpus/frames/$(basename "$recorded")"
        done
    fi
    echo "fuzzing $target for $seconds s"
    "target/$host/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=65536 -print_final_stats=1 -verbosity=0 -artifact_prefix="artifacts/$target/" \
        "corpus/$target"
done
