// A real Chromium on the files that the test of crates/web wrote. It watches for errors and requests.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser as Chromium, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FOLDER = process.env["RABBITSCOPE_PAGES"];

/** The longest wait for a program or a page, in milliseconds. On a busy machine, a broker starts in half a minute. */
export const PATIENCE = 120_000;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface Opened {
  page: Page;
  /** Errors on the console, uncaught exceptions, and requests for anything but the file and its worker. */
  problems: string[];
}

export class Browser {
  private readonly profile = mkdtempSync(join(tmpdir(), "rabbitscope-chromium-"));
  private context: BrowserContext | null = null;
  private others: Promise<Chromium> | null = null;

  async start(): Promise<void> {
    if (!existsSync(PROGRAM)) {
      throw new Error(`there is no ${PROGRAM}; on Debian: apt-get install chromium`);
    }
    this.context = await chromium.launchPersistentContext(this.profile, {
      executablePath: PROGRAM,
      headless: true,
      args: ARGUMENTS,
      timeout: PATIENCE,
    });
    this.context.setDefaultTimeout(PATIENCE);
  }

  async stop(): Promise<void> {
    await this.context?.close();
    await (await this.others)?.close();
    rmSync(this.profile, { recursive: true, force: true });
  }

  async open(name: string, width = 1400, dark = false): Promise<Opened> {
    if (!this.context || !FOLDER) throw new Error("run this through `cargo test -p rabbitscope-web`");
    const page = await this.context.newPage();
    const problems: string[] = [];
    watch(page, problems);
    page.on("request", (request) => {
      if (!/^(file|data|blob):/.test(request.url())) problems.push(`request for ${request.url()}`);
    });
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    await page.goto(`file://${FOLDER}/${name}`);
    await page.waitForSelector("[aria-busy]", { state: "detached" });
    return { page, problems };
  }

  /** Returns the profile of another reader: its pages share nothing with those of others. */
  async reader(options: BrowserContextOptions = { viewport: { width: 1400, height: 900 } }): Promise<BrowserContext> {
    // Readers that come at the same time share one browser, so that all of them are closed.
    this.others ??= chromium.launch({ executablePath: PROGRAM, args: ARGUMENTS, timeout: PATIENCE });
    const context = await (await this.others).newContext(options);
    context.setDefaultTimeout(PATIENCE);
    return context;
  }
}

/** Collects errors and warnings of a page. */
export function watch(page: Page, problems: string[]): void {
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the findings of axe. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  });
}
