#!/bin/sh
# Installs the built program for a group, as root:
#
#     sudo scripts/install.sh [--packets] GROUP [PREFIX]
#
# Members of the group may then sample every Erlang VM of this machine: names of functions, stacks, process
# ids, names of threads, addresses in the kernel. They get no file that they could not read before, no term
# and no message of a node. Other users cannot execute the program.
#
# With --packets members may also capture the traffic of any TCP port of this machine, including other users' messages
# and passwords, unless they are encrypted. Use a separate group for this, with a separate PREFIX.
set -eu
cd "$(dirname "$0")/.."
capabilities=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog
if [ "${1:-}" = --packets ]; then
    capabilities=$capabilities,cap_net_raw
    shift
fi
capabilities=$capabilities=p
group=${1:?"usage: sudo scripts/install.sh [--packets] GROUP [PREFIX]"}
prefix=${2:-/usr/local}
program=${PROGRAM:-target/release/rabbitscope}
PATH=$PATH:/usr/sbin:/sbin

die() {
    echo "install: $*" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || die "only root can give capabilities: sudo scripts/install.sh $group $prefix"
[ -f "$program" ] || die "there is no $program; build it with: cargo build --release --package rabbitscope"
getent group "$group" >/dev/null || die "there is no group $group; make it with: sudo groupadd --system $group"
command -v setcap >/dev/null || die "setcap is missing (package libcap2-bin)"

mkdir -p "$prefix/bin"
# Under another name first, so that a running program continues and the new one is always complete.
install -o root -g "$group" -m 750 "$program" "$prefix/bin/.rabbitscope.new"
setcap "$capabilities" "$prefix/bin/.rabbitscope.new"
mv "$prefix/bin/.rabbitscope.new" "$prefix/bin/rabbitscope"
echo "installed $prefix/bin/rabbitscope for the group $group: add members with" \
    "\`sudo usermod -aG $group USER\`"
