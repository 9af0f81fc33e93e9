// Functions that match a search, and their share of the graph.

import type { View } from "./view.ts";

export interface Matches {
  /** 1 for each frame whose name matches. */
  frames: Uint8Array;
  /** Number of matching functions. */
  functions: number;
}

/** Compiles the typed text, case-insensitive; returns a message if it is no regular expression. */
export function compile(text: string): RegExp | string {
  try {
    return new RegExp(text, "i");
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^.*: /, "") : "not a regular expression";
  }
}

export function findMatches(names: string[], pattern: RegExp): Matches {
  const frames = new Uint8Array(names.length);
  let functions = 0;
  names.forEach((name, frame) => {
    if (!pattern.test(name)) return;
    frames[frame] = 1;
    functions += 1;
  });
  return { frames, functions };
}

/**
 * Returns the weight below `root` in or under a match. Nested matches count once. `side` is a number of the view's
 * further weights, or -1 for its total.
 */
export function matchedWeight(view: View, root: number, matches: Matches, side = -1): number {
  for (let node = root; node >= 0; node = view.parent[node]) {
    if (matches.frames[view.frame[node]] === 1) return side < 0 ? view.total[root] : view.sides[side][root];
  }
  return view.marked(root, matches.frames, side);
}

/** Returns an expression that matches only this name. */
export function exactly(name: string): string {
  return `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
}
