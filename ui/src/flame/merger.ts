// Paths of a stack tree merged by function and length of run, in columns: a tree may have millions of nodes. Arithmetic
// only.

import { originOf, type Stacks } from "./stacks.ts";

const NONE = -1;

export class Merger {
  private length = 0;
  /** For each new node: the first old node that it stands for, its parent, and its length of run. */
  private readonly source: Int32Array;
  private readonly parent: Int32Array;
  private readonly run: Int32Array;
  private readonly leaves: Float64Array[];
  /** Chains of nodes with the same hash: the first of each, and the next. */
  private readonly heads: Int32Array;
  private readonly next: Int32Array;

  /** An edit never makes more nodes than there are. */
  constructor(
    private readonly from: Stacks,
    weights: number,
  ) {
    const most = from.length;
    this.source = new Int32Array(most);
    this.parent = new Int32Array(most);
    this.run = new Int32Array(most);
    this.next = new Int32Array(most);
    this.leaves = Array.from({ length: weights }, () => new Float64Array(most));
    this.heads = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(most, 16)))).fill(NONE);
  }

  frame(node: number): number {
    return this.from.frame[this.source[node]];
  }

  /** Returns the nearest node at or above `node` with this function; -1 if there is none. */
  withFrame(node: number, frame: number): number {
    let at = node;
    while (at >= 0 && this.frame(at) !== frame) at = this.parent[at];
    return at;
  }

  /** Returns the node below `parent` (none if negative) for a node of the old stacks. */
  child(parent: number, node: number, isFolded: boolean): number {
    const above = Math.max(parent, NONE);
    const frame = this.from.frame[node];
    const run = isFolded ? 1 : this.from.run[node];
    const head = hash(above, frame, run) & (this.heads.length - 1);
    for (let at = this.heads[head]; at !== NONE; at = this.next[at]) {
      if (this.parent[at] === above && this.run[at] === run && this.frame(at) === frame) return at;
    }
    const made = this.length++;
    this.source[made] = node;
    this.parent[made] = above;
    this.run[made] = run;
    this.next[made] = this.heads[head];
    this.heads[head] = made;
    return made;
  }

  add(node: number, which: number, weight: number): void {
    (this.leaves[which] as Float64Array)[node] += weight;
  }

  /** Returns the stacks in pre-order, the heaviest first. Nodes without weight are left out. */
  stacks(): Stacks {
    const sums = this.leaves.map((leaf) => this.withAllBelow(leaf));
    const [order, end] = this.ordered(sums[0] as Float64Array);
    const { from, source } = this;
    const [total, ...sides] = sums.map((sum) => picked(sum, order)) as [Float64Array, ...Float64Array[]];
    const frame = new Int32Array(order.length);
    const kind = new Uint8Array(order.length);
    const origin = new Float64Array(order.length);
    for (let at = 0; at < order.length; at++) {
      const old = source[order[at]];
      frame[at] = from.frame[old];
      kind[at] = from.kind[old];
      origin[at] = originOf(from, old);
    }
    const self = picked(this.leaves[0] as Float64Array, order);
    return { length: order.length, end, frame, run: Int32Array.from(picked(this.run, order)), kind, self, total, sides, origin };
  }

  /** Parents come before their children. */
  private withAllBelow(leaf: Float64Array): Float64Array {
    const total = leaf.slice(0, this.length);
    for (let node = this.length - 1; node >= 0; node--) {
      const above = this.parent[node];
      if (above !== NONE) total[above] += total[node];
    }
    return total;
  }

  /** Returns the nodes with weight in pre-order, and the end of the subtree of each place. */
  private ordered(total: Float64Array): [Int32Array, Int32Array] {
    const { first, after } = this.siblings(total);
    const order = new Int32Array(this.length);
    const end = new Int32Array(this.length);
    let count = 0;
    /** Nodes to enter, and places to close as their complement. */
    const waiting: number[] = [];
    const enter = (head: number): void => {
      if (head === NONE) return;
      if (after[head] === NONE) {
        waiting.push(head);
        return;
      }
      const siblings: number[] = [];
      for (let node = head; node !== NONE; node = after[node]) siblings.push(node);
      siblings.sort((left, right) => total[left] - total[right] || right - left);
      for (const node of siblings) waiting.push(node);
    };
    enter(first[this.length]);
    while (waiting.length > 0) {
      const node = waiting.pop() as number;
      if (node < 0) {
        end[~node] = count;
        continue;
      }
      waiting.push(~count);
      order[count++] = node;
      enter(first[node]);
    }
    return [order.subarray(0, count), end.slice(0, count)];
  }

  /** Returns the first child with weight of each node and of the whole (the last place), and the next sibling. */
  private siblings(total: Float64Array): { first: Int32Array; after: Int32Array } {
    const first = new Int32Array(this.length + 1).fill(NONE);
    const after = new Int32Array(this.length).fill(NONE);
    for (let node = 0; node < this.length; node++) {
      if (total[node] === 0) continue;
      const above = this.parent[node] === NONE ? this.length : this.parent[node];
      after[node] = first[above];
      first[above] = node;
    }
    return { first, after };
  }
}

function hash(parent: number, frame: number, run: number): number {
  let mixed = Math.imul(parent + 1, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b) ^ Math.imul(run, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

function picked(values: Float64Array | Int32Array, order: Int32Array): Float64Array {
  const out = new Float64Array(order.length);
  for (let at = 0; at < order.length; at++) out[at] = values[order[at]] as number;
  return out;
}
