// Stack tree of the data, in typed arrays. Runs of one function with different length are different nodes
// here; view.ts turns them into the shown tree.

import type { StackColumns } from "../wire.ts";

export interface Stacks {
  length: number;
  frame: Int32Array;
  /** First node after the subtree. The children of `n` are `n + 1`, then the `end` of each. */
  end: Int32Array;
  /** Activations in a row, at least 1. */
  run: Int32Array;
  /** Kind of the frame in this place, as a number of the profile. */
  kind: Uint8Array;
  self: Float64Array;
  total: Float64Array;
  /** Totals of further weights, such as those of both profiles of a comparison. */
  sides: Float64Array[];
  /** A number that does not depend on the selection: for a whole profile, the node itself. */
  origin: Float64Array;
}

/** Decodes the tree. `kindOf` has the kind of each frame, independent of its place. */
export function decodeStacks(columns: StackColumns, kindOf: Uint8Array, sideLeaves: number[][] = []): Stacks {
  const length = columns.frame.length;
  const stacks: Stacks = {
    length,
    frame: new Int32Array(columns.frame),
    end: new Int32Array(length),
    run: new Int32Array(length).fill(1),
    kind: Uint8Array.from(columns.frame, (frame) => kindOf[frame]),
    self: new Float64Array(columns.self),
    total: new Float64Array(columns.self),
    sides: sideLeaves.map((leaves) => new Float64Array(leaves)),
    origin: Float64Array.from({ length }, (_, node) => node),
  };
  const sums = [stacks.total, ...stacks.sides];
  columns["run-node"].forEach((node, at) => {
    stacks.run[node] = columns["run-length"][at] ?? 1;
  });
  columns["kind-node"].forEach((node, at) => {
    stacks.kind[node] = columns["kind-number"][at] ?? 0;
  });
  const path: number[] = [];
  const close = (levels: number, next: number): void => {
    for (let level = 0; level < levels; level++) {
      const node = path.pop() as number;
      stacks.end[node] = next;
      const parent = path[path.length - 1];
      if (parent !== undefined) for (const sum of sums) sum[parent] += sum[node];
    }
  };
  for (let node = 0; node < length; node++) {
    close(columns.climb[node] ?? 0, node);
    path.push(node);
  }
  close(path.length, length);
  return stacks;
}

/** Returns the weight that ends in each node, from totals of subtrees such as one of {@link Stacks.sides}. */
export function leavesOf(stacks: Stacks, totals: Float64Array): Float64Array {
  const leaves = Float64Array.from(totals);
  const path: number[] = [];
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) path.pop();
    const parent = path[path.length - 1];
    if (parent !== undefined) leaves[parent] -= totals[node];
    path.push(node);
  }
  return leaves;
}

/** Returns the nodes directly below `node`; with -1 the roots. */
export function childrenOf(stacks: Stacks, node: number): number[] {
  const children = [];
  const end = node < 0 ? stacks.length : stacks.end[node];
  for (let child = node + 1; child < end; child = stacks.end[child]) children.push(child);
  return children;
}
