#!/bin/sh
# Shows a real run in the documents: writes the demo's output into README.md, and a picture of its report into
# docs/report.png. Leaves the run in target/readme. Use a quiet machine: a doubtful run is refused.
#
#   scripts/readme.sh PROGRAM SCENARIO
set -eu
cd "$(dirname "$0")/.."
program=${1:?usage: scripts/readme.sh PROGRAM SCENARIO}
scenario=${2:?usage: scripts/readme.sh PROGRAM SCENARIO}
run=target/readme
rm -rf "$run"
"$program" run "$scenario" --plain --out "$run" >"$run.txt"
node scripts/readme.mjs "$run.txt" README.md
[ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
node ui/bench/picture.mjs "$run/report.html" docs/report.png
echo "compare the figures in docs/start/first-report.md with docs/report.png"
