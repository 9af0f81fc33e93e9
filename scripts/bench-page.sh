#!/bin/sh
# Time and memory to open pages of large profiles in Chromium:
#   repeated  six minutes, 3,000 queues, 100,000 distinct stacks, made by repeating a real recording (.pb.gz, the
#             argument). Without one it first records a throwaway broker under load.
#   deep      100,000 and 130,000 distinct stacks of 40 frames (2.5 million nodes), all made up
set -eu
cd "$(dirname "$0")/.."
work=target/bench-page
mkdir -p "$work"
recording=${1:-$work/run/profile-cpu.pb.gz}
if [ ! -f "$recording" ]; then
    rm -rf "$work/run"
    target/release/rabbitscope run scenarios/stream-publish.toml --out "$work/run"
fi
example() {
    cargo run --locked --quiet --release --package rabbitscope-web --example "$@"
}
example repeated -- "$recording" "$work/repeated.html"
example deep -- 100000 "$work/deep-100000.html"
example deep -- 130000 "$work/deep-130000.html"
[ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
failed=0
# Page, MiB, milliseconds until it is drawn, milliseconds of the main thread, MB of anonymous memory.
while read -r page bytes open busy memory; do
    node ui/bench/open.mjs "$work/$page.html" 5 >"$work/$page.json"
    node --input-type=module -e '
        import { readFileSync } from "node:fs";
        const [file, ...most] = process.argv.slice(1);
        const found = JSON.parse(readFileSync(file, "utf8"));
        const busy = found["main-thread-milliseconds"].open;
        const figures = [found.bytes / 2 ** 20, found.milliseconds.open, busy, found["anonymous-megabytes"].peak];
        const [size, open, main, memory] = figures.map((figure) => figure.toFixed(figure < 100 ? 1 : 0));
        const fits = figures.every((figure, at) => figure <= Number(most[at]));
        console.log(`${file}: ${size} MiB, drawn after ${open} ms, main thread busy ${main} ms, ${memory} MB anonymous`);
        if (!fits) console.log(`NOT within ${most[0]} MiB, ${most[1]} ms, ${most[2]} ms, ${most[3]} MB`);
        process.exit(fits ? 0 : 1);
    ' "$work/$page.json" "$bytes" "$open" "$busy" "$memory" || failed=1
done <<'END'
repeated 10 1500 300 200
deep-100000 10 1500 300 200
deep-130000 10 1500 300 200
END
exit "$failed"
