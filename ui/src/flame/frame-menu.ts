// The menu of a frame: callers and callees, changes of the stacks, its name.

import { copy, type Item, openMenu } from "../menu.ts";
import type { Choice } from "../link.ts";
import { type EditKind, EDITS } from "./edits.ts";

/** Opens the menu of a function at a place of the window. */
export function openFrameMenu(
  name: string,
  choice: Choice,
  choose: (change: Partial<Choice>) => void,
  place: { x: number; y: number; origin: HTMLElement },
): void {
  const edit = (kind: EditKind): Item => ({
    name: EDITS[kind],
    // A zoomed node may be gone after the change.
    act: () => choose({ edits: [...choice.edits, { kind, name }], zoom: "" }),
  });
  const items: Item[] = [
    { name: "Callers and callees", act: () => choose({ around: name }) },
    ...(Object.keys(EDITS) as EditKind[]).map(edit),
    { name: "Copy name", act: () => void copy(name) },
  ];
  openMenu(name, items, place.x, place.y, place.origin);
}
