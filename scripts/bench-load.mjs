// Arithmetic of bench-load.sh: rates and CPU of one measurement, medians of all, and the benchmark's sections of
// docs/measurements/performance.md.

import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

const WORKLOADS = {
  "classic-autoack": { column: "consumed", what: "classic queue, no confirms, auto-ack" },
  "classic-confirm": { column: "consumed", what: "classic queue, 1,000 unconfirmed, prefetch 500, an ack every 100" },
  "stream-publish": { column: "confirmed", what: "stream, publish only, 2,000 unconfirmed, persistent" },
};
const CLIENTS = [
  ["rabbitscope", "rabbitscope"],
  ["rabbitscope-1ms", "rabbitscope, `run.step = \"1ms\"`"],
  ["perf-test", "PerfTest"],
];
const COMPARISON = "make bench-load";
const SINKS = "make bench-load PROTOCOL=all";

const readLines = (file) => readFileSync(file, "utf8").trim().split("\n").filter(Boolean);
const readAll = (file) => readLines(file).map((line) => JSON.parse(line));

/** Messages a second in each second, from a run's series. */
function ratesOfSeries(lines, column) {
  const rows = lines.map((line) => JSON.parse(line)).filter((row) => !row.draining);
  return rows.map((row) => (row[column] * 1e9) / row["interval-nanos"]);
}

/** Messages a second in each second, from PerfTest's output. */
function ratesOfLog(lines, column) {
  const name = column === "consumed" ? "received" : column;
  const found = lines.map((line) => new RegExp(`, time .*${name}: ([\\d,]+) msg/s`).exec(line));
  return found.filter(Boolean).map((match) => Number(match[1].replaceAll(",", "")));
}

/** Median latency of each second in milliseconds: end to end, or of confirms without consumers. */
function latenciesOfSeries(lines, column) {
  const rows = lines.map((line) => JSON.parse(line)).filter((row) => !row.draining);
  const name = column === "consumed" ? "end-to-end-latency" : "confirm-latency";
  return rows.map((row) => (row[name] ? row[name].p50 / 1e6 : NaN));
}

/** The same from PerfTest's output. */
function latenciesOfLog(lines, column) {
  const name = column === "consumed" ? "consumer" : "confirm";
  const pattern = new RegExp(`, time .*${name} latency: [\\d,]+/([\\d,]+)/.* (µs|ms)`);
  const found = lines.filter((line) => line.includes(", time ")).map((line) => pattern.exec(line));
  return found.map((match) => (match ? Number(match[1].replaceAll(",", "")) / (match[2] === "ms" ? 1 : 1000) : NaN));
}

function measured(file, tool, workload, kind, round, seconds, warmUp, window, ticks, ticksPerSecond, nanos) {
  const { column } = WORKLOADS[workload];
  const isOurs = tool !== "perf-test";
  const rates = (isOurs ? ratesOfSeries : ratesOfLog)(readLines(seconds), column);
  const latencies = (isOurs ? latenciesOfSeries : latenciesOfLog)(readLines(seconds), column)
    .slice(1 + Number(warmUp), 1 + Number(warmUp) + Number(window))
    .filter(Number.isFinite);
  // The first row precedes the warm-up.
  const within = rates.slice(1 + Number(warmUp), 1 + Number(warmUp) + Number(window));
  if (within.length < Number(window)) throw new Error(`${seconds} has ${rates.length} seconds, too few`);
  const perSecond = within.reduce((sum, rate) => sum + rate, 0) / within.length;
  const cores = (Number(ticks) / Number(ticksPerSecond)) / (Number(nanos) / 1e9);
  const row = { workload, kind, round: Number(round), tool, perSecond, cores, microsPerMessage: (cores * 1e6) / perSecond, medianMillis: latencies.length ? median(latencies) : null };
  appendFileSync(file, `${JSON.stringify(row)}\n`);
  console.log(
    `${workload.padEnd(16)} ${kind.padEnd(10)} ${round}  ${tool.padEnd(15)} ${Math.round(perSecond).toString().padStart(8)}/s` +
      ` ${cores.toFixed(3).padStart(7)} cores ${row.microsPerMessage.toFixed(3).padStart(8)} µs a message`,
  );
}

/** Prints 95 % of PerfTest's rate in this round. */
function limit(file, workload, round) {
  const rows = readAll(file).filter((row) => row.workload === workload && row.round === Number(round));
  const reached = rows.find((row) => row.tool === "perf-test" && row.kind === "saturation");
  console.log(Math.floor(0.95 * reached.perSecond));
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Computes ratios round by round, so that a slow-down of the machine affects both sides. */
function comparison(rows, kind, value, invert, tool = "rabbitscope") {
  const of = (tool) => rows.filter((row) => row.kind === kind && row.tool === tool);
  const ours = of(tool);
  const ratios = ours.map((row) => {
    const theirs = of("perf-test").find((other) => other.round === row.round);
    return invert ? value(theirs) / value(row) : value(row) / value(theirs);
  });
  return {
    ours: median(ours.map(value)),
    theirs: median(of("perf-test").map(value)),
    ratio: median(ratios),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    rounds: ours.length,
  };
}

const grouped = (number) => Math.round(number).toLocaleString("en-US");
const times = (it, digits) => `${it.ratio.toFixed(digits)} (${it.least.toFixed(digits)}–${it.most.toFixed(digits)})`;

function comparisonTables(rows) {
  const present = Object.keys(WORKLOADS).filter((name) => rows.some((row) => row.workload === name));
  const lines = ["### As fast as it goes", "", "| workload | rabbitscope, messages/s | PerfTest, messages/s | ratio |", "| --- | ---: | ---: | ---: |"];
  for (const name of present) {
    const it = comparison(rows.filter((row) => row.workload === name), "saturation", (row) => row.perSecond);
    lines.push(`| ${WORKLOADS[name].what} | ${grouped(it.ours)} | ${grouped(it.theirs)} | ${times(it, 2)} |`);
  }
  lines.push("", "### CPU of the client as fast as it goes", "");
  lines.push("| workload | rate of rabbitscope, messages/s | rabbitscope, µs a message | PerfTest, µs a message | PerfTest needs times |", "| --- | ---: | ---: | ---: | ---: |");
  const rateOf = (own, kind, tool) => median(own.filter((row) => row.kind === kind && row.tool === tool).map((row) => row.perSecond));
  for (const name of present) {
    const own = rows.filter((row) => row.workload === name);
    const it = comparison(own, "saturation", (row) => row.microsPerMessage, true);
    const rate = rateOf(own, "saturation", "rabbitscope");
    lines.push(`| ${WORKLOADS[name].what} | ${grouped(rate)} | ${it.ours.toFixed(2)} | ${it.theirs.toFixed(2)} | ${times(it, 1)} |`);
  }
  lines.push("", "### CPU of the client at the same rate", "");
  lines.push("| workload | client | messages/s | µs a message | PerfTest needs times | median latency, ms |", "| --- | --- | ---: | ---: | ---: | ---: |");
  for (const name of present) {
    const own = rows.filter((row) => row.workload === name);
    for (const [tool, called] of CLIENTS) {
      const mine = own.filter((row) => row.kind === "same-rate" && row.tool === tool);
      if (mine.length === 0) continue;
      const ratio = tool === "perf-test" ? "" : times(comparison(own, "same-rate", (row) => row.microsPerMessage, true, tool), 1);
      const latencies = mine.map((row) => row.medianMillis).filter((value) => value !== null);
      const latency = latencies.length ? median(latencies).toFixed(2) : "";
      const micros = median(mine.map((row) => row.microsPerMessage)).toFixed(2);
      lines.push(`| ${WORKLOADS[name].what} | ${called} | ${grouped(rateOf(own, "same-rate", tool))} | ${micros} | ${ratio} | ${latency} |`);
    }
  }
  return lines;
}

/** The machine, and the day. */
function measuredOn() {
  const machine = `${cpus().length} CPUs (${cpus()[0].model.trim()}), ${(totalmem() / 2 ** 30).toFixed(1)} GiB, Linux ${release()}`;
  return `Measured ${new Date().toISOString().slice(0, 10)} on ${machine}.`;
}

/** Replaces the section between the marks of a command. */
function write(results, document, command, lines) {
  const [begin, end] = ["begin", "end"].map((edge) => `<!-- made by ${command}: ${edge} -->`);
  const text = readFileSync(document, "utf8");
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`${document} has no place for the figures`);
  writeFileSync(document, text.slice(0, before) + [begin, ...lines].join("\n") + "\n" + text.slice(after));
  console.log(`\n${lines.join("\n")}\n\nwritten to ${document}; every measurement is in ${results}`);
}

function sinkRows(results, name) {
  const all = readAll(`${results}/${name}`);
  const sizes = [...new Set(all.map((round) => round["body-bytes"]))];
  return sizes.map((size) => {
    const rounds = all.filter((round) => round["body-bytes"] === size);
    const cell = (figure) => {
      const values = rounds.map((round) => round[figure]).filter((value) => value !== undefined);
      if (values.length === 0) return "";
      return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;
    };
    const figures = ["published-millions-per-core", "bare-millions-per-core", "ratio", "unanswered-millions-per-core"];
    return `| \`${name.slice(5, -6)}\` | ${grouped(size)} | ${figures.map(cell).join(" | ")} |`;
  });
}

function sinks(results, document, rounds, seconds) {
  const names = readdirSync(results).sort().filter((name) => name.startsWith("sink-"));
  const parsed = /^parsed: ([\d.]+) million/m.exec(readFileSync(`${results}/codec.txt`, "utf8"))?.[1];
  write(results, document, SINKS, [
    `${measuredOn()} ${rounds} rounds of ${seconds} s each. Figures are medians, with their range in parentheses: millions of messages for each second of CPU of the thread that sends.`,
    "",
    "| protocol | bytes of a body | published | bare writer of the same bytes | ratio | bare writer without answers |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...names.flatMap((name) => sinkRows(results, name)),
    "",
    `Deliveries of AMQP 0-9-1 parsed from a recorded stream: ${parsed ?? "?"} million for each second of CPU.`,
  ]);
}

function report(results, document, version, warmUp, window) {
  const rows = readAll(`${results}/measurements.jsonl`);
  const rounds = new Set(rows.map((row) => row.round)).size;
  write(results, document, COMPARISON, [
    `${measuredOn()} PerfTest ${version}; ${rounds} rounds, ${warmUp} s warm-up, ${window} s measured each.` +
      " Figures are medians; ratios are medians of the rounds' ratios, their range in parentheses.",
    "",
    ...comparisonTables(rows),
  ]);
}

const [command, ...rest] = process.argv.slice(2);
({ measured, limit, report, sinks })[command](...rest);
