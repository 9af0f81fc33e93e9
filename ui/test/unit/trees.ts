// Shown trees made as a whole, for comparisons with what a test expects of all their nodes.

import { sandwich as around } from "../../src/flame/sandwich.ts";
import type { Stacks } from "../../src/flame/stacks.ts";
import type { View } from "../../src/flame/view.ts";

/** Makes all nodes, level by level. */
export function opened(view: View): View {
  for (let node = 0; node < view.length; node++) view.children(node);
  return view;
}

/** Returns what is below the root of all as stacks in pre-order. */
export function flat(view: View): Stacks {
  const order: number[] = [];
  const end: number[] = [];
  const visit = (node: number): void => {
    const at = order.length;
    if (node > 0) order.push(node);
    const [from, to] = view.children(node);
    for (let child = from; child < to; child++) visit(child);
    if (node > 0) end[at] = order.length;
  };
  visit(0);
  const column = (values: readonly number[]): number[] => order.map((node) => values[node] as number);
  return {
    length: order.length,
    end,
    frame: column(view.frame),
    run: column(view.run),
    kind: new Uint8Array(column(view.kind)),
    self: column(view.self),
    total: column(view.total),
    sides: view.sides.map(column),
    origin: null,
  };
}

export function sandwich(stacks: Stacks, frame: number) {
  const made = around(stacks, frame);
  return { ...made, callers: flat(made.callers), callees: flat(made.callees) };
}
