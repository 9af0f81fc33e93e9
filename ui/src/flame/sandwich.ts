// One function with all its callers and callees: two trees around it. Arithmetic only. A function that calls
// itself, directly or indirectly, counts once, at its first place on the stack.

import { callersView } from "./callers.ts";
import { calleesView } from "./folded.ts";
import type { Stacks } from "./stacks.ts";
import type { View } from "./view.ts";

export interface Sandwich {
  /** The callers: the function below the root of all, its callers below it. */
  callers: View;
  /** The callees: the function below the root of all, its callees below it. */
  callees: View;
  /** Weight of the stacks in which it occurs, and of each side of a comparison. */
  total: number;
  sides: number[];
  /** The function calls itself. */
  isRecursive: boolean;
}

export function sandwich(stacks: Stacks, frame: number): Sandwich {
  const places: number[] = [];
  let end = 0;
  let isRecursive = false;
  for (let node = 0; node < stacks.length; node++) {
    if (stacks.frame[node] !== frame) continue;
    isRecursive ||= node < end || stacks.run[node] > 1;
    if (node < end) continue;
    places.push(node);
    end = stacks.end[node];
  }
  const callees = calleesView(stacks, places);
  const sides = callees.sides.map((side) => side[0] as number);
  return { callers: callersView(stacks, places), callees, total: callees.total[0] as number, sides, isRecursive };
}
