#!/bin/sh
# Known holes in the dependencies of the program and its page: RustSec by cargo-deny, the npm registry by npm. An
# unreachable source is reported and is no failure; a known hole is.
set -eu
cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# Seconds for each source.
limit=60
failed=0

not_asked() { echo "advisories: not asked, because $1"; }

# FILE PATTERN: prints the first match in the file, without its surroundings.
reason() { grep -m 1 -E "$2" "$1" | sed -E 's/^[[:space:]]*//; s/\x1b\[[0-9;]*m//g' || head -n 1 "$1"; }

crates() {
    if ! cargo deny --version >/dev/null 2>&1; then
        not_asked "cargo-deny is not installed (cargo install cargo-deny --locked)"
    elif timeout "$limit" cargo deny --locked --color never check advisories >"$said" 2>&1; then
        echo "advisories: none for the crates"
    elif grep -q '^error\[' "$said"; then
        cat "$said" >&2
        failed=1
    else
        not_asked "the RustSec database could not be had: $(reason "$said" 'fetch|clone|database|lock')"
    fi
}

page() {
    if ! command -v npm >/dev/null 2>&1; then
        not_asked "npm is not installed"
    elif (cd ui && timeout "$limit" npm audit --json) >"$said" 2>/dev/null || [ -s "$said" ]; then
        node -e '
            const { metadata, message } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
            if (!metadata?.vulnerabilities) {
                console.log(`advisories: not asked, because the npm registry gives none: ${message}`);
                process.exit(0);
            }
            const { total } = metadata.vulnerabilities;
            console.log(`advisories: ${total || "none"} for the packages of the page`);
            process.exit(total === 0 ? 0 : 1);
        ' "$said" || failed=1
    else
        not_asked "npm audit had no answer within $limit s"
    fi
}

crates
[ ! -f ui/package-lock.json ] || page
exit "$failed"
