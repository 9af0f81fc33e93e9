// Names of the functions of a stripped executable, from another build of the same source:
//
//   node emulator-names.mjs STRIPPED BUILT DESCRIPTION >BUILD-ID.names
//
// Both are disassembled (objdump) and cut into functions by their unwind tables, which survive stripping. Two functions
// form a pair if their instructions are equal with addresses masked, and unique in either file. In later passes, calls of
// known functions count by name. If both sides have the same number of functions between two pairs, these are paired in
// order: such names are inferred, and have a question mark.
//
// The check, on standard error, uses the true names of functions that the stripped file exports.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";

const [, , strippedPath, builtPath, description] = process.argv;
const MAX_OUTPUT = 2 ** 30;
const run = (program, ...options) => execFileSync(program, options, { maxBuffer: MAX_OUTPUT }).toString("latin1");

// Start and end of every function that has unwind rows.
function spans(path) {
    const text = run("objdump", "--dwarf=frames", path);
    const found = [...text.matchAll(/ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)/g)];
    const all = found.map((it) => [parseInt(it[1], 16), parseInt(it[2], 16)]);
    return all.filter(([start, end]) => end > start).sort((one, other) => one[0] - other[0]);
}

// Names by address; the first of several that is no local label.
function symbols(path, ...options) {
    const names = new Map();
    for (const line of run("nm", "--defined-only", ...options, path).split("\n")) {
        const match = /^([0-9a-f]+) [TtWwVvi] (\S+?)(@.*)?$/.exec(line);
        if (!match) continue;
        const address = parseInt(match[1], 16);
        if (!names.has(address)) names.set(address, match[2]);
    }
    return names;
}

// Instructions by function. Direct calls and jumps out of the function are kept as addresses.
function functionsOf(path) {
    const all = spans(path).map(([start, end]) => ({ start, end, lines: [], targets: [] }));
    const byStart = all.map((it) => it.start);
    const done = spawnSync("objdump", ["-d", "--no-show-raw-insn", "-w", path], { maxBuffer: MAX_OUTPUT });
    let at = 0;
    for (const line of done.stdout.toString("latin1").split("\n")) {
        const match = /^\s*([0-9a-f]+):\t(.*)$/.exec(line);
        if (!match) continue;
        const address = parseInt(match[1], 16);
        while (at + 1 < byStart.length && byStart[at + 1] <= address) at += 1;
        const own = all[at];
        if (address >= own.start && address < own.end) add(own, match[2]);
    }
    return all;
}

function add(own, text) {
    let instruction = text.replace(/\s+#.*$/, "").replace(/\s*<[^>]*>/g, "").trim();
    const jump = /^((?:bnd |notrack |data16 |rep )*(?:call|jmp|j[a-z]+|loop\w*|xbegin)q?)\s+([0-9a-f]+)$/.exec(instruction);
    if (jump) {
        const target = parseInt(jump[2], 16);
        const isWithin = target >= own.start && target < own.end;
        instruction = isWithin ? `${jump[1]} +${target - own.start}` : `${jump[1]} @`;
        if (!isWithin) own.targets.push([own.lines.length, target]);
    }
    own.lines.push(instruction.replace(/-?0x[0-9a-f]+\(%rip\)/g, "M(%rip)"));
}

const digest = (text) => createHash("sha1").update(text).digest("base64");

// `names`: names of paired functions by address.
function keyOf(own, names) {
    const lines = [...own.lines];
    for (const [line, target] of own.targets) if (names.has(target)) lines[line] += names.get(target);
    return digest(lines.join("\n"));
}

function groups(functions, names) {
    const found = new Map();
    for (const own of functions) {
        const key = keyOf(own, names);
        if (!found.has(key)) found.set(key, []);
        found.get(key).push(own);
    }
    return found;
}

const stripped = functionsOf(strippedPath);
const built = functionsOf(builtPath);
const builtNames = symbols(builtPath);
const nameOf = (own) => builtNames.get(own.start);
const pairs = new Map(); // by function of the stripped file: { built, kind }
const taken = new Set();

function pair(one, other, kind) {
    pairs.set(one, { built: other, kind });
    taken.add(other);
}

// Pairs functions with unique instructions. Returns their number.
function pairUnique() {
    const [here, there] = [new Map(), new Map()];
    for (const [one, { built: other }] of pairs) {
        if (nameOf(other) === undefined) continue;
        here.set(one.start, nameOf(other));
        there.set(other.start, nameOf(other));
    }
    const left = groups(stripped.filter((it) => !pairs.has(it)), here);
    const right = groups(built.filter((it) => !taken.has(it)), there);
    let count = 0;
    for (const [key, one] of left) {
        const other = right.get(key);
        if (one.length !== 1 || other?.length !== 1) continue;
        pair(one[0], other[0], "code");
        count += 1;
    }
    return count;
}

// Pairs functions between two neighbouring pairs, if both sides have the same number.
function pairBetween() {
    const place = new Map(built.map((own, at) => [own, at]));
    const anchors = [...stripped.keys()].filter((at) => pairs.has(stripped[at]));
    let count = 0;
    for (let at = 0; at + 1 < anchors.length; at += 1) {
        const [from, to] = [anchors[at], anchors[at + 1]];
        const [first, last] = [from, to].map((it) => place.get(pairs.get(stripped[it]).built));
        const length = to - from;
        if (length < 2 || last - first !== length) continue;
        const between = built.slice(first + 1, last);
        if (between.some((own) => taken.has(own))) continue;
        between.forEach((other, within) => {
            const one = stripped[from + 1 + within];
            const isSame = keyOf(one, new Map()) === keyOf(other, new Map());
            pair(one, other, isSame ? "code" : "place");
            count += 1;
        });
    }
    return count;
}

while (pairUnique() > 0);
pairBetween();
while (pairUnique() > 0);
pairBetween();

// The check with known names.
const exported = symbols(strippedPath, "-D");
const aliases = (address) => {
    const all = run.aliases ?? (run.aliases = run("nm", "--defined-only", builtPath));
    const digits = address.toString(16).padStart(16, "0");
    return all.split("\n").filter((line) => line.startsWith(digits)).map((line) => line.split(" ")[2]);
};
const checked = { code: [0, 0], place: [0, 0] };
const wrong = [];
for (const [one, { built: other, kind }] of pairs) {
    const truth = exported.get(one.start);
    if (truth === undefined || nameOf(other) === undefined) continue;
    const agrees = nameOf(other) === truth || aliases(other.start).includes(truth);
    checked[kind][agrees ? 0 : 1] += 1;
    if (!agrees && wrong.length < 20) wrong.push(`${truth} was called ${nameOf(other)}`);
}
const named = stripped.filter((own) => !exported.has(own.start));
const lines = named.flatMap((own) => {
    const found = pairs.get(own);
    const name = found && nameOf(found.built);
    return name === undefined ? [] : [`${own.start.toString(16)} ${name}${found.kind === "place" ? "?" : ""}`];
});
const byPlace = lines.filter((line) => line.endsWith("?")).length;
const summary =
    `${lines.length} of ${named.length} functions that are not exported have a name, ${byPlace} of them by their place; ` +
    `of exported functions ${checked.code[0]} names by code agree and ${checked.code[1]} differ, ` +
    `${checked.place[0]} by place agree and ${checked.place[1]} differ`;
console.error(summary);
for (const text of wrong) console.error(`  ${text}`);
console.log(`# ${description}`);
console.log(`# scripts/emulator-names.sh: ${summary}`);
console.log(lines.join("\n"));
