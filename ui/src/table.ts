// The table of functions: own and total weight, sortable. It shows the functions that a search finds.

import { h, morph, say } from "./dom.ts";
import { amount, percent, quantity, whole } from "./format.ts";
import { isAmong, KIND_NAMES } from "./flame/palette.ts";
import { compile } from "./flame/search.ts";
import type { Model } from "./flame/model.ts";
import type { FunctionColumns } from "./flame/functions.ts";
import type { FrameKind } from "./wire.ts";

const FIRST_ROWS = 25;

interface Column {
  key: "own" | "total";
  name: string;
  meaning: string;
}

const COLUMNS: Column[] = [
  {
    key: "own",
    name: "Own",
    meaning: "An Erlang function with the native, kernel and VM code that it calls, without other Erlang functions. For other frames, the stacks that end there.",
  },
  { key: "total", name: "Total", meaning: "The function with everything that it calls: each stack that contains it counts once." },
];

type SortKey = Column["key"] | "name";

/** The actions of a name and of the mark beside it. */
export interface TableActions {
  find(frame: number): void;
  /** Shows callers and callees. */
  centre(frame: number): void;
}

/** The shown part of the profile. */
export interface Shown {
  functions: FunctionColumns;
  /** Weight of that part. */
  total: number;
  /** Names the part; empty for the whole selection. */
  part: string;
}

export class FunctionTable {
  readonly element: HTMLElement;
  private sort: { key: SortKey; down: boolean } = { key: "own", down: true };
  private readonly kinds: KindSelect;
  private search = "";
  private shown: Shown;
  private showsAll = false;
  private readonly note = h("p", { class: "tooltip-kind", "aria-live": "polite" });
  private readonly body = h("tbody");
  private readonly headers = new Map<SortKey, HTMLElement>();
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    functions: FunctionColumns,
    private readonly model: Model,
    private readonly actions: TableActions,
  ) {
    this.shown = { functions, total: model.total, part: "" };
    const first = model.kinds.some((kind) => isAmong(kind, "erlang")) ? "erlang" : "";
    this.kinds = new KindSelect(model, first, () => this.draw());
    const heads = COLUMNS.map((column) => this.header(column.key, column.name, column.meaning));
    this.element = h(
      "div",
      { class: "function-table", role: "group", "aria-labelledby": "functions-title" },
      h("div", { class: "toolbar" }, h("h3", { id: "functions-title" }, "Functions"), this.kinds.element),
      this.note,
      h(
        "table",
        { class: "functions", "aria-labelledby": "functions-title" },
        h("thead", {}, h("tr", {}, this.header("name", "Function", "Click a name to find it in the graph."), ...heads)),
        this.body,
      ),
      this.more,
    );
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

  /** Shows another part of the profile. */
  show(shown: Shown): void {
    this.shown = shown;
    this.kinds.refresh();
    this.draw();
  }

  /** Shows the functions that a search finds. A search for one name only marks its row. */
  find(search: string): void {
    if (search === this.search) return;
    this.search = search;
    this.draw();
  }

  private showAll(): void {
    this.showsAll = true;
    this.draw();
  }

  private draw(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset["action"];
    const rows = this.rows();
    const shown = this.showsAll ? rows : rows.slice(0, FIRST_ROWS);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    if (rows.length === 0) {
      const cell = h("td", { colspan: COLUMNS.length + 1, class: "nothing" }, "No function matches.");
      this.body.append(h("tr", {}, cell));
    }
    say(this.note, this.shown.part && `Shares of ${this.shown.part}.`);
    this.note.hidden = this.shown.part === "";
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${whole(rows.length)}`;
    for (const [key, head] of this.headers) {
      const direction = this.sort.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", key === this.sort.key ? direction : "none");
    }
    const again = focused && [...this.body.querySelectorAll("button")].find((button) => button.dataset["action"] === focused);
    if (again) again.focus({ preventScroll: true });
  }

  /** Returns whether a search is for exactly this function. */
  private isFound(frame: number): boolean {
    return this.search !== "" && this.search === this.model.searchFor(frame);
  }

  /** Returns the numbers of the rows that pass the filters, in order. */
  private rows(): number[] {
    const { functions } = this.shown;
    const pattern = compile(this.search);
    const isExact = functions.frame.some((frame) => this.isFound(frame));
    const isWanted = (name: string): boolean => isExact || typeof pattern === "string" || pattern.test(name);
    const wanted = functions.frame.map((_, row) => row).filter((row) => {
      const frame = functions.frame[row];
      const isKind = isAmong(this.model.kinds[frame], this.kinds.kind) || this.isFound(frame);
      return isKind && isWanted(this.model.names[frame]);
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
    const { functions } = this.shown;
    const frame = functions.frame[row];
    const kind = this.model.kinds[frame];
    const name = this.model.names[frame];
    const find = h(
      "button",
      { type: "button", class: "function-name", title: name, "data-action": `find ${name}`, click: () => this.actions.find(frame) },
      h("bdi", {}, name),
    );
    const centre = h(
      "button",
      {
        type: "button",
        class: "centre-mark",
        title: "Callers and callees",
        "aria-label": `Callers and callees of ${name}`,
        "data-action": `centre ${name}`,
        click: () => this.actions.centre(frame),
      },
      "⇅",
    );
    const chip = h("span", { class: "chip", "data-kind": kind, title: KIND_NAMES[kind], role: "img", "aria-label": KIND_NAMES[kind] });
    const cells = COLUMNS.map(({ key }) => numberCell(functions[key][row], this.shown.total, this.model.unit));
    const classes = this.isFound(frame) ? "chosen" : null;
    return h("tr", { class: classes }, h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, chip, find, centre)), ...cells);
  }
}

/** Shows a share of a total with a bar, and the weight where there is room. */
export function numberCell(weight: number, total: number, unit: string, full = total): HTMLElement {
  const bar = h("span", { class: "share-bar" });
  bar.style.width = `${(full > 0 ? (weight / full) * 100 : 0).toFixed(2)}%`;
  return h(
    "td",
    { class: "number", title: amount(weight, unit) },
    h("span", { class: "share-track", "aria-hidden": "true" }, weight > 0 && bar),
    h("span", { class: "share" }, percent(total > 0 ? weight / total : 0)),
    " ",
    h("span", { class: "count" }, quantity(weight, unit)),
  );
}

/** A choice among the kinds of functions that occur; empty for all of them. */
export class KindSelect {
  readonly element: HTMLSelectElement;

  constructor(
    private readonly model: Model,
    public kind: FrameKind | "",
    changed: () => void,
  ) {
    const change = (): void => {
      this.kind = this.element.value as FrameKind | "";
      changed();
    };
    this.element = h("select", { "aria-label": "Kind of function", change });
    this.refresh();
  }

  /** Offers the kinds of the model's stacks, and the chosen one. */
  refresh(): void {
    const hasBifs = this.model.kinds.includes("bif");
    const occurring = this.model.weightByKind().map(({ kind }) => kind);
    const all = this.kind === "" || occurring.includes(this.kind) ? occurring : [...occurring, this.kind];
    const options = all.map((kind) => h("option", { value: kind }, kind === "erlang" && hasBifs ? "Erlang and BIFs" : KIND_NAMES[kind]));
    morph(this.element, [h("option", { value: "" }, "All kinds"), ...options]);
    this.element.value = this.kind;
  }
}
