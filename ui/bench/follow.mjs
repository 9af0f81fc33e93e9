// Memory of a live page in headless Chromium, and of the program that serves it, while the page follows a node:
//
//   node bench/follow.mjs ADDRESS MINUTES PID
//
// Prints a line every five minutes, after a collection. Memory is anonymous memory (`Anonymous` of `smaps_rollup`): of
// the process that shows the page, and of the program with this pid. Updates are changes of the page's blocks, with the
// time of the main thread for each. Ends with 1 if the page lost its server or drew nothing for 15 s.
//
// Chromium is asked by a pipe of its own: Playwright has the browser keep up to 100 MB of what a page fetches.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MIB = 2 ** 20;
const EVERY_MINUTES = 5;
const LONGEST_GAP = 15_000;
const PATIENCE = 120_000;
const [address, minutes, pid] = process.argv.slice(2);

/** A browser that is asked by the Chrome DevTools Protocol. */
class Browser {
  profile = mkdtempSync(join(tmpdir(), "rabbitscope-chromium-"));
  waiting = new Map();
  last = 0;
  rest = "";

  constructor() {
    const options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--window-size=1400,900", "--remote-debugging-pipe", `--user-data-dir=${this.profile}`];
    this.process = spawn(process.env.CHROMIUM ?? "/usr/bin/chromium", options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.process.stdio[4].on("data", (data) => {
      const messages = (this.rest + data).split("\0");
      this.rest = messages.pop();
      for (const message of messages) this.answer(JSON.parse(message));
    });
  }

  answer({ id, result, error }) {
    const { done, fail } = this.waiting.get(id) ?? {};
    this.waiting.delete(id);
    if (error) fail?.(new Error(error.message));
    else done?.(result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  async close() {
    const ended = new Promise((done) => this.process.on("exit", done));
    await this.send("Browser.close").catch(() => {});
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const browser = new Browser();
const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
const send = (method, params) => browser.send(method, params, sessionId);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Returns the value of an expression on the page. */
async function evaluate(expression) {
  const { result } = await send("Runtime.evaluate", { expression, returnByValue: true });
  return result.value;
}

/** Runs on the page: notes the times of changes. */
function noteChanges() {
  const times = (window.times = []);
  addEventListener("DOMContentLoaded", () => {
    const isBlock = ({ target }) => (target instanceof Element ? target : target.parentElement)?.closest(".block, .charts") != null;
    new MutationObserver((all) => all.some(isBlock) && times.push(performance.now())).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

await send("Page.enable");
await send("Page.addScriptToEvaluateOnNewDocument", { source: `(${noteChanges})()` });
await send("Performance.enable", { timeDomain: "threadTicks" });
await send("Page.navigate", { url: address });
const opened = performance.now();
while (!(await evaluate('document.querySelector(".graph canvas") !== null'))) {
  if (performance.now() - opened > PATIENCE) throw new Error(`no graph: ${await evaluate("document.body.innerText")}`);
  await pause(500);
}

const anonymous = (process) => Number(/^Anonymous: +(\d+) kB/m.exec(readFileSync(`/proc/${process}/smaps_rollup`, "utf8"))[1]) / 1024;

async function shown() {
  const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
  return Math.max(...processInfo.filter(({ type }) => type === "renderer").map(({ id }) => anonymous(id)));
}

async function metrics() {
  const { metrics } = await send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Returns the times of the page's changes since the last call, those within 300 ms as one. */
async function changes() {
  const times = await evaluate("window.times.splice(0)");
  return times.filter((time, at) => at === 0 || time - times[at - 1] > 300);
}

const row = (...cells) => console.log(cells.map((cell) => String(cell).padStart(14)).join(""));
row("minute", "heap, MiB", "page, MiB", "program, MiB", "elements", "updates", "each, ms", "gap, ms");
let isLost = false;
for (let minute = 0; minute <= Number(minutes); minute += EVERY_MINUTES) {
  const used = (await metrics()).TaskDuration;
  await changes();
  if (minute > 0) await pause(EVERY_MINUTES * 60_000);
  const times = await changes();
  const busy = (await metrics()).TaskDuration - used;
  const gap = Math.max(0, ...times.slice(1).map((time, at) => time - times[at]));
  await send("HeapProfiler.collectGarbage");
  const heap = await send("Runtime.getHeapUsage");
  const bytes = heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0);
  const each = times.length ? ((1000 * busy) / times.length).toFixed(1) : "-";
  row(minute, (bytes / MIB).toFixed(1), (await shown()).toFixed(0), anonymous(pid).toFixed(0), (await metrics()).Nodes, times.length, each, gap.toFixed(0));
  isLost ||= gap > LONGEST_GAP || !(await evaluate('document.querySelector(".live-bar[data-state=live]") !== null'));
}
await browser.close();
if (isLost) console.log("The page lost its server, or drew nothing for 15 s.");
process.exit(isLost ? 1 : 0);
