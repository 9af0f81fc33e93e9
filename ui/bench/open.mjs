// Time of a page in headless Chromium until its graph is drawn, and until it has followed a reader's choices:
// node bench/open.mjs FILE [RUNS]
//
// Memory is the anonymous memory of the process that shows the page (`Anonymous` of `smaps_rollup`). Resident memory
// would count some 100 MB of Chromium itself, which all pages share. An empty page has 52 MB of anonymous memory.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [file, runs = "5"] = process.argv.slice(2);
const path = resolve(file);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

/** Waits until the browser has drawn the requested view. */
const drawn = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Returns the CPU time of the page's main thread so far. */
async function cpu(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
}

/** Measures wall-clock time, and time of the main thread; on a busy machine use the second. */
async function timed({ page, session }, act) {
  const [start, used] = [performance.now(), await cpu(session)];
  await act();
  await drawn(page);
  return [performance.now() - start, (await cpu(session)) - used];
}

/** Returns the anonymous memory in MB of the fullest process of a page. */
async function memory(browserSession) {
  const { processInfo } = await browserSession.send("SystemInfo.getProcessInfo");
  const anonymous = ({ id }) => {
    try {
      return Number(/^Anonymous: +(\d+) kB/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))[1]) * 1.024e-3;
    } catch {
      return 0;
    }
  };
  return Math.max(...processInfo.filter(({ type }) => type === "renderer").map(anonymous));
}

/** Returns the most memory of a page while it does something. */
async function most(browserSession, act) {
  let [peak, isDone] = [0, false];
  const watch = async () => {
    while (!isDone) {
      peak = Math.max(peak, await memory(browserSession));
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const watching = watch();
  await act();
  isDone = true;
  await watching;
  return Math.max(peak, await memory(browserSession));
}

/** Opens the page once more and returns its memory in MB: the most until its graph is drawn, and after a collection. */
async function visitForMemory() {
  const browserSession = await browser.newBrowserCDPSession();
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const peak = await most(browserSession, async () => {
    await page.goto(`file://${path}`);
    await page.waitForSelector(".graph canvas", { state: "attached" });
    await drawn(page);
  });
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const after = await memory(browserSession);
  await page.close();
  return { peak: Math.round(peak), "after-collection": Math.round(after) };
}

async function visit() {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const visitor = { page, session };
  const open = await timed(visitor, async () => {
    await page.goto(`file://${path}`);
    await page.waitForSelector(".graph canvas", { state: "attached" });
  });
  const follow = (fragment) =>
    timed(visitor, () =>
      page.evaluate((hash) => {
        history.replaceState(null, "", `#${hash}`);
        dispatchEvent(new PopStateEvent("popstate"));
      }, fragment),
    );
  const name = await page.locator(".functions .function-name").nth(20).innerText();
  const times = {
    open,
    "first choice of time": await follow("time=5-20"),
    "another choice of time": await follow("time=50-200"),
    "two spans compared": await follow("time=5-100&against=150-250"),
    "grouped by role": await follow("by=role"),
    "one role": await follow("who=role%3Aqueue"),
    "callers and callees": await follow(`around=${encodeURIComponent(name)}`),
    "whole again": await follow(""),
    search: await follow("search=ets"),
    "another search": await follow("search=ets%7Clists"),
  };
  await page.close();
  return times;
}

const visits = [];
for (let run = 0; run < Number(runs); run++) visits.push(await visit());
const megabytes = await visitForMemory();
await browser.close();
const median = (values) => values.sort((left, right) => left - right)[Math.floor(values.length / 2)];
const medians = (part) =>
  Object.fromEntries(
    Object.keys(visits[0]).map((what) => [what, Math.round(median(visits.map((visit) => visit[what][part])))]),
  );
const result = { bytes: statSync(path).size, visits: visits.length, milliseconds: medians(0), "main-thread-milliseconds": medians(1), "anonymous-megabytes": megabytes };
console.log(JSON.stringify(result, null, 2));
