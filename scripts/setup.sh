#!/bin/sh
# Installs missing packages through apt. `setup.sh demo` installs the packages of a build and a run: RabbitMQ, clang,
# Node.js with npm, a C linker. `setup.sh` adds the packages of the tests: Chromium, symbols of the C library,
# debuginfod, tcpdump, tshark, tcptrace, iproute2, Python with an MQTT client, Prometheus, VictoriaMetrics.
# Does nothing, and takes no time, if nothing is missing.
#
# Starts no service: no system-wide broker, no epmd. Does not install Rust.
set -eu

case ${1:-tests} in
    demo | tests) purpose=${1:-tests} ;;
    *)
        echo "setup: unknown argument '$1' (demo, or nothing for all that the tests need)" >&2
        exit 2
        ;;
esac

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
distribution=$(. /etc/os-release 2>/dev/null && printf '%s' "${ID:-}") || distribution=
packages=
need() { packages="$packages $*"; }

# Node.js 18 or later, with npm, from any source.
have_node() {
    have node && have npm && [ "$(node -p 'parseInt(process.versions.node)' 2>/dev/null || echo 0)" -ge 18 ]
}

have_browser() {
    for browser in chromium chromium-browser google-chrome google-chrome-stable; do
        have "$browser" && return 0
    done
    return 1
}

have rabbitmq-server || need rabbitmq-server
have clang || need clang
have_node || need nodejs npm
have make || need make
have cc || need gcc libc6-dev
have c++ || need g++
have objcopy || need binutils
[ -d /etc/ssl/certs ] && [ -e /etc/ssl/certs/ca-certificates.crt ] || need ca-certificates
have ps || need procps
[ "$(id -u)" = 0 ] || have setcap || need libcap2-bin

need_for_tests() {
    # Names of the C library's own functions, which tests of profiles look for.
    [ "$distribution" != debian ] || [ -e /usr/share/doc/libc6-dbg ] || need libc6-dbg
    # A server of debug files and its client, for the tests.
    have debuginfod && have debuginfod-find || need debuginfod
    # Captures of the tests, and other programs that read them.
    have tcpdump || need tcpdump
    have tshark || need tshark
    have tcptrace || need tcptrace
    have ip && have ss && have tc || need iproute2
    # Clients of MQTT and, from PyPI, of the stream protocol.
    if [ "$distribution" = debian ] || [ "$distribution" = ubuntu ]; then
        /usr/bin/python3 -c 'import paho.mqtt.client' 2>/dev/null || need python3-paho-mqtt
        /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || need python3-venv
    fi
    # Receivers of metrics, for the tests. Debian's names of the programs.
    have prometheus || need prometheus
    have victoria-metrics || need victoria-metrics
    if ! have_browser; then
        if [ "$distribution" = ubuntu ]; then
            say "no browser for the page's tests: Ubuntu has chromium as a snap only; install one, for" \
                "example with 'sudo snap install chromium'"
        else
            need chromium
        fi
    fi
}
[ "$purpose" = demo ] || need_for_tests

if [ -n "$packages" ]; then
    have apt-get || die "missing here:$packages (names of Debian's packages; no apt-get to install them with)"
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif have sudo; then
        as_root=sudo
    else
        die "missing here:$packages (run this as root, or install sudo)"
    fi
    say "installing$packages"

    # Packages start their services unless this file forbids it. An existing file stays.
    policy=/usr/sbin/policy-rc.d
    new_services=
    for service in rabbitmq-server prometheus victoria-metrics; do
        case " $packages " in *" $service "*) new_services="$new_services $service.service" ;; esac
    done
    if [ ! -e "$policy" ]; then
        trap '$as_root rm -f "$policy"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
        $as_root chmod 755 "$policy"
    fi
    $as_root apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
    # Neither at the next boot, if this call installed the package.
    case $new_services in *rabbitmq-server*) new_services="$new_services epmd.service epmd.socket" ;; esac
    if [ -n "$new_services" ] && have systemctl; then
        for service in $new_services; do
            $as_root systemctl disable --quiet "$service" 2>/dev/null || true
        done
    fi
fi

have cargo || die "Rust is missing: install it from https://rustup.rs, then run this again"
have_node || die "Node.js 18 or later with npm is needed; this machine has $(node --version 2>/dev/null || echo none)"
