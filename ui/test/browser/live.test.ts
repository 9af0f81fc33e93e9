// A live page in a real browser. The server is one of the test; pages and profiles are those of crates/web.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { head, tick } from "./live-data.ts";
import { file, LiveServer } from "./live-server.ts";
import { axe, Browser, PATIENCE, watch } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const text = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().innerText()).replaceAll("\u202f", " ").replace(/\s+/g, " ");
const state = (page: Page): Promise<string> => text(page, ".live-state");
const queue = (page: Page): Promise<string> => text(page, "#queues tbody tr:nth-child(2)");

async function until(what: () => Promise<boolean>, name: string): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!(await what())) {
    assert.ok(Date.now() < end, `not within ${PATIENCE / 1000} s: ${name}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Sends the ticks of some seconds, with the number of a profile's window. */
function send(server: LiveServer, from: number, to: number, profile?: number): void {
  for (let second = from; second <= to; second += 1) server.send("tick", { ...tick(second), ...(profile ? { profile: { number: profile } } : {}) });
}

const shows = (page: Page, second: number): Promise<void> => until(async () => (await queue(page)) === `queue <1> ${(second * 30 + 1).toLocaleString("en-US")} 1`, `second ${second}`);

interface Live {
  server: LiveServer;
  reader: BrowserContext;
  page: Page;
  problems: string[];
  open(): Promise<Page>;
}

/** Opens a page that has the first three ticks, and perhaps a profile. */
async function live(profile = false, options = {}): Promise<Live> {
  const server = new LiveServer(head());
  if (profile) for (const body of ["profile.json", "profile.json?seconds=30"]) server.bodies.set(body, file("profile-1.json"));
  await server.start();
  send(server, 0, 2, profile ? 1 : undefined);
  const reader = await browser.reader({ viewport: { width: 1400, height: 900 }, ...options });
  const problems: string[] = [];
  const open = async (): Promise<Page> => {
    const page = await reader.newPage();
    watch(page, problems);
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.url)) problems.push(`request for ${request.url()}`);
    });
    await page.goto(server.url);
    return page;
  };
  const page = await open();
  await shows(page, 2);
  if (profile) await page.locator(".graph canvas").waitFor();
  return { server, reader, page, problems, open };
}

async function close({ server, reader, problems }: Live): Promise<void> {
  await reader.close();
  await server.stop();
  assert.deepEqual(problems.filter((problem) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|404/.test(problem)), []);
}

test("ticks change the page in place", async () => {
  const it = await live();
  const { page, server } = it;
  assert.equal(await page.locator("h1").innerText(), "<live> & more");
  assert.match(await text(page, "#limit"), /^Limit: one process <i>for<\/i> 2 s$/);
  await page.locator("#more summary").click();
  await page.locator("#charts").getByRole("button", { name: "confirmed" }).first().click();
  const box = page.locator("#queues .table-box").first();
  await box.focus();
  send(server, 3, 4);
  await shows(page, 4);
  assert.match(await text(page, "#limit"), /warning The queue <b>slow<\/b> grows/);
  assert.ok(await box.evaluate((element) => element === document.activeElement), "the focus stays");
  assert.ok(await page.locator("#inner, #more details[open]").first().isVisible());
  assert.match(await text(page, "#more tbody tr:nth-child(2)"), /queue <1> 121/);
  const chart = page.locator("#charts .chart").first();
  assert.equal(await chart.locator(".plot .line").count(), 2, "a hidden line stays hidden");
  server.send("tick", { at: tick(5).at, replace: [head().sections[2]!.blocks[0]] });
  // A chart out of sight is drawn when it comes near.
  await chart.scrollIntoViewIfNeeded();
  await until(async () => (await chart.locator(".plot .line").first().getAttribute("d")) === "", "a chart without values");
  assert.equal(await chart.locator(".plot .line").count(), 2, "also when the charts are replaced");
  await close(it);
});

test("a stopped page stands still, goes back, and goes on", async () => {
  const it = await live();
  const { page, server } = it;
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await state(page), "Stopped");
  send(server, 3, 9);
  await until(async () => (await page.locator(".live-slider").getAttribute("max")) === "9", "the slider has all ticks");
  await shows(page, 2);
  await page.keyboard.press("Tab");
  await page.keyboard.press("End");
  await shows(page, 9);
  for (const key of ["ArrowLeft", "ArrowLeft"]) await page.keyboard.press(key);
  await shows(page, 7);
  assert.match(await text(page, "#figures"), /1,007/);
  const moment = await page.evaluate((at) => new Date(at / 1e6).toTimeString().slice(0, 8), tick(7).at!);
  assert.equal(await page.locator(".live-slider").getAttribute("aria-valuetext"), moment);
  assert.equal(await text(page, ".live-moment"), moment);
  await page.keyboard.press("Home");
  await shows(page, 0);
  await page.getByRole("button", { name: "Go on" }).click();
  await shows(page, 9);
  assert.equal(await state(page), "Live");
  await page.locator("#charts .chart").first().getByRole("button", { name: "Table" }).click();
  assert.equal(await page.locator("#charts .chart-under tbody tr").count(), 10);
  send(server, 10, 10);
  await shows(page, 10);
  assert.equal(await page.locator("#charts .chart-under tbody tr").count(), 11);
  await close(it);
});

test("the tabs of a browser share one stream, and one follows the other", async () => {
  const it = await live();
  const { server, page, open } = it;
  const second = await open();
  await shows(second, 2);
  assert.equal(server.streams, 1);
  send(server, 3, 3);
  for (const tab of [page, second]) await shows(tab, 3);
  await page.close();
  await until(async () => server.viewers.size === 1 && server.streams === 2, "the other tab has a stream");
  send(server, 4, 5);
  await shows(second, 5);
  await second.locator("#charts .chart").first().getByRole("button", { name: "Table" }).click();
  assert.equal(await second.locator("#charts .chart-under tbody tr").count(), 6, "each second once");
  await close(it);
});

test("a lost connection is said, and nothing is missing afterwards", async () => {
  const it = await live();
  const { page, server } = it;
  await server.stop();
  await until(async () => (await state(page)) === "Reconnecting", "reconnecting");
  await until(async () => /for [12] s/.test(await text(page, ".live-bar")), "seconds");
  await server.start();
  send(server, 3, 4);
  await shows(page, 4);
  await until(async () => (await state(page)) === "Live", "live");
  await close(it);
});

test("ten readers have a stream each", async () => {
  const server = new LiveServer(head());
  await server.start();
  send(server, 0, 0);
  const readers = await Promise.all(Array.from({ length: 10 }, () => browser.reader()));
  const pages = await Promise.all(readers.map((reader) => reader.newPage()));
  for (const page of pages) await page.goto(server.url);
  send(server, 1, 3);
  for (const page of pages) await shows(page, 3);
  assert.equal(server.viewers.size, 10);
  for (const reader of readers) await reader.close();
  await server.stop();
});

test("the flame graph rolls on, and the reader's choices stay", async () => {
  const it = await live(true);
  const { page, server } = it;
  const graph = await page.locator(".graph").first().elementHandle();
  await page.locator(".function-table thead button", { hasText: "Function" }).click();
  await page.locator(".graph").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  const before = await text(page, ".crumbs");
  assert.match(before, /rabbit_channel:handle_method\/3 › ets:lookup\/2$|ets:lookup\/2$/);
  await page.locator(".where .search").fill("ets");
  assert.doesNotMatch(page.url(), /zoom/);
  const total = await text(page, "#search-result");
  server.bodies.set("profile.json?seconds=30", file("profile-2.json"));
  send(server, 3, 3, 2);
  await until(async () => (await text(page, "#search-result")) !== total, "another profile");
  assert.equal(await text(page, ".crumbs"), before);
  assert.match(await text(page, "#search-result"), /^100 % of the zoomed frame · 50 samples/);
  assert.equal(await page.locator(".where .search").inputValue(), "ets");
  assert.ok(await page.locator(".where .search").evaluate((field) => field === document.activeElement));
  assert.equal(await page.locator(".function-table th[aria-sort=ascending]").innerText(), "Function");
  assert.ok(await graph!.evaluate((element) => element.isConnected));
  assert.ok(await page.locator(".heat").isHidden());
  await close(it);
});

test("a zoomed function that vanishes leaves its caller", async () => {
  const it = await live(true);
  const { page, server } = it;
  server.bodies.set("profile.json?seconds=30", file("profile-2.json"));
  send(server, 3, 3, 2);
  await until(async () => /500/.test(await text(page, ".about-recording")), "the second profile");
  await page.locator(".where .search").fill("^m:new");
  const place = await page.locator(".graph canvas").boundingBox();
  await page.mouse.move(place!.x + 1, place!.y + 20);
  await page.locator(".graph").focus();
  // The root's children are in the order of their names: m:new/0 is the first.
  for (const key of ["Home", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
  assert.match(await text(page, ".crumbs"), /m:new\/0$/);
  server.bodies.set("profile.json?seconds=30", file("profile-1.json"));
  send(server, 4, 4, 3);
  await until(async () => /scheduler$/.test(await text(page, ".crumbs")), "the caller");
  await close(it);
});

test("a stopped page has the whole recording with its spans", async () => {
  const it = await live(true);
  const { page, server } = it;
  server.bodies.set("profile.json?seconds=30", file("profile-2.json"));
  send(server, 3, 3, 2);
  await until(async () => /500/.test(await text(page, ".about-recording")), "the latest part");
  assert.equal(await text(page, "#profile-title"), "CPU profile, latest 2 s");
  await page.getByRole("button", { name: "Stop" }).click();
  await until(async () => /1,000 samples/.test(await text(page, ".about-recording")), "the whole");
  assert.equal(await text(page, "#profile-title"), "CPU profile");
  await page.locator(".heat").focus();
  for (const key of ["ArrowDown", "ArrowDown", "Shift+ArrowRight"]) await page.keyboard.press(key);
  assert.match(await text(page, ".filter-chips"), /^0.05 to 1.1 s/);
  assert.doesNotMatch(page.url(), /time/);
  await page.getByRole("button", { name: "Go on" }).click();
  await until(async () => /500/.test(await text(page, ".about-recording")), "the latest part again");
  assert.ok(await page.locator(".filter-chips").isHidden());
  await close(it);
});

test("a hidden page asks for no profile until it is seen again", async () => {
  const it = await live(true);
  const { page, server } = it;
  const asked = (): number => server.asked.filter((path) => path.startsWith("profile")).length;
  const hide = (isHidden: boolean): Promise<void> =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  await hide(true);
  const before = asked();
  server.bodies.set("profile.json?seconds=30", file("profile-2.json"));
  send(server, 3, 5, 2);
  await new Promise((done) => setTimeout(done, 2500));
  assert.equal(asked(), before);
  await hide(false);
  await until(async () => /500/.test(await text(page, ".about-recording")), "the latest profile");
  assert.equal(asked(), before + 1, "one for all that were missed");
  await close(it);
});

test("the end shows the report, with the reader's search and zoom", async () => {
  const it = await live(true);
  const { page, server, reader } = it;
  server.bodies.set("report.html", file("report.html"));
  await page.locator(".graph").focus();
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  const crumbs = await text(page, ".crumbs");
  server.send("end", { sentence: "the run <is> over.", page: "report.html" });
  await page.locator(".page-footer").waitFor();
  assert.equal(await state(page), "Ended: the run <is> over.");
  assert.equal(await text(page, ".crumbs"), crumbs);
  assert.ok(await page.evaluate(() => document.activeElement?.classList.contains("graph")));
  assert.match(page.url(), /zoom=/);
  const report = await reader.newPage();
  await report.goto(`${server.url}report.html${new URL(page.url()).hash}`);
  await report.locator(".graph canvas").waitFor();
  assert.equal(await page.title(), await report.title());
  await page.evaluate(() => document.querySelector(".live-bar")?.remove());
  assert.equal(await text(page, "main"), await text(report, "main"));
  await close(it);
});

test("the report of several events names the pages that are not on the server", async () => {
  const it = await live(true);
  const { page, server } = it;
  const others = '"others":[{"event":"off-cpu","file":"report-off-cpu.html"}]';
  server.bodies.set("report.html", file("report.html").replace('"others":[]', others));
  server.send("end", { sentence: "over", page: "report.html" });
  await page.locator(".page-footer").waitFor();
  assert.match(await text(page, ".tiles"), /Same recording ?Time off the CPU ?report-off-cpu\.html of the run/);
  assert.equal(await page.locator("a.other-page").count(), 0);
  await close(it);
});

test("a page that is stopped at the end shows the report when it goes on", async () => {
  const it = await live();
  const { page, server } = it;
  await page.getByRole("button", { name: "Stop" }).click();
  server.bodies.set("report.html", file("report.html"));
  server.send("end", { sentence: "over", page: "report.html" });
  await until(async () => server.viewers.size === 0, "the page has what it needs");
  await server.stop();
  assert.equal(await page.locator(".page-footer").count(), 0);
  await page.getByRole("button", { name: "Show the report" }).click();
  await page.locator(".page-footer").waitFor();
  await close(it);
});

test("axe finds nothing, and the page fits its window", async () => {
  for (const [width, dark] of [[1400, false], [700, true], [390, false]] as const) {
    const it = await live(true, { viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light" });
    const { page, server } = it;
    const check = async (name: string): Promise<void> => {
      assert.deepEqual(await axe(page), [], `${name} at ${width}`);
      const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content! <= view!, `${name}: content of ${content} pixels in a view of ${view}`);
      if (process.env["RABBITSCOPE_PICTURES"]) await page.screenshot({ path: `${process.env["RABBITSCOPE_PICTURES"]}/${name}-${width}.png` });
    };
    send(server, 3, 60);
    await shows(page, 60);
    await check("live");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".heat").waitFor();
    await check("stopped");
    await server.stop();
    await until(async () => /reconnecting/.test(await state(page)), "reconnecting");
    await check("lost");
    await close(it);
  }
});
