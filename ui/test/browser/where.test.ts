// The place of the graph on every page, its menu, the call trees, keys, and accessibility, in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { axe, Browser } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const PAGES = ["profile.html", "off-cpu.html", "report.html", "with-packets.html", "diff.html"];

const text = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().innerText()).replaceAll("\u202f", " ").replace(/\s+/g, " ");
const said = (page: Page): Promise<string> => text(page, ".graph-line");
const chips = (page: Page): Promise<string> => text(page, ".filter-chips");

test("the graph begins near the top, and nothing is wider than the window", async () => {
  for (const name of PAGES) {
    for (const width of [1400, 700, 390]) {
      const { page, problems } = await browser.open(name, width);
      const box = await page.locator(".graph").first().boundingBox();
      if (width === 1400) assert.ok(box!.y <= 450, `${name}: the graph begins at ${box!.y}`);
      const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content! <= view!, `${name}: ${content} pixels in ${view}`);
      assert.deepEqual(problems, []);
      await page.close();
    }
  }
});

test("at most three stops of the Tab key come before the graph", async () => {
  for (const name of PAGES) {
    const { page } = await browser.open(name);
    let stops = 0;
    for (;;) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement?.classList.contains("graph"))) break;
      stops += 1;
      assert.ok(stops <= 3, `${name}: more than three stops`);
    }
    await page.close();
  }
});

test("axe finds nothing, whatever is shown", async () => {
  const places = [...PAGES, "profile.html#view=tree", "profile.html#view=inverted", "profile.html#around=ets%3Alookup%2F2", "profile.html#time=0-1&against=1-1.8", "profile.html#who=queue%3Aorders&zoom=2.0"];
  for (const place of places) {
    for (const dark of [false, true]) {
      const { page } = await browser.open(place, 1400, dark);
      assert.deepEqual(await axe(page), [], place);
      await page.close();
    }
  }
});

test("owners add up to the whole, and each row filters", async () => {
  const { page, problems } = await browser.open("profile.html");
  for (const dimension of ["Queues", "Roles", "Channels", "Connections", "Processes", "Threads"]) {
    await page.getByRole("button", { name: dimension, exact: true }).click();
    const shares = await page.locator(".owners tbody .share").allInnerTexts();
    const sum = shares.reduce((all, share) => all + Number.parseFloat(share), 0);
    assert.ok(Math.abs(sum - 100) < 0.1, `${dimension}: ${sum} %`);
  }
  await page.getByRole("button", { name: "Queues" }).click();
  await page.locator(".owner-name", { hasText: "no process" }).click();
  assert.match(await said(page), /total 100 % \(150 samples\)/);
  assert.match(await chips(page), /^Only no process/);
  await page.locator(".owner-name", { hasText: "rest" }).click();
  assert.match(await said(page), /total 100 % \(400 samples\)/);
  await page.reload();
  assert.match(await said(page), /total 100 % \(400 samples\)/);
  await page.locator(".filter-chip").click();
  assert.match(await said(page), /total 100 % \(1,000 samples\)/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the menu of a frame changes the stacks, by pointer and by keys", async () => {
  const { page, problems } = await browser.open("profile.html");
  const box = (await page.locator(".graph canvas").boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.2, box.y + 3 * 19 + 9, { button: "right" });
  assert.match(await text(page, ".menu"), /^rabbit_channel:handle_method\/3 Callers and callees Focus/);
  await page.getByRole("menuitem", { name: "Exclude" }).click();
  assert.match(page.url(), /edit=exclude%3Arabbit_channel%3Ahandle_method%2F3/);
  assert.match(await said(page), /total 100 % \(600 samples\)/);
  assert.match(await chips(page), /^Without rabbit_channel:handle_method\/3/);
  await page.locator(".graph").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "m", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  assert.match(await chips(page), /Only osiris_log:write\/5/);
  assert.match(await said(page), /total 100 % \(250 samples\)/);
  assert.ok(await page.evaluate(() => document.activeElement?.classList.contains("graph")));
  await page.reload();
  assert.match(await said(page), /total 100 % \(250 samples\)/);
  await page.goBack();
  assert.match(await said(page), /total 100 % \(600 samples\)/);
  await page.keyboard.press("Shift+F10");
  await page.locator(".filter-chip").click();
  assert.match(await said(page), /total 100 % \(1,000 samples\)/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a long touch opens the menu", async () => {
  const { page } = await browser.open("profile.html", 390);
  const box = (await page.locator(".graph canvas").boundingBox())!;
  const touch = { clientX: box.x + box.width * 0.2, clientY: box.y + 3 * 19 + 9 };
  await page.locator(".graph").evaluate((graph, at) => {
    const finger = new Touch({ identifier: 1, target: graph, ...at });
    graph.dispatchEvent(new TouchEvent("touchstart", { touches: [finger], bubbles: true }));
  }, touch);
  await page.locator(".menu").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".menu").count(), 0);
  await page.close();
});

test("the call tree opens by keys, and its rows have numbers", async () => {
  const { page, problems } = await browser.open("profile.html");
  await page.getByRole("button", { name: "Call tree" }).click();
  assert.match(page.url(), /view=tree/);
  const focused = async (): Promise<string> =>
    (await page.evaluate(() => (document.activeElement as HTMLElement).innerText)).replaceAll("\u202f", " ").replace(/\s+/g, " ");
  await page.getByRole("treeitem").first().focus();
  // It is open along the heaviest path.
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  assert.match(await focused(), /^40\.0 % 400 10\.0 % 100 rabbit_channel:handle_method\/3/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await focused(), /^30\.0 % 300 0 % 0 ets:lookup\/2/);
  const item = page.locator("[role=treeitem]:focus");
  assert.equal(await item.getAttribute("aria-level"), "5");
  assert.equal(await item.getAttribute("aria-expanded"), "false");
  const rows = await page.getByRole("treeitem").count();
  for (const key of ["ArrowLeft", "ArrowLeft"]) await page.keyboard.press(key);
  assert.equal(await page.getByRole("treeitem").count(), rows - 1);
  await page.keyboard.press("Enter");
  assert.match(await text(page, ".crumbs"), /rabbit_channel:handle_method\/3$/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the inverted tree begins with the functions in which stacks end", async () => {
  const { page } = await browser.open("profile.html#view=inverted");
  assert.match(await text(page, "[role=treeitem]:nth-child(2)"), /^30\.0 % 300 .*db_get$/);
  await page.getByRole("treeitem").nth(1).click();
  assert.match(await text(page, "[role=treeitem]:nth-child(3)"), /ets:lookup\/2$/);
  await page.close();
});

test("the table follows search, zoom and the menu", async () => {
  const { page } = await browser.open("profile.html");
  const names = (): Promise<string[]> => page.locator(".function-table .function-name").allInnerTexts();
  await page.locator(".where .search").fill("^(ets|lists)");
  assert.deepEqual(await names(), ["ets:lookup/2", "lists:foldr_1/3"]);
  await page.keyboard.press("Escape");
  const box = (await page.locator(".graph canvas").boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.2, box.y + 3 * 19 + 9);
  assert.deepEqual(await names(), ["ets:lookup/2", "rabbit_channel:handle_method/3"]);
  assert.match(await text(page, ".function-table tbody tr"), /75\.0 %/);
  assert.match(await text(page, ".function-table p"), /Shares of rabbit_channel:handle_method\/3/);
  await page.locator(".function-name", { hasText: "ets" }).click();
  assert.equal((await names()).length, 2);
  assert.match((await page.locator(".function-table tr.chosen").innerText()).trim(), /^ets:lookup\/2/);
  await page.close();
});

test("the timeline selects by keys, and says its values and its scale", async () => {
  const { page } = await browser.open("profile.html");
  await page.locator(".heat").focus();
  for (const key of ["ArrowDown", "ArrowDown", "Shift+ArrowRight"]) await page.keyboard.press(key);
  assert.match(page.url(), /time=0.05-1.1$/);
  assert.match(await text(page, ".heat-scale"), /^0 .*samples.* in 50 ms$/);
  await page.locator(".heat").hover({ position: { x: 3, y: 38 } });
  assert.match(await text(page, ".heat-tip"), /^0.25 s to 0.3 s: 400 samples$/);
  await page.locator(".heat").focus();
  await page.keyboard.press("Escape");
  assert.doesNotMatch(page.url(), /time/);
  await page.close();
});

test("windows have a bar each, and a span of them shows its stacks", async () => {
  const { page, problems } = await browser.open("windows.html");
  assert.match(await text(page, "#timeline-title + p"), /^Each bar is 10 s\. .*idle or not recorded/);
  assert.deepEqual((await page.locator(".heat-below span").allInnerTexts()).slice(0, 3), ["22:54", "22:55", "22:56"]);
  assert.equal(await text(page, ".heat-scale"), "The tallest bar: 2 samples in 10 s");
  await page.locator(".heat").focus();
  for (const key of ["ArrowRight", "ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(key);
  assert.match(page.url(), /time=10-30$/);
  assert.match(await text(page, ".about-recording"), /2 samples of 120 samples/);
  assert.match(await text(page, ".heat-tools output"), /^20 s to 30 s, from 2025-11-25 22:53:40 UTC: 1 samples$/);
  assert.match(await text(page, ".about-recording"), /record both with rabbitscope profile --event cpu,off-cpu/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("pages of one recording link to each other", async () => {
  const { page } = await browser.open("off-cpu.html");
  await page.getByRole("link", { name: "CPU profile" }).click();
  assert.match(page.url(), /profile\.html$/);
  await page.getByRole("link", { name: "Time off the CPU" }).click();
  assert.match(page.url(), /off-cpu\.html$/);
  await page.close();
});
