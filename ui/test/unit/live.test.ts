// The ticks that a live page keeps, and nodes that are found again in another profile.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlockData, Tick } from "../../src/blocks/data.ts";
import { buildView } from "../../src/flame/folded.ts";
import { layOut } from "../../src/flame/layout.ts";
import { nodeAt, placeOf } from "../../src/flame/view.ts";
import { KeptTicks } from "../../src/live/kept.ts";
import { decodeStacks } from "./trees.ts";

const block = (id: string, text: string): BlockData => ({ id, kind: "sentences", sentences: [{ text, tone: "plain" }] });

function add(ticks: KeptTicks, at: number, ...replace: BlockData[]): boolean {
  const tick: Tick = { at, replace };
  return ticks.add(tick, JSON.stringify(tick));
}

const said = (ticks: KeptTicks, number: number): string[] =>
  ticks.blocksAt(number).map((data) => `${data.id} ${data.kind === "sentences" ? data.sentences[0]?.text : ""}`).sort();

test("blocks are those of a moment, also where a tick does not have them", () => {
  const ticks = new KeptTicks();
  add(ticks, 1, block("a", "1"), block("b", "1"));
  add(ticks, 2, block("a", "2"));
  add(ticks, 3, block("a", "3"), block("c", "3"));
  assert.deepEqual(said(ticks, 0), ["a 1", "b 1"]);
  assert.deepEqual(said(ticks, 1), ["a 2", "b 1"]);
  assert.deepEqual(said(ticks, 2), ["a 3", "b 1", "c 3"]);
  assert.equal(ticks.at(1), 2);
});

test("a tick counts once, and only if it is later", () => {
  const ticks = new KeptTicks();
  assert.deepEqual([add(ticks, 5), add(ticks, 5), add(ticks, 4), add(ticks, 6)], [true, false, false, true]);
  assert.deepEqual([ticks.first, ticks.last], [0, 1]);
});

test("old ticks go by time and by size, but not what they said", () => {
  const byTime = new KeptTicks(10);
  add(byTime, 1, block("a", "1"));
  for (let at = 2; at <= 30; at += 1) add(byTime, at, block("b", String(at)));
  assert.deepEqual([byTime.first, byTime.last, byTime.at(byTime.first)], [19, 29, 20]);
  assert.deepEqual(said(byTime, 19), ["a 1", "b 20"]);
  const bySize = new KeptTicks(Infinity, 1000);
  for (let at = 1; at <= 100; at += 1) add(bySize, at, block("a", "x".repeat(100)));
  const size = bySize.texts().reduce((sum, text) => sum + text.length, 0);
  assert.ok(size <= 1000 && size > 600, `${size}`);
  add(bySize, 101, block("a", "x".repeat(5000)));
  assert.equal(bySize.texts().length, 1, "the latest stays, whatever its size");
});

const TREE = { frame: [0, 1, 2, 3], climb: [0, 0, 0, 1], self: [1, 1, 5, 2], "run-node": [2], "run-length": [3], "kind-node": [], "kind-number": [] };
const OTHER = { frame: [3, 2, 1, 0], climb: [0, 0, 0, 1], self: [1, 9, 0, 4], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] };
const KINDS = new Uint8Array(4).fill(1);

test("a node is found again by its names, or the nearest above it", () => {
  const names = ["all:0/0", "b:1/0", "c:2/0", "d:3/0"];
  const before = { view: buildView(decodeStacks(TREE, KINDS), () => true), names };
  // The same functions have other numbers there, c no longer calls itself, and b calls d.
  const after = { view: buildView(decodeStacks(OTHER, KINDS), () => true), names: ["d:3/0", "c:2/0", "b:1/0", "all:0/0"] };
  const leaf = nodeAt(before, ["all:0/0", "b:1/0", "c:2/0", "c:2/0", "c:2/0"]);
  assert.deepEqual(placeOf(before, leaf), ["all:0/0", "b:1/0", "c:2/0", "c:2/0", "c:2/0"], "each activation of an open run");
  assert.deepEqual(placeOf(after, nodeAt(after, placeOf(before, leaf))), ["all:0/0", "b:1/0", "c:2/0"]);
  assert.equal(nodeAt(after, ["gone:0/0"]), 0);
});

test("siblings keep their order while a graph rolls on", () => {
  const view = buildView(decodeStacks({ ...TREE, climb: [0, 1, 1, 1], "run-node": [], "run-length": [], self: [5, 4, 2, 1] }, KINDS), () => false);
  const frames = (rows: ReturnType<typeof layOut>): number[] => rows[1]!.node.map((node) => view.frame[node]!);
  assert.deepEqual(frames(layOut(view, 0, 0)), [0, 1, 2, 3]);
  const rows = layOut(view, 0, 0.1, (_, siblings) => siblings.reverse());
  assert.deepEqual(frames(rows), [2, 1, 0], "the one below the least width is left out first");
  assert.deepEqual(rows[1]!.left.map((left) => Number((12 * left).toFixed(6))), [0, 2, 6]);
});
