// The key of a chart: a button for each name hides its marks; the last one shows the table. Arrow keys go from button
// to button, so that a chart has two stops of the Tab key.

import { h } from "../dom.ts";
import type { ChartData, MarkData } from "../blocks/data.ts";
import { written } from "../measure.ts";
import { mostOf, SHADES } from "./draw.ts";

interface Legend {
  element: HTMLElement;
  /** Where the values of lines stand, in the order of the lines. */
  values: HTMLElement[];
}

export function legend(data: ChartData, hidden: Set<string>, toggle: (name: string) => void, table: () => boolean): Legend {
  const values: HTMLElement[] = [];
  const seen = new Set<string>();
  const buttons = data.marks.flatMap((mark) => {
    const value = h("span", { class: "legend-value" });
    if (mark.kind === "line" || mark.kind === "steps") values.push(value);
    if (mark.name === "" || mark.kind === "cells" || seen.has(mark.name)) return [];
    seen.add(mark.name);
    return [button(mark, value, hidden, toggle)];
  });
  const show = h("button", { type: "button", class: "show-table", "aria-expanded": "false" }, "Table");
  show.addEventListener("click", () => show.setAttribute("aria-expanded", String(table())));
  const all = [...buttons, show];
  all.forEach((button, at) => (button.tabIndex = at === 0 ? 0 : -1));
  const cells = data.marks.filter((mark) => mark.kind === "cells");
  const element = h("div", { class: "legend", role: "toolbar", "aria-label": `Lines of ${data.title}`, keydown: walk }, ...cells.slice(0, 1).map(scale), ...all);
  return { element, values };
}

function button(mark: MarkData, value: HTMLElement, hidden: Set<string>, toggle: (name: string) => void): HTMLButtonElement {
  const chip = h("i", { class: "chip", "data-kind": mark.kind, "data-hue": mark.hue, "aria-hidden": "true" });
  const isShown = (): string => String(!hidden.has(mark.name));
  const button = h("button", { type: "button", class: "legend-item", "aria-pressed": isShown() }, chip, mark.name, value);
  button.addEventListener("click", () => {
    toggle(mark.name);
    button.setAttribute("aria-pressed", isShown());
  });
  return button;
}

/** Shows the colours of cells from 0 to the largest value. */
function scale(mark: MarkData): HTMLElement {
  const shades = Array.from({ length: SHADES }, (_, shade) => h("i", { class: "shade", "data-shade": shade }));
  return h("span", { class: "shades" }, "0 ", ...shades, ` ${written(mostOf(mark), mark.measure ?? "things")}`);
}

function walk(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const bar = event.currentTarget as HTMLElement;
  const buttons = [...bar.querySelectorAll("button")];
  const here = buttons.indexOf(document.activeElement as HTMLButtonElement);
  if (!step || here < 0) return;
  event.preventDefault();
  const next = buttons[(here + step + buttons.length) % buttons.length] as HTMLButtonElement;
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}
