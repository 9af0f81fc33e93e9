// Stack tree of the data, in columns. Runs of one function with different length are different nodes here; view.ts
// turns them into the shown tree, callers.ts into the tree from the leaves.

import type { StackColumns } from "../wire.ts";

/** One number per node. The width of an element follows from the largest one. */
export interface Numbers extends Iterable<number> {
  readonly length: number;
  readonly [node: number]: number;
  indexOf(value: number): number;
  reduce<T>(callback: (before: T, value: number) => T, first: T): T;
}

/** The tree in pre-order. */
export interface Stacks {
  length: number;
  frame: Numbers;
  /** First node after the subtree. The children of `n` are `n + 1`, then the `end` of each. */
  end: Numbers;
  /** Activations in a row, at least 1. */
  run: Numbers;
  /** Kind of the frame in this place, as a number of the profile. */
  kind: Uint8Array;
  self: Numbers;
  total: Numbers;
  /** Totals of further weights, such as those of both profiles of a comparison. */
  sides: Numbers[];
  /** A number that does not depend on the selection; null if it is the node itself, as in a whole profile. */
  origin: Float64Array | null;
}

/** Decodes the tree. `kindOf` has the kind of each frame, independent of its place. */
export function decodeStacks(columns: StackColumns, kindOf: Uint8Array, sideLeaves: number[][] = []): Stacks {
  const length = columns.frame.length;
  const end = new Int32Array(length);
  const run = new Int32Array(length).fill(1);
  const kind = Uint8Array.from(columns.frame, (frame) => kindOf[frame]);
  const sums = [columns.self, ...sideLeaves].map((leaves) => new Float64Array(leaves));
  columns["run-node"].forEach((node, at) => (run[node] = columns["run-length"][at] ?? 1));
  columns["kind-node"].forEach((node, at) => (kind[node] = columns["kind-number"][at] ?? 0));
  const path: number[] = [];
  const close = (levels: number, next: number): void => {
    for (let level = 0; level < levels; level++) {
      const node = path.pop() as number;
      end[node] = next;
      const parent = path[path.length - 1];
      if (parent !== undefined) for (const sum of sums) sum[parent] += sum[node];
    }
  };
  for (let node = 0; node < length; node++) {
    close(columns.climb[node] ?? 0, node);
    path.push(node);
  }
  close(path.length, length);
  const [total, ...sides] = sums as [Float64Array, ...Float64Array[]];
  return { length, frame: new Int32Array(columns.frame), end, run, kind, self: new Float64Array(columns.self), total, sides, origin: null };
}

/** Returns the number of a node that does not depend on the selection, see {@link Stacks.origin}. */
export function originOf(stacks: Stacks, node: number): number {
  return stacks.origin ? stacks.origin[node] : node;
}

/** Returns the node with this number; -1 if there is none. */
export function nodeOf(stacks: Stacks, origin: number): number {
  if (stacks.origin) return stacks.origin.indexOf(origin);
  return Number.isInteger(origin) && origin >= 0 && origin < stacks.length ? origin : -1;
}

/** Returns the path from a root to `node`, both included. */
export function pathDown(stacks: Stacks, node: number): number[] {
  const path: number[] = [];
  for (let at = 0; at <= node; ) {
    if (stacks.end[at] <= node) {
      at = stacks.end[at];
    } else {
      path.push(at);
      at += 1;
    }
  }
  return path;
}

/** Returns the weight that ends in each node, from totals of subtrees such as one of {@link Stacks.sides}. */
export function leavesOf(stacks: Stacks, totals: Numbers): Float64Array {
  const leaves = Float64Array.from(totals);
  const parent = parentsOf(stacks);
  for (let node = 0; node < stacks.length; node++) if (parent[node] >= 0) leaves[parent[node]] -= totals[node];
  return leaves;
}

const PARENTS = new WeakMap<Stacks, Int32Array>();

/** Returns the parent of each node, -1 for a root. The column is made at the first use and kept with the stacks. */
export function parentsOf(stacks: Stacks): Int32Array {
  const known = PARENTS.get(stacks);
  if (known) return known;
  const parent = new Int32Array(stacks.length);
  let above = -1;
  for (let node = 0; node < stacks.length; node++) {
    while (above >= 0 && stacks.end[above] <= node) above = parent[above];
    parent[node] = above;
    above = node;
  }
  PARENTS.set(stacks, parent);
  return parent;
}

/** Returns the nodes directly below `node`; with -1 the roots. */
export function childrenOf(stacks: Stacks, node: number): number[] {
  const children = [];
  const end = node < 0 ? stacks.length : stacks.end[node];
  for (let child = node + 1; child < end; child = stacks.end[child]) children.push(child);
  return children;
}
