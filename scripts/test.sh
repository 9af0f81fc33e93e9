#!/bin/sh
# All tests: Rust (including live ones against the installed RabbitMQ and in the browser), then the parts of the page.
# Ends with the slowest tests, the tests that could not run here with the reason, and one line of totals.
#
# Live tests share this machine with each other and, in a virtual one, with its host. So up to SECOND_TRIES Rust tests
# that fail are run once more, each alone, as is the page's test with the program. One that passes then is listed as
# "flaky: "; one that fails again fails.
set -eu
cd "$(dirname "$0")/.."
SECOND_TRIES=12
# Seconds after which a test of the page hangs. `node --test` waits for all that a failed test has left open.
LONGEST_OF_PAGE=600
log=$(mktemp)
failures=$(mktemp)
trap 'rm -f "$log" "$failures"' EXIT

# The test programs report the time of each test, which the stable toolchain allows with this variable only. Cargo must
# not see it: some dependencies would be built differently.
# Tests hang up terminals, which has no effect on children of `nohup`.
runner="env --default-signal=HUP RUSTC_BOOTSTRAP=1"
# Live profiles need root. Only the test programs get it; the build does not.
if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null 2>&1; then
    echo "the live tests record profiles, which needs root: running the test programs with sudo" >&2
    runner="sudo --preserve-env $runner"
fi
# Cargo's name of the variable for this machine: CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER.
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${host}_RUNNER=$runner"
# Shuffled, always alike: tests of one file often wait for the same broker or lock.
timed="-Z unstable-options --report-time --shuffle-seed 1"

# Live tests wait for brokers and clocks about half of their time. A broker takes 150 MB.
cpus=$(nproc)
threads=$((cpus * 2 > 8 ? 8 : cpus * 2))
: "${RUST_TEST_THREADS:=$((threads > cpus ? threads : cpus))}"
export RUST_TEST_THREADS

# Tests that judge milliseconds, or what limits a node. Beside other tests they judge those, so that they run after them:
# some by twos, which leaves each a processor, and those that saturate the machine one by one.
by_two="load::stalls:: workload::round_trips:: workload::routes:: workload::comparing::
    workload::observing::a_load_with_tls_is_known_by_the_counts_of_the_node_and_by_its_records
    check::limits::a_queue_that_takes_a_core_is_named live::node::a_saturated_queue_is_named_and_first
    documents::readme::the_demo_has_the_form_of_a_run_today"
alone="load::rates::a_rate_is_held_without_bursts packets::planted:: packets::limits:: perftest::options::a_load_needs_no_file"
# A browser that mostly waits, beside the unit tests.
browser="pages_work_in_a_browser"
skipped=
for name in $by_two $alone $browser; do skipped="$skipped --skip $name"; done

failed=0
run() {
    passes "$@" || failed=1
}

passes() {
    status=$(mktemp)
    { "$@" 2>&1 || echo "$?" >"$status"; } | tee -a "$log"
    if [ -s "$status" ]; then
        rm -f "$status"
        return 1
    fi
    rm -f "$status"
}

# The failed tests, one in each line: the arguments of cargo that select the kind of program, then the test. The
# arguments cover the whole workspace, so that nothing is compiled again. Prints nothing if too many tests failed, or if
# a program failed by other causes than its tests.
failed_tests() {
    awk -v most="$SECOND_TRIES" '
        /^test .* \.\.\. FAILED( <.*>)?$/ { names[++count] = $2 }
        /^error: test failed, to rerun pass `/ {
            split($0, parts, "`")
            sub(/-p [^ ]+/, "--workspace", parts[2])
            programs += 1
            for (; told < count; told++) lines[told + 1] = parts[2] " " names[told + 1]
            if (told == before) other = 1
            before = told
        }
        /^error: [0-9]+ targets? failed/ { targets += $2 }
        /^error: could not compile/ { other = 1 }
        END {
            if (other || programs == 0 || targets != programs || count > most) exit
            for (i = 1; i <= count; i++) print lines[i]
        }' "$log"
}

# rustdoc runs tests in documentation, and takes no such option.
# The program and examples have no tests of their own (`tests/it/architecture`). The lint compiles the examples.
# Every call covers the whole workspace, so that nothing is compiled again.
# shellcheck disable=SC2086 # several arguments
tests() {
    together=0
    beside=$(mktemp)
    env RUST_TEST_THREADS=1 cargo test --locked --workspace --no-fail-fast --test it -- $timed $browser >"$beside" 2>&1 &
    browsing=$!
    passes cargo test --locked --workspace --no-fail-fast --lib -- $timed || together=1
    wait "$browsing" || together=1
    tee -a "$log" <"$beside"
    rm -f "$beside"
    for group in "$RUST_TEST_THREADS $skipped" "2 $by_two" "1 $alone"; do
        passes env RUST_TEST_THREADS="${group%% *}" cargo test --locked --workspace --no-fail-fast --test '*' -- \
            $timed ${group#* } || together=1
    done
    [ "$together" = 0 ]
}
if ! tests; then
    failed_tests >"$failures"
    [ -s "$failures" ] || failed=1
    while read -r arguments <&3; do
        name=${arguments##* }
        before=$(wc -l <"$log")
        # shellcheck disable=SC2086 # several arguments
        if passes cargo test --locked ${arguments% *} -- $timed --exact "$name" &&
            tail -n "+$((before + 1))" "$log" | grep -q "^test $name \.\.\. ok"; then
            echo "flaky: $name passed alone, after it had failed among the others" | tee -a "$log"
        else
            echo "failed again: $name" | tee -a "$log"
            failed=1
        fi
    done 3<"$failures"
fi
run env RUSTDOC="$PWD/scripts/rustdoc.sh" cargo test --locked --workspace --no-fail-fast --doc
if [ -f ui/package.json ]; then
    [ -d ui/node_modules ] || run npm --prefix ui ci --no-fund --no-audit
    run timeout "$LONGEST_OF_PAGE" npm --prefix ui test
    # Ten readers follow a run of a minute, with a profile.
    # shellcheck disable=SC2086 # several arguments
    readers() {
        passes timeout "$LONGEST_OF_PAGE" $runner env RABBITSCOPE="$PWD/target/debug/rabbitscope" \
            npm --prefix ui run --silent test:program
    }
    if ! readers; then
        if readers; then
            echo "flaky: page: ten readers passed after they had failed" | tee -a "$log"
        else
            echo "failed again: page: ten readers" | tee -a "$log"
            failed=1
        fi
    fi
fi

echo "slowest tests:"
sed -n 's/^test \(.*\) \.\.\. [okFAILED]* <\([0-9.]*\)s>$/\2 \1/p' "$log" | sort -rn | head -n 10 |
    awk '{ printf "%7.1f s  %s\n", $1, $2 }'
# Messages of tests, or of parts of tests, that cannot run here. The runner counts them as passed.
grep '^not run: ' "$log" | sort || true
grep '^flaky: ' "$log" || true
awk '
    /^not run: / { skipped += 1 }
    /^flaky: page: / { pages_flaky += 1; next }
    /^failed again: page: / { pages_again += 1; next }
    /^flaky: / { flaky += 1 }
    /^failed again: / { again += 1 }
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    # TAP and spec output of node --test
    /^(#|ℹ) pass / { pages_passed += $3 }
    /^(#|ℹ) fail / { pages_failed += $3 }
    /^(#|ℹ) skipped / { pages_skipped += $3 }
    END {
        printf "totals: rust %d passed, %d failed, %d flaky, %d ignored, %d skipped; page %d passed, %d failed, %d flaky, %d skipped\n",
            passed - skipped, failed - flaky - again, flaky, ignored, skipped,
            pages_passed, pages_failed - pages_flaky - pages_again, pages_flaky, pages_skipped
    }' "$log"
exit "$failed"
