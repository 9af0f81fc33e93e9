#!/bin/sh
# Checks that deny.toml allows the licence of every dependency. Uses cargo-deny if it is installed; otherwise compares
# the licence expressions in cargo's metadata with the same list.
set -eu
cd "$(dirname "$0")/.."

if cargo deny --version >/dev/null 2>&1; then
    exec cargo deny --locked --log-level error check licenses bans sources
fi
cargo metadata --format-version 1 --locked | node -e '
    const fs = require("fs");
    const metadata = JSON.parse(fs.readFileSync(0, "utf8"));
    const list = /^allow = \[([^\]]*)\]/m.exec(fs.readFileSync("deny.toml", "utf8"))[1];
    const allowed = new Set([...list.matchAll(/"([^"]+)"/g)].map((match) => match[1]));
    // SPDX: "A OR B" needs one of them, "A AND B" all; "/" is an old way to write OR.
    const either = (text) => text.split(/ OR |\//).some((part) => all(part));
    const all = (text) => text.split(" AND ").every((one) => allowed.has(one.trim()));
    const permits = (text) => {
        const inner = /\(([^()]*)\)/.exec(text);
        if (!inner) return either(text);
        const value = either(inner[1]) ? [...allowed][0] : "refused";
        return permits(text.replace(inner[0], value));
    };
    const refused = metadata.packages.filter(({ license }) => !license || !permits(license));
    for (const { name, version, license } of refused)
        console.error(`licence of ${name} ${version} is not allowed: ${license ?? "none stated"}`);
    console.log(`licences: ${metadata.packages.length} packages, ${refused.length} refused`);
    process.exit(refused.length === 0 ? 0 : 1);
'
