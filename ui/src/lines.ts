// Source lines of the selected function.

import { h } from "./dom.ts";
import { heaviest, type LineRow, linesOf } from "./flame/lines.ts";
import { percent, whole } from "./format.ts";
import { numberCell } from "./table.ts";
import type { LineColumns } from "./wire.ts";

const FIRST_ROWS = 12;

const OWN = "The line itself, with the native and VM code that ran for it.";
const TOTAL = "The line with the functions that it calls. A function that calls itself counts once, at its innermost call.";

export class LinesPanel {
  readonly element: HTMLElement;
  /** The function; empty for none. */
  private name = "";
  private isWhole = true;
  private showsAll = false;
  private readonly title = h("h2", { id: "lines-title" });
  private readonly note = h("p", { class: "tooltip-kind" });
  private readonly body = h("tbody");
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  /** Creates the panel. Shares are parts of the weight `total`, whose name is `whole`. */
  constructor(
    private lines: LineColumns,
    private names: string[],
    private total: number,
    private readonly whole: string,
    private readonly unit: string,
  ) {
    const head = (name: string, meaning: string | null): HTMLElement =>
      h("th", { scope: "col", class: meaning ? "number" : "name", title: meaning }, name);
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "lines-title", hidden: true },
      this.title,
      this.note,
      h(
        "table",
        { class: "functions lines" },
        h("thead", {}, h("tr", {}, head("Line", null), head("Own", OWN), head("Total", TOTAL))),
        this.body,
      ),
      this.more,
    );
  }

  /** Takes the lines of another profile. */
  load(lines: LineColumns, names: string[], total: number): void {
    Object.assign(this, { lines, names, total });
    this.draw();
  }

  /** Shows a function; -1 for none. */
  show(frame: number): void {
    const name = this.names[frame] ?? "";
    if (name === this.name) return;
    this.name = name;
    this.showsAll = false;
    this.draw();
  }

  /** Sets whether the rest of the page shows the whole recording. */
  showSelection(isWhole: boolean): void {
    this.isWhole = isWhole;
    this.draw();
  }

  private showAll(): void {
    this.showsAll = true;
    this.draw();
  }

  private draw(): void {
    const rows = this.name === "" ? [] : linesOf(this.lines, this.names.indexOf(this.name));
    this.element.hidden = rows.length === 0;
    if (rows.length === 0) return;
    const all = rows.reduce((sum, row) => sum + row.total, 0);
    const shown = this.showsAll ? rows : heaviest(rows, FIRST_ROWS);
    this.title.textContent = `Lines of ${this.name}`;
    const scope = this.isWhole ? "" : " They cover the whole recording, not the selection.";
    this.note.textContent =
      `Shares of ${this.whole}; a full bar is the whole function, ${percent(this.share(all))}.` +
      ` Code counts for the line of the latest call, or operation that can fail, before it.${scope}`;
    this.body.replaceChildren(...shown.map((row) => this.row(row, all)));
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${whole(rows.length)}`;
  }

  private row(row: LineRow, all: number): HTMLElement {
    const number = (weight: number): HTMLElement => numberCell(weight, this.total, this.unit, all);
    const file = row.file.slice(row.file.lastIndexOf("/") + 1);
    const place = row.line > 0 ? `${file}:${row.line}` : "without a line";
    const title = row.line > 0 ? `${row.file}:${row.line}` : "The VM records no line for this code.";
    const name = h("span", { class: row.line > 0 ? "line-place" : "nothing", title }, place);
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, name)),
      number(row.own),
      number(row.total),
    );
  }

  private share(weight: number): number {
    return this.total > 0 ? weight / this.total : 0;
  }
}
