// The columns of a page: names, stacks and records in bytes. crates/web `page/columns/layout.rs` describes them. This
// file runs in a worker, and has no access to the page.

import { decodeRecords, type Records } from "../flame/records.ts";
import { type Stacks, weightsByKind } from "../flame/stacks.ts";
import { Reader } from "./reader.ts";

const VERSION = 1;
const NAMES = ["names", "classes", "codes", "frames", "climbs", "self", "runs", "places", "before", "after", "records"] as const;

export interface Columns {
  /** Names of functions. */
  names: string[];
  /** Class of each function, independent of its place. */
  classes: Uint8Array;
  stacks: Stacks;
  /** Weight by kind of the innermost frame, see {@link weightsByKind}. */
  byKind: Float64Array;
  hasRecursion: boolean;
  records: Records;
}

type Sums = Uint32Array | Float64Array;

export function decodeColumns(bytes: Uint8Array): Columns {
  const head = new Reader(bytes, "header");
  const version = head.number();
  if (version !== VERSION) throw new Error(`this page cannot show stacks of version ${version}`);
  const [nodes, functions, sides] = [head.number(), head.number(), head.number()];
  const lengths = NAMES.map(() => head.number());
  const parts = Object.fromEntries(NAMES.map((name, at) => [name, head.part(lengths[at], name)])) as Record<
    (typeof NAMES)[number],
    Reader
  >;
  head.finish();
  parts.frames.holds(nodes, 1);
  parts.climbs.holds(nodes, 1);
  parts.names.holds(functions, 1);
  const classes = parts.classes.take(functions).slice();
  const { kind, frame } = frames(parts.frames, nodes, classes);
  const places = sparse(parts.places, nodes);
  places.node.forEach((node, at) => (kind[node] = places.value[at]));
  const runs = sparse(parts.runs, nodes);
  const run = new (widthOf(runs.value))(nodes).fill(1);
  runs.node.forEach((node, at) => (run[node] = runs.value[at]));
  const self = weights(parts.self, nodes);
  const totals = [self.slice(), ...(sides > 0 ? [weights(parts.before, nodes), weights(parts.after, nodes)] : [])];
  const end = sumUp(parts.climbs, nodes, totals);
  const [total, ...others] = totals as [Sums, ...Sums[]];
  const stacks: Stacks = { length: nodes, frame, end, run, kind, self, total, sides: others, origin: null };
  return {
    names: names(parts.names, functions),
    classes,
    stacks,
    byKind: weightsByKind(stacks),
    hasRecursion: runs.node.length > 0,
    records: decodeRecords(parts.records),
  };
}

function names(reader: Reader, functions: number): string[] {
  const text = new TextDecoder();
  const found = Array.from({ length: functions }, () => text.decode(reader.take(reader.number())));
  reader.finish();
  return found;
}

function frames(reader: Reader, nodes: number, classes: Uint8Array): { frame: Uint16Array | Uint32Array; kind: Uint8Array } {
  const frame = new (classes.length <= 2 ** 16 ? Uint16Array : Uint32Array)(nodes);
  const kind = new Uint8Array(nodes);
  for (let node = 0; node < nodes; node++) {
    const number = reader.number();
    if (number >= classes.length) throw reader.damaged();
    frame[node] = number;
    kind[node] = classes[number];
  }
  reader.finish();
  return { frame, kind };
}

/** Reads pairs of nodes and values. */
function sparse(reader: Reader, nodes: number): { node: number[]; value: number[] } {
  const pairs = { node: [] as number[], value: [] as number[] };
  for (let node = 0; !reader.isAtEnd(); ) {
    node += reader.number();
    if (node >= nodes) throw reader.damaged();
    pairs.node.push(node);
    pairs.value.push(reader.number());
  }
  return pairs;
}

/** Returns the narrowest type that holds these numbers. */
function widthOf(values: number[]): typeof Uint8Array | typeof Uint32Array {
  return values.every((value) => value < 256) ? Uint8Array : Uint32Array;
}

/** Reads the weight of each node, in the narrowest type that also holds the sum. */
function weights(reader: Reader, nodes: number): Sums {
  let sum = 0;
  for (const first = reader.again(); !first.isAtEnd(); sum += first.number()) first.number();
  const found = new (sum < 2 ** 32 ? Uint32Array : Float64Array)(nodes);
  for (let node = 0; !reader.isAtEnd(); ) {
    node += reader.number();
    if (node >= nodes) throw reader.damaged();
    found[node] = reader.number();
  }
  return found;
}

/** Adds the weight of each node to the nodes above it. Returns the end of each node's subtree. */
function sumUp(climbs: Reader, nodes: number, sums: Sums[]): Uint32Array {
  const end = new Uint32Array(nodes);
  const path: number[] = [];
  const close = (levels: number, next: number): void => {
    if (levels > path.length) throw climbs.damaged();
    for (let level = 0; level < levels; level++) {
      const node = path.pop() as number;
      end[node] = next;
      if (path.length === 0) continue;
      const parent = path[path.length - 1];
      for (const sum of sums) sum[parent] += sum[node];
    }
  };
  for (let node = 0; node < nodes; node++) {
    const climb = climbs.number();
    if (climb > 0) close(climb, node);
    path.push(node);
  }
  close(path.length, nodes);
  climbs.finish();
  return end;
}
