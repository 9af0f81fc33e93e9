// The same cases as in crates/analysis `diff/noise.rs`, and the table of changes between two spans.

import assert from "node:assert/strict";
import { test } from "node:test";
import { START } from "../../src/link.ts";
import { changesOf } from "../../src/flame/functions.ts";
import { type GraphData, Model } from "../../src/flame/model.ts";
import { isBeyondNoise, noChange, probability } from "../../src/flame/noise.ts";
import { columnsOf, decodeStacks, opened } from "./trees.ts";

const NOISE = { rate: 0.001, counts: [1, 1] as [number, number], runs: null };

function check(before: number, after: number, expected: boolean): void {
  assert.equal(isBeyondNoise([before, after], [10_000, 10_000], NOISE, 100), expected, `${before} ${after}`);
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
    isBeyondNoise([1000, 1400], [4000, 4000], { rate: 0.001, counts, runs: null }, 100);
  assert.deepEqual([beyond([1, 1]), beyond([0.01, 0.01])], [true, false]);
});

/** A graph of one function and the rest, with these weights on both sides, in one shade or another. */
function shadeOfChange(before: number, after: number): number | null {
  const data: GraphData = {
    unit: "samples",
    total: 2000,
    kinds: ["erlang"],
    columns: columnsOf(
      {
        frame: [0, 1],
        climb: [0, 1],
        self: [before + after, 2000 - before - after],
        "run-node": [],
        "run-length": [],
        "kind-node": [],
        "kind-number": [],
      },
      ["f", "g"],
      new Uint8Array(2),
      [
        [before, 1000 - before],
        [after, 1000 - after],
      ],
    ),
    sideTotals: [1000, 1000],
    noise: NOISE,
  };
  const model = new Model(data);
  const view = opened(model.view({ ...START, openAll: true }));
  const node = view.frame.indexOf(0);
  return model.look(view, node, null).change;
}

test("noise has no colour", () => {
  assert.equal(shadeOfChange(100, 130), 0);
  assert.ok((shadeOfChange(100, 400) ?? 0) > 0);
  assert.ok((shadeOfChange(400, 100) ?? 0) < 0);
});

test("a comparison without a change says so", () => {
  const runs: [number, number] = [5, 5];
  assert.equal(noChange(NOISE), "No function changed by more than the noise of sampling.");
  assert.equal(noChange({ ...NOISE, runs }), "No function changed by more than these runs differ by among themselves.");
});

test("functions have both their weights, and a mark", () => {
  // a;f;f;n and a;g, of 1,000 samples on each side.
  const columns = { frame: [0, 1, 2, 3], climb: [0, 0, 0, 2], self: [0, 0, 2, 1], "run-node": [1], "run-length": [2], "kind-node": [], "kind-number": [] };
  const stacks = decodeStacks(columns, new Uint8Array(4), [[0, 10, 590, 400], [0, 0, 390, 610]]);
  const changes = changesOf(stacks, ["thread", "erlang", "native", "erlang"], [1000, 1000], NOISE);
  // Without the thread; of equal changes the Erlang functions first.
  assert.deepEqual(changes.frame, [1, 3, 2]);
  assert.deepEqual(changes["own-before"], [600, 400, 590]);
  assert.deepEqual(changes["own-after"], [390, 610, 390]);
  assert.deepEqual(changes["total-before"], [600, 400, 590]);
  assert.deepEqual(changes["own-change"].map((it) => it.toFixed(3)), ["-0.210", "0.210", "-0.200"]);
  assert.deepEqual(changes["own-beyond-noise"], [true, true, true]);
  assert.deepEqual(changes["total-beyond-noise"], [true, true, true]);
});

test("probabilities are exact", () => {
  const near = (found: number, expected: number): void => assert.ok(Math.abs(found / expected - 1) < 1e-4, `${found}`);
  near(probability([10, 0], [10, 10]), 2 / 184_756);
  near(probability([1, 9], [10, 10]), (2 * 101) / 184_756);
  near(probability([3, 0], [10, 90]), 240 / 161_700);
});

test("a short span against a long one is not marked for two samples", () => {
  const beyond = (before: number): boolean => isBeyondNoise([before, 0], [1_000, 100_000], NOISE, 100);
  assert.deepEqual([beyond(2), beyond(20)], [false, true]);
});

test("the caller of a shared function is the largest change", () => {
  // thread;loop;alpha;work and the same with beta: only the total of alpha moves.
  const columns = { frame: [0, 1, 2, 4, 3, 4], climb: [0, 0, 0, 0, 2, 0], self: [0, 0, 0, 5, 0, 5], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] };
  const stacks = decodeStacks(columns, new Uint8Array(5), [[0, 0, 0, 600, 0, 400], [0, 0, 0, 400, 0, 620]]);
  const changes = changesOf(stacks, ["thread", "erlang", "erlang", "erlang", "erlang"], [1000, 1020], NOISE);
  assert.deepEqual(changes.frame.slice(0, 2), [2, 3]);
  assert.deepEqual(changes["own-beyond-noise"], [false, false, false, false]);
  assert.deepEqual(changes["total-beyond-noise"], [true, true, false, false]);
});
