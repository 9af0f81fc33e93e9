// Changes that a reader makes to the stacks: only those with a function, those without it, or the function joined with
// what it calls, with itself, or with its caller. Arithmetic only.

import { leavesOf, originOf, parentsOf, type Stacks } from "./stacks.ts";

/** The kinds of changes, in the order of the menu, with their names. */
export const EDITS = {
  focus: "Focus: only its stacks, from it on",
  exclude: "Exclude: the stacks without it",
  collapse: "Collapse: it with all that it calls",
  recursion: "Collapse recursion: from its first call to its last",
  hide: "Hide: its callees below its callers",
} as const;

export type EditKind = keyof typeof EDITS;

export interface Edit {
  kind: EditKind;
  /** Name of the function. */
  name: string;
}

/** Names an edit for a person. */
export function editName({ kind, name }: Edit): string {
  const words = { focus: "Only", exclude: "Without", collapse: "Collapsed", recursion: "Without recursion of", hide: "Hidden" };
  return `${words[kind]} ${name}`;
}

/** Reads an edit of an address, such as `focus:lists:map/2`. */
export function editOf(text: string): Edit | null {
  const at = text.indexOf(":");
  const [kind, name] = [text.slice(0, at), text.slice(at + 1)];
  return Object.hasOwn(EDITS, kind) && name ? { kind: kind as EditKind, name } : null;
}

const OUTSIDE = -1;
const DROPPED = -2;

/** Returns the stacks after one edit of the function `frame`. */
export function edited(stacks: Stacks, kind: EditKind, frame: number): Stacks {
  const parents = parentsOf(stacks);
  const leaves = [stacks.self, ...stacks.sides.map((side) => leavesOf(stacks, side))];
  const out = new Merger(stacks, leaves.length);
  /** The new node of each node, or the reason for none. */
  const place = new Int32Array(stacks.length);
  for (let node = 0; node < stacks.length; node++) {
    const above = parents[node] < 0 ? OUTSIDE : place[parents[node]];
    place[node] = placed(kind, stacks, node, frame, above, out);
  }
  for (let node = 0; node < stacks.length; node++) {
    if (place[node] >= 0) leaves.forEach((leaf, which) => out.add(place[node], which, leaf[node]));
  }
  return out.stacks();
}

/** Returns the new node of a node, whose parent's place is `above`. */
function placed(kind: EditKind, stacks: Stacks, node: number, frame: number, above: number, out: Merger): number {
  const isIt = stacks.frame[node] === frame;
  if (above === DROPPED || (kind === "exclude" && isIt)) return DROPPED;
  if (kind === "hide" && isIt) return above;
  if (kind === "focus" && !isIt && above === OUTSIDE) return OUTSIDE;
  if (kind === "collapse" && above >= 0 && out.frame(above) === frame) return above;
  const first = kind === "recursion" && isIt ? out.withFrame(above, frame) : -1;
  return first >= 0 ? first : out.child(above, node, kind === "recursion" && isIt);
}

/** Paths merged by function and length of run. */
class Merger {
  private readonly source: number[] = [];
  private readonly parent: number[] = [];
  private readonly run: number[] = [];
  private readonly leaves: number[][];
  private readonly children: Map<string, number> = new Map();

  constructor(
    private readonly from: Stacks,
    weights: number,
  ) {
    this.leaves = Array.from({ length: weights }, () => []);
  }

  frame(node: number): number {
    return this.from.frame[this.source[node] as number];
  }

  /** Returns the nearest node at or above `node` with this function; -1 if there is none. */
  withFrame(node: number, frame: number): number {
    let at = node;
    while (at >= 0 && this.frame(at) !== frame) at = this.parent[at] as number;
    return at;
  }

  /** Returns the node below `parent` (none if negative) for a node of the old stacks. */
  child(parent: number, node: number, isFolded: boolean): number {
    const run = isFolded ? 1 : this.from.run[node];
    const key = `${parent} ${this.from.frame[node]} ${run}`;
    const known = this.children.get(key);
    if (known !== undefined) return known;
    const made = this.source.length;
    this.children.set(key, made);
    this.source.push(node);
    this.parent.push(Math.max(parent, -1));
    this.run.push(run);
    for (const leaf of this.leaves) leaf.push(0);
    return made;
  }

  add(node: number, which: number, weight: number): void {
    const leaf = this.leaves[which] as number[];
    leaf[node] = (leaf[node] as number) + weight;
  }

  /** Returns the stacks in pre-order, the heaviest first. */
  stacks(): Stacks {
    const sums = this.leaves.map((leaf) => this.withAllBelow(leaf));
    const [order, end] = this.ordered(sums[0] as Float64Array);
    const { from, source } = this;
    const [total, ...sides] = sums.map((sum) => Float64Array.from(order, (node) => sum[node])) as [Float64Array, ...Float64Array[]];
    return {
      length: order.length,
      end,
      frame: Int32Array.from(order, (node) => this.frame(node)),
      run: Int32Array.from(order, (node) => this.run[node] as number),
      kind: Uint8Array.from(order, (node) => from.kind[source[node] as number]),
      self: Float64Array.from(order, (node) => (this.leaves[0] as number[])[node] as number),
      total,
      sides,
      origin: Float64Array.from(order, (node) => originOf(from, source[node] as number)),
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

  private ordered(total: Float64Array): [number[], Int32Array] {
    const below = new Map<number, number[]>();
    this.parent.forEach((parent, node) => {
      if (total[node] === 0) return;
      const siblings = below.get(parent);
      if (siblings) siblings.push(node);
      else below.set(parent, [node]);
    });
    const order: number[] = [];
    const end = new Int32Array(this.source.length);
    /** Nodes to enter, and places to close as their complement. */
    const waiting: number[] = [];
    const enter = (parent: number): void => {
      const siblings = below.get(parent) ?? [];
      siblings.sort((left, right) => total[left] - total[right] || right - left);
      waiting.push(...siblings);
    };
    enter(-1);
    while (waiting.length > 0) {
      const next = waiting.pop() as number;
      if (next < 0) {
        end[~next] = order.length;
        continue;
      }
      waiting.push(~order.length);
      order.push(next);
      enter(next);
    }
    return [order, end.slice(0, order.length)];
  }
}
