// Lines of a selected function, in a real browser: the profile of crates/web
// `tests/it/pages.rs`, 1,000 samples.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { Browser } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const text = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().innerText()).replaceAll("\u202f", " ").replace(/\s+/g, " ");

const LINES = ".lines tbody";

test("a function that is searched, zoomed or put in the middle shows its lines", async () => {
  for (const [width, dark] of [[1400, false], [1400, true], [700, false], [700, true]] as const) {
    const { page, problems } = await browser.open("profile.html", width, dark);
    assert.ok(await page.locator(".lines").isHidden());
    await page.locator(".function-name", { hasText: "osiris_log:write/5" }).click();
    assert.match(await text(page, "#lines-title"), /^Lines of osiris_log:write\/5$/);
    await page.getByLabel("Callers and callees of rabbit_channel:handle_method/3").click();
    assert.match(await text(page, "#lines-title"), /rabbit_channel:handle_method\/3$/);
    const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content! <= view!, `content of ${content} pixels in a view of ${view}`);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("lines have own and total shares and stand in the order of the source", async () => {
  const { page } = await browser.open("profile.html");
  await page.getByLabel("Callers and callees of rabbit_channel:handle_method/3").click();
  assert.match(
    await text(page, LINES),
    /^rabbit.hrl:77 6\.00 % 60 6\.00 % 60 rabbit_channel.erl:1302 1\.00 % 10 25\.0 % 250 rabbit_channel.erl:1310 0 % 0 5\.00 % 50 without a line 3\.00 % 30 4\.00 % 40$/,
  );
  assert.equal(await page.locator(".line-place").first().getAttribute("title"), "include/rabbit.hrl:77");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator(".lines").isHidden());
  await page.locator(".owner-name", { hasText: "events" }).click();
  await page.locator(".search").first().fill("osiris_log");
  assert.match(await text(page, "section:has(.lines) p"), /cover the whole recording, not the selection/);
  await page.close();
});
