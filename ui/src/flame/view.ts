// A shown tree. Its nodes are made when somebody asks for the children of a node: a graph asks for those wide enough to
// be seen, a table for the rows that a reader opens. Two trees share the interface: folded.ts from the roots, callers.ts
// from the leaves.

/** Frame of the node above all roots. */
export const ALL = -1;

/** The nodes made so far in columns. Node 0 stands for everything. A node keeps its number. */
export interface View {
  /** Number of nodes made so far. */
  readonly length: number;
  readonly parent: readonly number[];
  readonly frame: readonly number[];
  /** Kind of the frame in its place, as a number of the profile; merged nodes have the kind of the first. */
  readonly kind: readonly number[];
  readonly depth: readonly number[];
  readonly total: readonly number[];
  /** Weight of the stacks that end here; in the tree from the leaves, of those that begin here. */
  readonly self: readonly number[];
  /** The same sums as `total` for each further weight of the stacks. */
  readonly sides: readonly (readonly number[])[];
  /** Longest run that a folded node stands for; 1 for every node of an open run. */
  readonly run: readonly number[];
  /** First of the stack nodes that were merged into this one; -1 for node 0. */
  readonly source: readonly number[];
  /** The number of that stack node in a link, see stacks.ts; -1 for node 0. */
  readonly origin: readonly number[];
  /** Activation of an open run, from 0; 0 for all others. */
  readonly step: readonly number[];
  /** Children are the nodes from here (the heaviest); -1 until {@link View.children} made them … */
  readonly childStart: readonly number[];
  /** … to before here. */
  readonly childEnd: readonly number[];
  /** Returns the first child of a node and the node after its last child. Makes the children at the first call. */
  children(node: number): [from: number, to: number];
  /** Returns the stack nodes whose subtrees a node shows. */
  members(node: number): number[];
  /** Returns the node with this origin and step; 0 if there is none. */
  find(origin: number, step: number): number;
  /**
   * Returns the weight of the stacks in `node` with a marked frame in the node or below it. `side` is a number of
   * `sides`, or -1 for `total`.
   */
  marked(node: number, frames: Uint8Array, side: number): number;
}

/** Values of a new node. */
export interface Made {
  frame: number;
  kind: number;
  total: number;
  self: number;
  sides: number[];
  run: number;
  source: number;
  origin: number;
  step: number;
}

/** Columns that grow, and the rule that children are made once. */
export abstract class GrowingView implements View {
  readonly parent: number[] = [];
  readonly frame: number[] = [];
  readonly kind: number[] = [];
  readonly depth: number[] = [];
  readonly total: number[] = [];
  readonly self: number[] = [];
  readonly sides: number[][];
  readonly run: number[] = [];
  readonly source: number[] = [];
  readonly origin: number[] = [];
  readonly step: number[] = [];
  readonly childStart: number[] = [];
  readonly childEnd: number[] = [];

  /** Starts with node 0, which has these weights. */
  protected constructor(total: number, sides: number[]) {
    this.sides = sides.map(() => []);
    this.add(-1, { frame: ALL, kind: 0, total, self: 0, sides, run: 1, source: -1, origin: -1, step: 0 });
  }

  get length(): number {
    return this.parent.length;
  }

  children(node: number): [number, number] {
    if (this.childStart[node] < 0) {
      this.childStart[node] = this.length;
      this.open(node);
      this.childEnd[node] = this.length;
    }
    return [this.childStart[node], this.childEnd[node]];
  }

  abstract members(node: number): number[];

  abstract find(origin: number, step: number): number;

  abstract marked(node: number, frames: Uint8Array, side: number): number;

  /** Adds the children of a node, the heaviest first. */
  protected abstract open(node: number): void;

  protected add(parent: number, made: Made): number {
    this.parent.push(parent);
    this.frame.push(made.frame);
    this.kind.push(made.kind);
    this.depth.push(parent < 0 ? 0 : this.depth[parent] + 1);
    this.total.push(made.total);
    this.self.push(made.self);
    made.sides.forEach((side, which) => this.sides[which].push(side));
    this.run.push(made.run);
    this.source.push(made.source);
    this.origin.push(made.origin);
    this.step.push(made.step);
    this.childStart.push(-1);
    this.childEnd.push(-1);
    return this.length - 1;
  }
}

/** Returns the node that a link names as `origin.step`; 0 if it is not in this view. */
export function findNode(view: View, name: string): number {
  const [origin, step] = name.split(".").map(Number) as [number, number];
  return view.find(origin, step);
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

/** A tree with the names of its frames. They lead from one profile to the next, whose numbers are others. */
export interface Named {
  view: View;
  names: readonly string[];
}

/** Returns the names from a root to a node. */
export function placeOf({ view, names }: Named, node: number): string[] {
  return pathTo(view, node)
    .slice(1)
    .map((at) => names[view.frame[at]] as string);
}

/** Returns the node at a place; the last one on the way to it, if it is gone. */
export function nodeAt({ view, names }: Named, place: readonly string[]): number {
  let node = 0;
  for (const name of place) {
    const [from, to] = view.children(node);
    let child = from;
    while (child < to && names[view.frame[child]] !== name) child += 1;
    if (child === to) break;
    node = child;
  }
  return node;
}
