#!/bin/sh
# Checks the Erlang code: each file of agent/ and each assembled module compiles without a warning, and all called
# functions exist. Does without dialyzer, because nothing else needs its package.
set -eu
cd "$(dirname "$0")/.."

# The build script of crates/erlang has assembled the modules (build.rs). With the features that the whole workspace
# needs, nothing is compiled again after `cargo clippy --workspace`.
assembled=$(cargo check --locked --quiet --workspace --message-format json |
    sed -n '/"reason":"build-script-executed".*rabbitscope-erlang\|crates\/erlang/s/.*"out_dir":"\([^"]*\)".*/\1/p' | tail -n 1)
[ -d "$assembled" ] || {
    echo "lint: the build script of crates/erlang has not run" >&2
    exit 1
}
escript scripts/lint-agent.escript agent "$assembled"
escript scripts/lint-agent.escript crates/broker/erlang
