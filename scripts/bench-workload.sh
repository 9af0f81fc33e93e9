#!/bin/sh
# Likeness of loads and their models. Each scenario of scripts/workload runs with its packets; `workload` makes a scenario
# of these, and `workload --compare` runs it. Clients of other projects (scripts/workload/clients) run on a broker and are
# observed: pika and Celery from PyPI, amqp091-go by Go, PerfTest by Java and Maven; a missing one is left out. Then wrong
# models: one value of one group is changed by 20 %, and the comparison must name the group. Prints a row for each, and
# writes docs/measurements/workload.md. Ends with 1 if a wrong model was not told apart. All results are in
# target/bench-workload. At last a node with 2,000 connections is observed. 70 minutes, as root.
#
#   SCENARIOS="rpc bursts" WRONG=no scripts/bench-workload.sh
#   SCENARIOS="" WRONG=no LARGE=yes scripts/bench-workload.sh    only the large node
#
# Use a quiet machine: a load generator that waits for a CPU is another load.
set -eu
cd "$(dirname "$0")/.."
RABBITSCOPE=${RABBITSCOPE:-target/release/rabbitscope} exec python3 scripts/bench-workload.py
