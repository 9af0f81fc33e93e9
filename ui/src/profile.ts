// The profile's part of the page: quality, whose the samples are and when they were, flame graph,
// lines of the selected function, table of functions.

import { ChangeTable } from "./changes.ts";
import { h } from "./dom.ts";
import { changesOf, functionsOf } from "./flame/functions.ts";
import { Model } from "./flame/model.ts";
import { FlamePanel } from "./flame/panel.ts";
import { HeatPanel } from "./heat.ts";
import { LinesPanel } from "./lines.ts";
import { captureFacts, qualityBar } from "./quality.ts";
import { FunctionTable } from "./table.ts";
import type { ProfileData } from "./wire.ts";
import { WhoPanel } from "./who.ts";

export function profilePart(profile: ProfileData): HTMLElement[] {
  const model = new Model({ ...profile, sides: null });
  const title = `${profile.event === "cpu" ? "CPU" : profile.event} profile`;
  const { owners } = model;
  const who =
    owners && owners.dimensions().length > 0
      ? new WhoPanel(owners, profile.total, (change) => panel.choose(change, true))
      : null;
  const heat = owners?.hasTimes() ? new HeatPanel(owners, profile.unit, (change) => panel.choose(change, true)) : null;
  const table = new FunctionTable(profile.functions, model, {
    find: (frame) => panel.searchFrame(frame),
    centre: (frame) => panel.showAround(frame),
  });
  const caution = "that any two spans of the same recording differ as well, only further spans can rule out.";
  const changes = new ChangeTable(model, caution, (frame) => panel.searchFrame(frame));
  const functions = h("div", {}, table.element);
  const lines = new LinesPanel(profile.lines, model.names, profile.total);
  const panel: FlamePanel = new FlamePanel(model, title, [captureFacts(profile), qualityBar(profile)], {
    selected(choice) {
      who?.show(choice);
      heat?.show(choice);
      const isWhole = !choice.who && !choice.range;
      const { sideTotals, noise } = model;
      functions.replaceChildren(sideTotals ? changes.element : table.element);
      if (sideTotals) changes.show(changesOf(model.stacks, model.kinds, sideTotals, noise), sideTotals);
      else table.show(isWhole ? profile.functions : functionsOf(model.stacks, model.kinds), model.total);
      lines.showSelection(isWhole);
    },
    focused: (frame) => lines.show(frame),
  });
  return [who?.element, heat?.element, panel.element, lines.element, functions].filter((it) => it !== undefined);
}
