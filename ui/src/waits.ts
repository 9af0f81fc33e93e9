// Reasons why threads were off the CPU: they were blocked, waited for a CPU, or had nothing to do. Each tile selects
// its state; shares count the selected states.

import { h } from "./dom.ts";
import { type Owners, type Selection } from "./flame/owners.ts";
import { nanos, percent } from "./format.ts";
import type { WaitState } from "./wire.ts";

const STATES: [WaitState, string, string][] = [
  ["blocked", "Blocked", "The thread had work and waited for something: a disk, a lock, a driver."],
  ["runnable", "Runnable", "The thread could run and waited for a CPU."],
  ["idle", "Idle", "The thread had nothing to do. Shares of blocked time exclude this."],
];

export class WaitsPanel {
  readonly element = h("section", { class: "tiles waits", "aria-label": "Time off the CPU, all threads together" });

  constructor(
    private readonly owners: Owners,
    private readonly choose: (change: Partial<Selection>) => void,
  ) {}

  show(selection: Selection): void {
    const shown = this.owners.stateOf(selection.state);
    const all = STATES.reduce((sum, [state]) => sum + this.owners.weightIn(state, selection), 0);
    const tiles = STATES.map(([state, name, meaning]) => {
      const time = this.owners.weightIn(state, selection);
      const detail = `${percent(all > 0 ? time / all : 0)} of the time off the CPU`;
      return this.tile(state, name, meaning, nanos(time), detail, shown === state);
    });
    const together = this.tile("all", "All", "Blocked, runnable and idle time together.", nanos(all), "", shown === null);
    this.element.replaceChildren(...tiles, together);
  }

  private tile(state: string, name: string, meaning: string, value: string, detail: string, isShown: boolean): HTMLElement {
    const click = (): void => this.choose({ state: state === "blocked" ? "" : state });
    return h(
      "button",
      { type: "button", class: "tile", "aria-pressed": String(isShown), title: meaning, "data-state": state, click },
      h("span", { class: "tile-name" }, name),
      h("span", { class: "value" }, value),
      h("span", { class: "tile-detail" }, detail || "\u00a0"),
    );
  }
}
