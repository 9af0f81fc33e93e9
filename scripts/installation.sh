#!/bin/sh
# The RabbitMQ and Erlang of another release of Debian below a directory, for `root = "DIRECTORY"` of a scenario or an
# arm. Needs root and debootstrap; takes about a gigabyte. Nothing in it starts by itself.
#
#   scripts/installation.sh trixie /srv/trixie
set -eu
[ $# = 2 ] || {
    echo "usage: scripts/installation.sh SUITE DIRECTORY, such as trixie /srv/trixie" >&2
    exit 2
}
suite=$1
root=$2
[ ! -e "$root" ] || [ -z "$(ls -A "$root")" ] || {
    echo "$root is there and not empty: name a new directory" >&2
    exit 2
}
command -v debootstrap >/dev/null 2>&1 || {
    echo "debootstrap is missing: apt-get install debootstrap" >&2
    exit 1
}
# A debootstrap older than the suite uses the script for all suites of Debian.
if [ -e "/usr/share/debootstrap/scripts/$suite" ]; then
    debootstrap --variant=minbase "$suite" "$root"
else
    debootstrap --variant=minbase "$suite" "$root" "" sid
fi
# Installing the broker would start it.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends rabbitmq-server
# Erlang resolves this name for itself.
grep -q localhost "$root/etc/hosts" 2>/dev/null || echo "127.0.0.1 localhost" >>"$root/etc/hosts"
echo "$root: $(chroot "$root" dpkg-query --showformat '${Package} ${Version}' --show rabbitmq-server)"
