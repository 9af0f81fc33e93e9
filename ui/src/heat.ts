// The picture of the timeline: a column for each second, a row for each part of a second, both with an axis, and the
// scale of colours.

import { h, onWidth } from "./dom.ts";
import type { Range } from "./flame/records.ts";
import { amount, seconds } from "./format.ts";
import { secondMarks, strongest } from "./scale.ts";
import { onTheme } from "./theme.ts";

const ROW_HEIGHT = 7;
const NARROWEST_MARK = 64;

/** Spans of steps with the property of the style sheet that has their colour. */
export type Marked = [Range | null, string][];

export class HeatPicture {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", {
    class: "heat",
    tabindex: "0",
    role: "application",
    "aria-label":
      "Timeline. Arrow keys move by a part of a second and by a second, with Shift they select a span, Escape shows the whole recording.",
  });
  private readonly below = h("div", { class: "heat-below", "aria-hidden": "true" });
  private readonly scale = h("p", { class: "heat-scale" });
  private readonly left = h("div", { class: "heat-left", "aria-hidden": "true" });
  private stepSeconds = 1;
  private length = 0;
  private rows = 1;
  private columns = 1;
  private width = 0;
  private steps: number[] = [];
  private marked: Marked = [];
  private cursor = -1;

  constructor(private readonly unit: string) {
    const box = h("div", { class: "heat-box" });
    box.append(this.canvas);
    this.element = h("div", { class: "heat-frame" }, this.left, box, this.below, this.scale);
    onWidth(box, (width) => {
      this.width = width;
      this.axis();
      this.draw();
    });
    onTheme(() => this.draw());
  }

  /** Makes room for this many steps. */
  load(stepSeconds: number, length: number): void {
    const rows = Math.max(1, Math.round(1 / stepSeconds));
    Object.assign(this, { stepSeconds, length, rows, columns: Math.ceil(length / rows) });
    const marks = [0, 0.25, 0.5, 0.75].filter(() => rows >= 8).map((part) => {
      const mark = h("span", {}, `${part} s`);
      mark.style.top = `${part * 100}%`;
      return mark;
    });
    this.left.replaceChildren(...marks);
    this.axis();
  }

  /** Shows weights by step, marked spans, and the step of the keyboard; -1 for none. */
  show(steps: number[], marked: Marked, cursor: number): void {
    Object.assign(this, { steps, marked, cursor });
    this.draw();
  }

  stepAt(event: PointerEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * this.columns);
    const row = Math.floor(((event.clientY - box.top) / box.height) * this.rows);
    const within = (value: number, most: number): number => Math.max(0, Math.min(value, most - 1));
    return within(within(column, this.columns) * this.rows + within(row, this.rows), this.length);
  }

  /** Steps of a second. */
  get stepsOfSecond(): number {
    return this.rows;
  }

  private axis(): void {
    const second = this.rows * this.stepSeconds;
    const marks = secondMarks(this.columns * second, Math.max(1, this.width / NARROWEST_MARK));
    this.below.replaceChildren(
      ...marks.map((mark) => {
        const text = h("span", {}, `${seconds(mark)} s`);
        text.style.left = `${((100 * mark) / (this.columns * second)).toFixed(3)}%`;
        return text;
      }),
    );
  }

  private draw(): void {
    if (this.width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const height = Math.max(this.rows * ROW_HEIGHT, 24);
    const { canvas } = this;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(context, this.width / this.columns, height / this.rows);
  }

  private paint(context: CanvasRenderingContext2D, across: number, down: number): void {
    const style = getComputedStyle(this.canvas);
    const { steps, rows } = this;
    const most = strongest(steps);
    const gap = (size: number): number => (size > 4 ? size - 1 : size);
    const fill = (step: number, alpha: number): void => {
      context.globalAlpha = alpha;
      context.fillRect(Math.floor(step / rows) * across, (step % rows) * down, gap(across), gap(down));
    };
    const colour = (name: string): void => {
      context.fillStyle = style.getPropertyValue(name).trim();
    };
    colour("--heat-none");
    steps.forEach((_, step) => fill(step, 1));
    colour("--heat-most");
    steps.forEach((weight, step) => weight > 0 && fill(step, Math.sqrt(Math.min(1, weight / most))));
    for (const [span, name] of this.marked) {
      colour(name);
      for (let step = span?.from ?? 0; step < Math.min(span?.to ?? 0, steps.length); step++) fill(step, 0.45);
    }
    colour("--ink");
    if (this.cursor >= 0) fill(this.cursor, 1);
    context.globalAlpha = 1;
    this.describe(most);
  }

  private describe(most: number): void {
    const over = this.steps.some((weight) => weight > most) ? " and more" : "";
    const per = ` in ${seconds(this.stepSeconds * 1000)} ms`;
    const bar = h("span", { class: "heat-bar", "aria-hidden": "true" });
    this.scale.replaceChildren("0", bar, `${amount(most, this.unit)}${over}${per}`);
  }
}
