// One function with everybody who calls it and everything that it calls: two trees around it.
// Arithmetic only. A function that calls itself, directly or through others, counts once, where it
// stands first on the stack.

import type { Stacks } from "./stacks.ts";

export interface Sandwich {
  /** Who calls it: the function at the root, its callers above. */
  callers: Stacks;
  /** What it calls: the function at the root. */
  callees: Stacks;
  /** Weight of the stacks that it occurs in. */
  total: number;
}

export function sandwich(stacks: Stacks, frame: number): Sandwich {
  const callers = new Trie();
  const callees = new Trie();
  const path: number[] = [];
  let inside = -1;
  let place: number[] = [];
  let total = 0;
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) path.pop();
    if (inside >= 0 && node >= stacks.end[inside]) inside = -1;
    path.push(node);
    if (inside < 0 && stacks.frame[node] === frame) {
      inside = node;
      total += stacks.total[node];
      let at = -1;
      for (let level = path.length - 1; level >= 0; level--) {
        const above = path[level] as number;
        const run = level === path.length - 1 ? 1 : stacks.run[above];
        at = callers.child(at, stacks.frame[above], run, stacks.kind[above]);
      }
      callers.leaf[at] = (callers.leaf[at] as number) + stacks.total[node];
      place = [];
    }
    if (inside >= 0) {
      const depth = path.length - 1 - path.lastIndexOf(inside);
      const above = depth === 0 ? -1 : (place[depth - 1] as number);
      const at = callees.child(above, stacks.frame[node], stacks.run[node], stacks.kind[node]);
      callees.leaf[at] = (callees.leaf[at] as number) + stacks.leaf[node];
      place[depth] = at;
    }
  }
  return { callers: callers.stacks(), callees: callees.stacks(), total };
}

/** Paths from a root, merged; runs of different length are one node. */
class Trie {
  readonly frame: number[] = [];
  readonly leaf: number[] = [];
  private readonly run: number[] = [];
  private readonly kind: number[] = [];
  private readonly parent: number[] = [];
  private readonly children = new Map<number, Map<number, number>>();

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
      this.leaf.push(0);
      this.run.push(run);
      this.kind.push(kind);
      this.parent.push(parent);
    }
    this.run[node] = Math.max(this.run[node] as number, run);
    return node;
  }

  /** In pre-order, the heaviest first. */
  stacks(): Stacks {
    const length = this.frame.length;
    const total = Float64Array.from(this.leaf);
    for (let node = length - 1; node >= 0; node--) {
      const above = this.parent[node] as number;
      if (above >= 0) total[above] += total[node];
    }
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
    return {
      length,
      end,
      frame: Int32Array.from(order, (node) => this.frame[node] as number),
      run: Int32Array.from(order, (node) => this.run[node] as number),
      kind: Uint8Array.from(order, (node) => this.kind[node] as number),
      leaf: Float64Array.from(order, (node) => this.leaf[node] as number),
      total: Float64Array.from(order, (node) => total[node]),
      sides: [],
      origin: Float64Array.from(order),
    };
  }
}
