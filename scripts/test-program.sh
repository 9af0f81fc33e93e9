#!/bin/sh
# Runs a test program for cargo beside those before it, in one of LANES lanes. Cargo starts the next one when a lane is
# free. The output of a program appears at its end. Cargo learns no result: a failed program has a line in FAILED.
#
#   LANES=2 LANE_FILES=DIRECTORY FAILED=FILE test-program.sh PROGRAM ARGUMENT…
set -eu
lane=1
exec 9>"$LANE_FILES/1"
until flock --nonblock 9; do
    lane=$((lane % LANES + 1))
    [ "$lane" != 1 ] || sleep 0.1
    exec 9>"$LANE_FILES/$lane"
done

for word in "$@"; do
    case $word in
    */it-*) selection="--test it" ;;
    */deps/*) selection="--lib" ;;
    esac
done

# The lock of the lane lasts as long as this process. What a test leaves behind must not hold it.
{
    output=$(mktemp)
    "$@" >"$output" 2>&1 9>&- || echo "error: test failed, to rerun pass \`-p $CARGO_PKG_NAME $selection\`" |
        tee -a "$FAILED" >>"$output"
    flock "$LANE_FILES" cat "$output"
    rm -f "$output"
} &
