// Names of the functions that a stripped library does not export, from the debug file of the same build:
//
//   node library-names.mjs LIBRARY DEBUG-FILE DESCRIPTION >BUILD-ID.names
//
// A table has the start addresses from unwind tables, which survive stripping. A function written in assembly may begin
// several times there: each has its name.
import { execFileSync } from "node:child_process";

const [, , library, debugFile, description] = process.argv;
// A debug file has the headers of its original, about which readelf warns on standard error.
const run = (program, ...options) =>
    execFileSync(program, options, { maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "ignore"] }).toString("latin1");

// Functions as [address, size, name].
function functions(path, table) {
    const row = /^\s*\d+: ([0-9a-f]+)\s+(\w+) (?:FUNC|IFUNC)\s+(?:LOCAL|GLOBAL|WEAK)\s+\S+\s+(\S+) (\S+)$/;
    const found = run("readelf", "--wide", table, path).split("\n").map((line) => row.exec(line.trimEnd()));
    const defined = found.filter((it) => it && it[3] !== "UND");
    return defined.map(([, address, size, , name]) => [parseInt(address, 16), Number(size), name.replace(/@.*/, "")]);
}

function starts(path) {
    const rows = run("objdump", "--dwarf=frames", path).matchAll(/ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)/g);
    const spans = [...rows].map((it) => [parseInt(it[1], 16), parseInt(it[2], 16)]);
    return [...new Set(spans.filter(([start, end]) => end > start).map(([start]) => start))].sort((a, b) => a - b);
}

// The one of several names that is no alias within the library.
const isAlias = (name) => name.startsWith("__GI_") || name.startsWith("__EI_");
const all = functions(debugFile, "--syms").sort(
    (one, other) => one[0] - other[0] || isAlias(one[2]) - isAlias(other[2]) || (one[2] < other[2] ? -1 : 1),
);
const exported = new Set(functions(library, "--dyn-syms").map(([address]) => address));

function nameAt(address) {
    const own = all.find(([start]) => start === address);
    return (own ?? all.find(([start, size]) => start < address && address < start + size))?.[2];
}

const hidden = starts(library).filter((address) => !exported.has(address));
const lines = hidden.flatMap((address) => {
    const name = nameAt(address);
    return name ? [`${address.toString(16)} ${name}`] : [];
});
if (exported.size === 0 || lines.length === 0) {
    console.error(`readelf printed no functions of ${library} or of ${debugFile}`);
    process.exit(1);
}
console.log(`# ${description}`);
console.log(
    `# scripts/library-names.sh: ${lines.length} of ${hidden.length} places where code begins that is not exported, by the debug package of the same build`,
);
console.log(lines.join("\n"));
