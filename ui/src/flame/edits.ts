// Changes that a reader makes to the stacks: only those with a function, those without it, or the function joined with
// what it calls, with itself, or with its caller. Arithmetic only.

import { Rewriter } from "./rewriter.ts";
import type { Stacks } from "./stacks.ts";

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

/** Returns the stacks after one edit of the function `frame`. */
export function edited(stacks: Stacks, kind: EditKind, frame: number): Stacks {
  return new Rewriter(stacks, kind, frame).stacks();
}
