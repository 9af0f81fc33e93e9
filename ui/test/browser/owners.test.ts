// Owners and times of the samples, and a function between its callers and callees, in a real browser: the profile
// of crates/web `tests/it/pages.rs`, 1,000 samples in two seconds.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { Browser } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const text = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().innerText()).replaceAll("\u202f", " ").replace(/\s+/g, " ");

const all = (page: Page): Promise<string> => text(page, ".graph-line");
const share = (page: Page): Promise<string> => text(page, "#search-result");

test("the table names owners, the heaviest first", async () => {
  for (const dark of [false, true]) {
    const { page, problems } = await browser.open("profile.html", 1400, dark);
    assert.match(await text(page, ".owners tbody"), /^events 1 25\.0 %\s*250 orders 1 20\.0 %\s*200 rest: processes without a queue 1 40\.0 %\s*400 no process 15\.0 %\s*150$/);
    await page.getByRole("button", { name: "Roles" }).click();
    assert.match(await text(page, ".owners tbody"), /^channel 1 40\.0 %\s*400 stream_writer/);
    await page.getByRole("button", { name: "Connections" }).click();
    assert.match(await text(page, ".owners tbody"), /^a -> b 1 40\.0 %\s*400 rest/);
    await page.getByRole("button", { name: "Clients" }).click();
    assert.match(await text(page, ".owners tbody"), /^<shop>, user guest 1 40\.0 %\s*400 rest/);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("one queue is shown alone, and a link remembers it", async () => {
  const { page, problems } = await browser.open("profile.html");
  await page.locator(".owner-name", { hasText: "orders" }).click();
  assert.match(await all(page), /total 100 % \(200 samples\)/);
  assert.equal(await page.locator(".functions .function-name").first().innerText(), "rabbit_misc:f/1");
  await page.locator(".search").first().fill("rabbit_misc");
  assert.match(await share(page), /^75\.0 % · 150 samples/);
  assert.match(page.url(), /who=queue%3Aorders/);
  await page.reload();
  assert.match(await all(page), /total 100 % \(200 samples\)/);
  await page.getByRole("button", { name: "Show all owners" }).click();
  assert.match(await all(page), /total 100 % \(1,?.?000 samples\)/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("every view follows the owner that is chosen", async () => {
  const { page, problems } = await browser.open("profile.html");
  const heatOf = (): Promise<string> => page.evaluate(() => (document.querySelector(".heat") as HTMLCanvasElement).toDataURL());
  const facts = (): Promise<string> => text(page, ".about-recording .facts");
  const quality = (): Promise<string> => text(page, ".quality-sentence");
  assert.match(await facts(), /^1,000 samples/);
  assert.match(await quality(), /of 800 samples on Erlang processes/);
  const everybody = await heatOf();
  await page.locator(".owner-name", { hasText: "orders" }).click();
  assert.match(await facts(), /^200 samples of 1,000 samples/);
  assert.match(await quality(), /^Stack quality: 100 % of 200 samples on Erlang processes/);
  assert.notEqual(await heatOf(), everybody);
  await page.getByRole("button", { name: "Threads" }).click();
  assert.match(await text(page, ".owners tbody"), /^1_scheduler 1 100 %\s*200$/);
  await page.getByRole("button", { name: "Show all owners" }).click();
  assert.equal(await heatOf(), everybody);
  await page.locator(".owner-name", { hasText: "2_scheduler" }).click();
  assert.match(await facts(), /^250 samples of 1,000 samples/);
  assert.match(await quality(), /0 % of 250 samples .* 100 % broken/);
  // They were taken at another time.
  await page.goto(page.url() + "&time=0-0.3");
  await page.reload();
  assert.match(await facts(), /^0 samples of 1,000 samples/);
  assert.match(await quality(), /no samples are selected/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("time off the CPU is shown as blocked, runnable and idle", async () => {
  for (const [width, dark] of [[1400, false], [700, true]] as const) {
    const { page, problems } = await browser.open("off-cpu.html", width, dark);
    assert.match(await text(page, ".waits"), /Blocked 950 ms .*Runnable 200 ms .*Idle 30\.0 s .*All 31\.1 s/);
    assert.match(await text(page, ".functions:not(.owners):not(.lines) tbody tr"), /prim_file:sync_nif\/2 .*58\.9 %/);
    assert.match(await text(page, ".about-recording .facts"), /^950 ms of 31\.1 s/);
    await page.locator(".waits .tile", { hasText: "Idle" }).click();
    assert.match(page.url(), /state=idle/);
    assert.match(await text(page, ".about-recording .facts"), /^30\.0 s of 31\.1 s/);
    await page.locator(".waits .tile", { hasText: "Blocked" }).click();
    assert.doesNotMatch(page.url(), /state/);
    assert.match(await text(page, ".caution"), /Too few .* of 12,/);
    const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content! <= view!, `content of ${content} pixels in a view of ${view}`);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("the graph is grouped by role", async () => {
  const { page } = await browser.open("profile.html");
  await page.getByLabel("Group the graph by").selectOption("role");
  await page.locator(".search").first().fill("^role queue$");
  assert.match(await share(page), /^20\.0 % · 200 samples/);
  await page.locator(".search").first().fill("^no role$");
  assert.match(await share(page), /^15\.0 % · 150 samples/);
  await page.close();
});

test("a span of time is drawn, and a second one compared with it", async () => {
  const { page, problems } = await browser.open("profile.html");
  const heat = page.locator(".heat");
  await heat.scrollIntoViewIfNeeded();
  const box = await heat.boundingBox();
  assert.ok(box);
  const place = (second: number, row: number): [number, number] => [
    box.x + (box.width * (second + 0.5)) / 2,
    box.y + (box.height * (row + 0.5)) / 20,
  ];
  const draw = async (from: [number, number], to: [number, number]): Promise<void> => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to);
    await page.mouse.up();
  };
  await draw(place(0, 0), place(0, 19));
  assert.match(await all(page), /total 100 % \(600 samples\)/);
  assert.match(page.url(), /time=0-1$/);
  assert.match(await text(page, ".owners tbody"), /^orders 1 33\.3 %\s*200 rest/);
  await page.getByRole("button", { name: "Compare with" }).click();
  await draw(place(1, 0), place(1, 19));
  assert.match(page.url(), /against=1-1.8/);
  await page.locator(".search").first().fill("^osiris");
  assert.match(await share(page), /^0 % before, 62\.5 % after/);
  await page.getByLabel("Second to").fill("0.3");
  await page.getByLabel("Second to").blur();
  assert.match(page.url(), /time=0-0.3/);
  await page.getByRole("button", { name: "Whole recording" }).click();
  assert.doesNotMatch(page.url(), /time/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("two spans have a table of changes that knows noise", async () => {
  for (const [width, dark] of [[1400, false], [1400, true], [700, false], [700, true]] as const) {
    const { page, problems } = await browser.open("profile.html#time=0-1&against=1-1.8", width, dark);
    assert.ok(await page.locator(".changes").isVisible());
    assert.ok(await (await page.locator("#functions-title").isHidden()));
    assert.match(await text(page, "section:has(.changes) p"), /Of 1,000 pairs of equal recordings, 1 would have a row that is not grey.* Only further spans can exclude a difference/);
    const row = (name: string): Promise<string> => text(page, `.changes tbody tr:has-text("${name}")`);
    assert.match(await row("osiris_log:write/5"), /0 % 62\.5 % \+62\.50 0 % 62\.5 % \+62\.50$/);
    // A function that changed itself stands before its callers. Native functions are judged too.
    assert.match(await text(page, ".changes tbody tr"), /^osiris_log:write\/5 /);
    assert.match(await row("writev"), /0 % 62\.5 % \+62\.50$/);
    assert.equal(await page.locator(".changes tbody tr", { hasText: /^scheduler/ }).count(), 0);
    await page.getByLabel("Order of changes").selectOption("total");
    const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content! <= view!, `content of ${content} pixels in a view of ${view}`);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("a comparison has callers and callees, and says what is within noise", async () => {
  const { page, problems } = await browser.open("profile.html#time=0.25-0.3&against=0.5-0.55&search=%5Eosiris&around=proc_lib%3Ainit_p_do_apply%2F3");
  assert.match(await text(page, ".centre"), /in 100 % before, 100 % after, ±0 points$/);
  assert.match(await share(page), /^0 % before, 0 % after, ±0 points/);
  await page.getByRole("button", { name: "Whole recording" }).click();
  assert.match(await text(page, ".centre"), /in 85\.0 % of all, 850 samples$/);
  assert.ok(await page.locator("#functions-title").isVisible());
  assert.deepEqual(problems, []);
  await page.close();
});

test("a function that calls itself says how it counts", async () => {
  const { page } = await browser.open("profile.html#around=lists%3Afoldr_1%2F3");
  assert.match(await text(page, ".centre"), /in 20\.0 % of all, 200 samples; it calls itself: a sample counts once/);
  await page.close();
});

test("a function stands between its callers and callees", async () => {
  const { page, problems } = await browser.open("profile.html");
  await page.getByLabel("Callers and callees of ets:lookup/2").click();
  assert.match(await text(page, ".centre"), /^ets:lookup\/2 in 30\.0 % of all, 300 samples$/);
  assert.match(page.url(), /around=ets%3Alookup%2F2/);
  assert.ok(await page.locator(".sandwich .graph canvas").nth(1).isVisible());
  await page.reload();
  assert.match(await text(page, ".centre"), /^ets:lookup/);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator(".sandwich").isHidden());
  await page.locator(".graph").first().focus();
  for (const key of ["ArrowDown", "ArrowDown", "s"]) await page.keyboard.press(key);
  assert.match(await text(page, ".centre"), /^proc_lib:init_p_do_apply\/3 in 85\.0 %/);
  assert.deepEqual(problems, []);
  await page.close();
});
