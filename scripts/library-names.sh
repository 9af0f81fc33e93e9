#!/bin/sh
# Makes the table of names of a distribution's C library: the functions that it does not export, by the debug package of
# the same build (library-names.mjs). Needs root, for the release's own system. Downloads some megabytes and installs
# nothing there.
#
#   scripts/library-names.sh trixie             # leaves crates/probe/names/BUILD-ID.names
#
#   RELEASES=target/releases scripts/library-names.sh trixie    # where the releases are installed
set -eu
cd "$(dirname "$0")/.."
[ $# = 1 ] && [ "$(id -u)" = 0 ] || {
    echo "usage, as root: scripts/library-names.sh SUITE, such as trixie" >&2
    exit 2
}
suite=$1
. scripts/release.sh
need_release "$suite"

library=$(find "$root/usr/lib" -name libc.so.6 | head -n 1)
id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || {
    echo "there is no C library with a build id below $root/usr/lib" >&2
    exit 1
}
version=$(within dpkg-query --showformat '${Version}' --show libc6)
work=$(mktemp -d "$root/tmp/names.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The unprivileged user that apt downloads as may not enter a directory of root.
chmod 755 "$work"
# A mirror that lags has a signed but expired index.
within apt-get -o Acquire::Check-Valid-Until=false update -qq
within sh -c "cd '${work#"$root"}' && apt-get -o APT::Sandbox::User=root download -qq 'libc6-dbg=$version'"
dpkg-deb --extract "$work"/libc6-dbg_*.deb "$work/debug"
debug=$work/debug/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug
[ -f "$debug" ] || {
    echo "libc6-dbg $version has no debug file of $id: is libc6 in $root whole?" >&2
    exit 1
}

mkdir -p crates/probe/names
node scripts/library-names.mjs "$library" "$debug" "libc6 $version $(within dpkg --print-architecture), Debian $suite" \
    >"$work/names"
cp "$work/names" "crates/probe/names/$id.names"
echo "crates/probe/names/$id.names: $(wc -c <"crates/probe/names/$id.names") bytes"
