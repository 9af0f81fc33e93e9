// Two profiles against each other: their recordings, the graph of changes, the table of changes.

import { ChangeTable } from "./changes.ts";
import { h } from "./dom.ts";
import { changesOf } from "./flame/functions.ts";
import { Model } from "./flame/model.ts";
import { noChange } from "./flame/noise.ts";
import { FlamePanel } from "./flame/panel.ts";
import { childrenOf } from "./flame/stacks.ts";
import type { Columns } from "./columns/decode.ts";
import { profileTitle } from "./header.ts";
import { captureFacts, qualityBar } from "./quality.ts";
import type { ChangeColumns, DiffData, DiffSide } from "./wire.ts";

export function diffPart(diff: DiffData, columns: Columns): HTMLElement[] {
  const model = new Model({
    unit: diff.unit,
    total: childrenOf(columns.stacks, -1).reduce((sum, root) => sum + columns.stacks.total[root], 0),
    kinds: diff.kinds,
    columns,
    sideTotals: [diff.before.total, diff.after.total],
    noise: diff.noise,
    cost: diff.cost,
  });
  // The sentence of the terminal.
  const verdict = h("p", { class: "caution", role: "note" }, noChange(diff.noise));
  const compare = (): void => {
    const { measure } = model;
    if (!measure) return;
    const isGiven = measure.name === "share" && model.isWhole();
    const changes = isGiven ? diff.changes : changesOf(model.stacks, model.kinds, measure.totals, measure.noise);
    table.show(changes, measure);
    verdict.hidden = hasChange(changes);
  };
  const caution = diff.noise.runs
    ? "Runs differ more than sampling does, so the graph counts correspondingly fewer samples."
    : "Only repeated runs can exclude a difference between equal runs.";
  const table = new ChangeTable(model, caution, (frame) => panel.searchFrame(frame));
  const listener = { selected: compare, zoomed: () => {}, searched: () => {}, focused: () => {} };
  const panel: FlamePanel = new FlamePanel(model, `${profileTitle(diff.event)}: what changed`, null, [sides(diff)], listener);
  return [verdict, panel.element, table.element];
}

/** Returns whether a row of the table is beyond noise. */
function hasChange({ "own-beyond-noise": own, "total-beyond-noise": total }: ChangeColumns): boolean {
  return [...own, ...total].some((isBeyond) => isBeyond);
}

function sides(diff: DiffData): HTMLElement {
  const side = (label: string, profile: DiffSide): HTMLElement => {
    const recording = { ...profile, unit: diff.unit };
    return h("div", {}, h("h3", {}, `${label}: ${profile.name}`), captureFacts(recording), qualityBar(recording));
  };
  return h("div", { class: "sides" }, side("Before", diff.before), side("After", diff.after));
}
