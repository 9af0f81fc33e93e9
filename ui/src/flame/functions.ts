// Table of functions of a selection. The sums equal those of crates/analysis: of `functions.rs` for the whole
// profile, of `diff.rs` for two of its spans.

import type { ChangeColumns, FrameKind, Noise, ProfileData } from "../wire.ts";
import { isBeyondNoise, type Pair } from "./noise.ts";
import { isAmong } from "./palette.ts";
import { leavesOf, type Numbers, type Stacks } from "./stacks.ts";

export type FunctionColumns = ProfileData["functions"];

/** Sums by frame. */
interface Sums {
  own: Float64Array;
  self: Float64Array;
  total: Float64Array;
}

/** Returns own, self and total weight of every function that occurs; below `tops`, which are apart, if there are some. */
export function functionsOf(stacks: Stacks, kinds: FrameKind[], tops?: number[]): FunctionColumns {
  const { own, self, total } = sumsOf(stacks, kinds, stacks.total, stacks.self, tops);
  const frames = kinds.map((_, frame) => frame).filter((frame) => total[frame] > 0);
  const column = (weights: Float64Array): number[] => frames.map((frame) => weights[frame]);
  return { frame: frames, own: column(own), self: column(self), total: column(total) };
}

/**
 * Returns own and total weight of every function but threads on both sides of a comparison, whose weights are
 * `totals`. The largest change is first.
 */
export function changesOf(stacks: Stacks, kinds: FrameKind[], totals: Pair, noise: Noise): ChangeColumns {
  const [before, after] = stacks.sides.map((side) => sumsOf(stacks, kinds, side, leavesOf(stacks, side))) as [Sums, Sums];
  const frames = kinds
    .map((_, frame) => frame)
    .filter((frame) => kinds[frame] !== "thread" && before.total[frame] + after.total[frame] > 0);
  const rows = frames.map((frame) => {
    const measured = (key: "own" | "total"): Measured => {
      const pair: Pair = [before[key][frame], after[key][frame]];
      const change = pair[1] / totals[1] - pair[0] / totals[0];
      return { pair, change, isBeyond: isBeyondNoise(pair, totals, noise, 2 * frames.length) };
    };
    return { frame, own: measured("own"), total: measured("total"), unexplained: 0 };
  });
  explainCallers(rows, stacks, totals);
  rows.sort((left, right) => order(left, right, kinds));
  const column = <T>(key: "own" | "total", pick: (share: Measured) => T): T[] => rows.map((row) => pick(row[key]));
  return {
    frame: rows.map((row) => row.frame),
    "own-before": column("own", (share) => share.pair[0]),
    "own-after": column("own", (share) => share.pair[1]),
    "own-change": column("own", (share) => share.change),
    "own-beyond-noise": column("own", (share) => share.isBeyond),
    "total-before": column("total", (share) => share.pair[0]),
    "total-after": column("total", (share) => share.pair[1]),
    "total-change": column("total", (share) => share.change),
    "total-beyond-noise": column("total", (share) => share.isBeyond),
  };
}

interface Measured {
  pair: Pair;
  change: number;
  isBeyond: boolean;
}

interface Row {
  frame: number;
  own: Measured;
  total: Measured;
  /** The change of the total share that no called function explains by its own change. */
  unexplained: number;
}

/** Orders rows like crates/analysis `diff/changes.rs`: rows beyond noise first, by their own movement. */
function order(left: Row, right: Row, kinds: FrameKind[]): number {
  const isBeyond = (row: Row): boolean => row.own.isBeyond || row.total.isBeyond;
  const moved = (row: Row): number => {
    const size = (share: Measured, change: number): number => (share.isBeyond || !isBeyond(row) ? Math.abs(change) : 0);
    return Math.max(size(row.own, row.own.change), size(row.total, row.unexplained));
  };
  const rank = (row: Row): number => (isAmong(kinds[row.frame], "erlang") ? 0 : 1);
  const total = (row: Row): number => Math.abs(row.total.change);
  return (
    Number(isBeyond(right)) - Number(isBeyond(left)) ||
    moved(right) - moved(left) ||
    rank(left) - rank(right) ||
    total(right) - total(left) ||
    left.frame - right.frame
  );
}

/** Subtracts from the change of each caller the part that went through functions that changed themselves. */
function explainCallers(rows: Row[], stacks: Stacks, totals: Pair): void {
  const moved = new Map(rows.filter((row) => row.total.isBeyond).map((row) => [row.frame, row.total.change]));
  const explained = new Map<number, number>();
  for (const { caller, callee, sides } of callsTo(stacks, moved).values()) {
    const through = sides[1] / totals[1] - sides[0] / totals[0];
    const most = moved.get(callee) as number;
    if (through * most <= 0) continue;
    const part = Math.min(Math.abs(through), Math.abs(most)) * Math.sign(most);
    explained.set(caller, (explained.get(caller) ?? 0) + part);
  }
  for (const row of rows) row.unexplained = row.total.change - (explained.get(row.frame) ?? 0);
}

interface Call {
  caller: number;
  callee: number;
  sides: Pair;
}

/** Returns weights by caller and callee, for wanted callees; a stack counts once for each pair. */
function callsTo(stacks: Stacks, wanted: Map<number, number>): Map<string, Call> {
  const calls = new Map<string, Call>();
  const path: number[] = [];
  const active: string[] = [];
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) {
      path.pop();
      active.pop();
    }
    const above = path[path.length - 1];
    const callee = stacks.frame[node];
    const caller = above === undefined ? -1 : stacks.frame[above];
    const key = caller >= 0 && caller !== callee && wanted.has(callee) ? `${caller} ${callee}` : "";
    if (key && !active.includes(key)) {
      const call = calls.get(key) ?? { caller, callee, sides: [0, 0] };
      for (const side of [0, 1] as const) call.sides[side] += stacks.sides[side]?.[node] ?? 0;
      calls.set(key, call);
    }
    path.push(node);
    active.push(key);
  }
  return calls;
}

/**
 * Sums weights by frame. `totals` has each node's weight with its subtree, `leaves` the weight that ends
 * there.
 */
function sumsOf(stacks: Stacks, kinds: FrameKind[], totals: Numbers, leaves: Numbers, tops: number[] = [-1]): Sums {
  const [own, self, total] = [new Float64Array(kinds.length), new Float64Array(kinds.length), new Float64Array(kinds.length)];
  const active = new Int32Array(kinds.length);
  const isErlang = Uint8Array.from(kinds, (kind) => Number(isAmong(kind, "erlang")));
  const { frame: frames, end: ends } = stacks;
  /** The nodes above in order, and the innermost Erlang frame of each. */
  const path: number[] = [];
  const innermost: number[] = [-1];
  let depth = 0;
  for (const top of [...tops].sort((left, right) => left - right)) {
    const end = top < 0 ? stacks.length : ends[top];
    for (let node = Math.max(top, 0); node < end; node++) {
      while (depth > 0 && ends[path[depth - 1]] <= node) active[frames[path[--depth]]] -= 1;
      const [frame, leaf] = [frames[node], leaves[node]];
      const erlang = isErlang[frame] === 1 ? frame : innermost[depth];
      if (active[frame]++ === 0) total[frame] += totals[node];
      self[frame] += leaf;
      if (erlang !== frame) own[frame] += leaf;
      if (erlang >= 0) own[erlang] += leaf;
      path[depth++] = node;
      innermost[depth] = erlang;
    }
  }
  return { own, self, total };
}
