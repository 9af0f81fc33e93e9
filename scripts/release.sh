# A release of Debian, with its RabbitMQ and Erlang, below $RELEASES (target/releases). A script sources this from the
# root of the checkout, as root. Sets $root, and installs a missing release.
# shellcheck shell=sh

# SUITE, such as trixie.
need_release() {
    case $1 in
    '' | .* | */*)
        echo "$1 is no suite of Debian" >&2
        exit 2
        ;;
    esac
    mkdir -p "${RELEASES:-target/releases}"
    root=$(realpath "${RELEASES:-target/releases}")/$1
    # Refuses a directory that holds something else, or an unfinished installation.
    [ -e "$root/usr/sbin/rabbitmq-server" ] || scripts/installation.sh "$1" "$root"
}

# Runs a command in the release's system.
within() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
