// The bar of a live page: its state, Stop and Go on, and the slider over earlier moments.

import { h, say } from "../dom.ts";
import type { KeptTicks } from "./kept.ts";

/** Milliseconds without a tick, from which on the bar says so. */
const SILENCE = 5000;

export interface BarActions {
  stop(isStopped: boolean): void;
  /** Shows the page as of a tick. */
  goTo(number: number): void;
}

/** The state of a live page. */
export interface LiveState {
  isStopped: boolean;
  /** Start of a loss of connection, and arrival of the latest tick, in milliseconds since 1970; null for none. */
  lost: number | null;
  heard: number | null;
  /** The sentence of the end, and the address of the report. */
  end: { sentence: string; page: string | null } | null;
}

export class LiveBar {
  readonly element: HTMLElement;
  private readonly chip = h("span", { class: "live-state", role: "status" });
  /** Text that changes too often for an announcement. */
  private readonly detail = h("span", { class: "live-detail", "aria-hidden": "true" });
  private readonly button: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly moment = h("output", { class: "live-moment", "aria-live": "off" });
  private readonly past: HTMLElement;
  private readonly report = h("a", { hidden: true }, "The report as a page of its own");
  private isStopped = false;

  constructor(
    private readonly ticks: KeptTicks,
    actions: BarActions,
  ) {
    this.button = h("button", { type: "button", click: () => actions.stop(!this.isStopped) });
    const input = (): void => {
      actions.goTo(Number(this.slider.value));
      this.showMoment();
    };
    this.slider = h("input", { type: "range", class: "live-slider", step: "1", "aria-label": "Moment of the tables", input });
    this.past = h("span", { class: "live-past" }, "As of", this.slider, this.moment);
    this.element = h("section", { class: "live-bar", "aria-label": "Live" }, h("p", {}, this.chip, this.detail), this.button, this.past, this.report);
  }

  show(state: LiveState): void {
    const { end, isStopped } = state;
    const [kind, text, detail] = said(state, this.ticks);
    this.element.dataset["state"] = kind;
    say(this.chip, text);
    say(this.detail, detail);
    say(this.button, !isStopped ? "Stop" : end?.page ? "Show the report" : "Go on");
    this.button.hidden = end !== null && !(isStopped && end.page);
    if (end?.page) this.report.setAttribute("href", end.page);
    this.report.hidden = !end?.page;
    this.past.hidden = !isStopped || this.ticks.last < this.ticks.first;
    const wasStopped = this.isStopped;
    this.isStopped = isStopped;
    if (this.past.hidden) return;
    this.slider.min = String(this.ticks.first);
    this.slider.max = String(this.ticks.last);
    if (!wasStopped) this.slider.value = this.slider.max;
    this.showMoment();
  }

  private showMoment(): void {
    const text = clock(this.ticks.at(Number(this.slider.value)) / 1e6);
    say(this.moment, text);
    if (this.slider.getAttribute("aria-valuetext") !== text) this.slider.setAttribute("aria-valuetext", text);
  }
}

/** Returns the kind of a state, its announcement, and the detail that changes every second. */
function said({ isStopped, lost, heard, end }: LiveState, ticks: KeptTicks): [kind: string, text: string, detail: string] {
  const ago = (since: number): string => `${Math.round((Date.now() - since) / 1000)} s`;
  const latest = ticks.at(ticks.last) > 0 ? clock(ticks.at(ticks.last) / 1e6) : "";
  if (end) return ["ended", `Ended: ${end.sentence}`, ""];
  if (lost !== null) return ["lost", isStopped ? "Stopped, reconnecting" : "Reconnecting", ` for ${ago(lost)}`];
  if (isStopped) return ["stopped", "Stopped", latest && `, received until ${latest}`];
  if (heard === null) return ["live", "Waiting for the first figures", ""];
  return ["live", "Live", Date.now() - heard > SILENCE ? `, nothing new for ${ago(heard)}` : ` ${latest}`];
}

function clock(milliseconds: number): string {
  const time = new Date(milliseconds);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
