// The shown tree: the stacks with each recursion folded into one node or opened into one node for each
// activation. Arithmetic only, no drawing.

import { childrenOf, type Stacks } from "./stacks.ts";

/** Frame of the node above all roots. */
export const ALL = -1;

/** The tree in columns, one entry per node in every array. Node 0 stands for everything. */
export interface View {
  length: number;
  parent: Int32Array;
  frame: Int32Array;
  /** See {@link Stacks.kind}; merged nodes have the kind of the first. */
  kind: Uint8Array;
  depth: Int32Array;
  /** Children are the nodes from here (the heaviest) … */
  childStart: Int32Array;
  /** … to before here. */
  childEnd: Int32Array;
  total: Float64Array;
  /** Weight of the stacks that end here. */
  self: Float64Array;
  /** The same sums as `total` for each further weight of the stacks. */
  sides: Float64Array[];
  /** Longest run that a folded node stands for; 1 for every node of an open run. */
  run: Int32Array;
  /** First of the stack nodes that were merged into this one. */
  source: Int32Array;
  /** The number of that node in a link, see {@link Stacks.origin}. */
  origin: Float64Array;
  /** Activation of an open run, from 0; 0 for all others. */
  step: Int32Array;
}

/** Returns whether the runs of these stack nodes are shown one activation at a time. */
export type IsOpen = (members: number[]) => boolean;

/** Stack nodes that are shown as one node. */
interface Group {
  frame: number;
  members: number[];
  step: number;
  open: boolean;
  total: number;
}

/** Builds the view of all stacks. */
export function buildView(stacks: Stacks, isOpen: IsOpen): View {
  return new Builder(stacks, isOpen).build();
}

/** Adds nodes level by level. Nearly all stand for one stack node; only the others have a group. */
class Builder {
  private readonly parent = [-1];
  private readonly frame = [ALL];
  private readonly depth = [0];
  private readonly total = [0];
  private readonly self = [0];
  private readonly run = [1];
  private readonly source = [-1];
  private readonly step = [0];
  private readonly sides: number[][];
  private readonly childStart: number[] = [];
  private readonly childEnd: number[] = [];
  private readonly groups = new Map<number, Group>();
  /** For each frame, the node below which it was last seen. */
  private readonly seen: Int32Array;

  constructor(
    private readonly stacks: Stacks,
    private readonly isOpen: IsOpen,
  ) {
    this.seen = new Int32Array(stacks.frame.reduce((most, frame) => Math.max(most, frame), 0) + 1).fill(-1);
    const roots = childrenOf(stacks, -1);
    this.total[0] = sum(stacks.total, roots);
    this.sides = stacks.sides.map((side) => [sum(side, roots)]);
  }

  build(): View {
    for (let at = 0; at < this.parent.length; at++) {
      this.childStart.push(this.parent.length);
      const group = this.groups.get(at);
      if (group) this.addBelowGroup(at, group);
      else this.addBelow(at, this.source[at] as number);
      this.groups.delete(at);
      this.childEnd.push(this.parent.length);
    }
    return {
      length: this.parent.length,
      parent: new Int32Array(this.parent),
      frame: new Int32Array(this.frame),
      kind: Uint8Array.from(this.source, (node) => (node < 0 ? 0 : this.stacks.kind[node])),
      depth: new Int32Array(this.depth),
      childStart: new Int32Array(this.childStart),
      childEnd: new Int32Array(this.childEnd),
      total: new Float64Array(this.total),
      self: new Float64Array(this.self),
      sides: this.sides.map((side) => new Float64Array(side)),
      run: new Int32Array(this.run),
      source: new Int32Array(this.source),
      origin: Float64Array.from(this.source, (node) => (node < 0 ? -1 : this.stacks.origin[node])),
      step: new Int32Array(this.step),
    };
  }

  /** Adds the children of one stack node. They are in order of weight already; merging may change that. */
  private addBelow(at: number, node: number): void {
    const { frame, end, run } = this.stacks;
    const last = node < 0 ? this.stacks.length : end[node];
    for (let child = node + 1; child < last; child = end[child]) {
      if (this.seen[frame[child]] === at || run[child] > 1) {
        this.addGroups(at, this.grouped([node]));
        return;
      }
      this.seen[frame[child]] = at;
    }
    for (let child = node + 1; child < last; child = end[child]) this.addSingle(at, child);
  }

  private addBelowGroup(at: number, group: Group): void {
    const below = this.grouped(this.ending(group));
    const longer = group.open
      ? group.members.filter((member) => this.stacks.run[member] > group.step + 1)
      : [];
    if (longer.length > 0) {
      const total = sum(this.stacks.total, longer);
      below.push({ ...group, members: longer, step: group.step + 1, total });
    }
    this.addGroups(at, below);
  }

  private addGroups(at: number, groups: Group[]): void {
    groups.sort((left, right) => right.total - left.total || first(left) - first(right));
    for (const group of groups) {
      if (group.members.length > 1 || group.open) this.groups.set(this.parent.length, group);
      const run = group.open ? 1 : longest(this.stacks, group.members);
      const self = sum(this.stacks.self, this.ending(group));
      this.add(at, group.frame, group.total, self, run, first(group), group.step);
      this.sides.forEach((side, which) => side.push(sum(this.stacks.sides[which], group.members)));
    }
  }

  private addSingle(at: number, node: number): void {
    const { frame, total, self } = this.stacks;
    this.add(at, frame[node], total[node], self[node], 1, node, 0);
    this.sides.forEach((side, which) => side.push(this.stacks.sides[which][node]));
  }

  private add(
    parent: number,
    frame: number,
    total: number,
    self: number,
    run: number,
    source: number,
    step: number,
  ): void {
    this.parent.push(parent);
    this.frame.push(frame);
    this.depth.push((this.depth[parent] as number) + 1);
    this.total.push(total);
    this.self.push(self);
    this.run.push(run);
    this.source.push(source);
    this.step.push(step);
  }

  /** Returns the stack nodes whose last activation is this group. */
  private ending(group: Group): number[] {
    if (!group.open) return group.members;
    return group.members.filter((member) => this.stacks.run[member] === group.step + 1);
  }

  /** Groups the children of all `parents` by function. */
  private grouped(parents: number[]): Group[] {
    const byFrame = new Map<number, number[]>();
    for (const child of parents.flatMap((parent) => childrenOf(this.stacks, parent))) {
      const group = byFrame.get(this.stacks.frame[child]);
      if (group) group.push(child);
      else byFrame.set(this.stacks.frame[child], [child]);
    }
    return Array.from(byFrame, ([frame, members]) => {
      members.sort((left, right) => left - right);
      const open = longest(this.stacks, members) > 1 && this.isOpen(members);
      return { frame, members, step: 0, open, total: sum(this.stacks.total, members) };
    });
  }
}

function first(group: Group): number {
  return group.members[0] as number;
}

/** Returns the node that a link names as `origin.step`; 0 if it is not in this view. */
export function findNode(view: View, name: string): number {
  const [origin, step] = name.split(".").map(Number);
  for (let node = 1; node < view.length; node++) {
    if (view.origin[node] === origin && view.step[node] === step) return node;
  }
  return 0;
}

export function nameOfNode(view: View, node: number): string {
  return node === 0 ? "" : `${view.origin[node]}.${view.step[node]}`;
}

/** Returns the path from the root to `node`, both included. */
export function pathTo(view: View, node: number): number[] {
  const path = [];
  for (let at = node; at >= 0; at = view.parent[at]) path.push(at);
  return path.reverse();
}

function longest(stacks: Stacks, members: number[]): number {
  return members.reduce((most, member) => Math.max(most, stacks.run[member]), 1);
}

function sum(column: Float64Array, members: number[]): number {
  return members.reduce((all, member) => all + column[member], 0);
}
