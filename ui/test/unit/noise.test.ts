// The same cases as in crates/analysis `diff.rs`, and the table of changes between two spans.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf } from "../../src/flame/functions.ts";
import { isBeyondNoise } from "../../src/flame/noise.ts";
import { decodeStacks } from "../../src/flame/stacks.ts";

const NOISE = { errors: 4, counts: [1, 1] as [number, number] };

function check(before: number, after: number, expected: boolean): void {
  assert.equal(isBeyondNoise([before, after], [10_000, 10_000], NOISE), expected, `${before} ${after}`);
}

test("chance is told from change", () => {
  check(0, 0, false);
  check(100, 110, false);
  check(100, 130, false);
  check(100, 180, true);
  check(0, 30, true);
  check(10_000, 10_000, false);
});

test("large pieces are few samples", () => {
  const beyond = (counts: [number, number]): boolean =>
    isBeyondNoise([1000, 1400], [4000, 4000], { errors: 4, counts });
  assert.deepEqual([beyond([1, 1]), beyond([0.01, 0.01])], [true, false]);
});

test("functions have both their weights, and a mark", () => {
  // a;f;f;n and a;g, of 1,000 samples on each side.
  const columns = { frame: [0, 1, 2, 3], climb: [0, 0, 0, 2], leaf: [0, 0, 2, 1], "run-node": [1], "run-length": [2], "kind-node": [], "kind-number": [] };
  const stacks = decodeStacks(columns, new Uint8Array(4), [[0, 10, 590, 400], [0, 0, 390, 610]]);
  const changes = changesOf(stacks, ["thread", "erlang", "native", "erlang"], [1000, 1000], NOISE);
  assert.deepEqual(changes.frame, [0, 1, 2, 3]);
  assert.deepEqual(changes["own-before"], [0, 600, 590, 400]);
  assert.deepEqual(changes["own-after"], [0, 390, 390, 610]);
  assert.deepEqual(changes["total-before"], [1000, 600, 590, 400]);
  assert.deepEqual(changes["own-change"].map((it) => it.toFixed(3)), ["0.000", "-0.210", "-0.200", "0.210"]);
  assert.deepEqual(changes["own-beyond-noise"], [false, true, true, true]);
  assert.deepEqual(changes["total-beyond-noise"], [false, true, true, true]);
});
