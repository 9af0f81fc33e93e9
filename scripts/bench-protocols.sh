#!/bin/sh
# Cost of a message by each protocol of the load: a publisher to one stream, at a constant rate and at full speed, by each
# protocol in turn, on one throwaway broker. AMQP and MQTT publish to a topic exchange, the stream protocol to the stream
# itself. Prints medians, and ratios to AMQP 0-9-1 in the same round, and writes them into
# docs/measurements/performance.md. Every measurement is in target/bench-protocols.
#
#   ROUNDS=5 SECONDS_EACH=8 RATE=20000 scripts/bench-protocols.sh
#
# The CPU of the client is that of the whole program after the first two seconds. That of the broker's VM is for all
# messages of a run.
set -eu
cd "$(dirname "$0")/.."
RABBITSCOPE=${RABBITSCOPE:-target/release/rabbitscope} exec python3 scripts/bench-protocols.py
