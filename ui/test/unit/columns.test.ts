// The bytes of a page: those that crates/web writes, and damaged ones.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { decodeColumns } from "../../src/columns/decode.ts";
import { buffersOf, unpack } from "../../src/columns/unpack.ts";
import { parentsOf } from "../../src/flame/stacks.ts";
import { encoded, numbers } from "./trees.ts";

/** The folder in which the test of crates/web writes a page and its stacks. */
const FOLDER = process.env["RABBITSCOPE_PAGES"];

function written(): string {
  const page = readFileSync(join(FOLDER as string, "profile.html"), "utf8");
  return /<script type="application\/octet-stream" id="columns">([^<]*)<\/script>/.exec(page)?.[1] as string;
}

test("the page has the stacks of the profile", { skip: !FOLDER }, async () => {
  const { names, stacks, hasRecursion, records } = await unpack(written());
  const parent = parentsOf(stacks);
  const lines: string[] = [];
  for (let leaf = 0; leaf < stacks.length; leaf++) {
    let path = "";
    for (let node = leaf; node >= 0; node = parent[node]!) path = `${names[stacks.frame[node]!]}\t`.repeat(stacks.run[node]!) + path;
    if (stacks.self[leaf]! > 0) lines.push(`${path}${stacks.self[leaf]}`);
  }
  const expected = readFileSync(join(FOLDER as string, "stacks.txt"), "utf8").trimEnd().split("\n");
  assert.deepEqual(lines.sort(), expected.filter((line) => !line.endsWith("\t0")).sort());
  assert.ok(hasRecursion);
  const sum = (weights: Iterable<number>): number => [...weights].reduce((all, weight) => all + weight, 0);
  assert.deepEqual([sum(records.weight), sum(records.part)], [sum(stacks.self), sum(stacks.self)]);
});

test("columns move to another thread", { skip: !FOLDER }, async () => {
  const columns = await unpack(written());
  const copy = structuredClone(columns, { transfer: buffersOf(columns) });
  assert.equal(columns.stacks.frame.length, 0);
  assert.equal(copy.stacks.frame.length, copy.stacks.length);
});

// a;f*3;g 5, a;g 2
const TREE = { frame: [0, 1, 2, 2], climb: [0, 0, 0, 2], self: [0, 0, 5, 2], "run-node": [1], "run-length": [3], "kind-node": [3], "kind-number": [9] };
const CLASSES = new Uint8Array([0, 1, 4]);

test("names of any form are names", () => {
  const names = ["</script>", "ä€😀", ""];
  const columns = decodeColumns(encoded(TREE, names, CLASSES, [], numbers([0, 0, 0])));
  assert.deepEqual(columns.names, names);
  assert.deepEqual([...columns.stacks.run], [1, 3, 1, 1]);
  assert.deepEqual([...columns.stacks.kind], [0, 1, 4, 9]);
  assert.deepEqual([...columns.stacks.total], [7, 5, 5, 2]);
});

test("large weights and many functions have room", () => {
  const many = Array.from({ length: 70_000 }, (_, number) => `f${number}`);
  const tree = { ...TREE, frame: [0, 69_999, 2, 2], self: [0, 0, 2 ** 32, 2 ** 40], "run-length": [70_000] };
  const { stacks } = decodeColumns(encoded(tree, many, new Uint8Array(70_000), [[0, 0, 1, 0], [0, 0, 0, 2 ** 33]], numbers([0, 0, 0])));
  assert.deepEqual([...stacks.frame], [0, 69_999, 2, 2]);
  assert.equal(stacks.total[0], 2 ** 32 + 2 ** 40);
  assert.deepEqual([...stacks.run], [1, 70_000, 1, 1]);
  assert.deepEqual(stacks.sides.map((side) => side[0]), [1, 2 ** 33]);
});

test("damaged bytes are refused", async () => {
  const bytes = (change: object): Uint8Array => encoded({ ...TREE, ...change }, ["a", "f", "g"], CLASSES, [], numbers([0, 0, 0]));
  const whole = bytes({});
  for (let end = 0; end < whole.length; end++) assert.throws(() => decodeColumns(whole.subarray(0, end)), /damaged/);
  const check = (change: object, column: string): void => assert.throws(() => decodeColumns(bytes(change)), new RegExp(`“${column}” is damaged`));
  check({ frame: [0, 1, 2, 3] }, "frames");
  check({ climb: [0, 0, 0, 4] }, "climbs");
  check({ climb: [0, 0, 0, 2, 0] }, "climbs");
  check({ self: [0, 0, 0, 0, 1] }, "self");
  check({ "run-node": [4] }, "runs");
  check({ "kind-node": [7] }, "places");
  assert.throws(() => decodeColumns(Uint8Array.from([2, ...whole.subarray(1)])), /version 2/);
  await assert.rejects(unpack("AAAA"));
});
