// Pages of blocks in a real browser: heat map, experiment, sweep, search for a rate, packets. Their figures are those
// of crates/web `tests/it/documents.rs`.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { Browser } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const spaced = (text: string | null): string => (text ?? "").replaceAll("\u202f", " ");
const plots = (page: Page): Locator => page.locator(".plot");
const tooltip = async (page: Page): Promise<string> => spaced(await page.locator(".chart-tooltip").innerText());

test("every page fits its window, in both colours, without a foreign element or a problem", async () => {
  for (const name of ["heatmap", "experiment", "sweep", "find-rate", "packets"]) {
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

test("the heat map has axes, a scale, a tooltip and keys", async () => {
  const { page } = await browser.open("heatmap.html");
  assert.equal(await page.locator("h2").nth(1).innerText(), "rabbit@one");
  assert.equal(await page.locator("h2").first().innerText(), '<img src=x onerror="alert(1)">');
  const chart = page.locator(".chart").nth(1);
  assert.deepEqual(await chart.locator(".mark.value").allTextContents(), ["11-25 04:0011-25 04:00", "11-25 05:0011-25 05:00", "minute of the hour"]);
  assert.match((await chart.locator(".mark.time").allTextContents()).join(" "), /^0 5 min 10 min/);
  // The busiest minute of the other node: 60 and 19 s of CPU time in 60 s.
  assert.match(await chart.locator(".shades").innerText(), /^0\s+1\.32 cores$/);
  const width = (await chart.boundingBox())!.width;
  assert.ok(width > 1300, `${width}`);
  await plots(page).nth(1).focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  const command = "rabbitscope flamegraph windows --node 'rabbit@one' --from 2026-11-25T05:01:00Z --to 2026-11-25T05:02:00Z -o flamegraph-rabbit@one-20261125T050100Z.html";
  assert.ok((await tooltip(page)).startsWith(`11-25 05:00, 60 s: 0.517 cores\nFlame graph: ${command}\n`), await tooltip(page));
  await page.keyboard.press("Enter");
  assert.equal(await chart.locator(".chart-command code").innerText(), command);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await chart.locator(".chart-command span").getByText("copied", { exact: true }).waitFor();
  await page.close();
});

test("a round of an experiment says its ratio and leads to its report", async () => {
  const { page, problems } = await browser.open("experiment.html");
  assert.equal(await page.locator("h1").innerText(), "<credit> & more");
  assert.match(await page.locator(".sentence").first().innerText(), /<img src=x onerror="alert\(1\)"> against default: consumed/);
  const record = await page.evaluate(() => JSON.parse(document.getElementById("data")!.textContent!).document);
  const mark = record.sections[1].blocks[0].charts[0].marks[2];
  const least = mark.x.indexOf(Math.min(...mark.x));
  const change = Number((100 * (mark.x[least] - 1)).toFixed(1));
  const expected = `${mark.text[least]}: ${change > 0 ? "+" : "\u2212"}${Math.abs(change)} %`;
  await plots(page).first().focus();
  const read: string[] = [];
  for (let step = 0; step < 60 && read.at(-1) !== expected; step += 1) {
    await page.keyboard.press("ArrowRight");
    read.push((await tooltip(page)).split("\n")[0] ?? "");
  }
  assert.equal(read.at(-1), expected, read.join(", "));
  const asked = page.waitForRequest(/runs\/\d\d-1\/report\.html$/);
  await page.keyboard.press("Enter");
  await asked;
  assert.deepEqual(problems.filter((problem) => !problem.includes("ERR_FILE_NOT_FOUND")), []);
  await page.close();
});

test("runs in time have colours, doubts and a table with links", async () => {
  const { page } = await browser.open("experiment.html");
  const chart = page.locator("#runs .chart").first();
  assert.equal(await chart.locator(".hollow").count(), 1);
  await chart.getByRole("button", { name: "Table" }).click();
  const links = chart.locator(".chart-under a");
  assert.equal(await links.count(), 30);
  assert.match(spaced(await links.nth(4).innerText()), /^round 2, <img src=x onerror="alert\(1\)">: [\d,]+\/s\s+the host took 9 % away$/);
  assert.equal(await links.nth(4).getAttribute("href"), "runs/02-1/report.html");
  const functions = page.locator("#profiles .data-table tbody tr");
  assert.match(spaced(await functions.innerText()), /^m:<f>\/2\s+4\.00 %\s+2\.00 %\s+9\.50 %\s+2\.50 %\s+both$/);
  await page.locator("#latencies .plot").focus();
  await page.keyboard.press("End");
  assert.match(await tooltip(page), /^p99\s+default\s+8\.00 ms\s+<img[^]*4\.00 ms$/);
  await page.close();
});

test("a sweep has a curve for each value of its second key", async () => {
  const { page } = await browser.open("sweep.html");
  const chart = page.locator("#metric-0 .chart");
  assert.equal(await chart.locator(".plot .line").count(), 2);
  assert.deepEqual(await chart.locator(".mark.time").allTextContents(), ["1", "10", "1000"]);
  await chart.getByRole("button", { name: "quorum" }).click();
  assert.equal(await chart.locator(".plot .line").count(), 1);
  await page.close();
});

test("steps of a search are points and rows", async () => {
  const { page } = await browser.open("find-rate.html");
  const rows = page.locator("#steps tbody tr");
  assert.equal(await rows.count(), 4);
  assert.match(spaced(await rows.nth(2).innerText()), /^2,500\/s\s+2,500\/s\s+700 ms\s+7\.00 s\s+–\s+0\/s\s+<img src=x/);
  await page.locator("#curve .plot").focus();
  for (const key of ["Home", "ArrowDown"]) await page.keyboard.press(key);
  assert.match(await tooltip(page), /^p50 at 1000\/s: 1\.00 ms\n/);
  await page.close();
});

test("packets have findings first, tables, and pictures as charts", async () => {
  const { page } = await browser.open("packets.html");
  assert.match(await page.locator("h2").first().innerText(), /^Findings$/);
  assert.match(await page.locator(".finding").innerText(), /The client sends <method>, header and body/);
  await page.locator(".finding summary").click();
  assert.match(await page.locator(".finding details").innerText(), /frame\.number in \{7, 8, 9\}/);
  assert.match(spaced(await page.locator("#latencies tbody tr").innerText()), /publish → confirm\s+1\.50 ms\s+2\.50 ms\s+2\.60 ms/);
  await page.locator("#latencies .plot").focus();
  await page.keyboard.press("End");
  assert.match(await tooltip(page), /^max\s+publish → confirm\s+2\.70 ms$/);
  await page.close();
});

test("a tick adds values to a chart, and replaces a block by its id", async () => {
  const folder = process.env["RABBITSCOPE_PAGES"]!;
  const text = readFileSync(`${folder}/find-rate.html`, "utf8");
  const tick = {
    append: [{ block: "curve-chart", chart: 0, mark: 3, columns: { x: [4000], y: [5e9], text: ["<b>late"], hollow: [true] } }],
    replace: [{ id: "sentence", kind: "sentences", sentences: [{ text: "<b>later", tone: "bad" }] }],
  };
  const json = JSON.stringify([tick]).replaceAll("<", "\\u003c");
  writeFileSync(`${folder}/ticks.html`, text.replace(/"version":\d+,/, (version) => `${version}"ticks":${json},`));
  const { page, problems } = await browser.open("ticks.html");
  assert.equal(await page.locator("#sentence").innerText(), "<b>later");
  await page.locator("#curve .plot").focus();
  await page.keyboard.press("End");
  assert.match(await tooltip(page), /^<b>late: 5\.00 s/);
  assert.deepEqual(problems, []);
  await page.close();
});
