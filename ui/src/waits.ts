// Reasons why threads were off the CPU: they were blocked, waited for a CPU, or had nothing to do. Each tile selects
// its state; shares count the selected states. Links to the pages of the same recording's other events stand beside.

import { h } from "./dom.ts";
import { type Owners, type Selection } from "./flame/owners.ts";
import { nanos, percent } from "./format.ts";
import { profileTitle } from "./header.ts";
import { Toolbar } from "./toolbar.ts";
import type { OtherPage, ProfileData, WaitState } from "./wire.ts";

const STATES: [WaitState | "all", string, string][] = [
  ["blocked", "Blocked", "The thread had work and waited for something: a disk, a lock, a driver."],
  ["runnable", "Runnable", "The thread could run and waited for a CPU."],
  ["idle", "Idle", "The thread had nothing to do. Shares of blocked time exclude this."],
  ["all", "All", "Blocked, runnable and idle time together."],
];

interface Tile {
  element: HTMLElement;
  value: HTMLElement;
  detail: HTMLElement;
}

export class WaitsPanel {
  readonly element: HTMLElement;
  private readonly bar = new Toolbar("Time off the CPU, all threads together", "tiles waits");
  private readonly tiles = new Map<WaitState | "all", Tile>();

  constructor(
    private readonly owners: Owners,
    private readonly choose: (change: Partial<Selection>) => void,
  ) {
    for (const [state, name, meaning] of STATES) this.tiles.set(state, this.tile(state, name, meaning));
    this.element = this.bar.element;
  }

  /** Offers the states of the profile, and links beside them. */
  load(others: OtherPage[]): void {
    this.element.hidden = !this.owners.hasStates();
    const tiles = [...this.tiles.values()].map(({ element }) => element);
    this.bar.fill(...(this.element.hidden ? [] : [...tiles, ...linksTo(others)]));
  }

  show(selection: Selection): void {
    if (this.element.hidden) return;
    const shown = this.owners.stateOf(selection.state) ?? "all";
    const times = new Map(STATES.map(([state]) => [state, state === "all" ? 0 : this.owners.weightIn(state, selection)]));
    const all = [...times.values()].reduce((sum, time) => sum + time, 0);
    for (const [state, { element, value, detail }] of this.tiles) {
      const time = state === "all" ? all : (times.get(state) ?? 0);
      element.setAttribute("aria-pressed", String(shown === state));
      value.textContent = nanos(time);
      detail.textContent = state === "all" ? "of all threads" : `${percent(all > 0 ? time / all : 0)} of the time off the CPU`;
    }
  }

  private tile(state: WaitState | "all", name: string, meaning: string): Tile {
    const click = (): void => this.choose({ state: state === "blocked" ? "" : state });
    const [value, detail] = [h("span", { class: "value" }), h("span", { class: "tile-detail" })];
    const element = h(
      "button",
      { type: "button", class: "tile", title: meaning, "data-state": state, click },
      h("span", { class: "tile-name" }, name),
      value,
      detail,
    );
    return { element, value, detail };
  }
}

/** Returns whether a profile has reasons why threads were off the CPU. */
export function hasWaits({ owners }: ProfileData): boolean {
  return owners.labels.state.some((state) => state !== null);
}

/** Links to the pages of other events, one for each. A page elsewhere is named only. */
export function linksTo(others: OtherPage[]): HTMLElement[] {
  return others.map(({ event, file, isElsewhere }) => {
    const name = h("span", { class: "tile-name" }, "Same recording");
    if (isElsewhere) return h("div", { class: "tile" }, name, profileTitle(event), h("span", { class: "tile-detail" }, `${file} of the run`));
    return h("a", { class: "tile other-page", href: `./${encodeURIComponent(file)}` }, name, `${profileTitle(event)} →`);
  });
}
