#!/bin/sh
# Time to open the page of a large profile in Chromium: six minutes, 3,000 queues, 100,000 distinct stacks, made by
# repeating a real recording. Takes the recording as an argument (.pb.gz). Without one it first records a throwaway
# broker under load.
set -eu
cd "$(dirname "$0")/.."
work=target/bench-page
mkdir -p "$work"
recording=${1:-$work/run/profile-cpu.pb.gz}
if [ ! -f "$recording" ]; then
    rm -rf "$work/run"
    target/release/rabbitscope run scenarios/stream-publish.toml --out "$work/run"
fi
cargo run --locked --quiet --release --package rabbitscope-web --example repeated -- \
    "$recording" "$work/page.html"
[ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
node ui/bench/open.mjs "$work/page.html" 5 | tee "$work/result.json"
node --input-type=module -e '
    import { readFileSync } from "node:fs";
    const { bytes, milliseconds } = JSON.parse(readFileSync(process.argv[1], "utf8"));
    const fits = bytes < 10 * 2 ** 20 && milliseconds.open < 2000;
    console.log(fits ? "within 10 MiB and 2 s" : "NOT within 10 MiB and 2 s");
    process.exit(fits ? 0 : 1);
' "$work/result.json"
