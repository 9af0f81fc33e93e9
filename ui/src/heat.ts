// The picture of the timeline: a column for each second, a row for each part of a second, both with an axis, and the
// scale of colours. Steps of a second or more are bars, with times of the day below them.

import { h, onWidth } from "./dom.ts";
import type { Range } from "./flame/records.ts";
import { amount, duration, seconds } from "./format.ts";
import { clockMarks, secondMarks, strongest } from "./scale.ts";
import { onTheme } from "./theme.ts";

const ROW_HEIGHT = 7;
const NARROWEST_MARK = 64;
const BAR_HEIGHT = 90;
const KEYS = "they select a span, Escape shows the whole recording.";

/** Spans of steps with the property of the style sheet that has their colour. */
export type Marked = [Range | null, string][];

export class HeatPicture {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", {
    class: "heat",
    tabindex: "0",
    role: "application",
  });
  private readonly below = h("div", { class: "heat-below", "aria-hidden": "true" });
  private readonly scale = h("p", { class: "heat-scale" });
  private readonly left = h("div", { class: "heat-left", "aria-hidden": "true" });
  private stepSeconds = 1;
  private started = 0;
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

  /** Makes room for this many steps. `started` is the first one's start in seconds since 1970, or 0. */
  load(stepSeconds: number, length: number, started: number): void {
    const rows = Math.max(1, Math.round(1 / stepSeconds));
    Object.assign(this, { stepSeconds, started, length, rows, columns: Math.ceil(length / rows) });
    const moves = this.isBars ? "by a bar" : "by a part of a second and by a second";
    this.canvas.setAttribute("aria-label", `Timeline. Arrow keys move ${moves}, with Shift ${KEYS}`);
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

  /** Returns whether each step is a bar: it is about a second or longer. */
  get isBars(): boolean {
    return this.rows === 1;
  }

  private axis(): void {
    const length = this.columns * this.rows * this.stepSeconds;
    const wanted = Math.max(1, this.width / NARROWEST_MARK);
    const all =
      this.isBars && this.started > 0
        ? clockMarks(this.started, length, wanted)
        : secondMarks(length, wanted).map((mark): [number, string] => [mark, `${seconds(mark)} s`]);
    // A name begins at its mark, and the last one needs room too.
    const marks = all.filter(([mark]) => mark === 0 || mark / length < 1 - (NARROWEST_MARK - 8) / this.width);
    this.below.replaceChildren(
      ...marks.map(([mark, name]) => {
        const text = h("span", {}, name);
        text.style.left = `${((100 * mark) / length).toFixed(3)}%`;
        return text;
      }),
    );
  }

  private draw(): void {
    if (this.width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const height = this.isBars ? BAR_HEIGHT : Math.max(this.rows * ROW_HEIGHT, 24);
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
    const { steps, rows, isBars } = this;
    const most = isBars ? steps.reduce((one, other) => Math.max(one, other), 1) : strongest(steps);
    const gap = (size: number): number => (size > 4 ? size - 1 : size);
    const fill = (step: number, alpha: number, part = 1): void => {
      context.globalAlpha = alpha;
      const tall = gap(down);
      context.fillRect(Math.floor(step / rows) * across, (step % rows) * down + tall * (1 - part), gap(across), tall * part);
    };
    const colour = (name: string): void => {
      context.fillStyle = style.getPropertyValue(name).trim();
    };
    colour("--heat-none");
    steps.forEach((_, step) => fill(step, 1));
    colour("--heat-most");
    steps.forEach((weight, step) => {
      if (weight === 0) return;
      if (isBars) fill(step, 1, weight / most);
      else fill(step, Math.sqrt(Math.min(1, weight / most)));
    });
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
    if (this.isBars) {
      this.scale.textContent = `The tallest bar: ${amount(most, this.unit)} in ${duration(this.stepSeconds)}`;
      return;
    }
    const over = this.steps.some((weight) => weight > most) ? " and more" : "";
    const per = ` in ${seconds(this.stepSeconds * 1000)} ms`;
    const bar = h("span", { class: "heat-bar", "aria-hidden": "true" });
    this.scale.replaceChildren("0", bar, `${amount(most, this.unit)}${over}${per}`);
  }
}
