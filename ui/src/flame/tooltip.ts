// The box beside the pointer, and the same facts as one line for the keyboard and screen readers.

import { h } from "../dom.ts";
import { amount, percent, points, quantity, whole } from "../format.ts";
import type { FrameKind } from "../wire.ts";
import { KIND_NAMES } from "./palette.ts";

export interface Sides {
  before: number;
  after: number;
  allBefore: number;
  allAfter: number;
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
  unit: string;
  /** Longest run that the node stands for. */
  run: number;
  /** Weights of both profiles in a comparison, in place of `total` and `self`. */
  sides: Sides | null;
}

export class Tooltip {
  readonly element = h("div", { class: "tooltip", role: "tooltip", hidden: true });

  show(facts: Facts, x: number, y: number): void {
    const ofZoomed = `${percent(facts.total / facts.zoomed)} of the zoomed frame`;
    this.element.replaceChildren(
      h("div", { class: "tooltip-name" }, facts.name),
      h("div", { class: "tooltip-kind" }, kindLine(facts)),
      facts.sides ? sidesTable(facts.sides, facts.unit) : ownTable(facts),
      h("div", { class: "tooltip-kind" }, facts.zoomed < facts.all && !facts.sides ? ofZoomed : ""),
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
    const { before, after, allBefore, allAfter } = facts.sides;
    const shares = `before ${percent(before / allBefore)}, after ${percent(after / allAfter)}`;
    const change = after / allAfter - before / allBefore;
    const doubt = doubtOf(facts.sides);
    const mark = doubt && `, ${doubt}`;
    return `${facts.name} · ${kindLine(facts)} · ${shares}, ${points(change)}${mark}`;
  }
  const share = (weight: number): string => percent(facts.all > 0 ? weight / facts.all : 0);
  const total = `total ${share(facts.total)} (${amount(facts.total, facts.unit)})`;
  const self = `self ${share(facts.self)} (${quantity(facts.self, facts.unit)})`;
  return `${facts.name} · ${kindLine(facts)} · ${total} · ${self}`;
}

/** Returns the doubt; empty if nothing changed. */
function doubtOf({ before, after, allBefore, allAfter, doubt }: Sides): string {
  return before / allBefore === after / allAfter ? "" : doubt;
}

function kindLine(facts: Facts): string {
  const kind = facts.kind === null ? "everything" : KIND_NAMES[facts.kind];
  return facts.run > 1 ? `${kind} · up to ${whole(facts.run)} activations in a row` : kind;
}

function ownTable(facts: Facts): HTMLElement {
  const { total, self, all, unit } = facts;
  return h("table", {}, row("total", total, all, unit), row("self, in no other frame", self, all, unit));
}

function sidesTable(sides: Sides, unit: string): HTMLElement {
  const { before, after, allBefore, allAfter } = sides;
  const change = points(after / allAfter - before / allBefore);
  return h(
    "table",
    {},
    row("before", before, allBefore, unit),
    row("after", after, allAfter, unit),
    h("tr", {}, h("th", { scope: "row" }, "change"), h("td", { class: "change" }, change), h("td", {}, doubtOf(sides))),
  );
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
