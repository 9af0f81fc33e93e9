// Times of the samples. The graph shows the span that the reader draws, types or selects by keys, and compares it with
// a second one.

import { h } from "./dom.ts";
import { EVERYTHING, type Owners, type Selection } from "./flame/owners.ts";
import type { Range } from "./flame/records.ts";
import { amount, duration, moment, nounOf, seconds } from "./format.ts";
import { HeatPicture } from "./heat.ts";

export class TimelinePanel {
  readonly element: HTMLElement;
  private readonly picture: HeatPicture;
  private readonly intro = h("p", { class: "tooltip-kind" });
  private readonly result = h("output", { class: "search-result" });
  private readonly pointed = h("p", { class: "heat-tip", role: "tooltip", hidden: true });
  private readonly fields: HTMLInputElement[];
  private readonly compare: HTMLButtonElement;
  private readonly clear: HTMLButtonElement;
  private selection: Selection = EVERYTHING;
  /** Weight of the selection by step. */
  private steps: number[] = [];
  private comparing = false;
  /** Start of the recording in nanoseconds since 1970; 0 if unknown. */
  private started = 0;
  private drag: Range | null = null;
  /** The step of the keyboard, and the one where its span began. */
  private cursor = -1;
  private anchor = 0;

  constructor(
    private readonly owners: Owners,
    private readonly unit: string,
    private readonly choose: (change: Partial<Selection>) => void,
  ) {
    this.picture = new HeatPicture(unit);
    this.fields = ["from", "to", "compared from", "compared to"].map((name) => this.field(name));
    this.compare = h("button", { type: "button", "aria-pressed": "false", click: () => this.toggleCompare() }, "Compare with …");
    this.clear = h("button", { type: "button", click: () => this.choose({ range: null, against: null }) }, "Whole recording");
    this.element = this.build();
    this.listen();
  }

  /** Makes room for the times of another profile. While it rolls on, its spans would not stay what they are. */
  load(started: number, isRolling: boolean): void {
    this.element.hidden = isRolling || !this.owners.hasTimes();
    this.cursor = -1;
    this.started = started;
    if (this.element.hidden) return;
    this.picture.load(this.stepSeconds, this.owners.data.steps.length, started / 1e9);
    const noun = nounOf(this.unit);
    const shown = this.picture.isBars
      ? `Each bar is ${duration(this.stepSeconds)}. A higher one has more ${noun}; without a bar the node was idle or not recorded.`
      : `Each column is a second, from top to bottom. A stronger colour means more ${noun}.`;
    this.intro.textContent = `${shown} Drag over a span to select it. To select a second span, use Compare or hold the Shift key.`;
  }

  private get stepSeconds(): number {
    return this.owners.data["step-nanos"] / 1e9;
  }

  private build(): HTMLElement {
    const [from, to, otherFrom, otherTo] = this.fields as [HTMLInputElement, HTMLInputElement, HTMLInputElement, HTMLInputElement];
    return h(
      "section",
      { class: "panel", "aria-labelledby": "timeline-title" },
      h("h2", { id: "timeline-title" }, "Timeline"),
      this.intro,
      h(
        "div",
        { class: "toolbar heat-tools" },
        h("span", {}, "Seconds ", from, " to ", to),
        h("span", { class: "heat-other" }, "against ", otherFrom, " to ", otherTo),
        h("div", { class: "buttons" }, this.compare, this.clear),
        this.result,
      ),
      this.picture.element,
      this.pointed,
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
    if (this.element.hidden) return;
    this.steps = this.owners.steps(selection);
    const { range, against } = selection;
    this.compare.disabled = !range;
    if (!range) this.comparing = false;
    this.compare.setAttribute("aria-pressed", String(this.comparing || against !== null));
    this.clear.disabled = !range;
    const values = [range?.from, range?.to, against?.from, against?.to];
    this.fields.forEach((field, index) => {
      const step = values[index];
      field.value = step === undefined ? "" : seconds(step * this.stepSeconds);
    });
    const weight = (span: Range): string => amount(this.weightOf(span), this.unit);
    this.result.textContent = range ? weight(range) + (against ? ` against ${weight(against)}` : "") : "";
    this.draw();
  }

  private weightOf(range: Range): number {
    return this.steps.slice(range.from, range.to).reduce((sum, weight) => sum + weight, 0);
  }

  private draw(): void {
    const { range, against } = this.selection;
    const drawn = this.drag && between(this.drag.from, this.drag.to);
    const isFocused = document.activeElement === this.picture.canvas;
    this.picture.show(this.steps, [[range, "--heat-picked"], [against, "--heat-other"], [drawn, "--ink"]], isFocused ? this.cursor : -1);
  }

  private listen(): void {
    const { canvas } = this.picture;
    canvas.addEventListener("pointerdown", (event) => {
      const step = this.picture.stepAt(event);
      this.drag = { from: step, to: step };
      canvas.setPointerCapture(event.pointerId);
      this.draw();
    });
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerleave", () => (this.pointed.hidden = true));
    canvas.addEventListener("pointerup", (event) => this.dropped(event.shiftKey));
    canvas.addEventListener("pointercancel", () => {
      this.drag = null;
      this.draw();
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
  }

  private moved(event: PointerEvent): void {
    const step = this.picture.stepAt(event);
    this.pointed.textContent = this.said(step);
    this.pointed.hidden = false;
    this.pointed.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - this.pointed.offsetWidth - 4))}px`;
    this.pointed.style.top = `${event.clientY + 18}px`;
    if (!this.drag) return;
    this.drag.to = step;
    this.draw();
  }

  private said(step: number): string {
    const time = (at: number): string => `${seconds(at * this.stepSeconds)} s`;
    const clock = this.picture.isBars && this.started > 0 ? `, from ${moment(this.started + step * this.stepSeconds * 1e9)}` : "";
    return `${time(step)} to ${time(step + 1)}${clock}: ${amount(this.steps[step] ?? 0, this.unit)}`;
  }

  private dropped(shift: boolean): void {
    if (!this.drag) return;
    const range = between(this.drag.from, this.drag.to);
    this.drag = null;
    this.pick(range, shift);
  }

  private pick(range: Range, isOther: boolean): void {
    const isSecond = this.selection.range !== null && (this.comparing || isOther);
    this.choose(isSecond ? { against: range } : { range, against: null });
  }

  private key(event: KeyboardEvent): void {
    const second = this.picture.stepsOfSecond;
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, ArrowRight: second, ArrowLeft: -second };
    const move = moves[event.key];
    if (event.key === "Escape" && this.selection.range) {
      event.stopPropagation();
      this.choose({ range: null, against: null });
    }
    if (move === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(this.cursor + move, this.steps.length - 1));
    if (!event.shiftKey) this.anchor = next;
    this.cursor = next;
    if (event.shiftKey) this.pick(between(this.anchor, next), false);
    this.result.textContent = this.said(next);
    this.draw();
  }
}

function between(one: number, other: number): Range {
  return { from: Math.min(one, other), to: Math.max(one, other) + 1 };
}
