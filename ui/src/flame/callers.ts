// The tree from the leaves: functions, their callers below them, the callers of these below … Nothing is built for the
// nodes that nobody opens. One order of the stack nodes has the nodes of each function next to each other; opening a
// node sorts its part of the order by the next caller.

import { leavesOf, type Numbers, originOf, parentsOf, type Stacks } from "./stacks.ts";
import { GrowingView, type View } from "./view.ts";

/** Shows all functions that have weight of their own, with their callers below. */
export function invertedView(stacks: Stacks): View {
  const leaves = [stacks.self, ...stacks.sides.map((side) => leavesOf(stacks, side))];
  const nodes: number[] = [];
  for (let node = 0; node < stacks.length; node++) if (leaves.some((leaf) => leaf[node] > 0)) nodes.push(node);
  return new CallersView(stacks, nodes, leaves);
}

/** Shows the callers of these stack nodes, with the weight of everything below the nodes. */
export function callersView(stacks: Stacks, nodes: number[]): View {
  return new CallersView(stacks, nodes, [stacks.total, ...stacks.sides]);
}

class CallersView extends GrowingView {
  /** The stack nodes that count, those of a shown node next to each other. */
  private readonly order: Int32Array;
  /** For each of them, the stack node that stands for it in its deepest shown node. */
  private readonly caller: Int32Array;
  private readonly parents: Int32Array;
  /** The part of `order` of each shown node. */
  private readonly from = [0];
  private readonly to: number[];

  constructor(
    private readonly stacks: Stacks,
    nodes: number[],
    private readonly weights: Numbers[],
  ) {
    const [total, ...sides] = weights.map((weight) => nodes.reduce((all, node) => all + weight[node], 0));
    super(total as number, sides);
    this.order = Int32Array.from(nodes);
    this.caller = Int32Array.from(nodes);
    this.parents = parentsOf(stacks);
    this.to = [nodes.length];
  }

  protected override open(at: number): void {
    const parts = this.divided(at);
    parts.sort((left, right) => right.total - left.total || left.first - right.first);
    for (const { from, to, total } of parts) this.addPart(at, from, to, total);
  }

  /** Sorts the part of a node by the function of the next caller, and returns the parts. Finished stacks come first. */
  private divided(at: number): { from: number; to: number; first: number; total: number }[] {
    const [start, end] = [this.from[at], this.to[at]];
    if (at > 0) for (let place = start; place < end; place++) this.caller[place] = this.parents[this.caller[place]];
    const byFrame = this.byFrame(start, end);
    let place = start;
    const parts = Array.from(byFrame, ([frame, places]) => {
      const from = place;
      place += places.length;
      return { frame, from, to: place, places };
    });
    if (parts.length > 1) {
      const places = parts.flatMap((part) => part.places);
      for (const column of [this.order, this.caller]) column.set(places.map((old) => column[old]), start);
    }
    return parts
      .filter(({ frame }) => frame >= 0)
      .map(({ from, to }) => ({ from, to, first: this.order[from], total: this.sum(0, from, to) }));
  }

  /** Returns places by the function of the caller, -1 first for finished stacks. */
  private byFrame(start: number, end: number): Map<number, number[]> {
    const places = new Map<number, number[]>([[-1, []]]);
    for (let place = start; place < end; place++) {
      const frame = this.caller[place] < 0 ? -1 : this.stacks.frame[this.caller[place]];
      const known = places.get(frame);
      if (known) known.push(place);
      else places.set(frame, [place]);
    }
    if (places.get(-1)?.length === 0) places.delete(-1);
    return places;
  }

  private addPart(at: number, from: number, to: number, total: number): void {
    const { frame, kind, run } = this.stacks;
    const source = this.caller[from];
    let [longest, self] = [1, 0];
    for (let place = from; place < to; place++) {
      if (at !== 0) longest = Math.max(longest, run[this.caller[place]]);
      if (this.parents[this.caller[place]] < 0) self += (this.weights[0] as Numbers)[this.order[place]];
    }
    this.from.push(from);
    this.to.push(to);
    const sides = this.sides.map((_, side) => this.sum(side + 1, from, to));
    const origin = originOf(this.stacks, source);
    this.add(at, { frame: frame[source], kind: kind[source], total, self, sides, run: longest, source, origin, step: 0 });
  }

  private sum(which: number, from: number, to: number): number {
    const weights = this.weights[which] as Numbers;
    let all = 0;
    for (let place = from; place < to; place++) all += weights[this.order[place]];
    return all;
  }

  override members(at: number): number[] {
    return [...this.order.subarray(this.from[at], this.to[at])];
  }

  /** Returns 0: a stack node occurs below many functions here. */
  override find(): number {
    return 0;
  }

  override marked(at: number, frames: Uint8Array, side: number): number {
    const weights = this.weights[side + 1] as Numbers;
    let all = 0;
    for (let place = this.from[at]; place < this.to[at]; place++) {
      let node = this.order[place];
      // The path to the node itself has no marked frame, or nobody would look below it.
      while (node >= 0 && frames[this.stacks.frame[node]] !== 1) node = this.parents[node];
      if (node >= 0) all += weights[this.order[place]];
    }
    return all;
  }
}
