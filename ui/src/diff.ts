// Two profiles against each other: their recordings, the graph of changes, the table of changes.

import { ChangeTable } from "./changes.ts";
import { h } from "./dom.ts";
import { Model } from "./flame/model.ts";
import { noChange } from "./flame/noise.ts";
import { FlamePanel } from "./flame/panel.ts";
import { captureFacts, qualityBar } from "./quality.ts";
import type { DiffData, DiffSide } from "./wire.ts";

export function diffPart(diff: DiffData): HTMLElement[] {
  const model = new Model({
    unit: diff.unit,
    total: diff.stacks.self.reduce((sum, weight) => sum + weight, 0),
    frames: diff.frames,
    stacks: diff.stacks,
    sides: {
      leaves: [diff["self-before"], diff["self-after"]],
      totals: [diff.before.total, diff.after.total],
    },
    noise: diff.noise,
  });
  const title = `${diff.event === "cpu" ? "CPU" : diff.event}: what changed`;
  const panel = new FlamePanel(model, title, [...verdict(diff), sides(diff)]);
  const caution = diff.noise.runs
    ? "the graph takes samples for so many fewer as runs differ more than sampling does."
    : "that two runs of the same thing differ as well, only repeated runs can rule out.";
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
  const side = (label: string, it: DiffSide): HTMLElement => {
    const recording = { ...it, unit: diff.unit };
    return h("div", {}, h("h3", {}, `${label}: ${it.name}`), captureFacts(recording), qualityBar(recording));
  };
  return h("div", { class: "sides" }, side("Before", diff.before), side("After", diff.after));
}
