#!/bin/sh
# All tests: Rust, live ones against the installed RabbitMQ and in the browser included, then the
# parts of the page. Ends with the tests that could not run here and why, and one line of totals, added up from
# what the runners print.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Live profiles need root. Only the test programs get it; the build does not.
if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null 2>&1; then
    echo "the live tests record profiles, which needs root: running the test programs with sudo" >&2
    export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="sudo --preserve-env"
fi

failed=0
run() {
    status=$(mktemp)
    { "$@" 2>&1 || echo "$?" >"$status"; } | tee -a "$log"
    [ -s "$status" ] && failed=1
    rm -f "$status"
}

run cargo test --locked --workspace --no-fail-fast
if [ -f ui/package.json ]; then
    [ -d ui/node_modules ] || run npm --prefix ui ci --no-fund --no-audit
    run npm --prefix ui test
fi

# What a test, or a part of one, says that cannot run here. The runner takes it for passed.
grep '^not run: ' "$log" | sort || true
awk '
    /^not run: / { skipped += 1 }
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    # TAP and spec output of node --test
    /^(#|ℹ) pass / { pages_passed += $3 }
    /^(#|ℹ) fail / { pages_failed += $3 }
    /^(#|ℹ) skipped / { pages_skipped += $3 }
    END {
        printf "totals: rust %d passed, %d failed, %d ignored, %d skipped; page %d passed, %d failed, %d skipped\n",
            passed - skipped, failed, ignored, skipped, pages_passed, pages_failed, pages_skipped
    }' "$log"
exit "$failed"
