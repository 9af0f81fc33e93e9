// A load with and without samplers, stretch after stretch. For bench-overhead.sh.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { quantile } from "./quantile.mjs";

/** Time from the start of a recorder to its first sample, with a margin. */
const START_SECONDS = 3;
const WARM_UP_SECONDS = 10;
/** Time until an ended recorder has no more effect. */
const REST_SECONDS = 1;

const [program, work, broker, samplerNames, ...numbers] = process.argv.slice(2);
const samplers = samplerNames.split(" ");
for (const name of samplers) {
  if (!["rabbitscope", "clock", "perf"].includes(name)) throw new Error(`SAMPLERS: there is no ${name}; there are rabbitscope, clock and perf`);
}
const [pairs, seconds, freq] = numbers.map(Number);
const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"]));

/** CPU seconds of a process so far, 0 after its end. */
function cpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Time of all CPUs that went to other guests of the host. */
const stolenSeconds = () => Number(readFileSync("/proc/stat", "utf8").split(/\s+/)[8]) / ticksPerSecond;

const load = spawn(program, ["run", `${work}/load.toml`, "--out", `${work}/out`, "--json-lines"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => load.kill("SIGINT"));
const ended = new Promise((resolve) => load.on("close", resolve));
const lines = createInterface({ input: load.stdout })[Symbol.asyncIterator]();
/** Returns the next second of the load. */
async function second() {
  const { value, done } = await lines.next();
  if (done) throw new Error("the load has ended");
  return JSON.parse(value);
}

async function skip(count) {
  for (let at = 0; at < count; at++) await second();
}

/** Measures this many seconds of load. */
async function stretch(recorder) {
  const read = () => ({ broker: cpuSeconds(broker), recorder: recorder ? cpuSeconds(recorder) : 0, stolen: stolenSeconds() });
  const before = read();
  const began = process.hrtime.bigint();
  const rows = [];
  while (rows.length < seconds) rows.push(await second());
  const after = read();
  const elapsed = Number(process.hrtime.bigint() - began) / 1e9;
  const confirmed = rows.reduce((sum, row) => sum + row.confirmed, 0);
  return {
    rate: median(rows.map((row) => (row.confirmed * 1e9) / row["interval-nanos"])),
    microsEach: ((after.broker - before.broker) / confirmed) * 1e6,
    stolen: (after.stolen - before.stolen) / elapsed,
    recorder: (after.recorder - before.recorder) / elapsed,
  };
}

/** Measures the same under a sampler. */
async function sampled(sampler) {
  const duration = seconds + START_SECONDS + 1;
  const perf = ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", freq, "-o", `${work}/perf.data`];
  const [command, ...args] = {
    rabbitscope: [program, "profile", "--pid", broker, "--freq", freq, "--duration", `${duration}s`, "--no-names", "-o", `${work}/profile.pb.gz`],
    clock: [...perf, "-a", "--", "sleep", duration],
    perf: [...perf, "-p", broker, "-g", "--", "sleep", duration],
  }[sampler];
  const recorder = spawn(command, args.map(String), { stdio: "ignore" });
  const gone = new Promise((resolve) => recorder.on("close", resolve));
  await skip(START_SECONDS);
  const found = await stretch(recorder.pid);
  if (recorder.exitCode !== null) throw new Error("the recorder has ended before its time");
  const lag = gone.then(() => "gone");
  while ((await Promise.race([lag, second()])) !== "gone");
  if (recorder.exitCode !== 0) throw new Error(`the recorder has ended with ${recorder.exitCode}`);
  await skip(REST_SECONDS);
  return found;
}

function median(values) {
  return quantile(values, 0.5);
}

const widths = [4, -11, 11, 11, 8, 11, 11, 8, 9, 11];
const cell = (text, width) => (width < 0 ? String(text).padEnd(-width) : String(text).padStart(width));
const row = (...cells) => console.log(cells.map((text, at) => cell(text, widths[at])).join("  "));
const percent = (share) => (share * 100).toFixed(2);

await skip(WARM_UP_SECONDS);
row("pair", "sampler", "without/s", "with/s", "loss %", "µs without", "µs with", "more %", "stolen %", "recorder %");
const found = Object.fromEntries(samplers.map((sampler) => [sampler, []]));
let before = await stretch();
/** Reverses every other pair, so that effects of one sampler do not always count for the same other. */
const order = (pair) => (pair % 2 ? samplers : samplers.toReversed());
const turns = Array.from({ length: pairs }, (_, at) => order(at + 1).map((sampler) => [at + 1, sampler])).flat();
for (const [pair, sampler] of turns) {
  const during = await sampled(sampler);
  const after = await stretch();
  const without = (of) => (of(before) + of(after)) / 2;
  const [rate, micros] = [without((it) => it.rate), without((it) => it.microsEach)];
  const one = {
    loss: 1 - during.rate / rate,
    more: during.microsEach / micros - 1,
    recorder: during.recorder,
    stolen: (before.stolen + during.stolen + after.stolen) / 3,
  };
  found[sampler].push(one);
  row(pair, sampler, Math.round(rate), Math.round(during.rate), percent(one.loss), micros.toFixed(2), during.microsEach.toFixed(2), percent(one.more), percent(one.stolen), percent(one.recorder));
  before = after;
}
load.kill("SIGINT");
for (;;) if ((await lines.next()).done) break;
await ended;
const summary = (name, values) => {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => percent(quantile(values, share)));
  console.log(`  ${name}: median ${middle} % (quartiles ${low} and ${high}, ${values.length} pairs)`);
};
for (const [sampler, pairsOfIt] of Object.entries(found)) {
  console.log(`${sampler} at ${freq} Hz`);
  summary("throughput lost", pairsOfIt.map((it) => it.loss));
  summary("more CPU of the broker a message", pairsOfIt.map((it) => it.more));
  if (found.clock && sampler !== "clock") {
    summary("  of it more than the clock's", pairsOfIt.map((it, at) => it.more - found.clock[at].more));
  }
  summary("CPU of the recorder, of one core", pairsOfIt.map((it) => it.recorder));
  summary("taken away by the host, of one core", pairsOfIt.map((it) => it.stolen));
}
