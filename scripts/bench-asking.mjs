// Cost of asking for a node and `watch`, in turn with a `watch` that does not ask. For bench-asking.sh.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { cpuNanos } from "./cpu-time.mjs";

const [program, work, broker, pid, directory, seconds, rounds, frequency] = process.argv.slice(2);
/** Seconds until function names are known, modules are loaded, and all existing processes have been asked about. */
const WARM_MILLISECONDS = 45_000;

const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
const epmd = words[words.indexOf("-epmd_port") + 1];
const inside = `[inside]\nask = true\ncookie-file = "${directory}/home/.erlang.cookie"\nepmd-port = ${epmd}\n`;
const configuration = (ask) => `[nodes]\nonly = ["${broker}*"]\n[metrics]\nlisten = "127.0.0.1:0"\n${ask ? inside : ""}`;
const file = `${work}/watch.toml`;
writeFileSync(file, configuration(true));
const watch = spawn(program, ["watch", "--config", file, "-o", `${work}/windows`, "--frequency", frequency], { stdio: ["ignore", "ignore", "pipe"] });
process.on("exit", () => watch.kill("SIGINT"));
let said = "";
watch.stderr.on("data", (part) => (said += part));
watch.on("close", (code) => {
  if (code) throw new Error(`watch: ${code}\n${said}`);
});
await sleep(WARM_MILLISECONDS);

/** CPU of the node and of `watch`, in % of one core. */
async function measured(ask) {
  writeFileSync(file, configuration(ask));
  watch.kill("SIGHUP");
  await sleep(15_000);
  const read = () => [process.hrtime.bigint(), cpuNanos(pid), cpuNanos(watch.pid)];
  const before = read();
  await sleep(1000 * seconds);
  const address = said.match(/http:\S+/g).at(-1);
  const isAsked = (await (await fetch(address)).text()).includes("rabbitscope_node_queue_messages{");
  if (isAsked !== ask) throw new Error(`the node was ${isAsked ? "" : "not "}asked\n${said}`);
  const [elapsed, node, own] = read().map((value, at) => Number(value) - Number(before[at]));
  return { node: (100 * node) / elapsed, own: (100 * own) / elapsed };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const row = (...cells) => console.log(cells.map((cell, at) => (at ? String(cell).padStart(12) : cell.padEnd(16))).join(""));
const found = { asked: [], "not asked": [] };
row("% of a core", "node", "watch");
for (let round = 0; round < rounds; round++) {
  // The order alternates.
  for (const name of round % 2 ? Object.keys(found) : Object.keys(found).reverse()) {
    const it = await measured(name === "asked");
    found[name].push(it);
    row(name, it.node.toFixed(3), it.own.toFixed(3));
  }
}
for (const [name, all] of Object.entries(found))
  row(`${name}, median`, median(all.map((it) => it.node)).toFixed(3), median(all.map((it) => it.own)).toFixed(3));
const differences = (of) => found.asked.map((it, at) => of(it) - of(found["not asked"][at]));
row("difference", median(differences((it) => it.node)).toFixed(3), median(differences((it) => it.own)).toFixed(3));
watch.kill("SIGINT");
