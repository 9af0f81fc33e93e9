// Records, other weights for the same stacks, owners, callers and callees.

import assert from "node:assert/strict";
import { test } from "node:test";
import { functionsOf } from "../../src/flame/functions.ts";
import { EVERYTHING, NO_QUALITY, Owners } from "../../src/flame/owners.ts";
import { weightWithin } from "../../src/flame/records.ts";
import { Regrouper } from "../../src/flame/regroup.ts";
import { qualitySentence } from "../../src/quality.ts";
import type { Stacks } from "../../src/flame/stacks.ts";
import { decodeStacks, recordsOf, sandwich } from "./trees.ts";

const NAMES = ["a", "f", "g", "b"];

// a;f;g 5, a;g 3, b;f 2
const COLUMNS = {
  frame: [0, 1, 2, 2, 3, 1],
  climb: [0, 0, 0, 2, 2, 0],
  self: [0, 0, 5, 3, 0, 2],
  "run-node": [],
  "run-length": [],
  "kind-node": [5],
  "kind-number": [9],
};
const STACKS = decodeStacks(COLUMNS, new Uint8Array([1, 2, 3, 4]));

const NONE = EVERYTHING;

// g below f: 4 of owner 1 (1 at step 0, 3 at step 200), 1 of owner 2; g: 3 of owner 2; f below b: 2 of none.
// Owner 2 on another thread, its stacks broken; weight without an owner has no process.
const RECORDS = recordsOf([4, 5, 2, 1, 0, 4, 2, 0, 1, 200, 3, 0, 2, 1, 1, 1, 3, 1, 1, 2, 1, 3, 1, 3, 3, 2, 0, 2, 2, 1, 4, 2]);
const OWNERS = new Owners({
  processes: [0, 1, 7],
  dimensions: [
    { name: "queue", labels: ["q"], of: [-1, 0, -1] },
    { name: "role", labels: ["queue", "channel"], of: [-1, 0, 1] },
  ],
  "step-nanos": 5e7,
  steps: [1, 0, 0, 4, 2, 3],
  labels: {
    threads: ["1_scheduler", "2_scheduler"],
    thread: [0, 1, 1],
    outcome: ["complete", "broken", "no-process"],
    unsymbolised: [false, true, false],
    "no-function": [false, true, false],
    state: [null, null, null],
  },
  counted: false,
}, RECORDS);

function drawn(stacks: Stacks, names = NAMES): string {
  const lines: string[] = [];
  const path: number[] = [];
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) path.pop();
    const sides = stacks.sides.map((side) => `|${side[node]}`).join("");
    lines.push(`${".".repeat(path.length)}${names[stacks.frame[node]]} ${stacks.self[node]}/${stacks.total[node]}${sides}`);
    path.push(node);
  }
  return lines.join(" ");
}

const select = (selection: object): Stacks =>
  new Regrouper(STACKS).build(OWNERS.entries({ ...NONE, ...selection }), (root) => 4 + root);

test("kinds of places stay with them", () => {
  assert.deepEqual([...sandwich(STACKS, 1).callees.kind], [2, 3]);
  assert.deepEqual([...sandwich(STACKS, 3).callers.kind], [4]);
  assert.deepEqual([...new Regrouper(STACKS).build({ node: [5, 2], root: [-1, -1], weight: [2, 1], sides: null }, () => 0).kind], [4, 9, 1, 2, 3]);
});

test("records are read", () => {
  const records = RECORDS;
  assert.deepEqual([...records.node], [2, 2, 3, 5]);
  assert.deepEqual([...records.step], [0, 200, 3, 3, 4]);
  assert.deepEqual([weightWithin(records, 0, null), weightWithin(records, 0, { from: 1, to: 201 })], [4, 3]);
  assert.equal(recordsOf([0, 0]).length, 0);
});

test("everything selected is everything", () => {
  assert.equal(drawn(select({})), drawn(STACKS));
});

test("the samples of one owner, or of one span of time, are stacks of their own", () => {
  assert.equal(drawn(select({ owner: "queue:q" })), "a 0/4 .f 0/4 ..g 4/4");
  assert.equal(drawn(select({ owner: "role:channel" })), "a 0/4 .g 3/3 .f 0/1 ..g 1/1");
  assert.equal(drawn(select({ owner: "role:nobody" })), "");
  assert.equal(drawn(select({ range: { from: 3, to: 5 } })), "a 0/4 .g 3/3 .f 0/1 ..g 1/1 b 0/2 .f 2/2");
});

test("stacks stand below their owner", () => {
  const names = [...NAMES, "queue", "channel", "nobody"];
  const expected = "queue 0/4 .a 0/4 ..f 0/4 ...g 4/4 channel 0/4 .a 0/4 ..g 3/3 ..f 0/1 ...g 1/1 nobody 0/2 .b 0/2 ..f 2/2";
  assert.equal(drawn(select({ by: "role" }), names), expected);
  assert.equal(OWNERS.rootName("role", 1), "role channel");
  assert.equal(OWNERS.rootName("role", 2), "no role");
  const origins = select({ by: "role" }).origin as Float64Array;
  assert.equal(new Set(origins).size, origins.length);
});

test("two spans are compared by share", () => {
  const both = select({ range: { from: 3, to: 4 }, against: { from: 4, to: 201 } });
  const sums = both.sides.map((side) => side[0]);
  assert.deepEqual([both.sides.length, sums], [2, [4, 3]]);
  assert.match(drawn(both), /b 0\/200000\|0\|2 \.f 200000\/200000\|0\|2$/);
  assert.equal(select({ range: { from: 3, to: 4 }, against: { from: 900, to: 901 } }).sides.length, 0);
});

test("owners have shares", () => {
  const none = { owner: "no-process", label: "no process", weight: 2, processes: 0 };
  assert.deepEqual(OWNERS.shares("role", NONE), [
    { owner: "role:queue", label: "queue", weight: 4, processes: 1 },
    { owner: "role:channel", label: "channel", weight: 4, processes: 7 },
    none,
  ]);
  const rest = { owner: "without:queue", label: "rest: processes without a queue", weight: 4, processes: 7 };
  assert.deepEqual(OWNERS.shares("queue", NONE), [{ owner: "queue:q", label: "q", weight: 4, processes: 1 }, rest, none]);
  assert.deepEqual(OWNERS.shares("queue", { ...NONE, range: { from: 3, to: 4 } }), [{ ...rest, weight: 4 }]);
});

test("the rest and no process are owners too", () => {
  for (const { owner, weight } of OWNERS.shares("queue", NONE)) assert.equal(OWNERS.weight({ ...NONE, owner }), weight);
  assert.deepEqual(OWNERS.shares("queue", { ...NONE, owner: "without:queue" }), OWNERS.shares("queue", NONE));
  assert.equal(OWNERS.nameOf("without:queue"), "processes without a queue");
});

test("shares of other dimensions belong to the chosen owner", () => {
  const channel = { ...NONE, owner: "role:channel" };
  assert.deepEqual(OWNERS.shares("thread", channel), [
    { owner: "thread:2_scheduler", label: "2_scheduler", weight: 4, processes: 7 },
  ]);
  assert.deepEqual(OWNERS.shares("role", channel), OWNERS.shares("role", NONE));
});

test("a thread is shown alone", () => {
  assert.ok(OWNERS.dimensions().includes("thread"));
  assert.equal(drawn(select({ owner: "thread:1_scheduler" })), "a 0/4 .f 0/4 ..g 4/4");
});

test("the weight by time belongs to the chosen owner", () => {
  assert.deepEqual(OWNERS.steps(NONE), [1, 0, 0, 4, 2, 3]);
  assert.deepEqual(OWNERS.steps({ ...NONE, owner: "role:channel" }), [0, 0, 0, 4, 0, 0]);
  assert.deepEqual(OWNERS.steps({ ...NONE, owner: "thread:2_scheduler", range: { from: 0, to: 1 } }), [0, 0, 0, 4, 2, 0]);
});

test("the quality is that of the selection", () => {
  const quality = (selection: object): number[] => {
    const found = OWNERS.quality({ ...NONE, ...selection });
    return found ? [found.complete, found.broken, found["no-process"], found.unsymbolised, found["no-function"]] : [];
  };
  assert.deepEqual(quality({}), [4, 4, 2, 4, 4]);
  assert.deepEqual(quality({ owner: "queue:q" }), [4, 0, 0, 0, 0]);
  assert.deepEqual(quality({ range: { from: 3, to: 4 } }), [0, 4, 0, 4, 4]);
});

// Blocked for 60 in 2 waits, of which the second ended at step 1; idle for 900 in 1.
const WAITS = new Owners({
  processes: [0],
  dimensions: [],
  "step-nanos": 5e7,
  steps: [10, 950],
  labels: {
    threads: ["aux"],
    thread: [0, 0],
    outcome: ["complete", "no-process"],
    unsymbolised: [false, false],
    "no-function": [false, false],
    state: ["blocked", "idle"],
  },
  counted: true,
}, recordsOf([2, 3, 2, 0, 0, 60, 2, 2, 0, 10, 1, 50, 1, 0, 1, 900, 1, 1, 1, 900], true));

test("time off the CPU is the blocked time by default, with idle time apart", () => {
  const weight = (selection: object): number => WAITS.weight({ ...NONE, ...selection });
  assert.deepEqual([weight({}), weight({ state: "idle" }), weight({ state: "all" })], [60, 900, 960]);
  assert.equal(weight({ state: "nonsense" }), 60);
  assert.equal(WAITS.weightIn("idle", { ...NONE, range: { from: 0, to: 1 } }), 0);
  assert.deepEqual(WAITS.steps(NONE), [10, 50]);
  assert.deepEqual([WAITS.isWhole(NONE), WAITS.isWhole({ ...NONE, state: "all" })], [false, true]);
});

test("waits are counted, but not by time", () => {
  assert.equal(WAITS.quality(NONE)?.complete, 2);
  assert.equal(WAITS.quality({ ...NONE, range: { from: 0, to: 1 } }), null);
});

test("the quality of a selection has the words of the whole recording", () => {
  const quality = { ...NO_QUALITY, complete: 75, broken: 25, "no-process": 1, "no-function": 15, lost: 3 };
  assert.equal(
    qualitySentence(quality).replaceAll("\u202f", " "),
    "75.0 % of 100 samples on Erlang processes reach the process's root, 0 % truncated at the recorder's limit, " +
      "25.0 % broken, 15.0 % show no function of the process; 1 sample without a process; 0 % have an unsymbolized frame",
  );
});

test("a function stands between callers and callees", () => {
  const f = sandwich(STACKS, 1);
  assert.equal(f.total, 7);
  assert.equal(drawn(f.callers), "f 0/7 .a 5/5 .b 2/2");
  assert.equal(drawn(f.callees), "f 2/7 .g 5/5");
});

test("a function that calls itself counts once", () => {
  // f;g;f 4
  const stacks = decodeStacks({ frame: [1, 2, 1], climb: [0, 0, 0], self: [0, 0, 4], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] }, new Uint8Array(3));
  const f = sandwich(stacks, 1);
  assert.equal(f.total, 4);
  assert.equal(drawn(f.callers), "f 4/4");
  assert.equal(drawn(f.callees), "f 0/4 .g 0/4 ..f 4/4");
});

test("a function that calls itself through others counts once, from its outermost call on", () => {
  // b;f;g;f;a 4, b;f 1, g;f;f;f 2 (a run)
  const columns = {
    frame: [3, 1, 2, 1, 0, 2, 1],
    climb: [0, 0, 0, 0, 0, 5, 0],
    self: [0, 1, 0, 0, 4, 0, 2],
    "run-node": [6],
    "run-length": [3],
    "kind-node": [],
    "kind-number": [],
  };
  const f = sandwich(decodeStacks(columns, new Uint8Array(4)), 1);
  assert.deepEqual([f.total, f.isRecursive], [7, true]);
  assert.equal(drawn(f.callers), "f 0/7 .b 5/5 .g 2/2");
  assert.equal(drawn(f.callees), "f 3/7 .g 0/4 ..f 0/4 ...a 4/4");
  assert.deepEqual([...f.callees.run], [3, 1, 1, 1]);
  const b = sandwich(decodeStacks(columns, new Uint8Array(4)), 3);
  assert.deepEqual([b.total, b.isRecursive], [5, false]);
});

/** A tree of some depth in which functions call themselves and each other. */
function randomStacks(seed: number): Stacks {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % limit;
  };
  const columns = { frame: [] as number[], climb: [] as number[], self: [] as number[], "run-node": [] as number[], "run-length": [] as number[], "kind-node": [], "kind-number": [] };
  let depth = 0;
  for (let node = 0; node < 200; node++) {
    const climb = node === 0 ? 0 : below(Math.min(depth, 3) + 1);
    depth += 1 - climb;
    columns.frame.push(below(4));
    columns.climb.push(climb);
    columns.self.push(below(5));
    if (below(4) === 0) {
      columns["run-node"].push(node);
      columns["run-length"].push(2 + below(3));
    }
  }
  const side = columns.self.map(() => below(9));
  return decodeStacks(columns, new Uint8Array(4), [columns.self, side]);
}

test("callers and callees have the weight that the table of functions says", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const stacks = randomStacks(seed);
    const { frame: frames, total } = functionsOf(stacks, ["thread", "erlang", "native", "thread"]);
    frames.forEach((frame, row) => {
      const made = sandwich(stacks, frame);
      const { callers, callees } = made;
      const leaves = (tree: Stacks): number => tree.self.reduce((sum, weight) => sum + weight, 0);
      assert.equal(made.total, total[row]);
      assert.deepEqual([callers.total[0], leaves(callers)], [made.total, made.total]);
      assert.deepEqual([callees.total[0], leaves(callees)], [made.total, made.total]);
      assert.equal(made.sides[0], made.total);
      assert.deepEqual([callers.sides[1]?.[0], callees.sides[1]?.[0]], [made.sides[1], made.sides[1]]);
      const isRoot = (tree: Stacks): boolean => tree.end[0] === tree.length && tree.frame[0] === frame;
      assert.ok(isRoot(callers) && isRoot(callees));
    });
  }
});

test("functions are summed up as for the whole profile", () => {
  const columns = functionsOf(STACKS, ["thread", "erlang", "native", "thread"]);
  assert.deepEqual(columns, { frame: [0, 1, 2, 3], own: [0, 7, 8, 0], self: [0, 2, 8, 0], total: [8, 7, 8, 2] });
});
