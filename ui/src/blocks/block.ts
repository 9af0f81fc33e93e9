// The blocks of a page: each kind has one renderer, which can also show later data of the same kind.

import { h, morph, place } from "../dom.ts";
import { Chart } from "../charts/chart.ts";
import { tiles } from "../header.ts";
import { findingsPart, limitPart } from "../limit.ts";
import { findings } from "../packets.ts";
import type { BlockData, ChartsData, Columns, Content } from "./data.ts";
import { tableElement } from "./table.ts";

type Of<K extends Content["kind"]> = Extract<BlockData, { kind: K }>;

/** A block on the page. */
export interface Block {
  readonly element: HTMLElement;
  /** Shows other data of the same kind. */
  update(data: BlockData): void;
  /** Adds items to a mark of a chart. */
  append?(chart: number, mark: number, columns: Columns): void;
  /** Ends the block, which has left the page. */
  remove?(): void;
}

function block(data: BlockData): Block {
  if (data.kind === "charts") return new ChartsBlock(data);
  return data.kind === "details" ? new DetailsBlock(data) : new PlainBlock(data);
}

/** The blocks of a part of the page, by their ids. */
export class Blocks {
  private blocks = new Map<string, { kind: string; block: Block }>();

  get(id: string): Block | undefined {
    return this.blocks.get(id)?.block;
  }

  /** Returns the first block of a kind. */
  of(kind: string): Block | undefined {
    return [...this.blocks.values()].find((one) => one.kind === kind)?.block;
  }

  /** Shows these blocks: known ones change in place, all others end. */
  show(all: BlockData[]): HTMLElement[] {
    const old = this.blocks;
    this.blocks = new Map(all.map((data) => [data.id, { kind: data.kind, block: this.shown(data) }]));
    for (const [id, { block }] of old) if (this.get(id) !== block) block.remove?.();
    return [...this.blocks.values()].map(({ block }) => block.element);
  }

  private shown(data: BlockData): Block {
    const known = this.blocks.get(data.id);
    if (known?.kind !== data.kind) return block(data);
    known.block.update(data);
    return known.block;
  }
}

/** A block without state: an update changes its contents. */
class PlainBlock implements Block {
  readonly element = h("div", { class: "block" });

  constructor(data: BlockData) {
    this.element.id = data.id;
    this.update(data);
  }

  update(data: BlockData): void {
    // The stacks come from elsewhere.
    if (data.kind !== "stacks") morph(this.element, contents(data));
  }
}

function contents(data: BlockData): HTMLElement[] {
  switch (data.kind) {
    case "tiles":
      return [h("h3", {}, data.label), tiles(data.figures, data.label)].filter((part) => part !== null);
    case "table":
      return [tableElement(data)];
    case "findings":
      return [findings(data.findings)];
    case "limit":
      return limitOf(data).filter((part) => part !== null);
    case "sentences":
      return data.sentences.map(({ text, tone, badge }) =>
        h("p", { class: "sentence", "data-tone": tone }, badge ? h("span", { class: "badge" }, badge) : null, text),
      );
    case "links":
      return [h("ul", { class: "links" }, ...data.links.map(({ text, href }) => h("li", {}, h("a", { href }, text))))];
    default:
      return [];
  }
}

function limitOf({ note, brief }: Of<"limit">): (HTMLElement | null)[] {
  const parts = brief ? [limitPart(brief, 0), findingsPart(brief)] : [];
  return [...parts, note === "" ? null : h("p", { class: "sentence", "data-tone": "soft" }, note)];
}

/** Folded blocks. They stay open when their data change. */
class DetailsBlock implements Block {
  private readonly summary = h("summary");
  private readonly inner = h("div");
  private readonly blocks = new Blocks();
  readonly element: HTMLElement;

  constructor(data: Of<"details">) {
    this.element = h("div", { class: "block", id: data.id }, h("details", {}, this.summary, this.inner));
    this.update(data);
  }

  update(data: BlockData): void {
    if (data.kind !== "details") return;
    this.summary.textContent = data.summary;
    place(this.inner, this.blocks.show(data.blocks));
  }

  remove(): void {
    this.blocks.show([]);
  }
}

/** Charts side by side, with the key to the spans behind all of them. */
export class ChartsBlock implements Block {
  readonly element = h("div", { class: "charts" });
  private charts: Chart[] = [];
  private readonly key = h("ul", { class: "spans-key" });

  constructor(data: ChartsData & { id: string }) {
    this.element.id = data.id;
    this.show(data);
  }

  update(data: BlockData): void {
    if (data.kind === "charts") this.show(data);
  }

  append(chart: number, mark: number, columns: Columns): void {
    this.charts[chart]?.append(mark, columns);
  }

  remove(): void {
    for (const chart of this.charts) chart.remove();
  }

  /** Shows charts. One of the same title stays, with what the reader has hidden. */
  private show({ charts, shared = [] }: ChartsData): void {
    const old = new Set(this.charts);
    this.charts = charts.map((data) => {
      const known = [...old].find(({ title }) => title === data.title);
      if (!known) return new Chart(data, shared, charts.length === 1);
      old.delete(known);
      known.update(data, shared, charts.length === 1);
      return known;
    });
    for (const chart of old) chart.remove();
    this.element.style.setProperty("--columns", String(charts.length > 4 ? 3 : charts.length));
    const named = shared.filter((mark) => mark.name !== "");
    morph(this.key, named.map((mark) => h("li", {}, h("i", { class: "chip", "data-kind": "spans", "data-hue": mark.hue }), mark.name)));
    place(this.element, [...(named.length > 0 ? [this.key] : []), ...this.charts.map((chart) => chart.element)]);
  }
}
