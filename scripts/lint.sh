#!/bin/sh
# Form, lints, documentation, licences, types of the page. Changes nothing.
set -eu
cd "$(dirname "$0")/.."

cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
# Read by who works on it, private items included, so links to those are fine.
RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --workspace --no-deps --document-private-items --quiet
scripts/licences.sh
if [ -f ui/package.json ]; then
    [ -d ui/node_modules ] || npm --prefix ui ci --no-fund --no-audit
    (cd ui && npx --no-install tsc --noEmit)
fi
echo "lint: clean"
