// Time and memory of a live page in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { head, largeProfile, tick } from "./live-data.ts";
import { LiveServer } from "./live-server.ts";
import { Browser } from "./open.ts";

const MIB = 1 << 20;
const LONGEST = 100;

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

async function metric(session: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === wanted)!.value;
}

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

interface Opened {
  server: LiveServer;
  page: Page;
  session: CDPSession;
  close(): Promise<void>;
}

/** Opens a page; its clock runs `speed` times as fast, so that profiles follow each other sooner. */
async function open(profiles: string[], speed = 1): Promise<Opened> {
  const server = new LiveServer(head());
  for (const path of ["profile.json", "profile.json?seconds=30"]) server.bodies.set(path, profiles[0]!);
  await server.start();
  const reader = await browser.reader();
  const page = await reader.newPage();
  await page.addInitScript((factor) => {
    const now = performance.now.bind(performance);
    performance.now = () => factor * now();
  }, speed);
  const session = await reader.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  server.send("tick", { ...tick(0), profile: { number: 1 } });
  await page.goto(server.url);
  await page.locator(".graph canvas").waitFor();
  const close = async (): Promise<void> => {
    await reader.close();
    await server.stop();
  };
  return { server, page, session, close };
}

test("an update takes less than 100 ms of the main thread", async () => {
  const profiles = [largeProfile(1), largeProfile(2)];
  const { server, page, session, close } = await open(profiles);
  // Full charts: 1,800 seconds in one tick.
  server.send("tick", tick(1, 1800));
  await pause(1000);
  const spent: { ticks: number[]; profiles: number[] } = { ticks: [], profiles: [] };
  for (let second = 3600; second < 3612; second += 1) {
    const isProfile = second % 3 === 0;
    server.bodies.set("profile.json?seconds=30", profiles[second % 2]!);
    const used = await metric(session, "TaskDuration");
    server.send("tick", { ...tick(second), ...(isProfile ? { profile: { number: second } } : {}) });
    await pause(1500);
    spent[isProfile ? "profiles" : "ticks"].push(Math.round(1000 * ((await metric(session, "TaskDuration")) - used)));
  }
  console.log(`milliseconds of the main thread for a tick: ${spent.ticks.join(", ")}; with a profile of 30,000 nodes: ${spent.profiles.join(", ")}`);
  const said = await page.locator(".graph-line").first().innerText();
  assert.match(said, /total 100/);
  for (const times of Object.values(spent)) {
    const median = times.sort((one, other) => one - other)[Math.floor(times.length / 2)]!;
    assert.ok(median < LONGEST, `${times.join(", ")} ms`);
  }
  await close();
});

test("memory does not grow", async () => {
  const profiles = [largeProfile(1, 5000), largeProfile(2, 5000)];
  const { server, page, session, close } = await open(profiles, 50);
  const heap = async (): Promise<number> => {
    await pause(300);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = (await session.send("Runtime.getHeapUsage")) as Record<string, number>;
    return (usedSize ?? 0) + embedderHeapUsedSize + backingStorageSize;
  };
  const counts = (): Promise<[number, number]> => Promise.all([metric(session, "JSEventListeners"), metric(session, "Nodes")]);
  const measured: { heap: number; counts: [number, number] }[] = [];
  // A tick has six seconds: after 300 of them the page has 30 minutes, all that it keeps.
  for (let second = 1; second <= 900; second += 1) {
    server.bodies.set("profile.json?seconds=30", profiles[second % 2]!);
    server.send("tick", { ...tick(second, 6), profile: { number: second + 1 } });
    await pause(20);
    if (second % 300 === 0) measured.push({ heap: await heap(), counts: await counts() });
  }
  const profilesAsked = server.asked.filter((path) => path.startsWith("profile")).length;
  const text = measured.map(({ heap, counts }) => `${(heap / MIB).toFixed(1)} MiB, ${counts[0]} listeners, ${counts[1]} nodes`).join("; ");
  console.log(`after 300, 600, 900 ticks with ${profilesAsked} profiles: ${text}`);
  const [first, , last] = measured as [(typeof measured)[0], (typeof measured)[0], (typeof measured)[0]];
  assert.ok(profilesAsked > 50, `${profilesAsked} profiles`);
  assert.ok(last.heap - first.heap < Math.max(0.05 * first.heap, MIB), text);
  assert.ok(last.counts[0] <= first.counts[0] + 20 && last.counts[1] <= 1.1 * first.counts[1], text);
  assert.equal(await page.locator("#charts .plot .line").count(), 18);
  await close();
});
