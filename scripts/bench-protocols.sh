#!/bin/sh
# Cost of a message by each protocol of the load: a publisher to a stream, at a constant rate and at full speed, by
# AMQP 0-9-1 and by the stream protocol in turn, on one throwaway broker. Prints medians, and the ratio of both
# protocols in the same round. Every measurement is in target/bench-protocols.
#
#   ROUNDS=5 SECONDS_EACH=8 RATE=20000 scripts/bench-protocols.sh
#
# The CPU of the client is that of the whole program after the first two seconds. That of the broker's VM is for all
# messages of a run.
set -eu
cd "$(dirname "$0")/.."
RABBITSCOPE=${RABBITSCOPE:-target/release/rabbitscope} exec python3 scripts/bench-protocols.py
