// One function with all its callers and callees: two trees around it. Arithmetic only. A function that calls
// itself, directly or indirectly, counts once, at its first place on the stack.

import { leavesOf, type Stacks } from "./stacks.ts";

export interface Sandwich {
  /** The callers: the function at the root, its callers above. */
  callers: Stacks;
  /** The callees: the function at the root. */
  callees: Stacks;
  /** Weight of the stacks in which it occurs, and of each side of a comparison. */
  total: number;
  sides: number[];
  /** The function calls itself. */
  isRecursive: boolean;
}

export function sandwich(stacks: Stacks, frame: number): Sandwich {
  const totals = [stacks.total, ...stacks.sides];
  const leaves = [stacks.self, ...stacks.sides.map((side) => leavesOf(stacks, side))];
  const callers = new Trie(totals.length);
  const callees = new Trie(totals.length);
  const sums = totals.map(() => 0);
  const path: number[] = [];
  let inside = -1;
  let place: number[] = [];
  let isRecursive = false;
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) path.pop();
    if (inside >= 0 && node >= stacks.end[inside]) inside = -1;
    path.push(node);
    const isIt = stacks.frame[node] === frame;
    isRecursive ||= isIt && (inside >= 0 || stacks.run[node] > 1);
    if (inside < 0 && isIt) {
      inside = node;
      totals.forEach((total, which) => (sums[which] = (sums[which] as number) + total[node]));
      callers.add(callersOf(stacks, path, callers), totals, node);
      place = [];
    }
    if (inside >= 0) {
      const depth = path.length - 1 - path.lastIndexOf(inside);
      const above = depth === 0 ? -1 : (place[depth - 1] as number);
      const at = callees.child(above, stacks.frame[node], stacks.run[node], stacks.kind[node]);
      callees.add(at, leaves, node);
      place[depth] = at;
    }
  }
  const [total, ...sides] = sums as [number, ...number[]];
  return { callers: callers.stacks(), callees: callees.stacks(), total, sides, isRecursive };
}

/** Returns the place among the callers that stands for `path`, whose last node is the function. */
function callersOf(stacks: Stacks, path: number[], callers: Trie): number {
  let at = -1;
  for (let level = path.length - 1; level >= 0; level--) {
    const above = path[level] as number;
    const run = level === path.length - 1 ? 1 : stacks.run[above];
    at = callers.child(at, stacks.frame[above], run, stacks.kind[above]);
  }
  return at;
}

/** Paths from a root, merged; runs of different length are one node. */
class Trie {
  private readonly frame: number[] = [];
  /** Weight that ends in each node, by each of the weights. */
  private readonly leaves: number[][];
  private readonly run: number[] = [];
  private readonly kind: number[] = [];
  private readonly parent: number[] = [];
  private readonly children = new Map<number, Map<number, number>>();

  constructor(weights: number) {
    this.leaves = Array.from({ length: weights }, () => []);
  }

  child(parent: number, frame: number, run: number, kind: number): number {
    let siblings = this.children.get(parent);
    if (!siblings) {
      siblings = new Map();
      this.children.set(parent, siblings);
    }
    let node = siblings.get(frame);
    if (node === undefined) {
      node = this.frame.length;
      siblings.set(frame, node);
      this.frame.push(frame);
      for (const leaf of this.leaves) leaf.push(0);
      this.run.push(run);
      this.kind.push(kind);
      this.parent.push(parent);
    }
    this.run[node] = Math.max(this.run[node] as number, run);
    return node;
  }

  /** Adds each weight of the stacks' `node`. */
  add(at: number, weights: Float64Array[], node: number): void {
    weights.forEach((weight, which) => {
      const leaf = this.leaves[which] as number[];
      leaf[at] = (leaf[at] as number) + weight[node];
    });
  }

  /** Returns the stacks in pre-order, the heaviest first. */
  stacks(): Stacks {
    const length = this.frame.length;
    const [total, ...sides] = this.leaves.map((leaf) => this.withAllBelow(leaf)) as [Float64Array, ...Float64Array[]];
    const order: number[] = [];
    const end = new Int32Array(length);
    const visit = (parent: number): void => {
      const siblings = [...(this.children.get(parent)?.values() ?? [])];
      siblings.sort((left, right) => total[right] - total[left] || left - right);
      for (const node of siblings) {
        const at = order.length;
        order.push(node);
        visit(node);
        end[at] = order.length;
      }
    };
    visit(-1);
    const ordered = (column: Float64Array): Float64Array => Float64Array.from(order, (node) => column[node]);
    return {
      length,
      end,
      frame: Int32Array.from(order, (node) => this.frame[node] as number),
      run: Int32Array.from(order, (node) => this.run[node] as number),
      kind: Uint8Array.from(order, (node) => this.kind[node] as number),
      self: ordered(Float64Array.from(this.leaves[0] as number[])),
      total: ordered(total),
      sides: sides.map(ordered),
      origin: Float64Array.from(order),
    };
  }

  private withAllBelow(leaf: number[]): Float64Array {
    const total = Float64Array.from(leaf);
    for (let node = total.length - 1; node >= 0; node--) {
      const above = this.parent[node] as number;
      if (above >= 0) total[above] += total[node];
    }
    return total;
  }
}
