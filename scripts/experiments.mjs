// Writes the table of experiments from their results: node experiments.mjs RESULTS DOCUMENT
// Rows of experiments that have no result there stay as they are.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const [, , results, document] = process.argv;
const begin = "<!-- made by make experiments: begin -->";
const end = "<!-- made by make experiments: end -->";

const times = (ratio) => `×${ratio.toFixed(ratio >= 0.1 ? 2 : ratio >= 0.01 ? 3 : 4)}`;
const percent = (ratio) =>
    ratio >= 0.5 && ratio < 2 ? `${ratio < 1 ? "−" : "+"}${Math.abs(100 * (ratio - 1)).toFixed(1)} %` : times(ratio);
const met = { true: "met", false: "not met", null: "cannot be told" };

function row(name) {
    const result = JSON.parse(readFileSync(`${results}/${name}/experiment.json`, "utf8"));
    const primary = result.comparisons.filter((it) => it.metric === 0);
    const measured = primary.map((it) => {
        const arm = result.arms[it.arm];
        if (it.ratio === null) return `${arm.name}: no round counts`;
        const interval = it.low === null ? "too few rounds" : `${percent(it.low)} to ${percent(it.high)}`;
        return `${arm.control ? "control" : arm.name}: ${percent(it.ratio)} (${interval})`;
    });
    // An interrupted round does not count.
    const runsOf = (round) => result.runs.filter((run) => run.round === round).length;
    const complete = [...new Set(result.runs.map((run) => run.round))].filter((round) => runsOf(round) >= result.arms.length);
    const rounds = complete.length;
    const dropped = complete.filter((round) => result.dropped.some((it) => it.round === round)).length;
    const cells = [
        name,
        result.known ? result.known.expect.map((it) => `\`${it}\``).join(", ") : "",
        `${result.metrics[0].name} against ${result.arms[0].name}: ${measured.join("; ")}`,
        `${rounds - dropped} of ${rounds}`,
        result.known ? met[String(result.known.met)] : "",
    ];
    return `| ${cells.join(" | ")} |`;
}

const text = readFileSync(document, "utf8");
const [before, rest] = text.split(begin);
const [earlier, after] = rest.split(end);
const rows = new Map();
for (const line of earlier.trim().split("\n").slice(2)) rows.set(line.split(" | ")[0].slice(2), line);
for (const name of readdirSync(results)) {
    if (existsSync(`${results}/${name}/experiment.json`)) rows.set(name, row(name));
}
const table = [
    "| experiment | known | measured here, with intervals | rounds that count | |",
    "| --- | --- | --- | --- | --- |",
    ...[...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line),
].join("\n");
writeFileSync(document, `${before}${begin}\n${table}\n${end}${after}`);
console.log(table);
