// Takes a picture of a report for the documents: header, tiles and the top of the flame graph with the table beside it.
//
//   node bench/picture.mjs REPORT.html PICTURE.png

import { resolve } from "node:path";
import { chromium } from "playwright-core";

const WIDTH = 1400;
/** Height of the shown part of the flame graph. */
const GRAPH_HEIGHT = 380;

const [report, picture] = process.argv.slice(2).map((path) => resolve(path));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 1000 }, colorScheme: "light" });
  await page.goto(`file://${report}`);
  const graph = page.locator(".graph canvas").first();
  await graph.waitFor();
  const top = await graph.evaluate((canvas) => canvas.getBoundingClientRect().top + scrollY);
  const clip = { x: 0, y: 0, width: WIDTH, height: Math.ceil(top) + GRAPH_HEIGHT };
  await page.screenshot({ path: picture, clip, fullPage: true });
} finally {
  await browser.close();
}
