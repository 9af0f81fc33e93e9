// Five questions of a reader, answered in headless Chromium: clicks and seconds of each, from the opening of the page
// on. The first page is the report of a run with a CPU profile, the second that of `profile --event cpu,off-cpu`.
//
//   node bench/questions.mjs REPORT PROFILE
//
// Ends with 1 if an answer is missing, or takes more than three clicks. A drag is one click.

import { resolve } from "node:path";
import { chromium } from "playwright-core";

const MOST_CLICKS = 3;
const [report, profile] = process.argv.slice(2).map((path) => `file://${resolve(path)}`);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** A reader who counts clicks. */
class Reader {
  clicks = 0;

  constructor(page) {
    this.page = page;
  }

  async click(target) {
    this.clicks += 1;
    await target.click();
  }

  /** Draws over a part of an element. */
  async drag(target, from, to, key) {
    this.clicks += 1;
    await target.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await target.boundingBox();
    const { mouse, keyboard } = this.page;
    if (key) await keyboard.down(key);
    await mouse.move(x + from * width, y + 2);
    await mouse.down();
    await mouse.move(x + to * width, y + height - 2, { steps: 4 });
    await mouse.up();
    if (key) await keyboard.up(key);
  }

  /** Reads the text of the first element. */
  async read(selector) {
    const text = await this.page.locator(selector).first().innerText({ timeout: 5000 });
    return text.replace(/\s+/g, " ").trim();
  }
}

const QUESTIONS = [
  ["Which queue costs most?", report, (reader) => reader.read(".owners tbody tr")],
  [
    "Is it waiting or computing?",
    profile,
    async (reader) => {
      const computing = await reader.read(".graph-line");
      await reader.click(reader.page.getByRole("link", { name: /off the CPU/ }));
      return `computing: ${computing}; waiting: ${await reader.read(".waits")}`;
    },
  ],
  [
    "What changed between two spans?",
    report,
    async (reader) => {
      const heat = reader.page.locator(".heat");
      await reader.drag(heat, 0.05, 0.4);
      await reader.drag(heat, 0.55, 0.9, "Shift");
      return reader.read(".changes tbody");
    },
  ],
  [
    "Who calls this function?",
    report,
    async (reader) => {
      await reader.click(reader.page.getByRole("button", { name: "Inverted" }));
      const called = await reader.read("[role=treeitem]:nth-child(2)");
      await reader.click(reader.page.getByRole("treeitem").nth(1));
      return `${called} ← ${await reader.read("[role=treeitem]:nth-child(3)")}`;
    },
  ],
  [
    "Which second was bad?",
    report,
    async (reader) => {
      const chart = reader.page.locator("#charts .chart", { hasText: /latency/i }).first();
      await reader.click(chart.getByRole("button", { name: "Table" }));
      const rows = await chart.locator(".chart-under tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
      const scale = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
      const nanos = (text) => {
        const [value, unit] = (text ?? "").split(" ");
        return Number(value) * (scale[unit] ?? NaN);
      };
      const worst = rows.reduce((worst, row) => (nanos(row.at(-1)) > nanos(worst.at(-1)) ? row : worst));
      return worst.join(" ");
    },
  ],
];

let failed = 0;
for (const [question, address, answer] of QUESTIONS) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const reader = new Reader(page);
  const start = performance.now();
  let said;
  try {
    await page.goto(address);
    said = await answer(reader);
  } catch (problem) {
    said = `NO ANSWER: ${problem.message.split("\n")[0]}`;
  }
  const seconds = (performance.now() - start) / 1000;
  if (said === "" || said.startsWith("NO ANSWER") || reader.clicks > MOST_CLICKS) failed = 1;
  console.log(`${question} ${reader.clicks} clicks, ${seconds.toFixed(1)} s: ${said.slice(0, 160)}`);
  await page.close();
}
await browser.close();
process.exit(failed);
