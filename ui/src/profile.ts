// Profile section of the page: states of time off the CPU, flame graph with the table of functions beside it, lines of
// the selected function, owners, times. All parts follow the reader's selection.

import { ChangeTable } from "./changes.ts";
import { h } from "./dom.ts";
import { changesOf, functionsOf } from "./flame/functions.ts";
import { Model } from "./flame/model.ts";
import { EVERYTHING, NO_QUALITY, type Owners, type Selection } from "./flame/owners.ts";
import { FlamePanel } from "./flame/panel.ts";
import { nounOf } from "./format.ts";
import { profileTitle } from "./header.ts";
import { TimelinePanel } from "./timeline.ts";
import { LinesPanel } from "./lines.ts";
import { captureFacts, cautionOf, qualityBar, qualitySentence } from "./quality.ts";
import { FunctionTable } from "./table.ts";
import { WaitsPanel } from "./waits.ts";
import type { Columns } from "./columns/decode.ts";
import type { OtherPage, ProfileData, WaitState } from "./wire.ts";
import { OwnerTable } from "./owner-table.ts";

/** Says where waiting is shown, if a page has CPU time alone. */
const NO_WAITING =
  "Time in which threads waited is not in a CPU profile. To see it, record the off-cpu event too: " +
  "rabbitscope profile --event cpu,off-cpu, or profile.event of a scenario.";

export function profilePart(profile: ProfileData, columns: Columns, others: OtherPage[]): HTMLElement[] {
  const model = new Model({ ...profile, columns, sideTotals: null });
  const owners = model.owners as Owners;
  const choose = (change: Partial<Selection>): void => panel.choose(change, true);
  const waits = owners.hasStates() ? new WaitsPanel(owners, choose, others) : null;
  const ownerTable = owners.dimensions().length > 0 ? new OwnerTable(owners, profile.unit, choose) : null;
  const timeline = owners.hasTimes() ? new TimelinePanel(owners, profile.unit, choose) : null;
  const table = new FunctionTable(profile.functions, model, {
    find: (frame) => panel.searchFrame(frame),
    centre: (frame) => panel.showAround(frame),
  });
  const caution = "Only further spans can exclude a difference between equal spans.";
  const changes = new ChangeTable(model, caution, (frame) => panel.searchFrame(frame));
  const [beside, below] = [h("div", { class: "beside" }, table.element), h("div")];
  const lines = linesPanel(profile, model, owners);
  const about = h("div", { class: "about-recording" });
  const panel: FlamePanel = new FlamePanel(model, profileTitle(profile.event), beside, [about], {
    selected(choice) {
      waits?.show(choice);
      ownerTable?.show(choice);
      timeline?.show(choice);
      const isWhole = owners.isWhole(choice);
      about.replaceChildren(...aboutSelection(profile, owners, choice, model.total));
      if (profile.event === "cpu" && others.length === 0) about.append(h("p", { class: "tooltip-kind" }, NO_WAITING));
      const { measure } = model;
      beside.hidden = measure !== null;
      below.replaceChildren(...(measure ? [changes.element] : []));
      if (measure) changes.show(changesOf(model.stacks, model.kinds, measure.totals, measure.noise), measure);
      lines.showSelection(isWhole);
    },
    zoomed(part) {
      const isAll = part === null && model.isWhole();
      const functions = isAll ? profile.functions : functionsOf(model.stacks, model.kinds, part?.tops);
      if (!model.measure) table.show({ functions, total: part?.total ?? model.total, part: part?.name ?? "" });
    },
    searched: (text) => table.find(text),
    focused: (frame) => lines.show(frame),
  });
  const parts = [waits?.element, panel.element, below, lines.element, ownerTable?.element, timeline?.element];
  return parts.filter((part) => part !== undefined);
}

function linesPanel(profile: ProfileData, model: Model, owners: Owners): LinesPanel {
  const { lines, unit } = profile;
  if (!owners.hasStates()) return new LinesPanel(lines, model.names, profile.total, `all ${nounOf(unit)}`, unit);
  const busy = (state: WaitState): number => owners.weightIn(state, EVERYTHING);
  return new LinesPanel(lines, model.names, busy("blocked") + busy("runnable"), "blocked and runnable time", unit);
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
