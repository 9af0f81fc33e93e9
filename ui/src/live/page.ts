// A live page: a document that ticks change, until the end puts the report in its place. Elsewhere: the stream of events
// (stream.ts), the ticks that are kept (kept.ts), the bar (bar.ts), the profile (rolling.ts).

import { DocumentView } from "../blocks/document.ts";
import type { BlockData, DocumentData, Tick } from "../blocks/data.ts";
import { h } from "../dom.ts";
import { reportParts } from "../report.ts";
import { pageData, type PageData } from "../wire.ts";
import { LiveBar, type LiveState } from "./bar.ts";
import { KeptTicks } from "./kept.ts";
import { RollingProfile } from "./rolling.ts";
import type { LiveEvent, Receiver } from "./stream.ts";

/** Ticks whose additions to charts wait until the page is visible: a chart has no room for more. */
const MOST_WAITING = 1800;

export class LivePage implements Receiver {
  readonly done: Promise<void>;
  private finish = (): void => {};
  private head = "";
  private end = "";
  private readonly ticks = new KeptTicks();
  private readonly bar: LiveBar;
  private view: DocumentView | null = null;
  private readonly profile = new RollingProfile();
  private state: LiveState = { isStopped: false, lost: null, heard: null, end: null };
  /** Changes that are not on the page yet. */
  private appended: Required<Tick>["append"][] = [];
  private readonly replaced = new Map<string, BlockData>();
  private report: Document | null = null;
  private frame = 0;

  constructor(
    private readonly page: HTMLElement,
    private readonly data: PageData,
  ) {
    this.done = new Promise((resolve) => (this.finish = resolve));
    this.bar = new LiveBar(this.ticks, { stop: (isStopped) => this.stop(isStopped), goTo: (number) => this.goTo(number) });
    page.append(this.bar.element, h("h1", {}, data.live?.title ?? ""));
    setInterval(() => this.bar.show(this.state), 1000);
    this.bar.show(this.state);
  }

  known(): LiveEvent[] {
    const ticks = this.ticks.texts().map((text): LiveEvent => ({ name: "tick", text }));
    const one = (name: "head" | "end", text: string): LiveEvent[] => (text === "" ? [] : [{ name, text }]);
    return [...one("head", this.head), ...ticks, ...one("end", this.end)];
  }

  lost(since: number | null): void {
    this.state.lost = since;
    this.bar.show(this.state);
  }

  receive({ name, text }: LiveEvent): void {
    if (name === "head") this.begin(text);
    else if (name === "tick") this.tick(text);
    else if (this.end === "") void this.finishWith(text);
  }

  /** Shows the document of a head, which may come again after a lost connection. */
  private begin(text: string): void {
    if (text === this.head || this.end !== "") return;
    this.head = text;
    this.ticks.clear();
    this.appended = [];
    this.replaced.clear();
    this.view?.remove();
    this.view = new DocumentView(JSON.parse(text) as DocumentData, `rabbitscope ${this.data.rabbitscope}`);
    this.page.replaceChildren(this.bar.element, ...this.view.elements);
    this.profile.restart(this.view.place("stacks"));
    this.bar.show(this.state);
  }

  private tick(text: string): void {
    const tick = JSON.parse(text) as Tick;
    if (this.head === "" || !this.ticks.add(tick, text)) return;
    this.state.heard = Date.now();
    if (tick.append) this.appended.push(tick.append);
    if (this.appended.length > MOST_WAITING) this.appended.shift();
    for (const block of tick.replace ?? []) this.replaced.set(block.id, block);
    if (tick.profile) this.profile.offer(tick.profile.number);
    this.bar.show(this.state);
    this.drawSoon();
  }

  /** Draws at the next frame. A hidden page has none until it is shown. */
  private drawSoon(): void {
    if (this.state.isStopped) return;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (!this.state.isStopped) this.draw();
    });
  }

  private draw(): void {
    if (this.report) {
      void this.showReport(this.report);
      return;
    }
    this.view?.tick({ append: this.appended.flat(), replace: [...this.replaced.values()] });
    this.appended = [];
    this.replaced.clear();
  }

  private stop(isStopped: boolean): void {
    this.state.isStopped = isStopped;
    this.bar.show(this.state);
    this.profile.stop(isStopped);
    if (isStopped) return;
    // The tables may be those of an earlier moment.
    for (const block of this.ticks.blocksAt(this.ticks.last)) this.replaced.set(block.id, block);
    this.drawSoon();
  }

  private goTo(number: number): void {
    this.view?.tick({ replace: this.ticks.blocksAt(number) });
  }

  /** Notes the end, and fetches the report while its server is there. */
  private async finishWith(text: string): Promise<void> {
    this.end = text;
    this.state.end = JSON.parse(text) as LiveState["end"];
    this.bar.show(this.state);
    const page = this.state.end?.page;
    if (page) {
      const html = await fetch(page).then((response) => (response.ok ? response.text() : ""), () => "");
      if (html === "") this.state.end = { ...(this.state.end as NonNullable<LiveState["end"]>), page: null };
      else this.report = new DOMParser().parseFromString(html, "text/html");
    }
    this.finish();
    if (this.report) this.drawSoon();
    // Without a report the page stays as it is, with everything that the server kept.
    else this.stop(true);
  }

  /** Puts the parts of the report in the place of the document. */
  private async showReport(report: Document): Promise<void> {
    this.report = null;
    try {
      const data = pageData(report);
      // Only the report itself is on the server.
      data.others = data.others.map((other) => ({ ...other, isElsewhere: true }));
      const columns = report.getElementById("columns")?.textContent;
      const stacks = data.profile && columns ? await this.profile.finish(data.profile, columns, data.others) : [];
      const focused = document.activeElement;
      document.title = report.title;
      this.view?.remove();
      this.page.replaceChildren(this.bar.element, ...reportParts(data, stacks));
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    } catch (problem) {
      const sentence = `${this.state.end?.sentence} The report cannot be shown here: ${problem instanceof Error ? problem.message : String(problem)}.`;
      this.state.end = { sentence, page: null };
      this.stop(true);
    }
  }
}
