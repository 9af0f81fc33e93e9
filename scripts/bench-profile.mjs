// Turns the times of scripts/bench-profile.sh into the table of docs/measurements/performance.md.
//
//   node scripts/bench-profile.mjs DIRECTORY DOCUMENT
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

const [, , directory, document] = process.argv;
const rows = (name) =>
  readFileSync(`${directory}/${name}`, "utf8").trim().split("\n").map((line) => line.split("\t"));
const times = new Map(rows("times.txt").map(([name, seconds, kib]) => [name, { seconds: Number(seconds), kib: Number(kib) }]));
const totals = new Map(rows("totals.txt").map(([name, total]) => [name, Number(total)]));
const size = readFileSync(`${directory}/size.txt`, "utf8").trim();

const lines = [
  ["rabbitscope", "`rabbitscope flamegraph`, from `perf.data`"],
  ["perl", "`perf script \\| stackcollapse-perf.pl`"],
  ["inferno", "`perf script \\| inferno-collapse-perf`"],
  ["rabbitscope-text", "`rabbitscope flamegraph`, from text that is there already"],
  ["inferno-text", "`inferno-collapse-perf`, from the same text"],
];
const of = (name) => times.get(name).seconds;
const against = (name) => of(name) / of(name.endsWith("-text") ? "rabbitscope-text" : "rabbitscope");
const table = lines.map(([name, what]) => {
  const { seconds, kib } = times.get(name);
  const share = name.startsWith("rabbitscope") ? "1" : against(name).toFixed(1);
  return `| ${what} | ${seconds.toFixed(1)} s | ${share} | ${Math.round(kib / 1024)} MiB | ${totals.get(name)} |`;
});
const text = [
  `${size}; ${cpus().length} × ${cpus()[0].model}; ${new Date().toISOString().slice(0, 10)}.`,
  "",
  "| | time | times as long as rabbitscope | most memory of a process | sum of the result |",
  "| --- | --- | --- | --- | --- |",
  ...table,
  "",
].join("\n");
console.log(`\n${text}`);

const [begin, end] = ["begin", "end"].map((word) => `<!-- made by make bench-profile: ${word} -->`);
const page = readFileSync(document, "utf8");
const [before, rest] = page.split(begin);
const after = rest.split(end)[1];
writeFileSync(document, `${before}${begin}\n${text}${end}${after}`);
