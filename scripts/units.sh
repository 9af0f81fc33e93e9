#!/bin/sh
# Checks the systemd units in deploy/: systemd understands them, they stay locked down, and the first check finds a
# planted mistake. Reports a missing systemd-analyze.
set -eu
cd "$(dirname "$0")/.."
# 0 is the tightest of 100; the necessary capabilities make most of it.
most=35

command -v systemd-analyze >/dev/null || {
    echo "units: not checked, because systemd-analyze is missing"
    exit 0
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# UNIT: prints the lines that systemd does not understand.
refusals() {
    systemd-analyze verify --man=no "$1" 2>&1 | grep -F "$(basename "$1")" || true
}

for unit in deploy/systemd/*.service; do
    checked=$place/$(basename "$unit")
    # Programs need not be installed to be named.
    sed 's#/usr/bin/rabbitscope#/bin/true#' "$unit" >"$checked"
    said=$(refusals "$checked")
    [ -z "$said" ] || {
        echo "$said" >&2
        exit 1
    }
    systemd-analyze security --offline=true --threshold=$most --no-pager "$checked" >"$place/said" || {
        cat "$place/said" >&2
        exit 1
    }
    tail -n 1 "$place/said"
    sed -i 's/^NoNewPrivileges/NoNewPriviliges/' "$checked"
    [ -n "$(refusals "$checked")" ] || {
        echo "units: $unit: the check does not see a misspelt key" >&2
        exit 1
    }
done
