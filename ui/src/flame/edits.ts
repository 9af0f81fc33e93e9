// Changes that a reader makes to the stacks: only those with a function, those without it, or the function joined with
// what it calls, with itself, or with its caller. Arithmetic only.

import { Merger } from "./merger.ts";
import { leavesOf, parentsOf, type Stacks } from "./stacks.ts";

/** The kinds of changes, in the order of the menu, with their names. */
export const EDITS = {
  focus: "Focus: only its stacks, from it on",
  exclude: "Exclude: the stacks without it",
  collapse: "Collapse: it with all that it calls",
  recursion: "Collapse recursion: from its first call to its last",
  hide: "Hide: its callees below its callers",
} as const;

export type EditKind = keyof typeof EDITS;

export interface Edit {
  kind: EditKind;
  /** Name of the function. */
  name: string;
}

/** Names an edit for a person. */
export function editName({ kind, name }: Edit): string {
  const words = { focus: "Only", exclude: "Without", collapse: "Collapsed", recursion: "Without recursion of", hide: "Hidden" };
  return `${words[kind]} ${name}`;
}

/** Reads an edit of an address, such as `focus:lists:map/2`. */
export function editOf(text: string): Edit | null {
  const at = text.indexOf(":");
  const [kind, name] = [text.slice(0, at), text.slice(at + 1)];
  return Object.hasOwn(EDITS, kind) && name ? { kind: kind as EditKind, name } : null;
}

const OUTSIDE = -1;
const DROPPED = -2;

/** Returns the stacks after one edit of the function `frame`. */
export function edited(stacks: Stacks, kind: EditKind, frame: number): Stacks {
  const parents = parentsOf(stacks);
  const leaves = [stacks.self, ...stacks.sides.map((side) => leavesOf(stacks, side))];
  const out = new Merger(stacks, leaves.length);
  /** The new node of each node, or the reason for none. */
  const place = new Int32Array(stacks.length);
  for (let node = 0; node < stacks.length; node++) {
    const above = parents[node] < 0 ? OUTSIDE : place[parents[node]];
    place[node] = placed(kind, stacks, node, frame, above, out);
  }
  for (let node = 0; node < stacks.length; node++) {
    if (place[node] >= 0) leaves.forEach((leaf, which) => out.add(place[node], which, leaf[node]));
  }
  return out.stacks();
}

/** Returns the new node of a node, whose parent's place is `above`. */
function placed(kind: EditKind, stacks: Stacks, node: number, frame: number, above: number, out: Merger): number {
  const isIt = stacks.frame[node] === frame;
  if (above === DROPPED || (kind === "exclude" && isIt)) return DROPPED;
  if (kind === "hide" && isIt) return above;
  if (kind === "focus" && !isIt && above === OUTSIDE) return OUTSIDE;
  if (kind === "collapse" && above >= 0 && out.frame(above) === frame) return above;
  const first = kind === "recursion" && isIt ? out.withFrame(above, frame) : -1;
  return first >= 0 ? first : out.child(above, node, kind === "recursion" && isIt);
}
