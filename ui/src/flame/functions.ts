// The table of functions of a selection: the sums that crates/analysis `functions.rs` makes of the
// whole profile.

import type { FrameKind, ProfileData } from "../wire.ts";
import { isAmong } from "./palette.ts";
import type { Stacks } from "./stacks.ts";

export type FunctionColumns = ProfileData["functions"];

/** Own, leaf and total weight of every function that occurs. */
export function functionsOf(stacks: Stacks, kinds: FrameKind[]): FunctionColumns {
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
    if (active[frame] === 0) total[frame] += stacks.total[node];
    leaf[frame] += stacks.leaf[node];
    if (!isErlang) own[frame] += stacks.leaf[node];
    if (erlang >= 0) own[erlang] += stacks.leaf[node];
    active[frame] += 1;
    path.push(node);
    innermost.push(erlang);
  }
  const frames = kinds.map((_, frame) => frame).filter((frame) => total[frame] > 0);
  const column = (weights: Float64Array): number[] => frames.map((frame) => weights[frame]);
  return { frame: frames, own: column(own), leaf: column(leaf), total: column(total) };
}
