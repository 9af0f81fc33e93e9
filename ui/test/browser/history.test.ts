// The list of runs and two runs side by side in a real browser. Their figures are those of crates/web
// `tests/it/history.rs`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { Browser } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const query = (page: Page): string => new URL(page.url()).search;
const rows = (page: Page): Locator => page.locator("#list-table tbody tr");

test("both pages fit their window, in both colours, without a foreign element or a problem", async () => {
  for (const name of ["history", "pair"]) {
    for (const [width, dark] of [[1400, false], [700, true], [390, false]] as const) {
      const { page, problems } = await browser.open(`${name}.html`, width, dark);
      const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content! <= view!, `${name}: content of ${content} pixels in a view of ${view}`);
      assert.equal(await page.locator("main img, main script").count(), 0, name);
      assert.equal(await page.locator("h1").count(), 1);
      assert.deepEqual(problems, [], name);
      await page.close();
    }
  }
});

test("a search and its filters are in the address", async () => {
  const { page } = await browser.open("history.html");
  assert.equal(await rows(page).count(), 31);
  assert.match(await page.locator("#change-sentences").innerText(), /^steady, published\.rate: 1,001\/s → 1,201\/s \(\+20\.0 %\)/);
  await page.keyboard.press("/");
  await page.keyboard.type("a & b");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  assert.equal(query(page), "?search=a+%26+b");
  await Promise.all([page.waitForNavigation(), page.getByLabel("Broker").selectOption("4.1.4")]);
  // A server would have put the search into its field.
  assert.equal(query(page), "?broker=4.1.4");
  await Promise.all([page.waitForNavigation(), page.getByText("Show all").click()]);
  assert.equal(query(page), "");
  await page.close();
});

test("the trend marks changes, and its points lead to reports", async () => {
  const { page } = await browser.open("history.html");
  const chart = page.locator("#trend-charts .chart");
  assert.equal(await chart.count(), 1, "the failed run has no trend");
  assert.match(await chart.innerText(), /broker changed[\s\S]*lasting change[\s\S]*RabbitMQ 3\.13\.7[\s\S]*RabbitMQ 4\.1\.4/);
  await chart.locator(".plot").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".chart-tooltip").innerText(), /^runs\/steady-00: 1,000\/s/);
  await page.close();
});

test("two rows are chosen by keys and lead to their comparison", async () => {
  const { page } = await browser.open("history.html");
  const compare = page.getByRole("button", { name: "Compare" });
  assert.ok(await compare.isDisabled());
  for (const name of ["runs/steady-29", "runs/steady-07"]) {
    await page.getByLabel(`Compare ${name}`).focus();
    await page.keyboard.press("Space");
  }
  assert.equal(await page.locator(".choice-bar [role=status]").innerText(), "runs/steady-07 against runs/steady-29");
  assert.ok(await page.getByLabel("Compare runs/steady-08").isDisabled(), "only two");
  assert.equal(query(page), "?chosen=runs%2Fsteady-29&chosen=runs%2Fsteady-07", "the choice outlives a search");
  const [request] = await Promise.all([page.waitForEvent("requestfailed"), compare.click()]);
  assert.match(request.url(), /\/compare\?before=runs%2Fsteady-07&after=runs%2Fsteady-29$/);
  await page.close();
});

test("two runs have their differences, figures, curves and profiles", async () => {
  const { page } = await browser.open("pair.html");
  assert.deepEqual(await page.locator("#configuration-table tbody th").allInnerTexts(), ["broker.version"]);
  assert.match(await page.locator("#figures-table tbody tr").first().innerText(), /^published\.rate\s.*×2/);
  const curves = page.locator("#curve-charts .chart").first();
  assert.match(await curves.innerText(), /before: written[\s\S]*after: written/);
  assert.equal(await page.getByRole("link", { name: "Report before" }).getAttribute("href"), "files/runs/before/report.html");
  assert.match(await page.locator(".sides").innerText(), /After: <img src=x/);
  assert.ok((await page.locator(".flame-panel, .panel").count()) > 0);
  await page.close();
});
