// Folded and open recursion, layout and search on small trees.

import assert from "node:assert/strict";
import { test } from "node:test";
import { indexAt, layOut } from "../../src/flame/layout.ts";
import { compile, exactly, findMatches, matchedWeight } from "../../src/flame/search.ts";
import { buildView, type IsOpen } from "../../src/flame/folded.ts";
import { findNode, nameOfNode, pathTo, type View } from "../../src/flame/view.ts";
import { decodeStacks, opened } from "./trees.ts";

const NAMES = ["a", "f", "g", "b"];

// a;f*3;g 5, a;f*1 1, a;f*1;g 2, b 3, as crates/web writes it.
const COLUMNS = {
  frame: [0, 1, 2, 1, 2, 3],
  climb: [0, 0, 0, 2, 0, 3],
  self: [0, 0, 5, 1, 2, 3],
  "run-node": [1],
  "run-length": [3],
  "kind-node": [4],
  "kind-number": [9],
};

// Frames have kinds 5 to 8, and the second g has kind 9.
const STACKS = decodeStacks(COLUMNS, new Uint8Array([5, 6, 7, 8]));

function drawn(view: View): string[] {
  const lines: string[] = [];
  const visit = (node: number): void => {
    const name = NAMES[view.frame[node]] ?? "all";
    const run = view.run[node] > 1 ? `*${view.run[node]}` : "";
    lines.push(`${".".repeat(view.depth[node])}${name}${run} ${view.self[node]}/${view.total[node]}`);
    for (let at = view.childStart[node]; at < view.childEnd[node]; at++) visit(at);
  };
  visit(0);
  return lines;
}

const shown = (isOpen: IsOpen): View => opened(buildView(STACKS, isOpen));
const folded = (): View => shown(() => false);
const open = (): View => shown(() => true);

test("a node has the kind of its place, a merged one that of the first", () => {
  assert.deepEqual([...STACKS.kind], [5, 6, 7, 6, 9, 8]);
  assert.deepEqual([...folded().kind], [0, 5, 8, 6, 7]);
});

test("columns become a tree", () => {
  assert.deepEqual([...STACKS.end], [5, 3, 3, 5, 5, 6]);
  assert.deepEqual([...STACKS.total], [8, 5, 5, 3, 2, 3]);
});

test("a folded run is one node", () => {
  assert.deepEqual(drawn(folded()), ["all 0/11", ".a 0/8", "..f*3 1/8", "...g 7/7", ".b 3/3"]);
});

test("an open run is one node for each activation", () => {
  const expected = [
    "all 0/11",
    ".a 0/8",
    "..f 1/8",
    "...f 0/5",
    "....f 0/5",
    ".....g 5/5",
    "...g 2/2",
    ".b 3/3",
  ];
  assert.deepEqual(drawn(open()), expected);
});

test("one run can be opened alone", () => {
  assert.deepEqual(drawn(shown((members) => members.includes(1))), drawn(open()));
});

test("a node is found again by its name", () => {
  const view = open();
  for (let node = 1; node < view.length; node++) {
    assert.equal(findNode(view, nameOfNode(view, node)), node);
  }
  assert.equal(findNode(view, "99.0"), 0);
  const deepest = view.depth.indexOf(Math.max(...view.depth));
  assert.deepEqual(pathTo(view, deepest).map((node) => view.depth[node]), [0, 1, 2, 3, 4, 5]);
});

test("rows fill the zoomed frame", () => {
  const view = folded();
  const rows = layOut(view, 0, 0);
  assert.deepEqual(rows.map((row) => row.node.length), [1, 2, 1, 1]);
  assert.deepEqual(rows[1]?.left, [0, 8 / 11]);
  assert.equal(indexAt(rows[1]!, 0.9), 1);
  assert.equal(indexAt(rows[2]!, 0.9), -1);
  const f = 3;
  const zoomed = layOut(view, f, 0);
  assert.deepEqual(zoomed.map((row) => row.width[0]), [1, 1, 1, 7 / 8]);
  assert.equal(layOut(view, 0, 0.5).flatMap((row) => row.node).length, 4);
});

test("a search counts what stands on a match once", () => {
  const view = open();
  const share = (text: string): number =>
    matchedWeight(view, 0, findMatches(NAMES, compile(text) as RegExp));
  assert.equal(share("^[fg]$"), 8);
  assert.equal(share("G"), 7);
  assert.equal(share("b"), 3);
  assert.equal(share("x"), 0);
  assert.equal(typeof compile("("), "string");
});

test("an exact search matches one name", () => {
  const name = "rabbit:'-f/1-fun-0-'/2 (x)+[0x1]";
  const pattern = compile(exactly(name)) as RegExp;
  assert.ok(pattern.test(name));
  assert.ok(!pattern.test(`${name}2`));
});
