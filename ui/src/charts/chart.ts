// The one chart: axes, marks, a cursor with a tooltip, a span by drag or Shift+arrow, lines that can be hidden, and a
// table on demand.

import { h, morph, onSight, onWidth, s } from "../dom.ts";
import type { ChartData, Columns, MarkData } from "../blocks/data.ts";
import { tableElement } from "../blocks/table.ts";
import { axes, planeOf } from "./axes.ts";
import { commandOf, CommandLine } from "./command.ts";
import { drawMark, mostOf, type Plane, strips } from "./draw.ts";
import { Group, hideTooltip, showTooltip } from "./group.ts";
import { beyond, type Item, itemsOf, nearest, placesOf, placeText, readings, spansAt, tableOf, textOf } from "./items.ts";
import { legend } from "./legend.ts";
import type { Span } from "./scale.ts";

/** Items of a mark that grows. */
const MOST_ITEMS = 1800;
/** Pixels from which a press is a drag. */
const DRAG = 6;

/** Returns everything of a chart that is outside its picture. */
function frameText({ title, note, marks }: ChartData): string {
  return JSON.stringify([title, note, marks.map((mark) => [mark.kind, mark.name, mark.hue, mostOf(mark)])]);
}

export class Chart {
  readonly element: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly where = h("span", { class: "chart-time" });
  private readonly status = h("p", { class: "out-of-sight", role: "status" });
  private readonly whole = h("button", { type: "button", hidden: true, click: () => this.group.zoom(null) }, "Whole");
  private readonly under = h("div", { class: "chart-under" });
  private readonly command = new CommandLine();
  private readonly cursor = s("g", { class: "cursor-marks" });
  private readonly group: Group;
  private readonly hidden = new Set<string>();
  private values: HTMLElement[] = [];
  private plane: Plane | null = null;
  private items: Item[] = [];
  private places: number[] = [];
  private width = 0;
  private item = -1;
  private at: number | null = null;
  private anchor: number | null = null;
  private pressed: number | null = null;
  private frame = 0;
  private isNear = true;
  /** The data are later than the picture. */
  private isStale = false;
  private readonly member = { point: (at: number | null) => this.point(at), zoom: () => this.zoomed() };

  constructor(
    private data: ChartData,
    private shared: MarkData[],
    private isAlone: boolean,
  ) {
    this.group = Group.of(data.x);
    this.group.join(this.member);
    this.whole.hidden = this.group.span === null;
    this.plot = h("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `${data.title}. Arrow keys read values, Shift and an arrow key choose a span, Enter opens.`,
      pointermove: (event: PointerEvent) => this.move(event),
      pointerdown: (event: PointerEvent) => this.press(event),
      pointerup: (event: PointerEvent) => this.release(event),
      pointerleave: () => this.leave(),
      blur: () => this.leave(),
      keydown: (event: KeyboardEvent) => this.key(event),
    });
    this.element = h("figure", { class: "chart" });
    this.frameOf();
    onWidth(this.plot, (width) => {
      this.width = width;
      this.draw();
    });
    onSight(this.plot, (isNear) => {
      this.isNear = isNear;
      if (isNear && this.isStale) this.draw();
    });
  }

  get title(): string {
    return this.data.title;
  }

  /** Shows other data with the same title. The reader's choices stay. */
  update(data: ChartData, shared: MarkData[], isAlone: boolean): void {
    const isSame = frameText(data) === frameText(this.data);
    Object.assign(this, { data, shared, isAlone });
    if (!isSame) this.frameOf();
    this.drawSoon();
  }

  /** Ends the chart, which has left the page. */
  remove(): void {
    cancelAnimationFrame(this.frame);
    this.group.leave(this.member);
  }

  /** Adds items at the end of a mark; the oldest ones leave it. */
  append(mark: number, columns: Columns): void {
    const into = this.data.marks[mark] as unknown as Record<string, unknown[]> | undefined;
    if (!into) return;
    for (const [name, more] of Object.entries(columns)) {
      const items = (into[name] ??= []);
      items.push(...(more as unknown[]));
      // An axis that began elsewhere now begins with the oldest item.
      if (items.splice(0, items.length - MOST_ITEMS).length > 0) delete this.data.x.from;
    }
    this.drawSoon();
  }

  /** Draws at the next frame, once for all changes before it; out of sight, when it comes near. */
  private drawSoon(): void {
    this.isStale = true;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.isNear) this.draw();
    });
  }

  private frameOf(): void {
    const { element, values } = legend(this.data, this.hidden, (name) => this.toggle(name), () => this.table());
    this.values = values;
    const note = this.data.note ? h("p", { class: "chart-note" }, this.data.note) : null;
    const caption = h("figcaption", {}, h("span", { class: "chart-title" }, this.data.title), this.where, this.whole);
    this.element.replaceChildren(caption, ...(note ? [note] : []), this.plot, this.status, this.command.element, element, this.under);
  }

  private toggle(name: string): void {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.draw();
  }

  private table(): boolean {
    const isShown = this.under.childElementCount === 0 && this.plane !== null;
    morph(this.under, isShown && this.plane ? [tableElement(tableOf(this.data, this.plane))] : []);
    return isShown;
  }

  private visible(): MarkData[] {
    return [...this.shared, ...this.data.marks].filter((mark) => !this.hidden.has(mark.name));
  }

  private draw(): void {
    if (this.width === 0) return;
    this.isStale = false;
    const marks = this.visible();
    const { width, isAlone } = this;
    const plane = planeOf(this.data, marks, { width, isAlone, strips: this.named().length, span: this.group.span });
    this.plane = plane;
    this.items = itemsOf(marks, plane);
    this.places = placesOf(marks).filter((at) => plane.x.has(at));
    const height = plane.bottom + (this.data.x.label ? 38 : 24);
    const picture = s("svg", { width, height, "aria-hidden": "true" });
    const [left, top] = [plane.left - 6, plane.top - 6];
    const [wide, tall] = [plane.right - plane.left + 12, plane.bottom - plane.top + 12];
    // An inner picture cuts off lines outside the plane.
    const inner = s("svg", { x: left, y: top, width: wide, height: tall, viewBox: `${left} ${top} ${wide} ${tall}` }, ...marks.map((mark) => drawMark(mark, plane)));
    picture.append(...axes(this.data, plane), inner, ...strips(this.named(), plane), this.cursor);
    this.plot.replaceChildren(picture);
    if (this.under.childElementCount > 0) morph(this.under, [tableElement(tableOf(this.data, plane))]);
    this.item = Math.min(this.item, this.items.length - 1);
    this.show();
  }

  private named(): MarkData[] {
    return this.shared.filter((mark) => mark.name !== "");
  }

  private move(event: PointerEvent): void {
    const box = this.plot.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (!this.plane) return;
    if (this.pressed !== null && Math.abs(x - this.pressed) > DRAG && this.canZoom()) {
      this.anchor = this.plane.x.value(this.pressed);
      this.at = this.plane.x.value(x);
      this.show();
      return;
    }
    if (this.items.length > 0) {
      this.item = nearest(this.items, x, y);
      this.show();
    } else {
      this.group.point(this.closest(this.plane.x.value(x)));
    }
    this.tooltip(event.clientX, event.clientY);
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.pressed = event.clientX - this.plot.getBoundingClientRect().left;
    this.plot.setPointerCapture(event.pointerId);
    this.move(event);
  }

  private release(event: PointerEvent): void {
    const isDrag = this.anchor !== null && this.pressed !== null;
    this.pressed = null;
    if (isDrag) this.choose();
    else this.follow(event.pointerType === "touch");
  }

  private leave(): void {
    this.pressed = this.anchor = null;
    this.item = -1;
    hideTooltip();
    this.group.point(null);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key] ?? 0;
    if (event.key === "Escape") {
      if (this.anchor === null && this.group.span) this.group.zoom(null);
      this.anchor = null;
    } else if (event.key === "Enter") {
      if (this.anchor !== null) this.choose();
      else if (this.follow()) return;
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      if (this.items.length === 0) return;
      this.item = beyond(this.items, this.item, event.key === "ArrowUp");
    } else if (step !== 0) {
      this.step(step, event.shiftKey);
    } else return;
    event.preventDefault();
    this.show();
    const box = this.plot.getBoundingClientRect();
    const [x, y] = this.focusPlace();
    this.tooltip(box.left + x, box.top + y);
    this.status.textContent = this.sentence();
  }

  private step(step: number, isSpan: boolean): void {
    if (this.items.length > 0) {
      const before = this.items[this.item];
      this.item = Math.min(Math.max(this.item + step, 0), this.items.length - 1);
      if (isSpan && this.canZoom() && this.plane) this.anchor ??= this.plane.x.value(before?.x ?? this.plane.left);
      const item = this.items[this.item];
      if (item && this.plane) this.at = this.plane.x.value(item.x);
      return;
    }
    const last = this.at === null ? -1 : this.places.indexOf(this.closest(this.at) ?? NaN);
    if (isSpan && this.canZoom()) this.anchor ??= this.places[Math.max(last, 0)] ?? null;
    else this.anchor = null;
    this.group.point(this.places[Math.min(Math.max(last + step, 0), this.places.length - 1)] ?? null);
  }

  private canZoom(): boolean {
    return this.data.x.scale !== "band";
  }

  /** Zooms all charts of the group to the chosen span, and tells the page. */
  private choose(): void {
    const [anchor, at] = [this.anchor, this.at];
    this.anchor = null;
    if (anchor === null || at === null || anchor === at) return;
    const span: Span = [Math.min(anchor, at), Math.max(anchor, at)];
    this.group.zoom(span);
    this.element.dispatchEvent(new CustomEvent("chart-span", { bubbles: true, detail: span }));
  }

  private zoomed(): void {
    this.whole.hidden = this.group.span === null;
    this.draw();
  }

  /**
   * Opens the page of the item, or shows the command that makes it; returns whether there is one. A touch opens no page:
   * it reads values.
   */
  private follow(isTouch = false): boolean {
    const item = this.items[this.item];
    const link = item?.mark.link?.[item.index];
    if (link && !isTouch) location.href = link;
    const command = item ? commandOf(item) : "";
    if (command === "") return false;
    this.command.show(command);
    // It would cover the command.
    if (!isTouch) hideTooltip();
    return true;
  }

  private point(at: number | null): void {
    this.at = at === null ? null : this.closest(at);
    this.show();
  }

  private closest(at: number): number | null {
    const better = (best: number | null, place: number): number =>
      best === null || Math.abs(place - at) < Math.abs(best - at) ? place : best;
    return this.places.reduce<number | null>(better, null);
  }

  private focusPlace(): [number, number] {
    const item = this.items[this.item];
    if (item) return [item.x, item.y];
    return [this.plane && this.at !== null ? this.plane.x.place(this.at) : 0, this.plane?.top ?? 0];
  }

  /** Shows cursor, span and values; the tooltip is at the pointer or the focus. */
  private show(): void {
    const plane = this.plane;
    if (!plane) return;
    const parts: SVGElement[] = [];
    const line = (at: number): SVGElement => s("line", { class: "cursor", x1: plane.x.place(at), x2: plane.x.place(at), y1: plane.top, y2: plane.bottom });
    if (this.anchor !== null && this.at !== null) {
      const [from, to] = [plane.x.place(Math.min(this.anchor, this.at)), plane.x.place(Math.max(this.anchor, this.at))];
      parts.push(s("rect", { class: "chosen", x: from, y: plane.top, width: to - from, height: plane.bottom - plane.top }));
    }
    const item = this.items[this.item];
    if (item) parts.push(s("circle", { class: "focus-ring", cx: item.x, cy: item.y, r: 8 }));
    else if (this.at !== null && this.items.length === 0) parts.push(line(this.at));
    this.plot.style.cursor = this.hint() ? "pointer" : "";
    this.cursor.replaceChildren(...parts);
    this.where.textContent = this.heading().split("\n")[0] ?? "";
    const found = this.at === null || this.items.length > 0 ? [] : readings(this.data.marks, this.at, this.data);
    this.values.forEach((value, index) => (value.textContent = found[index]?.text ?? ""));
  }

  private heading(): string {
    const plane = this.plane;
    if (!plane) return "";
    if (this.anchor !== null && this.at !== null) {
      return `${plane.x.text(Math.min(this.anchor, this.at))} to ${plane.x.text(Math.max(this.anchor, this.at))}`;
    }
    const item = this.items[this.item];
    if (item) return textOf(item, this.data, plane);
    if (this.at === null || this.items.length > 0) return "";
    return [placeText(this.data.marks, this.at, plane), ...spansAt(this.visible(), this.at)].join(", ");
  }

  private shownReadings(): ReturnType<typeof readings> {
    return this.at === null || this.items.length > 0 ? [] : readings(this.visible(), this.at, this.data);
  }

  private sentence(): string {
    const values = this.shownReadings().map(({ name, text }) => `${name} ${text}`);
    return [this.heading(), ...values, this.hint()].filter((part) => part !== "").join(", ");
  }

  private tooltip(x: number, y: number): void {
    const heading = this.heading();
    if (heading === "") hideTooltip();
    else showTooltip(heading, this.shownReadings(), this.hint(), x, y);
  }

  /** Says what the item leads to. */
  private hint(): string {
    const item = this.items[this.item];
    if (item?.mark.link?.[item.index]) return "Click or Enter opens the report";
    const command = item ? commandOf(item) : "";
    return command && `Flame graph: ${command}\nClick or Enter keeps the command below, to copy it`;
  }
}
