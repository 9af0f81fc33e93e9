// A table from data: texts, figures in units, bars, links. It scrolls sideways in its own box.

import { h } from "../dom.ts";
import { percent, whole } from "../format.ts";
import { written } from "../measure.ts";
import { TwoRows } from "./choice.ts";
import type { Cell, TableData } from "./data.ts";
import { formElement } from "./form.ts";

/** Number of rows of a long list that are made at once: a thousand of them would take the browser a second. */
const FIRST_ROWS = 200;

export function tableElement(data: TableData): HTMLElement {
  const form = data.form ? [formElement(data.form)] : [];
  if (data.form && data.columns.length === 0) return h("div", {}, ...form);
  const choice = data.choice ? new TwoRows(data.choice) : null;
  const head = data.columns.map(({ name, meaning, numeric }) => {
    const text = meaning ? h("abbr", { title: meaning }, name) : name;
    return h("th", { scope: "col", "data-numeric": numeric === true }, name === "" ? h("span", { class: "out-of-sight" }, meaning ?? "share") : text);
  });
  const rows = new Rows(data, choice);
  const key = (data.key ?? []).map(({ hue, name, meaning }) => h("li", { title: meaning }, h("i", { class: "chip", "data-kind": "bars", "data-hue": hue }), name));
  const box = h(
    "div",
    { class: "table-box", role: "region", tabindex: "0", "aria-label": data.label },
    h("table", { class: "data-table" }, h("thead", {}, h("tr", {}, ...head)), rows.body),
  );
  const above = [...form, ...(choice ? [choice.bar] : []), ...(key.length > 0 ? [h("ul", { class: "legend" }, ...key)] : [])];
  return above.length === 0 ? box : h("div", {}, ...above, box, rows.rest());
}

/** The rows of a table. Those of a long list are made when the reader asks for them. */
class Rows {
  readonly body = h("tbody");
  private readonly cells: [Cell, number][][];

  constructor(
    private readonly data: TableData,
    private readonly choice: TwoRows | null,
  ) {
    this.cells = placed(data.rows);
    this.make(choice ? FIRST_ROWS : this.cells.length);
  }

  /** Returns the button that makes the rest; absent if there is none. */
  rest(): HTMLElement | null {
    const made = this.body.rows.length;
    if (made === this.cells.length) return null;
    const button = h("button", { type: "button", click: () => this.make(this.cells.length) }, `Show all ${whole(this.cells.length)} rows`);
    button.addEventListener("click", () => {
      button.remove();
      this.body.rows[made]?.querySelector<HTMLElement>("input, a")?.focus();
    });
    return button;
  }

  private make(to: number): void {
    const from = this.body.rows.length;
    const isNumeric = (column: number): boolean => this.data.columns[column]?.numeric === true;
    const cell = (row: number, [cell, column]: [Cell, number]): HTMLElement =>
      tableCell(cell, column === 0, isNumeric(column), column === 0 ? this.choice?.box(row) : null);
    const rows = this.cells.slice(from, to).map((row, at) => h("tr", {}, ...row.map((each) => cell(from + at, each))));
    this.body.append(...rows);
    this.choice?.show();
  }
}

/** Finds the column of each cell: a cell that covers several rows pushes those below to the right. */
function placed(rows: Cell[][]): [Cell, number][][] {
  const covered: number[] = [];
  return rows.map((row) => {
    let column = 0;
    return row.map((cell): [Cell, number] => {
      for (; (covered[column] ?? 0) > 0; column += 1) covered[column] = (covered[column] ?? 0) - 1;
      covered[column] = (cell.covers ?? 1) - 1;
      column += 1;
      return [cell, column - 1];
    });
  });
}

function tableCell(cell: Cell, isHead: boolean, isNumeric: boolean, before: HTMLElement | null = null): HTMLElement {
  const text = cell.text ?? (cell.value == null ? "" : written(cell.value, cell.measure ?? "things"));
  const lines = text.split("\n").flatMap((line, at) => (at === 0 ? [line] : [h("br"), line]));
  const inner = cell.link ? [h("a", { href: cell.link }, ...lines)] : cell.code ? [h("code", {}, ...lines)] : lines;
  const attributes = {
    "data-numeric": isNumeric,
    "data-tone": cell.tone ?? null,
    title: cell.meaning ?? null,
    rowspan: cell.covers ?? null,
  };
  const small = cell.small ? h("small", {}, cell.small) : null;
  const more = (cell.links ?? []).flatMap(([text, href]) => [" ", h("a", { class: "further", href }, text)]);
  const children = [before, cell.bar ? bar(cell.bar) : null, ...inner, ...more, small];
  return isHead ? h("th", { scope: "row", ...attributes }, ...children) : h("td", attributes, ...children);
}

/** Draws shares of a whole side by side; the rest stays empty. */
function bar(parts: [string | number, number][]): HTMLElement {
  const whole = Math.max(parts.reduce((sum, [, share]) => sum + share, 0), 1);
  const pieces = parts.filter(([, share]) => share > 0).map(([hue, share]) => {
    const piece = h("i", { "data-hue": hue });
    piece.style.width = `${(100 * share) / whole}%`;
    return piece;
  });
  return h("div", { class: "bar", role: "img", "aria-label": parts.map(([, share]) => percent(share)).join(", ") }, ...pieces);
}
