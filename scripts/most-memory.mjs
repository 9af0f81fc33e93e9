// Runs a command and writes the peak resident memory, in KiB, of its largest process.
//
//   node scripts/most-memory.mjs FILE COMMAND…
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const [, , file, command, ...rest] = process.argv;
const child = spawn(command, rest, { stdio: "inherit" });
let most = 0;

function look(pid) {
  try {
    const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    most = Math.max(most, peak ? Number(peak[1]) : 0);
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim();
      if (children) children.split(" ").forEach((child) => look(child));
    }
  } catch {
    // The process has ended meanwhile.
  }
}

const timer = setInterval(() => look(child.pid), 50);
child.on("exit", (code) => {
  clearInterval(timer);
  writeFileSync(file, `${most}\n`);
  process.exitCode = code ?? 1;
});
