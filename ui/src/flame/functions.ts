// The table of functions of a selection: the sums that crates/analysis `functions.rs` makes of the
// whole profile, and those of `diff.rs` for two of its spans.

import type { ChangeColumns, FrameKind, Noise, ProfileData } from "../wire.ts";
import { isBeyondNoise, type Pair } from "./noise.ts";
import { isAmong } from "./palette.ts";
import { leavesOf, type Stacks } from "./stacks.ts";

export type FunctionColumns = ProfileData["functions"];

/** By frame. */
interface Sums {
  own: Float64Array;
  leaf: Float64Array;
  total: Float64Array;
}

/** Own, leaf and total weight of every function that occurs. */
export function functionsOf(stacks: Stacks, kinds: FrameKind[]): FunctionColumns {
  const { own, leaf, total } = sumsOf(stacks, kinds, stacks.total, stacks.leaf);
  const frames = kinds.map((_, frame) => frame).filter((frame) => total[frame] > 0);
  const column = (weights: Float64Array): number[] => frames.map((frame) => weights[frame]);
  return { frame: frames, own: column(own), leaf: column(leaf), total: column(total) };
}

/** Own and total weight of every function on both sides of a comparison, whose weights are `totals`. */
export function changesOf(stacks: Stacks, kinds: FrameKind[], totals: Pair, noise: Noise): ChangeColumns {
  const [before, after] = stacks.sides.map((side) => sumsOf(stacks, kinds, side, leavesOf(stacks, side))) as [Sums, Sums];
  const frames = kinds.map((_, frame) => frame).filter((frame) => before.total[frame] + after.total[frame] > 0);
  const pair = (key: "own" | "total", frame: number): Pair => [before[key][frame], after[key][frame]];
  const column = (key: "own" | "total", side: 0 | 1): number[] => frames.map((frame) => pair(key, frame)[side]);
  const change = ([first, second]: Pair): number => second / totals[1] - first / totals[0];
  const changes = (key: "own" | "total"): number[] => frames.map((frame) => change(pair(key, frame)));
  const marks = (key: "own" | "total"): boolean[] =>
    frames.map((frame) => isBeyondNoise(pair(key, frame), totals, noise));
  return {
    frame: frames,
    "own-before": column("own", 0),
    "own-after": column("own", 1),
    "own-change": changes("own"),
    "own-beyond-noise": marks("own"),
    "total-before": column("total", 0),
    "total-after": column("total", 1),
    "total-change": changes("total"),
    "total-beyond-noise": marks("total"),
  };
}

/** `totals` has for each node a weight with all below it, `leaves` what of it ends there. */
function sumsOf(stacks: Stacks, kinds: FrameKind[], totals: Float64Array, leaves: Float64Array): Sums {
  const own = new Float64Array(kinds.length);
  const leaf = new Float64Array(kinds.length);
  const total = new Float64Array(kinds.length);
  const active = new Int32Array(kinds.length);
  const path: number[] = [];
  const innermost: number[] = [];
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) {
      active[stacks.frame[path.pop() as number]] -= 1;
      innermost.pop();
    }
    const frame = stacks.frame[node];
    const isErlang = isAmong(kinds[frame], "erlang");
    const above = innermost[innermost.length - 1] ?? -1;
    const erlang = isErlang ? frame : above;
    if (active[frame] === 0) total[frame] += totals[node];
    leaf[frame] += leaves[node];
    if (!isErlang) own[frame] += leaves[node];
    if (erlang >= 0) own[erlang] += leaves[node];
    active[frame] += 1;
    path.push(node);
    innermost.push(erlang);
  }
  return { own, leaf, total };
}
