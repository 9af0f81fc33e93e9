// Stack tree of the data, in columns. Runs of one function with different length are different nodes here; view.ts
// turns them into the shown tree, callers.ts into the tree from the leaves.

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
  origin: Numbers | null;
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

/** Returns the weight that ends in frames of each kind, -1 for a kind that does not occur. */
export function weightsByKind({ kind, self, length }: Stacks): Float64Array {
  const sums = new Float64Array(256);
  const occurs = new Uint8Array(256);
  for (let node = 0; node < length; node++) {
    sums[kind[node]] += self[node];
    occurs[kind[node]] = 1;
  }
  return sums.map((sum, number) => (occurs[number] ? sum : -1));
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
