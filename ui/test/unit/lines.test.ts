// Lines of one function among those of all.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heaviest, linesOf } from "../../src/flame/lines.ts";

const COLUMNS = {
  files: ["src/a.erl", "b.hrl"],
  frame: [4, 4, 4, 9],
  file: [0, 1, 0, 1],
  line: [12, 3, 0, 7],
  own: [5, 0, 1, 2],
  total: [6, 20, 1, 3],
};

test("a function has its lines, or none", () => {
  assert.deepEqual(linesOf(COLUMNS, 4), [
    { file: "src/a.erl", line: 12, own: 5, total: 6 },
    { file: "b.hrl", line: 3, own: 0, total: 20 },
    { file: "", line: 0, own: 1, total: 1 },
  ]);
  assert.deepEqual(linesOf(COLUMNS, 5), []);
});

test("the heaviest keep their order", () => {
  assert.deepEqual(heaviest(linesOf(COLUMNS, 4), 2).map((row) => row.line), [12, 3]);
  assert.deepEqual(heaviest(linesOf(COLUMNS, 4), 1).map((row) => row.line), [3]);
});
