// Memory of a live page in headless Chromium, and of the program that serves it, while the page follows a node:
//
//   node bench/follow.mjs ADDRESS MINUTES PID
//
// Prints a line every five minutes, after a collection. Memory is anonymous memory (`Anonymous` of `smaps_rollup`): of
// the process that shows the page, and of the program with this pid. Updates are changes of the page's blocks, with the
// time of the main thread for each. Ends with 1 if the page lost its server or drew nothing for 15 s.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const MIB = 2 ** 20;
const EVERY_MINUTES = 5;
const LONGEST_GAP = 15_000;
const [address, minutes, pid] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
const [session, browserSession] = [await page.context().newCDPSession(page), await browser.newBrowserCDPSession()];
await session.send("Performance.enable", { timeDomain: "threadTicks" });
await page.addInitScript(() => {
  const times = (window.times = []);
  addEventListener("DOMContentLoaded", () => {
    const isBlock = ({ target }) => (target instanceof Element ? target : target.parentElement)?.closest(".block, .charts") != null;
    new MutationObserver((all) => all.some(isBlock) && times.push(performance.now())).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
});
await page.goto(address);
await page.locator(".graph canvas").waitFor({ timeout: 120_000 });

const anonymous = (process) => Number(/^Anonymous: +(\d+) kB/m.exec(readFileSync(`/proc/${process}/smaps_rollup`, "utf8"))[1]) / 1024;

async function shown() {
  const { processInfo } = await browserSession.send("SystemInfo.getProcessInfo");
  return Math.max(...processInfo.filter(({ type }) => type === "renderer").map(({ id }) => anonymous(id)));
}

async function metrics() {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Returns the times of the page's changes since the last call, those within 300 ms as one. */
const changes = async () => {
  const times = await page.evaluate(() => window.times.splice(0));
  return times.filter((time, at) => at === 0 || time - times[at - 1] > 300);
};

const row = (...cells) => console.log(cells.map((cell) => String(cell).padStart(12)).join(""));
row("minute", "heap, MiB", "page, MiB", "program, MiB", "elements", "updates", "each, ms", "gap, ms");
let isLost = false;
for (let minute = 0; minute <= Number(minutes); minute += EVERY_MINUTES) {
  const used = (await metrics()).TaskDuration;
  await changes();
  if (minute > 0) await new Promise((done) => setTimeout(done, EVERY_MINUTES * 60_000));
  const times = await changes();
  const busy = (await metrics()).TaskDuration - used;
  const gap = Math.max(0, ...times.slice(1).map((time, at) => time - times[at]));
  await session.send("HeapProfiler.collectGarbage");
  const heap = await session.send("Runtime.getHeapUsage");
  const bytes = heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0);
  const each = times.length ? ((1000 * busy) / times.length).toFixed(1) : "-";
  row(minute, (bytes / MIB).toFixed(1), (await shown()).toFixed(0), anonymous(pid).toFixed(0), (await metrics()).Nodes, times.length, each, gap.toFixed(0));
  isLost ||= gap > LONGEST_GAP || (await page.locator(".live-bar[data-state=live]").count()) === 0;
}
await browser.close();
if (isLost) console.log("The page lost its server, or drew nothing for 15 s.");
process.exit(isLost ? 1 : 0);
