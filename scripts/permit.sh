#!/bin/sh
# Lets an ordinary user record profiles with the given program: gives the file the capabilities
# that the sampler needs. Root needs nothing. A rebuilt file has lost them and gets them again.
set -eu
program=$1
capabilities=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_syslog
PATH=$PATH:/usr/sbin:/sbin

[ "$(id -u)" = 0 ] && exit 0
case $(getcap "$program") in *cap_bpf*) exit 0 ;; esac
if ! command -v sudo >/dev/null 2>&1; then
    echo "recording a CPU profile needs root or $capabilities on $program; there is no sudo here" >&2
    exit 6
fi
echo "recording a CPU profile loads a kernel program and reads the node's memory: giving" \
    "$program $capabilities with sudo" >&2
exec sudo setcap "$capabilities+ep" "$program"
