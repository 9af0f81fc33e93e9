#!/bin/sh
# Plants limits and rules on throwaway brokers, and compares what `rabbitscope check` answers with the truth. Prints a
# confusion matrix and the found rules, and writes them into docs/measurements/check.md. Answers are in
# target/bench-check. As root. A case takes half a minute.
#
#   ROUNDS=3 SECONDS_EACH=10 PROVE=1 scripts/bench-check.sh [NAME or KIND...]
#   scripts/bench-check.sh rule healthy
#   scripts/bench-check.sh night
#
# `night` measures the cost of a check on a large node with little to do (scripts/check/night.py).
# PROVE=1 also measures the rate without each limit. scripts/check/__main__.py has the other settings. With names or
# kinds, the documentation stays as it is. Ends with 1 if an answer is wrong.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || {
    echo "bench-check: control groups, networks and profiles need root" >&2
    exit 1
}
[ "${1:-}" != night ] || exec python3 scripts/check/night.py
[ $# -gt 0 ] || export DOCUMENT="${DOCUMENT-docs/measurements/check.md}"
RABBITSCOPE=${RABBITSCOPE:-target/release/rabbitscope} exec python3 scripts/check "$@"
