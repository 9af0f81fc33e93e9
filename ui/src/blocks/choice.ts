// The choice of two rows, which leads to a page about both. It stays in the address while the reader searches.

import { h } from "../dom.ts";
import type { ChoiceData } from "./data.ts";

const KEY = "chosen";
const MOST = 2;

export class TwoRows {
  private chosen = new URLSearchParams(location.search).getAll(KEY).slice(0, MOST);
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly names = h("span", { role: "status" });
  private readonly go = h("button", { type: "button", click: () => this.open() }, "Compare");
  private readonly clear = h("button", { type: "button", click: () => this.choose([]) }, "Clear");
  /** The line above the table: the chosen rows, and the way to their page. */
  readonly bar = h("div", { class: "choice-bar" }, this.go, this.clear, this.names);

  constructor(private readonly data: ChoiceData) {}

  /** Returns the box of a row; its empty place if the row cannot be chosen. */
  box(row: number): HTMLElement {
    const value = this.data.values[row];
    if (value == null) return h("span", { class: "no-box" });
    const box = h("input", { type: "checkbox", "aria-label": `Compare ${value}`, change: () => this.toggle(value, box.checked) });
    this.boxes.set(value, box);
    return box;
  }

  /** Shows the choice, after all boxes were made. */
  show(): void {
    const isFull = this.chosen.length === MOST;
    for (const [value, box] of this.boxes) {
      box.checked = this.chosen.includes(value);
      box.disabled = isFull && !box.checked;
    }
    this.go.disabled = !isFull;
    this.clear.hidden = this.chosen.length === 0;
    const names = this.sorted().map((value) => value || "this directory");
    this.names.textContent = isFull ? names.join(" against ") : names.length > 0 ? `${names[0]} against … choose one more run` : "Choose two runs to compare them.";
  }

  private toggle(value: string, isChosen: boolean): void {
    this.choose(isChosen ? [...this.chosen, value] : this.chosen.filter((other) => other !== value));
  }

  private choose(chosen: string[]): void {
    this.chosen = chosen;
    const query = new URLSearchParams(location.search);
    query.delete(KEY);
    for (const value of chosen) query.append(KEY, value);
    history.replaceState(null, "", `${location.pathname}${query.size > 0 ? `?${query}` : ""}`);
    this.show();
  }

  /** Returns the chosen rows, the lower one first. Those that are not shown keep their order. */
  private sorted(): string[] {
    const place = (value: string): number => this.data.values.indexOf(value);
    return this.chosen.every((value) => place(value) >= 0) ? [...this.chosen].sort((one, other) => place(other) - place(one)) : this.chosen;
  }

  private open(): void {
    const query = new URLSearchParams();
    this.sorted().forEach((value, at) => query.set(this.data.keys[at] as string, value));
    location.assign(`${this.data.page}?${query}`);
  }
}
