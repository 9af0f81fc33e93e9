// A document: title, facts, and sections of blocks. Ticks add to it or replace blocks by their ids.

import { h } from "../dom.ts";
import { themeButton } from "../theme.ts";
import { Blocks } from "./block.ts";
import type { BlockData, DocumentData, SectionData, Tick } from "./data.ts";

export class DocumentView {
  readonly elements: HTMLElement[];
  private readonly blocks = new Blocks();

  constructor(data: DocumentData, maker: string) {
    const shown = this.blocks.show(data.sections.flatMap(({ blocks }) => blocks));
    const of = (section: SectionData): HTMLElement[] => shown.splice(0, section.blocks.length);
    this.elements = [header(data, maker), ...data.sections.map((part) => section(part, of(part)))];
  }

  tick({ append = [], replace = [] }: Tick): void {
    for (const { block, chart, mark, columns } of append) this.blocks.get(block)?.append?.(chart, mark, columns);
    for (const data of replace) this.blocks.get(data.id)?.update(data);
  }

  /** Returns the place of the only block of a kind. */
  place(kind: BlockData["kind"]): HTMLElement | undefined {
    return this.blocks.of(kind)?.element;
  }

  /** Ends the document, which has left the page. */
  remove(): void {
    this.blocks.show([]);
  }
}

function header(data: DocumentData, maker: string): HTMLElement {
  const links = data.sections.filter(({ title }) => title !== "").map(({ id, title }) => h("a", { href: `#${id}` }, title));
  return h(
    "header",
    { class: "page-header" },
    h("div", { class: "title-line" }, h("h1", {}, data.title), h("span", { class: "maker" }, maker), themeButton()),
    data.facts.length > 0 && h("ul", { class: "facts" }, ...data.facts.map((fact) => h("li", {}, fact))),
    links.length > 3 && h("nav", { class: "contents", "aria-label": "Sections" }, ...links),
  );
}

function section({ id, title, intro }: SectionData, blocks: HTMLElement[]): HTMLElement {
  return h(
    "section",
    { class: "document-section", id, "aria-label": title || "Summary" },
    title !== "" && h("h2", {}, title),
    intro !== "" && h("p", { class: "intro" }, intro),
    ...blocks,
  );
}
