// Table of changes of a comparison: the shares of each function before and after, and a mark for a change within
// noise.

import { h } from "./dom.ts";
import { amount, whole } from "./format.ts";
import type { Measure } from "./flame/measure.ts";
import { noChange, withinNoise } from "./flame/noise.ts";
import { isAmong, KIND_NAMES } from "./flame/palette.ts";
import type { Model } from "./flame/model.ts";
import { compile } from "./flame/search.ts";
import { KindSelect } from "./table.ts";
import type { ChangeColumns, CostOfMessages } from "./wire.ts";

const FIRST_ROWS = 30;

/** Order of rows: the greatest mover first, as in the data, or by the change of own or total share. */
type Order = "moved" | "own" | "total";

const FIGURES = ["own", "total"] as const;

const TITLES = {
  own: "The function with the native, kernel and VM code that ran for it.",
  total: "The function with everything that it calls.",
};

export class ChangeTable {
  readonly element: HTMLElement;
  private order: Order = "moved";
  private readonly kinds: KindSelect;
  private text = "";
  private showsAll = false;
  private changes: ChangeColumns | null = null;
  private measure: Measure | null = null;
  private readonly titles = h("tr");
  private readonly body = h("tbody");
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private readonly model: Model,
    /** A sentence about differences that the noise leaves out, for example between two runs. */
    caution: string,
    private readonly pick: (frame: number) => void,
  ) {
    this.kinds = new KindSelect(model, "", () => this.draw());
    const { cost } = model;
    const rate = whole(Math.round(1 / model.noise.rate));
    const runs = model.noise.runs;
    const alike = runs ? `equal sets of ${whole(runs[0])} and ${whole(runs[1])} runs` : "equal recordings";
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "changes-title" },
      h("h2", { id: "changes-title" }, "Largest changes"),
      h(
        "p",
        { class: "tooltip-kind" },
        `Grey figures are ${withinNoise(model.noise)}. Of ${rate} pairs of ${alike}, 1 would have a row ` +
          `that is not grey. ${caution}`,
      ),
      cost && h("p", { class: "tooltip-kind" }, costSentence(cost)),
      this.filters(),
      h("div", { class: "wide" }, h("table", { class: "functions changes" }, this.heads(), this.body)),
      this.more,
    );
  }

  private heads(): HTMLElement {
    const column = (name: string): HTMLElement => h("th", { scope: "col", class: "number" }, name);
    const names = FIGURES.flatMap(() => ["Before", "After", "Change"].map(column));
    return h("thead", {}, this.titles, h("tr", {}, h("th", { scope: "col", class: "name" }, "Function"), ...names));
  }

  private showTitles(figure: string): void {
    const group = (name: string, title: string): HTMLElement =>
      h("th", { scope: "colgroup", class: "number group", colspan: 3, title }, `${name} ${figure}`);
    this.titles.replaceChildren(h("td"), group("Own", TITLES.own), group("Total", TITLES.total));
  }

  /** Shows changes between two sides. */
  show(changes: ChangeColumns, measure: Measure): void {
    [this.changes, this.measure] = [changes, measure];
    this.showTitles(measure.name);
    this.kinds.refresh();
    this.draw();
  }

  private filters(): HTMLElement {
    const field = h("input", {
      type: "search",
      class: "search",
      placeholder: "Filter by name",
      "aria-label": "Filter changes by name",
      spellcheck: "false",
      input: () => {
        this.text = field.value;
        this.draw();
      },
    });
    const select = h(
      "select",
      {
        "aria-label": "Order of changes",
        change: () => {
          this.order = select.value as Order;
          this.draw();
        },
      },
      h("option", { value: "moved" }, "Largest change first, its callers after it"),
      h("option", { value: "own" }, "By change of own share"),
      h("option", { value: "total" }, "By change of total share"),
    );
    return h("div", { class: "toolbar" }, h("div", { class: "search-box" }, field), this.kinds.element, select);
  }

  private showAll(): void {
    this.showsAll = true;
    this.draw();
  }

  private draw(): void {
    const rows = this.rows();
    // Without any change beyond noise, rows within noise appear only on request.
    const isShown = this.text !== "" || rows.some((row) => this.isBeyond(row));
    const first = isShown ? rows.slice(0, FIRST_ROWS) : [];
    const shown = this.showsAll ? rows : first;
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    if (shown.length === 0) {
      const words = rows.length === 0 ? "No function matches." : noChange(this.model.noise);
      this.body.append(h("tr", {}, h("td", { colspan: 7, class: "nothing" }, words)));
    }
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${whole(rows.length)}`;
  }

  private rows(): number[] {
    const { changes } = this;
    if (!changes) return [];
    const pattern = compile(this.text);
    const { order } = this;
    const size = (row: number): number => (order === "moved" ? 0 : Math.abs(changes[`${order}-change`][row]));
    return changes.frame
      .map((_, row) => row)
      .filter((row) => {
        const frame = changes.frame[row];
        const isKind = isAmong(this.model.kinds[frame], this.kinds.kind);
        return isKind && (typeof pattern === "string" || pattern.test(this.model.names[frame]));
      })
      .sort((left, right) => size(right) - size(left) || left - right);
  }

  private isBeyond(row: number): boolean {
    return FIGURES.some((key) => this.changes?.[`${key}-beyond-noise`][row]);
  }

  private row(row: number): HTMLElement {
    const changes = this.changes as ChangeColumns;
    const frame = changes.frame[row];
    const kind = this.model.kinds[frame];
    const isBeyond = this.isBeyond(row);
    const find = h(
      "button",
      { type: "button", class: "function-name", click: () => this.pick(frame) },
      h("bdi", {}, this.model.names[frame]),
    );
    const chip = h("span", {
      class: "chip",
      "data-kind": kind,
      title: KIND_NAMES[kind],
      role: "img",
      "aria-label": KIND_NAMES[kind],
    });
    return h(
      "tr",
      { class: isBeyond ? null : "within-noise" },
      h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, chip, find)),
      ...FIGURES.flatMap((key) => this.cells(changes, key, row)),
    );
  }

  private cells(changes: ChangeColumns, key: "own" | "total", row: number): HTMLElement[] {
    const { totals, write, change } = this.measure as Measure;
    const isBeyond = changes[`${key}-beyond-noise`][row];
    const quiet = isBeyond ? "" : " quiet";
    const cell = (weight: number, side: 0 | 1): HTMLElement => {
      const text = h("span", { class: "share" }, write(totals[side] > 0 ? weight / totals[side] : 0));
      return h("td", { class: `number${quiet}`, title: amount(weight, this.model.unit) }, text);
    };
    const changed = change(changes[`${key}-change`][row]).replace(" points", "");
    return [
      cell(changes[`${key}-before`][row], 0),
      cell(changes[`${key}-after`][row], 1),
      h("td", { class: `number change${quiet}`, title: isBeyond ? null : withinNoise(this.model.noise) }, changed),
    ];
  }
}

function costSentence(cost: CostOfMessages): string {
  const [before, after] = cost.rates.map(whole);
  return (
    `Costs are per message ${cost.what} (${before}/s before, ${after}/s after). If a share grows but its cost does not, ` +
    "other work became cheaper."
  );
}
