// The report in a real browser. The profile is the one of crates/web `tests/it/pages.rs`: 1,000
// samples, so that a frame's share is its weight divided by 10.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { Browser } from "./open.ts";

const browser = new Browser();
before(() => browser.start());
after(() => browser.stop());

const ROW = 19;
const spaced = (text: string | null): string => (text ?? "").replaceAll("\u202f", " ");

/** The middle of a place in the graph: a row from the root, and a share of the width. */
async function place(page: Page, row: number, share: number): Promise<{ position: { x: number; y: number } }> {
  const box = await page.locator(".graph canvas").boundingBox();
  assert.ok(box);
  return { position: { x: box.width * share, y: row * ROW + ROW / 2 } };
}

const graph = (page: Page): Locator => page.locator(".graph");

async function tooltipAt(page: Page, row: number, share: number): Promise<string> {
  await graph(page).hover(await place(page, row, share));
  return spaced(await page.locator(".tooltip").innerText());
}

async function wide(page: Page): Promise<void> {
  const [content, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content! <= view!, `content of ${content} pixels in a view of ${view}`);
}

test("the report shows what ran and asks for nothing", async () => {
  for (const [width, dark] of [[1400, false], [1400, true], [700, false], [700, true]] as const) {
    const { page, problems } = await browser.open("report.html", width, dark);
    assert.equal(await page.locator("h1").innerText(), "experiment <1> & more");
    assert.match(await page.locator(".run-facts").innerText(), /RabbitMQ 3\.10\.8/);
    assert.match(spaced(await page.locator(".quality-sentence").innerText()), /97\.5 % of 800 samples/);
    assert.equal(await page.locator(".tile").count(), 6);
    assert.equal(await page.locator(".chart").count(), 4);
    assert.match(await page.locator(".losses").first().innerText(), /unconfirmed messages/);
    await wide(page);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("the limit and the findings stand above all figures, and names in them are text", async () => {
  for (const width of [1400, 390]) {
    const { page, problems } = await browser.open("report.html", width);
    const section = page.locator('section[aria-label="Limit and findings"]');
    const [limit, tiles] = [await section.boundingBox(), await page.locator(".tiles").first().boundingBox()];
    assert.ok(limit!.y < tiles!.y);
    const text = spaced(await section.innerText());
    assert.match(text, /^Limit: one Erlang process: the queue <script>alert\(1\)<\/script> \\u\{202e\}"x" uses 0\.97 cores \(likely\)/);
    assert.match(text, /critical An alarm[\s\S]*warning The queue <b>/);
    assert.match(text, /2 more below$/);
    const whole = page.locator("section", { has: page.locator("#findings-title") });
    const explained = spaced(await whole.innerText());
    assert.match(explained, /What to do: use 4 queues \(at most 10 % more: it waits 9 %\)/);
    assert.match(explained, /2 more findings\.\s+Not judged: 38 rules, because these were not read: the node\.$/);
    assert.equal(await whole.locator(".finding").count(), 2);
    await wide(page);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("packets have figures, findings, missing sources and a link to their page", async () => {
  const { page, problems } = await browser.open("with-packets.html");
  const section = page.locator('section[aria-label="Packets"]');
  const text = spaced(await section.innerText());
  assert.match(text, /12,345 packets of 2 connections, 1\.0 MiB on the wire in 4\.00 s; none was lost\./);
  assert.match(text, /Sizes of writes and reads were not seen: Linux 6\.3 has <sock_send_length>/);
  assert.match(text, /warning The client sends <method>, header and body/);
  assert.match(text, /1 connection; source: packets\.\n*What to do: Write the whole publish at once\./);
  assert.equal(await section.locator(".tile").count(), 3);
  assert.match(spaced(await section.locator(".tile").first().innerText()), /Publish → confirm\s+1\.50 ms/);
  await wide(page);
  assert.deepEqual(problems, []);
  await section.locator("a").click();
  assert.match(page.url(), /packets\.html$/);
  assert.match(await page.locator("h1").innerText(), /port 5672 of the broker under load/);
  await page.close();
});

test("every chart shows when the broker was away, and when an alarm blocked it", async () => {
  const { page } = await browser.open("report.html");
  for (const hue of ["bad", "warn"]) {
    const strips = page.locator(`.chart .span-strip[data-hue="${hue}"]`);
    assert.equal(await strips.count(), await page.locator(".chart").count());
  }
  const first = page.locator('.chart .span-strip[data-hue="bad"] title').first();
  assert.match((await first.textContent()) ?? "", /without service, 1\.0 to 1\.5 s: the broker <went> away/);
  assert.match(await page.locator(".spans-key").innerText(), /without service[\s\S]*blocked by an alarm/);
  assert.match(spaced(await page.locator(".checks").innerText()), /The broker did not serve for 0\.50 of/);
  await page.close();
});

test("a frame says its shares", async () => {
  const { page } = await browser.open("report.html");
  const tooltip = await tooltipAt(page, 3, 0.2);
  assert.match(tooltip, /rabbit_channel:handle_method\/3/);
  assert.match(tooltip, /total\s+40\.0 %\s+400 samples/);
  assert.match(tooltip, /self \(ends here\)\s+10\.0 %\s+100 samples[^]*47\.1 % of the frame above/);
  assert.match(await tooltipAt(page, 3, 0.75), /lists:foldr_1\/3 ×5\n.*5 activations/);
  await page.close();
});

test("a click zooms, the address remembers, and Escape shows all", async () => {
  const { page, problems } = await browser.open("report.html");
  await graph(page).click(await place(page, 3, 0.2));
  assert.match(await page.locator(".crumbs").innerText(), /rabbit_channel:handle_method\/3/);
  assert.match(await tooltipAt(page, 4, 0.5), /ets:lookup\/2[^]*75\.0 % of the zoomed frame/);
  assert.match(page.url(), /#zoom=/);
  await page.reload();
  assert.match(await page.locator(".crumbs").innerText(), /rabbit_channel:handle_method\/3/);
  await page.goBack();
  assert.ok(await page.locator(".crumbs").isHidden());
  await page.goForward();
  await page.keyboard.press("Escape");
  assert.ok(await page.locator(".crumbs").isHidden());
  assert.deepEqual(problems, []);
  await page.close();
});

test("a search says the share of its matches", async () => {
  const { page } = await browser.open("report.html");
  const said = async (): Promise<string> => spaced(await page.locator("#search-result").innerText());
  await page.keyboard.press("/");
  await page.keyboard.type("^(ets|db_)");
  assert.equal(await said(), "30.0 % · 300 samples, 2 functions");
  await page.keyboard.type("(");
  assert.equal(await page.locator(".search").first().getAttribute("aria-invalid"), "true");
  await page.keyboard.press("Escape");
  assert.equal(await said(), "");
  await page.locator(".function-name", { hasText: "osiris_log:write/5" }).click();
  assert.equal(await said(), "25.0 % · 250 samples, 1 function");
  await page.close();
});

test("recursion opens by double click, by key and by button", async () => {
  const { page } = await browser.open("report.html");
  const deepest = async (): Promise<number> =>
    Number.parseInt(await page.locator(".graph-filler").evaluate((it) => it.style.height), 10) / ROW;
  assert.equal(await deepest(), 6);
  await page.getByRole("button", { name: "Open recursion" }).click();
  assert.equal(await deepest(), 9);
  assert.match(await tooltipAt(page, 6, 0.7), /lists:foldr_1\/3\n/);
  await page.getByRole("button", { name: "Open recursion" }).click();
  await graph(page).dblclick(await place(page, 3, 0.75));
  assert.equal(await deepest(), 9);
  assert.match(await tooltipAt(page, 7, 0.3), /total\s+15\.0 %/);
  await page.keyboard.press("Space");
  assert.equal(await deepest(), 5);
  await page.close();
});

test("the root can stand at the bottom", async () => {
  const { page } = await browser.open("report.html");
  await page.getByRole("button", { name: "Root at bottom" }).click();
  const height = await graph(page).evaluate((it) => it.clientHeight / 19);
  assert.match(await tooltipAt(page, height - 1, 0.5), /^all\n/);
  await graph(page).click(await place(page, height - 4, 0.2));
  assert.match(await tooltipAt(page, height - 5, 0.2), /^ets:lookup\/2\n/);
  await page.reload();
  assert.match(await tooltipAt(page, height - 1, 0.5), /^all\n/);
  await page.close();
});

test("the keyboard walks the graph", async () => {
  const { page } = await browser.open("report.html");
  await graph(page).focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await page.locator(".graph-line").innerText(), /^osiris_log:write\/5 · Erlang/);
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".crumbs").innerText(), /osiris_log:write\/5$/);
  await page.close();
});

test("colours follow the system and the button", async () => {
  const { page } = await browser.open("report.html", 1400, true);
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByRole("button", { name: "Switch to light colours" }).click();
  assert.notEqual(await ground(), dark);
  await page.getByRole("button", { name: "Switch to dark colours" }).click();
  assert.equal(await ground(), dark);
  await page.evaluate(() => localStorage.clear());
  await page.close();
});

test("the table sorts and filters", async () => {
  const { page } = await browser.open("report.html");
  const first = (): Promise<string> => page.locator(".function-name").first().innerText();
  assert.equal(await first(), "ets:lookup/2");
  await page.getByRole("button", { name: "Total" }).click();
  assert.equal(await first(), "proc_lib:init_p_do_apply/3");
  await page.getByRole("button", { name: "Total" }).click();
  assert.equal(await first(), "rabbit_misc:f/1");
  await page.getByLabel("Kind of function").selectOption("kernel");
  assert.equal(await first(), "ext4_write");
  await page.getByLabel("Kind of function").selectOption("");
  await page.locator(".where .search").fill("^osiris");
  assert.equal(await page.locator(".function-name").count(), 1);
  await page.close();
});

test("a chart reads out its values", async () => {
  const { page } = await browser.open("report.html");
  const chart = page.locator(".chart").first();
  await chart.locator(".plot").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await chart.locator(".chart-time").innerText(), "at 0.5 s");
  assert.match(await chart.locator(".legend").innerText(), /written\s*1,000/);
  const tooltip = page.locator(".chart-tooltip");
  assert.match(await tooltip.innerText(), /at 0\.5 s[^]*written\s+1,000\/s[^]*confirmed\s+990\/s/);
  // The other charts show the same second.
  assert.equal(await page.locator(".chart").nth(1).locator(".chart-time").innerText(), "at 0.5 s");
  await page.close();
});

test("lines can be hidden, a span chosen, and the values read as a table", async () => {
  const { page, problems } = await browser.open("report.html");
  const chart = page.locator(".chart").first();
  const lines = chart.locator(".plot .line");
  assert.equal(await lines.count(), 2);
  const written = chart.getByRole("button", { name: "written" });
  await written.click();
  assert.equal(await written.getAttribute("aria-pressed"), "false");
  assert.equal(await lines.count(), 1);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.match(spaced(await chart.locator(".chart-under").innerText()), /written\s+confirmed[^]*3\.5 s\s+1,030\/s\s+990\/s/);
  await chart.locator(".plot").focus();
  for (const key of ["ArrowRight", "ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(key);
  assert.equal(await chart.locator(".chart-time").innerText(), "1.5 s to 2.5 s");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".chart").nth(2).locator(".mark.time").first().textContent() ?? "", /^1\.5 s$/);
  await page.keyboard.press("Escape");
  assert.equal(await chart.locator(".mark.time").first().textContent(), "0");
  const box = await chart.locator(".plot").boundingBox();
  await page.mouse.move(box!.x + box!.width * 0.4, box!.y + 60);
  await page.mouse.down();
  await page.mouse.move(box!.x + box!.width * 0.7, box!.y + 60, { steps: 4 });
  await page.mouse.up();
  await chart.getByRole("button", { name: "Whole" }).click();
  assert.equal(await chart.locator(".mark.time").first().textContent(), "0");
  assert.deepEqual(problems, []);
  await page.close();
});

test("a bare profile is a page too", async () => {
  const { page, problems } = await browser.open("profile.html", 700);
  assert.equal(await page.locator("h1").innerText(), "CPU profile of rabbit@<host>");
  assert.match(await tooltipAt(page, 3, 0.2), /handle_method/);
  await wide(page);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a comparison shows both shares, and vanished functions", async () => {
  for (const [width, dark] of [[1400, false], [1400, true], [700, false], [700, true]] as const) {
    const { page, problems } = await browser.open("diff.html", width, dark);
    assert.match(spaced(await page.locator(".sides").innerText()), /before\.pb\.gz[^]*after\.pb\.gz/);
    await wide(page);
    assert.deepEqual(problems, []);
    await page.close();
  }
  const { page } = await browser.open("diff.html");
  const row = async (name: string): Promise<string> =>
    spaced(await page.locator(".changes tbody tr", { hasText: name }).first().innerText()).replace(/\s+/g, " ");
  // A sample is a microsecond of each message.
  assert.match(spaced(await page.locator(".changes tbody tr").first().innerText()), /^ets:lookup\/2\s+300 µs\s+50\.0 µs\s+−250 µs/);
  assert.match(await row("osiris_log:write/5"), /250 µs 0 ns −250 µs 250 µs 0 ns −250 µs$/);
  assert.match(spaced(await page.locator(".changes thead").innerText()), /Own cost per message/);
  await page.getByRole("button", { name: "Shares" }).click();
  assert.match(page.url(), /compare=shares/);
  assert.match(await row("osiris_log:write/5"), /25\.0 % 0 % −25\.00 25\.0 % 0 % −25\.00$/);
  await page.keyboard.press("/");
  await page.keyboard.type("^m:new");
  assert.equal(
    spaced(await page.locator("#search-result").innerText()),
    "0 % before, 15.0 % after, +15.00 points · 1 function",
  );
  await page.keyboard.press("Escape");
  await page.locator(".function-name", { hasText: "osiris_log:write/5" }).click();
  assert.match(spaced(await page.locator("#search-result").innerText()), /^25\.0 % before, 0 % after/);
  await page.getByLabel("Order of changes").selectOption("total");
  assert.match(await row("proc_lib:init_p_do_apply/3"), /85\.0 % 70\.0 % −15\.00/);
  await page.close();
});

test("the picture zooms and searches", async () => {
  const { page, problems } = await browser.open("profile.svg");
  const frame = (name: string): Locator => page.locator("#frames > g").filter({ hasText: name });
  const width = async (name: string): Promise<number> =>
    Number(await frame(name).first().locator("rect").getAttribute("width"));
  assert.equal(await width("osiris_log:write/5"), 300);
  await frame("osiris_log:write/5").first().click();
  assert.equal(await width("osiris_log:write/5"), 1200);
  await page.locator("#reset").click();
  assert.equal(await width("osiris_log:write/5"), 300);
  page.on("dialog", (dialog) => void dialog.accept("^(ets|db_)"));
  await page.locator("#search").click();
  assert.equal(await page.locator("#matched").textContent(), "30.00 % matched");
  assert.deepEqual(problems, []);
  await page.close();
});
