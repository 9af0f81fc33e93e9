#!/bin/sh
# Runs one throwaway broker and ends it. Arguments: directory, server, epmd, epmd port,
# attached|detached, number of nodes (0: one that is no member of a cluster), erl, and for nodes of another system
# its root directory and the directory that both have in common. Everything else of a node is in its file
# environment.sh, in the directory itself or, in a cluster, in node-1, node-2, …
#
# Inherited descriptors above 2 are the lock of the directory and the sockets that hold the ports of the nodes. Every
# process of the broker inherits them from here, so that lock and ports are held until the last one is gone.
#
# attached: ends when standard input closes; each line that comes in has the number of a node that has died
# and starts it again. detached: the same until a line comes in, which says that the broker is to stay; ends
# when all nodes have.
# Standard output: the pid of a node, one line for each start; or a word, with which it ends: `mapper` if the port
# mapper does not listen, `compiler` if the module by which the nodes of a cluster find one another cannot be compiled.
# Exit code 1: the directory is still there; the next start of a broker says so.
directory=$1 server=$2 epmd=$3 epmd_port=$4 life=$5 count=$6 erl=$7 root=$8 common=$9
# Seconds for the end: as many as a machine that swaps may need, and not for ever.
patience=10
read -r born <"$directory/born"

# Seconds since the machine started, which no clock that is set changes.
uptime() {
    read -r now _ </proc/uptime
    now=${now%.*}
}

# Kills process $1 if it is the broker's: processes.rs says when it is. A child of this script is, also
# while it is being replaced by another program and shows no environment. Between look and signal a shell
# cannot hold on to a process; the pid would have to come round within that microsecond.
kill_own() {
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    pid=$1
    # The name, in parentheses, may hold anything. Then: state, parent, group, session, terminal, …
    # shellcheck disable=SC2086 # words are what is wanted
    set -- ${stat##*) }
    [ "$1" != Z ] || return 1
    if [ "$2" != "$$" ]; then
        [ "$5" = 0 ] && [ "${20}" -ge "$born" ] && [ -O "/proc/$pid" ] || return 1
        grep -qszxF "RABBITSCOPE_BROKER=$directory" "/proc/$pid/environ" || return 1
    fi
    kill -KILL "$pid" 2>/dev/null
}

# Kills what still belongs to the broker and removes its directory. True when neither is there: a dying
# process may still have made a file. A dead process has no environment. rm follows no link; a mount it
# would follow.
is_gone() {
    left=''
    for pid in $(grep -lszxF "RABBITSCOPE_BROKER=$directory" /proc/[0-9]*/environ); do
        pid=${pid#/proc/}
        kill_own "${pid%/environ}" && left=yes
    done
    [ -z "$left" ] && ! grep -qF "/${directory##*/}/" /proc/self/mountinfo &&
        rm -rf "$directory" 2>/dev/null && [ ! -e "$directory" ]
}

clean() {
    trap '' INT TERM HUP
    uptime
    deadline=$((now + patience))
    for pid in $mapper $nodes; do
        kill_own "$pid"
    done
    until is_gone; do
        uptime
        [ "$now" -lt "$deadline" ] || exit 1
        sleep 0.02
    done
    exit 0
}
# All nodes that were ever started.
mapper='' nodes=''
trap clean INT TERM HUP

# The parent-death signal is the second line of defence, should this script itself be killed.
belonging() {
    unset RABBITSCOPE_BROKER_GUARD
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
enter='root=$1 common=$2
shift 2
for shared in /proc /dev "$common"; do
    mkdir -p "$root$shared" && mount --rbind "$shared" "$root$shared" || exit 1
done
exec chroot "$root" "$@"'
# Becomes a program of the nodes' system.
in_system() {
    if [ -n "$root" ]; then
        set -- unshare --mount sh -c "$enter" enter "$root" "$common" "$@"
    fi
    belonging "$@"
}
# $1: its number, 0 for the only one.
start_node() {
    number=$1 place=$directory
    [ "$number" = 0 ] || place=$directory/node-$number
    (
        # shellcheck disable=SC1091 # written by the program that started this script
        . "$place/environment.sh"
        in_system "$server"
    ) </dev/null >>"$place/console.log" 2>&1 &
    node=$!
    nodes="$nodes $node"
    eval "node_$number=$node"
    until_known "$node"
    echo "$node" 2>/dev/null
}
# True once the port mapper listens on its port. Another user may have taken the port; then the mapper ends.
mapper_listens() {
    port=$(printf '%04X' "$epmd_port")
    uptime
    deadline=$((now + patience))
    while [ "$now" -lt "$deadline" ]; do
        read -r stat 2>/dev/null <"/proc/$mapper/stat" || return 1
        case ${stat##*) } in Z*) return 1 ;; esac
        # Local and remote address, state (0A listens), five fields, inode.
        inodes=$(sed -n "s/^.*:$port [0-9A-F]*:0000 0A [^ ]* [^ ]* [^ ]* *[0-9]* *[0-9]* \\([0-9]*\\) .*/\\1/p" /proc/net/tcp)
        for inode in $inodes; do
            ls -l "/proc/$mapper/fd" 2>/dev/null | grep -qF "socket:[$inode]" && return 0
        done
        sleep 0.01
        uptime
    done
    return 1
}
# The program that started this script may be gone already; the end of this script notices that.
trap '' PIPE
# $1: the word of the answer, $2: a log.
fail() {
    echo "$1 $(head -c 2000 "$2" | tr '\n' ' ')" 2>/dev/null
    clean
}
module=$directory/rabbitscope_epmd
if [ -e "$module.erl" ]; then
    # shellcheck disable=SC2016 # no variable of this shell
    (
        export HOME="$directory/home" LANG=C.UTF-8
        in_system "$erl" -noinput -boot no_dot_erlang \
            -eval '[F] = init:get_plain_arguments(), {ok, _} = compile:file(F, [{outdir, filename:dirname(F)}]), halt().' \
            -extra "$module"
    ) </dev/null >compiler.log 2>&1
    [ -e "$module.beam" ] || fail compiler compiler.log
fi
until_known "$mapper"
mapper_listens || fail mapper epmd.log
if [ "$count" = 0 ]; then
    start_node 0
else
    next=1
    while [ "$next" -le "$count" ]; do
        start_node "$next"
        next=$((next + 1))
    done
fi

case $life in
attached)
    while read -r number; do
        case $number in '' | *[!0-9]*) continue ;; esac
        eval "dead=\$node_$number"
        wait "$dead" 2>/dev/null
        start_node "$number"
    done
    ;;
detached)
    read -r _ || clean
    exec </dev/null >/dev/null
    # shellcheck disable=SC2086 # words are what is wanted
    wait $nodes
    ;;
esac
clean
