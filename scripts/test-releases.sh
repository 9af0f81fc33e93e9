#!/bin/sh
# Live tests of nodes, from outside and from inside, and of their logins, against the RabbitMQ and Erlang of several
# releases of Debian. Each release is installed once, in a separate directory, and its brokers run from there. Needs
# root and some 3 GB.
#
#   SUITES='bookworm trixie forky' RELEASES=target/releases scripts/test-releases.sh
#
# After a failure on one release, the others are still tested.
set -eu
cd "$(dirname "$0")/.."
suites=${SUITES:-bookworm trixie forky}
# Tests of the commands that look inside a node, and of `watch`.
inside='inside::plugin_users:: inside::protocols:: inside::queues:: inside::top:: inside::top_unknowns:: inside::tracers::
    profile::owners:: watch::coming_and_going:: watch::sinks::'
[ "$(id -u)" = 0 ] || {
    echo "the tests start brokers in other root directories: run this as root" >&2
    exit 1
}
command -v debootstrap >/dev/null 2>&1 || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap
}
. scripts/release.sh
failed=
for suite in $suites; do
    need_release "$suite"
    echo "== $suite: $(within dpkg-query --showformat '${Package} ${Version}, ' --show rabbitmq-server erlang-base)"
    export RABBITSCOPE_BROKER_ROOT="$root"
    cargo test --locked --no-fail-fast --package rabbitscope-probe --package rabbitscope-erlang || failed="$failed $suite"
    cargo test --locked --no-fail-fast --package rabbitscope-broker --test it -- strangers:: ||
        failed="$failed $suite (strangers)"
    # shellcheck disable=SC2086 # a list of words
    cargo test --locked --no-fail-fast --package rabbitscope --test it -- $inside || failed="$failed $suite (inside)"
done
[ -z "$failed" ] || {
    echo "tests failed on:$failed" >&2
    exit 1
}
