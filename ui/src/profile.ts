// The profile's part of the page: quality, flame graph, table of functions.

import { Model } from "./flame/model.ts";
import { FlamePanel } from "./flame/panel.ts";
import { captureFacts, qualityBar } from "./quality.ts";
import { functionTable } from "./table.ts";
import type { ProfileData } from "./wire.ts";

export function profilePart(profile: ProfileData): HTMLElement[] {
  const model = new Model({ ...profile, sides: null });
  const title = `${profile.event === "cpu" ? "CPU" : profile.event} profile`;
  const panel = new FlamePanel(model, title, [captureFacts(profile), qualityBar(profile)]);
  return [panel.element, functionTable(profile, model, (frame) => panel.searchFrame(frame))];
}
