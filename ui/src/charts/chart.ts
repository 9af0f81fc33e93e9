// One chart over time as inline SVG: axes, lines, a shaded window, and a cursor whose values are in the
// legend.

import { h, onWidth, s } from "../dom.ts";
import type { Column } from "../wire.ts";
import { decadeMarks, linearMarks } from "./axis.ts";
import { drawSpans, type Span, spanAt } from "./spans.ts";

export interface Line {
  name: string;
  values: Column;
}

export interface ChartSpec {
  title: string;
  /** Seconds since the start of the load, one for each value of every line. */
  at: number[];
  /** Length of the load in seconds. */
  end: number;
  lines: Line[];
  /** Seconds of the profile. */
  window: [number, number] | null;
  /** Spans without service, with an alarm, or with a fault. */
  spans: Span[];
  log: boolean;
  /** Marks of the horizontal axis if it does not show seconds, and the name of a place on it. */
  marks?: [number, string][];
  where?: (index: number) => string;
  /** Writes a value as text; `axis` asks for a short form. */
  text: (value: number, axis: boolean) => string;
}

/** Number of lines that differ in colour. */
const COLOURS = 6;
const HEIGHT = 190;
const MARGIN = { top: 18, right: 18, bottom: 24, left: 50 };

export function chart(spec: ChartSpec): HTMLElement {
  return new Chart(spec).element;
}

class Chart {
  readonly element: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly values: HTMLElement[] = [];
  private readonly time = h("span", { class: "chart-time" });
  private readonly cursor = s("line", { class: "cursor", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
  private readonly marks: number[];
  private width = 0;
  private index = -1;

  constructor(private readonly spec: ChartSpec) {
    this.marks = this.valueMarks();
    this.plot = h("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `${spec.title}. Left and right arrow keys read values.`,
      mousemove: (event: MouseEvent) => this.read(this.nearest(event)),
      mouseleave: () => this.read(-1),
      blur: () => this.read(-1),
      keydown: (event: KeyboardEvent) => this.key(event),
    });
    this.element = h(
      "figure",
      { class: "chart" },
      h("figcaption", {}, h("span", { class: "chart-title" }, spec.title), this.time),
      this.plot,
      this.legend(),
    );
    onWidth(this.plot, (width) => {
      this.width = width;
      this.draw();
    });
  }

  private legend(): HTMLElement {
    const items = this.spec.lines.map((line, number) => {
      const value = h("span", { class: "legend-value" });
      this.values.push(value);
      const chip = h("span", { class: "line-chip", "data-line": String(number % COLOURS), "aria-hidden": "true" });
      return h("li", {}, chip, line.name, value);
    });
    return h("ul", { class: "legend", "aria-live": "polite" }, ...items);
  }

  private valueMarks(): number[] {
    const all = this.spec.lines.flatMap((line) => line.values).filter((value): value is number => value !== null);
    const most = all.reduce((largest, value) => Math.max(largest, value), 0);
    if (!this.spec.log) return linearMarks(most, 4);
    const positive = all.filter((value) => value > 0);
    return decadeMarks(positive.reduce((least, value) => Math.min(least, value), Infinity), most);
  }

  private x(seconds: number): number {
    const room = this.width - MARGIN.left - MARGIN.right;
    return MARGIN.left + (seconds / Math.max(this.spec.end, 1e-9)) * room;
  }

  private y(value: number): number {
    const scale = this.spec.log ? (value: number) => Math.log10(Math.max(value, this.marks[0])) : (value: number) => value;
    const low = scale(this.marks[0]);
    const high = scale(this.marks[this.marks.length - 1]);
    const room = HEIGHT - MARGIN.top - MARGIN.bottom;
    return HEIGHT - MARGIN.bottom - ((scale(value) - low) / (high - low)) * room;
  }

  private draw(): void {
    const picture = s("svg", { width: this.width, height: HEIGHT, "aria-hidden": "true" });
    picture.append(...this.spans(), ...this.window(), ...this.grid(), ...this.lines(), this.cursor);
    this.plot.replaceChildren(picture);
    this.read(this.index);
  }

  private spans(): SVGElement[] {
    const within = (at: number) => this.x(Math.min(at, this.spec.end));
    return drawSpans(this.spec.spans, within, MARGIN.top, HEIGHT - MARGIN.bottom);
  }

  private window(): SVGElement[] {
    if (!this.spec.window) return [];
    const [from, to] = this.spec.window.map((at) => this.x(Math.min(at, this.spec.end))) as [number, number];
    const height = HEIGHT - MARGIN.top - MARGIN.bottom;
    return [
      s("rect", { class: "window", x: from, y: MARGIN.top, width: Math.max(to - from, 1), height }),
      s("text", { class: "window-name", x: from + 1, y: MARGIN.top - 5 }, "profile"),
    ];
  }

  private grid(): SVGElement[] {
    const bottom = HEIGHT - MARGIN.bottom;
    const right = this.width - MARGIN.right;
    const values = this.marks.flatMap((mark) => [
      s("line", { class: "grid", x1: MARGIN.left, x2: right, y1: this.y(mark), y2: this.y(mark) }),
      s("text", { class: "mark value", x: MARGIN.left - 7, y: this.y(mark) + 4 }, this.spec.text(mark, true)),
    ]);
    const seconds = linearMarks(this.spec.end, this.width / 80)
      .filter((mark) => mark <= this.spec.end * 1.001)
      .map((mark): [number, string] => [mark, `${mark} s`]);
    const times = (this.spec.marks ?? seconds).map(([mark, name]) =>
      s("text", { class: "mark time", x: this.x(mark), y: bottom + 16 }, name),
    );
    return [...values, ...times];
  }

  private lines(): SVGElement[] {
    return this.spec.lines.map((line, number) => {
      let path = "";
      let pen = "M";
      line.values.forEach((value, at) => {
        if (value === null) {
          pen = "M";
          return;
        }
        path += `${pen}${this.x(this.spec.at[at]).toFixed(1)},${this.y(value).toFixed(1)}`;
        // A value without neighbours is a dot.
        if (pen === "M" && (line.values[at + 1] ?? null) === null) path += "h0.01";
        pen = "L";
      });
      return s("path", { class: "line", "data-line": number % COLOURS, d: path });
    });
  }

  private nearest(event: MouseEvent): number {
    const x = event.clientX - this.plot.getBoundingClientRect().left;
    let best = -1;
    this.spec.at.forEach((at, index) => {
      const distance = Math.abs(this.x(at) - x);
      if (best < 0 || distance < Math.abs(this.x(this.spec.at[best]) - x)) best = index;
    });
    return best;
  }

  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    this.read(Math.min(Math.max(this.index + step, 0), this.spec.at.length - 1));
  }

  /** Shows the values at one point; -1 for none. */
  private read(index: number): void {
    this.index = index;
    this.cursor.style.display = index < 0 ? "none" : "";
    const at = this.spec.at[index];
    const where = this.spec.where ?? (() => `at ${Number((at ?? 0).toFixed(1))} s${spanAt(this.spec.spans, at ?? 0)}`);
    this.time.textContent = at === undefined ? "" : where(index);
    if (at !== undefined) {
      this.cursor.setAttribute("x1", String(this.x(at)));
      this.cursor.setAttribute("x2", String(this.x(at)));
    }
    this.spec.lines.forEach((line, number) => {
      const value = line.values[index];
      const text = value === undefined ? "" : value === null ? "–" : this.spec.text(value, false);
      (this.values[number] as HTMLElement).textContent = text;
    });
  }
}
