// Changes of random stacks, against their meaning: the path of every node is rewritten, and equal paths are one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type EditKind, EDITS, edited } from "../../src/flame/edits.ts";
import { leavesOf, pathDown, type Stacks } from "../../src/flame/stacks.ts";
import { decodeStacks } from "./trees.ts";

/** A path as pairs of function and length of run; null if the node is dropped. */
type Path = [number, number][] | null;

const FRAMES = 6;

/** Numbers from 0 to below `most`, the same in each run of the test. */
function random(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

interface Node {
  frame: number;
  run: number;
  self: number;
  sides: [number, number];
  total: number;
  below: Node[];
}

/** Grows siblings that differ, the heaviest first, each with what is below it. */
function grown(draw: (most: number) => number, depth: number): Node[] {
  const kinds = Array.from({ length: 2 * FRAMES }, (_, kind) => kind).filter(() => draw(5 + depth) === 0);
  const nodes = kinds.map((kind) => {
    const below = depth < 4 ? grown(draw, depth + 1) : [];
    const self = below.length > 0 ? draw(3) : 1 + draw(2);
    const total = below.reduce((sum, node) => sum + node.total, self);
    return { frame: kind >> 1, run: 1 + (kind % 2), self, sides: [draw(3), draw(3)] as [number, number], total, below };
  });
  return nodes.sort((left, right) => right.total - left.total);
}

function stacksOf(seed: number): Stacks {
  const nodes: [Node, number][] = [];
  const visit = (node: Node, depth: number): void => {
    nodes.push([node, depth]);
    for (const child of node.below) visit(child, depth + 1);
  };
  for (const root of grown(random(seed), 0)) visit(root, 0);
  const column = (value: (node: Node) => number): number[] => nodes.map(([node]) => value(node));
  const runs = nodes.map((_, at) => at).filter((at) => nodes[at]?.[0].run !== 1);
  return decodeStacks(
    {
      frame: column(({ frame }) => frame),
      climb: nodes.map(([, depth], at) => (at === 0 ? 0 : (nodes[at - 1]?.[1] as number) + 1 - depth)),
      self: column(({ self }) => self),
      "run-node": runs,
      "run-length": runs.map(() => 2),
      "kind-node": [],
      "kind-number": [],
    },
    new Uint8Array(FRAMES),
    [column(({ sides }) => sides[0]), column(({ sides }) => sides[1])],
  );
}

/** Returns the new path of an old one. */
function rewritten(kind: EditKind, frame: number, path: [number, number][]): Path {
  const has = path.some(([it]) => it === frame);
  if (kind === "exclude") return has ? null : path;
  if (kind === "focus") return has ? path.slice(path.findIndex(([it]) => it === frame)) : [];
  if (kind === "hide") return path.filter(([it]) => it !== frame);
  if (kind === "collapse") return has ? path.slice(0, path.findIndex(([it]) => it === frame) + 1) : path;
  const last = path.map(([it]) => it).lastIndexOf(frame);
  const first = path.findIndex(([it]) => it === frame);
  return last < 0 ? path : [...path.slice(0, first), [frame, 1], ...path.slice(last + 1)];
}

interface Expected {
  path: string;
  self: number;
  totals: number[];
  origin: number;
  seen: number;
}

/** Returns the lines that an edit must leave, in their order. */
function expected(stacks: Stacks, kind: EditKind, frame: number): string[] {
  const known = new Map<string, Expected>();
  const leaves = [stacks.self, ...stacks.sides.map((side) => leavesOf(stacks, side))];
  for (let node = 0; node < stacks.length; node++) {
    const path = rewritten(kind, frame, pathDown(stacks, node).map((at) => [stacks.frame[at] as number, stacks.run[at] as number]));
    for (let length = 1; path && length <= path.length; length++) {
      const key = JSON.stringify(path.slice(0, length));
      if (!known.has(key)) known.set(key, { path: key, self: 0, totals: leaves.map(() => 0), origin: node, seen: known.size });
      const line = known.get(key) as Expected;
      leaves.forEach((leaf, which) => (line.totals[which] += leaf[node] as number));
      if (length === path.length) line.self += leaves[0]?.[node] as number;
    }
  }
  return below([...known.values()].filter((line) => line.totals[0] !== 0), [], "");
}

/** Returns the children of a path, the heaviest first, each with its own. */
function below(lines: Expected[], path: unknown[], indent: string): string[] {
  const children = lines.filter((line) => {
    const own = JSON.parse(line.path) as unknown[];
    return own.length === path.length + 1 && JSON.stringify(own.slice(0, -1)) === JSON.stringify(path);
  });
  children.sort((one, other) => (other.totals[0] as number) - (one.totals[0] as number) || one.seen - other.seen);
  return children.flatMap((line) => {
    const own = JSON.parse(line.path) as unknown[];
    const [frame, run] = own[own.length - 1] as [number, number];
    return [`${indent}${frame}×${run} ${line.self} ${line.totals} from ${line.origin}`, ...below(lines, own, `${indent}.`)];
  });
}

function drawn(stacks: Stacks): string[] {
  return Array.from({ length: stacks.length }, (_, node) => {
    const totals = [stacks.total[node], ...stacks.sides.map((side) => side[node])];
    const indent = ".".repeat(pathDown(stacks, node).length - 1);
    return `${indent}${stacks.frame[node]}×${stacks.run[node]} ${stacks.self[node]} ${totals} from ${stacks.origin?.[node]}`;
  });
}

test("an edit rewrites every path and joins equal ones", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const stacks = stacksOf(seed);
    for (const kind of Object.keys(EDITS) as EditKind[]) {
      for (let frame = 0; frame < FRAMES; frame++) {
        assert.deepEqual(drawn(edited(stacks, kind, frame)), expected(stacks, kind, frame), `seed ${seed}, ${kind} ${frame}`);
      }
    }
  }
});
