// Table of changes of a comparison: the shares of each function before and after, and a mark for a change within
// noise.

import { h } from "./dom.ts";
import { amount, digits, percent, signed, whole } from "./format.ts";
import { noChange, type Pair, withinNoise } from "./flame/noise.ts";
import { isAmong, KIND_NAMES } from "./flame/palette.ts";
import type { Model } from "./flame/model.ts";
import { compile } from "./flame/search.ts";
import { kindSelect } from "./table.ts";
import type { ChangeColumns, CostOfMessages, FrameKind } from "./wire.ts";

const FIRST_ROWS = 30;

/** Order of rows: the greatest mover first, as in the data, or by the change of own or total share. */
type Order = "moved" | "own" | "total";

const SHARES = ["own", "total"] as const;

const TITLES = {
  own: "Own share: the function with the native, kernel and VM code that ran for it.",
  total: "Total share: the function with everything that it calls.",
};

export class ChangeTable {
  readonly element: HTMLElement;
  private order: Order = "moved";
  private kind: FrameKind | "" = "";
  private text = "";
  private showsAll = false;
  private changes: ChangeColumns | null = null;
  private totals: Pair = [0, 0];
  private readonly body = h("tbody");
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private readonly model: Model,
    /** A sentence about differences that the noise leaves out, for example between two runs. */
    caution: string,
    private readonly pick: (frame: number) => void,
    private readonly cost: CostOfMessages | null = null,
  ) {
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
        `Grey shares are ${withinNoise(model.noise)}. Of ${rate} pairs of ${alike}, 1 would have a row ` +
          `that is not grey. ${caution}`,
      ),
      cost && h("p", { class: "tooltip-kind" }, costSentence(cost)),
      this.filters(),
      h("div", { class: "wide" }, h("table", { class: "functions changes" }, this.heads(), this.body)),
      this.more,
    );
  }

  private heads(): HTMLElement {
    const group = (name: string, title: string, columns: number): HTMLElement =>
      h("th", { scope: "colgroup", class: "number group", colspan: columns, title }, name);
    const column = (name: string): HTMLElement => h("th", { scope: "col", class: "number" }, name);
    const costs = this.cost ? [group(`${costUnit(this.cost)} per message`, costSentence(this.cost), 2)] : [];
    const sides = [column("Before"), column("After")];
    return h(
      "thead",
      {},
      h("tr", {}, h("td"), group("Own", TITLES.own, 3), group("Total", TITLES.total, 3), ...costs),
      h(
        "tr",
        {},
        h("th", { scope: "col", class: "name" }, "Function"),
        ...SHARES.flatMap(() => [column("Before"), column("After"), column("Points")]),
        ...(this.cost ? sides : []),
      ),
    );
  }

  /** Shows changes between two sides with these total weights. */
  show(changes: ChangeColumns, totals: Pair): void {
    [this.changes, this.totals] = [changes, totals];
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
    const kinds = kindSelect(this.model, this.kind, (kind) => {
      this.kind = kind;
      this.draw();
    });
    return h("div", { class: "toolbar" }, h("div", { class: "search-box" }, field), kinds, select);
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
      this.body.append(h("tr", {}, h("td", { colspan: this.cost ? 9 : 7, class: "nothing" }, words)));
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
        const isKind = isAmong(this.model.kinds[frame], this.kind);
        return isKind && (typeof pattern === "string" || pattern.test(this.model.names[frame]));
      })
      .sort((left, right) => size(right) - size(left) || left - right);
  }

  private isBeyond(row: number): boolean {
    return SHARES.some((key) => this.changes?.[`${key}-beyond-noise`][row]);
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
      ...SHARES.flatMap((key) => this.shareCells(changes, key, row)),
      ...this.costCells(changes, row),
    );
  }

  private shareCells(changes: ChangeColumns, key: "own" | "total", row: number): HTMLElement[] {
    const isBeyond = changes[`${key}-beyond-noise`][row];
    const change = signed(changes[`${key}-change`][row]);
    const quiet = isBeyond ? "" : " quiet";
    return [
      share(changes[`${key}-before`][row], this.totals[0], this.model.unit, quiet),
      share(changes[`${key}-after`][row], this.totals[1], this.model.unit, quiet),
      h("td", { class: `number change${quiet}`, title: isBeyond ? null : withinNoise(this.model.noise) }, change),
    ];
  }

  /** Returns the costs of the share that changed; of the own share if both did. */
  private costCells(changes: ChangeColumns, row: number): HTMLElement[] {
    const { cost } = this;
    if (!cost) return [];
    const key = changes["total-beyond-noise"][row] && !changes["own-beyond-noise"][row] ? "total" : "own";
    const sides = [changes[`${key}-before`][row], changes[`${key}-after`][row]] as Pair;
    const size = cost.unit === "nanoseconds" ? 1000 : 1;
    return sides.map((weight, side) =>
      h("td", { class: "number" }, digits((weight * (cost["per-weight"][side] as number)) / size)),
    );
  }
}

function costUnit({ unit }: CostOfMessages): string {
  return unit === "nanoseconds" ? "µs" : unit;
}

function costSentence(cost: CostOfMessages): string {
  const [before, after] = cost.rates.map(whole);
  return (
    `Costs are per message ${cost.what} (${before}/s before, ${after}/s after). They use the share that moved (own, ` +
    "if both did). If a share grows but its cost does not, other work became cheaper."
  );
}

function share(weight: number, total: number, unit: string, quiet: string): HTMLElement {
  const part = h("span", { class: "share" }, percent(total > 0 ? weight / total : 0));
  return h("td", { class: `number${quiet}`, title: amount(weight, unit) }, part);
}
