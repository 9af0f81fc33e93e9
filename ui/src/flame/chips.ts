// The choices that restrict the pictures, each with a button that removes it.

import { h } from "../dom.ts";
import { seconds } from "../format.ts";
import type { Choice } from "../link.ts";
import { editName } from "./edits.ts";
import type { Model } from "./model.ts";
import type { Range } from "./records.ts";

export function chipsOf(choice: Choice, model: Model, choose: (change: Partial<Choice>) => void): HTMLElement[] {
  const chip = (text: string, change: Partial<Choice>): HTMLElement =>
    h("button", { type: "button", class: "filter-chip", "aria-label": `Remove: ${text}`, click: () => choose(change) }, `${text} ✕`);
  const step = (model.owners?.data["step-nanos"] ?? 0) / 1e9;
  const span = ({ from, to }: Range): string => `${seconds(from * step)} to ${seconds(to * step)} s`;
  const { owner, range, against, edits } = choice;
  const against_ = against ? ` against ${span(against)}` : "";
  return [
    ...(owner && model.owners ? [chip(`Only ${model.owners.nameOf(owner)}`, { owner: "" })] : []),
    ...(range ? [chip(`${span(range)}${against_}`, { range: null, against: null })] : []),
    ...edits.map((edit) => chip(editName(edit), { edits: edits.filter((other) => other !== edit), zoom: "" })),
  ];
}
