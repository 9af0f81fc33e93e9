// Stacks and records from numbers, and shown trees made as a whole, for comparisons with what a test expects of all
// their nodes.

import { type Columns, decodeColumns } from "../../src/columns/decode.ts";
import { Reader } from "../../src/columns/reader.ts";
import { decodeRecords, type Records } from "../../src/flame/records.ts";
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

/** A tree in pre-order, as crates/web writes it. */
export interface StackColumns {
  frame: number[];
  climb: number[];
  self: number[];
  "run-node": number[];
  "run-length": number[];
  "kind-node": number[];
  "kind-number": number[];
}

/** Returns numbers of variable length. */
export function numbers(all: number[]): Uint8Array {
  const bytes: number[] = [];
  for (let number of all) {
    for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) + 128);
    bytes.push(number);
  }
  return Uint8Array.from(bytes);
}

/** Returns pairs of the distance from the previous node, and the value. */
function sparse(nodes: number[], values: number[]): Uint8Array {
  return numbers(nodes.flatMap((node, at) => [node - (nodes[at - 1] ?? 0), values[at] as number]));
}

function weights(leaves: number[]): Uint8Array {
  const nodes = leaves.map((_, node) => node).filter((node) => leaves[node] !== 0);
  return sparse(nodes, nodes.map((node) => leaves[node] as number));
}

/** Returns the bytes of a page's columns. */
export function encoded(columns: StackColumns, names: string[], classes: Uint8Array, sides: number[][], records: Uint8Array): Uint8Array {
  const text = names.map((name) => new TextEncoder().encode(name));
  const parts = [
    Uint8Array.from(text.flatMap((bytes) => [...numbers([bytes.length]), ...bytes])),
    classes,
    new Uint8Array(names.length),
    numbers(columns.frame),
    numbers(columns.climb),
    weights(columns.self),
    sparse(columns["run-node"], columns["run-length"]),
    sparse(columns["kind-node"], columns["kind-number"]),
    weights(sides[0] ?? []),
    weights(sides[1] ?? []),
    records,
  ];
  const head = numbers([1, columns.frame.length, names.length, sides.length, ...parts.map((part) => part.length)]);
  return Uint8Array.from([head, ...parts].flatMap((part) => [...part]));
}

export function columnsOf(columns: StackColumns, names: string[], kindOf: Uint8Array, sides: number[][] = []): Columns {
  return decodeColumns(encoded(columns, names, kindOf, sides, numbers([0, 0, 0])));
}

export function decodeStacks(columns: StackColumns, kindOf: Uint8Array, sides: number[][] = []): Stacks {
  const names = Array.from(kindOf, (_, frame) => `frame ${frame}`);
  return columnsOf(columns, names, kindOf, sides).stacks;
}

/** Decodes records: their number, that of their points, and what each has. */
export function recordsOf([length, points, ...rest]: number[], counted = false): Records {
  return decodeRecords(new Reader(numbers([length as number, points as number, counted ? 1 : 0, ...rest]), "records"));
}
