// Two profiles against each other: their recordings, the graph of changes, the table of changes.

import { ChangeTable } from "./changes.ts";
import { h } from "./dom.ts";
import { Model } from "./flame/model.ts";
import { noChange } from "./flame/noise.ts";
import { FlamePanel } from "./flame/panel.ts";
import { childrenOf } from "./flame/stacks.ts";
import { captureFacts, qualityBar } from "./quality.ts";
import type { Columns } from "./columns/decode.ts";
import type { DiffData, DiffSide } from "./wire.ts";

export function diffPart(diff: DiffData, columns: Columns): HTMLElement[] {
  const model = new Model({
    unit: diff.unit,
    total: childrenOf(columns.stacks, -1).reduce((sum, root) => sum + columns.stacks.total[root], 0),
    kinds: diff.kinds,
    columns,
    sideTotals: [diff.before.total, diff.after.total],
    noise: diff.noise,
  });
  const title = `${diff.event === "cpu" ? "CPU" : diff.event}: what changed`;
  const panel = new FlamePanel(model, title, [...verdict(diff), sides(diff)]);
  const caution = diff.noise.runs
    ? "Runs differ more than sampling does, so the graph counts correspondingly fewer samples."
    : "Only repeated runs can exclude a difference between equal runs.";
  const table = new ChangeTable(model, caution, (frame) => panel.searchFrame(frame), diff.cost);
  table.show(diff.changes, [diff.before.total, diff.after.total]);
  return [panel.element, table.element];
}

/** Returns the sentence of the terminal for a comparison without changes. */
function verdict(diff: DiffData): HTMLElement[] {
  const { "own-beyond-noise": own, "total-beyond-noise": total } = diff.changes;
  const hasChange = [...own, ...total].some((isBeyond) => isBeyond);
  return hasChange ? [] : [h("p", { class: "caution" }, noChange(diff.noise))];
}

function sides(diff: DiffData): HTMLElement {
  const side = (label: string, profile: DiffSide): HTMLElement => {
    const recording = { ...profile, unit: diff.unit };
    return h("div", {}, h("h3", {}, `${label}: ${profile.name}`), captureFacts(recording), qualityBar(recording));
  };
  return h("div", { class: "sides" }, side("Before", diff.before), side("After", diff.after));
}
