#!/bin/sh
# Form, lints, documentation, Erlang, licences, known holes, types of the page. Changes nothing.
set -eu
cd "$(dirname "$0")/.."

# Checks that mostly wait: for a network, or for one program after the other. They run beside the compiler.
beside_the_compiler() {
    scripts/licences.sh
    # The fuzz targets have their own lock file.
    cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null || {
        echo "fuzz/Cargo.lock is not up to date: cargo metadata --manifest-path fuzz/Cargo.toml >/dev/null" >&2
        return 1
    }
    if [ -f ui/package.json ]; then
        [ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
        (cd ui && npx --no-install tsc --noEmit)
    fi
    # If PyPI is unreachable, this reports it and does not fail.
    MANIFESTS_MISSING=0 scripts/manifests.sh
    scripts/units.sh
    scripts/advisories.sh
}
said=$(mktemp)
beside_the_compiler >"$said" 2>&1 &
beside=$!
trap 'kill "$beside" 2>/dev/null || true; rm -f "$said"' EXIT

cargo fmt --all --check
cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
# Documentation and Erlang lints need the checked workspace too. With the compiler and the arguments of cargo clippy,
# cargo takes its results.
RUSTC_WORKSPACE_WRAPPER=$(rustc --print sysroot)/bin/clippy-driver
CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS
# Documentation for developers includes private items, so links to those are fine.
RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --locked --workspace --no-deps --document-private-items --quiet
scripts/lint-agent.sh

wait "$beside" || {
    cat "$said" >&2
    exit 1
}
cat "$said"
echo "lint: clean"
