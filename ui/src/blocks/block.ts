// The blocks of a page: each kind has one renderer, which can also show later data of the same kind.

import { h } from "../dom.ts";
import { Chart } from "../charts/chart.ts";
import { tiles } from "../header.ts";
import { findings } from "../packets.ts";
import type { BlockData, ChartsData, Columns, Content } from "./data.ts";
import { tableElement } from "./table.ts";

type Of<K extends Content["kind"]> = Extract<BlockData, { kind: K }>;

/** A block on the page. */
export interface Block {
  readonly element: HTMLElement;
  update(data: BlockData): void;
  /** Adds items to a mark of a chart. */
  append?(chart: number, mark: number, columns: Columns): void;
}

export function block(data: BlockData): Block {
  return data.kind === "charts" ? new ChartsBlock(data) : new PlainBlock(data);
}

/** A block without state: an update replaces its contents. */
class PlainBlock implements Block {
  readonly element = h("div", { class: "block" });

  constructor(data: Exclude<BlockData, Of<"charts">>) {
    this.update(data);
  }

  update(data: BlockData): void {
    this.element.id = data.id;
    this.element.replaceChildren(...contents(data));
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
    case "sentences":
      return data.sentences.map(({ text, tone, badge }) =>
        h("p", { class: "sentence", "data-tone": tone }, badge ? h("span", { class: "badge" }, badge) : null, text),
      );
    case "links":
      return [h("ul", { class: "links" }, ...data.links.map(({ text, href }) => h("li", {}, h("a", { href }, text))))];
    case "details":
      return [h("details", {}, h("summary", {}, data.summary), ...data.blocks.map((inner) => block(inner).element))];
    case "charts":
      return [new ChartsBlock(data).element];
  }
}

/** Charts side by side, with the key to the spans behind all of them. */
export class ChartsBlock implements Block {
  readonly element = h("div", { class: "charts" });
  private charts: Chart[] = [];

  constructor(private data: ChartsData & { id: string }) {
    this.rebuild();
  }

  update(data: BlockData): void {
    if (data.kind !== "charts") return;
    const isSame = data.charts.length === this.charts.length;
    this.data = data;
    if (isSame) this.charts.forEach((chart, at) => chart.update(data.charts[at] as ChartsData["charts"][number], data.shared ?? []));
    else this.rebuild();
  }

  append(chart: number, mark: number, columns: Columns): void {
    this.charts[chart]?.append(mark, columns);
  }

  private rebuild(): void {
    const { id, charts, shared = [] } = this.data;
    this.element.id = id;
    this.charts = charts.map((chart) => new Chart(chart, shared, charts.length === 1));
    this.element.style.setProperty("--columns", String(charts.length > 4 ? 3 : charts.length));
    const named = shared.filter((mark) => mark.name !== "");
    const key = named.map((mark) => h("li", {}, h("i", { class: "chip", "data-kind": "spans", "data-hue": mark.hue }), mark.name));
    this.element.replaceChildren(key.length > 0 ? h("ul", { class: "spans-key" }, ...key) : "", ...this.charts.map((chart) => chart.element));
  }
}
