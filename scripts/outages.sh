#!/bin/sh
# Reports of runs with a failing broker: makes the table in docs/measurements/faults.md from runs of 10 s on separate
# brokers, by the tests that check the same in shorter runs. Takes two minutes. Prints the table and leaves it in
# target/outages.md.
#
#   SECONDS_EACH=10 scripts/outages.sh
set -eu
cd "$(dirname "$0")/.."
table=$PWD/target/outages.md
mkdir -p target
cat >"$table" <<'END'
| fault | exit code | verdict | reason | errors | published | confirmed | consumed | late | by the client | overdue | without service, s | alarm, s | confirm from the schedule p99.9, ms |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
END
RABBITSCOPE_OUTAGES_TABLE=$table RABBITSCOPE_OUTAGES_SECONDS=${SECONDS_EACH:-10} \
    cargo test --locked --quiet --package rabbitscope --test it outages:: -- --test-threads 1 >&2
cat "$table"
