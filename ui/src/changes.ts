// The table of changes of a comparison: shares of each function before and after, and whether they differ
// by more than the noise of sampling.

import { h } from "./dom.ts";
import { percent, signed, whole } from "./format.ts";
import { type Pair, WITHIN_NOISE } from "./flame/noise.ts";
import { isAmong, KIND_NAMES } from "./flame/palette.ts";
import type { Model } from "./flame/model.ts";
import { compile } from "./flame/search.ts";
import { kindSelect } from "./table.ts";
import type { ChangeColumns, FrameKind } from "./wire.ts";

const FIRST_ROWS = 30;

type Measure = "own" | "total";

export class ChangeTable {
  readonly element: HTMLElement;
  private measure: Measure = "own";
  private kind: FrameKind | "" = "";
  private text = "";
  private showsAll = false;
  private changes: ChangeColumns | null = null;
  private totals: Pair = [0, 0];
  private readonly body = h("tbody");
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private readonly model: Model,
    /** Such as that of two runs: what else differs. */
    caution: string,
    private readonly pick: (frame: number) => void,
  ) {
    if (model.kinds.some((kind) => isAmong(kind, "erlang"))) this.kind = "erlang";
    const heads = ["Before", "After", "Points"].map((name) => h("th", { scope: "col", class: "number" }, name));
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "changes-title" },
      h("h2", { id: "changes-title" }, "Largest changes"),
      h(
        "p",
        { class: "tooltip-kind" },
        `Grey rows are within the noise of sampling (less than ${errorsText(model.noise.errors)} standard errors of the ` +
          `difference of two counted shares). The others are not; ${caution}`,
      ),
      this.filters(),
      h(
        "table",
        { class: "functions changes" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "name" }, "Function"), ...heads)),
        this.body,
      ),
      this.more,
    );
  }

  /** Shows changes between two sides of so much weight. */
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
        "aria-label": "Share that is compared",
        change: () => {
          this.measure = select.value as Measure;
          this.draw();
        },
      },
      h("option", { value: "own" }, "Own share, with native code run for it"),
      h("option", { value: "total" }, "Total share, with all below"),
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
    const shown = this.showsAll ? rows : rows.slice(0, FIRST_ROWS);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    if (rows.length === 0) {
      this.body.append(h("tr", {}, h("td", { colspan: 4, class: "nothing" }, "No function matches.")));
    }
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${whole(rows.length)}`;
  }

  private rows(): number[] {
    const { changes } = this;
    if (!changes) return [];
    const pattern = compile(this.text);
    const change = changes[`${this.measure}-change`];
    return changes.frame
      .map((_, row) => row)
      .filter((row) => {
        const frame = changes.frame[row];
        const isKind = isAmong(this.model.kinds[frame], this.kind);
        return isKind && (typeof pattern === "string" || pattern.test(this.model.names[frame]));
      })
      .sort((left, right) => Math.abs(change[right]) - Math.abs(change[left]) || left - right);
  }

  private row(row: number): HTMLElement {
    const changes = this.changes as ChangeColumns;
    const frame = changes.frame[row];
    const kind = this.model.kinds[frame];
    const beyond = changes[`${this.measure}-beyond-noise`][row];
    const find = h(
      "button",
      { type: "button", class: "function-name", click: () => this.pick(frame) },
      this.model.names[frame],
    );
    const chip = h("span", {
      class: "chip",
      "data-kind": kind,
      title: KIND_NAMES[kind],
      role: "img",
      "aria-label": KIND_NAMES[kind],
    });
    const change = signed(changes[`${this.measure}-change`][row]);
    return h(
      "tr",
      { class: beyond ? null : "within-noise" },
      h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, chip, find)),
      share(changes[`${this.measure}-before`][row], this.totals[0]),
      share(changes[`${this.measure}-after`][row], this.totals[1]),
      h("td", { class: "number change", title: beyond ? null : WITHIN_NOISE }, change),
    );
  }
}

function errorsText(errors: number): string {
  return errors === 4 ? "four" : String(errors);
}

function share(weight: number, total: number): HTMLElement {
  const part = h("span", { class: "share" }, percent(total > 0 ? weight / total : 0));
  return h("td", { class: "number" }, part, h("span", { class: "count" }, whole(weight)));
}
