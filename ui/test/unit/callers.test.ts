// The tree from the leaves, against one that is built from all stacks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { invertedView } from "../../src/flame/callers.ts";
import { findMatches, matchedWeight } from "../../src/flame/search.ts";
import { leavesOf, parentsOf, type Stacks } from "../../src/flame/stacks.ts";
import type { View } from "../../src/flame/view.ts";
import { decodeStacks, opened } from "./trees.ts";

const NAMES = ["a", "f", "g", "b"];

// a;f;g 5, a;g 3, b;f 2; the second side has another 1 in a;g.
const COLUMNS = { frame: [0, 1, 2, 2, 3, 1], climb: [0, 0, 0, 2, 2, 0], self: [0, 0, 5, 3, 0, 2], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] };
const STACKS = decodeStacks(COLUMNS, new Uint8Array(4), [[0, 0, 5, 3, 0, 2], [0, 0, 0, 1, 0, 0]]);

/** Returns paths of names, each with its total and sides. */
function drawn(view: View, names: string[]): string[] {
  const lines: string[] = [];
  const visit = (node: number, path: string): void => {
    const [from, to] = view.children(node);
    for (let child = from; child < to; child++) {
      const name = `${path}${names[view.frame[child] as number]}`;
      lines.push(`${name} ${view.total[child]}|${view.sides.map((side) => side[child]).join("|")}`);
      visit(child, `${name}<`);
    }
  };
  visit(0, "");
  return lines;
}

test("functions have their callers below them, the heaviest first", () => {
  assert.deepEqual(drawn(invertedView(STACKS), NAMES), ["g 8|8|1", "g<f 5|5|0", "g<f<a 5|5|0", "g<a 3|3|1", "f 2|2|0", "f<b 2|2|0"]);
});

test("nodes are made for those who ask", () => {
  const view = invertedView(STACKS);
  assert.equal(view.length, 1);
  assert.deepEqual(view.children(0), [1, 3]);
  assert.deepEqual(view.children(2), [3, 4]);
  assert.deepEqual([view.length, view.children(2)], [4, [3, 4]]);
});

test("a search counts stacks with a match once", () => {
  const view = opened(invertedView(STACKS));
  const share = (text: string, node = 0, side = -1): number => matchedWeight(view, node, findMatches(NAMES, new RegExp(text)), side);
  assert.deepEqual([share("a"), share("f"), share("[fg]"), share("x")], [8, 7, 10, 0]);
  assert.deepEqual([share("f", 1), share("g", 1), share("a", 1, 1)], [5, 8, 1]);
});

/** Stacks in which functions call each other in many orders. */
function manyStacks(): Stacks {
  let state = 7;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % limit;
  };
  const columns = { frame: [] as number[], climb: [] as number[], self: [] as number[], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] };
  for (let node = 0, depth = 0; node < 500; node++) {
    const climb = node === 0 ? 0 : below(Math.min(depth, 4) + 1);
    depth += 1 - climb;
    columns.frame.push(below(5));
    columns.climb.push(climb);
    columns.self.push(below(3));
  }
  return decodeStacks(columns, new Uint8Array(5), [columns.self.map(() => below(3)), columns.self]);
}

test("every path from a leaf has the weight of its stacks", () => {
  const stacks = manyStacks();
  const parent = parentsOf(stacks);
  const side = leavesOf(stacks, stacks.sides[0]!);
  const sums = new Map<string, [number, number]>();
  for (let leaf = 0; leaf < stacks.length; leaf++) {
    if (stacks.self[leaf]! + side[leaf]! === 0) continue;
    let path = "";
    for (let node = leaf; node >= 0; node = parent[node]!) {
      path += `${path && "<"}${stacks.frame[node]}`;
      const [total, other] = sums.get(path) ?? [0, 0];
      sums.set(path, [total + stacks.self[leaf]!, other + side[leaf]!]);
    }
  }
  const expected = Array.from(sums, ([path, [total, other]]) => `${path} ${total}|${other}|${total}`);
  assert.deepEqual(drawn(invertedView(stacks), ["0", "1", "2", "3", "4"]).sort(), expected.sort());
});
