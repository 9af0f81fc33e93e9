#!/bin/sh
# Checks the systemd units in deploy/: that systemd understands them, and that they stay locked down. Where there is no
# systemd-analyze, says so.
set -eu
cd "$(dirname "$0")/.."
# 0 is the tightest of 100; the capabilities that the work needs make most of it.
most=35

command -v systemd-analyze >/dev/null || {
    echo "units: not checked, because systemd-analyze is missing"
    exit 0
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for unit in deploy/systemd/*.service; do
    # Programs need not be installed to be named.
    sed 's#/usr/bin/rabbitscope#/bin/true#' "$unit" >"$place/$(basename "$unit")"
    said=$(systemd-analyze verify --man=no "$place/$(basename "$unit")" 2>&1 | grep -F "$(basename "$unit")" || true)
    [ -z "$said" ] || {
        echo "$said" >&2
        exit 1
    }
    systemd-analyze security --offline=true --threshold=$most --no-pager "$place/$(basename "$unit")" >"$place/said" || {
        cat "$place/said" >&2
        exit 1
    }
    tail -n 1 "$place/said"
done
