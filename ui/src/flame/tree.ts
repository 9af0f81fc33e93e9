// A shown tree as rows that open: the call tree, or the tree from the leaves. Rows are made when their parent opens.

import { h, morph } from "../dom.ts";
import { percent, quantity } from "../format.ts";
import type { Actions } from "./graph.ts";
import type { Model } from "./model.ts";
import { KIND_NAMES } from "./palette.ts";
import type { Matches } from "./search.ts";
import { ALL, nodeAt, placeOf, type View } from "./view.ts";

/** Children of a row that are shown at first, and with each press of the row for more. */
const FIRST_CHILDREN = 50;

/** A tree opens by itself along children that have this share of their parent. */
const HOT = 0.5;
const MOST_HOT = 12;

interface Row {
  node: number;
  level: number;
  element: HTMLElement;
  isOpen: boolean;
  /** Children that are hidden behind this row; 0 for a row of a function. */
  from: number;
}

export class CallTree {
  readonly element: HTMLElement;
  private readonly list: HTMLElement;
  private readonly heads = h("p", { class: "tree-head", "aria-hidden": "true" });
  private rows: Row[] = [];
  private view: View | null = null;
  private top = 0;
  private matches: Matches | null = null;
  private at = 0;
  /** Names of the frames of the view. */
  private names: string[];

  constructor(
    private readonly model: Model,
    private readonly actions: Actions,
  ) {
    this.names = model.names;
    this.list = h("div", {
      class: "tree",
      role: "tree",
      keydown: (event: KeyboardEvent) => this.key(event),
      click: (event: MouseEvent) => this.clicked(event),
      contextmenu: (event: MouseEvent) => this.menu(event),
    });
    this.element = h("div", { class: "tree-box" }, this.heads, this.list);
  }

  private showHeads(): void {
    const head = (name: string, title: string): HTMLElement => h("span", { title }, name);
    const numbers = this.model.sideTotals
      ? [head("Before", "The first side."), head("After", "The second side.")]
      : [
          head("Total", "The row with everything below it."),
          head("Self", "Stacks that end in this row; in the inverted tree, stacks that begin there."),
        ];
    const keys = "Arrow keys move, open and close; Enter zooms; the menu key has more.";
    this.heads.replaceChildren(...numbers, head("Function", keys));
  }

  /** Shows a view from the node `top` down. */
  update(view: View, top: number, matches: Matches | null, label: string): void {
    const isOther = view !== this.view || top !== this.top;
    const { names } = this.model;
    const kept = names === this.names || !this.view ? null : this.places(this.view);
    Object.assign(this, { view, top, matches, names });
    this.list.setAttribute("aria-label", label);
    if (kept) this.continue(view, kept);
    else if (isOther) this.restart(view);
    else for (const row of this.rows) row.element.classList.toggle("match", this.isMatch(row.node));
  }

  private restart(view: View): void {
    this.showHeads();
    this.rows = [];
    this.list.replaceChildren();
    this.insert(0, [this.row(this.top, 1)]);
    this.at = 0;
    let row = 0;
    for (let depth = 0; depth < MOST_HOT; depth++) {
      const parent = this.rows[row] as Row;
      this.open(row);
      const first = this.rows[row + 1];
      if (!first || first.level <= parent.level || first.from > 0) break;
      if (view.total[first.node] < HOT * view.total[parent.node]) break;
      row += 1;
    }
    this.stop(0);
  }

  /** Returns the places of the open rows, and that of the tab stop. */
  private places(view: View): { open: Set<string>; at: string[] } {
    const place = (node: number): string[] => placeOf({ view, names: this.names }, node);
    const open = this.rows.filter(({ isOpen }) => isOpen).map(({ node }) => place(node).join("\n"));
    return { open: new Set(open), at: place(this.rows[this.at]?.node ?? 0) };
  }

  /** Shows another profile with the same rows open, as far as it has them. */
  private continue(view: View, { open, at }: { open: Set<string>; at: string[] }): void {
    const named = { view, names: this.names };
    const withOpen = (row: Row): Row[] => {
      const isOpen = row.from === 0 && row.element.hasAttribute("aria-expanded") && open.has(placeOf(named, row.node).join("\n"));
      if (!isOpen) return [row];
      row.isOpen = true;
      row.element.setAttribute("aria-expanded", "true");
      return [row, ...this.children(row.node, row.level + 1, 0).flatMap(withOpen)];
    };
    const hasFocus = this.list.contains(document.activeElement);
    const rows = withOpen(this.row(this.top, 1));
    morph(this.list, rows.map(({ element }) => element));
    this.rows = rows.map((row, at) => ({ ...row, element: this.list.children[at] as HTMLElement }));
    const node = nodeAt(named, at);
    this.stop(this.rows.findIndex((row) => row.node === node));
    if (hasFocus) this.rows[this.at]?.element.focus({ preventScroll: true });
  }

  private isMatch(node: number): boolean {
    const frame = this.view?.frame[node] ?? ALL;
    return frame >= 0 && this.matches?.frames[frame] === 1;
  }

  private row(node: number, level: number): Row {
    const view = this.view as View;
    const { total } = this.model;
    const { kind, change } = this.model.look(view, node, null);
    const name = this.model.label(view, node);
    const bar = h("span", { class: "tree-bar" });
    bar.style.setProperty("--share", (total > 0 ? view.total[node] / total : 0).toFixed(4));
    const element = h(
      "div",
      { role: "treeitem", class: this.isMatch(node) ? "match" : null, "aria-level": level, tabindex: "-1" },
      ...this.numbers(view, node),
      h("span", { class: "tree-name" }, h("span", { class: "twisty", "aria-hidden": "true" }), chip(kind, change), name),
      bar,
    );
    element.style.setProperty("--level", String(Math.min(level - 1, 40)));
    if (this.hasChildren(node)) element.setAttribute("aria-expanded", "false");
    return { node, level, element, isOpen: false, from: 0 };
  }

  /** Returns total and self weight; in a comparison the totals of both sides. */
  private numbers(view: View, node: number): HTMLElement[] {
    const { total, unit, measure } = this.model;
    const number = (weight: number, all: number): HTMLElement => {
      const count = h("span", { class: "count" }, quantity(weight, unit));
      return h("span", { class: "tree-number" }, percent(all > 0 ? weight / all : 0), " ", count);
    };
    if (measure) {
      const figure = (side: 0 | 1): string => measure.write((view.sides[side]?.[node] ?? 0) / measure.totals[side]);
      return [0, 1].map((side) => h("span", { class: "tree-number" }, figure(side as 0 | 1)));
    }
    return [number(view.total[node], total), number(view.self[node], total)];
  }

  private hasChildren(node: number): boolean {
    const [from, to] = (this.view as View).children(node);
    return to > from;
  }

  /** Returns rows for the children of a node from `from` on, and one that stands for the rest. */
  private children(node: number, level: number, from: number): Row[] {
    const [first, last] = (this.view as View).children(node);
    const start = Math.max(from, first);
    const end = Math.min(start + FIRST_CHILDREN, last);
    const siblings = Array.from({ length: end - start }, (_, at) => start + at);
    const rows = this.model.arrange(this.view as View, siblings).map((child) => this.row(child, level));
    if (end === last) return rows;
    const element = h("div", { role: "treeitem", class: "tree-more", "aria-level": level, tabindex: "-1" }, `${last - end} more`);
    element.style.setProperty("--level", String(Math.min(level - 1, 40)));
    return [...rows, { node, level, element, isOpen: false, from: end }];
  }

  private insert(at: number, rows: Row[]): void {
    const before = this.rows[at]?.element ?? null;
    for (const { element } of rows) this.list.insertBefore(element, before);
    this.rows.splice(at, 0, ...rows);
  }

  private remove(at: number, count: number): void {
    for (const { element } of this.rows.splice(at, count)) element.remove();
  }

  private open(at: number): void {
    const row = this.rows[at] as Row;
    if (row.isOpen || !row.element.hasAttribute("aria-expanded")) return;
    row.isOpen = true;
    row.element.setAttribute("aria-expanded", "true");
    this.insert(at + 1, this.children(row.node, row.level + 1, 0));
  }

  private close(at: number): void {
    const row = this.rows[at] as Row;
    row.isOpen = false;
    row.element.setAttribute("aria-expanded", "false");
    let end = at + 1;
    while ((this.rows[end]?.level ?? 0) > row.level) end += 1;
    this.remove(at + 1, end - at - 1);
  }

  private toggle(at: number): void {
    const row = this.rows[at];
    if (!row) return;
    if (row.from > 0) {
      const more = this.children(row.node, row.level, row.from);
      this.remove(at, 1);
      this.insert(at, more);
    } else if (row.isOpen) this.close(at);
    else this.open(at);
  }

  /** Makes a row the tab stop. */
  private stop(at: number): void {
    this.rows[this.at]?.element.setAttribute("tabindex", "-1");
    this.at = Math.max(0, Math.min(at, this.rows.length - 1));
    this.rows[this.at]?.element.setAttribute("tabindex", "0");
  }

  private go(at: number): void {
    this.stop(at);
    this.rows[this.at]?.element.focus();
  }

  private parentOf(at: number): number {
    const level = this.rows[at]?.level ?? 1;
    let above = at - 1;
    while (above > 0 && (this.rows[above] as Row).level >= level) above -= 1;
    return Math.max(above, 0);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { at } = this;
    const row = this.rows[at] as Row;
    const acts: Record<string, () => void> = {
      ArrowDown: () => this.go(at + 1),
      ArrowUp: () => this.go(at - 1),
      Home: () => this.go(0),
      End: () => this.go(this.rows.length - 1),
      ArrowRight: () => (row.isOpen ? this.go(at + 1) : this.toggle(at)),
      ArrowLeft: () => (row.isOpen ? this.close(at) : this.go(this.parentOf(at))),
      " ": () => this.toggle(at),
      Enter: () => (row.from > 0 ? this.toggle(at) : this.actions.zoomTo(row.node)),
      s: () => this.actions.centre(row.node),
      ContextMenu: () => this.menuAt(row),
      m: () => this.menuAt(row),
    };
    const act = event.key === "F10" && event.shiftKey ? acts["m"] : acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    this.stop(this.at);
    if (!this.list.contains(document.activeElement)) return;
    this.rows[this.at]?.element.focus();
  }

  private rowAt(event: Event): number {
    const element = (event.target as Element).closest("[role=treeitem]");
    return this.rows.findIndex((row) => row.element === element);
  }

  private clicked(event: MouseEvent): void {
    const at = this.rowAt(event);
    if (at < 0) return;
    this.toggle(at);
    this.go(at);
  }

  private menu(event: MouseEvent): void {
    const at = this.rowAt(event);
    event.preventDefault();
    const row = this.rows[at];
    if (!row || row.from > 0) return;
    this.go(at);
    this.actions.menu(row.node, event.clientX, event.clientY, row.element);
  }

  private menuAt(row: Row): void {
    if (row.from > 0) return;
    const box = row.element.getBoundingClientRect();
    this.actions.menu(row.node, box.left + 160, box.bottom, row.element);
  }
}

function chip(kind: keyof typeof KIND_NAMES | null, change: number | null): HTMLElement | null {
  if (kind === null) return null;
  if (change === null) return h("span", { class: "chip", "data-kind": kind, role: "img", "aria-label": KIND_NAMES[kind] });
  const colour = change > 0 ? "more" : change < 0 ? "less" : "same";
  return h("span", { class: "chip", "data-change": colour, role: "img", "aria-label": `share: ${colour}` });
}
