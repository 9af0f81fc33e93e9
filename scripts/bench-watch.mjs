// Cost of watching, idle and busy, at two frequencies, in turn with perf. For bench-watch.sh.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { cpuNanos } from "./cpu-time.mjs";

const [program, work, seconds, rounds, loads, frequencies] = process.argv.slice(2).map((it, at) => (at < 4 ? it : it.split(" ")));
/** Time from the start of a sampler to its first sample, with a margin. */
const START_MILLISECONDS = 4000;
/** Windows to skip: the first ones learn names, and only later cost is measured. */
const WARM_MILLISECONDS = 60_000;

/** Time and runs of the kernel programs of a process. */
function programs(pid) {
  const found = new Map();
  for (const fd of readdirSync(`/proc/${pid}/fdinfo`)) {
    let text;
    try {
      text = readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8");
    } catch {
      continue;
    }
    const value = (key) => new RegExp(`^${key}:\\s*(\\d+)`, "m").exec(text)?.[1];
    if (value("run_time_ns")) found.set(value("prog_id"), { nanos: Number(value("run_time_ns")), runs: Number(value("run_cnt")) });
  }
  return [...found.values()].reduce((sum, it) => ({ nanos: sum.nanos + it.nanos, runs: sum.runs + it.runs }), { nanos: 0, runs: 0 });
}

const memory = (pid) => Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

function largest(directory) {
  const files = readdirSync(directory, { recursive: true }).filter((name) => name.endsWith(".pb.gz"));
  return Math.max(0, ...files.map((name) => statSync(`${directory}/${name}`).size));
}

async function ended(child) {
  child.kill("SIGINT");
  await new Promise((resolve) => child.on("close", resolve));
}

/** Returns the growth of `read` over a round, per nanosecond. */
async function rates(read) {
  const [start, before] = [process.hrtime.bigint(), read()];
  await sleep(1000 * seconds);
  const after = read();
  const elapsed = Number(process.hrtime.bigint() - start);
  return Object.fromEntries(Object.keys(before).map((key) => [key, (after[key] - before[key]) / elapsed]));
}

async function perfed(freq) {
  const child = spawn("perf", ["record", "--quiet", "-a", "-g", "-e", "cpu-clock", "-F", freq, "-o", `${work}/perf.data`], { stdio: "ignore" });
  await sleep(START_MILLISECONDS);
  const { cpu } = await rates(() => ({ cpu: cpuNanos(child.pid) }));
  const mib = memory(child.pid);
  await ended(child);
  return { cpu, mib };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Makes rounds of ours and of perf at a frequency. Ours continues while perf runs: each has its own CPU time. */
async function compared(freq) {
  const directory = `${work}/windows`;
  rmSync(directory, { recursive: true, force: true });
  const child = spawn(program, ["watch", "--config", `${work}/watch.toml`, "-o", directory, "--frequency", freq], { stdio: "ignore" });
  await sleep(WARM_MILLISECONDS);
  const found = [];
  for (let round = 0; round < rounds; round++) {
    const ours = await rates(() => ({ process: cpuNanos(child.pid), ...programs(child.pid) }));
    found.push({ ...ours, perf: await perfed(freq) });
  }
  const mib = memory(child.pid);
  await ended(child);
  const of = (value) => median(found.map(value));
  return {
    process: of((it) => it.process),
    kernel: of((it) => it.nanos),
    both: of((it) => it.process + it.nanos),
    perf: of((it) => it.perf.cpu),
    ratio: of((it) => it.process / it.perf.cpu),
    mib,
    perfMib: of((it) => it.perf.mib),
    window: largest(directory) / 1024,
  };
}

const row = (...cells) => console.log(cells.map((cell, at) => (at ? String(cell).padStart(14) : cell.padEnd(14))).join(""));
row("% of a core", "process", "kernel program", "both", "MiB", "window, KiB", "perf process", "perf, MiB", "ours/perf");
for (const load of loads) {
  const publishing = load === "busy" ? spawn(program, ["load", "-x", "2", "-y", "2", "-u", "bench", "-z", "3600"], { stdio: "ignore", cwd: work }) : null;
  if (publishing) await sleep(START_MILLISECONDS);
  for (const freq of frequencies) {
    const it = await compared(freq);
    const share = (value) => (100 * value).toFixed(3);
    row(`${load}, ${freq} Hz`, share(it.process), share(it.kernel), share(it.both), it.mib.toFixed(1), it.window.toFixed(1), share(it.perf), it.perfMib.toFixed(1), it.ratio.toFixed(2));
  }
  if (publishing) await ended(publishing);
}
