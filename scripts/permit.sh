#!/bin/sh
# Lets the builder record profiles with the new program: gives the file the sampler's capabilities, and closes it to all
# users but its owner and the owner's own group. scripts/install.sh installs it for others. Root needs no capabilities.
# A rebuilt file has lost them and gets them again.
set -eu
program=$1
capabilities=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog=p
PATH=$PATH:/usr/sbin:/sbin

[ "$(id -u)" = 0 ] && exit 0

# Earlier versions also gave the right to read every file.
case $(getcap "$program") in
    *cap_dac_read_search*) ;;
    *cap_bpf*) exit 0 ;;
esac
if ! command -v sudo >/dev/null 2>&1; then
    echo "recording a CPU profile needs root or $capabilities on $program; there is no sudo here" >&2
    exit 6
fi

# Most systems give each user a separate group; a shared group gets nothing.
group=$(id -gn)
mode=750
[ "$group" = "$(id -un)" ] || mode=700
chmod "$mode" "$program"
echo "recording a CPU profile loads a kernel program and reads the node's memory: giving" \
    "$program (mode $mode) $capabilities with sudo" >&2
exec sudo setcap "$capabilities" "$program"
