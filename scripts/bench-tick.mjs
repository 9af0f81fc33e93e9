// The same computation under several samplers, in turn. For bench-tick.sh.
import { execFileSync, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

import { quantile } from "./quantile.mjs";

/** Time from the start of a sampler to its first sample, with a margin. */
const START_MILLISECONDS = 2500;
/** Time of a piece of the computation without sampling. */
const MICROSECONDS = 20_000;
const PIECES = 75;
/** Counts the fast pieces only: slow ones were held up by other guests on the host's core. */
const FAST = 0.1;

const [program, work, pid, node, ...numbers] = process.argv.slice(2);
const [rounds, freq] = numbers.map(Number);

const perf = (...options) => ["perf", "record", "--quiet", "-F", freq, "-o", `${work}/perf.data`, ...options];
const SAMPLERS = {
  nothing: null,
  "a clock that does nothing": perf("-e", "cpu-clock", "-a"),
  rabbitscope: [program, "profile", "--pid", pid, "--freq", freq, "--no-names", "-o", `${work}/profile.pb.gz`],
  "perf record -g": perf("-e", "cpu-clock", "-p", pid, "-g"),
  "perf record --call-graph dwarf": perf("-e", "cpu-clock", "-p", pid, "--call-graph", "dwarf"),
};

/** Returns the values of Erlang expressions on the node: numbers in a list. */
function ask(expression) {
  const answer = execFileSync("erl_call", ["-timeout", "60", "-sname", node, "-e"], { input: `${expression}.\n`, encoding: "utf8" });
  const numbers = /^\{ok, \[([\d, ]+)\]\}$/.exec(answer.trim());
  if (!numbers) throw new Error(`${expression}: ${answer}`);
  return numbers[1].split(", ").map(Number);
}

/** Returns the microseconds of each piece of work under a sampler. */
async function timed(command, amount) {
  const work = `bench_tick:run(${amount}, ${PIECES})`;
  if (!command) return ask(work);
  const sampler = spawn(command[0], command.slice(1).map(String), { stdio: "ignore" });
  const ended = new Promise((resolve) => sampler.on("close", resolve));
  await sleep(START_MILLISECONDS);
  const pieces = ask(work);
  if (sampler.exitCode !== null) throw new Error(`${command[0]} has ended with ${sampler.exitCode} before its time`);
  sampler.kill("SIGINT");
  await ended;
  return pieces;
}

// Without type marks, Erlang would print such lists of numbers as text.
ask(`begin {module, bench_tick} = code:load_abs("${work}/bench_tick"), [1000] end`);
const trial = 500;
const amount = Math.round((trial * MICROSECONDS) / quantile(ask(`bench_tick:run(${trial}, ${PIECES})`), FAST));
const found = Object.fromEntries(Object.keys(SAMPLERS).map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, command] of Object.entries(SAMPLERS)) found[name].push(await timed(command, amount));
}
const fast = (pieces) => quantile(pieces, FAST);
const alone = fast(found.nothing.flat());
const row = (...cells) => console.log(cells.map((cell, at) => (at ? String(cell).padStart(12) : cell.padEnd(32))).join("  "));
row(`${freq} Hz, ${rounds} rounds`, "a piece, ms", "more, %", "µs a tick");
for (const [name, all] of Object.entries(found)) {
  const more = fast(all.flat()) / alone - 1;
  row(name, (fast(all.flat()) / 1000).toFixed(3), (more * 100).toFixed(2), ((more / freq) * 1e6).toFixed(1));
}
