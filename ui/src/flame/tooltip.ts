// The box beside the pointer, and the same facts as one line for the keyboard and screen readers.

import { h } from "../dom.ts";
import { amount, percent, quantity, whole } from "../format.ts";
import type { FrameKind } from "../wire.ts";
import { KIND_NAMES } from "./palette.ts";

/** Both sides of a comparison. */
export interface Sides {
  weights: [before: number, after: number];
  /** Their figures as text, and the change. */
  texts: [before: string, after: string];
  change: string;
  /** The noise that may explain the change; empty if it cannot. */
  doubt: string;
}

export interface Facts {
  name: string;
  kind: FrameKind | null;
  total: number;
  self: number;
  /** Sum of all weights, and of those in the zoomed node. */
  all: number;
  zoomed: number;
  /** Weight of the frame above. */
  parent: number;
  unit: string;
  /** Longest run that the node stands for. */
  run: number;
  /** Weights of both profiles in a comparison, in place of `total` and `self`. */
  sides: Sides | null;
}

export class Tooltip {
  readonly element = h("div", { class: "tooltip", role: "tooltip", hidden: true });

  show(facts: Facts, x: number, y: number): void {
    const isPart = facts.parent > 0 && !facts.sides;
    const ofParent = isPart ? `${percent(facts.total / facts.parent)} of the frame above` : "";
    const ofZoomed = facts.zoomed < facts.all && isPart ? `${percent(facts.total / facts.zoomed)} of the zoomed frame` : "";
    this.element.replaceChildren(
      h("div", { class: "tooltip-name" }, facts.name),
      h("div", { class: "tooltip-kind" }, kindLine(facts)),
      facts.sides ? sidesTable(facts.sides, facts.unit) : ownTable(facts),
      h("div", { class: "tooltip-kind" }, [ofParent, ofZoomed].filter(Boolean).join(" · ")),
    );
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    const right = x + 16 + box.width > innerWidth;
    const below = y + 20 + box.height <= innerHeight;
    this.element.style.left = `${Math.max(4, right ? x - box.width - 12 : x + 16)}px`;
    this.element.style.top = `${Math.max(4, below ? y + 20 : y - box.height - 12)}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}

/** Writes the same facts in one line. */
export function sentenceOf(facts: Facts): string {
  if (facts.sides) {
    const { texts, change, doubt } = facts.sides;
    const mark = doubt && `, ${doubt}`;
    return `${facts.name} · ${kindLine(facts)} · before ${texts[0]}, after ${texts[1]}, ${change}${mark}`;
  }
  const share = (weight: number): string => percent(facts.all > 0 ? weight / facts.all : 0);
  const total = `total ${share(facts.total)} (${amount(facts.total, facts.unit)})`;
  const self = `self ${share(facts.self)} (${quantity(facts.self, facts.unit)})`;
  const above = facts.parent > 0 ? ` · ${percent(facts.total / facts.parent)} of the frame above` : "";
  return `${facts.name} · ${kindLine(facts)} · ${total} · ${self}${above}`;
}

function kindLine(facts: Facts): string {
  const kind = facts.kind === null ? "everything" : KIND_NAMES[facts.kind];
  return facts.run > 1 ? `${kind} · up to ${whole(facts.run)} activations in a row` : kind;
}

function ownTable(facts: Facts): HTMLElement {
  const { total, self, all, unit } = facts;
  return h("table", {}, row("total", total, all, unit), row("self (ends here)", self, all, unit));
}

function sidesTable({ weights, texts, change, doubt }: Sides, unit: string): HTMLElement {
  const line = (name: string, side: 0 | 1): HTMLElement =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, texts[side]), h("td", {}, amount(weights[side], unit)));
  const changed = h("tr", {}, h("th", { scope: "row" }, "change"), h("td", { class: "change" }, change), h("td", {}, doubt));
  return h("table", {}, line("before", 0), line("after", 1), changed);
}

function row(name: string, weight: number, all: number, unit: string): HTMLElement {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h("td", {}, percent(all > 0 ? weight / all : 0)),
    h("td", {}, amount(weight, unit)),
  );
}
