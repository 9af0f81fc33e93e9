// Stacks after an edit of one function. Only nodes above the function and beside it are looked at: all other subtrees
// are copied as they are, as a tree may have millions of nodes. Siblings differ by function and length of run, and the
// heaviest is first, before and after. Arithmetic only.

import type { EditKind } from "./edits.ts";
import { childrenOf, type Numbers, originOf, type Stacks } from "./stacks.ts";

type Column = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array;

/** Nodes that become one. */
interface Group {
  members: number[];
  run: number;
  /** The total, and those of the sides. */
  totals: number[];
  /** The function does not stay below: its stacks leave, or join its first call. */
  isCut: boolean;
}

export class Rewriter {
  /** Nodes of the function, and for each weight the sums over them, without what is below a further call. */
  private readonly marks: number[] = [];
  private readonly lost: Float64Array[];
  private readonly weights: Numbers[];
  private readonly out: Record<"frame" | "end" | "run" | "self" | "origin", Column> & { kind: Uint8Array; totals: Column[] };
  private length = 0;
  /** Adjacent subtrees that are not copied yet, and their new place. */
  private copy = { from: 0, to: 0, at: 0 };

  constructor(
    private readonly from: Stacks,
    private readonly kind: EditKind,
    private readonly frame: number,
  ) {
    const { length } = from;
    for (let node = 0; node < length; node++) if (from.frame[node] === frame) this.marks.push(node);
    this.weights = [from.total, ...from.sides];
    this.lost = this.weights.map((weight) => this.sums(weight));
    const like = (column: Numbers): Column => new ((column as Column).constructor as new (length: number) => Column)(length);
    const origin = from.origin ? like(from.origin) : new Uint32Array(length);
    const [frames, run, self] = [like(from.frame), like(from.run), like(from.total)];
    this.out = { frame: frames, end: new Uint32Array(length), run, self, origin, kind: new Uint8Array(length), totals: this.weights.map(like) };
  }

  stacks(): Stacks {
    const waiting: (Group | number)[] = this.groups(this.roots(), this.kind === "exclude");
    while (waiting.length > 0) {
      const next = waiting.pop() as Group | number;
      // A number is a place to close.
      if (typeof next === "number") this.out.end[next] = this.length;
      else if (next.members.length === 1 && this.isKept(next.members[0] as number)) this.keep(next.members[0] as number);
      else {
        this.flush();
        const { self, below } = this.below(next);
        waiting.push(this.add(next, self), ...this.groups(below, next.isCut || (this.kind === "recursion" && this.isIt(next))));
      }
    }
    this.flush();
    const { length } = this;
    const { frame, end, run, self, origin, kind, totals } = this.out;
    const [total, ...sides] = totals.map((column) => column.subarray(0, length)) as [Column, ...Column[]];
    const cut = (column: Column): Column => column.subarray(0, length);
    return { length, frame: cut(frame), end: cut(end), run: cut(run), kind: kind.subarray(0, length), self: cut(self), total, sides, origin: cut(origin) };
  }

  private isIt({ members }: Group): boolean {
    return this.from.frame[members[0] as number] === this.frame;
  }

  /** Sums a weight over the marks before each one; each counts without the marks below it. */
  private sums(weight: Numbers): Float64Array {
    const own = Float64Array.from(this.marks, (node) => weight[node]);
    const open: number[] = [];
    this.marks.forEach((node, mark) => {
      while (open.length > 0 && this.from.end[this.marks[open[open.length - 1] as number] as number] <= node) open.pop();
      if (open.length > 0) own[open[open.length - 1] as number] -= weight[node];
      open.push(mark);
    });
    const sums = new Float64Array(own.length + 1);
    own.forEach((value, mark) => (sums[mark + 1] = sums[mark] + value));
    return sums;
  }

  /** Returns the first mark at or after a node. */
  private markAt(node: number): number {
    let [low, high] = [0, this.marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.marks[middle] as number) < node) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the marks in a subtree. */
  private marksIn(node: number): number[] {
    return this.marks.slice(this.markAt(node), this.markAt(this.from.end[node]));
  }

  /** Returns whether a subtree stays as it is. */
  private isKept(node: number): boolean {
    return this.kind === "focus" || this.markAt(node) === this.markAt(this.from.end[node]);
  }

  private roots(): number[] {
    if (this.kind !== "focus") return this.open([-1], this.kind === "exclude");
    let after = 0;
    return this.marks.filter((node) => node >= after && (after = this.from.end[node]) > 0);
  }

  /** Returns the weight that ends in a group, and the nodes below it. */
  private below(group: Group): { self: number; below: number[] } {
    const sum = (column: Numbers, nodes: number[]): number => nodes.reduce((all, node) => all + column[node], 0);
    const { members } = group;
    const { self, total } = this.from;
    if (this.kind === "collapse" && this.isIt(group)) return { self: sum(total, members), below: [] };
    const isFirst = this.kind === "recursion" && this.isIt(group);
    const opened = isFirst ? members.flatMap((node) => this.marksIn(node)) : members.slice();
    const below = this.open(opened, group.isCut || isFirst);
    return { self: sum(self, opened), below };
  }

  /** Returns the children of nodes. Adds nodes of a hidden function to those whose children are taken. */
  private open(nodes: number[], isCut: boolean): number[] {
    const below: number[] = [];
    for (const node of nodes) {
      for (const child of childrenOf(this.from, node)) {
        if (this.kind !== "focus" && this.from.frame[child] === this.frame) {
          if (this.kind === "hide") nodes.push(child);
          else if (!isCut) below.push(child);
        } else below.push(child);
      }
    }
    return below;
  }

  /** Groups siblings by function and length of run, the lightest first. */
  private groups(nodes: number[], isCut: boolean): Group[] {
    const known = new Map<number, Group>();
    for (const node of nodes) {
      const frame = this.from.frame[node];
      const run = this.kind === "recursion" && frame === this.frame ? 1 : this.from.run[node];
      const key = frame + run * 2 ** 32;
      const totals = this.weights.map((_, which) => this.weight(node, which, isCut));
      const group = known.get(key);
      if (group) {
        group.members.push(node);
        totals.forEach((total, which) => ((group.totals[which] as number) += total));
      } else known.set(key, { members: [node], run, totals, isCut });
    }
    const groups = [...known.values()].filter(({ totals }) => totals[0] !== 0);
    for (const { members } of groups) members.sort((left, right) => left - right);
    const order = ({ totals, members }: Group): [number, number] => [totals[0] as number, members[0] as number];
    return groups.sort((left, right) => order(left)[0] - order(right)[0] || order(right)[1] - order(left)[1]);
  }

  /** Returns the weight of a subtree, without the function if it is cut. */
  private weight(node: number, which: number, isCut: boolean): number {
    const weight = (this.weights[which] as Numbers)[node];
    if (!isCut) return weight;
    const lost = this.lost[which] as Float64Array;
    const left = weight - (lost[this.markAt(this.from.end[node])] - lost[this.markAt(node)]);
    // Widths of a comparison are no whole numbers: a difference of nearly nothing is none.
    return Number.isInteger(left) || left > 1e-9 * weight ? left : 0;
  }

  /** Adds a node, and returns its place. */
  private add({ members, run, totals }: Group, self: number): number {
    const { out, from } = this;
    const [at, node] = [this.length++, members[0] as number];
    out.frame[at] = from.frame[node];
    out.kind[at] = from.kind[node];
    out.run[at] = run;
    out.self[at] = self;
    out.origin[at] = originOf(from, node);
    totals.forEach((total, which) => ((out.totals[which] as Column)[at] = total));
    return at;
  }

  private keep(node: number): void {
    const { copy } = this;
    const end = this.from.end[node];
    if (copy.from === copy.to || copy.to !== node) {
      this.flush();
      this.copy = { from: node, to: end, at: this.length };
    } else copy.to = end;
    this.length += end - node;
  }

  /** Copies the subtrees that wait for it. */
  private flush(): void {
    const { from: first, to, at } = this.copy;
    if (first === to) return;
    const { from, out } = this;
    const columns: [Column, Numbers][] = [[out.frame, from.frame], [out.kind, from.kind], [out.run, from.run], [out.self, from.self]];
    if (from.origin) columns.push([out.origin, from.origin]);
    this.weights.forEach((weight, which) => columns.push([out.totals[which] as Column, weight]));
    for (const [into, column] of columns) into.set((column as Column).subarray(first, to), at);
    const by = at - first;
    for (let node = first; node < to; node++) out.end[node + by] = from.end[node] + by;
    if (!from.origin) for (let node = first; node < to; node++) out.origin[node + by] = node;
    this.copy = { from: 0, to: 0, at: 0 };
  }
}
