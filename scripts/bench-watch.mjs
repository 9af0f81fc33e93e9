// What watching costs, idle and busy, at two frequencies, in turn with perf. For bench-watch.sh.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [program, work, seconds] = process.argv.slice(2);
/** From the start of a sampler until it samples, and a little. */
const START_MILLISECONDS = 4000;
/** Watching learns names in its first windows: what is measured is what it costs for the rest of the day. */
const WARM_MILLISECONDS = 45_000;
const FREQUENCIES = [19, 99];

/** CPU time of a process in seconds: user and system, of `proc_pid_stat(5)`. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** CPU time of a process in nanoseconds, more finely than in ticks: all of its threads. */
function cpuNanos(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, tid) => sum + Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, "utf8").split(" ")[0]), 0);
}

/** Time and runs of the kernel programs that a process has. */
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

/** Shares of a core, in percent, while `work` goes on. */
async function measured(pid, read, wait = START_MILLISECONDS) {
  await sleep(wait);
  const [start, before] = [process.hrtime.bigint(), read(pid)];
  await sleep(1000 * seconds);
  const elapsed = Number(process.hrtime.bigint() - start);
  const after = read(pid);
  return { elapsed, before, after };
}

async function watched(freq) {
  const directory = `${work}/windows`;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const child = spawn(program, ["watch", "-o", directory, "--frequency", freq], { stdio: "ignore" });
  const { elapsed, before, after } = await measured(child.pid, (pid) => ({ cpu: cpuNanos(pid), kernel: programs(pid) }), WARM_MILLISECONDS);
  const mib = memory(child.pid);
  await ended(child);
  const share = (nanos) => (100 * nanos) / elapsed;
  const process_ = share(after.cpu - before.cpu);
  const kernel = share(after.kernel.nanos - before.kernel.nanos);
  return { process_, kernel, mib, window: largest(directory) };
}

async function perfed(freq) {
  const child = spawn("perf", ["record", "--quiet", "-a", "-g", "-e", "cpu-clock", "-F", freq, "-o", `${work}/perf.data`], { stdio: "ignore" });
  const { elapsed, before, after } = await measured(child.pid, cpuSeconds);
  const mib = memory(child.pid);
  await ended(child);
  return { share: (100e9 * (after - before)) / elapsed, mib };
}

const row = (...cells) => console.log(cells.map((cell, at) => (at ? String(cell).padStart(14) : cell.padEnd(14))).join(""));
row("% of a core", "process", "kernel program", "both", "MiB", "window, KiB", "perf process", "perf, MiB");
for (const load of ["idle", "busy"]) {
  const publishing = load === "busy" ? spawn(program, ["load", "-x", "2", "-y", "2", "-u", "bench", "-z", "3600"], { stdio: "ignore", cwd: work }) : null;
  if (publishing) await sleep(START_MILLISECONDS);
  for (const freq of FREQUENCIES) {
    const ours = await watched(freq);
    const perf = await perfed(freq);
    const both = ours.process_ + ours.kernel;
    row(`${load}, ${freq} Hz`, ...[ours.process_, ours.kernel, both].map((it) => it.toFixed(3)), ours.mib.toFixed(1), (ours.window / 1024).toFixed(1), perf.share.toFixed(3), perf.mib.toFixed(1));
  }
  if (publishing) await ended(publishing);
}
