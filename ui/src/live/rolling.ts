// The profile of a live page: the latest seconds while it rolls, everything that the server keeps while it stands still.

import { ColumnsReader, readText } from "../columns/read.ts";
import { h, place, say } from "../dom.ts";
import { type Pace, ProfileView, type Recorded } from "../profile.ts";
import type { OtherPage, ProfileData } from "../wire.ts";

/** Seconds that a rolling profile covers. */
const SECONDS = 30;

/** Milliseconds between two of its requests. */
const INTERVAL = 2000;

export class RollingProfile {
  /** The parts of the profile; null until there is one. */
  private view: ProfileView | null = null;
  private place: HTMLElement | undefined;
  private readonly reader = new ColumnsReader();
  private readonly status = h("p", { class: "panel", role: "status" }, "There is no profile yet.");
  private isStopped = false;
  private isBusy = false;
  /** The number of the latest window, and the one on the page; infinite for the whole. */
  private latest = 0;
  private shown = 0;
  private asked = -Infinity;
  private timer = 0;

  constructor() {
    document.addEventListener("visibilitychange", () => this.check());
  }

  /** Begins anew in a place; without one there is no profile. */
  restart(place: HTMLElement | undefined): void {
    this.latest = this.shown = 0;
    this.place = place;
    place?.replaceChildren(this.status);
  }

  /** Notes that the server has a new window. */
  offer(number: number): void {
    this.latest = number;
    this.check();
  }

  stop(isStopped: boolean): void {
    this.isStopped = isStopped;
    this.shown = 0;
    this.check();
  }

  /** Shows the profile of the report instead, and returns its parts. The reader's choices stay. */
  async finish(profile: ProfileData, text: string, others: OtherPage[]): Promise<HTMLElement[]> {
    this.restart(undefined);
    const recorded = { profile, columns: await readText(text) };
    if (this.view) this.view.show(recorded, "report", others);
    else this.view = new ProfileView(recorded, others);
    return this.view.elements;
  }

  private check(): void {
    if (this.isBusy || !this.place || document.hidden || this.latest === 0 || this.shown >= this.latest) return;
    const wait = this.isStopped ? 0 : this.asked + INTERVAL - performance.now();
    clearTimeout(this.timer);
    if (wait > 0) this.timer = window.setTimeout(() => this.check(), wait);
    else void this.refresh();
  }

  private async refresh(): Promise<void> {
    const { isStopped, latest } = this;
    this.isBusy = true;
    this.asked = performance.now();
    try {
      const response = await fetch(isStopped ? "profile.json" : `profile.json?seconds=${SECONDS}`);
      if (!response.ok) throw new Error(await response.text());
      const { columns, window } = await this.reader.read(await response.arrayBuffer());
      // The reader may have stopped meanwhile, or the run may have ended.
      if (isStopped === this.isStopped && this.place && window) this.draw(this.place, { profile: window.profile, columns });
    } catch (problem) {
      say(this.status, `The profile cannot be shown: ${problem instanceof Error ? problem.message : String(problem)}.`);
      if (this.place) place(this.place, [this.status, ...(this.view?.elements ?? [])]);
    }
    if (isStopped === this.isStopped) this.shown = isStopped ? Infinity : latest;
    // The next request comes after this picture.
    requestAnimationFrame(() => {
      this.isBusy = false;
      this.check();
    });
  }

  private draw(into: HTMLElement, recorded: Recorded): void {
    const pace: Pace = this.isStopped ? "stopped" : "rolling";
    if (this.view) this.view.show(recorded, pace);
    else this.view = new ProfileView(recorded, [], pace);
    place(into, this.view.elements);
  }
}
