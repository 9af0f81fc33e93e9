// Times of the samples: a column for each second, a row for each part of a second. The graph shows the range that
// the reader draws or types, and compares it with a second one.

import { h, onWidth } from "./dom.ts";
import { EVERYTHING, type Owners, type Selection } from "./flame/owners.ts";
import type { Range } from "./flame/records.ts";
import { onTheme } from "./theme.ts";
import { whole } from "./format.ts";

const ROW_HEIGHT = 7;
const WIDEST_COLUMN = 28;

export class TimelinePanel {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "heat", role: "img", "aria-label": "Samples by second and part of a second" });
  private readonly result = h("output", { class: "search-result" });
  private readonly fields: HTMLInputElement[];
  private readonly compare: HTMLButtonElement;
  private readonly clear: HTMLButtonElement;
  private selection: Selection = EVERYTHING;
  /** Weight of the selection by step. */
  private steps: number[] = [];
  private comparing = false;
  private drag: Range | null = null;
  private width = 0;
  private readonly stepSeconds: number;
  private readonly rows: number;
  private readonly columns: number;

  constructor(
    private readonly owners: Owners,
    private readonly unit: string,
    private readonly choose: (change: Partial<Selection>) => void,
  ) {
    this.stepSeconds = owners.data["step-nanos"] / 1e9;
    this.rows = Math.max(1, Math.round(1 / this.stepSeconds));
    this.columns = Math.ceil(owners.data.steps.length / this.rows);
    this.fields = ["from", "to", "compared from", "compared to"].map((name) => this.field(name));
    this.compare = h("button", { type: "button", "aria-pressed": "false", click: () => this.toggleCompare() }, "Compare with …");
    this.clear = h("button", { type: "button", click: () => this.choose({ range: null, against: null }) }, "Whole recording");
    this.element = this.build();
    this.listen();
    onWidth(this.element, (width) => {
      this.width = width;
      this.draw();
    });
    onTheme(() => this.draw());
  }

  private build(): HTMLElement {
    const [from, to, otherFrom, otherTo] = this.fields as [HTMLInputElement, HTMLInputElement, HTMLInputElement, HTMLInputElement];
    return h(
      "section",
      { class: "panel", "aria-labelledby": "timeline-title" },
      h("h2", { id: "timeline-title" }, "Timeline"),
      h(
        "p",
        { class: "tooltip-kind" },
        `Each column is a second, from top to bottom. A stronger colour means more ${this.unit}. Drag over a span to ` +
          "select it. To select a second span, use Compare or hold the Shift key.",
      ),
      h(
        "div",
        { class: "toolbar heat-tools" },
        h("span", {}, "Seconds ", from, " to ", to),
        h("span", { class: "heat-other" }, "against ", otherFrom, " to ", otherTo),
        h("div", { class: "buttons" }, this.compare, this.clear),
        this.result,
      ),
      this.canvas,
    );
  }

  private field(name: string): HTMLInputElement {
    return h("input", {
      type: "number",
      class: "seconds",
      min: "0",
      step: "any",
      "aria-label": `Second ${name}`,
      change: () => this.typed(),
    });
  }

  private typed(): void {
    const steps = this.fields.map((field) => (field.value === "" ? null : Math.round(Number(field.value) / this.stepSeconds)));
    // A span with one bound begins with the recording, or ends with it.
    const range = (first: number | null | undefined, last: number | null | undefined): Range | null => {
      const [from, to] = [first ?? 0, last ?? this.owners.data.steps.length];
      return (first != null || last != null) && to > from ? { from, to } : null;
    };
    const picked = range(steps[0], steps[1]);
    this.choose({ range: picked, against: picked && range(steps[2], steps[3]) });
  }

  private toggleCompare(): void {
    this.comparing = !this.comparing;
    if (!this.comparing && this.selection.against) this.choose({ against: null });
    else this.show(this.selection);
  }

  show(selection: Selection): void {
    this.selection = selection;
    this.steps = this.owners.steps(selection);
    const { range, against } = selection;
    this.compare.disabled = !range;
    if (!range) this.comparing = false;
    this.compare.setAttribute("aria-pressed", String(this.comparing || against !== null));
    this.clear.disabled = !range;
    const values = [range?.from, range?.to, against?.from, against?.to];
    this.fields.forEach((field, index) => {
      const step = values[index];
      field.value = step === undefined ? "" : String(Number((step * this.stepSeconds).toFixed(3)));
    });
    const weight = (span: Range): string => `${whole(this.weightOf(span))} ${this.unit}`;
    this.result.textContent = range ? weight(range) + (against ? ` against ${weight(against)}` : "") : "";
    this.draw();
  }

  private weightOf(range: Range): number {
    return this.steps.slice(range.from, range.to).reduce((sum, weight) => sum + weight, 0);
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      const step = this.stepAt(event);
      this.drag = { from: step, to: step };
      canvas.setPointerCapture(event.pointerId);
      this.draw();
    });
    canvas.addEventListener("pointermove", (event) => {
      const step = this.stepAt(event);
      canvas.title = `${(step * this.stepSeconds).toFixed(2)} s: ${whole(this.steps[step] ?? 0)} ${this.unit}`;
      if (!this.drag) return;
      this.drag.to = step;
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => this.dropped(event.shiftKey));
    canvas.addEventListener("pointercancel", () => {
      this.drag = null;
      this.draw();
    });
  }

  private dropped(shift: boolean): void {
    if (!this.drag) return;
    const { from, to } = this.drag;
    const range = { from: Math.min(from, to), to: Math.max(from, to) + 1 };
    this.drag = null;
    const isSecond = this.selection.range !== null && (this.comparing || shift);
    this.choose(isSecond ? { against: range } : { range, against: null });
  }

  private columnWidth(): number {
    return Math.min(WIDEST_COLUMN, this.width / this.columns);
  }

  private stepAt(event: PointerEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.columnWidth());
    const row = Math.floor(((event.clientY - box.top) / box.height) * this.rows);
    const within = (value: number, most: number): number => Math.max(0, Math.min(value, most - 1));
    return within(within(column, this.columns) * this.rows + within(row, this.rows), this.owners.data.steps.length);
  }

  private draw(): void {
    if (this.width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const across = this.columnWidth();
    const [width, height] = [across * this.columns, Math.max(this.rows * ROW_HEIGHT, 24)];
    const { canvas } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(context, across, height / this.rows);
  }

  private paint(context: CanvasRenderingContext2D, across: number, down: number): void {
    const style = getComputedStyle(this.canvas);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const { steps } = this;
    const most = steps.reduce((left, right) => Math.max(left, right), 1);
    const cell = (step: number): void =>
      context.fillRect(
        Math.floor(step / this.rows) * across,
        (step % this.rows) * down,
        across > 4 ? across - 1 : across,
        down > 4 ? down - 1 : down,
      );
    steps.forEach((weight, step) => {
      context.globalAlpha = 1;
      context.fillStyle = colour("--heat-none");
      cell(step);
      context.globalAlpha = Math.sqrt(weight / most);
      context.fillStyle = colour("--heat-most");
      if (weight > 0) cell(step);
    });
    const drawn = this.drag && { from: Math.min(this.drag.from, this.drag.to), to: Math.max(this.drag.from, this.drag.to) + 1 };
    const spans: [Range | null, string][] = [
      [this.selection.range, "--heat-picked"],
      [this.selection.against, "--heat-other"],
      [drawn, "--ink"],
    ];
    for (const [span, name] of spans) {
      if (!span) continue;
      context.globalAlpha = 0.45;
      context.fillStyle = colour(name);
      for (let step = span.from; step < Math.min(span.to, steps.length); step++) cell(step);
    }
    context.globalAlpha = 1;
  }
}
