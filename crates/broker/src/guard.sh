#!/bin/sh
# Runs one throwaway broker and ends it. Arguments: directory, server, epmd, epmd port,
# attached|detached, and for a node of another system its root directory and the directory that both
# have in common. Everything else is in the environment.
#
# attached: ends when standard input closes; each line that comes in starts a node that has died
# again. detached: ends when the node does.
# Standard output: the pid of the node, one line for each start.
directory=$1 server=$2 epmd=$3 epmd_port=$4 life=$5 root=$6 common=$7

# Kills what still belongs to the broker and removes its directory, until neither is there: a dying
# process may still have made a file. A dead process has no environment.
clean() {
    trap '' INT TERM HUP
    # These two by their pids: one that is being replaced by another program shows no environment.
    kill -KILL "$mapper" "$node" 2>/dev/null
    while
        pids=$(grep -lszxF "RABBITSCOPE_BROKER=$directory" /proc/[0-9]*/environ)
        [ -n "$pids" ] || ! rm -rf "$directory" 2>/dev/null || [ -e "$directory" ]
    do
        for pid in $pids; do
            pid=${pid#/proc/}
            kill -KILL "${pid%/environ}" 2>/dev/null
        done
        sleep 0.02
    done
    exit 0
}
mapper='' node=''
trap clean INT TERM HUP

# The parent-death signal is the second line of defence, should this script itself be killed.
belonging() {
    RABBITSCOPE_BROKER=$directory exec setpriv --pdeathsig KILL -- "$@"
}

# A process is known by its environment, which is set once setpriv runs in place of this script.
until_known() {
    tries=0
    until grep -qszxF "RABBITSCOPE_BROKER=$directory" "/proc/$1/environ" || [ "$tries" -ge 500 ]; do
        tries=$((tries + 1))
        sleep 0.01
    done
}

# As many open files as this user may give the node, for thousands of connections; no more than it
# has tables for without spending memory on them.
most=$(ulimit -H -n)
case $most in unlimited | [0-9][0-9][0-9][0-9][0-9][0-9]*) most=65536 ;; esac
[ "$(ulimit -S -n)" = unlimited ] || [ "$(ulimit -S -n)" -ge "$most" ] || ulimit -S -n "$most"

cd "$directory" || exit 1
belonging "$epmd" -port "$epmd_port" -address 127.0.0.1 </dev/null >epmd.log 2>&1 &
mapper=$!
# In another system's root, with this one's processes and devices; seen so by the node alone.
enter='for shared in /proc /dev "$3"; do
    mkdir -p "$1$shared" && mount --rbind "$shared" "$1$shared" || exit 1
done
exec chroot "$1" "$2"'
start_node() {
    if [ -n "$root" ]; then
        set -- unshare --mount sh -c "$enter" enter "$root" "$server" "$common"
    else
        set -- "$server"
    fi
    belonging "$@" </dev/null >>console.log 2>&1 &
    node=$!
    until_known "$node"
    echo "$node" 2>/dev/null
}
until_known "$mapper"
# Whoever started this may be gone already; that is for the end of this script to see.
trap '' PIPE
start_node

case $life in
attached)
    while read -r _; do
        wait "$node" 2>/dev/null
        start_node
    done
    ;;
detached)
    exec >/dev/null
    wait "$node"
    ;;
esac
clean
