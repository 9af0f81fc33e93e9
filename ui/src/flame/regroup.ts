// Stacks with different weights: those of one owner or one span of time, or below a frame for each owner.
// Arithmetic only.

import type { Stacks } from "./stacks.ts";

/** Weights of stack nodes, below a separate root if `root` is not negative. */
export interface Entries {
  node: number[];
  root: number[];
  weight: number[];
  /** Both weights of each entry of a comparison; then `weight` only decides widths. */
  sides: [number[], number[]] | null;
}

/** Returns the frame of a root above stacks. Its kind is 0. */
export type FrameOfRoot = (root: number) => number;

/** Merges weights into the profile's stacks, the heaviest first. */
export class Regrouper {
  private readonly parent: Int32Array;
  private readonly self: Float64Array;
  private readonly sum: Float64Array;
  private readonly sides: [Float64Array, Float64Array];
  private readonly head: Int32Array;
  private readonly next: Int32Array;
  private readonly mark: Int32Array;

  constructor(private readonly base: Stacks) {
    const { length } = base;
    this.parent = parentsOf(base);
    this.self = new Float64Array(length);
    this.sum = new Float64Array(length);
    this.sides = [new Float64Array(length), new Float64Array(length)];
    this.head = new Int32Array(length);
    this.next = new Int32Array(length);
    this.mark = new Int32Array(length);
  }

  build(entries: Entries, frameOf: FrameOfRoot): Stacks {
    const out = new Output(entries.sides !== null);
    const groups = new Map<number, number[]>();
    entries.node.forEach((_, entry) => {
      const group = groups.get(entries.root[entry]);
      if (group) group.push(entry);
      else groups.set(entries.root[entry], [entry]);
    });
    const weightOf = (members: number[]): number => members.reduce((sum, member) => sum + entries.weight[member], 0);
    const ordered = Array.from(groups, ([root, members]) => ({ root, members, total: weightOf(members) }));
    ordered.sort((left, right) => right.total - left.total || left.root - right.root);
    for (const { root, members, total } of ordered) this.group(entries, root, members, total, frameOf, out);
    return out.finish();
  }

  private group(
    entries: Entries,
    root: number,
    members: number[],
    total: number,
    frameOf: FrameOfRoot,
    out: Output,
  ): void {
    const needed = this.spread(entries, members);
    let first = -1;
    for (const node of needed) {
      const above = this.parent[node];
      if (above < 0) {
        this.next[node] = first;
        first = node;
      } else {
        this.sum[above] += this.sum[node];
        this.next[node] = this.head[above];
        this.head[above] = node;
      }
    }
    const stride = this.base.length + 1;
    const below = root < 0 ? 0 : 1;
    if (root >= 0) out.add(0, frameOf(root), 1, 0, 0, total, stride * (root + 1) + this.base.length, null);
    const waiting: [number, number][] = [];
    const enter = (child: number, depth: number): void => {
      const children = [];
      for (let at = child; at >= 0; at = this.next[at]) children.push(at);
      children.sort((left, right) => this.sum[left] - this.sum[right] || right - left);
      for (const at of children) waiting.push([at, depth]);
    };
    enter(first, below);
    while (waiting.length > 0) {
      const [node, depth] = waiting.pop() as [number, number];
      const { frame, run, kind } = this.base;
      const sides = out.sides ? ([this.sides[0][node], this.sides[1][node]] as [number, number]) : null;
      const origin = node + stride * (root + 1);
      out.add(depth, frame[node], run[node], kind[node], this.self[node], this.sum[node], origin, sides);
      enter(this.head[node], depth + 1);
    }
  }

  /** Puts the weights on their nodes. Returns these and all above them, the last one first. */
  private spread(entries: Entries, members: number[]): number[] {
    const needed: number[] = [];
    for (const entry of members) {
      for (let at = entries.node[entry]; at >= 0 && this.mark[at] === 0; at = this.parent[at]) {
        this.mark[at] = 1;
        this.self[at] = 0;
        this.sides[0][at] = 0;
        this.sides[1][at] = 0;
        this.head[at] = -1;
        needed.push(at);
      }
      const node = entries.node[entry];
      this.self[node] += entries.weight[entry];
      if (entries.sides) {
        this.sides[0][node] += entries.sides[0][entry];
        this.sides[1][node] += entries.sides[1][entry];
      }
    }
    needed.sort((left, right) => right - left);
    for (const node of needed) {
      this.mark[node] = 0;
      this.sum[node] = this.self[node];
    }
    return needed;
  }
}

function parentsOf(stacks: Stacks): Int32Array {
  const parent = new Int32Array(stacks.length);
  const path: number[] = [];
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) path.pop();
    parent[node] = path.length > 0 ? (path[path.length - 1] as number) : -1;
    path.push(node);
  }
  return parent;
}

/** Nodes in the order of arrival, which is pre-order, with their depth. */
class Output {
  private readonly depth: number[] = [];
  private readonly frame: number[] = [];
  private readonly run: number[] = [];
  private readonly kind: number[] = [];
  private readonly self: number[] = [];
  private readonly total: number[] = [];
  private readonly origin: number[] = [];
  readonly sides: [number[], number[]] | null;

  constructor(hasSides: boolean) {
    this.sides = hasSides ? [[], []] : null;
  }

  add(
    depth: number,
    frame: number,
    run: number,
    kind: number,
    self: number,
    total: number,
    origin: number,
    sides: [number, number] | null,
  ): void {
    this.depth.push(depth);
    this.frame.push(frame);
    this.run.push(run);
    this.kind.push(kind);
    this.self.push(self);
    this.total.push(total);
    this.origin.push(origin);
    if (this.sides) {
      this.sides[0].push(sides?.[0] ?? 0);
      this.sides[1].push(sides?.[1] ?? 0);
    }
  }

  finish(): Stacks {
    const length = this.depth.length;
    const end = new Int32Array(length);
    const sides = (this.sides ?? []).map((side) => new Float64Array(side));
    const path: number[] = [];
    for (let node = 0; node <= length; node++) {
      const depth = node < length ? (this.depth[node] as number) : 0;
      while (path.length > depth) {
        const closed = path.pop() as number;
        end[closed] = node;
        const above = path[path.length - 1];
        if (above !== undefined) for (const side of sides) side[above] += side[closed];
      }
      path.push(node);
    }
    return {
      length,
      frame: new Int32Array(this.frame),
      end,
      run: new Int32Array(this.run),
      kind: new Uint8Array(this.kind),
      self: new Float64Array(this.self),
      total: new Float64Array(this.total),
      sides,
      origin: new Float64Array(this.origin),
    };
  }
}
