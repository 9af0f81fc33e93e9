// The tree from the roots: each recursion is folded into one node, or opened into one node for each activation.
// Arithmetic only, no drawing.

import { childrenOf, nodeOf, type Numbers, originOf, pathDown, type Stacks } from "./stacks.ts";
import { GrowingView, type View } from "./view.ts";

/** Returns whether the runs of these stack nodes are shown one activation at a time. */
export type IsOpen = (members: number[]) => boolean;

/** Stack nodes that are shown as one node, in ascending order. */
interface Group {
  frame: number;
  members: number[];
  step: number;
  open: boolean;
  total: number;
}

/** Shows all stacks. */
export function buildView(stacks: Stacks, isOpen: IsOpen): View {
  return new FoldedView(stacks, isOpen, null);
}

/** Shows what is below these stack nodes of one function, merged into one root. */
export function calleesView(stacks: Stacks, members: number[]): View {
  return new FoldedView(stacks, () => false, members);
}

/** Nearly all nodes stand for one stack node; only the others have a group. */
class FoldedView extends GrowingView {
  private readonly groups = new Map<number, Group>();

  constructor(
    private readonly stacks: Stacks,
    private readonly isOpen: IsOpen,
    private readonly tops: number[] | null,
  ) {
    const roots = tops ?? childrenOf(stacks, -1);
    super(
      sum(stacks.total, roots),
      stacks.sides.map((side) => sum(side, roots)),
    );
  }

  protected override open(at: number): void {
    const group = this.groups.get(at);
    if (at === 0 && this.tops) this.addGroups(at, this.groupsOf(this.tops));
    else if (group) this.addBelowGroup(at, group);
    else this.addBelow(at, this.source[at]);
  }

  override find(origin: number, step: number): number {
    const target = nodeOf(this.stacks, origin);
    let at = 0;
    for (const node of target < 0 ? [] : pathDown(this.stacks, target)) {
      at = this.childWith(at, node);
      const steps = node === target ? step : this.stacks.run[node] - 1;
      while (at > 0 && this.groups.get(at)?.open && this.step[at] < steps) at = this.childWith(at, node);
      if (at === 0) return 0;
    }
    return this.origin[at] === origin && this.step[at] === step ? at : 0;
  }

  /** Returns the child that shows this stack node; 0 if none does. */
  private childWith(at: number, node: number): number {
    const [from, to] = this.children(at);
    for (let child = from; child < to; child++) {
      if (this.source[child] === node || this.groups.get(child)?.members.includes(node)) return child;
    }
    return 0;
  }

  override marked(at: number, frames: Uint8Array, side: number): number {
    const weights = side < 0 ? this.stacks.total : (this.stacks.sides[side] as Numbers);
    const { frame, end, length } = this.stacks;
    let weight = 0;
    const within = (from: number, to: number): void => {
      for (let node = from; node < to; ) {
        const isMarked = frames[frame[node]] === 1;
        if (isMarked) weight += weights[node];
        node = isMarked ? end[node] : node + 1;
      }
    };
    if (at === 0 && !this.tops) within(0, length);
    else for (const node of this.members(at)) within(node, end[node]);
    return weight;
  }

  override members(at: number): number[] {
    if (at === 0) return this.tops ?? childrenOf(this.stacks, -1);
    return this.groups.get(at)?.members ?? [this.source[at]];
  }

  /** Adds the children of one stack node. They are in order of weight already; merging may change that. */
  private addBelow(at: number, node: number): void {
    const { frame, run } = this.stacks;
    const children = childrenOf(this.stacks, node);
    const isPlain = children.every((child) => run[child] === 1) && new Set(children.map((child) => frame[child])).size === children.length;
    if (isPlain) for (const child of children) this.addSingle(at, child);
    else this.addGroups(at, this.groupsOf(children));
  }

  private addBelowGroup(at: number, group: Group): void {
    const below = this.groupsOf(this.ending(group).flatMap((member) => childrenOf(this.stacks, member)));
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
    const { stacks } = this;
    groups.sort((left, right) => right.total - left.total || first(left) - first(right));
    for (const group of groups) {
      const source = first(group);
      const node = this.add(at, {
        frame: group.frame,
        kind: stacks.kind[source],
        total: group.total,
        self: sum(stacks.self, this.ending(group)),
        sides: stacks.sides.map((side) => sum(side, group.members)),
        run: group.open ? 1 : longest(stacks, group.members),
        source,
        origin: originOf(stacks, source),
        step: group.step,
      });
      if (group.members.length > 1 || group.open) this.groups.set(node, group);
    }
  }

  private addSingle(at: number, node: number): void {
    const { frame, kind, total, self } = this.stacks;
    this.add(at, {
      frame: frame[node],
      kind: kind[node],
      total: total[node],
      self: self[node],
      sides: this.stacks.sides.map((side) => side[node]),
      run: 1,
      source: node,
      origin: originOf(this.stacks, node),
      step: 0,
    });
  }

  /** Returns the stack nodes whose last activation is this group. */
  private ending(group: Group): number[] {
    if (!group.open) return group.members;
    return group.members.filter((member) => this.stacks.run[member] === group.step + 1);
  }

  /** Groups stack nodes by function. */
  private groupsOf(nodes: number[]): Group[] {
    const byFrame = new Map<number, number[]>();
    for (const node of nodes) {
      const group = byFrame.get(this.stacks.frame[node]);
      if (group) group.push(node);
      else byFrame.set(this.stacks.frame[node], [node]);
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

function longest(stacks: Stacks, members: number[]): number {
  return members.reduce((most, member) => Math.max(most, stacks.run[member]), 1);
}

function sum(column: Numbers, members: number[]): number {
  return members.reduce((all, member) => all + column[member], 0);
}
