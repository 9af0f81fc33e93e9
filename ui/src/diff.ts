// Two profiles against each other: how each was recorded, the graph of changes, the table of changes.

import { h } from "./dom.ts";
import { percent, signed, whole } from "./format.ts";
import { isAmong, KIND_NAMES } from "./flame/palette.ts";
import { Model } from "./flame/model.ts";
import { FlamePanel } from "./flame/panel.ts";
import { compile } from "./flame/search.ts";
import { captureFacts, qualityBar } from "./quality.ts";
import { kindSelect } from "./table.ts";
import type { DiffData, DiffSide, FrameKind } from "./wire.ts";

const FIRST_ROWS = 30;

export function diffPart(diff: DiffData): HTMLElement[] {
  const model = new Model({
    unit: diff.unit,
    total: diff.stacks.leaf.reduce((sum, leaf) => sum + leaf, 0),
    frames: diff.frames,
    stacks: diff.stacks,
    sides: {
      leaves: [diff["leaf-before"], diff["leaf-after"]],
      totals: [diff.before.total, diff.after.total],
    },
  });
  const title = `${diff.event === "cpu" ? "CPU" : diff.event}: what changed`;
  const panel = new FlamePanel(model, title, [sides(diff)]);
  const table = new ChangeTable(diff, model, (frame) => panel.searchFrame(frame));
  return [panel.element, table.element];
}

function sides(diff: DiffData): HTMLElement {
  const side = (label: string, it: DiffSide): HTMLElement => {
    const recording = { ...it, unit: diff.unit };
    return h("div", {}, h("h3", {}, `${label}: ${it.name}`), captureFacts(recording), qualityBar(recording));
  };
  return h("div", { class: "sides" }, side("Before", diff.before), side("After", diff.after));
}

type Measure = "own" | "total";

class ChangeTable {
  readonly element: HTMLElement;
  private measure: Measure = "own";
  private kind: FrameKind | "" = "";
  private text = "";
  private showsAll = false;
  private readonly body = h("tbody");
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private readonly diff: DiffData,
    private readonly model: Model,
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
        "Grey rows are within the noise of sampling (less than four standard errors of the difference of " +
          "two counted shares). The others are not; that two runs of the same thing differ as well, only " +
          "repeated runs can rule out.",
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
    const { changes } = this.diff;
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
    const { changes, before, after } = this.diff;
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
      share(changes[`${this.measure}-before`][row], before.total),
      share(changes[`${this.measure}-after`][row], after.total),
      h("td", { class: "number change", title: beyond ? null : "within the noise of sampling" }, change),
    );
  }
}

function share(weight: number, total: number): HTMLElement {
  const part = h("span", { class: "share" }, percent(total > 0 ? weight / total : 0));
  return h("td", { class: "number" }, part, h("span", { class: "count" }, whole(weight)));
}
