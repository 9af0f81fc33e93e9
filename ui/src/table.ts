// The table of functions: own, self and total weight, sortable, filtered by text and kind.

import { h } from "./dom.ts";
import { percent, whole } from "./format.ts";
import { isAmong, KIND_NAMES } from "./flame/palette.ts";
import { compile } from "./flame/search.ts";
import type { Model } from "./flame/model.ts";
import type { FunctionColumns } from "./flame/functions.ts";
import type { FrameKind } from "./wire.ts";

const FIRST_ROWS = 25;

interface Column {
  key: "own" | "self" | "total";
  name: string;
  meaning: string;
}

const COLUMNS: Column[] = [
  {
    key: "own",
    name: "Own",
    meaning: "An Erlang function with the native, kernel and VM code that it calls, without other Erlang functions. For other frames, the same as self.",
  },
  { key: "self", name: "Self", meaning: "Stacks with the function itself on top." },
  { key: "total", name: "Total", meaning: "The function with everything that it calls: each stack that contains it counts once." },
];

type SortKey = Column["key"] | "name";

/** The actions of a name and of the mark beside it. */
export interface TableActions {
  find(frame: number): void;
  /** Shows callers and callees. */
  centre(frame: number): void;
}

export class FunctionTable {
  readonly element: HTMLElement;
  private sort: { key: SortKey; down: boolean } = { key: "own", down: true };
  private kind: FrameKind | "" = "";
  private text = "";
  private total: number;
  private showsAll = false;
  private readonly body = h("tbody");
  private readonly headers = new Map<SortKey, HTMLElement>();
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private functions: FunctionColumns,
    private readonly model: Model,
    private readonly actions: TableActions,
  ) {
    this.total = model.total;
    if (model.kinds.some((kind) => isAmong(kind, "erlang"))) this.kind = "erlang";
    const heads = COLUMNS.map((column) => this.header(column.key, column.name, column.meaning));
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "functions-title" },
      h("h2", { id: "functions-title" }, "Functions"),
      this.filters(),
      h(
        "table",
        { class: "functions" },
        h("thead", {}, h("tr", {}, this.header("name", "Function", "Click a name to find it in the graph."), ...heads)),
        this.body,
      ),
      this.more,
    );
    this.draw();
  }

  private header(key: SortKey, name: string, meaning: string): HTMLElement {
    const sort = (): void => {
      const down = this.sort.key === key ? !this.sort.down : key !== "name";
      this.sort = { key, down };
      this.draw();
    };
    const button = h("button", { type: "button", title: meaning, click: sort }, name);
    const head = h("th", { scope: "col", class: key === "name" ? "name" : "number" }, button);
    this.headers.set(key, head);
    return head;
  }

  private filters(): HTMLElement {
    const field = h("input", {
      type: "search",
      class: "search",
      placeholder: "Filter by name",
      "aria-label": "Filter functions by name",
      spellcheck: "false",
      input: () => {
        this.text = field.value;
        this.draw();
      },
    });
    const select = kindSelect(this.model, this.kind, (kind) => {
      this.kind = kind;
      this.draw();
    });
    return h("div", { class: "toolbar" }, h("div", { class: "search-box" }, field), select);
  }

  /** Shows new weights, of this total. */
  show(functions: FunctionColumns, total: number): void {
    [this.functions, this.total] = [functions, total];
    this.draw();
  }

  private showAll(): void {
    this.showsAll = true;
    this.draw();
  }

  private draw(): void {
    const rows = this.rows();
    const shown = this.showsAll ? rows : rows.slice(0, FIRST_ROWS);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    if (rows.length === 0) {
      const cell = h("td", { colspan: COLUMNS.length + 1, class: "nothing" }, "No function matches.");
      this.body.append(h("tr", {}, cell));
    }
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${whole(rows.length)}`;
    for (const [key, head] of this.headers) {
      const direction = this.sort.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", key === this.sort.key ? direction : "none");
    }
  }

  /** Returns the numbers of the rows that pass the filters, in order. */
  private rows(): number[] {
    const { functions } = this;
    const pattern = compile(this.text);
    const wanted = functions.frame.map((_, row) => row).filter((row) => {
      const frame = functions.frame[row];
      const isKind = isAmong(this.model.kinds[frame], this.kind);
      return isKind && (typeof pattern === "string" || pattern.test(this.model.names[frame]));
    });
    const { key, down } = this.sort;
    const sign = down ? -1 : 1;
    const name = (row: number): string => this.model.names[functions.frame[row]];
    return wanted.sort((left, right) => {
      if (key === "name") return sign * name(left).localeCompare(name(right));
      return sign * (functions[key][left] - functions[key][right]) || left - right;
    });
  }

  private row(row: number): HTMLElement {
    const { functions } = this;
    const frame = functions.frame[row];
    const kind = this.model.kinds[frame];
    const find = h(
      "button",
      { type: "button", class: "function-name", click: () => this.actions.find(frame) },
      this.model.names[frame],
    );
    const centre = h(
      "button",
      { type: "button", class: "centre-mark", title: "Callers and callees", "aria-label": `Callers and callees of ${this.model.names[frame]}`, click: () => this.actions.centre(frame) },
      "⇅",
    );
    const chip = h("span", { class: "chip", "data-kind": kind, title: KIND_NAMES[kind], role: "img", "aria-label": KIND_NAMES[kind] });
    const cells = COLUMNS.map(({ key }) => this.number(functions[key][row]));
    return h("tr", {}, h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, chip, find, centre)), ...cells);
  }

  private number(weight: number): HTMLElement {
    const share = this.total > 0 ? weight / this.total : 0;
    const bar = h("span", { class: "share-bar" });
    bar.style.width = `${(share * 100).toFixed(2)}%`;
    return h(
      "td",
      { class: "number" },
      h("span", { class: "share-track", "aria-hidden": "true" }, bar),
      h("span", { class: "share" }, percent(share)),
      h("span", { class: "count" }, whole(weight)),
    );
  }
}

/** Offers a choice among the kinds that occur; empty for all of them. */
export function kindSelect(
  model: Model,
  selected: FrameKind | "",
  choose: (kind: FrameKind | "") => void,
): HTMLElement {
  const hasBifs = model.kinds.includes("bif");
  const kinds = model.weightByKind().map(({ kind }) => {
    const name = kind === "erlang" && hasBifs ? "Erlang and BIFs" : KIND_NAMES[kind];
    return h("option", { value: kind, selected: kind === selected }, name);
  });
  const select = h(
    "select",
    { "aria-label": "Kind of function", change: () => choose(select.value as FrameKind | "") },
    h("option", { value: "" }, "All kinds"),
    ...kinds,
  );
  return select;
}
