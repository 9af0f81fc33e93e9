#!/bin/sh
# Makes the table of names of a distribution's stripped emulator: builds the emulator from the distribution's own source
# package, with its own rules, in the release's own system, and compares the machine code function by function
# (emulator-names.mjs). Needs root, some 3 GB and a quarter of an hour.
#
#   scripts/emulator-names.sh trixie            # leaves crates/probe/names/BUILD-ID.names
#
#   RELEASES=target/releases scripts/emulator-names.sh trixie   # where the releases are installed
#   SOURCE=../erlang_1.2-3.dsc scripts/emulator-names.sh trixie # the source package of a neighbouring version, with its
#                                                               # parts beside it, if no mirror has the right one
set -eu
cd "$(dirname "$0")/.."
[ $# = 1 ] && [ "$(id -u)" = 0 ] || {
    echo "usage, as root: scripts/emulator-names.sh SUITE, such as trixie" >&2
    exit 2
}
suite=$1
[ -z "${SOURCE:-}" ] || [ -r "$SOURCE" ] || {
    echo "SOURCE=$SOURCE: there is no such source package (.dsc)" >&2
    exit 2
}
. scripts/release.sh
need_release "$suite"
[ ! -e "$root/build" ] || {
    echo "$root/build is there, perhaps of an earlier call: remove it first" >&2
    exit 2
}

# Sources come from the mirror of the packages.
sed -n 's/^deb /deb-src /p' "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/sources.list"
# A mirror that lags has a signed but expired index.
within apt-get -o Acquire::Check-Valid-Until=false update -qq
# Build dependencies of the rules and the emulator, without those of the applications (wxWidgets, Java).
within apt-get install -y -qq --no-install-recommends build-essential debhelper autoconf m4 perl dctrl-tools \
    libncurses-dev libssl-dev zlib1g-dev libsctp-dev libsystemd-dev libzstd-dev >/dev/null
mkdir "$root/build"
package=$(within dpkg-query --showformat '${source:Package}=${source:Version}' --show erlang-base)
if [ -n "${SOURCE:-}" ]; then
    cp "${SOURCE%_*}"_* "$root/build/"
    within sh -c "cd /build && dpkg-source --extract '$(basename "$SOURCE")' >/dev/null"
else
    within sh -c "cd /build && apt-get source -qq '$package' >/dev/null"
fi
# The rules have used two names for their target.
rules=$(ls "$root"/build/erlang-*/debian/rules)
target=configure-stamp
grep -q '^configure-stnd-stamp:' "$rules" && target=configure-stnd-stamp
# They also have the flags of the compiler.
flags=$(within sh -c "cd /build/erlang-*/ && make -s -f debian/rules --eval='flags:; @echo \$(GEN_OPT_FLGS)' flags")
step() {
    within sh -c "cd /build/erlang-*/ && export DEB_BUILD_OPTIONS=parallel=$(nproc) && { $1; } >/build/$2.log 2>&1" || {
        tail -n 20 "$root/build/$2.log" >&2
        exit 1
    }
}
step "debian/rules $target" configure
# Later steps may need libraries that were not built.
step "make -j$(nproc) GEN_OPT_FLGS='$flags' emulator || test -x bin/*/beam.smp" make
built=$(find "$root"/build/erlang-*/bin -name beam.smp | head -n 1)
stripped=$(find "$root/usr/lib/erlang" -path '*/erts-*/bin/beam.smp' | head -n 1)
id=$(readelf -n "$stripped" | sed -n 's/.*Build ID: //p')
[ -n "$built" ] && [ -n "$id" ] || {
    echo "no emulator was built, or the distribution's has no build id" >&2
    exit 1
}
mkdir -p crates/probe/names
description="erlang-base $(within dpkg-query --showformat '${Version} ${Architecture}' --show erlang-base), Debian $suite${SOURCE:+, by the source of $(basename "$SOURCE" .dsc)}"
node scripts/emulator-names.mjs "$stripped" "$built" "$description" >"crates/probe/names/$id.names"
echo "crates/probe/names/$id.names: $(wc -c <"crates/probe/names/$id.names") bytes"
