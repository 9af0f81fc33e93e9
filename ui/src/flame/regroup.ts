// Stacks with different weights: those of one owner or one span of time, or below a frame for each owner.
// Arithmetic only.

import { parentsOf, type Stacks } from "./stacks.ts";

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

/** The needed nodes of one root, in the order of the whole profile. */
interface Part {
  root: number;
  /** Nodes of the profile; all columns below have an entry for each. */
  node: Int32Array;
  self: Float64Array;
  /** Weights with everything below: of the widths, and of both sides of a comparison. */
  totals: Float64Array[];
  /** Number of nodes in the subtree. */
  size: Int32Array;
  /** Place in pre-order, the heaviest sibling first. */
  at: Int32Array;
}

/** Columns of the new stacks. */
interface Output {
  frame: Uint32Array;
  end: Uint32Array;
  run: Uint32Array;
  kind: Uint8Array;
  self: Float64Array;
  total: Float64Array;
  sides: Float64Array[];
  origin: Float64Array;
}

/** Merges weights into the profile's stacks, the heaviest first. */
export class Regrouper {
  private readonly parent: Int32Array;
  /** Place of each node in the part at hand, from 1; 0 for nodes that are not needed. */
  private readonly place: Int32Array;
  /** Room for the needed nodes. */
  private readonly found: Int32Array;

  constructor(private readonly base: Stacks) {
    this.parent = parentsOf(base);
    this.place = new Int32Array(base.length);
    this.found = new Int32Array(base.length);
  }

  build(entries: Entries, frameOf: FrameOfRoot): Stacks {
    const groups = new Map<number, number[]>();
    entries.node.forEach((_, entry) => {
      const group = groups.get(entries.root[entry]);
      if (group) group.push(entry);
      else groups.set(entries.root[entry], [entry]);
    });
    const weightOf = (members: number[]): number => members.reduce((sum, member) => sum + entries.weight[member], 0);
    const ordered = Array.from(groups, ([root, members]) => ({ root, members, total: weightOf(members) }));
    ordered.sort((left, right) => right.total - left.total || left.root - right.root);
    const parts = ordered.map(({ root, members }) => this.part(entries, root, members));
    return this.joined(parts, entries.sides !== null, frameOf);
  }

  private part(entries: Entries, root: number, members: number[]): Part {
    const node = this.needed(entries, members);
    const above = new Int32Array(node.length);
    for (let at = 0; at < node.length; at++) above[at] = (this.parent[node[at]] < 0 ? 0 : this.place[this.parent[node[at]]]) - 1;
    const totals = [entries.weight, ...(entries.sides ?? [])].map((weights) => {
      const total = new Float64Array(node.length);
      for (const entry of members) total[this.place[entries.node[entry]] - 1] += weights[entry];
      return total;
    });
    const self = (totals[0] as Float64Array).slice();
    const size = new Int32Array(node.length).fill(1);
    for (let place = node.length - 1; place >= 0; place--) {
      if (above[place] < 0) continue;
      size[above[place]] += size[place];
      for (const total of totals) total[above[place]] += total[place];
    }
    for (const one of node) this.place[one] = 0;
    return { root, node, self, totals, size, at: preOrder(above, size, totals[0] as Float64Array) };
  }

  /** Returns the nodes of these entries and all above them in ascending order, and notes their places. */
  private needed(entries: Entries, members: number[]): Int32Array {
    let count = 0;
    for (const entry of members) {
      for (let at = entries.node[entry]; at >= 0 && this.place[at] === 0; at = this.parent[at]) {
        this.place[at] = 1;
        this.found[count++] = at;
      }
    }
    const nodes = this.found.slice(0, count);
    // To look at every node is faster than to sort many.
    if (16 * count < this.place.length) nodes.sort();
    else for (let node = 0, at = 0; at < count; node++) if (this.place[node] === 1) nodes[at++] = node;
    for (let at = 0; at < count; at++) this.place[nodes[at]] = at + 1;
    return nodes;
  }

  private joined(parts: Part[], hasSides: boolean, frameOf: FrameOfRoot): Stacks {
    const length = parts.reduce((sum, { root, node }) => sum + node.length + (root < 0 ? 0 : 1), 0);
    const sums = (): Float64Array => new Float64Array(length);
    const columns: Output = {
      frame: new Uint32Array(length),
      end: new Uint32Array(length),
      run: new Uint32Array(length).fill(1),
      kind: new Uint8Array(length),
      self: sums(),
      total: sums(),
      sides: hasSides ? [sums(), sums()] : [],
      origin: sums(),
    };
    let first = 0;
    for (const part of parts) {
      if (part.root >= 0) this.addRoot(columns, first++, part, frameOf);
      this.addNodes(columns, first, part);
      first += part.node.length;
    }
    return { length, ...columns };
  }

  private addRoot(out: Output, at: number, { root, node, totals }: Part, frameOf: FrameOfRoot): void {
    out.frame[at] = frameOf(root);
    out.end[at] = at + 1 + node.length;
    out.origin[at] = (this.base.length + 1) * (root + 1) + this.base.length;
    node.forEach((one, place) => {
      if (this.parent[one] >= 0) return;
      [out.total, ...out.sides].forEach((total, which) => (total[at] += totals[which][place]));
    });
  }

  private addNodes(out: Output, first: number, { root, node, self, totals, size, at }: Part): void {
    const { frame, run, kind, length } = this.base;
    const sums = [out.total, ...out.sides];
    for (let place = 0; place < node.length; place++) {
      const [from, to] = [node[place], first + at[place]];
      out.frame[to] = frame[from];
      out.end[to] = to + size[place];
      out.run[to] = run[from];
      out.kind[to] = kind[from];
      out.self[to] = self[place];
      out.origin[to] = from + (length + 1) * (root + 1);
      for (let which = 0; which < sums.length; which++) sums[which][to] = totals[which][place];
    }
  }
}

/** Returns the place of each node in pre-order, the heaviest sibling first. Nodes come after the node above them. */
function preOrder(above: Int32Array, size: Int32Array, weight: Float64Array): Int32Array {
  const { length } = above;
  const head = new Int32Array(length + 1).fill(-1);
  const next = new Int32Array(length);
  for (let node = length - 1; node >= 0; node--) {
    next[node] = head[above[node] + 1];
    head[above[node] + 1] = node;
  }
  const at = new Int32Array(length);
  for (let node = -1; node < length; node++) {
    const only = head[node + 1];
    if (only < 0) continue;
    if (next[only] < 0) {
      at[only] = node < 0 ? 0 : at[node] + 1;
      continue;
    }
    const children: number[] = [];
    for (let child = head[node + 1]; child >= 0; child = next[child]) children.push(child);
    children.sort((left, right) => weight[right] - weight[left] || left - right);
    let place = node < 0 ? 0 : at[node] + 1;
    for (const child of children) {
      at[child] = place;
      place += size[child];
    }
  }
  return at;
}
