// The tree that is shown: the stacks with each recursion folded into one node or opened into one
// node for each activation. Arithmetic only, no drawing.

import { childrenOf, type Stacks } from "./stacks.ts";

/** Frame of the node above all roots. */
export const ALL = -1;

/** One entry a node in every array. Node 0 stands for everything. */
export interface View {
  length: number;
  parent: Int32Array;
  frame: Int32Array;
  depth: Int32Array;
  /** Children are the nodes from here (the heaviest) … */
  childStart: Int32Array;
  /** … to before here. */
  childEnd: Int32Array;
  total: Float64Array;
  /** Weight of the stacks that end here. */
  self: Float64Array;
  /** Longest run that a folded node stands for; 1 for every node of an open run. */
  run: Int32Array;
  /** First of the stack nodes that were merged into this one. */
  source: Int32Array;
  /** Which activation of an open run, from 0; 0 for all others. */
  step: Int32Array;
}

interface Candidate {
  frame: number;
  members: number[];
  step: number;
  open: boolean;
  total: number;
}

/** Builds the view; `isOpen` says whether the runs of these stack nodes are shown one by one. */
export function buildView(stacks: Stacks, isOpen: (members: number[]) => boolean): View {
  const everything = sum(stacks.total, childrenOf(stacks, -1));
  const nodes: Candidate[] = [{ frame: ALL, members: [], step: 0, open: false, total: everything }];
  const parent = [-1];
  const depth = [0];
  const self = [0];
  const childStart: number[] = [];
  const childEnd: number[] = [];
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at] as Candidate;
    const below = at === 0 ? grouped(stacks, [-1], isOpen) : candidatesBelow(stacks, node, isOpen);
    childStart.push(nodes.length);
    for (const child of below.sort(byWeight)) {
      nodes.push(child);
      parent.push(at);
      depth.push(depth[at] + 1);
      self.push(sum(stacks.leaf, ending(stacks, child)));
    }
    childEnd.push(nodes.length);
  }
  return {
    length: nodes.length,
    parent: Int32Array.from(parent),
    frame: Int32Array.from(nodes, (node) => node.frame),
    depth: Int32Array.from(depth),
    childStart: Int32Array.from(childStart),
    childEnd: Int32Array.from(childEnd),
    total: Float64Array.from(nodes, (node) => node.total),
    self: Float64Array.from(self),
    run: Int32Array.from(nodes, (node) => (node.open ? 1 : longest(stacks, node.members))),
    source: Int32Array.from(nodes, (node) => node.members[0] ?? -1),
    step: Int32Array.from(nodes, (node) => node.step),
  };
}

/** The node that a link names as `source.step`; 0 when it is not in this view. */
export function findNode(view: View, name: string): number {
  const [source, step] = name.split(".").map(Number);
  for (let node = 1; node < view.length; node++) {
    if (view.source[node] === source && view.step[node] === step) return node;
  }
  return 0;
}

export function nameOfNode(view: View, node: number): string {
  return node === 0 ? "" : `${view.source[node]}.${view.step[node]}`;
}

/** From the root to `node`, both included. */
export function pathTo(view: View, node: number): number[] {
  const path = [];
  for (let at = node; at >= 0; at = view.parent[at]) path.push(at);
  return path.reverse();
}

function candidatesBelow(
  stacks: Stacks,
  node: Candidate,
  isOpen: (members: number[]) => boolean,
): Candidate[] {
  const below = grouped(stacks, ending(stacks, node), isOpen);
  if (!node.open) return below;
  const longer = node.members.filter((member) => stacks.run[member] > node.step + 1);
  if (longer.length > 0) {
    const total = sum(stacks.total, longer);
    below.push({ frame: node.frame, members: longer, step: node.step + 1, open: true, total });
  }
  return below;
}

/** Stack nodes whose last activation this node is. */
function ending(stacks: Stacks, node: Candidate): number[] {
  if (!node.open) return node.members;
  return node.members.filter((member) => stacks.run[member] === node.step + 1);
}

/** The children of all `parents`, those of one function together. */
function grouped(
  stacks: Stacks,
  parents: number[],
  isOpen: (members: number[]) => boolean,
): Candidate[] {
  const children = parents.length === 1 ? childrenOf(stacks, parents[0] as number) : parents.flatMap((it) => childrenOf(stacks, it));
  return groups(stacks, children).map((members) => {
    const open = longest(stacks, members) > 1 && isOpen(members);
    const frame = stacks.frame[members[0] as number];
    return { frame, members, step: 0, open, total: sum(stacks.total, members) };
  });
}

function groups(stacks: Stacks, nodes: number[]): number[][] {
  if (nodes.length < 2) return nodes.map((node) => [node]);
  const byFrame = new Map<number, number[]>();
  for (const node of nodes) {
    const group = byFrame.get(stacks.frame[node]);
    if (group) group.push(node);
    else byFrame.set(stacks.frame[node], [node]);
  }
  return Array.from(byFrame.values(), (members) => members.sort((left, right) => left - right));
}

function byWeight(left: Candidate, right: Candidate): number {
  return right.total - left.total || (left.members[0] ?? 0) - (right.members[0] ?? 0);
}

function longest(stacks: Stacks, members: number[]): number {
  if (members.length === 1) return stacks.run[members[0] as number];
  return members.reduce((most, member) => Math.max(most, stacks.run[member]), 1);
}

function sum(column: Float64Array, members: number[]): number {
  if (members.length === 1) return column[members[0] as number];
  return members.reduce((all, member) => all + column[member], 0);
}
