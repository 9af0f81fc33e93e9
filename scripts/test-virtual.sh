#!/bin/sh
# Tests of the recorder in a virtual machine with Debian's own kernel, Erlang and RabbitMQ, for another architecture or
# another kernel than this machine's. Needs root for the machine's disk (virtual-machine.sh). Emulation takes long.
#
#   scripts/test-virtual.sh aarch64                      # unit tests, the known answers and complete stacks
#   scripts/test-virtual.sh x86_64                       # all of it; with KVM if it works, else ACCELERATION=tcg
#   scripts/test-virtual.sh aarch64 known_answer::in_    # live tests with this in their names
#
# The test programs are built here, for the machine's architecture.
set -eu
cd "$(dirname "$0")/.."
architecture=${1:-}
case $architecture in
aarch64 | x86_64) shift ;;
*)
    echo "usage: scripts/test-virtual.sh aarch64|x86_64 [NAME…]" >&2
    exit 2
    ;;
esac
target=$architecture-unknown-linux-gnu
if [ "$(uname -m)" != "$architecture" ]; then
    linker=$architecture-linux-gnu-gcc
    command -v "$linker" >/dev/null 2>&1 || {
        echo "$linker is missing: apt-get install gcc-$(echo "$architecture" | tr _ -)-linux-gnu" >&2
        exit 1
    }
    export "CARGO_TARGET_$(echo "$target" | tr a-z- A-Z_)_LINKER=$linker"
    rustup target list --installed | grep -qx "$target" || rustup target add "$target"
fi
# Optimised, because emulation takes twenty times as long.
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cargo test --locked --no-run --release --target "$target" --package rabbitscope-probe 2>&1 | tee "$list"
files=$(sed -n 's/.*Executable .*(\(.*\))$/\1/p' "$list" | while read -r file; do realpath "$file"; done)
unit=$(echo "$files" | grep '/rabbitscope_probe-' | head -n 1)
live=$(echo "$files" | grep '/it-' | head -n 1)
[ -x "$unit" ] && [ -x "$live" ] || {
    echo "the test programs were not built" >&2
    exit 1
}
if [ $# -gt 0 ]; then
    unit_names= live_names=$*
elif [ "$architecture" = aarch64 ] && [ "$(uname -m)" != aarch64 ]; then
    # One test at a time: the emulated machine is slow, and the tests are about shares of its CPUs.
    unit_names=all live_names='known_answer:: lines::'
else
    unit_names=all live_names=
fi
# The programs expect their files in the place of the build; test threads share a node.
command="cp /exchange/$(basename "$unit") /exchange/$(basename "$live") /root/ && cd crates/probe && code=0"
[ -z "$unit_names" ] || command="$command; /root/$(basename "$unit") || code=1"
command="$command; /root/$(basename "$live") $live_names ${TEST_ARGUMENTS:-} || code=1; exit \$code"
FILES="$unit $live" scripts/virtual-machine.sh "$architecture" "uname -rm; $command"
