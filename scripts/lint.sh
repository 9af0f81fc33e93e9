#!/bin/sh
# Form, lints, documentation, Erlang, licences, known holes, types of the page. Changes nothing.
set -eu
cd "$(dirname "$0")/.."

cargo fmt --all --check
cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
# Documentation for developers includes private items, so links to those are fine.
RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --locked --workspace --no-deps --document-private-items --quiet
scripts/licences.sh
scripts/lint-agent.sh
# The fuzz targets have their own lock file.
cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null || {
    echo "fuzz/Cargo.lock is not up to date: cargo metadata --manifest-path fuzz/Cargo.toml >/dev/null" >&2
    exit 1
}
if [ -f ui/package.json ]; then
    [ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
    (cd ui && npx --no-install tsc --noEmit)
fi
# If PyPI is unreachable, this reports it and does not fail.
MANIFESTS_MISSING=0 scripts/manifests.sh
scripts/units.sh
scripts/advisories.sh
echo "lint: clean"
