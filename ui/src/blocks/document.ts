// A document: title, facts, and sections of blocks. Ticks add to it or replace blocks by their ids.

import { h } from "../dom.ts";
import { themeButton } from "../theme.ts";
import { type Block, block } from "./block.ts";
import type { DocumentData, SectionData, Tick } from "./data.ts";

export class DocumentView {
  readonly elements: HTMLElement[];
  private readonly blocks = new Map<string, Block>();

  constructor(data: DocumentData, maker: string) {
    this.elements = [this.header(data, maker), ...data.sections.map((section) => this.section(section))];
  }

  tick({ append = [], replace = [] }: Tick): void {
    for (const { block, chart, mark, columns } of append) this.blocks.get(block)?.append?.(chart, mark, columns);
    for (const data of replace) this.blocks.get(data.id)?.update(data);
  }

  private header(data: DocumentData, maker: string): HTMLElement {
    const links = data.sections.filter(({ title }) => title !== "").map(({ id, title }) => h("a", { href: `#${id}` }, title));
    return h(
      "header",
      { class: "page-header" },
      h("div", { class: "title-line" }, h("h1", {}, data.title), h("span", { class: "maker" }, maker), themeButton()),
      data.facts.length > 0 && h("ul", { class: "facts" }, ...data.facts.map((fact) => h("li", {}, fact))),
      links.length > 3 && h("nav", { class: "contents", "aria-label": "Sections" }, ...links),
    );
  }

  private section({ id, title, intro, blocks }: SectionData): HTMLElement {
    const views = blocks.map((data) => {
      const view = block(data);
      this.blocks.set(data.id, view);
      return view.element;
    });
    return h(
      "section",
      { class: "document-section", id, "aria-label": title || "Summary" },
      title !== "" && h("h2", {}, title),
      intro !== "" && h("p", { class: "intro" }, intro),
      ...views,
    );
  }
}
