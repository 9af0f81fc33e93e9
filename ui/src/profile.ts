// Profile section of the page: states of time off the CPU, flame graph with the table of functions beside it, lines of
// the selected function, owners, times. All parts follow the reader's selection.

import { ChangeTable } from "./changes.ts";
import { h, morph, place } from "./dom.ts";
import { changesOf, functionsOf } from "./flame/functions.ts";
import { type GraphData, Model } from "./flame/model.ts";
import { EVERYTHING, NO_QUALITY, type Owners, type Selection } from "./flame/owners.ts";
import { FlamePanel, type Listener } from "./flame/panel.ts";
import { duration, nounOf } from "./format.ts";
import type { Choice } from "./link.ts";
import { profileTitle } from "./header.ts";
import { TimelinePanel } from "./timeline.ts";
import { LinesPanel } from "./lines.ts";
import { captureFacts, cautionOf, qualityBar, qualitySentence } from "./quality.ts";
import { FunctionTable } from "./table.ts";
import { WaitsPanel } from "./waits.ts";
import type { Columns } from "./columns/decode.ts";
import type { OtherPage, ProfileData, WaitState } from "./wire.ts";
import { OwnerTable } from "./owner-table.ts";

/** Says that waiting is not on a page of CPU time alone, and how to record it. */
const WITHOUT_WAITING =
  "Only CPU time was recorded, which cannot show whether the node waited: record both with rabbitscope profile --event " +
  'cpu,off-cpu, with event = "cpu,off-cpu" below [profile] of a scenario, or with rabbitscope watch --off-cpu.';

/** The relation of a profile to time: it rolls on, the page stands still, or it is that of a report. */
export type Pace = "rolling" | "stopped" | "report";

/** A profile with its columns. */
export interface Recorded {
  profile: ProfileData;
  columns: Columns;
}

/** The parts of a profile. Another profile of the same event can take its place, and the reader's choices stay. */
export class ProfileView {
  readonly elements: HTMLElement[];
  private readonly model: Model;
  private readonly owners: Owners;
  private readonly panel: FlamePanel;
  private readonly waits: WaitsPanel;
  private readonly ownerTable: OwnerTable;
  private readonly timeline: TimelinePanel;
  private readonly table: FunctionTable;
  private readonly changes: ChangeTable;
  private readonly lines: LinesPanel;
  private readonly beside: HTMLElement;
  private readonly below = h("div");
  private readonly about = h("div", { class: "about-recording" });
  private profile: ProfileData;

  constructor({ profile, columns }: Recorded, private others: OtherPage[], pace: Pace = "report") {
    const { unit, lines } = profile;
    this.profile = profile;
    this.model = new Model(graphOf({ profile, columns }));
    this.model.isRolling = pace === "rolling";
    this.owners = this.model.owners as Owners;
    const choose = (change: Partial<Selection>): void => this.panel.choose(change, true);
    const find = (frame: number): void => this.panel.searchFrame(frame);
    this.waits = new WaitsPanel(this.owners, choose);
    this.waits.load(others);
    this.ownerTable = new OwnerTable(this.owners, unit, choose);
    this.timeline = new TimelinePanel(this.owners, unit, choose);
    this.timeline.load(profile.capture["started-unix-nanos"], this.model.isRolling);
    this.table = new FunctionTable(profile.functions, this.model, { find, centre: (frame) => this.panel.showAround(frame) });
    this.changes = new ChangeTable(this.model, "Only further spans can exclude a difference between equal spans.", find);
    const whole = this.owners.hasStates() ? "blocked and runnable time" : `all ${nounOf(unit)}`;
    this.lines = new LinesPanel(lines, this.model.names, this.total(), whole, unit);
    this.beside = h("div", { class: "beside" }, this.table.element);
    const listener: Listener = {
      selected: (choice) => this.selected(choice),
      zoomed: (part) => this.zoomed(part),
      searched: (text) => this.table.find(text),
      focused: (frame) => this.lines.show(frame),
    };
    this.panel = new FlamePanel(this.model, titleOf(profile, pace), this.beside, [this.about], listener, pace !== "report");
    const { waits, panel, below, lines: of, ownerTable, timeline } = this;
    this.elements = [waits.element, panel.element, below, of.element, ownerTable.element, timeline.element];
  }

  /** Shows another profile in place. */
  show(recorded: Recorded, pace: Pace, others = this.others): void {
    this.profile = recorded.profile;
    this.others = others;
    const load = (): void => {
      this.model.isRolling = pace === "rolling";
      this.model.load(graphOf(recorded));
      this.waits.load(others);
      this.ownerTable.load();
      this.timeline.load(this.profile.capture["started-unix-nanos"], this.model.isRolling);
      this.lines.load(this.profile.lines, this.model.names, this.total());
    };
    this.panel.reload(load, titleOf(this.profile, pace), pace !== "report");
  }

  private selected(choice: Choice): void {
    const { model, owners, profile } = this;
    this.waits.show(choice);
    this.ownerTable.show(choice);
    this.timeline.show(choice);
    const hint = profile.event === "cpu" && this.others.length === 0 && h("p", { class: "tooltip-kind" }, WITHOUT_WAITING);
    morph(this.about, [...aboutSelection(profile, owners, choice, model.total), ...(hint ? [hint] : [])]);
    const { measure } = model;
    this.beside.hidden = measure !== null;
    place(this.below, measure ? [this.changes.element] : []);
    if (measure) this.changes.show(changesOf(model.stacks, model.kinds, measure.totals, measure.noise), measure);
    this.lines.showSelection(owners.isWhole(choice));
  }

  private zoomed(part: Parameters<Listener["zoomed"]>[0]): void {
    const { model } = this;
    const isAll = part === null && model.isWhole();
    const functions = isAll ? this.profile.functions : functionsOf(model.stacks, model.kinds, part?.tops);
    if (!model.measure) this.table.show({ functions, total: part?.total ?? model.total, part: part?.name ?? "" });
  }

  /** Returns the weight that lines have shares of: all, or the time that was not idle. */
  private total(): number {
    const busy = (state: WaitState): number => this.owners.weightIn(state, EVERYTHING);
    return this.owners.hasStates() ? busy("blocked") + busy("runnable") : this.profile.total;
  }
}

function titleOf({ event, capture }: ProfileData, pace: Pace): string {
  return pace === "rolling" ? `${profileTitle(event)}, latest ${duration(capture["duration-nanos"] / 1e9)}` : profileTitle(event);
}

function graphOf({ profile, columns }: Recorded): GraphData {
  return { ...profile, columns, sideTotals: null };
}

/** Shows the recording, the selected share of it, and the quality of its stacks. */
function aboutSelection(profile: ProfileData, owners: Owners, choice: Selection, total: number): HTMLElement[] {
  if (owners.isWhole(choice)) return [captureFacts(profile), ...cautionOf(profile.caution), qualityBar(profile)];
  // In a comparison of two spans, the weight of the first one.
  const selected = choice.against ? owners.weight(choice) : total;
  const quality = owners.quality(choice);
  const sentence = selected === 0
    ? `no ${profile.unit} are selected`
    : quality
    ? `${qualitySentence(quality)}; the whole recording lost ${profile.quality.lost}`
    : "unknown for a span of time, because weights are not counts";
  const few = quality && tooFew(quality);
  const part = { ...profile, quality: quality ?? NO_QUALITY, sentence };
  return [captureFacts({ ...profile, selected }), ...cautionOf(few), qualityBar(part)];
}

/**
 * With 100 samples or more, a share's standard error is at most 5 points, as in crates/analysis `amount.rs`.
 */
function tooFew({ complete, truncated, broken, "no-process": without }: ProfileData["quality"]): string | null {
  const count = complete + truncated + broken + without;
  if (count === 0 || count >= 100) return null;
  const points = Math.round(50 / Math.sqrt(count));
  return `Too few to read shares from: of ${count}, a share is off by up to ${points} points (one standard error).`;
}
